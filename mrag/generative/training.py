"""Training of a model that writes clues: which words it should write, low-rank adaptation, and the loop.

After Long et al., "Generative Multi-Modal Knowledge Retrieval with Large Language Models" (AAAI 2024). Of the
document's sentences the one that meets most of the question's keywords is taken. A span of it with `c`
keywords has the relevance `c / (c + rho)`; a softmax over the spans gives the chance that each is drawn.
A clue is a run of the document's own tokens, so the clue index holds it whatever the tokeniser.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import accumulate, islice, pairwise
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final

from mrag.errors import ConfigError, LoadError, ModelError
from mrag.generative.models import Tokeniser, TransformersModel, library, load_pretrained
from mrag.language.analysis import Analyser
from mrag.language.tokens import STOP_WORDS
from mrag.storage.files import save

_ANALYSER = Analyser(name="plural")
_WORD = re.compile(r"\w+")
_BETWEEN = re.compile(r"(?<=[.!?])(?=\s)")


@dataclass(frozen=True)
class ClueSampling:
    """The knobs of drawing clues.

    Raises:
        ConfigError: If a knob is out of range.

    Example:
        >>> ClueSampling(rho=0)
        Traceback (most recent call last):
        mrag.errors.ConfigError: Clues cannot be drawn with ClueSampling(...). Numbers are above 0.
    """

    rho: float = 1.0  # How slowly more keywords make a span more relevant, above 0
    # Of the softmax, above 0. The paper's is 1, which draws nearly evenly because all relevances lie between
    # 0 and 1; a smaller one prefers the spans with most keywords
    temperature: float = 1.0
    starts: int = 2  # Most clues drawn for one question, each once (`m` of the paper)
    length: int = 10  # Tokens of a clue (`l` of the paper); a document that is shorter is a clue as a whole
    seed: int = 0  # Of the draw; a question and its document always get the same clues under one seed

    def __post_init__(self) -> None:
        if min(self.rho, self.temperature, self.starts, self.length) <= 0:
            raise ConfigError(f"Clues cannot be drawn with {self}.", hint="Numbers are above 0.")


def keywords(text: str) -> frozenset[str]:
    """Return the keywords of a text, as terms of the BM25 index: no function words, plurals folded."""
    tokens = [t for t in _ANALYSER.tokens(text) if t not in STOP_WORDS]
    return frozenset(term for token in tokens for term in _ANALYSER.terms(token))


def token_spans(tokeniser: Tokeniser, tokens: Sequence[int]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of tokens, and from which to which character each goes.

    A token that holds a part of a letter only goes nowhere; its letter belongs to the token that ends it.
    """
    text = tokeniser.decode(tokens)
    pieces = [tokeniser.decode([token]) for token in tokens]
    ends = list(accumulate(map(len, pieces)))
    if "".join(pieces) != text:
        # Half a letter shows as a replacement sign until the rest of it comes.
        shown = (tokeniser.decode(tokens[:number]).rstrip("\ufffd") for number in range(1, len(tokens)))
        ends = [*accumulate((min(len(part), len(text)) for part in shown), max), len(text)]
    return text, list(pairwise([0, *ends]))


