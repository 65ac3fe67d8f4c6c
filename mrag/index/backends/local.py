"""Similarity indexes in a folder beside the store, or in memory."""

from __future__ import annotations

import shutil
from pathlib import Path

from mrag.errors import MissingIndex
from mrag.index.backends.base import Abilities
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding.embedders import Embedder
from mrag.storage.folder import MANIFEST

__all__ = ["LOCAL", "LocalBackend"]

LOCAL = "local:"
"""The URL of what is kept beside the store."""


class LocalBackend:
    """Keeps each index in a folder of its own, see `DocumentIndex`.

    Args:
        folder: Where the folders are; None to keep the indexes in memory.

    Example:
        >>> backend = LocalBackend(None)
        >>> index = backend.create("main", embedder=None, bm25=Bm25Params())
        >>> index.sync([("ex:a", "a red shoe")], extra={}).added
        1
        >>> [match.doc_id for match in backend.open("main", embedder=None).search("shoes", 5)]
        ['ex:a']
    """

    url = LOCAL
    abilities = Abilities(learns=True)

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._made: dict[str, DocumentIndex] = {}

    def names(self) -> list[str]:
        """List the indexes in order of name."""
        if self.folder is None:
            return sorted(name for name, index in self._made.items() if index.generation)
        if not self.folder.is_dir():
            return []
        return sorted(p.name for p in self.folder.iterdir() if (p / MANIFEST).exists())

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> DocumentIndex:
        """Open an index; one in memory is the object that was made.

        Raises:
            MissingIndex, IndexMismatch, DamagedIndex: As `DocumentIndex.open` does.
        """
        if self.folder is not None:
            return DocumentIndex.open(self.folder / name, embedder=embedder, thorough=thorough)
        if name not in self.names():
            raise MissingIndex(f"There is no index {name!r} in memory.")
        return self._made[name]

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> DocumentIndex:
        """Begin an index; in memory it is there at once."""
        path = self.folder / name if self.folder is not None else None
        index = DocumentIndex.create(path, embedder=embedder, bm25=bm25, replace=replace)
        if self.folder is None:
            self._made[name] = index
        return index

    def delete(self, name: str) -> None:
        """Remove an index; if there is none, nothing is done."""
        self._made.pop(name, None)
        if self.folder is not None:
            shutil.rmtree(self.folder / name, ignore_errors=True)
