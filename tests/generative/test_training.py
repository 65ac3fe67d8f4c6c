"""Models of transformers: their beams, low-rank training, resuming, and the command that trains.

Models are tiny and made at random; one test takes the small packaged one.
"""

import json
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrag.errors import ConfigError, ModelError
from mrag.generative import models, training
from mrag.generative.clue_index import ClueIndex
from mrag.generative.decoding import DecodingSettings, decode
from mrag.generative.llama import GgufModel
from mrag.generative.models import TransformersModel
from mrag.generative.training import LoraLearner, LoraSettings, TrainingPair, train
from tests.commands import run
from tests.generation.conftest import gguf  # noqa: F401

_WHY = "not installed (pip install 'mrag[generative-training]')"
torch: Any = pytest.importorskip("torch", reason=f"torch is {_WHY}")
transformers: Any = pytest.importorskip("transformers", reason=f"transformers is {_WHY}")
peft: Any = pytest.importorskip("peft", reason=f"peft is {_WHY}")
TOKENS = models.ByteTokeniser()
EVERYWHERE = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head")
SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu")
PRODUCTS = "https://w3id.org/mrag/demo/products#"
SHORT = training.TrainingSettings(epochs=4, batch=4, rate=1e-2, every=3, seed=3)


class Fast:
    """What `TransformersModel` asks of a tokeniser of transformers, over bytes."""

    eos_token_id = TOKENS.end

    def get_vocab(self) -> dict[str, int]:
        return {f"<{i}>": i for i in range(TOKENS.vocabulary)}

    def encode(self, text: str, **_: Any) -> list[int]:
        return TOKENS.encode(text)

    def decode(self, ids: Any, **_: Any) -> str:
        return TOKENS.decode(ids)


def llama(seed: int = 0, **sizes: int) -> Any:
    torch.manual_seed(seed)
    known = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 4, "max_position_embeddings": 256}  # fmt: skip
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**known | sizes))


def tiny(seed: int = 0) -> Any:
    end = TOKENS.end
    return llama(seed, vocab_size=257, tie_word_embeddings=False, bos_token_id=end, eos_token_id=end)


