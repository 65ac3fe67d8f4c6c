"""GraphDB's own engine: what it infers, how its layers and named graphs are told apart, what is written."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
import requests
from rdflib import RDF, URIRef
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.completion.passages import passages_of, store_documents
from mrag.completion.review import accept, list_runs, rollback
from mrag.context import Display, expand
from mrag.diagnosis import contents
from mrag.errors import ConfigError, EndpointError, InconsistentOntology, QueryRefused, ReasoningError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.documents import Definition, documents
from mrag.index.similarity import SimilarityIndexes
from mrag.loaders.snippets import Document
from mrag.planning.answering import compute
from mrag.planning.saved import list_questions, save_question
from mrag.rdf.terms import OWL, Triple
from mrag.reasoning.run import list_left_out, reason
from mrag.stores.base import Dataset
from tests.cases import beside, cases
from tests.completion.towns import asks, proposed, read, triples
from tests.conftest import ROOT
from tests.java_servers import graphdb_repository
from tests.servers import free_port, running

pytestmark = pytest.mark.slow
E = "http://ex.org/"
SMALL = beside(__file__, "staff.ttl")
NAMED = beside(__file__, "staff.trig")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mrag.graph.kg.user_data_path", lambda name: tmp_path / name)
    # However busy the machine is, what is asked is computed.
    monkeypatch.setitem(compute.__kwdefaults__, "seconds", 300.0)


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


def quads_of(kg: KnowledgeGraph) -> set[tuple[str, str]]:
    out = io.BytesIO()
    kg.dump(out, format="nq")
    return {(str(q.graph_name), str(q.triple)) for q in ox.parse(out.getvalue(), ox.RdfFormat.N_QUADS)}


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
        wanted = {(str(q.graph_name), str(q.triple)) for q in ox.parse(NAMED.encode(), ox.RdfFormat.TRIG)}
        assert quads_of(kg) == wanted
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


def test_what_is_served_of_a_repository_is_there_once(
    horst: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(horst, tmp_path, NAMED)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    base = f"http://127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "mrag", "serve", "--store", horst.store.url]
    with running(
        [*command, "--port", base.rpartition(":")[2]], f"{base}/sparql", tmp_path / "log", seconds=300
    ):

        def given(path: str, media: str, **params: str) -> list[str]:
            answer = requests.get(base + path, params=params, headers={"Accept": media}, timeout=300)
            return sorted(answer.text.splitlines())

        every = "/repositories/main/statements"
        assert given("/repositories/main/contexts", "text/csv") == ["contextID", f"{E}g1", f"{E}g2"]
        assert given("/repositories/main/size", "text/plain") == [str(horst.count())]
        told = "\n".join(given(every, "application/n-quads", infer="false"))
        quads = [(str(q.graph_name), str(q.triple)) for q in ox.parse(told, ox.RdfFormat.N_QUADS)]
        assert len({*quads}) == len(quads) and {*quads} == quads_of(horst)
        assert len(given("/graphs", "application/n-quads")) == len(quads)
        inferred = given(every, "application/n-quads", infer="true")
        assert len(inferred) == len({*inferred}) == len(quads) + horst.count("inferred")


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


UPDATES: list[str] = cases(__file__, "updates")


def test_updates_change_what_they_change_elsewhere(repository: str, tmp_path: Path) -> None:
    with mrag.connect(repository) as kg, mrag.connect() as embedded:
        for one in (kg, embedded):
            one.prefixes["ex"] = E
            load(one, tmp_path, SMALL)
            load(one, tmp_path, NAMED)
        for text in UPDATES:
            done, wanted = ((u.added, u.removed) for u in (kg.update(text), embedded.update(text)))
            assert done == wanted, text
            assert quads_of(kg) == quads_of(embedded), text
            assert kg.count() == embedded.count() and kg.record.contexts == embedded.record.contexts, text


def test_what_stands_in_no_named_graph_is_removed_there_alone(horst: KnowledgeGraph) -> None:
    triple = f"<{E}kim> <{E}worksFor> <{E}acme>"
    horst.store.update(f"INSERT DATA {{ {triple} . GRAPH <{E}g> {{ {triple} }} }}")
    horst.recount()
    assert horst.update(f"DELETE {{ GRAPH <{E}g> {{ {triple} }} }} WHERE {{ {triple} }}").removed == 1
    assert horst.record.contexts == () and horst.holds(f"ASK {{ {triple} }}")
    assert horst.update(f"DELETE DATA {{ {triple} }}").removed == 1
    assert not horst.holds(f"ASK {{ <{E}kim> ?p ?o }}")


def test_inferences_follow_updates(horst: KnowledgeGraph) -> None:
    def cli(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, "--store", horst.store.url], catch_exceptions=False)
        assert not done.exit_code, done.output
        return done.output

    far = f"ASK {{ <{E}acme> <{E}partOf> <{E}world> }}"
    told = cli("remove", f"{E}acme", f"{E}partOf", f"{E}holding", "--yes")
    assert "1 removed, 0 added" in told and "not up to date" not in told
    assert not horst.holds(far)
    told = cli("update", f"INSERT {{ <{E}acme> ?p ?o }} WHERE {{ <{E}holding> ?p ?o }}")
    assert "2 triples would be added" in told and not horst.holds(far)
    again = f"INSERT {{ <{E}acme> <{E}partOf> ?o }} WHERE {{ ?o <{E}partOf> <{E}world> }}"
    assert "1 added" in cli("update", again, "--yes")
    assert horst.holds(far) and horst.holds(far.replace("world", "holding"), "asserted")


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
    assert "Acme" in mrag.ask(horst, "What does Ann Miller work for?", model="none").text
    with pytest.raises(ConfigError, match="Workbench"):
        indexes.build("other", model="server")


def test_contradictions_are_found_that_the_ruleset_ignores(horst: KnowledgeGraph, tmp_path: Path) -> None:
    assert reason(horst).contradictions == ()
    load(horst, tmp_path, f"<{E}A> <{OWL}disjointWith> <{E}B> . <{E}i> a <{E}A>, <{E}B> .")
    [group] = reason(horst).contradictions
    assert group.count == 1 and "DisjointWith" in group.text()
    with pytest.raises(InconsistentOntology):
        reason(horst, on_inconsistency="error")


def test_the_doctor_says_what_the_ruleset_leaves_out_and_merges(graphdb: str, tmp_path: Path) -> None:
    chain = f"<{E}worksFor> <{OWL}propertyChainAxiom> ( <{E}worksFor> <{E}partOf> ) ."
    for ruleset, same in (("owl-horst-optimized", "true"), ("owl2-rl-optimized", "false")):
        with (
            graphdb_repository(graphdb, "left-out", ruleset, disable_sameAs=same) as url,
            mrag.connect(url) as kg,
        ):
            load(kg, tmp_path, SMALL + chain)
            missing = list_left_out(kg)
            rules, *others = [one for one in contents(kg) if one.what == "rules"]
            assert ruleset in rules.found and rules.ok is (True if same == "true" else None)
            assert ("is not shown as one" in rules.found) is (same == "true")
            notices = [mrag.ask(kg, "Who works for Acme?", model="none").notice or "" for _ in range(2)]
            if ruleset == "owl2-rl-optimized":
                assert not missing and not others and "rules" not in notices[0]
            else:
                [(axiom, term)] = missing
                assert term == f"{E}worksFor" and "works for" in axiom and axiom in others[0].found
                assert axiom in notices[0] and "do not carry out" in notices[0] and notices[1] == notices[0]


@pytest.mark.parametrize("ruleset,same", [("owl-horst-optimized", "false"), ("empty", "true")])
def test_a_merge_that_a_functional_property_forces_is_told_as_a_contradiction(
    graphdb: str, tmp_path: Path, ruleset: str, same: str
) -> None:
    said = f"<{E}worksFor> a <{OWL}FunctionalProperty> . <{E}ann> <{E}worksFor> <{E}beta> ."
    with graphdb_repository(graphdb, "merged", ruleset, disable_sameAs=same) as url, mrag.connect(url) as kg:
        load(kg, tmp_path, SMALL + said)
        merged = [g for g in reason(kg).contradictions if "Functional: works for" in g.text()]
        assert [group.count for group in merged] == ([1] if ruleset != "empty" else [])


def test_what_the_server_alone_infers_is_its_word(horst: KnowledgeGraph) -> None:
    found = mrag.explain(horst, URIRef(f"{E}ann"))
    assert len(found.texts) == found.inferred >= 2
    words = mrag.explain(horst, URIRef(f"{E}Employee"))
    assert any("a rule of its own" in text for text in words.texts)
    with pytest.raises(ReasoningError, match="does not hold"):
        mrag.explain(horst, URIRef(f"{E}ann"), URIRef(f"{E}partOf"), URIRef(f"{E}world"))


def test_notes_about_a_graph_are_out_of_sight(graphdb: str, tmp_path: Path) -> None:
    with graphdb_repository(graphdb, "notes", "owl-horst-optimized") as url, mrag.connect(url) as kg:
        kg.insert(triples())
        before, graphs, every = quads_of(kg), kg.store.graphs(), kg.count("inferred")
        run = proposed(kg, read("bob", "bornIn", "ystad"), ystad="Ystad")
        store_documents(kg, "urn:c:1", [Document("a.txt", "a", "Bob Stone was born in Ystad.")])
        save_question(kg, mrag.ask(kg, "How many places are there?", model="none"), "places")
        assert quads_of(kg) == before and kg.store.graphs() == graphs and kg.count("inferred") == every
        assert len(accept(kg, run).entered) == 2 and asks(kg, ":bob :bornIn :ystad")
        with mrag.connect(url) as again:
            assert [known.state for known in list_runs(again)] == ["accepted"]
            assert [text.text for text in passages_of(again, ["urn:c:1"])] == ["Bob Stone was born in Ystad."]
            assert [saved.name for saved in list_questions(again)] == ["places"]
            texts = " ".join(text for _, text in documents(again, Definition()))
            assert "Ystad" in texts and "was born in Ystad." not in texts and "How many" not in texts
        assert len(rollback(kg, run).removed) == 2
        assert quads_of(kg) == before and kg.count("inferred") == every


def test_triples_inside_triples_are_shown_and_not_asked_for(horst: KnowledgeGraph) -> None:
    inner = f"<{E}ann> <{E}worksFor> <{E}acme>"
    horst.store.update(f"INSERT DATA {{ << {inner} >> <{E}since> 2010 . <{E}cv> <{E}says> << {inner} >> }}")
    horst.recount()
    assert "(cv, says, (Ann Miller, works for, Acme))" in expand(horst, [(f"{E}cv", 1.0)]).text()
    [(iri,)] = horst.query(f"SELECT ?t {{ ?t <{E}since> 2010 }}")  # type: ignore[misc,union-attr]
    assert Display(horst).entity(str(iri)) == "(Ann Miller, works for, Acme)"
    with pytest.raises(QueryRefused, match="RDF-star"):
        horst.query(f"SELECT ?y {{ << {inner} >> <{E}since> ?y }}")


def test_what_the_servers_shapes_refuse_is_told_in_two_lines(graphdb: str) -> None:
    shape = (
        "[] a sh:NodeShape ; sh:targetClass ex:P ; "
        'sh:property [ sh:path ex:age ; sh:minCount 1 ; sh:message "Everyone has an age." ] .'
    )
    with graphdb_repository(graphdb, "shapes", shapes=True) as url, mrag.connect(url) as kg:
        prefixes = f"PREFIX sh: <http://www.w3.org/ns/shacl#> PREFIX ex: <{E}> "
        graph = "http://rdf4j.org/schema/rdf4j#SHACLShapeGraph"
        kg.store.update(f"{prefixes} INSERT DATA {{ GRAPH <{graph}> {{ {shape} }} }}")
        for way in (
            lambda: kg.insert([Triple(URIRef(f"{E}a"), RDF.type, URIRef(f"{E}P"))]),
            lambda: kg.update(f"INSERT DATA {{ <{E}a> a <{E}P> }}"),
        ):
            with pytest.raises(EndpointError) as told:
                way()
            first, second = told.value.message.splitlines()
            assert first.endswith("Everyone has an age.") and "shapes refuse" in first
            assert f"<{E}a>" in second and f"<{E}age>" in second
        assert kg.count() == 0
