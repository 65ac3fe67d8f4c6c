"""Files of indexes: written whole and synced, arrays mapped, a manifest put in place by one rename."""

from __future__ import annotations

import json
import mmap
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

__all__ = ["MANIFEST", "NEW", "mapped", "pack", "put_manifest", "write"]

MANIFEST: Final = "manifest.json"
NEW: Final = "manifest.json.new"
"""A manifest that is not in place yet; what a crash leaves of it is swept away."""

_ALIGN: Final = 64


def write(file: Path, put: Callable[[BinaryIO], object]) -> int:
    """Write a file and sync it to disk.

    Args:
        file: The file; one that is there is replaced.
        put: Writes the content to the stream that it is given.

    Returns:
        Its size in bytes.

    Raises:
        OSError: If the system refuses.
    """
    with file.open("wb") as stream:
        put(stream)
        stream.flush()
        os.fsync(stream.fileno())
        return stream.tell()


def put_manifest(folder: Path, data: bytes) -> None:
    """Put a manifest in place by one rename, after all files that it names are on the disk.

    Args:
        folder: The folder of the index.
        data: The manifest.

    Raises:
        OSError: If the system refuses.
    """
    write(folder / NEW, lambda stream: stream.write(data))
    _sync_names(folder)
    os.replace(folder / NEW, folder / MANIFEST)  # noqa: PTH105
    _sync_names(folder)


def pack(stream: BinaryIO, magic: bytes, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays into one file, which takes one sync to disk instead of one for each.

    Args:
        stream: Where to.
        magic: A line that says what the file is and of which version.
        arrays: Arrays by name.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "numbers"
        ...     size = write(file, lambda s: pack(s, b"numbers 1\\n", {"a": np.arange(3), "b": np.ones(2)}))
        ...     {name: array.tolist() for name, array in mapped(file, b"numbers 1\\n").items()}
        {'a': [0, 1, 2], 'b': [1.0, 1.0]}
    """
    at, table = 0, {}
    for name, array in arrays.items():
        table[name] = {"type": array.dtype.str, "shape": array.shape, "at": at}
        at += -(-array.nbytes // _ALIGN) * _ALIGN
    header = magic + json.dumps(table).encode() + b"\n"
    stream.write(header + b" " * (-len(header) % _ALIGN))
    for array in arrays.values():
        stream.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        stream.write(bytes(-array.nbytes % _ALIGN))


def mapped(file: Path, magic: bytes) -> dict[str, npt.NDArray[Any]]:
    """Map the arrays of a file that `pack` wrote; nothing is read before it is used.

    Args:
        file: The file.
        magic: The line that it begins with.

    Raises:
        OSError: If it cannot be opened.
        ValueError, KeyError: If it is not such a file.
    """
    with file.open("rb") as stream:
        if stream.readline() != magic:
            raise ValueError(f"{file.name} does not begin as it should")
        table = json.loads(stream.readline())
        start = -(-stream.tell() // _ALIGN) * _ALIGN
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return {
        name: np.ndarray(entry["shape"], np.dtype(entry["type"]), content, start + entry["at"])
        for name, entry in table.items()
    }


def _sync_names(folder: Path) -> None:
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
