# ruff: noqa: D102 - what implements an interface is described there
"""What carries out a long job: one interface, wherever the work is done.

A runner only carries out tasks. Their order, what is tried again and what is kept are the business of who
gives them out (`carry`), so results are the same with every runner.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

from mrag import errors
from mrag.errors import ConfigError, MragError, StoreError
from mrag.redaction import brief
from mrag.stores.process.channel import Child

Work: TypeAlias = Callable[[Any], Any]
"""What is done with each task; it, its tasks and its results pickle where they leave the process."""


@dataclass(frozen=True)
class TaskOutcome:
    """What became of a task; `lost` says why there is no value: its worker ended before it had one."""

    task: Any
    value: Any = None
    lost: str = ""


class Runner(Protocol):
    """Carries out tasks, several at a time."""

    @property
    def capacity(self) -> int:
        """How many tasks may be under way at once."""

    @property
    def cores(self) -> int:
        """How many processors the work of one task may use."""

    @property
    def shares_files(self) -> bool:
        """Whether workers see the files of this machine."""

    def start(self, work: Work) -> None:
        """Make ready."""

    def submit(self, task: Any) -> None:
        """Begin a task."""

    def next(self, timeout: float) -> TaskOutcome | None:
        """Return an outcome, None if there is none within so many seconds."""

    def close(self) -> None:
        """Give up what is under way. The runner can be started again."""


class InlineRunner:
    """Does one task after the other where it is asked for the outcome."""

    capacity = 1
    shares_files = True

    def __init__(self) -> None:
        self.cores = os.cpu_count() or 1
        self._work: Work = lambda task: task
        self._tasks: deque[Any] = deque()

    def start(self, work: Work) -> None:
        self._work = work

    def submit(self, task: Any) -> None:
        self._tasks.append(task)

    def next(self, timeout: float) -> TaskOutcome | None:
        if not self._tasks:
            time.sleep(timeout)
            return None
        task = self._tasks.popleft()
        return TaskOutcome(task, self._work(task))

    def close(self) -> None:
        self._tasks.clear()


class ThreadRunner:
    """Runs tasks on threads of this process: for work that waits, such as for a model on a server.

    Raises:
        ConfigError: If there is to be none.
    """

    shares_files = True
    cores = 1

    def __init__(self, workers: int = 2) -> None:
        if workers < 1:
            raise ConfigError("There must be one worker or more.")
        self.capacity = workers
        self._tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[TaskOutcome | BaseException] = queue.SimpleQueue()
        self._ended = threading.Event()

    def start(self, work: Work) -> None:
        self._begin([lambda task: TaskOutcome(task, work(task))] * self.capacity)

    def _begin(self, workers: Sequence[Callable[[Any], TaskOutcome]]) -> None:
        self._tasks, self._done, self._ended = queue.SimpleQueue(), queue.SimpleQueue(), threading.Event()
        for worker in workers:
            # Not of a pool: its threads would hold up the end of the process until a slow model answers.
            arguments = (worker, self._tasks, self._done, self._ended)
            threading.Thread(target=_serve, args=arguments, daemon=True, name="mrag-job").start()

    def submit(self, task: Any) -> None:
        self._tasks.put(task)

    def next(self, timeout: float) -> TaskOutcome | None:
        try:
            outcome = self._done.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def close(self) -> None:
        self._ended.set()
        for _ in range(self.capacity):
            self._tasks.put(None)


def _serve(
    worker: Callable[[Any], TaskOutcome],
    tasks: queue.SimpleQueue[Any],
    done: queue.SimpleQueue[TaskOutcome | BaseException],
    ended: threading.Event,
) -> None:
    while True:
        task = tasks.get()
        if ended.is_set():
            return
        try:
            done.put(worker(task))
        except BaseException as error:
            done.put(error)


class ProcessRunner(ThreadRunner):
    """Runs tasks in processes of this machine, by default one for each processor, for work that computes.

    They are other interpreters: the work is sent to them pickled, so its class is one that can be imported.

    Raises:
        ConfigError: If there is to be none.
    """

    def __init__(self, workers: int | None = None) -> None:
        processors = os.cpu_count() or 1
        super().__init__(processors if workers is None else workers)
        self.cores = max(1, processors // self.capacity)
        self._workers: list[_Worker] = []

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes that there are now."""
        return sorted(worker.child.pid for worker in self._workers if worker.child is not None)

    def start(self, work: Work) -> None:
        try:
            sent = pickle.dumps(work)
        except Exception as error:  # pickling raises whatever an object's own methods do
            hint = "Give a model by its name, or do it without workers."
            raise ConfigError(f"The work cannot be sent to other processes: {error}.", hint=hint) from error
        self._workers = [_Worker(sent) for _ in range(self.capacity)]
        self._begin(self._workers)

    def close(self) -> None:
        super().close()
        for worker in self._workers:
            worker.end()
        self._workers = []


