"""What the combinations of one round of a beam hold, counted at once, and the best of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.cel.beam.conditions import Places
from mrag.cel.problem import Measure
from mrag.cel.semantics.bits import Bits, ExampleBits, Numbers, Qualities, mixed
from mrag.cel.syntax.cost import ALTERNATIVE

_CELLS = 500_000
"""Most combinations that are counted at once; more of them would not stay in the cache of a processor."""


@dataclass(frozen=True)
class State:
    """A combination: how it was made, what it holds, how long it is and what it costs."""

    parts: tuple[State | int, int] | int
    conjunction: bool
    bits: Bits
    length: int
    cost: int


Ranked: TypeAlias = tuple[State, int, int]
"""A combination, and how many positive and negative examples it holds."""


class BeamRound:
    """Counts combinations of states with conditions.

    Most of many combinations have the same counts and the same cost as others, so that only few different
    ones have to be scored and put in order.

    Args:
        bits: Counts examples.
        rows: What each condition holds.
        lengths: How long each condition is.
        costs: What each condition costs.
        max_length: Longest combination.
    """

    def __init__(
        self, bits: ExampleBits, rows: Bits, lengths: Numbers, costs: Numbers, max_length: int
    ) -> None:
        self.bits, self.rows, self.lengths, self.costs = bits, rows, lengths, costs
        self.max_length = max_length
        self._columns = np.ascontiguousarray((rows & bits.inside).T)
        self._made: list[tuple[Sequence[State], bool, Places]] = []
        self._held: list[npt.NDArray[np.int64]] = []
        self._costs: list[Numbers] = []

    def alone(self) -> int:
        """Count the conditions themselves, and return how many there are."""
        places = np.flatnonzero(self.lengths <= self.max_length)
        self._add((), True, places, self._columns[:, places][:, None, :], self.costs[places][None, :])
        return places.size

    def combined(self, states: Sequence[State]) -> Iterator[int]:
        """Count the states with each condition, by `⊓` and by `⊔`; yield how many were counted each time."""
        ordered = sorted(states, key=lambda s: s.length)
        for size, group in groupby(ordered, key=lambda s: s.length):
            alike = list(group)
            places = np.flatnonzero(self.lengths < self.max_length - size)
            several = max(1, _CELLS // max(places.size, 1))
            rows, costs = self._columns[:, places], self.costs[places]
            for start in range(0, len(alike) if places.size else 0, several):
                some = alike[start : start + several]
                held = (np.array([s.bits for s in some]) & self.bits.inside).T[:, :, None]
                prices = costs[None, :] + np.array([s.cost + 1 for s in some])[:, None]
                self._add(some, True, places, rows[:, None, :] & held, prices)
                self._add(some, False, places, rows[:, None, :] | held, prices + ALTERNATIVE)
                yield 2 * prices.size

    def _add(
        self, states: Sequence[State], conjunction: bool, places: Places, made: Bits, costs: Numbers
    ) -> None:
        kind = np.uint16 if max(self.bits.positives, self.bits.negatives) < 2**16 else np.uint32
        ones, split = np.bitwise_count(made), self.bits.split
        tp, fp = (part.sum(axis=0, dtype=kind) for part in (ones[:split], ones[split:]))
        self._held.append((tp.astype(np.int64) * (self.bits.negatives + 1) + fp).ravel())
        self._costs.append(np.broadcast_to(costs, tp.shape).ravel())
        self._made.append((states, conjunction, places))

    def ranked(self, measure: Measure, penalty: float, shares: Sequence[int]) -> Iterator[Iterator[Ranked]]:
        """Yield the combinations with their counts, the best first: in all, for `⊓`, and for `⊔`.

        What holds the same as one of its parts is left out.

        Args:
            measure: What is to be maximised.
            penalty: Quality that each symbol costs.
            shares: About how many of each kind are wanted.
        """
        if not self._held:
            return
        costs = np.concatenate(self._costs)
        dear = int(costs.max(initial=0)) + 1
        codes = np.concatenate(self._held) * dear + costs
        many = (self.bits.positives + 1) * (self.bits.negatives + 1) * dear
        if many <= 4 * codes.size + 2**16:
            numbers = np.bincount(codes, minlength=many)
            keys = kinds = np.flatnonzero(numbers)
            numbers = numbers[kinds]
        else:
            kinds, codes, numbers = np.unique(codes, return_inverse=True, return_counts=True)
            keys, many = np.arange(kinds.size), kinds.size
        held, price = np.divmod(kinds, dear)
        tp, fp = np.divmod(held, self.bits.negatives + 1)
        telling = np.flatnonzero(self.bits.informative(tp, fp))
        tp, fp, price, keys, numbers = (x[telling] for x in (tp, fp, price, keys, numbers))
        right, wrong = tp / self.bits.positives, fp / self.bits.negatives
        spent = penalty * price
        scores = (
            self.bits.qualities(tp, fp, measure) - spent,
            4 * right - wrong - spent,
            right - 4 * wrong - spent,
        )
        ranks = np.zeros(many, dtype=np.int32)

        def best(values: Qualities, share: int) -> Iterator[Ranked]:
            order = np.lexsort((price, -values))
            reached = np.cumsum(numbers[order])
            done, wanted = 0, 4 * max(share, 1)
            while done < order.size:
                before = int(reached[done - 1]) if done else 0
                end = int(np.searchsorted(reached, before + wanted)) + 1
                some = order[done:end]
                ranks[keys[some]] = np.arange(1, some.size + 1)
                found = ranks[codes]
                ranks[keys[some]] = 0
                places = np.flatnonzero(found)
                places = places[np.argsort(found[places], kind="stable")]
                for at, state in self._states(places, costs):
                    kind = some[found[at] - 1]
                    yield state, int(tp[kind]), int(fp[kind])
                done, wanted = end, 8 * wanted

        for values, share in zip(scores, shares, strict=True):
            yield best(values, share)

    def _states(self, places: Places, costs: Numbers) -> Iterator[tuple[int, State]]:
        """Yield the combinations at some places, of those that hold the same the first."""
        starts = np.cumsum([0, *(h.size for h in self._held)])
        groups = np.searchsorted(starts, places, side="right") - 1
        bits = np.empty((places.size, self.rows.shape[1]), dtype=np.uint64)
        parts = np.empty((places.size, 2), dtype=np.intp)
        new = np.ones(places.size, dtype=bool)
        for group in map(int, np.unique(groups)):
            states, conjunction, among = self._made[group]
            inside = np.flatnonzero(groups == group)
            which, place = np.divmod(places[inside] - starts[group], among.size)
            parts[inside, 0], parts[inside, 1] = which, among[place]
            rows = self.rows[among[place]]
            if states:
                held = np.array([s.bits for s in states])[which]
                joined = rows & held if conjunction else rows | held
                new[inside] = (joined != rows).any(axis=1) & (joined != held).any(axis=1)
                rows = joined
            bits[inside] = rows
        _, first = np.unique(mixed(bits), return_index=True)
        for i in map(int, np.sort(first)):
            if new[i]:
                states, conjunction, _ = self._made[int(groups[i])]
                condition, at = int(parts[i, 1]), int(places[i])
                length, price = int(self.lengths[condition]), int(costs[at])
                if not states:
                    yield at, State(condition, True, bits[i], length, price)
                else:
                    state = states[int(parts[i, 0])]
                    size = state.length + length + 1
                    yield at, State((state, condition), conjunction, bits[i], size, price)
