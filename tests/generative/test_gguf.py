"""The real small model: its tokens, its probabilities, its beams, and clues on the demo graph."""

from pathlib import Path

import numpy as np
import pytest

from mrag.errors import ModelError
from mrag.generative import llama, models
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import Clue, DecodingSettings, decode
from mrag.generative.llama import GgufModel
from tests.cases import cases

pytestmark = pytest.mark.model
FACTS: dict[str, str] = cases(__file__, "facts")


def test_texts_survive_the_tokeniser(smollm: GgufModel) -> None:
    tokeniser = smollm.tokeniser
    assert isinstance(tokeniser, models.Tokeniser) and isinstance(models.ByteTokeniser(), models.Tokeniser)
    for text in cases(__file__, "texts"):
        for way in (tokeniser, models.ByteTokeniser()):
            tokens = way.encode(text)
            assert way.decode(tokens) == text
            assert all(0 <= token < way.vocabulary for token in tokens)
            assert way.end not in tokens
    assert tokeniser.decode([tokeniser.end]) == ""
    assert tokeniser.encode("Ontotext") != tokeniser.encode(" Ontotext"), "why documents begin with a space"
    words = "GraphDB\n is  a triple store"
    assert models.document_tokens(tokeniser, words) == tokeniser.encode(" GraphDB is a triple store")
    ended = [*models.document_tokens(tokeniser, words), tokeniser.end]
    assert models.clue_text(tokeniser, ended) == "GraphDB is a triple store"
    with pytest.raises(ModelError, match="not one of"):
        tokeniser.decode([tokeniser.vocabulary])


def test_the_model_knows_the_capital_of_france(smollm: GgufModel) -> None:
    tokeniser = smollm.tokeniser
    beams = smollm.start(tokeniser.encode("The capital of France is"))
    rows = beams.log_probabilities
    assert (rows.shape, rows.dtype) == ((1, tokeniser.vocabulary), np.float32)
    assert np.exp(rows.astype(np.float64)).sum() == pytest.approx(1, abs=1e-4)
    assert tokeniser.decode([int(rows[0].argmax())]) == " Paris"
    beams.close()


def test_beams_are_as_if_read_alone(smollm: GgufModel) -> None:
    """Whatever was forked and dropped before, a beam's probabilities are those of its text.

    Sums in another order differ a little, and quantised weights make more of it: by .01 in the middle, while
    one other token in the text makes a difference of 1.
    """
    prompt = smollm.tokeniser.encode("A whale is")
    free = len(smollm._free)
    rng = np.random.default_rng(0)
    texts = [list(prompt)]
    beams = smollm.start(prompt)
    for width in (5, 3, 6, 1, 4):
        parents = rng.integers(0, len(texts), width).tolist()
        tokens = rng.integers(100, 40_000, width).tolist()
        texts = [[*texts[p], t] for p, t in zip(parents, tokens, strict=True)]
        rows = beams.advance(parents, tokens).copy()
        for text, row in zip(texts, rows, strict=True):
            alone = smollm.start(text)
            apart = np.abs(alone.log_probabilities[0] - row)
            assert (float(np.median(apart)) < 0.1, float(apart.max()) < 1) == (True, True)
            alone.close()
    assert beams.advance([], []).shape == (0, smollm.tokeniser.vocabulary)
    beams.close()
    beams.close()  # harmless
    assert len(smollm._free) == free, "every sequence came back"


@pytest.mark.slow
def test_long_prompts_are_read_in_parts(smollm: GgufModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama, "_BATCH", 64)
    prompt = (smollm.tokeniser.encode("A whale is a large animal. A cat is a small one. ") * 16)[:150]
    whole = smollm.start(prompt)
    row = whole.log_probabilities[0].copy()
    whole.close()
    step = smollm.start(prompt[:-1])
    apart = np.abs(step.advance([0], [prompt[-1]])[0] - row)
    assert float(np.median(apart)) < 0.1 and float(np.exp(row).sum()) == pytest.approx(1, abs=1e-3)
    step.close()


def test_clues_of_facts_are_the_same_to_the_bit_each_time(smollm: GgufModel) -> None:
    tokeniser = smollm.tokeniser
    documents = [(i, models.document_tokens(tokeniser, text)) for i, text in FACTS.items()]
    index = ClueIndex.build(documents, tokeniser.vocabulary, end=tokeniser.end)
    knobs = DecodingSettings(beams=4, groups=2, min_length=3, prior_weight=1.0)
    again: dict[str, list[Clue]] = {}
    for question, wanted in cases(__file__, "asked").items():
        clues = decode(smollm, index, f"Question: {question}\nAnswer:", knobs)
        again.setdefault(question, clues)
        assert clues[0].documents == (wanted,)
        for clue in clues:
            assert index.documents(clue.tokens) == list(clue.documents)
            assert clue.text in FACTS[clue.documents[0]]
    for question, clues in again.items():
        assert decode(smollm, index, f"Question: {question}\nAnswer:", knobs) == clues


@pytest.mark.slow
def test_limits_are_said(smollm: GgufModel, gguf: Path, tmp_path: Path) -> None:
    for prompt, message in (([], "empty"), ([-1], "lacks"), ([10**6], "lacks"), ([1] * 3000, "opened for")):
        with pytest.raises(ModelError, match=message):
            smollm.start(prompt)
    beams = smollm.start([1])
    with pytest.raises(ModelError, match="beams at once"):
        beams.advance([0] * 200, range(200))
    assert beams.advance([0], [1]).shape[0] == 1, "beams go on after a refusal"
    beams.close()
    with GgufModel(gguf, n_ctx=256) as small:
        beams = small.start([1] * 200)
        beams.advance([0] * 8, range(8))
        with pytest.raises(ModelError, match="no room"):
            for _ in range(20):
                beams.advance(range(8), range(8))
        beams.close()
    with pytest.raises(ModelError, match="closed"):
        small.start([1])
    small.close()
    with pytest.raises(ModelError, match="too few"):
        GgufModel(gguf, n_ctx=255)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(gguf.read_bytes()[:10_000])
    with pytest.raises(ModelError, match="cannot load"):
        GgufModel(broken)
    with pytest.raises(ModelError, match="no file"):
        models.language_model("local:nowhere.gguf")


def test_models_by_name(gguf: Path) -> None:
    model = models.language_model(f"local:{gguf}")
    assert isinstance(model, models.LanguageModel)
    for name in ("openai:gpt", "local:", "nothing"):
        with pytest.raises(ModelError, match="no probabilities"):
            models.language_model(name)


def test_another_build_of_llama_is_refused(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama, "library", llama.library.__wrapped__)
    with monkeypatch.context() as other:
        other.setattr(llama, "VERSION", "2020.1.1")
        with pytest.raises(ModelError, match="is installed"):
            GgufModel(gguf)
    monkeypatch.setattr(llama, "_CONTEXT", llama._CONTEXT.replace("n_ctx=512", "n_ctx=513"))
    with pytest.raises(ModelError, match="not as described: n_ctx"):
        GgufModel(gguf)
