"""Segments of an index of texts, its commits, and new documents on their way into the next.

No segment has more rows than `most_rows` says, so that building and joining take bounded memory, however
large the index is. A large change is built segment by segment, embedded batch by batch.

| file | content |
|---|---|
| `vectors.pending` | vectors of a run that has not ended, a record a batch; the next run takes them up |
| `segments.pending` | segments that were written and not committed, whose vectors are in them |
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError, IndexError_, IndexMismatch, ModelError
from mrag.index.bm25 import Bm25Index, Bm25Params, Postings
from mrag.index.dense import DenseIndex, DenseParams, SegmentSigns
from mrag.index.embedding import Embedder, EmbeddingHelp, unit
from mrag.index.rows import DIGEST_BYTES, Mask, Rows, StoredSegment, StringTable, digest, twice
from mrag.language.analysis import ANALYSIS_VERSION, Analyser
from mrag.storage.arrays import LazyArray, lazy
from mrag.storage.files import FileEntry, Journal, append
from mrag.storage.folder import Committed, Kind, Live, SegmentFolder, first_to_merge
from mrag.storage.sorting import SortedRows


class DocumentSegment(StoredSegment):
    """A run of documents, sorted by ID."""

    @cached_property
    def texts(self) -> StringTable:
        """Their texts."""
        return self.strings("texts")

    @cached_property
    def digests(self) -> npt.NDArray[np.uint8]:
        """What `digest` returns for each text, shape (rows, DIGEST_BYTES)."""
        return self._arrays["digests"]

    @cached_property
    def postings(self) -> Postings:
        """Their term frequencies."""
        arrays = self._arrays
        return Postings(
            terms=self.strings("terms"),
            starts=arrays["postings.starts"],
            rows=lazy(arrays, "postings.rows"),
            counts=lazy(arrays, "postings.counts"),
            lengths=arrays["postings.lengths"],
        )

    @cached_property
    def vectors(self) -> LazyArray | None:
        """Their vectors, float32, shape (rows, dim); None in an index without a model."""
        return lazy(self._arrays, "vectors") if "vectors" in self._arrays else None

    @cached_property
    def signs(self) -> SegmentSigns | None:
        """The signs of the vectors."""
        arrays = self._arrays
        return SegmentSigns(lazy(arrays, "planes"), lazy(arrays, "signs")) if "signs" in arrays else None

    @classmethod
    def _of(
        cls,
        ids: StringTable,
        texts: StringTable,
        digests: npt.NDArray[np.uint8],
        postings: Postings,
        vectors: npt.NDArray[np.float32] | None,
    ) -> DocumentSegment:
        arrays = cls.pack({"ids": ids, "texts": texts, "terms": postings.terms}) | {
            "digests": digests,
            "postings.starts": postings.starts,
            "postings.rows": np.asarray(postings.rows),
            "postings.counts": np.asarray(postings.counts),
            "postings.lengths": postings.lengths,
        }
        if vectors is not None:
            signs = SegmentSigns.of(vectors)
            arrays |= {"planes": np.asarray(signs.planes), "signs": np.asarray(signs.rows)}
            arrays["vectors"] = vectors
        return cls(arrays)

    @classmethod
    def build(
        cls, documents: Mapping[str, str], analyser: Analyser, vectors: Mapping[bytes, Any] | None
    ) -> DocumentSegment:
        """Build a segment."""
        ids = sorted(documents)
        texts = [documents[doc_id] for doc_id in ids]
        digests = [digest(text) for text in texts]
        stacked = (
            None
            if vectors is None
            else np.stack([vectors[d] for d in digests]).astype(np.float32, copy=False)
        )
        return cls._of(
            StringTable.of(ids),
            StringTable.of(texts),
            np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIGEST_BYTES),
            Postings.build(texts, analyser),
            stacked,
        )

    @classmethod
    def merge(cls, parts: Sequence[tuple[DocumentSegment, Mask]]) -> DocumentSegment:
        """Join the live rows of segments into one, the same as if built from their documents."""
        places = [
            (doc_id, part, row)
            for part, (segment, live) in enumerate(parts)
            for row, doc_id in enumerate(segment.ids)
            if live[row]
        ]
        places.sort()
        where = np.array([(part, row) for _, part, row in places], np.int64)
        new = [np.full(len(segment), -1, np.int64) for segment, _ in parts]
        texts: list[str] = [""] * len(places)
        digests = np.empty((len(places), DIGEST_BYTES), np.uint8)
        first = parts[0][0].vectors
        vectors = None if first is None else np.empty((len(places), first.shape[1]), np.float32)
        for part, (segment, _) in enumerate(parts):
            here = np.flatnonzero(where[:, 0] == part)
            rows = where[here, 1]
            new[part][rows] = here
            digests[here] = segment.digests[rows]
            if vectors is not None and segment.vectors is not None:
                vectors[here] = segment.vectors[rows]
            for at, row in zip(here.tolist(), rows.tolist(), strict=True):
                texts[at] = segment.texts[row]
        postings = [(segment.postings, moved) for (segment, _), moved in zip(parts, new, strict=True)]
        return cls._of(
            StringTable.of([doc_id for doc_id, _, _ in places]),
            StringTable.of(texts),
            digests,
            Postings.merge(postings, len(places)),
            vectors,
        )


def vectors_in(
    segments: Sequence[DocumentSegment], digests: Collection[bytes]
) -> dict[bytes, npt.NDArray[np.float32]]:
    """Return the vectors that segments have of some texts, whatever the ID, deleted or not."""
    # Half of each digest finds the rows in one vectorised pass, the whole of it decides.
    asked = np.frombuffer(b"".join(digests), np.uint64)[::2]
    vectors: dict[bytes, npt.NDArray[np.float32]] = {}
    for segment in segments if len(asked) else ():
        if segment.vectors is not None and len(segment):
            stored = np.ascontiguousarray(segment.digests).view(np.uint64)[:, 0]
            rows = np.flatnonzero(np.isin(stored, asked))
            keys = map(bytes, segment.digests[rows])
            vectors.update(zip(keys, segment.vectors[rows], strict=True))
    return {key: vectors[key] for key in digests if key in vectors}


KIND: Final = Kind("similarity index", 3, "Build it anew with `mrag index`.")


@dataclass(frozen=True)
class DocumentManifest:
    """What an index is."""

    generation: int = 0
    documents: int = 0
    embedder: str | None = None
    dim: int | None = None
    bm25: Bm25Params = field(default_factory=Bm25Params)
    extra: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, FileEntry] = field(default_factory=dict)

    def committed(self) -> Committed:
        """Return it as it is written."""
        about = {
            "analysis": self.bm25.analysis.version,
            "documents": self.documents,
            "embedder": self.embedder,
            "dim": self.dim,
            "bm25": asdict(self.bm25),
            "extra": self.extra,
        }
        return Committed(self.generation, self.files, about)

    @classmethod
    def of(cls, committed: Committed) -> DocumentManifest:
        """Undo `committed`."""
        fields = dict(committed.about)
        analysis = str(fields.pop("analysis"))
        if analysis.partition(" ")[0] != str(ANALYSIS_VERSION):
            raise IndexMismatch(
                f"Another version of mrag cut the texts of the index into words ({analysis}, not "
                f"{ANALYSIS_VERSION}).",
                hint=KIND.hint,
            )
        name = fields["bm25"]["analyser"]
        try:
            fields["bm25"] = Bm25Params(**fields["bm25"])
        except ConfigError as error:
            raise IndexMismatch(
                f"The analyser of the index, {name}, cannot be used: {error.message}",
                hint=f"{error.hint} Or build the index with another: `mrag index --analyser auto`.",
            ) from error
        if (here := fields["bm25"].analysis.version) != analysis:
            raise IndexMismatch(
                f"Another release of the analyser {name} cut the texts of the index into words ({analysis}, "
                f"not {here}).",
                hint=KIND.hint,
            )
        return cls(generation=committed.generation, files=committed.files, **fields)


DocumentFolder: TypeAlias = SegmentFolder[DocumentSegment]


def document_folder(path: Path) -> DocumentFolder:
    """Return the folder of an index of documents, which need not exist."""
    return SegmentFolder(path, KIND, DocumentSegment)


Vectors = Mapping[bytes, npt.NDArray[np.float32]]  # Vector by digest of the text


@dataclass(frozen=True, eq=False)
class DocumentState:
    """What searches see. Replaced whole and never changed, so that none sees half of a change."""

    manifest: DocumentManifest
    segments: tuple[DocumentSegment, ...]
    rows: Rows
    dense_params: DenseParams

    @classmethod
    def of(
        cls, manifest: DocumentManifest, segments: Sequence[DocumentSegment], live: Live, params: DenseParams
    ) -> DocumentState:
        """Put a state together."""
        return cls(manifest, tuple(segments), Rows([segment.ids for segment in segments], live), params)

    @classmethod
    def read(cls, folder: DocumentFolder, params: DenseParams) -> DocumentState:
        """Read the newest commit in a folder."""
        return folder.read(
            lambda committed, segments, live: cls.of(DocumentManifest.of(committed), segments, live, params)
        )

    @cached_property
    def bm25(self) -> Bm25Index:
        """The lexical ranker."""
        return Bm25Index(self.manifest.bm25, self.rows, [segment.postings for segment in self.segments])

    @cached_property
    def dense(self) -> DenseIndex:
        """The ranker by vectors; empty in an index without."""
        pairs = [(s.vectors, s.signs) for s in self.segments]
        vectors = [v for v, _ in pairs if v is not None]
        signs = [p for _, p in pairs if p is not None]
        return DenseIndex(self.rows, vectors, signs, self.dense_params)

    def sample(self, most: int) -> list[int]:
        """Return rows chosen at random, but the same however the documents came and lie in segments."""
        live = np.flatnonzero(self.rows.live)
        keys = np.ascontiguousarray(self.digests[live]).view(np.uint64)[:, 0]
        if len(live) > most:
            few = np.argpartition(keys, most)[:most]
            live, keys = live[few], keys[few]
        return [int(row) for row in live[np.argsort(keys, kind="stable")]]

    @cached_property
    def digests(self) -> npt.NDArray[np.uint8]:
        """Digest of the text of each row."""
        empty = np.empty((0, DIGEST_BYTES), np.uint8)
        return np.concatenate([empty, *(segment.digests for segment in self.segments)])

    def place(self, row: int) -> tuple[DocumentSegment, int]:
        """Return the segment of a row and the place in it."""
        at, place = self.rows.place(row)
        return self.segments[at], place

    def known_vectors(self, digests: Collection[bytes]) -> dict[bytes, npt.NDArray[np.float32]]:
        """Return the vectors that are stored for some texts; see `vectors_in`."""
        return vectors_in(self.segments, digests)


def as_json(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the caller's JSON."""
    try:
        return dict(json.loads(json.dumps(extra, allow_nan=False)))
    except (TypeError, ValueError) as error:
        hint = "Use a dict of strings, finite numbers, booleans, None, lists and dicts."
        raise ConfigError(f"What is kept with the index must be JSON: {error}.", hint=hint) from error


