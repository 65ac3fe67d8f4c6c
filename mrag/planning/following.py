"""The readings of a question that is asked after another one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final, TypeAlias, TypeGuard, cast
from typing import Literal as OneOf

from rdflib import RDF, XSD, Literal, URIRef

from mrag.context.display import Display
from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.possessive import compile_late
from mrag.language.tokens import words
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import positive
from mrag.planning.plan import (
    Aggregate,
    Block,
    Column,
    Comparison,
    Condition,
    Contains,
    Expression,
    Number,
    Order,
    Pattern,
    Plan,
    Relation,
    Scalar,
    Unknown,
)
from mrag.planning.question import (
    Period,
    QuestionItem,
    QuestionText,
    cues,
    cut,
    identifier,
    number_literal,
    segmentations,
)
from mrag.planning.reader.reader import RoleReader
from mrag.planning.readings import Reading, reading_of
from mrag.planning.run import run
from mrag.planning.schema import PropertyInfo, Schema, most_of
from mrag.planning.scopes import (
    PlanRoles,
    aggregates,
    all_patterns,
    check,
    exchange_unknowns,
    merged,
    plain,
    rewritten,
    sides,
    unknowns,
    walk,
    with_class,
    with_entity,
    with_literals,
    with_property,
    with_text,
)
from mrag.rdf import queries
from mrag.rdf.terms import Term
from mrag.stores.base import Limits

VERBS_OF_ASKING = frozenset("is are was were does do did has have can".split())
"""Verbs that begin a question for yes or no, and stand between a noun and its subject in others."""
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
    return exchange_unknowns(replace(plan, where=where), names)


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


SlotRole: TypeAlias = OneOf["entity", "text", "number", "time", "class", "property"]

_DATES = (XSD.date, XSD.dateTime)


@dataclass(frozen=True)
class Slot:
    """A name or a value of a plan, in whose place another one may stand.

    Attributes:
        role: What it is.
        terms: The term; of a time its first day and the day after its last, where the plan has both.
        subject_of: Properties that the plan says of it; of a class, those of its members.
        object_of: Properties that the plan has it as a value of; of a class, those that lead to members.
    """

    role: SlotRole
    terms: tuple[Term, ...]
    subject_of: tuple[str, ...] = ()
    object_of: tuple[str, ...] = ()

    @property
    def term(self) -> Term:
        """Return the term, or the first."""
        return self.terms[0]


def slots_of(plan: Plan) -> list[Slot]:
    """Return what a plan names, in the order in which it stands there.

    Example:
        >>> from mrag.planning.plan import Unknown
        >>> x = Unknown("x")
        >>> from mrag.planning.plan import Block
        >>> [s.role for s in slots_of(Plan(Block((Pattern(x, URIRef("urn:in"), URIRef("urn:Rome")),))))]
        ['property', 'entity']
    """
    found: dict[tuple[SlotRole, tuple[Term, ...]], Slot] = {}
    patterns = [p for p in walk(plan) if isinstance(p, Pattern)]
    for role, terms, at in _places(plan):
        if (role, terms) not in found:
            of = {terms[0], at} if role == "entity" else {at}
            found[role, terms] = Slot(
                role,
                terms,
                tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.subject in of and _said(p))),
                tuple(dict.fromkeys(str(p.predicate) for p in patterns if p.object in of and _said(p))),
            )
    return list(found.values())


def _said(pattern: Pattern) -> bool:
    return isinstance(pattern.predicate, URIRef) and pattern.predicate != RDF.type


def _places(plan: Plan) -> Iterator[tuple[SlotRole, tuple[Term, ...], object]]:
    """Yield roles and terms, each with the unknown that says what it is."""
    compared = [c for c in walk(plan) if isinstance(c, Comparison)]
    for part in walk(plan):
        if isinstance(part, Pattern) and part.predicate == RDF.type:
            if isinstance(part.object, URIRef):
                yield "class", (part.object,), part.subject
        elif isinstance(part, Pattern):
            if isinstance(part.subject, URIRef):
                yield "entity", (part.subject,), None
            if isinstance(part.predicate, URIRef):
                yield "property", (part.predicate,), None
            if isinstance(part.object, URIRef):
                yield "entity", (part.object,), None
        elif isinstance(part, Contains) and part.position == "whole":
            yield "text", (Literal(part.text),), plain(part.value)
        elif isinstance(part, Comparison):
            for side, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(side, URIRef):
                    yield "entity", (side,), other
            if isinstance(part.right, Literal) and part.right.datatype != XSD.boolean:
                bounds = tuple(
                    c.right for c in compared if c.left == part.left and isinstance(c.right, Literal)
                )
                dated = part.right.datatype in _DATES
                yield ("time", bounds, None) if dated else ("number", (part.right,), plain(part.left))


def filled(plan: Plan, changes: Sequence[tuple[Slot, Sequence[Term]]]) -> Plan:
    """Return a plan with other terms in the places of some of its slots, all at once.

    Args:
        plan: The plan.
        changes: Slots with as many terms of the same kind as they have.
    """
    held = []
    for number, (slot, new) in enumerate(changes):
        # What one slot gets may be what another one held.
        marks = tuple(_mark(term, f"urn:mrag:slot:{number}:{at}") for at, term in enumerate(slot.terms))
        plan = _put(plan, slot, marks)
        held.append((replace(slot, terms=marks), new))
    for slot, new in held:
        plan = _put(plan, slot, new)
    return plan


def _mark(term: Term, name: str) -> Term:
    return URIRef(name) if isinstance(term, URIRef) else Literal(name)


def _put(plan: Plan, slot: Slot, new: Sequence[Term]) -> Plan:
    old, (first, *_) = slot.term, new
    if slot.role in ("number", "time"):
        pairs = zip(slot.terms, new, strict=True)
        return with_literals(
            plan, {a: b for a, b in pairs if isinstance(a, Literal) and isinstance(b, Literal)}
        )
    if slot.role == "text":
        return with_text(plan, str(old), str(first))
    change = {"entity": with_entity, "class": with_class, "property": with_property}[slot.role]
    return change(plan, URIRef(old), URIRef(first))


def in_period(slot: Slot, period: Period) -> tuple[Literal, ...] | None:
    """Return what stands in a slot for another time; None where the slot holds no such time."""
    if period.low is None or period.high is None:
        return None
    if slot.role == "number":
        return (Literal(period.low.year),) if is_year(slot.term) and period.unit == "year" else None
    if slot.role != "time" or len(slot.terms) != 2:
        return None  # of one bound nothing tells whether it was the first day of a time or the last
    low, high = sorted(map(str, slot.terms))
    ends = {low: period.low, high: period.high}
    return tuple(Literal(ends[str(t)].isoformat(), datatype=XSD.date) for t in slot.terms)


def is_year(term: Term) -> bool:
    """Return whether a literal may be the number of a year."""
    value = term.toPython() if isinstance(term, Literal) else None
    return isinstance(value, int) and not isinstance(value, bool) and 1000 <= value < 2200


class SlotFitter:
    """Tells which names may stand in a slot.

    Args:
        kg: The graph.
        schema: Its schema.
    """

    def __init__(self, kg: KnowledgeGraph, schema: Schema) -> None:
        self._kg = kg
        self._schema = schema
        self._classes: dict[Term, set[str]] = {}

    def fits(self, candidate: Candidate, slot: Slot) -> bool:
        """Return whether a name is of the slot's class, or in the range of its property."""
        if candidate.kind == "entity" and slot.role == "entity":
            return bool(self._entities(slot) & set(candidate.classes))
        if candidate.kind == "value" and slot.role == "text":
            return bool(set(slot.object_of) & set(candidate.properties))
        if candidate.kind == "class" and slot.role == "class":
            ends = [*((p, True) for p in slot.subject_of), *((p, False) for p in slot.object_of)]
            return all(candidate.term in self._ends(p, domain) for p, domain in ends)
        if candidate.kind == "property" and slot.role == "property":
            one, other = (self._schema.properties.get(str(t)) for t in (candidate.term, slot.term))
            return one is not None and other is not None and _alike(one, other)
        return False

    def _entities(self, slot: Slot) -> set[str]:
        """Return the classes of what a slot names, and of all that its place may name."""
        found = {c for p in slot.object_of for c in self._ends(p, False)}
        found |= {c for p in slot.subject_of for c in self._ends(p, True)}
        if slot.term not in self._classes:
            text = queries.get("planning/classes-of").bind(thing=[slot.term])
            named = (str(c) for _, c in self._kg.select(text))
            self._classes[slot.term] = set(self._schema.with_superclasses(named))
        return (found | self._classes[slot.term]) - {""}

    def _ends(self, iri: str, domain: bool) -> set[str]:
        info = self._schema.properties.get(iri)
        return set() if info is None else set(info.domains if domain else info.ranges)


