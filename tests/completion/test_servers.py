"""Runs on servers: proposed, rejected, accepted and rolled back, with the same answers as embedded."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.completion.chain import Completer
from mrag.completion.passages import passages_of, store_folder
from mrag.completion.review import accept, find_run, list_runs, reject, rollback
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.snippets import Snippets
from mrag.stores.http import Access
from tests.completion.towns import asks, evidence_of, fact, labels, proposed, read, triples
from tests.conftest import slow
from tests.servers import oxigraph_server, virtuoso_server

QUESTION = "Where was Bob Stone born?"


@pytest.fixture(params=["oxigraph", *slow("virtuoso")])
def kg(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    if request.param == "oxigraph":
        context, access = oxigraph_server(tmp_path), None
    else:
        context, access = virtuoso_server(tmp_path), Access(user="dba", password="dba")
    with context as url:
        store, _ = open_store(url, access)
        with KnowledgeGraph(store) as graph:
            graph.insert(labels(bornIn="born in", ada="Ada Hill", bob="Bob Stone", lund="Lund"))
            graph.insert([fact("ada", "bornIn", "lund")])
            yield graph


def test_a_run_goes_in_and_out_again(kg: KnowledgeGraph) -> None:
    evidence = evidence_of("Bob Stone was born in Lund.")
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


@pytest.fixture
def towns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeGraph]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with oxigraph_server(tmp_path) as url, mrag.connect(url, "towns") as graph:
        graph.insert(triples())
        mrag.reason(graph)
        yield graph


def test_a_server_is_written_to_and_cleared_again(towns: KnowledgeGraph, tmp_path: Path) -> None:
    kg = towns
    first = proposed(kg, read("bob", "bornIn", "ystad"), ystad="Ystad")
    second = proposed(kg, read("ada", "knows", "bob"), question="Whom?")
    third = proposed(kg, read("ada", "bornIn", "visby"), question="Where was she born?")
    assert [run.iri for run in list_runs(kg, "proposed")] == [first.iri, second.iri, third.iri]
    assert find_run(kg, first.id).statements == first.statements
    assert not asks(kg, ":bob :bornIn :ystad") and third.refused
    assert len(accept(kg, first).entered) == 2
    assert asks(kg, ':bob :bornIn :ystad . :ystad rdfs:label "Ystad" ; a :Place') and kg.reasoned
    assert len(accept(kg, second).entered) == 1 and accept(kg, third).entered == ()
    assert kg.record.triples == kg.count("asserted")
    assert len(rollback(kg, first).removed) == 2
    assert not asks(kg, ":ystad ?p ?o") and asks(kg, ":ada :knows :bob")
    assert reject(kg, first).state == "rejected"
    # Another process sees the same.
    with mrag.connect(kg.store.url, "towns") as again:
        assert asks(again, ":ada :knows :bob") and not asks(again, ":bob :bornIn ?x")
        assert [run.state for run in list_runs(again)] == ["rejected", "accepted", "accepted"]
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text('Bob "Stone" \\ was\nborn.', encoding="utf-8")
    collection, _ = store_folder(kg, Snippets(tmp_path / "texts"))
    assert [p.text for p in passages_of(kg, [collection])] == ['Bob "Stone" \\ was\nborn.']
