"""Values of plans: terms of SPARQL, how they compare, dates, their expressions, and cells of results."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag._patterns import compile_late
from mrag.planning import plan as pl
from mrag.planning.plan import Part, Plan, Relation
from mrag.rdf import patterns as sparql
from mrag.rdf.terms import NUMBERS, XSD, Term, to_ox

DOUBLE = ox.NamedNode(XSD + "double")
DECIMAL = ox.NamedNode(XSD + "decimal")
INTEGER = ox.NamedNode(XSD + "integer")
MEASURE = (
    r"^[ \t\r\n]*([-+]?)(([A-Z]{1,2})?([$~])[ ]?)?"
    r"(([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?|[.][0-9]+)([eE][-+]?[0-9]{1,2})?"
    r"[ \t\r\n]*([^-0-9.,:/' \t\r\n][^0-9]*)?$"
)
"""A number with a sign of a currency before it, or a unit behind it: "$9.99", "1,250.5 kg", "21 °C".

What goes on with digits is none, such as "12,5", "3/4 inch", "10-20" or "2020-05-06": its beginning would be
another number. The sign, the digits and the exponent are its groups 1, 5 and 9; "~" is any other currency.
"""
_CURRENCIES = "€|£|¥|₹"
DURATION = r"^P(([0-9]+)D)?(T(([0-9]+)H)?(([0-9]+)M)?(([0-9]+([.][0-9]+)?)S)?)?$"
"""A duration of ISO 8601 without years and months, which differ in length."""
_TIMED = r"^PT?[0-9]"  # How a duration begins that has a number, as "P" and "PT" have not
_SECONDS = ((2, 86400), (5, 3600), (7, 60), (9, 1))
"""Groups of `DURATION`, and how many seconds one of each is."""
DURATION_UNIT = "PT"  # The unit that stands for durations, whose numbers are seconds
WHOLE_NUMBER = r"^[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$"


_MEASURE, _DURATION = compile_late(MEASURE), compile_late(DURATION)

Form: TypeAlias = OneOf["any", "number", "date", "time"]
"""What all values are: typed numbers, or dates or dates with times of one spelling without a time zone."""


@dataclass(frozen=True)
class Given:
    """An expression with the conditions under which it has a value."""

    value: sparql.Expression  # The expression; it must not be evaluated where a guard fails
    guards: tuple[sparql.Expression, ...] = ()  # What must hold, in order
    form: Form = "any"  # Of the text of a date, what that date is known to be; the text is then `str` of it

    @property
    def dated(self) -> bool:
        """Return whether it is known to be a date, with a time or without."""
        return self.form in ("date", "time")

    def when(self, *guards: sparql.Expression) -> Given:
        """Return it with further guards before its own."""
        return Given(self.value, (*guards, *self.guards), self.form)

    def holding(self) -> sparql.Expression:
        """Return a truth value that is false where a guard fails."""
        guards = tuple(dict.fromkeys(self.guards))
        return sparql.AllOf((*guards, self.value)) if guards else self.value


NOTHING = Given(ox.Literal(""), (sparql.Compare(ox.Literal(0), "=", ox.Literal(1)),))
"""What never has a value."""


def text(value: sparql.Expression) -> sparql.Expression:
    """Return the text of a term."""
    return sparql.Call("str", (value,))


def matches(value: sparql.Expression, pattern: str) -> sparql.Expression:
    """Return whether a text matches a regular expression."""
    return sparql.Call("regex", (value, ox.Literal(pattern)))


def whole(value: sparql.Expression) -> sparql.Expression:
    """Return whether a text is a number and nothing else."""
    return matches(value, WHOLE_NUMBER)


def number_of(value: sparql.Expression | str) -> Given:
    """Return the number that a text is, with a unit or without.

    Example:
        >>> from mrag.rdf.patterns import Ask, Filter
        >>> from mrag.rdf.patterns import to_sparql
        >>> str(number_of("1,250.5 kg").value)
        '"1250.5"^^<http://www.w3.org/2001/XMLSchema#double>'
        >>> number_of("kg") == number_of("12,5") == NOTHING
        True
    """
    if isinstance(value, str):
        measure = measured(value)
        return Given(ox.Literal(measure[0], datatype=DOUBLE)) if measure else NOTHING
    lasting = sparql.AllOf((matches(value, DURATION), matches(value, _TIMED)))
    seconds = _duration_seconds(value)
    # Virtuoso's regex() misses these signs where the pattern has character classes; its replace() does not.
    value = sparql.Call("replace", (value, ox.Literal(_CURRENCIES), ox.Literal("~")))
    digits = sparql.Call("replace", (value, ox.Literal(MEASURE), ox.Literal("$1$5$9")))
    plain = sparql.Call("replace", (digits, ox.Literal(","), ox.Literal("")))
    number = sparql.Call("if", (lasting, seconds, sparql.Cast(DOUBLE, plain)))
    return Given(number, (sparql.AnyOf((matches(value, MEASURE), lasting)),))


def _duration_seconds(value: sparql.Expression) -> sparql.Expression:
    """Return the seconds of a duration; a part that it lacks counts 0."""
    parts = [
        sparql.Calculation(
            sparql.Cast(
                DOUBLE, sparql.Call("replace", (value, ox.Literal(DURATION), ox.Literal(f"0${group}")))
            ),
            "*",
            ox.Literal(size),
        )
        for group, size in _SECONDS
    ]
    return _sum(*parts)


def measured(text: str) -> tuple[str, str] | None:
    """Return the digits of the number that a text is, and its unit or currency; None where it is none.

    The number of a duration is its seconds, and its unit `DURATION_UNIT`.

    Example:
        >>> measured("PT1H30M"), measured("P1DT12.5S"), measured("PT")
        (('5400.0', 'PT'), ('86412.5', 'PT'), None)
        >>> measured("1,250.5 kg"), measured("-$9.99"), measured("21 °C"), measured(".5")
        (('1250.5', 'kg'), ('-9.99', '$'), ('21', '°C'), ('.5', ''))
        >>> measured("12,5"), measured("3rd floor, 2 left")
        (None, None)
    """
    if (lasting := _DURATION.match(text)) and re.match(_TIMED, text):
        return str(sum(float(lasting[group] or 0) * size for group, size in _SECONDS)), DURATION_UNIT
    match = _MEASURE.match(re.sub(_CURRENCIES, "~", text))
    if match is None:
        return None
    unit = text[slice(*match.span(2))] or text[slice(*match.span(10))]
    return match[1] + match[5].replace(",", "") + (match[9] or ""), unit.strip()


Value: TypeAlias = Term | float | str | None
"""A term, or what was computed: a number, the text of a date, or nothing."""


def _fits(text: str, pattern: str) -> bool:
    """Return whether a text begins as an expression for SPARQL says, which ends a text only at its end."""
    return re.match(pattern.replace("$", r"\Z"), text) is not None


def moment(value: Value) -> tuple[int, int] | None:
    """Return the days since the year 1 and the seconds of the last day."""
    text = stamp(value)
    if text is None:
        return None
    day = date(int(text[:4]), int(text[5:7]), 1) + timedelta(int(text[8:10]) - 1)
    hours, minutes, seconds = map(int, text[11:].split(":"))
    return day.toordinal(), hours * 3600 + minutes * 60 + seconds


def date_part(part: Part, value: Value) -> Value:
    """Return a part of the date that a value is; None if it is none."""
    text = "" if value is None else str(value)
    if not _fits(text, _PARTS[part][0]):
        return None
    match part:
        case "year":
            return float(re.findall("-?[0-9]+", text)[0])
        case "quarter":
            return float((int(text[5:7]) + 2) // 3)
        case "month":
            return float(text[5:7])
        case "day":
            return float(text[8:10])
        case "weekday":
            return float((moment(text) or (0, 0))[0] % 7 or 7)
        case "hour":
            return float(text[11:13])
        case "clock":
            return text[11:16] + (text[16:19] if _fits(text, SECOND) else ":00")
        case "date":
            return text[:10]
        case "year-month":
            return text[:7]


def stamp(value: Value) -> str | None:
    """Return a date with its time in one spelling."""
    text = str(value)
    return f"{text[:10]}T{date_part('clock', text) or '00:00:00'}" if _fits(text, DATE) else None


Precision: TypeAlias = OneOf["date", "year-month", "time"]

TURNED: Mapping[Relation, Relation] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""What a relation is from the other side."""

