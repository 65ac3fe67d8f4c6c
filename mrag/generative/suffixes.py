"""Suffix arrays, and what can be asked of a run of suffixes: the heart of the clue index."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.storage.arrays import Arrays

HUB = 1024
"""Runs longer than this have their continuations worked out when the index is built."""

_SMALL: Final = 24
_DEPTH: Final = 64
_REMEMBERED: Final = 1024


class Places:
    """Places in a text, in three bytes each where the text is short enough, else in four."""

    __slots__ = ("_high", "_low", "high", "low")

    def __init__(self, low: npt.NDArray[np.uint16], high: npt.NDArray[Any]) -> None:
        self.low, self.high = low, high
        self._low, self._high = low.data, high.data

    @classmethod
    def of(cls, places: npt.NDArray[Any]) -> Places:
        """Pack places, each below 2**32."""
        small = not len(places) or int(places.max()) < 1 << 24
        high = (places >> 16).astype(np.uint8 if small else np.uint16)
        return cls((places & 0xFFFF).astype(np.uint16), high)

    def __len__(self) -> int:
        return len(self.low)

    def one(self, at: int) -> int:
        """Return one place."""
        return int(self._low[at] | self._high[at] << 16)

    def some(self, low: int, high: int) -> npt.NDArray[np.int64]:
        """Return a run of places."""
        found = self.high[low:high].astype(np.int64)
        found <<= 16
        found |= self.low[low:high]
        return found


class SuffixView:
    """Suffixes of a text in order, all of them or some, with the continuations of its hubs."""

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
        self._text = text.data
        self._low, self._high = places.low.data, places.high.data
        self._hubs: dict[tuple[int, int], tuple[int, int]] = {}
        self._next: Any = None
        self._from: Any = None
        self._remembered: dict[tuple[int, int, int], npt.NDArray[np.int64]] = {}
        if hubs is not None:
            self._next, self._from = hubs["next"], hubs["from"]
            self._next_view, self._from_view = self._next.data, self._from.data
            ends = hubs["end"].tolist()
            begins = [0, *ends][:-1]
            keys = zip(hubs["depth"].tolist(), hubs["low"].tolist(), strict=True)
            self._hubs = dict(zip(keys, zip(begins, ends, strict=True), strict=True))

    def __len__(self) -> int:
        return len(self.places)

    def number(self, at: int, depth: int) -> int:
        """Return the number that the suffix at a place of the order has at a depth."""
        return int(self._text[(self._low[at] | self._high[at] << 16) + depth])

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
        text, lows, highs = self._text, self._low, self._high
        if high - low == 1:
            return (low, high) if text[(lows[low] | highs[low] << 16) + depth] == number else (low, low)
        suffixes = range(high)

        def at_depth(at: int) -> int:
            return text[(lows[at] | highs[at] << 16) + depth]

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
                place = (self._low[low] | self._high[low] << 16) + depth + at
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
        text, lows, highs = self._text, self._low, self._high
        first = text[(lows[low] | highs[low] << 16) + depth]
        size = high - low
        # The numbers of a run ascend, so that equal ends are equal throughout.
        if size == 1 or text[(lows[high - 1] | highs[high - 1] << 16) + depth] == first:
            return self.ids[first : first + 1] if first else self.ids[:0]
        if size <= _SMALL:
            found = dict.fromkeys([text[(lows[i] | highs[i] << 16) + depth] for i in range(low, high)])
            found.pop(0, None)
            return self.ids[list(found)]
        if size > HUB:
            hub = self._hubs.get((depth, low))
            if hub is not None:
                found_ids: npt.NDArray[np.int64] = self.ids[self._next[hub[0] : hub[1]]]
                return found_ids
            return self._remember(low, high, depth)
        return self._gather(low, high, depth)

    def _gather(self, low: int, high: int, depth: int) -> npt.NDArray[np.int64]:
        numbers = self.text[self.places.some(low, high) + depth]
        new = np.empty(len(numbers), np.bool_)
        new[0] = numbers[0] != 0
        np.not_equal(numbers[1:], numbers[:-1], out=new[1:])
        found: npt.NDArray[np.int64] = self.ids[numbers[new]]
        return found

    def _remember(self, low: int, high: int, depth: int) -> npt.NDArray[np.int64]:
        key = (low, high, depth)
        known = self._remembered.pop(key, None)
        if known is None:
            known = self._gather(low, high, depth)
            while len(self._remembered) >= _REMEMBERED:
                self._remembered.pop(next(iter(self._remembered)), None)
        self._remembered[key] = known
        return known


def find_hubs(text: npt.NDArray[Any], places: Places) -> dict[str, npt.NDArray[Any]]:
    """Work out the continuations of all runs longer than `HUB`."""
    depths, lows, ends, numbers, begins = [], [], [], [], []
    total = 0
    runs = [(0, len(places))] if len(places) > HUB else []
    for depth in range(_DEPTH):
        below: list[tuple[int, int]] = []
        for low, high in runs:
            found = text[places.some(low, high) + depth]
            new = np.flatnonzero(found[1:] != found[:-1]) + 1
            at = np.concatenate([[0], new])
            ups = np.append(new, high - low)
            go_on = found[at] != 0
            at, ups = at[go_on], ups[go_on]
            long = ups - at > HUB
            below += zip((at[long] + low).tolist(), (ups[long] + low).tolist(), strict=True)
            if len(new) == 0:
                continue  # one continuation is found without help
            total += len(at)
            depths.append(depth)
            lows.append(low)
            ends.append(total)
            numbers.append(found[at])
            begins.append((at + low).astype(np.uint32))
        runs = below
    return {
        "depth": np.array(depths, np.uint8),
        "low": np.array(lows, np.uint32),
        "end": np.array(ends, np.uint32),
        "next": np.concatenate(numbers) if numbers else np.empty(0, text.dtype),
        "from": np.concatenate(begins) if begins else np.empty(0, np.uint32),
    }


def sort_suffixes(text: npt.NDArray[Any], *, fast: bool | None = None) -> npt.NDArray[np.int64]:
    """Return the places of a text in the order of the suffixes that begin there."""
    if len(text) == 0 or not text.any():
        return np.empty(0, np.int64)
    if fast is None:
        fast = find_spec("pydivsufsort") is not None
    # Few numbers are sorted faster than a compiled function is found.
    return _divsufsort(text) if fast and len(text) > 64 else _doubling(text)


def _divsufsort(text: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    divsufsort = import_module("pydivsufsort").divsufsort
    # Bytes in the order of significance sort like the numbers; places between them are left out again.
    width = 2 if int(text.max()) < 1 << 16 else 4
    octets = np.array(text.astype(f">u{width}").view(np.uint8))
    if len(octets) >= 1 << 31:
        return _doubling(text)
    order: npt.NDArray[np.int32] = divsufsort(octets)
    order = order[order & (width - 1) == 0] >> (width // 2)
    return order[np.count_nonzero(text == 0) :].astype(np.int64)


def _doubling(text: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Sort by the first numbers, then by twice as many, until no two places are equal."""
    size = len(text)
    padded = np.concatenate([text.astype(np.int64), np.zeros(2, np.int64)])
    step = 3
    key = (padded[:size] << 42) | (padded[1 : size + 1] << 21) | padded[2 : size + 2]
    if int(text.max()) >= 1 << 21:
        step, key = 1, padded[:size]
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.empty(size, np.bool_)
    first[0] = True
    np.not_equal(sorted_key[1:], sorted_key[:-1], out=first[1:])
    # The rank of a group is the place where it begins, so that ranks hold while groups are divided.
    rank = np.empty(size + 1, np.int64)
    rank[order] = np.maximum.accumulate(np.where(first, np.arange(size), 0))
    rank[size] = -1
    ends = np.flatnonzero(text == 0)
    to_end = ends[np.searchsorted(ends, np.arange(size))] - np.arange(size)
    while True:
        begins = np.flatnonzero(first)
        sizes = np.diff(begins, append=size)
        open_groups = sizes > 1
        if not open_groups.any():
            break
        # A group reaches the end of its documents together or not at all.
        open_groups &= to_end[order[begins]] >= step
        begins, sizes = begins[open_groups], sizes[open_groups]
        if not len(begins):
            break
        at = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        places = order[at]
        group = np.repeat(begins, sizes)
        behind = rank[np.minimum(places + step, size)]
        again = np.lexsort((behind, group))
        order[at] = places[again]
        group, behind = group[again], behind[again]
        new = np.empty(len(at), np.bool_)
        new[0] = True
        np.logical_or(group[1:] != group[:-1], behind[1:] != behind[:-1], out=new[1:])
        first[at] = new
        rank[order[at]] = np.maximum.accumulate(np.where(new, at, 0))
        step *= 2
    return order[np.count_nonzero(text == 0) :].astype(np.int64)
