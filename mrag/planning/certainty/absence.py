"""Whether it is an answer that nothing of a kind is there, or that nothing keeps a bound."""

from __future__ import annotations

from rdflib import RDF, Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.loosening import Nothing
from mrag.planning.plan import Block, Comparison, Plan
from mrag.planning.schema import Schema
from mrag.rdf import queries


def may_be_absent(kg: KnowledgeGraph, plan: Plan, schema: Schema) -> bool:
    """Return whether a plan lists things of a kind that are related to named things as others are.

    That no antibiotic treats migraine is an answer where other drugs treat diseases. No stream flows
    through a market town either, but where streams flow through counties alone, that was hardly asked; and
    what is cited by a paper may be what cites it.

    Args:
        kg: The graph.
        plan: A plan that finds nothing.
        schema: The schema.
    """
    shown, patterns = {column.value for column in plan.columns}, plan.where.patterns
    listed = {str(p.object) for p in patterns if p.predicate == RDF.type and p.subject in shown}
    if not listed or plan.where != Block(patterns) or plan.having:
        return False
    ends = [(p, end) for p in patterns for end in (p.subject, p.object) if p.predicate != RDF.type]
    named = sorted({str(end) for _, end in ends if isinstance(end, URIRef)})
    kinds: dict[str, set[str]] = {iri: set() for iri in named}
    for text in queries.get("planning/classes-of").batches("thing", named):
        for thing, cls in kg.select(text):
            kinds[str(thing)].add(str(cls))
    if any(listed & some for some in kinds.values()):
        return False
    targets = {(edge.property, edge.target) for edge in schema.edges}
    sources = {(edge.property, edge.source) for edge in schema.edges}
    return all(
        any((str(p.predicate), kind) in (targets if end == p.object else sources) for kind in kinds[str(end)])
        for p, end in ends
        if isinstance(end, URIRef)
    )


def excludes_by_reading(plan: Plan, nothing: Nothing) -> bool:
    """Return whether nothing keeps a bound because of how it was read, and not of what there is.

    No price is above ten and below five: two prices were meant. And if what comes nearest to a bound keeps
    it, what was bounded is not what was asked for.

    Args:
        plan: A plan that finds nothing.
        nothing: Why it does.
    """
    bounds = [c for c in (*plan.where.conditions, *plan.having) if isinstance(c, Comparison)]
    for one in bounds:
        least = _number(one.right) if one.relation in (">", ">=") else None
        mosts = [_number(c.right) for c in bounds if c.left == one.left and c.relation in ("<", "<=")]
        if least is not None and any(most is not None and most <= least for most in mosts):
            return True
    bound, nearest = nothing.part, nothing.nearest
    if nearest is None or not isinstance(bound, Comparison) or (limit := _number(bound.right)) is None:
        return False
    at = next(n for n, column in enumerate(nearest.plan.columns) if column.value == nearest.value)
    values = [_number(row[at]) for row in nearest.result.rows]
    return any(
        value is not None and (value > limit if nearest.greatest else value < limit) for value in values
    )


def _number(value: object) -> float | None:
    if not isinstance(value, Literal) or value.datatype is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
