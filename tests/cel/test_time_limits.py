"""Time limits hold on large graphs and on servers, and there is always a result."""

import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import mrag
from mrag.cel.evaluate import World
from mrag.cel.expressions import length
from mrag.cel.learners.base import LEARNERS, FitProgress, learner
from mrag.cel.problem import LearningProblem
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import RDF, XSD
from tests.conftest import slow

E = "http://example.org/"
THINGS = 43_000
"""With seven statements each, some 300,000."""


def lines() -> Iterator[str]:
    rng = random.Random(1)
    for at in range(THINGS):
        x = f"<{E}x{at}>"
        yield f"{x} <{RDF}type> <{E}{rng.choice('ABC')}> .\n"
        yield f'{x} <{E}label> "thing {at}" .\n'
        yield f'{x} <{E}size> "{rng.randrange(100)}"^^<{XSD}integer> .\n'
        for _ in range(4):
            yield f"{x} <{E}{rng.choice('pqr')}> <{E}x{rng.randrange(THINGS)}> .\n"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    source: Path = tmp_path_factory.mktemp("large") / "graph.nt"
    source.write_text("".join(lines()), encoding="ascii")
    with mrag.connect() as kg:
        kg.load([source])
        kg.profile()
        yield kg


def problem() -> LearningProblem:
    chosen = [f"{E}x{at}" for at in random.Random(0).sample(range(THINGS), 300)]
    return LearningProblem(chosen[:150], chosen[150:])


@pytest.mark.parametrize("name", ["search", *slow("celoe", "evolearner")])
def test_a_large_graph_is_learnt_from_within_the_limit(large: KnowledgeGraph, name: str) -> None:
    seen: list[FitProgress] = []
    work = learner(name, large, seconds=2, on_progress=seen.append)
    started = time.process_time()
    found = work.fit(problem())
    # Of the processor's time, with much to spare for a busy machine.
    assert time.process_time() - started < 6
    report = work.report
    assert found and report is not None and 0 < report.fetched < report.seconds
    assert seen and seen[0].best is None


@pytest.mark.parametrize("name", LEARNERS)
def test_a_limit_that_is_up_before_the_search_still_gives_a_result(large: KnowledgeGraph, name: str) -> None:
    work = learner(name, large, seconds=0.001)
    found = work.fit(problem())
    assert work.report is not None and work.report.stopped == "time"
    assert found and all(length(h.expression) <= 3 for h in found)


@pytest.mark.slow
def test_what_was_reached_in_time_is_what_the_store_says(large: KnowledgeGraph) -> None:
    few = problem().examples[:20]
    for until in (0.0, time.monotonic() + 0.05, math.inf):
        world = World.of(large, few, steps=2, until=until)
        assert all(map(world.is_individual, few))
    # No time at all: classes, and nothing that stands further away.
    none = World.of(large, few, steps=2, until=0.0)
    assert none.steps == 0 and not none.roles
    one = World.around(large, few, steps=1)
    whole = World.whole(large)
    for p, (sources, values) in one.roles.items():
        wanted = {(one.terms[s], one.terms[v]) for s, v in zip(sources, values, strict=True)}
        there = {
            (whole.terms[s], whole.terms[v])
            for s, v in zip(*whole.roles[p], strict=True)
            if str(whole.terms[s]) in few
        }
        assert wanted == there


def test_of_many_examples_some_are_learnt_from_where_time_is_short(large: KnowledgeGraph) -> None:
    chosen = [f"{E}x{at}" for at in range(6000)]
    many = LearningProblem(chosen[:5000], chosen[5000:])
    work = learner("search", large, seconds=0.01)
    found = work.fit(many)
    report = work.report
    assert report is not None and "Time allowed only 100 of 6,000 examples." in report.notes
    # As many of each kind, while there are any.
    assert found and (found[0].counts.positives, found[0].counts.negatives) == (50, 50)
    assert many.in_turn(1) == many.in_turn(1) != many.in_turn(2)
    assert sorted(many.in_turn()) == sorted(many.examples)
