"""Rows of plans as they are shown, and whether they say anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.generation.computed import AnswerCell
from mrag.planning.building.parser import Reading
from mrag.planning.run import PlanResult
from mrag.rdf.terms import Term

CERTAIN = 0.9
"""Probability below which an answer says that its reading is not certain."""


def found_something(reading: Reading, result: PlanResult) -> bool:
    """Return whether a reading has an answer."""
    plan = reading.plan
    if plan.yes_or_no:
        return True
    if len(result.rows) == 1 and plan.grouped and all(str(cell) == "0" for cell in result.rows[0]):
        # Nothing to count is mostly a name that was misread.
        return reading.probability >= CERTAIN
    return bool(result.rows) and any(cell is not None for row in result.rows for cell in row)


def namer(display: Display) -> Callable[[Term], str]:
    """Return how the terms of a plan are named in words."""
    return lambda term: display.name(str(term)) if isinstance(term, URIRef) else str(term)


def rows_of(display: Display, reading: Reading, result: PlanResult) -> list[tuple[AnswerCell, ...]]:
    """Return the rows of the columns that are asked for."""
    if reading.plan.yes_or_no:
        return [(AnswerCell(Literal(result.holds), "yes" if result.holds else "no"),)]
    at = [result.columns.index(name) for name in reading.shown]
    display.prepare(sorted({str(row[i]) for row in result.rows for i in at if isinstance(row[i], URIRef)}))
    return list(dict.fromkeys(tuple(_cell(display, row[i]) for i in at) for row in result.rows))


def brief(rows: Sequence[tuple[AnswerCell, ...]]) -> str:
    """Return the first rows in a line."""
    more = " …" if len(rows) > 3 else ""
    return "; ".join(", ".join(cell.label for cell in row) for row in rows[:3]) + more


def _cell(display: Display, term: Term | None) -> AnswerCell:
    if term is None:
        return AnswerCell(None, "")
    shown = display.entity(str(term)) if isinstance(term, URIRef) else str(term)
    return AnswerCell(term, untrusted.one_line(shown))
