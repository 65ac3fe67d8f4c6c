"""Documents, queries and a model on which backends are tried."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from mrag.index.embedding.local_models import Vectors, unit

__all__ = ["DOCUMENTS", "QUERIES", "Trigrams"]

DOCUMENTS: Final = [
    ("urn:shoe", "Red leather shoes. They are made of leather, and red"),
    ("urn:boot", "A boot of brown leather"),
    ("urn:coat", "A blue coat with red buttons"),
    ("urn:käse", "Käse aus den Alpen, Crème brûlée und 芝士"),
    ("urn:x'; DROP TABLE mrag_index; --", "Quotes ' \" and \\ and %s and {documents}, a hat"),
    ("urn:twin:b", "the same words of twins"),
    ("urn:twin:c", "the same words of twins"),
    ("urn:twin:a", "the same words of twins"),
    ("urn:hat", "A hat, a red hat"),
]
QUERIES: Final = [
    "leather",
    "a red shoe",
    "red",
    "same twins",
    "créme kase",
    "芝士",
    "buttons of a coat",
    "'; --",
]


class Trigrams:
    """A model of hashed trigrams, which needs no files and knows no words.

    Attributes:
        embedded: All texts that it was given.
        fail_after: After how many of them it is interrupted; None for never.

    Example:
        >>> model = Trigrams()
        >>> float(model.embed_query("a shoe") @ model.embed_query("a shoe")) > 0.999
        True
    """

    def __init__(self, name: str = "trigrams", dim: int = 48) -> None:
        self.name, self.dim = name, dim
        self.embedded: list[str] = []
        self.fail_after: int | None = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        self.embedded += texts
        if self.fail_after is not None and len(self.embedded) > self.fail_after:
            raise KeyboardInterrupt
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text."""
        vector = np.zeros(self.dim)
        padded = f"  {text.lower()} " if text.strip() else ""
        for at in range(len(padded) - 2):
            key = hashlib.blake2b(padded[at : at + 3].encode(), digest_size=4).digest()
            vector[int.from_bytes(key, "big") % self.dim] += 1
        return unit(vector)
