"""Low-rank adaptation of a language model to writing clues (Hu et al., 2022), by peft."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mrag.errors import ConfigError, ModelError
from mrag.generative.training.backbone import library
from mrag.generative.training.data import TrainingPair


@dataclass(frozen=True)
class LoraSettings:
    """The knobs of the adaptation; the defaults are those of the published code.

    Args:
        rank: Of the matrices, 1 or more.
        alpha: Their scale times the rank.
        dropout: Share of their inputs that is left out in training, from 0 to below 1.
        modules: Names of the linear layers that are adapted.

    Raises:
        ConfigError: If a knob is out of range.
    """

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    modules: tuple[str, ...] = ("q_proj", "v_proj")

    def __post_init__(self) -> None:
        if self.rank < 1 or self.alpha < 1 or not 0 <= self.dropout < 1 or not self.modules:
            raise ConfigError(
                f"A model cannot be adapted with {self}.", hint="Rank 8 and alpha 16 are usual."
            )


class LoraLearner:
    """A language model with an adapter that learns to write clues; the model itself is frozen.

    Args:
        model: A causal language model of transformers. The adapter is put into it.
        settings: The knobs.
        seed: Of the adapter's first weights.

    Raises:
        ConfigError: If the model has no layer of the names in `settings.modules`.
        ModelError: If a package is missing.
    """

    kind = "lora"

    def __init__(self, model: Any, settings: LoraSettings | None = None, *, seed: int = 0) -> None:
        self.settings = settings or LoraSettings()
        torch, peft = library("torch"), library("peft")
        torch.manual_seed(seed)
        known = peft.LoraConfig(
            r=self.settings.rank,
            lora_alpha=self.settings.alpha,
            lora_dropout=self.settings.dropout,
            target_modules=list(self.settings.modules),
            bias="none",
            task_type="CAUSAL_LM",
        )
        try:
            with quiet():
                self.model = peft.get_peft_model(model, known)
        except ValueError as error:
            raise ConfigError(f"The model cannot be adapted: {error}") from error

    @property
    def about(self) -> dict[str, Any]:
        """What a checkpoint must agree on to be gone on with."""
        return {"kind": self.kind, **asdict(self.settings), "modules": list(self.settings.modules)}

    def modules(self) -> list[Any]:
        """Return the torch modules, which are put on the device and into training mode."""
        return [self.model]

    def loss(self, pairs: Sequence[TrainingPair]) -> Any:
        """Return the mean loss of the clues' tokens, as a tensor."""
        return clue_loss(self.model, pairs)

    def save(self, folder: Path) -> None:
        """Write the adapter as peft does."""
        with quiet():
            self.model.save_pretrained(str(folder), save_embedding_layers=False)


def padded(pairs: Sequence[TrainingPair]) -> tuple[list[list[int]], list[list[int]], list[list[int]], int]:
    """Lay pairs side by side, so that the clues begin at one column.

    Returns:
        Ids, mask and targets, one row a pair, and the number of columns before the clues. A target of
        -100 does not count.

    Example:
        >>> padded([TrainingPair((1, 2), (3,)), TrainingPair((4,), (5, 6))])
        ([[1, 2, 3, 0], [0, 4, 5, 6]], [[1, 1, 1, 0], [0, 1, 1, 1]], [[3, -100], [5, 6]], 2)
    """
    ahead = max(len(pair.prompt) for pair in pairs)
    after = max(len(pair.clue) for pair in pairs)
    ids, mask, targets = [], [], []
    for pair in pairs:
        left, right = ahead - len(pair.prompt), after - len(pair.clue)
        ids.append([0] * left + [*pair.prompt, *pair.clue] + [0] * right)
        mask.append([0] * left + [1] * (len(pair.prompt) + len(pair.clue)) + [0] * right)
        targets.append([*pair.clue] + [-100] * right)
    return ids, mask, targets, ahead


def clue_loss(model: Any, pairs: Sequence[TrainingPair], prefix: Any = None, prefix_mask: Any = None) -> Any:
    """Return the mean loss of the clues' tokens under a model.

    Args:
        model: A causal language model of transformers.
        pairs: At least one.
        prefix: Embeddings that stand before the prompts, shape (pairs, length, width); None for none.
        prefix_mask: 1 for those that are there and 0 for padding, shape (pairs, length).
    """
    torch = library("torch")
    rows, kept, wanted, ahead = padded(pairs)
    if not ahead:
        raise ModelError("A clue needs a prompt before it.")
    device = next(model.parameters()).device
    ids = torch.tensor(rows, device=device)
    mask = torch.tensor(kept, device=device)
    targets = torch.tensor(wanted, device=device)
    given: dict[str, Any] = {"input_ids": ids}
    if prefix is not None:
        given = {"inputs_embeds": torch.cat([prefix, model.get_input_embeddings()(ids)], 1)}
        mask = torch.cat([prefix_mask.to(mask), mask], 1)
    # Only what the loss looks at passes through the vocabulary, which is the dearest layer of a small model.
    output = model(
        **given,
        attention_mask=mask,
        position_ids=(mask.cumsum(1) - 1).clamp(min=0),
        logits_to_keep=targets.shape[1] + 1,
        use_cache=False,
    )
    logits = output.logits[:, :-1]
    return torch.nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=-100
    )


def merged(model: Any, adapter: Path) -> Any:
    """Return a language model with an adapter's weights added to its own.

    Args:
        model: The causal language model of transformers that was adapted.
        adapter: The folder that `LoraLearner.save` wrote.

    Raises:
        ModelError: If there is no adapter there, or it does not fit the model.
    """
    peft = library("peft")
    if not (adapter / "adapter_config.json").is_file():
        raise ModelError(f"There is no adapter in {adapter}.", hint="Train one: mrag train generative.")
    try:
        with quiet():
            return peft.PeftModel.from_pretrained(model, str(adapter)).merge_and_unload()
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"The adapter in {adapter} does not fit the model: {error}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back what peft and transformers have to say to each other about names that will go."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield
