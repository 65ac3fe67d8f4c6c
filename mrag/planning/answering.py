"""From a question to a computed, cited answer, or to the reason why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from mrag import untrusted
from mrag.context.render import Context
from mrag.errors import ConfigError
from mrag.generation.result import Answer, OtherReading, Sentence
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.accounting import accounted, of_the_kind
from mrag.planning.answer_evidence import answer_of
from mrag.planning.answer_wording import looked_for
from mrag.planning.certainty import excludes_by_reading, is_nothing, may_be_absent, weighed, why_unread
from mrag.planning.following import LastAnswer, asked_after
from mrag.planning.lexicon import lexicon_of
from mrag.planning.loosening import denies, has_bounds, may_be_meant, why_nothing
from mrag.planning.neural.choosing import MOST, ModelAdvice, Planner, helper_of
from mrag.planning.plan import Block, Pattern, Plan
from mrag.planning.precedents import taught
from mrag.planning.profiling import schema_of
from mrag.planning.reading.composing import alike_named
from mrag.planning.reading.derived import in_several_units
from mrag.planning.reading.drafts import Reading
from mrag.planning.reading.parser import Parser
from mrag.planning.results import (
    CERTAIN,
    EVEN,
    LIKELY,
    OFFERED_SECONDS,
    SURE,
    namer,
    of_none,
    offered,
    run_readings,
    with_either,
)
from mrag.planning.run import PlanResult, run
from mrag.planning.scopes import aggregates, with_subclasses
from mrag.planning.wording import to_words
from mrag.stores.oxigraph import OxigraphStore

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_SECONDS = 10.0
_EXPLAINING = 0.03
"""Which share of the time that is left may go into finding out why there is nothing."""


READ: Final = "every word was read, and the graph can compute it"
"""Why a question is computed."""
HELPED: Final = "; a language model helped to read it"
"""What is added where it did."""
_PLAIN: Final = 0.9
"""How likely a reading must be for "there is none" to be the answer where no bound excludes everything."""


@dataclass(frozen=True)
class Attempt:
    """What came of computing an answer.

    Attributes:
        answer: The answer; None where there is none.
        sure: Whether the reading is likely enough, and nothing that matters was left unread.
        why: Why it was taken or not, in words.
        alone: Whether the question can be understood without the one before it.
        reading: The reading that the answer is of.
        offered: Readings that can be chosen, where none is certain enough.
        helped: Whether a language model helped to read it.
    """

    answer: Answer | None
    sure: bool
    why: str
    alone: bool = True
    reading: Reading | None = None
    offered: tuple[OtherReading, ...] = ()
    helped: bool = False


def parser_of(kg: KnowledgeGraph) -> Parser:
    """Return the parser of a graph, made once for its present state.

    What the first question would wait for is made ready beside it: a process that runs queries, and the
    embedding model.
    """

    def make() -> Parser:
        kg.profile()  # it may be stored first, and what runs queries sees the store as it was copied
        ready = kg.store.workers.ahead if isinstance(kg.store, OxigraphStore) else nullcontext
        with ready():
            return Parser(schema_of(kg), lexicon_of(kg))

    return kg.cached("planning parser", make)


def compute(
    kg: KnowledgeGraph,
    question: str,
    *,
    reading: int | None = None,
    seconds: float = _SECONDS,
    follows: LastAnswer | None = None,
    learnt: bool = True,
    model: str | BaseChatModel | None = "none",
    planner: Planner = "judge",
    least: float = EVEN,
    tried: int | None = None,
) -> Attempt:
    """Compute the answer to a question.

    Args:
        kg: The graph.
        question: The question.
        reading: Which of its readings to take, counted from 1; by default the first, if it is likely enough.
        seconds: Deadline of all queries together; the time of a model is not counted.
        follows: What was computed before, which the question may go on from.
        learnt: Whether saved questions tell how to read it.
        model: The chat model that helps where the parser is not certain, or its name, as for `mrag.ask`; it
            does not help with what goes on from another question.
        planner: How it helps: `judge` chooses among the readings of the parser, `writer` writes one of its
            own, `tools` explores the graph until it has one, `parser` does without.
        least: Certainty below which an answer is not sure.
        tried: How many readings are run, however long that takes; by default as many as there is time for.

    Raises:
        ConfigError: If there is no such reading.
        ModelError: If a model that was named cannot be had, or fails to write a reading.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     print(compute(kg, "How many triple stores are there?").answer.sentences[0].text)
        11 triple stores
    """
    # The names of the graph are read once, however long that takes.
    parser = parser_of(kg)
    ends = time.monotonic() + seconds
    saved = taught(kg, parser, question) if learnt else []
    readings = [*saved, *parser.readings(question)]
    if follows is not None:
        readings, why = asked_after(kg, parser, question, follows, readings)
        if why:
            readings = accounted(parser.lexicon, question, readings, follows.plan)
            attempt = _computed(kg, question, readings, reading, ends, least, tried=tried)
            given = attempt.answer
            if given is not None and given.computed is not None:
                given = replace(given, computed=replace(given.computed, follows=follows.to_json()))
            return replace(attempt, answer=given, alone=False, why=attempt.why if readings else why)
    readings = with_either(readings, question)
    # What was saved is held against what was saved, where it is matched.
    checked = accounted(parser.lexicon, question, [r for r in readings if r not in saved])
    return _computed(
        kg, question, [*(r for r in readings if r in saved), *checked], reading, ends, least,
        lambda: None if planner == "parser" else helper_of(kg, model, planner), tried=tried,
    )  # fmt: skip


def _computed(
    kg: KnowledgeGraph,
    question: str,
    readings: Sequence[Reading],
    wanted: int | None,
    ends: float,
    least: float,
    help_: Callable[[], ModelAdvice | None] = lambda: None,
    *,
    tried: int | None = None,
) -> Attempt:
    schema, reading = schema_of(kg), wanted or 1
    mixed = [in_several_units(r.plan, schema) for r in readings]
    if mixed and mixed[0] is not None:
        return Attempt(None, False, why_unread(kg, question, mixed))
    readings = [
        replace(r, plan=with_subclasses(r.plan, schema))
        for r, info in zip(readings, mixed, strict=True) if info is None
    ]  # fmt: skip
    soon, helped = ends, ""
    if readings and readings[0].probability < SURE and wanted is None and tried is None:
        # It will not be given unasked, so it may not hold up what is given instead.
        soon = min(ends, time.monotonic() + OFFERED_SECONDS)
    found, first = run_readings(kg, readings, reading, soon, tried)
    if of_none(readings, first) and isinstance(first, PlanResult):
        # That nothing is of both is the answer; what is of either is another reading.
        found.insert(0, (readings[0], first))
    found = of_the_kind(lexicon_of(kg), question, found)
    kept = weighed(kg, found)
    certain = bool(kept) and kept[0][0].confidence >= CERTAIN and not kept[0][0].ignored
    if not certain and (helper := help_()) is not None:
        more, first = run_readings(kg, readings, max(reading, MOST), ends)
        began, alone_ = time.monotonic(), weighed(kg, more)
        advised = helper.advised(question, alone_)
        helped = "" if advised is alone_ else HELPED
        kept = [one for one in advised if in_several_units(one[0].plan, schema) is None]
        ends += time.monotonic() - began
    else:
        ends = soon
    if not kept and not readings:
        return Attempt(None, False, why_unread(kg, question, mixed))
    if not kept:
        soon = _soon(ends) if tried is None else ends
        return _nothing(kg, question, readings[0], first, ends, soon, least)
    if reading > len(kept):
        raise ConfigError(f"There are {len(kept)} readings.", hint=f"Choose one from 1 to {len(kept)}.")
    taken, result = kept[reading - 1]
    others = [(n, r, p) for n, (r, p) in enumerate(kept, 1) if n != reading]
    explained = _soon(ends) if tried is None else ends
    nothing = None if result.holds else why_nothing(kg, taken.plan, schema_of(kg), explained)
    if nothing is not None and nothing.undecided is not None:
        # Whether it is the oldest, or older than another, cannot be told where no age is known.
        said = looked_for(nothing.undecided, namer(kg))
        return Attempt(None, False, untrusted.one_line(said))
    other = None if nothing is None else nothing.part
    if wanted is None and isinstance(other, Pattern) and may_be_meant(taken.plan, other, schema):
        told = to_words(Plan(Block((other,))), namer(kg)).removeprefix("whether ")
        return Attempt(None, False, untrusted.one_line(f"{looked_for(taken.plan, namer(kg))}, but {told}"))
    given = answer_of(kg, question, taken, result, others, ends, nothing)
    doubt = _doubt(taken, result, [one for _, *one in others], least)
    if doubt:
        instead = () if given.computed is None or taken.ignored else offered(given.computed, reading)
        given = replace(given, why=helped)
        return Attempt(given, False, doubt, reading=taken, offered=instead, helped=bool(helped))
    why = (taken.note or READ) + helped
    return Attempt(replace(given, why=why), True, why, reading=taken, helped=bool(helped))


def _doubt(taken: Reading, result: PlanResult, others: Sequence[Sequence[Any]], least: float = EVEN) -> str:
    """Return why a reading is not given unasked, "" if it is."""
    if taken.ignored:
        words = ", ".join(f"“{word}”" for word in dict.fromkeys(taken.ignored))
        return f"not understood: {words}"
    if taken.probability < SURE or taken.confidence < least:
        return f"the reading is not certain enough ({min(taken.probability, taken.confidence):.2f})"
    none = is_nothing((taken, result)) and not alike_named(taken.plan)
    if none and any(not (r.ignored or is_nothing((r, found))) for r, found in others):
        return "this reading finds nothing, but another one does"
    return ""


def _soon(ends: float) -> float:
    return time.monotonic() + _EXPLAINING * (ends - time.monotonic())


def _nothing(
    kg: KnowledgeGraph,
    question: str,
    best: Reading,
    found: PlanResult | str,
    ends: float,
    explained: float,
    least: float,
) -> Attempt:
    """Return what is said where no reading finds anything: why, and what comes nearest to a bound."""
    plan = best.plan
    if isinstance(found, str):
        return Attempt(None, False, found)
    counts = all(aggregates(c.value) for c in plan.columns)
    if found.rows or best.ignored or best.probability < SURE or counts:
        return Attempt(None, False, "nothing in this graph fits the question")
    said = untrusted.one_line(looked_for(plan, namer(kg)))
    ((best, _),) = weighed(kg, [(best, found)])
    if best.confidence < least:
        return Attempt(None, False, said)
    listed = best.probability >= _PLAIN and may_be_absent(kg, plan, schema_of(kg))
    if best.probability < LIKELY or not (listed or has_bounds(plan) or denies(plan)):
        return Attempt(None, False, said)
    nothing = why_nothing(kg, plan, schema_of(kg), explained)
    shown = listed or nothing.nearest is not None or nothing.having is not None
    if not shown or excludes_by_reading(plan, nothing):
        return Attempt(None, False, said)
    # That a bound or a denial is what excludes everything shows that the rest was read as it was meant.
    given = answer_of(kg, question, best, found, (), ends, nothing)
    return Attempt(given, True, f"every word was read, and {said}", reading=best)


def abstained(question: str, why: str, offered: tuple[OtherReading, ...] = ()) -> Answer:
    """Return the answer to a question that cannot be computed: that it is not in this graph, and why.

    Where readings are offered it is open whether it is.
    """
    text = f"{'Not answered' if offered else 'Not in this graph'}: {untrusted.one_line(why)}."
    given = Answer.of(question, [Sentence(text, (), True)], Context((), ()), None, None)
    return replace(given, way="plan", why=why, offered=offered)


def replay(kg: KnowledgeGraph, value: Mapping[str, Any]) -> Answer:
    """Compute a recorded answer again.

    Args:
        kg: The graph.
        value: The JSON form of a computed answer.

    Raises:
        ConfigError: If its plan is malformed.
        StoreError: If it cannot be run.
    """
    return answered(kg, str(value["question"]), LastAnswer.from_json(value))


def answered(kg: KnowledgeGraph, question: str, known: LastAnswer, why: str = "") -> Answer:
    """Compute the answer to a question whose plan is known, and why it is."""
    ends = time.monotonic() + _SECONDS
    schema = schema_of(kg)
    plan = with_subclasses(known.plan, schema)
    result = run(kg, plan, schema=schema)
    given = answer_of(kg, question, Reading(plan, known.shown, 1.0, (), {}), result, (), ends)
    return replace(given, why=why)
