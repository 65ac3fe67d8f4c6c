"""The demo graph `ontology/products.ttl`: well-formed, complete, consistent, and worth reasoning over."""

import re

import pytest
from rdflib import DCTERMS, FOAF, OWL, RDF, RDFS, SKOS, XSD, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection

from tests.ontology.test_vocabulary import HERE, ROOT, close, errors

FILE = ROOT / "ontology" / "products.ttl"
EX = Namespace("https://w3id.org/mrag/demo/products#")
PROPERTY_TYPES = {OWL.ObjectProperty, OWL.DatatypeProperty, OWL.AnnotationProperty}
ANNOTATIONS = {DCTERMS.description, DCTERMS.license, DCTERMS.title, FOAF.homepage, SKOS.altLabel}
DEFINED = {EX.EuropeanProduct, EX.OpenSourceProduct, EX.SemanticProduct, EX.VectorProduct}


def members(graph: Graph, cls: URIRef) -> set[URIRef]:
    """The individuals asserted in a class or in one of its named subclasses."""
    return {
        individual
        for sub in graph.transitive_subjects(RDFS.subClassOf, cls)
        for individual in graph.subjects(RDF.type, sub)
        if isinstance(individual, URIRef)
    }


def declared(graph: Graph, *kinds: URIRef) -> set[URIRef]:
    return {s for kind in kinds for s in graph.subjects(RDF.type, kind) if isinstance(s, URIRef)}


def individuals(graph: Graph) -> set[URIRef]:
    schema = declared(graph, OWL.Class, *PROPERTY_TYPES)
    return {s for s in graph.subjects() if isinstance(s, URIRef) and s in EX} - schema


@pytest.fixture(scope="session")
def products() -> Graph:
    return Graph().parse(FILE)


@pytest.fixture(scope="session")
def bare(products: Graph) -> Graph:
    """The graph without annotations, which have no part in reasoning: small, for 'what if' closures."""
    graph = Graph()
    for s, p, o in products:
        if p not in ANNOTATIONS | {RDFS.label, RDFS.comment}:
            graph.add((s, p, o))
    return graph


@pytest.fixture(scope="session")
def closed(bare: Graph) -> Graph:
    """Its closure; with a triple more it is closed again in less time, and to the same."""
    return close(bare)


def test_each_section_is_sorted() -> None:
    previous: str | None = None
    count = 0
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if re.match(r"# (---|\d+\.\d+) ", line):
            previous = None
        elif subject := re.match(r"ex:(\w+) a ", line):
            assert previous is None or previous < subject[1]
            previous = subject[1]
            count += 1
    assert count > 200, "the pattern above no longer matches the layout of the file"


def test_every_term_has_exactly_one_english_label(products: Graph) -> None:
    terms = {s for s in products.subjects() if isinstance(s, URIRef) and s in EX}
    assert len(terms) > 200
    for term in terms:
        assert [o.language for o in products.objects(term, RDFS.label)].count("en") == 1, term


def test_schema_terms_have_labels_in_three_languages_and_an_english_comment(products: Graph) -> None:
    terms = {t for t in declared(products, OWL.Class, *PROPERTY_TYPES) if t in EX}
    assert len(terms) > 50
    for term in terms:
        languages = sorted(o.language for o in products.objects(term, RDFS.label))
        assert languages == ["de", "en", "it"], term
        assert [o.language for o in products.objects(term, RDFS.comment)] == ["en"], term


def test_labels_and_texts_are_language_tagged_and_tidy(products: Graph) -> None:
    for annotation in (RDFS.label, RDFS.comment, SKOS.altLabel, DCTERMS.description):
        for subject, text in products.subject_objects(annotation):
            assert isinstance(text, Literal)
            assert text.language in {"en", "de", "it"}, subject
            assert str(text) == " ".join(str(text).split()) != "", subject
            if annotation in (RDFS.comment, DCTERMS.description):
                assert str(text).endswith("."), subject


def test_products_vendors_features_are_described_in_english(products: Graph) -> None:
    for cls in (EX.Product, EX.Vendor, EX.Feature, EX.LicenseKind):
        for individual in members(products, cls):
            texts = [o for o in products.objects(individual, DCTERMS.description) if o.language == "en"]
            assert len(texts) == 1, individual


@pytest.mark.parametrize(("language", "labels", "descriptions"), [("de", 80, 25), ("it", 80, 15)])
def test_translations_of_individuals(products: Graph, language: str, labels: int, descriptions: int) -> None:
    named = individuals(products)
    for annotation, least in ((RDFS.label, labels), (DCTERMS.description, descriptions)):
        translated = {s for s, o in products.subject_objects(annotation) if o.language == language}
        assert len(translated & named) >= least


