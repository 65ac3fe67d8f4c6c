"""Questions made of several: who did something, values that things share, shares of groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def wards() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA / "wards.ttl"])
        yield found


@pytest.fixture(scope="module")
def studio() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA / "studio.ttl"])
        yield found


def given(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert attempt.answer.citations and mrag.verify(kg, attempt.answer).ok
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who wrote the longest play?", ["Ada Moor"]),
        ("Who has written the longest play?", ["Ada Moor"]),
        ("By whom was the longest play written?", ["Ada Moor"]),
        ("Who was the oldest play produced by?", ["Duo Press"]),
        ("Who wrote plays staged after 2005?", ["Ada Moor", "Bela Fox", "Cleo Hart"]),
        ("Who wrote the most plays?", ["Ada Moor"]),
        ("Who wrote the fewest plays?", ["Cleo Hart"]),
        ("Who wrote more than two plays?", ["Ada Moor"]),
        ("Who produced the shortest play?", ["Cleo Hart"]),
        ("Who wrote the play with the most scenes?", ["Ada Moor"]),
    ],
)
def test_who_asks_for_whoever_did_it(studio: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(studio, question) == [(name,) for name in expected]


def test_who_asks_for_people_by_the_way_that_the_relation_runs(wards: KnowledgeGraph) -> None:
    assert given(wards, "Who works in the oldest ward?") == [("Ina Wolf",), ("Pia Lang",)]
    assert given(wards, "Who cared for the longest stay?") == [("Omar Diaz",)]


@pytest.mark.parametrize(
    "question",
    [
        "How many plays have a producer and how many have no producer?",
        "How many plays have producers and how many have no producer?",
        "How many plays have a producer and how many of them have none?",
        "How many plays have a producer, and how many do not have one?",
    ],
)
def test_both_counts_are_given_however_the_second_is_said(studio: KnowledgeGraph, question: str) -> None:
    assert given(studio, question) == [("3", "2")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which nurses were hired in the same year as Pia Lang?", ["Omar Diaz"]),
        ("Which nurses were hired in the same year that Pia Lang was hired?", ["Omar Diaz"]),
        ("Which nurses were hired in the year in which Birch Ward was opened?", ["Omar Diaz", "Pia Lang"]),
        ("How many nurses were hired in the year that Alder Ward opened?", ["1"]),
        ("Which wards opened in the same year as Birch Ward?", ["Cedar Ward"]),
        ("Which nurses have the same grade as Ina Wolf?", ["Pia Lang"]),
        ("nurses of the same grade as Omar Diaz", ["Quin Rees"]),
        ("How many nurses have the same grade as Omar Diaz?", ["1"]),
    ],
)
def test_what_is_the_same_is_looked_up(wards: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(wards, question) == [(name,) for name in expected]


@pytest.mark.parametrize(
    "question",
    [
        "What percentage of each nurse's stays were discharged?",
        "What percentage of the stays of each nurse were discharged?",
        "What percentage of stays were discharged per nurse?",
        "What percentage of stays was discharged for each nurse?",
    ],
)
def test_a_share_of_each_group_is_of_what_the_group_has(wards: KnowledgeGraph, question: str) -> None:
    assert given(wards, question) == [("Ina Wolf", "50"), ("Omar Diaz", "50"), ("Pia Lang", "100")]


def test_one_number_has_no_superlative(wards: KnowledgeGraph) -> None:
    assert given(wards, "Who cared for the most stays?") == [("Ina Wolf",), ("Omar Diaz",), ("Pia Lang",)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which nurses were hired on a Monday?", ["Ina Wolf", "Omar Diaz", "Quin Rees"]),
        ("Which nurses were hired on weekends?", ["Pia Lang"]),
        ("How many nurses were hired on weekdays?", ["3"]),
        ("Which nurses were hired in the first quarter?", ["Omar Diaz", "Quin Rees"]),
        ("Which nurses were hired in May or September?", ["Ina Wolf", "Pia Lang"]),
        ("Which nurses were hired between January and May 2012?", ["Omar Diaz"]),
        ("Which nurses were not hired in 2012?", ["Ina Wolf", "Quin Rees"]),
        ("What is the difference in days between the hire dates of Omar Diaz and Pia Lang?", ["229"]),
    ],
)
def test_times_that_recur_or_lie_apart(wards: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(wards, question) == [(name,) for name in expected]


@pytest.mark.parametrize(
    "question",
    [
        "What is the average number of days of stays, rounded to 2 decimal places?",
        "What is the average number of days of stays, based on joining the stays and wards tables?",
        "Return the average number of days of stays by doing a left join from the wards to the stays table.",
    ],
)
def test_how_it_is_to_be_computed_is_no_part_of_the_question(wards: KnowledgeGraph, question: str) -> None:
    assert given(wards, question) == given(wards, "What is the average number of days of stays?")
