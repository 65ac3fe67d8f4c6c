"""Descriptions as triples with their provenance, and the graph of their own that they are written to.

Every IRI is computed from what it names, so that the same descriptions give the same triples whoever
writes them and however often. Of a description stand there:

    <image>  :hasLLMDescription "…"                       a part of an image: dcterms:description, isPartOf
    <urn:mrag:description:SHA256(image, newline, text)>   prov:Entity, with its time
        prov:wasDerivedFrom   <image>                     and the annotation that a part was taken from
        prov:wasAttributedTo  <urn:mrag:model:…>          prov:SoftwareAgent, its name as label
        prov:wasGeneratedBy   <urn:mrag:enrichment:…>     prov:Activity: model, prompt, settings, software
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from rdflib import Literal, URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import joined
from mrag.images.enrichment.journal import JournalEntry
from mrag.images.graph import ImageVocabulary
from mrag.rdf import queries
from mrag.rdf.terms import RDF, RDFS, XSD, Triple, to_ntriples
from mrag.stores.base import Dataset

PROV: Final = "http://www.w3.org/ns/prov#"
DCTERMS: Final = "http://purl.org/dc/terms/"
_ROWS: Final = 400
"""Most triples of one transaction; servers limit VALUES."""


def triples_of(
    entry: JournalEntry, vocabulary: ImageVocabulary | None = None
) -> tuple[list[Triple], list[Triple]]:
    """Return the triples of a description: its own, and those that it shares with others.

    Args:
        entry: The description.
        vocabulary: How the graph speaks of images.

    Example:
        >>> entry = JournalEntry("urn:i", "", "A coat.", "m", "p", "{}", "2026-01-01T00:00:00Z", "mrag", "00")
        >>> own, shared = triples_of(entry)
        >>> own[0].o.value, len(own), len(shared)
        ('A coat.', 6, 11)
    """
    vocabulary = vocabulary or ImageVocabulary()
    subject, text = URIRef(entry.subject), Literal(entry.text)
    description = URIRef("urn:mrag:description:" + _digest(entry.subject, entry.text))
    model = URIRef("urn:mrag:model:" + _digest(entry.model))
    prompt = URIRef("urn:mrag:prompt:" + _digest(entry.prompt))
    software = URIRef("urn:mrag:software:" + _digest(entry.software))
    activity = URIRef(activity_of(entry.model, entry.prompt, entry.options, entry.software))
    own: list[Triple] = []

    def add(to: list[Triple], s: URIRef, p: str, o: URIRef | Literal) -> None:
        to.append(Triple(s, URIRef(p), o))

    if entry.region:
        add(own, subject, DCTERMS + "description", text)
        add(own, subject, DCTERMS + "isPartOf", URIRef(entry.image))
    else:
        add(own, subject, vocabulary.generated, text)
    add(own, description, RDF + "type", URIRef(PROV + "Entity"))
    add(own, description, PROV + "wasDerivedFrom", subject)
    if entry.source:
        add(own, description, PROV + "wasDerivedFrom", URIRef(entry.source))
    add(own, description, PROV + "wasAttributedTo", model)
    add(own, description, PROV + "wasGeneratedBy", activity)
    time = Literal(entry.time, datatype=URIRef(XSD + "dateTime"), normalize=False)
    add(own, description, PROV + "generatedAtTime", time)
    shared: list[Triple] = []
    add(shared, activity, RDF + "type", URIRef(PROV + "Activity"))
    add(shared, activity, PROV + "wasAssociatedWith", model)
    add(shared, activity, PROV + "wasAssociatedWith", software)
    add(shared, activity, PROV + "used", prompt)
    add(shared, activity, RDFS + "comment", Literal(entry.options, datatype=URIRef(RDF + "JSON")))
    add(shared, prompt, RDF + "type", URIRef(PROV + "Plan"))
    # A datatype of its own keeps what was asked out of indexes of texts and of labels.
    add(shared, prompt, PROV + "value", Literal(entry.prompt, datatype=URIRef(XSD + "normalizedString")))
    for agent, name in ((model, entry.model), (software, entry.software)):
        add(shared, agent, RDF + "type", URIRef(PROV + "SoftwareAgent"))
        add(shared, agent, RDFS + "label", Literal(name))
    return own, shared


def activity_of(model: str, prompt: str, options: str, software: str) -> str:
    """Return the IRI of the activity of one model, prompt, settings and software."""
    return "urn:mrag:enrichment:" + _digest(model, prompt, options, software)


class EnrichedGraph:
    """The graph of a knowledge graph that holds what models wrote, made when the first text is written.

    It is one of the asserted graphs, so that every query sees it; its name tells it from the others.

    Args:
        kg: The knowledge graph.
        vocabulary: How it speaks of images.

    Raises:
        ConfigError: If the triples are in graphs without names, which are read only here.
    """

    def __init__(self, kg: KnowledgeGraph, vocabulary: ImageVocabulary | None = None) -> None:
        self.kg = kg
        self.vocabulary = vocabulary or ImageVocabulary()
        self._known: set[Triple] = set()
        kg.require_writable()

    @property
    def name(self) -> str | None:
        """Return the IRI of the graph; None before anything is in it."""
        return enriched_graph(self.kg)

    def write(self, entries: Sequence[JournalEntry]) -> None:
        """Write descriptions, each batch whole or not at all and, in an embedded store, with the record.

        Entries that are there already change nothing but the revision.
        """
        rows: list[Triple] = []
        for entry in entries:
            own, shared = triples_of(entry, self.vocabulary)
            fresh = [t for t in shared if t not in self._known and not self._has(t)]
            self._known.update(shared)
            if len(rows) + len(own) + len(fresh) > _ROWS:
                self._commit(rows)
                rows = []
            rows += [*own, *fresh]
        if rows:
            self._commit(rows)

    def finish(self) -> None:
        """Take out what other graphs hold too, and count anew."""
        graph, kg = self.name, self.kg
        if graph is None or kg.store.capabilities.reasoning:
            return
        record = kg.record
        doubles = [(graph, other, graph) for other in record.asserted if other != graph]
        kg.remove_doubles([*doubles, *((graph, other, other) for other in record.inferred)])
        after = replace(record, triples=kg.counted())
        if after != record:
            kg.commit(after)

    def _commit(self, rows: Sequence[Triple]) -> None:
        kg = self.kg
        if kg.store.capabilities.reasoning:
            # Such a server has no record: all its graphs are in sight.
            kg.store.insert(to_ntriples(rows), kg.server_graph("enriched"))
            kg.recount(kg.record.triples + len(rows))
            return
        graph = self.name or kg.new_graph("enriched")
        after = joined(kg.record, graph, len(rows))
        if kg.store.capabilities.atomic:
            kg.commit(after, kg.changes([], [(URIRef(graph), *t) for t in rows]))
        else:
            # Cut off in between, the descriptions are there and the record is not: the next run, which
            # takes them from the journal, gives the graph the same name and writes it.
            kg.store.insert(to_ntriples(rows), graph)
            kg.commit(after)

    def _has(self, triple: Triple) -> bool:
        graph = self.name
        if graph is None:
            return False
        return self.kg.store.ask(queries.get("context/holds").bind(s_p_o=[tuple(triple)]), Dataset((graph,)))


def enriched_graph(kg: KnowledgeGraph) -> str | None:
    """Return the IRI of the graph that holds what models wrote; None if there is none."""
    return next(iter(kg.graphs_of("enriched")), None)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
