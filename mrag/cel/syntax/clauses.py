"""What sentences about class expressions share in all languages."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Literal as OneOfText
from typing import TypeAlias

from rdflib import Literal

from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    DataSome,
    Expression,
    OneOf,
    Or,
    Property,
    operands,
    with_operands,
)
from mrag.rdf.terms import XSD, curie, to_ox

Language: TypeAlias = OneOfText["en", "de"]
Name: TypeAlias = Callable[[str], str]

KINDS = {
    "en": {"integer": "whole number", "decimal": "decimal number", "double": "number",
           "boolean": "truth value", "float": "short number", "date": "date", "dateTime": "time",
           "string": "text"},
    "de": {"integer": "ganze Zahl", "decimal": "Dezimalzahl", "double": "Zahl", "boolean": "Wahrheitswert",
           "float": "kurze Zahl", "date": "Datum", "dateTime": "Zeitpunkt", "string": "Text"},
}  # fmt: skip
"""What values of a datatype are called."""
NUMERIC = frozenset(XSD + kind for kind in ("integer", "decimal", "double", "float"))
"""Datatypes of numbers, which are compared by value."""
BARE = NUMERIC | {XSD + kind for kind in ("boolean", "date", "dateTime")}
"""Datatypes whose values need no name of their kind beside them."""


class Clauses(ABC):
    """Makes the clauses of one language.

    Args:
        name: Names classes, properties and individuals by their IRIs.
    """

    def __init__(self, name: Name) -> None:
        self.name = name

    @abstractmethod
    def clause(self, e: Expression, last: bool = True) -> str:
        """Return the clause of a normal form."""

    @abstractmethod
    def value(self, value: str | Literal) -> str:
        """Return the name of an individual, or a literal."""

    def part(self, e: Expression, last: bool) -> str:
        """Return the clause of a part of a conjunction or a disjunction, in brackets if it is one itself."""
        return f"({self.clause(e)})" if isinstance(e, And | Or) else self.clause(e, last)

    def listed(self, names: OneOf) -> str:
        """Return the names of individuals in brackets."""
        return f"({', '.join(map(self.value, names.members))})"


def literal(value: Literal, language: Language) -> str:
    """Print a literal, with what it is unless it is a text."""
    datatype = str(value.datatype or XSD + "string")
    if value.language or datatype == XSD + "string":
        return str(to_ox(value))
    kind = KINDS[language].get(datatype.removeprefix(XSD), curie(datatype))
    return f"{'the' if language == 'en' else 'als Wert:'} {kind} {bare(value, datatype)}"


def bare(value: Literal, datatype: str) -> str:
    """Print a literal without its datatype if that is given before it, or both are numbers."""
    own = str(value.datatype)
    alike = own == datatype or {own, datatype} <= NUMERIC
    return str(value) if alike and " " not in str(value) else str(to_ox(value))


def closed(range: DataRange) -> tuple[Literal, Literal] | None:
    """Return the least and the greatest value of a range that has both and no other limits."""
    limits: dict[str, Literal] = dict(range.facets)
    if len(range.facets) != 2 or limits.keys() != {"minInclusive", "maxInclusive"}:
        return None
    return limits["minInclusive"], limits["maxInclusive"]


def merged_limits(e: Expression, single: Callable[[Property], bool]) -> Expression:
    """Return an expression with limits of the same values in one: `≥ 3 ⊓ ≤ 7` of a property with one value.

    Args:
        e: The expression, in normal form.
        single: Whether nothing has several values of a property, which makes both mean the same.
    """
    parts = tuple(merged_limits(p, single) for p in operands(e))
    e = with_operands(e, parts) if parts else e
    if not isinstance(e, And):
        return e
    limits: dict[tuple[Property, str, str], list[DataSome]] = {}
    for p in limited(e):
        limits.setdefault((p.property, p.range.datatype, p.range.facets[0][0][:3]), []).append(p)
    for (on, kind, side), lows in limits.items():
        highs = limits.get((on, kind, "max"), []) if side == "min" else []
        if len(lows) == len(highs) == 1 and single(on):
            both = DataSome(on, DataRange(kind, (*lows[0].range.facets, *highs[0].range.facets)))
            e = And((*(p for p in e.parts if p not in (lows[0], highs[0])), both))
    return e


def limited(e: Expression) -> Iterable[DataSome]:
    """Yield the parts of a conjunction that limit values at one side."""
    for p in e.parts if isinstance(e, And) else ():
        if (
            isinstance(p, DataSome)
            and len(p.range.facets) == 1
            and p.range.facets[0][0][:3] in ("min", "max")
        ):
            yield p


def between(parts: Iterable[Expression]) -> dict[Expression, AtMost]:
    """Return the greatest of two counts of the same values by the least, where both are given."""
    parts = tuple(parts)
    most = {(p.property, p.filler): p for p in parts if isinstance(p, AtMost)}
    found = {p: most.get((p.property, p.filler)) for p in parts if isinstance(p, AtLeast)}
    return {p: upper for p, upper in found.items() if upper is not None}


def escaped(text: str) -> str:
    """Return a text that can stand in quotation marks."""
    return re.sub(r"([\\“”„])", r"\\\1", text)
