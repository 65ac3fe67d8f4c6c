"""Codes from a store: neighbourhoods of entities, and scene graphs as their loader leaves them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rdflib import RDF, RDFS, Literal, Namespace, URIRef

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.sources import (
    CodeNormaliser,
    NeighbourhoodSettings,
    from_scene_triples,
    neighbourhood,
    neighbourhoods,
    regions,
    scene_codes,
)
from mrag.loaders.scene_graph import SceneGraphs
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


def test_settings_say_what_is_an_edge(towns: KnowledgeGraph) -> None:
    def found(**knobs: object) -> set[tuple[str, str, str]]:
        return edges(neighbourhood(towns, str(E.ann), NeighbourhoodSettings(**knobs)))  # type: ignore[arg-type]

    lives = (str(E.ann), str(E.livesIn), str(E.rome))
    assert found(allowed=(str(E.livesIn),)) == {lives}
    assert lives not in found(denied=(str(E.livesIn),))
    assert found(directions=("in",)) == {
        (str(E.bob), str(E.knows), str(E.ann)),
        (str(E.ann), str(E.likes), str(E.ann)),
    }
    assert (str(E.rome), str(E.partOf), str(E.italy)) in found(hops=2)
    assert len(found(max_links=1, directions=("out",))) == 1


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
    found = dict(neighbourhoods(kg, [str(E.b), str(E.hub), str(E.zed)], NeighbourhoodSettings(max_links=50)))
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
    assert edges(neighbourhood(kg, P + "GraphDB", NeighbourhoodSettings(layer="asserted"))) == edges(before)


@pytest.mark.parametrize(
    "knobs", [{"hops": 3}, {"max_links": 0}, {"directions": ()}, {"directions": ("up",)}]
)
def test_settings_that_make_no_sense(knobs: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        NeighbourhoodSettings(**knobs)  # type: ignore[arg-type]


# -- scene graphs ------------------------------------------------------------------------------------------

ROWS = [
    {
        "image_id": 7, "region_id": 1, "caption": "a man in a red coat near another man",
        "triples": [["man", "v:wear", "coat"], ["coat", "is", "red"], ["man:1", "near", "man"],
                    ["coat", "pv:hang on", "man"]],
    },
    {"image_id": 7, "region_id": 2, "caption": "a dog", "triples": [["dog", "is", "brown"]]},
]  # fmt: skip


def scenes(kg: KnowledgeGraph, folder: Path) -> KnowledgeGraph:
    source = folder / "a.jsonl"
    source.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    lines = folder / "a.nt"
    lines.write_text("".join(f"{t} .\n" for t in SceneGraphs(source).triples()), encoding="utf-8")
    kg.load([lines])
    return kg


def test_a_scene_comes_back_from_the_store(any_kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg = scenes(any_kg, tmp_path)
    first, second = "http://example.org/region_7/1", "http://example.org/region_7/2"
    assert regions(kg) == {first: "a man in a red coat near another man", second: "a dog"}
    found = dict(scene_codes(kg))
    assert edges(found[first]) == {
        ("man", "wear", "coat"),
        ("coat", "is", "red"),
        ("man:1", "near", "man"),
        ("coat", "pv:hang on", "man"),
    }
    assert found[first].by_id["man:1"].name == "man"
    assert edges(found[second]) == {("dog", "is", "brown")}
    plain = CodeNormaliser()
    assert plain(found[first]) == plain(from_scene_triples(ROWS[0]["triples"]))  # type: ignore[arg-type]
    assert dict(scene_codes(kg, [second])) == {second: found[second]}
    assert (
        dict(scene_codes(kg, ["http://example.org/region_9/9"]))["http://example.org/region_9/9"]
        == GraphCode()
    )


@pytest.mark.parametrize("triple", [("a", "b"), ("a", "b", 3), ("a", " ", "c")])
def test_what_is_no_triple_is_refused(triple: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        from_scene_triples([triple])
