"""Dates read in SPARQL, from their text: ISO dates with or without a time, months and years.

Engines differ in whether they can subtract dates, and most dates of real graphs are strings; so parts are
cut out of the text, and days are counted by a formula. Time zones are not looked
at: a date is what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import partial
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox

from mrag.planning.algebra.comparing import date_part, moment, stamp
from mrag.planning.algebra.terms import DOUBLE, INTEGER, NOTHING, Form, Given, matches
from mrag.planning.plan import Part, Relation
from mrag.rdf.patterns import AllOf, Calculation, Call, Cast, Compare, Expression, Function, Negation
from mrag.rdf.terms import XSD

Precision: TypeAlias = OneOf["date", "year-month", "time"]

TURNED: Mapping[Relation, Relation] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""What a relation is from the other side."""

_DATE, _TIME = ox.NamedNode(XSD + "date"), ox.NamedNode(XSD + "dateTime")
_NATIVE: Mapping[str, Function] = {"year": "year", "month": "month", "day": "day", "hour": "hours"}
_MONTH = "(0[1-9]|1[0-2])"
_DAY = "(0[1-9]|[12][0-9]|3[01])"
YEAR = f"^(-?[0-9]{{4}})-{_MONTH}(-|Z?$)|^-?[0-9]{{1,4}}Z?$"
MONTH = f"^[0-9]{{4}}-{_MONTH}(-{_DAY}|Z?$)"
DATE = f"^[0-9]{{4}}-{_MONTH}-{_DAY}([^0-9]|$)"
HOUR = f"^[0-9]{{4}}-{_MONTH}-{_DAY}[T ]([01][0-9]|2[0-3]):[0-5][0-9]"
SECOND = "^.{16}:[0-5][0-9]"


def part(name: Part | OneOf["time"], given: Given) -> Given:
    """Return a part of the date in a text.

    Args:
        name: The part; `time` is the date with the time to the second, midnight where there is none.
        given: The text.
    """
    text = given.value
    if isinstance(text, ox.Literal):
        found = stamp(text.value) if name == "time" else date_part(name, text.value)
        if found is None:
            return NOTHING
        return Given(_number(int(found)) if isinstance(found, float) else ox.Literal(str(found)))
    if given.dated:
        return _known(name, given)
    pattern = _PATTERNS[name]
    return Given(_VALUES[name](text), (*given.guards, matches(text, pattern)))


def _known(name: Part | OneOf["time"], given: Given) -> Given:
    """Return a part of what is known to be a date."""
    if name in ("hour", "clock") and given.form == "date":
        return NOTHING
    if name in _NATIVE and isinstance(given.value, Call):
        return Given(Call(_NATIVE[name], given.value.arguments), given.guards)
    whole = (name, given.form) in (("date", "date"), ("time", "time"))
    return Given(given.value if whole else _VALUES[name](given.value), given.guards)


def typed(
    value: Expression, form: Form, relation: Relation, bound: str, part: Precision
) -> Expression | None:
    """Return the comparison of a typed date with a bound; None where it has to be made by their texts.

    Args:
        value: The date.
        form: What it is: a date, or one with a time.
        relation: How it is compared.
        bound: The date that it is compared with.
        part: How precisely it is compared.
    """
    day, time = date_part("date", bound), stamp(bound)
    if day is None or time is None or part == "year-month" or (part == "time") != (form == "time"):
        return _by_days(value, relation, day) if part == "date" and isinstance(day, str) else None
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return None  # there is no such day
    if form == "date":
        return Compare(value, relation, ox.Literal(str(day), datatype=_DATE))
    return Compare(value, relation, ox.Literal(time, datatype=_TIME))


def _by_days(value: Expression, relation: Relation, day: str) -> Expression | None:
    """Return the comparison of the day of a date with a time."""
    try:
        first = date.fromisoformat(day)
        begins, ends = (
            ox.Literal(f"{d.isoformat()}T00:00:00", datatype=_TIME) for d in (first, first + timedelta(1))
        )
    except (ValueError, OverflowError):
        return None
    match relation:
        case "<" | ">=":
            return Compare(value, relation, begins)
        case "<=":
            return Compare(value, "<", ends)
        case ">":
            return Compare(value, ">=", ends)
        case _:
            within = AllOf((Compare(value, ">=", begins), Compare(value, "<", ends)))
            return within if relation == "=" else Negation(within)


def finest(kinds: Iterable[str]) -> Precision | None:
    """Return how precisely values of some kinds are compared as dates; None if none of them is a date.

    Example:
        >>> finest(["any", "date"]), finest(["any", "text"])
        ('date', None)
    """
    found: tuple[Precision, ...] = ("year-month", "date", "time")
    return next((name for name in found if name in set(kinds)), None)


