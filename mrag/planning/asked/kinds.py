"""Kinds that a question says things are besides: "actors that are also directors"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mrag.language.tokens import PREPOSITIONS
from mrag.planning.lexical.english import BEING, is_past
from mrag.planning.reading.frame import Noun

_BETWEEN: Final = BEING | frozenset("who that which both also a an".split())
_AND: Final = (["and"], ["and", "also"], ["and", "a"], ["and", "an"], ["as", "well", "as"])


def kinds_besides(nouns: Sequence[Noun], low: Sequence[str]) -> Iterator[tuple[Noun, Noun]]:
    """Yield a noun with each later one that says what its things are, too.

    Args:
        nouns: The nouns of a question.
        low: Its words.
    """
    ordered = sorted(nouns, key=lambda n: n.start)
    if low[-1] in PREPOSITIONS:
        return  # "which towns are vendors based in"
    for at, noun in enumerate(ordered[:-1]):
        kind = ordered[at + 1]
        between = low[noun.end : kind.start]
        before = low[max(0, noun.start - 2) : noun.start]
        if is_past(low[kind.end - 1]) or (before[-1:] in (["which"], ["what"]) and before[0] in PREPOSITIONS):
            continue  # pupils that "were booked" are no bookings; "in which town is a vendor based"
        if kind.role not in ("", "beside") or not BEING & {*between} or not {*between} <= _BETWEEN:
            continue
        yield noun, kind
        for last, following in zip(ordered[at + 1 :], ordered[at + 2 :], strict=False):
            if following.role not in ("", "beside") or low[last.end : following.start] not in _AND:
                break
            yield noun, following
