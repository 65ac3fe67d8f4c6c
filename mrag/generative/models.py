"""Language models that give the probabilities of the next token, and their tokenisers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mrag.errors import ModelError


@runtime_checkable
class Tokeniser(Protocol):
    """Turns text into token ids and back.

    Attributes:
        name: What it is called, for people.
        fingerprint: Differs between tokenisers that give other ids; kept with an index.
        vocabulary: Number of ids; each is below it.
        end: Id of the token that ends a text.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102
    @property
    def vocabulary(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text, with no beginning or end added and no control tokens read from it."""

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of ids; control tokens give none."""


class ByteTokeniser:
    """Takes each byte of UTF-8 as a token: exact for every text, needs no model.

    Example:
        >>> tokens = ByteTokeniser()
        >>> tokens.encode(" é"), tokens.decode([32, 195, 169, tokens.end])
        ([32, 195, 169], ' é')
    """

    name: Final = "bytes"
    fingerprint: Final = hashlib.blake2b(b"bytes", digest_size=16).hexdigest()
    vocabulary: Final = 257
    end: Final = 256

    def encode(self, text: str) -> list[int]:
        """Return the bytes of a text."""
        return list(text.encode("utf-8", "surrogatepass"))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of bytes; what is no UTF-8, as in half a letter, shows as a replacement sign."""
        return bytes(i for i in ids if i < 256).decode("utf-8", "replace")


def document_tokens(tokeniser: Tokeniser, text: str) -> list[int]:
    """Return the tokens of a document's text as it is indexed: white space joined, one space before it.

    With the space a document's first words are the tokens that a model writes after a prompt without one.
    """
    return tokeniser.encode(" " + " ".join(text.split()))


def clue_text(tokeniser: Tokeniser, tokens: Sequence[int]) -> str:
    """Return a clue as people read it."""
    return tokeniser.decode(t for t in tokens if t != tokeniser.end).strip()


LogProbabilities = npt.NDArray[np.float32]


class Beams(Protocol):
    """Texts that a model writes side by side after one prompt, whose computation they share."""

    @property
    def log_probabilities(self) -> LogProbabilities: ...  # noqa: D102

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> LogProbabilities:
        """Replace the beams by others, each a beam of before with one token more."""

    def close(self) -> None:
        """Free what the beams hold; harmless when it has been done."""


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model that gives the probabilities of the next token."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def tokeniser(self) -> Tokeniser: ...  # noqa: D102

    def start(self, prompt: Sequence[int]) -> Beams:
        """Read a prompt of at least one token and give one beam behind it.

        Raises:
            ModelError: If the prompt is empty or longer than the model can read.
        """


def language_model(name: str) -> LanguageModel:
    """Open a model by its name.

    Args:
        name: `local:PATH.gguf`, a model file run in this process by llama.cpp, or `hf:FOLDER_OR_NAME`,
            a model of Hugging Face transformers.

    Raises:
        ModelError: If there is no such model, or a package is missing.

    Example:
        >>> language_model("ollama:llama3.2")
        Traceback (most recent call last):
        mrag.errors.ModelError: 'ollama:llama3.2' gives no probabilities of tokens. ...
    """
    kind, _, rest = name.partition(":")
    if kind == "local" and rest:
        from mrag.generative.llama import GgufModel

        return GgufModel(rest)
    if kind == "hf" and rest:
        return TransformersModel.open(rest)
    hint = "Clues are decoded by local:PATH.gguf (a file) or hf:NAME (Hugging Face transformers)."
    raise ModelError(f"{name!r} gives no probabilities of tokens.", hint=hint)


_INSTALL: Final = "pip install 'mrag[generative-training]'"
# What models call their cache: the second is the older name, which later releases refuse.
_CACHES: Final = ("cache", "past_key_values")


def library(name: str) -> Any:
    """Import a package that models of transformers and their training need."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelError(f"{name.partition('.')[0]} is not installed.", hint=_INSTALL) from error


def load_pretrained(name: str, source: str, **options: Any) -> tuple[Any, Any]:
    """Return a causal model of transformers and its tokeniser; `name` is what a person called it."""
    library("torch")
    transformers, options = library("transformers"), {"trust_remote_code": False, **options}
    try:
        # Tokenisers have no numbers.
        words = {key: value for key, value in options.items() if key != "dtype"}
        tokeniser = transformers.AutoTokenizer.from_pretrained(source, **words)
        return transformers.AutoModelForCausalLM.from_pretrained(source, **options), tokeniser
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        hint = "Give a model's folder, or its name on the hub."
        raise ModelError(f"transformers cannot load {name}: {first}", hint=hint) from error


def checked_prompt(prompt: Sequence[int], name: str, vocabulary: int) -> list[int]:
    """Return the tokens of a prompt."""
    tokens = [int(token) for token in prompt]
    if not tokens:
        raise ModelError("The prompt is empty.", hint="Give one token at least.")
    if any(not 0 <= token < vocabulary for token in tokens):
        raise ModelError(f"The prompt has tokens that {name} lacks.", hint="Use its own tokeniser.")
    return tokens


class TransformersTokeniser:
    """A tokeniser of transformers."""

    def __init__(self, tokeniser: Any, vocabulary: int, name: str) -> None:
        self.own = tokeniser
        self.vocabulary = vocabulary
        self.name = name
        if tokeniser.eos_token_id is None:
            raise ModelError(f"The tokeniser of {name} has no end token.", hint="Set its eos_token.")
        self.end = int(tokeniser.eos_token_id)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all tokens."""
        digest = hashlib.blake2b(str(self.vocabulary).encode(), digest_size=16)
        for token, number in sorted(self.own.get_vocab().items(), key=lambda item: (item[1], item[0])):
            digest.update(f"{number} {token}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; what looks like a control token is text."""
        tokens: list[int] = self.own.encode(text, add_special_tokens=False, split_special_tokens=True)
        return tokens

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of tokens; control tokens give none."""
        text: str = self.own.decode(
            [int(i) for i in ids], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text


class TransformersModel:
    """A causal model of transformers."""

    def __init__(self, model: Any, tokeniser: Any, name: str = "transformers") -> None:
        self._torch = library("torch")
        self.model = model.eval()
        self.name = name
        vocabulary = int(model.get_output_embeddings().weight.shape[0])
        self.tokeniser = TransformersTokeniser(tokeniser, vocabulary, name)

    @classmethod
    def open(cls, name: str) -> TransformersModel:
        """Load a model; more threads than there are idle cores make it many times slower."""
        library("torch").set_num_threads(1)
        return cls(*load_pretrained(name, name), name)

    def start(self, prompt: Sequence[int]) -> TransformersBeams:
        """Read a prompt and give one beam behind it."""
        return TransformersBeams(self, self.embed(prompt))

    def embed(self, prompt: Sequence[int]) -> Any:
        """Return the embeddings of a prompt's tokens, a tensor of shape (1, tokens, width)."""
        tokens = checked_prompt(prompt, self.name, self.tokeniser.vocabulary)
        limit = getattr(self.model.config, "max_position_embeddings", None)
        if limit is not None and len(tokens) >= limit:
            what = f"The prompt has {len(tokens)} tokens, and {self.name} reads {limit} at most."
            raise ModelError(what, hint="Shorten the prompt.")
        torch = self._torch
        with torch.inference_mode():
            ids = torch.tensor([tokens], device=self.model.device)
            return self.model.get_input_embeddings()(ids)


class TransformersBeams:
    """Beams of a model of transformers: rows of one batch, behind a prompt that was read once."""

    def __init__(self, model: TransformersModel, embeddings: Any) -> None:
        self._model = model
        self._cache: dict[str, Any] = {}  # under the name that the model gives it
        self.log_probabilities = self._run(inputs_embeds=embeddings)

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> LogProbabilities:
        """Replace the beams by others, each a beam of before with one token more."""
        torch = self._model._torch
        if not len(parents):
            self.log_probabilities = np.empty((0, self._model.tokeniser.vocabulary), np.float32)
            return self.log_probabilities
        device = self._model.model.device
        with torch.inference_mode():
            for cache in self._cache.values():
                cache.reorder_cache(torch.tensor(list(parents), device=device))
        ids = torch.tensor([[int(t)] for t in tokens], device=device)
        self.log_probabilities = self._run(input_ids=ids)
        return self.log_probabilities

    def close(self) -> None:
        """Free the memory of what was read; harmless when it has been done."""
        self._cache = {}

    def _run(self, **inputs: Any) -> LogProbabilities:
        torch = self._model._torch
        with torch.inference_mode():
            output = self._model.model(**inputs, **self._cache, use_cache=True, logits_to_keep=1)
            name = next((name for name in _CACHES if output.get(name) is not None), None)
            if name is None:
                hint = "Use another model."
                raise ModelError(f"{self._model.name} keeps no cache of what it read.", hint=hint)
            self._cache = {name: output[name]}
            rows: LogProbabilities = torch.log_softmax(output.logits[:, -1].float(), -1).cpu().numpy()
        return rows
