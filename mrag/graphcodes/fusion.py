"""Fusing rankings by their scores: how far ahead a hit is counts, not its rank alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mrag.errors import ConfigError
from mrag.retrieval.rankers import FusedRanker, Hit


def summed(
    rankings: Sequence[Mapping[str, float]], weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Add up the scores of several rankings, each divided by its best.

    This is CombSUM (Fox and Shaw, 1994, Combination of Multiple Searches) over scores that are scaled to a
    best of 1. What a ranking lacks has 0 in it.

    Args:
        rankings: Scores by document, of one question; those of 0 or less count nothing.
        weights: One weight of at least 0 for each ranking; all 1 by default.

    Returns:
        Documents with their sums, best first, ties in order of id.

    Raises:
        ConfigError: If there is not one weight of at least 0 for each ranking.

    Example:
        >>> summed([{"a": 0.9, "b": 0.8}, {"b": 12.0, "c": 3.0}])
        [('b', 1.888...), ('a', 1.0), ('c', 0.25)]
    """
    chosen = [1.0] * len(rankings) if weights is None else list(weights)
    if len(chosen) != len(rankings) or any(not weight >= 0 for weight in chosen):
        raise ConfigError(f"{len(rankings)} rankings need as many weights of at least 0, not {chosen}.")
    total: dict[str, float] = {}
    for ranking, weight in zip(rankings, chosen, strict=True):
        best = max(ranking.values(), default=0.0)
        for doc, score in ranking.items():
            share = weight * score / best if best > 0 and score > 0 else 0.0
            total[doc] = total.get(doc, 0.0) + share
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))


class ScoreFusedRanker(FusedRanker):
    """Fuses rankings by their scores, see `summed`.

    Graph codes have scores that mean something: 1 is the same graph. Reciprocal ranks throw that away.

    Args:
        rankers: The rankers to fuse.
        weights: One weight for each; all 1 by default.
        depth: How deep each ranking is read.

    Raises:
        ConfigError: When ranking, if there is not one weight of at least 0 for each ranker.

    Example:
        >>> from mrag.retrieval.rankers import Question
        >>> class Fixed:
        ...     def __init__(self, **scores):
        ...         self.scores = scores
        ...     def rank(self, question, k):
        ...         found = enumerate(self.scores.items(), 1)
        ...         return [Hit(iri, s, at, (f"{s}",)) for at, (iri, s) in found][:k]
        >>> fused = ScoreFusedRanker([Fixed(a=0.9, b=0.8), Fixed(b=12.0, c=3.0)])
        >>> [(hit.iri, hit.reasons) for hit in fused.rank(Question("?"), 2)]
        [('b', ('0.8', '12.0')), ('a', ('0.9',))]
    """

    def _fused(self, rankings: Sequence[Sequence[Hit]]) -> list[tuple[str, float]]:
        return summed([{hit.iri: hit.score for hit in ranking} for ranking in rankings], self.weights)
