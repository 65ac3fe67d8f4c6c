"""Views made in parts are those made in one go, also where workers are killed or the job is broken off."""

from __future__ import annotations

import io
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import RDF, Graph
from rdflib.compare import isomorphic

import mrag
from mrag.errors import StoreError
from mrag.graph import views
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.views import branches
from mrag.jobs import InlineRunner, ProcessRunner, Runner, ThreadRunner, runners
from mrag.loaders.scenes import Fashionpedia
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import Child
from mrag.testing.annotations import write_annotations
from tests.commands import run
from tests.fuseki_server import fuseki_server

GRAPH = "urn:g"
P = "PREFIX : <urn:x:> "
ROWS = [line.split("\t") for line in Path(__file__).with_name("views.tsv").read_text().splitlines()]
DIVIDED, WHOLE = ([query for kind, query in ROWS if kind == wanted] for wanted in ("divided", "whole"))


LITERAL = '"1"'


def node(number: int) -> str:
    return f"_:b{number}" if number > 6 else f"<urn:x:{'abcdefg'[number]}>"


EDGES = st.lists(
    st.tuples(st.integers(0, 8), st.sampled_from(["p", "r"]), st.integers(0, 8) | st.just(-1)),
    max_size=14,
)


def ntriples(edges: list[tuple[int, str, int]]) -> bytes:
    lines = [f"{node(s)} <urn:x:{p}> {node(o) if o >= 0 else LITERAL} ." for s, p, o in edges]
    return "\n".join([*lines, f"<urn:x:a> <{RDF.type}> <urn:x:C> ."]).encode()


def graph(lines: bytes) -> Graph:
    """What was given, with blank nodes for the names that parts give them."""
    back = re.sub(rb"<urn:mrag:genid:(\w+)>", rb"_:x\1", lines)
    return Graph().parse(data=back.decode(), format="nt")


def in_parts(
    store: OxigraphStore, query: str, runner: Runner | None = None, folder: Path | None = None
) -> bytes:
    job = views.PartsJob(runner or InlineRunner(), "1", folder, None)
    with views.answered(store, query, Dataset((GRAPH,)), job) as pieces:
        return b"".join(pieces)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_LEAST", 20)


