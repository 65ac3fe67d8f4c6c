"""One commit of an index of graph codes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mrag.graphcodes.index.files import CodeManifest
from mrag.graphcodes.index.segment import CodeSegment

__all__ = ["CodeState"]


@dataclass(frozen=True)
class CodeState:
    """What readers see: replaced as a whole by a writer.

    Attributes:
        segments: The segments.
        live: False for every deleted document; None if none is.
        names: Names of the segments' files.
        manifest: What the index is.
    """

    segments: tuple[CodeSegment, ...] = ()
    live: npt.NDArray[np.bool_] | None = None
    names: tuple[str | None, ...] = ()
    manifest: CodeManifest | None = None

    @cached_property
    def bases(self) -> list[int]:
        """Where the documents of each segment begin, and those of the last end."""
        return [0, *np.cumsum([len(segment) for segment in self.segments]).tolist()]

    def live_of(self, at: int) -> npt.NDArray[np.bool_] | None:
        """Return False for every deleted document of a segment; None if none is."""
        return None if self.live is None else self.live[self.bases[at] : self.bases[at + 1]]

    def find(self, doc_id: str) -> tuple[int, int] | None:
        """Return the segment of a document and its row in it."""
        for at in range(len(self.segments) - 1, -1, -1):
            row = self.segments[at].ids.find(doc_id)
            if row is not None and (self.live is None or self.live[self.bases[at] + row]):
                return at, row
        return None
