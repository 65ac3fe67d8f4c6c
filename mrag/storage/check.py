"""Reads indexes and journals through, whatever kind they are, and says which are not as they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrag.errors import DamagedIndex, IndexError_, MissingIndex
from mrag.storage.folder import MANIFEST, Folder, Kind, begun, read_manifest
from mrag.storage.journal import lines

_JOURNALS: Final = ("*.jsonl", "*.pending")


@dataclass(frozen=True)
class IntegrityReport:
    """What was found of an index or a journal.

    Attributes:
        path: Its folder, or the journal's file.
        kind: What it is.
        size: Bytes that were read.
        error: What is amiss; None if nothing is.
    """

    path: Path
    kind: str
    size: int
    error: IndexError_ | None


def check(folder: Path, on_progress: Callable[[int, int], None] | None = None) -> Iterator[IntegrityReport]:
    """Read every index and every journal in a folder, and in those below it, and check all of them.

    Args:
        folder: The folder; it need not exist.
        on_progress: Called with bytes checked and bytes in all.

    Example:
        >>> import tempfile
        >>> from mrag.storage.journal import Journal
        >>> with tempfile.TemporaryDirectory() as place:
        ...     with Journal(Path(place) / "a.jsonl") as journal:
        ...         journal.add({"query": "1"})
        ...     [(found.kind, found.error) for found in check(Path(place))]
        [('journal', None)]
    """
    folders = sorted({file.parent for file in folder.rglob(MANIFEST)})
    unfinished = sorted(
        place for place in folder.rglob("*") if place.is_dir() and place not in folders and begun(place)
    )
    journals = sorted(file for pattern in _JOURNALS for file in folder.rglob(pattern))
    sizes = {place: _size(place) for place in folders} | {file: file.stat().st_size for file in journals}
    total, done = sum(sizes.values()), 0

    def note(read: int, _: int) -> None:
        if on_progress is not None:
            on_progress(done + read, total)

    note(0, 0)
    for place in folders:
        yield _index(place, sizes[place], note)
        done += sizes[place]
        note(0, 0)
    for place in unfinished:
        missing = MissingIndex("Building the index was begun and not ended.", file=str(place))
        yield IntegrityReport(place, "index", 0, missing)
    for file in journals:
        yield _journal(file)
        done += sizes[file]
        note(0, 0)


def _index(place: Path, size: int, note: Callable[[int, int], None]) -> IntegrityReport:
    name = "index"
    try:
        name, form, found = read_manifest(place)
        if found is None or not isinstance(form, int):
            raise IndexError_("Another version of mrag wrote the index.", file=str(place))
        Folder(place, Kind(name, form, "Build it anew.")).verify(note)
    except IndexError_ as error:
        return IntegrityReport(place, name or "index", size, error)
    return IntegrityReport(place, name, size, None)


def _journal(file: Path) -> IntegrityReport:
    try:
        data = file.read_bytes()
    except OSError as error:
        why = DamagedIndex(f"The journal cannot be read: {error.strerror or error}.", file=str(file))
        return IntegrityReport(file, "journal", 0, why)
    bad = [number for number, record in lines(data) if record is None]
    found = None
    if bad:
        found = DamagedIndex(
            f"{len(bad)} of the journal's records are damaged and are passed over.",
            file=str(file),
            hint="What they said is done again by the next run; or delete the file.",
        )
        found.line = bad[0]
    return IntegrityReport(file, "journal", len(data), found)


def _size(place: Path) -> int:
    try:
        _, _, found = read_manifest(place)
    except IndexError_:
        return 0
    return 0 if found is None else sum(entry.size for entry in found.files.values())
