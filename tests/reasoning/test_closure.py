"""Closures: what follows from each construct, and random ontologies as owlrl has them, edited, provable."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import BNode, URIRef

import mrag
from mrag.errors import InconsistentOntology
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.loaders.rdf import Source
from mrag.rdf import queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import SKOLEM, Triple
from mrag.reasoning import rounds
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.proofs import Proof, prove, render
from mrag.reasoning.rounds import TripleCounts, check, extend, materialise
from mrag.reasoning.rounds import queries as queries_of
from mrag.stores import oxigraph
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from tests.reasoning.helpers import SPARQL, A, close, data, graph_of, is_data, owlrl, store_of, triples, whole
from tests.reasoning.owl_cases import load

PRODUCTS = Path(__file__).resolve().parents[2] / "ontology" / "products.ttl"
EXAMPLES = int(os.environ.get("MRAG_EXAMPLES", "20"))
bounded = settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
classes, things = st.sampled_from("ABCD"), st.sampled_from("uvwxyz")
properties = st.sampled_from("pqr")


def statement(template: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map(lambda found: template.format(*found))


R = "[ a owl:Restriction ; owl:onProperty :{1} ; "
axioms = st.one_of(
    statement(":{} rdfs:subClassOf :{} .", classes, classes),
    statement(":{} owl:equivalentClass :{} .", classes, classes),
    statement(":{0} owl:equivalentClass " + R + "owl:someValuesFrom :{2} ] .", classes, properties, classes),
    statement(":{0} owl:equivalentClass " + R + "owl:hasValue :{2} ] .", classes, properties, things),
    statement(":{0} rdfs:subClassOf " + R + "owl:allValuesFrom :{2} ] .", classes, properties, classes),
    statement(":{} owl:equivalentClass [ owl:intersectionOf ( :{} :{} ) ] .", classes, classes, classes),
    statement(":{} owl:equivalentClass [ owl:unionOf ( :{} :{} ) ] .", classes, classes, classes),
    statement(":{} rdfs:domain :{} .", properties, classes),
    statement(":{} rdfs:range :{} .", properties, classes),
    statement(":{} rdfs:subPropertyOf :{} .", properties, properties),
    statement(":{} owl:inverseOf :{} .", properties, properties),
    statement(":{} owl:propertyChainAxiom ( :{} :{} ) .", properties, properties, properties),
    statement(":{} a owl:TransitiveProperty .", properties),
    statement(":{} a owl:SymmetricProperty .", properties),
)
same = st.one_of(
    statement(":{} a owl:FunctionalProperty , owl:ObjectProperty .", properties),
    statement(":{} owl:sameAs :{} .", things, things),
)
links = statement(":{} :{} :{} .", things, properties, things)
facts = st.one_of(statement(":{} a :{} .", things, classes), links)


@bounded
@given(st.lists(st.one_of(axioms, axioms, axioms, same), max_size=7), st.lists(facts, min_size=1, max_size=9))
def test_data_triples_are_those_of_owlrl(tbox: list[str], abox: list[str]) -> None:
    turtle = "\n".join([*tbox, *abox])
    store, closure = close(turtle)
    assert data(store, ("urn:a", *closure.graphs)) == owlrl(graph_of(turtle))


@bounded
@given(
    st.lists(st.one_of(axioms, axioms, same, facts, facts), max_size=12),
    st.lists(st.one_of(axioms, same, facts, facts), min_size=1, max_size=4),
)
def test_adding_gives_what_a_closure_from_scratch_gives(before: list[str], added: list[str]) -> None:
    store = store_of("\n".join(before))
    first = materialise(store, A, "urn:i", on_inconsistency="report", threads=1)
    extra = graph_of("\n".join(added))
    for triple in graph_of("\n".join(before)):
        extra.remove(triple)
    load(extra, store, "urn:b")
    both = Dataset(default=("urn:a", "urn:b"))
    grown = extend(store, A, first.graphs, "urn:b", "urn:j", on_inconsistency="report", threads=1)
    scratch = materialise(store, both, "urn:k", on_inconsistency="report", threads=1)
    asserted = set(triples(store, both.default))
    assert set(triples(store, grown.graphs)) - asserted == set(triples(store, scratch.graphs))
    rows = [("urn:b", inferred, inferred) for inferred in grown.graphs]
    if rows:
        store.update(queries.get("update/remove-doubles").bind(scanned_probed_graph=rows))
    found = triples(store, grown.graphs)
    assert len(found) == len(set(found)) == scratch.triples


def proofs(
    store: OxigraphStore, inferred: tuple[str, ...], most: int | None = None
) -> Iterator[tuple[Triple, Proof]]:
    """Prove inferred triples, and check each proof."""
    rules, asserted = compile_rules(store, A), set(triples(store, ("urn:a",)))
    for triple in sorted(triples(store, inferred))[:most]:
        proof = prove(store, A, Dataset(default=inferred), triple, ruleset=rules)
        assert proof is not None, triple
        assert set(proof.leaves()) <= asserted and proof.replay(store, A, rules)
        yield triple, proof


@settings(bounded, max_examples=8)
@given(st.lists(st.one_of(axioms, axioms, same, facts, facts), min_size=4, max_size=14))
def test_every_inferred_triple_has_a_proof(statements: list[str]) -> None:
    store, closure = close("\n".join(statements))
    rules, inferred = compile_rules(store, A), Dataset(default=closure.graphs)
    for triple, proof in proofs(store, closure.graphs, 60):
        assert proof == prove(store, A, inferred, triple, ruleset=rules)


@pytest.fixture(scope="module")
def products() -> OxigraphStore:
    store = OxigraphStore()
    store.bulk_load([Source.of(PRODUCTS)], "urn:a")
    return store


@pytest.mark.slow
def test_products_are_all_proved(products: OxigraphStore) -> None:
    closure = materialise(products, A, "urn:p")
    assert len(list(proofs(products, closure.graphs))) == closure.triples


def test_a_triple_goes_with_its_only_support() -> None:
    tbox = ":r owl:propertyChainAxiom ( :p :q ) . :r rdfs:domain :A . :A rdfs:subClassOf :B . "
    turtle = tbox + ":x :p :y . :y :q :z"
    store = store_of(turtle)
    closure = materialise(store, A, "urn:i")
    goal = next(t for t in triples(store, closure.graphs) if str(t.o) == "urn:t:B")
    proof = prove(store, A, Dataset(default=closure.graphs), goal)
    assert render(proof) == (
        "x type B\n  because A SubClassOf: B (cax-sco)\n  └ x type A\n      because r Domain: A (prp-dom)\n"
        "      └ x r z\n          because p o q SubPropertyOf: r (prp-spo2)\n"
        "          ├ x p y [asserted]\n          └ y q z [asserted]"
    )
    assert [str(t.p) for t in proof.leaves()] == ["urn:t:p", "urn:t:q"]
    assert proof.to_json()["premises"][0]["rule"] == "prp-dom"
    for leaf in proof.leaves():
        smaller = graph_of(turtle)
        smaller.remove(tuple(leaf))
        other = OxigraphStore()
        load(smaller, other, "urn:a")
        closure = materialise(other, A, "urn:i")
        assert goal not in triples(other, closure.graphs)


def test_what_does_not_follow_has_no_proof() -> None:
    store = store_of(":A rdfs:subClassOf :B . :x a :B")
    closure = materialise(store, A, "urn:i")
    (asserted,) = [t for t in triples(store, ("urn:a",)) if is_data(t)]
    assert prove(store, A, Dataset(default=closure.graphs), asserted._replace(o=asserted.s)) is None
    leaf = prove(store, A, Dataset(default=closure.graphs), asserted)
    assert leaf.asserted


def test_a_failed_run_leaves_only_graphs_of_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :x a :A")
    before = set(triples(store, ("urn:a",)))

    def stop(done: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        materialise(store, A, "urn:i", on_round=stop)
    assert {g for g in store.graphs() if not g.startswith("urn:i:")} == {"urn:a"}
    assert set(triples(store, ("urn:a",))) == before


@bounded
@given(st.lists(axioms, max_size=7), st.lists(facts, min_size=4, max_size=12))
def test_slices_of_rules_give_what_whole_rules_give(tbox: list[str], abox: list[str]) -> None:
    turtle = "\n".join([*tbox, *abox])
    whole, sliced = store_of(turtle), store_of(turtle)
    sliced.capabilities = replace(sliced.capabilities, ordered=True)
    first = materialise(whole, A, "urn:i", on_inconsistency="report", threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "_SLICE", 2)
        patch.setattr(oxigraph, "_PART", 100)
        second = materialise(sliced, A, "urn:i", on_inconsistency="report", threads=1)
    assert {*triples(whole, first.graphs)} == {*triples(sliced, second.graphs)}
    assert second.triples == first.triples


def test_rules_with_very_many_rows_are_sliced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_SLICE", 2)
    store = store_of(":p rdfs:domain :C . :a :p 1, 2, 3 . :b :p 4, 5 .")
    rules, counts = compile_rules(store, A).rules, TripleCounts.of(store, ("urn:a",))
    texts = [to_sparql(one) for one, _ in queries_of(rules, counts, ordered=True)]
    assert [text.partition("LIMIT ")[2].partition(" }")[0] for text in texts if ":p>" in text] == [
        "2", "2 OFFSET 2", "10 OFFSET 4"
    ]  # fmt: skip
    assert not any("OFFSET" in to_sparql(one) for one, _ in queries_of(rules, counts))


def test_two_threads_give_what_one_gives() -> None:
    tbox = ":p owl:inverseOf :q . :p rdfs:range :B . :B rdfs:subClassOf :C . :q rdfs:subPropertyOf :r ."
    store = store_of(tbox)
    abox = "\n".join(f"<urn:t:x{i}> <urn:t:p> <urn:t:y{i % 97}> ." for i in range(12_000))
    store.insert(abox.encode(), "urn:a")
    one = materialise(store, A, "urn:i", threads=1)
    two = materialise(store, A, "urn:k", threads=2)
    assert one.triples == two.triples
    assert set(triples(store, one.graphs)) == set(triples(store, two.graphs))


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
    assert store.ask(f"{SPARQL} ASK {{ {expected} }}", whole(closure))
    assert not closure.clashes
    trivia = f"""{SPARQL} ASK {{ ?s ?p ?o FILTER(
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
        assert store.ask(f"{SPARQL} ASK {{ {triple} }}", whole(closure))


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


EDITED = int(os.environ.get("MRAG_EDITS", "100"))
"""Random edits of the slow tests; the release runs a thousand."""
some_classes, some_things, some_properties = (
    st.sampled_from("ABCD"), st.sampled_from("uvwxyz"), st.sampled_from("pqr"),
)  # fmt: skip
values = st.sampled_from(["1", '"2"'])
clashing = st.one_of(
    statement(":{} owl:disjointWith :{} .", some_classes, some_classes),
    statement(":{} owl:differentFrom :{} .", some_things, some_things),
    statement(":{} a owl:IrreflexiveProperty .", some_properties),
    statement(":n rdfs:range xsd:decimal ; a owl:FunctionalProperty . :{} :n {} .", some_things, values),
)
statements = st.one_of(axioms, axioms, same, clashing, facts, facts)
kinds = st.sampled_from(["insert", "delete", "delete", "named"])
some = st.lists(facts | facts | same, min_size=1, max_size=3)
edits = st.lists(st.tuples(kinds, some), min_size=1, max_size=3)


def asserted(kg: KnowledgeGraph) -> list[Triple]:
    return list(kg.store.construct("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", kg.dataset("asserted")))


def held(kg: KnowledgeGraph) -> tuple[list[Triple], set[Triple]]:
    """Return the inferred triples, and those that are kept apart."""
    return triples(kg.store, kg.record.inferred), set(triples(kg.store, kg.record.apart))


def anew(kg: KnowledgeGraph) -> tuple[set[Triple], set[Triple], int]:
    """Return what is inferred from the asserted triples by a graph that has not seen an edit."""
    with mrag.connect() as other:
        other.insert(asserted(kg))
        closure = mrag.reason(other)
        seen, apart = held(other)
        return set(seen), apart, closure.triples


def put(kg: KnowledgeGraph, parts: list[str]) -> None:
    """Assert Turtle, its blank nodes named as loading does."""

    def named(term: Any) -> Any:
        return URIRef(f"{SKOLEM}{term}") if isinstance(term, BNode) else term

    kg.insert([Triple(*map(named, t)) for t in graph_of("\n".join(parts))])


many = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
edited = given(st.lists(statements, max_size=10), st.lists(facts, min_size=1, max_size=8), edits)


@settings(many, max_examples=25)
@edited
def test_edits_give_what_a_closure_from_nothing_gives(
    base: list[str], told: list[str], changes: list[tuple[str, list[str]]]
) -> None:
    follows(base, told, changes)


@pytest.mark.slow
@settings(many, max_examples=EDITED)
@edited
def test_many_edits_give_what_a_closure_from_nothing_gives(
    base: list[str], told: list[str], changes: list[tuple[str, list[str]]]
) -> None:
    follows(base, told, changes)


def follows(base: list[str], told: list[str], changes: list[tuple[str, list[str]]]) -> None:
    """Edit a graph, and compare what it infers with a closure from nothing."""
    with mrag.connect() as kg:
        put(kg, [*base, *told])
        mrag.reason(kg)
        for number, (kind, parts) in enumerate(changes):
            data = " ".join(parts)
            if kind == "delete":
                # What is asserted goes, so that most deletions take something out.
                data = " ".join([*parts, *told[number::3]])
            inside = f"GRAPH :g {{ {data} }}" if kind == "named" else data
            update(kg, f"{SPARQL} {'DELETE' if kind == 'delete' else 'INSERT'} DATA {{ {inside} }}")
            if number % 2 == 0:
                assert kg.reasoned or kg.pending or not kg.record.inferred
                closure = mrag.reason(kg)
        closure = mrag.reason(kg)
        seen, apart = held(kg)
        stated = set(asserted(kg))
        expected, kept_apart, count = anew(kg)
        assert len(seen) == len(set(seen)), "a triple stands twice"
        assert not stated & set(seen)
        assert set(seen) == expected
        assert apart - stated == kept_apart - stated
        assert closure.triples == count == kg.count("inferred")
        assert kg.reasoned and not kg.pending