class _Worker:
    """A process that does one task after the other; another one takes the place of one that ends."""

    def __init__(self, work: bytes) -> None:
        self.child: Child | None = None
        self._work = work
        self._ended = False

    def __call__(self, task: Any) -> TaskOutcome:
        try:
            child = self.child
            if child is None:
                child = self.child = Child("mrag.jobs.child", secrets=True)
                child.write(self._work)
            if self._ended:
                child.kill()
            reply = child.ask(task, time.monotonic() + _FOREVER)
        except StoreError:
            self._kill()
            return TaskOutcome(task, lost="A worker process has ended.")
        if reply[0] == "done":
            return TaskOutcome(task, reply[1])
        if reply[0] == "failed":
            raise reply[1]
        kind = getattr(errors, reply[1], None)
        if isinstance(kind, type) and issubclass(kind, MragError):
            raise kind(reply[2], hint=reply[3])
        raise StoreError(f"A worker failed: {reply[1]}: {reply[2]}"[:400])

    def end(self) -> None:
        self._ended = True
        self._kill()

    def _kill(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.kill()


_FOREVER = 1e6  # Seconds that a task may take
_WORKS: dict[str, Work] = {}
"""The latest work that a process of the cluster has been given, with the models that it has opened."""


class RayRunner:
    """Runs tasks on a Ray cluster; what a lost machine was doing is done again elsewhere.

    `mrag` is to be installed on its machines. Work and tasks are sent pickled: models are best named, or
    given as a function that makes one, since connections do not travel.

    Args:
        workers: How many tasks at once; as many as the cluster has processors by default.
        address: Address of the cluster; None starts one on this machine, unless one is running.
        cores: Processors that a task is counted as; 0 for work that waits.

    Raises:
        ConfigError: If Ray is not installed.
    """

    shares_files = False

    def __init__(self, workers: int | None = None, address: str | None = None, *, cores: int = 1) -> None:
        if find_spec("ray") is None:
            raise ConfigError("Ray is not installed.", hint="Install it with: pip install 'mrag[ray]'")
        self.capacity, self.cores = workers or 1, max(1, cores)
        self._wanted, self._address, self._counted = workers, address, cores
        self._ray: Any = import_module("ray")
        self._busy: dict[Any, Any] = {}
        self._ours = False

    def start(self, work: Work) -> None:
        ray = self._ray
        if not ray.is_initialized():
            options: dict[str, Any] = {"include_dashboard": False} if self._address is None else {}
            try:
                ray.init(address=self._address, log_to_driver=False, logging_level="error", **options)
            except ConnectionError as error:
                raise ConfigError(f"The Ray cluster {self._address} cannot be reached.") from error
            self._ours = True
        self.capacity = self._wanted or max(1, int(ray.cluster_resources().get("CPU", 1)))
        try:
            self._work = ray.put(pickle.dumps(work))
        except Exception as error:  # pickling raises whatever an object's own methods do
            raise ConfigError(f"The work cannot be sent to other machines: {error}.") from error
        # Lost tasks are submitted again by who counts their attempts.
        self._remote = ray.remote(num_cpus=self._counted, max_retries=0, scheduling_strategy="SPREAD")(
            _run_task
        )

    def submit(self, task: Any) -> None:
        self._busy[self._remote.remote(self._work.hex(), self._work, task)] = task

    def next(self, timeout: float) -> TaskOutcome | None:
        if not self._busy:
            time.sleep(timeout)
            return None
        done, _ = self._ray.wait(list(self._busy), num_returns=1, timeout=timeout)
        if not done:
            return None
        task = self._busy.pop(done[0])
        try:
            return TaskOutcome(task, self._ray.get(done[0]))
        except self._ray.exceptions.RayTaskError as error:
            raise error.as_instanceof_cause() from error
        except self._ray.exceptions.RayError as error:
            return TaskOutcome(task, lost=brief(f"A worker was lost: {error}", 300))

    def close(self) -> None:
        for reference in self._busy:
            self._ray.cancel(reference, force=True)
        self._busy, self._work = {}, None
        if self._ours:
            self._ray.shutdown()
            self._ours = False


def _run_task(name: str, work: bytes, task: Any) -> Any:
    """Do a task in a process of the cluster."""
    if name not in _WORKS:
        _WORKS.clear()
        _WORKS[name] = pickle.loads(work)  # noqa: S301 # who started the job wrote it
    return _WORKS[name](task)


def runner(name: str, workers: int | None = None, *, waits: bool = False) -> Runner:
    """Return the runner of a name.

    Args:
        name: `inline`, `threads`, `processes`, `ray:ADDRESS`, or `ray` for a cluster on this machine.
        workers: How many tasks at once; by default 2 threads, or a process for each processor.
        waits: Whether the work waits for others rather than computes, and takes no processor of a cluster.

    Raises:
        ConfigError: If there is no such runner, or Ray is not installed.

    Example:
        >>> runner("threads", 4).capacity
        4
        >>> runner("thread")
        Traceback (most recent call last):
        mrag.errors.ConfigError: There is no runner 'thread'. Use inline, threads, ...
    """
    kind, _, address = name.partition(":")
    if kind == "ray":
        return RayRunner(workers, address or None, cores=0 if waits else 1)
    if name == "inline":
        return InlineRunner()
    if name == "threads":
        return ThreadRunner(2 if workers is None else workers)
    if name == "processes":
        return ProcessRunner(workers)
    raise ConfigError(
        f"There is no runner {name!r}.", hint="Use inline, threads, processes, ray or ray:ADDRESS."
    )


@dataclass(frozen=True)
class _Numbered:
    """The work on tasks that have a number, by which their results are told apart."""

    work: Work

    def __call__(self, task: tuple[int, Any]) -> Any:
        return self.work(task[1])


def carry(
    runner: Runner,
    work: Work,
    tasks: Iterable[Any],
    *,
    attempts: int = 3,
    stop: threading.Event | None = None,
) -> Iterator[tuple[int, Any]]:
    """Carry out tasks; the runner is started, and closed at the end.

    A task whose worker is lost is done again, and no result comes twice. Tasks are read as they are needed;
    results come with the number of their task, counted from 0, in the order in which they are ready.

    Args:
        runner: What carries them out.
        work: What is done with each.
        tasks: What it is done with.
        attempts: How often a task may lose its worker before the job fails.
        stop: When set, no further task is begun and those under way are given up.

    Raises:
        StoreError: If a task has lost its worker too often.
        Exception: What the work raises.

    Example:
        >>> from mrag.jobs.runners import InlineRunner
        >>> list(carry(InlineRunner(), abs, [-1, 2]))
        [(0, 1), (1, 2)]
    """
    rest, again, lost, flying = enumerate(tasks), deque[tuple[int, Any]](), Counter[int](), 0
    runner.start(_Numbered(work))
    try:
        while stop is None or not stop.is_set():
            while flying < runner.capacity and (task := again.popleft() if again else next(rest, None)):
                runner.submit(task)
                flying += 1
            if not flying:
                return
            if (outcome := runner.next(0.2)) is None:
                continue
            flying -= 1
            number, _ = outcome.task
            if not outcome.lost:
                yield number, outcome.value
                continue
            lost[number] += 1
            if lost[number] >= attempts:
                hint = "Most likely a worker has too little memory. What was done before is kept."
                raise StoreError(f"A task has lost its worker {attempts} times. {outcome.lost}", hint=hint)
            again.append(outcome.task)
    finally:
        runner.close()
