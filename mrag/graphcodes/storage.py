"""The folder of an index of graph codes: segments, the manifest that names them, the registry.

| file | content |
|---|---|
| `manifest.json` | names every other file that counts, with its size; has the numbers of relations |
| `codes-N.seg` | a segment, its arrays mapped from the file |
| `deleted-N.bits` | which documents of all segments are deleted, one bit each |
| `lock` | held by the writer |

Files are written whole and synced before one atomic rename puts the new manifest in place: whenever a
process ends, the folder holds the state before or the state after.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_, IndexMismatch, MissingIndex
from mrag.graphcodes.segment import Segment
from mrag.index.files import MANIFEST, NEW, mapped, pack, put_manifest, write
from mrag.index.storage import Folder

__all__ = ["Manifest", "commit", "load", "locked", "manifest_of"]

FORMAT: Final = "mrag graph codes 1"
_MAGIC: Final = b"mrag graph codes 1\n"
_OURS: Final = re.compile(r"(?:codes|deleted)-(\d+)\.(?:seg|bits)")
_REBUILD: Final = "Build the index anew."


@dataclass(frozen=True)
class Manifest:
    """What an index is.

    Attributes:
        generation: Number of commits so far.
        files: Size in bytes of every file that counts, the segments' in order.
        relations: Numbers of the relations.
        extra: Whatever the caller keeps with the index.
        format: Version of the files.
    """

    generation: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    relations: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    format: str = FORMAT


def locked(path: Path) -> Any:
    """Hold the writer's lock of a folder, which is made if it is not there (a context manager).

    Raises:
        IndexError_: If another writer holds it, or the folder cannot be written.
    """
    return Folder(path).locked()


def manifest_of(path: Path) -> Manifest:
    """Read the manifest of a folder.

    Raises:
        MissingIndex: If there is none.
        IndexMismatch: If another version of the package wrote it.
        IndexError_: If it cannot be read.
    """
    file = path / MANIFEST
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        if read["format"] != FORMAT:
            raise IndexMismatch(
                f"The index has the format {read['format']!r}, not {FORMAT!r}.",
                file=str(file),
                hint=_REBUILD,
            )
        return Manifest(**read)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise MissingIndex(
            "There is no index of graph codes in this folder.",
            file=str(path),
            hint="Build it first (mrag codes build), or check the path.",
        ) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _damaged(file, error) from error


def load(path: Path) -> tuple[Manifest, list[Segment], npt.NDArray[np.bool_] | None]:
    """Read the manifest and map the files that it names.

    Returns:
        The manifest, the segments, and False for every deleted document (None if none is).

    Raises:
        MissingIndex: If there is no index.
        IndexMismatch: If another version of the package wrote it.
        IndexError_: If a file is missing or damaged.
    """
    while True:
        manifest = manifest_of(path)
        try:
            for name, size in manifest.files.items():
                if (there := (path / name).stat().st_size) != size:
                    raise ValueError(f"{name} has {there} bytes, not {size}")
            segments = [
                Segment.of_arrays(mapped(path / n, _MAGIC)) for n in manifest.files if n.endswith(".seg")
            ]
            live = None
            for name in manifest.files:
                if name.endswith(".bits"):
                    bits = np.frombuffer((path / name).read_bytes(), np.uint8)
                    live = np.unpackbits(bits, count=sum(map(len, segments))) == 0
            return manifest, segments, live
        except FileNotFoundError as error:
            # A writer may have replaced the files since the manifest was read.
            if manifest_of(path).generation == manifest.generation:
                raise _damaged(Path(error.filename), error) from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise _damaged(path, error) from error


def commit(
    path: Path,
    before: Manifest | None,
    segments: Sequence[tuple[Segment, str | None]],
    live: npt.NDArray[np.bool_] | None,
    relations: Mapping[str, int],
    extra: Mapping[str, Any],
) -> tuple[Manifest, list[str]]:
    """Write what has changed and put a new manifest in place. Only for who holds the lock.

    Args:
        path: The folder.
        before: The manifest in place, if there is one.
        segments: The segments, each with the name of its file, or None if it has none yet.
        live: False for every deleted document; None if none is.
        relations: Numbers of the relations.
        extra: Whatever the caller keeps with the index.

    Returns:
        The manifest, and the names of the segments' files.

    Raises:
        IndexError_: If the system refuses; the index is then as it was before.
    """
    known = before.files if before is not None else {}
    generation = _next(path, before)
    with _refusals(path, known):
        files: dict[str, int] = {}
        names = []
        for at, (segment, name) in enumerate(segments):
            if name is None:
                name = f"codes-{generation + at:010d}.seg"
                files[name] = write(path / name, partial(_put, segment))
            else:
                files[name] = known[name]
            names.append(name)
        generation += len(segments)
        if live is not None:
            name = f"deleted-{generation:010d}.bits"
            bits = np.packbits(~live).tobytes()
            files[name] = write(path / name, lambda stream: stream.write(bits))
        manifest = Manifest(generation, files, dict(relations), dict(extra))
        text = json.dumps(asdict(manifest), ensure_ascii=False, indent=1)
        put_manifest(path, text.encode("utf-8", "surrogatepass"))
    _sweep(path, files)
    return manifest, names


def _next(path: Path, before: Manifest | None) -> int:
    found = [int(match[1]) for file in path.iterdir() if (match := _OURS.fullmatch(file.name))]
    return max(before.generation if before else 0, *found, 0) + 1


@contextmanager
def _refusals(path: Path, keep: Mapping[str, int]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _sweep(path, keep)
        raise IndexError_(
            f"The index could not be written: {error.strerror or error}.",
            file=str(path),
            hint="It is as it was before. Free some disk space or check the rights, then try again.",
        ) from error


def _sweep(path: Path, keep: Mapping[str, int]) -> None:
    for file in path.iterdir():
        if (_OURS.fullmatch(file.name) or file.name == NEW) and file.name not in keep:
            # Windows keeps files that someone has mapped; the next writer tries again.
            with suppress(OSError):
                file.unlink()


def _put(segment: Segment, stream: BinaryIO) -> None:
    pack(stream, _MAGIC, segment.arrays())


def _damaged(file: Path, error: Exception) -> IndexError_:
    return IndexError_(f"The index is damaged: {error}.", file=str(file), hint=_REBUILD)
