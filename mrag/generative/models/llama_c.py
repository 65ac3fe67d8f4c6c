"""The C functions of llama.cpp that the package `xllamacpp` carries, described for ctypes.

The package exports them without promising that they stay as they are. So one version of it is described,
the one that the extra `local` installs, and the defaults that it fills in are compared with what they
must be before anything else is called.
"""

from __future__ import annotations

import atexit
import ctypes as c
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from mrag.errors import ModelError

VERSION: Final = "2026.10.11549"
"""The version of xllamacpp that is described here."""

_INSTALL: Final = "pip install 'mrag[local]'"
_lock = threading.Lock()
_loaded: list[Any] = []


class ModelParams(c.Structure):
    """How a model is loaded (`llama_model_params`)."""

    _fields_ = (
        ("devices", c.c_void_p),
        ("tensor_buft_overrides", c.c_void_p),
        ("n_gpu_layers", c.c_int32),
        ("split_mode", c.c_int),
        ("load_mode", c.c_int),
        ("lazy_mode", c.c_int),
        ("main_gpu", c.c_int32),
        ("tensor_split", c.c_void_p),
        ("progress_callback", c.c_void_p),
        ("progress_callback_user_data", c.c_void_p),
        ("kv_overrides", c.c_void_p),
        ("vocab_only", c.c_bool),
        ("check_tensors", c.c_bool),
        ("use_extra_bufts", c.c_bool),
        ("no_host", c.c_bool),
        ("no_alloc", c.c_bool),
        ("load_mtp", c.c_bool),
        # Room behind, so that a longer structure cannot overrun memory before the check has seen it.
        ("spare", c.c_char * 256),
    )


class ContextParams(c.Structure):
    """How a model is run (`llama_context_params`)."""

    _fields_ = (
        ("n_ctx", c.c_uint32),
        ("n_batch", c.c_uint32),
        ("n_ubatch", c.c_uint32),
        ("n_seq_max", c.c_uint32),
        ("n_rs_seq", c.c_uint32),
        ("n_outputs_max", c.c_uint32),
        ("n_outputs_max_per_seq", c.c_uint32),
        ("n_threads", c.c_int32),
        ("n_threads_batch", c.c_int32),
        ("ctx_type", c.c_int),
        ("rope_scaling_type", c.c_int),
        ("pooling_type", c.c_int),
        ("attention_type", c.c_int),
        ("flash_attn_type", c.c_int),
        ("rope_freq_base", c.c_float),
        ("rope_freq_scale", c.c_float),
        ("yarn_ext_factor", c.c_float),
        ("yarn_attn_factor", c.c_float),
        ("yarn_beta_fast", c.c_float),
        ("yarn_beta_slow", c.c_float),
        ("yarn_orig_ctx", c.c_uint32),
        ("defrag_thold", c.c_float),
        ("cb_eval", c.c_void_p),
        ("cb_eval_user_data", c.c_void_p),
        ("type_k", c.c_int),
        ("type_v", c.c_int),
        ("moe_cache_size", c.c_size_t),
        ("abort_callback", c.c_void_p),
        ("abort_callback_data", c.c_void_p),
        ("embeddings", c.c_bool),
        ("offload_kqv", c.c_bool),
        ("no_perf", c.c_bool),
        ("op_offload", c.c_bool),
        ("swa_full", c.c_bool),
        ("kv_unified", c.c_bool),
        ("samplers", c.c_void_p),
        ("n_samplers", c.c_size_t),
        ("ctx_other", c.c_void_p),
        ("spare", c.c_char * 256),
    )


class Batch(c.Structure):
    """Tokens to be read at once (`llama_batch`)."""

    _fields_ = (
        ("n_tokens", c.c_int32),
        ("token", c.POINTER(c.c_int32)),
        ("embd", c.POINTER(c.c_float)),
        ("pos", c.POINTER(c.c_int32)),
        ("n_seq_id", c.POINTER(c.c_int32)),
        ("seq_id", c.POINTER(c.POINTER(c.c_int32))),
        ("logits", c.POINTER(c.c_int8)),
    )


