"""Answers that readings give: in sentences, with the triples that they rest on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.render import Context, Line
from mrag.errors import MragError, StoreError
from mrag.generation.result import Answer, Citation, Computed, Sentence, recorded
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import twins_of
from mrag.planning.answer_wording import SHOWN, nothing_found, sentences, values_in_words
from mrag.planning.compiler import other_named
from mrag.planning.interchange import plan_to_json
from mrag.planning.loosening import Nothing, values_compared, why_nothing
from mrag.planning.plan import Block, Pattern, Plan
from mrag.planning.profiling import schema_of
from mrag.planning.proof import proofs
from mrag.planning.reading.drafts import Reading
from mrag.planning.results import CERTAIN, namer, next_rows, others_of, rows_of
from mrag.planning.run import PlanResult, run
from mrag.planning.values import Cells
from mrag.planning.wording import to_words
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Limits

UNCERTAIN = "This reading of the question is likely, not certain: check what it was read as."

_CITED, _CITED_OF_ONE, _CITED_OF_ROW = 60, 15, 5
"""Lines that an answer cites at most: in all, for its only row, and for one row of several."""


def answer_of(
    kg: KnowledgeGraph,
    question: str,
    reading: Reading,
    result: PlanResult,
    others: Sequence[tuple[int, Reading, PlanResult]],
    ends: float,
    nothing: Nothing | None = None,
) -> Answer:
    """Return the answer that a reading gives, with what it rests on.

    Args:
        kg: The graph.
        question: The question.
        reading: How it was read.
        result: What was found.
        others: The other readings, by number, with what they find.
        ends: When no more may be looked up.
        nothing: Why there is nothing, if that is known already.
    """
    display = Display(kg)
    rows = rows_of(display, reading, result)
    if not result.holds:
        why = nothing or why_nothing(kg, reading.plan, schema_of(kg), ends)
        context, said = _denied(kg, reading, why, namer(kg, display), ends)
    else:
        context, support = _proved(kg, reading.plan, result.rows, ends)
        both = values_compared(kg, reading.plan, schema_of(kg), ends)
        if both is not None and not context.lines:
            context, support = _proved(kg, both[0], both[1].rows, ends)
        told = untrusted.one_line(values_in_words(*both, namer(kg, display))) if both is not None else ""
        said = [*sentences(reading, rows, support, told), *_other_names(kg, reading.plan, ends)]
    runners_up, last = next_rows(display, reading, result)
    computed = Computed(
        untrusted.one_line(to_words(reading.plan, namer(kg, display))),
        plan_to_json(reading.plan),
        result.query,
        reading.shown,
        tuple(rows),
        reading.confidence,
        reading.ignored,
        tuple(others_of(display, rows, others, namer(kg, display))),
        result.truncated,
        runners_up,
        last,
    )
    given = Answer.of(question, said, context, None, None)
    notice = UNCERTAIN if reading.confidence < CERTAIN else None
    return replace(given, way="plan", computed=computed, notice=notice)


def _other_names(kg: KnowledgeGraph, plan: Plan, ends: float) -> list[Sentence]:
    """Return how many of the things that are counted have other names, which are not counted."""
    having = other_named(plan) if twins_of(kg) is not None else None
    if having is None or (left := ends - time.monotonic()) <= 0:
        return []
    try:
        rows = run(kg, having, schema=schema_of(kg), limits=Limits(left, 10, 1 << 20)).rows
    except StoreError:
        return []
    count = int(str(rows[0][0])) if rows else 0
    if not count:
        return []
    have = (
        "has another name, which is not counted" if count == 1 else "have other names, which are not counted"
    )
    return [Sentence(f"{count} of them {have}.", (), True, " ")]


def _denied(
    kg: KnowledgeGraph, reading: Reading, nothing: Nothing, name: Callable[[Term], str], ends: float
) -> tuple[Context, list[Sentence]]:
    """Return the sentences of a no, or of an answer without rows, and the lines that they rest on."""
    first, more = (untrusted.one_line(s) for s in nothing_found(reading.plan, nothing, name))
    context, support = Context((), ()), list[tuple[Citation, ...]]()
    if nothing.nearest is not None:
        context, support = _proved(kg, nothing.nearest.plan, nothing.nearest.result.rows[:1], ends)
    elif nothing.having is not None:
        context, support = _proved(kg, nothing.having[0], nothing.having[1].rows, ends)
        support = [tuple(c for own in support for c in own)]
    elif nothing.compared is not None:
        context, support = _proved(kg, nothing.compared[0], nothing.compared[1].rows, ends)
    elif nothing.instead and isinstance(nothing.part, Pattern):
        told = Block((replace(nothing.part, object=nothing.instead[0]),))
        context, support = _proved(kg, Plan(told), [()], ends)
    cited = support[0] if support else ()
    if not more:
        return context, [Sentence(first, cited, True)]
    return context, [Sentence(first, (), True), Sentence(more, cited, True, " ")]


def _proved(
    kg: KnowledgeGraph, plan: Plan, found: Sequence[Cells], ends: float
) -> tuple[Context, list[tuple[Citation, ...]]]:
    """Return the lines that the first rows rest on, each once, and for each row its own citations."""
    rows: list[Cells] = [()] if plan.yes_or_no else list(found[:SHOWN])
    most = _CITED_OF_ONE if len(rows) == 1 else _CITED_OF_ROW
    lines: dict[Triple, Line] = {}
    own: list[list[str]] = []
    with suppress(MragError):
        for proof in proofs(kg, plan, rows, most=most, ends=ends, enough=_CITED):
            ids = []
            for line in proof.context.lines:
                kept = lines.setdefault(line.triple, replace(line, id=f"t{len(lines) + 1}"))
                ids.append(kept.id)
            own.append(ids)
            if len(lines) >= _CITED:
                break
    context = recorded(Context(tuple(lines.values()), ()))
    cited = {line.id: Citation.of(line) for line in context.lines}
    return context, [tuple(cited[one] for one in ids) for ids in own]
