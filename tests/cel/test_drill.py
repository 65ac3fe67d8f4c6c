"""DRILL: problems generated from a graph, a policy trained on them, and the search that it leads."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from rdflib import URIRef
from rdflib.namespace import RDF, RDFS

from mrag.cel.drill import (
    INPUTS,
    Drill,
    DrillSettings,
    Policy,
    PolicyTrainingProgress,
    PolicyTrainingSettings,
    ProblemGenerator,
    ProblemGeneratorSettings,
    RefinementObserver,
    best_first_search,
    fingerprint,
    reward,
    schema,
    train_policy,
)
from mrag.cel.evaluate import World
from mrag.cel.expressions import Top, depth, length
from mrag.cel.learners.base import FitState, Halt, LearnerSettings
from mrag.cel.learners.refinement import RefinementSpace, RefinementSpaceSettings, SpaceView, Vectors
from mrag.cel.problem import ExampleCounts, LearningProblem, confusion, quality
from mrag.errors import ConfigError, LearningProblemError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.stores.oxigraph import OxigraphStore

E = "http://example.org/"
FAMILY = Path(os.environ.get("MRAG_SHARED_DATA", "../shared/data")) / "cel_kbs" / "drill" / "Family"
SHORT = PolicyTrainingSettings(
    episodes=12, problems=5, seconds=300, generated=ProblemGeneratorSettings(min_examples=2)
)
Promise = Callable[[Vectors], npt.NDArray[np.floating]]


def triples() -> list[Triple]:
    """Forty animals that eat one another, of six classes."""
    kinds = ("Cat", "Dog", "Bird", "Fish", "Worm")
    found = [Triple(URIRef(E + k), RDFS.subClassOf, URIRef(E + "Animal")) for k in kinds]
    for at in range(40):
        x = URIRef(f"{E}x{at:02d}")
        found += [Triple(x, RDF.type, URIRef(E + kinds[at % 5])), Triple(x, RDF.type, URIRef(E + "Animal"))]
        if at % 7 < 3:
            found.append(Triple(x, RDF.type, URIRef(E + "Pet")))
        for n in range(at % 4):
            found.append(Triple(x, URIRef(E + "eats"), URIRef(f"{E}x{(at * 3 + n * 11) % 40:02d}")))
        if at % 3:
            found.append(Triple(x, URIRef(E + "likes"), URIRef(f"{E}x{(at * 5 + 1) % 40:02d}")))
    return found


@pytest.fixture(scope="module")
def kg() -> Iterator[KnowledgeGraph]:
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(triples())
        yield kg


@pytest.fixture(scope="module")
def policy(kg: KnowledgeGraph) -> Policy:
    pytest.importorskip("sklearn", reason="training needs scikit-learn")
    return train_policy(kg, SHORT)


@pytest.mark.slow
def test_generated_problems_have_a_solution_and_are_not_trivial(kg: KnowledgeGraph) -> None:
    settings = ProblemGeneratorSettings(seed=5, min_examples=2, max_examples=8, min_length=3, max_length=8)
    generator = ProblemGenerator(kg, settings)
    found = list(islice(generator.problems(), 12))
    assert len(found) == 12
    first = generator.space.refinements(Top())
    at = {name: column for column, name in enumerate(generator.names)}
    for generated in found:
        problem = generated.problem
        assert 2 <= len(problem.positives) == len(problem.negatives) <= 8
        assert 3 <= length(generated.concept) <= 8 and depth(generated.concept) <= 2
        counts = confusion(kg, [generated.concept], problem.positives, problem.negatives)[0]
        assert counts.perfect
        easy = first.table[:, [at[x] for x in problem.positives]].all(axis=1)
        easy &= ~first.table[:, [at[x] for x in problem.negatives]].any(axis=1)
        assert not easy.any()
    assert len({length(g.concept) for g in found}) >= 3
    assert list(islice(ProblemGenerator(kg, settings).problems(), 12)) == found
    assert list(islice(ProblemGenerator(kg, settings).problems(seed=6), 12)) != found


def test_examples_can_be_drawn_from_one_class(kg: KnowledgeGraph) -> None:
    settings = ProblemGeneratorSettings(min_examples=2, of=E + "Pet", pool=10)
    generator = ProblemGenerator(kg, settings)
    assert len(generator.names) == 10
    for generated in islice(generator.problems(), 3):
        assert {*generated.problem.examples} <= {*generator.names}
    with pytest.raises(LearningProblemError, match="too few"):
        ProblemGenerator(kg, ProblemGeneratorSettings(of=E + "Nothing"))


def test_an_observation_has_shares_and_quality() -> None:
    held = np.array([[True, True, False, True, False], [True, False, False, False, False]])
    vectors = np.arange(10, dtype=np.float32).reshape(5, 2)
    seen, tp, fp = RefinementObserver(vectors, 2).observe(held, np.zeros((2, 3), dtype=np.float32), 0.5)
    assert (tp.tolist(), fp.tolist()) == ([2, 1], [1, 0])
    f1 = [quality(ExampleCounts(2, 1, 2, 3)), quality(ExampleCounts(1, 0, 2, 3))]
    assert seen[:, 2].tolist() == pytest.approx(f1)
    assert seen[:, 3].tolist() == pytest.approx([x - 0.5 for x in f1])
    assert seen[:, :2].tolist() == [[1.0, pytest.approx(1 / 3)], [0.5, 0.0]]
    assert seen[0, 8:10].tolist() == pytest.approx(vectors[:2].mean(axis=0).tolist())


def test_what_is_untrained_is_refused(kg: KnowledgeGraph) -> None:
    with pytest.raises(ModelError, match=r"needs a trained policy.*train_policy\(kg\)"):
        Drill(kg)
    raw = Policy.untrained(kg, World.whole(kg))
    with pytest.raises(ModelError, match=r"untrained.*train_policy\(kg\)"):
        Drill(kg, policy=raw)
    with pytest.raises(ModelError, match="no such policy"):
        Drill(kg, DrillSettings(policy="/nowhere/policy.npz"))


def test_a_trained_policy_learns_and_top_never_wins(kg: KnowledgeGraph, policy: Policy) -> None:
    generator = ProblemGenerator(kg, ProblemGeneratorSettings(min_examples=2))
    for generated in islice(generator.problems(seed=99), 4):
        learner = Drill(kg, DrillSettings(seconds=60, confirm=False), policy=policy)
        found = learner.fit(generated.problem)
        assert learner.report is not None and found
        assert learner.report.solved == found[0].solved
        assert all(h.counts.informative and not isinstance(h.expression, Top) for h in found)
        problem = generated.problem
        counted = confusion(kg, [h.expression for h in found], problem.positives, problem.negatives)
        assert counted == [h.counts for h in found]
        again = Drill(kg, LearnerSettings(seconds=60, confirm=False), policy=policy).fit(problem)
        assert again == found


def test_of_a_large_graph_only_the_neighbourhood_is_fetched(
    kg: KnowledgeGraph, policy: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = next(ProblemGenerator(kg, ProblemGeneratorSettings(min_examples=2)).problems(seed=99)).problem
    whole = Drill(kg, DrillSettings(seconds=60), policy=policy).fit(problem)
    monkeypatch.setattr("mrag.cel.evaluate._WHOLE", 0)
    assert World.of(kg, problem.examples).steps == 2
    around = Drill(kg, DrillSettings(seconds=60), policy=policy).fit(problem)
    assert around[0].quality == pytest.approx(whole[0].quality)
    trained = train_policy(
        kg, replace(SHORT, episodes=2, generated=ProblemGeneratorSettings(min_examples=2, pool=20))
    )
    assert trained.episodes == 2 and trained.about["trained on"] == 20


def test_a_policy_comes_back_from_its_file(kg: KnowledgeGraph, policy: Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    policy.save(path)
    back = Policy.load(path, kg)
    assert back.episodes == policy.episodes == 12 and back.about == dict(policy.about)
    assert back.fingerprint == fingerprint(schema(kg))
    for one, other in zip([*policy.weights, *policy.biases], [*back.weights, *back.biases], strict=True):
        assert np.array_equal(one, other)
    world = World.whole(kg)
    places = np.arange(world.size)
    assert np.array_equal(policy.vectors(world, places), back.vectors(world, places))
    learner = Drill(kg, DrillSettings(policy=str(path), seconds=60))
    problem = next(ProblemGenerator(kg, ProblemGeneratorSettings(min_examples=2)).problems(seed=7)).problem
    assert learner.fit(problem) == Drill(kg, DrillSettings(seconds=60), policy=policy).fit(problem)


def test_a_policy_of_another_graph_is_refused(policy: Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    policy.save(path)
    with KnowledgeGraph(OxigraphStore()) as other:
        other.insert([*triples(), Triple(URIRef(E + "x00"), RDF.type, URIRef(E + "Dragon"))])
        with pytest.raises(ModelError, match=r"other classes.*1 classes are new.*Dragon.*train_policy\(kg\)"):
            Policy.load(path, other)


def test_a_damaged_file_is_refused(policy: Policy, tmp_path: Path) -> None:
    path = tmp_path / "policy.npz"
    policy.save(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ModelError, match="damaged"):
        Policy.load(path)
    path.write_bytes(b"not a policy")
    with pytest.raises(ModelError, match="damaged"):
        Policy.load(path)
    np.savez(path, about=np.array([object()], dtype=object))
    with pytest.raises(ModelError, match="damaged"):
        Policy.load(path)
    shape = replace(policy, weights=(policy.weights[0][:5], *policy.weights[1:]))
    shape.save(path)
    with pytest.raises(ModelError, match="another shape"):
        Policy.load(path)


def test_training_goes_on_from_a_policy_and_survives_an_interruption(
    kg: KnowledgeGraph, policy: Policy
) -> None:
    told: list[PolicyTrainingProgress] = []

    def interrupt(progress: PolicyTrainingProgress) -> None:
        told.append(progress)
        if len(told) == 3:
            raise KeyboardInterrupt

    further = train_policy(kg, SHORT, policy=policy, on_progress=interrupt)
    assert [p.episodes for p in told] == [13, 14, 15]
    assert further.episodes == 15 and len(further.history) == 2
    assert not np.array_equal(further.weights[0], policy.weights[0])
    assert Drill(kg, policy=further).policy is further


@pytest.mark.slow
def test_the_same_seed_trains_the_same_in_every_process(policy: Policy) -> None:
    code = """
