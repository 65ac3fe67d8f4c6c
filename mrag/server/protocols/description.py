"""The service description of the endpoint (SPARQL 1.1 Service Description)."""

from __future__ import annotations

from typing import Any

import pyoxigraph as ox

from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF, XSD
from mrag.server.settings import ServerSettings
from mrag.stores.process.query_child import serialized

SD = "http://www.w3.org/ns/sparql-service-description#"
VOID = "http://rdfs.org/ns/void#"
FORMATS = "http://www.w3.org/ns/formats/"

_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_RDF = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD", "N-Quads", "TriG")


def description(kg: KnowledgeGraph, settings: ServerSettings, url: str, format: str) -> bytes:
    """Describe the endpoint in RDF.

    Args:
        kg: The knowledge graph that it serves.
        settings: The server's settings.
        url: The endpoint's address.
        format: Name of the RDF format.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     text = description(kg, ServerSettings(), "http://127.0.0.1:7333/sparql", "turtle")
        >>> b"sd:SPARQL11Query" in text
        True
    """
    service, dataset, graph = (ox.BlankNode(name) for name in ("service", "dataset", "graph"))
    found: list[ox.Triple] = []

    def say(subject: ox.BlankNode, predicate: str, value: Any) -> None:
        node = ox.NamedNode(value) if isinstance(value, str) else value
        found.append(ox.Triple(subject, ox.NamedNode(predicate), node))

    def count(number: int) -> ox.Literal:
        return ox.Literal(str(number), datatype=ox.NamedNode(XSD + "integer"))

    record = kg.record
    say(service, RDF + "type", SD + "Service")
    say(service, SD + "endpoint", url.partition("?")[0])
    say(service, SD + "supportedLanguage", SD + "SPARQL10Query")
    say(service, SD + "supportedLanguage", SD + "SPARQL11Query")
    if settings.update:
        say(service, SD + "supportedLanguage", SD + "SPARQL11Update")
    if settings.union:
        say(service, SD + "feature", SD + "UnionDefaultGraph")
    for name in (*_RESULTS, *_RDF):
        say(service, SD + "resultFormat", FORMATS + name)
    for name in _RDF if settings.update else ():
        say(service, SD + "inputFormat", FORMATS + name)
    say(service, SD + "defaultDataset", dataset)
    say(dataset, RDF + "type", SD + "Dataset")
    say(dataset, SD + "defaultGraph", graph)
    say(graph, RDF + "type", SD + "Graph")
    say(graph, VOID + "triples", count(record.triples))
    for number, name in enumerate(record.contexts):
        node = ox.BlankNode(f"named{number}")
        say(dataset, SD + "namedGraph", node)
        say(node, RDF + "type", SD + "NamedGraph")
        say(node, SD + "name", name)
    prefixes = {"sd": SD, "void": VOID, "formats": FORMATS} if format in ("turtle", "trig") else None
    return serialized(found, format, prefixes)