def _alike(one: PropertyInfo, other: PropertyInfo) -> bool:
    """Return whether two properties are said of the same things and have values of one kind."""
    same = one.kind == other.kind and bool(set(one.domains) & set(other.domains))
    return same and (one.kind != "entity" or bool(set(one.ranges) & set(other.ranges)))


_LEAD: Final = compile_late(
    r"(?:(?:and|but|or|also|then|now|so|ok|okay)\b[\s,]*)*"
    r"(?:(?:what|how)\s+about\b|what\s+of\b|(?:the\s+)?same\s+(?:question\s+)?(?:for|with)\b)?\s*",
    re.IGNORECASE,
)
_TAIL: Final = compile_late(r"[\s,]+(?:instead|then|though)?[\s?.!]*\Z", re.IGNORECASE)
_ONLY: Final = compile_late(r"(?:only|just)\b\s*", re.IGNORECASE)
_SEVERAL: Final = words("them they their those these ones")
_ONE: Final = words("it its")
_OWNING: Final = words("they their its")
_JOINING: Final = words("and or but")
_OPEN: Final = words(
    "of in on at by from for to with without per over under above below before after since until between "
    "more less fewer sorted ordered ranked grouped except excluding not no that which whose"
)
_ASKING: Final = words(
    "which what who whom whose where when how why list show name give tell find count return display get "
    "sort order is are was were does do did has have can"
)
_PERSON: Final = words("who whom where when")
_OWNERS: Final = {"their": "them", "its": "it"}


