"""What statements of a model can say, and that the mask lets through what they say and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import mrag
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.compiler import to_sparql
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.card import SchemaCard, gbnf
from mrag.planning.neural.choosing import unread
from mrag.planning.neural.statement import read_statement
from mrag.planning.neural.writer import asked_for, card_for
from mrag.planning.run import run
from mrag.planning.scopes import with_subclasses
from tests.planning.grammars import Grammar, accepts

FLEET = """
@prefix : <http://example.org/fleet/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Ferry rdfs:subClassOf :Vessel ; rdfs:label "ferry" . :Tanker rdfs:subClassOf :Vessel ; rdfs:label "tanker" .
:Vessel rdfs:label "vessel" . :Port rdfs:label "port" . :Call rdfs:label "call" .
:home rdfs:label "home port" . :built rdfs:label "built" . :yard rdfs:label "yard" .
:vessel rdfs:label "vessel called" . :port rdfs:label "at port" . :due rdfs:label "due" .
:came rdfs:label "came" . :cars rdfs:label "cars" . :rate rdfs:label "rate" . :state rdfs:label "state" .
:beds rdfs:label "beds" . :crew rdfs:label "crew" . :laid_up rdfs:label "laid up" .
:ostend a :Port ; rdfs:label "Ostend" ; :beds 40 . :dover a :Port ; rdfs:label "Dover" ; :beds 90 .
:calais a :Port ; rdfs:label "Calais" ; :beds 10 .
:anna a :Ferry ; rdfs:label "Anna" ; :home :ostend ; :built 1990 ; :crew 20 ; :beds 30 ; :yard "Lund" ;
    :laid_up true .
:bela a :Ferry ; rdfs:label "Bela" ; :home :dover ; :built 2005 ; :crew 50 ; :beds 40 ; :yard "Lund" ;
    :laid_up false .
:cora a :Tanker ; rdfs:label "Cora" ; :home :dover ; :built 2010 ; :crew 12 ; :beds 12 ; :yard "Kiel" .
:c1 a :Call ; rdfs:label "call 1" ; :vessel :anna ; :port :ostend ; :due "2020-05-01"^^xsd:date ;
    :came "2020-05-03"^^xsd:date ; :cars 10 ; :rate 5 ; :state "open" .
:c2 a :Call ; rdfs:label "call 2" ; :vessel :anna ; :port :dover ; :due "2020-06-01"^^xsd:date ;
    :came "2020-06-07"^^xsd:date ; :cars 20 ; :rate 4 ; :state "closed" .
:c3 a :Call ; rdfs:label "call 3" ; :vessel :bela ; :port :dover ; :due "2021-06-01"^^xsd:date ;
    :came "2021-06-02"^^xsd:date ; :cars 50 ; :rate 1 ; :state "closed" .
