"""Answers without a language model: on topic, readable, cited, honest."""

from pathlib import Path
from typing import Any

import pytest
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.context.render import Context
from mrag.generation.answering import answer, stream_answer
from mrag.generation.prompts import NO_MODEL_NOTICE
from mrag.generation.result import Answer
from mrag.generation.support.citations import Citer
from mrag.generation.verbalise import PHRASES, filled
from mrag.generation.verification import verify
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.generation.conftest import Row, ask_in, context_of


def told(context: Context, question: str) -> str:
    given = answer(question, context)
    assert given.model is None
    assert given.notice == NO_MODEL_NOTICE
    assert given.supported
    assert verify(given, ask_in(context)).ok, str(verify(given, ask_in(context)))
    return given.text


GROUPS = cases(__file__, "groups")


def row_of(s: str, p: str, o: object) -> Row:
    """Return a row as contexts are made of; a literal of another type than JSON has is a list of both."""
    return (s, p, Literal(o[0], datatype=XSD + o[1])) if isinstance(o, list) else (s, p, o)


@pytest.mark.parametrize(
    ("group", "question", "expected"),
    [(name, *one) for name, group in GROUPS.items() for one in group["asked"]],
)
def test_an_answer_tells_what_was_asked_and_what_is_not_known(
    products: Context, group: str, question: str, expected: dict[str, Any]
) -> None:
    rows = GROUPS[group]["rows"]
    text = told(products if rows is None else context_of(*(row_of(*row) for row in rows)), question)
    assert text == expected.get("is", text)
    assert text.startswith(expected.get("starts", ""))
    assert all(part in text for part in expected.get("has", ()))
    assert not any(part in text for part in expected.get("lacks", ()))
    assert text.count("\n- ") <= expected.get("most", 99)


def test_facts_that_were_to_be_computed_with_do_not_answer(products: Context) -> None:
    asked = "Who develops the newest triple store?"
    found = answer(asked, products, computing=("newest",)).text
    assert list(stream_answer(asked, products, computing=("newest",)))[-1] == answer(
        asked, products, computing=("newest",)
    )
    assert found.startswith("I don't know") and "\n- GraphDB is developed by Ontotext" in found


def test_a_relation_may_have_the_word_that_asks_to_compute() -> None:
    peaks = context_of(("Norway", "highest point", "Galdhøpiggen"))
    asked = "What is the highest point of Norway?"
    assert answer(asked, peaks, computing=("highest",)).text == answer(asked, peaks).text
    assert "directly" not in answer(asked, peaks).text


def test_an_empty_context() -> None:
    given = answer("Who?", Context((), ()))
    assert given.text == PHRASES["en"].nothing_found
    assert given.notice == NO_MODEL_NOTICE


def test_the_notice_can_tell_why(products: Context) -> None:
    assert answer("Who?", products, notice="Ollama is down.").notice == "Ollama is down."


def test_the_same_in_gives_the_same_out(products: Context) -> None:
    questions = ["Who develops GraphDB?", "Which triple stores are there?", "What is Neo4j?"]
    assert [answer(q, products) for q in questions] == [answer(q, products) for q in questions]


def test_more_than_there_is_room_for_are_named() -> None:
    rows = [(f"Store {chr(65 + i)}", "is a", "triple store") for i in range(9)]
    text = told(context_of(*rows), "Which triple stores are there?")
    assert text.count("\n- ") == 6
    others = "Store G (triple store), Store H (triple store) and Store I (triple store)"
    assert f"- Also {others} [t7][t8][t9]." in text


def test_a_long_description_is_quoted_where_it_matters() -> None:
    filler = "This sentence says something about the film that nobody asked for at this place. " * 4
    prose = f'"{filler}It was directed by Irvin Kershner. {filler}"'
    context = context_of(("The Film", "is a", "film"), ("The Film", "description", prose))
    text = told(context, "Who directed The Film?")
    assert "directed by Irvin Kershner" in text
    assert len(text) < 500


def test_facts_in_odd_words_are_shown_as_they_stand() -> None:
    context = context_of(("is", "is", "is"), ("", "", ""), ("—", ":", "“"), ("a", "b", '"."'))
    for question in ("is", "What is is?", "—", "a b"):
        given: Answer = answer(question, context)
        assert verify(given, ask_in(context)).ok


ZOO = Path(__file__).with_name("zoo.ttl")


@pytest.fixture(name="zoo")
def _zoo() -> KnowledgeGraph:
    kg = KnowledgeGraph(OxigraphStore())
    kg.load([ZOO])
    return kg


def about(kg: KnowledgeGraph, name: str, question: str) -> str:
    return told(mrag.expand(kg, [(f"http://example.org/{name}", 1.0)], question=question), question)


@pytest.mark.parametrize(("name", "question", "expected"), cases(__file__, "without_labels"))
def test_things_without_labels_are_named(
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
