"""The search for the fewest changes by which an expression comes to hold an individual.

`GraphFacts` judges one individual at a time by the semantics of the query, from statements that are read when
they are needed and can be changed without touching the graph; `Candidates` are terms that could become
values; `RepairSearch` tries what can mend each place where the expression fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import islice, pairwise
from typing import TypeAlias

from rdflib import BNode, Literal, URIRef

from mrag.cel.sparql import VOCABULARY, X, batches, by_value, comparable, condition, equal, holds, members
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.expressions import negation, normal
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.rdf import queries
from mrag.rdf.patterns import Group, Select, to_sparql, var
from mrag.rdf.terms import OWL, RDF, XSD, Term, Triple

TYPE = URIRef(RDF + "type")
SCHEMA = frozenset(v.value for v in VOCABULARY)
_TYPED = ce.Property(str(TYPE))
_NONE: Mapping[URIRef, Collection[Term]] = {}
_V = var("v")


class _Read:
    """What has been read from the graph; True stands for an inferred statement."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.out: dict[Term, dict[URIRef, dict[Term, bool]]] = {}
        self.into: dict[tuple[URIRef, Term], dict[Term, bool]] = {}

    def layers(self) -> Iterator[tuple[Layer, bool]]:
        yield "asserted", False
        if self.kg.record.inferred:
            yield "inferred", True

    def outgoing(self, terms: Iterable[Term]) -> None:
        missing = [str(t) for t in terms if t not in self.out and isinstance(t, URIRef)]
        for batch in batches(dict.fromkeys(missing)):
            for name in batch:
                self.out[URIRef(name)] = {}
            for layer, inferred in self.layers():
                for s, p, o in self.kg.select(queries.get("cel/statements-of").bind(entity=batch), layer):
                    if s is not None and o is not None:
                        self.out.setdefault(s, {}).setdefault(URIRef(str(p)), {}).setdefault(o, inferred)

    def incoming(self, p: URIRef, terms: Iterable[Term]) -> None:
        missing = [t for t in terms if not isinstance(t, BNode) and (p, t) not in self.into]
        for start in range(0, len(missing), 500):
            batch = missing[start : start + 500]
            for term in batch:
                self.into[p, term] = {}
            rows = [(p, term) for term in batch]
            for layer, inferred in self.layers():
                for s, _, o in self.kg.select(queries.get("cel/subjects-of").bind(p_o=rows), layer):
                    if s is not None and o is not None:
                        self.into.setdefault((p, o), {}).setdefault(s, inferred)


