import json
import math
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import URIRef

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex, ModelError
from mrag.index import segments
from mrag.index.bm25 import Bm25Params
from mrag.index.dense import DenseParams
from mrag.index.document_index import DocumentIndex, Match
from mrag.index.embedding import WordLlamaEmbedder
from mrag.storage.folder import first_to_merge, hold
from mrag.testing.indexes import Trigrams
from tests.commands import python

from .conftest import Cranfield

Content = Callable[[DocumentIndex], dict[str, tuple[str, bytes]]]
DOCUMENTS = [
    ("ex:shoe", "a red leather shoe with laces"), ("ex:sneaker", "white running sneakers of canvas"),
    ("ex:coat", "a long blue winter coat, with a hood"), ("ex:parka", "a warm jacket for cold weather"),
    ("ex:ring", "a ring of gold"),
]  # fmt: skip


class Counting:
    """The real model, counting the texts it gets and interrupted when told."""

    def __init__(self, model: WordLlamaEmbedder, *, stop_after: int | None = None, name: str = "") -> None:
        self.model = model
        self.name = name or model.name
        self.dim = model.dim
        self.texts: list[str] = []
        self.stop_after = stop_after

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if self.stop_after is not None and len(self.texts) >= self.stop_after:
            raise KeyboardInterrupt
        self.texts += texts
        return self.model.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        return self.model.embed_query(text)


