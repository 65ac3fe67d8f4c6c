"""MetaQA: exact answer sets by gold plans, the planner on questions it has not seen, and missing answers.

The whole measurements are benchmarks/metaqa.py and completion_incomplete.py; here all gold plans are
tried, the planner is measured on a few questions, and a few missing answers are read.
"""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from mrag.completion.grounding import GroundingSettings, PathPlanner, ground
from mrag.completion.patterns import GroundedPlan, complete_from_graph
from mrag.graph.kg import KnowledgeGraph
from tests.conftest import ROOT, shared_data

HOPS = (1, 2, 3)


def benchmark(name: str) -> Iterator[ModuleType]:
    """Import a benchmark, which knows the collection, with what stands beside it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        for one in ("common", "metaqa", "completion_incomplete"):
            patch.delitem(sys.modules, one, raising=False)
        yield import_module(name)


@pytest.fixture(scope="module")
def metaqa() -> Iterator[ModuleType]:
    yield from benchmark("metaqa")


@pytest.fixture
def incomplete() -> Iterator[ModuleType]:
    yield from benchmark("completion_incomplete")


@pytest.fixture(scope="module")
def folder() -> Path:
    return shared_data("metaqa")


@pytest.fixture(scope="module")
def kg(metaqa: ModuleType, folder: Path) -> Iterator[KnowledgeGraph]:
    with metaqa.load(folder) as graph:
        yield graph


@pytest.mark.slow
@pytest.mark.parametrize("hops", HOPS)
def test_gold_plans_give_gold_rows(metaqa: ModuleType, folder: Path, kg: KnowledgeGraph, hops: int) -> None:
    asked = metaqa.questions(folder / f"dev_{hops}hop.jsonl")
    assert len(asked) == 1000
    for number, q in enumerate(asked):
        plan = metaqa.gold_plan(q)
        answers = complete_from_graph(kg, GroundedPlan(plan)).answers
        assert set(answers) == {metaqa.entity(a) for a in q.answers}, q.text
        if number < 50:  # in words it is grounded to the same
            spoken = ground(kg, metaqa.spoken(plan, q), GroundingSettings(model=None))
            assert spoken.plan.triples == plan.triples


@pytest.mark.slow
@pytest.mark.parametrize(("hops", "least"), [(1, 0.70), (2, 0.50)])
def test_the_planner_without_a_model_answers_questions_it_has_not_seen(
    metaqa: ModuleType, folder: Path, kg: KnowledgeGraph, hops: int, least: float
) -> None:
    planner = PathPlanner(kg, model="minilm")
    asked = metaqa.questions(folder / f"dev_{hops}hop.jsonl")[:120]
    scores = [
        metaqa.scored(
            metaqa.names_of(kg, complete_from_graph(kg, GroundedPlan(planner.plan(q.text))).answers),
            q.answers,
        )
        for q in asked
    ]
    hits, _, f1 = (sum(column) / len(scores) for column in zip(*scores, strict=True))
    assert min(hits, f1) >= least, (hits, f1)


def test_the_loader_leaves_out_what_it_is_told_to(metaqa: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "kb.txt").write_text("Up|directed_by|Pete Docter\nUp|release_year|2009\n", encoding="utf-8")
    with metaqa.load(tmp_path, without=frozenset({("Up", "release_year", "2009")})) as kg:
        assert kg.count() == 1 + 2 + 1, "a triple, the labels of two entities and of a relation"
        assert kg.labels([metaqa.entity("Pete Docter")]) == {str(metaqa.entity("Pete Docter")): "Pete Docter"}


def test_names_of_any_signs_have_iris_of_their_own(metaqa: ModuleType) -> None:
    names = ["$", "A/B", "a b", "a_b", "a%20b", "Amélie", "What?", "#1", "<b>", '"']
    iris = {str(metaqa.entity(name)) for name in names}
    assert len(iris) == len(names) and all(iri.isascii() and " " not in iri for iri in iris)


@pytest.mark.slow
def test_missing_answers_are_found_and_written_back(incomplete: ModuleType, folder: Path) -> None:
    found = incomplete.run(folder, sample=15, seed=5)
    assert found.questions == 15 and found.before == 0, "no question can be answered in full before"
    assert found.precision >= 0.9 and found.recall >= 0.7, found.wrong
    assert found.after >= 0.65 * found.questions
    # Denials, hearsay, orders, sequels and wrong kinds: hardly anything that is not asked for came in.
    assert len(found.wrong) <= 1, found.wrong


@pytest.mark.slow
def test_texts_follow_their_seed_and_not_the_readers_words(incomplete: ModuleType, folder: Path) -> None:
    one, again, other = (incomplete.corpus(folder, seed=s) for s in (3, 3, 4))
    assert one.texts == again.texts != other.texts
    assert len(one.missing) == one.counts["missing facts"] == 213
    # Names alone would not find most: few wordings have a word of their relation's name in them.
    for relation, wordings in incomplete.WORDINGS.items():
        parts = [part[:5] for part in relation.split("_") if len(part) > 3]
        assert len([w for w in wordings if any(part in w for part in parts)]) <= 2, relation
