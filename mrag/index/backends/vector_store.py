# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes whose vectors are in any LangChain `VectorStore`; words and texts stay in files.

A document's ID is its IRI. LangChain's interface has no filters, so hits that are not allowed are passed over
and more are asked for. It has no transactions either: of a build that is broken off some changed documents
may not be found by meaning until the next one. And it does not give vectors back.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.base import Abilities, LocalBackend
from mrag.index.backends.engine import ScoredIds, fuse, parts_of, settle_ties
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex, DocumentUpdate, Match, StoredIndex, TextSearch
from mrag.index.embedding import Embedder, Vectors
from mrag.index.fusion import FusionWeight
from mrag.index.segments import (
    DocumentManifest,
    Progress,
    SyncReport,
    check_model,
    gather_documents,
    needed_model,
)
from mrag.storage.folder import hold

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore

_KEPT = "vector store"


class VectorStoreBackend:
    """Keeps vectors in LangChain vector stores, one for each index, and all else in a folder.

    Args:
        make: Opens the vector store of a name, or makes it, with the embeddings that it is to use.
        folder: Where the words are; None for memory.

    Example:
        >>> from langchain_core.vectorstores import InMemoryVectorStore
        >>> from mrag.index import LangChainEmbedder
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> backend = VectorStoreBackend(lambda name, embeddings: InMemoryVectorStore(embeddings))
        >>> model = LangChainEmbedder(DeterministicFakeEmbedding(size=8))
        >>> index = backend.create("main", embedder=model, bm25=Bm25Params())
        >>> index.sync([("urn:a", "a red shoe")], extra={}).added
        1
        >>> [match.doc_id for match in index.search("a red shoe", 1, mode="dense")]
        ['urn:a']
    """

    url = ""
    abilities = Abilities(exact_vectors=False, snapshots=False, readable=False)

    def __init__(self, make: Callable[[str, Embeddings], VectorStore], folder: Path | None = None) -> None:
        self._make = make
        self._words = LocalBackend(folder)

    def names(self) -> list[str]:
        return self._words.names()

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> VectorStoreIndex:
        words = self._words.open(name, embedder=None, thorough=thorough)
        kept = words.extra[_KEPT]
        check_model(kept["embedder"], embedder)
        return VectorStoreIndex(
            words, self._make, embedder, kept["embedder"], kept["place"], self._lock(name)
        )

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> VectorStoreIndex:
        old = self.open(name, embedder=None) if name in self.names() else None
        words = self._words.create(name, embedder=None, bm25=bm25, replace=replace)
        built, place = None if embedder is None else embedder.name, f"mrag_{secrets.token_hex(8)}"
        return VectorStoreIndex(words, self._make, embedder, built, place, self._lock(name), old)

    def delete(self, name: str) -> None:
        if name in self.names():
            self.open(name, embedder=None).empty()
        self._words.delete(name)

    def _lock(self, name: str) -> Path | None:
        return None if self._words.folder is None else self._words.folder / name / "writer"


