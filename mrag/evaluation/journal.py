"""Journals of runs: what has been done stays, and is never done again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, DamagedIndex
from mrag.storage.files import Journal


class RunJournal(Journal):
    """A journal whose first record says what the rest belongs to.

    Args:
        path: The file; its folder is made if need be.
        about: What the records belong to, as JSON. A file about something else is begun anew.

    Attributes:
        records: The records that were there when it was opened, the first one left out.

    Raises:
        ConfigError: If the file cannot be written, or another process is writing it.
        DamagedIndex: If its first record is not as it was written.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with RunJournal(Path(folder) / "a.jsonl", {"k": 10}) as journal:
        ...         journal.add({"query": "1"})
        ...     with RunJournal(Path(folder) / "a.jsonl", {"k": 10}) as journal:
        ...         same = journal.records
        ...     with RunJournal(Path(folder) / "a.jsonl", {"k": 20}) as journal:
        ...         other = journal.records
        >>> same, other
        ([{'query': '1'}], [])
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        try:
            super().__init__(path)
        except BlockingIOError as error:
            hint = "Wait for it, or name another file."
            raise ConfigError("Another process is writing the file.", file=str(path), hint=hint) from error
        except OSError as error:
            raise ConfigError(f"The file cannot be written: {error.strerror}.", file=str(path)) from error
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
        """Append a record; once this returns, it is on the disk.

        Raises:
            ConfigError: If it cannot be written; the earlier records are kept.
        """
        try:
            super().add(record)
        except OSError as error:
            raise ConfigError(
                f"The file cannot be written: {error.strerror or error}.",
                file=str(self.path),
                hint="What was done before is kept. Free some space, and run the same command again.",
            ) from error
