"""Signs of projected vectors, by which a search finds the rows that may be near without reading vectors.

The bits lie in planes: one for each projection, in which every row has its bit. A query is not reduced to
signs. It reads the planes on which it projects furthest, because these tell most: a quarter of them orders
rows about as well as all would if each counted the same. Bits are added up 64 rows at a time, with logical
operations alone (carry-save adders as in Muła, Kurz and Lemire, 2018, Faster Population Counts Using AVX2
Instructions; bit-sliced sums as in O'Neil and Quass, 1997, Improved Query Performance with Variant Indexes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.index.segments.rows import Mask
from mrag.storage.arrays import Lazy

__all__ = ["Planes", "nearest_by_signs", "planes_of_codes", "sign_planes"]

Vectors = npt.NDArray[np.float32]
Planes = npt.NDArray[np.uint8]
"""The planes of a segment, shape (bits, bytes): the bit of row r is bit r % 8 of byte r // 8."""
Words = npt.NDArray[np.uint64]

_LEAST_BITS: Final = 512
_READ: Final = 5 / 32
"""The share of the planes that a query reads."""
_CHUNK: Final = 4096
_CACHED: Final = 4096
"""Words of 64 rows that are added up at once; sums of so many stay in the cache."""
_ROUNDS: Final = 2


def _bits(dim: int) -> int:
    # The rotation works on powers of two; more bits than dimensions still sharpen the estimate.
    return max(_LEAST_BITS, 1 << (dim - 1).bit_length())