@pytest.fixture(params=["memory", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "index" if request.param == "folder" else None


def ids(matches: list[Match]) -> list[str]:
    return [match.doc_id for match in matches]


def test_modes_and_what_matches_tell(wordllama: WordLlamaEmbedder) -> None:
    index = DocumentIndex.create(None, embedder=wordllama)
    index.add(DOCUMENTS)
    words = index.search("Leather SHOES", 3, mode="bm25")
    assert ids(words) == ["ex:shoe"] and words[0].terms == ("leather", "shoes")
    assert words[0].score == words[0].bm25_score and words[0].bm25_rank == 1
    assert words[0].dense_rank is None is words[0].dense_score
    assert sum(part for _, part in index._state.bm25.explain("Leather SHOES", "ex:shoe")) == pytest.approx(
        words[0].score
    )
    dense = index.search("footwear", 2, mode="dense")
    assert set(ids(dense)) == {"ex:shoe", "ex:sneaker"} and dense[0].terms == ()
    assert dense[0].score == dense[0].dense_score and dense[0].bm25_rank is None
    both = index.search("leather shoes", 5)
    assert both[0].doc_id == "ex:shoe" and both[0].score > 0.5
    assert [m.score for m in both] == sorted((m.score for m in both), reverse=True)
    assert [m.dense_rank for m in both] == [1, *[m.dense_rank for m in both[1:]]] and len(both) == 5
    assert index.search("leather footwear", 1, weight=1)[0].score <= 1
    assert index.search("", 3) == [] and index.search("", 3, mode="dense") == []


def test_iris_of_rdflib_and_many_allowed(wordllama: WordLlamaEmbedder) -> None:
    index = DocumentIndex.create(None, embedder=wordllama)
    index.add((URIRef(doc_id), text) for doc_id, text in DOCUMENTS)
    many = [URIRef(f"ex:{i}") for i in range(100)] + [URIRef("ex:ring")]
    assert ids(index.search("a shoe, a ring", 5, allowed=many)) == ["ex:ring"]
    assert type(index.search("ring", 1)[0].doc_id) is str


def test_without_vectors() -> None:
    index = DocumentIndex.create(None, embedder=None)
    told: list[tuple[int, int | None]] = []
    index.sync(DOCUMENTS, extra={}, on_progress=lambda *done: told.append(done))
    assert told == [(5, 5)] and index.embedder_name is None
    best = index.search("shoe", 2)
    assert ids(best) == ["ex:shoe"] and best[0].score == 0.5
    with pytest.raises(ConfigError, match="no vectors") as caught:
        index.search("shoe", 2, mode="dense")
    assert caught.value.hint


def test_opened_without_its_model(tmp_path: Path, wordllama: WordLlamaEmbedder) -> None:
    DocumentIndex.create(tmp_path, embedder=wordllama).add(DOCUMENTS)
    index = DocumentIndex.open(tmp_path, embedder=None)
    assert ids(index.search("shoe", 2, mode="bm25")) == ["ex:shoe"]
    for call in (lambda: index.search("shoe", 2), lambda: index.add([("ex:new", "x")])):
        with pytest.raises(ConfigError, match="without its model"):
            call()
    assert index.delete(["ex:shoe"]) == 1


class Cut(Counting):
    """Gives other vectors than it should."""

    def __init__(self, model: WordLlamaEmbedder, part: Any) -> None:
        super().__init__(model)
        self.part = part

    def embed_documents(self, texts: Sequence[str]) -> Any:
        return super().embed_documents(texts)[self.part]

    def embed_query(self, text: str) -> Any:
        return super().embed_query(text)[self.part[1]]


def test_a_model_that_changes_its_dimensions_or_gives_too_few_vectors(
    tmp_path: Path, wordllama: WordLlamaEmbedder
) -> None:
    DocumentIndex.create(tmp_path, embedder=wordllama).add(DOCUMENTS)
    index = DocumentIndex.open(tmp_path, embedder=Cut(wordllama, np.s_[:, :100]))
    for call in (lambda: index.search("shoe", 2), lambda: index.add([("ex:new", "something new")])):
        with pytest.raises(IndexMismatch, match="100 dimensions"):
            call()
    assert len(index) == 5
    index = DocumentIndex.create(None, embedder=Cut(wordllama, np.s_[1:, :]))
    with pytest.raises(ModelError, match="for 5 texts"):
        index.add(DOCUMENTS)
    assert len(index) == 0


def test_missing_existing_replaced(tmp_path: Path, wordllama: WordLlamaEmbedder, content: Content) -> None:
    with pytest.raises(MissingIndex) as missing:
        DocumentIndex.open(tmp_path / "none", embedder=None)
    assert missing.value.hint
    old = DocumentIndex.create(tmp_path, embedder=None)
    old.add(DOCUMENTS)
    with pytest.raises(IndexError_, match="already"):
        DocumentIndex.create(tmp_path, embedder=wordllama)
    new = DocumentIndex.create(tmp_path, embedder=wordllama, bm25=Bm25Params(k1=2), replace=True)
    assert content(DocumentIndex.open(tmp_path, embedder=None)) == content(old)
    new.sync(DOCUMENTS[:2], extra={})
    again = DocumentIndex.open(tmp_path, embedder=wordllama)
    assert len(again) == 2 and again.bm25_params.k1 == 2 and again.generation > old.generation
    with pytest.raises(IndexMismatch):
        DocumentIndex.open(tmp_path, embedder=Counting(wordllama, name="x"))
    assert old.search("coat", 1)[0].doc_id == "ex:coat", "a reader keeps what it has opened"


def test_another_format_is_a_mismatch(tmp_path: Path) -> None:
    DocumentIndex.create(tmp_path, embedder=None).add(DOCUMENTS)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({"generation": manifest["generation"], "format": 1}))
    with pytest.raises(IndexMismatch, match="format is 1; this version reads 3"):
        DocumentIndex.open(tmp_path, embedder=None)
    DocumentIndex.create(tmp_path, embedder=None, replace=True).sync(DOCUMENTS[:1], extra={})
    assert len(DocumentIndex.open(tmp_path, embedder=None)) == 1


def test_sync_embeds_what_changed_and_once(place: Path | None, wordllama: WordLlamaEmbedder) -> None:
    model = Counting(wordllama)
    index = DocumentIndex.create(place, embedder=model)
    told: list[tuple[int, int | None]] = []
    doubled = [*DOCUMENTS, ("ex:copy", DOCUMENTS[0][1])]
    index.sync(doubled, extra={}, batch=2, on_progress=lambda *done: told.append(done))
    assert sorted(model.texts) == sorted(text for _, text in DOCUMENTS)
    assert told == [(0, 5), (2, 5), (4, 5), (5, 5)]
    model.texts.clear()
    generation = index.generation
    report = index.sync(doubled, extra={})
    assert report.unchanged == 6 and model.texts == [] and index.generation == generation
    index.sync(doubled, extra={"now": "other"})
    assert index.generation == generation + 1 and index.extra == {"now": "other"}
    renamed = [("ex:new", DOCUMENTS[2][1]), ("ex:ring", "a ring of tin"), *DOCUMENTS[:2]]
    report = index.sync(renamed, extra=None)
    assert (report.added, report.changed, report.deleted, report.unchanged) == (1, 1, 3, 2)
    assert model.texts == ["a ring of tin"] and index.extra == {"now": "other"}


def test_a_cut_sync_goes_on(place: Path | None, wordllama: WordLlamaEmbedder, content: Content) -> None:
    documents = [(f"ex:{i:03d}", f"thing number {i} of {i * 7}") for i in range(100)]
    model = Counting(wordllama, stop_after=60)
    index = DocumentIndex.create(place, embedder=model)
    with pytest.raises(KeyboardInterrupt):
        index.sync(documents, extra={}, batch=20)
    assert len(model.texts) == 60 and len(index) == 0
    if place is not None:
        pending = place / "vectors.pending"
        # What a crash may leave: the last batch cut; and a disk: one of the others overwritten.
        data = bytearray(pending.read_bytes()[:-7])
        data[1100] ^= 1
        pending.write_bytes(data)
        with pytest.raises(MissingIndex, match="no similarity index in this folder yet"):
            DocumentIndex.open(place, embedder=model)
        index = DocumentIndex.create(place, embedder=model)
    model.stop_after = None
    index.sync(documents, extra={}, batch=20)
    assert len(model.texts) == (140 if place else 100)
    anew = DocumentIndex.create(None, embedder=wordllama)
    anew.add(documents)
    assert content(index) == content(anew)
    if place is not None:
        assert not (place / "vectors.pending").exists()


def test_pending_vectors_survive_a_small_change_and_not_another_model(
    tmp_path: Path, wordllama: WordLlamaEmbedder
) -> None:
    documents = [(f"ex:{i:03d}", f"thing number {i}") for i in range(40)]
    model = Counting(wordllama, stop_after=20)
    index = DocumentIndex.create(tmp_path, embedder=model)
    with pytest.raises(KeyboardInterrupt):
        index.sync(documents, extra={}, batch=10)
    model.stop_after = None
    index.add([("ex:other", "something else")])
    index.delete(["ex:other"])
    index.sync(documents, extra={}, batch=10)
    assert len(model.texts) == 41
    with pytest.raises(KeyboardInterrupt):
        stopped = Counting(wordllama, stop_after=10)
        DocumentIndex.create(tmp_path, embedder=stopped, replace=True).sync(documents, extra={}, batch=10)
    other = Counting(wordllama, name="other")
    DocumentIndex.create(tmp_path, embedder=other, replace=True).sync(documents, extra={}, batch=10)
    assert len(other.texts) == 40


@pytest.mark.parametrize("bad", [("ex:1",), ("ex:1", 5), "ab", 7, (b"ex:1", "x"), ("a", "b", "c")])
def test_documents_are_pairs_of_strings(bad: Any) -> None:
    index = DocumentIndex.create(None, embedder=None)
    with pytest.raises(ConfigError, match="Not a document"):
        index.add([bad])


def test_wrong_use(wordllama: WordLlamaEmbedder) -> None:
    index = DocumentIndex.create(None, embedder=wordllama)
    with pytest.raises(IndexError_, match="occurs twice"):
        index.sync([("ex:1", "a"), (URIRef("ex:1"), "b")], extra={})
    for extra in ({"a": {1, 2}}, {"a": float("nan")}, {"a": object()}):
        with pytest.raises(ConfigError, match="must be JSON"):
            index.sync([], extra=extra)
    with pytest.raises(ConfigError, match="k=0"):
        index.search("x", 0)
    with pytest.raises(ConfigError, match="mode='both'"):
        index.search("x", 1, mode="both")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="batches of 0"):
        index.add([("ex:1", "a")], batch=0)


