"""What every index of texts has in common, wherever it is kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_
from mrag.index.bm25 import Bm25Params
from mrag.index.known_items import FusionWeight
from mrag.index.segments.changes import SyncReport
from mrag.index.segments.matches import Match, Mode
from mrag.index.segments.pending import Progress

__all__ = ["StoredIndex"]


class StoredIndex(ABC):
    """An index of texts by document ID, wherever it is kept."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of documents."""

    @abstractmethod
    def __contains__(self, doc_id: object) -> bool: ...

    @property
    @abstractmethod
    def doc_ids(self) -> list[str]:
        """The IDs of all documents, sorted."""

    @property
    @abstractmethod
    def extra(self) -> dict[str, Any]:
        """The JSON kept with the index; a copy."""

    @property
    @abstractmethod
    def embedder_name(self) -> str | None:
        """Name of the embedding model that the index was built with; None for BM25 alone."""

    @property
    @abstractmethod
    def bm25_params(self) -> Bm25Params:
        """The knobs of BM25 that the index was built with."""

    @abstractmethod
    def refresh(self) -> bool:
        """Take over what others have committed, and return whether there was something.

        Raises:
            MissingIndex: If it has been removed.
        """

    @abstractmethod
    def search(
        self,
        text: str,
        k: int,
        *,
        mode: Mode = "hybrid",
        allowed: Collection[str] | None = None,
        weight: float = 0.5,
    ) -> list[Match]:
        """Find the documents nearest to a text, best first, ties by ID; see `DocumentIndex.search`."""

    @abstractmethod
    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""

    @abstractmethod
    def vectors_of(self, ids: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents; none of those that have none."""

    @abstractmethod
    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts by digest; none of those that it does not know."""

    @abstractmethod
    def differing(self, documents: Iterable[tuple[str, str]]) -> int:
        """Return how many documents `sync` would add, change or delete."""

    @abstractmethod
    def learnt_weight(self) -> FusionWeight:
        """Return which share of the vectors serves `hybrid` best."""

    @abstractmethod
    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        """Delete documents, and return how many there were; `extra` and the errors are as for `sync`."""

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
