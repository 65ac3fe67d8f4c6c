"""The index in a folder: kept, mapped and changed; `tests/storage` damages it and kills its writers."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison
from mrag.graphcodes.segments import Flat
from tests.graphcodes.strategies import codes
from tests.graphcodes.test_index import check

BITES = GraphCode.of([], [("dog", "bites", "man")])
LICKS = GraphCode.of([], [("dog", "licks", "man")])
CAT = GraphCode.of(["cat"])


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
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, codes(), st.sampled_from(["structural", "paper", "query-relative"]))
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
    index.put(
        {
            "a": GraphCode.of([Node("x", "", frozenset("k"))]),
            "b": GraphCode.of([Node("x", "X", frozenset("m"))]),
        }
    )
    assert {i for i, _ in matches(index, GraphCode.of(["x"]))} == {"a", "b"}
    assert [i for i, _ in matches(index, GraphCode.of([Node("x", "", frozenset("m"))]))] == ["b"]


def test_more_nodes_than_a_byte_counts():
    big = GraphCode.of([f"n{at}" for at in range(400)], [("n1", f"r{at}", "n2") for at in range(300)])
    index = GraphCodeIndex()
    index.put({"a": big, "b": BITES})
    assert matches(index, big)[0] == ("a", 1.0)
    assert matches(index, big, metric="query-relative")[0][1] == 1.0


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
    from mrag.storage.folder import locked

    with locked(folder), pytest.raises(IndexError_, match="Another writer"):
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
