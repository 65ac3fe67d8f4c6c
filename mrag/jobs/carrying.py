"""Tasks given out to a runner, and each result taken once."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mrag.errors import StoreError
from mrag.jobs.base import Runner, Work
from mrag.storage.journal import Journal

_ATTEMPTS = 3


@dataclass(frozen=True)
class _Numbered:
    """The work on tasks that have a number, by which their results are told apart."""

    work: Work

    def __call__(self, task: tuple[int, Any]) -> Any:
        return self.work(task[1])


def carried(
    runner: Runner,
    work: Work,
    tasks: Iterable[Any],
    *,
    attempts: int = _ATTEMPTS,
    stop: threading.Event | None = None,
) -> Iterator[tuple[int, Any]]:
    """Carry out tasks; the runner is started, and closed at the end.

    A task whose worker is lost is done again, and no result comes twice.

    Args:
        runner: What carries them out.
        work: What is done with each.
        tasks: Read as they are needed.
        attempts: How often a task may lose its worker before the job fails.
        stop: When set, no further task is begun and those under way are given up.

    Yields:
        The number of a task, counted from 0, and its result, in the order in which results come.

    Raises:
        StoreError: If a task has lost its worker too often.
        Exception: What the work raises.

    Example:
        >>> from mrag.jobs.threads import InlineRunner
        >>> list(carried(InlineRunner(), abs, [-1, 2]))
        [(0, 1), (1, 2)]
    """
    waiting = enumerate(tasks)
    lost: Counter[int] = Counter()
    again: list[tuple[int, Any]] = []
    flying, empty = 0, False
    runner.start(_Numbered(work))
    try:
        while True:
            while flying < runner.capacity and not (stop is not None and stop.is_set()):
                task = again.pop() if again else next(waiting, None)
                if task is None:
                    empty = True
                    break
                runner.submit(task)
                flying += 1
            if (stop is not None and stop.is_set()) or (empty and not flying and not again):
                return
            outcome = runner.next(0.2)
            if outcome is None:
                continue
            flying -= 1
            number, _ = outcome.task
            if not outcome.lost:
                yield number, outcome.value
                continue
            lost[number] += 1
            if lost[number] >= attempts:
                raise StoreError(
                    f"A task has lost its worker {attempts} times. {outcome.lost}",
                    hint="Most likely a worker has too little memory. What was done before is kept.",
                )
            again.append(outcome.task)
    finally:
        runner.close()


def resumed(
    runner: Runner,
    work: Work,
    tasks: Mapping[str, Any],
    journal: Path | None,
    *,
    job: Mapping[str, Any],
    on_progress: Callable[[int, int | None], None] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Carry out named tasks whose results are JSON, but for those that an earlier run has in its journal.

    Args:
        runner: What carries them out.
        work: What is done with each.
        tasks: By name.
        journal: The file of results; None to keep none.
        job: What the results depend on beside the tasks, as JSON; those of another job are not taken.
        on_progress: Called with how many are done, and how many there are.
        stop: When set, the run ends early; what was done is kept.

    Returns:
        The results by name, in the order of the tasks; fewer if it was stopped.

    Raises:
        BlockingIOError: If another process works on that journal.
        StoreError, Exception: As `carried` does.

    Example:
        >>> from mrag.jobs.threads import InlineRunner
        >>> resumed(InlineRunner(), abs, {"a": -1, "b": 2}, None, job={})
        {'a': 1, 'b': 2}
    """
    told = on_progress or (lambda done, total: None)
    key = hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
    found: dict[str, Any] = {}
    with nullcontext() if journal is None else Journal(journal) as kept:
        for record in () if kept is None else kept.records:
            if record.get("job") == key and record.get("task") in tasks:
                found.setdefault(record["task"], record["result"])
        names = [name for name in tasks if name not in found]
        told(len(found), len(tasks))
        for number, result in carried(runner, work, (tasks[name] for name in names), stop=stop):
            if kept is not None:
                kept.add({"job": key, "task": names[number], "result": result})
            found[names[number]] = result
            told(len(found), len(tasks))
    return {name: found[name] for name in tasks if name in found}
