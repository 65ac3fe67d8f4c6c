"""Tiny models of random weights learn what they are shown, and training goes on where it stopped."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.errors import ConfigError, ModelError
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, decode
from mrag.generative.models import ByteTokeniser, document_tokens
from mrag.generative.training import (
    TrainingPair,
    TrainingSettings,
    prompt,
    quiet,
    train,
)

_WHY = "not installed (pip install 'mrag[generative-training]')"
torch = pytest.importorskip("torch", reason=f"torch is {_WHY}")
transformers = pytest.importorskip("transformers", reason=f"transformers is {_WHY}")
peft = pytest.importorskip("peft", reason=f"peft is {_WHY}")

from mrag.generative.models import TransformersModel  # noqa: E402
from mrag.generative.training import LoraLearner, LoraSettings  # noqa: E402

TOKENS = ByteTokeniser()
EVERYWHERE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head")
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu")


class Fast:
    """What `TransformersModel` asks of a tokeniser of transformers, over bytes."""

    eos_token_id = TOKENS.end

    def get_vocab(self) -> dict[str, int]:
        return {f"<{i}>": i for i in range(TOKENS.vocabulary)}

    def encode(self, text: str, **_: Any) -> list[int]:
        return TOKENS.encode(text)

    def decode(self, ids: Any, **_: Any) -> str:
        return TOKENS.decode(ids)


def tiny(seed: int = 0, width: int = 64) -> Any:
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=TOKENS.vocabulary,
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=256,
        tie_word_embeddings=False,
        bos_token_id=TOKENS.end,
        eos_token_id=TOKENS.end,
        pad_token_id=TOKENS.end,
    )
    return transformers.LlamaForCausalLM(config)


def words(number: int) -> str:
    return SYLLABLES[number // 10] + SYLLABLES[number % 10]


def fifty() -> tuple[dict[str, list[int]], list[TrainingPair]]:
    """Fifty documents, and for each a question that says nothing but a name of its own."""
    documents = {f"urn:{n}": document_tokens(TOKENS, f"{words(n)} {words(99 - n)} is it") for n in range(50)}
    asked = [tuple(TOKENS.encode(prompt(f"{words(n)[::-1]}?"))) for n in range(50)]
    said = zip(asked, documents.items(), strict=True)
    return documents, [TrainingPair(question, tuple(t[:9]), name) for question, (name, t) in said]


def few() -> list[TrainingPair]:
    return fifty()[1][:12]


SHORT = TrainingSettings(epochs=4, batch=4, rate=1e-2, every=3, seed=3)


def learner(seed: int = 0) -> LoraLearner:
    return LoraLearner(tiny(), LoraSettings(dropout=0.1), seed=seed)


def weights(found: LoraLearner) -> dict[str, Any]:
    return {n: p.detach().numpy().copy() for n, p in found.model.named_parameters() if p.requires_grad}


def test_a_tiny_model_overfits_fifty_pairs_and_its_clues_come_back(tmp_path: Path) -> None:
    documents, pairs = fifty()
    index = ClueIndex.build(documents.items(), TOKENS.vocabulary)
    found = LoraLearner(tiny(), LoraSettings(rank=32, alpha=64, dropout=0.0, modules=EVERYWHERE))
    before = asked_again(TransformersModel(found.model, Fast()), index, pairs)
    settings = TrainingSettings(epochs=60, batch=10, rate=2e-3, every=10_000)
    outcome = train(found, pairs, tmp_path, settings)
    assert outcome.steps == outcome.total == 300 and not outcome.interrupted
    assert outcome.losses[0] > 3 and np.mean(outcome.losses[-5:]) < 0.1
    after = asked_again(TransformersModel(found.model, Fast()), index, pairs)
    assert after >= 48 > 10 > before
    # The written adapter gives the same model.
    with quiet():
        again = TransformersModel(peft.PeftModel.from_pretrained(tiny(), str(tmp_path)), Fast())
    one = again.start(pairs[0].prompt).log_probabilities
    other = TransformersModel(found.model, Fast()).start(pairs[0].prompt).log_probabilities
    assert np.allclose(one, other, atol=1e-4)


def asked_again(model: TransformersModel, index: ClueIndex, pairs: list[TrainingPair]) -> int:
    settings = DecodingSettings(beams=2, groups=1, diversity=0, length_penalty=0, min_length=5, max_length=9)
    right = 0
    for pair in pairs:
        clues = decode(model, index, pair.prompt, settings)
        right += bool(clues) and clues[0].documents == (pair.document,)
    return right


def test_a_run_that_is_stopped_and_gone_on_with_is_the_run_that_was_not(tmp_path: Path) -> None:
    whole, parts = learner(), learner()
    straight = train(whole, few(), tmp_path / "a", SHORT)
    assert straight.total == 12

    def stop(done: int, _: int, __: float) -> None:
        if done == 5:
            os.kill(os.getpid(), signal.SIGINT)

    first = train(parts, few(), tmp_path / "b", SHORT, on_step=stop)
    assert first.interrupted and first.steps == 5
    second = train(learner(seed=9), few(), tmp_path / "b", SHORT)
    assert second.losses == straight.losses and not second.interrupted
    done = train(learner(), few(), tmp_path / "b", SHORT)
    assert done.steps == 12 and done.seconds < second.seconds + 60


def test_the_weights_after_a_resumed_run_are_those_of_a_straight_one(tmp_path: Path) -> None:
    whole, rest = learner(), learner(seed=5)
    train(whole, few(), tmp_path / "a", SHORT)
    with pytest.raises(Killed):
        train(learner(), few(), tmp_path / "b", SHORT, on_step=die_at(8))
    # A run that is killed goes on from its last checkpoint, here of step 6; step 7 and 8 are done again.
    outcome = train(rest, few(), tmp_path / "b", SHORT)
    assert outcome.steps == 12
    one, other = weights(whole), weights(rest)
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)


class Killed(Exception):
    pass


def die_at(step: int) -> Any:
    def die(done: int, _: int, __: float) -> None:
        if done == step:
            raise Killed

    return die


def test_a_second_interruption_ends_at_once(tmp_path: Path) -> None:
    def twice(done: int, _: int, __: float) -> None:
        if done == 4:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(learner(), few(), tmp_path, SHORT, on_step=twice)
    assert signal.getsignal(signal.SIGINT) is before
    assert len(torch.load(tmp_path / "checkpoint.pt", weights_only=True)["losses"]) == 3


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    train(learner(), few(), tmp_path, SHORT)
    for pairs, settings, what in (
        (few()[:8], SHORT, "pairs"),
        (few(), TrainingSettings(epochs=4, batch=4, rate=1e-3, every=3, seed=3), "rate"),
    ):
        with pytest.raises(ConfigError, match=f"another training: {what} differ"):
            train(learner(), pairs, tmp_path, settings)
    (tmp_path / "checkpoint.pt").write_bytes(b"not a checkpoint")
    with pytest.raises(ConfigError, match="cannot be read"):
        train(learner(), few(), tmp_path, SHORT)


def test_training_runs_in_a_thread(tmp_path: Path) -> None:
    outcomes: list[Any] = []
    work = threading.Thread(target=lambda: outcomes.append(train(learner(), few(), tmp_path, SHORT)))
    work.start()
    work.join()
    assert outcomes[0].steps == 12


def test_the_backbone_stays_as_it_was(tmp_path: Path) -> None:
    found = learner()
    kept = {n: p.detach().clone() for n, p in found.model.named_parameters() if not p.requires_grad}
    assert len(weights(found)) == 8, "two layers, queries and values, two matrices each"
    train(found, few(), tmp_path, SHORT)
    assert all(torch.equal(kept[n], p) for n, p in found.model.named_parameters() if n in kept)


def test_the_loss_is_of_the_clue_alone_whatever_the_padding() -> None:
    from mrag.generative.training import clue_loss

    model = tiny().eval()
    long, short = (
        TrainingPair(tuple(range(40, 70)), (80, 81, 82)),
        TrainingPair((50, 51), (90, 91, 92, 93, 94)),
    )
    with torch.no_grad():
        alone = [float(clue_loss(model, [pair])) for pair in (long, short)]
        both = float(clue_loss(model, [long, short]))
        row = torch.tensor([[*short.prompt, *short.clue]])
        plain = torch.log_softmax(model(row).logits[0, 1:-1], -1)
        expected = -float(plain[torch.arange(5), torch.tensor(short.clue)].mean())
    assert alone[1] == pytest.approx(expected, abs=1e-5)
    assert both == pytest.approx((3 * alone[0] + 5 * alone[1]) / 8, abs=1e-5)


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to learn"):
        train(learner(), [], tmp_path)
    with pytest.raises(ConfigError, match="cannot be adapted"):
        LoraLearner(tiny(), LoraSettings(modules=("none_proj",)))
    with pytest.raises(ConfigError, match="cannot be adapted"):
        LoraSettings(rank=0)
    with pytest.raises(ConfigError, match="Cannot train"):
        TrainingSettings(batch=0)
    with pytest.raises(ModelError, match="is nan"):
        train(Broken(), few(), tmp_path / "c")


class Broken(LoraLearner):
    def __init__(self) -> None:
        super().__init__(tiny())

    def loss(self, pairs: Any) -> Any:
        return super().loss(pairs) * float("nan")
