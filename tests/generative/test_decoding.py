"""Decoding against every clue that could be written, and the clue index against brute force."""

import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.generative import clue_index
from mrag.generative.clue_index import ClueCursor, ClueIndex, Start, sort_suffixes
from mrag.generative.decoding import Clue, DecodingSettings, aggregate, decode
from mrag.storage.folder import hold, read_manifest
from tests.generative.tiny import TinyModel

Corpus = list[tuple[str, list[int]]]


class Brute:
    """Everything that the index answers, by looking at every place of every document."""

    def __init__(self, corpus: Corpus) -> None:
        self.ids: dict[tuple[int, ...], set[str]] = {}
        for doc_id, tokens in corpus:
            if tokens:
                self.ids.setdefault(tuple(tokens), set()).add(doc_id)

    def places(
        self, clue: Sequence[int], start: Start = "anywhere", only: set[str] | None = None
    ) -> list[tuple[tuple[int, ...], int]]:
        return [
            (doc, at)
            for doc, ids in self.ids.items()
            if only is None or ids & only
            for at in ([0] if start == "beginning" else range(len(doc)))
            if doc[at : at + len(clue)] == tuple(clue)
        ]

    def next(self, clue: Sequence[int], start: Start = "anywhere", only: set[str] | None = None) -> list[int]:
        found = self.places(clue, start, only)
        return sorted({doc[at + len(clue)] for doc, at in found if at + len(clue) < len(doc)})

    def matches(self, clue: Sequence[int]) -> list[tuple[str, ...]]:
        return sorted(tuple(sorted(self.ids[doc])) for doc in {doc for doc, _ in self.places(clue)})


def corpora(tokens: int = 4, most: int = 9) -> st.SearchStrategy[Corpus]:
    """Corpora of few tokens, so that documents share much and are often equal."""
    documents = st.lists(st.integers(0, tokens - 1), max_size=most)
    ids = st.integers(0, 12).map(lambda i: f"urn:{i:02}")
    return st.lists(st.tuples(ids, documents), max_size=12)


def check(index: ClueIndex, corpus: Corpus, only: set[str] | None = None, tokens: int = 5) -> None:
    """Compare the index with brute force at every prefix of every suffix, and one token beyond."""
    brute = Brute(corpus)
    assert len(index) == len(brute.ids)
    assert index.tokens == sum(len(doc) for doc in brute.ids)
    restriction = None if only is None else index.restriction(only)
    clues = {doc[a:b] for doc in brute.ids for a in range(len(doc)) for b in range(a, len(doc) + 1)}
    clues |= {(*clue, token) for clue in list(clues) for token in (0, tokens - 1)} | {(tokens + 70_000,)}
    for clue in sorted(clues | {()}):
        for start in ("anywhere", "beginning"):
            found = index.next_tokens(clue, start=start, restriction=restriction)
            assert found.tolist() == brute.next(clue, start, only), (clue, start)
            alive = bool(index.at(clue, start=start, restriction=restriction))
            assert alive == bool(brute.places(clue, start, only))
        matches = brute.matches(clue)
        assert index.matches(clue) == matches
        assert index.count(clue) == len(matches)
        assert index.is_unique(clue) == (len(matches) == 1)
        assert index.documents(clue) == sorted({doc_id for ids in matches for doc_id in ids})


@given(corpora())
@settings(max_examples=40)
def test_every_operation_equals_brute_force(corpus: Corpus) -> None:
    check(ClueIndex.build(corpus, 100_000), corpus)


@pytest.mark.slow
@given(corpora(), st.sets(st.integers(0, 12).map(lambda i: f"urn:{i:02}")), st.integers(3, 20))
@settings(max_examples=30)
def test_segments_and_restrictions_equal_brute_force(corpus: Corpus, only: set[str], size: int) -> None:
    check(ClueIndex.build(corpus, 100_000, segment_tokens=size), corpus, only)


@given(
    corpora(tokens=3, most=20), st.sets(st.integers(0, 12).map(lambda i: f"urn:{i:02}")), st.integers(0, 4)
)
@settings(max_examples=30)
def test_hubs_change_nothing(corpus: Corpus, only: set[str], hub: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clue_index, "HUB", hub)
        patch.setattr(clue_index, "_SMALL", hub)
        patch.setattr(clue_index, "_DEPTH", 3)
        patch.setattr(clue_index, "_RUN", hub + 1)
        check(ClueIndex.build(corpus, 100_000), corpus, only, tokens=3)


