"""Answers kept for repeated queries, bounded in bytes and forgotten at any write."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

_LARGEST = 16
"""An answer may take up this part of the cache at most."""


class AnswerCache:
    """The answers that were asked for last.

    Args:
        size: Most bytes of all answers; 0 keeps none.

    Example:
        >>> cache = AnswerCache(1600)
        >>> cache.put(1, "query", b"answer")
        >>> cache.get(1, "query")
        b'answer'
        >>> cache.get(2, "query") is None
        True
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._generation = -1
        self._held = 0
        self._answers: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, generation: int, key: Hashable) -> bytes | None:
        """Return the answer to a query in a state of the store."""
        if generation != self._generation:
            return None
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, generation: int, key: Hashable, answer: bytes) -> None:
        """Keep an answer, and forget those of other states, and the oldest when there are too many."""
        if len(answer) * _LARGEST > self._size or generation < self._generation:
            return
        if generation != self._generation:
            self._answers.clear()
            self._held = 0
            self._generation = generation
        before = self._answers.pop(key, b"")
        self._answers[key] = answer
        self._held += len(answer) - len(before)
        while self._held > self._size:
            _, oldest = self._answers.popitem(last=False)
            self._held -= len(oldest)
