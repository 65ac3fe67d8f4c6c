"""A runner on processes of this machine; one that is killed is replaced, and its task done again."""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from mrag import errors
from mrag.errors import ConfigError, MragError, StoreError
from mrag.jobs.base import TaskOutcome, Work
from mrag.stores.process.channel import Child


class ProcessRunner:
    """Runs tasks in processes of this machine, for work that computes.

    They are other interpreters: the work is sent to them pickled, so its class is one that can be imported.

    Args:
        workers: How many processes; as many as there are processors by default.

    Raises:
        ConfigError: If there is to be none.

    Example:
        >>> runner = ProcessRunner(1)
        >>> runner.start(abs)
        >>> runner.submit(-3)
        >>> runner.next(30.0)
        TaskOutcome(task=-3, value=3, lost='')
        >>> runner.close()
    """

    shares_files = True

    def __init__(self, workers: int | None = None) -> None:
        processors = os.cpu_count() or 1
        self.capacity = processors if workers is None else workers
        if self.capacity < 1:
            raise ConfigError("There must be one worker or more.")
        self.cores = max(1, processors // self.capacity)
        self._work = b""
        self._idle: list[Child] = []
        self._busy: dict[Child, Any] = {}
        self._ready: deque[TaskOutcome] = deque()

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that there are now."""
        return sorted(child.pid for child in (*self._idle, *self._busy))

    def start(self, work: Work) -> None:
        """Keep the work; processes are started when they are first needed."""
        try:
            self._work = pickle.dumps((work,))
        except Exception as error:  # pickling raises whatever an object's own methods do
            raise ConfigError(
                f"The work cannot be sent to other processes: {error}.",
                hint="Give a model by its name, or do it without workers.",
            ) from error

    def submit(self, task: Any) -> None:
        """Send a task to a process that waits, or to a new one."""
        data = pickle.dumps(task)
        while True:
            kept = self._idle.pop() if self._idle else None
            child = kept or Child("mrag.jobs.child", secrets=True)
            self._busy[child] = task
            try:
                if kept is None:
                    child.write(self._work)
                child.write(data)
                return
            except StoreError:
                del self._busy[child]
                child.kill()
                if kept is None:
                    self._ready.append(TaskOutcome(task, lost="A new worker process ended at once."))
                    return

    def next(self, timeout: float) -> TaskOutcome | None:
        """Return an outcome; a process that has ended gives one without value."""
        deadline = time.monotonic() + timeout
        while True:
            if self._ready:
                return self._ready.popleft()
            left = deadline - time.monotonic()
            if not self._busy:
                time.sleep(max(0.0, left))
                return None
            with DefaultSelector() as selector:
                for child in self._busy:
                    selector.register(child.fileno(), EVENT_READ, child)
                events = selector.select(max(0.0, left))
            for key, _ in events:
                self._read(key.data)
            if left <= 0 and not self._ready:
                return None

    def close(self) -> None:
        """End the processes, in the middle of their work if need be."""
        for child in (*self._idle, *self._busy):
            child.kill()
        self._idle, self._busy = [], {}
        self._ready.clear()

    def _read(self, child: Child) -> None:
        data = os.read(child.fileno(), 1 << 20)
        if not data:
            task = self._busy.pop(child)
            child.kill()
            self._ready.append(TaskOutcome(task, lost="A worker process has ended."))
            return
        for _, content in child.take(data):
            task = self._busy.pop(child)
            self._idle.append(child)
            reply = pickle.loads(content)  # noqa: S301 # our own child wrote it
            if reply[0] != "done":
                raise _error(reply)
            self._ready.append(TaskOutcome(task, reply[1]))


def _error(reply: tuple[Any, ...]) -> BaseException:
    """Return the error that a reply stands for."""
    if reply[0] == "failed":
        error: BaseException = reply[1]
        return error
    kind = getattr(errors, reply[1], None)
    if isinstance(kind, type) and issubclass(kind, MragError):
        return kind(reply[2], hint=reply[3])
    return StoreError(f"A worker failed: {reply[1]}: {reply[2]}"[:400])
