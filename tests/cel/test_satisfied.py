"""Why an individual satisfies an expression: as the store says, and by triples that are there."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from rdflib import RDF, RDFS, Literal, URIRef

from mrag.cel.explain import Absence, GraphFacts, Reason, SupportingTriple, why_satisfied
from mrag.cel.expressions import (
    And,
    AtLeast,
    AtMost,
    DataRange,
    DataSome,
    Exactly,
    Expression,
    Named,
    Not,
    OneOf,
    Only,
    Or,
    Property,
    Some,
    Top,
    Value,
    normal,
    walk,
)  # fmt: skip
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import XSD, Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore
from tests.cel.plain import DATA, INDIVIDUALS, E, Plain, expressions, graphs, triple

A, B, R = Named(E + "A"), Named(E + "B"), Property(E + "r")
TYPE = str(RDF.type)
MONOTONE = (Top, Named, And, Or, Some, Value, OneOf, AtLeast, DataSome)


def every(found: Reason) -> list[Reason]:
    return [found, *(r for part in found.parts for r in every(part))]


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs(), expressions)
def test_reasons_agree_with_the_semantics_and_rest_on_what_is_there(
    triples: frozenset[Triple], e: Expression
) -> None:
    shape = normal(e)
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples)
        # Stores write numbers their own way.
        triples = frozenset(Triple(*row) for row in kg.select("SELECT ?s ?p ?o { ?s ?p ?o }"))  # type: ignore[arg-type]
        plain = Plain(triples)
        facts = GraphFacts(kg)
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
    kg.insert(
        [
            triple(E + "Father", str(RDFS.subClassOf), E + "A"),
            triple(E + "a", TYPE, E + "Father"),
            triple(E + "a", E + "r", E + "b"),
            triple(E + "a", E + "r", E + "c"),
            triple(E + "b", TYPE, E + "B"),
            triple(E + "c", TYPE, E + "B"),
            triple(E + "b", DATA[0], Literal(7)),
            triple(E + "d", TYPE, E + "B"),
        ]
    )
    reason(kg)
    return kg


def test_inferred_triples_are_marked(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, And((A, Some(R, B))), E + "a")
    assert found.holds
    member = next(r for r in found.parts if r.expression == A)
    assert member.evidence == (SupportingTriple(triple(E + "a", TYPE, E + "A"), inferred=True),)
    shown = found.render(lambda iri: iri.rpartition("/")[2])
    assert shown.splitlines() == [
        "✓ a: A ⊓ (∃ r.B)",
        "  ✓ A",
        "    a is an A [inferred]",
        "  ✓ ∃ r.B",
        "    ✓ a r b [asserted]: B",
        "      b is a B [asserted]",
        "    ✓ a r c [asserted]: B",
        "      c is a B [asserted]",
    ]


def test_negations_rest_on_what_was_looked_for(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, And((Not(A), Only(R, B))), E + "d")
    absent = [a for r in every(found) for a in r.absent]
    assert Absence(URIRef(E + "d"), RDF.type, URIRef(E + "A")) in absent
    assert Absence(URIRef(E + "d"), URIRef(E + "r"), None) in absent


def test_values_beyond_the_first_are_counted(family: KnowledgeGraph) -> None:
    found = why_satisfied(family, Some(R, Top()), E + "a", max_values=1)
    assert len(found.parts) == 1 and found.more == 1
    assert "and 1 more" in found.render()
    assert len(why_satisfied(family, AtLeast(2, R, Top()), E + "a", max_values=1).parts) == 2


def test_what_fails_shows_where(family: KnowledgeGraph) -> None:
    old = DataSome(Property(DATA[0]), DataRange(XSD + "integer", (("minInclusive", Literal(8)),)))
    found = why_satisfied(family, Some(R, old), E + "a")
    assert not found.holds
    assert [t.triple for r in every(found) for t in r.evidence] == [triple(E + "b", DATA[0], Literal(7))]
    count = why_satisfied(family, Or((AtMost(1, R, B), Exactly(3, R, B))), E + "a")
    assert not count.holds and len(count.parts) == 2
    assert "✗" in count.render()


def test_others_than_individuals_are_refused(family: KnowledgeGraph) -> None:
    with pytest.raises(ConfigError, match="no named individual"):
        why_satisfied(family, A, E + "nowhere")
