"""Prefixes of pictures: two flows of attention over a frozen vision model, learnt on frozen backbones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.errors import ConfigError, ModelError
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, decode
from mrag.generative.models import ByteTokeniser, document_tokens
from mrag.generative.training import TrainingPair, TrainingSettings, prompt, train

_WHY = "not installed (pip install 'mrag[generative-training]')"
torch = pytest.importorskip("torch", reason=f"torch is {_WHY}")
transformers = pytest.importorskip("transformers", reason=f"transformers is {_WHY}")
pytest.importorskip("peft", reason=f"peft is {_WHY}")

from mrag.generative.models import SeeingTransformersModel  # noqa: E402
from mrag.generative.prefix import ObjectPrefix, PrefixLearner, PrefixSettings  # noqa: E402
from mrag.generative.training import LoraLearner, LoraSettings  # noqa: E402
from tests.generative.test_training import EVERYWHERE, Fast, tiny, words  # noqa: E402

TOKENS = ByteTokeniser()
SETTINGS = PrefixSettings(layers=2, objects=3)


def eyes(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    config = transformers.CLIPVisionConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        image_size=16,
        patch_size=8,
    )
    model = transformers.CLIPVisionModel(config)
    for parameter in model.parameters():
        # As drawn by default, all pictures look nearly the same to a model that has learnt nothing.
        if parameter.dim() > 1:
            parameter.data *= 5
    return model


def pixels(path: Path) -> tuple[Any, list[Any]]:
    """A picture of a number: noise of its own, with as many objects as the number says, up to four."""
    number = int(path.stem)
    torch_random = torch.Generator().manual_seed(number)
    made = torch.randn(1 + number % 5, 3, 16, 16, generator=torch_random)
    return made[0], list(made[1:])


def pairs() -> tuple[dict[str, list[int]], list[TrainingPair]]:
    """Fifty documents that only the picture tells apart: the question is always the same."""
    documents = {f"urn:{n}": document_tokens(TOKENS, f"{words(n)} is it") for n in range(50)}
    asked, said = tuple(TOKENS.encode(prompt("What?"))), enumerate(documents.items())
    return documents, [TrainingPair(asked, tuple(t[:5]), name, Path(f"{n}.png")) for n, (name, t) in said]


def given(numbers: list[int]) -> tuple[Any, Any, Any]:
    prefix = ObjectPrefix(eyes(), 64, SETTINGS)
    learner = PrefixLearner(tiny(), prefix, pixels)
    return prefix, learner, learner.see([Path(f"{n}.png") for n in numbers])


def test_with_closed_gates_the_vision_model_is_as_it_was() -> None:
    prefix, _, (embeddings, mask) = given([4, 1])
    whole = torch.stack([pixels(Path("4.png"))[0], pixels(Path("1.png"))[0]])
    plain = prefix.features(whole)
    assert torch.allclose(prefix.learnt.projection(plain), embeddings[:, 0], atol=1e-5)
    assert embeddings.shape == (2, 4, 64)
    assert mask.int().tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]], "three places, of four objects and of one"


def test_open_gates_let_the_objects_in_each_picture_by_itself() -> None:
    prefix, learner, (closed, _) = given([4, 1, 0])
    prefix.learnt.gates.data += 1.0
    opened, _ = learner.see([Path("4.png"), Path("1.png"), Path("0.png")])
    change = (opened[:, 0] - closed[:, 0]).abs().amax(-1)
    assert bool(change[0] > 1e-3) and bool(change[1] > 1e-3)
    assert float(change[2].detach()) < 1e-5, "a picture without objects has nothing to let in"
    alone, _ = learner.see([Path("1.png")])
    assert torch.allclose(alone[0, :2], opened[1, :2], atol=1e-5), "padding of others plays no part"
    assert not torch.isnan(opened).any()


def test_the_dual_flow_is_what_the_equations_say() -> None:
    prefix, _, _ = given([3])
    layer = (
        prefix.vision.vision_model.encoder.layers[-1]
        if hasattr(prefix.vision, "vision_model")
        else (prefix.vision.encoder.layers[-1])
    )
    attention = layer.self_attn
    tokens, objects = torch.randn(1, 5, 32), torch.randn(1, 3, 32)
    there = torch.tensor([[True, True, False]])
    gates = torch.tensor([0.5, -1.0, 0.0, 2.0])
    got = prefix._dual(layer, tokens, objects, there, gates)
    heads = []
    for head in range(4):
        part = slice(8 * head, 8 * head + 8)
        q, k, v = (getattr(attention, f"{n}_proj")(tokens)[0, :, part] for n in "qkv")
        pk, pv = (getattr(attention, f"{n}_proj")(objects)[0, :2, part] for n in "kv")
        own = torch.softmax(q @ k.T / 8**0.5, -1) @ v
        heads.append(own + gates[head] * (torch.softmax(q @ pk.T / 8**0.5, -1) @ pv))
    assert torch.allclose(got[0], attention.out_proj(torch.cat(heads, -1)), atol=1e-5)


def test_tiny_models_overfit_fifty_pictures_and_their_clues_come_back(tmp_path: Path) -> None:
    documents, shown = pairs()
    index = ClueIndex.build(documents.items(), TOKENS.vocabulary)
    language = LoraLearner(tiny(), LoraSettings(rank=32, alpha=64, dropout=0.0, modules=EVERYWHERE)).model
    learner = PrefixLearner(language, ObjectPrefix(eyes(), 64, SETTINGS), pixels)
    kept = [p.detach().clone() for p in learner.prefix.vision.parameters()]
    assert right(learner, index, shown) < 10
    outcome = train(learner, shown, tmp_path, TrainingSettings(epochs=60, batch=10, rate=2e-3, every=10_000))
    assert outcome.losses[0] > 3 and np.mean(outcome.losses[-5:]) < 0.2
    assert right(learner, index, shown) >= 45
    assert all(torch.equal(a, b) for a, b in zip(kept, learner.prefix.vision.parameters(), strict=True))
    assert float(learner.prefix.learnt.gates.detach().abs().max()) > 0
    again = PrefixLearner(language, ObjectPrefix(eyes(), 64, SETTINGS, seed=3), pixels)
    again.load(tmp_path)
    assert torch.equal(again.look(Path("7.png")), learner.look(Path("7.png")))


def right(learner: PrefixLearner, index: ClueIndex, shown: list[TrainingPair]) -> int:
    model = SeeingTransformersModel(learner.language, Fast(), learner.look)
    settings = DecodingSettings(beams=2, groups=1, diversity=0, length_penalty=0, min_length=5, max_length=9)
    found = 0
    for pair in shown:
        clues = decode(model, index, pair.prompt, settings, picture=pair.picture)
        found += bool(clues) and clues[0].documents == (pair.document,)
    return found


def test_the_language_model_alone_stays_frozen_and_a_run_goes_on(tmp_path: Path) -> None:
    def fresh(seed: int = 0) -> PrefixLearner:
        return PrefixLearner(tiny(), ObjectPrefix(eyes(), 64, SETTINGS, seed=seed), pixels)

    shown = pairs()[1][:8]
    straight = train(fresh(), shown, tmp_path / "a", TrainingSettings(epochs=3, batch=4, rate=1e-2, every=1))

    class Killed(Exception):
        pass

    def die(done: int, _: int, __: float) -> None:
        if done == 4:
            raise Killed

    settings = TrainingSettings(epochs=3, batch=4, rate=1e-2, every=1)
    learner = fresh()
    kept = [p.detach().clone() for p in learner.language.parameters()]
    with pytest.raises(Killed):
        train(learner, shown, tmp_path / "b", settings, on_step=die)
    resumed = train(fresh(seed=4), shown, tmp_path / "b", settings)
    assert resumed.losses == straight.losses and resumed.losses[-1] < resumed.losses[0]
    assert all(torch.equal(a, b) for a, b in zip(kept, learner.language.parameters(), strict=True))


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="3 layers, not 9"):
        ObjectPrefix(eyes(), 64, PrefixSettings(layers=9))
    with pytest.raises(ConfigError, match="no prefix"):
        PrefixSettings(objects=0)
    with pytest.raises(ModelError, match="has no"):
        ObjectPrefix(tiny(), 64, SETTINGS)
    learner = PrefixLearner(tiny(), ObjectPrefix(eyes(), 64, SETTINGS), pixels)
    with pytest.raises(ModelError, match="no picture"):
        learner.loss([TrainingPair((1,), (2,))])
    with pytest.raises(ModelError, match="cannot be used"):
        learner.load(tmp_path)
    learner.save(tmp_path)
    other = PrefixLearner(tiny(), ObjectPrefix(eyes(), 64, PrefixSettings(layers=1, objects=3)), pixels)
    with pytest.raises(ModelError, match="trained with"):
        other.load(tmp_path)
