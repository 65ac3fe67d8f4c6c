"""What a question asks for by its form, before anything is looked for in the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import TypeAlias, cast

from mrag.language.tokens import PERSON_WORDS, VERBS, is_stopword
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import BEING, DIMENSIONS, is_past, positive
from mrag.planning.plan import NEGATED, Fold, Part, Position, Relation
from mrag.planning.reading.question import (
    Cue,
    Period,
    Quantity,
    QuestionItem,
    QuestionText,
    Word,
    meaningful,
    unit_of,
)
from mrag.planning.schema import Schema, most_of

DESCRIBED = "urn:x-described:"
"""Beginning of names that stand for things which a question describes."""

TIMES = "times"
"""The unit of a number that says how often something happened."""

IDENTIFYING = frozenset("id ids name names title titles label code codes symbol symbols key".split())
"""Words of properties that tell which thing is meant."""


@dataclass(eq=False)
class Noun:
    """A class or property that is named.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        candidates: What it may be, best first.
        role: What it does; "" for what merely has to be there.
        implied: Whether its words name a kind, for whose things it stands: "all comedies".
    """

    start: int
    end: int
    candidates: tuple[Candidate, ...]
    role: str = ""
    implied: bool = False


@dataclass(eq=False)
class TimeUnit:
    """A unit of time that groups or is shown: "per month"."""

    part: Part
    start: int


@dataclass(eq=False)
class FrameMeasure:
    """A number that is computed: a fold of a property or a count of things.

    Attributes:
        function: The fold; None for the value itself.
        noun: What is folded or counted; None where the question leaves it open.
        money: Whether an amount of things is summed rather than their number: "the total sales amount".
    """

    function: Fold | None
    noun: Noun | None = None
    money: bool = False


@dataclass(eq=False)
class Compared:
    """A condition on a number or a time.

    Attributes:
        relation: The relation; between two values it is `>=` with `upper` given.
        value: A number, a period, or the measure that it is compared with.
        upper: The greater of two bounds.
        left: The property or thing before it.
        right: The property or thing behind it.
        adjective: The adjective that says what is compared: "longer".
        fold: A fold of what is compared: "an average rating above 4".
        negated: Whether the question denies it, so that the relation is turned.
        at: Index of the word where it stands.
        either: Whether it is an alternative to the one before it: "semester 1 or 2".
        unit: The unit that was said with the number.
    """

    relation: Relation
    value: float | Period | FrameMeasure | NameMention
    upper: float | Period | None = None
    left: Noun | None = None
    right: Noun | None = None
    adjective: str = ""
    fold: Fold | None = None
    negated: bool = False
    at: int = 0
    either: bool = False
    unit: str = ""


@dataclass(eq=False)
class FrameRestriction:
    """An entity or a value that is named.

    Attributes:
        mention: The words and what they may name.
        noun: The class or property beside it: "the city of New York".
        negated: Whether it must not hold.
        either: Number of the group of alternatives that it belongs to; -1 if none.
        before: The words just before it, which tell one property from another.
        listed: Whether it is one of several things that are asked about alike: "of Texas and Oklahoma".
    """

    mention: NameMention
    noun: Noun | None = None
    negated: bool = False
    either: int = -1
    before: tuple[str, ...] = ()
    listed: bool = False


@dataclass(eq=False)
class TextCondition:
    """A condition on the text of a property or a name; `either` is an alternative to the one before it."""

    position: Position
    text: str
    noun: Noun | None = None
    negated: bool = False
    either: bool = False


@dataclass(eq=False)
class Superlative:
    """What is extreme.

    Attributes:
        direction: `greatest` or `least`.
        n: How many; None for the one, with those that tie.
        offset: How many before them are left out: 2 for "the third longest".
        measure: What orders them.
        adjective: The adjective, where it is that which says what orders them.
        turned: Whether the adjective holds least of them: "the least expensive".
        of: The things that the adjective is said of: "the largest city".
        fold: A fold of what orders them: "the most expensive on average".
    """

    direction: str
    n: int | None = None
    offset: int = 0
    measure: FrameMeasure | None = None
    adjective: str = ""
    turned: bool = False
    of: Noun | None = None
    fold: Fold | None = None


@dataclass(eq=False)
class Ordering:
    """How rows are ordered; without a measure by the last of the measures, or by what is shown first.

    Attributes:
        measure: What orders them.
        descending: Whether the greatest is first.
        adjective: The adjective that says what orders them: "newest first".
        by: Whether it is by a "time" or a "number" that is not named: "most recent first", "highest first".
    """

    measure: FrameMeasure | None = None
    descending: bool | None = None
    adjective: str = ""
    by: OneOf["", "time", "number"] = ""


Output: TypeAlias = Noun | FrameMeasure | TimeUnit


@dataclass(eq=False)
class Frame:
    """What a question's words do in it."""

    nouns: list[Noun] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    groups: list[Noun | TimeUnit] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    restrictions: list[FrameRestriction] = field(default_factory=list)
    texts: list[TextCondition] = field(default_factory=list)
    missing: list[Noun] = field(default_factory=list)
    superlative: Superlative | None = None
    orders: list[Ordering] = field(default_factory=list)
    same: bool = False
    yes_or_no: bool = False
    asks: str = ""
    unsupported: bool = False
    dangling: bool = False
    named: bool = False
    read: set[int] = field(default_factory=set)

    @property
    def measures(self) -> list[FrameMeasure]:
        """Return the measures that are shown."""
        return [output for output in self.outputs if isinstance(output, FrameMeasure)]


Dimension = Callable[[str], Sequence[tuple[Candidate, str]]]

PARTICIPLES = frozenset("made sold bought taught held built won run led sent paid met set put read".split())
COMMON = frozenset("common frequent used prevalent usual".split())
"""Adjectives of what there is most often."""
_NOUNS_IN_EST = frozenset(
    "interest request forest harvest conquest invest suggest protest honest modest guest contest arrest "
    "priest northwest southwest everest budapest digest manifest".split()
)


_DESCRIBED = frozenset("of from at in who that which with whose".split())
VERBS_OF_ASKING = frozenset("is are was were does do did has have can".split())
"""Verbs that begin a question for yes or no, and stand between a noun and its subject in others."""