@lru_cache(maxsize=8)
def _signs(bits: int) -> Vectors:
    # SHAKE and not a random generator: the same signs on every machine and numpy, for ever.
    stream = hashlib.shake_128(b"mrag sign codes 1").digest(_ROUNDS * bits // 8)
    ones = np.unpackbits(np.frombuffer(stream, np.uint8)).reshape(_ROUNDS, bits)
    return np.where(ones, np.float32(1), np.float32(-1))


def _rotated(vectors: Vectors) -> Vectors:
    bits = _bits(vectors.shape[1])
    out = np.zeros((len(vectors), bits), np.float32)
    out[:, : vectors.shape[1]] = vectors
    for signs in _signs(bits):
        out *= signs
        step = 1
        while step < bits:
            pairs = out.reshape(len(out), bits // (2 * step), 2, step)
            left, right = pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]
            pairs[:, :, 0], pairs[:, :, 1] = left, right
            step *= 2
    return out


def _width(rows: int) -> int:
    """Return the bytes of a plane: whole words of 64 rows."""
    return -(-rows // 64) * 8


def sign_planes(vectors: Vectors) -> Planes:
    """Reduce vectors to the signs of their pseudo-random projections.

    The share of equal signs estimates the angle (Charikar, 2002, Similarity estimation techniques
    from rounding algorithms); the projections are two rounds of fixed random sign flips and a
    Walsh-Hadamard transform, which act like a random rotation (Andoni et al., 2015, Practical and
    optimal LSH for angular distance).

    Args:
        vectors: Shape (n, dim).

    Returns:
        Shape (bits, bytes of n rows, a multiple of 8).

    Example:
        >>> planes = sign_planes(np.array([[1, 0], [0.9, 0.1], [-1, 0]], np.float32))
        >>> bits = np.unpackbits(planes, axis=1, bitorder="little")
        >>> near, far = (int((bits[:, 0] != bits[:, row]).sum()) for row in (1, 2))
        >>> planes.shape, near < 100, far > 400
        ((512, 8), True, True)
    """
    planes = np.zeros((_bits(vectors.shape[1]), _width(len(vectors))), np.uint8)
    for start in range(0, len(vectors), _CHUNK):
        packed = np.packbits(_rotated(vectors[start : start + _CHUNK]) > 0, axis=0, bitorder="little")
        planes[:, start // 8 : start // 8 + len(packed)] = packed.T
    return planes


def planes_of_codes(codes: npt.NDArray[np.uint64]) -> Planes:
    """Return the planes of rows whose bits lie in words of their own, as earlier versions wrote them.

    Args:
        codes: Shape (words, n), 64 bits a word.

    Example:
        >>> planes_of_codes(np.array([[1, 3]], np.uint64))[:3, 0].tolist()
        [3, 2, 0]
    """
    planes = np.zeros((64 * len(codes), _width(codes.shape[1])), np.uint8)
    for at, word in enumerate(codes):
        one = np.ascontiguousarray(word, "<u8").view(np.uint8).reshape(-1, 8)
        packed = np.packbits(np.unpackbits(one, axis=1, bitorder="little"), axis=0, bitorder="little")
        planes[64 * at : 64 * at + 64, : len(packed)] = packed.T
    return planes


def nearest_by_signs(
    planes: Sequence[Planes | Lazy], query: Vectors, wanted: int, allowed: Sequence[Mask]
) -> npt.NDArray[np.int64]:
    """Return the rows that are nearest to a query by the signs of their projections.

    Args:
        planes: Those of each segment.
        query: A vector, shape (dim,).
        wanted: How many rows, 1 or more.
        allowed: True for the rows of each segment that may be found.

    Returns:
        Rows over all segments, ascending: so many with all that tie with the last, or all that are allowed.

    Example:
        >>> vectors = np.array([[1, 0], [0.9, 0.1], [-1, 0]], np.float32)
        >>> nearest_by_signs([sign_planes(vectors)], vectors[0], 2, [np.ones(3, np.bool_)]).tolist()
        [0, 1]
    """
    rotated = _rotated(query[np.newaxis])[0]
    size = np.abs(rotated)
    read = np.argsort(-size, kind="stable")[: int(len(size) * _READ)]
    # Those beyond the mean count twice, which comes close to weighing each by its size.
    levels = (size[read] >= size[read].mean()).astype(np.int64)
    asked = list(zip(read.tolist(), (rotated[read] < 0).tolist(), levels.tolist(), strict=True))
    valid = [_packed(mask) for mask in allowed]
    sums = [part for one in planes for part in _summed(one, read, asked)]
    deepest = max(map(len, sums), default=0)
    zero = np.uint64(0)
    whole = []
    for level in range(deepest):
        parts = [one[level] if level < len(one) else np.full(len(one[0]), zero) for one in sums]
        whole.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    chosen = _largest(whole, valid[0] if len(valid) == 1 else np.concatenate(valid), wanted)
    rows, base, start = [np.empty(0, np.int64)], 0, 0
    for mask, bits in zip(allowed, valid, strict=True):
        here = chosen[base : base + len(bits)]
        rows.append(
            np.flatnonzero(np.unpackbits(here.view(np.uint8), bitorder="little").view(np.bool_)) + start
        )
        base, start = base + len(bits), start + len(mask)
    return np.concatenate(rows)


def _packed(mask: Mask) -> Words:
    bits = np.zeros(_width(len(mask)), np.uint8)
    packed = np.packbits(mask, bitorder="little")
    bits[: len(packed)] = packed
    return bits.view(np.uint64)


def _summed(
    planes: Planes | Lazy, read: npt.NDArray[np.int64], asked: Iterable[tuple[int, bool, int]]
) -> Iterator[list[Words]]:
    """Yield sums of bits, so many rows at a time that they stay in the cache."""
    words = (planes.among(read) if isinstance(planes, Lazy) else planes).view(np.uint64)
    parts = [[(at, level) for at, negative, level in asked if negative == which] for which in (False, True)]
    for start in range(0, words.shape[1], _CACHED):
        here = words[:, start : start + _CACHED]
        ones, others = (_added((here[at], level) for at, level in part) for part in parts)
        # Complements of sums are sums of complements less a constant, and cheaper than each plane's.
        zero = [np.zeros_like(here[0])] * (len(ones) - len(others))
        yield _added(chain(zip(ones, count()), ((~part, level) for level, part in enumerate(others + zero))))


def _added(parts: Iterable[tuple[Words, int]]) -> list[Words]:
    """Add up bits, of each position in the words apart.

    Args:
        parts: The bits, and the level at which each counts: 2 ** level.

    Returns:
        The sums in binary, one array for each digit, lowest first.

    Example:
        >>> ones = np.array([0b11, 0b01, 0b01], np.uint64)
        >>> [digit.tolist() for digit in _added((ones[at : at + 1], 0) for at in range(3))]
        [[3], [1]]
    """
    waiting: list[list[Words]] = []

    def add(bits: Words, level: int) -> None:
        while True:
            while level >= len(waiting):
                waiting.append([])
            here = waiting[level]
            here.append(bits)
            if len(here) < 3:
                return
            first, second, third = here
            either = first ^ second
            bits = first & second
            bits |= either & third
            either ^= third
            here[:] = [either]
            level += 1

    empty = np.empty(0, np.uint64)
    for bits, level in parts:
        empty = bits
        add(bits, level)
    level = 0
    while level < len(waiting):
        here = waiting[level]
        if len(here) == 2:
            first, second = here
            here[:] = [first ^ second]
            add(first & second, level + 1)
        level += 1
    return [here[0] if here else np.zeros_like(empty) for here in waiting]


def _largest(digits: Sequence[Words], valid: Words, wanted: int) -> Words:
    """Return the positions of the largest sums: so many, and all that tie with the last of them.

    Args:
        digits: What `_added` returns.
        valid: The positions that may be chosen.
        wanted: How many.
    """
    sure, left, found = np.zeros_like(valid), valid, 0
    for digit in reversed(digits):
        high = left & digit
        count = int(np.bitwise_count(high).sum())
        if found + count < wanted:
            sure |= high
            found += count
            left = left & ~digit
        else:
            left = high
    sure |= left
    return sure
