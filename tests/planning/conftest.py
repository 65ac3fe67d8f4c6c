"""The real small model."""

from tests.generation.conftest import gguf, local_server

__all__ = ["gguf", "local_server"]
