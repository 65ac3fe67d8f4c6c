"""What carries out a long job: one interface, wherever the work is done.

A runner only carries out tasks. Their order, what is tried again and what is kept are the business of who
gives them out (`mrag.jobs.carrying`, `mrag.images.describe`), so results are the same with every runner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

Work: TypeAlias = Callable[[Any], Any]
"""What is done with each task; it, its tasks and its results pickle where they leave the process."""


@dataclass(frozen=True)
class TaskOutcome:
    """What became of a task.

    Attributes:
        task: The task, the very object that was submitted.
        value: What the work returned.
        lost: Why there is no value: its worker ended before it had one. The task may be submitted again.
    """

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
        """Make ready.

        Raises:
            ConfigError: If the work cannot be sent to where it is to be done.
        """

    def submit(self, task: Any) -> None:
        """Begin a task."""

    def next(self, timeout: float) -> TaskOutcome | None:
        """Return an outcome, None if there is none within so many seconds.

        Raises:
            Exception: What the work raised.
        """

    def close(self) -> None:
        """Give up what is under way. The runner can be started again."""
