"""Where descriptions are made: on threads of this process, or on the machines of a Ray cluster.

A runner only carries out tasks. Pace, order, retries and what is kept are the business of
`mrag.images.enrichment.enrich`, so the results are the same whichever runner is used.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from mrag.errors import ConfigError, LoadError
from mrag.images.enrichment.requests import Description, Task, Work
from mrag.images.files.folder import read_capped


class Runner(Protocol):
    """Carries out tasks, several at a time."""

    @property
    def capacity(self) -> int:
        """How many tasks may be under way at once."""

    def start(self, work: Work) -> None:
        """Make ready."""

    def submit(self, task: Task) -> None:
        """Begin a task."""

    def next(self, timeout: float) -> Description | None:
        """Return an outcome, None if there is none within so many seconds."""

    def close(self) -> None:
        """Give up what is under way."""


class ThreadRunner:
    """Runs tasks on threads of this process, which wait for the model most of the time.

    Args:
        workers: How many at once.

    Example:
        >>> ThreadRunner(2).capacity
        2
    """

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise ConfigError("There must be one worker or more.")
        self.capacity = workers
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Description | BaseException] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, work: Work) -> None:
        """Start the threads."""
        for _ in range(self.capacity):
            # Not of a pool: its threads would hold up the end of the process until a slow model answers.
            thread = threading.Thread(target=self._run, args=(work,), daemon=True, name="mrag-describe")
            thread.start()
            self._threads.append(thread)

    def submit(self, task: Task) -> None:
        """Put a task in the queue."""
        self._tasks.put(task)

    def next(self, timeout: float) -> Description | None:
        """Return an outcome; an error that no outcome tells is raised here."""
        try:
            found = self._done.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(found, BaseException):
            raise found
        return found

    def close(self) -> None:
        """Have the threads end when what they wait for has come."""
        for _ in self._threads:
            self._tasks.put(None)

    def _run(self, work: Callable[[Task], Description]) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                self._done.put(work(task))
            except BaseException as error:
                self._done.put(error)


class RayRunner:
    """Runs tasks on a Ray cluster (extra `ray`); the pictures are sent along.

    Models are best named, or given as a function that makes one: connections do not travel.

    Args:
        workers: How many at once.
        address: Address of the cluster; None starts one on this machine, unless one is running.
        max_bytes: Most bytes of a picture's file.

    Raises:
        ConfigError: If Ray is not installed.
    """

    def __init__(self, workers: int = 2, address: str | None = None, max_bytes: int = 64 << 20) -> None:
        if find_spec("ray") is None:
            raise ConfigError("Ray is not installed.", hint="Install it with: pip install 'mrag[ray]'")
        self.capacity = workers
        self.address = address
        self.max_bytes = max_bytes
        self._ray: Any = import_module("ray")
        self._idle: list[Any] = []
        self._busy: dict[Any, tuple[Any, Task]] = {}
        self._failed: list[Description] = []
        self._ours = False

    def start(self, work: Work) -> None:
        """Start one actor for each task at once; they wait for the model and need no core of their own."""
        ray = self._ray
        if not ray.is_initialized():
            options: dict[str, Any] = {"include_dashboard": False} if self.address is None else {}
            ray.init(address=self.address, log_to_driver=False, logging_level="error", **options)
            self._ours = True
        kind = ray.remote(num_cpus=0)(_Actor)
        self._idle = [kind.remote(work) for _ in range(self.capacity)]

    def submit(self, task: Task) -> None:
        """Send a task to an idle actor."""
        try:
            sent = replace(task, data=read_capped(task.path, self.max_bytes))
        except LoadError as error:
            self._failed.append(Description(task, kind="picture", reason=str(error)))
            return
        actor = self._idle.pop()
        self._busy[actor.do.remote(sent)] = (actor, task)

    def next(self, timeout: float) -> Description | None:
        """Return an outcome; a worker that is lost counts as a failure of the model."""
        if self._failed:
            return self._failed.pop()
        if not self._busy:
            time.sleep(timeout)
            return None
        done, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
        if not done:
            return None
        actor, task = self._busy.pop(done[0])
        self._idle.append(actor)
        try:
            outcome: Description = self._ray.get(done[0])
        except self._ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except self._ray.exceptions.RayError as error:
            return Description(task, kind="model", reason=f"A worker was lost: {error}"[:300], again=True)
        return outcome

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        for actor in [*self._idle, *(actor for actor, _ in self._busy.values())]:
            self._ray.kill(actor)
        self._idle, self._busy = [], {}
        if self._ours:
            self._ray.shutdown()
            self._ours = False


class _Actor:
    def __init__(self, work: Work) -> None:
        self.work = work

    def do(self, task: Task) -> Description:
        return self.work(task)
