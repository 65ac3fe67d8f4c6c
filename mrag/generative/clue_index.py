"""The clue index: which tokens can follow, in how many documents, and whose document it is."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.index.rows import StoredSegment, StringTable
from mrag.jobs.runners import InlineRunner, Runner, carry
from mrag.storage.arrays import Arrays
from mrag.storage.folder import Kind, SegmentFolder

HUB = 1024  # Runs longer than this have their continuations worked out when the index is built

_SMALL: Final = 24
_DEPTH: Final = 64

Places: TypeAlias = npt.NDArray[np.uint32]


class SuffixView:
    """Suffixes of a text in order, all of them or some, with the continuations of its hubs.

    A run `low, high` at a depth stands for the suffixes that begin with the same `depth` numbers.
    """

    def __init__(
        self,
        text: npt.NDArray[Any],
        places: Places,
        ids: npt.NDArray[np.int64],
        numbers: Mapping[int, int],
        hubs: Arrays | None = None,
    ) -> None:
        self.text = text
        self._numbers = numbers
        self.ids = ids
        self.places = places
        # Single numbers are read through these: items of numpy arrays cost several times as much.
        self._text, self._places = text.data, places.data
        self._hubs: dict[tuple[int, int], tuple[int, int]] = {}
        self._next: Any = None
        self._from: Any = None
        if hubs is not None:
            self._next, self._from = hubs["next"], hubs["from"]
            self._next_view, self._from_view = self._next.data, self._from.data
            ends = hubs["end"].tolist()
            begins = [0, *ends][:-1]
            keys = zip(hubs["depth"].tolist(), hubs["low"].tolist(), strict=True)
            self._hubs = dict(zip(keys, zip(begins, ends, strict=True), strict=True))

    def __len__(self) -> int:
        return len(self.places)

    def narrow(self, low: int, high: int, depth: int, number: int) -> tuple[int, int]:
        """Return the run of those suffixes of a run that go on with a number; empty if there is none."""
        if high - low > HUB:
            hub = self._hubs.get((depth, low))
            if hub is not None:
                begin, end = hub
                if end - begin == len(self.ids) - 1:
                    # Every number follows, as at the root of a whole text, so that its place is known.
                    at = begin + number - 1
                    return self._from_view[at], self._from_view[at + 1] if at + 1 < end else high
                at = bisect_left(self._next_view, number, begin, end)
                if at == end or self._next_view[at] != number:
                    return low, low
                upper = self._from_view[at + 1] if at + 1 < end else high
                return self._from_view[at], upper
        text, places = self._text, self._places
        if high - low == 1:
            return (low, high) if text[places[low] + depth] == number else (low, low)
        suffixes = range(high)

        def at_depth(at: int) -> int:
            return text[places[at] + depth]

        if at_depth(low) != number:
            low = bisect_left(suffixes, number, low, high, key=at_depth)
        if low == high or at_depth(low) != number:
            return low, low
        if at_depth(high - 1) == number:
            return low, high
        return low, bisect_right(suffixes, number, low, high, key=at_depth)

    def find(self, tokens: Sequence[int], low: int, high: int, depth: int) -> tuple[int, int]:
        """Return the run of those suffixes of a run that go on with some token ids; empty if none does."""
        numbers = self._numbers
        for at, token in enumerate(tokens):
            if high - low == 1:
                place = self._places[low] + depth + at
                length = len(tokens) - at
                if length > _SMALL:
                    there = self.ids[self.text[place : place + length]].tolist()
                    return (low, high) if there == list(tokens[at:]) else (low, low)
                there = self._text[place : place + length].tolist()
                return (low, high) if there == [numbers.get(t, -1) for t in tokens[at:]] else (low, low)
            number = numbers.get(token, 0)
            if not number:
                return low, low
            low, high = self.narrow(low, high, depth + at, number)
            if low == high:
                break
        return low, high

    def continuations(self, low: int, high: int, depth: int) -> npt.NDArray[np.int64]:
        """Return the token ids that follow a run, ascending, each once."""
        if low >= high:
            return self.ids[:0]
        text, places = self._text, self._places
        first = text[places[low] + depth]
        size = high - low
        # The numbers of a run ascend, so that equal ends are equal throughout.
        if size == 1 or text[places[high - 1] + depth] == first:
            return self.ids[first : first + 1] if first else self.ids[:0]
        if size <= _SMALL:
            tokens = dict.fromkeys([text[place + depth] for place in places[low:high]])
            tokens.pop(0, None)
            return self.ids[list(tokens)]
        if size > HUB and (hub := self._hubs.get((depth, low))) is not None:
            found_ids: npt.NDArray[np.int64] = self.ids[self._next[hub[0] : hub[1]]]
            return found_ids
        numbers = self.text[self.places[low:high] + np.uint32(depth)]
        new = np.empty(len(numbers), np.bool_)
        new[0] = numbers[0] != 0
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        gathered: npt.NDArray[np.int64] = self.ids[numbers[new]]
        return gathered


def find_hubs(text: npt.NDArray[Any], places: Places) -> dict[str, npt.NDArray[Any]]:
    """Work out the continuations of all runs longer than `HUB`."""
    depths, lows, ends, numbers, begins = [], [], [], [], []
    total = 0
    runs = [(0, len(places))] if len(places) > HUB else []
    for depth in range(_DEPTH):
        below: list[tuple[int, int]] = []
        for low, high in runs:
            tokens = text[places[low:high] + np.uint32(depth)]
            new = np.flatnonzero(tokens[1:] != tokens[:-1]) + 1
            at = np.concatenate([[0], new])
            ups = np.append(new, high - low)
            go_on = tokens[at] != 0
            at, ups = at[go_on], ups[go_on]
            long = ups - at > HUB
            below += zip((at[long] + low).tolist(), (ups[long] + low).tolist(), strict=True)
            if len(new) == 0:
                continue  # one continuation is found without help
            total += len(at)
            depths.append(depth)
            lows.append(low)
            ends.append(total)
            numbers.append(tokens[at])
            begins.append((at + low).astype(np.uint32))
        runs = below
    return {
        "depth": np.array(depths, np.uint8),
        "low": np.array(lows, np.uint32),
        "end": np.array(ends, np.uint32),
        "next": np.concatenate(numbers) if numbers else np.empty(0, text.dtype),
        "from": np.concatenate(begins) if begins else np.empty(0, np.uint32),
    }


def sort_suffixes(text: npt.NDArray[Any]) -> Places:
    """Return the places of a text in the order of the suffixes that begin there, without its zeros."""
    if not text.any():
        return np.empty(0, np.uint32)
    try:
        divsufsort = import_module("pydivsufsort").divsufsort
    except ImportError as error:
        what = "pydivsufsort is not installed, and a clue index is built with it."
        raise ConfigError(what, hint="pip install 'mrag[generative]'") from error
    # Bytes in the order of significance sort like the numbers; places between them are left out again.
    width = 2 if int(text.max()) < 1 << 16 else 4
    order: npt.NDArray[np.int32] = divsufsort(np.array(text.astype(f">u{width}").view(np.uint8)))
    order = order[order & (width - 1) == 0] >> (width // 2)
    return order[np.count_nonzero(text == 0) :].astype(np.uint32)


Documents: TypeAlias = Iterable[tuple[str, Sequence[int]]]
Tokens: TypeAlias = npt.NDArray[np.int64]

SEGMENT_TOKENS: Final = 1 << 24  # Most tokens of a segment, ends of documents counted

_RUN: Final = 1 << 19


class ClueSegment:
    """Documents, sorted by their tokens, with what finds clues in them.

    Token ids are kept as numbers from 1 in the order of the ids that occur; 0 ends a document.
    """

    def __init__(self, arrays: Arrays) -> None:
        # Single numbers are read too often to look at each time whether their block was checked.
        self._arrays = arrays = dict(arrays)
        self.alphabet = arrays["alphabet"]
        self.text = arrays["text"]
        self.starts = arrays["starts"]
        self.owners = arrays["owners"]
        self.names = StringTable(arrays["names.blob"], arrays["names.offsets"])
        self._starts = self.starts.data
        self._numbers: dict[int, int] = {t: n for n, t in enumerate(self.alphabet.tolist(), start=1)}
        # The end of a document must not look like any token that someone asks for.
        self.ids = np.concatenate([[np.iinfo(np.int64).min], self.alphabet]).astype(np.int64)
        self.ids.flags.writeable = False
        self.anywhere = SuffixView(
            self.text, arrays["places"], self.ids, self._numbers, _part(arrays, "anywhere")
        )
        self.beginnings = SuffixView(
            self.text, self.starts[:-1], self.ids, self._numbers, _part(arrays, "beginnings")
        )

    def arrays(self) -> Arrays:
        """Return everything that a segment is, to be written to a file."""
        return self._arrays

    def view(self, start: Start) -> SuffixView:
        """Return the suffixes that begin anywhere in documents, or at their beginnings."""
        return self.anywhere if start == "anywhere" else self.beginnings

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return len(self.text) - len(self)

    def document(self, number: int) -> npt.NDArray[np.int64]:
        """Return the token ids of a document."""
        return self.ids[self.text[self._starts[number] : self._starts[number + 1] - 1]]

    def one_document(self, low: int, high: int) -> int | None:
        """Return the document that a run of suffixes is in, None if they are in several or none."""
        places = self.anywhere.places
        if low >= high:
            return None
        number = bisect_right(self._starts, places[low]) - 1
        if high - low == 1:
            return number
        begin, end = self._starts[number], self._starts[number + 1]
        if high - low > end - begin or not begin <= places[high - 1] < end:
            return None
        starts = places[low:high]
        return number if bool(((starts >= begin) & (starts < end)).all()) else None

    def documents_in(self, low: int, high: int) -> npt.NDArray[np.int64]:
        """Return the numbers of the documents that a run of suffixes is in, ascending, each once."""
        places = self.anywhere.places
        if high - low <= _RUN:
            starts = np.sort(places[low:high])
            return np.unique(np.searchsorted(self.starts, starts, side="right") - 1)
        marked = np.zeros(len(self.text), np.bool_)
        for at in range(low, high, _RUN):
            marked[places[at : min(at + _RUN, high)]] = True
        return np.flatnonzero(np.logical_or.reduceat(marked, self.starts[:-1]))

    def only(self, documents: npt.NDArray[np.bool_], view: SuffixView) -> SuffixView:
        """Return the part of a view that lies in some documents."""
        if view is self.beginnings:
            kept = self.starts[:-1][documents]
        else:
            inside = np.repeat(documents, self.starts[1:] - self.starts[:-1])
            kept = view.places[inside[view.places]]
        return SuffixView(self.text, kept, self.ids, self._numbers, find_hubs(self.text, kept))


def sort_texts(
    documents: Sequence[npt.NDArray[np.int64]],
) -> tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.int64]]:
    """Return what a segment is but for the ids, and the place that each document has in it."""
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
    places = sort_suffixes(text)
    arrays: dict[str, npt.NDArray[Any]] = {
        "alphabet": alphabet,
        "text": text,
        "places": places,
        "starts": starts,
    }
    for which, view in (("anywhere", places), ("beginnings", starts[:-1])):
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


def build_segments(
    documents: Documents, vocabulary: int, end: int | None, max_tokens: int, runner: Runner
) -> Iterator[ClueSegment]:
    """Yield the segments of documents, in order; equal documents come once.

    The runner sorts suffixes, which takes nearly all the time; which documents are equal is told here.
    """
    # Of each batch: how many documents come before it, and the ids that were met while it was filled, each
    # with the number of the batch that has the document, and its place there.
    bases = [0]
    names: list[list[tuple[int, int, str]]] = [[]]

    def batches() -> Iterator[list[Tokens]]:
        seen: dict[bytes, tuple[int, int]] = {}
        batch: list[Tokens] = []
        size = 0
        for doc_id, given in documents:
            tokens = np.asarray(given, np.int64).reshape(-1)
            if not len(tokens):
                continue
            if not 0 <= int(tokens.min()) <= int(tokens.max()) < vocabulary:
                what = f"The document {doc_id} has a token outside of the vocabulary of {vocabulary:,}."
                raise ConfigError(what, hint="Build the index with the tokeniser that made the tokens.")
            if end is not None:
                tokens = np.append(tokens, end)
            key = hashlib.blake2b(tokens.tobytes(), digest_size=16).digest()
            if key not in seen:
                if batch and size + len(tokens) + 1 > max_tokens:
                    base = bases[-1] + len(batch)
                    yield batch
                    bases.append(base)
                    names.append([])
                    batch, size = [], 0
                seen[key] = len(names) - 1, len(batch)
                batch.append(tokens)
                size += len(tokens) + 1
            names[-1].append((*seen[key], doc_id))
        if batch:
            yield batch

    waiting: dict[int, Arrays] = {}
    places: dict[int, npt.NDArray[np.int64]] = {}
    for number, (arrays, moved) in carry(runner, sort_texts, batches()):
        waiting[number], places[number] = arrays, moved
        while (following := len(places) - len(waiting)) in waiting:
            own = ((bases[n] + int(places[n][at]), doc_id) for n, at, doc_id in names[following])
            owned = sorted(own)
            ids = StoredSegment.pack({"names": StringTable.of(name for _, name in owned)})
            owners = np.array([owner for owner, _ in owned], np.uint32)
            yield ClueSegment({**waiting.pop(following), **ids, "owners": owners})


_NONE: Final = np.empty(0, np.int64)
_FEW: Final = 64

Span = tuple[int, int, int]  # Number of a segment, and a run of its suffixes


@dataclass(frozen=True, eq=False)
class Restriction:
    """Some documents of an index, in which clues must occur."""

    index: ClueIndex
    mask: npt.NDArray[np.bool_]
    ids: frozenset[str]
    _views: dict[str, list[SuffixView]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    def views(self, start: Start) -> list[SuffixView]:
        """Return the suffixes of these documents alone, for each segment."""
        if start not in self._views:
            runs = zip(self.index.bases, self.index.segments, strict=False)
            self._views[start] = [
                segment.only(self.mask[base : base + len(segment)], segment.view(start))
                for base, segment in runs
            ]
        return self._views[start]


@dataclass(slots=True, eq=False)
class ClueCursor:
    """A clue and where it occurs; false if it occurs nowhere.

    `extend` gives a new cursor, so that beams can share one. Uniqueness and documents always refer to
    the whole index, also where `next_tokens` is restricted.
    """

    _index: ClueIndex
    _views: list[SuffixView]
    _guide: tuple[Span, ...]
    _whole: tuple[Span, ...] | None  # None where the guide is the whole
    depth: int = 0

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
            spans: list[Span] = []
            for n, low, high in whole if guide else ():
                low, high = segments[n].anywhere.find(tokens, low, high, depth)
                if low < high:
                    spans.append((n, low, high))
            whole = tuple(spans)
        return ClueCursor(self._index, self._views, tuple(guide), whole, depth + len(tokens))

    def next_tokens(self) -> npt.NDArray[np.int64]:
        """Return the tokens that can follow, ascending, each once; none at the end of documents."""
        guide = self._guide
        if len(guide) == 1:
            n, low, high = guide[0]
            return self._views[n].continuations(low, high, self.depth)
        tokens = [self._views[n].continuations(low, high, self.depth) for n, low, high in guide]
        return _union(tokens, self._index.vocabulary) if tokens else _NONE

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
        document = self._index.segments[n].one_document(low, high)
        return None if document is None else self._index.bases[n] + document

    def documents(self) -> list[tuple[str, ...]]:
        """Return the documents in which the clue occurs, each as all its ids, in order of the first."""
        ids = []
        for n, low, high in self._everywhere():
            base = self._index.bases[n]
            numbers = self._index.segments[n].documents_in(low, high).tolist()
            ids += [self._index.ids_of(base + number) for number in numbers]
        return sorted(ids)

    def _everywhere(self) -> tuple[Span, ...]:
        if not self._guide:
            return ()
        return self._guide if self._whole is None else self._whole


def _union(parts: Sequence[npt.NDArray[np.int64]], vocabulary: int) -> npt.NDArray[np.int64]:
    """Return the token ids of several ascending arrays, ascending, each once."""
    if sum(map(len, parts)) <= _FEW:
        return np.array(sorted({token for part in parts for token in part.tolist()}), np.int64)
    # Marks are quicker than sorting.
    marked = np.zeros(vocabulary, np.bool_)
    for part in parts:
        marked[part] = True
    return np.flatnonzero(marked)


KIND: Final = Kind("clue index", 4, "Build it anew with `mrag clues build`.")


Start: TypeAlias = Literal["anywhere", "beginning"]
"""Where clues may begin: at any token of a document, or at its first."""


class ClueIndex:
    """Documents as sequences of tokens, and every clue that occurs in them.

    A clue never matches across the end of a document. Equal documents count as one, which has all their
    ids; a document without tokens cannot be found and is left out.

    Example:
        >>> index = ClueIndex.build([("a", [1, 2, 3]), ("b", [1, 2, 4]), ("c", [1, 2, 3])], 10)
        >>> index.next_tokens([1, 2]).tolist(), index.count([1, 2]), len(index)
        ([3, 4], 2, 2)
        >>> index.is_unique([2, 3]), index.documents([2, 3]), index.documents([3, 1])
        (True, ['a', 'c'], [])
    """

    def __init__(
        self, segments: Sequence[ClueSegment], vocabulary: int, end: int | None, extra: Mapping[str, Any]
    ) -> None:
        self.segments = tuple(segments)
        self.vocabulary = vocabulary
        self.end = end
        self.extra = extra
        self.bases = [0, *accumulate(map(len, self.segments))]
        self._roots: dict[Start, ClueCursor] = {}

    @classmethod
    def build(
        cls,
        documents: Documents,
        vocabulary: int,
        *,
        end: int | None = None,
        folder: Path | None = None,
        segment_tokens: int = SEGMENT_TOKENS,
        extra: Mapping[str, Any] | None = None,
        runner: Runner | None = None,
    ) -> ClueIndex:
        """Build an index.

        Args:
            documents: Id and token ids of each document. An id may have several documents.
            vocabulary: Number of token ids; each is below it.
            end: Token to put behind each document, so that a clue can say that a document ends; the
                end token of a model's tokeniser. None for none.
            folder: Where to keep the index, replacing the one that is there once the new one is whole.
                None for memory alone.
            segment_tokens: Most tokens of a segment; what is built at a time is held in memory.
            extra: What to keep with the index.
            runner: What builds segments, see `mrag.jobs`; this process by default.

        Raises:
            ConfigError: If a token is not below `vocabulary`.
            IndexError_: If the folder cannot be written, or another writer is at it.
        """
        segments = build_segments(documents, vocabulary, end, segment_tokens, runner or InlineRunner())
        about: dict[str, Any] = {"vocabulary": vocabulary, "end": end, "extra": dict(extra or {})}
        if folder is None:
            return cls(list(segments), **about)
        place = _folder(folder)
        with place.lock(), place.refusals():
            place.put(None, 0, segments, None, about)
        return cls.open(place.path)

    @classmethod
    def open(cls, folder: Path) -> ClueIndex:
        """Open an index that was kept. All of it is read and checked.

        Raises:
            MissingIndex: If there is none.
            IndexMismatch: If another version of the package wrote it.
            DamagedIndex: If it is damaged.
        """
        return _folder(folder).read(lambda committed, segments, _: cls(segments, **committed.about))

    @property
    def tokens(self) -> int:
        """Number of tokens, equal documents counted once."""
        return sum(segment.tokens for segment in self.segments)

    def __len__(self) -> int:
        return self.bases[-1]

    def cursor(self, *, start: Start = "anywhere", restriction: Restriction | None = None) -> ClueCursor:
        """Return a cursor at the empty clue, to be extended token by token."""
        if restriction is None and start in self._roots:
            return self._roots[start]
        views = [segment.view(start) for segment in self.segments]
        if restriction is not None:
            views = restriction.views(start)
        guide = tuple((n, 0, len(view)) for n, view in enumerate(views) if len(view))
        whole = tuple((n, 0, len(segment.anywhere)) for n, segment in enumerate(self.segments))
        root = ClueCursor(self, views, guide, None if start == "anywhere" and restriction is None else whole)
        if restriction is None:
            self._roots[start] = root
        return root

    def at(
        self, clue: Iterable[int], *, start: Start = "anywhere", restriction: Restriction | None = None
    ) -> ClueCursor:
        """Return the cursor at a clue; it is dead if the clue does not occur."""
        return self.cursor(start=start, restriction=restriction).follow(_list(clue))

    def next_tokens(
        self, prefix: Iterable[int], *, start: Start = "anywhere", restriction: Restriction | None = None
    ) -> npt.NDArray[np.int64]:
        """Return the tokens that follow a prefix somewhere, ascending, each once."""
        if restriction is None and len(self.segments) == 1:
            # The same as below, without what a cursor costs.
            view, tokens = self.segments[0].view(start), _list(prefix)
            return view.continuations(*view.find(tokens, 0, len(view), 0), len(tokens))
        return self.at(prefix, start=start, restriction=restriction).next_tokens()

    def count(self, prefix: Iterable[int]) -> int:
        """Return in how many documents a prefix occurs, however often; equal documents count as one."""
        return self.at(prefix).count()

    def is_unique(self, prefix: Iterable[int]) -> bool:
        """Return whether a prefix occurs in exactly one document, however often."""
        return self.at(prefix).is_unique()

    def matches(self, clue: Iterable[int]) -> list[tuple[str, ...]]:
        """Return the documents in which a clue occurs, each as all its ids, in order of the first."""
        return self.at(clue).documents()

    def documents(self, clue: Iterable[int]) -> list[str]:
        """Return the ids of the documents in which a clue occurs, in their order, each once."""
        return sorted({doc_id for ids in self.matches(clue) for doc_id in ids})

    def ids_of(self, number: int) -> tuple[str, ...]:
        """Return the ids of a document, by its number in the index, in their order."""
        ids: list[str] = []
        for segment in self.segments:
            low, high = np.searchsorted(segment.owners, [number, number + 1]).tolist()
            ids += [segment.names[at] for at in range(low, high)]
        return tuple(sorted(set(ids)))

    def document(self, number: int) -> list[int]:
        """Return the tokens of a document, by its number in the index."""
        at = int(np.searchsorted(self.bases, number, side="right")) - 1
        tokens: list[int] = self.segments[at].document(number - self.bases[at]).tolist()
        return tokens

    def restriction(self, ids: Collection[str]) -> Restriction:
        """Return the restriction to the documents of some ids; ids that the index lacks are ignored."""
        wanted = ids if isinstance(ids, set | frozenset) else frozenset(ids)
        mask = np.zeros(len(self), np.bool_)
        known: set[str] = set()
        for segment in self.segments:
            here = np.fromiter((name in wanted for name in segment.names), np.bool_, len(segment.names))
            mask[segment.owners[here]] = True
            known.update(segment.names[int(at)] for at in np.flatnonzero(here))
        return Restriction(self, mask, frozenset(known))


def _folder(path: Path) -> SegmentFolder[ClueSegment]:
    return SegmentFolder(Path(path), KIND, ClueSegment)


def _list(clue: Iterable[int]) -> list[int]:
    # Numbers of numpy are many times slower to look up than those of Python.
    return clue.tolist() if isinstance(clue, np.ndarray) else list(clue)