def test_odd_strings(place: Path | None, wordllama: WordLlamaEmbedder) -> None:
    odd = [("", "empty id"), ("ex:\ud800", "lone \udfff surrogate"), ("ex:é", ""), ("ex:\n", "  ")]
    index = DocumentIndex.create(place, embedder=wordllama)
    index.sync(odd, extra={"\ud800": "\udfff"})
    if place is not None:
        index = DocumentIndex.open(place, embedder=wordllama)
    assert {doc_id: index.text_of(doc_id) for doc_id in index.doc_ids} == dict(odd)
    assert ids(index.search("surrogate \ud800", 1, mode="bm25")) == ["ex:\ud800"]
    assert index.search("lone surrogate", 4, mode="dense")[0].doc_id == "ex:\ud800"


IDS = st.sampled_from([f"ex:{i}" for i in range(9)])
TEXTS = st.lists(st.sampled_from(["red", "blue", "shoe", "coat", "gold"]), max_size=4).map(" ".join)
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "sync"]), st.dictionaries(IDS, TEXTS, max_size=5))
    | st.tuples(st.just("delete"), st.sets(IDS, max_size=3)),
    min_size=1,
    max_size=7,
)


@given(STEPS, TEXTS, st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_history_equals_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory,
    wordllama: WordLlamaEmbedder,
    content: Content,
    steps: list[tuple[str, Any]],
    query: str,
    forced: bool,
) -> None:
    folder = tmp_path_factory.mktemp("index")
    params = DenseParams(prefilter_from=0 if forced else 50_000)
    index = DocumentIndex.create(folder, embedder=wordllama, dense=params)
    model: dict[str, str] = {}
    for kind, what in steps:
        if kind == "delete":
            assert index.delete(what) == len(model.keys() & what)
            model = {doc_id: text for doc_id, text in model.items() if doc_id not in what}
        elif kind == "add":
            index.add(what.items())
            model |= what
        else:
            report = index.sync(what.items(), extra=None)
            assert report.unchanged == sum(model.get(doc_id) == text for doc_id, text in what.items())
            assert report.deleted == len(model.keys() - what.keys())
            model = dict(what)
    anew = DocumentIndex.create(None, embedder=wordllama, dense=params)
    anew.add(model.items())
    again = DocumentIndex.open(folder, embedder=wordllama, dense=params)
    assert content(index) == content(again) == content(anew)
    for mode in ("hybrid", "bm25", "dense"):
        expected = anew.search(query, 4, mode=mode)  # type: ignore[arg-type]
        assert index.search(query, 4, mode=mode) == again.search(query, 4, mode=mode) == expected  # type: ignore[arg-type]


