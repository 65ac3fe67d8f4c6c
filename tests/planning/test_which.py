"""No near misses: kinds that are asked for by parts of names, and measures that nothing has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

DATA = """
@prefix : <http://data.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Dataset a rdfs:Class ; rdfs:label "dataset" . :Recipe a rdfs:Class ; rdfs:label "recipe" .
:d1 a :Dataset ; rdfs:label "Air quality" ; :publisher :env .
:d2 a :Dataset ; rdfs:label "Water" ; :publisher :env .
:d3 a :Dataset ; rdfs:label "Roads" ; :publisher :tra .
:env rdfs:label "Environment Agency" . :tra rdfs:label "Transport Office" .
:r1 a :Recipe ; rdfs:label "Soup" ; :prepTime "PT15M" ; :weight [ :value 2 ; :unitCode "KGM" ] .
:r2 a :Recipe ; rdfs:label "Stew" ; :prepTime "PT1H" ; :weight [ :value 900 ; :unitCode "GRM" ] .
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("data") / "data.ttl"
    path.write_text(DATA, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


@pytest.mark.parametrize(
    "question",
    [
        "Which agency publishes the most datasets?",
        "Which office publishes the fewest datasets?",
        "Which recipes have a prep time of more than 2 kg?",
        "How much do the recipes weigh on average?",
    ],
)
def test_a_near_miss_is_no_answer(data: KnowledgeGraph, question: str) -> None:
    attempt = compute(data, question)
    assert not attempt.sure, attempt.answer and attempt.answer.text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which datasets are published by the Environment Agency?", ["Air quality", "Water"]),
        ("Which agency datasets are there?", ["Air quality", "Water"]),
        ("How many datasets does the Transport Office publish?", ["1"]),
        ("Which recipes take less than 20 minutes to prepare?", ["Soup"]),
    ],
)
def test_what_is_named_is_found(data: KnowledgeGraph, question: str, expected: list[str]) -> None:
    answer = compute(data, question).answer
    assert answer is not None and answer.computed is not None
    assert sorted(row[0].label or row[0].value for row in answer.computed.rows) == expected
