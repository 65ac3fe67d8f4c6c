"""Questions for what is one of two things: "which lamps cost less than 20 or have no stock".

Each description is read as a question of its own about the same things; what is asked for is of either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from mrag.language.tokens import VERBS
from mrag.planning.composing.drafts import Draft, whole
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import is_past
from mrag.planning.plan import Aggregate, Expression, Unknown
from mrag.planning.reading.cues import cues
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.state import is_superlative
from mrag.planning.schema import Schema
from mrag.planning.scopes import bound, common, less, merged

_RELATIVE: Final = frozenset("that which who whose".split())
_WITH: Final = frozenset("with without having".split())
_VERBS: Final = frozenset(
    "have has had is are was were do does did can cost costs weigh weighs lack lacks never".split()
)
_EITHER: Final = re.compile(r"(?i)\beither ")
_ASKING: Final = frozenset("who which what list show name find give tell how".split())
_PASSED: Final = 3
"""How many small words may stand between "both" and the first name."""
_JOINT: Final = frozenset("a an the in at on to from with for by also something anything".split())
"""Words that may stand between "and" and the second name."""
_PREPOSITIONS: Final = frozenset("in at from of on".split())
_UNTIL: Final = frozenset("per for each by sorted ordered".split())
_TIME: Final = (
    r"(?:(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:the )?(?:first|second|third|fourth) quarter(?: of)?|q[1-4]|spring|summer|autumn|winter)"
    r"(?:,? (?:of )?(?:1\d|20)\d\d)?|(?:1\d|20)\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
)
_BOTH: Final = re.compile(
    rf"(?i)^(?P<head>.+ )(?P<in>in|on|during) both (?P<one>{_TIME}) and "
    rf"(?:in |on |during )?(?P<other>{_TIME})(?P<tail>\b.*)$"
)


def either_said(question: QuestionText, mentions: Sequence[NameMention]) -> tuple[str, str] | None:
    """Return a question for what is of either of two descriptions as one for each; None for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("or")
    behind = at + 1
    if not at or behind >= len(low) or any(map(is_superlative, low)) or _UNTIL & {*low}:
        return None
    named = behind + (low[behind] in ("a", "an", "the", "by"))
    if not (_begins(low[behind]) or _compares(low, mentions, named)):
        return None
    if _values(m for m in mentions if m.start == behind):
        return None
    things = [m for m in mentions if m.candidates[0].kind == "class" and m.end < at]
    end = 1 if low[0] == "who" else min((m.end for m in things), default=at)
    begin = next((i for i in range(end, at) if _begins(low[i]) or low[i] in {*_PREPOSITIONS, "either"}), None)
    rest = low[behind + 2 : -2 if list(low[-2:]) == ["are", "there"] else None]
    clause = begin is not None and low[begin] in _RELATIVE
    if begin is None or low[0] in _VERBS or (clause and any(map(_verb, rest))):
        return None  # "lamps that are red or that are blue cost …" says more of both
    head, first, second = question.said(0, begin), question.said(begin, at), question.said(behind, len(low))
    if at - begin == 1 and is_past(low[begin]):
        first = f"{first} {question.said(behind + 1, len(low))}"  # "bought or reviewed the lamp"
    relative = low[begin] in _RELATIVE and low[behind] not in _RELATIVE | _WITH
    joint = low[begin] + " " if relative else ""
    return (f"{head} {_EITHER.sub('', first)}?", f"{head} {joint}{second}?")


def either_flag(
    question: QuestionText, mentions: Sequence[NameMention], schema: Schema
) -> tuple[str, str] | None:
    """Return a question for what one of two flags holds of as one for each: "open or insured shops".

    Args:
        question: The question.
        mentions: What its words may name.
        schema: The schema.
    """
    low, at = question.low, question.single("or")
    if not at or any(map(is_superlative, low)):
        return None

    def flag(mention: NameMention) -> bool:
        infos = (schema.properties.get(c.term) for c in mention.candidates if c.score > 0.8)
        return any(i is not None and i.flag for i in infos)

    others = [m for m in mentions if m.start == at + 1]
    firsts = [m for m in mentions if m.end == at]
    if not any(map(flag, others)) and not any(map(flag, firsts)):
        return None
    if not others or not firsts:
        return None
    # "Open or insured shops": the kind belongs to both, even where it is in the name of the second flag.
    first, other = max(firsts, key=lambda m: m.end - m.start), min(others, key=lambda m: m.end - m.start)
    head, tail = _EITHER.sub("", question.before(first.start)), question.behind(other.end - 1)
    return head + question.named(first) + tail, head + question.named(other) + tail


