"""From a question to plans, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from rdflib import URIRef

from mrag.graph.naming import name_part
from mrag.language.tokens import content
from mrag.planning.lexical import Candidate, NameMention
from mrag.planning.lexical.english import is_past, phrasal_verbs, positive, root, synonym_roots
from mrag.planning.lexical.schema_words import CodeWords
from mrag.planning.lexicon import Lexicon
from mrag.planning.plan import Plan
from mrag.planning.profiling import without_likened
from mrag.planning.reading.builder import Builder
from mrag.planning.reading.chains import chain_reader, computes
from mrag.planning.reading.comparing import (
    OWN,
    beside_others,
    contrasted,
    contrasts,
    counts_unread,
    set_side_by_side,
    side_by_side,
)
from mrag.planning.reading.composing import (
    STAND_IN,
    Denial,
    SpokenOf,
    also_told,
    alternatives,
    anybody,
    apart,
    asks_names,
    beside,
    both_counts,
    both_named,
    both_times,
    but_not,
    claim_of,
    combined,
    denied,
    described,
    descriptions,
    either,
    either_flag,
    either_fold,
    either_said,
    finds_extreme,
    flaw,
    folded,
    halves,
    identical,
    identity,
    inner_text,
    joined,
    leading_to_names,
    made_possible,
    not_of_itself,
    of_either,
    outer_text,
    spoken_of,
    told_together,
    universal,
    without,
    without_fold,
)
from mrag.planning.reading.derived import (
    HeldNumber,
    amounts_of,
    derived_mentions,
    held_numbers,
    in_unit,
    spans_of,
    unit_said,
)
from mrag.planning.reading.drafts import (
    WEIGHTS,
    Draft,
    Reading,
    Unbuildable,
    asked_class,
    asked_kinds,
    fully_read,
    groups,
    guessed,
    headed,
    is_part_of_time,
    leads_to,
    named_as_a_whole,
    only_orders,
    passes_over_or,
    says_extreme,
    scored,
    unreadable,
    without_each_other,
    without_parts_asked_for,
    without_split_values,
)
from mrag.planning.reading.frame import DESCRIBED, Frame, FrameReader
from mrag.planning.reading.graph import JoinGraph
from mrag.planning.reading.question import QuestionItem, QuestionText, Segmentation, cut, segmentations
from mrag.planning.reading.rephrasing import in_plain_words, measured, more_than_other, observed, paid
from mrag.planning.schema import PropertyInfo, Schema

_TIED = 1.0
"""What it counts, in guesses, that two ways of joining things are as likely as each other."""

_ROUND = 3.5
"""What another way of joining things may cost more before it is too far round to be meant."""


def _undecided(draft: Draft) -> Draft:
    """Return a draft less likely where a join of it could as well go another way."""
    return guessed(draft, _TIED) if draft.ties else draft


_THESE = frozenset("the all any each every these those".split())


def _said_by(code: NameMention, other: NameMention) -> bool:
    """Return whether words are read as a code rather than as what they may mean beside their head."""
    if code.start <= other.start and other.end <= code.end:
        return True
    loose = other.candidates[0].way in ("synonym", "meaning")
    return loose and (other.start, other.end) == (code.start, code.end + 1)


LONGEST = 200
"""Words of the longest question that is read; the time that reading takes grows with their square."""
_DEEPEST = 2
"""How deep questions are nested."""
_WORD = "xqthing"
"""A word that no graph has, with a number behind it, for what is described elsewhere."""


OfTwo = Callable[[Draft, Draft], Draft | None]


def _sound(drafts: Iterable[Draft]) -> list[tuple[Draft, float]]:
    """Return the drafts that can be meant, at no cost for how the question was cut."""
    return [(draft, 0.0) for draft in drafts if not flaw(draft.plan)]


class Parser:
    """Reads questions over one graph.

    Args:
        schema: Its schema.
        lexicon: Its names.
        weights: What counts how much, as in `WEIGHTS`.
    """

    def __init__(self, schema: Schema, lexicon: Lexicon, weights: Mapping[str, float] = WEIGHTS) -> None:
        self._spans = spans_of(schema)
        held = {**schema.properties, **held_numbers(schema)}
        self.schema = replace(schema, properties={**held, **self._spans, **amounts_of(schema)})
        self.lexicon = lexicon
        self._joins = JoinGraph(schema)
        self.refusals: list[str] = []
        self._codes = CodeWords(schema, lexicon.matcher.things)
        called = [n for i in schema.properties.values() for n in i.names]
        called += [n for c in schema.classes.values() for n in c.names]
        self._phrasal = phrasal_verbs(called)
        parts = {iri: part for iri in schema.properties if (part := name_part(iri))}
        self._name_parts = frozenset(parts) if len({*parts.values()}) > 1 else frozenset[str]()
        self._one_word: dict[str, list[Candidate]] = {}
        for info in schema.properties.values():
            for name in info.names:
                if " " in name:
                    found = Candidate("property", info.iri, 0.95, name, "spelling")
                    self._one_word.setdefault(name.lower().replace(" ", ""), []).append(found)
        self.weights = weights
        self._chains = chain_reader(self.schema, lexicon)

    def _dimension(
        self, adjective: str, spans: Mapping[str, PropertyInfo] | None = None
    ) -> list[tuple[Candidate, str]]:
        """Return the properties that an adjective measures, with the direction; spans as they are counted."""
        held = {i.number: i.iri for i in self.schema.properties.values() if isinstance(i, HeldNumber)}
        found = [
            (
                Candidate("property", held.get(d.property, d.property), d.score, d.name, "synonym"),
                str(d.direction),
            )
            for d in self.lexicon.dimension(adjective)
        ]
        way = {"long": "greatest", "short": "least"}.get(positive(adjective) or "")
        if way is not None:
            lasting = (self._spans if spans is None else spans).values()
            found += [(Candidate("property", i.iri, 0.88, i.names[0], "synonym"), way) for i in lasting]
        return sorted(found, key=lambda f: -f[0].score)

    def _drafts(
        self, question: QuestionText, way: Segmentation, schema: Schema, *, flips: bool
    ) -> Iterator[Draft]:
        first = self._draft(question, way, schema, {})
        if first is None:
            yield from self._otherwise(question, way, schema)
            return
        told = [p for p in leading_to_names(first.plan) if self._joins.told_twice(p)]
        other_deed = [p for p in told if self._done_otherwise(p, question, way)]
        first = guessed(first, 2 * bool(other_deed))
        yield _undecided(first)
        if not flips:
            return
        for twice in sorted(told, key=lambda p: p not in other_deed)[:1]:
            avoided = (
                frozenset(i for i in self.schema.properties if self._done_otherwise(i, question, way))
                if twice in other_deed
                else frozenset((twice,))
            )
            draft = self._draft(question, way, schema, {}, avoided)
            if draft is not None and draft.joins < first.joins + _ROUND:
                # Where both ways find the same it is told twice, else it is another answer.
                cost = 0.0 if twice in other_deed else 1.0
                yield guessed(replace(draft, joins=first.joins), cost)
        for tied in first.ties[:2]:
            draft = self._draft(question, way, schema, {}, frozenset((tied,)))
            if draft is not None:
                yield _undecided(replace(draft, ties=first.ties))
        for start, candidates in sorted(first.choices.items()):
            best = candidates[0].score
            for other in candidates[1:3]:
                if other.score > best - 0.25 and not (
                    first.joins < 1 and leads_to(other, candidates[0], schema)
                ):
                    draft = self._draft(question, way, schema, {start: other})
                    if draft is not None:
                        yield draft

    def _done_otherwise(self, iri: str, question: QuestionText, way: Segmentation) -> bool:
        """Return whether a property says how somebody is related by a verb that the question lacks.

        Who works on a project need not be who it is "led by", where there are records of others who do.
        """
        named = (c.term for i in way.items if i.mention is not None for c in i.mention.candidates[:3])
        info = self.schema.properties.get(iri)
        words = info.names[0].lower().split() if info is not None and info.names else []
        if iri in named or len(words) != 2 or words[-1] != "by":
            return False
        return root(words[0]) not in {root(w) for w in question.low}

    def _otherwise(self, question: QuestionText, way: Segmentation, schema: Schema) -> Iterator[Draft]:
        """Yield drafts of what cannot be built with the likeliest names: a kind that nothing leads to."""
        for item in way.items:
            for other in item.mention.candidates[1:3] if item.mention is not None else ():
                assert item.mention is not None
                best = item.mention.candidates[0]
                led = self.schema.properties.get(best.term) if other.kind == "class" else None
                if other.score > best.score - 0.05 or (led is not None and other.term in led.ranges):
                    draft = self._draft(question, way, schema, {item.end: other})
                    if draft is not None:
                        yield draft

    def _draft(
        self,
        question: QuestionText,
        way: Segmentation,
        schema: Schema,
        chosen: Mapping[int, Candidate],
        avoided: frozenset[str] = frozenset(),
    ) -> Draft | None:
        spans = self._spans
        if spans and (unit := unit_said(question)):
            spans = in_unit(spans.values(), unit)
            schema = replace(schema, properties={**schema.properties, **spans})

        def dimension(adjective: str) -> list[tuple[Candidate, str]]:
            return self._dimension(adjective, spans)

        def reader(items: Sequence[QuestionItem]) -> FrameReader:
            return FrameReader(question, items, schema, dimension)

        def build(frame: Frame) -> Draft:
            return Builder(
                schema, self._joins, question, way, frame, dimension, chosen, avoided,
                self.lexicon.likeness,
            ).build()  # fmt: skip

        try:
            draft = combined(question, way.items, reader, build, schema)
            if draft is None:
                draft = build(reader(way.items).read())
                plan = not_of_itself(made_possible(draft.plan, question.text, schema))
                draft = replace(draft, plan=plan)
            if fault := flaw(draft.plan):
                raise Unbuildable(fault)
        except Unbuildable as error:
            self.refusals.append(str(error))
            return None
        return draft

    def _kinds(self, text: str, given: Mapping[str, Candidate]) -> set[str]:
        """Return the classes that a question names, and those of the things that it names."""
        best = [m.candidates[0] for m in self._mentions(cut(text), given) if m.candidates[0].score > 0.8]
        return {c.term for c in best if c.kind == "class"} | {
            c.classes[0] for c in best if c.kind == "entity" and c.classes
        }

    def _named(self, text: str) -> Sequence[Candidate]:
        """Return what some words may name as a whole, best first."""
        question = cut(text)
        low = [w for w in question.low if w not in ("the", "a", "an", "that", "of")]
        return named_as_a_whole(self._mentions(question, {}), len(low))

    def _mentions(self, question: QuestionText, given: Mapping[str, Candidate]) -> list[NameMention]:
        found = [
            NameMention(n, n + 1, (c,))
            for n, w in enumerate(question.low)
            if (c := given.get(w.removesuffix("'s")))
        ]
        taken = {m.start for m in found}
        matched = self.lexicon.match([word.token for word in question.words])
        for mention in matched:
            kept = None if is_part_of_time(mention, question) else headed(mention, question)
            kept = self._no_flags(kept, question) if kept is not None else None
            kept = self._whole_names(kept, question) if kept is not None else None
            if kept is not None:
                before = question.low[kept.start - 1] if kept.start else ""
                kept = without_likened(kept, before, self.schema.properties)
            if kept is not None and taken.isdisjoint(range(mention.start, mention.end)):
                found.append(kept)
        clear = {
            at for m in found for at in range(m.start, m.end) if m.candidates[0].way in ("exact", "inflected")
        }
        exact = {
            at for m in found for at in range(m.start, m.end)
            for c in m.candidates[:1] if c.way == "exact" and (c.kind != "property" or m.end - m.start > 1)
        }  # fmt: skip
        coded = list(self._codes.mentions([w.token for w in question.words], clear | taken, exact | taken))
        found = [m for m in found if not any(_said_by(c, m) for c in coded)] + coded
        found = list(self._of_their_kind(question, found))
        found = without_parts_asked_for(found, question)
        return without_each_other(without_split_values(found, self.schema)) + list(
            self._joined(question, {(m.start, m.end) for m in found})
        )

    def _no_flags(self, mention: NameMention, question: QuestionText) -> NameMention | None:
        """Return a mention without what only says yes or no, where that is not called so: "directed".

        Nor is an author a "corresponding author", or what somebody owns "state-owned".
        """
        flags = {iri for iri, info in self.schema.properties.items() if info.flag}
        past = is_past(question.low[mention.end - 1])
        said = {root(w) for w in question.low[mention.start : mention.end]}
        said |= {other for word in said for other in synonym_roots().get(word, ())}

        def unlike(c: Candidate) -> bool:
            words = content(c.name)
            part = c.way in ("tokens", "synonym") and len(words) > 1 and root(words[0]) not in said
            part = part and not said & {root(w) for w in content(self.schema.properties[c.term].comment)}
            return part or (past and c.way in ("synonym", "meaning"))

        kept = tuple(c for c in mention.candidates if c.term not in flags or not unlike(c))
        return replace(mention, candidates=kept) if kept else None

    def _whole_names(self, mention: NameMention, question: QuestionText) -> NameMention | None:
        """Return a mention without first and last names, where a "name" alone asks for both."""
        if mention.end - mention.start > 1 or question.low[mention.start] not in ("name", "names"):
            return mention
        kept = tuple(c for c in mention.candidates if c.term not in self._name_parts)
        return replace(mention, candidates=kept) if kept else None

    def _of_their_kind(self, question: QuestionText, found: Sequence[NameMention]) -> Iterator[NameMention]:
        """Yield mentions, what is said "of" a kind being its own: the "id" in "ids of gas stations".

        The name of a kind that has no property called so is none of the names that other kinds have.
        """
        kinds = {
            m.start: m for m in found if m.candidates[0].kind == "class" and m.candidates[0].way == "exact"
        }
        values = {m.start for m in found if m.candidates[0].kind == "value" and m.end == m.start + 1}
        told = dict[int, NameMention]()
        for at in [n for n, w in enumerate(question.low[:-2]) if question.low[n + 1] == "of"]:
            behind = next((i for i in range(at + 2, len(question.low)) if question.low[i] not in _THESE), at)
            # "The ids of the male patients": what tells which of them stands between.
            kind = kinds.get(behind) or (kinds.get(behind + 1) if behind in values else None)
            if kind is None:
                continue
            cls, said = kind.candidates[0], question.words[at].token.key
            own = [i for i in self.schema.properties.values() if cls.term in i.domains and i.kind != "entity"]
            called = f"{cls.name} {said}".lower()
            exact = tuple(
                Candidate("property", i.iri, 1.0, n, "exact")
                for i in own
                for n in i.names
                if n.lower() == called
            )
            alone = next((m for m in found if (m.start, m.end) == (at, at + 1)), None)
            kept = alone.candidates if alone is not None else ()
            if exact and all(c.term != exact[0].term for c in kept):
                told[at] = NameMention(at, at + 1, (*exact, *kept))
            elif said == "name" and alone is not None:
                terms = {i.iri for i in own}
                told[at] = replace(alone, candidates=tuple(c for c in alone.candidates if c.term in terms))
        yield from (m for m in found if not (m.end == m.start + 1 and m.start in told))
        yield from (m for m in told.values() if m.candidates)

    def _joined(self, question: QuestionText, taken: set[tuple[int, int]]) -> Iterator[NameMention]:
        """Yield mentions of names that the question writes as one word: "firstname"."""
        for at, word in enumerate(question.words):
            found = self._one_word.get(word.low) or self._one_word.get(word.token.key)
            if found and (at, at + 1) not in taken:
                yield NameMention(at, at + 1, tuple(found))

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
        if unread or unreadable(ways[0], question, schema):
            # No other way of cutting the question may lose what it asks to compute.
            return []
        extreme = says_extreme(ways[0], question)
        flat = self._flat(question, ways, schema, extreme=extreme)
        if depth and (fold := without_fold(question)) is not None:
            numbers = self._read(fold[1], given, depth - 1)
            whole = [(found, cost) for draft, cost in numbers if (found := folded(draft, fold[0]))]
            if (told := either_fold(question, flat, whole, only=fold[2])) is not None:
                return told
        inside = self._nested(question, mentions, given, depth) if depth else ()
        nested = [found for found in inside if finds_extreme(found[0].plan) or not extreme]
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
        asked, split = asked_kinds(ways[0]), groups(ways[0])
        ordered, cls = only_orders(ways[0], question), asked_class(ways[0], question)
        return [
            (guessed(draft, passed_over), way.score - ways[0].score)
            for number, way in enumerate(ways[:4])
            if asked <= asked_kinds(way)
            for draft in self._drafts(question, way, schema, flips=number < 2)
            if finds_extreme(draft.plan) or not extreme
            if draft.plan.limit != 1 or not ordered
            for passed_over in [
                (split > groups(way))
                + 4 * passes_over_or(way, draft.plan)
                # What "which ships" asks for is no year.
                + 2 * (cls is not None and asked_class(way, question) != cls)
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
