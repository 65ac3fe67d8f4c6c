"""EvoLearner: right counts, the same result again, limits kept, and the named problems of Family."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, XSD, Literal, URIRef

from mrag.cel import expressions as ce
from mrag.cel.evaluate import World
from mrag.cel.expressions import And, Expression, Named, Or, depth, normal, operands, walk
from mrag.cel.learners.base import FitProgress, FitState, LearnerSettings
from mrag.cel.learners.evolearner import EvoLearner, EvoSettings, Forest, Tree
from mrag.cel.learners.refinement import Signature
from mrag.cel.problem import Hypothesis, LearningProblem, confusion
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import cases
from tests.cel.graphs import E, put
from tests.cel.plain import INDIVIDUALS, UNWATCHED, expressions, graphs

SMALL = {"population": 100, "generations": 30, "seconds": 60.0}


@pytest.fixture
def kg(kg: KnowledgeGraph) -> KnowledgeGraph:
    """Twelve houses with doors of two colours, gardens and floors."""
    for at in range(12):
        x = f"house{at:02d}"
        put(kg, (x, "a", "House"), (x, "door", "red" if at % 2 else "blue"))
        for n in range(1 + at % 3):
            put(kg, (x, "garden", f"garden{at}-{n}"), (f"garden{at}-{n}", "a", "Garden"))
        put(kg, (x, "floors", Literal(str(at % 5), datatype=XSD.integer)))
    put(kg, *((c, "a", "Colour") for c in ("red", "blue")))
    return kg


def among_houses(wanted: list[int]) -> LearningProblem:
    rest = [at for at in range(12) if at not in wanted]
    return LearningProblem((f"{E}house{at:02d}" for at in wanted), (f"{E}house{at:02d}" for at in rest))


def planted(forest: Forest, e: Expression) -> Tree:
    parts = [planted(forest, part) for part in operands(e)]
    if isinstance(e, And | Or):
        return reduce(partial(forest.joined, type(e)), parts)
    return forest.rebuilt(cast(Tree, SimpleNamespace(expression=e)), parts) if parts else forest.leaf(e)


@settings(UNWATCHED, max_examples=40)
@given(graphs(), st.lists(expressions, min_size=3, max_size=8))
def test_a_forest_counts_what_the_world_holds(triples: frozenset[Triple], several: list[Expression]) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert([*triples, *(Triple(URIRef(x), RDF.type, URIRef(E + "Any")) for x in INDIVIDUALS)])
        world = World.whole(kg)
    fit = FitState(LearningProblem(INDIVIDUALS[:4], INDIVIDUALS[4:]), world, LearnerSettings())
    forest = Forest(fit)
    trees = [planted(forest, e) for e in several]
    assert [planted(forest, e) for e in several] == trees
    tp, fp = forest.count(trees)
    for at, (e, tree) in enumerate(zip(several, trees, strict=True)):
        counts = fit.count(e)
        assert (counts.tp, counts.fp) == (tp[at], fp[at])
        assert normal(tree.expression) == normal(e)
        assert tree.depth == depth(tree.expression)
        assert [tree.at(place) for place in range(tree.size)] == list(tree.walk())
        forest.keep(trees[: at + 1])
    again = forest.count(trees)
    assert [list(x) for x in again] == [list(tp), list(fp)]


def test_a_part_is_replaced_where_it_stands() -> None:
    world = World([(URIRef(E + "a"), E + "A"), (URIRef(E + "b"), E + "B")], [])
    forest = Forest(FitState(LearningProblem([E + "a"], [E + "b"]), world, LearnerSettings()))
    a, b, c = (forest.leaf(Named(E + x)) for x in "ABC")
    tree = forest.joined(Or, forest.joined(And, a, b), forest.negated(c))
    for place, part in enumerate(tree.walk()):
        assert forest.replaced(tree, place, part) is tree
        other = forest.replaced(tree, place, forest.leaf(Named(E + "D")))
        assert Named(E + "D") in map(normal, walk(other.expression))
    assert forest.joined(And, a, a) is a
    assert forest.negated(forest.negated(tree)) is tree


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [
        ([at for at in range(12) if at % 2], ce.Value),
        ([at for at in range(12) if at % 3 == 2], ce.AtLeast),
        ([at for at in range(12) if at % 5 >= 3], ce.DataSome),
    ],
)
def test_it_finds_values_counts_and_limits(kg: KnowledgeGraph, wanted: list[int], kind: type) -> None:
    best = EvoLearner(kg, EvoSettings(**SMALL)).fit(among_houses(wanted))[0]
    assert best.solved and best.quality == 1.0
    assert any(isinstance(part, kind) for part in walk(best.expression))
    assert best.length <= 7


def test_of_a_large_graph_only_the_neighbourhood_is_fetched(
    kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mrag.cel.evaluate._WHOLE", 0)
    wanted = [at for at in range(12) if at % 3 == 2]
    best = EvoLearner(kg, EvoSettings(**SMALL, steps=1)).fit(among_houses(wanted))[0]
    assert best.solved and depth(best.expression) == 1


def test_each_hypothesis_has_its_own_counts(kg: KnowledgeGraph) -> None:
    problem = among_houses([1, 2, 5, 7, 8, 11])
    found = EvoLearner(kg, EvoSettings(**SMALL, confirm=False)).fit(problem)
    assert len(found) > 3
    counted = confusion(kg, [h.expression for h in found], problem.positives, problem.negatives)
    assert [h.counts for h in found] == counted
    assert all(h.counts.informative for h in found)
    assert [h.order for h in found] == sorted(h.order for h in found)
    assert len({h.expression for h in found}) == len(found)


def test_the_limits_of_height_and_of_properties_are_kept(kg: KnowledgeGraph) -> None:
    found = EvoLearner(kg, EvoSettings(**SMALL, steps=1, nominals=True)).fit(among_houses([0, 1, 2, 3]))
    assert found and all(depth(h.expression) <= 1 for h in found)


def test_time_and_interruption_keep_the_best_so_far(kg: KnowledgeGraph) -> None:
    put(kg, ("twin1", "a", "House"), ("twin2", "a", "House"))
    plain = among_houses([0, 4, 7])
    # No expression tells the twins apart, so that nothing but a limit ends the search.
    problem = LearningProblem([*plain.positives, E + "twin1"], [*plain.negatives, E + "twin2"])
    learner = EvoLearner(kg, EvoSettings(population=300, generations=100_000, seconds=0.6))
    found = learner.fit(problem)
    assert learner.report is not None and learner.report.stopped == "time" and found
    assert not found[0].solved

    def interrupt(_: FitProgress) -> None:
        raise KeyboardInterrupt

    learner = EvoLearner(kg, EvoSettings(generations=100_000, seconds=60), on_progress=interrupt)
    found = learner.fit(problem)
    assert learner.report is not None and learner.report.stopped == "interrupted" and found


def test_fits_beside_each_other_find_what_each_finds_alone(kg: KnowledgeGraph) -> None:
    problem = among_houses([1, 2, 5, 7, 8, 11])

    def fit(seed: int) -> list[Hypothesis]:
        return EvoLearner(kg, EvoSettings(population=60, generations=10, seconds=60, seed=seed)).fit(problem)

    alone = [fit(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fit, range(4))) == alone


def test_limits_are_where_the_examples_part() -> None:
    rows = [(URIRef(f"{E}x{n}"), E + "size", Literal(str(n), datatype=XSD.integer)) for n in range(20)]
    world = World([(s, E + "X") for s, _, _ in rows], rows)
    labels = [0] * world.size
    for n in range(20):
        labels[world.index[URIRef(f"{E}x{n}")]] = 1 if n >= 13 else -1
    found = Signature(world).conditions(ce.Property(E + "size"), 1, np.array(labels, dtype=np.int8))
    limits = {str(e.range.facets[0][1]) for e in found if isinstance(e, ce.DataSome)}
    assert limits == {"13"}


@pytest.mark.parametrize(("name", "least"), cases(__file__, "named_problems_of_family"))
def test_named_problems_of_family(
    family: KnowledgeGraph, problems: dict[str, LearningProblem], name: str, least: float
) -> None:
    # Ended by generations and not by time, so that a slow machine finds the same.
    best = EvoLearner(family, EvoSettings(generations=40, seconds=120)).fit(problems[name])[0]
    assert best.quality >= least
