"""Kept concepts: their instances are those of their query, they can be removed, and editors open them."""

import io
from pathlib import Path
from typing import Any

import owlrl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import OWL, RDF, Graph, URIRef
from rdflib.compare import isomorphic

from mrag.cel import concepts
from mrag.cel.concepts import keep_concept, list_concepts, member_differences, remove_concept, to_ontology
from mrag.cel.problem import ExampleCounts, Hypothesis, instances
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.loaders.rdf import convert_owl
from mrag.rdf.expressions import Expression, Named
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.retrieval.rankers import Question
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.cel.graphs import PHOTOS, E, Listed, dl, fact
from tests.cel.plain import INDIVIDUALS, UNWATCHED, Plain, expressions, graphs

OPEN, CLOSED = ([dl(one) for one in cases(__file__, name)] for name in ("open", "closed"))
JACKET, SKIRT, TOP, WITH_JACKET = map(dl, (":Jacket", ":Skirt", "⊤", "∃ :shows.:Jacket"))


def image(name: str) -> Triple:
    return fact(name, "a", "Image")


@pytest.fixture
def shop(any_kg: KnowledgeGraph) -> KnowledgeGraph:
    any_kg.insert(PHOTOS)
    reason(any_kg)
    return any_kg


@pytest.mark.parametrize("e", OPEN + CLOSED, ids=str)
def test_after_reasoning_the_instances_are_those_of_the_query(kg: KnowledgeGraph, e: Expression) -> None:
    kg.insert(PHOTOS)
    reason(kg)
    before = instances(kg, e)
    assert before
    kept = keep_concept(kg, e, "found")
    assert kept.world == ("open" if e in OPEN else "closed")
    reason(kg)
    assert instances(kg, e) == before, "the concept does not change the graph that it describes"
    assert instances(kg, Named(kept.iri)) == before
    assert not member_differences(kg, kept)
    assert [str(row[0]) for row in kg.query(kept.query)] and len(kg.query(kept.query)) == len(before)  # type: ignore[arg-type, union-attr]


@settings(UNWATCHED, max_examples=30)
@given(graphs(), expressions, st.booleans())
def test_any_concept_of_any_graph(triples: frozenset[Triple], e: Expression, typed: bool) -> None:
    if typed:
        triples |= {fact(x, "a", str(OWL.NamedIndividual)) for x in INDIVIDUALS}
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        reason(kg)
        held = instances(kg, e)
        assert set(held) <= set(instances(kg, concepts.safe_part(e)))
        kept = keep_concept(kg, e, "c")
        assert concepts.find_concept(kg, "c") == kept
        assert keep_concept(kg, e, "c") == kept
        reason(kg)
        if all(URIRef(x) in Plain(triples).individuals for x in INDIVIDUALS):
            assert instances(kg, e) == held
        # What had no class has one now, where the definition holds it, and is an individual.
        assert {*instances(kg, e)} >= {*held} or concepts.world_assumption(e) == "closed"
        assert instances(kg, Named(kept.iri)) == instances(kg, e)
        assert remove_concept(kg, "c")
        assert kg.count() == len(triples)


def test_what_is_known_of_a_concept_comes_back(shop: KnowledgeGraph) -> None:
    h = Hypothesis(dl(":Image ⊓ (∃ :shows.:Jacket)"), 0.9, ExampleCounts(9, 1, 10, 40))
    individuals = instances(shop, TOP)
    said = "Whatever shows a jacket."
    kept = keep_concept(shop, h, "red jackets", comment=said, learner="search", seconds=3)
    assert kept.iri == "urn:mrag:concept:red-jackets" and kept.label == "red jackets"
    assert instances(shop, TOP) == individuals, "nothing about a concept is an individual"
    assert list_concepts(shop) == [kept]
    (found,) = list_concepts(shop)
    assert found.hypothesis == h and found.learner == "search"
    assert shop.query(f"ASK {{ <{kept.iri}> prov:wasGeneratedBy/prov:used <{shop.iri}> }}") is True
    assert shop.query(f"ASK {{ GRAPH <{kept.graph}> {{ <{kept.iri}> a owl:Class }} }}") is True
    assert str(shop.labels([kept.iri])[kept.iri]) == "red jackets"


