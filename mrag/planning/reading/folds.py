"""Folds in lists, "the average, minimum and maximum salary", with bounds, and those that are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mrag.planning.lexical.english import BEING, DIMENSIONS, positive
from mrag.planning.plan import Fold
from mrag.planning.reading.cues import Cue
from mrag.planning.reading.frame import Compared, FrameMeasure, Noun, Ordering, Superlative
from mrag.planning.reading.quantities import QuantityReader
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import QuestionItem
from mrag.planning.reading.state import may_be_class, numeric

_HAVING = frozenset("with have has had having whose".split())
_WHERE = frozenset("where which".split())
_BEHIND = frozenset("average averages mean total totals sum sums maximum minimum".split())
_OF = frozenset("of the a an their its".split())
_COUNTING = frozenset("of most least fewest".split())
_EXTREMES = {"greatest": "maximum", "least": "minimum"}


def _fold_of(item: QuestionItem, low: Sequence[str]) -> str:
    """Return the fold that a cue says, or may say beside another one; "" for none."""
    cue = item.cue
    if cue is None or cue.kind not in ("fold", "most"):
        return ""
    if cue.kind == "most":
        return _EXTREMES[cue.value] if low[cue.end - 1] not in _COUNTING else ""
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
    return list(low[:2]) == ["how", "much"] and {*low[2:3]} <= BEING and {*low[3:4]} <= {"a", "an", "one"}


def reaches_bound(start: int, end: int, items: Sequence[QuestionItem], low: Sequence[str]) -> bool:
    """Return whether things are said to have a number that reaches a bound.

    Args:
        start: Where the words for the number begin.
        end: Where they end.
        items: The items of the question.
        low: Its words.
    """
    behind = [i for i in items if end <= i.start <= end + 4][:2]
    compared = any(i.cue_kind == "compare" for i in behind)
    compared = compared or any(i.quantity is not None for i in behind)
    having = bool(_HAVING & {*low[max(0, start - 4) : start]})
    # "Where the average price is above 4", of a place that is asked for.
    return compared and (having or bool(_WHERE & {*low[max(1, start - 6) : start]}))


def folds_last(cue: Cue, last_at: int, items: Sequence[QuestionItem], question: QuestionText) -> bool:
    """Return whether a fold is of the number right before it: "the salary average of the chemists".

    Args:
        cue: The fold.
        last_at: Where the last noun ends.
        items: The items of the question.
        question: The question.
    """
    if cue.start != last_at or question.words[cue.start].before or question.low[cue.start] not in _BEHIND:
        return False
    behind = next((i for i in items if i.start >= cue.end), None)
    return (
        question.low[cue.end - 1] == "of"
        or behind is None
        or behind.mention is None
        or behind.start > cue.end
    )


@dataclass
class FoldReader(QuantityReader):
    """What folds are of that stand before or behind their numbers."""

    def _fold(self, cue: Cue) -> None:
        """Let a fold wait for its number, unless it is of what stands before it."""
        said = bool(self.frame.measures) and self.question.low[cue.start] in ("in", "altogether")
        if said or self._fold_behind(cue):
            return  # "how much did we charge in total" is summed already
        *self.waiting.folds, self.waiting.fold = cast(list[Fold], cue.value.split())

    def _fold_behind(self, cue: Cue) -> bool:
        """Fold the number that is asked for right before a fold: "the salary average of the chemists"."""
        frame, last = self.frame, self.last
        if last is None or not frame.outputs or not folds_last(cue, self.last_at, self.items, self.question):
            return False
        if frame.outputs[-1] is not last or not numeric(last):
            return False
        frame.outputs[-1], last.role = FrameMeasure(cast(Fold, cue.value), last), "measure"
        return True

    def _extreme_of_each(self, cue: Cue) -> Fold | None:
        """Return the fold of an extreme that is listed behind a number of each: "and the highest fare".

        Alone, the highest fare may be asked for to find what has it.
        """
        low, before = self.question.low, cue.start
        while before and low[before - 1] == "the":
            before -= 1
        joined = low[before - 1 : before] == ["and"] or "," in self.question.words[before].before
        each = any(i.cue is not None and (i.cue_kind, i.cue.value) == ("group", "each") for i in self.items)
        behind = self._mention_at(cue.end)
        if not (joined and each and self.frame.measures) or behind is None or low[cue.end - 1] in _COUNTING:
            return None
        info = self.schema.properties.get(behind.candidates[0].term)
        number = info is not None and info.kind in ("number", "date")
        return cast(Fold, _EXTREMES[cue.value]) if number else None

    def _last_fold(self) -> None:
        """Find out what a fold is of that still waits for a number."""
        waiting = self.waiting
        self._on_average()
        if waiting.compare is not None and waiting.fold == "average":
            self._level(FrameMeasure("average"))
        top = self.frame.superlative
        if waiting.fold not in (None, "sum") and (top is None or not top.fold):
            self.frame.unsupported = True

    def _on_average(self) -> None:
        """Take an average that is said behind a superlative or a bound: "earn more than 500 on average"."""
        top, bound = self.frame.superlative, self.frame.compared[-1] if self.frame.compared else None
        if self.waiting.fold != "average":
            return
        if top is not None and top.adjective:
            top.fold = "average"
        elif bound is not None and bound.fold is None and isinstance(bound.value, float | int):
            noun = next((n for n in (bound.right, bound.left) if n is not None and numeric(n)), None)
            if noun is not None:
                bound.fold, self.waiting.fold = "average", None

    def _done_by_things(self) -> None:
        """Ask for the number of a verb behind its subject: "what did repairs cost", not for the repairs."""
        frame, low = self.frame, self.question.low
        first = frame.outputs[0] if len(frame.outputs) == 1 else None
        subject = first.noun if isinstance(first, FrameMeasure) else first
        much = low[:2] == ["how", "much"]
        if (
            not isinstance(subject, Noun)
            or not (much or low[0] == "what")
            or not {"did", "do", "does"} & {*low[1:3]}
        ):
            return
        verb = frame.nouns[-1]
        close = [c.term for c in verb.candidates if c.score > verb.candidates[0].score - 0.05]
        infos = [i for t in close if (i := self.schema.properties.get(t)) is not None]
        number = any(i.kind == "number" for i in infos)
        if verb is subject or verb.role or not number or low[verb.start - 1] in _OF:
            return
        if may_be_class(subject.candidates) and frame.superlative is None and not frame.groups:
            fold = self.waiting.fold or ("sum" if much else None)
            frame.outputs = [FrameMeasure(fold, verb) if fold else verb]
            verb.role, subject.role, self.waiting.fold = "measure" if fold else "output", "", None

    def _bounded(self, noun: Noun) -> bool:
        """Return whether a fold of a number is said to reach a bound: "have an average rating above 4"."""
        alone = self.waiting.fold is not None and not (self.waiting.count or self.waiting.folds)
        folded = alone and bool(self.frame.outputs) and numeric(noun)
        return folded and reaches_bound(noun.start, noun.end, self.items, self.question.low)

    def _number_behind(self, noun: Noun) -> bool:
        """Return whether a number of the things of a class is named behind their noun."""
        if noun.candidates[0].kind != "class":
            return False
        behind = [
            i.mention for i in self.items if i.mention is not None and noun.end <= i.start <= noun.end + 2
        ]
        terms = {c.term for m in behind[:1] for c in m.candidates if c.kind == "property"}
        infos = [i for t in terms if (i := self.schema.properties.get(t)) is not None]
        return any(i.kind == "number" and noun.candidates[0].term in i.domains for i in infos)

    def _level(self, measure: FrameMeasure) -> None:
        """Compare with a fold over all things: "more than the average", "above average weight"."""
        waiting = self.waiting
        assert waiting.compare is not None
        before = [n for n in self.frame.nouns if n is not measure.noun and numeric(n) and not n.role]
        left = before[-1] if before else measure.noun
        if left is not None and not waiting.adjective:
            left.role, measure.noun = "compared", measure.noun or left
        else:
            left = None
        at = max((i.start for i in self.items if i.cue_kind == "compare"), default=0)
        found = Compared(waiting.compare, measure, left=left, adjective=waiting.adjective, at=at)
        waiting.fold = None
        self._compared(found)

    def _ordered_first(self, noun: Noun, top: Superlative) -> bool:
        """Read an extreme property with a "first" at the end as an order: "highest salary first"."""
        low, info = self.question.low, self.schema.properties.get(noun.candidates[0].term)
        if low[noun.end :] != ["first"] or info is None or info.kind not in ("number", "date"):
            return False
        plain = positive(top.adjective)
        descending = (DIMENSIONS[plain][0] if plain else top.direction) == "greatest"
        self.frame.orders.append(Ordering(FrameMeasure(None, noun), descending))
        self.frame.superlative, self.waiting.most, noun.role = None, "", "order"
        self.frame.read.add(noun.end)
        self.skipped.add(noun.end)
        return True
