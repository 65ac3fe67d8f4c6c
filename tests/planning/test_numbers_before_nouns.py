"""Numbers that stand before what they are of, and the qualities that adjectives measure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute

TURTLE = """
@prefix : <http://trials.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Trial a owl:Class ; rdfs:label "field trial" . :Weed a owl:Class ; rdfs:label "weed" .
:stage a owl:DatatypeProperty ; rdfs:domain :Trial ; rdfs:range xsd:integer .
:weed a owl:ObjectProperty ; rdfs:domain :Trial ; rdfs:range :Weed .
:prevalence a owl:DatatypeProperty ; rdfs:domain :Weed ; rdfs:range xsd:decimal .
:toxicity a owl:DatatypeProperty ; rdfs:domain :Weed ; rdfs:range xsd:decimal .
:height a owl:DatatypeProperty ; rdfs:domain :Weed ; rdfs:range xsd:decimal .
:A a :Trial ; rdfs:label "Acre" ; :stage 3 ; :weed :Nettle . :B a :Trial ; rdfs:label "Brook" ; :stage 2 ; :weed :Dock .
:C a :Trial ; rdfs:label "Croft" ; :stage 3 ; :weed :Dock . :D a :Trial ; rdfs:label "Dell" ; :stage 1 ; :weed :Rush .
:Nettle a :Weed ; rdfs:label "Nettle" ; :prevalence 40.5 ; :toxicity 2.0 ; :height 120 .
:Dock a :Weed ; rdfs:label "Dock" ; :prevalence 12.0 ; :toxicity 0.5 ; :height 150 .
:Rush a :Weed ; rdfs:label "Rush" ; :prevalence 3.5 ; :toxicity 4.0 ; :height 60 .
"""  # noqa: E501


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path: Path = tmp_path_factory.mktemp("trials") / "trials.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    with mrag.connect("oxigraph:") as graph:
        graph.load([path])
        yield graph


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which stage 3 trials are there?", {"Acre", "Croft"}),
        ("How many stage 3 field trials are there?", {"2"}),
        ("List the stage 2 trials", {"Brook"}),
        ("Which stage 3 trials have Dock as their weed?", {"Croft"}),
        ("Which weed is the most prevalent?", {"Nettle"}),
        ("What is the least prevalent weed?", {"Rush"}),
        ("Which weed is most toxic?", {"Rush"}),
        ("What is the most toxic weed?", {"Rush"}),
        ("Which weed is the tallest?", {"Dock"}),
    ],
)
def test_questions_are_answered(kg: KnowledgeGraph, question: str, answer: set[str]) -> None:
    attempt = compute(kg, question)
    assert attempt.sure, attempt.why
    assert attempt.answer is not None and attempt.answer.computed is not None
    assert {row[0].label for row in attempt.answer.computed.rows} == answer


@pytest.mark.parametrize(
    "question", ["Which weed is the most beautiful?", "Which weed is the most resilient?"]
)
def test_other_qualities_are_not_known(kg: KnowledgeGraph, question: str) -> None:
    assert not compute(kg, question).sure
