"""Readings of a question run, and their rows as they are shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import accumulate
from typing import Literal as OneOf
from typing import TypeAlias

from rdflib import Literal, URIRef

from mrag import untrusted
from mrag.context.display import Display
from mrag.context.neighbourhood import in_passes, labels
from mrag.errors import ConfigError, QueryTimeout, StoreError
from mrag.generation.result import CERTAIN as CERTAIN
from mrag.generation.result import AnswerCell, Computed, OtherReading
from mrag.graph.kg import KnowledgeGraph
from mrag.language.grammar import as_noun
from mrag.planning.compiler import work_of
from mrag.planning.lexicon import wide_schema
from mrag.planning.plan import Pattern, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.readings import Reading, alike_named
from mrag.planning.run import Found, PlanResult, ask_together, run
from mrag.planning.schema import Schema
from mrag.planning.scopes import plain, walk
from mrag.planning.units import units_shown, with_unit
from mrag.planning.values import Cells, measured
from mrag.planning.wording import to_words
from mrag.rdf.terms import XSD, Term
from mrag.stores.base import Limits, SelectResult

EVEN = 0.6
"""Certainty below which nothing is given as computed unasked: of what is less certain half is wrong."""

_TRUSTED = 0.9  # How likely a reading is whose counting nothing is an answer

OFFERED_SECONDS = 1.0
"""How long the readings that are only offered may take together, however busy the machine is."""
_OFFERED_WORK = 100_000
"""How many triples the readings that are only offered may go through together: some tens of milliseconds."""
ROWS, _OFFERED_ROWS = 5_000, 200
"""Rows of a reading, and of one that is only offered."""
_SHOWN = 100  # Things that are read along with their names, in case that they have none
_FURTHER_WORK = 400_000  # The same of readings that are run where likelier ones find nothing
_TOO_LONG = "computing it takes longer than the time that is given"
Planner: TypeAlias = OneOf["parser", "writer"]
"""Who reads a question: the parser alone, or a model too, which puts it in other words."""
TRIED = 8  # How many readings are run at most, beside one that finds something
_NEXT = 2  # Rows that are told behind those that were asked for
_SMALL = Decimal("0.0001")  # Least number that is shown with four digits


def run_readings(
    kg: KnowledgeGraph, readings: Sequence[Reading], wanted: int, ends: float, tried: int | None = None
) -> tuple[list[tuple[Reading, PlanResult]], PlanResult | str]:
    """Run readings until as many as are wanted have found something, then others that are little work.

    What the likeliest one gave is returned beside them, or why nothing was found. Each that found something
    is told, as `empty`, how likely those are that found nothing.

    As many are run as there is time for, or as many as may be tried, however long that takes.
    """
    found: list[tuple[Reading, PlanResult]] = []
    first: PlanResult | str = "nothing in this graph fits the question"
    schema, work, empty = schema_of(kg), 0, 0.0
    known = _at_once(kg, readings[:TRIED], schema, ends)
    for number, reading in enumerate(readings[: None if tried is None else tried]):
        left, enough = ends - time.monotonic(), len(found) >= wanted
        if left <= 0 and not number:
            first = _TOO_LONG
        if left <= 0 or (enough and number >= TRIED and tried is None):
            break
        # What is only offered must not hold up what was asked for.
        if number and (work := work + work_of(reading.plan, schema)) > (
            _OFFERED_WORK if enough else _FURTHER_WORK
        ):
            break
        try:
            limits = Limits(left, _OFFERED_ROWS if enough else ROWS, 8 << 20)
            result = run(
                kg, reading.plan, schema=schema, limits=limits, known=known,
                # Of a long list that is only offered, any rows will do: it is run again if it is taken.
                settled=not enough or reading.plan.limit is not None,
                patient=not number or tried is not None, named=True,
            )  # fmt: skip
        except QueryTimeout:
            first = _TOO_LONG if not number else first
            break
        except (StoreError, ConfigError) as error:
            first = f"it could not be computed: {error.message}" if not number else first
            continue
        first = result if not number else first
        # What is likeliest tells as well that it is not so.
        if found_something(reading, result) or (not number and reading.plan.yes_or_no):
            found.append((reading, result))
            if len(found) == wanted and tried is None:
                ends = min(ends, time.monotonic() + OFFERED_SECONDS)
        else:
            empty += reading.probability
    return [(replace(r, features={**r.features, "empty": empty}), rows) for r, rows in found], first


def _at_once(kg: KnowledgeGraph, readings: Sequence[Reading], schema: Schema, ends: float) -> Found:
    """Return what a server tells of readings by one request, and have read what their terms are called."""
    seconds = (ends - time.monotonic()) / 2
    if kg.store.capabilities.edges or len(readings) < 2 or seconds <= 0:
        return Found()
    sums = accumulate(work_of(reading.plan, schema) for reading in readings)
    plans = [r.plan for r, work in zip(readings, sums, strict=True) if work <= _OFFERED_WORK]
    known = ask_together(kg, plans, schema, (ROWS, _OFFERED_ROWS), seconds)
    found = [rows.rows[:_OFFERED_ROWS] for rows in known.values() if isinstance(rows, SelectResult)]
    patterns = [part for plan in plans for part in walk(plan) if isinstance(part, Pattern)]
    fixed = [term for p in patterns for term in (p.subject, p.object)]
    cells = [*fixed, *(cell for rows in found for row in rows for cell in row)]
    shown = list(dict.fromkeys(str(term) for term in cells if isinstance(term, URIRef)))
    named = {*shown, *(str(p.predicate) for p in patterns if isinstance(p.predicate, URIRef))}
    if len(schema.classes) + len(schema.properties) <= _OFFERED_ROWS:
        named |= {*filter(None, (*schema.classes, *schema.properties))}

    def read() -> None:
        labels(kg, sorted(named))
        Display(kg).prepare(shown[:_SHOWN])

    in_passes(kg, read)
    return known


def of_none(readings: Sequence[Reading], first: PlanResult | str) -> bool:
    """Return whether the likeliest reading asks for what is related to several names, and nothing is."""
    if not readings or isinstance(first, str) or readings[0].plan.yes_or_no:
        return False
    return (
        (not first.rows or first.is_zero)
        and readings[0].probability >= EVEN
        and bool(alike_named(readings[0].plan))
    )


def found_something(reading: Reading, result: PlanResult) -> bool:
    """Return whether a reading has an answer."""
    plan = reading.plan
    if plan.yes_or_no:
        return True
    if plan.grouped and result.is_zero:
        # Nothing to count is mostly a name that was misread.
        return reading.probability >= _TRUSTED
    return bool(result.rows) and any(cell is not None for row in result.rows for cell in row)


class TermNamer:
    """Names the terms of a plan in words; properties of dates and numbers are nouns."""

    def __init__(self, kg: KnowledgeGraph, display: Display | None = None) -> None:
        schema = wide_schema(kg)
        self._properties, self._shown = schema.properties, display or Display(kg)
        self.classes, self._kinds = schema.said_by, schema.classes

    def __call__(self, term: Term) -> str:
        """Return the name of a term."""
        if not isinstance(term, URIRef):
            return str(term)
        kind, info = self._kinds.get(str(term)), self._properties.get(str(term))
        label = kind.names[0] if kind is not None and kind.way else self._shown.name(str(term))
        if info is None or info.kind not in ("date", "number"):
            return label
        return as_noun(label, "year" if info.datatype == XSD + "gYear" else info.kind)

    def with_unit(self, predicate: str, number: str) -> str:
        """Return a number with the unit of a property whose texts have one, and other texts as they are."""
        info, found = self._properties.get(predicate), measured(number)
        if info is None or len(info.units) != 1 or found is None or found[1]:
            return number
        return with_unit(number, info.units[0])

    def kind(self, predicate: str) -> URIRef | None:
        """Return the class of the things that have a property; None where there are several."""
        info = self._properties.get(predicate)
        known = [] if info is None else [c for c in info.domains if c]
        return URIRef(known[0]) if len(known) == 1 else None


def rows_of(display: Display, reading: Reading, result: PlanResult) -> list[tuple[AnswerCell, ...]]:
    """Return the rows of the columns that are asked for."""
    if reading.plan.yes_or_no:
        return [(AnswerCell(Literal(result.holds), "yes" if result.holds else "no"),)]
    return list(dict.fromkeys(_shown(display, reading.plan, reading.shown, result.rows)))


def _shown(
    display: Display, plan: Plan, names: Iterable[str], rows: Sequence[Cells]
) -> Iterator[tuple[AnswerCell, ...]]:
    """Yield rows as they are shown, of the columns of some names."""
    columns = {column.name: at for at, column in enumerate(plan.columns)}
    units, at = units_shown(plan, schema_of(display.kg)), [(columns[name], name) for name in names]
    display.prepare(sorted({str(row[i]) for row in rows for i, _ in at if isinstance(row[i], URIRef)}))
    computed = {i for i, _ in at if not isinstance(plain(plan.columns[i].value), Unknown)}
    for row in rows:
        yield tuple(cell_of(display, row[i], i in computed, units.get(name, "")) for i, name in at)


def brief(rows: Sequence[tuple[AnswerCell, ...]]) -> str:
    """Return the first rows in a line."""
    more = " …" if len(rows) > 3 else ""
    return "; ".join(", ".join(cell.label for cell in row) for row in rows[:3]) + more


def cell_of(display: Display, term: Term | None, computed: bool = False, unit: str = "") -> AnswerCell:
    """Return a cell as it is shown: a number that was computed with four decimals, or four digits below 1."""
    if term is None:
        return AnswerCell(None, "")
    shown = str(term)
    if isinstance(term, URIRef):  # the column says of which kind it is
        shown = key[1] if (key := display.kind_and_key(shown)) is not None else display.entity(shown)
    if computed and str(getattr(term, "datatype", "")) == XSD + "decimal":
        number = Decimal(shown)
        shown = f"{number:.4f}" if abs(number) >= 1 else f"{number:.4g}" if abs(number) >= _SMALL else shown
        shown = shown.rstrip("0").rstrip(".") if "." in shown and "e" not in shown.lower() else shown
    if unit and (found := measured(shown)) and not found[1]:
        shown = with_unit(shown, unit)
    return AnswerCell(term, untrusted.one_line(shown))


def others_of(
    display: Display,
    rows: Sequence[tuple[AnswerCell, ...]],
    others: Sequence[tuple[int, Reading, PlanResult]],
    name: Callable[[Term], str],
) -> list[OtherReading]:
    """Return the other readings that give other answers."""
    seen = [list(rows)]
    found = []
    cells = (cell for _, _, result in others for row in result.rows for cell in row)
    display.prepare(sorted({str(cell) for cell in cells if isinstance(cell, URIRef)}))
    for number, reading, result in others:
        theirs = rows_of(display, reading, result)
        if theirs not in seen:
            seen.append(theirs)
            words = untrusted.one_line(to_words(reading.plan, name))
            found.append(OtherReading(number, words, brief(theirs)))
    return found[:3]


def offered(computed: Computed, number: int) -> tuple[OtherReading, ...]:
    """Return the reading of an answer that is not certain enough to be given, and the others beside it."""
    return (OtherReading(number, computed.reading, brief(computed.rows) or "nothing"), *computed.readings)


def next_rows(
    display: Display, reading: Reading, result: PlanResult
) -> tuple[tuple[tuple[AnswerCell, ...], ...], tuple[AnswerCell, ...]]:
    """Return the rows that come next, with what they are ordered by, and the last row in the same columns.

    The last row is left out where it shows already what it is ordered by.
    """
    if not (reading.plan.order and result.runners_up and result.rows):
        return (), ()
    keys = [o.column for o in reading.plan.order if o.column not in reading.shown]
    names = dict.fromkeys((*reading.shown, *keys))
    last, *runners = _shown(display, reading.plan, names, (result.rows[-1], *result.runners_up))
    return tuple(dict.fromkeys(row for row in runners if row != last))[:_NEXT], last if keys else ()