_DATE_TYPE, _TIME_TYPE = ox.NamedNode(XSD + "date"), ox.NamedNode(XSD + "dateTime")
_NATIVE: Mapping[str, sparql.Function] = {"year": "year", "month": "month", "day": "day", "hour": "hours"}
_MONTH = "(0[1-9]|1[0-2])"
_DAY = "(0[1-9]|[12][0-9]|3[01])"
YEAR = f"^(-?[0-9]{{4}})-{_MONTH}(-|Z?$)|^-?[0-9]{{1,4}}Z?$"
MONTH = f"^[0-9]{{4}}-{_MONTH}(-{_DAY}|Z?$)"
DATE = f"^[0-9]{{4}}-{_MONTH}-{_DAY}([^0-9]|$)"
HOUR = f"^[0-9]{{4}}-{_MONTH}-{_DAY}[T ]([01][0-9]|2[0-3]):[0-5][0-9]"
SECOND = "^.{16}:[0-5][0-9]"


def part_of_date(name: Part | OneOf["time"], given: Given) -> Given:
    """Return a part of the date in a text.

    `time` is the date with the time to the second, midnight where there is none.
    """
    text = given.value
    if isinstance(text, ox.Literal):
        selection = stamp(text.value) if name == "time" else date_part(name, text.value)
        if selection is None:
            return NOTHING
        return Given(_number(int(selection)) if isinstance(selection, float) else ox.Literal(str(selection)))
    if given.dated:
        return _known_value(name, given)
    pattern, part = _PARTS[name]
    return Given(part(text), (*given.guards, matches(text, pattern)))


