"""Decoding against every clue that could be written, and its rules one by one."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrag.errors import ConfigError, IndexMismatch
from mrag.generative.clue_index import ClueCursor, ClueIndex
from mrag.generative.decoding import Clue, DecodingSettings, aggregate, decode
from tests.generative.test_index import Corpus, corpora
from tests.generative.tiny import TinyModel

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
@settings(max_examples=120, deadline=None)
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
@settings(max_examples=60, deadline=None)
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
