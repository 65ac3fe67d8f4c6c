"""Any endpoint that speaks the SPARQL 1.1 Protocol, and what the servers with a dialect of their own share.

What differs from server to server stands in a `Dialect`; what a server does by other calls is overridden
in its module. An answer that is not whole is an error, however the server hides it.
"""

from __future__ import annotations

import logging
import os
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import pyoxigraph as ox
import requests
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from mrag.errors import (
    ConfigError,
    EndpointError,
    LoadError,
    MragError,
    QueryRefused,
    QueryTimeout,
    StoreError,
)
from mrag.loaders.rdf import LoadNotes, Progress, Source
from mrag.rdf import queries
from mrag.rdf.patterns import Construct
from mrag.rdf.printing import to_insert
from mrag.rdf.terms import Triple
from mrag.redaction import redact, redact_url
from mrag.stores.base import AsyncReads, Capabilities, Dataset, Layers, Limits, Row, SelectResult
from mrag.stores.dialect import NT, Dialect, Paths
from mrag.stores.process.parsing import PART, ntriples
from mrag.stores.wire.http import Access, Http, is_address
from mrag.stores.wire.results import Incomplete, JsonResult, lines_of, triples_of
from mrag.stores.wire.sending import send_parts, send_stream

logger = logging.getLogger(__name__)

SCRATCH = "urn:mrag:scratch:"
OWN = "urn:mrag:"
DEFAULT = "urn:mrag:default"
"""Stands in a dataset for the endpoint's own default graph, whatever that is."""

_T = TypeVar("_T")
_JSON = "application/sparql-results+json"
_RESULT_TYPES = (_JSON, "application/json")
_OLD_SCRATCH = 3600.0


