"""Questions that are saved with their plans, run again with other names, and taught."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.generation.result import Answer
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import answered, compute, reader_of, run_question
from mrag.planning.following import LastAnswer
from mrag.planning.interchange import plan_to_json
from mrag.planning.plan import Block, Column, Contains, Pattern, Plan, Unknown
from mrag.planning.run import run
from mrag.planning.saved import (
    find_question,
    list_questions,
    questions_graph,
    remove_question,
    save_question,
    taught,
)
from mrag.planning.slots import filled, slots_of
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset
from tests.planning.graphs import HOSTILE
from tests.planning.interpreter import evaluate
from tests.planning.questions import loaded as opened
from tests.servers import oxigraph_server


@pytest.fixture
def kg() -> Iterator[KnowledgeGraph]:
    kg = opened("company")
    yield kg
    kg.close()


def solved(kg: KnowledgeGraph, question: str, reading: int = 1) -> Answer:
    answer = compute(kg, question, reading=reading).answer
    assert answer is not None and answer.computed is not None
    return answer


def rows(answer: Answer) -> list[str]:
    assert answer.computed is not None
    return sorted(" | ".join(cell.label for cell in row) for row in answer.computed.rows)


def test_a_saved_question_is_kept_with_its_plan_and_provenance(kg: KnowledgeGraph) -> None:
    before = kg.revision
    answer = solved(kg, "Which products are supplied by Acme Ltd?")
    saved = save_question(kg, answer, "products of", author="Ada")
    assert saved.to_json() == {
        "name": "products-of", "question": "Which products are supplied by Acme Ltd?",
        "reading": answer.computed.reading if answer.computed is not None else "", "author": "Ada",
        "saved": saved.saved,
    }  # fmt: skip
    assert answer.computed is not None
    assert list_questions(kg) == [saved] == [find_question(kg, "products of")]
    assert plan_to_json(saved.computed.plan) == answer.computed.plan
    # It changes no answer: it is in none of the graphs that questions are answered from.
    assert kg.revision == before
    assert not kg.query("ASK { ?s a <https://w3id.org/mrag#SavedQuestion> }")
    assert not kg.query("ASK { GRAPH ?g { ?s a <https://w3id.org/mrag#SavedQuestion> } }")
    remove_question(kg, "products of")
    assert list_questions(kg) == [] and kg.store.count(questions_graph(kg)) == 0


def test_it_is_run_again_and_asked_with_other_names(kg: KnowledgeGraph) -> None:
    save_question(kg, solved(kg, "Which products are supplied by Acme Ltd?"), "products of")
    again = run_question(kg, "products of")
    assert rows(again) == ["R100-2 Strain Resistor", "X20-11873 - Pump, blue"]
    assert again.why == "saved as “products-of”" and mrag.verify(kg, again).ok
    other = mrag.ask(kg, "Which products are supplied by Cortex Inc?", model="none")
    assert rows(other) == ["S7 Heat Sensor"] and mrag.verify(kg, other).ok
    for name in ("Nobody", "} UNION {"):
        assert not compute(kg, f"Which products are supplied by {name}?").sure
    with pytest.raises(ConfigError, match="No question"):
        run_question(kg, "products")


@pytest.mark.parametrize(
    ("question", "other", "expected"),
    [
        (
            "Which products cost more than 5 euros?", "Which products cost more than 50 euros?",
            ["Data Cleaning"],
        ),
        ("How many suppliers are from Spain?", "How many suppliers are from Germany?", ["1"]),
        ("Does Bolt GmbH supply the heat sensor?", "Does Cortex Inc supply the heat sensor?", ["yes"]),
        ("Which suppliers are located in Berlin?", "Which suppliers are located in Madrid?", ["Acme Ltd"]),
        (
            "Which suppliers have more than one product?", "Which suppliers have more than 0 product?",
            ["Acme Ltd", "Bolt GmbH", "Cortex Inc"],
        ),
    ],
)  # fmt: skip
def test_other_names_numbers_and_texts_may_stand_in_it(
    kg: KnowledgeGraph, question: str, other: str, expected: list[str]
) -> None:
    saved = save_question(kg, solved(kg, question))
    assert rows(run_question(kg, saved.name)) == rows(solved(kg, question))
    (reading,) = taught(kg, reader_of(kg), other)
    assert (
        not reading.ignored and rows(answered(kg, other, LastAnswer(reading.plan, reading.shown))) == expected
    )


def test_a_later_question_with_the_same_words_is_read_like_it(kg: KnowledgeGraph) -> None:
    question = "Which stuff reaches us through Acme Ltd?"
    assert not compute(kg, question).sure
    plan = LastAnswer.from_json(solved(kg, "Which products are supplied by Acme Ltd?").to_json())
    save_question(kg, answered(kg, question, plan))
    attempt = compute(kg, "Which stuff reaches us through Bolt GmbH?")
    assert attempt.sure and attempt.why.startswith("read like the saved question")
    assert attempt.answer is not None and rows(attempt.answer) == ["R100-2 Strain Resistor"]
    assert not compute(kg, "Which stuff reaches us through Marketing?").sure
    assert not compute(kg, "Which stuff reaches us?").sure


def test_what_goes_on_from_an_answer_teaches_nothing(kg: KnowledgeGraph) -> None:
    talk = kg.conversation(model="none")
    talk.ask("How many suppliers are from Spain?")
    saved = save_question(kg, talk.ask("and from Germany?"))
    assert rows(run_question(kg, saved.name)) == ["1"]
    assert not compute(kg, "and from Italy?").why.startswith("read like the saved question")


def test_the_taught_reading_is_taken_among_several() -> None:
    with mrag.demo(model="none") as kg:
        question = "How many vendors are there per country?"
        first = solved(kg, question)
        assert first.computed is not None
        other = solved(kg, question, first.computed.readings[0].number)
        save_question(kg, other)
        again = solved(kg, question)
        assert again.computed is not None and other.computed is not None
        assert again.computed.reading == other.computed.reading != first.computed.reading


def test_names_are_put_in_all_at_once() -> None:
    kg = opened("states")
    saved = save_question(kg, solved(kg, "is houston larger than dallas"))
    swapped = compute(kg, "is dallas larger than houston")
    assert swapped.answer is not None and swapped.why.startswith("read like the saved question")
    assert (rows(run_question(kg, saved.name)), rows(swapped.answer)) == (["yes"], ["no"])
    kg.close()


def test_a_name_is_used_once(kg: KnowledgeGraph) -> None:
    answer = solved(kg, "How many suppliers are from Spain?")
    save_question(kg, answer, "n")
    with pytest.raises(ConfigError, match="Another question"):
        save_question(kg, answer, "n")
    save_question(kg, solved(kg, "How many managers are there?"), "n", replacing=True)
    assert [s.question for s in list_questions(kg)] == ["How many managers are there?"]
    with pytest.raises(ConfigError, match="cannot name"):
        save_question(kg, answer, "a/b")
    with pytest.raises(ConfigError, match="computed"):
        save_question(kg, mrag.ask(kg, "Who is nobody?", how="plan"))


def test_who_saved_one_is_kept_while_another_of_theirs_is_there(kg: KnowledgeGraph) -> None:
    for name in ("a", "b"):
        save_question(kg, solved(kg, "How many managers are there?"), name, author="Ada")
    remove_question(kg, "a")
    assert [(s.name, s.author) for s in list_questions(kg)] == [("b", "Ada")]


def test_what_was_saved_badly_is_left_out(kg: KnowledgeGraph) -> None:
    saved = save_question(kg, solved(kg, "How many suppliers are from Spain?"))
    graph, plan = questions_graph(kg), URIRef("https://w3id.org/mrag#plan")
    ((kept,),) = kg.store.select(f"SELECT ?o WHERE {{ ?s <{plan}> ?o }}", Dataset((graph,)))
    assert kept is not None
    value = json.loads(str(kept))
    for bad in (
        "no json",
        "[]",
        json.dumps({**value, "plan": {"where": 1}}),
        json.dumps({**value, "columns": ["other"]}),
    ):
        kg.store.update(
            kg.changes(
                [(URIRef(graph), URIRef(saved.iri), plan, kept)],
                [(URIRef(graph), URIRef(saved.iri), plan, Literal(bad, datatype=RDF.JSON))],
            )
        )
        kept = Literal(bad, datatype=RDF.JSON)
        kg.cache.clear()
        assert list_questions(kg) == [] and compute(kg, "How many suppliers are from Spain?").sure


def test_saved_questions_are_there_after_a_restart_and_on_servers(tmp_path: Path) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.load([Path(__file__).parent / "graphs" / "company.ttl"])
        saved = save_question(kg, solved(kg, "How many suppliers are from Spain?"), author="Ada")
    with mrag.connect(url) as kg:
        assert list_questions(kg) == [saved]
    with oxigraph_server(tmp_path, memory=True, seconds=20) as server:
        store, _ = open_store(server)
        with KnowledgeGraph(store) as kg:
            kg.load([Path(__file__).parent / "graphs" / "company.ttl"])
            there = save_question(kg, solved(kg, "How many suppliers are from Spain?"), author="Ada")
            kg.cache.clear()
            assert list_questions(kg) == [there]
            assert rows(run_question(kg, there.name)) == ["2"]
            remove_question(kg, there.name)
            kg.cache.clear()
            assert list_questions(kg) == []


# -- random names ------------------------------------------------------------------------------------

PERSON, BOOK, WROTE, GENRE = (URIRef(f"urn:x:{n}") for n in ("Person", "Book", "wrote", "genre"))
_RANDOM = random.Random(7)
NAMES = list(
    dict.fromkeys(
        [
            *HOSTILE,
            *(
                "".join(_RANDOM.choices("abcÄé xyz019-'\"{}?<>\\", k=_RANDOM.randint(1, 14)))
                for _ in range(24)
            ),
        ]
    )
)


def _triples() -> list[Triple]:
    said = [(PERSON, "person"), (BOOK, "book"), (WROTE, "wrote"), (GENRE, "genre")]
    found = [Triple(term, RDFS.label, Literal(label)) for term, label in said]
    for at, name in enumerate(NAMES):
        person = URIRef(f"urn:x:p{at}")
        found += [Triple(person, RDF.type, PERSON), Triple(person, RDFS.label, Literal(name))]
        for n in range(at % 3 + 1):
            book = URIRef(f"urn:x:b{at}-{n}")
            found += [
                Triple(book, RDF.type, BOOK),
                Triple(person, WROTE, book),
                Triple(book, GENRE, Literal(NAMES[(at + n) % len(NAMES)])),
            ]
    return found


@pytest.fixture(scope="module")
def books() -> Iterator[KnowledgeGraph]:
    kg = mrag.connect("oxigraph:")
    kg.insert(_triples())
    yield kg
    kg.close()


def shape(value: Any) -> Any:
    """A plan without its terms and texts."""
    if isinstance(value, dict):
        return {
            k: None if k in ("value", "contains") and isinstance(v, str) else shape(v)
            for k, v in value.items()
        }
    return [shape(v) for v in value] if isinstance(value, list) else value


INDEXES = st.integers(0, len(NAMES) - 1)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(INDEXES, INDEXES, INDEXES, st.text(max_size=12))
def test_a_saved_plan_gives_the_same_rows_and_no_name_changes_its_shape(
    books: KnowledgeGraph, one: int, two: int, genre: int, text: str
) -> None:
    book = Unknown("book")
    where = Block(
        (Pattern(URIRef(f"urn:x:p{one}"), WROTE, book), Pattern(book, GENRE, Unknown("genre"))),
        (Contains(Unknown("genre"), NAMES[genre], "whole"),),
    )
    known = LastAnswer(Plan(where, (Column(book, "book"),)), ("book",))
    question = f"Which books of “{NAMES[one]}” are of the kind “{NAMES[genre]}”?"
    save_question(books, answered(books, question, known), "q", replacing=True)
    plain = run_question(books, "q")
    assert plain.computed is not None and plain.computed.plan == plan_to_json(known.plan)
    assert {t for (t,) in run(books, known.plan).rows} == {t for (t,) in evaluate(known.plan, _triples())}
    for value in (NAMES[two], text):
        for old in (NAMES[one], NAMES[genre]):
            attempt = compute(books, question.replace(f"“{old}”", f"“{value}”"))
            if attempt.answer is None or not attempt.why.startswith("read like the saved question"):
                continue
            other = attempt.answer
            assert other.computed is not None and mrag.verify(books, other).ok
            assert shape(other.computed.plan) == shape(plain.computed.plan)
    # Whatever the lexicon makes of a name: with its IRI the rows are those of the interpreter.
    (slot,) = [s for s in slots_of(known.plan) if s.role == "entity"]
    put = filled(known.plan, [(slot, (URIRef(f"urn:x:p{two}"),))])
    assert {t for (t,) in run(books, put).rows} == {t for (t,) in evaluate(put, _triples())}
