"""Fusion: one ranking out of several, by the scores of their hits or by ranks alone."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError

__all__ = ["RRF_K", "candidates", "reciprocal_rank_fusion", "weighted_rows", "weighted_scores"]

T = TypeVar("T", bound=Hashable)

RRF_K: Final = 60
"""How little the first ranks stand out; the value of the paper."""
_SPREAD: Final = 3.0
"""Standard deviations around the mean of a ranking that its scores are scaled to."""
_SCALED: Final = 100
"""Of how many of the best scores the mean and the deviation are taken."""


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
    shares = _checked(weights, len(rankings))
    if k <= -1:
        raise ConfigError(f"Reciprocal rank fusion cannot use k={k}.", hint="60 is usual.")
    parts: dict[T, list[float]] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            parts.setdefault(item, []).append(share / (k + rank))
    return _summed(parts)


def weighted_scores(
    rankings: Sequence[Sequence[tuple[T, float]]], *, weights: Sequence[float] | None = None
) -> list[tuple[T, float]]:
    """Fuse rankings by their scores, scaled so that rankers of different scales can be compared.

    The scores of a ranking are scaled so that the mean of its 100 best becomes one half, and what lies three
    standard deviations above or below becomes 1 or 0 (distribution-based score fusion, as in the Qdrant
    engine). Here they are not cut off at 1, because a hit that stands out by more is what a ranker is surest
    of; and no more than 100 are looked at, so that a longer ranking starts with the same hits.

    Args:
        rankings: Items with their scores, higher is better, no item twice. An item that a ranking lacks
            scores 0 there.
        weights: One number per ranking, 0 or more, and one of them above 0; all 1 if left out.

    Returns:
        Every item with the weighted mean of its scaled scores, best first, ties in the order of the items'
        text. The order of the rankings plays no part.

    Raises:
        ConfigError: If the weights are negative, not finite or not as many as the rankings.

    Example:
        >>> fused = weighted_scores([[("a", 9.0), ("b", 3.0)], [("b", 0.7), ("c", 0.6)]])
        >>> [(item, round(score, 4)) for item, score in fused]
        [('b', 0.5), ('a', 0.3333), ('c', 0.1667)]
    """
    shares = _checked(weights, len(rankings))
    total = math.fsum(shares) or 1.0
    parts: dict[T, list[float]] = {}
    for ranking, share in zip(rankings, shares, strict=True):
        scores = np.array([score for _, score in ranking], np.float64)
        for (item, _), score in zip(ranking, _scaled(scores).tolist(), strict=True):
            parts.setdefault(item, []).append(share / total * score)
    return _summed(parts)


def weighted_rows(
    rankings: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]], weights: Sequence[float]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Fuse two rankings of rows as `weighted_scores` does, to the bit.

    Args:
        rankings: Rows with their scores, no row twice in one.
        weights: As there.

    Returns:
        The rows, ascending, with the weighted means of their scaled scores.

    Example:
        >>> words = np.array([4, 2]), np.array([9, 3], np.float32)
        >>> rows, scores = weighted_rows([words, (np.array([2]), np.array([0.7], np.float32))], [0.5, 0.5])
        >>> rows.tolist(), [round(score, 4) for score in scores.tolist()]
        ([2, 4], [0.4167, 0.3333])
    """
    shares = _checked(weights, len(rankings))
    total = math.fsum(shares) or 1.0
    rows, places = np.unique(np.concatenate([found for found, _ in rankings]), return_inverse=True)
    sums, start = np.zeros(len(rows)), 0
    for (found, scores), share in zip(rankings, shares, strict=True):
        # Of two parts one addition is the sum that is rounded once.
        sums[places[start : start + len(found)]] += share / total * _scaled(scores.astype(np.float64))
        start += len(found)
    return rows, sums


def _checked(weights: Sequence[float] | None, rankings: int) -> list[float]:
    shares = [1.0] * rankings if weights is None else list(weights)
    if len(shares) != rankings or not all(math.isfinite(w) and w >= 0 for w in shares):
        raise ConfigError(
            f"Weights {shares} do not fit {rankings} rankings.",
            hint="Give one number of 0 or more for each ranking.",
        )
    return shares


def _scaled(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    best = np.sort(scores)[-_SCALED:]
    deviation = best.std() if len(best) else 0.0
    # Of equal scores the mean may differ from each by rounding, which no division should magnify.
    if not deviation or best[0] == best[-1]:
        return np.where(scores < best[:1], 0.0, 0.5) if len(best) else scores
    # Nothing that was found scores less than what was not.
    scaled: npt.NDArray[np.float64] = np.maximum(0.5 + (scores - best.mean()) / (2 * _SPREAD * deviation), 0)
    return scaled


def _summed(parts: Mapping[T, Sequence[float]]) -> list[tuple[T, float]]:
    # fsum rounds once, so the sum is the same in whatever order the rankings come.
    scores = {item: math.fsum(part) for item, part in parts.items()}
    return sorted(scores.items(), key=lambda entry: (-entry[1], str(entry[0])))
