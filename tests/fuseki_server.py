"""A loopback server that speaks Fuseki's protocol over the embedded store, for the adapter's requests.

It is not Fuseki: paths, parameters, status codes and the dynamic datasets are those of its documentation,
what it answers comes from Oxigraph. `/$/ping` and `/$/datasets` are there, login is not.
"""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from rdflib import Literal, URIRef

from mrag.errors import QueryRefused, QueryTimeout, StoreError
from mrag.rdf.terms import Term, to_ox
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.oxigraph import OxigraphStore

UNNAMED = "urn:fixture:unnamed"
"""Where the triples of the unnamed graph are kept."""


class Fuseki(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: OxigraphStore
    asked: list[dict[str, list[str]]]

    def log_message(self, *args: object) -> None:
        pass

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status: int, text: bytes = b"", media: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/$/ping":
            return self.answer(200, b"2026-01-01T00:00:00.000+00:00\n")
        if url.path == "/ds/query":
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
        try:
            if path == "/ds/query":
                return self.query(parse_qs(data.decode(), keep_blank_values=True))
            if path == "/ds/update":
                assert self.headers["Content-Type"] == "application/sparql-update"
                self.store.update(data.decode())
                return self.answer(204)
            if path == "/ds/data" and (graph := self.graph()) is not None:
                assert self.headers["Content-Type"] == "application/n-triples"
                self.store.insert(data, graph)
                return self.answer(200, b'{"count": 1}', "application/json")
            if path == "/$/datasets":
                self.asked.append(parse_qs(data.decode()))
                return self.answer(200)
        except StoreError as error:
            return self.answer(400, str(error).encode())
        self.answer(404)

    def graph(self) -> str | None:
        return parse_qs(urlsplit(self.path).query).get("graph", [None])[0]

    def query(self, form: dict[str, list[str]]) -> None:
        everything = self.store.graphs()
        named = tuple(g for g in everything if g != UNNAMED)
        stand = {"urn:x-arq:DefaultGraph": (UNNAMED,), "urn:x-arq:UnionGraph": named}
        default = form.get("default-graph-uri")
        if default is None and "named-graph-uri" not in form:
            dataset = Dataset((UNNAMED,), named)
        else:
            graphs = [g for name in default or () for g in stand.get(name, (name,))]
            dataset = Dataset(tuple(dict.fromkeys(graphs)), tuple(form.get("named-graph-uri", ())))
        self.asked.append(form)
        seconds = float(form.get("timeout", ["60"])[0])
        try:
            found = self.store.bounded(form["query"][0], dataset, Limits(seconds, 10**6, 1 << 30))
        except QueryTimeout:
            return self.answer(503, b"Query timed out")
        except QueryRefused as error:
            return self.answer(400, str(error).encode())
        if isinstance(found, list):
            lines = [f"{to_ox(t.s)} {to_ox(t.p)} {to_ox(t.o)} .\n" for t in found]
            return self.answer(200, "".join(lines).encode(), "application/n-triples")
        if isinstance(found, SelectResult):
            rows = [
                {v: cell(t) for v, t in zip(found.variables, row, strict=True) if t is not None}
                for row in found
            ]
            value: object = {"head": {"vars": found.variables}, "results": {"bindings": rows}}
        else:
            value = {"head": {}, "boolean": found}
        self.answer(200, json.dumps(value).encode(), "application/sparql-results+json; charset=utf-8")


def cell(term: Term) -> dict[str, str]:
    if isinstance(term, URIRef):
        return {"type": "uri", "value": str(term)}
    if isinstance(term, Literal):
        found = {"type": "literal", "value": str(term)}
        if term.language:
            found["xml:lang"] = term.language
        elif term.datatype is not None:
            found["datatype"] = str(term.datatype)
        return found
    return {"type": "bnode", "value": str(term)}


@contextmanager
def fuseki_server() -> Iterator[tuple[str, list[dict[str, list[str]]], OxigraphStore]]:
    """Give the URL of the dataset, the forms that were sent, and the store behind."""
    with OxigraphStore() as store:
        handler = type("Handler", (Fuseki,), {"store": store, "asked": []})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
            thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
            thread.start()
            yield f"fuseki:http://127.0.0.1:{httpd.server_address[1]}/ds", handler.asked, store  # type: ignore[attr-defined]
            httpd.shutdown()
            thread.join()


__all__ = ["UNNAMED", "fuseki_server"]
