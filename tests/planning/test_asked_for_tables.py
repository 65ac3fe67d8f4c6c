"""Questions as tables are asked: several columns, codes, how often, the first of each group."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.stores.oxigraph import OxigraphStore

KENNELS = """
@prefix : <http://example.org/kennels/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Kennel a rdfs:Class ; rdfs:label "kennel" . :Dog a rdfs:Class ; rdfs:label "dog" .
:Walker a rdfs:Class ; rdfs:label "walker" . :Walk a rdfs:Class ; rdfs:label "walk" .
:kennelName rdfs:label "name" . :dogName rdfs:label "name" . :walkerName rdfs:label "name" .
:sex rdfs:label "sex" . :coat rdfs:label "coat" ; rdfs:comment "Kind of the coat: SH: smooth, WR: wiry." .
:livesIn rdfs:label "lives in kennel" . :ofDog rdfs:label "walk of dog" . :doneBy rdfs:label "walked by" .
:badge rdfs:label "badge id" .
:north a :Kennel ; rdfs:label "North" ; :kennelName "North" ; :places 30 .
:south a :Kennel ; rdfs:label "South" ; :kennelName "South" ; :places 12 .
:rex a :Dog ; rdfs:label "Rex" ; :dogName "Rex" ; :sex "M" ; :coat "SH" ; :weight 31 ; :livesIn :north .
:ada a :Dog ; rdfs:label "Ada" ; :dogName "Ada" ; :sex "F" ; :coat "WR" ; :weight 12 ; :livesIn :north .
:bob a :Dog ; rdfs:label "Bob" ; :dogName "Bob" ; :sex "M" ; :coat "WR" ; :weight 9 ; :livesIn :south .
:eve a :Dog ; rdfs:label "Eve" ; :dogName "Eve" ; :sex "F" ; :coat "SH" ; :weight 22 ; :livesIn :south .
:una a :Dog ; rdfs:label "Una" ; :dogName "Una" ; :sex "F" ; :coat "SH" ; :weight 15 ; :livesIn :south .
:ann a :Walker ; rdfs:label "Ann Lee" ; :walkerName "Ann Lee" ; :badge "W1" ; :wage 12 .
:ben a :Walker ; rdfs:label "Ben Fox" ; :walkerName "Ben Fox" ; :badge "W2" ; :wage 15 .
:cy a :Walker ; rdfs:label "Cy Orr" ; :walkerName "Cy Orr" ; :badge "W3" ; :wage 11 .
:w1 a :Walk ; :ofDog :rex ; :doneBy :ann ; :minutes 30 ; :grade "A" .
:w2 a :Walk ; :ofDog :rex ; :doneBy :ann ; :minutes 20 ; :grade "B" .
:w3 a :Walk ; :ofDog :rex ; :doneBy :ben ; :minutes 45 ; :grade "A" .
:w4 a :Walk ; :ofDog :ada ; :doneBy :ben ; :minutes 15 ; :grade "C" .
:w5 a :Walk ; :ofDog :bob ; :doneBy :ben ; :minutes 25 ; :grade "B" .
:w6 a :Walk ; :ofDog :eve ; :doneBy :cy ; :minutes 60 ; :grade "A" .
"""

ANSWERED = [
    ("Which kennel has the most dogs, and how many?", ["South | 3"]),
    ("Which dogs were walked more than twice?", ["Rex"]),
    ("Which kennels have more than two dogs, and how many dogs do they have?", ["South | 3"]),
    ("How many female dogs are there?", ["3"]),
    ("Which wiry dogs live in North?", ["Ada"]),
    ("What percentage of the dogs are male?", ["40"]),
    ("What is the average, minimum and maximum weight of the dogs in South?", ["15.3333 | 9 | 22"]),
    ("Show the walker with the most walks of each kennel.", ["North | Ann Lee", "North | Ben Fox",
                                                             "South | Ben Fox", "South | Cy Orr"]),
    ("Show the badge id and the number of walks for each walker.", ["W1 | 2", "W2 | 3", "W3 | 1"]),
    ("Show the weight of the dog and the name of the walker for all walks with a grade of A.",
     ["22 | Cy Orr", "31 | Ann Lee", "31 | Ben Fox"]),
    ("List the name and the weight of the two dogs with the highest weight.", ["Eve | 22", "Rex | 31"]),
    ("Which dogs had walks with a grade of B or C?", ["Ada", "Bob", "Rex"]),
    ("Show the dogs whose name contains the substring 'e'.", ["Eve", "Rex"]),
    ("How many more places does North have than South?", ["18"]),
    ("hey, could you tell me which dogs live in North? thanks!", ["Ada", "Rex"]),
    ("gimme the female dogs", ["Ada", "Eve", "Una"]),
    ("Is it true that Rex lives in North?", ["yes"]),
    ("Rex lives in South, right?", ["no"]),
    ("Do all dogs have a coat?", ["yes"]),
    ("Are all dogs in North male?", ["no"]),
    ("Are most dogs female?", ["yes"]),
    ("Is it true that no dog in South is male?", ["no"]),
    ("Where does Rex live and what is his weight?", ["North | 31"]),
    ("Who is the best paid walker and what is the badge id of her?", ["Ben Fox | W2"]),
    ("Show every dog with its kennel and its weight.", ["Ada | North | 12", "Bob | South | 9",
                                                        "Eve | South | 22", "Rex | North | 31",
                                                        "Una | South | 15"]),
    ("the two heaviest dogs with weight and kennel", ["Eve | 22 | South", "Rex | 31 | North"]),
    ("What is the highest weight for each coat?", ["SH | 31", "WR | 12"]),
    ("How many dogs can North hold?", ["30"]),
    ("dogs outside North", ["Bob", "Eve", "Una"]),
    ("Are there dogs that were never walked? If so, which ones?", ["Una"]),
    ("What percentage of the dogs of each kennel is female?", ["North | 50", "South | 66.6667"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def kennels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        path = tmp_path_factory.mktemp("kennels") / "kennels.ttl"
        path.write_text(KENNELS, encoding="utf-8")
        kg.load([path])
        yield kg


@pytest.mark.parametrize(("question", "rows"), ANSWERED, ids=[q for q, _ in ANSWERED])
def test_what_tables_are_asked_for_is_computed(
    kennels: KnowledgeGraph, question: str, rows: list[str]
) -> None:
    attempt = compute(kennels, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert sorted(" | ".join(c.label for c in row) for row in attempt.answer.computed.rows) == rows


def test_rows_may_be_ordered_by_words_for_both_ends(kennels: KnowledgeGraph) -> None:
    answer = compute(kennels, "List the dogs from the highest weight to the lowest.").answer
    assert answer is not None and answer.computed is not None
    assert [row[0].label for row in answer.computed.rows] == ["Rex", "Eve", "Una", "Ada", "Bob"]


def test_rows_may_be_ordered_by_an_adjective(kennels: KnowledgeGraph) -> None:
    answer = compute(kennels, "dogs of South, heaviest first").answer
    assert answer is not None and answer.computed is not None
    assert [row[0].label for row in answer.computed.rows] == ["Eve", "Una", "Bob"]


def test_half_of_a_question_is_not_answered(kennels: KnowledgeGraph) -> None:
    attempt = compute(kennels, "Where does Rex live and when was he vaccinated?")
    assert not attempt.sure


def test_the_first_of_each_group_is_told_in_words_and_proved(kennels: KnowledgeGraph) -> None:
    answer = compute(kennels, "What is the name of the lightest dog in each kennel?").answer
    assert answer is not None and answer.computed is not None
    assert answer.computed.reading.endswith("but of each kennel only that with the least weight")
    assert len(answer.citations) > 1


def test_more_than_there_are_is_a_guess(kennels: KnowledgeGraph) -> None:
    answer = compute(kennels, "Which kennels have more than 500 dogs?").answer
    assert answer is not None and answer.computed is not None
    assert answer.computed.confidence < 0.9
