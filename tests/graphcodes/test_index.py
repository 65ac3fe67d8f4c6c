"""The index gives the numbers of the plain formulas; in a folder it is kept, mapped and changed.

`tests/storage` damages it and kills its writers.
"""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from mrag.cli import app
from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.graphcodes.code import Edge, GraphCode, Node, from_json
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, CodeScores, Lexicographic, Weighted
from mrag.graphcodes.segments import Flat
from mrag.storage.folder import hold
from tests.graphcodes.strategies import codes, ontologies, told

ORDERS = (("relations", "features", "types"), ("types",))
AGGREGATES = [Weighted(), Weighted(0, 1, 2), Lexicographic(), *map(Lexicographic, ORDERS)]


@st.composite
def comparisons(draw):
    aggregate = draw(st.sampled_from(AGGREGATES))
    metric = draw(st.sampled_from(["structural", "structural", "paper"]))
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


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(documents=st.lists(codes(), max_size=12), q=codes(), comparison=comparisons())
def test_scores_are_those_of_the_formulas(documents, q, comparison):
    by_id = {f"d{at:02}": code for at, code in enumerate(documents)}
    index = GraphCodeIndex()
    index.put(by_id)
    check(index, by_id, q, comparison)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
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
    chosen = (first[pair_doc] + (rng.random(len(pair_doc)) * count[pair_doc]).astype(int) for _ in "st")
    source, target = (slot[places] for places in chosen)
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
@pytest.mark.parametrize("metric", ["structural", "paper"])
@pytest.mark.parametrize("aggregate", [Weighted(), Weighted(0, 0, 1), Lexicographic(("types", "features"))])
def test_the_best_of_many_are_those_of_all_scores(large, metric, aggregate):
    how = CodeComparison(metric, aggregate)
    ids = large.ids
    for doc_id in ("d00001", "d10001", "d20005"):
        q = large.code(doc_id)
        keys = [aggregate(CodeScores(*row)) for row in large.scores(q, how).tolist()]
        everything = CodeComparison("paper")
        shares = large.scores(q, everything)[:, 0] > 0
        sharing = (at for at in range(len(ids)) if shares[at])
        rank = sorted(sharing, key=lambda at: (_minus(keys[at]), ids[at]))
        for k in (1, 10, 50):
            found = [match.id for match in large.search(q, k, how)]
            assert found == [ids[at] for at in rank[:k]]


BITES, LICKS, CAT = map(told, ("dog bites man", "dog licks man", "cat"))


def matches(index, q=BITES, **settings):
    return [(match.id, match.score) for match in index.search(q, comparison=CodeComparison(**settings))]


def test_reopened_it_is_the_same(tmp_path):
    index = GraphCodeIndex(tmp_path / "codes")
    index.put({"b": BITES, "a": BITES, "c": LICKS, "d": CAT})
    again = GraphCodeIndex(tmp_path / "codes", must_exist=True)
    assert matches(again) == matches(index) == [("a", 1.0), ("b", 1.0), ("c", 0.75)]
    assert (len(again), again.ids, "a" in again, "x" in again) == (4, ["a", "b", "c", "d"], True, False)


def test_arrays_are_read_when_they_are_needed(tmp_path):
    GraphCodeIndex(tmp_path).put({f"d{n}": GraphCode.of([f"node {n}"], []) for n in range(4000)})
    index = GraphCodeIndex(tmp_path)
    segment = index._state.segments[0]
    assert len(index) == 4000 and not vars(segment).keys() & {"ids", "hashes", "node_docs"}
    assert matches(index, GraphCode.of(["node 7"])) == [("d7", 1.0)]
    assert not segment.node_docs.flags.owndata
    assert not segment.node_docs.flags.writeable


class Book:
    """What an index should hold, kept as a dictionary."""

    def __init__(self, path):
        self.index = GraphCodeIndex(path)
        self.codes = {}

    def put(self, codes):
        self.index.put(codes)
        self.codes.update(codes)

    def delete(self, ids):
        assert self.index.delete(ids) == len(set(ids) & set(self.codes))
        for doc_id in ids:
            self.codes.pop(doc_id, None)


