"""An index of pictures by their vectors, kept like the index of texts: in a folder, incremental.

It is a `DocumentIndex` whose text of each document is the digest of a file, so that a picture is
embedded anew only when its file has changed, an interrupted run is resumed, and a commit
lands whole or not at all.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mrag.errors import DamagedIndex, IndexMismatch, LoadError, MissingIndex
from mrag.index.document_index import DocumentIndex, Match
from mrag.index.intake import Progress, SyncReport

logger = logging.getLogger(__name__)

Vectors = npt.NDArray[np.float32]


class FileEmbedder(Protocol):
    """What the index asks of a model of pictures and words."""

    @property
    def name(self) -> str:
        """Identifies model and version."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    def check(self, path: Path) -> None:
        """Look whether a file can be used."""

    def embed_file(self, path: Path) -> Vectors:
        """Return the vector of a picture, shape (dim,), of length 1."""

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of words, shape (dim,), of length 1."""


class ImageIndex:
    """Pictures by IRI, found by the nearness of their vectors.

    Args:
        path: The folder, made if need be; None for an index in memory. An index of another model in it
            is replaced by the first `sync`.
        model: The model.
        write: Whether the folder may be written; else an index that is not there is made in memory.
    """

    def __init__(self, path: Path | None, model: FileEmbedder, *, write: bool = True) -> None:
        self._model = model
        self._adapter = _ByDigest(model)
        try:
            if path is None:
                raise MissingIndex("There is none in memory yet.")
            self._files = DocumentIndex.open(path, embedder=self._adapter, thorough=True)
        except MissingIndex:
            self._files = DocumentIndex.create(path if write else None, embedder=self._adapter)
        except (DamagedIndex, IndexMismatch) as error:
            logger.warning("%s It is built anew.", error.message)
            place = path if write else None
            self._files = DocumentIndex.create(place, embedder=self._adapter, replace=place is not None)

    def __len__(self) -> int:
        return len(self._files)

    def current(self, files: Mapping[str, Path]) -> bool:
        """Return whether the index holds exactly these pictures, as they are now."""
        return self._files.extra.get("stamp") == _stamp(files)

    def sync(
        self, files: Mapping[str, Path], *, on_progress: Progress | None = None
    ) -> tuple[SyncReport, dict[str, str]]:
        """Make the index hold exactly these pictures; embed only files that are new or have changed.

        Returns:
            What changed, and of the pictures that cannot be used why.
        """
        # Reading all files takes minutes where there are many; their sizes and times take a moment.
        stamp = _stamp(files)
        kept = self._files.extra
        if kept.get("stamp") == stamp:
            return SyncReport(0, 0, 0, len(self._files), 0.0), dict(kept["bad"])
        documents: list[tuple[str, str]] = []
        bad: dict[str, str] = {}
        for iri, path in sorted(files.items()):
            try:
                with path.open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
                if iri not in self._files or self._files.text_of(iri) != digest:
                    self._model.check(path)
            except LoadError as error:
                bad[iri] = str(error)
            except OSError as error:
                bad[iri] = f"The file cannot be read: {error.strerror or error}. [{path}]"
            else:
                documents.append((iri, digest))
                self._adapter.files[digest] = path
        report = self._files.sync(
            documents, extra={"stamp": stamp, "bad": bad}, on_progress=on_progress, batch=16
        )
        self._adapter.files.clear()
        return report, bad

    def search(self, vector: Vectors, k: int, allowed: Collection[str] | None = None) -> list[Match]:
        """Return the pictures nearest to a vector by cosine, best first, ties by IRI.

        Args:
            vector: Shape (dim,), of length 1; all 0 finds nothing.
            k: Most pictures.
            allowed: IRIs of the only pictures that may be found; all if left out.
        """
        self._adapter.here.vector = vector
        return self._files.search("", k, mode="dense", allowed=allowed)


def _stamp(files: Mapping[str, Path]) -> str:
    seen = hashlib.blake2b(digest_size=16)
    for iri, path in sorted(files.items()):
        try:
            state = path.stat()
            seen.update(f"{iri}\0{path}\0{state.st_size}\0{state.st_mtime_ns}\n".encode())
        except OSError:
            seen.update(f"{iri}\0{path}\0\n".encode())
    return seen.hexdigest()


class _ByDigest:
    """Embeds the file that has a digest; as the vector of a query it gives what the thread has put there."""

    def __init__(self, model: FileEmbedder) -> None:
        self.name = model.name
        self.files: dict[str, Path] = {}
        self.here = threading.local()
        self._model = model

    @property
    def dim(self) -> int:
        return self._model.dim

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.here.vector
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._model.embed_file(self.files[digest]) for digest in texts])
