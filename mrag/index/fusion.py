"""Reciprocal rank fusion: one ranking out of several, from ranks alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final, TypeVar

from mrag.errors import ConfigError

__all__ = ["RRF_K", "candidates", "reciprocal_rank_fusion"]

T = TypeVar("T", bound=Hashable)

RRF_K: Final = 60
"""How little the first ranks stand out; the value of the paper."""


def candidates(k: int) -> int:
    """Return how many hits each ranker should contribute so that the best k of the fusion settle.

    Args:
        k: How many fused hits are wanted.

    Example:
        >>> candidates(5), candidates(50)
        (100, 500)
    """
    return max(100, 10 * k)


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[T]],
    *,
    weights: Sequence[float] | None = None,
    k: int = RRF_K,
) -> list[tuple[T, float]]:
    """Fuse rankings: each gives its item at rank r the score `weight / (k + r)`, counted from 1.

    Scores of different rankers need not be comparable (Cormack, Clarke and Büttcher, 2009,
    Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods, SIGIR).

    Args:
        rankings: Lists of items, best first. An item that a list repeats counts where it is best.
        weights: One number per ranking, 0 or more; all 1 if left out.
        k: The constant of the formula, above -1.

    Returns:
        Every item with its score, best first, ties in the order of the items' text. The order of
        the rankings plays no part.

    Raises:
        ConfigError: If the weights are negative, not finite or not as many as the rankings, or if k
            is -1 or less.

    Example:
        >>> fused = reciprocal_rank_fusion([["a", "b"], ["b", "c"]])
        >>> [(item, round(score, 4)) for item, score in fused]
        [('b', 0.0325), ('a', 0.0164), ('c', 0.0161)]
    """
    shares = [1.0] * len(rankings) if weights is None else list(weights)
    if len(shares) != len(rankings) or not all(math.isfinite(w) and w >= 0 for w in shares):
        raise ConfigError(
            f"Weights {shares} do not fit {len(rankings)} rankings.",
            hint="Give one number of 0 or more for each ranking.",
        )
    if k <= -1:
        raise ConfigError(f"Reciprocal rank fusion cannot use k={k}.", hint="60 is usual.")
    parts: dict[T, list[float]] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            parts.setdefault(item, []).append(share / (k + rank))
    # fsum rounds once, so the sum is the same in whatever order the rankings come.
    scores = {item: math.fsum(part) for item, part in parts.items()}
    return sorted(scores.items(), key=lambda entry: (-entry[1], str(entry[0])))
