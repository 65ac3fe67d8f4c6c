"""One small ontology for each construct: what follows, and what must not."""

# ruff: noqa: E501  (an ontology to a line)

from __future__ import annotations

import pytest

from mrag.errors import InconsistentOntology
from mrag.reasoning.rounds import check, materialise
from tests.reasoning.helpers import SPARQL_PREFIXES, A, close, store_of, whole

SOME = "[ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom %s ]"
FOLLOWS = {
    "subclass": (":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :x a :A .", ":x a :C . :A rdfs:subClassOf :C"),
    "equivalent class": (":A owl:equivalentClass :B . :x a :A . :y a :B", ":x a :B . :y a :A"),
    "equivalent schema": (":A owl:equivalentClass :B .", ":A rdfs:subClassOf :B . :B owl:equivalentClass :A"),
    "mutual subclass": (":A rdfs:subClassOf :B . :B rdfs:subClassOf :A", ":A owl:equivalentClass :B"),
    "some": (f":A owl:equivalentClass {SOME % ':B'} . :x :p :y . :y a :B .", ":x a :A"),
    "some thing": (f":A owl:equivalentClass {SOME % 'owl:Thing'} . :x :p :y .", ":x a :A"),
    "some inverse": (
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty [ owl:inverseOf :p ] ;"
        " owl:someValuesFrom :B ] . :y :p :x . :y a :B",
        ":x a :A",
    ),
    "nested": (
        f":A owl:equivalentClass [ owl:intersectionOf ( :C {SOME % '[ owl:unionOf ( :B [ owl:oneOf ( :z ) ] ) ]'} ) ]"
        " . :x :p :y ; a :C . :y a :B . :w a :C ; :p :z .",
        ":x a :A . :w a :A",
    ),
    "has value left": (
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :v ] . :x :p :v . :y a :A",
        ":x a :A . :y :p :v",
    ),
    "has literal": (
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue 5 ] . :x :p 5 . :y a :A",
        ":x a :A . :y :p 5",
    ),
    "intersection right": (":A rdfs:subClassOf [ owl:intersectionOf ( :B :C ) ] . :x a :A", ":x a :B , :C"),
    "intersection left": (":A owl:equivalentClass [ owl:intersectionOf ( :B :C ) ] . :x a :B , :C", ":x a :A"),
    "union": (":A owl:equivalentClass [ owl:unionOf ( :B :C ) ] . :x a :C", ":x a :A . :B rdfs:subClassOf :A"),
    "disjoint union": (":A owl:disjointUnionOf ( :B :C ) . :x a :C", ":x a :A . :B rdfs:subClassOf :A"),
    "one of": (":A owl:equivalentClass [ owl:oneOf ( :x :y ) ]", ":x a :A . :y a :A"),
    "all values": (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:allValuesFrom :B ] . :x a :A ; :p :y",
        ":y a :B",
    ),
    "max one": (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ;"
        ' owl:maxCardinality "1"^^xsd:nonNegativeInteger ] . :x a :A ; :p :y , :z',
        ":y owl:sameAs :z",
    ),
    "max one qualified": (
        ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ; owl:onClass :B ;"
        ' owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ] .'
        " :x a :A ; :p :y , :z , :w . :y a :B . :z a :B",
        ":y owl:sameAs :z",
    ),
    "min one": (
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ;"
        ' owl:minCardinality "1"^^xsd:nonNegativeInteger ] . :x :p :y',
        ":x a :A",
    ),
    "facet": (
        ":Adult owl:equivalentClass [ a owl:Restriction ; owl:onProperty :age ; owl:someValuesFrom"
        " [ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ( [ xsd:minInclusive 18 ] ) ] ] ."
        " :x :age 20 .",
        ":x a :Adult",
    ),
    "subproperty": (":p rdfs:subPropertyOf :q . :x :p :y", ":x :q :y"),
    "equivalent property": (":p owl:equivalentProperty :q . :x :p :y . :z :q 1", ":x :q :y . :z :p 1"),
    "inverse": (":p owl:inverseOf :q . :x :p :y . :z :q :w", ":y :q :x . :w :p :z . :q owl:inverseOf :p"),
    "sub of inverse": ("[ owl:inverseOf :p ] rdfs:subPropertyOf :q . :x :p :y", ":y :q :x"),
    "chain two": (":r owl:propertyChainAxiom ( :p :q ) . :x :p :y . :y :q :z", ":x :r :z"),
    "chain three": (
        ":r owl:propertyChainAxiom ( :p [ owl:inverseOf :q ] :p ) . :x :p :y . :z :q :y . :z :p :w", ":x :r :w"
    ),
    "transitive": (
        ":p a owl:TransitiveProperty . :a :p :b . :b :p :c . :c :p :d . :d :p :e", ":a :p :e . :b :p :d , :e"
    ),
    "transitive from sub": (
        ":p a owl:TransitiveProperty . :q rdfs:subPropertyOf :p . :a :q :b . :b :p :c . :c :q :d", ":a :p :d"
    ),
    "symmetric": (":p a owl:SymmetricProperty . :x :p :y", ":y :p :x"),
    "domain": (":p rdfs:domain :A . :x :p 1", ":x a :A"),
    "range": (":p rdfs:range :A . :x :p :y , 1", ":y a :A"),
    "domain expression": (":p rdfs:domain [ owl:intersectionOf ( :A :B ) ] . :x :p 1", ":x a :A , :B"),
    "functional": (":p a owl:FunctionalProperty . :x :p :y , :z . :y :q :w", ":y owl:sameAs :z . :z :q :w"),
    "inverse functional": (":p a owl:InverseFunctionalProperty . :x :p :z . :y :p :z", ":x owl:sameAs :y"),
    "key": (":A owl:hasKey ( :p :q ) . :x a :A ; :p 1 ; :q :z . :y a :A ; :p 1 ; :q :z", ":x owl:sameAs :y"),
    "same": (":x owl:sameAs :y . :y owl:sameAs :z . :x a :A . :w :p :x", ":z a :A . :w :p :z . :z owl:sameAs :x"),
    "self": (
        ":A owl:equivalentClass [ a owl:Restriction ; owl:onProperty :p ; owl:hasSelf true ] . :x :p :x . :y a :A",
        ":x a :A . :y :p :y",
    ),
    "asserted expression": (":x a [ a owl:Restriction ; owl:onProperty :p ; owl:hasValue :v ]", ":x :p :v"),
    "negated union": (":A rdfs:subClassOf [ owl:unionOf ( [ owl:complementOf :B ] :C ) ] . :x a :A , :B", ":x a :C"),
    "subsumed some": (
        f":A owl:equivalentClass {SOME % ':B'} . :C owl:equivalentClass {SOME % ':D'} . :B rdfs:subClassOf :D",
        ":A rdfs:subClassOf :C",
    ),
    "domain up": (":p rdfs:domain :A . :A rdfs:subClassOf :B . :q rdfs:subPropertyOf :p",
                  ":p rdfs:domain :B . :q rdfs:domain :A"),
    "named restriction": (
        ":A a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom :B . :x :p :y . :y a :B", ":x a :A"
    ),
}  # fmt: skip

