"""Drafts of a question that is cut into items: the likeliest, and those by other names and other joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mrag.planning.building import checks
from mrag.planning.building.builder import Builder
from mrag.planning.building.joins import JoinGraph
from mrag.planning.composing import shapes
from mrag.planning.composing.drafts import Draft, Unbuildable, guessed
from mrag.planning.composing.ratios import combined
from mrag.planning.derived.amounts import amounts_of
from mrag.planning.derived.held import HeldNumber, held_numbers
from mrag.planning.derived.spans import in_unit, spans_of, unit_said
from mrag.planning.lexical.candidates import Candidate
from mrag.planning.lexical.english import positive, root
from mrag.planning.lexicon import Lexicon
from mrag.planning.reading.frame import Frame
from mrag.planning.reading.question import QuestionText
from mrag.planning.reading.reader import FrameReader
from mrag.planning.reading.segmentation import QuestionItem, Segmentation
from mrag.planning.schema import PropertyInfo, Schema

_TIED = 1.0
"""What it counts, in guesses, that two ways of joining things are as likely as each other."""

_ROUND = 3.5
"""What another way of joining things may cost more before it is too far round to be meant."""


def _undecided(draft: Draft) -> Draft:
    """Return a draft less likely where a join of it could as well go another way."""
    return guessed(draft, _TIED) if draft.ties else draft


class Drafting:
    """Makes drafts of questions over one graph.

    Args:
        schema: Its schema.
        lexicon: Its names.
    """

    def __init__(self, schema: Schema, lexicon: Lexicon) -> None:
        self._spans = spans_of(schema)
        held = {**schema.properties, **held_numbers(schema)}
        self.schema = replace(schema, properties={**held, **self._spans, **amounts_of(schema)})
        self.lexicon = lexicon
        self._joins = JoinGraph(schema)
        self.refusals: list[str] = []

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
        told = [p for p in shapes.leading_to_names(first.plan) if self._joins.told_twice(p)]
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
                    first.joins < 1 and checks.leads_to(other, candidates[0], schema)
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
                plan = shapes.not_of_itself(shapes.made_possible(draft.plan, question.text, schema))
                draft = replace(draft, plan=plan)
            if flaw := shapes.flaw(draft.plan):
                raise Unbuildable(flaw)
        except Unbuildable as error:
            self.refusals.append(str(error))
            return None
        return draft
