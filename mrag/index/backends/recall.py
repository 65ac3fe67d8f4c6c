"""How much of what an exact search finds an index finds too, and how long it takes for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any, Final

from mrag.errors import ConfigError
from mrag.index.backends.base import StoredIndex, documents_of
from mrag.index.backends.copying import copy_index
from mrag.index.backends.local import LocalBackend
from mrag.index.dense import DenseParams
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding.embedders import Embedder
from mrag.index.segments.matches import Mode
from mrag.index.segments.pending import Progress

__all__ = ["RecallReport", "compare"]

_QUERIES: Final = 100
_WORDS: Final = 8


@dataclass(frozen=True)
class RecallReport:
    """What an index finds of that which an exact search finds.

    Attributes:
        mode: By what it was searched.
        queries: How many texts were searched for.
        k: How many hits were compared.
        recall: The share of the exact hits that it found, on average.
        same: The share of queries with the same hits in the same order.
        milliseconds: How long it took for a query, at the median.
        local: How long it took for one in a local index in memory.

    Example:
        >>> print(RecallReport("dense", 100, 10, 0.987, 0.9, 6.0, 2.0))
        dense: recall@10 0.987 of 100 queries, 90% in the same order; 6.0 ms a query, 3.0 times local
    """

    mode: str
    queries: int
    k: int
    recall: float
    same: float
    milliseconds: float
    local: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.mode}: recall@{self.k} {self.recall:.3f} of {self.queries} queries, "
            f"{self.same:.0%} in the same order; {self.milliseconds:.1f} ms a query, "
            f"{self.milliseconds / self.local:.1f} times local"
        )


def compare(
    index: StoredIndex, model: Embedder | None, *, k: int = 10, on_progress: Progress | None = None
) -> list[RecallReport]:
    """Compare an index with an exact one of the same documents and vectors in memory.

    The queries are the last words of documents, which are chosen evenly in order of ID.

    Args:
        index: The index, opened with its model.
        model: The model; None for words alone.
        k: How many hits are compared.
        on_progress: Called with the queries asked, and all of them.

    Raises:
        ConfigError: If the index is empty.

    Example:
        >>> from mrag.index.document_index import DocumentIndex
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> _ = index.sync([("ex:a", "a red shoe"), ("ex:b", "a blue coat")], extra={})
        >>> [report] = compare(index, None)
        >>> report.mode, report.recall
        ('bm25', 1.0)
    """
    documents = list(documents_of(index))
    if not documents:
        raise ConfigError("The index is empty, so there is nothing to compare.")
    chosen = documents[:: max(1, len(documents) // _QUERIES)][:_QUERIES]
    texts = [" ".join(text.split()[-_WORDS:]) for _, text in chosen]
    backend = LocalBackend(None)
    copy_index(index, backend, "copy", model=model)
    local = backend.open("copy", embedder=None)
    modes: tuple[Mode, ...] = ("bm25",) if index.embedder_name is None else ("bm25", "dense", "hybrid")
    found = []
    for at, mode in enumerate(modes):
        found.append(_compared(index, local, texts, mode, k))
        if on_progress is not None:
            on_progress((at + 1) * len(texts), len(modes) * len(texts))
    return found


def _compared(
    index: StoredIndex, local: DocumentIndex, texts: Sequence[str], mode: Mode, k: int
) -> RecallReport:
    # The local index looks through signs of the vectors first; what it may miss so is not missed here.
    exact = local.with_dense(DenseParams(prefilter_from=sys.maxsize))
    shares, same = [], []
    times: tuple[list[float], ...] = ([], [], [])
    for text in texts:
        hits = []
        for searched, spent in zip((index, exact, local), times, strict=True):
            started = time.perf_counter()
            hits.append([match.doc_id for match in searched.search(text, k, mode=mode)])
            spent.append(1000 * (time.perf_counter() - started))
        ours, theirs, _ = hits
        shares.append(len({*ours} & {*theirs}) / len(theirs) if theirs else 1.0)
        same.append(ours == theirs)
    told = (median(times[0]), median(times[2]))
    return RecallReport(mode, len(texts), k, fmean(shares), fmean(same), *told)
