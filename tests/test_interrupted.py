"""What loads, reasoning, imports and views leave that are broken off, at a known moment or at any."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from rdflib import Literal, URIRef

import mrag
from mrag.errors import ConfigError, LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record
from mrag.graph.updates import update
from mrag.rdf.queries import Query
from mrag.rdf.terms import Triple
from mrag.storage.files import save
from mrag.stores import oxigraph
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside
from tests.commands import run
from tests.conftest import PRODUCTS, ROOT
from tests.crash import Job, breaks, graph_state, mrag_in
from tests.made import write_annotations

ONE = Triple(URIRef("urn:x:one"), URIRef("urn:x:p"), Literal("one"))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_bad_file_replaces_nothing(any_kg: KnowledgeGraph, tmp_path: Path) -> None:
    any_kg.insert([ONE])
    mrag.reason(any_kg)
    bad = write(tmp_path / "bad.ttl", "<urn:a> <urn:b> <urn:c> . <urn:d> <urn:e")
    with pytest.raises(LoadError):
        any_kg.load([bad], replacing=True)
    assert any_kg.query("ASK { <urn:x:one> ?p ?o }") is True and any_kg.reasoned
    assert any_kg.count() == any_kg.record.triples == 1 and not any_kg.record.pending
    good = write(tmp_path / "good.ttl", "@prefix own: <urn:own:> . own:a own:b own:c , own:d .")
    assert any_kg.load([good], replacing=True).triples == 2
    assert any_kg.count() == any_kg.record.triples == 2 and not any_kg.reasoned
    assert any_kg.query("ASK { <urn:x:one> ?p ?o }") is False
    assert [g for g in any_kg.store.graphs() if g.startswith(any_kg.iri)] == [*any_kg.record.asserted]


def test_the_command_that_replaces_leaves_a_graph_when_a_file_is_bad(tmp_path: Path) -> None:
    write(tmp_path / "good.nt", "<urn:a> <urn:b> <urn:c> .\n")
    write(tmp_path / "bad.nt", "<urn:a> <urn:b>\n")
    load = ("load", "--store", "store", "--no-reason")
    assert run(*load, "good.nt", cwd=tmp_path).returncode == 0
    done = run(*load, "bad.nt", "--replace", cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        assert kg.count() == kg.record.triples == 1


@pytest.mark.parametrize("replacing", [False, True])
def test_ctrl_c_that_is_heard_after_a_load_has_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replacing: bool
) -> None:
    """The engine's step is over when Python hears of the signal, so the triples are there."""
    file = write(tmp_path / "a.nt", "<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> <urn:d> .\n")
    put = OxigraphStore.bulk_load

    def interrupted(self: OxigraphStore, *given: object, **more: object) -> None:
        put(self, *given, **more)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with mrag.connect(f"oxigraph:{tmp_path / 'store'}") as kg:
        kg.insert([ONE])
        before = kg.revision
        monkeypatch.setattr(OxigraphStore, "bulk_load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            kg.load([file], replacing=replacing)
        assert kg.count() == kg.record.triples == (2 if replacing else 3)
        assert kg.revision > before and not kg.record.pending


def test_clients_graphs_go_with_what_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"oxigraph:{tmp_path / 'store'}"
    context = "urn:x:context"
    with mrag.connect(url) as kg:
        update(kg, f"INSERT DATA {{ GRAPH <{context}> {{ <urn:a> <urn:b> 1, 2 }} }}")
        assert kg.record.contexts == (context,)
        clear = OxigraphStore.clear

        def dies(self: OxigraphStore, graph: str) -> None:
            if graph == context:
                raise SystemExit("as if it were killed")
            clear(self, graph)

        monkeypatch.setattr(OxigraphStore, "clear", dies)
        with pytest.raises(SystemExit):
            kg.clear()
    monkeypatch.undo()
    with mrag.connect(url) as kg:
        assert kg.recovered is not None and "removed for good" in kg.recovered
        assert not kg.record.contexts and not kg.record.pending
        assert context not in kg.store.graphs()
    with mrag.connect(url) as kg:
        assert kg.recovered is None


@pytest.mark.parametrize("parts", [0, 1, 2, 4])
def test_a_large_graph_that_is_partly_removed_is_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    """Large graphs go in transactions that each fit into memory; no question sees what is left of them."""
    url, context = f"oxigraph:{tmp_path / 'store'}", "urn:x:context"
    file = write(tmp_path / "a.nt", "".join(f"<urn:a{n}> <urn:b> <urn:c> .\n" for n in range(25)))
    monkeypatch.setattr(oxigraph, "_AT_ONCE", 10)
    with mrag.connect(url) as kg:
        kg.load([file])
        update(
            kg, f"INSERT DATA {{ GRAPH <{context}> {{ <urn:a> <urn:b> {', '.join(map(str, range(25)))} }} }}"
        )
        mrag.reason(kg)
        before = {g for g in kg.store.graphs() if g == context or g.startswith(kg.iri)}
        revision = kg.revision
        bound, done = Query.bind, []

        def dies(self: Query, **values: object) -> str:
            text = bound(self, **values)  # type: ignore[arg-type]
            if self.name == "update/remove-some":
                # Each graph asks for this text once, and runs it part by part.
                engine, node = kg.store.engine, ox.NamedNode(str(values["graph"][0]))  # type: ignore[index]
                for _ in range(min(2, parts - len(done))):
                    engine.update(text)
                    done.append(node)
                if len(done) == parts:
                    raise SystemExit("as if it were killed")
            return text

        monkeypatch.setattr(Query, "bind", dies)
        with pytest.raises(SystemExit):
            kg.clear()
        monkeypatch.setattr(Query, "bind", bound)
        left = sum(kg.store.count(graph) for graph in before)
        assert left >= 50 - 10 * parts > 0
        assert kg.count() == 0 and kg.query("ASK { ?s ?p ?o }") is False
    with mrag.connect(url) as kg:
        assert kg.count() == kg.record.triples == 0 and kg.revision > revision
        assert kg.query("ASK { GRAPH ?g { ?s ?p ?o } }") is False and not kg.record.contexts
        kg.clear()
        assert not sum(kg.store.count(graph) for graph in before - {*kg.record.asserted})
        assert kg.load([file]).triples == kg.count() == 25 and not kg.record.pending


def test_a_part_of_a_load_is_no_load_where_parts_can_land() -> None:
    """A server takes a large load in several requests, so that a killed client leaves some of them."""
    store = OxigraphStore()
    graph = "urn:mrag:kg:main:asserted:1"
    with KnowledgeGraph(store) as kg:
        kg.insert([ONE])
        pending = f'{{"load": ["a.nt"], "graph": "{graph}", "triples": 0, "prefixes": "{{}}"}}'
        kg.commit(Record(kg.record.asserted, revision=1, triples=1, pending=pending))
        store.insert(b"<urn:a> <urn:b> <urn:part> .\n", graph)
        store.capabilities = type(store.capabilities)(edges=True, ordered=True, atomic=False)
        again = KnowledgeGraph(store)
        assert again.recovered is not None and "discarded" in again.recovered
        assert again.record.asserted == ("urn:mrag:kg:main:asserted:0",) and again.record.triples == 1
        assert again.query("ASK { ?s ?p <urn:part> }") is False
        again.collect()
        assert graph not in store.graphs()


def test_a_file_is_kept_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "before")
    with pytest.raises(KeyboardInterrupt), save(path) as stream:
        stream.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "before" and [p.name for p in tmp_path.iterdir()] == ["a"]
    with pytest.raises(ConfigError, match="cannot be written"), save(tmp_path / "no" / "a"):
        pass


