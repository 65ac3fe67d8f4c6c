"""Later questions with the words of a saved one: its plan, with the names that stand in their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.accounting.verdict import account
from mrag.planning.building.parser import Parser
from mrag.planning.building.scoring import Reading
from mrag.planning.following import SlotFitter, filled, options, reading_of
from mrag.planning.lexical.candidates import NameMention
from mrag.planning.reading.question import QuestionText, cut
from mrag.planning.reading.segmentation import QuestionItem
from mrag.planning.saved.record import SavedQuestion, list_questions
from mrag.rdf.terms import Term

_SURE: Final = 0.99
_LONGEST: Final = 10
"""Words of one name."""

_FILLED: Final = ("name", "number", "unasked", "quotation")
"""What the words in the places of parameters may leave out, or have too much."""

Value: TypeAlias = tuple[Sequence[Term], str, float]
"""Terms for a slot, what they are called, and how like the words that is."""


def taught(kg: KnowledgeGraph, parser: Parser, text: str) -> list[Reading]:
    """Return the readings of a question that questions saved before teach, best first.

    Args:
        kg: The graph.
        parser: Its parser.
        text: The question.
    """
    every = list_questions(kg)
    if not every:
        return []
    question = cut(text)
    mentions = parser.lexicon.match([word.token for word in question.words])
    fitter = SlotFitter(kg, parser.schema)
    found = []
    for saved in every:
        best = max(_filled(saved, question, mentions, fitter), key=lambda r: r.probability, default=None)
        if best is not None:
            # The words of the saved question count as said, and so does what its plan has.
            known = {word.low for word in cut(saved.question).words}
            gaps = account(parser.lexicon, text, best.plan, best.shown, saved.computed.plan).gaps
            gaps = tuple(
                g for g in gaps if g.kind in _FILLED and not known.issuperset(g.words.lower().split())
            )
            best = replace(best, ignored=tuple(dict.fromkeys(g.words for g in gaps)))
            found.append((-best.probability, len(saved.parameters), saved.name, best))
    return [reading for *_, reading in sorted(found, key=lambda f: f[:3])]


def _filled(
    saved: SavedQuestion, question: QuestionText, mentions: Sequence[NameMention], fitter: SlotFitter
) -> Iterator[Reading]:
    keys = [word.token.key for word in question.words]
    for spans in _aligned(list(_pattern(saved)), keys, 0):
        changes, score = [], 1.0
        for number, (start, end) in spans.items():
            item = item_at(question, mentions, start, end)
            values = named(item, saved, number, fitter, question) if item is not None else []
            if not values:
                break
            terms, _, likeness = values[0]
            rivals = sum(v[2] == likeness for v in values)
            changes.append((saved.parameters[number].slot, terms))
            score = min(score, likeness / rivals)
        else:
            plan = filled(saved.computed.plan, changes)
            note = f"read like the saved question “{saved.name}”"
            yield reading_of(plan, saved.computed.shown, _SURE * score, note)


def named(
    item: QuestionItem, saved: SavedQuestion, number: int, fitter: SlotFitter, question: QuestionText
) -> list[Value]:
    """Return what words may stand for in the place of a parameter, likeliest first."""
    slot = saved.parameters[number].slot
    found = [(terms, name, score) for _, terms, name, score in options(item, [slot], fitter, question)]
    return sorted(found, key=lambda v: (-v[2], str(v[0][0])))


def item_at(
    question: QuestionText, mentions: Sequence[NameMention], start: int, end: int
) -> QuestionItem | None:
    """Return the time, the number or the name that stands in some words of a question, and nothing beside."""
    for period in question.periods:
        if (period.start, period.end) == (start, end):
            return QuestionItem(start, end, period=period)
    for quantity in question.quantities:
        if (quantity.start, quantity.end) == (start, end):
            return QuestionItem(start, end, quantity=quantity)
    mention = next((m for m in mentions if (m.start, m.end) == (start, end)), None)
    return QuestionItem(start, end, mention=mention) if mention is not None else None


def _pattern(saved: SavedQuestion) -> Iterator[str | int]:
    for part in saved.template:
        if isinstance(part, int):
            yield part
        else:
            yield from (word.token.key for word in cut(part).words)


def _aligned(
    pattern: Sequence[str | int], keys: Sequence[str], at: int
) -> Iterator[Mapping[int, tuple[int, int]]]:
    """Yield the spans of words that parameters take if all other words are the same."""
    if not pattern:
        if at == len(keys):
            yield {}
        return
    first, rest = pattern[0], pattern[1:]
    if isinstance(first, str):
        if at < len(keys) and keys[at] == first:
            yield from _aligned(rest, keys, at + 1)
        return
    for end in range(at + 1, min(len(keys), at + _LONGEST) + 1):
        for spans in _aligned(rest, keys, end):
            yield {first: (at, end), **spans}
