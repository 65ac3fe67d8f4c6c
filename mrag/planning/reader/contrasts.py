"""Plans of two sides that are compared: their difference, their ratio, or which of them is more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from rdflib import Literal

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Number,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.reader.frames import (
    BY,
    QuestionCues,
    RoleItem,
    Unreadable,
    is_above,
    pairs,
    partner_of,
    read_as,
)
from mrag.planning.reader.outcome import PlanDraft, assemble, difference, ratio
from mrag.planning.reader.world import SchemaWays
from mrag.planning.scopes import less, renamed, without_ties

_SAID: Final = frozenset(
    "is is> cond not has lacks yes no node none having like start end or key+ key- above+ above- same "
    "kind".split()
)
"""Roles of what may hold of a part of things only."""
_HEADS: Final = frozenset(("count", "share", "focus", "again", "node"))
"""Roles of kinds of things that may be counted beside others."""


def draft_of(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    """Return the plan that mentions with roles make, of one side or of two.

    Raises:
        Unreadable: If they make none.
    """
    every = next((n for n, i in enumerate(items) if i.role in ("all", "half")), None)
    if every is not None:
        return _of_all(world, items, every, asked)
    parts = [replace(i, role="by+") if i.role == "share" else i for i in items]
    if parts != [*items] and not any(i.role == "than" for i in items):
        sides = _parted(items, asked)
        return _share(world, items, asked) if sides is None else _of_two(world, sides, asked)
    items = parts
    if not any(i.role == "than" for i in items) or any(map(is_above, items)):
        sides = _parted(items, asked)
        return assemble(world, items, asked) if sides is None else _of_two(world, sides, asked)
    if any("beyond" in i.role for i in items):
        raise Unreadable
    ranked = any(i.role in BY for i in items)
    counts = ranked and any(i.role == "count" for i in items)
    items = [replace(i, role="focus") if counts and i.role == "count" else i for i in items]
    both = _both(world, _sides(_said_once(items)), asked)
    one, other, kind = Unknown("one"), Unknown("other"), both.kind
    less = any(i.role == "by-" for i in items) or asked.compares == "<"
    if asked.truth:
        relation = asked.compares or ("<" if less else ">")
        if not both.keys and all(_is_count(plan) for plan in both.plans):
            left, right = map(Scalar, both.plans)
            return replace(both, plans=()).draft((), (Comparison(left, relation, right),), "truth")
        return both.draft((), (Comparison(read_as(kind, one), relation, read_as(kind, other)),), "truth")
    if asked.ratio and kind == "number":
        turned = any(i.role == "than" and i.cue is None for i in items)  # the part comes behind the whole
        part, whole = (other, one) if turned else (one, other)
        value = ratio(Number(part), Number(whole), percent=asked.ratio == "percent")
        return both.draft((Column(value, "ratio"),), (), "ratio")
    if ranked and both.keys and not asked.amount:
        relation = "<" if less else ">"
        return both.kept((Comparison(read_as(kind, one), relation, read_as(kind, other)),), counted=counts)
    if counts or ((ranked or asked.compares in ("<", ">")) and not asked.amount):
        raise Unreadable
    if asked.amount:
        start, end = (one, other) if less else (other, one)
        return both.draft((Column(difference(start, end, kind, asked.unit), "difference"),), (), "difference")
    return both.draft((Column(one, "one"), Column(other, "other")), (), "both")


@dataclass(frozen=True)
class _Both:
    """Two sides: their plans, the columns that they have in common, and whether they are numbers or dates."""

    plans: tuple[Plan, ...]
    keys: tuple[Column, ...]
    kind: str
    features: Mapping[str, float]

    def draft(self, columns: tuple[Column, ...], conditions: tuple[Comparison, ...], name: str) -> PlanDraft:
        """Return the plan that shows something of both."""
        shown = (*self.keys, *columns)
        return PlanDraft(
            Plan(Block((), conditions, plans=self.plans), shown),
            tuple(c.name for c in shown),
            {**self.features, f"contrast:{name}": 1.0},
        )

    def kept(self, conditions: tuple[Comparison, ...], *, counted: bool) -> PlanDraft:
        """Return the plan of the things for which something holds, or of their number."""
        plan = Plan(Block((), conditions, plans=self.plans), self.keys)
        shown = self.keys
        if counted:
            number = Aggregate("count", of=tuple(Unknown(c.name) for c in self.keys))
            shown = (Column(number, "number"),)
            plan = Plan(Block(plans=(plan,)), shown)
        return PlanDraft(plan, tuple(c.name for c in shown), {**self.features, "contrast:kept": 1.0})


def _both(
    world: SchemaWays, sides: tuple[Sequence[RoleItem], Sequence[RoleItem]], asked: QuestionCues
) -> _Both:
    named = any(i.kind in ("entity", "property") for side in sides for i in side)
    counted = asked.counted or (not named and bool(asked.compares or asked.amount or asked.ratio))
    aside = replace(asked, truth=False, difference=False, ratio="", compares="", side=True, counted=counted)
    drafts = [_side(world, side, aside) for side in sides]
    keys = [[c.name for c in _keys(d)] for d in drafts]
    if len(keys[0]) != len(keys[1]):
        raise Unreadable
    values = [c.value for c in _keys(drafts[0])]
    called = [
        f"{v.name.rstrip('0123456789') if isinstance(v, Unknown) else 'key'}{n}" for n, v in enumerate(values)
    ]
    plans = tuple(
        _named(d, dict(zip(k, called, strict=True)), name)
        for d, k, name in zip(drafts, keys, ("one", "other"), strict=True)
    )
    shared = tuple(Column(Unknown(name), name) for name in called)
    return _Both(plans, shared, _kind(world, drafts[0]), drafts[0].features)


def _side(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    """Return the plan of a side; where it is counted for each of something, none is a number as well."""
    if any(i.role in BY and i.kind == "class" for i in items) and any(i.role == "focus" for i in items):
        with suppress(Unreadable):
            return assemble(world, items, replace(asked, zero=True))
    return assemble(world, items, asked)


def _keys(draft: PlanDraft) -> list[Column]:
    """Return what a side is grouped by."""
    shown = [c for c in draft.plan.columns if c.name in draft.shown]
    keys = [c for c in shown if isinstance(c.value, Unknown)]
    return keys if draft.plan.grouped else keys[:-1]


def _share(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    """Return the plan of the part of things, or of an amount of theirs, for which all that is said holds."""
    at = next(n for n, i in enumerate(items) if i.role == "share")
    both = _part_and_whole(world, items, at, asked)
    percent = (cue := items[at].cue) is not None and cue.cue == "share"
    name = "percentage" if percent else "ratio"
    draft = _of_whole(both, name, percent=percent)
    if draft is None:
        value = ratio(Number(Unknown("one")), Number(Unknown("other")), percent=percent)
        draft = both.draft((Column(value, name),), (), "share")
    more = {"share": 1.0, "turned": 0.5 * asked.turn, "share of some": float(asked.turn)}
    return replace(draft, features={**draft.features, **more})


def _part_and_whole(world: SchemaWays, items: Sequence[RoleItem], at: int, asked: QuestionCues) -> _Both:
    """Return the part of things for which all that is said holds, and the whole.

    Of several things that are said, one before the name of the things holds for the whole; where another turn
    is asked for, or yes or no, all but the last.
    """
    said = [n for n, i in enumerate(items) if i.role in _SAID and n != at]
    partners = pairs(items)
    within = said[:-1] if asked.turn or asked.truth else [n for n in said if n < at]
    rest = [n for n in said if n not in within] or said
    if not said or (asked.turn and rest == said) or (asked.turn and asked.truth):
        raise Unreadable
    gone = {*rest, *(partners[n] for n in rest if n in partners)}
    counted = [
        replace(i, role="count" if i.kind == "class" else "by+") if n == at else i
        for n, i in enumerate(items)
    ]
    sides = counted, [i for n, i in enumerate(counted) if n not in gone]
    both = _both(world, sides, replace(asked, turn=0))
    if both.plans[0].where == both.plans[1].where:
        raise Unreadable
    return both


def _of_all(world: SchemaWays, items: Sequence[RoleItem], at: int, asked: QuestionCues) -> PlanDraft:
    """Return whether what is said last holds for all things, or for most."""
    if not asked.truth:
        raise Unreadable
    part, whole = Unknown("one"), Unknown("other")
    compared: tuple[Comparison, ...] = (Comparison(Arithmetic(part, "*", Literal(2)), ">", whole),)
    if items[at].role == "all":
        compared = Comparison(part, "=", whole), Comparison(whole, ">", Literal(0))
    return _part_and_whole(world, items, at, asked).draft((), compared, "of all")


def _of_whole(both: _Both, name: str, *, percent: bool) -> PlanDraft | None:
    """Return a plan that folds a part of what it folds as a whole; None if one is no part of the other."""
    part, whole = both.plans
    one, other = part.columns[-1].value, whole.columns[-1].value
    bare = replace(
        part, where=whole.where, columns=(*part.columns[:-1], replace(part.columns[-1], name="other"))
    )
    rest = less(part.where, whole.where)
    if bare != whole or one != other or not isinstance(one, Aggregate) or rest.plans or rest.optional:
        return None
    if not less(whole.where, part.where).empty:
        return None
    shown = (*whole.columns[:-1], Column(ratio(replace(one, where=rest), one, percent=percent), name))
    return PlanDraft(replace(whole, columns=shown), tuple(c.name for c in shown), both.features)


def _parted(items: Sequence[RoleItem], asked: QuestionCues) -> tuple[list[RoleItem], list[RoleItem]] | None:
    """Return the items of two sides whose things are counted apart: "the ratio of A in X to B in Y".

    What is said behind both holds for both, but for as much as is said of the first; in another turn only for
    the second.
    """
    kinds = [n for n, i in enumerate(items) if i.kind == "class" and i.role in _HEADS]
    counts = [n for n in kinds if items[n].role in ("count", "share")]
    heads = counts if len(counts) == 2 else kinds
    grouped = any(i.role == "group" for i in items)
    if asked.truth or not (asked.ratio or asked.difference or (heads is counts and not grouped)):
        return None
    joins = [at for at in asked.joins if heads and items[heads[0]].at < at]
    second = next((items[n] for n in heads if joins and items[n].at > joins[0]), None)
    if second is None:
        return None
    first, at = items[heads[0]], max(join for join in joins if join < second.at)
    common = [i for i in items if i.role == "group"]
    left = [i for i in items if i.at < at and i not in common]
    right = [i for i in items if i.at > at and i not in common]
    own = sum(i.at > first.at for i in left)
    shared = [i for i in right if i.at > second.at][own:]
    if asked.turn > bool(shared):
        raise Unreadable
    left += [] if asked.turn else shared
    return _counting([*left, *common], first), _counting([*right, *common], second)


def _counting(items: Sequence[RoleItem], head: RoleItem) -> list[RoleItem]:
    """Return the items of a side whose things are counted."""
    return [replace(i, role="count" if i is head else "node" if i.role == "again" else i.role) for i in items]


def _of_two(
    world: SchemaWays, sides: tuple[Sequence[RoleItem], Sequence[RoleItem]], asked: QuestionCues
) -> PlanDraft:
    """Return the plan of the ratio or the difference of two sides, or of both."""
    both = _both(world, sides, replace(asked, turn=0))
    one, other = Unknown("one"), Unknown("other")
    if asked.ratio:
        value = ratio(Number(one), Number(other), percent=asked.ratio == "percent")
        draft = both.draft((Column(value, "ratio"),), (), "ratio of two")
    elif asked.difference:
        value = Arithmetic(Number(one), "-", Number(other))
        draft = both.draft((Column(value, "difference"),), (), "difference of two")
    else:
        draft = both.draft((Column(one, "one"), Column(other, "other")), (), "two numbers")
    return replace(draft, features={**draft.features, "turned": float(asked.turn)})


def _said_once(items: Sequence[RoleItem]) -> list[RoleItem]:
    """Return items without those that say again what is compared: "the height of A and the height of B"."""
    own = [(i.role, i.text) if i.kind == "property" else None for i in items]
    return [i for n, i in enumerate(items) if own[n] is None or own[n] not in own[:n]]


def _sides(items: Sequence[RoleItem]) -> tuple[list[RoleItem], list[RoleItem]]:
    """Return the items of both sides: those with a partner in the other stand in one of them only."""
    partners = {n: partner_of(items, n) for n, item in enumerate(items) if item.role == "than"}
    if None in partners.values():
        raise Unreadable
    first = [item for n, item in enumerate(items) if n not in partners]
    second = list(items)
    for n, at in partners.items():
        assert at is not None
        unit = replace(items[n].unit, op=items[at].unit.op)
        second[at] = replace(items[n], role=items[at].role, unit=unit)
    return first, [item for n, item in enumerate(second) if n not in partners]


def _named(draft: PlanDraft, keys: Mapping[str, str], name: str) -> Plan:
    """Return the plan of a side, with a name for its value and names for what it is grouped by."""
    if len(draft.shown) != len(keys) + 1:
        raise Unreadable
    names = {c.name: name + c.name for c in draft.plan.columns}
    names |= keys
    names |= {old: name for old in draft.shown if old not in keys}
    return without_ties(renamed(draft.plan, names))


def _is_count(plan: Plan) -> bool:
    values = [c.value for c in plan.columns]
    return len(values) == 1 and isinstance(values[0], Aggregate) and values[0].function == "count"


def _kind(world: SchemaWays, draft: PlanDraft) -> str:
    """Return whether the value of a side is a number or a date."""
    keys = _keys(draft)
    value = next(c.value for c in draft.plan.columns if c.name in draft.shown and c not in keys)
    if not isinstance(value, Unknown):
        extreme = isinstance(value, Aggregate) and value.function in ("minimum", "maximum")
        if not isinstance(value, Aggregate) or not extreme or not isinstance(value.value, Unknown):
            return "number"
        value = value.value
    found = {
        info.kind
        for p in draft.plan.where.patterns
        if p.object == value and (info := world.schema.properties.get(str(p.predicate)))
    }
    if not found & {"number", "date"}:
        raise Unreadable
    return found.pop()
