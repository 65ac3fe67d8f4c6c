"""Why an individual satisfies a class expression or does not, and the fewest triples that would bring it in.

What holds rests on triples, each marked asserted or inferred, or on absences that were checked: the world is
closed. The search for changes deepens by their number, so that what it finds first is smallest. The store
checks it: it answers the instance query as it is with the added triples and without the removed ones; the
data is never touched.
"""

from __future__ import annotations

import time
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import chain, count, islice, pairwise
from typing import Any, TypeAlias

from rdflib import BNode, Literal, URIRef

from mrag.cel import expressions as ce
from mrag.cel.expressions import negation, normal
from mrag.cel.notation import to_dl
from mrag.cel.problem import instances_among
from mrag.cel.sentences import is_adjective, some, verbalise
from mrag.cel.sparql import (
    INTEGERS,
    NUMBERS,
    VOCABULARY,
    X,
    batches,
    by_value,
    comparable,
    condition,
    equal,
    holds,
    members,
)
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.rdf import queries
from mrag.rdf.patterns import Group, Select, to_sparql, var
from mrag.rdf.terms import OWL, RDF, XSD, Term, Triple, curie, iri, ntriples_terms
from mrag.terminal import inline

TYPE = URIRef(RDF + "type")
SCHEMA = frozenset(v.value for v in VOCABULARY)
_TYPED = ce.Property(str(TYPE))
_NONE: Mapping[URIRef, Collection[Term]] = {}
_V = var("v")
LAYERS: tuple[Layer, ...] = ("asserted", "inferred")


