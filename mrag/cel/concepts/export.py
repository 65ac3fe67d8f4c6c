"""Kept concepts as files: an ontology that editors open, and the query as a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal as Literals

from rdflib import OWL, RDF, RDFS, XSD, Graph, Literal, URIRef

from mrag.cel.concepts.definition import safe_part
from mrag.cel.concepts.record import KeptConcept, concept_annotations
from mrag.cel.semantics.counting import instances
from mrag.cel.syntax import expressions as ce
from mrag.cel.syntax.rdf import to_graph
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.ontologies import functional

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_ontology(
    kg: KnowledgeGraph,
    concepts: Iterable[KeptConcept],
    format: Literals["turtle", "rdfxml", "functional"] = "turtle",
) -> str:
    """Write kept concepts as an ontology, with what OWL 2 DL wants declared.

    The classes, properties and individuals that they speak of are declared, their data is not repeated.
    Asserted members of concepts whose world is closed are in it.

    Args:
        kg: The knowledge graph that they are kept in.
        concepts: The concepts.
        format: `turtle`, `rdfxml` for readers without Turtle, such as owlready2, or OWL's `functional`
            syntax (extra `owl`).

    Raises:
        ConfigError: If a text has a character that XML 1.0 has not, or py-horned-owl is not installed.

    Source:
        OWL 2 Structural Specification, section 5.8 (declarations).

    Example:
        >>> import mrag
        >>> from mrag.cel.concepts.registry import keep_concept
        >>> from mrag.rdf.terms import Triple
        >>> kg = mrag.connect()
        >>> _ = kg.insert([Triple(URIRef("urn:x:tom"), RDF.type, URIRef("urn:x:Cat"))])
        >>> text = to_ontology(kg, [keep_concept(kg, ce.Named("urn:x:Cat"), "pets")])
        >>> "owl:equivalentClass <urn:x:Cat>" in text, "a owl:Ontology" in text
        (True, True)
        >>> kg.close()
    """
    graph = Graph()
    for prefix in ("mrag", "prov"):
        graph.bind(prefix, kg.prefixes[prefix])
    graph.add((URIRef(f"{kg.iri}:concepts"), RDF.type, OWL.Ontology))
    for concept in concepts:
        c = URIRef(concept.iri)
        graph.add((c, RDF.type, OWL.Class))
        defining = concept.expression if concept.world == "open" else safe_part(concept.expression)
        if not isinstance(defining, ce.Top):
            predicate = OWL.equivalentClass if concept.world == "open" else RDFS.subClassOf
            graph.add((c, predicate, to_graph(defining, graph)))
            _declare(graph, defining)
        if concept.world == "closed":
            for member in instances(kg, ce.Named(concept.iri)):
                graph.add((URIRef(member), RDF.type, OWL.NamedIndividual))
                graph.add((URIRef(member), RDF.type, c))
        _annotate(graph, concept)
    if format != "turtle" and (bad := [str(o) for o in graph.objects() if _NOT_XML.search(str(o))]):
        raise ConfigError(
            "Only Turtle can hold a control character.", term=min(bad), hint="Use the format turtle."
        )
    text = graph.serialize(format="turtle" if format == "turtle" else "xml").strip() + "\n"
    return functional(text).strip() + "\n" if format == "functional" else text


def _annotate(graph: Graph, concept: KeptConcept) -> None:
    c = URIRef(concept.iri)
    for p, value in concept_annotations(concept):
        graph.add((p, RDF.type, OWL.AnnotationProperty))
        graph.add((c, p, value))
    graph.add((c, RDFS.label, Literal(concept.label)))
    if concept.comment:
        graph.add((c, RDFS.comment, Literal(concept.comment)))


def _declare(graph: Graph, expression: ce.Expression) -> None:
    def declare(name: str, kind: URIRef) -> None:
        graph.add((URIRef(name), RDF.type, kind))

    def role(p: ce.Property, data: bool) -> None:
        declare(p.iri, OWL.DatatypeProperty if data else OWL.ObjectProperty)

    for e in ce.walk(expression):
        match e:
            case ce.Named(name) if name != str(OWL.NamedIndividual):
                declare(name, OWL.Class)
            case ce.OneOf(members):
                for member in members:
                    declare(member, OWL.NamedIndividual)
            case ce.Value(p, value):
                role(p, isinstance(value, Literal))
                if not isinstance(value, Literal):
                    declare(value, OWL.NamedIndividual)
            case ce.DataSome(p, range) | ce.DataOnly(p, range):
                role(p, True)
                if not range.datatype.startswith(str(XSD)):
                    declare(range.datatype, RDFS.Datatype)
            case ce.Some() | ce.Only() | ce.AtLeast() | ce.AtMost() | ce.Exactly():
                role(e.property, False)
            case _:
                pass