def _known_value(name: Part | OneOf["time"], given: Given) -> Given:
    """Return a part of what is known to be a date."""
    if name in ("hour", "clock") and given.form == "date":
        return NOTHING
    if name in _NATIVE and isinstance(given.value, sparql.Call):
        return Given(sparql.Call(_NATIVE[name], given.value.arguments), given.guards)
    whole = (name, given.form) in (("date", "date"), ("time", "time"))
    return Given(given.value if whole else _PARTS[name][1](given.value), given.guards)


def has_type(
    value: sparql.Expression, form: Form, relation: Relation, bound: str, part: Precision
) -> sparql.Expression | None:
    """Return the comparison of a typed date with a bound; None where it has to be made by their texts."""
    day, time = date_part("date", bound), stamp(bound)
    if day is None or time is None or part == "year-month" or (part == "time") != (form == "time"):
        return None
    try:
        datetime.fromisoformat(time)
    except ValueError:
        return None  # there is no such day
    if form == "date":
        return sparql.Compare(value, relation, ox.Literal(str(day), datatype=_DATE_TYPE))
    return sparql.Compare(value, relation, ox.Literal(time, datatype=_TIME_TYPE))


def finest(kinds: Iterable[str]) -> Precision | None:
    """Return how precisely values of some kinds are compared as dates; None if none of them is a date.

    Example:
        >>> finest(["any", "date"]), finest(["any", "text"])
        ('date', None)
    """
    precisions: tuple[Precision, ...] = ("year-month", "date", "time")
    return next((name for name in precisions if name in set(kinds)), None)


def days(start: Given, end: Given) -> Given:
    """Return the days from the date in one text to that in another, with the fraction of the last.

    Whole days and seconds are counted apart, so that no digits are lost.
    """
    first, last = _moment(start), _moment(end)
    if first is None or last is None:
        return NOTHING
    whole = sparql.Calculation(last[0], "-", first[0])
    seconds = sparql.Calculation(
        sparql.Cast(DOUBLE, sparql.Calculation(last[1], "-", first[1])), "/", _number(86400)
    )
    guards = list[sparql.Expression]()
    for given in (start, end):
        if not isinstance(given.value, ox.Literal):
            guards += given.guards if given.dated else (*given.guards, matches(given.value, DATE))
    return Given(_sum(whole, seconds), tuple(guards))


