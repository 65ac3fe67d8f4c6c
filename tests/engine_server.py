"""Loopback servers that speak the protocols of engines as they are documented, over the embedded store.

None of them is the engine: paths, parameters, media types and the meaning of the default graph are those of
the documentation that the records of `mrag.stores.engines` name; what is answered comes from Oxigraph.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from rdflib import Literal

from mrag.rdf.guard import query_form
from mrag.rdf.terms import XSD, Term, to_ox
from mrag.stores.engines import ENGINES
from mrag.stores.http import Access
from tests.fuseki_server import Fuseki, protocol_server

TOKEN = "token-of-the-tests"


class QLever(Fuseki):
    """One address for all; what is written takes a token; triples are Turtle, whatever is asked for."""

    unnamed, union = str(ENGINES["qlever"].dialect.unnamed), "urn:fixture:none"
    merged = True
    media = "text/turtle"

    def service(self, path: str) -> str | None:
        if path != "/":
            return None
        kind = self.headers["Content-Type"].partition(";")[0]
        if kind == "application/x-www-form-urlencoded":
            return "query"
        assert self.headers["Authorization"] == f"Bearer {TOKEN}"
        return "update" if kind == "application/sparql-update" else "graphs"

    def query(self, form: dict[str, list[str]]) -> None:
        # It fails at a query whose first accepted type is not one of the query's form.
        triples = query_form(form["query"][0]) in ("ConstructQuery", "DescribeQuery")
        assert self.headers["Accept"] == (self.media if triples else "application/sparql-results+json")
        super().query(form)

    def shown(self, term: Term) -> str:
        if (
            isinstance(term, Literal)
            and str(term.datatype) == f"{XSD}integer"
            and isinstance(term.value, int)
        ):
            return str(int(term.value))
        return str(to_ox(term))


class Stardog(Fuseki):
    services: ClassVar = {"/products/query": "query", "/products/update": "update", "/products": "graphs"}
    unnamed, union = "tag:stardog:api:context:default", "tag:stardog:api:context:named"
    seconds = 0.001


class Neptune(Fuseki):
    services: ClassVar = {"/sparql": "both", "/sparql/gsp/": "graphs"}
    unnamed, union = "urn:fixture:none", "urn:fixture:none"
    merged = True

    def service(self, path: str) -> str | None:
        found = super().service(path)
        update = self.headers["Content-Type"] == "application/sparql-update"
        return found if found != "both" else "update" if update else "query"


class Statements(Fuseki):
    """What RDF4J's protocol and those that contain it have in common."""

    merged = True

    def graph(self) -> str | None:
        context = parse_qs(urlsplit(self.path).query).get("context", [""])[0]
        assert context.startswith("<") and context.endswith(">"), "a context is written as in N-Triples"
        return context[1:-1]

    def service(self, path: str) -> str | None:
        found = super().service(path)
        update = self.headers["Content-Type"] == "application/sparql-update"
        return found if found != "both" else "update" if update else "query"

    def do_DELETE(self) -> None:
        self.store.clear(self.graph() or "")
        self.answer(204)

    def do_GET(self) -> None:
        if not urlsplit(self.path).path.endswith("/statements"):
            return super().do_GET()
        out = io.BytesIO()
        self.store.dump(self.graph() or "", out)
        self.answer(200, out.getvalue(), "application/n-triples")


class AllegroGraph(Statements):
    services: ClassVar = {
        "/repositories/products/sparql": "both",
        "/repositories/products/statements": "graphs",
    }


class Rdf4j(Statements):
    unnamed = "http://www.openrdf.org/schema/sesame#nil"
    services: ClassVar = {"/rdf4j-server/repositories/products": "query"}

    def service(self, path: str) -> str | None:
        if path != "/rdf4j-server/repositories/products/statements":
            return super().service(path)
        return "update" if self.headers["Content-Type"] == "application/sparql-update" else "graphs"


SERVED: dict[str, tuple[type[Fuseki], str]] = {
    "qlever": (QLever, ""), "stardog": (Stardog, "/products"),
    "allegrograph": (AllegroGraph, "/repositories/products"), "neptune": (Neptune, ""),
    "rdf4j": (Rdf4j, "/rdf4j-server/repositories/products"),
}  # fmt: skip


@contextmanager
def engine_server(kind: str) -> Iterator[tuple[str, Access, type[Fuseki]]]:
    """Give the URL of a store, how it is reached, and the server's class with what was sent."""
    handler, path = SERVED[kind]
    with protocol_server(handler) as (base, made):
        yield f"{kind}:{base}{path}", Access(token=TOKEN if kind == "qlever" else None), made
