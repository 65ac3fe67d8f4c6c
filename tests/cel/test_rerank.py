"""Re-ranking: a permutation, the covered first with the concept in every reason; and learning from marks."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import Graph, Literal

import mrag
from mrag.cel import rerank
from mrag.cel.concepts import keep_concept, list_concepts, member_differences, remove_concept
from mrag.cel.evaluate import World
from mrag.cel.explain import why_satisfied
from mrag.cel.learners.base import learner
from mrag.cel.problem import ExampleCounts, LearningProblem, confusion, instances, instances_among
from mrag.cel.rerank import ClassExpressionReranker, RerankSettings
from mrag.cel.sparql import individuals_among
from mrag.errors import ConfigError, LearningProblemError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.expressions import And, Expression, Named, Property, Top, Value, key, normal, walk
from mrag.rdf.terms import Triple
from mrag.reasoning.run import reason
from mrag.retrieval.rankers import Hit, Question, Ranker, SimilarityRanker
from mrag.stores.oxigraph import OxigraphStore
from tests.cases import beside
from tests.cel.graphs import PHOTOS, E, Listed, showing
from tests.cel.plain import CLASSES, INDIVIDUALS, ROLES, UNWATCHED, Plain, expressions, graphs, schema
from tests.cel.test_keep import CLOSED, JACKET, OPEN
from tests.conftest import slow
from tests.servers import free_port, oxigraph_server, running, server_of

ASKED = Question("jackets")
SHOWN = {
    "i1": ["jacket", "lapel"], "i2": ["jacket", "lapel"], "i3": ["jacket", "zip"], "i4": ["skirt", "zip"],
    "i5": ["jacket"], "i6": ["skirt"], "i7": ["jacket", "belt"], "i8": ["skirt", "belt"],
    "i9": ["dress"], "i10": ["dress", "zip"],
}  # fmt: skip


def test_covered_hits_come_first_and_say_why(kg: KnowledgeGraph) -> None:
    iris = showing(kg, SHOWN)
    settings = RerankSettings(examples=3, noun="images")
    ranker = ClassExpressionReranker(Listed(iris), kg, learner("search", kg), settings)
    assert isinstance(ranker, Ranker)
    result = ranker.rerank_hits(ASKED, 10)
    assert [h.iri.removeprefix(E) for h in result.hits] == [
        "i1", "i2", "i3", "i5", "i7", "i4", "i6", "i8", "i9", "i10",
    ]  # fmt: skip
    said = "Whatever shows “jacket”: 3 of your 3 images, 0 of 3 others."
    assert result.note == said
    assert result.covered == instances_among(kg, result.hypothesis.expression, iris)
    for hit in result.hits:
        start = "Concept: " if hit.iri in result.covered else "Not in the concept: "
        assert hit.reasons == ("listed", start + said)
    assert [h.rank for h in result.hits] == list(range(1, 11))
    scores = [h.score for h in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert ranker.rank(ASKED, 4) == list(result.hits[:4])


@settings(UNWATCHED, max_examples=25)
@given(
    st.lists(st.sets(st.sampled_from(("a", "b", "c", "d"))), min_size=2, max_size=24),
    st.integers(1, 12), st.sampled_from(("bottom", "random")), st.integers(0, 3),
    st.lists(st.integers(0, 30), max_size=5),
)  # fmt: skip
def test_always_a_permutation_with_examples_apart(
    shown: list[set[str]], examples: int, negatives: str, seed: int, strangers: list[int]
) -> None:
    with KnowledgeGraph(OxigraphStore()) as kg:
        iris = showing(kg, {f"i{at:02}": sorted(values) for at, values in enumerate(shown)})
        for at in sorted(set(strangers)):
            iris.insert(min(at, len(iris)), f"{E}stranger{at}")
        options = RerankSettings(examples=examples, negatives=negatives, seed=seed)  # type: ignore[arg-type]
        hits = Listed(iris).rank(ASKED, 100)
        result = ClassExpressionReranker(Listed(iris), kg, learner("search", kg), options).rerank(hits)
        assert sorted(h.iri for h in result.hits) == sorted(iris)
        assert not set(result.problem.positives) & set(result.problem.negatives)
        assert len(result.problem.positives) == len(result.problem.negatives)
        order = [h.iri for h in result.hits]
        inside = [iri for iri in iris if iri in result.covered]
        assert order == inside + [iri for iri in iris if iri not in result.covered]
        assert all(h.reasons[0] == "listed" and result.note in h.reasons[-1] for h in result.hits)
        again = ClassExpressionReranker(Listed(iris), kg, learner("search", kg), options).rerank(hits)
        assert again == result


def test_nothing_learnt_leaves_the_list_and_says_so(kg: KnowledgeGraph) -> None:
    iris = showing(kg, {f"i{n}": ["jacket"] for n in range(6)})
    hits = Listed(iris).rank(ASKED, 6)
    work = ClassExpressionReranker(Listed(iris), kg, learner("search", kg), RerankSettings(examples=2))
    result = work.rerank(hits)
    assert [(h.iri, h.score, h.rank) for h in result.hits] == [(h.iri, h.score, h.rank) for h in hits]
    assert result.hypothesis is None and "No concept was learnt" in result.note
    assert all(h.reasons == ("listed", result.note) for h in result.hits)
    for few in ([], [hits[0]], [Hit("urn:nowhere", 1.0, 1), Hit("urn:nobody", 0.5, 2)]):
        short = work.rerank(few)
        assert [h.iri for h in short.hits] == [h.iri for h in few]
        assert short.problem is None and "Fewer than two" in short.note


def test_what_a_person_likes_becomes_the_problem(kg: KnowledgeGraph) -> None:
    iris = showing(kg, SHOWN)
    work = ClassExpressionReranker(Listed(iris), kg, learner("search", kg))
    hits = Listed(iris).rank(ASKED, 10)
    result = work.with_feedback(hits, [E + "i4", E + "i10"], [E + "i1", E + "i6"])
    assert {h.iri for h in result.hits[:3]} == {E + "i3", E + "i4", E + "i10"}
    assert "“zip”" in result.note
    # Without dislikes the last hits that are not liked stand against the liked ones.
    result = work.with_feedback(hits, [E + "i1", E + "i2"])
    assert result.problem.negatives == tuple(sorted((E + "i9", E + "i10")))
    for liked, disliked in (([], [E + "i1"]), ([E + "i1"], [E + "i1"])):
        with pytest.raises(LearningProblemError):
            work.with_feedback(hits, liked, disliked)


def test_over_a_similarity_index(kg: KnowledgeGraph) -> None:
    iris = showing(kg, SHOWN)
    SimilarityIndexes.of(kg).build("main", model="wordllama")
    base = SimilarityRanker(kg, mode="bm25")
    work = ClassExpressionReranker(base, kg, learner("search", kg), RerankSettings(examples=2))
    hits = base.rank(Question("jacket lapel"), 100)
    result = work.rerank(hits)
    assert sorted(h.iri for h in result.hits) == sorted(h.iri for h in hits)
    assert {h.iri for h in hits} >= {iris[0], iris[1]}
    assert {h.iri for h in result.hits[:2]} == {iris[0], iris[1]}


EX = "https://w3id.org/mrag/demo/products#"
PATIENT = rerank.FeedbackSettings(seconds=60)
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
        found = rerank.learn_from_marks(kg, listed, liked, disliked)
        assert bool(found.assumed) is (not disliked) and not {*found.assumed} & {*liked}
        lengths = [one.hypothesis.length for one in found.alternatives]
        assert lengths == sorted({*lengths})
        assert max(lengths, default=0) <= rerank.FeedbackSettings().max_length
        plain = Plain(triples)
        for one in found.alternatives:
            held = plain.instances(one.hypothesis.expression)
            assert one.covered == tuple(iri for iri in listed if iri in held)
            assert one.hypothesis.counts == found.problem.counts(held) and one.hypothesis.counts.informative
            problem = found.problem
            again = rerank.count_marks(kg, one.hypothesis.expression, problem.positives, problem.negatives)
            assert again.counts == one.hypothesis.counts
        assert not {*found.proposals} & {*liked, *disliked}
        shortest, _ = rerank.conditions_agreeing(kg, found.problem, listed, 2, until=1e12)
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
        shortest, _ = rerank.conditions_agreeing(kg, problem, [space + n for n in "def"], 1, until=1e12)
        for expression in shortest:
            counts = rerank.count_marks(kg, expression, problem.positives, problem.negatives).counts
            assert (counts.tp, counts.fp) == (1, 0)
        assert shortest or negative == "e"


def test_a_mark_on_what_is_disputed_rules_conditions_out() -> None:
    with mrag.demo(model="none") as kg:
        listed = [EX + n for n in "OracleDatabase MySQL Milvus Pinecone SQLite Neo4j Redis".split()]
        liked, disliked = [listed[0]], [listed[1]]
        sizes = []
        while True:
            found = rerank.learn_from_marks(kg, listed, liked, disliked, PATIENT)
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
                rerank.learn_from_marks(kg, [redis, mysql], liked, disliked)
        with pytest.raises(LearningProblemError):
            rerank.learn_from_marks(kg, [redis], [redis])
        assert not rerank.conditions_agreeing(kg, LearningProblem([redis], [mysql]), [], 2, until=1e12)[0]
    assert rerank.precision(ExampleCounts(0, 0, 1, 1)) is None


A, B, C = CLASSES
a, b, c, d, e, f = INDIVIDUALS
R, S = ROLES
GRAPH = frozenset([*schema(), *(Triple(*t) for t in Graph().parse(data=beside(__file__, "roles.ttl")))])  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=["oxigraph", *slow("virtuoso")])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    with server_of(request.param, tmp_path_factory.mktemp(request.param)) as url, mrag.connect(url) as kg:
        kg.insert(GRAPH)
        yield kg


def comparable(x: Expression) -> bool:
    """Tell whether servers agree on it: Virtuoso has no booleans of its own."""
    return not any(isinstance(part, Value) and part.value in map(Literal, (True, False)) for part in walk(x))


@settings(UNWATCHED, max_examples=40, derandomize=True)
@given(x=expressions.filter(comparable))
def test_random_expressions_hold_the_same_on_a_server(server: KnowledgeGraph, x: Expression) -> None:
    expected = Plain(GRAPH).instances(x)
    assert set(instances(server, x)) == expected, key(normal(x))
    assert instances_among(server, x, [a, c, e]) == expected & {a, c, e}, key(normal(x))


def test_counts_worlds_and_learning_on_a_server(server: KnowledgeGraph) -> None:
    plain = Plain(GRAPH)
    several = [Named(A), Top(), And((Named(A), Named(B))), Value(Property(R), c)]
    counts = confusion(server, several, [a, b, c], [d, e, f])
    held = [plain.instances(x) for x in several]
    assert [(k.tp, k.fp) for k in counts] == [(len(h & {a, b, c}), len(h & {d, e, f})) for h in held]
    around = World.around(server, [a, b], steps=2)
    assert set(around.instances(Named(A))) == {a, b}
    problem = LearningProblem([a, b, c], [d, e])
    best = learner("search", server, seconds=60).fit(problem)[0]
    assert best.solved and plain.instances(best.expression) & {*problem.examples} == {a, b, c}


def go_in_and_out(kg: KnowledgeGraph, settled: Callable[[KnowledgeGraph], object]) -> None:
    """Keep, explain and remove concepts; `settled` brings the graph up to date where its server does not."""
    kg.insert(PHOTOS)
    settled(kg)
    before = kg.count("asserted")
    for e in (OPEN[2], CLOSED[1]):
        held = instances(kg, e)
        kept = keep_concept(kg, e, "c")
        settled(kg)
        assert list_concepts(kg) == [kept] and keep_concept(kg, e, "c") == kept
        assert held and instances(kg, Named(kept.iri)) == held
        assert why_satisfied(kg, e, held[0]).holds
        assert remove_concept(kg, "c") and not list_concepts(kg) and kg.count("asserted") == before
        settled(kg)
        assert not instances(kg, Named(kept.iri))


def test_in_a_server_that_does_not_reason(tmp_path: Path) -> None:
    def settled(kg: KnowledgeGraph) -> None:
        reason(kg)
        assert not any(member_differences(kg, kept) for kept in list_concepts(kg))

    with oxigraph_server(tmp_path, memory=True) as url, mrag.connect(url) as kg:
        go_in_and_out(kg, settled)


@pytest.mark.slow
def test_over_a_servers_protocol(tmp_path: Path) -> None:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "mrag", "serve", "--store", str(tmp_path / "data"), "--update"]
    with (
        running([*command, "--reason", "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"graphdb:{base}/repositories/main") as kg,
    ):
        go_in_and_out(kg, lambda kg: None)
    with (
        running([*command, "--port", str(port)], f"{base}/sparql", tmp_path / "log"),
        mrag.connect(f"sparql:{base}/sparql?update={base}/sparql") as kg,
        pytest.raises(ConfigError, match="read only here"),
    ):
        keep_concept(kg, JACKET, "c")
