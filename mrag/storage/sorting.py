"""Rows in order, of which only so many are in memory at once.

What does not fit waits in a temporary file without a name, which the system removes with the process.
"""

from __future__ import annotations

import heapq
import marshal
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, Generic, TypeVar

R = TypeVar("R", bound=tuple[Any, ...])

_MOST: Final = 96 << 20  # Bytes of the rows that are in memory at once, about
_ROW: Final = 150  # Bytes that a row takes beside its content
_FRAME: Final = 1 << 18  # Bytes that are read of each run at once, about
_HEAD: Final = 8


class SortedRows(Generic[R]):
    """Rows sorted by their first value, a string, and where that is equal by all of them."""

    def __init__(self, rows: Iterable[R], *, folder: Path | None = None, most: int = _MOST) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._runs: list[tuple[int, int]] = []
        self._rest: list[tuple[str, bytes]] = []
        self._count = 0
        held, size = self._rest, 0
        try:
            for row in rows:
                packed = marshal.dumps(row)
                held.append((row[0], packed))
                size += len(packed) + len(row[0]) + _ROW
                self._count += 1
                if size > most:
                    self._write(held)
                    size = 0
            _order(held)
            if self._file is not None and held:
                self._write(held)
        except BaseException:
            self.close()
            raise

    def _write(self, held: list[tuple[str, bytes]]) -> None:
        """Write a run, frame by frame."""
        _order(held)
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 # closed by `close`
        began, frame, size = self._file.tell(), [], 0
        for at, (_, packed) in enumerate(held):
            frame.append(packed)
            size += len(packed)
            if size >= _FRAME or at == len(held) - 1:
                content = marshal.dumps(frame)
                self._file.write(len(content).to_bytes(_HEAD, "little") + content)
                frame, size = [], 0
        self._file.flush()
        self._runs.append((began, self._file.tell()))
        held.clear()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[R]:
        if self._file is None:
            return (marshal.loads(packed) for _, packed in self._rest)  # noqa: S302 # written here
        runs = [self._run(self._file, *run) for run in self._runs]
        return iter(runs[0] if len(runs) == 1 else heapq.merge(*runs))

    @staticmethod
    def _run(file: BinaryIO, at: int, end: int) -> Iterator[R]:
        while at < end:
            file.seek(at)  # other runs have been read meanwhile
            size = int.from_bytes(file.read(_HEAD), "little")
            frame = marshal.loads(file.read(size))  # noqa: S302 # written here
            at = file.tell()
            yield from map(marshal.loads, frame)  # written here

    def close(self) -> None:
        """Forget the rows."""
        self._rest, self._runs, self._count = [], [], 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> SortedRows[R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _order(held: list[tuple[str, bytes]]) -> None:
    """Sort packed rows as the rows themselves sort."""
    held.sort(key=itemgetter(0))
    held[:] = [one for _, same in groupby(held, itemgetter(0)) for one in sorted(same, key=_unpack)]


def _unpack(row: tuple[str, bytes]) -> Any:
    return marshal.loads(row[1])  # noqa: S302 # written here
