from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import XSD, Literal, URIRef

from mrag.completion import patterns
from mrag.completion.grounding import GroundingSettings, ground
from mrag.completion.patterns import (
    CompletedTriple,
    GroundedPlan,
    IncompleteTriple,
    Slot,
    TripleLookup,
    complete,
    complete_from_graph,
)
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.rdf.terms import OWL, Term, Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.completion.films import BY, GENRE, STARS, TRIPLES, WROTE, YEAR, X, f, films, plan
from tests.conftest import opened

Y, Z, R = map(Unknown, "yzr")


kg = opened(lambda _: films())


def done(kg: KnowledgeGraph, given_plan: patterns.TriplePlan, **knobs: object) -> patterns.Completion:
    return complete_from_graph(kg, GroundedPlan(given_plan), **knobs)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("triple", "answers"),
    [
        ((f("alien"), GENRE, X), [f("horror"), f("sf")]),
        ((X, GENRE, f("sf")), [f("alien"), f("runner")]),
        ((f("alien"), X, f("scott")), [BY]),
        ((f("scott"), BY, X), []),  # direction counts
        ((f("duellists"), X, f("scott")), [BY, WROTE]),  # parallel relations are all found
        ((X, YEAR, Literal("1979", datatype=XSD.gYear)), [f("alien")]),
        ((Literal("1979", datatype=XSD.gYear), BY, X), []),  # a literal is no subject
        ((f("alien"), Literal("1979"), X), []),  # nor a predicate
    ],
)
def test_each_place_may_be_unknown(
    kg: KnowledgeGraph, triple: tuple[Slot, Slot, Slot], answers: list[Term]
) -> None:
    found = done(kg, plan(triple))
    assert found.answers == answers
    assert found.missing == ([] if answers else [IncompleteTriple(*triple)])
    assert len(found.triples) == len(answers)


def test_two_places_may_be_unknown(kg: KnowledgeGraph) -> None:
    found = done(kg, plan((f("tiger"), R, X)))
    assert {(b["r"], b["x"]) for b in found.bindings} >= {(BY, f("lee")), (GENRE, f("wuxia"))}
    assert done(kg, plan((X, R, f("cruise")), answer=R)).answers == [STARS]
    assert len(done(kg, plan((X, YEAR, Y))).bindings) == 2
    nothing = done(kg, plan((X, R, Y)))  # of a pattern without anything known nothing is read
    assert nothing.bindings == [] and nothing.missing == [IncompleteTriple(X, R, Y)]


def test_one_unknown_twice_is_one_thing() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(f("a"), BY, f("a")), Triple(f("a"), BY, f("b"))])
        assert done(kg, plan((X, BY, X))).answers == [f("a")]


def test_triples_are_joined_over_shared_unknowns(kg: KnowledgeGraph) -> None:
    others = plan((f("alien"), BY, Y), (X, BY, Y), (X, STARS, Z), answer=Z, excluded=(f("alien"),))
    found = done(kg, others)
    assert found.answers == [f("cruise"), f("ford")]
    assert found.bindings == [
        {"x": f("legend"), "y": f("scott"), "z": f("cruise")},
        {"x": f("runner"), "y": f("scott"), "z": f("ford")},
    ]
    assert len(found.triples) == 5
    alien, runner = (f("alien"), BY, f("scott")), (f("runner"), BY, f("scott"))
    stars = (f("runner"), STARS, f("ford"))
    assert [t.terms for t in found.support[f("ford")]] == [alien, runner, stars]


def test_the_order_of_the_plan_does_not_matter_and_chains_may_meet(kg: KnowledgeGraph) -> None:
    triples = ((f("alien"), BY, Y), (X, BY, Y), (X, GENRE, Z))
    first, *others = (done(kg, plan(*order, answer=Z)) for order in permutations(triples))
    for again in others:
        assert again.answers == first.answers
        assert (again.bindings, again.triples) == (first.bindings, first.triples)
    assert done(kg, plan((X, BY, f("scott")), (X, STARS, f("ford")))).answers == [f("runner")]


