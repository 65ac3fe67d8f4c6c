"""The best k documents of a segment, exactly, without working out every score.

What a document can reach at most is known from the number of nodes that it shares, so documents are
taken in order of that number until no other can come in.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mrag.graphcodes.index.counts import Floats, Rows, SegmentCounts, Values
from mrag.graphcodes.metrics import CodeScores, Lexicographic, Weighted

_NAMES: Final = ("features", "relations", "types")
_AHEAD: Final = 16  # how many times k documents are worked out at once where bounds say little
_MARGIN: Final = 1 + 1e-12  # so that rounding never shuts out a tie

Best = tuple[Rows, Floats]
"""Rows, and their values of shape (rows, 3), best first."""


def all_values(counts: SegmentCounts) -> Floats:
    """Work out the three values of every document of a segment, shape (documents, 3)."""
    size = len(counts.segment)
    rows = np.arange(size)
    values = np.stack(counts.values(rows, None), axis=1)
    if len(counts.touched):
        touched = np.arange(len(counts.touched))
        values[counts.touched] = np.stack(counts.values(counts.touched, touched), axis=1)
    return values


def weighted(values: Values, aggregate: Weighted) -> Floats:
    """Aggregate with the operations of `Weighted` in their order."""
    total = aggregate.features + aggregate.relations + aggregate.types
    mean = aggregate.features * values[0]
    mean += aggregate.relations * values[1]
    mean += aggregate.types * values[2]
    return np.minimum(1.0, mean / total)


def _keys(values: Values, aggregate: Weighted | Lexicographic) -> list[Floats]:
    if isinstance(aggregate, Weighted):
        return [weighted(values, aggregate)]
    return [values[_NAMES.index(name)] for name in aggregate.order]


class _Kept:
    """The best k so far."""

    def __init__(self, k: int, aggregate: Weighted | Lexicographic) -> None:
        self.k, self.aggregate = k, aggregate
        self.rows = np.empty(0, np.int64)
        self.values: Values = (np.empty(0), np.empty(0), np.empty(0))
        self.worst = -np.inf

    def take(self, rows: Rows, values: Values) -> None:
        keys = _keys(values, self.aggregate)
        if len(rows) > 4 * self.k:
            # Only what reaches the k-th first key can be among the best.
            places = _highest(keys[0], 4 * self.k)
            high = keys[0][places] if len(places) >= self.k else keys[0]
            lowest = np.partition(high, len(high) - self.k)[len(high) - self.k]
            keep = np.flatnonzero(keys[0] >= max(lowest, self.worst))
            rows, values = rows[keep], (values[0][keep], values[1][keep], values[2][keep])
        rows = np.concatenate([self.rows, rows])
        values = (
            np.concatenate([self.values[0], values[0]]),
            np.concatenate([self.values[1], values[1]]),
            np.concatenate([self.values[2], values[2]]),
        )
        keys = _keys(values, self.aggregate)
        order = np.lexsort([rows, *(-key for key in reversed(keys))])[: self.k]
        self.rows, self.values = rows[order], (values[0][order], values[1][order], values[2][order])
        if len(order) == self.k:
            self.worst = float(keys[0][order[-1]])


def best(counts: SegmentCounts, k: int) -> Best:
    """Return the best k documents that share a node with the question; ties in order of rows."""
    kept = _Kept(k, counts.comparison.aggregate)
    _touched(counts, kept)
    _untouched(counts, kept)
    return kept.rows, np.stack(kept.values, axis=1)


def _touched(counts: SegmentCounts, kept: _Kept) -> None:
    rows = counts.touched
    at = np.arange(len(rows)) if counts.live is None else np.flatnonzero(counts.live[rows])
    if counts.comparison.metric != "paper" or len(at) <= 2 * _AHEAD * kept.k:
        if len(at):
            kept.take(rows[at], counts.values(rows[at], at))
        return
    # The paper's M_RT is the one value that takes long; those that cannot come in are spared it.
    bound = _keys(counts.values(rows[at], at, bound=True), kept.aggregate)[0] * _MARGIN
    first = _highest(bound, _AHEAD * kept.k)
    kept.take(rows[at[first]], counts.values(rows[at[first]], at[first]))
    others = bound >= kept.worst
    others[first] = False
    at = at[others]
    if len(at):
        kept.take(rows[at], counts.values(rows[at], at))


def _untouched(counts: SegmentCounts, kept: _Kept) -> None:
    high = int(counts.count.max(initial=0))
    # Until there are k, level by level; then all levels at once that can still come in.
    while high > 0 and kept.worst == -np.inf:
        rows = counts.levels(high, high)
        if len(rows):
            kept.take(rows, counts.values(rows, None))
        high -= 1
    low = high + 1
    while low > 1 and _reach(counts, low - 1) >= kept.worst:
        low -= 1
    if low <= high:
        rows = counts.levels(low, high)
        if len(rows):
            kept.take(rows, counts.values(rows, None))


def _reach(counts: SegmentCounts, shared: int) -> float:
    """What a document that shares so many nodes, and no edge, can reach of the first key at most."""
    key = counts.comparison.aggregate(CodeScores(*counts.bounds(shared)))
    return (key if isinstance(key, float) else key[0]) * _MARGIN


def _highest(values: Floats, about: int) -> Rows:
    """Return places of the highest values, about so many; a sample says where they begin."""
    step = max(1, len(values) // (64 * about))
    sample = np.sort(values[::step])
    return np.flatnonzero(values >= sample[-max(1, min(len(sample), about // step))])
