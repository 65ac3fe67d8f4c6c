"""A model file run in this process by llama.cpp, with the probabilities of every token.

Beams are sequences of one context and share the memory of what they have in common: a prompt is read once,
and a step is one pass over all beams.
"""

from __future__ import annotations

import ctypes as c
import hashlib
import threading
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np

from mrag.errors import ModelError
from mrag.generative.models.llama_c import Batch, library
from mrag.generative.models.resolve import LogProbabilities, log_softmax

_SEQUENCES: Final = 128
_LEAST: Final = 256
_BATCH: Final = 512


class GgufTokeniser:
    """The tokeniser of a model file.

    Args:
        model: The model, whose functions it uses.
    """

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
        found = hashlib.blake2b(digest_size=16)
        for token in range(self.vocabulary):
            found.update(self._model.lib.llama_vocab_get_text(self._model.vocab, token) or b"")
            found.update(b"\0")
        return found.hexdigest()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; what looks like a control token is text."""
        lib, vocab = self._model.lib, self._model.alive()
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        tokens = (c.c_int32 * room)()
        found = lib.llama_tokenize(vocab, data, len(data), tokens, room, False, False)
        if found < 0:
            raise ModelError("The text cannot be tokenised.", hint="Shorten it.")
        return list(tokens[:found])

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of tokens; control tokens give none.

        Raises:
            ModelError: If an id is not one of the vocabulary.
        """
        lib, vocab = self._model.lib, self._model.alive()
        given = [int(i) for i in ids]
        if any(not 0 <= i < self.vocabulary for i in given):
            raise ModelError(f"A token is not one of the {self.vocabulary:,} of {self.name}.")
        tokens = (c.c_int32 * len(given))(*given)
        room = 32 + 16 * len(given)
        while True:
            text = c.create_string_buffer(room)
            found = lib.llama_detokenize(vocab, tokens, len(given), text, room, False, False)
            if found >= 0:
                return text.raw[:found].decode("utf-8", "replace")
            room = -found


class GgufModel:
    """A model file in GGUF format, run in this process.

    Args:
        path: The file.
        n_ctx: Most tokens of prompts and beams together; at least 256.
        n_threads: Threads for the arithmetic. More than there are idle cores makes it many times slower.

    Raises:
        ModelError: If the file is no model, or llama.cpp cannot be used.

    Example:
        >>> with GgufModel("model.gguf") as model:  # doctest: +SKIP
        ...     beams = model.start(model.tokeniser.encode("The capital of France is"))
        ...     model.tokeniser.decode([int(beams.log_probabilities[0].argmax())])
        ' Paris'
    """

    def __init__(self, path: str | Path, *, n_ctx: int = 4096, n_threads: int = 1) -> None:
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
            raise ModelError(
                f"llama.cpp cannot load {self.path}.",
                hint="The file may be cut short, of a newer format, or too large for the memory.",
            )
        self.vocab = self.lib.llama_model_get_vocab(model)
        params = self.lib.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = params.n_ubatch = _BATCH
        params.n_seq_max = _SEQUENCES
        params.n_threads = params.n_threads_batch = n_threads
        # One memory for all sequences, so that copies cost nothing. Flash attention sums in the order of its
        # cells, so that a beam's probabilities depend on its neighbours much more than without.
        params.kv_unified = True
        params.flash_attn_type = 0
        context = self.lib.llama_init_from_model(model, params)
        if not context:
            self.lib.llama_model_free(model)
            raise ModelError(
                f"llama.cpp cannot run {self.path}.", hint="It may need more memory, or fewer n_ctx."
            )
        self._context = context
        self._memory = self.lib.llama_get_memory(context)
        self._batch: Batch = self.lib.llama_batch_init(_BATCH, 0, 1)
        self._end = weakref.finalize(self, _free, self.lib, model, context, self._batch)
        self.n_ctx = int(self.lib.llama_n_ctx(context))
        self._free = list(range(params.n_seq_max))
        self.tokeniser = GgufTokeniser(self)

    def alive(self) -> Any:
        """Return the vocabulary.

        Raises:
            ModelError: If the model has been closed.
        """
        if not self._end.alive:
            raise ModelError(f"The model {self.name} has been closed.", hint="Open it again.")
        return self.vocab

    def start(self, prompt: Sequence[int]) -> GgufBeams:
        """Read a prompt and give one beam behind it.

        Raises:
            ModelError: If the prompt is empty, too long, or has tokens that the model lacks.
        """
        tokens = tuple(int(t) for t in prompt)
        if not tokens:
            raise ModelError("The prompt is empty.", hint="Give one token at least.")
        if any(not 0 <= t < self.tokeniser.vocabulary for t in tokens):
            raise ModelError(f"The prompt has tokens that {self.name} lacks.", hint="Use its own tokeniser.")
        if len(tokens) >= self.n_ctx:
            raise ModelError(
                f"The prompt has {len(tokens)} tokens, and {self.name} is opened for {self.n_ctx}.",
                hint="Open the model with a larger n_ctx, or shorten the prompt.",
            )
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
        """Take a free sequence.

        Raises:
            ModelError: If there is none.
        """
        if not self._free:
            raise ModelError(
                f"{self.name} writes {_SEQUENCES} beams at once, and no more.",
                hint="Close beams, or use fewer.",
            )
        return self._free.pop()

    def give(self, sequence: int) -> None:
        """Return a sequence back."""
        if self._end.alive:
            self.lib.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            self._free.append(sequence)

    def copy(self, source: int, target: int) -> None:
        """Let a sequence share what another has read."""
        self.lib.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def decode(self, rows: Sequence[tuple[int, int, int]], *, last: bool = False) -> LogProbabilities:
        """Read tokens, each at a position of a sequence.

        Args:
            rows: Token, position and sequence of each; at most 512.
            last: Whether only the last one's probabilities are wanted.

        Raises:
            ModelError: If there is no room for them, or llama.cpp refuses.
        """
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
        wanted = [len(rows) - 1] if last else range(len(rows))
        logits = np.empty((len(wanted), self.tokeniser.vocabulary), np.float32)
        for row, i in enumerate(wanted):
            found = self.lib.llama_get_logits_ith(self._context, i)
            logits[row] = np.ctypeslib.as_array(found, (logits.shape[1],))
        return log_softmax(logits)

    def close(self) -> None:
        """Free the model's memory; harmless when it has been done."""
        with self._lock:
            self._end()

    def __enter__(self) -> GgufModel:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        """Replace the beams by others, each a beam of before with one token more.

        Raises:
            ModelError: If there is no room for them.
        """
        model = self._model
        with model._lock:
            model.alive()
            missing = len(parents) - len(set(parents))
            if missing > len(model._free):
                raise ModelError(
                    f"{model.name} writes {_SEQUENCES} beams at once, and no more.",
                    hint="Close other beams, or use fewer.",
                )
            first: set[int] = set()
            sequences, lengths = [], []
            for parent in parents:
                # A beam's first heir goes on in its place; others get copies, which share its memory.
                sequence = self._sequences[parent]
                if parent in first:
                    copied = model.take()
                    model.copy(sequence, copied)
                    sequence = copied
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
