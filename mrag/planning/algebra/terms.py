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
BEGINS_WITH_NUMBER = (
    r"^[ \t\r\n]*([-+]?([0-9]{1,3}(,[0-9]{3})+|[0-9]+)([.][0-9]+)?([eE][-+]?[0-9]{1,2})?)[\s\S]*$"
)
WHOLE_NUMBER = r"^[-+]?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]{1,2})?$"


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
    """Return the number that a text begins with.

    Example:
        >>> from mrag.rdf.patterns import Ask, Filter
        >>> from mrag.rdf.printing import to_sparql
        >>> str(number_of("1,250.5 kg").value)
        '"1250.5"^^<http://www.w3.org/2001/XMLSchema#double>'
        >>> number_of("kg") == NOTHING
        True
    """
    if isinstance(value, str):
        found = re.match(BEGINS_WITH_NUMBER, value)
        return Given(ox.Literal(found[1].replace(",", ""), datatype=DOUBLE)) if found else NOTHING
    digits = sparql.Call("replace", (value, ox.Literal(BEGINS_WITH_NUMBER), ox.Literal("$1")))
    plain = sparql.Call("replace", (digits, ox.Literal(","), ox.Literal("")))
    return Given(sparql.Cast(DOUBLE, plain), (matches(value, BEGINS_WITH_NUMBER),))
