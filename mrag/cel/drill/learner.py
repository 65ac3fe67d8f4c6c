"""DRILL: best-first refinement, led by a network that was trained on the graph.

After Demir and Ngonga Ngomo, "Neuro-Symbolic Class Expression Learning" (IJCAI 2023). The search goes on
from the most promising expression: that is what it has reward, which is known, and what the network
expects of it. `mrag.cel.drill.training` trains the network, `mrag.cel.drill.policy` describes its input.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from mrag.cel.drill.policy import Policy, RefinementObserver, reward
from mrag.cel.learners.base import FitProgress, FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.refinement_space import (
    RefinementSource,
    RefinementSpace,
    RefinementSpaceSettings,
    Vectors,
)
from mrag.cel.problem import quality
from mrag.cel.syntax.expressions import Expression, Top, key, length
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph

_OFFERED = 20
"""Of so many refinements of each expression the best are offered."""


@dataclass(frozen=True)
class DrillSettings(LearnerSettings):
    """Settings of `Drill`.

    Attributes:
        policy: Path of the trained policy, where it is not given as an object.
        max_tested: Most expressions tested.
        trust: How much the network's prediction counts beside the reward of an expression; 0 is a
            greedy search without the network, None the network alone, as published.
        space: Which expressions are reached; `steps` of the learner goes before that of the space.
    """

    policy: str = ""
    max_tested: int = 20_000
    trust: float | None = 0.25
    space: RefinementSpaceSettings = field(default_factory=RefinementSpaceSettings)


class Drill(Learner):
    """Learns by refinement where a trained policy leads.

    Args:
        kg: The knowledge graph.
        settings: `DrillSettings`; of other settings the common part is taken.
        policy: The trained policy; read from `settings.policy` if None.
        on_progress: Called now and then during a fit.

    Raises:
        ModelError: If there is no policy, it is untrained, or it was trained on a graph with other classes
            or properties.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     Drill(kg)
        Traceback (most recent call last):
        mrag.errors.ModelError: DRILL needs a trained policy. Train one: policy = ...
    """

    name = "drill"
    settings_type = DrillSettings
    settings: DrillSettings

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: LearnerSettings | None = None,
        *,
        policy: Policy | None = None,
        on_progress: Callable[[FitProgress], None] | None = None,
    ) -> None:
        super().__init__(kg, settings, on_progress=on_progress)
        if policy is None and not self.settings.policy:
            raise ModelError(
                "DRILL needs a trained policy.",
                hint="Train one: policy = mrag.cel.train_policy(kg), or `mrag train drill`.",
            )
        self.policy = policy if policy is not None else Policy.load(self.settings.policy)
        self.policy.check(kg)

    def priority(self, seen: Vectors) -> Vectors:
        """Return how promising refinements are, given what is seen of each."""
        trust = self.settings.trust
        if trust is None:
            return self.policy.predict(seen)
        return reward(seen) + np.float32(trust) * self.policy.predict(seen) if trust else reward(seen)

    def search(self, fit: FitState) -> Stopped:
        """Refine what the policy finds most promising."""
        if fit.world.steps == 0:
            return "time"  # the policy looks at properties, and there was no time to read any
        vectors = self.policy.vectors(fit.world, fit.at)
        space = RefinementSpace.of(self.kg, fit.world, fit.at, replace(self.settings.space, steps=fit.steps))
        return best_first_search(fit, space, vectors, self.priority, max_tested=self.settings.max_tested)


def best_first_search(
    fit: FitState,
    space: RefinementSource,
    vectors: Vectors,
    priority: Callable[[Vectors], npt.NDArray[np.floating]],
    *,
    max_tested: int,
) -> Stopped:
    """Refine the most promising expression until one makes no mistake.

    An expression that no refinement of it can make the best is let go.

    Args:
        fit: The examples.
        space: The refinements, with a column for each example.
        vectors: Of the examples.
        priority: Tells how promising expressions are from what is seen of them.
        max_tested: Most expressions tested.
    """
    p, n, measure = fit.bits.positives, fit.bits.negatives, fit.settings.measure
    observer = RefinementObserver(vectors, p)
    top: Expression = Top()
    queue: list[tuple[float, int, str, Expression, float]] = [(0.0, 1, key(top), top, 2 * p / (2 * p + n))]
    seen: set[Expression] = {top}
    while queue:
        _, _, _, state, parent = heapq.heappop(queue)
        refinements = space.refinements(state)
        fresh = [at for at, e in enumerate(refinements.expressions) if e not in seen]
        if not fresh:
            fit.tick(0)
            continue
        look, tp, fp = observer.observe(refinements.table[fresh], refinements.shapes[fresh], parent)
        qualities = fit.bits.qualities(tp, fp, measure)
        chosen = np.argsort(-qualities, kind="stable")[:_OFFERED]
        for at in chosen.tolist():
            fit.offer(refinements.expressions[fresh[at]], fit.counts(tp[at], fp[at]))
        fit.tick(len(fresh))
        if fit.solved():
            return "solved"
        if fit.tested >= max_tested:
            return "limit"
        best = max((h.quality for h in fit.best()[:1]), default=0.0)
        hopes = priority(look)
        for at, place in enumerate(fresh):
            e = refinements.expressions[place]
            seen.add(e)
            # No refinement holds more positive examples, so none is better than this.
            if tp[at] and quality(fit.counts(tp[at], 0), measure) > best:
                entry = (-float(hopes[at]), length(e), key(e), e, float(look[at, 2]))
                heapq.heappush(queue, entry)
    return "exhausted"
