"""The servers' configurations parse, and say what the documentation says of them."""

from __future__ import annotations

import json

from rdflib import RDF, Graph, Literal, Namespace, URIRef

from mrag.rdf import queries
from tests.docker.test_compose import DOCKER

REP = Namespace("http://www.openrdf.org/config/repository#")
SR = Namespace("http://www.openrdf.org/config/repository/sail#")
SAIL = Namespace("http://www.openrdf.org/config/sail#")
GRAPHDB = Namespace("http://www.ontotext.com/config/graphdb#")
FUSEKI = Namespace("http://jena.apache.org/fuseki#")
JA = Namespace("http://jena.hpl.hp.com/2005/11/Assembler#")
TDB2 = Namespace("http://jena.apache.org/2016/tdb#")


def test_the_graphdb_repository_reasons_and_says_when_it_is_too_slow() -> None:
    graph = Graph().parse(DOCKER / "graphdb" / "config.ttl")
    (node,) = graph.subjects(RDF.type, REP.Repository)
    assert graph.value(node, REP.repositoryID) == Literal("products")
    implementation = graph.value(node, REP.repositoryImpl)
    assert graph.value(implementation, REP.repositoryType) == Literal("graphdb:SailRepository")
    sail = graph.value(implementation, SR.sailImpl)
    assert graph.value(sail, SAIL.sailType) == Literal("graphdb:Sail")
    assert graph.value(sail, GRAPHDB.ruleset) == Literal("owl2-rl-optimized")
    assert graph.value(sail, GRAPHDB["disable-sameAs"]) == Literal("false")
    assert graph.value(sail, GRAPHDB["throw-QueryEvaluationException-on-timeout"]) == Literal("true")
    assert int(str(graph.value(sail, GRAPHDB["query-timeout"]))) > 0


def test_the_description_of_the_similarity_index_is_whole() -> None:
    index = json.loads((DOCKER / "graphdb" / "similarity.json").read_text(encoding="utf-8"))
    assert index["name"] == "main" and index["type"] == "text" and index["infer"] is True
    assert index["selectQuery"] == ""  # load.sh puts the catalogue's in
    lines = queries.get("similarity/workbench-text").text.splitlines(keepends=True)
    assert index["searchQuery"] == "".join(line for line in lines if not line.startswith("#+"))


def test_fuseki_has_the_dataset_as_stored_and_with_a_reasoner() -> None:
    graph = Graph().parse(DOCKER / "fuseki" / "config.ttl", publicID="http://base.example/config")
    services = {str(graph.value(s, FUSEKI.name)): s for s in graph.subjects(RDF.type, FUSEKI.Service)}
    assert set(services) == {"products", "products-owl"}
    for service in services.values():
        endpoints = {
            (str(graph.value(e, FUSEKI.name)), graph.value(e, FUSEKI.operation))
            for e in graph.objects(service, FUSEKI.endpoint)
        }
        # The paths that the store adapter asks for.
        assert {
            ("query", FUSEKI.query),
            ("update", FUSEKI.update),
            ("data", FUSEKI["gsp-rw"]),
        } <= endpoints
    plain = graph.value(services["products"], FUSEKI.dataset)
    assert graph.value(plain, RDF.type) == TDB2.DatasetTDB2
    owl = graph.value(services["products-owl"], FUSEKI.dataset)
    model = graph.value(owl, JA.defaultGraph)
    assert graph.value(model, RDF.type) == JA.InfModel
    reasoner = graph.value(graph.value(model, JA.reasoner), JA.reasonerURL)
    assert reasoner == URIRef("http://jena.hpl.hp.com/2003/OWLMicroFBRuleReasoner")
    base = graph.value(model, JA.baseModel)
    assert graph.value(base, RDF.type) == TDB2.GraphTDB2
    places = {str(place) for place in graph.objects(None, TDB2.location)}
    assert len(places) == 2 and all(place.startswith("/fuseki/databases/") for place in places)
