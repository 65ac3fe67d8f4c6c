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
from hypothesis import example, given
from hypothesis import strategies as st

from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import GroundingSettings, ground
from mrag.completion.measures import contained, exact_match, hits_at_1, normalised, score, set_f1
from mrag.completion.path_planner import PathPlanner
from mrag.completion.patterns import GroundedPlan
from mrag.graph.kg import KnowledgeGraph
from tests.cases import cases
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
def test_gold_plans_give_gold_answers(
    metaqa: ModuleType, folder: Path, kg: KnowledgeGraph, hops: int
) -> None:
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
    found = {
        q.text: metaqa.names_of(kg, complete_from_graph(kg, GroundedPlan(planner.plan(q.text))).answers)
        for q in asked
    }
    scores = score(found, {q.text: q.answers for q in asked})
    assert scores.questions > 100 and min(scores.hits_at_1, scores.f1) >= least, str(scores)


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


SPELT = ["Up", "up!", "Heat", "The Heat", "", "  ", "Amélie", "amelie", "$"]
NAMES = st.lists(st.sampled_from(SPELT), max_size=4)


@pytest.mark.parametrize(("left", "right"), cases(__file__, "spellings"))
def test_spellings_of_one_answer_are_equal(left: str, right: str) -> None:
    assert normalised(left) == normalised(right)


@pytest.mark.parametrize(("found", "gold", "exact", "f1", "first"), cases(__file__, "sets"))
def test_sets_and_first_answers_are_compared(
    found: list[str], gold: list[str], exact: float, f1: float, first: float
) -> None:
    assert (exact_match(found, gold), set_f1(found, gold), hits_at_1(found, gold)) == (exact, f1, first)


@pytest.mark.parametrize(("text", "gold", "held"), cases(__file__, "contained"))
def test_containment_is_of_whole_words(text: str, gold: list[str], held: float) -> None:
    assert contained(text, gold) == held


def test_questions_without_an_answer_count() -> None:
    scores = score({"a": ["Up"]}, {"a": ["Up"], "b": ["Heat"], "c": ["Heat"]})
    assert scores.questions == 3
    assert scores.hits_at_1 == scores.exact_match == scores.f1 == scores.accuracy == pytest.approx(1 / 3)
    assert score({}, {}).questions == 0
    assert score({}, {"a": ["Up"]}, {"a": "It is Up."}).accuracy == 1.0


@given(NAMES, NAMES)
@example(["$", ""], ["$"])
@example(["The The", "a"], ["the the", "A"])
def test_measures_agree_with_each_other(found: list[str], gold: list[str]) -> None:
    exact, f1 = exact_match(found, gold), set_f1(found, gold)
    assert 0 <= f1 <= 1 and (exact == 1.0) == (f1 == 1.0)
    assert set_f1(gold, found) == f1 and exact_match(list(reversed(found)), gold) == exact
    if exact == 1.0 and found and normalised(found[0]):
        assert hits_at_1(found, gold) == 1.0
        assert contained(", ".join(found), gold) == 1.0
