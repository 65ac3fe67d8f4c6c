"""The triples that a computed answer rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

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


def proof(
    kg: KnowledgeGraph,
    plan: Plan,
    rows: Sequence[Sequence[Term | None]] = (),
    *,
    max_triples: int = 40,
    limits: Limits | None = None,
) -> list[Triple]:
    """Return the triples that rows of a plan's result rest on, the first rows first.

    For a count they are the triples of its members, as many as fit; for yes those of one witness.

    Args:
        kg: The graph.
        plan: The plan.
        rows: The rows, with a cell for each column of the plan; none for yes or no.
        max_triples: Maximum number of triples.
        limits: Seconds and rows of each query.
    """
    found: dict[Triple, None] = {}
    for block, bound in _blocks(plan, rows):
        for triple in _triples(kg, block, bound, max_triples, limits):
            found[triple] = None
        if len(found) >= max_triples:
            break
    return list(found)[:max_triples]


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
) -> Iterator[Triple]:
    patterns = [*block.patterns, *(p for blocks in block.either for b in blocks for p in b.patterns)]
    places = [x for p in block.patterns for x in (p.subject, p.predicate, p.object)]
    unknowns = sorted({x for x in places if isinstance(x, Unknown)})
    if not unknowns:
        yield from (t for p in patterns if (t := _bound(p, {})) is not None)
        return
    alternatives = [
        Block(conditions=tuple(Comparison(u, "=", cell) for u, cell in sorted(b.items()) if u in unknowns))  # type: ignore[arg-type]
        for b in bound
    ]
    alternatives = [a for a in alternatives if a.conditions]
    if alternatives:
        block = replace(block, either=(*block.either, tuple(alternatives)))
    columns = tuple(Column(u, u.name) for u in unknowns)
    result = run(kg, Plan(block, columns, limit=most), limits=limits)
    at = {u: result.columns.index(u.name) for u in unknowns}
    for row in result.rows:
        binding = {u: row[i] for u, i in at.items()}
        for pattern in patterns:
            triple = _bound(pattern, binding)
            if triple is not None:
                yield triple


def _bound(pattern: Pattern, binding: dict[Unknown, Term | None]) -> Triple | None:
    s, p, o = (
        binding.get(x) if isinstance(x, Unknown) else x
        for x in (pattern.subject, pattern.predicate, pattern.object)
    )
    if not isinstance(s, URIRef) or not isinstance(p, URIRef) or o is None:
        return None
    return Triple(s, p, o)


def graphs_of(kg: KnowledgeGraph, triples: Iterable[Triple]) -> dict[Triple, str]:
    """Return the graph that holds each triple, an asserted one first; "" where the store names none.

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
