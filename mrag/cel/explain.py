"""Why an individual satisfies a class expression or does not.

What holds rests on triples, each marked asserted or inferred, or on absences that were checked: the world is
closed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from rdflib import BNode, Literal, URIRef

from mrag.cel.problem import instances_among
from mrag.cel.sentences import is_adjective, some, verbalise
from mrag.cel.sparql import VOCABULARY, batches, by_value, condition, equal, holds
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph, Layer
from mrag.rdf import expressions as ce
from mrag.rdf import queries
from mrag.rdf.expressions import normal
from mrag.rdf.notation import to_dl
from mrag.rdf.patterns import var
from mrag.rdf.terms import RDF, Term, Triple, curie, iri, ntriples_terms
from mrag.terminal import inline

TYPE = URIRef(RDF + "type")
SCHEMA = frozenset(v.value for v in VOCABULARY)
_TYPED = ce.Property(str(TYPE))
_NONE: Mapping[URIRef, Collection[Term]] = {}
_V = var("v")
LAYERS: tuple[Layer, ...] = ("asserted", "inferred")


class GraphFacts:
    """Statements of a graph, read as they are asked for."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        # What has been read; True stands for an inferred statement.
        self._out: dict[Term, dict[URIRef, dict[Term, bool]]] = {}
        self._into: dict[tuple[URIRef, Term], dict[Term, bool]] = {}

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
        if p.inverse:
            if (role, x) not in self._into and not isinstance(x, BNode):
                self._into[role, x] = {}
                for s, _, o, inferred in self._rows(queries.get("cel/subjects-of").bind(p_o=[(role, x)])):
                    self._into.setdefault((role, o), {}).setdefault(s, inferred)
            return self._into.get((role, x), ())
        self.fetch([x])
        return self._out.get(x, _NONE).get(role, ())

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
                number = self.count(x, p, filler, n if isinstance(e, ce.AtLeast) else n + 1)
                return bool(ce.COMPARE[type(e)](number, n))
            case ce.DataSome(p, range):
                return any(within(v, range) for v in self._values(x, p))
            case ce.DataOnly(p, range):
                return all(within(v, range) for v in self._values(x, p))
            case _:
                raise AssertionError(e)

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
        fitting = (1 for v in values if self.holds(filler, v))
        return sum(fitting if limit is None else islice(fitting, limit))

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


def same(value: Term, wanted: str | Literal) -> bool:
    """Return whether a term is a wanted value, literals of numbers, dates and booleans by value."""
    if not isinstance(wanted, Literal):
        return isinstance(value, URIRef) and str(value) == wanted
    if not isinstance(value, Literal):
        return False
    return equal(value, wanted) if by_value(wanted) else value == wanted


def within(value: Term, range: ce.DataRange) -> bool:
    """Return whether a term is a literal in a range."""
    return isinstance(value, Literal) and holds(condition(range, _V), value)


def edge(x: Term, p: ce.Property, y: Term) -> Triple:
    """Return the triple by which `y` is a value of the property for `x`."""
    s, o = (y, x) if p.inverse else (x, y)
    return Triple(s, URIRef(p.iri), o)  # type: ignore[arg-type]  # no literal has values of its own


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
        supporting = dict.fromkeys(self._triples())
        return tuple(sorted(supporting, key=lambda e: [t.n3() for t in e.triple]))

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
        hint = "An individual is an IRI with a class."
        raise ConfigError("This is no named individual of the graph.", term=str(x), hint=hint)
    reason = _Explainer(facts, max_values).reason(shape, x)
    if reason.holds != bool(instances_among(kg, shape, [str(x)])):
        what = "The store compares a literal in this expression otherwise."
        hint = "Use numbers, booleans, texts, xsd:date or xsd:dateTime in data restrictions."
        raise ConfigError(what, term=str(x), hint=hint)
    return reason


class _Explainer:
    def __init__(self, facts: GraphFacts, max_values: int) -> None:
        self.facts, self.max_values = facts, max_values

    def reason(self, e: ce.Expression, x: Term, by: SupportingTriple | None = None) -> Reason:
        reason = Reason(e, x, self.facts.holds(e, x), by)
        match e:
            case ce.Connective(parts):
                if reason.holds and isinstance(e, ce.Or):
                    parts = tuple(p for p in parts if self.facts.holds(p, x))
                return replace(reason, parts=tuple(self.reason(p, x) for p in parts))
            case ce.Named(name) | ce.Not(ce.Named(name)):
                return self.by_triples(reason, [edge(x, _TYPED, URIRef(name))])
            case ce.Value(p, value) | ce.Not(ce.Value(p, value)):
                term = value if isinstance(value, Literal) else URIRef(value)
                values = [v for v in self.facts.values(x, p) if same(v, value)]
                return self.by_triples(reason, [edge(x, p, v) for v in values or [term]])
            case ce.DataRestriction(p, range) | ce.Not(ce.DataRestriction(p, range)):
                # What decides is in the range, or beyond it.
                inside = isinstance(e, ce.DataSome) or (
                    isinstance(e, ce.Not) and isinstance(e.of, ce.DataSome)
                )
                values = self.facts.values(x, p)
                deciding = [v for v in values if within(v, range) == inside] or values
                return self.by_triples(reason, [edge(x, p, v) for v in deciding], [_none(x, p)])
            case ce.Only(p, filler):
                values = self.facts.values(x, p)
                if not reason.holds:
                    values = [v for v in values if not self.facts.holds(filler, v)]
                return self.by_values(reason, e, values)
            case ce.Some(p, filler) | ce.Cardinality(_, p, filler):
                values = self.facts.matching(x, p, filler)
                if not values and not reason.holds:
                    values = self.facts.values(x, p)
                return self.by_values(reason, e, values)
            case _:
                return reason

    def by_values(self, reason: Reason, e: ce.Quantified, values: Sequence[Term]) -> Reason:
        """Add the values of a property that decide, each with its own reason."""
        x, p = reason.subject, e.property
        limit = max(self.max_values, e.n) if isinstance(e, ce.AtLeast | ce.Exactly) else self.max_values
        shown = values[:limit]
        parts = tuple(self.reason(e.filler, v, self.supporting(edge(x, p, v))) for v in shown)
        absent = () if values else (_none(x, p),)
        if isinstance(e, ce.AtMost | ce.Exactly) and not isinstance(e.filler, ce.Top):
            absent = ()  # others may be there that the filler does not hold
        return replace(reason, absent=absent, parts=parts, more=len(values) - len(shown))

    def by_triples(self, reason: Reason, wanted: Sequence[Triple], nothing: Sequence[Absence] = ()) -> Reason:
        """Add the triples that decide, and those whose absence does."""
        here = [t for t in wanted if t.o in self.facts.values(t.s, ce.Property(str(t.p)))]
        absent = [Absence(t.s, t.p, t.o) for t in wanted if t not in here] or ([] if here else list(nothing))
        shown = tuple(self.supporting(t) for t in here[: self.max_values])
        return replace(reason, evidence=shown, absent=tuple(absent), more=len(here) - len(shown))

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
