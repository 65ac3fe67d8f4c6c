"""What each term adds to the score of each document, and the best documents without scoring all of them.

Only term frequencies are kept; the impacts of a term are worked out when it is first asked for, then cached,
so that a change costs no pass over the index. Each impact is a binary32 number and a multiple of 2^-40, so
that sums are exact in whatever order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.index.compiled.kernels import search_kernels
from mrag.index.segments.bm25_params import Bm25Params
from mrag.index.segments.postings import Postings
from mrag.index.segments.rows import Mask, Ranking, Rows, best, contenders

__all__ = ["Impacts", "best_rows"]

_GRAIN: Final = 2.0**40
_CACHED_BYTES: Final = 64 << 20
_FREQUENT: Final = 8
"""A term that one of this many rows has is kept as a whole column."""
_SMALL = 100_000
"""Rows up to which scoring all of them is as quick as choosing."""
_KEPT_DFS: Final = 100_000
_KEPT_PLACES: Final = 10_000
_TAILS, _TAIL = 64, 1024
"""How many rankings by frequent terms alone are kept, and how long they are."""
_AHEAD: Final = 4
"""How many rows for each that is wanted are scored by all terms first, to leave out more of the others."""
_SLACK: Final = 1 + 2.0**-20
"""What rounding may add to an impact."""


_Place: TypeAlias = tuple[int, npt.NDArray[np.int32], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class _Term:
    rows: npt.NDArray[np.int32]
    impacts: npt.NDArray[np.float32]
    whole: npt.NDArray[np.float32] | None = None
    """The impacts of all rows, for a term that many have; the two others are empty then."""

    def times(self, count: int) -> npt.NDArray[np.float64]:
        """Return the impacts, each so many times: exact only in more bits than they are kept in."""
        return np.multiply(self.impacts, count, dtype=np.float64)

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + self.impacts.nbytes + (0 if self.whole is None else self.whole.nbytes)


class Impacts:
    """The impacts of the terms of some rows.

    Args:
        rows: The documents.
        postings: One per segment of `rows`.
        params: The knobs of BM25.
    """

    def __init__(self, rows: Rows, postings: Sequence[Postings], params: Bm25Params) -> None:
        self.rows, self.postings, self.params = rows, postings, params
        self.tails: dict[tuple[tuple[str, int], ...], Ranking] = {}
        self._dfs: dict[str, int] = {}
        self._tops: dict[str, float] = {}
        self._found: dict[str, list[_Place]] = {}
        self._cache: dict[str, _Term] = {}
        self._cached = 0

    def df(self, name: str) -> int:
        """Return how many rows have a term."""
        if (known := self._dfs.get(name)) is not None:
            return known
        if self.rows.whole:
            found = sum(len(rows) for _, rows, _ in self._places(name))
        else:
            found = sum(int(self.rows.live[rows + base].sum()) for base, rows, _ in self._places(name))
        if len(self._dfs) >= _KEPT_DFS:
            self._dfs = {}
        self._dfs[name] = found
        return found

    def idf(self, name: str) -> float:
        """Return how much a term weighs that some rows have."""
        df = self.df(name)
        if self.params.idf == "plain":
            return math.log(self.rows.count / df)
        return math.log(1 + (self.rows.count - df + 0.5) / (df + 0.5))

    def top(self, name: str) -> float:
        """Return the largest impact of a term that some rows have."""
        if (known := self._tops.get(name)) is None:
            idf = self.idf(name)
            parts = [self._impacts(idf, rows + base, counts) for base, rows, counts in self._places(name)]
            if len(self._tops) >= _KEPT_DFS:
                self._tops = {}
            self._tops[name] = known = max((float(part.max()) for part in parts if len(part)), default=0.0)
        return known

    def norm(self, lengths: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return how much documents of some lengths are held back."""
        relative = lengths / self._mean_length if self._mean_length else np.zeros(len(lengths))
        return self.params.k1 * (1 - self.params.b + self.params.b * relative)

    def counts(self, name: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return for live rows, ascending, how often they have a term."""
        counts = np.zeros(len(rows), np.int32)
        for base, its, count in self._places(name):
            first, last = np.searchsorted(rows, (base, base + int(its[-1]) + 1))
            if first < last:
                # Of another type, all postings would be converted.
                sought = (rows[first:last] - base).astype(np.int32)
                place = np.searchsorted(its, sought)
                counts[first:last] = np.where(its[place] == sought, count[place], 0)
        return counts

    def at(self, name: str, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the impacts of a term at live rows, ascending."""
        counts, impacts = self.counts(name, rows), np.zeros(len(rows))
        if len(has := np.flatnonzero(counts)):
            impacts[has] = self._impacts(self.idf(name), rows[has], counts[has])
        return impacts

    def term(self, name: str) -> _Term:
        """Return the impacts of a term."""
        known = self._cache.get(name)
        if known is not None:
            return known
        df = self.df(name)
        idf = self.idf(name) if df else 0.0
        if df * _FREQUENT > self.rows.total:
            whole = np.zeros(self.rows.total, np.float32)
            for base, rows, counts in self._places(name):
                whole[base:][rows] = self._impacts(idf, rows + base, counts)
            whole[~self.rows.live] = 0
            term = _Term(np.empty(0, np.int32), np.empty(0, np.float32), whole)
        else:
            parts = [(rows + np.int32(base), counts) for base, rows, counts in self._places(name)]
            row = np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in parts)])
            count = np.concatenate([np.empty(0, np.int32), *(counts for _, counts in parts)])
            if not self.rows.whole:
                live = self.rows.live[row]
                row, count = row[live], count[live]
            term = _Term(row, self._impacts(idf, row, count).astype(np.float32))
        # Emptied rather than trimmed: a term comes back for the price of one pass over its postings.
        if self._cached + term.nbytes > _CACHED_BYTES:
            self._cache, self._cached = {}, 0
        self._cached += term.nbytes
        self._cache[name] = term
        return term

    def sums(self, terms: Mapping[str, int]) -> npt.NDArray[np.float64]:
        """Return the scores of all rows for terms, each so many times."""
        rows: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
        impacts, whole = [np.empty(0)], []
        for name, times in terms.items():
            term = self.term(name)
            if term.whole is not None:
                whole.append((term.whole, times))
            else:
                rows.append(term.rows)
                impacts.append(term.times(times))
        row = np.concatenate(rows)
        sums = np.zeros(self.rows.total)
        if len(row):
            sums = np.bincount(row, np.concatenate(impacts), self.rows.total).astype(np.float64, copy=False)
        for column, times in whole:
            sums += np.multiply(column, times, dtype=np.float64) if times > 1 else column
        return sums

    def packed(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the rows of a rare term with its impacts in the lower half, by which they can be sorted."""
        term = self.term(name)
        keys = term.rows.astype(np.uint64)
        keys <<= np.uint64(32)
        keys |= term.impacts.view(np.uint32)
        return keys

    def _places(self, name: str) -> list[_Place]:
        """Return for each segment that has a term its first row, and the term's rows and counts there."""
        if (known := self._found.get(name)) is not None:
            return known
        found = []
        for postings, base in zip(self.postings, self.rows.bases, strict=False):
            at = postings.terms.find(name)
            if at is not None:
                here = slice(int(postings.starts[at]), int(postings.starts[at + 1]))
                found.append((base, postings.rows[here], postings.counts[here]))
        if len(self._found) >= _KEPT_PLACES:
            self._found = {}
        self._found[name] = found
        return found

    def _impacts(
        self, idf: float, rows: npt.NDArray[np.integer], counts: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        exact = idf * counts / (counts + self.norm(self._lengths[rows]))
        return (np.rint(exact * _GRAIN) / _GRAIN).astype(np.float32).astype(np.float64)

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int32]:
        lengths = [postings.lengths for postings in self.postings]
        return lengths[0] if len(lengths) == 1 else np.concatenate(lengths)

    @cached_property
    def _mean_length(self) -> float:
        lengths = self._lengths if self.rows.whole else self._lengths[self.rows.live]
        return int(lengths.sum(dtype=np.int64)) / self.rows.count


def best_rows(impacts: Impacts, query: Mapping[str, int], k: int, mask: Mask | None) -> Ranking:
    """Rank the rows that have a term of a query.

    Args:
        impacts: The impacts of terms.
        query: The terms, each with how often it counts.
        k: How many rows at most, 1 or more.
        mask: True for the rows that may be found; all if left out.

    Returns:
        Rows and their scores, above 0, best first, ties by document ID.
    """
    known = {name: times for name, times in query.items() if impacts.df(name)}
    if impacts.rows.total > _SMALL and known:
        found = _chosen(impacts, known, k, mask)
        if found is not None:
            return found
    scores = impacts.sums(known).astype(np.float32)
    if mask is not None:
        scores[~mask] = 0
    return _ranked(impacts.rows, contenders(scores, k), scores, k)


def _ranked(rows: Rows, found: npt.NDArray[np.int64], scores: npt.NDArray[np.float32], k: int) -> Ranking:
    found = found[scores[found] > 0]
    return rows.order(found, scores[found], k)


def _chosen(impacts: Impacts, query: Mapping[str, int], k: int, mask: Mask | None) -> Ranking | None:
    """Rank rows that have a rare term of a query and, if they do not suffice, those best by the others.

    A row without a rare term cannot score more than the frequent terms weigh (MaxScore: Turtle and Flood,
    1995, Query Evaluation: Strategies and Optimizations). Where that may be enough, the best rows by the
    frequent terms alone are ranked once and kept. None where all rows have to be scored.
    """
    names = sorted(query, key=lambda name: (impacts.df(name), name))
    tops = [query[name] * impacts.top(name) for name in names]
    sizes = np.cumsum([query[name] * impacts.df(name) for name in names])
    rare = int(np.searchsorted(sizes, impacts.rows.total // _FREQUENT, side="right"))
    every, sums = _summed(impacts, [(name, query[name]) for name in names[:rare]])
    rest = {name: query[name] for name in names[rare:]}
    bound = left = sum(tops[rare:]) * _SLACK
    rows = every
    if mask is not None:
        rows, sums = rows[mask[rows]], sums[mask[rows]]
    least = _least(impacts, rows, sums, k, rest)
    rows, sums = _promising(rows, sums, k, left, least)
    for name, top in zip(rest, tops[rare:], strict=True):
        sums = sums + impacts.at(name, rows) * rest[name]
        left -= top
        rows, sums = _promising(rows, sums, k, left, least)
    scores = sums.astype(np.float32)
    enough = len(rows) >= k and np.partition(scores, len(scores) - k)[len(scores) - k] > np.float32(bound)
    if rest and not enough:
        if mask is not None:
            return None
        outside, more, whole = _others(impacts, rest, every)
        if not whole and len(outside) < k:
            return None
        rows, scores = np.concatenate([rows, outside[:k]]), np.concatenate([scores, more[:k]])
    order = np.argsort(rows)
    rows, scores = rows[order], scores[order]
    return impacts.rows.order(rows[scores > 0], scores[scores > 0], k)


def _least(
    impacts: Impacts,
    rows: npt.NDArray[np.int64],
    sums: npt.NDArray[np.float64],
    k: int,
    rest: Mapping[str, int],
) -> float:
    """Return a score that at least k rows reach, if there are so many: the best so far by all terms."""
    if not rest or len(rows) <= _AHEAD * k:
        return 0.0
    ahead = np.flatnonzero(sums >= best(sums, 2 * k))[: _AHEAD * k]
    scores = sums[ahead]
    for name, times in rest.items():
        scores = scores + impacts.at(name, rows[ahead]) * times
    return best(scores, k) if len(scores) >= k else 0.0


def _promising(
    rows: npt.NDArray[np.int64], sums: npt.NDArray[np.float64], k: int, left: float, least: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows that may be among the best k if none gains more than is left."""
    if len(rows) > k:
        # Slightly less, for the binary32 numbers of scores round.
        near = np.flatnonzero(sums >= max(best(sums, k), least) / _SLACK - left * _SLACK)
        rows, sums = rows[near], sums[near]
    return rows, sums


def _summed(
    impacts: Impacts, terms: Sequence[tuple[str, int]]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows that have one of some rare terms, ascending, and their scores by these."""
    if (compiled := search_kernels(impacts.rows.total)) and terms:
        found = [(impacts.term(name), times) for name, times in terms]
        return compiled.merged([(one.rows, one.impacts, n) for one, n in found], impacts.rows.total)
    keys = [impacts.packed(name) for name, times in terms for _ in range(times)]
    if not keys:
        return np.empty(0, np.int64), np.empty(0)
    # Sorting reads memory in order; to add to an array of all rows misses the cache at nearly each.
    every = np.concatenate(keys)
    every.sort()
    parts = every.astype(np.uint32).view(np.float32).astype(np.float64)
    every >>= np.uint64(32)
    rows = every.view(np.int64)
    first = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    return rows[first], np.add.reduceat(parts, first)


def _others(
    impacts: Impacts, terms: Mapping[str, int], known: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], bool]:
    """Return the rows best by frequent terms that are not among known ones, and whether these are all."""
    key = tuple(sorted(terms.items()))
    tail = impacts.tails.get(key)
    if tail is None:
        scores = impacts.sums(terms).astype(np.float32)
        tail = _ranked(impacts.rows, contenders(scores, _TAIL), scores, _TAIL)
        if len(impacts.tails) >= _TAILS:
            impacts.tails = {}
        impacts.tails[key] = tail
    rows, scores = tail
    new = np.ones(len(rows), np.bool_)
    if len(known):
        new = known[np.minimum(np.searchsorted(known, rows), len(known) - 1)] != rows
    return rows[new], scores[new], len(rows) < _TAIL
