"""Proposals, acceptance and rollback: what enters the graph, with what provenance, and leaves it again."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import Graph, Literal, URIRef

import mrag
from mrag.completion import review
from mrag.completion.checks import CheckSettings, CompletionRun, results
from mrag.completion.passages import store_folder
from mrag.completion.review import PROV, accept, find_run, propose, rollback, runs_graph, triples_of
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.images.enrichment import EnrichedGraph, JournalEntry
from mrag.index.similarity import SimilarityIndexes
from mrag.loaders.snippets import Snippets
from mrag.rdf import queries
from mrag.rdf.guard import PROVENANCE
from mrag.rdf.terms import RDFS
from mrag.stores.base import Dataset, SelectResult
from tests import commands
from tests.completion.towns import E, asks, contents, fact, iri, proposed, read, triples
from tests.servers import oxigraph_server

ROOT = Path(__file__).parents[2]


def test_a_proposal_changes_nothing_that_is_asked(kg: KnowledgeGraph) -> None:
    before, record = contents(kg), kg.record
    run = proposed(kg, read("bob", "bornIn", "visby"), read("bob", "bornIn", "ada", 0.8))
    assert contents(kg) == before and kg.record == record and kg.reasoned
    assert not asks(kg, ":bob :bornIn :visby")
    assert runs_graph(kg) not in kg.dataset().default + kg.dataset().named
    assert not asks(kg, "GRAPH ?g { ?run a <https://w3id.org/mrag#CompletionRun> }")
    assert [s.verdict for s in run.statements] == ["refused", "fits"]
    assert review.list_runs(kg) == [run] and review.list_runs(kg, "accepted") == []
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
    assert review.reject(kg, run).state == "rejected"
    assert proposed(kg, read("bob", "bornIn", "visby")).state == "rejected"
    assert not asks(kg, ":bob :bornIn :visby")
    accept(kg, run)
    with pytest.raises(ConfigError, match="has been accepted"):
        review.reject(kg, run)


def test_many_runs_do_not_make_many_graphs(kg: KnowledgeGraph) -> None:
    for number in range(5):
        name = f"p{number}"
        accept(kg, proposed(kg, read("bob", "knows", name), question=name, **{name: f"P {number}"}))
        assert kg.reasoned
        assert sum(status_of(g) == "completed" for g in kg.record.asserted) <= 2
        contents(kg)
    assert len(contents(kg)["completed"]) == 10


def test_runs_are_told_apart_by_what_they_say(kg: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="No run is called"):
        find_run(kg, "last")
    proposed(kg, read("ada", "knows", "bob"))
    proposed(kg, read("ada", "knows", "bob", quote="Another page says so."))
    for name in ("zzz", ""):
        with pytest.raises(ConfigError, match=f"No run is called '{name}'"):
            find_run(kg, name)
    assert len(review.list_runs(kg)) == 2


def graph_of(triples: Iterable[Any]) -> Graph:
    graph = Graph()
    for t in triples:
        graph.add(t)
    return graph


def test_the_provenance_is_whole_and_holds_its_shapes(kg: KnowledgeGraph) -> None:
    run = accept(kg, proposed(kg, read("bob", "wrote", "reeds"), reeds="Reeds")).run
    described = graph_of(triples_of(kg, run))
    node = URIRef(run.iri)
    statements = set(described.subjects(URIRef(PROV + "wasGeneratedBy"), node))
    assert len(statements) == 2
    for one in statements:
        [quote] = described.objects(one, URIRef(PROV + "wasDerivedFrom"))
        assert described.value(quote, URIRef(PROV + "value")).toPython() is not None
        assert described.value(quote, URIRef(PROV + "wasQuotedFrom")) == URIRef("urn:x:page")
    pytest.importorskip("pyshacl", reason="pySHACL is not installed (pip install 'mrag[completion]')")
    rules = Graph().parse(ROOT / "ontology" / "shapes.ttl")
    # What is in the store is what was checked, and the shapes do find fault with less.
    kept = kg.store.construct(mrag.rdf.queries.get("kg/graph").text, Dataset((runs_graph(kg),)))
    assert results(described, rules) == results(graph_of(kept), rules) == set()
    for missing in ("wasDerivedFrom", "wasGeneratedBy", "wasQuotedFrom"):
        less = graph_of(t for t in described if t[1] != URIRef(PROV + missing))
        assert results(less, rules), missing


def test_a_graph_that_is_read_only_is_refused(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KnowledgeGraph, "as_found", property(lambda self: True))
    with pytest.raises(ConfigError, match="read only"):
        propose(kg, "Where?", [read("bob", "bornIn", "visby")])


def test_what_a_file_asserts_is_known(kg: KnowledgeGraph) -> None:
    kg.insert([fact("bob", "bornIn", "visby")])
    assert propose(kg, "Where?", [read("bob", "bornIn", "visby")]) is None


def test_literals_are_kept_as_they_are(kg: KnowledgeGraph) -> None:
    run = proposed(kg, read("fern", "isbn", Literal('9 "8"\n} ; DROP ALL #')))
    accept(kg, run)
    assert asks(kg, ":fern :isbn " + Literal('9 "8"\n} ; DROP ALL #').n3())


LIVES = str(iri("livesIn"))
ONE_HOME = CheckSettings(functional=(LIVES,))
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://example.org/> .
[] a sh:NodeShape ; sh:targetSubjectsOf :livesIn ; sh:property [ sh:path :livesIn ; sh:maxCount 1 ] .
"""


