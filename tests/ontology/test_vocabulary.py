"""The vocabulary `ontology/mrag.ttl`: well-formed, explained, and aligned with PROV-O."""

from __future__ import annotations

from pathlib import Path

import owlrl
import pyoxigraph as ox
import pytest
from rdflib import OWL, PROV, RDF, RDFS, XSD, Graph, Literal, Namespace, URIRef
from rdflib.namespace import DCTERMS

FILE = Path(__file__).parents[2] / "ontology" / "mrag.ttl"
ONTOLOGY = URIRef("https://w3id.org/mrag")
MRAG = Namespace("https://w3id.org/mrag#")
OWLRL_ERROR = URIRef("http://www.daml.org/2002/03/agents/agent-ont#error")

CLASSES = {
    MRAG.Calibration,
    MRAG.CompletedStatement,
    MRAG.CompletionRun,
    MRAG.GraphLayer,
    MRAG.KnowledgeGraph,
    MRAG.Passage,
    MRAG.Proof,
    MRAG.SavedQuery,
    MRAG.SavedQuestion,
}
LAYERS = {
    MRAG.addedGraph,
    MRAG.assertedGraph,
    MRAG.completedGraph,
    MRAG.contextGraph,
    MRAG.enrichedGraph,
    MRAG.inferredGraph,
    MRAG.mergedGraph,
}
OBJECT_PROPERTIES = {*LAYERS, MRAG.conclusion, MRAG.premise, MRAG.writesTo}
DATATYPE_PROPERTIES: dict[URIRef, tuple[URIRef | None, URIRef]] = {
    MRAG.checks: (MRAG.CompletionRun, MRAG.verbatim),
    MRAG.confidence: (MRAG.CompletedStatement, XSD.decimal),
    MRAG.endOffset: (MRAG.Passage, XSD.integer),
    MRAG.objection: (MRAG.CompletedStatement, MRAG.verbatim),
    MRAG.parameter: (MRAG.SavedQuestion, MRAG.verbatim),
    MRAG.pendingOperation: (MRAG.KnowledgeGraph, XSD.string),
    MRAG.plan: (MRAG.SavedQuestion, RDF.JSON),
    MRAG.prefixes: (MRAG.KnowledgeGraph, XSD.string),
    MRAG.profile: (MRAG.KnowledgeGraph, XSD.string),
    MRAG.queryText: (MRAG.SavedQuery, MRAG.sparql),
    MRAG.question: (MRAG.CompletionRun, MRAG.verbatim),
    MRAG.reading: (MRAG.SavedQuestion, MRAG.verbatim),
    MRAG.reasonedRevision: (MRAG.KnowledgeGraph, XSD.integer),
    MRAG.revision: (MRAG.KnowledgeGraph, XSD.integer),
    MRAG.rule: (MRAG.Proof, XSD.string),
    MRAG.runState: (MRAG.CompletionRun, XSD.string),
    MRAG.startOffset: (MRAG.Passage, XSD.integer),
    MRAG.touched: (None, XSD.string),
    MRAG.tripleCount: (MRAG.KnowledgeGraph, XSD.integer),
    MRAG.verdict: (MRAG.CompletedStatement, XSD.string),
    MRAG.weights: (MRAG.Calibration, RDF.JSON),
    MRAG.wording: (MRAG.SavedQuestion, MRAG.verbatim),
}
ANNOTATIONS = {
    MRAG.classExpression,
    MRAG.instanceQuery,
    MRAG.learner,
    MRAG.negativeExamples,
    MRAG.negativesHeld,
    MRAG.positiveExamples,
    MRAG.positivesHeld,
    MRAG.quality,
    MRAG.qualityMeasure,
    MRAG.worldAssumption,
}
DATATYPES = {MRAG.manchester, MRAG.sparql, MRAG.verbatim}
TERMS = {*CLASSES, *OBJECT_PROPERTIES, *DATATYPE_PROPERTIES, *ANNOTATIONS, *DATATYPES}

KG = URIRef("urn:example:kg")
PROOF = URIRef("urn:example:proof")
PREMISE = URIRef("urn:example:premise")
CONCLUSION = URIRef("urn:example:conclusion")


@pytest.fixture(scope="session")
def vocabulary() -> Graph:
    return Graph().parse(FILE)


def close(vocabulary: Graph, *data: tuple[URIRef, URIRef, URIRef | Literal]) -> Graph:
    """The OWL 2 RL closure of the vocabulary with some data."""
    closed = Graph()
    for triple in (*vocabulary, *data):
        closed.add(triple)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(closed)
    return closed


def test_both_parsers_read_the_same_number_of_triples(vocabulary: Graph) -> None:
    strict = set(ox.parse(path=FILE, format=ox.RdfFormat.TURTLE, lenient=False))
    assert len(strict) == len(vocabulary) > 100


