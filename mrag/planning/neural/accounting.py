"""Whether a plan that a model wrote says all that its question says.

Each word that carries meaning has to be accounted for: by a name that the plan uses, by one that is near in
meaning, by an operation. What names a thing, a number or a time, and what asks for an average or denies,
has to be found in the plan itself; other words a model may have put in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.context.display import Display
from mrag.planning.following.editing import walk
from mrag.planning.interchange import plan_to_json
from mrag.planning.lexical.words import is_past
from mrag.planning.lexicon import Lexicon
from mrag.planning.neural.retelling import Unread
from mrag.planning.neural.selecting import families
from mrag.planning.plan import Aggregate, Arithmetic, Block, Comparison, Days, Pattern, Plan
from mrag.planning.reading.cues import Cue, cues
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.reading.segmentation import meaningful
from mrag.planning.schema import ClassInfo, PropertyInfo
from mrag.text.tokens import IRREGULAR, content, is_stopword, stem

_NEAR: Final = 0.45
"""How near in meaning a word is to a name that stands for it, as a cosine."""
_ALIKE: Final = 0.55
"""The same of a word with the one before or behind it: "power station" for "power plant"."""
_WELL: Final = 0.5
"""How surely words name what the plan uses if it is more than near to them."""
_NAMES: Final = 0.75
"""How surely words name a thing or a value that a plan may not leave out."""
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")


def unread(lexicon: Lexicon, question: str, plan: Plan) -> Unread:
    """Return the words of a question that carry meaning and that nothing in a plan stands for.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
    """
    return _Account(lexicon, question, plan).unread()


class _Account:
    def __init__(self, lexicon: Lexicon, question: str, plan: Plan) -> None:
        self._lexicon = lexicon
        self._asked: QuestionText = cut(question)
        self._plan = plan
        self._used = set(_texts(plan_to_json(plan)))
        schema = lexicon.schema
        infos: list[ClassInfo | PropertyInfo] = [*schema.properties.values(), *schema.classes.values()]
        infos = [info for info in infos if info.iri in self._used]
        self._names = [name for info in infos for name in info.names]
        texts = (*self._names, *(info.comment for info in infos), *self._used)
        self._said = {stem(word) for text in texts for word in content(text)}
        self._mentions = lexicon.match([word.token for word in self._asked.words], self._asked.text)

    def unread(self) -> Unread:
        read = self._read()
        missing = self._named(read) | self._numbers(read) | self._operations()
        words = self._asked.words
        open_ = set(range(len(words))) - read - missing
        open_ = {i for i in open_ if meaningful(words[i]) and not self._is_passed(i)}
        near = {i for i in open_ if self._is_near(i)} | open_ & self._mentioned(0.0)
        unknown = open_ - near
        # "The legal date" is a date; where nothing at all stands for what is asked for, no answer can be one.
        nouns = {i for i in unknown if not (self._is_deed(i) or self._describes(i, unknown))}
        asked = {i for i in nouns if self._is_asked(i)}
        near = {i for i in near if self._is_asked(i) and not self._is_deed(i)}
        # What is counted has to be in the plan: any rows may be told as a number of anything.
        counted = {i for i in asked if "many" in self._asked.low[max(0, i - 3) : i]}
        parts = (missing | asked, unknown - asked, nouns - asked, asked - counted, near)
        missed, passed, *others = (tuple(words[i].low for i in sorted(some)) for some in parts)
        return Unread(missed, passed, self._invented(), *others)

    def _is_asked(self, at: int) -> bool:
        """Return whether a noun is what is asked for: behind "which" or "list", first, or "of" something."""
        low = self._asked.low
        if "of" in low[at + 1 : at + 2]:
            return True
        while at and not is_stopword(self._asked.words[at - 1].token.key) and not self._is_deed(at - 1):
            at -= 1
            if low[at] in _ASKING:
                return True
        return not at or low[at - 1] in _ASKING

    def _describes(self, at: int, unknown: Set[int]) -> bool:
        """Return whether a word stands before a noun that is accounted for."""
        behind = self._asked.words[at + 1 : at + 2]
        return bool(behind) and not (
            at + 1 in unknown or is_stopword(behind[0].token.key) or self._is_deed(at + 1)
        )

    def _is_deed(self, at: int) -> bool:
        """Return whether a word is rather a verb than a noun, by its form or what stands before it."""
        word, before = self._asked.low[at], self._asked.low[at - 1 : at]
        return is_past(word) or word in IRREGULAR or word.endswith("ing") or bool(_BEFORE_DEEDS & set(before))

    def _read(self) -> set[int]:
        """Return the places of words that names of the plan or operations stand for."""
        read = {i for cue in cues(self._asked.low) for i in range(cue.start, cue.end)}
        read |= {i for number in self._asked.quantities for i in range(number.start, number.end)}
        read |= {i for period in self._asked.periods for i in range(period.start, period.end)}
        return (
            read
            | self._mentioned(_WELL)
            | {i for i, word in enumerate(self._asked.words) if word.stem in self._said}
        )

    def _mentioned(self, least: float) -> set[int]:
        """Return the places of words that name something in the plan, with a score."""
        return {
            i
            for mention in self._mentions
            if any(c.term in self._used and c.score >= least for c in mention.candidates)
            for i in range(mention.start, mention.end)
        }

    def _named(self, read: set[int]) -> set[int]:
        """Return the places of names of things and values that the plan leaves out."""
        found = set[int]()
        for mention in self._mentions:
            best = mention.candidates[0]
            span = set(range(mention.start, mention.end))
            proper = any(self._asked.words[i].token.raw[:1].isupper() for i in span - {0})
            if best.kind in ("entity", "value") and best.score >= _NAMES and proper:
                found |= span - read
        return found

    def _numbers(self, read: set[int]) -> set[int]:
        """Return the places of numbers and of years that the plan does not have."""
        numbers = {float(n) for text in map(str, _values(plan_to_json(self._plan))) for n in _found(text)}
        found = set[int]()
        named = {
            i
            for mention in self._mentions
            if any(c.term in self._used and c.kind in ("entity", "value") for c in mention.candidates)
            for i in range(mention.start, mention.end)
        }
        timed = {i for period in self._asked.periods for i in range(period.start, period.end)}
        for quantity in self._asked.quantities:
            span = set(range(quantity.start, quantity.end))
            known = quantity.ordinal or quantity.value in (0.0, 1.0, 2.0) or _near(quantity.value, numbers)
            if not (known or span & (timed | named)):
                found |= span
        for period in self._asked.periods:
            years = {day.year for day in (period.low, period.high) if day is not None}
            span = set(range(period.start, period.end))
            if years and not span & named and not any(float(year) in numbers for year in years):
                found |= span
        return found

    def _operations(self) -> set[int]:
        """Return the places of words for operations that the plan does not have."""
        parts = list(walk(self._plan))
        folds = {part.function for part in parts if isinstance(part, Aggregate)}
        has = {
            "average": "average" in folds,
            "percentage": any(isinstance(p, Arithmetic) and p.operation == "/" for p in parts),
            "not": any(isinstance(p, Block) and p.without for p in parts) or self._denies(parts),
            "most": bool({"maximum", "minimum"} & folds)
            or any(isinstance(p, Plan) and p.order for p in parts),
        }
        every = list(cues(self._asked.low))
        found = set[int]()
        for cue in every:
            if not has.get(_operation(cue), True) and not _is_inside(cue, every):
                span = set(range(cue.start, cue.end))
                # What a name of the plan says, such as "average speed", need not be computed.
                found |= set() if any(self._asked.words[i].stem in self._said for i in span) else span
        return found

    def _invented(self) -> tuple[str, ...]:
        """Return what a plan says of things that the question does not: names, kinds, numbers."""
        named = {candidate.term for mention in self._mentions for candidate in mention.candidates}
        found: list[str] = []
        for part in walk(self._plan):
            if isinstance(part, Pattern) and part.predicate == RDF.type:
                found += [] if self._is_said_kind(str(part.object), named) else [str(part.object)]
            if not isinstance(part, Comparison) or str(part.right) in named:
                continue
            if isinstance(part.right, Literal) and isinstance(part.right.value, str):
                found += [] if self._is_said(str(part.right)) else [str(part.right)]
            elif isinstance(part.right, URIRef):
                name = Display(self._lexicon.kg).entity(str(part.right))
                found += [] if self._is_said(name) else [name]
            elif isinstance(part.right, Literal) and isinstance(part.right.value, int | float):
                found += [] if self._is_number_said(float(part.right.value)) else [str(part.right)]
        return tuple(dict.fromkeys(found))

    def _is_said_kind(self, iri: str, named: set[str]) -> bool:
        """Return whether a question says which kind of things it asks for; tables need no mention."""
        schema = self._lexicon.schema
        if iri in named or iri in families(schema) or iri not in schema.classes:
            return True
        above = {name for top in schema.above(iri) - {iri} for name in schema.classes[top].names}
        known = {stem(word) for name in above for word in content(name)}
        return any(self._is_said(name, known) for name in schema.classes[iri].names)

    def _is_said(self, text: str, known: Set[str] = frozenset()) -> bool:
        """Return whether words of the question are those of a text, or mean what it means."""
        own = {stem(word) for word in content(text)} - known
        words = self._asked.words
        if not own or own & {word.stem for word in words}:
            return True
        low = self._asked.low
        phrases = [*low, *(" ".join(low[i : i + 2]) for i in range(len(low) - 1))]
        return any(self._lexicon.likeness(phrase, text) >= _ALIKE for phrase in phrases)

    def _is_number_said(self, number: float) -> bool:
        """Return whether a question has a number, maybe in another unit, or need not have it."""
        years = {float(day.year) for p in self._asked.periods for day in (p.low, p.high) if day is not None}
        said = {q.value for q in self._asked.quantities} | years
        return number in _ALWAYS or any(_near(number, {s * f, s / f}) for s in said for f in _UNITS)

    def _denies(self, parts: list[object]) -> bool:
        """Return whether something is compared to be other, none, or not so."""
        return any(
            isinstance(p, Comparison)
            and (p.relation == "!=" or str(p.right).lower() in ("0", "false", "n", "no") or p.relation == "<")
            for p in parts
        )

    def _is_passed(self, at: int) -> bool:
        """Return whether a word need not be in a plan, or is a unit of what it computes."""
        word = self._asked.low[at]
        if word in _PASSED or any(q.end == at for q in self._asked.quantities):
            return True
        if any(d.property in self._used for d in self._lexicon.dimension(word)):
            return True
        return any(isinstance(part, Days) for part in walk(self._plan)) and word in _DURATIONS

    def _is_near(self, at: int) -> bool:
        """Return whether a word is near in meaning to what the plan uses."""
        low = self._asked.low
        word = low[at]
        phrases = [" ".join(low[i : i + 2]) for i in (at - 1, at) if 0 <= i < len(low) - 1]
        return any(
            self._lexicon.likeness(word, name) >= _NEAR
            or any(self._lexicon.likeness(phrase, name) >= _ALIKE for phrase in phrases)
            for name in self._names
        )


_PASSED: Final = frozenset(
    "among amongst already directly altogether far up down off out away euros euro dollars dollar "
    "pounds".split()
)
"""Words that a model's plan need not say: they stress something, belong to a verb, or are units of money."""
_BEFORE_DEEDS: Final = frozenset(
    "to not never who that do does did has have had is was were are been be being can could will would "
    "i we they he she it you there".split()
)
_ASKING: Final = frozenset(
    "which what whose many much list show name names give find tell state count number".split()
)
"""Words before what is asked for."""
_ALWAYS: Final = frozenset((0.0, 1.0, 2.0, 100.0))
"""Numbers that a plan may have though its question does not."""
_UNITS: Final = (1.0, 7.0, 12.0, 24.0, 60.0, 100.0, 365.0, 1_000.0, 3_600.0, 1_000_000.0)
"""What numbers differ by in other units."""
_DURATIONS: Final = frozenset("long longest shortest short time days took take late duration".split())


def _operation(cue: Cue) -> str:
    return cue.value if cue.kind == "fold" else cue.kind


def _is_inside(cue: Cue, every: list[Cue]) -> bool:
    """Return whether words are part of longer ones that say something else: "no more than"."""
    return any(
        o.kind != cue.kind
        and o.start <= cue.start
        and cue.end <= o.end
        and o.end - o.start > cue.end - cue.start
        for o in every
    )


def _near(value: float, numbers: set[float]) -> bool:
    return any(abs(value - n) < 1e-6 * max(1.0, abs(n)) or abs(value - 100 * n) < 1e-6 for n in numbers)


def _found(text: str) -> list[str]:
    return _NUMBER.findall(text) if len(text) < 40 and not text.startswith("http") else []


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a plan in JSON."""
    return (text for text in _values(value) if isinstance(text, str))


def _values(value: object) -> Iterator[object]:
    """Yield all texts and numbers of a plan in JSON."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _values(one)
    else:
        yield value