@dataclass(frozen=True)
class FollowText:
    """A follow-up without the words that only say that it is one.

    Attributes:
        text: What is left.
        leads: Whether it began like a follow-up: "and", "what about".
        adds: Whether it began with "and" alone.
        only: Whether it narrows what was found: "only".
    """

    text: str
    leads: bool
    adds: bool
    only: bool

    @classmethod
    def of(cls, text: str) -> FollowText:
        """Return a follow-up without the words that only say that it is one.

        Example:
            >>> FollowText.of("And what about Texas?")
            FollowText(text='Texas?', leads=True, adds=False, only=False)
        """
        plain = " ".join(text.split())
        rest = plain[_LEAD.match(plain).end() :]  # type: ignore[union-attr]  # it matches nothing too
        narrowed = _ONLY.sub("", rest, count=1) if _ONLY.match(rest) else rest
        adds = plain[: len(plain) - len(rest)].strip(" ,").lower() in ("and", "but", "and also", "also")
        return cls(_TAIL.sub("", narrowed + " "), rest != plain, adds, narrowed != rest)

    @property
    def question(self) -> QuestionText:
        """Return it cut into words."""
        return cut(self.text)

    @property
    def asks(self) -> bool:
        """Return whether it asks for something, rather than saying more of what was asked for."""
        low = self.question.low
        return bool(low) and low[0] in _ASKING

    @property
    def whole(self) -> bool:
        """Return whether it may be a question by itself: "how many in Texas" lacks what is counted."""
        low = self.question.low
        if self.asks:
            return low[:2] != ["how", "many"] or not (low[2:3] == [] or low[2] in _OPEN | VERBS_OF_ASKING)
        return bool(low) and low[0] not in _OPEN and not self.leads

    @property
    def asks_other(self) -> bool:
        """Return whether it asks for others than those it points to: "who supplies them", "their names"."""
        low = self.question.low
        return bool(low) and (low[0] in _PERSON or not _OWNERS.keys().isdisjoint(low))

    def forms(self, *, points: bool, counts: bool, bare: bool, values: bool) -> Iterator[tuple[str, bool]]:
        """Yield wordings of it in which a word points to what was found, and whether they ask for something.

        Args:
            points: Whether a word of it does.
            counts: Whether the last question was how many there are.
            bare: Whether it begins with a name, so that no word says how that is related.
            values: Whether it names a property, and begins with no name of something else.
        """
        low, raw = self.question.low, self.text.split()
        if not low:
            return
        if points:
            yield self.text, self.asks
            for owner, thing in _OWNERS.items():
                if owner in low:
                    yield " ".join("the" if w.lower() == owner else w for w in raw) + f" of {thing}", True
        elif not self.asks:
            if not bare or self.only:
                yield f"{'how many' if counts else 'which'} of them {self.text}", counts
                yield f"{'how many' if counts else 'which'} of them are {self.text}", counts
            if values:
                yield f"what is the {self.text} of them", True
        elif low[0] == "what" and values:
            yield self.text + " of them", True
        elif low[0] == "which" or low[:2] == ["how", "many"]:
            # "How many are in Texas" is short for "how many of them are in Texas".
            first = 1 if low[0] == "which" else 2
            if not low[first:] or low[first] in _OPEN | VERBS_OF_ASKING:
                yield " ".join([*raw[:first], "of them", *raw[first:]]), True


