"""The triples that a computed answer rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from rdflib import Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import (
    Aggregate,
    Arithmetic,
    Block,
    Column,
    Comparison,
    Expression,
    Pattern,
    Plan,
    Scalar,
    Unknown,
)
from mrag.planning.run import run
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Limits

_BATCH = 200
_SPREAD = 10


def proof(
    kg: KnowledgeGraph,
    plan: Plan,
    rows: Sequence[Sequence[Term | None]] = (),
    *,
    max_triples: int = 40,
    limits: Limits | None = None,
) -> list[Triple]:
    """Return the triples that rows of a plan's result rest on, the first rows first.

    For a count they are the triples of its members, as many as fit; for yes those of one witness. Where not
    all fit, each row has its share.

    Args:
        kg: The graph.
        plan: The plan.
        rows: The rows, with a cell for each column of the plan; none for yes or no.
        max_triples: Maximum number of triples.
        limits: Seconds and rows of each query.
    """
    found: dict[Triple, int] = {}
    for block, bound in _blocks(plan, rows):
        for row, triple in _triples(kg, block, bound, max_triples, limits):
            if len(found) < max_triples:
                found.setdefault(triple, row)
    return sorted(found, key=lambda triple: found[triple])


def _blocks(
    plan: Plan, rows: Sequence[Sequence[Term | None]]
) -> Iterator[tuple[Block, list[dict[Unknown, Term]]]]:
    """Yield blocks whose solutions prove rows, with what the rows say of their unknowns."""
    keys = [(i, c.value) for i, c in enumerate(plan.columns) if isinstance(c.value, Unknown)]
    bound = [
        {u: cell for i, u in keys if (cell := row[i]) is not None and isinstance(cell, URIRef | Literal)}
        for row in rows
    ]
    bound = [b for b in bound if b]
    if not plan.where.empty:
        yield plan.where, bound  # type: ignore[misc]
    for aggregate in [a for c in plan.columns for a in _aggregates(c.value)]:
        if not aggregate.where.empty:
            yield _joined(plan.where, aggregate.where), bound  # type: ignore[misc]
    for scalar in [s for c in plan.columns for s in _scalars(c.value)]:
        yield from _blocks(scalar.plan, ())


def _aggregates(value: Expression) -> Iterator[Aggregate]:
    if isinstance(value, Aggregate):
        yield value
    elif isinstance(value, Arithmetic):
        yield from _aggregates(value.left)
        yield from _aggregates(value.right)


def _scalars(value: Expression) -> Iterator[Scalar]:
    if isinstance(value, Scalar):
        yield value
    elif isinstance(value, Arithmetic):
        yield from _scalars(value.left)
        yield from _scalars(value.right)


def _joined(one: Block, other: Block) -> Block:
    return Block(
        tuple(dict.fromkeys((*one.patterns, *other.patterns))),
        (*one.conditions, *other.conditions),
        (*one.without, *other.without),
        (*one.either, *other.either),
        (*one.optional, *other.optional),
    )


def _triples(
    kg: KnowledgeGraph, block: Block, bound: Sequence[dict[Unknown, Term]], most: int, limits: Limits | None
) -> Iterator[tuple[int, Triple]]:
    """Yield triples that prove rows, with the number of the row, one solution of each row in turn."""
    patterns = [*block.patterns, *(p for blocks in block.either for b in blocks for p in b.patterns)]
    places = [x for p in block.patterns for x in (p.subject, p.predicate, p.object)]
    unknowns = sorted({x for x in places if isinstance(x, Unknown)})
    if not unknowns:
        yield from ((0, t) for p in patterns if (t := _bound(p, {})) is not None)
        return
    known = [{u: cell for u, cell in sorted(b.items()) if u in unknowns} for b in bound]
    known = list({tuple(b.items()): b for b in known if b}.values())
    if known:
        alternatives = tuple(
            Block(conditions=tuple(Comparison(u, "=", c) for u, c in b.items()))  # type: ignore[arg-type]
            for b in known
        )
        block = replace(block, either=(*block.either, alternatives))
    columns = tuple(Column(u, u.name) for u in unknowns)
    # The solutions of the first rows may be many.
    result = run(kg, Plan(block, columns, limit=most * _SPREAD if len(known) > 1 else most), limits=limits)
    at = {u: result.columns.index(u.name) for u in unknowns}
    solutions: dict[int, list[list[Triple]]] = {}
    for row in result.rows:
        binding = {u: row[i] for u, i in at.items()}
        number = next((n for n, b in enumerate(known) if all(binding[u] == c for u, c in b.items())), 0)
        triples = [t for p in patterns if (t := _bound(p, binding)) is not None]
        solutions.setdefault(number, []).append(triples)
    numbers = sorted(solutions)
    for turn in zip_longest(*(solutions[n] for n in numbers)):
        for number, proved in zip(numbers, turn, strict=True):
            yield from ((number, triple) for triple in proved or ())


def _bound(pattern: Pattern, binding: dict[Unknown, Term | None]) -> Triple | None:
    s, p, o = (
        binding.get(x) if isinstance(x, Unknown) else x
        for x in (pattern.subject, pattern.predicate, pattern.object)
    )
    if not isinstance(s, URIRef) or not isinstance(p, URIRef) or o is None:
        return None
    return Triple(s, p, o)


def graphs_of(kg: KnowledgeGraph, triples: Iterable[Triple]) -> dict[Triple, str]:
    """Return the graph that holds each triple, an asserted one if there is one; "" where the store names none.

    Args:
        kg: The graph.
        triples: The triples; those that the graph does not hold are left out.
    """
    wanted = list(dict.fromkeys(triples))
    if kg.as_found:
        return {t: next(iter(kg.dataset().default), "") for t in wanted}
    found: dict[Triple, str] = {}
    spelled = {tuple(term.n3() for term in t): t for t in wanted}
    for start in range(0, len(wanted), _BATCH):
        query = queries.get("planning/graphs-of").bind(
            s_p_o=[tuple(t) for t in wanted[start : start + _BATCH]]
        )
        for row in kg.select(query):
            *terms, graph = (term for term in row if term is not None)
            triple = spelled.get(tuple(term.n3() for term in terms))
            if triple is None:
                continue
            iri = str(graph)
            if triple not in found or (kg.is_inferred(found[triple]) and not kg.is_inferred(iri)):
                found[triple] = iri
    return found
