"""Runs on servers: proposed, rejected, accepted and rolled back, with the same answers as embedded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import Literal, URIRef

from mrag.completion.chain import Completer, Evidence
from mrag.completion.passages import Passage, Passages
from mrag.completion.review import accept, find_run, reject, rollback
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDFS, Triple
from mrag.stores.http import Access
from tests.conftest import slow
from tests.servers import oxigraph_server, virtuoso_server

E = "http://example.org/"
QUESTION = "Where was Bob Stone born?"


def iri(name: str) -> URIRef:
    return URIRef(E + name)


@pytest.fixture(params=["oxigraph", *slow("virtuoso")])
def kg(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    if request.param == "oxigraph":
        context, access = oxigraph_server(tmp_path), None
    else:
        context, access = virtuoso_server(tmp_path), Access(user="dba", password="dba")
    with context as url:
        store, _ = open_store(url, access)
        with KnowledgeGraph(store) as graph:
            names = {"bornIn": "born in", "ada": "Ada Hill", "bob": "Bob Stone", "lund": "Lund"}
            graph.insert(Triple(iri(n), URIRef(RDFS + "label"), Literal(text)) for n, text in names.items())
            graph.insert([Triple(iri("ada"), iri("bornIn"), iri("lund"))])
            yield graph


def test_a_run_goes_in_and_out_again(kg: KnowledgeGraph) -> None:
    evidence = Evidence(Passages([Passage("urn:x:1", "Bob Stone was born in Lund.", "1.txt")]))
    before = kg.count()
    run = Completer(kg, evidence).ask(QUESTION).run
    assert run is not None and run.state == "proposed" and kg.count() == before
    assert reject(kg, run).state == "rejected" and kg.count() == before
    report = accept(kg, run)
    assert report.run.state == "accepted" and len(report.entered) == 1 and kg.count() == before + 1
    assert kg.record.triples == kg.count()
    assert Completer(kg).ask(QUESTION).answers == ("Lund",)
    assert accept(kg, run).entered == ()
    again = KnowledgeGraph(kg.store)
    assert again.count() == before + 1 and find_run(again, run.iri).state == "accepted"
    report = rollback(kg, run)
    assert report.run.state == "rolled back" and len(report.removed) == 1 and kg.count() == before
    assert Completer(kg).ask(QUESTION).answers == ()