def pointing(question: QuestionText, named: int) -> tuple[list[int], bool]:
    """Return which words point back, and whether to one thing.

    Args:
        question: The follow-up.
        named: Index of the first word that names a class; behind it and an "and", "they" points to that.
    """
    low = question.low
    found = [
        at
        for at, word in enumerate(low)
        if (word in _SEVERAL or word in _ONE or (word == "one" and low[at - 1 : at] == ["which"]))
        and not (word in _OWNING and not _JOINING.isdisjoint(low[named:at]))
    ]
    return found, bool(found) and all(low[at] in _ONE for at in found)


_CLOSE = 0.05
"""How much less like the words a name may be than the likeliest, and still be what was meant."""
_READINGS = 8
"""Plans that are looked at; with more than one, it is open which is meant."""
_CUES = ("and", "show", "who", "where", "when", "count")


@dataclass(frozen=True)
class Replacement:
    """A plan with other names in it.

    Attributes:
        plan: The plan.
        shown: Names of the columns that are shown.
        score: How like the words its names are.
        changes: The old terms, the new ones, and what these are called.
    """

    plan: Plan
    shown: tuple[str, ...]
    score: float
    changes: tuple[tuple[Term, Term, str], ...] = ()


def replacements(
    reader: RoleReader, fitter: SlotFitter, question: QuestionText, last: LastAnswer
) -> list[Replacement]:
    """Return the plans in which what a follow-up names stands in the place of something of its kind.

    Args:
        reader: The reader of the graph.
        fitter: Tells what fits where.
        question: The follow-up, which must say nothing else.
        last: The plan to change.
    """
    items = _items(reader, question)
    if items is None:
        return []
    found = [Replacement(last.plan, last.shown, 1.0)]
    for item in items:
        found = [more for one in found for more in _placed(one, item, reader, fitter, question)][:_READINGS]
    return [one for one in found if one.changes]


def _items(reader: RoleReader, question: QuestionText) -> Sequence[QuestionItem] | None:
    """Return the names, numbers and times of a follow-up; None if it says more than that."""
    matched = reader.lexicon.match([word.token for word in question.words])
    for way in segmentations(question, matched, reader.schema)[:1]:
        cues = [item.cue for item in way.items if item.cue is not None]
        named = [item for item in way.items if item.cue is None and not item.unread]
        plain = all(cue.kind in _CUES or (cue.kind, cue.value) == ("group", "by") for cue in cues)
        if named and plain and not way.ignored and not any(item.text for item in named):
            return named
    return None


