"""Questions within questions: a thing that is described rather than named is found by a plan of its own.

In "How many rivers run through the largest state?" the words "the largest state" are a question. They are
read first; then the question around them is read as if they were a name, and the two plans are joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdflib import URIRef

from mrag.planning.composing.drafts import Draft, whole
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import BEING, positive
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
    parts,
)
from mrag.planning.reading.cues import Cue, cues
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.state import COMMON, PARTICIPLES, is_superlative
from mrag.planning.schema import Schema
from mrag.planning.scopes import (
    all_patterns,
    kept_apart,
    mentioned,
    merged,
    numbered,
    reached,
    renamed,
    substituted,
    with_unknowns,
    without_ties,
)

_RELATIVE = frozenset("that which who whose with having where".split())
_ARTICLES = frozenset("the a an any all".split())
_PLACING = frozenset("in of on at from within inside".split())
_NAMES_TOO = re.compile(
    r"\bnames? ?(?:,|and|as well as|together with|along with)\b(?:(?!\bof\b).)*\bof (?:all |the |all the )?"
    r"|\b(?:and|with) (?:the |their |its )?names? of (?:all |the |all the )?",
    re.IGNORECASE,
)
_TRIED = 6
"""Spans of a question that are read as questions of their own."""


@dataclass(frozen=True)
class Inner:
    """Words of a question that describe a thing.

    Attributes:
        start: Index of the first.
        end: Index behind the last.
        superlative: Whether they say which of several things by a superlative.
    """

    start: int
    end: int
    superlative: bool


def descriptions(question: QuestionText, mentions: Sequence[NameMention]) -> list[Inner]:
    """Return the words of a question that may describe a thing that the rest of it speaks of, the last first.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, found = question.low, list(cues(question.low))
    classes = sorted({m.start: m for m in mentions if _is_class(m)}.values(), key=lambda m: m.start)
    best = [c for c in found if _is_superlative(c, low)]
    best += [Cue(i, i + 1, "top") for i, w in enumerate(low) if is_superlative(w)]
    starts: dict[int, tuple[bool, set[int]]] = {}
    first = min((i for i, w in enumerate(question.words) if i and "." in w.before), default=len(low))
    said = question.words[-1].quote >= 0 or any(m.end > len(low) - 1 for m in mentions)
    last = len(low) if said else len(low) - 1
    for cue in best:
        qualified = cue.end + 1 if _qualifies("".join(low[cue.end : cue.end + 1])) else cue.end
        ends = {m.end for m in classes if m.start in (cue.end, qualified)}
        if ends and _superlative_behind(low, min(ends)):
            ends = {len(low)}  # "the largest city in the smallest state"
        if ends:
            starts[_before(low, cue.start)] = True, {len(low), last, first, *ends}
    for mention in classes:
        judged = any(0 <= mention.start - c.end <= 1 for c in best)
        arranged = any(c.start == mention.end and c.kind in ("order", "group", "direction") for c in found)
        if judged or arranged or mention.end >= len(low):
            continue
        if _goes_on(low[mention.end : mention.end + 2]):
            superlative = any(c.start >= mention.end for c in best)
            starts[_before(low, mention.start)] = superlative, {len(low), last, first}
    breaks = [i for i, w in enumerate(question.words) if i and set(w.before) & set(".?!;")]
    named = [m.start for m in mentions if m.candidates[0].kind in ("class", "property")]
    spans = [
        Inner(start, end, superlative)
        for start, (superlative, ends) in sorted(starts.items(), reverse=True)
        for end in sorted(ends, reverse=True)
        if any(at < start for at in named) and end > start + 1 and not any(start < b < end for b in breaks)
    ]
    return spans[:_TRIED]


def _qualifies(word: str) -> bool:
    """Return whether a word behind "most" belongs to it: "the most cited", "the most expensive"."""
    return word.endswith("ed") or word in PARTICIPLES or word in COMMON or positive(word) == word


def _superlative_behind(low: Sequence[str], end: int) -> bool:
    """Return whether a place is told by another superlative right behind a noun."""
    behind = low[end : end + 4]
    if not behind or behind[0] not in _PLACING:
        return False
    return any(is_superlative(w) or w in ("highest", "lowest", "most", "fewest") for w in behind[1:])


def _is_class(mention: NameMention) -> bool:
    return mention.candidates[0].kind == "class" and mention.candidates[0].score > 0.8


def _is_superlative(cue: Cue, low: Sequence[str]) -> bool:
    return cue.kind in ("most", "top") and low[cue.end - 1] not in ("maximum", "minimum", "max", "min")


def _before(low: Sequence[str], start: int) -> int:
    while start and low[start - 1] in _ARTICLES:
        start -= 1
    return start


def _goes_on(behind: Sequence[str]) -> bool:
    """Return whether the words behind a noun begin to say which things are meant."""
    participle = behind[0].endswith(("ed", "en")) or behind[0] in PARTICIPLES
    return behind[0] in _RELATIVE or behind[0].endswith("ing") or (participle and behind[1:] == ["by"])


def outer_text(question: QuestionText, inner: Inner, word: str) -> str:
    """Return a question with a word in the place of a description."""
    start, end = _span(question, inner)
    return f"{question.text[:start]}{word}{question.text[end:]}"


def inner_text(question: QuestionText, inner: Inner) -> str:
    """Return the words of a description."""
    start, end = _span(question, inner)
    return question.text[start:end]


def _span(question: QuestionText, inner: Inner) -> tuple[int, int]:
    """Return where a description begins and ends, with the marks of a quotation at its end."""
    first, last = question.words[inner.start], question.words[inner.end - 1]
    behind = question.words[inner.end : inner.end + 1]
    closes = last.quote >= 0 and not (behind and behind[0].quote == last.quote)
    return first.token.start, last.token.end + closes


