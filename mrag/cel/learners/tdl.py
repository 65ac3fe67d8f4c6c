"""TDL: a decision tree over conditions, read back as a class expression (Demir and others, 2025).

Three things differ from the published program. A condition counts for an example if it holds it, not only
if the example's own triples spell it out. A path of the tree becomes part of the hypothesis if most
examples in its leaf are positive, not if any of them is; without that a pruned tree tends towards `⊤`. The
result is simplified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from mrag.cel.beam.choice import by_chance
from mrag.cel.beam.conditions import Conditions, FeatureSettings, Table
from mrag.cel.learners.base import FitProgress, FitState, Learner, LearnerSettings, Stopped
from mrag.cel.learners.features import features
from mrag.cel.learners.simplify import shortened
from mrag.cel.syntax.expressions import And, Expression, Not, Or
from mrag.cel.syntax.normal_form import normal
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph


@dataclass(frozen=True)
class TreeSettings(LearnerSettings):
    """Settings of `TreeLearner`.

    Attributes:
        steps: How many properties may follow one another in a condition at most: there are 2 at first, and
            more while there are mistakes and time; the published program has 1.
        leaves: Most leaves of the tree, None for any number. Trees of 2, 4, 8… leaves up to it are tried.
        criterion: Of scikit-learn's tree: `entropy`, `gini` or `log_loss`.
        min_samples_leaf: Fewest examples in a leaf.
        simplify: Whether parts are taken out of the result as long as its quality stays.
        features: Which conditions are worked out.
    """

    steps: int = 3
    leaves: int | None = 8
    criterion: str = "entropy"
    min_samples_leaf: int = 1
    simplify: bool = True
    features: FeatureSettings = field(
        # The tree negates by itself.
        default_factory=lambda: FeatureSettings(negation=False, pairs=0)
    )

    def __post_init__(self) -> None:
        LearnerSettings.__post_init__(self)
        if self.leaves is not None and self.leaves < 2:
            raise ConfigError("A tree has at least 2 leaves.")


class TreeLearner(Learner):
    """Learns by a decision tree of scikit-learn.

    Raises:
        ConfigError: If scikit-learn is not installed.
    """

    name = "tdl"
    settings_type = TreeSettings
    settings: TreeSettings

    def __init__(
        self,
        kg: KnowledgeGraph,
        settings: LearnerSettings | None = None,
        *,
        on_progress: Callable[[FitProgress], None] | None = None,
    ) -> None:
        super().__init__(kg, settings, on_progress=on_progress)
        try:
            # Now, because it can take longer than a fit.
            self.trees: Any = import_module("sklearn.tree")
        except ImportError as error:
            raise ConfigError("This learner needs scikit-learn.", hint="pip install 'mrag[cel]'") from error

    def search(self, fit: FitState) -> Stopped:
        """Grow trees over conditions that reach ever further, and read each back."""
        tried: Table | None = None
        for steps in range(min(2, fit.steps), fit.steps + 1):
            found = features(fit, self.settings.features, steps)
            same = tried is not None and np.array_equal(tried, found.table)
            if len(found) and not same and self._grown(fit, found):
                return "solved"
            tried = found.table
        return "solved" if fit.solved() else "exhausted"

    def _grown(self, fit: FitState, found: Conditions) -> bool:
        """Grow trees of growing size, and return whether one makes no mistake that chance could avoid."""
        settings = self.settings
        x = found.table.T.astype(np.float32)
        y = np.arange(len(fit.at)) < fit.bits.positives
        for leaves in _sizes(settings.leaves):
            tree = self.trees.DecisionTreeClassifier(
                criterion=settings.criterion,
                max_leaf_nodes=leaves,
                min_samples_leaf=settings.min_samples_leaf,
                random_state=settings.seed,
            ).fit(x, y)
            e = _written(tree, found)
            solved = self._offered(fit, e)
            fit.tick()
            if settings.simplify:
                e = shortened(fit, e)
                solved |= self._offered(fit, e)
            if solved:
                return not by_chance(e, fit.count(e), len(found))
        return False

    def _offered(self, fit: FitState, e: Expression) -> bool:
        counts = fit.count(e)
        fit.offer(e, counts)
        return counts.perfect


def _sizes(max_leaves: int | None) -> list[int | None]:
    if max_leaves is None:
        return [2, 4, 8, 16, 32, 64, None]
    return [*(2**n for n in range(1, 32) if 2**n < max_leaves), max_leaves]


def _written(fitted: Any, conditions: Conditions) -> Expression:
    """Return the union of the paths to the leaves where most examples are positive."""
    tree = fitted.tree_
    positive = list(fitted.classes_).index(True)
    paths: list[Expression] = []
    stack: list[tuple[int, tuple[Expression, ...]]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left < 0:
            shares = tree.value[node][0]
            if shares[positive] * 2 > shares.sum():
                paths.append(And(path))
            continue
        condition = conditions.expression(int(tree.feature[node]))
        stack.append((left, (*path, Not(condition))))
        stack.append((right, (*path, condition)))
    return normal(Or(tuple(paths)))