def _moment(given: Given) -> tuple[sparql.Expression, sparql.Expression] | None:
    """Return the number of the day in a text, and the seconds of that day that have passed."""
    text = given.value
    if not isinstance(text, ox.Literal):
        return _day_number(text), _number(0) if given.form == "date" else _seconds(text)
    bounds = moment(text.value)
    return None if bounds is None else (_number(bounds[0]), _number(bounds[1]))


def _seconds(text: sparql.Expression) -> sparql.Expression:
    """Return the seconds of the day; none have passed where no time is written."""
    seconds = sparql.Call("if", (matches(text, SECOND), _digits(18, 2, text), _number(0)))
    of_day = _sum(
        sparql.Calculation(_digits(12, 2, text), "*", _number(3600)),
        sparql.Calculation(_digits(15, 2, text), "*", _number(60)),
        seconds,
    )
    return sparql.Call("if", (matches(text, HOUR), of_day, _number(0)))


def _day_number(text: sparql.Expression) -> sparql.Expression:
    """Return the days since the last of the year 0: those of whole years, of whole months, and leap days."""
    year, month, day = _digits(1, 4, text), _digits(6, 2, text), _digits(9, 2, text)
    # Some engines cut texts that are no dates as well, and end the query where they cannot.
    some = sparql.Call("coalesce", (month, _number(1)))
    at = sparql.Calculation(sparql.Calculation(some, "*", _number(3)), "-", _number(2))
    before = sparql.Cast(INTEGER, sparql.Call("substr", (ox.Literal(_BEFORE), at, _number(3))))
    # Years whose February is over.
    full = sparql.Calculation(
        year, "-", sparql.Call("if", (sparql.Compare(month, "<", _number(3)), _number(1), _number(0)))
    )
    leap = _sum(_quotient(full, 4), sparql.Calculation(_quotient(full, 400), "-", _quotient(full, 100)))
    return _sum(
        sparql.Calculation(year, "*", _number(365)), before, day, sparql.Calculation(leap, "-", _number(365))
    )


_BEFORE = "000031059090120151181212243273304334"  # Days of a year before each month, in three digits each


def _weekday(text: sparql.Expression) -> sparql.Expression:
    number = sparql.Calculation(_day_number(text), "-", _number(1))
    rest = sparql.Calculation(number, "-", sparql.Calculation(_number(7), "*", _quotient(number, 7)))
    return sparql.Cast(INTEGER, _sum(rest, _number(1)))


def _quarter(text: sparql.Expression) -> sparql.Expression:
    return sparql.Cast(INTEGER, _quotient(_sum(_digits(6, 2, text), _number(2)), 3))


def _year(text: sparql.Expression) -> sparql.Expression:
    digits = sparql.Call("replace", (text, ox.Literal(r"^(-?[0-9]+)[\s\S]*$"), ox.Literal("$1")))
    return sparql.Cast(INTEGER, digits)


def _time(text: sparql.Expression) -> sparql.Expression:
    """Return the date with its time, in one spelling."""
    time = sparql.Call("if", (matches(text, HOUR), _cut(12, 5, text), ox.Literal("00:00")))
    seconds = sparql.Call("if", (matches(text, SECOND), _cut(17, 3, text), ox.Literal(":00")))
    return sparql.Call("concat", (_cut(1, 10, text), ox.Literal("T"), time, seconds))


def _clock(text: sparql.Expression) -> sparql.Expression:
    """Return the time of day, in one spelling."""
    seconds = sparql.Call("if", (matches(text, SECOND), _cut(17, 3, text), ox.Literal(":00")))
    return sparql.Call("concat", (_cut(12, 5, text), seconds))


def _cut(start: int, length: int, text: sparql.Expression) -> sparql.Expression:
    return sparql.Call("substr", (text, _number(start), _number(length)))


def _digits(start: int, length: int, text: sparql.Expression) -> sparql.Expression:
    return sparql.Cast(INTEGER, _cut(start, length, text))


def _quotient(value: sparql.Expression, by: int) -> sparql.Expression:
    return sparql.Call("floor", (sparql.Calculation(value, "/", _number(by)),))


def _sum(first: sparql.Expression, *others: sparql.Expression) -> sparql.Expression:
    for other in others:
        first = sparql.Calculation(first, "+", other)
    return first


def _number(value: int) -> ox.Literal:
    return ox.Literal(str(value), datatype=INTEGER)