def words(number: int) -> str:
    return SYLLABLES[number // 10] + SYLLABLES[number % 10]


def fifty() -> tuple[dict[str, list[int]], list[TrainingPair]]:
    """Fifty documents, and for each a question that says nothing but a name of its own."""
    documents = {
        f"urn:{n}": models.document_tokens(TOKENS, f"{words(n)} {words(99 - n)} is it") for n in range(50)
    }
    asked = [tuple(TOKENS.encode(training.prompt(f"{words(n)[::-1]}?"))) for n in range(50)]
    said = zip(asked, documents.items(), strict=True)
    return documents, [TrainingPair(question, tuple(t[:9]), name) for question, (name, t) in said]


def few() -> list[TrainingPair]:
    return fifty()[1][:12]


def learner(seed: int = 0) -> LoraLearner:
    return LoraLearner(tiny(), LoraSettings(dropout=0.1), seed=seed)


def weights(found: LoraLearner) -> dict[str, Any]:
    return {n: p.detach().numpy().copy() for n, p in found.model.named_parameters() if p.requires_grad}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of transformers: a tiny model of random weights with a tokeniser of bytes."""
    import tokenizers

    inner = tokenizers.Tokenizer(tokenizers.models.BPE())
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(["What is a triple store? The company develops it."], trainer)
    tokeniser = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<end>")
    folder = tmp_path_factory.mktemp("models") / "small"
    llama(vocab_size=len(tokeniser) + 3, hidden_size=32, eos_token_id=0).save_pretrained(str(folder))
    tokeniser.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def model(small: Path) -> TransformersModel:
    loaded = models.language_model(f"hf:{small}")
    assert isinstance(loaded, TransformersModel)
    return loaded


def test_texts_survive_the_tokeniser(model: TransformersModel) -> None:
    tokeniser = model.tokeniser
    assert isinstance(tokeniser, models.Tokeniser) and isinstance(model, models.LanguageModel)
    assert tokeniser.vocabulary == len(tokeniser.own) + 3, "a model may have more rows than tokens"
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
        assert (rows.shape, rows.dtype) == ((width, model.tokeniser.vocabulary), np.float32)
        for text, row in zip(texts, rows, strict=True):
            np.testing.assert_allclose(model.start(text).log_probabilities[0], row, atol=1e-4)
    assert len(beams.advance([], [])) == 0
    beams.close()


def test_clues_are_unique(model: TransformersModel) -> None:
    texts = {f"urn:{i}": f"{word} is number {i}" for i, word in enumerate("one two three four five".split())}
    tokens = [(i, models.document_tokens(model.tokeniser, text)) for i, text in texts.items()]
    index = ClueIndex.build(tokens, model.tokeniser.vocabulary, end=model.tokeniser.end)
    clues = decode(model, index, "Which number?", DecodingSettings(beams=6, groups=2, prior_weight=0.5))
    assert clues and all(index.documents(clue.tokens) == list(clue.documents) for clue in clues)


def test_limits_are_said(model: TransformersModel, tmp_path: Path) -> None:
    for tokens, message in (([], "empty"), ([500], "lacks"), ([1] * 256, "reads 256")):
        with pytest.raises(ModelError, match=message):
            model.start(tokens)
    with pytest.raises(ModelError, match="cannot load"):
        models.language_model(f"hf:{tmp_path / 'nothing'}")


@pytest.mark.parametrize("missing", ["torch", "peft"])
def test_a_missing_package_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModelError, match=rf"{missing}.*mrag\[generative-training\]"):
        models.library(missing)


def test_a_tiny_model_overfits_fifty_pairs_and_its_clues_come_back(tmp_path: Path) -> None:
    documents, pairs = fifty()
    index = ClueIndex.build(documents.items(), TOKENS.vocabulary)
    found = LoraLearner(tiny(), LoraSettings(rank=32, alpha=64, dropout=0.0, modules=EVERYWHERE))
    before = right(TransformersModel(found.model, Fast()), index, pairs)
    settings = training.TrainingSettings(epochs=60, batch=10, rate=2e-3, every=10_000)
    outcome = train(found, pairs, tmp_path, settings)
    assert outcome.steps == outcome.total == 300 and not outcome.interrupted
    assert outcome.losses[0] > 3 and np.mean(outcome.losses[-5:]) < 0.1
    after = right(TransformersModel(found.model, Fast()), index, pairs)
    assert after >= 48 > 10 > before
    # The written adapter gives the same model.
    with training.quiet():
        again = TransformersModel(peft.PeftModel.from_pretrained(tiny(), str(tmp_path)), Fast())
    one = again.start(pairs[0].prompt).log_probabilities
    other = TransformersModel(found.model, Fast()).start(pairs[0].prompt).log_probabilities
    assert np.allclose(one, other, atol=1e-4)


def right(model: TransformersModel, index: ClueIndex, pairs: list[TrainingPair]) -> int:
    """Return for how many pairs the best clue leads to the pair's document."""
    settings = DecodingSettings(beams=2, groups=1, diversity=0, length_penalty=0, min_length=5, max_length=9)
    found = 0
    for pair in pairs:
        clues = decode(model, index, pair.prompt, settings)
        found += bool(clues) and clues[0].documents == (pair.document,)
    return found


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
    for pairs, settings, what in ((few()[:8], SHORT, "pairs"), (few(), replace(SHORT, rate=1e-3), "rate")):
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
    model = tiny().eval()
    long = TrainingPair(tuple(range(40, 70)), (80, 81, 82))
    short = TrainingPair((50, 51), (90, 91, 92, 93, 94))
    with torch.no_grad():
        alone = [float(training.clue_loss(model, [pair])) for pair in (long, short)]
        both = float(training.clue_loss(model, [long, short]))
        row = torch.tensor([[*short.prompt, *short.clue]])
        plain = torch.log_softmax(model(row).logits[0, 1:-1], -1)
        expected = -float(plain[torch.arange(5), torch.tensor(short.clue)].mean())
    assert alone[1] == pytest.approx(expected, abs=1e-5)
    assert both == pytest.approx((3 * alone[0] + 5 * alone[1]) / 8, abs=1e-5)


class Broken(LoraLearner):
    def __init__(self) -> None:
        super().__init__(tiny())

    def loss(self, pairs: Any) -> Any:
        return super().loss(pairs) * float("nan")


def test_what_cannot_be_trained_is_said(tmp_path: Path) -> None:
    for wrong, message in (
        (lambda: train(learner(), [], tmp_path), "nothing to learn"),
        (lambda: LoraLearner(tiny(), LoraSettings(modules=("none_proj",))), "cannot be adapted"),
        (lambda: LoraSettings(rank=0), "cannot be adapted"),
        (lambda: training.TrainingSettings(batch=0), "Cannot train"),
        (lambda: train(Broken(), few(), tmp_path / "c"), "is nan"),
        (lambda: training.open_backbone("local:none.gguf"), "no model file"),
        (lambda: training.open_backbone("ollama:llama3.2"), "cannot be trained"),
    ):
        with pytest.raises((ConfigError, ModelError), match=message):
            wrong()


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_the_written_folder_is_the_model_file_with_its_adapter(gguf: Path, tmp_path: Path) -> None:  # noqa: F811
    torch.set_num_threads(1)
    backbone = training.open_backbone(f"local:{gguf}")
    text = training.prompt("What are the symptoms of Acromegaly ?") + " naïve 12.5% of 漢字"
    learner = LoraLearner(backbone.model, LoraSettings(dropout=0.0))
    with torch.no_grad():
        for name, parameter in learner.model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.2)
    tokens = backbone.tokeniser.encode(text)
    with torch.no_grad():
        wanted = torch.log_softmax(learner.model.eval()(torch.tensor([tokens])).logits[0, -1], -1).numpy()
    folder = training.write_folder(learner.model, backbone.tokeniser.own, tmp_path / "model")
    model = TransformersModel.open(str(folder))
    assert model.tokeniser.encode(text) == tokens and model.tokeniser.decode(tokens) == text
    assert np.allclose(model.start(tokens).log_probabilities[0], wanted, atol=1e-3)
    with GgufModel(gguf) as plain:
        assert plain.tokeniser.encode(text) == tokens
        assert np.abs(plain.start(tokens).log_probabilities[0] - wanted).mean() > 0.3


def test_the_command_trains_and_goes_on_and_its_model_finds(small: Path, tmp_path: Path) -> None:
    names = ("GraphDB", "Stardog", "Virtuoso")
    asked = [{"question": f"What is {n}?", "document": f"{PRODUCTS}{n}"} for n in names]
    (tmp_path / "asked.jsonl").write_text("".join(json.dumps(line) + "\n" for line in asked))
    command = ["train", "generative", "--questions", "asked.jsonl", "--model", f"hf:{small}", "--json"]
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


def test_the_command_says_what_it_needs(tmp_path: Path) -> None:
    done = run("train", "generative", cwd=tmp_path)
    assert done.returncode == 2 and "--questions" in done.stderr
    (tmp_path / "asked.jsonl").write_text('{"question": "What?", "document": "urn:a"}')
    done = run("train", "generative", "--questions", "asked.jsonl", "--model", "local:x.gguf", cwd=tmp_path)
    assert done.returncode == 1 and "no model file" in done.stderr
    assert not Path(tmp_path / "clues").exists()
