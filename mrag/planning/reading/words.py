"""What the remaining words of a question do: units, adjectives, letters."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.planning.plan import Part
from mrag.planning.reading.frame import Noun, Ordering, Superlative, TimeUnit
from mrag.planning.reading.nouns import NounReader
from mrag.planning.reading.periods import Word
from mrag.planning.reading.segmentation import QuestionItem, meaningful
from mrag.planning.reading.state import COMMON, is_superlative, numeric

_UNIT_WORDS = frozenset(
    "km m cm mm mi mile miles kilometer kilometers kilometre kilometres meter meters metre metres "
    "foot feet ft inch inches kg "
    "kilogram kilograms gram grams g lb lbs pound pounds ton tons tonnes liter liters litre litres l "
    "ml mph kmh kph hp kw w "
    "watt watts volt volts dollar dollars usd euro euros eur gbp cent cents percent years year "
    "months month weeks week days "
    "day hours hour minutes minute min seconds second sec ms degrees degree sq square acres acre "
    "hectares gb mb tb ghz mhz "
    "units unit points point stars star".split()
)

_HEADS = frozenset(
    "address addresses number numbers value values name names data figure figures score scores".split()
)

_BUSY = frozenset("busiest popular active frequent".split())
"""Adjectives that say of things that they are often met with."""

_DATES = frozenset("date dates day time".split())
_UNITS: dict[str, Part] = {
    "month": "month", "months": "month", "monthly": "month", "year": "year", "years": "year",
    "yearly": "year",
    "annual": "year", "annually": "year", "quarter": "quarter", "quarters": "quarter", "quarterly": "quarter",
    "day": "date", "days": "date", "daily": "date", "date": "date", "weekday": "weekday", "hour": "hour",
}  # fmt: skip

_PER = ("monthly", "yearly", "annual", "annually", "quarterly", "daily")

_PREPOSITIONS = frozenset(
    "of in on at by for from to with within into onto through that which who whose whom where when "
    "are is was were"
    " have has had do does did be been than as under over between among during".split()
)


@dataclass
class WordReader(NounReader):
    """What the remaining words of a question do: units, adjectives, letters."""

    def _word(self, item: QuestionItem) -> None:
        word = self.question.words[item.start]
        low, waiting, frame = word.low, self.waiting, self.frame
        if waiting.text == "anywhere" and is_superlative(low):
            waiting.text = None  # "the state that contains the longest river" is not about text
        if waiting.text is not None and (meaningful(word) or len(low) == 1):
            self._text(self.question.written(item.start), item)
        elif self._letter(word, item.start):
            waiting.text = "whole"
            self._text(word.token.raw, item)
        elif low in _UNITS and (waiting.each or low in _PER or waiting.by or (self.listing and frame.groups)):
            unit = TimeUnit(_UNITS[low], item.start)
            frame.groups.append(unit)
            frame.read.add(item.start)
            waiting.each = waiting.by = False
        elif low in _UNITS and waiting.show and self._asked_alone(item):
            # "In which year were the most …", "which month had …"
            self._unit_asked(item)
        elif low in ("name", "names") and (waiting.show or self.listing):
            frame.named, waiting.show, self.listing = True, False, True
            self.last_at = item.end
        elif is_superlative(low):
            self._adjective(low, item.start)
        elif (
            low in (_HEADS | _DATES if self._dated_last() else _HEADS)
            and not word.before and self.last is not None and self.last_at == item.start
            and numeric(self.last)
        ):  # fmt: skip
            # "Email addresses", "phone numbers"
            frame.read.add(item.start)
            self.last_at = item.end
        elif item.start and self.question.low[item.start - 1] == "how" and self._asks_how(item.start):
            self._how(low, item)
        elif waiting.most and (meaningful(word) or low in COMMON):
            self._most_so(low, item.start)
        elif self.open is not None and self.open.right is None and meaningful(word):
            # A unit behind a number: "500 km".
            if low in _UNIT_WORDS and item.start - self._number_end() <= 1:
                frame.read.add(item.start)
        elif low in _PREPOSITIONS and not (low == "of" and self.listing and self.last_at == item.start):
            self.listing = False

    def _dated_last(self) -> bool:
        """Return whether the last noun is a property of dates, which a "date" behind it only repeats."""
        info = self.schema.properties.get(self.last.candidates[0].term) if self.last is not None else None
        return info is not None and info.kind == "date"

    def _asked_alone(self, item: QuestionItem) -> bool:
        """Return whether a unit of time is what a "which" or "what" asks for."""
        before = self.question.low[max(0, item.start - 1) : item.start]
        return before in (["which"], ["what"]) and not self.frame.groups

    def _unit_asked(self, item: QuestionItem) -> None:
        unit = TimeUnit(_UNITS[self.question.low[item.start]], item.start)
        self.frame.groups.append(unit)
        self.frame.read.add(item.start)
        self.waiting.show = self.implicit = False

    def _asks_how(self, at: int) -> bool:
        """Return whether a "how" begins a question, or another: "and how long are they"."""
        low = self.question.low
        return at == 1 or (
            (low[at - 2] in ("and", "are", "tell") or bool(self.question.words[at - 1].before))
            and bool({"it", "they", "is", "are", "each"} & {*low[at + 1 : at + 3]})
        )

    def _how(self, low: str, item: QuestionItem) -> None:
        """Read "how long is …" as a question for a property."""
        found = tuple(candidate for candidate, _ in self.dimension(low))
        behind = [i.mention.candidates for i in self.items if i.start > item.start and i.mention is not None]
        cls = next((c.term for some in behind for c in some[:1] if c.kind == "class"), "")
        found = tuple(c for c in found if self._owns(cls, c.term)) or found
        if found:
            noun = Noun(item.start, item.end, found, "output")
            self.frame.nouns.append(noun)
            self.frame.outputs.append(noun)
            self.frame.read.update((item.start - 1, item.start))
            self.frame.unsupported = False

    def _letter(self, word: Word, at: int) -> bool:
        """Return whether a capital letter is a value: "a grade of A or C"."""
        if len(word.token.raw) != 1 or not word.token.raw.isupper() or at == 0 or word.token.raw == "I":
            return False
        after_or = bool(self.frame.texts) and self.or_at == at
        return after_or or (self.last is not None and self._adjacent(at, 2) and numeric(self.last))

    def _orders(self, low: str, at: int) -> bool:
        """Read an adjective with a "first" behind it as an order: "newest first", "most expensive first"."""
        if self.question.low[at + 1 : at + 2] != ["first"] or not self.frame.outputs:
            return False
        if self.frame.measures and low in _BUSY:
            self.frame.orders.append(Ordering(descending=self.waiting.most != "least"))
        else:
            self.frame.orders.append(Ordering(adjective=low, descending=self.waiting.most == "least"))
        self.frame.read.update((at, at + 1))
        self.skipped.add(at + 1)
        self.waiting.most, self.listing = "", False
        return True

    def _most_so(self, low: str, at: int) -> None:
        """Read an adjective behind a "most": "the most expensive"."""
        top, least = self.frame.superlative, self.waiting.most == "least"
        if self._orders(low, at):
            if top is not None and top.measure is None and not top.adjective:
                self.frame.superlative = None
        elif top is not None and top.measure is None:
            top.adjective, top.turned = low, least
            self.waiting.most = "adjective" if self.question.low[-1] == "first" and not least else ""
            self.frame.read.add(at)

    def _adjective(self, low: str, at: int) -> None:
        if self._orders(low, at):
            return
        frame = self.frame
        if frame.superlative is None:
            frame.superlative = Superlative("greatest")
        elif frame.superlative.adjective or frame.superlative.measure is not None:
            frame.unsupported = True  # "the longest river of the largest state" is two questions in one
        frame.superlative.adjective = low
        frame.read.add(at)
        if (following := self._mention_at(at + 1)) is not None:
            info = self.schema.properties.get(following.candidates[0].term)
            if info is not None and info.kind in ("number", "date"):
                # "The shortest connect time": the adjective gives the direction, the noun what is measured.
                self.waiting.most = "adjective"
        elif self.last is not None and self.last.role in ("output", "focus") and self._adjacent(at, 3):
            frame.superlative.of = self.last  # "which capital is the largest"
        if self.bare is not None:
            rank = int(self.bare.value)
            if self.bare.ordinal:
                frame.superlative.offset, frame.superlative.n = rank - 1, self.rows
            else:
                frame.superlative.n = rank
            self.bare = None
