"""How much a triple in reach is worth: rarity, precision, place, and words shared with the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from mrag.context.display import Display
from mrag.context.neighbourhood import (
    Direction,
    Statement,
    end_if_lacking,
    inverses,
    superclasses,
    superproperties,
)
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF
from mrag.text.stopwords import content_words

_TYPE = RDF + "type"


@dataclass
class ReachedTriple:
    """A triple in reach of a hit.

    Attributes:
        statement: The triple and its graph.
        seed: Place of the hit that it was reached from; -1 for a schema triple.
        hop: Steps from the hit; 0 for a schema triple.
        direction: Whether it was reached from its subject (`out`) or object (`in`).
        place: Its place among the triples of the same entity, predicate and direction.
        path: IRIs of the entities on the way, the hit first.
        asked: Whether the question names its predicate, and so asks for a triple that far.
        priority: What it is worth.
    """

    statement: Statement
    seed: int
    hop: int
    direction: Direction
    place: int
    path: tuple[str, ...]
    asked: bool = False
    priority: float = 0.0


def set_priorities(
    kg: KnowledgeGraph,
    display: Display,
    candidates: Sequence[ReachedTriple],
    *,
    damping: bool,
    question: frozenset[str],
) -> None:
    """Set the priority of every candidate.

    Args:
        kg: The knowledge graph.
        display: Shows terms, for the words they share with the question.
        candidates: The triples in reach.
        damping: Whether frequent predicates and implied triples weigh less.
        question: Words of the question; may be empty.
    """
    profile = kg.profile()
    total = math.log(2 + profile.triples)
    implied = _implied(kg, candidates) if damping else set()
    end_if_lacking(kg)
    for candidate in candidates:
        s, p, o, _ = candidate.statement
        weight = 0.9
        if p != _TYPE and damping:
            weight = 0.3 + 0.7 * math.log((2 + profile.triples) / (1 + profile.predicates.get(p, 0))) / total
        if isinstance(o, ox.Literal) and o.language and len(o.value) > 40:
            weight = 0.95
        if (s, p, str(o)) in implied and (p == _TYPE or kg.is_inferred(candidate.statement[3])):
            weight *= 0.3
        other = o.value if isinstance(o, ox.NamedNode) and candidate.direction == "out" else s
        if damping and candidate.direction == "in" and display.entity(other).startswith("<"):
            # Nodes that nobody named, such as the statement nodes of Wikidata, tell a reader nothing.
            weight *= 0.2
        weight /= 1 + 0.35 * candidate.place
        if question:
            shown = content_words(f"{display.predicate(p)} {display.term(o)} {display.entity(s)}")
            weight *= 1 + len(question & shown) / len(question)
        weight *= (0.6 if candidate.asked else 0.35) ** (candidate.hop - 1)
        candidate.priority = weight / (1 + 0.15 * candidate.seed)


def _implied(kg: KnowledgeGraph, candidates: Sequence[ReachedTriple]) -> set[tuple[str, str, str]]:
    """Triples that another in reach says already: by a sub-property, a subclass or an inverse."""
    above, back = superproperties(kg), inverses(kg)
    types: dict[str, set[str]] = {}
    implied: set[tuple[str, str, str]] = set()
    for candidate in candidates:
        s, p, o, _ = candidate.statement
        if p == _TYPE and isinstance(o, ox.NamedNode):
            types.setdefault(s, set()).add(o.value)
        implied.update((s, q, str(o)) for q in above.get(p, ()))
        if isinstance(o, ox.NamedNode) and not kg.is_inferred(candidate.statement[3]):
            implied.update(
                (o.value, q, str(ox.NamedNode(s))) for q in back.get(p, ()) if (q, o.value) != (p, s)
            )
    supers = superclasses(kg, {c for group in types.values() for c in group})
    for s, group in types.items():
        for c in group:
            # Two classes that imply each other would hide both.
            implied.update(
                (s, _TYPE, str(ox.NamedNode(d)))
                for d in supers.get(c, ())
                if d in group and c not in supers.get(d, ())
            )
    return implied
