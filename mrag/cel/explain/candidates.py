"""Terms that could become the value of a property, so that an expression comes to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from rdflib import Literal, URIRef

from mrag.cel.explain.facts import GraphFacts, order
from mrag.cel.semantics.sparql import X, members
from mrag.cel.semantics.values import comparable
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.normal_form import normal
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.patterns import Group, Select, to_sparql
from mrag.rdf.terms import RDF, XSD, Term

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

    Args:
        kg: The knowledge graph.
        expression: The whole expression, in normal form.
        x: The individual that is to come to satisfy it.
        max_terms: Most terms of the graph at each place.

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
        """Return terms that satisfy an expression, or could with the changes that are left.

        Args:
            filler: The expression.
            facts: The graph with the changes so far.
            left: How many changes may follow, this one included.
        """
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
