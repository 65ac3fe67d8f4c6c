"""Files written whole and synced to disk with checksums; locks, journals and temporary folders."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from mrag.errors import ConfigError, DamagedIndex, StoreLocked

logger = logging.getLogger(__name__)

BLOCK: Final = 1 << 13  # Bytes of a block: few, since a single row of a large file costs a whole block


@dataclass(frozen=True)
class FileEntry:
    """A file in a manifest: content in blocks of `BLOCK` bytes, then the checksum of each block."""

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
    """Return the CRC-32 of JSON, whatever way it is written, in hexadecimal."""
    return f"{zlib.crc32(json.dumps(fields).encode()):08x}"


class Sink:
    """Takes what is written to a file and sums it up, block by block."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._sums: list[int] = []
        self._crc = self._filled = self._size = 0

    def write(self, data: Any) -> None:
        """Write bytes, or anything with a buffer of them."""
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
        """Write the checksums behind the content, and return what is to be known of the file."""
        sums = [*self._sums, self._crc] if self._filled else self._sums
        table = struct.pack(f"<{len(sums)}I", *sums)
        self._stream.write(table)
        return FileEntry(self._size, zlib.crc32(table))


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each for its owner alone, whatever the umask is."""
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
    """Open a file to write bytes to it without a buffer; a new one is for its owner alone."""
    flags |= os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(file, flags | os.O_EXCL, 0o600)
        if hasattr(os, "fchmod"):
            os.fchmod(descriptor, 0o600)
    except FileExistsError:
        descriptor = os.open(file, flags, 0o600)
    return os.fdopen(descriptor, "r+b", buffering=0)


def write(file: Path, put: Callable[[Sink], object]) -> FileEntry:
    """Write a file with its checksums and sync it to disk; one that is there is overwritten."""
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
    """Have the names of a folder's files on disk, where the system can."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def lock(descriptor: int) -> None:
    """Take the lock of an open file; the system frees it when the file is closed or the process ends."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_FILE = 0o600
_OTHERS = 0o077


def narrow(folder: Path, left: Iterable[str] = ()) -> None:
    """Take the rights of others from the files of a folder that another library has made."""
    kept = frozenset(left)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in kept or not entry.is_file(follow_symlinks=False):
                continue
            # A file may go while one looks, or belong to somebody else.
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mode & _OTHERS:
                    Path(entry).chmod(_FILE)


def is_private(path: Path) -> bool:
    """Return whether only its owner can use a file or folder; True where the system has no such rights."""
    return os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & _OTHERS


@contextmanager
def save(path: str | Path) -> Iterator[BinaryIO]:
    """Write a file, in place of one of that name only once it is whole and on the disk."""
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ConfigError(
                f"The file cannot be written: {error.strerror or error}.",
                file=str(path),
                hint="What was there before is as it was. Check the disk and the rights, and run it again.",
            ) from error
        raise


def save_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, as `save` does."""
    with save(path) as stream:
        stream.write(text.encode())


_LOCK = "in-use"
_OURS = re.compile(r"\.mrag\.[a-z]+-[a-z0-9_]{8}")
_MAKING = 60.0  # Seconds after which a folder without a lock is no longer one that is being made


class Scratch:
    """A temporary folder for this process alone."""

    def __init__(self, purpose: str, parent: Path | None = None, *, prefix: str | None = None) -> None:
        for _ in range(3):  # Some file systems have no locks
            self.path = Path(tempfile.mkdtemp(prefix=prefix or f".mrag.{purpose}-", dir=parent))
            self._held = _hold(self.path / _LOCK, os.O_CREAT)
            # Between the file and its lock another process may take the folder for one that is left.
            if self._held is not None and (self.path / _LOCK).exists():
                break
            self.close()
        else:
            self.path = Path(tempfile.mkdtemp(prefix=prefix or f".mrag.{purpose}-", dir=parent))

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *exc: object) -> None:
        self.close()


def collect(parent: Path | None = None, *, prefix: str | None = None) -> int:
    """Remove the temporary folders of processes that have ended."""
    count = 0
    with suppress(OSError), os.scandir(parent or tempfile.gettempdir()) as entries:
        for entry in entries:
            ours = entry.name.startswith(prefix) if prefix else _OURS.fullmatch(entry.name)
            if ours and _take_left(entry, bool(prefix)):
                count += 1
    return count


