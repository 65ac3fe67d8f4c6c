"""Class expressions as SPARQL instance queries, and conditions on literals, which are decided here as well.

The world is closed. Every term can be a filler; an answer holds named individuals only, and an individual is
an IRI with a type outside the vocabularies of RDF, RDFS and OWL. Negation is set difference from the named
individuals, by `MINUS`. Given individuals stand in every `MINUS` and sub-select, so that each is evaluated
around them. Values compare as SPARQL 1.1 has it (section 17.3); what cannot be compared is not in a range.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import count
from typing import Any, TypeAlias, TypeVar

import pyoxigraph as ox
from rdflib import Literal

from mrag._tables import tables
from mrag.errors import ConfigError, TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf import patterns as pt
from mrag.rdf.datatypes import INTEGERS, NUMBERS, within
from mrag.rdf.expressions import DataRange, normal
from mrag.rdf.patterns import AllOf, AnyOf, Call, Compare, Expression, In, Negation, to_sparql, var
from mrag.rdf.terms import RDF, XSD, Term, to_ox

_T = TypeVar("_T")
Comparable: TypeAlias = int | Decimal | float | bool | str | datetime
_V = var("v")
_DATES = frozenset((XSD + "date", XSD + "dateTime", XSD + "dateTimeStamp"))
_DECIDED = {*NUMBERS, *_DATES} | {XSD + "boolean", XSD + "string"}
_COMPARE: dict[str, Callable[[Comparable, Comparable], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def condition(range: DataRange, value: ox.Variable) -> Expression:
    """Return the condition under which a value is in a range."""
    test = within(range, value, clash=False)
    if test is None:
        raise ConfigError("A limit of this range cannot be tested.", term=range.datatype)
    return test


def by_value(literal: Literal) -> bool:
    """Return whether a literal is matched by its value, not as the term it is."""
    return str(literal.datatype or "") in {*NUMBERS, *_DATES} | {XSD + "boolean"}


def holds(expression: Expression, value: Literal) -> bool:
    """Decide a condition of `condition` for one value."""
    return _truth(expression, value) is True


def equal(left: Literal, right: Literal) -> bool:
    """Return whether two literals are equal by value, as `=` has it in a query."""
    return _compare(left, "=", right) is True


def comparable(literal: Literal) -> Comparable | None:
    """Return the value of a literal, None where its text is not one of its datatype."""
    datatype, text = str(literal.datatype or XSD + "string"), str(literal)
    try:
        if datatype in INTEGERS:
            return int(text)
        if datatype == XSD + "decimal":
            return Decimal(text) if "e" not in text.lower() else None
        if datatype in (XSD + "double", XSD + "float"):
            return float(text.replace("INF", "inf"))
        if datatype == XSD + "boolean":
            return {"true": True, "1": True, "false": False, "0": False}.get(text)
        if datatype in _DATES:
            return datetime.fromisoformat(text)
    except (ValueError, InvalidOperation):
        return None
    return text


def family(literal: Literal) -> str | None:
    """Return the datatype to compare a literal in, None for texts and what is not compared."""
    kind = str(literal.datatype or "")
    if kind in INTEGERS:
        return XSD + "integer"
    return kind if kind in NUMBERS or kind in _DATES or kind == XSD + "boolean" else None


def by_family(terms: Iterable[Term]) -> dict[str, dict[int, Any]]:
    """Return the values of literals that have an order, by the datatype to compare them in."""
    families: dict[str, dict[int, Any]] = {}
    for at, term in enumerate(terms):
        kind = family(term) if isinstance(term, Literal) else None
        if kind is not None and isinstance(term, Literal):
            value = comparable(term)
            if value is not None and value == value:
                families.setdefault(kind, {})[at] = value
    return {
        kind: values
        for kind, values in sorted(families.items())
        if len({isinstance(v, datetime) and v.tzinfo is not None for v in values.values()}) == 1
    }


def spread(values: Sequence[_T], n: int) -> Sequence[_T]:
    """Return at most so many of the values, evenly spread."""
    if len(values) <= n:
        return values
    return [values[round(at * (len(values) - 1) / (n - 1))] for at in range(n)]


def _truth(e: Expression, value: Literal) -> bool | None:
    match e:
        case AllOf(conditions):
            truths = [_truth(c, value) for c in conditions]
            return False if False in truths else None if None in truths else True
        case AnyOf(conditions):
            truths = [_truth(c, value) for c in conditions]
            return True if True in truths else None if None in truths else False
        case Negation(inner):
            truth = _truth(inner, value)
            return None if truth is None else not truth
        case In(Call("datatype"), members):
            own = RDF + "langString" if value.language else str(value.datatype or XSD + "string")
            return any(isinstance(m, ox.NamedNode) and m.value == own for m in members)
        case Call("isLiteral"):
            return True
        case Compare(left, sign, ox.Literal() as limit) if isinstance(left, ox.Variable):
            language = limit.language
            other = Literal(limit.value, lang=language) if language else Literal(
                limit.value, datatype=limit.datatype.value, normalize=False
            )  # fmt: skip
            return _compare(value, sign, other)
        case _:
            raise ConfigError("This condition is decided by the store only.")


def _compare(left: Literal, sign: str, right: Literal) -> bool | None:
    kinds = [str(x.datatype or XSD + "string") for x in (left, right)]
    if kinds[1] not in _DECIDED or right.language:
        what = "Limits of this datatype are compared by the store only."
        hint = "Use numbers, booleans, texts, xsd:date or xsd:dateTime."
        raise ConfigError(what, term=right.n3(), hint=hint)
    same = all(k in NUMBERS for k in kinds) or (
        kinds[0] == kinds[1] or {*kinds} <= {XSD + "dateTime", XSD + "dateTimeStamp"}
    )
    if not same or left.language:
        return None
    a, b = comparable(left), comparable(right)
    if a is None or b is None:
        return None
    if isinstance(a, datetime) and isinstance(b, datetime):
        return _date(a, sign, b)
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)  # type: ignore[arg-type]  # only numbers get here with a float
        if math.isnan(a) or math.isnan(b):
            return False
    return _COMPARE[sign](a, b)


def _date(a: datetime, sign: str, b: datetime) -> bool | None:
    """Compare times; one without a zone may be up to fourteen hours off (XML Schema Datatypes, D.3)."""
    if (a.tzinfo is None) == (b.tzinfo is None):
        return _COMPARE[sign](a, b)
    gap = a.replace(tzinfo=None) - (a.utcoffset() or timedelta()) - (
        b.replace(tzinfo=None) - (b.utcoffset() or timedelta())
    )  # fmt: skip
    if abs(gap) <= timedelta(hours=14):
        return None
    return False if sign == "=" else (gap < timedelta()) == sign.startswith("<")


BATCH = 500  # most individuals in one query; more than that some servers refuse
X = pt.var("x")
_TYPE = pt.iri(RDF + "type")
_FALSE = ox.Literal(False)
VOCABULARY = tuple(
    pt.iri(namespace + name)
    for namespace, names in tables("cel/schema.toml").items()
    for name in names.split()
)
"""Classes whose instances are schema, not individuals."""


def instances_query(expression: ce.Expression, given: Sequence[str] | None = None) -> str:
    """Return the query for the named individuals that an expression holds.

    Only about the given individuals, if any; at most `BATCH` of them is wise.

    Raises:
        TermError: If an IRI in it is not well formed.
        ConfigError: If a limit of data values cannot be tested.

    Example:
        >>> from mrag.rdf import expressions as ce
        >>> print(instances_query(ce.And((ce.Named("urn:A"), ce.Not(ce.Named("urn:B"))))))
        SELECT DISTINCT ?x WHERE
        { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:A> . FILTER(isIRI(?x))
        MINUS { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:B> . } }
    """
    return to_sparql(pt.Select((X,), pt.Group(tuple(members(expression, given))), distinct=True))


def count_query(expression: ce.Expression) -> str:
    """Return the query for how many named individuals an expression holds, as `?n`."""
    counted = (pt.Count(X, distinct=True), pt.var("n"))
    return to_sparql(pt.Select((counted,), pt.Group(tuple(members(expression)))))


def members(
    expression: ce.Expression, given: Sequence[str] | None = None, *, known: bool = False
) -> list[pt.Pattern]:
    """Return the patterns that bind `?x` to the named individuals of an expression."""
    anchor = () if given is None else (_rows(X, given),)
    return _Translator().answer(normal(expression), anchor, known=known and given is not None)


def batches(individuals: Iterable[str]) -> Iterator[list[str]]:
    """Yield individuals in groups that one query can take."""
    iris = list(individuals)
    for start in range(0, len(iris), BATCH):
        yield iris[start : start + BATCH]


def individuals_among(kg: KnowledgeGraph, given: Iterable[str]) -> set[str]:
    """Return those of the given IRIs that are named individuals of a graph."""
    inside: set[str] = set()
    for batch in batches(given):
        inside.update(str(row[0]) for row in kg.select(instances_query(ce.Top(), batch)))
    return inside


def individual(x: ox.Variable, anchor: tuple[pt.Pattern, ...] = ()) -> pt.Pattern:
    """Return the pattern of the named individuals."""
    kind = pt.var(f"{x.value}_class")
    where = pt.Group(
        (
            *anchor,
            pt.TriplePattern(x, _TYPE, kind),
            pt.Filter(pt.AllOf((pt.Call("isIRI", (x,)), pt.Negation(pt.In(kind, VOCABULARY))))),
        )
    )
    return pt.SubSelect(pt.Select((x,), where, distinct=True))


class _Translator:
    """Turns the normal form of one expression into patterns, with variables of its own."""

    def __init__(self) -> None:
        self.names = count(1)

    def fresh(self) -> ox.Variable:
        return pt.var(f"y{next(self.names)}")

    def answer(self, e: ce.Expression, anchor: tuple[pt.Pattern, ...], *, known: bool) -> list[pt.Pattern]:
        """Return the patterns of the answer, the root's class last of those that bind."""
        if known:
            patterns, without = self.parts(e, X, anchor, anchor)
            return [*anchor, *patterns, *without]
        patterns, without = self.parts(e, X, anchor, (*anchor, individual(X, anchor)))
        parts = e.parts if isinstance(e, ce.And) else (e,)
        typed = any(isinstance(p, ce.Named) and pt.iri(p.iri) not in VOCABULARY for p in parts)
        root: pt.Pattern = pt.Filter(pt.Call("isIRI", (X,))) if typed else individual(X, anchor)
        return [*anchor, *patterns, root, *without]

    def parts(
        self, e: ce.Expression, x: ox.Variable, anchor: tuple[pt.Pattern, ...], ground: tuple[pt.Pattern, ...]
    ) -> tuple[list[pt.Pattern], list[pt.Pattern]]:
        """Return the patterns that bind a variable to an expression, and those that take away."""
        match e:
            case ce.Top():
                return [], []
            case ce.Bottom():
                return [pt.Values((x,), ())], []
            case ce.Named(name):
                return [pt.TriplePattern(x, _TYPE, _iri(name))], []
            case ce.OneOf(names):
                # What is bound already is tested: beside the rows of the given individuals, an engine may
                # take rows of values for where to begin, and go through all that have one of them.
                return [pt.Filter(pt.In(x, tuple(map(_iri, names)))) if anchor else _rows(x, names)], []
            case ce.Value(p, value):
                return self.value(x, p, value), []
            case ce.And(conjuncts):
                both = [self.parts(c, x, anchor, ground) for c in conjuncts]
                return [f for pieces, _ in both for f in pieces], [w for _, without in both for w in without]
            case ce.Or(disjuncts):
                branches = tuple(pt.Group(tuple(self.group(d, x, anchor, ground))) for d in disjuncts)
                return [pt.SubSelect(pt.Select((x,), pt.Union(branches), distinct=True))], []
            case ce.Some(p, filler):
                y = self.fresh()
                edge = _edge(x, p, y)
                patterns, without = self.parts(filler, y, self.bind(anchor, edge), (*anchor, edge))
                return [edge, *patterns], without
            case ce.DataSome(p, range):
                v = self.fresh()
                return [_edge(x, p, v), pt.Filter(condition(range, v))], []
            case ce.Not(ce.DataOnly(p, range)):
                return self.beyond(x, p, range), []
            case ce.AtLeast(n, p, filler):
                return [self.counted(x, n, p, filler, anchor)], []
            case ce.Exactly(n, p, filler):
                more = pt.Minus(pt.Group((*anchor, self.counted(x, n + 1, p, filler, anchor))))
                return [self.counted(x, n, p, filler, anchor)], [more]
            case _:
                return [], [pt.Minus(pt.Group((*anchor, *self.opposite(e, x, anchor, ground))))]

    def opposite(
        self, e: ce.Expression, x: ox.Variable, anchor: tuple[pt.Pattern, ...], ground: tuple[pt.Pattern, ...]
    ) -> list[pt.Pattern]:
        """Return the patterns of what an expression that only takes away does not hold."""
        match e:
            case ce.Not(of):
                return self.group(of, x, (), ())
            case ce.AtMost(n, p, filler):
                return [self.counted(x, n + 1, p, filler, anchor)]
            case ce.DataOnly(p, range):
                return self.beyond(x, p, range)
            case ce.Only(p, filler):
                y = self.fresh()
                edge = _edge(x, p, y)
                if isinstance(filler, ce.Bottom):
                    return [edge]
                inner = self.bind(anchor, edge)
                if isinstance(filler, ce.Not) and isinstance(filler.of, ce.OneOf):
                    return [edge, *self.parts(filler.of, y, inner, inner)[0]]
                if isinstance(filler, ce.Not) and not isinstance(filler.of, ce.DataOnly):
                    return [edge, *self.group(filler.of, y, (), ())]
                return [edge, pt.Minus(pt.Group(tuple(self.group(filler, y, inner, (*anchor, edge)))))]
            case _:
                raise AssertionError(e)

    def group(
        self, e: ce.Expression, x: ox.Variable, anchor: tuple[pt.Pattern, ...], ground: tuple[pt.Pattern, ...]
    ) -> list[pt.Pattern]:
        """Return the patterns of an expression as they can stand in a group of their own."""
        patterns, without = self.parts(e, x, anchor, ground)
        return [*(anchor if patterns else ground), *patterns, *without]

    def counted(
        self, x: ox.Variable, n: int, p: ce.Property, filler: ce.Expression, anchor: tuple[pt.Pattern, ...]
    ) -> pt.Pattern:
        y = self.fresh()
        edge = _edge(x, p, y)
        patterns, without = self.parts(filler, y, self.bind(anchor, edge), (*anchor, edge))
        where = pt.Group((*anchor, edge, *patterns, *without))
        enough = pt.Compare(pt.Count(y, distinct=True), ">=", ox.Literal(n))
        return pt.SubSelect(pt.Select((x,), where, group_by=(x,), having=enough))

    def beyond(self, x: ox.Variable, p: ce.Property, range: ce.DataRange) -> list[pt.Pattern]:
        v = self.fresh()
        wrong = pt.Negation(pt.Call("coalesce", (condition(range, v), _FALSE)))
        return [_edge(x, p, v), pt.Filter(wrong)]

    def bind(self, anchor: tuple[pt.Pattern, ...], edge: pt.Pattern) -> tuple[pt.Pattern, ...]:
        # Without given individuals an anchor would only repeat a scan.
        return (*anchor, edge) if anchor else ()

    def value(self, x: ox.Variable, p: ce.Property, value: str | Literal) -> list[pt.Pattern]:
        if not isinstance(value, Literal):
            return [_edge(x, p, _iri(value))]
        term = to_ox(value)
        if by_value(value):
            v = self.fresh()
            return [_edge(x, p, v), pt.Filter(pt.Compare(v, "=", term))]
        # An inverse of a property with literals has no subject to match.
        return [pt.Values((x,), ())] if p.inverse else [pt.TriplePattern(x, _iri(p.iri), term)]


def _edge(x: ox.Variable, p: ce.Property, y: pt.Node) -> pt.TriplePattern:
    return pt.TriplePattern(y, _iri(p.iri), x) if p.inverse else pt.TriplePattern(x, _iri(p.iri), y)


def _iri(value: str) -> ox.NamedNode:
    try:
        return ox.NamedNode(value)
    except ValueError as error:
        raise TermError("Not a well-formed IRI.", term=value) from error


def _rows(x: ox.Variable, names: Iterable[str]) -> pt.Values:
    return pt.Values((x,), tuple((_iri(n),) for n in names))
