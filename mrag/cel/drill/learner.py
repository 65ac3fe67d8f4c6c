"""DRILL: best-first refinement, led by a network that was trained on the graph.

After Demir and Ngonga Ngomo, "Neuro-Symbolic Class Expression Learning" (IJCAI 2023). The search goes on
from the most promising expression: that is what it has earned, which is known, and what the network
expects of it. `mrag.cel.drill.training` trains the network, `mrag.cel.drill.policy` says what it sees.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt

from mrag.cel.drill.policy import Eye, Policy, earned
from mrag.cel.learners.base import Board, Learner, LearnerSettings, Progress, Stopped
from mrag.cel.learners.layers import Layers, Space, SpaceSettings, Vectors
from mrag.cel.problem import Counts, upper_bound
from mrag.cel.syntax.expressions import Expression, Top, key, length
from mrag.errors import ModelError
from mrag.graph.kg import KnowledgeGraph

_OFFERED = 20
"""Of so many refinements of each expression the best are offered to the board."""


@dataclass(frozen=True)
class DrillSettings(LearnerSettings):
    """Settings of `Drill`.

    Attributes:
        policy: Path of the trained policy, where it is not given as an object.
        most: Most expressions tested.
        trust: How much the network's word counts beside what an expression is seen to have earned; 0 is a
            greedy search without the network, None the network alone, as published.
        space: Which expressions are reached; `steps` of the learner goes before that of the space.
    """

    policy: str = ""
    most: int = 20_000
    trust: float | None = 0.25
    space: SpaceSettings = field(default_factory=SpaceSettings)


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

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: LearnerSettings | None = None,
        *,
        policy: Policy | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        if not isinstance(settings, DrillSettings):
            common = settings or LearnerSettings()
            settings = DrillSettings(**{f.name: getattr(common, f.name) for f in fields(LearnerSettings)})
        if policy is None and not settings.policy:
            raise ModelError(
                "DRILL needs a trained policy.",
                hint="Train one: policy = mrag.cel.drill.training.train(kg), or `mrag train drill`.",
            )
        self.policy = policy if policy is not None else Policy.load(settings.policy)
        self.policy.check(kg)
        self.drill_settings = settings
        super().__init__(kg, settings, on_progress=on_progress)

    def promise(self, seen: Vectors) -> Vectors:
        """Return how promising refinements are, given what is seen of each."""
        trust = self.drill_settings.trust
        if trust is None:
            return self.policy.promise(seen)
        return earned(seen) + np.float32(trust) * self.policy.promise(seen) if trust else earned(seen)

    def search(self, board: Board) -> Stopped:
        """Refine what the policy finds most promising."""
        settings = self.drill_settings
        vectors = self.policy.vectors(board.world, board.at)
        steps = min(settings.steps, board.world.steps or settings.steps)
        space = Space.of(self.kg, board.world, board.at, replace(settings.space, steps=steps))
        return explore(board, space, vectors, self.promise, most=settings.most)


def explore(
    board: Board,
    space: Layers,
    vectors: Vectors,
    promise: Callable[[Vectors], npt.NDArray[np.floating]],
    *,
    most: int,
) -> Stopped:
    """Refine the most promising expression until one makes no mistake.

    An expression that no refinement of it can make the best is let go.

    Args:
        board: The examples.
        space: The refinements, with a column for each example.
        vectors: Of the examples.
        promise: Tells how promising expressions are from what is seen of them.
        most: Most expressions tested.
    """
    p, n, measure = board.bits.positives, board.bits.negatives, board.settings.measure
    eye = Eye(vectors, p)
    top: Expression = Top()
    queue: list[tuple[float, int, str, Expression, float]] = [(0.0, 1, key(top), top, 2 * p / (2 * p + n))]
    seen: set[Expression] = {top}
    while queue:
        _, _, _, state, parent = heapq.heappop(queue)
        layer = space.layer(state)
        fresh = [at for at, e in enumerate(layer.expressions) if e not in seen]
        if not fresh:
            board.tick(0)
            continue
        look, tp, fp = eye.see(layer.table[fresh], layer.shapes[fresh], parent)
        qualities = board.bits.qualities(tp, fp, measure)
        chosen = np.argsort(-qualities, kind="stable")[:_OFFERED]
        for at in chosen.tolist():
            board.offer(layer.expressions[fresh[at]], Counts(int(tp[at]), int(fp[at]), p, n))
        board.tick(len(fresh))
        leading = board.best()[:1]
        if leading and leading[0].solved:
            return "solved"
        if board.tested >= most:
            return "limit"
        best = leading[0].quality if leading else 0.0
        hopes = promise(look)
        for at, place in enumerate(fresh):
            e = layer.expressions[place]
            seen.add(e)
            if tp[at] and upper_bound(int(tp[at]), p, n, measure) > best:
                entry = (-float(hopes[at]), length(e), key(e), e, float(look[at, 2]))
                heapq.heappush(queue, entry)
    return "exhausted"
