"""Jobs come to the same wherever they run, on Ray too, and when their workers are killed."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDFS

import mrag
from mrag.errors import ConfigError, ModelError, StoreError
from mrag.evaluation.benchmark import System, run_system
from mrag.generative.clue_index import ClueIndex
from mrag.index import Definition, SimilarityIndexes, embedder
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder, EmbeddingWork
from mrag.jobs import InlineRunner, ProcessRunner, RayRunner, Runner, ThreadRunner, carry, runner
from tests.conftest import ROOT
from tests.images.conftest import E, turtle
from tests.images.seeing_server import SeeingServer
from tests.jobs.works import Deadly, Searches, Slowly, square


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessRunner]:
    with_two = ProcessRunner(2)
    yield with_two
    with_two.close()


class _Kept:
    """A runner that is not closed between examples, so that its processes are started once."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._started = runner, False

    def start(self, work: Any) -> None:
        if not self._started:
            self._runner.start(work)
        self._started = True

    def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runner, name)


@settings(max_examples=30)
@given(numbers=st.lists(st.integers(0, 10**12), max_size=12))
def test_every_runner_gives_each_result_once(processes: ProcessRunner, numbers: list[int]) -> None:
    expected = [(at, number * number) for at, number in enumerate(numbers)]
    kept = _PROCESSES.setdefault(id(processes), _Kept(processes))
    for one in (InlineRunner(), ThreadRunner(3), kept):
        assert sorted(carry(one, square, numbers)) == expected


_PROCESSES: dict[int, Any] = {}


def test_an_error_of_the_work_is_raised_with_its_hint(processes: ProcessRunner) -> None:
    for one in (InlineRunner(), ThreadRunner(2), ProcessRunner(1)):
        with pytest.raises(ModelError, match="-1 is negative") as raised:
            list(carry(one, square, [-1]))
        assert raised.value.hint == "Give another."


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    job = ProcessRunner(2)
    found, killed = {}, False
    for number, value in carry(job, Slowly(str(tmp_path), 0.01), range(30)):
        assert number not in found
        found[number] = value
        if len(found) == 8:
            os.kill(job.pids[0], signal.SIGKILL)
            killed = True
    assert killed and found == {number: number * number for number in range(30)}
    assert job.pids == []


def test_a_task_that_ends_its_worker_is_done_again_and_given_up_at_last(tmp_path: Path) -> None:
    once = Deadly(3, str(tmp_path / "told"))
    assert dict(carry(ProcessRunner(2), once, range(5))) == {n: n * n for n in range(5)}
    with pytest.raises(StoreError, match="has lost its worker 3 times"):
        dict(carry(ProcessRunner(1), Deadly(1), range(3)))


def test_runners_by_name() -> None:
    assert isinstance(runner("inline"), InlineRunner) and runner("threads").capacity == 2
    assert runner("processes").capacity == os.cpu_count() and runner("processes", 3).capacity == 3
    for wrong in ("", "fork", "threads:4", "processes:2"):
        with pytest.raises(ConfigError, match="There is no runner"):
            runner(wrong)
    for none in (lambda: runner("threads", 0), lambda: ProcessRunner(0)):
        with pytest.raises(ConfigError, match="one worker or more"):
            none()
    with pytest.raises(ConfigError, match="cannot be sent"):
        list(carry(ProcessRunner(1), lambda task: task, [1, 2]))


class Counting:
    """A model that counts what it embeds."""

    def __init__(self, model: Embedder) -> None:
        self._model, self.texts = model, 0

    name = property(lambda self: self._model.name)
    dim = property(lambda self: self._model.dim)

    def embed_documents(self, texts: Any) -> Any:
        self.texts += len(texts)
        return self._model.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        return self._model.embed_query(text)


def _graph(folder: Path, number: int) -> mrag.KnowledgeGraph:
    chance, words = random.Random(3), "red blue coat shoe wool silk rain snow boot scarf".split()
    texts = [" ".join(chance.choices(words, k=6)) for _ in range(number)]
    source = folder / "d.nt"
    source.write_text(
        "".join(f'<urn:d{n}> <{RDFS.label}> "{text} {n}" .\n' for n, text in enumerate(texts)),
        encoding="utf-8",
    )
    kg = mrag.connect(f"oxigraph:{folder / 'kg'}")
    kg.load([source])
    return kg


