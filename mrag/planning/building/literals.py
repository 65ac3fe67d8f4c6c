"""Numbers, times and names of a question as parts of a query."""

from __future__ import annotations

from rdflib import XSD, Literal

from mrag.language.names import name_parts
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Comparison, Condition, Contains, Expression, Relation
from mrag.planning.reading.numbers import converted, unit_of
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.values import DURATION_UNIT


def compare_period(
    value: Expression, relation: Relation, low: str, high: str, *, year: bool
) -> list[Condition]:
    """Return the conditions that a date lies in, before or after a half-open interval.

    Args:
        value: The date, or the year.
        relation: How.
        low: First day as an ISO date; its year where `year` is set.
        high: The day after the last.
        year: Whether the value is the number of a year.
    """

    def bound(text: str, *, ends: bool = False) -> Literal:
        if year:
            number = int(text[:4]) + (1 if ends and text[4:] != "-01-01" else 0)
            return Literal(number)
        return Literal(text, datatype=XSD.date)

    first, behind = bound(low), bound(high, ends=True)
    match relation:
        case "=":
            if year and int(str(behind)) == int(str(first)) + 1:
                return [Comparison(value, "=", first)]
            return [Comparison(value, ">=", first), Comparison(value, "<", behind)]
        case ">=":
            return [Comparison(value, ">=", first)]
        case ">":
            return [Comparison(value, ">=", behind)]
        case "<":
            return [Comparison(value, "<", first)]
        case "<=":
            return [Comparison(value, "<", behind)]
    raise AssertionError(relation)


def text_is(value: Expression, text: str) -> Condition:
    """Return the condition that a value's text is another, whatever the case."""
    return Contains(value, text, "whole")


def number_literal(value: float) -> Literal:
    """Return a number of a question as a literal.

    Example:
        >>> str(number_literal(5.0)), number_literal(2.5).toPython()
        ('5', 2.5)
    """
    return Literal(int(value)) if float(value).is_integer() else Literal(value)


def identifier(words: str) -> str:
    """Return words as the name of an unknown.

    Example:
        >>> identifier("weight (g)"), identifier("2nd place")
        ('weight_in_g', 'x_2nd_place')
    """
    name, _, unit = words.strip().removesuffix(")").rpartition(" (")
    words = f"{name} in {unit}" if name and unit_of(unit.split()) else words
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in words.lower())
    base = "_".join(plain.split())[:40].strip("_")
    return base if base and base[0].isalpha() else f"x_{base}".rstrip("_")


def unit_stated(info: PropertyInfo) -> str:
    """Return the unit that the values, the name, or the comment of a number states; "" if there is none."""
    if DURATION_UNIT in info.units:
        return "s"
    named = [part for name in info.names for word in name.split() for part in name_parts(word)]
    return unit_of(info.units) or unit_of(named) or unit_of(info.comment.split())


def counted_in(unit: str, schema: Schema) -> list[tuple[Candidate, str]]:
    """Return the numbers that are stated in such a unit: "above 1000 feet" of an elevation in feet."""
    found = list[tuple[Candidate, str]]()
    for info in schema.properties.values() if unit else ():
        own = unit_stated(info) if info.kind == "number" else ""
        if own and converted(1.0, unit, own) is not None:
            found.append((Candidate("property", info.iri, 0.8, info.names[0], "synonym"), "greatest"))
    return found
