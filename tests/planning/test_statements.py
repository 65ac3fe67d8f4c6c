"""What statements of a model can say, and that the mask lets through what they say and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.card import Asked, SchemaCard, gbnf
from mrag.planning.neural.choosing import unread
from mrag.planning.neural.statement import read_statement
from mrag.planning.neural.writer import asked_for, card_for
from mrag.planning.run import run
from mrag.planning.scopes import with_subclasses
from tests.cases import cases
from tests.planning.grammars import accepts
from tests.planning.questions import agree, lines_of, loaded

ABOUT = "calls of vessels like Anna, Bela and Cora, ferries and tankers, at ports, with crew, beds and cars"


@pytest.fixture(scope="module")
def fleet() -> Iterator[KnowledgeGraph]:
    with loaded("vessels") as kg:
        yield kg


def card(kg: KnowledgeGraph) -> SchemaCard:
    return card_for(lexicon_of(kg), ABOUT)


def test_a_card_shows_kinds_and_the_few_values_of_a_column(fleet: KnowledgeGraph) -> None:
    text = card(fleet).text()
    assert "type {'ferry', 'tanker'}" in text and "yard {'Kiel', 'Lund'}" in text
    assert "state {'closed', 'open'}" in text and "home_port -> port.id" in text
    assert card(fleet).table("ferry") is None


@pytest.mark.parametrize(
    ("statement", "expected"),
    [(s, rows) for _, s, *rows in lines_of(Path(__file__).with_name("statements.tsv"))],
)
def test_statements_say_what_they_say_in_sql(
    fleet: KnowledgeGraph, statement: str, expected: list[str]
) -> None:
    kind: Asked = "whether" if expected[0] in ("yes", "no") else "anything"
    if expected == ["refused"]:
        with pytest.raises(ConfigError):
            read_statement(card(fleet), statement)
        # A calendar is beyond a grammar.
        assert not accepts(gbnf(card(fleet)), statement) or "02-31" in statement
        return
    plan, shown = read_statement(card(fleet), statement)
    found = run(fleet, with_subclasses(plan, lexicon_of(fleet).schema))
    assert plan.yes_or_no == (kind == "whether") and (shown or plan.yes_or_no)
    rows = [[str(cell).rsplit("/", 1)[-1] for cell in row] for row in found.rows]
    width = expected[-1].count(" | ") + 1  # what rows are ordered by may be shown behind
    if plan.yes_or_no:
        rows = [["yes" if found.holds else "no"]]
    assert agree([row[:width] for row in rows], expected)
    assert accepts(gbnf(card(fleet), kind), statement)
    assert kind == "anything" or not accepts(gbnf(card(fleet)), statement)


@pytest.mark.parametrize(("statement", "expected"), cases(__file__, "models_may_write_more"))
def test_models_that_no_mask_holds_may_write_more(
    fleet: KnowledgeGraph, statement: str, expected: list[str]
) -> None:
    plan, _ = read_statement(card(fleet), statement)
    found = run(fleet, with_subclasses(plan, lexicon_of(fleet).schema)).rows
    assert agree([[str(cell).rsplit("/", 1)[-1] for cell in row] for row in found], expected)
    assert not accepts(gbnf(card(fleet)), statement)


@pytest.mark.parametrize("part", ["(", "vessel.crew + ", "vessel.crew = 1 AND "])
def test_what_is_nested_or_goes_on_without_end_is_refused(fleet: KnowledgeGraph, part: str) -> None:
    for times in (20, 100, 10_000):
        with pytest.raises(ConfigError):
            read_statement(card(fleet), f"SELECT vessel.name FROM vessel WHERE {part * times}vessel.crew")


@pytest.mark.parametrize(("statement", "why"), cases(__file__, "says_nothing"))
def test_what_says_nothing_is_refused_though_the_mask_lets_it_through(
    fleet: KnowledgeGraph, statement: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        read_statement(card(fleet), statement)
    assert accepts(gbnf(card(fleet)), statement)


def test_what_a_condition_fixes_is_not_shown_beside_what_is_asked_for(fleet: KnowledgeGraph) -> None:
    statement = "SELECT vessel.yard, vessel.crew FROM vessel WHERE vessel.yard = 'Kiel'"
    assert read_statement(card(fleet), statement)[1] == ("crew",)


@pytest.mark.parametrize("join", cases(__file__, "tables_are_joined_by_links_alone"))
def test_tables_are_joined_by_links_alone(fleet: KnowledgeGraph, join: str) -> None:
    statement = f"SELECT port.name FROM vessel {join} WHERE vessel.crew > 3"
    with pytest.raises(ConfigError):
        read_statement(card(fleet), statement)
    assert not accepts(gbnf(card(fleet)), statement)


class Drawing(BaseChatModel):
    """A model that answers by its seed."""

    temperature: float = 0.0
    seed: int = 0
    statements: list[str]

    @property
    def _llm_type(self) -> str:
        return "drawing"

    def _generate(self, messages: Any, *args: Any, **options: Any) -> ChatResult:
        said = self.statements[self.seed] if bool(self.seed) == (self.temperature > 0) else ""
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])


def test_where_a_statement_finds_nothing_another_is_drawn(fleet: KnowledgeGraph) -> None:
    nothing = "SELECT vessel.name FROM vessel WHERE vessel.crew > 400"
    model = Drawing(statements=[nothing, nothing, "SELECT MAX(vessel.crew) FROM vessel"])
    answer = compute(fleet, "crew headcount, at the very top", model=model, planner="writer").answer
    assert answer is not None and answer.computed is not None
    assert [cell.label for cell in answer.computed.rows[0]] == ["50"]
    statements = ["SELECT SUM(vessel.crew) FROM vessel", nothing, nothing]
    answer = compute(
        fleet, "crew headcount altogether", model=Drawing(statements=statements), planner="writer"
    ).answer
    assert answer is not None and answer.computed is not None
    assert [cell.label for cell in answer.computed.rows[0]] == ["82"]


def test_what_two_ways_find_is_given_but_for_nouns_that_neither_reads(fleet: KnowledgeGraph) -> None:
    model = Drawing(statements=["SELECT vessel.name FROM vessel WHERE vessel.crew > 15"])
    question = "list the elephants of vessels with more than 15 crew"
    for planner in ("parser", "writer"):
        attempt = compute(fleet, question, model=model, planner=planner)
        assert attempt.answer is not None and attempt.answer.computed is not None
        assert [c.label for (c,) in attempt.answer.computed.rows] == ["Anna", "Bela"]
        assert not attempt.sure and "elephants" in attempt.why


@pytest.mark.parametrize(
    ("question", "statement", "left"),
    [
        ("Which harbour master runs Dover?", "SELECT port.beds FROM port WHERE port.name = 'Dover'",
         (("master",), ("runs",), ())),
        ("Which yards have vessels of over 15 crew that were bribed?", "SELECT vessel.yard FROM vessel WHERE "
         "vessel.crew > 15", ((), ("bribed",), ())),
        ("Which yards have vessels?", "SELECT vessel.yard FROM vessel WHERE vessel.type = 'tanker' AND "
         "vessel.crew < 77", ((), (), ("77", "tanker"))),
    ],
)  # fmt: skip
def test_words_and_what_a_plan_says_account_for_each_other(
    fleet: KnowledgeGraph, question: str, statement: str, left: tuple[tuple[str, ...], ...]
) -> None:
    plan, _ = read_statement(card(fleet), statement)
    found = unread(lexicon_of(fleet), question, with_subclasses(plan, lexicon_of(fleet).schema))
    invented = tuple(sorted(text.rsplit("/", 1)[-1].lower() for text in found.invented))
    assert (found.missing, found.unknown, invented) == left


def test_names_numbers_and_what_is_asked_for_have_to_be_said(fleet: KnowledgeGraph) -> None:
    question = "Which harbour master runs Dover with 12 moles?"
    plan, _ = read_statement(card(fleet), "SELECT port.beds FROM port")
    left = unread(lexicon_of(fleet), question, plan)
    assert {"master", "dover", "12"} <= set(left.missing) and left.asked == ("master",)
    # "Harbour" is near to "port".
    assert "runs" in left.unknown and "harbour" not in {*left.missing, *left.unknown}


def test_a_card_has_what_its_tables_lead_to(fleet: KnowledgeGraph) -> None:
    made = card_for(lexicon_of(fleet), "When were the calls due?")
    assert {table.name for table in made.tables} == {"call", "port", "vessel"}


def test_what_is_asked_for_is_what_may_be_selected(fleet: KnowledgeGraph) -> None:
    number, name = "SELECT COUNT(*) FROM vessel", "SELECT vessel.name FROM vessel"
    assert asked_for("How many vessels?") == "anything" and asked_for("Which vessels?") == "things"
    assert asked_for("Is Anna or Bela older?") == "anything"
    assert accepts(gbnf(card(fleet)), number) and not accepts(gbnf(card(fleet), "things"), number)
    assert accepts(gbnf(card(fleet), "things"), name)


def test_spans_of_time_are_read_from_the_earlier_date(fleet: KnowledgeGraph) -> None:
    statement = "SELECT AVG(DATEDIFF(call.due, call.came)) FROM call"
    answer = compute(
        fleet, "late calls, mean days", model=FakeListChatModel(responses=[statement]), planner="writer"
    ).answer
    assert answer is not None and answer.computed is not None
    assert [cell.label for cell in answer.computed.rows[0]] == ["3"]
