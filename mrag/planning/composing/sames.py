"""Things that share a value with one that is named: "hired in the same year as Ada"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from rdflib import Literal, URIRef

from mrag.errors import ConfigError
from mrag.planning import plan as pl
from mrag.planning.algebra.rewriting import substituted
from mrag.planning.algebra.scopes import check, mentioned, merged
from mrag.planning.building.choices import Draft
from mrag.planning.building.literals import identifier
from mrag.planning.composing.nested import described
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.words import is_past
from mrag.planning.schema import Schema
from mrag.text.grammar import plural

Read = Callable[[str], Sequence[Draft]]
Named = Callable[[str], Sequence[Candidate]]

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
_STAND_IN, _BEHIND = "1357", "1358"
"""A year that stands in a question for one that is not known yet, and the one behind it."""


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
    for outer in read(f"{shared.outer} in {_STAND_IN}")[:2]:
        conditions = [c for c in outer.plan.where.conditions if _bounds(c)]
        times = {u for c in conditions for u in _dated(c)}
        if len(times) != 1 or outer.ignored:
            continue
        time = times.pop()
        plain = replace(
            outer.plan.where,
            conditions=tuple(c for c in outer.plan.where.conditions if c not in conditions),
        )
        said = [p for p in plain.patterns if p.object == time]
        kept = replace(outer, plan=replace(outer.plan, where=plain))
        if things:
            # "In the same year as Ada" is the year of Ada in the same respect.
            for pattern in said[:1]:
                info = schema.properties.get(str(pattern.predicate))
                thing = next((c for c in things if info and set(c.classes) & set(info.domains)), None)
                if thing is not None and isinstance(pattern.predicate, URIRef):
                    other = _apart("its_time", kept.plan)
                    block = pl.Block((pl.Pattern(URIRef(thing.term), pattern.predicate, other),))
                    found = _joined(kept, block, _same_part(part, time, other), (thing.score,))
                    yield _without(found, pattern.subject, URIRef(thing.term)) if shared.same else found
                    return
        for question in _when(shared.other):
            for inner in read(question)[:1]:
                value = _only_value(inner)
                if value is None or inner.ignored or inner.plan.grouped or inner.plan.limit is not None:
                    continue
                block, other = _renamed(inner.plan.where, value, kept.plan)
                found = _joined(kept, block, _same_part(part, time, other), inner.matches)
                found = replace(found, joins=found.joins + inner.joins, guesses=found.guesses + inner.guesses)
                alike = {p.subject for p in block.patterns if p.predicate in {q.predicate for q in said}}
                own = next((s for s in alike if isinstance(s, URIRef)), None) if shared.same else None
                yield found if own is None else _without(found, said[0].subject, own)
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
    for outer in read(f"{head} {_STAND_IN}?")[:2]:
        where = outer.plan.where
        conditions = [c for c in where.conditions if _bounds(c)]
        times = {u for c in conditions for u in _dated(c)}
        if len(times) != 1 or outer.ignored:
            continue
        plain = replace(where, conditions=tuple(c for c in where.conditions if c not in conditions))
        kept = replace(outer, plan=replace(outer.plan, where=plain))
        for inner in (d for question in _when(clause) for d in read(question)[:1]):
            value = _only_value(inner)
            if value is None or inner.ignored or inner.plan.grouped or inner.plan.limit is not None:
                continue
            block, other = _renamed(inner.plan.where, value, kept.plan)
            sides = (pl.DatePart("date", time) for time in (times.pop(), other))
            found = _joined(kept, block, pl.Comparison(next(sides), relation, next(sides)), inner.matches)
            yield replace(found, joins=found.joins + inner.joins, guesses=found.guesses + inner.guesses)
            return


def _alike(shared: SharedValue, read: Read, named: Named, schema: Schema) -> Iterator[Draft]:
    things = [c for c in named(shared.other) if c.kind == "entity"]
    properties = [c for c in named(shared.what) if c.kind == "property"]
    who = [schema.classes[c] for t in things for c in t.classes if c in schema.classes]
    outer_text = (
        f"Which {plural(who[0].names[0])} are there?" if _WHO.match(shared.outer) and who else shared.outer
    )
    for outer in read(outer_text)[:1]:
        cls = _kind(outer, schema)
        if cls is None or outer.ignored:
            continue
        kinds = {cls, *schema.above(cls)}
        for found in [*properties[:3], *_leading_to(shared.what, kinds, named, schema)]:
            info = schema.properties.get(found.term)
            thing = next((c for c in things if {*c.classes} & {cls} or kinds & {*c.classes}), None)
            if info is None or thing is None or not kinds & {*info.domains}:
                continue
            place = next(p.subject for p in outer.plan.where.patterns if str(p.object) == cls)
            value = _apart(identifier(info.names[0] if info.names else "value"), outer.plan)
            patterns = (
                pl.Pattern(place, URIRef(info.iri), value),
                pl.Pattern(URIRef(thing.term), URIRef(info.iri), value),
            )
            yield _without(
                _joined(outer, pl.Block(patterns), None, (found.score, thing.score)),
                place,
                URIRef(thing.term),
            )
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


def _when(clause: str) -> Iterator[str]:
    """Yield questions for the time of what a clause tells: "Ada was hired"."""
    match = _CLAUSE.match(clause)
    if match is None:
        yield f"When did {clause}?"
    else:
        yield f"When {match['verb'].split()[0]} {match['subject']}{match['more']}?"


def _bounds(condition: pl.Condition) -> bool:
    """Return whether a condition is one on the year that stands for another."""
    right = condition.right if isinstance(condition, pl.Comparison) else None
    return isinstance(right, Literal) and str(right)[:4] in (_STAND_IN, _BEHIND)


def _dated(condition: pl.Condition) -> list[pl.Unknown]:
    """Return the unknown whose time a condition bounds."""
    side: pl.Expression | None = condition.left if isinstance(condition, pl.Comparison) else None
    while isinstance(side, pl.DatePart | pl.Number):
        side = side.value
    return [side] if isinstance(side, pl.Unknown) else []


def _same_part(part: pl.Part, one: pl.Unknown, other: pl.Unknown) -> pl.Comparison:
    return pl.Comparison(pl.DatePart(part, one), "=", pl.DatePart(part, other))


def _only_value(draft: Draft) -> pl.Unknown | None:
    if len(draft.shown) != 1:
        return None
    value = next(c.value for c in draft.plan.columns if c.name == draft.shown[0])
    value = value.value if isinstance(value, pl.DatePart | pl.Number) else value
    return value if isinstance(value, pl.Unknown) else None


def _taken(plan: pl.Plan) -> set[str]:
    return {u.name for u in mentioned(plan.where)} | {c.name for c in plan.columns}


def _apart(name: str, plan: pl.Plan) -> pl.Unknown:
    taken = _taken(plan)
    return next(pl.Unknown(n) for n in (name, *(f"{name}_{i}" for i in range(1, 99))) if n not in taken)


def _renamed(block: pl.Block, value: pl.Unknown, plan: pl.Plan) -> tuple[pl.Block, pl.Unknown]:
    """Return a block with names that a plan has not, and what one of its unknowns is called then."""
    taken = _taken(plan)
    by: dict[pl.Place, pl.Place] = {}
    for unknown in sorted(mentioned(block)):
        fresh = next(n for i in count(1) if (n := f"its_{unknown.name}_{i}") not in taken)
        by[unknown] = pl.Unknown(fresh)
    found = by[value]
    assert isinstance(found, pl.Unknown)
    return substituted(block, by), found


def _joined(draft: Draft, block: pl.Block, same: pl.Comparison | None, matches: tuple[float, ...]) -> Draft:
    more = pl.Block(conditions=(same,)) if same is not None else pl.Block()
    where = merged(draft.plan.where, block, more)
    return replace(draft, plan=replace(draft.plan, where=where), matches=(*draft.matches, *matches))


def _without(draft: Draft, place: pl.Place, thing: URIRef) -> Draft:
    """Return a draft that leaves out the thing that others are compared with, if that is one of them."""
    if not isinstance(place, pl.Unknown):
        return draft
    apart = pl.Block(conditions=(pl.Comparison(place, "!=", thing),))
    plan = replace(draft.plan, where=merged(draft.plan.where, apart))
    try:
        check(plan)
    except ConfigError:
        return draft
    return replace(draft, plan=plan)
