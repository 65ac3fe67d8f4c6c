"""Reads the statements that decide class expressions: the types of things, and what links them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import pyoxigraph as ox

from mrag import queries
from mrag.cel.sparql import batches
from mrag.kg import KnowledgeGraph
from mrag.stores.base import Row
from mrag.terms import OWL, RDF, RDFS, OxTerm, Term, from_ox

Types: TypeAlias = list[tuple[Term, str]]
Edges: TypeAlias = list[tuple[Term, str, Term]]

_TYPE = RDF + "type"


def statements(kg: KnowledgeGraph, subjects: Sequence[str] | None = None) -> tuple[Types, Edges]:
    """Read the types and the statements that are not of the schema.

    Where the store can be scanned in process that is done, else there are two queries for each batch.

    Args:
        kg: The knowledge graph.
        subjects: IRIs of whose statements to read; None for all.

    Returns:
        Pairs of a term and a class, and triples.
    """
    if kg.store.capabilities.edges:
        return _scanned(kg, subjects)
    types: Types = []
    edges: Edges = []
    if subjects is None:
        types.extend(_typed(kg.select(queries.get("cel/types").text)))
        edges.extend(_linked(kg.select(queries.get("cel/edges").text)))
        return types, edges
    for batch in batches(subjects):
        types.extend(_typed(kg.select(queries.get("cel/types-of").bind(entity=batch))))
        edges.extend(_linked(kg.select(queries.get("cel/edges-of").bind(entity=batch))))
    return types, edges


def _scanned(kg: KnowledgeGraph, subjects: Sequence[str] | None) -> tuple[Types, Edges]:
    types: Types = []
    edges: Edges = []
    schema: dict[str, bool] = {}
    made: dict[OxTerm, Term] = {}

    def term(found: OxTerm) -> Term:
        known = made.get(found)
        if known is None:
            known = made[found] = from_ox(found)
        return known

    for graph in kg.dataset().default:
        for subject in (None,) if subjects is None else subjects:
            for quad in kg.store.edges(graph, s=subject):
                p, o = quad.predicate.value, quad.object
                if isinstance(o, ox.Triple) or isinstance(quad.subject, ox.Triple):
                    continue
                if p == _TYPE:
                    if isinstance(o, ox.NamedNode):
                        types.append((term(quad.subject), o.value))
                    continue
                if p not in schema:
                    schema[p] = p.startswith((RDF, RDFS, OWL))
                if not schema[p]:
                    edges.append((term(quad.subject), p, term(o)))
    return types, edges


def _typed(rows: Iterable[Row]) -> Types:
    return [(x, str(c)) for x, c in rows if x is not None]


def _linked(rows: Iterable[Row]) -> Edges:
    return [(s, str(p), o) for s, p, o in rows if s is not None and o is not None]
