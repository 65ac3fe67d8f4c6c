"""What an index of graph codes keeps in its folder, see `mrag.storage.folder`.

| file | content |
|---|---|
| `codes-N.seg` | a segment |
| `deleted-N.bits` | which documents of all segments are deleted, one bit each |

The numbers of relations are in the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mrag.graphcodes.index.segment import CodeSegment
from mrag.storage.files import FileEntry
from mrag.storage.folder import Committed, Kind, Live, SegmentFolder

KIND: Final = Kind("index of graph codes", 2, "Build it anew with `mrag codes build`.")


@dataclass(frozen=True)
class CodeManifest:
    """What an index is.

    Attributes:
        generation: Number of commits so far.
        files: The files that count, the segments' in order.
        relations: Numbers of the relations.
        extra: Whatever the caller keeps with the index.
    """

    generation: int = 0
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    relations: Mapping[str, int] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def segments(self) -> list[str]:
        """Names of the segments' files, in order."""
        return [name for name in self.files if name.endswith(".seg")]


class CodeFolder(SegmentFolder[CodeSegment, tuple[CodeManifest, list[CodeSegment], Live]]):
    """Reads and writes the files of an index of graph codes.

    Args:
        path: The folder. It need not exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, KIND, "codes", CodeSegment)

    def _read(self, committed: Committed) -> tuple[CodeManifest, list[CodeSegment], Live]:
        about = committed.about
        manifest = CodeManifest(committed.generation, committed.files, about["relations"], about["extra"])
        segments = [self.segment(name, committed) for name in manifest.segments]
        deleted = next((name for name in manifest.files if name.endswith(".bits")), None)
        return manifest, segments, self.live(deleted, committed, sum(map(len, segments))) if deleted else None

    def put(
        self,
        before: CodeManifest | None,
        kept: int,
        built: Sequence[CodeSegment],
        live: Live,
        relations: Mapping[str, int],
        extra: Mapping[str, Any],
    ) -> CodeManifest:
        """Write what has changed and put a new manifest in place. Only for who holds the lock.

        Args:
            before: The manifest in place, if there is one.
            kept: How many of its segments stay, the first ones.
            built: The segments that follow them.
            live: False for every deleted document; None if none is.
            relations: Numbers of the relations.
            extra: Whatever the caller keeps with the index.

        Returns:
            The manifest.

        Raises:
            IndexError_: If the system refuses; the index is then as it was before.
        """
        files = {name: before.files[name] for name in before.segments[:kept]} if before is not None else {}
        generation = self.next_generation() + kept
        with self.refusals():
            for segment in built:
                name, files[name] = self.write_segment(segment, generation)
                generation += 1
            if live is not None:
                name, files[name] = self.write_deleted(live, generation)
            manifest = CodeManifest(generation, files, dict(relations), dict(extra))
            about = {"relations": manifest.relations, "extra": manifest.extra}
            self.commit(Committed(generation, files, about))
        self.sweep(files)
        return manifest
