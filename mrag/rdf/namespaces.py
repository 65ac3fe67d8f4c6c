"""The namespaces that all rooms share; processes that only parse load them without rdflib."""

from __future__ import annotations

from collections.abc import Mapping

MRAG = "https://w3id.org/mrag#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
WIKIBASE = "http://wikiba.se/ontology#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOLEM = "urn:mrag:genid:"
"""Start of the IRIs that stand for blank nodes after loading (RDF 1.1 Concepts, section 3.5)."""

DEFAULT_PREFIXES: Mapping[str, str] = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "mrag": MRAG,
    "owl": OWL,
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": RDF,
    "rdfs": RDFS,
    "schema": "http://schema.org/",
    "sh": "http://www.w3.org/ns/shacl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": XSD,
}