def identity(question: QuestionText, mentions: Sequence[NameMention]) -> tuple[Candidate, str] | None:
    """Return the named thing and the description of which a question asks whether they are the same.

    In "Is Texas the largest state?" these are Texas and "the largest state".

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low = question.low
    if low[0] not in BEING:
        return None
    first = next((i for i, w in enumerate(low) if i and w not in _ARTICLES), len(low))
    found = [m for m in mentions if 1 <= m.start <= first < m.end]
    named = max(found, key=lambda m: m.end, default=None)
    if named is None or named.candidates[0].kind != "entity":
        return None
    if not any(is_superlative(w) or w in ("most", "least", "fewest") for w in low[named.end :]):
        return None
    behind = low[named.end : named.end + 3]
    start = named.end + 2 if tuple(behind[:2]) in (("one", "of"), ("among", "the")) else named.end
    if not any(m.start >= start for m in mentions):
        return None
    return named.candidates[0], inner_text(question, Inner(start, len(low), True))


def identical(thing: Candidate, inner: Draft) -> Draft | None:
    """Return the plan of whether a thing is among those that a description finds.

    Args:
        thing: The thing.
        inner: The plan of the description.
    """
    single = without_ties(inner.plan)
    name = inner.shown[0]
    if len(inner.shown) > 1 + (inner.plan.limit != 1):
        return None
    same = Comparison(Unknown(name), "=", URIRef(thing.term))
    found = Plan(Block(plans=(single,), conditions=(same,)))
    return whole(found, inner, shown=(), matches=(thing.score,))


def described(draft: Draft, schema: Schema) -> str | None:
    """Return the class of the things that a plan finds, if that is all that it shows."""
    value = draft.lone_value
    if not isinstance(value, Unknown):
        return None
    patterns = list(all_patterns(draft.plan.where))
    typed = [str(p.object) for p in patterns if p.subject == value and str(p.object) in schema.classes]
    return typed[0] if typed else None


def asks_names(text: str, thing: str, outer: Draft, schema: Schema) -> bool:
    """Return whether a question asks for the names of things, and a plan of it does not tell them.

    Args:
        text: The question.
        thing: The word that stands for the things.
        outer: The plan.
        schema: The schema.
    """
    found = _NAMES_TOO.search(text)
    if found is None or not text[found.end() :].startswith(thing):
        return False
    values = set(outer.values)
    values |= {v.value for v in values if isinstance(v, Number)}
    told = (schema.properties.get(str(p.predicate)) for p in outer.plan.where.patterns if p.object in values)
    return not any("name" in n.lower().split() for info in told if info is not None for n in info.names)


def joined(outer: Draft, inner: Draft, thing: URIRef, named: bool = False) -> Draft | None:
    """Return the plan of a question with what was described in the place of a name.

    Args:
        outer: The plan of the question, in which the name stands.
        inner: The plan of the description.
        thing: The name.
        named: Whether the names of what was described are asked for, too.
    """
    plan = outer.plan
    taken = {u.name for u in _unknowns(plan)} | {c.name for c in plan.columns}
    own = {u.name for u in _unknowns(inner.plan)} | {c.name for c in inner.plan.columns}
    fresh, value = numbered("described", taken | own), inner.lone_value
    assert isinstance(value, Unknown)
    name = value.name if value.name not in taken else next(fresh)
    found = _of_each(with_unknowns(plan, {thing: Unknown(name)}), Unknown(name))
    single = without_ties(inner.plan)
    if single.limit is None and not single.grouped and not single.where.plans:
        by = kept_apart(single.where, taken, fresh, {value: Unknown(name)})
        found = replace(found, where=_within(found.where, substituted(single.where, by), Unknown(name)))
    else:
        names = {c.name: name if c.name == inner.shown[0] else next(fresh) for c in single.columns}
        found = replace(found, where=merged(found.where, Block(plans=(renamed(single, names),))))
    if str(thing) in repr(found):
        return None  # it is compared with a value of its own, which no unknown can stand for
    shown = outer.shown
    if named and shown and name not in shown and not found.grouped:
        shown = (name, *shown)
        found = replace(found, columns=(Column(Unknown(name), name), *found.columns))
    return whole(found, outer, inner, shown=shown)


def _within(outer: Block, inner: Block, thing: Unknown) -> Block:
    """Return a block with what describes a thing, in what must not hold if the thing is only there."""
    if thing in reached(outer) or not any(thing in mentioned(block) for block in outer.without):
        return merged(outer, inner)
    without = tuple(merged(b, inner) if thing in mentioned(b) else b for b in outer.without)
    return replace(outer, without=without)


def _of_each(plan: Plan, thing: Unknown) -> Plan:
    """Return a plan whose folds of a value of a thing fold the value of each such thing."""
    owned = {p.object for p in plan.where.patterns if p.subject == thing}

    def each(value: Expression) -> Expression:
        match value:
            case Aggregate(_, inner, of) if inner is not None and owned & {*parts(inner)} and thing not in of:
                return replace(value, of=(*of, thing))
            case Arithmetic(left, operation, right):
                return Arithmetic(each(left), operation, each(right))
            case _:
                return value

    return replace(plan, columns=tuple(Column(each(c.value), c.name) for c in plan.columns))


def _unknowns(plan: Plan) -> set[Unknown]:
    found = {u for p in all_patterns(plan.where) for u in p.places if isinstance(u, Unknown)}
    for column in plan.columns:
        if isinstance(column.value, Aggregate):
            found |= reached(column.value.where)
    return found | {Unknown(c.name) for p in plan.where.plans for c in p.columns}
