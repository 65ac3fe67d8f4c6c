"""Several folds of one thing in a list: "the average, minimum and maximum salary"."""

from __future__ import annotations

from collections.abc import Sequence

from mrag.planning.reading.cues import Cue
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import QuestionItem

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
