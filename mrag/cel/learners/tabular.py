"""Learners over tables of conditions: decision trees (TDL), and lists of which a minimum is required.

TDL (Demir and others, 2025) reads a tree back as an expression. Unlike the published program, a condition
counts if an example holds it, not only if its own triples spell it out, and a path counts if most
examples in its leaf are positive.

`≥ 2 shows.{a, b, c, d}` says in four symbols, however many individuals are named, what would take a long
expression of `⊓` and `⊔` (m-of-n concepts: Murphy and Pazzani, 1991). Such a list fits any examples if it
may be long enough, so nothing is chosen by fit: individuals are ordered by the weights of a ridge
regression, and how many are named, how many must be there, and what is joined is decided by
cross-validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from mrag.cel.expressions import And, Expression, Not, Or, normal
from mrag.cel.learners import search as table
from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped, shortened
from mrag.cel.learners.search import Conditions, Family, FeatureSettings, Orders, Places, Table
from mrag.cel.problem import Bits, Numbers, Qualities
from mrag.errors import ConfigError


@dataclass(frozen=True)
class TreeSettings(LearnerSettings):
    """Settings of `TreeLearner`.

    Attributes:
        steps: How many properties may follow one another in a condition at most: there are 2 at first, and
            more while there are mistakes and time; the published program has 1.
        leaves: Most leaves of the tree, None for any number. Trees of 2, 4, 8… leaves up to it are tried.
        criterion: Of scikit-learn's tree: `entropy`, `gini` or `log_loss`.
        simplify: Whether parts are taken out of the result as long as its quality stays.
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

    def prepare(self) -> None:
        """Load scikit-learn now, because that can take longer than a fit."""
        try:
            self.trees: Any = import_module("sklearn.tree")
        except ImportError as error:
            raise ConfigError("This learner needs scikit-learn.", hint="pip install 'mrag[cel]'") from error

    def search(self, fit: FitState) -> Stopped:
        """Grow trees over conditions that reach ever further, and read each back."""
        tried: Table | None = None
        for steps in range(min(2, fit.steps), fit.steps + 1):
            found = table.features(fit, self.settings.features, steps)
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
        most = settings.leaves
        sizes = [2**n for n in range(1, 7 if most is None else 32) if most is None or 2**n < most]
        for leaves in [*sizes, most]:
            tree = self.trees.DecisionTreeClassifier(
                criterion=settings.criterion,
                max_leaf_nodes=leaves,
                min_samples_leaf=settings.min_samples_leaf,
                random_state=settings.seed,
            ).fit(x, y)
            e = _write(tree, found)
            solved = self._is_offered(fit, e)
            fit.tick()
            if settings.simplify:
                e = shortened(fit, e)
                solved |= self._is_offered(fit, e)
            if solved:
                return not table.by_chance(e, fit.count(e), len(found))
        return False

    def _is_offered(self, fit: FitState, e: Expression) -> bool:
        counts = fit.count(e)
        fit.offer(e, counts)
        return counts.perfect


def _write(fitted: Any, conditions: Conditions) -> Expression:
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


_RUNNERS_UP = 10
_STARTS = 4
_FURTHER = 0.02  # by so much an estimate has to be better for each further property


@dataclass(frozen=True)
class MOfNSettings(LearnerSettings):
    """Settings of `MOfN`.

    Attributes:
        steps: How many properties may follow one another at most: there is 1 at first, and more while there
            are mistakes and time. With 2 also the values of values are listed.
        max_length: Longest hypothesis, as owlapy counts; a list of individuals counts 1.
        names: Most individuals or classes in a list.
        needed: Most of them that must be there.
        folds: Parts that the examples are divided into, each held out once.
        ridge: How far the weights are drawn to zero when individuals are put in order.
        parts: Most conditions that are joined.
        features: Which plain conditions are tried beside the lists.
    """

    steps: int = 2
    max_length: int = 8
    names: int = 12
    needed: int = 4
    folds: int = 5
    ridge: float = 10.0
    parts: int = 2
    features: FeatureSettings = field(default_factory=lambda: FeatureSettings(pairs=0))

    def __post_init__(self) -> None:
        LearnerSettings.__post_init__(self)
        if min(self.names, self.needed, self.parts) < 1 or self.folds < 2 or self.ridge <= 0:
            raise ConfigError("names, needed, parts and ridge are positive, and there are two folds or more.")


