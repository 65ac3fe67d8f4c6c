# ruff: noqa: D102 - what implements an interface is described there
"""An index of texts by document ID: BM25, vectors, and both together, in a folder or in memory."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.index.bm25 import Bm25Params
from mrag.index.dense import DenseParams
from mrag.index.embedding import Embedder, EmbeddingHelp, Vectors, unit
from mrag.index.fusion import FusionWeight, candidates, learn_weight, weighted_rows
from mrag.index.rows import Mask, Ranking, digest
from mrag.index.segments import (
    DocumentFolder,
    DocumentManifest,
    Documents,
    DocumentSegment,
    DocumentState,
    PendingVectors,
    Progress,
    SyncReport,
    as_json,
    check_model,
    compare_documents,
    document_folder,
    embed_missing,
    fitting,
    most_rows,
    needed_model,
    next_state,
)
from mrag.storage.sorting import SortedRows

K = TypeVar("K")
Mode: TypeAlias = Literal["hybrid", "bm25", "dense"]


@dataclass(frozen=True)
class Match:
    """A document found."""

    doc_id: str
    score: float
    bm25_rank: int | None
    dense_rank: int | None
    bm25_score: float | None
    dense_score: float | None
    terms: tuple[str, ...]


@dataclass(frozen=True)
class TextSearch:
    """What is asked of an index; the arguments of `StoredIndex.search`."""

    text: str
    k: int
    mode: Mode = "hybrid"
    allowed: Collection[str] | None = None
    weight: float = 0.5

    def __post_init__(self) -> None:
        if self.k < 1 or self.mode not in get_args(Mode) or not 0 <= self.weight <= 1:
            hint = "k is 1 or more; mode is hybrid, bm25 or dense; a weight lies between 0 and 1."
            asked = f"k={self.k}, mode={self.mode!r} and weight={self.weight}"
            raise ConfigError(f"Cannot search with {asked}.", hint=hint)

    @property
    def depth(self) -> int:
        """How many documents each ranking is to have."""
        return candidates(self.k) if self.mode == "hybrid" else self.k

    def needs_vector(self, embedder: str | None) -> bool:
        """Return whether it is a search by meaning, in an index with this model."""
        return self.mode == "dense" or (self.mode == "hybrid" and embedder is not None)


@dataclass(frozen=True)
class DocumentUpdate:
    """Documents that are to be taken in; if they are the whole index, all others are deleted."""

    documents: Iterable[tuple[str, str]]
    whole: bool
    extra: Mapping[str, Any] | None
    on_progress: Progress
    batch: int
    helped: EmbeddingHelp = field(default_factory=EmbeddingHelp)


def search(state: DocumentState, asked: TextSearch, vector: Vectors | None) -> list[Match]:
    """Rank documents; see `StoredIndex.search`."""
    k, depth = asked.k, asked.depth
    mask = None if asked.allowed is None else state.rows.mask(asked.allowed)
    nothing: Ranking = (np.empty(0, np.int64), np.empty(0, np.float32))
    words = nothing if asked.mode == "dense" else state.bm25.search(asked.text, depth, mask)
    # A text without a known token has no direction, so no document is near to it.
    known = vector is not None and state.rows.count and vector.any()
    # What counts most by both is mostly found by words, so that is compared for certain.
    nearest = state.dense.search(vector, depth, mask, words[0]) if known and vector is not None else nothing
    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.floating]
    rows, scores = words if len(words[0]) else nearest
    if asked.mode == "hybrid":
        shares = (1.0, 0.0) if vector is None else (1 - asked.weight, asked.weight)
        rows, scores = weighted_rows((words, nearest), shares)
        # Only the rows that may be shown are named, to put ties in order of ID.
        least = np.partition(scores, len(scores) - k)[len(scores) - k] if len(scores) > k else 0.0
        shown = [
            (-score, state.rows.id_of(row), row)
            for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
            if score >= least
        ]
        shown.sort()
        rows = np.array([row for _, _, row in shown], np.int64)
        scores = np.array([-score for score, _, _ in shown])
    first, terms = rows[:k].tolist(), state.bm25.matching(asked.text, rows[:k])
    best = zip(map(state.rows.id_of, first), first, scores[:k].tolist(), terms, strict=True)
    ranked = (zip(its.tolist(), theirs.tolist(), strict=True) for its, theirs in (words, nearest))
    return matches(best, *ranked)


def matches(
    best: Iterable[tuple[str, K, float, tuple[str, ...]]],
    words: Iterable[tuple[K, float]],
    nearest: Iterable[tuple[K, float]],
) -> list[Match]:
    """Return documents with their places in two rankings, where they have the names that come second."""
    by_words, by_meaning = (
        {key: (rank, score) for rank, (key, score) in enumerate(ranking, 1)} for ranking in (words, nearest)
    )
    result = []
    for doc_id, key, score, terms in best:
        bm25_rank, bm25_score = by_words.get(key, (None, None))
        dense_rank, dense_score = by_meaning.get(key, (None, None))
        result.append(Match(doc_id, score, bm25_rank, dense_rank, bm25_score, dense_score, terms))
    return result


class StoredIndex(ABC):
    """An index of texts by document ID, wherever it is kept."""

    manifest: DocumentManifest

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of documents."""

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and bool(self.texts_of([doc_id]))

    @property
    @abstractmethod
    def doc_ids(self) -> list[str]:
        """The IDs of all documents, sorted."""

    @property
    def extra(self) -> dict[str, Any]:
        """The JSON kept with the index; a copy."""
        return as_json(self.manifest.extra)

    @property
    def embedder_name(self) -> str | None:
        """Name of the embedding model that the index was built with; None for BM25 alone."""
        return self.manifest.embedder

    @property
    def bm25_params(self) -> Bm25Params:
        """The knobs of BM25 that the index was built with."""
        return self.manifest.bm25

    @abstractmethod
    def refresh(self) -> bool:
        """Take over what others have committed, and return whether there was something."""

    def search(
        self,
        text: str,
        k: int,
        *,
        mode: Mode = "hybrid",
        allowed: Collection[str] | None = None,
        weight: float = 0.5,
    ) -> list[Match]:
        """Find the documents nearest to a text, best first, ties by ID.

        Args:
            text: What is sought, in words.
            k: How many documents at most, 1 or more.
            mode: `bm25` by words, `dense` by vectors, `hybrid` by the weighted mean of the scaled scores of
                the best max(100, 10 k) of each; by words alone in an index without vectors.
            allowed: IDs of the documents that may be found; all if left out.
            weight: Of `hybrid`, the share of the vectors, between 0 and 1.

        Raises:
            ConfigError: If k, the mode or the weight cannot be used, or there are no vectors or no model.
            IndexMismatch: If the model gives vectors of another dimension.
            ModelError: If the model fails.
        """
        return self._search(TextSearch(text, k, mode, allowed, weight))

    @abstractmethod
    def _search(self, asked: TextSearch) -> list[Match]: ...

    @abstractmethod
    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""

    @abstractmethod
    def vectors_of(self, ids: Iterable[str]) -> dict[str, Vectors]:
        """Return the vectors of documents; none of those that have none."""

    @abstractmethod
    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, Vectors]:
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
    def _update(self, update: DocumentUpdate) -> SyncReport:
        """Carry out an update; the seconds are counted by who asks."""

    def _run(self, update: DocumentUpdate) -> SyncReport:
        started = time.perf_counter()
        report = self._update(update)
        return replaced(report, seconds=time.perf_counter() - started)

    def text_of(self, doc_id: str) -> str:
        """Return the text of a document."""
        texts = self.texts_of([str(doc_id)])
        if not texts:
            hint = "Bring the index up to date, or check the ID; IRIs are written whole."
            raise IndexError_("The index has no such document.", term=str(doc_id), hint=hint)
        return texts[str(doc_id)]

    def sync(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        extra: Mapping[str, Any] | None,
        on_progress: Progress | None = None,
        batch: int = 256,
        helped: EmbeddingHelp | None = None,
    ) -> SyncReport:
        """Make the index hold exactly these documents; embed only texts that it has under no ID.

        The change becomes visible in one step at the end. An interrupted run loses at most one batch.

        Args:
            documents: IDs and texts; each ID once.
            extra: JSON to keep with the index; None keeps what is there.
            on_progress: Called with the number of new texts that have vectors, and their number.
            batch: Texts that the model gets at once, 1 or more.
            helped: What embeds texts in this model's place, or has their vectors.

        Raises:
            IndexError_: If an ID occurs twice, another writer is at work, or the folder cannot be written.
            IndexMismatch: If the model does not fit, see `open`.
            ConfigError: If `extra` is not JSON, or a document is not a pair of strings.
            ModelError: If the model fails.
        """
        how = (extra, on_progress or (lambda *_: None), batch, helped or EmbeddingHelp())
        return self._run(DocumentUpdate(documents, True, *how))

    def add(
        self,
        documents: Iterable[tuple[str, str]],
        *,
        extra: Mapping[str, Any] | None = None,
        on_progress: Progress | None = None,
        batch: int = 256,
        helped: EmbeddingHelp | None = None,
    ) -> SyncReport:
        """Add documents, or replace those whose ID is known; the others stay. All else is as for `sync`."""
        how = (extra, on_progress or (lambda *_: None), batch, helped or EmbeddingHelp())
        return self._run(DocumentUpdate(documents, False, *how))


