"""Questions for yes or no about things that are named, and about one of two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph

TURTLE = """
@prefix : <http://cafes.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Barista a rdfs:Class ; rdfs:label "barista" . :Cafe a rdfs:Class ; rdfs:label "cafe" .
:Drink a rdfs:Class ; rdfs:label "drink" . :city rdfs:label "city" . :seats rdfs:label "number of seats" .
:sells rdfs:label "sells" . :worksAt rdfs:label "works at" . :hired rdfs:label "hire date" .
:c1 a :Cafe ; rdfs:label "Blue Door" ; :city "Bonn" ; :seats 40 ; :sells :d1, :d3 .
:c2 a :Cafe ; rdfs:label "Mokka Haus" ; :city "Ulm" ; :seats 25 ; :sells :d1 .
:c3 a :Cafe ; rdfs:label "Third Wave" ; :city "Bonn" ; :seats 60 ; :sells :d2 .
:d1 a :Drink ; rdfs:label "espresso" . :d2 a :Drink ; rdfs:label "flat white" .
:d3 a :Drink ; rdfs:label "iced tea" .
:b1 a :Barista ; rdfs:label "Ana Kovac" ; :worksAt :c1 ; :hired "2020-03-02"^^xsd:date .
:b2 a :Barista ; rdfs:label "Ben Osei" ; :worksAt :c2 ; :hired "2022-05-16"^^xsd:date .
"""


@pytest.fixture(scope="module")
def cafes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("cafes") / "cafes.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Does Third Wave sell espresso or flat white?", "Yes"),
        ("Does Third Wave sell espresso or iced tea?", "No"),
        ("Does Third Wave sell espresso, iced tea or flat white?", "Yes"),
        ("Does Mokka Haus sell flat white, or iced tea?", "No"),
        ("Does Blue Door or Third Wave sell iced tea?", "Yes"),
        ("Was Ana Kovac or Ben Osei hired in 2022?", "Yes"),
        ("Is Blue Door in Ulm or in Bonn?", "Yes"),
        # A value of the thing itself, not of another that is like it.
        ("Is Blue Door in Bonn?", "Yes"),
        ("Is Mokka Haus in Bonn?", "No: nothing in the graph says that the city of Mokka Haus is “Bonn”. "
         "It says that the city of Mokka Haus is Ulm"),
        ("Does Mokka Haus have 40 seats?", "No: nothing in the graph says that the number of seats of Mokka "
         "Haus is 40. It says that the number of seats of Mokka Haus is 25"),
        ("Does Ana Kovac work in Bonn?", "Yes"),
        ("Does Ben Osei work in Bonn?", "No"),
        ("Was Ben Osei hired in May?", "Yes"),
    ],
)  # fmt: skip
def test_yes_or_no(cafes: KnowledgeGraph, question: str, expected: str) -> None:
    answer = mrag.ask(cafes, question, model="none", how="plan")
    assert answer.text.startswith(expected)
    assert mrag.verify(cafes, answer).ok


def test_a_month_and_a_day_of_the_week_are_named(cafes: KnowledgeGraph) -> None:
    readings = {
        "Which baristas were hired in May?": "each barista whose hire date is in May",
        "Which baristas were hired on a Monday?": "each barista whose hire date is on a Monday",
    }
    for question, reading in readings.items():
        computed = mrag.ask(cafes, question, model="none", how="plan").computed
        assert computed is not None and computed.reading == reading
