"""Search over bitsets: the best combination of conditions, by beam and by branch and bound.

A condition is a class, a restriction on one property, or the negation of one; `features` works out all that
tell some examples from others, first classes, then those ever more properties deep, if no hypothesis
without a mistake was found. A beam combines them by `⊓` and `⊔`, scoring every combination with every
condition at once. Then branch and bound goes through the conjunctions and the disjunctions of conditions
that could still beat what was found: a conjunction holds no more positive examples than its part, so its
part bounds its quality.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.features import Conditions, FeatureSettings, features
from mrag.cel.learners.simplify import shortened
from mrag.cel.problem import ExampleCounts, quality
from mrag.cel.semantics.bits import Bits, ExampleBits, Numbers, Qualities
from mrag.cel.syntax.expressions import And, Expression, Or, length
from mrag.cel.syntax.normal_form import normal


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
    beam: int = 64
    penalty: float = 0.001
    exact: int = 300_000
    features: FeatureSettings = field(default_factory=FeatureSettings)


@dataclass(frozen=True)
class _State:
    """A combination: how it was made, what it holds, how long it is."""

    parts: tuple[_State | int, int] | int
    conjunction: bool
    bits: Bits
    length: int


class BeamSearch(Learner):
    """Learns by trying combinations of conditions over bitsets.

    Example:
        >>> import mrag
        >>> from mrag.cel.problem import LearningProblem
        >>> from mrag.cel.syntax.printing import to_dl
        >>> from mrag.rdf.terms import RDF, Triple
        >>> from rdflib import URIRef
        >>> kg = mrag.connect()
        >>> names = {"a": "Cat", "b": "Cat", "c": "Dog"}
        >>> _ = kg.insert(
        ...     Triple(URIRef(f"urn:x:{x}"), URIRef(RDF + "type"), URIRef(f"urn:x:{c}"))
        ...     for x, c in names.items()
        ... )
        >>> best = BeamSearch(kg).fit(LearningProblem(["urn:x:a", "urn:x:b"], ["urn:x:c"]))[0]
        >>> to_dl(best.expression, {"x": "urn:x:"}), best.quality
        ('x:Cat', 1.0)
        >>> kg.close()
    """

    name = "search"
    settings_type = SearchSettings
    settings: SearchSettings

    def search(self, fit: FitState) -> Stopped:
        """Try conditions, then combinations of them, ever deeper until one makes no mistake."""
        done = True
        tried: npt.NDArray[np.bool_] | None = None
        run: CombinationSearch | None = None
        for steps in range(fit.steps + 1):
            found = features(fit, self.settings.features, steps)
            same = tried is not None and np.array_equal(found.table, tried)
            if (not len(found) or same) and (steps < fit.steps or run is None):
                continue
            if len(found):
                # A solution with fewer properties in a row is mostly found by a narrow beam, or not at all.
                beam = self.settings.beam // (1 if steps == fit.steps else 2)
                run = CombinationSearch(fit, replace(self.settings, beam=max(beam, 4)), found)
                try:
                    run.beam()
                finally:
                    run.flush()
            tried = found.table
            last = fit.solved() or steps == fit.steps
            if last:
                # To make sure of the best; before the deepest conditions there is no need to.
                assert run is not None
                done = run.exact(conjunction=True) & run.exact(conjunction=False)
            for h in fit.best()[:3] if last else ():
                simple = shortened(fit, h.expression)
                fit.offer(simple, fit.count(simple))
            if fit.solved():
                return "solved"
        return "exhausted" if done else "limit"


class CombinationSearch:
    """One search over combinations of given conditions."""

    def __init__(self, fit: FitState, settings: SearchSettings, conditions: Conditions) -> None:
        self.fit, self.settings, self.conditions = fit, settings, conditions
        self.bits: ExampleBits = fit.bits
        self.rows: Bits = fit.bits.pack(conditions.table)
        self.lengths: Numbers = conditions.lengths
        self.made: list[_State] = []
        self.notes: list[tuple[float, _State, ExampleCounts]] = []
        self.best = -1.0

    def beam(self) -> None:
        """Combine conditions round by round, keeping the best combinations of each."""
        self.fit.tick(len(self.rows))
        states = self.chosen([(None, True, self.rows, self.lengths)])
        while states and not self.flawless():
            fresh: list[tuple[_State | None, bool, Bits, Numbers]] = []
            for state in states:
                for conjunction in (True, False):
                    rows = self.rows & state.bits if conjunction else self.rows | state.bits
                    fresh.append((state, conjunction, rows, self.lengths + state.length + 1))
            self.fit.tick(len(fresh) * len(self.rows))
            before = self.best
            states = self.chosen(fresh)
            if self.best <= before:
                break
            # They serve as conditions later on, so that (A ⊓ B) ⊔ (C ⊓ D) can be reached.
            self.extend([s for s in states if 2 * s.length <= self.settings.max_length])

    def flawless(self) -> bool:
        """Return whether no longer combination can be better."""
        return self.best >= 1.0 - self.settings.penalty * (2 + int(self.lengths.min(initial=1)))

    def extend(self, states: list[_State]) -> None:
        """Add combinations to the conditions."""
        if states:
            self.made.extend(states)
            self.rows = np.vstack([self.rows, *(s.bits[None, :] for s in states)])
            self.lengths = np.append(self.lengths, [s.length for s in states])

    def chosen(self, made: Sequence[tuple[_State | None, bool, Bits, Numbers]]) -> list[_State]:
        """Score combinations, offer the best and return those to build on."""
        # Beside the best in all, some that hold nearly all positive examples and some that hold nearly no
        # negative one: `⊓` makes good ones of the first, `⊔` of the second.
        half = self.settings.beam // 2
        shares = (self.settings.beam - 2 * (half // 2), half // 2, half // 2)
        starts = np.cumsum([0, *(len(rows) for _, _, rows, _ in made)])
        sizes = np.concatenate([lengths for _, _, _, lengths in made])
        counted = [self.bits.count(rows) for _, _, rows, _ in made]
        tp, fp = (np.concatenate(found) for found in zip(*counted, strict=True))
        of = np.flatnonzero((sizes <= self.settings.max_length) & self.bits.informative(tp, fp))
        tp, fp, sizes = tp[of], fp[of], sizes[of]
        cost = self.settings.penalty * sizes
        held, wrong = tp / self.bits.positives, fp / self.bits.negatives
        kinds = (self.scores(tp, fp, sizes), 4 * held - wrong - cost, held - 4 * wrong - cost)
        best: dict[bytes, _State] = {}
        for scores, share in zip(kinds, shares, strict=True):
            end = len(best) + share
            for at in _first(scores, sizes, 4 * share):
                if len(best) == end:
                    break
                group = int(np.searchsorted(starts, of[at], side="right")) - 1
                state, conjunction, rows, _ = made[group]
                place = int(of[at] - starts[group])
                row = rows[place]
                if row.tobytes() not in best:
                    parts = place if state is None else (state, place)
                    new = _State(parts, conjunction, row, int(sizes[at]))
                    best[row.tobytes()] = new
                    self.best = max(self.best, self.noted(new, int(tp[at]), int(fp[at])))
        return list(best.values())

    def noted(self, state: _State, tp: int, fp: int) -> float:
        """Remember a combination and return its score."""
        counts = self.fit.counts(tp, fp)
        if counts.perfect:
            # Whether to go on depends on its real length.
            return self.offered(self.written(state), counts)
        value = quality(counts, self.settings.measure)
        if value >= self.fit.worst:
            self.notes.append((value, state, counts))
        return value - self.settings.penalty * state.length

    def flush(self) -> None:
        """Offer the best of the combinations remembered; to write all out would take long."""
        self.notes.sort(key=lambda note: (-note[0], note[1].length))
        for _, state, counts in self.notes[: 2 * max(self.settings.top, 20)]:
            self.offered(self.written(state), counts)
        self.notes.clear()

    def written(self, state: _State | int) -> Expression:
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
        size = length(shape)
        if size > self.settings.max_length:
            return -1.0
        return self.fit.offer(shape, counts, shaped=True) - self.settings.penalty * size

    def scores(self, tp: Numbers, fp: Numbers, lengths: Numbers) -> Qualities:
        """Return qualities less the penalty for length."""
        values = self.bits.qualities(tp, fp, self.settings.measure)
        found: Qualities = values - self.settings.penalty * lengths
        return found

    def exact(self, *, conjunction: bool) -> bool:
        """Go through the conjunctions or disjunctions of conditions that could be the best.

        Returns:
            Whether all were tried or ruled out.
        """
        order = np.argsort(self.lengths, kind="stable")
        rows, lengths = self.rows[order], self.lengths[order]
        neutral = self.bits.all if conjunction else np.zeros_like(self.bits.all)
        stack: list[tuple[tuple[int, ...], Bits, int]] = [((), neutral, -1)]
        spent = 0
        while stack:
            path, held, size = stack.pop()
            start = path[-1] + 1 if path else 0
            made = rows[start:] & held if conjunction else rows[start:] | held
            sizes = lengths[start:] + size + 1
            spent += len(made)
            if spent > self.settings.exact:
                return False
            self.fit.tick(len(made))
            tp, fp = self.bits.count(made)
            scores = self.scores(tp, fp, sizes)
            scores[(sizes > self.settings.max_length) | ~self.bits.informative(tp, fp)] = -np.inf
            for at in map(int, np.flatnonzero(scores > self.best)):
                if scores[at] > self.best:
                    self.best = float(scores[at])
                    parts = tuple(self.written(int(order[i])) for i in (*path, start + at))
                    counts = self.fit.counts(tp[at], fp[at])
                    self.offered(And(parts) if conjunction else Or(parts), counts)
            bound_tp, bound_fp = (tp, fp * 0) if conjunction else (tp * 0 + self.bits.positives, fp)
            # Conditions stand in order of length: the next is at least as long as this one.
            longer = sizes + 1 + lengths[start:]
            bounds = self.scores(bound_tp, bound_fp, longer)
            children = np.flatnonzero((bounds > self.best) & (longer <= self.settings.max_length))
            for at in map(int, children[np.argsort(bounds[children], kind="stable")]):
                stack.append(((*path, start + at), made[at], int(sizes[at])))
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
