"""Questions that name kinds of things, verbs without a property of their own, times and averages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

DATA = Path(__file__).parent / "data"

QUESTIONS = [
    ("List the grills in Oslo", ["Lotus", "Norr"]),
    ("Which grills in Rome have more than 2 stars?", ["Ember"]),
    ("How many inns are there?", ["2"]),
    ("Which city has the most grills?", ["Oslo"]),
    ("What is the average number of stars of Thai grills?", ["4.5"]),
    ("Which grill has the most stars?", ["Lotus"]),
    ("How many reviews did Bo write?", ["2"]),
    ("Which users have not written any reviews?", ["Cy"]),
    ("Who wrote a review of Lotus?", ["Ada", "Bo"]),
    ("What is the total number of visits of Lotus?", ["4"]),
    ("essays that cite On Sand", ["On Silt"]),
    ("essays cited by On Sand", ["On Salt"]),
    ("When was On Salt published?", ["2001"]),
    ("Which users have never published in a journal?", ["Bo", "Cy"]),
    ("Who reports to Ada?", ["Bo", "Cy"]),
    ("Who is the boss of Cy?", ["Ada"]),
    ("Who earns more than 105?", ["Bo", "Cy"]),
    ("Which users earn more than the average?", ["Bo"]),
    ("Which places have an above average number of stars?", ["Fiore", "Lotus"]),
    ("How many people reviewed Lotus?", ["2"]),
    ("Which places have a distance to the station of less than 500 metres?", ["Lotus"]),
    ("places with a distance to the station between 0.9 and 1.3 miles", ["Ember", "Fiore"]),
    ("Which places opened after 2004?", ["Ember", "Fiore"]),
    ("Which place opened first?", ["Lotus"]),
    ("How many members does the League have?", ["2"]),
    ("Which members of the League are not in the Pact?", ["Eastland"]),
    ("Which regions are members of more than one union?", ["Westland"]),
    ("What is the population of the capital of Southland?", ["2800"]),
    ("Which cities have more than 500 inhabitants?", ["Oslo", "Rome"]),
    ("Which regions border Eastland?", ["Southland", "Westland"]),
    ("Which regions have a debt rate between 1 and 5 percent?", ["Eastland", "Westland"]),
]


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA / "places.ttl"])
        yield found


@pytest.mark.parametrize(("question", "rows"), QUESTIONS)
def test_it_is_computed_and_proved(kg: KnowledgeGraph, question: str, rows: list[str]) -> None:
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert sorted(row[0].label for row in attempt.answer.computed.rows) == rows
    assert attempt.sure, attempt.why
    assert mrag.verify(kg, attempt.answer).ok
    assert attempt.answer.sentences[0].citations


def test_a_month_that_cannot_be_looked_for_is_not_dropped(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "How many reviews were written in March 2014?")
    assert not attempt.sure or [r[0].label for r in attempt.answer.computed.rows] == ["1"]  # type: ignore[union-attr]


def test_a_name_that_is_an_everyday_word_is_not_dropped(kg: KnowledgeGraph) -> None:
    found = compute(kg, "Which essays were published in Records?")
    assert not found.sure or [row[0].label for row in found.answer.computed.rows] == ["On Salt"]  # type: ignore[union-attr]
    assert found.answer is None or "Records" in found.answer.computed.reading  # type: ignore[union-attr]
