"""What an answer says where nothing was found, and what comes behind a superlative."""

import json
import math
import random
import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

import mrag
from benchmarks.solved_readings import SolvedReading, fit, solved_readings
from mrag.errors import MissingIndex
from mrag.evaluation import GoldQuestion
from mrag.generation.result import Answer
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Number,
    Pattern,
    Plan,
    Scalar,
    Unknown,
    certainty,
)
from mrag.planning.answering import _doubt, compute
from mrag.planning.answering import answered as replayed
from mrag.planning.certainty import FEATURES, Certainty
from mrag.planning.following import LastAnswer
from mrag.planning.loosening import why_nothing
from mrag.planning.plan import Relation
from mrag.planning.profiling import schema_of
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult, run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.conftest import graph_of, opened
from tests.planning.questions import GRAPHS

X, SIZE = Unknown("x"), Unknown("size")
HAS_SIZE, RED = Pattern(X, URIRef("urn:size"), SIZE), Pattern(X, URIRef("urn:colour"), Literal("red"))


def answered(kg: KnowledgeGraph, question: str) -> Answer:
    attempt = compute(kg, question, seconds=300)
    assert attempt.sure and attempt.answer is not None, attempt.why
    given_ = attempt.answer
    assert mrag.verify(kg, given_).ok and Answer.from_json(given_.to_json()).to_json() == given_.to_json()
    return given_


def said(given_: Answer) -> str:
    return "".join(sentence.before + sentence.text for sentence in given_.sentences)


@settings(max_examples=30, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.dictionaries(st.integers(0, 8), st.tuples(st.integers(-20, 20), st.booleans()), min_size=1),
    st.integers(-25, 25), st.sampled_from(("<", "<=", ">", ">=")), st.booleans(),
)  # fmt: skip
def test_what_comes_nearest_to_a_bound_is_found(
    things: dict[int, tuple[int, bool]], bound: int, relation: str, listed: bool
) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        for name, (size, red) in things.items():
            thing = URIRef(f"urn:x{name}")
            kg.insert([Triple(thing, URIRef("urn:size"), Literal(size))])
            kg.insert([Triple(thing, URIRef("urn:colour"), Literal("red" if red else "blue"))])
        bounded = Comparison(Number(SIZE), relation, Literal(bound))  # type: ignore[arg-type]
        plan = Plan(Block((HAS_SIZE, RED), (bounded,)), (Column(X, "x"),) if listed else ())
        if run(kg, plan).holds:
            return
        nothing = why_nothing(kg, plan, schema_of(kg), time.monotonic() + 20)
        reds = {name: size for name, (size, red) in things.items() if red}
        if not reds:
            # Without the colour something may keep the bound, and then that is what is said.
            kept = [s for s, _ in things.values() if run(kg, Plan(Block((HAS_SIZE,), (bounded,)))).holds]
            assert nothing.part == (RED if kept else None) and nothing.nearest is None
            return
        assert nothing.part == bounded and nothing.nearest is not None
        best = max(reds.values()) if relation.startswith(">") else min(reds.values())
        thing, value = nothing.nearest.result.rows[0]
        assert int(str(value)) == best and reds[int(str(thing).removeprefix("urn:x"))] == best


def test_a_no_says_what_was_looked_for_and_what_there_is_instead(demo: KnowledgeGraph) -> None:
    before = answered(demo, "Is there a database released before 1990?")
    assert said(before) == (
        "No: there is no database whose year of first release is before 1990. "
        "The earliest year of first release is 1995 (MySQL)."
    )
    assert before.citations
    other = answered(demo, "Does Ontotext develop Stardog?")
    assert said(other) == (
        "No: nothing in the graph says that Ontotext develops Stardog. "
        "It says that Ontotext develops GraphDB."
    )
    assert [c.triple.o.rsplit("#")[-1] for c in other.citations] == ["GraphDB"]
    assert said(answered(demo, "Is there a triple store from Norway?")).startswith("No: there is no triple")


def test_values_that_compare_otherwise_are_told(demo: KnowledgeGraph) -> None:
    later = answered(demo, "Is SQLite older than MySQL?")
    assert said(later) == "No: the year of first release of SQLite is 2000, and that of MySQL is 1995."
    assert sorted(str(c.triple.o) for c in later.citations) == ["1995", "2000"]
    assert later.computed.reading == (
        "whether the year of first release of SQLite is before the year of first release of MySQL"
    )


