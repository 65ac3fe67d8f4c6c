"""How sure a mean over queries is: bootstrap intervals, and a paired test between two systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError

_CHUNK = 4_000_000
_EXACT = 14


@dataclass(frozen=True)
class Resampling:
    """The settings of intervals and tests.

    Args:
        resamples: How many samples are drawn, 100 or more.
        level: Of the intervals, between 0 and 1.
        seed: The same seed gives the same figures.

    Raises:
        ConfigError: If a setting is out of range.
    """

    resamples: int = 10_000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 100 or not 0 < self.level < 1:
            hint = "Use 100 resamples or more and a level such as 0.95."
            raise ConfigError(
                f"Cannot resample with resamples={self.resamples}, level={self.level}.", hint=hint
            )


@dataclass(frozen=True)
class Interval:
    """A mean over queries and the interval that it lies in."""

    mean: float
    low: float
    high: float
    queries: int


@dataclass(frozen=True)
class PairedTest:
    """What a second system has over a first one, by query.

    Attributes:
        difference: Mean of second minus first, with its interval.
        p: How often chance alone gives a difference at least as large; two-sided.
        better: Queries on which the second is better.
        worse: Queries on which it is worse.
    """

    difference: Interval
    p: float
    better: int
    worse: int


def interval(values: Sequence[float], resampling: Resampling | None = None) -> Interval:
    """Return the mean of per-query values with its bootstrap interval.

    Queries are drawn with replacement, and the interval lies between percentiles of the means (Efron and
    Tibshirani, 1993, An Introduction to the Bootstrap, chapter 13).

    Args:
        values: One value a query.
        resampling: Number of samples, level and seed.

    Raises:
        ConfigError: If there are no values.

    Example:
        >>> interval([1.0, 1.0, 1.0])
        Interval(mean=1.0, low=1.0, high=1.0, queries=3)
        >>> found = interval([0.0, 1.0] * 50)
        >>> found.mean, 0.39 < found.low < 0.42, 0.58 < found.high < 0.61
        (0.5, True, True)
    """
    resampling = resampling or Resampling()
    data = np.asarray(values, np.float64)
    if not len(data):
        raise ConfigError(
            "There is no query to take a mean of.", hint="Check that judgements fit the queries."
        )
    random = np.random.default_rng(resampling.seed)
    means = np.concatenate(
        [
            data[random.integers(0, len(data), (rows, len(data)))].mean(axis=1)
            for rows in _rows(resampling, len(data))
        ]
    )
    tail = (1 - resampling.level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(data.mean()), float(low), float(high), len(data))


def compare(
    first: Sequence[float], second: Sequence[float], resampling: Resampling | None = None
) -> PairedTest:
    """Compare two systems on the same queries.

    The test is Fisher's randomisation test: under the null hypothesis the systems could change places on
    any query, so the signs of the differences are drawn at random (Smucker, Allan and Carterette, 2007,
    A Comparison of Statistical Significance Tests for Information Retrieval Evaluation, CIKM). All 2^n
    signs are tried for up to 14 queries that differ; else the p-value counts the observation as one sample.

    Args:
        first: Values of the first system, one a query.
        second: Values of the second, in the same order.
        resampling: Number of samples, level and seed.

    Raises:
        ConfigError: If the numbers of values differ, or there are none.

    Example:
        >>> compare([0.0] * 5, [1.0] * 5).p
        0.0625
    """
    resampling = resampling or Resampling()
    if len(first) != len(second):
        raise ConfigError(f"Cannot pair {len(first)} values with {len(second)}.")
    differences = np.asarray(second, np.float64) - np.asarray(first, np.float64)
    return PairedTest(
        interval(differences.tolist(), resampling),
        _sign_test(differences[differences != 0], resampling),
        int((differences > 0).sum()),
        int((differences < 0).sum()),
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number (Holm, 1979, A Simple Sequentially Rejective Multiple Test Procedure).

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for i, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        least = max(least, min(1.0, (len(p_values) - i) * p_values[at]))
        adjusted[at] = least
    return adjusted


def _sign_test(differences: npt.NDArray[np.float64], resampling: Resampling) -> float:
    n = len(differences)
    if not n:
        return 1.0
    # Sums of the same numbers in another order may differ in the last digits.
    seen = abs(float(differences.sum())) * (1 - 1e-12)
    if n <= _EXACT:
        signs = 1 - 2 * ((np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1)
        return float((np.abs(signs @ differences) >= seen).mean())
    random = np.random.default_rng(resampling.seed)
    as_large = 0
    for rows in _rows(resampling, n):
        drawn = 1.0 - 2.0 * random.integers(0, 2, (rows, n), np.int8)
        as_large += int((np.abs(drawn @ differences) >= seen).sum())
    return (as_large + 1) / (resampling.resamples + 1)


def _rows(resampling: Resampling, width: int) -> list[int]:
    """Split the samples so that none of the arrays grows large."""
    most = max(1, _CHUNK // width)
    full, rest = divmod(resampling.resamples, most)
    return [most] * full + ([rest] if rest else [])
