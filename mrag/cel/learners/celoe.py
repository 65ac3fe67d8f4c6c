"""CELOE: best-first search with a refinement operator (Lehmann, Auer, Bühmann and Tramp, 2011)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.refinement import Constructors, RefinementOperator
from mrag.cel.syntax.expressions import Expression, Top, key, length


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

    def search(self, fit: FitState) -> Stopped:
        """Refine until an expression makes no mistake or a limit is reached."""
        world, settings = fit.world, self.settings
        operator = RefinementOperator(self.kg, world, settings.constructors, frozenset(settings.ignore))
        top: Expression = Top()
        root = _Node(top, fit.offer(top, fit.count(top)), None, length(top))
        queue = [(-self.score(root), length(top), key(top), root)]
        seen: set[Expression] = {top}
        while queue:
            _, _, _, node = heapq.heappop(queue)
            limit = node.expanded
            if limit > settings.max_length:
                continue
            fresh = operator.refine(node.expression, limit)
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
                value = fit.offer(e, counts)
                if counts.perfect:
                    return "solved"
                if value > 0 and counts.tp > 0:
                    child = _Node(e, value, node.quality, length(e))
                    heapq.heappush(queue, (-self.score(child), length(e), key(e), child))
                if fit.tested >= settings.max_tested:
                    return "limit"
        return "exhausted"