IDS = st.sampled_from([f"d{n}" for n in range(9)])
STEPS = st.lists(st.dictionaries(IDS, codes(), max_size=4) | st.lists(IDS, max_size=3), max_size=8)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(STEPS, codes(), st.sampled_from(["structural", "paper"]))
def test_after_any_changes_it_is_as_if_built_at_once(tmp_path_factory, steps, q, metric):
    path = tmp_path_factory.mktemp("codes")
    book = Book(path)
    for step in steps:
        (book.put if isinstance(step, dict) else book.delete)(step)
    for index in (book.index, GraphCodeIndex(path)):
        check(index, book.codes, q, CodeComparison(metric))
        for doc_id, code in book.codes.items():
            assert index.code(doc_id) == code


def test_replaced_documents_lose_what_they_had(tmp_path):
    index = GraphCodeIndex(tmp_path)
    index.put({"a": BITES, "b": CAT})
    index.put({"a": CAT})
    assert matches(index) == []
    assert [i for i, _ in matches(index, CAT)] == ["a", "b"]


def test_what_only_deleted_documents_had_is_forgotten(tmp_path):
    index = GraphCodeIndex(tmp_path)
    index.put({"a": BITES, "b": CAT})
    index.put({"a": LICKS, "b": GraphCode.of(["tree"])})
    index.put({"c": CAT})
    assert sorted(node.id for node, _ in index.nodes()) == ["cat", "dog", "man", "tree"]
    assert "bites" not in {r for s in index._state.segments for cell in s.cell_list for r in cell}


def test_many_small_puts_make_few_segments(tmp_path):
    index = GraphCodeIndex(tmp_path)
    for at in range(40):
        index.put({f"d{at:02}": BITES if at % 2 else LICKS})
    assert len(index) == 40
    assert len(list(tmp_path.glob("*.seg"))) <= 6
    assert len(index.search(BITES, 40)) == 40


def test_the_same_slot_with_other_types_is_another():
    index = GraphCodeIndex()
    nodes = {"a": Node("x", "", frozenset("k")), "b": Node("x", "X", frozenset("m"))}
    index.put({doc: GraphCode.of([node]) for doc, node in nodes.items()})
    assert {i for i, _ in matches(index, GraphCode.of(["x"]))} == {"a", "b"}
    assert [i for i, _ in matches(index, GraphCode.of([Node("x", "", frozenset("m"))]))] == ["b"]


def test_more_nodes_than_a_byte_counts():
    big = GraphCode.of([f"n{at}" for at in range(400)], [("n1", f"r{at}", "n2") for at in range(300)])
    index = GraphCodeIndex()
    index.put({"a": big, "b": BITES})
    assert matches(index, big)[0] == ("a", 1.0)
    how = CodeComparison("paper")
    assert matches(index, big, metric="paper")[0] == ("a", how.aggregate(how.scores(big, big)))


def test_flat_arrays_and_objects_give_the_same(tmp_path):
    documents = {"b": BITES, "a": LICKS, "c": GraphCode.of(["dog"], [Edge("man", "r", "man")])}
    flat = Flat.of(documents)
    one, other = GraphCodeIndex(), GraphCodeIndex()
    one.put(documents)
    other.put(flat)
    assert matches(one) == matches(other)
    assert other.code("c") == documents["c"]


def test_flat_arrays_are_checked():
    numbers = np.zeros(1, np.int64)
    with pytest.raises(ConfigError, match="length"):
        Flat(["a"], [Node("x")], [], numbers, numbers[:0], *[numbers[:0]] * 4)
    with pytest.raises(ConfigError, match="twice"):
        Flat(["a", "a"], [Node("x")], [], numbers, numbers, *[numbers[:0]] * 4)


def test_a_folder_without_an_index(tmp_path):
    with pytest.raises(MissingIndex):
        GraphCodeIndex(tmp_path, must_exist=True)
    assert len(GraphCodeIndex(tmp_path / "new")) == 0


def test_nothing_is_found_in_nothing():
    index = GraphCodeIndex()
    assert index.search(BITES) == []
    assert index.scores(BITES).shape == (0, 3)
    index.put({"a": GraphCode()})
    assert index.search(BITES) == index.search(GraphCode()) == []
    assert index.scores(BITES).tolist() == [[0, 0, 0]]
    assert index.scores(GraphCode()).tolist() == [[1, 1, 1]]


