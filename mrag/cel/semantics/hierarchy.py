"""The classes and properties above others, and whether a graph holds what follows from them."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy

import numpy as np

from mrag.cel.semantics.instances import World
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OWL, RDFS, SKOLEM
from mrag.text.grammar import counted

Pairs = list[tuple[str, str]]


def hierarchy(kg: KnowledgeGraph) -> tuple[Pairs, Pairs]:
    """Return pairs of a class and a superclass, and of a property and a property above it.

    They are read once and kept until the triples change.
    """
    found = kg.cache.get("cel-hierarchy")
    if not isinstance(found, tuple):
        classes: Pairs = []
        properties: Pairs = []
        for sub, relation, above in kg.select(queries.get("cel/hierarchy").text):
            (classes if str(relation) == RDFS + "subClassOf" else properties).append((str(sub), str(above)))
        kg.cache["cel-hierarchy"] = found = (classes, properties)
    return found


def missing_inferences(kg: KnowledgeGraph, world: World) -> list[str]:
    """Describe where the instances of a class lack the superclasses that the graph gives it.

    Hypotheses see what the dataset holds, so without inference `Parent` would miss the fathers.
    """
    missing: list[tuple[int, str, str]] = []
    nothing = np.zeros(world.size, dtype=bool)
    for sub, above in hierarchy(kg)[0]:
        if sub in world.classes and not above.startswith((OWL, SKOLEM)):
            lacking = int((world.classes[sub] & ~world.classes.get(above, nothing)).sum())
            if lacking:
                missing.append((-lacking, sub, above))
    if not missing:
        return []
    lacking, sub, above = min(missing)
    return [
        f"Inferred triples are missing: {counted(-lacking, 'instance')} of {sub} "
        f"{'is' if lacking == -1 else 'are'} not in its superclass {above}. "
        "Reason over the graph first."
    ]


def without(world: World, names: Collection[str]) -> World:
    """Return a world in which some classes are not known; its individuals stay the same."""
    if not names:
        return world
    found = copy(world)
    found.classes = {name: held for name, held in world.classes.items() if name not in names}
    found.named = [name for name in world.named if name not in names]
    return found
