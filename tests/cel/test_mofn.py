"""Lists of which some must be there: what is learnt, how it is chosen, what it means."""

import random
from collections.abc import Sequence

import numpy as np
from rdflib import URIRef

from mrag.cel.evaluate import World
from mrag.cel.expressions import And, AtLeast, OneOf, walk
from mrag.cel.expressions import length as symbols
from mrag.cel.learners.base import FitState, LearnerSettings, learner
from mrag.cel.learners.search import Orders, families, folds
from mrag.cel.notation import to_dl
from mrag.cel.problem import LearningProblem, confusion, instances, quality
from mrag.graph.kg import KnowledgeGraph
from tests.cel.facts import E, dl, put, showing


def noisy(kg: KnowledgeGraph, seed: int = 1) -> tuple[LearningProblem, LearningProblem]:
    """Images that show at least two of four things, as a rule, and others; half of each to learn from."""
    rng = random.Random(seed)
    wanted, others = ["a", "b", "c", "d"], [f"v{n}" for n in range(20)]
    shown: dict[str, list[str]] = {}
    for at in range(160):
        good = at < 80
        number = rng.choice((2, 3)) if rng.random() < 0.9 else 1
        few = rng.sample(wanted, number if good else rng.choice((0, 1)))
        shown[f"i{at:03}"] = few + rng.sample(others, 5)
    showing(kg, shown)
    names = [E + x for x in shown]
    return (LearningProblem(names[0:80:2], names[80::2]), LearningProblem(names[1:80:2], names[81::2]))


def test_what_holds_for_most_is_found_and_holds_for_others(kg: KnowledgeGraph) -> None:
    train, test = noisy(kg)
    work = learner("m-of-n", kg, seconds=60)
    found = work.fit(train)
    best = found[0]
    assert isinstance(best.expression, AtLeast) and best.expression.n == 2
    assert isinstance(best.expression.filler, OneOf)
    assert {E + x for x in "abcd"} <= {*best.expression.filler.members}
    assert best.length == 4 and best.estimate is not None
    held_out = quality(confusion(kg, [best.expression], test.positives, test.negatives)[0])
    assert held_out > 0.85 and abs(best.estimate - held_out) < 0.15
    # What fits the examples best is another matter: the order goes by what is expected of others.
    assert [h.order for h in found] == sorted(h.order for h in found)
    assert work.report is not None and work.report.stopped == "exhausted"
    tree = learner("tdl", kg, seconds=60, leaves=None, simplify=False).fit(train)[0]
    worse = quality(confusion(kg, [tree.expression], test.positives, test.negatives)[0])
    assert tree.quality > best.quality and worse < held_out and tree.length > 10 * best.length


def test_the_store_the_bitsets_and_the_counts_agree(kg: KnowledgeGraph) -> None:
    train, _ = noisy(kg)
    world = World.whole(kg)
    for h in learner("m-of-n", kg, seconds=60, top=30, max_length=12, parts=3).fit(train):
        assert set(instances(kg, h.expression)) == set(world.instances(h.expression))
        assert confusion(kg, [h.expression], train.positives, train.negatives) == [h.counts]
        assert symbols(h.expression) <= 12


def test_lists_of_individuals_among_given_ones_in_every_place(kg: KnowledgeGraph) -> None:
    train, _ = noisy(kg)
    world = World.whole(kg)

    def listed(iris: Sequence[str]) -> str:
        return "{" + ", ".join(f"<{iri}>" for iri in iris) + "}"

    good, few, bad = train.positives[:9], train.positives[:3], train.negatives[:3]
    several = [dl(one % listed([E + "a", E + "b", E + "v1"])) for one in (
        "∃ :shows.%s", "≥ 2 :shows.%s", "≤ 1 :shows.%s", "= 2 :shows.%s", "∀ :shows.%s",
        f"(∃ :shows.%s) ⊔ {listed(few[:2])}", f"(≥ 2 :shows.%s) ⊓ {listed(good)}",
    )]  # fmt: skip
    several += [dl(listed(bad)), dl(f"∃ :shows⁻.{listed(few)}")]
    counts = confusion(kg, several, train.positives, train.negatives)
    for e, c in zip(several, counts, strict=True):
        assert c == train.counts(world.instances(e)), e


def test_a_list_is_no_longer_than_it_may_be(kg: KnowledgeGraph) -> None:
    train, _ = noisy(kg)
    for names in (1, 3):
        found = learner("m-of-n", kg, names=names, parts=1, seconds=60).fit(train)
        lists = [len(p.members) for h in found for p in walk(h.expression) if isinstance(p, OneOf)]
        assert all(n <= names for n in lists)


