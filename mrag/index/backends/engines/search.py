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
    if words and nearest and vector is not None:
        nearest = _completed(view, vector, nearest, [doc_id for doc_id, _ in words], depth)
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


def _completed(
    view: IndexView, vector: npt.NDArray[np.float32], nearest: Found, others: list[str], depth: int
) -> Found:
    """Return the nearest documents with those of some others that the engine has passed over.

    An engine looks through a part of the vectors. The documents that count most for a query by both are found
    by words, too, and so can be compared one by one.
    """
    known = {doc_id for doc_id, _ in nearest}
    least = nearest[-1][1] if len(nearest) >= depth else -np.inf
    vectors = view.vectors([doc_id for doc_id in others if doc_id not in known])
    compared = ((doc_id, float(one @ vector)) for doc_id, one in vectors.items() if one.any())
    passed = [(doc_id, score) for doc_id, score in compared if score > least]
    return sorted([*nearest, *passed], key=lambda one: (-one[1], one[0]))[:depth] if passed else nearest


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
