from __future__ import annotations

import pytest

from mrag.errors import QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.guard import read_gate
from mrag.stores.base import Dataset, Limits

PROBES = {
    "service": "SELECT * { SERVICE <URL> { ?s ?p ?o } }",
    "service silent": "SELECT * { SERVICE SILENT <URL> { ?s ?p ?o } }",
    "service by variable": "SELECT * { BIND(<URL> AS ?u) SERVICE ?u { ?s ?p ?o } }",
    "in a sub-select": "SELECT * { { SELECT * { SERVICE <URL> { ?s ?p ?o } } } }",
    "in exists": "ASK { FILTER EXISTS { SERVICE <URL> { ?s ?p ?o } } }",
    "in not exists": "ASK { ?a ?b ?c FILTER NOT EXISTS { { SERVICE <URL> { ?s ?p ?o } } } }",
    "in minus": "SELECT * { ?s ?p ?o MINUS { SERVICE <URL> { ?s ?p ?o } } }",
    "in optional": "SELECT * { OPTIONAL { SERVICE <URL> { ?s ?p ?o } } }",
    "in union": "SELECT * { { ?s ?p ?o } UNION { SERVICE <URL> { ?s ?p ?o } } }",
    "in graph": "SELECT * { GRAPH ?g { SERVICE <URL> { ?s ?p ?o } } }",
    "in construct": "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <URL> { ?s ?p ?o } }",
    "in bind exists": "SELECT * { BIND(EXISTS { SERVICE <URL> { ?s ?p ?o } } AS ?x) }",
    "in having": "SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (EXISTS { SERVICE <URL> { ?s ?p ?o } })",
    "in order by": "SELECT ?s { ?s ?p ?o } ORDER BY (EXISTS { SERVICE <URL> { ?s ?p ?o } })",
    "in nested exists": "ASK { ?a ?b ?c FILTER EXISTS { ?a ?b ?d "
    "FILTER NOT EXISTS { SERVICE <URL> { ?s ?p ?o } } } }",
    "behind a carriage return": "SELECT * { # x\rSERVICE <URL> { ?s ?p ?o } #\n }",
    "escaped keyword": "SELECT * { \\u0053ERVICE <URL> { ?s ?p ?o } }",
    "long escape": "SELECT * { \\U00000053ERVICE <URL> { ?s ?p ?o } }",
    "lower case": "select * { service <URL> { ?s ?p ?o } }",
    "after a comment": "SELECT * { # nothing\nSERVICE <URL> { ?s ?p ?o } }",
    "load": "LOAD <URL>",
    "load after": "ASK { ?s ?p ?o } ; LOAD <URL>",
    "update after": "SELECT * { ?s ?p ?o } ; DROP ALL",
    "update": "DELETE WHERE { ?s ?p ?o }",
    "insert data": "INSERT DATA { <urn:a> <urn:b> <urn:c> }",
    "from": "SELECT * FROM <URL> { ?s ?p ?o }",
    "from named": "SELECT * FROM NAMED <URL> { GRAPH ?g { ?s ?p ?o } }",
    "from the system graph": "SELECT * FROM <urn:mrag:system> { ?s ?p ?o }",
    "escaped quote": 'SELECT * { ?s ?p "a\\u0022 . SERVICE <URL> { ?s ?p ?o } #" }',
    "escaped brace": "SELECT * { ?s ?p ?o \\u007D",
    "surrogate": "ASK { ?s ?p '\\uD800' }",
}


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES.keys())
def test_what_calls_out_or_writes_is_refused(
    kg: KnowledgeGraph, listener: tuple[str, list[str]], probe: str
) -> None:
    url, calls = listener
    kg.store.update("INSERT DATA { GRAPH <urn:mrag:kg:main:asserted:0> { <urn:a> <urn:b> <urn:c> } }")
    with pytest.raises(QueryRefused) as caught:
        kg.query(probe.replace("URL", url))
    assert caught.value.message
    assert calls == []
    assert kg.count() == 1


def test_a_worker_has_no_network_even_without_the_gate(
    kg: KnowledgeGraph, listener: tuple[str, list[str]]
) -> None:
    url, calls = listener
    try:
        kg.store.bounded(f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", Dataset(), Limits(seconds=10))
    except QueryRefused as error:
        if calls:
            pytest.skip(f"this system does not let a process leave the network: {error}")
    assert calls == []


INERT = [
    "SELECT * { ?s ?p ?o } # SERVICE <http://x.example/> { ?s ?p ?o }",
    'ASK { ?s ?p "} ; DROP ALL #" }',
    "ASK { ?s ?p 'SERVICE <http://x.example/> {}' }",
    'ASK { ?s ?p """two\nlines""" }',
    "ASK { ?s <http://example.org/SERVICE> ?o }",
    'ASK { ?s ?p "caf\\u00E9" }',
    "ASK { ?s ?p 'back\\\\slash' }",
]


@pytest.mark.parametrize("query", INERT)
def test_what_only_looks_dangerous_passes(kg: KnowledgeGraph, query: str) -> None:
    read_gate(query)
    assert not kg.query(query)


def test_the_system_graph_and_other_graphs_are_out_of_sight(kg: KnowledgeGraph) -> None:
    kg.store.update("INSERT DATA { GRAPH <urn:other> { <urn:a> <urn:b> <urn:c> } }")
    kg.clear()
    result = kg.query("SELECT ?g { GRAPH ?g { ?s ?p ?o } }")
    assert list(result) == []  # type: ignore[arg-type]
    assert kg.query("ASK { GRAPH <urn:mrag:system> { ?s ?p ?o } }") is False
    assert kg.query("ASK { GRAPH <urn:other> { ?s ?p ?o } }") is False


def test_undeclared_well_known_prefixes_work(kg: KnowledgeGraph) -> None:
    assert kg.query("ASK { ?x a owl:Class ; rdfs:label ?l }") is False


def test_a_refusal_says_what_to_do() -> None:
    with pytest.raises(QueryRefused, match="Load that data here"):
        read_gate("SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }")
    with pytest.raises(QueryRefused, match="Only SELECT, ASK, CONSTRUCT and DESCRIBE"):
        read_gate("not SPARQL at all")
