"""The folder of an index: segment files, the manifest that names them, the writer's lock.

| file | content |
|---|---|
| `manifest.json` | what the index is; names every other file that counts |
| `segment-N.docs` | IDs, texts, digests and term frequencies, arrays mapped from the file |
| `segment-N.vectors.npy`, `segment-N.codes.npy` | vectors (float32) and their sign codes |
| `deleted-N.npy` | which rows are deleted, one bit each |
| `lock` | held by the writer |
| `vectors.pending` | vectors of a `sync` that has not ended, see `PendingVectors` |

Files are written whole and synced to disk before one atomic rename puts the new manifest in place.
Whenever a process ends, however it ends, the folder holds the state before or the state after;
files that no manifest names are swept away by the next writer.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_, IndexMismatch, MissingIndex, MragError
from mrag.index.bm25 import Bm25Params
from mrag.index.files import MANIFEST, NEW, mapped, pack, put_manifest, write
from mrag.index.rows import Mask
from mrag.index.segments import Segment
from mrag.index.text import ANALYSIS_VERSION

__all__ = ["FORMAT", "Folder", "Manifest", "SegmentFiles"]

FORMAT: Final = 1
_MAGIC: Final = b"mrag docs 1\n"
_OURS: Final = re.compile(r"(?:segment|deleted)-(\d{8,})\.(?:docs|npy|vectors\.npy|codes\.npy)")

_REBUILD: Final = "Build the index anew."


@dataclass(frozen=True)
class SegmentFiles:
    """A segment as the manifest names it: the stem of its files, its rows, the size of each file."""

    name: str
    rows: int
    bytes: Mapping[str, int]


@dataclass(frozen=True)
class Manifest:
    """What an index is.

    Args:
        generation: Number of commits so far.
        documents: Number of documents that are not deleted.
        embedder: Name of the embedding model; None for BM25 alone.
        dim: Dimensions of its vectors, once there are any.
        bm25: The knobs of BM25.
        segments: The segments, oldest first.
        deleted: Name of the file of deleted rows; None if there are none.
        extra: Whatever the caller keeps with the index.
        format: Version of the files.
        analysis: Version of the way from text to terms.
    """

    generation: int = 0
    documents: int = 0
    embedder: str | None = None
    dim: int | None = None
    bm25: Bm25Params = field(default_factory=Bm25Params)
    segments: tuple[SegmentFiles, ...] = ()
    deleted: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    analysis: int = ANALYSIS_VERSION

    def files(self) -> set[str]:
        """Give the names of the files that count, beside the manifest."""
        names = {f"{segment.name}.{end}" for segment in self.segments for end in segment.bytes}
        return names | ({self.deleted} if self.deleted else set())

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Read a manifest.

        Raises:
            IndexMismatch: If another version of the package wrote it.
            ValueError, TypeError, KeyError: If it is not a manifest.
        """
        fields = json.loads(data)
        if (fields["format"], fields["analysis"]) != (FORMAT, ANALYSIS_VERSION):
            raise IndexMismatch(
                f"The index has format {fields['format']}.{fields['analysis']}; this version of mrag reads "
                f"{FORMAT}.{ANALYSIS_VERSION}.",
                hint=_REBUILD,
            )
        fields["bm25"] = Bm25Params(**fields["bm25"])
        fields["segments"] = tuple(SegmentFiles(**segment) for segment in fields["segments"])
        return cls(**fields)


