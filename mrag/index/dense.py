"""Vector search: a flat scan in two steps, signs first, then the exact vectors of the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_
from mrag.index.segments.rows import Mask, Ranking, Rows, StringTable, contenders, distinct
from mrag.index.segments.signs import SegmentSigns, nearest_by_signs
from mrag.storage.arrays import Lazy
from mrag.storage.bits import Words, packed

__all__ = ["DenseIndex", "DenseParams"]

Vectors = npt.NDArray[np.float32]
Stored = Vectors | Lazy

_CHUNK: Final = 4096
_ONE_OF: Final = 640
"""Of so many rows signs let one through at least, because the more there are, the more lie close together."""
_FIRST: Final = 4
_FIRST_ONE_OF: Final = 64
"""A few planes choose so many rows for each that all signs then let through, and of so many one, at least."""


@dataclass(frozen=True)
class DenseParams:
    """The knobs of vector search.

    Args:
        prefilter_from: Number of rows from which signs go first; below it, and wherever few documents
            are allowed, the vectors of all that are allowed are compared.
        oversample: How many documents per one asked for the signs let through, 1 or more.
        candidates: How many they let through at least; and at least one in 640.

    Raises:
        ConfigError: If a knob is out of range.

    Example:
        >>> DenseParams(oversample=0)
        Traceback (most recent call last):
        mrag.errors.ConfigError: Signs cannot let through 0 candidates per document. Use 1 or more...
    """

    prefilter_from: int = 50_000
    oversample: int = 15
    candidates: int = 1000

    def __post_init__(self) -> None:
        if self.oversample < 1:
            raise ConfigError(
                f"Signs cannot let through {self.oversample} candidates per document.",
                hint="Use 1 or more; 15 keeps nearly all of the best.",
            )


class DenseIndex:
    """Cosine similarity over one or more segments of vectors of length 1.

    Up to `params.prefilter_from` documents every vector is compared. Above, signs choose candidates, and
    their exact vectors decide. Final scores are summed in
    binary64, row by row, so they depend neither on the order of documents nor on threads.

    Args:
        rows: The documents.
        vectors: One array per segment of `rows`, shape (rows of the segment, dim), of length 1 or 0.
        signs: Those of the vectors.
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
        signs: Sequence[SegmentSigns],
        params: DenseParams | None = None,
    ) -> None:
        self.rows = rows
        self.vectors = tuple(vectors)
        self.signs = tuple(signs)
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
        """Rank documents by the cosine of their vectors with one vector.

        Args:
            vector: Shape (dim,), of length 1.
            k: How many documents at most.
            mask: True for the rows that may be found, shape (rows.total,); all if left out.
            also: Rows, of those that may be found, which are compared whatever their signs are.

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
        wanted = max(self.params.candidates, k * self.params.oversample, count // _ONE_OF)
        everything = None if count == self.rows.total else allowed
        if count <= wanted or count * 50 <= self.rows.total:
            found = np.flatnonzero(allowed)
        elif self.rows.total < self.params.prefilter_from:
            found = self._near(query, k, everything)
        else:
            bits = self._live if mask is None else self._bits(allowed)
            first = max(_FIRST * wanted, count // _FIRST_ONE_OF)
            near = nearest_by_signs(self.signs, query, wanted, first, bits)
            if also is not None:
                spans = zip(near, self.rows.spans(), strict=True)
                near = [np.union1d(its, also[(also >= at) & (also < end)] - at) for its, (at, end) in spans]
            return self.rows.order(*self._close(query, near, k), k)
        return self.rows.order(found, self._cosines(query, found), k)

    @cached_property
    def _live(self) -> list[Words]:
        return self._bits(self.rows.live)

    def _bits(self, mask: Mask) -> list[Words]:
        return [packed(mask[start:end]) for start, end in self.rows.spans()]

    def _near(self, query: Vectors, k: int, allowed: Mask | None) -> npt.NDArray[np.int64]:
        scores = np.concatenate([vectors @ query for vectors in self.vectors])
        if allowed is not None:
            scores[~allowed] = -np.inf
        return contenders(scores, k, margin=_rounding(query))

    def _close(
        self, query: Vectors, near: Sequence[npt.NDArray[np.int64]], k: int
    ) -> tuple[npt.NDArray[np.int64], Vectors]:
        """Return those of ascending rows of each segment that may be among the best k, and their cosines."""
        read = [_taken(vectors, rows) for vectors, rows in zip(self.vectors, near, strict=True)]
        found = contenders(np.concatenate([some @ query for some in read]), k, margin=_rounding(query))
        rows, scores, first = [], [], 0
        for some, its, base in zip(read, near, self.rows.bases, strict=False):
            here = found[slice(*np.searchsorted(found, (first, first + len(its))))] - first
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


def _taken(vectors: Stored, rows: npt.NDArray[np.int64]) -> Vectors:
    whole = vectors.among(rows) if isinstance(vectors, Lazy) else vectors
    # In range as they are, they are taken in half of the time where none is looked at for that.
    return np.take(whole, rows, axis=0, mode="clip")


def _exactly(vectors: Vectors, query: Vectors) -> Vectors:
    cosines: Vectors = (vectors * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    return cosines


def _rounding(query: Vectors) -> float:
    """Return twice the worst rounding of a binary32 product: BLAS adds in any order, and may lose none."""
    return 2 * len(query) * 2.0**-24
