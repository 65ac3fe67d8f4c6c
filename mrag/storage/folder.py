"""The folder of an index: files of arrays, the manifest that names them, the writer's lock.

| file | content |
|---|---|
| `manifest.json` | what the index is; names every other file that counts, with its size and checksums |
| `segment-N.seg` | a segment: a run of documents as arrays, never changed once written |
| `deleted-N.bits` | which documents of all segments are deleted, one bit each |
| `lock` | held by the writer |

Files are written whole and synced to disk before one atomic rename puts the new manifest in place.
Whenever a process ends, however it ends, the folder holds the state before or the state after; before the
first commit it holds no index. Files that no manifest names are swept away by the next writer.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mrag.errors import DamagedIndex, IndexError_, IndexMismatch, MissingIndex, MragError
from mrag.storage.arrays import Arrays, CheckedFile, Packed, pack
from mrag.storage.files import BLOCK, FileEntry, checksum, create, lines, lock, make_folder, replace, write

T = TypeVar("T")

MANIFEST: Final = "manifest.json"
_NEW: Final = MANIFEST + ".new"
_OURS: Final = re.compile(r"(?:segment|deleted)-(\d{8,})\.(?:seg|bits)")

_RETRIES: Final = 100
_WIDE: Final = 8192 * BLOCK


@dataclass(frozen=True)
class Kind:
    """A kind of index."""

    name: str
    format: int
    hint: str


@dataclass(frozen=True)
class Committed:
    """What a manifest says."""

    generation: int
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def segments(self) -> list[str]:
        """Names of the segments' files, oldest first."""
        return [name for name in self.files if name.endswith(".seg")]


