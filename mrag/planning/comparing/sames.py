"""Things that share a value with one that is named: "hired in the same year as Ada"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rdflib import URIRef

from mrag.language.grammar import plural
from mrag.planning import plan as pl
from mrag.planning.building.literals import identifier
from mrag.planning.comparing.stand_ins import YEAR, without_stand_in
from mrag.planning.composing.drafts import Draft, Named, Read, also_holding, fully_read
from mrag.planning.composing.nested import described
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import is_past
from mrag.planning.schema import Schema
from mrag.planning.scopes import mentioned, names_of, numbered, substituted, unused

_UNITS: dict[str, pl.Part] = {"year": "year", "month": "year-month", "day": "date", "date": "date"}
_IN = r"(?:in|on|during|within|at) (?:exactly )?"
_WITH = r"(?:(?:that |which |who )?(?:share|shares|have|has|with|of|having|in|from|at) )?(?:exactly )?"
_SAME = re.compile(
    rf"(?i)^(?P<outer>.+?) (?:{_IN}(?:the|that) (?:very )?same (?P<unit>{'|'.join(_UNITS)})"
    rf" (?P<as>as|that|in which|on which|when)|{_IN}the (?P<one>{'|'.join(_UNITS)})"
    rf" (?P<rel>that|in which|on which|when)|{_WITH}the (?:very )?same (?P<what>\w+(?: \w+){{0,3}}?) as"
    r"|(?:that |which |who )?(?:share|shares|shared|sharing) (?:an?|the(?: same)?|their|its|his|her)"
    r" (?P<shared>\w+(?: \w+){0,3}?) with)"
    r" (?P<rest>.+?)\W*$"
)
_AFTER = re.compile(
    r"(?i)^(?P<head>.+? (?P<way>before|after|since)) (?:the (?:day|time|moment) (?:that |when )?)?"
    r"(?P<clause>(?!\d)\w.*? \w+)\W*$"
)
_CLAUSE = re.compile(
    r"(?i)^(?P<subject>.+?) (?P<verb>was|were|is|are|did|has been|have been|had been)(?P<more>(?: .+)?)$"
)
_WHO = re.compile(r"(?i)^\W*who(?: else| all)?(?: is| are| was| were| has| have)?$")


@dataclass(frozen=True)
class SharedValue:
    """What a question says is shared.

    Attributes:
        outer: The question without it.
        part: The part of a date that is shared; None for the value of a property.
        what: The words for the property.
        other: The words for what it is shared with.
        same: Whether it is said that the value is the same, so that the other thing is left out.
        shares: Whether it says so by a verb, which says nothing where the value is not found.
    """

    outer: str
    part: pl.Part | None
    what: str
    other: str
    same: bool
    shares: bool = False


def shared_value(text: str) -> SharedValue | None:
    """Return what a question says two things share; None if it says nothing of the kind.

    Example:
        >>> shared = shared_value("Which nurses were hired in the same year as Ada?")
        >>> shared.outer, shared.part, shared.other
        ('Which nurses were hired', 'year', 'Ada')
    """
    match = _SAME.match(text)
    if match is None:
        return None
    unit = (match["unit"] or match["one"] or "").lower()
    return SharedValue(
        match["outer"],
        _UNITS.get(unit),
        match["what"] or match["shared"] or "",
        match["rest"],
        match["one"] is None,
        match["shared"] is not None,
    )


def sharing(shared: SharedValue, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    """Yield drafts of a question for things that share a value with another.

    Args:
        shared: What they share.
        read: Reads a question; best drafts first.
        named: Returns what words may name as a whole, best first.
        schema: The schema.
    """
    if shared.part is not None:
        yield from _at_the_same_time(shared, shared.part, read, named, schema)
    else:
        yield from _alike(shared, read, named, schema)


def _at_the_same_time(
    shared: SharedValue, part: pl.Part, read: Read, named: Named, schema: Schema
) -> Iterator[Draft]:
    things = [c for c in named(shared.other) if c.kind == "entity"]
    for outer, time in _at_a_time(f"{shared.outer} in {YEAR}", read):
        said = [p for p in outer.plan.where.patterns if p.object == time]
        # "In the same year as Ada" is the year of Ada in the same respect.
        for pattern in said[:1] if things else ():
            info = schema.properties.get(str(pattern.predicate))
            thing = next((c for c in things if info and set(c.classes) & set(info.domains)), None)
            if thing is not None and isinstance(pattern.predicate, URIRef):
                own, other = URIRef(thing.term), unused("its_time", names_of(outer.plan))
                block = pl.Block(
                    (pl.Pattern(own, pattern.predicate, other),), (_same_part(part, time, other),)
                )
                found = also_holding(outer, block, matches=(thing.score,))
                if found is not None:
                    yield _without(found, pattern.subject, own) if shared.same else found
                return
        if (told := _time_told(shared.other, read)) is not None:
            inner, value = told
            block, other = _renamed(inner.plan.where, value, outer.plan)
            same = replace(block, conditions=(*block.conditions, _same_part(part, time, other)))
            alike = {p.subject for p in block.patterns if p.predicate in {q.predicate for q in said}}
            named_ = next((s for s in alike if isinstance(s, URIRef)), None) if shared.same else None
            if (found := also_holding(outer, same, inner)) is not None:
                yield found if named_ is None else _without(found, said[0].subject, named_)
            return


def after_event(text: str) -> tuple[str, pl.Relation, str] | None:
    """Return a question up to a time, how that compares, and what happened then; None for other questions.

    Example:
        >>> after_event("Which projects started after Apollo ended?")
        ('Which projects started after', '>', 'Apollo ended')
    """
    match = _AFTER.match(text)
    if match is None or not is_past(match["clause"].split()[-1].lower()):
        return None
    return match["head"], ">" if match["way"].lower() in ("after", "since") else "<", match["clause"]


def compared_with_event(event: tuple[str, pl.Relation, str], read: Read) -> Iterator[Draft]:
    """Yield drafts of a question for what was before or after something happened.

    Args:
        event: What `after_event` returns.
        read: Reads a question; best drafts first.
    """
    head, relation, clause = event
    for outer, time in _at_a_time(f"{head} {YEAR}?", read):
        if (told := _time_told(clause, read)) is not None:
            inner, value = told
            block, other = _renamed(inner.plan.where, value, outer.plan)
            bound = pl.Comparison(pl.DatePart("date", time), relation, pl.DatePart("date", other))
            if found := also_holding(outer, replace(block, conditions=(*block.conditions, bound)), inner):
                yield found
            return


def _alike(shared: SharedValue, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    things = [c for c in named(shared.other) if c.kind == "entity"]
    properties = [c for c in named(shared.what) if c.kind == "property"]
    who = [schema.classes[c] for t in things for c in t.classes if c in schema.classes]
    outer_text = (
        f"Which {plural(who[0].names[0])} are there?" if _WHO.match(shared.outer) and who else shared.outer
    )
    for outer in fully_read(read(outer_text), 1):
        cls = _kind(outer, schema)
        if cls is None:
            continue
        kinds = {cls, *schema.above(cls)}
        for found in [*properties[:3], *_leading_to(shared.what, kinds, named, schema)]:
            info = schema.properties.get(found.term)
            thing = next((c for c in things if {*c.classes} & {cls} or kinds & {*c.classes}), None)
            if info is None or thing is None or not kinds & {*info.domains}:
                continue
            place = next(p.subject for p in outer.plan.where.patterns if str(p.object) == cls)
            own, link = URIRef(thing.term), URIRef(info.iri)
            value = unused(identifier(info.names[0] if info.names else "value"), names_of(outer.plan))
            block = pl.Block((pl.Pattern(place, link, value), pl.Pattern(own, link, value)))
            if (alike := also_holding(outer, block, matches=(found.score, thing.score))) is not None:
                yield _without(alike, place, own)
            return


def _leading_to(what: str, kinds: set[str], named: Named, schema: Schema) -> list[Candidate]:
    """Return the one property by which things have something of a class that is named: "share a stadium"."""
    classes = {c.term for c in named(what) if c.kind == "class" and c.score > 0.9}
    infos = [i for i in schema.properties.values() if kinds & {*i.domains} and classes & {*i.ranges}]
    return [Candidate("property", i.iri, 0.85, i.names[0], "meaning") for i in infos if len(infos) == 1]


def _kind(draft: Draft, schema: Schema) -> str | None:
    """Return the class of the things that a plan lists or counts."""
    listed = described(draft, schema)
    if listed is not None:
        return listed
    typed = [str(p.object) for p in draft.plan.where.patterns if str(p.object) in schema.classes]
    return typed[0] if len(typed) == 1 else None


def _at_a_time(text: str, read: Read) -> Iterator[tuple[Draft, pl.Unknown]]:
    """Yield drafts of a question with a year in it, without that year, and the one time that it bounds."""
    for draft in fully_read(read(text), 2):
        kept, bounds = without_stand_in(draft)
        times = {time for bound in bounds if (time := _plain(bound.left)) is not None}
        if len(times) == 1:
            yield kept, times.pop()


def _time_told(clause: str, read: Read) -> tuple[Draft, pl.Unknown] | None:
    """Return the draft that finds the one time of what a clause tells, and that: "Ada was hired"."""
    match = _CLAUSE.match(clause)
    told = f"did {clause}"
    if match is not None:
        told = f"{match['verb'].split()[0]} {match['subject']}{match['more']}"
    for draft in fully_read(read(f"When {told}?"), 1):
        time = None if draft.lone_value is None else _plain(draft.lone_value)
        if time is not None and not draft.plan.grouped and draft.plan.limit is None:
            return draft, time
    return None


def _plain(value: pl.Expression) -> pl.Unknown | None:
    """Return the unknown of which a value is a part or the number."""
    while isinstance(value, pl.DatePart | pl.Number):
        value = value.value
    return value if isinstance(value, pl.Unknown) else None


def _same_part(part: pl.Part, one: pl.Unknown, other: pl.Unknown) -> pl.Comparison:
    return pl.Comparison(pl.DatePart(part, one), "=", pl.DatePart(part, other))


def _renamed(block: pl.Block, value: pl.Unknown, plan: pl.Plan) -> tuple[pl.Block, pl.Unknown]:
    """Return a block with names that a plan has not, and what one of its unknowns is called then."""
    taken = names_of(plan)
    by: dict[pl.Place, pl.Place] = {
        u: pl.Unknown(next(numbered(f"its_{u.name}", taken))) for u in sorted(mentioned(block))
    }
    found = by[value]
    assert isinstance(found, pl.Unknown)
    return substituted(block, by), found


def _without(draft: Draft, place: pl.Place, thing: URIRef) -> Draft:
    """Return a draft that leaves out the thing that others are compared with, if that is one of them."""
    if not isinstance(place, pl.Unknown):
        return draft
    apart = pl.Block(conditions=(pl.Comparison(place, "!=", thing),))
    return also_holding(draft, apart) or draft