def sample_clues(
    question: str,
    tokens: Sequence[int],
    tokeniser: Tokeniser,
    settings: ClueSampling | None = None,
    *,
    key: str = "",
) -> list[tuple[int, ...]]:
    """Draw clues of a document for a question.

    If the question has no keyword that the document has, the first sentence is taken. The `key` sets one draw
    apart from another under the same seed, such as the document's id.

    Example:
        >>> from mrag.generative.models import ByteTokeniser
        >>> tokeniser = ByteTokeniser()
        >>> text = " Much is known. The cause of rickets is a lack of vitamin D. It is treated."
        >>> settings = ClueSampling(length=24, starts=1, temperature=0.01)
        >>> [clue] = sample_clues("What causes rickets?", tokeniser.encode(text), tokeniser, settings)
        >>> "rickets" in tokeniser.decode(clue)
        True
    """
    settings = settings or ClueSampling()
    if not len(tokens):
        return []
    text, spans = token_spans(tokeniser, tokens)
    # The blank between sentences is the second one's, as it is in tokens.
    bounds = [0, *(m.start() for m in _BETWEEN.finditer(text)), len(text)]
    sentences = [(a, b) for a, b in pairwise(bounds) if text[a:b].strip()] or [(0, len(text))]
    wanted = keywords(question)
    words = [m.span() for m in _WORD.finditer(text) if wanted.intersection(_ANALYSER.terms(m.group()))]
    counts = [sum(start <= w < end for w, _ in words) for start, end in sentences]
    first, last = sentences[counts.index(max(counts))]
    inside = [i for i, (start, end) in enumerate(spans) if start < last and end > first]
    # A clue begins where a word begins, since the model writes it after a prompt that ends with one.
    pieces = [(i, text[spans[i][0] : spans[i][1]]) for i in inside]
    begins = [i for i, piece in pieces if piece and (spans[i][0] == 0 or piece[0].isspace())]
    latest = max(0, len(tokens) - settings.length)
    starts = sorted({min(i, latest) for i in begins or inside[:1] or [0]})
    weights = []
    for at in starts:
        low, high = spans[at][0], spans[min(at + settings.length, len(tokens)) - 1][1]
        hits = sum(low <= w and v <= high for w, v in words)
        weights.append(math.exp(hits / (hits + settings.rho) / settings.temperature))
    drawn: list[int] = []
    chance = random.Random(f"{settings.seed}\0{key}")
    while starts and len(drawn) < settings.starts:
        (at,) = chance.choices(range(len(starts)), weights)
        drawn.append(starts.pop(at))
        weights.pop(at)
    return [tuple(tokens[at : at + settings.length]) for at in sorted(drawn)]


INSTRUCTION: Final = "Question: {question}\nWords from the text that answers it:"
"""The one format of instructions, in training and in use. It ends without a space: clues begin with one."""


@dataclass(frozen=True)
class TrainingQuestion:
    """A question and the document that answers it."""

    question: str
    document: str


@dataclass(frozen=True)
class TrainingPair:
    """What a model is shown at a time."""

    prompt: tuple[int, ...]
    clue: tuple[int, ...]
    document: str = ""


def prompt(question: str) -> str:
    """Return the instruction with a question, white space joined.

    Example:
        >>> prompt("What is  RDF?")
        'Question: What is RDF?\\nWords from the text that answers it:'
    """
    # No format string sees the question, which may hold braces.
    return INSTRUCTION.replace("{question}", " ".join(question.split()))


def make_pairs(
    asked: Iterable[TrainingQuestion],
    documents: Mapping[str, Sequence[int]],
    tokeniser: Tokeniser,
    sampling: ClueSampling | None = None,
) -> list[TrainingPair]:
    """Draw the clues of questions.

    Raises:
        ConfigError: If a question's document is not there.
    """
    pairs: list[TrainingPair] = []
    for one in asked:
        tokens = documents.get(one.document)
        if tokens is None:
            what = f"A question is answered by {one.document}, which is no document here."
            raise ConfigError(what, hint="Questions name documents by the IRIs that the index uses.")
        ahead = tuple(tokeniser.encode(prompt(one.question)))
        key = f"{one.question}\0{one.document}"
        clues = sample_clues(one.question, tokens, tokeniser, sampling, key=key)
        pairs += [TrainingPair(ahead, clue, one.document) for clue in clues]
    return pairs


def batches(pairs: Sequence[TrainingPair], size: int, epoch: int, seed: int) -> Iterator[list[TrainingPair]]:
    """Yield the pairs of an epoch in a random order that seed and epoch decide, the last batch shorter."""
    order = list(range(len(pairs)))
    random.Random(f"{seed}\0{epoch}").shuffle(order)
    for at in range(0, len(order), size):
        yield [pairs[i] for i in order[at : at + size]]


