"""The knowledge graphs that a store holds: listed, measured and deleted."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM, places, read_record
from mrag.rdf import queries
from mrag.stores.base import Dataset, TripleStore

_PREFIX = "urn:mrag:kg:"


@dataclass(frozen=True)
class KgSummary:
    """What a store's records say of a knowledge graph.

    Attributes:
        name: Its name, as for `--kg`.
        triples: Triples asserted.
        inferred: Triples inferred; None if they have not been counted.
        graphs: Named graphs of clients.
        premises: Named graphs that reasoning reads, if not all.
        pending: Whether the triples have changed since they were last reasoned over.
    """

    name: str
    triples: int
    inferred: int | None
    graphs: int
    pending: bool
    premises: tuple[str, ...] = ()


def summaries(store: TripleStore) -> list[KgSummary]:
    """List the knowledge graphs that a store keeps records of, in order of name.

    Args:
        store: The store. A server that reasons by itself keeps none.

    Example:
        >>> import mrag
        >>> from rdflib import RDFS, URIRef
        >>> kg = mrag.connect()
        >>> _ = kg.insert([mrag.Triple(URIRef("urn:a"), RDFS.seeAlso, URIRef("urn:b"))])
        >>> [(one.name, one.triples) for one in summaries(kg.store)]
        [('main', 1)]
        >>> kg.close()
    """
    if store.capabilities.reasoning:
        return []
    found = []
    for (term,) in store.select(queries.get("kg/list").text, Dataset((SYSTEM,), (SYSTEM,))):
        iri = str(term)
        record = read_record(store, iri)
        inferred = 0 if not record.inferred else record.inferences if record.inferences >= 0 else None
        name = iri.removeprefix(_PREFIX)
        counts = (record.triples, inferred, len(record.contexts))
        found.append(KgSummary(name, *counts, record.outdated, record.premises))
    return found


def delete(kg: KnowledgeGraph) -> None:
    """Remove a knowledge graph from its store with all of its triples; its indexes are not touched.

    Cut off in the middle, it is there without triples, and can be deleted again.

    Args:
        kg: The knowledge graph, which cannot be used afterwards.

    Raises:
        ConfigError: If mrag keeps no record of it, so that the triples are others'.
    """
    if kg.store.capabilities.reasoning or not read_record(kg.store, kg.iri).kept:
        raise ConfigError(
            f"The knowledge graph {kg.name!r} is not kept by mrag.", hint="`mrag kgs` lists those that are."
        )
    kg.clear()
    kg.store.update(queries.get("update/forget").bind(kg=[kg.iri, *places(kg.iri)]))
