"""Embedding models on a server, asked by REST: Ollama, OpenAI's protocol, Text Embeddings Inference."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mrag.config import is_loopback, ollama_host
from mrag.errors import ConfigError, ModelError
from mrag.index.embedding.local_models import Vectors, unit
from mrag.redaction import brief, redact_url

if TYPE_CHECKING:
    import requests

__all__ = ["SERVED", "ServedEmbedder", "served"]

SERVED: Final = ("ollama", "openai", "tei")
"""What the names of served models begin with."""

_BATCH = 64
_TRIES = 3
_SECONDS = (5.0, 300.0)
_PREFIXES: Final = (
    (r"e5-.*instruct", "Instruct: Retrieve documents that answer the query\nQuery: ", ""),
    (r"(?:^|[/-])e5-", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"mxbai-embed|bge-(?:small|base|large)-en|snowflake-arctic-embed(?!2)",
     "Represent this sentence for searching relevant passages: ", ""),
)  # fmt: skip
"""What families of models were trained to have before questions and before documents, by their names."""


@dataclass(frozen=True)
class _Protocol:
    """How a server is asked."""

    path: str
    body: Callable[[str, Sequence[str]], dict[str, Any]]
    read: Callable[[Any], Any]


def _in_order(reply: Any) -> list[Any]:
    return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]


_PROTOCOLS: Final = {
    "ollama": _Protocol(
        "/api/embed",
        lambda model, texts: {"model": model, "input": list(texts), "truncate": True},
        lambda reply: reply["embeddings"],
    ),
    "openai": _Protocol(
        "/embeddings",
        lambda model, texts: {"model": model, "input": list(texts), "encoding_format": "float"},
        _in_order,
    ),
    "tei": _Protocol("/embed", lambda model, texts: {"inputs": list(texts), "truncate": True}, list),
}


class ServedEmbedder:
    """A model on a server; vectors are scaled to length 1.

    Models of the families E5, BGE, Nomic and the like get the words before each text that they were trained
    with. The name says model and words, not the server: vectors from two servers can be compared.

    Args:
        kind: `ollama`, `openai` or `tei`.
        model: Name of the model; for `tei` that of what it serves, by which the words are chosen.
        url: Address of the server.
        key: Sent as a bearer token, if there is one.

    Example:
        >>> ServedEmbedder("ollama", "bge-m3", "http://127.0.0.1:11434").name
        'ollama:bge-m3'
        >>> ServedEmbedder("tei", "intfloat/multilingual-e5-small", "http://127.0.0.1:8080").prefixes
        ('query: ', 'passage: ')
    """

    def __init__(self, kind: str, model: str, url: str, key: str | None = None) -> None:
        self._kind, self._model, self._url, self._key = kind, model, url.rstrip("/"), key
        self._dim: int | None = None
        found = (words for pattern, *words in _PREFIXES if re.search(pattern, model.lower()))
        query, document = next(found, ("", ""))
        self.prefixes = (query, document)
        self._session: requests.Session | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_session": None}

    @property
    def name(self) -> str:
        """Kind of server, model, and whether texts get words before them."""
        return f"{self._kind}:{self._model}" + (", prefixed" if any(self.prefixes) else "")

    @property
    def dim(self) -> int:
        """Number of dimensions; asks for the vector of one word if none is known yet."""
        if self._dim is None:
            self._embedded(["dimensions"])
        assert self._dim is not None
        return self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), dim).

        Raises:
            ModelError: If the server fails, or gives something else than a vector per text.
        """
        if not texts:
            return np.empty((0, self.dim), np.float32)
        given = [self.prefixes[1] + text for text in texts]
        parts = [self._embedded(given[start : start + _BATCH]) for start in range(0, len(given), _BATCH)]
        return np.concatenate(parts)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (dim,)."""
        found: Vectors = self._embedded([self.prefixes[0] + text])[0]
        return found

    def _embedded(self, texts: Sequence[str]) -> Vectors:
        protocol = _PROTOCOLS[self._kind]
        # Some servers refuse empty texts, and JSON has no lone surrogates.
        clean = [text.encode("utf-8", "replace").decode() or " " for text in texts]
        reply = self._asked(protocol.path, protocol.body(self._model, clean))
        try:
            vectors = unit(protocol.read(reply))
        except (KeyError, TypeError, ValueError) as error:
            raise self._failed("its answer cannot be read") from error
        dim = self._dim or (vectors.shape[-1] if vectors.ndim == 2 else 0)
        if vectors.shape != (len(texts), dim) or dim == 0:
            raise self._failed(f"it gave shape {vectors.shape} for {len(texts)} texts")
        self._dim = dim
        return vectors

    def _asked(self, path: str, body: dict[str, Any]) -> Any:
        import requests

        if self._session is None:
            self._session = requests.Session()
            self._session.trust_env = not is_loopback(self._url)  # no proxy on this machine
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        for attempt in range(_TRIES):
            try:
                answer = self._session.post(self._url + path, json=body, headers=headers, timeout=_SECONDS)
            except requests.RequestException as error:
                problem = f"it does not answer ({type(error).__name__})"
            else:
                if answer.ok:
                    try:
                        return answer.json()
                    except ValueError as error:
                        raise self._failed("its answer is no JSON") from error
                problem = f"status {answer.status_code}, {brief(answer.text, 200)}"
                if answer.status_code not in (429, 500, 502, 503, 504):
                    break
            if attempt + 1 < _TRIES:
                time.sleep(0.2 * 4**attempt)
        raise self._failed(problem)

    def _failed(self, why: str) -> ModelError:
        return ModelError(
            f"The embedding model {self.name} at {redact_url(self._url)} failed: {why}.",
            hint="Check that its server runs and has the model.",
        )


def served(name: str) -> ServedEmbedder:
    """Return the served model of a name.

    Args:
        name: `ollama:NAME` at OLLAMA_HOST; `openai:NAME` at OPENAI_BASE_URL, else OpenAI's own; or `tei:URL`.

    Raises:
        ConfigError: If no model is named.
        ModelError: If OPENAI_API_KEY is wanted and not set, or what serves at a URL does not say its model.

    Example:
        >>> served("ollama:bge-m3").name
        'ollama:bge-m3'
    """
    import requests

    kind, _, rest = name.partition(":")
    if not rest:
        raise ConfigError(f"{name!r} names no model.", hint=f"Write {kind}:NAME.")
    if kind == "ollama":
        return ServedEmbedder(kind, rest, ollama_host())
    if kind == "openai":
        base, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
        if not base and not key:
            hint = "Set it, or set OPENAI_BASE_URL to a server of your own."
            raise ModelError("OPENAI_API_KEY is not set.", hint=hint)
        return ServedEmbedder(kind, rest, base or "https://api.openai.com/v1", key)
    url = rest.rstrip("/")
    if not re.match(r"https?://[^/\s]", url):
        raise ConfigError(f"{redact_url(url)} is no URL of a server.", hint="Write tei:http://HOST:PORT.")
    key = os.environ.get("MRAG_TEI_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        with requests.Session() as session:
            session.trust_env = not is_loopback(url)
            told = session.get(url + "/info", headers=headers, timeout=_SECONDS).json()
        return ServedEmbedder(kind, str(told["model_id"]), url, key)
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"What serves at {redact_url(url)} does not say which embedding model it has.",
            hint="Start Text Embeddings Inference there, or use openai:NAME for a server of that protocol.",
        ) from error
