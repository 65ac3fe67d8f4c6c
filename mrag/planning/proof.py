"""What a row of a result rests on: the triples that make it true, looked up with their graphs."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from rdflib import BNode, Literal, URIRef

from mrag.context.display import lines_of
from mrag.context.render import Context
from mrag.errors import QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning import plan as pl
from mrag.planning.compiler import solutions_of
from mrag.planning.profiling import schema_of
from mrag.planning.run import LIMITS, run
from mrag.planning.scopes import (
    aggregates,
    bound,
    folds_of,
    fresh,
    keys,
    mentioned,
    merged,
    positive,
    reached,
    sides,
    substituted,
    unknowns,
)
from mrag.planning.values import Cell, Cells, kind_of, tied
from mrag.rdf import queries
from mrag.rdf.terms import RDFS, Term, Triple, is_allowed_tag
from mrag.stores.base import Limits

Binding: TypeAlias = Mapping[pl.Unknown, Term]


def witnesses(plan: pl.Plan, row: Cells) -> Iterator[tuple[pl.Block, int | None]]:
    """Yield the blocks whose solutions a row rests on, and how many of them it needs; None is all.

    The row is empty for yes or no.
    """
    cells = dict(zip(plan.columns, row, strict=True)) if row else {}
    grouped = {k.value: c for k, c in ((k, cells.get(k)) for k in keys(plan)) if c is not None}
    listed = {c.value: cell for c, cell in cells.items() if cell is not None}
    if not plan.grouped:
        yield _fixed(plan.where, listed), 1
        return
    folds = [(a, cells.get(c)) for c in plan.columns for a in aggregates(c.value)]
    folds += [(a, None) for h in plan.having for s in sides(h) for a in aggregates(s)]
    seen: set[tuple[pl.Block, pl.Aggregate | None]] = set()
    for aggregate, cell in folds:
        block = _fixed(merged(plan.where, aggregate.where), grouped)
        best = aggregate.function in ("minimum", "maximum") and any(
            c.value == aggregate for c in plan.columns
        )
        if best and cell is not None and aggregate.value is not None:
            that = pl.Block(conditions=tuple(_equal(aggregate.value, cell)))
            yield _fixed(merged(plan.where, aggregate.where, that), grouped), 1
        elif (block, None) not in seen:
            seen.add((block, None))
            yield block, None
    if not folds or (grouped and all(cell is None or str(cell) == "0" for _, cell in folds)):
        yield _fixed(plan.where, grouped), 1  # that there is none of something shows no group


def blocks_of_rows(plan: pl.Plan, rows: Sequence[Cells]) -> list[tuple[pl.Block, int | None]]:
    """Return the blocks whose solutions several rows rest on, as `witnesses` does for each of them.

    Each comes with how many of its solutions a row needs; none where a row is not told by those alone.
    """
    listed = [c.value for c in plan.columns if not aggregates(c.value)]
    folds = folds_of(plan)
    best = any(a.function in ("minimum", "maximum") for a in folds)
    found = one_of_rows(plan, rows)
    if found is None or best or plan.where.plans or not all(isinstance(v, pl.Unknown) for v in listed):
        return []
    key, these = found
    if not folds:
        return [(_without_met(merged(plan.where, these), {key}), 1)]
    blocks = dict.fromkeys(merged(plan.where, a.where, these) for a in folds)
    return [(block, None) for block in blocks]


def one_of_rows(plan: pl.Plan, rows: Sequence[Cells]) -> tuple[pl.Unknown, pl.Block] | None:
    """Return an unknown that all of several rows show, and the block that it is what one of them shows."""
    columns = enumerate(plan.columns)
    sure = [
        (at, c.value) for at, c in columns if isinstance(c.value, pl.Unknown) and c.value in bound(plan.where)
    ]
    # Engines look things up by their IRIs, but go through all values to compare them.
    named = [
        (at, v) for kind in (URIRef, Literal) for at, v in sure if all(type(r[at]) is kind for r in rows)
    ]
    if not named:
        return None
    at, key = named[0]
    terms = dict.fromkeys(row[at] for row in rows)
    either = tuple(
        pl.Block(conditions=(pl.Comparison(key, "=", t),)) for t in terms if isinstance(t, URIRef | Literal)
    )
    return key, pl.Block(either=(either,))


def of_row(plan: pl.Plan, row: Cells) -> pl.Plan:
    """Return a grouped plan for those groups alone that a row may be of, by the values that it shows."""
    told, folded = list[pl.Condition](), list[pl.Condition]()
    for column, cell in zip(plan.columns, row, strict=True):
        if cell is None:
            continue
        if not aggregates(column.value):
            told += _equal(column.value, cell)
        elif kind_of(column.value) == "number":
            folded += _near(column.value, cell)
    where = merged(plan.where, pl.Block(conditions=tuple(told)))
    return replace(plan, where=where, having=(*plan.having, *folded))


def _without_met(block: pl.Block, told: Collection[pl.Unknown]) -> pl.Block:
    """Return a block without what must not hold of what a row tells, which has been looked for."""
    if not told:
        return block  # a no has no row
    outer = reached(positive(block))
    return replace(block, without=tuple(b for b in block.without if not mentioned(b) & outer <= set(told)))


def _fixed(block: pl.Block, values: Mapping[pl.Expression, Term]) -> pl.Block:
    """Return a block for the solutions in which expressions have the values of a row."""
    binding = {e: v for e, v in values.items() if isinstance(e, pl.Unknown)}
    # A condition on values that the row shows has been met; said of a literal it could mean another thing.
    met = {c for c in block.conditions if set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()}
    kept = replace(block, conditions=tuple(c for c in block.conditions if c not in met))
    kept = _without_met(kept, set(binding))
    others = [c for e, v in values.items() if not isinstance(e, pl.Unknown) for c in _equal(e, v)]
    added = [c for c in others if not set().union(*(unknowns(s) for s in sides(c))) <= binding.keys()]
    return _bound(merged(kept, pl.Block(conditions=tuple(added))), binding)


def _equal(expression: pl.Expression, cell: Term) -> list[pl.Condition]:
    """Return the conditions that an expression has the value that is shown of it."""
    if kind_of(expression) != "number" or not unknowns(expression):
        return [pl.Comparison(expression, "=", cell)] if isinstance(cell, Literal | URIRef) else []
    return _near(expression, cell)


def _near(expression: pl.Expression, cell: Term) -> list[pl.Condition]:
    """Return the conditions that an expression has the number that is shown of it, which may be rounded."""
    try:
        value = float(cell)
    except ValueError:
        return []
    margin = max(abs(value) * 1e-9, 1e-12)
    return [
        pl.Comparison(expression, ">=", Literal(value - margin)),
        pl.Comparison(expression, "<=", Literal(value + margin)),
    ]


def _bound(block: pl.Block, binding: Binding) -> pl.Block:
    """Return a block with terms in the place of unknowns."""
    given: dict[pl.Place, URIRef | Literal] = {
        u: t for u, t in binding.items() if isinstance(t, URIRef | Literal) and not _has_odd_tag(t)
    }
    odd = tuple(pl.Contains(u, str(t), "whole") for u, t in sorted(binding.items()) if _has_odd_tag(t))
    # A row of a plan that is given whole has been met.
    open_ = tuple(p for p in block.plans if not {pl.Unknown(c.name) for c in p.columns} <= binding.keys())
    partly = [pl.Unknown(c.name) for p in open_ for c in p.columns if pl.Unknown(c.name) in binding]
    # How values compare depends on their datatype where it is written, but not on that of an unknown's value.
    kept = {u: t for u in _compared(block) if isinstance(t := given.get(u), Literal) and u not in partly}
    found = substituted(replace(block, plans=open_), given, {u: t for u, t in given.items() if u not in kept})
    values = tuple(pl.Plan(columns=(pl.Column(t, u.name),)) for u, t in sorted(kept.items()))
    return replace(
        found,
        conditions=(
            *found.conditions,
            *odd,
            *(pl.Comparison(u, "=", given[u]) for u in partly if u in given),
        ),
        plans=(*found.plans, *values),
    )


def _has_odd_tag(term: Term) -> bool:
    """Return whether a text has a language tag that may stand in data and not in a query."""
    return isinstance(term, Literal) and bool(term.language) and not is_allowed_tag(str(term.language))


def _compared(block: pl.Block) -> set[pl.Unknown]:
    """Return the unknowns whose own values a block or one within it compares."""
    found = {
        s
        for c in block.conditions
        if isinstance(c, pl.Comparison)
        for s in sides(c)
        if isinstance(s, pl.Unknown)
    }
    inner = (*block.branches, *block.without, *block.optional)
    return found.union(*map(_compared, inner))


def kinds_named(block: pl.Block) -> tuple[pl.Block, dict[pl.Unknown, URIRef]]:
    """Return a block with unknowns for the classes that things are said to be in, and what each counts as."""
    classes: dict[pl.Unknown, URIRef] = {}

    def named(block: pl.Block) -> pl.Block:
        patterns, kinds = list[pl.Pattern](), list[tuple[pl.Block, ...]]()
        for p in block.patterns:
            if not p.narrower or not isinstance(p.object, URIRef):
                patterns.append(p)
                continue
            kind = pl.Unknown(f"its_kind_{len(classes)}")
            classes[kind] = p.object
            patterns.append(pl.Pattern(p.subject, p.predicate, kind))
            options = (pl.Comparison(kind, "=", c) for c in (p.object, *p.narrower))
            kinds.append(tuple(pl.Block(conditions=(o,)) for o in options))
        return replace(
            block,
            patterns=tuple(patterns),
            either=(*(tuple(map(named, branches)) for branches in block.either), *kinds),
            optional=tuple(map(named, block.optional)),
        )

    return named(block), classes


def patterns_of(block: pl.Block) -> Iterator[pl.Pattern]:
    """Yield the patterns of all that may hold in a block."""
    yield from block.patterns
    for inner in (*block.branches, *block.optional):
        yield from patterns_of(inner)


def triple_of(pattern: pl.Pattern, binding: Binding) -> Triple | None:
    """Return the triple that a pattern is in a solution; None where that is none to be looked for."""
    places = (pattern.subject, pattern.predicate, pattern.object)
    s, p, o = (binding.get(t) if isinstance(t, pl.Unknown) else t for t in places)
    if not isinstance(s, URIRef) or not isinstance(p, URIRef) or o is None or isinstance(o, BNode):
        return None
    return Triple(s, p, o)


_GROUPS = 5_000  # Groups that are looked through for those of some rows


def with_groups(
    kg: KnowledgeGraph, plan: pl.Plan, rows: Sequence[Cells], limits: Limits
) -> tuple[pl.Plan, list[Cells]]:
    """Return a plan that shows all that it groups by, and its rows for some rows of a plan.

    Two people of one name who own a dog each and three are told apart by who they are, which their rows need
    not show. Of several groups that give the same row, the first is taken.

    They are as they were where they show everything, or the groups are not found.
    """
    hidden = [u for u in dict.fromkeys(plan.group_by) if all(c.value != u for c in plan.columns)]
    if not hidden or (not all(rows) and not plan.yes_or_no):
        return plan, list(rows)
    columns = plan.columns
    for unknown in hidden:
        columns += (pl.Column(unknown, fresh(unknown, {pl.Unknown(c.name) for c in columns}).name),)
    shown = replace(plan, columns=columns, order=(), limit=None, offset=0, ties=False)
    if len(rows) == 1:
        some = of_row(shown, (*rows[0], *(None for _ in hidden)))
    else:
        these = one_of_rows(plan, rows)
        some = shown if these is None else replace(shown, where=merged(shown.where, these[1]))
    if plan.yes_or_no:
        some = replace(some, limit=1)
    groups = run(kg, some, schema=schema_of(kg), limits=replace(limits, rows=_GROUPS))
    found = [_group_of(plan, row, groups.rows) for row in rows]
    if groups.truncated and len(rows) > 1:
        return plan, list(rows)  # each alone has fewer to look through
    known = [group for group in found if group is not None]
    return (shown, known) if len(known) == len(rows) else (plan, list(rows))


def _group_of(plan: pl.Plan, row: Cells, groups: Sequence[Cells]) -> Cells | None:
    """Return the first of some groups that gives a row."""
    width = len(row)
    folded = [at for at, c in enumerate(plan.columns) if aggregates(c.value)]
    told = [at for at in range(width) if at not in folded]
    mine = [g for g in groups if all(g[at] == row[at] for at in told)]
    same = [g for g in mine if g[:width] == row] or [g for g in mine if tied(g, row, folded)]
    return same[0] if same else None


MOST = 500  # Most triples that are looked for; no server takes more values in one query


_MOST = 50
_PATIENCE = 1.0
"""Seconds that it may take to find at once what supports all rows, of which only some is cited."""
_ORDERED = 5_000
"""Solutions that are put in order to choose those that are cited; of more, those that come first are."""

_BEHIND = 3  # Solutions that are asked for behind those that are cited, to know whether there are more

_LOOKED_THROUGH = 1_000_000  # Solutions that are looked through, row by row, for what supports rows

_JOINED = 3  # Rows of a plan within a plan that are proved


@dataclass(frozen=True)
class RowProof:
    """The triples that a row rests on."""

    context: Context  # The triples as lines, each with its graph and whether it is inferred, to be cited
    truncated: bool = False  # Whether the row rests on more, such as further members of what is counted

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Return the triples, those of the first solutions first."""
        return tuple(line.triple for line in self.context.lines)


