"""The names that a graph has for its things, and what else people call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

Named: TypeAlias = OneOf["class", "property", "entity", "value"]
Way: TypeAlias = OneOf["exact", "inflected", "tokens", "spelling", "synonym", "meaning"]


@dataclass(frozen=True)
class Candidate:
    """What words of a question may name."""

    kind: Named  # What it is
    term: str  # The IRI of a class, a property or an entity; the text of a literal value
    score: float  # How like the words its name is, from 0 to 1; 1 is equal, whatever case and accents
    name: str  # The name that was matched
    way: Way = "exact"  # How it was matched
    properties: tuple[str, ...] = ()  # For a value, the properties that have it, most frequent first
    classes: tuple[str, ...] = ()  # For an entity, its classes
    inverse: bool = False  # For a property, whether the name reads it from object to subject


@dataclass(frozen=True)
class NameMention:
    """Words of a question with what they may name, best first."""

    start: int  # Index of its first token
    end: int  # Index behind its last token
    candidates: tuple[Candidate, ...]  # What it may name


@dataclass(frozen=True)
class Dimension:
    """A property that an adjective is a measure of."""

    property: str  # Its IRI
    score: float  # How likely the adjective is meant of it, from 0 to 1
    # Where the superlative looks: the cheapest thing has the least price
    direction: OneOf["greatest", "least"]
    name: str  # The name of the property that was matched
