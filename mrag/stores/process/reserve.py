"""Child processes that have done their work and wait for more."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Generic, TypeVar

from mrag.stores.process.channel import Child

Kind = TypeVar("Kind", bound=Child)


class Reserve(Generic[Kind]):
    """Children of one kind that wait, each to be used for work with its own memory limit.

    Starting one takes an interpreter and its imports, more than most pieces of work.

    Attributes:
        size: Most children that wait.

    Example:
        >>> waiting = Reserve()
        >>> waiting.take(1 << 30) is None
        True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[int, Kind]] = []
        self._owner = os.getpid()
        self.size = max(2, os.cpu_count() or 2)
        atexit.register(self.close)

    def take(self, memory: int) -> Kind | None:
        """Return a child that has this memory limit, in bytes; None where none waits."""
        with self._lock:
            self._forked()
            ended = [child for _, child in self._idle if child.ended]
            self._idle = [(limit, child) for limit, child in self._idle if child not in ended]
            place = next((at for at, (limit, _) in enumerate(self._idle) if limit == memory), None)
            found = None if place is None else self._idle.pop(place)[1]
        for child in ended:
            child.kill()
        return found

    def give(self, memory: int, child: Kind) -> None:
        """Have a child wait; if enough of them wait already, the one that waited longest ends."""
        with self._lock:
            self._forked()
            self._idle.append((memory, child))
            surplus = self._idle.pop(0)[1] if len(self._idle) > self.size else None
        if surplus is not None:
            surplus.kill()

    def waiting(self) -> list[Kind]:
        """Return the children that wait."""
        with self._lock:
            return [child for _, child in self._idle]

    def close(self) -> None:
        """End the children that wait; others may come to wait afterwards."""
        with self._lock:
            self._forked()
            idle, self._idle = self._idle, []
        for _, child in idle:
            child.kill()

    def _forked(self) -> None:
        """Let go of the parent's children after a fork."""
        if self._owner != os.getpid():
            self._idle, self._owner = [], os.getpid()
