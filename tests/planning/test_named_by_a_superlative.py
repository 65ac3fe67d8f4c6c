"""Names that begin with a superlative, superlatives without a noun, two names at once, and who did it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

DATA = Path(__file__).parent / "data" / "province.ttl"


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA])
        yield found


def rows(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert mrag.verify(kg, attempt.answer).ok
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # A name that begins with a superlative is a name, and orders where it is asked of many things.
        ("What is the highest point in Norda?", ["Kalt"]),
        ("What is the lowest elevation in Suda?", ["12"]),
        ("What is the highest point in the smallest province?", ["Bühl"]),
        ("Which province has the lowest point?", ["Esta"]),
        ("What is the highest elevation in all the provinces?", ["2400"]),
        # The adjective behind "least" is turned round.
        ("What is the least populous province?", ["Suda"]),
        ("What is the least expensive play?", ["Cinder"]),
        ("What is the most expensive play?", ["Brine"]),
        # Several things of one name.
        ("Which provinces have towns called Newton?", ["Norda", "Suda"]),
        # A superlative within another one.
        ("What is the population of the largest town in the largest province?", ["150"]),
        ("Which province has the town with the largest population?", ["Esta"]),
        # A thing that a text names.
        ("What is the population of the seat of Norda?", ["120"]),
        ("What is the population of the seat of the largest province?", ["90"]),
        ("Oak is the seat of which province?", ["Suda"]),
        ("What is the area of Suda in square kilometers?", ["500.0"]),
    ],
)
def test_superlatives_in_names_and_names_in_texts(
    kg: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    found = rows(kg, question)
    assert found == [(one,) for one in expected] or [float(r[0]) for r in found] == [
        float(e) for e in expected
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which mood is the most common?", ["sad"]),
        ("Which play was reviewed the most?", ["Brine"]),
        ("What is the most reviewed play?", ["Brine"]),
        ("What is the best rated play?", ["Brine"]),
        ("What was the first play of Ada Lund?", ["Amber"]),
        ("What was the last play of Ben Roth?", ["Cinder"]),
        ("Which plays opened before Brine?", ["Amber"]),
        ("How many five star reviews are there?", ["2"]),
    ],
)
def test_superlatives_without_a_noun(kg: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert rows(kg, question) == [(one,) for one in expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which plays have both Ada Lund and Ben Roth?", ["Amber"]),
        ("plays with Ada Lund and Cy Moor", ["Brine"]),
        ("Which plays did not have Ada Lund in the cast?", ["Cinder"]),
        ("plays without Ben Roth", ["Brine"]),
        ("How many actors have more than one part?", ["2"]),
        ("How many plays have more than one review?", ["1"]),
    ],
)
def test_names_that_each_take_a_way_of_their_own(
    kg: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    assert rows(kg, question) == [(one,) for one in expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who reviewed Brine?", ["Yan Ott", "Zoe Falk"]),
        ("Who played Queen Ysa?", ["Ada Lund"]),
        ("Who plays Ash in Cinder?", ["Ben Roth"]),
        ("Where was Amber premiered?", ["Elm"]),
        ("In which province is Elm?", ["Norda"]),
    ],
)
def test_who_and_where_ask_for_people_and_places(
    kg: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    assert rows(kg, question) == [(one,) for one in expected]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Elm?",
        "What is the area of the seat of Norda?",
        "What is the average play?",
        "What is the second of Amber?",
    ],
)
def test_what_the_graph_cannot_tell_is_refused(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure
