"""How certain computed answers are: the features, the fit, and what is given."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

import mrag
from mrag.errors import MissingIndex
from mrag.evaluation import GoldQuestion
from mrag.evaluation.answers import solved_readings
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import certainty
from mrag.planning.answering import _doubt, compute
from mrag.planning.certainty import FEATURES, Certainty, SolvedReading, fitted
from mrag.planning.plan import Aggregate, Block, Column, Pattern, Plan, Unknown
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult
from tests.planning.questions import GRAPHS

COUNT = "How many countries are there?"
ASKED = [
    COUNT, "How many suppliers are from Spain?", "How many managers are there?",
    "How many suppliers are there?", "How many employees are there?", "How many departments are there?",
]  # fmt: skip


@pytest.fixture
def company() -> Iterator[KnowledgeGraph]:
    with mrag.connect() as kg:
        kg.load([GRAPHS / "company.ttl"])
        yield kg


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
    found = fitted(solved(4_000, WEIGHTS, 0.5, 1))
    assert found.bias == pytest.approx(0.5, abs=0.25) and found.groups == 5
    for name, weight in WEIGHTS.items():
        assert found.weights[name] == pytest.approx(weight, abs=0.25)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_a_fit_to_few_questions_keeps_its_signs(seed: int, n: int) -> None:
    against = {name: -weight for name, weight in WEIGHTS.items()}
    found = fitted(solved(n, against, -0.5, seed))
    assert all(found.weights[name] * sign >= 0 for name, sign in FEATURES.items())
    assert all(0 < found.of(one.features) < 1 for one in solved(5, WEIGHTS, 0, seed))
    kept = json.loads(json.dumps(found.to_json()))
    assert kept["weights"] == pytest.approx(found.weights, abs=1e-3) and kept["readings"] == n


def test_an_answer_is_as_certain_as_the_weights_say(
    company: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weigh(bias: float) -> None:
        monkeypatch.setattr(certainty, "shipped", lambda: Certainty(bias, dict.fromkeys(FEATURES, 0.0)))

    first = compute(company, COUNT).answer
    assert first is not None and first.computed is not None and first.notice is None
    weigh(-3.0)
    second = compute(company, COUNT).answer
    assert second is not None and second.computed is not None
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
