"""Blocks whose solutions a row of a plan rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from rdflib import BNode, Literal, URIRef

from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Expression,
    Pattern,
    Place,
    Plan,
    Unknown,
)
from mrag.planning.scopes import (
    aggregates,
    bound,
    keys,
    mentioned,
    merged,
    positive,
    reached,
    sides,
    substituted,
    unknowns,
)
from mrag.planning.values import Cells, kind_of
from mrag.rdf.terms import Term, Triple

Binding: TypeAlias = Mapping[Unknown, Term]


def witnesses(plan: Plan, row: Cells) -> Iterator[tuple[Block, int | None]]:
    """Yield the blocks whose solutions a row rests on, and how many of them it needs; None is all.

    Args:
        plan: The plan that was run.
        row: The row, as it gave it; empty for yes or no.
    """
    cells = dict(zip(plan.columns, row, strict=True)) if row else {}
    grouped = {k.value: c for k, c in ((k, cells.get(k)) for k in keys(plan)) if c is not None}
    listed = {c.value: cell for c, cell in cells.items() if cell is not None}
    if not plan.grouped:
        yield _fixed(plan.where, listed), 1
        return
    folds = [(a, cells.get(c)) for c in plan.columns for a in aggregates(c.value)]
    folds += [(a, None) for h in plan.having for s in sides(h) for a in aggregates(s)]
    seen: set[tuple[Block, Aggregate | None]] = set()
    for aggregate, cell in folds:
        block = _fixed(merged(plan.where, aggregate.where), grouped)
        best = aggregate.function in ("minimum", "maximum") and aggregate.value in _direct(plan, aggregate)
        if best and cell is not None and aggregate.value is not None:
            that = Block(conditions=tuple(_equal(aggregate.value, cell)))
            yield _fixed(merged(plan.where, aggregate.where, that), grouped), 1
        elif (block, None) not in seen:
            seen.add((block, None))
            yield block, None
    if not folds or (grouped and all(cell is None or str(cell) == "0" for _, cell in folds)):
        yield _fixed(plan.where, grouped), 1  # that there is none of something shows no group


def blocks_of_rows(plan: Plan, rows: Sequence[Cells]) -> list[tuple[Block, int | None]]:
    """Return the blocks whose solutions several rows rest on, as `witnesses` does for each of them.

    Args:
        plan: The plan that was run.
        rows: Rows, as it gave them.

    Returns:
        Blocks, with how many of their solutions each row needs; none where a row is not told by those alone.
    """
    listed = [c.value for c in plan.columns if not aggregates(c.value)]
    folds = [a for c in plan.columns for a in aggregates(c.value)]
    folds += [a for h in plan.having for s in sides(h) for a in aggregates(s)]
    best = any(a.function in ("minimum", "maximum") for a in folds)
    found = one_of_rows(plan, rows)
    if found is None or best or plan.where.plans or not all(isinstance(v, Unknown) for v in listed):
        return []
    key, these = found
    if not folds:
        return [(_without_met(merged(plan.where, these), {key}), 1)]
    blocks = dict.fromkeys(merged(plan.where, a.where, these) for a in folds)
    return [(block, None) for block in blocks]


def one_of_rows(plan: Plan, rows: Sequence[Cells]) -> tuple[Unknown, Block] | None:
    """Return an unknown that all of several rows show, and the block that it is what one of them shows.

    Args:
        plan: The plan that was run.
        rows: Rows, as it gave them.
    """
    columns = enumerate(plan.columns)
    sure = [
        (at, c.value) for at, c in columns if isinstance(c.value, Unknown) and c.value in bound(plan.where)
    ]
    # Engines look things up by their IRIs, but go through all values to compare them.
    named = [
        (at, v) for kind in (URIRef, Literal) for at, v in sure if all(type(r[at]) is kind for r in rows)
    ]
    if not named:
        return None
    at, key = named[0]
    terms = dict.fromkeys(row[at] for row in rows)
    either = tuple(
        Block(conditions=(Comparison(key, "=", t),)) for t in terms if isinstance(t, URIRef | Literal)
    )
    return key, Block(either=(either,))


def of_row(plan: Plan, row: Cells) -> Plan:
    """Return a grouped plan for those groups alone that a row may be of, by the values that it shows.

    Args:
        plan: The plan that was run.
        row: A row, as it gave it.
    """
    told, folded = list[Condition](), list[Condition]()
    for column, cell in zip(plan.columns, row, strict=True):
        if cell is None:
            continue
        if not aggregates(column.value):
            told += _equal(column.value, cell)
        elif kind_of(column.value) == "number":
            folded += _near(column.value, cell)
    where = merged(plan.where, Block(conditions=tuple(told)))
    return replace(plan, where=where, having=(*plan.having, *folded))


def _without_met(block: Block, told: Collection[Unknown]) -> Block:
    """Return a block without what must not hold of what a row tells, which has been looked for."""
    if not told:
        return block  # a no has no row
    outer = reached(positive(block))
    return replace(block, without=tuple(b for b in block.without if not mentioned(b) & outer <= set(told)))


def _direct(plan: Plan, aggregate: Aggregate) -> list[Expression | None]:
    """Return the value of an aggregate that a column shows as it is."""
    return [aggregate.value] if any(c.value == aggregate for c in plan.columns) else []


def _fixed(block: Block, values: Mapping[Expression, Term]) -> Block:
    """Return a block for the solutions in which expressions have the values of a row."""
    binding = {e: v for e, v in values.items() if isinstance(e, Unknown)}
    # A condition on values that the row shows has been met; said of a literal it could mean another thing.
    met = {c for c in block.conditions if set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()}
    kept = replace(block, conditions=tuple(c for c in block.conditions if c not in met))
    kept = _without_met(kept, set(binding))
    others = [c for e, v in values.items() if not isinstance(e, Unknown) for c in _equal(e, v)]
    added = [c for c in others if not set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()]
    return _bound(merged(kept, Block(conditions=tuple(added))), binding)


def _equal(expression: Expression, cell: Term) -> list[Condition]:
    """Return the conditions that an expression has the value that is shown of it."""
    if kind_of(expression) != "number" or not unknowns(expression):
        return [Comparison(expression, "=", cell)] if isinstance(cell, Literal | URIRef) else []
    return _near(expression, cell)


def _near(expression: Expression, cell: Term) -> list[Condition]:
    """Return the conditions that an expression has the number that is shown of it, which may be rounded."""
    try:
        value = float(cell)
    except ValueError:
        return []
    margin = max(abs(value) * 1e-9, 1e-12)
    return [
        Comparison(expression, ">=", Literal(value - margin)),
        Comparison(expression, "<=", Literal(value + margin)),
    ]


def _bound(block: Block, binding: Binding) -> Block:
    """Return a block with terms in the place of unknowns."""
    given: dict[Place, URIRef | Literal] = {
        u: t for u, t in binding.items() if isinstance(t, URIRef | Literal)
    }
    # A row of a plan that is given whole has been met.
    open_ = tuple(p for p in block.plans if not {Unknown(c.name) for c in p.columns} <= binding.keys())
    partly = [Unknown(c.name) for p in open_ for c in p.columns if Unknown(c.name) in binding]
    # How values compare depends on their datatype where it is written, but not on that of an unknown's value.
    kept = {u: t for u in _compared(block) if isinstance(t := given.get(u), Literal) and u not in partly}
    found = substituted(replace(block, plans=open_), given, {u: t for u, t in given.items() if u not in kept})
    values = tuple(Plan(columns=(Column(t, u.name),)) for u, t in sorted(kept.items()))
    return replace(
        found,
        conditions=(*found.conditions, *(Comparison(u, "=", given[u]) for u in partly if u in given)),
        plans=(*found.plans, *values),
    )


def _compared(block: Block) -> set[Unknown]:
    """Return the unknowns whose own values a block or one within it compares."""
    found = {
        s for c in block.conditions if isinstance(c, Comparison) for s in sides(c) if isinstance(s, Unknown)
    }
    inner = (*block.branches, *block.without, *block.optional)
    return found.union(*map(_compared, inner))


def kinds_named(block: Block) -> tuple[Block, dict[Unknown, URIRef]]:
    """Return a block with unknowns for the classes that things are said to be in, and what each counts as."""
    classes: dict[Unknown, URIRef] = {}

    def named(block: Block) -> Block:
        patterns, kinds = list[Pattern](), list[tuple[Block, ...]]()
        for p in block.patterns:
            if not p.narrower or not isinstance(p.object, URIRef):
                patterns.append(p)
                continue
            kind = Unknown(f"its_kind_{len(classes)}")
            classes[kind] = p.object
            patterns.append(Pattern(p.subject, p.predicate, kind))
            options = (Comparison(kind, "=", c) for c in (p.object, *p.narrower))
            kinds.append(tuple(Block(conditions=(o,)) for o in options))
        return replace(
            block,
            patterns=tuple(patterns),
            either=(*(tuple(map(named, branches)) for branches in block.either), *kinds),
            optional=tuple(map(named, block.optional)),
        )

    return named(block), classes


def patterns_of(block: Block) -> Iterator[Pattern]:
    """Yield the patterns of all that may hold in a block."""
    yield from block.patterns
    for inner in (*block.branches, *block.optional):
        yield from patterns_of(inner)


def triple_of(pattern: Pattern, binding: Binding) -> Triple | None:
    """Return the triple that a pattern is in a solution; None where that is none to be looked for."""
    places = (pattern.subject, pattern.predicate, pattern.object)
    s, p, o = (binding.get(t) if isinstance(t, Unknown) else t for t in places)
    if not isinstance(s, URIRef) or not isinstance(p, URIRef) or o is None or isinstance(o, BNode):
        return None
    return Triple(s, p, o)
