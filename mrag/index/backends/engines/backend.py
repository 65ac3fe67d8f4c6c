"""What the backends of all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from mrag.errors import ConfigError
from mrag.index.backends.base import Abilities
from mrag.index.backends.engines.index import EngineIndex
from mrag.index.backends.engines.rows import Shelf
from mrag.index.backends.engines.versioned import VersionedShelf, Versions
from mrag.index.bm25 import Bm25Params
from mrag.index.embedding.embedders import Embedder
from mrag.redaction import names_secret

__all__ = ["EngineBackend", "VersionedBackend"]


class EngineBackend(ABC):
    """Keeps indexes in an engine.

    Args:
        url: Its URL, which holds no password, because it is written down.
        graph: Tells the graph, because many may keep their indexes in one engine.
        pending: Folder for the vectors of a build that is broken off, and for the locks of writers; None for
            memory.

    Raises:
        ConfigError: If the URL holds a password, or the package of the engine is not installed.
    """

    abilities: Abilities
    login_by = "the environment"
    """Where a password belongs."""

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        place, _, query = url.partition("?")
        login = place.partition("//")[2].partition("/")[0].rpartition("@")[0]
        if login.partition(":")[2] or any(names_secret(part.partition("=")[0]) for part in query.split("&")):
            raise ConfigError(
                "The URL of an index holds no password, because it is written down.",
                hint=f"Put the password into {self.login_by}.",
            )
        self.url = url
        self.graph = graph
        self.pending = pending

    @abstractmethod
    def names(self) -> list[str]:
        """List the indexes of the graph in order of name."""

    @abstractmethod
    def shelf(self, name: str) -> Shelf:
        """Return the place of an index."""

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> EngineIndex:
        """Open an index; see `IndexBackend`."""
        return EngineIndex.open(self.shelf(name), name, embedder, self.beside(name))

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> EngineIndex:
        """Begin an index; see `IndexBackend`."""
        return EngineIndex.create(self.shelf(name), embedder, bm25, self.beside(name), replace=replace)

    def delete(self, name: str) -> None:
        """Remove an index; if there is none, nothing is done."""
        if name in self.names():
            shelf = self.shelf(name)
            with shelf.writing():
                shelf.drop()

    def beside(self, name: str) -> Path | None:
        """Return the folder of what a writer keeps on this machine."""
        return None if self.pending is None else self.pending / name


class VersionedBackend(EngineBackend):
    """Keeps indexes in an engine without transactions; a subclass sets `engine`. All else is as above."""

    engine: Versions

    def names(self) -> list[str]:
        """List the indexes of the graph in order of name."""
        return self.engine.names(self.graph)

    def shelf(self, name: str) -> VersionedShelf:
        """Return the place of an index."""
        return VersionedShelf(self.engine, self.graph, name, self.beside(name))