@pytest.fixture
def single(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part for each value."""
    monkeypatch.setattr(views, "_LEAST", 1)


@pytest.mark.usefixtures("single")
@given(EDGES, st.sampled_from([*DIVIDED, *WHOLE]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parts_together_are_the_whole(edges: list[tuple[int, str, int]], query: str) -> None:
    store = OxigraphStore()
    store.insert(ntriples(edges), GRAPH)
    whole = store.serialise(P + query, Dataset((GRAPH,)))
    given = in_parts(store, P + query)
    assert isomorphic(graph(given), graph(whole))
    if "ORDER BY" not in query:
        assert in_parts(store, P + query) == given, "blank nodes have the same names each time"
    store.close()


def test_what_can_be_divided_is() -> None:
    for query in DIVIDED:
        assert all(branch.anchors for branch in branches(P + query)), query
    for query in WHOLE:
        [branch] = branches(P + query)
        assert not branch.anchors and branch.why, query
    for made in ("RAND()", "BNODE()", "STRUUID()"):
        [branch] = branches(P + f"CONSTRUCT {{ ?s :q ?o }} {{ ?s :p ?x BIND({made} AS ?o) }}")
        assert "something else each time" in branch.why


# -- views of a real graph ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fashion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("views")
    write_annotations(folder / "a.json", scale=0.001)
    with KnowledgeGraph(OxigraphStore(folder / "store")) as kg:
        with Fashionpedia(folder / "a.json").ntriples() as triples:
            kg.load([triples])
        for name, view in views.VIEWS.items():
            views.make_view(kg, name, f"whole-{view.short}")
        yield kg


def dumped(kg: KnowledgeGraph, name: str) -> list[str]:
    out = io.BytesIO()
    KnowledgeGraph(kg.store, name).dump(out)
    return sorted(out.getvalue().decode().splitlines())


@pytest.mark.slow
def test_views_are_the_same_by_processes_of_which_one_is_killed(
    fashion: KnowledgeGraph, tmp_path: Path
) -> None:
    two, killed, told = ProcessRunner(2), [], []

    def note(done: int, total: int | None) -> None:
        told.append((done, total))
        if done == 3 and not killed:
            killed.append(two.pids[0])
            os.kill(two.pids[0], signal.SIGKILL)

    for name, view in views.VIEWS.items():
        killed.clear()
        told.clear()
        made = views.make_view(
            fashion, name, f"two-{view.short}", runner=two, journal=tmp_path / "j", on_progress=note
        )
        assert killed and told[0] == (0, told[-1][1]) and told[-1][0] == told[-1][1] == len(told) - 1 > 5
        assert dumped(fashion, made.name) == dumped(fashion, f"whole-{view.short}") != []
        assert not (tmp_path / "j").exists() and not views.stale(fashion, name, made.name)
    assert not list(Path(str(fashion.store.path)).parent.glob(".store.snapshot-*"))


def test_a_view_goes_on_where_it_was_broken_off(fashion: KnowledgeGraph, tmp_path: Path) -> None:
    def stop(done: int, total: int | None) -> None:
        if done == 4:
            raise KeyboardInterrupt

    make = lambda note: views.make_view(  # noqa: E731
        fashion, "fashion/images", "again", runner=InlineRunner(), journal=tmp_path / "j", on_progress=note
    )
    with pytest.raises(KeyboardInterrupt):
        make(stop)
    assert dumped(fashion, "again") == []
    kept = sorted((tmp_path / "j").iterdir())
    assert len(kept) == 5
    kept[0].write_bytes(b"damaged")
    told: list[tuple[int, int | None]] = []
    make(lambda *at: told.append(at))
    assert told[0][0] == 3 and told[-1][0] == told[-1][1]
    assert dumped(fashion, "again") == dumped(fashion, "whole-images")


@pytest.mark.usefixtures("single")
def test_blank_nodes_have_the_same_names_when_a_job_goes_on(tmp_path: Path) -> None:
    edges = [(n % 6, "pr"[n % 2], n % 9) for n in range(60)]
    query = P + DIVIDED[3]
    store = OxigraphStore(tmp_path / "store")
    store.insert(ntriples(edges), GRAPH)
    whole = in_parts(store, query)
    killed = ProcessRunner(2)
    assert in_parts(store, query, killed, tmp_path / "j") == whole
    files = sorted(file for file in (tmp_path / "j").iterdir() if file.suffix != ".jsonl")
    assert len(files) > 6
    for file in files[::2]:
        file.unlink()
    assert in_parts(store, query, ThreadRunner(2), tmp_path / "j") == whole
    assert isomorphic(graph(whole), graph(store.serialise(query, Dataset((GRAPH,)))))
    # Another state of the source takes none of the parts.
    job = views.PartsJob(InlineRunner(), "2", tmp_path / "j", None)
    with views.answered(store, query, Dataset((GRAPH,)), job) as pieces:
        assert isomorphic(graph(b"".join(pieces)), graph(whole))
    assert not {file.name for file in files} & {file.name for file in (tmp_path / "j").iterdir()}
    store.close()


def test_a_part_that_ends_its_worker_each_time_fails_and_leaves_the_view_as_it_was(
    fashion: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(Child):
        def ask(self, *request: Any) -> Any:
            os.kill(self.pid, signal.SIGKILL)
            return super().ask(*request)

    monkeypatch.setattr(runners, "Child", Dying)
    with pytest.raises(StoreError, match="has lost its worker 3 times"):
        views.make_view(fashion, "fashion/cel", "whole-cel", runner=ProcessRunner(1))
    assert dumped(fashion, "whole-cel")
    assert KnowledgeGraph(fashion.store, "whole-cel").record.pending == ""


@pytest.mark.slow
def test_views_of_a_server_in_parts_are_those_of_the_embedded_store(
    fashion: KnowledgeGraph, tmp_path: Path
) -> None:
    path = tmp_path / "a.nt"
    with path.open("wb") as out:
        fashion.dump(out)
    with fuseki_server() as (url, _, _behind), mrag.connect(url) as remote:
        remote.load([path])
        views.make_view(remote, "fashion/garments", "garments", runner=ProcessRunner(2))
        found = dumped(remote, "garments")
    assert parsed(found) == parsed(dumped(fashion, "whole-garments"))


def parsed(lines: list[str]) -> set[str]:
    return {str(q) for q in ox.parse("\n".join(lines), ox.RdfFormat.N_TRIPLES)}


@pytest.mark.slow
def test_the_command_makes_views_in_parts(tmp_path: Path) -> None:
    write_annotations(tmp_path / "a.json", scale=0.0003)
    store = ["--store", str(tmp_path / "store")]
    assert not run("import", "a.json", "--no-views", "--no-reason", *store, cwd=tmp_path).returncode
    done = run("views", "--no-reason", "--runner", "processes", "--workers", "2", *store, cwd=tmp_path)
    assert not done.returncode, done.stderr
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        for name, view in views.VIEWS.items():
            views.make_view(kg, name, "here")
            assert dumped(kg, "here") == dumped(kg, f"main-{view.short}") != []
    assert not list((tmp_path / "store.mrag").rglob("*.jsonl"))
