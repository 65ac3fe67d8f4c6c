"""Cross-encoders in ONNX from a folder, run in this process by onnxruntime."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from mrag.errors import ModelError

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_MODELS: Final = ("model.onnx", "onnx/model.onnx")
_LONGEST: Final = 512
_BATCH_TOKENS: Final = 4096
_EXPORT: Final = (
    "A folder has model.onnx and tokenizer.json, as"
    " `optimum-cli export onnx --task text-classification --model NAME FOLDER` writes them."
)


class OnnxCrossEncoder:
    """A cross-encoder (Nogueira and Cho, 2019, Passage Re-ranking with BERT) from a local folder.

    Pairs with the same number of tokens are run together and nothing is padded, so that a score does not
    depend on what it is batched with, unless the model itself scales numbers over a batch, as dynamic
    quantisation does. The same pairs always have the same scores.

    Args:
        folder: Has `tokenizer.json` and `model.onnx`, or `onnx/model.onnx`. The model gives one number for a
            pair, or two: that it does not answer, and that it does.
        threads: Threads of onnxruntime; the number of processors, at most 4, if left out.

    Raises:
        ModelError: If a file is missing or not of its kind, or the model wants or gives something else.

    Source:
        The layout is that of Hugging Face's exporters.
    """

    def __init__(self, folder: str | Path, *, threads: int | None = None) -> None:
        self.folder = Path(folder)
        self._session, self._tokenizer = _opened(
            str(self.folder.resolve()), threads or min(4, os.cpu_count() or 1)
        )
        self._inputs = {given.name: given.type for given in self._session.get_inputs()}
        unknown = sorted({*self._inputs} - {*_INPUTS})
        if unknown or "input_ids" not in self._inputs:
            wanted = ", ".join(self._inputs)
            raise ModelError(f"This is no cross-encoder of texts: it reads {wanted}.", file=str(folder))

    def score(self, text_pairs: list[tuple[str, str]]) -> Sequence[float]:
        """Return how well each text answers its question; higher is better.

        Args:
            text_pairs: Questions, each with a text.

        Raises:
            ModelError: If the model gives something else than one number, or two, for a pair.
        """
        clean = [tuple(text.encode("utf-8", "replace").decode() for text in pair) for pair in text_pairs]
        encoded = self._tokenizer.encode_batch(clean)
        lengths = [len(one.ids) for one in encoded]
        scores = np.zeros(len(encoded))
        order = sorted(range(len(encoded)), key=lambda at: (lengths[at], at))
        for length, same in groupby(order, key=lengths.__getitem__):
            rows = list(same)
            step = max(1, _BATCH_TOKENS // max(1, length))
            for start in range(0, len(rows), step):
                some = rows[start : start + step]
                scores[some] = self._run([encoded[at] for at in some])
        return [float(score) for score in scores]

    def _run(self, encoded: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
        given = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        kinds = {name: np.int32 if "int32" in kind else np.int64 for name, kind in self._inputs.items()}
        output = self._session.run(None, {name: np.array(given[name], kinds[name]) for name in kinds})[0]
        found = np.asarray(output, np.float64)
        if found.shape == (len(encoded), 2):
            return np.asarray(found[:, 1] - found[:, 0])
        if found.size != len(encoded):
            raise ModelError(
                f"This is no cross-encoder: for {len(encoded)} pairs it gave {found.shape}.",
                file=str(self.folder),
                hint="Export it for the task text-classification.",
            )
        return found.reshape(-1)


@lru_cache(maxsize=2)
def _opened(folder: str, threads: int) -> tuple[Any, Any]:
    import onnxruntime
    from tokenizers import Tokenizer

    place = Path(folder)
    model = next((place / name for name in _MODELS if (place / name).is_file()), None)
    words = place / "tokenizer.json"
    if model is None or not words.is_file():
        missing = "model.onnx" if model is None else "tokenizer.json"
        raise ModelError(f"There is no {missing} in this folder.", file=folder, hint=_EXPORT)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(words))
    except Exception as error:  # both libraries raise what they like
        raise ModelError(f"The model cannot be read: {error}.", file=folder, hint=_EXPORT) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(_longest(place))
    return session, tokenizer


def _longest(folder: Path) -> int:
    """Return how many tokens the model reads at most, by its settings."""
    found = [_LONGEST]
    for name, key in (
        ("tokenizer_config.json", "model_max_length"),
        ("config.json", "max_position_embeddings"),
    ):
        try:
            value = json.loads((folder / name).read_text(encoding="utf-8")).get(key)
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(value, int) and value > 0:
            found.append(value)
    return min(found)
