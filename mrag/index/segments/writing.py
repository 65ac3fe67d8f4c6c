"""What every index of texts has in common, wherever it is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from mrag.errors import ConfigError, IndexError_, IndexMismatch
from mrag.index.embedding.embedders import Embedder
from mrag.index.segments.changes import SyncReport
from mrag.index.segments.pending import Progress

__all__ = ["TextIndex", "check_model", "needed_model"]


class TextIndex(ABC):
    """An index of texts by document ID."""

    @abstractmethod
    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""

    @abstractmethod
    def _update(
        self,
        documents: Iterable[tuple[str, str]],
        whole: bool,
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None,
        batch: int,
    ) -> SyncReport:
        """Take in documents; if they are the whole index, delete all others."""

    def text_of(self, doc_id: str) -> str:
        """Return the text of a document.

        Raises:
            IndexError_: If there is no such document.
        """
        found = self.texts_of([str(doc_id)])
        if not found:
            hint = "Bring the index up to date, or check the ID; IRIs are written whole."
            raise IndexError_("The index has no such document.", term=str(doc_id), hint=hint)
        return found[str(doc_id)]

    def sync(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None = None,
        batch: int = 256,
    ) -> SyncReport:
        """Make the index hold exactly these documents; embed only new texts.

        The change becomes visible in one step at the end. An interrupted run loses at most one
        batch: the next `sync` finds the vectors that were made, and vectors of texts known under
        another ID are taken over too.

        Args:
            documents: IDs and texts; each ID once.
            extra: JSON to keep with the index; None keeps what is there.
            on_progress: Called with the number of new texts that have vectors, and their number.
            batch: Texts that the model gets at once, 1 or more.

        Returns:
            What changed.

        Raises:
            IndexError_: If an ID occurs twice, another writer is at work, or the folder cannot be
                written; the index is then as before.
            IndexMismatch: If the model does not fit, see `open`.
            ConfigError: If `extra` is not JSON, or a document is not a pair of strings.
            ModelError: If the model fails.
        """
        return self._update(documents, True, extra, on_progress, batch)

    def add(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        extra: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
        batch: int = 256,
    ) -> SyncReport:
        """Add documents, or replace those whose ID is known; the others stay. All else is as for `sync`."""
        return self._update(documents, False, extra, on_progress, batch)


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