def test_wide_tokens(tmp_path: Path) -> None:
    """More than 65,535 tokens, in the vocabulary and in one segment."""
    rng = np.random.default_rng(5)
    every = rng.permutation(70_000) + 81_936
    corpus = [(f"urn:{i}", every[at : at + 50].tolist()) for i, at in enumerate(range(0, 70_000, 50))]
    corpus += [("urn:again", [*corpus[0][1][:5], 7]), ("urn:few", [7])]
    index = ClueIndex.build(corpus, 151_936, folder=tmp_path / "wide")
    assert index.segments[0].text.dtype == np.uint32
    assert index.next_tokens(corpus[0][1][:5]).tolist() == sorted([7, corpus[0][1][5]])
    assert index.next_tokens(()).tolist() == sorted({*every.tolist(), 7})
    assert index.documents([corpus[9][1][30]]) == ["urn:9"]
    assert index.document(index.at(corpus[9][1]).document() or 0) == corpus[9][1]
    narrow = ClueIndex.build([("urn:a", [151_000, 3, 151_935])], 151_936)
    assert narrow.segments[0].text.dtype == np.uint16
    assert narrow.next_tokens([3]).tolist() == [151_935]


@given(st.lists(st.integers(0, 3), max_size=60))
@settings(max_examples=150)
def test_suffixes_are_sorted_within_documents(numbers: list[int]) -> None:
    text = np.array([*numbers, 0], np.uint16)

    def suffix(at: int) -> list[int]:
        return [*numbers[at:], 0][: [*numbers[at:], 0].index(0)]

    wanted = sorted(suffix(at) for at in range(len(numbers)) if numbers[at])
    assert [suffix(at) for at in sort_suffixes(text).tolist()] == wanted


def test_the_package_that_sorts_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydivsufsort", None)
    with pytest.raises(ConfigError, match=r"mrag\[generative\]"):
        ClueIndex.build([("urn:a", [1])], 10)


def test_edges() -> None:
    empty = ClueIndex.build([], 10)
    assert (len(empty), empty.tokens, empty.count([]), empty.matches([])) == (0, 0, 0, [])
    assert not empty.cursor() and not empty.is_unique([]) and len(empty.next_tokens([])) == 0
    assert not empty.restriction({"urn:a"}).ids

    bare = ClueIndex.build([("urn:a", []), ("urn:b", [])], 10, end=9)
    assert len(bare) == 0, "a document without tokens is left out, also where documents end with a token"

    one = ClueIndex.build([("urn:a", [1, 1, 1])], 10)
    assert one.is_unique([]) and one.is_unique([1]) and one.count([1]) == 1
    assert one.next_tokens([1, 1]).tolist() == [1] and len(one.next_tokens([1, 1, 1])) == 0
    assert not one.at([2]) and not one.at([1, 1, 1, 1]) and not one.at([-1]) and not one.at([10**12])
    assert one.at([2]).extend(1).documents() == []

    for tokens in ([10], [-1], [3, 10]):
        with pytest.raises(ConfigError, match="outside of the vocabulary"):
            ClueIndex.build([("urn:a", tokens)], 10)


def test_no_match_crosses_documents() -> None:
    index = ClueIndex.build([("urn:a", [1, 2]), ("urn:b", [3, 4])], 10)
    assert not index.at([2, 3]) and len(index.next_tokens([1, 2])) == 0 and len(index.next_tokens([4])) == 0


def test_ends_of_documents_are_tokens_where_wanted() -> None:
    index = ClueIndex.build([("urn:dog", [1]), ("urn:house", [1, 2])], 10, end=9)
    assert index.next_tokens([1]).tolist() == [2, 9]
    assert index.documents([1, 9]) == ["urn:dog"] and not index.is_unique([1])


