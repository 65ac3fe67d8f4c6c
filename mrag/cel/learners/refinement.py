"""Learners that refine: the downward operator, and best-first search by CELOE.

The operator is that of Lehmann and Hitzler (2010) as DL-Learner has it: an atomic class is refined to its
subclasses and to its conjunctions with the refinements of `⊤`, never to a class beside it, and every step
leads to a part of what it starts from. CELOE is that of Lehmann, Auer, Bühmann and Tramp (2011).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rdflib import Literal, URIRef

from mrag.cel.evaluate import World, hierarchy
from mrag.cel.learners.base import FitState, Learner, LearnerSettings, Stopped
from mrag.cel.sparql import by_family, spread
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import key, length, normal, operands, with_operands
from mrag.rdf.terms import XSD

_COUNTED = 10  # up to how many values are counted
_LIMITS = 12  # how many limits each property with numbers or dates has
_PAIRS = 5_000  # up to how many pairs of refinements of `⊤` are joined by `⊔`


class RefinementOperator:
    """Refines expressions over the classes and properties of a world."""

    def __init__(self, kg: KnowledgeGraph, world: World) -> None:
        self.world = world
        self.classes = world.named
        literal = np.isin(np.arange(world.size), world.literals)
        self.links = [p for p in world.properties() if not literal[world.roles[p.iri][1]].all()]
        self.data = [p for p in world.roles if ce.Property(p) not in self.links]
        above: dict[str, set[str]] = {c: set() for c in self.classes}
        self.subroles: dict[str, list[str]] = {}
        classes, properties = hierarchy(kg)
        for sub, wider in classes:
            if sub in above and wider in above:
                above[sub].add(wider)
        for sub, wider in properties:
            if sub in world.roles and wider in world.roles:
                self.subroles.setdefault(wider, []).append(sub)
        self.parents = {c: _nearest(c, above) for c in self.classes}
        self.children: dict[str, list[str]] = {c: [] for c in self.classes}
        for c, parents in self.parents.items():
            for parent in parents:
                self.children[parent].append(c)

    def refine(
        self, e: ce.Expression, limit: int, check: Callable[[], None] | None = None
    ) -> list[ce.Expression]:
        """Return the refinements up to a length, in normal form, in order of length and name."""
        refinements: set[ce.Expression] = set()
        for x in self._refine(e, limit):
            if check is not None:
                check()
            refinements.add(normal(x))
        refinements.discard(e)
        return sorted((x for x in refinements if length(x) <= limit), key=lambda x: (length(x), key(x)))

    def _refine(self, e: ce.Expression, limit: int) -> Iterator[ce.Expression]:
        if isinstance(e, ce.Top):
            yield from (x for x in self.top if length(x) <= limit)
            yield from self._unions(limit)
        elif not isinstance(e, ce.Bottom):
            yield from self._inside(e, limit)
            yield from self._outside(e)
            if not isinstance(e, ce.And):
                room = limit - length(e) - 1
                yield from (ce.And((e, x)) for x in self.top if length(x) <= room and self._meet(e, x))

    def _inside(self, e: ce.Expression, limit: int) -> Iterator[ce.Expression]:
        """Yield an expression with one of its operands refined, where that makes it narrower."""
        if isinstance(e, ce.Connective | ce.Some | ce.Only | ce.AtLeast):
            parts = operands(e)
            for at, part in enumerate(parts):
                room = limit - length(e) + length(part)
                for x in self._refine(part, room):
                    yield with_operands(e, (*parts[:at], x, *parts[at + 1 :]))

    def _outside(self, e: ce.Expression) -> Iterator[ce.Expression]:
        """Yield an expression with a narrower class, property, number or limit at its root."""
        match e:
            case ce.Named(name):
                yield from map(ce.Named, self.children.get(name, ()))
            case ce.Not(ce.Named(name)):
                yield from (ce.Not(ce.Named(parent)) for parent in self.parents.get(name, ()))
            case ce.Some(p, filler):
                yield from (ce.Some(ce.Property(s, p.inverse), filler) for s in self.subroles.get(p.iri, ()))
                if self._max_values(p) > 1:
                    yield ce.AtLeast(2, p, filler)
            case ce.Only(p, ce.Named(name)) if not self.children.get(name):
                yield ce.Only(p, ce.Bottom())
            case ce.AtLeast(n, p, filler) if n < self._max_values(p):
                yield ce.AtLeast(n + 1, p, filler)
            case ce.AtMost(n, p, filler):
                yield ce.AtMost(n - 1, p, filler)
            case ce.DataSome(p, ce.DataRange(datatype, ((facet, value),))):
                values = self.splits.get((p.iri, datatype), [])
                if value in values:
                    at = values.index(value) + (1 if facet == "minInclusive" else -1)
                    if 0 <= at < len(values):
                        yield ce.DataSome(p, ce.DataRange(datatype, ((facet, values[at]),)))

    @cached_property
    def top(self) -> list[ce.Expression]:
        """The refinements of `⊤` that are no unions."""
        expressions: list[ce.Expression] = [ce.Named(c) for c in self.classes if not self.parents[c]]
        expressions.extend(ce.Not(ce.Named(c)) for c in self.classes if not self.children[c])
        for p in self.links:
            expressions.append(ce.Some(p, ce.Top()))
            expressions.extend(ce.Only(p, ce.Named(c)) for c in self.classes if not self.parents[c])
            expressions.append(ce.Only(p, ce.Bottom()))
            most = self._max_values(p)
            if most > 1:
                expressions.append(ce.AtMost(most - 1, p, ce.Top()))
            if not p.inverse:
                expressions.extend(ce.Value(p, v) for v in self._values(p))
        for name in self.data:
            expressions.extend(self._limits(ce.Property(name)))
        return expressions

    @cached_property
    def splits(self) -> dict[tuple[str, str], list[Literal]]:
        """The limits of each property by datatype, ascending."""
        values_of: dict[tuple[str, str], list[Literal]] = {}
        for name in self.data:
            terms = [self.world.terms[at] for at in np.unique(self.world.roles[name][1])]
            for kind, values in by_family(terms).items():
                spelled = {values[at]: terms[at] for at in sorted(values, reverse=True)}
                ordered = [spelled[v] for v in sorted(spelled)]
                values_of[name, kind] = list(spread(ordered, _LIMITS))
        return values_of

    def _limits(self, p: ce.Property) -> Iterator[ce.Expression]:
        for (name, kind), values in self.splits.items():
            if name == p.iri and kind == XSD + "boolean":
                yield from (ce.Value(p, v) for v in values)
            elif name == p.iri:
                yield ce.DataSome(p, ce.DataRange(kind, (("minInclusive", values[0]),)))
                yield ce.DataSome(p, ce.DataRange(kind, (("maxInclusive", values[-1]),)))

    def _unions(self, limit: int) -> Iterator[ce.Expression]:
        parts = [x for x in self.top if length(x) + 2 <= limit]
        if math.comb(len(parts), 2) > _PAIRS:
            parts = [x for x in parts if not isinstance(x, ce.Value)]
        if math.comb(len(parts), 2) > _PAIRS:
            return
        for at, left in enumerate(parts):
            for right in parts[at + 1 :]:
                if length(left) + length(right) + 1 <= limit:
                    yield ce.Or((left, right))

    def _meet(self, a: ce.Expression, b: ce.Expression) -> bool:
        """Return whether two expressions share a term, and neither holds all of the other."""
        left, right = self.world.extension(normal(a)), self.world.extension(normal(b))
        both = left & right
        return bool(both.any()) and not bool((both == left).all())

    def _max_values(self, p: ce.Property) -> int:
        """Return how many values of the property one term has at most, as far as they are counted."""
        sources, _ = self.world.pairs(p)
        return min(int(np.bincount(sources).max(initial=0)), _COUNTED)

    def _values(self, p: ce.Property) -> list[str]:
        """Return the individuals that at least two terms have as a value."""
        _, values = self.world.pairs(p)
        places, counts = np.unique(values, return_counts=True)
        terms = [self.world.terms[at] for at in places[counts > 1]]
        return [str(t) for t in terms if isinstance(t, URIRef)]


def _nearest(name: str, above: dict[str, set[str]]) -> list[str]:
    """Return the superclasses that have no other superclass between; equivalent ones are none."""
    wider = {c for c in above[name] if name not in above[c]}
    return sorted(c for c in wider if not any(c in above[d] and d not in above[c] for d in wider - {c}))


@dataclass(frozen=True)
class CeloeSettings(LearnerSettings):
    """Settings of `Celoe`; the defaults of the heuristic are the published ones.

    Attributes:
        start_bonus: Score that `⊤` gets beside its quality.
        gain_bonus: Weight of what an expression gained over the one it was refined from.
        expansion_penalty: Score that each step of horizontal expansion costs.
        refinement_penalty: Score that each refinement an expression already has costs.
    """

    max_tested: int = 10_000
    max_length: int = 24
    start_bonus: float = 0.1
    gain_bonus: float = 0.3
    expansion_penalty: float = 0.1
    refinement_penalty: float = 0.001


@dataclass
class _Node:
    expression: ce.Expression
    quality: float
    parent: float | None
    expanded: int
    refined: int = 0


class Celoe(Learner):
    """Learns by refining `⊤`, the most promising expression first."""

    name = "celoe"
    settings_type = CeloeSettings
    settings: CeloeSettings

    def score(self, node: _Node) -> float:
        """Return how promising a node is."""
        s = self.settings
        bonus = s.start_bonus if node.parent is None else s.gain_bonus * (node.quality - node.parent)
        costs = s.expansion_penalty * (node.expanded - 1) + s.refinement_penalty * node.refined
        return round(node.quality + bonus - costs, 5)

    def search(self, fit: FitState) -> Stopped:
        """Refine until an expression makes no mistake or a limit is reached."""
        world, settings = fit.world, self.settings
        operator = RefinementOperator(self.kg, world)
        top: ce.Expression = ce.Top()
        counts = fit.count(top)
        root = _Node(top, fit.offer(top, counts), None, length(top))
        queue = [(-self.score(root), length(top), key(top), root)]
        seen: set[ce.Expression] = {top}
        while queue:
            _, _, _, node = heapq.heappop(queue)
            limit = node.expanded
            if limit > settings.max_length:
                continue
            fresh = operator.refine(node.expression, limit, lambda: fit.tick(0))
            node.expanded, node.refined = limit + 1, len(fresh)
            again = (-self.score(node), length(node.expression), key(node.expression), node)
            heapq.heappush(queue, again)
            for e in fresh:
                # Shorter ones came at an earlier expansion.
                shorter = length(e) < limit and limit > length(node.expression)
                if shorter or e in seen or not world.reaches(e):
                    continue
                seen.add(e)
                fit.tick()
                counts = fit.count(e)
                value = fit.offer(e, counts)
                if counts.perfect:
                    return "solved"
                if value > 0 and counts.tp > 0:
                    child = _Node(e, value, node.quality, length(e))
                    heapq.heappush(queue, (-self.score(child), length(e), key(e), child))
                if fit.tested >= settings.max_tested:
                    return "limit"
        return "exhausted"
