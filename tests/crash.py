"""Jobs that are broken off: by SIGKILL, Ctrl-C, SIGTERM or a disk that takes no more, and what is left then.

A `Job` is a command of `mrag` and the folder it starts from. It runs once undisturbed, watched, so that it is
known how long it takes and how often its files change. Then it runs on fresh copies of that folder and is
broken off, at a moment of its time or when its files have changed so often; the latter falls into the writing
on a slow machine and a fast one alike. Afterwards the folder must be in one of the states that the job passes
through, `doctor` and all other commands must work without a repair by hand, and the same command again must
give the state of the undisturbed run. Without `MRAG_TEST_TRIES` a job is broken off twice only, or never.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from typer.testing import CliRunner

import mrag
from mrag.cli import app
from mrag.completion.review import list_runs, runs_graph
from mrag.errors import MragError
from mrag.graph.record import status_of
from mrag.index.similarity import SimilarityIndexes
from tests.conftest import ROOT

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "0"))
SEED = os.environ.get("MRAG_TEST_SEED", "7")
_HANGS = 120.0
_PAUSE = 0.0005 if TRIES else 0.003
"""Seconds between two looks at the files. A campaign tells changes apart that follow each other closely; for
two tries of each job that is not worth a fifth of the processor."""
_SKOLEM = "urn:mrag:genid:"
_TIMES = {f"http://www.w3.org/ns/prov#{name}" for name in ("generatedAtTime", "startedAtTime", "endedAtTime")}
_TIMES |= {"http://purl.org/dc/terms/created", "https://w3id.org/mrag/vocab#seconds"}
_LIMITED = """
import os, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
os.execv(sys.argv[2], sys.argv[2:])
"""
State = Any  # What a folder holds, in values that can be compared


@dataclass(frozen=True)
class Job:
    """A command that is broken off."""

    name: str  # What to call it
    # What is written behind `mrag`, or a whole command line if its first word is a path
    words: tuple[str, ...]
    prepare: Callable[[Path], object]  # Makes the folder that it starts from
    state: Callable[[Path], State] = field(default_factory=lambda: graph_state)  # Reads what a folder holds
    # Each brings a copy of the folder into a state that the job passes through
    halfway: Sequence[Callable[[Path], object]] = ()
    # Tells from a state, that before and that after whether the job passes through it
    between: Callable[[State, State, State], bool] = lambda state, before, after: False
    # Commands that must work afterwards, whatever the moment was
    works: Sequence[tuple[str, ...]] = (("query", "ASK { ?s ?p ?o }", "--store", "store"),)
    environment: Mapping[str, str] = field(default_factory=dict)  # Variables of the command
    once: bool = False  # Whether it does something else, or refuses, once it is done
    quiet: bool = False  # Whether Ctrl-C and SIGTERM need say nothing, since this is a program of its own
    campaign: bool = False  # Whether it is left out where `MRAG_TEST_TRIES` is not set

    def __str__(self) -> str:
        return self.name


@dataclass
class Broken:
    """How a job ended that was broken off."""

    code: int
    seconds: float
    changes: int
    said: str


class Campaign:
    """A job, run undisturbed once in an empty folder, to be broken off again and again."""

    def __init__(self, job: Job, folder: Path) -> None:
        self.job, self.folder = job, folder
        self.start = folder / "start"
        self.start.mkdir(parents=True)
        job.prepare(self.start)
        self.before = job.state(self.start)
        self.between = []
        for number, bring in enumerate(job.halfway):
            copy = self.copied(f"halfway-{number}")
            bring(copy)
            self.between.append(job.state(copy))
        whole = self.copied("whole")
        done = self.run(whole, lambda seconds, changes: None)
        assert done.code == 0, done.said
        self.seconds, self.changes = done.seconds, done.changes
        self.after = job.state(whole)
        assert self.after != self.before, "the job does nothing"
        self.found: Counter[str] = Counter()

    def copied(self, name: str) -> Path:
        """Return a fresh copy of the folder that the job starts from."""
        copy = self.folder / name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.start, copy)
        return copy

    def moment(self, dice: random.Random) -> Callable[[float, int], bool]:
        """Return what tells from the seconds and changes so far that it is time: two of three by changes."""
        if self.changes and dice.random() < 2 / 3:
            wanted, then = dice.randint(1, self.changes), dice.choice((0.0, 0.0, dice.random() * 0.02))
            seen: list[float] = []

            def by_changes(seconds: float, changes: int) -> bool:
                if changes >= wanted and not seen:
                    seen.append(seconds)
                return bool(seen) and seconds >= seen[0] + then

            return by_changes
        at = dice.uniform(0, 1.05 * self.seconds)
        return lambda seconds, changes: seconds >= at

    def run(
        self,
        folder: Path,
        moment: Callable[[float, int], bool | None],
        number: int = signal.SIGKILL,
        largest: int | None = None,
    ) -> Broken:
        """Run the job in a folder, send a signal when seconds and changes of files say so, and wait."""
        words = self.job.words
        command = list(words) if Path(words[0]).is_absolute() else [sys.executable, "-m", "mrag", *words]
        if largest is not None:
            command = [sys.executable, "-c", _LIMITED, str(largest), *command]
        said: list[bytes] = []
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        how |= {"cwd": folder, "env": _environment(self.job), "start_new_session": True}
        with subprocess.Popen(command, **how) as process:
            assert process.stdout is not None
            reader = threading.Thread(target=lambda out: said.append(out.read()), args=[process.stdout])
            reader.start()
            began, changes, sent = time.monotonic(), 0, False
            seen = _looks(folder)
            while process.poll() is None:
                looks = _looks(folder)
                changes += looks != seen
                seen = looks
                seconds = time.monotonic() - began
                if not sent and moment(seconds, changes):
                    sent = True
                    # Ctrl-C reaches all processes of a terminal, `kill` the one that is named.
                    send = os.kill if number == signal.SIGTERM else os.killpg
                    send(process.pid, number)
                if seconds > _HANGS:
                    end_group(process.pid)
                time.sleep(_PAUSE)
            seconds = time.monotonic() - began
            end_group(process.pid)
            reader.join()
        text = b"".join(said).decode(errors="replace")
        assert seconds < _HANGS, f"it hangs: {text}"
        return Broken(process.returncode, seconds, changes, text)

    def check(self, folder: Path, what: str, done: Broken) -> None:
        """See to it that a folder is in a state of the job, all works, and the job again does the rest."""
        state = self.job.state(folder)
        assert done.code or state == self.after, (
            f"{what}: it ended well, but {_difference(state, {}, self.after)}"
        )
        known = {0: "before", len(self.between) + 1: "after"}
        every = [self.before, *self.between, self.after]
        inside = state in every or self.job.between(state, self.before, self.after)
        assert inside, f"{what}: neither before nor after:\n{_difference(state, self.before, self.after)}"
        self.found[known.get(every.index(state) if state in every else -1, "between")] += 1
        with _inside(folder, _environment(self.job)):
            for words in (*self.job.works, ("doctor", "--store", "store", "--json")):
                if words[0] == "doctor" and not (folder / "store").exists():
                    continue
                ran = CliRunner().invoke(app, list(words))
                assert isinstance(ran.exception, SystemExit | MragError | None), (what, words, ran.exception)
                if words[0] == "doctor":
                    for finding in json.loads(ran.stdout):
                        assert finding["ok"] is not False or finding["hint"], (what, finding)
                else:
                    assert ran.exit_code == 0, (what, words, ran.output, ran.exception)
        if self.job.once and state == self.after:
            return
        again = self.again(folder)
        assert again.code == 0, f"{what}, then again: {again.said}"
        now = self.job.state(folder)
        assert now == self.after, f"{what}, then again:\n{_difference(now, self.before, self.after)}"

    def again(self, folder: Path) -> Broken:
        """Run the job once more; in this process if that can be, which takes less time."""
        if Path(self.job.words[0]).is_absolute():
            return self.run(folder, lambda seconds, changes: None)
        with _inside(folder, _environment(self.job)):
            ran = CliRunner().invoke(app, list(self.job.words))
        if isinstance(ran.exception, MragError):
            return Broken(1, 0, 0, f"mrag: {ran.exception}")
        assert isinstance(ran.exception, SystemExit | None), (self.job.words, ran.exception)
        return Broken(ran.exit_code, 0, 0, ran.output)

    def broken(self, dice: random.Random, number: int = signal.SIGKILL) -> None:
        """Break the job off once at a random moment, and check what is left."""
        folder = self.copied("broken")
        done = self.run(folder, self.moment(dice), number)
        name = signal.Signals(number).name
        what = f"{name} after {done.seconds:.3f} of {self.seconds:.3f} s"
        what += f" and {done.changes} of {self.changes} changes"
        if number != signal.SIGKILL and not self.job.quiet:
            self.told(done, number, what, folder)
        self.found[f"{name} {'at the end' if done.code == 0 else 'in time'}"] += 1
        self.check(folder, what, done)

    def told(self, done: Broken, number: int, what: str, folder: Path) -> None:
        """See to it that a command which was told to stop says what is kept, and what to do next."""
        if done.code == -number and (not done.changes or self.job.state(folder) == self.after):
            return  # Python was still starting, or all was done and said, and it was ending
        if "init_import_site" in done.said and not done.changes:
            return  # Python was still reading its own packages, and none of our code had run
        if done.code == 0:
            return
        assert done.code == 128 + number, (what, done.code, done.said)
        assert "Traceback" not in done.said and "Exception" not in done.said, (what, done.said)
        last = " ".join(done.said.split()).rpartition("mrag: ")[2]
        assert last.startswith(("interrupted", "stopped")) and len(last) > 40, (what, done.said)

    def full(self, dice: random.Random) -> None:
        """Run the job where files cannot grow beyond a random size, and check what is left."""
        folder = self.copied("broken")
        sizes = sorted({size for _, size in _looks(self.folder / "whole").values()})
        largest = dice.choice([dice.randint(0, 4096), dice.randint(0, max(sizes)), dice.choice(sizes)])
        done = self.run(folder, lambda seconds, changes: None, largest=largest)
        what = f"files of at most {largest} bytes"
        assert done.code in (0, 1), (what, done.code, done.said)
        if done.code:
            assert "Traceback" not in done.said, (what, done.said)
            last = " ".join(done.said.split()).rpartition("mrag: ")[2]
            assert len(last) > 20, (what, done.said)
        self.found["full in time" if done.code else "full at the end"] += 1
        self.check(folder, what, done)


def dice_of(job: Job, way: int, number: int) -> random.Random:
    """Return the dice of a try, the same in every run."""
    return random.Random(f"{SEED} {job.name} {way} {number}")


def breaks(
    job: Job, folder: Path, *, disk: bool = False, signals: bool = True, campaign: Campaign | None = None
) -> Campaign:
    """Break a job off in an empty folder, and see to it that nothing is lost and all goes on.

    With `MRAG_TEST_TRIES` it is killed so often, and half as often each stopped by Ctrl-C, by SIGTERM and run
    where files cannot grow. Without it is killed once, and broken off once in one of the other ways.
    """
    if job.campaign and not TRIES:
        pytest.skip("set MRAG_TEST_TRIES to break this job off, which is much like others")
    campaign = campaign or Campaign(job, folder)
    ways = [signal.SIGINT, signal.SIGTERM] if signals else []
    others: list[int] = [*ways, *([0] if disk else [])]
    plan = [(int(signal.SIGKILL), at) for at in range(TRIES or 1)]
    plan += [(way, at) for way in others for at in range(-(-TRIES // 2))]
    if not TRIES and others:
        plan.append((others[sum(job.name.encode()) % len(others)], 0))
    failed: list[str] = []
    for way, at in plan:
        dice = dice_of(job, way, at)
        try:
            campaign.broken(dice, way) if way else campaign.full(dice)
        except AssertionError as error:
            failed.append(f"{_NAMES[way]} {at}: {error}")
    found = ", ".join(f"{name} {count}" for name, count in sorted(campaign.found.items()))
    whole = f"{campaign.changes} changes in {campaign.seconds:.2f} s"
    sys.stderr.write(f"\n{job.name}: {len(failed)} of {len(plan)} failed; {found}; {whole}\n")
    assert not failed, f"{len(failed)} of {len(plan)} failed:\n" + "\n".join(failed)
    return campaign


_NAMES = {0: "full", signal.SIGKILL: "SIGKILL", signal.SIGINT: "SIGINT", signal.SIGTERM: "SIGTERM"}


def graph_state(folder: Path, name: str = "main") -> State:
    """Return what the store of a folder holds, layer by layer, as canonical N-Quads, times apart."""
    if not (folder / "store").exists():
        return empty_state()
    with mrag.connect(f"oxigraph:{folder / 'store'}", name) as kg:
        record = kg.record
        assert not record.pending
        layers: dict[str, list[ox.Quad]] = {}
        for graph in (*record.asserted, *record.inferred):
            layer = status_of(graph, inferred=graph in record.inferred)
            layers.setdefault(layer, []).extend(kg.store.edges(graph))
        contexts = {graph: _canonical(kg.store.edges(graph)) for graph in record.contexts}
        assert record.triples == sum(kg.store.count(graph) for graph in record.asserted)
        indexes = SimilarityIndexes.of(kg)
        infos = {name: indexes.info(name) for name in indexes.names()}
        return {
            "layers": {layer: _canonical(quads) for layer, quads in layers.items() if quads},
            "contexts": {graph: lines for graph, lines in contexts.items() if lines},
            "reasoned": kg.reasoned,
            "indexes": {name: (info.documents, info.stale) for name, info in infos.items()},
            "runs": sorted((run.id, run.state, len(run.statements)) for run in list_runs(kg)),
            "described": _canonical(q for q in kg.store.edges(runs_graph(kg)) if "runState" not in str(q)),
            "prefixes": json.loads(record.prefixes or "{}"),
        }


def empty_state() -> State:
    """Return the state of a store that nothing has been loaded into."""
    nothing: State = {name: {} for name in ("layers", "contexts", "indexes", "prefixes")}
    return {**nothing, "runs": [], "described": [], "reasoned": False}


def program(text: str, *words: str) -> tuple[str, ...]:
    """Return the words of a job that is a Python program of its own."""
    return (sys.executable, "-c", text, *words)


def mrag_in(folder: Path, *words: str) -> None:
    """Run a command of `mrag` in a folder, in this process."""
    with _inside(folder, _QUIET):
        done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output


_QUIET: Mapping[str, str] = {
    "MRAG_MODEL": "none", "OLLAMA_HOST": "http://127.0.0.1:9", "NO_COLOR": "1", "COLUMNS": "200",
}  # fmt: skip


def _environment(job: Job) -> dict[str, str]:
    return {**os.environ, **_QUIET, "PYTHONPATH": str(ROOT), **job.environment}


@contextmanager
def _inside(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


def _looks(folder: Path) -> dict[str, tuple[int, int]]:
    """Return when each file below a folder was changed, and its size; logs apart."""
    found: dict[str, tuple[int, int]] = {}
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        found[entry.path] = (0, 0)
                    elif entry.name not in ("LOCK", "lock", "LOG"):
                        status = entry.stat(follow_symlinks=False)
                        found[entry.path] = (status.st_mtime_ns, status.st_size)
        except OSError:
            continue  # it went while we looked
    return found


def end_group(group: int) -> None:
    """End what a process left running; the system then frees the locks it held."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except (ProcessLookupError, PermissionError):
            return
        time.sleep(0.001)


