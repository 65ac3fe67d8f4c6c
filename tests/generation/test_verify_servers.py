"""Answers that were given on a server, and that nobody changed, are verified there."""

import json
from collections.abc import Iterator

import pytest
from rdflib import XSD, Literal, URIRef

import mrag
from mrag.context.display import holding
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Term, Triple
from mrag.stores.http import Access
from tests.conftest import PRODUCTS, slow
from tests.java_servers import fuseki_server
from tests.servers import graphdb_protocol, oxigraph_server, virtuoso_server

QUESTIONS = (
    "How many triple stores are there?", "What is the oldest database?", "Does Neo4j support SPARQL?",
    "How many vendors are there per country?", "Which products does Ontotext develop?",
    "Average release year of databases?", "Tell me about Ontotext.", "What is Virtuoso written in?",
)  # fmt: skip


@pytest.fixture(scope="module", params=["oxigraph", *slow("virtuoso", "fuseki", "graphdb")])
def kg(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "virtuoso":
        with virtuoso_server(folder) as url:
            yield from _loaded(url, Access(user="dba", password="dba"))
    elif request.param == "fuseki":
        with fuseki_server(folder) as base:
            yield from _loaded(f"fuseki:{base}/ds")
    elif request.param == "graphdb":
        with graphdb_protocol(folder) as url:
            yield from _loaded(url)
    else:
        with oxigraph_server(folder, memory=True, seconds=20) as url:
            yield from _loaded(url)


def _loaded(url: str, access: Access | None = None) -> Iterator[KnowledgeGraph]:
    with mrag.connect(url, "verified", access=access) as found:
        found.load([PRODUCTS])
        if not found.store.capabilities.reasoning:
            found.reason()
        found.index(model="none")
        yield found


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_unchanged_answer_is_verified(kg: KnowledgeGraph, question: str) -> None:
    value = json.loads(json.dumps(mrag.ask(kg, question, model="none").to_json()))
    report = mrag.verify(kg, value)
    assert report.ok, str(report)
    assert mrag.verify(kg, {**value, "question": "Is Ontotext bankrupt?"}) != report
    assert "every sentence holds" in str(report) or "what is so instead" in str(report)


def test_triples_are_found_however_a_server_spells_them(kg: KnowledgeGraph) -> None:
    thing, says = URIRef("http://example.org/thing"), URIRef("urn:says")
    values: list[Term] = [
        *(Literal("one name", lang=tag) for tag in ("en", "de", "en-GB", None)),
        Literal("another name", lang="en"), Literal(7), Literal(True), thing,
        Literal("1.50", datatype=XSD.decimal, normalize=False), Literal("2020-01-01", datatype=XSD.date),
    ]  # fmt: skip
    kg.insert([Triple(thing, says, value) for value in values])
    graphs = kg.dataset("asserted").default
    rows = kg.select("SELECT ?o { <http://example.org/thing> <urn:says> ?o }")
    kept = [Triple(thing, says, value) for (value,) in rows if value is not None]
    assert len(kept) == len(values)
    assert {t for graph in graphs for t in holding(kg, graph, kept)} == {*kept}
    other = [Triple(thing, says, Literal(text, lang="en")) for text in ("no name", "nothing")]
    assert not [t for graph in graphs for t in holding(kg, graph, other)]
