"""Why an individual satisfies an expression or does not, by triples that are there."""

import pytest
from hypothesis import given, settings
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.cel import explain
from mrag.cel.explain import why_satisfied
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import expressions as ce
from mrag.rdf.expressions import Expression, normal, walk
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.cel.graphs import dl, fact, put
from tests.cel.plain import INDIVIDUALS, UNWATCHED, E, Plain, expressions, graphs

MONOTONE = (ce.Top, ce.Named, ce.And, ce.Or, ce.Some, ce.Value, ce.OneOf, ce.AtLeast, ce.DataSome)


def every(found: explain.Reason) -> list[explain.Reason]:
    return [found, *(r for part in found.parts for r in every(part))]


@settings(UNWATCHED, max_examples=40)
@given(graphs(), expressions)
def test_reasons_agree_with_semantics_and_what_is_there(triples: frozenset[Triple], e: Expression) -> None:
    shape = normal(e)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        # Stores write numbers their own way.
        triples = frozenset(Triple(*row) for row in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }"))  # type: ignore[arg-type]
        plain = Plain(triples)
        facts = explain.GraphFacts(kg)
        for name in INDIVIDUALS:
            x = URIRef(name)
            assert facts.is_individual(x) == (x in plain.individuals)
            assert facts.holds(shape, x) == plain.holds(shape, x)
            if x not in plain.individuals:
                continue
            found = why_satisfied(kg, e, name, max_values=100, facts=facts)
            assert found.holds == plain.holds(e, x)
            for r in every(found):
                assert r.holds == plain.holds(r.expression, r.subject)
                assert all(a.s is None or a.o is None or (a.s, a.p, a.o) not in triples for a in r.absent)
                assert found.render() and found.to_json()["holds"] == found.holds
            rest = {e.triple for e in found.triples()}
            assert rest <= triples
            if found.holds and all(isinstance(p, MONOTONE) for p in walk(shape)):
                # What is shown is enough: nothing else of the graph is needed.
                assert Plain(frozenset(rest)).holds(shape, x)


@pytest.fixture
def family(kg: KnowledgeGraph) -> KnowledgeGraph:
    put(kg, ("Father", str(RDFS.subClassOf), "A"), ("a", "a", "Father"), ("a", "r", "b"), ("a", "r", "c"))
    put(kg, ("b", "a", "B"), ("c", "a", "B"), ("d", "a", "B"), ("b", "data", Literal(7)))
    reason(kg)
    return kg


def test_inferred_triples_are_marked(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl(":A ⊓ (∃ :r.:B)"), E + "a")
    assert found.holds
    member = next(r for r in found.parts if r.expression == dl(":A"))
    assert member.evidence == (explain.SupportingTriple(fact("a", "a", "A"), inferred=True),)
    shown = found.render(lambda iri: iri.rpartition("/")[2])
    assert shown.splitlines() == [
        "✓ a: A ⊓ (∃ r.B)", "  ✓ A", "    a is an A [inferred]", "  ✓ ∃ r.B", "    ✓ a r b [asserted]: B",
        "      b is a B [asserted]", "    ✓ a r c [asserted]: B", "      c is a B [asserted]",
    ]  # fmt: skip


def test_negations_rest_on_what_was_looked_for(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("(¬:A) ⊓ (∀ :r.:B)"), E + "d")
    absent = [a for r in every(found) for a in r.absent]
    assert explain.Absence(URIRef(E + "d"), RDF.type, URIRef(E + "A")) in absent
    assert explain.Absence(URIRef(E + "d"), URIRef(E + "r"), None) in absent


def test_values_beyond_the_first_are_counted(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("∃ :r.⊤"), E + "a", max_values=1)
    assert len(found.parts) == 1 and found.more == 1
    assert "and 1 more" in found.render()
    assert len(why_satisfied(family, dl("≥ 2 :r.⊤"), E + "a", max_values=1).parts) == 2


def test_what_fails_shows_where(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, dl("∃ :r.(∃ :data.xsd:integer[≥ 8])"), E + "a")
    assert not found.holds
    assert [t.triple for r in every(found) for t in r.evidence] == [fact("b", "data", Literal(7))]
    count = why_satisfied(family, dl("(≤ 1 :r.:B) ⊔ (= 3 :r.:B)"), E + "a")
    assert not count.holds and len(count.parts) == 2
    assert "✗" in count.render()


def test_others_than_individuals_are_refused(family: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no named individual"):
        why_satisfied(family, dl(":A"), E + "nowhere")
