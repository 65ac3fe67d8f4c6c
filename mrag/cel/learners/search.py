"""Search over bitsets: the best combination of conditions, by beam and by branch and bound.

A condition is a class, a restriction on one property, or the negation of one; `features` works out all that
tell some examples from others, first classes, then those ever more properties deep, until a hypothesis
without a mistake is found that chance does not account for. A beam combines them by `⊓` and `⊔`, scoring
every combination with every condition at once. Then branch and bound goes through the conjunctions and the
disjunctions of conditions that could still beat what was found: a conjunction holds no more positive
examples than its part, so its part bounds its quality. While there are mistakes the beam is widened, up to
the time limit, unless examples held out say that a longer hypothesis would hold worse for others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped, shortened
from mrag.cel.learners.features import Conditions, FeatureMaker, FeatureSettings, Places, folds
from mrag.cel.problem import (
    Bits,
    ExampleBits,
    ExampleCounts,
    Hypothesis,
    Measure,
    Numbers,
    PartBits,
    Qualities,
    mixed,
    quality,
)
from mrag.cel.syntax.expressions import ALTERNATIVE, And, Expression, Or, cost, length, normal


@dataclass(frozen=True)
class SearchSettings(LearnerSettings):
    """Settings of `BeamSearch`.

    Attributes:
        steps: How many properties may follow one another in a hypothesis.
        max_length: Longest hypothesis.
        beam: How many combinations are built on at each round; half as many before the deepest conditions.
        penalty: Quality that each symbol of length costs while searching.
        exact: Most combinations that branch and bound tries.
        features: Which conditions are worked out.
    """

    steps: int = 3
    max_length: int = 24
    beam: int = 24
    penalty: float = 0.001
    exact: int = 40_000
    features: FeatureSettings = field(default_factory=FeatureSettings)


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


_NODE = 300
"""What it takes to go one step further in branch and bound, in combinations tried."""


Found: TypeAlias = tuple[float, State, ExampleCounts]
"""A combination with its quality and counts."""


class CombinationSearch:
    """One search over combinations of given conditions."""

    def __init__(
        self,
        fit: FitState,
        settings: SearchSettings,
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
        """Go through the conjunctions or disjunctions of conditions that could be the best."""
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


FEWEST = 6
"""So many examples of each kind are needed to hold some out."""

_FOLDS = 5
_LEARNT = 1 / _FOLDS
"""How much the quality on the examples learnt from weighs in what is expected on others."""

_MISTAKES = (1, 4)
"""The beta distribution of the share of mistakes before any is seen: a fifth in the mean."""

_BITS = 3
"""About what it takes to write down a symbol, so that a long expression can say as much as labels do."""


def by_chance(expression: Expression, counts: ExampleCounts, tried: int) -> bool:
    """Return whether labels drawn at random could well be told apart by an expression of this kind."""
    chosen = _conditions(expression) * (math.log2(max(tried, 2)) + 1) + _BITS
    labels = _choices(counts.positives + counts.negatives, counts.positives)
    return max(chosen, _BITS * cost(expression)) >= labels


def says_more(hypothesis: Hypothesis) -> bool:
    """Return whether it takes more to write a hypothesis down than the labels of its examples."""
    c = hypothesis.counts
    return _BITS * cost(hypothesis.expression) >= _choices(c.positives + c.negatives, c.positives)


def _choices(n: int, k: int) -> float:
    """Return how many bits it takes to say which `k` of `n` things are meant."""
    return math.log2(math.comb(n, k))


def _conditions(e: Expression) -> int:
    return sum(map(_conditions, e.parts)) if isinstance(e, And | Or) else 1


def held_out(
    fit: FitState, settings: SearchSettings, conditions: Conditions, beam: int, seed: int
) -> Qualities | None:
    """Return the quality on examples held out of the best combinations that cost at most so much."""
    p, n = fit.bits.positives, fit.bits.negatives
    if min(p, n) < FEWEST:
        return None
    fold, number = folds(p, n, _FOLDS, seed)
    most = 2 * settings.max_length
    tp, fp = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    for at in range(number):
        inside, outside = (PartBits(fit.bits, chosen) for chosen in (fold != at, fold == at))
        run = CombinationSearch(fit, settings, conditions, beam, inside)
        run.beam()
        best: State | None = None
        value = 0.0
        for limit in range(most + 1):
            found = run.front.get(limit)
            if found is not None and found[0] > value:
                value, best = found[:2]
            if best is not None:
                right, wrong = outside.count(best.bits[None, :])
                tp[limit] += right[0]
                fp[limit] += wrong[0]
    return fit.bits.qualities(tp, fp, settings.measure)


def estimated(found: Iterable[Hypothesis], curve: Qualities | None, penalty: float) -> list[Hypothesis]:
    """Return hypotheses in order of what speaks for them on other examples, the best first.

    What speaks against one are the bits that it takes to write it down, about one for each symbol, and then
    the labels that it gets wrong, if any share of mistakes was possible before, small ones rather than large
    ones. What speaks for it is how many examples those that cost as much got right when they were held out
    (`curve`).
    """
    best = 0.0
    made: list[Hypothesis] = []
    for h in sorted(found, key=lambda h: (cost(h.expression), -h.quality)):
        price, score, expected = cost(h.expression), -_misfit(h.counts), None
        if curve is not None:
            held = float(curve[min(price, len(curve) - 1)])
            best = max(best, h.quality)
            # Those of the folds had fewer examples to be learnt from, so their like is a little better.
            like = (1 - _LEARNT) * held + _LEARNT * best
            expected = max(0.0, like - (best - h.quality) - penalty * price)
            score += held * (h.counts.positives + h.counts.negatives)
        made.append(replace(h, estimate=expected, score=score - price))
    return sorted(made, key=lambda h: h.order)


def _misfit(counts: ExampleCounts) -> float:
    """Return how many bits it takes to say which examples are labelled otherwise."""
    wrong = counts.fn + counts.fp
    right = counts.positives + counts.negatives - wrong
    return (_log_beta(*_MISTAKES) - _log_beta(_MISTAKES[0] + wrong, _MISTAKES[1] + right)) / math.log(2)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


_WIDEST = 5_000_000
"""Most combinations of a round of the widest beam."""
_JUDGED = 24
"""From a beam of this width on, its best says whether a wider one is worth while."""
_VAIN = 2
"""So many wider beams without gain end a search."""


class BeamSearch(Learner):
    """Learns by trying combinations of conditions over bitsets.

    Example:
        >>> import mrag
        >>> from mrag.cel import LearningProblem, to_dl
        >>> with mrag.demo(model="none") as kg:
        ...     stores, others = ("Fuseki", "GraphDB", "Virtuoso"), ("Neo4j", "Redis", "PostgreSQL")
        ...     examples = ([kg.prefixes["ex"] + name for name in names] for names in (stores, others))
        ...     to_dl(BeamSearch(kg).fit(LearningProblem(*examples))[0].expression, kg.prefixes)
        'ex:SemanticProduct'
    """

    name = "search"
    settings_type = SearchSettings
    settings: SearchSettings

    def search(self, fit: FitState) -> Stopped:
        """Try conditions, then combinations of them, ever deeper, until one is right and no accident."""
        run = _Run(fit, self.settings)
        try:
            return run.through()
        finally:
            run.settle()


class _Run:
    """One fit: the search at each depth, the one widened, and the choice among all that was found."""

    def __init__(self, fit: FitState, settings: SearchSettings) -> None:
        self.fit, self.settings = fit, settings
        self.runs: list[CombinationSearch] = []
        self.front: dict[int, tuple[Found, CombinationSearch]] = {}
        self.curve: Qualities | None = None
        self.certain = False

    def through(self) -> Stopped:
        """Search, and return why it ended."""
        fit, settings = self.fit, self.settings
        maker = FeatureMaker(fit, settings.features)
        tried: npt.NDArray[np.bool_] | None = None
        last: CombinationSearch | None = None
        for steps in range(fit.steps + 1):
            found = maker.upto(steps)
            same = tried is not None and np.array_equal(found.table, tried)
            tried = found.table
            if len(found) and not same:
                # A solution with fewer properties in a row is mostly found by a narrow beam, or not at all.
                last = self.searched(found, settings.beam // (1 if steps == fit.steps else 2))
            if self.sure(found):
                break
        if last is None:
            return "exhausted"
        self.offer()
        done = last.exact(conjunction=True) & last.exact(conjunction=False)
        for h in fit.best()[:3]:
            simple = shortened(fit, h.expression)
            fit.offer(simple, fit.count(simple))
        self.certain = self.sure(last.conditions)
        if self.certain:
            return "solved"
        self.curve = held_out(fit, settings, last.conditions, max(settings.beam // 2, 4), settings.seed)
        done &= self.widened(last.conditions)
        self.certain = self.sure(last.conditions)
        if self.certain:
            return "solved"
        if fit.solved():
            return "solved"
        return "exhausted" if done else "limit"

    def searched(self, conditions: Conditions, beam: int) -> CombinationSearch:
        """Search with a beam, and keep the best at each cost."""
        run = CombinationSearch(self.fit, self.settings, conditions, max(beam, 4))
        self.runs.append(run)
        try:
            run.beam()
        finally:
            for at, found in run.front.items():
                if at not in self.front or found[0] > self.front[at][0][0]:
                    self.front[at] = found, run
        return run

    def offer(self) -> None:
        """Offer the best of what was found; to write all out would take long."""
        found = [(note, run) for run in self.runs for note in run.notes.values()]
        known: set[bytes] = set()
        for (_, state, counts), run in sorted(found, key=lambda f: (-f[0][0], f[0][1].cost)):
            row = state.bits.tobytes()
            if row not in known:
                known.add(row)
                run.offered(run.written(state), counts)
            if len(known) == 2 * self.settings.top:
                break
        self.runs.clear()

    def sure(self, conditions: Conditions) -> bool:
        """Return whether the best makes no mistake, and that is no accident."""
        best = self.fit.best()[:1]
        return any(h.solved and not by_chance(h.expression, h.counts, len(conditions)) for h in best)

    def widened(self, conditions: Conditions) -> bool:
        """Search with ever wider beams while that is worth it, and return whether it ended by itself."""
        beam, vain, wide = self.settings.beam, 0, False
        while vain < _VAIN and not self.fit.solved():
            found = self.fit.best()[:1]
            if beam >= _JUDGED and any(says_more(h) or self.too_long(h) for h in found):
                break
            beam *= 2
            if wide := 2 * beam * (len(conditions) + beam) > _WIDEST:
                break
            self.searched(conditions, beam)
            self.offer()
            vain = vain + 1 if [h.quality for h in self.fit.best()[:1]] == [h.quality for h in found] else 0
        return not wide

    def too_long(self, best: Hypothesis) -> bool:
        """Return whether more is expected of one that fits less, so that what fits better is vain."""
        return self.curve is not None and self.expected()[0].quality < best.quality

    def expected(self) -> list[Hypothesis]:
        """Return what was found, in order of what speaks for it on other examples."""
        measure = self.settings.measure
        found = {h.expression: h for h in self.fit.best()}
        for (value, state, counts), run in self.front.values():
            if value > 0:
                e = normal(run.written(state))
                if counts.informative and length(e) <= self.settings.max_length:
                    found.setdefault(e, Hypothesis(e, value, counts, measure))
        return estimated(found.values(), self.curve, self.settings.penalty)

    def settle(self) -> None:
        """Put what was found in order of what is expected of it."""
        self.offer()
        # Of fewer examples a mistake says too little.
        if min(self.fit.bits.positives, self.fit.bits.negatives) >= FEWEST and not self.certain:
            self.fit.settle(self.expected())
