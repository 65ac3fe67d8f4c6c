# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in Qdrant: dense vectors, and words as sparse vectors with the weights of BM25.

A collection `mrag_…` has a point for each document, with the commits from which and to which it counts; see
`IndexEngine`.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from os import environ
from typing import Any, Final

import numpy as np

from mrag.errors import IndexError_
from mrag.index.backends.engine import (
    EngineBackend,
    EngineState,
    ScoredIds,
    SparseEngine,
    Where,
    client_package,
    counting,
    refusal,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors

__all__ = ["QdrantBackend"]

_PAGE: Final = 4096
_SECONDS: Final = 60
_INDEXED: Final = (("id", "KEYWORD"), ("since", "INTEGER"), ("until", "INTEGER"), ("terms", "INTEGER"))
_RANGES: Final = {"<": "lt", "<=": "lte", ">": "gt"}
_clients: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


class QdrantBackend(EngineBackend):
    """Keeps indexes in Qdrant: `qdrant:http://HOST:6333`, or `qdrant:FOLDER` for one process at a time."""

    login_by = "MRAG_QDRANT_KEY"

    def connect(self, url: str) -> _Engine:
        return _Engine(url.partition(":")[2])


class _Engine(SparseEngine):
    """The questions of `IndexEngine` in Qdrant's terms."""

    def __init__(self, place: str) -> None:
        self._models = client_package("qdrant_client", "Qdrant", "qdrant").models
        self._local = "://" not in place
        self._client = _client(place)
        # A folder is read and written by plain Python, which has no threads in mind.
        self._alone: Any = threading.RLock() if self._local else nullcontext()

    @contextmanager
    def _ask(self) -> Iterator[Any]:
        """Give the client, and raise what Qdrant refuses as an error of the index."""
        from qdrant_client.http.exceptions import ApiException

        try:
            with self._alone:
                yield self._client
        except (ApiException, ConnectionError) as error:
            raise refusal("Qdrant", error) from error

    def places(self) -> list[str]:
        with self._ask() as client:
            return [c.name for c in client.get_collections().collections]

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        m = self._models
        meaning = {} if dim is None else {"meaning": m.VectorParams(size=dim, distance=m.Distance.DOT)}
        words = {"words": m.SparseVectorParams()}
        with self._ask() as client:
            client.create_collection(place, vectors_config=meaning, sparse_vectors_config=words)
            for field, kind in () if self._local else _INDEXED:
                client.create_payload_index(place, field, m.PayloadSchemaType[kind])

    def drop(self, place: str) -> None:
        with self._ask() as client:
            client.delete_collection(place)

    def write(self, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
        points = []
        for row in rows:
            payload = {**row, "terms": list(row["words"])}
            number = str(uuid.uuid5(uuid.NAMESPACE_OID, payload.pop("number")))
            vector: dict[str, Any] = {"words": self._sparse(payload.pop("words"))}
            if "vector" in payload:
                vector["meaning"] = payload.pop("vector").tolist()
            points.append(self._models.PointStruct(id=number, vector=vector, payload=payload))
        with self._ask() as client:
            client.upsert(place, points, wait=True)

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        payload, vectors = [name for name in fields if name != "vector"], "vector" in fields
        after = None
        while True:
            with self._ask() as client:
                points, after = client.scroll(
                    place, self._filter(where), limit=_PAGE, offset=after, with_payload=payload,
                    with_vectors=["meaning"] if vectors else False,
                )  # fmt: skip
            for point in points:
                meaning = np.array(point.vector["meaning"], np.float32) if vectors else None
                yield [meaning if name == "vector" else point.payload[name] for name in fields]
            if after is None:
                return

    def mark(self, at: EngineState, where: Where, until: int) -> None:
        with self._ask() as client:
            client.set_payload(at.place, {"until": until}, points=self._filter(where), wait=True)

    def delete(self, place: str, where: Where) -> None:
        with self._ask() as client:
            client.delete(place, self._models.FilterSelector(filter=self._filter(where)), wait=True)

    def counts(self, at: EngineState, terms: Collection[int]) -> Mapping[int, int]:
        having = {term: self._filter([*counting(at), ("terms", "in", [term])]) for term in terms}
        with self._ask() as client:
            return {term: client.count(at.place, some).count for term, some in having.items()}

    def by_weights(self, at: EngineState, weights: Mapping[int, float], k: int, where: Where) -> ScoredIds:
        return self._nearest(at, "words", self._sparse(weights), k, where)

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> ScoredIds:
        return self._nearest(at, "meaning", vector.tolist(), k, where)

    def _nearest(self, at: EngineState, using: str, query: Any, k: int, where: Where) -> ScoredIds:
        wanted = self._filter(where)
        with self._ask() as client:
            answer = client.query_points(
                at.place, query=query, using=using, query_filter=wanted, limit=k, with_payload=["id"]
            )
            return [(point.payload["id"], point.score) for point in answer.points]

    def _sparse(self, weights: Mapping[int, float]) -> Any:
        return self._models.SparseVector(indices=list(weights), values=list(weights.values()))

    def _filter(self, where: Where) -> Any:
        m = self._models
        must = [
            m.FieldCondition(key=name, match=m.MatchAny(any=value))
            if by == "in"
            else m.FieldCondition(key=name, range=m.Range(**{_RANGES[by]: value}))
            for name, by, value in where
        ]
        return m.Filter(must=must)


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
