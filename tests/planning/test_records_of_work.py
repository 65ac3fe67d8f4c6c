"""Questions of an institute: positions of authors, money of grants, what was done and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

GRAPH = """
@prefix : <https://vocab.institute.example/core#> . @prefix d: <https://data.institute.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:author rdfs:label "author" . :position rdfs:label "author position" . :of rdfs:label "authorship of" .
:corresponding rdfs:label "corresponding author" .
:funds rdfs:label "funds" . :amount rdfs:label "amount (EUR)" .
:reserved rdfs:label "reserved equipment" . :reservedBy rdfs:label "reserved by" .
:startDate rdfs:label "start date" . :endDate rdfs:label "end date" .
:worksWith rdfs:label "works with" . :price rdfs:label "price (EUR)" . :hasPart rdfs:label "has part" .
:reportsTo rdfs:label "reports to" .
:givenName rdfs:label "given name" . :familyName rdfs:label "family name" .

d:ada a :Person ; rdfs:label "Ada Kern" ; :givenName "Ada" ; :familyName "Kern" .
d:ben a :Person ; rdfs:label "Ben Roth" ; :givenName "Ben" ; :familyName "Roth" ; :reportsTo d:ada .
d:cleo a :Person ; rdfs:label "Cleo Vogt" ; :givenName "Cleo" ; :familyName "Vogt" ; :reportsTo d:ben .
d:p1 a :Paper ; rdfs:label "Ice and Salt" . d:p2 a :Paper ; rdfs:label "Slow Bloom" .
d:p3 a :Paper ; rdfs:label "Deep Iron" .
d:a1 a :Authorship ; :of d:p1 ; :author d:ada ; :position 1 ; :corresponding true .
d:a2 a :Authorship ; :of d:p1 ; :author d:ben ; :position 2 ; :corresponding false .
d:a3 a :Authorship ; :of d:p2 ; :author d:cleo ; :position 1 ; :corresponding false .
d:a4 a :Authorship ; :of d:p2 ; :author d:ben ; :position 2 ; :corresponding true .
d:a5 a :Authorship ; :of d:p3 ; :author d:ada ; :position 1 ; :corresponding true .
d:a6 a :Authorship ; :of d:p3 ; :author d:ben ; :position 2 ; :corresponding false .
d:tide a :Project ; rdfs:label "TIDE" ; :startDate "2018-01-01"^^xsd:date ; :endDate "2020-06-30"^^xsd:date .
d:frost a :Project ; rdfs:label "FROST" ; :startDate "2020-03-01"^^xsd:date .
d:reef a :Project ; rdfs:label "REEF" ; :startDate "2021-05-01"^^xsd:date ; :endDate "2022-05-01"^^xsd:date .
d:g1 a :Grant ; :funds d:tide ; :amount 100 . d:g2 a :Grant ; :funds d:tide ; :amount 50 .
d:g3 a :Grant ; :funds d:frost ; :amount 400 .
d:r1 a :Reservation ; :reserved d:scope ; :reservedBy d:ada .
d:r2 a :Reservation ; :reserved d:drone ; :reservedBy d:ada .
d:r3 a :Reservation ; :reserved d:scope ; :reservedBy d:ben .
d:scope a :Device ; rdfs:label "Scope 300" ; :price 500 ; :worksWith d:drone , d:lens ; :hasPart d:motor .
d:drone a :Device ; rdfs:label "Drone 7" ; :price 200 ; :worksWith d:scope ; :hasPart d:wheel .
d:lens a :Device ; rdfs:label "Lens Kit" ; :price 90 ; :worksWith d:scope .
d:motor a :Part ; rdfs:label "Motor" . d:wheel a :Part ; rdfs:label "Gear Wheel" .
"""


@pytest.fixture(scope="module")
def institute(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("institute") / "institute.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def given(kg: KnowledgeGraph, question: str) -> list[tuple[str, ...]]:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    return sorted(tuple(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is first author most often?", ["Ada Kern"]),
        ("Who is the second author of Slow Bloom?", ["Ben Roth"]),
        ("papers with Ada Kern as first author", ["Deep Iron", "Ice and Salt"]),
        ("How many papers have Ben Roth as second author?", ["3"]),
        ("Apart from Ada Kern, who reserved the Scope 300?", ["Ben Roth"]),
        ("How much funding did TIDE get?", ["150"]),
        ("Which project got the most funding?", ["FROST"]),
        ("What did Ada Kern reserve?", ["Drone 7", "Scope 300"]),
        ("What was reserved by Ben Roth?", ["Scope 300"]),
        ("Projects that were running on 1 May 2020", ["FROST", "TIDE"]),
        ("Which projects were active in 2019?", ["TIDE"]),
        ("Which projects were under way in 2022?", ["FROST", "REEF"]),
        ("What is the price of a Scope 300?", ["500"]),
        ("How much more does a Scope 300 cost than a Drone 7?", ["300"]),
        ("Which devices contain neither a motor nor a gear wheel?", ["Lens Kit"]),
    ],
)
def test_what_is_recorded(institute: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert given(institute, question) == [(cell,) for cell in expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("total funding per project, largest first", [("FROST", "400"), ("TIDE", "150")]),
        ("Which project lasted longest, and for how many days?", [("TIDE", "911")]),
        ("Who reports to Ada Kern, and what is their given name?", [("Ben Roth", "Ben")]),
    ],
)
def test_what_is_told_with_a_number(
    institute: KnowledgeGraph, question: str, expected: list[tuple[str, str]]
) -> None:
    assert given(institute, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is the average funding of a project?",  # of grants it is no average of projects
        "Who is the boss of Ada Kern?",
        "Who is the third author of Slow Bloom?",
    ],
)
def test_what_is_not_recorded_is_not_told(institute: KnowledgeGraph, question: str) -> None:
    assert not compute(institute, question).sure
