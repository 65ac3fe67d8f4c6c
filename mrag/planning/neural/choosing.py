"""A reading that a language model writes, joined with those of the parser."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mrag.context.display import Display
from mrag.errors import ConfigError, StoreError
from mrag.generation.models import resolve
from mrag.generation.result import AnswerCell
from mrag.graph.kg import KnowledgeGraph
from mrag.language.tokens import tokens
from mrag.planning.accounting import Gap, account
from mrag.planning.certainty import number_in
from mrag.planning.lexicon import Lexicon, lexicon_of
from mrag.planning.neural.writer import written
from mrag.planning.plan import Days, Plan
from mrag.planning.readings import FoundReading, Reading
from mrag.planning.results import found_something, rows_of
from mrag.planning.run import PlanResult, run
from mrag.planning.scopes import rewritten, walk
from mrag.stores.base import Limits

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class Unread:
    """Words of a question that nothing in a plan stands for, as they are written in small letters.

    Attributes:
        missing: What a plan has to say: names of things, numbers, times, operations, and what is asked for.
        unknown: Verbs, and what describes a noun that is read: a model may have put it in its own way.
        invented: Names, kinds and numbers in the plan that nothing in the question stands for.
        things: Nouns among the unknown words.
        asked: Nouns among the missing words: what is asked for.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """Return how much tells against the plan: a verb counts once, a noun or what is invented twice."""
        return len(self.unknown) + len(self.things) + 2 * len(self.invented)


_MISSING: Final = frozenset("name number avg share part ratio not superlative".split())
"""Kinds of gaps of which a plan has to have the counterpart itself."""


def unread(lexicon: Lexicon, question: str, plan: Plan) -> Unread:
    """Return the words of a question that carry meaning and that nothing in a plan stands for.

    Args:
        lexicon: The names of the graph.
        question: The question.
        plan: A plan of it.
    """
    verdict = account(lexicon, question, plan, [c.name for c in plan.columns])
    gaps = (*verdict.gaps, *verdict.loose)
    words = [g for g in gaps if g.kind == "word"]
    open_ = [g for g in words if "near" not in g.roles]
    asked = [g for g in open_ if "asked" in g.roles]
    places: defaultdict[str, int] = defaultdict(int)
    places.update(
        {word: at for at, word in reversed(list(enumerate(t.raw.lower() for t in tokens(question))))}
    )

    def said(some: Iterable[Gap]) -> tuple[str, ...]:
        return tuple(sorted({word for g in some for word in g.words.lower().split()}, key=places.__getitem__))

    return Unread(
        missing=said(g for g in gaps if g.kind in _MISSING or g in asked),
        unknown=said(g for g in open_ if g not in asked),
        invented=tuple(dict.fromkeys(g.words for g in gaps if g.kind == "unasked")),
        things=said(g for g in open_ if "noun" in g.roles),
        # What is counted has to be in the plan: any rows may be told as a number of anything.
        asked=said(g for g in asked if "counted" not in g.roles),
    )


_LIMITS: Final = Limits(3.0, 5_000, 8 << 20)
_GIVEN: Final = 0.6
"""How certain a reading of the parser is that a model's own does not overrule."""
PASSED_OVER: Final = 0.85
"""How likely a plan of a model still is for each verb of which nothing in it tells that it was read."""
AGREED: Final = 2.0
"""What it adds to a reading that the model has written one with the same answer, as a logarithm of odds."""


