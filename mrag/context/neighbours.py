"""Reading the neighbourhood of an entity: without a query where the store allows it.

A hub is never read whole. When an entity has more edges than `scan`, each predicate is read on its
own and no further than its share, so that the cost of an entity is bounded whatever its degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import pyoxigraph as ox

from mrag.context import remote
from mrag.context.remote import Direction, Statement, prefetch
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries

__all__ = [
    "Direction",
    "Edges",
    "Statement",
    "inverses",
    "prefetch",
    "read",
    "read_of",
    "superclasses",
    "superproperties",
]

_SORTED = 256
_LANGUAGES = 256
"""Texts of one property that are read at most."""


@dataclass(frozen=True)
class Edges:
    """The edges of one entity in one direction.

    Attributes:
        statements: Those read.
        cut: Predicates of which there are more than were read.
    """

    statements: tuple[Statement, ...]
    cut: frozenset[str] = frozenset()


def read(kg: KnowledgeGraph, entity: str, direction: Direction, *, scan: int, share: int) -> Edges:
    """Read the edges of an entity, bounded.

    Args:
        kg: The knowledge graph; both its layers are read.
        entity: IRI of the entity.
        direction: `out` for triples with it as subject, `in` as object.
        scan: Edges up to which it is read whole.
        share: Most edges of one predicate when it is a hub.
    """
    entity = str(entity)
    if not kg.store.capabilities.edges:
        return Edges(*remote.edges(kg, entity, direction, scan=scan, share=share))
    found: list[Statement] = []
    for graph in kg.dataset().default:
        found.extend(_some(kg, graph, entity, direction, scan + 1 - len(found)))
        if len(found) > scan:
            return _by_predicate(kg, entity, direction, share=share)
    return Edges(tuple(found))


def read_of(
    kg: KnowledgeGraph, entity: str, direction: Direction, predicates: Iterable[str], *, scan: int
) -> Edges:
    """Read the edges of an entity that have one of some predicates, at most `scan` of each.

    Args:
        kg: The knowledge graph; both its layers are read.
        entity: IRI of the entity.
        direction: `out` for triples with it as subject, `in` as object.
        predicates: IRIs of the predicates.
        scan: Most edges of one predicate.
    """
    wanted = frozenset(predicates)
    if kg.store.capabilities.edges:
        return _by_predicate(kg, entity, direction, share=scan, only=wanted)
    edges, cut = remote.edges(kg, entity, direction, scan=scan, share=scan)
    return Edges(tuple(x for x in edges if x[1] in wanted), cut & wanted)


def _by_predicate(
    kg: KnowledgeGraph, entity: str, direction: Direction, *, share: int, only: frozenset[str] | None = None
) -> Edges:
    found: list[Statement] = []
    cut: set[str] = set()
    counts = kg.profile().predicates
    for predicate, count in sorted((p, n) for p, n in counts.items() if only is None or p in only):
        # A small predicate is read whole and sorted, so that every store gives the same share of it.
        ordered = kg.store.capabilities.ordered and count > _SORTED
        for graph in kg.dataset().default:
            # A text may come in dozens of languages, of which the caller wants one.
            limit = share + 1 if direction == "in" else _LANGUAGES
            part = _some(kg, graph, entity, direction, limit if ordered else None, predicate)
            texts = [x for x in part if isinstance(x[2], ox.Literal) and x[2].language]
            part = [x for x in part if not (isinstance(x[2], ox.Literal) and x[2].language)]
            if len(part) > share:
                cut.add(predicate)
                if not ordered:
                    part.sort(key=_order)
            found.extend(texts[:_LANGUAGES])
            found.extend(part[:share])
    return Edges(tuple(found), frozenset(cut))


def _some(
    kg: KnowledgeGraph,
    graph: str,
    entity: str,
    direction: Direction,
    limit: int | None,
    predicate: str | None = None,
) -> list[Statement]:
    """Read at most so many edges of one graph. The known end is not asked for again: it is the slow part."""
    if direction == "out":
        quads = islice(kg.store.edges(graph, s=entity, p=predicate), limit)
        return [
            (entity, q.predicate.value, q.object, graph) for q in quads if type(q.object) is not ox.Triple
        ]
    quads = islice(kg.store.edges(graph, p=predicate, o=entity), limit)
    end = ox.NamedNode(entity)
    subjects = ((q.subject, q.predicate) for q in quads)
    return [(s.value, p.value, end, graph) for s, p in subjects if type(s) is ox.NamedNode]


def _order(statement: Statement) -> tuple[str, str]:
    return statement[0], str(statement[2])


def superproperties(kg: KnowledgeGraph) -> dict[str, frozenset[str]]:
    """Return which properties each property implies."""
    return _pairs(kg, "context/superproperties")


def inverses(kg: KnowledgeGraph) -> dict[str, frozenset[str]]:
    """Return which properties say the same the other way round."""
    return _pairs(kg, "context/inverses")


def _pairs(kg: KnowledgeGraph, name: str) -> dict[str, frozenset[str]]:
    # Axioms change seldom and every expansion needs them.
    # Where another thread changes the triples meanwhile, what is found here belongs to those of before.
    cache = kg.cache
    kept = cache.get(name)
    if kept is None:
        found: dict[str, set[str]] = {}
        for p, q in kg.select(queries.get(name).text):
            found.setdefault(str(p), set()).add(str(q))
        kept = cache[name] = {p: frozenset(qs) for p, qs in found.items()}
    return cast("dict[str, frozenset[str]]", kept)


def superclasses(kg: KnowledgeGraph, classes: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the named superclasses of each class."""
    found: dict[str, set[str]] = {}
    wanted: Sequence[str] = sorted(set(classes))
    for start in range(0, len(wanted), 500):
        query = queries.get("context/superclasses").bind(**{"class": list(wanted[start : start + 500])})
        for c, d in kg.select(query):
            found.setdefault(str(c), set()).add(str(d))
    return {c: frozenset(ds) for c, ds in found.items()}