_LEAST_ROWS: Final = 25_000  # Rows that every segment may have
_MOST_ROWS: Final = 250_000
_MOST_BYTES: Final = 1 << 28  # Bytes of the vectors of a segment, if it has more rows than all may have

Sealed: TypeAlias = Callable[[DocumentSegment, str, FileEntry | None], None]
"""Called with a segment that is written before its commit, the name of its file and what is known of that."""


def most_rows(dim: int | None) -> int:
    """Return how many rows a segment may have."""
    return max(_LEAST_ROWS, min(_MOST_ROWS, _MOST_BYTES // (4 * (dim or 1))))


class _Next:
    """The segments of the next commit."""

    def __init__(self, state: DocumentState, folder: DocumentFolder | None, sealed: Sealed) -> None:
        self._state = state
        self._folder = folder
        self._sealed = sealed
        self.segments: list[DocumentSegment] = []
        self.files: dict[str, FileEntry] = {}
        self.live: list[Mask] = []
        self.group: list[tuple[DocumentSegment, Mask]] = []
        self.size = 0

    def keep(self, at: int, live: Mask) -> None:
        """Take over a segment as it is."""
        self.close()
        self.segments.append(self._state.segments[at])
        self.live.append(live)
        if self._folder:
            name = self._state.manifest.committed().segments[at]
            self.files[name] = self._state.manifest.files[name]

    def join(self, segment: DocumentSegment, live: Mask, most: int) -> None:
        """Add the live rows of a segment to those that become one."""
        rows = int(np.count_nonzero(live))
        if self.size + rows > most:
            self.close()
        self.group.append((segment, live))
        self.size += rows

    def close(self, *, early: bool = False) -> None:
        """Write what is to become one segment; `early` if more is to come."""
        group, self.group, self.size = self.group, [], 0
        if not any(live.any() for _, live in group):
            return
        whole = len(group) == 1 and bool(group[0][1].all())
        segment, name, entry = group[0][0] if whole else DocumentSegment.merge(group), "", None
        if self._folder is not None:
            with self._folder.refusals():
                number = self._folder.next_generation()
                name, entry = self._folder.write_segment(segment, number)
                segment = self._folder.segment(name, Committed(number, {name: entry}))
            self.files[name] = entry
        if early:
            self._sealed(segment, name, entry)
        self.segments.append(segment)
        self.live.append(np.ones(len(segment), np.bool_))


def next_state(
    state: DocumentState,
    kept: Mask,
    new: int,
    built: Iterable[DocumentSegment],
    *,
    extra: Mapping[str, Any],
    folder: DocumentFolder | None,
    most: int,
    sealed: Sealed,
) -> DocumentState:
    """Make the next state and, in a folder, commit it."""
    spans = list(state.rows.spans())
    sizes = [(int(np.count_nonzero(kept[start:end])), end - start) for start, end in spans]
    first = first_to_merge(sizes, new)
    following = _Next(state, folder, sealed)
    for at, (segment, (start, end)) in enumerate(zip(state.segments, spans, strict=True)):
        live, rows = sizes[at]
        if at < first or max(most, rows) < 2 * live:
            following.keep(at, kept[start:end])
        else:
            following.join(segment, kept[start:end], most)
    for segment in built:
        following.join(segment, np.ones(len(segment), np.bool_), most)
        if most < 2 * following.size:
            following.close(early=True)
    following.close()
    live_rows = np.concatenate([np.ones(0, np.bool_), *following.live])
    whole = bool(live_rows.all())
    with nullcontext() if folder is None else folder.refusals():
        generation = folder.next_generation() if folder else state.manifest.generation + 1
        if folder and not whole:
            name, following.files[name] = folder.write_deleted(live_rows, generation)
        dims = (s.vectors.shape[1] for s in following.segments if s.vectors is not None)
        manifest = replace(
            state.manifest, generation=generation, documents=int(np.count_nonzero(live_rows)),
            dim=next(dims, state.manifest.dim), extra=extra, files=following.files,
        )  # fmt: skip
        if folder:
            folder.commit(manifest.committed())
    return DocumentState.of(manifest, following.segments, None if whole else live_rows, state.dense_params)


Documents: TypeAlias = SortedRows[tuple[str, str]]  # IDs and texts, in order of ID


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


@contextmanager
def gather_documents(documents: Iterable[tuple[str, str]], folder: Path | None = None) -> Iterator[Documents]:
    """Give documents in order of ID; those that do not fit into memory wait in a file."""

    def plain() -> Iterator[tuple[str, str]]:
        for document in documents:
            given: object = document
            pair = isinstance(given, tuple | list) and len(given) == 2
            if not (pair and all(isinstance(part, str) for part in document)):
                hint = "Give pairs of two strings: ID and text."
                raise ConfigError(f"Not a document: {given!r:.200}.", hint=hint)
            # Plain strings: rdflib's IRIs are strings that equal no plain one.
            yield str(document[0]), str(document[1])

    with SortedRows(plain(), folder=folder) as rows:
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
        meets = rows.live_rows(doc_id for doc_id, _ in given) if whole else (rows.row_of(i) for i, _ in given)
        for (doc_id, text), row in zip(given, meets, strict=True):
            same = row is not None and state.digests[row].tobytes() == digest(text)
            if row is not None:
                kept[row] = same
                counts["same" if same else "changed"] += 1
            if not same:
                yield doc_id, text

    with gather_documents(documents, folder) as given, SortedRows(fresh(given), folder=folder) as differing:
        yield DocumentComparison(differing, kept, **counts)


Progress: TypeAlias = Callable[[int, int | None], None]  # Called with how much is done, and how much there is


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
        self._sealed = [segment for segment in map(self._open, self._records(embedder)) if segment]
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

    def _open(self, record: Mapping[str, Any]) -> DocumentSegment | None:
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


def _once(text: str) -> str:
    """Return a text that says one thing again and again, as a name weighs for BM25, as it says it once."""
    whole = f"{text}. "
    return text[: (whole + whole).find(whole, 1) - 2]


def embed_missing(
    texts: Iterable[str],
    known: Callable[[Collection[bytes]], Mapping[bytes, npt.NDArray[np.float32]]],
    model: Embedder,
    pending: PendingVectors,
    *,
    dim: int | None,
    batch: int,
    on_progress: Progress,
    helped: EmbeddingHelp,
) -> dict[bytes, npt.NDArray[np.float32]]:
    """Embed the texts whose vectors are neither known nor pending."""
    if batch < 1:
        raise ConfigError(f"Cannot embed batches of {batch} texts.", hint="256 is usual.")
    by_digest = {digest(text): _once(text) for text in texts}
    present = {key: vector for key, vector in pending.vectors.items() if key in by_digest}
    present.update(known(by_digest.keys()))
    present.update(pending.known(by_digest.keys() - present.keys()))
    recalled = helped.recall(model.name, by_digest.keys() - present.keys())
    present.update((key, fitting(vector, dim)) for key, vector in recalled.items())
    # Longest first: memory peaks at once and not at the end, and the rest only gets quicker.
    missing = sorted(by_digest.keys() - present.keys(), key=lambda key: (-len(by_digest[key]), key))
    on_progress(len(present), len(by_digest))
    batches = [missing[start : start + batch] for start in range(0, len(missing), batch)]
    given = ([by_digest[key] for key in some] for some in batches)
    for number, made in helped.embed(model, given):
        some, vectors = batches[number], unit(made)
        if vectors.ndim != 2 or len(vectors) != len(some):
            raise ModelError(
                f"The embedding model {model.name} gave shape {vectors.shape} for {len(some)} texts.",
                hint="embed_documents gives one vector per text, shape (texts, dim).",
            )
        pending.append(some, fitting(vectors, dim))
        present.update(zip(some, vectors, strict=True))
        on_progress(len(present), len(by_digest))
    return present


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
