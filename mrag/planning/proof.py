"""What a row of a result rests on: the triples that make it true, looked up with their graphs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from rdflib import URIRef

from mrag.context.render import Context
from mrag.errors import QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.compiler import solutions_of
from mrag.planning.evidence.groups import with_groups
from mrag.planning.evidence.lines import MOST, lines_of
from mrag.planning.evidence.witnesses import blocks_of_rows, kinds_named, patterns_of, triple_of, witnesses
from mrag.planning.plan import Block, Column, Plan, Unknown
from mrag.planning.profiling import schema_of
from mrag.planning.run import LIMITS, run
from mrag.planning.scopes import reached
from mrag.planning.values import Cell, Cells
from mrag.rdf.terms import RDFS, Term, Triple
from mrag.stores.base import Limits

_MOST = 50
_PATIENCE = 1.0
"""Seconds that it may take to find at once what supports all rows, of which only some is cited."""
_ORDERED = 5_000
"""Solutions that are put in order to choose those that are cited; of more, those that come first are."""

_BEHIND = 3
"""Solutions that are asked for behind those that are cited, to know whether there are more."""

_LOOKED_THROUGH = 1_000_000
"""Solutions that are looked through, row by row, for what supports rows."""

_JOINED = 3
"""Rows of a plan within a plan that are proved."""


@dataclass(frozen=True)
class RowProof:
    """The triples that a row rests on.

    Attributes:
        context: The triples as lines, each with its graph and whether it is inferred, to be cited.
        truncated: Whether the row rests on more, such as further members of what is counted.
    """

    context: Context
    truncated: bool = False

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Return the triples, those of the first solutions first."""
        return tuple(line.triple for line in self.context.lines)


def prove(
    kg: KnowledgeGraph, plan: Plan, row: Cells = (), *, most: int = _MOST, limits: Limits | None = None
) -> RowProof:
    """Return the triples that a row of a plan's result rests on.

    For a listed row they are those of one solution, the compared values among them; for a minimum or
    maximum those of what has it; for a count, a sum or an average those of the members, up to a bound. For a
    yes they are those of a witness; for a no there are none. What must not exist proves nothing that can be
    cited, and neither do the scalars that a condition compares with.

    Args:
        kg: The graph.
        plan: The plan that was run.
        row: The row, as `run` gave it; empty for yes or no.
        most: Most triples; 500 is the most there is.
        limits: Seconds that each query may take.

    Raises:
        ConfigError: If the plan says nothing sensible.
        StoreError: If the store cannot answer, or not in time.

    Example:
        >>> from mrag.planning.plan import Aggregate, Pattern
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> is_, cat, x = URIRef("urn:is"), URIRef("urn:cat"), Unknown("x")
        >>> _ = kg.insert(Triple(URIRef(f"urn:{name}"), is_, cat) for name in ("Tom", "Kit"))
        >>> cats = Plan(Block((Pattern(x, is_, cat),)), (Column(Aggregate("count", of=(x,)), "n"),))
        >>> [line.text for line in prove(kg, cats, run(kg, cats).rows[0]).context.lines]
        ['(Kit, <urn:is>, cat)', '(Tom, <urn:is>, cat)']
        >>> kg.close()
    """
    limits, most = limits or LIMITS, min(most, MOST)
    found, truncated = _evidence(kg, plan, row, most, limits)
    return RowProof(lines_of(kg, [list(found)], most)[0], truncated)


def proofs(
    kg: KnowledgeGraph, plan: Plan, rows: Sequence[Cells], *, most: int, ends: float, enough: int = MOST
) -> Iterator[RowProof]:
    """Yield what each row of a plan's result rests on, as `prove` tells, as far as the time goes.

    Where that is possible, one query finds the triples of all rows.

    Args:
        kg: The graph.
        plan: The plan that was run.
        rows: Rows, as `run` gave them.
        most: Most triples of a row.
        ends: When the time is over, by the monotonic clock.
        enough: With how many triples to end.

    Raises:
        StoreError: If the store cannot answer, or not in time.
    """

    def limits() -> Limits:
        return Limits(max(ends - time.monotonic(), 0.001), MOST, 8 << 20)

    together: list[RowProof | None] = [None] * len(rows)
    if len(rows) > 1:
        with suppress(QueryTimeout):
            soon = replace(limits(), seconds=min(limits().seconds, _PATIENCE))
            plan, rows = with_groups(kg, plan, rows, soon)
            soon = replace(limits(), seconds=min(limits().seconds, _PATIENCE))
            together = _together(kg, plan, rows, most, soon)
    alone = dict[int, tuple[list[Triple], bool]]()
    seen = {triple for proof in together if proof is not None for triple in proof.triples}
    work, schema = 0, schema_of(kg)
    for at, row in enumerate(rows):
        over = len(seen) >= enough or work > _LOOKED_THROUGH or time.monotonic() >= ends
        if together[at] is not None or (alone and over):
            continue
        work += sum(solutions_of(block, schema) for block, _ in witnesses(plan, row))
        try:
            triples, more = _evidence(kg, plan, row, most, limits())
        except StoreError:
            if not alone:
                raise
            break
        alone[at] = list(triples), more
        seen.update(triples)
    contexts = dict(zip(alone, lines_of(kg, [triples for triples, _ in alone.values()], most), strict=True))
    for at, proof in enumerate(together):
        if proof is None and at not in alone:
            return
        yield proof or RowProof(contexts[at], alone[at][1])


