"""Review, acceptance and rollback over a server, which has no transactions of the embedded store's kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.completion.passages import passages_of, store_folder
from mrag.completion.review import accept, find_run, list_runs, propose, reject, rollback
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.snippets import Snippets
from tests.completion.towns import TURTLE, E, iri, read
from tests.servers import oxigraph_server


@pytest.fixture
def kg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeGraph]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "towns.ttl").write_text(TURTLE, encoding="utf-8")
    with oxigraph_server(tmp_path) as url, mrag.connect(url, "towns") as graph:
        graph.load([tmp_path / "towns.ttl"])
        mrag.reason(graph)
        yield graph


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


def test_a_server_is_written_to_and_cleared_again(kg: KnowledgeGraph, tmp_path: Path) -> None:
    first = propose(
        kg, "Where?", [read("bob", "bornIn", "ystad")], model="m", names={str(iri("ystad")): "Ystad"}
    )
    second = propose(kg, "Whom?", [read("ada", "knows", "bob")], model="m")
    third = propose(kg, "Where was she born?", [read("ada", "bornIn", "visby")], model="m")
    assert first is not None and second is not None and third is not None
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
