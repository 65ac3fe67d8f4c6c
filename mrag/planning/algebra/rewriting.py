"""Plans with other terms or unknowns in some places, and superlatives without ties."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from rdflib import Literal, URIRef

from mrag.planning.algebra.scopes import all_patterns, keys, mentioned, merged
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    DatePart,
    Days,
    Expression,
    Number,
    Order,
    Pattern,
    Place,
    Plan,
    Scalar,
    Unknown,
)

Replacement: TypeAlias = Mapping[Place, Place]


def substituted(block: Block, by: Replacement, in_conditions: Replacement | None = None) -> Block:
    """Return a block with other places; what is within scalars and joined plans stays as it is.

    A literal in the place of a subject or a predicate is left out, for there are no such triples.

    Args:
        block: The block.
        by: The places by what stands there now.
        in_conditions: The same for its conditions, if other than for its patterns.

    Example:
        >>> x, likes = Unknown("x"), URIRef("urn:likes")
        >>> print(substituted(Block((Pattern(x, likes, Unknown("y")),)), {x: URIRef("urn:Tom")}).patterns[0])
        (urn:Tom, urn:likes, ?y)
    """

    def pattern(p: Pattern) -> Pattern:
        s, r = by.get(p.subject, p.subject), by.get(p.predicate, p.predicate)
        return Pattern(
            p.subject if isinstance(s, Literal) else s,
            p.predicate if isinstance(r, Literal) else r,
            by.get(p.object, p.object),
            p.narrower,
        )

    compared = by if in_conditions is None else in_conditions

    def inner(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(substituted(b, by, compared) for b in blocks)

    return Block(
        tuple(map(pattern, block.patterns)),
        tuple(_condition(c, compared) for c in block.conditions),
        inner(block.without),
        tuple(map(inner, block.either)),
        inner(block.optional),
        block.plans,
    )


def with_unknowns(plan: Plan, by: Mapping[Place, Unknown]) -> Plan:
    """Return a plan with unknowns in some places; its columns keep their names.

    Args:
        plan: The plan.
        by: The unknowns by what stands in their places now.
    """

    def unknown(u: Unknown) -> Unknown:
        return by.get(u, u)

    return replace(
        plan,
        where=substituted(plan.where, by),
        columns=tuple(Column(_value(c.value, by), c.name) for c in plan.columns),
        group_by=tuple(map(unknown, plan.group_by)),
        having=tuple(_condition(c, by) for c in plan.having),
    )


def names_of(plan: Plan) -> set[str]:
    """Return the names that a plan uses: those of its unknowns and of its columns."""
    return {u.name for u in mentioned(plan.where)} | {c.name for c in plan.columns}


def unused(name: str, taken: Collection[str]) -> Unknown:
    """Return an unknown called by a name, or like it where that is taken."""
    return Unknown(next(n for n in (name, *(f"{name}_{i}" for i in range(1, 99))) if n not in taken))


def numbered(name: str, taken: Collection[str], start: int = 1) -> Iterator[str]:
    """Yield names with a number behind, without those that are taken."""
    return (found for n in count(start) if (found := f"{name}_{n}") not in taken)


def kept_apart(
    block: Block, taken: Collection[str], fresh: Iterator[str], known: Replacement
) -> dict[Place, Place]:
    """Return what the unknowns of a block are called beside a plan that uses some names already.

    Args:
        block: The block.
        taken: The names that the plan uses.
        fresh: Names for the unknowns that are called like one of these.
        known: What some of the unknowns stand for in the plan.
    """
    return {
        u: known[u] if u in known else Unknown(next(fresh) if u.name in taken else u.name)
        for u in sorted(mentioned(block))
    }


def set_aside(
    value: Expression, where: Block, prefix: str, known: Replacement | None = None
) -> tuple[Block, Expression]:
    """Return a block and a value in it, with names for its unknowns that no other side of a comparison has.

    An aggregate takes the block with it, so that it can stand beside folds of other things.

    Args:
        value: The value.
        where: The block.
        prefix: What the names begin with.
        known: What some of the unknowns stand for.
    """
    ends = (u for p in all_patterns(where) for u in (p.subject, p.object) if isinstance(u, Unknown))
    by: dict[Place, Place] = {u: Unknown(f"{prefix}{u.name}") for u in ends} | dict(known or {})
    if isinstance(value, Aggregate):
        return Block(), _value(replace(value, where=merged(where, value.where)), by)
    return substituted(where, by), _value(value, by)


def folded_aside(fold: Aggregate, where: Block, prefix: str, known: Replacement | None = None) -> Aggregate:
    """Return a fold over a block of its own, as `set_aside` does."""
    _, found = set_aside(fold, where, prefix, known)
    assert isinstance(found, Aggregate)
    return found


def renamed(plan: Plan, names: Mapping[str, str]) -> Plan:
    """Return a plan with other names for its columns."""
    by: dict[Place, Place] = {Unknown(old): Unknown(new) for old, new in names.items()}
    return replace(
        plan,
        columns=tuple(Column(c.value, names.get(c.name, c.name)) for c in plan.columns),
        having=tuple(_condition(c, by) for c in plan.having),
        order=tuple(Order(names.get(o.column, o.column), o.descending) for o in plan.order),
    )


def without_ties(plan: Plan) -> Plan:
    """Return a plan for the same rows whose limit knows no ties, so that it can be joined with others.

    The rows that tie for the first place are those with the best value. Sums and averages of one group may
    differ in their last digit from query to query, so of several groups that tie in these only the first is
    kept, and so it is for other limits.
    """
    key = next((c for c in plan.columns if plan.order and c.name == plan.order[0].column), None)
    grouped_by = [k.value for k in keys(plan)]
    exact = key is not None and not (
        isinstance(key.value, Aggregate) and key.value.function in ("sum", "average")
    )
    plain = all(isinstance(k, Unknown) for k in grouped_by) or not plan.grouped
    if key is None or not exact or not plain or (plan.limit, plan.offset, len(plan.order)) != (1, 0, 1):
        return replace(plan, ties=False)
    groups = tuple(k for k in grouped_by if isinstance(k, Unknown)) if plan.grouped else ()
    best = Plan(plan.where, (key,), groups, plan.having, plan.order, 1)
    equal = Comparison(key.value, "=", Scalar(best))
    kept = tuple(c for c in plan.columns if c is not key or key.value in groups)
    if plan.grouped:
        return Plan(plan.where, kept, groups, (*plan.having, equal))
    return Plan(replace(plan.where, conditions=(*plan.where.conditions, equal)), kept)


def _value(value: Expression, by: Mapping[Place, Place]) -> Expression:
    match value:
        case Unknown() | URIRef() | Literal():
            return by.get(value, value)
        case Number(inner):
            return Number(_value(inner, by))
        case DatePart(part, inner):
            return DatePart(part, _value(inner, by))
        case Days(start, end):
            return Days(_value(start, by), _value(end, by))
        case Arithmetic(left, operation, right):
            return Arithmetic(_value(left, by), operation, _value(right, by))
        case Aggregate(function, inner, of, where):
            folded = None if inner is None else _value(inner, by)
            named = tuple(u for o in of if isinstance(u := by.get(o, o), Unknown))
            return Aggregate(function, folded, named, substituted(where, by))
        case Scalar():
            return value


def _condition(condition: Condition, by: Mapping[Place, Place]) -> Condition:
    if isinstance(condition, Contains):
        return replace(condition, value=_value(condition.value, by))
    return Comparison(_value(condition.left, by), condition.relation, _value(condition.right, by))
