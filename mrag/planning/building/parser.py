"""A planner without a language model: candidate plans of a question, scored.

Names come from the lexicon, roles from the cues, joins from the schema; what may be read in several ways
gives several candidates. A log-linear score ranks them: what matters most is that every word that carries
meaning is read (Popescu et al. 2003; Saha et al., VLDB 2016; Diefenbach et al., arXiv:1803.00832).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from rdflib import URIRef

from mrag.planning.building import checks
from mrag.planning.building.mentioning import Mentioning
from mrag.planning.building.scoring import WEIGHTS, Reading, scored
from mrag.planning.chains.reader import chain_reader
from mrag.planning.chains.words import computes
from mrag.planning.comparing.contrasts import contrasted, contrasts, counts_unread
from mrag.planning.comparing.others import beside_others
from mrag.planning.comparing.owned import OWN
from mrag.planning.comparing.pairs import set_side_by_side
from mrag.planning.comparing.sides import side_by_side
from mrag.planning.composing import shapes
from mrag.planning.composing.alongside import also_told
from mrag.planning.composing.alternatives import alternatives, either
from mrag.planning.composing.clauses import apart
from mrag.planning.composing.denied import Denial, anybody, beside, but_not, denied, without
from mrag.planning.composing.drafts import Draft, fully_read, guessed
from mrag.planning.composing.folding import either_fold, folded, without_fold
from mrag.planning.composing.nested import (
    asks_names,
    described,
    descriptions,
    identical,
    identity,
    inner_text,
    joined,
    outer_text,
)
from mrag.planning.composing.ratios import both_counts, halves
from mrag.planning.composing.together import STAND_IN, SpokenOf, spoken_of, told_together
from mrag.planning.composing.unions import both_named, both_times, either_flag, either_said, of_either
from mrag.planning.composing.universal import claim_of, universal
from mrag.planning.derived.mentions import derived_mentions
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Plan
from mrag.planning.reading.frame import DESCRIBED
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.reading.segmentation import Segmentation, segmentations
from mrag.planning.rephrasing.forms import more_than_other
from mrag.planning.rephrasing.measured import measured
from mrag.planning.rephrasing.money import paid
from mrag.planning.rephrasing.observed import observed
from mrag.planning.rephrasing.plain import in_plain_words
from mrag.planning.schema import Schema

LONGEST = 200
"""Words of the longest question that is read; the time that reading takes grows with their square."""
_DEEPEST = 2
"""How deep questions are nested."""
_WORD = "xqthing"
"""A word that no graph has, with a number behind it, for what is described elsewhere."""


OfTwo = Callable[[Draft, Draft], Draft | None]


def _sound(drafts: Iterable[Draft]) -> list[tuple[Draft, float]]:
    """Return the drafts that can be meant, at no cost for how the question was cut."""
    return [(draft, 0.0) for draft in drafts if not shapes.flaw(draft.plan)]


class Parser(Mentioning):
    """Reads questions over one graph.

    Args:
        schema: Its schema.
        lexicon: Its names.
        weights: What counts how much, as in `WEIGHTS`.
    """

    def __init__(self, schema: Schema, lexicon: Lexicon, weights: Mapping[str, float] = WEIGHTS) -> None:
        super().__init__(schema, lexicon)
        self.weights = weights
        self._chains = chain_reader(self.schema, lexicon)

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
        if len(text.split()) > LONGEST:
            return []
        found: dict[tuple[Plan, tuple[str, ...]], Reading] = {}
        text = in_plain_words(text, self.schema, self._phrasal)
        several = also_told(text) is None and spoken_of(text) is not None
        for draft, cost in self._read(text, meant or {}, _DEEPEST):
            if several and len(draft.shown) < 2:
                continue  # half of what is asked for is no answer
            reading = scored(draft, cost, self.schema, self.weights)
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
        text, given = self._named_numbers(text, given)
        if not (question := cut(text)).words:
            return []
        if depth and (both := halves(text)) is not None:
            one, other = (self._read(half, given, 0)[:3] for half in both)
            return [(d, n) for a, n in one for b, _ in other if (d := both_counts(a, b)) is not None]
        if depth and (told := self._apart(text, given, depth)) is not None:
            return told
        mentions = self._mentions(question, given)
        derived, further = derived_mentions(question, mentions, self.schema)
        mentions += derived
        schema = replace(self.schema, properties={**self.schema.properties, **further})
        if depth and (of_two := self._of_two(question, mentions, given, depth)) is not None:
            return of_two
        chains = list[Draft]()
        if self._chains is not None and depth == _DEEPEST and not computes(question, mentions):
            chains = self._chains.drafts(question, mentions)
        if chains:
            return [(draft, 0.0) for draft in chains]
        if depth and (compared := self._contrasts(question, mentions, given, depth)):
            return compared[0]
        ways = segmentations(question, mentions, schema)
        denial = denied(question, ways[0], self.schema) if depth else None
        if denial is not None and (drafts := self._denied(denial, given)) != []:
            return drafts or []  # what cannot be said cannot be denied
        kinds = {i.cue.kind for i in ways[0].items if i.cue is not None}
        unread = "unsupported" in kinds and not kinds & {"ratio", "percentage"}
        if unread or checks.unreadable(ways[0], question, schema):
            # No other way of cutting the question may lose what it asks to compute.
            return []
        extreme = checks.says_extreme(ways[0], question)
        flat = self._flat(question, ways, schema, extreme=extreme)
        if depth and (fold := without_fold(question)) is not None:
            numbers = self._read(fold[1], given, depth - 1)
            whole = [(found, cost) for draft, cost in numbers if (found := folded(draft, fold[0]))]
            if (told := either_fold(question, flat, whole, only=fold[2])) is not None:
                return told
        inside = self._nested(question, mentions, given, depth) if depth else ()
        nested = [found for found in inside if shapes.finds_extreme(found[0].plan) or not extreme]
        if any(superlative for _, _, superlative in nested):
            # Where a superlative says which thing is meant, it does not say which of the groups is.
            flat = [(guessed(d, 2) if d.plan.grouped else d, cost) for d, cost in flat]
        elif any(not draft.ignored for draft, _, _ in nested):
            # What is said in a clause of its own is said of the thing before it.
            flat = [(guessed(d, 1), cost) for d, cost in flat]
        each = self._each_of_both(question, mentions, given) if depth else []
        return flat + [(draft, cost) for draft, cost, _ in nested] + each

    def _each_of_both(
        self, question: QuestionText, mentions: list[NameMention], given: Mapping[str, Candidate]
    ) -> list[tuple[Draft, float]]:
        """Return drafts of a question for what both of two names are said of, each in a way of its own."""
        for two in both_named(question, mentions):
            if found := self._of_both(two, beside, given, 2):
                return found[:2]
        return []

    def _of_both(
        self, texts: Sequence[str], made: OfTwo, given: Mapping[str, Candidate], most: int
    ) -> list[tuple[Draft, float]]:
        """Return the drafts that are made of those of two questions.

        Args:
            texts: The questions.
            made: Makes one of two drafts.
            given: What words of the questions stand for.
            most: How many drafts of each are looked at.
        """
        sides = (fully_read(self._best(text, given), most) for text in texts)
        return [(d, 0.0) for one, other in product(*sides) if (d := made(one, other)) is not None]

    def _named_numbers(
        self, text: str, given: Mapping[str, Candidate]
    ) -> tuple[str, Mapping[str, Candidate]]:
        """Return a question with names for the numbers it asks for, and what words of it stand for."""
        if (value := observed(text, lambda q: self._mentions(q, given), self.schema)) is not None:
            text, given = value[0], {**given, **value[1]}
        if (money := paid(text, self.schema, lambda: self._kinds(text, given))) is not None:
            text, given = money[0], {**given, **money[1]}
        return measured(text, self.schema) or text, given

    def _flat(
        self, question: QuestionText, ways: Sequence[Segmentation], schema: Schema, *, extreme: bool
    ) -> list[tuple[Draft, float]]:
        """Return drafts of a question that is read as one, with what the way of cutting it costs."""
        asked, split = checks.asked_kinds(ways[0]), checks.groups(ways[0])
        ordered, cls = checks.only_orders(ways[0], question), checks.asked_class(ways[0], question)
        return [
            (guessed(draft, passed_over), way.score - ways[0].score)
            for number, way in enumerate(ways[:4])
            if asked <= checks.asked_kinds(way)
            for draft in self._drafts(question, way, schema, flips=number < 2)
            if shapes.finds_extreme(draft.plan) or not extreme
            if draft.plan.limit != 1 or not ordered
            for passed_over in [
                (split > checks.groups(way))
                + 4 * checks.passes_over_or(way, draft.plan)
                # What "which ships" asks for is no year.
                + 2 * (cls is not None and checks.asked_class(way, question) != cls)
            ]
        ]

    def _of_two(
        self, question: QuestionText, mentions: list[NameMention], given: Mapping[str, Candidate], depth: int
    ) -> list[tuple[Draft, float]] | None:
        """Return drafts of a question whether one of two things holds, is another, or is alike; else None."""
        best = partial(self._best, given=given)
        if split := alternatives(question, mentions):
            firsts = [found[0] for text in split if (found := best(text))]
            if len(firsts) == len(split) and (draft := either(firsts)) is not None:
                return [(draft, 0.0)]
        parts = either_said(question, mentions) or either_flag(question, mentions, self.schema)
        if parts is not None and (both := self._of_both(parts, of_either, given, 3)):
            return both[:2]
        if (times := both_times(question.text)) is not None:
            return self._of_both(times, beside, given, 1)
        if (apart_from := but_not(question, mentions)) is not None:
            return self._denied(apart_from, given) or None
        if (same := identity(question, mentions)) is not None:
            things = self._read(same[1], given, depth - 1)
            return [(d, cost) for t, cost in things if (d := identical(same[0], t)) is not None]
        others = beside_others(
            question.text, best, lambda t, c: self._best(t, {**given, OWN: c}), self._named, self.schema
        )
        return None if others is None else _sound(others)

    def _contrasts(
        self, question: QuestionText, mentions: list[NameMention], given: Mapping[str, Candidate], depth: int
    ) -> list[list[tuple[Draft, float]]]:
        """Return the drafts of a question that compares two numbers, if it does; no other has both."""
        if (contrast := contrasted(question, mentions, self.schema)) is not None:
            read = contrasts(question, contrast, self.schema, lambda t: self._best(t, given))
            return [[(draft, 0.0) for draft in read]]
        if (other := more_than_other(question.text)) is not None:
            return [self._read(other, given, 0)]
        return [[]] if depth == _DEEPEST and counts_unread(question, mentions) else []

    def _apart(
        self, text: str, given: Mapping[str, Candidate], depth: int
    ) -> list[tuple[Draft, float]] | None:
        """Return drafts of questions that are told by their whole form; None for others."""
        best = partial(self._best, given=given)
        if (claim := claim_of(text)) is not None:
            # That something holds of one thing is no answer to whether it does of all.
            return [(d, 0.0) for d in universal(claim, best)]
        sides = side_by_side(text)
        if sides is not None and (two := _sound(set_side_by_side(sides, best, self.schema))):
            return two
        found = apart(text, best, self.schema)
        if not found and also_told(text) is None and (spoken := spoken_of(text)) is not None:
            found = self._together(spoken, given, depth)
        return _sound(found) or None

    def _together(self, spoken: SpokenOf, given: Mapping[str, Candidate], depth: int) -> list[Draft]:
        """Return drafts of several questions about one thing."""
        known = {
            c.term: c.classes
            for m in self._mentions(cut(spoken.first), given)
            for c in m.candidates
            if c.kind == "entity"
        }
        firsts = sorted(self._read(spoken.first, given, depth - 1), key=self._unlikely)
        return told_together(
            spoken,
            [draft for draft, _ in firsts],
            lambda thing: known.get(str(thing), ()),
            lambda text, thing: self._best(text, {**given, STAND_IN: thing}),
            self.schema,
        )

    def _denied(self, denial: Denial, given: Mapping[str, Candidate]) -> list[tuple[Draft, float]] | None:
        """Return drafts of a question that denies a description of several parts; None if it is not read."""
        affirmed = fully_read(self._best(denial.affirmed, given), 3)
        if not affirmed:
            return None
        text = denial.base or next((t for d in affirmed if (t := anybody(d, self.schema))), "")
        bases = fully_read(self._best(text, given), 2) if text else []
        return [(d, 0.0) for b in bases[:1] for a in affirmed if (d := without(b, a)) is not None]

    def _best(self, text: str, given: Mapping[str, Candidate]) -> list[Draft]:
        """Return drafts of a question that holds no other, best first."""
        return [draft for draft, _ in sorted(self._read(text, given, 0), key=self._unlikely)]

    def _unlikely(self, found: tuple[Draft, float]) -> float:
        return -scored(*found, self.schema, self.weights).probability

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
            likely = sorted(things, key=self._unlikely)[:2]
            told = [found for found in likely if described(found[0], self.schema) is not None]
            for thing, cost in (told or likely)[:1]:
                cls = described(thing, self.schema)
                if cls is None or thing.ignored or inner.superlative != (thing.plan.limit == 1):
                    continue
                word = f"{_WORD}{len(given)}"
                name = Candidate("entity", DESCRIBED + word, 1.0, word, classes=(cls,))
                text = outer_text(question, inner, word)
                for outer, further in self._read(text, {**given, word: name}, 0):
                    named = asks_names(text, word, outer, self.schema)
                    whole = joined(outer, thing, URIRef(name.term), named)
                    if whole is not None:
                        simple = 0.25 if inner.superlative else 0.0
                        yield guessed(whole, simple), cost + further, inner.superlative
