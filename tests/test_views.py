"""Views made by query: equal to what a plain program makes, apart from their source, and landing whole."""

import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError
from mrag.graph import views
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.scenes import Fashionpedia
from mrag.rdf.terms import Triple, to_ox
from mrag.reasoning.run import reason
from mrag.stores.base import Capabilities
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.workers import WorkerPool
from tests.annotations import Data, expected
from tests.cases import cases
from tests.conftest import shared_data
from tests.fuseki_server import fuseki_server
from tests.made import write_annotations

BASE = "http://example.org/"
GARMENTS = "http://example.org/garments#"
VIEWS = ("fashion/images", "fashion/cel", "fashion/garments")
SMALL: Data = cases(__file__, "SMALL")


def loaded(data: Data, kg: KnowledgeGraph) -> KnowledgeGraph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "annotations.json"
        path.write_text(json.dumps(data))
        with Fashionpedia(path).ntriples() as triples:
            kg.load([triples])
    return kg


def facts(kg: KnowledgeGraph) -> set[ox.Triple]:
    """The asserted triples without the ontology of the package."""
    out = io.BytesIO()
    kg.dump(out)
    schemas = {"Image", "Attribute", "AnnotationCategory", "AnnotationSupercategory", "AttributeCategory"}
    ontology = {b + s for b in (BASE, GARMENTS) for s in (*schemas, "Garment")}
    own = (f"{BASE}has", f"{BASE}fashion", f"{GARMENTS}has", f"{BASE}garments>")
    return {
        q.triple
        for q in ox.parse(out.getvalue(), ox.RdfFormat.N_TRIPLES)
        if q.subject.value not in ontology and not f"{q.subject.value}>".startswith(own)
    }


def sentences(data: Data) -> dict[int, set[str]]:
    """The sentences of each image, in the published wording."""
    categories = {c["id"]: c for c in data["categories"]}
    attributes = {a["id"]: a for a in data["attributes"]}
    found: dict[int, set[str]] = {}
    for annotation in data["annotations"]:
        category = categories[annotation["category_id"]]
        text = "Contains " + category["name"]
        if category.get("supercategory"):
            text += f" from supercategory '{category['supercategory']}'"
        phrases = []
        for number in {*annotation["attribute_ids"]}:
            attribute = attributes[number]
            of = attribute.get("supercategory")
            phrases.append(attribute["name"] + (f" of supercategory '{of}'" if of else ""))
        if phrases:
            text += " with the following attributes: " + ", ".join(sorted(phrases))
        found.setdefault(annotation["image_id"], set()).add(text)
    return found


def made_by_hand(data: Data, name: str) -> set[ox.Triple]:
    """The triples of a view."""
    found = expected(data, name.rpartition("/")[2])
    if name == "fashion/images":
        described = ox.NamedNode(BASE + "hasDescription")
        for number, texts in sentences(data).items():
            image = ox.NamedNode(f"{BASE}image_{number}")
            found |= {ox.Triple(image, described, ox.Literal(text)) for text in texts}
    return found


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda name: name.strip()
)


@st.composite
def annotated(draw: st.DrawFn) -> Data:
    def named(numbers: list[int]) -> list[dict[str, Any]]:
        group = st.one_of(st.none(), st.just("group 'a'"), NAMES)
        return [{"id": n, "name": draw(NAMES), "supercategory": draw(group)} for n in numbers]

    def some(most: int) -> st.SearchStrategy[list[int]]:
        return st.lists(st.integers(0, 400), min_size=1, max_size=most, unique=True)

    images, categories, attributes = draw(some(4)), draw(some(3)), draw(some(4))
    return {
        "images": [{"id": n, "file_name": draw(NAMES), "width": draw(st.integers(0, 9))} for n in images],
        "categories": named(categories),
        "attributes": named(attributes),
        "annotations": [
            {
                "id": n,
                "image_id": draw(st.sampled_from(images)),
                "category_id": draw(st.sampled_from(categories)),
                "attribute_ids": draw(st.lists(st.sampled_from(attributes), max_size=5)),
            }
            for n in draw(some(8))
        ],
    }


@given(annotated())
@settings(max_examples=20)
def test_a_view_is_what_a_plain_program_makes(data: Data) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        loaded(data, kg)
        for name in VIEWS:
            made = views.make_view(kg, name, name.replace("/", "-"))
            assert facts(made) == made_by_hand(data, name), name