def test_many_small_commits_stay_few_files(tmp_path: Path) -> None:
    index = DocumentIndex.create(tmp_path, embedder=None)
    for i in range(64):
        index.add([(f"ex:{i}", f"thing {i} red")])
    assert len(index) == 64 and len(list(tmp_path.glob("segment-*.seg"))) <= 8
    index.delete([f"ex:{i}" for i in range(0, 64, 3)])
    assert [m.doc_id for m in index.search("red", 3)] == ["ex:1", "ex:10", "ex:11"]
    index.delete(index.doc_ids)
    assert len(index) == 0 and not list(tmp_path.glob("segment*")) and not list(tmp_path.glob("deleted*"))


@given(st.lists(st.integers(0, 50), max_size=80))
def test_segments_stay_few(sizes: list[int]) -> None:
    segments: list[tuple[int, int]] = []
    for size in sizes:
        first = first_to_merge(segments, size)
        total = size + sum(live for live, _ in segments[first:])
        segments = [*segments[:first], *([(total, total)] if total else [])]
        assert all(a > 2 * b for (a, _), (b, _) in pairwise(segments[:-1]))
    assert sum(live for live, _ in segments) == sum(sizes) and len(segments) <= 13


def test_readers_see_whole_states_while_one_writes(tmp_path: Path) -> None:
    states = {
        name: [(f"ex:{i}", f"{name} thing {i}") for i in range(size)]
        for name, size in (("one", 40), ("two", 90))
    }
    writer = DocumentIndex.create(tmp_path, embedder=None)
    writer.sync(states["one"], extra={"state": "one"})
    shared, seen, stop = writer, set(), threading.Event()
    errors: list[BaseException] = []

    def read() -> None:
        own = DocumentIndex.open(tmp_path, embedder=None)
        while not stop.is_set():
            try:
                own.refresh()
                opened = DocumentIndex.open(tmp_path, embedder=None)
                for index in (own, opened):
                    name = str(index.extra["state"])
                    assert len(index.search("thing", 1000)) == len(states[name]), name
                    seen.add(name)
                assert len(shared.search("thing", 1000)) in (40, 90)
            except BaseException as error:
                errors.append(error)
                return

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(60):
        name = ("two", "one")[i % 2]
        writer.sync(states[name], extra={"state": name})
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors and seen == {"one", "two"}


