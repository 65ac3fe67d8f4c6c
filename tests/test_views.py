"""Views made by query: equal to what a plain program makes, apart from their source, and landing whole."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.errors import ConfigError, EndpointError
from mrag.graph import views
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.scenes import Fashionpedia
from mrag.rdf.terms import OWL, Triple, to_ox
from mrag.reasoning.run import reason
from mrag.stores.base import Capabilities
from mrag.stores.http import Access
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.workers import WorkerPool
from mrag.testing.annotations import write_annotations
from tests.conftest import shared_data
from tests.fuseki_server import fuseki_server
from tests.servers import virtuoso_server

BASE = "http://example.org/"
GARMENTS = "http://example.org/garments#"
NAMED = URIRef(OWL + "NamedIndividual")
VIEWS = ("fashion/images", "fashion/cel", "fashion/garments")
Data = dict[str, list[dict[str, Any]]]

SMALL: Data = {
    "images": [{"id": 1, "file_name": "1.jpg", "width": 3, "height": 4}, {"id": 2, "file_name": "2.jpg"}],
    "categories": [
        {"id": 4, "name": "jacket", "supercategory": "upperbody"},
        {"id": 1, "name": "top, t-shirt, sweatshirt", "supercategory": "upperbody"},
    ],
    "attributes": [
        {"id": 29, "name": "tight (fit)", "supercategory": "silhouette"},
        {"id": 5, "name": "blazer", "supercategory": "nickname"},
        {"id": 340, "name": "above-the-hip (length)", "supercategory": "length"},
    ],
    "annotations": [
        {"id": 10, "image_id": 1, "category_id": 4, "attribute_ids": [29, 340, 5]},
        {"id": 11, "image_id": 1, "category_id": 1, "attribute_ids": []},
        {"id": 12, "image_id": 2, "category_id": 1, "attribute_ids": [29]},
    ],
}


def loaded(data: Data, kg: KnowledgeGraph) -> KnowledgeGraph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "annotations.json"
        path.write_text(json.dumps(data))
        with Fashionpedia(path).ntriples() as triples:
            kg.load([triples])
    return kg


def facts(kg: KnowledgeGraph) -> set[str]:
    """The asserted triples without the ontology of the package."""
    out = io.BytesIO()
    kg.dump(out)
    schemas = {"Image", "Attribute", "AnnotationCategory", "AnnotationSupercategory", "AttributeCategory"}
    found = set()
    for line in out.getvalue().decode().splitlines():
        subject = line.split()[0]
        own = subject.startswith((f"<{BASE}has", f"<{BASE}fashion", f"<{GARMENTS}has", f"<{BASE}garments>"))
        if not own and subject not in {f"<{b}{s}>" for b in (BASE, GARMENTS) for s in (*schemas, "Garment")}:
            found.add(line)
    return found


def nt(s: str, p: str, o: str | Literal) -> str:
    return f"<{s}> <{p}> {to_ox(o)} ."


def spelt(name: str) -> str:
    return quote(name.replace(" ", "_"), safe=",()")


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


def expected_images(data: Data) -> set[str]:
    found = set()
    for image in data["images"]:
        s = f"{BASE}image_{image['id']}"
        found |= {nt(s, str(RDF.type), BASE + "Image"), nt(s, str(RDF.type), str(NAMED))}
        if image.get("file_name"):
            found.add(nt(s, BASE + "hasFileName", Literal(image["file_name"])))
        for key, name in (("width", "hasWidth"), ("height", "hasHeight")):
            if image.get(key):
                found.add(nt(s, BASE + name, Literal(image[key])))
    for number, texts in sentences(data).items():
        found |= {nt(f"{BASE}image_{number}", BASE + "hasDescription", Literal(t)) for t in texts}
    return found


def groups(data: Data) -> Iterator[tuple[str, int, str, str, str]]:
    """Section, identifier, kind of link, prefix and name of each category, attribute and group."""
    for section, own, group in (
        ("categories", "AnnotationCategory", "AnnotationSupercategory"),
        ("attributes", "Attribute", "AttributeCategory"),
    ):
        for row in data[section]:
            yield section, row["id"], own, own, row["name"]
            if row.get("supercategory"):
                yield section, row["id"], group, group, row["supercategory"]


PREFIXES = {
    "AnnotationCategory": "annotation_category_",
    "AnnotationSupercategory": "annotation_supercategory_",
    "Attribute": "attribute_",
    "AttributeCategory": "attribute_category_",
}


def expected_cel(data: Data) -> set[str]:
    found = set()
    shown: dict[tuple[str, int], set[int]] = {}
    for annotation in data["annotations"]:
        shown.setdefault(("categories", annotation["category_id"]), set()).add(annotation["image_id"])
        for number in annotation["attribute_ids"]:
            shown.setdefault(("attributes", number), set()).add(annotation["image_id"])
    for image in data["images"]:
        s = f"{BASE}image_{image['id']}"
        found |= {nt(s, str(RDF.type), BASE + "Image"), nt(s, str(RDF.type), str(NAMED))}
    for section, number, link, kind, name in groups(data):
        o = BASE + PREFIXES[kind] + spelt(name)
        found |= {nt(o, str(RDF.type), BASE + kind), nt(o, str(RDF.type), str(NAMED))}
        found.add(nt(o, str(RDFS.label), Literal(name, lang="en")))
        for image_id in shown.get((section, number), ()):
            found.add(nt(f"{BASE}image_{image_id}", f"{BASE}has{link}", o))
    return found


def expected_garments(data: Data) -> set[str]:
    found = set()
    rdf_type, owl_class = str(RDF.type), OWL + "Class"
    names = {s: {row["id"]: row["name"] for row in data[s]} for s in ("categories", "attributes")}
    for image in data["images"]:
        s = f"{BASE}image_{image['id']}"
        found |= {nt(s, rdf_type, GARMENTS + "Image"), nt(s, rdf_type, str(NAMED))}
    for annotation in data["annotations"]:
        s = f"{BASE}annotation_{annotation['id']}"
        found |= {
            nt(s, rdf_type, str(NAMED)),
            nt(f"{BASE}image_{annotation['image_id']}", GARMENTS + "hasGarment", s),
            nt(s, rdf_type, f"{GARMENTS}category_{spelt(names['categories'][annotation['category_id']])}"),
        }
        for number in annotation["attribute_ids"]:
            found.add(nt(s, GARMENTS + "hasAttribute", f"{BASE}attribute_{number}"))
    for section, own, above, top in (
        ("categories", "category_", "supercategory_", "Garment"),
        ("attributes", "attribute_", "attribute_category_", "Attribute"),
    ):
        for row in data[section]:
            cls, group = GARMENTS + own + spelt(row["name"]), row.get("supercategory")
            found |= {nt(cls, rdf_type, owl_class), nt(cls, str(RDFS.label), Literal(row["name"], lang="en"))}
            parent = GARMENTS + above + spelt(group) if group else GARMENTS + top
            found.add(nt(cls, str(RDFS.subClassOf), parent))
            if group:
                found |= {
                    nt(parent, rdf_type, owl_class),
                    nt(parent, str(RDFS.label), Literal(group, lang="en")),
                    nt(parent, str(RDFS.subClassOf), GARMENTS + top),
                }
            if section == "attributes":
                s = f"{BASE}attribute_{row['id']}"
                found |= {nt(s, rdf_type, cls), nt(s, rdf_type, str(NAMED))}
                found.add(nt(s, str(RDFS.label), Literal(row["name"], lang="en")))
    return found


EXPECTED = {
    "fashion/images": expected_images,
    "fashion/cel": expected_cel,
    "fashion/garments": expected_garments,
}


def canonical(lines: set[str]) -> list[str]:
    import pyoxigraph as ox

    return sorted(str(q) for line in lines for q in ox.parse(line, ox.RdfFormat.N_TRIPLES))


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
@settings(max_examples=20, deadline=None)
def test_a_view_is_what_a_plain_program_makes(data: Data) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        loaded(data, kg)
        for name, expected in EXPECTED.items():
            made = views.make_view(kg, name, name.replace("/", "-"))
            assert canonical(facts(made)) == canonical(expected(data)), name


def opened(url: str, name: str = "main") -> KnowledgeGraph:
    import mrag

    return mrag.connect(url, name)


def test_sentences_have_the_published_wording(kg: KnowledgeGraph) -> None:
    images = views.make_view(loaded(SMALL, kg), "fashion/images", "images")
    described = URIRef(BASE + "hasDescription")
    rows = images.query(f"SELECT ?i ?d {{ ?i <{described}> ?d }} ORDER BY ?i ?d")
    assert [(str(i).rpartition("_")[2], str(d)) for i, d in rows] == [  # type: ignore[union-attr, misc]
        (
            "1",
            "Contains jacket from supercategory 'upperbody' with the following attributes: "
            "above-the-hip (length) of supercategory 'length', blazer of supercategory 'nickname', "
            "tight (fit) of supercategory 'silhouette'",
        ),
        ("1", "Contains top, t-shirt, sweatshirt from supercategory 'upperbody'"),
        (
            "2",
            "Contains top, t-shirt, sweatshirt from supercategory 'upperbody' with the following "
            "attributes: tight (fit) of supercategory 'silhouette'",
        ),
    ]


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
    assert canonical(facts(second)) == canonical(expected_images(more))
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
    assert facts(again) - {f"{to_ox(said.s)} {to_ox(said.p)} {to_ox(said.o)} ."} == expected_images(changed)
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


@pytest.mark.slow
def test_views_on_virtuoso_are_whole_or_refused(tmp_path: Path, kg: KnowledgeGraph) -> None:
    write_annotations(tmp_path / "a.json", scale=0.002)
    with virtuoso_server(tmp_path) as url:
        store, _ = open_store(url, Access(user="dba", password="dba"))
        with KnowledgeGraph(store) as remote, Fashionpedia(tmp_path / "a.json").ntriples() as triples:
            assert remote.load([triples]).triples < 10_000
            kg.load([triples])
            made = views.make_view(remote, "fashion/images", "images")
            assert canonical(facts(made)) == canonical(facts(views.make_view(kg, "fashion/images", "images")))
            # It cuts answers at 10,000 rows.
            write_annotations(tmp_path / "b.json", scale=0.004, seed=8)
            with Fashionpedia(tmp_path / "b.json").ntriples() as more:
                remote.load([more])
            assert remote.count() > 10_000
            with pytest.raises(EndpointError, match="cuts answers at 10000 rows"):
                views.make_view(remote, "fashion/images", "images")
            assert canonical(facts(made)) == canonical(facts(KnowledgeGraph(store, "images")))


def test_a_large_view_is_worked_out_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        assert canonical(facts(here)) == canonical(facts(there))
        assert isinstance(kg.store, OxigraphStore) and kg.store.workers.processes() == []
    assert sorted(p.name for p in tmp_path.iterdir() if "snapshot" in p.name) == []


def test_the_real_sample(kg: KnowledgeGraph) -> None:
    path = shared_data("fashionpedia_labels") / "sample.json"
    with Fashionpedia(path).ntriples() as triples:
        kg.load([triples])
    data = json.loads(path.read_text())
    for name, expected in EXPECTED.items():
        made = views.make_view(kg, name, name.replace("/", "-"))
        assert canonical(facts(made)) == canonical(expected(data)), name
    texts = {t for each in sentences(data).values() for t in each}
    assert any(t.startswith("Contains ") and " with the following attributes: " in t for t in texts)
