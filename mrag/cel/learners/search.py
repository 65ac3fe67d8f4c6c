"""Search over bitsets: the best combination of conditions, by beam and by branch and bound.

A condition is a class, a restriction on one property, or the negation of one; `features` works out all that
tell some examples from others, first classes, then those ever more properties deep, until a hypothesis
without a mistake is found that chance does not account for. A beam combines them by `⊓` and `⊔`, scoring
every combination with every condition at once. Then branch and bound goes through the conjunctions and the
disjunctions of conditions that could still beat what was found: a conjunction holds no more positive
examples than its part, so its part bounds its quality. While there are mistakes the beam is widened, up to
the time limit, unless examples held out say that a longer hypothesis would hold worse for others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from rdflib import Literal, URIRef
from scipy.sparse import csr_array

from mrag.cel.evaluate import World
from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped, shorten
from mrag.cel.problem import (
    Bits,
    ExampleBits,
    ExampleCounts,
    Hypothesis,
    Measure,
    Numbers,
    PartBits,
    Qualities,
    fingerprints,
    mix,
    quality,
)
from mrag.cel.sparql import by_family, spread
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import ALTERNATIVE, And, Expression, Or, cost, length, negation, normal
from mrag.rdf.terms import XSD, Term

Table: TypeAlias = npt.NDArray[np.bool_]
"""One row for each condition, one column for each term."""

Places: TypeAlias = npt.NDArray[np.intp]
PRICES = np.array([ce.NAME, ce.TEXT], dtype=np.int64)
"""What an individual and a text that are named cost beside their symbols."""


@dataclass(frozen=True)
class FeatureSettings:
    """Which conditions are worked out."""

    nominals: bool = True  # Whether single individuals are named, as in `∃ r.{a}`
    negation: bool = True  # Whether conditions are negated, which gives `∀ r.C` and `≤ n r.C` too
    cardinality: int = 3  # Up to how many values are counted
    data: bool = True  # Whether literals are looked at
    splits: int = 12  # How many limits a property with numbers or dates gets
    # Of how many conditions on the values of a property the pairs are tried, as in `∃ r.(C ⊓ D)`, and
    # how many are counted, as in `≥ 2 r.(∃ s.C)`
    pairs: int = 48
    # How many examples at least, and how many individuals, have a text that is a condition, so that
    # captions and names of files are none
    texts: int = 3
    max_conditions: int = 4000  # How many conditions are kept at each step


class Conditions:
    """Conditions on some terms; few are ever asked for, and these are written when they are.

    Args:
        write: Returns the one at a place in normal form.
        lengths: About how long each is; negation can make it a little longer.
        table: Which terms each holds.
        names: How many individuals and how many texts each names.
        costs: About what each costs.
        simple: Which are a class or the negation of one.
    """

    def __init__(
        self,
        write: Callable[[int], ce.Expression],
        lengths: Numbers,
        table: Table,
        names: Numbers | None = None,
        costs: Numbers | None = None,
        simple: Table | None = None,
    ) -> None:
        self._write, self.lengths, self.table = write, lengths, table
        self.names = count_unnamed(len(lengths)) if names is None else names
        self.costs = lengths + self.names @ PRICES if costs is None else costs
        self.simple = np.zeros(len(lengths), dtype=bool) if simple is None else simple
        self._written: dict[int, ce.Expression] = {}

    @classmethod
    def written(
        cls, expressions: Sequence[ce.Expression], table: Table, names: Sequence[tuple[int, int]] = ()
    ) -> Conditions:
        """Return conditions that are written out already."""
        lengths = np.array([length(e) for e in expressions], dtype=np.int64)
        return cls(
            expressions.__getitem__, lengths, table, np.array(names, dtype=np.int64) if names else None
        )

    def __len__(self) -> int:
        return len(self.lengths)

    def chosen(self, places: Places) -> Conditions:
        """Return those at some places."""
        return Conditions(
            lambda at: self.expression(int(places[at])),
            self.lengths[places],
            self.table[places],
            self.names[places],
            self.costs[places],
        )

    def expression(self, at: int) -> ce.Expression:
        """Return a condition in normal form."""
        if at not in self._written:
            self._written[at] = self._write(at)
        return self._written[at]


def count_unnamed(size: int) -> Numbers:
    """Return that so many conditions name nothing."""
    return np.zeros((size, 2), dtype=np.int64)


_TABLE_CELLS = 30_000_000  # most terms times conditions of a table; of many terms fewer conditions are kept
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
    distinct, columns = np.unique(values, return_inverse=True)
    ones = np.ones(sources.size, dtype=np.int32)
    return csr_array((ones, (sources, columns)), shape=(rows.size, distinct.size)), distinct


_Ground: TypeAlias = tuple[csr_array, Places, list[Conditions], bool]
"""Which of the values of a property each term has, where these stand, the conditions that go no further than
to them (names, texts, limits), and whether there are others than literals."""


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
        parts = [Conditions.written([ce.Named(n) for n in names], table.reshape(len(names), rows.size))]
        if steps > 0:
            for p in self.roles:
                self.fit.tick(0)
                parts.extend(self._restrictions(p, rows, steps, outermost=outermost))
        return self._distinct(parts, rows.size, outermost=outermost)

    def _within(self, rows: Places, steps: int) -> Conditions:
        """Return the conditions on values; other properties may have led to the same ones."""
        key = rows.tobytes(), steps
        if key not in self._inner:
            self._inner[key] = self._conditions(rows, steps)
        return self._inner[key]

    def _ground(self, p: ce.Property, rows: Places) -> _Ground:
        key = p, rows.tobytes()
        if key not in self._grounds:
            edges, values = edges_of(self.world, p, rows)
            terms: list[Term] = [self.world.terms[at] for at in values]
            parts = [self._single(p, edges, terms)] if terms else []
            if terms and self.settings.data:
                parts.extend(self._limits(p, edges, terms))
            self._grounds[key] = edges, values, parts, any(not isinstance(t, Literal) for t in terms)
        return self._grounds[key]

    def _restrictions(
        self, p: ce.Property, rows: Places, steps: int, *, outermost: bool
    ) -> Iterator[Conditions]:
        edges, values, parts, things = self._ground(p, rows)
        if not values.size:
            return
        self.fit.tick(0)
        yield from parts
        inner = self._within(values, steps - 1) if things else self._distinct([], values.size)
        everything = Conditions.written([ce.Top()], np.ones((1, values.size), dtype=bool))
        yield self._count(p, edges, everything, range(1, self.settings.cardinality + 1))
        yield self._count(p, edges, inner, range(1, 2))
        simple = np.flatnonzero(inner.simple)
        if simple.size and self.settings.cardinality > 1:
            some = inner.chosen(simple)
            yield self._count(p, edges, some, range(2, self.settings.cardinality + 1))
        if outermost and self.settings.pairs > 1 and len(inner):
            yield self._count(p, edges, self._pairs(edges, inner), range(1, 2))
            best = self._telling(edges, inner, ~inner.simple & (inner.lengths <= 4))
            if best.size and self.settings.cardinality > 1:
                yield self._count(p, edges, inner.chosen(best), range(2, self.settings.cardinality + 1))

    def _count(self, p: ce.Property, edges: csr_array, of: Conditions, numbers: range) -> Conditions:
        self.fit.tick(0)
        counts = np.asarray(edges @ of.table.T.astype(np.int32)).T
        width, size = (2 if p.inverse else 1), max(len(of), 1)
        lengths = np.concatenate([of.lengths + width + (1 if n == 1 else 2) for n in numbers])
        more = lengths - np.tile(of.lengths, len(numbers))
        return Conditions(
            lambda at: normal(ce.AtLeast(numbers[at // size], p, of.expression(at % size))),
            lengths,
            np.vstack([counts >= n for n in numbers]),
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
            lambda at: normal(ce.And((of.expression(int(left[at])), of.expression(int(right[at]))))),
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

    def _single(self, p: ce.Property, edges: csr_array, terms: list[Term]) -> Conditions:
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
            elif isinstance(term, Literal) and having[at] >= least and ce.is_text(term):
                names.append(ce.Value(p, term))
            else:
                continue
            chosen.append(at)
            kinds.append((0, 1) if isinstance(term, Literal) else (1, 0))
        return Conditions.written(names, columns[:, chosen].toarray().T > 0, kinds)

    def _limits(self, p: ce.Property, edges: csr_array, terms: list[Term]) -> Iterator[Conditions]:
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
            yield Conditions.written(names, np.vstack(table))

    def _distinct(self, parts: list[Conditions], width: int, *, outermost: bool = False) -> Conditions:
        """Add negations and keep the cheapest of the conditions that hold the same terms."""
        starts = np.cumsum([0, *(part.lengths.size for part in parts)])
        size = int(starts[-1])
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(part.lengths for part in parts)])
        costs = np.concatenate([np.zeros(0, dtype=np.int64), *(part.costs for part in parts)])
        names = np.vstack([count_unnamed(0), *(part.names for part in parts)])
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
            support = 1 if width <= 6 else 2 if width <= 20 else 3  # examples that a named individual needs
            least = np.where(names[:, 1] > 0, self.settings.texts, np.where(names[:, 0] > 0, support, 1))
            order = order[np.minimum(held, width - held)[order] >= least[order]]
        _, first = np.unique(fingerprints(table[order]), return_index=True)
        most = min(self.settings.max_conditions, max(_TABLE_CELLS // max(width, 1), 100))
        kept = order[np.sort(first)[:most]]

        def write(place: int) -> ce.Expression:
            negated, at = divmod(int(kept[place]), size)
            part = int(np.searchsorted(starts, at, side="right")) - 1
            e = parts[part].expression(at - int(starts[part]))
            return negation(e) if negated else e

        # The first part has the classes.
        simple = kept % max(size, 1) < (starts[1] if len(parts) else 0)
        return Conditions(write, lengths[kept], table[kept], names[kept], costs[kept], simple)


def _having(edges: csr_array, chosen: list[int]) -> Table:
    mask = np.zeros(edges.shape[1], dtype=np.int32)
    mask[chosen] = 1
    return np.asarray(edges @ mask)[None, :] > 0


def folds(positives: int, negatives: int, max_folds: int, seed: int) -> tuple[npt.NDArray[np.intp], int]:
    """Divide the examples of each kind evenly; 0 folds where that leaves nothing to hold out."""
    number = min(max_folds, positives, negatives)
    rng = np.random.default_rng(seed)
    parts = [rng.permutation(np.arange(n) % max(number, 1)) for n in (positives, negatives)]
    return np.concatenate(parts), number if number > 1 else 0


@dataclass(frozen=True)
class SearchSettings(LearnerSettings):
    """Settings of `BeamSearch`.

    Attributes:
        beam: How many combinations are built on at each round; half as many before the deepest conditions.
        penalty: Quality that each symbol of length costs while searching.
        exact: Most combinations that branch and bound tries.
    """

    steps: int = 3
    max_length: int = 24
    beam: int = 24
    penalty: float = 0.001
    exact: int = 40_000
    features: FeatureSettings = field(default_factory=FeatureSettings)


_CELLS = 500_000
"""Most combinations that are counted at once; more of them would not stay in the cache of a processor."""


@dataclass(frozen=True)
class State:
    """A combination: how it was made, what it holds, how long it is and what it costs."""

    parts: tuple[State | int, int] | int
    conjunction: bool
    bits: Bits
    length: int
    cost: int


Ranked: TypeAlias = tuple[State, int, int]
"""A combination, and how many positive and negative examples it holds."""


class BeamRound:
    """Counts combinations of states with conditions.

    Most of many combinations have the same counts and the same cost as others, so that only few different
    ones have to be scored and put in order.
    """

    def __init__(
        self, bits: ExampleBits, rows: Bits, lengths: Numbers, costs: Numbers, max_length: int
    ) -> None:
        self.bits, self.rows, self.lengths, self.costs = bits, rows, lengths, costs
        self.max_length = max_length
        self._columns = np.ascontiguousarray((rows & bits.inside).T)
        self._made: list[tuple[Sequence[State], bool, Places]] = []
        self._held: list[npt.NDArray[np.int64]] = []
        self._costs: list[Numbers] = []

    def alone(self) -> int:
        """Count the conditions themselves, and return how many there are."""
        places = np.flatnonzero(self.lengths <= self.max_length)
        self._add((), True, places, self._columns[:, places][:, None, :], self.costs[places][None, :])
        return places.size

    def combine(self, states: Sequence[State]) -> Iterator[int]:
        """Count the states with each condition, by `⊓` and by `⊔`; yield how many were counted each time."""
        ordered = sorted(states, key=lambda s: s.length)
        for size, group in groupby(ordered, key=lambda s: s.length):
            alike = list(group)
            places = np.flatnonzero(self.lengths < self.max_length - size)
            several = max(1, _CELLS // max(places.size, 1))
            rows, costs = self._columns[:, places], self.costs[places]
            for start in range(0, len(alike) if places.size else 0, several):
                some = alike[start : start + several]
                held = (np.array([s.bits for s in some]) & self.bits.inside).T[:, :, None]
                prices = costs[None, :] + np.array([s.cost + 1 for s in some])[:, None]
                self._add(some, True, places, rows[:, None, :] & held, prices)
                self._add(some, False, places, rows[:, None, :] | held, prices + ALTERNATIVE)
                yield 2 * prices.size

    def _add(
        self, states: Sequence[State], conjunction: bool, places: Places, made: Bits, costs: Numbers
    ) -> None:
        kind = np.uint16 if max(self.bits.positives, self.bits.negatives) < 2**16 else np.uint32
        ones, split = np.bitwise_count(made), self.bits.split
        tp, fp = (part.sum(axis=0, dtype=kind) for part in (ones[:split], ones[split:]))
        self._held.append((tp.astype(np.int64) * (self.bits.negatives + 1) + fp).ravel())
        self._costs.append(np.broadcast_to(costs, tp.shape).ravel())
        self._made.append((states, conjunction, places))

    def ranked(self, measure: Measure, penalty: float, shares: Sequence[int]) -> Iterator[Iterator[Ranked]]:
        """Yield the combinations with their counts, the best first: in all, for `⊓`, and for `⊔`.

        What holds the same as one of its parts is left out.
        """
        if not self._held:
            return
        costs = np.concatenate(self._costs)
        dear = int(costs.max(initial=0)) + 1
        codes = np.concatenate(self._held) * dear + costs
        many = (self.bits.positives + 1) * (self.bits.negatives + 1) * dear
        if many <= 4 * codes.size + 2**16:
            numbers = np.bincount(codes, minlength=many)
            keys = kinds = np.flatnonzero(numbers)
            numbers = numbers[kinds]
        else:
            kinds, codes, numbers = np.unique(codes, return_inverse=True, return_counts=True)
            keys, many = np.arange(kinds.size), kinds.size
        held, price = np.divmod(kinds, dear)
        tp, fp = np.divmod(held, self.bits.negatives + 1)
        telling = np.flatnonzero(self.bits.informative(tp, fp))
        tp, fp, price, keys, numbers = (x[telling] for x in (tp, fp, price, keys, numbers))
        right, wrong = tp / self.bits.positives, fp / self.bits.negatives
        spent = penalty * price
        scores = (
            self.bits.qualities(tp, fp, measure) - spent,
            4 * right - wrong - spent,
            right - 4 * wrong - spent,
        )
        ranks = np.zeros(many, dtype=np.int32)

        def best(values: Qualities, share: int) -> Iterator[Ranked]:
            order = np.lexsort((price, -values))
            reached = np.cumsum(numbers[order])
            done, wanted = 0, 4 * max(share, 1)
            while done < order.size:
                before = int(reached[done - 1]) if done else 0
                end = int(np.searchsorted(reached, before + wanted)) + 1
                some = order[done:end]
                ranks[keys[some]] = np.arange(1, some.size + 1)
                ranks_of = ranks[codes]
                ranks[keys[some]] = 0
                places = np.flatnonzero(ranks_of)
                places = places[np.argsort(ranks_of[places], kind="stable")]
                for at, state in self._states(places, costs):
                    kind = some[ranks_of[at] - 1]
                    yield state, int(tp[kind]), int(fp[kind])
                done, wanted = end, 8 * wanted

        for values, share in zip(scores, shares, strict=True):
            yield best(values, share)

    def _states(self, places: Places, costs: Numbers) -> Iterator[tuple[int, State]]:
        """Yield the combinations at some places, of those that hold the same the first."""
        starts = np.cumsum([0, *(h.size for h in self._held)])
        groups = np.searchsorted(starts, places, side="right") - 1
        bits = np.empty((places.size, self.rows.shape[1]), dtype=np.uint64)
        parts = np.empty((places.size, 2), dtype=np.intp)
        new = np.ones(places.size, dtype=bool)
        for group in map(int, np.unique(groups)):
            states, conjunction, among = self._made[group]
            inside = np.flatnonzero(groups == group)
            which, place = np.divmod(places[inside] - starts[group], among.size)
            parts[inside, 0], parts[inside, 1] = which, among[place]
            rows = self.rows[among[place]]
            if states:
                held = np.array([s.bits for s in states])[which]
                joined = rows & held if conjunction else rows | held
                new[inside] = (joined != rows).any(axis=1) & (joined != held).any(axis=1)
                rows = joined
            bits[inside] = rows
        _, first = np.unique(mix(bits), return_index=True)
        for i in map(int, np.sort(first)):
            if new[i]:
                states, conjunction, _ = self._made[int(groups[i])]
                condition, at = int(parts[i, 1]), int(places[i])
                length, price = int(self.lengths[condition]), int(costs[at])
                if not states:
                    yield at, State(condition, True, bits[i], length, price)
                else:
                    state = states[int(parts[i, 0])]
                    size = state.length + length + 1
                    yield at, State((state, condition), conjunction, bits[i], size, price)


_NODE = 300  # what it takes to go one step further in branch and bound, in combinations tried


Found: TypeAlias = tuple[float, State, ExampleCounts]  # A combination with its quality and counts


class CombinationSearch:
    """One search over combinations of given conditions."""

    def __init__(
        self,
        fit: FitState,
        settings: SearchSettings,
        conditions: Conditions,
        beam: int,
        bits: ExampleBits | None = None,
    ) -> None:
        self.fit, self.settings, self.conditions, self.width = fit, settings, conditions, beam
        self.offering = bits is None
        self.bits: ExampleBits = fit.bits if bits is None else bits
        self.rows: Bits = fit.bits.pack(conditions.table)
        self.lengths: Numbers = conditions.lengths
        self.costs: Numbers = conditions.costs
        self.front: dict[int, Found] = {}
        self.notes: dict[bytes, Found] = {}
        self.made: list[State] = []
        self.best = -1.0

    def beam(self) -> None:
        """Combine conditions round by round, keeping the best combinations of each."""
        self.fit.tick(len(self.rows))
        first = self.round()
        first.alone()
        states = self.chosen(first)
        # Nothing longer can be better than this.
        enough = 1.0 - self.settings.penalty * (2 + int(self.costs.min(initial=1)))
        while states and self.best < enough:
            before = self.best
            combined = self.round()
            for counted in combined.combine(states):
                self.fit.tick(counted)
            states = self.chosen(combined)
            if self.best <= before:
                break
            # They serve as conditions later on, so that (A ⊓ B) ⊔ (C ⊓ D) can be reached.
            self.extend([s for s in states if 2 * s.length <= self.settings.max_length])

    def round(self) -> BeamRound:
        """Return a round without combinations."""
        return BeamRound(self.bits, self.rows, self.lengths, self.costs, self.settings.max_length)

    def extend(self, states: list[State]) -> None:
        """Add combinations to the conditions."""
        if states:
            self.made.extend(states)
            self.rows = np.vstack([self.rows, *(s.bits[None, :] for s in states)])
            self.lengths = np.append(self.lengths, [s.length for s in states])
            self.costs = np.append(self.costs, [s.cost for s in states])

    def chosen(self, counted: BeamRound) -> list[State]:
        """Remember the best combinations of a round and return those to build on."""
        # Beside the best in all, some that hold nearly all positive examples and some that hold nearly no
        # negative one: `⊓` makes good ones of the first, `⊔` of the second.
        half = self.width // 2
        shares = (self.width - 2 * (half // 2), half // 2, half // 2)
        best: dict[bytes, State] = {}
        kinds = counted.ranked(self.settings.measure, self.settings.penalty, shares)
        for kind, share in zip(kinds, shares, strict=False):
            end = len(best) + share
            for state, tp, fp in kind:
                if len(best) == end:
                    break
                row = state.bits.tobytes()
                if row not in best:
                    best[row] = state
                    self.best = max(self.best, self.note(state, tp, fp))
        return list(best.values())

    def note(self, state: State, tp: int, fp: int) -> float:
        """Remember a combination and return its score."""
        counts = ExampleCounts(tp, fp, self.bits.positives, self.bits.negatives)
        value = quality(counts, self.settings.measure)
        known = self.front.get(state.cost)
        if known is None or value > known[0]:
            self.front[state.cost] = value, state, counts
        if not self.offering:
            return value - self.settings.penalty * state.cost
        if counts.perfect:
            # Whether to go on depends on its real length.
            return self.offer(self.written(state), counts)
        if value >= self.fit.worst:
            row = state.bits.tobytes()
            other = self.notes.get(row)
            if other is None or other[1].cost > state.cost:
                self.notes[row] = value, state, counts
        return value - self.settings.penalty * state.cost

    def written(self, state: State | int) -> Expression:
        """Return the expression of a combination or of the condition at a place."""
        if isinstance(state, int):
            own = len(self.conditions)
            return self.conditions.expression(state) if state < own else self.written(self.made[state - own])
        if isinstance(state.parts, int):
            return self.written(state.parts)
        parts = tuple(map(self.written, state.parts))
        return And(parts) if state.conjunction else Or(parts)

    def offer(self, expression: Expression, counts: ExampleCounts) -> float:
        """Propose a hypothesis if it is short enough, and return its score."""
        shape = normal(expression)
        if length(shape) > self.settings.max_length:
            return -1.0
        return self.fit.offer(shape, counts, shaped=True) - self.settings.penalty * cost(shape)

    def scores(self, tp: Numbers, fp: Numbers, costs: Numbers) -> Qualities:
        """Return qualities less the penalty for what they cost."""
        values = self.bits.qualities(tp, fp, self.settings.measure)
        scores: Qualities = values - self.settings.penalty * costs
        return scores

    def exact(self, *, conjunction: bool) -> bool:
        """Go through the conjunctions or disjunctions of conditions that could be the best."""
        order = np.argsort(self.costs, kind="stable")
        rows, lengths, costs = self.rows[order], self.lengths[order], self.costs[order]
        joint = 1 if conjunction else 1 + ALTERNATIVE
        neutral = self.bits.all if conjunction else np.zeros_like(self.bits.all)
        everything = np.arange(len(order))
        stack: list[tuple[tuple[int, ...], Places, Bits, int, int]] = [((), everything, neutral, -1, -joint)]
        spent = 0
        while stack:
            path, among, held, size, price = stack.pop()
            made = rows[among] & held if conjunction else rows[among] | held
            sizes, prices = lengths[among] + size + 1, costs[among] + price + joint
            spent += len(made) + _NODE
            if spent > self.settings.exact:
                return False
            self.fit.tick(len(made))
            tp, fp = self.bits.count(made)
            scores = self.scores(tp, fp, prices)
            scores[(sizes > self.settings.max_length) | ~self.bits.informative(tp, fp)] = -np.inf
            for at in map(int, np.flatnonzero(scores > self.best)):
                if scores[at] > self.best:
                    self.best = float(scores[at])
                    parts = tuple(self.written(int(order[i])) for i in (*path, int(among[at])))
                    counts = self.fit.counts(tp[at], fp[at])
                    self.offer(And(parts) if conjunction else Or(parts), counts)
            bound_tp, bound_fp = (tp, fp * 0) if conjunction else (tp * 0 + self.bits.positives, fp)
            # Conditions stand in order of cost: the next costs at least as much as this one.
            bounds = self.scores(bound_tp, bound_fp, prices + joint + costs[among])
            children = np.flatnonzero((bounds > self.best) & (sizes + 2 <= self.settings.max_length))
            # What cannot be joined to this much cannot be joined to more.
            for at in map(int, children[np.argsort(bounds[children], kind="stable")]):
                later = among[children[children > at]]
                if later.size:
                    way = (*path, int(among[at]))
                    stack.append((way, later, made[at], int(sizes[at]), int(prices[at])))
        return True


FEWEST = 6  # so many examples of each kind are needed to hold some out
_FOLDS = 5
_LEARNT = 1 / _FOLDS  # how much the quality on the examples learnt from weighs in what is expected on others
_MISTAKES = (1, 4)  # the beta distribution of the share of mistakes before any is seen: a fifth in the mean
_BITS = 3
"""About what it takes to write down a symbol, so that a long expression can say as much as labels do."""


def by_chance(expression: Expression, counts: ExampleCounts, tried: int) -> bool:
    """Return whether labels drawn at random could well be told apart by an expression of this kind."""
    chosen = _conditions(expression) * (math.log2(max(tried, 2)) + 1) + _BITS
    labels = _choices(counts.positives + counts.negatives, counts.positives)
    return max(chosen, _BITS * cost(expression)) >= labels


def says_more(hypothesis: Hypothesis) -> bool:
    """Return whether it takes more to write a hypothesis down than the labels of its examples."""
    c = hypothesis.counts
    return _BITS * cost(hypothesis.expression) >= _choices(c.positives + c.negatives, c.positives)


def _choices(n: int, k: int) -> float:
    """Return how many bits it takes to say which `k` of `n` things are meant."""
    return math.log2(math.comb(n, k))


def _conditions(e: Expression) -> int:
    return sum(map(_conditions, e.parts)) if isinstance(e, And | Or) else 1


def hold_out(
    fit: FitState, settings: SearchSettings, conditions: Conditions, beam: int, seed: int
) -> Qualities | None:
    """Return the quality on examples held out of the best combinations that cost at most so much."""
    p, n = fit.bits.positives, fit.bits.negatives
    if min(p, n) < FEWEST:
        return None
    fold, number = folds(p, n, _FOLDS, seed)
    most = 2 * settings.max_length
    tp, fp = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    for at in range(number):
        inside, outside = (PartBits(fit.bits, chosen) for chosen in (fold != at, fold == at))
        run = CombinationSearch(fit, settings, conditions, beam, inside)
        run.beam()
        best: State | None = None
        value = 0.0
        for limit in range(most + 1):
            run_of = run.front.get(limit)
            if run_of is not None and run_of[0] > value:
                value, best = run_of[:2]
            if best is not None:
                right, wrong = outside.count(best.bits[None, :])
                tp[limit] += right[0]
                fp[limit] += wrong[0]
    return fit.bits.qualities(tp, fp, settings.measure)


def estimate(hypotheses: Iterable[Hypothesis], curve: Qualities | None, penalty: float) -> list[Hypothesis]:
    """Return hypotheses in order of what speaks for them on other examples, the best first.

    What speaks against one are the bits that it takes to write it down, about one for each symbol, and then
    the labels that it gets wrong, if any share of mistakes was possible before, small ones rather than large
    ones. What speaks for it is how many examples those that cost as much got right when they were held out
    (`curve`).
    """
    best = 0.0
    made: list[Hypothesis] = []
    for h in sorted(hypotheses, key=lambda h: (cost(h.expression), -h.quality)):
        price, score, expected = cost(h.expression), -_misfit(h.counts), None
        if curve is not None:
            held = float(curve[min(price, len(curve) - 1)])
            best = max(best, h.quality)
            # Those of the folds had fewer examples to be learnt from, so their like is a little better.
            like = (1 - _LEARNT) * held + _LEARNT * best
            expected = max(0.0, like - (best - h.quality) - penalty * price)
            score += held * (h.counts.positives + h.counts.negatives)
        made.append(replace(h, estimate=expected, score=score - price))
    return sorted(made, key=lambda h: h.order)


def _misfit(counts: ExampleCounts) -> float:
    """Return how many bits it takes to say which examples are labelled otherwise."""
    wrong = counts.fn + counts.fp
    right = counts.positives + counts.negatives - wrong
    return (_log_beta(*_MISTAKES) - _log_beta(_MISTAKES[0] + wrong, _MISTAKES[1] + right)) / math.log(2)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


_WIDEST = 5_000_000  # most combinations of a round of the widest beam
_JUDGED = 24  # from a beam of this width on, its best says whether a wider one is worth while
_VAIN = 2  # so many wider beams without gain end a search


class BeamSearch(Learner):
    """Learns by trying combinations of conditions over bitsets.

    Example:
        >>> import mrag
        >>> from mrag.cel import LearningProblem, to_dl
        >>> with mrag.demo(model="none") as kg:
        ...     stores, others = ("Fuseki", "GraphDB", "Virtuoso"), ("Neo4j", "Redis", "PostgreSQL")
        ...     examples = ([kg.prefixes["ex"] + name for name in names] for names in (stores, others))
        ...     to_dl(BeamSearch(kg).fit(LearningProblem(*examples))[0].expression, kg.prefixes)
        'ex:SemanticProduct'
    """

    name = "search"
    settings_type = SearchSettings
    settings: SearchSettings

    def search(self, fit: FitState) -> Stopped:
        """Try conditions, then combinations of them, ever deeper, until one is right and no accident."""
        run = _Run(fit, self.settings)
        try:
            return run.through()
        finally:
            run.settle()


class _Run:
    """One fit: the search at each depth, the one widened, and the choice among all that was found."""

    def __init__(self, fit: FitState, settings: SearchSettings) -> None:
        self.fit, self.settings = fit, settings
        self.runs: list[CombinationSearch] = []
        self.front: dict[int, tuple[Found, CombinationSearch]] = {}
        self.curve: Qualities | None = None
        self.certain = False

    def through(self) -> Stopped:
        """Search, and return why it ended."""
        fit, settings = self.fit, self.settings
        maker = FeatureMaker(fit, settings.features)
        tried: npt.NDArray[np.bool_] | None = None
        last: CombinationSearch | None = None
        for steps in range(fit.steps + 1):
            conditions = maker.upto(steps)
            same = tried is not None and np.array_equal(conditions.table, tried)
            tried = conditions.table
            if len(conditions) and not same:
                # A solution with fewer properties in a row is mostly found by a narrow beam, or not at all.
                last = self.search(conditions, settings.beam // (1 if steps == fit.steps else 2))
            if self.sure(conditions):
                break
        if last is None:
            return "exhausted"
        self.offer()
        done = last.exact(conjunction=True) & last.exact(conjunction=False)
        for h in fit.best()[:3]:
            simple = shorten(fit, h.expression)
            fit.offer(simple, fit.count(simple))
        self.certain = self.sure(last.conditions)
        if self.certain:
            return "solved"
        self.curve = hold_out(fit, settings, last.conditions, max(settings.beam // 2, 4), settings.seed)
        done &= self.widen(last.conditions)
        self.certain = self.sure(last.conditions)
        if self.certain or fit.solved():
            return "solved"
        return "exhausted" if done else "limit"

    def search(self, conditions: Conditions, beam: int) -> CombinationSearch:
        """Search with a beam, and keep the best at each cost."""
        run = CombinationSearch(self.fit, self.settings, conditions, max(beam, 4))
        self.runs.append(run)
        try:
            run.beam()
        finally:
            for at, state in run.front.items():
                if at not in self.front or state[0] > self.front[at][0][0]:
                    self.front[at] = state, run
        return run

    def offer(self) -> None:
        """Offer the best of what was found; to write all out would take long."""
        notes = [(note, run) for run in self.runs for note in run.notes.values()]
        known: set[bytes] = set()
        for (_, state, counts), run in sorted(notes, key=lambda f: (-f[0][0], f[0][1].cost)):
            row = state.bits.tobytes()
            if row not in known:
                known.add(row)
                run.offer(run.written(state), counts)
            if len(known) == 2 * self.settings.top:
                break
        self.runs.clear()

    def sure(self, conditions: Conditions) -> bool:
        """Return whether the best makes no mistake, and that is no accident."""
        best = self.fit.best()[:1]
        return any(h.solved and not by_chance(h.expression, h.counts, len(conditions)) for h in best)

    def widen(self, conditions: Conditions) -> bool:
        """Search with ever wider beams while that is worth it, and return whether it ended by itself."""
        beam, vain, wide = self.settings.beam, 0, False
        while vain < _VAIN and not self.fit.solved():
            best = self.fit.best()[:1]
            if beam >= _JUDGED and any(says_more(h) or self.too_long(h) for h in best):
                break
            beam *= 2
            if wide := 2 * beam * (len(conditions) + beam) > _WIDEST:
                break
            self.search(conditions, beam)
            self.offer()
            vain = vain + 1 if [h.quality for h in self.fit.best()[:1]] == [h.quality for h in best] else 0
        return not wide

    def too_long(self, best: Hypothesis) -> bool:
        """Return whether more is expected of one that fits less, so that what fits better is vain."""
        return self.curve is not None and self.expect()[0].quality < best.quality

    def expect(self) -> list[Hypothesis]:
        """Return what was found, in order of what speaks for it on other examples."""
        measure = self.settings.measure
        best = {h.expression: h for h in self.fit.best()}
        for (value, state, counts), run in self.front.values():
            if value > 0:
                e = normal(run.written(state))
                if counts.informative and length(e) <= self.settings.max_length:
                    best.setdefault(e, Hypothesis(e, value, counts, measure))
        return estimate(best.values(), self.curve, self.settings.penalty)

    def settle(self) -> None:
        """Put what was found in order of what is expected of it."""
        self.offer()
        # Of fewer examples a mistake says too little.
        if min(self.fit.bits.positives, self.fit.bits.negatives) >= FEWEST and not self.certain:
            self.fit.settle(self.expect())