def _together(
    kg: KnowledgeGraph, plan: Plan, rows: Sequence[Cells], most: int, limits: Limits
) -> list[RowProof | None]:
    """Return the proofs of rows by one query for each block that they rest on; None for those it misses.

    All solutions have to be seen for that: which are cited must not depend on how many rows are proved.
    """
    found = [dict[Triple, None]() for _ in rows]
    more = [False] * len(rows)
    blocks, schema = blocks_of_rows(plan, rows), schema_of(kg)
    if not blocks or any(solutions_of(block, schema) > MOST for block, _ in blocks):
        return [None] * len(rows)
    for number, (block, wanted) in enumerate(blocks, start=1):
        named, classes = kinds_named(block)
        open_ = _open(named)
        columns = tuple(Column(u, u.name) for u in open_)
        one = Plan(named, columns, limit=MOST)
        result = run(kg, one, schema=schema, limits=limits, settled=False)
        if result.truncated or result.runners_up:
            return [None] * len(rows)
        told = [n for n, u in enumerate(open_) if any(c.value == u for c in plan.columns)]
        by_row: dict[Cells, list[Cells]] = {}
        for r in result.rows:
            by_row.setdefault(tuple(r[n] for n in told), []).append(r)
        for at, row in enumerate(rows):
            shown = {c.value: cell for c, cell in zip(plan.columns, row, strict=True)}
            mine = by_row.get(tuple(shown[open_[n]] for n in told), [])
            room = max((most - len(found[at])) // (len(blocks) - number + 1), 1)
            some = wanted or max(1, math.ceil(room / max(1, len(named.patterns))))
            for solution in mine[:some]:
                cells = dict(zip(open_, solution, strict=True))
                found[at].update(dict.fromkeys(_supported(kg, named, classes, cells)))
            more[at] = more[at] or (wanted is None and len(mine) > some)
    contexts = lines_of(kg, [list(triples) for triples in found], most)
    return [
        RowProof(context, cut) if context.lines else None for context, cut in zip(contexts, more, strict=True)
    ]


def _evidence(
    kg: KnowledgeGraph, plan: Plan, row: Cells, most: int, limits: Limits
) -> tuple[dict[Triple, None], bool]:
    """Return the triples that a row rests on, and whether there are more."""
    plan, (row,) = with_groups(kg, plan, [row], limits)
    found: dict[Triple, None] = {}
    blocks = list(witnesses(plan, row))
    truncated = False
    for number, (block, wanted) in enumerate(blocks, start=1):
        room = (most - len(found)) // (len(blocks) - number + 1)
        triples, more = _supporting(kg, block, wanted, max(room, 1), limits)
        found.update(dict.fromkeys(triples))
        truncated = truncated or more
    shown = {c.value: cell for c, cell in zip(plan.columns, row, strict=True)} if row else {}
    for inner in plan.where.plans if found or not plan.where.patterns else ():
        names = [Unknown(c.name) for c in inner.columns]
        rows = [
            r
            for r in run(kg, inner, schema=schema_of(kg), limits=limits).rows
            if all(shown.get(n, cell) == cell for n, cell in zip(names, r, strict=True))
        ]
        for one in rows[:_JOINED]:
            triples_of_one, more = _evidence(kg, inner, one, max(1, most // 2), limits)
            found.update(triples_of_one)
            truncated = truncated or more
        truncated = truncated or len(rows) > _JOINED
    return found, truncated


def _supporting(
    kg: KnowledgeGraph, block: Block, wanted: int | None, most: int, limits: Limits
) -> tuple[list[Triple], bool]:
    """Return the triples of some solutions of a block, and whether there are more."""
    schema = schema_of(kg)
    settled = solutions_of(block, schema) <= _ORDERED
    block, classes = kinds_named(block)
    open_ = _open(block)
    if not open_:
        held = run(kg, Plan(block), schema=schema, limits=limits).holds
        return _supported(kg, block, classes, {}) if held else [], False
    solutions = wanted or max(1, math.ceil(most / max(1, len(block.patterns))))
    columns = tuple(Column(u, u.name) for u in open_)
    some = Plan(block, columns, limit=solutions)
    result = run(kg, some, schema=schema, limits=limits, settled=False, spare=_BEHIND if settled else None)
    found: dict[Triple, None] = {}
    for row in result.rows:
        found.update(dict.fromkeys(_supported(kg, block, classes, dict(zip(open_, row, strict=True)))))
    return list(found), wanted is None and bool(result.runners_up or result.truncated)


def _open(block: Block) -> list[Unknown]:
    """Return the unknowns in the triples of what may hold in a block."""
    places = (place for p in patterns_of(block) for place in p.places)
    return sorted({u for u in places if isinstance(u, Unknown)} & reached(block))


def _supported(
    kg: KnowledgeGraph, block: Block, classes: Mapping[Unknown, URIRef], solution: Mapping[Unknown, Cell]
) -> list[Triple]:
    """Return the triples of a solution of a block, and those by which its kinds are of the classes named."""
    binding = {u: cell for u, cell in solution.items() if cell is not None}
    found = [t for p in patterns_of(block) if (t := triple_of(p, binding)) is not None]
    for kind, cls in classes.items():
        found += _links(kg, binding.get(kind), cls)
    return list(dict.fromkeys(found))


def _links(kg: KnowledgeGraph, kind: Term | None, cls: URIRef) -> list[Triple]:
    """Return the triples by which a class is one of another's subclasses."""
    schema, below = schema_of(kg), URIRef(RDFS + "subClassOf")
    ways: list[list[str]] = [[str(kind)]]
    for way in ways:
        if way[-1] == str(cls):
            return [Triple(URIRef(a), below, URIRef(b)) for a, b in pairwise(way)]
        info = schema.classes.get(way[-1])
        ways += [[*way, parent] for parent in (info.parents if info else ()) if parent not in way]
    return []
