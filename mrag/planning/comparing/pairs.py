"""Plans of two numbers that are set side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.planning.algebra.rewriting import substituted
from mrag.planning.algebra.scopes import all_patterns, check, merged
from mrag.planning.building.choices import Draft
from mrag.planning.building.literals import identifier
from mrag.planning.comparing.sides import Sides
from mrag.planning.schema import Schema

Best = Callable[[str], Sequence[Draft]]


def set_side_by_side(sides: Sides, best: Best, schema: Schema) -> list[Draft]:
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
        found = _told(one, other, sides, schema)
        if found is None:
            continue
        try:
            check(found.plan)
        except ConfigError:
            continue
        return [found]
    return []


def _number(texts: Sequence[str], best: Best, schema: Schema) -> Draft | None:
    """Return the first draft of some questions that finds one number."""
    for text in texts:
        for draft in best(text)[:2]:
            plan = draft.plan
            lone = len(plan.columns) == 1 and not (plan.group_by or plan.having or plan.order)
            if lone and plan.limit is None and not draft.ignored and _is_number(plan, schema):
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
        return _draft(one, other, plan, shown)
    if sides.relation is None:
        return None
    (first, left), (second, right) = _side(one, "one_"), _side(other, "other_")
    where = merged(first, second)
    if sides.told == "whether":
        compared = pl.Comparison(left, sides.relation, right)
        folds = isinstance(one.plan.columns[0].value, pl.Aggregate)
        plan = (
            pl.Plan(where, having=(compared,))
            if folds
            else pl.Plan(replace(where, conditions=(*where.conditions, compared)))
        )
        return _draft(one, other, plan, ())
    minus = pl.Arithmetic(left, "-", right) if sides.relation == ">" else pl.Arithmetic(right, "-", left)
    return _draft(one, other, pl.Plan(where, (pl.Column(minus, "difference"),)), ("difference",))


def _no_others(key: pl.Unknown, where: pl.Block, schema: Schema) -> bool:
    """Return whether what is set side by side is all there is, so that both together need no naming."""
    infos = (schema.properties.get(str(p.predicate)) for p in where.patterns if p.object == key)
    return any(info is not None and info.objects == 2 for info in infos)


def _columns(one: Draft, other: Draft) -> Draft | None:
    """Return the draft of two numbers in one row, where they are of things of different kinds."""
    (first, left), (second, right) = _side(one, "one_"), _side(other, "other_")
    name, beside = one.plan.columns[0].name, other.plan.columns[0].name
    if beside == name:
        return None
    columns = (pl.Column(left, name), pl.Column(right, beside))
    return _draft(one, other, pl.Plan(merged(first, second), columns), (name, beside))


def _side(draft: Draft, prefix: str) -> tuple[pl.Block, pl.Expression]:
    """Return what a number needs to hold and its value, its unknowns apart from those of the other."""
    plan = draft.plan
    value = plan.columns[0].value
    own = {
        u
        for p in all_patterns(plan.where)
        for u in (p.subject, p.predicate, p.object)
        if isinstance(u, pl.Unknown)
    }
    by: dict[pl.Place, pl.Place] = {u: pl.Unknown(f"{prefix}{u.name}") for u in own}
    if isinstance(value, pl.Aggregate):
        of = tuple(u for one in value.of if isinstance(u := by.get(one, one), pl.Unknown))
        block = substituted(merged(plan.where, value.where), by)
        return pl.Block(), replace(value, value=_renamed(value.value, by), of=of, where=block)
    return substituted(plan.where, by), _renamed(value, by) or value


def _renamed(value: pl.Expression | None, by: dict[pl.Place, pl.Place]) -> pl.Expression | None:
    match value:
        case pl.Unknown():
            return by.get(value, value)
        case pl.Number(inner):
            return pl.Number(_renamed(inner, by) or inner)
        case pl.Arithmetic(left, operation, right):
            return pl.Arithmetic(_renamed(left, by) or left, operation, _renamed(right, by) or right)
        case pl.Days(start, end):
            return pl.Days(_renamed(start, by) or start, _renamed(end, by) or end)
        case pl.DatePart(part, inner):
            return pl.DatePart(part, _renamed(inner, by) or inner)
        case _:
            return value


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


def _draft(one: Draft, other: Draft, plan: pl.Plan, shown: tuple[str, ...]) -> Draft:
    return replace(
        one,
        plan=plan,
        shown=shown,
        matches=(*one.matches, *other.matches),
        joins=max(one.joins, other.joins),
        guesses=max(one.guesses, other.guesses),
        choices={},
        ties=tuple(dict.fromkeys((*one.ties, *other.ties))),
    )
