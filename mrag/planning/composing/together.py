"""Several questions in one about the same thing: "when did the hall open, and how big is it".

The first is read as a question of its own. What "it" is in the others is what the first names, or else what
it asks for; their columns are shown beside those of the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdflib import RDF, URIRef

from mrag.language.tokens import PERSON_WORDS
from mrag.planning import plan as pl
from mrag.planning.composing.drafts import Draft, ReadWith, fully_read, guessed, whole
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.reading.frame import DESCRIBED
from mrag.planning.schema import Schema, most_of
from mrag.planning.scopes import (
    aggregates,
    all_patterns,
    kept_apart,
    merged,
    names_of,
    numbered,
    with_unknowns,
    without_ties,
)

_ASKING: Final = (
    r"(?:(?:in|on|at|from|to|by|with|for|of) )?(?:what|when|where|who|whom|whose|which|how)(?:['’]s)?\b"
)
_NEXT: Final = re.compile(rf"(?i)(?:,? (?:and|&)(?: also)?,? |, |; )(?={_ASKING})")
_PEOPLE: Final = r"he or she|she or he|he/she|she/he|his or her|his/her|him or her|he|she|him|his|her"
_THINGS: Final = r"its|it|they|their|them"
_PRONOUN: Final = re.compile(rf"(?i)\b(?:(?P<person>{_PEOPLE})|(?P<thing>{_THINGS}))(?=\W|$)(?!-)")
_OWNING: Final = frozenset("its their his her".split()) | {"his or her", "his/her"}
_BEGINS: Final = re.compile(
    rf"(?i)^\W*(?:{_ASKING}|show|list|give|find|tell|name|return|the|display|get|provide)"
)
_SEVERAL: Final = re.compile(
    r"(?i)^\W*(?:(?:what|who) (?:are|were) (?:the )?\w+s\b|who (?!is\b|was\b)|(?:which|list|show|name)\b)"
)
STAND_IN: Final = "xqsame"
"""A word that no graph has, for what is spoken of again."""


@dataclass(frozen=True)
class SpokenOf:
    """Questions about one thing.

    Attributes:
        first: The first of them.
        others: The others, with `STAND_IN` where they speak of it.
        person: Whether they speak of it as of a person.
        thing: Whether they speak of it as of one thing, which is no person.
        several: Whether the first asks for several things, and the others speak of several.
    """

    first: str
    others: tuple[str, ...]
    person: bool
    thing: bool = False
    several: bool = False


def spoken_of(text: str) -> SpokenOf | None:
    """Return the questions in a question that are about one thing; None where there is but one.

    Example:
        >>> spoken = spoken_of("When did Docks Hall open and what is its capacity?")
        >>> spoken.first, spoken.others
        ('When did Docks Hall open?', ("what is xqsame's capacity?",))
        >>> spoken_of("Who wrote Emma and when was she born?").person
        True
        >>> spoken_of("Which halls are old and how many are there?")
    """
    parts = _NEXT.split(text.strip(" ?.!"))
    if len(parts) < 2 or not _BEGINS.match(parts[0]):
        return None
    found = [_PRONOUN.search(part) for part in parts[1:]]
    if not all(found):
        return None
    others = tuple(_PRONOUN.sub(_again, part) + "?" for part in parts[1:])
    person = any(m is not None and m["person"] for m in found)
    thing = any(m is not None and m.group().lower() in ("it", "its") for m in found)
    they = all(m is not None and m.group().lower() in ("they", "their", "them") for m in found)
    return SpokenOf(parts[0] + "?", others, person, thing, they and _SEVERAL.match(parts[0]) is not None)


def _again(match: re.Match[str]) -> str:
    return f"{STAND_IN}'s" if match.group().lower() in _OWNING else STAND_IN


def told_together(
    spoken: SpokenOf,
    firsts: Sequence[Draft],
    classes_of: Callable[[URIRef], Sequence[str]],
    read: ReadWith,
    schema: Schema,
) -> list[Draft]:
    """Return the plans of several questions about one thing.

    Args:
        spoken: The questions.
        firsts: Drafts of the first, best first.
        classes_of: Returns the classes of a thing that the first names.
        read: Reads one of the others, in which `STAND_IN` is what is given; best drafts first.
        schema: The schema.
    """
    found = list[Draft]()
    for number, first in enumerate(d for d in fully_read(firsts, 2) if not d.plan.yes_or_no):
        for thing in _things(spoken, first, classes_of, schema):
            told: Draft | None = first
            for other in spoken.others:
                drafts = [d for d in fully_read(read(other, thing), 2) if not d.plan.yes_or_no]
                joined = (_beside(told, d, URIRef(thing.term)) for d in drafts if told is not None)
                told = next((d for d in joined if d is not None), None)
            if told is not None:
                # What is likelier of the first question alone is likelier of both.
                found.append(guessed(told, number))
                break
    return found


def _things(
    spoken: SpokenOf, first: Draft, classes_of: Callable[[URIRef], Sequence[str]], schema: Schema
) -> list[Candidate]:
    """Return what the questions may be about, the likeliest first."""
    named = {
        place
        for p in first.plan.where.patterns
        if p.predicate != RDF.type
        for place in (p.subject, p.object)
        if isinstance(place, URIRef)
    }
    constant = [
        Candidate("entity", str(one), 1.0, STAND_IN, classes=tuple(classes_of(one))) for one in sorted(named)
    ]
    asked = [
        Candidate("entity", f"{DESCRIBED}{c.name}", 1.0, STAND_IN, classes=(cls,))
        for c in reversed(first.plan.columns)
        if c.name in first.shown and (cls := _class_of(c, first.plan, schema))
    ]
    if spoken.thing:
        asked = [c for c in asked if not _is_person(c.classes[0], schema)]
    computed = first.plan.limit is not None or bool(first.plan.where.plans)
    if spoken.person and constant and asked and not _is_person(asked[0].classes[0], schema):
        return [*constant[: len(constant) == 1], *asked[:1]]  # where Rex lives is no place with his weight
    if spoken.person or spoken.several or computed or len(constant) != 1:
        return [*asked[:1], *(constant if len(constant) == 1 else [])]
    return [*constant, *asked[:1]]


def _is_person(cls: str, schema: Schema) -> bool:
    names = schema.classes[cls].names[:1] if cls in schema.classes else ()
    return any(PERSON_WORDS & {*name.lower().split()} for name in names)


def _class_of(column: pl.Column, plan: pl.Plan, schema: Schema) -> str | None:
    """Return the class of the things that a column shows."""
    if not isinstance(column.value, pl.Unknown):
        return None
    for inner in plan.where.plans:
        for own in inner.columns:
            if own.name == column.value.name:
                return _class_of(own, inner, schema)
    patterns = list(all_patterns(plan.where))
    for p in patterns:
        if p.subject == column.value and p.predicate == RDF.type and str(p.object) in schema.classes:
            return str(p.object)
    for p in patterns:
        info = schema.properties.get(str(p.predicate))
        if info is not None and info.kind == "entity" and column.value in (p.subject, p.object):
            ends = info.ranges if p.object == column.value else info.domains
            if ends:
                return most_of(ends)
    return None


def _beside(first: Draft, other: Draft, thing: URIRef) -> Draft | None:
    """Return a draft with the columns of another beside its own, whose `thing` is what it shows or names."""
    plan, more = first.plan, other.plan
    if more.limit is not None or more.having or more.order or more.where.plans:
        return None
    if all(aggregates(c.value) for c in plan.columns if c.name in first.shown):
        return None
    spoken = str(thing).removeprefix(DESCRIBED) if thing.startswith(DESCRIBED) else ""
    flat = plan.limit is None and not plan.grouped and not plan.having
    if (ordered := _ordered_by(first, other, spoken)) is not None:
        return ordered
    taken = names_of(plan)
    fresh = numbered("also", taken, 2)
    by = kept_apart(more.where, taken, fresh, {})
    if spoken:
        value = next((c.value for c in plan.columns if c.name == spoken), None)
        if not isinstance(value, pl.Unknown):
            return None
        by[thing] = value if flat else pl.Unknown(spoken)
    elif flat:
        by |= _alike(plan.where, more.where, thing)
    moved = with_unknowns(more, {k: v for k, v in by.items() if isinstance(v, pl.Unknown)})
    shown = [c for c in moved.columns if c.name in other.shown]
    names = {c.name: c.name if c.name not in taken else next(fresh) for c in shown}
    shown = [replace(c, name=names[c.name]) for c in shown]
    if flat:
        own, where = [c for c in plan.columns if c.name in first.shown], merged(plan.where, moved.where)
    else:
        own = [pl.Column(pl.Unknown(n), n) for n in first.shown]
        where = merged(pl.Block(plans=(without_ties(plan),)), moved.where)
    known = {c.value for c in own}
    shown = [c for c in shown if c.value not in known]
    found = pl.Plan(where, (*own, *shown))
    return whole(found, first, other, shown=[c.name for c in (*own, *shown)])


def _ordered_by(first: Draft, other: Draft, spoken: str) -> Draft | None:
    """Return a draft that shows the value by which it orders, where another asks for no more than that."""
    plan, more = first.plan, other.plan.where
    value = next((c.value for c in plan.columns if c.name == spoken), None)
    asked = [p.predicate for p in more.patterns if p.subject == URIRef(DESCRIBED + spoken)]
    if value is None or plan.limit is None or len(more.patterns) != 1 or len(asked) != 1 or more.conditions:
        return None
    said = {p.object for p in plan.where.patterns if p.subject == value and p.predicate == asked[0]}
    column = next((c.name for c in plan.columns if said & {*pl.parts(c.value)}), None)
    if column is None or len(other.shown) != 1:
        return None
    return replace(first, shown=first.shown if column in first.shown else (*first.shown, column))


def _alike(one: pl.Block, other: pl.Block, thing: URIRef) -> dict[pl.Place, pl.Place]:
    """Return what unknowns of a block are called in another that says the same of a named thing."""
    said = {(p.subject, p.predicate): p.object for p in one.patterns if p.subject == thing}
    told = {(p.predicate, p.object): p.subject for p in one.patterns if p.object == thing}
    by: dict[pl.Place, pl.Place] = {}
    for p in other.patterns:
        if isinstance(p.object, pl.Unknown) and isinstance(
            known := said.get((p.subject, p.predicate)), pl.Unknown
        ):
            by[p.object] = known
        if isinstance(p.subject, pl.Unknown) and isinstance(
            back := told.get((p.predicate, p.object)), pl.Unknown
        ):
            by[p.subject] = back
    return by
