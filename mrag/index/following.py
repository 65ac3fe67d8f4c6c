"""The documents that changed since an index was built, read without reading the others.

The store keeps which entities the latest changes touched (`mrag.graph.record`). Their documents, and those
of what is linked to them, are made anew from a small copy of what surrounds them, by the same queries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any

from rdflib import Literal, URIRef

from mrag.errors import TermError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Profile, TouchedEntities, touched_since
from mrag.index.backends.base import StoredIndex
from mrag.index.documents import Definition, documents
from mrag.index.segments.changes import SyncReport
from mrag.index.segments.pending import Progress
from mrag.index.segments.state import as_json
from mrag.index.texts.composing import namespace
from mrag.index.texts.definition import LINKED, TEXTS
from mrag.rdf import queries
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore

_MOST = 20_000
"""Documents from which on all are read, which is then hardly slower."""
_SAMPLE = 3
_OURS = "urn:mrag:"
"""What is written here names its things, so a namespace below it brings no document but those."""
_QUERIES = (TEXTS, LINKED)


@dataclass(frozen=True)
class ChangedDocuments:
    """What an index lacks.

    Attributes:
        texts: IRIs and texts of documents that may be new or have changed.
        gone: IRIs of those that are no documents any more.
    """

    texts: Mapping[str, str]
    gone: frozenset[str]


def changed_documents(
    kg: KnowledgeGraph, definition: Definition, extra: Mapping[str, Any], ids: Collection[str]
) -> ChangedDocuments | None:
    """Return what has changed since an index was built; None where all documents have to be read.

    Args:
        kg: The knowledge graph.
        definition: What the documents are made of.
        extra: What the index keeps of its last build.
        ids: The IRIs of its documents.
    """
    if not (isinstance(kg.store, OxigraphStore) and kg.record.kept):
        return None  # others may have changed the triples, which no record says
    now = state_of(kg, definition)
    if definition.select or not set(definition.queries) <= {*_QUERIES} or "naming" not in extra:
        return None
    if any(extra[key] != now[key] for key in ("kg", "digest", "naming")):
        return None
    since = int(extra["revision"])
    touched = touched_since(kg.store, kg.iri, since, kg.revision) if since <= kg.revision else None
    entities = None if touched is None else _affected(kg, touched)
    if entities is None:
        return None
    try:
        # A thing without a text of its own is a document only in a namespace of others that have one.
        spaces = _sampled(ids, entities)
        copied = [*entities, *(iri for some in spaces.values() for iri in some)]
        with closing(_Surroundings(kg, copied)) as part:
            found = dict(documents(part, definition))
            stated = {
                namespace(iri) for iri in part.subjects if iri in entities and not iri.startswith(_OURS)
            }
    except TermError:
        return None  # a language tag, for example, that only a load takes
    if not stated <= {*spaces} <= {namespace(iri) for iri in found}:
        return None
    texts = {iri: text for iri, text in found.items() if iri in entities}
    return ChangedDocuments(texts, frozenset(iri for iri in entities if iri in ids and iri not in texts))


def _sampled(ids: Iterable[str], without: Collection[str]) -> dict[str, list[str]]:
    """Return the namespaces of documents, each with some of them."""
    found: dict[str, list[str]] = {}
    for iri in sorted(ids):
        some = found.setdefault(namespace(iri), [])
        if len(some) < _SAMPLE and iri not in without:
            some.append(iri)
    return found


def state_of(kg: KnowledgeGraph, definition: Definition) -> dict[str, Any]:
    """Return what an index keeps of the graph that it was built from, as JSON."""
    return {
        "kg": kg.iri,
        "revision": kg.revision,
        "digest": definition.digest(),
        "definition": as_json(asdict(definition)),
        "naming": list(kg.profile().labels),
    }


def followed(
    kg: KnowledgeGraph,
    definition: Definition,
    files: StoredIndex,
    extra: Mapping[str, Any],
    on_progress: Progress | None = None,
) -> SyncReport | None:
    """Bring an index up to date by what has changed alone; None where all documents have to be read.

    Args:
        kg: The knowledge graph.
        definition: What the documents are made of.
        files: The index.
        extra: What it keeps of this build.
        on_progress: Called with documents done and documents in all.
    """
    ids = {*files.doc_ids}
    changes = changed_documents(kg, definition, files.extra, ids) if ids else None
    if changes is None or not ({*ids, *changes.texts} - changes.gone):
        return None
    # What is cut off here is done again, for the revision is kept last.
    deleted = files.delete(changes.gone)
    report = files.add(sorted(changes.texts.items()), extra=extra, on_progress=on_progress)
    unchanged = len(files) - report.added - report.changed
    return replace(report, deleted=deleted, unchanged=unchanged)


def _affected(kg: KnowledgeGraph, touched: TouchedEntities) -> set[str] | None:
    """Return the entities whose documents may have changed; None for too many."""
    found = set(touched.entities)
    for query in queries.get("index/linking").batches("entity", sorted(touched.texts), limit=_MOST + 1):
        found.update(map(str, kg.select(query).column("documentID")))
        if len(found) > _MOST:
            return None
    return found


class _Surroundings(KnowledgeGraph):
    """A copy of what is stated of some entities, with the profile of the whole.

    Args:
        kg: The whole.
        entities: IRIs.
    """

    def __init__(self, kg: KnowledgeGraph, entities: Collection[str]) -> None:
        super().__init__(OxigraphStore(), languages=kg.languages)
        self._whole = kg.profile()
        stated = [*_statements(kg, sorted(entities))]
        linked = {str(o) for _, _, o in stated if isinstance(o, URIRef)} - set(entities)
        texts = (t for t in _statements(kg, sorted(linked)) if isinstance(t.o, Literal))
        # What nothing is stated of is a document only if something is linked to it.
        self.subjects = {str(s) for s, _, _ in stated}
        bare = sorted(set(entities) - self.subjects)
        self.insert([*stated, *texts, *_links(kg, bare)])

    def profile(self) -> Profile:
        """Return the profile of the whole."""
        return self._whole


def _statements(kg: KnowledgeGraph, entities: list[str]) -> Iterator[Triple]:
    for query in queries.get("cel/statements-of").batches("entity", entities):
        yield from (Triple(s, p, o) for s, p, o in kg.select(query))  # type: ignore[arg-type]


def _links(kg: KnowledgeGraph, entities: list[str]) -> Iterable[Triple]:
    for query in queries.get("context/in-degree").batches("entity", entities):
        for entity, p, _ in kg.select(query):
            yield Triple(URIRef("urn:mrag:linking:something"), p, entity)  # type: ignore[arg-type]