CLASHES = {
    "disjoint": ":A owl:disjointWith :B . :x a :A , :B",
    "all disjoint": "[] a owl:AllDisjointClasses ; owl:members ( :A :B :C :D ) . :x a :B , :D",
    "complement": ":A rdfs:subClassOf [ owl:complementOf :B ] . :x a :A , :B",
    "irreflexive": ":p a owl:IrreflexiveProperty . :x :p :x",
    "asymmetric": ":p a owl:AsymmetricProperty . :x :p :y . :y :p :x",
    "disjoint properties": ":p owl:propertyDisjointWith :q . :x :p :y ; :q :y",
    "max zero": ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :p ;"
    ' owl:maxCardinality "0"^^xsd:nonNegativeInteger ] . :x a :A ; :p :y',
    "nothing": ":A rdfs:subClassOf owl:Nothing . :x a :A",
    "negative": "[] a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :p ;"
    " owl:targetIndividual :y . :x :p :y",
    "different": ":p a owl:FunctionalProperty . :x :p :y , :z . :z owl:differentFrom :y",
    "all different": "[] a owl:AllDifferent ; owl:distinctMembers ( :x :y :z :w ) . :w owl:sameAs :x",
    "two values": ":p a owl:FunctionalProperty , owl:DatatypeProperty . :x :p 1 , 2",
    "wrong datatype": ":p rdfs:range xsd:integer . :x :p 'five'",
    "out of range": ":p rdfs:range xsd:nonNegativeInteger . :x :p -1",
}

QUIET = {
    "same value": ":p a owl:FunctionalProperty , owl:DatatypeProperty . :x :p 1 , 1.0",
    "not disjoint": ":A owl:disjointWith :B . :x a :A . :y a :B",
    "integer as decimal": ":p rdfs:range xsd:decimal . :x :p 5",
}


