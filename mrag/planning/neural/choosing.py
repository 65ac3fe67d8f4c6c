"""What a language model says of a question's readings, joined with what the parser says of them."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mrag import untrusted
from mrag.context.display import Display
from mrag.errors import ConfigError, ModelError, StoreError
from mrag.generation.models import resolve
from mrag.generation.result import AnswerCell
from mrag.generation.support.sentences import without_thoughts
from mrag.graph.kg import KnowledgeGraph
from mrag.language.possessive import compile_late
from mrag.language.tokens import tokens
from mrag.planning.accounting import Gap, account
from mrag.planning.certainty import number_in
from mrag.planning.lexicon import Lexicon, lexicon_of
from mrag.planning.neural.writer import PROMPTS, answer_of, written
from mrag.planning.plan import Days, Plan
from mrag.planning.readings import FoundReading, Reading
from mrag.planning.results import MOST_JUDGED, Planner, TermNamer, brief, found_something, rows_of
from mrag.planning.run import PlanResult, run
from mrag.planning.scopes import rewritten, walk
from mrag.planning.wording import to_words
from mrag.stores.base import Limits

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

logger = logging.getLogger(__name__)

_NONE: Final = "None of these: each asks for something else or leaves something out"
_LETTERS: Final = "ABCDE"
_WORDS: Final = 400
"""Letters of an option at most."""
_STRONGEST: Final = 4.0
"""How much a verdict says at most, as a logarithm of odds."""
_JUDGE_TOKENS: Final = 512
"""Tokens that a model may write, for those that think before they answer."""
_LETTER: Final = compile_late(r"\b([A-E])\b")


def judge(model: BaseChatModel, question: str, readings: Sequence[tuple[str, str]]) -> list[float]:
    """Return for each reading the logarithm of the odds that it is meant, and not none of them.

    Args:
        model: A chat model, at temperature 0.
        question: The question.
        readings: Readings in words, each with its answer in brief; at most `MOST_JUDGED` are shown.

    Returns:
        A number for each, from -4 to 4; 0 for those that are not shown, or where the model named no letter.

    Raises:
        ModelError: If the model cannot be reached or fails.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> readings = [("the number of films", "3"), ("each film", "Up; Alien; Dune")]
        >>> judge(FakeListChatModel(responses=["A"]), "How many films are there?", readings)
        [4.0, 0.0]
    """
    shown = [
        f"{untrusted.one_line(words[:_WORDS])} (answer: {untrusted.one_line(answer)})"
        for words, answer in readings[:MOST_JUDGED]
    ]
    letters = _LETTERS[: len(shown) + 1]
    rows = "\n".join(f"{a}. {text}" for a, text in zip(letters, [*shown, _NONE], strict=True))
    asked = f"Question: {untrusted.one_line(question)}\n\n{rows}\n\nThe letter of the reading that fits:"
    found = _probabilities(model, asked, letters) or dict.fromkeys(letters, 0.0)
    odds = (found[letter] - found[letters[-1]] for letter in letters[:-1])
    return [max(-_STRONGEST, min(_STRONGEST, one)) for one in odds] + [0.0] * len(readings[MOST_JUDGED:])


def _probabilities(model: BaseChatModel, asked: str, letters: str) -> Mapping[str, float]:
    """Return the logarithm of the probability of each letter; nothing where none was told."""
    said = answer_of(model, PROMPTS["judge"], asked, f"root ::= [{letters}]", _JUDGE_TOKENS, afresh=True)
    for token in said.tokens:
        if str(token["token"]).strip() in letters and token.get("top_logprobs"):
            mass = dict.fromkeys(letters, math.exp(-2 * _STRONGEST))
            for one in token["top_logprobs"]:
                letter = str(one["token"]).strip()
                if letter in mass:
                    mass[letter] += math.exp(one["logprob"])
            return {letter: math.log(p) for letter, p in mass.items()}
    match = _LETTER.search(without_thoughts(said.text))
    if match is None or match[1] not in letters:
        return {}
    return {letter: 0.0 if letter == match[1] else -_STRONGEST for letter in letters}


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
JUDGED: Final = 0.5
"""Weight of a verdict beside the parser's own certainty; both are logarithms of odds."""
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
        """Return readings that found something as the model sees them too, the most certain first.

        Args:
            question: The question.
            found: The readings of the parser; they are returned where a judge does not answer.

        Raises:
            ModelError: If a model that is no judge cannot be reached or fails.
        """
        if self.planner != "judge":
            return self._with_own(question, found)
        try:
            return self._judged(question, found)
        except ModelError as error:
            logger.warning("The readings are not judged: %s", error.message)
            return found

    def _judged(self, question: str, found: list[FoundReading]) -> list[FoundReading]:
        """Weigh each answer by its verdict, against the best of the others and that none fits."""
        if not found:
            return found
        answers = [self._answer(one) for one in found]
        first = {answer: found[answers.index(answer)] for answer in answers}
        shown = [(to_words(r.plan, TermNamer(self.kg)), brief(answer)) for answer, (r, _) in first.items()]
        verdicts = dict(zip(first, judge(self.model, question, shown), strict=True))
        rivals = {a: max((0.0, *(v for b, v in verdicts.items() if b != a))) for a in verdicts}
        return _sorted(
            (_likelier(reading, JUDGED * (verdicts[answer] - rivals[answer])), rows)
            for answer, (reading, rows) in zip(answers, found, strict=True)
        )

    def _with_own(self, question: str, found: list[FoundReading]) -> list[FoundReading]:
        """Return the readings of the parser with the first that the model writes and that finds something."""
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


def helper_of(kg: KnowledgeGraph, model: str | BaseChatModel | None, planner: Planner) -> ModelAdvice | None:
    """Return the help of a language model; None where there is no model, or a judge cannot be had.

    Args:
        kg: The graph.
        model: The model or its name, as for `mrag.ask`.
        planner: How it helps.

    Raises:
        ModelError: If a model that is no judge cannot be had.
    """
    try:
        chat = resolve(model)
    except ModelError as error:
        if planner != "judge":
            raise
        logger.warning("The readings are not judged: %s", error.message)
        return None
    return None if chat is None else ModelAdvice(chat, planner, kg, lexicon_of(kg))
