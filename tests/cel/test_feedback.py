"""Learning from marks on a list: alternatives agree with the plain interpreter, proposals are in dispute."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mrag
from mrag.cel.problem import ExampleCounts, LearningProblem
from mrag.cel.rerank import FeedbackSettings, conditions_agreeing, learn_from_marks, marked_counts, precision
from mrag.cel.sparql import individuals_among
from mrag.errors import LearningProblemError
from mrag.rdf.terms import Triple
from tests.cel.plain import INDIVIDUALS, UNWATCHED, Plain, graphs

EX = "https://w3id.org/mrag/demo/products#"
PATIENT = FeedbackSettings(seconds=60)
"""Learning ends when it has found what there is, which takes longer on a busy machine."""


@settings(UNWATCHED, max_examples=25)
@given(graphs(), st.permutations(INDIVIDUALS), st.integers(1, 3), st.integers(0, 2))
def test_alternatives_hold_what_the_plain_interpreter_says(
    triples: frozenset[Triple], order: Sequence[str], likes: int, dislikes: int
) -> None:
    with mrag.connect() as kg:
        kg.insert(triples)
        known = individuals_among(kg, order)
        listed = [iri for iri in order if iri in known]
        liked, disliked = listed[:likes], listed[likes : likes + dislikes]
        if len(listed) <= likes:
            return
        found = learn_from_marks(kg, listed, liked, disliked)
        assert bool(found.assumed) is (not disliked) and not {*found.assumed} & {*liked}
        lengths = [one.hypothesis.length for one in found.alternatives]
        assert lengths == sorted({*lengths}) and max(lengths, default=0) <= FeedbackSettings().max_length
        plain = Plain(triples)
        for one in found.alternatives:
            held = plain.instances(one.hypothesis.expression)
            assert one.covered == tuple(iri for iri in listed if iri in held)
            assert one.hypothesis.counts == found.problem.counts(held) and one.hypothesis.counts.informative
            problem = found.problem
            again = marked_counts(kg, one.hypothesis.expression, problem.positives, problem.negatives)
            assert again.counts == one.hypothesis.counts
        assert not {*found.proposals} & {*liked, *disliked}
        shortest, _ = conditions_agreeing(kg, found.problem, listed, 2, until=1e12)
        for e in shortest:
            held = plain.instances(e)
            assert held.issuperset(found.problem.positives) and held.isdisjoint(found.problem.negatives)


@pytest.mark.parametrize("negative", ["e", "f"])
def test_an_integer_reaches_the_limit_of_a_decimal(negative: str) -> None:
    space = "urn:x-marks:"
    with mrag.connect() as kg:
        kg.update(
            f"PREFIX : <{space}> PREFIX owl: <http://www.w3.org/2002/07/owl#> INSERT DATA {{ "
            ":d a owl:NamedIndividual ; :size 2.0 . :e a owl:NamedIndividual ; :size 2 . "
            ":f a owl:NamedIndividual ; :size 1 }"
        )
        problem = LearningProblem([f"{space}d"], [space + negative])
        shortest, _ = conditions_agreeing(kg, problem, [space + n for n in "def"], 1, until=1e12)
        for expression in shortest:
            counts = marked_counts(kg, expression, problem.positives, problem.negatives).counts
            assert (counts.tp, counts.fp) == (1, 0)
        assert shortest or negative == "e"


def test_a_mark_on_what_is_disputed_rules_conditions_out() -> None:
    with mrag.demo(model="none") as kg:
        listed = [EX + n for n in "OracleDatabase MySQL Milvus Pinecone SQLite Neo4j Redis".split()]
        liked, disliked = [listed[0]], [listed[1]]
        sizes = []
        while True:
            found = learn_from_marks(kg, listed, liked, disliked, PATIENT)
            assert found.best is not None and found.best.hypothesis.solved
            if not found.proposals:
                break
            sizes.append(len(listed) - len(liked) - len(disliked))
            disliked.append(found.proposals[0])
        # Each mark was on another hit, and in the end what was learnt holds no more than what was meant.
        assert sizes == list(range(sizes[0], sizes[0] - len(sizes), -1))
        assert not {*found.best.covered} & {*disliked}


def test_marks_that_say_nothing_are_refused() -> None:
    with mrag.demo(model="none") as kg:
        redis, mysql = EX + "Redis", EX + "MySQL"
        for liked, disliked in (([], [redis]), ([redis], [redis]), ([EX + "Database"], [redis])):
            with pytest.raises(LearningProblemError):
                learn_from_marks(kg, [redis, mysql], liked, disliked)
        with pytest.raises(LearningProblemError):
            learn_from_marks(kg, [redis], [redis])
        assert not conditions_agreeing(kg, LearningProblem([redis], [mysql]), [], 2, until=1e12)[0]
    assert precision(ExampleCounts(0, 0, 1, 1)) is None
