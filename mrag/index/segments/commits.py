"""How the next commit of an index is made of the one before.

No segment has more rows than `most_rows` says, so that building and joining take bounded memory, however
large the index is. A large change is built segment by segment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np

from mrag.index.segments.files import DocumentFolder
from mrag.index.segments.rows import Mask
from mrag.index.segments.segment import DocumentSegment
from mrag.index.segments.state import DocumentState
from mrag.storage.files import FileEntry
from mrag.storage.folder import Committed, first_to_merge

__all__ = ["Sealed", "most_rows", "next_state"]

_LEAST_ROWS: Final = 25_000
"""Rows that every segment may have."""
_MOST_ROWS: Final = 250_000
_MOST_BYTES: Final = 1 << 28
"""Bytes of the vectors of a segment, if it has more rows than all may have."""

Sealed: TypeAlias = Callable[[DocumentSegment, str, FileEntry | None], None]
"""Called with a segment that is written before its commit, the name of its file and what is known of that."""


def most_rows(dim: int | None) -> int:
    """Return how many rows a segment may have.

    Args:
        dim: Dimensions of its vectors; None for none.

    Example:
        >>> most_rows(None), most_rows(256), most_rows(1024), most_rows(16_000)
        (250000, 250000, 65536, 25000)
    """
    return max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_BYTES // (4 * (dim or 1))))


class _Next:
    """The segments of the next commit."""

    def __init__(self, state: DocumentState, folder: DocumentFolder | None, sealed: Sealed) -> None:
        self._state = state
        self._folder = folder
        self._sealed = sealed
        self.segments: list[DocumentSegment] = []
        self.names: list[tuple[str, int]] = []
        self.files: dict[str, FileEntry] = {}
        self.live: list[Mask] = []
        self.group: list[tuple[DocumentSegment, Mask]] = []
        self.size = 0

    def keep(self, at: int, live: Mask) -> None:
        """Take over a segment as it is."""
        self.close()
        self.segments.append(self._state.segments[at])
        self.live.append(live)
        if self._folder:
            name, rows = self._state.manifest.segments[at]
            self.names.append((name, rows))
            self.files[name] = self._state.manifest.files[name]

    def join(self, segment: DocumentSegment, live: Mask, most: int) -> None:
        """Add the live rows of a segment to those that become one."""
        rows = int(np.count_nonzero(live))
        if self.size + rows > most:
            self.close()
        self.group.append((segment, live))
        self.size += rows

    def close(self, *, early: bool = False) -> None:
        """Write what is to become one segment; `early` if more is to come."""
        group, self.group, self.size = self.group, [], 0
        if not any(live.any() for _, live in group):
            return
        whole = len(group) == 1 and bool(group[0][1].all())
        segment, name, entry = group[0][0] if whole else DocumentSegment.merge(group), "", None
        if self._folder is not None:
            with self._folder.refusals():
                number = self._folder.next_generation()
                name, entry = self._folder.write_segment(segment, number)
                segment = self._folder.segment(name, Committed(number, {name: entry}))
            self.files[name] = entry
            self.names.append((name, len(segment)))
        if early:
            self._sealed(segment, name, entry)
        self.segments.append(segment)
        self.live.append(np.ones(len(segment), np.bool_))


def next_state(
    state: DocumentState,
    kept: Mask,
    new: int,
    built: Iterable[DocumentSegment],
    *,
    extra: Mapping[str, Any],
    folder: DocumentFolder | None,
    most: int,
    sealed: Sealed,
) -> DocumentState:
    """Make the next state and, in a folder, commit it.

    Args:
        state: The one before.
        kept: True for the rows that stay, shape (rows.total,).
        new: How many new documents there are; none of them has the ID of a row that stays.
        built: Gives their segments, one after the other.
        extra: The caller's JSON.
        folder: The folder, locked; None in memory.
        most: How many rows a segment may have.
        sealed: Called with each segment that is written while others are still to be built.

    Raises:
        IndexError_: If the system refuses to write; the folder then holds the state before or, if
            only the last step failed, the state after.
    """
    spans = list(state.rows.spans())
    sizes = [(int(np.count_nonzero(kept[start:end])), end - start) for start, end in spans]
    first = first_to_merge(sizes, new)
    following = _Next(state, folder, sealed)
    for at, (segment, (start, end)) in enumerate(zip(state.segments, spans, strict=True)):
        live, rows = sizes[at]
        if at < first or max(most, rows) < 2 * live:
            following.keep(at, kept[start:end])
        else:
            following.join(segment, kept[start:end], most)
    for segment in built:
        following.join(segment, np.ones(len(segment), np.bool_), most)
        if most < 2 * following.size:
            following.close(early=True)
    following.close()
    live_rows = np.concatenate([np.ones(0, np.bool_), *following.live])
    whole, deleted = bool(live_rows.all()), None
    with nullcontext() if folder is None else folder.refusals():
        generation = folder.next_generation() if folder else state.manifest.generation + 1
        if folder and not whole:
            deleted, following.files[deleted] = folder.write_deleted(live_rows, generation)
        dims = (s.vectors.shape[1] for s in following.segments if s.vectors is not None)
        manifest = replace(
            state.manifest,
            generation=generation,
            documents=int(np.count_nonzero(live_rows)),
            dim=next(dims, state.manifest.dim),
            segments=tuple(following.names),
            deleted=deleted,
            extra=extra,
            files=following.files,
        )
        if folder:
            folder.commit(manifest.committed())
    return DocumentState.of(manifest, following.segments, None if whole else live_rows, state.dense_params)