def test_english_labels_tell_individuals_of_a_kind_apart(products: Graph) -> None:
    for cls in (EX.Product, EX.Vendor, EX.Feature, EX.Place, EX.LicenseKind):
        every = (o for s in members(products, cls) for o in products.objects(s, RDFS.label))
        labels = [str(o).casefold() for o in every if o.language == "en"]
        assert len(labels) == len(set(labels)), cls


def test_homepages_are_iris_and_belong_to_one_thing_each(products: Graph) -> None:
    # In FOAF a homepage identifies its owner, so a shared one would merge a product with its vendor.
    pages = list(products.objects(None, FOAF.homepage))
    assert len(pages) > 60
    assert len(pages) == len(set(pages))
    assert all(isinstance(page, URIRef) and re.match(r"https?://", page) for page in pages)


def test_what_there_has_to_be(products: Graph) -> None:
    for cls, least in ((EX.Product, 44), (EX.Vendor, 24), (EX.Feature, 30)):
        assert len(members(products, cls)) >= least
    for name in ("GraphDB", "Virtuoso", "RDFox", "Neo4j", "Chroma", "PostgreSQL"):
        assert EX[name] in members(products, EX.Product)
        assert Literal(name, lang="en") in set(products.objects(EX[name], RDFS.label))
    vendors = ("Neo4j Inc.", "Ontotext", "OpenLink Software", "Oxford Semantic Technologies",
               "PostgreSQL Global Development Group")  # fmt: skip
    for label in vendors:
        vendor = products.value(predicate=RDFS.label, object=Literal(label, lang="en"), any=False)
        assert vendor in members(products, EX.Vendor)


def test_semantic_features_are_those_of_the_semantic_web(products: Graph) -> None:
    semantic = members(products, EX.SemanticFeature)
    these = "GeoSPARQLQuerying OWLReasoning RDFSReasoning RDFStorage SHACLValidation SPARQLQuerying"
    others = "CypherQuerying FullTextSearch PropertyGraphStorage SQLQuerying VectorIndexing"
    assert semantic >= {EX[name] for name in these.split()}
    assert semantic.isdisjoint(EX[name] for name in others.split())
    standards = re.compile(r"\b(GeoSPARQL|Linked Data|OWL|RDFS?|SHACL|SKOS|SPARQL|ontology)\b")
    for feature in members(products, EX.Feature):
        texts = [*products.objects(feature, RDFS.label), *products.objects(feature, DCTERMS.description)]
        names_one = any(standards.search(str(text)) for text in texts)
        assert names_one == (feature in semantic), feature


def test_words_of_the_demo_question_reach_the_three_triple_stores(products: Graph) -> None:
    # "What database products are linked to RDF?"
    features = {
        s
        for annotation in (RDFS.label, SKOS.altLabel)
        for s, o in products.subject_objects(annotation)
        if s in members(products, EX.Feature) and re.search(r"\bRDF\b", str(o))
    }
    assert EX.RDFStorage in features
    linked = {s for feature in features for s in products.subjects(EX.hasFeature, feature)}
    assert {EX.GraphDB, EX.Virtuoso, EX.RDFox} <= linked
    assert linked.isdisjoint({EX.Neo4j, EX.Chroma, EX.PostgreSQL})
    question_terms = {("linked to", EX.linkedTo), ("database", EX.Database), ("product", EX.Product)}
    for label, term in question_terms:
        assert Literal(label, lang="en") in set(products.objects(term, RDFS.label))


def test_nothing_in_the_namespace_is_undeclared(products: Graph) -> None:
    mentioned = {t for triple in products for t in triple if isinstance(t, URIRef) and t in EX}
    typed = {s for s in products.subjects(RDF.type, None) if isinstance(s, URIRef)}
    assert mentioned - typed == set()


def test_annotation_properties_are_exactly_the_foreign_ones(products: Graph) -> None:
    assert declared(products, OWL.AnnotationProperty) == ANNOTATIONS
    assert set(products.predicates()) >= ANNOTATIONS


