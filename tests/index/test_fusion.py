from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.index.fusion import candidates, reciprocal_rank_fusion

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
