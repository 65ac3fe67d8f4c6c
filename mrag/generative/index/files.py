"""What a clue index keeps in its folder, see `mrag.storage.folder`: one file for each segment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mrag.generative.index.segments import ClueSegment
from mrag.storage.files import FileEntry
from mrag.storage.folder import Committed, Kind, SegmentFolder

KIND: Final = Kind("clue index", 2, "Build it anew with `mrag clues build`.")


@dataclass(frozen=True)
class ClueManifest:
    """What a clue index is.

    Attributes:
        generation: Number above that of every file written so far.
        vocabulary: Number of token ids of its tokeniser.
        end: Token that ends each document; None for none.
        segments: The segments' files, oldest first.
        extra: Whatever the caller keeps with the index.
    """

    generation: int
    vocabulary: int
    end: int | None
    segments: Mapping[str, FileEntry] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


class ClueFolder(SegmentFolder[ClueSegment, tuple[ClueManifest, list[ClueSegment]]]):
    """Reads and writes the files of a clue index.

    Args:
        path: The folder. It need not exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, KIND, "clues", ClueSegment)

    def _read(self, committed: Committed) -> tuple[ClueManifest, list[ClueSegment]]:
        about = committed.about
        manifest = ClueManifest(
            committed.generation, about["vocabulary"], about["end"], committed.files, about["extra"]
        )
        return manifest, [self.segment(name, committed) for name in committed.files]

    def put(self, manifest: ClueManifest) -> None:
        """Put a manifest in place, whose files have all been written, and sweep other files away."""
        about = {"vocabulary": manifest.vocabulary, "end": manifest.end, "extra": manifest.extra}
        self.commit(Committed(manifest.generation, manifest.segments, about))
        self.sweep(manifest.segments)
