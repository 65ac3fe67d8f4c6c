from __future__ import annotations

import numpy as np
import pytest

from mrag.errors import ConfigError
from mrag.evaluation.metrics import Resampling, compare, holm, interval

RANDOM = np.random.default_rng(7)
VALUES = RANDOM.beta(0.5, 0.8, 180)
OTHERS = np.clip(VALUES + RANDOM.normal(0.03, 0.2, 180), 0, 1)


def test_the_interval_is_that_of_scipy() -> None:
    import scipy.stats  # takes a second, which is too long for every worker

    found = interval(VALUES.tolist())
    theirs = scipy.stats.bootstrap((VALUES,), np.mean, method="percentile", n_resamples=10_000, batch=500)
    assert found.mean == pytest.approx(VALUES.mean())
    assert found.low == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert found.high == pytest.approx(theirs.confidence_interval.high, abs=0.004)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    knobs = Resampling(resamples=400)
    covered = 0
    for _ in range(300):
        found = interval(RANDOM.binomial(1, 0.3, 80).tolist(), knobs)
        covered += found.low <= 0.3 <= found.high
    assert 270 <= covered <= 298


@pytest.mark.parametrize("n", [8, 180])
def test_the_test_is_that_of_scipy(n: int) -> None:
    import scipy.stats

    first, second = VALUES[:n], OTHERS[:n]
    found = compare(first.tolist(), second.tolist())

    def mean(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(b - a, axis=axis)

    theirs = scipy.stats.permutation_test(
        (first, second), mean, permutation_type="samples", vectorized=True, n_resamples=9999, batch=500
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=0.012 if n > 14 else 1e-9)
    assert found.difference.mean == pytest.approx((second - first).mean())
    assert (found.better, found.worse) == ((second > first).sum(), (second < first).sum())


def test_equal_systems_clear_differences_and_which_comes_first() -> None:
    one, other = compare(VALUES.tolist(), OTHERS.tolist()), compare(OTHERS.tolist(), VALUES.tolist())
    assert one.p == other.p and one.difference.mean == pytest.approx(-other.difference.mean)
    same = compare(VALUES.tolist(), VALUES.tolist())
    assert (same.p, same.better, same.worse) == (1.0, 0, 0)
    assert compare([0.0] * 100, [1.0] * 100).p == pytest.approx(1 / 10_001)
    assert compare([0.0], [1.0]).p == 1.0


def test_the_same_seed_gives_the_same_figures_and_another_one_near_ones() -> None:
    assert interval(VALUES.tolist()) == interval(VALUES.tolist())
    other = interval(VALUES.tolist(), Resampling(seed=1))
    assert other != interval(VALUES.tolist()) and other.low == pytest.approx(interval(VALUES).low, abs=0.01)


def test_holm_never_makes_a_p_value_smaller_and_keeps_their_order() -> None:
    values = RANDOM.random(20).tolist()
    adjusted = holm(values)
    assert all(a >= p for a, p in zip(adjusted, values, strict=True)) and max(adjusted) <= 1
    assert sorted(adjusted) == [adjusted[i] for i in np.argsort(values)]
    assert holm([]) == []


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(ConfigError, match="no query"):
        interval([])
    with pytest.raises(ConfigError, match="pair"):
        compare([1.0], [])
    for wrong in ({"resamples": 5}, {"level": 1.0}):
        with pytest.raises(ConfigError, match="resample"):
            Resampling(**wrong)  # type: ignore[arg-type]
