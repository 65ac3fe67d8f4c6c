"""The readings of a question that is asked after another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rdflib import URIRef

from mrag.context.display import Display
from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.building.parser import Parser
from mrag.planning.building.scoring import Reading
from mrag.planning.following.merging import Asked, LastAnswer, Topic, among, over, topic_of
from mrag.planning.following.replacing import likely, picked, reading_of, rebounded, replacements
from mrag.planning.following.slots import SlotFitter, slots_of
from mrag.planning.following.wordings import FollowText, pointing
from mrag.planning.lexical.candidates import Candidate, NameMention
from mrag.planning.lexical.english import positive
from mrag.planning.plan import Plan
from mrag.planning.reading.cues import cues
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.run import run
from mrag.planning.scopes import aggregates
from mrag.rdf import queries
from mrag.rdf.terms import Term
from mrag.stores.base import Limits

_MOST = 100
"""Things that a follow-up goes on from one by one, where the last plan cut off the others."""
_SURE = 0.6
_TOLD = 0.9
"""How likely it is that "the cheap ones" are those below the average."""
BY_ITSELF: Final = "read as a question on its own: every word was read, and the graph can compute it"
"""Why a question that was asked after another one is computed alone."""
_ARTICLES = ("the", "a", "an")


def asked_after(
    kg: KnowledgeGraph, parser: Parser, question: str, last: LastAnswer, own: Sequence[Reading]
) -> tuple[list[Reading], str]:
    """Return the readings of a question that is asked after another one.

    A question that can be read by itself is; what points back ("them"), or goes on ("and in Texas?"), edits
    the last plan.

    Args:
        kg: The graph.
        parser: Its parser.
        question: The question.
        last: What was computed before.
        own: Its readings by itself, best first.

    Returns:
        The readings, best first, and why there are no more of them; "" where it was read by itself.
    """
    return _FollowUp(kg, parser, question, last).readings(own)


@dataclass
class _FollowUp:
    kg: KnowledgeGraph
    parser: Parser
    question: str
    last: LastAnswer
    said: FollowText = field(init=False)
    topic: Topic | None = field(init=False)
    why: str = "the question goes on from the last answer in no way that could be computed"

    def __post_init__(self) -> None:
        self.said = FollowText.of(self.question)
        self.topic = topic_of(self.last, self.parser.schema)

    def readings(self, own: Sequence[Reading]) -> tuple[list[Reading], str]:
        text = self.said.question
        points, _ = pointing(text, self._first_class(text))
        by_itself = [r for r in own if not points and not self.said.only and _self_standing(r)]
        sure = bool(by_itself) and by_itself[0].probability >= _SURE
        if sure and self.said.whole:
            return [replace(r, note=r.note or BY_ITSELF) for r in by_itself], ""
        found: dict[Plan, Reading] = {}
        for reading in self._follow_ups(text, bool(points)):
            if not (reading.shown or reading.plan.yes_or_no):
                continue
            if reading.plan not in found or found[reading.plan].probability < reading.probability:
                found[reading.plan] = reading
        ranked = sorted(found.values(), key=lambda r: (bool(r.ignored), -r.probability))
        alone = self.said.whole and not points and not self.said.only
        if alone and (not ranked or ranked[0].ignored or ranked[0].probability < _SURE):
            return list(own), ""
        return ranked, self.why

    def _first_class(self, text: QuestionText) -> int:
        """Return the index of the first word that names a class; behind the last if none does."""
        named = (m for m in self._mentions(text) if m.candidates[0].score > 0.8)
        return min((m.start for m in named if m.candidates[0].kind == "class"), default=len(text.words))

    def _follow_ups(self, text: QuestionText, points: bool) -> Iterator[Reading]:
        replaced: list[Reading] = []
        if not points and not self.said.only:
            replaced = list(self._replaced(text))
            if (bounded := rebounded(self.parser, self.said, self.last)) is not None:
                note = "read as a follow-up, with another bound"
                yield reading_of(bounded, self.last.shown, likely(1.0), note)
        yield from replaced
        if self.topic is not None and not points:
            found = picked(self.parser, self.said, self.last, self.topic)
            if found is not None:
                plan, candidate = found
                note = f"read as a follow-up, {'only' if self.said.only else 'without'} “{candidate.name}”"
                yield reading_of(plan, self.last.shown, likely(candidate.score), note)
        counts = any(a.function == "count" for c in self.last.plan.columns for a in aggregates(c.value))
        first, named = self._names(text)
        values = "property" in named and first in ("", "property")
        bare = bool(first) or (self.said.leads and bool(replaced))
        for form, asks in self.said.forms(points=points, counts=counts, bare=bare, values=values):
            yield from self._over_the_last(form, points, asks)

    def _names(self, text: QuestionText) -> tuple[str, set[str]]:
        """Return the kind of name that the follow-up begins with, "" if with another word, and all kinds."""
        at = next((i for i, word in enumerate(text.low) if word not in _ARTICLES), 0)
        clear = [m for m in self._mentions(text) if m.candidates[0].score > 0.5]
        found = [m for m in clear if m.start <= at < m.end]
        cued = any(cue.start <= at < cue.end for cue in cues(text.low))
        best = max(found, key=lambda m: (m.candidates[0].score, m.end - m.start, -m.start), default=None)
        first = "" if cued or best is None else best.candidates[0].kind
        return first, {m.candidates[0].kind for m in clear}

    def _mentions(self, text: QuestionText) -> list[NameMention]:
        return self.parser.lexicon.match([word.token for word in text.words])

    def _replaced(self, text: QuestionText) -> Iterator[Reading]:
        fitter = SlotFitter(self.kg, self.parser.schema)
        display = Display(self.kg)
        found = replacements(self.parser, fitter, text, self.last)
        if len(found) > 1:
            places = dict.fromkeys(f"“{_called(display, old)}”" for one in found for old, _, _ in one.changes)
            self.why = f"it is open whether it is meant in place of {' or of '.join(places)}"
        for one in found:
            said = [f"“{name}” in place of “{_called(display, old)}”" for old, _, name in one.changes]
            note = f"read as a follow-up, with {' and '.join(said)}"
            yield reading_of(one.plan, one.shown, likely(one.score) / len(found), note)

    def _over_the_last(self, form: str, points: bool, asks: bool) -> Iterator[Reading]:
        """Yield readings of a wording in which words stand for what was found before."""
        text = cut(form)
        places, one = pointing(text, self._first_class(text))
        if one:
            if (thing := self._the_one()) is None:
                return
            meant = dict.fromkeys((text.low[at] for at in places), thing)
            for reading in self.parser.readings(form, meant=meant):
                if URIRef(thing.term) in {s.term for s in slots_of(reading.plan)}:
                    note = f"read as a follow-up, about “{thing.name}”"
                    yield _noted(reading, reading.plan, reading.shown, reading.probability, note)
            return
        topic = self.topic
        if topic is None:
            self.why = "the last answer was about no things of one kind"
            return
        name = next(iter(self.parser.schema.classes[topic.cls].names), "thing")
        stand = Candidate("class", topic.cls, 1.0, name)
        named = self._named(text, topic.cls)
        meant = {text.low[at]: stand for at in places if at + 1 not in named}
        if named and not any(at + 1 in named for at in places):
            self.why = f"it is open which {name} is meant"
            return
        narrowed = points or self.said.only
        base = self.last.plan.where
        if narrowed and (self.last.plan.limit is not None or self.last.plan.having or self.last.plan.offset):
            things = self._things(topic)
            if not things:
                self.why = "the last answer has no things, or too many, to go on from"
                return
            base = among(self.last, topic, things)
        best = [m.candidates[0] for m in self._mentions(text)]
        said = any(c.score > 0.8 and (c.kind, c.term) != ("class", topic.cls) for c in best)
        for wording, measures in self._measured(form, text, topic):
            for reading in self.parser.readings(wording, meant=meant):
                asked = Asked(
                    reading.plan, reading.shown, asks, self.said.asks_other, not narrowed, self.said.adds,
                    measures,
                )  # fmt: skip
                done = over(self.last, topic, base, asked, self.parser.schema)
                # A name that changes nothing was lost on the way.
                if (
                    done is not None
                    and (done.shown or done.plan.yes_or_no)
                    and not ((said or not points) and _same(done.plan, self.last.plan))
                ):
                    note = "read as a follow-up, about the last answer"
                    chance = reading.probability * (_TOLD if measures else 1.0)
                    yield _noted(reading, done.plan, done.shown, chance, note)

    def _measured(
        self, form: str, text: QuestionText, topic: Topic
    ) -> Iterator[tuple[str, tuple[tuple[str, bool], ...]]]:
        """Yield a wording, and one without its adjectives of measure: "the cheap ones"."""
        yield form, ()
        measures, cut_out = [], []
        for at, word in enumerate(text.low):
            if positive(word) != word:
                continue
            for found in self.parser.lexicon.dimension(word):
                info = self.parser.schema.properties[found.property]
                if info.kind == "number" and topic.cls in info.domains:
                    measures.append((found.property, found.direction == "greatest"))
                    cut_out.append(at)
                    break
        if measures:
            rest = [w.token.raw for at, w in enumerate(text.words) if at not in cut_out]
            yield " ".join(rest), tuple(measures)

    def _named(self, text: QuestionText, cls: str) -> set[int]:
        """Return the places of the words that name the class of what was found by itself."""
        clear = [m for m in self._mentions(text) if m.candidates[0].score > 0.8]
        return {
            at
            for m in clear
            if (m.candidates[0].kind, m.candidates[0].term) == ("class", cls)
            and not any(o.start <= m.start and m.end <= o.end and o is not m for o in clear)
            for at in range(m.start, m.end)
        }

    def _the_one(self) -> Candidate | None:
        """Return what "it" is: the only thing that was found, else the only one that was named."""
        found = self._things(self.topic) if self.topic is not None and self.topic.column >= 0 else []
        if len(found) != 1:
            found = [s.term for s in slots_of(self.last.plan) if s.role == "entity"]  # type: ignore[misc]
        if len(found) != 1:
            self.why = "it is open which thing is meant"
            return None
        rows = self.kg.select(queries.get("planning/classes-of").bind(thing=[found[0]]))
        classes = self.parser.schema.with_superclasses(str(c) for _, c in rows)
        name = Display(self.kg).name(str(found[0]))
        return Candidate("entity", str(found[0]), 1.0, name, classes=classes)

    def _things(self, topic: Topic) -> list[URIRef]:
        """Return what the last answer shows; none where it shows no things, or too many."""
        if topic.column < 0:
            return []
        try:
            limits = Limits(2.0, _MOST + 1, 1 << 20)
            found = run(self.kg, self.last.plan, schema=self.parser.schema, limits=limits)
        except (StoreError, ConfigError):
            return []
        things = dict.fromkeys(r[topic.column] for r in found.rows if isinstance(r[topic.column], URIRef))
        return [] if found.truncated or len(things) > _MOST else list(things)  # type: ignore[arg-type]


def _self_standing(reading: Reading) -> bool:
    """Return whether a reading says what it is about: a class, a thing or a text."""
    return not reading.ignored and any(s.role in ("class", "entity", "text") for s in slots_of(reading.plan))


def _same(one: Plan, other: Plan) -> bool:
    """Return whether two plans are the same but for the names of their columns."""

    def content(plan: Plan) -> object:
        order = [o.descending for o in plan.order]
        return plan.where, [c.value for c in plan.columns], order, plan.limit, plan.having

    return content(one) == content(other)


def _noted(reading: Reading, plan: Plan, shown: tuple[str, ...], probability: float, note: str) -> Reading:
    return Reading(plan, shown, probability, reading.ignored, reading.features, note)


def _called(display: Display, term: Term) -> str:
    return display.name(str(term)) if isinstance(term, URIRef) else str(term)
