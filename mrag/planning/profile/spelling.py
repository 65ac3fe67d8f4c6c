"""How the few texts of large properties are written, so that not each of them has to be compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from rdflib import Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.compiler import Spelt, to_sparql
from mrag.planning.following.editing import walk
from mrag.planning.plan import Block, Column, Contains, Pattern, Place, Plan, Unknown
from mrag.planning.schema import Schema
from mrag.stores.base import Limits, SelectResult

_LARGE: Final = 20_000
"""Triples from which on a property is worth it."""
_FEW: Final = 50
"""Most texts of such a property."""


def spelt(kg: KnowledgeGraph, plan: Plan, schema: Schema, limits: Limits) -> Spelt:
    """Return how the texts that a plan asks for are written, for properties that have few texts.

    Args:
        kg: The graph.
        plan: The plan.
        schema: The schema of the graph.
        limits: Seconds that it may take to look through a property, once for each state of the graph.

    Raises:
        QueryTimeout: At the deadline.
        StoreError: If the store cannot answer.
    """
    found = dict[tuple[Place, str], tuple[str, ...]]()
    for name, text in _asked(plan):
        info = schema.properties.get(str(name))
        if info is None or info.triples < _LARGE or info.objects > _FEW or not text.isascii():
            continue
        texts = kg.cached(f"texts of {name}", lambda name=name: _texts(kg, name, limits))  # type: ignore[misc]
        if written := tuple(t for t in texts if t.lower() == text.lower()):
            found[name, text] = written
    return found


def _asked(plan: Plan) -> Iterator[tuple[URIRef, str]]:
    """Yield properties and the whole texts that their values should be."""
    for block in (part for part in walk(plan) if isinstance(part, Block)):
        whole = [c for c in block.conditions if isinstance(c, Contains) and c.position == "whole"]
        for pattern, one in product(block.patterns, whole):
            if isinstance(pattern.predicate, URIRef) and pattern.object == one.value:
                yield pattern.predicate, one.text


def _texts(kg: KnowledgeGraph, name: URIRef, limits: Limits) -> tuple[str, ...]:
    """Return all texts of a property; none where there are many, or some that engines may read otherwise."""
    thing, value = Unknown("thing"), Unknown("value")
    plan = Plan(Block((Pattern(thing, name, value),)), (Column(value, "value"),), limit=_FEW + 1)
    found = kg.store.bounded(to_sparql(plan, total=False), kg.dataset(), limits)
    assert isinstance(found, SelectResult)
    terms = [term for (term,) in found]
    plain = all(
        not isinstance(t, Literal) or (str(t).isascii() and t.language is None and t.datatype is None)
        for t in terms
    )
    return tuple(str(t) for t in terms if isinstance(t, Literal)) if plain and len(terms) <= _FEW else ()
