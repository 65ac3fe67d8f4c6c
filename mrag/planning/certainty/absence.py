"""Whether it is an answer that nothing of a kind is there."""

from __future__ import annotations

from rdflib import RDF, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.plan import Block, Plan
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
