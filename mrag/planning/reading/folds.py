"""Folds in lists, "the average, minimum and maximum salary", with bounds, and those that are none."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.planning.reading.cues import Cue
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import QuestionItem

_BEING = frozenset("is was are were".split())
_HAVING = frozenset("with have has had having whose".split())
_EXTREMES = {"greatest": "maximum", "least": "minimum"}


def _fold_of(item: QuestionItem, low: Sequence[str]) -> str:
    """Return the fold that a cue says, or may say beside another one; "" for none."""
    cue = item.cue
    if cue is None or cue.kind not in ("fold", "most"):
        return ""
    if cue.kind == "most":
        return _EXTREMES[cue.value] if low[cue.end - 1] not in ("of", "most", "least", "fewest") else ""
    return cue.value


def with_lists_of_folds(items: Sequence[QuestionItem], question: QuestionText) -> list[QuestionItem]:
    """Return items with folds that are listed as one: "the average, minimum and maximum salary"."""
    found: list[QuestionItem] = []
    low, at = question.low, 0
    while at < len(items):
        run, last, behind = [_fold_of(items[at], low)], at, at + 1
        while run[0] and behind < len(items):
            if fold := _fold_of(items[behind], low):
                between = range(items[last].end, items[behind].start + 1)
                if not any("," in question.words[i].before or low[i] == "and" for i in between):
                    break  # "the highest average rating"
                run.append(fold)
                last = behind
            elif low[items[behind].start] not in ("and", "the", "as", "well"):
                break
            behind += 1
        item = items[at]
        if len(run) > 1 and len(set(run)) == len(run):
            cue = Cue(item.start, items[last].end, "fold", " ".join(run))
            item, at = QuestionItem(cue.start, cue.end, cue=cue), last
        found.append(item)
        at += 1
    return found


def of_one(low: Sequence[str]) -> bool:
    """Return whether it is asked how much one thing is, which is no sum: "how much is a ticket"."""
    return list(low[:2]) == ["how", "much"] and {*low[2:3]} <= _BEING and {*low[3:4]} <= {"a", "an", "one"}


def reaches_bound(start: int, end: int, items: Sequence[QuestionItem], low: Sequence[str]) -> bool:
    """Return whether things are said to have a number that reaches a bound.

    Args:
        start: Where the words for the number begin.
        end: Where they end.
        items: The items of the question.
        low: Its words.
    """
    behind = [i for i in items if end <= i.start <= end + 4][:2]
    compared = any(i.cue is not None and i.cue.kind == "compare" for i in behind)
    compared = compared or any(i.quantity is not None for i in behind)
    return compared and bool(_HAVING & {*low[max(0, start - 4) : start]})
