"""An index whose documents are in an engine: the same methods and results as of one in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.index.backends.engines.rows import EngineState, IndexChange, IndexView, Replaced, Shelf
from mrag.index.backends.engines.search import search
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.local_models import unit
from mrag.index.known_items import FusionWeight
from mrag.index.segments.changes import Documents, SyncReport, gathered
from mrag.index.segments.files import DocumentFolder, DocumentManifest
from mrag.index.segments.matches import Match, Mode, check_search
from mrag.index.segments.model import check_model, needed_model
from mrag.index.segments.pending import PendingVectors, Progress, embed_missing, fitting
from mrag.index.segments.segment import digest
from mrag.index.segments.state import as_json
from mrag.index.segments.writing import StoredIndex
from mrag.storage.sorting import SortedRows
from mrag.storage.files import make_folder

__all__ = ["EngineIndex"]

T = TypeVar("T")

_TRIES = 5


class EngineIndex(StoredIndex):
    """Documents with their texts in an engine, found by words, by meaning, or by both.

    Args:
        shelf: Its place in the engine.
        manifest: What it is, or is to become.
        embedder: The embedding model; None to search by words alone, or only to read.
        pending: Where vectors are kept until they are committed; None for memory.
        anew: Whether the next change replaces what is there.
    """

    def __init__(
        self,
        shelf: Shelf,
        manifest: DocumentManifest,
        embedder: Embedder | None,
        *,
        pending: Path | None = None,
        anew: bool = False,
    ) -> None:
        self._shelf = shelf
        self._manifest = manifest
        self._embedder = embedder
        self._beside = pending
        self._pending = PendingVectors(None if pending is None else DocumentFolder(pending))
        self._anew = anew
        check_model(manifest.embedder, embedder)

    @classmethod
    def open(cls, shelf: Shelf, name: str, embedder: Embedder | None, pending: Path | None) -> EngineIndex:
        """Open the index on a shelf.

        Raises:
            MissingIndex: If there is none.
            IndexMismatch: If it was built with another model, or by another version.
        """
        state = shelf.state()
        if state is None:
            raise MissingIndex(f"There is no similarity index {name!r}.", hint="Build it with `mrag index`.")
        return cls(shelf, state.manifest, embedder, pending=pending)

    @classmethod
    def create(
        cls,
        shelf: Shelf,
        embedder: Embedder | None,
        bm25: Bm25Params,
        pending: Path | None,
        *,
        replace: bool,
    ) -> EngineIndex:
        """Begin an index on a shelf.

        Raises:
            IndexError_: If there is one already and it is not to be replaced.
            ConfigError: If BM25 is to weigh terms in a way that engines do not.
        """
        if not replace and shelf.state() is not None:
            raise IndexError_("There is an index already.", hint="Open it, or create with replace=True.")
        if bm25.idf != "lucene":
            raise ConfigError(f"An engine cannot weigh terms by idf {bm25.idf!r}.", hint="Use `lucene`.")
        manifest = DocumentManifest(embedder=None if embedder is None else embedder.name, bm25=bm25)
        return cls(shelf, manifest, embedder, pending=pending, anew=True)

    def __len__(self) -> int:
        return self._manifest.documents

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and bool(self.texts_of([doc_id]))

    @property
    def doc_ids(self) -> list[str]:
        """The IDs of all documents, sorted."""
        return sorted(self._read(lambda view: view.digests()) or ())

    @property
    def extra(self) -> dict[str, Any]:
        """The JSON kept with the index; a copy."""
        return as_json(self._manifest.extra)

    @property
    def embedder_name(self) -> str | None:
        """Name of the embedding model that the index was built with; None for BM25 alone."""
        return self._manifest.embedder

    @property
    def bm25_params(self) -> Bm25Params:
        """The knobs of BM25 that the index was built with."""
        return self._manifest.bm25

    def refresh(self) -> bool:
        """Take over what others have committed, and return whether there was something.

        Raises:
            MissingIndex: If it has been removed.
        """
        before = self._manifest
        self._read(lambda view: view.state)
        return self._manifest != before

    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""
        wanted = list(map(str, ids))
        return self._read(lambda view: view.texts(wanted)) or {}

    def vectors_of(self, ids: Iterable[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents; none of those that have none."""
        if self.embedder_name is None:
            return {}
        wanted = list(map(str, ids))
        return self._read(lambda view: view.vectors(wanted)) or {}

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts by digest; none of those that it does not know."""
        wanted = frozenset(digests) if self.embedder_name is not None else frozenset()

        def ask(view: IndexView) -> dict[bytes, npt.NDArray[np.float32]]:
            holders = {doc_id: key for doc_id, key in view.digests().items() if key in wanted}
            ids = sorted({key: doc_id for doc_id, key in sorted(holders.items(), reverse=True)}.values())
            return {holders[doc_id]: vector for doc_id, vector in view.vectors(ids).items()}

        return (self._read(ask) if wanted else None) or {}

    def differing(self, documents: Iterable[tuple[str, str]]) -> int:
        """Return how many documents `sync` would add, change or delete."""
        known = self._read(lambda view: view.digests()) or {}
        there, count = 0, 0
        for doc_id, text in documents:
            kept = known.get(doc_id)
            there += kept is not None
            count += kept != digest(text)
        return count + len(known) - there

    def learnt_weight(self) -> FusionWeight:
        """Return the shares as they are: to learn them takes the rankings of many made-up questions."""
        kept = FusionWeight.from_json(self._manifest.extra.get("fusion"))
        return replace(kept, documents=len(self), changed=0)

    def search(
        self,
        text: str,
        k: int,
        *,
        mode: Mode = "hybrid",
        allowed: Collection[str] | None = None,
        weight: float = 0.5,
    ) -> list[Match]:
        """Find the documents nearest to a text; see `DocumentIndex.search`."""
        check_search(k, mode, weight)
        vector = None
        if mode == "dense" or (mode == "hybrid" and self.embedder_name is not None):
            vector = fitting(unit(self._model().embed_query(text)), self._manifest.dim)
        found = self._read(
            lambda view: search(view, text, vector, k, mode=mode, allowed=allowed, weight=weight)
        )
        return found or []

    def _update(
        self,
        documents: Iterable[tuple[str, str]],
        whole: bool,
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None,
        batch: int,
    ) -> SyncReport:
        started = time.perf_counter()
        with self._shelf.writing():
            before = None if self._anew else self._shelf.state()
            known: dict[str, bytes] = {}
            if before is not None:
                with self._shelf.reading() as view:
                    known = view.digests()
            stays: set[str] = set()
            changed: set[str] = set()

            def differing(given: Documents) -> Iterator[tuple[str, str]]:
                for doc_id, text in given:
                    if known.get(doc_id) == digest(text):
                        stays.add(doc_id)
                        continue
                    if doc_id in known:
                        changed.add(doc_id)
                    yield doc_id, text

            with gathered(documents) as given, SortedRows(differing(given)) as fresh:
                gone = sorted(known.keys() - stays if whole else changed)
                if whole and before is not None and before.drifted:
                    self._commit(None, known, given, [], extra, on_progress, batch)
                else:
                    self._commit(before, known, fresh, gone, extra, on_progress, batch)
                added = len(fresh) - len(changed)
        seconds = time.perf_counter() - started
        return SyncReport(added, len(changed), len(gone) - len(changed), len(stays), seconds)

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        """Delete documents, and return how many there were; `extra` is as for `sync`."""
        with self._shelf.writing():
            with self._shelf.reading() as view:
                wanted = sorted(set(map(str, ids)))
                gone = sorted(view.texts(wanted)) if wanted else []
                before = view.state
            with SortedRows[tuple[str, str]](()) as none:
                self._commit(before, {}, none, gone, extra, None, 1)
        return len(gone)

    # -- inside ------------------------------------------------------------------------------------

    def _read(self, ask: Callable[[IndexView], T]) -> T | None:
        """Ask the newest commit; None before the first."""
        if self._anew and self._shelf.state() is None:
            return None
        for _ in range(_TRIES):
            try:
                with self._shelf.reading() as view:
                    if not self._anew:
                        self._take(view.state)
                    return ask(view)
            except Replaced as error:
                last = error
        raise last

    def _take(self, state: EngineState) -> None:
        if self._embedder is not None and state.manifest.embedder != self._embedder.name:
            raise IndexMismatch(
                f"The index has been built anew with {state.manifest.embedder or 'no model'}.",
                hint="Open it with that model.",
            )
        self._manifest = state.manifest

    def _model(self) -> Embedder:
        return needed_model(self.embedder_name, self._embedder)

    def _commit(
        self,
        before: EngineState | None,
        known: Mapping[str, bytes],
        fresh: Documents,
        gone: list[str],
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None,
        batch: int,
    ) -> None:
        manifest = self._manifest if before is None else before.manifest
        kept = as_json(manifest.extra if extra is None else extra)
        if before is not None and not fresh and not gone and kept == manifest.extra:
            return
        vectors = self._vectors(manifest, known, fresh, on_progress or (lambda *_: None), batch)
        dim = next((len(vector) for vector in (vectors or {}).values()), manifest.dim)
        generation = (0 if before is None else before.manifest.generation) + 1
        after = replace(manifest, extra=kept, dim=dim, generation=generation)
        self._manifest = self._shelf.commit(IndexChange(before, after, fresh, vectors, gone)).manifest
        self._anew = False
        self._pending.clear()

    def _vectors(
        self,
        manifest: DocumentManifest,
        known: Mapping[str, bytes],
        fresh: Documents,
        on_progress: Progress,
        batch: int,
    ) -> Mapping[bytes, npt.NDArray[np.float32]] | None:
        if manifest.embedder is None:
            on_progress(len(fresh), len(fresh))
            return None
        if not fresh:
            on_progress(0, 0)
            return {}
        there = set(known.values())

        def stored(keys: Collection[bytes]) -> Mapping[bytes, npt.NDArray[np.float32]]:
            return self.known_vectors([key for key in keys if key in there])

        model = self._model()
        if self._beside is not None:
            make_folder(self._beside)
        self._pending.load(model.name)
        pending, dim = self._pending, manifest.dim
        return embed_missing(
            (text for _, text in fresh), stored, model, pending,
            dim=dim, batch=batch, on_progress=on_progress,
        )  # fmt: skip
