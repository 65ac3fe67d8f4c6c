"""MetaQA: exact answer sets by gold plans, and the planner without a model on questions it has not seen.

The whole measurement is benchmarks/metaqa.py; here all gold plans are tried, and the planner learns from and
is measured on a part of each half.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import GroundingSettings, ground
from mrag.completion.measures import score
from mrag.completion.path_planner import PathPlanner, Weights, calibrate
from mrag.completion.patterns import GroundedPlan
from mrag.graph.kg import KnowledgeGraph
from tests.conftest import ROOT, shared_data

HOPS = (1, 2, 3)


@pytest.fixture(scope="module")
def metaqa() -> Iterator[ModuleType]:
    """The benchmark, which knows the collection."""
    folder = str(ROOT / "benchmarks")
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location("metaqa_benchmark", ROOT / "benchmarks" / "metaqa.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared_data("metaqa")


@pytest.fixture(scope="module")
def kg(metaqa: ModuleType, folder: Path) -> Iterator[KnowledgeGraph]:
    with metaqa.load(folder) as graph:
        yield graph


@pytest.fixture(scope="module")
def weights(metaqa: ModuleType, folder: Path, kg: KnowledgeGraph) -> Weights:
    examples = []
    for hops in HOPS:
        asked = [q for q in metaqa.questions(folder / f"dev_{hops}hop.jsonl") if metaqa.calibrates(q)]
        examples += [metaqa.example(q) for q in asked[:250]]
    return calibrate(kg, examples, model=None, rounds=3)


@pytest.mark.slow
@pytest.mark.parametrize("hops", HOPS)
def test_gold_plans_give_exactly_the_gold_answers(
    metaqa: ModuleType, folder: Path, kg: KnowledgeGraph, hops: int
) -> None:
    asked = metaqa.questions(folder / f"dev_{hops}hop.jsonl")
    assert len(asked) == 1000
    wrong = [
        q.text
        for q in asked
        if set(complete_from_graph(kg, GroundedPlan(metaqa.gold_plan(q))).answers)
        != {metaqa.entity(a) for a in q.answers}
    ]
    assert wrong == []


@pytest.mark.slow
def test_gold_plans_in_words_are_grounded_to_the_same(
    metaqa: ModuleType, folder: Path, kg: KnowledgeGraph
) -> None:
    knobs = GroundingSettings(model=None)
    for hops in HOPS:
        for q in metaqa.questions(folder / f"dev_{hops}hop.jsonl")[:50]:
            plan = metaqa.gold_plan(q)
            spoken = metaqa.spoken(plan, q)
            assert ground(kg, spoken, knobs).plan.triples == plan.triples


@pytest.mark.slow
@pytest.mark.parametrize(("hops", "least"), [(1, 0.95), (2, 0.90), (3, 0.80)])
def test_the_planner_without_a_model_answers_questions_it_has_not_seen(
    metaqa: ModuleType, folder: Path, kg: KnowledgeGraph, weights: Weights, hops: int, least: float
) -> None:
    planner = PathPlanner(kg, weights, model=None)
    asked = [q for q in metaqa.questions(folder / f"dev_{hops}hop.jsonl") if not metaqa.calibrates(q)][:120]
    found = {
        q.text: metaqa.names_of(kg, complete_from_graph(kg, GroundedPlan(planner.plan(q.text))).answers)
        for q in asked
    }
    scores = score(found, {q.text: q.answers for q in asked})
    assert scores.questions > 100
    assert scores.hits_at_1 >= least, str(scores)
    assert scores.f1 >= least, str(scores)


def test_the_loader_leaves_out_what_it_is_told_to(metaqa: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "kb.txt").write_text("Up|directed_by|Pete Docter\nUp|release_year|2009\n", encoding="utf-8")
    with metaqa.load(tmp_path, without=frozenset({("Up", "release_year", "2009")})) as kg:
        assert kg.count() == 1 + 2 + 1, "a triple, the labels of two entities and of a relation"
        assert kg.labels([metaqa.entity("Pete Docter")]) == {str(metaqa.entity("Pete Docter")): "Pete Docter"}


def test_names_of_any_signs_have_iris_of_their_own(metaqa: ModuleType) -> None:
    names = ["$", "A/B", "a b", "a_b", "a%20b", "Amélie", "What?", "#1", "<b>", '"']
    iris = {str(metaqa.entity(name)) for name in names}
    assert len(iris) == len(names)
    assert all(iri.isascii() and " " not in iri for iri in iris)
