"""Questions for what no property states: spans of time, rates, numbers counted against each other, ties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.stores.oxigraph import OxigraphStore

DATA = Path(__file__).parent / "data" / "atlas.ttl"

ANSWERS = [
    ("Which countries have more towns than lakes?", ["Arvania", "Belloria"]),
    ("Which countries have fewer towns than lakes?", ["Cortia"]),
    ("Which countries have more towns than Cortia has?", ["Belloria"]),
    ("Which countries have more towns than the average?", ["Belloria"]),
    ("How many countries have more towns than lakes?", ["2"]),
    ("How many more towns does Belloria have than Cortia?", ["1"]),
    ("Which guides lead more expeditions than Ann Lund?", ["Bob Moe"]),
    ("Which country has the highest GDP per capita?", ["Belloria"]),
    ("What is the GDP per capita of Cortia?", ["0.005"]),
    ("What is the population density of Belloria?", ["200"]),
    ("Which country has the most inhabitants per square kilometre?", ["Arvania"]),
    ("How much larger is Cortia than Belloria?", ["20000"]),
    ("How long did Aurora last?", ["30"]),
    ("How many days are between the start date and the end date of Corona?", ["60"]),
    ("Which expedition lasted the longest?", ["Borealis"]),
    ("Which expeditions lasted longer than 40 days?", ["Borealis", "Corona"]),
    ("Which expeditions took more than a year?", ["Borealis"]),
    ("What is the average duration of expeditions?", ["175"]),
    ("How old was Ann Lund when she was hired?", ["30.1875"]),
    ("Which guides were hired in May?", ["Ann Lund"]),
    ("Which guides were hired between May and July?", ["Ann Lund", "Cyd Noer"]),
    ("Which guides were hired between October and February?", ["Bob Moe"]),
    ("Which guides were born in the 1970s?", ["Bob Moe"]),
    ("Which guides were born in the 20th century?", ["Ann Lund", "Bob Moe", "Cyd Noer"]),
    ("Which guides were hired after Ann Lund?", ["Bob Moe", "Cyd Noer"]),
    ("Which expeditions were successful?", ["Aurora", "Corona"]),
    ("In which year were the most guides hired?", ["2012"]),
    ("In which year was Aurora started?", ["2018"]),
]


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as found:
        found.load([DATA])
        yield found


@pytest.mark.parametrize(("question", "rows"), ANSWERS, ids=[question for question, _ in ANSWERS])
def test_it_is_computed_and_verified(kg: KnowledgeGraph, question: str, rows: list[str]) -> None:
    attempt = compute(kg, question)
    if not rows:
        assert attempt.answer is None or not attempt.answer.computed or not attempt.answer.computed.rows
        return
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert sorted(row[0].label for row in attempt.answer.computed.rows) == rows, (
        attempt.answer.computed.reading
    )
    assert attempt.sure, attempt.why
    assert mrag.verify(kg, attempt.answer).ok
    assert attempt.answer.sentences[0].citations


@pytest.mark.parametrize(
    "question", ["Which guides were younger than 40 when hired?", "Which guides were born before 40 kg?"]
)
def test_a_number_is_not_compared_with_a_date(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure


def test_two_relations_that_join_alike_are_two_readings(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "Which expeditions does Ann Lund have?")
    assert attempt.answer is not None and attempt.answer.computed is not None
    given = [attempt.answer.computed.rows[0][0].label, *(r.answer for r in attempt.answer.computed.readings)]
    assert sorted(given[:2]) == ["Aurora", "Corona"]
    assert attempt.answer.notice is not None


def test_a_verb_tells_relations_apart(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "Which expeditions are led by Ann Lund?")
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert [row[0].label for row in attempt.answer.computed.rows] == ["Aurora"]