def test_a_second_writer_is_told(tmp_path: Path) -> None:
    index = DocumentIndex.create(tmp_path, embedder=None)
    index.add(DOCUMENTS)
    code = (
        "import sys, time; from pathlib import Path; from mrag.storage.folder import hold\n"
        "with hold(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(IndexError_, match=f"Another writer .*process {holder.pid}") as caught:
            index.add([("ex:new", "x")])
        assert caught.value.hint
        assert ids(DocumentIndex.open(tmp_path, embedder=None).search("shoe", 1)) == ["ex:shoe"]
        holder.kill()
    index.add([("ex:new", "x")])
    assert len(index) == 6


def test_a_document_source_that_writes_is_told(tmp_path: Path) -> None:
    index = DocumentIndex.create(tmp_path, embedder=None)

    def documents() -> Any:
        yield "ex:1", "x"
        index.delete(["ex:1"])

    with pytest.raises(IndexError_, match="Another writer"):
        index.sync(documents(), extra={})
    with hold(tmp_path):
        pass


def test_files_are_the_same_to_the_byte_whatever_the_order(tmp_path: Path) -> None:
    code = (
        "import sys, random\n"
        "from mrag.index.document_index import DocumentIndex\n"
        "from mrag.index.embedding import WordLlamaEmbedder\n"
        "documents = [(f'ex:{i}', f'thing {i} red {i % 7} shoes 東京') for i in range(200)]\n"
        "random.Random(int(sys.argv[2])).shuffle(documents)\n"
        "DocumentIndex.create(sys.argv[1], embedder=WordLlamaEmbedder()).sync(set(documents), extra={})\n"
    )
    folders = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        assert python(code, folder, seed, PYTHONHASHSEED=seed).returncode == 0
        files = [p for p in folder.iterdir() if p.name != "lock"]
        folders.append({p.name: p.read_bytes() for p in files})
    assert folders[0] == folders[1] and len(folders[0]) == 2


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in ("notes.txt", "segment-1.seg", "manifest.json.bak"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "segment-00000099.seg").write_text("left by a crash")
    index = DocumentIndex.create(tmp_path, embedder=None)
    index.add(DOCUMENTS)
    assert {"notes.txt", "segment-1.seg", "manifest.json.bak"} <= {p.name for p in tmp_path.iterdir()}
    assert not (tmp_path / "segment-00000099.seg").exists()


@pytest.mark.slow
def test_cranfield(cranfield: Cranfield, wordllama: WordLlamaEmbedder) -> None:
    """Mean nDCG@10 over the 225 queries; published BM25 runs lie near .40."""
    index = DocumentIndex.create(None, embedder=wordllama)
    index.add(cranfield.documents)
    quality: dict[str, float] = {}
    for mode in ("bm25", "dense", "hybrid"):
        gains = []
        for query, relevant in cranfield.queries:
            got = ids(index.search(query, 10, mode=mode))  # type: ignore[arg-type]
            ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(relevant))))
            gain = sum(1 / math.log2(i + 2) for i, doc_id in enumerate(got) if doc_id in relevant)
            gains.append(gain / ideal)
        quality[mode] = sum(gains) / len(gains)
    assert len(index) == 1400 and len(gains) == 225
    assert quality["hybrid"] > quality["bm25"] > 0.37 and quality["dense"] > 0.31, quality


