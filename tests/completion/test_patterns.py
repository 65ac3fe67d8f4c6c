from __future__ import annotations

import pytest
from rdflib import Literal, URIRef

from mrag.completion.graph import complete_from_graph
from mrag.completion.patterns import (
    GroundedPlan,
    IncompleteTriple,
    TermCandidate,
    TriplePlan,
    is_text,
    with_slots,
    with_terms,
)
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Unknown
from mrag.planning.run import run
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

X, Y = Unknown("x"), Unknown("y")
ALIEN, BY = URIRef("urn:alien"), URIRef("urn:by")


def test_terms_are_told_from_texts_although_both_are_strings() -> None:
    assert is_text("urn:alien")
    assert not is_text(ALIEN)
    assert not is_text(Literal("alien"))
    assert not is_text(X)


def test_unknowns_are_found_in_order_and_once() -> None:
    assert list(IncompleteTriple(X, Y, X).unknowns()) == [X, Y]
    assert list(IncompleteTriple("a", "b", "c").unknowns()) == []


def test_binding_replaces_the_unknowns_it_names_and_no_others() -> None:
    bound = IncompleteTriple(X, "by", Y).bind({"x": ALIEN, "z": BY})
    assert bound == IncompleteTriple(ALIEN, "by", Y)
    assert isinstance(bound.subject, URIRef)


def test_a_plan_lists_its_texts_with_their_roles() -> None:
    triples = (IncompleteTriple("Alien", "by", X), IncompleteTriple(X, "by", "by"))
    plan = TriplePlan("?", (), triples, X, "hand", excluded=("Alien", "Legend"))
    assert list(plan.texts()) == [
        ("Alien", "entity"),
        ("by", "relation"),
        ("by", "entity"),
        ("Legend", "entity"),
    ]


def test_one_text_may_be_an_entity_and_a_relation() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("by", "by", X),), X, "hand", excluded=("by",))
    grounded = with_terms(plan, {("by", "entity"): ALIEN, ("by", "relation"): BY})
    assert grounded.triples == (IncompleteTriple(ALIEN, BY, X),)
    assert grounded.excluded == (ALIEN,)
    assert plan.triples[0].subject == "by", "the plan itself is as it was"


def test_places_are_replaced_by_role() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("a", "b", "c"),), X, "hand")
    put = with_slots(plan, lambda slot, role: f"{role} {slot}")
    assert put.triples[0].slots == ("entity a", "relation b", "entity c")


def test_a_grounded_plan_gives_the_terms_of_any_slot() -> None:
    plan = TriplePlan("?", (), (IncompleteTriple("Alien", BY, X),), X, "hand")
    kept = (TermCandidate(ALIEN, 1.0, "Alien"), TermCandidate(BY, 0.9, "Alien"))
    grounded = GroundedPlan(plan, {("Alien", "entity"): kept})
    assert grounded.planned is plan
    assert grounded.terms("Alien", "entity") == (ALIEN, BY)
    assert grounded.terms("Alien", "relation") == ()
    assert grounded.terms(BY, "relation") == (BY,)
    assert grounded.terms(X, "entity") == ()


@pytest.mark.parametrize("slot", [X, "text", ALIEN])
def test_triples_can_be_kept_in_sets(slot: object) -> None:
    assert len({IncompleteTriple(slot, BY, X), IncompleteTriple(slot, BY, X)}) == 1  # type: ignore[arg-type]


def test_a_grounded_plan_is_a_query_plan() -> None:
    kg = KnowledgeGraph(OxigraphStore())
    maker, sold = URIRef("urn:maker"), URIRef("urn:sold")
    kg.insert(
        [
            Triple(URIRef("urn:a"), maker, URIRef("urn:acme")),
            Triple(URIRef("urn:b"), maker, URIRef("urn:acme")),
            Triple(URIRef("urn:a"), sold, URIRef("urn:shop")),
            Triple(URIRef("urn:b"), sold, URIRef("urn:stall")),
        ]
    )
    x, y = Unknown("x"), Unknown("y")
    triples = (IncompleteTriple(x, maker, URIRef("urn:acme")), IncompleteTriple(x, sold, y))
    plan = TriplePlan("Where else?", (), triples, y, "hand", excluded=(URIRef("urn:shop"),))
    assert run(kg, plan.query_plan()).rows == ((URIRef("urn:stall"),),)
    assert complete_from_graph(kg, GroundedPlan(plan)).answers == [URIRef("urn:stall")]
    with pytest.raises(ConfigError, match="no query yet"):
        TriplePlan("?", (), (IncompleteTriple("Alien", maker, x),), x, "hand").query_plan()
    kg.close()
