"""Sentences about pictures: count, verbs and conjunctions are held against what the graph says of each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from langchain_core.language_models import FakeListChatModel
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.generation.result import Answer
from mrag.generation.support.citations import PictureCiter
from mrag.graph.kg import KnowledgeGraph
from mrag.images.answer import AnswerSettings, ask_pictures
from mrag.rdf.terms import Triple
from mrag.retrieval.answering import verify
from mrag.retrieval.rankers import Hit, Question
from mrag.stores.oxigraph import OxigraphStore
from tests.generation.conftest import context_of
from tests.images.conftest import E

FACTS = {"beach": ("coat", "hat"), "street": ("hat", "striped shirt"), "park": ("dog", "ball")}


class InOrder:
    """Ranks the images as they come."""

    def rank(self, question: Question, k: int) -> list[Hit]:
        return [Hit(E + name, 1.0 - n / 10, n + 1, ()) for n, name in enumerate(FACTS)]


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    rows: list[Triple] = []
    for name, things in FACTS.items():
        image = URIRef(E + name)
        rows += [
            Triple(image, RDF.type, URIRef(E + "Image")),
            Triple(image, URIRef(E + "hasFileName"), Literal(f"{name}.jpg")),
            Triple(image, RDFS.label, Literal(f"the {name}")),
            Triple(image, URIRef(E + "hasDescription"), Literal(f"Contains {' and '.join(things)}")),
        ]
        for thing in things:
            node = URIRef(E + thing.replace(" ", "_"))
            rows += [Triple(image, URIRef(E + "hasObject"), node), Triple(node, RDFS.label, Literal(thing))]
    rows.append(Triple(URIRef(E + "park"), URIRef(E + "style"), Literal("relaxed, casual")))
    with KnowledgeGraph(OxigraphStore()) as graph:
        graph.insert(rows)
        yield graph


def said(kg: KnowledgeGraph, text: str) -> Answer:
    return ask_pictures(
        kg, "a hat or a dog", InOrder(), model=FakeListChatModel(responses=[text]),
        settings=AnswerSettings(send=0), k=3,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Image 2 shows a hat.",
        "Image 1 contains a coat and a hat.",
        "Images 1 and 2 show a hat.",
        "Both image 1 and image 2 show hats.",
        "Two images show a hat.",
        "Two of the three images show a hat.",
        "There are two images with a hat.",
        "There is one image that shows a dog.",
        "At least one image depicts a hat.",
        "Image 3 shows a dog with a ball.",
        "A dog can be seen in image 3.",
        "There is a hat in image 1.",
        "In image 1 there is a coat.",
        "Image 2 depicts a striped shirt, a hat.",
        "Image 1 shows a coat, and image 3 features a dog and a ball.",
        "Image 1 shows a hat while image 3 shows a dog.",
        "The first image contains a coat.",
        "The second picture shows a hat and a striped shirt.",
        "Image 1 and image 2 both show a hat.",
        "Image 3 shows a dog. It also contains a ball.",
        "Image 3 shows a dog. The picture shows a ball.",
        "Image 3 has a relaxed, casual style.",
        "Image 3 shows a dog. It has a relaxed, casual style.",
    ],
)
def test_what_is_true_of_them_is_supported(kg: KnowledgeGraph, text: str) -> None:
    answer = said(kg, text)
    assert answer.supported and answer.citations, answer.sentences
    things = {str(c.triple.s).removeprefix(E) for c in answer.citations}
    assert things <= set(FACTS)
    check = verify(kg, answer.to_json())
    assert check.ok, str(check)


@pytest.mark.parametrize(
    "text",
    [
        "Image 3 shows a hat.",
        "Images 1 and 3 show a hat.",
        "Three images show a hat.",
        "There are three images of a hat.",
        "There are two images that show a dog.",
        "All images show a hat.",
        "Exactly one image shows a hat.",
        "Image 2 shows a red hat.",
        "Image 2 shows no hat.",
        "Image 1 contains a coat and a dog.",
        "Image 3 shows two dogs.",
        "Image 4 shows a hat.",
        "A dog can be seen in image 1.",
        "Image 1 shows a coat, and image 3 features a hat.",
        "Image 1 shows a striped hat.",
        "The first image contains a dog.",
        "The fourth image shows a hat.",
        "Image 3 shows a dog. It contains a hat.",
        "The first image shows a brown hat.",
        "Image 2 has a relaxed, casual style.",
        "The second image shows a striped hat.",
    ],
)
def test_what_is_not_is_marked(kg: KnowledgeGraph, text: str) -> None:
    assert not said(kg, text).supported


def test_words_that_stand_in_lines_of_one_part_belong_together() -> None:
    context = context_of(
        ("8.jpg (xywh=1,1,2,2)", "category", "jacket"),
        ("8.jpg (xywh=1,1,2,2)", "attribute", "green"),
        ("8.jpg (xywh=5,5,2,2)", "category", "hat"),
    )
    citer = PictureCiter("a green jacket", context, ["8.jpg"])
    support = citer.support("8.jpg shows a green jacket.")
    assert support.supported and {line.id for line in support.lines} == {"t1", "t2"}
    assert not citer.support("8.jpg shows a green hat.").supported


def test_numbers_become_names(kg: KnowledgeGraph) -> None:
    assert said(kg, "Images 1, 2 and 3 show a hat.").text.startswith(
        "the beach, the street and the park show"
    )
    assert "Images 1 and 9" in said(kg, "Images 1 and 9 show a hat.").text
