"""Requests to OpenSearch and Elasticsearch, and in what the two differ."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import environ
from typing import Any, Final
from urllib.parse import quote

from mrag.errors import ConfigError, IndexError_, StoreError
from mrag.index.backends.engines.rows import Replaced
from mrag.redaction import brief, redact_url
from mrag.stores.http import Access, Http, is_address

__all__ = ["ELASTICSEARCH", "OPENSEARCH", "SearchDialect", "SearchServer"]

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
    """In what the two differ.

    Args:
        name: Of the product.
        variables: What the variables of its login begin with.
        settings: Settings of an index with vectors.
        field: Returns the mapping of a field of vectors, by their dimensions.
        nearest: Returns the body of a search, by vector, hits, breadth and filters.
        plain_from: The major version from which on scores of BM25 have no factor of k1 + 1.

    Example:
        >>> OPENSEARCH.field(3)["type"], ELASTICSEARCH.field(3)["type"]
        ('knn_vector', 'dense_vector')
    """

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
    """A session to one server.

    Args:
        dialect: What it is.
        url: Its address, `http://HOST:9200`.

    Raises:
        ConfigError: If that is no address.
    """

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
        """Whether it multiplies the scores of BM25 by k1 + 1.

        Raises:
            ConfigError: If the server is of the other kind.
        """
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
        """Send a request that does no harm when it is sent twice, and return what the server says.

        Args:
            method: The HTTP method.
            path: Below the address; names in it are quoted by `place`.
            body: JSON.
            none: Types of errors that are an answer; `missing` is a status of 404.
            params: Parameters of the URL.

        Raises:
            IndexError_: If the server cannot be reached or refuses.
        """
        data = None if body is None else json.dumps(body).encode()
        return self._sent(method, path, data, "application/json", none, params)

    def put(self, place: str, documents: Iterator[tuple[str, dict[str, Any]]]) -> None:
        """Write documents by ID, in as many requests as they need.

        Raises:
            IndexError_: If one of them is refused, or the server stays too busy.
        """
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