_PARTS: Mapping[str, tuple[str, Callable[[sparql.Expression], sparql.Expression]]] = {
    "year": (YEAR, _year),
    "quarter": (MONTH, _quarter),
    "month": (MONTH, partial(_digits, 6, 2)),
    "day": (DATE, partial(_digits, 9, 2)),
    "weekday": (DATE, _weekday),
    "hour": (HOUR, partial(_digits, 12, 2)),
    "clock": (HOUR, _clock),
    "date": (DATE, partial(_cut, 1, 10)),
    "year-month": (MONTH, partial(_cut, 1, 7)),
    "time": (DATE, _time),
}
"""How what has each part is written, and the part."""


Kind: TypeAlias = OneOf["number", "date", "year-month", "time", "year", "boolean", "entity", "text", "any"]
"""What an expression is known to be; `date` and `time` are the text of one, `any` is decided by the value."""

FoldedAs: TypeAlias = OneOf["itself", "number", "text"]

_TYPES: Mapping[str, Kind] = {
    **dict.fromkeys(map(str, NUMBERS), "number"),
    XSD + "date": "date",
    XSD + "dateTime": "time",
    XSD + "gYear": "year",
    XSD + "gYearMonth": "year-month",
    XSD + "boolean": "boolean",
}
_TRUTH = {True: ("true", "1"), False: ("false", "0")}


