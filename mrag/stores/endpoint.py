"""Queries over the SPARQL 1.1 Protocol.

An answer that is not whole is an error, however the server hides it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import requests
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from mrag import errors
from mrag.rdf.guard import query_form
from mrag.rdf.terms import Triple
from mrag.redaction import redact, redact_url
from mrag.stores.base import (
    BaseStore,
    Capabilities,
    Dataset,
    Limits,
    Row,
    SelectResult,
    SelectStream,
    traced,
)
from mrag.stores.dialect import Dialect, Paths
from mrag.stores.wire.access import Access, is_address
from mrag.stores.wire.http import Http
from mrag.stores.wire.results import Incomplete, JsonResult, triples_of

DEFAULT = "urn:mrag:default"
"""Stands in a dataset for the endpoint's own default graph, whatever that is."""

_T = TypeVar("_T")
JSON_RESULTS = "application/sparql-results+json"
_RESULT_TYPES = (JSON_RESULTS, "application/json")


class SparqlEndpoint(BaseStore):
    """The queries of the SPARQL 1.1 Protocol.

    Args:
        url: The store's URL, for messages; a login in it is not told.
        paths: URLs of its services.
        access: How it is reached.
        dialect: What it does in its own way.

    Raises:
        ConfigError: If a URL is not one of HTTP.
    """

    capabilities = Capabilities()
    digest = False

    def __init__(
        self, url: str, paths: Paths, access: Access | None = None, dialect: Dialect | None = None
    ) -> None:
        for path in (paths.query, paths.update, paths.graphs):
            if path is not None and not is_address(path):
                raise errors.ConfigError(
                    "A store's address begins with http:// or https://, then come its name and port.",
                    endpoint=path,
                    hint="Check the URL.",
                )
        self.url, self.identity = redact_url(url), redact(url)
        self.paths = paths
        self.dialect = dialect or Dialect()
        places = (url, paths.query, paths.update or "", paths.graphs or "")
        self.http = Http(self.url, access or Access(), digest=self.digest, places=places)
        self._closed = False

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query over the graphs of `dataset` with rows that are not held."""
        response = self._query(query, dataset, JSON_RESULTS, None)
        with self._whole(query):
            result = JsonResult(self.http.chunks(response, query))

        def rows() -> Iterator[Row]:
            with self._whole(query):
                yield from result

        return SelectStream(result.variables, rows())

    @traced
    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""
        return self._boolean(query, dataset, None)

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query, triple by triple."""
        response = self._query(query, dataset, self.dialect.nt, None)
        with self._whole(query):
            yield from self._watched(triples_of(self.http.chunks(response, query), self.dialect.nt), query)

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self.http.close()

    @traced
    def _bounded(self, query: str, dataset: Dataset, limits: Limits) -> SelectResult | bool | list[Triple]:
        deadline = time.monotonic() + limits.seconds
        response = self._query(query, dataset, self._accept(query), limits.seconds)
        media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        chunks = self.http.chunks(response, query)
        left = limits.bytes
        with self._whole(query):
            if media in _RESULT_TYPES:
                result = JsonResult(chunks)
                if result.boolean is not None:
                    return result.boolean
                rows: list[Row] = []
                for row in result:
                    left -= sum(len(t) for t in row if t is not None)
                    self._within(len(rows), left, deadline, limits, query)
                    rows.append(row)
                return SelectResult(result.variables, rows)
            triples: list[Triple] = []
            for triple in self._watched(triples_of(chunks, self.dialect.nt), query):
                left -= sum(len(t) for t in triple)
                self._within(len(triples), left, deadline, limits, query)
                triples.append(triple)
            return triples

    def _accept(self, query: str) -> str:
        """Return the media types for a query; where that is enough, the server finds out its form."""
        if not self.dialect.by_form:
            return f"{JSON_RESULTS}, {self.dialect.nt};q=0.9"
        triples = query_form(query) in ("ConstructQuery", "DescribeQuery")
        return self.dialect.nt if triples else JSON_RESULTS

    def _within(self, count: int, left: int, deadline: float, limits: Limits, query: str) -> None:
        if count >= limits.rows or left < 0:
            raise errors.QueryRefused(
                f"The result is larger than {limits.rows} rows or {limits.bytes} bytes.",
                query=query,
                hint="Add a LIMIT, or allow more.",
            )
        if time.monotonic() > deadline:
            raise errors.QueryTimeout(
                "The query passed its deadline and was given up.",
                endpoint=self.url,
                query=query,
                hint="Narrow it (fewer free variables, a LIMIT), or allow more seconds.",
            )

    def _boolean(self, query: str, dataset: Dataset, seconds: float | None) -> bool:
        response = self._query(query, dataset, JSON_RESULTS, seconds)
        with self._whole(query):
            answer = JsonResult(self.http.chunks(response, query)).boolean
        if answer is None:
            raise self.http.incomplete("it is no answer to ASK", query)
        return answer

    def _query(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        response = self._request(query, dataset, accept, seconds)
        self._check(response, query)
        return response

    def _request(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        if self._closed:
            raise errors.StoreError("The store is closed.", hint="Open it again with mrag.connect.")
        request = _Request(self.paths.query, query, accept)
        for name, graphs in (("default-graph-uri", dataset.default), ("named-graph-uri", dataset.named)):
            for graph in graphs:
                if graph != DEFAULT:
                    request.addParameter(name, graph)
        for name, value in self._parameters(dataset, seconds).items():
            request.addParameter(name, value)
        made = request._createRequest()
        response = self.http.send(
            made.get_method(),
            made.full_url,
            repeat=True,
            data=made.data,
            headers=dict(made.header_items()),
            seconds=None if seconds is None else seconds + 0.5,
            query=query,
        )
        return response

    def _parameters(self, dataset: Dataset, seconds: float | None) -> Mapping[str, str]:
        name = self.dialect.seconds_parameter
        if name is None or seconds is None:
            return {}
        return {name: str(max(1, round(seconds * self.dialect.seconds_unit)))}

    def _check(self, response: requests.Response, query: str) -> None:
        """Raise if the headers say that the answer is not whole."""

    def _watched(self, items: Iterator[_T], query: str) -> Iterator[_T]:
        """Yield the triples of an answer, or raise where they are known not to be all."""
        return items

    def _whole(self, query: str | None) -> _Whole:
        return _Whole(self.http, query)


@dataclass
class _Whole:
    """Turns what shows an incomplete answer into an error that names the server."""

    http: Http
    query: str | None = field(default=None)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Incomplete | UnicodeDecodeError):
            raise self.http.incomplete(str(error), self.query) from self.http.cause(error)


class _Request(SPARQLWrapper):
    """Forms a request of the SPARQL 1.1 Protocol; it is sent over the pooled session."""

    def __init__(self, endpoint: str, query: str, accept: str) -> None:
        super().__init__(endpoint, returnFormat=JSON)
        self._accept = accept
        self.setMethod(POST)
        self.setOnlyConneg(True)
        # The form of the query is known, so the library need not guess it from the text.
        self.queryString, self.queryType = query, "SELECT"

    def _getAcceptHeader(self) -> str:
        return self._accept
