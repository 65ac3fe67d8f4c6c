"""The schemas of the loaders and of the views: documented, sound, and covering what is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rdflib import OWL, RDF, RDFS, Graph, URIRef

from mrag.graph import views
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.scenes import Fashionpedia, SceneGraphs
from mrag.reasoning.run import reason
from mrag.testing.annotations import write_annotations
from tests.conftest import ROOT

FILES = (
    "fashionpedia.ttl",
    "fashionpedia-images.ttl",
    "fashionpedia-cel.ttl",
    "fashionpedia-garments.ttl",
    "scenes.ttl",
)
B = "http://example.org/"


@pytest.mark.parametrize("name", FILES)
def test_every_term_is_explained_and_has_one_domain_and_range(name: str) -> None:
    graph = Graph().parse(ROOT / "ontology" / name)
    properties = {
        *graph.subjects(RDF.type, OWL.ObjectProperty),
        *graph.subjects(RDF.type, OWL.DatatypeProperty),
    }
    classes = {c for c in graph.subjects(RDF.type, OWL.Class) if isinstance(c, URIRef)}
    assert classes and properties
    for term in classes | properties:
        for about in (RDFS.label, RDFS.comment):
            (text,) = graph.objects(term, about)
            assert text.language == "en" and str(text).strip(), term  # type: ignore[union-attr]
    for term in properties:
        assert len(list(graph.objects(term, RDFS.range))) == 1, term
        # Objects and regions both have boxes.
        assert len(list(graph.objects(term, RDFS.domain))) == (not str(term).endswith("#hasBoundingBox")), (
            term
        )
    known = classes | {OWL.Class}
    for p in (RDFS.domain, RDFS.range):
        for term in graph.objects(predicate=p):
            assert not isinstance(term, URIRef) or term in known or "XMLSchema" in term, term


def undeclared(kg: KnowledgeGraph) -> set[str]:
    rows = kg.query(
        "SELECT DISTINCT ?p { ?s ?p ?o FILTER NOT EXISTS { ?p a owl:ObjectProperty }"
        " FILTER NOT EXISTS { ?p a owl:DatatypeProperty } FILTER(STRSTARTS(STR(?p), 'http://example.org/')) }"
    )
    classes = kg.query(
        "SELECT DISTINCT ?c { ?s a ?c FILTER NOT EXISTS { ?c a owl:Class }"
        " FILTER(STRSTARTS(STR(?c), 'http://example.org/')) }"
    )
    return {str(t) for found in (rows, classes) for (t,) in found}  # type: ignore[union-attr, misc]


def test_all_that_is_made_of_annotations_is_declared_and_consistent(
    tmp_path: Path, kg: KnowledgeGraph
) -> None:
    write_annotations(tmp_path / "a.json", scale=0.001)
    with Fashionpedia(tmp_path / "a.json", boxes=True, masks=True).ntriples() as triples:
        kg.load([triples])
    made = views.make_views(kg, {name: name.replace("/", "-") for name in views.VIEWS})
    for graph in (kg, *made.values()):
        assert undeclared(graph) == set()
        assert reason(graph).clashes == ()


def test_all_that_is_made_of_scene_graphs_is_declared_and_consistent(
    tmp_path: Path, kg: KnowledgeGraph
) -> None:
    rows = [
        {"image_id": 1, "region_id": 1, "caption": "a", "triples": [["a", "v:on", "b"], ["a", "is", "on"]]},
        {"image_id": 2, "url": "http://example.com/2", "width": 3, "height": 4, "x": 1},
        {
            "image_id": 3,
            "objects": [{"object_id": 1, "names": ["a"], "x": 1, "y": 1, "w": 2, "h": 2}],
            "regions": [{"region_id": 4, "phrase": "an a", "x": 1, "y": 1, "width": 2, "height": 2}],
        },
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows))
    with SceneGraphs(path).ntriples() as triples:
        kg.load([triples])
    assert undeclared(kg) == set()
    assert reason(kg).clashes == ()
    assert kg.query(f"ASK {{ <{B}image_3> <{B}scenes#hasObject> [ a <{B}scenes#Object> ] }}")
