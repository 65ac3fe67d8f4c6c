"""Named graphs of files: kept, merged in the default graph, updated, written, and put right after a crash."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.context.display import named_graphs
from mrag.errors import ConfigError, LoadError
from mrag.front import NarrowedGraph
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.rdf.terms import Triple
from tests.cases import beside
from tests.commands import run

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


@settings(max_examples=40, deadline=None)
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