@pytest.mark.slow
@given(corpora(), st.integers(3, 20))
@settings(max_examples=15)
def test_kept_on_disk_equals_memory(corpus: Corpus, size: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "index"
        ClueIndex.build([("urn:old", [1])], 100_000, folder=folder)
        built = ClueIndex.build(corpus, 100_000, folder=folder, segment_tokens=size, extra={"a": 1})
        check(built, corpus)
        opened = ClueIndex.open(folder)
        check(opened, corpus, {"urn:03"})
        assert dict(opened.extra) == dict(built.extra) == {"a": 1}
        kept = set(read_manifest(folder)[2].files) | {"manifest.json", "lock"}
        assert {file.name for file in folder.iterdir()} == kept
        ClueIndex.build([("urn:new", [1])], 100_000, folder=folder)
        check(opened, corpus)  # what was mapped stays readable


def test_a_folder_without_an_index_of_this_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingIndex, match="no clue index"):
        ClueIndex.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"generation": 1, "segments": [], "format": 1}')
    with pytest.raises(IndexMismatch, match="format is 1"):
        ClueIndex.open(tmp_path)


def test_a_refused_write_leaves_the_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    ClueIndex.build([("urn:a", [1, 2, 3])], 10, folder=folder)
    with hold(folder), pytest.raises(IndexError_, match="Another writer"):
        ClueIndex.build([("urn:b", [4])], 10, folder=folder)

    def broken() -> Iterator[tuple[str, list[int]]]:
        yield "urn:b", [4]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ClueIndex.build(broken(), 10, folder=folder, segment_tokens=2)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(IndexError_, match="cannot be written"):
        ClueIndex.build([("urn:b", [4])], 10, folder=file / "index")
    assert ClueIndex.open(folder).documents([2]) == ["urn:a"]


def test_cursors_are_shared_between_threads() -> None:
    rng = np.random.default_rng(1)
    corpus = [(f"urn:{i}", rng.integers(0, 30, 40).tolist()) for i in range(200)]
    index, brute = ClueIndex.build(corpus, 30), Brute(corpus)
    prefixes = [doc[a : a + 2] for _, doc in corpus[:20] for a in range(10)]
    wanted = [brute.next(prefix) for prefix in prefixes]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [index.next_tokens(p).tolist() for p in prefixes], range(8)):
            assert found == wanted


@given(st.lists(st.sets(st.integers(0, 299)), min_size=1, max_size=4), st.sampled_from([0, 64]))
@settings(max_examples=50)
def test_continuations_of_segments_are_joined(parts: list[set[int]], few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clue_index, "_FEW", few)
        joined = clue_index._union([np.array(sorted(part), np.int64) for part in parts], 300)
    assert joined.tolist() == sorted(set().union(*parts))


def test_a_segment_is_not_overfull() -> None:
    rng = np.random.default_rng(3)
    corpus = [(f"urn:{i}", rng.integers(0, 9, int(rng.integers(1, 9))).tolist()) for i in range(80)]
    index = ClueIndex.build([*corpus, ("urn:long", [1] * 50)], 10, segment_tokens=30)
    assert sum(len(s.text) > 30 for s in index.segments) == 1, "but for a document that is too long by itself"
    assert len(index.segments) < 20


WIDE = DecodingSettings(beams=64, groups=1, min_length=2, max_length=6)
PROMPT = [0, 1]


