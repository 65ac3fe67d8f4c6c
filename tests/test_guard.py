from __future__ import annotations

import pytest

from mrag.errors import QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.guard import read_gate
from mrag.stores.base import Dataset, Limits
from tests.cases import cases

PROBES = cases(__file__, "PROBES")


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES.keys())
def test_what_calls_out_or_writes_is_refused(
    kg: KnowledgeGraph, heard: tuple[str, list[bytes]], probe: str
) -> None:
    url, calls = heard
    kg.store.update("INSERT DATA { GRAPH <urn:mrag:kg:main:asserted:0> { <urn:a> <urn:b> <urn:c> } }")
    with pytest.raises(QueryRefused) as caught:
        kg.query(probe.replace("URL", url))
    assert caught.value.message
    assert calls == []
    assert kg.count() == 1


def test_a_worker_has_no_network_even_without_the_gate(
    kg: KnowledgeGraph, heard: tuple[str, list[bytes]]
) -> None:
    url, calls = heard
    try:
        kg.store.bounded(f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}", Dataset(), Limits(seconds=10))
    except QueryRefused as error:
        if calls:
            pytest.skip(f"this system does not let a process leave the network: {error}")
    assert calls == []


INERT = cases(__file__, "INERT")


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
