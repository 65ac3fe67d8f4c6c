"""A small graph with a strict schema, for the tests of what may be written to it."""

from __future__ import annotations

from rdflib import Graph, Literal, URIRef

from mrag.completion.checks import CheckSettings, CompletionRun
from mrag.completion.patterns import CompletedTriple
from mrag.completion.review import propose
from mrag.generation.result import EvidenceRef
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import status_of
from mrag.rdf import queries
from mrag.rdf.terms import Term, Triple
from mrag.stores.base import Dataset

E = "http://example.org/"
TURTLE = """
@prefix : <http://example.org/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

:Person a owl:Class ; rdfs:label "person" ; owl:disjointWith :Place .
:Writer a owl:Class ; rdfs:label "writer" ; rdfs:subClassOf :Person .
:Place a owl:Class ; rdfs:label "place" .
:Town a owl:Class ; rdfs:label "town" ; rdfs:subClassOf :Place .
:Book a owl:Class ; rdfs:label "book" .

:bornIn a owl:ObjectProperty , owl:FunctionalProperty ; rdfs:label "born in" ;
    rdfs:domain :Person ; rdfs:range :Place .
:wrote a owl:ObjectProperty ; rdfs:label "wrote" ; rdfs:domain :Writer ; rdfs:range :Book .
:birthYear a owl:DatatypeProperty , owl:FunctionalProperty ; rdfs:label "year of birth" ;
    rdfs:domain :Person ; rdfs:range xsd:integer .
:isbn a owl:DatatypeProperty , owl:InverseFunctionalProperty ; rdfs:label "ISBN" ; rdfs:domain :Book .
:parentOf a owl:ObjectProperty , owl:AsymmetricProperty , owl:IrreflexiveProperty ; rdfs:label "parent of" .
:capitalOf a owl:ObjectProperty , owl:InverseFunctionalProperty ; rdfs:label "capital of" .
:knows a owl:ObjectProperty ; rdfs:label "knows" .
:livesIn a owl:ObjectProperty ; rdfs:label "lives in" ; rdfs:domain :Person ; rdfs:range :Town .

:ada a :Writer ; rdfs:label "Ada Hill" ; :bornIn :lund ; :birthYear 1901 .
:bob a :Person ; rdfs:label "Bob Stone" ; :knows :ada .
:lund a :Town ; rdfs:label "Lund" ; :capitalOf :scania .
:visby a :Town ; rdfs:label "Visby" .
:scania a :Place ; rdfs:label "Scania" .
:moss a :Book ; rdfs:label "Moss" ; :isbn "111" .
:fern a :Book ; rdfs:label "Fern" .
:ada :wrote :moss ; :parentOf :bob ; :livesIn :visby .
"""


def iri(name: str) -> URIRef:
    return URIRef(E + name)


def read(
    subject: str, predicate: str, value: str | Term, confidence: float = 0.9, quote: str = "As it says."
) -> CompletedTriple:
    """A triple as a reader gives it; names are below the example namespace."""
    o = value if isinstance(value, URIRef | Literal) else iri(str(value))
    ref = EvidenceRef("urn:x:page", quote, "passage", "page.txt")
    return CompletedTriple(iri(subject), iri(predicate), o, "completed", (ref,), confidence)


def triples(turtle: str = TURTLE) -> list[Triple]:
    return [Triple(*t) for t in Graph().parse(data=turtle, format="turtle")]  # type: ignore[arg-type]


def asks(kg: KnowledgeGraph, text: str) -> bool:
    return kg.query(f"PREFIX : <{E}> ASK {{ {text} }}") is True


def contents(kg: KnowledgeGraph) -> dict[str, list[str]]:
    """Return all that questions are answered from, layer by layer."""
    found: dict[str, list[str]] = {"asserted": [], "completed": [], "inferred": []}
    for graph in (*kg.record.asserted, *kg.record.inferred):
        rows = kg.store.construct(queries.get("kg/graph").text, Dataset((graph,)))
        found[status_of(graph, inferred=graph in kg.record.inferred)] += [str(t) for t in rows]
    assert kg.record.triples == len(found["asserted"]) + len(found["completed"])
    everything = [line for lines in found.values() for line in lines]
    assert len(everything) == len(set(everything)), "no triple stands twice"
    return {name: sorted(lines) for name, lines in found.items()}


def proposed(
    kg: KnowledgeGraph,
    *read: CompletedTriple,
    question: str = "Where?",
    settings: CheckSettings | None = None,
    **names: str,
) -> CompletionRun:
    """Propose what was read; `names` are those of new entities."""
    new = {str(iri(name)): label for name, label in names.items()}
    run = propose(kg, question, read, model="hand", names=new, settings=settings)
    assert run is not None
    return run
