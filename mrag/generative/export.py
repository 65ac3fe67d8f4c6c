"""Writes models with an adapter's weights added, for llama.cpp (many times quicker) or transformers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ModelError
from mrag.generative.models import library

_NAMES: Final[Mapping[str, str]] = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
_HEADS: Final[Mapping[str, str]] = {
    "attn_q": "llama.attention.head_count",
    "attn_k": "llama.attention.head_count_kv",
}

Matrix = npt.NDArray[np.float32]


def write_gguf(base: Path, adapter: Path, out: Path) -> Path:
    """Write a GGUF file that is the base with the adapter's weights added to its own.

    The layers that the adapter changes are written in 16 bits, the others as they are in the base.

    Args:
        base: The GGUF file that was adapted, of the Llama architecture.
        adapter: The folder that `mrag.generative.training.LoraLearner.save` wrote.
        out: The file to write; one that is there is replaced once the new one is whole.

    Returns:
        `out`.

    Raises:
        ModelError: If the base is of another architecture, the adapter does not fit it, or a package or
            file is missing.
    """
    gguf = library("gguf")
    if not base.is_file():
        raise ModelError(f"There is no model file {base}.")
    deltas = _deltas(adapter)
    reader = gguf.GGUFReader(str(base))
    kind = reader.fields["general.architecture"].contents()
    if kind != "llama":
        raise ModelError(
            f"An adapter cannot be put into a model file of the architecture {kind}.",
            hint="Use the model by transformers: hf:FOLDER.",
        )
    missing = deltas.keys() - {tensor.name for tensor in reader.tensors}
    if missing:
        raise ModelError(f"The adapter in {adapter} is of another model: {base} has no {min(missing)}.")
    draft = out.with_name(f".{out.name}.new")
    writer = gguf.GGUFWriter(str(draft), kind)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        array = field.types[0] == gguf.GGUFValueType.ARRAY
        writer.add_key_value(
            field.name, field.contents(), field.types[0], sub_type=field.types[-1] if array else None
        )
    for tensor in reader.tensors:
        if tensor.name in deltas:
            weights = gguf.dequantize(tensor.data, tensor.tensor_type)
            change = deltas[tensor.name]
            role = tensor.name.split(".")[2]
            if role in _HEADS:
                change = _rotated(change, int(reader.fields[_HEADS[role]].contents()))
            if weights.shape != change.shape:
                raise ModelError(f"The adapter in {adapter} does not fit {tensor.name} of {base}.")
            writer.add_tensor(tensor.name, (weights + change).astype(np.float16))
        else:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    draft.replace(out)
    return out


def write_folder(model: Any, tokeniser: Any, out: Path) -> Path:
    """Write a folder of transformers with the model and its adapter in one.

    Args:
        model: The model of a `mrag.generative.training.LoraLearner`. It holds the adapter no longer.
        tokeniser: The tokeniser, as an object of transformers.
        out: The folder; one that is there is replaced once the new one is whole.

    Returns:
        `out`.
    """
    draft, old = out.with_name(f".{out.name}.new"), out.with_name(f".{out.name}.old")
    if old.exists() and not out.exists():
        old.rename(out)  # a run was ended between the two steps below
    for folder in (draft, old):
        shutil.rmtree(folder, ignore_errors=True)
    model.merge_and_unload().save_pretrained(str(draft))
    tokeniser.save_pretrained(str(draft))
    if out.exists():
        out.rename(old)
    draft.rename(out)
    shutil.rmtree(old, ignore_errors=True)
    return out


def _deltas(adapter: Path) -> dict[str, Matrix]:
    """Read what an adapter adds, by the names of GGUF files."""
    try:
        settings: Any = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        weights = library("safetensors.numpy").load_file(str(adapter / "adapter_model.safetensors"))
    except (OSError, ValueError) as error:
        raise ModelError(f"There is no adapter in {adapter}: {error}") from error
    scale = float(settings["lora_alpha"]) / float(settings["r"])
    found: dict[str, Matrix] = {}
    for name, down in sorted(weights.items()):
        if not name.endswith(".lora_A.weight"):
            continue
        path = name.removesuffix(".lora_A.weight")
        layer, _, role = path.partition("layers.")[2].partition(".")
        if role not in _NAMES:
            raise ModelError(f"The adapter in {adapter} changes {path}, which a model file has no name for.")
        up = weights[f"{path}.lora_B.weight"]
        found[f"blk.{layer}.{_NAMES[role]}.weight"] = (scale * (up @ down)).astype(np.float32)
    return found


def _rotated(weights: Matrix, heads: int) -> Matrix:
    """Put the rows in the order of GGUF: it turns neighbouring rows of a head together, not its halves.

    Example:
        >>> _rotated(np.arange(4, dtype=np.float32).reshape(4, 1), 1).ravel().tolist()
        [0.0, 2.0, 1.0, 3.0]
    """
    rows, columns = weights.shape
    halves = weights.reshape(heads, 2, rows // heads // 2, columns)
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(rows, columns))
