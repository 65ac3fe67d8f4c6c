"""A downward refinement operator over class expressions.

It follows the operator of Lehmann and Hitzler (2010) as DL-Learner has it. Where an implementation known
from Python goes another way, the original is kept: an atomic class is refined to its subclasses and to its
conjunctions with the refinements of `⊤`, never to a class beside it, and every step leads to a part of
what it starts from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rdflib import Literal, URIRef

from mrag.cel.semantics.hierarchy import hierarchy
from mrag.cel.semantics.instances import World
from mrag.cel.semantics.values import by_family, spread
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Bottom,
    DataRange,
    DataSome,
    Expression,
    Named,
    Not,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
    key,
    length,
    operands,
    with_operands,
)  # fmt: skip
from mrag.cel.syntax.normal_form import normal
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD


@dataclass(frozen=True)
class Constructors:
    """Which expressions are reached.

    Attributes:
        negation: Negated classes.
        only: `∀ r.C`.
        inverse: Properties taken backwards, where the graph was fetched whole.
        cardinality: Up to how many values are counted; 0 for none.
        nominals: Single values, as in `∃ r.{a}`.
        data: Limits of numbers and dates, and booleans.
        splits: How many limits each property has.
        unions: Up to how many pairs of refinements of `⊤` are joined by `⊔`.
    """

    negation: bool = True
    only: bool = True
    inverse: bool = True
    cardinality: int = 10
    nominals: bool = True
    data: bool = True
    splits: int = 12
    unions: int = 5_000


class RefinementOperator:
    """Refines expressions over the classes and properties of a world.

    Args:
        kg: Where the hierarchies of classes and properties are read.
        world: The statements.
        constructors: Which expressions are reached.
        ignore: IRIs of classes and properties to leave out.
    """

    def __init__(
        self,
        kg: KnowledgeGraph,
        world: World,
        constructors: Constructors,
        ignore: frozenset[str] = frozenset(),
    ) -> None:
        self.world, self.constructors = world, constructors
        self.classes = [c for c in world.named if c not in ignore]
        names = [p for p in world.roles if p not in ignore]
        ways = (False, True) if constructors.inverse and world.inverse else (False,)
        self.data = [p for p in names if self._literal(p)]
        self.roles = [Property(p, way) for p in names if p not in self.data for way in ways]
        above: dict[str, set[str]] = {c: set() for c in self.classes}
        self.subroles: dict[str, list[str]] = {}
        classes, properties = hierarchy(kg)
        for sub, wider in classes:
            if sub in above and wider in above:
                above[sub].add(wider)
        for sub, wider in properties:
            if sub in names and wider in names:
                self.subroles.setdefault(wider, []).append(sub)
        self.parents = {c: _nearest(c, above) for c in self.classes}
        self.children: dict[str, list[str]] = {c: [] for c in self.classes}
        for c, parents in self.parents.items():
            for parent in parents:
                self.children[parent].append(c)

    def refine(self, e: Expression, limit: int, check: Callable[[], None] | None = None) -> list[Expression]:
        """Return the refinements up to a length, in normal form, in order of length and name.

        Args:
            e: The expression.
            limit: The length.
            check: Called for each of them; what it raises ends the refining.
        """
        found: set[Expression] = set()
        for x in self._refine(e, limit):
            if check is not None:
                check()
            found.add(normal(x))
        found.discard(e)
        return sorted((x for x in found if length(x) <= limit), key=lambda x: (length(x), key(x)))

    def _refine(self, e: Expression, limit: int) -> Iterator[Expression]:
        if isinstance(e, Top):
            yield from (x for x in self.top if length(x) <= limit)
            yield from self._unions(limit)
        elif not isinstance(e, Bottom):
            yield from self._inside(e, limit)
            yield from self._outside(e)
            if not isinstance(e, And):
                room = limit - length(e) - 1
                yield from (And((e, x)) for x in self.top if length(x) <= room and self._meet(e, x))

    def _inside(self, e: Expression, limit: int) -> Iterator[Expression]:
        """Yield an expression with one of its operands refined, where that makes it narrower."""
        if isinstance(e, And | Or | Some | Only | AtLeast):
            parts = operands(e)
            for at, part in enumerate(parts):
                room = limit - length(e) + length(part)
                for x in self._refine(part, room):
                    yield with_operands(e, (*parts[:at], x, *parts[at + 1 :]))

    def _outside(self, e: Expression) -> Iterator[Expression]:
        """Yield an expression with a narrower class, property, number or limit at its root."""
        match e:
            case Named(name):
                yield from map(Named, self.children.get(name, ()))
            case Not(Named(name)):
                yield from (Not(Named(parent)) for parent in self.parents.get(name, ()))
            case Some(p, filler):
                yield from (Some(Property(s, p.inverse), filler) for s in self.subroles.get(p.iri, ()))
                if self._max_values(p) > 1:
                    yield AtLeast(2, p, filler)
            case Only(p, Named(name)) if not self.children.get(name):
                yield Only(p, Bottom())
            case AtLeast(n, p, filler) if n < self._max_values(p):
                yield AtLeast(n + 1, p, filler)
            case AtMost(n, p, filler):
                yield AtMost(n - 1, p, filler)
            case DataSome(p, DataRange(datatype, ((facet, value),))):
                values = self.splits.get((p.iri, datatype), [])
                if value in values:
                    at = values.index(value) + (1 if facet == "minInclusive" else -1)
                    if 0 <= at < len(values):
                        yield DataSome(p, DataRange(datatype, ((facet, values[at]),)))

    @cached_property
    def top(self) -> list[Expression]:
        """The refinements of `⊤` that are no unions."""
        found: list[Expression] = [Named(c) for c in self.classes if not self.parents[c]]
        if self.constructors.negation:
            found.extend(Not(Named(c)) for c in self.classes if not self.children[c])
        for p in self.roles:
            found.append(Some(p, Top()))
            if self.constructors.only:
                found.extend(Only(p, Named(c)) for c in self.classes if not self.parents[c])
                found.append(Only(p, Bottom()))
            most = self._max_values(p)
            if most > 1:
                found.append(AtMost(most - 1, p, Top()))
            if self.constructors.nominals and not p.inverse:
                found.extend(Value(p, v) for v in self._values(p))
        for name in self.data:
            found.extend(self._limits(Property(name)))
        return found

    @cached_property
    def splits(self) -> dict[tuple[str, str], list[Literal]]:
        """The limits of each property by datatype, ascending."""
        found: dict[tuple[str, str], list[Literal]] = {}
        for name in self.data:
            terms = self._held(name)
            for kind, values in by_family(terms).items():
                spelled = {values[at]: terms[at] for at in sorted(values, reverse=True)}
                ordered = [spelled[v] for v in sorted(spelled)]
                found[name, kind] = list(spread(ordered, self.constructors.splits))
        return found

    def _limits(self, p: Property) -> Iterator[Expression]:
        if not self.constructors.data:
            return
        for (name, kind), values in self.splits.items():
            if name != p.iri:
                continue
            if kind == XSD + "boolean":
                yield from (Value(p, v) for v in values)
            else:
                yield DataSome(p, DataRange(kind, (("minInclusive", values[0]),)))
                yield DataSome(p, DataRange(kind, (("maxInclusive", values[-1]),)))

    def _unions(self, limit: int) -> Iterator[Expression]:
        parts = [x for x in self.top if length(x) + 2 <= limit]
        if len(parts) * (len(parts) - 1) // 2 > self.constructors.unions:
            parts = [x for x in parts if not isinstance(x, Value)]
        if len(parts) * (len(parts) - 1) // 2 > self.constructors.unions:
            return
        for at, left in enumerate(parts):
            for right in parts[at + 1 :]:
                if length(left) + length(right) + 1 <= limit:
                    yield Or((left, right))

    def _meet(self, a: Expression, b: Expression) -> bool:
        """Return whether two expressions share a term, and neither holds all of the other."""
        left, right = self.world.extension(normal(a)), self.world.extension(normal(b))
        both = left & right
        return bool(both.any()) and not bool((both == left).all())

    def _max_values(self, p: Property) -> int:
        """Return how many values of a property one term has at most, within the limit."""
        sources, _ = self.world.pairs(p)
        most = int(np.bincount(sources).max()) if sources.size else 0
        return min(most, self.constructors.cardinality)

    def _values(self, p: Property) -> list[str]:
        """Return the individuals that at least two terms have as a value."""
        _, values = self.world.pairs(p)
        places, counts = np.unique(values, return_counts=True)
        terms = [self.world.terms[at] for at in places[counts > 1]]
        return [str(t) for t in terms if isinstance(t, URIRef)]

    def _held(self, name: str) -> list[Literal]:
        _, values = self.world.roles[name]
        terms = [self.world.terms[at] for at in np.unique(values)]
        return [t for t in terms if isinstance(t, Literal)]

    def _literal(self, name: str) -> bool:
        _, values = self.world.roles[name]
        return all(isinstance(self.world.terms[at], Literal) for at in np.unique(values))


def _nearest(name: str, above: dict[str, set[str]]) -> list[str]:
    """Return the superclasses that have no other superclass between; equivalent ones are none."""
    wider = {c for c in above[name] if name not in above[c]}
    return sorted(c for c in wider if not any(c in above[d] and d not in above[c] for d in wider - {c}))
