"""Runners in this process: one task after the other, or on threads for work that waits."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from typing import Any

from mrag.errors import ConfigError
from mrag.jobs.base import TaskOutcome, Work


class InlineRunner:
    """Does one task after the other where it is asked for the outcome.

    Example:
        >>> runner = InlineRunner()
        >>> runner.start(abs)
        >>> runner.submit(-3)
        >>> runner.next(1.0)
        TaskOutcome(task=-3, value=3, lost='')
    """

    capacity = 1
    shares_files = True

    def __init__(self) -> None:
        self.cores = os.cpu_count() or 1
        self._work: Work = lambda task: task
        self._tasks: deque[Any] = deque()

    def start(self, work: Work) -> None:
        """Keep the work."""
        self._work = work

    def submit(self, task: Any) -> None:
        """Keep a task."""
        self._tasks.append(task)

    def next(self, timeout: float) -> TaskOutcome | None:
        """Do the next task, however long it takes."""
        if not self._tasks:
            time.sleep(timeout)
            return None
        task = self._tasks.popleft()
        return TaskOutcome(task, self._work(task))

    def close(self) -> None:
        """Forget what has not been begun."""
        self._tasks.clear()


class ThreadRunner:
    """Runs tasks on threads of this process: for work that waits, such as for a model on a server.

    Args:
        workers: How many at once.

    Example:
        >>> ThreadRunner(2).capacity
        2
    """

    shares_files = True
    cores = 1

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise ConfigError("There must be one worker or more.")
        self.capacity = workers
        self._tasks: queue.SimpleQueue[tuple[Any] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[TaskOutcome | BaseException] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, work: Work) -> None:
        """Start the threads."""
        self._tasks, self._done = queue.SimpleQueue(), queue.SimpleQueue()
        for _ in range(self.capacity):
            # Not of a pool: its threads would hold up the end of the process until a slow model answers.
            arguments = (work, self._tasks, self._done)
            thread = threading.Thread(target=_serve, args=arguments, daemon=True, name="mrag-job")
            thread.start()
            self._threads.append(thread)

    def submit(self, task: Any) -> None:
        """Put a task in the queue."""
        self._tasks.put((task,))

    def next(self, timeout: float) -> TaskOutcome | None:
        """Return an outcome; an error of the work is raised here."""
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
        self._threads = []


def _serve(
    work: Work,
    tasks: queue.SimpleQueue[tuple[Any] | None],
    done: queue.SimpleQueue[TaskOutcome | BaseException],
) -> None:
    while (given := tasks.get()) is not None:
        try:
            done.put(TaskOutcome(given[0], work(given[0])))
        except BaseException as error:
            done.put(error)