def second_home(kg: KnowledgeGraph, checks: CheckSettings | None) -> CompletionRun:
    both = read("ada", "livesIn", "lund"), read("bob", "livesIn", "lund")
    return proposed(kg, *both, question="Where now?", settings=checks)


def test_what_a_run_refused_is_refused_when_it_is_accepted(kg: KnowledgeGraph) -> None:
    run = second_home(kg, ONE_HOME)
    assert len(run.refused) == 1 and find_run(kg, run.id).checks.functional == (LIVES,)
    report = accept(kg, run)
    assert [t.s for t in report.entered] == [iri("bob")] and len(report.run.refused) == 1
    assert not asks(kg, ":ada :livesIn :lund")


def test_shapes_are_kept_with_their_run(kg: KnowledgeGraph) -> None:
    pytest.importorskip("pyshacl", reason="pySHACL is not installed (pip install 'mrag[completion]')")
    run = second_home(kg, CheckSettings(shapes=(SHAPES,)))
    assert len(run.refused) == 1
    assert [t.s for t in accept(kg, run.id).entered] == [iri("bob")]


def test_checks_at_acceptance_come_beside_those_of_the_run(kg: KnowledgeGraph) -> None:
    run = second_home(kg, CheckSettings(functional=(str(iri("knows")),), closed_types=False))
    report = accept(kg, run, settings=ONE_HOME)
    assert [t.s for t in report.entered] == [iri("bob")]
    assert set(report.run.checks.functional) == {str(iri("knows")), LIVES}
    assert find_run(kg, run.id) == report.run


def test_asked_again_under_other_checks_a_proposed_run_has_those(kg: KnowledgeGraph) -> None:
    free = second_home(kg, None)
    assert not free.refused
    strict = second_home(kg, ONE_HOME)
    assert strict.iri == free.iri and len(strict.refused) == 1
    assert find_run(kg, free.id) == strict
    rejected = review.reject(kg, strict)
    assert second_home(kg, None) == rejected, "what a person decided on stays"


def test_what_was_refused_when_proposed_and_is_written_goes_out_again(kg: KnowledgeGraph) -> None:
    kg.insert([fact("bob", "bornIn", "lund")])
    run = propose(kg, "Where?", [read("bob", "bornIn", "visby")])
    assert run is not None and run.refused
    kg.update(f"DELETE DATA {{ <{E}bob> <{E}bornIn> <{E}lund> }}")
    mrag.reason(kg)
    before = contents(kg)
    assert len(accept(kg, run).entered) == 1
    assert [s.verdict for s in find_run(kg, run.id).statements] == ["fits"], "as it was written"
    assert len(rollback(kg, run).removed) == 1
    assert contents(kg) == before


