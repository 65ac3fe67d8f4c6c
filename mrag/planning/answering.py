"""From a question to a computed, cited answer, or to the reason why there is none."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.errors import ConfigError, ModelError, MragError, QueryTimeout, StoreError
from mrag.generation.computed import AnswerCell, Computed, OtherReading
from mrag.generation.lines import recorded
from mrag.generation.models.resolve import resolve
from mrag.generation.result import Answer, Citation, Sentence
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.algebra.cells import Cells
from mrag.planning.building.parser import Parser, Reading
from mrag.planning.interchange import plan_from_json, plan_to_json
from mrag.planning.lexicon import lexicon_of
from mrag.planning.neural.choosing import FoundReading, ModelAdvice, Planner
from mrag.planning.neural.judge import MOST
from mrag.planning.plan import Aggregate, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.proof import prove
from mrag.planning.results import CERTAIN, brief, found_something, namer, rows_of
from mrag.planning.run import PlanResult, run
from mrag.planning.wording import to_words
from mrag.rdf.terms import Triple
from mrag.stores.base import Limits

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
from mrag.text.grammar import plural

logger = logging.getLogger(__name__)

SURE = 0.6
"""Probability from which on a reading is taken without being asked for."""

UNCERTAIN = "This reading of the question is likely, not certain: check what it was read as."

_SECONDS = 10.0
_TRIED = 5
_LIKELY = 0.8
_OFFERED = 0.8
"""How likely a reading is that is tried, beside the likeliest, and one that is only offered."""
_FURTHER = 0.3
"""How much more the joins of an offered reading may cost: what joins widely is slow, and seldom meant."""
_OFFERED_SECONDS = 0.4
"""How long the readings that are only offered may take together."""
_SHOWN = 20
"""Rows that the words of an answer hold; `rows` holds all."""
_CITED, _CITED_OF_ONE, _CITED_OF_ROW = 60, 15, 5
"""Lines that an answer cites at most: in all, for its only row, and for one row of several."""


@dataclass(frozen=True)
class Attempt:
    """What came of computing an answer.

    Attributes:
        answer: The answer; None where there is none.
        sure: Whether the reading is likely enough, and nothing that matters was left unread.
        why: Why it was taken or not, in words.
    """

    answer: Answer | None
    sure: bool
    why: str


def parser_of(kg: KnowledgeGraph) -> Parser:
    """Return the parser of a graph, made once for its present state."""
    return kg.cached("planning parser", lambda: Parser(schema_of(kg), lexicon_of(kg)))


def compute(
    kg: KnowledgeGraph,
    question: str,
    *,
    reading: int = 1,
    seconds: float = _SECONDS,
    model: str | BaseChatModel | None = "none",
    planner: Planner = "judge",
) -> Attempt:
    """Compute the answer to a question.

    Args:
        kg: The graph.
        question: The question.
        reading: Which of its readings to take, counted from 1.
        seconds: Deadline of all queries together; the time of a model is not counted.
        model: The chat model that helps where the parser is not certain, or its name, as for `mrag.ask`.
        planner: How it helps: `judge` chooses among the readings of the parser, `writer` writes one of its
            own, `tools` explores the graph until it has one, `parser` does without.

    Raises:
        ConfigError: If there is no such reading.
        ModelError: If a model that was named cannot be had, or fails to write a reading.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(compute(kg, "How many triple stores are there?").answer.sentences[0].text)
        11 triple stores
    """
    ends = time.monotonic() + seconds
    readings = parser_of(kg).readings(question)
    certain = bool(readings) and readings[0].probability >= CERTAIN and not readings[0].ignored
    chat = None if certain or planner == "parser" else _chat(model, planner)
    if not readings and chat is None:
        return Attempt(None, False, "no part of the question names anything in this graph")
    if chat is None and readings[0].probability < SURE and reading == 1:
        # It will not be given unasked, so it may not hold up what is given instead.
        ends = min(ends, time.monotonic() + _OFFERED_SECONDS)
    kept, failed = _run(kg, readings, reading if chat is None else max(reading, MOST), ends)
    if chat is not None:
        began = time.monotonic()
        kept = _advised(kg, question, kept, chat, planner)
        ends += time.monotonic() - began
    if not kept:
        return Attempt(None, False, failed or "nothing in this graph fits the question")
    if reading > len(kept):
        raise ConfigError(f"There are {len(kept)} readings.", hint=f"Choose one from 1 to {len(kept)}.")
    taken, result = kept[reading - 1]
    others = [(n, r, p) for n, (r, p) in enumerate(kept, 1) if n != reading]
    given = _answer(kg, question, taken, result, others, ends)
    if taken.ignored:
        words = ", ".join(f"“{word}”" for word in dict.fromkeys(taken.ignored))
        return Attempt(given, False, f"not understood: {words}")
    if taken.probability < SURE:
        return Attempt(given, False, f"the reading is not certain enough ({taken.probability:.2f})")
    return Attempt(given, True, "every word was read, and the graph can compute it")


def abstained(question: str, why: str) -> Answer:
    """Return the answer to a question that cannot be computed: that it is not in this graph, and why."""
    text = f"Not in this graph: {untrusted.one_line(why)}."
    given = Answer.of(question, [Sentence(text, (), True)], Context((), ()), None, None)
    return replace(given, way="plan", why=why)


def replay(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Answer:
    """Compute a recorded answer again.

    Args:
        kg: The graph.
        value: The JSON form of a computed answer.

    Raises:
        ConfigError: If its plan is malformed.
        StoreError: If it cannot be run.
    """
    plan = plan_from_json(value["plan"])
    shown = tuple(str(c) for c in value["columns"])
    if not set(shown) <= {c.name for c in plan.columns}:
        raise ConfigError("The columns of the answer are not in its plan.")
    reading = Reading(plan, shown, 1.0, (), {})
    result = run(kg, plan, schema=schema_of(kg))
    return _answer(kg, str(value["question"]), reading, result, (), time.monotonic() + _SECONDS)


def _chat(model: str | BaseChatModel | None, planner: Planner) -> BaseChatModel | None:
    """Return the model that helps; None where a judge cannot be had."""
    try:
        return resolve(model)
    except ModelError as error:
        if planner != "judge":
            raise
        logger.warning("The readings are not judged: %s", error.message)
        return None


def _advised(
    kg: KnowledgeGraph, question: str, found: list[FoundReading], model: BaseChatModel, planner: Planner
) -> list[FoundReading]:
    """Return readings as a model sees them; those of the parser alone where a judge does not answer."""
    try:
        return ModelAdvice(model, planner, kg, lexicon_of(kg)).revised(question, found)
    except ModelError as error:
        if planner != "judge":
            raise
        logger.warning("The readings are not judged: %s", error.message)
        return found


def _run(
    kg: KnowledgeGraph, readings: Sequence[Reading], wanted: int, ends: float
) -> tuple[list[FoundReading], str]:
    """Run readings until as many as are wanted have found something, then those that are offered beside.

    Returns:
        The readings that found something, and why others could not be run.
    """
    found: list[FoundReading] = []
    failed = ""
    schema = schema_of(kg)
    for reading in readings[:_TRIED]:
        least = _OFFERED if len(found) >= wanted else _LIKELY
        left = ends - time.monotonic()
        if left <= 0 or reading.probability < least * readings[0].probability:
            break
        # Whichever reading is wanted, the same ones are left out: their numbers must stay what was offered.
        if found and reading.features["joins"] > found[0][0].features["joins"] + _FURTHER:
            continue
        try:
            result = run(kg, reading.plan, schema=schema, limits=Limits(left, 5_000, 8 << 20))
        except QueryTimeout:
            failed = "computing it takes longer than the time that is given"
            break
        except (StoreError, ConfigError) as error:
            failed = f"it could not be computed: {error.message}"
            continue
        # A reading that finds something is likelier than one that finds nothing.
        sure = reading is readings[0] and reading.probability >= CERTAIN
        if sure and reading.plan.where.without and not (result.rows or reading.plan.yes_or_no):
            # Nothing lacks what was asked for: another reading would answer another question.
            break
        if found_something(reading, result):
            found.append((reading, result))
            if len(found) == wanted:
                ends = min(ends, time.monotonic() + _OFFERED_SECONDS)
    return found, failed


def _answer(
    kg: KnowledgeGraph,
    question: str,
    reading: Reading,
    result: PlanResult,
    others: Sequence[tuple[int, Reading, PlanResult]],
    ends: float,
) -> Answer:
    display = Display(kg)
    rows = rows_of(display, reading, result)
    lines, own = _proved(kg, reading, result, ends)
    context = recorded(Context(tuple(lines), ()))
    cited = {line.id: Citation.of(line) for line in context.lines}
    sentences = _sentences(reading, result, rows, cited, own)
    computed = Computed(
        untrusted.one_line(to_words(reading.plan, namer(display))),
        plan_to_json(reading.plan),
        result.query,
        reading.shown,
        tuple(rows),
        reading.probability,
        reading.ignored,
        tuple(_others(display, rows, others)),
        result.truncated,
    )
    given = Answer.of(question, sentences, context, None, None)
    notice = UNCERTAIN if reading.probability < CERTAIN else None
    return replace(given, way="plan", computed=computed, notice=notice)


def _others(
    display: Display,
    rows: Sequence[tuple[AnswerCell, ...]],
    others: Sequence[tuple[int, Reading, PlanResult]],
) -> list[OtherReading]:
    seen = [list(rows)]
    found = []
    for number, reading, result in others:
        theirs = rows_of(display, reading, result)
        if theirs not in seen:
            seen.append(theirs)
            words = untrusted.one_line(to_words(reading.plan, namer(display)))
            found.append(OtherReading(number, words, brief(theirs)))
    return found[:3]


def _proved(
    kg: KnowledgeGraph, reading: Reading, result: PlanResult, ends: float
) -> tuple[list[Line], list[list[str]]]:
    """Return the lines that the first rows rest on, each once, and for each row the ids of its own."""
    rows: list[Cells] = [()] if reading.plan.yes_or_no else list(result.rows[:_SHOWN])
    most = _CITED_OF_ONE if len(rows) == 1 else _CITED_OF_ROW
    lines: dict[Triple, Line] = {}
    own: list[list[str]] = []
    for row in rows if result.holds or not reading.plan.yes_or_no else []:
        left = ends - time.monotonic()
        if left <= 0 or len(lines) >= _CITED:
            break
        try:
            proof = prove(kg, reading.plan, row, most=most, limits=Limits(left, 500, 8 << 20))
        except MragError:
            break
        ids = []
        for line in proof.context.lines:
            kept = lines.setdefault(line.triple, replace(line, id=f"t{len(lines) + 1}"))
            ids.append(kept.id)
        own.append(ids)
    return list(lines.values()), own


def _sentences(
    reading: Reading,
    result: PlanResult,
    rows: Sequence[tuple[AnswerCell, ...]],
    cited: Mapping[str, Citation],
    own: Sequence[Sequence[str]],
) -> list[Sentence]:
    support = [tuple(cited[one] for one in ids) for ids in own]
    if reading.plan.yes_or_no:
        text = "Yes." if result.holds else "No: nothing in the graph fits."
        return [Sentence(text, support[0] if support else (), True)]
    if len(rows) == 1:
        return [Sentence(_single(reading, rows[0]), support[0] if support else (), True)]
    sentences = []
    for number, row in enumerate(rows[:_SHOWN]):
        before = "- " if not number else "\n- "
        sentences.append(Sentence(_row(row), support[number] if number < len(support) else (), True, before))
    if len(rows) > _SHOWN:
        sentences.append(Sentence(f"… {len(rows)} rows in all", (), True, "\n"))
    return sentences


def _single(reading: Reading, row: tuple[AnswerCell, ...]) -> str:
    value = next(c.value for c in reading.plan.columns if c.name == reading.shown[0])
    if len(row) == 1 and isinstance(value, Aggregate) and value.function == "count" and value.of:
        noun = value.of[0].name.replace("_", " ").rstrip("0123456789 ")
        return f"{row[0].label} {noun if row[0].label == '1' else plural(noun)}"
    if len(row) == 1 and not isinstance(value, Unknown):
        noun = reading.shown[0].replace("_", " ").rstrip("0123456789 ")
        return f"The {noun} is {row[0].label}."
    return _row(row)


def _row(row: tuple[AnswerCell, ...]) -> str:
    if len(row) == 1:
        return row[0].label
    return f"{row[0].label}: {', '.join(cell.label or 'none' for cell in row[1:])}"