_MODEL_DEFAULTS: Final = {
    "n_gpu_layers": -1,
    "split_mode": 1,
    "load_mode": -1,
    "lazy_mode": 1,
    "main_gpu": 0,
    "kv_overrides": None,
    "vocab_only": False,
    "check_tensors": False,
    "use_extra_bufts": True,
    "load_mtp": False,
}
_CONTEXT_DEFAULTS: Final = {
    "n_ctx": 512,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_seq_max": 1,
    "n_outputs_max_per_seq": 1,
    "rope_scaling_type": -1,
    "flash_attn_type": -1,
    "yarn_ext_factor": -1.0,
    "type_k": 1,
    "type_v": 1,
    "cb_eval": None,
    "embeddings": False,
    "offload_kqv": True,
    "no_perf": True,
    "kv_unified": False,
    "samplers": None,
    "n_samplers": 0,
    "ctx_other": None,
}
_P: Final = c.c_void_p
_I: Final = c.c_int32
_TOKENS: Final = c.POINTER(c.c_int32)
_FUNCTIONS: Final[dict[str, tuple[Any, tuple[Any, ...]]]] = {
    "llama_backend_init": (None, ()),
    "llama_log_set": (None, (_P, _P)),
    "llama_model_default_params": (ModelParams, ()),
    "llama_context_default_params": (ContextParams, ()),
    "llama_model_load_from_file": (_P, (c.c_char_p, ModelParams)),
    "llama_model_free": (None, (_P,)),
    "llama_model_get_vocab": (_P, (_P,)),
    "llama_model_n_ctx_train": (_I, (_P,)),
    "llama_init_from_model": (_P, (_P, ContextParams)),
    "llama_free": (None, (_P,)),
    "llama_n_ctx": (c.c_uint32, (_P,)),
    "llama_get_memory": (_P, (_P,)),
    "llama_memory_clear": (None, (_P, c.c_bool)),
    "llama_memory_seq_rm": (c.c_bool, (_P, _I, _I, _I)),
    "llama_memory_seq_cp": (None, (_P, _I, _I, _I, _I)),
    "llama_vocab_n_tokens": (_I, (_P,)),
    "llama_vocab_get_text": (c.c_char_p, (_P, _I)),
    "llama_vocab_eos": (_I, (_P,)),
    "llama_vocab_bos": (_I, (_P,)),
    "llama_vocab_is_control": (c.c_bool, (_P, _I)),
    "llama_tokenize": (_I, (_P, c.c_char_p, _I, _TOKENS, _I, c.c_bool, c.c_bool)),
    "llama_detokenize": (_I, (_P, _TOKENS, _I, c.c_char_p, _I, c.c_bool, c.c_bool)),
    "llama_batch_init": (Batch, (_I, _I, _I)),
    "llama_batch_free": (None, (Batch,)),
    "llama_decode": (_I, (_P, Batch)),
    "llama_get_logits_ith": (c.POINTER(c.c_float), (_P, _I)),
}

_Log = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


def _silence(level: int, text: bytes, data: Any) -> None:
    """Take what llama.cpp would write to standard error."""


_quiet = _Log(_silence)


def library() -> Any:
    """Load the functions, once for each process.

    Raises:
        ModelError: If xllamacpp is missing, or is not the version that is described here.
    """
    with _lock:
        if not _loaded:
            _loaded.append(_load())
        return _loaded[0]


def _load() -> Any:
    spec = find_spec("xllamacpp")
    if spec is None or not spec.submodule_search_locations:
        raise ModelError("xllamacpp is not installed, and model files need it.", hint=_INSTALL)
    from importlib.metadata import version

    if version("xllamacpp") != VERSION:
        raise ModelError(
            f"Clues can be decoded with xllamacpp {VERSION}, and {version('xllamacpp')} is installed.",
            hint=f"pip install xllamacpp=={VERSION}, or use a model of Hugging Face (hf:NAME).",
        )
    folder = Path(next(iter(spec.submodule_search_locations)))
    files = [
        f for f in sorted(folder.iterdir()) if f.name.startswith("xllamacpp.") and f.suffix in (".so", ".pyd")
    ]
    if not files:
        raise ModelError(f"There is no library of llama.cpp in {folder}.", hint=_INSTALL)
    try:
        found = c.CDLL(str(files[0]))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ModelError(
            f"The library of llama.cpp cannot be used here: {error}.",
            hint="Use a model of Hugging Face instead (hf:NAME).",
        ) from error
    for params, defaults in (
        (found.llama_model_default_params(), _MODEL_DEFAULTS),
        (found.llama_context_default_params(), _CONTEXT_DEFAULTS),
    ):
        for name, value in defaults.items():
            if getattr(params, name) != value:
                raise ModelError(
                    f"This build of xllamacpp is not as described: {name} is {getattr(params, name)!r}.",
                    hint=f"Install the published wheel: pip install xllamacpp=={VERSION}.",
                )
    found.llama_log_set(c.cast(_quiet, c.c_void_p), None)
    # No call back into Python once it has begun to end.
    atexit.register(found.llama_log_set, None, None)
    found.llama_backend_init()
    return found
