"""Rankings are fused, and how much vectors count is learnt from the documents alone."""

import hashlib
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rdflib import RDFS, Literal, URIRef

import mrag
from mrag.errors import ConfigError
from mrag.index import fusion
from mrag.index.bm25 import Bm25Index
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder, Vectors, WordLlamaEmbedder
from mrag.index.fusion import EVEN, reciprocal_rank_fusion, weighted_scores
from mrag.index.similarity import SimilarityIndexes
from mrag.rdf.terms import Triple

from .conftest import Cranfield

SCORES = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-100, 100, width=32)).map(
        lambda found: sorted(found.items(), key=lambda f: (-f[1], f[0]))
    ),
    min_size=1,
    max_size=4,
)
RANKINGS = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=5)


def test_formula() -> None:
    fused = dict(reciprocal_rank_fusion([["a", "b"], ["b"]], weights=[2, 1]))
    assert fused == {"a": pytest.approx(2 / 61), "b": pytest.approx(2 / 62 + 1 / 61)}


def test_ties_by_text_and_repeated_items() -> None:
    assert [item for item, _ in reciprocal_rank_fusion([["b"], ["a"], ["c"]])] == ["a", "b", "c"]
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == reciprocal_rank_fusion([["a", "b"]])


@given(RANKINGS, st.randoms(use_true_random=False))
def test_order_of_rankings_plays_no_part(rankings: list[list[str]], chance: random.Random) -> None:
    weights = [round(chance.uniform(0, 3), 2) for _ in rankings]
    order = list(range(len(rankings)))
    chance.shuffle(order)
    shuffled = reciprocal_rank_fusion([rankings[i] for i in order], weights=[weights[i] for i in order])
    assert reciprocal_rank_fusion(rankings, weights=weights) == shuffled


@given(RANKINGS, st.sampled_from("abcdefgh"))
def test_another_vote_never_harms(rankings: list[list[str]], item: str) -> None:
    before = dict(reciprocal_rank_fusion(rankings)).get(item, 0)
    assert dict(reciprocal_rank_fusion([*rankings, [item]]))[item] > before


def test_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
    assert reciprocal_rank_fusion([["a"]], weights=[0]) == [("a", 0.0)]


def test_scores_are_scaled_around_their_mean() -> None:
    scores = [9.0, 3.0, 3.0, 1.0]
    fused = dict(weighted_scores([list(zip("abcd", scores, strict=True))]))
    deviation = statistics.pstdev(scores)
    assert fused == {
        item: pytest.approx(0.5 + (score - 4) / (6 * deviation))
        for item, score in zip("abcd", scores, strict=True)
    }
    outlier = [("a", 1000.0), *((f"b{i}", 0.0) for i in range(99))]
    assert weighted_scores([outlier])[0] == ("a", pytest.approx(0.5 + 99 / (6 * math.sqrt(99))))
    assert weighted_scores([[("b", 2.0)], [("a", 0.1)]]) == [("a", 0.25), ("b", 0.25)]
    assert weighted_scores([]) == weighted_scores([[], []]) == []


@given(SCORES, st.randoms(use_true_random=False))
def test_fused_scores_are_the_same_whatever_the_order(
    rankings: list[list[tuple[str, float]]], chance: random.Random
) -> None:
    weights = [round(chance.uniform(0.1, 3), 2) for _ in rankings]
    fused = weighted_scores(rankings, weights=weights)
    assert {item for item, _ in fused} == {item for ranking in rankings for item, _ in ranking}
    order = list(range(len(rankings)))
    chance.shuffle(order)
    shuffled = weighted_scores([rankings[i] for i in order], weights=[weights[i] for i in order])
    assert dict(shuffled) == {item: pytest.approx(score) for item, score in fused}


@given(
    st.lists(st.dictionaries(st.integers(0, 12), st.floats(-100, 100, width=32)), min_size=2, max_size=2),
    st.floats(0, 1),
)
def test_rows_are_fused_as_any_items_are(rankings: list[dict[int, float]], share: float) -> None:
    weights = (1 - share, share)
    pairs = [(np.array([*one], np.int64), np.array([*one.values()], np.float32)) for one in rankings]
    rows, scores = fusion.weighted_rows(pairs, weights)
    expected = dict(weighted_scores([[*one.items()] for one in rankings], weights=weights))
    assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == expected


