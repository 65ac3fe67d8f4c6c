"""The names that a graph has for its things, and what else people call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

Named: TypeAlias = OneOf["class", "property", "entity", "value"]
Way: TypeAlias = OneOf["exact", "inflected", "tokens", "spelling", "synonym", "meaning"]


@dataclass(frozen=True)
class Candidate:
    """What words of a question may name.

    Attributes:
        kind: What it is.
        term: The IRI of a class, a property or an entity; the text of a literal value.
        score: How like the words its name is, from 0 to 1; 1 is equal, whatever case and accents.
        name: The name that was matched.
        way: How it was matched.
        properties: For a value, the properties that have it, most frequent first.
        classes: For an entity, its classes.
        inverse: For a property, whether the name reads it from object to subject.
    """

    kind: Named
    term: str
    score: float
    name: str
    way: Way = "exact"
    properties: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    inverse: bool = False


@dataclass(frozen=True)
class NameMention:
    """Words of a question with what they may name, best first.

    Attributes:
        start: Index of its first token.
        end: Index behind its last token.
        candidates: What it may name.
    """

    start: int
    end: int
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Dimension:
    """A property that an adjective is a measure of.

    Attributes:
        property: Its IRI.
        score: How likely the adjective is meant of it, from 0 to 1.
        direction: Where the superlative looks: the cheapest thing has the least price.
        name: The name of the property that was matched.
    """

    property: str
    score: float
    direction: OneOf["greatest", "least"]
    name: str