MOST = 40
WORDS = "red blue green coat shoe hat of leather with a hood buttons laces number".split()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LEAST_ROWS", MOST)
    monkeypatch.setattr(segments, "_MOST_ROWS", MOST)


def drawn(number: int, seed: int = 1) -> dict[str, str]:
    chance = random.Random(seed)
    return {f"ex:{i:04}": " ".join(chance.choices(WORDS, k=6)) for i in chance.sample(range(1000), number)}


def answers(index: DocumentIndex) -> list[object]:
    params = DenseParams(prefilter_from=10, candidates=30)
    filtered = DocumentIndex(replace(index._state, dense_params=params), None, Trigrams())
    found: list[object] = [index.doc_ids, index.texts_of(index.doc_ids)]
    for text in ("a red coat", "leather", "number hood of a hat"):
        for mode in ("bm25", "dense", "hybrid"):
            found.append(index.search(text, 12, mode=mode))
            found.append(filtered.search(text, 12, mode=mode))
    return found


def sizes(index: DocumentIndex) -> list[int]:
    return list(map(len, index._state.segments))


@pytest.mark.usefixtures("small")
def test_results_do_not_depend_on_segment_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = DocumentIndex.create(tmp_path, embedder=Trigrams())
    changes = [drawn(150), drawn(180, 2), drawn(20, 3), {}, drawn(90, 4), drawn(95, 4)]
    for documents in changes:
        told: list[tuple[int, int | None]] = []
        index.sync(documents.items(), extra={}, on_progress=lambda *done, told=told: told.append(done))
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert told[-1][0] == told[-1][1] and max(sizes(index), default=0) <= MOST
        opened = DocumentIndex.open(tmp_path, embedder=Trigrams(), thorough=True)
        with monkeypatch.context() as usual:
            usual.setattr(segments, "_LEAST_ROWS", 10_000)
            whole = DocumentIndex.create(None, embedder=Trigrams())
            whole.sync(documents.items(), extra={})
        assert answers(opened) == answers(index) == answers(whole)
    assert len(sizes(index)) > 2
    before = sizes(index)
    index.add([("ex:new", "a violet scarf")])
    assert sizes(index)[:2] == before[:2]  # full ones stay as they are
    index.delete(index.doc_ids[:30])
    assert len(index) == 95 + 1 - 30 and {p.name for p in tmp_path.iterdir()} >= {"manifest.json"}
    kept = set(index._state.manifest.committed().segments)
    assert {path.name for path in tmp_path.glob("segment-*")} == kept


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("again", [False, True])
def test_what_an_interrupted_build_has_embedded_is_not_embedded_again(tmp_path: Path, again: bool) -> None:
    documents = {f"ex:{i:04}": f"thing number {i}" for i in range(MOST * 4)}
    model = Trigrams()
    model.fail_after = MOST * 3 + 15
    index = DocumentIndex.create(tmp_path, embedder=model)
    with pytest.raises(KeyboardInterrupt):
        index.sync(documents.items(), extra={}, batch=10)
    assert len(list(tmp_path.glob("segment-*"))) == 3 and len(index) == 0
    if again:
        index = DocumentIndex.create(tmp_path, embedder=model)
    done, model.fail_after = set(model.embedded[: MOST * 3 + 10]), None
    model.embedded.clear()
    # A small change in between, and other documents in the first segment, lose nothing of it.
    index.add([("ex:other", "something else")])
    index.sync({"ex:0": "first", **documents}.items(), extra={}, batch=10)
    assert sorted(model.embedded) == sorted(["something else", "first", *({*documents.values()} - done)])
    assert len(index) == len(documents) + 1 and not list(tmp_path.glob("*.pending"))
    assert {p.name for p in tmp_path.glob("segment-*")} == set(index._state.manifest.committed().segments)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("folder", [True, False])
