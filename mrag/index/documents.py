"""From a knowledge graph to the documents of a similarity index, by queries anyone can paste.

A definition is a list of queries of `sparql/index/` that return `?documentID ?documentText`, GraphDB's
own contract. Their rows are put together to one text for each entity, its label first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mrag.graph.kg import KnowledgeGraph
from mrag.index.known_items import FusionWeight
from mrag.index.texts.composing import composed
from mrag.index.texts.definition import TEXTS, Definition

__all__ = ["Definition", "IndexInfo", "documents", "why_empty"]


@dataclass(frozen=True)
class IndexInfo:
    """What is known of an index without searching it.

    Attributes:
        name: Its name.
        documents: How many documents it holds; None where a server does not tell.
        embedder: Name of the embedding model, None for BM25 alone, `server` for an index of the server.
        revision: Revision of the graph that it was built from; None where a server does not tell.
        stale: Whether the graph, or the definition's queries, have changed since.
        definition: What it is made of; None where a server keeps it.
        analyser: How its words are stemmed; empty where a server keeps it.
        fusion: How words and vectors are fused; None where there are no vectors, or a server does it.
    """

    name: str
    documents: int | None
    embedder: str | None
    revision: int | None
    stale: bool
    definition: Definition | None
    analyser: str = ""
    fusion: FusionWeight | None = None


def documents(kg: KnowledgeGraph, definition: Definition) -> Iterator[tuple[str, str]]:
    """Return IRI and text of each document, in order of IRI, made as they are asked for.

    Args:
        kg: The knowledge graph; asserted and inferred triples count.
        definition: Its queries and languages.

    Raises:
        ConfigError: If a query does not return `?documentID ?documentText`.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> kg = KnowledgeGraph(OxigraphStore())
        >>> from rdflib import RDFS, Literal, URIRef
        >>> from mrag.rdf.terms import Triple
        >>> _ = kg.insert([Triple(URIRef("urn:a"), RDFS.label, Literal("A dog", lang="en"))])
        >>> list(documents(kg, Definition()))
        [('urn:a', 'A dog. A dog. A dog. A dog')]
    """
    return composed(kg, definition)


def why_empty(kg: KnowledgeGraph, definition: Definition) -> str:
    """Return that a definition gives no documents, and why."""
    why = "Its entities have no texts, and their IRIs are codes rather than words."
    if not kg.profile().triples:
        why = "The graph holds no triples."
    elif TEXTS not in definition.queries or not definition.fallback:
        why = "The queries it is made of give no texts."
    return f"There is nothing to index. {why}"
