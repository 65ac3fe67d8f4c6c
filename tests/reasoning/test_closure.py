"""Properties of closures over random small ontologies: the same as owlrl, incremental, provable."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.loaders.rdf import Source
from mrag.rdf import queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import Triple
from mrag.reasoning import rounds
from mrag.reasoning.compile import compile_rules
from mrag.reasoning.proofs import Proof, prove, render
from mrag.reasoning.rounds import TripleCounts, extend, materialise
from mrag.reasoning.rounds import queries as queries_of
from mrag.stores import oxigraph
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore
from tests.reasoning.helpers import A, close, data, graph_of, is_data, owlrl_data, store_of, triples
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
    assert data(store, ("urn:a", *closure.graphs)) == owlrl_data(graph_of(turtle))


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
    assert proof is not None
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
    assert leaf is not None
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