class GraphFacts:
    """Statements of a graph, some left out and others put in."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.added: frozenset[Triple] = frozenset()
        self._read = _Read(kg)
        self._changes: dict[tuple[Term, URIRef, bool], tuple[set[Term], set[Term]]] | None = None

    def changed(self, added: Iterable[Triple], removed: Iterable[Triple]) -> GraphFacts:
        """Return the statements of the graph with these put in and those left out."""
        found = GraphFacts.__new__(GraphFacts)
        found.added, found._read, found._changes = frozenset(added), self._read, {}
        for at, triples in enumerate((found.added, removed)):
            for s, p, o in triples:
                found._changes.setdefault((s, p, False), (set(), set()))[at].add(o)
                found._changes.setdefault((o, p, True), (set(), set()))[at].add(s)
        return found

    def fetch(self, terms: Iterable[Term]) -> None:
        """Read the statements of many terms at once."""
        self._read.outgoing(terms)

    def values(self, x: Term, p: ce.Property) -> list[Term]:
        """Return the values of a property, in order of term."""
        return sorted(self._values(x, p), key=order)

    def _values(self, x: Term, p: ce.Property) -> Collection[Term]:
        role = _iri(p.iri)
        known: Collection[Term]
        if p.inverse:
            if (role, x) not in self._read.into:
                self._read.incoming(role, [x])
            known = self._read.into.get((role, x), ())
        else:
            if x not in self._read.out:
                self._read.outgoing([x])
            known = self._read.out.get(x, _NONE).get(role, ())
        if self._changes is None:
            return known
        key = x, role, p.inverse
        if key not in self._changes:
            return known
        more, fewer = self._changes[key]
        return ({*known} - fewer) | more

    def types(self, x: Term) -> list[str]:
        """Return the classes of a term, in order of IRI."""
        return [str(c) for c in self.values(x, ce.Property(str(TYPE)))]

    def is_individual(self, x: Term) -> bool:
        """Return whether a term is a named individual."""
        return isinstance(x, URIRef) and any(c not in SCHEMA for c in self.types(x))

    def inferred(self, triple: Triple) -> bool:
        """Return whether a triple that is here was inferred."""
        self._read.outgoing([triple.s])
        return self._read.out.get(triple.s, {}).get(triple.p, {}).get(triple.o, False)

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
            case ce.AtLeast(n, p, filler) | ce.AtMost(n, p, filler) | ce.Exactly(n, p, filler):
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
    """Return whether a term is a literal in a range.

    Raises:
        ConfigError: If the datatype is one that only the store compares.
    """
    return isinstance(value, Literal) and holds(condition(range, _V), value)


def edge(x: Term, p: ce.Property, y: Term) -> Triple:
    """Return the triple by which `y` is a value of the property for `x`."""
    s, o = (y, x) if p.inverse else (x, y)
    return Triple(s, URIRef(p.iri), o)  # type: ignore[arg-type]  # no literal has values of its own


NEW = "urn:mrag:new:"
"""Start of the IRIs of individuals that are not there yet."""

_SMALL = 20_000
"""Triples of a graph whose terms are listed to see whether all can be tried."""

_PLAIN = {
    XSD + "boolean": ("true", "false"),
    XSD + "string": ("", "text"),
    XSD + "date": ("2000-01-01",),
    XSD + "dateTime": ("2000-01-01T00:00:00Z",),
}
_WHOLE = frozenset(
    XSD + n
    for n in "integer int long short byte nonNegativeInteger positiveInteger unsignedInt unsignedLong".split()
)
_NUMBERS = _WHOLE | {XSD + "decimal", XSD + "double", XSD + "float"}


class Candidates:
    """What can be tried as the value of a property.

    Attributes:
        complete: Whether all terms were tried so far.
    """

    def __init__(self, kg: KnowledgeGraph, expression: ce.Expression, x: URIRef, max_terms: int) -> None:
        self.kg, self.x, self.max_terms = kg, x, max_terms
        self.complete = True
        self._all: list[Term] | None = None
        self._members: dict[ce.Expression, list[Term]] = {}
        self._literals: dict[ce.Property, list[Literal]] = {}
        self._together = _siblings(expression)
        self._made = _made(expression)
        self._named = sorted(
            {URIRef(n) for e in ce.walk(expression) for n in _mentioned(e)},
            key=order,
        )
        if kg.profile().triples <= _SMALL:
            rows = kg.select(queries.get("cel/terms").bind(most=max_terms + 1))
            found = [t for (t,) in rows if t is not None]
            self._all = found if len(found) <= max_terms else None

    def new(self, facts: GraphFacts) -> URIRef:
        """Return the first new individual that no change names yet."""
        used = {t for triple in facts.added for t in triple}
        number = 1
        while URIRef(f"{NEW}{number}") in used:
            number += 1
        return URIRef(f"{NEW}{number}")

    def values(self, filler: ce.Expression, facts: GraphFacts, left: int) -> list[Term]:
        """Return terms that satisfy an expression, or could with the changes that are left."""
        found: dict[Term, None] = dict.fromkeys([self.x, *self._named])
        found.update((t, None) for triple in sorted(facts.added) for t in (triple.s, triple.o))
        if self._all is not None:
            found.update(dict.fromkeys(self._all))
        else:
            self.complete = False
            wanted = [filler, *self._together.get(filler, ())]
            if left > 1:
                wanted += [
                    p for p in (filler.parts if isinstance(filler, ce.And | ce.Or) else ()) if _positive(p)
                ]
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


def _positive(e: ce.Expression) -> bool:
    return isinstance(e, ce.Named | ce.Some | ce.Value | ce.AtLeast | ce.DataSome)


def _mentioned(e: ce.Expression) -> Iterator[str]:
    if isinstance(e, ce.OneOf):
        yield from e.members
    elif isinstance(e, ce.Value) and not isinstance(e.value, Literal):
        yield e.value


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
        if isinstance(e, ce.DataSome | ce.DataOnly):
            _note(limits, e.range)
        elif isinstance(e, ce.Value) and isinstance(e.value, Literal):
            limits.setdefault(str(e.value.datatype or XSD + "string"), []).append(e.value)
    found: dict[Literal, None] = {}
    for datatype, literals in sorted(limits.items()):
        found.update(dict.fromkeys(literals))
        found.update((_literal(text, datatype), None) for text in _PLAIN.get(datatype, ()))
        if datatype == RDF + "langString":
            found[Literal("text", lang="en")] = None
        values = [v for v in map(comparable, literals) if v is not None]
        if datatype in _NUMBERS:
            numbers = sorted(Decimal(str(v)) for v in values)
            beside = [n + step for n in numbers for step in (-1, 1)] or [Decimal(0)]
            between = [] if datatype in _WHOLE else [(a + b) / 2 for a, b in pairwise(numbers)]
            found.update(
                (_literal(f"{n:f}", datatype), None)
                for n in (*beside, *between)
                if datatype not in _WHOLE or n == int(n)
            )
        elif datatype in (XSD + "date", XSD + "dateTime"):
            for v in values:
                if isinstance(v, datetime):
                    for step in (-1, 1):
                        found[_literal(_moved(v, step, datatype), datatype)] = None
        elif datatype == XSD + "string":
            found.update((Literal(str(v) + "a"), None) for v in literals)
    return list(found)


def _note(limits: dict[str, list[Literal]], range: ce.DataRange) -> None:
    entry = limits.setdefault(range.datatype, [])
    for _, limit in range.facets:
        entry.append(_literal(str(limit), range.datatype))


def _moved(value: datetime, days: int, datatype: str) -> str:
    moved = value + timedelta(days=days)
    return date.isoformat(moved) if datatype == XSD + "date" else moved.isoformat()


def _literal(text: str, datatype: str) -> Literal:
    if datatype == XSD + "string":
        return Literal(text)
    return Literal(text, datatype=URIRef(datatype), normalize=False)


_CLASS = URIRef(OWL + "NamedIndividual")


@dataclass(frozen=True)
class Change:
    """A triple to add or to remove.

    Attributes:
        triple: The triple.
        add: Whether it is to be added.
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

    Attributes:
        cut: Whether a larger number of changes could do more than the last run's.
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

    @property
    def complete(self) -> bool:
        """Return whether all terms of the graph were tried."""
        return self.candidates.complete

    def run(self, size: int) -> tuple[Change, ...] | None:
        """Return the first in order of the sets of so many changes that bring the individual in.

        Raises:
            TimeUp: At the deadline.
        """
        self.cut, self.size = False, size
        self.plans.clear()
        found: list[tuple[Change, ...]] = []
        for edits in self._solved(self.e, self.x, _NOTHING):
            facts = self._facts(edits)
            if not facts.is_individual(self.x):
                # An individual of the graph has a class, and any class will do.
                self.cut = self.cut or len(edits) == size
                edits |= {next(iter(self._adding(facts, self.x, _TYPED, [_CLASS])))}
            if len(edits) <= size and self._facts(edits).holds(self.e, self.x):
                found.append(self._changes(edits))
        return min(found, key=lambda changes: [c.order for c in changes], default=None)

    def _changes(self, edits: _Edits) -> tuple[Change, ...]:
        changes = (Change(t, add, not add and self.facts.inferred(t)) for add, t in edits)
        return tuple(sorted(changes, key=lambda c: c.order))

    def _facts(self, edits: _Edits) -> GraphFacts:
        return self.facts.changed((t for add, t in edits if add), (t for add, t in edits if not add))

    def _solved(self, e: ce.Expression, x: Term, edits: _Edits) -> list[_Edits]:
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
            yield from self._solved(e, x, step)

    def _steps(self, facts: GraphFacts, e: ce.Expression, x: Term, edits: _Edits) -> Iterator[_Edits]:
        """Yield the changes so far with more of them, which bring the expression nearer to holding."""
        match e:
            case ce.And(parts):
                yield from self._solved(next(p for p in parts if not facts.holds(p, x)), x, edits)
            case ce.Or(parts):
                for part in parts:
                    yield from self._solved(part, x, edits)
            case ce.Some(p, filler) | ce.AtLeast(_, p, filler):
                yield from self._more(facts, x, p, filler, edits)
            case ce.Only(p, filler):
                bad = next(v for v in facts.values(x, p) if not facts.holds(filler, v))
                yield from self._with(edits, [(False, edge(x, p, bad))])
                yield from self._solved(filler, bad, edits)
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
                yield from self._solved(filler, value, edits)
        pool = [t for t in self.candidates.values(filler, facts, self.size - len(edits)) if t not in values]
        facts.fetch(pool)
        for add in self._adding(facts, x, p, pool):
            value = add[1].s if p.inverse else add[1].o
            for more in self._with(edits, [add]):
                yield from self._solved(filler, value, more)

    def _fewer(
        self, facts: GraphFacts, x: Term, p: ce.Property, filler: ce.Expression, edits: _Edits
    ) -> Iterator[_Edits]:
        opposite = negation(filler)
        for value in facts.matching(x, p, filler):
            yield from self._with(edits, [(False, edge(x, p, value))])
            yield from self._solved(opposite, value, edits)

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