class GraphFacts:
    """Statements of a graph, some left out and others put in."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.added: frozenset[Triple] = frozenset()
        self._changes: dict[tuple[Term, URIRef, bool], tuple[set[Term], set[Term]]] | None = None
        # What has been read; True stands for an inferred statement.
        self._out: dict[Term, dict[URIRef, dict[Term, bool]]] = {}
        self._into: dict[tuple[URIRef, Term], dict[Term, bool]] = {}

    def changed(self, added: Iterable[Triple], removed: Iterable[Triple]) -> GraphFacts:
        """Return the statements of the graph with these put in and those left out."""
        found = copy(self)
        found.added, found._changes = frozenset(added), {}
        for at, triples in enumerate((found.added, removed)):
            for s, p, o in triples:
                found._changes.setdefault((s, p, False), (set(), set()))[at].add(o)
                found._changes.setdefault((o, p, True), (set(), set()))[at].add(s)
        return found

    def fetch(self, terms: Iterable[Term]) -> None:
        """Read the statements of many terms at once."""
        missing = [str(t) for t in terms if t not in self._out and isinstance(t, URIRef)]
        for batch in batches(dict.fromkeys(missing)):
            for name in batch:
                self._out[URIRef(name)] = {}
            query = queries.get("cel/statements-of").bind(entity=batch)
            for s, p, o, inferred in self._rows(query):
                self._out.setdefault(s, {}).setdefault(URIRef(str(p)), {}).setdefault(o, inferred)

    def _rows(self, query: str) -> Iterator[tuple[Term, Term | None, Term, bool]]:
        """Yield the rows of a query, of each layer, without those that have no name."""
        for layer in LAYERS[: 2 if self.kg.record.inferred else 1]:
            for s, p, o in self.kg.select(query, layer):
                if s is not None and o is not None:
                    yield s, p, o, layer == "inferred"

    def values(self, x: Term, p: ce.Property) -> list[Term]:
        """Return the values of a property, in order of term."""
        return sorted(self._values(x, p), key=order)

    def _values(self, x: Term, p: ce.Property) -> Collection[Term]:
        role = _iri(p.iri)
        known: Collection[Term]
        if p.inverse:
            if (role, x) not in self._into and not isinstance(x, BNode):
                self._into[role, x] = {}
                for s, _, o, inferred in self._rows(queries.get("cel/subjects-of").bind(p_o=[(role, x)])):
                    self._into.setdefault((role, o), {}).setdefault(s, inferred)
            known = self._into.get((role, x), ())
        else:
            self.fetch([x])
            known = self._out.get(x, _NONE).get(role, ())
        if self._changes is None:
            return known
        key = x, role, p.inverse
        if key not in self._changes:
            return known
        more, fewer = self._changes[key]
        return ({*known} - fewer) | more

    def is_individual(self, x: Term) -> bool:
        """Return whether a term is a named individual."""
        return isinstance(x, URIRef) and any(str(c) not in SCHEMA for c in self._values(x, _TYPED))

    def inferred(self, triple: Triple) -> bool:
        """Return whether a triple that is here was inferred."""
        self.fetch([triple.s])
        return self._out.get(triple.s, {}).get(triple.p, {}).get(triple.o, False)

    def holds(self, e: ce.Expression, x: Term) -> bool:
        """Decide whether a normal form holds a term, named individual or not."""
        match e:
            case ce.Top():
                return True
            case ce.Bottom():
                return False
            case ce.Named(name):
                return _iri(name) in self._values(x, _TYPED)
            case ce.Not(of):
                return not self.holds(of, x)
            case ce.And(parts):
                return all(self.holds(p, x) for p in parts)
            case ce.Or(parts):
                return any(self.holds(p, x) for p in parts)
            case ce.OneOf(members):
                return isinstance(x, URIRef) and str(x) in members
            case ce.Value(p, value):
                return any(same(v, value) for v in self._values(x, p))
            case ce.Some(p, filler):
                return self.count(x, p, filler, 1) == 1
            case ce.Only(p, filler):
                return self.count(x, p, filler) == len(self._values(x, p))
            case ce.Cardinality(n, p, filler):
                found = self.count(x, p, filler, n if isinstance(e, ce.AtLeast) else n + 1)
                return bool(ce.COMPARE[type(e)](found, n))
            case ce.DataSome(p, range):
                return any(within(v, range) for v in self._values(x, p))
            case ce.DataOnly(p, range):
                return all(within(v, range) for v in self._values(x, p))

    def matching(self, x: Term, p: ce.Property, filler: ce.Expression) -> list[Term]:
        """Return the values of a property that an expression holds, in order."""
        values = self.values(x, p)
        self._prepare(filler, values)
        return [v for v in values if self.holds(filler, v)]

    def count(self, x: Term, p: ce.Property, filler: ce.Expression, limit: int | None = None) -> int:
        """Count the values of a property that an expression holds, up to so many."""
        values = self._values(x, p)
        if isinstance(filler, ce.Top):
            return len(values) if limit is None else min(len(values), limit)
        self._prepare(filler, values)
        found = (1 for v in values if self.holds(filler, v))
        return sum(found if limit is None else islice(found, limit))

    def _prepare(self, filler: ce.Expression, values: Collection[Term]) -> None:
        if not isinstance(filler, ce.Top | ce.Bottom | ce.OneOf) and len(values) > 1:
            self.fetch(values)


@lru_cache(maxsize=10_000)
def _iri(name: str) -> URIRef:
    return URIRef(name)


@lru_cache(maxsize=100_000)
def order(term: Term) -> str:
    """Return what terms are sorted by."""
    return term.n3()


def same(found: Term, wanted: str | Literal) -> bool:
    """Return whether a term is a wanted value, literals of numbers, dates and booleans by value."""
    if not isinstance(wanted, Literal):
        return isinstance(found, URIRef) and str(found) == wanted
    if not isinstance(found, Literal):
        return False
    return equal(found, wanted) if by_value(wanted) else found == wanted


def within(value: Term, range: ce.DataRange) -> bool:
    """Return whether a term is a literal in a range."""
    return isinstance(value, Literal) and holds(condition(range, _V), value)


def edge(x: Term, p: ce.Property, y: Term) -> Triple:
    """Return the triple by which `y` is a value of the property for `x`."""
    s, o = (y, x) if p.inverse else (x, y)
    return Triple(s, URIRef(p.iri), o)  # type: ignore[arg-type]  # no literal has values of its own


NEW = "urn:mrag:new:"  # start of the IRIs of individuals that are not there yet
_SMALL = 20_000  # triples of a graph whose terms are listed to see whether all can be tried
_PLAIN = {
    XSD + "boolean": ("true", "false"),
    XSD + "string": ("", "text"),
    XSD + "date": ("2000-01-01",),
    XSD + "dateTime": ("2000-01-01T00:00:00Z",),
}


class Candidates:
    """What can be tried as the value of a property."""

    def __init__(self, kg: KnowledgeGraph, expression: ce.Expression, x: URIRef, max_terms: int) -> None:
        self.kg, self.x, self.max_terms = kg, x, max_terms
        self.complete = True
        self._all: list[Term] | None = None
        self._members: dict[ce.Expression, list[Term]] = {}
        self._literals: dict[ce.Property, list[Literal]] = {}
        self._together = _siblings(expression)
        self._made = _made(expression)
        listed = (e.members for e in ce.walk(expression) if isinstance(e, ce.OneOf))
        values = (e.value for e in ce.walk(expression) if isinstance(e, ce.Value))
        names = chain(*listed, (v for v in values if not isinstance(v, Literal)))
        self._named = sorted(set(map(URIRef, names)), key=order)
        if kg.profile().triples <= _SMALL:
            rows = kg.select(queries.get("cel/terms").bind(most=max_terms + 1))
            found = [t for (t,) in rows if t is not None]
            self._all = found if len(found) <= max_terms else None

    def new(self, facts: GraphFacts) -> URIRef:
        """Return the first new individual that no change names yet."""
        used = {t for triple in facts.added for t in triple}
        return next(iri for n in count(1) if (iri := URIRef(f"{NEW}{n}")) not in used)

    def values(self, filler: ce.Expression, facts: GraphFacts, left: int) -> list[Term]:
        """Return terms that satisfy an expression, or could with the changes that are left."""
        found: dict[Term, None] = dict.fromkeys([self.x, *self._named])
        found.update((t, None) for triple in sorted(facts.added) for t in (triple.s, triple.o))
        if self._all is not None:
            found.update(dict.fromkeys(self._all))
        else:
            self.complete = False
            wanted = [filler, *self._together.get(filler, ())]
            positive = ce.Named | ce.Some | ce.Value | ce.AtLeast | ce.DataSome
            if left > 1 and isinstance(filler, ce.Connective):
                wanted += [p for p in filler.parts if isinstance(p, positive)]
            for e in wanted:
                found.update(dict.fromkeys(self._holding(e)))
        found[self.new(facts)] = None
        return list(found)

    def literals(self, p: ce.Property, test: Callable[[Literal], bool]) -> list[Literal]:
        """Return literals that pass a test: values that the property has, and ones at the limits."""
        if p.inverse:
            return []
        if p not in self._literals:
            rows = self.kg.select(queries.get("cel/literals-of").bind(p=[p.iri], most=200))
            found = [v for (v,) in rows if isinstance(v, Literal)]
            self._literals[p] = sorted({*found, *self._made}, key=order)
        return [v for v in self._literals[p] if test(v)]

    def _holding(self, e: ce.Expression) -> list[Term]:
        if e not in self._members:
            if isinstance(e, ce.Top):
                self._members[e] = []
            else:
                where = Group(tuple(members(e)))
                query = Select((X,), where, distinct=True, order_by=(X,), limit=self.max_terms)
                self._members[e] = [t for (t,) in self.kg.select(to_sparql(query)) if t is not None]
        return self._members[e]


def _siblings(expression: ce.Expression) -> dict[ce.Expression, list[ce.Expression]]:
    """Map fillers to the conjunction of all fillers that one value could satisfy at once."""
    found: dict[ce.Expression, list[ce.Expression]] = {}
    for e in ce.walk(expression):
        if isinstance(e, ce.And):
            groups: dict[ce.Property, list[ce.Expression]] = {}
            for part in e.parts:
                if isinstance(part, ce.Some | ce.AtLeast):
                    groups.setdefault(part.property, []).append(part.filler)
            for fillers in groups.values():
                if len(fillers) > 1:
                    for filler in fillers:
                        found.setdefault(filler, []).append(normal(ce.And(tuple(fillers))))
    return found


def _made(expression: ce.Expression) -> list[Literal]:
    """Return literals at, beside and between the limits of an expression, and of each datatype."""
    limits: dict[str, list[Literal]] = {}
    for e in ce.walk(expression):
        if isinstance(e, ce.DataRestriction):
            given = (_literal(str(limit), e.range.datatype) for _, limit in e.range.facets)
            limits.setdefault(e.range.datatype, []).extend(given)
        elif isinstance(e, ce.Value) and isinstance(e.value, Literal):
            limits.setdefault(str(e.value.datatype or XSD + "string"), []).append(e.value)
    found: dict[Literal, None] = {}
    for datatype, literals in sorted(limits.items()):
        texts: list[str] = []
        values = [v for v in map(comparable, literals) if v is not None]
        if datatype in NUMBERS:
            numbers = sorted(Decimal(str(v)) for v in values)
            beside = [n + step for n in numbers for step in (-1, 1)] or [Decimal(0)]
            between = [] if datatype in INTEGERS else [(a + b) / 2 for a, b in pairwise(numbers)]
            texts = [f"{n:f}" for n in (*beside, *between) if datatype not in INTEGERS or n == int(n)]
        elif datatype in (XSD + "date", XSD + "dateTime"):
            moments = [v + timedelta(days=n) for v in values if isinstance(v, datetime) for n in (-1, 1)]
            texts = [m.date().isoformat() if datatype == XSD + "date" else m.isoformat() for m in moments]
        elif datatype == XSD + "string":
            texts = [f"{v}a" for v in literals]
        found.update(dict.fromkeys(literals))
        found.update((_literal(text, datatype), None) for text in _PLAIN.get(datatype, ()))
        if datatype == RDF + "langString":
            found[Literal("text", lang="en")] = None
        found.update((_literal(text, datatype), None) for text in texts)
    return list(found)


def _literal(text: str, datatype: str) -> Literal:
    if datatype == XSD + "string":
        return Literal(text)
    return Literal(text, datatype=URIRef(datatype), normalize=False)


_CLASS = URIRef(OWL + "NamedIndividual")


@dataclass(frozen=True)
class Change:
    """A triple to add or to remove.

    Attributes:
        inferred: Whether it is to be removed but was inferred, so that what it follows from would have to go.
    """

    triple: Triple
    add: bool
    inferred: bool = False

    @property
    def order(self) -> tuple[str, str, str, bool]:
        """Return what changes are sorted by."""
        return order(self.triple.s), order(self.triple.p), order(self.triple.o), self.add


class TimeUp(Exception):  # no error: it ends a search at its limit
    """Ends a search when its time is up."""


_Edit: TypeAlias = tuple[bool, Triple]
_Edits: TypeAlias = frozenset[_Edit]
_NOTHING: _Edits = frozenset()


class RepairSearch:
    """Finds the smallest sets of changes, size by size.

    A plan for an expression that fails at a term is a set of changes of which every solution that goes on
    from here has one as a part. It is made of the plans for the parts: so a value that is added is at once
    brought to satisfy what it is added for, or given up.
    """

    def __init__(
        self, kg: KnowledgeGraph, e: ce.Expression, x: URIRef, deadline: float, max_terms: int
    ) -> None:
        self.e, self.x, self.deadline = e, x, deadline
        self.facts = GraphFacts(kg)
        self.candidates = Candidates(kg, e, x, max_terms)
        self.cut = False
        self.size = 0
        self.plans: dict[tuple[ce.Expression, Term, _Edits], list[_Edits]] = {}

    def run(self, size: int) -> tuple[Change, ...] | None:
        """Return the first in order of the sets of so many changes that bring the individual in."""
        self.cut, self.size = False, size
        self.plans.clear()
        found: list[tuple[Change, ...]] = []
        for edits in self._solve(self.e, self.x, _NOTHING):
            facts = self._facts(edits)
            if not facts.is_individual(self.x):
                # An individual of the graph has a class, and any class will do.
                self.cut = self.cut or len(edits) == size
                edits |= {next(iter(self._adding(facts, self.x, _TYPED, [_CLASS])))}
            if len(edits) <= size and self._facts(edits).holds(self.e, self.x):
                changes = (Change(t, add, not add and self.facts.inferred(t)) for add, t in edits)
                found.append(tuple(sorted(changes, key=lambda c: c.order)))
        return min(found, key=lambda changes: [c.order for c in changes], default=None)

    def _facts(self, edits: _Edits) -> GraphFacts:
        return self.facts.changed(*({t for add, t in edits if add == put_in} for put_in in (True, False)))

    def _solve(self, e: ce.Expression, x: Term, edits: _Edits) -> list[_Edits]:
        """Return the changes so far, together with each plan by which the expression comes to hold."""
        key = e, x, edits
        if key not in self.plans:
            self.plans[key] = list(dict.fromkeys(self._solving(e, x, edits)))
        return self.plans[key]

    def _solving(self, e: ce.Expression, x: Term, edits: _Edits) -> Iterator[_Edits]:
        if time.monotonic() >= self.deadline:
            raise TimeUp
        facts = self._facts(edits)
        if facts.holds(e, x):
            yield edits
            return
        if len(edits) + _least(facts, e, x) > self.size:
            self.cut = self.cut or _possible(facts, e, x)
            return
        for step in dict.fromkeys(self._steps(facts, e, x, edits)):
            yield from self._solve(e, x, step)

    def _steps(self, facts: GraphFacts, e: ce.Expression, x: Term, edits: _Edits) -> Iterator[_Edits]:
        """Yield the changes so far with more of them, which bring the expression nearer to holding."""
        match e:
            case ce.And(parts):
                yield from self._solve(next(p for p in parts if not facts.holds(p, x)), x, edits)
            case ce.Or(parts):
                for part in parts:
                    yield from self._solve(part, x, edits)
            case ce.Some(p, filler) | ce.AtLeast(_, p, filler):
                yield from self._more(facts, x, p, filler, edits)
            case ce.Only(p, filler):
                bad = next(v for v in facts.values(x, p) if not facts.holds(filler, v))
                yield from self._with(edits, [(False, edge(x, p, bad))])
                yield from self._solve(filler, bad, edits)
            case ce.AtMost(_, p, filler):
                yield from self._fewer(facts, x, p, filler, edits)
            case ce.Exactly(n, p, filler):
                enough = facts.count(x, p, filler, n) >= n
                yield from (self._fewer if enough else self._more)(facts, x, p, filler, edits)
            case _:
                yield from self._with(edits, self._single(facts, e, x))

    def _single(self, facts: GraphFacts, e: ce.Expression, x: Term) -> Iterator[_Edit]:
        """Yield the single changes that make a condition without parts hold."""
        match e:
            case ce.Named(name):
                yield from self._adding(facts, x, _TYPED, [URIRef(name)])
            case ce.Not(ce.Named(name)):
                yield False, edge(x, _TYPED, URIRef(name))
            case ce.Value(p, value):
                term = value if isinstance(value, Literal) else URIRef(value)
                yield from self._adding(facts, x, p, [term])
            case ce.Not(ce.Value(p, value)):
                yield from self._dropping(facts, x, p, lambda v: same(v, value))
            case ce.DataSome(p, range):
                inside = self.candidates.literals(p, lambda v: within(v, range))
                yield from self._adding(facts, x, p, inside)
            case ce.Not(ce.DataSome(p, range)):
                yield from self._dropping(facts, x, p, lambda v: within(v, range))
            case ce.DataOnly(p, range):
                yield from self._dropping(facts, x, p, lambda v: not within(v, range))
            case ce.Not(ce.DataOnly(p, range)):
                beyond = self.candidates.literals(p, lambda v: not within(v, range))
                yield from self._adding(facts, x, p, [*beyond, self.candidates.new(facts)])

    def _more(
        self, facts: GraphFacts, x: Term, p: ce.Property, filler: ce.Expression, edits: _Edits
    ) -> Iterator[_Edits]:
        values = facts.values(x, p)
        for value in values:
            if not facts.holds(filler, value):
                yield from self._solve(filler, value, edits)
        pool = [t for t in self.candidates.values(filler, facts, self.size - len(edits)) if t not in values]
        facts.fetch(pool)
        for add in self._adding(facts, x, p, pool):
            value = add[1].s if p.inverse else add[1].o
            for more in self._with(edits, [add]):
                yield from self._solve(filler, value, more)

    def _fewer(
        self, facts: GraphFacts, x: Term, p: ce.Property, filler: ce.Expression, edits: _Edits
    ) -> Iterator[_Edits]:
        opposite = negation(filler)
        for value in facts.matching(x, p, filler):
            yield from self._with(edits, [(False, edge(x, p, value))])
            yield from self._solve(opposite, value, edits)

    def _with(self, edits: _Edits, more: Iterable[_Edit]) -> Iterator[_Edits]:
        for add, triple in more:
            blank = any(isinstance(t, BNode) for t in triple)  # no name to change them by
            if not blank and not {(add, triple), (not add, triple)} & edits:
                if len(edits) < self.size:
                    yield edits | {(add, triple)}
                else:
                    self.cut = True

    def _adding(self, facts: GraphFacts, x: Term, p: ce.Property, values: Iterable[Term]) -> Iterator[_Edit]:
        for value in values:
            triple = edge(x, p, value)
            if isinstance(triple.s, URIRef):
                yield True, triple

    def _dropping(
        self, facts: GraphFacts, x: Term, p: ce.Property, wrong: Callable[[Term], bool]
    ) -> Iterator[_Edit]:
        value = next(v for v in facts.values(x, p) if wrong(v))
        yield False, edge(x, p, value)


def _least(facts: GraphFacts, e: ce.Expression, x: Term) -> int:
    """Return how many changes an expression that fails needs at least."""
    match e:
        case ce.And(parts):
            wrong = [p for p in parts if not facts.holds(p, x)]
            single = sum(isinstance(p.of if isinstance(p, ce.Not) else p, ce.Named) for p in wrong)
            return max(single, *(_least(facts, p, x) for p in wrong))
        case ce.Or(parts):
            return min(_least(facts, p, x) for p in parts)
        case ce.AtLeast(n, p, _) | ce.Exactly(n, p, _):
            return max(1, n - len(facts.values(x, p)))
        case ce.AtMost(n, p, ce.Top()):
            return len(facts.values(x, p)) - n
        case ce.Only(p, ce.Bottom()):
            return len(facts.values(x, p))
        case _:
            return 1


def _possible(facts: GraphFacts, e: ce.Expression, x: Term) -> bool:
    """Return whether any change could make an expression hold that fails; it may say so wrongly."""
    match e:
        case ce.Bottom() | ce.OneOf() | ce.Not(ce.OneOf()):
            return False
        case ce.Named():
            return isinstance(x, URIRef)
        case ce.And(parts):
            return all(_possible(facts, p, x) for p in parts if not facts.holds(p, x))
        case ce.Or(parts):
            return any(_possible(facts, p, x) for p in parts)
        case _:
            return True


Label = Callable[[str], str]  # names an IRI for people


@dataclass(frozen=True)
class SupportingTriple:
    """A triple that something rests on."""

    triple: Triple
    inferred: bool = False


@dataclass(frozen=True)
class Absence:
    """A triple that was looked for and is not there; None stands for any value."""

    s: Term | None
    p: URIRef
    o: Term | None


@dataclass(frozen=True)
class Reason:
    """Whether a term satisfies an expression, and why.

    Attributes:
        edge: The triple that led to this term from the one before; None at the root and for parts.
        absent: Triples whose absence decides.
        more: How many further values decide that are not shown.
    """

    expression: ce.Expression
    subject: Term
    holds: bool
    edge: SupportingTriple | None = None
    evidence: tuple[SupportingTriple, ...] = ()
    absent: tuple[Absence, ...] = ()
    parts: tuple[Reason, ...] = ()
    more: int = 0

    def triples(self) -> tuple[SupportingTriple, ...]:
        """Return all triples that it rests on, each once, in order."""
        found = dict.fromkeys(self._triples())
        return tuple(sorted(found, key=lambda e: [t.n3() for t in e.triple]))

    def _triples(self) -> Iterator[SupportingTriple]:
        if self.edge is not None:
            yield self.edge
        yield from self.evidence
        for part in self.parts:
            yield from part._triples()

    def render(self, label: Label | None = None) -> str:
        """Write it as an indented tree, `✓` before what holds and `✗` before what does not.

        IRIs are CURIEs or whole, if there is no label.
        """
        return "\n".join(map(inline, _lines(self, label or curie, "")))

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; terms are written as in N-Triples."""
        return {
            "expression": to_dl(self.expression),
            "subject": self.subject.n3(),
            "holds": self.holds,
            "edge": _evidence_json(self.edge) if self.edge else None,
            "evidence": [_evidence_json(e) for e in self.evidence],
            "absent": [
                [None if a.s is None else a.s.n3(), a.p.n3(), None if a.o is None else a.o.n3()]
                for a in self.absent
            ],
            "parts": [part.to_json() for part in self.parts],
            "more": self.more,
        }


