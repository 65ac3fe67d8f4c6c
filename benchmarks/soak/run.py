"""The run: a server on disk, its clients, what it takes of the machine, and what was promised of both."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from benchmarks.common import percentile
from benchmarks.soak import trouble
from benchmarks.soak.clients import Client, Soak, asker, prober, reader, writer
from benchmarks.soak.oracle import Tally, fixed

_IDLE = 5.0
_SHARE = 0.05  # of the requests may be answered 503
_HELD = 75.0  # seconds for which a misused connection may be held


@dataclass(frozen=True)
class Plan:
    """What is run."""

    seconds: float = 600.0
    clients: int = 32  # well-behaved and misbehaving ones together
    think: float = 0.5  # mean seconds between a client's requests
    kill: float = 5.0  # seconds between the deaths of processes; 0 for none
    timeout: float = 30.0  # the server's deadline of a query
    body: int = 4  # the server's limit of a body, in megabytes


@dataclass
class Outcome:
    """What came of a run."""

    soak: Soak  # what was sent, and what came of it
    samples: list[dict[str, float]] = field(default_factory=list)  # what the server took, second by second
    left: dict[str, float] = field(default_factory=dict)  # what was open or running when all had gone
    stopped: tuple[float, int] = (0.0, 0)  # seconds that the server took to stop, and its exit code
    log: str = ""  # what the server wrote

    def growth(self, name: str) -> float:
        """Return by how much the last third of a number is above the first, its first quarter left out."""
        late = [one[name] for one in self.samples[len(self.samples) // 4 :]]
        third = max(1, len(late) // 3)
        return median(late[-third:]) - median(late[:third])


def sample(server: psutil.Process, folder: Path) -> dict[str, float]:
    """Return what a server takes at one moment: megabytes, descriptors, processes, files, threads."""
    sizes = []
    for child in server.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            sizes.append(child.memory_info().rss / 1e6)
    return {
        "server": server.memory_info().rss / 1e6,
        "children": sum(sizes),
        "descriptors": server.num_fds(),
        "processes": len(sizes),
        "files": len([*folder.glob(".*snapshot-*"), *(folder / "tmp").iterdir()]),
        "threads": server.num_threads(),
    }


@contextmanager
def served(folder: Path, plan: Plan) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `mrag serve --update` over a new store on disk; give its process and address."""
    writers = "".join(f"ex:w{n} ex:n 0 ; ex:m 0 .\n" for n in range(64))
    (folder / "fixed.ttl").write_text(f"{fixed()}\n{writers}", encoding="utf-8")
    (folder / "tmp").mkdir()
    store = ["--store", f"oxigraph:{folder / 'store'}"]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "MRAG_MODEL": "none"}
    cli = [sys.executable, "-m", "mrag"]
    load = [*cli, "load", "--no-reason", *store, str(folder / "fixed.ttl")]
    for command in (load, [*cli, "index", "--embedder", "none", *store]):
        subprocess.run(command, check=True, capture_output=True, env=environment)
    limits = ["--timeout", str(plan.timeout), "--body", str(plan.body)]
    serve = [*cli, "serve", "--port", "0", "--update", *limits, *store]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        try:
            found = re.search(r"http://\S+(?=/sparql)", server.stdout.readline())
            if found is None:
                raise SystemExit(f"The server did not start: {(folder / 'log').read_text()}")
            yield server, found[0]
        finally:
            server.kill()
            server.communicate()


def misbehaviours(tallies: list[Tally]) -> list[tuple[str, trouble.Misbehaviour, float]]:
    """Return what misbehaving clients do: its name, the work, and how many pauses lie between."""
    return [
        ("leaves in the request", trouble.leave_in_request, 2),
        ("leaves in the answer", trouble.leave_in_answer, 4),
        *[("reads slowly", trouble.read_slowly, 1)] * 2,
        ("stops reading", trouble.stop_reading, 4),
        ("sends its head slowly", trouble.send_head_slowly, 1),
        ("sends its body slowly", trouble.send_body_slowly, 1),
        ("says nothing", trouble.say_nothing, 1),
        ("sends too much", trouble.send_too_much, 8),
        ("runs out of time", trouble.run_out_of_time, 16),
        *(("loses the answer", trouble.lose_the_answer(tally), 12) for tally in (tallies[0], tallies[-1])),
    ]


async def drive(outcome: Outcome, plan: Plan, folder: Path) -> None:
    """Let the clients work until the end, and check what the writers have left."""
    soak = outcome.soak
    bad = misbehaviours(soak.tallies)
    works = [writer(tally) for tally in soak.tallies] + [asker, asker, prober]
    works += [reader] * max(1, plan.clients - len(works) - len(bad))
    clients = [Client(soak, seed) for seed, _ in enumerate(works)]

    async def watch() -> None:
        while True:
            outcome.samples.append(await asyncio.to_thread(sample, soak.server, folder))
            await asyncio.sleep(1.0)

    watching = asyncio.ensure_future(watch())
    try:
        tasks = [work(client) for work, client in zip(works, clients, strict=True)]
        tasks += [trouble.repeat(soak, what, name, n, times) for n, (name, what, times) in enumerate(bad)]
        if plan.kill:
            tasks.append(trouble.kill(soak, soak.server, plan.kill))
        await asyncio.gather(*tasks)
        await asyncio.sleep(1.0)
        await settle(soak, clients[0])
    finally:
        watching.cancel()
        for client in clients:
            await client.close()


