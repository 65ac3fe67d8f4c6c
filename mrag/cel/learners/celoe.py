"""Best-first search with a refinement operator: CELOE and OCEL.

CELOE (Lehmann, Auer, Bühmann and Tramp, 2011) is for short definitions, OCEL (Lehmann and Hitzler, 2010) for
concepts that tell examples apart. They differ in what is refined first, and in what is not refined at all.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.refinement import Constructors, RefinementOperator
from mrag.cel.problem import ExampleCounts
from mrag.cel.syntax.expressions import (
    AtLeast,
    AtMost,
    Bottom,
    Expression,
    Only,
    Some,
    Top,
    key,
    length,
    walk,
)
from mrag.errors import ConfigError


@dataclass(frozen=True)
class CeloeSettings(LearnerSettings):
    """Settings of `Celoe`; the defaults of the heuristic are the published ones.

    Attributes:
        max_tested: Most expressions tested.
        max_length: Longest expression.
        start_bonus: Score that `⊤` gets beside its quality.
        gain_bonus: Weight of what an expression gained over the one it was refined from.
        expansion_penalty: Score that each step of horizontal expansion costs.
        refinement_penalty: Score that each refinement an expression already has costs.
        constructors: Which expressions are reached.
        ignore: IRIs of classes and properties to leave out.
    """

    max_tested: int = 10_000
    max_length: int = 24
    start_bonus: float = 0.1
    gain_bonus: float = 0.3
    expansion_penalty: float = 0.1
    refinement_penalty: float = 0.001
    constructors: Constructors = field(default_factory=Constructors)
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True)
class OcelSettings(CeloeSettings):
    """Settings of `Ocel`; the defaults of the heuristic are those of DL-Learner.

    Attributes:
        noise: Share of the positive examples that an expression may miss and still be refined.
    """

    gain_bonus: float = 0.5
    expansion_penalty: float = 0.02
    refinement_penalty: float = 0.0001
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.noise < 1:
            raise ConfigError(f"The noise is a share from 0 to below 1, not {self.noise}.")


@dataclass
class _Node:
    expression: Expression
    quality: float
    parent: float | None
    expanded: int
    refined: int = 0


class Celoe(Learner):
    """Learns by refining `⊤`, the most promising expression first."""

    name = "celoe"
    settings_type = CeloeSettings
    settings: CeloeSettings

    def score(self, node: _Node) -> float:
        """Return how promising a node is."""
        s = self.settings
        bonus = s.start_bonus if node.parent is None else s.gain_bonus * (node.quality - node.parent)
        costs = s.expansion_penalty * (node.expanded - 1) + s.refinement_penalty * node.refined
        return round(node.quality + bonus - costs, 5)

    def value(self, counts: ExampleCounts, quality: float) -> float:
        """Return how good an expression is to the heuristic, from its counts and what is maximised."""
        return quality

    def promising(self, counts: ExampleCounts, value: float) -> bool:
        """Return whether an expression is refined."""
        return value > 0 and counts.tp > 0

    def search(self, fit: FitState) -> Stopped:
        """Refine until an expression makes no mistake or a limit is reached."""
        world, settings = fit.world, self.settings
        operator = RefinementOperator(self.kg, world, settings.constructors, frozenset(settings.ignore))
        top: Expression = Top()
        counts = fit.count(top)
        root = _Node(top, self.value(counts, fit.offer(top, counts)), None, length(top))
        queue = [(-self.score(root), length(top), key(top), root)]
        seen: set[Expression] = {top}
        while queue:
            _, _, _, node = heapq.heappop(queue)
            limit = node.expanded
            if limit > settings.max_length:
                continue
            fresh = operator.refine(node.expression, limit, lambda: fit.tick(0))
            node.expanded, node.refined = limit + 1, len(fresh)
            again = (-self.score(node), length(node.expression), key(node.expression), node)
            heapq.heappush(queue, again)
            for e in fresh:
                # Shorter ones came at an earlier expansion.
                shorter = length(e) < limit and limit > length(node.expression)
                if shorter or e in seen or not world.reaches(e):
                    continue
                seen.add(e)
                fit.tick()
                counts = fit.count(e)
                value = self.value(counts, fit.offer(e, counts))
                if counts.perfect:
                    return "solved"
                if self.promising(counts, value):
                    child = _Node(e, value, node.quality, length(e))
                    heapq.heappush(queue, (-self.score(child), length(e), key(e), child))
                if fit.tested >= settings.max_tested:
                    return "limit"
        return "exhausted"


class Ocel(Celoe):
    """Learns by refining `⊤`, the expression first that tells most examples apart and was expanded least.

    What misses a positive example, or more than `noise` allows, is too weak and not refined, because its
    refinements hold no more. It is a hypothesis all the same, and the best of all is returned.

    Source:
        Lehmann and Hitzler (2010), Concept learning in description logics using refinement operators, Machine
        Learning 78; the heuristic as DL-Learner's `MultiHeuristic` has it.
    """

    name = "ocel"
    settings_type = OcelSettings
    settings: OcelSettings

    def score(self, node: _Node) -> float:
        """Return how promising a node is; what `∃r.⊤` and the like add to the length counts less."""
        s = self.settings
        bonus = s.start_bonus if node.parent is None else s.gain_bonus * (node.quality - node.parent)
        expanded = node.expanded - 1 - sum(map(_little, walk(node.expression)))
        costs = s.expansion_penalty * expanded + s.refinement_penalty * node.refined
        return round(node.quality + bonus - costs, 6)

    def value(self, counts: ExampleCounts, quality: float) -> float:
        """Return the accuracy, whatever is maximised."""
        return (counts.tp + counts.tn) / (counts.positives + counts.negatives)

    def promising(self, counts: ExampleCounts, value: float) -> bool:
        """Return whether an expression misses no more positive examples than may be."""
        return counts.tp > 0 and counts.fn <= self.settings.noise * counts.positives


def _little(e: Expression) -> float:
    """Return what an expression says less than its length."""
    match e:
        case Some(_, Top()) | AtLeast(_, _, Top()):
            return 0.5
        case Only(_, Top()) | AtMost(_, _, Bottom()):
            return 1.0
    return 0.0