class Folder:
    """Reads and writes the files of an index.

    Args:
        path: The folder. It need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the writer's lock; the system frees it when the process ends, however it ends.

        Raises:
            IndexError_: If another writer holds it, or the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            stream = (self.path / "lock").open("a+b", buffering=0)
        except OSError as error:
            hint = "Choose another folder or check the rights."
            raise IndexError_(
                f"The folder cannot be written: {error.strerror or error}.", file=str(self.path), hint=hint
            ) from error
        with stream:
            try:
                _lock(stream.fileno())
            except OSError as error:
                holder = b""
                # A lock of Windows hides the content as well.
                with suppress(OSError):
                    stream.seek(0)
                    holder = stream.read(32) or b""
                raise IndexError_(
                    f"Another writer has the index open (process {holder.decode('ascii', 'replace')}).",
                    file=str(self.path),
                    hint="Wait until it has ended; reading needs no lock.",
                ) from error
            # Who holds the lock is a courtesy; a full disk must not be in the way of freeing space.
            with suppress(OSError):
                stream.truncate(0)
                stream.write(str(os.getpid()).encode())
            yield

    def manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            MissingIndex: If there is none.
            IndexMismatch: If another version of the package wrote it.
            IndexError_: If it cannot be read.
        """
        file = self.path / MANIFEST
        try:
            return Manifest.parse(file.read_bytes())
        except (FileNotFoundError, NotADirectoryError) as error:
            hint = "Build the index first, or check the path."
            raise MissingIndex("There is no index in this folder.", file=str(self.path), hint=hint) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise self._damaged(file, error) from error

    def load(self) -> tuple[Manifest, list[Segment], Mask | None]:
        """Read the manifest and map the files that it names.

        Returns:
            The manifest, its segments, and True for every row not deleted (None if none is).

        Raises:
            MissingIndex: If there is no index.
            IndexMismatch: If another version of the package wrote it.
            IndexError_: If a file is missing or damaged.
        """
        while True:
            manifest = self.manifest()
            try:
                segments = [self.segment(files) for files in manifest.segments]
                live = None
                if manifest.deleted:
                    packed = np.load(self.path / manifest.deleted)
                    total = sum(files.rows for files in manifest.segments)
                    live = np.unpackbits(packed, count=total) == 0
                return manifest, segments, live
            except FileNotFoundError as error:
                # A writer may have replaced the files since the manifest was read.
                if self.manifest().generation == manifest.generation:
                    raise self._damaged(Path(error.filename), error) from error
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise self._damaged(self.path, error) from error

    def segment(self, files: SegmentFiles) -> Segment:
        """Map the files of a segment.

        Raises:
            OSError, ValueError, KeyError: If a file is missing or damaged.
        """
        for end, size in files.bytes.items():
            file = self.path / f"{files.name}.{end}"
            if file.stat().st_size != size:
                raise ValueError(f"{file.name} has {file.stat().st_size} bytes, not {size}")
        vectors = codes = None
        if "vectors.npy" in files.bytes:
            vectors = np.load(self.path / f"{files.name}.vectors.npy", mmap_mode="r").view(np.ndarray)
            codes = np.load(self.path / f"{files.name}.codes.npy", mmap_mode="r").view(np.ndarray)
        segment = Segment.of_arrays(mapped(self.path / f"{files.name}.docs", _MAGIC), vectors, codes)
        if len(segment) != files.rows:
            raise ValueError(f"{files.name} has {len(segment)} rows, not {files.rows}")
        return segment

    def write_segment(self, segment: Segment, generation: int) -> SegmentFiles:
        """Write the files of a segment and sync them to disk.

        Raises:
            OSError: If the system refuses.
        """
        name = f"segment-{generation:08d}"
        sizes = {
            "docs": write(self.path / f"{name}.docs", lambda stream: pack(stream, _MAGIC, segment.arrays()))
        }
        for end, array in (("vectors.npy", segment.vectors), ("codes.npy", segment.codes)):
            if array is not None:
                sizes[end] = write(self.path / f"{name}.{end}", _saver(array))
        return SegmentFiles(name, len(segment), sizes)

    def write_deleted(self, live: Mask, generation: int) -> str:
        """Write which rows are deleted, and sync it to disk.

        Raises:
            OSError: If the system refuses.
        """
        name = f"deleted-{generation:08d}.npy"
        write(self.path / name, _saver(np.packbits(~live)))
        return name

    def commit(self, manifest: Manifest) -> None:
        """Put a manifest in place, whose files have all been written.

        Raises:
            OSError: If the system refuses.
        """
        data = json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
        put_manifest(self.path, data)

    def next_generation(self) -> int:
        """Give a number above that of every commit so far and of every file that is there."""
        highest = 0
        with suppress(OSError, ValueError, TypeError, KeyError):
            highest = int(json.loads((self.path / MANIFEST).read_bytes())["generation"])
        numbers = [int(found[1]) for file in self.path.iterdir() if (found := _OURS.fullmatch(file.name))]
        return max(highest, *numbers, 0) + 1

    def sweep(self, keep: Collection[str]) -> None:
        """Delete the files of earlier or unfinished commits. Only for who holds the lock.

        Args:
            keep: Names of the files that count.
        """
        for file in self.path.iterdir():
            if (_OURS.fullmatch(file.name) or file.name == NEW) and file.name not in keep:
                # Windows keeps files that someone has mapped; the next writer tries again.
                with suppress(OSError):
                    file.unlink()

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Turn a refusal of the system to write into an error, and clear away what was half written.

        Raises:
            IndexError_: Instead of any OSError.
        """
        try:
            yield
        except OSError as error:
            with suppress(MragError, OSError):
                self.sweep(self.manifest().files())
            raise IndexError_(
                f"The index could not be written: {error.strerror or error}.",
                file=str(self.path),
                hint="It is as it was before. Free some disk space or check the rights, then try again.",
            ) from error

    def exists(self) -> bool:
        """Tell whether there is a manifest."""
        return (self.path / MANIFEST).exists()

    def _damaged(self, file: Path, error: Exception) -> IndexError_:
        return IndexError_(f"The index is damaged: {error}.", file=str(file), hint=_REBUILD)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _saver(array: npt.NDArray[Any]) -> Callable[[BinaryIO], object]:
    return lambda stream: np.save(stream, array, allow_pickle=False)
