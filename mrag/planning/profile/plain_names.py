"""Plainer names of numbers: the rating value of an aggregate rating is its rating."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.words import root
from mrag.planning.schema import PropertyInfo

__all__ = ["is_count", "is_value", "plain_names", "without_likened"]

_VALUE: Final = root("value")
_MANY: Final = frozenset("many most more fewest fewer least".split())
_COUNTED: Final = frozenset("count number num".split())


def plain_names(names: Iterable[str], holders: Iterable[str]) -> tuple[str, ...]:
    """Return more names of a number which is called the value of what has it.

    Args:
        names: The names of its property.
        holders: Names of the class of things that have it.

    Example:
        >>> plain_names(["rating value", "best rating"], ["aggregate rating"])
        ('rating',)
        >>> plain_names(["market value"], ["house"])
        ()
    """
    held = [frozenset(map(root, name.lower().split())) for name in holders]
    found = dict[str, None]()
    for name in names:
        *first, last = name.split() or [""]
        words = frozenset(root(word.lower()) for word in first)
        if words and root(last.lower()) == _VALUE and any(words <= holder for holder in held):
            found[" ".join(first)] = None
    return tuple(found)


def is_value(names: Iterable[str]) -> bool:
    """Return whether a number is called the value of something, so that it is no number of things.

    Example:
        >>> is_value(["rating value"]), is_value(["review count"])
        (True, False)
    """
    return any(root(name.lower().split()[-1]) == _VALUE for name in names if name.strip())


def is_count(names: Iterable[str]) -> bool:
    """Return whether a number is called a count of something.

    Example:
        >>> is_count(["review count"]), is_count(["num employees"]), is_count(["flight number"])
        (True, True, False)
    """
    words = [name.lower().split() for name in names if " " in name]
    return any(w[0] in _COUNTED or w[-1] == "count" for w in words)


def without_likened(mention: NameMention, before: str, properties: Mapping[str, PropertyInfo]) -> NameMention:
    """Return a mention without what only means the like, where it is asked how many and a number tells that.

    "The most reviews" are told by a "review count", neither by a "rating value" nor by how many ratings there
    are.

    Args:
        mention: What words may name.
        before: The word before them.
        properties: The properties of the graph.
    """
    if before not in _MANY:
        return mention
    own = [c for c in mention.candidates if c.way != "synonym"]
    infos = (properties[c.term] for c in own if c.kind == "property")
    if not any(info.kind == "number" and is_count(info.names) for info in infos):
        return mention
    return replace(mention, candidates=tuple(own))
