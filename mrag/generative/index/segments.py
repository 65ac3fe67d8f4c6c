"""A run of documents as one text with its suffix array; never changed once built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.generative.index.ids import DocumentIds
from mrag.generative.index.suffix_view import Places, SuffixView, find_hubs
from mrag.generative.index.suffixes import sort_suffixes
from mrag.storage.arrays import Arrays

SEGMENT_TOKENS: Final = (1 << 24) - 1
"""Most tokens of a segment, ends of documents counted: places then fit in three bytes."""

_RUN: Final = 1 << 19


class ClueSegment:
    """Documents, sorted by their tokens, with what finds clues in them.

    Token ids are kept as numbers from 1 in the order of the ids that occur, which fit in two bytes for
    nearly every text, whatever the tokeniser's vocabulary is; 0 ends a document.

    Args:
        arrays: What `arrays` returns.
    """

    def __init__(self, arrays: Arrays) -> None:
        # Single numbers are read too often to look at each time whether their block was checked.
        self._arrays = arrays = dict(arrays)
        self.alphabet = arrays["alphabet"]
        self.text = arrays["text"]
        self.starts = arrays["starts"]
        self.owners = arrays["owners"]
        self.names = DocumentIds(arrays["name_blocks"], arrays["name_offsets"], len(self.owners))
        self._starts = self.starts.data
        self._numbers: dict[int, int] = {t: n for n, t in enumerate(self.alphabet.tolist(), start=1)}
        # The end of a document must not look like any token that someone asks for.
        self.ids = np.concatenate([[np.iinfo(np.int64).min], self.alphabet]).astype(np.int64)
        self.ids.flags.writeable = False
        self.anywhere = SuffixView(
            self.text,
            Places(arrays["low"], arrays["high"]),
            self.ids,
            self._numbers,
            _part(arrays, "anywhere"),
        )
        self.beginnings = SuffixView(
            self.text, Places.of(self.starts[:-1]), self.ids, self._numbers, _part(arrays, "beginnings")
        )

    @classmethod
    def named(cls, arrays: Arrays, names: Iterable[tuple[int, str]]) -> ClueSegment:
        """Put a segment together.

        Args:
            arrays: What `sorted_texts` gives.
            names: Ids of documents, each with the number of its document in the index.

        Example:
            >>> arrays, places = sorted_texts([np.array([7, 9, 9]), np.array([3])])
            >>> segment = ClueSegment.named(arrays, [(int(places[0]), "urn:a"), (int(places[1]), "urn:b")])
            >>> segment.document(0).tolist(), segment.document(1).tolist(), segment.tokens
            ([3], [7, 9, 9], 4)
        """
        owned = sorted(names)
        packed = DocumentIds.of(name for _, name in owned)
        about = {
            "owners": np.array([owner for owner, _ in owned], np.uint32),
            "name_blocks": packed.blocks,
            "name_offsets": packed.offsets,
        }
        return cls({**arrays, **about})

    def arrays(self) -> Arrays:
        """Return everything that a segment is, to be written to a file."""
        return self._arrays

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return len(self.text) - len(self)

    def document_at(self, place: int) -> int:
        """Return the number of the document that a place of the text is in."""
        return bisect_right(self._starts, place) - 1

    def document(self, number: int) -> npt.NDArray[np.int64]:
        """Return the token ids of a document."""
        return self.ids[self.text[self._starts[number] : self._starts[number + 1] - 1]]

    def find(self, document: Sequence[int]) -> int | None:
        """Return the number of the document that is equal to a list of token ids, None if there is none."""
        low, high = self.beginnings.find(document, 0, len(self), 0)
        if low == high:
            return None
        # The end of a document sorts before what goes on.
        return low if self.beginnings.number(low, len(document)) == 0 else None

    def one_document(self, low: int, high: int) -> int | None:
        """Return the document that a run of suffixes is in, None if they are in several or none."""
        places = self.anywhere.places
        if low >= high:
            return None
        number = self.document_at(places.one(low))
        if high - low == 1:
            return number
        begin, end = self._starts[number], self._starts[number + 1]
        if high - low > end - begin or not begin <= places.one(high - 1) < end:
            return None
        found = places.some(low, high)
        return number if bool(((found >= begin) & (found < end)).all()) else None

    def documents_in(self, low: int, high: int) -> npt.NDArray[np.int64]:
        """Return the numbers of the documents that a run of suffixes is in, ascending, each once."""
        places = self.anywhere.places
        if high - low <= _RUN:
            found = np.sort(places.some(low, high))
            return np.unique(np.searchsorted(self.starts, found, side="right") - 1)
        marked = np.zeros(len(self.text), np.bool_)
        for at in range(low, high, _RUN):
            marked[places.some(at, min(at + _RUN, high))] = True
        return np.flatnonzero(np.logical_or.reduceat(marked, self.starts[:-1]))

    def only(self, documents: npt.NDArray[np.bool_], view: SuffixView) -> SuffixView:
        """Return the part of a view that lies in some documents.

        Args:
            documents: For each document, whether it is one of them.
            view: `anywhere` or `beginnings`.
        """
        if view is self.beginnings:
            kept = self.starts[:-1][documents].astype(np.int64)
        else:
            starts = self.starts.astype(np.int64)
            inside = np.repeat(documents, starts[1:] - starts[:-1])
            parts = []
            for at in range(0, len(view), 1 << 20):
                places = view.places.some(at, min(at + (1 << 20), len(view)))
                parts.append(places[inside[places]])
            kept = np.concatenate([*parts, np.empty(0, np.int64)])
        packed = Places.of(kept)
        return SuffixView(self.text, packed, self.ids, self._numbers, find_hubs(self.text, packed))


def sorted_texts(
    documents: Sequence[npt.NDArray[np.int64]],
) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
    """Return what a segment is but for the ids, and the place that each document has in it.

    Args:
        documents: Token ids of each document, none empty, no two equal.
    """
    alphabet, numbers = _compact(np.concatenate([*documents, np.empty(0, np.int64)]))
    lengths = np.array([len(d) for d in documents], np.int64)
    order = _order(numbers, lengths)
    starts = np.zeros(len(documents) + 1, np.uint32)
    np.cumsum(lengths[order] + 1, out=starts[1:])
    text = np.zeros(int(starts[-1]), numbers.dtype)
    begins = (np.cumsum(lengths) - lengths)[order]
    text[_spread(starts[:-1].astype(np.int64), lengths[order])] = numbers[_spread(begins, lengths[order])]
    moved = np.empty(len(documents), np.int64)
    moved[order] = np.arange(len(documents))
    places = Places.of(sort_suffixes(text))
    arrays: dict[str, npt.NDArray[Any]] = {
        "alphabet": alphabet,
        "text": text,
        "low": places.low,
        "high": places.high,
        "starts": starts,
    }
    for which, view in (("anywhere", places), ("beginnings", Places.of(starts[:-1]))):
        for key, array in find_hubs(text, view).items():
            arrays[f"{which}_{key}"] = array
    return arrays, moved


def _part(arrays: Arrays, which: str) -> Arrays:
    return {key: arrays[f"{which}_{key}"] for key in ("depth", "low", "end", "next", "from")}


def _compact(flat: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Number the ids that occur from 1, in their order."""
    if not len(flat):
        return np.empty(0, np.int32), np.empty(0, np.uint16)
    present = np.zeros(int(flat.max()) + 1, np.bool_)
    present[flat] = True
    alphabet = np.flatnonzero(present)
    number = np.cumsum(present).astype(np.uint16 if len(alphabet) < 1 << 16 else np.uint32)
    return alphabet.astype(np.int32), number[flat]


def _order(text: npt.NDArray[Any], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the order of documents by their tokens."""
    octets = text.astype(text.dtype.newbyteorder(">")).tobytes()
    width = text.dtype.itemsize
    ends = (np.cumsum(lengths) * width).tolist()
    keys = [octets[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)] if ends else []
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def _spread(begins: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the places of runs one after the other."""
    total = int(lengths.sum())
    shift = np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return shift + np.arange(total)
