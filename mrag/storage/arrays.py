"""Many arrays in one file, each checked as it is touched.

What was checked is what is used: a block is read into memory that belongs to the process and summed there.
A map of the file would be shared with the disk, so that bytes could change after they were checked, and a
file that is cut off would end the process.
"""

from __future__ import annotations

import json
import mmap
import os
import threading
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import DamagedIndex
from mrag.storage.files import BLOCK, FileEntry, Sink

_AT_ONCE: Final = 64
"""Blocks that are read by one call: their sums are taken while they are still in the processor's cache."""

_SHARED: Final = 2048  # Blocks from which on several threads read and sum


class CheckedFile:
    """Reads a file block by block, on demand."""

    def __init__(self, file: Path, entry: FileEntry, hint: str = "") -> None:
        self.file = file
        self.size = entry.size
        self._hint = hint
        self._descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._close = weakref.finalize(self, os.close, self._descriptor)
        if (there := os.fstat(self._descriptor).st_size) != entry.whole:
            raise self.damage(f"there are {there} bytes, not {entry.whole}")
        blocks = entry.blocks
        table = bytearray(4 * blocks)
        self._fill(memoryview(table), entry.size)
        if zlib.crc32(table) != entry.crc32:
            raise self.damage("the checksums are not as they were written")
        self._sums: list[int] = np.frombuffer(table, "<u4").tolist()
        self._content = mmap.mmap(-1, max(1, entry.size))
        self._view = memoryview(self._content)[: entry.size]
        self._good = bytearray(blocks)
        self._flags = np.frombuffer(self._good, np.uint8)
        self._left = blocks
        self._lock = threading.Lock()

    @property
    def complete(self) -> bool:
        """Whether every block has been read and is good."""
        return not self._left

    def buffer(self) -> memoryview:
        """Return the memory of the file, read-only; only what `need` was asked for may be looked at."""
        return self._view.toreadonly()

    def need(self, start: int, stop: int) -> None:
        """Have some bytes read and checked."""
        if not self._left or start >= stop:
            return
        first, last = start // BLOCK, -(-stop // BLOCK)
        if self._good.find(0, first, last) < 0:
            return
        with self._lock:
            at = self._good.find(0, first, last)
            while at >= 0:
                end = self._good.find(1, at, last)
                self._take(at, last if end < 0 else end)
                at = self._good.find(0, at, last)

    def need_rows(self, starts: npt.NDArray[np.int64], width: int) -> None:
        """Have some rows of bytes read and checked."""
        if not self._left or not len(starts) or not width:
            return
        first, last = starts // BLOCK, (starts + (width - 1)) // BLOCK
        for more in range(-(-width // BLOCK)):
            first = np.minimum(first + min(more, 1), last)
            missing = first[self._flags[first] == 0]
            if len(missing):
                self._take_these(np.unique(missing).tolist())
        missing = last[self._flags[last] == 0]
        if len(missing):
            self._take_these(np.unique(missing).tolist())

    def damage(self, why: str) -> DamagedIndex:
        """Return the error that says what is amiss with the file."""
        place, name = self.file.parent.name, self.file.name
        what = f"The index {place!r} is damaged: of {name}, {why}."
        return DamagedIndex(what, file=str(self.file), hint=self._hint)

    def _take(self, first: int, last: int) -> None:
        runs = [(at, min(at + _AT_ONCE, last)) for at in range(first, last, _AT_ONCE)]
        if last - first < _SHARED:
            for run in runs:
                self._read(*run)
        else:
            with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
                for _ in pool.map(lambda run: self._read(*run), runs):
                    pass
        self._good[first:last] = b"\1" * (last - first)
        self._left -= last - first
        if not self._left:
            self._close()

    def _take_these(self, blocks: Sequence[int]) -> None:
        with self._lock:
            for block in blocks:
                if not self._good[block]:
                    self._take(block, block + 1)

    def _read(self, first: int, last: int) -> None:
        start, stop = first * BLOCK, min(last * BLOCK, self.size)
        try:
            self._fill(self._view[start:stop], start)
        except OSError as error:
            raise self.damage(f"a part cannot be read: {error.strerror or error}") from error
        for at in range(first, last):
            piece = self._view[at * BLOCK : min((at + 1) * BLOCK, stop)]
            if zlib.crc32(piece) != self._sums[at]:
                raise self.damage(f"block {at} of {len(self._sums)} is not as it was written")

    def _fill(self, view: memoryview, at: int) -> None:
        while view:
            got = _read_at(self._descriptor, view, at)
            if not got:
                raise self.damage("the end is cut off")
            view, at = view[got:], at + got


_moving = threading.Lock()


def _read_at(descriptor: int, view: Any, at: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [view], at)
    # Elsewhere there is one place per open file, which readers must not move under each other.
    with _moving:
        os.lseek(descriptor, at, os.SEEK_SET)
        data = os.read(descriptor, len(view))
    view[: len(data)] = data
    return len(data)


Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_MAGIC: Final = b"mrag arrays 2\n"
_ALIGN: Final = 64


def pack(sink: Sink, arrays: Arrays) -> None:
    """Write arrays into one file, which takes one sync to disk instead of one for each."""
    at, table = 0, {}
    for name, array in arrays.items():
        table[name] = {"type": array.dtype.str, "shape": array.shape, "at": at}
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    header = _MAGIC + json.dumps(table).encode() + b"\n"
    if len(header) > BLOCK:
        raise ValueError("Too many arrays for one file.")
    sink.write(header + b" " * (-len(header) % _ALIGN))
    for array in arrays.values():
        sink.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        sink.write(bytes(-array.nbytes % _ALIGN))


class Lazy:
    """An array of a file of which only those blocks are read that are asked for.

    It is indexed like an array, by a row, a slice of rows, or an array of rows; for anything else use
    `whole`, or numpy, which does.
    """

    __slots__ = ("_array", "_at", "_file", "_width")

    def __init__(self, file: CheckedFile, array: npt.NDArray[Any], at: int) -> None:
        self._file = file
        self._array = array
        self._at = at
        self._width = array.nbytes // len(array) if len(array) else 0

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return self._array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """As of an array."""
        return self._array.dtype

    @property
    def nbytes(self) -> int:
        """As of an array."""
        return self._array.nbytes

    def __len__(self) -> int:
        return len(self._array)

    def need(self, start: int, stop: int) -> None:
        """Have some rows read and checked."""
        self._file.need(self._at + start * self._width, self._at + stop * self._width)

    def peek(self) -> npt.NDArray[Any]:
        """Return the array; only rows that `need` was asked for may be looked at."""
        return self._array

    def among(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return the array with some rows read and checked; no others may be looked at."""
        if not self._file.complete:
            self._touch(rows)
        return self._array

    def whole(self) -> npt.NDArray[Any]:
        """Return the array, all of it read and checked."""
        self.need(0, len(self._array))
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.whole(), dtype=dtype, copy=copy)

    def __getitem__(self, rows: Any) -> Any:
        if not self._file.complete:
            self._touch(rows)
        return self._array[rows]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.whole())

    def __matmul__(self, other: Any) -> Any:
        return self.whole() @ other

    def _touch(self, rows: Any) -> None:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                self.need(start, stop)
                return
        elif isinstance(rows, int | np.integer):
            at = int(rows) + (len(self) if rows < 0 else 0)
            if 0 <= at < len(self):
                self.need(at, at + 1)
                return
        elif isinstance(rows, np.ndarray) and rows.dtype.kind in "iu" and rows.ndim == 1:
            places = rows.astype(np.int64)
            if not len(places) or (places.min() >= 0 and places.max() < len(self)):
                self._file.need_rows(self._at + places * self._width, self._width)
                return
        self.whole()


LazyArray: TypeAlias = npt.NDArray[Any] | Lazy  # An array in memory, or one of a file


class Packed(Mapping[str, npt.NDArray[Any]]):
    """The arrays of a file that `pack` wrote. An array is read and checked when it is first asked for."""

    def __init__(self, file: Path, entry: FileEntry, hint: str = "") -> None:
        self._file = CheckedFile(file, entry, hint)
        self._file.need(0, min(BLOCK, entry.size))
        buffer = self._file.buffer()
        head = bytes(buffer[:BLOCK])
        end = head.find(b"\n", len(_MAGIC)) + 1
        try:
            if not head.startswith(_MAGIC) or not end:
                raise ValueError("no head")
            table: dict[str, Any] = json.loads(head[len(_MAGIC) : end])
            start = -(-end // _ALIGN) * _ALIGN
            self._lazy = {
                name: Lazy(self._file, _view(buffer, start, spec), start + spec["at"])
                for name, spec in table.items()
            }
        except (ValueError, TypeError, KeyError) as error:
            raise self._file.damage("the head is not one of arrays") from error

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._lazy[name].whole()

    def __contains__(self, name: object) -> bool:
        return name in self._lazy

    def __iter__(self) -> Iterator[str]:
        return iter(self._lazy)

    def __len__(self) -> int:
        return len(self._lazy)

    def lazy(self, name: str) -> Lazy:
        """Return an array of which only those blocks are read that are asked for."""
        return self._lazy[name]


def lazy(arrays: Arrays, name: str) -> LazyArray:
    """Return an array by name: of a file one that is read as it is asked for."""
    return arrays.lazy(name) if isinstance(arrays, Packed) else arrays[name]


def _view(buffer: memoryview, start: int, spec: Mapping[str, Any]) -> npt.NDArray[Any]:
    return np.ndarray(spec["shape"], np.dtype(spec["type"]), buffer, start + spec["at"])
