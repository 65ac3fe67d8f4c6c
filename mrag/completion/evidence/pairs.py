"""What a sentence says of two names: by words between or beside them, or by a preposition alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mrag.completion.evidence.asserting import beyond, closed, governed, unreal
from mrag.completion.evidence.direction import beside, stative
from mrag.completion.evidence.kinds import Kinds
from mrag.completion.evidence.phrases import (
    AND,
    COPULA,
    LIGHT,
    OF,
    PARTICIPLES,
    acting,
    another,
    apart,
    between_others,
    in_fiction,
    led_elsewhere,
    listed,
    qualifies,
    reaches,
)
from mrag.completion.evidence.sentences import ReadSentence
from mrag.completion.plan.spans import Span, words_of
from mrag.completion.relation_words import RelationWords, around

_FAR: Final = 25
_OPPOSITES: Final = {
    "first": frozenset(("last", "latest", "final", "again", "next")),
    "last": frozenset(("first", "earliest")),
}
"""What a sentence may not say in place of a word of a relation's name: "last held" for "first held"."""
_OVER: Final = {"lives": "lived", "works": "worked", "resides": "resided", "plays": "played"}
"""What is so no longer, where it is told in the past, though its relation says that it is."""
_GONE: Final = frozenset(
    ("away", "moved", "moves", "removed", "removes", "departed", "left", "driven", "banned", "expelled",
     "stolen", "missing", "transferred", "relocated", "evicted", "withdrawn")
)  # fmt: skip
"""Words with which a place is no longer where something is: "moved from", "away from"."""


@dataclass(frozen=True)
class Said:
    """A relation as a word of a sentence says it: how surely, by which key, and where."""

    sure: float
    key: str
    place: int


@dataclass(frozen=True)
class NamePair:
    """Two names in a sentence.

    Attributes:
        sentence: The sentence.
        at: Where what is known stands, or the subject.
        candidate: Where the other one stands.
        text: What the other one is called.
        possible: Whether a relation may hold of the two.
    """

    sentence: ReadSentence
    at: Span
    candidate: Span
    text: str
    possible: Callable[[str], bool]

    @property
    def behind(self) -> bool:
        """Return whether the candidate stands behind what is known."""
        return self.at.first < self.candidate.first

    @property
    def low(self) -> Span:
        """Return the first of the two."""
        return self.at if self.behind else self.candidate

    @property
    def high(self) -> Span:
        """Return the second of the two."""
        return self.candidate if self.behind else self.at

    @cached_property
    def taken(self) -> frozenset[int]:
        """Return the places of words of other names."""
        own = range(self.candidate.first, self.candidate.last)
        every = {i for span in self.sentence.names for i in range(span.first, span.last)}
        return frozenset(every - set(own))

    @cached_property
    def between(self) -> list[int]:
        """Return the places of the words between them that belong to no name."""
        return [i for i in range(self.low.last, self.high.first) if i not in self.taken]

    @cached_property
    def denials(self) -> tuple[int, ...]:
        """Return where the sentence denies something that the two may have no part in."""
        return beyond(self.sentence.text, self.sentence.names)

    @property
    def closed(self) -> bool:
        """Return whether what it denies comes behind a phrase that has both."""
        return closed(self.sentence, self.low, self.high, self.denials)

    @property
    def headed(self) -> bool:
        """Return whether the first only belongs to what is spoken of: "the words of Moss are by Ada"."""
        return self.low.first > 0 and self.sentence.words[self.low.first - 1].key in OF