import hashlib
from mrag.cel.drill import train_policy
from mrag.graph.kg import KnowledgeGraph
from mrag.stores.oxigraph import OxigraphStore
from tests.cel.test_drill import SHORT, triples
with KnowledgeGraph(OxigraphStore()) as kg:
    kg.insert(triples())
    policy = train_policy(kg, SHORT)
    print(hashlib.sha256(b"".join(w.tobytes() for w in policy.weights)).hexdigest(), policy.history)
"""
    environment = {**os.environ, "PYTHONHASHSEED": "77" if os.environ.get("PYTHONHASHSEED") != "77" else "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    weights = hashlib.sha256(b"".join(w.tobytes() for w in policy.weights)).hexdigest()
    assert done.stdout == f"{weights} {policy.history}\n"


def test_the_network_counts_as_much_as_is_said(kg: KnowledgeGraph, policy: Policy) -> None:
    seen = np.random.default_rng(0).random((5, INPUTS)).astype(np.float32)
    alone = Drill(kg, DrillSettings(trust=None), policy=policy).priority(seen)
    assert np.array_equal(alone, policy.predict(seen))
    greedy = Drill(kg, DrillSettings(trust=0), policy=policy).priority(seen)
    assert np.array_equal(greedy, reward(seen))
    both = Drill(kg, DrillSettings(trust=2.0), policy=policy).priority(seen)
    assert both == pytest.approx(greedy + 2 * alone, rel=1e-5)
    refinements = RefinementSpace.of(
        kg, World.whole(kg), np.arange(4), RefinementSpaceSettings()
    ).refinements(Top())
    observer = RefinementObserver(policy.vectors(World.whole(kg), np.arange(4)), 2)
    looks, tp, fp = observer.observe(refinements.table, refinements.shapes, 0.5)
    pay = [
        quality(ExampleCounts(int(t), int(f), 2, 2)) * 1.5 - 0.25 - 0.04 * length(e)
        for t, f, e in zip(tp, fp, refinements.expressions, strict=True)
    ]
    assert reward(looks) == pytest.approx(np.array(pay), abs=1e-5)


def test_limits_end_the_search(kg: KnowledgeGraph, policy: Policy) -> None:
    names = ProblemGenerator(kg, ProblemGeneratorSettings(min_examples=2)).names
    problem = LearningProblem(names[0:14:2], names[1:15:2])
    learner = Drill(kg, DrillSettings(max_tested=1, seconds=60), policy=policy)
    found = learner.fit(problem)
    assert learner.report is not None and learner.report.stopped in ("limit", "solved") and found
    learner = Drill(kg, DrillSettings(seconds=0.001), policy=policy)
    found = learner.fit(problem)
    assert learner.report.stopped in ("time", "solved") and found
    with pytest.raises(ConfigError, match="positive"):
        RefinementSpaceSettings(step=0)
    with pytest.raises(ConfigError, match="positive"):
        PolicyTrainingSettings(episodes=0)


def test_the_time_limit_holds_for_the_search_of_problems(kg: KnowledgeGraph, policy: Policy) -> None:
    trained = train_policy(kg, replace(SHORT, seconds=1e-6))
    assert (trained.episodes, trained.about["problems"], policy.about["problems"]) == (0, 1, 5)
    assert list(ProblemGenerator(kg, SHORT.generated).problems(over=lambda: True)) == []


def effort(space: RefinementSpace, problem: LearningProblem, all_vectors: Vectors, priority: Promise) -> int:
    """Return how many expressions are tested until one makes no mistake, at most a little over 1,500."""
    fit = FitState(problem, space.world, LearnerSettings(seconds=600))
    try:
        best_first_search(fit, SpaceView(space, fit.at), all_vectors[fit.at], priority, max_tested=1_500)
    except Halt:
        pytest.fail("the time limit came first")
    return fit.tested


@pytest.mark.slow
def test_a_trained_policy_needs_fewer_tests_than_an_untrained_one_and_than_chance() -> None:
    if not FAMILY.exists():
        pytest.skip("needs the shared data: set MRAG_SHARED_DATA")
    pytest.importorskip("sklearn", reason="training needs scikit-learn")
    with KnowledgeGraph(OxigraphStore()) as family:
        family.load([FAMILY / "family-benchmark_rich_background.owl"])
        reason(family)
        trained = train_policy(family, PolicyTrainingSettings(seconds=600))
        assert trained.history[-1] > trained.history[0]
        generator = ProblemGenerator(family)
        world = World.whole(family)
        vectors = trained.vectors(world, np.arange(world.size))
        held_out = [g.problem for g in islice(generator.problems(seed=1000), 8)]
        raw = Policy.untrained(family, world, seed=3)
        rng = np.random.default_rng(0)
        efforts = {
            name: [effort(generator.space, p, vectors, priority) for p in held_out]
            for name, priority in {
                "trained": trained.predict,
                "untrained": raw.predict,
                "chance": lambda seen: rng.random(len(seen)),
            }.items()
        }
        assert sum(efforts["trained"]) < 0.8 * sum(efforts["untrained"]), efforts
        assert sum(efforts["trained"]) < 0.8 * sum(efforts["chance"]), efforts
        lists = json.loads((FAMILY / "lp_dl_learner.json").read_text())["problems"]
        for name, least in (("Granddaughter", 1.0), ("Grandgrandmother", 0.9)):
            problem = LearningProblem(lists[name]["positive_examples"], lists[name]["negative_examples"])
            best = Drill(family, DrillSettings(seconds=300, max_tested=3_000), policy=trained).fit(problem)[0]
            assert best.quality >= least
