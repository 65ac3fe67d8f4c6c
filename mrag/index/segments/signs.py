"""Signs of projected vectors, by which a search finds the rows that may be near without reading vectors.

The bits are kept twice. In planes, one for each projection, every row has its bit: there a query, which is
not reduced to signs, reads the planes on which it projects furthest, because these tell most, of all rows. Of
the rows that they choose it then reads all bits, which lie together, each weighed by how far it projects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.index.compiled.kernels import search_kernels
from mrag.index.segments.rows import Mask
from mrag.storage.arrays import Lazy
from mrag.storage.bits import Words, added, byte_sums, largest, set_bits

__all__ = ["SegmentSigns", "nearest_by_signs", "planes_of_codes", "rows_of_planes", "sign_planes"]

Vectors = npt.NDArray[np.float32]
Planes = npt.NDArray[np.uint8]
"""The planes of a segment, shape (bits, bytes): the bit of row r is bit r % 8 of byte r // 8."""
SignRows = npt.NDArray[np.uint8]
"""The same row by row, shape (rows, bits // 8): bit b of a row is bit b % 8 of byte b // 8."""

_LEAST_BITS: Final = 512
_READ: Final = 5 / 64
"""The share of the planes that a query reads."""
_CHUNK: Final = 4096
_CACHED: Final = 4096
"""Words of 64 rows that are added up at once; sums of so many stay in the cache."""
_FEW: Final = 2048
"""Rows of which all signs are compared at once."""
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


