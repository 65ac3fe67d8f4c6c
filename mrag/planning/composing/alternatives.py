"""Questions for whether one of two things holds: "does the hall have a bar or a stage".

Each is read as a question of its own; the answer is yes if one of them holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from mrag.planning.building.choices import Draft
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.plan import Block, Plan
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.state import is_superlative

_ASKING: Final = frozenset("is are was were do does did has have had can could will would".split())

_SKIPPED: Final = frozenset("a an the in at on by from of for to with".split())
_COMPARING: Final = frozenset("more less fewer than not no never neither nor".split())


def alternatives(question: QuestionText, mentions: Sequence[NameMention]) -> tuple[str, str] | None:
    """Return a question for whether one of two named things holds as two questions; None for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low = question.low
    at = low.index("or") if low.count("or") == 1 else 0
    if not at or low[0] not in _ASKING or _COMPARING & {*low} or any(map(is_superlative, low)):
        return None
    start = at + 1
    while start < len(low) and low[start] in _SKIPPED:
        start += 1
    one = _longest(m for m in mentions if m.end == at)
    other = _longest(m for m in mentions if m.start == start)
    if one is None or other is None:
        return None
    words, text = question.words, question.text
    # The second may repeat the word before the first: "in Bonn or in Ulm".
    begin = one.start - (start - at - 1)
    begin = begin if begin > 0 and low[begin : one.start] == low[at + 1 : start] else one.start
    head, tail = text[: words[begin].token.start], text[words[other.end - 1].token.end :]
    named = text[words[begin].token.start : words[one.end - 1].token.end]
    return head + named + tail, head + text[words[at + 1].token.start : words[other.end - 1].token.end] + tail


def _longest(mentions: Iterable[NameMention]) -> NameMention | None:
    return max(mentions, key=lambda m: m.end - m.start, default=None)


def either(one: Draft, other: Draft) -> Draft | None:
    """Return the draft for whether one of two drafts holds; None if they do not ask for yes or no."""
    for plan in (one.plan, other.plan):
        if not plan.yes_or_no or plan.grouped or plan.where.plans or plan.where.optional:
            return None
    return replace(
        one,
        plan=Plan(Block(either=((one.plan.where, other.plan.where),))),
        matches=(*one.matches, *other.matches),
        joins=max(one.joins, other.joins),
        guesses=max(one.guesses, other.guesses),
        ignored=(*one.ignored, *other.ignored),
        choices={},
        ties=(),
    )