def test_a_plain_condition_wins_where_it_is_right(kg: KnowledgeGraph) -> None:
    showing(kg, {f"p{n}": ["x", f"o{n % 3}"] for n in range(12)})
    showing(kg, {f"n{n}": ["y", f"o{n % 3}"] for n in range(12)})
    problem = LearningProblem([f"{E}p{n}" for n in range(12)], [f"{E}n{n}" for n in range(12)])
    work = learner("m-of-n", kg, seconds=60)
    assert to_dl(work.fit(problem)[0].expression, {"": E}) == "∃ :shows.{:x}"
    assert work.report is not None and work.report.stopped == "solved" and work.report.solved


def test_two_conditions_are_joined_where_both_are_needed(kg: KnowledgeGraph) -> None:
    rng = random.Random(5)
    names: dict[bool, list[str]] = {True: [], False: []}
    for at in range(120):
        listed, kind = rng.random() < 0.5, rng.random() < 0.5
        values = rng.sample(["a", "b", "c"], 2) if listed else rng.sample(["e", "f", "g"], 2)
        showing(kg, {f"i{at}": values}, "Dress" if kind else "Shoe")
        names[listed and kind].append(f"{E}i{at}")
    best = learner("m-of-n", kg, seconds=60).fit(LearningProblem(names[True], names[False]))[0]
    assert isinstance(best.expression, And) and best.solved
    one = learner("m-of-n", kg, seconds=60, parts=1).fit(LearningProblem(names[True], names[False]))[0]
    assert not one.solved


def test_values_of_values_are_listed_with_two_steps(kg: KnowledgeGraph) -> None:
    rng = random.Random(3)
    problem: dict[bool, list[str]] = {True: [], False: []}
    for at in range(40):
        good = at % 2 == 0
        showing(kg, {f"i{at}": [f"g{at}"]})
        values = rng.sample(["red", "pink", "rose"] if good else ["blue", "green", "grey"], 1)
        put(kg, (f"g{at}", "a", "Garment"), *((f"g{at}", "colour", v) for v in values))
        problem[good].append(f"{E}i{at}")
    best = learner("m-of-n", kg, steps=2, seconds=60).fit(LearningProblem(problem[True], problem[False]))[0]
    assert best.solved and best.length <= 8
    assert to_dl(best.expression, {"": E}) == "∃ :shows.(∃ :colour.{:pink, :red, :rose})"


def test_counts_of_values_under_several_items_count_each_value_once() -> None:
    # A value of two classes that are both listed is one value.
    images = [URIRef(f"urn:i{n}") for n in range(4)]
    things = [URIRef(f"urn:t{n}") for n in range(4)]
    kinds = [(t, c) for t in things[:2] for c in ("urn:A", "urn:B")] + [(t, "urn:C") for t in things[2:]]
    edges = [(i, "urn:p", t) for i in images for t in things]
    world = World([*((i, "urn:I") for i in images), *kinds], edges, inverse=False)
    problem = LearningProblem([str(i) for i in images[:2]], [str(i) for i in images[2:]])
    fit = FitState(problem, world, LearnerSettings())
    found = [f for f in families(fit, 1) if "urn:A" in f.items]
    assert len(found) == 1 and not found[0].apart
    order = np.array([found[0].items.index(c) for c in ("urn:A", "urn:B", "urn:C")])
    counted = found[0].counts(order, np.ones(4, dtype=bool))
    assert counted.tolist() == [[2, 2, 4]] * 4
    for n in range(1, 4):
        for k in range(n, 4):
            e = found[0].expression(n, tuple(found[0].items[:k]))
            assert symbols(e) == found[0].length(n, k)


def test_the_order_without_some_examples_is_that_of_the_others() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) < 30
    table = rng.random((60, 12)) < 0.2 + 0.5 * labels[:, None] * (np.arange(12) < 4)
    for fold in range(3):
        out = np.arange(60) % 3 == fold
        apart = Orders(table[~out], labels[~out], 10.0, 5).without(np.zeros(40, dtype=bool))
        assert Orders(table, labels, 10.0, 5).without(out).tolist() == apart.tolist()


def test_folds_hold_both_kinds_and_few_examples_have_none() -> None:
    fold, number = folds(13, 7, 5, 0)
    assert number == 5 and {*fold[:13].tolist()} == {*fold[13:].tolist()} == {*range(5)}
    assert folds(1, 20, 5, 0)[1] == 0
    assert folds(3, 20, 5, 0)[1] == 3


def test_with_one_example_of_a_kind_nothing_is_estimated(kg: KnowledgeGraph) -> None:
    showing(kg, {"p": ["a", "b"], "n": ["b", "c"], "m": ["c", "a"]})
    found = learner("m-of-n", kg).fit(LearningProblem([E + "p"], [E + "n", E + "m"]))
    assert found and all(h.estimate is None for h in found)
