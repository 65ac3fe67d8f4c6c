"""Vectors of texts that MiniLM has embedded before in this process.

Its vector of a text is the same to the bit whatever it is embedded with (`tests/index/test_embedders.py`), so
tests that are not about the model need not wait for it to embed the demo graph again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from mrag.index.embedding.local_models import MiniLmEmbedder, Vectors

_embed = MiniLmEmbedder.embed_documents
_known: dict[str, Vectors] = {}


def remember(patch: pytest.MonkeyPatch) -> None:
    """Let MiniLM embed each text once, until the patch is undone."""

    def embed_documents(model: MiniLmEmbedder, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in _known]
        _known.update(zip(new, _embed(model, new), strict=True))
        return np.stack([_known[text] for text in texts]) if texts else _embed(model, texts)

    patch.setattr(MiniLmEmbedder, "embed_documents", embed_documents)


@pytest.fixture(autouse=True, scope="module")
def remembered_vectors() -> Iterator[None]:
    """Import it into a module whose tests are not about the model."""
    with pytest.MonkeyPatch.context() as patch:
        remember(patch)
        yield
