"""Conditions that can be combined: what each holds, costs and names; they are written out when asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.cel.semantics.bits import Numbers
from mrag.cel.syntax.cost import NAME, TEXT
from mrag.cel.syntax.expressions import And, AtLeast, Expression, Property
from mrag.cel.syntax.normal_form import negation, normal

Table: TypeAlias = npt.NDArray[np.bool_]
"""One row for each condition, one column for each term."""

Places: TypeAlias = npt.NDArray[np.intp]

PRICES = np.array([NAME, TEXT], dtype=np.int64)
"""What an individual and a text that are named cost beside their symbols."""


@dataclass(frozen=True)
class FeatureSettings:
    """Which conditions are worked out.

    Attributes:
        nominals: Whether single individuals are named, as in `∃ r.{a}`.
        negation: Whether conditions are negated, which gives `∀ r.C` and `≤ n r.C` too.
        cardinality: Up to how many values are counted.
        data: Whether literals are looked at.
        splits: How many limits a property with numbers or dates gets.
        pairs: Of how many conditions on the values of a property the pairs are tried, as in `∃ r.(C ⊓ D)`,
            and how many are counted, as in `≥ 2 r.(∃ s.C)`.
        texts: How many examples at least, and how many individuals, have a text that is a condition, so that
            captions and names of files are none.
        max_conditions: How many conditions are kept at each step.
    """

    nominals: bool = True
    negation: bool = True
    cardinality: int = 3
    data: bool = True
    splits: int = 12
    pairs: int = 48
    texts: int = 3
    max_conditions: int = 4000


@dataclass(frozen=True, slots=True)
class Counted:
    """At least so many values of a property in a condition of another table."""

    n: int
    property: Property
    of: Conditions
    at: int


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions of a table at once."""

    of: Conditions
    left: int
    right: int


Recipe: TypeAlias = Expression | Counted | Both
"""What a condition is made of."""


class Conditions:
    """Conditions on some terms.

    Attributes:
        lengths: About how long each is; negation can make it a little longer.
        table: Which terms each holds.
        names: How many individuals and how many texts each names.
        costs: About what each costs; see `mrag.cel.syntax.cost`.
    """

    def __init__(
        self,
        recipe: Callable[[int], tuple[Recipe, bool]],
        lengths: Numbers,
        table: Table,
        names: Numbers | None = None,
        costs: Numbers | None = None,
        simple: Table | None = None,
    ) -> None:
        self._recipe, self.lengths, self.table = recipe, lengths, table
        self.names = unnamed(len(lengths)) if names is None else names
        self.costs = lengths + self.names @ PRICES if costs is None else costs
        # Which are a class or the negation of one.
        self.simple = np.zeros(len(lengths), dtype=bool) if simple is None else simple
        self._written: dict[int, Expression] = {}

    def __len__(self) -> int:
        return len(self.lengths)

    def chosen(self, places: Places) -> Conditions:
        """Return those at some places."""
        return Conditions(
            lambda at: self._recipe(int(places[at])),
            self.lengths[places],
            self.table[places],
            self.names[places],
            self.costs[places],
        )

    def expression(self, at: int) -> Expression:
        """Return a condition in normal form."""
        found = self._written.get(at)
        if found is None:
            recipe, negated = self._recipe(at)
            match recipe:
                case Counted(n, p, of, place):
                    found = normal(AtLeast(n, p, of.expression(place)))
                case Both(of, left, right):
                    found = normal(And((of.expression(left), of.expression(right))))
                case _:
                    found = recipe
            if negated:
                found = negation(found)
            self._written[at] = found
        return found


def unnamed(size: int) -> Numbers:
    """Return that so many conditions name nothing."""
    return np.zeros((size, 2), dtype=np.int64)
