"""The embedding model of an open index."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.local_models import unit
from mrag.index.segments.files import DocumentFolder, DocumentManifest
from mrag.index.segments.pending import PendingVectors, Progress, embed_missing, fitting
from mrag.index.segments.state import DocumentState, Vectors
from mrag.index.segments.writing import check_model, needed_model

__all__ = ["IndexModel"]


class IndexModel:
    """Embeds questions, and new texts but once.

    Args:
        embedder: The model; None for none.
        folder: Where vectors are kept until they are committed; None for memory.
    """

    def __init__(self, embedder: Embedder | None, folder: DocumentFolder | None) -> None:
        self._embedder = embedder
        self._path = None if folder is None else str(folder.path)
        self.pending = PendingVectors(folder)

    def check(self, manifest: DocumentManifest) -> None:
        """Look whether an index was built with this model.

        Raises:
            IndexMismatch: If it was built with another, or with none.
        """
        check_model(manifest.embedder, self._embedder, self._path)

    def query_vector(self, state: DocumentState, text: str) -> npt.NDArray[np.float32]:
        """Embed a question.

        Raises:
            ConfigError: If the index has no vectors, or was opened without its model.
            IndexMismatch: If the vector has other dimensions than the index.
        """
        return fitting(unit(self._of(state).embed_query(text)), state.manifest.dim)

    def embedded(self, state: DocumentState, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts that do not enter the index, shape (len(texts), dim).

        Raises:
            ConfigError: If the index has no vectors, or was opened without its model.
        """
        return self._of(state).embed_documents(texts)

    def vectors(
        self, state: DocumentState, texts: Collection[str], on_progress: Progress, batch: int
    ) -> Vectors | None:
        """Return the vectors of texts by digest, embedding those that are new; None in an index without.

        Args and errors are those of `embed_missing`.
        """
        if state.manifest.embedder is None:
            on_progress(len(texts), len(texts))
            return None
        if not texts:
            on_progress(0, 0)
            return {}
        model, dim = self._of(state), state.manifest.dim
        self.pending.load(model.name)
        return embed_missing(
            texts, state.known_vectors, model, self.pending, dim=dim, batch=batch, on_progress=on_progress
        )

    def committed(self, vectors: Vectors) -> None:
        """Forget the pending vectors if all of them are in the index now."""
        if self.pending.vectors.keys() <= vectors.keys():
            self.pending.clear()

    def _of(self, state: DocumentState) -> Embedder:
        return needed_model(state.manifest.embedder, self._embedder)
