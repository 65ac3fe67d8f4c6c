"""How the patterns of a block are joined, where one way takes much longer than another.

Embedded engines look up each solution of one pattern in the next. Where there are very many solutions, it is
quicker to go through both patterns once: a sub-select, which engines do not look things up in, says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.planning.algebra.scopes import sides, unknowns
from mrag.planning.plan import Block, Condition, Pattern, Unknown
from mrag.planning.schema import Schema

_MANY: Final = 2_000
"""Solutions from which on it is worth thinking."""
_LOOKUP: Final = 10
"""How many triples are gone through in the time in which one is looked up."""
_KEPT: Final = 0.2
"""The share of values that a condition is thought to hold of."""


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
    fixed = [size_of(p, schema) for p in block.patterns if is_given(p)]
    return min(fixed) if fixed else max((size_of(p, schema) for p in block.patterns), default=0)


def is_given(pattern: Pattern) -> bool:
    """Return whether a pattern names the thing or the value that it is about; a class says little."""
    named = isinstance(pattern.object, URIRef | Literal) and pattern.predicate != RDF.type
    return named or isinstance(pattern.subject, URIRef)


def gone_through(
    patterns: Sequence[Pattern], conditions: Sequence[Condition], schema: Schema | None
) -> set[Pattern]:
    """Return the patterns that are better gone through as a whole than looked up one by one.

    Args:
        patterns: The patterns of a block.
        conditions: Its conditions.
        schema: What is known of the graph.
    """
    if schema is None or len(patterns) < 2:
        return set()
    sizes = {p: size_of(p, schema) for p in patterns}
    if min(sizes.values()) < _MANY:
        return set()
    bounded = {u for c in conditions for s in sides(c) for u in unknowns(s)}
    left = sorted(patterns, key=lambda p: _after(sizes[p], p, set(), bounded))
    found = set[Pattern]()
    first = left.pop(0)
    known, rows = _unknowns(first), _after(sizes[first], first, set(), bounded)
    while left:
        joined = [p for p in left if _unknowns(p) & known]
        pattern = min(joined or left, key=lambda p: sizes[p])
        left.remove(pattern)
        if joined and rows >= _MANY and sizes[pattern] + rows < rows * _LOOKUP:
            found.add(pattern)
        rows = _after(rows * _fan(pattern, known, schema), pattern, known, bounded)
        known |= _unknowns(pattern)
    return found


def _after(rows: float, pattern: Pattern, known: set[Unknown], bounded: set[Unknown]) -> float:
    """Return how many solutions conditions leave over."""
    for _ in (_unknowns(pattern) - known) & bounded:
        rows *= _KEPT
    return rows


def _fan(pattern: Pattern, known: set[Unknown], schema: Schema) -> float:
    """Return about how many triples a pattern matches for one solution."""
    if pattern.predicate == RDF.type or not isinstance(pattern.predicate, URIRef):
        return 1
    info = schema.properties.get(str(pattern.predicate))
    if info is None or {pattern.subject, pattern.object} <= known:
        return 1
    return info.triples / max(1, info.subjects if pattern.subject in known else info.objects)


def _unknowns(pattern: Pattern) -> set[Unknown]:
    return {u for u in (pattern.subject, pattern.predicate, pattern.object) if isinstance(u, Unknown)}
