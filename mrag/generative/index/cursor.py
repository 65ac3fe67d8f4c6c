"""A place in the clue index: a clue that grows token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from mrag.generative.index.suffix_view import SuffixView

if TYPE_CHECKING:
    from mrag.generative.index.clue_index import ClueIndex, Start

_NONE: Final = np.empty(0, np.int64)
_FEW: Final = 64
_SPARSE: Final = 64

Span = tuple[int, int, int]
"""Number of a segment, and a run of its suffixes."""


@dataclass(frozen=True, eq=False)
class Restriction:
    """Some documents of an index, in which clues must occur.

    Made by `ClueIndex.restriction`; of use with that index alone. What it works out once for its index
    is kept with it, so keep it while it is needed.

    Attributes:
        index: The index.
        mask: For each document of the index, whether it is one of them.
        ids: The ids that the index knows; equal documents have others beside them.
    """

    index: ClueIndex
    mask: npt.NDArray[np.bool_]
    ids: frozenset[str]
    _views: dict[str, list[SuffixView]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    def views(self, start: Start) -> list[SuffixView]:
        """Return the suffixes of these documents alone, for each segment."""
        found = self._views.get(start)
        if found is None:
            found = []
            for base, segment in zip(self.index.bases, self.index.segments, strict=False):
                whole = segment.anywhere if start == "anywhere" else segment.beginnings
                found.append(segment.only(self.mask[base : base + len(segment)], whole))
            self._views[start] = found
        return found


class ClueCursor:
    """A clue and where it occurs; false if it occurs nowhere.

    `extend` gives a new cursor, so that beams can share one. Uniqueness and documents always refer to
    the whole index, also where `next_tokens` is restricted.

    Attributes:
        depth: Tokens of the clue.
    """

    __slots__ = ("_guide", "_index", "_restriction", "_views", "_whole", "depth")

    def __init__(
        self,
        index: ClueIndex,
        views: list[SuffixView],
        guide: tuple[Span, ...],
        whole: tuple[Span, ...] | None,
        depth: int,
        restriction: Restriction | None,
    ) -> None:
        self._index = index
        self._views = views
        self._guide = guide
        self._whole = whole  # None where the guide is the whole
        self._restriction = restriction
        self.depth = depth

    @classmethod
    def root(cls, index: ClueIndex, start: Start, restriction: Restriction | None) -> ClueCursor:
        """Return the cursor at the empty clue."""
        if restriction is not None:
            views = restriction.views(start)
        elif start == "beginning":
            views = [segment.beginnings for segment in index.segments]
        else:
            views = [segment.anywhere for segment in index.segments]
        guide = tuple((n, 0, len(view)) for n, view in enumerate(views) if len(view))
        whole = None
        if restriction is not None or start == "beginning":
            whole = tuple((n, 0, len(s.anywhere)) for n, s in enumerate(index.segments))
        return cls(index, views, guide, whole, 0, restriction)

    def __bool__(self) -> bool:
        return bool(self._guide)

    def extend(self, token: int) -> ClueCursor:
        """Return the cursor at the clue with one token more."""
        return self.follow((token,))

    def follow(self, tokens: Sequence[int]) -> ClueCursor:
        """Return the cursor at the clue with some tokens more; quicker than one after the other."""
        segments, depth = self._index.segments, self.depth
        guide: list[Span] = []
        for n, low, high in self._guide:
            low, high = self._views[n].find(tokens, low, high, depth)
            if low < high:
                guide.append((n, low, high))
        whole = self._whole
        if whole is not None:
            found: list[Span] = []
            for n, low, high in whole if guide else ():
                low, high = segments[n].anywhere.find(tokens, low, high, depth)
                if low < high:
                    found.append((n, low, high))
            whole = tuple(found)
        return ClueCursor(
            self._index, self._views, tuple(guide), whole, depth + len(tokens), self._restriction
        )

    def next_tokens(self) -> npt.NDArray[np.int64]:
        """Return the tokens that can follow, ascending, each once; none at the end of documents."""
        guide = self._guide
        if len(guide) == 1:
            n, low, high = guide[0]
            return self._views[n].continuations(low, high, self.depth)
        found = [self._views[n].continuations(low, high, self.depth) for n, low, high in guide]
        return _union(found, self._index.vocabulary) if found else _NONE

    def count(self) -> int:
        """Return in how many documents of the index the clue occurs, equal documents counted once."""
        if self.depth == 0:
            return len(self._index) if self._guide else 0
        segments = self._index.segments
        return sum(len(segments[n].documents_in(low, high)) for n, low, high in self._everywhere())

    def is_unique(self) -> bool:
        """Return whether the clue occurs in exactly one document of the index."""
        return self.document() is not None

    def document(self) -> int | None:
        """Return the number of the one document in which the clue occurs; None if there are more or none."""
        spans = self._everywhere()
        if len(spans) != 1:
            return None
        n, low, high = spans[0]
        found = self._index.segments[n].one_document(low, high)
        return None if found is None else self._index.bases[n] + found

    def documents(self) -> list[tuple[str, ...]]:
        """Return the documents in which the clue occurs, each as all its ids, in order of the first."""
        found = []
        for n, low, high in self._everywhere():
            base = self._index.bases[n]
            numbers = self._index.segments[n].documents_in(low, high).tolist()
            found += [self._index.ids_of(base + number) for number in numbers]
        return sorted(found)

    def _everywhere(self) -> tuple[Span, ...]:
        if not self._guide:
            return ()
        return self._guide if self._whole is None else self._whole


def _union(parts: Sequence[npt.NDArray[np.int64]], vocabulary: int) -> npt.NDArray[np.int64]:
    """Return the token ids of several ascending arrays, ascending, each once."""
    size = sum(map(len, parts))
    if size <= _FEW:
        return np.array(sorted({token for part in parts for token in part.tolist()}), np.int64)
    if size * _SPARSE < vocabulary:
        return np.unique(np.concatenate(parts))
    # Marks are quicker than sorting where much of the vocabulary follows.
    marked = np.zeros(vocabulary, np.bool_)
    for part in parts:
        marked[part] = True
    return np.flatnonzero(marked)
