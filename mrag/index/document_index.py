"""An index of texts by document ID: BM25, vectors, and both together, in a folder or in memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from mrag.errors import ConfigError, IndexError_, IndexMismatch
from mrag.index.bm25 import Bm25Params
from mrag.index.dense import DenseParams
from mrag.index.embedders import Embedder
from mrag.index.local_models import unit
from mrag.index.segments.files import DocumentFolder, DocumentManifest
from mrag.index.segments.matches import Match, Mode, search
from mrag.index.segments.pending import PendingVectors, Progress, embed_missing, fitting
from mrag.index.segments.rows import Mask
from mrag.index.segments.segment import digest
from mrag.index.segments.state import DocumentState, Vectors, as_json, compared

__all__ = ["DocumentIndex", "Match", "Mode", "SyncReport"]


@dataclass(frozen=True)
class SyncReport:
    """What a `sync` did: numbers of documents, and the seconds it took."""

    added: int
    changed: int
    deleted: int
    unchanged: int
    seconds: float


class DocumentIndex:
    """Documents with their texts, found by words (BM25), by meaning (vectors), or by both.

    Made by `create` or `open`. Searches may run in threads while one writes; they see the state
    before or after a change, never half of it. In a folder, one process writes at a time and any
    number read; a reader sees what others wrote once it calls `refresh`. Results depend on the
    documents alone, not on the order in which they came or how they lie in files.

    Example:
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> report = index.sync([("ex:1", "red leather shoes"), ("ex:2", "a blue coat")], extra={})
        >>> report.added, len(index)
        (2, 2)
        >>> [match] = index.search("a shoe of leather", 1)
        >>> match.doc_id, match.terms
        ('ex:1', ('shoe', 'leather'))
    """

    def __init__(
        self, state: DocumentState, folder: DocumentFolder | None, embedder: Embedder | None
    ) -> None:
        """Use `create` or `open`."""
        self._state = state
        self._folder = folder
        self._embedder = embedder
        self._writer = threading.RLock()
        self._pending = PendingVectors(folder)
        self._replacing = False

    @classmethod
    def create(
        cls,
        path: Path | str | None,
        *,
        embedder: Embedder | None,
        bm25: Bm25Params | None = None,
        dense: DenseParams | None = None,
        extra: Mapping[str, Any] | None = None,
        replace: bool = False,
    ) -> DocumentIndex:
        """Begin an index. In a folder there is none before the first `sync` or `add` has ended.

        Args:
            path: The folder, made if need be; None for an index in memory.
            embedder: The embedding model; None for BM25 alone.
            bm25: The knobs of BM25, kept with the index.
            dense: The knobs of vector search, of this object.
            extra: JSON to keep with the index.
            replace: If there is an index already, keep it until the first `sync` or `add`, which
                takes its place in one step.

        Raises:
            IndexError_: If there is an index already, or the folder cannot be written.
            ConfigError: If `extra` is not JSON.
        """
        name = None if embedder is None else embedder.name
        manifest = DocumentManifest(embedder=name, bm25=bm25 or Bm25Params(), extra=as_json(extra or {}))
        folder = None if path is None else DocumentFolder(Path(path))
        index = cls(DocumentState.of(manifest, [], None, dense or DenseParams()), folder, embedder)
        if folder is not None:
            with folder.locked():
                index._replacing = folder.exists()
                if index._replacing and not replace:
                    hint = "Open it, or create with replace=True."
                    raise IndexError_("There is an index already.", file=str(folder.path), hint=hint)
        return index

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        embedder: Embedder | None,
        dense: DenseParams | None = None,
        thorough: bool = False,
    ) -> DocumentIndex:
        """Open an index. Of its files each block is read, and checked, when it is first needed.

        Args:
            path: The folder.
            embedder: The model the index was built with. None opens any index, for BM25 alone if it
                has vectors, and then for reading only.
            dense: The knobs of vector search, of this object.
            thorough: Whether to check all of it at once.

        Raises:
            MissingIndex: If there is no index.
            IndexMismatch: If it was built with another model, with none, or by another version.
            DamagedIndex: If it is damaged; also by whatever first needs a damaged block.
        """
        folder = DocumentFolder(Path(path))
        if thorough:
            folder.verify()
        index = cls(DocumentState.of(*folder.read(), dense or DenseParams()), folder, embedder)
        index._check_model(index._state.manifest)
        return index

    def __len__(self) -> int:
        return self._state.rows.count

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and self._state.rows.row_of(str(doc_id)) is not None

    @property
    def doc_ids(self) -> list[str]:
        """The IDs of all documents, sorted."""
        return sorted(self._state.rows.by_id)

    @property
    def extra(self) -> dict[str, Any]:
        """The JSON kept with the index; a copy."""
        return as_json(self._state.manifest.extra)

    @property
    def embedder_name(self) -> str | None:
        """Name of the embedding model that the index was built with; None for BM25 alone."""
        return self._state.manifest.embedder

    @property
    def bm25_params(self) -> Bm25Params:
        """The knobs of BM25 that the index was built with."""
        return self._state.manifest.bm25

    @property
    def generation(self) -> int:
        """Number of commits so far; rises with each."""
        return self._state.manifest.generation

    @property
    def path(self) -> Path | None:
        """The folder; None in memory."""
        return None if self._folder is None else self._folder.path

    def text_of(self, doc_id: str) -> str:
        """Give the text of a document.

        Raises:
            IndexError_: If there is no such document.
        """
        state = self._state
        row = state.rows.row_of(str(doc_id))
        if row is None:
            hint = "Bring the index up to date, or check the ID; IRIs are written whole."
            raise IndexError_("The index has no such document.", term=str(doc_id), hint=hint)
        segment, at = state.place(row)
        return segment.texts[at]

    def refresh(self) -> bool:
        """Take over what another process has committed.

        Returns:
            Whether there was something.

        Raises:
            MissingIndex, IndexMismatch, DamagedIndex: As `open` does.
        """
        if self._folder is None or self._replacing or not (self.generation or self._folder.exists()):
            return False
        if self._folder.committed().generation == self.generation:
            return False
        state = DocumentState.of(*self._folder.read(), self._state.dense_params)
        self._check_model(state.manifest)
        self._state = state
        return True

    def search(
        self,
        text: str,
        k: int,
        *,
        mode: Mode = "hybrid",
        allowed: Collection[str] | None = None,
        weights: tuple[float, float] = (1.0, 1.0),
    ) -> list[Match]:
        """Find the documents nearest to a text.

        Args:
            text: What is sought, in words.
            k: How many documents at most, 1 or more.
            mode: `bm25` by words, `dense` by vectors, `hybrid` by both: reciprocal rank fusion of the
                best max(100, 10 k) of each. In an index without vectors, `hybrid` has one ranker.
            allowed: IDs of the documents that may be found; all if left out.
            weights: Of `hybrid`, the weight of BM25 and of the vectors.

        Returns:
            Matches, best first, ties by ID. The same documents and query give the same list.

        Raises:
            ConfigError: If k or the mode cannot be used, or vectors are asked for that the index has
                not or for which it was opened without model.
            IndexMismatch: If the model gives vectors of another dimension.
            ModelError: If the model fails.
        """
        state = self._state
        if k < 1 or mode not in get_args(Mode):
            hint = "k is 1 or more; mode is hybrid, bm25 or dense."
            raise ConfigError(f"Cannot search with k={k} and mode={mode!r}.", hint=hint)
        vector = None
        if mode == "dense" or (mode == "hybrid" and state.manifest.embedder is not None):
            vector = fitting(unit(self._model(state).embed_query(text)), state.manifest.dim)
        return search(state, text, vector, k, mode=mode, allowed=allowed, weights=weights)

    def explain(self, text: str, doc_id: str) -> list[tuple[str, float]]:
        """Tell what each term of a query adds to the BM25 score of a document; see `Bm25Index.explain`."""
        return self._state.bm25.explain(text, str(doc_id))

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
        started = time.perf_counter()
        with self._writing() as state:
            fresh, same, changed = compared(state, documents, state.rows.by_id.get)
            kept = np.zeros(state.rows.total, np.bool_)
            kept[same] = True
            deleted = state.rows.count - len(same) - len(changed)
            self._change(state, kept, fresh, extra, on_progress, batch)
            # What an interrupted run has left is of no more use, whether this one took it up or not.
            self._pending.clear()
        added = len(fresh) - len(changed)
        return SyncReport(added, len(changed), deleted, len(same), time.perf_counter() - started)

    def add(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        extra: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
        batch: int = 256,
    ) -> SyncReport:
        """Add documents, or replace those whose ID is known; the others stay.

        Args, returns and errors are those of `sync`.
        """
        started = time.perf_counter()
        with self._writing() as state:
            fresh, same, changed = compared(state, documents, state.rows.row_of)
            kept = state.rows.live.copy()
            kept[changed] = False
            self._change(state, kept, fresh, extra, on_progress, batch)
        added = len(fresh) - len(changed)
        return SyncReport(added, len(changed), 0, len(same), time.perf_counter() - started)

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        """Delete documents; unknown IDs are passed over.

        Args:
            ids: Their IDs.
            extra: JSON to keep with the index; None keeps what is there.

        Returns:
            How many there were.

        Raises:
            IndexError_: If another writer is at work or the folder cannot be written.
            ConfigError: If `extra` is not JSON.
        """
        with self._writing() as state:
            rows = state.rows.without(map(str, ids))
            self._change(state, rows.live, {}, extra)
            return state.rows.count - rows.count

    def _check_model(self, manifest: DocumentManifest) -> None:
        asked = None if self._embedder is None else self._embedder.name
        if asked is not None and asked != manifest.embedder:
            built = manifest.embedder or "no model, for BM25 alone"
            raise IndexMismatch(
                f"The index was built with {built}, not with {asked}.",
                file=None if self.path is None else str(self.path),
                hint="Open it with the model it was built with, or build it anew with the other.",
            )

    def _model(self, state: DocumentState) -> Embedder:
        if state.manifest.embedder is None:
            hint = "Search with mode bm25, or build the index with a model, such as minilm."
            raise ConfigError("The index has no vectors.", hint=hint)
        if self._embedder is None:
            hint = "Open it with that model, or search with mode bm25."
            raise ConfigError(f"The index was opened without its model {state.manifest.embedder}.", hint=hint)
        return self._embedder

    @contextmanager
    def _writing(self) -> Iterator[DocumentState]:
        with self._writer:
            if self._folder is None:
                yield self._state
                return
            with self._folder.locked():
                self.refresh()
                if not self._replacing:
                    self._folder.sweep(self._state.manifest.files)
                yield self._state

    def _change(
        self,
        state: DocumentState,
        kept: Mask,
        fresh: Mapping[str, str],
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None = None,
        batch: int = 256,
    ) -> None:
        extra = as_json(state.manifest.extra if extra is None else extra)
        vectors: Vectors | None = None
        if state.manifest.embedder is not None:
            vectors = self._vectors(state, fresh, on_progress or (lambda done, total: None), batch)
        elif on_progress is not None:
            on_progress(len(fresh), len(fresh))
        same = not fresh and extra == state.manifest.extra and np.array_equal(kept, state.rows.live)
        unwritten = self._folder is not None and not self.generation
        if same and not self._replacing and not unwritten:
            return
        with nullcontext() if self._folder is None else self._folder.refusals():
            self._state = state.changed(kept, fresh, vectors, extra=extra, folder=self._folder)
        self._replacing = False
        if self._folder is not None:
            self._folder.sweep(self._state.manifest.files)
        if fresh and vectors is not None and self._pending.vectors.keys() <= vectors.keys():
            self._pending.clear()

    def _vectors(
        self, state: DocumentState, fresh: Mapping[str, str], on_progress: Progress, batch: int
    ) -> Vectors:
        texts = {digest(text): text for text in fresh.values()}
        if not texts:
            on_progress(0, 0)
            return {}
        model = self._model(state)
        self._pending.load(model.name)
        known = state.known_vectors(texts.keys())
        return embed_missing(
            texts, known, model, self._pending, dim=state.manifest.dim, batch=batch, on_progress=on_progress
        )