NATIVE = """
import ctypes, signal, sys
from mrag.cli import app, main
from mrag.cli import commands

# Whoever runs the tests in the background has SIGINT ignored, which children inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)

@app.command("stuck")
def stuck() -> None:
    # One step that Python does not come back from, as a long query of the engine: this thread hears nothing.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    print("now", flush=True)
    ctypes.CDLL(None).sleep(60)

commands.GRACE = 0.3
sys.argv = ["mrag", "stuck"]
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="calls the C library")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_ends_in_the_middle_of_a_long_step(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", NATIVE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    with process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(number)
        assert process.wait(30) == 128 + number
        said = process.stderr.read()
    assert said.startswith("mrag: ") and "Run the same command again" in said


STORE = ("--store", "store")
PART = beside(__file__, "quick.ttl")


def numbers(path: Path, first: int, count: int) -> None:
    with path.open("w", encoding="utf-8") as out:
        for i in range(first, first + count):
            out.write(f'<urn:x:s{i}> <urn:x:p{i % 7}> "text {i}" .\n')


def files(folder: Path) -> None:
    shutil.copy(PRODUCTS, folder / "products.ttl")
    (folder / "part.ttl").write_text(PART, encoding="utf-8")


def empty(folder: Path) -> None:
    files(folder)


def loaded(folder: Path) -> None:
    files(folder)
    mrag_in(folder, "load", "products.ttl", "--store", "store", "--no-reason")


def reasoned(folder: Path) -> None:
    files(folder)
    mrag_in(folder, "load", "products.ttl", "--store", "store")
    mrag_in(folder, "index", "--embedder", "none", "--store", "store")


def large(folder: Path) -> None:
    numbers(folder / "one.nt", 0, 2_000)
    numbers(folder / "two.nt", 1_000, 40_000)
    mrag_in(folder, "load", "one.nt", "--store", "store", "--no-reason")


def load(*words: str) -> tuple[str, ...]:
    return ("load", *words, *STORE)


def first(*words: str):  # type: ignore[no-untyped-def]
    return lambda folder: mrag_in(folder, *words)


JOBS = (
    Job("load", load("products.ttl"), empty, halfway=[first(*load("products.ttl", "--no-reason"))], works=()),
    Job("load a second file", load("part.ttl"), reasoned, halfway=[first(*load("part.ttl", "--no-reason"))],
        campaign=True),
    Job("load and replace", load("part.ttl", "--replace"), reasoned,
        halfway=[first(*load("part.ttl", "--replace", "--no-reason"))]),
    Job("load many lines", load("two.nt", "--no-reason"), large, campaign=True),
    Job("load many lines and replace", load("two.nt", "--replace", "--no-reason"), large, campaign=True),
    Job("reason", ("reason", "--store", "store"), loaded, campaign=True),
)  # fmt: skip
NAMES = ("main", "main-images", "main-cel", "main-garments")
WORKS = tuple(("query", "ASK { ?s ?p ?o }", "--kg", name, *STORE) for name in NAMES)


def state(folder: Path) -> dict[str, Any]:
    return {name: graph_state(folder, name) for name in NAMES}


def between(found: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Each graph lands by itself, first what is asserted, then what follows from it."""

    def unreasoned(whole: dict[str, Any]) -> dict[str, Any]:
        layers = {name: lines for name, lines in whole["layers"].items() if name != "inferred"}
        return {**whole, "layers": layers, "reasoned": False}

    return all(
        found[name] in (before[name], after[name], unreasoned(after[name]), unreasoned(before[name]))
        for name in NAMES
    )


def annotations(folder: Path) -> None:
    write_annotations(folder / "images.json", scale=0.0005)


def imported(folder: Path) -> None:
    annotations(folder)
    mrag_in(folder, "import", "images.json", *STORE)


def changed(folder: Path) -> None:
    imported(folder)
    (folder / "more.ttl").write_text(
        "@prefix : <http://example.org/> . :image_new a :Image ; :hasFileName 'new.jpg' .", encoding="utf-8"
    )
    mrag_in(folder, "load", "more.ttl", *STORE)


def replaced(folder: Path) -> None:
    imported(folder)
    write_annotations(folder / "images.json", scale=0.0004, seed=8)


IMPORT = ("import", "images.json")
VIEWS = (
    Job("import", (*IMPORT, *STORE), annotations, state, between=between, works=(), campaign=True),
    Job("import and replace", (*IMPORT, "--replace", *STORE), replaced, state, between=between, works=WORKS,
        campaign=True),
    Job("views", ("views", *STORE), changed, state, between=between, works=WORKS),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("job", (*JOBS, *VIEWS), ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)
