"""Models of transformers: a tiny one, made at random, under the clue index."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.errors import ModelError
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, decode
from mrag.generative.models import (
    LanguageModel,
    PictureModel,
    SeeingTransformersModel,
    Tokeniser,
    TransformersModel,
    document_tokens,
    language_model,
)

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
transformers: Any = pytest.importorskip("transformers", reason="transformers is not installed")


def byte_tokeniser() -> Any:
    tokenizers: Any = import_module("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    own = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={c: i for i, c in enumerate([*letters, "<end>"])}, merges=[])
    )
    own.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=own, eos_token="<end>")


@pytest.fixture(scope="module")
def parts() -> tuple[Any, Any]:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=128,
    )
    return transformers.LlamaForCausalLM(config), byte_tokeniser()


@pytest.fixture(scope="module")
def model(parts: tuple[Any, Any]) -> TransformersModel:
    return TransformersModel(*parts, name="tiny")


def test_texts_survive_the_tokeniser(model: TransformersModel) -> None:
    tokeniser = model.tokeniser
    assert isinstance(tokeniser, Tokeniser) and isinstance(model, LanguageModel)
    assert (tokeniser.vocabulary, tokeniser.end) == (260, 256), "a model may have more rows than tokens"
    for text in (" a b  c. d ,e", "é 漢\n", "<end> is text here", ""):
        tokens = tokeniser.encode(text)
        assert tokeniser.decode(tokens) == text and tokeniser.end not in tokens
    assert tokeniser.decode([tokeniser.end]) == ""


def test_beams_are_as_if_read_alone(model: TransformersModel) -> None:
    prompt = model.tokeniser.encode("hello")
    beams = model.start(prompt)
    texts = [list(prompt)]
    rng = np.random.default_rng(0)
    for width in (3, 5, 1, 4):
        parents = rng.integers(0, len(texts), width).tolist()
        tokens = rng.integers(0, 256, width).tolist()
        texts = [[*texts[p], t] for p, t in zip(parents, tokens, strict=True)]
        rows = beams.advance(parents, tokens)
        assert (rows.shape, rows.dtype) == ((width, 260), np.float32)
        for text, row in zip(texts, rows, strict=True):
            np.testing.assert_allclose(model.start(text).log_probabilities[0], row, atol=1e-4)
    assert beams.advance([], []).shape == (0, 260)
    beams.close()


def test_clues_are_unique(model: TransformersModel) -> None:
    texts = {f"urn:{i}": f"{word} is number {i}" for i, word in enumerate("one two three four five".split())}
    tokens = [(i, document_tokens(model.tokeniser, text)) for i, text in texts.items()]
    index = ClueIndex.build(tokens, model.tokeniser.vocabulary, end=model.tokeniser.end)
    clues = decode(model, index, "Which number?", DecodingSettings(beams=6, groups=2, prior_weight=0.5))
    assert clues and all(index.documents(clue.tokens) == list(clue.documents) for clue in clues)


def test_a_picture_stands_before_the_prompt(
    parts: tuple[Any, Any], model: TransformersModel, tmp_path: Path
) -> None:
    assert not isinstance(model, PictureModel)
    words = model.tokeniser.encode("hello")
    other = model.tokeniser.encode("before ")

    def see(picture: Path) -> Any:
        return parts[0].get_input_embeddings()(torch.tensor(list(picture.read_bytes())))

    seeing = SeeingTransformersModel(*parts, see=see)
    assert isinstance(seeing, PictureModel)
    picture = tmp_path / "picture"
    picture.write_bytes(bytes(other))
    seen = seeing.start_with_picture(picture, words).log_probabilities
    np.testing.assert_allclose(seen, model.start([*other, *words]).log_probabilities, atol=1e-5)
    with pytest.raises(ModelError, match="cannot be seen"):
        seeing.start_with_picture(tmp_path / "none", words)


def test_models_are_loaded_by_name(parts: tuple[Any, Any], model: TransformersModel, tmp_path: Path) -> None:
    for part in parts:
        part.save_pretrained(tmp_path / "model")
    loaded = language_model(f"hf:{tmp_path / 'model'}")
    assert loaded.tokeniser.fingerprint == model.tokeniser.fingerprint
    prompt = model.tokeniser.encode("hello")
    np.testing.assert_allclose(
        loaded.start(prompt).log_probabilities, model.start(prompt).log_probabilities, atol=1e-5
    )
    with pytest.raises(ModelError, match="cannot load"):
        language_model(f"hf:{tmp_path / 'nothing'}")


def test_limits_are_said(model: TransformersModel) -> None:
    for prompt, message in (([], "empty"), ([260], "lacks"), ([1] * 128, "reads 128")):
        with pytest.raises(ModelError, match=message):
            model.start(prompt)
