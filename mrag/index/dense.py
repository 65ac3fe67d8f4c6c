"""Vector search: a flat scan in two steps, signs first, then the exact vectors of the nearest.

The signs of projected vectors are kept twice. In planes, one for each projection, every row has its bit:
there a query reads the planes on which it projects furthest, because these tell most, of all rows. Of the
rows that they choose it then reads all bits, which lie together, each weighed by how far it projects.

Bits are added up 64 rows a word (carry-save adders as in Muła, Kurz and Lemire, 2018, Faster Population
Counts Using AVX2 Instructions; sums as in O'Neil and Quass, 1997, Improved Query Performance with Variant
Indexes).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.index.rows import Mask, Ranking, Rows, StringTable, contenders, distinct
from mrag.storage.arrays import Lazy

Words = npt.NDArray[np.uint64]  # Bits: that of row r is bit r % 64 of word r // 64


def pack(mask: npt.NDArray[np.bool_]) -> Words:
    """Return which rows may be found as bits, 64 rows a word."""
    bits = np.zeros(-(-len(mask) // 64) * 8, np.uint8)
    packed = np.packbits(mask, bitorder="little")
    bits[: len(packed)] = packed
    return bits.view(np.uint64)


def set_bits(words: Words) -> npt.NDArray[np.int64]:
    """Return the places of the bits that are set, ascending."""
    # Only bytes with a bit are unpacked: of most bytes none is set.
    some = words.astype("<u8", copy=False).view(np.uint8)
    at = np.flatnonzero(some)
    bits = np.flatnonzero(np.unpackbits(some[at], bitorder="little").view(np.bool_))
    places: npt.NDArray[np.int64] = (at[bits >> 3] << 3) + (bits & 7)
    return places


def add_up(parts: Iterable[tuple[Words, bool, int]]) -> list[Words]:
    """Add up bits, of each position in the words apart."""
    waiting: list[list[tuple[Words, bool]]] = []
    spare: list[Words] = []

    def room(like: Words) -> Words:
        return spare.pop() if spare else np.empty_like(like)

    def add(bits: Words, own: bool, level: int) -> None:
        # What was made here is written over: the same few arrays then stay in the cache.
        while True:
            while level >= len(waiting):
                waiting.append([])
            here = waiting[level]
            if len(here) < 2:
                here.append((bits, own))
                return
            (first, own_first), (second, own_second) = here
            carry = np.bitwise_and(first, second, out=room(bits))
            either = np.bitwise_xor(first, second, out=first if own_first else room(bits))
            both = np.bitwise_and(either, bits, out=second if own_second else room(bits))
            carry |= both
            either ^= bits
            spare.extend([both, bits] if own else [both])
            here[:] = [(either, True)]
            bits, own, level = carry, True, level + 1

    empty = np.empty(0, np.uint64)
    for bits, own, level in parts:
        empty = bits
        add(bits, own, level)
    level = 0
    while level < len(waiting):
        here = waiting[level]
        if len(here) == 2:
            (first, _), (second, _) = here
            here[:] = [(first ^ second, True)]
            add(first & second, True, level + 1)
        level += 1
    return [here[0][0] if here else np.zeros_like(empty) for here in waiting]


def largest(digits: Sequence[Words], valid: Words, wanted: int) -> Words:
    """Return the positions of the largest sums: so many, and all that tie with the last of them."""
    sure, left, total = np.zeros_like(valid), valid, 0
    for digit in reversed(digits):
        high = left & digit
        count = int(np.bitwise_count(high).sum())
        if total + count < wanted:
            sure |= high
            total += count
            left = left & ~digit
        else:
            left = high
    sure |= left
    return sure


def byte_sums(counts: npt.NDArray[np.uint8]) -> Words:
    """Return the sum of each row, of a multiple of 8 bytes."""
    # Eight at a time: to sum along short rows takes several times as long.
    eight = counts.view(np.uint64)
    for wide, mask in ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):
        eight = (eight & np.uint64(mask)) + ((eight >> np.uint64(wide)) & np.uint64(mask))
    return eight[:, 0] if eight.shape[1] == 1 else eight.sum(axis=1)


Vectors = npt.NDArray[np.float32]
Planes = npt.NDArray[np.uint8]
"""The planes of a segment, shape (bits, bytes): the bit of row r is bit r % 8 of byte r // 8."""
SignRows = npt.NDArray[np.uint8]
"""The same row by row, shape (rows, bits // 8): bit b of a row is bit b % 8 of byte b // 8."""

_LEAST_BITS: Final = 512
_READ: Final = 5 / 64  # The share of the planes that a query reads
_CHUNK: Final = 4096
_CACHED: Final = 4096  # Words of 64 rows that are added up at once; sums of so many stay in the cache
_FEW: Final = 2048  # Rows of which all signs are compared at once
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


def _rotate(vectors: Vectors) -> Vectors:
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


