"""Proposals, acceptance and rollback: what enters the graph, when, and what leaves it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rdflib import Graph, Literal, URIRef

import mrag
from mrag.completion.checks import CompletionRun
from mrag.completion.review import (
    PROV,
    accept,
    find_run,
    list_runs,
    propose,
    reject,
    rollback,
    runs_graph,
    triples_of,
)
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import RDFS, Triple
from mrag.stores.base import Dataset
from tests.completion.towns import TURTLE, E, iri, read

ROOT = Path(__file__).parents[2]


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "towns.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return path


@pytest.fixture
def kg(towns: Path) -> Iterator[KnowledgeGraph]:
    with mrag.connect() as graph:
        graph.load([towns])
        mrag.reason(graph)
        graph.profile()
        yield graph


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


def contents(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """All that questions are answered from, graph by graph, without names that tell only of order."""
    graphs = (*kg.record.asserted, *kg.record.inferred)
    assert kg.record.triples == sum(kg.store.count(g) for g in kg.record.asserted)
    found: dict[str, list[str]] = {"asserted": [], "completed": [], "inferred": []}
    for graph in graphs:
        lines = [str(quad.triple) for quad in kg.store.edges(graph)]
        found[status_of(graph, inferred=graph in kg.record.inferred)] += lines
    everything = [line for lines in found.values() for line in lines]
    assert len(everything) == len(set(everything)), "no triple stands twice"
    return {name: sorted(lines) for name, lines in found.items()}


def proposed(kg: KnowledgeGraph, *triples: object, question: str = "Where?", **names: str) -> CompletionRun:
    run = propose(
        kg,
        question,
        triples,
        model="hand",
        names={str(iri(n)): v for n, v in names.items()},  # type: ignore[arg-type]
    )
    assert run is not None
    return run


def test_a_proposal_changes_nothing_that_is_asked(kg: KnowledgeGraph) -> None:
    before, record = contents(kg), kg.record
    run = proposed(kg, read("bob", "bornIn", "visby"), read("bob", "bornIn", "ada", 0.8))
    assert contents(kg) == before and kg.record == record and kg.reasoned
    assert not asks(kg, ":bob :bornIn :visby")
    assert runs_graph(kg) not in kg.dataset().default + kg.dataset().named
    assert not asks(kg, "GRAPH ?g { ?run a <https://w3id.org/mrag#CompletionRun> }")
    assert [s.verdict for s in run.statements] == ["refused", "fits"]
    assert list_runs(kg) == [run] and list_runs(kg, "accepted") == []
    assert find_run(kg, "last") == find_run(kg, run.id[:6]) == run


def test_accepted_it_is_in_the_graph_reasoned_and_indexed(kg: KnowledgeGraph) -> None:
    SimilarityIndexes.of(kg).build("main", model="none")
    run = proposed(kg, read("bob", "wrote", "reeds"), reeds="Reeds and Rushes")
    report = accept(kg, run)
    assert {str(t.p) for t in report.entered} == {str(iri("wrote")), RDFS + "label"}
    assert report.run.state == "accepted" and report.run.decided > run.started
    assert status_of(report.graph) == "completed"
    assert asks(kg, ':bob :wrote :reeds . :bob a :Writer . :reeds a :Book ; rdfs:label "Reeds and Rushes"')
    assert kg.reasoned and not SimilarityIndexes.of(kg).info().stale
    assert kg.labels([str(iri("reeds"))]) == {str(iri("reeds")): "Reeds and Rushes"}
    [hit] = SimilarityIndexes.of(kg).get().search("rushes", 1)
    assert hit.doc_id == str(iri("reeds"))


def test_the_same_again_writes_nothing_new(kg: KnowledgeGraph) -> None:
    run = proposed(kg, read("bob", "bornIn", "visby"))
    described = kg.store.count(runs_graph(kg))
    assert proposed(kg, read("bob", "bornIn", "visby")) == run
    assert kg.store.count(runs_graph(kg)) == described
    accept(kg, run)
    state, record = contents(kg), kg.record
    assert accept(kg, run).entered == () and contents(kg) == state and kg.record == record
    assert propose(kg, "Where?", [read("bob", "bornIn", "visby")], model="hand") is None, "it is known"
    assert propose(kg, "Where?", []) is None


def test_rolled_back_everything_is_as_before(kg: KnowledgeGraph) -> None:
    before = contents(kg)
    first = proposed(kg, read("bob", "wrote", "reeds"), reeds="Reeds")
    accept(kg, first)
    second = proposed(kg, read("bob", "livesIn", "lund"), question="And where now?")
    accept(kg, second)
    assert asks(kg, ":bob a :Writer ; :livesIn :lund")
    report = rollback(kg, first)
    assert len(report.removed) == 2 and report.run.state == "rolled back"
    assert asks(kg, ":bob :livesIn :lund") and not asks(kg, ":bob a :Writer") and kg.reasoned
    rollback(kg, "last")
    assert contents(kg) == before
    assert rollback(kg, first).removed == () and contents(kg) == before
    # What was rolled back can be accepted again.
    accept(kg, first)
    assert asks(kg, ":bob a :Writer")


def test_what_two_runs_state_stays_until_both_are_gone(kg: KnowledgeGraph) -> None:
    one = proposed(kg, read("bob", "knows", "reed"), question="Whom?", reed="Rita Reed")
    two = proposed(kg, read("bob", "knows", "reed"), read("ada", "knows", "reed"), reed="Rita Reed")
    accept(kg, one)
    assert len(accept(kg, two).entered) == 1
    assert rollback(kg, one).removed == ()
    assert asks(kg, ':bob :knows :reed . :ada :knows :reed . :reed rdfs:label "Rita Reed"')
    assert len(rollback(kg, two).removed) == 3
    assert not asks(kg, ":reed ?p ?o")


def test_the_label_of_a_new_entity_that_others_use_stays(kg: KnowledgeGraph) -> None:
    one = proposed(kg, read("bob", "knows", "reed"), reed="Rita Reed")
    accept(kg, one)
    two = proposed(kg, read("ada", "knows", "reed"), question="And Ada?")
    accept(kg, two)
    assert len(rollback(kg, one).removed) == 1
    assert asks(kg, ':ada :knows :reed . :reed rdfs:label "Rita Reed"')
    assert len(rollback(kg, two).removed) == 2
    assert not asks(kg, ":reed ?p ?o")


def test_a_contradiction_is_reported_and_never_written_over(kg: KnowledgeGraph) -> None:
    before = contents(kg)
    run = proposed(kg, read("ada", "bornIn", "visby"))
    assert run.refused[0].objections == ("born in has one value only, and it is Lund",)
    report = accept(kg, run)
    assert report.entered == () and contents(kg) == before


def test_what_became_wrong_after_it_was_proposed_is_not_written(kg: KnowledgeGraph) -> None:
    run = proposed(kg, read("bob", "bornIn", "visby"))
    other = proposed(kg, read("bob", "bornIn", "lund"), question="Where else?")
    assert len(accept(kg, other).entered) == 1
    report = accept(kg, run)
    assert report.entered == () and report.run.refused[0].objections
    assert asks(kg, ":bob :bornIn :lund") and not asks(kg, ":bob :bornIn :visby")


def test_rejected_it_is_not_proposed_again(kg: KnowledgeGraph) -> None:
    run = proposed(kg, read("bob", "bornIn", "visby"))
    assert reject(kg, run).state == "rejected"
    assert proposed(kg, read("bob", "bornIn", "visby")).state == "rejected"
    assert not asks(kg, ":bob :bornIn :visby")
    accept(kg, run)
    with pytest.raises(ConfigError, match="has been accepted"):
        reject(kg, run)


def test_many_runs_do_not_make_many_graphs(kg: KnowledgeGraph) -> None:
    for number in range(5):
        run = proposed(
            kg, read("bob", "knows", f"p{number}"), question=f"{number}", **{f"p{number}": f"P {number}"}
        )
        accept(kg, run)
        assert kg.reasoned
        assert sum(status_of(g) == "completed" for g in kg.record.asserted) <= 2
        contents(kg)
    assert len(contents(kg)["completed"]) == 10


def test_runs_are_told_apart_by_what_they_say(kg: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="No run is called"):
        find_run(kg, "last")
    proposed(kg, read("ada", "knows", "bob"))
    proposed(kg, read("ada", "knows", "bob", quote="Another page says so."))
    with pytest.raises(ConfigError, match="No run is called"):
        find_run(kg, "zzz")
    with pytest.raises(ConfigError, match="No run is called ''"):
        find_run(kg, "")
    assert len(list_runs(kg)) == 2


def test_the_provenance_is_whole_and_holds_its_shapes(kg: KnowledgeGraph) -> None:
    run = accept(kg, proposed(kg, read("bob", "wrote", "reeds"), reeds="Reeds")).run
    described = Graph()
    for t in triples_of(kg, run):
        described.add(t)
    node = URIRef(run.iri)
    statements = set(described.subjects(URIRef(PROV + "wasGeneratedBy"), node))
    assert len(statements) == 2
    for one in statements:
        [quote] = described.objects(one, URIRef(PROV + "wasDerivedFrom"))
        assert described.value(quote, URIRef(PROV + "value")).toPython() is not None
        assert described.value(quote, URIRef(PROV + "wasQuotedFrom")) == URIRef("urn:x:page")
    shapes = pytest.importorskip("mrag.completion.checks")
    pytest.importorskip("pyshacl", reason="pySHACL is not installed (pip install 'mrag[completion]')")
    rules = Graph().parse(ROOT / "ontology" / "shapes.ttl")
    assert shapes.results(described, rules) == set()
    # What is in the store is what was checked, and the shapes do find fault with less.
    kept = kg.store.construct(mrag.rdf.queries.get("kg/graph").text, Dataset((runs_graph(kg),)))
    whole = Graph()
    for t in kept:
        whole.add(t)
    assert shapes.results(whole, rules) == set()
    for missing in ("wasDerivedFrom", "wasGeneratedBy", "wasQuotedFrom"):
        less = Graph()
        for t in described:
            if t[1] != URIRef(PROV + missing):
                less.add(t)
        assert shapes.results(less, rules), missing


def test_a_graph_that_is_read_only_here_is_refused(
    kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KnowledgeGraph, "as_found", property(lambda self: True))
    with pytest.raises(ConfigError, match="read only"):
        propose(kg, "Where?", [read("bob", "bornIn", "visby")])


def test_what_a_file_asserts_is_known(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(iri("bob"), iri("bornIn"), iri("visby"))])
    assert propose(kg, "Where?", [read("bob", "bornIn", "visby")]) is None


def test_literals_are_kept_as_they_are(kg: KnowledgeGraph) -> None:
    run = proposed(kg, read("fern", "isbn", Literal('9 "8"\n} ; DROP ALL #')))
    accept(kg, run)
    assert [str(o) for (o,) in kg.query(f"SELECT ?o {{ <{E}fern> <{E}isbn> ?o }}")] == [
        '9 "8"\n} ; DROP ALL #'
    ]  # type: ignore[union-attr,misc]
