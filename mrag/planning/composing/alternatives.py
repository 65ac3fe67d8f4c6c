"""Questions for whether one of two things holds: "does the hall have a bar or a stage".

Each is read as a question of its own; the answer is yes if one of them holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from mrag.planning.composing.drafts import Draft, whole
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.plan import Block, Plan
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.state import is_superlative

_ASKING: Final = frozenset("is are was were do does did has have had can could will would".split())
_SKIPPED: Final = frozenset("a an the in at on by from of for to with".split())
_COMPARING: Final = frozenset("more less fewer than not no never neither nor".split())


def alternatives(question: QuestionText, mentions: Sequence[NameMention]) -> list[str]:
    """Return a question for whether one of some named things holds as one for each; none for others.

    Args:
        question: The question.
        mentions: What its words may name.
    """
    low, at = question.low, question.single("or")
    if not at or low[0] not in _ASKING or _COMPARING & {*low} or any(map(is_superlative, low)):
        return []
    start = at + 1
    while start < len(low) and low[start] in _SKIPPED:
        start += 1
    last = _longest(m for m in mentions if m.start == start)
    first = _longest(m for m in mentions if m.end == at)
    if first is None or last is None:
        return []
    repeated = low[at + 1 : start]  # "in Bonn or in Ulm"
    parts = [(at + 1, last.end), (_begin(low, first.start, repeated), at)]
    while "," in question.words[parts[-1][0]].before:
        end = parts[-1][0]
        before = _longest(m for m in mentions if m.end == end)
        if before is None:
            return []
        parts.append((_begin(low, before.start, repeated), end))
    head, tail = question.before(parts[-1][0]), question.behind(last.end - 1)
    return [f"{head}{question.said(begin, end)}{tail}" for begin, end in reversed(parts)]


def _begin(low: Sequence[str], start: int, repeated: Sequence[str]) -> int:
    """Return where a name begins, with the words before it that are said again before the last."""
    begin = start - len(repeated)
    return begin if begin > 0 and low[begin:start] == list(repeated) else start


def _longest(mentions: Iterable[NameMention]) -> NameMention | None:
    return max(mentions, key=lambda m: m.end - m.start, default=None)


def either(drafts: Sequence[Draft]) -> Draft | None:
    """Return the draft for whether one of some drafts holds; None if they do not ask for yes or no."""
    plans = [draft.plan for draft in drafts]
    if any(not p.yes_or_no or p.grouped or p.where.plans or p.where.optional for p in plans):
        return None
    found = Plan(Block(either=(tuple(plan.where for plan in plans),)))
    return whole(found, *drafts, joins=max, guesses=max)