def sign_planes(vectors: Vectors) -> Planes:
    """Reduce vectors to the signs of their pseudo-random projections."""
    width = -(-len(vectors) // 64) * 8  # whole words of 64 rows
    planes = np.zeros((_bits(vectors.shape[1]), width), np.uint8)
    for start in range(0, len(vectors), _CHUNK):
        packed = np.packbits(_rotate(vectors[start : start + _CHUNK]) > 0, axis=0, bitorder="little")
        planes[:, start // 8 : start // 8 + len(packed)] = packed.T
    return planes


def rows_of_planes(planes: Planes | Lazy) -> SignRows:
    """Return the same bits row by row, in which they can be read of a few rows."""
    whole = np.asarray(planes)
    out = np.empty((8 * whole.shape[1], whole.shape[0] // 8), np.uint8)
    for start in range(0, whole.shape[1], _CHUNK // 8):
        bits = np.unpackbits(whole[:, start : start + _CHUNK // 8], axis=1, bitorder="little")
        here = np.packbits(bits, axis=0, bitorder="little").T
        out[8 * start : 8 * start + len(here)] = here
    return out


@dataclass(frozen=True)
class SegmentSigns:
    """The signs of a segment, twice: a search reads some planes of all rows, then all bits of some rows."""

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
    """Return the rows that are nearest to a query by the signs of their projections."""
    rotated = _rotate(query[np.newaxis])[0]
    parts = _by_planes([one.planes for one in signs], rotated, max(first, wanted), allowed)
    unlike = [_unlike(one.rows, part, rotated) for one, part in zip(signs, parts, strict=True)]
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
    asked = list(zip(read.tolist(), (rotated[read] < 0).tolist(), levels.tolist(), strict=True))
    sums = [part for one in planes for part in _sum(one, read, asked)]
    deepest = max(map(len, sums), default=0)
    zero = np.uint64(0)
    whole = []
    for level in range(deepest):
        parts = [one[level] if level < len(one) else np.full(len(one[0]), zero) for one in sums]
        whole.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    chosen = largest(whole, allowed[0] if len(allowed) == 1 else np.concatenate(allowed), wanted)
    tables, base = [], 0
    for bits in allowed:
        tables.append(set_bits(chosen[base : base + len(bits)]))
        base += len(bits)
    return tables


def _unlike(signs: SignRows | Lazy, rows: npt.NDArray[np.int64], rotated: Vectors) -> npt.NDArray[np.int64]:
    """Return how much the signs of some rows differ from those of a query."""
    size = np.abs(rotated)
    weight = np.minimum(np.rint(size / (size.mean() or 1.0)), 3).astype(np.uint8)
    asked, once, twice = (
        np.packbits(flags, bitorder="little").view(np.uint64)
        for flags in (rotated > 0, weight & 1 > 0, weight & 2 > 0)
    )
    whole = signs.whole() if isinstance(signs, Lazy) else signs  # a search reads of nearly all blocks
    words = whole.view(np.uint64)
    rest = np.empty(len(rows), np.int64)
    for start in range(0, len(rows), _FEW):
        # In range as they are, rows are taken several times as fast where none is looked at for that.
        differ = np.take(words, rows[start : start + _FEW], axis=0, mode="clip")
        differ ^= asked
        counts = np.bitwise_count(differ & twice)
        counts += counts
        differ &= once
        counts += np.bitwise_count(differ)  # of 64 signs that weigh 3 at most the sum fits into a byte
        rest[start : start + _FEW] = byte_sums(counts)
    return rest


def _sum(
    planes: Planes | Lazy, read: npt.NDArray[np.int64], asked: Iterable[tuple[int, bool, int]]
) -> Iterator[list[Words]]:
    """Yield sums of bits, so many rows at a time that they stay in the cache."""
    words = (planes.among(read) if isinstance(planes, Lazy) else planes).view(np.uint64)
    for start in range(0, words.shape[1], _CACHED):
        here = words[:, start : start + _CACHED]
        yield add_up((~here[at] if negative else here[at], negative, level) for at, negative, level in asked)


Stored = Vectors | Lazy

_ONE_OF: Final = 640
"""Of so many rows signs let one through at least, because the more there are, the more lie close together."""
_FIRST: Final = 4
_FIRST_ONE_OF: Final = 64
"""A few planes choose so many rows for each that all signs then let through, and of so many one, at least."""


@dataclass(frozen=True)
class DenseParams:
    """The knobs of vector search.

    Raises:
        ConfigError: If a knob is out of range.

    Example:
        >>> DenseParams(oversample=0)
        Traceback (most recent call last):
        mrag.errors.ConfigError: Signs cannot let through 0 candidates per document. Use 1 or more...
    """

    # Number of rows from which signs go first; below it, and wherever few documents are allowed, the vectors
    # of all that are allowed are compared
    prefilter_from: int = 50_000
    oversample: int = 15  # How many documents per one asked for the signs let through, 1 or more
    candidates: int = 1000  # How many they let through at least; and at least one in 640

    def __post_init__(self) -> None:
        if self.oversample < 1:
            raise ConfigError(
                f"Signs cannot let through {self.oversample} candidates per document.",
                hint="Use 1 or more; 15 keeps nearly all of the best.",
            )


class DenseIndex:
    """Cosine similarity over one or more segments of vectors of length 1."""

    def __init__(
        self,
        rows: Rows,
        vectors: Sequence[Stored],
        signs: Sequence[SegmentSigns],
        params: DenseParams | None = None,
    ) -> None:
        self.rows = rows
        self.vectors = tuple(vectors)
        self.signs = tuple(signs)
        self.params = params or DenseParams()

    @classmethod
    def of(cls, ids: Sequence[str], vectors: Vectors, params: DenseParams | None = None) -> DenseIndex:
        """Index vectors."""
        order = sorted(range(len(ids)), key=ids.__getitem__)
        table = StringTable.of(distinct([ids[i] for i in order]))
        stored = np.ascontiguousarray(vectors[order], np.float32)
        return cls(Rows([table]), [stored], [SegmentSigns.of(stored)], params)

    @property
    def dim(self) -> int | None:
        """Dimensions of the vectors; None for an empty index."""
        return self.vectors[0].shape[1] if self.vectors else None

    def search(
        self,
        vector: npt.NDArray[np.floating],
        k: int,
        mask: Mask | None = None,
        also: npt.NDArray[np.int64] | None = None,
    ) -> Ranking:
        """Rank documents by the cosine of their vectors with one vector."""
        query = np.ascontiguousarray(vector, np.float32)
        if self.dim is not None and query.shape != (self.dim,):
            raise IndexError_(
                f"The query vector has shape {query.shape}, the index {self.dim} dimensions.",
                hint="Embed the query with the model that the index was built with.",
            )
        allowed = self.rows.live if mask is None else self.rows.live & mask
        count = self.rows.count if mask is None else int(np.count_nonzero(allowed))
        if count == 0 or k < 1:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        wanted = max(self.params.candidates, k * self.params.oversample, count // _ONE_OF)
        everything = None if count == self.rows.total else allowed
        if count <= wanted or count * 50 <= self.rows.total:
            candidates = np.flatnonzero(allowed)
        elif self.rows.total < self.params.prefilter_from:
            candidates = self._near(query, k, everything)
        else:
            bits = self._live if mask is None else self._bits(allowed)
            first = max(_FIRST * wanted, count // _FIRST_ONE_OF)
            near = nearest_by_signs(self.signs, query, wanted, first, bits)
            if also is not None:
                spans = zip(near, self.rows.spans(), strict=True)
                near = [np.union1d(its, also[(also >= at) & (also < end)] - at) for its, (at, end) in spans]
            return self.rows.order(*self._close(query, near, k), k)
        return self.rows.order(candidates, self._cosines(query, candidates), k)

    @cached_property
    def _live(self) -> list[Words]:
        return self._bits(self.rows.live)

    def _bits(self, mask: Mask) -> list[Words]:
        return [pack(mask[start:end]) for start, end in self.rows.spans()]

    def _near(self, query: Vectors, k: int, allowed: Mask | None) -> npt.NDArray[np.int64]:
        scores = np.concatenate([vectors @ query for vectors in self.vectors])
        if allowed is not None:
            scores[~allowed] = -np.inf
        return contenders(scores, k, margin=_rounding(query))

    def _close(
        self, query: Vectors, near: Sequence[npt.NDArray[np.int64]], k: int
    ) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Return those of ascending rows of each segment that may be among the best k, and their cosines."""
        read = [_take(vectors, rows) for vectors, rows in zip(self.vectors, near, strict=True)]
        candidates = contenders(np.concatenate([some @ query for some in read]), k, margin=_rounding(query))
        rows, scores, first = [], [], 0
        for some, its, base in zip(read, near, self.rows.bases, strict=False):
            here = candidates[slice(*np.searchsorted(candidates, (first, first + len(its))))] - first
            rows.append(its[here] + base)
            scores.append(_exactly(some[here], query))
            first += len(its)
        return np.concatenate(rows), np.concatenate(scores)

    def _cosines(self, query: Vectors, rows: npt.NDArray[np.int64]) -> Vectors:
        scores = np.empty(len(rows), np.float32)
        for vectors, (start, end) in zip(self.vectors, self.rows.spans(), strict=True):
            first, last = np.searchsorted(rows, (start, end))
            for at in range(int(first), int(last), _CHUNK):
                some = slice(at, min(at + _CHUNK, int(last)))
                scores[some] = _exactly(vectors[rows[some] - start], query)
        return scores


def _take(vectors: Stored, rows: npt.NDArray[np.int64]) -> Vectors:
    whole = vectors.among(rows) if isinstance(vectors, Lazy) else vectors
    # In range as they are, they are taken in half of the time where none is looked at for that.
    return np.take(whole, rows, axis=0, mode="clip")


def _exactly(vectors: Vectors, query: Vectors) -> Vectors:
    cosines: Vectors = (vectors * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    return cosines


def _rounding(query: Vectors) -> float:
    """Return twice the worst rounding of a binary32 product: BLAS adds in any order, and may lose none."""
    return 2 * len(query) * 2.0**-24
