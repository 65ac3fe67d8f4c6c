"""The refinements of expressions as layers: what each holds of some individuals, worked out once.

A search goes from an expression to its refinements, and training comes by the same expressions again and
again on other problems; a layer keeps them with one row of booleans each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mrag.cel.learners.refinement import Constructors, RefinementOperator
from mrag.cel.learners.signature import Signature
from mrag.cel.semantics.instances import World
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    Expression,
    Named,
    Not,
    Only,
    Or,
    Some,
    Top,
    Value,
    depth,
    length,
    walk,
)  # fmt: skip
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph

Vectors = npt.NDArray[np.float32]

_LAYER_BYTES = 300_000_000
"""Up to so much memory layers are kept in."""
_KINDS = (Named, Not, And, Or, Some, Only, AtLeast, AtMost, Value)


@dataclass(frozen=True)
class RefinementSpaceSettings:
    """Which expressions are reached, and by how large steps.

    Attributes:
        constructors: What they are made of; None takes what the graph needs: single individuals are named
            where all values of a property are of the same classes, and no inverse properties.
        step: By how much longer a refinement may be than what it refines.
        first: Longest refinement of `⊤`; pairs joined by `⊔` begin here.
        max_length: Longest expression.
        steps: How many properties may follow one another.
    """

    constructors: Constructors | None = None
    step: int = 4
    first: int = 7
    max_length: int = 14
    steps: int = 2

    def __post_init__(self) -> None:
        if min(self.step, self.first, self.max_length, self.steps) < 1:
            raise ConfigError("step, first, max_length and steps are positive.")


@dataclass(frozen=True)
class Refinements:
    """The refinements of one expression.

    Attributes:
        expressions: In normal form, the shortest first.
        table: A row for each, a column for each individual: whether it is held.
        shapes: A row for each: what it looks like, see `shape`.
    """

    expressions: tuple[Expression, ...]
    table: npt.NDArray[np.bool_]
    shapes: Vectors


class RefinementSource(Protocol):
    """Where the refinements of expressions come from."""

    def refinements(self, expression: Expression) -> Refinements:
        """Return the refinements of an expression that hold an individual."""


class SpaceView:
    """A space seen by some of its individuals only, with the layers of the whole.

    Args:
        space: The space.
        columns: Where the individuals stand among the terms of the world; each is one of the space.
    """

    def __init__(self, space: RefinementSpace, columns: npt.NDArray[np.intp]) -> None:
        self._space = space
        place = np.zeros(space.world.size, dtype=np.intp)
        place[space.columns] = np.arange(len(space.columns))
        self._places = place[columns]

    def refinements(self, expression: Expression) -> Refinements:
        """Return the refinements of an expression that hold one of the individuals."""
        whole = self._space.refinements(expression)
        table = whole.table[:, self._places]
        kept = np.flatnonzero(table.any(axis=1))
        return Refinements(tuple(whole.expressions[at] for at in kept), table[kept], whole.shapes[kept])


class RefinementSpace:
    """The expressions over a world, as layers of refinements.

    Args:
        kg: Where the hierarchies are read.
        world: The statements.
        columns: Where the individuals stand whose rows are kept.
        settings: Which expressions.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        world: World,
        columns: npt.NDArray[np.intp],
        settings: RefinementSpaceSettings | None = None,
    ) -> None:
        self.world, self.columns = world, columns
        self.settings = settings or RefinementSpaceSettings()
        self.constructors = self.settings.constructors or constructors_for(Signature(world))
        self.operator = RefinementOperator(kg, world, self.constructors)
        self._layers: dict[Expression, Refinements] = {}
        self._bytes = 0

    @classmethod
    def of(
        cls,
        kg: KnowledgeGraph,
        world: World,
        columns: npt.NDArray[np.intp],
        settings: RefinementSpaceSettings,
    ) -> RefinementSource:
        """Return a space for some individuals; that of a graph fetched whole is kept until it changes."""
        if world.steps is not None:
            return cls(kg, world, columns, settings)
        name = f"cel-space {settings!r}"
        found = kg.cache.get(name)
        if not isinstance(found, cls) or found.world is not world:
            found = cls(kg, world, np.flatnonzero(world.individuals), settings)
            kg.cache[name] = found
        return SpaceView(found, columns)

    def refinements(self, expression: Expression) -> Refinements:
        """Return the refinements of an expression that hold an individual."""
        found = self._layers.get(expression)
        if found is None:
            found = self._worked_out(expression)
            self._bytes += found.table.nbytes + 500 * len(found.expressions)
            if self._bytes > _LAYER_BYTES:
                self._layers.clear()
                self._bytes = found.table.nbytes
            self._layers[expression] = found
        return found

    def row(self, expression: Expression) -> npt.NDArray[np.bool_]:
        """Return which of the individuals an expression holds."""
        return self.world.extension(expression)[self.columns]

    def _worked_out(self, expression: Expression) -> Refinements:
        settings = self.settings
        limit = settings.first if isinstance(expression, Top) else length(expression) + settings.step
        kept: list[Expression] = []
        rows: list[npt.NDArray[np.bool_]] = []
        for e in self.operator.refine(expression, min(limit, settings.max_length)):
            if depth(e) > settings.steps or isinstance(e, Top | Bottom) or not self.world.reaches(e):
                continue
            row = self.row(e)
            if row.any():
                kept.append(e)
                rows.append(row)
        table = np.array(rows, dtype=bool).reshape(len(kept), len(self.columns))
        shapes = np.array([shape(e) for e in kept], dtype=np.float32).reshape(len(kept), SHAPE)
        return Refinements(tuple(kept), table, shapes)


SHAPE = len(_KINDS) + 6
"""How many numbers a shape has."""

LENGTH = len(_KINDS)
"""Where in a shape the length stands, in tens."""


def shape(expression: Expression) -> list[float]:
    """Describe what an expression looks like, whatever its names: length, depth, what it is made of.

    Example:
        >>> len(shape(Named("urn:A"))) == SHAPE
        True
    """
    parts = list(walk(expression))
    joined = len(expression.parts) if isinstance(expression, And | Or) else 1
    open_ends = sum(isinstance(p, Top) for p in parts)
    root = [float(isinstance(expression, kind)) for kind in _KINDS]
    rest = (
        length(expression) / 10,
        depth(expression) / 3,
        joined / 3,
        open_ends / 2,
        sum(isinstance(p, Not | Only) for p in parts) / 3,
        sum(isinstance(p, Named | Value) for p in parts) / 3,
    )
    return [*root, *rest]


def constructors_for(atoms: Signature) -> Constructors:
    """Return constructors that name individuals only where nothing else distinguishes values."""
    return Constructors(inverse=False, nominals=any(atoms.alike(p) for p in atoms.links))


def random_descents(space: RefinementSpace, rng: np.random.Generator, max_steps: int) -> Iterator[Expression]:
    """Yield random expressions: ever new walks from `⊤` of at most so many refinements.

    Args:
        space: The expressions.
        rng: Where the random choices come from.
        max_steps: Most refinements in a walk.
    """
    while True:
        found: Expression = Top()
        for _ in range(int(rng.integers(1, max_steps + 1))):
            refinements = space.refinements(found)
            if not refinements.expressions:
                break
            # A length first, so that the few short ones come up as often as the many long ones.
            lengths = refinements.shapes[:, LENGTH]
            chosen = rng.choice(np.unique(lengths))
            found = refinements.expressions[int(rng.choice(np.flatnonzero(lengths == chosen)))]
        if not isinstance(found, Top):
            yield found
