"""The roles of a question's words, found in one walk from left to right.

Each cue waits for the noun, number or name that it speaks of; each of these looks at what waits and at what
stood just before it. English alone is known here; names come from the lexicon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from mrag.planning.lexical.candidates import Candidate, Mention
from mrag.planning.parsing.cues import Cue
from mrag.planning.parsing.frame import (
    Compared,
    Frame,
    Measure,
    Noun,
    Ordering,
    Restriction,
    Superlative,
    TextCondition,
    TimeUnit,
)
from mrag.planning.parsing.question import Period, Quantity, QuestionText, Word
from mrag.planning.parsing.segmentation import Item, meaningful
from mrag.planning.plan import Fold, Part, Position, Relation
from mrag.planning.schema import Schema

Dimension = Callable[[str], Sequence[tuple[Candidate, str]]]
_UNIT_WORDS = frozenset(
    "km m cm mm mi mile miles kilometer kilometers kilometre kilometres meter meters metre metres foot feet ft inch inches kg "
    "kilogram kilograms gram grams g lb lbs pound pounds ton tons tonnes liter liters litre litres l ml mph kmh kph hp kw w "
    "watt watts volt volts dollar dollars usd euro euros eur gbp cent cents percent years year months month weeks week days "
    "day hours hour minutes minute min seconds second sec ms degrees degree sq square acres acre hectares gb mb tb ghz mhz "
    "units unit points point stars star".split()
)
_HEADS = frozenset(
    "address addresses number numbers value values name names data figure figures score scores".split()
)
_UNITS: dict[str, Part] = {
    "month": "month", "months": "month", "monthly": "month", "year": "year", "years": "year", "yearly": "year",
    "annual": "year", "annually": "year", "quarter": "quarter", "quarters": "quarter", "quarterly": "quarter",
    "day": "date", "days": "date", "daily": "date", "date": "date", "weekday": "weekday", "hour": "hour",
}  # fmt: skip
_PER = ("monthly", "yearly", "annual", "annually", "quarterly", "daily")
_PREPOSITIONS = frozenset(
    "of in on at by for from to with within into onto through that which who whose whom where when are is was were"
    " have has had do does did be been than as under over between among during".split()
)
_FLIPPED: dict[Relation, Relation] = {
    "<": ">=",
    ">": "<=",
    "<=": ">",
    ">=": "<",
    "=": "!=",
    "!=": "=",
}
_AMOUNTS = frozenset("amount amounts revenue revenues value worth".split())
_PARTICIPLES = frozenset("made sold bought taught held built won run led sent paid met set put read".split())
_VERBS_OF_ASKING = frozenset("is are was were does do did has have can".split())


@dataclass
class _Waiting:
    """What cues have said of the noun, number or name to come."""

    show: bool = False
    count: bool = False
    fold: Fold | None = None
    most: str = ""
    top: Superlative | None = None
    each: bool = False
    negated: bool = False
    order: Ordering | None = None
    compare: Relation | None = None
    adjective: str = ""
    between: bool = False
    lower: float | Period | None = None
    text: Position | None = None
    by: bool = False


@dataclass
class Reader:
    """Reads items into a frame.

    Args:
        question: The question.
        items: One way of cutting it.
        schema: The schema, which tells a compound ("customer state") from a verb with its subject.
        dimension: The properties that an adjective may speak of, with the direction.
    """

    question: QuestionText
    items: Sequence[Item]
    schema: Schema
    dimension: Dimension = lambda adjective: ()
    frame: Frame = field(default_factory=Frame)
    waiting: _Waiting = field(default_factory=_Waiting)
    last: Noun | None = None
    last_at: int = -9
    listing: bool = False
    open: Compared | None = None
    bare: Quantity | None = None
    either: int = 0
    or_at: int = -9
    text_at: int = -1
    owner: str = ""
    owner_start: int = 0
    skipped: set[int] = field(default_factory=set)
    boundary: int | None = None
    most_word: str = ""
    implicit: bool = False

    def read(self) -> Frame:
        """Return the frame."""
        low = self.question.low
        self.frame.yes_or_no = bool(low) and low[0] in _VERBS_OF_ASKING
        if not self.frame.yes_or_no:
            self.waiting.show = self.implicit = True
        for number, item in enumerate(self.items):
            if item.cue is not None:
                self._cue(item.cue, number)
            elif item.mention is not None:
                if item.start not in self.skipped and not self._owner_of_next(number):
                    self._mention(item, item.mention)
            elif item.quantity is not None:
                self._quantity(item.quantity, number)
            elif item.period is not None:
                self._period(item.period)
            elif item.text:
                self._quotation(item)
            else:
                self._word(item)
        waiting = self.waiting
        self.frame.dangling = (waiting.count and bool(self.frame.measures)) or bool(
            waiting.negated
            or waiting.compare
            or waiting.between
            or waiting.each
            or (waiting.most and not waiting.count)
        )
        if self.waiting.count and not self.frame.outputs:
            self.frame.outputs.append(Measure("count"))
        if self.boundary is not None and len(self.frame.outputs) - self.boundary > 1:
            # "Who are the best? Return their name and age.": the second sentence says what is shown.
            self.frame.outputs = self.frame.outputs[self.boundary :]
        return self.frame

    def _owner_of_next(self, number: int) -> bool:
        """Take a class that stands right before one of its own properties for part of the property's name."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, behind = item.mention.candidates[0], following[0].mention.candidates
        if own.kind != "class" or self.question.words[item.end].before not in ("", "'", "’"):
            return False
        kept = [c for c in behind if c.kind == "property" and self._owns(own.term, c.term)]
        if not kept or kept[0].score < behind[0].score - 0.2:
            return False
        noun = Noun(item.start, item.end, item.mention.candidates, role="owner")
        self.frame.nouns.append(noun)
        self.owner, self.owner_start = own.term, item.start
        return True

    def _owns(self, cls: str, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        return info is not None and info.kind != "entity" and cls in info.domains

    # -- cues --------------------------------------------------------------------------------------

    def _cue(self, cue: Cue, number: int) -> None:
        waiting, frame = self.waiting, self.frame
        kind, value = cue.kind, cue.value
        if kind in ("show", "who", "where", "when", "count") and self.implicit:
            # "For customers in Spain, what is …": what came before was no list of what to show.
            self.implicit = False
            for noun in frame.nouns:
                if noun.role == "output":
                    noun.role = ""
            frame.outputs.clear()
            self.listing = False
        if kind == "show":
            waiting.show, self.listing = True, False
            if (
                self.boundary is None
                and frame.outputs
                and set(self.question.words[cue.start].before) & set("?.!;")
            ):
                self.boundary = len(frame.outputs)
        elif kind == "count":
            self._count(cue)
        elif kind == "fold":
            waiting.fold = cast(Fold, value)
        elif kind == "most":
            self._most(cue, number)
        elif kind == "top":
            # "The top five best": the number is said already.
            if waiting.top is None or waiting.top.n is None:
                waiting.top = frame.superlative = Superlative(value)
        elif kind == "compare":
            self._compare(cue, number)
        elif kind == "between":
            waiting.between = True
        elif kind == "group":
            self._group(cue)
        elif kind in ("order", "direction"):
            self._order(cue)
        else:
            self._other(cue)

    def _other(self, cue: Cue) -> None:
        if cue.kind == "not":
            self.waiting.negated = True
        elif cue.kind == "or":
            self.or_at = cue.end
        elif cue.kind == "text":
            self.waiting.text = cast(Position, cue.value)
        elif cue.kind == "unsupported":
            self.frame.unsupported = True
        else:
            self._asking(cue)

    def _count(self, cue: Cue) -> None:
        first = self.question.low[cue.start]
        apart = self.question.words[cue.start].before
        if (
            first in ("number", "numbers")
            and not apart
            and self.last is not None
            and self.last_at == cue.start
        ):
            return  # "the phone numbers of"
        self.waiting.count = True
        self.frame.yes_or_no = False

    def _asking(self, cue: Cue) -> None:
        if cue.kind in ("who", "where", "when") and not self.frame.asks and cue.start < 3:
            self.frame.asks = cue.kind
            self.waiting.show = True
        if cue.kind in ("ratio", "percentage", "difference"):
            self.frame.unsupported = True
        elif cue.kind == "same":
            self.frame.same = True

    def _most(self, cue: Cue, number: int) -> None:
        waiting = self.waiting
        waiting.most, self.most_word = cue.value, self.question.low[cue.end - 1]
        if "number of" in " ".join(self.question.low[cue.start : cue.end]):
            waiting.count = True
        if self.frame.superlative is None or waiting.top is None:
            self.frame.superlative = self.frame.superlative or Superlative(cue.value)
            self.frame.superlative.direction = cue.value
        if self.bare is not None:
            rank = int(self.bare.value)
            if self.bare.ordinal:
                self.frame.superlative.offset, self.frame.superlative.n = rank - 1, 1
            else:
                self.frame.superlative.n = rank
            self.bare = None

    def _compare(self, cue: Cue, number: int) -> None:
        relation = cast(Relation, cue.value)
        words = self.question.low[cue.start : cue.end]
        if words[0] == "or" and self.frame.compared and self._adjacent(cue.start, 3):
            self.frame.compared[-1].relation = relation
            return
        self.waiting.compare = relation
        self.waiting.adjective = words[0] if words[0].endswith("er") and words[-1] == "than" else ""
        if self.waiting.adjective in ("greater", "later", "earlier", "fewer"):
            self.waiting.adjective = ""

    def _group(self, cue: Cue) -> None:
        top = self.frame.superlative
        before = next((i.cue for i in self.items if i.end == cue.start and i.cue is not None), None)
        if before is not None and before.kind in ("order", "direction") and self.frame.orders:
            self.waiting.order = self.frame.orders[-1]
        elif cue.value == "each":
            self.waiting.each = True
            self.waiting.show = False
        elif top is not None and top.measure is None and not top.adjective:
            self.waiting.by = True
        elif (
            self.question.low[cue.start] == "by"
            and (self.frame.measures or self.waiting.count)
            and not self._passive(cue.start)
        ):
            self.waiting.each = True

    def _passive(self, at: int) -> bool:
        """Return whether a "by" names who did something: "sold by"."""
        before = self.question.low[at - 1] if at else ""
        return before.endswith(("ed", "en", "wn")) or before in _PARTICIPLES

    def _order(self, cue: Cue) -> None:
        if cue.kind == "order":
            self.waiting.order = Ordering()
            self.frame.orders.append(self.waiting.order)
            return
        descending = cue.value == "descending"
        if self.frame.orders:
            self.frame.orders[-1].descending = descending
        else:
            self.frame.orders.append(Ordering(descending=descending))
        alphabetical = "alphabetical" in " ".join(self.question.low[cue.start : cue.end])
        if self.waiting.order is None and not alphabetical and self.question.low[cue.end - 1] == "of":
            self.waiting.order = self.frame.orders[-1]

    # -- names -------------------------------------------------------------------------------------

    def _mention(self, item: Item, mention: Mention) -> None:
        kinds = {c.kind for c in mention.candidates[:1]}
        best = mention.candidates[0].score
        nouns = tuple(c for c in mention.candidates if c.kind in ("class", "property"))
        names = tuple(c for c in mention.candidates if c.kind in ("entity", "value"))
        if self.waiting.text is not None:
            self._text(self.question.text[self._chars(item)], item)
            return
        named = bool(names) and ("entity" in kinds or "value" in kinds)
        if nouns and names and nouns[0].score >= best - 0.05:
            # A class or a property that a value happens to be called by.
            named = False
        owner, self.owner = self.owner, ""
        if owner:
            nouns = tuple(c for c in nouns if self._owns(owner, c.term))
            named = False
        if named:
            self._name(item, Mention(item.start, item.end, names))
        else:
            self._noun(Noun(self.owner_start if owner else item.start, item.end, nouns))

    def _name(self, item: Item, mention: Mention) -> None:
        waiting = self.waiting
        if waiting.compare is not None and waiting.compare not in ("=",):
            left = self.last if self._adjacent(item.start, 4) else None
            self._compared(
                Compared(waiting.compare, mention, left=left, adjective=waiting.adjective, at=item.start)
            )
            return
        low = self.question.low
        noun = self.last if self.last is not None and self._adjacent(item.start, 3) else None
        negated, waiting.negated = waiting.negated, False
        behind = self._beside(item, mention)
        if behind is not None:
            noun = behind
        found = Restriction(mention, noun, negated, before=tuple(low[max(0, item.start - 3) : item.start]))
        previous = self.frame.restrictions[-1] if self.frame.restrictions else None
        if (
            previous is not None
            and previous.mention.end == item.start
            and "(" in self.question.words[item.start].before
        ):
            # "Chicago (ORD)" names one thing twice; the name in brackets is the code.
            self.frame.restrictions.pop()
            found.noun, found.before = previous.noun, previous.before
            previous = None
        between = self.question.words[max(0, self.or_at) : item.start]
        if previous is not None and self.or_at >= previous.mention.end and not any(map(meaningful, between)):
            if previous.either < 0:
                previous.either, self.either = self.either, self.either + 1
            found.either, found.negated = previous.either, previous.negated or negated
            found.noun = found.noun or previous.noun
        self.frame.restrictions.append(found)
        self.listing = False
        self.last_at = item.end

    def _beside(self, item: Item, mention: Mention) -> Noun | None:
        """Return the class or property right behind a name that it is a name of: "the Sociology domain"."""
        following = next((i for i in self.items if i.start == item.end), None)
        if following is None or following.mention is None:
            return None
        terms = {t for c in mention.candidates for t in (*c.classes, *c.properties)}
        kept = tuple(c for c in following.mention.candidates if c.term in terms and c.score > 0.6)
        if not kept or kept[0].kind != "property":
            return None
        self.skipped.add(following.start)
        noun = Noun(following.start, following.end, kept, "beside")
        self.frame.nouns.append(noun)
        return noun

    def _noun(self, noun: Noun) -> None:
        frame, waiting = self.frame, self.waiting
        noun.candidates = self._again(noun)
        frame.nouns.append(noun)
        if frame.superlative is not None and frame.superlative.adjective and frame.superlative.of is None:
            frame.superlative.of = noun
        before, self.last, self.last_at = self.last_at, noun, noun.end
        if self.open is not None:
            if self.open.left is None or not _numeric(self.open.left):
                self.open.right, noun.role = noun, "compared"
                self.open = None
                waiting.negated = False
                return
            self.open = None
        if waiting.order is not None:
            self._ordered(noun)
        elif waiting.negated and not self._name_follows(noun.end):
            noun.role, waiting.negated = "missing", False
            frame.missing.append(noun)
        elif waiting.each:
            noun.role, waiting.each = "group", False
            frame.groups.append(noun)
            self.listing = True
        elif waiting.most or waiting.by:
            self._superlative(noun)
        elif waiting.top is not None and waiting.fold is None and not waiting.count:
            waiting.top = None
            noun.role = "focus"
            named = [o for o in frame.outputs if isinstance(o, Noun) and o.candidates[0].kind == "property"]
            if not named or noun.candidates[0].kind == "property":
                # "The names of the top three": the names are what is shown.
                frame.outputs.append(noun)
            self.listing, waiting.show = True, False
        elif waiting.count or waiting.fold is not None:
            self._measure(noun)
        elif waiting.compare is not None:
            left = frame.nouns[-2] if len(frame.nouns) > 1 else None
            measure = Measure(None, noun)
            self._compared(Compared(waiting.compare, measure, left=left, at=noun.start))
        elif waiting.show or (self.listing and self._continues(before, noun.start)):
            noun.role = "output"
            frame.outputs.append(noun)
            self.listing, waiting.show = True, False
        elif (
            frame.groups
            and frame.groups[-1] is not noun
            and self._continues(before, noun.start)
            and (isinstance(frame.groups[-1], Noun) and frame.groups[-1].end == before)
        ):
            noun.role = "group"
            frame.groups.append(noun)
        else:
            self.listing = False

    def _again(self, noun: Noun) -> tuple[Candidate, ...]:
        """Return what a noun names; the last word of a longer name before it stands for all of that name."""
        if noun.end - noun.start > 1 or noun.role:
            return noun.candidates
        key = self.question.words[noun.start].token.key
        for earlier in reversed(self.frame.nouns):
            last = self.question.words[earlier.end - 1].token.key
            if earlier.end - earlier.start > 1 and last == key and earlier.candidates[0].kind == "property":
                return (replace(earlier.candidates[0], score=1.0), *noun.candidates)
        return noun.candidates

    def _name_follows(self, at: int) -> bool:
        """Return whether an entity or a value is named next, so that a "not" is meant of it."""
        for item in self.items:
            if item.start < at:
                continue
            if item.mention is not None:
                return item.start - at <= 2 and item.mention.candidates[0].kind in ("entity", "value")
            if not item.unread or meaningful(self.question.words[item.start]):
                return False
        return False

    def _ordered(self, noun: Noun) -> None:
        waiting = self.waiting
        assert waiting.order is not None
        waiting.order.measure = Measure("count" if waiting.count else waiting.fold, noun)
        noun.role = "order"
        waiting.order, waiting.count, waiting.fold = None, False, None

    def _superlative(self, noun: Noun) -> None:
        waiting, frame = self.waiting, self.frame
        top = frame.superlative
        assert top is not None
        plain = (
            self.most_word in ("highest", "lowest", "greatest") and not waiting.count and waiting.fold is None
        )
        if plain and noun.candidates[0].kind == "class" and not top.adjective:
            # "The highest mountain" is not the one with the most of anything.
            top.adjective, top.of, waiting.most = self.most_word, noun, ""
            self._shown(noun)
            return
        function: Fold | None = "count" if waiting.count else waiting.fold
        waiting.most, waiting.count, waiting.fold, waiting.by, waiting.top = "", False, None, False, None
        behind = set(self.question.low[noun.end : noun.end + 1])
        top.measure = Measure(function, noun, money=function == "sum" and bool(_AMOUNTS & behind))
        noun.role = "measure"
        if waiting.show:
            # "What is the highest price", "Which is ...": the measure itself is asked for.
            waiting.show = False
            frame.outputs.append(top.measure)
            self.listing = True

    def _shown(self, noun: Noun) -> None:
        if self.waiting.show or not self.frame.outputs:
            noun.role = "focus"
            self.frame.outputs.append(noun)
            self.listing, self.waiting.show = True, False

    def _measure(self, noun: Noun) -> None:
        waiting, frame = self.waiting, self.frame
        function: Fold = "count" if waiting.count else cast(Fold, waiting.fold)
        behind = set(self.question.low[noun.end : noun.end + 1])
        measure = Measure(function, noun, money=function == "sum" and bool(_AMOUNTS & behind))
        noun.role = "measure"
        waiting.count, waiting.fold, waiting.show = False, None, False
        frame.outputs.append(measure)
        waiting.top = None
        self.listing = True

    # -- numbers, times, text ----------------------------------------------------------------------

    def _quantity(self, quantity: Quantity, number: int) -> None:
        waiting, frame = self.waiting, self.frame
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
            else:
                found = Compared(">=", cast(float, waiting.lower), quantity.value, left=left or self.last)
                waiting.between, waiting.lower = False, None
                self._compared(found)
            return
        if waiting.text is not None:
            self._text(self.question.words[quantity.start].token.raw, Item(quantity.start, quantity.end))
            return
        if waiting.compare is not None:
            found = Compared(
                waiting.compare, quantity.value, left=left, adjective=waiting.adjective, fold=None
            )
            self._compared(found)
            return
        following = self.items[number + 1] if number + 1 < len(self.items) else None
        if quantity.ordinal or (following is not None and following.cue and following.cue.kind == "most"):
            self.bare = quantity
            return
        if following is not None and following.unread and _is_superlative(self.question.low[following.start]):
            self.bare = quantity
            return
        if waiting.show and not frame.outputs:
            frame.superlative = frame.superlative or Superlative("greatest")
            frame.superlative.n = int(quantity.value)
            waiting.top = frame.superlative
            return
        self._compared(Compared("=", quantity.value, left=left, at=quantity.start))

    def _compared(self, found: Compared) -> None:
        waiting = self.waiting
        previous = self.frame.compared[-1] if self.frame.compared else None
        if (
            previous is not None
            and self.or_at > previous.at
            and found.relation == "="
            and found.left in (None, previous.left)
        ):
            found.left, found.either = previous.left, previous.left is not None
        if waiting.negated:
            found.relation, waiting.negated = _FLIPPED[found.relation], False
        waiting.compare, waiting.adjective = None, ""
        if found.left is not None and waiting.fold is not None:
            found.fold, waiting.fold = waiting.fold, None
        self.frame.compared.append(found)
        self.open = found
        self.listing = False

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
            else:
                found = Compared(">=", cast(Period, waiting.lower), period, left=left, at=period.start)
                waiting.between, waiting.lower = False, None
                self._compared(found)
                self.open = None
            return
        self._compared(Compared(waiting.compare or "=", period, left=left, at=period.start))
        self.open = None
        self.last_at = period.end

    def _quotation(self, item: Item) -> None:
        if self.waiting.text is None:
            self.waiting.text = "whole"
        self._text(item.text, item)

    def _text(self, text: str, item: Item) -> None:
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

    # -- words -------------------------------------------------------------------------------------

    def _word(self, item: Item) -> None:
        word = self.question.words[item.start]
        low, waiting, frame = word.low, self.waiting, self.frame
        if waiting.text is not None and (meaningful(word) or len(low) == 1):
            self._text(word.token.raw, item)
        elif self._letter(word, item.start):
            waiting.text = "whole"
            self._text(word.token.raw, item)
        elif low in _UNITS and (waiting.each or low in _PER or waiting.by or (self.listing and frame.groups)):
            unit = TimeUnit(_UNITS[low], item.start)
            frame.groups.append(unit)
            frame.read.add(item.start)
            waiting.each = waiting.by = False
        elif _is_superlative(low):
            self._adjective(low, item.start)
        elif (
            low in _HEADS and not word.before and self.last is not None and self.last_at == item.start
            and _numeric(self.last)
        ):  # fmt: skip
            # "Email addresses", "phone numbers"
            frame.read.add(item.start)
            self.last_at = item.end
        elif item.start == 1 and self.question.low[0] == "how":
            self._how(low, item)
        elif waiting.most and meaningful(word):
            top = frame.superlative
            if top is not None and top.measure is None:
                top.adjective = low
                waiting.most = ""
                frame.read.add(item.start)
        elif self.open is not None and self.open.right is None and meaningful(word):
            # A unit behind a number: "500 km".
            if low in _UNIT_WORDS and item.start - self._number_end() <= 1:
                frame.read.add(item.start)
        elif low in _PREPOSITIONS:
            self.listing = False

    def _how(self, low: str, item: Item) -> None:
        """Read "how long is …" as a question for a property."""
        found = tuple(candidate for candidate, _ in self.dimension(low))
        if found:
            noun = Noun(item.start, item.end, found, "output")
            self.frame.nouns.append(noun)
            self.frame.outputs.append(noun)
            self.frame.read.update((0, item.start))
            self.frame.unsupported = False

    def _letter(self, word: Word, at: int) -> bool:
        """Return whether a capital letter is a value: "a grade of A or C"."""
        if len(word.token.raw) != 1 or not word.token.raw.isupper() or at == 0 or word.token.raw == "I":
            return False
        after_or = bool(self.frame.texts) and self.or_at == at
        return after_or or (self.last is not None and self._adjacent(at, 2) and _numeric(self.last))

    def _number_end(self) -> int:
        ends = [i.end for i in self.items if i.quantity is not None]
        return max((e for e in ends), default=-9)

    def _adjective(self, low: str, at: int) -> None:
        frame = self.frame
        if frame.superlative is None:
            frame.superlative = Superlative("greatest")
        frame.superlative.adjective = low
        frame.read.add(at)
        following = next((i for i in self.items if i.start == at + 1 and i.mention is not None), None)
        if following is not None and following.mention is not None:
            info = self.schema.properties.get(following.mention.candidates[0].term)
            if info is not None and info.kind in ("number", "date"):
                # "The shortest connect time": the adjective gives the direction, the noun what is measured.
                self.waiting.most = "adjective"
        if self.bare is not None:
            rank = int(self.bare.value)
            if self.bare.ordinal:
                frame.superlative.offset, frame.superlative.n = rank - 1, 1
            else:
                frame.superlative.n = rank
            self.bare = None

    def _adjacent(self, at: int, gap: int) -> bool:
        """Return whether only function words stand between the last noun and a place."""
        unread = {i.start for i in self.items if i.unread}
        return 0 <= at - self.last_at <= gap and not any(
            i in unread and meaningful(self.question.words[i]) for i in range(self.last_at, at)
        )

    def _continues(self, before: int, at: int) -> bool:
        """Return whether a list goes on: only commas, articles and `and` stand between."""
        between = self.question.low[before:at]
        comma = "," in self.question.words[at].before or any(
            "," in w.before for w in self.question.words[before:at]
        )
        joined = "and" in between or comma or "&" in between
        return joined and all(
            w in ("and", "the", "their", "its", "a", "as", "well", "also", "his", "her", "or", "respective")
            for w in between
        )

    def _chars(self, item: Item) -> slice:
        words = self.question.words
        return slice(words[item.start].token.start, words[item.end - 1].token.end)


def _numeric(noun: Noun) -> bool:
    return noun.candidates[0].kind == "property"


def _is_superlative(word: str) -> bool:
    return (
        len(word) > 5
        and word.endswith("est")
        and word
        not in (
            "interest",
            "request",
            "forest",
            "harvest",
            "conquest",
            "invest",
            "suggest",
            "protest",
            "honest",
            "modest",
            "guest",
            "contest",
            "arrest",
            "priest",
            "northwest",
            "southwest",
            "everest",
            "budapest",
            "digest",
            "manifest",
        )
    )
