"""Embedding of new texts, kept batch by batch so that an interrupted run resumes.

| file | content |
|---|---|
| `vectors.pending` | vectors, a record a batch |
| `segments.pending` | segments that were written and not committed, whose vectors are in them |
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, IndexMismatch, ModelError
from mrag.index.embedding.embedders import Embedder
from mrag.index.embedding.local_models import unit
from mrag.index.embedding.prepared import PreparedEmbedder
from mrag.index.segments.files import DocumentFolder
from mrag.index.segments.segment import DIGEST_BYTES, DocumentSegment, digest, vectors_in
from mrag.storage.files import FileEntry, Journal, append
from mrag.storage.folder import Committed

__all__ = ["PendingVectors", "Progress", "embed_missing", "fitting"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with how much is done, and how much there is."""


class PendingVectors:
    """Vectors by digest of their text, appended to a journal batch by batch.

    What a crash leaves of the last batch is cut off when the file is next opened, a damaged one is passed
    over, and its texts are embedded again. A file of another model is thrown away.

    Args:
        folder: Where to keep the file; None to keep them in memory alone.

    Attributes:
        vectors: Those that are in no segment.
        earlier: How many segments an interrupted run has left.

    Raises:
        IndexError_: By any method, if the file cannot be read or written.

    Example:
        >>> pending = PendingVectors(None)
        >>> pending.load("some model")
        >>> pending.append([b"0123456789abcdef"], np.ones((1, 2), np.float32))
        >>> pending.vectors[b"0123456789abcdef"].tolist()
        [1.0, 1.0]
    """

    def __init__(self, folder: DocumentFolder | None) -> None:
        self.vectors: dict[bytes, npt.NDArray[np.float32]] = {}
        self.earlier = 0
        self._sealed: list[DocumentSegment] = []
        self._embedder = ""
        self._folder = folder
        self._path = None if folder is None else folder.path / "vectors.pending"
        self._seals = None if folder is None else folder.path / "segments.pending"
        self._refusals = nullcontext if folder is None else folder.refusals

    def load(self, embedder: str) -> None:
        """Take up what an interrupted run has left.

        Args:
            embedder: Name of the embedding model.
        """
        if self._path is None and embedder == self._embedder:
            return
        self.vectors, self._embedder = {}, embedder
        self._sealed = [segment for segment in map(self._opened, self._records(embedder)) if segment]
        self.earlier = len(self._sealed)
        if self._path is not None and self._path.exists():
            with self._refusals(), Journal(self._path, synced=False) as journal:
                batches = [record for record in journal.records if record.get("embedder") == embedder]
                for batch in batches:
                    self._take(batch)
                if not batches:
                    journal.clear()

    def append(self, digests: Sequence[bytes], vectors: npt.NDArray[np.float32]) -> None:
        """Add vectors.

        Args:
            digests: Digest of each text.
            vectors: Shape (len(digests), dim).
        """
        # A served model may change its dimensions and keep its name.
        if self.vectors and len(next(iter(self.vectors.values()))) != vectors.shape[1]:
            self.clear()
        if self._path is not None:
            stored = np.ascontiguousarray(vectors, "<f4").tobytes()
            record = {
                "embedder": self._embedder,
                "digests": b"".join(digests).hex(),
                "vectors": base64.b64encode(stored).decode(),
            }
            with self._refusals():
                append(self._path, record)
        self.vectors.update(zip(digests, vectors, strict=True))

    def known(self, digests: Collection[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the vectors of texts that are in segments, by digest."""
        return vectors_in(self._sealed, digests)

    def seal(self, segment: DocumentSegment, name: str, entry: FileEntry | None) -> None:
        """Take note of a segment that is written, and keep the vectors that it has nowhere else.

        Args:
            segment: The segment.
            name: Name of its file.
            entry: What is known of that; None in memory.
        """
        self._sealed.append(segment)
        there = set(map(bytes, segment.digests))
        left = {key: vector for key, vector in self.vectors.items() if key not in there}
        if self._path is not None and self._seals is not None and entry is not None:
            with self._refusals():
                append(self._seals, {"embedder": self._embedder, "name": name, "entry": asdict(entry)})
                self._path.unlink(missing_ok=True)
        self.vectors = {}
        if left:
            self.append(list(left), np.stack(list(left.values())))

    def files(self) -> set[str]:
        """Return the names of the files of segments that are not committed yet."""
        return {str(record["name"]) for record in self._records()}

    def clear(self) -> None:
        """Forget all."""
        self.vectors, self._sealed, self.earlier = {}, [], 0
        for path in (self._path, self._seals):
            if path is not None:
                with self._refusals():
                    path.unlink(missing_ok=True)

    def _records(self, embedder: str | None = None) -> list[dict[str, Any]]:
        if self._seals is None or not self._seals.exists():
            return []
        with self._refusals(), Journal(self._seals, synced=False) as journal:
            return [r for r in journal.records if embedder is None or r.get("embedder") == embedder]

    def _opened(self, record: Mapping[str, Any]) -> DocumentSegment | None:
        assert self._folder is not None
        name = str(record["name"])
        with suppress(OSError, IndexError_):  # if it is gone or damaged, its texts are embedded again
            return self._folder.segment(name, Committed(0, {name: FileEntry(**record["entry"])}))
        return None

    def _take(self, batch: Mapping[str, Any]) -> None:
        digests = bytes.fromhex(batch["digests"])
        count = len(digests) // DIGEST_BYTES
        stored = np.frombuffer(base64.b64decode(batch["vectors"]), "<f4").astype(np.float32, copy=False)
        for at, vector in enumerate(stored.reshape(count, -1)):
            self.vectors[digests[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES]] = vector


def fitting(vectors: npt.NDArray[np.float32], dim: int | None) -> npt.NDArray[np.float32]:
    """Return vectors if they have the dimensions of the index.

    Args:
        vectors: Shape (dim,) or (n, dim).
        dim: Dimensions of the index; None as long as it has no vectors.

    Raises:
        IndexMismatch: If they have others.

    Example:
        >>> fitting(np.zeros(3, np.float32), 2)
        Traceback (most recent call last):
        mrag.errors.IndexMismatch: The model gave vectors of 3 dimensions; those of the index have 2. ...
    """
    if dim is not None and vectors.shape[-1] != dim:
        raise IndexMismatch(
            f"The model gave vectors of {vectors.shape[-1]} dimensions; those of the index have {dim}.",
            hint="Use the model that the index was built with, or build the index anew.",
        )
    return vectors


def embed_missing(
    texts: Iterable[str],
    known: Callable[[Collection[bytes]], Mapping[bytes, npt.NDArray[np.float32]]],
    model: Embedder,
    pending: PendingVectors,
    *,
    dim: int | None,
    batch: int,
    on_progress: Progress,
) -> dict[bytes, npt.NDArray[np.float32]]:
    """Embed the texts whose vectors are neither known nor pending.

    Args:
        texts: The texts.
        known: Returns the vectors that the index has already, by digest.
        model: The model.
        pending: Where vectors are kept until they are committed.
        dim: Dimensions of the index; None as long as it has no vectors.
        batch: Texts that the model gets at once, 1 or more.
        on_progress: Called with the number of texts that have vectors, and of texts.

    Returns:
        The vector of each text, by its digest.

    Raises:
        ConfigError: If the batch is below 1.
        ModelError: If the model fails or gives something else than one vector per text.
        IndexMismatch: If its vectors have other dimensions than the index.
        IndexError_: If the pending vectors cannot be written.
    """
    if batch < 1:
        raise ConfigError(f"Cannot embed batches of {batch} texts.", hint="256 is usual.")
    by_digest = {digest(text): text for text in texts}
    found = {key: vector for key, vector in pending.vectors.items() if key in by_digest}
    found.update(known(by_digest.keys()))
    found.update(pending.known(by_digest.keys() - found.keys()))
    if isinstance(model, PreparedEmbedder):
        recalled = model.recalled(by_digest.keys() - found.keys())
        found.update((key, fitting(vector, dim)) for key, vector in recalled.items())
    # Longest first: memory peaks at once and not at the end, and the rest only gets quicker.
    missing = sorted(by_digest.keys() - found.keys(), key=lambda key: (-len(by_digest[key]), key))
    on_progress(len(found), len(by_digest))
    batches = [missing[start : start + batch] for start in range(0, len(missing), batch)]
    given = ([by_digest[key] for key in some] for some in batches)
    shared = model.embed_batches if isinstance(model, PreparedEmbedder) else None
    for number, made in shared(given) if shared else enumerate(map(model.embed_documents, given)):
        some, vectors = batches[number], unit(made)
        if vectors.ndim != 2 or len(vectors) != len(some):
            raise ModelError(
                f"The embedding model {model.name} gave shape {vectors.shape} for {len(some)} texts.",
                hint="embed_documents gives one vector per text, shape (texts, dim).",
            )
        pending.append(some, fitting(vectors, dim))
        found.update(zip(some, vectors, strict=True))
        on_progress(len(found), len(by_digest))
    return found
