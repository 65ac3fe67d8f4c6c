from __future__ import annotations

import math
import random
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.index.fusion import candidates, reciprocal_rank_fusion, weighted_rows, weighted_scores

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
    rows, scores = weighted_rows(pairs, weights)
    expected = dict(weighted_scores([[*one.items()] for one in rankings], weights=weights))
    assert dict(zip(rows.tolist(), scores.tolist(), strict=True)) == expected


@given(SCORES, st.integers(-3, 3), st.floats(-50, 50, width=16))
def test_the_scale_of_a_ranker_plays_no_part(
    rankings: list[list[tuple[str, float]]], power: int, shift: float
) -> None:
    scaled = [[(item, score * 2.0**power + shift) for item, score in ranking] for ranking in rankings]
    for ranking, other in zip(rankings, scaled, strict=True):
        spread = {score for _, score in ranking}, {score for _, score in other}
        assume(
            len(spread[0]) == len(spread[1])
            and (len(spread[0]) < 2 or max(spread[0]) - min(spread[0]) > 0.01)
        )
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
    assert [candidates(k) for k in (1, 10, 11)] == [100, 100, 110]
