"""Conditions on literals, printed for a query by `mrag.rdf.patterns` and decided here by the same rules.

Values compare as SPARQL 1.1 has it (section 17.3): numbers by value across their types, dates by time,
texts by code points; what cannot be compared is not in the range.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias, TypeVar

import pyoxigraph as ox
from rdflib import Literal

from mrag.cel.syntax.expressions import DataRange
from mrag.errors import ConfigError
from mrag.rdf.patterns import AllOf, AnyOf, Call, Compare, Expression, In, Negation, iri, var
from mrag.rdf.terms import RDF, XSD, Term, to_ox
from mrag.reasoning.ranges import within

_T = TypeVar("_T")
Comparable: TypeAlias = int | Decimal | float | bool | str | datetime

_V = var("v")
INTEGERS = frozenset(
    XSD + n
    for n in (
        "integer nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger long int short byte "
        "unsignedLong unsignedInt unsignedShort unsignedByte"
    ).split()
)
_NUMBERS = INTEGERS | {XSD + "decimal", XSD + "double", XSD + "float"}
_DATES = frozenset((XSD + "date", XSD + "dateTime", XSD + "dateTimeStamp"))
_DECIDED = _NUMBERS | _DATES | {XSD + "boolean", XSD + "string"}
_COMPARE: dict[str, Callable[[Comparable, Comparable], bool]] = {
    "=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def condition(range: DataRange, value: ox.Variable) -> Expression:
    """Return the condition under which a value is in a range.

    Raises:
        ConfigError: If a limit cannot be tested.
    """
    limits = tuple((name, _literal(limit)) for name, limit in range.facets)
    found = within(iri(range.datatype), limits, value, clash=False)
    if found is None:
        raise ConfigError("A limit of this range cannot be tested.", term=range.datatype)
    return found


def by_value(literal: Literal) -> bool:
    """Return whether a literal is matched by its value, not as the term it is.

    Example:
        >>> by_value(Literal(5)), by_value(Literal("five"))
        (True, False)
    """
    return str(literal.datatype or "") in _NUMBERS | _DATES | {XSD + "boolean"}


def holds(expression: Expression, value: Literal) -> bool:
    """Decide a condition of `condition` for one value.

    Raises:
        ConfigError: If the datatype is one that only the store compares.

    Example:
        >>> adult = DataRange(XSD + "integer", (("minInclusive", Literal(18)),))
        >>> [holds(condition(adult, var("v")), Literal(n)) for n in (17, 18, 18.5)]
        [False, True, False]
    """
    return _truth(expression, value) is True


def equal(left: Literal, right: Literal) -> bool:
    """Return whether two literals are equal by value, as `=` has it in a query."""
    return _compared(left, "=", right) is True


def comparable(literal: Literal) -> Comparable | None:
    """Return the value of a literal, None where its text is not one of its datatype.

    Example:
        >>> from rdflib import XSD
        >>> comparable(Literal("2024-02-30", datatype=XSD.date)) is None
        True
    """
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
    """Return the datatype to compare a literal in, None for texts and what is not compared.

    Example:
        >>> from rdflib import XSD
        >>> family(Literal("7", datatype=XSD.short))
        'http://www.w3.org/2001/XMLSchema#integer'
    """
    kind = str(literal.datatype or "")
    if kind in INTEGERS:
        return XSD + "integer"
    return kind if kind in _NUMBERS | _DATES or kind == XSD + "boolean" else None


def by_family(terms: Iterable[Term]) -> dict[str, dict[int, Any]]:
    """Return the values of literals that have an order, by the datatype to compare them in.

    Args:
        terms: Terms of any kind.

    Returns:
        For each datatype the values by their places among the terms. Where only some times have a zone,
        they have no common order and are left out.
    """
    found: dict[str, dict[int, Any]] = {}
    for at, term in enumerate(terms):
        kind = family(term) if isinstance(term, Literal) else None
        if kind is not None and isinstance(term, Literal):
            value = comparable(term)
            if value is not None and value == value:
                found.setdefault(kind, {})[at] = value
    return {
        kind: values
        for kind, values in sorted(found.items())
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
            found = [_truth(c, value) for c in conditions]
            return False if False in found else None if None in found else True
        case AnyOf(conditions):
            found = [_truth(c, value) for c in conditions]
            return True if True in found else None if None in found else False
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
            return _compared(value, sign, other)
        case _:
            raise ConfigError("This condition is decided by the store only.")


def _compared(left: Literal, sign: str, right: Literal) -> bool | None:
    kinds = [str(x.datatype or XSD + "string") for x in (left, right)]
    if kinds[1] not in _DECIDED or right.language:
        raise ConfigError(
            "Limits of this datatype are compared by the store only.",
            term=right.n3(),
            hint="Use numbers, booleans, texts, xsd:date or xsd:dateTime.",
        )
    same = all(k in _NUMBERS for k in kinds) or (
        kinds[0] == kinds[1] or {*kinds} <= {XSD + "dateTime", XSD + "dateTimeStamp"}
    )
    if not same or left.language:
        return None
    a, b = comparable(left), comparable(right)
    if a is None or b is None:
        return None
    if isinstance(a, datetime) and isinstance(b, datetime):
        return _dated(a, sign, b)
    if isinstance(a, float) or isinstance(b, float):
        a, b = float(a), float(b)  # type: ignore[arg-type]  # only numbers get here with a float
        if math.isnan(a) or math.isnan(b):
            return False
    return _COMPARE[sign](a, b)


def _dated(a: datetime, sign: str, b: datetime) -> bool | None:
    """Compare times; one without a zone may be up to fourteen hours off (XML Schema Datatypes, D.3)."""
    if (a.tzinfo is None) == (b.tzinfo is None):
        return _COMPARE[sign](a, b)
    gap = a.replace(tzinfo=None) - (a.utcoffset() or timedelta()) - (
        b.replace(tzinfo=None) - (b.utcoffset() or timedelta())
    )  # fmt: skip
    if abs(gap) <= timedelta(hours=14):
        return None
    return False if sign == "=" else (gap < timedelta()) == sign.startswith("<")


def _literal(literal: Literal) -> ox.Literal:
    found = to_ox(literal)
    assert isinstance(found, ox.Literal)
    return found