def _placed(
    one: Replacement, item: QuestionItem, reader: RoleReader, fitter: SlotFitter, question: QuestionText
) -> list[Replacement]:
    changed = [term for _, term, _ in one.changes]
    slots = [slot for slot in slots_of(one.plan) if slot.term not in changed]
    found = list(options(item, slots, fitter, question))
    best = max((score for _, _, _, score in found), default=0.0)
    close = [option for option in found if option[3] >= best - _CLOSE]
    if any(tuple(new) == slot.terms for slot, new, _, _ in close):
        return [one]  # it is named again
    return [
        Replacement(
            *_called(filled(one.plan, [(slot, new)]), one.shown, slot, new[0], reader.schema),
            min(one.score, score),
            (*one.changes, (slot.term, new[0], name)),
        )
        for slot, new, name, score in close
    ]


def options(
    item: QuestionItem, slots: Sequence[Slot], fitter: SlotFitter, question: QuestionText
) -> Iterator[tuple[Slot, Sequence[Term], str, float]]:
    """Yield the slots that a name, a number or a time fits, with its terms, its name, and a score."""
    said = question.text[question.words[item.start].token.start : question.words[item.end - 1].token.end]
    for slot in slots:
        if item.mention is not None:
            for candidate in item.mention.candidates:
                term = term_of(candidate)
                if term == slot.term or fitter.fits(candidate, slot):
                    # Of all things with that word in their names only few are of the kind.
                    more = (1 - candidate.score) / 2 if candidate.way == "tokens" else 0.0
                    yield slot, (term,), candidate.name, candidate.score + more
        elif item.period is not None:
            if (new := in_period(slot, item.period)) is not None:
                yield slot, new, said, 1.0
        elif item.quantity is not None and slot.role == "number" and not is_year(slot.term):
            yield slot, (number_literal(item.quantity.value),), said, 1.0


def _called(
    plan: Plan, shown: tuple[str, ...], slot: Slot, new: Term, schema: Schema
) -> tuple[Plan, tuple[str, ...]]:
    """Return a plan whose unknowns and columns, which answers show, are called by what they now are."""
    infos = schema.classes if slot.role == "class" else schema.properties
    if slot.role not in ("class", "property") or not {str(slot.term), str(new)} <= set(infos):
        return plan, shown
    old, name = (identifier(infos[str(t)].names[0]) for t in (slot.term, new))
    names = {u.name for u in walk(plan) if isinstance(u, Unknown)} | {c.name for c in plan.columns}
    parts = re.compile(rf"(?<![^_]){re.escape(old)}(?![^_])")
    other = {n: parts.sub(name, n) for n in names}
    if len(set(other.values())) < len(names):
        return plan, shown

    def change(value: Any) -> Any:
        if isinstance(value, Unknown | Column):
            return replace(value, name=other[value.name])
        return replace(value, column=other[value.column]) if isinstance(value, Order) else value

    return rewritten(plan, change), tuple(other[n] for n in shown)


def term_of(candidate: Candidate) -> Term:
    """Return the term that a name stands for."""
    return Literal(candidate.term) if candidate.kind == "value" else URIRef(candidate.term)


def rebounded(reader: RoleReader, text: FollowText, last: LastAnswer) -> Plan | None:
    """Return the plan with another bound of the one number it compares: "more than 10?".

    Returns:
        None for other words.
    """
    (way,) = segmentations(text.question, [], reader.schema)[:1] or (None,)
    if way is None or way.ignored or text.only:
        return None
    numbers = [number_literal(item.quantity.value) for item in way.items if item.quantity is not None]
    cues = [item.cue for item in way.items if item.cue is not None]
    kinds = [cue.kind for cue in cues]
    compared = {c.left for c in last.plan.where.conditions if _is_number(c)}
    if len(compared) != 1 or len(numbers) != len([i for i in way.items if not (i.unread or i.cue)]):
        return None
    (left,) = compared
    if kinds == ["compare"] and len(numbers) == 1:
        new: tuple[Comparison, ...] = (Comparison(left, cast(Relation, cues[0].value), numbers[0]),)
    elif kinds in (["between"], ["between", "and"]) and len(numbers) == 2:
        new = (Comparison(left, ">=", numbers[0]), Comparison(left, "<=", numbers[1]))
    else:
        return None
    where = freed(last.plan.where, new, adds=text.adds)
    return replace(last.plan, where=replace(where, conditions=(*where.conditions, *new)))


def _is_number(condition: Condition) -> TypeGuard[Comparison]:
    value = condition.right if isinstance(condition, Comparison) else None
    return isinstance(value, Literal) and isinstance(value.toPython(), int | float | Decimal)


