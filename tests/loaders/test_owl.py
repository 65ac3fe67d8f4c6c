"""OWL in functional syntax and OWL/XML becomes the triples of the mapping to RDF graphs."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, RDFS, Graph, URIRef
from rdflib.compare import isomorphic

import mrag
from mrag.errors import ConfigError, LoadError
from mrag.loaders.rdf import convert_owl, functional, owl_syntax
from mrag.rdf import expressions
from mrag.rdf.notation import to_graph
from tests.cases import cases
from tests.commands import python

pyhornedowl = pytest.importorskip("pyhornedowl")
PREFIXES = """Prefix(:=<urn:x:>) Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>) Prefix(rdfs:=<http://www.w3.org/2000/01/rdf-schema#>)
"""
DECLARED = """Declaration(Class(:A)) Declaration(Class(:B)) Declaration(Class(:C))
Declaration(ObjectProperty(:p)) Declaration(ObjectProperty(:q)) Declaration(DataProperty(:d))
Declaration(NamedIndividual(:a)) Declaration(NamedIndividual(:b))
"""
TURTLE = """@prefix : <urn:x:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:x> a owl:Ontology . :A a owl:Class . :B a owl:Class . :C a owl:Class . :p a owl:ObjectProperty .
:q a owl:ObjectProperty . :d a owl:DatatypeProperty . :a a owl:NamedIndividual . :b a owl:NamedIndividual .
"""
HERE = Path(__file__).parent
AXIOMS = [line.split("\t") for line in (HERE / "axioms.tsv").read_text("utf-8").splitlines()]
"""Axioms in functional syntax, each with its triples in Turtle."""


def ontology(*axioms: str) -> str:
    return PREFIXES + "Ontology(<urn:x>\n" + DECLARED + "\n".join(axioms) + ")"


def as_xml(text: str) -> str:
    return str(pyhornedowl.open_ontology_from_string(text, "ofn").save_to_string("owx"))


@pytest.mark.parametrize("syntax", ["ofn", "owx"])
@pytest.mark.parametrize(("axiom", "turtle"), AXIOMS)
def test_an_axiom_is_its_triples(axiom: str, turtle: str, syntax: str) -> None:
    text = ontology(axiom)
    found = convert_owl(text if syntax == "ofn" else as_xml(text), syntax, "a." + syntax)
    wanted = Graph().parse(data=TURTLE + turtle, format="turtle")
    assert isomorphic(Graph().parse(data=found, format="nt"), wanted)


def unqualified(graph: Graph) -> Graph:
    """Return a graph in which what counts all things says no class, as the library writes it."""
    found = Graph()
    things = {x for x, _ in graph.subject_predicates(OWL.Thing) if (x, OWL.onClass, OWL.Thing) in graph}
    for s, p, o in graph:
        if s in things and p == OWL.onClass:
            continue
        found.add((s, URIRef(str(p).replace("QualifiedC", "C")) if s in things else p, o))
    return found


names = st.sampled_from("abc").map(lambda x: expressions.Named("urn:x:" + x))
roles = st.sampled_from("pq").map(lambda x: expressions.Property("urn:x:" + x))
concepts: st.SearchStrategy[expressions.Expression] = st.recursive(
    names | st.just(expressions.Top()) | st.just(expressions.Bottom()),
    lambda some: (
        st.builds(expressions.Not, some)
        | st.builds(expressions.Some, roles, some)
        | st.builds(expressions.Only, roles, some)
        | st.builds(expressions.AtLeast, st.integers(0, 12), roles, some)
        | st.builds(expressions.AtMost, st.integers(0, 12), roles, some)
        | st.lists(some, min_size=2, max_size=3).map(lambda x: expressions.And(tuple(x)))
        | st.lists(some, min_size=2, max_size=3).map(lambda x: expressions.Or(tuple(x)))
    ),
    max_leaves=8,
)


@settings(max_examples=50)
@given(concepts)
def test_expressions_come_back_through_both_notations(concept: expressions.Expression) -> None:
    graph = Graph()
    graph.add((URIRef("urn:x"), RDF.type, OWL.Ontology))
    for name in "abcx":
        graph.add((URIRef("urn:x:" + name), RDF.type, OWL.Class))
    for name in "pq":
        graph.add((URIRef("urn:x:" + name), RDF.type, OWL.ObjectProperty))
    graph.add((URIRef("urn:x:x"), RDFS.subClassOf, to_graph(concept, graph)))
    read = pyhornedowl.open_ontology_from_string(graph.serialize(format="xml"), "rdf")
    for syntax in ("ofn", "owx"):
        found = Graph().parse(data=convert_owl(read.save_to_string(syntax), syntax, "a"), format="nt")
        assert isomorphic(unqualified(found), unqualified(graph))


def test_disjoint_classes_are_all_disjoint() -> None:
    plain = convert_owl(ontology("DisjointClasses(:C :B :A)"), "ofn", "a.ofn")
    wanted = TURTLE + "[ a owl:AllDisjointClasses ; owl:members (:C :B :A) ]."
    found = Graph().parse(data=plain, format="nt")
    members = {str(o) for o in found.objects(None, RDF.first)}
    assert members == {"urn:x:A", "urn:x:B", "urn:x:C"}
    assert len(found) == len(Graph().parse(data=wanted, format="turtle"))
    noted = ontology('DisjointClasses(Annotation(rdfs:comment "c") :A :B ObjectComplementOf(:C))')
    pairs = Graph().parse(data=convert_owl(noted, "ofn", "a.ofn"), format="nt")
    assert len(list(pairs.triples((None, OWL.disjointWith, None)))) == 3


def test_an_ontology_is_loaded_whatever_its_ending(tmp_path: Path) -> None:
    text = ontology("SubClassOf(:A :B)", "ClassAssertion(:A :a)")
    (tmp_path / "1.ofn").write_text(text, encoding="utf-8")
    (tmp_path / "2.owl").write_text("# said in OWL\n" + text.replace(":a)", ":c)"), encoding="utf-8")
    (tmp_path / "3.owx").write_text(as_xml(text.replace(":a)", ":d)")), encoding="utf-8")
    (tmp_path / "4.owl.gz").write_bytes(gzip.compress(as_xml(text.replace(":a)", ":e)")).encode()))
    with mrag.connect() as kg:
        first = kg.load([tmp_path]).triples
        assert kg.load([tmp_path]).triples == 0 < first, "blank nodes have the same names each time"
        mrag.reason(kg)
        found = {str(x) for (x,) in kg.select("SELECT ?x { ?x a <urn:x:B> }")}
        assert found == {"urn:x:a", "urn:x:c", "urn:x:d", "urn:x:e"}


def test_manchester_syntax_says_the_same_as_functional_syntax() -> None:
    one, other = (convert_owl((HERE / f"same.{kind}").read_text(), kind, "a") for kind in ("omn", "ofn"))
    assert isomorphic(*(Graph().parse(data=triples, format="nt") for triples in (one, other)))


@pytest.mark.parametrize("name", ["pets.obo", "pets.owl"])
def test_obo_has_names_synonyms_and_parents(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((HERE / "pets.obo").read_bytes())
    obo = "http://purl.obolibrary.org/obo/PET_"
    with mrag.connect() as kg:
        kg.load([tmp_path / name])
        assert kg.labels([f"{obo}1", f"{obo}2"]) == {f"{obo}1": "animal", f"{obo}2": "cat"}
        assert kg.query(f"ASK {{ <{obo}2> rdfs:subClassOf <{obo}1> }}")


def test_functional_syntax_is_written_or_refused_but_never_in_part() -> None:
    graph = Graph().parse(data=TURTLE + ":A rdfs:subClassOf [ owl:complementOf :B ] .", format="turtle")
    graph.add((next(graph.subjects(OWL.complementOf)), RDF.type, OWL.Class))
    text = functional(graph.serialize(format="xml"))
    again = Graph().parse(data=convert_owl(text, "ofn", "a"), format="nt")
    assert isomorphic(again, graph)
    several = TURTLE + "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C ) ."
    with pytest.raises(ConfigError, match="has no axioms"):
        functional(Graph().parse(data=several, format="turtle").serialize(format="xml"))


@pytest.mark.parametrize(
    ("text", "syntax"), [*cases(__file__, "BEGINNINGS"), (" " * 20_000, ""), ("<!-- " * 3_000, "")]
)
def test_the_notation_is_told_by_its_beginning(text: str, syntax: str) -> None:
    assert owl_syntax(text.encode()) == syntax


@pytest.mark.parametrize(
    ("name", "text", "words", "line"),
    [
        ("a.ofn", ontology("SubClassOf(:A)"), "expected ClassExpression", 7),
        ("a.ofn", PREFIXES + "Ontology(\nDeclaration(Class(no:A)))", "undefined prefix", 4),
        ("a.owx", as_xml(ontology("SubClassOf(:A :B)")).replace("</SubClassOf>", ""), "OWL/XML", None),
        ("a.omn", "Prefix: : <urn:x:>\nOntology: <urn:x>\nClass: :A\n    SubClassOf: :A or", "Manchester", 4),
        ("a.obo", "format-version: 1.2\n\n[Term]\nname: no id\n", "OBO", 4),
    ],
)
def test_a_mistake_is_named_with_file_and_line(
    tmp_path: Path, name: str, text: str, words: str, line: int | None
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with mrag.connect() as kg:
        with pytest.raises(LoadError) as refused:
            kg.load([tmp_path / name])
        assert not list(kg.select("SELECT ?x { ?x ?y ?z }"))
    assert words in refused.value.message and refused.value.line == line
    assert str(refused.value.file).endswith(name)


def test_without_the_library_it_is_said_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.owx").write_text(as_xml(ontology()), encoding="utf-8")
    code = (
        "import sys\nsys.modules['pyhornedowl'] = None\n"
        "from mrag.loaders.rdf import Source\nfrom mrag.errors import LoadError\n"
        "try:\n    list(Source.of(sys.argv[1]).quads())\nexcept LoadError as error:\n    print(error)\n"
    )
    done = python(code, tmp_path / "a.owx")
    assert "pip install mrag[owl]" in done.stdout and "a.owx" in done.stdout
