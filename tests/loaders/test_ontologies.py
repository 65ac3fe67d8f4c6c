"""The schemas of loaders and views cover what is made; what ontologies import is local, and never fetched."""

from pathlib import Path

import pytest
from rdflib import OWL, RDF, RDFS, Graph, URIRef

import mrag
from mrag.errors import LoadError
from mrag.graph import views
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.rdf import OUTSIDE, Source, with_imports
from mrag.loaders.scenes import Fashionpedia, SceneGraphs
from mrag.reasoning.run import reason
from tests.conftest import ROOT
from tests.made import write_annotations

FILES = (
    "fashionpedia.ttl", "fashionpedia-images.ttl", "fashionpedia-cel.ttl", "fashionpedia-garments.ttl",
    "scenes.ttl",
)  # fmt: skip
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


def test_what_is_made_of_annotations_is_declared_and_consistent(tmp_path: Path, kg: KnowledgeGraph) -> None:
    write_annotations(tmp_path / "a.json", scale=0.001)
    with Fashionpedia(tmp_path / "a.json", boxes=True, masks=True).ntriples() as triples:
        kg.load([triples])
    made = views.make_views(kg, {name: name.replace("/", "-") for name in views.VIEWS})
    for graph in (kg, *made.values()):
        assert undeclared(graph) == set()
        assert reason(graph).clashes == ()


def test_what_is_made_of_scene_graphs_is_declared_and_consistent(tmp_path: Path, kg: KnowledgeGraph) -> None:
    with SceneGraphs(Path(__file__).with_name("scenes.json")).ntriples() as triples:
        kg.load([triples])
    assert undeclared(kg) == set()
    assert reason(kg).clashes == ()
    assert kg.query(f"ASK {{ <{B}image_3> <{B}scenes#hasObject> [ a <{B}scenes#Object> ] }}")


HEAD = "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <http://e.org/> .\n"


def ontology(path: Path, iri: str, *imported: str, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"<{iri}> a owl:Ontology .", *(f"<{iri}> owl:imports <{other}> ." for other in imported), more]
    path.write_text(HEAD + "\n".join(lines), encoding="utf-8")
    return path


def names(*paths: Path) -> list[str]:
    return [source.path.name for source in with_imports([Source.of(path) for path in paths])]


def test_imports_of_imports_are_found_in_the_folder_whatever_their_files_are_called(tmp_path: Path) -> None:
    first = ontology(tmp_path / "first.ttl", "http://e.org/1", "http://e.org/2")
    ontology(tmp_path / "zzz.ttl", "http://e.org/2", "http://e.org/3", "http://e.org/1")
    ontology(tmp_path / "3.ttl", "http://e.org/other")
    ontology(tmp_path / "aaa.ttl", "http://e.org/3", "http://e.org/3")
    (tmp_path / "broken.ttl").write_text("no turtle", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("http://e.org/3", encoding="utf-8")
    assert names(first) == ["first.ttl", "zzz.ttl", "aaa.ttl"]
    assert names(first, tmp_path / "aaa.ttl") == ["first.ttl", "aaa.ttl", "zzz.ttl"], "each once"


def test_a_graph_has_what_was_imported_only_if_that_was_asked_for(tmp_path: Path) -> None:
    cats = ontology(tmp_path / "cats.ttl", "http://e.org/cats", "http://e.org/pets", more=":tom a :Cat .")
    ontology(tmp_path / "pets.ttl", "http://e.org/pets", more=":Cat a owl:Class .")
    asked = "ASK { <http://e.org/Cat> a owl:Class }"
    with mrag.connect() as kg:
        kg.load([cats])
        assert not kg.query(asked)
        kg.load([cats], imports=True)
        assert kg.query(asked)


def test_an_import_that_is_not_here_is_refused_or_named(tmp_path: Path) -> None:
    cats = ontology(tmp_path / "cats.ttl", "http://e.org/cats", "http://e.org/pets", more=":tom a :Cat .")
    with mrag.connect() as kg:
        with pytest.raises(LoadError, match="no file here is that ontology") as refused:
            kg.load([cats], imports=True)
        assert refused.value.hint and "nothing is fetched" in refused.value.hint
        assert kg.count() == 0


def test_links_stay_in_the_folder_of_a_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = ontology(tmp_path / "secret.ttl", "urn:s", more="<urn:s> <urn:p> 'secret' .")
    first = ontology(tmp_path / "load" / "a.ttl", "urn:a", "urn:s")
    (first.parent / "link.ttl").symlink_to(secret)
    with mrag.connect() as kg:
        with pytest.raises(LoadError, match="no file here is that ontology"):
            kg.load([first], imports=True)
        with pytest.raises(LoadError, match="A link leads out of the folder"):
            kg.load([first.parent])
        monkeypatch.setenv(OUTSIDE, "1")
        kg.load([first.parent])
        assert kg.count() == 4
