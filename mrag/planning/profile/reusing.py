"""The names of a graph's things after changes, by what these touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import is_asked, name_part, whole_name
from mrag.graph.record import mark
from mrag.language.names import is_place
from mrag.planning.lexical.names import (
    NamedThings,
    changed_things,
    counts_of,
    is_name,
    is_small,
    is_value,
    links,
    texts_of,
    unnamed_classes,
    valued,
    values_of,
)
from mrag.planning.profile.usage import ChangedParts, KnownSchema, changed_since, kept_before
from mrag.planning.profiling import local_name
from mrag.planning.schema import Schema
from mrag.rdf import queries
from mrag.rdf.terms import RDF

_TYPE: Final = RDF + "type"
_KEPT: Final = 32
"""After how many changes names are kept anew: further back the record of changes hardly reaches."""


@dataclass(frozen=True)
class KnownNames:
    """The names of a state of a graph.

    Attributes:
        revision: The revision of the graph.
        predicates: How many triples each of its predicates has.
        schema: Its schema.
        things: The names.
        kept: The revision whose names are kept for other processes.
    """

    revision: int
    predicates: Mapping[str, int]
    schema: Schema
    things: NamedThings
    kept: int

    @property
    def is_far(self) -> bool:
        """Return whether there have been many changes since names were kept."""
        return self.revision - self.kept >= _KEPT


_latest: WeakKeyDictionary[KnowledgeGraph, KnownNames] = WeakKeyDictionary()


def remember_names(
    kg: KnowledgeGraph, schema: Schema, things: NamedThings, revision: int, kept: int | None = None
) -> None:
    """Keep the names of a graph in memory, for its later states.

    Args:
        kg: The knowledge graph.
        schema: Its schema.
        things: Its names.
        revision: The revision that they are of.
        kept: The revision whose names are kept for other processes; this one by default.
    """
    if kg.record.kept and revision == kg.revision:
        kept = revision if kept is None else kept
        _latest[kg] = KnownNames(revision, kg.profile().predicates, schema, things, kept)


def names_followed(kg: KnowledgeGraph, schema: Schema) -> KnownNames | None:
    """Return the names of a graph by those that were last read of it and what has changed since.

    Args:
        kg: The knowledge graph.
        schema: Its present schema.

    Returns:
        The names; None where they have to be read anew.
    """
    known, revision = _latest.get(kg), kg.revision
    if known is None and (before := kept_before(kg)) is not None:
        found, things = KnownSchema.of(*before), NamedThings.of(before[1])
        known = KnownNames(found.revision, found.predicates, found.schema, things, found.revision)
    if known is None or not _alike(known, schema):
        return None
    changed = changed_since(kg, known.revision, known.predicates)
    if changed is None:
        return None
    unnamed = _unnamed(kg, known, schema, changed)
    if unnamed != known.things.unnamed:
        return None  # all members of a class would have to be gone through
    rows = kg.select(queries.get("planning/vocabulary").text) if changed.entities else ()
    skip = {*schema.classes, *schema.properties, *(str(term) for (term,) in rows)}
    now = {
        entity: set[str]() if entity in skip else _present_names(kg, schema, entity, unnamed)
        for entity in sorted(changed.entities)
    }
    values = _values(kg, known, changed)
    things = changed_things(known.things, now, values)
    return replace(known, revision=revision, schema=schema, things=things)


def _alike(known: KnownNames, schema: Schema) -> bool:
    old = known.schema
    return (
        old.label_properties == schema.label_properties
        and old.classes.keys() == schema.classes.keys()
        and old.properties.keys() == schema.properties.keys()
        and is_small(old) == is_small(schema)
        and links(old) == links(schema)
        and known.things.predicates == tuple(valued(schema))
    )


def _unnamed(kg: KnowledgeGraph, known: KnownNames, schema: Schema, changed: ChangedParts) -> tuple[str, ...]:
    """Return the classes some of whose members have no name; the members of the others are as they were."""
    if is_small(schema):
        return ()
    old = known.schema.classes
    again = {c for c, info in schema.classes.items() if info.count != old[c].count}
    for entity in changed.entities:
        again.update(_types(kg, entity))
    again &= schema.classes.keys()
    kept = (c for c in known.things.unnamed if c not in again)
    return tuple(sorted((*kept, *unnamed_classes(kg, schema, sorted(again)))))


def _types(kg: KnowledgeGraph, entity: str) -> set[str]:
    quads = (q for graph in kg.dataset().default for q in kg.store.edges(graph, s=entity, p=_TYPE))
    return {quad.object.value for quad in quads if isinstance(quad.object, ox.NamedNode)}


def _present_names(kg: KnowledgeGraph, schema: Schema, entity: str, unnamed: Collection[str]) -> set[str]:
    """Return the names of a term that is no vocabulary."""
    graphs = kg.dataset().default
    quads = (
        q for graph in graphs for p in schema.label_properties for q in kg.store.edges(graph, s=entity, p=p)
    )
    told = [(q.predicate.value, q.object.value) for q in quads if isinstance(q.object, ox.Literal)]
    if names := {" ".join(text.split()) for _, text in told if is_name(text)}:
        whole = whole_name([(p, text) for p, text in told if name_part(p) and is_name(text)])
        return names | {whole} if whole else names
    if not is_asked(entity) or is_place(entity):
        return set()
    own = {local_name(entity)}
    if not is_small(schema):
        ends = [(place, p) for p in links(schema) for place in ("s", "o")]
        led = any(_any(kg.store.edges(g, p=p, **{place: entity})) for g in graphs for place, p in ends)
        return own if led or not _types(kg, entity).isdisjoint(unnamed) else set()
    for graph in graphs:
        about = (q.predicate.value for q in kg.store.edges(graph, s=entity))
        to = (q.predicate.value for q in kg.store.edges(graph, o=entity))
        if any(p in schema.properties or p == _TYPE for p in about) or any(
            p in schema.properties for p in to
        ):
            return own
    return set()


def _any(found: Iterable[ox.Quad]) -> bool:
    return next(iter(found), None) is not None


def _values(kg: KnowledgeGraph, known: KnownNames, changed: ChangedParts) -> dict[str, dict[int, int]]:
    """Return the values that a property has more or less often than before, with how often each has them."""
    things, counts = known.things, kg.profile().predicates
    now = dict[str, dict[int, int]]()
    for at, p in enumerate(things.predicates):
        quads = [
            quad
            for graph in kg.dataset().default
            for entity in changed.texts
            for quad in kg.store.edges(graph, s=entity, p=p)
        ]
        more = counts.get(p, 0) - known.predicates.get(p, 0)
        if not quads and not more:
            continue
        came = [q for q in quads if mark(q.subject, q.predicate, q.object) in changed.came]
        if len(came) == more:
            # Nothing went, so what came is all that is other.
            texts = Counter(q.object.value for q in came if isinstance(q.object, ox.Literal))
            differ = {t: counts_of(things, t).get(at, 0) + n for t, n in texts.items() if is_value(t)}
        else:
            # Who has lost a value is not kept, so all values of the property are counted.
            before = values_of(things, at)
            texts = Counter(text for _, _, text in texts_of(kg, [p]) if is_value(text))
            differ = {t: texts[t] for t in {*texts, *before} if texts[t] != before.get(t, 0)}
        for text, n in differ.items():
            having = now.setdefault(text, counts_of(things, text))
            having.pop(at, None)
            having.update({at: n} if n else {})
    return now
