"""The training loop: on one processor or GPU, seeded, with checkpoints that a later run goes on from."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Protocol

from mrag.errors import ConfigError, ModelError
from mrag.generative.training.backbone import library
from mrag.generative.training.data import TrainingPair, batches, digest
from mrag.storage.files import saved_text

CHECKPOINT = "checkpoint.pt"
LOG = "log.jsonl"


class ClueLearner(Protocol):
    """What is trained: parts that are frozen and parts that learn."""

    @property
    def about(self) -> dict[str, Any]:
        """What a checkpoint must agree on to be gone on with."""

    def modules(self) -> list[Any]:
        """Return the torch modules; parameters that require a gradient learn."""

    def loss(self, pairs: Sequence[TrainingPair]) -> Any:
        """Return the mean loss of a batch, as a tensor."""

    def save(self, folder: Path) -> None:
        """Write what was learnt."""


@dataclass(frozen=True)
class TrainingSettings:
    """The knobs of training.

    Args:
        epochs: How often all pairs are shown.
        batch: Pairs of a step.
        rate: Learning rate of AdamW, reached after the warm-up and falling to 0 in a straight line.
        warm_up: Share of the steps in which the rate rises, from 0 to 1.
        decay: Weight decay.
        clip: Largest norm of the gradient.
        seed: Of order and dropout.
        every: Steps between checkpoints.
        threads: Of torch; more than there are idle cores makes it many times slower. None leaves it alone.
        device: `cpu`, `cuda`, or `auto` for a GPU if there is one.

    Raises:
        ConfigError: If a knob is out of range.
    """

    epochs: int = 3
    batch: int = 8
    rate: float = 3e-4
    warm_up: float = 0.05
    decay: float = 0.0
    clip: float = 1.0
    seed: int = 0
    every: int = 50
    threads: int | None = 1
    device: str = "auto"

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
    """What training came to.

    Attributes:
        steps: Steps done, those of earlier runs too.
        total: Steps that there are.
        losses: Loss of each step done.
        seconds: What this run took.
        interrupted: Whether it was stopped before the end.
    """

    steps: int
    total: int
    losses: tuple[float, ...]
    seconds: float
    interrupted: bool


def train(
    learner: ClueLearner,
    pairs: Sequence[TrainingPair],
    folder: Path,
    settings: TrainingSettings | None = None,
    *,
    on_step: Callable[[int, int, float], None] | None = None,
) -> TrainingReport:
    """Train, going on from the checkpoint in the folder if there is one.

    A run that is stopped and gone on with gives the same losses as one that is not. Ctrl-C or SIGTERM
    ends the step that is on its way, keeps a checkpoint and returns; a second one ends at once, with the
    last checkpoint kept. `log.jsonl` in the folder gets a line of JSON for each step.

    Args:
        learner: What is trained.
        pairs: What it learns from.
        folder: Of checkpoint, log and result; made if it is not there.
        settings: The knobs.
        on_step: Called with the steps done, all steps and the loss.

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
    modules = learner.modules()
    for module in modules:
        module.to(device).train()
    named = [
        (f"{i}.{n}", p) for i, m in enumerate(modules) for n, p in m.named_parameters() if p.requires_grad
    ]
    optimiser = torch.optim.AdamW([p for _, p in named], lr=settings.rate, weight_decay=settings.decay)
    each = -(-len(pairs) // settings.batch)
    total = each * settings.epochs
    about = {**learner.about, "pairs": digest(pairs), **asdict(settings)}
    for free in ("threads", "device", "every"):
        del about[free]
    folder.mkdir(parents=True, exist_ok=True)
    losses = _resumed(torch, folder, about, named, optimiser)
    _cut(folder / LOG, len(losses))
    started, kept = time.perf_counter(), len(losses)
    with (folder / LOG).open("a", encoding="utf-8") as log, _stopping() as asked:
        for step, batch in _steps(pairs, settings, len(losses)):
            rate = settings.rate * _share(step, total, settings.warm_up)
            for group in optimiser.param_groups:
                group["lr"] = rate
            # Seeded by the step, so that dropout goes on after an interruption as it would have without.
            torch.manual_seed(settings.seed * 1_000_003 + step)
            loss = learner.loss(batch)
            value = float(loss.item())
            if value != value or value == float("inf"):
                raise ModelError(
                    f"The loss of step {step + 1} is {value}.", hint="Use a smaller learning rate."
                )
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for _, p in named], settings.clip)
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
            losses.append(value)
            line = {
                "step": step + 1,
                "epoch": step // each + 1,
                "loss": round(value, 6),
                "rate": rate,
                "pairs": len(batch),
                "seconds": round(time.perf_counter() - started, 2),
            }
            log.write(json.dumps(line) + "\n")
            log.flush()
            if on_step:
                on_step(step + 1, total, value)
            if len(losses) % settings.every == 0:
                _keep(torch, folder, about, named, optimiser, losses)
                kept = len(losses)
            if asked.is_set():
                break
    for module in modules:
        module.eval()
    if kept < len(losses):
        _keep(torch, folder, about, named, optimiser, losses)
    learner.save(folder)
    seconds = time.perf_counter() - started
    return TrainingReport(len(losses), total, tuple(losses), seconds, len(losses) < total)


def _steps(
    pairs: Sequence[TrainingPair], settings: TrainingSettings, done: int
) -> Iterator[tuple[int, list[TrainingPair]]]:
    step = 0
    for epoch in range(settings.epochs):
        for batch in batches(pairs, settings.batch, epoch, settings.seed):
            if step >= done:
                yield step, batch
            step += 1


def _share(step: int, total: int, warm_up: float) -> float:
    rising = max(1, round(total * warm_up))
    return min((step + 1) / rising, (total - step) / max(1, total - rising + 1))


def _resumed(torch: Any, folder: Path, about: dict[str, Any], named: Any, optimiser: Any) -> list[float]:
    path = folder / CHECKPOINT
    if not path.exists():
        return []
    try:
        kept = torch.load(path, map_location="cpu", weights_only=True)
        losses, known = [float(x) for x in kept["losses"]], json.loads(kept["about"])
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, UnpicklingError) as error:
        raise ConfigError(f"The checkpoint {path} cannot be read: {error}", hint="Remove it.") from error
    if known != json.loads(json.dumps(about)):
        other = sorted(k for k in {*known, *about} if known.get(k) != json.loads(json.dumps(about)).get(k))
        raise ConfigError(
            f"The checkpoint in {folder} is of another training: {', '.join(other)} differ.",
            hint="Use another folder, or the settings and questions of before.",
        )
    with torch.no_grad():
        for name, parameter in named:
            parameter.copy_(kept["weights"][name])
    optimiser.load_state_dict(kept["optimiser"])
    return losses


def _keep(
    torch: Any, folder: Path, about: dict[str, Any], named: Any, optimiser: Any, losses: list[float]
) -> None:
    weights = {name: parameter.detach().cpu() for name, parameter in named}
    state = {
        "about": json.dumps(about),
        "weights": weights,
        "optimiser": optimiser.state_dict(),
        "losses": losses,
    }
    draft = folder / f".{CHECKPOINT}.new"
    torch.save(state, draft)
    with draft.open("rb+") as written:
        os.fsync(written.fileno())
    draft.replace(folder / CHECKPOINT)


def _cut(log: Path, steps: int) -> None:
    """Take lines of steps that no checkpoint holds out of the log: they are done again."""
    if log.exists():
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)[:steps]
        saved_text(log, "".join(lines))


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
