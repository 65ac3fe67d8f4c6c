"""Several processes that answer on one port, in front of a store that is a server itself."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from pathlib import Path

from mrag.errors import QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.metrics import MULTIPROCESS, count_ended
from mrag.server.settings import ServerSettings
from mrag.storage.files import lock

logger = logging.getLogger(__name__)

_FAILURES = 3
"""Processes in a row that may end before one of them has answered."""
_PAUSE = 0.5
_LEFT = 3.0
"""Seconds that a process gets beyond those of its requests."""


def serve_in_processes(
    open_graph: Callable[[], KnowledgeGraph],
    settings: ServerSettings,
    bound: socket.socket,
    number: int,
    listening: Callable[[], None] | None = None,
) -> None:
    """Serve a knowledge graph by several processes until SIGINT or SIGTERM.

    Each opens the graph for itself and keeps nothing that the others need; what they share is in the store,
    and in a folder for as long as they run. One that ends unforeseen is replaced.

    Args:
        open_graph: Opens the knowledge graph; it is called in each process and must be picklable.
        settings: The server's settings, for each of them.
        bound: The socket that all of them listen on.
        number: How many there are.
        listening: Called once the first of them answers.

    Raises:
        StoreError: If they cannot be started.
    """
    bound.listen(1024)
    context = multiprocessing.get_context("spawn")
    stopping = threading.Event()
    before = {
        number_: signal.signal(number_, lambda *_: stopping.set())
        for number_ in (signal.SIGINT, signal.SIGTERM)
    }
    with tempfile.TemporaryDirectory(prefix="mrag-serve-") as folder:
        shared = replace(settings, shared=Path(folder))
        ready = context.Event()

        def started() -> SpawnProcess:
            process = context.Process(target=_work, args=(open_graph, shared, bound, ready, os.getpid()))
            process.start()
            return process

        processes = [started() for _ in range(number)]
        try:
            _watch(processes, started, shared, stopping, ready, listening)
        finally:
            # Else clients could still connect here when nobody takes their requests any more.
            bound.close()
            _end(processes, settings.drain + settings.grace + _LEFT)
            for number_, handler in before.items():
                signal.signal(number_, handler)


def _watch(
    processes: list[SpawnProcess],
    started: Callable[[], SpawnProcess],
    settings: ServerSettings,
    stopping: threading.Event,
    ready: Event,
    listening: Callable[[], None] | None,
) -> None:
    failures, told = 0, False
    while not stopping.is_set():
        if ready.is_set() and not told:
            told = True
            if listening is not None:
                listening()
        ended = wait([process.sentinel for process in processes], timeout=0.1 if not told else _PAUSE)
        for at, process in enumerate(processes):
            if process.sentinel not in ended or stopping.is_set():
                continue
            process.join()
            failures = 0 if told else failures + 1
            if failures >= _FAILURES:
                raise StoreError(
                    "The processes that should answer ended before they did.",
                    hint="What they said is above. Run it with --workers 1 to see more.",
                )
            logger.warning(
                "A process of the server ended (code %s); another takes its place.", process.exitcode
            )
            count_ended(settings, process.pid or 0)
            stopping.wait(_PAUSE)
            processes[at] = started()


def _end(processes: list[SpawnProcess], seconds: float) -> None:
    for process in processes:
        process.terminate()
    until = time.monotonic() + seconds
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _work(
    open_graph: Callable[[], KnowledgeGraph],
    settings: ServerSettings,
    bound: socket.socket,
    ready: Event,
    parent: int,
) -> None:
    """Serve in a process of its own, and not longer than its parent lives."""
    if settings.shared is not None:
        counts = settings.shared / "metrics"
        counts.mkdir(exist_ok=True)
        os.environ[MULTIPROCESS] = str(counts)  # read when prometheus_client is imported
    from mrag.server.running import serve

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PAUSE)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    # Ctrl-C reaches all processes of a terminal; the parent tells this one when it has to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open_graph() as kg:
        serve(kg, settings, bound=bound, listening=lambda _url: ready.set(), exits=True)


@contextmanager
def writing_alone(settings: ServerSettings, seconds: float) -> Iterator[None]:
    """Keep the other processes of a server from changing the graph while the block runs.

    Args:
        settings: Their settings.
        seconds: How long to wait for them.

    Raises:
        QueryTimeout: If they are still writing then.
    """
    if settings.shared is None:
        yield
        return
    until = time.monotonic() + seconds
    with (settings.shared / "writing").open("ab") as file:
        while True:
            with suppress(OSError):
                lock(file.fileno())
                break
            if time.monotonic() > until:
                raise QueryTimeout("Other changes were being made until the deadline.", hint="Try again.")
            time.sleep(0.02)
        yield
