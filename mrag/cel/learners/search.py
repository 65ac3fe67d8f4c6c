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

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mrag.cel.beam.choice import FEWEST, by_chance, estimated, held_out, says_more
from mrag.cel.beam.combinations import CombinationSearch, Found
from mrag.cel.beam.conditions import Conditions, FeatureSettings
from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.features import FeatureMaker
from mrag.cel.learners.simplify import shortened
from mrag.cel.problem import Hypothesis
from mrag.cel.semantics.bits import Qualities
from mrag.cel.syntax.expressions import length
from mrag.cel.syntax.normal_form import normal

_WIDEST = 5_000_000
"""Most combinations of a round of the widest beam."""
_JUDGED = 24
"""From a beam of this width on, its best says whether a wider one is worth while."""
_VAIN = 2
"""So many wider beams without gain end a search."""


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