def picked(
    reader: RoleReader, text: FollowText, last: LastAnswer, topic: Topic
) -> tuple[Plan, Candidate] | None:
    """Return the plan for one of the things it found, or without it: "only Texas", "except Texas".

    Returns:
        The plan and that thing; None for other words.
    """
    question = text.question
    matched = reader.lexicon.match([word.token for word in question.words])
    for way in segmentations(question, matched, reader.schema)[:1]:
        cues = [item.cue.kind for item in way.items if item.cue is not None]
        names = [item.mention for item in way.items if item.mention is not None]
        if way.ignored or len(names) != 1 or cues != ([] if text.only else ["not"]):
            return None
        for candidate in names[0].candidates:
            if candidate.kind == "entity" and topic.cls in candidate.classes:
                relation: Relation = "=" if text.only else "!="
                condition = Comparison(topic.unknown, relation, URIRef(candidate.term))
                where = merged(last.plan.where, Block(conditions=(condition,)))
                return replace(last.plan, where=where), candidate
    return None


def likely(score: float) -> float:
    """Return how likely a reading is whose names are so like the words, as the reader has it."""
    logit = 3.0 + 6.0 * (score - 1)
    return 1 / (1 + math.exp(-logit))


_MOST_THINGS = 100
"""Things that a follow-up goes on from one by one, where the last plan cut off the others."""
_SURE = 0.6
_TOLD = 0.9
"""How likely it is that "the cheap ones" are those below the average."""
BY_ITSELF: Final = "read as a question on its own: every word was read, and the graph can compute it"
"""Why a question that was asked after another one is computed alone."""
_ARTICLES = ("the", "a", "an")


def asked_after(
    kg: KnowledgeGraph, reader: RoleReader, question: str, last: LastAnswer, own: Sequence[Reading]
) -> tuple[list[Reading], str]:
    """Return the readings of a question that is asked after another one.

    A question that can be read by itself is; what points back ("them"), or goes on ("and in Texas?"), edits
    the last plan.

    Args:
        kg: The graph.
        reader: Its reader.
        question: The question.
        last: What was computed before.
        own: Its readings by itself, best first.

    Returns:
        The readings, best first, and why there are no more of them; "" where it was read by itself.
    """
    return _FollowUp(kg, reader, question, last).readings(own)