"""
ABOUT = "calls of vessels like Anna, Bela and Cora, ferries and tankers, at ports, with crew, beds and cars"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    path = tmp_path_factory.mktemp("fleet") / "fleet.ttl"
    path.write_text(FLEET, encoding="utf-8")
    with mrag.connect("oxigraph:") as kg:
        kg.load([path])
        yield kg


def card(kg: KnowledgeGraph) -> SchemaCard:
    return card_for(lexicon_of(kg), ABOUT)


def rows(kg: KnowledgeGraph, statement: str) -> list[list[str]]:
    plan, _ = read_statement(card(kg), statement)
    found = run(kg, with_subclasses(plan, lexicon_of(kg).schema))
    assert not plan.yes_or_no
    return [[str(cell).rsplit("/", 1)[-1] for cell in row] for row in found.rows]


def test_a_card_shows_kinds_and_the_few_values_of_a_column(fleet: KnowledgeGraph) -> None:
    text = card(fleet).text()
    assert "type {'ferry', 'tanker'}" in text and "yard {'Kiel', 'Lund'}" in text
    assert "state {'closed', 'open'}" in text and "home_port -> port.id" in text
    assert card(fleet).table("ferry") is None


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        # Kinds of things
        ("SELECT vessel.name FROM vessel WHERE vessel.type = 'tanker'", [["cora"]]),
        ("SELECT COUNT(*) FROM vessel WHERE vessel.type != 'tanker'", [["2"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.type IN ('tanker')", [["cora"]]),
        (
            "SELECT vessel.type, COUNT(*) FROM vessel GROUP BY vessel.type ORDER BY COUNT(*) DESC",
            [["Ferry", "2"], ["Tanker", "1"]],
        ),
        ("SELECT port.name FROM vessel JOIN port ON vessel.home_port = port.id WHERE vessel.type = 'tanker'",
         [["dover"]]),
        ("SELECT port.name FROM vessel JOIN port ON vessel.home_port = port.id WHERE vessel.type = 'tanker' "
         "AND vessel.type = 'ferry'", [["dover"]]),
        # Tables that are joined
        ("SELECT vessel.name, port.name FROM vessel JOIN port ON port.id = vessel.home_port WHERE "
         "vessel.yard = 'Kiel'", [["cora", "dover"]]),
        ("SELECT port.name, COUNT(*) FROM port JOIN vessel ON vessel.home_port = port.id GROUP BY port.name",
         [["dover", "2"], ["ostend", "1"]]),
        ("SELECT COUNT(*) FROM vessel JOIN call ON call.vessel_called = vessel.id WHERE vessel.yard = 'Lund'",
         [["3"]]),
        ("SELECT COUNT(DISTINCT vessel.id) FROM vessel JOIN call ON call.vessel_called = vessel.id",
         [["2"]]),
        ("SELECT SUM(vessel.crew) FROM vessel JOIN call ON call.vessel_called = vessel.id", [["70"]]),
        ("SELECT SUM(call.cars * vessel.crew) FROM call JOIN vessel ON call.vessel_called = vessel.id",
         [["3100"]]),
        ("SELECT vessel.name FROM vessel LEFT JOIN call ON call.vessel_called = vessel.id WHERE "
         "call.id IS NULL", [["cora"]]),
        ("SELECT vessel.name FROM vessel JOIN call ON call.vessel_called = vessel.id JOIN port ON "
         "call.at_port = port.id WHERE port.name = 'Dover' AND port.name = 'Ostend'", [["anna"]]),
        ("SELECT port.name FROM call JOIN port ON call.at_port = port.id GROUP BY port.name "
         "ORDER BY COUNT(*) DESC LIMIT 1", [["dover"]]),
        # Tables that are spoken of and not joined
        ("SELECT port.name FROM port WHERE vessel.type = 'tanker'", [["dover"]]),
        ("SELECT vessel.name FROM call WHERE call.state = 'open'", [["anna"]]),
        ("SELECT vessel.name FROM vessel WHERE call.cars IS NULL", [["cora"]]),
        # A link and the name of what it leads to
        ("SELECT vessel.name FROM vessel WHERE vessel.home_port = 'Dover'", [["bela"], ["cora"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.home_port NOT IN ('Dover')", [["anna"]]),
        ("SELECT call.name FROM call JOIN vessel ON call.vessel_called = vessel.id WHERE "
         "call.at_port = vessel.home_port", [["c1"], ["c3"]]),
        # Counts of cases
        ("SELECT SUM(CASE WHEN call.state = 'open' THEN 1 ELSE 0 END) FROM call", [["1"]]),
        ("SELECT SUM(CASE WHEN call.state = 'closed' THEN call.cars ELSE 0 END) FROM call", [["70"]]),
        ("SELECT COUNT(CASE WHEN call.state = 'closed' THEN 1 END) FROM call", [["2"]]),
        ("SELECT COUNT(call.rate) FROM call", [["3"]]),
        ("SELECT COUNT(vessel.yard), COUNT(DISTINCT vessel.yard) FROM vessel", [["3", "2"]]),
        ("SELECT COUNT(*) * 100 / (SELECT COUNT(*) FROM vessel) FROM vessel WHERE vessel.type = 'ferry'",
         [["66.6666666667"]]),
        # Conditions of which one holds
        ("SELECT vessel.name FROM vessel WHERE vessel.crew > 40 OR vessel.yard = 'Kiel'",
         [["bela"], ["cora"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.crew + vessel.beds > 60", [["bela"]]),
        # Two columns, or what is computed with them
        ("SELECT vessel.name FROM vessel WHERE vessel.beds < vessel.crew", [["bela"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.beds = vessel.crew", [["cora"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.beds > vessel.crew + 5", [["anna"]]),
        ("SELECT call.name FROM call WHERE call.at_port.name = call.vessel_called.home_port.name",
         [["c1"], ["c3"]]),
        ("SELECT call.name FROM call WHERE call.came > call.due AND call.at_port.name != "
         "call.vessel_called.home_port.name", [["c2"]]),
        ("SELECT vessel.name, vessel.beds / vessel.crew FROM vessel WHERE vessel.type = 'ferry'",
         [["anna", "1.5"], ["bela", "0.8"]]),
        ("SELECT SUM(call.cars * call.rate) FROM call", [["180"]]),
        (
            "SELECT call.vessel_called.name FROM call GROUP BY call.vessel_called.name "
            "ORDER BY SUM(call.cars * call.rate) DESC LIMIT 1",
            [["anna"]],
        ),
        # A statement in a statement
        ("SELECT vessel.name FROM vessel WHERE vessel.crew > (SELECT AVG(vessel.crew) FROM vessel)",
         [["bela"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.built = (SELECT MIN(vessel.built) FROM vessel "
         "WHERE vessel.home_port.name = 'Dover')", [["bela"]]),
        ("SELECT call.name FROM call WHERE call.due > (SELECT MIN(call.due) FROM call)", [["c2"], ["c3"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.yard = (SELECT vessel.yard FROM vessel WHERE "
         "vessel.name = 'Anna') AND vessel.name != 'Anna'", [["bela"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.name NOT IN (SELECT call.vessel_called.name FROM call)",
         [["cora"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.name IN (SELECT call.vessel_called.name FROM call "
         "WHERE call.at_port.name = 'Dover') AND vessel.name IN (SELECT call.vessel_called.name FROM call "
         "WHERE call.at_port.name = 'Ostend')", [["anna"]]),
        ("SELECT port.name FROM port WHERE port.name NOT IN (SELECT vessel.home_port FROM vessel WHERE "
         "vessel.type = 'ferry')", [["calais"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.yard IN (SELECT vessel.yard FROM vessel GROUP BY "
         "vessel.yard HAVING COUNT(*) > 1)", [["anna"], ["bela"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.name IN (SELECT call.vessel_called.name FROM call "
         "WHERE call.cars > 5 GROUP BY call.vessel_called.name ORDER BY COUNT(*) DESC LIMIT 1)", [["anna"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.home_port IN (SELECT port.id FROM port JOIN vessel ON "
         "vessel.home_port = port.id GROUP BY port.id ORDER BY SUM(vessel.crew) ASC LIMIT 1)", [["anna"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.name IN (SELECT call.vessel_called.name FROM call "
         "GROUP BY call.vessel_called.name ORDER BY MIN(call.cars) ASC LIMIT 2)", [["anna"], ["bela"]]),
        ("SELECT (SELECT vessel.crew FROM vessel WHERE vessel.name = 'Bela') - (SELECT vessel.crew FROM "
         "vessel WHERE vessel.name = 'Anna')", [["30"]]),
        ("SELECT (SELECT COUNT(*) FROM call) / (SELECT COUNT(DISTINCT vessel.name) FROM vessel)", [["1"]]),
        # Dates, bounds, lists
        ("SELECT MAX(DATEDIFF(call.came, call.due)) FROM call", [["6"]]),
        ("SELECT call.name FROM call WHERE DATEDIFF(call.came, call.due) > 1", [["c1"], ["c2"]]),
        ("SELECT call.name FROM call ORDER BY DATEDIFF(call.came, call.due) DESC LIMIT 1", [["c2"]]),
        ("SELECT call.name FROM call WHERE call.due BETWEEN '2020-05-01' AND '2020-12'", [["c1"], ["c2"]]),
        ("SELECT call.name FROM call WHERE YEAR(call.due) = 2021", [["c3"]]),
        ("SELECT call.name FROM call WHERE call.due < 2021", [["c1"], ["c2"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.laid_up = 1", [["anna"]]),
        ("SELECT AVG(CASE WHEN call.state = 'closed' THEN call.cars END) FROM call", [["35"]]),
        ("SELECT vessel.name FROM vessel WHERE vessel.crew BETWEEN 12 AND 20", [["anna"], ["cora"]]),
        ("SELECT port.name FROM port WHERE port.name IN ('Dover', 'Ostend')", [["dover"], ["ostend"]]),
        ("SELECT port.name FROM port WHERE port.name NOT IN ('Dover', 'Ostend')", [["calais"]]),
        # Groups and order
        ("SELECT DISTINCT vessel.home_port.name FROM vessel ORDER BY vessel.home_port.name ASC",
         [["dover"], ["ostend"]]),
        ("SELECT vessel.yard, vessel.name FROM vessel ORDER BY vessel.yard DESC, vessel.built DESC",
         [["Lund", "bela"], ["Lund", "anna"], ["Kiel", "cora"]]),
        ("SELECT call.vessel_called.name FROM call GROUP BY call.vessel_called.name HAVING "
         "COUNT(*) FILTER (WHERE call.state = 'open') = COUNT(*) FILTER (WHERE call.state = 'closed')",
         [["anna"]]),
        ("SELECT 100 * COUNT(*) FILTER (WHERE vessel.laid_up = true) / COUNT(*) FROM vessel WHERE "
         "vessel.type = 'ferry'", [["50"]]),
    ],
)  # fmt: skip
def test_statements_say_what_they_say_in_sql(
    fleet: KnowledgeGraph, statement: str, expected: list[list[str]]
) -> None:
    found = rows(fleet, statement)
    shown = [row[: len(expected[0])] for row in found]
    assert (shown if "ORDER BY" in statement else sorted(shown)) == expected
    assert accepts(gbnf(card(fleet)), statement)


@pytest.mark.parametrize(
    ("statement", "holds"),
    [
        ("SELECT EXISTS (SELECT * FROM vessel WHERE vessel.crew > 40)", True),
        ("SELECT EXISTS (SELECT * FROM vessel WHERE vessel.crew > vessel.built)", False),
    ],
)
def test_statements_ask_whether_there_is_something(
    fleet: KnowledgeGraph, statement: str, holds: bool
) -> None:
    plan, shown = read_statement(card(fleet), statement)
    plan = with_subclasses(plan, lexicon_of(fleet).schema)
    assert plan.yes_or_no and not shown and run(fleet, plan).holds is holds
    assert accepts(gbnf(card(fleet), "whether"), statement) and not accepts(gbnf(card(fleet)), statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT vessel.name FROM vessel WHERE vessel.type = 'submarine'",
        "SELECT vessel.name FROM vessel WHERE vessel.crew > vessel.yard",
        "SELECT vessel.name FROM vessel WHERE vessel.home_port.name = vessel.yard",
        "SELECT vessel.name FROM vessel WHERE vessel.yard > (SELECT vessel.yard FROM vessel)",
        "SELECT vessel.name FROM vessel WHERE vessel.built > (SELECT MIN(call.due) FROM port)",
        "SELECT vessel.name FROM vessel WHERE vessel.built > (SELECT call.due FROM call)",
        "SELECT vessel.name FROM vessel WHERE vessel.name IN (SELECT vessel.yard FROM vessel)",
        "SELECT DATEDIFF(vessel.built, vessel.crew) FROM vessel",
        "SELECT EXISTS (SELECT * FROM vessel",
        "SELECT (SELECT vessel.crew FROM vessel) AND (SELECT vessel.crew FROM vessel)",
        "SELECT call.name FROM call WHERE call.due = '2020-02-31'",
    ],
)
def test_what_does_not_fit_together_is_refused(fleet: KnowledgeGraph, statement: str) -> None:
    with pytest.raises(ConfigError):
        read_statement(card(fleet), statement)
    assert not accepts(gbnf(card(fleet)), statement) or "02-31" in statement


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("SELECT AVG(DATEDIFF(call.due, call.due)) FROM call", "a date and itself"),
        ("SELECT vessel.name FROM vessel WHERE vessel.name = 'Anna'", "only what its conditions name"),
        ("SELECT vessel.name FROM vessel WHERE vessel.id IS NULL", "not missing"),
        (
            "SELECT COUNT(*) FROM call JOIN vessel ON call.vessel_called = vessel.id JOIN vessel ON "
            "call.vessel_called = vessel.id",
            "joined twice",
        ),
    ],
)
def test_what_says_nothing_is_refused_though_the_mask_lets_it_through(
    fleet: KnowledgeGraph, statement: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        read_statement(card(fleet), statement)
    assert accepts(gbnf(card(fleet)), statement)


def test_what_a_condition_fixes_is_not_shown_beside_what_is_asked_for(fleet: KnowledgeGraph) -> None:
    statement = "SELECT vessel.yard, vessel.crew FROM vessel WHERE vessel.yard = 'Kiel'"
    assert read_statement(card(fleet), statement)[1] == ("crew",)


@pytest.mark.parametrize(
    "join",
    [
        "JOIN port ON vessel.yard = port.id",
        "JOIN port ON vessel.home_port = vessel.id",
        "JOIN port ON call.vessel_called = vessel.id",
        "JOIN port",
    ],
)
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
    answer = compute(fleet, "crew headcount, topmost", model=model, planner="writer").answer
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


def test_only_what_is_asked_for_or_described_may_be_said_otherwise(fleet: KnowledgeGraph) -> None:
    question = "Which harbour master runs Dover with 12 moles?"
    plan, _ = read_statement(card(fleet), "SELECT port.beds FROM port")
    left = unread(lexicon_of(fleet), question, plan)
    assert {"master", "dover", "12"} <= set(left.missing) and left.asked == ("master",)
    known = left.without({"master", "runs", "dover", "12"})
    assert set(known.missing) == set(left.missing) - {"master"} and "runs" not in known.unknown
    # That "master" is said by another word is a guess, which counts against the plan as a verb does.
    assert "master" in known.unknown and "master" not in known.things and known.asked == ()
    # "Harbour" is only near to "port": it is read unless it surprises whoever is told the plan.
    assert left.near == ("harbour",) and left.without(frozenset()).missing == left.missing
    assert "harbour" in left.without(frozenset(), {"harbour"}).missing


def test_a_card_has_what_its_tables_lead_to(fleet: KnowledgeGraph) -> None:
    made = card_for(lexicon_of(fleet), "When were the calls due?")
    assert {table.name for table in made.tables} == {"call", "port", "vessel"}


@given(seed=st.integers(0, 10**9))
@settings(max_examples=100, deadline=None)
def test_every_statement_of_the_mask_is_a_plan_that_compiles(fleet: KnowledgeGraph, seed: int) -> None:
    rng = random.Random(seed)
    lexicon = lexicon_of(fleet)
    made = card_for(lexicon, rng.choice((ABOUT, "Is any tanker late in Dover?", "calls", "yards of ferries")))
    statement = Grammar(gbnf(made, rng.choice(("anything", "things", "whether")))).draw(rng)
    try:
        plan, _ = read_statement(made, statement)
    except ConfigError as error:
        # A calendar is beyond a grammar, and so is an order by what is grouped away.
        assert "Not a statement" not in error.message, statement
        return
    assert to_sparql(with_subclasses(plan, lexicon.schema), lexicon.schema)


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