def test_keeping_twice_changes_nothing_and_names_are_safe(shop: KnowledgeGraph) -> None:
    keep_concept(shop, JACKET, "c")
    revision = shop.revision
    assert keep_concept(shop, dl(":Jacket ⊓ :Jacket"), "c") == concepts.find_concept(shop, "c")
    assert shop.revision == revision
    with pytest.raises(ConfigError, match="Another concept"):
        keep_concept(shop, SKIRT, "c")
    assert keep_concept(shop, SKIRT, "c", replacing=True).expression == SKIRT
    assert len(list_concepts(shop)) == 1
    with pytest.raises(ConfigError, match="defined by itself"):
        keep_concept(shop, dl("¬<urn:mrag:concept:loop>"), "loop")
    for taken in (E + "Jacket", E + "p1", E + "shows"):
        with pytest.raises(ConfigError, match="in use"):
            keep_concept(shop, SKIRT, taken)
    for bad in ("", "a/b", "x> . <urn:y"):
        with pytest.raises((ConfigError, ValueError)):
            keep_concept(shop, SKIRT, bad)


def test_a_closed_concept_is_brought_up_to_date(shop: KnowledgeGraph) -> None:
    e = dl(":Image ⊓ (¬(∃ :shows.:Jacket))")
    kept = keep_concept(shop, e, "c")
    shop.insert([image("p9")])
    assert member_differences(shop, kept).missing == (E + "p9",)
    again = keep_concept(shop, e, "c")
    assert not member_differences(shop, again)
    shop.insert([fact("p9", "shows", "g1")])
    assert member_differences(shop, again).extra == (E + "p9",)
    assert not member_differences(shop, keep_concept(shop, e, "c"))
    assert len(list_concepts(shop)) == 1 and shop.collect() == 0
    assert shop.count() == len(PHOTOS) + 2 + shop.store.count(list_concepts(shop)[0].graph)


def test_a_concept_that_was_loaded_is_listed_and_not_removed(shop: KnowledgeGraph, tmp_path: Path) -> None:
    keep_concept(shop, JACKET, "c")
    with (tmp_path / "all.nt").open("wb") as file:
        shop.dump(file)
    with KnowledgeGraph(OxigraphStore(), "other") as kg:
        kg.load([tmp_path / "all.nt"])
        assert [c.label for c in list_concepts(kg)] == ["c"]
        assert keep_concept(kg, JACKET, "c") == list_concepts(kg)[0]
        for change in (lambda: remove_concept(kg, "c"), lambda: keep_concept(kg, SKIRT, "c", replacing=True)):
            with pytest.raises(ConfigError, match="came with other data"):
                change()


def test_removing_leaves_no_trace(shop: KnowledgeGraph) -> None:
    def state(layer: str) -> set[bytes]:
        out = io.BytesIO()
        shop.dump(out, layer=layer)  # type: ignore[arg-type]
        return set(out.getvalue().splitlines())

    before = state("asserted"), state("inferred")
    keep_concept(shop, WITH_JACKET, "c")
    assert remove_concept(shop, "c") and not remove_concept(shop, "c")
    assert shop.reasoned and (state("asserted"), state("inferred")) == before
    keep_concept(shop, WITH_JACKET, "c")
    keep_concept(shop, CLOSED[0], "d")
    reason(shop)
    assert remove_concept(shop, "c") and remove_concept(shop, "urn:mrag:concept:d")
    assert not shop.reasoned
    reason(shop)
    assert (state("asserted"), state("inferred")) == before
    assert shop.collect() == 0


def test_concepts_outlive_the_process(tmp_path: Path) -> None:
    with KnowledgeGraph(OxigraphStore(tmp_path / "store")) as kg:
        kg.insert(PHOTOS)
        kept = keep_concept(kg, WITH_JACKET, "c")
    with KnowledgeGraph(OxigraphStore(tmp_path / "store")) as kg:
        assert list_concepts(kg) == [kept]
        kg.insert([image("p7")])
        reason(kg)
        assert instances(kg, Named(kept.iri)) == [E + "p1", E + "p2", E + "p5"]