class DocumentIndex(StoredIndex):
    """Documents with their texts, found by words (BM25), by meaning (vectors), or by both.

    Made by `create` or `open`. Searches may run in threads while one writes; they see the state before or
    after a change. In a folder, one process writes at a time and any number read; a reader sees what others
    wrote once it calls `refresh`. Results depend on the documents alone, not on how they came.

    Example:
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> index.sync([("ex:1", "red leather shoes"), ("ex:2", "a blue coat")], extra={}).added
        2
        >>> [(match.doc_id, match.terms) for match in index.search("a shoe of leather", 1)]
        [('ex:1', ('shoe', 'leather'))]
    """

    def __init__(
        self, state: DocumentState, folder: DocumentFolder | None, embedder: Embedder | None
    ) -> None:
        """Use `create` or `open`."""
        self._state = state
        self._folder = folder
        self._writer = threading.RLock()
        self._embedder = embedder
        self._pending = PendingVectors(folder)
        self._last: set[bytes] = set()
        self._replacing = False

    @classmethod
    def create(
        cls,
        path: Path | str | None,
        *,
        embedder: Embedder | None,
        bm25: Bm25Params | None = None,
        dense: DenseParams | None = None,
        replace: bool = False,
    ) -> DocumentIndex:
        """Begin an index. In a folder there is none before the first `sync` or `add` has ended.

        Args:
            path: The folder, made if need be; None for an index in memory.
            embedder: The embedding model; None for BM25 alone.
            bm25: The knobs of BM25, kept with the index.
            dense: The knobs of vector search, of this object.
            replace: Whether the first `sync` or `add` takes the place of an index that is there.

        Raises:
            IndexError_: If there is an index already, or the folder cannot be written.
        """
        name = None if embedder is None else embedder.name
        manifest = DocumentManifest(embedder=name, bm25=bm25 or Bm25Params())
        folder = None if path is None else document_folder(Path(path))
        index = cls(DocumentState.of(manifest, [], None, dense or DenseParams()), folder, embedder)
        if folder is not None:
            with folder.lock():
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
            embedder: The model it was built with; None to read, and to search by words.
            dense: The knobs of vector search, of this object.
            thorough: Whether to check all of it at once.

        Raises:
            MissingIndex: If there is no index.
            IndexMismatch: If it was built with another model, with none, or by another version.
            DamagedIndex: If it is damaged; also by whatever first needs a damaged block.
        """
        folder = document_folder(Path(path))
        if thorough:
            folder.verify()
        index = cls(DocumentState.read(folder, dense or DenseParams()), folder, embedder)
        index._check(index._state.manifest)
        return index

    def __len__(self) -> int:
        return self._state.rows.count

    def __contains__(self, doc_id: object) -> bool:
        return isinstance(doc_id, str) and self._state.rows.row_of(str(doc_id)) is not None

    @property
    def doc_ids(self) -> list[str]:
        return sorted(self._state.rows.by_id)

    @property
    def manifest(self) -> DocumentManifest:  # type: ignore[override]
        """What the index is."""
        return self._state.manifest

    @property
    def generation(self) -> int:
        """Number of commits so far; rises with each."""
        return self._state.manifest.generation

    def refresh(self) -> bool:
        """Take over what another process has committed, and return whether there was something."""
        if self._folder is None or self._replacing or not (self.generation or self._folder.exists()):
            return False
        if self._folder.committed().generation == self.generation:
            return False
        state = DocumentState.read(self._folder, self._state.dense_params)
        self._check(state.manifest)
        self._state = state
        return True

    def _search(self, asked: TextSearch) -> list[Match]:
        state, vector = self._state, None
        if asked.needs_vector(state.manifest.embedder):
            model = needed_model(state.manifest.embedder, self._embedder)
            vector = fitting(unit(model.embed_query(asked.text)), state.manifest.dim)
        return search(state, asked, vector)

    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        state, texts = self._state, {}
        for doc_id in map(str, ids):
            if (row := state.rows.row_of(doc_id)) is not None:
                segment, at = state.place(row)
                texts[doc_id] = segment.texts[at]
        return texts

    def differing(self, documents: Iterable[tuple[str, str]]) -> int:
        state = self._state
        with compare_documents(state, documents, whole=True, folder=self._room) as comparison:
            return len(comparison.fresh) + state.rows.count - comparison.same - comparison.changed

    def vectors_of(self, ids: Iterable[str]) -> dict[str, Vectors]:
        keys = {doc_id: digest(text) for doc_id, text in self.texts_of(ids).items()}
        vectors = self._state.known_vectors(set(keys.values()))
        return {doc_id: vectors[key] for doc_id, key in keys.items() if key in vectors}

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, Vectors]:
        return self._state.known_vectors(digests)

    def learnt_weight(self) -> FusionWeight:
        return learn_weight(self._state, self._embedder)

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        with self._writing() as state:
            rows = state.rows.without(map(str, ids))
            with SortedRows[tuple[str, str]](()) as none:
                self._change(state, rows.live, none, DocumentUpdate((), False, extra, lambda *_: None, 1))
            return state.rows.count - rows.count

    @contextmanager
    def _writing(self) -> Iterator[DocumentState]:
        with self._writer, nullcontext() if self._folder is None else self._folder.lock():
            self.refresh()
            if self._folder is not None and not self._replacing:
                self._folder.sweep({*self._state.manifest.files, *self._pending.files()})
            yield self._state

    def _update(self, update: DocumentUpdate) -> SyncReport:
        with (
            self._writing() as state,
            compare_documents(state, update.documents, whole=update.whole, folder=self._room) as diff,
        ):
            fresh, same, changed = len(diff.fresh), diff.same, diff.changed
            self._change(state, diff.kept, diff.fresh, update)
            if update.whole and state.manifest.embedder is not None:
                self._pending.clear()  # what an interrupted run has left is of no more use
                if self._folder is not None:
                    self._folder.sweep(self._state.manifest.files)
        deleted = state.rows.count - same - changed if update.whole else 0
        return SyncReport(fresh - changed, changed, deleted, same)

    @property
    def _room(self) -> Path | None:
        """Where documents wait that do not fit into memory."""
        return self._folder.path if self._folder is not None and self._folder.path.is_dir() else None

    def _change(self, state: DocumentState, kept: Mask, fresh: Documents, update: DocumentUpdate) -> None:
        extra = as_json(state.manifest.extra if update.extra is None else update.extra)
        same = not fresh and extra == state.manifest.extra and np.array_equal(kept, state.rows.live)
        unwritten = self._folder is not None and not self.generation
        if same and not self._replacing and not unwritten:
            update.on_progress(0, 0)
            return
        self._state = next_state(
            state, kept, len(fresh), self._segments(state, fresh, update), extra=extra, folder=self._folder,
            most=self._most(state, len(fresh)), sealed=self._pending.seal,
        )  # fmt: skip
        self._replacing = False
        embedded = fresh and state.manifest.embedder is not None and not self._pending.earlier
        if embedded and self._pending.vectors.keys() <= self._last:
            self._pending.clear()  # all of them are in the index now
        if self._folder is not None:
            self._folder.sweep({*self._state.manifest.files, *self._pending.files()})

    def _check(self, manifest: DocumentManifest) -> None:
        place = None if self._folder is None else str(self._folder.path)
        check_model(manifest.embedder, self._embedder, place)

    def _most(self, state: DocumentState, new: int) -> int:
        """Return how many rows a segment may have when so many documents come."""
        dim, built = state.manifest.dim, state.manifest.embedder
        if dim is None and new > most_rows(sys.maxsize) and built is not None:
            dim = needed_model(built, self._embedder).dim
        return most_rows(dim)

    def _segments(
        self, state: DocumentState, fresh: Documents, update: DocumentUpdate
    ) -> Iterator[DocumentSegment]:
        """Yield the segments of new documents, embedding those texts that are new."""
        self._last, on_progress = set(), update.on_progress
        model, total = None, len(fresh)
        if not fresh:
            on_progress(0, 0)
        if state.manifest.embedder is not None and fresh:
            model = needed_model(state.manifest.embedder, self._embedder)
            self._pending.load(model.name)
        rest, most, start = iter(fresh), self._most(state, total), 0
        while part := dict(islice(rest, most)):
            vectors = None
            if model is not None:

                def tell(done: int, of: int | None, before: int = start, size: int = len(part)) -> None:
                    on_progress(before + (size if done == of else done), total)

                vectors = embed_missing(
                    part.values(), state.known_vectors, model, self._pending, dim=state.manifest.dim,
                    batch=update.batch, on_progress=on_progress if len(part) == total else tell,
                    helped=update.helped,
                )  # fmt: skip
                self._last = set(vectors)
            start += len(part)
            yield DocumentSegment.build(part, state.manifest.bm25.analysis, vectors)
            if model is None:
                on_progress(start, total)
