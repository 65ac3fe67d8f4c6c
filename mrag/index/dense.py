"""Vector search: a flat scan in two steps, sign bits first, then the exact vectors of the nearest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.index.segments.rows import Mask, Ranking, Rows, StringTable, contenders, distinct
from mrag.storage.arrays import Lazy

__all__ = ["DenseIndex", "DenseParams", "sign_codes"]

Vectors = npt.NDArray[np.float32]
Stored = Vectors | Lazy
Codes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]

_LEAST_BITS: Final = 512
_CHUNK: Final = 4096
_CACHED: Final = 1 << 14
"""Rows whose bits are compared at once."""
_ROUNDS: Final = 2
_WIDER: Final = 8
_WIDEST: Final = 64
"""Half of the bits let through this many times the rows that all of them do, or one row of so many."""
_IN_BYTES: Final = 4
"""Words of 64 bits whose differing bits are counted in bytes."""


@dataclass(frozen=True)
class DenseParams:
    """The knobs of vector search.

    Args:
        prefilter_from: Number of rows from which sign bits go first; below it, and wherever few
            documents are allowed, the vectors of all that are allowed are compared.
        oversample: How many documents per one asked for the sign bits let through, 1 or more.
        candidates: How many they let through at least.

    Raises:
        ConfigError: If a knob is out of range.

    Example:
        >>> DenseParams(oversample=0)
        Traceback (most recent call last):
        mrag.errors.ConfigError: Sign bits cannot let through 0 candidates per document. Use 1 or more...
    """

    prefilter_from: int = 20_000
    oversample: int = 20
    candidates: int = 400

    def __post_init__(self) -> None:
        if self.oversample < 1:
            raise ConfigError(
                f"Sign bits cannot let through {self.oversample} candidates per document.",
                hint="Use 1 or more; 20 keeps nearly all of the best.",
            )


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


def sign_codes(vectors: Vectors) -> Codes:
    """Reduce vectors to the signs of their pseudo-random projections.

    The share of equal bits estimates the angle (Charikar, 2002, Similarity estimation techniques
    from rounding algorithms); the projections are two rounds of fixed random sign flips and a
    Walsh-Hadamard transform, which act like a random rotation (Andoni et al., 2015, Practical and
    optimal LSH for angular distance).

    Args:
        vectors: Shape (n, dim).

    Returns:
        Shape (words, n), 64 bits a word: word by word a scan runs through memory in order.

    Example:
        >>> codes = sign_codes(np.array([[1, 0], [0.9, 0.1], [-1, 0]], np.float32))
        >>> near, far = (int(np.bitwise_count(codes[:, 0] ^ codes[:, i]).sum()) for i in (1, 2))
        >>> codes.shape, near < 100, far > 400
        ((8, 3), True, True)
    """
    words = _bits(vectors.shape[1]) // 64
    codes = np.empty((words, len(vectors)), np.uint64)
    for start in range(0, len(vectors), _CHUNK):
        packed = np.packbits(_rotated(vectors[start : start + _CHUNK]) > 0, axis=1, bitorder="little")
        codes[:, start : start + _CHUNK] = packed.view("<u8").T
    return codes


class DenseIndex:
    """Cosine similarity over one or more segments of vectors of length 1.

    Up to `params.prefilter_from` documents every vector is compared. Above, the bits of `sign_codes`
    choose candidates by Hamming distance, and their exact vectors decide. Final scores are summed in
    binary64, row by row, so they depend neither on the order of documents nor on threads.

    Args:
        rows: The documents.
        vectors: One array per segment of `rows`, shape (rows of the segment, dim), of length 1 or 0.
        codes: What `sign_codes` returns for each.
        params: The knobs.

    Example:
        >>> vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
        >>> index = DenseIndex.of(["ex:a", "ex:b", "ex:c"], vectors)
        >>> found, scores = index.search(np.array([0, 1], np.float32), 2)
        >>> [index.rows.id_of(row) for row in found], [round(float(s), 3) for s in scores]
        (['ex:b', 'ex:c'], [1.0, 0.8])
    """

    def __init__(
        self,
        rows: Rows,
        vectors: Sequence[Stored],
        codes: Sequence[Codes | Lazy],
        params: DenseParams | None = None,
    ) -> None:
        self.rows = rows
        self.vectors = tuple(vectors)
        self.codes = tuple(codes)
        self.params = params or DenseParams()

    @classmethod
    def of(cls, ids: Sequence[str], vectors: Vectors, params: DenseParams | None = None) -> DenseIndex:
        """Index vectors.

        Args:
            ids: Document IDs, each once.
            vectors: Shape (len(ids), dim).
            params: The knobs.

        Raises:
            IndexError_: If an ID occurs twice.
        """
        order = sorted(range(len(ids)), key=ids.__getitem__)
        table = StringTable.of(distinct([ids[i] for i in order]))
        stored = np.ascontiguousarray(vectors[order], np.float32)
        return cls(Rows([table]), [stored], [sign_codes(stored)], params)

    @property
    def dim(self) -> int | None:
        """Dimensions of the vectors; None for an empty index."""
        return self.vectors[0].shape[1] if self.vectors else None

    def search(self, vector: npt.NDArray[np.floating], k: int, mask: Mask | None = None) -> Ranking:
        """Rank documents by the cosine of their vectors with one vector.

        Args:
            vector: Shape (dim,), of length 1.
            k: How many documents at most.
            mask: True for the rows that may be found, shape (rows.total,); all if left out.

        Returns:
            Rows (int64) and cosines (float32), best first, ties by document ID.

        Raises:
            IndexError_: If the vector has another number of dimensions.
        """
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
        wanted = max(self.params.candidates, k * self.params.oversample)
        everything = None if count == self.rows.total else allowed
        if count <= wanted or count * 50 <= self.rows.total:
            found = np.flatnonzero(allowed)
        elif self.rows.total < self.params.prefilter_from:
            found = self._near(query, k, everything)
        else:
            found = self._close(query, self._similar_bits(query, wanted, everything), k)
        return self.rows.order(found, self._cosines(query, found), k)

    def _near(self, query: Vectors, k: int, allowed: Mask | None) -> npt.NDArray[np.int64]:
        scores = np.concatenate([vectors @ query for vectors in self.vectors])
        if allowed is not None:
            scores[~allowed] = -np.inf
        return contenders(scores, k, margin=_rounding(query))

    def _close(self, query: Vectors, rows: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int64]:
        """Return those of ascending rows that may be among the best k."""
        scores = np.empty(len(rows), np.float32)
        for vectors, (start, end) in zip(self.vectors, self.rows.spans(), strict=True):
            here = slice(*np.searchsorted(rows, (start, end)))
            scores[here] = vectors[rows[here] - start] @ query
        return rows[contenders(scores, k, margin=_rounding(query))]

    def _similar_bits(self, query: Vectors, wanted: int, allowed: Mask | None) -> npt.NDArray[np.int64]:
        code = sign_codes(query[np.newaxis])[:, 0]
        # Half of the bits choose the rows of which all are compared: reading them is what takes the time.
        first = max(1, len(code) // 2)
        short = first <= _IN_BYTES
        distances: Counts = (
            np.empty(self.rows.total, np.uint8) if short else np.empty(self.rows.total, np.uint16)
        )
        for codes, (start, end) in zip(self.codes, self.rows.spans(), strict=True):
            _differing_bits(codes[:first], code[:first], distances[start:end])
        if allowed is not None:
            distances[~allowed] = 255 if short else 65_535
        rows = _least(distances, max(wanted * _WIDER, self.rows.total // _WIDEST))
        rows = rows if allowed is None else rows[allowed[rows]]
        near = distances[rows].astype(np.uint16)
        for codes, (start, end) in zip(self.codes, self.rows.spans(), strict=True):
            here = slice(*np.searchsorted(rows, (start, end)))
            for word, bits in zip(codes[first:], code[first:], strict=True):
                near[here] += np.bitwise_count(word[rows[here] - start] ^ bits)
        return rows[_least(near, wanted)]

    def _cosines(self, query: Vectors, rows: npt.NDArray[np.int64]) -> Vectors:
        exact = query.astype(np.float64)
        scores = np.empty(len(rows), np.float32)
        for vectors, (start, end) in zip(self.vectors, self.rows.spans(), strict=True):
            first, last = np.searchsorted(rows, (start, end))
            for at in range(int(first), int(last), _CHUNK):
                some = slice(at, min(at + _CHUNK, int(last)))
                scores[some] = (vectors[rows[some] - start] * exact).sum(axis=1)
        return scores


def _differing_bits(codes: Codes, code: npt.NDArray[np.uint64], into: Counts) -> None:
    """Count the bits in which rows differ from a code, so many rows at a time that they stay in the cache.

    Where 256 bits are counted in bytes, more than 191 of the first 192 count as 191.
    """
    differing = np.empty(_CACHED, np.uint64)
    counts = np.empty(_CACHED, np.uint8)
    full = into.dtype == np.uint8 and len(codes) == _IN_BYTES
    for start in range(0, len(into), _CACHED):
        here = into[start : start + _CACHED]
        here[:] = 0
        some, few = differing[: len(here)], counts[: len(here)]
        for word, bits in zip(codes, code, strict=True):
            np.bitwise_xor(word[start : start + _CACHED], bits, out=some)
            np.bitwise_count(some, out=few)
            if full:
                np.minimum(here, 191, out=here)
            np.add(here, few, out=here)


def _rounding(query: Vectors) -> float:
    """Return twice the worst rounding of a binary32 product: BLAS adds in any order, and may lose none."""
    return 2 * len(query) * 2.0**-24


def _least(distances: npt.NDArray[np.uint8] | npt.NDArray[np.uint16], wanted: int) -> npt.NDArray[np.int64]:
    """Return the rows of the least distances, ascending: so many, and all that tie with the last of them."""
    # To count bytes below a bound is so quick that eight bounds take less time than one selection.
    low, high = 0, int(np.iinfo(distances.dtype).max)
    while low < high:
        middle = (low + high) // 2
        if np.count_nonzero(distances <= distances.dtype.type(middle)) >= wanted:
            high = middle
        else:
            low = middle + 1
    return np.flatnonzero(distances <= distances.dtype.type(low)).astype(np.int64, copy=False)
