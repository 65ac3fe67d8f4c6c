"""OWL axioms and class expressions as values, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pyoxigraph as ox

from mrag.rdf.patterns import iri
from mrag.rdf.terms import OWL, RDF, SKOLEM

Label: TypeAlias = Callable[[str], str]
"""Returns the name of an IRI as people say it."""

Plain: TypeAlias = ox.NamedNode | ox.Literal
"""A term of a stored triple."""

TripleKey: TypeAlias = tuple[Plain, Plain, Plain]
"""A stored triple of terms that can be hashed."""


@dataclass(frozen=True)
class PropertyExpression:
    """A property or the inverse of one."""

    iri: ox.NamedNode
    inverse: bool = False


@dataclass(frozen=True)
class ClassName:
    """A class or datatype with a name; a nameless one only where its structure cannot be read."""

    iri: ox.NamedNode


@dataclass(frozen=True)
class IntersectionOf:
    """Intersection."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class UnionOf:
    """Union."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class ComplementOf:
    """What the class does not hold."""

    of: Expression


@dataclass(frozen=True)
class Enumeration:
    """An enumeration of individuals or literals."""

    members: tuple[Plain, ...]


@dataclass(frozen=True)
class SomeValuesFrom:
    """Existential restriction."""

    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class AllValuesFrom:
    """Universal restriction."""

    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class HasValue:
    """Restriction to one value."""

    property: PropertyExpression
    value: Plain


@dataclass(frozen=True)
class HasSelf:
    """Those related to themselves."""

    property: PropertyExpression


@dataclass(frozen=True)
class MinCardinality:
    """Minimum cardinality."""

    n: int
    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class MaxCardinality:
    """Maximum cardinality."""

    n: int
    property: PropertyExpression
    filler: Expression


@dataclass(frozen=True)
class Facets:
    """A datatype with limits on its values: pairs of facet name and limit."""

    datatype: ox.NamedNode
    limits: tuple[tuple[str, ox.Literal], ...]


Restriction: TypeAlias = SomeValuesFrom | AllValuesFrom | HasValue | HasSelf | MinCardinality | MaxCardinality
Expression: TypeAlias = (
    ClassName | IntersectionOf | UnionOf | ComplementOf | Enumeration | Facets | Restriction
)

THING = ClassName(iri(OWL + "Thing"))
NOTHING = ClassName(iri(OWL + "Nothing"))
TYPE = iri(RDF + "type")
SAME = iri(OWL + "sameAs")

_WORDS = {
    "minInclusive": "≥", "maxInclusive": "≤", "minExclusive": ">", "maxExclusive": "<",
    "length": "length", "minLength": "length ≥", "maxLength": "length ≤", "pattern": "pattern",
}  # fmt: skip


@dataclass(frozen=True)
class Axiom:
    """An axiom that rules come from.

    Attributes:
        kind: Name of its construct, such as `SubClassOf` or `PropertyChain`.
        parts: Its properties, classes and individuals in order.
        source: The stored triple that states it, or the head of it.
    """

    kind: str
    parts: tuple[Expression | PropertyExpression | Plain, ...]
    source: TripleKey

    def text(self, label: Label | None = None) -> str:
        """Return the axiom in Manchester-like words.

        Example:
            >>> a, p = ClassName(iri("urn:x#A")), PropertyExpression(iri("urn:x#p"))
            >>> key = (a.iri, TYPE, a.iri)
            >>> Axiom("EquivalentTo", (a, SomeValuesFrom(p, THING)), key).text()
            'A EquivalentTo: p some Thing'
        """
        name = label or local_name
        words = [manchester(part, name) for part in self.parts]
        if self.kind == "PropertyChain":
            return f"{' o '.join(words[:-1])} SubPropertyOf: {words[-1]}"
        if len(words) == 1:
            return f"{self.kind}: {words[0]}"
        return f"{words[0]} {self.kind}: {', '.join(words[1:])}"


def local_name(value: str) -> str:
    """Return what stands behind the last `#`, `/` or `:` of an IRI."""
    return value.rstrip("#/:").replace("#", "/").replace(":", "/").rsplit("/", 1)[-1] or value


def manchester(part: Expression | PropertyExpression | Plain, name: Label) -> str:
    """Print an expression in Manchester-like syntax (OWL 2 Manchester Syntax, section 2).

    Example:
        >>> part = PropertyExpression(iri("urn:p"), inverse=True)
        >>> manchester(AllValuesFrom(part, UnionOf((ClassName(iri("urn:A")), NOTHING))), local_name)
        'inverse p only (A or Nothing)'
    """
    match part:
        case ox.NamedNode():
            return name(part.value)
        case ox.Literal():
            return f'"{part.value}"'
        case PropertyExpression(p, inverse):
            return f"inverse {name(p.value)}" if inverse else name(p.value)
        case ClassName(c):
            return "(nameless)" if c.value.startswith(SKOLEM) else name(c.value)
        case IntersectionOf(parts):
            return " and ".join(_bracket(p, name) for p in parts)
        case UnionOf(parts):
            return " or ".join(_bracket(p, name) for p in parts)
        case ComplementOf(of):
            return f"not {_bracket(of, name)}"
        case Enumeration(members):
            return "{" + ", ".join(manchester(m, name) for m in members) + "}"
        case Facets(datatype, limits):
            return f"{name(datatype.value)}[{', '.join(f'{_WORDS[f]} {v.value}' for f, v in limits)}]"
        case _:
            return f"{manchester(part.property, name)} {_restriction(part, name)}"


def _restriction(part: Restriction, name: Label) -> str:
    match part:
        case SomeValuesFrom(_, filler):
            return f"some {_bracket(filler, name)}"
        case AllValuesFrom(_, filler):
            return f"only {_bracket(filler, name)}"
        case HasValue(_, value):
            return f"value {manchester(value, name)}"
        case HasSelf():
            return "Self"
        case MinCardinality(n, _, filler):
            return f"min {n} {_bracket(filler, name)}"
        case MaxCardinality(n, _, filler):
            return f"max {n} {_bracket(filler, name)}"


def _bracket(part: Expression, name: Label) -> str:
    text = manchester(part, name)
    return text if isinstance(part, ClassName | Enumeration | Facets) else f"({text})"
