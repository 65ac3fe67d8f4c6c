"""The words of a question that name relations, or the things of a graph that has no names for their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from mrag.planning.lexical.candidates import NameMention
from mrag.planning.lexical.english import DIMENSIONS, is_empty, positive, root, synonym_roots
from mrag.planning.lexicon import Lexicon
from mrag.planning.reading.cues import cues
from mrag.planning.reading.periods import Word
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.segmentation import meaningful
from mrag.planning.schema import Schema

_SHARED = frozenset("same share shares shared sharing common together also co both".split())
"""Words that ask for what is beside the thing that is named, over a relation that both have."""
_ASKING = frozenset("what which whose".split())
_TIMES = frozenset(map(root, ("year", "date", "time")))
_NEAR, _KIND = 0.4, 0.25
"""Least likeness in meaning of a word and a relation, and of a word and what a kind of thing is told by."""
_NO_MEANING = frozenset("fall falls person people whose word words".split())
_COMPUTED = frozenset(("most", "top", "group", "ratio", "percentage", "difference", "fold", "unsupported"))
_BOUNDED = frozenset(("compare", "between"))
_KINDS = frozenset("kind kinds sort sorts type types".split())
"""Words that say nothing in other graphs, and may name a relation in these."""


@dataclass(frozen=True)
class SaidRelation:
    """A word that names relations.

    Attributes:
        at: Its place in the question.
        scores: How well each relation is named by it.
        shared: Whether it is walked there and back: "that share actors with".
        noun: Whether it names who or what is at the end of a relation: "director".
        apposed: Whether it stands right before the name: "the director Ada".
    """

    at: int
    scores: Mapping[str, float]
    shared: bool = False
    noun: bool = False
    apposed: bool = False


@dataclass
class ChainWords:
    """Reads the words of questions; see `ChainReader`."""

    schema: Schema
    lexicon: Lexicon
    _kinds: dict[str, float] = field(default_factory=dict, init=False)

    def said(self, question: QuestionText, anchor: NameMention) -> tuple[list[SaidRelation], list[int]]:
        """Return the words that name relations, and the places of those that mean something else."""
        said, unread = list[SaidRelation](), list[int]()
        words, low = question.words, question.low
        shared_at = [i for i, w in enumerate(low) if w in _SHARED]
        for at, word in enumerate(words):
            if anchor.start <= at < anchor.end or at in shared_at:
                continue
            scores = self.relations_of(word, first=at < 2)
            if scores:
                noun = not word.low.endswith(("ed", "ing")) and self._is_noun(word)
                shared = noun and any(0 < abs(at - s) <= 2 for s in shared_at)
                shared = shared or any(
                    s in (at - 1, at + 1, at + 2) and low[s] in ("co", "together") for s in shared_at
                )
                apposed = at == anchor.start - 1 and noun
                said.append(SaidRelation(at, scores, shared, noun, apposed))
            elif meaningful(word) and word.low not in _NO_MEANING:
                unread.append(at)
        return _merged(said), unread

    @staticmethod
    def _is_noun(word: Word) -> bool:
        return word.low.rstrip("s").endswith(("or", "er")) or word.low != word.token.key

    def relations_of(self, word: Word, *, first: bool) -> dict[str, float]:
        """Return how well a word names each relation, none if it names none.

        Args:
            word: The word.
            first: Whether it begins the question.
        """
        if word.low == "when" and first:
            return self._named(_TIMES, 0.7)
        if word.low == "about":
            return self._named({root("topic"), *synonym_roots()[root("topic")]}, 0.7)
        if (
            is_empty(word.token.key)
            or not word.token.key.isalpha()
            or (not meaningful(word) and word.low not in _KINDS)
        ):
            return {}
        own = root(word.token.raw)
        found = self._named({own}, 1.0)
        if not found:
            found = self._named(set(synonym_roots().get(own, ())), 0.8)
        if not found:
            # A "screenwriter" is a writer.
            found = self._named({r for r in self._roots if len(r) > 3 and _compound(word.token.key, r)}, 0.85)
        plain = positive(word.low)
        if not found and plain is not None:
            found = self._named({root(n) for n in DIMENSIONS[plain][1].split()}, 0.6)
        if not found and not self.is_kind(word):
            near = [c for c in self.lexicon.similar(word.token.raw, "property", 3) if c.score >= _NEAR]
            found = {c.term: 0.8 * c.score for c in near if c.term in self._entity_relations}
        return found

    @cached_property
    def _roots(self) -> set[str]:
        return {r for n in self.lexicon.words.names if n.kind == "property" for r in n.weighty}

    @property
    def _entity_relations(self) -> set[str]:
        return {i.iri for i in self.schema.properties.values() if i.kind == "entity"}

    def _named(self, roots: set[str] | frozenset[str], score: float) -> dict[str, float]:
        relations = self._entity_relations
        found: dict[str, float] = {}
        for name in self.lexicon.words.names:
            shared = roots & {*name.weighty}
            if name.kind == "property" and name.term in relations and shared:
                share = len(shared) / len(name.weighty)
                found[name.term] = max(found.get(name.term, 0.0), score * (0.9 + 0.1 * share))
        return found

    def is_kind(self, word: Word) -> bool:
        """Return whether a word may be what the graph's things are called, by what is told of them."""
        key = word.low
        if key not in self._kinds:
            names = sorted(
                {
                    i.names[0]: i.triples for i in self.schema.properties.values() if i.kind == "entity"
                }.items(),
                key=lambda n: (-n[1], n[0]),
            )
            self._kinds[key] = self.lexicon.likeness(key, ", ".join(name for name, _ in names[:12]))
        return self._kinds[key] >= _KIND

    def asked_for(self, question: QuestionText, anchor: NameMention) -> int:
        """Return the place of the word for what is asked: behind "which", or the first noun; -1 if none."""
        low = question.low
        if low[0] == "when":
            return 0
        start = next((i + 1 for i, w in enumerate(low) if w in _ASKING), 0)
        for at in range(start, min(len(low), start + 5)):
            word = question.words[at]
            inside = anchor.start <= at < anchor.end
            if inside or low[at].endswith("ed") or low[at] in _SHARED:
                return -1
            if low[at] in _KINDS:
                return at
            if meaningful(word) and (self._is_noun(word) or self.is_kind(word) or low[at - 1] in _ASKING):
                return at
        return -1