def why_satisfied(
    kg: KnowledgeGraph,
    expression: ce.Expression,
    individual: str,
    *,
    max_values: int = 3,
    facts: GraphFacts | None = None,
) -> Reason:
    """Explain whether and why an individual satisfies an expression.

    Returns:
        The reason, from the whole expression down to triples. It agrees with the store's query.

    Raises:
        ConfigError: If this is no named individual of the graph, or the store judges otherwise, which
            happens where it compares literals that are not compared here.

    Example:
        >>> import mrag
        >>> from rdflib import RDF
        >>> kg = mrag.connect()
        >>> photo, jacket = URIRef("urn:x:photo"), URIRef("urn:x:jacket")
        >>> _ = kg.insert([
        ...     Triple(photo, RDF.type, URIRef("urn:x:Image")), Triple(photo, URIRef("urn:x:shows"), jacket),
        ...     Triple(jacket, RDF.type, URIRef("urn:x:Jacket")),
        ... ])
        >>> e = mrag.cel.from_dl("∃ x:shows.x:Jacket ⊓ ¬x:Advert", {"x": "urn:x:"})
        >>> print(why_satisfied(kg, e, "urn:x:photo").render(lambda i: i.rpartition(":")[2]))
        ✓ photo: ¬Advert ⊓ (∃ shows.Jacket)
          ✓ ¬Advert: not stated: photo is an Advert
          ✓ ∃ shows.Jacket
            ✓ photo shows jacket [asserted]: Jacket
              jacket is a Jacket [asserted]
        >>> kg.close()
    """
    facts = facts or GraphFacts(kg)
    x, shape = URIRef(iri(individual, kg.prefixes)), normal(expression)
    if not facts.is_individual(x):
        raise ConfigError(
            "This is no named individual of the graph.",
            term=str(x),
            hint="An individual is an IRI with a class.",
        )
    found = _Explainer(facts, max_values).reason(shape, x)
    if found.holds != bool(instances_among(kg, shape, [str(x)])):
        raise ConfigError(
            "The store compares a literal in this expression otherwise.",
            term=str(x),
            hint="Use numbers, booleans, texts, xsd:date or xsd:dateTime in data restrictions.",
        )
    return found


