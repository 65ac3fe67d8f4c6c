"""The index gives the numbers of the plain formulas."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.graphcodes.code import GraphCode, Node
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Lexicographic, Weighted
from mrag.graphcodes.segments import Flat
from tests.graphcodes.strategies import codes, ontologies

AGGREGATES = [
    Weighted(),
    Weighted(0, 1, 2),
    Lexicographic(),
    Lexicographic(("relations", "features", "types")),
    Lexicographic(("types",)),
]


@st.composite
def comparisons(draw):
    aggregate = draw(st.sampled_from(AGGREGATES))
    metric = draw(st.sampled_from(["structural", "structural", "paper", "query-relative"]))
    ontology = draw(st.none() | ontologies()) if metric == "structural" else None
    return CodeComparison(metric, aggregate, ontology, draw(st.sampled_from([0.0, 0.25, 1.0])))


def check(index, documents, q, comparison, k=4):
    """The scores of all documents and the best k are those of the plain formulas."""
    plain = {i: comparison.scores(q, d) for i, d in documents.items()}
    got = index.scores(q, comparison)
    assert sorted(index.ids) == sorted(documents)
    for doc_id, row in zip(index.ids, got.tolist(), strict=True):
        three = plain[doc_id]
        assert row == pytest.approx([three.features, three.relations, three.types], abs=1e-12)
        assert all(0 <= value <= 1 for value in row)
    keys = {i: comparison.aggregate(s) for i, s in zip(index.ids, map(_scores, got.tolist()), strict=True)}
    sharing = [i for i in documents if q and _shares(q, documents[i], comparison)]
    rank = sorted(sharing, key=lambda i: (_minus(keys[i]), i))
    assert [match.id for match in index.search(q, k, comparison)] == rank[:k]


def _scores(row):
    return CodeScores(*row)


def _minus(key):
    return -key if isinstance(key, float) else tuple(-v for v in key)


def _shares(q, d, comparison):
    return comparison.scores(GraphCode(q.nodes), GraphCode(d.nodes)).features > 0


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents=st.lists(codes(), max_size=12), q=codes(), comparison=comparisons())
def test_scores_are_those_of_the_formulas(documents, q, comparison):
    by_id = {f"d{at:02}": code for at, code in enumerate(documents)}
    index = GraphCodeIndex()
    index.put(by_id)
    check(index, by_id, q, comparison)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_many_documents_of_few_kinds(data):
    kinds = data.draw(st.lists(codes(types=False), min_size=1, max_size=5))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    by_id = {f"d{at:03}": kinds[pick] for at, pick in enumerate(rng.integers(0, len(kinds), 150))}
    index = GraphCodeIndex()
    index.put(by_id)
    check(index, by_id, data.draw(codes(types=False)), data.draw(comparisons()), k=3)


def many(size=30_000, words=60, seed=3):
    """Draw documents of few words, so that most share many nodes and edges and many tie."""
    rng = np.random.default_rng(seed)
    have = rng.random((size, words)) < np.linspace(0.6, 0.02, words)
    doc, slot = np.nonzero(have)
    first = np.searchsorted(doc, np.arange(size + 1))
    count = np.diff(first)
    pair_doc = np.repeat(np.arange(size), np.minimum(2 * count, 12))
    source, target = (
        slot[first[pair_doc] + (rng.random(len(pair_doc)) * count[pair_doc]).astype(int)] for _ in "st"
    )
    _, kept = np.unique((pair_doc * words + source) * words + target, return_index=True)
    cells = [("r",), ("s",), ("r", "s")]
    cell = rng.integers(0, 3, len(kept))
    names = [f"d{at:05}" for at in range(size)]
    nodes = [Node(f"w{at:02}") for at in range(words)]
    return Flat(names, nodes, cells, doc, slot, pair_doc[kept], source[kept], target[kept], cell)


@pytest.fixture(scope="module")
def large():
    index = GraphCodeIndex()
    index.put(many())
    index.delete([f"d{at:05}" for at in range(0, 30_000, 7)])
    return index


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["structural", "paper", "query-relative"])
@pytest.mark.parametrize("aggregate", [Weighted(), Weighted(0, 0, 1), Lexicographic(("types", "features"))])
def test_the_best_of_many_are_those_of_all_scores(large, metric, aggregate):
    how = CodeComparison(metric, aggregate)
    ids = large.ids
    for doc_id in ("d00001", "d10001", "d20005"):
        q = large.code(doc_id)
        keys = [aggregate(CodeScores(*row)) for row in large.scores(q, how).tolist()]
        everything = CodeComparison("query-relative")
        shares = large.scores(q, everything)[:, 0] > 0
        rank = sorted(
            (at for at in range(len(ids)) if shares[at]), key=lambda at: (_minus(keys[at]), ids[at])
        )
        for k in (1, 10, 50):
            found = [match.id for match in large.search(q, k, how)]
            assert found == [ids[at] for at in rank[:k]]
