"""Relations from people to people: which end is asked for, and of whom something is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

TURTLE = """
@prefix : <http://guild.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Master rdfs:subClassOf :Member . :Apprentice rdfs:subClassOf :Member .
:Una a :Master ; rdfs:label "Una Fell" ; :craft "weaver" ; :fee 90 ; :joined "1990-05-01"^^xsd:date .
:Ivo a :Master ; rdfs:label "Ivo Dale" ; :craft "potter" ; :teacher :Una ; :sponsor :Rhea ; :fee 70 ; :joined "2001-05-01"^^xsd:date .
:Rhea a :Master ; rdfs:label "Rhea Vale" ; :craft "weaver" ; :teacher :Una ; :fee 60 ; :joined "2004-05-01"^^xsd:date .
:Kit a :Apprentice ; rdfs:label "Kit Lowe" ; :craft "weaver" ; :teacher :Ivo ; :sponsor :Una ; :fee 40 ; :joined "2012-05-01"^^xsd:date .
:Bea a :Apprentice ; rdfs:label "Bea Holt" ; :craft "smith" ; :teacher :Ivo ; :fee 30 ; :joined "2015-05-01"^^xsd:date .
"""  # noqa: E501


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path = tmp_path_factory.mktemp("guild") / "guild.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as graph:
        graph.load([path])
        yield graph


def answered(kg: KnowledgeGraph, question: str, *, sure: bool = True) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure or not sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is the teacher of Kit Lowe?", "Ivo Dale"),
        ("Whose teacher is Ivo Dale?", "Bea Holt, Kit Lowe"),
        ("Who has the teacher Una Fell?", "Ivo Dale, Rhea Vale"),
        ("Whose craft is weaver?", "Kit Lowe, Rhea Vale, Una Fell"),
        ("Who has a sponsor?", "Ivo Dale, Kit Lowe"),
        ("Who has no teacher?", "Una Fell"),
        ("Who doesn't have a sponsor?", "Bea Holt, Rhea Vale, Una Fell"),
    ],
)
def test_the_end_that_is_asked_for(kg: KnowledgeGraph, question: str, names: str) -> None:
    assert answered(kg, question) == [(name,) for name in names.split(", ")]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("Who are the teacher and sponsor of Ivo Dale?", ("Una Fell", "Rhea Vale")),
        ("Who are Ivo Dale's teacher and sponsor?", ("Una Fell", "Rhea Vale")),
        ("What are the fee and the teacher of Ivo Dale?", ("70", "Una Fell")),
        ("What is the fee of the teacher of Ivo Dale?", ("90",)),
    ],
)
def test_two_things_of_one_person(kg: KnowledgeGraph, question: str, row: tuple[str, ...]) -> None:
    assert answered(kg, question, sure=False) == [row]


@pytest.mark.parametrize(
    "question",
    [
        # Each was answered with what is said of the people themselves.
        "Whose teacher is a weaver?",
        "Whose teacher joined before 1995?",
        "Who has a teacher who is a weaver?",
        "Which members whose teacher is a weaver are potters?",
        "Which apprentices have a teacher who joined before 1995?",
        # To count, for each master, that master is no answer.
        "Which master is praised by the most members?",
    ],
)
def test_what_is_said_of_a_relative_is_said_of_nobody_else(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure


RELEASES = """
@prefix : <http://packages.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a a :Tool ; rdfs:label "hammer" ; :release :a1 . :b a :Tool ; rdfs:label "chisel" ; :release :b1, :b2 .
:a1 a :Release ; rdfs:label "hammer 1" ; :releaseDate "2018-02-03"^^xsd:date .
:b1 a :Release ; rdfs:label "chisel 1" ; :releaseDate "2017-02-03"^^xsd:date .
:b2 a :Release ; rdfs:label "chisel 2" ; :releaseDate "2022-02-03"^^xsd:date .
"""


def test_last_released_before_a_year_is_no_superlative(tmp_path: Path) -> None:
    (tmp_path / "tools.ttl").write_text(RELEASES, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "tools.ttl"])
        assert not compute(kg, "Which tools were last released before 2020?").sure
        assert answered(kg, "Which tool was last released?") == [("chisel",)]
        assert answered(kg, "What was the last release before 2020?") == [("hammer 1",)]