def test_numbers_that_compare_otherwise_are_told(demo: KnowledgeGraph) -> None:
    asked = "Are there {} triple stores than graph databases?"
    fewer = answered(demo, asked.format("fewer"))
    more = answered(demo, asked.format("more"))
    told = "the number of triple stores is 11, and the number of graph databases is 17."
    assert (said(more), said(fewer)) == (f"No: {told}", f"Yes: {told}")
    assert more.citations and fewer.citations
    has = compute(demo, "Does Stardog Union have more products than Ontotext?", seconds=300).answer
    assert has is not None
    assert said(has).startswith("No: the number of products developed by Stardog Union is")


def test_two_numbers_that_are_found_apart_are_told_like_those_of_one_block(demo: KnowledgeGraph) -> None:
    made, kinds = Unknown("made"), {c.split("#")[-1]: URIRef(c) for c in schema_of(demo).classes}
    stores, graphs = (
        Scalar(
            Plan(Block((Pattern(made, RDF.type, kinds[k]),)), (Column(Aggregate("count", of=(made,)), "n"),))
        )
        for k in ("TripleStore", "GraphDatabase")
    )
    told = "the number of triple stores is 11, and the number of graph databases is 17."
    relations: tuple[tuple[str, Relation], ...] = (("Yes", "<"), ("No", ">"))
    for answer, relation in relations:
        plan = Plan(Block(conditions=(Comparison(stores, relation, graphs),)))
        found = replayed(demo, "Are there fewer?", LastAnswer(plan, ()))
        assert said(found) == f"{answer}: {told}"
        assert {c.triple.o for c in found.citations} == {kinds["TripleStore"], kinds["GraphDatabase"]}


@pytest.mark.parametrize(("question", "why"), cases(__file__, "no_value_is_known"))
def test_what_has_no_known_value_is_neither_yes_nor_no(demo: KnowledgeGraph, question: str, why: str) -> None:
    attempt = compute(demo, question, seconds=300)
    assert (attempt.answer, attempt.why) == (None, why)


def test_numbers_that_are_computed_are_shown_short(demo: KnowledgeGraph) -> None:
    given_ = answered(demo, "What percentage of vendors are in Germany?")
    assert said(given_) == "The percentage is 13.2075%."
    ((cell,),) = given_.computed.rows
    assert str(cell.term) == "13.2075471698"


def test_an_empty_list_is_an_answer_where_a_bound_excludes_all(demo: KnowledgeGraph) -> None:
    late = answered(demo, "Which databases were released after 2030?")
    assert late.computed is not None and late.computed.rows == () and late.citations
    assert said(late).endswith("The latest year of first release is 2019 (DuckDB).")
    many = answered(demo, "Which vendors have more than fifty products?")
    assert said(many) == (
        "None: there is no vendor which develops the product, where the number of products is more than 50. "
        "The greatest number of products is 7 (Apache Software Foundation)."
    )


def test_runners_up_are_told_with_what_they_are_ordered_by(demo: KnowledgeGraph) -> None:
    oldest = answered(demo, "What is the oldest database?")
    assert oldest.computed.next == "MySQL: 1995, then SQLite: 2000; Apache Cassandra: 2008"
    assert f"Next: {oldest.computed.next}" in str(oldest) and "Next: MySQL" in oldest._repr_html_()
    value = oldest.to_json()
    assert [[cell["label"] for cell in row] for row in value["runners_up"]] == [
        ["SQLite", "2000"], ["Apache Cassandra", "2008"],
    ]  # fmt: skip
    assert [cell["label"] for cell in value["last"]] == ["MySQL", "1995"]
    three = answered(demo, "What are the three oldest databases?")
    assert three.computed.next == "Apache Cassandra: 2008, then MariaDB: 2009; MongoDB: 2009"
    every = answered(demo, "How many vendors are there per country?")
    assert every.computed is not None and every.computed.next == ""
    assert every.computed.columns == ("country", "number_of_vendors")


COUNT = "How many countries are there?"
ASKED = [
    COUNT, "How many suppliers are from Spain?", "How many managers are there?",
    "How many suppliers are there?", "How many employees are there?", "How many departments are there?",
]  # fmt: skip


company = opened(lambda _: graph_of(GRAPHS / "company.ttl"), "function")


