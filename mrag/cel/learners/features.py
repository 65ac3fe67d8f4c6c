"""Single conditions on examples: classes, properties, values, limits, and their negations.

The conditions are worked out from the inside: those of the values of a property give those of the
individual that has it, for all conditions and individuals in one product of matrices. Of conditions that
hold the same examples the shortest is kept. Expressions are only written out for the few that are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rdflib import Literal, URIRef
from scipy.sparse import csr_array

from mrag.cel.learners.base import FitState
from mrag.cel.semantics.bits import Numbers, fingerprints
from mrag.cel.semantics.instances import World
from mrag.cel.semantics.values import by_family, spread
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    DataRange,
    DataSome,
    Expression,
    Facet,
    Named,
    Property,
    Top,
    Value,
    length,
)  # fmt: skip
from mrag.cel.syntax.normal_form import negation, normal
from mrag.rdf.terms import RDF, XSD, Term

Table: TypeAlias = npt.NDArray[np.bool_]
"""One row for each condition, one column for each term."""

Places: TypeAlias = npt.NDArray[np.intp]

_TEXTS = (XSD + "string", RDF + "langString")
_BOOLEAN = XSD + "boolean"


@dataclass(frozen=True)
class FeatureSettings:
    """Which conditions are worked out.

    Attributes:
        nominals: Whether single individuals are named, as in `∃ r.{a}`.
        negation: Whether conditions are negated, which gives `∀ r.C` and `≤ n r.C` too.
        cardinality: Up to how many values are counted.
        data: Whether literals are looked at.
        splits: How many limits a property with numbers or dates gets.
        pairs: Of how many conditions on the values of a property the pairs are tried, as in `∃ r.(C ⊓ D)`.
        max_conditions: How many conditions are kept at each step.
    """

    nominals: bool = True
    negation: bool = True
    cardinality: int = 3
    data: bool = True
    splits: int = 12
    pairs: int = 48
    max_conditions: int = 4000


@dataclass(frozen=True, slots=True)
class _Counted:
    """At least so many values of a property in a condition of another table."""

    n: int
    property: Property
    of: Conditions
    at: int


@dataclass(frozen=True, slots=True)
class _Both:
    of: Conditions
    left: int
    right: int


_Recipe: TypeAlias = Expression | _Counted | _Both


class Conditions:
    """Conditions on some terms.

    Attributes:
        lengths: About how long each is; negation can make it a little longer.
        table: Which terms each holds.
    """

    def __init__(
        self,
        recipe: Callable[[int], tuple[_Recipe, bool]],
        lengths: Numbers,
        table: Table,
        simple: Table | None = None,
    ) -> None:
        self._recipe, self.lengths, self.table = recipe, lengths, table
        # Which are a class or the negation of one.
        self.simple = np.zeros(len(lengths), dtype=bool) if simple is None else simple
        self._written: dict[int, Expression] = {}

    def __len__(self) -> int:
        return len(self.lengths)

    def chosen(self, places: Places) -> Conditions:
        """Return those at some places."""
        return Conditions(lambda at: self._recipe(int(places[at])), self.lengths[places], self.table[places])

    def expression(self, at: int) -> Expression:
        """Return a condition in normal form."""
        found = self._written.get(at)
        if found is None:
            recipe, negated = self._recipe(at)
            match recipe:
                case _Counted(n, p, of, place):
                    found = normal(AtLeast(n, p, of.expression(place)))
                case _Both(of, left, right):
                    found = normal(And((of.expression(left), of.expression(right))))
                case _:
                    found = recipe
            if negated:
                found = negation(found)
            self._written[at] = found
        return found


def features(fit: FitState, settings: FeatureSettings, steps: int) -> Conditions:
    """Return the conditions that tell some examples from others, the shortest first.

    Args:
        fit: The examples.
        settings: Which conditions.
        steps: How many properties may follow one another.

    Returns:
        The conditions, with one column for each example, the positive ones first.
    """
    return _Features(fit, settings).conditions(fit.at, steps, outermost=True)


def edges_of(world: World, p: Property, rows: Places) -> tuple[csr_array, Places]:
    """Return which of the terms that come up as values each row has, and where these terms stand.

    Args:
        world: The statements.
        p: The property.
        rows: Where the terms stand that have the values.
    """
    sources, values = world.pairs(p)
    place = np.full(world.size, -1, dtype=np.intp)
    place[rows] = np.arange(rows.size)
    chosen = place[sources] >= 0
    sources, values = place[sources[chosen]], values[chosen]
    found, columns = np.unique(values, return_inverse=True)
    ones = np.ones(sources.size, dtype=np.int32)
    return csr_array((ones, (sources, columns)), shape=(rows.size, found.size)), found


class _Part:
    """Conditions as they are made, before the same ones are taken out; few are ever asked for."""

    def __init__(self, recipe: Callable[[int], _Recipe], lengths: Numbers, table: Table) -> None:
        self.recipe, self.lengths, self.table = recipe, lengths, table

    @classmethod
    def written(cls, expressions: Sequence[Expression], table: Table) -> _Part:
        lengths = np.array([length(e) for e in expressions], dtype=np.int64)
        return cls(expressions.__getitem__, lengths, table)


class _Features:
    def __init__(self, fit: FitState, settings: FeatureSettings) -> None:
        self.fit, self.settings = fit, settings
        self.world: World = fit.world
        self.roles = self.world.properties()
        self.inner: dict[tuple[bytes, int], Conditions] = {}

    def conditions(self, rows: Places, steps: int, *, outermost: bool = False) -> Conditions:
        """Return the conditions on the terms at some places, with their negations."""
        names = self.world.named
        table = np.array([self.world.classes[name][rows] for name in names], dtype=bool)
        parts = [_Part.written([Named(n) for n in names], table.reshape(len(names), rows.size))]
        if steps > 0:
            for p in self.roles:
                self.fit.tick(0)
                parts.extend(self.restrictions(p, rows, steps, outermost=outermost))
        return self.distinct(parts, rows.size)

    def within(self, rows: Places, steps: int) -> Conditions:
        """Return the conditions on values; other properties may have led to the same ones."""
        key = rows.tobytes(), steps
        found = self.inner.get(key)
        if found is None:
            found = self.inner[key] = self.conditions(rows, steps)
        return found

    def restrictions(self, p: Property, rows: Places, steps: int, *, outermost: bool) -> Iterator[_Part]:
        edges, values = edges_of(self.world, p, rows)
        if not values.size:
            return
        terms: list[Term] = [self.world.terms[at] for at in values]
        yield self.single(p, edges, terms)
        if self.settings.data:
            yield from self.limits(p, edges, terms)
        things = any(not isinstance(t, Literal) for t in terms)
        inner = self.within(values, steps - 1) if things else self.distinct([], values.size)
        everything = Conditions(
            lambda _: (Top(), False), np.array([1]), np.ones((1, values.size), dtype=bool)
        )
        yield self.counted(p, edges, everything, range(1, self.settings.cardinality + 1))
        yield self.counted(p, edges, inner, range(1, 2))
        simple = np.flatnonzero(inner.simple)
        if simple.size and self.settings.cardinality > 1:
            some = inner.chosen(simple)
            yield self.counted(p, edges, some, range(2, self.settings.cardinality + 1))
        if outermost and self.settings.pairs > 1 and len(inner):
            yield self.counted(p, edges, self.pairs(edges, inner), range(1, 2))

    def counted(self, p: Property, edges: csr_array, of: Conditions, numbers: range) -> _Part:
        counts = np.asarray(edges @ of.table.T.astype(np.int32)).T
        width, size = (2 if p.inverse else 1), max(len(of), 1)
        tables = [counts >= n for n in numbers]
        lengths = [of.lengths + width + (1 if n == 1 else 2) for n in numbers]
        return _Part(
            lambda at: _Counted(numbers[at // size], p, of, at % size),
            np.concatenate(lengths),
            np.vstack(tables),
        )

    def pairs(self, edges: csr_array, of: Conditions) -> Conditions:
        """Join the conditions of each pair of those that tell most, where both hold a value."""
        held = np.asarray(edges @ of.table.T.astype(np.int32)).T > 0
        p = self.fit.bits.positives
        positive, negative = held[:, :p].mean(axis=1), held[:, p:].mean(axis=1)
        useful = np.flatnonzero((positive > 0) & (of.lengths <= 3))
        order = useful[np.lexsort((useful, -(positive + np.abs(positive - negative))[useful]))]
        best = np.sort(order[: self.settings.pairs])
        first, second = np.triu_indices(best.size, 1)
        left, right = best[first], best[second]
        joined = of.table[left] & of.table[right]
        new = joined.any(axis=1) & (joined != of.table[left]).any(axis=1)
        new &= (joined != of.table[right]).any(axis=1)
        left, right = left[new], right[new]
        lengths = of.lengths[left] + of.lengths[right] + 1
        return Conditions(lambda at: (_Both(of, int(left[at]), int(right[at])), False), lengths, joined[new])

    def single(self, p: Property, edges: csr_array, terms: list[Term]) -> _Part:
        """Return the conditions that name one value which several rows have."""
        columns = edges.tocsc()
        # With many rows a value of one alone does not help to separate the others.
        many = np.diff(columns.indptr) > (1 if edges.shape[0] > 20 else 0)
        names: list[Expression] = []
        chosen: list[int] = []
        for at in map(int, np.flatnonzero(many)):
            term = terms[at]
            if isinstance(term, URIRef) and self.settings.nominals:
                names.append(Value(p, str(term)))
                chosen.append(at)
            elif isinstance(term, Literal) and self.settings.data and _is_text(term):
                names.append(Value(p, term))
                chosen.append(at)
        return _Part.written(names, columns[:, chosen].toarray().T > 0)

    def limits(self, p: Property, edges: csr_array, terms: list[Term]) -> Iterator[_Part]:
        """Return the conditions on numbers, dates and booleans."""
        for kind, values in by_family(terms).items():
            distinct = sorted(set(values.values()))
            spelled = {values[at]: terms[at] for at in sorted(values, reverse=True)}
            names: list[Expression] = []
            table: list[Table] = []
            for value in spread(distinct, self.settings.splits):
                limit = spelled[value]
                assert isinstance(limit, Literal)
                if kind == _BOOLEAN:
                    names.append(Value(p, limit))
                    table.append(_having(edges, [at for at, v in values.items() if v == value]))
                    continue
                sides: tuple[tuple[Facet, list[int]], ...] = (
                    ("minInclusive", [at for at, v in values.items() if v >= value]),
                    ("maxInclusive", [at for at, v in values.items() if v <= value]),
                )
                for facet, chosen in sides:
                    names.append(DataSome(p, DataRange(kind, ((facet, limit),))))
                    table.append(_having(edges, chosen))
            yield _Part.written(names, np.vstack(table))

    def distinct(self, parts: list[_Part], width: int) -> Conditions:
        """Add negations and keep the shortest of the conditions that hold the same terms."""
        starts = np.cumsum([0, *(part.lengths.size for part in parts)])
        size = int(starts[-1])
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
        table = np.vstack([np.zeros((0, width), dtype=bool), *(part.table for part in parts)])
        if self.settings.negation:
            lengths = np.append(lengths, lengths + 1)
            table = np.vstack([table, ~table])
        held = np.count_nonzero(table, axis=1)
        order = np.argsort(lengths, kind="stable")
        order = order[(held[order] > 0) & (held[order] < width)]
        _, first = np.unique(fingerprints(table[order]), return_index=True)
        kept = order[np.sort(first)[: self.settings.max_conditions]]

        def recipe(place: int) -> tuple[_Recipe, bool]:
            negated, at = divmod(int(kept[place]), size)
            part = int(np.searchsorted(starts, at, side="right")) - 1
            return parts[part].recipe(at - int(starts[part])), bool(negated)

        # The first part has the classes.
        simple = kept % max(size, 1) < (starts[1] if len(parts) else 0)
        return Conditions(recipe, lengths[kept], table[kept], simple)


def _having(edges: csr_array, chosen: list[int]) -> Table:
    mask = np.zeros(edges.shape[1], dtype=np.int32)
    mask[chosen] = 1
    return np.asarray(edges @ mask)[None, :] > 0


def _is_text(term: Literal) -> bool:
    return bool(term.language) or str(term.datatype or XSD + "string") in _TEXTS
