"""What a language model says of a question's readings, joined with what the parser says of them."""

from __future__ import annotations

import json
import logging
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from rdflib import URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.errors import ConfigError, ModelError, StoreError
from mrag.generation.models import Told, resolve, takes_grammar
from mrag.generation.result import AnswerCell
from mrag.generation.support.sentences import without_thoughts
from mrag.graph.kg import KnowledgeGraph
from mrag.language.possessive import compile_late
from mrag.language.tokens import is_stopword, tokens
from mrag.planning.accounting import Gap, account
from mrag.planning.certainty import number_in
from mrag.planning.lexical import Candidate
from mrag.planning.lexicon import Lexicon, lexicon_of
from mrag.planning.neural.exploring import explore
from mrag.planning.neural.prompts import PROMPTS, answer_of
from mrag.planning.neural.writer import written
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
_NO_RELATION: Final = "None of these: the database does not tell it"
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
    last = "The letter of the reading that fits:"
    return _verdicts(model, "judge", question, [*shown, _NONE], last) + [0.0] * len(readings[MOST_JUDGED:])


def meant_by(model: BaseChatModel, question: str, word: str, relations: Sequence[str]) -> list[float]:
    """Return for each relation the logarithm of the odds that a word of a question means it, and not none.

    The model is asked twice, with the relations in either order, and the lesser of what it says counts: small
    models rather choose by place.

    Args:
        model: A chat model, at temperature 0.
        question: The question.
        word: The word.
        relations: What relations are called, at most `MOST_JUDGED`.

    Raises:
        ModelError: If the model cannot be reached or fails.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> model = FakeListChatModel(responses=["A", "B"])
        >>> meant_by(model, "Who mentored Ada?", "mentored", ["supervisor", "birth place"])
        [4.0, 0.0]
    """
    options = [untrusted.one_line(name[:_WORDS]) for name in relations[:MOST_JUDGED]]
    last = f"The letter of the relation that “{untrusted.one_line(word)}” stands for:"
    once, again = (
        _verdicts(model, "meaning", question, [*order, _NO_RELATION], last)
        for order in (options, options[::-1])
    )
    return [min(pair) for pair in zip(once, again[::-1], strict=True)]


def _verdicts(
    model: BaseChatModel, prompt: str, question: str, options: Sequence[str], last: str
) -> list[float]:
    """Return for each option but the last the logarithm of the odds that it is chosen, and not the last."""
    letters = _LETTERS[: len(options)]
    rows = "\n".join(f"{a}. {text}" for a, text in zip(letters, options, strict=True))
    asked = f"Question: {untrusted.one_line(question)}\n\n{rows}\n\n{last}"
    found = _probabilities(model, PROMPTS[prompt], asked, letters) or dict.fromkeys(letters, 0.0)
    none = found[letters[-1]]
    return [max(-_STRONGEST, min(_STRONGEST, found[letter] - none)) for letter in letters[:-1]]


def _probabilities(model: BaseChatModel, system: str, asked: str, letters: str) -> Mapping[str, float]:
    """Return the logarithm of the probability of each letter; nothing where none was told."""
    said = answer_of(model, system, asked, f"root ::= [{letters}]", _JUDGE_TOKENS, afresh=True)
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


EXPECTED: Final = -8.0
"""The logarithm of a word's probability from which on it is no surprise. On graphs that this was made with,
nouns that a graph does not have were at -10 to -29, but for one at -1, and those that it has by another name
at -1 to -8."""
SURPRISING: Final = -12.0
"""The same below which it comes as a surprise."""

_TABLES, _ASKED = PROMPTS["writer"].partition("Tables:")[2].strip().split("\n\n", 1)
_RETELLING_SYSTEM: Final = "\n".join(
    [
        "Write the question that the SQL query answers, as a person asks it.",
        f"\nTables:\n{_TABLES}\n",
        *(f"SQL: {sql}\nQuestion: {text}" for text, sql in re.findall("Question: (.*)\nSQL: (.*)", _ASKED)),
    ]
)
"""The system message: the examples of the writer, turned round."""

