"""What is made of sentences that people wrote about a small graph, which was asked about each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mrag.context.expansion import expand
from mrag.context.render import Context
from mrag.generation.answering import cite
from mrag.graph.kg import KnowledgeGraph
from mrag.retrieval.verifying import StoreFacts
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases

TURTLE = Path(__file__).with_name("verdicts.ttl")


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([TURTLE])
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
