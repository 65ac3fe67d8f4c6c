"""The closure of `owl:sameAs` as servers get it, and reasoning over chosen named graphs."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.graph.connection import open_store
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import UNNAMED
from mrag.graph.updates import update
from mrag.rdf.terms import OWL, RDF, Triple, to_ntriples
from mrag.reasoning.proofs import prove
from mrag.reasoning.rounds import materialise
from mrag.reasoning.run import contradictions_of, proof_of, reason
from mrag.reasoning.sameness import Sameness, same_groups
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.http import Access
from mrag.stores.oxigraph import OxigraphStore
from tests.commands import run
from tests.conftest import slow
from tests.reasoning.helpers import A, close, data, store_of
from tests.reasoning.test_closure import axioms, facts, same
from tests.servers import oxigraph_server, virtuoso_server

SAME = URIRef(OWL + "sameAs")
NAMES = st.sampled_from([f"urn:x:{n}" for n in "abcdefghij"])
BY_PATH = (
    f"SELECT DISTINCT ?x ?y {{ {{ SELECT DISTINCT ?x {{ ?x (<{SAME}>|^<{SAME}>) ?m }} }} "
    f"?x (<{SAME}>|^<{SAME}>)+ ?y FILTER(?x != ?y) }}"
)
ALL = f"SELECT ?x ?y {{ ?x <{SAME}> ?y FILTER(?x != ?y) }}"


def pairs_in(store: TripleStore, dataset: Dataset) -> set[tuple[str, str]]:
    return {(str(x), str(y)) for x, y in store.select(ALL, dataset)}


def close_same(store: TripleStore, graphs: list[str], out: str) -> int:
    return Sameness(store, graphs, "urn:sets").close(graphs, out)


def pairs(store: TripleStore, query: str) -> set[tuple[str, str]]:
    return {(str(x), str(y)) for x, y in store.select(query, Dataset(("urn:g",)))}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=15))
@settings(max_examples=100, deadline=None)
def test_it_is_the_closure_by_a_path(said: list[tuple[str, str]]) -> None:
    with OxigraphStore() as store:
        store.insert(to_ntriples(Triple(URIRef(x), SAME, URIRef(y)) for x, y in said), "urn:g")
        wanted, before = pairs(store, BY_PATH), pairs(store, ALL)
        assert close_same(store, ["urn:g"], "urn:g") == len(wanted - before)
        assert pairs(store, ALL) == wanted
        assert close_same(store, ["urn:g"], "urn:g") == 0


def test_classes_do_not_depend_on_order() -> None:
    said = [("e", "c"), ("a", "b"), ("c", "d"), ("d", "e"), ("z", "y")]
    assert same_groups(said) == same_groups(said[::-1]) == [["a", "b"], ["c", "d", "e"], ["y", "z"]]


@pytest.fixture(params=["oxigraph", *slow("virtuoso")])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    server = oxigraph_server(tmp_path, memory=True) if request.param == "oxigraph" else None
    with server or virtuoso_server(tmp_path, most_rows=2000) as found:
        yield found


def test_a_class_is_closed_on_a_server(url: str, tmp_path: Path) -> None:
    chain = [(f"urn:x:{n:03}", f"urn:x:{n + 1:03}") for n in range(12)]
    lines = [f"<{x}> <{SAME}> <{y}> ." for x, y in chain]
    (tmp_path / "same.nt").write_text("\n".join([*lines, '<urn:x:000> <urn:p> "said of one" .']))
    with mrag.connect(url, access=Access(user="dba", password="dba")) as kg:
        kg.load([tmp_path / "same.nt"])
        mrag.reason(kg)
        count = f"SELECT (COUNT(*) AS ?n) {{ ?x <{SAME}> ?y FILTER(?x != ?y) }}"
        assert int(str(kg.query(count).rows[0][0])) == 13 * 12  # type: ignore[union-attr]
        assert kg.query('ASK { <urn:x:012> <urn:p> "said of one" }') is True


def test_pages_join_without_a_gap(url: str) -> None:
    store, _ = open_store(url, Access(user="dba", password="dba"))
    said = [(f"urn:x:{'aé'[n % 2]}{n // 7}", f"urn:y:{'B b'[n % 3].strip()}{n}") for n in range(1500)]
    store.insert(to_ntriples(Triple(URIRef(x), SAME, URIRef(y)) for x, y in said), "urn:g")
    groups = same_groups(said)
    close_same(store, ["urn:g"], "urn:g")
    found = store.select(f"SELECT (COUNT(*) AS ?n) {{ ?x <{SAME}> ?y }}", Dataset(("urn:g",)))
    assert int(str(found.rows[0][0])) == sum(len(g) * (len(g) - 1) for g in groups)
    store.close()


RING = "\n".join(
    f'<urn:x:{n}> <{SAME}> <urn:x:{(n + 1) % 400}> .\n<urn:x:{n}> <urn:p> "v{n}" .' for n in range(400)
)


def test_a_ring_of_400_is_a_set_and_each_pair_is_proved() -> None:
    with OxigraphStore() as store:
        store.insert(RING.encode(), "urn:g")
        began, asserted = time.perf_counter(), Dataset(("urn:g",))
        closure = materialise(store, asserted, "urn:i")
        assert time.perf_counter() - began < 10  # 0.5 s, where it took more than two minutes
        assert closure.triples < 400 * 6
        both = Dataset(("urn:g", *closure.graphs))
        first = "urn:x:0"
        assert len(store.select(f"SELECT ?v {{ <{first}> <urn:p> ?v }}", both)) == 400
        assert len(store.select(f"SELECT ?v {{ ?v <{SAME}> <{first}> }}", both)) == 399
        inferred = Dataset(closure.graphs)
        for pair in (Triple(URIRef("urn:x:7"), SAME, URIRef("urn:x:200")),
                     Triple(URIRef("urn:x:9"), URIRef("urn:p"), Literal("v12"))):  # fmt: skip
            proof = prove(store, asserted, inferred, pair)
            assert proof is not None and proof.replay(store, asserted)
            assert all(triple in set(store.construct("CONSTRUCT WHERE { ?s ?p ?o }", asserted))
                       for triple in proof.leaves())  # fmt: skip
        assert prove(store, asserted, inferred, Triple(URIRef("urn:x:7"), SAME, URIRef("urn:y"))) is None


@given(st.lists(st.one_of(same, same, axioms, facts, facts), min_size=1, max_size=14))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_representative_of_a_large_set_has_all_that_its_names_have(statements: list[str]) -> None:
    """With sets of three names taken as large: the closure, its names put in place of the others."""
    store = store_of("\n".join(statements))
    full = materialise(store, A, "urn:i", on_inconsistency="report", threads=1)
    both = Dataset(("urn:a", *full.graphs))
    groups = same_groups(pairs_in(store, both))
    centre = {name: min(g) for g in groups if len(g) > 2 for name in g}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrag.reasoning.sameness.MOST", 2)
        sets = materialise(store, A, "urn:j", on_inconsistency="report", threads=1)
    assert "urn:j:sets" not in store.graphs()

    def quotient(graphs: tuple[str, ...]) -> set[Triple]:
        found = {t for t in data(store, graphs) if t.p != SAME}
        mapped = {Triple(*(URIRef(centre.get(str(x), str(x))) for x in t)) for t in found}
        return {t for t in mapped if not str(t.p).startswith(str(OWL))}

    wanted, got = quotient(both.default), quotient(("urn:a", *sets.graphs))
    assert got == wanted
    stated = {t for t in data(store, ("urn:a", *sets.graphs)) if t.p != SAME}
    assert wanted <= stated, "not all of it is said of the representatives themselves"


def test_a_large_set_that_grows_while_rules_run_is_known_by_its_new_first_name() -> None:
    """Two sets that only a functional property shows to be one; the least name is in the second."""
    lines = [f":{s}{n} owl:sameAs :{s}{n + 1} ; :r {n} ." for s in "bk" for n in range(3)]
    lines += [":p a owl:FunctionalProperty .", ":x :p :b2 , :z .", ":z owl:sameAs :k1 , :a ."]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrag.reasoning.sameness.MOST", 2)
        store, closure = close("\n".join(lines))
    with store:
        both = Dataset(("urn:a", *closure.graphs))
        rows = store.select("SELECT ?v { <urn:t:a> <urn:t:r> ?v }", both)
        assert sorted(int(str(v)) for (v,) in rows) == [0, 1, 2]
        assert "urn:i:sets" not in store.graphs()


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