class MOfN(Learner):
    """Learns lists of which some must be there; of its hypotheses the first is expected to hold best.

    The first hypothesis is not the one that fits the examples best: `estimate` of each is its quality by
    cross-validation, which the order goes by. With fewer than two examples of a kind there is nothing to
    hold out, and the order goes by the examples themselves.
    """

    name = "m-of-n"
    settings_type = MOfNSettings
    settings: MOfNSettings

    def search(self, fit: FitState) -> Stopped:
        """Choose lists and conditions by cross-validation, and offer them with their estimates."""
        for steps in range(1, fit.steps + 1):
            run = _Run(fit, self.settings, steps)
            for choice, estimate in run.chosen() if len(run.rows) else ():
                e = run.written(choice)
                # What reaches further is chosen among more, so that its estimate is a little too high.
                value = max(0.0, estimate - _FURTHER * (steps - 1)) if run.folds else None
                fit.offer(e, fit.count(e), shaped=True, estimate=value)
            if fit.solved():
                return "solved"
        return "exhausted"


_Column = tuple[int, int, int]
"""Place of a family, least values, names in the list; for a plain condition -1, its place and 0."""

_Choice = tuple[_Column, tuple[tuple[bool, _Column], ...]]
"""A condition, and what is joined with it: whether by `⊓`, and what."""

_Start = tuple[_Choice, Bits, int]  # A choice, what it holds, and its length


