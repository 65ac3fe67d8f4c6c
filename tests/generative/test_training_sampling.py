"""Clues are drawn as the paper says, from the document's own tokens, and the same ones every time."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import ConfigError, LoadError
from mrag.generative import training
from mrag.generative.models import ByteTokeniser, document_tokens
from mrag.generative.training import ClueSampling, sample_clues

TOKENS = ByteTokeniser()
TEXT = " Bones grow. Rickets is caused by too little vitamin D, and rickets softens bones. It is treated."


class WordTokeniser(ByteTokeniser):
    """Each word with the space before it is a token."""

    def __init__(self, *texts: str) -> None:
        self.words = sorted({" " + w for text in texts for w in text.split()})

    def encode(self, text: str) -> list[int]:
        return [self.words.index(" " + w) for w in text.split()]

    def decode(self, ids: object) -> str:
        return "".join(self.words[i] for i in ids)  # type: ignore[attr-defined]


def test_the_sentence_with_most_keywords_is_taken() -> None:
    tokens = TOKENS.encode(TEXT)
    settings = ClueSampling(length=12, starts=50)
    clues = sample_clues("What causes rickets, and what of the bones?", tokens, TOKENS, settings)
    low, high = TEXT.index("Rickets") - 1, TEXT.index(" It is")
    allowed = {tuple(tokens[i : i + 12]) for i in range(low, high)}
    assert len(clues) > 5 and set(clues) <= allowed


def test_the_chance_of_a_span_is_the_softmax_of_its_relevance() -> None:
    words = WordTokeniser("one rickets bones two three four five six.")
    tokens = words.encode("one rickets bones two three four five six.")
    rho, temperature = 1.0, 0.5
    drawn: Counter[int] = Counter()
    for seed in range(4000):
        settings = ClueSampling(length=2, starts=1, rho=rho, temperature=temperature, seed=seed)
        [clue] = sample_clues("rickets bones", tokens, words, settings)
        drawn[tokens.index(clue[0])] += 1
    hits = [1, 2, 1, 0, 0, 0, 0]
    weights = [math.exp(c / (c + rho) / temperature) for c in hits]
    for at, weight in enumerate(weights):
        expected = 4000 * weight / sum(weights)
        assert abs(drawn[at] - expected) < 4.5 * math.sqrt(expected)


def test_a_cold_softmax_takes_the_span_with_most_keywords() -> None:
    words = WordTokeniser("one rickets bones two three four.")
    tokens = words.encode("one rickets bones two three four.")
    settings = ClueSampling(length=2, starts=1, temperature=0.001)
    assert sample_clues("bones rickets", tokens, words, settings) == [tuple(tokens[1:3])]


@given(st.text(), st.text(), st.integers(1, 20), st.integers(1, 5), st.integers(0, 3))
def test_a_clue_is_a_run_of_the_document_and_is_drawn_again(
    question: str, text: str, length: int, starts: int, seed: int
) -> None:
    tokens = document_tokens(TOKENS, text)
    settings = ClueSampling(length=length, starts=starts, seed=seed)
    clues = sample_clues(question, tokens, TOKENS, settings, key="a")
    assert clues == sample_clues(question, tokens, TOKENS, settings, key="a")
    assert 1 <= len(clues) <= starts
    whole = bytes(tokens)
    for clue in clues:
        assert bytes(clue) in whole
        assert len(clue) == min(length, len(tokens))


@given(st.text())
def test_spans_cover_the_text(text: str) -> None:
    tokens = TOKENS.encode(text)
    shown, spans = training.token_spans(TOKENS, tokens)
    assert len(spans) == len(tokens)
    ends = [0, *(end for _, end in spans)]
    assert [start for start, _ in spans] == ends[:-1] and ends[-1] == len(shown)


def test_edges() -> None:
    assert sample_clues("a question", [], TOKENS) == []
    short = TOKENS.encode(" ab")
    assert sample_clues("zz", short, TOKENS, ClueSampling(length=10)) == [tuple(short)]
    assert training.keywords("Is it of the?") == frozenset()
    with pytest.raises(ConfigError, match="above 0"):
        ClueSampling(starts=0)


def test_pairs_follow_the_questions(tmp_path: Path) -> None:
    documents = {"urn:a": TOKENS.encode(TEXT), "urn:b": TOKENS.encode(" Other words of bones.")}
    asked = [training.TrainingQuestion(*x) for x in (("What?", "urn:a"), ("And {question} bones?", "urn:b"))]
    pairs = training.make_pairs(asked, documents, TOKENS, ClueSampling(length=8, starts=2))
    assert [pair.document for pair in pairs] == ["urn:a"] * 2 + ["urn:b"] * 2
    assert TOKENS.decode(pairs[-1].prompt) == training.prompt("And {question} bones?")
    assert "{question} bones" in training.prompt("And {question} bones?")
    assert training.digest(pairs) != training.digest(pairs[:-1])
    with pytest.raises(ConfigError, match="urn:c"):
        training.make_pairs([training.TrainingQuestion("Who?", "urn:c")], documents, TOKENS)


def test_an_epoch_shows_each_pair_once_in_an_order_of_its_own() -> None:
    pairs = [training.TrainingPair((1,), (n,)) for n in range(20)]
    orders = [[p.clue for batch in training.batches(pairs, 3, epoch, 7) for p in batch] for epoch in (0, 1)]
    assert sorted(orders[0]) == sorted(orders[1]) == [(n,) for n in range(20)]
    assert orders[0] != orders[1]
    assert orders[0] == [p.clue for batch in training.batches(pairs, 3, 0, 7) for p in batch]


def test_questions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    lines = ({"question": "What?", "document": "urn:a"}, {"question": "And?", "document": "urn:b"})
    file.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n")
    assert training.read_questions(file) == [
        training.TrainingQuestion("What?", "urn:a"),
        training.TrainingQuestion("And?", "urn:b"),
    ]
    for wrong in ("{", "[]", '{"question": "What?"}', '{"question": " ", "document": "urn:a"}'):
        file.write_text(wrong)
        with pytest.raises(LoadError, match="line 1"):
            training.read_questions(file)
    file.write_text("")
    with pytest.raises(LoadError, match="no question"):
        training.read_questions(file)
    with pytest.raises(LoadError, match="cannot be read"):
        training.read_questions(tmp_path / "none")