def test_unknown_documents_and_k():
    with pytest.raises(IndexError_, match="not in the index"):
        GraphCodeIndex().code("x")
    with pytest.raises(ConfigError):
        GraphCodeIndex().search(BITES, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = GraphCodeIndex(tmp_path)
    index.put({f"d{at}": BITES for at in range(50)})
    index.delete(["d1"])
    return tmp_path


def test_another_format_is_named(folder):
    file = folder / "manifest.json"
    file.write_text(json.dumps({"generation": 1, "files": {}, "format": "mrag graph codes 1"}))
    with pytest.raises(IndexMismatch, match="format"):
        GraphCodeIndex(folder)


def test_two_writers_add_up(folder):
    one, two = GraphCodeIndex(folder), GraphCodeIndex(folder)
    one.put({"one": CAT})
    two.put({"two": CAT})
    one.put({"three": CAT})
    assert {"one", "two", "three"} <= set(GraphCodeIndex(folder).ids)


@pytest.mark.skipif(os.name == "nt", reason="file locks of POSIX")
def test_a_second_writer_at_the_same_time_is_refused(folder):
    with hold(folder), pytest.raises(IndexError_, match="Another writer"):
        GraphCodeIndex(folder).put({"x": CAT})


def test_readers_beside_a_writer_see_whole_states(tmp_path):
    index = GraphCodeIndex(tmp_path)
    index.put({f"d{at}": BITES for at in range(20)})
    failed, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            try:
                count = len(GraphCodeIndex(tmp_path).search(BITES, 1000))
                if count % 20:
                    failed.append(count)
            except IndexError_ as error:
                failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for at in range(1, 15):
        index.put({f"d{at * 20 + n}": BITES for n in range(20)})
    stop.set()
    reader.join()
    assert failed == []


GRAPHDB = "https://w3id.org/mrag/demo/products#GraphDB"
STARDOG = "https://w3id.org/mrag/demo/products#Stardog"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "codes"
    said = run("build", "--path", str(folder), "--json")
    assert json.loads(said)["documents"] > 200
    return str(folder)


def run(*arguments):
    result = CliRunner().invoke(app, ["codes", *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_search_by_edges(built):
    arguments = ["search", "--path", built, "-k", "2", "--json"]
    found = json.loads(run(*arguments, "-e", "GraphDB,developed by,Ontotext"))
    assert found["question"] == "GraphDB developed by Ontotext."
    assert "Has as asked: GraphDB developed by Ontotext." in found["hits"][0]["reasons"]
    assert len(found["hits"]) == 2
    assert "Has: GraphDB." in run("search", "--path", built, "-n", "graphdb", "-k", "1")


def test_search_like_an_entity(built):
    found = json.loads(run("search", "--path", built, "--like", GRAPHDB, "-k", "1", "--json"))
    assert (found["hits"][0]["iri"], found["hits"][0]["score"]) == (GRAPHDB, 1.0)


def test_search_by_the_metric_of_the_paper(built):
    found = json.loads(run("search", "--path", built, "--like", GRAPHDB, "--metric", "paper", "--json"))
    assert found["hits"][0]["iri"] == GRAPHDB


def test_show(built):
    shown = run("show", GRAPHDB, "--path", built)
    assert "GraphDB developed by Ontotext." in shown
    assert "= developed by" in shown
    again = from_json(run("show", GRAPHDB, "--path", built, "--json"))
    assert GRAPHDB in again.dictionary


def test_mistakes_are_named(built, tmp_path):
    with pytest.raises(MissingIndex):
        run("search", "--path", str(tmp_path), "-n", "x")
    with pytest.raises(ConfigError, match="nothing to search"):
        run("search", "--path", built)
    with pytest.raises(ConfigError, match="SOURCE,RELATION,TARGET"):
        run("search", "--path", built, "-e", "a,b")
    with pytest.raises(ConfigError, match="no metric"):
        run("search", "--path", built, "-n", "x", "--metric", "cosine")