class _Explainer:
    def __init__(self, facts: GraphFacts, max_values: int) -> None:
        self.facts, self.max_values = facts, max_values

    def reason(self, e: ce.Expression, x: Term, by: SupportingTriple | None = None) -> Reason:
        found = Reason(e, x, self.facts.holds(e, x), by)
        match e:
            case ce.Connective(parts):
                if found.holds and isinstance(e, ce.Or):
                    parts = tuple(p for p in parts if self.facts.holds(p, x))
                return replace(found, parts=tuple(self.reason(p, x) for p in parts))
            case ce.Named(name) | ce.Not(ce.Named(name)):
                return self.by_triples(found, [edge(x, _TYPED, URIRef(name))])
            case ce.Value(p, value) | ce.Not(ce.Value(p, value)):
                term = value if isinstance(value, Literal) else URIRef(value)
                values = [v for v in self.facts.values(x, p) if same(v, value)]
                return self.by_triples(found, [edge(x, p, v) for v in values or [term]])
            case ce.DataRestriction(p, range) | ce.Not(ce.DataRestriction(p, range)):
                # What decides is in the range, or beyond it.
                inside = isinstance(e, ce.DataSome) or (
                    isinstance(e, ce.Not) and isinstance(e.of, ce.DataSome)
                )
                values = self.facts.values(x, p)
                deciding = [v for v in values if within(v, range) == inside] or values
                return self.by_triples(found, [edge(x, p, v) for v in deciding], [_none(x, p)])
            case ce.Only(p, filler):
                values = self.facts.values(x, p)
                if not found.holds:
                    values = [v for v in values if not self.facts.holds(filler, v)]
                return self.by_values(found, e, values)
            case ce.Some(p, filler) | ce.Cardinality(_, p, filler):
                values = self.facts.matching(x, p, filler)
                if not values and not found.holds:
                    values = self.facts.values(x, p)
                return self.by_values(found, e, values)
            case _:
                return found

    def by_values(self, found: Reason, e: ce.Quantified, values: Sequence[Term]) -> Reason:
        """Add the values of a property that decide, each with its own reason."""
        x, p = found.subject, e.property
        limit = max(self.max_values, e.n) if isinstance(e, ce.AtLeast | ce.Exactly) else self.max_values
        shown = values[:limit]
        parts = tuple(self.reason(e.filler, v, self.supporting(edge(x, p, v))) for v in shown)
        absent = () if values else (_none(x, p),)
        if isinstance(e, ce.AtMost | ce.Exactly) and not isinstance(e.filler, ce.Top):
            absent = ()  # others may be there that the filler does not hold
        return replace(found, absent=absent, parts=parts, more=len(values) - len(shown))

    def by_triples(self, found: Reason, wanted: Sequence[Triple], nothing: Sequence[Absence] = ()) -> Reason:
        """Add the triples that decide, and those whose absence does."""
        here = [t for t in wanted if t.o in self.facts.values(t.s, ce.Property(str(t.p)))]
        absent = [Absence(t.s, t.p, t.o) for t in wanted if t not in here] or ([] if here else list(nothing))
        shown = tuple(self.supporting(t) for t in here[: self.max_values])
        return replace(found, evidence=shown, absent=tuple(absent), more=len(here) - len(shown))

    def supporting(self, t: Triple) -> SupportingTriple:
        return SupportingTriple(t, self.facts.inferred(t))