class PairReading:
    """Reads what is said of two names.

    Args:
        kinds: What may stand where.
        words: The words that say relations.
        names: What relations are called, by IRI.
    """

    def __init__(self, kinds: Kinds, words: RelationWords, names: Mapping[str, Sequence[str]]) -> None:
        self.kinds = kinds
        self.words = words
        self.names = names
        self.relations = tuple(sorted(names))
        known = kinds.sought.place != "predicate"
        self.predicate = str(kinds.sought.triple.predicate) if known else ""

    def asking(self, relation: str) -> PairReading:
        """Return what reads for one relation."""
        reading = PairReading(self.kinds, self.words, self.names)
        reading.predicate = relation
        return reading

    def says(self, pair: NamePair) -> dict[str, Said]:
        """Return which relations the words say that are nearest to a candidate, and how surely."""
        if pair.high.first - pair.low.last > _FAR or self._aside(pair):
            return {}
        if found := self._opening(pair) or self._dated(pair):
            return found
        if link := self._linked(pair):
            return link if not pair.denials else {}
        for i in reversed(pair.between) if pair.behind else pair.between:
            if found := self._telling(pair, i):
                return found if self._stated(pair, i) else {}
        return self._loosely(pair) if not pair.denials or pair.closed else {}

    def _aside(self, pair: NamePair) -> bool:
        """Return whether the names stand for something else there, or who is named for whom it was done."""
        if any(another(pair.sentence, s, lambda i: self._tells(pair, i)) for s in (pair.at, pair.candidate)):
            return True
        if between_others(pair.sentence, pair.low, pair.high) or qualifies(pair.sentence, pair.candidate):
            return True
        here = {word.key for word in pair.sentence.words}
        own = {word.key for name in self.names.get(self.predicate, ()) for word in words_of(name)}
        if in_fiction(pair.sentence):
            return True
        if self.predicate and led_elsewhere(pair.sentence, pair.high, frozenset(own)):
            return True
        told = {pair.sentence.words[i].key for i in pair.between}
        if any(present in own and past in told for present, past in _OVER.items()):
            return True
        if any(one in own and here & others and one not in here for one, others in _OPPOSITES.items()):
            return True
        words = pair.sentence.words
        before = words[pair.candidate.first - 1].key if pair.candidate.first else ""
        second = words[pair.high.first - 1].key
        if self._links("by") and {before, second} & {"for", "after", "before"}:
            return True
        if before in ("the", "a", "an") and pair.candidate.first > 1:
            before = pair.sentence.words[pair.candidate.first - 2].key
        gone = {pair.sentence.words[i].key for i in pair.between} & _GONE
        return before == "from" and bool(gone) and self._links("in")

    def _links(self, preposition: str) -> bool:
        """Return whether a preposition says what is asked for by itself."""
        return self.words.linking(preposition, lambda r: r == self.predicate) == self.predicate != ""

    def _tells(self, pair: NamePair, place: int) -> bool:
        """Return whether a word says what is asked for."""
        found = self.said(pair, place)
        return self.predicate in found if self.predicate else bool(found)

    def _loosely(self, pair: NamePair) -> dict[str, Said]:
        """Return what is said of two names without a word between them that says it."""
        sentence, between = pair.sentence, pair.between
        if pair.behind and stative(sentence.words, sentence.names, pair.at, pair.candidate, between):
            return self._being(pair)
        passing = pair.behind and not pair.headed and beside(sentence, pair.at, pair.candidate, between)
        if passing and (found := self._being(pair)):
            return found
        if apart(sentence.words, between, pair.behind, pair.candidate) and not self._placed(pair):
            return {}
        for i in around(sentence.words, pair.low, pair.high, pair.taken):
            denied = pair.denials and i > pair.low.first
            found = {} if denied else self.said(pair, i)
            if any(map(pair.possible, found)):
                return {} if unreal(sentence.words, i) else found
        if pair.behind and between and all(sentence.words[i].key in COPULA for i in between):
            return self._being(pair)
        return {}

    def _telling(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what a word between two names says of them; empty if it only helps to say something."""
        words = pair.sentence.words
        if acting(pair.sentence, place, pair.high):
            return {}
        found = self.said(pair, place)
        # "Lies with Ada" says nothing of where.
        return {} if words[place].key in LIGHT and not any(map(pair.possible, found)) else found

    def _stated(self, pair: NamePair, place: int) -> bool:
        """Return whether a sentence states what a word between two names says."""
        sentence = pair.sentence
        if unreal(sentence.words, place) or not reaches(sentence, place, pair.candidate):
            return False
        if governed(sentence, pair.low, place, lambda i: self._tells(pair, i)):
            return False
        return not pair.denials or pair.closed

    def said(self, pair: NamePair, place: int) -> dict[str, Said]:
        """Return what the word at a place says, with what is listed beside it: "written and directed"."""
        found: dict[str, Said] = {}
        words = pair.sentence.words
        for i in listed(pair.sentence, place):
            for relation, (sure, key) in self.words.at(words, i, pair.possible).items():
                if i == place or self.words.at(words, place, pair.possible):
                    found.setdefault(relation, Said(sure, key, i))
        return found

    def _placed(self, pair: NamePair) -> bool:
        """Return whether a candidate stands where a verb takes it: "find Moss in Rome", "call Rome home"."""
        words = pair.sentence.words
        inside = [words[i].key for i in pair.between if words[i].key not in ("a", "an", "the")]
        if not pair.behind or not self.predicate:
            return False
        if inside == ["as"]:
            return self.kinds.roles.shape("object", self.predicate).whole and pair.low.first > 0
        if inside in (["call"], ["calls"], ["called"]):
            return True
        if inside == ["with"] and self.kinds.sought.place == "subject":
            return pair.low.first > 0  # "tagged Moss with robots"
        return inside in (["in"], ["at"], ["on"]) and pair.low.first > 0 and self._links("in")

    def _opening(self, pair: NamePair) -> dict[str, Said]:
        """Return what a participle says that a sentence begins with: "First shown in 1950, Moss was sold"."""
        sentence, low, high = pair.sentence, pair.low, pair.high
        comma = high.first > 0 and "," in sentence.between(high.first - 1, high.first)
        if not comma or not 0 < low.first < 5 or (pair.denials and min(pair.denials) < high.last):
            return {}
        if not all(word.text.islower() for word in sentence.words[1 : low.first]):
            return {}
        firsts = [i for i in (0, 1) if i < low.first and sentence.words[i].key.endswith(PARTICIPLES)]
        return next((found for i in firsts if (found := self.said(pair, i))), {})

    def _dated(self, pair: NamePair) -> dict[str, Said]:
        """Return what a number in brackets says behind a name, where only one relation may be meant."""
        sentence, low, high = pair.sentence, pair.low, pair.high
        if not sentence.words[high.first].text.isdigit() or low.last != high.first:
            return {}
        end = sentence.words[high.last - 1].end
        if sentence.between(low.last - 1, high.first) != " (" or sentence.text[end : end + 1] != ")":
            return {}
        told = [r for r in self.relations if pair.possible(r)]
        return {told[0]: Said(0.7, "", high.first)} if len(told) == 1 and not pair.denials else {}

    def _linked(self, pair: NamePair) -> dict[str, Said]:
        """Return what a preposition says by itself: "Moss is by Ada", "built for Ada"."""
        words, place = pair.sentence.words, pair.candidate.first - 1
        while place > 0 and words[place].key in ("the", "a", "client", "customer"):
            place -= 1
        if not pair.behind or pair.headed or place not in pair.between:
            return {}
        preposition = words[place].key
        bare = all(words[i].key in COPULA | AND | {"both", "all"} for i in pair.between if i != place)
        if preposition != "for" and not (preposition == "by" and bare):
            return {}
        relation = self.words.linking(preposition, pair.possible)
        return {relation: Said(0.7, "by", place)} if relation else {}

    def _being(self, pair: NamePair) -> dict[str, Said]:
        """Return what "X is a C" and "X focuses on C" say, where C is one of few values of one relation."""
        roles = self.kinds.roles
        meant = [str(c.term) for c in self.kinds.names.exact(pair.text)]
        if not self.predicate or not roles.shape("object", self.predicate).whole or len(meant) != 1:
            return {}
        if not roles.has("object", self.predicate, meant[0]):
            return {}
        roles.learn("object", self.relations, meant)
        others = [r for r in self.relations if r != self.predicate]
        if any(pair.possible(r) and roles.has("object", r, meant[0]) for r in others):
            return {}
        return {self.predicate: Said(0.7, "", pair.candidate.first)}
