"""Words of everyday questions that no property of a graph is called by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

TURTLE = """
@prefix : <http://ferries.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Ferry a owl:Class ; rdfs:label "ferry" . :Firm a owl:Class ; rdfs:label "firm" .
:Trip a owl:Class ; rdfs:label "trip" . :Pass a owl:Class ; rdfs:label "pass" .
:ownedBy a owl:ObjectProperty ; rdfs:label "owned by" ; rdfs:domain :Ferry ; rdfs:range :Firm .
:tripOf a owl:ObjectProperty ; rdfs:label "trip of ferry" ; rdfs:domain :Trip ; rdfs:range :Ferry .
:accepts a owl:ObjectProperty ; rdfs:label "accepts pass" ; rdfs:domain :Ferry ; rdfs:range :Pass .
:flag rdfs:label "flag state" ; rdfs:domain :Ferry .
:length rdfs:label "length overall" ; rdfs:domain :Ferry .
:left rdfs:label "departure date" ; rdfs:domain :Trip .
:heated rdfs:label "heating compulsory" ; rdfs:domain :Ferry .
:from rdfs:label "valid from" ; rdfs:domain :Pass . :until rdfs:label "valid until" ; rdfs:domain :Pass .
:seat rdfs:label "headquarters" ; rdfs:domain :Firm .
:Deckhand a owl:Class ; rdfs:label "deckhand" . :hired rdfs:label "hire date" ; rdfs:domain :Deckhand .
:d1 a :Deckhand ; rdfs:label "Kari Moe" ; :hired "2019-05-06"^^xsd:date .
:d2 a :Deckhand ; rdfs:label "Jens Dahl" ; :hired "2022-02-01"^^xsd:date .
:o1 a :Firm ; rdfs:label "Nordlinie" ; :seat "Selma" . :o2 a :Firm ; rdfs:label "Kustwacht" ; :seat "Aarhus" .
:f1 a :Ferry ; rdfs:label "Runa" ; :ownedBy :o1 ; :flag "Norway" ; :length 210 ; :accepts :p1, :p2 ;
    :heated "Y" .
:f2 a :Ferry ; rdfs:label "Selma" ; :ownedBy :o1 ; :flag "Malta" ; :length 150 ; :accepts :p1 ; :heated "N" .
:f3 a :Ferry ; rdfs:label "Otter" ; :ownedBy :o2 ; :flag "Norway" ; :length 95 ; :accepts :p2 ; :heated "Y" .
:p1 a :Pass ; rdfs:label "BLUE1" ; :from "2022-01-01"^^xsd:date ; :until "2022-06-30"^^xsd:date .
:p2 a :Pass ; rdfs:label "GOLD2" ; :from "2022-05-01"^^xsd:date ; :until "2022-12-31"^^xsd:date .
:p3 a :Pass ; rdfs:label "RED3" ; :from "2023-01-01"^^xsd:date ; :until "2023-12-31"^^xsd:date .
:t1 a :Trip ; rdfs:label "TRIP-2021" ; :tripOf :f1 ; :left "2021-03-01"^^xsd:date .
:t2 a :Trip ; rdfs:label "TRIP-2022" ; :tripOf :f1 ; :left "2021-08-09"^^xsd:date .
:t3 a :Trip ; rdfs:label "TRIP-2023" ; :tripOf :f2 ; :left "2022-04-05"^^xsd:date .
"""


@pytest.fixture(scope="module")
def ferries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("ferries") / "ferries.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the owner of Selma?", {("Nordlinie",)}),
        ("Which owner has the most ferries?", {("Nordlinie",)}),
        ("ferries flying the flag of Norway", {("Runa",), ("Otter",)}),
        ("How many ferries do we have on file?", {("3",)}),
        ("Which ferries are between 100 and 200 metres long?", {("Selma",)}),
        ("ferries over 200 m long", {("Runa",)}),
        ("Which ferries accept both the passes BLUE1 and GOLD2?", {("Runa",)}),
        ("Ferries with 'una' in the name", {("Runa",)}),
        ("ferries whose name contains 'una' or 'Sel'", {("Runa",), ("Selma",)}),
        ("Which passes are not accepted by any ferry?", {("RED3",)}),
        # Those who are hired are people, whatever they are called.
        ("Who was hired in 2022?", {("Jens Dahl",)}),
        # What holds from one day until another holds between them.
        ("Which passes were valid on 1 March 2022?", {("BLUE1",)}),
        ("Which passes were valid in June 2022?", {("BLUE1",), ("GOLD2",)}),
        # A year is no part of a code, and a property no other one's value.
        ("How many trips did each ferry make in 2021?", {("Runa", "2")}),
    ],
)
def test_plain_words(ferries: KnowledgeGraph, question: str, expected: set[tuple[str, ...]]) -> None:
    attempt = compute(ferries, question, seconds=300)
    assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
    assert {tuple(cell.label for cell in row) for row in attempt.answer.computed.rows} == expected


def test_a_property_is_said_of_the_thing_and_not_left_out(ferries: KnowledgeGraph) -> None:
    for name, expected in (("Selma", "No"), ("Runa", "Yes")):
        answer = mrag.ask(ferries, f"Is heating compulsory in {name}?", model="none", how="plan")
        assert answer.text.startswith(expected)


COLLEGE = """
@prefix : <http://college.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Student a owl:Class ; rdfs:label "student" . :Course a owl:Class ; rdfs:label "course" .
:Prof a owl:Class ; rdfs:label "professor" . :Enrolment a owl:Class ; rdfs:label "enrolment" .
:by rdfs:label "taught by" . :of rdfs:label "enrolment of student" . :in rdfs:label "enrolled in course" .
:grade rdfs:label "grade" .
:p1 a :Prof ; rdfs:label "Omar Said" . :p2 a :Prof ; rdfs:label "Ivy Chen" .
:c1 a :Course ; rdfs:label "Optics" ; :by :p2 . :c2 a :Course ; rdfs:label "Archives" ; :by :p1 .
:c3 a :Course ; rdfs:label "Genetics" ; :by :p1 .
:s1 a :Student ; rdfs:label "Tom Reed" . :s2 a :Student ; rdfs:label "Zoe Hart" .
:e1 a :Enrolment ; :of :s1 ; :in :c1 ; :grade "A" . :e2 a :Enrolment ; :of :s2 ; :in :c1 ; :grade "B" .
"""


def test_titles_and_grades_are_no_empty_words(tmp_path: Path) -> None:
    (tmp_path / "college.ttl").write_text(COLLEGE, encoding="utf-8")
    expected = {
        "How many professors are there?": [["2"]],
        "Which professor teaches the most courses?": [["Omar Said"]],
        "Which courses are taught by Professor Chen?": [["Optics"]],
        "Which students got an A?": [["Tom Reed"]],
        "Which students got a B in Optics?": [["Zoe Hart"]],
    }
    with mrag.connect("oxigraph:") as kg:
        kg.load([tmp_path / "college.ttl"])
        for question, rows in expected.items():
            attempt = compute(kg, question, seconds=300)
            assert attempt.answer is not None and attempt.answer.computed is not None, attempt.why
            assert [[cell.label for cell in row] for row in attempt.answer.computed.rows] == rows
