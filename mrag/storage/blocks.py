"""A file whose blocks are checked when they are first read.

What was checked is what is used: a block is read into memory that belongs to the process and summed there.
A map of the file would be shared with the disk, so that bytes could change after they were checked, and a
file that is cut off would end the process.
"""

from __future__ import annotations

import mmap
import os
import threading
import weakref
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import DamagedIndex
from mrag.storage.files import BLOCK, FileEntry

_AT_ONCE: Final = 64
"""Blocks that are read by one call: their sums are taken while they are still in the processor's cache."""

_SHARED: Final = 2048
"""Blocks from which on several threads read and sum."""


class CheckedFile:
    """Reads a file block by block, on demand.

    Args:
        file: The file.
        entry: What the manifest says of it.
        hint: What to do if it is damaged.

    Raises:
        OSError: If it cannot be opened.
        DamagedIndex: If its size is another.
    """

    def __init__(self, file: Path, entry: FileEntry, hint: str = "") -> None:
        self.file = file
        self.size = entry.size
        self._hint = hint
        self._descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._close = weakref.finalize(self, os.close, self._descriptor)
        if (there := os.fstat(self._descriptor).st_size) != entry.whole:
            raise self.damaged(f"there are {there} bytes, not {entry.whole}")
        blocks = entry.blocks
        table = bytearray(4 * blocks)
        self._fill(memoryview(table), entry.size)
        if zlib.crc32(table) != entry.crc32:
            raise self.damaged("the checksums are not as they were written")
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
        """Have some bytes read and checked.

        Args:
            start: The first of them.
            stop: Where they end.

        Raises:
            DamagedIndex: If a block of them is not as it was written.
        """
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
        """Have some rows of bytes read and checked.

        Args:
            starts: Where each begins.
            width: The bytes of each.

        Raises:
            DamagedIndex: If a block of them is not as it was written.
        """
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

    def damaged(self, why: str) -> DamagedIndex:
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
            raise self.damaged(f"a part cannot be read: {error.strerror or error}") from error
        for at in range(first, last):
            piece = self._view[at * BLOCK : min((at + 1) * BLOCK, stop)]
            if zlib.crc32(piece) != self._sums[at]:
                raise self.damaged(f"block {at} of {len(self._sums)} is not as it was written")

    def _fill(self, view: memoryview, at: int) -> None:
        while view:
            got = _read_at(self._descriptor, view, at)
            if not got:
                raise self.damaged("the end is cut off")
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