@pytest.mark.parametrize("name", sorted(FOLLOWS))
def test_what_follows(name: str) -> None:
    turtle, expected = FOLLOWS[name]
    store, closure = close(turtle)
    assert store.ask(f"{SPARQL_PREFIXES} ASK {{ {expected} }}", whole(closure))
    assert not closure.clashes
    trivia = f"""{SPARQL_PREFIXES} ASK {{ ?s ?p ?o FILTER(
        (?p = rdf:type && (?o IN (owl:Thing, rdfs:Resource) || STRSTARTS(STR(?o), "urn:mrag:genid:")))
        || (?p IN (owl:sameAs, rdfs:subClassOf, rdfs:subPropertyOf, owl:equivalentClass) && ?s = ?o)
        || ?o = owl:Thing || isLiteral(?s)) }}"""
    for graph in closure.graphs:
        assert not store.ask(trivia, type(A)(default=(graph,)))
        double = "ASK { ?s ?p ?o . GRAPH <urn:a> { ?s ?p ?o } }"
        assert not store.ask(double, type(A)(default=(graph,), named=("urn:a",)))


@pytest.mark.parametrize("name", sorted(CLASHES))
def test_contradictions(name: str) -> None:
    store, closure = close(CLASHES[name])
    assert closure.clashes
    assert closure.clashes[0].triples
    assert tuple(check(store, whole(closure))) == closure.contradictions
    assert sum(group.count for group in closure.contradictions) == len(closure.clashes)


@pytest.mark.parametrize("name", sorted(QUIET))
def test_no_contradiction(name: str) -> None:
    assert not close(QUIET[name])[1].clashes


def test_the_error_names_the_triples_and_the_axiom() -> None:
    store = store_of(CLASHES["disjoint"])
    with pytest.raises(InconsistentOntology, match=r"A DisjointWith: B \(cax-dw\)") as error:
        materialise(store, A, "urn:i")
    assert len(error.value.clashes) == 1
    assert all(g.startswith("urn:i:") for g in store.graphs() if g != "urn:a")


def test_axioms_without_rules_are_noted() -> None:
    _, closure = close(f":A rdfs:subClassOf {SOME % ':B'} .")
    assert closure.notes == ("Not applied: A SubClassOf: p some B",)


def test_an_axiom_that_is_applied_in_part_says_what_does_not_follow() -> None:
    parts = f"( :B {SOME % ':C'} )"
    turtle = f":A owl:equivalentClass [ owl:intersectionOf {parts} ] . :x a :B ; :p :y . :y a :C . :z a :A ."
    store, closure = close(turtle)
    said = "it does not follow from “A” that “p some C”"
    assert closure.notes == (f"Applied, except that {said}: A EquivalentTo: B and (p some C)",)
    for triple in (":x a :A", ":z a :B"):  # the other direction, and the rest of this one
        assert store.ask(f"{SPARQL_PREFIXES} ASK {{ {triple} }}", whole(closure))


def test_an_axiom_names_each_direction_that_does_not_follow() -> None:
    two = "[ a owl:Restriction ; owl:onProperty :p ; owl:minCardinality 2 ]"
    _, closure = close(f":A owl:equivalentClass {two} .")
    assert closure.notes == ("Not applied: A EquivalentTo: p min 2 Thing",)
    _, closure = close(f":A owl:equivalentClass [ owl:intersectionOf ( :B {two} ) ] .")
    ways = [("A", "p min 2 Thing"), ("B and (p min 2 Thing)", "A")]
    said = "; ".join(f"it does not follow from “{a}” that “{b}”" for a, b in ways)
    assert closure.notes == (f"Applied, except that {said}: A EquivalentTo: B and (p min 2 Thing)",)


def test_a_long_chain_of_a_transitive_property_takes_few_rounds() -> None:
    turtle = ":p a owl:TransitiveProperty . " + " ".join(f":n{i} :p :n{i + 1} ." for i in range(60))
    _, closure = close(turtle)
    assert closure.triples == 60 * 59 // 2
    assert len(closure.rounds) <= 3


def test_a_class_hierarchy_is_one_query() -> None:
    turtle = "\n".join(f":C{i} rdfs:subClassOf :D{i} . :x{i} a :C{i} ." for i in range(50))
    _, closure = close(turtle)
    assert closure.triples == 50
    assert closure.rounds[0].queries < 5
