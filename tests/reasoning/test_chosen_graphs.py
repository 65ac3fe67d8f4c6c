"""Reasoning over chosen named graphs: what follows from these alone, also after edits, and shown as such."""

import json
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import URIRef

import mrag
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import UNNAMED
from mrag.graph.updates import update
from mrag.rdf.terms import RDF, Triple
from mrag.reasoning.run import contradictions_of, proof_of, reason
from tests.commands import run

E = "http://e.example/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
VERSIONS = Path(__file__).with_name("versions.trig")


def types(kg: KnowledgeGraph, layer: str = "inferred") -> set[str]:
    rows = kg.select("SELECT ?s ?c { ?s a ?c }", layer)  # type: ignore[arg-type]
    return {f"{s} {c}".replace(E, "") for s, c in rows if str(c).startswith(E)}


def test_only_what_was_chosen_is_read() -> None:
    with mrag.connect() as kg:
        kg.load([VERSIONS])
        closure = reason(kg, graphs=[f"{E}schema", f"{E}v1"])
        # That b is a C is asserted in another graph, so it is not in the inferred layer too.
        assert types(kg) == {"b D"} and not closure.contradictions
        assert kg.record.premises == (f"{E}schema", f"{E}v1") and kg.reasoned
        assert contradictions_of(kg) == []
        rows = [tuple(map(str, row)) for row in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }")]
        assert len(rows) == len(set(rows))
        proof = proof_of(kg, Triple(URIRef(f"{E}b"), URIRef(RDF + "type"), URIRef(f"{E}D")))
        assert proof is not None and proof.rule is not None
        # The choice is kept until another is made.
        reason(kg)
        assert types(kg) == {"b D"}
        reason(kg, graphs=["default", f"{E}schema"])
        assert types(kg) == {"other C", "other D"} and kg.record.premises == (f"{E}schema", UNNAMED)
        assert reason(kg, graphs=[]).contradictions and kg.record.premises == ()
        with pytest.raises(ConfigError, match="no named graph e:v3"):
            reason(kg, graphs=[f"{E}v3"])


def test_the_choice_outlives_edits_and_the_process(tmp_path: Path) -> None:
    with mrag.connect(f"oxigraph:{tmp_path}/store", create=True) as kg:
        kg.load([VERSIONS])
        reason(kg, graphs=[f"{E}schema", f"{E}v1"])
    with mrag.connect(f"oxigraph:{tmp_path}/store") as kg:
        came = f"GRAPH <{E}v1> {{ <{E}x> <{E}p> <{E}z> }}"
        update(kg, f"INSERT DATA {{ GRAPH <{E}v2> {{ <{E}x> <{E}p> <{E}y> }} {came} }}")
        assert kg.pending
        reason(kg)
        assert types(kg) == {"b D", "z C", "z D"}
        # What had been asserted elsewhere is inferred when it goes there.
        update(kg, f"DELETE DATA {{ GRAPH <{E}v2> {{ <{E}b> a <{E}C> }} {came} }}")
        reason(kg)
        assert types(kg) == {"b C", "b D"}
        update(kg, f"CLEAR GRAPH <{E}schema>")
        assert reason(kg).triples == 0 and kg.record.premises
        (tmp_path / "more.trig").write_text(f"<{E}schema> {{ <{E}p> <{RDFS}domain> <{E}C> }}")
        kg.load([tmp_path / "more.trig"])
        reason(kg)
        assert types(kg) == {"a C"}
        assert not [g for g in kg.store.graphs() if "premises" in g]


_NODE = st.sampled_from([ox.NamedNode(f"{E}{n}") for n in "abcd"])
_TYPE, _SUB = ox.NamedNode(RDF + "type"), ox.NamedNode(RDFS + "subClassOf")
_ENDS = st.sampled_from([ox.NamedNode(RDFS + "range"), ox.NamedNode(RDFS + "domain")])
_TRIPLE = st.one_of(
    st.builds(ox.Triple, _NODE, st.sampled_from([_TYPE, _SUB, ox.NamedNode(f"{E}p")]), _NODE),
    st.builds(ox.Triple, st.just(ox.NamedNode(f"{E}p")), _ENDS, _NODE),
)
_GRAPH = st.sampled_from([ox.DefaultGraph(), *(ox.NamedNode(f"{E}g{n}") for n in range(3))])
_QUADS = st.lists(st.tuples(_TRIPLE, _GRAPH), max_size=14)


def quads(found: list[tuple[ox.Triple, ox.NamedNode | ox.DefaultGraph]]) -> list[ox.Quad]:
    return [ox.Quad(t.subject, t.predicate, t.object, g) for t, g in found]


@settings(max_examples=15, deadline=None)
@given(_QUADS, _QUADS, st.sets(st.sampled_from(["default", f"{E}g0", f"{E}g1", f"{E}g2"]), min_size=1))
def test_it_is_the_closure_of_the_chosen_graphs(
    tmp_path_factory: pytest.TempPathFactory,
    first: list[tuple[ox.Triple, ox.NamedNode | ox.DefaultGraph]],
    more: list[tuple[ox.Triple, ox.NamedNode | ox.DefaultGraph]],
    choice: set[str],
) -> None:
    folder = tmp_path_factory.mktemp("chosen")

    def written(name: str, some: list[ox.Quad]) -> Path:
        (folder / name).write_bytes(ox.serialize(some, format=ox.RdfFormat.N_QUADS) or b"")
        return folder / name

    with mrag.connect() as kg:
        kg.load([written("a.nq", quads(first))])
        named = sorted(g for g in choice if g == "default" or g in kg.record.contexts)
        if not named:
            return
        reason(kg, graphs=named)
        for round, every in enumerate((quads(first), quads(first + more))):
            if round:
                kg.load([written("b.nq", quads(more))])
                reason(kg)
            there = [ox.Quad(*q.triple) for q in every if getattr(q.graph_name, "value", "default") in named]
            with mrag.connect() as alone:
                alone.load([written("c.nq", there)])
                reason(alone)
                expected = set(alone.select("SELECT ?s ?p ?o { ?s ?p ?o }"))
            asserted = set(kg.select("SELECT ?s ?p ?o { ?s ?p ?o }", "asserted"))
            inferred = list(kg.select("SELECT ?s ?p ?o { ?s ?p ?o }", "inferred"))
            assert set(inferred) == expected - asserted and len(inferred) == len(set(inferred))
            assert kg.record.inferences == len(inferred)


def test_the_commands_choose_and_say_so(tmp_path: Path) -> None:
    store = ("--store", f"oxigraph:{tmp_path}/store")
    assert run("load", str(VERSIONS), "--no-reason", *store, cwd=tmp_path).returncode == 0
    done = run("reason", "--graph", f"{E}schema", "--graph", "default", *store, "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["inferred"], found["graphs"]) == (3, [f"{E}schema", UNNAMED]), done.stderr
    assert "Reasoning read e:schema and what is in no named graph alone" in done.stderr
    assert "reasoning reads e:schema" in run("kgs", *store, cwd=tmp_path).stdout
    assert "as chosen with `mrag reason --graph`" in run("doctor", *store, cwd=tmp_path).stdout
    done = run("update", f"INSERT DATA {{ <{E}x> <{E}p> <{E}y> }}", "--yes", *store, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["inferred"] == 5
    assert json.loads(run("reason", "--all-graphs", *store, "--json", cwd=tmp_path).stdout)["graphs"] == []
    for wrong in (["--graph", f"{E}none"], ["--graph", f"{E}v1", "--all-graphs"]):
        assert run("reason", *wrong, *store, cwd=tmp_path).returncode == 1
