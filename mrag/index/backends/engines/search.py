"""Search over one commit of an index in an engine: by words, by vectors, or by both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
import numpy.typing as npt

from mrag.index.backends.engines.rows import Found, IndexView
from mrag.index.bm25 import Bm25Index, Bm25Params
from mrag.index.fusion import candidates, weighted_scores
from mrag.index.segments.matches import Match, Mode

__all__ = ["fused", "search"]


def search(
    view: IndexView,
    text: str,
    vector: npt.NDArray[np.float32] | None,
    k: int,
    *,
    mode: Mode,
    allowed: Collection[str] | None,
    weight: float,
) -> list[Match]:
    """Rank documents; the arguments and the result are those of `mrag.index.segments.matches.search`."""
    knobs = view.state.manifest.bm25
    query = Bm25Index.of((), knobs).counted(text)
    depth = candidates(k) if mode == "hybrid" else k
    allowed = None if allowed is None else sorted(set(map(str, allowed)))
    some = bool(view.state.manifest.documents) and allowed != []
    words = view.by_words(query, depth, allowed) if some and query and mode != "dense" else []
    # A text without a known token has no direction, so no document is near to it.
    near = some and vector is not None and vector.any()
    nearest = view.by_vector(vector, depth, allowed) if near and vector is not None else []
    return fused(
        text,
        words,
        nearest,
        k,
        mode=mode,
        weight=None if vector is None else weight,
        knobs=knobs,
        texts=view.texts,
    )


def fused(
    text: str,
    words: Found,
    nearest: Found,
    k: int,
    *,
    mode: Mode,
    weight: float | None,
    knobs: Bm25Params,
    texts: Callable[[list[str]], Mapping[str, str]],
) -> list[Match]:
    """Put two rankings together.

    Args:
        text: The query.
        words: The ranking by words.
        nearest: The ranking by vectors.
        k: How many documents at most.
        mode: By what to rank.
        weight: The share of the vectors in `hybrid`; None where there are none.
        knobs: Those of BM25.
        texts: Gives the texts of documents.
    """
    best = words or nearest
    if mode == "hybrid":
        shares = (1.0, 0.0) if weight is None else (1 - weight, weight)
        best = weighted_scores((words, nearest), weights=shares)
    best = best[:k]
    found_texts = texts([doc_id for doc_id, _ in best]) if best else {}
    shown = Bm25Index.of(found_texts.items(), knobs)
    by_words, by_meaning, none = _ranked(words), _ranked(nearest), (None, None)
    found = []
    for doc_id, score in best:
        row = shown.rows.row_of(doc_id)
        terms = () if row is None else shown.matching(text, np.array([row]))[0]
        bm25_rank, bm25_score = by_words.get(doc_id, none)
        dense_rank, dense_score = by_meaning.get(doc_id, none)
        found.append(Match(doc_id, score, bm25_rank, dense_rank, bm25_score, dense_score, terms))
    return found


def _ranked(found: Found) -> dict[str, tuple[int, float]]:
    return {doc_id: (rank, score) for rank, (doc_id, score) in enumerate(found, 1)}
