"""Comparing bits and merging rows by numba, where it is installed: the same numbers in less time.

The functions below are plain Python that numba compiles; they are not run as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.storage.bits import Words

__all__ = ["LARGE", "SearchKernels", "search_kernels"]

LARGE: Final = 200_000
"""Number of documents from which on loading numba pays."""
_BLOCK: Final = 16_384
"""Rows whose scores are summed at once; so many stay in the cache."""

_WORDS: Final = 512
"""Words of 64 rows that are added up at once."""

Array = Any


def _ones(word: Any) -> Any:
    """Return how many bits of a word are set; compilers make one instruction of this form."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


def _places(words: Array, found: Array) -> None:
    count = 0
    for at in range(len(words)):
        left = words[at]
        while left != np.uint64(0):
            rest = left & (left - np.uint64(1))
            found[count] = 64 * at + np.int64(_ones((left ^ rest) - np.uint64(1)))
            count += 1
            left = rest


def _differ(words: Array, rows: Array, asked: Array, once: Array, twice: Array, found: Array) -> None:
    for at in range(len(rows)):
        row = rows[at]
        one, two = np.uint64(0), np.uint64(0)
        for word in range(len(asked)):
            differ = words[row, word] ^ asked[word]
            one += _ones(differ & once[word])
            two += _ones(differ & twice[word])
        found[at] = one + two + two


def _sum(words: Array, read: Array, masks: Array, levels: Array, block: int, digits: Array) -> None:
    """Add up bits, two planes at a time, block by block, so that sums and carries stay in the cache."""
    depth = len(digits)
    sums = np.zeros((depth, block), np.uint64)
    carry = np.zeros(block, np.uint64)
    for start in range(0, words.shape[1], block):
        size = min(block, words.shape[1] - start)
        sums[:, :] = np.uint64(0)
        at = 0
        while at < len(read):
            level, mask = levels[at], masks[at]
            bits = words[read[at], start : start + size]
            here = sums[level]
            if at + 1 < len(read) and levels[at + 1] == level:
                other, second = words[read[at + 1], start : start + size], masks[at + 1]
                for word in range(size):
                    one, two = bits[word] ^ mask, other[word] ^ second
                    either = one ^ two
                    carry[word] = (one & two) | (either & here[word])
                    here[word] ^= either
                level += 1
                at += 2
            else:
                for word in range(size):
                    carry[word] = bits[word] ^ mask
                at += 1
            for digit in range(level, depth):
                here = sums[digit]
                for word in range(size):
                    both = here[word] & carry[word]
                    here[word] ^= carry[word]
                    carry[word] = both
        for digit in range(depth):
            here = sums[digit]
            for word in range(size):
                digits[digit, start + word] = here[word]


def _merge(
    rows: Array, parts: Array, ends: Array, times: Array, total: int, block: int, found: Array, sums: Array
) -> int:
    """Sum the parts of each row block by block, so that they are added up in the cache."""
    scores = np.zeros(block)
    touched = np.zeros(block // 64, np.uint64)
    at = np.zeros(len(ends), np.int64)
    for term in range(1, len(ends)):
        at[term] = ends[term - 1]
    count = 0
    for base in range(0, total, block):
        for term in range(len(ends)):
            entry, end, weight = at[term], ends[term], times[term]
            while entry < end and rows[entry] < base + block:
                row = np.uint64(rows[entry] - base)
                scores[row] += parts[entry] * weight
                touched[row >> np.uint64(6)] |= np.uint64(1) << (row & np.uint64(63))
                entry += 1
            at[term] = entry
        for word in range(len(touched)):
            left = touched[word]
            touched[word] = np.uint64(0)
            while left != np.uint64(0):
                rest = left & (left - np.uint64(1))
                row = np.uint64(64 * word) + _ones((left ^ rest) - np.uint64(1))
                found[count] = base + np.int64(row)
                sums[count] = scores[row]
                scores[row] = 0.0
                count += 1
                left = rest
    return count


@dataclass(frozen=True)
class SearchKernels:
    """The compiled functions, as they are called."""

    _places: Callable[..., None]
    _differ: Callable[..., None]
    _merge: Callable[..., int]
    _sum: Callable[..., None]

    def summed(
        self,
        words: Words,
        read: npt.NDArray[np.int64],
        negative: npt.NDArray[np.bool_],
        levels: npt.NDArray[np.int64],
    ) -> list[Words]:
        """Return the sums of some planes, of each row apart, in binary, lowest digit first.

        Args:
            words: Shape (planes, words of 64 rows).
            read: Which planes are added.
            negative: Of which of them the bits that are not set count.
            levels: How much each counts: 2 ** level.
        """
        order = np.argsort(levels, kind="stable")
        depth = int((1 << levels).sum()).bit_length()
        digits = np.empty((depth, words.shape[1]), np.uint64)
        masks = np.where(negative, ~np.uint64(0), np.uint64(0))
        self._sum(words, read[order], masks[order], levels[order], _WORDS, digits)
        return list(digits)

    def places(self, words: Words) -> npt.NDArray[np.int64]:
        """Return the places of the bits that are set, ascending."""
        found = np.empty(int(np.bitwise_count(words).sum()), np.int64)
        self._places(words, found)
        return found

    def differ(
        self, words: Words, rows: npt.NDArray[np.int64], asked: Words, once: Words, twice: Words
    ) -> npt.NDArray[np.int64]:
        """Return in how many bits some rows differ from those asked for; some count once, some twice.

        Args:
            words: Shape (rows, words).
            rows: Which of them, in range.
            asked: Shape (words,).
            once: The bits that count once, or three times if they are in `twice` as well.
            twice: The bits that count twice.
        """
        found = np.empty(len(rows), np.int64)
        self._differ(words, rows, asked, once, twice, found)
        return found

    def merged(
        self, terms: Sequence[tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], int]], total: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return the rows of some terms, ascending, and the sum of what the terms add to each.

        Args:
            terms: Of each its rows, ascending, what it adds to them, and how often it counts; one or more.
            total: Rows there are.
        """
        rows, parts = (np.concatenate([term[at] for term in terms]) for at in (0, 1))
        ends = np.cumsum([len(its) for its, _, _ in terms])
        times = np.array([number for _, _, number in terms], np.float64)
        found, sums = np.empty(len(rows), np.int64), np.empty(len(rows))
        count = self._merge(rows, parts, ends, times, total, _BLOCK, found, sums)
        return found[:count], sums[:count]


@cache
def _compiled() -> SearchKernels | None:
    if find_spec("numba") is None:
        return None
    jit = import_module("numba").njit(cache=True, nogil=True)
    import_module("numba.extending").register_jitable(inline="always")(_ones)
    return SearchKernels(jit(_places), jit(_differ), jit(_merge), jit(_sum))


def search_kernels(documents: int) -> SearchKernels | None:
    """Return the compiled functions, or None to go on with numpy.

    Args:
        documents: How large the index is.

    Example:
        >>> search_kernels(10) is None
        True
    """
    return _compiled() if documents >= LARGE else None