async def settle(soak: Soak, client: Client) -> None:
    """Check at the end that what was answered is there, and that all is whole."""
    for tally in soak.tallies:
        for kind, text in (("tally at the end", tally.ask()), ("entries at the end", tally.ask_entries())):
            rows = None
            for _ in range(5):
                rows = rows or await client.rows(kind, text)
            if rows is None:
                soak.wrong.append(f"{kind}: no answer")
            elif text == tally.ask():
                client.judge(kind, tally.problem(rows, tally.done, tally.seen["query"]))
            else:
                client.judge(kind, tally.entries_problem(rows, tally.entries))


def run(plan: Plan) -> Outcome:
    """Start a server, let clients at it, and see what it leaves."""
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        with served(folder, plan) as (started, url):
            server = psutil.Process(started.pid)
            tallies = [Tally(number) for number in range(max(2, plan.clients // 6))]
            soak = Soak(url, time.monotonic() + plan.seconds, plan.think, tallies, server=server)
            outcome = Outcome(soak)
            asyncio.run(drive(outcome, plan, folder))
            time.sleep(_IDLE)
            outcome.left = {**sample(server, folder), "connections": len(soak.clients_of_server())}
            began = time.monotonic()
            started.send_signal(signal.SIGTERM)
            code = started.wait(30)
            outcome.stopped = (time.monotonic() - began, code)
            left = [*folder.glob(".*snapshot-*"), *(folder / "tmp").iterdir()]
            outcome.left["files after the stop"] = len(left)
            outcome.log = (folder / "log").read_text()[-4000:]
    return outcome


def show(outcome: Outcome) -> None:
    """Print a run."""
    soak = outcome.soak
    print(f"{'requests':<24} {'p50 ms':>9} {'p99 ms':>9} {'longest':>9}  by outcome")
    for kind in sorted({kind for kind, _ in soak.counts}):
        said = ", ".join(f"{status}: {n}" for (one, status), n in sorted(soak.counts.items()) if one == kind)
        times = [1000 * took for took in soak.times[kind]] or [0.0]
        p50, p99 = percentile(times, 50), percentile(times, 99)
        print(f"{kind:<24} {p50:9.0f} {p99:9.0f} {max(times):9.0f}  {said}")
    print("misbehaved:", dict(soak.rounds), "held at most, s:", dict(soak.held))
    sent, done = sum(t.sent for t in soak.tallies), sum(t.done for t in soak.tallies)
    print(f"tallies: {sent} updates sent, {done} answered")
    for name in outcome.samples[0]:
        most = max(one[name] for one in outcome.samples)
        print(f"{name:<12} grew by {outcome.growth(name):.1f}, at most {most:.0f}")
    print("load of the machine:", os.getloadavg(), "left:", outcome.left, "stopped:", outcome.stopped)
    for title, found in (("wrong", soak.wrong), ("fault", soak.faults)):
        for what, n in Counter(line[:300] for line in found).most_common(12):
            print(f"{title} ×{n}: {what}")
    print(outcome.log[-2000:])


def broken(outcome: Outcome, plan: Plan) -> list[str]:
    """Return the promises that a run broke."""
    soak, left, first = outcome.soak, outcome.left, outcome.samples[len(outcome.samples) // 4]
    answered = sum(n for (_, status), n in soak.counts.items() if status.startswith("2"))
    share = len(soak.refused) / max(1, sum(soak.counts.values()))
    longest = max(soak.refused, default=0.0)
    most = {
        "server": max(20.0, 0.15 * first["server"]), "children": max(40.0, 0.3 * first["children"]),
        "descriptors": 16, "processes": 2,
    }  # fmt: skip
    held = {name: s for name, s in soak.held.items() if s > _HELD}
    checks = {
        f"{len(soak.wrong)} wrong answers": bool(soak.wrong),
        f"{len(soak.faults)} errors that are no 503 with Retry-After": bool(soak.faults),
        "nothing was answered": answered == 0,
        f"{share:.1%} of the requests were answered 503": share > _SHARE,
        f"a request waited {longest:.1f} s for its 503": longest > plan.timeout + 5,
        **{
            f"{name} grew by {outcome.growth(name):.0f}": outcome.growth(name) > n for name, n in most.items()
        },
        f"connections were held too long: {held}": bool(held),
        f"connections or files were left: {left}": left["connections"] > 0 or left["files"] > 2,
        "files were left after the stop": left["files after the stop"] > 0,
        f"it stopped in {outcome.stopped[0]:.1f} s with {outcome.stopped[1]}": outcome.stopped[0] > 10
        or outcome.stopped[1] != 0,
    }
    return [said for said, wrong in checks.items() if wrong]
