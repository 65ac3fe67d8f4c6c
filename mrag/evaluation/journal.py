"""Files of JSON lines that survive a crash: what is written stays, and is never done again."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from mrag.errors import ConfigError

__all__ = ["Journal"]


class Journal:
    """A file that takes one JSON object a line and forces each to the disk.

    The first line says what the rest belongs to. A line that a crash has left half written is cut off
    at the next opening. One process writes at a time: where the system has POSIX locks a second one is
    refused, elsewhere this is for the caller to see to.

    Args:
        path: The file; its folder is made if need be.
        about: What the lines belong to, as JSON. A file about something else is begun anew.

    Raises:
        ConfigError: If the file cannot be written, or another process is writing it.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Journal(Path(folder) / "a.jsonl", {"k": 10}) as journal:
        ...         journal.add({"query": "1"})
        ...     with Journal(Path(folder) / "a.jsonl", {"k": 10}) as journal:
        ...         same = journal.found
        ...     with Journal(Path(folder) / "a.jsonl", {"k": 20}) as journal:
        ...         other = journal.found
        >>> same, other
        ([{'query': '1'}], [])
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path
        self.found: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b")
        except OSError as error:
            raise ConfigError(f"The file cannot be written: {error.strerror}.", file=str(path)) from error
        if not _locked(self._file):
            self._file.close()
            raise ConfigError(
                "Another process is writing the file.",
                file=str(path),
                hint="Wait for it, or name another file.",
            )
        lines, whole = self._read()
        if lines and lines[0] == dict(about):
            self.found = lines[1:]
            self._file.truncate(whole)
        else:
            self._file.truncate(0)
            self.add(about)

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; once this returns, it is on the disk."""
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            self._file.write(line)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> tuple[list[dict[str, Any]], int]:
        """Give the whole records and where the last of them ends."""
        self._file.seek(0)
        lines: list[dict[str, Any]] = []
        whole = 0
        for raw in self._file:
            try:
                record = json.loads(raw)
            except ValueError:
                break
            if not raw.endswith(b"\n") or not isinstance(record, dict):
                break
            lines.append(record)
            whole += len(raw)
        return lines, whole


def _locked(file: IO[bytes]) -> bool:
    """Take the lock of an open file, which goes when it is closed; tell whether nobody else has it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems have no locks.
        return True
    return True
