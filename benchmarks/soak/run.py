"""The run: a server on disk, its clients, and what was promised of both."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.soak import trouble
from benchmarks.soak.clients import Client, Soak, asker, prober, reader, writer
from benchmarks.soak.oracle import Tally, fixed
from benchmarks.soak.watching import Watch

_IDLE = 5.0


@dataclass(frozen=True)
class Plan:
    """What is run.

    Attributes:
        seconds: How long.
        clients: How many well-behaved and misbehaving clients together.
        think: Mean seconds between a client's requests.
        kill: Seconds between the deaths of processes; 0 for none.
        timeout: The server's deadline of a query.
        body: The server's limit of a body, in megabytes.
    """

    seconds: float = 600.0
    clients: int = 32
    think: float = 0.5
    kill: float = 5.0
    timeout: float = 30.0
    body: int = 4


@dataclass
class Outcome:
    """What came of a run.

    Attributes:
        soak: What was sent, and what came of it.
        watch: What the server took.
        left: What was still open or running when all clients had gone.
        stopped: Seconds that the server took to stop, and its exit code.
        log: What the server wrote.
    """

    soak: Soak
    watch: Watch
    left: dict[str, float] = field(default_factory=dict)
    stopped: tuple[float, int] = (0.0, 0)
    log: str = ""


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
    serve = [
        *cli,
        "serve",
        "--port",
        "0",
        "--update",
        "--timeout",
        str(plan.timeout),
        "--body",
        str(plan.body),
    ]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [*serve, *store], stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        try:
            assert server.stdout is not None
            found = re.search(r"http://\S+(?=/sparql)", server.stdout.readline())
            if found is None:
                raise SystemExit(f"The server did not start: {(folder / 'log').read_text()}")
            yield server, found[0]
        finally:
            server.kill()
            server.wait()
            if server.stdout is not None:
                server.stdout.close()


def misbehaviours(soak: Soak) -> list[tuple[str, trouble.Misbehaviour, float]]:
    """Return what misbehaving clients do: its name, the work, and how many pauses lie between."""
    tallies = soak.tallies
    return [
        ("leaves in the request", trouble.leave_in_request, 2),
        ("leaves in the answer", trouble.leave_in_answer, 4),
        ("reads slowly", trouble.read_slowly, 1),
        ("reads slowly", trouble.read_slowly, 1),
        ("stops reading", trouble.stop_reading, 4),
        ("sends its head slowly", trouble.send_head_slowly, 1),
        ("sends its body slowly", trouble.send_body_slowly, 1),
        ("says nothing", trouble.say_nothing, 1),
        ("sends too much", trouble.send_too_much, 8),
        ("runs out of time", trouble.run_out_of_time, 16),
        ("loses the answer", trouble.lose_the_answer(tallies[0]), 12),
        ("loses the answer", trouble.lose_the_answer(tallies[-1]), 12),
    ]


async def drive(soak: Soak, plan: Plan, server: psutil.Process, watch: Watch) -> None:
    """Let the clients work until the end, and check what the writers have left."""
    bad = misbehaviours(soak)
    works = [writer(tally) for tally in soak.tallies] + [asker, asker, prober]
    works += [reader] * max(1, plan.clients - len(works) - len(bad))
    clients = [Client(soak, seed) for seed, _ in enumerate(works)]
    sampling = asyncio.ensure_future(watch.run())
    try:
        tasks = [work(client) for work, client in zip(works, clients, strict=True)]
        tasks += [trouble.repeat(soak, what, name, n, times) for n, (name, what, times) in enumerate(bad)]
        if plan.kill:
            tasks.append(trouble.kill(soak, server, plan.kill))
        await asyncio.gather(*tasks)
        await asyncio.sleep(1.0)
        await settle(soak, clients[0])
    finally:
        sampling.cancel()
        for client in clients:
            await client.close()


async def settle(soak: Soak, client: Client) -> None:
    """Check at the end that what was answered is there, and that all is whole."""
    for tally in soak.tallies:
        for kind, text in (("tally at the end", tally.ask()), ("entries at the end", tally.ask_entries())):
            rows = None
            for _ in range(5):
                rows = await client.rows(kind, text)
                if rows is not None:
                    break
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
            outcome = Outcome(soak, Watch(server, folder))
            asyncio.run(drive(soak, plan, server, outcome.watch))
            time.sleep(_IDLE)
            last = outcome.watch.sample()
            outcome.left = {
                "descriptors": last.descriptors,
                "connections": len(soak.clients_of_server()),
                "processes": last.processes,
                "files": last.files,
            }
            began = time.monotonic()
            started.send_signal(signal.SIGTERM)
            outcome.stopped = (time.monotonic() - began, started.wait(30))
            outcome.stopped = (time.monotonic() - began, outcome.stopped[1])
            left = [*folder.glob(".*snapshot-*"), *(folder / "tmp").iterdir()]
            outcome.left["files after the stop"] = len(left)
            outcome.log = (folder / "log").read_text()[-4000:]
    return outcome
