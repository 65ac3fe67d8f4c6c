"""What a language model says of a question's readings, joined with what the parser says of them."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias
from typing import Literal as OneOf

from rdflib import Literal

from mrag.context.display import Display
from mrag.errors import ConfigError, ModelError, StoreError
from mrag.generation.result import AnswerCell
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.building.scoring import Reading
from mrag.planning.following.editing import rewritten, walk
from mrag.planning.lexicon import Lexicon, lexicon_of
from mrag.planning.neural.agent import explore
from mrag.planning.neural.judge import MOST, judge
from mrag.planning.neural.retelling import Unread, retold, unread
from mrag.planning.neural.writer import written
from mrag.planning.plan import Days
from mrag.planning.results import brief, found_something, namer, rows_of
from mrag.planning.run import PlanResult, run
from mrag.planning.wording import to_words
from mrag.stores.base import Limits

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)

Planner: TypeAlias = OneOf["parser", "judge", "writer", "tools"]
"""Who reads a question: the parser alone, or a model too, which judges its readings or has one of its own."""

FoundReading: TypeAlias = tuple[Reading, PlanResult]

_LIMITS: Final = Limits(3.0, 5_000, 8 << 20)
_GIVEN: Final = 0.6
"""How likely a reading of the parser is that a model's own does not overrule."""
JUDGED: Final = 0.5
"""Weight of a verdict beside the parser's own score; both are logarithms of odds."""
PASSED_OVER: Final = 0.85
"""How likely a plan of a model still is for each verb of which nothing in it tells that it was read."""
AGREED: Final = 2.0
"""What it adds to a reading that the model has written one with the same answer, as a logarithm of odds."""


