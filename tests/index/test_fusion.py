from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.index.fusion import candidates, convex_combination, reciprocal_rank_fusion

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


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, float("nan")], [1, float("inf")]])
def test_bad_weights(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match=r"Give one number"):
        reciprocal_rank_fusion([["a"], ["b"]], weights=weights)


def test_bad_k() -> None:
    with pytest.raises(ConfigError):
        reciprocal_rank_fusion([["a"]], k=-1)


def test_depth() -> None:
    assert [candidates(k) for k in (1, 10, 11)] == [100, 100, 110]


SCORES = st.lists(st.tuples(st.floats(0, 30, width=16), st.floats(-1, 1, width=16)), min_size=1, max_size=8)


@given(SCORES, st.floats(-1, 1, width=16), st.floats(0, 1, width=16))
def test_fused_scores_are_shares_of_the_best(
    both: list[tuple[float, float]], base: float, dense: float
) -> None:
    words, cosines = (np.array(part, np.float32) for part in zip(*both, strict=True))
    fused = convex_combination(words, cosines, base, dense)
    assert ((fused >= 0) & (fused <= 1 + 1e-6)).all()
    # How large the scores of words are plays no part.
    assert np.allclose(convex_combination(words * 7, cosines, base, dense), fused, atol=1e-6)
    # What is at least as good in both is at least as good.
    for i, one in enumerate(both):
        for j, other in enumerate(both):
            if one[0] >= other[0] and one[1] >= other[1]:
                assert fused[i] >= fused[j]


def test_what_finds_nothing_does_not_count() -> None:
    cosines = np.array([0.3, 0.9], np.float32)
    assert convex_combination(np.zeros(2, np.float32), cosines, 0.1, 0.2).tolist() == [pytest.approx(0.25), 1]
    words = np.array([2, 1], np.float32)
    assert convex_combination(words, cosines * 0, 0.0, 0.0).tolist() == [1, 0.5]
