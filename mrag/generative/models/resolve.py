"""What decoding asks of a language model, and where models come from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mrag.errors import ModelError
from mrag.generative.models.tokens import Tokeniser

LogProbabilities = npt.NDArray[np.float32]


class Beams(Protocol):
    """Texts that a model writes side by side after one prompt, whose computation they share.

    Attributes:
        log_probabilities: Natural logarithms of the probabilities of each next token, one row for each
            beam, normalised over the vocabulary; float32, shape (beams, vocabulary).
    """

    @property
    def log_probabilities(self) -> LogProbabilities: ...  # noqa: D102

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> LogProbabilities:
        """Replace the beams by others, each a beam of before with one token more.

        Args:
            parents: For each new beam, the row of the beam that it continues; one may be continued
                several times, or not at all.
            tokens: For each new beam, its token.

        Returns:
            The new `log_probabilities`.
        """

    def close(self) -> None:
        """Free what the beams hold; harmless when it has been done."""


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model that gives the probabilities of the next token.

    Attributes:
        name: What it is called, for people.
        tokeniser: Its tokeniser.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def tokeniser(self) -> Tokeniser: ...  # noqa: D102

    def start(self, prompt: Sequence[int]) -> Beams:
        """Read a prompt of at least one token and give one beam behind it.

        Raises:
            ModelError: If the prompt is empty or longer than the model can read.
        """


@runtime_checkable
class PictureModel(LanguageModel, Protocol):
    """A language model that can also see: a picture's features stand before the prompt."""

    def start_with_picture(self, picture: Path, prompt: Sequence[int]) -> Beams:
        """Read a picture and a prompt and give one beam behind them.

        Raises:
            ModelError: If the picture cannot be read, or prompt and picture are too long.
        """


def language_model(name: str, *, n_threads: int = 1) -> LanguageModel:
    """Open a model by its name.

    Args:
        name: `local:PATH.gguf`, a model file run in this process by llama.cpp, or `hf:FOLDER_OR_NAME`,
            a model of Hugging Face transformers.
        n_threads: Threads for the arithmetic; more than there are idle cores makes it many times slower.

    Raises:
        ModelError: If there is no such model, or a package is missing.

    Example:
        >>> language_model("ollama:llama3.2")
        Traceback (most recent call last):
        mrag.errors.ModelError: 'ollama:llama3.2' gives no probabilities of tokens. ...
    """
    kind, _, rest = name.partition(":")
    if kind == "local" and rest:
        from mrag.generative.models.gguf import GgufModel

        return GgufModel(rest, n_threads=n_threads)
    if kind == "hf" and rest:
        from mrag.generative.models.transformers import TransformersModel

        return TransformersModel.open(rest, n_threads=n_threads)
    raise ModelError(
        f"{name!r} gives no probabilities of tokens.",
        hint="Clues are decoded by local:PATH.gguf (a file) or hf:NAME (Hugging Face transformers).",
    )


def log_softmax(logits: npt.NDArray[np.floating]) -> LogProbabilities:
    """Turn logits into logarithms of probabilities, row by row.

    Example:
        >>> log_softmax(np.array([[0.0, 0.0]], np.float32)).round(3).tolist()
        [[-0.6930000185966492, -0.6930000185966492]]
    """
    shifted = logits.astype(np.float32) - logits.max(axis=-1, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    result: LogProbabilities = shifted
    return result
