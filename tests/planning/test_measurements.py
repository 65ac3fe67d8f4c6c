"""Questions of what was measured, where records state a value beside what it is a value of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

MEASURED = [
    # room, what, value, when
    ("Attic", "temperature", 31.5, "2024-03-01T08:00:00"),
    ("Attic", "temperature", 29.5, "2024-03-02T08:00:00"),
    ("Cellar", "temperature", 12.0, "2024-03-01T09:00:00"),
    ("Cellar", "temperature", 14.0, "2024-03-03T09:00:00"),
    ("Cellar", "humidity", 81.0, "2024-03-03T10:00:00"),
    ("Attic", "humidity", 40.0, "2024-03-02T10:00:00"),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    lines = [
        "@prefix : <http://house.example/> . @prefix sosa: <http://www.w3.org/ns/sosa/> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
    ]
    for n, room in enumerate(("Cellar", "Attic")):
        lines.append(f":{room} a :Room ; rdfs:label '{room}' ; :floor {n} .")
        lines.append(
            f":s{n} a sosa:Sensor ; rdfs:label 'S{n}' ; sosa:observes :temperature ; :battery {40 + n} ."
        )
    lines += [f":{p} a sosa:ObservableProperty ; rdfs:label '{p}' ." for p in ("temperature", "humidity")]
    for n, (room, what, value, when) in enumerate(MEASURED):
        lines.append(
            f":o{n} a sosa:Observation ; sosa:hasFeatureOfInterest :{room} ; sosa:observedProperty :{what} ; "
            f"sosa:hasSimpleResult {value} ; sosa:resultTime '{when}'^^xsd:dateTime ."
        )
    path = tmp_path_factory.mktemp("house") / "house.ttl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the average temperature?", ["21.75"]),
        ("What is the average temperature in the Cellar?", ["13"]),
        ("What is the highest temperature?", ["31.5"]),
        ("What is the latest temperature in the Attic?", ["29.5"]),
        ("What was the last humidity in the Cellar?", ["81"]),
        ("Which room has the highest average temperature?", ["Attic"]),
        ("What is the lowest humidity in the Attic?", ["40"]),
        ("Which rooms are on the first floor?", ["Attic"]),
    ],
)
def test_values_are_those_of_the_records(house: KnowledgeGraph, question: str, expected: list[str]) -> None:
    attempt = compute(house, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert [row[0].label for row in attempt.answer.computed.rows] == expected
    assert attempt.answer.citations and mrag.verify(house, attempt.answer).ok
