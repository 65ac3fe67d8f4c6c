"""Questions that are saved with their plans and taught, and questions that go on from the last answer."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.generation.result import Answer
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import Attempt, answered, compute, reader_of, run_question
from mrag.planning.following import LastAnswer
from mrag.planning.interchange import plan_from_json, plan_to_json
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
from mrag.planning.slots import fill, slots_of
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset
from tests.cases import cases
from tests.planning.graphs import HOSTILE
from tests.planning.interpreter import evaluate
from tests.planning.questions import loaded as opened
from tests.servers import oxigraph_server


@pytest.fixture
def shop() -> Iterator[KnowledgeGraph]:
    shop = opened("company")
    yield shop
    shop.close()


def solved(shop: KnowledgeGraph, question: str, reading: int = 1) -> Answer:
    answer = compute(shop, question, reading=reading).answer
    assert answer is not None and answer.computed is not None
    return answer


def rows(answer: Answer) -> list[str]:
    return sorted(" | ".join(cell.label for cell in row) for row in answer.computed.rows)


def test_a_saved_question_is_kept_with_its_plan_and_provenance(shop: KnowledgeGraph) -> None:
    before = shop.revision
    answer = solved(shop, "Which products are supplied by Acme Ltd?")
    saved = save_question(shop, answer, "products of", author="Ada")
    assert saved.to_json() == {
        "name": "products-of", "question": "Which products are supplied by Acme Ltd?",
        "reading": answer.computed.reading if answer.computed is not None else "", "author": "Ada",
        "saved": saved.saved,
    }  # fmt: skip
    assert list_questions(shop) == [saved] == [find_question(shop, "products of")]
    assert plan_to_json(saved.computed.plan) == answer.computed.plan
    # It changes no answer: it is in none of the graphs that questions are answered from.
    assert shop.revision == before
    assert not shop.query("ASK { ?s a <https://w3id.org/mrag#SavedQuestion> }")
    assert not shop.query("ASK { GRAPH ?g { ?s a <https://w3id.org/mrag#SavedQuestion> } }")
    remove_question(shop, "products of")
    assert list_questions(shop) == [] and shop.store.count(questions_graph(shop)) == 0


def test_it_is_run_again_and_asked_with_other_names(shop: KnowledgeGraph) -> None:
    save_question(shop, solved(shop, "Which products are supplied by Acme Ltd?"), "products of")
    again = run_question(shop, "products of")
    assert rows(again) == ["R100-2 Strain Resistor", "X20-11873 - Pump, blue"]
    assert again.why == "saved as “products-of”" and mrag.verify(shop, again).ok
    other = mrag.ask(shop, "Which products are supplied by Cortex Inc?", model="none")
    assert rows(other) == ["S7 Heat Sensor"] and mrag.verify(shop, other).ok
    for name in ("Nobody", "} UNION {"):
        assert not compute(shop, f"Which products are supplied by {name}?").sure
    with pytest.raises(ConfigError, match="No question"):
        run_question(shop, "products")


@pytest.mark.parametrize(("question", "other", "expected"), cases(__file__, "other_names_numbers_and_texts"))
def test_other_names_numbers_and_texts_may_stand_in_it(
    shop: KnowledgeGraph, question: str, other: str, expected: list[str]
) -> None:
    saved = save_question(shop, solved(shop, question))
    assert rows(run_question(shop, saved.name)) == rows(solved(shop, question))
    (reading,) = taught(shop, reader_of(shop), other)
    assert not reading.ignored
    assert rows(answered(shop, other, LastAnswer(reading.plan, reading.shown))) == expected


def test_a_later_question_with_the_same_words_is_read_like_it(shop: KnowledgeGraph) -> None:
    question = "Which stuff reaches us through Acme Ltd?"
    assert not compute(shop, question).sure
    plan = LastAnswer.from_json(solved(shop, "Which products are supplied by Acme Ltd?").to_json())
    save_question(shop, answered(shop, question, plan))
    attempt = compute(shop, "Which stuff reaches us through Bolt GmbH?")
    assert attempt.sure and attempt.why.startswith("read like the saved question")
    assert attempt.answer is not None and rows(attempt.answer) == ["R100-2 Strain Resistor"]
    assert not compute(shop, "Which stuff reaches us through Marketing?").sure
    assert not compute(shop, "Which stuff reaches us?").sure


def test_what_goes_on_from_an_answer_teaches_nothing(shop: KnowledgeGraph) -> None:
    talk = shop.conversation(model="none")
    talk.ask("How many suppliers are from Spain?")
    saved = save_question(shop, talk.ask("and from Germany?"))
    assert rows(run_question(shop, saved.name)) == ["1"]
    assert not compute(shop, "and from Italy?").why.startswith("read like the saved question")


def test_the_taught_reading_is_taken_among_several() -> None:
    with mrag.demo(model="none") as shop:
        question = "How many vendors are there per country?"
        first = solved(shop, question)
        other = solved(shop, question, first.computed.readings[0].number)
        save_question(shop, other)
        again = solved(shop, question)
        assert again.computed.reading == other.computed.reading != first.computed.reading


def test_names_are_put_in_all_at_once() -> None:
    shop = opened("states")
    saved = save_question(shop, solved(shop, "is houston larger than dallas"))
    swapped = compute(shop, "is dallas larger than houston")
    assert swapped.answer is not None and swapped.why.startswith("read like the saved question")
    assert (rows(run_question(shop, saved.name)), rows(swapped.answer)) == (["yes"], ["no"])
    shop.close()


def test_a_name_is_used_once(shop: KnowledgeGraph) -> None:
    answer = solved(shop, "How many suppliers are from Spain?")
    save_question(shop, answer, "n")
    with pytest.raises(ConfigError, match="Another question"):
        save_question(shop, answer, "n")
    save_question(shop, solved(shop, "How many managers are there?"), "n", replacing=True)
    assert [s.question for s in list_questions(shop)] == ["How many managers are there?"]
    with pytest.raises(ConfigError, match="cannot name"):
        save_question(shop, answer, "a/b")
    with pytest.raises(ConfigError, match="computed"):
        save_question(shop, mrag.ask(shop, "Who is nobody?", how="plan"))


def test_who_saved_one_is_kept_while_another_of_theirs_is_there(shop: KnowledgeGraph) -> None:
    for name in ("a", "b"):
        save_question(shop, solved(shop, "How many managers are there?"), name, author="Ada")
    remove_question(shop, "a")
    assert [(s.name, s.author) for s in list_questions(shop)] == [("b", "Ada")]


def test_what_was_saved_badly_is_left_out(shop: KnowledgeGraph) -> None:
    saved = save_question(shop, solved(shop, "How many suppliers are from Spain?"))
    graph, plan = questions_graph(shop), URIRef("https://w3id.org/mrag#plan")
    ((kept,),) = shop.store.select(f"SELECT ?o WHERE {{ ?s <{plan}> ?o }}", Dataset((graph,)))
    assert kept is not None
    value = json.loads(str(kept))
    for bad in (
        "no json",
        "[]",
        json.dumps({**value, "plan": {"where": 1}}),
        json.dumps({**value, "columns": ["other"]}),
    ):
        shop.store.update(
            shop.changes(
                [(URIRef(graph), URIRef(saved.iri), plan, kept)],
                [(URIRef(graph), URIRef(saved.iri), plan, Literal(bad, datatype=RDF.JSON))],
            )
        )
        kept = Literal(bad, datatype=RDF.JSON)
        shop.cache.clear()
        assert list_questions(shop) == [] and compute(shop, "How many suppliers are from Spain?").sure


def test_saved_questions_are_there_after_a_restart_and_on_servers(tmp_path: Path) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as shop:
        shop.load([Path(__file__).parent / "graphs" / "company.ttl"])
        saved = save_question(shop, solved(shop, "How many suppliers are from Spain?"), author="Ada")
    with mrag.connect(url) as shop:
        assert list_questions(shop) == [saved]
    with oxigraph_server(tmp_path, memory=True, seconds=20) as server:
        store, _ = open_store(server)
        with KnowledgeGraph(store) as shop:
            shop.load([Path(__file__).parent / "graphs" / "company.ttl"])
            there = save_question(shop, solved(shop, "How many suppliers are from Spain?"), author="Ada")
            shop.cache.clear()
            assert list_questions(shop) == [there]
            assert rows(run_question(shop, there.name)) == ["2"]
            remove_question(shop, there.name)
            shop.cache.clear()
            assert list_questions(shop) == []


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
    shop = mrag.connect("oxigraph:")
    shop.insert(_triples())
    yield shop
    shop.close()


def shape(value: Any) -> Any:
    """A plan without its terms and texts."""
    if isinstance(value, dict):
        return {
            k: None if k in ("value", "contains") and isinstance(v, str) else shape(v)
            for k, v in value.items()
        }
    return [shape(v) for v in value] if isinstance(value, list) else value


INDEXES = st.integers(0, len(NAMES) - 1)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    put = fill(known.plan, [(slot, (URIRef(f"urn:x:p{two}"),))])
    assert {t for (t,) in run(books, put).rows} == {t for (t,) in evaluate(put, _triples())}


CITIES = "which cities are in texas"
RIVERS = "how many rivers run through texas"
LARGEST = "list the three largest cities"


@pytest.fixture(scope="module")
def graphs() -> Iterator[dict[str, KnowledgeGraph]]:
    found = {name: opened(name) for name in ("states", "company")}
    found["demo"] = mrag.demo(model="none")
    yield found
    for kg in found.values():
        kg.close()


def after(kg: KnowledgeGraph, first: str, then: str) -> Attempt:
    answer = compute(kg, first).answer
    assert answer is not None and answer.computed is not None
    return compute(kg, then, follows=LastAnswer.from_json(answer.to_json()))


def rows_of(attempt: Attempt) -> list[str]:
    assert attempt.sure, attempt.why
    return sorted(" | ".join(cell.label for cell in row) for row in attempt.answer.computed.rows)


@pytest.mark.parametrize(("name", "first", "then", "rows"), cases(__file__, "goes_on"))
def test_a_follow_up_edits_the_plan(
    graphs: dict[str, KnowledgeGraph], name: str, first: str, then: str, rows: list[str] | None
) -> None:
    attempt = after(graphs[name], first, then)
    if rows is None:  # nothing of that kind
        assert attempt.answer is None and not attempt.sure
        return
    assert rows_of(attempt) == rows
    assert attempt.why.startswith("read as a follow-up")
    assert attempt.answer is not None and mrag.verify(graphs[name], attempt.answer).ok


@pytest.mark.parametrize(("name", "first", "then", "rows"), cases(__file__, "stands_alone"))
def test_a_question_that_can_be_read_by_itself_is(
    graphs: dict[str, KnowledgeGraph], name: str, first: str, then: str, rows: list[str]
) -> None:
    attempt = after(graphs[name], first, then)
    assert rows_of(attempt) == rows
    assert attempt.alone and attempt.why.startswith("read as a question on its own")


@pytest.mark.parametrize(("name", "first", "then"), cases(__file__, "refused"))
def test_what_does_not_go_on_from_the_answer_is_not_computed(
    graphs: dict[str, KnowledgeGraph], name: str, first: str, then: str
) -> None:
    attempt = after(graphs[name], first, then)
    assert not attempt.sure and attempt.why
    talk = graphs[name].conversation(model="none", how="plan")
    talk.ask(first)
    refused = talk.ask(then)
    assert refused.computed is None and refused.text.startswith(("Not in this graph: ", "Not answered: "))
    # The answer before stays what is gone on from.
    assert talk.last is not None and talk.last.question == first


def test_a_name_of_a_place_that_two_names_hold_is_not_guessed(graphs: dict[str, KnowledgeGraph]) -> None:
    attempt = after(graphs["states"], "which mountains are in hawaii or texas", "and in new mexico?")
    assert not attempt.sure


def test_a_conversation_goes_on_over_several_questions(graphs: dict[str, KnowledgeGraph]) -> None:
    talk = graphs["states"].conversation(model="none", how="plan")
    said = [
        talk.ask(q).text.split(" [")[0]
        for q in (RIVERS, "which ones?", "and of oklahoma?", "how long is it?")
    ]
    assert said == ["3 rivers", "- Pecos", "Red", "1638"]


def test_another_reading_can_be_taken_in_a_conversation(graphs: dict[str, KnowledgeGraph]) -> None:
    talk = graphs["demo"].conversation(model="none")
    with pytest.raises(ConfigError, match="no answer"):
        talk.again(2)
    first = talk.ask("How many vendors are there per country?")
    other = first.computed.readings[0]
    taken = talk.again(other.number)
    assert taken.computed is not None and taken.computed.reading == other.reading


def test_an_answer_that_was_read_is_not_gone_on_from(graphs: dict[str, KnowledgeGraph]) -> None:
    talk = graphs["demo"].conversation(model="none")
    assert talk.ask("How many triple stores are there?").way == "plan"
    assert talk.ask("Tell me about GraphDB").way == "read" and talk.last is None


def test_what_points_back_is_never_read_in_similar_entities(graphs: dict[str, KnowledgeGraph]) -> None:
    talk = graphs["demo"].conversation(model="none")
    talk.ask("How many triple stores are there?")
    refused = talk.ask("and of Mars?")
    assert refused.way == "plan" and refused.text.startswith(("Not in this graph: ", "Not answered: "))


def test_counted_things_are_called_what_they_are(graphs: dict[str, KnowledgeGraph]) -> None:
    attempt = after(graphs["states"], "how many rivers are there", "and mountains?")
    assert attempt.answer is not None and attempt.answer.text.startswith("3 mountains")


@pytest.mark.parametrize(
    "value",
    [
        {"plan": {"where": {}}, "columns": ["x"]},
        {"plan": {"where": {"patterns": [[1, 2, 3]]}}, "columns": []},
        {"plan": "SELECT * { ?s ?p ?o }", "columns": []}, {"plan": {}, "columns": "x"}, {"columns": []},
    ],
)  # fmt: skip
def test_a_plan_to_go_on_from_is_checked(value: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        LastAnswer.from_json(value)


WORDS = (
    "and or only without the cheap large ones them they it which of how many is are in texas hawaii austin "
    "rivers states city population largest sorted by per 2000 more than 500 what about who their Red"
).split()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(["is", "largest"], RIVERS)
@given(
    st.lists(st.sampled_from([*WORDS, *HOSTILE]), min_size=1, max_size=6),
    st.sampled_from([RIVERS, CITIES, LARGEST]),
)
def test_whatever_follows_gives_a_sound_plan_or_none(
    graphs: dict[str, KnowledgeGraph], said: list[str], first: str
) -> None:
    attempt = after(graphs["states"], first, " ".join(said))
    if attempt.answer is not None and attempt.answer.computed is not None:
        assert plan_from_json(attempt.answer.computed.plan)
        assert mrag.verify(graphs["states"], attempt.answer).ok


def test_hostile_names_stay_names() -> None:
    kg = mrag.connect("oxigraph:")
    person, likes, name = (URIRef(f"urn:x:{n}") for n in ("Person", "likes", "name"))
    label = URIRef("http://www.w3.org/2000/01/rdf-schema#label")
    names = ["Ada Hill", 'Bob" } ; DROP ALL #', "Cid ?x { } UNION"]
    triples = [Triple(person, label, Literal("person")), Triple(likes, label, Literal("likes"))]
    for at, one in enumerate(names):
        thing = URIRef(f"urn:x:p{at}")
        triples += [
            Triple(thing, RDF.type, person),
            Triple(thing, label, Literal(one)),
            Triple(thing, likes, URIRef(f"urn:x:p{(at + 1) % 3}")),
        ]
    kg.insert([*triples, Triple(name, label, Literal("name"))])
    first = compute(kg, "Which person does Ada Hill like?").answer
    shape = first.computed.query.replace("urn:x:p0", "X")
    for at, one in enumerate(names[1:], 1):
        attempt = compute(kg, f"and {one}?", follows=LastAnswer.from_json(first.to_json()))
        if attempt.answer is not None and attempt.answer.computed is not None and attempt.sure:
            assert attempt.answer.computed.query.replace(f"urn:x:p{at}", "X") == shape
    kg.close()
