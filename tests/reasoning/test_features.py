"""One small ontology for each construct: what follows, and what must not."""

from pathlib import Path

import pytest

from mrag.errors import InconsistentOntology
from mrag.reasoning.rounds import check, materialise
from tests.reasoning.helpers import SPARQL_PREFIXES, A, close, store_of, whole

SOME = "[ a owl:Restriction ; owl:onProperty :p ; owl:someValuesFrom %s ]"
LINES = Path(__file__).with_name("features.tsv").read_text("utf-8").splitlines()[1:]
TABLE = [line.split("\t") for line in LINES]
FOLLOWS = {name: (turtle, *follows) for kind, name, turtle, *follows in TABLE if kind == "follows"}
CLASHES = {name: turtle for kind, name, turtle, *_ in TABLE if kind == "clashes"}
QUIET = {name: turtle for kind, name, turtle, *_ in TABLE if kind == "quiet"}


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
