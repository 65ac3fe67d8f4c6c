"""What small changes of a graph leave as it was: only what they touch is read again.

The store keeps which entities the latest changes touched (`mrag.graph.record`). A property is counted again
if they have it now, in either direction, or if it has another number of triples than before: what came is
there to be seen, and what went without as much coming changes the number.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import touched_since
from mrag.planning.profile.adjusting import adjusted, alike_sized
from mrag.planning.profile.keeping import kept_before, schema_of_array
from mrag.planning.profile.usage import Edges, PropertyUsage, exactly_counted
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import RDF
from mrag.storage.arrays import Arrays
from mrag.stores.oxigraph import OxigraphStore

_MOST = 2_000
"""Touched entities from which on all is read, which is then hardly slower."""


@dataclass(frozen=True)
class KnownSchema:
    """What was read of a state of a graph.

    Attributes:
        revision: The revision of the graph.
        predicates: How many triples each of its predicates has.
        labels: The properties that name things.
        classes: How many members each class has.
        uses: How its properties are used.
        edges: Which classes they link.
        schema: What was made of that.
    """

    revision: int
    predicates: Mapping[str, int]
    labels: tuple[str, ...]
    classes: Mapping[str, int]
    uses: Mapping[str, PropertyUsage]
    edges: Edges
    schema: Schema

    def array(self) -> npt.NDArray[np.uint8]:
        """Return it as an array to keep, without its schema, which is kept beside."""
        value = {
            "predicates": dict(self.predicates),
            "labels": self.labels,
            "classes": dict(self.classes),
            "uses": [asdict(use) for use in self.uses.values()],
            "edges": [[*edge, n] for edge, n in self.edges.items()],
        }
        return np.frombuffer(json.dumps(value).encode(), np.uint8)

    @classmethod
    def of(cls, revision: int, arrays: Arrays) -> KnownSchema:
        """Return what `array` gave, from all that is kept of a revision."""
        value: dict[str, Any] = json.loads(arrays["known"].tobytes())
        uses = [PropertyUsage(**use) for use in value["uses"]]
        return cls(
            revision,
            value["predicates"],
            tuple(value["labels"]),
            value["classes"],
            {use.iri: use for use in uses},
            {(source, p, target): n for source, p, target, n in value["edges"]},
            schema_of_array(arrays["schema"]),
        )


@dataclass(frozen=True)
class ChangedParts:
    """What has changed since a state of a graph.

    Attributes:
        properties: The predicates whose triples may be others.
        entities: The entities that changes touched.
        texts: Those of them whose texts may be others.
        came: Marks of triples that came, see `mrag.graph.record.mark`.
    """

    properties: frozenset[str]
    entities: frozenset[str]
    texts: frozenset[str] = frozenset()
    came: frozenset[str] = frozenset()


_latest: WeakKeyDictionary[KnowledgeGraph, KnownSchema] = WeakKeyDictionary()


def remember(kg: KnowledgeGraph, known: KnownSchema) -> None:
    """Keep in memory what was read of a graph, for its later states."""
    if kg.record.kept:
        _latest[kg] = known


def remembered(kg: KnowledgeGraph) -> KnownSchema | None:
    """Return what was last read of a graph, in this process or before; None if nothing is known of it."""
    if (known := _latest.get(kg)) is None and (before := kept_before(kg)) is not None:
        known = KnownSchema.of(*before)
    return known


def follows_changes(kg: KnowledgeGraph) -> bool:
    """Return whether all changes of a graph are known; on a server others may change it."""
    return isinstance(kg.store, OxigraphStore) and kg.record.kept


def changed_since(kg: KnowledgeGraph, revision: int, predicates: Mapping[str, int]) -> ChangedParts | None:
    """Return what may be other than it was at a revision; None where that is not known.

    Args:
        kg: The knowledge graph.
        revision: The earlier revision.
        predicates: How many triples each predicate had.
    """
    if not follows_changes(kg) or revision > kg.revision:
        return None
    touched = touched_since(kg.store, kg.iri, revision, kg.revision)
    if touched is None or len(touched.entities) > _MOST:
        return None
    now = kg.profile().predicates
    found = {p for p in {*now, *predicates} if now.get(p, 0) != predicates.get(p, 0)}
    for graph in kg.dataset().default:
        for entity in touched.entities:
            found.update(quad.predicate.value for quad in kg.store.edges(graph, s=entity))
    for text in queries.get("context/in-degree").batches("entity", sorted(touched.entities)):
        found.update(str(p) for _, p, _ in kg.select(text))
    return ChangedParts(frozenset(found), touched.entities, touched.texts, touched.came)


def unchanged(
    kg: KnowledgeGraph,
    known: KnownSchema,
    changed: ChangedParts,
    counts: Mapping[str, int],
    classes: Mapping[str, int],
) -> tuple[dict[str, PropertyUsage], Edges]:
    """Return how properties are used that need not be counted again, and the edges that these make.

    Args:
        kg: The knowledge graph.
        known: What was read of the earlier state.
        changed: What has changed since.
        counts: How many triples each property has now.
        classes: How many members each class has now.
    """
    # Of a property with very many triples members of classes are looked at, so these must be as they were.
    same = alike_sized(known.classes, classes)
    before, now = exactly_counted({p: use.triples for p, use in known.uses.items()}), exactly_counted(counts)
    uses = {
        p: copy.deepcopy(use)
        for p, use in known.uses.items()
        if p in counts and p not in changed.properties and (p in before) == (p in now) and (p in now or same)
    }
    edges = {edge: n for edge, n in known.edges.items() if edge[1] in uses}
    touched = {p for p in counts if p not in uses and (p in before) == (p in now) and (p in now or same)}
    typed = kg.profile().predicates.get(RDF + "type", 0) - known.predicates.get(RDF + "type", 0)
    more, links = adjusted(
        kg, known.uses, known.edges, counts, touched, changed.entities, changed.came, typed
    )
    return {**uses, **more}, {**edges, **links}
