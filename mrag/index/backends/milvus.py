"""Similarity indexes in Milvus: dense vectors, and words as sparse vectors with the weights of BM25.

| collection | content |
|---|---|
| `mrag_indexes` | a row for each index: its graph, its name and, as JSON, what it is |
| `mrag_…` | a row for each document, see `VersionedEngine` |
| `mrag_…_terms` | a row for each term: how many documents have it; that of no term has how many there are |

A document has the parts of BM25 that do not depend on others, a query how rare its terms are: in the whole
collection, and not, as in the engine's own BM25, in a segment or among the allowed documents.

Filters are made of numbers and of digests of IDs, so nothing of a user becomes part of an expression.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
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
    parts_of,
    word_weights,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors
from mrag.redaction import redact

__all__ = ["MilvusBackend"]

_REGISTRY: Final = "mrag_indexes"
_TERMS: Final = "_terms"
_PAGE: Final = 1000
_MOST: Final = 10_000
"""Rows that are asked for at once."""
_LONGEST: Final = 65_000
"""Bytes that a text of Milvus may have, or nearly."""
_BLANK: Final = {"none": [0.0, 0.0]}
_NOTHING: Final = {0: 1.0}
"""The sparse vector of a document without terms, because an empty one is refused; no query asks for it."""


class MilvusBackend(VersionedBackend):
    """Keeps indexes in Milvus."""

    abilities = Abilities(exact_words=False, exact_vectors=False, live_statistics=False, snapshots=False)
    login_by = "MRAG_MILVUS_TOKEN"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        self.engine = _Engine(url.partition(":")[2])


class _Engine(VersionedEngine):
    """The questions of `Versions` in Milvus's terms."""

    def __init__(self, place: str) -> None:
        self._client = _client(place)
        self._loaded: set[str] = set()
        self._known: tuple[str, int, dict[str, int]] = ("", 0, {})

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
            return [name for name in client.list_collections() if not name.endswith(_TERMS)]

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
            client.upsert(_REGISTRY, [{**row, **_BLANK}])

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        from pymilvus import DataType

        schema = self._schema({"number": 40, "key": 40, "id": 8192, "text": _LONGEST, "digest": 40})
        self._make(place + _TERMS, self._schema({"number": 60, "key": 40}), ("df",))
        schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
        with self._told() as client:
            indexes = client.prepare_index_params()
            indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
            if dim is not None:
                schema.add_field("meaning", DataType.FLOAT_VECTOR, dim=dim)
                built = {"M": 16, "efConstruction": 200}
                indexes.add_index("meaning", index_type="HNSW", metric_type="IP", params=built)
        self._make(place, schema, (), indexes)

    def drop(self, place: str) -> None:
        for name in (place, place + _TERMS):
            self._loaded.discard(name)
            with self._told() as client:
                client.drop_collection(name)

    def put(self, since: Version, rows: Sequence[EngineRow], mean: float) -> None:
        made = []
        for row in rows:
            key = _key(row.doc_id)
            put: dict[str, Any] = {"number": f"{since.number:d}-{key}", "key": key, "id": row.doc_id}
            put |= {"text": row.text, "digest": row.digest.hex(), "since": since.number, "until": OPEN}
            put |= {"words": by_term_number(word_weights(row, mean, since.bm25)) or _NOTHING}
            made.append(put if row.vector is None else {**put, "meaning": row.vector.tolist()})
        with self._told(since.place) as client:
            client.upsert(since.place, made)

    def end(self, at: Version, ids: Sequence[str], until: int) -> None:
        self._until(at.place, _counts(at, ids), until)

    def undo(self, at: Version) -> None:
        for name in (at.place, at.place + _TERMS):
            with self._told(name) as client:
                client.delete(name, filter=f"since > {at.number:d}")
            self._until(name, f"until > {at.number:d} and until < {OPEN:d}", OPEN)

    def purge(self, at: Version) -> None:
        for name in (at.place, at.place + _TERMS):
            with self._told(name) as client:
                client.delete(name, filter=f"until <= {at.number:d}")

    def tally(self, at: Version | None, since: Version, changes: Mapping[str, int], documents: int) -> None:
        name = since.place + _TERMS
        for part in parts_of(list(changes), _PAGE):
            before = {} if at is None else self._frequencies(at, part)
            counts = {_key(term): before.get(term, 0) + changes[term] for term in part}
            if at is not None:
                self._until(name, _counts(at, part), since.number)
            self._note(name, since.number, counts)
        if at is not None:
            self._until(name, _counts(at, [""]), since.number)
        self._note(name, since.number, {_key(""): documents})

    def _note(self, name: str, since: int, counts: Mapping[str, int]) -> None:
        rows = [
            {"number": f"{since:d}-{key}", "key": key, "df": df, "since": since, "until": OPEN, **_BLANK}
            for key, df in counts.items()
            if df
        ]
        if rows:
            with self._told(name) as client:
                client.upsert(name, rows)

    def _frequencies(self, at: Version, terms: Collection[str]) -> dict[str, int]:
        """Return in how many documents terms are at a commit; the newest that were asked for are kept."""
        if self._known[:2] != (at.place, at.number):
            self._known = (at.place, at.number, {})
        known = self._known[2]
        for part in parts_of([term for term in terms if term not in known], _PAGE):
            rows = self._rows(at.place + _TERMS, _counts(at, part), ["key", "df"])
            found = {row["key"]: int(row["df"]) for row in rows}
            known |= {term: found.get(_key(term), 0) for term in part}
        return {term: known[term] for term in terms}

    def by_words(self, at: Version, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        counts = self._frequencies(at, ["", *query])
        documents = counts.pop("")
        asked = {
            term: query[term] * math.log(1 + (documents - df + 0.5) / (df + 0.5))
            for term, df in counts.items()
            if df
        }
        if not asked:
            return []
        found = self._nearest(at, "words", by_term_number(asked), k, allowed)
        # Milvus Lite gives distances, a server scores.
        return [(doc_id, abs(score)) for doc_id, score in found if score]

    def by_vector(self, at: Version, vector: Vectors, k: int, allowed: Allowed) -> Found:
        return self._nearest(at, "meaning", vector.tolist(), k, allowed, ef=min(max(400, 8 * k), 32_768))

    def texts(self, at: Version, ids: Sequence[str]) -> dict[str, str]:
        return {row["id"]: row["text"] for row in self._rows(at.place, _counts(at, ids), ["id", "text"])}

    def digests(self, at: Version) -> dict[str, bytes]:
        rows = self._rows(at.place, _counts(at, None), ["id", "digest"])
        return {row["id"]: bytes.fromhex(row["digest"]) for row in rows}

    def vectors(self, at: Version, ids: Sequence[str]) -> dict[str, Vectors]:
        rows = self._rows(at.place, _counts(at, ids), ["id", "meaning"])
        return {row["id"]: np.array(row["meaning"], np.float32) for row in rows}

    def _nearest(self, at: Version, field: str, query: Any, k: int, allowed: Allowed, **knobs: int) -> Found:
        with self._told(at.place) as client:
            [hits] = client.search(
                at.place, data=[query], anns_field=field, filter=_counts(at, allowed), limit=k,
                output_fields=["id"], search_params={"params": knobs},
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
            fields = [field["name"] for field in client.describe_collection(place)["fields"]]
            found = self._rows(place, where, fields)
            rows = [{**{field: row[field] for field in fields}, "until": until} for row in found]
            for start in range(0, len(rows), _PAGE):
                client.upsert(place, rows[start : start + _PAGE])

    def _make_registry(self) -> None:
        schema = self._schema({"number": 40, "space": 40, "name": 200, "state": _LONGEST})
        self._make(_REGISTRY, schema, None)

    def _make(self, place: str, schema: Any, numbers: Sequence[str] | None, indexes: Any = None) -> None:
        """Make a collection: with commits, unless `numbers` is None; with a vector, if it has none."""
        from pymilvus import DataType

        for name in () if numbers is None else (*numbers, "since", "until"):
            schema.add_field(name, DataType.INT64)
        with self._told() as client:
            if indexes is None:
                # A collection has vectors, if only of two numbers.
                schema.add_field("none", DataType.FLOAT_VECTOR, dim=2)
                indexes = client.prepare_index_params()
                indexes.add_index("none", index_type="FLAT", metric_type="IP")
            client.create_collection(place, schema=schema, index_params=indexes, consistency_level="Strong")

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


def _counts(at: Version, ids: Allowed) -> str:
    """Return the filter of the rows that count at a commit, and are of some documents."""
    when = f"since <= {at.number:d} and until > {at.number:d}"
    return when if ids is None else f"{when} and key in {json.dumps([_key(doc_id) for doc_id in ids])}"
