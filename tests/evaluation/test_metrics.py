"""Measures equal their definitions, written here once more and independently."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError
from mrag.evaluation.metrics import Measure, Run, Scored, judged, per_query

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
def test_measures_equal_their_definitions(
    qrels: dict[str, dict[str, int]], orders: dict[str, list[str]]
) -> None:
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
