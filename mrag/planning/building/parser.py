"""A planner without a language model: candidate plans of a question, scored.

Names come from the lexicon, roles from the cues, joins from the schema; what may be read in several ways
gives several candidates. A log-linear score ranks them: what matters most is that every word that carries
meaning is read (Popescu et al. 2003; Saha et al., VLDB 2016; Diefenbach et al., arXiv:1803.00832).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import URIRef

from mrag.planning.building.builder import Builder
from mrag.planning.building.choices import Draft, Unbuildable
from mrag.planning.building.joins import JoinGraph
from mrag.planning.building.nested import (
    described,
    descriptions,
    folded,
    identical,
    identity,
    inner_text,
    joined,
    outer_text,
    without_fold,
)
from mrag.planning.building.ratios import combined
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Plan
from mrag.planning.reading.frame import DESCRIBED, Frame
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.reading.reader import FrameReader
from mrag.planning.reading.segmentation import Segmentation, segmentations
from mrag.planning.schema import Schema
from mrag.text.tokens import stem

FEATURES = ("bias", "mean match", "worst match", "joins", "guesses", "ignored", "cut")
"""What is measured of a reading, in this order."""

WEIGHTS: Mapping[str, float] = {
    "bias": 3.0,
    "mean match": 4.0,
    "worst match": 2.0,
    "joins": -0.35,
    "guesses": -0.6,
    "ignored": -1.6,
    "cut": 0.25,
}
"""Weights that no graph was fitted for."""


_DEEPEST = 2
"""How deep questions are nested."""
_WORD = "xqthing"
"""A word that no graph has, with a number behind it, for what is described elsewhere."""


@dataclass(frozen=True)
class Reading:
    """One way of reading a question.

    Attributes:
        plan: The plan.
        shown: Names of the plan's columns that the question asks for; the others order or select.
        probability: How likely it is to be what was meant.
        ignored: Words that carry meaning and were not read.
        features: What it was scored by.
        note: Why it was read so, where more than its words tell.
    """

    plan: Plan
    shown: tuple[str, ...]
    probability: float
    ignored: tuple[str, ...]
    features: Mapping[str, float]
    note: str = ""


def without_split_values(mentions: Sequence[NameMention]) -> list[NameMention]:
    """Return mentions without the values that are a thing and its class: "the Colorado river"."""
    split: set[tuple[int, int]] = set()
    for one in mentions:
        for other in mentions:
            classes = {c.term for c in other.candidates[:1] if c.kind == "class" and c.score > 0.94}
            if (
                classes
                and one.end == other.start
                and any(
                    c.kind == "entity" and c.way == "exact" and classes & set(c.classes)
                    for c in one.candidates
                )
            ):
                split.add((one.start, other.end))
    return [
        m for m in mentions if (m.start, m.end) not in split or any(c.kind != "value" for c in m.candidates)
    ]


def _headed(mention: NameMention, question: QuestionText) -> NameMention | None:
    """Return a mention without classes whose head noun is not said: "European" is no European product."""
    said = {w.stem for w in question.words[mention.start : mention.end]}
    kept = tuple(
        c for c in mention.candidates
        if c.kind != "class" or c.way != "tokens" or stem(c.name.split()[-1]) in said
    )  # fmt: skip
    return replace(mention, candidates=kept) if kept else None


def _asked(way: Segmentation) -> set[str]:
    """Return the kinds of words that no other way of cutting a question may lose."""
    cues = {(i.cue.kind, i.start) for i in way.items if i.cue is not None}
    return {kind for kind, at in cues if kind == "not" or (kind in ("who", "when") and not at)}


class Parser:
    """Reads questions over one graph.

    Args:
        schema: Its schema.
        lexicon: Its names.
        weights: Weights of `FEATURES`.
    """

    def __init__(self, schema: Schema, lexicon: Lexicon, weights: Mapping[str, float] = WEIGHTS) -> None:
        self.schema = schema
        self.lexicon = lexicon
        self.weights = weights
        self._joins = JoinGraph(schema)
        self.refusals: list[str] = []
        self._one_word: dict[str, list[Candidate]] = {}
        for info in schema.properties.values():
            for name in info.names:
                if " " in name:
                    joined = name.lower().replace(" ", "")
                    self._one_word.setdefault(joined, []).append(
                        Candidate("property", info.iri, 0.95, name, "spelling")
                    )

    def readings(
        self, text: str, k: int = 10, *, meant: Mapping[str, Candidate] | None = None
    ) -> list[Reading]:
        """Return the likeliest readings of a question, best first.

        Args:
            text: The question.
            k: Maximum number of readings.
            meant: What some of its words stand for: "they" for what was spoken of before.
        """
        self.refusals = []
        found: dict[tuple[Plan, tuple[str, ...]], Reading] = {}
        for draft, cost in self._read(text, meant or {}, _DEEPEST):
            reading = self._scored(draft, cost)
            key = (reading.plan, reading.shown)
            if key not in found or found[key].probability < reading.probability:
                found[key] = reading
        return sorted(found.values(), key=lambda r: -r.probability)[:k]

    def _read(self, text: str, given: Mapping[str, Candidate], depth: int) -> list[tuple[Draft, float]]:
        """Return drafts of a question, with what the way of cutting it costs.

        Args:
            text: The question.
            given: What words of it stand for things that are described elsewhere.
            depth: How deep questions may still be nested.
        """
        question = cut(text)
        if not question.words:
            return []
        mentions = self._mentions(question, given)
        if depth and (same := identity(question, mentions)) is not None:
            things = self._read(same[1], given, depth - 1)
            return [(d, cost) for t, cost in things if (d := identical(same[0], t)) is not None]
        ways = segmentations(question, mentions, self.schema)
        kinds = {i.cue.kind for i in ways[0].items if i.cue is not None}
        if "unsupported" in kinds and not kinds & {"ratio", "percentage"}:
            # No other way of cutting the question may lose what it asks to compute.
            return []
        asked = _asked(ways[0])
        flat = [
            (draft, way.score - ways[0].score)
            for number, way in enumerate(ways[:4])
            if asked <= _asked(way)
            for draft in self._drafts(question, way, flips=number < 2)
        ]
        fold = without_fold(question) if depth and all(d.ignored for d, _ in flat) else None
        if fold is not None:
            numbers = self._read(fold[1], given, depth - 1)
            return flat + [(whole, cost) for draft, cost in numbers if (whole := folded(draft, fold[0]))]
        nested = list(self._nested(question, mentions, given, depth)) if depth else []
        if any(superlative for _, _, superlative in nested):
            # Where a superlative says which thing is meant, it does not say which of the groups is.
            flat = [(replace(d, guesses=d.guesses + 2) if d.plan.grouped else d, cost) for d, cost in flat]
        elif any(not draft.ignored for draft, _, _ in nested):
            # What is said in a clause of its own is said of the thing before it.
            flat = [(replace(d, guesses=d.guesses + 1), cost) for d, cost in flat]
        return flat + [(draft, cost) for draft, cost, _ in nested]

    def _mentions(self, question: QuestionText, given: Mapping[str, Candidate]) -> list[NameMention]:
        found = [NameMention(n, n + 1, (c,)) for n, w in enumerate(question.low) if (c := given.get(w))]
        taken = {m.start for m in found}
        matched = self.lexicon.match([word.token for word in question.words])
        for mention in matched:
            kept = _headed(mention, question)
            if kept is not None and taken.isdisjoint(range(mention.start, mention.end)):
                found.append(kept)
        return without_split_values(found) + list(self._joined(question, {(m.start, m.end) for m in found}))

    def _nested(
        self,
        question: QuestionText,
        mentions: Sequence[NameMention],
        given: Mapping[str, Candidate],
        depth: int,
    ) -> Iterator[tuple[Draft, float, bool]]:
        """Yield drafts of a question that holds another one, and whether a superlative makes it one."""
        for inner in descriptions(question, mentions):
            things = self._read(inner_text(question, inner), given, depth - 1)
            for thing, cost in sorted(things, key=lambda t: -self._scored(*t).probability)[:1]:
                cls = described(thing, self.schema)
                if cls is None or thing.ignored or inner.superlative != (thing.plan.limit == 1):
                    continue
                word = f"{_WORD}{len(given)}"
                name = Candidate("entity", DESCRIBED + word, 1.0, word, classes=(cls,))
                outside = self._read(outer_text(question, inner, word), {**given, word: name}, 0)
                for outer, further in outside:
                    whole = joined(outer, thing, URIRef(name.term))
                    if whole is not None:
                        simple = 0.25 if inner.superlative else 0.0
                        yield (
                            replace(whole, guesses=whole.guesses + simple),
                            cost + further,
                            inner.superlative,
                        )

    def _joined(self, question: QuestionText, taken: set[tuple[int, int]]) -> Iterator[NameMention]:
        """Yield mentions of names that the question writes as one word: "firstname"."""
        for at, word in enumerate(question.words):
            found = self._one_word.get(word.low) or self._one_word.get(word.token.key)
            if found and (at, at + 1) not in taken:
                yield NameMention(at, at + 1, tuple(found))

    def _dimension(self, adjective: str) -> list[tuple[Candidate, str]]:
        return [
            (Candidate("property", d.property, d.score, d.name, "synonym"), d.direction)
            for d in self.lexicon.dimension(adjective)
        ]

    def _drafts(self, question: QuestionText, way: Segmentation, *, flips: bool) -> Iterator[Draft]:
        first = self._draft(question, way, {})
        if first is None:
            return
        yield first
        if not flips:
            return
        for start, candidates in sorted(first.choices.items()):
            best = candidates[0].score
            for other in candidates[1:3]:
                if other.score > best - 0.25:
                    draft = self._draft(question, way, {start: other})
                    if draft is not None:
                        yield draft

    def _draft(
        self, question: QuestionText, way: Segmentation, chosen: Mapping[int, Candidate]
    ) -> Draft | None:
        def build(frame: Frame) -> Draft:
            return Builder(self.schema, self._joins, question, way, frame, self._dimension, chosen).build()

        try:
            found = combined(
                question,
                way.items,
                lambda items: FrameReader(question, items, self.schema, self._dimension),
                build,
            )
            return found or build(FrameReader(question, way.items, self.schema, self._dimension).read())
        except Unbuildable as error:
            self.refusals.append(str(error))
            return None

    def _scored(self, draft: Draft, cost: float) -> Reading:
        matches = draft.matches or (0.5,)
        features = {
            "bias": 1.0,
            "mean match": sum(matches) / len(matches) - 1.0,
            "worst match": min(matches) - 1.0,
            "joins": max(0.0, draft.joins),
            "guesses": float(draft.guesses),
            "ignored": float(len(draft.ignored)),
            "cut": cost,
        }
        logit = sum(self.weights[name] * value for name, value in features.items())
        return Reading(draft.plan, draft.shown, 1 / (1 + math.exp(-logit)), draft.ignored, features)