def test_what_is_excluded_is_neither_an_answer_nor_a_step(kg: KnowledgeGraph) -> None:
    siblings = ((f("alien"), BY, Y), (X, BY, Y))
    assert f("alien") in done(kg, plan(*siblings)).answers
    assert f("alien") not in done(kg, plan(*siblings, excluded=(f("alien"),))).answers
    assert done(kg, plan((f("alien"), BY, X), excluded=(f("alien"),))).answers == [f("scott")]


def test_lookups_of_more_than_a_batch_are_whole() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(f("hub"), BY, f(f"n{n}")) for n in range(1203)])
        kg.insert([Triple(f(f"n{n}"), STARS, f(f"m{n}")) for n in range(1203)])
        found = done(kg, plan((f("hub"), BY, Y), (Y, STARS, X)))
        assert len(found.answers) == 1203
        assert not found.truncated


def test_lookups_that_are_cut_are_made_in_parts() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(f(f"n{n}"), STARS, f(f"m{m}")) for n in range(7) for m in range(30)])
        lookup = TripleLookup(kg, limit=40)
        found = lookup.find([(f(f"n{n}"), STARS, None) for n in range(7)])
        assert [len(triples) for triples in found.values()] == [30] * 7
        assert not lookup.truncated


def test_a_bound_on_solutions_is_told(kg: KnowledgeGraph) -> None:
    found = done(kg, plan((X, BY, f("scott"))), limit=2)
    assert len(found.answers) == 2
    assert found.truncated
    assert not done(kg, plan((X, BY, f("scott")))).truncated


TERMS = [f(name) for name in "abc"]
PREDICATES = [BY, STARS]
SLOTS = st.sampled_from([*TERMS, X, Y, Z])


@settings(max_examples=75)
@given(
    facts=st.sets(st.tuples(st.sampled_from(TERMS), st.sampled_from(PREDICATES), st.sampled_from(TERMS))),
    triples=st.lists(
        st.tuples(SLOTS, st.sampled_from([*PREDICATES, R]), SLOTS), min_size=1, max_size=3, unique=True
    ),
)
def test_a_join_is_what_trying_everything_gives(
    facts: set[tuple[URIRef, URIRef, URIRef]], triples: list[tuple[Slot, Slot, Slot]]
) -> None:
    names = sorted({slot.name for triple in triples for slot in triple if isinstance(slot, Unknown)})
    expected = []
    for values in product([*TERMS, *PREDICATES], repeat=len(names)):
        binding = dict(zip(names, values, strict=True))
        if all(IncompleteTriple(*t).bind(binding).slots in facts for t in triples):
            expected.append(binding)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(*fact) for fact in facts])
        found = done(kg, plan(*triples, answer=Unknown(names[0] if names else "x")))
    if any(all(isinstance(slot, Unknown) for slot in triple) for triple in triples) and not found.bindings:
        return  # nothing may be known of a pattern when its turn comes
    assert sorted(found.bindings, key=str) == sorted(expected, key=str)


def test_inferred_triples_count_and_are_marked() -> None:
    with films() as kg:
        kg.insert([Triple(f("directed"), URIRef(OWL + "inverseOf"), BY)])
        reason(kg)
        found = done(kg, plan((f("lee"), f("directed"), X)))
        assert found.answers == [f("tiger")]
        assert [t.status for t in found.triples] == ["inferred"]
        assert [t.status for t in done(kg, plan((f("tiger"), BY, X))).triples] == ["asserted"]


def test_what_was_written_back_is_told_from_what_the_data_said() -> None:
    with films() as kg:
        graph = f"{kg.iri}:completed:7"
        kg.store.insert(f"<{f('tiger')}> <{STARS}> <{f('yeoh')}> .".encode(), graph)
        kg.written(replace(kg.record, asserted=(*kg.record.asserted, graph)))
        [triple] = done(kg, plan((f("tiger"), STARS, X))).triples
        assert (triple.object, triple.status) == (f("yeoh"), "completed")


