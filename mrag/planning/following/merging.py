"""One plan over what another has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rdflib import RDF, URIRef

from mrag.errors import ConfigError
from mrag.planning.following.editing import renamed, walk
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Expression,
    Number,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.schema import Schema, most_of
from mrag.planning.scopes import PlanRoles, aggregates, all_patterns, check, merged, sides, unknowns

_LONGEST = 100
"""Questions of one conversation of which each goes on from the one before."""


@dataclass(frozen=True)
class LastAnswer:
    """What a follow-up goes on from.

    Attributes:
        plan: The plan that was computed.
        shown: Names of the columns that were shown.
        question: What was asked; "" where that is not known.
        before: What that question went on from itself; None where it stands alone.
        why: Why it was computed; "" where that is not known.
    """

    plan: Plan
    shown: tuple[str, ...]
    question: str = ""
    before: LastAnswer | None = None
    why: str = ""

    @classmethod
    def from_json(cls, value: Mapping[str, Any], longest: int = _LONGEST) -> LastAnswer:
        """Read what `to_json` wrote, or these parts of an answer's JSON form.

        Args:
            value: The JSON form; only `plan` and `columns` have to be there.
            longest: How many answers may go on from one another.

        Raises:
            ConfigError: If they are malformed.

        Example:
            >>> LastAnswer.from_json({"plan": {}, "columns": ["x"]})
            Traceback (most recent call last):
            mrag.errors.ConfigError: The columns of the answer are not in its plan.
        """
        plan, shown = plan_from_json(value.get("plan")), value.get("columns")
        if not isinstance(shown, list | tuple) or not {*map(str, shown)} <= {c.name for c in plan.columns}:
            raise ConfigError("The columns of the answer are not in its plan.")
        if not (shown or plan.yes_or_no):
            raise ConfigError("The answer shows no column of its plan.")
        said, before = [value.get(name) or "" for name in ("question", "why")], value.get("follows")
        question, why = (text if isinstance(text, str) else None for text in said)
        if question is None or why is None or not (before is None or isinstance(before, Mapping)):
            raise ConfigError("What the answer goes on from is malformed.")
        if before is not None and longest <= 1:
            raise ConfigError("Too many questions go on from one another.", hint="Begin anew.")
        last = None if before is None else cls.from_json(before, longest - 1)
        return cls(plan, tuple(map(str, shown)), question, last, why)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        before = {} if self.before is None else {"follows": self.before.to_json()}
        known = {"plan": plan_to_json(self.plan), "columns": list(self.shown)}
        return {"question": self.question, **known, "why": self.why, **before}


@dataclass(frozen=True)
class Topic:
    """What "they" are: the things that the last answer shows or counts.

    Attributes:
        unknown: The unknown of the last plan that stands for them.
        cls: IRI of their class.
        column: Index of the column that shows them; -1 where they are counted.
    """

    unknown: Unknown
    cls: str
    column: int = -1


@dataclass(frozen=True)
class Asked:
    """What a follow-up says of them, as a plan of its own.

    Attributes:
        plan: The plan, over all things of their class.
        shown: Names of its columns that are shown.
        own: Whether it asks for something; else it says more of what was asked for.
        other: Whether it asks for something else than them.
        instead: Whether its conditions replace those on the same values.
        adds: Whether those that bound a value from the other side stay.
        measures: The properties of numbers that its adjectives measure, and whether those above the average
            are meant.
    """

    plan: Plan
    shown: tuple[str, ...]
    own: bool
    other: bool
    instead: bool
    adds: bool = False
    measures: tuple[tuple[str, bool], ...] = ()


def topic_of(last: LastAnswer, schema: Schema) -> Topic | None:
    """Return what "they" are after an answer; None where it was about no things."""
    plan, roles = last.plan, PlanRoles(last.plan)
    if any(not a.where.empty for c in plan.columns for a in aggregates(c.value)):
        return None  # of a share nothing tells whether the part or the whole is meant
    shown = [(at, c.value) for at, c in enumerate(plan.columns) if c.name in last.shown]
    found: list[tuple[int, Unknown]] = [(at, v) for at, v in shown if isinstance(v, Unknown)]
    if roles.subject is not None:
        found.append((-1, roles.subject))
    for at, unknown in found:
        if cls := _class_of(unknown, plan, schema):
            return Topic(unknown, cls, at)
    return None


def _class_of(unknown: Unknown, plan: Plan, schema: Schema) -> str:
    """Return the class of an unknown, from what the plan says of it; "" if it stands for no things."""
    if (cls := PlanRoles(plan).type(unknown)) is not None:
        return str(cls) if str(cls) in schema.classes else ""
    for pattern in (p for p in walk(plan.where) if isinstance(p, Pattern)):
        info = schema.properties.get(str(pattern.predicate))
        if info is None or unknown not in (pattern.subject, pattern.object):
            continue
        ends = info.domains if pattern.subject == unknown else info.ranges
        best = most_of(ends)
        if best:
            return best
    return ""


def among(last: LastAnswer, topic: Topic, things: Sequence[URIRef]) -> Block:
    """Return the block of the last plan for these things alone."""
    conditions = [Comparison(topic.unknown, "=", thing) for thing in things]
    if len(conditions) == 1:
        return merged(last.plan.where, Block(conditions=tuple(conditions)))
    return merged(last.plan.where, Block(either=(tuple(Block(conditions=(c,)) for c in conditions),)))


def over(last: LastAnswer, topic: Topic, base: Block, asked: Asked, schema: Schema) -> LastAnswer | None:
    """Return the plan that asks of what was found; None where the two cannot be one.

    Args:
        last: The plan that found it.
        topic: What it found.
        base: What holds of that: the block of the last plan, or `among`.
        asked: What is asked of it.
        schema: The schema of the graph.
    """
    inner = _unified(asked.plan, topic, base, schema)
    if inner is None:
        return None
    listed = base != last.plan.where
    if asked.instead:
        if _related_already(topic, base, inner.where):
            return None
        base = freed(base, inner.where.conditions, adds=asked.adds)
    where = merged(base, inner.where)
    if _roundabout(where) and not _roundabout(base):
        return None
    for iri, above in asked.measures:
        where = _measured(where, topic, iri, above, schema)
    asked = replace(asked, plan=inner)
    ordering = {o.column for o in inner.order}
    shows = any(c.value != topic.unknown and c.name not in ordering for c in inner.columns)
    if asked.own or asked.other or shows:
        found = _asking(topic, asked)
    else:
        found = _saying(last, asked, listed) if _orders_them(inner, topic) else None
    if found is None:
        return None
    found = replace(found, plan=replace(found.plan, where=where))
    try:
        check(found.plan)
        return found
    except ConfigError:
        return None


def _unified(plan: Plan, topic: Topic, base: Block, schema: Schema) -> Plan | None:
    """Return a plan whose unknown of the class is that of the last one, and whose others are its own."""
    related = _related(topic.cls, schema)
    typed = [p for p in plan.where.patterns if p.predicate == RDF.type and str(p.object) in related]
    anchors = {p.subject for p in typed if isinstance(p.subject, Unknown)}
    if len(anchors) != 1 or plan.where.plans:
        return None
    (anchor,) = anchors
    if any(a.of == (anchor,) for h in plan.having for side in sides(h) for a in aggregates(side)):
        return None
    taken = {u for u in walk(base) if isinstance(u, Unknown)}
    values = {p.predicate: p.object for p in base.patterns if p.subject == topic.unknown}
    names = {anchor: topic.unknown}
    for pattern in plan.where.patterns:
        info = schema.properties.get(str(pattern.predicate))
        value = values.get(pattern.predicate)
        both = isinstance(value, Unknown) and isinstance(pattern.object, Unknown)
        if both and pattern.subject == anchor and info is not None and info.functional:
            # One thing has one such value, so it is the value that was spoken of.
            names.setdefault(pattern.object, value)  # type: ignore[arg-type]
    for unknown in sorted({u for u in walk(plan) if isinstance(u, Unknown)} - set(names)):
        names[unknown] = _fresh(unknown, taken | set(names.values()))
    exact = {p for p in typed if str(p.object) == topic.cls}
    where = replace(plan.where, patterns=tuple(p for p in plan.where.patterns if p not in exact))
    if not any(topic.unknown in (p.subject, p.object) for p in base.patterns):
        return None
    return renamed(replace(plan, where=where), names)


def _roundabout(block: Block) -> bool:
    """Return whether things are related only by sharing a value, which no word says."""
    shared = [(p.predicate, p.object) for p in set(all_patterns(block)) if isinstance(p.object, Unknown)]
    return len(set(shared)) < len(shared)


def _related(cls: str, schema: Schema) -> set[str]:
    """Return a class with those above and below it."""
    return {cls} | schema.above(cls) | {c for c in schema.classes if cls in schema.above(c)}


def _fresh(unknown: Unknown, taken: set[Unknown]) -> Unknown:
    found, number = unknown, 1
    while found in taken:
        number += 1
        found = Unknown(f"{unknown.name}_{number}")
    return found


def _related_already(topic: Topic, base: Block, inner: Block) -> bool:
    """Return whether things are to be related to another thing in a way in which they are to one already."""
    said = {(p.subject == topic.unknown, p.predicate): p for p in base.patterns if _named_end(topic, p)}
    new = [p for p in inner.patterns if _named_end(topic, p)]
    return any(said.get((p.subject == topic.unknown, p.predicate), p) != p for p in new)


def _named_end(topic: Topic, pattern: Pattern) -> bool:
    ends = (pattern.subject, pattern.object)
    return (
        topic.unknown in ends and any(isinstance(e, URIRef) for e in ends) and pattern.predicate != RDF.type
    )


def freed(base: Block, instead: Sequence[Condition], *, adds: bool) -> Block:
    """Return a block without the conditions on values that other conditions speak of.

    Args:
        base: The block.
        instead: The other conditions.
        adds: Keep those that bound a value from the other side.
    """
    bounds: dict[Unknown, set[str]] = {}
    for condition in instead:
        for unknown in _spoken(condition):
            bounds.setdefault(unknown, set()).add(_side(condition))
    kept = []
    for condition in base.conditions:
        others = [bounds[u] for u in _spoken(condition) if u in bounds]
        if all(adds and _side(condition) in "<>" and {_side(condition), *o} == {"<", ">"} for o in others):
            kept.append(condition)
    return replace(base, conditions=tuple(kept))


def _spoken(condition: Condition) -> set[Unknown]:
    return {u for side in sides(condition) for u in unknowns(side)}


def _side(condition: Condition) -> str:
    return condition.relation[0] if isinstance(condition, Comparison) else "="


def _measured(where: Block, topic: Topic, iri: str, above: bool, schema: Schema) -> Block:
    """Return a block of things whose value is above, or below, the average of all that it holds of."""
    said = (p.object for p in where.patterns if (p.subject, p.predicate) == (topic.unknown, URIRef(iri)))
    value = next((v for v in said if isinstance(v, Unknown)), None)
    if value is None:
        taken = {u for u in walk(where) if isinstance(u, Unknown)}
        value = _fresh(Unknown("measure"), taken)
        pattern = Pattern(topic.unknown, URIRef(iri), value)
        where = replace(where, patterns=(*where.patterns, pattern))
    number: Expression = Number(value) if schema.properties[iri].kind == "number" else value
    average = Aggregate("average", number, (topic.unknown,))
    level = Scalar(Plan(where, (Column(average, "average"),)))
    condition = Comparison(number, ">" if above else "<", level)
    return replace(where, conditions=(*where.conditions, condition))


def _asking(topic: Topic, asked: Asked) -> LastAnswer | None:
    """Return what asks for something of its own: the things stand beside what is asked of them."""
    plan = asked.plan
    if asked.other and [c.value for c in plan.columns] == [topic.unknown]:
        # "Who supplies them" does not ask for them, but for the other end of the verb.
        ends = {p.subject if p.object == topic.unknown else p.object for p in plan.where.patterns}
        others = [e for e in ends if isinstance(e, Unknown) and e != topic.unknown]
        if len(others) != 1:
            return None
        found = Column(others[0], _column(others[0].name, plan.columns))
        return LastAnswer(replace(plan, columns=(*plan.columns, found)), (plan.columns[0].name, found.name))
    if plan.yes_or_no or any(aggregates(c.value) for c in plan.columns):
        return LastAnswer(plan, asked.shown)
    things = next((c for c in plan.columns if c.value == topic.unknown), None)
    if things is None:
        things = Column(topic.unknown, _column(topic.unknown.name, plan.columns))
    columns = (things, *(c for c in plan.columns if c != things))
    return LastAnswer(
        replace(plan, columns=columns), (things.name, *(n for n in asked.shown if n != things.name))
    )


def _saying(last: LastAnswer, asked: Asked, listed: bool) -> LastAnswer | None:
    """Return what was asked for before, of fewer things or in another order."""
    plan, inner = last.plan, asked.plan
    if inner.having and (plan.grouped or plan.having):
        return None
    if listed:
        plan = replace(plan, having=(), limit=None, offset=0, ties=False)
    plan = replace(plan, having=(*plan.having, *inner.having))
    if not inner.order:
        return LastAnswer(plan, last.shown)
    if plan.grouped or plan.yes_or_no:
        return None
    shown = [c for c in plan.columns if c.name in last.shown]
    names: dict[str, str] = {}
    for column in (c for c in inner.columns if c.name in {o.column for o in inner.order}):
        same = next((c for c in shown if c.value == column.value), None)
        if same is None:
            same = Column(column.value, _column(column.name, shown))
            shown.append(same)
        names[column.name] = same.name
    order = tuple(replace(o, column=names[o.column]) for o in inner.order)
    also = tuple(names[n] for n in asked.shown if n in names and names[n] not in last.shown)
    ordered = replace(
        plan, columns=tuple(shown), order=order, limit=inner.limit, offset=inner.offset, ties=inner.ties
    )
    return LastAnswer(ordered, (*last.shown, *also))


def _orders_them(plan: Plan, topic: Topic) -> bool:
    """Return whether a plan orders things, if anything, by their own values."""
    own = {p.object for p in plan.where.patterns if p.subject == topic.unknown} | {topic.unknown}
    keys = [next(c.value for c in plan.columns if c.name == o.column) for o in plan.order]
    return all(unknowns(key) <= own for key in keys)


def _column(name: str, columns: Sequence[Column]) -> str:
    return _fresh(Unknown(name), {Unknown(c.name) for c in columns}).name
