"""Large changes are built in several segments: nothing else about an index depends on it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from mrag.index import segments
from mrag.index.dense import DenseParams
from mrag.index.document_index import DocumentIndex
from mrag.testing.indexes import Trigrams

MOST = 40
WORDS = "red blue green coat shoe hat of leather with a hood buttons laces number".split()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LEAST_ROWS", MOST)
    monkeypatch.setattr(segments, "_MOST_ROWS", MOST)


def made(number: int, seed: int = 1) -> dict[str, str]:
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


def test_results_do_not_depend_on_the_size_of_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = DocumentIndex.create(tmp_path, embedder=Trigrams())
    changes = [made(150), made(180, 2), made(20, 3), {}, made(90, 4), made(95, 4)]
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


@pytest.mark.parametrize("folder", [True, False])
def test_a_text_in_many_segments_is_embedded_once(tmp_path: Path, folder: bool) -> None:
    model = Trigrams()
    index = DocumentIndex.create(tmp_path if folder else None, embedder=model)
    index.sync(((f"ex:{i:04}", f"text {i % 7}") for i in range(MOST * 5)), extra={})
    assert len(model.embedded) == 7


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