class _Run:
    def __init__(self, fit: FitState, settings: MOfNSettings, steps: int) -> None:
        self.fit, self.settings = fit, settings
        bits = fit.bits
        self.labels = np.arange(len(fit.at)) < bits.positives
        self.families = list(table.families(fit, steps))
        self.plain: Conditions = table.features(fit, settings.features, steps)
        self.fold, self.folds = table.folds(bits.positives, bits.negatives, settings.folds, settings.seed)
        self.columns: list[_Column] = [(-1, at, 0) for at in range(len(self.plain))]
        self.lengths: Numbers = self.plain.lengths
        tables: list[Table] = [self.plain.table]
        self.orders: list[Places] = []
        for at, family in enumerate(self.families):
            fit.tick(0)
            held, columns, lengths = self.held_out(at, family)
            tables.append(held)
            self.columns += columns
            self.lengths = np.append(self.lengths, lengths)
        self.table: Table = np.vstack(tables)
        self.rows: Bits = bits.pack(self.table)
        # At the same quality the shortest, and of these the one with the fewest names.
        named = np.array([k for _, _, k in self.columns], dtype=np.float64)
        self.cost: Qualities = 1e-6 * self.lengths + 1e-8 * named

    def held_out(self, at: int, family: Family) -> tuple[Table, list[_Column], Numbers]:
        """Return which examples lists of all sizes hold, made from the other folds each time."""
        numbers = family.numbers()
        orders = Orders(numbers > 0, self.labels, self.settings.ridge, self.settings.names)
        everything = np.ones(len(self.labels), dtype=bool)
        whole = orders.without(~everything)
        self.orders.append(whole)
        most = whole.size
        counts = np.zeros((len(self.labels), most), dtype=np.int64)
        apart = family.apart
        for fold in range(self.folds or 1):
            out = self.fold == fold if self.folds else everything
            order = orders.without(out)[:most] if self.folds else whole
            if order.size:
                found = np.cumsum(numbers[out][:, order], axis=1) if apart else family.counts(order, out)
                counts[out, : order.size] = found
                counts[out, order.size :] = found[:, -1:]
        columns: list[_Column] = []
        lengths: list[int] = []
        rows: list[Table] = []
        for n in range(1, self.settings.needed + 1):
            for k in range(n, most + 1):
                size = family.length(n, k)
                if size <= self.settings.max_length:
                    columns.append((at, n, k))
                    lengths.append(size)
                    rows.append(counts[:, k - 1] >= n)
        shaped = np.array(rows, dtype=bool).reshape(len(rows), len(self.labels))
        return shaped, columns, np.array(lengths, dtype=np.int64)

    def chosen(self) -> Iterator[tuple[_Choice, float]]:
        """Yield what is expected to hold best, with its estimate, then the runners-up."""
        scores = self.scored(self.rows, self.lengths)
        order = [int(at) for at in np.argsort(-(scores - self.cost), kind="stable")[:_RUNNERS_UP]]
        order = [at for at in order if scores[at] > -np.inf]
        if not order:
            return
        for at in order:
            yield (self.columns[at], ()), float(scores[at])
        starts: list[_Start] = [
            ((self.columns[at], ()), self.rows[at], int(self.lengths[at])) for at in order[:_STARTS]
        ]
        held = starts[0][1]
        for _ in range(self.settings.parts - 1):
            found = self.joined(starts)
            if found is None or not self.surely_better(found[0][1], held):
                return
            start, value = found
            yield start[0], value
            starts, held = [start], start[1]

    def joined(self, starts: Sequence[_Start]) -> tuple[_Start, float] | None:
        """Return the best of what is joined from a start and one more condition, with its estimate."""
        best: tuple[_Start, float] | None = None
        top = 0.0
        for (first, rest), row, size in starts:
            for conjunction in (True, False):
                rows = self.rows & row if conjunction else self.rows | row
                lengths = self.lengths + size + 1
                scores = self.scored(rows, lengths)
                costs = self.cost + 1e-6 * size
                at = int(np.argmax(scores - costs))
                if scores[at] - costs[at] > top:
                    top = float(scores[at] - costs[at])
                    choice: _Choice = (first, (*rest, (conjunction, self.columns[at])))
                    best = (choice, rows[at], int(lengths[at])), float(scores[at])
        return best

    def surely_better(self, new: Bits, old: Bits) -> bool:
        """Return whether one is better than another by more than two standard errors over the folds."""
        if not self.folds:
            return False
        held = self.fit.bits.unpack(np.stack([new, old]))
        values = np.array([self.measured(held, self.fold == fold) for fold in range(self.folds)])
        gains = values[:, 0] - values[:, 1]
        return bool(gains.mean() > 2 * gains.std(ddof=1) / self.folds**0.5 + 1e-9)

    def measured(self, held: Table, inside: Table) -> Qualities:
        positive, negative = inside & self.labels, inside & ~self.labels
        part = type(self.fit.bits)(int(positive.sum()), int(negative.sum()))
        return part.qualities(
            held[:, positive].sum(axis=1), held[:, negative].sum(axis=1), self.settings.measure
        )

    def scored(self, rows: Bits, lengths: Numbers) -> Qualities:
        self.fit.tick(len(rows))
        tp, fp = self.fit.bits.count(rows)
        values = self.fit.bits.qualities(tp, fp, self.settings.measure)
        values[(lengths > self.settings.max_length) | ~self.fit.bits.informative(tp, fp)] = -np.inf
        return values

    def written(self, choice: _Choice) -> Expression:
        """Return a choice as an expression, its lists made from all examples."""
        first, rest = choice
        found = self.condition(first)
        for conjunction, column in rest:
            parts = (found, self.condition(column))
            found = And(parts) if conjunction else Or(parts)
        return normal(found)

    def condition(self, column: _Column) -> Expression:
        at, n, k = column
        if at < 0:
            return self.plain.expression(n)
        family = self.families[at]
        return family.expression(n, tuple(family.items[i] for i in self.orders[at][:k]))