STATEMENTS = st.tuples(
    st.sampled_from(("ada", "bob", "cleo")),
    st.sampled_from(("knows", "livesIn", "bornIn", "parentOf")),
    st.sampled_from(("ada", "bob", "cleo", "lund", "visby", "ystad")),
)
RUNS = st.tuples(
    st.lists(STATEMENTS, min_size=1, max_size=4), st.sampled_from(("Ystad", "YSTAD")),
    st.sampled_from(("Cleo", "CLEO")), st.booleans(),
)  # fmt: skip
DECISIONS = ("accept", "accept", "rollback", "propose")


def steps_of(*kinds: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 4)), max_size=12)


def made(kg: KnowledgeGraph, number: int, drawn: tuple[list[tuple[str, str, str]], str, str, bool]) -> str:
    triples, town, person, strict = drawn
    names = {str(iri("ystad")): town, str(iri("cleo")): person}
    unknown = {iri_ for iri_ in names if not kg.labels([iri_])[iri_]}
    run = propose(
        kg, f"Question {number}?", [read(*t) for t in triples],
        names={k: v for k, v in names.items() if k in unknown}, settings=ONE_HOME if strict else None,
    )  # fmt: skip
    return run.id if run else ""


def followed(kg: KnowledgeGraph, runs: list[object], steps: list[tuple[str, int]]) -> None:
    """Take the steps, and check each rollback that follows its acceptance at once."""
    start = contents(kg)
    ids = [made(kg, n, run) for n, run in enumerate(runs)]  # type: ignore[arg-type]
    accepted: list[str] = []
    before: list[dict[str, list[str]]] = []
    home = f"<{E}bob> <{E}livesIn> <{E}lund>"
    stated = False
    for what, number in steps:
        at = number % len(ids)
        run = ids[at]
        if what == "toggle":
            # What the graph says changes in between, and so what the checks say.
            kg.update(f"{'DELETE' if stated else 'INSERT'} DATA {{ {home} }}")
            stated, before = not stated, []
        elif what == "propose":
            ids[at] = made(kg, at, runs[at]) or run  # type: ignore[arg-type]
        elif run and what == "accept" and run not in accepted:
            before.append(contents(kg))
            report = accept(kg, run)
            accepted.append(run)
            came = {s.triple for s in report.run.fitting}
            assert came == set(report.entered)
        elif what == "rollback" and run in accepted:
            last = run == accepted[-1]
            rollback(kg, run)
            accepted.remove(run)
            if last and before:
                assert contents(kg) == before[-1]
            before = before[:-1] if last else []
    for run in accepted:
        rollback(kg, run)
    if stated:
        kg.update(f"DELETE DATA {{ {home} }}")
        if start["inferred"]:
            mrag.reason(kg)
    assert contents(kg) == start


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(RUNS, min_size=1, max_size=4), steps_of(*DECISIONS, "toggle"))
def test_random_runs_accepted_and_rolled_back_leave_the_graph_as_it_was(
    runs: list[object], steps: list[tuple[str, int]]
) -> None:
    with mrag.connect() as kg:
        kg.insert(triples())
        mrag.reason(kg)
        followed(kg, runs, steps)