def opened(url: str, name: str = "main") -> KnowledgeGraph:
    import mrag

    return mrag.connect(url, name)


def test_sentences_have_the_published_wording(kg: KnowledgeGraph) -> None:
    images = views.make_view(loaded(SMALL, kg), "fashion/images", "images")
    described = URIRef(BASE + "hasDescription")
    rows = images.query(f"SELECT ?i ?d {{ ?i <{described}> ?d }} ORDER BY ?i ?d")
    told = [[str(i).rpartition("_")[2], str(d)] for i, d in rows]  # type: ignore[union-attr, misc]
    assert told == cases(__file__, "sentences")


def test_garments_keep_the_binding_that_the_flat_graph_loses(kg: KnowledgeGraph) -> None:
    loaded(SMALL, kg)
    cel = views.make_view(kg, "fashion/cel", "cel")
    garments = views.make_view(kg, "fashion/garments", "garments")
    reason(garments)
    top = "top,_t-shirt,_sweatshirt"
    flat = (
        f"SELECT ?i {{ ?i <{BASE}hasAnnotationCategory> <{BASE}annotation_category_{top}> ;"
        f" <{BASE}hasAttribute> <{BASE}attribute_tight_(fit)> }} ORDER BY ?i"
    )
    bound = (
        f"SELECT ?i {{ ?i <{GARMENTS}hasGarment> ?g . ?g a <{GARMENTS}category_{top}> ;"
        f" <{GARMENTS}hasAttribute> [ a <{GARMENTS}attribute_tight_(fit)> ] }} ORDER BY ?i"
    )
    assert [str(i) for (i,) in cel.query(flat)] == [BASE + "image_1", BASE + "image_2"]  # type: ignore[union-attr, misc]
    assert [str(i) for (i,) in garments.query(bound)] == [BASE + "image_2"]  # type: ignore[union-attr, misc]
    # Garments of a group are found by reasoning.
    assert garments.query(
        f"ASK {{ <{BASE}annotation_10> a <{GARMENTS}supercategory_upperbody>, <{GARMENTS}Garment> }}"
    )


def test_graphs_never_meet(kg: KnowledgeGraph) -> None:
    loaded(SMALL, kg)
    before = facts(kg)
    by_name = {name: name.replace("/", "-") for name in VIEWS}
    made = views.make_views(kg, by_name, lambda _, view: reason(view))
    reason(kg)
    graphs = [{*g.record.asserted, *g.record.inferred} for g in (kg, *made.values())]
    assert sum(map(len, graphs)) == len(set().union(*graphs))
    assert facts(kg) == before
    # hasAttribute has another domain in each graph; where they met, images would be annotations.
    cel = made["fashion-cel"]
    assert not cel.query(f"ASK {{ ?x a <{BASE}Annotation> }}")
    assert not kg.query(f"ASK {{ ?x a <{BASE}Image>, <{BASE}Annotation> }}")
    assert not kg.query(f"ASK {{ ?x a <{BASE}Image>, <{BASE}License> }}")
    assert cel.reasoned and kg.reasoned


def test_a_view_is_made_anew_only_where_its_source_has_changed(any_kg: KnowledgeGraph) -> None:
    kg = loaded(SMALL, any_kg)
    assert views.stale(kg, "fashion/images", "images")
    first = views.refresh(kg, "fashion/images", "images")
    assert not views.stale(kg, "fashion/images", "images")
    assert views.stale(kg, "fashion/cel", "images"), "it is another view"
    reason(kg)
    assert not views.stale(kg, "fashion/images", "images"), "inferred triples do not count"
    assert views.refresh(kg, "fashion/images", "images").record == first.record
    more: Data = {
        **SMALL,
        "images": [*SMALL["images"], {"id": 3, "file_name": "3.jpg"}],
        "annotations": [
            *SMALL["annotations"],
            {"id": 13, "image_id": 3, "category_id": 4, "attribute_ids": []},
        ],
    }
    loaded(more, kg)
    assert views.stale(kg, "fashion/images", "images")
    second = views.refresh(kg, "fashion/images", "images")
    assert second.revision > first.revision and not second.reasoned
    assert facts(second) == made_by_hand(more, "fashion/images")
    assert second.collect() == 1, "the graph of before is no longer read, and gone now"
    kg.clear()
    emptied = views.refresh(kg, "fashion/images", "images")
    assert not facts(emptied)


