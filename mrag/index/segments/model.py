"""The embedding model of an open index."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexMismatch
from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.local_models import unit
from mrag.index.segments.files import DocumentFolder, DocumentManifest
from mrag.index.segments.pending import PendingVectors, Progress, embed_missing, fitting
from mrag.index.segments.state import DocumentState, Vectors

__all__ = ["IndexModel", "check_model", "needed_model"]


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


def check_model(built: str | None, model: Embedder | None, file: str | None = None) -> None:
    """Look whether an index was built with a model.

    Args:
        built: Name of the model that it was built with; None for BM25 alone.
        model: The model that it is opened with; None to read it, or to search it by words.
        file: Where it is kept.

    Raises:
        IndexMismatch: If it was built with another, or with none.
    """
    if model is not None and model.name != built:
        raise IndexMismatch(
            f"The index was built with {built or 'no model, for BM25 alone'}, not with {model.name}.",
            file=file,
            hint="Open it with the model it was built with, or build it anew with the other.",
        )


def needed_model(built: str | None, model: Embedder | None) -> Embedder:
    """Return the model of an index, for what cannot be done without.

    Raises:
        ConfigError: If the index has no vectors, or was opened without its model.
    """
    if built is None:
        hint = "Search with mode bm25, or build the index with a model, such as minilm."
        raise ConfigError("The index has no vectors.", hint=hint)
    if model is None:
        hint = "Open it with that model, or search with mode bm25."
        raise ConfigError(f"The index was opened without its model {built}.", hint=hint)
    return model