_LONGEST: Final = 400
"""Letters of a question that is asked for; a longer one is read by its names alone."""
_RETELLING_TOKENS: Final = 200


@dataclass(frozen=True)
class Unread:
    """Words of a question that nothing in a plan stands for, as they are written in small letters.

    Attributes:
        missing: What a plan has to say: names of things, numbers, times, operations, and what is asked for.
        unknown: Verbs, and what describes a noun that is read: a model may have put it in its own way.
        invented: Names, kinds and numbers in the plan that nothing in the question stands for.
        things: Nouns among the unknown words.
        asked: Nouns among the missing words: what is asked for.
        near: Nouns that are asked for, and only near in meaning to what the plan says.
    """

    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """Return how much tells against the plan: a verb counts once, a noun or what is invented twice."""
        return len(self.unknown) + len(self.things) + 2 * len(self.invented)

    def without(self, expected: Set[str], surprising: Set[str] = frozenset()) -> Unread:
        """Return what is left by what a model expects that is told the plan.

        Names, numbers and operations have to be in a plan themselves. A noun that is said otherwise still
        counts as a verb does: that one thing stands for another is a guess.

        Args:
            expected: Words that it expects, in small letters.
            surprising: Words that surprise it: a noun that is only near to what the plan says is not it.

        Example:
            >>> Unread(("planes",), ("took",), asked=("planes",)).without({"planes", "took"})
            Unread(missing=(), unknown=('planes',), invented=(), things=(), asked=(), near=())
        """
        guessed = expected & {*self.asked, *self.things}
        none = tuple(w for w in self.near if w in surprising)
        return replace(
            self,
            missing=tuple(w for w in self.missing if w not in expected or w not in self.asked) + none,
            unknown=tuple(w for w in (*self.unknown, *self.asked) if w in guessed)
            + tuple(w for w in self.unknown if w not in expected),
            things=tuple(w for w in self.things if w not in expected),
            asked=tuple(w for w in self.asked if w not in expected) + none,
            near=(),
        )


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
    near = [g for g in words if "near" in g.roles]
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
        near=said(g for g in near if "asked" in g.roles),
    )


