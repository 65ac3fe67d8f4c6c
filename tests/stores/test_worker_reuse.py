"""Processes that answer queries go from one copy to the next, and carry nothing over."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.errors import QueryTimeout
from mrag.graph.updates import preview
from mrag.planning.answering import compute, reader_of
from mrag.rdf.parser import parse_update as parse
from mrag.stores import OxigraphStore
from mrag.stores.process.workers import RESERVE

ALL = "SELECT ?s { ?s <urn:p> ?o }"


@pytest.fixture(autouse=True)
def _none_waiting() -> Iterator[None]:
    RESERVE.close()
    yield
    RESERVE.close()


def subjects(kg: mrag.KnowledgeGraph) -> list[str]:
    return sorted(str(row[0]) for row in kg.query(ALL))


def processes(kg: mrag.KnowledgeGraph) -> list[int]:
    assert isinstance(kg.store, OxigraphStore)
    return kg.store.workers.processes()


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_a_process_answers_from_the_new_state_and_from_another_graph(place: str, tmp_path: Path) -> None:
    url = "oxigraph:" if place == "memory" else f"oxigraph:{tmp_path / 'first'}"
    with mrag.connect(url) as kg:
        kg.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        assert subjects(kg) == ["urn:a"]
        (first,) = processes(kg)
        kg.update("INSERT DATA { <urn:b> <urn:p> 1 }")
        assert subjects(kg) == ["urn:a", "urn:b"]
        assert processes(kg) == [first]
    with mrag.connect(url.replace("first", "second")) as other:
        assert subjects(other) == []
        assert processes(other) == [first]
        other.update("INSERT DATA { <urn:c> <urn:p> 1 }")
        assert subjects(other) == ["urn:c"]
    assert not [*tmp_path.glob("*snapshot*")] and not [*tmp_path.glob(".*snapshot*")]


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_what_an_update_tried_on_a_copy_is_gone(place: str, tmp_path: Path) -> None:
    url = "oxigraph:" if place == "memory" else f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        for _ in range(3):
            planned = preview(kg, parse("INSERT { <urn:b> <urn:p> ?o } WHERE { <urn:a> <urn:p> ?o }"))
            assert planned.report.added == 1
            assert subjects(kg) == ["urn:a"]


def test_one_is_ready_before_the_first_question() -> None:
    with mrag.connect("oxigraph:") as kg:
        assert isinstance(kg.store, OxigraphStore)
        kg.update("INSERT DATA { <urn:a> a <urn:Cat> . <urn:b> a <urn:Cat> }")
        reader_of(kg)
        (first,) = processes(kg)
        assert kg.store.workers.shown is not None
        answer = compute(kg, "How many cats are there?").answer
        assert answer is not None and answer.text.startswith("2 ")
        assert processes(kg) == [first]


def test_one_that_has_ended_while_it_waited_is_replaced() -> None:
    with mrag.connect("oxigraph:") as kg:
        kg.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        assert subjects(kg) == ["urn:a"]
        (first,) = processes(kg)
    ((_, waiting),) = RESERVE._idle
    assert waiting.pid == first
    os.kill(first, signal.SIGKILL)
    waiting._process.wait(10)
    with mrag.connect("oxigraph:") as kg:
        kg.update("INSERT DATA { <urn:b> <urn:p> 1 }")
        assert subjects(kg) == ["urn:b"]
        assert processes(kg) != [first]
    assert first not in {child.pid for _, child in RESERVE._idle}


def test_one_that_was_killed_in_a_query_does_not_wait() -> None:
    endless = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h . ?i ?t ?j . ?k ?u ?l }"
    with mrag.connect("oxigraph:") as kg:
        kg.update(f"INSERT DATA {{ {' '.join(f'<urn:s{n}> <urn:p> {n} .' for n in range(300))} }}")
        # The copy is made, so that the deadline passes in the query and not before it.
        assert len(subjects(kg)) == 300
        (first,) = processes(kg)
        with pytest.raises(QueryTimeout, match="was ended"):
            kg.query(endless, limits=mrag.Limits(seconds=0.5))
        assert processes(kg) == []
    assert RESERVE._idle == []
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_copy_that_comes_too_late_for_one_query_serves_the_next() -> None:
    with mrag.connect("oxigraph:") as kg:
        kg.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        with pytest.raises(QueryTimeout, match="copied"):
            kg.query(ALL, limits=mrag.Limits(seconds=0.001))
        (made,) = processes(kg)
        assert subjects(kg) == ["urn:a"]
        assert processes(kg) == [made]
