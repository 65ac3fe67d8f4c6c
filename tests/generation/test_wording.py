"""Answers without a model in other languages, and class expressions as sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.context.render import Context
from mrag.generation.answering import answer
from mrag.generation.support.citations import Citer
from mrag.generation.verbalise import PHRASES, filled
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.generation.conftest import ask_in, context_of

TURTLE = Path(__file__).with_name("wording.ttl")


def told(context: Context, question: str) -> str:
    given = answer(question, context)
    assert given.supported
    report = verify(given, ask_in(context))
    assert report.ok, str(report)
    return given.text


@pytest.fixture(name="zoo")
def _zoo() -> KnowledgeGraph:
    kg = KnowledgeGraph(OxigraphStore())
    kg.load([TURTLE])
    return kg


def about(kg: KnowledgeGraph, name: str, question: str) -> str:
    return told(mrag.expand(kg, [(f"http://example.org/{name}", 1.0)], question=question), question)


@pytest.mark.parametrize(
    ("name", "question", "expected"), cases(__file__, "classes_without_labels_and_names")
)
def test_classes_without_labels_and_names(
    zoo: KnowledgeGraph, name: str, question: str, expected: str
) -> None:
    assert about(zoo, name, question) == expected


def test_what_says_nothing_is_left_out(zoo: KnowledgeGraph) -> None:
    assert "something" not in about(zoo, "Cat", "What is a cat?")


@pytest.mark.parametrize("language", sorted(PHRASES))
def test_what_an_answer_says_of_itself_needs_no_line(language: str) -> None:
    phrases = PHRASES[language]
    citer = Citer("?", context_of(("Ada", "is a", "Person")))
    names = phrases.join([phrases.quoted("Rom"), phrases.quoted("Mars")])
    for said in (
        phrases.nothing_found, phrases.no_match, phrases.nearest, filled(phrases.mentions, names=names),
        filled(phrases.links, s="Ada", names="Rom"), filled(phrases.sought, names=names),
    ):  # fmt: skip
        assert citer.support(said).supported, said
    assert not citer.support(filled(phrases.mentions, names="Rom. Ada knows Bob").rstrip(".")).supported
    assert not citer.support("Ada knows Bob.").supported


@pytest.mark.parametrize(("count", "question", "said"), cases(__file__, "lists_that_a_limit_cut_say_so"))
def test_lists_that_a_limit_cut_say_so(count: int, question: str, said: str | None) -> None:
    e = "http://example.org/"
    kg = KnowledgeGraph(OxigraphStore())
    towns = [URIRef(f"{e}town{chr(97 + i // 26)}{chr(97 + i % 26)}") for i in range(count)]
    kg.insert([mrag.Triple(URIRef(e + "Rome"), URIRef(e + "city"), town) for town in towns])
    kg.insert([mrag.Triple(town, URIRef(e + "standsAt"), URIRef(e + "Tiber")) for town in towns])
    context = mrag.expand(kg, [(e + "Rome", 1.0), (e + "Tiber", 0.9)], question=question)
    text = told(context, question)
    assert (said in text) if said else ("shown" not in text), text


def test_labels_of_classes_are_kept_where_there_are_some(zoo: KnowledgeGraph) -> None:
    zoo.insert([mrag.Triple(URIRef("http://example.org/Company"), RDFS.label, Literal("toy maker"))])
    assert about(zoo, "acme", "What is acme?").startswith("acme is a toy maker")
