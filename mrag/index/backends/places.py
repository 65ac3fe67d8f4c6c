"""Which backend keeps which index of a graph, written down beside its other files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

from mrag.errors import ConfigError, DamagedIndex, IndexError_
from mrag.graph.kg import KnowledgeGraph
from mrag.index.backends.base import IndexBackend
from mrag.index.backends.local import LOCAL, LocalBackend
from mrag.redaction import redact_url
from mrag.storage.files import make_folder, replace

__all__ = ["IndexPlaces", "home", "open_backend"]

_RECORD: Final = "backend.json"

_KINDS: Final = {
    "postgresql": ("postgres", "PostgresBackend"),
    "postgres": ("postgres", "PostgresBackend"),
    "milvus": ("milvus", "MilvusBackend"),
    "qdrant": ("qdrant", "QdrantBackend"),
    "opensearch": ("opensearch", "OpenSearchBackend"),
    "elasticsearch": ("opensearch", "OpenSearchBackend"),
}
"""Module and class by the scheme of the URL."""


def open_backend(url: str, space: str, folder: Path | None) -> IndexBackend:
    """Open what keeps indexes.

    Args:
        url: `local:`, or that of an engine.
        space: Tells the graph.
        folder: Where the graph keeps files; None for a graph in memory.

    Raises:
        ConfigError: If there is no such engine, its package is not installed, or the graph is in memory.

    Example:
        >>> open_backend("local:", "", None).names()
        []
        >>> open_backend("redis:", "", None)
        Traceback (most recent call last):
        mrag.errors.ConfigError: No index can be kept in redis:. Use local:, postgresql:, ...
    """
    if url == LOCAL:
        return LocalBackend(folder)
    scheme = url.partition(":")[0].lower()
    if scheme not in _KINDS:
        known = ", ".join([LOCAL, *(f"{kind}:" for kind in _KINDS)])
        raise ConfigError(f"No index can be kept in {redact_url(url)}.", hint=f"Use {known}.")
    if folder is None:
        raise ConfigError(
            "A graph in memory keeps its index in memory.",
            hint="Nobody could find the index again; use a store on disk or a server.",
        )
    module, name = _KINDS[scheme]
    make: Callable[[str, str, Path], IndexBackend] = getattr(
        import_module(f"mrag.index.backends.engines.{module}"), name
    )
    return make(url, space, folder)


def home(kg: KnowledgeGraph) -> Path | None:
    """Return where a knowledge graph's indexes lie: beside an embedded store, else with the user's data."""
    kind, _, rest = kg.store.url.partition(":")
    if kind == "oxigraph":
        return Path(rest + ".mrag") / kg.name / "index" if rest else None
    digest = hashlib.blake2b(kg.store.identity.encode(), digest_size=8).hexdigest()
    return user_data_path("mrag") / digest / kg.name / "index"


class IndexPlaces:
    """The backends of the indexes of one graph.

    Args:
        folder: Where the graph keeps files; None in memory.
        space: Tells the graph, see `space_of`.
        default: Keeps indexes of which nothing is written down; what is local by default.

    Example:
        >>> places = IndexPlaces(None, "")
        >>> places.of("main").url
        'local:'
    """

    def __init__(self, folder: Path | None, space: str, default: str | IndexBackend | None = None) -> None:
        self.folder = folder
        self._space = space
        self.local = LocalBackend(folder)
        self._opened: dict[str, IndexBackend] = {LOCAL: self.local}
        self._objects: dict[str, IndexBackend] = {}
        self.default = self.resolved(default or LOCAL)

    def resolved(self, backend: str | IndexBackend) -> IndexBackend:
        """Return a backend by its URL; an object is one already."""
        if not isinstance(backend, str):
            return backend
        if backend not in self._opened:
            self._opened[backend] = open_backend(backend, self._space, self.folder)
        return self._opened[backend]

    def names(self) -> list[str]:
        """List all indexes in order of name."""
        beside = [] if self.folder is None else [p.parent.name for p in self.folder.glob(f"*/{_RECORD}")]
        return sorted({*beside, *self._objects, *self.local.names(), *self.default.names()})

    def of(self, name: str) -> IndexBackend:
        """Return the backend that is written down for an index, else the default or what is local.

        Raises:
            IndexError_: If it was an object, which has to be given again.
            ConfigError: If it cannot be opened.
        """
        if name in self._objects:
            return self._objects[name]
        file = None if self.folder is None else self.folder / name / _RECORD
        if file is not None and file.exists():
            try:
                url = str(json.loads(file.read_text(encoding="utf-8"))["backend"])
            except (ValueError, KeyError, TypeError) as error:
                raise DamagedIndex(
                    f"It cannot be read where the index {name!r} is kept.",
                    file=str(file),
                    hint="Build it anew with `mrag index --backend URL`.",
                ) from error
            if url == self.default.url:
                return self.default
            if url:
                return self.resolved(url)
            raise IndexError_(
                f"The index {name!r} was built with an object as backend.",
                hint="Give it again: SimilarityIndexes.of(kg, backend=…).",
            )
        return self.local if name in self.local.names() else self.default

    def record(self, name: str, backend: IndexBackend) -> None:
        """Write down where an index is kept.

        Raises:
            IndexError_: If the folder cannot be written.
        """
        if not backend.url:
            self._objects[name] = backend
        else:
            self._objects.pop(name, None)
        if self.folder is None:
            return
        file = self.folder / name / _RECORD
        try:
            if backend.url == LOCAL:
                file.unlink(missing_ok=True)
                return
            make_folder(file.parent)
            replace(file, json.dumps({"backend": backend.url}).encode())
        except OSError as error:
            raise IndexError_("It cannot be written down where the index is kept.", file=str(file)) from error

    def delete(self, name: str) -> None:
        """Remove an index from its backend, a copy that is local, and what is written down."""
        self.of(name).delete(name)
        self._objects.pop(name, None)
        self.local.delete(name)
