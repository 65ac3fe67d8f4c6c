"""Plans of two numbers that are set side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdflib import RDF, Literal, URIRef

from mrag.planning import plan as pl
from mrag.planning.building.literals import identifier
from mrag.planning.comparing.sides import Sides
from mrag.planning.composing.drafts import Draft, Read, fully_read, whole
from mrag.planning.schema import Schema
from mrag.planning.scopes import all_patterns, merged, set_aside, substituted


def set_side_by_side(sides: Sides, best: Read, schema: Schema) -> list[Draft]:
    """Return the plan of two numbers that a question sets side by side; none if either cannot be read.

    Args:
        sides: What it sets side by side.
        best: Reads a question that holds no other; best drafts first.
        schema: The schema.
    """
    for first, second in sides.pairs:
        one = _number(first, best, schema)
        other = _number(second, best, schema) if one is not None else None
        if one is None or other is None or not _alike(one, other):
            continue
        if (found := _told(one, other, sides, schema)) is not None:
            return [found]
    return []


def _number(texts: Sequence[str], best: Read, schema: Schema) -> Draft | None:
    """Return the first draft of some questions that finds one number."""
    for draft in (d for text in texts for d in fully_read(best(text), 2)):
        plan = draft.plan
        lone = len(plan.columns) == 1 and not (plan.group_by or plan.having or plan.order)
        if lone and plan.limit is None and _is_number(plan, schema):
            return draft
    return None


def _is_number(plan: pl.Plan, schema: Schema) -> bool:
    """Return whether a plan with one column shows one number: a fold, or what one thing has."""
    value = plan.columns[0].value
    if isinstance(value, pl.Aggregate | pl.Arithmetic):
        return all(not isinstance(e, pl.Unknown) or isinstance(value, pl.Aggregate) for e in pl.parts(value))
    plain = value.value if isinstance(value, pl.Number) else value
    if plan.where.either or plan.where.plans or not isinstance(plain, pl.Unknown):
        return False
    infos = [schema.properties.get(str(p.predicate)) for p in plan.where.patterns if p.object == plain]
    named = any(isinstance(p.subject, URIRef) for p in plan.where.patterns)
    return named and any(info is not None and info.kind in ("number", "date") for info in infos)


def _alike(one: Draft, other: Draft) -> bool:
    """Return whether two drafts find the same kind of number of different things."""
    a, b = one.plan.columns[0].value, other.plan.columns[0].value
    if one.plan.where == other.plan.where:
        return False
    if isinstance(a, pl.Aggregate) and isinstance(b, pl.Aggregate):
        same = a.function == b.function and (a.value is None) == (b.value is None)
        return same and (a.value is None or _folded(one) == _folded(other))
    return type(a) is type(b) and _folded(one) == _folded(other)


def _folded(draft: Draft) -> set[str]:
    """Return the properties of the values that a draft shows or folds."""
    values = set(pl.parts(draft.plan.columns[0].value))
    return {str(p.predicate) for p in all_patterns(draft.plan.where) if p.object in values}


def _told(one: Draft, other: Draft, sides: Sides, schema: Schema) -> Draft | None:
    if sides.told in ("each", "which"):
        rows = _rows(one, other, schema)
        if rows is None:
            return None if sides.told == "which" or sides.only_all else _columns(one, other)
        key, where, value = rows
        if sides.only_all and not _no_others(key, where, schema):
            return None
        name = one.plan.columns[0].name
        number = pl.Column(value, name if name != key.name else f"{name}_value")
        plan = pl.Plan(where, (pl.Column(key, key.name), number))
        shown: tuple[str, ...] = (key.name, number.name)
        if sides.told == "which":
            order = (pl.Order(number.name, descending=sides.relation == ">"),)
            plan, shown = replace(plan, order=order, limit=1, ties=True), shown[:1]
        return _of_both(plan, one, other, shown)
    apart = _apart(one, other)
    if sides.relation is None or apart is None:
        return None
    where, left, right = apart
    if sides.told == "whether":
        compared = pl.Comparison(left, sides.relation, right)
        if isinstance(left, pl.Aggregate):
            return _of_both(pl.Plan(where, having=(compared,)), one, other, ())
        where = replace(where, conditions=(*where.conditions, compared))
        return _of_both(pl.Plan(where), one, other, ())
    minus = pl.Arithmetic(left, "-", right) if sides.relation == ">" else pl.Arithmetic(right, "-", left)
    columns = (pl.Column(minus, "difference"),)
    return _of_both(pl.Plan(where, columns), one, other, ("difference",))


def _no_others(key: pl.Unknown, where: pl.Block, schema: Schema) -> bool:
    """Return whether what is set side by side is all there is, so that both together need no naming."""
    infos = (schema.properties.get(str(p.predicate)) for p in where.patterns if p.object == key)
    return any(info is not None and info.objects == 2 for info in infos)


def _columns(one: Draft, other: Draft) -> Draft | None:
    """Return the draft of two numbers in one row, where they are of things of different kinds."""
    apart = _apart(one, other)
    names = (one.plan.columns[0].name, other.plan.columns[0].name)
    if apart is None or names[0] == names[1]:
        return None
    where, *values = apart
    return _of_both(pl.Plan(where, tuple(map(pl.Column, values, names))), one, other, names)


def _apart(one: Draft, other: Draft) -> tuple[pl.Block, pl.Expression, pl.Expression] | None:
    """Return the block that two numbers need, and both, each with unknowns of its own."""
    first, second = one.plan.columns[0].value, other.plan.columns[0].value
    if isinstance(first, pl.Arithmetic) or isinstance(second, pl.Arithmetic):
        return None  # the folds in it are of one block
    a, left = set_aside(first, one.plan.where, "one_")
    b, right = set_aside(second, other.plan.where, "other_")
    return merged(a, b), left, right


def _rows(one: Draft, other: Draft, schema: Schema) -> tuple[pl.Unknown, pl.Block, pl.Expression] | None:
    """Return what differs between two plans as an unknown, the block that both are, and the number.

    None if they differ in more than one thing or value.
    """
    a, b, value = one.plan.where, other.plan.where, one.plan.columns[0].value
    if value != other.plan.columns[0].value:
        return None
    lone = [([c for c in x.conditions if c not in y.conditions], y) for x, y in ((a, b), (b, a))]
    (mine, _), (theirs, _) = lone
    if len(mine) == len(theirs) == 1 and set(a.patterns) == set(b.patterns):
        left, right = mine[0], theirs[0]
        key = left.left if isinstance(left, pl.Comparison) else left.value
        same = key == (right.left if isinstance(right, pl.Comparison) else right.value)
        rest = [
            replace(x, conditions=tuple(c for c in x.conditions if c not in (left, right))) for x in (a, b)
        ]
        if not same or not isinstance(key, pl.Unknown) or rest[0] != rest[1]:
            return None
        either = (pl.Block(conditions=(left,)), pl.Block(conditions=(right,)))
        return key, replace(rest[0], either=(*rest[0].either, either)), value
    mine_, theirs_ = (_constants(x) - _constants(y) for x, y in ((a, b), (b, a)))
    if len(mine_) != 1 or len(theirs_) != 1:
        return None
    (first,), (second,) = mine_, theirs_
    key = pl.Unknown(_called(a, first, schema))
    told = [substituted(x, {c: key}) for x, c in ((a, first), (b, second))]
    if set(told[0].patterns) != set(told[1].patterns) or replace(told[0], patterns=()) != replace(
        told[1], patterns=()
    ):
        return None
    either_thing = tuple(pl.Block(conditions=(pl.Comparison(key, "=", c),)) for c in (first, second))
    return key, replace(told[0], either=(*told[0].either, either_thing)), value


def _constants(block: pl.Block) -> set[URIRef | Literal]:
    """Return the things and values that the patterns of a block name; classes are none."""
    places = (
        place for p in all_patterns(block) for place in (p.subject, p.object) if p.predicate != RDF.type
    )
    return {p for p in places if isinstance(p, URIRef | Literal)}


def _called(block: pl.Block, constant: URIRef | Literal, schema: Schema) -> str:
    """Return a name for what stands in the place of a thing or a value."""
    taken = {u.name for p in all_patterns(block) for u in (p.subject, p.object) if isinstance(u, pl.Unknown)}
    name = "thing"
    for p in block.patterns:
        info = schema.properties.get(str(p.predicate))
        ends = (info.ranges if p.object == constant else info.domains) if info is not None else ()
        classes = [c for c in ends if c in schema.classes]
        if constant in (p.subject, p.object) and classes:
            name = identifier(schema.classes[classes[0]].names[0])
    while name in taken:
        name += "_too"
    return name


def _of_both(plan: pl.Plan, one: Draft, other: Draft, shown: Sequence[str]) -> Draft | None:
    return whole(plan, one, other, shown=shown, joins=max, guesses=max)
