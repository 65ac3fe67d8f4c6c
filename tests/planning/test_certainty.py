"""How certain computed answers are: the features, the fit, and what is kept with a graph."""

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

import mrag
from mrag.errors import ConfigError, MissingIndex
from mrag.evaluation import GoldQuestion, calibrate_answers
from mrag.evaluation.answers import solved_readings
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import _doubt, compute
from mrag.planning.certainty import (
    FEATURES,
    Certainty,
    SolvedReading,
    certainty_of,
    fitted,
    held_out,
    keep_certainty,
    reliability,
    shipped,
)
from mrag.planning.plan import Aggregate, Block, Column, Pattern, Plan, Unknown
from mrag.planning.readings import Reading
from mrag.planning.run import PlanResult
from tests.evaluation.test_eval_cli import invoke
from tests.planning.questions import GRAPHS

COUNT = "How many countries are there?"
ASKED = [
    COUNT,
    "How many suppliers are from Spain?",
    "How many managers are there?",
    "How many suppliers are there?",
    "How many employees are there?",
    "How many departments are there?",
]


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


def test_held_out_certainties_are_as_right_as_they_say() -> None:
    drawn = solved(3_000, WEIGHTS, 0.5, 2)
    for bucket in reliability(held_out(drawn), [one.right for one in drawn]):
        assert bucket.right / bucket.answers == pytest.approx(bucket.expected / bucket.answers, abs=0.06)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans())
def test_a_fit_to_few_questions_keeps_its_signs(seed: int, n: int, prior: bool) -> None:
    against = {name: -weight for name, weight in WEIGHTS.items()}
    found = fitted(solved(n, against, -0.5, seed), shipped() if prior else None)
    assert all(found.weights[name] * sign >= 0 for name, sign in FEATURES.items())
    assert all(0 < found.of(one.features) < 1 for one in solved(5, WEIGHTS, 0, seed))
    assert Certainty.from_json(json.loads(json.dumps(found.to_json()))).weights == pytest.approx(
        found.weights, abs=1e-3
    )


def test_what_is_no_model_is_refused() -> None:
    for bad in (
        {},
        {"bias": "x"},
        {**shipped().to_json(), "weights": {}},
        [],
        {**shipped().to_json(), "bias": math.inf},
    ):
        with pytest.raises(ConfigError):
            Certainty.from_json(bad)  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        fitted([])


def test_the_certainty_of_an_answer_is_that_of_its_graph(company: KnowledgeGraph) -> None:
    first = compute(company, COUNT).answer
    assert first is not None and first.computed is not None and first.notice is None
    doubtful = Certainty(-3.0, dict.fromkeys(FEATURES, 0.0))
    keep_certainty(company, doubtful)
    assert certainty_of(company) == doubtful
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
    keep_certainty(company, Certainty(0.5, dict.fromkeys(FEATURES, 0.0)))
    perhaps = mrag.ask(company, COUNT, model="none")
    assert perhaps.told == f"Perhaps: {perhaps.text}" and str(perhaps).startswith("Perhaps: ")
    keep_certainty(company, Certainty(1.5, dict.fromkeys(FEATURES, 0.0)))
    assert str(mrag.ask(company, COUNT, model="none")).startswith(f"Probably: {first.text}")
    keep_certainty(company, shipped())
    keep_certainty(company, None)
    assert certainty_of(company) == shipped()


def test_a_calibration_is_kept_where_the_graph_is(tmp_path: Path) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.load([GRAPHS / "company.ttl"])
        triples = kg.profile().triples
        keep_certainty(kg, Certainty(0.25, dict.fromkeys(FEATURES, 0.0), 12, 1))
        assert kg.profile().triples == triples
    with mrag.connect(url) as kg:
        assert certainty_of(kg).bias == 0.25


def questions(kg: KnowledgeGraph, right: bool) -> list[GoldQuestion]:
    """Questions whose gold answers are those that are computed, or never are."""
    found = []
    for number, text in enumerate(ASKED * 2):
        answer = compute(kg, text).answer
        if answer is not None and answer.computed is not None:
            rows = [[cell.label for cell in row] for row in answer.computed.rows] if right else [["nobody"]]
            found.append(GoldQuestion.of({"id": f"{number}", "question": text, "answers": rows}))
    return found


def test_a_graph_is_calibrated_by_its_own_questions(company: KnowledgeGraph) -> None:
    asked = questions(company, right=True)
    every = solved_readings(company, asked, lambda _: "")
    assert len(asked) >= 10 and all(one.right for one in every if one.given)
    at = next(one for one in every if one.given).features
    surer = calibrate_answers(company, asked, keep=False)
    assert surer.right == surer.answered and surer.certainty.of(at) > shipped().of(at)
    assert certainty_of(company) == shipped()
    wronger = calibrate_answers(company, questions(company, right=False))
    assert wronger.right == 0 and certainty_of(company).of(at) < shipped().of(at)
    with pytest.raises(ConfigError, match="computed answer"):
        calibrate_answers(company, asked[:2])


def test_the_command_calibrates_and_forgets(tmp_path: Path, company: KnowledgeGraph) -> None:
    file = tmp_path / "questions.jsonl"
    lines = [
        {"question": q.text, "answers": [list(r) for r in q.accepted[0].rows]}
        for q in questions(company, True)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    url = f"oxigraph:{tmp_path / 'store'}"
    with mrag.connect(url) as kg:
        kg.load([GRAPHS / "company.ttl"])
    assert "Certainty calibrated" in invoke("questions", "calibrate", str(file), "--store", url)
    with mrag.connect(url) as kg:
        assert certainty_of(kg).readings > 0
    invoke("questions", "calibrate", "--forget", "--store", url)
    with mrag.connect(url) as kg:
        assert certainty_of(kg) == shipped()


def test_nothing_is_no_answer_where_another_reading_finds_something() -> None:
    x, thing = Unknown("x"), URIRef("http://example.org/thing")
    where = Block((Pattern(x, RDF.type, thing),))
    count = Plan(where, (Column(Aggregate("count", of=(x,)), "n"),))
    one = Reading(count, ("n",), 0.95, (), {}, certainty=0.95)
    zero, ten = (PlanResult("", ("n",), ((Literal(n),),), True) for n in (0, 10))
    assert "another one does" in _doubt(one, zero, [(one, ten)])
    assert not _doubt(one, zero, [(one, zero)]) and not _doubt(one, ten, [(one, zero)])
    assert "0.40" in _doubt(replace(one, certainty=0.4), ten, [])