def test_ontology_header(vocabulary: Graph) -> None:
    assert (ONTOLOGY, RDF.type, OWL.Ontology) in vocabulary
    version = str(vocabulary.value(ONTOLOGY, OWL.versionInfo))
    assert vocabulary.value(ONTOLOGY, OWL.versionIRI) == URIRef(f"{ONTOLOGY}/{version}")
    assert vocabulary.value(ONTOLOGY, DCTERMS.license) == URIRef(
        "https://creativecommons.org/publicdomain/zero/1.0/"
    )
    for annotation in (DCTERMS.title, DCTERMS.description):
        assert {o.language for o in vocabulary.objects(ONTOLOGY, annotation)} == {"en", "de"}


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


def test_every_predicate_is_declared_or_built_in(vocabulary: Graph) -> None:
    foreign = {p for p in vocabulary.predicates() if not any(p in ns for ns in (RDF, RDFS, OWL))}
    assert foreign == {DCTERMS.description, DCTERMS.license, DCTERMS.title}


@pytest.mark.parametrize("term", sorted(TERMS))
def test_each_term_is_labelled_and_explained_in_english_and_german(vocabulary: Graph, term: URIRef) -> None:
    for annotation in (RDFS.label, RDFS.comment):
        texts = list(vocabulary.objects(term, annotation))
        assert sorted(t.language for t in texts) == ["de", "en"]
        assert all(str(t) == " ".join(str(t).split()) != "" for t in texts)
    assert vocabulary.value(term, RDFS.isDefinedBy, any=False) == ONTOLOGY


def test_labels_are_unique(vocabulary: Graph) -> None:
    labels = [o for term in TERMS for o in vocabulary.objects(term, RDFS.label)]
    assert len(labels) == len(set(labels)) == 2 * len(TERMS)


def test_layer_properties_lead_from_a_knowledge_graph_to_a_layer(vocabulary: Graph) -> None:
    for prop in LAYERS:
        assert set(vocabulary.objects(prop, RDFS.domain)) == {MRAG.KnowledgeGraph}
        assert set(vocabulary.objects(prop, RDFS.range)) == {MRAG.GraphLayer}


@pytest.mark.parametrize("prop", sorted(DATATYPE_PROPERTIES))
def test_datatype_properties(vocabulary: Graph, prop: URIRef) -> None:
    domain, datatype = DATATYPE_PROPERTIES[prop]
    assert set(vocabulary.objects(prop, RDFS.domain)) == {domain} - {None}
    assert set(vocabulary.objects(prop, RDFS.range)) == {datatype}


def test_a_knowledge_graph_described_in_the_vocabulary(vocabulary: Graph) -> None:
    layers = {prop: URIRef(f"urn:example:{i}") for i, prop in enumerate(sorted(LAYERS))}
    closed = close(
        vocabulary,
        *((KG, prop, graph) for prop, graph in layers.items()),
        (KG, MRAG.revision, Literal(2)),
        (KG, MRAG.reasonedRevision, Literal(1)),
        (KG, MRAG.pendingOperation, Literal("reason")),
        (KG, MRAG.profile, Literal("owl2-rl")),
    )
    assert list(closed.objects(None, OWLRL_ERROR)) == []
    assert (KG, RDF.type, MRAG.KnowledgeGraph) in closed
    for graph in layers.values():
        assert (graph, RDF.type, MRAG.GraphLayer) in closed


def test_a_proof_is_a_derivation_in_prov(vocabulary: Graph) -> None:
    closed = close(
        vocabulary,
        (PROOF, MRAG.rule, Literal("cax-sco")),
        (PROOF, MRAG.premise, PREMISE),
        (PROOF, MRAG.conclusion, CONCLUSION),
    )
    assert list(closed.objects(None, OWLRL_ERROR)) == []
    assert (PROOF, RDF.type, MRAG.Proof) in closed
    assert (PROOF, PROV.wasDerivedFrom, PREMISE) in closed
    assert (PROOF, PROV.wasDerivedFrom, CONCLUSION) not in closed
    assert {PROOF, PREMISE, CONCLUSION} <= set(closed.subjects(RDF.type, PROV.Entity))


def test_functional_properties(vocabulary: Graph) -> None:
    functional = set(vocabulary.subjects(RDF.type, OWL.FunctionalProperty))
    assert functional == {MRAG.conclusion, MRAG.reasonedRevision, MRAG.revision, MRAG.rule, MRAG.tripleCount}


def test_a_proof_has_one_conclusion_and_any_number_of_premises(vocabulary: Graph) -> None:
    other = URIRef("urn:example:other")
    two_conclusions = close(vocabulary, (PROOF, MRAG.conclusion, CONCLUSION), (PROOF, MRAG.conclusion, other))
    assert (CONCLUSION, OWL.sameAs, other) in two_conclusions
    two_premises = close(vocabulary, (PROOF, MRAG.premise, PREMISE), (PROOF, MRAG.premise, other))
    assert (PREMISE, OWL.sameAs, other) not in two_premises
