"""A knowledge graph through its life: opening, additions after reasoning, crashes, what becomes asserted."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError, InconsistentOntology, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.commands import run
from tests.conftest import PRODUCTS

EX = "http://example.org/"
A, B, C, D = (URIRef(EX + n) for n in "ABCD")
ITEMS = [URIRef(f"{EX}i{n}") for n in range(4)]
P, Q = URIRef(EX + "p"), URIRef(EX + "q")


def content(kg: KnowledgeGraph, layer: str) -> list[tuple[str, ...]]:
    rows = kg.select("SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o", layer)  # type: ignore[arg-type]
    return [tuple(str(t) for t in row) for row in rows]


axiom = st.one_of(
    st.builds(Triple, st.sampled_from([A, B, C]), st.just(RDFS.subClassOf), st.sampled_from([B, C, D])),
    st.builds(Triple, st.sampled_from([P, Q]), st.just(RDFS.domain), st.sampled_from([A, B])),
    st.just(Triple(P, RDFS.subPropertyOf, Q)),
    st.just(Triple(Q, OWL.inverseOf, P)),
    st.just(Triple(P, RDF.type, OWL.TransitiveProperty)),
)
fact = st.one_of(
    st.builds(Triple, st.sampled_from(ITEMS), st.just(RDF.type), st.sampled_from([A, B, C, D])),
    st.builds(Triple, st.sampled_from(ITEMS), st.sampled_from([P, Q]), st.sampled_from(ITEMS)),
)
batch = st.lists(st.one_of(axiom, fact), max_size=8)


@given(st.lists(batch, min_size=2, max_size=4))
@settings(max_examples=20, deadline=None)
def test_reasoning_step_by_step_equals_reasoning_at_once(batches: list[list[Triple]]) -> None:
    with mrag.connect() as grown, mrag.connect() as whole:
        for triples in batches:
            grown.insert(triples)
            mrag.reason(grown, on_inconsistency="report")
            whole.insert(triples)
        mrag.reason(whole, on_inconsistency="report")
        for layer in ("asserted", "inferred"):
            found = content(grown, layer)
            assert found == content(whole, layer)
            assert len(found) == len(set(found)), "no triple stands twice"
        assert not set(content(grown, "asserted")) & set(content(grown, "inferred"))


def test_additions_after_reasoning_are_marked_stale_until_the_next(any_kg: KnowledgeGraph) -> None:
    any_kg.insert([Triple(A, RDFS.subClassOf, B), Triple(ITEMS[0], RDF.type, A)])
    mrag.reason(any_kg)
    assert any_kg.reasoned
    any_kg.insert([Triple(ITEMS[1], RDF.type, A)])
    assert not any_kg.reasoned
    assert any_kg.query(f"ASK {{ <{ITEMS[0]}> a <{B}> }}") is True, "what was inferred stays in sight"
    assert any_kg.query(f"ASK {{ <{ITEMS[1]}> a <{B}> }}") is False
    mrag.reason(any_kg)
    assert any_kg.query(f"ASK {{ <{ITEMS[1]}> a <{B}> }}") is True


def test_what_was_inferred_and_is_now_asserted_counts_once(any_kg: KnowledgeGraph) -> None:
    any_kg.insert([Triple(A, RDFS.subClassOf, B), Triple(ITEMS[0], RDF.type, A)])
    mrag.reason(any_kg)
    asserted = Triple(ITEMS[0], RDF.type, B)
    assert any_kg.insert([asserted]) == 1
    assert any_kg.insert([asserted]) == 0
    rows = any_kg.select("SELECT ?c { ?i a ?c } ORDER BY ?c")
    assert [str(c) for c in rows.column("c")] == [str(A), str(B)]


def test_a_contradiction_leaves_everything_as_it_was(any_kg: KnowledgeGraph) -> None:
    any_kg.insert(
        [Triple(A, OWL.disjointWith, B), Triple(A, RDFS.subClassOf, C), Triple(ITEMS[0], RDF.type, A)]
    )
    mrag.reason(any_kg)
    before = content(any_kg, "inferred")
    any_kg.insert([Triple(ITEMS[0], RDF.type, B)])
    with pytest.raises(InconsistentOntology) as caught:
        mrag.reason(any_kg, on_inconsistency="error")
    assert str(ITEMS[0]) in str(caught.value) and "disjoint" in str(caught.value).lower()
    assert caught.value.clashes
    assert content(any_kg, "inferred") == before
    assert not any_kg.record.pending
    any_kg.collect()
    assert content(any_kg, "inferred") == before


def test_layers_are_told_apart_by_pseudo_graphs(kg: KnowledgeGraph) -> None:
    kg.load([PRODUCTS])
    mrag.reason(kg)
    question = "ASK { ex:GraphDB a ex:SemanticProduct }"
    assert kg.query(question) is True
    assert kg.query(question.replace("{", "FROM onto:explicit {", 1)) is False
    assert kg.query(question.replace("{", "FROM onto:implicit {", 1)) is True


def test_graphs_in_one_store_do_not_meet(tmp_path: Path) -> None:
    store = OxigraphStore(tmp_path / "s")
    with KnowledgeGraph(store, "one") as one:
        other = KnowledgeGraph(store, "two")
        one.insert([Triple(ITEMS[0], P, ITEMS[1])])
        other.insert([Triple(ITEMS[2], P, ITEMS[3])])
        assert one.count() == other.count() == 1
        assert one.query(f"ASK {{ <{ITEMS[2]}> ?p ?o }}") is False
        one.clear()
        assert other.count() == 1
    with pytest.raises(ConfigError, match="cannot name"):
        KnowledgeGraph(OxigraphStore(), "not a name")


def test_prefixes_and_labels_of_a_graph() -> None:
    with mrag.connect(prefixes={"zoo": "http://zoo.example/"}) as kg:
        kg.insert([Triple(URIRef("http://zoo.example/a"), RDFS.label, Literal("Ä\n  b", lang="de"))])
        assert kg.query("ASK { zoo:a ?p ?o }") is True
        assert kg.labels(["http://zoo.example/a", "http://zoo.example/b"]) == {
            "http://zoo.example/a": "Ä b",
            "http://zoo.example/b": None,
        }


def test_the_empty_prefix_counts_where_files_agree_on_it(tmp_path: Path) -> None:
    for name, base in (
        ("a", "http://one.example/"),
        ("b", "http://one.example/"),
        ("c", "http://two.example/"),
    ):
        (tmp_path / f"{name}.ttl").write_text(f"@prefix : <{base}> . :{name} a :Thing .")
    a, b, c = (tmp_path / f"{name}.ttl" for name in "abc")
    for files, known in (([a, b], True), ([a, c], False)):
        with mrag.connect() as together, mrag.connect() as apart:
            together.load(files)
            for file in files:
                apart.load([file])
            for kg in (together, apart):
                assert (kg.prefixes.get("") == "http://one.example/") is known
                assert known or "" not in kg.prefixes
                apart.load([b])  # one more that agrees with the first does not settle it
                assert known or "" not in apart.prefixes


READING = cases(__file__, "READING")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "good.ttl").write_text("<urn:a> <urn:p> 'text' .", encoding="utf-8")
    (tmp_path / "bad.ttl").write_text("<urn:a> <urn:p>", encoding="utf-8")
    return tmp_path


def files(home: Path) -> set[str]:
    return {p.name for p in home.iterdir() if p.suffix == ".db" or p.name == "wrong"}


@pytest.mark.parametrize("command", READING, ids=lambda command: command[0])
def test_reading_makes_no_store_and_names_those_there_are(home: Path, command: tuple[str, ...]) -> None:
    assert run("load", "--store", "right.db", "good.ttl", cwd=home).returncode == 0
    for wrong in ("wrong", "."):
        done = run(command[0], "--store", wrong, *command[1:], cwd=home)
        assert done.returncode == 1
        assert "no store in this folder" in done.stdout + done.stderr or "no such store" in (
            done.stdout + done.stderr
        )
        assert "right.db" in done.stdout + done.stderr
    assert files(home) == {"right.db"}
    assert not (home / "CURRENT").exists()


def test_a_wrong_name_is_told_which_there_are(home: Path) -> None:
    store = ("--store", "right.db")
    assert run("load", *store, "good.ttl", cwd=home).returncode == 0
    assert run("load", *store, "--kg", "other", "good.ttl", cwd=home).returncode == 0
    done = run("ask", *store, "--kg", "nope", "Who?", cwd=home)
    assert done.returncode == 1
    assert "no knowledge graph 'nope'" in done.stderr
    assert "main (1 triples), other (1 triples)" in done.stderr


@pytest.mark.parametrize("content", ["<urn:a> <urn:p>", None])
def test_a_load_that_fails_leaves_nothing(home: Path, content: str | None) -> None:
    failed = run("load", "bad.ttl" if content else "missing.ttl", cwd=home)
    assert failed.returncode == 1
    assert files(home) == set()
    assert run("load", "--store", "new.db", "bad.ttl", cwd=home).returncode == 1
    assert files(home) == set()


def test_a_load_that_fails_leaves_what_was_there(home: Path) -> None:
    assert run("load", "good.ttl", cwd=home).returncode == 0
    assert run("load", "bad.ttl", cwd=home).returncode == 1
    with mrag.connect(str(home / "mrag.db"), create=False) as kg:
        assert kg.count() == 1


def test_a_store_of_nothing_says_so(home: Path) -> None:
    with mrag.connect(str(home / "mrag.db")) as kg, pytest.raises(LoadError):
        kg.load([home / "bad.ttl"])
    done = run("ask", "Who?", cwd=home)
    assert done.returncode == 1 and "holds no knowledge graph" in done.stderr


def test_in_python_it_is_a_choice(home: Path) -> None:
    with pytest.raises(ConfigError, match="no such store"):
        mrag.connect(f"oxigraph:{home / 'wrong'}", create=False)
    assert files(home) == set()
    mrag.connect(f"oxigraph:{home / 'wrong'}").close()
    with pytest.raises(ConfigError, match="holds no knowledge graph"):
        mrag.connect(f"oxigraph:{home / 'wrong'}", create=False)