def test_what_others_add_to_a_view_stays(any_kg: KnowledgeGraph) -> None:
    kg = loaded(SMALL, any_kg)
    images = views.make_view(kg, "fashion/images", "images")
    image = URIRef(BASE + "image_1")
    said = Triple(image, URIRef(BASE + "hasLLMDescription"), Literal("A jacket over a t-shirt."))
    there = Triple(image, RDF.type, URIRef(BASE + "Image"))
    assert images.insert([said, there]) == 1
    reason(images)
    late = Triple(image, URIRef(BASE + "hasHeight"), Literal(5))
    assert images.insert([late]) == 1
    changed = json.loads(json.dumps(SMALL))
    changed["images"][0]["height"] = 5
    kg.clear()
    loaded(changed, kg)
    again = views.refresh(kg, "fashion/images", "images")
    assert facts(again) - {ox.Triple(*map(to_ox, said))} == made_by_hand(changed, "fashion/images")
    assert again.record.triples == again.count(), "no triple is counted twice"
    ask = f"SELECT ?h {{ <{image}> <{BASE}hasHeight> ?h }}"
    assert len(list(again.query(ask))) == 1  # type: ignore[arg-type]


def test_what_cannot_be_a_view_is_refused(kg: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no view 'fashion/none'"):
        views.make_view(kg, "fashion/none", "x")
    with pytest.raises(ConfigError, match="needs another name"):
        views.make_view(kg, "fashion/images", "main")
    with pytest.raises(ConfigError, match="cannot name"):
        views.make_view(kg, "fashion/images", "no name")
    other = KnowledgeGraph(kg.store, "other")
    other.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), URIRef("urn:c"))])
    with pytest.raises(ConfigError, match="no view made"):
        views.make_view(kg, "fashion/images", "other")
    assert other.query("ASK { <urn:a> <urn:b> <urn:c> }")
    kg.store.capabilities = Capabilities(reasoning=True)
    with pytest.raises(ConfigError, match="reasons over all of its graphs"):
        views.make_view(kg, "fashion/images", "images")


def test_a_view_of_nothing_is_its_ontology(kg: KnowledgeGraph) -> None:
    assert not facts(views.make_view(kg, "fashion/garments", "garments"))


def test_views_on_a_server_are_those_of_the_embedded_store(kg: KnowledgeGraph) -> None:
    loaded(SMALL, kg)
    with fuseki_server() as (url, _, behind):
        behind.insert(b"<urn:x> <urn:y> <urn:z> .", "urn:graph:of:others")
        with opened(url) as remote:
            loaded(SMALL, remote)
            for name in VIEWS:
                made = views.make_view(remote, name, "view-" + name.rpartition("/")[2])
                assert facts(made) == facts(views.make_view(kg, name, name.replace("/", "-"))), name
                assert not made.query("ASK { <urn:x> ?p ?o }")
            assert not views.stale(remote, "fashion/cel", "view-cel")


def test_a_large_view_is_made_in_its_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_annotations(tmp_path / "a.json", scale=0.001)
    with KnowledgeGraph(OxigraphStore(tmp_path / "store")) as kg:
        with Fashionpedia(tmp_path / "a.json").ntriples() as triples:
            kg.load([triples])
        here = views.make_view(kg, "fashion/garments", "here")
        used: list[str] = []
        apart = WorkerPool.serialise
        monkeypatch.setattr(WorkerPool, "serialise", lambda *given: used.append(given[1]) or apart(*given))
        monkeypatch.setattr(views, "_LARGE", 0)
        there = views.make_view(kg, "fashion/garments", "there")
        assert len(used) == 1
        assert facts(here) == facts(there)
        assert isinstance(kg.store, OxigraphStore) and kg.store.workers.processes() == []
    assert sorted(p.name for p in tmp_path.iterdir() if "snapshot" in p.name) == []


def test_the_real_sample(kg: KnowledgeGraph) -> None:
    path = shared_data("fashionpedia_labels") / "sample.json"
    with Fashionpedia(path).ntriples() as triples:
        kg.load([triples])
    data = json.loads(path.read_text())
    for name in VIEWS:
        made = views.make_view(kg, name, name.replace("/", "-"))
        assert facts(made) == made_by_hand(data, name), name
    texts = {t for each in sentences(data).values() for t in each}
    assert any(t.startswith("Contains ") and " with the following attributes: " in t for t in texts)
