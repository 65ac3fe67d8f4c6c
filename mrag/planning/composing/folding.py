"""Folds over the numbers of groups: "the average number of rivers per state"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from mrag.planning.composing.drafts import Draft, guessed
from mrag.planning.plan import Aggregate, Block, Column, Fold, Number, Plan, Unknown
from mrag.planning.reading.cues import cues
from mrag.planning.reading.question import QuestionText
from mrag.planning.scopes import aggregates, without_ties

_ON_AVERAGE = re.compile(
    r"(?i)^\W*(?P<first>on average,? )?(?P<how>how many .+?) (?:(?P<does>do|does|did|have|has) (?:an? |the "
    r"|each )?"
    r"(?P<x>(?!not\b).+?)|(?P<in>(?:\w+ )?(?:in|at|for|on|per|from|by)) (?:an?|each|every|one) (?P<y>.+?))"
    r"(?P<last>,? on average)?\W*$"
)


def folded(draft: Draft, fold: Fold) -> Draft | None:
    """Return the plan that folds the numbers of groups: "the average number of rivers per state".

    Args:
        draft: The plan of the numbers, one for each group.
        fold: What is made of them.
    """
    numbers = [c for c in draft.plan.columns if c.name in draft.shown and aggregates(c.value)]
    groups = [c for c in draft.plan.columns if c.name in draft.shown and not aggregates(c.value)]
    if len(numbers) != 1 or not groups:
        return None
    single = without_ties(draft.plan if draft.plan.limit is not None else replace(draft.plan, order=()))
    number = numbers[0].name
    name = f"{fold}_{number}"
    value = Aggregate(fold, Number(Unknown(number)), tuple(Unknown(g.name) for g in groups))
    found = Plan(Block(plans=(single,)), (Column(value, name),))
    return replace(draft, plan=found, shown=(name,))


def without_fold(question: QuestionText) -> tuple[Fold, str, bool] | None:
    """Return what a question makes of numbers, the question for those, and whether they are sums.

    Example:
        >>> from mrag.planning.reading.question import cut
        >>> without_fold(cut("What is the average number of rivers per state?"))
        ('average', 'What is the number of rivers per state?', False)
    """
    if (each := _of_each(question.text)) is not None:
        return "average", each, True
    found = list(cues(question.low))
    for cue in found:
        computed = [c for c in found if c.start == cue.end and (c.kind == "count" or c.value == "sum")]
        if cue.kind == "fold" and cue.value in ("average", "maximum", "minimum") and computed:
            if any(
                c.kind == "count" and c.end <= cue.start and "and" in question.low[c.end : cue.start]
                for c in found
            ):
                return None  # "the number of boats and the average number of seats" are two numbers
            words = question.words
            start, end = words[cue.start].token.start, words[cue.end].token.start
            text = question.text[:start] + question.text[end:]
            return cast(Fold, cue.value), text, computed[0].value == "sum"
    return None


def _of_each(text: str) -> str | None:
    """Return the question for the number of each, where its average is asked for by "on average"."""
    match = _ON_AVERAGE.match(text)
    asked = (match["first"] or match["last"]) if match is not None else None
    if match is None or asked is None:
        return None
    joint, rest = (match["does"], match["x"]) if match["does"] else (match["in"], match["y"])
    return f"{match['how']} {joint} each {rest.strip(' ?.!')}?"


Costed = list[tuple[Draft, float]]


def either_fold(question: QuestionText, flat: Costed, whole: Costed, *, only: bool) -> Costed | None:
    """Return the drafts of a question that folds the numbers of groups; None if it may as well fold none.

    Args:
        question: The question.
        flat: Its drafts as it stands, with what each costs.
        whole: The drafts that fold numbers of groups.
        only: Whether no other reading will do.
    """
    if only:
        return whole
    counted = [cue for cue in cues(question.low) if cue.kind == "count"]
    if len(counted) == 1 and any(not draft.ignored and _counts_things(draft) for draft, _ in whole):
        # The average number of things is one of counts, though a number may be called like them.
        return [(guessed(draft, 2), cost) for draft, cost in flat] + whole
    return flat + whole if all(draft.ignored for draft, _ in flat) else None


def _counts_things(draft: Draft) -> bool:
    inner = draft.plan.where.plans
    folds = (c.value for p in inner for c in p.columns if isinstance(c.value, Aggregate))
    return any(fold.function == "count" and fold.value is None for fold in folds)
