"""GraphDB's own engine: what it infers, how its layers and named graphs are told apart, what is written."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from rdflib import URIRef

import mrag
from mrag.errors import ConfigError, InconsistentOntology, QueryRefused, ReasoningError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import OWL
from mrag.reasoning.run import reason
from mrag.stores.base import Dataset
from tests.java_servers import graphdb_repository

pytestmark = pytest.mark.slow

E = "http://ex.org/"
SMALL = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:Person a owl:Class ; rdfs:label "Person" . ex:Employee rdfs:subClassOf ex:Person ; rdfs:label "Employee" .
ex:worksFor rdfs:label "works for" ; rdfs:domain ex:Employee ; owl:inverseOf ex:employs .
ex:partOf a owl:TransitiveProperty ; rdfs:label "part of" .
ex:ann rdfs:label "Ann Miller" ; ex:worksFor ex:acme . ex:bob rdfs:label "Bob Stone" ; ex:worksFor ex:acme .
ex:acme rdfs:label "Acme" ; ex:partOf ex:holding . ex:holding rdfs:label "Holding" ; ex:partOf ex:world .
ex:world rdfs:label "World Corp" .
"""
NAMED = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:dave rdfs:label "Dave" ; ex:worksFor ex:beta .
ex:g1 { ex:dave ex:age 20 . ex:eve rdfs:label "Eve" ; ex:worksFor ex:acme . }
ex:g2 { ex:dave ex:age 21 . ex:fay rdfs:label "Fay" ; ex:worksFor ex:acme . ex:eve ex:worksFor ex:acme . }
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)


@pytest.fixture(params=["empty", "owl-horst-optimized", "owl2-rl-optimized"])
def repository(request: pytest.FixtureRequest, graphdb: str) -> Iterator[str]:
    with graphdb_repository(graphdb, "engine", request.param) as url:
        yield url


@pytest.fixture
def horst(graphdb: str, tmp_path: Path) -> Iterator[KnowledgeGraph]:
    """What `SMALL` says, in a repository that reasons."""
    with graphdb_repository(graphdb, "horst", "owl-horst-optimized") as url, mrag.connect(url) as kg:
        load(kg, tmp_path, SMALL)
        yield kg


def load(kg: KnowledgeGraph, folder: Path, text: str, *, replacing: bool = False) -> int:
    path = folder / "data.trig"
    path.write_text(text, encoding="utf-8")
    return kg.load([path], replacing=replacing).triples


def named(kg: KnowledgeGraph) -> set[str]:
    return {str(g) for (g,) in kg.query("SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }")}  # type: ignore[union-attr]


def test_named_graphs_are_seen_chosen_replaced_and_counted(repository: str, tmp_path: Path) -> None:
    with mrag.connect(repository) as kg:
        assert load(kg, tmp_path, NAMED) == 8, "a triple of two graphs is one"
        assert kg.count() == 8
        assert kg.record.contexts == (f"{E}g1", f"{E}g2")
        assert {f"{E}g1", f"{E}g2"} <= named(kg)
        rows = kg.query(f"SELECT ?age FROM <{E}g1> {{ <{E}dave> <{E}age> ?age }}")
        assert [str(age) for (age,) in rows] == ["20"]  # type: ignore[union-attr]
        both = kg.query(f"SELECT ?age {{ <{E}dave> <{E}age> ?age }}")
        assert sorted(str(age) for (age,) in both) == ["20", "21"]  # type: ignore[union-attr]
        out = io.BytesIO()
        kg.dump(out, format="nq")
        parts = {(str(q.graph_name), str(q.triple)) for q in ox.parse(out.getvalue(), ox.RdfFormat.N_QUADS)}
        wanted = {(str(q.graph_name), str(q.triple)) for q in ox.parse(NAMED.encode(), ox.RdfFormat.TRIG)}
        assert parts == wanted
        assert load(kg, tmp_path, NAMED, replacing=True) == 8
        assert load(kg, tmp_path, f"<{E}g3> {{ <{E}a> <{E}p> 1 }}", replacing=True) == 1
        assert kg.record.contexts == (f"{E}g3",) and kg.count() == 1


def test_a_graph_of_the_url_is_what_is_read_and_written(repository: str, tmp_path: Path) -> None:
    with mrag.connect(repository) as kg:
        load(kg, tmp_path, NAMED)
    with mrag.connect(f"{repository}?graph={E}g1") as kg:
        assert kg.count() == 3
        assert load(kg, tmp_path, f"<{E}new> <{E}p> 1 .") == 1
        assert kg.count() == 4 and kg.store.count(f"{E}g1") == 4
        assert load(kg, tmp_path, f"<{E}new> <{E}p> 2 .", replacing=True) == 1
        assert kg.store.count(f"{E}g1") == 1
    with mrag.connect(repository) as kg:
        assert kg.store.count(f"{E}g2") == 4, "others are as they were"


