"""Kinds that a question says things are besides: "actors that are also directors"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mrag.planning.lexical.words import BEING, is_past
from mrag.planning.reading.frame import Noun

_BETWEEN: Final = BEING | frozenset("who that which both also a an at once the same time".split())
_AND: Final = (["and"], ["and", "also"], ["and", "a"], ["and", "an"], ["as", "well", "as"])


def kinds_besides(nouns: Sequence[Noun], low: Sequence[str]) -> Iterator[tuple[Noun, Noun]]:
    """Yield a noun with each later one that says what its things are, too.

    Args:
        nouns: The nouns of a question.
        low: Its words.
    """
    ordered = sorted(nouns, key=lambda n: n.start)
    for at, noun in enumerate(ordered[:-1]):
        kind = ordered[at + 1]
        between = low[noun.end : kind.start]
        if is_past(low[kind.end - 1]):
            continue  # pupils that "were booked" are no bookings
        if kind.role not in ("", "beside") or not BEING & {*between} or not {*between} <= _BETWEEN:
            continue
        yield noun, kind
        for last, following in zip(ordered[at + 1 :], ordered[at + 2 :], strict=False):
            if following.role not in ("", "beside") or low[last.end : following.start] not in _AND:
                break
            yield noun, following
