"""Search over one state of an index: by words, by vectors, or by both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.fusion import candidates, weighted_rows
from mrag.index.segments.rows import Ranking
from mrag.index.segments.state import DocumentState

__all__ = ["Match", "Mode", "check_search", "search"]

Mode: TypeAlias = Literal["hybrid", "bm25", "dense"]


@dataclass(frozen=True)
class Match:
    """A document found.

    Args:
        doc_id: Its ID.
        score: Higher is better. Of `hybrid`, the weighted mean of both scores, scaled so that 0.5
            is the mean of the candidates (`mrag.index.fusion.weighted_scores`); of `bm25`, the BM25
            score; of `dense`, the cosine.
        bm25_rank: Its rank among the candidates of BM25, from 1; None if it is not among them.
        dense_rank: The same by vectors.
        bm25_score: Its BM25 score; None as above.
        dense_score: Its cosine with the query; None as above.
        terms: The words of the query that it contains, in the query's order.
    """

    doc_id: str
    score: float
    bm25_rank: int | None
    dense_rank: int | None
    bm25_score: float | None
    dense_score: float | None
    terms: tuple[str, ...]


def check_search(k: int, mode: Mode, weight: float) -> None:
    """Look whether a search can be carried out.

    Raises:
        ConfigError: If k, the mode or the weight cannot be used.
    """
    if k < 1 or mode not in get_args(Mode) or not 0 <= weight <= 1:
        hint = "k is 1 or more; mode is hybrid, bm25 or dense; a weight lies between 0 and 1."
        raise ConfigError(f"Cannot search with k={k}, mode={mode!r} and weight={weight}.", hint=hint)


def search(
    state: DocumentState,
    text: str,
    vector: npt.NDArray[np.float32] | None,
    k: int,
    *,
    mode: Mode,
    allowed: Collection[str] | None,
    weight: float,
) -> list[Match]:
    """Rank documents; see `DocumentIndex.search`.

    Args:
        state: The index.
        text: The query.
        vector: Its vector; None to rank by words alone.
        k: How many documents at most.
        mode: By what to rank.
        allowed: IDs of the documents that may be found; None for all.
        weight: Of `hybrid`, the share of the vectors, between 0 and 1.

    Raises:
        ConfigError: If k, the mode or the weight cannot be used.
    """
    check_search(k, mode, weight)
    mask = None if allowed is None else state.rows.mask(allowed)
    depth = candidates(k) if mode == "hybrid" else k
    nothing: Ranking = (np.empty(0, np.int64), np.empty(0, np.float32))
    words = nothing if mode == "dense" else state.bm25.search(text, depth, mask)
    # A text without a known token has no direction, so no document is near to it.
    known = vector is not None and state.rows.count and vector.any()
    # What counts most by both is mostly found by words, so that is compared for certain.
    nearest = state.dense.search(vector, depth, mask, words[0]) if known and vector is not None else nothing
    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.floating]
    rows, scores = words if len(words[0]) else nearest
    if mode == "hybrid":
        shares = (1.0, 0.0) if vector is None else (1 - weight, weight)
        rows, scores = weighted_rows((words, nearest), shares)
        # Only the rows that may be shown are named, to put ties in order of ID.
        least = np.partition(scores, len(scores) - k)[len(scores) - k] if len(scores) > k else 0.0
        shown = [
            (-score, state.rows.id_of(row), row)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
            if score >= least
        ]
        shown.sort()
        rows = np.array([row for _, _, row in shown], np.int64)
        scores = np.array([-score for score, _, _ in shown])
    by_words, by_meaning = _ranked(words), _ranked(nearest)
    none = (None, None)
    found = []
    for row, score, terms in zip(
        rows[:k].tolist(), scores[:k].tolist(), state.bm25.matching(text, rows[:k]), strict=True
    ):
        bm25_rank, bm25_score = by_words.get(row, none)
        dense_rank, dense_score = by_meaning.get(row, none)
        found.append(
            Match(state.rows.id_of(row), score, bm25_rank, dense_rank, bm25_score, dense_score, terms)
        )
    return found


def _ranked(ranking: Ranking) -> dict[int, tuple[int, float]]:
    found = zip(ranking[0].tolist(), ranking[1].tolist(), strict=True)
    return {row: (rank, score) for rank, (row, score) in enumerate(found, 1)}
