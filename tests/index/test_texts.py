"""The texts of documents: by edges as by queries, in little memory, and of graphs without labels."""

from itertools import product
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.errors import ConfigError, IndexError_
from mrag.front import connect
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import most_selective
from mrag.graph.updates import update
from mrag.index import documents as module
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.language.names import iri_words
from mrag.planning.schema import Schema
from mrag.rdf.terms import SKOLEM, Triple
from mrag.retrieval.answering import ask
from mrag.storage.sorting import SortedRows
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside
from tests.commands import run
from tests.conftest import PRODUCTS

X = "http://x.example/"
NODES = [ox.NamedNode(X + name) for name in ("RedShoe", "BlueCoat", "Shop", "k1")]
NODES += [ox.NamedNode("http://y.example/page1"), ox.BlankNode("b"), ox.NamedNode(X + "sells")]
PREDICATES = [
    ox.NamedNode(str(name)) for name in (X + "sells", RDF.type, RDFS.label, RDFS.domain, RDFS.comment)
]
LITERALS = [ox.Literal(word, language=tag) for word, tag in product(("shoe", "a. coat"), ("en", "de"))]
LITERALS += [ox.Literal("plain"), ox.Literal(7), ox.Literal("")]
TRIPLES = st.lists(
    st.tuples(
        st.sampled_from(NODES), st.sampled_from(PREDICATES), st.sampled_from([*NODES, *LITERALS]),
        st.booleans(),
    ),
    max_size=14,
)  # fmt: skip
DEFINITIONS = [
    Definition(), Definition(languages=("de",)), Definition(fallback=False),
    Definition(("index/linked-labels", "index/texts")), Definition(("index/texts",)),
]  # fmt: skip


def read(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, str]]]:
    """Return the documents of each definition, and look whether queries give the same."""
    found = [list(documents(kg, definition)) for definition in DEFINITIONS]
    with monkeypatch.context() as m:
        m.setattr(module, "are_edges", lambda *_: False)
        assert [list(documents(kg, definition)) for definition in DEFINITIONS] == found
    return found


@settings(max_examples=40)
@given(TRIPLES)
@example([(NODES[0], PREDICATES[0], NODES[5], False), (NODES[5], PREDICATES[2], LITERALS[0], True)])
def test_edges_tell_what_queries_tell(triples: list[tuple[object, ...]]) -> None:
    store = OxigraphStore()
    first = KnowledgeGraph(store)
    update(first, f"INSERT DATA {{ <{X}k1> <{X}made> 1 . GRAPH <urn:g> {{ <{X}k1> <{X}made> 2 }} }}")
    graphs = [ox.NamedNode(graph) for graph in first.dataset().default]
    for s, p, o, other in triples:
        # As a load and an insertion would not: with blank nodes.
        store.engine.add(ox.Quad(s, p, o, graphs[other]))  # type: ignore[arg-type]
    with KnowledgeGraph(store) as kg, pytest.MonkeyPatch.context() as monkeypatch:
        assert len(graphs) == 2 and sum(kg.profile().predicates.values()) == 2 + len(set(triples))
        read(kg, monkeypatch)


def test_a_graph_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect() as kg:
        kg.load([PRODUCTS])
        whole = read(kg, monkeypatch)
        monkeypatch.setattr(SortedRows.__init__, "__kwdefaults__", {"folder": None, "most": 2000})
        monkeypatch.setattr(module, "_BATCH", 7)
        monkeypatch.setattr(module, "_KEPT", 10)
        assert read(kg, monkeypatch) == whole


CELLAR = beside(__file__, "cellar.ttl")
SHOP = beside(__file__, "shop.ttl")
NS = "http://shop.example/"


def loaded(tmp_path: Path, text: str) -> KnowledgeGraph:
    (tmp_path / "a.ttl").write_text(text, encoding="utf-8")
    kg = connect()
    kg.load([tmp_path / "a.ttl"])
    return kg


def found(kg: KnowledgeGraph, text: str, k: int = 1) -> list[str]:
    SimilarityIndexes.of(kg).build("main", model="none")
    return [m.doc_id for m in SimilarityIndexes.of(kg).get().search(text, k)]


def test_things_without_labels_are_found_by_the_words_of_their_iris(tmp_path: Path) -> None:
    with loaded(tmp_path, CELLAR) as kg:
        own = "http://cellar.example/own#"
        assert found(kg, "apple farm") == [own + "AppleFarmCider"]
        assert found(kg, "sparkling cider") == [own + "SparklingCider"]
        assert set(found(kg, "pale gold", 2)) == {own + "PaleGold", own + "AppleFarmCider"}
        answer = ask(kg, "What is the colour of the Apple Farm Cider?", model="none")
        assert "Pale Gold" in answer.text