def _canonical(quads: Any) -> list[str]:
    """Write triples in canonical form: blank nodes, which were given names of their own, by their places."""
    names: dict[str, ox.BlankNode] = {}

    def plain(term: Any) -> Any:
        if isinstance(term, ox.NamedNode) and term.value.startswith(_SKOLEM):
            return names.setdefault(term.value, ox.BlankNode())
        return term

    told = ox.Literal("then")
    data = ox.Dataset(
        ox.Quad(plain(q.subject), q.predicate, told if q.predicate.value in _TIMES else plain(q.object))
        for q in quads
    )
    if names:
        data.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(map(str, data))


def _difference(state: State, before: State, after: State) -> str:
    """Say in what a state differs from before and after, part by part."""
    if not isinstance(state, dict):
        return f"{str(state)[:600]}\nbefore: {str(before)[:600]}\nafter: {str(after)[:600]}"
    lines = []
    for part, value in state.items():
        for name, other in (("before", before), ("after", after)):
            if value != other.get(part):
                lines.append(f"  {part}, not as {name}: {_short(value)} / {_short(other.get(part))}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return str({key: _short(item) for key, item in value.items()})
    if isinstance(value, list) and len(value) > 8:
        return f"{len(value)} of {hash(tuple(value)) & 0xFFFF:x}"
    return str(value)[:300]
