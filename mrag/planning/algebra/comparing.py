"""Values as the interpreter of plans reads them: numbers, dates and text in terms, and how they compare."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, TypeAlias

from rdflib import Literal, URIRef

from mrag.planning.algebra.terms import measured
from mrag.planning.plan import Comparison, DatePart, Expression, Part
from mrag.rdf.terms import Term

if TYPE_CHECKING:
    from mrag.planning.algebra.values import Kind

Value: TypeAlias = Term | float | str | None
"""A term, or what was computed: a number, the text of a date, or nothing."""


def number_in(value: Value) -> float | None:
    """Return the number that a value is, with a unit or without.

    Example:
        >>> number_in("1,200 kg"), number_in("kg"), number_in("12,5")
        (1200.0, None, None)
    """
    if value is None or (isinstance(value, float | int) and not isinstance(value, Literal)):
        return value
    found = measured(str(value))
    return float(found[0]) if found else None


def calculated(left: float | None, operation: str, right: float | None) -> float | None:
    """Return the result of a calculation; None where it has none."""
    if left is None or right is None or (operation == "/" and right == 0):
        return None
    if operation == "/":
        return left / right
    return {"+": left + right, "-": left - right, "*": left * right}[operation]


_DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)", re.A)
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?=Z?\Z|-(0[1-9]|[12]\d|3[01]))", re.A)
_TIME = re.compile(r"[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.A)


def moment(value: Value) -> tuple[int, int] | None:
    """Return the days since the year 1 and the seconds of the last day."""
    found = _DATE.match(str(value))
    if value is None or found is None:
        return None
    day = date(int(found[1]), int(found[2]), 1) + timedelta(int(found[3]) - 1)
    time = _TIME.match(str(value), 10)
    hours, minutes, seconds = (int(n or 0) for n in time.groups()) if time else (0, 0, 0)
    return day.toordinal(), hours * 3600 + minutes * 60 + seconds


def days_between(start: Value, end: Value) -> float | None:
    """Return the days from one date to another, with the fraction of the last."""
    first, last = moment(start), moment(end)
    if first is None or last is None:
        return None
    return last[0] - first[0] + (last[1] - first[1]) / 86400


def date_part(part: Part, value: Value) -> Value:
    """Return a part of the date that a value is; None if it is none."""
    text = "" if value is None else str(value)
    if part == "year":
        year = re.match(r"(-?\d{4})-(?:0[1-9]|1[0-2])(?:-|Z?\Z)|(-?\d{1,4})Z?\Z", text, re.A)
        return float(year[1] or year[2]) if year else None
    month = _MONTH.match(text)
    day = _DATE.match(text)
    time = _TIME.match(text, 10) if day else None
    if part in ("quarter", "month", "year-month"):
        if month is None:
            return None
        number = int(month[2])
        return text[:7] if part == "year-month" else float((number + 2) // 3 if part == "quarter" else number)
    if day is None or (part in ("hour", "clock") and time is None):
        return None
    if time is not None and part in ("hour", "clock"):
        return float(time[1]) if part == "hour" else f"{time[1]}:{time[2]}:{time[3] or '00'}"
    if part == "weekday":
        return float((moment(text) or (0, 0))[0] % 7 or 7)
    return text[:10] if part == "date" else float(day[3])


def stamp(value: Value) -> str | None:
    """Return a date with its time in one spelling."""
    text = str(value)
    if _DATE.match(text) is None:
        return None
    time = _TIME.match(text, 10)
    return f"{text[:10]}T" + (f"{time[1]}:{time[2]}:{time[3] or '00'}" if time else "00:00:00")


def lower(value: Value) -> str | None:
    """Return the text of a literal in lower case; a thing has none."""
    return None if value is None or isinstance(value, URIRef) else str(value).lower()


def has_text(text: str, sought: str, position: str) -> bool:
    """Return whether a text has another at a position."""
    match position:
        case "start":
            return text.startswith(sought)
        case "end":
            return text.endswith(sought)
        case "whole":
            return text == sought
        case _:
            return sought in text


def compared(
    left: Value, right: Value, kinds: tuple[Kind, Kind], sides: tuple[Expression, ...], how: Comparison
) -> bool:
    """Compare two values by what they are known to be."""
    relation = how.relation
    a: Value
    b: Value
    if "year" in kinds:
        years = zip((left, right), kinds, strict=True)
        a, b = (number_in(v) if k == "number" else date_part("year", v) for v, k in years)
    elif "number" in kinds:
        a, b = number_in(left), number_in(right)
    elif {"date", "year-month", "time"} & set(kinds):
        finest = next(k for k in ("year-month", "date", "time") if k in kinds)
        a, b = (
            v if isinstance(s, DatePart) else stamp(v) if finest == "time" else date_part(finest, v)
            for v, s in zip((left, right), sides, strict=True)
        )
    elif "boolean" in kinds:
        if relation not in ("=", "!="):
            return False
        a, b = (_TRUTH.get(str(v).lower()) for v in (left, right))
    elif "entity" in kinds:
        return relation in ("=", "!=") and (left == right) == (relation == "=")
    elif kinds == ("any", "any"):
        return _any(left, right, relation)
    else:
        a, b = lower(left), lower(right)
    return a is not None and b is not None and _related(a, b, relation)


_TRUTH = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}
_WHOLE = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?\Z", re.A)


def _any(left: Value, right: Value, relation: str) -> bool:
    if isinstance(left, URIRef) or isinstance(right, URIRef):
        return relation in ("=", "!=") and (str(left) == str(right)) == (relation == "=")
    first, second = str(left), str(right)
    if _WHOLE.match(first) and _WHOLE.match(second):
        return _related(float(first), float(second), relation)
    return _related(first.lower(), second.lower(), relation)


def _related(a: Value, b: Value, relation: str) -> bool:
    match relation:
        case "=":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b  # type: ignore[operator]
        case "<=":
            return a <= b  # type: ignore[operator]
        case ">":
            return a > b  # type: ignore[operator]
        case _:
            return a >= b  # type: ignore[operator]
