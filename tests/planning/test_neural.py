"""Readings that a language model writes under a mask."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from rdflib import RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.generation.models import told
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.card import CardColumn, CardTable, SchemaCard, card_of, gbnf
from mrag.planning.neural.choosing import Unread, unread
from mrag.planning.neural.statement import read_statement
from mrag.planning.neural.writer import asked_of, card_for, written
from mrag.planning.plan import Plan
from mrag.planning.run import run
from mrag.planning.scopes import with_subclasses
from mrag.rdf.terms import Triple
from tests.cases import cases
from tests.generation import conftest
from tests.planning.grammars import Grammar
from tests.planning.questions import loaded

gguf, local_server = conftest.gguf, conftest.local_server

HOSTILE = ("O\"Brien's \\ pump", "} FILTER(1=1) #", "'; DROP TABLE film; --")


@pytest.fixture(scope="module")
def company() -> Iterator[KnowledgeGraph]:
    with loaded("company") as kg:
        yield kg


@pytest.fixture(scope="module")
def hostile() -> Iterator[KnowledgeGraph]:
    with loaded("company") as kg:
        for number, name in enumerate(HOSTILE):
            thing, supplier = URIRef(f"urn:hostile{number}"), URIRef("http://example.org/company/Supplier")
            kg.insert([Triple(thing, RDF.type, supplier), Triple(thing, RDFS.label, Literal(name))])
        yield kg


def read(kg: KnowledgeGraph, made: SchemaCard, statement: str) -> tuple[Plan, tuple[str, ...]]:
    plan, shown = read_statement(made, statement)
    return with_subclasses(plan, lexicon_of(kg).schema), shown


def card(kg: KnowledgeGraph, question: str, **options: int) -> SchemaCard:
    lexicon = lexicon_of(kg)
    return card_of(lexicon.schema, question, lexicon.match(tokens(question), question), **options)


# --- The card -----------------------------------------------------------------------------------------------


def test_a_card_has_what_the_question_touches(company: KnowledgeGraph) -> None:
    made = card(company, "Which suppliers are in Spain?")
    supplier = made.table("supplier")
    assert supplier is not None
    country = supplier.column("country")
    assert country is not None and made.of(str(country.target)).name == "country"
    assert "country.name = 'Spain'" in made.named()


@pytest.mark.parametrize("size", [40, 80, 160])
def test_a_card_fits_its_budget_and_keeps_what_is_asked_for(company: KnowledgeGraph, size: int) -> None:
    made = card(company, "What is the weight of each piece of hardware?", tokens=size)
    assert len(made.text()) <= 3 * size
    product = made.table("product")
    assert product is not None and product.column("weight_g") is not None


def test_tables_are_joined_both_ways(company: KnowledgeGraph) -> None:
    made = card(company, "How many products does each supplier deliver?")
    plan, shown = read(
        company,
        made,
        "SELECT supplier.name, COUNT(DISTINCT product.id) FROM supplier JOIN product ON "
        "product.has_supplier = supplier.id GROUP BY supplier.name",
    )
    rows = [[str(cell) for cell in row] for row in run(company, plan).rows]
    assert shown == ("supplier", "count")
    assert sorted(int(row[1]) for row in rows) == [1, 1, 2]


# --- Statements ---------------------------------------------------------------------------------------------


def test_two_names_at_once_are_of_two_things() -> None:
    with loaded("clubs") as kg:
        made = card(kg, "Which members play both chess and golf?")
        both = (
            "SELECT member.name FROM member WHERE member.plays.name = 'chess' AND member.plays.name = 'golf'"
        )
        found = run(kg, read_statement(made, both)[0]).rows
        assert [str(row[0]).rsplit("/", 1)[-1] for row in found] == ["ann"]


@pytest.mark.parametrize(("question", "statement", "fits"), cases(__file__, "not_the_answer"))
def test_what_cannot_be_the_answer_is_not_taken(
    company: KnowledgeGraph, question: str, statement: str, fits: bool
) -> None:
    model = FakeListChatModel(responses=[statement])
    assert bool(list(written(model, lexicon_of(company), question))) == fits


def test_dates_are_not_added(company: KnowledgeGraph) -> None:
    day = CardColumn("day", "urn:day", "date")
    rules = gbnf(SchemaCard((CardTable("film", "urn:Film", (day,)),)))
    sums = [line for line in rules.splitlines() if line.startswith("sum ")]
    assert '("MIN(" | "MAX(") date ")"' in rules and sums == ["sum ::= term (sign (term | num)){0,2}"]
    assert 'term ::= "DATEDIFF(" date ", " date ")"\n' in rules


@pytest.mark.parametrize("statement", cases(__file__, "what_is_no_statement_is_refused"))
def test_what_is_no_statement_is_refused(company: KnowledgeGraph, statement: str) -> None:
    with pytest.raises(ConfigError):
        read_statement(card(company, "suppliers by city"), statement)


@given(text=st.text(alphabet="SELECTFROMWHERE supplier.city,()*='<>0123456789 ANDOR", max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(company: KnowledgeGraph, text: str) -> None:
    with contextlib.suppress(ConfigError):
        read_statement(card(company, "suppliers by city"), text)


# --- The mask -----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_whatever_the_mask_lets_through_is_a_plan_that_runs(hostile: KnowledgeGraph, seed: int) -> None:
    rng = random.Random(seed)
    questions = (
        "Which suppliers in Spain have the most products heavier than 20 g?",
        f'How many products does "{HOSTILE[0]}" or "{HOSTILE[1]}" supply?',
        f"employees and {HOSTILE[2]}",
    )
    made = card_for(lexicon_of(hostile), rng.choice(questions))
    statement = Grammar(gbnf(made, rng.choice(("anything", "things", "whether")))).draw(rng)
    try:
        plan, shown = read(hostile, made, statement)
    except ConfigError as error:
        # What the grammar cannot say: a sum of texts, an order by what is grouped away, a day without a date.
        assert "Not a statement" not in error.message, statement
        return
    assert shown or plan.yes_or_no
    run(hostile, plan)


# --- The writer ---------------------------------------------------------------------------------------------


def test_no_model_is_asked_of_what_is_certain(company: KnowledgeGraph) -> None:
    class Unasked(FakeListChatModel):
        def _call(self, *args: Any, **options: Any) -> str:
            raise AssertionError("asked")

    question, model = "How many countries are there?", Unasked(responses=[""])
    attempt = compute(company, question, model=model, planner="writer")
    assert attempt.sure and attempt.answer is not None and attempt.answer.text.startswith("3 countries")


def test_a_model_writes_what_the_parser_does_not_read(company: KnowledgeGraph) -> None:
    statement = (
        "```sql\nSELECT supplier.city, COUNT(DISTINCT product.id) FROM supplier JOIN product ON "
        "product.has_supplier = supplier.id GROUP BY supplier.city\n```"
    )
    model = FakeListChatModel(responses=[statement])
    question = "Tally the products per city of the supplier"
    attempt = compute(company, question, model=model, planner="writer")
    assert attempt.answer is not None and attempt.answer.computed is not None
    rows = {tuple(cell.label for cell in row) for row in attempt.answer.computed.rows}
    assert ("Madrid", "2") in rows
    assert attempt.answer.way == "plan" and "SELECT" in attempt.answer.computed.query
    assert mrag.verify(company, attempt.answer).ok


def test_words_that_a_plan_leaves_out_are_told(company: KnowledgeGraph) -> None:
    made = card(company, "suppliers in Spain with email")
    plan, _ = read_statement(made, "SELECT supplier.name FROM supplier WHERE supplier.country.name = 'Spain'")
    lexicon = lexicon_of(company)
    assert unread(lexicon, "Which suppliers are in Spain?", plan) == Unread()
    left = unread(lexicon, "Which suppliers in Spain sell purple elephants?", plan)
    assert left.unknown == ("sell", "purple", "elephants") and left.things == ("purple", "elephants")
    assert not left.missing and left.weight >= 5
    assert unread(lexicon, "Which elephants are in Spain?", plan).missing == ("elephants",)
    left = unread(lexicon, "What is the average number of suppliers not in Spain or Germany?", plan)
    assert left.missing == ("average", "not", "germany")


@pytest.mark.slow
def test_the_mask_holds_a_small_model(hostile: KnowledgeGraph, local_server: Any) -> None:
    model = local_server.chat_model(max_tokens=100)
    for question in (f'How much hardware does "{HOSTILE[0]}" supply?', "suppliers per country"):
        made = card_for(lexicon_of(hostile), question)

        # It holds whatever else the model was told; to read how to write takes most of the time.
        said = told(model, [HumanMessage(asked_of(made, question))], gbnf(made))
        assert said.text.startswith("SELECT ") and said.tokens
        try:
            read_statement(made, said.text)
        except ConfigError as error:
            assert len(said.tokens) == 100 or "Not a statement" not in error.message


def test_what_is_written_over_several_lines_is_read(company: KnowledgeGraph) -> None:
    said = "Here it is:\n\nSELECT SUM(product.weight_g)\nFROM product\nWHERE product.price > 0;\n\nAll."
    model = FakeListChatModel(responses=[said])
    attempt = compute(company, "hardware weight for Spain suppliers total", model=model, planner="writer")
    assert attempt.answer is not None and attempt.answer.computed is not None
    offered = [attempt.answer.text, *(other.answer for other in attempt.answer.computed.readings)]
    assert any("333" in one for one in offered)


# --- The doors ----------------------------------------------------------------------------------------------


def test_a_planner_is_named(company: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no planner"):
        mrag.ask(company, "How many suppliers are there?", model="none", planner="oracle")  # type: ignore


def test_a_graph_without_classes_has_one_table() -> None:
    with mrag.connect("oxigraph:") as kg:
        up, who = URIRef("urn:up"), URIRef("urn:docter")
        kg.insert(
            [
                Triple(up, URIRef("urn:p:directed_by"), who),
                Triple(up, RDFS.label, Literal("Up")),
                Triple(who, RDFS.label, Literal("Pete Docter")),
            ]
        )
        made = card_for(lexicon_of(kg), "Who directed Up?")
        assert made.text() == "thing(id, name, directed_by -> thing.id)"
        plan, _ = read_statement(made, "SELECT thing.directed_by FROM thing WHERE thing.name = 'Up'")
        assert [str(row[0]) for row in run(kg, plan).rows] == ["urn:docter"]
