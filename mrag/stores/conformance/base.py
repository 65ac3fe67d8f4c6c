"""What the tests of the suite share: fixtures, and comparison by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.resources import as_file, files
from inspect import signature
from typing import Any

import pytest
from rdflib import BNode, Literal, URIRef
from rdflib.plugins.sparql.datatypes import XSD_DTs

from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD, Term, to_ox
from mrag.stores.base import TripleStore
from mrag.stores.oxigraph import OxigraphStore

C = "urn:conformance:"
G, H = f"{C}g", f"{C}h"
TEXTS = (
    "plain", "", " ", 'say "hi"', "it's", "back\\slash", "line\nbreak\r\ttab", "}", "{ ?x ?y ?z }",
    "# no comment", "?variable", "<urn:x>", "\\u0022", "ünïcödé", "日本語", "🦊", "'''", '"""',
    "%20 & + ; = ?", "DROP ALL", "a" * 5000,
)  # fmt: skip
IRIS = ("urn:x", "http://example.org/ü?a=b&c=%20d#f'g", "http://example.org/" + "x" * 500)
VENDORS = """
PREFIX ex: <https://w3id.org/mrag/demo/products#>
SELECT DISTINCT ?v WHERE { ?p ex:developedBy ?v } ORDER BY ?v
"""


def plain(term: Term | None) -> tuple[str, ...] | None:
    """Return a term so that equal values are equal.

    Example:
        >>> plain(Literal("007", datatype=URIRef(XSD + "integer"))) == plain(Literal(7))
        True
        >>> plain(Literal("x", lang="en-GB")) == plain(Literal("x", lang="en-gb"))
        True
    """
    if term is None:
        return None
    if not isinstance(term, Literal):
        return ("bnode",) if isinstance(term, BNode) else ("iri", str(term))
    if term.language:
        return "text", str(term), term.language.lower()
    if term.datatype == URIRef(XSD + "boolean"):
        return "boolean", "true" if str(term).lower() in ("1", "true") else "false"
    if isinstance(term.value, datetime):
        return "time", term.value.isoformat()
    if term.datatype in XSD_DTs and term.value is not None:
        try:
            return "number", repr(float(str(term)))
        except ValueError:
            return "literal", str(term), str(term.datatype)
    return ("text", str(term), "") if term.datatype is None else ("literal", str(term), str(term.datatype))


def bag(rows: Iterable[Iterable[Term | None]]) -> Counter[tuple[Any, ...]]:
    """Return rows as a bag that can be compared."""
    return Counter(tuple(map(plain, row)) for row in rows)


def ntriples(*triples: tuple[str, str, Term]) -> bytes:
    """Return triples, of IRIs and a term, as N-Triples."""
    return "".join(f"<{s}> <{p}> {to_ox(o)} .\n" for s, p, o in triples).encode()


def skip_where_served(store: TripleStore) -> None:
    """Skip a test on a server that reasons by itself."""
    if store.capabilities.reasoning:
        pytest.skip("the server keeps one knowledge graph, and infers by rules of its own")


class StoreSuite:
    """The fixtures of the suite; subclasses give `store`."""

    rows = 12_000
    """Rows of the large result; a store may refuse it, but must not cut it."""

    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[TripleStore]:
        """Yield the store under test, empty or not."""
        raise NotImplementedError("a subclass gives the store")
        yield

    @pytest.fixture(autouse=True)
    def _clean(self, request: pytest.FixtureRequest, store: TripleStore) -> Iterator[None]:
        # Tests write into these graphs by the store; those that take the knowledge graph alone only read.
        written = (G, H) if "store" in signature(request.function).parameters else ()
        for graph in written:
            store.clear(graph)
        yield
        for graph in written:
            store.clear(graph)

    @pytest.fixture(scope="class")
    @classmethod
    def reference(cls) -> Iterator[KnowledgeGraph]:
        """Yield the demo graph, reasoned over, in the embedded store."""
        from mrag.index.similarity import SimilarityIndexes
        from mrag.reasoning.run import reason

        with as_file(files("mrag") / "ontology" / "products.ttl") as path, OxigraphStore() as embedded:
            kg = KnowledgeGraph(embedded, "conformance-r")
            kg.load([path])
            reason(kg)
            SimilarityIndexes.of(kg).build("main", model="none")
            yield kg

    @pytest.fixture(scope="class")
    @classmethod
    def kg(cls, store: TripleStore, reference: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
        """Yield the same knowledge graph in the store under test, reasoned over there."""
        from mrag.index.similarity import SimilarityIndexes
        from mrag.reasoning.run import reason

        with as_file(files("mrag") / "ontology" / "products.ttl") as path:
            kg = KnowledgeGraph(store, "conformance-k")
            kg.clear()
            kg.load([path])
            reason(kg)
            kg.searcher = SimilarityIndexes(kg, None)
            kg.searcher.build("main", model="none")
            yield kg
            kg.clear()
