"""The real small model, and a tiny one that needs no file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.generation.conftest import gguf

if TYPE_CHECKING:
    from mrag.generative.llama import GgufModel

__all__ = ["gguf", "smollm"]


@pytest.fixture(scope="session")
def smollm(gguf: Path) -> Iterator[GgufModel]:
    from mrag.generative.llama import GgufModel

    with GgufModel(gguf, n_ctx=2048) as model:
        yield model