@dataclass
class ValueCompiler:
    """Compiles expressions."""

    variable: Callable[[pl.Unknown], ox.Variable]  # The variable of an unknown
    fold: Callable[[pl.Aggregate], Given]  # The value of an aggregate, which a sub-select has computed
    # The variable of a scalar, whose sub-select is put beside the pattern
    scalar: Callable[[pl.Scalar], Given]
    # What columns are, by name, where conditions speak of columns
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    # Unknowns that not every solution binds; some engines take what is unbound for a literal
    unsure: Collection[pl.Unknown] = ()
    # What all values of unknowns are known to be
    forms: Mapping[pl.Unknown, Form] = field(default_factory=dict)

    def kind(self, expression: pl.Expression) -> Kind:
        """Return what an expression is known to be."""
        return kind_of(expression, self.kinds)

    def form(self, expression: pl.Expression) -> Form:
        """Return what all values of an expression are known to be."""
        return self.forms.get(expression, "any") if isinstance(expression, pl.Unknown) else "any"

    def raw(self, expression: pl.Expression) -> Given:
        """Return an expression as it stands."""
        match expression:
            case pl.Unknown():
                variable = self.variable(expression)
                unsure = expression in self.unsure
                return Given(variable, (sparql.Call("bound", (variable,)),) if unsure else ())
            case URIRef() | Literal():
                return Given(to_ox(expression))  # type: ignore[arg-type]  # neither is a blank node
            case pl.Number(value):
                return self.number(value)
            case pl.DatePart(part, value):
                return part_of_date(part, self.text(value))
            case pl.Days(start, end):
                return days(self.text(start), self.text(end))
            case pl.Arithmetic(left, operation, right):
                return self._arithmetic(left, operation, right)
            case pl.Aggregate():
                return self.fold(expression)
            case pl.Scalar():
                return self.scalar(expression)

    def number(self, expression: pl.Expression) -> Given:
        """Return the number that an expression is, or that its text begins with."""
        if isinstance(expression, Literal):
            return number_of(str(expression))
        if self.kind(expression) == "number":
            return self.raw(expression)
        if self.form(expression) == "number":
            given = self.raw(expression)
            numeric = sparql.Call("isNumeric", (given.value,))
            return Given(sparql.Cast(DOUBLE, given.value), (*given.guards, numeric))
        given = self.text(expression)
        return number_of(given.value).when(*given.guards)

    def text(self, expression: pl.Expression) -> Given:
        """Return the text of an expression."""
        given = self.raw(expression)
        if isinstance(expression, Literal):
            return Given(ox.Literal(str(expression)))
        if self.kind(expression) in ("any", "entity"):
            return Given(text(given.value), given.guards, self.form(expression))
        return given

    def folded(self, expression: pl.Expression, how: FoldedAs) -> Given:
        """Return what an aggregate folds."""
        if how == "number":
            return self.number(expression)
        given = self.raw(expression)
        if how == "text" and not isinstance(expression, Literal):
            return Given(text(given.value), (*given.guards, sparql.Call("isLiteral", (given.value,))))
        return given

    def condition(self, condition: pl.Condition) -> sparql.Expression:
        """Return a condition; where one of its expressions has no value it does not hold."""
        given = self._contains(condition) if isinstance(condition, pl.Contains) else self._compared(condition)
        return given.holding()

    def _arithmetic(
        self, left: pl.Expression, operation: OneOf["+", "-", "*", "/"], right: pl.Expression
    ) -> Given:
        a, b = self.number(left), self.number(right)
        guards = (*a.guards, *b.guards)
        if operation != "/":
            return Given(sparql.Calculation(a.value, operation, b.value), guards)
        # Some engines divide whole numbers to a whole number.
        quotient = sparql.Calculation(sparql.Cast(DOUBLE, a.value), "/", b.value)
        if isinstance(b.value, ox.Literal):
            return Given(quotient, guards) if float(b.value.value or 0) else NOTHING
        return Given(quotient, (*guards, sparql.Compare(b.value, "!=", _number(0))))

    def _contains(self, condition: pl.Contains) -> Given:
        if condition.position == "language":
            spoken = self.raw(condition.value)
            tag = sparql.Call("lang", (spoken.value,))
            guards = (*spoken.guards, sparql.Call("isLiteral", (spoken.value,)))
            return Given(sparql.Call("langMatches", (tag, ox.Literal(condition.text))), guards)
        given = self._lower(condition.value)
        sought = ox.Literal(condition.text.lower())
        if condition.position == "whole":
            return Given(sparql.Compare(given.value, "=", sought), given.guards)
        name: sparql.Function = {"anywhere": "contains", "start": "strstarts", "end": "strends"}[  # type: ignore[assignment]
            condition.position
        ]
        return Given(sparql.Call(name, (given.value, sought)), given.guards)

    def _lower(self, expression: pl.Expression) -> Given:
        """Return the text of a literal in lower case; an entity has none."""
        if isinstance(expression, Literal):
            return Given(ox.Literal(str(expression).lower()))
        given = self.raw(expression)
        guards = given.guards
        if self.kind(expression) in ("any", "entity"):
            guards = (*guards, sparql.Call("isLiteral", (given.value,)))
        return Given(sparql.Call("lcase", (text(given.value),)), guards)

    def _compared(self, condition: pl.Comparison) -> Given:
        left, right, relation = condition.left, condition.right, condition.relation
        kinds = (self.kind(left), self.kind(right))
        if "year" in kinds or "number" in kinds:
            a, b = (self._years(e) if "year" in kinds else self.number(e) for e in (left, right))
        elif part := finest(kinds):
            if (native := self._type(condition, part)) is not None:
                return native
            a, b = (self._date(part, e) for e in (left, right))
        elif "boolean" in kinds:
            return self._truth(condition)
        elif "entity" in kinds:
            a, b = self.raw(left), self.raw(right)
            if relation not in ("=", "!="):
                return NOTHING
        elif kinds == ("any", "any"):
            return self._any(condition)
        else:
            a, b = (_sortable(self._lower(e)) for e in (left, right))
        return Given(sparql.Compare(a.value, relation, b.value), (*a.guards, *b.guards))

    def _years(self, expression: pl.Expression) -> Given:
        if self.kind(expression) == "number":
            return self.number(expression)
        return part_of_date("year", self.text(expression))

    def _type(self, condition: pl.Comparison, part: Precision) -> Given | None:
        """Return a comparison of a typed date with one that is written, by their datatypes."""
        value, relation, bound = condition.left, condition.relation, condition.right
        if isinstance(value, Literal):
            value, relation, bound = bound, TURNED[relation], value
        if isinstance(value, pl.DatePart) and value.part == part:
            value = value.value
        form = self.form(value)
        if form not in ("date", "time") or not isinstance(bound, Literal):
            return None
        given = self.raw(value)
        stated = has_type(given.value, form, relation, str(bound), part)
        return None if stated is None else Given(stated, given.guards)

    def _date(self, part: Precision, expression: pl.Expression) -> Given:
        if isinstance(expression, pl.DatePart):
            return self.raw(expression)
        return part_of_date(part, self.text(expression))

    def _truth(self, condition: pl.Comparison) -> Given:
        if condition.relation not in ("=", "!="):
            return NOTHING
        sides = (condition.left, condition.right)
        sides = sides if isinstance(sides[1], Literal) else (sides[1], sides[0])
        wanted = str(sides[1]).lower() in _TRUTH[True]
        if condition.relation == "!=":
            wanted = not wanted
        given = self.text(sides[0])
        return Given(
            sparql.In(sparql.Call("lcase", (given.value,)), tuple(map(ox.Literal, _TRUTH[wanted]))),
            given.guards,
        )

    def _any(self, condition: pl.Comparison) -> Given:
        """Compare any two values: as numbers if both are, else as text; things as things."""
        a, b = self.raw(condition.left), self.raw(condition.right)
        first, second = text(a.value), text(b.value)
        both = sparql.AllOf(tuple(dict.fromkeys((whole(first), whole(second)))))
        numbers = sparql.Compare(sparql.Cast(DOUBLE, first), condition.relation, sparql.Cast(DOUBLE, second))
        lower = (_sortable(Given(sparql.Call("lcase", (t,)))).value for t in (first, second))
        words = sparql.Compare(next(lower), condition.relation, next(lower))
        literals = tuple(dict.fromkeys(sparql.Call("isLiteral", (v.value,)) for v in (a, b)))
        compared = sparql.AllOf((*literals, sparql.Call("if", (both, numbers, words))))
        if condition.relation not in ("=", "!="):
            return Given(compared, (*a.guards, *b.guards))
        things = sparql.AllOf(
            (
                sparql.AnyOf(tuple(sparql.Call("isIRI", (v.value,)) for v in (a, b))),
                sparql.Compare(first, condition.relation, second),
            )
        )
        return Given(sparql.AnyOf((compared, things)), (*a.guards, *b.guards))

    def order_keys(self, variable: ox.Variable, kind: Kind, descending: bool) -> list[_Key]:
        """Return what rows are sorted by: numbers before text, whatever the direction."""
        if kind != "any":
            return [sparql.Descending(variable) if descending else variable]
        written = text(variable)
        numeric, zero = whole(written), _number(0)
        number = sparql.Call("if", (numeric, sparql.Cast(DOUBLE, written), sparql.Cast(DOUBLE, zero)))
        keys: list[_Key] = [sparql.Call("if", (numeric, zero, ox.Literal(1)))]
        for key in (number, sparql.Call("lcase", (written,))):
            keys.append(sparql.Descending(key) if descending else key)
        return keys


