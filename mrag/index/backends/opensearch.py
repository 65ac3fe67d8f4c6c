"""Similarity indexes in OpenSearch or Elasticsearch: vectors, and BM25 over terms that `mrag` has cut.

| index | content |
|---|---|
| `mrag_index` | a document for each index: its graph, its name and, as JSON, what it is |
| `mrag_…` | a document for each document, see `VersionedEngine` |

Searches are JSON, and what a user wrote is never more than a value in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import environ
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, StoreError
from mrag.index.backends.base import Abilities
from mrag.index.backends.engine import (
    OPEN,
    Allowed,
    EngineRow,
    Found,
    Replaced,
    Version,
    VersionedBackend,
    VersionedEngine,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors
from mrag.redaction import brief, redact_url
from mrag.stores.http import Access, Http, is_address

__all__ = ["OpenSearchBackend"]

_JUDGED: Final = (200, 201, 400, 401, 403, 404, 405, 406, 409, 413)
"""Status codes that are looked at here; all others are errors of the way."""
_BULK: Final = 8 << 20
"""Bytes of a bulk request, or nearly; some services take ten millions."""
_TRIES: Final = 8
_SECONDS: Final = 600.0
_MATCHED: Final = 400
"""Characters of a message."""


@dataclass(frozen=True)
class SearchDialect:
    """In what the two differ."""

    name: str
    variables: str
    settings: Mapping[str, Any]
    field: Callable[[int], dict[str, Any]]
    nearest: Callable[[list[float], int, int, list[Any]], dict[str, Any]]
    plain_from: int | None


_GRAPH: Final = {"m": 16, "ef_construction": 128}

OPENSEARCH: Final = SearchDialect(
    name="OpenSearch",
    variables="MRAG_OPENSEARCH",
    settings={"knn": True},
    field=lambda dim: {
        "type": "knn_vector",
        "dimension": dim,
        "method": {
            "name": "hnsw", "engine": "lucene", "space_type": "innerproduct", "parameters": dict(_GRAPH)
        },
    },
    nearest=lambda vector, k, breadth, filters: {
        "size": k,
        "query": {
            "knn": {"meaning": {"vector": vector, "k": breadth, "filter": {"bool": {"filter": filters}}}}
        },
    },
    plain_from=3,
)  # fmt: skip

ELASTICSEARCH: Final = SearchDialect(
    name="Elasticsearch",
    variables="MRAG_ELASTICSEARCH",
    settings={},
    # By default it would keep the vectors in fewer bits.
    field=lambda dim: {
        "type": "dense_vector",
        "dims": dim,
        "index": True,
        "similarity": "max_inner_product",
        "index_options": {"type": "hnsw", **_GRAPH},
    },
    nearest=lambda vector, k, breadth, filters: {
        "size": k,
        "knn": {
            "field": "meaning", "query_vector": vector, "k": k, "num_candidates": breadth, "filter": filters
        },
    },
    plain_from=None,
)  # fmt: skip


class SearchServer:
    """A session to one server."""

    def __init__(self, dialect: SearchDialect, url: str) -> None:
        self.dialect = dialect
        self._url = url.rstrip("/")
        if not is_address(self._url):
            kind = dialect.name.lower()
            raise ConfigError(
                f"{redact_url(url)} is no address of a server.", hint=f"Write {kind}:http://HOST:9200."
            )
        self._http = Http(self._url, _access(dialect.variables), places=[self._url])

    @cached_property
    def factored(self) -> bool:
        """Whether it multiplies the scores of BM25 by k1 + 1."""
        told = self.asked("GET", "").get("version", {})
        found = "OpenSearch" if told.get("distribution") == "opensearch" else "Elasticsearch"
        if found != self.dialect.name:
            raise ConfigError(
                f"The server is {found}, not {self.dialect.name}.",
                hint=f"Write {found.lower()}: in place of {self.dialect.name.lower()}:.",
            )
        major = int(str(told.get("number", "0")).partition(".")[0])
        return self.dialect.plain_from is None or major < self.dialect.plain_from

    def asked(
        self, method: str, path: str, body: Any = None, *, none: Sequence[str] = (), **params: Any
    ) -> dict[str, Any]:
        """Send a request that does no harm when it is sent twice, and return what the server says."""
        data = None if body is None else json.dumps(body).encode()
        return self._sent(method, path, data, "application/json", none, params)

    def put(self, place: str, documents: Iterator[tuple[str, dict[str, Any]]]) -> None:
        """Write documents by ID, in as many requests as they need."""
        lines: dict[str, bytes] = {}
        size = 0
        for number, document in documents:
            head = json.dumps({"index": {"_id": number}})
            lines[number] = f"{head}\n{json.dumps(document)}\n".encode()
            size += len(lines[number])
            if size > _BULK:
                self._bulk(place, lines)
                lines, size = {}, 0
        if lines:
            self._bulk(place, lines)

    def _bulk(self, place: str, lines: dict[str, bytes]) -> None:
        for attempt in range(_TRIES):
            data = b"".join(lines.values())
            told = self._sent("POST", f"{quote(place)}/_bulk", data, "application/x-ndjson", (), {})
            if not told["errors"]:
                return
            done = [item["index"] for item in told["items"]]
            for item in done:
                if item["status"] not in (200, 201, 429):
                    raise self._refused(item["status"], {"error": item["error"]})
            busy = {item["_id"] for item in done if item["status"] == 429}
            lines = {number: line for number, line in lines.items() if number in busy}
            time.sleep(min(10.0, 0.1 * 2**attempt))
        raise IndexError_(f"{self.dialect.name} is too busy to take documents in.", hint="Try again later.")

    def _sent(
        self, method: str, path: str, data: bytes | None, kind: str, none: Sequence[str], params: Any
    ) -> dict[str, Any]:
        headers = {} if data is None else {"Content-Type": kind}
        try:
            answer = self._http.send(
                method,
                f"{self._url}/{path}",
                repeat=True,
                data=data,
                headers=headers,
                params=params,
                seconds=_SECONDS,
                ok=_JUDGED,
            )
            text = self._http.text(answer)
        except StoreError as error:
            raise IndexError_(f"{self.dialect.name}: {error.message}", endpoint=self._url) from error
        try:
            told = json.loads(text)
        except ValueError as error:
            raise IndexError_(f"{self.dialect.name} gave an answer that is no JSON.") from error
        if answer.status_code < 300:
            return dict(told)
        found = told.get("error")
        kinds = {"missing" if answer.status_code == 404 else "", found.get("type") if found else ""}
        if kinds & {*none}:
            return {}
        raise self._refused(answer.status_code, told)

    def _refused(self, status: int, told: Mapping[str, Any]) -> IndexError_:
        error = told.get("error")
        reason = error.get("reason", error.get("type", "")) if isinstance(error, dict) else error
        hint = None
        if status in (401, 403):
            some = self.dialect.variables
            hint = f"Set {some}_USER and {some}_PASSWORD, {some}_KEY for an API key, or {some}_TOKEN."
        if isinstance(error, dict) and error.get("type") == "index_not_found_exception":
            return Replaced("The index was built anew or deleted meanwhile.", hint="Try again.")
        text = brief(str(reason or ""), _MATCHED)
        return IndexError_(f"{self.dialect.name} refuses ({status}): {text.rstrip('.')}.", hint=hint)


def _access(variables: str) -> Access:
    key, token = environ.get(f"{variables}_KEY"), environ.get(f"{variables}_TOKEN")
    return Access(
        user=environ.get(f"{variables}_USER"),
        password=environ.get(f"{variables}_PASSWORD"),
        token=key or token,
        token_kind="ApiKey" if key else "Bearer",
        verify=environ.get(f"{variables}_CA") or True,
        retries=3,
    )


_REGISTRY: Final = "mrag_index"
_BREADTH: Final = 400
"""How many vectors the graph looks at, unless more are wanted."""
_MOST: Final = 10_000
"""Hits of a search, candidates of a search by vectors, and rows of a page."""
_PAGE: Final = 1000
_NAMED: Final = 50_000
"""Values of one filter; the servers take 65,536."""
_CLAUSES: Final = 1000
"""Terms of a query; the servers take 1,024."""
_LONGEST: Final = 200
"""Characters of a term; the analyser cuts words at 255."""
_KEPT: Final = {"type": "keyword", "index": False, "doc_values": False}
_FIELDS: Final = ["number", "id", "text", "digest", "since", "words", "kept"]


class OpenSearchBackend(VersionedBackend):
    """Keeps indexes in OpenSearch or Elasticsearch."""

    abilities = Abilities(exact_words=False, exact_vectors=False, live_statistics=False, snapshots=False)
    login_by = "MRAG_OPENSEARCH_PASSWORD or MRAG_ELASTICSEARCH_PASSWORD"

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        super().__init__(url, graph, pending)
        scheme, _, address = url.partition(":")
        dialect = OPENSEARCH if scheme.lower() == "opensearch" else ELASTICSEARCH
        self.engine = _Engine(SearchServer(dialect, address))


class _Engine(VersionedEngine):
    """The questions of `Versions` as requests."""

    def __init__(self, server: SearchServer) -> None:
        self._server = server
        self._ask = server.asked

    def names(self, graph: str) -> list[str]:
        if _REGISTRY not in self.places():
            return []
        rows = self._pages(_REGISTRY, [{"term": {"graph": graph}}], ["name"])
        return sorted(row["name"] for row in rows)

    def places(self) -> list[str]:
        return sorted(self._ask("GET", "mrag_*/_alias"))

    def kept(self, graph: str, name: str) -> Mapping[str, Any] | None:
        found = self._ask("GET", f"{_REGISTRY}/_doc/{_key(graph, name)}", none=["missing"])
        return json.loads(found["_source"]["state"]) if found else None

    def keep(self, graph: str, name: str, state: Mapping[str, Any] | None) -> None:
        kinds = {"number": {"type": "keyword"}, "graph": {"type": "keyword"}, "name": {"type": "keyword"}}
        made = {"mappings": {"dynamic": False, "properties": {**kinds, "state": _KEPT}}}
        self._ask("PUT", _REGISTRY, made, none=["resource_already_exists_exception"])
        number = _key(graph, name)
        place = f"{_REGISTRY}/_doc/{number}"
        if state is None:
            self._ask("DELETE", place, none=["missing"], refresh="true")
            return
        self._refresh(state["place"])
        row = {"number": number, "graph": graph, "name": name, "state": json.dumps(state)}
        self._ask("PUT", place, row, refresh="true")

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        long = {"type": "long"}
        fields: dict[str, Any] = {
            "number": {"type": "keyword"},
            "id": {"type": "keyword"},
            "text": {"type": "text", "index": False},
            "digest": _KEPT,
            "since": long,
            "until": long,
            "words": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            "kept": {"type": "binary"},
        }
        assert self._server.factored is not None  # asked first, to see which product it is
        ranked = {"default": {"type": "BM25", "k1": bm25.k1, "b": bm25.b}}
        settings: dict[str, Any] = {"refresh_interval": "-1", "similarity": ranked}
        if dim is not None:
            fields["meaning"] = self._server.dialect.field(dim)
            settings |= self._server.dialect.settings
        # Vectors are read from `kept`: servers leave them out of what they return, or round them.
        mappings = {"dynamic": False, "_source": {"excludes": ["meaning"]}, "properties": fields}
        self._ask("PUT", quote(place), {"settings": {"index": settings}, "mappings": mappings})

    def drop(self, place: str) -> None:
        self._ask("DELETE", quote(place), none=["missing"])

    def put(self, since: Version, rows: Sequence[EngineRow], mean: float) -> None:
        self._put(since.place, (_document(row, since.number) for row in rows))

    def end(self, at: Version, ids: Sequence[str], until: int) -> None:
        self._until(at.place, _counts(at, ids), until)

    def undo(self, at: Version) -> None:
        self._refresh(at.place)
        self._delete(at.place, {"range": {"since": {"gt": at.number}}})
        self._until(at.place, [{"range": {"until": {"gt": at.number, "lt": OPEN}}}], OPEN)
        self._expunge(at.place)

    def purge(self, at: Version) -> None:
        self._delete(at.place, {"range": {"until": {"lte": at.number}}})
        self._expunge(at.place)

    def by_words(self, at: Version, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        often = sorted(query.items(), key=lambda item: -item[1])[:_CLAUSES]
        terms = [{"term": {"words": {"value": _word(term), "boost": times}}} for term, times in often]
        asked = {"should": terms, "minimum_should_match": 1, "filter": _counts(at, allowed)}
        body = {"size": min(k, _MOST), "query": {"bool": asked}}
        scale = at.bm25.k1 + 1 if self._server.factored else 1.0
        # Of several shards each has its own words; they are to count them together.
        hits = self._hits(at.place, {**body, "_source": ["id"]}, search_type="dfs_query_then_fetch")
        return [(hit["_source"]["id"], hit["_score"] / scale) for hit in hits]

    def by_vector(self, at: Version, vector: Vectors, k: int, allowed: Allowed) -> Found:
        k = min(k, _MOST)
        breadth = min(max(_BREADTH, 2 * k), _MOST)
        body = self._server.dialect.nearest(vector.tolist(), k, breadth, _counts(at, allowed))
        hits = self._hits(at.place, {**body, "_source": ["id"]})
        return [(hit["_source"]["id"], _product(hit["_score"])) for hit in hits]

    def texts(self, at: Version, ids: Sequence[str]) -> dict[str, str]:
        return {row["id"]: row["text"] for row in self._pages(at.place, _counts(at, ids), ["id", "text"])}

    def digests(self, at: Version) -> dict[str, bytes]:
        rows = self._pages(at.place, _counts(at, None), ["id", "digest"], _MOST)
        return {row["id"]: bytes.fromhex(row["digest"]) for row in rows}

    def vectors(self, at: Version, ids: Sequence[str]) -> dict[str, Vectors]:
        rows = self._pages(at.place, _counts(at, ids), ["id", "kept"])
        return {row["id"]: _unpacked(row["kept"]) for row in rows if "kept" in row}

    def _put(self, place: str, documents: Iterator[dict[str, Any]]) -> None:
        self._server.put(place, ((document["number"], document) for document in documents))

    def _refresh(self, place: str) -> None:
        self._ask("POST", f"{quote(place)}/_refresh")

    def _delete(self, place: str, query: Mapping[str, Any]) -> None:
        params = {"conflicts": "proceed", "refresh": "true"}
        told = self._ask("POST", f"{quote(place)}/_delete_by_query", {"query": query}, **params)
        if told["failures"]:
            raise IndexError_("Documents could not be deleted.", hint="See the server's log, then try again.")

    def _expunge(self, place: str) -> None:
        # What is deleted counts as to how rare a word is until its segment is written anew.
        self._ask("POST", f"{quote(place)}/_forcemerge", only_expunge_deletes="true")

    def _until(self, place: str, where: list[Any], until: int) -> None:
        """Write documents anew with another end, because `_source` lacks what an update would take of it."""
        rows = list(self._pages(place, where, _FIELDS))
        if rows:
            self._put(place, ({**row, "until": until, **_meaning(row.get("kept"))} for row in rows))
            self._refresh(place)

    def _hits(self, place: str, body: Mapping[str, Any], **params: str) -> list[Any]:
        # A shard that cannot answer is an error, not fewer hits.
        params["allow_partial_search_results"] = "false"
        told = self._ask("POST", f"{quote(place)}/_search", {**body, "track_total_hits": False}, **params)
        return list(told["hits"]["hits"])

    def _pages(
        self, place: str, where: list[Any], fields: list[str], size: int = _PAGE
    ) -> Iterator[dict[str, Any]]:
        """Yield what is kept of all documents that match, in order of number."""
        body: dict[str, Any] = {"size": size, "sort": [{"number": "asc"}], "_source": fields}
        body |= {"query": {"bool": {"filter": where}}}
        while True:
            hits = self._hits(place, body)
            yield from (hit["_source"] for hit in hits)
            if len(hits) < size:
                return
            body["search_after"] = hits[-1]["sort"]


def _document(row: EngineRow, since: int) -> dict[str, Any]:
    """Return a document as it is written."""
    counted = (_word(term) for term, count in sorted(row.terms.items()) for _ in range(count))
    packed = None if row.vector is None else base64.b64encode(row.vector.astype("<f4").tobytes()).decode()
    return {
        "number": f"{since:d}-{_key(row.doc_id)}",
        "id": row.doc_id,
        "text": row.text.encode("utf-8", "replace").decode(),  # JSON has no lone surrogates
        "digest": row.digest.hex(),
        "since": since,
        "until": OPEN,
        "words": " ".join(counted),
        **_meaning(packed),
    }


def _meaning(packed: str | None) -> dict[str, Any]:
    """Return the two fields of a vector; none of a document without."""
    return {} if packed is None else {"kept": packed, "meaning": _unpacked(packed).tolist()}


def _unpacked(packed: str) -> npt.NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(packed), "<f4").astype(np.float32)


def _product(score: float) -> float:
    """Return the inner product that Lucene has made a score above 0 of."""
    return score - 1 if score >= 1 else 1 - 1 / score


def _key(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _word(term: str) -> str:
    """Return a term as a word that the analyser leaves whole."""
    return term if len(term) <= _LONGEST else _key(term)


def _counts(at: Version, ids: Allowed) -> list[Any]:
    """Return the filters of the documents that count at a commit, and are some of all."""
    found: list[Any] = [{"range": {"since": {"lte": at.number}}}, {"range": {"until": {"gt": at.number}}}]
    if ids is not None:
        named = list(ids)
        parts = [named[start : start + _NAMED] for start in range(0, len(named), _NAMED)]
        terms = [{"terms": {"id": part}} for part in parts]
        found.append({"bool": {"should": terms, "minimum_should_match": 1}})
    return found
