"""Dates read in SPARQL, from their text: ISO dates with or without a time, months and years.

Engines differ in whether they can subtract dates, and most dates of real graphs are strings; so parts are
cut out of the text, and days are counted by the formula of the Julian day number. Time zones are not looked
at: a date is what is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox

from mrag.planning.compiling.terms import DOUBLE, INTEGER, Given, matches
from mrag.planning.plan import Part
from mrag.rdf.patterns import Calculation, Call, Cast, Expression

Precision: TypeAlias = OneOf["date", "year-month", "time"]

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
    pattern = _PATTERNS[name]
    return Given(_VALUES[name](text), (*given.guards, matches(text, pattern)))


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
    whole = Calculation(_julian(end.value), "-", _julian(start.value))
    seconds = Calculation(_seconds(end.value), "-", _seconds(start.value))
    guards = [guard for given in (start, end) for guard in (*given.guards, matches(given.value, DATE))]
    return Given(_sum(whole, Calculation(Cast(DOUBLE, seconds), "/", _number(86400))), tuple(guards))


def _seconds(text: Expression) -> Expression:
    """Return the seconds of the day; none have passed where no time is written."""
    seconds = Call("if", (matches(text, SECOND), _digits(18, 2, text), _number(0)))
    of_day = _sum(
        Calculation(_digits(12, 2, text), "*", _number(3600)),
        Calculation(_digits(15, 2, text), "*", _number(60)),
        seconds,
    )
    return Call("if", (matches(text, HOUR), of_day, _number(0)))


def _julian(text: Expression) -> Expression:
    """Return the day number: the year begins in March, so that its odd day is the last one."""
    year, month, day = _digits(1, 4, text), _digits(6, 2, text), _digits(9, 2, text)
    early = _quotient(Calculation(_number(14), "-", month), 12)
    years = Calculation(Calculation(year, "+", _number(4800)), "-", early)
    months = _sum(month, Calculation(_number(12), "*", early), _number(-3))
    before = _quotient(_sum(Calculation(_number(153), "*", months), _number(2)), 5)
    leap = _sum(_quotient(years, 4), Calculation(_quotient(years, 400), "-", _quotient(years, 100)))
    return _sum(day, before, Calculation(_number(365), "*", years), leap, _number(-32045))


def _weekday(text: Expression) -> Expression:
    number = _julian(text)
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


def _cut(start: int, length: int, text: Expression) -> Expression:
    return Call("substr", (text, _number(start), _number(length)))


def _digits(start: int, length: int, text: Expression) -> Expression:
    return Cast(INTEGER, _cut(start, length, text))


def _quotient(value: Expression, by: int) -> Expression:
    return Call("floor", (Calculation(Cast(DOUBLE, value), "/", _number(by)),))


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
    "date": DATE,
    "year-month": MONTH,
    "time": DATE,
}
