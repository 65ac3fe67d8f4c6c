# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in Milvus: dense vectors, and words as sparse vectors with the weights of BM25.

A collection `mrag_…` has a row for each document; see `IndexEngine`. A document has the parts of BM25 that
do not depend on others, a query how rare its terms are: in the whole collection, and not, as in the
engine's own BM25, in a segment or among the allowed documents.

Filters are made of numbers and of digests of IDs, so nothing of a user becomes part of an expression.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
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
    key_of,
    refusal,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors

__all__ = ["MilvusBackend"]

_MOST: Final = 10_000  # Rows that are asked for at once
_TEXTS: Final = {"number": 60, "key": 40, "id": 8192, "text": 65_000, "digest": 40}
"""Bytes that each text of a row may have; Milvus takes no longer ones, or hardly."""
_TERMS: Final = 4096  # Terms of a document by which it counts in how rare they are; Milvus takes no more
_NOTHING: Final = {0: 1.0}
"""The sparse vector of a document without terms, because an empty one is refused; no query asks for it."""


class MilvusBackend(EngineBackend):
    """Keeps indexes in Milvus: `milvus:http://HOST:19530`, or `milvus:FILE.db` for Milvus Lite."""

    login_by = "MRAG_MILVUS_TOKEN"

    def connect(self, url: str) -> _Engine:
        return _Engine(url.partition(":")[2])


class _Engine(SparseEngine):
    """The questions of `IndexEngine` in Milvus's terms."""

    def __init__(self, place: str) -> None:
        self._client = _client(place)
        self._served = "://" in place
        self._loaded: set[str] = set()

    @contextmanager
    def _ask(self, place: str | None = None) -> Iterator[Any]:
        """Give the client with a collection in memory, and raise what Milvus refuses."""
        from pymilvus import MilvusException

        try:
            if place is not None and place not in self._loaded:
                self._client.load_collection(place)
                self._loaded.add(place)
            yield self._client
        except MilvusException as error:
            raise refusal("Milvus", error) from error

    def places(self) -> list[str]:
        with self._ask() as client:
            return list(client.list_collections())

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        from pymilvus import DataType

        with self._ask() as client:
            schema, indexes = client.create_schema(auto_id=False), client.prepare_index_params()
            for name, length in _TEXTS.items():
                schema.add_field(name, DataType.VARCHAR, max_length=length, is_primary=name == "number")
            for name in ("since", "until"):
                schema.add_field(name, DataType.INT64)
            schema.add_field("terms", DataType.ARRAY, element_type=DataType.INT64, max_capacity=_TERMS)
            if self._served:
                indexes.add_index("terms", index_type="INVERTED")
            schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
            indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
            if dim is not None:
                schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dim)
                built = {"M": 16, "efConstruction": 200}
                indexes.add_index("vector", index_type="HNSW", metric_type="IP", params=built)
            client.create_collection(place, schema=schema, index_params=indexes, consistency_level="Strong")

    def drop(self, place: str) -> None:
        self._loaded.discard(place)
        with self._ask() as client:
            client.drop_collection(place)

    def write(self, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
        made = []
        for row in rows:
            words = row["words"] or _NOTHING
            put = {**row, "key": key_of(row["id"]), "terms": sorted(words)[:_TERMS], "words": words}
            made.append({**put, "vector": row["vector"].tolist()} if "vector" in row else put)
        with self._ask(place) as client:
            client.upsert(place, made)

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        for row in self._rows(place, _filter(where), list(fields)):
            yield [np.array(row[name], np.float32) if name == "vector" else row[name] for name in fields]

    def _rows(self, place: str, where: str, fields: list[str], prefix: str = "") -> list[dict[str, Any]]:
        """Return all rows of a filter, by the beginnings of their keys where they are too many at once."""
        some = f'{where} and key like "{prefix}%"' if prefix else where
        with self._ask(place) as client:
            rows: list[dict[str, Any]] = client.query(place, filter=some, output_fields=fields, limit=_MOST)
        if len(rows) < _MOST:
            return rows
        parts = (self._rows(place, where, fields, prefix + digit) for digit in "0123456789abcdef")
        return [row for part in parts for row in part]

    def delete(self, place: str, where: Where) -> None:
        with self._ask(place) as client:
            client.delete(place, filter=_filter(where))

    def counts(self, at: EngineState, terms: Collection[int]) -> Mapping[int, int]:
        return {term: self._count(at, term) for term in terms}

    def by_weights(self, at: EngineState, weights: Mapping[int, float], k: int, where: Where) -> ScoredIds:
        # Milvus Lite gives distances, a server scores.
        ranking = self._nearest(at, "words", weights, k, where)
        return [(doc_id, abs(score)) for doc_id, score in ranking if score]

    def _count(self, at: EngineState, term: int) -> int:
        some = f"{_filter(counting(at))} and array_contains(terms, {term:d})"
        with self._ask(at.place) as client:
            [row] = client.query(at.place, filter=some, output_fields=["count(*)"])
            return int(row["count(*)"])

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> ScoredIds:
        return self._nearest(at, "vector", vector.tolist(), k, where, ef=min(max(400, 8 * k), 32_768))

    def _nearest(
        self, at: EngineState, field: str, query: Any, k: int, where: Where, **knobs: int
    ) -> ScoredIds:
        with self._ask(at.place) as client:
            [hits] = client.search(
                at.place, data=[query], anns_field=field, filter=_filter(where), limit=k,
                output_fields=["id"], search_params={"params": knobs},
            )  # fmt: skip
            return [(hit["entity"]["id"], float(hit["distance"])) for hit in hits]


@lru_cache(maxsize=16)
def _client(place: str) -> Any:
    """Return the client of a server or a file; all who ask share it."""
    package = client_package("pymilvus", "Milvus", "milvus")
    # The client logs each error that it raises, the server of a file each call that it does not know.
    for name in ("pymilvus", *(() if "://" in place else ("grpc._server",))):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return package.MilvusClient(uri=place, token=environ.get("MRAG_MILVUS_TOKEN", ""))
    except package.MilvusException as error:
        raise IndexError_("Milvus cannot be reached.", endpoint=place, hint=str(error.message)) from error


def _filter(where: Where) -> str:
    """Return conditions as Milvus has them; documents are named by the digests of their IDs."""
    return " and ".join(
        f"key in {json.dumps(list(map(key_of, value)))}" if by == "in" else f"{name} {by} {value:d}"
        for name, by, value in where
    )
