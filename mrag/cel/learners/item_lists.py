"""Lists of which some must be there: what can be listed, in what order, and what lists of each size hold.

`mrag.cel.learners.m_of_n` learns such lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rdflib import URIRef
from scipy.sparse import csr_array

from mrag.cel.beam.conditions import Places
from mrag.cel.learners.base import FitState
from mrag.cel.learners.features import edges_of
from mrag.cel.semantics.instances import World
from mrag.cel.syntax.expressions import AtLeast, Expression, Named, OneOf, Or, Property, Some, length
from mrag.cel.syntax.normal_form import normal

Rows = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float32]

_MOST = 1000
"""Most values of a property that can be in a list."""


@dataclass(frozen=True)
class Family:
    """Lists of one kind: of values of a property, of their classes, or of the values of values.

    Attributes:
        role: The property whose values are counted.
        edges: Which values each example has.
        items: What can be in the list.
        member: Which values fall under which item.
        wrap: Makes the filler of a list.
    """

    role: Property
    edges: csr_array
    items: Sequence[str]
    member: csr_array
    wrap: Callable[[tuple[str, ...]], Expression]

    def numbers(self) -> npt.NDArray[np.int64]:
        """Return how many values of each example fall under which item."""
        found: npt.NDArray[np.int64] = (self.edges @ self.member).toarray()
        return found

    @property
    def apart(self) -> bool:
        """Return whether no value falls under two items."""
        return bool((np.diff(self.member.indptr) <= 1).all())

    def counts(self, order: Places, rows: Rows) -> npt.NDArray[np.int64]:
        """Count the values of some examples under the first one, two, three… items of an order."""
        member = self.member[:, order].tocoo()
        # A value counts once, from the first item on that it falls under.
        first = np.full(self.member.shape[0], order.size, dtype=np.intp)
        np.minimum.at(first, member.row, member.col)
        values = np.flatnonzero(first < order.size)
        ones = np.ones(values.size, dtype=np.int64)
        shape = (self.member.shape[0], order.size)
        ranks = csr_array((ones, (values, first[values])), shape=shape)
        return np.cumsum((self.edges[np.flatnonzero(rows)] @ ranks).toarray(), axis=1)

    def expression(self, n: int, names: tuple[str, ...]) -> Expression:
        """Return the condition that so many of the named ones are there."""
        return normal(AtLeast(n, self.role, self.wrap(names)))

    def length(self, n: int, k: int) -> int:
        """Return the length of a list of so many names."""
        # From two names on each adds as much as the one before.
        few = [length(self.expression(n, tuple(f"urn:{i}" for i in range(m)))) for m in _around(n, k)]
        return few[0] + (few[1] - few[0]) * (k - max(n, 2)) if len(few) > 1 else few[0]


class Orders:
    """Puts items in order by the weights of a ridge regression, leaving out some examples each time.

    Args:
        table: Which examples have which items.
        labels: Which examples are positive.
        ridge: How far the weights are drawn to zero.
        max_items: Most items in an order.
    """

    def __init__(self, table: Rows, labels: Rows, ridge: float, max_items: int) -> None:
        self.x, self.y = table.astype(np.float32), labels.astype(np.float32)
        self.ridge, self.max_items = ridge, max_items
        self.product, self.sum, self.right = self._sums(self.x, self.y)

    def _sums(self, x: _Floats, y: _Floats) -> tuple[_Floats, _Floats, _Floats]:
        return x.T @ x, x.sum(axis=0), x.T @ y

    def without(self, out: Rows) -> Places:
        """Return the items that speak for a positive example, the weightiest first."""
        gone, y = self._sums(self.x[out], self.y[out]), self.y[~out]
        product, total, right = self.product - gone[0], self.sum - gone[1], self.right - gone[2]
        product -= np.outer(total, total / y.size)
        product[np.diag_indices_from(product)] += self.ridge
        weights = np.linalg.solve(product, right - total * y.mean())
        # Rounded, so that equal items stand in order of their names on every machine.
        weights = np.round(weights.astype(np.float64), 5)
        best = np.argsort(-weights, kind="stable")[: self.max_items]
        return best[weights[best] > 0]


def families(fit: FitState, steps: int) -> Iterator[Family]:
    """Yield what can be listed: values of a property, their classes, and with two steps values of values."""
    world = fit.world
    for p in world.properties():
        fit.tick(0)
        edges, values = edges_of(world, p, fit.at)
        if not values.size:
            continue
        yield from _named(world, p, edges, values)
        classes = [c for c in world.named if world.classes[c][values].any()]
        if len(classes) > 1:
            marks = csr_array(np.array([world.classes[c][values] for c in classes], dtype=np.int64).T)
            yield Family(p, edges, classes, marks, _union)
        if steps > 1:
            for q in world.properties():
                inner, further = edges_of(world, q, values)
                if further.size:
                    for family in _named(world, q, inner, further):
                        yield Family(p, edges, family.items, inner @ family.member, _within(q))


def _named(world: World, p: Property, edges: csr_array, values: Places) -> Iterator[Family]:
    """Yield the family of the values themselves; what only one has does not help with others."""
    having = np.diff(edges.tocsc().indptr)
    # The most common ones, whatever examples have them: to go by the labels would spoil the estimates.
    common = np.sort(np.argsort(-having, kind="stable")[:_MOST])
    shared = (int(at) for at in common if having[at] > 1)
    chosen = [at for at in shared if isinstance(world.terms[values[at]], URIRef)]
    if len(chosen) > 1:
        ones = np.ones(len(chosen), dtype=np.int64)
        member = csr_array((ones, (chosen, range(len(chosen)))), shape=(values.size, len(chosen)))
        yield Family(p, edges, [str(world.terms[values[at]]) for at in chosen], member, _listed)


def _around(n: int, k: int) -> tuple[int, ...]:
    """Return from which sizes the length of a list of `k` follows."""
    return (k,) if k < 2 else (max(n, 2), max(n, 2) + 1)


def _listed(names: tuple[str, ...]) -> Expression:
    return OneOf(names)


def _union(names: tuple[str, ...]) -> Expression:
    return Or(tuple(map(Named, names)))


def _within(q: Property) -> Callable[[tuple[str, ...]], Expression]:
    return lambda names: Some(q, OneOf(names))


def folds(positives: int, negatives: int, max_folds: int, seed: int) -> tuple[npt.NDArray[np.intp], int]:
    """Divide the examples of each kind evenly; 0 folds where that leaves nothing to hold out."""
    number = min(max_folds, positives, negatives)
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.arange(n) % max(number, 1)) for n in (positives, negatives)]
    return np.concatenate(parts), number if number > 1 else 0
