# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in OpenSearch: vectors, and words as features with the weights of BM25.

An index `mrag_…` of the server has a document for each document; see `IndexEngine`. Searches are JSON, of
which what a user wrote is never more than a value.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from os import environ
from typing import Any, Final
from urllib.parse import quote

import numpy as np

from mrag._tables import tables
from mrag.errors import ConfigError, IndexError_, StoreError
from mrag.index.backends.engine import (
    EngineBackend,
    EngineRow,
    EngineState,
    Found,
    IndexEngine,
    Replaced,
    Where,
    counting,
    parts_of,
    query_weights,
    stored_fields,
    word_weights,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors
from mrag.redaction import brief, redact_url
from mrag.stores.http import Access, Http, is_address

__all__ = ["OpenSearchBackend"]

_JUDGED: Final = (200, 201, 400, 401, 403, 404, 405, 406, 409, 413)
"""Status codes that are looked at here; all others are errors of the way."""
_BULK: Final = 8 << 20  # Bytes of a bulk request, or nearly; some services take ten millions
_TRIES: Final = 8
_SECONDS: Final = 600.0
_BREADTH: Final = 400  # How many vectors the graph looks at, unless more are wanted
_MOST: Final = 10_000  # Hits of a search, candidates of a search by vectors, and rows of a page
_PAGE: Final = 1000
_NAMED: Final = 50_000  # Values of one filter; servers take 65,536
_CLAUSES: Final = 1000  # Terms of a query; servers take 1,024
_RANGES: Final = {"<": "lt", "<=": "lte", ">": "gt"}
_FIELDS: Final[Mapping[str, dict[str, Any]]] = tables("index/data/opensearch.toml")
_GRAPH: Final = {"m": 16, "ef_construction": 128}


class OpenSearchBackend(EngineBackend):
    """Keeps indexes in OpenSearch: `opensearch:http://HOST:9200`."""

    login_by = "MRAG_OPENSEARCH_PASSWORD"

    def connect(self, url: str) -> IndexEngine:
        return _Engine(url.partition(":")[2].rstrip("/"))


class _Engine(IndexEngine):
    """The questions of `IndexEngine` as requests."""

    def __init__(self, url: str) -> None:
        if not is_address(url):
            hint = "Write opensearch:http://HOST:9200."
            raise ConfigError(f"{redact_url(url)} is no address of a server.", hint=hint)
        names = ("USER", "PASSWORD", "KEY", "TOKEN", "CA")
        user, password, key, token, authorities = (environ.get(f"MRAG_OPENSEARCH_{name}") for name in names)
        access = Access(
            user=user, password=password, token=key or token, token_kind="ApiKey" if key else "Bearer",
            verify=authorities or True, retries=3,
        )  # fmt: skip
        self._url = url
        self._http = Http(url, access, places=[url])

    def places(self) -> list[str]:
        return sorted(self._ask("GET", "mrag_*/_alias"))

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        fields, settings = dict(_FIELDS), dict[str, Any](refresh_interval="-1")
        if dim is not None:
            method = {"name": "hnsw", "engine": "lucene", "space_type": "innerproduct", "parameters": _GRAPH}
            fields["meaning"] = {"type": "knn_vector", "dimension": dim, "method": method}
            settings["knn"] = True
        mappings = {"dynamic": False, "_source": {"excludes": ["meaning"]}, "properties": fields}
        body = {"settings": {"index": settings}, "mappings": mappings}
        self._ask("PUT", quote(place), body, none=["resource_already_exists_exception"])

    def drop(self, place: str) -> None:
        self._ask("DELETE", quote(place), none=["missing"])

    def put(self, since: EngineState, rows: Sequence[EngineRow]) -> None:
        made = []
        for row in rows:
            words = {str(term): weight for term, weight in word_weights(row, since).items()}
            put = {**stored_fields(row, since.number), "words": words}
            if row.vector is not None:
                put["vector"] = base64.b64encode(row.vector.astype("<f4").tobytes()).decode()
            made.append(put)
        self._put(since.place, made)

    def settle(self, place: str) -> None:
        self._ask("POST", f"{quote(place)}/_refresh")

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        for row in self._sources(place, where, fields):
            packed = row.get("vector")
            vector = None if packed is None else _unpack(packed)
            yield [vector if name == "vector" else row[name] for name in fields]

    def mark(self, at: EngineState, where: Where, until: int) -> None:
        # Written anew, because `_source` lacks what an update would take of it.
        rows = list(self._sources(at.place, where, tuple(_FIELDS)))
        if rows:
            self._put(at.place, [{**row, "until": until} for row in rows])
            self.settle(at.place)

    def delete(self, place: str, where: Where) -> None:
        body = {"query": {"bool": {"filter": _filters(where)}}}
        params = {"conflicts": "proceed", "refresh": "true"}
        if self._ask("POST", f"{quote(place)}/_delete_by_query", body, **params)["failures"]:
            raise IndexError_("Documents could not be deleted.", hint="See the server's log, then try again.")

    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> Found:
        def counts(terms: Collection[int]) -> dict[int, int]:
            asked = {"filters": {"filters": {str(term): _feature(term) for term in terms}}}
            some = {"bool": {"filter": _filters(counting(at))}}
            reply = self._search(at.place, {"size": 0, "query": some, "aggs": {"of": asked}})
            return {
                int(term): one["doc_count"] for term, one in reply["aggregations"]["of"]["buckets"].items()
            }

        often = dict(sorted(query.items(), key=lambda item: -item[1])[:_CLAUSES])
        weights = query_weights(often, at.manifest.documents, counts)
        if not weights:
            return []
        terms = [_feature(term, weight) for term, weight in weights.items()]
        asked = {"should": terms, "minimum_should_match": 1, "filter": _filters(where)}
        hits = self._hits(at.place, {"size": min(k, _MOST), "query": {"bool": asked}, "_source": ["id"]})
        return [(hit["_source"]["id"], hit["_score"]) for hit in hits]

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> Found:
        k, filters = min(k, _MOST), _filters(where)
        breadth, asked = min(max(_BREADTH, 2 * k), _MOST), vector.tolist()
        near = {"vector": asked, "k": breadth, "filter": {"bool": {"filter": filters}}}
        body = {"size": k, "_source": ["id"], "query": {"knn": {"meaning": near}}}
        # Lucene makes a score above 0 of an inner product.
        scores = ((hit["_source"]["id"], hit["_score"]) for hit in self._hits(at.place, body))
        return [(doc_id, score - 1 if score >= 1 else 1 - 1 / score) for doc_id, score in scores]

    def _put(self, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write documents by number, in as many requests as they need."""
        lines: dict[str, bytes] = {}
        size = 0
        for row in rows:
            packed = row.get("vector")
            whole = row if packed is None else {**row, "meaning": _unpack(packed).tolist()}
            head = json.dumps({"index": {"_id": row["number"]}})
            lines[row["number"]] = f"{head}\n{json.dumps(whole)}\n".encode()
            size += len(lines[row["number"]])
            if size > _BULK:
                self._bulk(place, lines)
                lines, size = {}, 0
        if lines:
            self._bulk(place, lines)

    def _bulk(self, place: str, lines: dict[str, bytes]) -> None:
        for attempt in range(_TRIES):
            answer = self._ask("POST", f"{quote(place)}/_bulk", b"".join(lines.values()))
            if not answer["errors"]:
                return
            done = [item["index"] for item in answer["items"]]
            for item in done:
                if item["status"] not in (200, 201, 429):
                    raise _refusal(item["status"], item["error"])
            busy = {item["_id"] for item in done if item["status"] == 429}
            lines = {number: line for number, line in lines.items() if number in busy}
            time.sleep(min(10.0, 0.1 * 2**attempt))
        raise IndexError_("OpenSearch is too busy to take documents in.", hint="Try again later.")

    def _sources(self, place: str, where: Where, fields: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield what is kept of all documents that match, in order of number."""
        size = _MOST if set(fields) <= {"id", "digest"} else _PAGE
        body: dict[str, Any] = {"size": size, "sort": [{"number": "asc"}], "_source": fields}
        body |= {"query": {"bool": {"filter": _filters(where)}}}
        while True:
            hits = self._hits(place, body)
            yield from (hit["_source"] for hit in hits)
            if len(hits) < size:
                return
            body["search_after"] = hits[-1]["sort"]

    def _hits(self, place: str, body: Mapping[str, Any]) -> list[Any]:
        return list(self._search(place, body)["hits"]["hits"])

    def _search(self, place: str, body: Mapping[str, Any]) -> dict[str, Any]:
        whole = {**body, "track_total_hits": False}
        # A shard that cannot answer is an error, not fewer hits.
        return self._ask("POST", f"{quote(place)}/_search", whole, allow_partial_search_results="false")

    def _ask(
        self, method: str, path: str, body: Any = None, *, none: Sequence[str] = (), **params: str
    ) -> dict[str, Any]:
        """Send a request that does no harm when it is sent twice; `none` are the errors that mean nothing."""
        many = isinstance(body, bytes)
        headers = {"Content-Type": "application/x-ndjson" if many else "application/json"}
        try:
            answer = self._http.send(
                method, f"{self._url}/{path}", repeat=True,
                data=body if body is None or many else json.dumps(body).encode(),
                headers={} if body is None else headers, params=params, seconds=_SECONDS, ok=_JUDGED,
            )  # fmt: skip
            reply = json.loads(self._http.text(answer))
        except StoreError as error:
            raise IndexError_(f"OpenSearch: {error.message}", endpoint=self._url) from error
        except ValueError as error:
            raise IndexError_("OpenSearch gave an answer that is no JSON.") from error
        if not isinstance(reply, dict):
            raise IndexError_("What answers is no OpenSearch.", endpoint=self._url)
        if answer.status_code < 300 and "error" not in reply:
            return reply
        about = reply.get("error")
        about = about if isinstance(about, dict) else {"reason": about}  # proxies before it write a text
        if {"missing" if answer.status_code == 404 else "", about.get("type")} & {*none}:
            return {}
        raise _refusal(answer.status_code, about)


def _refusal(status: int, error: Mapping[str, Any]) -> IndexError_:
    if error.get("type") == "index_not_found_exception":
        return Replaced("The index was built anew or deleted meanwhile.", hint="Try again.")
    hint = None
    if status in (401, 403):
        some = "MRAG_OPENSEARCH"
        hint = f"Set {some}_USER and {some}_PASSWORD, {some}_KEY for an API key, or {some}_TOKEN."
    text = brief(str(error.get("reason") or error.get("type") or ""), 400)
    return IndexError_(f"OpenSearch refuses ({status}): {text.rstrip('.')}.", hint=hint)


def _feature(term: int, weight: float = 1.0) -> dict[str, Any]:
    """Return the query for documents that have a term, with the product of both weights as score."""
    return {"rank_feature": {"field": f"words.{term}", "linear": {}, "boost": weight}}


def _unpack(packed: str) -> Vectors:
    return np.frombuffer(base64.b64decode(packed), "<f4").astype(np.float32)


def _filters(where: Where) -> list[dict[str, Any]]:
    filters: list[dict[str, Any]] = []
    for name, by, value in where:
        if by == "in":
            terms = [{"terms": {name: part}} for part in parts_of(value, _NAMED)]
            filters.append({"bool": {"should": terms, "minimum_should_match": 1}})
        else:
            filters.append({"range": {name: {_RANGES[by]: value}}})
    return filters