class Folder:
    """Reads and writes the files of an index."""

    def __init__(self, path: Path, kind: Kind) -> None:
        self.path = path
        self.kind = kind

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the writer's lock; the system frees it when the process ends, however it ends."""
        with hold(self.path):
            yield

    def exists(self) -> bool:
        """Return whether there is a manifest."""
        return (self.path / MANIFEST).exists()

    def committed(self) -> Committed:
        """Read the manifest."""
        try:
            name, form, state = read_manifest(self.path)
        except MissingIndex as error:
            what = " Building it was begun and not ended." if has_begun(self.path) else ""
            raise MissingIndex(
                f"There is no {self.kind.name} in this folder yet.{what}",
                file=str(self.path),
                hint=f"{self.kind.hint} Or check the path.",
            ) from error
        except DamagedIndex as error:
            error.hint = self.kind.hint
            raise
        if name and name != self.kind.name:
            raise IndexMismatch(
                f"The folder holds another kind of index ({name}), not a {self.kind.name}.",
                file=str(self.path),
                hint="Name another folder.",
            )
        if form != self.kind.format or state is None:
            raise IndexMismatch(
                f"Another version of mrag wrote the {self.kind.name}: its format is {form}; this version "
                f"reads {self.kind.format}.",
                file=str(self.path),
                hint=self.kind.hint,
            )
        return state

    def load(self, build: Callable[[Committed], T]) -> T:
        """Read the manifest and what it names."""
        for _ in range(_RETRIES):
            state = self.committed()
            try:
                return build(state)
            except FileNotFoundError as error:
                # A writer may have replaced the files since the manifest was read.
                if self.committed().generation == state.generation:
                    name = Path(error.filename).name
                    raise self.damage(f"the file {name} is missing") from error
            except (OSError, ValueError, TypeError, KeyError, LookupError) as error:
                raise self.damage(str(error)) from error
        raise IndexError_("The index is replaced faster than it can be read.", file=str(self.path))

    def opened(self, name: str, committed: Committed) -> Packed:
        """Open a file of arrays."""
        return Packed(self.path / name, committed.files[name], self.kind.hint)

    def verify(self, on_progress: Callable[[int, int], None] | None = None) -> None:
        """Read every block of the index and check it."""

        def look(state: Committed) -> None:
            total, done = sum(entry.size for entry in state.files.values()), 0
            for name, entry in state.files.items():
                for start in range(0, max(1, entry.size), _WIDE):
                    stop = min(start + _WIDE, entry.size)
                    # Opened anew for each piece, which is forgotten with it.
                    CheckedFile(self.path / name, entry, self.kind.hint).need(start, stop)
                    done += stop - start
                    if on_progress is not None:
                        on_progress(done, total)

        self.load(look)

    def write(self, name: str, arrays: Arrays) -> FileEntry:
        """Write a file of arrays and sync it to disk."""
        return write(self.path / name, lambda sink: pack(sink, arrays))

    def commit(self, committed: Committed) -> None:
        """Put a manifest in place, whose files have all been written."""
        fields = {
            "kind": self.kind.name,
            "format": self.kind.format,
            "generation": committed.generation,
            "files": {name: asdict(entry) for name, entry in committed.files.items()},
            "about": committed.about,
        }
        text = json.dumps({**fields, "crc32": checksum(fields)}, indent=1)
        replace(self.path / MANIFEST, text.encode())

    def next_generation(self) -> int:
        """Return a number above that of every commit so far and of every file that is there."""
        numbers = [int(match[1]) for file in self.path.iterdir() if (match := _OURS.fullmatch(file.name))]
        with suppress(IndexError_):
            numbers.append(self.committed().generation)
        return max(numbers, default=0) + 1

    def sweep(self, keep: Collection[str]) -> None:
        """Delete the files of earlier or unfinished commits. Only for who holds the lock."""
        for file in self.path.iterdir():
            if (_OURS.fullmatch(file.name) or file.name == _NEW) and file.name not in keep:
                # Windows keeps files that someone has open; the next writer tries again.
                with suppress(OSError):
                    file.unlink()

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Turn a refusal of the system to write into an error, and clear away what was half written."""
        try:
            yield
        except OSError as error:
            with suppress(MragError, OSError):
                self.sweep(self.committed().files if self.exists() else ())
            raise IndexError_(
                f"The index could not be written: {error.strerror or error}.",
                file=str(self.path),
                hint="It is as it was before. Free some disk space or check the rights, then try again.",
            ) from error

    def damage(self, why: str) -> DamagedIndex:
        """Return the error that says what is amiss."""
        what = f"The {self.kind.name} {self.path.name!r} is damaged: {why}."
        return DamagedIndex(what, file=str(self.path), hint=self.kind.hint)


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Hold the writer's lock of a folder, which is made if it is not there."""
    try:
        make_folder(path)
        stream = create(path / "lock", 0)
    except OSError as error:
        hint = "Choose another folder or check the rights."
        raise IndexError_(
            f"The folder cannot be written: {error.strerror or error}.", file=str(path), hint=hint
        ) from error
    with stream:
        try:
            lock(stream.fileno())
        except OSError as error:
            holder = b""
            # A lock of Windows hides the content as well.
            with suppress(OSError):
                stream.seek(0)
                holder = stream.read(32) or b""
            raise IndexError_(
                f"Another writer has the index open (process {holder.decode('ascii', 'replace')}).",
                file=str(path),
                hint="Wait until it has ended; reading needs no lock.",
            ) from error
        # Who holds the lock is a courtesy; a full disk must not be in the way of freeing space.
        with suppress(OSError):
            stream.truncate(0)
            stream.write(str(os.getpid()).encode())
        yield


def has_begun(path: Path) -> bool:
    """Return whether a folder has files of an index that no manifest names, as it has none."""
    if not path.is_dir() or (path / MANIFEST).exists():
        return False
    return any(_OURS.fullmatch(file.name) or file.name == _NEW for file in path.iterdir())


def read_manifest(path: Path) -> tuple[str, object, Committed | None]:
    """Read the manifest of a folder, of whatever kind it is."""
    file = path / MANIFEST
    try:
        fields = json.loads(file.read_bytes())
        form = fields["format"]
        if "kind" not in fields:
            return "", form, None
        given = fields.pop("crc32")
        if given != checksum(fields):
            raise ValueError("its checksum is another")
        files = {str(name): FileEntry(**entry) for name, entry in fields["files"].items()}
        state = Committed(fields["generation"], files, fields["about"])
        return str(fields["kind"]), form, state
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingIndex("There is no index in this folder.", file=str(path)) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        why = f"The index {path.name!r} is damaged: its manifest cannot be used ({error})."
        raise DamagedIndex(why, file=str(file), hint="Build the index anew.") from error


