"""Follow-ups that put other names or values in the places of those of the last plan: "and in Texas?"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeGuard, cast

from rdflib import Literal, URIRef

from mrag.planning.building.literals import identifier, number_literal
from mrag.planning.building.parser import Parser
from mrag.planning.building.scoring import WEIGHTS, Reading
from mrag.planning.following.editing import rewritten, walk
from mrag.planning.following.merging import LastAnswer, Topic, freed
from mrag.planning.following.slots import Slot, SlotFitter, filled, in_period, is_year, slots_of
from mrag.planning.following.wordings import FollowText
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import Block, Column, Comparison, Condition, Order, Plan, Relation, Unknown
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import QuestionItem, segmentations
from mrag.planning.schema import Schema
from mrag.planning.scopes import merged
from mrag.rdf.terms import Term

_CLOSE = 0.05
"""How much less like the words a name may be than the likeliest, and still be what was meant."""
_MOST = 8
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
    parser: Parser, fitter: SlotFitter, question: QuestionText, last: LastAnswer
) -> list[Replacement]:
    """Return the plans in which what a follow-up names stands in the place of something of its kind.

    Args:
        parser: The parser of the graph.
        fitter: Tells what fits where.
        question: The follow-up, which must say nothing else.
        last: The plan to change.
    """
    items = _items(parser, question)
    if items is None:
        return []
    found = [Replacement(last.plan, last.shown, 1.0)]
    for item in items:
        found = [more for one in found for more in _placed(one, item, parser, fitter, question)][:_MOST]
    return [one for one in found if one.changes]


def _items(parser: Parser, question: QuestionText) -> Sequence[QuestionItem] | None:
    """Return the names, numbers and times of a follow-up; None if it says more than that."""
    matched = parser.lexicon.match([word.token for word in question.words])
    for way in segmentations(question, matched, parser.schema)[:1]:
        cues = [item.cue for item in way.items if item.cue is not None]
        named = [item for item in way.items if item.cue is None and not item.unread]
        plain = all(cue.kind in _CUES or (cue.kind, cue.value) == ("group", "by") for cue in cues)
        if named and plain and not way.ignored and not any(item.text for item in named):
            return named
    return None


def _placed(
    one: Replacement, item: QuestionItem, parser: Parser, fitter: SlotFitter, question: QuestionText
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
            *_called(filled(one.plan, [(slot, new)]), one.shown, slot, new[0], parser.schema),
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


def rebounded(parser: Parser, text: FollowText, last: LastAnswer) -> Plan | None:
    """Return the plan with another bound of the one number it compares: "more than 10?".

    Returns:
        None for other words.
    """
    (way,) = segmentations(text.question, [], parser.schema)[:1] or (None,)
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


def picked(parser: Parser, text: FollowText, last: LastAnswer, topic: Topic) -> tuple[Plan, Candidate] | None:
    """Return the plan for one of the things it found, or without it: "only Texas", "except Texas".

    Returns:
        The plan and that thing; None for other words.
    """
    question = text.question
    matched = parser.lexicon.match([word.token for word in question.words])
    for way in segmentations(question, matched, parser.schema)[:1]:
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
    """Return how likely a reading is whose names are so like the words, as the parser has it."""
    logit = WEIGHTS["bias"] + (WEIGHTS["mean match"] + WEIGHTS["worst match"]) * (score - 1)
    return 1 / (1 + math.exp(-logit))


def reading_of(plan: Plan, shown: Sequence[str], probability: float, note: str) -> Reading:
    """Return a plan that was not read from words alone as a reading."""
    return Reading(plan, tuple(shown), probability, (), {"joins": 0.0}, note)
