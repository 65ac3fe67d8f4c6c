"""The readings of a question that is asked after another one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from rdflib import RDF, URIRef

from mrag.context.display import Display
from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning import plan as pl
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.lexical import Candidate
from mrag.planning.profiling import classes_of
from mrag.planning.reader.frames import stem_of
from mrag.planning.reader.reader import RoleReader
from mrag.planning.reader.roles import UnitSlot, paths
from mrag.planning.reader.units import Unit, meanings
from mrag.planning.readings import Reading, reading_of
from mrag.planning.run import run
from mrag.planning.schema import Schema, most_of
from mrag.planning.scopes import (
    PlanRoles,
    aggregates,
    all_patterns,
    check,
    exchange_unknowns,
    fresh,
    merged,
    rewritten,
    sides,
    unknowns,
    walk,
)
from mrag.planning.slots import Slot, SlotFitter, SlotOption, fill, slots_of
from mrag.rdf.terms import Term
from mrag.stores.base import Limits

_LONGEST = 100  # Questions of one conversation of which each goes on from the one before
_MOST_THINGS: Final = 100
"""Things that a follow-up goes on from one by one, where the last plan cut off the others."""
_SURE: Final = 0.6
_CLEAR: Final = 0.8  # How like a name is that words surely mean
_TOLD: Final = 0.9  # How likely it is that "the cheap ones" are those below the average
_CLOSE: Final = 0.05
"""How much less like the words a name may be than the likeliest, and still be what was meant."""
_WAYS: Final = 8  # Plans with other names that are looked at; with more than one, it is open which is meant
_NAMES: Final = ("class", "entity", "value")
_OWNERS: Final = {"their": "them", "its": "it"}
_PLAIN: Final = frozenset("and show is who where when count name".split())
"""Cues that say nothing but that something is asked for."""
BY_ITSELF: Final = "read as a question on its own: every word was read, and the graph can compute it"
"""Why a question that was asked after another one is computed alone."""


@dataclass(frozen=True)
class LastAnswer:
    """What a follow-up goes on from."""

    plan: pl.Plan  # The plan that was computed
    shown: tuple[str, ...]  # Names of the columns that were shown
    question: str = ""  # What was asked; "" where that is not known
    before: LastAnswer | None = None  # What that question went on from itself; None where it stands alone
    why: str = ""  # Why it was computed; "" where that is not known

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
    """What "they" are: the things that the last answer shows or counts."""

    unknown: pl.Unknown  # The unknown of the last plan that stands for them
    cls: str  # IRI of their class
    column: int = -1  # Index of the column that shows them; -1 where they are counted


@dataclass(frozen=True)
class Asked:
    """What a follow-up says of them, as a plan of its own."""

    plan: pl.Plan  # The plan, over all things of their class
    shown: tuple[str, ...]  # Names of its columns that are shown
    own: bool  # Whether it asks for something; else it says more of what was asked for
    instead: bool  # Whether its conditions replace those on the same values
    adds: bool = False  # Whether those that bound a value from the other side stay


def topics_of(last: LastAnswer, schema: Schema) -> list[Topic]:
    """Return what "they" may be after an answer, likeliest first: what it shows, and what it is about."""
    plan, roles = last.plan, PlanRoles(last.plan)
    if any(not a.where.empty for c in plan.columns for a in aggregates(c.value)):
        return []  # of a share nothing tells whether the part or the whole is meant
    columns = {c.value: at for at, c in enumerate(plan.columns) if c.name in last.shown}
    if roles.subject is not None:
        columns.setdefault(roles.subject, -1)
    named = ((v, _class_of(v, plan, schema), at) for v, at in columns.items() if isinstance(v, pl.Unknown))
    return [Topic(unknown, cls, at) for unknown, cls, at in named if cls]


def _class_of(unknown: pl.Unknown, plan: pl.Plan, schema: Schema) -> str:
    """Return the class of an unknown, from what the plan says of it; "" if it stands for no things."""
    if (cls := PlanRoles(plan).type(unknown)) is not None:
        return str(cls) if str(cls) in schema.classes else ""
    for pattern in (p for p in walk(plan.where) if isinstance(p, pl.Pattern)):
        info = schema.properties.get(str(pattern.predicate))
        if info is None or unknown not in (pattern.subject, pattern.object):
            continue
        if best := most_of(info.domains if pattern.subject == unknown else info.ranges):
            return best
    return ""


def among(last: LastAnswer, topic: Topic, things: Sequence[URIRef]) -> pl.Block:
    """Return the block of the last plan for these things alone."""
    each = tuple(pl.Block(conditions=(pl.Comparison(topic.unknown, "=", thing),)) for thing in things)
    return merged(last.plan.where, each[0] if len(each) == 1 else pl.Block(either=(each,)))


def over(last: LastAnswer, topic: Topic, base: pl.Block, asked: Asked, schema: Schema) -> LastAnswer | None:
    """Return the plan that asks of what was found; None where the two cannot be one.

    What holds of what was found is the block of the last plan, or `among`.
    """
    inner = _unify(asked.plan, topic, base, schema)
    if inner is None:
        return None
    listed = base != last.plan.where
    if asked.instead:
        if _are_related(topic, base, inner.where):
            return None
        base = free(base, inner.where.conditions, adds=asked.adds)
    where = merged(base, _among_them(inner.where, topic, base, schema))
    if _roundabout(where) and not _roundabout(base):
        return None
    asked = replace(asked, plan=inner)
    ordering = {o.column for o in inner.order}
    shows = any(c.value != topic.unknown and c.name not in ordering for c in inner.columns)
    if asked.own or shows:
        replacement = _asking(topic, asked)
    else:
        replacement = _saying(last, asked, listed) if _orders_them(inner, topic) else None
    if replacement is None:
        return None
    replacement = replace(replacement, plan=replace(replacement.plan, where=where))
    try:
        check(replacement.plan)
        return replacement
    except ConfigError:
        return None


def _unify(plan: pl.Plan, topic: Topic, base: pl.Block, schema: Schema) -> pl.Plan | None:
    """Return a plan whose unknown of the class is that of the last one, and whose others are its own."""
    related = _relatives(topic.cls, schema)
    typed = [p for p in plan.where.patterns if p.predicate == RDF.type and str(p.object) in related]
    anchors = {p.subject for p in typed if isinstance(p.subject, pl.Unknown)}
    if len(anchors) != 1 or plan.where.plans:
        return None
    (anchor,) = anchors
    if any(a.of == (anchor,) for h in plan.having for side in sides(h) for a in aggregates(side)):
        return None
    taken = {u for u in walk(base) if isinstance(u, pl.Unknown)}
    values = {p.predicate: p.object for p in base.patterns if p.subject == topic.unknown}
    names = {anchor: topic.unknown}
    for pattern in plan.where.patterns:
        info = schema.properties.get(str(pattern.predicate))
        value = values.get(pattern.predicate)
        both = isinstance(value, pl.Unknown) and isinstance(pattern.object, pl.Unknown)
        if both and pattern.subject == anchor and info is not None and info.functional:
            # One thing has one such value, so it is the value that was spoken of.
            names.setdefault(pattern.object, value)  # type: ignore[arg-type]
    for unknown in sorted({u for u in walk(plan) if isinstance(u, pl.Unknown)} - set(names)):
        names[unknown] = fresh(unknown, taken | set(names.values()))
    exact = {p for p in typed if str(p.object) == topic.cls}
    where = replace(plan.where, patterns=tuple(p for p in plan.where.patterns if p not in exact))
    if not any(topic.unknown in (p.subject, p.object) for p in base.patterns):
        return None
    return exchange_unknowns(replace(plan, where=where), names)


def _among_them(where: pl.Block, topic: Topic, base: pl.Block, schema: Schema) -> pl.Block:
    """Return a block whose averages are those of the things that were found: "longer than the average"."""
    related = _relatives(topic.cls, schema)

    def change(value: Any) -> Any:
        if not isinstance(value, pl.Scalar):
            return value
        typed = (p for p in value.plan.where.patterns if p.predicate == RDF.type and str(p.object) in related)
        things = {p.subject for p in typed if isinstance(p.subject, pl.Unknown)}
        if len(things) != 1:
            return value
        taken = {u for u in walk(value.plan) if isinstance(u, pl.Unknown)}
        names = {u: fresh(u, taken) for u in sorted({u for u in walk(base) if isinstance(u, pl.Unknown)})}
        names[topic.unknown] = things.pop()
        block = merged(exchange_unknowns(base, names), value.plan.where)
        return replace(value, plan=replace(value.plan, where=block))

    return rewritten(where, change)


def _roundabout(block: pl.Block) -> bool:
    """Return whether things are related only by sharing a value, which no word says."""
    shared = [(p.predicate, p.object) for p in set(all_patterns(block)) if isinstance(p.object, pl.Unknown)]
    return len(set(shared)) < len(shared)


def _relatives(cls: str, schema: Schema) -> set[str]:
    """Return a class with those above and below it."""
    return {cls} | schema.above(cls) | {c for c in schema.classes if cls in schema.above(c)}


def _are_related(topic: Topic, base: pl.Block, inner: pl.Block) -> bool:
    """Return whether things are to be related to another thing in a way in which they are to one already."""

    def named(block: pl.Block) -> list[tuple[tuple[bool, object], pl.Pattern]]:
        of = ((p, (p.subject, p.object)) for p in block.patterns if p.predicate != RDF.type)
        some = (p for p, ends in of if topic.unknown in ends and any(isinstance(e, URIRef) for e in ends))
        return [((p.subject == topic.unknown, p.predicate), p) for p in some]

    said = dict(named(base))
    return any(said.get(way, p) != p for way, p in named(inner))


def free(base: pl.Block, instead: Sequence[pl.Condition], *, adds: bool) -> pl.Block:
    """Return a block without the conditions on values that other conditions speak of.

    If they add, those that bound a value from the other side stay.
    """
    bounds: dict[pl.Unknown, set[str]] = {}
    for condition in instead:
        for unknown in _spoken_names(condition):
            bounds.setdefault(unknown, set()).add(_side(condition))
    kept = []
    for condition in base.conditions:
        others = [bounds[u] for u in _spoken_names(condition) if u in bounds]
        if all(adds and _side(condition) in "<>" and {_side(condition), *o} == {"<", ">"} for o in others):
            kept.append(condition)
    return replace(base, conditions=tuple(kept))


def _spoken_names(condition: pl.Condition) -> set[pl.Unknown]:
    return {u for side in sides(condition) for u in unknowns(side)}


def _side(condition: pl.Condition) -> str:
    return condition.relation[0] if isinstance(condition, pl.Comparison) else "="


def _asking(topic: Topic, asked: Asked) -> LastAnswer | None:
    """Return what asks for something of its own: the things stand beside what is asked of them."""
    plan = asked.plan
    if plan.yes_or_no or any(aggregates(c.value) for c in plan.columns):
        return LastAnswer(plan, asked.shown)
    things = next((c for c in plan.columns if c.value == topic.unknown), None)
    if things is None:
        things = pl.Column(topic.unknown, _column(topic.unknown.name, plan.columns))
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
            same = pl.Column(column.value, _column(column.name, shown))
            shown.append(same)
        names[column.name] = same.name
    order = tuple(replace(o, column=names[o.column]) for o in inner.order)
    also = tuple(names[n] for n in asked.shown if n in names and names[n] not in last.shown)
    ordered = replace(
        plan, columns=tuple(shown), order=order, limit=inner.limit, offset=inner.offset, ties=inner.ties
    )
    return LastAnswer(ordered, (*last.shown, *also))


def _orders_them(plan: pl.Plan, topic: Topic) -> bool:
    """Return whether a plan orders things, if anything, by their own values."""
    own = {p.object for p in plan.where.patterns if p.subject == topic.unknown} | {topic.unknown}
    keys = [next(c.value for c in plan.columns if c.name == o.column) for o in plan.order]
    return all(unknowns(key) <= own for key in keys)


def _column(name: str, columns: Sequence[pl.Column]) -> str:
    return fresh(pl.Unknown(name), {pl.Unknown(c.name) for c in columns}).name


# Words


def _is(word: Sequence[str] | str, *what: str) -> bool:
    """Return whether a word or a phrase does something in a question that goes on from another one."""
    said = meanings("follow.tsv").get((word,) if isinstance(word, str) else tuple(word), ())
    return not {*what}.isdisjoint(said)


@dataclass(frozen=True)
class FollowText:
    """A follow-up without the words that only say that it is one."""

    text: str  # What is left
    leads: bool = False  # Whether it began like a follow-up: "and", "what about"
    adds: bool = False  # Whether it began with "and" alone
    only: bool = False  # Whether it narrows what was found: "only"

    @classmethod
    def of(cls, text: str) -> FollowText:
        """Return a follow-up without the words that only say that it is one.

        Example:
            >>> FollowText.of("And what about Texas?")
            FollowText(text='Texas', leads=True, adds=False, only=False)
        """
        said = tokens(text)
        low = [t.raw.lower() for t in said]
        at, adds = 0, True
        while size := max((n for n in (1, 2, 3, 4) if _is(low[at : at + n], "lead", "add")), default=0):
            size = min(size, len(low) - at)
            adds = adds and _is(low[at : at + size], "add")
            at += size
        leads, only = at > 0, _is(low[at : at + 1], "only")
        at, end = at + only, len(low)
        while end > at and _is(low[end - 1], "tail"):
            end -= 1
        start, behind = said[at - 1].end if at else 0, said[end].start if end < len(said) else len(text)
        return cls(text[start:behind].strip(" \t\n,.;:?!"), leads, leads and adds, only)

    @cached_property
    def low(self) -> list[str]:
        """Return its words in lower case."""
        return [t.raw.lower().replace("\u2019", "'") for t in tokens(self.text)]

    @property
    def asks(self) -> bool:
        """Return whether it asks for something, rather than saying more of what was asked for."""
        return bool(self.low) and _is(self.low[0], "ask")

    @property
    def chosen(self) -> int:
        """Return behind which words the noun is missing: "which are in Texas", "how many"; 0 if none is."""
        size = next((n for n in (1, 2) if _is(self.low[:n], "choose")), 0)
        return size if self.low[size:] == [] or _is(self.low[size], "open") else 0

    def wording(self, *, counted: bool, valued: bool) -> tuple[str, bool]:
        """Return it with "them" for what was found before, and whether it asks for something of its own."""
        if size := self.chosen:
            behind = self.text[tokens(self.text)[size - 1].end :]
            return " ".join((*self.low[:size], "of them", behind.strip())), True
        if self.asks:
            return f"{self.text} of them", True
        if valued:
            return f"what is the {self.text} of them", True
        return f"{'how many' if counted else 'which'} of them {self.text}", counted

    def owning(self) -> tuple[str, bool]:
        """Return it with "of them" for "their", and whether it asks for something of its own."""
        owner = next((w for w in self.low if w in _OWNERS), "")
        if not owner:
            return self.text, self.asks
        said = [t.raw for t in tokens(self.text)]
        return " ".join("the" if w.lower() == owner else w for w in said) + f" of {_OWNERS[owner]}", True

    def pointers(self, named: int) -> list[int]:
        """Return which words point back.

        Behind the first word that names a class and an "and", "they" points to that.
        """

        def points(at: int, word: str) -> bool:
            said = _is(word, "several", "one") or (word == "one" and self.low[at - 1 : at] == ["which"])
            return said and not (_is(word, "owning") and any(_is(w, "joining") for w in self.low[named:at]))

        return [at for at, word in enumerate(self.low) if points(at, word)]


@dataclass(frozen=True)
class FollowUnits:
    """A way of cutting a follow-up into units."""

    slots: Sequence[UnitSlot]  # The units
    left: Sequence[int]  # The words that are in none

    @property
    def named(self) -> list[UnitSlot]:
        """Return those that name or state something."""
        return [s for s in self.slots if not s.is_cue and not s.is_soft]

    @property
    def classes(self) -> list[UnitSlot]:
        """Return those that name a class."""
        return [s for s in self.named if (u := _names(s)).kind == "class" and u.score > _CLEAR]

    @property
    def cues(self) -> set[str]:
        """Return what the other words do, beside those that only say that something is asked for."""
        named = self.named
        return {u.cue for s in self.slots if s not in named for u in s.units if u.kind == "cue"} - _PLAIN


def _names(slot: UnitSlot) -> Unit:
    """Return what the words of a slot likeliest are."""
    return max(slot.units, key=lambda u: (u.score, u.kind == "class"))


def units_said(reader: RoleReader, text: str) -> list[FollowUnits]:
    """Return the ways of cutting a text into units, likeliest first; at least one."""
    asked = reader.units(text)
    return [FollowUnits(*way) for way in paths(asked.units, asked.low)] or [FollowUnits((), ())]


def goes_on(reader: RoleReader, text: str) -> bool:
    """Return whether a question makes sense after another one only."""
    said = FollowText.of(text)
    classes = [s.start for s in units_said(reader, said.text)[0].classes]
    return said.leads or said.only or bool(said.pointers(min(classes, default=len(said.low))))


# Other names in the same plan


def _closest(options: Sequence[SlotOption], before: Sequence[SlotOption]) -> list[list[SlotOption]]:
    """Return the options for one more name beside those before; none to change where it stays."""
    taken = [o.slot.term for o in before]
    free = [o for o in options if o.slot.term not in taken]
    best = max((o.score for o in free), default=0.0)
    close = {(o.slot, o.filling): o for o in reversed(free) if o.score >= best - _CLOSE}
    if any(not o.changes for o in close.values()):
        return [[]]
    return [[option] for option in reversed(close.values())]


def _call(
    plan: pl.Plan, shown: tuple[str, ...], slot: Slot, new: object, schema: Schema
) -> tuple[pl.Plan, tuple[str, ...]]:
    """Return a plan whose unknowns and columns, which answers show, are called by what they now are."""
    infos = schema.classes if slot.role == "class" else schema.properties
    if slot.role not in ("class", "property") or not {str(slot.term), str(new)} <= set(infos):
        return plan, shown
    old, name = (stem_of(infos[str(t)].names[0]) for t in (slot.term, new))
    names = {u.name for u in walk(plan) if isinstance(u, pl.Unknown)} | {c.name for c in plan.columns}
    parts = re.compile(rf"(?<![^_]){re.escape(old)}(?![^_\d])")
    other = {n: parts.sub(name, n) for n in names}
    if len(set(other.values())) < len(names):
        return plan, shown

    def change(value: Any) -> Any:
        if isinstance(value, pl.Unknown | pl.Column):
            return replace(value, name=other[value.name])
        return replace(value, column=other[value.column]) if isinstance(value, pl.Order) else value

    return rewritten(plan, change), tuple(other[n] for n in shown)


def likely(score: float) -> float:
    """Return how likely a reading is whose names are so like the words, as the reader has it."""
    return 1 / (1 + math.exp(-3.0 - 6.0 * (score - 1)))


# What is asked after something


def asked_after(
    kg: KnowledgeGraph, reader: RoleReader, question: str, last: LastAnswer, own: Sequence[Reading]
) -> tuple[list[Reading], str]:
    """Return the readings of a question that is asked after another one.

    A question that can be read by itself is; what points back ("them"), or goes on ("and in Texas?"), edits
    the last plan.

    Beside the readings, best first, is why there are no more of them; "" where it was read by itself.
    """
    return _FollowUp(kg, reader, FollowText.of(reader.glosses.of(question).text), last).readings(own)


class _FollowUp:
    """One question that may go on from an answer."""

    why = "the question goes on from the last answer in no way that could be computed"

    def __init__(self, kg: KnowledgeGraph, reader: RoleReader, said: FollowText, last: LastAnswer) -> None:
        self.kg, self.reader, self.schema, self.last = kg, reader, reader.schema, last
        self.topics = topics_of(last, reader.schema)
        self.ways = units_said(reader, said.text)
        self.named, self.classes = self.ways[0].named, self.ways[0].classes
        self.pointers = said.pointers(min((s.start for s in self.classes), default=len(said.low)))
        self.said = self._without_noun(said)

    def _without_noun(self, said: FollowText) -> FollowText:
        """Return "which" for "which rivers", where rivers were found."""
        if len(self.named) != 1 or not self.classes or self.named[0].end != len(said.low):
            return said
        start, kind = self.named[0].start, _names(self.named[0]).options[0].term
        if not _is(said.low[:start], "choose") or all(topic.cls != kind for topic in self.topics):
            return said
        self.named = self.classes = []
        return replace(said, text=" ".join(said.low[:start]))

    @property
    def stands_alone(self) -> bool:
        """Return whether it may be a question by itself: "how many in Texas" lacks what is counted."""
        if self.pointers or self.said.only or not self.said.low:
            return False
        if self.said.asks and (size := self.said.chosen):
            # "Which is the largest river" says behind its verb what it asks for.
            verb = size == 1 and _is(self.said.low[size : size + 1], "ask")
            return verb and bool(self.classes)
        if not self.said.asks:
            bare = self.said.leads and len(self.named) == 1
            return bool(self.classes) and not (bare or _is(self.said.low[0], "open"))
        return any(_names(s).kind in ("class", "entity", "value", "text") for s in self.named)

    def readings(self, own: Sequence[Reading]) -> tuple[list[Reading], str]:
        """Return its readings, given those by itself."""
        alone = [replace(r, note=r.note or BY_ITSELF) for r in own]
        if self.stands_alone and self.said.asks:
            return alone, ""
        readings: dict[pl.Plan, Reading] = {}
        for reading in self._follow_ups():
            if not (reading.shown or reading.plan.yes_or_no):
                continue
            if reading.plan not in readings or readings[reading.plan].probability < reading.probability:
                readings[reading.plan] = reading
        ranked = sorted(readings.values(), key=lambda r: -r.probability)
        if self.stands_alone and (not ranked or ranked[0].probability < _SURE):
            return alone, ""
        return ranked, self.why

    def _follow_ups(self) -> Iterator[Reading]:
        text = self.said
        if self.pointers:
            yield from self._over_the_last(*text.owning())
            return
        ways = self.ways if not text.only else []
        replaced = next(filter(None, (list(self._replace(way)) for way in ways)), [])
        yield from replaced
        yield from next(filter(None, (list(self._pick(way)) for way in self.ways)), [])
        counted = any(a.function == "count" for c in self.last.plan.columns for a in aggregates(c.value))
        at = next((n for n, word in enumerate(text.low) if not _is(word, "article")), 0)
        first = next((_names(s).kind for s in self.named if s.start <= at < s.end), "")
        # Of a bare name no word says how it is related.
        bare = first in _NAMES or (first == "property" and replaced)
        if text.low and (text.asks or text.only or not bare):
            if counted and not text.asks:
                # "In Texas" is said of what was counted.
                self.topics = sorted(self.topics, key=lambda topic: topic.column)[:1]
            wording = text.wording(counted=counted, valued=first == "property")
            yield from self._over_the_last(*wording)

    def _replace(self, way: FollowUnits) -> Iterator[Reading]:
        """Yield plans in which what is named stands in the place of something of its kind."""
        if way.left or not way.named or not way.cues <= {"group"}:
            return
        fitter, display = SlotFitter(self.kg, self.schema), Display(self.kg)
        words, slots = tokens(self.said.text), slots_of(self.last.plan)
        ways: list[list[SlotOption]] = [[]]
        for named in way.named:
            said = self.said.text[words[named.start].start : words[named.end - 1].end]
            options = [o for unit in named.units for o in fitter.options(unit, said, slots)]
            options = [_add(o) for o in options] if self.said.adds else options
            ways = [before + more for before in ways for more in _closest(options, before)][:_WAYS]
        ways = [changes for changes in ways if changes]
        if len(ways) > 1:
            places = dict.fromkeys(f"“{_name(display, o.slot.term)}”" for changes in ways for o in changes)
            self.why = f"it is open whether it is meant in place of {' or of '.join(places)}"
        for changes in ways:
            plan, shown = fill(self.last.plan, [(o.slot, o.filling) for o in changes]), self.last.shown
            for o in changes:
                plan, shown = _call(plan, shown, o.slot, o.filling[0], self.schema)
            told = [f"“{o.name}” in place of “{_name(display, o.slot.term)}”" for o in changes]
            note = f"read as a follow-up, with {' and '.join(told)}"
            yield reading_of(plan, shown, likely(min(o.score for o in changes)) / len(ways), note)

    def _pick(self, way: FollowUnits) -> Iterator[Reading]:
        """Yield the plan for one of the things that were found, or without it: "only Texas"."""
        if way.left or len(way.named) != 1 or way.cues != (set() if self.said.only else {"not"}):
            return
        for candidate in (c for u in way.named[0].units if u.kind == "entity" for c in u.options):
            if topic := next((t for t in self.topics if t.cls in candidate.classes), None):
                relation: pl.Relation = "=" if self.said.only else "!="
                condition = pl.Comparison(topic.unknown, relation, URIRef(candidate.term))
                where = merged(self.last.plan.where, pl.Block(conditions=(condition,)))
                note = f"read as a follow-up, {'only' if self.said.only else 'without'} “{candidate.name}”"
                plan = replace(self.last.plan, where=where)
                yield reading_of(plan, self.last.shown, likely(candidate.score), note)
                return

    def _over_the_last(self, form: str, asks: bool) -> Iterator[Reading]:
        """Yield readings of a wording in which words stand for what was found before."""
        if self.pointers and all(_is(self.said.low[at], "one") for at in self.pointers):
            yield from self._about_one(form)
            return
        if not self.topics:
            self.why = "the last answer was about no things of one kind"
        for topic in self.topics:
            yield from self._over_topic(form, asks, topic)

    def _over_topic(self, form: str, asks: bool, topic: Topic) -> Iterator[Reading]:
        name = self.schema.classes[topic.cls].names[0]
        stand = Candidate("class", topic.cls, 1.0, name)
        beside = [s for s in self.classes if _names(s).options[0].term == topic.cls]
        if self.pointers and any(s.start - 1 not in self.pointers for s in beside):
            self.why = f"it is open which {name} is meant"
            return
        own = {s.start - 1 for s in beside}
        meant = {"them": stand, **{self.said.low[at]: stand for at in self.pointers if at not in own}}
        narrowed = bool(self.pointers) or self.said.only
        base = self.last.plan.where
        if narrowed and (self.last.plan.limit is not None or self.last.plan.having or self.last.plan.offset):
            things = self._things(topic)
            if not things:
                self.why = "the last answer has no things, or too many, to go on from"
                return
            base = among(self.last, topic, things)
        # "Where are they" asks for something else than what it points to.
        other = _is(self.said.low[:1], "other") or _is(self.said.low[:2], "other")
        for wording, chance in self._measure(form, topic):
            for reading in self.reader.readings(wording, meant=meant):
                asked = Asked(reading.plan, reading.shown, asks, not narrowed, self.said.adds)
                done = over(self.last, topic, base, asked, self.schema)
                if done is None or (other and not _shows_other(done, topic)):
                    continue
                # A name that changes nothing was lost on the way.
                if not (self.named and _same(done.plan, self.last.plan)):
                    yield replace(
                        reading,
                        plan=done.plan,
                        shown=done.shown,
                        probability=reading.probability * chance,
                        note="read as a follow-up, about the last answer",
                    )

    def _about_one(self, form: str) -> Iterator[Reading]:
        """Yield readings about the only thing that was found, else the only one that was named."""
        things: list[Term] = list(self._things(self.topics[0])) if self.topics else []
        if len(things) != 1:
            things = [s.term for s in slots_of(self.last.plan) if s.role == "entity"]
        if len(things) != 1:
            self.why = "it is open which thing is meant"
            return
        classes = self.schema.with_superclasses(classes_of(self.kg, things[:1])[str(things[0])])
        name = Display(self.kg).name(str(things[0]))
        thing = Candidate("entity", str(things[0]), 1.0, name, classes=classes)
        meant = {"it": thing, **{self.said.low[at]: thing for at in self.pointers}}
        for reading in self.reader.readings(form, meant=meant):
            if things[0] in {s.term for s in slots_of(reading.plan)}:
                yield replace(reading, note=f"read as a follow-up, about “{name}”")

    def _measure(self, form: str, topic: Topic) -> Iterator[tuple[str, float]]:
        """Yield a wording, and one in which "the cheap ones" are those that are more cheap than average."""
        yield form, 1.0
        words, asked = tokens(form), self.reader.units(form)
        for u in asked.units:
            if u.kind != "adjective" or u.cue != "positive" or asked.low[u.start - 1] in ("how", "as"):
                continue
            infos = [self.schema.properties[o.term] for o in u.options if o.term in self.schema.properties]
            if any(i.kind == "number" and topic.cls in i.domains for i in infos):
                start, end = words[u.start].start, words[u.end - 1].end
                yield f"{form[:start]}more {u.word} than average{form[end:]}", _TOLD

    def _things(self, topic: Topic) -> list[URIRef]:
        """Return what the last answer shows; none where it shows no things, or too many."""
        if topic.column < 0:
            return []
        try:
            limits = Limits(2.0, _MOST_THINGS + 1, 1 << 20)
            result = run(self.kg, self.last.plan, schema=self.schema, limits=limits)
        except (StoreError, ConfigError):
            return []
        cells = (row[topic.column] for row in result.rows)
        things = list(dict.fromkeys(cell for cell in cells if isinstance(cell, URIRef)))
        return [] if result.truncated or len(things) > _MOST_THINGS else things


def _add(option: SlotOption) -> SlotOption:
    """Return an option that keeps a bound from the other side: "and less than 20" after "more than 5"."""
    old, new = option.slot.bounds, option.filling
    conditions = [c for c in new if isinstance(c, pl.Comparison)]
    if len(old) == len(conditions) == 1 and {_side(old[0]), _side(conditions[0])} == {"<", ">"}:
        return replace(option, filling=(*old, *conditions))
    return option


def _shows_other(answer: LastAnswer, topic: Topic) -> bool:
    """Return whether something else is shown than things that were found."""
    shown = (c.value for c in answer.plan.columns if c.name in answer.shown)
    return answer.plan.yes_or_no or any(value != topic.unknown for value in shown)


def _same(one: pl.Plan, other: pl.Plan) -> bool:
    """Return whether two plans are the same but for the names of their columns."""

    def content(plan: pl.Plan) -> object:
        order = [o.descending for o in plan.order]
        return plan.where, [c.value for c in plan.columns], order, plan.limit, plan.having

    return content(one) == content(other)


def _name(display: Display, term: Term) -> str:
    return display.name(str(term)) if isinstance(term, URIRef) else str(term)
