"""The folder of a clue index: segment files and the manifest that names them.

A segment is one file of arrays that is mapped, not read. Files are written whole and synced to disk
before one atomic rename puts the new manifest in place: whenever a build ends, however it ends, the folder
holds the index before or the index after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from mrag.errors import IndexError_, IndexMismatch, MissingIndex
from mrag.generative.segments import Segment
from mrag.index.files import MANIFEST, NEW, mapped, pack, put_manifest, write

__all__ = ["FORMAT", "ClueFolder", "ClueManifest"]

FORMAT: Final = 1
_MAGIC: Final = b"mrag clues 1\n"
_OURS: Final = re.compile(r"clues-(\d{8,})\.seg")
_REBUILD: Final = "Build the index anew."


@dataclass(frozen=True)
class ClueManifest:
    """What a clue index is.

    Attributes:
        generation: Number above that of every file written so far.
        vocabulary: Number of token ids of its tokeniser.
        end: Token that ends each document; None for none.
        segments: Names of the segment files, oldest first, with their bytes.
        extra: Whatever the caller keeps with the index.
        format: Version of the files.
    """

    generation: int
    vocabulary: int
    end: int | None
    segments: tuple[tuple[str, int], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT


class ClueFolder:
    """Reads and writes the files of a clue index.

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
        from mrag.index.storage import Folder

        with Folder(self.path).locked():
            yield

    def manifest(self) -> ClueManifest:
        """Read the manifest.

        Raises:
            MissingIndex: If there is none.
            IndexMismatch: If another version of the package wrote it.
            IndexError_: If it cannot be read.
        """
        file = self.path / MANIFEST
        try:
            fields = json.loads(file.read_bytes())
            if fields["format"] != FORMAT:
                raise IndexMismatch(
                    f"The clue index has format {fields['format']}; this version of mrag reads {FORMAT}.",
                    hint=_REBUILD,
                )
            fields["segments"] = tuple((str(name), int(size)) for name, size in fields["segments"])
            return ClueManifest(**fields)
        except (FileNotFoundError, NotADirectoryError) as error:
            hint = "Build the index first, or check the path."
            raise MissingIndex(
                "There is no clue index in this folder.", file=str(self.path), hint=hint
            ) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise self._damaged(file, error) from error

    def load(self) -> tuple[ClueManifest, list[Segment]]:
        """Read the manifest and map the segments that it names.

        Raises:
            MissingIndex: If there is no index.
            IndexMismatch: If another version of the package wrote it.
            IndexError_: If a file is missing or damaged.
        """
        while True:
            manifest = self.manifest()
            try:
                return manifest, [self._map(name, size) for name, size in manifest.segments]
            except FileNotFoundError as error:
                # A writer may have replaced the files since the manifest was read.
                if self.manifest().generation == manifest.generation:
                    raise self._damaged(self.path, error) from error
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise self._damaged(self.path, error) from error

    def next_generation(self) -> int:
        """Return a number above that of every commit so far and of every file that is there."""
        numbers = [int(found[1]) for file in self.path.iterdir() if (found := _OURS.fullmatch(file.name))]
        with suppress(MissingIndex, IndexError_):
            numbers.append(self.manifest().generation)
        return max(numbers, default=0) + 1

    def write(self, segment: Segment, generation: int) -> tuple[str, int]:
        """Write a segment, sync it to disk, and return the name of its file and its bytes."""
        name = f"clues-{generation:08d}.seg"
        return name, write(self.path / name, lambda stream: pack(stream, _MAGIC, segment.arrays()))

    def commit(self, manifest: ClueManifest) -> None:
        """Put a manifest in place, whose files have all been written, and sweep other files away."""
        data = json.dumps(asdict(manifest), ensure_ascii=False, indent=1).encode()
        put_manifest(self.path, data)
        self.sweep(manifest)

    def sweep(self, manifest: ClueManifest | None) -> None:
        """Delete the files of earlier or unfinished commits. Only for who holds the lock."""
        keep = {name for name, _ in manifest.segments} if manifest else set()
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
            with suppress(IndexError_, OSError):
                self.sweep(self.manifest() if (self.path / MANIFEST).exists() else None)
            raise IndexError_(
                f"The clue index could not be written: {error.strerror or error}.",
                file=str(self.path),
                hint="It is as it was before. Free some disk space or check the rights, then try again.",
            ) from error

    def _map(self, name: str, size: int) -> Segment:
        file = self.path / name
        found = file.stat().st_size
        if found != size:
            raise ValueError(f"{name} has {found} bytes, not {size}")
        return Segment(mapped(file, _MAGIC))

    def _damaged(self, file: Path, error: Exception) -> IndexError_:
        return IndexError_(f"The clue index is damaged: {error}.", file=str(file), hint=_REBUILD)
