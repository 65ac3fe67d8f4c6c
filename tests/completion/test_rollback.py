"""What a run was checked under is kept with it, and rolling back restores the graph exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import Graph

import mrag
from mrag.completion import review
from mrag.completion.checks import CheckSettings, CompletionRun
from mrag.completion.review import accept, find_run, propose, reject, rollback
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset
from tests.completion.towns import TURTLE, E, iri, read
from tests.servers import oxigraph_server


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


def contents(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """Return all that questions are answered from, layer by layer."""
    found: dict[str, list[str]] = {"asserted": [], "completed": [], "inferred": []}
    for graph in (*kg.record.asserted, *kg.record.inferred):
        rows = kg.store.construct(queries.get("kg/graph").text, Dataset((graph,)))
        found[status_of(graph, inferred=graph in kg.record.inferred)] += [str(t) for t in rows]
    assert kg.record.triples == len(found["asserted"]) + len(found["completed"])
    return {name: sorted(lines) for name, lines in found.items()}


LIVES = str(iri("livesIn"))
ONE_HOME = CheckSettings(functional=(LIVES,))
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix : <http://example.org/> .
[] a sh:NodeShape ; sh:targetSubjectsOf :livesIn ; sh:property [ sh:path :livesIn ; sh:maxCount 1 ] .
"""


@pytest.fixture
def kg(tmp_path: Path) -> Iterator[KnowledgeGraph]:
    (tmp_path / "towns.ttl").write_text(TURTLE, encoding="utf-8")
    with mrag.connect() as graph:
        graph.load([tmp_path / "towns.ttl"])
        mrag.reason(graph)
        yield graph


def second_home(kg: KnowledgeGraph, checks: CheckSettings | None) -> CompletionRun:
    run = propose(
        kg, "Where now?", [read("ada", "livesIn", "lund"), read("bob", "livesIn", "lund")], settings=checks
    )
    assert run is not None
    return run


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
    rejected = reject(kg, strict)
    assert second_home(kg, None) == rejected, "what a person decided on stays"


def test_what_was_refused_when_proposed_and_is_written_goes_out_again(kg: KnowledgeGraph) -> None:
    kg.insert([Triple(iri("bob"), iri("bornIn"), iri("lund"))])
    run = propose(kg, "Where?", [read("bob", "bornIn", "visby")])
    assert run is not None and run.refused
    kg.update(f"DELETE DATA {{ <{E}bob> <{E}bornIn> <{E}lund> }}")
    mrag.reason(kg)
    before = contents(kg)
    assert len(accept(kg, run).entered) == 1
    assert [s.verdict for s in find_run(kg, run.id).statements] == ["fits"], "as it was written"
    assert len(rollback(kg, run).removed) == 1
    assert contents(kg) == before


def test_what_was_there_before_stays(kg: KnowledgeGraph) -> None:
    one = propose(kg, "Whom?", [read("bob", "knows", "visby")], settings=CheckSettings(closed_types=False))
    two = propose(kg, "And?", [read("bob", "knows", "visby"), read("ada", "knows", "bob")])
    assert one is not None and two is not None
    start = contents(kg)
    accept(kg, one)
    between = contents(kg)
    accept(kg, two)
    rollback(kg, two)
    assert contents(kg) == between
    accept(kg, two)
    rollback(kg, one)
    assert asks(kg, ":bob :knows :visby"), "the other run states it"
    rollback(kg, two)
    assert contents(kg) == start


def triples() -> list[Triple]:
    return [Triple(*t) for t in Graph().parse(data=TURTLE, format="turtle")]  # type: ignore[arg-type]


STATEMENTS = st.tuples(
    st.sampled_from(("ada", "bob", "cleo")),
    st.sampled_from(("knows", "livesIn", "bornIn", "parentOf")),
    st.sampled_from(("ada", "bob", "cleo", "lund", "visby", "ystad")),
)
RUNS = st.tuples(
    st.lists(STATEMENTS, min_size=1, max_size=4),
    st.sampled_from(("Ystad", "YSTAD")),
    st.sampled_from(("Cleo", "CLEO")),
    st.booleans(),
)
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
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


def test_an_acceptance_cut_off_over_a_server_can_be_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