def _none(x: Term, p: ce.Property) -> Absence:
    return Absence(None, URIRef(p.iri), x) if p.inverse else Absence(x, URIRef(p.iri), None)


def _evidence_json(e: SupportingTriple) -> dict[str, Any]:
    return {"triple": ntriples_terms(e.triple), "inferred": e.inferred}


def in_words(terms: Sequence[Term | None], label: Label) -> str:
    """Write a triple for people."""

    def word(t: Term | None) -> str:
        return "anything" if t is None else t.n3() if isinstance(t, Literal) else label(str(t))

    if len(terms) == 3 and terms[1] == TYPE:
        kind = word(terms[2])
        if not is_adjective(kind):
            kind = some(kind) if kind[:1].isalpha() else f"a {kind}"
        return f"{word(terms[0])} is {kind}"
    if len(terms) == 3 and isinstance(terms[2], Literal) and terms[1] is not None:
        return f"{word(terms[0])} {verbalise(ce.Value(ce.Property(str(terms[1])), terms[2]), label)}"
    return " ".join(map(word, terms))


def _lines(r: Reason, label: Label, indent: str) -> Iterator[str]:
    mark = "✓" if r.holds else "✗"
    text = to_dl(r.expression, name=label)
    if r.edge is not None:
        head = f"{in_words(r.edge.triple, label)} [{_status(r.edge)}]"
        head += "" if isinstance(r.expression, ce.Top) else f": {text}"
    else:
        head = text if indent else f"{in_words([r.subject], label)}: {text}"
    absent = "; ".join(f"not stated: {in_words((a.s, a.p, a.o), label)}" for a in r.absent)
    yield f"{indent}{mark} {head}" + (f": {absent}" if absent else "")
    for e in r.evidence:
        yield f"{indent}  {in_words(e.triple, label)} [{_status(e)}]"
    for part in r.parts:
        yield from _lines(part, label, indent + "  ")
    if r.more:
        yield f"{indent}  and {r.more} more"