def test_a_text_in_many_segments_is_embedded_once(tmp_path: Path, folder: bool) -> None:
    model = Trigrams()
    index = DocumentIndex.create(tmp_path if folder else None, embedder=model)
    index.sync(((f"ex:{i:04}", f"text {i % 7}") for i in range(MOST * 5)), extra={})
    assert len(model.embedded) == 7


@pytest.mark.usefixtures("small")
def test_a_damaged_segment_of_an_interrupted_build_is_embedded_again(tmp_path: Path) -> None:
    documents = {f"ex:{i:04}": f"thing number {i}" for i in range(MOST * 2)}
    model = Trigrams()
    model.fail_after = MOST
    with pytest.raises(KeyboardInterrupt):
        DocumentIndex.create(tmp_path, embedder=model).sync(documents.items(), extra={}, batch=10)
    [segment] = tmp_path.glob("segment-*")
    segment.write_bytes(segment.read_bytes()[:-9])
    model.fail_after = None
    index = DocumentIndex.create(tmp_path, embedder=model)
    assert index.sync(documents.items(), extra={}).added == MOST * 2
    assert index.search("thing number 7", 1)[0].doc_id == "ex:0007"


def documents(name: str, size: int) -> list[tuple[str, str]]:
    return [(f"ex:{i:04d}", f"{name} thing number {i} of {i * 7 % 11} in red and blue") for i in range(size)]


STATES = {"one": documents("one", 300), "less": documents("two", 60)}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB, where the system lets us mount one."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False, text=True)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode:
        pytest.skip(f"no small file system can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk(small_disk: Path, wordllama: WordLlamaEmbedder, content: Content) -> None:
    folder = small_disk / "index"
    index = DocumentIndex.create(folder, embedder=wordllama)
    index.sync(STATES["less"], extra={"state": "less"})
    before = content(index)
    lexical = DocumentIndex.create(small_disk / "lexical", embedder=None)
    lexical.sync(STATES["less"][:5], extra={})
    large = [(f"ex:{i}", f"thing number {i} " * 20) for i in range(2000)]
    with pytest.raises(IndexError_, match="No space left") as caught:
        index.sync(large, extra={"state": "large"})
    assert "disk space" in (caught.value.hint or "")
    for again in (index, DocumentIndex.open(folder, embedder=wordllama)):
        assert content(again) == before and again.extra == {"state": "less"}
    # Fill the disk, so that not one more file can be written whole.
    with pytest.raises(OSError, match="No space left"), (small_disk / "fill").open("wb", buffering=0) as fill:
        while True:
            fill.write(b"x" * 4096)
    with pytest.raises(IndexError_, match="No space left"):
        lexical.sync(large, extra={})
    (small_disk / "fill").unlink()
    (folder / "vectors.pending").unlink()
    index.sync(STATES["less"][:30], extra={"state": "after"})
    lexical.sync(STATES["less"], extra={})
    assert len(DocumentIndex.open(folder, embedder=wordllama)) == 30 and len(lexical) == 60


LIMITED = """
import json, resource, sys
from mrag.errors import IndexError_
from mrag.index.document_index import DocumentIndex
index = DocumentIndex.open(sys.argv[1], embedder=None)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    index.sync(map(tuple, json.loads(sys.argv[2])), extra={"state": "one"})
except IndexError_ as error:
    print(len(index), index.extra["state"], error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes are limited on POSIX systems only")
def test_a_file_that_may_not_grow(tmp_path: Path, content: Content) -> None:
    index = DocumentIndex.create(tmp_path, embedder=None)
    index.sync(STATES["less"], extra={"state": "less"})
    files = sorted(p.name for p in tmp_path.iterdir())
    done = python(LIMITED, tmp_path, json.dumps(STATES["one"]))
    assert done.stdout.startswith("60 less The index could not be written: File too large.")
    assert "as it was before" in done.stdout
    assert content(DocumentIndex.open(tmp_path, embedder=None)) == content(index)
    assert sorted(p.name for p in tmp_path.iterdir()) == files


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexError_, match="cannot be written") as caught:
        DocumentIndex.create(tmp_path / "file" / "index", embedder=None)
    assert caught.value.hint
