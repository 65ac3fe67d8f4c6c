"""Which unknowns a part of a plan binds and which it needs, and what a plan may not say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.rdf.terms import to_ox

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_DEEPEST = 40


def sides(condition: pl.Condition) -> tuple[pl.Expression, ...]:
    """Return the expressions of a condition."""
    return (condition.left, condition.right) if isinstance(condition, pl.Comparison) else (condition.value,)


def unknowns(expression: pl.Expression) -> set[pl.Unknown]:
    """Return the unknowns that an expression needs, those of its aggregates left out."""
    return {e for e in _outside(expression) if isinstance(e, pl.Unknown)}


def aggregates(expression: pl.Expression) -> list[pl.Aggregate]:
    """Return the aggregates in an expression."""
    return [e for e in _outside(expression) if isinstance(e, pl.Aggregate)]


def _outside(expression: pl.Expression) -> Iterator[pl.Expression]:
    """Yield an expression and what is in it, without what is in its aggregates."""
    hidden: set[int] = set()
    for part in pl.parts(expression):
        if isinstance(part, pl.Aggregate) and part.value is not None:
            hidden.update(id(e) for e in pl.parts(part.value))
    for part in pl.parts(expression):
        if id(part) not in hidden:
            yield part


def bound(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that every solution of a block binds."""
    found = {u for p in block.patterns for u in p.places if isinstance(u, pl.Unknown)}
    found |= {pl.Unknown(c.name) for plan in block.plans for c in plan.columns}
    for branches in block.either:
        if branches:
            found |= set.intersection(*(bound(b) for b in branches))
    return found


