"""A journal: what is written to it is on disk, and each record says by its checksum that it is whole.

A line holds the CRC-32 of a record in eight hexadecimal digits, a space, and the record as JSON. What a
process that was killed leaves of its last line is cut off when the journal is next opened. A line in the
middle that is not as it was written is passed over and told of: its number is in `damaged` and in the log.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from mrag.storage.files import create, lock, make_folder

logger = logging.getLogger(__name__)


class Journal:
    """Records in a file, open for writing; one process has it open at a time.

    Args:
        path: The file, made if need be with its folder.
        synced: Whether a record is to outlast the end of the machine, not only that of the process.

    Attributes:
        records: The records that were there when it was opened, in the order of writing.
        damaged: Numbers of the lines, from 1, that were passed over.

    Raises:
        BlockingIOError: If another process has it open.
        OSError: If the file cannot be read or written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Journal(Path(folder) / "a.jsonl") as journal:
        ...         journal.add({"query": "1"})
        ...     with Journal(Path(folder) / "a.jsonl") as journal:
        ...         journal.records
        [{'query': '1'}]
    """

    def __init__(self, path: Path, *, synced: bool = True) -> None:
        self.path = path
        self.records: list[dict[str, Any]] = []
        self.damaged: list[int] = []
        self._synced = synced
        self._writing = threading.Lock()
        make_folder(path.parent)
        self._file = create(path, os.O_APPEND)
        try:
            _locked(self._file.fileno())
            self._read()
        except BaseException:
            self._file.close()
            raise

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; once this returns, it is on disk.

        Raises:
            OSError: If the system refuses; the record is then not there.
        """
        with self._writing:
            _put(self._file, record, self._synced)

    def clear(self) -> None:
        """Forget all records.

        Raises:
            OSError: If the system refuses.
        """
        with self._writing:
            self._file.truncate(0)
        self.records, self.damaged = [], []

    def close(self) -> None:
        """Close the file, which lets others open it."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Append a record to a journal that this process alone uses, without reading it and without a sync.

    Raises:
        OSError: If the system refuses; the record is then not there.
    """
    with create(path, os.O_APPEND) as file:
        _put(file, record, synced=False)


def lines(data: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Read the content of a journal; a last line without end is left out.

    Args:
        data: The content.

    Returns:
        The number of each line, and its record, None if it is not as it was written.

    Example:
        >>> list(lines(b'fba18e97 {"a": 1}\\nfba18e97 {"a": 2}\\nfba1'))
        [(1, {'a': 1}), (2, None)]
    """
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


def _locked(descriptor: int) -> None:
    try:
        lock(descriptor)
    except BlockingIOError:
        raise
    except OSError:
        # Some network file systems have no locks.
        return