Live: TypeAlias = npt.NDArray[np.bool_] | None  # True for every row that is not deleted; None if none is


class _Segment(Protocol):
    def arrays(self) -> Arrays: ...

    def __len__(self) -> int: ...


S = TypeVar("S", bound=_Segment)


class SegmentFolder(Folder, Generic[S]):
    """Reads and writes the files of an index in segments."""

    def __init__(self, path: Path, kind: Kind, segment: Callable[[Arrays], S]) -> None:
        super().__init__(path, kind)
        self._segment = segment

    def read(self, build: Callable[[Committed, list[S], Live], T]) -> T:
        """Make something of the manifest and of the files that it names; the errors are those of `load`."""

        def make(committed: Committed) -> T:
            segments = [self.segment(name, committed) for name in committed.segments]
            live = None
            for name in committed.files:
                if name.endswith(".bits"):
                    bits = self.opened(name, committed)["bits"]
                    live = np.unpackbits(bits, count=sum(map(len, segments))) == 0
            return build(committed, segments, live)

        return self.load(make)

    def segment(self, name: str, committed: Committed) -> S:
        """Open a segment."""
        return self._segment(self.opened(name, committed))

    def write_segment(self, segment: S, generation: int) -> tuple[str, FileEntry]:
        """Write a segment, sync it to disk, and return the name of its file and what is known of it."""
        name = f"segment-{generation:08d}.seg"
        return name, self.write(name, segment.arrays())

    def write_deleted(self, live: npt.NDArray[np.bool_], generation: int) -> tuple[str, FileEntry]:
        """Write which rows are deleted, as `write_segment` does."""
        name = f"deleted-{generation:08d}.bits"
        return name, self.write(name, {"bits": np.packbits(~live)})

    def put(
        self, before: Committed | None, kept: int, built: Iterable[S], live: Live, about: Mapping[str, Any]
    ) -> Committed:
        """Write what has changed and put a new manifest in place. Only for who holds the lock."""
        files = {name: before.files[name] for name in before.segments[:kept]} if before is not None else {}
        with self.refusals():
            generation = self.next_generation()
            for segment in built:
                name, files[name] = self.write_segment(segment, generation)
                generation += 1
            if live is not None:
                name, files[name] = self.write_deleted(live, generation)
            committed = Committed(generation, files, about)
            self.commit(committed)
        self.sweep(files)
        return committed


def first_to_merge(sizes: Sequence[tuple[int, int]], new: int) -> int:
    """Return from which segment on a commit joins everything into one.

    Segments at least double from the last to the first, so a document is rewritten about log2(n)
    times in all and there are about as many segments; one that is half deleted is rewritten too.
    """
    first, total = len(sizes), new
    while first and sizes[first - 1][0] <= 2 * total:
        first -= 1
        total += sizes[first][0]
    thin = (i for i, (live, rows) in enumerate(sizes) if 2 * live < rows)
    return min(first, next(thin, first))


_JOURNALS: Final = ("*.jsonl", "*.pending")


@dataclass(frozen=True)
class IntegrityReport:
    """What was found of an index or a journal."""

    path: Path
    kind: str
    size: int
    error: IndexError_ | None


def check(folder: Path, on_progress: Callable[[int, int], None] | None = None) -> Iterator[IntegrityReport]:
    """Read every index and every journal in a folder, and in those below it, and check all of them."""
    folders = sorted({file.parent for file in folder.rglob(MANIFEST)})
    unfinished = sorted(
        place for place in folder.rglob("*") if place.is_dir() and place not in folders and has_begun(place)
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
        name, form, state = read_manifest(place)
        if state is None or not isinstance(form, int):
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
    problem = None
    if bad:
        problem = DamagedIndex(
            f"{len(bad)} of the journal's records are damaged and are passed over.",
            file=str(file),
            hint="What they said is done again by the next run; or delete the file.",
        )
        problem.line = bad[0]
    return IntegrityReport(file, "journal", len(data), problem)


def _size(place: Path) -> int:
    try:
        _, _, state = read_manifest(place)
    except IndexError_:
        return 0
    return 0 if state is None else sum(entry.size for entry in state.files.values())
