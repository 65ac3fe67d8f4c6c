"""The texts of documents: read edge by edge as by queries, and in little memory."""

from __future__ import annotations

from itertools import product

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mrag.front import connect
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.index import documents as module
from mrag.index.documents import Definition, documents
from mrag.storage.sorting import SortedRows
from mrag.stores.oxigraph import OxigraphStore
from tests.conftest import PRODUCTS

NS = "http://x.example/"
RDF, RDFS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#"
NODES = [ox.NamedNode(NS + name) for name in ("RedShoe", "BlueCoat", "Shop", "k1")]
NODES += [ox.NamedNode("http://y.example/page1"), ox.BlankNode("b"), ox.NamedNode(NS + "sells")]
PREDICATES = [
    ox.NamedNode(name)
    for name in (NS + "sells", RDF + "type", RDFS + "label", RDFS + "domain", RDFS + "comment")
]
LITERALS = [ox.Literal(word, language=tag) for word, tag in product(("shoe", "a. coat"), ("en", "de"))]
LITERALS += [ox.Literal("plain"), ox.Literal(7), ox.Literal("")]
TRIPLES = st.lists(
    st.tuples(
        st.sampled_from(NODES),
        st.sampled_from(PREDICATES),
        st.sampled_from([*NODES, *LITERALS]),
        st.booleans(),
    ),
    max_size=14,
)
DEFINITIONS = [
    Definition(),
    Definition(languages=("de",)),
    Definition(fallback=False),
    Definition(("index/linked-labels", "index/texts")),
    Definition(("index/texts",)),
]


def read(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """Return the documents of each definition, and look whether queries give the same."""
    found = [list(documents(kg, definition)) for definition in DEFINITIONS]
    with monkeypatch.context() as m:
        m.setattr(module, "are_edges", lambda *_: False)
        m.setattr(module, "are_edges", lambda *_: False)
        assert [list(documents(kg, definition)) for definition in DEFINITIONS] == found
    return found


@settings(max_examples=40)
@given(TRIPLES)
@example([(NODES[0], PREDICATES[0], NODES[5], False), (NODES[5], PREDICATES[2], LITERALS[0], True)])
def test_edges_tell_what_queries_tell(triples: list[tuple[object, ...]]) -> None:
    store = OxigraphStore()
    first = KnowledgeGraph(store)
    update(first, f"INSERT DATA {{ <{NS}k1> <{NS}made> 1 . GRAPH <urn:g> {{ <{NS}k1> <{NS}made> 2 }} }}")
    graphs = [ox.NamedNode(graph) for graph in first.dataset().default]
    for s, p, o, other in triples:
        # As a load and an insertion would not: with blank nodes.
        store.engine.add(ox.Quad(s, p, o, graphs[other]))  # type: ignore[arg-type]
    with KnowledgeGraph(store) as kg, pytest.MonkeyPatch.context() as monkeypatch:
        assert len(graphs) == 2 and sum(kg.profile().predicates.values()) == 2 + len(set(triples))
        read(kg, monkeypatch)


def test_a_graph_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect() as kg:
        kg.load([PRODUCTS])
        whole = read(kg, monkeypatch)
        monkeypatch.setattr(SortedRows.__init__, "__kwdefaults__", {"folder": None, "most": 2000})
        monkeypatch.setattr(module, "_BATCH", 7)
        monkeypatch.setattr(module, "_KEPT", 10)
        assert read(kg, monkeypatch) == whole
