"""One commit of an index of graph codes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mrag.graphcodes.index.files import CodeManifest
from mrag.graphcodes.index.segment import CodeSegment
from mrag.index.rows import Rows
from mrag.storage.folder import Live


@dataclass(frozen=True)
class CodeState:
    """What readers see: replaced as a whole by a writer.

    Attributes:
        segments: The segments.
        live: False for every deleted document; None if none is.
        manifest: What the index is; None before the first commit.
    """

    segments: tuple[CodeSegment, ...] = ()
    live: Live = None
    manifest: CodeManifest | None = None

    @cached_property
    def rows(self) -> Rows:
        """The documents as numbered rows; their ids are read for it."""
        return Rows([segment.ids for segment in self.segments], self.live)

    @cached_property
    def bases(self) -> list[int]:
        """Where the documents of each segment begin, and those of the last end."""
        return [0, *np.cumsum([len(segment) for segment in self.segments]).tolist()]

    def __len__(self) -> int:
        return self.bases[-1] if self.live is None else int(np.count_nonzero(self.live))

    def live_of(self, at: int) -> Live:
        """Return False for every deleted document of a segment; None if no document is deleted."""
        return None if self.live is None else self.live[self.bases[at] : self.bases[at + 1]]

    def find(self, doc_id: str) -> tuple[CodeSegment, int] | None:
        """Return the segment of a document and its row in it."""
        row = self.rows.row_of(doc_id)
        if row is None:
            return None
        at = bisect_right(self.bases, row) - 1
        return self.segments[at], row - self.bases[at]
