"""How the patterns of a block are joined, where one way takes much longer than another.

Embedded engines look up each solution of one pattern in the next. Where there are very many solutions, it is
quicker to go through both patterns once: a sub-select, which engines do not look things up in, says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, TypeAlias
from typing import Literal as OneOf

from rdflib import RDF, Literal, URIRef

from mrag.planning.algebra.knowledge import without_implied
from mrag.planning.plan import Block, Comparison, Condition, Pattern, Plan, Unknown
from mrag.planning.schema import PropertyInfo, Schema
from mrag.planning.scopes import aggregates, merged, one_of, sides, unknowns

MANY: Final = 5_000
"""Solutions from which on it is worth thinking."""
_LOOKUP: Final = 10
"""How many triples are gone through in the time in which one is looked up."""
_GUESSED: Final = 0.2
"""The share of values that a condition is thought to hold of, where nothing tells."""

Way: TypeAlias = OneOf["any", "whole", "looked up", "behind"]
"""How a pattern is joined: as the engine likes, gone through as a whole, looked up for each thing, or gone
through as a whole behind the solutions of those before it."""


def size_of(pattern: Pattern, schema: Schema) -> int:
    """Return about how many triples a pattern matches.

    Args:
        pattern: The pattern.
        schema: What is known of the graph.
    """
    fixed = not isinstance(pattern.subject, Unknown), not isinstance(pattern.object, Unknown)
    if pattern.predicate == RDF.type and fixed == (False, True):
        known = schema.classes.get(str(pattern.object))
        narrower = [schema.classes.get(str(c)) for c in pattern.narrower]
        return max([info.count for info in (known, *narrower) if info is not None], default=0)
    info = schema.properties.get(str(pattern.predicate)) if isinstance(pattern.predicate, URIRef) else None
    if info is None:
        return 1 if all(fixed) else 10 if any(fixed) else schema.triples
    match fixed:
        case (True, True):
            return 1
        case (True, False):
            return max(1, info.triples // max(1, info.subjects))
        case (False, True):
            return max(1, info.triples // max(1, info.objects))
        case _:
            return info.triples


def solutions_of(block: Block, schema: Schema) -> int:
    """Return about how many solutions the patterns of a block have, at most.

    Args:
        block: The block.
        schema: What is known of the graph.
    """
    for branches in block.either:
        if (one := one_of(branches)) is not None:
            about = [p for p in block.patterns if one[0] in (p.subject, p.object) and p.predicate != RDF.type]
            return len(branches) * max((int(_fan(p, {one[0]}, schema)) for p in about), default=1)
    fixed = [size_of(p, schema) for p in block.patterns if is_given(p)]
    return min(fixed) if fixed else max((size_of(p, schema) for p in block.patterns), default=0)


def work_of(plan: Plan, schema: Schema) -> int:
    """Return about how many triples are gone through to compute a plan.

    Args:
        plan: The plan.
        schema: What is known of the graph.
    """
    folded = {a.where for c in plan.columns for a in aggregates(c.value)}
    folded |= {a.where for h in plan.having for s in sides(h) for a in aggregates(s)}
    return sum(_work_of(merged(plan.where, where), schema) for where in folded or {Block()})


def _work_of(block: Block, schema: Schema) -> int:
    # What a given thing leads to is little, but not what is only compared with that.
    own = 0
    for linked in _linked(without_implied(block.patterns, schema)):
        if any(map(is_given, linked)):
            own += solutions_of(replace(block, patterns=linked), schema) * len(linked)
        else:
            own += sum(size_of(p, schema) for p in linked)
    inner = (*block.without, *block.optional, *block.branches)
    return own + sum(_work_of(b, schema) for b in inner) + sum(work_of(p, schema) for p in block.plans)


def _linked(patterns: Sequence[Pattern]) -> list[tuple[Pattern, ...]]:
    """Return patterns in groups that share no unknown."""
    groups: list[tuple[Pattern, ...]] = []
    for pattern in patterns:
        near = [g for g in groups if any(_unknowns(p) & _unknowns(pattern) for p in g)]
        groups = [g for g in groups if g not in near] + [(*(p for g in near for p in g), pattern)]
    return groups


def is_given(pattern: Pattern) -> bool:
    """Return whether a pattern names the thing or the value that it is about; a class says little."""
    named = isinstance(pattern.object, URIRef | Literal) and pattern.predicate != RDF.type
    return named or isinstance(pattern.subject, URIRef)


def in_order(
    patterns: Sequence[Pattern],
    conditions: Sequence[Condition],
    schema: Schema | None,
    *,
    behind: bool = False,
) -> list[tuple[Pattern, Way]]:
    """Return patterns in an order in which they are quickly joined, each with the way to do it.

    Args:
        patterns: The patterns of a block.
        conditions: Its conditions.
        schema: What is known of the graph.
        behind: Whether a pattern may be gone through as a whole behind those before it.
    """
    if schema is None or len(patterns) < 2:
        return [(p, "any") for p in patterns]
    sizes = {p: size_of(p, schema) for p in patterns}
    left = sorted(patterns, key=lambda p: sizes[p] * _kept(p, set(), conditions, schema))
    first = left.pop(0)
    known, rows = _unknowns(first), sizes[first] * _kept(first, set(), conditions, schema)
    few = rows < MANY
    found: list[tuple[Pattern, Way]] = [(first, "any")]
    while left:
        joined = [p for p in left if _unknowns(p) & known]
        pattern = min(joined or left, key=lambda p: sizes[p])
        left.remove(pattern)
        way: Way = "any"
        worth = bool(joined) and sizes[pattern] + rows < rows * _LOOKUP
        if worth and not few:
            way = "whole"
        elif worth and behind and rows >= MANY:
            way = "behind"
        elif joined and _names_class(pattern) and sizes[pattern] > max(rows, MANY):
            way = "looked up"
        found.append((pattern, way))
        rows *= _fan(pattern, known, schema) * _kept(pattern, known, conditions, schema)
        known |= _unknowns(pattern)
    if any(way == "whole" for _, way in found):
        # What is not a sub-select would be looked up in the others.
        found = [(p, "whole" if sizes[p] >= MANY else way) for p, way in found]
    return found


def _names_class(pattern: Pattern) -> bool:
    return pattern.predicate == RDF.type and isinstance(pattern.object, URIRef)


def is_told_once(block: Block, by: Collection[Unknown], schema: Schema | None) -> bool:
    """Return whether no two solutions of a block are alike in some unknowns.

    Args:
        block: The block.
        by: The unknowns.
        schema: What is known of the graph.
    """
    if schema is None or not schema.exact or block.either or block.optional or block.plans:
        return False
    patterns = without_implied(block.patterns, schema)
    known = determined(patterns, by, schema)
    return not any(p.narrower or not _unknowns(p) <= known for p in patterns)


def determined(patterns: Sequence[Pattern], by: Collection[Unknown], schema: Schema) -> set[Unknown]:
    """Return the unknowns that have one value at most where some others are given, and those others.

    Args:
        patterns: Patterns that hold together.
        by: The unknowns that are given.
        schema: What is known of the graph.
    """
    known, size = set(by), -1
    while size != len(known):
        size = len(known)
        for pattern in patterns:
            info = schema.properties.get(str(pattern.predicate))
            told = pattern.subject in known or not isinstance(pattern.subject, Unknown)
            if told and info is not None and info.functional and isinstance(pattern.object, Unknown):
                known.add(pattern.object)
    return known


def _kept(pattern: Pattern, known: set[Unknown], conditions: Sequence[Condition], schema: Schema) -> float:
    """Return about which share of the triples of a pattern meets the conditions on its value."""
    info = schema.properties.get(str(pattern.predicate))
    if info is None or pattern.object in known:
        return 1.0
    share = 1.0
    for condition in conditions:
        if any(pattern.object in unknowns(side) for side in sides(condition)):
            share *= _met(condition, info)
    return share


def _met(condition: Condition, info: PropertyInfo) -> float:
    """Return the share of the values of a property that meet a condition, as if they were spread evenly."""
    if not isinstance(condition, Comparison) or not isinstance(condition.right, Literal):
        return _GUESSED
    if condition.relation in ("=", "!="):
        return 1.0 if condition.relation == "!=" else 1 / max(1, info.objects)
    least, greatest, bound = (_place(text) for text in (info.minimum, info.maximum, str(condition.right)))
    if least is None or greatest is None or bound is None or greatest <= least:
        return _GUESSED
    below = (bound - least) / (greatest - least)
    return min(1.0, max(0.001, below if condition.relation in ("<", "<=") else 1 - below))


def _place(text: str) -> float | None:
    """Return a number, or a date as its year with what of it has passed."""
    if (found := re.match(r"(\d{4})-(\d\d)", text)) is not None:
        return int(found[1]) + (int(found[2]) - 1) / 12
    try:
        return float(text)
    except ValueError:
        return None


def _fan(pattern: Pattern, known: set[Unknown], schema: Schema) -> float:
    """Return about how many triples a pattern matches for one solution."""
    info = schema.properties.get(str(pattern.predicate))
    if info is None or {pattern.subject, pattern.object} <= known:
        return 1
    return info.triples / max(1, info.subjects if pattern.subject in known else info.objects)


def _unknowns(pattern: Pattern) -> set[Unknown]:
    return {u for u in pattern.places if isinstance(u, Unknown)}
