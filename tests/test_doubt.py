"""Doubt stands in the first line at every door, and what is not certain enough is offered at every door."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.certainty import FEATURES, Certainty, keep_certainty
from mrag.retrieval.answering import stream
from mrag.retrieval.routing import routed
from mrag.server.web.events import Prepared, events
from tests.evaluation.test_eval_cli import invoke

QUESTION = "How many countries are there?"
COMPANY = Path(__file__).parent / "planning" / "data" / "company.ttl"


@pytest.fixture
def company() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as kg:
        kg.load([COMPANY])
        kg.index()
        yield kg


def as_certain(kg: KnowledgeGraph, odds: float) -> None:
    keep_certainty(kg, Certainty(odds, dict.fromkeys(FEATURES, 0.0)))


def written(kg: KnowledgeGraph, given: Answer) -> tuple[str, Any]:
    """What the server writes of a computed answer: its text as it comes, and the whole."""
    *texts, whole = events(kg, Prepared(given), None)
    return "".join(one["text"] for one in texts), whole["answer"]["doubt"]


@pytest.mark.parametrize(("odds", "doubt"), [(0.3, "Perhaps"), (1.5, "Probably"), (4.0, "")])
def test_every_door_begins_with_the_doubt(company: KnowledgeGraph, odds: float, doubt: str) -> None:
    as_certain(company, odds)
    given = mrag.ask(company, QUESTION, model="none")
    first = f"{doubt}: {given.text}" if doubt else given.text
    assert str(given).splitlines()[0] == given.told == first
    assert "".join(part for part in stream(company, QUESTION, model="none") if isinstance(part, str)) == first
    assert written(company, given) == (first, doubt)
    assert first in given._repr_html_() and company.show(given).value["doubt"] == doubt
    value = given.to_json()
    assert mrag.verify(company, value).ok and Answer.from_json(value).told == first
    # It cannot be taken away, nor said otherwise.
    without = {name: part for name, part in value.items() if name != "doubt"}
    assert mrag.verify(company, without).ok == (not doubt)
    assert not mrag.verify(company, {**value, "doubt": "Perhaps" if doubt != "Perhaps" else ""}).ok


def test_every_door_offers_what_is_not_certain_enough(company: KnowledgeGraph) -> None:
    as_certain(company, 4.0)
    right = mrag.ask(company, QUESTION, model="none")
    assert right.computed is not None
    as_certain(company, -1.0)
    way = routed(company, QUESTION)
    assert way.given is None and way.offered[0].number == 1
    line = f"Perhaps (reading 1): {right.computed.rows[0][0].label}, read as: {right.computed.reading}"
    read = mrag.ask(company, QUESTION, model="none")
    refused = mrag.ask(company, QUESTION, model="none", how="plan")
    (streamed,) = (part for part in stream(company, QUESTION, model="none") if isinstance(part, Answer))
    assert refused.text == "Not answered: the reading is not certain enough (0.27)."
    for given in (read, refused, streamed):
        assert given.computed is None and line in str(given).splitlines()
        assert given.offered == way.offered and "none of them certain enough" in given._repr_html_()
        assert company.show(given).value["readings"][0] == f"reading=1: {way.offered[0]}"
        value = given.to_json()
        assert value["readings"][0]["number"] == 1 and Answer.from_json(value) == given
        assert mrag.verify(company, value).ok
        forged = {**value, "readings": [{**value["readings"][0], "answer": "1,000"}, *value["readings"][1:]]}
        report = mrag.verify(company, forged)
        assert not report.ok or any(part.state == "not checked" for part in report.parts)


def test_the_command_offers_readings(tmp_path: Path) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.load([COMPANY])
        as_certain(kg, -1.0)
    said = invoke("ask", QUESTION, "--how", "plan", "--model", "none", "--store", url)
    assert said.startswith("Not answered: ") and "\nPerhaps (--reading 1): " in said
    said = invoke("ask", QUESTION, "--reading", "1", "--model", "none", "--store", url)
    assert said.startswith("Perhaps: ")
