"""Journals of runs: what has been done stays, and is never done again."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from mrag.errors import ConfigError, DamagedIndex
from mrag.storage import journal

__all__ = ["Journal"]


class Journal:
    """A journal, see `mrag.storage.journal`, whose first record says what the rest belongs to.

    Args:
        path: The file; its folder is made if need be.
        about: What the records belong to, as JSON. A file about something else is begun anew.

    Raises:
        ConfigError: If the file cannot be written, or another process is writing it.
        DamagedIndex: If its first record is not as it was written.

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
        try:
            self._file = journal.Journal(path)
        except BlockingIOError as error:
            raise ConfigError(
                "Another process is writing the file.",
                file=str(path),
                hint="Wait for it, or name another file.",
            ) from error
        except OSError as error:
            raise ConfigError(f"The file cannot be written: {error.strerror}.", file=str(path)) from error
        if self._file.damaged[:1] == [1]:
            self.close()
            raise DamagedIndex(
                "The first record of the journal is damaged, or another version of mrag wrote it.",
                file=str(path),
                hint="Delete the file to begin the run anew.",
            )
        records = self._file.records
        self.found: list[dict[str, Any]] = []
        if records and records[0] == dict(about):
            self.found = records[1:]
        else:
            self._file.clear()
            self.add(about)

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; once this returns, it is on the disk.

        Raises:
            ConfigError: If it cannot be written; the records of before are kept.
        """
        try:
            self._file.add(record)
        except OSError as error:
            raise ConfigError(
                f"The file cannot be written: {error.strerror or error}.",
                file=str(self.path),
                hint="What was done before is kept. Free some space, and run the same command again.",
            ) from error

    def close(self) -> None:
        """Close the file."""
        # What could not be written has been said; here it would be tried once more.
        with suppress(OSError):
            self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
