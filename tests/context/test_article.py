"""The example of the article that the demo graph is made after."""

from collections.abc import Iterator

import pytest
from rdflib import OWL, RDF, RDFS, Namespace

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.retrieval.retriever import Retrieval, TripleStoreRetriever
from tests.vectors import remembered_vectors

__all__ = ["remembered_vectors"]

EX = Namespace("https://w3id.org/mrag/demo/products#")
QUESTION = "What database products are linked to RDF?"


@pytest.fixture(scope="module")
def graph() -> Iterator[KnowledgeGraph]:
    with mrag.demo() as kg:
        yield kg


@pytest.fixture(scope="module")
def found(graph: KnowledgeGraph) -> Retrieval:
    return TripleStoreRetriever(kg=graph, k=10).retrieve(QUESTION)


def test_the_context_holds_what_the_article_shows(found: Retrieval) -> None:
    held = {line.triple: line for line in found.context.lines}
    for product in (EX.GraphDB, EX.Virtuoso):
        line = held[Triple(product, RDF.type, EX.SemanticProduct)]
        assert line.inferred
        assert line.text.endswith("is a, semantic product)")
        assert any(t.s == product and t.p == EX.developedBy for t in held), "its vendor"
        assert any(t.s == product and "description" in t.p for t in held), "its description"
        assert sum(t.s == product and t.p == EX.hasFeature for t in held) >= 2, "its features"
    assert held[Triple(EX.hasFeature, RDFS.subPropertyOf, EX.linkedTo)].text == (
        "(has feature, sub property of, linked to)"
    )
    disjoint = {(EX.Product, EX.Vendor), (EX.Vendor, EX.Product)}
    assert any((t.s, t.o) in disjoint and t.p == OWL.disjointWith for t in held)


def test_no_trivia_and_no_anonymous_node(found: Retrieval) -> None:
    text = found.context.text()
    assert "genid" not in text
    assert ", thing)" not in text
    assert "is a, class)" not in text
    for line in found.context.lines:
        assert line.triple.s != line.triple.o


def test_inferred_lines_are_marked_and_provable(graph: KnowledgeGraph, found: Retrieval) -> None:
    from mrag.reasoning.run import proof_of

    inferred = [line for line in found.context.lines if line.inferred]
    assert inferred
    assert all(line.text + " inferred" in found.context.text() for line in inferred)
    for line in inferred[::7]:
        proof = proof_of(graph, line.triple)
        assert proof is not None and not proof.asserted
        assert proof.replay(graph.store, graph.dataset("asserted"))


def test_german_and_italian(graph: KnowledgeGraph) -> None:
    for languages, words in ((("de", "en"), "semantisches Produkt"), (("it", "en"), "prodotto semantico")):
        graph.languages = languages
        assert f"(Virtuoso, is a, {words})" in mrag.expand(graph, [(str(EX.Virtuoso), 1.0)]).text()
    graph.languages = ("en", "mul", "")
