"""Similarity indexes in Milvus: dense vectors, and BM25 by the engine over terms that `mrag` has cut.

| collection | content |
|---|---|
| `mrag_index` | a row for each index: its graph, its name and, as JSON, what it is |
| `mrag_…` | a row for each document, see `mrag.index.backends.engines.versioned` |

Filters are made of numbers and of digests of IDs, so nothing of a user becomes part of an expression.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import environ
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.base import Abilities
from mrag.index.backends.engines.backend import VersionedBackend
from mrag.index.backends.engines.rows import EngineRow, Found
from mrag.index.backends.engines.versioned import OPEN
from mrag.index.bm25 import Bm25Params
from mrag.redaction import redact

__all__ = ["MilvusBackend"]

_REGISTRY: Final = "mrag_index"
_PAGE: Final = 1000
_MOST: Final = 10_000
"""Rows that are asked for at once."""
_LONGEST: Final = 65_000
"""Bytes that a text of Milvus may have, or nearly."""
_FIELDS: Final = ["number", "key", "id", "text", "digest", "since", "until", "words"]


class MilvusBackend(VersionedBackend):
    """Keeps indexes in Milvus.

    Args and errors are those of `EngineBackend`; the URL is `milvus:http://HOST:19530`, with a token in
    `MRAG_MILVUS_TOKEN` if the server wants one, or `milvus:FILE.db` for Milvus Lite.
    """

    abilities = Abilities(exact_words=False, exact_vectors=False, snapshots=False)
    login_by = "MRAG_MILVUS_TOKEN"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        self.engine = _Engine(url.partition(":")[2])


class _Engine:
    """The questions of `Versions` in Milvus's terms."""

    def __init__(self, place: str) -> None:
        self._client = _client(place)
        self._loaded: set[str] = set()

    @contextmanager
    def _told(self, place: str | None = None) -> Iterator[Any]:
        """Give the client with a collection in memory, and raise what Milvus refuses."""
        from pymilvus import MilvusException

        try:
            if place is not None and place not in self._loaded:
                self._client.load_collection(place)
                self._loaded.add(place)
            yield self._client
        except MilvusException as error:
            first = redact(str(error.message).strip().partition("\n")[0])
            raise IndexError_(f"Milvus says: {first or type(error).__name__}.") from error

    def names(self, graph: str) -> list[str]:
        if _REGISTRY not in self.places():
            return []
        rows = self._rows(_REGISTRY, f'space == "{_key(graph)}"', ["name"])
        return sorted(row["name"] for row in rows)

    def places(self) -> list[str]:
        with self._told() as client:
            return list(client.list_collections())

    def kept(self, graph: str, name: str) -> Mapping[str, Any] | None:
        if _REGISTRY not in self.places():
            return None
        found = self._rows(_REGISTRY, f'number == "{_key(graph, name)}"', ["state"])
        return json.loads(found[0]["state"]) if found else None

    def keep(self, graph: str, name: str, state: Mapping[str, Any] | None) -> None:
        if _REGISTRY not in self.places():
            self._make_registry()
        number = _key(graph, name)
        with self._told(_REGISTRY) as client:
            if state is None:
                client.delete(_REGISTRY, ids=[number])
                return
            row = {"number": number, "space": _key(graph), "name": name, "state": json.dumps(state)}
            client.upsert(_REGISTRY, [{**row, "none": [0.0, 0.0]}])

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        from pymilvus import DataType, Function, FunctionType

        schema = self._schema({"number": 40, "key": 40, "id": 8192, "text": _LONGEST, "digest": 40})
        schema.add_field("since", DataType.INT64)
        schema.add_field("until", DataType.INT64)
        analysis = {"tokenizer": "standard"}
        schema.add_field(
            "words", DataType.VARCHAR, max_length=_LONGEST, enable_analyzer=True, analyzer_params=analysis
        )
        schema.add_field("counts", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(
            Function(
                name="bm25",
                function_type=FunctionType.BM25,
                input_field_names=["words"],
                output_field_names=["counts"],
            )
        )
        with self._told() as client:
            indexes = client.prepare_index_params()
            knobs = {"bm25_k1": bm25.k1, "bm25_b": bm25.b}
            indexes.add_index("counts", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=knobs)
            if dim is not None:
                schema.add_field("meaning", DataType.FLOAT_VECTOR, dim=dim)
                built = {"M": 16, "efConstruction": 200}
                indexes.add_index("meaning", index_type="HNSW", metric_type="IP", params=built)
            client.create_collection(place, schema=schema, index_params=indexes, consistency_level="Strong")

    def drop(self, place: str) -> None:
        self._loaded.discard(place)
        with self._told() as client:
            client.drop_collection(place)

    def put(self, place: str, rows: Sequence[EngineRow], since: int, mean: float, bm25: Bm25Params) -> None:
        made = []
        for row in rows:
            counted = (_word(term) for term, count in sorted(row.terms.items()) for _ in range(count))
            key = _key(row.doc_id)
            put: dict[str, Any] = {
                "number": f"{since:d}-{key}",
                "key": key,
                "id": row.doc_id,
                "text": row.text,
            }
            put |= {"digest": row.digest.hex(), "since": since, "until": OPEN}
            put |= {"words": " ".join(counted)[:_LONGEST]}
            made.append(put if row.vector is None else {**put, "meaning": row.vector.tolist()})
        with self._told(place) as client:
            client.upsert(place, made)

    def end(self, place: str, ids: Sequence[str], at: int, until: int) -> None:
        self._until(place, _counts(at, ids), until)

    def undo(self, place: str, at: int) -> None:
        with self._told(place) as client:
            client.delete(place, filter=f"since > {at:d}")
        self._until(place, f"until > {at:d} and until < {OPEN:d}", OPEN)

    def purge(self, place: str, at: int) -> None:
        with self._told(place) as client:
            client.delete(place, filter=f"until <= {at:d}")

    def by_words(
        self,
        place: str,
        at: int,
        query: Mapping[str, int],
        k: int,
        allowed: Collection[str] | None,
        bm25: Bm25Params,
    ) -> Found:
        asked = " ".join(_word(term) for term, times in query.items() for _ in range(times))
        found = self._nearest(place, "counts", asked, _counts(at, allowed), k, {})
        # Milvus Lite gives distances, a server scores, both by the formula that counts k1 + 1 times as much.
        return [(doc_id, abs(score) / (bm25.k1 + 1)) for doc_id, score in found if score]

    def by_vector(
        self,
        place: str,
        at: int,
        vector: npt.NDArray[np.float32],
        k: int,
        allowed: Collection[str] | None,
    ) -> Found:
        knobs = {"ef": max(128, 2 * k)}
        return self._nearest(place, "meaning", vector.tolist(), _counts(at, allowed), k, knobs)

    def texts(self, place: str, at: int, ids: Sequence[str]) -> dict[str, str]:
        return {row["id"]: row["text"] for row in self._rows(place, _counts(at, ids), ["id", "text"])}

    def digests(self, place: str, at: int) -> dict[str, bytes]:
        rows = self._rows(place, _counts(at, None), ["id", "digest"])
        return {row["id"]: bytes.fromhex(row["digest"]) for row in rows}

    def vectors(self, place: str, at: int, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        rows = self._rows(place, _counts(at, ids), ["id", "meaning"])
        return {row["id"]: np.array(row["meaning"], np.float32) for row in rows}

    def _nearest(
        self, place: str, field: str, query: Any, where: str, k: int, knobs: Mapping[str, int]
    ) -> Found:
        with self._told(place) as client:
            [hits] = client.search(
                place, data=[query], anns_field=field, filter=where, limit=k, output_fields=["id"],
                search_params={"params": dict(knobs)},
            )  # fmt: skip
            return [(hit["entity"]["id"], float(hit["distance"])) for hit in hits]

    def _rows(self, place: str, where: str, fields: list[str], prefix: str = "") -> list[dict[str, Any]]:
        """Return all rows of a filter, by the beginnings of their keys where they are too many at once."""
        some = f'{where} and key like "{prefix}%"' if prefix else where
        with self._told(place) as client:
            rows: list[dict[str, Any]] = client.query(place, filter=some, output_fields=fields, limit=_MOST)
        if len(rows) < _MOST:
            return rows
        parts = (self._rows(place, where, fields, prefix + digit) for digit in "0123456789abcdef")
        return [row for part in parts for row in part]

    def _until(self, place: str, where: str, until: int) -> None:
        with self._told(place) as client:
            there = {field["name"] for field in client.describe_collection(place)["fields"]}
            fields = [*_FIELDS, *({"meaning"} & there)]
            found = self._rows(place, where, fields)
            rows = [{**{field: row[field] for field in fields}, "until": until} for row in found]
            for start in range(0, len(rows), _PAGE):
                client.upsert(place, rows[start : start + _PAGE])

    def _make_registry(self) -> None:
        from pymilvus import DataType

        # A collection has vectors, if only of two numbers.
        schema = self._schema({"number": 40, "space": 40, "name": 200, "state": _LONGEST})
        schema.add_field("none", DataType.FLOAT_VECTOR, dim=2)
        with self._told() as client:
            indexes = client.prepare_index_params()
            indexes.add_index("none", index_type="FLAT", metric_type="IP")
            client.create_collection(
                _REGISTRY, schema=schema, index_params=indexes, consistency_level="Strong"
            )

    def _schema(self, texts: Mapping[str, int]) -> Any:
        """Return a schema with texts of some length in bytes, of which the first is the key."""
        from pymilvus import DataType

        with self._told() as client:
            schema = client.create_schema(auto_id=False)
        for at, (name, length) in enumerate(texts.items()):
            schema.add_field(name, DataType.VARCHAR, max_length=length, is_primary=at == 0)
        return schema


@lru_cache(maxsize=16)
def _client(place: str) -> Any:
    """Return the client of a server or a file; all who ask share it."""
    try:
        from pymilvus import MilvusClient, MilvusException
    except ImportError as error:
        hint = "Install it with `pip install 'mrag[milvus]'`."
        raise ConfigError("Indexes in Milvus need pymilvus.", hint=hint) from error
    # The client logs each error that it raises, the server of a file each call that it does not know.
    for name in ("pymilvus", *(() if "://" in place else ("grpc._server",))):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return MilvusClient(uri=place, token=environ.get("MRAG_MILVUS_TOKEN", ""))
    except MilvusException as error:
        raise IndexError_("Milvus cannot be reached.", endpoint=place, hint=str(error.message)) from error


def _key(*parts: str) -> str:
    """Return a digest that stands for an ID where filters are concerned."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()


def _word(term: str) -> str:
    """Return a term as a word that no analyser changes."""
    return base64.b32encode(hashlib.blake2b(term.encode(), digest_size=5).digest()).decode().lower()


def _counts(at: int, ids: Collection[str] | None) -> str:
    """Return the filter of the rows that count at a commit, and are of some documents."""
    when = f"since <= {at:d} and until > {at:d}"
    return when if ids is None else f"{when} and key in {json.dumps([_key(doc_id) for doc_id in ids])}"
