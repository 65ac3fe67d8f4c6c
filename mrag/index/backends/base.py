# ruff: noqa: D102 - what implements an interface is described there
"""What keeps similarity indexes: one interface, files as the first of it, copies, and which keeps which."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol

from mrag.errors import ConfigError, DamagedIndex, IndexError_, MissingIndex
from mrag.index.bm25 import Bm25Params
from mrag.index.document_index import DocumentIndex, StoredIndex
from mrag.index.embedding import Embedder
from mrag.redaction import redact_url
from mrag.storage.files import make_folder, replace
from mrag.storage.folder import MANIFEST

_BATCH = 1000  # Documents whose texts are asked for at once


@dataclass(frozen=True)
class Abilities:
    """What a backend does exactly and what it approximates.

    Example:
        >>> Abilities().exact_words
        True
    """

    exact_words: bool = True  # Whether BM25 ranks as the local index does, to the last bit of the score
    exact_vectors: bool = True  # Whether the nearest vectors are found for certain; else most of them are
    live_statistics: bool = True  # Whether the statistics of BM25 follow every change of documents at once
    snapshots: bool = True  # Whether a search sees one state of the index, however many requests it takes
    readable: bool = True  # Whether vectors can be read again, which copying without embedding takes
    learns: bool = False  # Whether the share of the vectors in `hybrid` is learnt here, not copied or even


class IndexBackend(Protocol):
    """Keeps indexes by name."""

    @property
    def url(self) -> str:
        """The URL that opens it again; empty for an object that has none."""

    @property
    def abilities(self) -> Abilities:
        """What it does exactly and what it approximates."""

    def names(self) -> list[str]:
        """List its indexes in order of name."""

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> StoredIndex:
        """Open an index.

        Args:
            name: Its name.
            embedder: The model that it was built with; None to read it, or to search it by words.
            thorough: Whether to check all that is kept of it, where that can be damaged.

        Raises:
            MissingIndex: If there is none of that name.
            IndexMismatch: If it was built with another model, with none, or by another version.
        """

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> StoredIndex:
        """Begin an index; there is none, or the one before, until its first `sync` has ended.

        Raises:
            IndexError_: If there is one already and `replace` is not set.
        """

    def delete(self, name: str) -> None:
        """Remove an index; if there is none, nothing is done."""


def documents_of(index: StoredIndex) -> Iterator[tuple[str, str]]:
    """Yield all documents of an index, in order of ID."""
    ids = index.doc_ids
    for start in range(0, len(ids), _BATCH):
        texts = index.texts_of(ids[start : start + _BATCH])
        yield from sorted(texts.items())


LOCAL = "local:"  # The URL of what is kept beside the store


class LocalBackend:
    """Keeps each index in a folder of its own, see `DocumentIndex`."""

    url = LOCAL
    abilities = Abilities(learns=True)

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._made: dict[str, DocumentIndex] = {}

    def names(self) -> list[str]:
        if self.folder is None:
            return sorted(name for name, index in self._made.items() if index.generation)
        if not self.folder.is_dir():
            return []
        return sorted(p.name for p in self.folder.iterdir() if (p / MANIFEST).exists())

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> DocumentIndex:
        if self.folder is not None:
            return DocumentIndex.open(self.folder / name, embedder=embedder, thorough=thorough)
        if name not in self.names():
            raise MissingIndex(f"There is no index {name!r} in memory.")
        return self._made[name]

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> DocumentIndex:
        path = self.folder / name if self.folder is not None else None
        index = DocumentIndex.create(path, embedder=embedder, bm25=bm25, replace=replace)
        if self.folder is None:
            self._made[name] = index
        return index

    def delete(self, name: str) -> None:
        self._made.pop(name, None)
        if self.folder is not None:
            shutil.rmtree(self.folder / name, ignore_errors=True)


_RECORD: Final = "backend.json"

_KINDS: Final = {
    **dict.fromkeys(("postgresql", "postgres"), ("postgres", "PostgresBackend")),
    "milvus": ("milvus", "MilvusBackend"),
    "qdrant": ("qdrant", "QdrantBackend"),
    "opensearch": ("opensearch", "OpenSearchBackend"),
}
"""Module and class by the scheme of the URL."""


def open_backend(url: str, space: str, folder: Path | None) -> IndexBackend:
    """Open what keeps indexes."""
    if url == LOCAL:
        return LocalBackend(folder)
    scheme = url.partition(":")[0].lower()
    if scheme not in _KINDS:
        known = ", ".join([LOCAL, *(f"{kind}:" for kind in _KINDS)])
        raise ConfigError(f"No index can be kept in {redact_url(url)}.", hint=f"Use {known}.")
    if folder is None:
        hint = "Nobody could find the index again; use a store on disk or a server."
        raise ConfigError("A graph in memory keeps its index in memory.", hint=hint)
    module, name = _KINDS[scheme]
    opened: IndexBackend = getattr(import_module(f"mrag.index.backends.{module}"), name)(url, space, folder)
    return opened


class IndexPlaces:
    """The backends of the indexes of one graph."""

    def __init__(self, folder: Path | None, space: str, default: str | IndexBackend | None = None) -> None:
        self.folder = folder
        self._space = space
        self.local = LocalBackend(folder)
        self._opened: dict[str, IndexBackend] = {LOCAL: self.local}
        self._objects: dict[str, IndexBackend] = {}
        self.default = self.resolve(default or LOCAL)

    def resolve(self, backend: str | IndexBackend) -> IndexBackend:
        """Return a backend by its URL; an object is one already."""
        if not isinstance(backend, str):
            return backend
        if backend not in self._opened:
            self._opened[backend] = open_backend(backend, self._space, self.folder)
        return self._opened[backend]

    def names(self) -> list[str]:
        beside = [] if self.folder is None else [p.parent.name for p in self.folder.glob(f"*/{_RECORD}")]
        return sorted({*beside, *self._objects, *self.local.names(), *self.default.names()})

    def of(self, name: str) -> IndexBackend:
        """Return the backend that is written down for an index, else the default or what is local."""
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
                return self.resolve(url)
            hint = "Give it again: SimilarityIndexes.of(kg, backend=…)."
            raise IndexError_(f"The index {name!r} was built with an object as backend.", hint=hint)
        return self.local if name in self.local.names() else self.default

    def record(self, name: str, backend: IndexBackend) -> None:
        """Write down where an index is kept."""
        self._objects.pop(name, None)
        if not backend.url:
            self._objects[name] = backend
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
        self.of(name).delete(name)
        self._objects.pop(name, None)
        self.local.delete(name)
