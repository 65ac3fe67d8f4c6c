"""From one backend to another, without embedding again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mrag.errors import ConfigError, DamagedIndex
from mrag.index.backends.base import IndexBackend, StoredIndex, documents_of
from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.local_models import Vectors
from mrag.index.segments.changes import SyncReport
from mrag.index.segments.pending import Progress

if TYPE_CHECKING:
    from mrag.index.similarity import SimilarityIndexes

__all__ = ["copy_index", "copy_to"]

_BATCH = 1000


class _Kept:
    """Stands for the model of an index, and gives the vectors that it has of its texts."""

    def __init__(self, source: StoredIndex, documents: dict[str, str], model: Embedder | None) -> None:
        self.name = source.embedder_name or ""
        self._source = source
        self._model = model
        self._holder = {text: doc_id for doc_id, text in sorted(documents.items(), reverse=True)}

    @property
    def dim(self) -> int:
        return len(self.embed_documents([next(iter(self._holder))])[0])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        ids = [self._holder[text] for text in texts]
        found = self._source.vectors_of(ids)
        if missing := [doc_id for doc_id in ids if doc_id not in found]:
            raise DamagedIndex(
                "The index has no vector of one of its documents.",
                term=missing[0],
                hint="Bring it up to date with `mrag index`, then copy it.",
            )
        return np.stack([found[doc_id] for doc_id in ids])

    def embed_query(self, text: str) -> Vectors:
        if self._model is None:
            raise ConfigError("The copy was made without its model.", hint="Open it with that model.")
        return self._model.embed_query(text)


def copy_index(
    source: StoredIndex,
    target: IndexBackend,
    name: str,
    *,
    model: Embedder | None = None,
    on_progress: Progress | None = None,
) -> SyncReport:
    """Copy an index to a backend, in place of one of that name there.

    Args:
        source: The index.
        target: Where the copy goes.
        name: What it is called there.
        model: The model of the index, if the copy is to be searched before it is opened again.
        on_progress: Called with the vectors that are copied, and all of them.

    Raises:
        IndexError_: If one of the two fails; what the target had is then as before.

    Example:
        >>> from mrag.index.backends.local import LocalBackend
        >>> from mrag.index.bm25 import Bm25Params
        >>> index = LocalBackend(None).create("main", embedder=None, bm25=Bm25Params())
        >>> _ = index.sync([("ex:a", "a red shoe")], extra={})
        >>> other = LocalBackend(None)
        >>> copy_index(index, other, "copy").added, other.names()
        (1, ['copy'])
    """
    documents = dict(documents_of(source))
    kept = None if source.embedder_name is None else _Kept(source, documents, model)
    copy = target.create(name, embedder=kept, bm25=source.bm25_params, replace=True)
    return copy.sync(documents.items(), extra=source.extra, on_progress=on_progress, batch=_BATCH)


def copy_to(
    indexes: SimilarityIndexes, name: str, backend: str | IndexBackend, *, on_progress: Progress | None = None
) -> SyncReport:
    """Copy an index of a graph to another backend without embedding again, and use the copy from then on.

    What it was copied from stays; `mrag index --backend` goes back to it.

    Args:
        indexes: The indexes of the graph.
        name: The index.
        backend: Where the copy goes, by URL or as an object.
        on_progress: Called with the vectors that are copied, and all of them.

    Raises:
        MissingIndex: If there is no such index.
        ConfigError: If it is there already, or it is an index of the server's own.

    Example:
        >>> import mrag
        >>> from mrag.index.backends.local import LocalBackend
        >>> kg = mrag.demo(model="none")
        >>> copy_to(kg.searcher, "main", LocalBackend(None)).added == kg.searcher.info("main").documents
        True
        >>> kg.close()
    """
    source, target = indexes.stored(name), indexes.places.resolved(backend)
    if target is indexes.places.of(name):
        raise ConfigError(f"The index {name!r} is there already.")
    report = copy_index(source, target, name, on_progress=on_progress)
    indexes.placed(name, target)
    return report