def both_times(text: str) -> tuple[str, str] | None:
    """Return a question for what happened at each of two times as one for each; None for others.

    Example:
        >>> both_times("Who won in both 2012 and 2016?")
        ('Who won in 2012?', 'Who won in 2016?')
    """
    match = _BOTH.match(text)
    if match is None:
        return None
    parts = (f"{match['head']}{match['in']} {match[time]}{match['tail']}" for time in ("one", "other"))
    return next(parts), next(parts)


def both_named(question: QuestionText, mentions: Sequence[NameMention]) -> list[tuple[str, str]]:
    """Return a question for what both of two names are said of as one for each, likeliest first.

    What stands behind the second name belongs to both or to it alone: "both a comedy and a horror film".

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("both")
    told = [m for m in mentions if m.candidates[0].kind in ("value", "entity")]
    firsts = [m for m in told if 0 <= m.start - at - 1 <= _PASSED]
    joint = next((i for i in range(at + 2, len(low)) if low[i] == "and"), 0)
    begin = next((i for i in range(joint + 1, len(low)) if low[i] not in _JOINT), 0)
    seconds = [m for m in told if begin <= m.start <= begin + 2 and "and" not in low[m.start : m.end]]
    things = [m for m in mentions if m.candidates[0].kind == "class" and m.end <= at]
    asked = low[0] == "who" or (bool(things) and (low[0] in _ASKING or any(not m.start for m in things)))
    if not at or not asked or not begin or not seconds or not any(m.end <= joint for m in firsts):
        return []
    if _VERBS & {low[at - 1]} or low[at - 1] in ("of", "for"):
        return []  # "the capacity of both A and B" is two numbers
    end = max(m.end for m in seconds)
    head, first = question.before(at), question.said(at + 1, joint)
    second, tail = question.said(begin, end), question.behind(end - 1)
    found = [(f"{head}{first}{tail}", f"{head}{second}{tail}")]
    if behind := tail.strip(" ?.!"):
        found.append((f"{head}{first}?", f"{head}{second} {behind}?"))
    return found


def _values(mentions: Iterable[NameMention]) -> bool:
    return any(m.candidates[0].kind in ("value", "entity") for m in mentions)


def _compares(low: Sequence[str], mentions: Iterable[NameMention], at: int) -> bool:
    """Return whether a property that is compared with something begins here: "earning over 2000"."""
    ends = {m.end for m in mentions if m.start == at and m.candidates[0].kind == "property"}
    return any(c.kind in ("compare", "between") and c.start in ends for c in cues(low))


def _begins(word: str) -> bool:
    """Return whether a description of things begins with a word."""
    return word in _RELATIVE | _WITH or _verb(word)


def _verb(word: str) -> bool:
    known = _VERBS | VERBS
    return word in known or word.removesuffix("s") in known or is_past(word)


def of_either(first: Draft, second: Draft) -> Draft | None:
    """Return the draft of what two drafts ask for, where it is of either; None if they ask for other things.

    Args:
        first: A draft that asks for things of one description.
        second: One that asks for the same things of another description.
    """
    one, other = first.plan, second.plan
    if one.yes_or_no or (one.columns, first.shown, one.order) != (other.columns, second.shown, other.order):
        return None
    if any(p.group_by or p.having or p.limit is not None for p in (one, other)):
        return None
    things = {u for column in one.columns for u in _things(column.value)}
    both = common(one.where, other.where)
    a, b = less(one.where, both), less(other.where, both)
    if a.empty or b.empty or not things or not all(things <= bound(merged(both, x)) for x in (a, b)):
        return None
    found = replace(one, where=replace(both, either=(*both.either, (a, b))))
    return whole(found, first, second, joins=max, guesses=max)


def _things(value: Expression) -> tuple[Unknown, ...]:
    """Return the things that a column shows or counts."""
    if isinstance(value, Aggregate):
        return value.of if value.function == "count" and value.value is None else ()
    return (value,) if isinstance(value, Unknown) else ()
