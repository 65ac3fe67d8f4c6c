"""The text-to-SPARQL chains of langchain-community over the demo graph, behind the read gate."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from pydantic import PrivateAttr
from rdflib import Graph, Literal, Namespace, URIRef
from rdflib.query import ResultRow

import mrag
from mrag.community import GatedStore, graphdb_graph, rdf_graph
from mrag.errors import ConfigError, QueryRefused, QueryTimeout
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import OWL
from mrag.stores.base import Limits

with warnings.catch_warnings():
    # The package announces its sunset when it is imported.
    warnings.filterwarnings("ignore", "`langchain-community` is being sunset", DeprecationWarning)
    pytest.importorskip("langchain_community", reason="the extra `community` is not installed")
    from langchain_community.chains.graph_qa.ontotext_graphdb import OntotextGraphDBQAChain
    from langchain_community.chains.graph_qa.sparql import GraphSparqlQAChain
    from langchain_community.graphs import OntotextGraphDBGraph, RdfGraph

# The chains are built of LLMChain, and call it by `run`.
_DEPRECATED = "was deprecated:langchain_core._api.LangChainDeprecationWarning"
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:The class `LLMChain` {_DEPRECATED}"),
    pytest.mark.filterwarnings(f"ignore:The method `Chain.(run|__call__)` {_DEPRECATED}"),
]

EX = Namespace("https://w3id.org/mrag/demo/products#")
PREFIX = f"PREFIX ex: <{EX}>\n"
GOOD = PREFIX + "SELECT ?vendor WHERE { ex:GraphDB ex:developedBy ?vendor }"
MALFORMED = PREFIX + "SELECT ?vendor WHERE { ex:GraphDB ex:developedBy ?vendor "
SERVICE = "SELECT * WHERE { SERVICE <http://127.0.0.1:9/sparql> { ?s ?p ?o } }"
INFERRED = PREFIX + "SELECT ?x WHERE { ?x a ex:SemanticProduct }"
UPDATE = PREFIX + "DELETE WHERE { ex:GraphDB ?p ?o }"


class Model(FakeListChatModel):
    """Says what it is told to, one after the other, and keeps what it was asked."""

    _asked: list[str] = PrivateAttr(default_factory=list)

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        self._asked.append(str(messages[-1].content))
        return str(super()._call(messages, *args, **kwargs))

    @property
    def asked(self) -> list[str]:
        return self._asked


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.demo(model="none") as graph:
        yield graph


def graphdb_chain(kg: KnowledgeGraph, *answers: str, **options: Any) -> tuple[Any, Model]:
    model = Model(responses=list(answers))
    graph = graphdb_graph(kg, **options)
    return OntotextGraphDBQAChain.from_llm(model, graph=graph, allow_dangerous_requests=True), model


def rdf_chain(kg: KnowledgeGraph, *answers: str, **options: Any) -> tuple[Any, Model]:
    model = Model(responses=list(answers))
    graph = rdf_graph(kg, **options)
    return GraphSparqlQAChain.from_llm(model, graph=graph, allow_dangerous_requests=True), model


# -- OntotextGraphDBQAChain ------------------------------------------------------------------------------


def test_a_good_query_is_answered_from_the_graph(kg: KnowledgeGraph) -> None:
    chain, model = graphdb_chain(kg, GOOD, "Ontotext develops it.")
    assert chain.invoke({"query": "Who develops GraphDB?"})["result"] == "Ontotext develops it."
    generation, answering = model.asked
    assert "ex:developedBy a owl:ObjectProperty" in generation
    assert str(EX.Ontotext) in answering


def test_a_malformed_query_is_repaired(kg: KnowledgeGraph) -> None:
    chain, model = graphdb_chain(kg, MALFORMED, GOOD, "Ontotext.")
    assert chain.invoke({"query": "Who develops GraphDB?"})["result"] == "Ontotext."
    _, fixing, answering = model.asked
    assert MALFORMED in fixing and "Expected" in fixing
    assert str(EX.Ontotext) in answering


@pytest.mark.parametrize("hostile", [SERVICE, "SELECT * FROM <urn:mrag:system> WHERE { ?s ?p ?o }"])
def test_a_query_that_calls_out_is_refused(kg: KnowledgeGraph, hostile: str) -> None:
    chain, model = graphdb_chain(kg, hostile, "never said")
    with pytest.raises(ValueError, match="Failed to execute") as caught:
        chain.invoke({"query": "x"})
    assert isinstance(caught.value.__context__, QueryRefused)
    assert len(model.asked) == 1


def test_inferred_triples_are_seen_unless_left_out(kg: KnowledgeGraph) -> None:
    chain, model = graphdb_chain(kg, INFERRED, "Many.")
    chain.invoke({"query": "Which semantic products are there?"})
    assert str(EX.GraphDB) in model.asked[-1]
    chain, model = graphdb_chain(kg, INFERRED, "None.", layer="asserted")
    chain.invoke({"query": "Which semantic products are there?"})
    assert str(EX.GraphDB) not in model.asked[-1]


def test_the_schema_is_turtle_of_the_ontology(kg: KnowledgeGraph) -> None:
    graph = graphdb_graph(kg)
    assert type(graph) is OntotextGraphDBGraph
    schema = Graph().parse(data=graph.get_schema, format="turtle")
    assert (EX.developedBy, URIRef("http://www.w3.org/2000/01/rdf-schema#range"), EX.Vendor) in schema
    assert (EX.GraphDB, None, None) not in schema
    labels = {o.language for _, o in schema[: URIRef("http://www.w3.org/2000/01/rdf-schema#label") :]}
    assert labels == {"en"}
    assert not [s for s in schema.subjects() if str(s).startswith(("urn:mrag:", OWL))]
    assert graphdb_graph(kg).get_schema == graph.get_schema


def test_a_graph_without_an_ontology_has_a_schema_of_what_is_used(tmp_path: Path) -> None:
    (tmp_path / "plain.ttl").write_text("<urn:x:rex> a <urn:x:Dog> ; <urn:x:age> 7 .")
    with mrag.connect() as kg:
        kg.load([tmp_path / "plain.ttl"])
        schema = graphdb_graph(kg).get_schema
        assert "<urn:x:Dog> a rdfs:Class" in schema and "<urn:x:age> a rdf:Property" in schema
        assert "<urn:x:age> (age)" in rdf_graph(kg).get_schema


def test_an_ontology_of_ones_own(kg: KnowledgeGraph) -> None:
    built = graphdb_graph(kg, ontology=PREFIX + "CONSTRUCT { ?c a ex:Known } WHERE { ex:GraphDB a ?c }")
    assert "ex:TripleStore a ex:Known" in built.get_schema
    with pytest.raises(ConfigError, match="CONSTRUCT"):
        graphdb_graph(kg, ontology="SELECT * { ?s ?p ?o } LIMIT 1")
    with pytest.raises(QueryRefused, match="SERVICE"):
        graphdb_graph(kg, ontology="CONSTRUCT WHERE { SERVICE <http://x.example/> { ?s ?p ?o } }")


# -- GraphSparqlQAChain ----------------------------------------------------------------------------------


def test_the_rdf_chain_answers(kg: KnowledgeGraph) -> None:
    chain, model = rdf_chain(kg, "SELECT", GOOD, "Ontotext.")
    assert chain.invoke({"query": "Who develops GraphDB?"})["result"] == "Ontotext."
    _, generation, answering = model.asked
    assert f"<{EX.developedBy}> (developed by)" in generation
    assert str(EX.Ontotext) in answering


def test_the_rdf_chain_is_refused_what_it_may_not(kg: KnowledgeGraph) -> None:
    before = kg.count("all")
    chain, _ = rdf_chain(kg, "UPDATE", UPDATE)
    with pytest.raises(QueryRefused, match="read only"):
        chain.invoke({"query": "Forget GraphDB."})
    chain, _ = rdf_chain(kg, "SELECT", UPDATE)
    with pytest.raises(QueryRefused, match="Not a SPARQL query"):
        chain.invoke({"query": "Forget GraphDB."})
    chain, _ = rdf_chain(kg, "SELECT", SERVICE)
    with pytest.raises(QueryRefused, match="SERVICE is not allowed"):
        chain.invoke({"query": "x"})
    chain, _ = rdf_chain(kg, "SELECT", MALFORMED)
    with pytest.raises(QueryRefused, match="Not a SPARQL query"):
        chain.invoke({"query": "x"})
    assert kg.count("all") == before


def test_the_rdf_graph_is_the_packages_own(kg: KnowledgeGraph) -> None:
    graph = rdf_graph(kg)
    assert type(graph) is RdfGraph
    (row,) = graph.query(GOOD)
    assert isinstance(row, ResultRow) and row.vendor == EX.Ontotext
    (row,) = graph.query(PREFIX + "SELECT ?l ?none { ex:GraphDB rdfs:label ?l OPTIONAL { ?l ex:no ?none } }")
    assert row.l == Literal("GraphDB", lang="en") and row.none is None
    graph.load_schema()  # the package's own, whose queries pass the gate too
    assert str(EX.Vendor) in graph.get_schema


# -- the gate --------------------------------------------------------------------------------------------


def test_queries_are_bounded(kg: KnowledgeGraph) -> None:
    graph = rdf_graph(kg, limits=Limits(rows=100))
    with pytest.raises(QueryRefused, match="100 rows"):
        graph.query("SELECT * { ?s ?p ?o }")
    slow = rdf_graph(kg, limits=Limits(seconds=1))
    with pytest.raises(QueryTimeout, match="deadline"):
        slow.query("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }")


def test_the_rdflib_graph_beneath_is_gated_as_well(kg: KnowledgeGraph) -> None:
    graph = rdf_graph(kg).graph
    assert len(graph) == kg.count("all")
    assert graph.query("ASK { ?s ?p ?o }").askAnswer is True
    built = graph.query(PREFIX + "CONSTRUCT { ?v a ex:V } WHERE { ex:GraphDB ex:developedBy ?v }")
    assert (EX.Ontotext, None, EX.V) in built.graph
    refused = [
        lambda: graph.query("SELECT ?x { ?x ?p ?o }", initBindings={"x": EX.GraphDB}),
        lambda: graph.update("DROP ALL"),
        lambda: graph.add((EX.a, EX.b, EX.c)),
        lambda: graph.remove((None, None, None)),
        lambda: list(graph.triples((None, None, None))),
    ]
    for attempt in refused:
        with pytest.raises(QueryRefused):
            attempt()
    assert GatedStore(kg).query("ASK {}", {}, {}, "").askAnswer is True


# -- the package is optional -----------------------------------------------------------------------------


def test_importing_mrag_does_not_import_the_package() -> None:
    code = (
        "import sys, mrag, mrag.community, mrag.retrieval.retriever, mrag.retrieval.answering\n"
        "assert not [m for m in sys.modules if m.startswith(('langchain_community', 'langchain_classic'))]"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True)


def test_without_the_package_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['langchain_community'] = None\n"
        "import mrag\nfrom mrag.community import graphdb_graph\n"
        "try: graphdb_graph(mrag.connect())\nexcept mrag.MragError as e: print(type(e).__name__, e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ConfigError") and "pip install 'mrag[community]'" in done.stdout
