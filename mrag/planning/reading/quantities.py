"""What numbers, times and quotations do in a question."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.planning.lexical.candidates import Candidate
from mrag.planning.plan import NEGATED
from mrag.planning.reading.frame import TIMES, Compared, Noun, Superlative, TextCondition
from mrag.planning.reading.numbers import unit_of
from mrag.planning.reading.periods import Period
from mrag.planning.reading.question import Quantity
from mrag.planning.reading.segmentation import QuestionItem
from mrag.planning.reading.state import ReaderState, is_superlative

_POSITIONS = frozenset("position place rank order sequence".split())
"""Words of numbers that tell one record of a thing from the others."""


@dataclass
class QuantityReader(ReaderState):
    """What numbers, times and quotations do in a question."""

    def _quantity(self, quantity: Quantity, number: int) -> None:
        waiting, frame = self.waiting, self.frame
        if quantity.start in self.skipped:
            return
        left = self.last if self._adjacent(quantity.start, 5) else None
        if (
            waiting.top is not None
            and waiting.top.n is None
            and not quantity.ordinal
            and waiting.compare is None
        ):
            waiting.top.n = int(quantity.value)
            return
        if waiting.between:
            if waiting.lower is None:
                waiting.lower = quantity.value
            elif isinstance(waiting.lower, Period):
                frame.unsupported = True  # from a day to a number
            else:
                lower = waiting.lower
                found = Compared(">=", lower, quantity.value, left=left or self.last, at=quantity.start)
                found.unit = self._unit(quantity)
                waiting.between, waiting.lower = False, None
                self._compared(found)
            return
        if waiting.text is not None:
            self._text(self.question.written(quantity.start), QuestionItem(quantity.start, quantity.end))
            return
        if waiting.compare is not None:
            found = Compared(
                waiting.compare, quantity.value, left=left, adjective=waiting.adjective, fold=None
            )
            found.at = quantity.start
            found.unit = self._unit(quantity)
            self._compared(found)
            return
        following = self.items[number + 1] if number + 1 < len(self.items) else None
        between = self.question.low[self.bare.end : quantity.start] if self.bare is not None else []
        if quantity.ordinal and self.bare is not None and between in (["to"], ["through"], ["until"]):
            self.rows = max(1, int(quantity.value - self.bare.value) + 1)  # "the third to fifth longest"
            return
        if quantity.ordinal or (following is not None and following.cue_kind == "most"):
            self.bare = quantity
            return
        if following is not None and following.unread and is_superlative(self.question.low[following.start]):
            self.bare = quantity
            return
        if waiting.show and not frame.outputs:
            frame.superlative = frame.superlative or Superlative("greatest")
            frame.superlative.n = int(quantity.value)
            waiting.top = frame.superlative
            return
        if self._so_many(quantity, number):
            self.bare = quantity
            return
        self._compared(Compared("=", quantity.value, left=left, at=quantity.start))

    def _so_many(self, quantity: Quantity, number: int) -> bool:
        """Return whether a number says how many are extreme: "the three boats with the most nights"."""
        following = self.items[number + 1 : number + 2]
        things = bool(following) and following[0].mention is not None and following[0].start == quantity.end
        if not things or self.question.low[quantity.start - 1] not in ("the", "those", "these"):
            return False
        behind = [i.cue.kind for i in self.items[number + 2 :] if i.cue is not None]
        return "most" in behind and self.frame.superlative is None

    def _so_many_things(self, opened: Compared, noun: Noun) -> bool:
        """Return whether a number says how many things belong to a value: "grades with at least 4 pupils"."""
        before = self.question.low[opened.left.end if opened.left is not None else 0 : noun.start]
        things = noun.candidates[0].kind == "class" and self.question.words[noun.end - 1].plural
        return things and before[:1] in (["with"], ["have"], ["has"], ["having"], ["had"])

    def _at_position(self, noun: Noun) -> None:
        """Take an ordinal before a relation for the position that its records have: "the first author"."""
        bare, info = self.bare, self.schema.properties.get(noun.candidates[0].term)
        if bare is None or not bare.ordinal or bare.end != noun.start:
            return
        if info is None or info.kind != "entity":
            return
        numbered = [
            i
            for i in self.schema.properties.values()
            if i.kind == "number" and i.minimum == "1" and {*i.domains} & {*info.domains}
            and _POSITIONS & {*i.names[0].lower().split()}
        ]  # fmt: skip
        if len(numbered) == 1:
            found = Candidate("property", numbered[0].iri, 0.9, numbered[0].names[0], "synonym")
            position = Noun(bare.start, bare.end, (found,), "compared", implied=True)
            self.frame.nouns.append(position)
            self.frame.compared.append(Compared("=", bare.value, left=position, at=bare.start))
            self.bare = None

    def _unit(self, quantity: Quantity) -> str:
        """Return the unit behind a number."""
        behind = self.question.low[quantity.end : quantity.end + 1]
        unit = TIMES if behind in (["time"], ["times"]) else unit_of(behind)
        if unit:
            self.frame.read.add(quantity.end)
        return unit

    def _compared(self, found: Compared) -> None:
        waiting = self.waiting
        previous = self.frame.compared[-1] if self.frame.compared else None
        same = previous is not None and type(found.value) is type(previous.value)
        if (
            previous is not None
            and self.or_at > previous.at
            and (found.relation == "=" or (same and found.upper is None and previous.upper is None))
            and (found.left in (None, previous.left) or self._or_time(previous, found))
        ):
            found.left = previous.left
            found.either = previous.left is not None or isinstance(found.value, Period)
        if waiting.negated:
            found.relation, found.negated, waiting.negated = NEGATED[found.relation], True, False
        waiting.compare, waiting.adjective = None, ""
        if found.left is not None and waiting.fold is not None:
            found.fold, waiting.fold = waiting.fold, None
        self.frame.compared.append(found)
        self.open = found
        self.listing = False

    @staticmethod
    def _or_time(previous: Compared, found: Compared) -> bool:
        """Return whether a time is named right behind another: "in July or August"."""
        both = isinstance(previous.value, Period) and isinstance(found.value, Period)
        return both and previous.left is None and found.at - previous.at <= 4

    def _period(self, period: Period) -> None:
        waiting = self.waiting
        left = self.last if self._adjacent(period.start, 3) else None
        low = self.question.low
        before = low[period.start - 1] if period.start else ""
        if self.frame.compared and before in ("to", "until", "through") and self.or_at < period.start - 2:
            previous = self.frame.compared[-1]
            if (
                isinstance(previous.value, Period)
                and previous.upper is None
                and previous.relation in ("=", ">=")
            ):
                previous.relation, previous.upper = ">=", period
                return
        if waiting.between:
            if waiting.lower is None:
                waiting.lower = period
            elif not isinstance(waiting.lower, Period):
                self.frame.unsupported = True  # from a number to a day
            else:
                first = waiting.lower
                found = Compared(">=", first, period, left=left, at=first.start)
                waiting.between, waiting.lower = False, None
                self._compared(found)
                self.open = None
            return
        self._compared(Compared(waiting.compare or "=", period, left=left, at=period.start))
        self.open = None
        self.last_at = period.end

    def _quotation(self, item: QuestionItem) -> None:
        if self.waiting.text is None:
            alike = bool(self.frame.texts) and self.or_at > self.text_at  # "contains 'a' or 'b'"
            self.waiting.text = self.frame.texts[-1].position if alike else "whole"
        self._text(item.text, item)

    def _text(self, text: str, item: QuestionItem) -> None:
        waiting = self.waiting
        noun = self.last if item.start - self.last_at <= 7 else None
        previous = self.frame.texts[-1] if self.frame.texts else None
        if previous is not None and self.or_at > self.text_at and (noun is None or noun is previous.noun):
            noun = previous.noun
        found = TextCondition(waiting.text or "anywhere", text, noun, waiting.negated)
        found.either = self.or_at > self.text_at and previous is not None and noun is previous.noun
        self.text_at = item.end
        waiting.text, waiting.negated = None, False
        self.frame.texts.append(found)
        self.frame.read.update(range(item.start, item.end))
        self.listing = False

    def _told_too(self, noun: Noun) -> bool:
        """Return whether a value of what is shown is asked for behind: "towns in Kent and their rent"."""
        info, shown = self.schema.properties.get(noun.candidates[0].term), self.frame.outputs[:1]
        if self.question.low[noun.start - 2 : noun.start] not in (["and", "the"], ["and", "their"]):
            return False
        kind = shown[0].candidates[0] if shown and isinstance(shown[0], Noun) else None
        plain = kind is not None and info is not None and info.kind != "entity" and kind.term in info.domains
        return plain and any(r.mention.end == noun.start - 2 for r in self.frame.restrictions)