def retold(model: BaseChatModel, question: str, statement: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a question that a model expects, told a statement, and those that surprise it.

    Args:
        model: A chat model. Only those of `local:` are held to the question; of others no words are known.
        question: The question.
        statement: A statement that a model has written for it.

    Returns:
        Both in small letters.

    Raises:
        ModelError: If the model cannot be reached or fails.
    """
    asked = untrusted.one_line(question)
    if not takes_grammar(model) or not 0 < len(asked) <= _LONGEST:
        return frozenset(), frozenset()
    told_of = f"SQL: {untrusted.one_line(statement)}\nQuestion:"
    grammar = f"root ::= {json.dumps(asked, ensure_ascii=False)}\n"
    words = surprises(answer_of(model, _RETELLING_SYSTEM, told_of, grammar, _RETELLING_TOKENS))
    return (
        frozenset(word for word, at in words.items() if at >= EXPECTED),
        frozenset(word for word, at in words.items() if at < SURPRISING),
    )


def surprises(said: Told) -> Mapping[str, float]:
    """Return the logarithm of the probability of each word that a model has written, of its rarest place.

    The first word is left out: how a question begins tells of its form alone.

    Example:
        >>> parts = ("Which", " cour", "ier", "?")
        >>> surprises(Told("".join(parts), tuple({"token": t, "logprob": -2.0} for t in parts)))
        {'courier': -4.0}
    """
    ends = [0, *accumulate(len(token["token"]) for token in said.tokens)]
    if ends[-1] != len(said.text):
        return {}
    found: dict[str, float] = {}
    for word in tokens(said.text)[1:]:
        whole = sum(
            token["logprob"]
            for (begin, end), token in zip(pairwise(ends), said.tokens, strict=True)
            if begin < word.end and end > word.start
        )
        low = word.raw.lower()
        found[low] = min(whole, found.get(low, 0.0))
    return found


Again: TypeAlias = Callable[[Mapping[str, Candidate]], list[FoundReading]]
"""Reads the question again, told what some of its words mean; its readings as they are advised on."""

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

    def advised(self, question: str, found: list[FoundReading], again: Again) -> list[FoundReading]:
        """Return readings that found something as the model sees them too, the most certain first.

        Args:
            question: The question.
            found: The readings of the parser; they are returned where a judge does not answer.
            again: Reads the question again.

        Raises:
            ModelError: If a model that is no judge cannot be reached or fails.
        """
        if self.planner != "judge":
            return self._with_own(question, found)
        try:
            word = self._unknown(question, found)
            if word:
                return self._understood(question, word, found, again)
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

    # -- words that the graph does not have ---------------------------------------------------------

    def _unknown(self, question: str, found: Sequence[FoundReading]) -> str:
        """Return the one word that no reading has read and that may name a relation; "" if there is none."""
        if found:
            left = [w for w in found[0][0].ignored if all(w in reading.ignored for reading, _ in found)]
            more = unread(self.lexicon, question, found[0][0].plan).missing
        else:
            words = tokens(question)
            known = {at for m in self.lexicon.match(words, question) for at in range(m.start, m.end)}
            left = [t.raw for n, t in enumerate(words) if n not in known and not is_stopword(t.key)]
            more = ()
        one = left[0] if len(left) == 1 else ""
        return one if one.isalpha() and one.islower() and one not in more else ""

    def _understood(
        self, question: str, word: str, found: list[FoundReading], again: Again
    ) -> list[FoundReading]:
        """Return readings with those in which a word means the relation that the model chooses."""
        near = {c.term: c for c in reversed(self.lexicon.similar(word, "property", 2 * MOST_JUDGED))}
        options = sorted(near.values(), key=lambda c: -c.score)[:MOST_JUDGED]
        verdicts = meant_by(self.model, question, word, [c.name for c in options]) if options else []
        at = max(range(len(options)), key=verdicts.__getitem__, default=-1)
        if at < 0 or verdicts[at] <= 0:
            return found
        meant = replace(options[at], score=1.0, way="synonym")
        likely = 1 / (1 + math.exp(-JUDGED * verdicts[at]))
        more = []
        for reading, rows in again({word: meant}):
            if URIRef(meant.term) in walk(reading.plan):
                missing = unread(self.lexicon, question, reading.plan).missing
                left = tuple(w for w in reading.ignored if w != word or w in missing)
                note = f"“{word}” is read as “{meant.name}”"
                own = replace(reading, ignored=left, note=note, certainty=likely * reading.confidence)
                more.append((own, rows))
        return _sorted([*more, *found])

    # -- readings of its own -----------------------------------------------------------------------

    def _with_own(self, question: str, found: list[FoundReading]) -> list[FoundReading]:
        """Return the readings of the parser with one that the model has written or found by tools."""
        tried = next(self._own(question), None)
        if tried is None:
            return [*found]
        own, result, statement = tried
        left = unread(self.lexicon, question, own.plan)
        if statement and (left.asked or left.unknown or left.near):
            left = left.without(*retold(self.model, question, statement))
        # Other words than those of the graph may well be what the model has read, if it is sure.
        likely = own.confidence * PASSED_OVER**left.weight
        ignored = left.missing + (left.unknown if likely < _GIVEN else ())
        own = replace(own, ignored=ignored, certainty=own.confidence if ignored else likely)
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
        left = left.without({*left.asked})

        def unread_by_both(reading: Reading) -> tuple[str, ...]:
            # In an answer that was found in two ways only that word is unread which neither way has read.
            low = [word.lower() for word in reading.ignored]
            return left.missing + tuple(w for w in left.unknown if w in low)

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
