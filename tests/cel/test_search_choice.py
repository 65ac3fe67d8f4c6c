"""What the default learner chooses: short general concepts, no names of single things, time well spent."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from rdflib import Literal, URIRef
from rdflib.namespace import RDF

from mrag.cel.evaluate import World
from mrag.cel.expressions import Expression, Value, walk
from mrag.cel.learners.base import LEARNERS, learner
from mrag.cel.learners.refinement import Signature
from mrag.cel.notation import to_dl
from mrag.cel.problem import LearningProblem, confusion, quality
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.terms import Triple

E = "http://example.org/"


def short(e: Expression) -> str:
    return to_dl(e, {"": E}).replace(":", "")


def put(kg: KnowledgeGraph, facts: Iterable[tuple[str, str, str | Literal]]) -> None:
    def made(s: str, p: str, o: str | Literal) -> Triple:
        kind = RDF.type if p == "a" else URIRef(E + p)
        return Triple(URIRef(E + s), kind, o if isinstance(o, Literal) else URIRef(E + o))

    kg.insert([made(*fact) for fact in facts])


def test_a_grandfather_is_a_man_whose_child_has_a_child(kg: KnowledgeGraph) -> None:
    # The knowledge base of DL-Learner's example: with single people named it can be told in other ways.
    men, women = (f"m{n}" for n in range(1, 8)), (f"f{n}" for n in range(1, 7))
    facts = [(x, "a", "Male") for x in men] + [(x, "a", "Female") for x in women]
    children = "m1 m2, m1 f2, f1 m2, f1 f2, m2 m3, f3 m3, m5 f4, f5 f4, m4 f6, f4 f6, m7 f2, f2 m6"
    couples = "m1 f1, m2 f3, m5 f5, m4 f4"
    for p, pairs in (("hasChild", children), ("married", couples)):
        facts += [(*pair.split(), p) for pair in pairs.split(", ")]
    put(kg, [(s, p, o) if p == "a" else (s, o, p) for s, p, o in facts])
    negatives = [E + x for x in "m2 m3 m4 m6 f1 f2 f3 f4 f5 f6".split()]
    found = learner("search", kg, seconds=60).fit(
        LearningProblem([E + x for x in ("m1", "m5", "m7")], negatives)
    )
    assert found[0].solved and not any(isinstance(e, Value) for e in walk(found[0].expression))
    assert found[0].length <= 7, short(found[0].expression)


def captioned(kg: KnowledgeGraph, seed: int = 3) -> tuple[LearningProblem, LearningProblem]:
    """Pictures with striped shirts and others, each with a caption; one of ten is on the wrong side."""
    rng = random.Random(seed)
    facts: list[tuple[str, str, str | Literal]] = []
    sides: tuple[list[str], list[str]] = ([], [])
    for at in range(400):
        x = f"image{at}"
        facts += [(x, "a", "Image"), (x, "description", Literal(f"a girl in a shirt, {at}", lang="en"))]
        facts += [(x, "file", Literal(f"{at // 2}.jpg"))]
        right = False
        for n in range(rng.randint(1, 3)):
            thing, kind = f"thing{at}_{n}", rng.choice(("Shirt", "Hat", "Skirt"))
            look = rng.choice(("striped", "plain"))
            facts += [(thing, "a", kind), (x, "shows", thing), (thing, "look", look), (look, "a", "Look")]
            right |= (kind, look) == ("Shirt", "striped")
        sides[not right].append(E + x)
    put(kg, facts)
    good, bad = (side[:20] for side in sides)
    train = LearningProblem(good[2:] + bad[:2], bad[2:] + good[:2])
    return train, LearningProblem(sides[0][20:60], sides[1][20:60])


def test_a_long_concept_that_fits_mistakes_gives_way_to_the_short_one(kg: KnowledgeGraph) -> None:
    train, test = captioned(kg)
    best = learner("search", kg, seconds=60).fit(train)[0]
    assert short(best.expression) == "∃ shows.(Shirt ⊓ (∃ look.{striped}))"
    assert not best.solved and best.estimate is not None and best.estimate > 0.8
    assert quality(confusion(kg, [best.expression], test.positives, test.negatives)[0]) == 1.0


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_text_that_one_or_two_examples_have_is_no_condition(kg: KnowledgeGraph, name: str) -> None:
    train, _ = captioned(kg)
    atoms = Signature(World.whole(kg))
    assert not [c for p in atoms.data for c in atoms.conditions(p, 2, np.zeros(atoms.world.size, np.int8))]
    for h in learner(name, kg, seconds=2, top=20, **({} if name == "m-of-n" else {"steps": 2})).fit(train):
        assert not any(isinstance(e, Value) and isinstance(e.value, Literal) for e in walk(h.expression))


def test_a_text_that_many_have_is_one(kg: KnowledgeGraph) -> None:
    colours = ("red", "blue", "grey")
    put(kg, [(f"x{n}", "a", "Thing") for n in range(30)])
    put(kg, [(f"x{n}", "colour", Literal(colours[n % 3])) for n in range(30)])
    examples = [[f"{E}x{n}" for n in range(30) if (n % 3 == 0) is wanted] for wanted in (True, False)]
    for name in ("search", "tdl", "m-of-n", "evolearner"):
        best = learner(name, kg, seconds=20).fit(LearningProblem(*examples))[0]
        assert short(best.expression) == '∃ colour.{"red"}', name


def drawn(kg: KnowledgeGraph, rule: Callable[[set[str]], bool], size: int, seed: int) -> LearningProblem:
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    while min(map(len, sides)) < size:
        x = f"x{len(sides[0]) + len(sides[1])}"
        classes = {f"C{n}" for n in range(16) if rng.random() < 0.5}
        side = sides[not rule(classes)]
        put(kg, [(x, "a", c) for c in sorted({"Thing", *classes})])
        side.append(E + x)
    return LearningProblem(sides[0][:size], sides[1][:size])


def test_the_beam_is_widened_while_there_are_mistakes(kg: KnowledgeGraph) -> None:
    problem = drawn(kg, lambda c: any({f"C{n}", f"C{n + 1}"} <= c for n in (1, 3, 5)), 40, 0)
    work = learner("search", kg, seconds=60, beam=4, exact=1)
    assert work.fit(problem)[0].solved