def test_the_most_selective_texts_of_a_class_name_its_members(tmp_path: Path) -> None:
    with loaded(tmp_path, SHOP) as kg:
        assert kg.label_properties == (NS + "clientName", NS + "fullName")
        assert kg.labels([NS + "k1", NS + "t1"]) == {NS + "k1": "Nordwind GmbH", NS + "t1": None}
        assert found(kg, "casa verde") == [NS + "k3"]
        answer = ask(kg, "What is the segment of Casa Verde?", model="none")
        assert "food" in answer.text
        assert "Casa Verde" in ask(kg, "Which clients have the segment food?", model="none").text


def test_blank_nodes_with_names_are_things(tmp_path: Path) -> None:
    with loaded(tmp_path, SHOP) as kg:
        (person,) = found(kg, "Ada Brook")
        assert person.startswith(SKOLEM)
        answer = ask(kg, "Which ticket is by Ada Brook?", model="none", reading=1)
        assert answer.computed is not None
        assert [str(c.term) for row in answer.computed.rows for c in row] == [NS + "t1"]
        read = ask(kg, "What do you know of Ada Brook?", model="none", how="read")
        assert "Ada Brook" in read.text


def test_a_declared_label_comes_before_one_that_was_found(tmp_path: Path) -> None:
    more = f'<{NS}k1> <{RDFS.label}> "Der Nordwind"@de .'
    with loaded(tmp_path, SHOP + more) as kg:
        assert kg.labels([NS + "k1", NS + "k2"]) == {NS + "k1": "Der Nordwind", NS + "k2": "Blue Harbour Ltd"}


def test_what_somebody_chose_comes_first_and_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(SHOP, encoding="utf-8")
    url = f"oxigraph:{tmp_path / 'store'}"
    with connect(url) as kg:
        kg.load([tmp_path / "a.ttl"])
        assert kg.labels([NS + "k1"]) == {NS + "k1": "Nordwind GmbH"}
        before = kg.revision
        kg.label_properties = [NS + "vat"]
        assert kg.revision > before
        with pytest.raises(ConfigError, match="No triple has"):
            kg.label_properties = [NS + "nothing"]
    with connect(url) as kg:
        assert kg.label_properties[0] == NS + "vat"
        assert kg.labels([NS + "k1"]) == {NS + "k1": "DE123456789"}
        kg.load([tmp_path / "a.ttl"], replacing=True)
        assert kg.labels([NS + "k1"]) == {NS + "k1": "DE123456789"}


def test_an_index_of_nothing_is_an_error_that_says_why(tmp_path: Path) -> None:
    with connect() as kg:
        with pytest.raises(IndexError_, match="holds no triples"):
            SimilarityIndexes.of(kg).build("main", model="none")
        kg.insert([Triple(URIRef("http://e.example/q1"), URIRef("http://e.example/p2"), Literal(3))])
        with pytest.raises(IndexError_, match="codes rather than words"):
            SimilarityIndexes.of(kg).build("main", model="none")


def test_the_commands(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(SHOP, encoding="utf-8")
    (tmp_path / "codes.ttl").write_text("<http://e.example/q1> <http://e.example/p2> 3 .", encoding="utf-8")
    store = ["--store", str(tmp_path / "store")]
    chosen = ["--label-property", NS + "vat"]
    assert run("load", *store, "a.ttl", *chosen, cwd=tmp_path).returncode == 0
    assert run("index", *store, "--embedder", "none", cwd=tmp_path).returncode == 0
    assert "DE123456789" in run("search", *store, "nordwind", cwd=tmp_path).stdout
    chosen = ["--label-property", NS + "clientName"]
    assert run("index", *store, "--embedder", "none", *chosen, cwd=tmp_path).returncode == 0
    assert "Nordwind GmbH" in run("search", *store, "nordwind", cwd=tmp_path).stdout
    codes = ["--store", str(tmp_path / "codes")]
    assert run("load", *codes, "codes.ttl", cwd=tmp_path).returncode == 0
    failed = run("index", *codes, "--embedder", "none", cwd=tmp_path)
    assert failed.returncode == 1
    assert "There is nothing to index" in failed.stderr


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.text("abc xyz1", max_size=9)), max_size=40)
)
def test_the_choice_does_not_depend_on_the_order(rows: list[tuple[int, int, str]]) -> None:
    terms = [(URIRef(f"urn:{s}"), URIRef(f"urn:p{p}"), Literal(o)) for s, p, o in rows]
    assert most_selective(terms, 10) == most_selective(terms[::-1], 10)


@pytest.mark.parametrize("code", ["Q42", "k1", "3f2a0bea-0b1c-4f2d-9d3e-aaaabbbbcccc", "000123", "n4217x"])
def test_codes_are_no_words(code: str) -> None:
    assert iri_words(f"http://example.org/{code}") is None


def test_types_are_no_names() -> None:
    assert Schema({}, {}, ()).label_properties == ()
    with connect() as kg:
        kg.insert([Triple(URIRef("urn:x:a"), RDF.type, URIRef("urn:x:C"))])
        assert kg.label_properties == ()