def test_every_class_is_declared(products: Graph) -> None:
    classes = declared(products, OWL.Class)
    used = set(products.objects(None, RDF.type)) | set(products.objects(None, OWL.disjointWith))
    used |= {t for pair in products.subject_objects(RDFS.subClassOf) for t in pair}
    used |= set(products.objects(None, OWL.someValuesFrom)) | set(products.objects(None, RDFS.domain))
    used |= {o for p in declared(products, OWL.ObjectProperty) for o in products.objects(p, RDFS.range)}
    for node in products.subjects(RDF.type, OWL.AllDisjointClasses):
        used |= set(Collection(products, products.value(node, OWL.members)))
    assert EX.SemanticFeature in used
    assert {c for c in used if c in EX} <= classes
    assert {c for c in used if isinstance(c, URIRef) and c not in EX and c not in OWL} == set()


def test_no_term_plays_two_parts(products: Graph) -> None:
    properties = [declared(products, kind) for kind in sorted(PROPERTY_TYPES)]
    parts = [declared(products, OWL.Class), *properties, individuals(products)]
    assert all(parts)
    assert sum(map(len, parts)) == len(set().union(*parts))


def test_objects_and_data_values_are_not_mixed(products: Graph) -> None:
    for prop in declared(products, OWL.ObjectProperty):
        assert all(isinstance(o, URIRef) for o in products.objects(None, prop)), prop
    for prop in declared(products, OWL.DatatypeProperty):
        values = list(products.objects(None, prop))
        assert values, prop
        assert {v.datatype for v in values} == {products.value(prop, RDFS.range)} == {XSD.integer}, prop


def test_only_simple_properties_carry_axioms_for_simple_ones(products: Graph) -> None:
    # OWL 2 DL, section 11.2: a property above a chain or a transitive one must not be functional & co.
    composite = {*products.subjects(OWL.propertyChainAxiom), *declared(products, OWL.TransitiveProperty)}
    assert len(composite) == 4
    restricted = declared(products, OWL.FunctionalProperty, OWL.AsymmetricProperty)
    assert EX.headquarteredIn in restricted
    for prop in composite:
        assert restricted.isdisjoint(products.transitive_objects(prop, RDFS.subPropertyOf)), prop


def test_all_cities_are_told_apart(products: Graph) -> None:
    nodes = products.subjects(RDF.type, OWL.AllDifferent)
    sets = [set(Collection(products, products.value(node, OWL.distinctMembers))) for node in nodes]
    assert members(products, EX.City) in sets
    assert members(products, EX.LicenseKind) in sets


@pytest.mark.parametrize(
    ("name", "prop", "filler", "value"),
    [
        ("SemanticProduct", EX.hasFeature, OWL.someValuesFrom, EX.SemanticFeature),
        ("VectorProduct", EX.hasFeature, OWL.someValuesFrom, EX.VectorFeature),
        ("OpenSourceProduct", EX.licenseKind, OWL.hasValue, EX.OpenSource),
        ("EuropeanProduct", EX.developedIn, OWL.hasValue, EX.Europe),
    ],
)
def test_defined_classes(products: Graph, name: str, prop: URIRef, filler: URIRef, value: URIRef) -> None:
    definition = products.value(EX[name], OWL.equivalentClass, any=False)
    product, restriction = Collection(products, products.value(definition, OWL.intersectionOf))
    wanted = {(RDF.type, OWL.Restriction), (OWL.onProperty, prop), (filler, value)}
    assert product == EX.Product and set(products.predicate_objects(restriction)) == wanted
    assert list(products.subjects(RDF.type, EX[name])) == [], "never asserted"


AXIOMS = set(Graph().parse(HERE / "axioms.ttl"))
CHAINS = {EX.basedIn: [EX.basedIn, EX.locatedIn], EX.developedIn: [EX.developedBy, EX.basedIn]}


def test_axioms_and_chains(products: Graph) -> None:
    assert set(products) >= AXIOMS
    for prop, chain in CHAINS.items():
        assert list(Collection(products, products.value(prop, OWL.propertyChainAxiom, any=False))) == chain


@pytest.mark.slow
def test_every_property_has_statements(products: Graph, closed: Graph) -> None:
    inferred_only = {EX.linkedTo, EX.developedIn}
    for prop in declared(products, OWL.ObjectProperty, OWL.DatatypeProperty):
        assert ((None, prop, None) in products) == (prop not in inferred_only), prop
        assert (None, prop, None) in closed, prop


def test_every_class_has_members(products: Graph, closed: Graph) -> None:
    for cls in declared(products, OWL.Class):
        assert any(s in EX for s in closed.subjects(RDF.type, cls) if isinstance(s, URIRef)), cls