def bind(given: Given, variable: ox.Variable, nothing: Callable[[], ox.Variable]) -> list[sparql.Pattern]:
    """Return the pattern that gives a variable a value, where it has one."""
    if given.value == variable:
        return []
    if not given.guards:
        return [sparql.Bind(given.value, variable)]
    guard = Given(given.guards[-1], given.guards[:-1]).holding()
    return [sparql.Bind(sparql.Call("if", (guard, given.value, nothing())), variable)]


_Key: TypeAlias = sparql.Expression | sparql.Descending


def kind_of(expression: pl.Expression, columns: Mapping[str, Kind] | None = None) -> Kind:
    """Return what an expression is known to be, whatever the graph holds.

    Columns are told by name, where it may speak of columns.

    Example:
        >>> from mrag.planning import DatePart, Unknown
        >>> kind_of(DatePart("date", Unknown("day"))), kind_of(Unknown("day")), kind_of(Literal(3))
        ('date', 'any', 'number')
    """
    match expression:
        case pl.Unknown(name):
            return (columns or {}).get(name, "any")
        case URIRef():
            return "entity"
        case Literal():
            return _TYPES.get(str(expression.datatype), "text")
        case pl.DatePart("date" | "year-month" as part, _):
            return part
        case pl.DatePart("clock", _):
            return "text"
        case pl.Aggregate("minimum" | "maximum", value) if value is not None:
            kind = kind_of(value)
            return "text" if kind == "any" else kind
        case pl.Scalar(plan):
            return kind_of(plan.columns[0].value)
        case _:
            return "number"


