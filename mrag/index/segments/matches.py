"""Search over one state of an index: by words, by vectors, or by both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.index.fusion import candidates, reciprocal_rank_fusion
from mrag.index.segments.rows import Ranking, Rows
from mrag.index.segments.state import DocumentState

__all__ = ["Match", "Mode", "search"]

Mode: TypeAlias = Literal["hybrid", "bm25", "dense"]


@dataclass(frozen=True)
class Match:
    """A document found.

    Args:
        doc_id: Its ID.
        score: Higher is better. Of `hybrid`, fused ranks between 0 and 1, where 1 is first by both
            rankers; of `bm25`, the BM25 score; of `dense`, the cosine.
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


def search(
    state: DocumentState,
    text: str,
    vector: npt.NDArray[np.float32] | None,
    k: int,
    *,
    mode: Mode,
    allowed: Collection[str] | None,
    weights: tuple[float, float],
) -> list[Match]:
    """Rank documents; see `DocumentIndex.search`.

    Args:
        state: The index.
        text: The query.
        vector: Its vector; None to rank by words alone.
        k: How many documents at most.
        mode: By what to rank.
        allowed: IDs of the documents that may be found; None for all.
        weights: Of `hybrid`, the weight of BM25 and of the vectors.
    """
    mask = None if allowed is None else state.rows.mask(allowed)
    depth = candidates(k) if mode == "hybrid" else k
    words: dict[str, tuple[int, float]] = {}
    nearest: dict[str, tuple[int, float]] = {}
    if mode != "dense":
        words = _ranked(state.rows, state.bm25.search(text, depth, mask))
    # A text without a known token has no direction, so no document is near to it.
    if vector is not None and state.rows.count and vector.any():
        nearest = _ranked(state.rows, state.dense.search(vector, depth, mask))
    if mode == "hybrid":
        rankings = [list(words)] if vector is None else [list(words), list(nearest)]
        fused = reciprocal_rank_fusion(rankings, weights=weights[: len(rankings)], normalise=True)
        scored = fused[:k]
    else:
        scored = [(doc_id, score) for doc_id, (_, score) in (words or nearest).items()]
    rows = [state.rows.row_of(doc_id) for doc_id, _ in scored]
    terms = state.bm25.matching(text, np.array(rows, np.int64))
    none = (None, None)
    found = []
    for (doc_id, score), shared in zip(scored, terms, strict=True):
        bm25_rank, bm25_score = words.get(doc_id, none)
        dense_rank, dense_score = nearest.get(doc_id, none)
        found.append(Match(doc_id, score, bm25_rank, dense_rank, bm25_score, dense_score, shared))
    return found


def _ranked(rows: Rows, ranking: Ranking) -> dict[str, tuple[int, float]]:
    found = zip(ranking[0].tolist(), ranking[1].tolist(), strict=True)
    return {rows.id_of(row): (rank, score) for rank, (row, score) in enumerate(found, 1)}
