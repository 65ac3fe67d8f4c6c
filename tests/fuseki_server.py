"""A loopback server that speaks Fuseki's protocol over the embedded store, for the adapter's requests.

It is not Fuseki: paths, parameters, status codes and the dynamic datasets are those of its documentation,
what it answers comes from Oxigraph. `/$/ping` and `/$/datasets` are there, login is not.
"""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from mrag.errors import QueryRefused, QueryTimeout, StoreError
from mrag.rdf.terms import Term, term_to_json, to_ox
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.oxigraph import OxigraphStore
from tests.servers import Quiet, answering

UNNAMED = "urn:fixture:unnamed"  # Where the triples of the unnamed graph are kept


class Fuseki(Quiet):
    protocol_version = "HTTP/1.1"
    store: OxigraphStore
    asked: list[dict[str, list[str]]]
    services: ClassVar = {"/ds/query": "query", "/ds/update": "update", "/ds/data": "graphs"}
    unnamed, union = "urn:x-arq:DefaultGraph", "urn:x-arq:UnionGraph"
    merged = False  # Whether a query without a dataset sees the named graphs merged with the unnamed one
    seconds = 1.0  # How many seconds a unit of the time limit is
    media = "application/n-triples"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/$/ping":
            return self.answer(200, b"2026-01-01T00:00:00.000+00:00\n")
        if self.services.get(url.path) == "query":
            return self.query(parse_qs(url.query))
        graph = self.graph()
        if graph is None or not self.store.count(graph):
            return self.answer(404, b"No such graph")
        out = io.BytesIO()
        self.store.dump(graph, out)
        self.answer(200, out.getvalue(), "application/n-triples")

    def do_DELETE(self) -> None:
        graph = self.graph()
        if graph is None:
            return self.answer(404)
        known = self.store.count(graph) > 0
        self.store.clear(graph)
        self.answer(204 if known else 404)

    def do_POST(self) -> None:
        try:
            data = self.body()
        except (ValueError, OSError):
            self.close_connection = True
            return None
        path = urlsplit(self.path).path
        service = self.service(path)
        try:
            if service == "query":
                return self.query(parse_qs(data.decode(), keep_blank_values=True))
            if service == "update":
                assert self.headers["Content-Type"] == "application/sparql-update"
                self.store.update(data.decode())
                return self.answer(204)
            if service == "graphs" and (graph := self.graph()) is not None:
                assert self.headers["Content-Type"] == self.media
                self.store.insert(data, graph)
                return self.answer(200, b'{"count": 1}', "application/json")
            if path == "/$/datasets":
                self.asked.append(parse_qs(data.decode()))
                return self.answer(200)
        except StoreError as error:
            return self.answer(400, str(error).encode())
        self.answer(404)

    def service(self, path: str) -> str | None:
        return self.services.get(path)

    def graph(self) -> str | None:
        return parse_qs(urlsplit(self.path).query).get("graph", [None])[0]

    def shown(self, term: Term) -> str:
        return str(to_ox(term))

    def query(self, form: dict[str, list[str]]) -> None:
        everything = self.store.graphs()
        named = tuple(g for g in everything if g != UNNAMED)
        stand = {self.unnamed: (UNNAMED,), self.union: named}
        default = form.get("default-graph-uri")
        if default is None and "named-graph-uri" not in form:
            dataset = Dataset((UNNAMED, *named) if self.merged else (UNNAMED,), named)
        else:
            graphs = [g for name in default or () for g in stand.get(name, (name,))]
            dataset = Dataset(tuple(dict.fromkeys(graphs)), tuple(form.get("named-graph-uri", ())))
        self.asked.append(form)
        seconds = float(form.get("timeout", [60 / self.seconds])[0]) * self.seconds
        try:
            found = self.store.bounded(form["query"][0], dataset, Limits(seconds, 10**6, 1 << 30))
        except QueryTimeout:
            return self.answer(503, b"Query timed out")
        except QueryRefused as error:
            return self.answer(400, str(error).encode())
        if isinstance(found, list):
            lines = [f"{to_ox(t.s)} {to_ox(t.p)} {self.shown(t.o)} .\n" for t in found]
            return self.answer(200, "".join(lines).encode(), self.media)
        if isinstance(found, SelectResult):
            rows = [
                {v: term_to_json(t) for v, t in zip(found.variables, row, strict=True) if t is not None}
                for row in found
            ]
            value: object = {"head": {"vars": found.variables}, "results": {"bindings": rows}}
        else:
            value = {"head": {}, "boolean": found}
        self.answer(200, json.dumps(value).encode(), "application/sparql-results+json; charset=utf-8")


@contextmanager
def protocol_server(kind: type[Fuseki]) -> Iterator[tuple[str, type[Fuseki]]]:
    """Give the address of a server, and its class with what was sent and the store behind."""
    with OxigraphStore() as store:
        handler = type("Handler", (kind,), {"store": store, "asked": []})
        with answering(handler) as at:
            yield f"http://{at}", handler


@contextmanager
def fuseki_server() -> Iterator[tuple[str, list[dict[str, list[str]]], OxigraphStore]]:
    """Give the URL of the dataset, the forms that were sent, and the store behind."""
    with protocol_server(Fuseki) as (base, handler):
        yield f"fuseki:{base}/ds", handler.asked, handler.store