def _take_left(entry: os.DirEntry[str], without_lock: bool) -> bool:
    """Remove a folder that belongs to nobody any more, and return whether it did."""
    held: int | None = None
    try:
        about = entry.stat(follow_symlinks=False)
        # In a folder for all, names of this form may be anyone's.
        if not entry.is_dir(follow_symlinks=False) or about.st_uid != os.geteuid():
            return False
        held_by = Path(entry.path) / _LOCK
        if not held_by.exists():
            empty = not any(Path(entry.path).iterdir())
            if not (without_lock or (empty and time.time() - about.st_mtime > _MAKING)):
                return False
        elif (held := _hold(held_by)) is None:
            return False
    except (OSError, AttributeError):
        return False
    shutil.rmtree(entry.path, ignore_errors=True)  # With its lock held, so that nobody begins to use it
    if held is not None:
        os.close(held)
    return True


def _hold(path: Path, flags: int = 0) -> int | None:
    """Lock a file, and return its descriptor; None where another process has it, or files have no locks."""
    if sys.platform == "win32":
        return None
    held = os.open(path, os.O_RDWR | flags, 0o600)
    try:
        lock(held)
    except OSError:
        os.close(held)
        return None
    return held


class Journal:
    """Records in a file, open for writing; one process has it open at a time."""

    def __init__(self, path: Path, *, synced: bool = True) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        self.damaged: list[int] = []
        self._synced = synced
        self._writing = threading.Lock()
        make_folder(path.parent)
        self._file = create(path, os.O_APPEND)
        try:
            try:
                lock(self._file.fileno())
            except BlockingIOError:
                raise
            except OSError as error:
                logger.debug("the file system of %s has no locks: %s", path, error)  # as some of networks
            self._read()
        except BaseException:
            self._file.close()
            raise

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; once this returns, it is on disk."""
        with self._writing:
            _put(self._file, record, self._synced)

    def clear(self) -> None:
        """Forget all records."""
        with self._writing:
            self._file.truncate(0)
        self.records, self.damaged = [], []

    def close(self) -> None:
        """Close the file, which lets others open it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
        for number, record in lines(data):
            if record is None:
                self.damaged.append(number)
            else:
                self.records.append(record)
        if self.damaged:
            where = ", ".join(map(str, self.damaged[:5])) + (" and more" if len(self.damaged) > 5 else "")
            logger.warning(
                "%d of the records in %s are damaged and were passed over: line %s",
                len(self.damaged),
                self.path,
                where,
            )


class RunJournal(Journal):
    """A journal of a run, whose first record says what the rest belongs to, if that is given.

    Raises:
        StoreLocked: If another process has it open.
        ConfigError: If it cannot be written; also by `add`.
        DamagedIndex: If its first record is damaged.
    """

    def __init__(self, path: Path, about: Mapping[str, Any] | None = None) -> None:
        try:
            super().__init__(path)
        except BlockingIOError as error:
            hint = "Wait for it, or name another file."
            raise StoreLocked("Another process is writing the file.", file=str(path), hint=hint) from error
        except OSError as error:
            raise ConfigError(f"The file cannot be written: {error.strerror}.", file=str(path)) from error
        if about is None:
            return
        if self.damaged[:1] == [1]:
            self.close()
            raise DamagedIndex(
                "The first record of the journal is damaged, or another version of mrag wrote it.",
                file=str(path),
                hint="Delete the file to begin the run anew.",
            )
        if self.records[:1] == [dict(about)]:
            del self.records[0]
        else:
            self.clear()
            self.add(about)

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; once this returns, it is on the disk."""
        try:
            super().add(record)
        except OSError as error:
            raise ConfigError(
                f"The file cannot be written: {error.strerror or error}.",
                file=str(self.path),
                hint="What was done before is kept. Free some space, and run the same command again.",
            ) from error


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Append a record to a journal that this process alone uses, without reading it and without a sync."""
    with create(path, os.O_APPEND) as file:
        _put(file, record, synced=False)


def lines(data: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Read the content of a journal; a last line without end is left out."""
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        text = line[9:]
        whole = line[:9] == b"%08x " % zlib.crc32(text)
        record = json.loads(text) if whole else None
        yield number, record if isinstance(record, dict) else None


def _put(file: BinaryIO, record: Mapping[str, Any], synced: bool) -> None:
    text = json.dumps(record).encode()
    view = memoryview(b"%08x %s\n" % (zlib.crc32(text), text))
    before = os.fstat(file.fileno()).st_size
    try:
        while view:
            view = view[file.write(view) :]
        if synced:
            os.fsync(file.fileno())
    except OSError:
        file.truncate(before)
        raise
