"""Measures equal their definitions, written here once more, and statistics are those of scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.evaluation.metrics import (
    Measure,
    Resampling,
    Run,
    Scored,
    compare,
    holm,
    interval,
    judged,
    per_query,
)

DOCS = [f"d{i}" for i in range(12)]
QUERIES = ["q1", "q2", "q3"]
GRADES = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), max_size=10)
QRELS = st.fixed_dictionaries(dict.fromkeys(QUERIES, GRADES))
ORDERS = st.dictionaries(st.sampled_from(QUERIES), st.lists(st.sampled_from(DOCS), unique=True))


def by_hand(name: str, ranking: list[str], grades: dict[str, int]) -> float:
    kind, _, cut = name.partition("@")
    k = int(cut) if cut else len(ranking)
    relevant = {doc for doc, grade in grades.items() if grade > 0}
    ranks = [i for i, doc in enumerate(ranking, 1) if doc in relevant]
    if kind == "MRR":
        return 1 / ranks[0] if ranks else 0.0
    if kind == "MAP":
        return sum(n / rank for n, rank in enumerate(ranks, 1)) / len(relevant)
    if kind == "P":
        return sum(rank <= k for rank in ranks) / k
    if kind == "R":
        return sum(rank <= k for rank in ranks) / len(relevant)
    if kind == "Hits":
        return float(any(rank <= k for rank in ranks))
    if kind == "HitsExclusive":
        return float(any(rank < k for rank in ranks))
    gains = [max(0, grades.get(doc, 0)) for doc in ranking[:k]]
    best = sorted((max(0, grade) for grade in grades.values()), reverse=True)[:k]
    discounted = [sum(g / math.log2(i + 1) for i, g in enumerate(gs, 1)) for gs in (gains, best)]
    return discounted[0] / discounted[1]


NAMES = ["MRR", "MAP", "nDCG@3", "nDCG@10", "P@1", "P@5", "P@100", "R@2", "R@100", "Hits@1", "Hits@3",
         "HitsExclusive@1", "HitsExclusive@3"]  # fmt: skip


@given(QRELS, ORDERS)
@settings(max_examples=150, deadline=None)
def test_measures_are_as_defined(qrels: dict[str, dict[str, int]], orders: dict[str, list[str]]) -> None:
    values = per_query(Run.of_order("x", orders), qrels, NAMES)
    queries = [q for q in QUERIES if any(grade > 0 for grade in qrels[q].values())]
    assert judged(qrels) == queries
    for name in NAMES:
        expected = {q: by_hand(name, orders.get(q, []), qrels[q]) for q in queries}
        assert values[name] == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize(
    ("run", "qrels", "measures"),
    [
        # The order counts, and not the scores.
        (Run("x", {"1": [Scored("b", 0.1), Scored("a", 0.9)]}), {"1": {"b": 1}}, {"MRR": 1.0, "Hits@1": 1.0}),
        # Equal scores are in order of ID.
        (Run.of_scores("x", {"1": dict.fromkeys("cab", 1.0)}), {"1": {"b": 1}}, {"MRR": 0.5}),
        (Run.of_scores("x", {"1": dict.fromkeys("bca", 1.0)}), {"1": {"b": 1}}, {"MRR": 0.5}),
        # The precision of fewer than k results is by k.
        (Run.of_order("x", {"1": "ab"}), {"1": {"a": 1, "b": 1}}, {"P@10": 0.2, "P@2": 1.0}),
    ],
)
def test_one_query_by_hand(run: Run, qrels: dict[str, dict[str, int]], measures: dict[str, float]) -> None:
    assert per_query(run, qrels, list(measures)) == {m: {"1": value} for m, value in measures.items()}


def test_a_query_without_relevant_documents_is_left_out_and_one_without_results_counts_nought() -> None:
    run = Run.of_order("x", {"1": ["a"], "2": ["a"], "9": ["a"]})
    qrels = {"1": {"a": 1}, "2": {"a": 0}, "3": {"b": 2}}
    values = per_query(run, qrels, ["R@10", "MAP", "MRR"])
    assert all(found == {"1": 1.0, "3": 0.0} for found in values.values())


def test_the_two_counts_of_hits_differ_at_rank_k_alone() -> None:
    run = Run.of_order("x", {str(n): [*DOCS[1:n], DOCS[0]] for n in range(1, 12)})
    found = per_query(run, {str(n): {DOCS[0]: 1} for n in range(1, 12)}, ["Hits@10", "HitsExclusive@10"])
    assert [q for q, hit in found["Hits@10"].items() if hit != found["HitsExclusive@10"][q]] == ["10"]
    assert per_query(run, {"1": {DOCS[0]: 1}}, ["HitsExclusive@1"]) == {"HitsExclusive@1": {"1": 0.0}}


@pytest.mark.parametrize("name", ["", "MRR@10", "nDCG", "P@0", "P@x", "F1@10", "Hits@-1", "R@10x"])
def test_what_is_no_measure_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no measure"):
        Measure.parse(name)


def test_names_are_read_in_any_case_and_written_in_one() -> None:
    given = ("ndcg@10", "recall@5", "map", "HITSEXCLUSIVE@3")
    assert [str(Measure.parse(n)) for n in given] == ["nDCG@10", "R@5", "MAP", "HitsExclusive@3"]


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