def _status(e: SupportingTriple) -> str:
    return "inferred" if e.inferred else "asserted"


GaveUp: TypeAlias = typing.Literal["time", "size"]
"""What ended a search without a result: its seconds, or the most changes it may make."""


@dataclass(frozen=True)
class WhyNot:
    """The fewest changes that bring an individual into a result.

    Attributes:
        changes: The changes, in order of term; empty if it is in already; None if none were found.
        complete: Whether all terms of the graph were tried as values, so that nothing smaller is there.
        at_least: So many changes are needed at least, as far as terms were tried.
        gave_up: What ended the search, None if it came to its end.
        lacking: What holds of the individual instead of the parts of the expression that do not hold.
    """

    individual: str
    expression: ce.Expression
    changes: tuple[Change, ...] | None
    complete: bool
    at_least: int
    gave_up: GaveUp | None
    seconds: float
    lacking: tuple[ce.Expression, ...] = ()

    def render(self, label: Label | None = None) -> str:
        """Write it for people.

        IRIs are CURIEs or whole, if there is no label.
        """
        named = label or curie
        name = named(self.individual)
        if self.changes == ():
            return f"{name} is in the result."
        lines = [f"{name} {verbalise(e, named)}." for e in self.lacking]
        if self.changes is None:
            why = {"time": "the time was up", "size": "more changes than allowed would be needed", None: ""}
            last = f"No way in was found for {name}: {why[self.gave_up]} (at least {self.at_least} changes)."
            if self.gave_up is None:
                last = f"{name} cannot be brought in: no change of triples would do."
            return "\n".join(map(inline, [*lines, last]))
        lines.append(f"{name} would be in the result")
        for change in self.changes:
            start = "if it were stated" if change.add else "if it were not stated"
            note = " (inferred: what it follows from would have to go)" if change.inferred else ""
            lines.append(f"  {start}: {in_words(change.triple, label or curie)}{note}")
        if not self.complete:
            lines.append("  (not every term of the graph was tried as a value)")
        return "\n".join(map(inline, lines))

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON; terms are written as in N-Triples."""
        changes = [
            {"triple": ntriples_terms(c.triple), "add": c.add, "inferred": c.inferred}
            for c in self.changes or ()
        ]
        return {
            "individual": self.individual,
            "changes": None if self.changes is None else changes,
            "complete": self.complete,
            "at_least": self.at_least,
            "lacking": [to_dl(e) for e in self.lacking],
            "gave_up": self.gave_up,
            "seconds": round(self.seconds, 3),
        }


def why_not(
    kg: KnowledgeGraph,
    expression: ce.Expression,
    individual: str,
    *,
    max_changes: int = 6,
    seconds: float = 10.0,
    max_terms: int = 25,
) -> WhyNot:
    """Find the smallest set of triples whose addition or removal brings an individual into a result.

    Of several sets of the same size the first in order of terms is taken. New individuals, where they are
    needed, are called `urn:mrag:new:1` and so on. Nothing is inferred from the changes. At each place at
    most `max_terms` terms of the graph are tried as the value of a property. An individual that the graph
    does not know is brought in as a new one. When the time is up, the result says so.

    Raises:
        ConfigError: If limits are not positive, or the expression compares literals that only the store
            compares.

    Example:
        >>> import mrag
        >>> from rdflib import RDF
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Image")),
        ...                Triple(URIRef("urn:x:photo"), RDF.type, URIRef("urn:x:Advert"))])
        >>> e = mrag.cel.from_dl("∃ x:shows.x:Jacket ⊓ ¬x:Advert", {"x": "urn:x:"})
        >>> print(why_not(kg, e, "urn:x:photo").render(lambda i: i.rpartition(":")[2]))
        photo is an Advert.
        photo shows no Jacket.
        photo would be in the result
          if it were stated: 1 is a Jacket
          if it were not stated: photo is an Advert
          if it were stated: photo shows 1
        >>> kg.close()
    """
    if max_changes < 1 or seconds <= 0 or max_terms < 1:
        raise ConfigError("max_changes, seconds and max_terms are positive.")
    started = time.monotonic()
    x, shape = URIRef(iri(individual, kg.prefixes)), normal(expression)
    search = RepairSearch(kg, shape, x, started + seconds, max_terms)
    changes: tuple[Change, ...] | None = None
    gave_up: GaveUp | None = None
    size = 0
    try:
        while (changes := search.run(size)) is None and search.cut and size < max_changes:
            size += 1
        gave_up = "size" if changes is None and search.cut else None
    except TimeUp:
        gave_up = "time"
    facts = GraphFacts(kg)
    parts = shape.parts if isinstance(shape, ce.And) else (shape,)
    lacking = tuple(negation(part) for part in parts if not facts.holds(part, x))
    at_least = size if gave_up != "size" else size + 1
    seconds = time.monotonic() - started
    complete = search.candidates.complete
    return WhyNot(str(x), shape, changes, complete, at_least, gave_up, seconds, lacking)