@dataclass
class Waiting:
    """What cues have said of the noun, number or name to come."""

    show: bool = False
    count: bool = False
    fold: Fold | None = None
    folds: list[Fold] = field(default_factory=list)
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


def numeric(noun: Noun) -> bool:
    """Return whether a noun may be a property, which has values to compare."""
    return noun.candidates[0].kind == "property"


def may_be_class(candidates: Sequence[Candidate]) -> bool:
    """Return whether words may as well name a class as anything else."""
    return any(c.kind == "class" and c.score >= candidates[0].score - 0.02 for c in candidates)


def is_superlative(word: str) -> bool:
    """Return whether a word ends like a superlative and is none of the nouns that do.

    Example:
        >>> [is_superlative(word) for word in ("longest", "forest", "best")]
        [True, False, False]
    """
    return len(word) > 5 and word.endswith("est") and word not in _NOUNS_IN_EST


_POSITIONS = frozenset("position place rank order sequence".split())
"""Words of numbers that tell one record of a thing from the others."""


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


OWNING = frozenset("of the a an each every all its their this that".split())
"""Words between a property and what it is said of."""
_THEIR = frozenset("their its his her".split())
_TIMES = frozenset("date day month year time".split())
_PARTS: dict[str, Part] = {"year": "year", "month": "month", "quarter": "quarter", "day": "date"}
_AMOUNTS = frozenset("amount amounts revenue revenues value worth".split())


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


_MOST = frozenset("the more less most least".split())
"""Words behind a verb whose subject stands before it: "the vet earns the most"."""
_COSTING = frozenset("at over under above below exactly between".split())
"""Further words behind a "cost" that is a verb."""


_NAMED = frozenset("named called".split())
_APART = VERBS_OF_ASKING | frozenset("in from at near with for through to on".split())
"""Words between a class and a name that is not the name of one of its things."""
_ONE_OF = frozenset("which what a an each every any another".split())
_SAID_OF = (["of"], ["than"], ["does"], ["is"])
"""Words before a name of which something is said itself."""
_NAMES_WHERE = frozenset("in on at from to during since before after by".split())


def third_person(word: str) -> bool:
    """Return whether a word is what a verb is behind one who does it: "teaches", "wins"."""
    return word.endswith("s") and bool({word[:-1], word.removesuffix("es")} & VERBS)


_JUDGED = ("best", "worst")
_OF_TIME = frozenset("recent latest newest oldest earliest chronologically chronological".split())
_OF_NUMBER = frozenset("highest lowest high low largest smallest most least best worst top".split())
_READER_TIMES: tuple[list[str], ...] = (["year"], ["month"], ["quarter"], ["day"], ["weekday"], ["date"])
_EACH: tuple[list[str], ...] = (
    ["one"],
    ["of", "them"],
    ["of", "these"],
    ["of", "those"],
    ["too"],
    ["as", "well"],
    [],
)
"""What may follow an "each" that stands for the things of the sentence before."""


def frame_is_plain(frame: Frame) -> bool:
    """Return whether nothing is extreme in a frame."""
    return frame.superlative is None