class SparqlStore(AsyncReads):
    """A store behind the SPARQL 1.1 Protocol.

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
                raise ConfigError(
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

    # -- reading -----------------------------------------------------------------------------------

    def select(self, query: str, dataset: Dataset) -> SelectResult:
        """Answer a SELECT query over the graphs of `dataset`."""
        names, rows = self._rows(query, dataset, None)
        return SelectResult(names, list(rows))

    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""
        return self._boolean(query, dataset, None)

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query, triple by triple."""
        response = self._query(query, dataset, self.dialect.nt, None)
        with self._whole(query):
            yield from self._watched(triples_of(self.http.chunks(response, query)), query)

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query of any form within its limits.

        Args:
            query: A query that the read gate has let through.
            dataset: The graphs it sees.
            limits: Its caps. The server is told the seconds where it understands that; the connection is
                closed at the deadline in any case.
            extra: N-Triples for its sight alone: they are put into a graph of their own for as long as it
                runs, which takes the right to write.

        Raises:
            QueryTimeout: At the deadline.
            QueryRefused: If the result is larger than the caps, or the server rejects the query.
            EndpointError: If the answer is not whole.
        """
        if not extra:
            return self._bounded(query, dataset, limits)
        if DEFAULT in dataset.default:
            raise QueryRefused(
                "Similarity searches inside a query need to know the store's graphs.",
                query=query,
                hint="Name them when connecting: graphs=[…], or ?graph=IRI in the URL.",
            )
        scratch = f"{SCRATCH}{int(time.time())}:{uuid.uuid4().hex}"
        self.insert(extra, scratch)
        try:
            return self._bounded(query, Dataset((*dataset.default, scratch), dataset.named), limits)
        finally:
            self.clear(scratch)

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
            for triple in self._watched(triples_of(chunks), query):
                left -= sum(len(t) for t in triple)
                self._within(len(triples), left, deadline, limits, query)
                triples.append(triple)
            return triples

    def _accept(self, query: str) -> str:
        """Return the media types for a query whose form is not known; the server knows it."""
        return f"{_JSON}, {self.dialect.nt};q=0.9"

    def _within(self, count: int, left: int, deadline: float, limits: Limits, query: str) -> None:
        if count >= limits.rows or left < 0:
            raise QueryRefused(
                f"The result is larger than {limits.rows} rows or {limits.bytes} bytes.",
                query=query,
                hint="Add a LIMIT, or allow more.",
            )
        if time.monotonic() > deadline:
            raise QueryTimeout(
                "The query passed its deadline and was given up.",
                endpoint=self.url,
                query=query,
                hint="Narrow it (fewer free variables, a LIMIT), or allow more seconds.",
            )

    def edges(
        self, graph: str, *, s: str | None = None, p: str | None = None, o: str | None = None
    ) -> Iterator[ox.Quad]:
        """Not offered; neighbours are read by queries (see `capabilities.edges`)."""
        raise StoreError("A remote store gives no edges without a query.", endpoint=self.url)

    def count(self, graph: str) -> int:
        """Count the triples of a graph."""
        rows = self.select(queries.get("explore/size").text, Dataset((graph,), ())).rows
        return int(str(rows[0][0]))

    def graphs(self) -> list[str]:
        """List the named graphs in order of name, scratch graphs and those of the server left out."""
        name = "explore/graph-names" if self.dialect.empty_pattern else "explore/graphs"
        rows = self.select(queries.get(name).text, Dataset())
        left_out = (SCRATCH, *self.dialect.system_graphs)
        return sorted({str(g) for g in rows.column("g") if g is not None and not str(g).startswith(left_out)})

    def layers(self) -> Layers | None:
        """Return the graphs of data that is in the store already, None if it is empty."""
        has = queries.get("explore/any").text
        default = self.dialect.default_graphs or (DEFAULT,)
        named = tuple(g for g in self.graphs() if not g.startswith(OWN))
        if self.ask(has, Dataset(default)):
            if named and not self.dialect.default_graphs:
                logger.info("the default graph is read; named graphs are left out unless they are named")
            return Layers(default)
        return Layers(named) if named else None

    # -- writing -----------------------------------------------------------------------------------

    def update(self, query: str) -> None:
        """Carry out an update, whole or not at all."""
        response = self.http.send(
            "POST",
            self._needed(self.paths.update, "updates"),
            repeat=False,
            data=query.encode(),
            headers={"Content-Type": "application/sparql-update"},
            query=query,
        )
        self.http.text(response)

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put what a CONSTRUCT pattern gives into the graph `into`, on the server."""
        self.update(to_insert(query, into, dataset.default, dataset.named))

    def insert(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to a graph, whole or not at all."""
        self._post(graph, ntriples, NT)

    def bulk_load(
        self,
        sources: Sequence[Source],
        graph: str,
        *,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
    ) -> LoadNotes:
        """Load files into a graph, whole or not at all; what a failed load has sent is taken out again.

        Args:
            sources: The files, read here and sent as N-Triples, blank nodes as IRIs.
            graph: IRI of the graph, which no one reads yet.
            on_progress: Called with bytes read and bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.

        Raises:
            LoadError: If a file is not well formed.
            EndpointError: If the server refuses or goes away.
        """
        notes = LoadNotes()
        before = self.count(graph) if not self.capabilities.atomic else 0
        try:
            size = self.dialect.chunk or PART
            send = send_stream if self.dialect.chunk is None else send_parts
            read = ntriples(sources, notes, on_progress, skip_bad_lines=skip_bad_lines, part=size)
            send(read, partial(self._add, graph))
        except BaseException:
            if not self.capabilities.atomic and not before:
                self._forget(graph)
            raise
        return notes

    def _add(self, graph: str, data: Any) -> None:
        self._post(graph, data, NT, bulk=True)

    def _forget(self, graph: str) -> None:
        try:
            self.clear(graph)
        except MragError as error:
            logger.warning("what the failed load had sent stays in <%s>: %s", graph, error)

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples."""
        response = self.http.send(
            "DELETE",
            self._needed(self.paths.graphs, "the graph store protocol"),
            params={self.dialect.graph_parameter: graph},
            repeat=True,
            ok=(200, 202, 204, 404),
        )
        response.close()

    def dump(self, graph: str, output: IO[bytes], format: str = "nt") -> None:
        """Write a graph to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""
        if format not in ("nt", "ttl"):
            raise StoreError(f"Cannot dump as {format}.", hint="Use nt or ttl.")
        with tempfile.TemporaryFile() as kept, self._whole(None):
            # Nothing reaches the output before the whole graph has come.
            for line in self._graph_lines(graph):
                kept.write(line + b"\n")
            kept.seek(0)
            if format == "nt":
                while part := kept.read(1 << 20):
                    output.write(part)
            else:
                quads = ox.parse(kept, ox.RdfFormat.N_TRIPLES, lenient=True)
                ox.serialize((q.triple for q in quads), output, ox.RdfFormat.TURTLE)

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        text = queries.get("kg/graph").text
        response = self._query(text, Dataset((graph,)), self.dialect.nt, None)
        yield from self._watched(lines_of(self.http.chunks(response)), text)

    def sweep(self) -> int:
        """Remove scratch graphs that a process left behind more than an hour ago."""
        rows = self.select(queries.get("explore/graphs").text, Dataset())
        names = [str(g) for g in rows.column("g") if str(g).startswith(SCRATCH)]
        old = [g for g in names if _age(g) > _OLD_SCRATCH]
        for graph in old:
            self.clear(graph)
        return len(old)

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self.http.close()

    def __enter__(self) -> SparqlStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- health ------------------------------------------------------------------------------------

    def server(self) -> str:
        """Return the server's name and version as far as it tells them.

        Raises:
            EndpointError: If it cannot be reached.
        """
        response = self._query(queries.get("explore/any").text, Dataset((DEFAULT,)), _JSON, 10.0)
        self.http.text(response)
        return f"{self.dialect.name} ({response.headers.get('Server', 'version not told')})"

    # -- inside ------------------------------------------------------------------------------------

    def _rows(
        self, query: str, dataset: Dataset, seconds: float | None
    ) -> tuple[tuple[str, ...], Iterator[Row]]:
        response = self._query(query, dataset, _JSON, seconds)
        with self._whole(query):
            result = JsonResult(self.http.chunks(response, query))

        def rows() -> Iterator[Row]:
            with self._whole(query):
                yield from result

        return result.variables, rows()

    def _boolean(self, query: str, dataset: Dataset, seconds: float | None) -> bool:
        response = self._query(query, dataset, _JSON, seconds)
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
            raise StoreError("The store is closed.", hint="Open it again with mrag.connect.")
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

    def _post(self, graph: str, data: Any, media: str, *, bulk: bool = False) -> None:
        response = self.http.send(
            "POST",
            self._needed(self.paths.graphs, "the graph store protocol"),
            params={self.dialect.graph_parameter: graph, **(self._bulk_parameters() if bulk else {})},
            # Adding the same triples twice is adding them once, but a stream cannot be sent again.
            repeat=isinstance(data, bytes),
            data=data,
            headers={"Content-Type": media},
            upload=bulk,
        )
        self.http.text(response)

    def _bulk_parameters(self) -> Mapping[str, str]:
        # Oxigraph loads in half the time when it need not be able to take the load back, which is done here.
        return {"no_transaction": ""} if self.http.server.startswith("Oxigraph") else {}

    def _needed(self, path: str | None, what: str) -> str:
        if path is None:
            raise EndpointError(
                f"No address for {what} is known, so nothing can be written.",
                endpoint=self.url,
                hint="Give it in the URL: sparql:http://host/query?update=http://host/update"
                "&graphs=http://host/store",
            )
        return path


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


def _age(scratch: str) -> float:
    stamp = scratch.removeprefix(SCRATCH).partition(":")[0]
    return time.time() - int(stamp) if stamp.isdigit() else 0.0


def access_from_env(given: Access | None = None) -> Access:
    """Return the login that the environment names, where none is given.

    `MRAG_STORE_USER`, `MRAG_STORE_PASSWORD`, `MRAG_STORE_TOKEN`, and `MRAG_STORE_CA` for the file of an
    authority to trust.

    Raises:
        LoadError: If the file of the authority is not there.
    """
    if given is not None:
        return given
    ca = os.environ.get("MRAG_STORE_CA")
    if ca and not Path(ca).is_file():
        raise LoadError("There is no such file of certificates.", file=ca, hint="Check MRAG_STORE_CA.")
    return Access(
        user=os.environ.get("MRAG_STORE_USER"),
        password=os.environ.get("MRAG_STORE_PASSWORD"),
        token=os.environ.get("MRAG_STORE_TOKEN"),
        verify=ca or True,
    )