def reached(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that some solution of a block binds."""
    found = bound(block)
    for inner in (*block.branches, *block.optional):
        found |= reached(inner)
    return found


def unsure(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns that some solutions of a block, or of one within it, leave unbound."""
    found = reached(block) - bound(block)
    for inner in (*block.branches, *block.optional, *block.without):
        found |= unsure(inner)
    return found


def all_patterns(block: pl.Block) -> Iterator[pl.Pattern]:
    """Yield the patterns of a block and of all within it."""
    yield from block.patterns
    for inner in (*block.branches, *block.optional, *block.without):
        yield from all_patterns(inner)


def mentioned(block: pl.Block) -> set[pl.Unknown]:
    """Return all unknowns of a block, those of what must not hold among them."""
    found = reached(block) | {u for c in block.conditions for s in sides(c) for u in unknowns(s)}
    for inner in (*block.branches, *block.optional, *block.without):
        found |= mentioned(inner)
    return found


def borrowed(block: pl.Block, outer: set[pl.Unknown]) -> set[pl.Unknown]:
    """Return the unknowns of the blocks around it that a block speaks of without binding them itself."""
    found = {u for c in block.conditions for s in sides(c) for u in unknowns(s)}
    for inner in block.without:
        found |= mentioned(inner)
    for inner in (*block.branches, *block.optional):
        found |= borrowed(inner, outer)
    return (found & outer) - reached(block)


def merged(*blocks: pl.Block) -> pl.Block:
    """Return the block that says all that blocks say."""
    return pl.Block(
        tuple(dict.fromkeys(p for b in blocks for p in b.patterns)),
        tuple(dict.fromkeys(c for b in blocks for c in b.conditions)),
        tuple(dict.fromkeys(w for b in blocks for w in b.without)),
        tuple(dict.fromkeys(e for b in blocks for e in b.either)),
        tuple(dict.fromkeys(o for b in blocks for o in b.optional)),
        tuple(dict.fromkeys(p for b in blocks for p in b.plans)),
    )


_PARTS = ("patterns", "conditions", "without", "either", "optional", "plans")


def common(one: pl.Block, other: pl.Block) -> pl.Block:
    """Return what two blocks both say."""
    return pl.Block(*(tuple(x for x in getattr(one, p) if x in getattr(other, p)) for p in _PARTS))


def less(block: pl.Block, other: pl.Block) -> pl.Block:
    """Return what a block says beside what another one says, too."""
    return pl.Block(*(tuple(x for x in getattr(block, p) if x not in getattr(other, p)) for p in _PARTS))


def is_condition(block: pl.Block) -> bool:
    """Return whether a block only has conditions."""
    return not (block.patterns or block.either or block.without or block.optional or block.plans)


def one_of(branches: tuple[pl.Block, ...]) -> tuple[pl.Unknown, list[URIRef]] | None:
    """Return the unknown that branches make one of some things, and these; None if they say anything else."""
    terms: list[URIRef] = []
    unknowns: set[pl.Unknown] = set()
    for branch in branches:
        match branch.conditions:
            case (pl.Comparison(pl.Unknown() as left, "=", URIRef() as right),) if is_condition(branch):
                unknowns.add(left)
                terms.append(right)
            case _:
                return None
    return (unknowns.pop(), terms) if len(unknowns) == 1 else None


def positive(block: pl.Block) -> pl.Block:
    """Return what must exist for a block to hold."""
    return pl.Block(patterns=block.patterns, either=block.either, plans=block.plans)


def keys(plan: pl.Plan) -> tuple[pl.Column, ...]:
    """Return what the solutions of a grouped plan are grouped by, under names."""
    shown = tuple(c for c in plan.columns if not aggregates(c.value))
    names = {c.value for c in shown}
    return (*shown, *(pl.Column(u, u.name) for u in plan.group_by if u not in names))


def check(plan: pl.Plan) -> None:
    """Refuse a plan that says nothing sensible.

    Raises:
        ConfigError: With what is wrong with it.

    Example:
        >>> from mrag.planning import Column, Plan, Unknown
        >>> check(Plan(columns=(Column(Unknown("x"), "x"),)))
        Traceback (most recent call last):
        mrag.errors.ConfigError: Nothing binds ?x.
    """
    _check(plan, _DEEPEST)


def _check(plan: pl.Plan, depth: int) -> None:
    if depth <= 0:
        raise ConfigError("The plan is nested too deep.")
    names = [c.name for c in plan.columns]
    for name in names:
        _check_name(name)
    if len(set(names)) != len(names):
        raise ConfigError("Two columns have one name.", term=", ".join(names))
    for order in plan.order:
        if order.column not in names:
            raise ConfigError("There is no such column to order by.", term=order.column)
    if plan.offset < 0 or (plan.limit is not None and plan.limit < 0):
        raise ConfigError("Limit and offset are not negative.")
    _check_block(plan.where, set(), set(), depth)
    here = reached(plan.where)
    for unknown in plan.group_by:
        _require({unknown}, here)
    for column in plan.columns:
        folded = bool(aggregates(column.value))
        grouped = {k.value for k in keys(plan) if isinstance(k.value, pl.Unknown)}
        _check_value(column.value, plan.where, grouped if folded else here, depth, folds=True)
    known = {pl.Unknown(n) for n in names} | set(plan.group_by)
    for condition in plan.having:
        for side in sides(condition):
            _check_value(side, plan.where, known, depth, folds=True)


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise ConfigError("A name of a plan is of letters, digits and _.", term=name)


def _check_block(block: pl.Block, outer: set[pl.Unknown], sure: set[pl.Unknown], depth: int) -> None:
    if depth <= 0:
        raise ConfigError("The plan is nested too deep.")
    for pattern in block.patterns:
        _check_pattern(pattern)
    for plan in block.plans:
        _check_joined(plan, block, depth)
    here = outer | reached(block)
    for condition in block.conditions:
        if isinstance(condition, pl.Contains):
            to_ox(Literal(condition.text))
        for side in sides(condition):
            _check_value(side, block, here, depth, folds=False)
    for branches in block.either:
        if not branches:
            raise ConfigError("There is nothing to choose from among no alternatives.")
    certain = outer | reached(positive(block))
    for inner in (*block.branches, *block.without, *block.optional):
        if inner.optional or inner.plans:
            raise ConfigError("Only the block of a plan has optional parts and plans.")
        _check_block(inner, certain, sure | bound(positive(block)), depth - 1)
    known = sure | bound(block)
    for inner in (*block.without, *block.optional):
        if inner.patterns or inner.either:
            # Whether it holds would depend on which alternative has been chosen.
            _require(mentioned(inner) & certain, known, "Not every alternative binds")


def _check_pattern(pattern: pl.Pattern) -> None:
    for place in pattern.places:
        if isinstance(place, pl.Unknown):
            _check_name(place.name)
    if pattern.narrower and (pattern.predicate != RDF.type or not isinstance(pattern.object, URIRef)):
        raise ConfigError("Only a class has narrower ones.", term=str(pattern.object))


def _check_joined(plan: pl.Plan, block: pl.Block, depth: int) -> None:
    _check(plan, depth - 1)
    if plan.yes_or_no or plan.ties:
        raise ConfigError("A plan that is joined with others has columns and no ties.")
    computed = {pl.Unknown(c.name) for c in plan.columns if not isinstance(c.value, pl.Unknown)}
    if computed & {u for p in all_patterns(block) for u in p.places}:
        raise ConfigError("A value that is computed is in no triple.")


def _check_value(
    value: pl.Expression, block: pl.Block, known: set[pl.Unknown], depth: int, *, folds: bool
) -> None:
    for size, part in enumerate(pl.parts(value)):
        if size > 200:
            raise ConfigError("An expression is too long.")
        if isinstance(part, pl.Scalar):
            _check_scalar(part.plan, depth)
    _require(unknowns(value), known)
    for aggregate in aggregates(value):
        if not folds:
            raise ConfigError("A condition on an aggregate belongs to `having`.")
        if aggregate.value is None and (aggregate.function != "count" or not aggregate.of):
            raise ConfigError("An aggregate has nothing to fold.", term=aggregate.function)
        inner = merged(block, aggregate.where)
        _check_block(inner, set(), set(), depth - 1)
        _require(set(aggregate.of), reached(inner))
        if aggregate.value is not None:
            if aggregates(aggregate.value):
                raise ConfigError("An aggregate is folded in another one; use a Scalar.")
            _check_value(aggregate.value, inner, reached(inner), depth, folds=False)


def _check_scalar(plan: pl.Plan, depth: int) -> None:
    _check(plan, depth - 1)
    single = plan.limit == 1 and not plan.ties
    if len(plan.columns) != 1 or not (single or (plan.grouped and not keys(plan))):
        raise ConfigError(
            "A scalar is a plan with one column and one row.", hint="Fold it, or limit it to 1."
        )


def _require(wanted: set[pl.Unknown], known: set[pl.Unknown], else_: str = "Nothing binds") -> None:
    for unknown in sorted(wanted - known):
        raise ConfigError(f"{else_} {unknown}.")
