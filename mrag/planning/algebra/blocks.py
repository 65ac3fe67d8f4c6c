"""Blocks of a plan as graph patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox
from rdflib import RDF, Literal, URIRef

from mrag.graph.twins import Twins
from mrag.planning.algebra.joins import in_order, is_given
from mrag.planning.algebra.knowledge import without_implied
from mrag.planning.algebra.twins import better, doubled, said_of
from mrag.planning.algebra.values import ValueCompiler
from mrag.planning.plan import Block, Condition, Contains, Pattern, Place, Plan, Unknown
from mrag.planning.schema import Schema
from mrag.planning.scopes import (
    borrowed,
    bound,
    is_condition,
    mentioned,
    merged,
    one_of,
    positive,
    reached,
    sides,
    unknowns,
)
from mrag.rdf import patterns as sparql
from mrag.rdf.terms import to_ox

Joining: TypeAlias = OneOf["any", "all", "few"]

Spelt: TypeAlias = Mapping[tuple[Place, str], tuple[str, ...]]
"""How the texts that values of a property should be are written, whatever the case, by property and text."""

NOTHING = Block()


@dataclass
class BlockCompiler:
    """Compiles blocks.

    Attributes:
        values: Compiles their expressions.
        fresh: Makes a variable that nothing else is called.
        scalars: Returns the sub-selects of the scalars that were compiled since it was last asked.
        plan: Compiles a plan that a block is joined with.
        schema: What is known of the graph.
        joining: Whether the order and the way of joins are said, for all solutions or for the first few.
        spelt: How texts are written that are then looked up, not compared.
        twins: Where things have several names, which of them an unknown takes.
    """

    values: ValueCompiler
    fresh: Callable[[str], ox.Variable]
    scalars: Callable[[], list[sparql.Pattern]]
    plan: Callable[[Plan], sparql.Pattern]
    schema: Schema | None = None
    joining: Joining = "any"
    spelt: Spelt = field(default_factory=dict)
    twins: Twins | None = None

    def block(self, block: Block, around: Block = NOTHING) -> list[sparql.Pattern]:
        """Return the patterns of a block, to be joined.

        Args:
            block: The block.
            around: What must exist for the blocks around it to hold; its unknowns may be spoken of.
        """
        found: list[sparql.Pattern] = [self.plan(plan) for plan in block.plans]
        patterns = without_implied(block.patterns, self.schema)
        written = self._written(patterns, block.conditions)
        conditions = [c for c in block.conditions if c not in written]
        done, behind = list[Pattern](), self.joining == "all" and not block.plans
        known = None if self.joining == "any" else self.schema
        for pattern, way in in_order(patterns, block.conditions, known, behind=behind):
            parts: list[sparql.Pattern] = [values for p, values in written.values() if p == pattern]
            parts += self._pattern(pattern, looked_up=way == "looked up")
            if way == "behind":
                found = [self._behind(done, found, conditions)]
            whole = way == "behind" or (way == "whole" and self.joining == "all")
            found += [self._whole((pattern,), parts)] if whole else parts
            done.append(pattern)
        for branches in block.either:
            either = self._either(branches, _but(merged(around, positive(block)), branches))
            # Behind patterns, values would be joined with all that these match.
            found = [*either, *found] if isinstance(either[0], sparql.Values) else [*found, *either]
        here = merged(around, positive(block))
        for inner in block.without:
            found += self._without(inner, here)
        found += [sparql.Optional(self._inner(inner, here)) for inner in block.optional]
        return found + self.filters(tuple(conditions)) + self._once(patterns)

    def _once(self, patterns: Sequence[Pattern]) -> list[sparql.Pattern]:
        """Return that no other name of a thing stands for it, of those that patterns find."""
        found: list[sparql.Pattern] = []
        for unknown in doubled(patterns, self.schema) if self.twins is not None else ():
            assert self.twins is not None
            twin = Unknown(self.fresh("twin").value)
            parts = better(self.values.variable(unknown), self.values.variable(twin), self.twins)
            for p in () if self.twins.closed else said_of(patterns, unknown, twin):
                parts += self._pattern(p, looked_up=bool(p.narrower))
            found.append(sparql.Filter(sparql.Negation(sparql.Holds(sparql.Group(tuple(parts))))))
        return found

    def filters(self, conditions: tuple[Condition, ...]) -> list[sparql.Pattern]:
        """Return conditions as filters, behind the sub-selects of their scalars."""
        filters = [sparql.Filter(self.values.condition(c)) for c in conditions]
        return [*self.scalars(), *filters]

    def _written(
        self, patterns: Sequence[Pattern], conditions: Sequence[Condition]
    ) -> dict[Condition, tuple[Pattern, sparql.Values]]:
        """Return the values that meet conditions, each with the pattern that leads to them."""
        found: dict[Condition, tuple[Pattern, sparql.Values]] = {}
        for one in conditions if self.spelt else ():
            if isinstance(one, Contains) and one.position == "whole" and isinstance(one.value, Unknown):
                variable = self.values.variable(one.value)
                for p in (p for p in patterns if p.object == one.value):
                    if texts := self.spelt.get((p.predicate, one.text)):
                        rows = tuple((ox.Literal(text),) for text in texts)
                        found[one] = p, sparql.Values((variable,), rows)
        return found

    def _pattern(self, pattern: Pattern, *, looked_up: bool) -> list[sparql.Pattern]:
        s, p, o = (self.node(t) for t in pattern.places)
        if not (pattern.narrower or looked_up):
            return [sparql.TriplePattern(s, p, o)]
        # Whatever a thing is said to be in, what is selected is distinct.
        kind = self.fresh("kind")
        classes = tuple(ox.NamedNode(str(c)) for c in (pattern.object, *pattern.narrower))
        if looked_up:
            # Engines begin with a class that a pattern names, however many members it has.
            return [sparql.TriplePattern(s, p, kind), sparql.Filter(sparql.In(kind, classes))]
        return [sparql.Values((kind,), tuple((c,) for c in classes)), sparql.TriplePattern(s, p, kind)]

    def _behind(
        self, patterns: Sequence[Pattern], parts: list[sparql.Pattern], conditions: list[Condition]
    ) -> sparql.Pattern:
        """Return the solutions of patterns as a whole, which meet those of the conditions that they can."""
        known = {u for p in patterns for u in p.places if isinstance(u, Unknown)}
        met = [c for c in conditions if set[Unknown]().union(*map(unknowns, sides(c))) <= known]
        conditions[:] = [c for c in conditions if c not in met]
        return self._whole(patterns, [*parts, *self.filters(tuple(met))])

    def _whole(self, patterns: Sequence[Pattern], parts: list[sparql.Pattern]) -> sparql.Pattern:
        """Return patterns that engines go through as a whole, to be joined with others."""
        places = (place for p in patterns for place in p.places)
        seen = dict.fromkeys(self.values.variable(u) for u in places if isinstance(u, Unknown))
        return sparql.SubSelect(sparql.Select(tuple(seen), sparql.Group(tuple(parts))))

    def node(self, place: Place) -> sparql.Node:
        """Return a term or the variable of an unknown."""
        if isinstance(place, URIRef | Literal):
            return to_ox(place)  # type: ignore[return-value]  # neither is a blank node
        return self.values.variable(place)

    def _inner(self, block: Block, around: Block) -> sparql.Group:
        """Return a block within others; what it borrows from them is said in it again."""
        if wanted := borrowed(block, reached(around)):
            return sparql.Group(tuple(self.block(merged(_lent(wanted, around), block))))
        return sparql.Group(tuple(self.block(block, around)))

    def _either(self, branches: tuple[Block, ...], around: Block) -> list[sparql.Pattern]:
        outer = reached(around)
        if (chosen := one_of(branches)) is not None and chosen[0] in bound(around):
            unknown, terms = chosen
            nodes = tuple(ox.NamedNode(str(term)) for term in terms)
            if any(map(is_given, around.patterns)) or _is_led_to(unknown, around):
                # What is given leads to few things, of which each is looked at.
                return [sparql.Filter(sparql.In(self.values.variable(unknown), nodes))]
            return [sparql.Values((self.values.variable(unknown),), tuple((node,) for node in nodes))]
        if all(is_condition(b) for b in branches) and _shared(branches, bound(around)):
            found = tuple(_all([self.values.condition(c) for c in b.conditions]) for b in branches)
            return [*self.scalars(), sparql.Filter(sparql.AnyOf(found))]
        # A branch that left unbound what others share would be joined with anything, slowly or wrongly.
        shared = {u for b in branches for u in reached(b) | borrowed(b, outer)} & outer
        whole = [
            b if bound(b) and shared <= bound(b) else merged(_lent(shared - bound(b), around), b)
            for b in branches
        ]
        union = sparql.Union(tuple(sparql.Group(tuple(self.block(b, around))) for b in whole))
        names = sorted({u for b in branches for u in reached(b)} | shared)
        if not names:
            return [union]
        # Engines are slow to join a union; once its solutions are known they are not.
        return [
            sparql.SubSelect(
                sparql.Select(tuple(self.values.variable(u) for u in names), union, distinct=True)
            )
        ]

    def _without(self, block: Block, around: Block) -> list[sparql.Pattern]:
        outer = reached(around)
        shared = mentioned(block) & outer
        if not shared:
            return self._none(block, around)
        if is_condition(block):
            stated = _all([self.values.condition(c) for c in block.conditions])
            denied: sparql.Expression = sparql.Negation(stated)
            if not shared <= bound(around):
                # Engines differ in what the negation of what has no value is.
                denied = sparql.Compare(
                    sparql.Call("if", (stated, ox.Literal(1), ox.Literal(0))), "=", ox.Literal(0)
                )
            return [*self.scalars(), sparql.Filter(denied)]
        # MINUS takes nothing away where no variable is bound on both sides.
        clear = shared <= bound(block) & bound(around) and not borrowed(block, outer)
        body = block if clear else merged(_lent(shared, around), block)
        return [sparql.Minus(sparql.Group(tuple(replace(self, twins=None).block(body, around))))]

    def _none(self, block: Block, around: Block) -> list[sparql.Pattern]:
        """Return that a block that shares nothing with others has no solution."""
        count, body = self.fresh("found"), sparql.Group(tuple(self.block(block, around)))
        names = sorted(reached(block))
        if names:
            one = sparql.Select((self.values.variable(names[0]),), body, limit=1)
            body = sparql.Group((sparql.SubSelect(one),))
        counted = sparql.Select(((sparql.Count(), count),), body)
        return [
            sparql.SubSelect(counted),
            sparql.Filter(sparql.Compare(count, "=", ox.Literal(0))),
        ]


def _is_led_to(unknown: Unknown, around: Block) -> bool:
    """Return whether an unknown is the class of things that another choice names."""
    kinds = {p.object for p in around.patterns if p.predicate == RDF.type}
    chosen = {one[0] for branches in around.either if (one := one_of(branches)) is not None}
    return unknown in kinds and bool(chosen - kinds)


def _shared(blocks: tuple[Block, ...], known: set[Unknown]) -> bool:
    return all(mentioned(b) <= known for b in blocks)


def _all(conditions: list[sparql.Expression]) -> sparql.Expression:
    return conditions[0] if len(conditions) == 1 else sparql.AllOf(tuple(conditions))


def _but(block: Block, branches: tuple[Block, ...]) -> Block:
    """Return a block without one choice, which is being compiled and must not be said in itself."""
    return replace(block, either=tuple(e for e in block.either if e != branches))


def _lent(wanted: set[Unknown], around: Block) -> Block:
    """Return as much of what stands around a block as binds some unknowns."""
    patterns = Block(patterns=around.patterns, plans=around.plans)
    return patterns if wanted & reached(around) <= bound(patterns) else around
