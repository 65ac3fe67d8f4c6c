"""The vocabulary `ontology/mrag.ttl`: well-formed, aligned with PROV-O; both ontologies say what they are."""

from collections.abc import Iterable
from pathlib import Path

import owlrl
import pyoxigraph as ox
import pytest
from rdflib import DCTERMS, OWL, PROV, RDF, RDFS, XSD, Graph, Literal, Namespace, URIRef
from rdflib.term import Node

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OWLRL_ERROR = URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")


def close(*parts: Iterable[tuple[Node, Node, Node]]) -> Graph:
    """The OWL 2 RL closure of some triples, as a new graph."""
    closed = Graph()
    for triples in parts:
        for triple in triples:
            closed.add(triple)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(closed)
    return closed


def errors(closed: Graph) -> list[str]:
    return [str(message) for message in closed.objects(None, OWLRL_ERROR)]


FILE = ROOT / "ontology" / "mrag.ttl"
ONTOLOGY = URIRef("https://w3id.org/mrag")
MRAG = Namespace("https://w3id.org/mrag#")


def terms(names: str) -> set[URIRef]:
    return {MRAG[name] for name in names.split()}


CLASSES = terms(
    "CompletedStatement CompletionRun GraphLayer KnowledgeGraph Passage Proof SavedQuery SavedQuestion"
)
LAYERS = terms("addedGraph assertedGraph completedGraph contextGraph enrichedGraph inferredGraph mergedGraph")
OBJECT_PROPERTIES = {*LAYERS, MRAG.conclusion, MRAG.premise, MRAG.writesTo}
DATATYPE_PROPERTIES: dict[URIRef, tuple[URIRef | None, URIRef]] = {
    MRAG[name]: (MRAG[domain] if domain != "-" else None, datatype)
    for datatype, domain, names in (
        (MRAG.verbatim, "CompletionRun", "checks question"),
        (MRAG.verbatim, "CompletedStatement", "objection"),
        (MRAG.verbatim, "SavedQuestion", "reading wording"), (MRAG.sparql, "SavedQuery", "queryText"),
        (RDF.JSON, "SavedQuestion", "plan"), (XSD.decimal, "CompletedStatement", "confidence"),
        (XSD.integer, "Passage", "startOffset endOffset"),
        (XSD.integer, "KnowledgeGraph", "reasonedRevision revision tripleCount"),
        (XSD.string, "KnowledgeGraph", "pendingOperation prefixes profile"), (XSD.string, "Proof", "rule"),
        (XSD.string, "CompletionRun", "runState"), (XSD.string, "CompletedStatement", "verdict"),
        (XSD.string, "-", "touched"),
    )
    for name in names.split()
}  # fmt: skip
ANNOTATIONS = terms(
    "classExpression instanceQuery learner negativeExamples negativesHeld positiveExamples positivesHeld "
    "quality qualityMeasure worldAssumption"
)
DATATYPES = {MRAG.manchester, MRAG.sparql, MRAG.verbatim}
TERMS = {*CLASSES, *OBJECT_PROPERTIES, *DATATYPE_PROPERTIES, *ANNOTATIONS, *DATATYPES}
KG, PROOF, PREMISE, CONCLUSION = map(URIRef, ("urn:kg", "urn:proof", "urn:premise", "urn:conclusion"))


@pytest.fixture(scope="session")
def vocabulary() -> Graph:
    return Graph().parse(FILE)


def test_the_terms_are_exactly_these(vocabulary: Graph) -> None:
    assert {s for s in vocabulary.subjects() if s in MRAG} == TERMS
    assert {t for triple in vocabulary for t in triple if isinstance(t, URIRef) and t in MRAG} == TERMS


