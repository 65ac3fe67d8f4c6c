"""What the lexical and the dense ranker share: packed strings, document rows, and the best k of them."""

from __future__ import annotations

import hashlib
import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_
from mrag.storage.arrays import Arrays, Lazy, LazyArray, lazy

Mask: TypeAlias = npt.NDArray[np.bool_]
Ranking: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]
"""Row numbers and their scores, best first."""

_BLOCK: Final = 64
_LEAST_BLOCK: Final = 8
_READ: Final = 8192  # Strings that are read at once when all are


class StringTable(Sequence[str]):
    """Strings packed into one UTF-8 array with offsets, so that a file can be mapped and not parsed."""

    __slots__ = ("_need", "_places", "_text", "blob", "offsets")

    def __init__(self, blob: LazyArray, offsets: npt.NDArray[np.int64]) -> None:
        self.blob = blob
        self.offsets = offsets
        self._need = blob.need if isinstance(blob, Lazy) else None
        # Single strings are read through these: slices of numpy arrays cost several times as much.
        self._text = np.ascontiguousarray(blob.peek() if isinstance(blob, Lazy) else blob).data
        self._places = np.ascontiguousarray(offsets).data

    def __reduce__(self) -> tuple[type[StringTable], tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]]:
        return StringTable, (np.asarray(self.blob), self.offsets)

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """Pack strings in the order given."""
        # Lone surrogates come from undecodable file names and the like; they must survive, not raise.
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(e) for e in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _bytes(self, index: int) -> bytes:
        start, end = self._places[index], self._places[index + 1]
        if self._need is not None:
            self._need(start, end)
        return bytes(self._text[start:end])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        size = len(self._places) - 1
        if not -size <= index < size:
            raise IndexError(f"String {index} of {size}.")
        return str(self._bytes(index % size), "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for at in range(0, len(self), _READ):
            offsets = self.offsets[at : at + _READ + 1].tolist()
            first = offsets[0]
            blob = np.asarray(self.blob[first : offsets[-1]]).tobytes()
            for start, end in pairwise(offsets):
                yield blob[start - first : end - first].decode("utf-8", "surrogatepass")

    def find(self, text: str) -> int | None:
        """Return the place of a string in a sorted table, or None."""
        key = text.encode("utf-8", "surrogatepass")
        if self._need is not None:
            # A search looks at strings all over the table, and is too quick to ask for each.
            self._need(0, len(self._text))
            self._need = None
        at = bisect_left(range(len(self)), key, key=self._bytes)
        return at if at < len(self) and self._bytes(at) == key else None


class StoredSegment:
    """A run of documents, sorted by ID, as arrays; those of a file are read as they are asked for."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def arrays(self) -> Arrays:
        """Return everything that a segment is, to be written to a file."""
        return self._arrays

    def __len__(self) -> int:
        return len(lazy(self._arrays, "ids.offsets")) - 1

    @cached_property
    def ids(self) -> StringTable:
        """Their IDs."""
        return self.strings("ids")

    def strings(self, name: str) -> StringTable:
        """Return the strings that `packed` has put under a name."""
        return StringTable(lazy(self._arrays, f"{name}.blob"), self._arrays[f"{name}.offsets"])

    @staticmethod
    def pack(tables: Mapping[str, StringTable]) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of strings by name."""
        blobs = {f"{name}.blob": np.asarray(table.blob) for name, table in tables.items()}
        return blobs | {f"{name}.offsets": table.offsets for name, table in tables.items()}


class Rows:
    """The documents of an index as numbered rows: one run of rows per segment, some of them deleted."""

    def __init__(self, ids: Sequence[StringTable], live: Mask | None = None) -> None:
        self.ids = tuple(ids)
        self.bases = [0]
        for table in self.ids:
            self.bases.append(self.bases[-1] + len(table))
        self.total = self.bases[-1]
        self.live = np.ones(self.total, np.bool_) if live is None else live
        self.count = int(np.count_nonzero(self.live))

    @property
    def whole(self) -> bool:
        """Whether no row is deleted."""
        return self.count == self.total

    def spans(self) -> Iterator[tuple[int, int]]:
        """Return the first row and the row behind the last of each segment."""
        return pairwise(self.bases)

    def id_of(self, row: int) -> str:
        """Return the document ID of a row."""
        at, place = self.place(row)
        return self.ids[at][place]

    def place(self, row: int) -> tuple[int, int]:
        """Return the number of the segment that a row is in, and its place there."""
        at = bisect_right(self.bases, row, hi=len(self.ids)) - 1
        return at, row - self.bases[at]

    def row_of(self, doc_id: str) -> int | None:
        """Return the live row of a document, or None."""
        for table, start in zip(self.ids, self.bases, strict=False):
            at = table.find(doc_id)
            if at is not None and self.live[start + at]:
                return start + at
        return None

    def in_order(self) -> Iterator[tuple[str, int]]:
        """Yield the IDs of the documents in order, with their rows."""

        def live(table: StringTable, start: int) -> Iterator[tuple[str, int]]:
            return ((doc_id, row) for row, doc_id in enumerate(table, start) if self.live[row])

        return heapq.merge(*map(live, self.ids, self.bases))

    def live_rows(self, ids: Iterable[str]) -> Iterator[int | None]:
        """Yield the live row of each of some sorted IDs, or None, without decoding all at once."""
        there = self.in_order()
        doc_id, row = next(there, ("", -1))
        for sought in ids:
            while row >= 0 and doc_id < sought:
                doc_id, row = next(there, ("", -1))
            yield row if row >= 0 and doc_id == sought else None

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The live row of every document ID; decodes them all, once."""
        every = [doc_id for table in self.ids for doc_id in table]
        return {every[row]: row for row in np.flatnonzero(self.live).tolist()}

    def mask(self, allowed: Collection[str]) -> Mask:
        """Mark the live rows of the documents named; unknown IDs are passed over."""
        # Below this many, binary searches cost less than decoding every ID once.
        if len(allowed) <= 64 and "by_id" not in self.__dict__:
            rows = [self.row_of(str(doc_id)) for doc_id in allowed]
        else:
            rows = [self.by_id.get(str(doc_id)) for doc_id in allowed]
        mask = np.zeros(self.total, np.bool_)
        mask[[row for row in rows if row is not None]] = True
        return mask

    def without(self, ids: Iterable[str]) -> Rows:
        """Return the same rows with some documents deleted; unknown IDs are passed over."""
        live = self.live.copy()
        live[[row for row in map(self.row_of, ids) if row is not None]] = False
        return Rows(self.ids, live)

    def order(self, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int) -> Ranking:
        """Return the best k of ascending rows: by score, then by document ID."""
        if len(rows) > k:
            cut = np.partition(scores, len(scores) - k)[len(scores) - k]
            keep = scores > cut
            tied = np.flatnonzero(scores == cut)
            if len(self.ids) == 1:
                keep[tied[:k]] = True
            else:
                for start, end in self.spans():
                    inside = tied[np.searchsorted(rows[tied], start) : np.searchsorted(rows[tied], end)]
                    keep[inside[:k]] = True
            rows, scores = rows[keep], scores[keep]
        place = np.argsort(-scores, kind="stable")
        if len(self.ids) > 1:
            # Ties stand in order of their rows, which between segments is not that of their IDs.
            falls = np.flatnonzero(np.diff(scores[place])) + 1
            for start, end in pairwise([0, *falls.tolist(), len(place)]):
                if end - start > 1:
                    by_name = sorted(place[start:end].tolist(), key=lambda at: self.id_of(int(rows[at])))
                    place[start:end] = by_name
        place = place[:k]
        return rows[place], scores[place]


def twice(doc_id: str) -> IndexError_:
    """Return the error for a document ID that occurs twice."""
    hint = "Return one text per ID; in SPARQL, GROUP BY the ID and GROUP_CONCAT the texts."
    return IndexError_("A document ID occurs twice.", term=doc_id, hint=hint)


def distinct(ids: Sequence[str]) -> Sequence[str]:
    """Return sorted document IDs as they are if no two are equal."""
    for one, other in pairwise(ids):
        if one == other:
            raise twice(one)
    return ids


def best(values: npt.NDArray[np.floating] | npt.NDArray[np.uint16], k: int) -> float:
    """Return a value that at least k of the values reach, close to the k-th best."""
    size = min(_BLOCK, len(values) // (2 * k + 1))
    if size >= _LEAST_BLOCK:
        # Which values make up a block is all the same; maxima of columns are found several at once.
        blocks = len(values) // size
        values = values[: blocks * size].reshape(size, blocks).max(axis=0)
    if k >= len(values):
        return float(values.min())
    return float(np.partition(values, len(values) - k)[len(values) - k])


def contenders(values: npt.NDArray[np.floating], k: int, *, margin: float = 0.0) -> npt.NDArray[np.int64]:
    """Return every row that may be among the best k, ascending."""
    if len(values) == 0:
        return np.empty(0, np.int64)
    return np.flatnonzero(values >= best(values, k) - margin).astype(np.int64, copy=False)


DIGEST_BYTES: Final = 16


def digest(text: str) -> bytes:
    """Return the BLAKE2b digest of a text, by which changed texts and known vectors are told."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
