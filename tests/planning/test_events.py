"""Questions over a graph in which events stand between things, and flags are written as text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.stores.oxigraph import OxigraphStore

TRIPS = """
@prefix : <http://example.org/fleet/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Van a rdfs:Class . :Driver a rdfs:Class . :Trip a rdfs:Class . :Repair a rdfs:Class .
:red a :Van ; rdfs:label "Red Rover" ; :fuel "diesel" ; :length_m 5.2 ; :hasRadio "yes" ; :built_year 2012 .
:old a :Van ; rdfs:label "Old Lady" ; :fuel "petrol" ; :length_m 6.5 ; :hasRadio "no" ; :built_year 1994 .
:new a :Van ; rdfs:label "New Moon" ; :fuel "electric" ; :length_m 4.4 ; :hasRadio "yes" ; :built_year 2020 .
:ann a :Driver ; rdfs:label "Ann Lee" ; :hiredOn "2010-05-01"^^xsd:date .
:ben a :Driver ; rdfs:label "Ben Fox" ; :hiredOn "2018-02-01"^^xsd:date .
:cy a :Driver ; rdfs:label "Cy Orr" ; :hiredOn "2022-01-10"^^xsd:date .
:t1 a :Trip ; :van :red ; :driver :ann ; :distanceKm 100 ; :date "2022-01-05"^^xsd:date .
:t2 a :Trip ; :van :red ; :driver :ben ; :distanceKm 90 ; :date "2022-03-05"^^xsd:date .
:t3 a :Trip ; :van :old ; :driver :ben ; :distanceKm 80 ; :date "2023-04-01"^^xsd:date .
:t4 a :Trip ; :van :old ; :driver :ann ; :distanceKm 10 ; :date "2022-06-01"^^xsd:date .
:r1 a :Repair ; :repairOf :red ; :cost_eur 400 ; :repair_date "2021-02-03"^^xsd:date .
:r2 a :Repair ; :repairOf :red ; :cost_eur 200 ; :repair_date "2022-02-03"^^xsd:date .
:r3 a :Repair ; :repairOf :old ; :cost_eur 50 ; :repair_date "2022-07-09"^^xsd:date .
"""

ANSWERED = [
    ("How many vans are there?", ["3"]),
    ("Who drove the Red Rover?", ["Ann Lee", "Ben Fox"]),
    ("Which drivers drove both the Red Rover and the Old Lady?", ["Ann Lee", "Ben Fox"]),
    ("Which driver drove the most kilometres?", ["Ben Fox"]),
    ("How many trips did each driver make in 2022?", ["Ann Lee | 2", "Ben Fox | 1"]),
    ("How far did Ben Fox drive?", ["170"]),
    ("Which vans were never driven?", ["New Moon"]),
    ("Who has never driven a petrol van?", ["Cy Orr"]),
    ("Which vans have no radio?", ["Old Lady"]),
    ("Does the Old Lady have a radio?", ["no"]),
    ("How many vans have a radio?", ["2"]),
    ("Which vans were not repaired in 2022?", ["New Moon"]),
    ("List the diesel and petrol vans.", ["Old Lady", "Red Rover"]),
    ("Which vans were built before 2000 or after 2015?", ["New Moon", "Old Lady"]),
    ("Which vans are longer than 6 metres?", ["Old Lady"]),
    ("What is the difference between the longest and the shortest van?", ["2.1"]),
    ("How many years lie between the building of Old Lady and New Moon?", ["26"]),
    ("Which van cost the most to repair?", ["Red Rover"]),
    ("What did repairs cost on average?", ["216.6667"]),
    ("When was the Red Rover last repaired?", ["2022-02-03"]),
]  # fmt: skip


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        path = tmp_path_factory.mktemp("fleet") / "fleet.ttl"
        path.write_text(TRIPS, encoding="utf-8")
        kg.load([path])
        yield kg


@pytest.mark.parametrize(("question", "rows"), ANSWERED, ids=[q for q, _ in ANSWERED])
def test_what_happened_between_things_is_computed(
    fleet: KnowledgeGraph, question: str, rows: list[str]
) -> None:
    attempt = compute(fleet, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert sorted(" | ".join(c.label for c in row) for row in attempt.answer.computed.rows) == rows


@pytest.mark.parametrize("question", ["Who insured the Red Rover?", "Which driver earns the most?"])
def test_a_verb_that_says_something_else_is_not_answered(fleet: KnowledgeGraph, question: str) -> None:
    assert not compute(fleet, question).sure


def test_a_reading_calls_an_event_by_its_class(fleet: KnowledgeGraph) -> None:
    answer = compute(fleet, "Which vans were not repaired in 2022?").answer
    assert answer is not None and answer.computed is not None
    assert "without any Repair" in answer.computed.reading


def test_a_percentage_is_called_so(fleet: KnowledgeGraph) -> None:
    answer = compute(fleet, "What percentage of vans have a radio?").answer
    assert answer is not None
    assert answer.text.startswith("The percentage is 66.67") or answer.text.startswith(
        "The percentage is 66.6"
    )
