"""Plans, run over a knowledge graph."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias

from rdflib import URIRef

from mrag.errors import ConfigError, QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import twins_of
from mrag.planning.compiler import SPARE, compile_plan, in_one
from mrag.planning.plan import Plan
from mrag.planning.schema import Schema
from mrag.planning.values import COMPUTED, Cells, in_order, kind_of, show_as, tied
from mrag.rdf.patterns import Ask, Select
from mrag.rdf.patterns import to_sparql as printed
from mrag.stores.base import Limits, SelectResult

Found: TypeAlias = dict[str, SelectResult | bool]  # What queries have found, by their text

LIMITS = Limits(seconds=10.0, rows=5_000)
"""How much a plan may use; servers cut longer answers in their own ways."""

_NEXT = 10  # Rows that are told behind the limit of a plan


@dataclass(frozen=True)
class PlanResult:
    """What a plan has found."""

    query: str  # The SPARQL that was run
    columns: tuple[str, ...] = ()  # Names of the columns; none for yes or no
    # The rows, in order; a cell without a value is None. Numbers that were computed are xsd:integer or
    # xsd:decimal, of 12 digits
    rows: tuple[Cells, ...] = ()
    holds: bool = False  # The answer to a yes or no question; for others, whether there are rows
    runners_up: tuple[Cells, ...] = ()  # Some rows that come next, where the plan has a limit
    truncated: bool = False  # Whether there may be further rows that the plan wants
    seconds: float = 0.0  # How long the query took

    @property
    def is_zero(self) -> bool:
        """Return whether it is one row of nothing but zeros: there was nothing to count."""
        return len(self.rows) == 1 and all(str(cell) == "0" for cell in self.rows[0])


def run(
    kg: KnowledgeGraph,
    plan: Plan,
    *,
    schema: Schema | None = None,
    limits: Limits | None = None,
    settled: bool = True,
    spare: int | None = None,
    known: Found | None = None,
    patient: bool = True,
    named: bool = False,
) -> PlanResult:
    """Run a plan.

    Args:
        kg: The graph.
        plan: The plan.
        schema: What is known of the graph, see `to_sparql`.
        limits: Seconds and rows; 10 seconds and 5,000 rows by default.
        settled: Whether the rows are the same each time even where there are more than are wanted.
        spare: Have the store put all rows in order, and give only so many behind the limit. By default it
            does so only where that decides which rows come first.
        known: What other plans with the same limits have found, by their queries; what this one finds is
            added. Two readings of a question may be told apart by their plans, and still be one query.
        patient: Whether to order rows by a second query even in less time than the first one took. A query
            that is ended takes its process with it, and the next one waits for another.
        named: Whether things are put in order by their names; stores do so by their IRIs.

    Raises:
        ConfigError: If the plan says nothing sensible.
        QueryTimeout: At the deadline.
        StoreError: If the store cannot answer.

    Example:
        >>> from rdflib import URIRef
        >>> from mrag.planning.plan import Aggregate, Block, Column, Pattern, Unknown
        >>> from mrag.rdf.terms import Triple
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> kg.insert(Triple(URIRef(f"urn:{x}"), URIRef("urn:kind"), URIRef("urn:cat")) for x in "ab")
        2
        >>> x = Unknown("x")
        >>> cats = Block((Pattern(x, URIRef("urn:kind"), URIRef("urn:cat")),))
        >>> [int(n) for (n,) in run(kg, Plan(cats, (Column(Aggregate("count", of=(x,)), "n"),))).rows]
        [2]
        >>> kg.close()
    """
    limits = limits or LIMITS
    began = time.monotonic()
    query, result = _fetch(kg, plan, schema, limits, spare, known)
    if isinstance(result, bool):
        return PlanResult(query, holds=result, seconds=time.monotonic() - began)
    rows = _rows(result, plan)
    things = named and any(isinstance(row[at], URIRef) for row in rows[:1] for at in _keys(plan))
    whole = plan
    if things and plan.limit is not None:
        whole = replace(plan, limit=None, offset=0, ties=False)
        query, again = _fetch(kg, whole, schema, limits, spare, known)
        assert isinstance(again, SelectResult)
        result, rows = again, _rows(again, whole)
    if settled and spare is None and _is_open(rows, whole, limits.rows, len(result)):
        # Which of many equal rows come first has to be decided by the store.
        took = time.monotonic() - began
        if limits.seconds < 2 * took and not patient:
            raise QueryTimeout("There is no time to put the rows in order.", query=query)
        left = replace(limits, seconds=max(0.001, limits.seconds - took))
        query, again = _fetch(kg, whole, schema, left, SPARE, known)
        assert isinstance(again, SelectResult)
        result, rows = again, _rows(again, plan)
    if things:
        keys = _keys(plan)
        rows = in_order(
            rows, plan, kg.labels({str(r[at]) for r in rows for at in keys if isinstance(r[at], URIRef)})
        )
    seconds = time.monotonic() - began
    shown, behind, truncated = _cut(rows, plan, limits.rows, len(result.rows))
    return PlanResult(
        query, tuple(c.name for c in plan.columns), tuple(shown), bool(shown), tuple(behind), truncated,
        seconds,
    )  # fmt: skip


def _fetch(
    kg: KnowledgeGraph,
    plan: Plan,
    schema: Schema | None,
    limits: Limits,
    ordered: int | None,
    known: Found | None,
) -> tuple[str, SelectResult | bool]:
    """Return a query and what it finds; rows in order, with some behind the limit, if it says how many."""
    query = printed(_compile(kg, plan, schema, limits.rows, ordered))
    if known is not None and query in known:
        return query, known[query]
    # Not through the gate for what others write: it is printed from typed patterns, and names no graph.
    most = replace(limits, rows=plan.offset + limits.rows + SPARE + 1)
    result = kg.store.bounded(query, kg.dataset(), most)
    assert not isinstance(result, list)
    if known is not None:
        known[query] = result
    return query, result


def _compile(
    kg: KnowledgeGraph, plan: Plan, schema: Schema | None, most: int, ordered: int | None = None
) -> Ask | Select:
    spare, total = SPARE if ordered is None else ordered, ordered is not None
    decimals = not kg.store.capabilities.doubles
    return compile_plan(plan, schema, spare, most, decimals=decimals, total=total, twins=twins_of(kg))


def ask_together(
    kg: KnowledgeGraph, plans: Iterable[Plan], schema: Schema, most: tuple[int, int], seconds: float
) -> Found:
    """Return what plans find that a server is asked for at once; nothing where it cannot answer that.

    The first of them gets as many rows as the first number says, each other one as the second.
    """
    asked: dict[str, tuple[Ask | Select, int, str]] = {}
    for plan in plans:
        wanted = most[bool(asked)]
        with suppress(ConfigError):  # it says nothing sensible
            query = _compile(kg, plan, schema, wanted)
            longer = printed(_compile(kg, plan, schema, most[0]))
            asked.setdefault(printed(query), (query, wanted, longer))
    known, texts, size = Found(), list(asked), kg.store.capabilities.parts
    for some in (texts[start : start + size] for start in range(0, len(texts), size) if size > 1):
        limits = Limits(seconds, sum(asked[text][1] + SPARE for text in some), 8 << 20)
        with suppress(StoreError):
            whole = printed(in_one([asked[text][0] for text in some]))
            result = kg.store.bounded(whole, kg.dataset(), limits)
            assert isinstance(result, SelectResult)
            for at, text in enumerate(some):
                query, wanted, longer = asked[text]
                rows = [row for row in result if str(row[0]) == str(at)]
                if isinstance(query, Ask):
                    known[text] = bool(rows)
                    continue
                names = tuple(map(str, range(len(query.variables))))
                known[text] = SelectResult(names, [row[1 : len(names) + 1] for row in rows])
                if len(rows) <= wanted:
                    known[longer] = known[text]
    return known


def _rows(result: SelectResult, plan: Plan) -> list[Cells]:
    kinds = [kind_of(c.value) for c in plan.columns]
    computed = any(kind in COMPUTED for kind in kinds)
    cells = (tuple(map(show_as, row, kinds)) for row in result.rows) if computed else map(tuple, result.rows)
    # Values that a store prints in two ways are one here.
    return in_order({row for row in cells if any(cell is not None for cell in row)}, plan)


def _keys(plan: Plan) -> list[int]:
    return [next(i for i, c in enumerate(plan.columns) if c.name == o.column) for o in plan.order]


def _is_open(rows: list[Cells], plan: Plan, most: int, asked: int) -> bool:
    """Return whether there may be rows that were not asked for and are equal to the last that is shown."""
    wanted = plan.offset + (most if plan.limit is None else min(plan.limit, most))
    if asked < wanted + (1 if plan.limit is None else SPARE) or not rows:
        return False
    return tied(rows[-1], rows[max(0, min(wanted, len(rows)) - 1)], _keys(plan))


def _cut(rows: list[Cells], plan: Plan, most: int, asked: int) -> tuple[list[Cells], list[Cells], bool]:
    """Return the rows of a plan, some that come next, and whether rows may be missing."""
    if plan.limit is None:
        end = min(len(rows), plan.offset + most)
        return rows[plan.offset : end], [], asked > plan.offset + most
    end = min(len(rows), plan.offset + min(plan.limit, most))
    if plan.ties and plan.limit:
        keys = _keys(plan)
        while plan.offset < end < len(rows) and tied(rows[end], rows[end - 1], keys):
            end += 1
    full = asked >= plan.offset + min(plan.limit, most) + SPARE
    truncated = plan.limit > most or (plan.ties and full and end == len(rows))
    return rows[plan.offset : end], rows[end : end + _NEXT], truncated