@pytest.mark.slow
def test_an_index_is_the_same_with_workers_one_of_which_is_killed(tmp_path: Path) -> None:
    with _graph(tmp_path, 900) as kg:
        indexes = SimilarityIndexes.of(kg)
        indexes.build("inline", model="wordllama")
        ids = indexes.get("inline", quiet=True).files.doc_ids
        expected = indexes.get("inline", quiet=True).files.vectors_of(ids)
        indexes.delete("inline")
        job, done = ProcessRunner(2), False

        def note(at: int, total: int | None) -> None:
            nonlocal done
            if at and not done and job.pids:
                os.kill(job.pids[-1], signal.SIGKILL)
                done = True

        indexes.build("main", model="wordllama", runner=job, on_progress=note)
        found = indexes.get("main", quiet=True).files.vectors_of(ids)
    assert done and list(found) == list(expected)
    assert all(np.array_equal(found[each], expected[each]) for each in ids)


def test_texts_that_an_index_of_the_graph_knows_are_not_embedded_again(tmp_path: Path) -> None:
    model = embedder("wordllama")
    assert model is not None
    counting = Counting(model)
    with _graph(tmp_path, 40) as kg:
        indexes = SimilarityIndexes.of(kg)

        def embedded(build: Callable[[], object]) -> int:
            before = counting.texts
            build()
            return counting.texts - before

        # Learning the share of the vectors embeds texts of its own; so many, whatever was known.
        def other(name: str, analyser: str) -> Callable[[], object]:
            definition = Definition(analyser=analyser)
            return lambda: indexes.build(name, model=counting, definition=definition)

        first = embedded(other("main", "plural"))
        questions = first - 40
        assert embedded(other("main", "none")) == questions  # built anew for another analyser
        assert embedded(other("second", "none")) == questions  # under another name
        kg.update('INSERT DATA { <urn:new> <http://www.w3.org/2000/01/rdf-schema#label> "a green hat" }')
        assert embedded(other("main", "none")) == 1
        assert embedded(other("main", "plural")) == questions


def test_the_work_of_embedding_pickles_without_its_model() -> None:
    work = EmbeddingWork("wordllama", 1)
    once = work(["a red shoe"])
    again = pickle.loads(pickle.dumps(work))
    assert again._opened is None and np.array_equal(again(["a red shoe"]), once)


