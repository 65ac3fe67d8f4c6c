"""Reading the neighbourhood of an entity: without a query where the store allows it.

A hub is never read whole. When an entity has more edges than `scan`, each predicate is read on its
own and no further than its share, so that the cost of an entity is bounded whatever its degree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import cast

import pyoxigraph as ox

from mrag.context.asking import EdgeBounds
from mrag.context.edges import TEXTS, Direction, Edges, Statement, share_of
from mrag.context.reading import in_passes, kept, reader_of
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries

__all__ = [
    "Direction",
    "Edges",
    "Statement",
    "inverses",
    "read",
    "read_axioms",
    "read_of",
    "superclasses",
    "superproperties",
]

_SORTED = 256


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
        return _asked(kg, entity, direction, EdgeBounds(scan, share))
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
    entity, wanted = str(entity), frozenset(predicates)
    if kg.store.capabilities.edges:
        return _by_predicate(kg, entity, direction, share=scan, only=wanted)
    return _asked(kg, entity, direction, EdgeBounds(scan, scan), wanted)


def read_axioms(
    kg: KnowledgeGraph, symbol: str, predicates: Iterable[str], *, scan: int, share: int
) -> tuple[Statement, ...]:
    """Read the triples of some predicates that begin at a class or property.

    Of a server they are kept as long as this process does not change the triples, because every question
    needs them and they change seldom.

    Args:
        kg: The knowledge graph; both its layers are read.
        symbol: IRI of the class or property.
        predicates: IRIs of the predicates.
        scan: Edges up to which it is read whole.
        share: Most edges of one predicate when it is a hub.
    """

    def make() -> tuple[Statement, ...]:
        edges = read(kg, symbol, "out", scan=scan, share=share)
        return tuple(x for x in edges.statements if x[1] in predicates)

    return make() if kg.store.capabilities.edges else kept(kg, "axioms", (symbol, scan, share), make)


def _asked(
    kg: KnowledgeGraph,
    entity: str,
    direction: Direction,
    bounds: EdgeBounds,
    only: frozenset[str] | None = None,
) -> Edges:
    def work() -> Edges:
        reader = reader_of(kg)
        assert reader is not None
        return reader.edges(entity, direction, bounds, only)

    return in_passes(kg, work)


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
            limit = share + 1 if direction == "in" else TEXTS
            read = _some(kg, graph, entity, direction, limit if ordered else None, predicate)
            part, more = share_of(read, share, ordered=ordered)
            found.extend(part)
            if more:
                cut.add(predicate)
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
    known = cache.get(name)
    if known is None:
        found: dict[str, set[str]] = {}
        for p, q in kg.select(queries.get(name).text):
            found.setdefault(str(p), set()).add(str(q))
        known = cache[name] = {p: frozenset(qs) for p, qs in found.items()}
    return cast("dict[str, frozenset[str]]", known)


def superclasses(kg: KnowledgeGraph, classes: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the named superclasses of each class."""
    if (reader := reader_of(kg)) is not None:
        return reader.superclasses(sorted(set(classes)))
    found: dict[str, set[str]] = {}
    wanted: Sequence[str] = sorted(set(classes))
    for start in range(0, len(wanted), 500):
        query = queries.get("context/superclasses").bind(**{"class": list(wanted[start : start + 500])})
        for c, d in kg.select(query):
            found.setdefault(str(c), set()).add(str(d))
    return {c: frozenset(ds) for c, ds in found.items()}
