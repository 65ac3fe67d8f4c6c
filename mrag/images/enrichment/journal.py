"""The journal of an enrichment: what a model said is on disk before anything else is done with it.

A record is synced to disk before the next image is taken as done, so a process that is killed loses at
most the answers it was still waiting for. How records are kept is in `mrag.storage.files`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from mrag.errors import LoadError, StoreLocked
from mrag.images.files.folder import part_of
from mrag.storage.files import Journal


@dataclass(frozen=True)
class JournalEntry:
    """One description, as a model gave it.

    Attributes:
        image: IRI of the image.
        region: Fragment of a part of it, such as `xywh=10,20,30,40`; empty for the whole.
        text: The description.
        model: Name of the model.
        prompt: What the model was asked.
        options: Settings that bear on the answer, as JSON with sorted keys.
        time: When the answer came, in UTC, as xsd:dateTime writes it.
        software: Name and version of the program that asked.
        digest: SHA-256 of the image's file, in hexadecimal.
        source: IRI of the annotation that the region was taken from; empty where there is none.
    """

    image: str
    region: str
    text: str
    model: str
    prompt: str
    options: str
    time: str
    software: str
    digest: str
    source: str = ""

    @property
    def subject(self) -> str:
        """Return the IRI of what is described: the image, or the part of it as a media fragment."""
        return part_of(self.image, self.region)


class EnrichmentJournal:
    """Entries in a file, or in memory.

    Args:
        path: The file; None keeps the entries in memory only.

    Attributes:
        entries: The entries, in the order in which they were written.
        damaged: Lines that could not be read when the file was opened, besides a cut-off last one.

    Example:
        >>> entry = JournalEntry("urn:i", "", "A coat.", "m", "p", "{}", "2026-01-01T00:00:00Z", "mrag", "00")
        >>> journal = EnrichmentJournal(None)
        >>> with journal.opened():
        ...     journal.append(entry)
        >>> journal.entries[0].text
        'A coat.'
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.entries: list[JournalEntry] = []
        self.damaged = 0
        self._file: Journal | None = None

    @contextmanager
    def opened(self) -> Iterator[EnrichmentJournal]:
        """Hold the journal for writing; the system frees it when the process ends, however it ends.

        Raises:
            StoreLocked: If another process holds it.
            LoadError: If the file cannot be read or written.
        """
        if self.path is None:
            yield self
            return
        with self._refusals():
            self._file = Journal(self.path)
        try:
            self._read(self._file)
            yield self
        finally:
            self._file.close()
            self._file = None

    def append(self, entry: JournalEntry) -> None:
        """Write an entry and wait until it is on disk."""
        self.entries.append(entry)
        if self._file is not None:
            with self._refusals():
                self._file.add(asdict(entry))

    def _read(self, file: Journal) -> None:
        self.entries, self.damaged = [], len(file.damaged)
        for record in file.records:
            try:
                self.entries.append(JournalEntry(**record))
            except TypeError:  # of another version
                self.damaged += 1

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError as error:
            raise StoreLocked("Another process is describing these images.", file=str(self.path)) from error
        except OSError as error:
            raise LoadError(
                f"The journal of descriptions cannot be used: {error.strerror or error}.", file=str(self.path)
            ) from error