def test_of_several_candidates_the_closest_are_tried_first(kg: KnowledgeGraph) -> None:
    given_plan = plan(("Film", GENRE, X))

    def grounded(*pairs: tuple[str, float]) -> GroundedPlan:
        kept = tuple(patterns.TermCandidate(f(name), score, name) for name, score in pairs)
        return GroundedPlan(given_plan, {("Film", "entity"): kept})

    assert complete_from_graph(kg, grounded(("tiger", 1.0), ("alien", 0.97))).answers == [f("wuxia")]
    assert complete_from_graph(kg, grounded(("legend", 1.0), ("tiger", 0.97))).answers == [f("wuxia")]
    both = complete_from_graph(kg, grounded(("tiger", 1.0), ("alien", 1.0)))
    assert both.answers == [f("horror"), f("sf"), f("wuxia")]
    ranked = complete_from_graph(kg, grounded(("legend", 1.0), ("alien", 0.95), ("tiger", 0.97)))
    assert ranked.answers == [f("wuxia"), f("horror"), f("sf")], "better candidates come first"


def test_one_text_is_one_entity_in_all_triples(kg: KnowledgeGraph) -> None:
    kept = (patterns.TermCandidate(f("tiger"), 1.0, "a"), patterns.TermCandidate(f("legend"), 1.0, "b"))
    grounded = GroundedPlan(plan(("it", GENRE, X), ("it", STARS, Y)), {("it", "entity"): kept})
    assert complete_from_graph(kg, grounded).answers == [], "no film of the two has both"


def test_a_relation_in_words_is_also_tried_the_other_way(kg: KnowledgeGraph) -> None:
    swapped = ground(kg, plan(("Ridley Scott", "directed by", X)), GroundingSettings(model=None))
    found = complete_from_graph(kg, swapped)
    assert f("alien") in found.answers
    assert all(t.predicate == BY and t.object == f("scott") for t in found.triples), "as the graph has them"


def test_what_is_missing_is_bound_as_far_as_known(kg: KnowledgeGraph) -> None:
    found = done(kg, plan((f("tiger"), BY, Y), (X, BY, Y), (X, STARS, Z), answer=Z))
    assert found.bindings == []
    assert found.missing == [IncompleteTriple(f("tiger"), STARS, Z)]
    assert [t.terms for t in found.triples] == [(f("tiger"), BY, f("lee"))]


def test_a_text_that_is_not_grounded_is_missing_as_it_is(kg: KnowledgeGraph) -> None:
    grounded = ground(kg, plan(("Solaris", "directed by", X)), GroundingSettings(model=None))
    found = complete_from_graph(kg, grounded)
    assert found.ungrounded == (("Solaris", "entity"),)
    assert found.missing == [IncompleteTriple("Solaris", BY, X)]


def test_forms_of_one_missing_triple_are_bounded() -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([Triple(f("hub"), BY, f(f"n{n}")) for n in range(50)])
        assert len(done(kg, plan((f("hub"), BY, Y), (Y, STARS, X))).missing) == 20


class Notes:
    """Evidence in a list: the triples that match what is asked, where texts stand for what they name."""

    def __init__(self, *facts: tuple[str, Term, Term, Term]) -> None:
        self.facts = facts
        self.asked: list[IncompleteTriple] = []

    def complete(self, kg: KnowledgeGraph, triple: IncompleteTriple, k: int) -> list[CompletedTriple]:
        self.asked.append(triple)
        found = []
        for name, *terms in self.facts:
            same = [
                slot == term or isinstance(slot, Unknown) or str(slot) == name
                for slot, term in zip(triple.slots, terms, strict=True)
            ]
            if all(same):
                ref = EvidenceRef("urn:passage:1", "…", "passage", "notes.txt")
                found.append(CompletedTriple(*terms, "completed", (ref,), 0.8))  # type: ignore[arg-type]
        return found[:k]


