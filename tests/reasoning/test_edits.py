"""After any edits the inferences are those of a closure from nothing."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdflib import BNode, URIRef

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.rdf.terms import SKOLEM, Triple
from tests.reasoning.helpers import SPARQL_PREFIXES, graph_of, triples
from tests.reasoning.test_closure import axioms, facts, same, statement

EXAMPLES = int(os.environ.get("MRAG_EDITS", "100"))
"""Random edits of the slow tests; the release runs a thousand."""

classes, things, properties = st.sampled_from("ABCD"), st.sampled_from("uvwxyz"), st.sampled_from("pqr")
values = st.sampled_from(["1", '"2"'])
clashing = st.one_of(
    statement(":{} owl:disjointWith :{} .", classes, classes),
    statement(":{} owl:differentFrom :{} .", things, things),
    statement(":{} a owl:IrreflexiveProperty .", properties),
    statement(":n rdfs:range xsd:decimal ; a owl:FunctionalProperty . :{} :n {} .", things, values),
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
@settings(many, max_examples=EXAMPLES)
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
            update(kg, f"{SPARQL_PREFIXES} {'DELETE' if kind == 'delete' else 'INSERT'} DATA {{ {inside} }}")
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
