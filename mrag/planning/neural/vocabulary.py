"""The few values that a property takes, or the few things of a class: what a model may choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from rdflib import RDF, Literal, URIRef

from mrag.context.display import Display
from mrag.errors import StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.compiler import to_sparql
from mrag.planning.plan import Block, Column, Pattern, Plan, Unknown
from mrag.planning.schema import Schema
from mrag.stores.base import Limits, SelectResult

FEW: Final = 8
"""Most values that are told."""
_LARGE: Final = 200_000
"""Triples from which on a property is not looked through for them."""
_SECONDS: Final = 1.0

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Vocabulary: TypeAlias = Callable[[str], Pairs]
"""Returns the values of a property, or the things of a class: texts, each with an entity or ""."""


def without_vocabulary(iri: str) -> Pairs:
    """Return no values."""
    return ()


def vocabulary_of(kg: KnowledgeGraph, schema: Schema) -> Vocabulary:
    """Return what tells the values of properties of texts, and the things of classes, that have few.

    Args:
        kg: The graph.
        schema: Its schema.
    """

    def few(iri: str) -> Pairs:
        if not iri:
            return ()  # things without a class are not told from others by a query
        info, cls = schema.properties.get(iri), schema.classes.get(iri)
        size = info.objects if info is not None else cls.count if cls is not None else 0
        if not 0 < size <= FEW or (info is not None and info.triples > _LARGE):
            return ()
        return kg.cached(f"few values of {iri}", lambda: _read(kg, schema, iri))

    return few


def _read(kg: KnowledgeGraph, schema: Schema, iri: str) -> Pairs:
    thing, value = Unknown("thing"), Unknown("value")
    told = value if iri in schema.properties else thing
    pattern = Pattern(thing, URIRef(iri), value) if told is value else Pattern(thing, RDF.type, URIRef(iri))
    query = to_sparql(Plan(Block((pattern,)), (Column(told, told.name),), limit=FEW + 1))
    try:
        found = kg.store.bounded(query, kg.dataset(), Limits(_SECONDS, FEW + 1, 1 << 20))
    except StoreError:
        return ()
    assert isinstance(found, SelectResult)
    terms = [term for (term,) in found]
    if len(terms) > FEW:
        return ()
    if told is value:
        return tuple((str(t), "") for t in terms if isinstance(t, Literal) and t.datatype is None)
    display = Display(kg)
    return tuple((display.entity(str(t)), str(t)) for t in terms if isinstance(t, URIRef))