@given(SCORES, st.integers(-3, 3), st.floats(-50, 50, width=16))
def test_the_scale_of_a_ranker_plays_no_part(
    rankings: list[list[tuple[str, float]]], power: int, shift: float
) -> None:
    scaled = [[(item, score * 2.0**power + shift) for item, score in ranking] for ranking in rankings]
    for ranking, other in zip(rankings, scaled, strict=True):
        one, two = {score for _, score in ranking}, {score for _, score in other}
        assume(len(one) == len(two) and (len(one) < 2 or max(one) - min(one) > 0.01))
    fused = dict(weighted_scores(rankings))
    assert dict(weighted_scores(scaled)) == {item: pytest.approx(fused[item], abs=1e-6) for item in fused}


def test_a_ranking_of_one_keeps_its_order() -> None:
    ranking = [("c", 5.0), ("a", 4.0), ("b", 4.0), ("d", -1.0)]
    assert [item for item, _ in weighted_scores([ranking, []], weights=[1, 0])] == ["c", "a", "b", "d"]


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_bad_weights(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match=r"Give one number"):
        weighted_scores([[("a", 1.0)], [("b", 1.0)]], weights=weights)
    with pytest.raises(ConfigError, match=r"Give one number"):
        reciprocal_rank_fusion([["a"], ["b"]], weights=weights)


def test_bad_k() -> None:
    with pytest.raises(ConfigError):
        reciprocal_rank_fusion([["a"]], k=-1)


def test_depth() -> None:
    assert [fusion.candidates(k) for k in (1, 10, 11)] == [100, 100, 110]


class RandomVectors:
    """A model that knows nothing."""

    name = "random"
    dim = 32

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.dim)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


THINGS = "lamp table chair shelf window door carpet mirror candle drawer".split()
TRAITS = "oak birch brass linen velvet marble copper wicker enamel walnut".split()


def made(count: int) -> list[tuple[str, str]]:
    return [
        (
            f"ex:{n:03}",
            f"{THINGS[n % 10]} {n}. It is made of {TRAITS[n // 10 % 10]} and number {n} of the house. "
            f"Stands beside the {THINGS[n * 7 % 10]} of {TRAITS[n * 3 % 10]}, facing {n * 13 % 97}.",
        )
        for n in range(count)
    ]


def index_of(model: Embedder, texts: Sequence[tuple[str, str]], parts: int = 1) -> DocumentIndex:
    index = DocumentIndex.create(None, embedder=model)
    for part in range(parts):
        index.add(texts[part::parts])
    return index


def found(index: DocumentIndex, cranfield: Cranfield, weight: float, mode: str = "hybrid") -> float:
    ranks = []
    for text, relevant in cranfield.queries:
        hits = index.search(text, 10, mode=mode, weight=weight)  # type: ignore[arg-type]
        ranks.append(max((1 / n for n, m in enumerate(hits, 1) if m.doc_id in relevant), default=0.0))
    return float(np.mean(ranks))


@pytest.mark.slow
def test_a_model_that_knows_nothing_counts_little_and_costs_nothing(cranfield: Cranfield) -> None:
    index = index_of(RandomVectors(), cranfield.documents)
    learnt = index.learnt_weight()
    assert learnt.dense == 0.1 and learnt.words > learnt.vectors and learnt.questions == 100

    words = found(index, cranfield, EVEN, "bm25")
    even = found(index, cranfield, EVEN)
    assert even < 0.7 * words < 0.95 * words <= found(index, cranfield, learnt.dense)


@pytest.mark.slow
def test_a_model_that_finds_less_than_words_counts_for_less_and_still_helps(
    cranfield: Cranfield, wordllama: WordLlamaEmbedder
) -> None:
    index = index_of(wordllama, cranfield.documents)
    learnt = index.learnt_weight()
    assert 0.2 <= learnt.dense < EVEN and "finds less than words" in str(learnt)
    assert learnt.of("are wings stalled?") == learnt.dense
    assert found(index, cranfield, learnt.dense) > found(index, cranfield, EVEN, "bm25")


