"""Readings with the certainty of their answers, by the weights of their graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rdflib import RDF, Literal, URIRef

from mrag.errors import ConfigError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.certainty.features import FoundReading, measured
from mrag.planning.certainty.model import Certainty, shipped
from mrag.planning.precedents import questions_graph
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, Triple
from mrag.stores.base import Dataset

_CALIBRATION: Final = "urn:mrag:calibration:"
_PART_OF: Final = URIRef("http://purl.org/dc/terms/isPartOf")
_CACHED: Final = "certainty"


def weighed(kg: KnowledgeGraph, found: Sequence[FoundReading]) -> list[FoundReading]:
    """Return readings that found something, with the certainty of their answers; their order stays.

    Args:
        kg: The graph.
        found: The readings that were run, with what they found.
    """
    model, weighed_ = certainty_of(kg), []
    for reading, result in found:
        features = measured(kg, (reading, result), found)
        if features is not None:
            reading = replace(reading, certainty=model.of(features), measured=features)
        weighed_.append((reading, result))
    return weighed_


def certainty_of(kg: KnowledgeGraph) -> Certainty:
    """Return the weights of a graph: those that it was calibrated to, else those that are shipped."""
    return kg.cached(_CACHED, lambda: _kept(kg) or shipped())


def keep_certainty(kg: KnowledgeGraph, model: Certainty | None) -> None:
    """Keep weights with a graph in place of those that it has; None for those that are shipped.

    Raises:
        ConfigError: If nothing can be written.
    """
    kg.require_writable()
    graph = URIRef(questions_graph(kg))
    old = [(graph, *triple) for text in _texts(kg) for triple in _triples(kg, text)]
    new = [] if model is None else list(_triples(kg, json.dumps(model.to_json(), sort_keys=True)))
    kg.store.update(kg.changes(old, [(graph, *triple) for triple in new]))
    if kg.store.capabilities.reasoning:
        kg.recount()
    kg.cache.pop(_CACHED, None)


def _kept(kg: KnowledgeGraph) -> Certainty | None:
    for text in _texts(kg):
        try:
            return Certainty.from_json(json.loads(text))
        except (ConfigError, ValueError):
            continue
    return None


def _texts(kg: KnowledgeGraph) -> list[str]:
    text = queries.get("planning/calibration").bind(kg=[kg.iri])
    try:
        return [str(value) for (value,) in kg.store.select(text, Dataset((questions_graph(kg),)))]
    except StoreError:
        return []  # a store that cannot tell can still be asked


def _triples(kg: KnowledgeGraph, text: str) -> Iterator[Triple]:
    node = URIRef(_CALIBRATION + kg.name)
    yield Triple(node, RDF.type, URIRef(MRAG + "Calibration"))
    yield Triple(node, _PART_OF, URIRef(kg.iri))
    yield Triple(node, URIRef(MRAG + "weights"), Literal(text, datatype=RDF.JSON))