def digest(pairs: Iterable[TrainingPair]) -> str:
    """Return a fingerprint of pairs in their order."""
    known = hashlib.blake2b(digest_size=16)
    for pair in pairs:
        known.update(repr((pair.prompt, pair.clue)).encode())
    return known.hexdigest()


def read_questions(path: Path) -> list[TrainingQuestion]:
    """Read questions from JSON lines with `question` and `document`.

    Raises:
        LoadError: If the file cannot be read or a line is of another form.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise LoadError(f"Questions cannot be read: {error}.", file=str(path)) from error
    questions: list[TrainingQuestion] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            question, document = fields["question"], fields["document"]
            if not (question.strip() and isinstance(document, str)):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError):
            message = "A line of questions is a JSON object with the strings `question` and `document`."
            raise LoadError(message, file=str(path), line=number) from None
        questions.append(TrainingQuestion(question, document))
    if not questions:
        raise LoadError("There is no question.", file=str(path))
    return questions


def open_backbone(name: str) -> TransformersModel:
    """Open a model to be trained.

    Args:
        name: `local:PATH.gguf`, a model file, whose weights are unpacked to float32, or
            `hf:FOLDER_OR_NAME`, a model of transformers.

    Raises:
        ModelError: If there is no such model or a package is missing.

    Example:
        >>> open_backbone("ollama:llama3.2")
        Traceback (most recent call last):
        mrag.errors.ModelError: 'ollama:llama3.2' cannot be trained. Use local:PATH.gguf or hf:FOLDER_OR_NAME.
    """
    kind, _, rest = name.partition(":")
    if kind not in ("local", "hf") or not rest:
        raise ModelError(f"{name!r} cannot be trained.", hint="Use local:PATH.gguf or hf:FOLDER_OR_NAME.")
    path, where = Path(rest), {}
    if kind == "local":
        if not path.is_file():
            raise ModelError(f"There is no model file {rest}.")
        library("gguf")
        library("accelerate")
        rest, where = str(path.parent), {"gguf_file": path.name}
    model, tokeniser = load_pretrained(name, rest, dtype=library("torch").float32, **where)
    if hasattr(model.config, "quantization_config"):
        # Its weights are unpacked, so it can be written like any other.
        vars(model).pop("hf_quantizer", None)
        del model.config.quantization_config
    return TransformersModel(model, tokeniser, name)


@dataclass(frozen=True)
class LoraSettings:
    """The knobs of the adaptation; the defaults are those of the published code.

    Raises:
        ConfigError: If a knob is out of range.
    """

    rank: int = 8  # Of the matrices, 1 or more
    alpha: int = 16  # Their scale times the rank
    dropout: float = 0.05  # Share of their inputs that is left out in training, from 0 to below 1
    modules: tuple[str, ...] = ("q_proj", "v_proj")  # Names of the linear layers that are adapted

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha < 1 or not 0 <= self.dropout < 1 or not self.modules:
            hint = "Rank 8 and alpha 16 are usual."
            raise ConfigError(f"A model cannot be adapted with {self}.", hint=hint)


class LoraLearner:
    """A language model with an adapter that learns to write clues; the model itself is frozen.

    Raises:
        ConfigError: If the model has no layer of the names in `settings.modules`.
        ModelError: If a package is missing.
    """

    def __init__(self, model: Any, settings: LoraSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or LoraSettings()
        torch, peft = library("torch"), library("peft")
        torch.manual_seed(seed)
        known = peft.LoraConfig(
            r=self.settings.rank, lora_alpha=self.settings.alpha, lora_dropout=self.settings.dropout,
            target_modules=list(self.settings.modules), bias="none", task_type="CAUSAL_LM",
        )  # fmt: skip
        try:
            with quiet():
                self.model = peft.get_peft_model(model, known)
        except ValueError as error:
            raise ConfigError(f"The model cannot be adapted: {error}") from error

    @property
    def about(self) -> dict[str, Any]:
        """What a checkpoint must agree on to be gone on with."""
        return {**asdict(self.settings), "modules": list(self.settings.modules)}

    def loss(self, pairs: Sequence[TrainingPair]) -> Any:
        """Return the mean loss of the clues' tokens, as a tensor."""
        return clue_loss(self.model, pairs)

    def save(self, folder: Path) -> None:
        """Write the adapter as peft does."""
        with quiet():
            self.model.save_pretrained(str(folder), save_embedding_layers=False)