def test_the_share_rests_on_the_documents_alone() -> None:
    texts = made(300)
    one = index_of(RandomVectors(), texts).learnt_weight()
    assert one == index_of(RandomVectors(), texts[::-1], parts=4).learnt_weight()
    assert one == fusion.FusionWeight.from_json(one.to_json()) and one.questions == 100


def test_few_texts_teach_nothing() -> None:
    learnt = index_of(RandomVectors(), made(20)).learnt_weight()
    assert (learnt.dense, learnt.questions) == (EVEN, 0) and "too few" in str(learnt)


def test_a_document_that_is_not_there_is_scored_as_if_it_were() -> None:
    texts = made(50)
    index = Bm25Index.of(texts)
    for text in ("marble table", "stands beside the lamp", "of the house 7 7"):
        rows, scores = index.search(text, 50)
        for row, score in zip(rows[:5], scores[:5], strict=True):
            told = index.score_of(text, dict(texts)[index.rows.id_of(int(row))])
            assert told == pytest.approx(float(score), rel=1e-5)


def test_a_graph_learns_its_share_again_when_much_has_changed(tmp_path: Path) -> None:
    def named(items: Sequence[tuple[str, str]]) -> list[Triple]:
        return [Triple(URIRef(i), RDFS.comment, Literal(text)) for i, text in items]

    texts = made(200)
    with mrag.connect(f"oxigraph:{tmp_path}/db") as kg:
        kg.insert(named(texts[:100]))
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model=RandomVectors())
        first = indexes.info().fusion
        assert first is not None and (first.documents, first.changed) == (100, 0)
        kg.insert(named(texts[100:105]))
        indexes.build(model=RandomVectors())
        second = indexes.info().fusion
        assert second is not None and (second.documents, second.changed) == (100, 5)
        assert indexes.get(model=RandomVectors()).search("lamp", 3)
        kg.insert(named(texts[105:]))
        indexes.build(model=RandomVectors())
        # A build that was broken off learns the next time, and one without change writes nothing.
        files = indexes.get(model=RandomVectors()).files  # type: ignore[union-attr]
        files.delete((), extra={k: v for k, v in files.extra.items() if k != "fusion"})
        indexes.build(model=RandomVectors())
        third = indexes.info().fusion
        generation = indexes.get(model=RandomVectors()).files.generation  # type: ignore[union-attr]
        indexes.build(model=RandomVectors())
        assert indexes.get(model=RandomVectors()).files.generation == generation  # type: ignore[union-attr]
        assert third is not None and (third.documents, third.changed) == (200, 0)


def test_vectors_count_for_more_where_texts_are_short(wordllama: WordLlamaEmbedder) -> None:
    short = [
        (f"ex:{n:03}", f"{TRAITS[n % 10]} {THINGS[n // 10]} beside {TRAITS[n * 7 % 9]} {THINGS[n * 3 % 10]}")
        for n in range(100)
    ]
    learnt = index_of(wordllama, short).learnt_weight()
    assert 0.7 <= learnt.dense <= 0.9 and learnt.length <= 16 and learnt.questions == 100
    assert "because the texts are short" in str(learnt) and "for questions meaning" in str(learnt)
    # A question is less like a short text than a phrase is.
    assert learnt.of("a brass lamp beside a table") == learnt.dense
    assert EVEN <= learnt.of("Which lamp is of brass?") == round(learnt.dense - 0.2, 2)
    nothing = index_of(RandomVectors(), short).learnt_weight()
    assert nothing.dense < EVEN and "far less" in str(nothing)


@pytest.mark.parametrize(("words", "share"), [(3, 0.7), (16, 0.7), (32, 0.6), (64, 0.5), (500, 0.5)])
def test_the_share_falls_with_the_length_of_the_texts(words: int, share: float) -> None:
    assert fusion.usual(words) == share
