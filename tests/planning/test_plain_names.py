"""Numbers that stand in a thing of their own, as catalogues on the web state them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mrag

CATALOGUE = """
@prefix : <https://schema.example/> .
@prefix t: <https://tents.example/> .
t:alp a :Tent ; :name "Alp 2" ; :pitchTime "PT12M" ; :packTime "PT20M" ;
  :aggregateRating [ a :AggregateRating ; :ratingValue 4.4 ; :reviewCount 31 ] ;
  :weight [ a :QuantitativeValue ; :value 1.9 ; :unitCode "KGM" ] .
t:bay a :Tent ; :name "Bay 4" ; :pitchTime "PT25M" ; :packTime "PT10M" ;
  :aggregateRating [ a :AggregateRating ; :ratingValue 4.7 ; :reviewCount 12 ] ;
  :weight [ a :QuantitativeValue ; :value 5.2 ; :unitCode "KGM" ] .
t:cub a :Tent ; :name "Cub 1" ; :pitchTime "PT5M" ; :packTime "PT6M" ;
  :aggregateRating [ a :AggregateRating ; :ratingValue 3.9 ; :reviewCount 58 ] ;
  :weight [ a :QuantitativeValue ; :value 950 ; :unitCode "GRM" ] .
"""


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[mrag.KnowledgeGraph]:
    file = tmp_path_factory.mktemp("tents") / "tents.ttl"
    file.write_text(CATALOGUE)
    with mrag.connect() as kg:
        kg.load([file])
        yield kg


def computed(kg: mrag.KnowledgeGraph, question: str, reading: int | None = None) -> tuple[str, list[str]]:
    answer = mrag.ask(kg, question, model="none", how="plan", reading=reading)
    if answer.computed is None:
        return answer.text, []
    return answer.text, [cell.label for row in answer.computed.rows for cell in row]


@pytest.mark.parametrize(
    ("question", "cells"),
    [
        ("Which tent has the highest rating?", ["Bay 4"]),
        ("Which tents have a rating above 4.2?", ["Alp 2", "Bay 4"]),
        ("What is the rating of Cub 1?", ["3.9"]),
        ("How many reviews does Alp 2 have?", ["31"]),
        ("Which tent has the most reviews?", ["Cub 1"]),
        ("Which tent has the fewest reviews?", ["Bay 4"]),
        ("Which tent takes the longest to pitch?", ["Bay 4"]),
        ("Which tent took the longest to pack?", ["Alp 2"]),
        ("Which tent is quickest to pack?", ["Cub 1"]),
    ],
)
def test_what_stands_in_a_thing_of_its_own_is_asked_for(
    kg: mrag.KnowledgeGraph, question: str, cells: list[str]
) -> None:
    assert computed(kg, question)[1] == cells


@pytest.mark.parametrize("question", ["How many ratings are there?", "How many ratings does Alp 2 have?"])
def test_values_are_not_added_for_how_many_there_are(kg: mrag.KnowledgeGraph, question: str) -> None:
    assert computed(kg, question)[1] in ([], ["1"], ["3"])


def test_a_count_is_called_as_it_is(kg: mrag.KnowledgeGraph) -> None:
    assert computed(kg, "How many reviews does Cub 1 have?")[0].startswith("The review count is 58")


def test_an_answer_is_called_by_the_property_that_was_read(kg: mrag.KnowledgeGraph) -> None:
    assert computed(kg, "How long does it take to pack Alp 2?")[0].startswith("The pack time is 20 min")


def test_a_unit_is_no_name(kg: mrag.KnowledgeGraph) -> None:
    assert computed(kg, "What is the weight of Cub 1?")[1] == []  # a thing without a name is hardly meant
    text, cells = computed(kg, "What is the weight of Cub 1?", 1)
    assert cells == ['[unit code "GRM"; value 950]'] and "GRM" in text
    assert computed(kg, "Which tent is the heaviest?")[1] == []