@dataclass
class _FollowUp:
    kg: KnowledgeGraph
    reader: RoleReader
    question: str
    last: LastAnswer
    said: FollowText = field(init=False)
    topic: Topic | None = field(init=False)
    why: str = "the question goes on from the last answer in no way that could be computed"

    def __post_init__(self) -> None:
        self.said = FollowText.of(self.question)
        self.topic = topic_of(self.last, self.reader.schema)

    def readings(self, own: Sequence[Reading]) -> tuple[list[Reading], str]:
        text = self.said.question
        points, _ = pointing(text, self._first_class(text))
        by_itself = [r for r in own if not points and not self.said.only and _self_standing(r)]
        sure = bool(by_itself) and by_itself[0].probability >= _SURE
        if sure and self.said.whole:
            return [replace(r, note=r.note or BY_ITSELF) for r in by_itself], ""
        found: dict[Plan, Reading] = {}
        for reading in self._follow_ups(text, bool(points)):
            if not (reading.shown or reading.plan.yes_or_no):
                continue
            if reading.plan not in found or found[reading.plan].probability < reading.probability:
                found[reading.plan] = reading
        ranked = sorted(found.values(), key=lambda r: (bool(r.ignored), -r.probability))
        alone = self.said.whole and not points and not self.said.only
        if alone and (not ranked or ranked[0].ignored or ranked[0].probability < _SURE):
            return list(own), ""
        return ranked, self.why

    def _first_class(self, text: QuestionText) -> int:
        """Return the index of the first word that names a class; behind the last if none does."""
        named = (m for m in self._mentions(text) if m.candidates[0].score > 0.8)
        return min((m.start for m in named if m.candidates[0].kind == "class"), default=len(text.words))

    def _follow_ups(self, text: QuestionText, points: bool) -> Iterator[Reading]:
        replaced: list[Reading] = []
        if not points and not self.said.only:
            replaced = list(self._replaced(text))
            if (bounded := rebounded(self.reader, self.said, self.last)) is not None:
                note = "read as a follow-up, with another bound"
                yield reading_of(bounded, self.last.shown, likely(1.0), note)
        yield from replaced
        if self.topic is not None and not points:
            found = picked(self.reader, self.said, self.last, self.topic)
            if found is not None:
                plan, candidate = found
                note = f"read as a follow-up, {'only' if self.said.only else 'without'} “{candidate.name}”"
                yield reading_of(plan, self.last.shown, likely(candidate.score), note)
        counts = any(a.function == "count" for c in self.last.plan.columns for a in aggregates(c.value))
        first, named = self._names(text)
        values = "property" in named and first in ("", "property")
        bare = bool(first) or (self.said.leads and bool(replaced))
        for form, asks in self.said.forms(points=points, counts=counts, bare=bare, values=values):
            yield from self._over_the_last(form, points, asks)

    def _names(self, text: QuestionText) -> tuple[str, set[str]]:
        """Return the kind of name that the follow-up begins with, "" if with another word, and all kinds."""
        at = next((i for i, word in enumerate(text.low) if word not in _ARTICLES), 0)
        clear = [m for m in self._mentions(text) if m.candidates[0].score > 0.5]
        found = [m for m in clear if m.start <= at < m.end]
        cued = any(cue.start <= at < cue.end for cue in cues(text.low))
        best = max(found, key=lambda m: (m.candidates[0].score, m.end - m.start, -m.start), default=None)
        first = "" if cued or best is None else best.candidates[0].kind
        return first, {m.candidates[0].kind for m in clear}

    def _mentions(self, text: QuestionText) -> list[NameMention]:
        return self.reader.lexicon.match([word.token for word in text.words])

    def _replaced(self, text: QuestionText) -> Iterator[Reading]:
        fitter = SlotFitter(self.kg, self.reader.schema)
        display = Display(self.kg)
        found = replacements(self.reader, fitter, text, self.last)
        if len(found) > 1:
            places = dict.fromkeys(f"“{_name(display, old)}”" for one in found for old, _, _ in one.changes)
            self.why = f"it is open whether it is meant in place of {' or of '.join(places)}"
        for one in found:
            said = [f"“{name}” in place of “{_name(display, old)}”" for old, _, name in one.changes]
            note = f"read as a follow-up, with {' and '.join(said)}"
            yield reading_of(one.plan, one.shown, likely(one.score) / len(found), note)

    def _over_the_last(self, form: str, points: bool, asks: bool) -> Iterator[Reading]:
        """Yield readings of a wording in which words stand for what was found before."""
        text = cut(form)
        places, one = pointing(text, self._first_class(text))
        if one:
            if (thing := self._the_one()) is None:
                return
            meant = dict.fromkeys((text.low[at] for at in places), thing)
            for reading in self.reader.readings(form, meant=meant):
                if URIRef(thing.term) in {s.term for s in slots_of(reading.plan)}:
                    note = f"read as a follow-up, about “{thing.name}”"
                    yield _noted(reading, reading.plan, reading.shown, reading.probability, note)
            return
        topic = self.topic
        if topic is None:
            self.why = "the last answer was about no things of one kind"
            return
        name = next(iter(self.reader.schema.classes[topic.cls].names), "thing")
        stand = Candidate("class", topic.cls, 1.0, name)
        named = self._named(text, topic.cls)
        meant = {text.low[at]: stand for at in places if at + 1 not in named}
        if named and not any(at + 1 in named for at in places):
            self.why = f"it is open which {name} is meant"
            return
        narrowed = points or self.said.only
        base = self.last.plan.where
        if narrowed and (self.last.plan.limit is not None or self.last.plan.having or self.last.plan.offset):
            things = self._things(topic)
            if not things:
                self.why = "the last answer has no things, or too many, to go on from"
                return
            base = among(self.last, topic, things)
        best = [m.candidates[0] for m in self._mentions(text)]
        said = any(c.score > 0.8 and (c.kind, c.term) != ("class", topic.cls) for c in best)
        for wording, measures in self._measured(form, text, topic):
            for reading in self.reader.readings(wording, meant=meant):
                asked = Asked(
                    reading.plan, reading.shown, asks, self.said.asks_other, not narrowed, self.said.adds,
                    measures,
                )  # fmt: skip
                done = over(self.last, topic, base, asked, self.reader.schema)
                # A name that changes nothing was lost on the way.
                if (
                    done is not None
                    and (done.shown or done.plan.yes_or_no)
                    and not ((said or not points) and _same(done.plan, self.last.plan))
                ):
                    note = "read as a follow-up, about the last answer"
                    chance = reading.probability * (_TOLD if measures else 1.0)
                    yield _noted(reading, done.plan, done.shown, chance, note)

    def _measured(
        self, form: str, text: QuestionText, topic: Topic
    ) -> Iterator[tuple[str, tuple[tuple[str, bool], ...]]]:
        """Yield a wording, and one without its adjectives of measure: "the cheap ones"."""
        yield form, ()
        measures, cut_out = [], []
        for at, word in enumerate(text.low):
            if positive(word) != word:
                continue
            for found in self.reader.lexicon.dimension(word):
                info = self.reader.schema.properties[found.property]
                if info.kind == "number" and topic.cls in info.domains:
                    measures.append((found.property, found.direction == "greatest"))
                    cut_out.append(at)
                    break
        if measures:
            rest = [w.token.raw for at, w in enumerate(text.words) if at not in cut_out]
            yield " ".join(rest), tuple(measures)

    def _named(self, text: QuestionText, cls: str) -> set[int]:
        """Return the places of the words that name the class of what was found by itself."""
        clear = [m for m in self._mentions(text) if m.candidates[0].score > 0.8]
        return {
            at
            for m in clear
            if (m.candidates[0].kind, m.candidates[0].term) == ("class", cls)
            and not any(o.start <= m.start and m.end <= o.end and o is not m for o in clear)
            for at in range(m.start, m.end)
        }

    def _the_one(self) -> Candidate | None:
        """Return what "it" is: the only thing that was found, else the only one that was named."""
        found = self._things(self.topic) if self.topic is not None and self.topic.column >= 0 else []
        if len(found) != 1:
            found = [s.term for s in slots_of(self.last.plan) if s.role == "entity"]  # type: ignore[misc]
        if len(found) != 1:
            self.why = "it is open which thing is meant"
            return None
        rows = self.kg.select(queries.get("planning/classes-of").bind(thing=[found[0]]))
        classes = self.reader.schema.with_superclasses(str(c) for _, c in rows)
        name = Display(self.kg).name(str(found[0]))
        return Candidate("entity", str(found[0]), 1.0, name, classes=classes)

    def _things(self, topic: Topic) -> list[URIRef]:
        """Return what the last answer shows; none where it shows no things, or too many."""
        if topic.column < 0:
            return []
        try:
            limits = Limits(2.0, _MOST_THINGS + 1, 1 << 20)
            found = run(self.kg, self.last.plan, schema=self.reader.schema, limits=limits)
        except (StoreError, ConfigError):
            return []
        things = dict.fromkeys(r[topic.column] for r in found.rows if isinstance(r[topic.column], URIRef))
        return [] if found.truncated or len(things) > _MOST_THINGS else list(things)  # type: ignore[arg-type]


def _self_standing(reading: Reading) -> bool:
    """Return whether a reading says what it is about: a class, a thing or a text."""
    return not reading.ignored and any(s.role in ("class", "entity", "text") for s in slots_of(reading.plan))


def _same(one: Plan, other: Plan) -> bool:
    """Return whether two plans are the same but for the names of their columns."""

    def content(plan: Plan) -> object:
        order = [o.descending for o in plan.order]
        return plan.where, [c.value for c in plan.columns], order, plan.limit, plan.having

    return content(one) == content(other)


def _noted(reading: Reading, plan: Plan, shown: tuple[str, ...], probability: float, note: str) -> Reading:
    return Reading(plan, shown, probability, reading.ignored, reading.features, note)


def _name(display: Display, term: Term) -> str:
    return display.name(str(term)) if isinstance(term, URIRef) else str(term)