THINGS = ("man", "woman", "dog", "girl", "horse", "boy", "cat")
COLOURS = ("red", "blue", "green", "old", "small")
TEXTS = {
    f"t{at}": f"A {THINGS[at % 7]} in a {COLOURS[at % 5]} coat rides the {THINGS[at * 3 % 7]} on {at % 11}."
    for at in range(40)
}
QUERIES = {f"q{at}": f"{THINGS[at % 7]} {COLOURS[at % 5]}" for at in range(12)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = DocumentIndex.create(tmp_path / "index", embedder=None)
    index.sync(list(TEXTS.items()), extra={})
    return tmp_path / "index"


def test_a_run_is_the_same_by_processes(folder: Path, tmp_path: Path) -> None:
    system = System("s", Searches(str(folder)), "1")
    wanted = run_system(system, QUERIES, 5)
    log = folder.with_suffix(".log")
    log.unlink()
    journal = tmp_path / "run.jsonl"
    for _ in range(2):  # all is in the journal the second time, so nothing is searched for again
        assert run_system(system, QUERIES, 5, journal=journal, runner=ProcessRunner(2)) == wanted
        assert sorted(log.read_text().splitlines()) == sorted(QUERIES.values())


def test_a_run_by_threads_takes_any_search_and_processes_one_that_pickles(folder: Path) -> None:
    search = Searches(str(folder))
    system = System("s", lambda text, k: search(text, k))
    assert run_system(system, QUERIES, 3, runner=ThreadRunner(3)) == run_system(system, QUERIES, 3)
    with pytest.raises(ConfigError, match="cannot be sent"):
        run_system(system, QUERIES, 3, runner=ProcessRunner(1))


@pytest.mark.slow
def test_segments_of_clues_are_the_same_by_processes(tmp_path: Path) -> None:
    # Five segments of two documents; the last documents have twins in the first segments.
    texts = [(f"urn:{n}", [n, 7, 9 + n % 3]) for n in range(10)] + [
        (f"urn:twin{n}", [n, 7, 9 + n % 3]) for n in (0, 3)
    ]
    alone = ClueIndex.build(texts, 20, segment_tokens=8)
    for by in (ProcessRunner(2), ThreadRunner(2)):
        place = tmp_path / type(by).__name__
        index = ClueIndex.build(texts, 20, segment_tokens=8, folder=place, runner=by)
        assert len(index.segments) == len(alone.segments) == 5 and len(index) == 10
        for one, other in zip(index.segments, alone.segments, strict=True):
            given, wanted = one.arrays(), other.arrays()
            assert given.keys() == wanted.keys()
            assert all(np.array_equal(given[key], wanted[key]) for key in wanted)
        assert index.documents([3, 7]) == ["urn:3", "urn:twin3"]


PROGRAM = """
import json
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

import mrag
from mrag.errors import ModelError
from mrag.images.enrichment import describe
from mrag.images.enrichment import EnrichSettings
from mrag.index import SimilarityIndexes
from mrag.jobs import RayRunner, carry
from tests.jobs.works import Slowly, square

bare = {"num_cpus": 1, "include_log_monitor": False}  # nobody reads what workers print
cluster = Cluster(True, head_node_args={**bare, "include_dashboard": False, "no_monitor": True})
second = cluster.add_node(**bare)
ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
told = {"lost": False}

runner = RayRunner(2)
done = {}
for number, value in carry(runner, Slowly(str(Path("begun").resolve()), 0.3), range(12)):
    assert number not in done
    done[number] = value
    if len(done) == 4:
        cluster.remove_node(second, allow_graceful=False)
        told["lost"] = True
told["numbers"] = [done[number] for number in sorted(done)]
told["begun"] = len(list(Path("begun").iterdir()))

try:
    list(carry(RayRunner(1), square, [-1]))
except ModelError as error:
    told["error"] = [error.message, error.hint]

Path("photos/black.png").write_bytes(b"broken")
told["described"] = []
for kind in (RayRunner(1, cores=0), None):
    with mrag.connect() as kg:
        kg.load(["g.ttl"])
        report = describe(kg, "ollama:llava", folder="photos", settings=EnrichSettings(), runner=kind)
        triples = sorted(map(str, (q for g in kg.record.asserted for q in kg.store.edges(g))))
        triples = [t for t in triples if "generatedAtTime" not in t]
        told["described"].append([report.described, report.kinds(), triples])

told["vectors"] = []
with mrag.connect("oxigraph:kg") as kg:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    Path("d.nt").write_text("\\n".join(f'<urn:d{n}> {label} "a coat {n}" .' for n in range(600)))
    kg.load(["d.nt"])
    indexes = SimilarityIndexes.of(kg)
    for kind in (RayRunner(), None):  # one machine is left
        indexes.build("main", model="wordllama", runner=kind)
        index = indexes.get("main", quiet=True).files
        found = index.vectors_of(index.doc_ids)
        told["vectors"].append({i: vector.tobytes().hex() for i, vector in found.items()})
        indexes.delete("main")

print(json.dumps(told))
"""


@pytest.mark.slow
def test_a_job_on_ray_comes_to_the_same_though_a_machine_is_lost(
    photos: Path, tmp_path: Path, seeing: SeeingServer
) -> None:
    if find_spec("ray") is None:
        with pytest.raises(ConfigError, match="Ray is not installed"):
            RayRunner()
        pytest.skip("Ray is not installed (pip install 'mrag[ray]')")
    # In a process of its own: Ray starts servers, and its warnings are not ours.
    (tmp_path / "g.ttl").write_text(turtle(), encoding="utf-8")
    (tmp_path / "begun").mkdir()
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {
        **os.environ,
        "RAY_raylet_start_wait_time_s": "120",  # thirty are too few on a busy machine
        "PYTHONPATH": path,
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_enable_worker_prestart": "0",
        "RAY_prestart_worker_first_driver": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))
    assert told["lost"] and told["numbers"] == [number * number for number in range(12)]
    assert told["begun"] >= 12
    assert told["error"] == ["-1 is negative.", "Give another."]
    ray, threads = told["described"]
    assert ray == threads
    assert ray[0] == 5 and ray[1] == {"picture": 1}
    assert sum(f"<{E}hasLLMDescription>" in triple for triple in ray[2]) == 5
    ours, inline = told["vectors"]
    assert ours == inline and len(inline) == 600
