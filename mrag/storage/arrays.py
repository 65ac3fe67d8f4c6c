"""Many arrays in one file, each checked as it is touched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.storage.blocks import CheckedFile
from mrag.storage.files import BLOCK, FileEntry, Sink

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_MAGIC: Final = b"mrag arrays 2\n"
_ALIGN: Final = 64


def pack(sink: Sink, arrays: Arrays) -> None:
    """Write arrays into one file, which takes one sync to disk instead of one for each.

    Args:
        sink: Where to.
        arrays: Arrays by name.

    Example:
        >>> import tempfile
        >>> from mrag.storage.files import write
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "numbers"
        ...     entry = write(file, lambda sink: pack(sink, {"a": np.arange(3), "b": np.ones(2)}))
        ...     {name: array.tolist() for name, array in Packed(file, entry).items()}
        {'a': [0, 1, 2], 'b': [1.0, 1.0]}
    """
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
        """Have some rows read and checked.

        Raises:
            DamagedIndex: If they are not as they were written.
        """
        self._file.need(self._at + start * self._width, self._at + stop * self._width)

    def unchecked(self) -> npt.NDArray[Any]:
        """Return the array; only rows that `need` was asked for may be looked at."""
        return self._array

    def among(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return the array with some rows read and checked; no others may be looked at.

        Raises:
            DamagedIndex: If they are not as they were written.
        """
        if not self._file.complete:
            self._touch(rows)
        return self._array

    def whole(self) -> npt.NDArray[Any]:
        """Return the array, all of it read and checked.

        Raises:
            DamagedIndex: If it is not as it was written.
        """
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


LazyArray: TypeAlias = npt.NDArray[Any] | Lazy
"""An array in memory, or one of a file."""


class Packed(Mapping[str, npt.NDArray[Any]]):
    """The arrays of a file that `pack` wrote. An array is read and checked when it is first asked for.

    Args:
        file: The file.
        entry: What the manifest says of it.
        hint: What to do if it is damaged.

    Raises:
        OSError: If it cannot be opened.
        DamagedIndex: If it has another size, or its head is not as it was written.
    """

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
            raise self._file.damaged("the head is not one of arrays") from error

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
    """Return an array by name: of a file one that is read as it is asked for.

    Raises:
        KeyError: If there is none of that name.
    """
    return arrays.lazy(name) if isinstance(arrays, Packed) else arrays[name]


def _view(buffer: memoryview, start: int, spec: Mapping[str, Any]) -> npt.NDArray[Any]:
    return np.ndarray(spec["shape"], np.dtype(spec["type"]), buffer, start + spec["at"])
