"""The real small model."""

from __future__ import annotations

from tests.generation.conftest import gguf, local_server

__all__ = ["gguf", "local_server"]
