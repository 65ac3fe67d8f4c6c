"""Neighbourhoods from a store that answers queries only: many entities by a few queries.

Degrees are asked for first, so that a hub is never read whole: what lies below the limit comes in one
query, a predicate with more than its share in one of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, cast

import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import queries
from mrag.rdf.terms import OxTerm, Term, to_ox
from mrag.stores.base import Dataset

Direction = Literal["out", "in"]
Statement: TypeAlias = tuple[str, str, OxTerm, str]
"""Subject IRI, predicate IRI, object, graph IRI."""

_T = TypeVar("_T")
_BATCH = 200
_ROWS = 8000
"""Most rows of one answer; below the limits at which servers cut answers."""
_KEPT = "edges"


@dataclass
class _Read:
    """What was read of one entity in one direction."""

    degrees: dict[str, int] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    share: int | None = None

    @property
    def total(self) -> int:
        return sum(self.degrees.values())


_Cache: TypeAlias = dict[tuple[str, Direction], _Read]


def forget(kg: KnowledgeGraph) -> None:
    """Forget what was read, because others may have written since."""
    kg.cache.pop(_KEPT, None)


def prefetch(
    kg: KnowledgeGraph, entities: Iterable[str], direction: Direction, *, scan: int, share: int
) -> None:
    """Read the edges of many entities, to be given by `edges` afterwards.

    Args:
        kg: The knowledge graph.
        entities: IRIs.
        direction: `out` for triples with them as subject, `in` as object.
        scan: Edges up to which an entity is read whole.
        share: Most edges of one predicate when it is a hub.
    """
    if kg.store.capabilities.edges:
        return
    cache = cast("_Cache", kg.cache.setdefault(_KEPT, {}))
    wanted = [e for e in dict.fromkeys(map(str, entities)) if not _serves(cache.get((e, direction)), share)]
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        found = {e: _Read() for e in batch}
        for entity, p, n in kg.select(queries.get(f"context/{direction}-degree").bind(entity=batch)):
            found[str(entity)].degrees[str(p)] = int(str(n))
        whole = [e for e in batch if 0 < found[e].total <= scan]
        # So many entities at a time that no answer is cut.
        for part in _parts(whole, [found[e].total for e in whole]):
            _fill(kg, found, direction, direction, {"entity": part})
        hubs = [e for e in batch if found[e].total > scan]
        pairs = [(e, *degree) for e in hubs for degree in sorted(found[e].degrees.items())]
        small = [(e, p) for e, p, count in pairs if count <= share]
        for few in _parts(small, [share] * len(small)):
            _fill(kg, found, direction, f"{direction}-of", {"entity_p": few})
        for e, name, count in pairs:
            if count > share:
                limit = _TEXTS if direction == "out" else share
                _fill(kg, found, direction, f"{direction}-of", {"entity_p": [(e, name)]}, limit)
        for e in hubs:
            found[e].share = share
        cache.update({(e, direction): read for e, read in found.items()})


_TEXTS = 256
"""Texts of one property that are read at most, because they may come in dozens of languages."""


def edges(
    kg: KnowledgeGraph, entity: str, direction: Direction, *, scan: int, share: int
) -> tuple[tuple[Statement, ...], frozenset[str]]:
    """Return the edges of an entity, and the predicates of which there are more.

    Args:
        kg: The knowledge graph.
        entity: IRI of the entity.
        direction: `out` or `in`.
        scan: Edges up to which it is given whole.
        share: Most edges of one predicate when it is a hub.
    """
    cache = cast("_Cache", kg.cache.setdefault(_KEPT, {}))
    if not _serves(cache.get((entity, direction)), share):
        prefetch(kg, [entity], direction, scan=scan, share=share)
    read = cache[entity, direction]
    if read.total <= scan:
        return tuple(read.statements), frozenset()
    kept: list[Statement] = []
    groups: dict[tuple[str, str], list[Statement]] = {}
    for statement in read.statements:
        if isinstance(statement[2], ox.Literal) and statement[2].language:
            kept.append(statement)
        else:
            groups.setdefault((statement[1], statement[3]), []).append(statement)
    cut = {p for (p, _), group in groups.items() if len(group) > share or read.degrees.get(p, 0) > _TEXTS}
    if direction == "in":
        cut |= {p for p, n in read.degrees.items() if n > share}
    for group in groups.values():
        kept.extend(group[:share])
    return tuple(kept), frozenset(cut)


def _serves(read: _Read | None, share: int) -> bool:
    return read is not None and (read.share is None or read.share >= share)


def _fill(
    kg: KnowledgeGraph,
    found: dict[str, _Read],
    direction: Direction,
    name: str,
    values: Mapping[str, Sequence[Any]],
    limit: int = _ROWS,
) -> None:
    text = queries.get(f"context/{name}").bind(limit=limit, **values)
    dataset = kg.dataset()
    for graph in dataset.default:
        # One graph at a time tells which one a triple is in, also where layers have no names.
        for entity, p, other in kg.store.select(text, Dataset((graph,))):
            if (statement := _statement(str(entity), p, other, graph, direction)) is not None:
                found[str(entity)].statements.append(statement)


def _statement(
    entity: str, p: Term | None, other: Term | None, graph: str, direction: Direction
) -> Statement | None:
    end = None if other is None else to_ox(other)
    if direction == "out":
        return None if end is None else (entity, str(p), end, graph)
    return (end.value, str(p), ox.NamedNode(entity), graph) if isinstance(end, ox.NamedNode) else None


def _parts(items: Sequence[_T], sizes: Sequence[int]) -> list[list[_T]]:
    parts: list[list[_T]] = []
    left = 0
    for item, size in zip(items, sizes, strict=True):
        if size > left:
            parts.append([])
            left = _ROWS
        parts[-1].append(item)
        left -= size
    return parts
