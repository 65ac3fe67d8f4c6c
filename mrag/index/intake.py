"""New documents on their way into an index: compared with what is there, and embedded batch by batch.

| file | content |
|---|---|
| `vectors.pending` | vectors of a run that has not ended, a record a batch; the next run takes them up |
| `segments.pending` | segments that were written and not committed, whose vectors are in them |
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, IndexMismatch, ModelError
from mrag.index.embedding import Embedder, PreparedEmbedder, unit
from mrag.index.rows import DIGEST_BYTES, Mask, digest, twice
from mrag.index.segments import (
    DocumentFolder,
    DocumentManifest,
    DocumentSegment,
    DocumentState,
    most_rows,
    vectors_in,
)
from mrag.storage.files import FileEntry, Journal, append
from mrag.storage.folder import Committed
from mrag.storage.sorting import SortedRows

Documents: TypeAlias = SortedRows[tuple[str, str]]
"""IDs and texts, in order of ID."""


@dataclass(frozen=True)
class SyncReport:
    """What a `sync` did: numbers of documents, and the seconds it took."""

    added: int
    changed: int
    deleted: int
    unchanged: int
    seconds: float = 0.0


@dataclass(frozen=True)
class DocumentComparison:
    """Documents compared with those of an index."""

    fresh: Documents
    kept: Mask
    same: int
    changed: int


def plain_documents(documents: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield documents as pairs of plain strings."""
    for document in documents:
        given: object = document
        pair = isinstance(given, tuple | list) and len(given) == 2
        if not (pair and all(isinstance(part, str) for part in document)):
            hint = "Give pairs of two strings: ID and text."
            raise ConfigError(f"Not a document: {given!r:.200}.", hint=hint)
        # Plain strings: rdflib's IRIs are strings that equal no plain one.
        doc_id, text = document
        yield str(doc_id), str(text)


@contextmanager
def gather_documents(documents: Iterable[tuple[str, str]], folder: Path | None = None) -> Iterator[Documents]:
    """Give documents in order of ID; those that do not fit into memory wait in a file."""
    with SortedRows(plain_documents(documents), folder=folder) as rows:
        for (one, _), (other, _) in pairwise(rows):
            if one == other:
                raise twice(one)
        yield rows


@contextmanager
def compare_documents(
    state: DocumentState, documents: Iterable[tuple[str, str]], *, whole: bool, folder: Path | None = None
) -> Iterator[DocumentComparison]:
    """Compare documents with those of an index."""
    rows, counts = state.rows, {"same": 0, "changed": 0}
    kept = np.zeros(rows.total, np.bool_) if whole else rows.live.copy()

    def fresh(given: Documents) -> Iterator[tuple[str, str]]:
        # All of them are met in the order of their IDs, few are looked for one by one.
        meets = rows.met(doc_id for doc_id, _ in given) if whole else (rows.row_of(i) for i, _ in given)
        for (doc_id, text), row in zip(given, meets, strict=True):
            same = row is not None and state.digests[row].tobytes() == digest(text)
            if row is not None:
                kept[row] = same
                counts["same" if same else "changed"] += 1
            if not same:
                yield doc_id, text

    with gather_documents(documents, folder) as given, SortedRows(fresh(given), folder=folder) as found:
        yield DocumentComparison(found, kept, **counts)


Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with how much is done, and how much there is."""


class PendingVectors:
    """Vectors by digest of their text, appended to a journal batch by batch."""

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
        """Take up what an interrupted run has left."""
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
        """Add vectors."""
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
        """Take note of a segment that is written, and keep the vectors that it has nowhere else."""
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
    """Return vectors if they have the dimensions of the index."""
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
    """Embed the texts whose vectors are neither known nor pending."""
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


class IndexModel:
    """Embeds questions, and new texts but once."""

    def __init__(self, embedder: Embedder | None, folder: DocumentFolder | None) -> None:
        self._embedder = embedder
        self._path = None if folder is None else str(folder.path)
        self.pending = PendingVectors(folder)
        self._last: set[bytes] = set()

    def check(self, manifest: DocumentManifest) -> None:
        """Look whether an index was built with this model."""
        check_model(manifest.embedder, self._embedder, self._path)

    def query_vector(self, state: DocumentState, text: str) -> npt.NDArray[np.float32]:
        """Embed a question."""
        return fitting(unit(self._of(state).embed_query(text)), state.manifest.dim)

    def embedded(self, state: DocumentState, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts that do not enter the index, shape (len(texts), dim)."""
        return self._of(state).embed_documents(texts)

    def built(
        self, state: DocumentState, fresh: Documents, on_progress: Progress, batch: int
    ) -> Iterator[DocumentSegment]:
        """Yield the segments of new documents, embedding those texts that are new."""
        self._last = set()
        model = None
        if state.manifest.embedder is None or not fresh:
            on_progress(len(fresh), len(fresh))
        else:
            model = self._of(state)
            self.pending.load(model.name)
        rest, most, start = iter(fresh), self.most(state, len(fresh)), 0
        while part := dict(islice(rest, most)):
            vectors = None
            if model is not None:
                vectors = embed_missing(
                    part.values(), state.known_vectors, model, self.pending, dim=state.manifest.dim,
                    batch=batch, on_progress=_partly(on_progress, start, len(part), len(fresh)),
                )  # fmt: skip
                self._last = set(vectors)
            start += len(part)
            yield DocumentSegment.build(part, state.manifest.bm25.analysis, vectors)

    def most(self, state: DocumentState, new: int) -> int:
        """Return how many rows a segment may have when so many documents come."""
        dim = state.manifest.dim
        if dim is None and new > most_rows(sys.maxsize) and state.manifest.embedder is not None:
            dim = self._of(state).dim
        return most_rows(dim)

    def committed(self) -> None:
        """Forget the pending vectors if all of them are in the index now."""
        if not self.pending.earlier and self.pending.vectors.keys() <= self._last:
            self.pending.clear()

    def _of(self, state: DocumentState) -> Embedder:
        return needed_model(state.manifest.embedder, self._embedder)


def check_model(built: str | None, model: Embedder | None, file: str | None = None) -> None:
    """Look whether an index was built with a model."""
    if model is not None and model.name != built:
        raise IndexMismatch(
            f"The index was built with {built or 'no model, for BM25 alone'}, not with {model.name}.",
            file=file,
            hint="Open it with the model it was built with, or build it anew with the other.",
        )


def needed_model(built: str | None, model: Embedder | None) -> Embedder:
    """Return the model of an index, for what cannot be done without."""
    if built is None:
        hint = "Search with mode bm25, or build the index with a model, such as minilm."
        raise ConfigError("The index has no vectors.", hint=hint)
    if model is None:
        hint = "Open it with that model, or search with mode bm25."
        raise ConfigError(f"The index was opened without its model {built}.", hint=hint)
    return model


def _partly(on_progress: Progress, before: int, part: int, total: int) -> Progress:
    """Return what is called with the progress of a part and tells that of the whole."""
    if part == total:
        return on_progress

    def tell(done: int, of: int | None) -> None:
        on_progress(before + (part if done == of else done), total)

    return tell
