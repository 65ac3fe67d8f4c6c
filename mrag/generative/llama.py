"""A model file run in this process by llama.cpp, with the probabilities of every token.

Beams are sequences of one context and share the memory of what they have in common: a prompt is read once,
and a step is one pass over all beams.
"""

from __future__ import annotations

import atexit
import ctypes as c
import hashlib
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.special import log_softmax

from mrag._tables import tables
from mrag.errors import ModelError
from mrag.generative.models import LogProbabilities, checked_prompt

_DECLARED: Final = tables("generative/llama.toml")
VERSION: Final[str] = _DECLARED["version"]  # The version of xllamacpp that is described here

_MODEL: Final[str] = _DECLARED["model"]
_CONTEXT: Final[str] = _DECLARED["context"]
_INSTALL: Final = "pip install 'mrag[local]'"
_TOKENS, _FLOATS = c.POINTER(c.c_int32), c.POINTER(c.c_float)
_TYPES: Final[dict[str, Any]] = {
    "P": c.c_void_p, "i32": c.c_int32, "u32": c.c_uint32, "int": c.c_int, "bool": c.c_bool,
    "float": c.c_float, "size": c.c_size_t, "text": c.c_char_p, "tokens": _TOKENS, "floats": _FLOATS,
}  # fmt: skip


def _fields(declarations: str) -> Iterator[tuple[str, Any, str | None]]:
    """Yield the names, types and defaults that a structure is declared with."""
    for declaration in declarations.split(";"):
        kind, _, names = declaration.strip().partition(" ")
        for name in names.split(",") if kind else ():
            field, given, default = name.strip().partition("=")
            yield field, _TYPES[kind], default if given else None


# Room behind, so that a longer structure cannot overrun memory before the check has seen it.
_SPARE: Final = ("spare", c.c_char * 256)


class ModelParams(c.Structure):
    """How a model is loaded (`llama_model_params`)."""

    _fields_ = [*((name, kind) for name, kind, _ in _fields(_MODEL)), _SPARE]


class ContextParams(c.Structure):
    """How a model is run (`llama_context_params`)."""

    _fields_ = [*((name, kind) for name, kind, _ in _fields(_CONTEXT)), _SPARE]


class Batch(c.Structure):
    """Tokens to be read at once (`llama_batch`)."""

    _fields_ = (
        ("n_tokens", c.c_int32), ("token", _TOKENS), ("embd", _FLOATS), ("pos", _TOKENS),
        ("n_seq_id", _TOKENS), ("seq_id", c.POINTER(_TOKENS)), ("logits", c.POINTER(c.c_int8)),
    )  # fmt: skip


_TYPES.update(model=ModelParams, context=ContextParams, batch=Batch)

_Log = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


def _silence(level: int, text: bytes, data: Any) -> None:
    """Take what llama.cpp would write to standard error."""


_quiet = _Log(_silence)


@cache
def library() -> Any:
    """Load the functions, once for each process."""
    spec = find_spec("xllamacpp")
    if spec is None or not spec.submodule_search_locations:
        raise ModelError("xllamacpp is not installed, and model files need it.", hint=_INSTALL)
    if version("xllamacpp") != VERSION:
        what = f"Clues can be decoded with xllamacpp {VERSION}, and {version('xllamacpp')} is installed."
        hint = f"pip install xllamacpp=={VERSION}, or use a model of Hugging Face (hf:NAME)."
        raise ModelError(what, hint=hint)
    folder = Path(next(iter(spec.submodule_search_locations)))
    files = sorted(file for file in folder.glob("xllamacpp.*") if file.suffix in (".so", ".pyd"))
    if not files:
        raise ModelError(f"There is no library of llama.cpp in {folder}.", hint=_INSTALL)
    try:
        lib = c.CDLL(str(files[0]))
        for name, signature in _DECLARED["functions"].items():
            function, (arguments, _, result) = getattr(lib, name), signature.partition("->")
            function.restype = _TYPES.get(result.strip())
            function.argtypes = [_TYPES[kind] for kind in arguments.split()]
    except (OSError, AttributeError) as error:
        hint = "Use a model of Hugging Face instead (hf:NAME)."
        raise ModelError(f"The library of llama.cpp cannot be used here: {error}.", hint=hint) from error
    for params, declared in (
        (lib.llama_model_default_params(), _MODEL),
        (lib.llama_context_default_params(), _CONTEXT),
    ):
        for name, _, default in _fields(declared):
            if default is not None and getattr(params, name) != (float(default) if default else None):
                what = f"This build of xllamacpp is not as described: {name} is {getattr(params, name)!r}."
                raise ModelError(what, hint=f"Install the published wheel: pip install xllamacpp=={VERSION}.")
    lib.llama_log_set(c.cast(_quiet, c.c_void_p), None)
    # No call back into Python once it has begun to end.
    atexit.register(lib.llama_log_set, None, None)
    lib.llama_backend_init()
    return lib