@dataclass
class FrameReader:
    """Reads items into a frame."""

    question: QuestionText
    items: Sequence[QuestionItem]
    schema: Schema
    dimension: Dimension = lambda adjective: ()
    frame: Frame = field(default_factory=Frame)
    waiting: Waiting = field(default_factory=Waiting)
    last: Noun | None = None
    last_at: int = -9
    listing: bool = False
    open: Compared | None = None
    bare: Quantity | None = None
    rows: int = 1
    either: int = 0
    or_at: int = -9
    text_at: int = -1
    owner: str = ""
    owner_start: int = 0
    skipped: set[int] = field(default_factory=set)
    boundary: int | None = None
    most_word: str = ""
    implicit: bool = False

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

    def _mention_at(self, at: int) -> NameMention | None:
        """Return the words that name something and begin at a place, if there are such."""
        return next((i.mention for i in self.items if i.start == at and i.mention is not None), None)

    def _passive(self, at: int) -> bool:
        """Return whether a "by" names who did something: "sold by"."""
        before = self.question.low[at - 1] if at else ""
        return before.endswith(("ed", "en", "wn")) or before in PARTICIPLES

    def _doers(self, at: int) -> bool:
        """Return whether a "by" names who did something: "papers by Ada", "papers by authors of …"."""
        noun = self._mention_at(at)
        if noun is None or noun.candidates[0].kind != "class":
            return noun is not None and noun.candidates[0].kind == "entity"
        behind = self.question.low[noun.end : noun.end + 1]
        return self.question.low[noun.end - 1].endswith("s") and bool(_DESCRIBED & set(behind))

    def _owns(self, cls: str, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        return info is not None and info.kind != "entity" and cls in info.domains

    def _number_end(self) -> int:
        ends = [i.end for i in self.items if i.quantity is not None]
        return max((e for e in ends), default=-9)

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

    def _noun(self, noun: Noun) -> None:
        frame, waiting = self.frame, self.waiting
        noun.candidates = self._again(noun)
        frame.nouns.append(noun)
        self._first_of(noun)
        self._at_position(noun)
        if frame.superlative is not None and frame.superlative.adjective and frame.superlative.of is None:
            frame.superlative.of = noun
        before, self.last, self.last_at = self.last_at, noun, noun.end
        if self._tells_which(noun) or self._closes(noun):
            return
        waiting.show = waiting.show or self._with_several(noun)
        if waiting.order is not None:
            self._ordered(noun)
        elif waiting.negated and not self._name_follows(noun):
            noun.role, waiting.negated = "missing", False
            frame.missing.append(noun)
        elif waiting.each:
            self._grouped(noun)
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
        elif waiting.compare is not None and waiting.fold is not None and numeric(noun):
            noun.role = "compared"
            self._level(FrameMeasure(waiting.fold, noun))
        elif waiting.count or waiting.fold is not None:
            self._measure(noun)
        elif waiting.compare is not None:
            left = frame.nouns[-2] if len(frame.nouns) > 1 else None
            measure = FrameMeasure(None, noun)
            self._compared(Compared(waiting.compare, measure, left=left, at=noun.start))
        elif waiting.show and (self._object_of_who(noun) or self._deed(noun)):
            waiting.show = False
        elif (
            waiting.show
            or self._told_too(noun)
            or (self._listed(noun) and self._continues(before, noun.start))
        ):
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
            self.listing = self.listing and self._owns_last(noun)

    def _grouped(self, noun: Noun) -> None:
        """Take a noun behind an "each" for what groups."""
        unit = self._unit_of_time(noun)
        if unit is None:
            noun.role = "group"
        else:
            self.frame.nouns.pop()
            self.frame.read.add(noun.start)
        self.frame.groups.append(unit or noun)
        self.waiting.each, self.listing = False, True

    def _unit_of_time(self, noun: Noun) -> TimeUnit | None:
        """Return the unit of time that a noun is, where things of another kind have a year of their own."""
        word, best = self.question.low[noun.start], noun.candidates[0]
        info = self.schema.properties.get(best.term)
        kinds = {n.candidates[0].term for n in self.frame.nouns[:-1] if n.candidates[0].kind == "class"}
        if (
            noun.end - noun.start > 1
            or word not in _PARTS
            or best.way != "tokens"
            or info is None
            or not kinds
        ):
            return None
        return None if kinds & {*info.domains} else TimeUnit(_PARTS[word], noun.start)

    def _listed(self, noun: Noun) -> bool:
        """Return whether a noun may go on a list; behind what owns a property only another property does."""
        before = self.frame.nouns[-2] if len(self.frame.nouns) > 1 else None
        owned = before is not None and before.role == "" and before.candidates[0].kind == "class"
        return self.listing and not (owned and self.frame.outputs and noun.candidates[0].kind == "class")

    def _with_several(self, noun: Noun) -> bool:
        """Return whether what is also shown is named: "the five largest with town and rent", "and also …"."""
        low, behind = self.question.low, [i for i in self.items if i.start >= noun.start]
        before = low[max(0, noun.start - 3) : noun.start]
        told = before[-2:-1] == ["and"] and before[-1] in _THEIR and noun.candidates[0].kind == "property"
        if (told or before == ["and", "also", "the"]) and self.frame.outputs and not self.waiting.between:
            return not noun.role
        if low[noun.start - 1 : noun.start] != ["with"] or not self.frame.outputs:
            return False
        ends = next((n for n, i in enumerate(behind) if i.cue_kind == "order"), len(behind))
        named = [i.mention for i in behind[:ends] if i.mention is not None]
        joined = [i for i in behind[:ends] if i.mention is None]
        plain = all(i.start + 1 == i.end and low[i.start] in ("and", "the") for i in joined)
        told = all(m.candidates[0].kind in ("property", "class") for m in named)
        comma = "," in self.question.words[noun.start - 1].before
        values = any(m.candidates[0].kind == "property" for m in named)
        return plain and told and values and (len(named) > 1 or comma)

    def _owns_last(self, noun: Noun) -> bool:
        """Return whether a class only tells whose property is shown: "the name of the boat and the price"."""
        shown = self.frame.outputs[-1] if self.frame.outputs else None
        if not isinstance(shown, Noun) or shown.candidates[0].kind != "property":
            return False
        between = self.question.low[shown.end : noun.start]
        return noun.candidates[0].kind == "class" and between[:1] == ["of"] and set(between) <= OWNING

    def _first_of(self, noun: Noun) -> None:
        """Take a "first" or "last" before a class for a superlative: "the first paper of Ada"."""
        frame, low = self.frame, self.question.low
        word = low[noun.start - 1] if noun.start else ""
        first = self.bare is not None and self.bare.ordinal and self.bare.end == noun.start
        if (
            frame.superlative is not None
            or noun.candidates[0].kind != "class"
            or not (first or word == "last")
        ):
            return
        rank, self.bare = int(self.bare.value) if first and self.bare is not None else 1, None
        frame.superlative = Superlative(
            "least" if first else "greatest",
            None if rank == 1 else 1,
            rank - 1,
            adjective="first" if first else "last",
            of=noun,
        )
        frame.read.add(noun.start - 1)

    def _closes(self, noun: Noun) -> bool:
        """Return whether a noun is what the comparison before it is of: "more than 5 pages"."""
        opened, self.open = self.open, None
        if opened is None or self.waiting.negated:
            return False  # "over 3000 m have not been climbed" denies what is behind the number
        if self._so_many_things(opened, noun):
            opened.left = None
        if opened.left is not None and numeric(opened.left):
            info = self.schema.properties.get(opened.left.candidates[0].term)
            if info is None or info.kind not in ("entity", "text"):
                return False
        opened.right, noun.role = noun, "compared"
        return True

    def _tells_which(self, noun: Noun) -> bool:
        """Return whether a flag only tells which things are meant: "electric vans", "the electric ones"."""
        info = self.schema.properties.get(noun.candidates[0].term)
        if info is None or not info.flag or self.waiting.negated or self.waiting.order is not None:
            return False
        behind = self._mention_at(noun.end)
        best = behind.candidates[0] if behind is not None else None
        value = self.schema.properties.get(best.term) if best is not None else None
        things = best is not None and best.kind == "class"
        # "Official languages", where whether a language is official is told beside it.
        things = things or (
            value is not None and value.kind == "text" and {*value.domains} == {*info.domains}
        )
        return things or self.question.low[noun.end : noun.end + 1] in (["one"], ["ones"])

    def _object_of_who(self, noun: Noun) -> bool:
        """Return whether a noun is the object of a "who": "who wrote tips" asks for no tips."""
        best = noun.candidates[0]
        if self.question.low[0] != "who" or self.frame.outputs:
            return False
        if best.kind == "property":
            info = self.schema.properties.get(best.term)
            low = self.question.low
            passive = low[1] in BEING and "by" in low[noun.start : noun.end + 1]
            first = noun.start == 1 or (
                noun.start == 2 and passive
            )  # "who was sent by Ada" asks for no sender
            alike = bool(info and set(info.domains) & set(info.ranges)) and first
            people = info is not None and self._people(info.domains) and not self._people(info.ranges)
            return info is not None and (info.kind in ("number", "date") or info.flag or alike or people)
        behind = [w for w in self.question.low[: noun.start] if w not in ("who", "has", "have", "had")]
        if not behind and best.way in ("inflected", "synonym") and not self._people([best.term]):
            return True  # "who reviewed it" asks for no review
        words = {w for c in noun.candidates[:1] for w in c.name.lower().split()}
        if not behind or is_stopword(behind[0]) or words & PERSON_WORDS:
            return False
        return behind[0] not in VERBS_OF_ASKING

    def _deed(self, noun: Noun) -> bool:
        """Return whether a verb says what things do: "which engineers earn", "what did Ada publish"."""
        return self._dated_deed(noun) or self._deed_of_value(noun)

    def _deed_of_value(self, noun: Noun) -> bool:
        """Return whether a verb is said of the things of a value: "which engineers earn"."""
        info = self.schema.properties.get(noun.candidates[0].term)
        before = [r.mention for r in self.frame.restrictions if r.mention.end == noun.start]
        verb = noun.end - noun.start == 1 and noun.candidates[0].way != "exact"
        things = self.question.low[noun.start - 1].endswith("s") and before
        value = bool(things) and before[0].candidates[0].kind == "value"
        return value and verb and info is not None and info.kind in ("number", "date")

    def _dated_deed(self, noun: Noun) -> bool:
        """Return whether a verb tells what happened to the things that are asked for: "what did Ada publish".

        A property that has the date of it is called so; the date is asked for by "when".
        """
        low, info = self.question.low, self.schema.properties.get(noun.candidates[0].term)
        asked = self.frame.asks == "" and low[0] in ("what", "which") and low[1] in VERBS_OF_ASKING
        verb = noun.end - noun.start == 1 and low[noun.start] not in _TIMES
        subject = low[noun.start - 1] not in ("the", "a", "an", "of", "its", "their")
        return asked and verb and subject and info is not None and info.kind == "date" and noun.start > 1

    def _people(self, classes: Iterable[str]) -> bool:
        """Return whether things of some of the classes are people."""
        known = (self.schema.classes[c] for c in classes if c in self.schema.classes)
        return any(PERSON_WORDS & set(name.lower().split()) for info in known for name in info.names[:1])

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

    def _name_follows(self, noun: Noun) -> bool:
        """Return whether a "not" is meant of what is named next: an entity, or the object of a verb."""
        at, info = noun.end, self.schema.properties.get(noun.candidates[0].term)
        happened = info is None or info.kind == "date"  # what was booked is told by a date, or a booking
        deed = happened and is_past(self.question.low[noun.end - 1])
        relates = deed or (info is not None and info.kind == "entity")
        meant = {"entity", "value"} | ({"class"} if relates else set())
        for item in self.items:
            if item.start < at:
                continue
            if item.mention is not None:
                kind = item.mention.candidates[0].kind
                noun.role = "denied" if deed and kind == "class" else ""  # "not enrolled in any course"
                return item.start - at <= 2 and kind in meant
            if not item.unread or meaningful(self.question.words[item.start]):
                return False
        return False

    def _ordered(self, noun: Noun) -> None:
        waiting = self.waiting
        assert waiting.order is not None
        waiting.order.measure = FrameMeasure("count" if waiting.count else waiting.fold, noun)
        noun.role = "order"
        waiting.order, waiting.count, waiting.fold = None, False, None

    def _superlative(self, noun: Noun) -> None:
        waiting, frame = self.waiting, self.frame
        top = frame.superlative
        assert top is not None
        if self._ordered_first(noun, top):
            return
        plain = (
            self.most_word in ("highest", "lowest", "greatest") and not waiting.count and waiting.fold is None
        )
        best = noun.candidates[0]
        info = self.schema.properties.get(best.term)
        things = best.kind == "class" or (info is not None and info.kind == "entity")
        if plain and things and not top.adjective:
            # "The highest mountain" is not the one with the most of anything.
            top.adjective, top.of, waiting.most = self.most_word, noun, ""
            self._shown(noun)
            return
        function: Fold | None = "count" if waiting.count else waiting.fold
        waiting.most, waiting.count, waiting.fold, waiting.by, waiting.top = "", False, None, False, None
        behind = set(self.question.low[noun.end : noun.end + 1])
        top.measure = FrameMeasure(function, noun, money=function == "sum" and bool(_AMOUNTS & behind))
        noun.role = "measure"
        following = self._mention_at(noun.end)
        judged = is_past(self.question.low[noun.end - 1])  # "the best rated comedy" asks for comedies
        if following is not None and (judged or may_be_class(following.candidates)):
            return  # "the most reliable product": the product is asked for
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
        if waiting.fold == "average" and not waiting.count and self._number_behind(noun):
            return  # "the average engineer earns": the average is of what they earn
        if of_one(self.question.low) and waiting.fold == "sum" and not waiting.count:
            waiting.fold, waiting.show, noun.role = None, False, "output"
            frame.outputs.append(noun)
            return
        if self._bounded(noun) or (waiting.count and self._deed_of_value(noun)):
            noun.role = "compared"  # the bound takes the fold, or what a verb is said of is counted
            return
        info = self.schema.properties.get(noun.candidates[0].term)
        if waiting.count and waiting.fold is not None and info is not None and info.kind == "number":
            waiting.count = False  # "the average number of pages": the pages are numbers already
        function: Fold = "count" if waiting.count else cast(Fold, waiting.fold)
        if waiting.count and waiting.fold == "average":
            self.frame.unsupported = True  # "the average number of rooms per house" counts, then folds
        behind = set(self.question.low[noun.end : noun.end + 1])
        money = function in ("sum", "average") and bool(_AMOUNTS & behind)
        measure = FrameMeasure(function, noun, money=money)
        noun.role = "measure"
        frame.outputs.extend(FrameMeasure(f, noun, money=money) for f in waiting.folds)
        waiting.count, waiting.fold, waiting.folds, waiting.show = False, None, [], False
        frame.outputs.append(measure)
        waiting.top = None
        self.listing = True

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

    def _modifies_next(self, number: int) -> bool:
        """Return whether a property only tells which other is meant: "population density"."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, head = item.mention.candidates, following[0].mention.candidates
        plural = self.question.words[item.end - 1].low.endswith("s")
        if {own[0].kind, head[0].kind} != {"property"} or plural or self.question.words[item.end].before:
            return False
        best = self.schema.properties.get(head[0].term)
        if best is None or best.kind != "number" or head[0].score < 0.9:
            return False
        close = [self.schema.properties.get(c.term) for c in own if c.score > own[0].score - 0.02]
        if not any(o and o.kind == "number" and set(o.domains) & set(best.domains) for o in close):
            return False
        self.frame.read.update(range(item.start, item.end))
        return True

    def _kind_of_kind(self, cls: str, following: QuestionItem) -> bool:
        """Return whether a class only tells of what the things behind it are: "turbine models"."""
        assert following.mention is not None
        head, candidates = self.question.words[following.end - 1], following.mention.candidates
        heads = {c.term for c in candidates if c.kind == "class" and c.score >= candidates[0].score - 0.05}
        if not head.plural or self.question.words[following.start].before or cls in heads:
            return False
        return any({e.source, e.target} == {cls, other} for e in self.schema.edges for other in heads)

    def _owner_of_next(self, number: int) -> bool:
        """Take a class that stands right before one of its own properties for part of the property's name."""
        item, following = self.items[number], self.items[number + 1 : number + 2]
        if not following or following[0].mention is None or following[0].start != item.end:
            return False
        assert item.mention is not None
        own, behind = item.mention.candidates[0], following[0].mention.candidates
        word = self.question.words[item.end - 1]
        plural = word.plural and word.low != "sales"
        verb = self.question.words[item.end].low
        asked = {"does", "do", "did"} & {*self.question.low[: item.start]} and verb in VERBS
        compared = _MOST if verb not in ("cost", "costs") else _MOST | _COSTING
        costs = compared & {*self.question.low[item.end + 1 : item.end + 2]}
        if plural or asked or costs or verb == "born" or is_past(verb) or verb in PARTICIPLES:
            return False  # "products cost" and "product sold" are no compounds, "customer state" is
        if own.kind == "class" and self._kind_of_kind(own.term, following[0]):
            self.frame.read.update(range(item.start, item.end))
            return True
        if own.kind != "class" or self.question.words[item.end].before not in ("", "'", "’"):
            return False
        kept = [c for c in behind if c.kind == "property" and self._owns(own.term, c.term)]
        if not kept or kept[0].score < behind[0].score - 0.2:
            return False
        noun = Noun(item.start, item.end, item.mention.candidates, role="owner")
        self.frame.nouns.append(noun)
        self.owner, self.owner_start = own.term, item.start
        return True

    def _mention(self, item: QuestionItem, mention: NameMention) -> None:
        kinds = {c.kind for c in mention.candidates[:1]}
        best = mention.candidates[0].score
        nouns = tuple(c for c in mention.candidates if c.kind in ("class", "property"))
        names = tuple(c for c in mention.candidates if c.kind in ("entity", "value"))
        if self.waiting.text == "anywhere" and kinds == {"class"}:
            self.waiting.text = None  # "states that contain mountains" is not about text
        of_things = self.last is not None and self.last.candidates[0].kind == "class"
        if (
            self.waiting.text == "anywhere"
            and kinds == {"entity"}
            and of_things
            and mention.candidates[0].way == "exact"
        ):
            self.waiting.text = None  # "orders that contain the Red Lamp"
        texts = self.frame.texts
        if texts and self.or_at == item.start == self.text_at + 1 and texts[-1].position == "whole" and names:
            self.waiting.text = "whole"  # "a grade of A or C"
        if self.waiting.text is not None:
            self._text(self.question.said(item.start, item.end), item)
            return
        named = bool(names) and ("entity" in kinds or "value" in kinds)
        if nouns and names and nouns[0].score >= best - 0.05:
            # A class or a property that a value happens to be called by.
            named = self._kind_of_next(item, names)
        owner, self.owner = self.owner, ""
        if owner:
            nouns = tuple(c for c in nouns if self._owns(owner, c.term))
            named = False
        if named:
            mention = NameMention(item.start, item.end, names)
            if (noun := self._of_a_kind(item, names)) is not None:
                found = FrameRestriction(mention, noun)
                previous = self.frame.restrictions[-1] if self.frame.restrictions else None
                if previous is not None and self._exclude_each_other(previous, found):
                    self._alternatives(previous, found)
                    found.noun = previous.noun
                else:
                    self._noun(noun)
                self.frame.restrictions.append(found)
            else:
                self._name(item, mention)
        else:
            self._noun(Noun(self.owner_start if owner else item.start, item.end, nouns))

    def _name(self, item: QuestionItem, mention: NameMention) -> None:
        waiting = self.waiting
        if waiting.compare is not None and waiting.compare not in ("=",):
            left = self.last if self._adjacent(item.start, 4) else None
            self._compared(
                Compared(waiting.compare, mention, left=left, adjective=waiting.adjective, at=item.start)
            )
            return
        low = self.question.low
        verb = VERBS_OF_ASKING & {*low[item.end : item.end + 1]}
        if waiting.show and low[item.start - 1 : item.start] == ["which"] and verb:
            waiting.show = self.implicit = False  # "which thriller has …" asks for things of a kind
        noun = self.last if self.last is not None and self._adjacent(item.start, 3) else None
        if noun is not None and not numeric(noun):
            joining = set(low[noun.end : item.start])
            if joining and joining <= _NAMED:
                waiting.text = "whole"
                self._text(self.question.said(item.start, item.end), item)
                return
            if joining & _APART and any(noun.candidates[0].term in c.classes for c in mention.candidates):
                noun = None  # "how many rivers does Colorado have" names no river
        if waiting.count and _APART & {*low[item.end : item.end + 1]} and low[item.start - 1] == "many":
            # "How many Dairy Belle are there in Alameda county" counts what is named, not counties.
            self.frame.outputs.append(FrameMeasure("count", None))
            waiting.count = waiting.show = False
        negated, waiting.negated = waiting.negated, False
        behind = self._beside(item, mention)
        if behind is not None:
            noun = behind
        found = FrameRestriction(
            mention, noun, negated, before=tuple(low[max(0, item.start - 3) : item.start])
        )
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
            self._alternatives(previous, found)
            found.negated, found.noun = previous.negated or negated, found.noun or previous.noun
        if previous is not None and found.either < 0 and self._exclude_each_other(previous, found):
            self._alternatives(previous, found)
            found.noun = found.noun or previous.noun
        if previous is not None and self._listed_with(previous, found):
            self._alternatives(previous, found)
            previous.listed = found.listed = True
        self.frame.restrictions.append(found)
        self.listing = False
        self.last_at = item.end

    def _alternatives(self, previous: FrameRestriction, found: FrameRestriction) -> None:
        """Take a name for an alternative to the one before it."""
        if previous.either < 0:
            previous.either, self.either = self.either, self.either + 1
        found.either = previous.either

    def _kind_of_next(self, item: QuestionItem, names: tuple[Candidate, ...]) -> bool:
        """Return whether a value says of which kind are the things right behind it: "engine repairs"."""
        following = self._mention_at(item.end)
        if following is None or following.candidates[0].kind != "class":
            return False
        cls = following.candidates[0].term
        head = self.question.words[following.end - 1]
        return head.low != head.token.key and any(
            cls in info.domains and info.kind == "text"
            for c in names[:2] if c.kind == "value" and c.way == "exact" for p in c.properties
            if (info := self.schema.properties.get(p)) is not None
        )  # fmt: skip

    def _exclude_each_other(self, previous: FrameRestriction, found: FrameRestriction) -> bool:
        """Return whether no thing has both of two values: "on Mondays and Wednesdays"."""
        low, start = self.question.low, previous.mention.start
        between = low[previous.mention.end : found.mention.start]
        comma = "," in self.question.words[found.mention.start].before
        if not ("and" in between or comma) or not {*between} <= {"and", "the", "on", "in", "a", "an"}:
            return False
        if (
            self.frame.yes_or_no
            or "both" in low[max(0, start - 5) : start]
            or previous.negated
            or found.negated
        ):
            return False
        values = [[c for c in r.mention.candidates[:2] if c.kind == "value"] for r in (previous, found)]
        return any(
            info.functional
            for one in values[0][:1] for other in values[1][:1]
            for p in {*one.properties} & {*other.properties}
            if (info := self.schema.properties.get(p)) is not None and one.term != other.term
        )  # fmt: skip

    def _of_a_kind(self, item: QuestionItem, names: tuple[Candidate, ...]) -> Noun | None:
        """Return what stands for the things of a kind that is said like a class: "all comedies"."""
        low, last = self.question.low, self.question.words[item.end - 1]
        before = low[item.start - 1] if item.start else ""
        plural = last.plural and before not in _NAMES_WHERE
        if self.waiting.negated or self.waiting.compare or self.or_at >= self.last_at > 0:
            return None
        said_of = low[max(0, item.start - 2) : item.start - 1]
        capital = self.question.said(item.start, item.end)[:1].isupper() and names[0].kind == "entity"
        if (
            before in ("a", "an")
            and capital
            and not plural
            and (said_of in _SAID_OF or self._has_last(names))
        ):
            return None  # "the price of a Boeing 747" is its own
        judged = self.waiting.show and self.last_at == item.start and before.endswith("ed")
        said = plural or judged or before in _ONE_OF
        if not said:
            return None
        if (following := self._mention_at(item.end)) is not None:
            verb = low[following.start]
            asked = bool({"do", "did"} & {*low[: item.start]})  # "what do comedies earn"
            thing = following.candidates[0].kind == "class"
            does = verb in VERBS or (asked and not thing) if plural else third_person(verb) and not thing
            if not (verb.endswith("ed") or verb in PARTICIPLES or does):
                return None  # a "comedy actor" is no comedy, but "comedies directed by" somebody are
        found: list[tuple[int, str]] = []
        for name in names[:3]:
            if name.term.startswith(DESCRIBED):
                return None
            if plural and name.name.casefold().split()[-1:] == [last.low]:
                return None  # the name is a plural itself: "Eagles"
            for info in self.schema.properties.values():
                of_it = info.iri in name.properties if name.kind == "value" else (
                    info.kind == "entity" and bool(set(info.ranges) & set(name.classes))
                )  # fmt: skip
                alike = set(info.domains) & set(info.ranges)
                if of_it and info.domains and not alike and info.triples > info.objects:
                    found.append((info.triples, most_of(info.domains)))
            if found:
                break
        if not found:
            return None
        cls = max(found)[1]
        called = (
            next(iter(self.schema.classes[cls].names), "thing") if cls in self.schema.classes else "thing"
        )
        return Noun(item.start, item.end, (Candidate("class", cls, 0.95, called),), implied=True)

    def _has_last(self, names: tuple[Candidate, ...]) -> bool:
        """Return whether what was last spoken of is said of a thing itself: "seats in an Airbus A320"."""
        found = self.last.candidates[0].term if self.last is not None else ""
        info = self.schema.properties.get(found)
        return info is not None and info.kind != "entity" and bool({*info.domains} & {*names[0].classes})

    def _listed_with(self, previous: FrameRestriction, found: FrameRestriction) -> bool:
        """Return whether two names are of things whose properties are asked for: "of Texas and Oklahoma"."""
        low = self.question.low
        if low[previous.mention.end : found.mention.start] != ["and"] or self.frame.yes_or_no:
            return False
        before = low[max(0, previous.mention.start - 5) : previous.mention.start]
        if "both" in before and before[max(0, before.index("both") - 1)] not in ("of", "for"):
            return False  # "the capacity of both halls" is that of each
        classes = [set(r.mention.candidates[0].classes) for r in (previous, found)]
        last = self.frame.outputs[-1] if self.frame.outputs else None
        noun = last.noun if isinstance(last, FrameMeasure) else last
        return isinstance(noun, Noun) and any(
            set(info.domains) & classes[0] & classes[1]
            for c in noun.candidates
            if (info := self.schema.properties.get(c.term)) is not None and info.kind == "number"
        )

    def _beside(self, item: QuestionItem, mention: NameMention) -> Noun | None:
        """Return the class or property right behind a name that it is a name of: "the Sociology domain"."""
        following = self._mention_at(item.end)
        if following is None:
            return None
        least = mention.candidates[0].score - 0.3  # what only has one of its words is no name of it
        terms = {t for c in mention.candidates if c.score > least for t in (*c.classes, *c.properties)}
        kept = tuple(c for c in following.candidates if c.term in terms and c.score > 0.45)
        if not kept:
            return None
        head, best = self.question.words[following.end - 1], following.candidates[0]
        if (
            best.kind == "class"
            and best.way == "exact"
            and kept[0].kind == "property"
            and kept[0].score < 0.7
        ):
            return None  # a "failed transaction" is none of the words "transaction status"
        if self.waiting.count and kept[0].kind == "class" and head.plural:
            return None  # "how many pizza restaurants" counts restaurants, whatever one of them is called
        self.skipped.add(following.start)
        noun = Noun(following.start, following.end, kept, "beside")
        self.frame.nouns.append(noun)
        return noun

    def read(self) -> Frame:
        """Return the frame."""
        low = self.question.low
        self.frame.yes_or_no = bool(low) and low[0] in VERBS_OF_ASKING
        if not self.frame.yes_or_no:
            self.waiting.show = self.implicit = True
        self.items = with_lists_of_folds(self.items, self.question)
        for number, item in enumerate(self.items):
            if item.cue is not None:
                self._cue(item.cue, number)
            elif item.mention is not None:
                part = self._owner_of_next(number) or self._modifies_next(number)
                if item.start not in self.skipped and not part:
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
        last = self.frame.outputs[-1] if self.frame.outputs else None
        if waiting.fold == "sum" and isinstance(last, Noun) and numeric(last):
            # "The area of all states combined"
            self.frame.outputs[-1], waiting.fold = FrameMeasure("sum", last), None
            last.role = "measure"
        self._done_by_things()
        self._last_fold()
        self._first_or_last()
        if self.bare is not None and self.bare.ordinal and frame_is_plain(self.frame):
            self.frame.unsupported = True  # the first of what?
        self.frame.dangling = waiting.count and bool(self.frame.measures)
        if waiting.negated or waiting.compare or waiting.between or waiting.each:
            self.frame.unsupported = True
        if self.waiting.count and not self.frame.outputs:
            self.frame.outputs.append(FrameMeasure("count"))
        if self.boundary is not None and len(self.frame.outputs) - self.boundary > 1:
            # "Who are the best? Return their name and age.": the second sentence says what is shown.
            self.frame.outputs = [*self._answered(self.boundary), *self.frame.outputs[self.boundary :]]
        return self.frame

    def _answered(self, boundary: int) -> list[Noun]:
        """Return the things asked for before a second sentence, unless that says how to name them."""
        first = [o for o in self.frame.outputs[:boundary] if isinstance(o, Noun)]
        things = [o for o in first if o.candidates[0].kind == "class"]
        told = [o for o in self.frame.outputs[boundary:] if isinstance(o, Noun)]
        said = {w for o in told for w in o.candidates[0].name.lower().split()}
        named = bool(IDENTIFYING & said) or {o.candidates[0].term for o in (*things, *told)} == {
            o.candidates[0].term for o in told
        }
        return [] if not told or named or self.frame.named or len(things) != 1 else things

    def _first_or_last(self) -> None:
        """Order by the time of the verb before a "first" at the end: "which band was formed first"."""
        frame, low = self.frame, self.question.low
        ranked = self.bare is not None and self.bare.ordinal and self.bare.end == len(low)
        if frame.superlative is not None or not (ranked or low[-1:] == ["last"]):
            return
        times = () if self.last is None else tuple(c for c in self.last.candidates if self._timely(c.term))
        if self.last is None or not times or (self.bare is not None and self.bare.value != 1):
            frame.unsupported = True
            return
        self.last.candidates, self.last.role = times, "measure"
        frame.superlative = Superlative(
            "least" if ranked else "greatest", measure=FrameMeasure(None, self.last)
        )
        frame.read.add(len(low) - 1)

    def _timely(self, iri: str) -> bool:
        info = self.schema.properties.get(iri)
        return info is not None and (info.kind == "date" or "year" in info.names[0].lower().split())

    def _cue(self, cue: Cue, number: int) -> None:
        waiting, frame = self.waiting, self.frame
        kind, value = cue.kind, cue.value
        asks = kind in ("show", "who", "where", "when", "count") and not self._begins_a_clause(cue)
        if asks and self.implicit:
            # "For customers in Spain, what is …": what came before was no list of what to show.
            self.implicit = False
            for noun in frame.nouns:
                if noun.role == "output":
                    noun.role = ""
            frame.outputs.clear()
            self.listing = False
        if self._begins_a_clause(cue):
            pass
        elif kind == "show":
            self._show(cue)
        elif kind == "count":
            self._count(cue)
        elif kind == "fold":
            self._fold(cue)
        elif kind == "most":
            self._most(cue)
        elif kind == "top":
            # "The top five best": the number is said already.
            if waiting.top is None or waiting.top.n is None:
                word = self.question.low[cue.end - 1]
                waiting.top = frame.superlative = Superlative(
                    value, adjective=word if word in _JUDGED else ""
                )
        elif kind == "compare":
            self._compare(cue)
        elif kind == "between":
            waiting.between = True
        elif kind == "group":
            self._group(cue)
        elif kind in ("order", "direction"):
            self._order(cue)
        else:
            self._other(cue)

    def _begins_a_clause(self, cue: Cue) -> bool:
        """Return whether a "where" or "in which" says more of the things before it: "towns where …"."""
        low, start = self.question.low, cue.start
        if cue.end - start > 1 or low[start] not in ("where", "which") or self.last is None:
            return False
        before = start - (low[start] == "which")
        if self.last_at != before or self.last.candidates[0].kind != "class":
            return False
        placed = before == start or low[before] in ("in", "for", "at", "on")
        apart = any(w.before for w in self.question.words[before : start + 1])
        return placed and not apart and not VERBS_OF_ASKING & {*low[cue.end : cue.end + 1]}

    def _show(self, cue: Cue) -> None:
        waiting, frame = self.waiting, self.frame
        frame.unsupported |= waiting.each  # what was to come behind "each" has not come
        if self._plain_name(cue):
            frame.named, waiting.show, self.listing, self.last_at = True, False, True, cue.end
            return
        if self._head_of_last(cue):
            self.last_at = cue.end
            return
        following = self.question.low[cue.end : cue.end + 1]
        earlier = [n for n in frame.nouns if n.candidates[0].kind == "class" and not n.role]
        if self.question.low[cue.start] == "which" and VERBS_OF_ASKING & set(following) and earlier:
            # "Of the states in the south, which has …": the states are asked for.
            earlier[0].role, waiting.show, self.implicit = "output", False, False
            frame.outputs.append(earlier[0])
            return
        waiting.show, self.listing = True, False
        if (
            self.boundary is None
            and frame.outputs
            and set(self.question.words[cue.start].before) & set("?.!;")
        ):
            self.boundary = len(frame.outputs)

    def _head_of_last(self, cue: Cue) -> bool:
        """Return whether a "name" belongs to the property before it: "the model name"."""
        last, words = self.last, self.question.words[cue.start : cue.end]
        if [w.low for w in words] != ["name"] or words[0].before or self.last_at != cue.start:
            return False
        return last is not None and numeric(last)

    def _plain_name(self, cue: Cue) -> bool:
        """Return whether a "name" is what is shown rather than a request: "show me name and price"."""
        asked = self.waiting.show and not self.implicit
        return self.question.low[cue.start : cue.end] == ["name"] and (asked or self.listing)

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
        if (
            cue.kind in ("who", "where", "when")
            and not (self.frame.asks or self.frame.nouns)
            and cue.start < 3
        ):
            self.frame.asks = cue.kind
            self.waiting.show = True
        if cue.kind in ("ratio", "percentage", "difference"):
            self.frame.unsupported = True
        elif cue.kind == "same":
            self.frame.same = True

    def _most(self, cue: Cue) -> None:
        waiting, low = self.waiting, self.question.low
        if (fold := self._extreme_of_each(cue)) is not None:
            waiting.fold = fold
            return
        waiting.most, self.most_word = cue.value, low[cue.end - 1]
        if self.last is not None and low[cue.end : cue.end + 1] == ["to"] and self._costs(cue):
            # "Which boat cost the most to repair"
            self.last.role, waiting.most = "measure", ""
            self.frame.superlative = Superlative(cue.value, measure=FrameMeasure(None, self.last))
            return
        if self.frame.superlative is not None and low[cue.end + 1 : cue.end + 2] == ["first"]:
            return  # "the five dearest, most expensive first"
        if self.frame.superlative is not None and self.frame.superlative.adjective:
            self.frame.unsupported = self.frame.superlative.adjective not in _JUDGED
        if "number of" in " ".join(self.question.low[cue.start : cue.end]):
            waiting.count = True
        if self.frame.superlative is None or waiting.top is None:
            self.frame.superlative = self.frame.superlative or Superlative(cue.value)
            self.frame.superlative.direction = cue.value
        if self.bare is not None:
            rank = int(self.bare.value)
            if self.bare.ordinal and self.last is not None and self.last.start >= self.bare.end:
                self.frame.unsupported = True  # "first author the most often": it is no rank
            if self.bare.ordinal:
                self.frame.superlative.offset, self.frame.superlative.n = rank - 1, self.rows
            else:
                self.frame.superlative.n = rank
            self.bare = None

    def _costs(self, cue: Cue) -> bool:
        """Return whether the last noun is a verb for a number, right before a "the most"."""
        if self.last is None or not set(self.question.low[self.last.end : cue.start]) <= {"the"}:
            return False
        kinds = (self.schema.properties.get(c.term) for c in self.last.candidates)
        return not self.last.role and any(i is not None and i.kind == "number" for i in kinds)

    def _compare(self, cue: Cue) -> None:
        relation = cast(Relation, cue.value)
        words = self.question.low[cue.start : cue.end]
        if words[0] == "or" and self.frame.compared and self._adjacent(cue.start, 3):
            self.frame.compared[-1].relation = relation
            return
        self.waiting.compare = relation
        self.waiting.adjective = words[0] if words[0].endswith("er") and words[-1] == "than" else ""
        if words[0] in ("more", "less") and len(words) == 3:
            self.waiting.adjective = words[1]
        if self.waiting.adjective in ("greater", "later", "earlier", "fewer"):
            self.waiting.adjective = ""

    def _group(self, cue: Cue) -> None:
        top = self.frame.superlative
        before = next((i.cue for i in self.items if i.end == cue.start and i.cue is not None), None)
        if before is not None and before.kind in ("order", "direction") and self.frame.orders:
            self.waiting.order = self.frame.orders[-1]
        elif cue.value == "each" and self.boundary is not None and self.question.low[cue.end :] in _EACH:
            self.listing = False
        elif cue.value == "each":
            self.waiting.each = True
            self.waiting.show = False
        elif top is not None and top.measure is None and not top.adjective:
            self.waiting.by = True
        elif (
            self.question.low[cue.start] == "by"
            and (self.frame.measures or self.waiting.count)
            and (not self._passive(cue.start) or self.question.low[cue.end : cue.end + 1] in _READER_TIMES)
            and not self._doers(cue.end)
        ):
            self.waiting.each = True

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
        said = {*self.question.low[cue.start : cue.end]}
        self.frame.orders[-1].by = "time" if said & _OF_TIME else "number" if said & _OF_NUMBER else ""
        alphabetical = "alphabetical" in " ".join(self.question.low[cue.start : cue.end])
        if self.waiting.order is None and not alphabetical and self.question.low[cue.end - 1] == "of":
            self.waiting.order = self.frame.orders[-1]