def every_clue(
    model: TinyModel,
    cursor: ClueCursor,
    knobs: DecodingSettings,
    tokens: tuple[int, ...] = (),
    total: float = 0.0,
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield every clue that the rules allow, with its probability, by trying every token."""
    rows = model.log_probabilities([*PROMPT, *tokens])
    for token in cursor.next_tokens().tolist():
        after, clue = cursor.extend(token), (*tokens, token)
        ends = len(after.next_tokens()) == 0
        sum_ = total + float(rows[token])
        if after.is_unique() and (len(clue) >= knobs.min_length or ends):
            yield clue, sum_
        elif not ends and len(clue) < knobs.max_length:
            yield from every_clue(model, after, knobs, clue, sum_)


@given(
    corpora(tokens=5, most=6), st.integers(0, 99), st.sampled_from(["beginning", "anywhere"]),
    st.none() | st.sets(st.integers(0, 12).map(lambda i: f"urn:{i:02}")), st.sampled_from([0.0, 0.4]),
    st.sampled_from([0.0, 1.0]),
)  # fmt: skip
@settings(max_examples=120)
def test_wide_beams_find_every_clue(
    corpus: Corpus, seed: int, start: str, only: set[str] | None, penalty: float, prior: float
) -> None:
    model = TinyModel(6, seed)
    index = ClueIndex.build(corpus, 6, end=5)
    restriction = None if only is None else index.restriction(only)
    knobs = replace(WIDE, start=start, length_penalty=penalty, prior_weight=prior, prior="3", max_length=4)
    found = decode(model, index, PROMPT, knobs, restriction=restriction)
    assert model.open == 0, "beams are closed"
    wanted = dict(every_clue(model, index.cursor(start=knobs.start, restriction=restriction), knobs))
    for clue in found:
        assert index.is_unique(clue.tokens) and index.matches(clue.tokens) == [clue.documents]
        assert clue.log_probability == pytest.approx(wanted[clue.tokens], abs=1e-4)
        plain = [3, *clue.tokens]
        before = sum(float(model.log_probabilities(plain[: i + 1])[t]) for i, t in enumerate(clue.tokens))
        score = clue.log_probability - penalty * len(clue.tokens) - prior * before
        assert clue.score == pytest.approx(score, abs=1e-3)
        assert only is None or set(clue.documents) & only
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    if len(wanted) <= 60:
        assert {clue.tokens for clue in found} == set(wanted)


@given(corpora(tokens=5, most=8), st.integers(0, 99), st.sampled_from([(1, 1), (2, 2), (4, 2), (6, 3)]))
@settings(max_examples=60)
def test_narrow_beams_find_true_clues(corpus: Corpus, seed: int, shape: tuple[int, int]) -> None:
    index = ClueIndex.build(corpus, 6, end=5)
    knobs = replace(WIDE, beams=shape[0], groups=shape[1])
    model = TinyModel(6, seed)
    found = decode(model, index, PROMPT, knobs)
    assert found == decode(model, index, PROMPT, knobs), "the same twice"
    assert len({clue.tokens for clue in found}) == len(found)
    for clue in found:
        assert len(index.matches(clue.tokens)) == 1
        assert all(not index.is_unique(clue.tokens[:n]) for n in range(knobs.min_length, len(clue.tokens)))


def only_clue(index: ClueIndex, **knobs: object) -> list[tuple[int, ...]]:
    found = decode(TinyModel(6), index, PROMPT, replace(WIDE, **knobs))  # type: ignore[arg-type]
    return sorted(clue.tokens for clue in found)


def test_a_clue_ends_where_it_is_unique() -> None:
    index = ClueIndex.build([("urn:a", [1, 2, 3, 4]), ("urn:b", [1, 1, 3, 4])], 6, end=5)
    assert only_clue(index, min_length=1) == [(1, 1), (1, 2)]
    assert only_clue(index, min_length=3) == [(1, 1, 3), (1, 2, 3)]
    assert only_clue(index, min_length=6, max_length=9) == [(1, 1, 3, 4, 5), (1, 2, 3, 4, 5)]


def test_a_short_document_is_a_clue_if_it_is_unique() -> None:
    index = ClueIndex.build([("urn:a", [1]), ("urn:b", [2]), ("urn:c", [2, 3, 4, 4])], 6)
    assert only_clue(index, min_length=3) == [(1,), (2, 3, 4)]
    with_end = ClueIndex.build([("urn:a", [1]), ("urn:b", [2]), ("urn:c", [2, 3, 4, 4])], 6, end=5)
    assert only_clue(with_end, min_length=3) == [(1, 5), (2, 3, 4), (2, 5)]


def test_ambiguous_clues_are_dropped() -> None:
    same = [("urn:a", [1, 2, 3, 4]), ("urn:b", [1, 2, 3, 1])]
    assert only_clue(ClueIndex.build(same, 6), max_length=3) == []
    assert only_clue(ClueIndex.build(same, 6), max_length=4) == [(1, 2, 3, 1), (1, 2, 3, 4)]
    inside = ClueIndex.build([("urn:a", [1, 2]), ("urn:b", [3, 1, 2])], 6, end=5)
    assert only_clue(inside) == [(3, 1)], "the whole of one document, being a part of another, is no clue"


def test_equal_documents_are_found_together() -> None:
    index = ClueIndex.build([("urn:b", [1, 2]), ("urn:a", [1, 2]), ("urn:c", [3])], 6, end=5)
    found = decode(TinyModel(6), index, PROMPT, WIDE)
    assert {clue.documents for clue in found} == {("urn:a", "urn:b"), ("urn:c",)}


def test_one_document_and_none() -> None:
    one = ClueIndex.build([("urn:a", [1, 2, 3])], 6, end=5)
    assert [clue.documents for clue in decode(TinyModel(6), one, PROMPT, WIDE)] == [("urn:a",)]
    assert decode(TinyModel(6), ClueIndex.build([], 6), PROMPT, WIDE) == []
    assert decode(TinyModel(6), one, PROMPT, WIDE, restriction=one.restriction(set())) == []
    assert decode(TinyModel(6), one, PROMPT, WIDE, restriction=one.restriction({"urn:other"})) == []


def test_dead_beams_give_no_clue() -> None:
    index = ClueIndex.build([("urn:a", [1, 2, 3]), ("urn:b", [4, 2, 1])], 6, end=5)
    assert decode(TinyModel(6, never=[2]), index, PROMPT, WIDE) == []
    found = decode(TinyModel(6, never=[4]), index, PROMPT, WIDE)
    assert [clue.documents for clue in found] == [("urn:a",)]


def test_diversity_keeps_groups_apart() -> None:
    rng = np.random.default_rng(0)
    corpus = [(f"urn:{i:03}", rng.integers(0, 20, 8).tolist()) for i in range(300)]
    index = ClueIndex.build(corpus, 21, end=20)
    knobs = DecodingSettings(beams=4, groups=4, max_length=8, diversity=0.0)
    same = decode(TinyModel(21), index, [0], knobs)
    apart = decode(TinyModel(21), index, [0], replace(knobs, diversity=50.0))
    assert len({clue.tokens[0] for clue in same}) == 1
    assert len({clue.tokens[0] for clue in apart}) == 4
    by_model = {clue.tokens: clue.log_probability for clue in same}
    for clue in apart:
        assert by_model.get(clue.tokens, clue.log_probability) == pytest.approx(clue.log_probability)


def test_wrong_settings_and_models_are_said() -> None:
    lengths = [("min_length", 0), ("max_length", 1)]
    numbers = [("beams", 0), ("beams", 65), ("groups", 0), ("groups", 3), *lengths]
    weights = [("diversity", -1.0), ("length_penalty", -0.1), ("prior_weight", -1.0), ("start", "middle")]
    for name, wrong in (*numbers, *weights):
        with pytest.raises(ConfigError):
            DecodingSettings(**{name: wrong})  # type: ignore[arg-type]
    index = ClueIndex.build([("urn:a", [1])], 6)
    with pytest.raises(IndexMismatch, match="another tokeniser"):
        decode(TinyModel(7), index, PROMPT)
    other = ClueIndex.build([("urn:a", [1])], 6, extra={"tokeniser": "another"})
    with pytest.raises(IndexMismatch, match="another tokeniser"):
        decode(TinyModel(6), other, PROMPT)


def clue(number: int, tokens: Sequence[int], probability: float) -> Clue:
    score = math.log(probability)
    return Clue(tuple(tokens), "", score, score, (f"urn:{number}",), number)


def test_scores_of_documents() -> None:
    clues = [clue(1, [1, 2], 0.2), clue(0, [3, 4], 0.3), clue(1, [5, 6], 0.2), clue(1, [1, 6], 0.1)]
    best = aggregate(clues)
    assert [(f.number, round(math.exp(f.score), 6)) for f in best] == [(0, 0.3), (1, 0.2)]
    summed = aggregate(clues, "sum")
    assert [f.number for f in summed] == [1, 0]
    assert math.exp(summed[0].score) == pytest.approx(0.2 + 0.2 + 0.2 * 0.1)
    assert [c.tokens for c in summed[0].clues] == [(1, 2), (5, 6), (1, 6)]
    assert math.exp(aggregate(clues, "sum", overlap=0.0)[0].score) == pytest.approx(0.5)
    assert aggregate([]) == []