def solved(n: int, weights: dict[str, float], bias: float, seed: int) -> list[SolvedReading]:
    """Readings that are right as often as some weights say."""
    draw = random.Random(seed)
    found = []
    for at in range(n):
        features = {
            "score": draw.uniform(-1, 4), "guesses": float(draw.randint(0, 3)),
            "rivals": float(draw.randint(0, 3)), "nothing": float(draw.random() < 0.2),
            "empty": draw.uniform(0, 2),
            "single": float(draw.random() < 0.5),
        }  # fmt: skip
        odds = bias + sum(weights[name] * value for name, value in features.items())
        features = {**dict.fromkeys(FEATURES, 0.0), **features}
        found.append(SolvedReading(str(at % 5), features, draw.random() < 1 / (1 + math.exp(-odds))))
    return found


WEIGHTS = {
    "score": 0.9, "guesses": -0.5, "rivals": -0.8, "nothing": -1.0, "empty": -0.3, "single": 0.4,
}  # fmt: skip


def test_a_fit_finds_the_weights_that_answers_were_drawn_by() -> None:
    found = fit(solved(4_000, WEIGHTS, 0.5, 1))
    assert found.bias == pytest.approx(0.5, abs=0.25) and found.groups == 5
    for name, weight in WEIGHTS.items():
        assert found.weights[name] == pytest.approx(weight, abs=0.25)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_a_fit_to_few_questions_keeps_its_signs(seed: int, n: int) -> None:
    against = {name: -weight for name, weight in WEIGHTS.items()}
    found = fit(solved(n, against, -0.5, seed))
    assert all(found.weights[name] * sign >= 0 for name, sign in FEATURES.items())
    assert all(0 < found.of(one.features) < 1 for one in solved(5, WEIGHTS, 0, seed))
    kept = json.loads(json.dumps(found.to_json()))
    assert kept["weights"] == pytest.approx(found.weights, abs=1e-3) and kept["readings"] == n


def test_certainty_is_what_the_weights_say(company: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    def weigh(bias: float) -> None:
        monkeypatch.setattr(
            certainty, "shipped_certainty", lambda: Certainty(bias, dict.fromkeys(FEATURES, 0.0))
        )

    first = compute(company, COUNT).answer
    assert first is not None and first.computed is not None and first.notice is None
    weigh(-3.0)
    second = compute(company, COUNT).answer
    assert second.computed.confidence == pytest.approx(1 / (1 + math.exp(3)), abs=1e-3)
    # What is wrong more often than right is not given unasked, but offered.
    attempt = compute(company, COUNT)
    assert not attempt.sure and second.notice is not None
    assert attempt.why == "the reading is not certain enough (0.05)"
    assert attempt.offered[0].number == 1
    with pytest.raises(MissingIndex, match="reading 1 would give"):
        mrag.ask(company, COUNT, model="none")
    assert mrag.ask(company, COUNT, model="none", reading=1).text == first.text
    weigh(0.5)
    perhaps = mrag.ask(company, COUNT, model="none")
    assert perhaps.told == f"Perhaps: {perhaps.text}" and str(perhaps).startswith("Perhaps: ")
    weigh(1.5)
    assert str(mrag.ask(company, COUNT, model="none")).startswith(f"Probably: {first.text}")


def questions(kg: KnowledgeGraph, right: bool) -> list[GoldQuestion]:
    """Questions whose gold answers are those that are computed, or never are."""
    found = []
    for number, text in enumerate(ASKED * 2):
        answer = compute(kg, text).answer
        if answer is not None and answer.computed is not None:
            rows = [[cell.label for cell in row] for row in answer.computed.rows] if right else [["nobody"]]
            found.append(GoldQuestion.of({"id": f"{number}", "question": text, "answers": rows}))
    return found


def test_readings_are_solved_by_the_gold_answers_of_their_questions(company: KnowledgeGraph) -> None:
    every = solved_readings(company, questions(company, right=True), "some")
    given_ = [one for one in every if one.given]
    assert len(given_) >= 10 and all(one.right and one.group == "some" for one in given_)
    others = solved_readings(company, questions(company, right=False), "some")
    assert len(others) >= 10 and not any(one.right for one in others)


def test_nothing_is_no_answer_where_another_reading_finds_something() -> None:
    x, thing = Unknown("x"), URIRef("http://example.org/thing")
    where = Block((Pattern(x, RDF.type, thing),))
    count = Plan(where, (Column(Aggregate("count", of=(x,)), "n"),))
    one = Reading(count, ("n",), 0.95, (), {}, certainty=0.95)
    zero, ten = (PlanResult("", ("n",), ((Literal(n),),), True) for n in (0, 10))
    assert "another one does" in _doubt(one, zero, [(one, ten)])
    assert not _doubt(one, zero, [(one, zero)]) and not _doubt(one, ten, [(one, zero)])
    assert "0.40" in _doubt(replace(one, certainty=0.4), ten, [])