def prove(kg: KnowledgeGraph, plan: pl.Plan, row: Cells = (), *, most: int = _MOST) -> RowProof:
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

    Raises:
        ConfigError: If the plan says nothing sensible.
        StoreError: If the store cannot answer, or not in time.

    Example:
        >>> from mrag.planning import Aggregate, Block, Column, Pattern, Plan, Unknown
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> is_, cat, x = URIRef("urn:is"), URIRef("urn:cat"), Unknown("x")
        >>> _ = kg.insert(Triple(URIRef(f"urn:{name}"), is_, cat) for name in ("Tom", "Kit"))
        >>> cats = Plan(Block((Pattern(x, is_, cat),)), (Column(Aggregate("count", of=(x,)), "n"),))
        >>> [line.text for line in prove(kg, cats, run(kg, cats).rows[0]).context.lines]
        ['(Kit, <urn:is>, cat)', '(Tom, <urn:is>, cat)']
        >>> kg.close()
    """
    (found,) = proofs(kg, plan, [row], most=min(most, MOST), ends=time.monotonic() + LIMITS.seconds)
    return found


def proofs(
    kg: KnowledgeGraph, plan: pl.Plan, rows: Sequence[Cells], *, most: int, ends: float, enough: int = MOST
) -> Iterator[RowProof]:
    """Yield what each row of a plan's result rests on, as `prove` tells, as far as the time goes.

    Where that is possible, one query finds the triples of all rows.

    It ends at a time of the monotonic clock, or with enough triples.

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
    kg: KnowledgeGraph, plan: pl.Plan, rows: Sequence[Cells], most: int, limits: Limits
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
        columns = tuple(pl.Column(u, u.name) for u in open_)
        one = pl.Plan(named, columns, limit=MOST)
        result = run(kg, one, schema=schema, limits=limits, settled=False)
        if result.truncated or result.runners_up:
            return [None] * len(rows)
        told = [n for n, u in enumerate(open_) if any(c.value == u for c in plan.columns)]
        by_row: dict[Cells, list[Cells]] = {}
        for r in result.rows:
            by_row.setdefault(tuple(r[n] for n in told), []).append(r)
        chosen = list[tuple[int, dict[pl.Unknown, Cell]]]()
        for at, row in enumerate(rows):
            shown = {c.value: cell for c, cell in zip(plan.columns, row, strict=True)}
            mine = by_row.get(tuple(shown[open_[n]] for n in told), [])
            room = max((most - len(found[at])) // (len(blocks) - number + 1), 1)
            some = wanted or max(1, math.ceil(room / max(1, len(named.patterns))))
            chosen += [(at, dict(zip(open_, solution, strict=True))) for solution in mine[:some]]
            more[at] = more[at] or (wanted is None and len(mine) > some)
        supported = _supported(kg, named, classes, [cells for _, cells in chosen])
        for (at, _), triples in zip(chosen, supported, strict=True):
            found[at].update(dict.fromkeys(triples))
    contexts = lines_of(kg, [list(triples) for triples in found], most)
    return [
        RowProof(context, cut) if context.lines else None for context, cut in zip(contexts, more, strict=True)
    ]


def _evidence(
    kg: KnowledgeGraph, plan: pl.Plan, row: Cells, most: int, limits: Limits
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
        names = [pl.Unknown(c.name) for c in inner.columns]
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
    kg: KnowledgeGraph, block: pl.Block, wanted: int | None, most: int, limits: Limits
) -> tuple[list[Triple], bool]:
    """Return the triples of some solutions of a block, and whether there are more."""
    schema = schema_of(kg)
    settled = solutions_of(block, schema) <= _ORDERED
    block, classes = kinds_named(block)
    open_ = _open(block)
    if not classes and not any(True for _ in patterns_of(block)):
        return [], False
    if not open_ and len(block.patterns) == 1 and block == pl.Block(block.patterns):
        return _supported(kg, block, classes)[0], False  # whoever shows it looks whether it is there
    if not open_:
        held = run(kg, pl.Plan(block), schema=schema, limits=limits).holds
        return _supported(kg, block, classes)[0] if held else [], False
    solutions = wanted or max(1, math.ceil(most / max(1, len(block.patterns))))
    columns = tuple(pl.Column(u, u.name) for u in open_)
    some = pl.Plan(block, columns, limit=solutions)
    result = run(kg, some, schema=schema, limits=limits, settled=False, spare=_BEHIND if settled else None)
    rows = [dict(zip(open_, row, strict=True)) for row in result.rows]
    found = dict.fromkeys(t for triples in _supported(kg, block, classes, rows) for t in triples)
    return list(found), wanted is None and bool(result.runners_up or result.truncated)


def _open(block: pl.Block) -> list[pl.Unknown]:
    """Return the unknowns in the triples of what may hold in a block."""
    places = (place for p in patterns_of(block) for place in p.places)
    return sorted({u for u in places if isinstance(u, pl.Unknown)} & reached(block))


def _supported(
    kg: KnowledgeGraph,
    block: pl.Block,
    classes: Mapping[pl.Unknown, URIRef],
    solutions: Sequence[Mapping[pl.Unknown, Cell]] = ({},),
) -> list[list[Triple]]:
    """Return the triples of each solution, and those by which its kinds are of the classes named."""
    bindings = [{u: cell for u, cell in solution.items() if cell is not None} for solution in solutions]
    patterns = list(patterns_of(block))
    made = [[(p.repeated, triple_of(p, binding)) for p in patterns] for binding in bindings]
    ways = _ways(kg, dict.fromkeys(t for row in made for repeated, t in row if repeated and t is not None))
    found = []
    for row, binding in zip(made, bindings, strict=True):
        triples = [t for repeated, t in row if not repeated and t is not None]
        triples += (step for repeated, t in row if repeated for step in ways.get(t, ()))
        triples += (link for kind, cls in classes.items() for link in _links(kg, binding.get(kind), cls))
        found.append(list(dict.fromkeys(triples)))
    return found


def _ways(kg: KnowledgeGraph, several: Iterable[Triple]) -> dict[Triple | None, list[Triple]]:
    """Return the triples of a shortest way by which a property leads from one thing to another, of each."""
    before: dict[Triple, dict[str, str]] = {t: {} for t in several if isinstance(t.o, URIRef)}
    ahead = {t: [str(t.s)] for t in before}
    while ahead:
        steps: defaultdict[tuple[Term, str], list[str]] = defaultdict(list)
        for p in dict.fromkeys(t.p for t in ahead):
            things = dict.fromkeys(x for t, some in ahead.items() if t.p == p for x in some)
            for text in queries.get("planning/steps").batches("thing", list(things), property=[p]):
                for a, b in kg.select(text):
                    steps[p, str(a)].append(str(b))
        for t, some in ahead.items():
            come = [(b, a) for a in sorted(some) for b in steps[t.p, a] if b not in before[t]]
            before[t] = dict(reversed(come)) | before[t]
            ahead[t] = list(dict.fromkeys(b for b, _ in come))
        ahead = {t: some for t, some in ahead.items() if some and str(t.o) not in before[t]}
    ways: dict[Triple | None, list[Triple]] = {}
    for t, known in before.items():
        way = [str(t.o)]
        while way[-1] in known and (len(way) == 1 or way[-1] != str(t.s)):
            way.append(known[way[-1]])
        ways[t] = [Triple(URIRef(a), t.p, URIRef(b)) for b, a in pairwise(way)][::-1]
    return ways


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
