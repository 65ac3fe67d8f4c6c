"""Queries that are being answered: which there are, and ending one by hand."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from mrag.errors import QueryRefused, StoreError

_SHOWN = 2_000


@dataclass
class ActiveQuery:
    """A query that is being answered.

    Attributes:
        id: Its number.
        text: What is asked; empty where statements are read without a query.
        process: Number of the process that answers it; None where that is another server.
        began: When it began, by the monotonic clock.
        stopped: Whether somebody has ended it.
    """

    id: int
    text: str
    process: int | None
    began: float = field(default_factory=time.monotonic)
    stopped: bool = False


class ActiveQueries:
    """The queries that a server is answering.

    Example:
        >>> queries = ActiveQueries()
        >>> with queries.running("ASK {}", None):
        ...     queries.stop(queries.listed()[0]["id"])
        False
        >>> queries.listed()
        []
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._active: dict[int, ActiveQuery] = {}
        self._lock = threading.Lock()

    @contextmanager
    def running(self, text: str, process: int | None) -> Iterator[ActiveQuery]:
        """Count a query while the block answers it.

        Args:
            text: The query.
            process: The process that answers it, which nobody takes away before the block ends.

        Raises:
            QueryRefused: If somebody has ended it.
        """
        one = ActiveQuery(next(self._numbers), text, process)
        with self._lock:
            self._active[one.id] = one
        try:
            yield one
        except StoreError as error:
            if one.stopped:
                raise QueryRefused("The query was stopped by hand.", query=text) from error
            raise
        finally:
            with self._lock:
                del self._active[one.id]

    def stop(self, number: int) -> bool:
        """End a query; return whether there is such a one, and it can be ended."""
        with self._lock:
            one = self._active.get(number)
            if one is None or one.process is None:
                return False
            one.stopped = True
            # The process has not been waited for as long as the block runs, so its number is no other's.
            with suppress(ProcessLookupError):
                os.kill(one.process, signal.SIGKILL)
            return True

    def listed(self) -> list[dict[str, Any]]:
        """Return the queries, the longest running first."""
        now = time.monotonic()
        with self._lock:
            found = sorted(self._active.values(), key=lambda one: (one.began, one.id))
            return [
                {
                    "id": one.id,
                    "text": one.text[:_SHOWN],
                    "seconds": round(now - one.began, 1),
                    "stoppable": one.process is not None,
                }
                for one in found
                if not one.stopped
            ]
