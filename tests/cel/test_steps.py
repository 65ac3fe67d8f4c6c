"""Learners go further by themselves where one property is not enough, and say when they learnt nothing."""

from __future__ import annotations

import random

import pytest
from rdflib import URIRef
from rdflib.namespace import RDF

from mrag.cel.expressions import depth
from mrag.cel.learners.base import LEARNERS, learner
from mrag.cel.problem import LearningProblem
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple

E = "http://example.org/"


def hands(kg: KnowledgeGraph) -> LearningProblem:
    """Hands of cards of which those with a card of hearts are wanted; no card is in two hands."""
    rng = random.Random(5)
    made: list[tuple[str, str, str]] = [(s, "a", "Suit") for s in ("hearts", "clubs", "spades")]
    sides: tuple[list[str], list[str]] = ([], [])
    for at in range(60):
        suits = rng.choices(("hearts", "clubs", "spades"), (1, 3, 3), k=3)
        made.append((f"hand{at}", "a", "Hand"))
        for n, suit in enumerate(suits):
            made += [(f"card{at}_{n}", "a", "Card"), (f"hand{at}", "holds", f"card{at}_{n}")]
            made.append((f"card{at}_{n}", "suit", suit))
        sides["hearts" not in suits].append(f"{E}hand{at}")
    kg.insert(
        Triple(URIRef(E + s), RDF.type if p == "a" else URIRef(E + p), URIRef(E + o)) for s, p, o in made
    )
    return LearningProblem(*sides)


@pytest.mark.parametrize("name", ["tdl", "m-of-n"])
def test_two_steps_are_taken_where_one_tells_nothing(kg: KnowledgeGraph, name: str) -> None:
    problem = hands(kg)
    best = learner(name, kg, seconds=60).fit(problem)[0]
    assert best.solved and depth(best.expression) == 2
    work = learner(name, kg, seconds=60, steps=1)
    assert not any(h.solved for h in work.fit(problem))
    assert work.report is not None
    assert "learnt: no condition up to 1 property deep tells the examples apart" in work.report.notes[-1]


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_no_hypothesis_is_longer_than_allowed(kg: KnowledgeGraph, name: str) -> None:
    problem = hands(kg)
    for longest in (3, 6):
        found = learner(name, kg, seconds=3, max_length=longest, steps=2).fit(problem)
        assert all(h.length <= longest for h in found)
