"""Similarity indexes in Qdrant: dense vectors, and words as sparse vectors whose rarity the engine knows.

| collection | content |
|---|---|
| `mrag_index` | a point for each index: its graph, its name and, as JSON, what it is |
| `mrag_…` | a point for each document, with the commits from which and to which it counts |
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os import environ
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.base import Abilities
from mrag.index.backends.engine import (
    OPEN,
    Allowed,
    EngineRow,
    Found,
    Version,
    VersionedBackend,
    VersionedEngine,
    by_term_number,
    word_weights,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors
from mrag.redaction import redact

__all__ = ["QdrantBackend"]

_REGISTRY: Final = "mrag_index"
_PAGE: Final = 4096
_SECONDS: Final = 60


class QdrantBackend(VersionedBackend):
    """Keeps indexes in Qdrant."""

    abilities = Abilities(exact_words=False, exact_vectors=False, live_statistics=False, snapshots=False)
    login_by = "MRAG_QDRANT_KEY"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        self.engine = _Engine(url.partition(":")[2])


class _Engine(VersionedEngine):
    """The questions of `Versions` in Qdrant's terms."""

    def __init__(self, place: str) -> None:
        try:
            from qdrant_client import models
        except ImportError as error:
            hint = "Install it with `pip install 'mrag[qdrant]'`."
            raise ConfigError("Indexes in Qdrant need qdrant-client.", hint=hint) from error
        self._models = models
        self._local = "://" not in place
        self._client = _client(place)
        # A folder is read and written by plain Python, which has no threads in mind.
        self._alone: Any = threading.RLock() if self._local else nullcontext()

    @contextmanager
    def _told(self) -> Iterator[Any]:
        """Give the client, and raise what Qdrant refuses as an error of the index."""
        from qdrant_client.http.exceptions import ApiException

        try:
            with self._alone:
                yield self._client
        except (ApiException, ConnectionError) as error:
            first = redact(str(error).strip().partition("\n")[0])
            raise IndexError_(f"Qdrant says: {first or type(error).__name__}.") from error

    def names(self, graph: str) -> list[str]:
        with self._told() as client:
            if not client.collection_exists(_REGISTRY):
                return []
            return sorted(
                point.payload["name"] for point in self._points(_REGISTRY, self._is("graph", graph))
            )

    def places(self) -> list[str]:
        with self._told() as client:
            return [c.name for c in client.get_collections().collections]

    def kept(self, graph: str, name: str) -> Mapping[str, Any] | None:
        with self._told() as client:
            if not client.collection_exists(_REGISTRY):
                return None
            found = client.retrieve(_REGISTRY, [_number(graph, name)])
            return json.loads(found[0].payload["state"]) if found else None

    def keep(self, graph: str, name: str, state: Mapping[str, Any] | None) -> None:
        number, m = _number(graph, name), self._models
        with self._told() as client:
            if not client.collection_exists(_REGISTRY):
                # A collection has vectors, if only of one number.
                vectors = m.VectorParams(size=1, distance=m.Distance.DOT)
                client.create_collection(_REGISTRY, vectors_config=vectors)
            if state is None:
                client.delete(_REGISTRY, m.PointIdsList(points=[number]), wait=True)
                return
            payload = {"graph": graph, "name": name, "state": json.dumps(state)}
            client.upsert(_REGISTRY, [m.PointStruct(id=number, vector=[0.0], payload=payload)], wait=True)

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        m = self._models
        meaning = {} if dim is None else {"meaning": m.VectorParams(size=dim, distance=m.Distance.DOT)}
        words = {"words": m.SparseVectorParams(modifier=m.Modifier.IDF)}
        with self._told() as client:
            client.create_collection(place, vectors_config=meaning, sparse_vectors_config=words)
            if not self._local:
                client.create_payload_index(place, "id", m.PayloadSchemaType.KEYWORD)
                client.create_payload_index(place, "since", m.PayloadSchemaType.INTEGER)
                client.create_payload_index(place, "until", m.PayloadSchemaType.INTEGER)

    def drop(self, place: str) -> None:
        with self._told() as client:
            client.delete_collection(place)

    def put(self, since: Version, rows: Sequence[EngineRow], mean: float) -> None:
        m, points = self._models, []
        for row in rows:
            weights = by_term_number(word_weights(row, mean, since.bm25))
            vector: dict[str, Any] = {
                "words": m.SparseVector(indices=list(weights), values=list(weights.values()))
            }
            if row.vector is not None:
                vector["meaning"] = row.vector.tolist()
            payload: dict[str, Any] = {"id": row.doc_id, "text": row.text, "digest": row.digest.hex()}
            payload |= {"since": since.number, "until": OPEN}
            number = _number(str(since.number), row.doc_id)
            points.append(m.PointStruct(id=number, vector=vector, payload=payload))
        with self._told() as client:
            client.upsert(since.place, points, wait=True)

    def end(self, at: Version, ids: Sequence[str], until: int) -> None:
        with self._told() as client:
            client.set_payload(at.place, {"until": until}, points=self._counts(at, ids), wait=True)

    def undo(self, at: Version) -> None:
        m = self._models
        later = m.FieldCondition(key="since", range=m.Range(gt=at.number))
        ending = m.FieldCondition(key="until", range=m.Range(gt=at.number, lt=OPEN))
        with self._told() as client:
            client.delete(at.place, m.FilterSelector(filter=m.Filter(must=[later])), wait=True)
            client.set_payload(at.place, {"until": OPEN}, points=m.Filter(must=[ending]), wait=True)

    def purge(self, at: Version) -> None:
        m = self._models
        ended = m.Filter(must=[m.FieldCondition(key="until", range=m.Range(lte=at.number))])
        with self._told() as client:
            client.delete(at.place, m.FilterSelector(filter=ended), wait=True)

    def by_words(self, at: Version, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        asked = by_term_number({term: float(times) for term, times in query.items()})
        sparse = self._models.SparseVector(indices=list(asked), values=list(asked.values()))
        return self._nearest(at, "words", sparse, k, allowed)

    def by_vector(self, at: Version, vector: Vectors, k: int, allowed: Allowed) -> Found:
        return self._nearest(at, "meaning", vector.tolist(), k, allowed)

    def texts(self, at: Version, ids: Sequence[str]) -> dict[str, str]:
        points = self._points(at.place, self._counts(at, ids), ["id", "text"])
        return {point.payload["id"]: point.payload["text"] for point in points}

    def digests(self, at: Version) -> dict[str, bytes]:
        points = self._points(at.place, self._counts(at, None), ["id", "digest"])
        return {point.payload["id"]: bytes.fromhex(point.payload["digest"]) for point in points}

    def vectors(self, at: Version, ids: Sequence[str]) -> dict[str, Vectors]:
        points = self._points(at.place, self._counts(at, ids), ["id"], ["meaning"])
        return {p.payload["id"]: np.array(p.vector["meaning"], np.float32) for p in points}

    def _nearest(self, at: Version, using: str, query: Any, k: int, allowed: Allowed) -> Found:
        with self._told() as client:
            where = self._counts(at, allowed)
            answer = client.query_points(
                at.place, query=query, using=using, query_filter=where, limit=k, with_payload=["id"]
            )
            return [(point.payload["id"], point.score) for point in answer.points]

    def _points(
        self, place: str, where: Any, payload: Any = True, vectors: list[str] | bool = False
    ) -> Iterator[Any]:
        after = None
        while True:
            with self._told() as client:
                points, after = client.scroll(
                    place, where, limit=_PAGE, offset=after, with_payload=payload, with_vectors=vectors
                )
            yield from points
            if after is None:
                return

    def _is(self, key: str, value: str) -> Any:
        m = self._models
        return m.Filter(must=[m.FieldCondition(key=key, match=m.MatchValue(value=value))])

    def _counts(self, at: Version, ids: Allowed) -> Any:
        """Return the filter of the rows that count at a commit, and are of some documents."""
        m = self._models
        must = [
            m.FieldCondition(key="since", range=m.Range(lte=at.number)),
            m.FieldCondition(key="until", range=m.Range(gt=at.number)),
        ]
        if ids is not None:
            must.append(m.FieldCondition(key="id", match=m.MatchAny(any=list(ids))))
        return m.Filter(must=must)


_clients: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def _client(place: str) -> Any:
    """Return the client of a server or a folder; a folder has one for all who ask."""
    from qdrant_client import QdrantClient

    known = _clients.get(place)
    if known is not None:
        return known
    try:
        if "://" in place:
            made = QdrantClient(url=place, api_key=environ.get("MRAG_QDRANT_KEY"), timeout=_SECONDS)
        else:
            made = QdrantClient(path=place, force_disable_check_same_thread=True)
    except RuntimeError as error:  # another process has the folder
        raise IndexError_("Qdrant cannot open the folder.", file=place, hint=str(error)) from error
    _clients[place] = made
    return made


def _number(space: str, name: str) -> str:
    return str(uuid.UUID(bytes=hashlib.blake2b(f"{space}\0{name}".encode(), digest_size=16).digest()))
