"""Both ontologies are Turtle to the letter, say what they are, and declare all that they use."""

import pyoxigraph as ox
import pytest
from rdflib import OWL, RDF, RDFS, Graph, URIRef
from rdflib.namespace import DCTERMS

from tests.ontology.closures import ROOT

FILES = [
    ("products", "https://w3id.org/mrag/demo/products", {"en", "de", "it"}, 2000),
    ("mrag", "https://w3id.org/mrag", {"en", "de"}, 100),
]


@pytest.mark.parametrize(("name", "iri", "languages", "least"), FILES)
def test_an_ontology_says_what_it_is(name: str, iri: str, languages: set[str], least: int) -> None:
    file, ontology = ROOT / "ontology" / f"{name}.ttl", URIRef(iri)
    graph = Graph().parse(file)
    assert len(set(ox.parse(path=file, format=ox.RdfFormat.TURTLE, lenient=False))) == len(graph) > least
    assert (ontology, RDF.type, OWL.Ontology) in graph
    version = str(graph.value(ontology, OWL.versionInfo))
    assert graph.value(ontology, OWL.versionIRI) == URIRef(f"{ontology}/{version}")
    licence = "https://creativecommons.org/publicdomain/zero/1.0/"
    assert graph.value(ontology, DCTERMS.license) == URIRef(licence)
    for annotation in (DCTERMS.title, DCTERMS.description):
        assert {o.language for o in graph.objects(ontology, annotation)} == languages
    foreign = {p for p in graph.predicates() if not any(p in ns for ns in (RDF, RDFS, OWL))}
    kinds = (OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty)
    assert foreign <= {s for kind in kinds for s in graph.subjects(RDF.type, kind)}