def test_what_is_asserted_is_not_inferred(graphdb: str, tmp_path: Path) -> None:
    for ruleset in ("owl-horst-optimized", "owl2-rl-optimized"):
        with graphdb_repository(graphdb, "layers", ruleset) as url, mrag.connect(url) as kg:
            asserted = load(kg, tmp_path, SMALL)
            every = "SELECT ?s ?p ?o { ?s ?p ?o }"
            layers = {name: {*kg.query(every, layer=name)} for name in ("all", "asserted", "inferred")}  # type: ignore[arg-type,union-attr]
            assert len(layers["asserted"]) == asserted == kg.count()
            assert not layers["asserted"] & layers["inferred"]
            assert len(layers["inferred"]) == kg.count("inferred") < 100, "hundreds are axioms"
            assert layers["asserted"] | layers["inferred"] <= layers["all"]
            left = layers["all"] - layers["asserted"] - layers["inferred"]
            assert all("www.w3.org" in str(s) or "proton" in str(s) for s, _, _ in left)
            out = io.BytesIO()
            kg.dump(out, layer="inferred")
            assert len(out.getvalue().splitlines()) == kg.count("inferred")
            found = {*kg.query(f"SELECT ?x FROM onto:implicit {{ ?x a <{E}Person> }}")}  # type: ignore[arg-type]
            assert {str(x) for (x,) in found} == {f"{E}ann", f"{E}bob"}


def test_deletions_are_followed(horst: KnowledgeGraph) -> None:
    assert horst.holds(f"ASK {{ <{E}acme> <{E}partOf> <{E}world> }}", "all")
    horst.store.update(f"DELETE WHERE {{ GRAPH ?g {{ <{E}acme> <{E}partOf> ?o }} }}")
    assert not horst.holds(f"ASK {{ <{E}acme> <{E}partOf> ?o }}", "all")


def test_narrowed_graphs_beside_inferred_triples_are_refused(horst: KnowledgeGraph, tmp_path: Path) -> None:
    load(horst, tmp_path, NAMED)
    with pytest.raises(QueryRefused, match="beside all of its named graphs"):
        horst.store.select(
            "SELECT * { GRAPH ?g { ?s ?p ?o } }", Dataset(horst.dataset().default, (f"{E}g1",))
        )
    rows = horst.store.select(
        "SELECT ?g { GRAPH ?g { ?s ?p ?o } }", Dataset(horst.dataset("asserted").default, (f"{E}g1",))
    )
    assert {str(g) for (g,) in rows} == {f"{E}g1"}


def test_without_the_workbench_indexes_stand_beside_the_store(horst: KnowledgeGraph) -> None:
    indexes = SimilarityIndexes.of(horst)
    assert indexes.names() == []
    indexes.build("main", model="none")
    assert indexes.names() == ["main"]
    found = [match.doc_id for match in indexes.get("main").search("Ann Miller", 3)]
    assert found[0] == f"{E}ann"
    assert not any("www.w3.org" in iri for iri in (iri for iri, _ in documents(horst, Definition())))
    assert "Acme" in mrag.ask(horst, "Whom does Ann Miller work for?", model="none").text
    with pytest.raises(ConfigError, match="Workbench"):
        indexes.build("other", model="server")


def test_contradictions_are_found_where_the_ruleset_looks_for_none(
    horst: KnowledgeGraph, tmp_path: Path
) -> None:
    assert reason(horst).contradictions == ()
    load(horst, tmp_path, f"<{E}A> <{OWL}disjointWith> <{E}B> . <{E}i> a <{E}A>, <{E}B> .")
    [group] = reason(horst).contradictions
    assert group.count == 1 and "DisjointWith" in group.text()
    with pytest.raises(InconsistentOntology):
        reason(horst, on_inconsistency="error")


def test_what_the_server_alone_infers_is_its_word(horst: KnowledgeGraph) -> None:
    found = mrag.explain(horst, URIRef(f"{E}ann"))
    assert len(found.texts) == found.inferred >= 2
    words = mrag.explain(horst, URIRef(f"{E}Employee"))
    assert any("a rule of its own" in text for text in words.texts)
    with pytest.raises(ReasoningError, match="does not hold"):
        mrag.explain(horst, URIRef(f"{E}ann"), URIRef(f"{E}partOf"), URIRef(f"{E}world"))