def test_no_negation_is_stated_as_a_fact() -> None:
    e = dl(":Image ⊓ (¬:Skirt) ⊓ (∀ :shows.:Jacket) ⊓ (∃ :shows.(:Jacket ⊓ (¬:Skirt)))")
    assert concepts.world_assumption(e) == "closed"
    assert concepts.safe_part(e) == dl(":Image ⊓ (∃ :shows.:Jacket)")
    said = {t.p for t in concepts.definition("urn:c", e, "k")}
    assert not said & {OWL.equivalentClass, OWL.complementOf, OWL.allValuesFrom}
    assert concepts.definition("urn:c", e, "k") == concepts.definition("urn:c", e, "k")


def test_a_concept_filters_the_next_search(shop: KnowledgeGraph) -> None:
    keep_concept(shop, WITH_JACKET, "jackets")
    ranker = Listed([f"{E}p{n}" for n in range(6, 0, -1)])
    hits = concepts.ClassFilter(ranker, shop, "jackets", depth=1).rank(Question("any"), 2)
    assert [(h.iri, h.rank) for h in hits] == [(E + "p5", 1), (E + "p2", 2)]
    assert hits[0].reasons == ("listed", "Is in jackets")
    assert ranker.asked > 1, "it is read deeper until there are enough"
    every = concepts.ClassFilter(ranker, shop, CLOSED[0]).rank(Question("any"), 10)
    assert [h.iri for h in every] == [E + "p6", E + "p4", E + "p3"]
    assert concepts.ClassFilter(ranker, shop, E + "Image").rank(Question("any"), 1)[0].iri == E + "p6"
    with pytest.raises(ConfigError):
        concepts.ClassFilter(ranker, shop, "jackets", depth=0)


def test_the_export_declares_everything(shop: KnowledgeGraph) -> None:
    kept = keep_concept(shop, Hypothesis(OPEN[2], 1.0, ExampleCounts(3, 0, 3, 3)), "red jackets")
    closed = keep_concept(shop, CLOSED[1], "no skirt")
    graph = Graph().parse(data=to_ontology(shop, list_concepts(shop)), format="turtle")
    assert (URIRef(kept.iri), RDF.type, OWL.Class) in graph
    assert (URIRef(E + "shows"), RDF.type, OWL.ObjectProperty) in graph
    assert (URIRef(E + "colour"), RDF.type, OWL.DatatypeProperty) in graph
    members = {str(s) for s in graph.subjects(RDF.type, URIRef(closed.iri))}
    assert members == set(instances(shop, CLOSED[1]))


@pytest.mark.parametrize("format", ["rdfxml", "functional"])
def test_the_export_is_the_same_in_other_notations(shop: KnowledgeGraph, format: Any) -> None:
    for n, e in enumerate((*OPEN[:6], CLOSED[1])):
        keep_concept(shop, e, f"c{n}")
    kept = list_concepts(shop)
    turtle = Graph().parse(data=to_ontology(shop, kept), format="turtle")
    if format == "functional":
        pytest.importorskip("pyhornedowl", reason="py-horned-owl is not installed")
        text: str | bytes = convert_owl(to_ontology(shop, kept, format), "ofn", "concepts")
    else:
        text = to_ontology(shop, kept, format)
    assert isomorphic(turtle, Graph().parse(data=text, format="nt" if format == "functional" else "xml"))
    keep_concept(shop, OPEN[2], "bell", comment="rings \x07")
    with pytest.raises(ConfigError, match="control character"):
        to_ontology(shop, list_concepts(shop), format)


def test_another_reasoner_finds_the_same_instances(shop: KnowledgeGraph) -> None:
    monotone = [OPEN[1], OPEN[2], OPEN[3], OPEN[5]]
    for n, e in enumerate(monotone):
        keep_concept(shop, e, f"c{n}")
    graph = Graph().parse(data=to_ontology(shop, list_concepts(shop), "rdfxml"), format="xml")
    for t in PHOTOS:
        graph.add(t)
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    for n, e in enumerate(monotone):
        found = graph.subjects(RDF.type, URIRef(f"urn:mrag:concept:c{n}"))
        assert sorted(map(str, found)) == instances(shop, e)


def test_plain_semantics_agree_on_the_shop() -> None:
    plain = Plain(frozenset(PHOTOS))
    assert plain.instances(dl("∃ :shows.:Skirt")) == {E + "p1", E + "p3", E + "p4"}
