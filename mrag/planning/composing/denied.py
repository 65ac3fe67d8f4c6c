"""Questions that deny a whole description: "which customers have never booked a boat in May".

The description is read as if it were not denied, "which customers have booked a boat in May"; what the words
before it ask for is left without the things of which it holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdflib import RDF

from mrag.language.grammar import plural
from mrag.planning.composing.drafts import Draft, also_holding, whole
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import AUXILIARIES
from mrag.planning.plan import Aggregate, Block, Place, Plan, Unknown
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import QuestionItem, Segmentation, meaningful
from mrag.planning.schema import Schema, most_of
from mrag.planning.scopes import all_patterns, kept_apart, mentioned, names_of, numbered, substituted

_BETWEEN = AUXILIARIES | frozenset("having that who which with been there be ever yet".split())
"""Words between things and what is denied of them."""
_NOT = re.compile(
    r"(?i)^(?P<verb>(?:do|does|did|is|are|was|were|have|has|had)?)\s*"
    r"(?P<not>not|n['’]t|never|no|without(?: any| an?)?)(?: any)?(?: yet| ever)?$"
)
_SHORT = {"don't": "do", "doesn't": "does", "didn't": "did", "isn't": "is", "aren't": "are", "wasn't": "was",
          "weren't": "were", "haven't": "have", "hasn't": "has"}  # fmt: skip


@dataclass(frozen=True)
class Denial:
    """A question that denies a description.

    Attributes:
        base: What the words before the denial ask for; "" for whomever the description is of.
        affirmed: The question without the denial.
    """

    base: str
    affirmed: str


def denied(question: QuestionText, way: Segmentation, schema: Schema) -> Denial | None:
    """Return a question that denies more than one thing at once, as two that deny nothing; None for others.

    Args:
        question: The question.
        way: How it is cut best.
        schema: The schema.
    """
    nots = [i for i in way.items if i.cue_kind == "not"]
    if len(nots) != 1 or not nots[0].start:
        return None
    at, low = nots[0], question.low
    behind = [i for i in way.items if i.start >= at.end]
    who = low[0] == "who" and set(low[1 : at.start]) <= _BETWEEN
    named = who or any(i.named_kind == "class" for i in way.items if i.end <= at.start)
    if (_simple(behind, schema) and not who) or _goes_on(low, at.end) or not named:
        return None
    relative = {"that", "who", "which"} & {*low[max(0, at.start - 2) : at.start]}
    if relative and AUXILIARIES & {*low[at.end :]}:
        return None  # "boats that have no engine are …" denies only the first
    start = at.start
    while start and low[start - 1] in _BETWEEN:
        start -= 1
    if not who and not any(meaningful(w) for w in question.words[:start]):
        return None
    stated = _stated(question.said(at.start, at.end))
    if stated is None:
        return None
    base = "" if who else question.until(start) + _ending(low)
    return Denial(base, f"{question.before(at.start)}{stated} {question.onward(at.end)}")


def but_not(question: QuestionText, mentions: Sequence[NameMention]) -> Denial | None:
    """Return a question for what is of one name "but not" of another as one for each; None for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("but")
    behind = at + 1
    if not at or low[behind : behind + 1] not in (["no"], ["not"]):
        return None
    while behind + 1 < len(low) and low[behind] in ("no", "not", "any", "a", "an", "the"):
        behind += 1
    kinds = ("entity", "value")
    first = [m for m in mentions if m.end == at and m.candidates[0].kind in kinds]
    second = [m for m in mentions if m.start == behind and m.candidates[0].kind in kinds]
    if not first or not second:
        return None
    start = min(m.start for m in first)
    return Denial(f"{question.until(at)}?", question.before(start) + question.onward(behind))


def _stated(said: str) -> str | None:
    """Return what the words of a denial say without it: "have" of "have never", "with" of "without"."""
    if said.lower() in _SHORT:
        return _SHORT[said.lower()]
    match = _NOT.match(said)
    if match is None:
        return None
    return "with" if match["not"].lower().startswith("without") else match["verb"]


def _ending(low: Sequence[str]) -> str:
    """Return what makes a count of things a whole question again."""
    return " are there?" if list(low[:2]) == ["how", "many"] else "?"


def _simple(behind: Sequence[QuestionItem], schema: Schema) -> bool:
    """Return whether only one thing is denied, which is read without composing."""
    told = [
        i for i in behind if i.mention is not None or i.quantity is not None or i.period is not None or i.text
    ]
    names = [i for i in told if i.mention is None or i.mention.candidates[0].kind in ("entity", "value")]
    properties = (
        schema.properties.get(i.mention.candidates[0].term) for i in told[:-1] if i.mention is not None
    )
    return len(told) < 2 or not (names or any(p is not None and p.flag for p in properties))


