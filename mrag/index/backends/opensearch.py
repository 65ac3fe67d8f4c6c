# ruff: noqa: D102 - what implements an interface is described there
"""Similarity indexes in OpenSearch: vectors, and words as features with the weights of BM25.

An index `mrag_…` of the server has a document for each document; see `IndexEngine`. Searches are JSON, of
which what a user wrote is never more than a value.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from os import environ
from typing import Any, Final

import numpy as np

from mrag._tables import tables
from mrag.errors import ConfigError, IndexError_
from mrag.index.backends.engine import (
    EngineBackend,
    EngineState,
    Replaced,
    ScoredIds,
    SparseEngine,
    Where,
    client_package,
    counting,
    parts_of,
)
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding import Vectors
from mrag.redaction import brief, redact, redact_url
from mrag.stores.http import is_address

__all__ = ["OpenSearchBackend"]

_NAME: Final = "MRAG_OPENSEARCH_"
_SECONDS: Final = 600.0
_BREADTH: Final = 400  # How many vectors the graph looks at, unless more are wanted
_MOST: Final = 10_000  # Hits of a search, candidates of a search by vectors, and rows of a page
_PAGE: Final = 1000
_NAMED: Final = 50_000  # Values of one filter; servers take 65,536
_CLAUSES: Final = 1000  # Terms of a query; servers take 1,024
_RANGES: Final = {"<": "lt", "<=": "lte", ">": "gt"}
_TABLES: Final = tables("index/data/opensearch.toml")


class OpenSearchBackend(EngineBackend):
    """Keeps indexes in OpenSearch: `opensearch:http://HOST:9200`."""

    login_by = _NAME + "PASSWORD"

    def connect(self, url: str) -> _Engine:
        return _Engine(url.partition(":")[2].rstrip("/"))


class _Engine(SparseEngine):
    """The questions of `IndexEngine` as requests."""

    def __init__(self, url: str) -> None:
        if not is_address(url):
            hint = "Write opensearch:http://HOST:9200."
            raise ConfigError(f"{redact_url(url)} is no address of a server.", hint=hint)
        client = client_package("opensearchpy", "OpenSearch", "opensearch")
        names = ("USER", "PASSWORD", "KEY", "TOKEN", "CA")
        user, password, key, token, authorities = (environ.get(_NAME + name) for name in names)
        login = f"ApiKey {key}" if key else f"Bearer {token}" if token else None
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)  # it logs each error that it raises
        self._client = client.OpenSearch(
            [url], http_auth=(user, password or "") if user and not login else None,
            headers={"Authorization": login} if login else None, ca_certs=authorities, maxsize=32,
            timeout=_SECONDS, retry_on_status=(429, 502, 503, 504),
        )  # fmt: skip
        self._url = url

    def _ask(self, method: Callable[..., Any], **values: Any) -> Any:
        """Call a method of the client, and raise what OpenSearch refuses."""
        from opensearchpy import exceptions

        try:
            reply = method(**values)
        except exceptions.ConnectionError as error:
            why = redact(str(error.info))
            raise IndexError_("OpenSearch cannot be reached.", endpoint=self._url, hint=why) from error
        except exceptions.TransportError as error:
            raise _refusal(error.status_code, error.info) from error
        except exceptions.OpenSearchException as error:
            raise IndexError_("What answers is no OpenSearch.", endpoint=self._url) from error
        if isinstance(reply, dict) and "error" in reply and "already_exists" not in str(reply["error"]):
            raise _refusal(reply.get("status", 200), reply)
        return reply

    def places(self) -> list[str]:
        return sorted(self._ask(self._client.indices.get_alias, index="mrag_*"))

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        fields, knn = _TABLES["fields"], dim is not None
        if knn:
            fields = {**fields, "meaning": {**_TABLES["meaning"], "dimension": dim}}
        mappings = {"dynamic": False, "_source": {"excludes": ["meaning"]}, "properties": fields}
        body = {"settings": {"index": {"refresh_interval": "-1", "knn": knn}}, "mappings": mappings}
        self._ask(self._client.indices.create, index=place, body=body, ignore=400)

    def drop(self, place: str) -> None:
        self._ask(self._client.indices.delete, index=place, ignore_unavailable=True)

    def write(self, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
        from opensearchpy.helpers import bulk

        def source(row: Mapping[str, Any]) -> Mapping[str, Any]:
            if (vector := row.get("vector")) is None:
                return row
            packed = base64.b64encode(vector.astype("<f4").tobytes()).decode()
            return {**row, "vector": packed, "meaning": vector.tolist()}

        actions = ({"_index": place, "_id": row["number"], "_source": source(row)} for row in rows)
        knobs = {"client": self._client, "raise_on_error": False, **_TABLES["bulk"]}
        _, failures = self._ask(bulk, actions=actions, **knobs)
        for failure in failures:
            raise _refusal(failure["index"]["status"], failure["index"])

    def settle(self, place: str) -> None:
        self._ask(self._client.indices.refresh, index=place)

    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        size = _MOST if {*fields} <= {"id", "digest"} else _PAGE
        body: dict[str, Any] = {"size": size, "sort": [{"number": "asc"}], "_source": fields}
        body |= {"query": {"bool": {"filter": _filters(where)}}}
        while True:
            hits = self._search(place, body)["hits"]["hits"]
            for row in (hit["_source"] for hit in hits):
                if "vector" in fields:
                    row["vector"] = np.frombuffer(base64.b64decode(row["vector"]), "<f4")
                yield [row[name] for name in fields]
            if len(hits) < size:
                return
            body["search_after"] = hits[-1]["sort"]

    def delete(self, place: str, where: Where) -> None:
        body = {"query": {"bool": {"filter": _filters(where)}}}
        knobs = {"conflicts": "proceed", "refresh": True}
        if self._ask(self._client.delete_by_query, index=place, body=body, **knobs)["failures"]:
            raise IndexError_("Documents could not be deleted.", hint="See the server's log, then try again.")

    def counts(self, at: EngineState, terms: Collection[int]) -> Mapping[int, int]:
        asked = {"of": {"filters": {"filters": {str(term): _feature(term) for term in terms}}}}
        some = {"bool": {"filter": _filters(counting(at))}}
        reply = self._search(at.place, {"size": 0, "query": some, "aggs": asked})
        return {int(term): one["doc_count"] for term, one in reply["aggregations"]["of"]["buckets"].items()}

    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> ScoredIds:
        often = sorted(query.items(), key=lambda item: -item[1])[:_CLAUSES]
        return super().by_words(at, dict(often), k, where)

    def by_weights(self, at: EngineState, weights: Mapping[int, float], k: int, where: Where) -> ScoredIds:
        terms = [_feature(term, weight) for term, weight in weights.items()]
        asked = {"should": terms, "minimum_should_match": 1, "filter": _filters(where)}
        return self._hits(at.place, min(k, _MOST), {"bool": asked})

    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> ScoredIds:
        near = {"vector": vector.tolist(), "k": min(max(_BREADTH, 2 * k), _MOST)}
        near["filter"] = {"bool": {"filter": _filters(where)}}
        scores = self._hits(at.place, min(k, _MOST), {"knn": {"meaning": near}})
        # Lucene makes a score above 0 of an inner product.
        return [(doc_id, score - 1 if score >= 1 else 1 - 1 / score) for doc_id, score in scores]

    def _hits(self, place: str, k: int, query: Mapping[str, Any]) -> ScoredIds:
        reply = self._search(place, {"size": k, "query": query, "_source": ["id"]})
        return [(hit["_source"]["id"], hit["_score"]) for hit in reply["hits"]["hits"]]

    def _search(self, place: str, body: Mapping[str, Any]) -> Any:
        # A shard that cannot answer is an error, not fewer hits.
        knobs = {"allow_partial_search_results": False, "body": {**body, "track_total_hits": False}}
        return self._ask(self._client.search, index=place, **knobs)


def _refusal(status: int | str, reply: Any) -> IndexError_:
    about = reply.get("error") if isinstance(reply, dict) else reply
    about = about if isinstance(about, dict) else {"reason": about}  # proxies before it write a text
    if about.get("type") == "index_not_found_exception":
        return Replaced("The index was built anew or deleted meanwhile.", hint="Try again.")
    login = f"Set {_NAME}USER and {_NAME}PASSWORD, {_NAME}KEY for an API key, or {_NAME}TOKEN."
    hint = login if status in (401, 403) else None
    text = brief(str(about.get("reason") or about.get("type") or ""), 400)
    return IndexError_(f"OpenSearch refuses ({status}): {text.rstrip('.')}.", hint=hint)


def _feature(term: int, weight: float = 1.0) -> dict[str, Any]:
    """Return the query for documents that have a term, with the product of both weights as score."""
    return {"rank_feature": {"field": f"words.{term}", "linear": {}, "boost": weight}}


def _filters(where: Where) -> list[dict[str, Any]]:
    return [
        {"bool": {"should": [{"terms": {name: part}} for part in parts_of(value, _NAMED)]}}
        if by == "in"
        else {"range": {name: {_RANGES[by]: value}}}
        for name, by, value in where
    ]
