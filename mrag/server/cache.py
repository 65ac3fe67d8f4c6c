"""What is kept for repeated queries, bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_LARGEST = 16
"""One entry may take up this part of a cache at most."""

_ENTRY = 512
"""Bytes that an entry takes beside its key and its value, about."""


class SizedCache(Generic[K, V]):
    """The values that were asked for last, by their keys.

    Args:
        size: Maximum number of bytes of all; 0 keeps none.

    Example:
        >>> kept = SizedCache(64_000)
        >>> kept.put("a", "value", 3000)
        >>> kept.get("a")
        'value'
        >>> for name in "bcdefghijklmnopqrstuvwxyz":
        ...     kept.put(name, "another", 3000)
        >>> kept.get("a") is None, len(kept)
        (True, 18)
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._held = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value that is kept."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value, and forget the oldest when there are too many.

        Args:
            key: Its key.
            value: The value.
            size: Bytes of both, about.
        """
        size += _ENTRY
        if size * _LARGEST > self._size:
            return
        self._held += size - self._values.pop(key, (value, 0))[1]
        self._values[key] = value, size
        while self._held > self._size:
            _, (_, freed) = self._values.popitem(last=False)
            self._held -= freed

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()
        self._held = 0


class AnswerCache:
    """The answers to the queries that were asked last, forgotten at any write.

    Args:
        size: Maximum number of bytes of all answers; 0 keeps none.

    Example:
        >>> cache = AnswerCache(64_000)
        >>> cache.put(1, "query", b"answer", 5)
        >>> cache.get(1, "query")
        b'answer'
        >>> cache.get(2, "query") is None
        True
    """

    def __init__(self, size: int) -> None:
        self._generation = -1
        self._answers: SizedCache[Hashable, bytes] = SizedCache(size)

    def get(self, generation: int, key: Hashable) -> bytes | None:
        """Return the answer to a query in a state of the store."""
        return self._answers.get(key) if generation == self._generation else None

    def put(self, generation: int, key: Hashable, answer: bytes, size: int) -> None:
        """Keep an answer, and forget those of other states, and the oldest when there are too many.

        Args:
            generation: The state of the store that was answered from.
            key: What tells the query from others.
            answer: The answer.
            size: Bytes of the key, about.
        """
        if generation < self._generation:
            return
        if generation != self._generation:
            self._answers.clear()
            self._generation = generation
        self._answers.put(key, answer, size + len(answer))
