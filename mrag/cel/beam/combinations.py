"""Combinations of conditions over bitsets, by a beam, then by branch and bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from mrag.cel.beam.conditions import Conditions
from mrag.cel.learners.base import FitState
from mrag.cel.problem import ExampleCounts, Measure, quality
from mrag.cel.semantics.bits import Bits, ExampleBits, Numbers, Qualities
from mrag.cel.syntax.cost import ALTERNATIVE, cost
from mrag.cel.syntax.expressions import And, Expression, Or, length
from mrag.cel.syntax.normal_form import normal


class CombinationSettings(Protocol):
    """What a search over combinations goes by."""

    @property
    def measure(self) -> Measure:
        """What is to be maximised."""

    @property
    def top(self) -> int:
        """Most hypotheses returned."""

    @property
    def max_length(self) -> int:
        """Longest hypothesis."""

    @property
    def penalty(self) -> float:
        """Quality that each symbol costs."""

    @property
    def exact(self) -> int:
        """Most combinations that branch and bound tries."""


@dataclass(frozen=True)
class State:
    """A combination: how it was made, what it holds, how long it is and what it costs."""

    parts: tuple[State | int, int] | int
    conjunction: bool
    bits: Bits
    length: int
    cost: int


_Made: TypeAlias = tuple[State | None, bool, Bits, Numbers, Numbers]
"""What a combination was built on, whether by `⊓`, what the new ones hold, their lengths and costs."""


class CombinationSearch:
    """One search over combinations of given conditions.

    Args:
        fit: The examples; what is found is offered to it, unless `bits` are given.
        settings: The limits.
        conditions: The conditions.
        beam: How many combinations are built on at each round.
        bits: Counts in a part of the examples.

    Attributes:
        front: The best combination at each cost, with its quality.
    """

    def __init__(
        self,
        fit: FitState,
        settings: CombinationSettings,
        conditions: Conditions,
        beam: int,
        bits: ExampleBits | None = None,
    ) -> None:
        self.fit, self.settings, self.conditions, self.width = fit, settings, conditions, beam
        self.offering = bits is None
        self.bits: ExampleBits = fit.bits if bits is None else bits
        self.rows: Bits = fit.bits.pack(conditions.table)
        self.lengths: Numbers = conditions.lengths
        self.costs: Numbers = conditions.costs
        self.front: dict[int, tuple[float, State]] = {}
        self.made: list[State] = []
        self.notes: list[tuple[float, State, ExampleCounts]] = []
        self.best = -1.0

    def beam(self) -> None:
        """Combine conditions round by round, keeping the best combinations of each."""
        self.fit.tick(len(self.rows))
        states = self.chosen([(None, True, self.rows, self.lengths, self.costs)])
        while states and not self.flawless():
            fresh: list[_Made] = []
            for state in states:
                for conjunction in (True, False):
                    rows = self.rows & state.bits if conjunction else self.rows | state.bits
                    lengths = self.lengths + state.length + 1
                    costs = self.costs + state.cost + (1 if conjunction else 1 + ALTERNATIVE)
                    fresh.append((state, conjunction, rows, lengths, costs))
                self.fit.tick(2 * len(self.rows))
            before = self.best
            states = self.chosen(fresh)
            if self.best <= before:
                break
            # They serve as conditions later on, so that (A ⊓ B) ⊔ (C ⊓ D) can be reached.
            self.extend([s for s in states if 2 * s.length <= self.settings.max_length])

    def flawless(self) -> bool:
        """Return whether no longer combination can be better."""
        return self.best >= 1.0 - self.settings.penalty * (2 + int(self.costs.min(initial=1)))

    def extend(self, states: list[State]) -> None:
        """Add combinations to the conditions."""
        if states:
            self.made.extend(states)
            self.rows = np.vstack([self.rows, *(s.bits[None, :] for s in states)])
            self.lengths = np.append(self.lengths, [s.length for s in states])
            self.costs = np.append(self.costs, [s.cost for s in states])

    def chosen(self, made: Sequence[_Made]) -> list[State]:
        """Score combinations, offer the best and return those to build on."""
        # Beside the best in all, some that hold nearly all positive examples and some that hold nearly no
        # negative one: `⊓` makes good ones of the first, `⊔` of the second.
        half = self.width // 2
        shares = (self.width - 2 * (half // 2), half // 2, half // 2)
        starts = np.cumsum([0, *(len(rows) for _, _, rows, _, _ in made)])
        sizes = np.concatenate([lengths for *_, lengths, _ in made])
        costs = np.concatenate([costs for *_, costs in made])
        counted = [self.bits.count(rows) for _, _, rows, _, _ in made]
        tp, fp = (np.concatenate(found) for found in zip(*counted, strict=True))
        of = np.flatnonzero((sizes <= self.settings.max_length) & self.bits.informative(tp, fp))
        tp, fp, sizes, costs = tp[of], fp[of], sizes[of], costs[of]
        cost = self.settings.penalty * costs
        held, wrong = tp / self.bits.positives, fp / self.bits.negatives
        kinds = (self.scores(tp, fp, costs), 4 * held - wrong - cost, held - 4 * wrong - cost)
        best: dict[bytes, State] = {}
        for scores, share in zip(kinds, shares, strict=True):
            end = len(best) + share
            for at in _first(scores, costs, 4 * share):
                if len(best) == end:
                    break
                group = int(np.searchsorted(starts, of[at], side="right")) - 1
                state, conjunction, rows, _, _ = made[group]
                place = int(of[at] - starts[group])
                row = rows[place]
                if row.tobytes() not in best:
                    parts = place if state is None else (state, place)
                    new = State(parts, conjunction, row, int(sizes[at]), int(costs[at]))
                    best[row.tobytes()] = new
                    self.best = max(self.best, self.noted(new, int(tp[at]), int(fp[at])))
        return list(best.values())

    def noted(self, state: State, tp: int, fp: int) -> float:
        """Remember a combination and return its score."""
        counts = ExampleCounts(tp, fp, self.bits.positives, self.bits.negatives)
        value = quality(counts, self.settings.measure)
        known = self.front.get(state.cost)
        if known is None or value > known[0]:
            self.front[state.cost] = value, state
        if not self.offering:
            return value - self.settings.penalty * state.cost
        if counts.perfect:
            # Whether to go on depends on its real length.
            return self.offered(self.written(state), counts)
        if value >= self.fit.worst:
            self.notes.append((value, state, counts))
        return value - self.settings.penalty * state.cost

    def flush(self) -> None:
        """Offer the best of the combinations remembered; to write all out would take long."""
        self.notes.sort(key=lambda note: (-note[0], note[1].cost))
        for _, state, counts in self.notes[: 2 * max(self.settings.top, 20)]:
            self.offered(self.written(state), counts)
        self.notes.clear()

    def written(self, state: State | int) -> Expression:
        """Return the expression of a combination or of the condition at a place."""
        if isinstance(state, int):
            own = len(self.conditions)
            return self.conditions.expression(state) if state < own else self.written(self.made[state - own])
        if isinstance(state.parts, int):
            return self.written(state.parts)
        parts = tuple(map(self.written, state.parts))
        return And(parts) if state.conjunction else Or(parts)

    def offered(self, expression: Expression, counts: ExampleCounts) -> float:
        """Propose a hypothesis if it is short enough, and return its score."""
        shape = normal(expression)
        if length(shape) > self.settings.max_length:
            return -1.0
        return self.fit.offer(shape, counts, shaped=True) - self.settings.penalty * cost(shape)

    def scores(self, tp: Numbers, fp: Numbers, costs: Numbers) -> Qualities:
        """Return qualities less the penalty for what they cost."""
        values = self.bits.qualities(tp, fp, self.settings.measure)
        found: Qualities = values - self.settings.penalty * costs
        return found

    def exact(self, *, conjunction: bool) -> bool:
        """Go through the conjunctions or disjunctions of conditions that could be the best.

        Returns:
            Whether all were tried or ruled out.
        """
        order = np.argsort(self.costs, kind="stable")
        rows, lengths, costs = self.rows[order], self.lengths[order], self.costs[order]
        joint = 1 if conjunction else 1 + ALTERNATIVE
        neutral = self.bits.all if conjunction else np.zeros_like(self.bits.all)
        stack: list[tuple[tuple[int, ...], Bits, int, int]] = [((), neutral, -1, -joint)]
        spent = 0
        while stack:
            path, held, size, price = stack.pop()
            start = path[-1] + 1 if path else 0
            made = rows[start:] & held if conjunction else rows[start:] | held
            sizes, prices = lengths[start:] + size + 1, costs[start:] + price + joint
            spent += len(made)
            if spent > self.settings.exact:
                return False
            self.fit.tick(len(made))
            tp, fp = self.bits.count(made)
            scores = self.scores(tp, fp, prices)
            scores[(sizes > self.settings.max_length) | ~self.bits.informative(tp, fp)] = -np.inf
            for at in map(int, np.flatnonzero(scores > self.best)):
                if scores[at] > self.best:
                    self.best = float(scores[at])
                    parts = tuple(self.written(int(order[i])) for i in (*path, start + at))
                    counts = self.fit.counts(tp[at], fp[at])
                    self.offered(And(parts) if conjunction else Or(parts), counts)
            bound_tp, bound_fp = (tp, fp * 0) if conjunction else (tp * 0 + self.bits.positives, fp)
            # Conditions stand in order of cost: the next costs at least as much as this one.
            bounds = self.scores(bound_tp, bound_fp, prices + joint + costs[start:])
            children = np.flatnonzero((bounds > self.best) & (sizes + 2 <= self.settings.max_length))
            for at in map(int, children[np.argsort(bounds[children], kind="stable")]):
                stack.append(((*path, start + at), made[at], int(sizes[at]), int(prices[at])))
        return True


def _first(scores: Qualities, sizes: Numbers, n: int) -> Iterator[int]:
    """Yield where the largest scores stand, of equal ones the shortest first.

    Few are ever asked for, so they are not sorted but in steps of at least `n`, cut off at one of 256 levels.
    """
    if not scores.size:
        return
    low, high = float(scores.min()), float(scores.max())
    levels = ((scores - low) * (255 / max(high - low, 1e-12))).astype(np.uint8)
    reached = np.cumsum(np.bincount(levels, minlength=256)[::-1])
    above = 256
    while above > 0:
        done = int(reached[255 - above]) if above < 256 else 0
        level = 255 - int(np.searchsorted(reached, min(done + n, int(reached[-1]))))
        places = np.flatnonzero((levels >= level) & (levels < above))
        yield from map(int, places[np.lexsort((places, sizes[places], -scores[places]))])
        above, n = level, 8 * n
