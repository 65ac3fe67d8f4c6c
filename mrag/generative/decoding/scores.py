"""From clues to documents: how the clues of one document make its score."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from mrag.generative.decoding.beam import Clue

Aggregation: TypeAlias = Literal["best", "sum"]
"""A document's score is that of its best clue, or the sum over its clues."""


@dataclass(frozen=True)
class Found:
    """A document that clues lead to.

    Attributes:
        number: Its number in the index.
        ids: Its ids; several if equal documents have several.
        score: Natural logarithm of its score.
        clues: Its clues, best first.
    """

    number: int
    ids: tuple[str, ...]
    score: float
    clues: tuple[Clue, ...]


def aggregate(clues: Iterable[Clue], how: Aggregation = "best", *, overlap: float = 0.8) -> list[Found]:
    """Gather clues by document.

    Args:
        clues: The clues.
        how: `best` takes the best clue's score alone: the product of probabilities of Sect. 3 of the
            paper. `sum` adds up the scores' exponentials, each clue counted as far as its tokens are new.
        overlap: For `sum`, the part of a clue's weight that depends on how many of its tokens no better
            clue of the document has (SEAL's beta; Bevilacqua et al., 2022).

    Returns:
        The documents, best first; ties in order of their ids.

    Example:
        >>> one = Clue((1, 2), "a b", -1.0, -1.0, ("urn:a",), 0)
        >>> two = Clue((1, 3), "a c", -2.0, -2.0, ("urn:a",), 0)
        >>> [round(found.score, 3) for found in aggregate([two, one])]
        [-1.0]
        >>> [round(found.score, 3) for found in aggregate([two, one], "sum")]
        [-0.801]
    """
    gathered: dict[int, list[Clue]] = {}
    for clue in sorted(clues, key=lambda c: (-c.score, c.tokens)):
        gathered.setdefault(clue.number, []).append(clue)
    found = []
    for number, own in gathered.items():
        score = own[0].score if how == "best" else _sum(own, overlap)
        found.append(Found(number, own[0].documents, score, tuple(own)))
    return sorted(found, key=lambda f: (-f.score, f.ids))


def _sum(clues: list[Clue], overlap: float) -> float:
    seen: set[int] = set()
    top = clues[0].score
    total = 0.0
    for clue in clues:
        tokens = set(clue.tokens)
        new = len(tokens - seen) / len(tokens)
        seen |= tokens
        total += (1 - overlap + overlap * new) * math.exp(clue.score - top)
    return top + math.log(total)
