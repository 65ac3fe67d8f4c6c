"""Sets of examples as bits, many at a time: what a learner counts millions of hypotheses with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.cel.problem import Measure, qualities

Bits: TypeAlias = npt.NDArray[np.uint64]
"""Sets of examples: the last axis has the words, first those of the positive examples."""

Numbers: TypeAlias = npt.NDArray[np.int64]
Qualities: TypeAlias = npt.NDArray[np.float64]


class ExampleBits:
    """Packs sets of examples into words of 64 bits and counts in them.

    Args:
        positives: How many positive examples there are.
        negatives: How many negative examples there are.

    Attributes:
        inside: The examples that are counted.

    Example:
        >>> bits = ExampleBits(2, 3)
        >>> rows = bits.pack(np.array([[True, False, True, True, False], [True, True, False, False, False]]))
        >>> bits.count(rows)
        (array([1, 2]), array([2, 0]))
        >>> bits.count(~rows & bits.all)
        (array([1, 0]), array([1, 3]))
    """

    def __init__(self, positives: int, negatives: int) -> None:
        self.positives, self.negatives = positives, negatives
        self.split = (positives + 63) // 64
        self.words = self.split + (negatives + 63) // 64
        self.all: Bits = self.pack(np.ones((1, positives + negatives), dtype=bool))[0]
        self.inside: Bits = self.all

    def pack(self, rows: npt.NDArray[np.bool_]) -> Bits:
        """Pack rows of booleans, one for each example, the positive ones first."""
        padded = np.zeros((len(rows), self.words * 64), dtype=bool)
        padded[:, : self.positives] = rows[:, : self.positives]
        start = self.split * 64
        padded[:, start : start + self.negatives] = rows[:, self.positives :]
        return np.packbits(padded, axis=1).view(np.uint64)

    def unpack(self, rows: Bits) -> npt.NDArray[np.bool_]:
        """Return the rows of booleans that were packed."""
        wide = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1).astype(bool)
        start = self.split * 64
        return np.hstack([wide[:, : self.positives], wide[:, start : start + self.negatives]])

    def count(self, rows: Bits) -> tuple[Numbers, Numbers]:
        """Count the positive and the negative examples in each set."""
        ones = np.bitwise_count(rows)
        return _sum(ones[..., : self.split]), _sum(ones[..., self.split :])

    def qualities(self, tp: Numbers, fp: Numbers, measure: Measure) -> Qualities:
        """Return the qualities of many counts at once.

        Raises:
            ConfigError: If there is no such measure.
        """
        found: Qualities = qualities(tp, fp, self.positives, self.negatives, measure)
        return found

    def informative(self, tp: Numbers, fp: Numbers) -> npt.NDArray[np.bool_]:
        """Return which counts hold a larger share of the positive than of the negative examples."""
        return tp * self.negatives > fp * self.positives


class PartBits(ExampleBits):
    """Counts in sets of examples as if some of the examples were not there.

    Args:
        whole: Packs the sets.
        inside: Which examples are there.

    Example:
        >>> whole = ExampleBits(2, 3)
        >>> part = PartBits(whole, np.array([True, False, True, True, False]))
        >>> part.count(whole.pack(np.ones((1, 5), dtype=bool)))
        (array([1]), array([2]))
    """

    def __init__(self, whole: ExampleBits, inside: npt.NDArray[np.bool_]) -> None:
        self.split, self.words, self.all = whole.split, whole.words, whole.all
        self.inside = whole.pack(inside[None, :])[0]
        self.positives = int(inside[: whole.positives].sum())
        self.negatives = int(inside[whole.positives :].sum())

    def count(self, rows: Bits) -> tuple[Numbers, Numbers]:
        """Count the positive and the negative examples in each set that are there."""
        return super().count(rows & self.inside)


def _sum(ones: npt.NDArray[np.uint8]) -> Numbers:
    # The last axis is short: adding its columns is several times as fast as a sum over it.
    total = ones[..., 0].astype(np.int64)
    for column in range(1, ones.shape[-1]):
        total += ones[..., column]
    return total


def fingerprints(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return a number for each row of booleans that equal rows share, and others all but never.

    Example:
        >>> a, b, c = fingerprints(np.array([[True, False], [False, True], [True, False]]))
        >>> bool(a == c), bool(a == b)
        (True, False)
    """
    packed = np.packbits(table, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    return mixed(words.view(np.uint64))


def mixed(rows: Bits) -> npt.NDArray[np.uint64]:
    """Return a number for each row of words, as `fingerprints` does."""
    found = np.zeros(len(rows), dtype=np.uint64)
    for word in rows.T:
        # The finaliser of MurmurHash3, over what came before and the next word.
        found ^= word
        for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
            found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
        found ^= found >> np.uint64(33)
    return found