def rows_of_planes(planes: Planes | Lazy) -> SignRows:
    """Return the same bits row by row, in which they can be read of a few rows.

    Args:
        planes: What `sign_planes` returns.

    Returns:
        Shape (rows, bits // 8), with some rows more than there are vectors.

    Example:
        >>> planes = sign_planes(np.array([[1, 0], [0.9, 0.1]], np.float32))
        >>> rows = rows_of_planes(planes)
        >>> rows.shape, np.array_equal(np.unpackbits(rows[1], bitorder="little"), planes[:, 0] >> 1)
        ((64, 64), True)
    """
    whole = np.asarray(planes)
    out = np.empty((8 * whole.shape[1], whole.shape[0] // 8), np.uint8)
    for start in range(0, whole.shape[1], _CHUNK // 8):
        bits = np.unpackbits(whole[:, start : start + _CHUNK // 8], axis=1, bitorder="little")
        here = np.packbits(bits, axis=0, bitorder="little").T
        out[8 * start : 8 * start + len(here)] = here
    return out


@dataclass(frozen=True)
class SegmentSigns:
    """The signs of a segment, twice: a search reads some planes of all rows, then all bits of some rows.

    Args:
        planes: What `sign_planes` returns.
        rows: What `rows_of_planes` returns.
    """

    planes: Planes | Lazy
    rows: SignRows | Lazy

    @classmethod
    def of(cls, vectors: Vectors) -> SegmentSigns:
        """Return the signs of vectors, shape (n, dim)."""
        planes = sign_planes(vectors)
        return cls(planes, rows_of_planes(planes))


def nearest_by_signs(
    signs: Sequence[SegmentSigns], query: Vectors, wanted: int, first: int, allowed: Sequence[Words]
) -> list[npt.NDArray[np.int64]]:
    """Return the rows that are nearest to a query by the signs of their projections.

    Args:
        signs: Those of each segment.
        query: A vector, shape (dim,).
        wanted: How many rows, 1 or more.
        first: How many rows a few planes choose, of which all bits are then read.
        allowed: The rows of each segment that may be found, as `packed` gives them.

    Returns:
        Rows of each segment, ascending: so many with all that tie with the last, or all that are allowed.

    Example:
        >>> vectors = np.array([[1, 0], [0.9, 0.1], [-1, 0]], np.float32)
        >>> every = [np.array([7], np.uint64)]
        >>> [found] = nearest_by_signs([SegmentSigns.of(vectors)], vectors[0], 2, 3, every)
        >>> found.tolist()
        [0, 1]
    """
    rotated, total = _rotated(query[np.newaxis])[0], 64 * sum(map(len, allowed))
    parts = _by_planes([one.planes for one in signs], rotated, max(first, wanted), allowed)
    unlike = [_unlike(one.rows, part, rotated, total) for one, part in zip(signs, parts, strict=True)]
    if sum(map(len, parts)) > wanted:
        last = np.partition(np.concatenate(unlike), wanted - 1)[wanted - 1]
        parts = [part[weights <= last] for part, weights in zip(parts, unlike, strict=True)]
    return [np.sort(part) for part in parts]


def _by_planes(
    planes: Sequence[Planes | Lazy], rotated: Vectors, wanted: int, allowed: Sequence[Words]
) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each segment that are nearest by the planes on which a query projects furthest."""
    size = np.abs(rotated)
    read = np.argsort(-size, kind="stable")[: int(len(size) * _READ)]
    # Those beyond the mean count twice, which comes close to weighing each by its size.
    levels = (size[read] >= size[read].mean()).astype(np.int64)
    compiled = search_kernels(64 * sum(map(len, allowed)))
    if compiled:
        sums = [compiled.summed(_words_of(one, read), read, rotated[read] < 0, levels) for one in planes]
    else:
        asked = list(zip(read.tolist(), (rotated[read] < 0).tolist(), levels.tolist(), strict=True))
        sums = [part for one in planes for part in _summed(one, read, asked)]
    deepest = max(map(len, sums), default=0)
    zero = np.uint64(0)
    whole = []
    for level in range(deepest):
        parts = [one[level] if level < len(one) else np.full(len(one[0]), zero) for one in sums]
        whole.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    chosen = largest(whole, allowed[0] if len(allowed) == 1 else np.concatenate(allowed), wanted)
    found, base = [], 0
    places = compiled.places if compiled else set_bits
    for bits in allowed:
        found.append(places(chosen[base : base + len(bits)]))
        base += len(bits)
    return found


def _unlike(
    signs: SignRows | Lazy, rows: npt.NDArray[np.int64], rotated: Vectors, total: int
) -> npt.NDArray[np.int64]:
    """Return how much the signs of some rows differ from those of a query.

    Each sign weighs as much as the query projects there, in units of the mean, rounded, and 3 at most.
    """
    size = np.abs(rotated)
    weight = np.minimum(np.rint(size / (size.mean() or 1.0)), 3).astype(np.uint8)
    asked, once, twice = (_bits_of(flags) for flags in (rotated > 0, weight & 1 > 0, weight & 2 > 0))
    whole = signs.whole() if isinstance(signs, Lazy) else signs  # a search reads of nearly all blocks
    words = whole.view(np.uint64)
    if compiled := search_kernels(total):
        return compiled.differ(words, rows, asked, once, twice)
    found = np.empty(len(rows), np.int64)
    for start in range(0, len(rows), _FEW):
        # In range as they are, rows are taken several times as fast where none is looked at for that.
        differ = np.take(words, rows[start : start + _FEW], axis=0, mode="clip")
        differ ^= asked
        counts = np.bitwise_count(differ & twice)
        counts += counts
        differ &= once
        counts += np.bitwise_count(differ)  # of 64 signs that weigh 3 at most the sum fits into a byte
        found[start : start + _FEW] = byte_sums(counts)
    return found


def _bits_of(flags: Mask) -> Words:
    return np.packbits(flags, bitorder="little").view(np.uint64)


def _words_of(planes: Planes | Lazy, read: npt.NDArray[np.int64]) -> Words:
    return (planes.among(read) if isinstance(planes, Lazy) else planes).view(np.uint64)


def _summed(
    planes: Planes | Lazy, read: npt.NDArray[np.int64], asked: Iterable[tuple[int, bool, int]]
) -> Iterator[list[Words]]:
    """Yield sums of bits, so many rows at a time that they stay in the cache."""
    words = _words_of(planes, read)
    for start in range(0, words.shape[1], _CACHED):
        here = words[:, start : start + _CACHED]
        yield added((~here[at] if negative else here[at], negative, level) for at, negative, level in asked)