def test_every_individual_is_used(products: Graph, closed: Graph) -> None:
    used = {
        EX.Feature: set(products.objects(None, EX.hasFeature)),
        EX.LicenseKind: set(products.objects(None, EX.licenseKind)),
        EX.Place: set(closed.objects(None, EX.basedIn)),
        EX.Product: set(closed.subjects(EX.developedBy, None)) & set(products.subjects(EX.hasFeature)),
        EX.Vendor: set(closed.subjects(EX.develops, None)),
    }
    for cls, uses in used.items():
        assert members(products, cls) == uses, cls
    assert set().union(*used.values()) == individuals(products)


def test_the_closure_is_consistent_and_merges_nothing(products: Graph, closed: Graph) -> None:
    assert errors(closed) == []
    named = individuals(products)
    assert not {(s, o) for s, o in closed.subject_objects(OWL.sameAs) if s != o and {s, o} <= named}


MEMBERS = {
    EX.SemanticProduct: (
        "GraphDB Virtuoso RDFox Fuseki Oxigraph Neosemantics", "Neo4j Chroma PostgreSQL MongoDB OpenRefine",
    ),
    EX.VectorProduct: ("Chroma GraphDB Neo4j Pgvector", "PostgreSQL RDFox Virtuoso"),
    EX.OpenSourceProduct: ("PostgreSQL", "GraphDB"),
    EX.EuropeanProduct: ("GraphDB RDFox Ontop SAPHANA", "Neo4j Virtuoso PostgreSQL MySQL"),
}  # fmt: skip


def test_members_of_defined_classes(products: Graph, closed: Graph) -> None:
    for cls, (some, others) in MEMBERS.items():
        found = set(closed.subjects(RDF.type, cls))
        assert found >= {EX[name] for name in some.split()} and found <= members(products, EX.Product)
        assert found.isdisjoint(EX[name] for name in others.split())
    for cls, kind in ((EX.SemanticProduct, EX.SemanticFeature), (EX.VectorProduct, EX.VectorFeature)):
        expected = {p for f in members(products, kind) for p in products.subjects(EX.hasFeature, f)}
        assert set(closed.subjects(RDF.type, cls)) == expected
    open_source = set(products.subjects(EX.licenseKind, EX.OpenSource))
    assert set(closed.subjects(RDF.type, EX.OpenSourceProduct)) == open_source


def test_linked_to_follows_from_has_feature(products: Graph, closed: Graph) -> None:
    assert (EX.GraphDB, EX.linkedTo, EX.RDFStorage) in closed
    links = set(closed.subject_objects(EX.linkedTo))
    assert links == set(products.subject_objects(EX.hasFeature))


INFERRED = set(Graph().parse(HERE / "inferred.ttl"))


def test_inferred_statements(products: Graph, closed: Graph) -> None:
    assert set(closed) >= INFERRED and INFERRED.isdisjoint(products)


@pytest.mark.slow
def test_without_annotations_the_same_follows(products: Graph, closed: Graph) -> None:
    whole = close(products)
    assert errors(whole) == errors(closed) == []
    for cls in DEFINED:
        assert set(whole.subjects(RDF.type, cls)) == set(closed.subjects(RDF.type, cls)) != set()
    named = individuals(products)
    assert all(s == o for s, o in whole.subject_objects(OWL.sameAs) if s in named and o in named)


@pytest.mark.slow
def test_one_rdf_feature_would_make_neo4j_semantic(closed: Graph) -> None:
    changed = close(closed, [(EX.Neo4j, EX.hasFeature, EX.RDFStorage)])
    assert (EX.Neo4j, RDF.type, EX.SemanticProduct) in changed
    assert errors(changed) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "triple",
    [
        pytest.param((EX.GraphDB, RDF.type, EX.Vendor), id="a product is no vendor"),
        pytest.param((EX.GraphDB, EX.hasFeature, EX.Ontotext), id="a vendor is no feature"),
        pytest.param((EX.GraphDB, EX.developedBy, EX.Neo4j), id="a product develops nothing"),
        pytest.param((EX.Sofia, RDF.type, EX.Country), id="a city is no country"),
        pytest.param((EX.Ontotext, EX.headquarteredIn, EX.Vienna), id="one headquarters"),
        pytest.param((EX.PostgreSQL, EX.extends, EX.Pgvector), id="no extending each other"),
    ],
)
def test_contradictions_are_noticed(bare: Graph, triple: tuple[URIRef, URIRef, URIRef]) -> None:
    # What contradicts a part contradicts the whole, which takes ten times as long to close.
    others = individuals(bare) - set(triple)
    part = [statement for statement in bare if statement[0] not in others]
    assert errors(close(part)) == []
    assert errors(close(part, [triple])) != []
