"""A property that is computed of two others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from rdflib import Literal

from mrag.language.names import name_parts
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import root
from mrag.planning.plan import Arithmetic, Days, Expression
from mrag.planning.schema import PropertyInfo, Schema

Computed: TypeAlias = OneOf["days", "-", "/", "*"]


@dataclass(frozen=True)
class DerivedProperty(PropertyInfo):
    """A number that two properties of a thing tell together.

    Attributes:
        first: The property on the left, or where a span of time starts.
        second: The property on the right, or where a span ends.
        operation: What is computed of them.
        factor: What the result is multiplied by.
        link: The property that leads to what has the second; "" where the same thing has both.
    """

    first: PropertyInfo | None = None
    second: PropertyInfo | None = None
    operation: Computed = "/"
    factor: float = 1.0
    link: str = ""

    def of(self, first: Expression, second: Expression) -> Expression:
        """Return the number for the values of the two properties."""
        found: Expression
        if self.operation == "days":
            found = Days(first, second)
        elif self.operation == "-":
            found = Arithmetic(second, "-", first)
        else:
            found = Arithmetic(first, self.operation, second)
        if self.factor == 1.0:
            return found
        # A whole number above or below the line keeps all digits.
        if self.factor.is_integer():
            return Arithmetic(found, "*", Literal(int(self.factor)))
        return Arithmetic(found, "/", Literal(_shortest(1 / self.factor)))


def told_together(
    iri: str,
    names: tuple[str, ...],
    comment: str,
    first: PropertyInfo,
    second: PropertyInfo,
    operation: Computed = "/",
    factor: float = 1.0,
) -> DerivedProperty:
    """Return the number that two properties tell of the things that have both; see `DerivedProperty`."""
    return DerivedProperty(
        iri=iri,
        names=names,
        comment=comment,
        kind="number",
        triples=min(first.triples, second.triples),
        subjects=min(first.subjects, second.subjects),
        objects=min(first.objects, second.objects),
        domains={c: n for c, n in first.domains.items() if c in second.domains},
        first=first,
        second=second,
        operation=operation,
        factor=factor,
    )


DerivedWords: TypeAlias = tuple[int, int, list[DerivedProperty]]
"""Words of a question that name derived properties: the first, the one behind the last, the properties."""


def _shortest(value: float) -> int | float:
    rounded = round(value, 9)
    return int(rounded) if rounded.is_integer() else rounded


def words_of(name: str) -> list[str]:
    """Return the words of a name, those that are written as one apart."""
    return [part.lower() for word in name.split() for part in name_parts(word)]


def roots_of(info: PropertyInfo) -> set[str]:
    """Return the roots of the words in the names of a property."""
    return {root(word) for name in info.names for word in words_of(name)}


def properties_of(mention: NameMention, schema: Schema) -> Iterator[PropertyInfo]:
    """Yield the properties that words may well name, best first."""
    best = max((c.score for c in mention.candidates if c.kind == "property"), default=0.0)
    for c in mention.candidates:
        info = schema.properties.get(c.term) if c.kind == "property" else None
        if info is not None and c.score > 0.44 and (c.score > best - 0.1 or best < 0.9):
            yield info


def spelt(info: PropertyInfo) -> tuple[PropertyInfo, ...]:
    """Return the properties that a property is computed of; itself alone where it is stated."""
    if isinstance(info, DerivedProperty) and info.first is not None and info.second is not None:
        return info.first, info.second
    return (info,)
