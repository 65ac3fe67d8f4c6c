"""What is made of sentences that people wrote about a small graph, which was asked about each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mrag.context.expansion import expand
from mrag.context.render import Context
from mrag.generation.answering import cite
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.verifying import StoreFacts
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases

TURTLE = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:playsFor rdfs:label "plays for" . :bornIn rdfs:label "born in" . :diedOn rdfs:label "date of death" .
:inState rdfs:label "located in state" . :keeper rdfs:label "has current keeper" .
:publisher rdfs:label "publisher" . :moss rdfs:label "Moss" ; :publisher :rijks ; :by :eva, :curie .
:by rdfs:label "written by" . :coach rdfs:label "coach" . :reds :coach :curie .
:of rdfs:label "consists of" .
:area rdfs:label "area (km2)" . :found rdfs:label "discovered by" . :foundIn rdfs:label "discovery year" .
:leads rdfs:label "leads" ; a owl:AsymmetricProperty . :Club a owl:Class ; rdfs:label "club" .
:seat rdfs:label "headquartered in" . :capital rdfs:label "capital" . :gender rdfs:label "gender" .
:sal rdfs:label "Sal Moss" ; :playsFor :reds ; :position "forward" ; :goals 19 ; :gender "male" ;
  :bornIn :ulm ; :diedOn "1934-07-04"^^xsd:date ; :leads :eva .
:eva rdfs:label "Eva Dahl" ; :playsFor :blues ; :gender "female" ; :found :none .
:position rdfs:label "position" . :goals rdfs:label "goals" .
:reds a :Club ; rdfs:label "Reds" ; :seat :ulm . :blues a :Club ; rdfs:label "Blues" .
:ulm rdfs:label "Ulm" ; :inState :saxony . :saxony rdfs:label "Saxony" ; :area 169 ; :capital :ulm .
:watch rdfs:label "Night Watch" ; :keeper :rijks ; :of :paint, :linen . :rijks rdfs:label "Rijks" .
:paint rdfs:label "paint" . :linen rdfs:label "linen" .
:radium rdfs:label "Radium" ; :found :curie ; :foundIn 1898 .
:curie rdfs:label "Marie Curie" .
"""


@pytest.fixture(scope="module")
def kg(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    file = tmp_path_factory.mktemp("verdicts") / "graph.ttl"
    file.write_text(TURTLE, encoding="utf-8")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([file])
        yield kg


@pytest.fixture(scope="module")
def read(kg: KnowledgeGraph) -> Context:
    things = "sal eva reds ulm saxony watch radium moss".split()
    return expand(kg, [(f"http://example.org/{thing}", 1.0) for thing in things])


def verdicts(kg: KnowledgeGraph, context: Context, text: str) -> list[str]:
    return [one.verdict for one in cite("Tell me more.", text, context, graph=StoreFacts(kg)).sentences]


@pytest.mark.parametrize("text", cases(__file__, "true_sentences_pass"))
def test_true_sentences_pass(kg: KnowledgeGraph, read: Context, text: str) -> None:
    assert set(verdicts(kg, read, text)) == {"read"}


@pytest.mark.parametrize("text", cases(__file__, "false_sentences_do_not"))
def test_false_sentences_do_not(kg: KnowledgeGraph, read: Context, text: str) -> None:
    assert verdicts(kg, read, text)[-1] not in ("read", "graph", "nothing")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Eva Dahl leads Sal Moss.", "contradicted"),  # it is the other way round, and cannot be both
        ("Reds plays for Sal Moss.", "unsaid"),  # nobody said that it cannot be both
        ("Sal Moss has 20 goals.", "contradicted"),
        ("Sal Moss died in Saxony.", "unsaid"),  # when he died is nothing against it
        ("Saxony has an area of 170 km2.", "contradicted"),
    ],
)
def test_what_cannot_be_so_is_told_from_what_is_not_said(
    kg: KnowledgeGraph, read: Context, text: str, verdict: str
) -> None:
    assert verdicts(kg, read, text) == [verdict]
