"""Plans of two sides that are compared: their difference, their ratio, or which of them is more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rdflib import Literal

from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Expression,
    Number,
    Plan,
    Unknown,
)
from mrag.planning.reader.frames import QuestionCues, RoleItem, Unreadable, is_above, partner_of
from mrag.planning.reader.outcome import PlanDraft, assemble, difference
from mrag.planning.reader.world import SchemaWays
from mrag.planning.scopes import renamed, without_ties

_HUNDRED: Final = Literal(100)


def draft_of(world: SchemaWays, items: Sequence[RoleItem], asked: QuestionCues) -> PlanDraft:
    """Return the plan that mentions with roles make, of one side or of two.

    Raises:
        Unreadable: If they make none.
    """
    if not any(i.role == "than" for i in items) or any(map(is_above, items)):
        return assemble(world, items, asked)
    first, second = _sides(items)
    aside = replace(asked, truth=False, difference=False, ratio="", compares="", side=True)
    drafts = assemble(world, first, aside), assemble(world, second, aside)
    plans = tuple(_named(d, name) for d, name in zip(drafts, ("one", "other"), strict=True))
    kind = _kind(world, drafts[0])
    less = any(i.role == "by-" for i in items) or asked.compares == "<"
    features = dict(drafts[0].features)  # those of the other side are the same
    one, other = Unknown("one"), Unknown("other")
    columns: tuple[Column, ...] = ()
    conditions: tuple[Comparison, ...] = ()
    if asked.truth:
        conditions = (
            Comparison(_read(one, kind), asked.compares or ("<" if less else ">"), _read(other, kind)),
        )
        features["contrast:truth"] = 1.0
    elif asked.ratio and kind == "number":
        columns = (Column(ratio(Number(one), Number(other), percent=asked.ratio == "percent"), "ratio"),)
        features["contrast:ratio"] = 1.0
    elif asked.difference or asked.compares in ("<", ">") or any(i.role.startswith("by") for i in items):
        columns = (
            Column(difference(*((one, other) if less else (other, one)), kind, asked.unit), "difference"),
        )
        features["contrast:difference"] = 1.0
    else:
        columns = (Column(one, "one"), Column(other, "other"))
        features["contrast:both"] = 1.0
    return PlanDraft(
        Plan(Block((), conditions, plans=plans), columns), tuple(c.name for c in columns), features
    )


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


def _named(draft: PlanDraft, name: str) -> Plan:
    """Return the plan of a side, with a name for its one value."""
    if len(draft.shown) != 1:
        raise Unreadable
    return without_ties(
        renamed(
            draft.plan, {c.name: name if c.name in draft.shown else name + c.name for c in draft.plan.columns}
        )
    )


def _kind(world: SchemaWays, draft: PlanDraft) -> str:
    """Return whether the value of a side is a number or a date."""
    value = next(c.value for c in draft.plan.columns if c.name in draft.shown)
    if not isinstance(value, Unknown):
        inside = (
            value.value if isinstance(value, Aggregate) and value.function in ("minimum", "maximum") else None
        )
        if not isinstance(inside, Unknown):
            return "number"
        value = inside
    found = {
        info.kind
        for p in draft.plan.where.patterns
        if p.object == value and (info := world.schema.properties.get(str(p.predicate)))
    }
    if not found & {"number", "date"}:
        raise Unreadable
    return found.pop()


def _read(value: Unknown, kind: str) -> Expression:
    return Number(value) if kind == "number" else value


def ratio(part: Expression, whole: Expression, *, percent: bool) -> Expression:
    """Return how much of an amount another one is."""
    return Arithmetic(Arithmetic(part, "*", _HUNDRED) if percent else part, "/", whole)
