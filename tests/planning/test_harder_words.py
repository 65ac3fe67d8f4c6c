"""Questions whose words are easily taken for something else: other roles, deeds, lists of names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import Attempt, compute, reader_of

DATA = Path(__file__).parent / "data" / "studio.ttl"


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with mrag.connect("oxigraph:") as found:
        found.load([DATA])
        yield found


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The same graph with one role only."""
    text = DATA.read_text()
    path = tmp_path_factory.mktemp("lone") / "studio.ttl"
    path.write_text("\n".join(line.replace(":producer :Duo ;", "").replace(":producer :Cleo ;", "")
                              for line in text.splitlines() if not line.startswith(":producer")))  # fmt: skip
    with mrag.connect("oxigraph:") as found:
        found.load([path])
        yield found


def rows(attempt: Attempt) -> list[tuple[str, ...]]:
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


def given(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and mrag.verify(kg, attempt.answer).ok
    return rows(attempt)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the publisher of Tideland?",
        "Who published Tideland?",
        "Who is the editor of Frost?",
        "Who is the translator of Tideland?",
        "Which agent is the sponsor of Omen?",
        "plays submitted by Ada Moor",
    ],
)
def test_a_role_is_not_answered_by_another_one(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure
    assert reader_of(kg).readings(question)[0].ignored


@pytest.mark.parametrize("question", ["Who is the publisher of Tideland?", "Who is the editor of Frost?"])
def test_nor_by_the_only_one(lone: KnowledgeGraph, question: str) -> None:
    assert not compute(lone, question).sure
    assert given(lone, "Who is the writer of Tideland?") == [("Ada Moor",)]


def test_roles_that_the_graph_has_are_answered(kg: KnowledgeGraph) -> None:
    assert given(kg, "Who is the producer of Tideland?") == [("Duo Press",)]
    assert given(kg, "Who is the author of Omen?") == [("Cleo Hart",)]
    assert given(kg, "Who wrote Frost?") == [("Ada Moor",), ("Bela Fox",)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was staged after 2008?", ["Glass Door", "Omen", "Tideland"]),
        ("What was staged in 2009?", ["Glass Door"]),
        ("What did Ada Moor stage after 2000?", ["Ember Hall", "Tideland"]),
        ("What has Ada Moor staged since 2005?", ["Tideland"]),
        ("What did Ada Moor write after 2000?", ["Ember Hall", "Tideland"]),
        ("What did Duo Press produce before 2000?", ["Frost"]),
    ],
)
def test_a_deed_with_a_date_asks_for_things(kg: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(kg, question) == [(name,) for name in expected]


def test_a_date_is_asked_for_by_when_and_by_its_name(kg: KnowledgeGraph) -> None:
    assert given(kg, "When was Frost staged?") == [("1998-04-02",)]
    assert given(kg, "What is the staged date of Frost?") == [("1998-04-02",)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the longest play?", ["Ember Hall"]),
        ("Which play is the shortest?", ["Glass Door"]),
        ("Which plays are longer than 14?", ["Ember Hall", "Omen", "Tideland"]),
        ("Which plays are longer than Omen?", ["Ember Hall", "Tideland"]),
        ("Which writer wrote the longest play?", ["Ada Moor"]),
        ("What is the largest town?", ["Linz"]),
    ],
)
def test_what_a_thing_is_made_of_tells_how_long_it_is(
    kg: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    assert given(kg, question) == [(name,) for name in expected]


@pytest.mark.parametrize("question", ["What is the tallest play?", "Which play is the heaviest?"])
def test_what_it_is_made_of_tells_nothing_else(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure


def test_names_with_and_ask_for_what_is_of_all_of_them(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "plays by Ada Moor and Bela Fox")
    assert rows(attempt) == [("Frost",)] and attempt.sure
    (other,) = attempt.answer.computed.readings  # type: ignore[union-attr]
    assert "either" in other.reading
    any_of = compute(kg, "plays by Ada Moor and Bela Fox", reading=other.number)
    assert len(rows(any_of)) == 4


@pytest.mark.parametrize(
    "question", ["plays by Ada Moor and Cleo Hart", "Which plays are by Ada Moor and Cleo Hart?"]
)
def test_where_nothing_is_of_all_the_answer_says_so_and_offers_any(kg: KnowledgeGraph, question: str) -> None:
    attempt = compute(kg, question, reading=1)
    assert rows(attempt) == []
    assert attempt.answer is not None and attempt.answer.text.startswith("None: there is no play")
    others = attempt.answer.computed.readings  # type: ignore[union-attr]
    (other,) = (r for r in others if "writer" in r.reading)
    assert len(rows(compute(kg, question, reading=other.number))) == 4
    assert mrag.verify(kg, attempt.answer).ok


def test_none_of_them_is_counted_as_none(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "How many plays did Ada Moor and Cleo Hart write?")
    assert rows(attempt) == [("0",)]
    assert [r.answer for r in attempt.answer.computed.readings] == ["4"]  # type: ignore[union-attr]


def test_both_leaves_no_other_reading(kg: KnowledgeGraph) -> None:
    attempt = compute(kg, "Which plays were written by both Ada Moor and Bela Fox?")
    assert rows(attempt) == [("Frost",)]
    assert not attempt.answer.computed.readings  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        ("When was Frost staged?", "the date staged of Frost"),
        ("What was staged after 2008?", "each play whose date staged is no earlier than 2009-01-01"),
        (
            "Which play was staged first?",
            "each play and its date staged, earliest first, only the first one, ties included",
        ),
        ("plays by Ada Moor and Bela Fox", "each play whose writers are Ada Moor and Bela Fox"),
    ],
)
def test_participles_are_named_by_what_they_tell(kg: KnowledgeGraph, question: str, reading: str) -> None:
    attempt = compute(kg, question)
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert attempt.answer.computed.reading == reading


def test_a_second_sentence_adds_columns(kg: KnowledgeGraph) -> None:
    asked = "Which plays were written by Ada Moor? Give the number of scenes and the staged date of each."
    assert given(kg, asked) == [
        ("Ember Hall", "31", "2004-09-12"), ("Frost", "12", "1998-04-02"), ("Tideland", "20", "2011-01-20"),
    ]  # fmt: skip
    shorter = "Which plays were written by Ada Moor? Give the number of scenes of each."
    assert given(kg, shorter) == [("Ember Hall", "31"), ("Frost", "12"), ("Tideland", "20")]
    made = "Which plays have a producer? Give the writer and number of scenes of each."
    assert given(kg, made) == [
        ("Frost", "Ada Moor", "12"), ("Frost", "Bela Fox", "12"), ("Glass Door", "Bela Fox", "8"),
        ("Tideland", "Ada Moor", "20"),
    ]  # fmt: skip


def test_things_with_any_value_are_counted(kg: KnowledgeGraph) -> None:
    assert given(kg, "How many plays have a producer?") == [("3",)]
    assert given(kg, "How many plays have no producer?") == [("2",)]


@pytest.mark.parametrize(
    "question",
    [
        "How many plays have a producer and how many do not?",
        "How many plays have a producer and how many have none?",
        "How many plays have a producer, and how many don't have one?",
    ],
)
def test_those_with_and_those_without_are_two_counts(kg: KnowledgeGraph, question: str) -> None:
    attempt = compute(kg, question)
    assert given(kg, question) == [("3", "2")]
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert attempt.answer.computed.reading == (
        "the number of plays with a producer and the number of plays without any producer"
    )
    assert "with: 3; " in attempt.answer.text and "without: 2" in attempt.answer.text