def test_evidence_is_asked_where_the_graph_has_nothing_and_binds_what_follows(kg: KnowledgeGraph) -> None:
    notes = Notes(("", f("tiger"), STARS, f("weaver")))
    chain = plan((f("tiger"), STARS, Y), (X, STARS, Y), excluded=(f("tiger"),))
    found = complete(kg, GroundedPlan(chain), notes)
    assert found.answers == [f("alien")]
    assert notes.asked == [IncompleteTriple(f("tiger"), STARS, Y)]
    assert [t.status for t in found.triples] == ["asserted", "completed"]
    assert found.triples[1].evidence[0].iri == "urn:passage:1"


def test_evidence_may_name_what_the_graph_does_not_know(kg: KnowledgeGraph) -> None:
    notes = Notes(("Solaris", f("solaris"), BY, f("scott")))
    chain = plan(("Solaris", BY, Y), (X, BY, Y), excluded=("Solaris",))
    found = complete(kg, ground(kg, chain, GroundingSettings(model=None)), notes)
    assert notes.asked == [IncompleteTriple("Solaris", BY, Y)]
    assert set(found.answers) == {f("alien"), f("runner"), f("legend"), f("duellists")}


def test_what_hangs_on_something_missing_is_not_bound_to_chance(kg: KnowledgeGraph) -> None:
    found = done(kg, plan((X, BY, Y), (f("tiger"), STARS, Y)))
    assert found.missing == [IncompleteTriple(f("tiger"), STARS, Y)]
    assert found.triples == []
    notes = Notes()
    assert complete(kg, GroundedPlan(plan((f("tiger"), STARS, X))), notes).answers == []
    assert len(notes.asked) == 1, "each triple is asked for once"


def test_evidence_can_be_asked_for_what_the_graph_has_too(kg: KnowledgeGraph) -> None:
    notes = Notes(("", f("alien"), GENRE, f("wuxia")))
    grounded = GroundedPlan(plan((f("alien"), GENRE, X)))
    assert complete(kg, grounded, notes).answers == [f("horror"), f("sf")]
    assert notes.asked == []
    assert complete(kg, grounded, notes, always=True).answers == [f("horror"), f("sf"), f("wuxia")]


def test_evidence_that_always_has_more_comes_to_an_end(kg: KnowledgeGraph) -> None:
    class Endless:
        count = 0

        def complete(self, kg: KnowledgeGraph, triple: IncompleteTriple, k: int) -> list[CompletedTriple]:
            self.count += 1
            s, p, o = (
                f(f"new{self.count}{at}") if isinstance(x, Unknown) else x
                for at, x in enumerate(triple.slots)
            )
            return [CompletedTriple(s, p, o, "completed")]  # type: ignore[arg-type]

    chain = plan((f("tiger"), STARS, Y), (Y, f("knows"), Z), (Z, f("knows"), X))
    source = Endless()
    assert len(complete(kg, GroundedPlan(chain), source).answers) == 1
    complete(kg, GroundedPlan(chain), source, always=True)
    assert source.count < 1000


def test_what_stands_in_the_graph_is_not_told_as_read(kg: KnowledgeGraph) -> None:
    fact = CompletedTriple(f("alien"), BY, f("scott"), "completed", (), 0.5)
    found = complete_from_graph(kg, GroundedPlan(plan((f("alien"), BY, X))), facts=[fact])
    assert [t.status for t in found.triples] == ["asserted"]
    assert found.triples[0].confidence == 1.0


def test_keys_that_rdf_does_not_allow_find_nothing(kg: KnowledgeGraph) -> None:
    key = (Literal("x"), BY, None)
    assert TripleLookup(kg).find([key]) == {key: []}
    assert TripleLookup(kg).find([]) == {}


def test_all_of_the_graph_can_be_read_back(kg: KnowledgeGraph) -> None:
    for triple, shape in product(TRIPLES, product((True, False), repeat=3)):
        key: Any = tuple(term if known else None for term, known in zip(triple, shape, strict=True))
        if any(shape):
            assert triple in [t.terms for t in TripleLookup(kg).find([key])[key]]
