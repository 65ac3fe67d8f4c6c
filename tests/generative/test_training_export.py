"""The small packaged model: its tokens, its adapter in a model file, and the command that trains."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from mrag.errors import ModelError
from tests.commands import run

_WHY = "not installed (pip install 'mrag[generative-training]')"
for _name in ("torch", "transformers", "peft", "accelerate", "gguf"):
    pytest.importorskip(_name, reason=f"{_name} is {_WHY}")

from mrag.generative.llama import GgufModel  # noqa: E402
from mrag.generative.models import TransformersModel  # noqa: E402
from mrag.generative.training import (  # noqa: E402  # noqa: E402  # noqa: E402
    LoraLearner,
    LoraSettings,
    open_backbone,
    prompt,
    write_folder,
)
from tests.generation.conftest import gguf  # noqa: E402, F401

PRODUCTS = "https://w3id.org/mrag/demo/products#"


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_written_folder_is_the_model_file_with_its_adapter(gguf: Path, tmp_path: Path) -> None:  # noqa: F811
    import torch

    torch.set_num_threads(1)
    backbone = open_backbone(f"local:{gguf}")
    text = prompt("What are the symptoms of Acromegaly ?") + " naïve 12.5% of 漢字"
    learner = LoraLearner(backbone.model, LoraSettings(dropout=0.0))
    with torch.no_grad():
        for name, parameter in learner.model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.2)
    tokens = backbone.tokeniser.encode(text)
    with torch.no_grad():
        wanted = torch.log_softmax(learner.model.eval()(torch.tensor([tokens])).logits[0, -1], -1).numpy()
    folder = write_folder(learner.model, backbone.tokeniser.own, tmp_path / "model")
    model = TransformersModel.open(str(folder))
    assert model.tokeniser.encode(text) == tokens and model.tokeniser.decode(tokens) == text
    assert np.allclose(model.start(tokens).log_probabilities[0], wanted, atol=1e-3)
    with GgufModel(gguf) as plain:
        assert plain.tokeniser.encode(text) == tokens
        assert np.abs(plain.start(tokens).log_probabilities[0] - wanted).mean() > 0.3


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder of transformers: a tiny model of random weights with a tokeniser of bytes."""
    import tokenizers
    import torch
    import transformers

    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(["What is a triple store? The company develops it."], trainer)
    tokeniser = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokeniser),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=256,
        eos_token_id=tokeniser.eos_token_id,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(str(tmp_path / "small"))
    tokeniser.save_pretrained(str(tmp_path / "small"))
    return tmp_path / "small"


def test_the_command_trains_and_goes_on_and_its_model_finds(small: Path, tmp_path: Path) -> None:
    names = ("GraphDB", "Stardog", "Virtuoso")
    asked = [{"question": f"What is {n}?", "document": f"{PRODUCTS}{n}"} for n in names]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in asked))
    command = ["train", "generative", "--questions", "asked.jsonl", "--model", "hf:small", "--json"]
    more = ["--epochs", "2", "--batch", "2", "--clues", "1", "--out", "clues"]
    done = run(*command, *more, cwd=tmp_path, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["pairs"], told["steps"], told["of"], told["interrupted"]) == (3, 4, 4, False)
    model = ["--model", told["model"], "--folder", "index", "--json"]
    assert run("clues", "build", *model, cwd=tmp_path).returncode == 0
    search = ["clues", "search", "What is GraphDB?", "--start", "anywhere", *model]
    found = run(*search, cwd=tmp_path, OMP_NUM_THREADS="1")
    assert found.returncode == 0 and json.loads(found.stdout)["hits"], found.stderr
    other = run(*command, "--epochs", "3", "--out", "clues", cwd=tmp_path)
    assert other.returncode == 1 and "another training" in other.stderr


def test_what_cannot_be_trained_is_said() -> None:
    with pytest.raises(ModelError, match="no model file"):
        open_backbone("local:none.gguf")
    with pytest.raises(ModelError, match="cannot be trained"):
        open_backbone("ollama:llama3.2")


def test_the_command_says_what_it_needs(tmp_path: Path) -> None:
    done = run("train", "generative", cwd=tmp_path)
    assert done.returncode == 2 and "--questions" in done.stderr
    (tmp_path / "asked.jsonl").write_text('{"question": "What?", "document": "urn:a", "picture": "a.png"}')
    done = run("train", "generative", "--questions", "asked.jsonl", "--model", "local:x.gguf", cwd=tmp_path)
    assert done.returncode == 1 and "pictures" in done.stderr
    assert not Path(tmp_path / "clues").exists()


@pytest.mark.parametrize("missing", ["torch", "peft"])
def test_a_missing_package_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from mrag.generative.models import library

    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModelError, match=rf"{missing}.*mrag\[generative-training\]"):
        library(missing)
