"""Codes from a store: neighbourhoods of entities; and triples of scene graphs."""

import pytest
from rdflib import RDF, RDFS, Literal, Namespace, URIRef

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.sources import from_scene_triples, neighbourhood, neighbourhoods
from mrag.rdf.terms import SKOLEM, Triple
from tests.conftest import PRODUCTS

E = Namespace("http://example.org/x#")
P = "https://w3id.org/mrag/demo/products#"


def edges(code: GraphCode) -> set[tuple[str, str, str]]:
    return {edge.key for edge in code.edges}


# -- neighbourhoods ----------------------------------------------------------------------------------------


@pytest.fixture
def towns(any_kg: KnowledgeGraph) -> KnowledgeGraph:
    any_kg.insert([
        Triple(E.ann, E.livesIn, E.rome), Triple(E.ann, RDF.type, E.Person),
        Triple(E.ann, RDFS.label, Literal("Ann")),
        Triple(E.bob, E.knows, E.ann), Triple(E.rome, E.partOf, E.italy), Triple(E.rome, RDF.type, E.City),
        Triple(E.ann, E.age, Literal(7)), Triple(E.ann, E.likes, E.ann),
        Triple(E.ann, E.has, URIRef(SKOLEM + "1")),
    ])  # fmt: skip
    return any_kg


def test_a_code_has_the_links_of_an_entity_in_both_directions(towns: KnowledgeGraph) -> None:
    code = neighbourhood(towns, str(E.ann))
    assert edges(code) == {
        (str(E.ann), str(E.livesIn), str(E.rome)),
        (str(E.bob), str(E.knows), str(E.ann)),
        (str(E.ann), str(E.likes), str(E.ann)),
    }
    assert code.by_id[str(E.ann)].label == "Ann"
    assert code.by_id[str(E.ann)].types == {str(E.Person)}
    assert code.by_id[str(E.rome)].types == {str(E.City)}


def test_codes_reach_as_far_as_asked(towns: KnowledgeGraph) -> None:
    further = (str(E.rome), str(E.partOf), str(E.italy))
    assert further in edges(neighbourhood(towns, str(E.ann), hops=2))
    assert len(neighbourhood(towns, str(E.ann), max_links=1).edges) == 2, "one of each direction"


def test_what_is_not_there_has_a_code_of_itself(towns: KnowledgeGraph) -> None:
    assert neighbourhood(towns, str(E.nobody)).dictionary == (str(E.nobody),)


def test_codes_come_in_the_order_of_the_entities_each_once(towns: KnowledgeGraph) -> None:
    asked = [str(E.rome), str(E.ann), str(E.rome)]
    found = list(neighbourhoods(towns, asked))
    assert [entity for entity, _ in found] == asked[:2]
    assert found[1][1] == neighbourhood(towns, str(E.ann))
    assert list(neighbourhoods(towns, [])) == []


def test_a_hub_takes_no_room_from_others(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(E[f"n{i:04}"], E.near, E.hub) for i in range(600)])
    kg.insert([Triple(E.a, E.near, E.b)])
    found = dict(neighbourhoods(kg, [str(E.b), str(E.hub), str(E.zed)], max_links=50))
    assert edges(found[str(E.b)]) == {(str(E.a), str(E.near), str(E.b))}
    assert len(found[str(E.hub)].edges) == 50
    assert found[str(E.zed)].edges == ()


def test_the_products_have_codes_with_inferred_classes(kg: KnowledgeGraph) -> None:
    kg.load([PRODUCTS])
    from mrag.reasoning.run import reason

    before = neighbourhood(kg, P + "GraphDB")
    reason(kg)
    after = neighbourhood(kg, P + "GraphDB")
    assert before.by_id[P + "GraphDB"].types < after.by_id[P + "GraphDB"].types


@pytest.mark.parametrize("knobs", [{"hops": 3}, {"max_links": 0}])
def test_settings_that_make_no_sense(kg: KnowledgeGraph, knobs: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        neighbourhood(kg, str(E.ann), **knobs)


# -- scene graphs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("triple", [("a", "b"), ("a", "b", 3), ("a", " ", "c")])
def test_what_is_no_triple_is_refused(triple: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        from_scene_triples([triple])