@dataclass(frozen=True)
class ModelAdvice:
    """A language model's help with the readings of a question.

    Args:
        model: A chat model, at temperature 0.
        planner: How it helps.
        kg: The graph.
        lexicon: Its names.
    """

    model: BaseChatModel
    planner: Planner
    kg: KnowledgeGraph
    lexicon: Lexicon

    def advised(self, question: str, found: list[FoundReading]) -> list[FoundReading]:
        """Return readings as the model sees them; those of the parser alone where a judge does not answer.

        Raises:
            ModelError: If a model that is no judge cannot be reached or fails.
        """
        try:
            return self.revised(question, found)
        except ModelError as error:
            if self.planner != "judge":
                raise
            logger.warning("The readings are not judged: %s", error.message)
            return found

    def revised(self, question: str, found: Sequence[FoundReading]) -> list[FoundReading]:
        """Return readings that found something, likeliest first, as the model sees them too.

        Args:
            question: The question.
            found: The readings of the parser, likeliest first.

        Raises:
            ModelError: If the model cannot be reached or fails.
        """
        if self.planner == "judge":
            return self._judged(question, found) if found else []
        tried = next(self._own(question), None)
        if tried is None:
            return list(found)
        own, result, statement = tried
        left = unread(self.lexicon, question, own.plan)
        if statement and (left.asked or left.unknown or left.near):
            left = left.without(*retold(self.model, question, statement))
        # Other words than those of the graph may well be what the model has read, if it is sure.
        likely = own.probability * PASSED_OVER**left.weight
        ignored = left.missing + (left.unknown if likely < _GIVEN else ())
        own = replace(own, ignored=ignored, probability=own.probability if ignored else likely)
        return self._joined((own, result), found, left)

    def _own(self, question: str) -> Iterator[tuple[Reading, PlanResult, str]]:
        """Yield the model's own readings that find something, likeliest first, with its statements."""
        if self.planner == "tools":
            explored = explore(self.model, self.lexicon, question, self._tried)
            readings = iter(() if explored is None else ((explored, ""),))
        else:
            readings = written(self.model, self.lexicon, question)
        for one, statement in readings:
            if (tried := self._tried_both_ways(one)) is not None:
                yield *tried, statement

    def _judged(self, question: str, found: Sequence[FoundReading]) -> list[FoundReading]:
        """Weigh readings by verdicts; those with one answer share one."""
        answers = [self._answer(one) for one in found]
        first = {answer: found[answers.index(answer)] for answer in answers}
        shown = [(self._words(reading), brief(answer)) for answer, (reading, _) in first.items()][:MOST]
        told = dict(zip(first, judge(self.model, question, shown), strict=False))
        return _sorted(
            (_likelier(reading, JUDGED * told.get(answer, 0.0)), result)
            for answer, (reading, result) in zip(answers, found, strict=True)
        )

    def _joined(self, own: FoundReading, found: Sequence[FoundReading], left: Unread) -> list[FoundReading]:
        """Return the readings of the parser with one of the model: what both agree on is likelier."""
        answer = self._answer(own)
        agreed = [one for one in found if self._answer(one) == answer]
        if not agreed:
            first = found[0][0] if found else None
            if first is not None and not first.ignored and first.probability >= _GIVEN:
                # What would be given without a model is right more often than what a model writes.
                kept = min(own[0].probability, first.probability)
                return _sorted([*found, (replace(own[0], probability=kept), own[1])])
            return _sorted([own, *found])
        others = [one for one in found if one not in agreed]
        left = left.without({*left.asked})
        # In an answer that was found in two ways only that word is unread which neither way has read.
        both = [
            (
                replace(
                    r, ignored=left.missing + tuple(w for w in left.unknown if w in map(str.lower, r.ignored))
                ),
                a,
            )
            for r, a in agreed
        ]
        return _sorted([*((_likelier(r, AGREED), a) for r, a in both), *others])

    def _tried_both_ways(self, reading: Reading) -> FoundReading | None:
        """Run a reading; where spans of time come out negative, from the later date to the earlier."""
        result = self._tried(reading)
        if result is None or not any(isinstance(part, Days) for part in walk(reading.plan)):
            return None if result is None else (reading, result)
        numbers = [cell for row in result.rows for cell in row if isinstance(cell, Literal)]
        if any(_number(cell) > 0 for cell in numbers):
            return reading, result
        turned = replace(
            reading,
            plan=rewritten(reading.plan, lambda v: Days(v.end, v.start) if isinstance(v, Days) else v),
        )
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

    def _words(self, reading: Reading) -> str:
        return to_words(reading.plan, namer(self.kg))


def _number(cell: Literal) -> float:
    value = cell.toPython()
    return float(value) if isinstance(value, int | float | Decimal) else 0.0


def _likelier(reading: Reading, by: float) -> Reading:
    certainty = None if reading.certainty is None else _moved(reading.certainty, by)
    return replace(reading, probability=_moved(reading.probability, by), certainty=certainty)


def _moved(p: float, by: float) -> float:
    p = min(max(p, 1e-6), 1 - 1e-6)
    return 1 / (1 + math.exp(-math.log(p / (1 - p)) - by))


def _sorted(found: Iterable[FoundReading]) -> list[FoundReading]:
    # The sort is stable: readings that are as likely keep the parser's order.
    return sorted(found, key=lambda one: (bool(one[0].ignored), -one[0].probability))


def helper_of(kg: KnowledgeGraph, model: str | BaseChatModel | None, planner: Planner) -> ModelAdvice | None:
    """Return the help of a language model; None where there is no model, or a judge cannot be had.

    Args:
        kg: The graph.
        model: The model or its name, as for `mrag.ask`.
        planner: How it helps.

    Raises:
        ModelError: If a model that is no judge cannot be had.
    """
    from mrag.generation.models import resolve

    try:
        chat = resolve(model)
    except ModelError as error:
        if planner != "judge":
            raise
        logger.warning("The readings are not judged: %s", error.message)
        return None
    return None if chat is None else ModelAdvice(chat, planner, kg, lexicon_of(kg))