def test_each_term_is_declared_with_its_kind(vocabulary: Graph) -> None:
    for kind, terms in (
        (OWL.Class, CLASSES | {PROV.Activity, PROV.Entity}),
        (OWL.ObjectProperty, OBJECT_PROPERTIES | {PROV.wasDerivedFrom}),
        (OWL.DatatypeProperty, set(DATATYPE_PROPERTIES)),
        (OWL.AnnotationProperty, ANNOTATIONS | {DCTERMS.description, DCTERMS.license, DCTERMS.title}),
        (RDFS.Datatype, DATATYPES),
    ):
        assert set(vocabulary.subjects(RDF.type, kind)) == terms
    assert not any(p in MRAG or p in PROV for p in vocabulary.predicates())


@pytest.mark.parametrize("term", sorted(TERMS))
def test_each_term_is_labelled_and_explained_in_english_and_german(vocabulary: Graph, term: URIRef) -> None:
    for annotation in (RDFS.label, RDFS.comment):
        texts = list(vocabulary.objects(term, annotation))
        assert sorted(t.language for t in texts) == ["de", "en"]
        assert all(str(t) == " ".join(str(t).split()) != "" for t in texts)
    assert vocabulary.value(term, RDFS.isDefinedBy, any=False) == ONTOLOGY


def test_labels_are_unique_and_layers_lead_from_a_knowledge_graph(vocabulary: Graph) -> None:
    labels = [o for term in TERMS for o in vocabulary.objects(term, RDFS.label)]
    assert len(labels) == len(set(labels)) == 2 * len(TERMS)

    for prop in LAYERS:
        assert set(vocabulary.objects(prop, RDFS.domain)) == {MRAG.KnowledgeGraph}
        assert set(vocabulary.objects(prop, RDFS.range)) == {MRAG.GraphLayer}


def test_datatype_properties_and_functional_ones(vocabulary: Graph) -> None:
    for prop, (domain, datatype) in DATATYPE_PROPERTIES.items():
        assert set(vocabulary.objects(prop, RDFS.domain)) == {domain} - {None}, prop
        assert set(vocabulary.objects(prop, RDFS.range)) == {datatype}, prop
    functional = set(vocabulary.subjects(RDF.type, OWL.FunctionalProperty))
    assert functional == terms("conclusion reasonedRevision revision rule tripleCount")


def test_a_knowledge_graph_described_in_the_vocabulary(vocabulary: Graph) -> None:
    layers = {prop: URIRef(f"urn:example:{i}") for i, prop in enumerate(sorted(LAYERS))}
    values = {"revision": 2, "reasonedRevision": 1, "pendingOperation": "reason", "profile": "owl2-rl"}
    said = [(KG, MRAG[name], Literal(value)) for name, value in values.items()]
    closed = close(vocabulary, said, ((KG, prop, graph) for prop, graph in layers.items()))
    assert errors(closed) == []
    assert (KG, RDF.type, MRAG.KnowledgeGraph) in closed
    for graph in layers.values():
        assert (graph, RDF.type, MRAG.GraphLayer) in closed


def test_a_proof_is_a_derivation_in_prov(vocabulary: Graph) -> None:
    said = {MRAG.rule: Literal("cax-sco"), MRAG.premise: PREMISE, MRAG.conclusion: CONCLUSION}
    closed = close(vocabulary, ((PROOF, p, o) for p, o in said.items()))
    assert errors(closed) == []
    assert (PROOF, RDF.type, MRAG.Proof) in closed
    assert (PROOF, PROV.wasDerivedFrom, PREMISE) in closed
    assert (PROOF, PROV.wasDerivedFrom, CONCLUSION) not in closed
    assert {PROOF, PREMISE, CONCLUSION} <= set(closed.subjects(RDF.type, PROV.Entity))


def test_a_proof_has_one_conclusion_and_any_number_of_premises(vocabulary: Graph) -> None:
    other = URIRef("urn:example:other")
    for prop, one in ((MRAG.conclusion, CONCLUSION), (MRAG.premise, PREMISE)):
        twice = close(vocabulary, [(PROOF, prop, one), (PROOF, prop, other)])
        assert ((one, OWL.sameAs, other) in twice) == (prop == MRAG.conclusion)


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