def _goes_on(low: Sequence[str], end: int) -> bool:
    """Return whether something else is said behind what is denied: "… and are longer than 10"."""
    return any(
        w in ("and", "but", "or") and (low[i + 1] in AUXILIARIES or low[i + 1].endswith("ed"))
        for i, w in enumerate(low[:-1])
        if i >= end
    )


def anybody(affirmed: Draft, schema: Schema) -> str | None:
    """Return the question for all of the class that a description is of; None where that is not known."""
    thing = _focus(affirmed.plan)
    if thing is None:
        return None
    kinds = {str(k) for k in _kinds(affirmed.plan, thing)}
    for p in affirmed.plan.where.patterns if not kinds else ():
        info = schema.properties.get(str(p.predicate))
        if info is not None and thing in (p.subject, p.object):
            ends = info.ranges if p.object == thing else info.domains
            kinds |= {most_of(ends)} - {""}
    known = [schema.classes[k] for k in sorted(kinds) if k in schema.classes]
    return f"Which {plural(known[0].names[0])} are there?" if len(known) == 1 else None


def without(base: Draft, affirmed: Draft) -> Draft | None:
    """Return the plan of what is asked for without the things of which a description holds.

    Args:
        base: What is asked for.
        affirmed: What is asked for, of which the description holds.
    """
    block = _said_beside(base, affirmed, shared=True)
    if block is None:
        return None
    where = base.plan.where
    # What is not one or the other is neither.
    denied_ = block.either[0] if not block.patterns and len(block.either) == 1 else (block,)
    found = replace(base.plan, where=replace(where, without=(*where.without, *denied_)))
    return whole(found, base, affirmed, joins=max)


def beside(base: Draft, other: Draft) -> Draft | None:
    """Return the plan of what is asked for, of which a second description holds as well, in a way of its own.

    Args:
        base: What is asked for.
        other: The same, of which the second description holds.
    """
    block = _said_beside(base, other, shared=False)
    return None if block is None else also_holding(base, block, other, joins=max)


def _said_beside(base: Draft, affirmed: Draft, *, shared: bool) -> Block | None:
    """Return what a draft says of the things that another asks for.

    Args:
        base: The draft that asks for the things.
        affirmed: The draft that says more of them; its unknowns get names of their own.
        shared: Whether a value that both speak of is the same one.
    """
    plan, other = base.plan, affirmed.plan
    thing, same = _focus(plan), _focus(other)
    computed = other.having or other.limit is not None or other.where.plans or other.group_by
    unlike = (
        bool(_kinds(other, same)) and _kinds(plan, thing) != _kinds(other, same) if thing and same else True
    )
    if thing is None or same is None or computed or unlike:
        return None
    taken = names_of(plan)
    fresh = numbered("other", taken | {u.name for u in mentioned(other.where)})
    by = kept_apart(other.where, taken, fresh, {same: thing})
    said = {(p.subject, p.predicate): p.object for p in plan.where.patterns}
    for p in other.where.patterns if shared else ():
        if p.subject == same and isinstance(known := said.get((thing, p.predicate)), Unknown):
            by[p.object] = known
    block = substituted(other.where, by)
    # What is said of the things before holds of all of them.
    block = replace(
        block,
        patterns=tuple(
            p for p in block.patterns
            if p not in plan.where.patterns and (p.subject, p.predicate) != (thing, RDF.type)
        ),
        conditions=tuple(c for c in block.conditions if c not in plan.where.conditions),
        either=tuple(e for e in block.either if e not in plan.where.either),
    )  # fmt: skip
    return block if block.patterns or (shared and block.either) else None


def _focus(plan: Plan) -> Unknown | None:
    """Return the things that a plan shows or counts, if it shows or counts nothing else."""
    value = plan.columns[0].value if len(plan.columns) == 1 else None
    if isinstance(value, Aggregate):
        plain = value.function == "count" and value.value is None and len(value.of) == 1 and value.where.empty
        return value.of[0] if plain else None
    return value if isinstance(value, Unknown) and plan.limit is None else None


def _kinds(plan: Plan, thing: Unknown) -> set[Place]:
    return {p.object for p in all_patterns(plan.where) if (p.subject, p.predicate) == (thing, RDF.type)}
