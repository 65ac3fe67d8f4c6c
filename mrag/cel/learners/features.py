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

from mrag.cel.evaluate import World
from mrag.cel.learners.base import FitState
from mrag.cel.problem import Numbers, fingerprints
from mrag.cel.sparql import by_family, spread
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.expressions import length, negation, normal
from mrag.rdf.terms import RDF, XSD, Term

Table: TypeAlias = npt.NDArray[np.bool_]
"""One row for each condition, one column for each term."""

Places: TypeAlias = npt.NDArray[np.intp]

PRICES = np.array([ce.NAME, ce.TEXT], dtype=np.int64)
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
    property: ce.Property
    of: Conditions
    at: int


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions of a table at once."""

    of: Conditions
    left: int
    right: int


Recipe: TypeAlias = ce.Expression | Counted | Both
"""What a condition is made of."""


class Conditions:
    """Conditions on some terms."""

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
        self._written: dict[int, ce.Expression] = {}

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

    def expression(self, at: int) -> ce.Expression:
        """Return a condition in normal form."""
        found = self._written.get(at)
        if found is None:
            recipe, negated = self._recipe(at)
            match recipe:
                case Counted(n, p, of, place):
                    found = normal(ce.AtLeast(n, p, of.expression(place)))
                case Both(of, left, right):
                    found = normal(ce.And((of.expression(left), of.expression(right))))
                case _:
                    found = recipe
            if negated:
                found = negation(found)
            self._written[at] = found
        return found


def unnamed(size: int) -> Numbers:
    """Return that so many conditions name nothing."""
    return np.zeros((size, 2), dtype=np.int64)


_CELLS = 30_000_000
"""Most terms times conditions of a table; of many terms fewer conditions are kept."""
_TEXTS = (XSD + "string", RDF + "langString")
_BOOLEAN = XSD + "boolean"
_DECIMAL, _INTEGER = XSD + "decimal", XSD + "integer"


def features(fit: FitState, settings: FeatureSettings, steps: int) -> Conditions:
    """Return the conditions that tell some examples from others, the shortest first."""
    return FeatureMaker(fit, settings).upto(steps)


def edges_of(world: World, p: ce.Property, rows: Places) -> tuple[csr_array, Places]:
    """Return which of the terms that come up as values each row has, and where these terms stand."""
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

    def __init__(
        self, recipe: Callable[[int], Recipe], lengths: Numbers, table: Table, names: Numbers, costs: Numbers
    ) -> None:
        self.recipe, self.lengths, self.table = recipe, lengths, table
        self.names, self.costs = names, costs

    @classmethod
    def written(
        cls, expressions: Sequence[ce.Expression], table: Table, names: Sequence[tuple[int, int]] = ()
    ) -> _Part:
        lengths = np.array([length(e) for e in expressions], dtype=np.int64)
        named = np.array(names, dtype=np.int64) if len(names) else unnamed(len(expressions))
        return cls(expressions.__getitem__, lengths, table, named, lengths + named @ PRICES)


@dataclass(frozen=True)
class _Ground:
    """The values that some terms have of a property."""

    edges: csr_array
    values: Places
    parts: list[_Part]
    things: bool


class FeatureMaker:
    """Works conditions out, ever more properties deep; what is needed again is kept."""

    def __init__(self, fit: FitState, settings: FeatureSettings) -> None:
        self.fit, self.settings = fit, settings
        self.world: World = fit.world
        self.roles = self.world.properties()
        self._inner: dict[tuple[bytes, int], Conditions] = {}
        self._grounds: dict[tuple[ce.Property, bytes], _Ground] = {}

    def upto(self, steps: int) -> Conditions:
        """Return the conditions with so many properties in a row at most; see `features`."""
        return self._conditions(self.fit.at, steps, outermost=True)

    def _conditions(self, rows: Places, steps: int, *, outermost: bool = False) -> Conditions:
        """Return the conditions on the terms at some places, with their negations."""
        names = self.world.named
        table = np.array([self.world.classes[name][rows] for name in names], dtype=bool)
        parts = [_Part.written([ce.Named(n) for n in names], table.reshape(len(names), rows.size))]
        if steps > 0:
            for p in self.roles:
                self.fit.tick(0)
                parts.extend(self._restrictions(p, rows, steps, outermost=outermost))
        return self._distinct(parts, rows.size, outermost=outermost)

    def _within(self, rows: Places, steps: int) -> Conditions:
        """Return the conditions on values; other properties may have led to the same ones."""
        key = rows.tobytes(), steps
        found = self._inner.get(key)
        if found is None:
            found = self._inner[key] = self._conditions(rows, steps)
        return found

    def _ground(self, p: ce.Property, rows: Places) -> _Ground:
        """Return the values of a property, and the conditions that go no further than to them."""
        key = p, rows.tobytes()
        found = self._grounds.get(key)
        if found is None:
            edges, values = edges_of(self.world, p, rows)
            terms: list[Term] = [self.world.terms[at] for at in values]
            parts = [self._single(p, edges, terms)] if terms else []
            if terms and self.settings.data:
                parts.extend(self._limits(p, edges, terms))
            things = any(not isinstance(t, Literal) for t in terms)
            found = self._grounds[key] = _Ground(edges, values, parts, things)
        return found

    def _restrictions(self, p: ce.Property, rows: Places, steps: int, *, outermost: bool) -> Iterator[_Part]:
        ground = self._ground(p, rows)
        edges, values = ground.edges, ground.values
        if not values.size:
            return
        self.fit.tick(0)
        yield from ground.parts
        inner = self._within(values, steps - 1) if ground.things else self._distinct([], values.size)
        everything = Conditions(
            lambda _: (ce.Top(), False), np.array([1]), np.ones((1, values.size), dtype=bool)
        )
        yield self._counted(p, edges, everything, range(1, self.settings.cardinality + 1))
        yield self._counted(p, edges, inner, range(1, 2))
        simple = np.flatnonzero(inner.simple)
        if simple.size and self.settings.cardinality > 1:
            some = inner.chosen(simple)
            yield self._counted(p, edges, some, range(2, self.settings.cardinality + 1))
        if outermost and self.settings.pairs > 1 and len(inner):
            yield self._counted(p, edges, self._pairs(edges, inner), range(1, 2))
            best = self._telling(edges, inner, ~inner.simple & (inner.lengths <= 4))
            if best.size and self.settings.cardinality > 1:
                yield self._counted(p, edges, inner.chosen(best), range(2, self.settings.cardinality + 1))

    def _counted(self, p: ce.Property, edges: csr_array, of: Conditions, numbers: range) -> _Part:
        self.fit.tick(0)
        counts = np.asarray(edges @ of.table.T.astype(np.int32)).T
        width, size = (2 if p.inverse else 1), max(len(of), 1)
        tables = [counts >= n for n in numbers]
        lengths = [of.lengths + width + (1 if n == 1 else 2) for n in numbers]
        more = np.concatenate(lengths) - np.tile(of.lengths, len(numbers))
        return _Part(
            lambda at: Counted(numbers[at // size], p, of, at % size),
            np.concatenate(lengths),
            np.vstack(tables),
            np.tile(of.names, (len(numbers), 1)),
            np.tile(of.costs, len(numbers)) + more,
        )

    def _pairs(self, edges: csr_array, of: Conditions) -> Conditions:
        """Join the conditions of each pair of those that tell most, where both hold a value."""
        best = self._telling(edges, of, of.lengths <= 3)
        first, second = np.triu_indices(best.size, 1)
        left, right = best[first], best[second]
        joined = of.table[left] & of.table[right]
        new = joined.any(axis=1) & (joined != of.table[left]).any(axis=1)
        new &= (joined != of.table[right]).any(axis=1)
        left, right = left[new], right[new]
        lengths, costs = (n[left] + n[right] + 1 for n in (of.lengths, of.costs))
        return Conditions(
            lambda at: (Both(of, int(left[at]), int(right[at])), False),
            lengths,
            joined[new],
            of.names[left] + of.names[right],
            costs,
        )

    def _telling(self, edges: csr_array, of: Conditions, among: Table) -> Places:
        """Return where those stand of which the examples have values that tell them apart most."""
        held = np.asarray(edges @ of.table.T.astype(np.int32)).T > 0
        p = self.fit.bits.positives
        positive, negative = held[:, :p].mean(axis=1), held[:, p:].mean(axis=1)
        useful = np.flatnonzero((positive > 0) & among)
        order = useful[np.lexsort((useful, -(positive + np.abs(positive - negative))[useful]))]
        return np.sort(order[: self.settings.pairs])

    def _single(self, p: ce.Property, edges: csr_array, terms: list[Term]) -> _Part:
        """Return the conditions that name one value which several rows have."""
        columns = edges.tocsc()
        # With many rows a value of one alone does not help to separate the others.
        having = np.diff(columns.indptr)
        least = self.settings.texts if self.settings.data else edges.shape[0] + 1
        many = having > (1 if edges.shape[0] > 20 else 0)
        names: list[ce.Expression] = []
        chosen: list[int] = []
        kinds: list[tuple[int, int]] = []
        for at in map(int, np.flatnonzero(many)):
            term = terms[at]
            if isinstance(term, URIRef) and self.settings.nominals:
                names.append(ce.Value(p, str(term)))
            elif isinstance(term, Literal) and having[at] >= least and _is_text(term):
                names.append(ce.Value(p, term))
            else:
                continue
            chosen.append(at)
            kinds.append((0, 1) if isinstance(term, Literal) else (1, 0))
        return _Part.written(names, columns[:, chosen].toarray().T > 0, kinds)

    def _limits(self, p: ce.Property, edges: csr_array, terms: list[Term]) -> Iterator[_Part]:
        """Return the conditions on numbers, dates and booleans."""
        families = by_family(terms)
        for kind, values in families.items():
            # An integer is a decimal, too (XML Schema 1.1 part 2, section 3.4.13).
            held = {**families.get(_INTEGER, {}), **values} if kind == _DECIMAL else values
            distinct = sorted(set(values.values()))
            spelled = {values[at]: terms[at] for at in sorted(values, reverse=True)}
            names: list[ce.Expression] = []
            table: list[Table] = []
            for value in spread(distinct, self.settings.splits):
                limit = spelled[value]
                assert isinstance(limit, Literal)
                if kind == _BOOLEAN:
                    names.append(ce.Value(p, limit))
                    table.append(_having(edges, [at for at, v in values.items() if v == value]))
                    continue
                sides: tuple[tuple[ce.Facet, list[int]], ...] = (
                    ("minInclusive", [at for at, v in held.items() if v >= value]),
                    ("maxInclusive", [at for at, v in held.items() if v <= value]),
                )
                for facet, chosen in sides:
                    names.append(ce.DataSome(p, ce.DataRange(kind, ((facet, limit),))))
                    table.append(_having(edges, chosen))
            yield _Part.written(names, np.vstack(table))

    def _distinct(self, parts: list[_Part], width: int, *, outermost: bool = False) -> Conditions:
        """Add negations and keep the cheapest of the conditions that hold the same terms."""
        starts = np.cumsum([0, *(part.lengths.size for part in parts)])
        size = int(starts[-1])
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
        costs = np.concatenate([np.zeros(0, dtype=np.int64), *(part.costs for part in parts)])
        names = np.vstack([unnamed(0), *(part.names for part in parts)])
        table = np.vstack([np.zeros((0, width), dtype=bool), *(part.table for part in parts)])
        if self.settings.negation:
            # What denies a restriction holds for whatever has no value, too.
            denied = np.where(np.arange(size) < (starts[1] if parts else 0), 1, 1 + ce.DENIAL)
            lengths, costs = np.append(lengths, lengths + 1), np.append(costs, costs + denied)
            table, names = np.vstack([table, ~table]), np.vstack([names, names])
        held = np.count_nonzero(table, axis=1)
        order = np.argsort(costs, kind="stable")
        order = order[(held[order] > 0) & (held[order] < width)]
        if outermost:
            # What hardly any example has, or hardly any lacks, says nothing of others.
            least = np.where(
                names[:, 1] > 0, self.settings.texts, np.where(names[:, 0] > 0, _support(width), 1)
            )
            order = order[np.minimum(held, width - held)[order] >= least[order]]
        _, first = np.unique(fingerprints(table[order]), return_index=True)
        most = min(self.settings.max_conditions, max(_CELLS // max(width, 1), 100))
        kept = order[np.sort(first)[:most]]

        def recipe(place: int) -> tuple[Recipe, bool]:
            negated, at = divmod(int(kept[place]), size)
            part = int(np.searchsorted(starts, at, side="right")) - 1
            return parts[part].recipe(at - int(starts[part])), bool(negated)

        # The first part has the classes.
        simple = kept % max(size, 1) < (starts[1] if len(parts) else 0)
        return Conditions(recipe, lengths[kept], table[kept], names[kept], costs[kept], simple)


def _support(examples: int) -> int:
    """Return how many examples at least have an individual that a condition names."""
    return 1 if examples <= 6 else 2 if examples <= 20 else 3


def _having(edges: csr_array, chosen: list[int]) -> Table:
    mask = np.zeros(edges.shape[1], dtype=np.int32)
    mask[chosen] = 1
    return np.asarray(edges @ mask)[None, :] > 0


def _is_text(term: Literal) -> bool:
    return bool(term.language) or str(term.datatype or XSD + "string") in _TEXTS


Rows = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float32]

_MOST = 1000
"""Most values of a property that can be in a list."""


@dataclass(frozen=True)
class Family:
    """Lists of one kind: of values of a property, of their classes, or of the values of values."""

    role: ce.Property
    edges: csr_array
    items: Sequence[str]
    member: csr_array
    wrap: Callable[[tuple[str, ...]], ce.Expression]

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

    def expression(self, n: int, names: tuple[str, ...]) -> ce.Expression:
        """Return the condition that so many of the named ones are there."""
        return normal(ce.AtLeast(n, self.role, self.wrap(names)))

    def length(self, n: int, k: int) -> int:
        """Return the length of a list of so many names."""
        # From two names on each adds as much as the one before.
        few = [length(self.expression(n, tuple(f"urn:{i}" for i in range(m)))) for m in _around(n, k)]
        return few[0] + (few[1] - few[0]) * (k - max(n, 2)) if len(few) > 1 else few[0]


class Orders:
    """Puts items in order by the weights of a ridge regression, leaving out some examples each time."""

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


def _named(world: World, p: ce.Property, edges: csr_array, values: Places) -> Iterator[Family]:
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


def _listed(names: tuple[str, ...]) -> ce.Expression:
    return ce.OneOf(names)


def _union(names: tuple[str, ...]) -> ce.Expression:
    return ce.Or(tuple(map(ce.Named, names)))


def _within(q: ce.Property) -> Callable[[tuple[str, ...]], ce.Expression]:
    return lambda names: ce.Some(q, ce.OneOf(names))


def folds(positives: int, negatives: int, max_folds: int, seed: int) -> tuple[npt.NDArray[np.intp], int]:
    """Divide the examples of each kind evenly; 0 folds where that leaves nothing to hold out."""
    number = min(max_folds, positives, negatives)
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.arange(n) % max(number, 1)) for n in (positives, negatives)]
    return np.concatenate(parts), number if number > 1 else 0