def fold_as(aggregate: pl.Aggregate) -> FoldedAs:
    """Return whether an aggregate folds numbers, text, or values as they stand."""
    if aggregate.value is None or aggregate.function == "count":
        return "itself"
    kind = kind_of(aggregate.value)
    if aggregate.function in ("sum", "average"):
        return "itself" if kind == "number" else "number"
    return "text" if kind == "any" else "itself"


def _sortable(given: Given) -> Given:
    """Return text in lower case so that it can be compared by order; Virtuoso cannot do it as it stands."""
    if isinstance(given.value, ox.Literal):
        return given
    return Given(text(given.value), given.guards)


Cell: TypeAlias = Term | None
Cells: TypeAlias = tuple[Cell, ...]

COMPUTED: frozenset[Kind] = frozenset(("number", "date", "year-month"))
"""The kinds of columns whose values are spelt anew."""

_NUMBER = compile_late(r"[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?\Z")


def show_as(cell: Cell, kind: Kind) -> Cell:
    """Return a cell as it is shown: numbers and dates that were computed have one spelling."""
    if cell is None or not isinstance(cell, Literal):
        return cell
    if kind == "number":
        return number(float(cell))
    if kind == "date":
        return Literal(str(cell), datatype=URIRef(XSD + "date"), normalize=False)
    if kind == "year-month":
        return Literal(str(cell), datatype=URIRef(XSD + "gYearMonth"), normalize=False)
    return cell


def number(value: float) -> Literal | None:
    """Return a number as a literal of 12 digits; None if it is not finite.

    Example:
        >>> print(number(0.1 + 0.2), number(4.0), number(float("inf")))
        0.3 4 None
    """
    if not math.isfinite(value):
        return None
    short = Decimal(f"{value:.12g}")
    if short == short.to_integral_value():
        return Literal(f"{short:.0f}", datatype=URIRef(XSD + "integer"), normalize=False)
    return Literal(f"{short:f}", datatype=URIRef(XSD + "decimal"), normalize=False)


def in_order(
    rows: Iterable[Cells], plan: Plan, called: Mapping[str, str | None] | None = None
) -> list[Cells]:
    """Return rows in the order of a plan, those without a value last; ties break by the terms of the row.

    Things are put in order by what they are called, or by their IRIs where that is not known.
    """
    ordered = sorted(rows, key=lambda row: [str(cell if cell is not None else "") for cell in row])
    names = [c.name for c in plan.columns]

    def key(cell: Cell, down: bool) -> tuple[int, float, str]:
        name = called.get(str(cell)) if called and isinstance(cell, URIRef) else None
        return sort_key(cell if name is None else Literal(name), down)

    for order in reversed(plan.order):
        at = names.index(order.column)
        down = order.descending
        ordered.sort(key=lambda row, at=at, down=down: key(row[at], down), reverse=down)  # type: ignore[misc]
    return ordered


def sort_key(cell: Cell, descending: bool = False) -> tuple[int, float, str]:
    """Return the key that a cell sorts by, backwards if descending.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> cells = [None, Literal("unknown"), Literal("9"), Literal(10)]
        >>> [str(c) for c in sorted(cells, key=lambda c: sort_key(c, descending=True), reverse=True)]
        ['10', '9', 'unknown', 'None']
    """
    if cell is None:
        kind, value, text = 2, 0.0, ""
    elif _NUMBER.match(str(cell)):
        kind, value, text = 0, float(str(cell)), ""
    else:
        kind, value, text = 1, 0.0, str(cell).lower()
    return (-kind if descending else kind), value, text


def tied(one: Cells, other: Cells, columns: Sequence[int]) -> bool:
    """Return whether two rows are equal in some columns; sums of fractions may differ in the last digit.

    Example:
        >>> from rdflib import Literal, URIRef
        >>> tied((Literal("1"),), (Literal("1.0"),), [0])
        True
    """
    for at in columns:
        (kind, number, text), (kind_2, number_2, text_2) = sort_key(one[at]), sort_key(other[at])
        if kind != kind_2 or text != text_2 or not math.isclose(number, number_2, rel_tol=1e-9):
            return False
    return True
