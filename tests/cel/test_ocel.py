"""OCEL refines like CELOE, prefers accuracy, and claims no example that its expression does not hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, URIRef

import mrag
from mrag import Triple
from mrag.cel import (
    ExampleCounts,
    LearningProblem,
    Named,
    Not,
    Ocel,
    OcelSettings,
    Only,
    Property,
    Some,
    Top,
    instances_among,
)
from mrag.cel.learners.refinement import _Node
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph

E = "http://example.org/"
SIZE = 8
individuals = st.integers(0, SIZE - 1)
graphs = st.tuples(
    st.lists(st.sets(st.sampled_from("ABC"), min_size=1), min_size=SIZE, max_size=SIZE),
    st.sets(st.tuples(individuals, st.sampled_from("pq"), individuals), max_size=12),
)


def written(kg: KnowledgeGraph, kinds: list[set[str]], links: set[tuple[int, str, int]]) -> None:
    named = [URIRef(f"{E}x{n}") for n in range(SIZE)]
    kg.insert(Triple(named[n], RDF.type, URIRef(E + c)) for n, some in enumerate(kinds) for c in some)
    kg.insert(Triple(named[a], URIRef(E + p), named[b]) for a, p, b in links)


@given(graphs, st.sets(individuals, min_size=1, max_size=SIZE - 1), st.sampled_from([0.0, 0.3]))
@settings(max_examples=12, deadline=None)
def test_what_it_returns_holds_the_examples_that_it_claims(
    graph: tuple[list[set[str]], set[tuple[int, str, int]]], wanted: set[int], noise: float
) -> None:
    names = [f"{E}x{n}" for n in range(SIZE)]
    problem = LearningProblem((names[n] for n in wanted), (names[n] for n in range(SIZE) if n not in wanted))
    with mrag.connect() as kg:
        written(kg, *graph)
        found = Ocel(kg, OcelSettings(max_tested=300, max_length=7, seconds=20, noise=noise)).fit(problem)
        for one in found:
            assert one.counts == problem.counts(instances_among(kg, one.expression, problem.examples))
            assert one.counts.informative
        assert [one.order for one in found] == sorted(one.order for one in found)
        again = Ocel(kg, OcelSettings(max_tested=300, max_length=7, seconds=20, noise=noise)).fit(problem)
        assert again == found


def test_the_score_is_the_published_one() -> None:
    with mrag.connect() as kg:
        work = Ocel(kg)
        assert work.score(_Node(Top(), 0.5, None, 1)) == 0.6
        assert work.score(_Node(Named("urn:A"), 0.8, 0.5, 1)) == pytest.approx(0.8 + 0.5 * 0.3)
        node = _Node(Named("urn:A"), 0.8, 0.5, 4, refined=20)
        assert work.score(node) == pytest.approx(0.95 - 0.02 * 3 - 0.0001 * 20)
        some = Some(Property("urn:p"), Top())
        assert work.score(_Node(some, 0.5, 0.5, 3)) == pytest.approx(0.5 - 0.02 * 1.5)
        only = Only(Property("urn:p"), Top())
        assert work.score(_Node(only, 0.5, 0.5, 3)) == pytest.approx(0.5 - 0.02 * 1)
        plain = Some(Property("urn:p"), Not(Named("urn:A")))
        assert work.score(_Node(plain, 0.5, 0.5, 4)) == pytest.approx(0.5 - 0.02 * 3)


def test_what_misses_too_much_is_not_refined() -> None:
    with mrag.connect() as kg:
        strict, lenient = Ocel(kg), Ocel(kg, OcelSettings(noise=0.25))
    counts = ExampleCounts(tp=3, fp=0, positives=4, negatives=6)
    assert not strict.promising(counts, 0.9) and lenient.promising(counts, 0.9)
    assert strict.promising(ExampleCounts(4, 6, 4, 6), 0.4)
    assert not lenient.promising(ExampleCounts(2, 0, 4, 6), 0.8)
    assert strict.value(counts, 0.1) == 0.9, "accuracy, whatever is maximised"
    with pytest.raises(ConfigError, match="noise"):
        OcelSettings(noise=1.0)