_SEQUENCES: Final = 128
_LEAST: Final = 256
_BATCH: Final = 512


class GgufTokeniser:
    """The tokeniser of a model file."""

    def __init__(self, model: GgufModel) -> None:
        self._model = model
        self.name = model.name
        self.vocabulary: int = model.lib.llama_vocab_n_tokens(model.vocab)
        self.end: int = model.lib.llama_vocab_eos(model.vocab)
        if self.end < 0:
            raise ModelError(f"{model.name} has no end token.", hint="Use another model file.")

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all tokens."""
        digest = hashlib.blake2b(digest_size=16)
        for token in range(self.vocabulary):
            digest.update(self._model.lib.llama_vocab_get_text(self._model.vocab, token) or b"")
            digest.update(b"\0")
        return digest.hexdigest()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; what looks like a control token is text."""
        lib, vocab = self._model.lib, self._model.alive()
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        tokens = (c.c_int32 * room)()
        count = lib.llama_tokenize(vocab, data, len(data), tokens, room, False, False)
        if count < 0:
            raise ModelError("The text cannot be tokenised.", hint="Shorten it.")
        return list(tokens[:count])

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of tokens; control tokens give none."""
        lib, vocab = self._model.lib, self._model.alive()
        given = [int(i) for i in ids]
        if any(not 0 <= i < self.vocabulary for i in given):
            raise ModelError(f"A token is not one of the {self.vocabulary:,} of {self.name}.")
        tokens = (c.c_int32 * len(given))(*given)
        room = 32 + 16 * len(given)
        while True:
            text = c.create_string_buffer(room)
            count = lib.llama_detokenize(vocab, tokens, len(given), text, room, False, False)
            if count >= 0:
                return text.raw[:count].decode("utf-8", "replace")
            room = -count


class GgufModel:
    """A model file in GGUF format, run in this process."""

    def __init__(self, path: str | Path, *, n_ctx: int = 4096) -> None:
        from mrag.generation.models import check

        self.path = check(path)
        if n_ctx < _LEAST:
            raise ModelError(f"{n_ctx} tokens are too few to decode with.", hint=f"Use {_LEAST} at least.")
        self.name = self.path.name
        self.lib: Any = library()
        self._lock = threading.RLock()
        how = self.lib.llama_model_default_params()
        how.n_gpu_layers = 0
        model = self.lib.llama_model_load_from_file(str(self.path).encode(), how)
        if not model:
            hint = "The file may be cut short, of a newer format, or too large for the memory."
            raise ModelError(f"llama.cpp cannot load {self.path}.", hint=hint)
        self.vocab = self.lib.llama_model_get_vocab(model)
        params = self.lib.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = _BATCH
        params.n_seq_max = _SEQUENCES
        params.n_threads = params.n_threads_batch = 1  # more than idle cores are slower
        # One memory for all sequences, so that copies cost nothing. Flash attention sums in the order of its
        # cells, so that a beam's probabilities depend on its neighbours much more than without.
        params.kv_unified = True
        params.flash_attn_type = 0
        context = self.lib.llama_init_from_model(model, params)
        if not context:
            self.lib.llama_model_free(model)
            hint = "It may need more memory, or fewer n_ctx."
            raise ModelError(f"llama.cpp cannot run {self.path}.", hint=hint)
        self._context = context
        self._memory = self.lib.llama_get_memory(context)
        self._batch: Batch = self.lib.llama_batch_init(_BATCH, 0, 1)
        self._end = weakref.finalize(self, _free, self.lib, model, context, self._batch)
        self.n_ctx = int(self.lib.llama_n_ctx(context))
        self._free = list(range(params.n_seq_max))
        self.tokeniser = GgufTokeniser(self)

    def alive(self) -> Any:
        """Return the vocabulary."""
        if not self._end.alive:
            raise ModelError(f"The model {self.name} has been closed.", hint="Open it again.")
        return self.vocab

    def start(self, prompt: Sequence[int]) -> GgufBeams:
        """Read a prompt and give one beam behind it."""
        tokens = checked_prompt(prompt, self.name, self.tokeniser.vocabulary)
        if len(tokens) >= self.n_ctx:
            what = f"The prompt has {len(tokens)} tokens, and {self.name} is opened for {self.n_ctx}."
            raise ModelError(what, hint="Open the model with a larger n_ctx, or shorten the prompt.")
        with self._lock:
            self.alive()
            if len(self._free) == _SEQUENCES:
                # The same cells for the same work: the same probabilities to the last bit.
                self.lib.llama_memory_clear(self._memory, False)
                self._free = list(range(_SEQUENCES))
            sequence = self.take()
            try:
                for at in range(0, len(tokens), _BATCH):
                    part = tokens[at : at + _BATCH]
                    rows = self.decode([(t, at + i, sequence) for i, t in enumerate(part)], last=True)
            except BaseException:
                self.give(sequence)
                raise
            return GgufBeams(self, [sequence], [len(tokens)], rows)

    def take(self) -> int:
        """Take a free sequence."""
        if not self._free:
            hint = "Close beams, or use fewer."
            raise ModelError(f"{self.name} writes {_SEQUENCES} beams at once, and no more.", hint=hint)
        return self._free.pop()

    def give(self, sequence: int) -> None:
        """Return a sequence back."""
        if self._end.alive:
            self.lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            self._free.append(sequence)

    def decode(self, rows: Sequence[tuple[int, int, int]], *, last: bool = False) -> LogProbabilities:
        """Read tokens, each at a position of a sequence."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = not last or i == len(rows) - 1
        result = self.lib.llama_decode(self._context, batch)
        if result:
            raise ModelError(
                f"{self.name} has no room for {len(rows)} more tokens."
                if result == 1
                else f"llama.cpp could not read {len(rows)} tokens (code {result}).",
                hint="Open the model with a larger n_ctx, or use fewer beams.",
            )
        shape = (self.tokeniser.vocabulary,)
        wanted = [len(rows) - 1] if last else range(len(rows))
        scores = (self.lib.llama_get_logits_ith(self._context, i) for i in wanted)
        logits: LogProbabilities = log_softmax([np.ctypeslib.as_array(row, shape) for row in scores], axis=-1)
        return logits

    def close(self) -> None:
        """Free the model's memory; harmless when it has been done."""
        with self._lock:
            self._end()

    def __enter__(self) -> GgufModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class GgufBeams:
    """Beams of a model file: sequences that share what they have in common."""

    def __init__(
        self, model: GgufModel, sequences: list[int], lengths: list[int], rows: LogProbabilities
    ) -> None:
        self._model = model
        self._sequences = sequences
        self._lengths = lengths
        self.log_probabilities = rows

    def advance(self, parents: Sequence[int], tokens: Sequence[int]) -> LogProbabilities:
        """Replace the beams by others, each a beam of before with one token more."""
        model = self._model
        with model._lock:
            model.alive()
            missing = len(parents) - len(set(parents))
            if missing > len(model._free):
                hint = "Close other beams, or use fewer."
                raise ModelError(f"{model.name} writes {_SEQUENCES} beams at once, and no more.", hint=hint)
            first: set[int] = set()
            sequences, lengths = [], []
            for parent in parents:
                # A beam's first heir goes on in its place; others get copies, which share its memory.
                sequence = self._sequences[parent]
                if parent in first:
                    sequence = model.take()
                    model.lib.llama_memory_seq_cp(model._memory, self._sequences[parent], sequence, -1, -1)
                first.add(parent)
                sequences.append(sequence)
                lengths.append(self._lengths[parent] + 1)
            for at, sequence in enumerate(self._sequences):
                if at not in first:
                    model.give(sequence)
            self._sequences, self._lengths = sequences, lengths
            rows = [(int(t), n - 1, s) for t, n, s in zip(tokens, lengths, sequences, strict=True)]
            if rows:
                self.log_probabilities = model.decode(rows)
            else:
                self.log_probabilities = np.empty((0, model.tokeniser.vocabulary), np.float32)
            return self.log_probabilities

    def close(self) -> None:
        """Return the sequences back; harmless when it has been done."""
        with self._model._lock:
            while self._sequences:
                self._model.give(self._sequences.pop())


def _free(lib: Any, model: Any, context: Any, batch: Batch) -> None:
    lib.llama_batch_free(batch)
    lib.llama_free(context)
    lib.llama_model_free(model)