@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.lists(RUNS, min_size=2, max_size=3), steps_of(*DECISIONS))
def test_over_a_server_too(
    tmp_path_factory: pytest.TempPathFactory, runs: list[object], steps: list[tuple[str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("server")
    with oxigraph_server(folder) as url, mrag.connect(url, "towns") as kg:
        kg.insert(triples())
        followed(kg, runs, steps)


def test_acceptance_cut_off_on_a_server_rolls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with oxigraph_server(tmp_path) as url, mrag.connect(url, "towns") as kg:
        kg.insert(triples())
        before = contents(kg)
        run = propose(kg, "Whom?", [read("bob", "knows", "lund")], settings=CheckSettings(closed_types=False))
        assert run is not None
        plain = review.change

        def cut(graph: KnowledgeGraph, out: object, into: object) -> None:
            if asks(graph, ":bob :knows :lund"):
                raise KeyboardInterrupt
            plain(graph, out, into)  # type: ignore[arg-type]

        monkeypatch.setattr(review, "change", cut)
        with pytest.raises(KeyboardInterrupt):
            accept(kg, run)
        monkeypatch.setattr(review, "change", plain)
        assert accept(kg, run).run.state == "accepted"
        assert len(rollback(kg, run).removed) == 1
        assert contents(kg) == before


@pytest.fixture
def accepted_kg(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as graph:
        graph.insert(triples())
        yield graph


def rows(accepted_kg: KnowledgeGraph, text: str) -> list[dict[str, str]]:
    found = accepted_kg.query(text)
    assert isinstance(found, SelectResult)
    return [{name: str(term) for name, term in one.items()} for one in found.bindings()]


def fill(accepted_kg: KnowledgeGraph, folder: Path) -> None:
    accept(
        accepted_kg,
        proposed(accepted_kg, read("bob", "knows", "lund", quote="Bob knows Lund."), question="Whom?"),
    )
    proposed(accepted_kg, read("bob", "bornIn", "visby", quote="Bob was born in Visby."))
    folder.mkdir()
    (folder / "a.txt").write_text("Bob was born in Visby.", "utf-8")
    store_folder(accepted_kg, Snippets(folder))
    said = ("urn:i", "", "A coat.", "seer", "Say what is shown.", "{}", "2026-01-01T00:00:00Z", "mrag", "0")
    EnrichedGraph(accepted_kg).write([JournalEntry(*said)])


def test_the_catalogue_reads_it(accepted_kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(accepted_kg, tmp_path / "texts")
    runs = rows(accepted_kg, queries.get("provenance/runs").text)
    assert [(r["question"], r["state"], r["model"], r["statements"]) for r in runs] == [
        ("Whom?", "accepted", "hand", "1"),
        ("Where?", "proposed", "hand", "1"),
    ]
    completed = rows(accepted_kg, queries.get("provenance/completed").text)
    assert {(r["state"], r["words"], r["source"]) for r in completed} == {
        ("accepted", "Bob knows Lund.", "page.txt"),
        ("proposed", "Bob was born in Visby.", "page.txt"),
    }
    about = rows(accepted_kg, queries.get("provenance/completed-about").bind(entity=[iri("visby")]))
    assert [r["words"] for r in about] == ["Bob was born in Visby."]
    [described] = rows(accepted_kg, queries.get("provenance/described").text)
    assert described["what"] == "urn:i" and described["model"] == "seer"
    assert described["prompt"] == "Say what is shown."


def test_other_queries_do_not_see_it(accepted_kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(accepted_kg, tmp_path / "texts")
    asked = "PREFIX m: <https://w3id.org/mrag#> ASK {0} {{ ?run a m:CompletionRun . ?p a m:Passage }}"
    assert accepted_kg.query(asked.format("")) is False
    assert accepted_kg.query(asked.format(f"FROM <{PROVENANCE}>")) is True


def test_the_command_and_the_endpoint_do(accepted_kg: KnowledgeGraph, tmp_path: Path) -> None:
    fill(accepted_kg, tmp_path / "texts")
    accepted_kg.close()
    listed = commands.run("query", "--list", "provenance", cwd=tmp_path)
    assert "provenance/completed\tEach triple" in listed.stdout, listed.stderr
    done = commands.run("query", "provenance/completed", "--store", "store", "--json", cwd=tmp_path)
    bindings = json.loads(done.stdout)["results"]["bindings"]
    assert {row["words"]["value"] for row in bindings} == {"Bob knows Lund.", "Bob was born in Visby."}
    nothing = commands.run("query", "--store", "store", cwd=tmp_path)
    assert nothing.returncode == 2 and "--list" in nothing.stderr