@dataclass(frozen=True)
class ModelAdvice:
    """A language model's help with the readings of a question.

    Args:
        model: A chat model, at temperature 0.
        kg: The graph.
        lexicon: Its names.
    """

    model: BaseChatModel
    kg: KnowledgeGraph
    lexicon: Lexicon

    def advised(self, question: str, found: Sequence[FoundReading]) -> list[FoundReading]:
        """Return the readings of the parser with the first that the model writes and that finds something.

        Args:
            question: The question.
            found: The readings of the parser that found something, the most certain first.

        Raises:
            ModelError: If the model cannot be reached or fails.
        """
        tried = map(self._tried_both_ways, written(self.model, self.lexicon, question))
        first = next((one for one in tried if one is not None), None)
        if first is None:
            return [*found]
        own, result = first
        left = unread(self.lexicon, question, own.plan)
        # Other words than those of the graph may well be what the model has read, if it is sure.
        likely = own.confidence * PASSED_OVER**left.weight
        ignored = left.missing + (left.unknown if likely < _GIVEN else ())
        own = replace(own, ignored=ignored, certainty=own.confidence if ignored else likely)
        return self._joined((own, result), found, left)

    def _joined(self, own: FoundReading, found: Sequence[FoundReading], left: Unread) -> list[FoundReading]:
        """Return the readings of the parser with one of the model: what both agree on is likelier."""
        answer = self._answer(own)
        agreed = [one for one in found if self._answer(one) == answer]
        if not agreed:
            first = found[0][0] if found else None
            if first is not None and not first.ignored and first.confidence >= _GIVEN:
                # What would be given without a model is right more often than what a model writes.
                kept = min(own[0].confidence, first.confidence)
                return _sorted([*found, (replace(own[0], certainty=kept), own[1])])
            return _sorted([own, *found])
        missing = tuple(w for w in left.missing if w not in left.asked)

        def unread_by_both(reading: Reading) -> tuple[str, ...]:
            # In an answer that was found in two ways only that word is unread which neither way has read.
            low = [word.lower() for word in reading.ignored]
            return missing + tuple(w for w in (*left.unknown, *left.asked) if w in low)

        both = ((_likelier(replace(r, ignored=unread_by_both(r)), AGREED), a) for r, a in agreed)
        return _sorted([*both, *(one for one in found if one not in agreed)])

    def _tried_both_ways(self, reading: Reading) -> FoundReading | None:
        """Run a reading; where spans of time come out negative, from the later date to the earlier."""
        result = self._tried(reading)
        if result is None or not any(isinstance(part, Days) for part in walk(reading.plan)):
            return None if result is None else (reading, result)
        if any((number_in(cell) or 0) > 0 for row in result.rows for cell in row):
            return reading, result
        plan = rewritten(reading.plan, lambda v: Days(v.end, v.start) if isinstance(v, Days) else v)
        turned = replace(reading, plan=plan)
        other = self._tried(turned)
        return (reading, result) if other is None else (turned, other)

    def _tried(self, reading: Reading) -> PlanResult | None:
        """Run a reading; None where it fails or finds nothing."""
        try:
            result = run(self.kg, reading.plan, schema=self.lexicon.schema, limits=_LIMITS)
        except (StoreError, ConfigError):
            return None
        return result if found_something(reading, result) else None

    def _answer(self, one: FoundReading) -> tuple[tuple[AnswerCell, ...], ...]:
        """Return an answer as it is shown, whatever the order of its rows."""
        rows = (tuple(AnswerCell(None, c.label) for c in row) for row in rows_of(Display(self.kg), *one))
        return tuple(sorted(rows, key=lambda row: [cell.label for cell in row]))


def _likelier(reading: Reading, by: float) -> Reading:
    """Return a reading that is more certain, by a logarithm of odds."""
    p = min(max(reading.confidence, 1e-6), 1 - 1e-6)
    return replace(reading, certainty=1 / (1 + math.exp(-math.log(p / (1 - p)) - by)))


def _sorted(found: Iterable[FoundReading]) -> list[FoundReading]:
    # The sort is stable: readings that are as likely keep the parser's order.
    return sorted(found, key=lambda one: (len(one[0].ignored), -one[0].confidence))


def helper_of(kg: KnowledgeGraph, model: str | BaseChatModel | None) -> ModelAdvice | None:
    """Return the help of a language model; None where there is no model.

    Args:
        kg: The graph.
        model: The model or its name, as for `mrag.ask`.

    Raises:
        ModelError: If the model cannot be had.
    """
    chat = resolve(model)
    return None if chat is None else ModelAdvice(chat, kg, lexicon_of(kg))
