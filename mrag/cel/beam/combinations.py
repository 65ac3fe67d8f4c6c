"""Combinations of conditions over bitsets, by a beam, then by branch and bound."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np

from mrag.cel.beam.conditions import Conditions, Places
from mrag.cel.beam.rounds import BeamRound, State
from mrag.cel.learners.base import FitState
from mrag.cel.problem import ExampleCounts, Measure, quality
from mrag.cel.semantics.bits import Bits, ExampleBits, Numbers, Qualities
from mrag.cel.syntax.cost import ALTERNATIVE, cost
from mrag.cel.syntax.expressions import And, Expression, Or, length
from mrag.cel.syntax.normal_form import normal

_NODE = 300
"""What it takes to go one step further in branch and bound, in combinations tried."""


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


Found: TypeAlias = tuple[float, State, ExampleCounts]
"""A combination with its quality and counts."""


class CombinationSearch:
    """One search over combinations of given conditions.

    Args:
        fit: The examples; what is found is offered to it, unless `bits` are given.
        settings: The limits.
        conditions: The conditions.
        beam: How many combinations are built on at each round.
        bits: Counts in a part of the examples.

    Attributes:
        front: The best combination at each cost, with its quality and counts.
        notes: Of the combinations that were built on, those that are to be offered, by what they hold.
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
        self.front: dict[int, Found] = {}
        self.notes: dict[bytes, Found] = {}
        self.made: list[State] = []
        self.best = -1.0

    def beam(self) -> None:
        """Combine conditions round by round, keeping the best combinations of each."""
        self.fit.tick(len(self.rows))
        first = self.round()
        first.alone()
        states = self.chosen(first)
        while states and not self.flawless():
            before = self.best
            combined = self.round()
            for counted in combined.combined(states):
                self.fit.tick(counted)
            states = self.chosen(combined)
            if self.best <= before:
                break
            # They serve as conditions later on, so that (A ⊓ B) ⊔ (C ⊓ D) can be reached.
            self.extend([s for s in states if 2 * s.length <= self.settings.max_length])

    def round(self) -> BeamRound:
        """Return a round without combinations."""
        return BeamRound(self.bits, self.rows, self.lengths, self.costs, self.settings.max_length)

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

    def chosen(self, counted: BeamRound) -> list[State]:
        """Remember the best combinations of a round and return those to build on."""
        # Beside the best in all, some that hold nearly all positive examples and some that hold nearly no
        # negative one: `⊓` makes good ones of the first, `⊔` of the second.
        half = self.width // 2
        shares = (self.width - 2 * (half // 2), half // 2, half // 2)
        best: dict[bytes, State] = {}
        kinds = counted.ranked(self.settings.measure, self.settings.penalty, shares)
        for found, share in zip(kinds, shares, strict=False):
            end = len(best) + share
            for state, tp, fp in found:
                if len(best) == end:
                    break
                row = state.bits.tobytes()
                if row not in best:
                    best[row] = state
                    self.best = max(self.best, self.noted(state, tp, fp))
        return list(best.values())

    def noted(self, state: State, tp: int, fp: int) -> float:
        """Remember a combination and return its score."""
        counts = ExampleCounts(tp, fp, self.bits.positives, self.bits.negatives)
        value = quality(counts, self.settings.measure)
        known = self.front.get(state.cost)
        if known is None or value > known[0]:
            self.front[state.cost] = value, state, counts
        if not self.offering:
            return value - self.settings.penalty * state.cost
        if counts.perfect:
            # Whether to go on depends on its real length.
            return self.offered(self.written(state), counts)
        if value >= self.fit.worst:
            row = state.bits.tobytes()
            other = self.notes.get(row)
            if other is None or other[1].cost > state.cost:
                self.notes[row] = value, state, counts
        return value - self.settings.penalty * state.cost

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
        everything = np.arange(len(order))
        stack: list[tuple[tuple[int, ...], Places, Bits, int, int]] = [((), everything, neutral, -1, -joint)]
        spent = 0
        while stack:
            path, among, held, size, price = stack.pop()
            made = rows[among] & held if conjunction else rows[among] | held
            sizes, prices = lengths[among] + size + 1, costs[among] + price + joint
            spent += len(made) + _NODE
            if spent > self.settings.exact:
                return False
            self.fit.tick(len(made))
            tp, fp = self.bits.count(made)
            scores = self.scores(tp, fp, prices)
            scores[(sizes > self.settings.max_length) | ~self.bits.informative(tp, fp)] = -np.inf
            for at in map(int, np.flatnonzero(scores > self.best)):
                if scores[at] > self.best:
                    self.best = float(scores[at])
                    parts = tuple(self.written(int(order[i])) for i in (*path, int(among[at])))
                    counts = self.fit.counts(tp[at], fp[at])
                    self.offered(And(parts) if conjunction else Or(parts), counts)
            bound_tp, bound_fp = (tp, fp * 0) if conjunction else (tp * 0 + self.bits.positives, fp)
            # Conditions stand in order of cost: the next costs at least as much as this one.
            bounds = self.scores(bound_tp, bound_fp, prices + joint + costs[among])
            children = np.flatnonzero((bounds > self.best) & (sizes + 2 <= self.settings.max_length))
            # What cannot be joined to this much cannot be joined to more.
            for at in map(int, children[np.argsort(bounds[children], kind="stable")]):
                later = among[children[children > at]]
                if later.size:
                    way = (*path, int(among[at]))
                    stack.append((way, later, made[at], int(sizes[at]), int(prices[at])))
        return True