def anchors_of(question: QuestionText, mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return the names that a chain may begin with: the longest that are spelt as in the graph."""
    found = [named for m in mentions if (named := _with_things(question, m)) is not None]
    exact = [m for m in found if m.candidates[0].way in ("exact", "inflected")]

    def worth(m: NameMention) -> tuple[float, int, int]:
        capital = sum(question.words[i].token.raw[:1].isupper() for i in range(m.start, m.end))
        return -(m.candidates[0].score * (m.end - m.start) + 0.5 * capital), -m.end, m.start

    kept: list[NameMention] = []
    for m in sorted(exact or found, key=worth):
        if all(m.end <= k.start or k.end <= m.start for k in kept):
            kept.append(m)
    return kept[:3]


def _with_things(question: QuestionText, mention: NameMention) -> NameMention | None:
    """Return a mention with the things that it most likely names; "Reds" is none that is called "Red"."""
    best = mention.candidates[0].score
    found = [c for c in mention.candidates if c.kind == "entity" and c.score >= best - 0.01 and not c.classes]
    words = question.words[mention.start : mention.end]
    said = question.text[words[0].token.start : words[-1].token.end].casefold()
    spelt = [c for c in found if c.name.casefold() == said]
    return replace(mention, candidates=tuple((spelt or found)[:3])) if found else None


def _compound(word: str, part: str) -> bool:
    return len(word) > len(part) + 2 and root(word).endswith(part)


def _merged(said: Sequence[SaidRelation]) -> list[SaidRelation]:
    """Return words that name relations, two that name one together as one: "release date"."""
    found: list[SaidRelation] = []
    for one in said:
        last = found[-1] if found else None
        both = set(last.scores) & set(one.scores) if last is not None and last.at == one.at - 1 else set()
        if last is not None and both and not last.shared:
            scores = {p: max(last.scores[p], one.scores[p]) for p in both}
            found[-1] = replace(one, scores=scores, shared=one.shared)
        else:
            found.append(one)
    return found


def computes(question: QuestionText, mentions: Sequence[NameMention]) -> bool:
    """Return whether a question asks for more than a chain gives: an extreme, a share, a comparison."""
    named = {at for a in anchors_of(question, mentions) for at in range(a.start, a.end)}
    starts = [*(q.start for q in question.quantities), *(p.start for p in question.periods)]
    bounded = any(start not in named for start in starts)
    wanted = _COMPUTED | (_BOUNDED if bounded else frozenset())
    # A "by" tells who did something.
    return any(c.kind in wanted and c.value != "by" and c.start not in named for c in cues(question.low))