@dataclass(eq=False)
class VectorStoreIndex(StoredIndex):
    """Documents found by words in files, and by meaning in a vector store; see `DocumentIndex`."""

    words: DocumentIndex
    make: Callable[[str, Embeddings], VectorStore]
    model: Embedder | None
    built: str | None
    place: str
    lock: Path | None
    replaces: VectorStoreIndex | None = None

    @property
    def manifest(self) -> DocumentManifest:  # type: ignore[override]
        """What the index is."""
        extra = self.words.extra.get(_KEPT, {}).get("extra", {})
        return replace(self.words.manifest, embedder=self.built, extra=extra)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def doc_ids(self) -> list[str]:
        return self.words.doc_ids

    def refresh(self) -> bool:
        return self.words.refresh()

    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        return self.words.texts_of(ids)

    def vectors_of(self, ids: Iterable[str]) -> dict[str, Vectors]:
        return {}

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, Vectors]:
        return {}

    def differing(self, documents: Iterable[tuple[str, str]]) -> int:
        return self.words.differing(documents)

    def learnt_weight(self) -> FusionWeight:
        return FusionWeight(documents=len(self))

    def _search(self, asked: TextSearch) -> list[Match]:
        near, words = asked.needs_vector(self.built), []
        if asked.mode != "dense":
            hits = self.words.search(asked.text, asked.depth, mode="bm25", allowed=asked.allowed)
            words = [(match.doc_id, match.score) for match in hits]
        nearest = self._nearest(asked.text, asked.depth, asked.allowed) if near else []
        return fuse(asked, words, nearest, near, self.bm25_params, self.texts_of)

    def _update(self, update: DocumentUpdate) -> SyncReport:
        with self._writing():
            self.words.refresh()
            with gather_documents(update.documents) as documents:
                given = dict(documents)
            known = self.words.texts_of(self.words.doc_ids)
            fresh = {i: text for i, text in given.items() if known.get(i) != text}
            gone = sorted(known.keys() - given.keys()) if update.whole else []
            self._put(fresh, update.on_progress, update.batch)
            keep = self.words.sync if update.whole else self.words.add
            keep(given.items(), extra=self._about(update.extra))
            self._erase(gone)
            if self.replaces is not None:
                self.replaces.empty()
                self.replaces = None
        changed = len(fresh.keys() & known.keys())
        return SyncReport(len(fresh) - changed, changed, len(gone), len(given) - len(fresh))

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        with self._writing():
            self.words.refresh()
            gone = sorted({str(doc_id) for doc_id in ids if doc_id in self.words})
            self.words.delete(gone, extra=self._about(extra))
            self._erase(gone)
            return len(gone)

    def empty(self) -> None:
        """Remove all vectors."""
        self._erase(self.words.doc_ids)

    def _writing(self) -> AbstractContextManager[None]:
        return nullcontext() if self.lock is None else hold(self.lock)

    def _about(self, extra: Mapping[str, Any] | None) -> dict[str, Any]:
        kept = self.extra if extra is None else dict(extra)
        return {_KEPT: {"embedder": self.built, "place": self.place, "extra": kept}}

    @cached_property
    def _store(self) -> VectorStore:
        return self.make(self.place, _adapt(self.model))

    def _put(self, fresh: Mapping[str, str], on_progress: Progress, batch: int) -> None:
        if self.built is not None and self.model is None and fresh:
            raise ConfigError(f"The index was opened without its model {self.built}.")
        ids = sorted(fresh) if self.built is not None else []
        on_progress(0, len(ids))
        done = 0
        for part in parts_of(ids, batch):
            self._erase(part)  # some stores refuse an ID that they have
            texts = [fresh[doc_id] for doc_id in part]
            self._store.add_texts(texts, metadatas=[{"id": i} for i in part], ids=list(part))
            done += len(part)
            on_progress(done, len(ids))

    def _erase(self, ids: Sequence[str]) -> None:
        for part in parts_of(ids) if self.built is not None else ():
            # Some refuse to delete what they do not have.
            there = [one.id for one in self._store.get_by_ids(list(part)) if one.id is not None]
            if there:
                self._store.delete(there)

    def _nearest(self, text: str, k: int, allowed: Collection[str] | None) -> ScoredIds:
        model = needed_model(self.built, self.model)
        wanted = None if allowed is None else frozenset(map(str, allowed))
        if not len(self) or wanted == frozenset() or not model.embed_query(text).any():
            return []

        def ask(most: int) -> ScoredIds:
            asked = most
            while True:
                hits = self._store.similarity_search_with_score(text, k=asked)
                # Distances come in rising order.
                sign = -1 if hits and hits[0][1] < hits[-1][1] else 1
                ranking = [(str(hit.id), sign * score) for hit, score in hits]
                ranking = [f for f in ranking if f[0] in self.words and (wanted is None or f[0] in wanted)]
                if len(ranking) >= most or len(hits) < asked:
                    return ranking[:most]
                asked *= 4

        return settle_ties(ask, k)


def _adapt(model: Embedder | None) -> Embeddings:
    """Return a model as LangChain has it, which embeds equal texts but once."""
    from langchain_core.embeddings import Embeddings

    class _Adapted(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            if model is None:
                raise IndexError_("The index was opened without its model.")
            distinct = sorted(set(texts))
            made = dict(zip(distinct, model.embed_documents(distinct).tolist(), strict=True))
            return [made[text] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0] if model is None else model.embed_query(text).tolist()

    return _Adapted()
