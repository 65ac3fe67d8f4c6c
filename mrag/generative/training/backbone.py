"""Opens the models that are trained, and their tokenisers, by Hugging Face transformers."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mrag.errors import ModelError
from mrag.generative.models.transformers import TransformersTokeniser

_HINT = "pip install 'mrag[generative-training]'"


def library(name: str) -> Any:
    """Import a package that training needs.

    Raises:
        ModelError: If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ModelError(f"Training needs {name}, which is not installed.", hint=_HINT) from error


@dataclass(frozen=True)
class Backbone:
    """A model that is trained and its tokeniser.

    Attributes:
        name: Under which it was opened.
        model: A causal language model of transformers, in float32.
        tokeniser: Its tokeniser.
        own: The same as an object of transformers.
        gguf: The file that it came from, if it is a GGUF file.
    """

    name: str
    model: Any
    tokeniser: TransformersTokeniser
    own: Any
    gguf: Path | None = None


def open_backbone(name: str) -> Backbone:
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
    path = Path(rest)
    if kind == "local" and not path.is_file():
        raise ModelError(f"There is no model file {rest}.")
    torch, transformers = library("torch"), library("transformers")
    where: dict[str, Any] = {}
    source = rest
    if kind == "local":
        library("gguf")
        library("accelerate")
        source, where = str(path.parent), {"gguf_file": path.name}
    try:
        # The user names the model, and gets what is current; code that comes with a model is not run.
        inner = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False, **where)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=torch.float32, trust_remote_code=False, **where
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(f"transformers cannot open {name}: {error}") from error
    vocabulary = int(model.get_output_embeddings().weight.shape[0])
    tokeniser = TransformersTokeniser(inner, vocabulary, name)
    return Backbone(name, model, tokeniser, inner, path if kind == "local" else None)
