"""Files written whole and synced to disk, with the checksums of their blocks; locks between processes."""

from __future__ import annotations

import json
import os
import struct
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

BLOCK: Final = 1 << 13
"""Bytes of a block: few, since a single row of a large file costs a whole block."""


@dataclass(frozen=True)
class FileEntry:
    """What a manifest knows of a file: content in blocks of `BLOCK` bytes, then the checksum of each block.

    Attributes:
        size: Bytes of its content.
        crc32: The checksum of the checksums.
    """

    size: int
    crc32: int

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return -(-self.size // BLOCK)

    @property
    def whole(self) -> int:
        """Bytes of the whole file."""
        return self.size + 4 * self.blocks


def checksum(fields: Mapping[str, Any]) -> str:
    """Return the CRC-32 of JSON, whatever way it is written, in hexadecimal.

    Example:
        >>> checksum({"a": 1}) == checksum(json.loads('{ "a" : 1 }'))
        True
    """
    return f"{zlib.crc32(json.dumps(fields).encode()):08x}"


class Sink:
    """Takes what is written to a file and sums it up, block by block."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._sums: list[int] = []
        self._crc = self._filled = self._size = 0

    def write(self, data: Any) -> None:
        """Write bytes, or anything with a buffer of them.

        Raises:
            OSError: If the system refuses.
        """
        view = memoryview(data).cast("B")
        at = 0
        while at < len(view):
            piece = view[at : at + BLOCK - self._filled]
            self._crc = zlib.crc32(piece, self._crc)
            self._filled += len(piece)
            at += len(piece)
            if self._filled == BLOCK:
                self._sums.append(self._crc)
                self._crc = self._filled = 0
        self._stream.write(view)
        self._size += len(view)

    def seal(self) -> FileEntry:
        """Write the checksums behind the content, and return what is to be known of the file.

        Raises:
            OSError: If the system refuses.
        """
        sums = [*self._sums, self._crc] if self._filled else self._sums
        table = struct.pack(f"<{len(sums)}I", *sums)
        self._stream.write(table)
        return FileEntry(self._size, zlib.crc32(table))


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone, whatever the umask says.

    Raises:
        OSError: If the system refuses.
    """
    missing = [path]
    while not missing[-1].exists() and missing[-1].parent != missing[-1]:
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            if not folder.is_dir():
                raise
        else:
            folder.chmod(0o700)


def create(file: Path, flags: int = os.O_TRUNC) -> BinaryIO:
    """Open a file to write bytes to it without a buffer; a new one is for its owner alone.

    Args:
        file: The file.
        flags: Besides those that make it and open it for writing.

    Raises:
        OSError: If the system refuses.
    """
    flags |= os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(file, flags | os.O_EXCL, 0o600)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    except FileExistsError:
        descriptor = os.open(file, flags, 0o600)
    return os.fdopen(descriptor, "r+b", buffering=0)


def write(file: Path, put: Callable[[Sink], object]) -> FileEntry:
    """Write a file with its checksums and sync it to disk; one that is there is overwritten.

    Args:
        file: The file.
        put: Writes the content to the sink that it is given.

    Returns:
        What the manifest is to know of it.

    Raises:
        OSError: If the system refuses.
    """
    with create(file) as raw, os.fdopen(os.dup(raw.fileno()), "wb") as stream:
        sink = Sink(stream)
        put(sink)
        entry = sink.seal()
        stream.flush()
        os.fsync(stream.fileno())
        return entry


def replace(file: Path, data: bytes) -> None:
    """Put a file in place by one rename: afterwards the whole file is there, or the earlier one.

    What a process that was killed leaves is the file with `.new` behind its name.

    Raises:
        OSError: If the system refuses.
    """
    new = file.with_name(file.name + ".new")
    with create(new) as raw, os.fdopen(os.dup(raw.fileno()), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    sync_names(file.parent)
    os.replace(new, file)  # noqa: PTH105
    sync_names(file.parent)


def sync_names(folder: Path) -> None:
    """Have the names of a folder's files on disk, where the system can.

    Raises:
        OSError: If the system refuses.
    """
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(descriptor: int) -> None:
    """Take the lock of an open file; the system frees it when the file is closed or the process ends.

    Raises:
        OSError: If someone else holds it (BlockingIOError on POSIX), or there are no locks.
    """
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
