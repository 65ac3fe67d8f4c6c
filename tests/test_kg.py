"""A knowledge graph through its life: opening, additions after reasoning, crashes; named graphs."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Literal, URIRef

import mrag
from mrag.context.display import named_graphs
from mrag.errors import ConfigError, InconsistentOntology, LoadError
from mrag.front import NarrowedGraph
from mrag.graph.connection import summaries
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside, cases
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
@settings(max_examples=20)
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
    for name, base in cases(__file__, "the_empty_prefix_counts_where_files_agree_on_it"):
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


E = "http://e.example/"
VERSIONS = beside(__file__, "versions.trig")
_TERM = st.sampled_from([ox.NamedNode(f"{E}{n}") for n in "abc"])
_GRAPH = st.sampled_from([ox.DefaultGraph(), *(ox.NamedNode(f"{E}g{n}") for n in range(3))])
_QUADS = st.lists(st.builds(ox.Quad, _TERM, _TERM, _TERM, _GRAPH), max_size=12)


def quads_of(kg: KnowledgeGraph) -> set[ox.Quad]:
    out = io.BytesIO()
    kg.dump(out, format="nq")
    return set(ox.parse(out.getvalue(), ox.RdfFormat.N_QUADS))


def test_they_are_in_sight_by_name_and_merged_by_default(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(VERSIONS, encoding="utf-8")
    with mrag.connect() as kg:
        assert kg.load([tmp_path / "a.trig"]).triples == 5
        rows = kg.query(f"SELECT ?g ?o {{ GRAPH ?g {{ ?s <{E}price> ?o }} }} ORDER BY ?g")
        assert [(str(g), str(o)) for g, o in rows] == [(f"{E}v1", "10"), (f"{E}v2", "12")]  # type: ignore[union-attr, misc]
        assert len(kg.query(f'SELECT * {{ ?s <{E}p> "d" }}')) == 1  # type: ignore[arg-type]
        assert kg.load([tmp_path / "a.trig"]).triples == 0
        assert len(kg.record.contexts) == 3


@settings(max_examples=40)
@given(st.lists(_QUADS, min_size=1, max_size=4), st.sampled_from(["nq", "trig"]), st.booleans())
def test_what_is_loaded_is_what_is_written(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[ox.Quad]], format: str, reasoned: bool
) -> None:
    folder = tmp_path_factory.mktemp("quads")
    kind = {"nq": ox.RdfFormat.N_QUADS, "trig": ox.RdfFormat.TRIG}[format]
    with mrag.connect() as kg:
        for number, quads in enumerate(files):
            path = folder / f"{number}.{format}"
            path.write_bytes(ox.serialize(quads, format=kind) or b"")
            kg.load([path])
            if reasoned:
                mrag.reason(kg)
        every = {quad for quads in files for quad in quads}
        assert quads_of(kg) == every
        rows = kg.select("SELECT ?s ?p ?o { ?s ?p ?o }", "asserted")
        assert len(rows) == len(set(rows)) == len({quad.triple for quad in every}) == kg.record.triples
        named = {q.graph_name.value for q in every if isinstance(q.graph_name, ox.NamedNode)}
        assert set(kg.record.contexts) == named


def test_an_update_of_a_loaded_graph(tmp_path: Path) -> None:
    (tmp_path / "a.trig").write_text(VERSIONS, encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "a.trig"])
        assert update(kg, f"DELETE WHERE {{ GRAPH <{E}v1> {{ ?s ?p ?o }} }}").removed == 2
        assert kg.query(f"ASK {{ <{E}widget> <{E}name> 'Widget' }}")
        assert not kg.query(f"ASK {{ <{E}widget> <{E}price> 10 }}")
        assert f"{E}v1" not in kg.record.contexts


def test_reasoning_reads_their_union_and_goes_on_from_more(tmp_path: Path) -> None:
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    (tmp_path / "a.nq").write_text(
        f"<{E}p> <{rdfs}range> <{E}C> <{E}schema> .\n<{E}a> <{E}p> <{E}b> <{E}data> .\n", encoding="utf-8"
    )
    (tmp_path / "b.nq").write_text(f"<{E}a> <{E}p> <{E}c> <{E}more> .\n", encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "a.nq"])
        mrag.reason(kg)
        assert kg.query(f"ASK {{ <{E}b> a <{E}C> }}")
        kg.load([tmp_path / "b.nq"])
        assert not kg.reasoned
        mrag.reason(kg)
        assert kg.query(f"ASK {{ <{E}b> a <{E}C> . <{E}c> a <{E}C> }}")
        assert kg.count("inferred") == 2


def test_a_graph_that_is_another_s_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text(f"<{E}a> <{E}p> <{E}b> <{E}g> .\n", encoding="utf-8")
    with mrag.connect() as kg:
        kg.load([tmp_path / "a.nq"])
        other = KnowledgeGraph(kg.store, "other")
        with pytest.raises(LoadError, match="not part of 'other'"):
            other.load([tmp_path / "a.nq"])
        assert other.count() == 0


def test_too_many_graphs_are_refused(tmp_path: Path) -> None:
    lines = "".join(f"<{E}a> <{E}p> <{E}b> <{E}g{n}> .\n" for n in range(10_001))
    (tmp_path / "a.nq").write_text(lines, encoding="utf-8")
    with mrag.connect() as kg, pytest.raises(LoadError, match="10,000 named graphs"):
        kg.load([tmp_path / "a.nq"])


@pytest.mark.parametrize("landed", [False, True])
def test_a_crash_during_a_load_is_put_right(tmp_path: Path, landed: bool) -> None:
    (tmp_path / "a.nq").write_text(f"<{E}a> <{E}p> <{E}b> <{E}g> .\n", encoding="utf-8")
    with mrag.connect() as kg:
        kg.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), Literal("c"))])
        before = kg.record
        kg.load([tmp_path / "a.nq"])
        after = kg.record
        if not landed:
            for graph in (after.merged, *after.contexts):
                kg.store.clear(graph)
        pending = {"load": ["a.nq"], "graph": before.asserted[0], "merged": after.merged, "triples": 1}
        pending |= {"named": list(after.contexts), "prefixes": "", "replacing": False}
        kg.commit(replace(before, pending=json.dumps(pending)))
        again = KnowledgeGraph(kg.store)
        assert again.recovered is not None
        assert again.count() == again.record.triples == 1 + landed
        assert again.record.contexts == (after.contexts if landed else ())


TENANTS = beside(__file__, "tenants.trig")


@pytest.fixture
def tenants(tmp_path: Path) -> Path:
    (tmp_path / "t.trig").write_text(TENANTS, encoding="utf-8")
    for command in (["load", "t.trig"], ["index", "--embedder", "none"]):
        assert run(*command, cwd=tmp_path).returncode == 0
    return tmp_path


def test_contexts_and_citations_say_which_graph(tenants: Path) -> None:
    done = run("ask", "--model", "none", "What is the price of Widget?", cwd=tenants)
    assert "[t1] (Widget, price, 10, in graph acme tenant)" in done.stdout
    assert "[t2] (Widget, price, 12, in graph e:v2)" in done.stdout
    with mrag.connect(str(tenants / "mrag.db")) as kg:
        answer = mrag.ask(kg, "Tell me of the gadget", model="none", how="read")
        lines = {str(line.triple.p): line for line in answer.context.lines}
        assert lines[f"{E}colour"].named == () and lines[f"{E}colour"].text == '(Gadget, colour, "red")'
        type_line = lines["http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]
        assert type_line.named == (f"{E}v2",)
        again = type(answer).from_json(answer.to_json())
        assert [line.named for line in again.context.lines] == [line.named for line in answer.context.lines]
        shared = Triple(URIRef(f"{E}widget"), RDFS.label, Literal("Widget"))
        assert named_graphs(kg, [shared]) == [(f"{E}acme-tenant", f"{E}v2")]


def test_a_question_is_narrowed_to_a_graph(tenants: Path) -> None:
    price = ("ask", "--model", "none", "What is the price of Widget?")
    assert "12 [t1]" in run(*price, "--graph", "e:v2", cwd=tenants).stdout
    assert "10 [t1]" in run(*price, "--graph", f"{E}acme-tenant", cwd=tenants).stdout
    hits = run("search", "gadget widget", "--graph", "e:acme-tenant", cwd=tenants).stdout
    assert "Widget" in hits and "Gadget" not in hits
    rows = run("query", "SELECT ?o { ?s e:price ?o }", "--graph", "e:v2", "--json", cwd=tenants).stdout
    assert [row["o"]["value"] for row in json.loads(rows)["results"]["bindings"]] == ["12"]
    wrong = run(*price, "--graph", "e:v3", cwd=tenants)
    assert wrong.returncode == 1 and "It has: e:acme-tenant, e:v2." in wrong.stderr


def test_what_is_narrowed_leaves_the_whole_as_it_is(tenants: Path) -> None:
    with mrag.connect(str(tenants / "mrag.db")) as kg:
        before = kg.record
        part = NarrowedGraph(kg, "e:v2")
        assert mrag.ask(part, "How many products are there?", model="none").text.startswith("2")
        assert part.count() == 5 and part.labels([f"{E}gadget"]) == {f"{E}gadget": "Gadget"}
        with pytest.raises(ConfigError, match="read only"):
            part.insert([Triple(URIRef("urn:a"), URIRef("urn:b"), Literal("c"))])
        assert replace(kg.record, profile=before.profile) == before
        assert mrag.ask(kg, "What is the price of Widget?", model="none").text.count("[t") == 2


def test_what_a_run_that_was_cut_off_has_left_is_told_and_cleared_by_the_next() -> None:
    with mrag.connect() as kg:
        kg.insert([Triple(URIRef("urn:a"), URIRef("urn:p"), URIRef("urn:b"))])
        assert [one.left for one in summaries(kg.store)] == [0]
        kg.store.insert(b"<urn:a> <urn:q> <urn:b> .\n", f"{kg.iri}:inferred:4:4")
        assert [one.left for one in summaries(kg.store)] == [1]
        mrag.reason(kg)
        assert [one.left for one in summaries(kg.store)] == [0] and kg.count() == 1
