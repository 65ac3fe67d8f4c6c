"""Numbers and text of literals, read in SPARQL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox

from mrag.rdf import patterns as sparql
from mrag.rdf.terms import XSD

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
_TIMED = r"^PT?[0-9]"
"""How a duration begins that has a number, as "P" and "PT" have not."""
_SECONDS = ((2, 86400), (5, 3600), (7, 60), (9, 1))
"""Groups of `DURATION`, and how many seconds one of each is."""
DURATION_UNIT = "PT"
"""The unit that stands for durations, whose numbers are seconds."""
WHOLE_NUMBER = r"^[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$"


_MEASURE, _DURATION = re.compile(MEASURE), re.compile(DURATION)

Form: TypeAlias = OneOf["any", "number", "date", "time"]
"""What all values are: typed numbers, or dates or dates with times of one spelling without a time zone."""


@dataclass(frozen=True)
class Given:
    """An expression with the conditions under which it has a value.

    Attributes:
        value: The expression; it must not be evaluated where a guard fails.
        guards: What must hold, in order.
        form: Of the text of a date, what that date is known to be; the text is then `str` of it.
    """

    value: sparql.Expression
    guards: tuple[sparql.Expression, ...] = ()
    form: Form = "any"

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
        found = measured(value)
        return Given(ox.Literal(found[0], datatype=DOUBLE)) if found else NOTHING
    lasting = sparql.AllOf((matches(value, DURATION), matches(value, _TIMED)))
    seconds = _seconds(value)
    # Virtuoso's regex() misses these signs where the pattern has character classes; its replace() does not.
    value = sparql.Call("replace", (value, ox.Literal(_CURRENCIES), ox.Literal("~")))
    digits = sparql.Call("replace", (value, ox.Literal(MEASURE), ox.Literal("$1$5$9")))
    plain = sparql.Call("replace", (digits, ox.Literal(","), ox.Literal("")))
    number = sparql.Call("if", (lasting, seconds, sparql.Cast(DOUBLE, plain)))
    return Given(number, (sparql.AnyOf((matches(value, MEASURE), lasting)),))


def _seconds(value: sparql.Expression) -> sparql.Expression:
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
    found: sparql.Expression = parts[0]
    for part in parts[1:]:
        found = sparql.Calculation(found, "+", part)
    return found


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
    found = _MEASURE.match(re.sub(_CURRENCIES, "~", text))
    if found is None:
        return None
    unit = text[slice(*found.span(2))] or text[slice(*found.span(10))]
    return found[1] + found[5].replace(",", "") + (found[9] or ""), unit.strip()