def pad(pairs: Sequence[TrainingPair]) -> tuple[list[list[int]], list[list[int]], list[list[int]], int]:
    """Lay pairs side by side, so that the clues begin at one column."""
    ahead = max(len(pair.prompt) for pair in pairs)
    after = max(len(pair.clue) for pair in pairs)
    ids, mask, targets = [], [], []
    for pair in pairs:
        whole, left, right = (*pair.prompt, *pair.clue), ahead - len(pair.prompt), after - len(pair.clue)
        ids.append([0] * left + [*whole] + [0] * right)
        mask.append([0] * left + [1] * len(whole) + [0] * right)
        targets.append([*pair.clue] + [-100] * right)
    return ids, mask, targets, ahead


def clue_loss(model: Any, pairs: Sequence[TrainingPair]) -> Any:
    """Return the mean loss of the clues' tokens under a model."""
    torch = library("torch")
    rows, kept, wanted, ahead = pad(pairs)
    if not ahead:
        raise ModelError("A clue needs a prompt before it.")
    device = next(model.parameters()).device
    ids = torch.tensor(rows, device=device)
    mask = torch.tensor(kept, device=device)
    targets = torch.tensor(wanted, device=device)
    # Only what the loss looks at passes through the vocabulary, which is the dearest layer of a small model.
    output = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=(mask.cumsum(1) - 1).clamp(min=0),
        logits_to_keep=targets.shape[1] + 1,
        use_cache=False,
    )
    logits = output.logits[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=-100
    )


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back what peft and transformers have to say to each other about names that will go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True)
class TrainingSettings:
    """The knobs of training.

    Raises:
        ConfigError: If a knob is out of range.
    """

    epochs: int = 3
    batch: int = 8
    # Learning rate of AdamW, reached after the warm-up and falling to 0 in a straight line
    rate: float = 3e-4
    warm_up: float = 0.05  # Share of the steps in which the rate rises, from 0 to 1
    decay: float = 0.0
    clip: float = 1.0
    seed: int = 0  # Of order and dropout
    every: int = 50  # Steps between checkpoints
    # Of torch; more than there are idle cores makes it many times slower. None leaves it alone
    threads: int | None = 1
    device: str = "auto"  # `cpu`, `cuda`, or `auto` for a GPU if there is one

    def __post_init__(self) -> None:
        if (
            min(self.epochs, self.batch, self.rate, self.clip, self.every) <= 0
            or not 0 <= self.warm_up <= 1
            or self.decay < 0
            or (self.threads is not None and self.threads < 1)
        ):
            raise ConfigError(f"Cannot train with {self}.", hint="Numbers are above 0, shares up to 1.")