def days(start: Given, end: Given) -> Given:
    """Return the days from the date in one text to that in another, with the fraction of the last.

    Whole days and seconds are counted apart, so that no digits are lost.
    """
    first, last = _moment(start), _moment(end)
    if first is None or last is None:
        return NOTHING
    whole = Calculation(last[0], "-", first[0])
    seconds = Calculation(Cast(DOUBLE, Calculation(last[1], "-", first[1])), "/", _number(86400))
    guards = list[Expression]()
    for given in (start, end):
        if not isinstance(given.value, ox.Literal):
            guards += given.guards if given.dated else (*given.guards, matches(given.value, DATE))
    return Given(_sum(whole, seconds), tuple(guards))


def _moment(given: Given) -> tuple[Expression, Expression] | None:
    """Return the number of the day in a text, and the seconds of that day that have passed."""
    text = given.value
    if not isinstance(text, ox.Literal):
        return _day_number(text), _number(0) if given.form == "date" else _seconds(text)
    found = moment(text.value)
    return None if found is None else (_number(found[0]), _number(found[1]))


def _seconds(text: Expression) -> Expression:
    """Return the seconds of the day; none have passed where no time is written."""
    seconds = Call("if", (matches(text, SECOND), _digits(18, 2, text), _number(0)))
    of_day = _sum(
        Calculation(_digits(12, 2, text), "*", _number(3600)),
        Calculation(_digits(15, 2, text), "*", _number(60)),
        seconds,
    )
    return Call("if", (matches(text, HOUR), of_day, _number(0)))


def _day_number(text: Expression) -> Expression:
    """Return the days since the last of the year 0: those of whole years, of whole months, and leap days."""
    year, month, day = _digits(1, 4, text), _digits(6, 2, text), _digits(9, 2, text)
    # Some engines cut texts that are no dates as well, and end the query where they cannot.
    some = Call("coalesce", (month, _number(1)))
    at = Calculation(Calculation(some, "*", _number(3)), "-", _number(2))
    before = Cast(INTEGER, Call("substr", (ox.Literal(_BEFORE), at, _number(3))))
    # Years whose February is over.
    full = Calculation(year, "-", Call("if", (Compare(month, "<", _number(3)), _number(1), _number(0))))
    leap = _sum(_quotient(full, 4), Calculation(_quotient(full, 400), "-", _quotient(full, 100)))
    return _sum(Calculation(year, "*", _number(365)), before, day, Calculation(leap, "-", _number(365)))


_BEFORE = "000031059090120151181212243273304334"
"""Days of a year before each month, in three digits each."""


def _weekday(text: Expression) -> Expression:
    number = Calculation(_day_number(text), "-", _number(1))
    rest = Calculation(number, "-", Calculation(_number(7), "*", _quotient(number, 7)))
    return Cast(INTEGER, _sum(rest, _number(1)))


def _quarter(text: Expression) -> Expression:
    return Cast(INTEGER, _quotient(_sum(_digits(6, 2, text), _number(2)), 3))


def _year(text: Expression) -> Expression:
    digits = Call("replace", (text, ox.Literal(r"^(-?[0-9]+)[\s\S]*$"), ox.Literal("$1")))
    return Cast(INTEGER, digits)


def _time(text: Expression) -> Expression:
    """Return the date with its time, in one spelling."""
    time = Call("if", (matches(text, HOUR), _cut(12, 5, text), ox.Literal("00:00")))
    seconds = Call("if", (matches(text, SECOND), _cut(17, 3, text), ox.Literal(":00")))
    return Call("concat", (_cut(1, 10, text), ox.Literal("T"), time, seconds))


def _clock(text: Expression) -> Expression:
    """Return the time of day, in one spelling."""
    seconds = Call("if", (matches(text, SECOND), _cut(17, 3, text), ox.Literal(":00")))
    return Call("concat", (_cut(12, 5, text), seconds))


def _cut(start: int, length: int, text: Expression) -> Expression:
    return Call("substr", (text, _number(start), _number(length)))


def _digits(start: int, length: int, text: Expression) -> Expression:
    return Cast(INTEGER, _cut(start, length, text))


def _quotient(value: Expression, by: int) -> Expression:
    return Call("floor", (Calculation(value, "/", _number(by)),))


def _sum(first: Expression, *others: Expression) -> Expression:
    for other in others:
        first = Calculation(first, "+", other)
    return first


def _number(value: int) -> ox.Literal:
    return ox.Literal(str(value), datatype=INTEGER)


_VALUES: Mapping[str, Callable[[Expression], Expression]] = {
    "year": _year,
    "quarter": _quarter,
    "month": partial(_digits, 6, 2),
    "day": partial(_digits, 9, 2),
    "weekday": _weekday,
    "hour": partial(_digits, 12, 2),
    "clock": _clock,
    "date": partial(_cut, 1, 10),
    "year-month": partial(_cut, 1, 7),
    "time": _time,
}
_PATTERNS = {
    "year": YEAR,
    "quarter": MONTH,
    "month": MONTH,
    "day": DATE,
    "weekday": DATE,
    "hour": HOUR,
    "clock": HOUR,
    "date": DATE,
    "year-month": MONTH,
    "time": DATE,
}
