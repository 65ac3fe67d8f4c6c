"""What an index of documents keeps in its folder, see `mrag.storage.folder`.

| file | content |
|---|---|
| `segment-N.seg` | a segment: IDs, texts, digests, term frequencies, vectors (float32) and their signs |
| `deleted-N.bits` | which rows are deleted, one bit each |
| `vectors.pending` | vectors of a `sync` that has not ended, see `PendingVectors` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from mrag.errors import ConfigError, IndexMismatch
from mrag.index.bm25 import Bm25Params
from mrag.index.segments.segment import DocumentSegment
from mrag.storage.files import FileEntry
from mrag.storage.folder import Committed, Kind, Live, SegmentFolder
from mrag.text.analysis import ANALYSIS_VERSION

__all__ = ["KIND", "DocumentFolder", "DocumentManifest"]

KIND: Final = Kind("similarity index", 2, "Build it anew with `mrag index`.")


@dataclass(frozen=True)
class DocumentManifest:
    """What an index is.

    Args:
        generation: Number of commits so far; 0 before the first.
        documents: Number of documents that are not deleted.
        embedder: Name of the embedding model; None for BM25 alone.
        dim: Dimensions of its vectors, once there are any.
        bm25: The knobs of BM25.
        segments: Names of the segments' files, oldest first, with their rows.
        deleted: Name of the file of deleted rows; None if there are none.
        extra: Whatever the caller keeps with the index.
        files: The files that count, with their checksums.
    """

    generation: int = 0
    documents: int = 0
    embedder: str | None = None
    dim: int | None = None
    bm25: Bm25Params = field(default_factory=Bm25Params)
    segments: tuple[tuple[str, int], ...] = ()
    deleted: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, FileEntry] = field(default_factory=dict)

    def committed(self) -> Committed:
        """Return it as it is written."""
        about = {
            "analysis": self.bm25.analysis.version,
            "documents": self.documents,
            "embedder": self.embedder,
            "dim": self.dim,
            "bm25": asdict(self.bm25),
            "segments": self.segments,
            "deleted": self.deleted,
            "extra": self.extra,
        }
        return Committed(self.generation, self.files, about)

    @classmethod
    def of(cls, committed: Committed) -> DocumentManifest:
        """Undo `committed`.

        Raises:
            IndexMismatch: If its terms were made in another way.
            ValueError, TypeError, KeyError: If it is not such a manifest.
        """
        fields = dict(committed.about)
        analysis = str(fields.pop("analysis"))
        if analysis.partition(" ")[0] != str(ANALYSIS_VERSION):
            raise IndexMismatch(
                f"Another version of mrag cut the texts of the index into words ({analysis}, not "
                f"{ANALYSIS_VERSION}).",
                hint=KIND.hint,
            )
        name = fields["bm25"]["analyser"]
        try:
            fields["bm25"] = Bm25Params(**fields["bm25"])
        except ConfigError as error:
            raise IndexMismatch(
                f"The analyser of the index, {name}, cannot be used: {error.message}",
                hint=f"{error.hint} Or build the index with another: `mrag index --analyser auto`.",
            ) from error
        if (here := fields["bm25"].analysis.version) != analysis:
            raise IndexMismatch(
                f"Another release of the analyser {name} cut the texts of the index into words ({analysis}, "
                f"not {here}).",
                hint=KIND.hint,
            )
        fields["segments"] = tuple((str(name), int(rows)) for name, rows in fields["segments"])
        return cls(generation=committed.generation, files=committed.files, **fields)


class DocumentFolder(SegmentFolder[DocumentSegment, tuple[DocumentManifest, list[DocumentSegment], Live]]):
    """Reads and writes the files of an index of documents.

    Args:
        path: The folder. It need not exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, KIND, "segment", DocumentSegment)

    def _read(self, committed: Committed) -> tuple[DocumentManifest, list[DocumentSegment], Live]:
        manifest = DocumentManifest.of(committed)
        segments = [self.segment(name, committed) for name, _ in manifest.segments]
        for segment, (name, rows) in zip(segments, manifest.segments, strict=True):
            if len(segment) != rows:
                raise ValueError(f"{name} has {len(segment)} rows, not {rows}")
        deleted = manifest.deleted
        return manifest, segments, self.live(deleted, committed, sum(map(len, segments))) if deleted else None
