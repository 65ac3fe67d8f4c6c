"""The names of a graph's things after changes that name nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked
from mrag.planning.lexical.gathering import NamedThings, is_name, is_small, valued
from mrag.planning.profile.following import KnownSchema, changed_since
from mrag.planning.profile.keeping import kept_before
from mrag.planning.profiling import local_name
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import RDF
from mrag.text.names import is_place

_TYPE: Final = RDF + "type"


@dataclass(frozen=True)
class KnownNames:
    """The names of a state of a graph.

    Attributes:
        revision: The revision of the graph.
        predicates: How many triples each of its predicates has.
        schema: Its schema.
        things: The names.
    """

    revision: int
    predicates: Mapping[str, int]
    schema: Schema
    things: NamedThings


_latest: WeakKeyDictionary[KnowledgeGraph, KnownNames] = WeakKeyDictionary()


def remember_names(kg: KnowledgeGraph, schema: Schema, things: NamedThings, revision: int) -> None:
    """Keep the names of a graph in memory, for its later states."""
    if kg.record.kept and revision == kg.revision:
        _latest[kg] = KnownNames(revision, kg.profile().predicates, schema, things)


def names_as_before(kg: KnowledgeGraph, schema: Schema) -> NamedThings | None:
    """Return the names that were last read of a graph, if all changes since left them as they are.

    Args:
        kg: The knowledge graph.
        schema: Its present schema.
    """
    known = _latest.get(kg)
    if known is None and (before := kept_before(kg)) is not None:
        found = KnownSchema.of(*before)
        known = KnownNames(found.revision, found.predicates, found.schema, NamedThings.of(before[1]))
    if known is None or not _alike(known, schema):
        return None
    changed = changed_since(kg, known.revision, known.predicates)
    # Who has lost a value is not kept, so a value that nothing has any more could not be told from others.
    if changed is None or not changed.properties.isdisjoint(known.things.predicates):
        return None
    named = _names_of(known.things, changed.entities)
    rows = kg.select(queries.get("planning/vocabulary").text) if changed.entities else ()
    skip = {*schema.classes, *schema.properties, *(str(term) for (term,) in rows)}
    for entity in changed.entities:
        now = set() if entity in skip else _present_names(kg, schema, entity)
        if now != named.get(entity, set()):
            return None
    return known.things


def _alike(known: KnownNames, schema: Schema) -> bool:
    old = known.schema
    return (
        old.label_properties == schema.label_properties
        and old.classes.keys() == schema.classes.keys()
        and old.properties.keys() == schema.properties.keys()
        and is_small(old) == is_small(schema)
        and known.things.predicates == tuple(valued(schema))
    )


def _names_of(things: NamedThings, entities: Iterable[str]) -> dict[str, set[str]]:
    """Return the names that some entities had."""
    wanted = {e.encode("utf-8", "surrogatepass"): e for e in entities}
    data, start, owners = things.terms.data.tobytes(), 0, dict[int, str]()
    for at, end in enumerate(things.terms.ends[: things.entities].tolist()):
        if (entity := wanted.get(data[start:end])) is not None:
            owners[at] = entity
        start = end
    found = defaultdict[str, set[str]](set)
    for row in np.flatnonzero(np.isin(things.table.owners, list(owners))).tolist():
        found[owners[int(things.table.owners[row])]].add(things.table.texts[row])
    return found


def _present_names(kg: KnowledgeGraph, schema: Schema, entity: str) -> set[str] | None:
    """Return the names of a term that is no vocabulary; None where they would have to be looked up."""
    graphs = kg.dataset().default
    quads = (
        q for graph in graphs for p in schema.label_properties for q in kg.store.edges(graph, s=entity, p=p)
    )
    texts = {quad.object.value for quad in quads if isinstance(quad.object, ox.Literal)}
    if names := {" ".join(text.split()) for text in texts if is_name(text)}:
        return names
    if not is_asked(entity) or is_place(entity):
        return set()
    if not is_small(schema):
        return None
    for graph in graphs:
        about = (q.predicate.value for q in kg.store.edges(graph, s=entity))
        to = (q.predicate.value for q in kg.store.edges(graph, o=entity))
        if any(p in schema.properties or p == _TYPE for p in about) or any(
            p in schema.properties for p in to
        ):
            return {local_name(entity)}
    return set()