@dataclass(frozen=True)
class TrainingReport:
    """What training came to."""

    steps: int  # Steps done, those of earlier runs too
    total: int
    losses: tuple[float, ...]
    seconds: float

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before the end."""
        return self.steps < self.total


def train(
    learner: LoraLearner,
    pairs: Sequence[TrainingPair],
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    on_step: Callable[[int, int, float], None] | None = None,
) -> TrainingReport:
    """Train, going on from the checkpoint in the folder if there is one.

    A run that is stopped and gone on with gives the same losses as one that is not. Ctrl-C or SIGTERM
    ends the step that is on its way, keeps a checkpoint and returns; a second one ends at once, with the
    last checkpoint kept. `on_step` is called with the steps done, all steps and the loss.

    Raises:
        ConfigError: If there are no pairs, or the checkpoint is of other pairs, settings or parts.
        ModelError: If the loss is no longer a number, or torch is missing.
    """
    settings = settings or TrainingSettings()
    if not pairs:
        raise ConfigError("There is nothing to learn from.", hint="Give questions with their documents.")
    torch = library("torch")
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    learner.model.to(device).train()
    named = [(n, p) for n, p in learner.model.named_parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW([p for _, p in named], lr=settings.rate, weight_decay=settings.decay)
    total = settings.epochs * -(-len(pairs) // settings.batch)
    rising = max(1, round(total * settings.warm_up))
    free = {"threads", "device", "every"}
    fixed = {name: value for name, value in asdict(settings).items() if name not in free}
    about = json.loads(json.dumps({**learner.about, "pairs": digest(pairs), **fixed}))
    folder.mkdir(parents=True, exist_ok=True)
    losses = _resume(torch, folder, about, named, optimiser)
    started = time.perf_counter()
    with _stopping() as asked:
        shown = (b for n in range(settings.epochs) for b in batches(pairs, settings.batch, n, settings.seed))
        for step, batch in islice(enumerate(shown), len(losses), None):
            rate = settings.rate * min((step + 1) / rising, (total - step) / max(1, total - rising + 1))
            for group in optimiser.param_groups:
                group["lr"] = rate
            # Seeded by the step, so that dropout goes on after an interruption as it would have without.
            torch.manual_seed(settings.seed * 1_000_003 + step)
            loss = learner.loss(batch)
            value = float(loss.item())
            if not math.isfinite(value):
                hint = "Use a smaller learning rate."
                raise ModelError(f"The loss of step {step + 1} is {value}.", hint=hint)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for _, p in named], settings.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value)
            if on_step:
                on_step(step + 1, total, value)
            if len(losses) % settings.every == 0 or step + 1 == total or asked.is_set():
                _keep(torch, folder, about, named, optimiser, losses)
            if asked.is_set():
                break
    learner.model.eval()
    learner.save(folder)
    return TrainingReport(len(losses), total, tuple(losses), time.perf_counter() - started)


def _resume(torch: Any, folder: Path, about: dict[str, Any], named: Any, optimiser: Any) -> list[float]:
    path = folder / CHECKPOINT
    if not path.exists():
        return []
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        losses, known = [float(x) for x in kept["losses"]], json.loads(kept["about"])
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, UnpicklingError) as error:
        raise ConfigError(f"The checkpoint {path} cannot be read: {error}", hint="Remove it.") from error
    if known != about:
        other = sorted(k for k in {*known, *about} if known.get(k) != about.get(k))
        what = f"The checkpoint in {folder} is of another training: {', '.join(other)} differ."
        raise ConfigError(what, hint="Use another folder, or the settings and questions of before.")
    with torch.no_grad():
        for name, parameter in named:
            parameter.copy_(kept["weights"][name])
    optimiser.load_state_dict(kept["optimiser"])
    return losses


def _keep(
    torch: Any, folder: Path, about: dict[str, Any], named: Any, optimiser: Any, losses: list[float]
) -> None:
    state = {
        "about": json.dumps(about),
        "weights": {name: parameter.detach().cpu() for name, parameter in named},
        "optimiser": optimiser.state_dict(),
        "losses": losses,
    }
    with save(folder / CHECKPOINT) as stream:
        torch.save(state, stream)


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """Return whether Ctrl-C was pressed or SIGTERM sent, instead of ending a step half-way."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def stop(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        with suppress(ValueError):
            for number, handler in before.items():
                signal.signal(number, handler)


def write_folder(model: Any, tokeniser: Any, out: Path) -> Path:
    """Write a folder of transformers with the model and its adapter in one.

    The model holds the adapter no longer. A folder that is there is replaced once the new one is whole.
    """
    draft = out.with_name(f".{out.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    model.merge_and_unload().save_pretrained(str(draft))
    tokeniser.save_pretrained(str(draft))
    shutil.rmtree(out, ignore_errors=True)
    draft.rename(out)
    return out
