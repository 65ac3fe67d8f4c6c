# ruff: noqa: D102 - what implements an interface is described there
"""An index whose documents are in an engine: the same methods and results as of one in a folder.

All that is the same for every engine (comparing documents, embedding, committing, fusing, telling which
words were found) is done here; an `IndexEngine` keeps rows. Each row says from which commit to which it
counts: a change adds rows that count from the next commit on, and marks those that end with it. Then one
write makes that commit the newest, and what has ended is removed. A change that is broken off before that
write left nothing that counts, and the next one clears it away. An engine with transactions need not keep
the marks.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.index.backends.base import Abilities
from mrag.index.bm25 import Bm25Index, Bm25Params
from mrag.index.document_index import DocumentUpdate, Match, StoredIndex, TextSearch, matches
from mrag.index.embedding import Embedder, Vectors, unit
from mrag.index.fusion import FusionWeight, weighted_scores
from mrag.index.rows import digest
from mrag.index.segments import (
    DocumentManifest,
    Documents,
    PendingVectors,
    SyncReport,
    as_json,
    check_model,
    document_folder,
    embed_missing,
    fitting,
    gather_documents,
    needed_model,
)
from mrag.language.analysis import Analyser
from mrag.redaction import names_secret, redact
from mrag.storage.files import make_folder
from mrag.storage.folder import Committed, hold
from mrag.storage.sorting import SortedRows

ScoredIds: TypeAlias = list[tuple[str, float]]  # Document IDs with their scores, best first, ties by ID
Allowed: TypeAlias = Collection[str] | None  # IDs of the documents that may be found; None for all
T = TypeVar("T")

_DRIFT: Final = 0.1
_BATCH: Final = 512  # Documents that go to an engine at once
_TRIES: Final = 5


@dataclass(frozen=True)
class EngineState:
    """One commit of an index in an engine."""

    manifest: DocumentManifest
    tokens: int = 0
    place: str = ""
    mean: float = 0.0

    @property
    def number(self) -> int:
        """Number of the commit, by which its rows are told."""
        return self.manifest.generation

    @property
    def drifted(self) -> bool:
        """Whether the documents are now so much longer or shorter that their words need other weights."""
        return bool(self.mean) and abs(self.mean_length / self.mean - 1) > _DRIFT

    @property
    def mean_length(self) -> float:
        """Mean number of terms of a document."""
        return self.tokens / self.manifest.documents if self.manifest.documents else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        kept = self.manifest.committed()
        about = {"generation": kept.generation, "about": kept.about}
        return about | {"tokens": self.tokens, "place": self.place, "mean": self.mean}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> EngineState:
        """Return what `to_json` gave."""
        manifest = DocumentManifest.of(Committed(kept["generation"], {}, kept["about"]))
        return cls(manifest, kept["tokens"], kept["place"], kept.get("mean", 0.0))


@dataclass(frozen=True)
class EngineRow:
    """A document as an engine keeps it."""

    doc_id: str
    text: str
    digest: bytes = b""
    terms: Counter[str] = field(default_factory=Counter)
    vector: Vectors | None = None


@dataclass(frozen=True)
class IndexChange:
    """What the next commit of an index changes."""

    before: EngineState | None
    after: DocumentManifest
    fresh: Documents
    vectors: Mapping[bytes, Vectors] | None
    gone: Sequence[str]

    def rows(self) -> Iterator[list[EngineRow]]:
        """Yield the fresh documents in batches, in order of ID."""
        rest, analysis = iter(self.fresh), self.after.bm25.analysis
        while part := list(islice(rest, _BATCH)):
            rows = []
            for doc_id, text in part:
                key = digest(text)
                vector = None if self.vectors is None else self.vectors[key]
                rows.append(EngineRow(doc_id, text, key, terms_of(text, analysis), vector))
            yield rows

    def tokens(self) -> int:
        """Return how many terms the fresh documents have together."""
        return sum(terms_of(text, self.after.bm25.analysis).total() for _, text in self.fresh)


class Replaced(IndexError_):
    """The commit that is being read is gone, because the index was built anew meanwhile."""


def no_index(name: str) -> MissingIndex:
    """Return the error for an index that is not there."""
    return MissingIndex(f"There is no similarity index {name!r}.", hint="Build it with `mrag index`.")


def refusal(engine: str, error: Exception) -> IndexError_:
    """Return what an engine refuses as an error of the index."""
    first = redact(str(getattr(error, "message", "") or error).strip().partition("\n")[0])
    return IndexError_(f"{engine} says: {first or type(error).__name__}.")


def terms_of(text: str, analysis: Analyser) -> Counter[str]:
    """Return how often a text has each of its terms."""
    return Counter(term for token in analysis.tokens(text) for term in analysis.terms(token))


def space_of(identity: str, name: str) -> str:
    """Return what tells a graph, or an index, from the others that are kept in one engine."""
    return hashlib.blake2b(f"{identity}\0{name}".encode(), digest_size=8).hexdigest()


def parts_of(items: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Yield a sequence in parts."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


OPEN: Final = 2**53 - 1  # The commit to which a row counts that has not ended
REGISTRY: Final = "mrag_registry"
"""The collection of what indexes are: rows of which the text is the state of an index."""
_KEPT: Final = EngineState(DocumentManifest(), place=REGISTRY)
_FIELDS: Final = ("number", "id", "text", "digest", "since", "until", "words")
_BEYOND: Final = 16  # Hits that are asked for beyond those that are wanted, to see where ties end
_MOST: Final = 10_000  # Hits beyond which ties may be in another order

Where: TypeAlias = Sequence[tuple[str, str, Any]]
"""Conditions on rows: `since` or `until`, one of `<`, `<=` and `>`, and a number; or `id`, `in` and IDs."""


def counting(at: EngineState, ids: Allowed = None) -> Where:
    """Return the conditions of the rows that count at a commit, and are of some documents."""
    when: list[tuple[str, str, Any]] = [("since", "<=", at.number), ("until", ">", at.number)]
    return when if ids is None else [*when, ("id", "in", list(ids))]


def key_of(*parts: str) -> str:
    """Return a digest that stands for an ID where an engine takes no long names."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def stored_fields(row: EngineRow, since: EngineState) -> dict[str, Any]:
    """Return a row as fields, its words by number of term; a row replaces another of its `number`."""
    number = f"{since.number:d}-{key_of(row.doc_id)}"
    text = row.text.encode("utf-8", "replace").decode()  # JSON has no lone surrogates
    kept: dict[str, Any] = {"number": number, "id": row.doc_id, "text": text, "digest": row.digest.hex()}
    kept |= {"since": since.number, "until": OPEN, "words": word_weights(row, since)}
    return kept if row.vector is None else {**kept, "vector": row.vector}


def client_package(name: str, engine: str, extra: str) -> Any:
    """Import the client of an engine, which the extra of this name installs."""
    try:
        return import_module(name)
    except ImportError as error:
        hint = f"Install it with `pip install 'mrag[{extra}]'`."
        raise ConfigError(f"Indexes in {engine} need the package {name}.", hint=hint) from error


class IndexEngine(ABC):
    """Collections of rows with the commits they belong to."""

    registered = False  # Whether the collection of what indexes are has been seen
    live_statistics = False
    """Whether BM25 goes by the mean length of the documents as they are, not as they were when first put."""

    @abstractmethod
    def places(self) -> list[str]:
        """List the collections."""

    @abstractmethod
    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        """Make a collection, for vectors of so many dimensions, if there are any."""

    @abstractmethod
    def drop(self, place: str) -> None:
        """Remove a collection, if it is there."""

    @abstractmethod
    def put(self, since: EngineState, rows: Sequence[EngineRow]) -> None:
        """Add rows that count from a commit on."""

    def settle(self, place: str) -> None:  # noqa: B027 - most engines see at once what was put
        """Have what was put be seen."""

    @abstractmethod
    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        """Yield some fields (`id`, `text`, `digest` or `vector`) of the rows that meet conditions."""

    @abstractmethod
    def mark(self, at: EngineState, where: Where, until: int) -> None:
        """Say of the rows of a commit that meet conditions to which commit they count."""

    @abstractmethod
    def delete(self, place: str, where: Where) -> None:
        """Remove the rows that meet conditions."""

    @abstractmethod
    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> ScoredIds:
        """Rank by BM25 the rows that have a term."""

    @abstractmethod
    def by_vector(self, at: EngineState, vector: Vectors, k: int, where: Where) -> ScoredIds:
        """Rank by the inner product with a vector of length 1."""

    def lock(self, key: str) -> AbstractContextManager[None]:
        """Keep other writers of one index out, where the engine can."""
        return nullcontext()

    def transaction(self) -> AbstractContextManager[None]:
        """Have readers see all that is done in it at once, where the engine can."""
        return nullcontext()

    def snapshot(self) -> AbstractContextManager[object]:
        """Have all questions that are asked in it see one state, where the engine can."""
        return nullcontext()


class SparseEngine(IndexEngine):
    """An engine that ranks by sparse vectors of words, whose weights are computed here."""

    @abstractmethod
    def write(self, place: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows of the fields of `stored_fields`."""

    @abstractmethod
    def counts(self, at: EngineState, terms: Collection[int]) -> Mapping[int, int]:
        """Return how many of the documents that count at a commit have each term."""

    @abstractmethod
    def by_weights(self, at: EngineState, weights: Mapping[int, float], k: int, where: Where) -> ScoredIds:
        """Rank by the inner product with a sparse vector."""

    def put(self, since: EngineState, rows: Sequence[EngineRow]) -> None:
        self.write(since.place, [stored_fields(row, since) for row in rows])

    def mark(self, at: EngineState, where: Where, until: int) -> None:
        # Written anew: an update of one field is not known to every engine.
        fields = [*_FIELDS, *(() if at.manifest.dim is None else ("vector",))]
        for part in parts_of(list(self.rows(at.place, where, *fields))):
            rows = (dict(zip(fields, row, strict=True)) for row in part)
            self.write(at.place, [{**row, "until": until} for row in rows])
        self.settle(at.place)

    def by_words(self, at: EngineState, query: Mapping[str, int], k: int, where: Where) -> ScoredIds:
        weights = query_weights(query, at.manifest.documents, lambda terms: self.counts(at, terms))
        return self.by_weights(at, weights, k, where) if weights else []


def states(engine: IndexEngine, graph: str, name: str | None = None) -> dict[str, str]:
    """Return what is kept of the indexes of a graph, or of one of them, by name."""
    engine.registered = engine.registered or REGISTRY in engine.places()
    if not engine.registered:
        return {}
    where = counting(_KEPT, None if name is None else [f"{graph} {name}"])
    rows = engine.rows(REGISTRY, where, "id", "text")
    return {i.partition(" ")[2]: text for i, text in rows if i.partition(" ")[0] == graph}


@dataclass(frozen=True)
class Shelf:
    """The place of one index in an engine."""

    engine: IndexEngine
    graph: str
    name: str
    beside: Path | None

    def state(self) -> EngineState | None:
        """Return what the index is; None if there is none."""
        kept = states(self.engine, self.graph, self.name).get(self.name)
        return None if kept is None else EngineState.from_json(json.loads(kept))

    @contextmanager
    def reading(self) -> Iterator[IndexView]:
        """Give the newest commit for a while."""
        with self.engine.snapshot():
            state = self.state()
            if state is None:
                raise no_index(self.name)
            yield IndexView(self.engine, state)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out."""
        own = nullcontext() if self.beside is None else hold(self.beside)
        with own, self.engine.lock(f"mrag {self.graph} {self.name}"):
            yield

    def drop(self) -> None:
        """Remove the index, while it is locked for writing."""
        with self.engine.transaction():
            state = self.state()
            self._keep(None)
            if state is not None:
                self.engine.drop(state.place)

    def commit(self, change: IndexChange) -> EngineState:
        """Carry out a change so that readers see all of it or nothing, whenever it is broken off."""
        with self.engine.transaction():
            before, old = change.before, self.state()
            # The first vectors say how long they are.
            anew = before is None or before.manifest.dim != change.after.dim
            state = self._build(change, old) if before is None or anew else self._change(before, change)
            self._keep(state)
            if old is not None and old.place != state.place:
                self.engine.drop(old.place)
            else:
                self.engine.delete(state.place, [("until", "<=", state.number)])
        return state

    def _keep(self, state: EngineState | None) -> None:
        """Keep what the index is, or nothing any more, in one step."""
        engine, key = self.engine, f"{self.graph} {self.name}"
        if not engine.registered and REGISTRY not in engine.places():
            engine.make(REGISTRY, None, Bm25Params())
        if state is None:
            engine.delete(REGISTRY, counting(_KEPT, [key]))
            return
        engine.settle(state.place)
        engine.put(_KEPT, [EngineRow(key, json.dumps(state.to_json()))])
        engine.settle(REGISTRY)

    def _build(self, change: IndexChange, old: EngineState | None) -> EngineState:
        engine, ours = self.engine, f"mrag_{space_of(self.graph, self.name)}_"
        for left in engine.places():
            if left.startswith(ours) and (old is None or left != old.place):
                engine.drop(left)  # of a build that was broken off
        tokens, documents = change.tokens(), len(change.fresh)
        manifest = replace(change.after, documents=documents)
        state = EngineState(manifest, tokens, ours + secrets.token_hex(4), tokens / max(1, documents))
        engine.make(state.place, manifest.dim, manifest.bm25)
        for rows in change.rows():
            engine.put(state, rows)
        return state

    def _change(self, before: EngineState, change: IndexChange) -> EngineState:
        engine, place = self.engine, before.place
        self._undo(before)
        since = EngineState(change.after, 0, place, before.mean)
        documents, tokens = before.manifest.documents, before.tokens
        for part in parts_of(change.gone):
            for (text,) in engine.rows(place, counting(before, part), "text"):
                documents, tokens = documents - 1, tokens - terms_of(text, change.after.bm25.analysis).total()
            engine.mark(before, counting(before, part), since.number)
        for rows in change.rows():
            engine.put(since, rows)
            documents, tokens = documents + len(rows), tokens + sum(row.terms.total() for row in rows)
        return replace(since, manifest=replace(change.after, documents=documents), tokens=tokens)

    def _undo(self, at: EngineState) -> None:
        """Remove the rows that count later than a commit, and the marks of an end later than that."""
        self.engine.settle(at.place)
        self.engine.delete(at.place, [("since", ">", at.number)])
        self.engine.mark(at, [("until", ">", at.number), ("until", "<", OPEN)], OPEN)


@dataclass(frozen=True)
class IndexView:
    """One commit of an index, to be asked."""

    engine: IndexEngine
    state: EngineState

    def by_words(self, query: Mapping[str, int], k: int, allowed: Allowed) -> ScoredIds:
        """Rank by BM25 the documents that have a term."""
        where = counting(self.state, allowed)
        return settle_ties(lambda most: self.engine.by_words(self.state, query, most, where), k)

    def by_vector(self, vector: Vectors, k: int, allowed: Allowed) -> ScoredIds:
        """Rank by the inner product with a vector of length 1."""
        where = counting(self.state, allowed)
        return settle_ties(lambda most: self.engine.by_vector(self.state, vector, most, where), k)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""
        return self._fields("text", ids)

    def digests(self) -> dict[str, bytes]:
        """Return the digest of the text of every document, by ID."""
        rows = self.engine.rows(self.state.place, counting(self.state), "id", "digest")
        return {doc_id: bytes.fromhex(key) for doc_id, key in rows}

    def vectors(self, ids: Collection[str]) -> dict[str, Vectors]:
        """Return the vectors of documents; none of those that have none."""
        return {} if self.state.manifest.dim is None else self._fields("vector", ids)

    def _fields(self, name: str, ids: Collection[str]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for part in parts_of(list(ids)):
            rows = self.engine.rows(self.state.place, counting(self.state, part), "id", name)
            fields.update((doc_id, value) for doc_id, value in rows if value is not None)
        return fields


def settle_ties(ask: Callable[[int], ScoredIds], k: int) -> ScoredIds:
    """Return the best k with ties in order of ID, from an engine that breaks ties in its own way."""
    most = k + _BEYOND
    while True:
        # Engines add in binary32, not all in the same order.
        hits = [(doc_id, float(np.float32(score))) for doc_id, score in ask(most)]
        best = _best(hits, k)
        if len(hits) < most or most >= _MOST or hits[-1][1] < best[-1][1]:
            return best
        most = min(4 * most, _MOST)


def _best(hits: Iterable[tuple[str, float]], k: int) -> ScoredIds:
    return sorted(hits, key=lambda one: (-one[1], one[0]))[:k]


def word_weights(row: EngineRow, since: EngineState) -> dict[int, float]:
    """Return the part of BM25 that a document has in each of its terms; the rarity of terms is not in it."""
    bm25, relative = since.manifest.bm25, row.terms.total() / since.mean if since.mean else 0.0
    norm = bm25.k1 * (1 - bm25.b + bm25.b * relative)
    return by_term_number({term: count / (count + norm) for term, count in row.terms.items()})


def by_term_number(weights: Mapping[str, float]) -> dict[int, float]:
    """Return weights by number of a term for sparse vectors; hardly two of 100,000 terms share one."""
    totals: dict[int, float] = {}
    for term, weight in weights.items():
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
        number = min(max(number, 1), 2**32 - 2)  # no engine takes the largest, and 0 is for our own use
        totals[number] = totals.get(number, 0.0) + weight
    return totals


def query_weights(
    query: Mapping[str, int], documents: int, counts: Callable[[Collection[int]], Mapping[int, int]]
) -> dict[int, float]:
    """Return the part of BM25 that a query has in each of its terms, by how many documents have a term.

    They are those that count: rows of a change that is under way, or was broken off, make no word less rare.
    """
    terms = by_term_number(query)
    return {
        term: terms[term] * math.log(1 + (documents - df + 0.5) / (df + 0.5))
        for term, df in counts(terms).items()
        if df
    }


def search(view: IndexView, asked: TextSearch, vector: Vectors | None) -> list[Match]:
    """Rank documents; the arguments and the result are those of `mrag.index.document_index.search`."""
    knobs, depth = view.state.manifest.bm25, asked.depth
    query = Bm25Index.of((), knobs).count_terms(asked.text)
    allowed = None if asked.allowed is None else sorted(set(map(str, asked.allowed)))
    there = bool(view.state.manifest.documents) and allowed != []
    words = view.by_words(query, depth, allowed) if there and query and asked.mode != "dense" else []
    # A text without a known token has no direction, so no document is near to it.
    near = there and vector is not None and vector.any()
    nearest = view.by_vector(vector, depth, allowed) if near and vector is not None else []
    if words and nearest and vector is not None:
        # An engine looks through a part of the vectors. The documents that count most for a query by both
        # are found by words, too, and so can be compared one by one.
        known = {doc_id for doc_id, _ in nearest}
        least = nearest[-1][1] if len(nearest) >= depth else -np.inf
        others = view.vectors([doc_id for doc_id, _ in words if doc_id not in known])
        compared = ((doc_id, float(one @ vector)) for doc_id, one in others.items() if one.any())
        passed = [(doc_id, score) for doc_id, score in compared if score > least]
        nearest = _best([*nearest, *passed], depth) if passed else nearest
    return fuse(asked, words, nearest, vector is not None, knobs, view.texts)


def fuse(
    asked: TextSearch,
    words: ScoredIds,
    nearest: ScoredIds,
    by_both: bool,
    knobs: Bm25Params,
    texts: Callable[[list[str]], Mapping[str, str]],
) -> list[Match]:
    """Put a ranking by words and one by vectors together; `by_both` says whether there are vectors at all."""
    best = words or nearest
    if asked.mode == "hybrid":
        shares = (1 - asked.weight, asked.weight) if by_both else (1.0, 0.0)
        best = weighted_scores((words, nearest), weights=shares)
    best = best[: asked.k]
    found_texts = texts([doc_id for doc_id, _ in best]) if best else {}
    shown = Bm25Index.of(found_texts.items(), knobs)
    named = []
    for doc_id, score in best:
        row = shown.rows.row_of(doc_id)
        terms = () if row is None else shown.matching(asked.text, np.array([row]))[0]
        named.append((doc_id, doc_id, score, terms))
    return matches(named, words, nearest)


@dataclass(eq=False)
class EngineIndex(StoredIndex):
    """Documents with their texts in an engine; `anew` if it is to take the place of what is there."""

    shelf: Shelf
    manifest: DocumentManifest
    embedder: Embedder | None
    anew: bool = False

    def __post_init__(self) -> None:
        check_model(self.manifest.embedder, self.embedder)
        beside = self.shelf.beside
        self._pending = PendingVectors(None if beside is None else document_folder(beside))

    def __len__(self) -> int:
        return self.manifest.documents

    @property
    def doc_ids(self) -> list[str]:
        return sorted(self._read(lambda view: view.digests()) or ())

    def refresh(self) -> bool:
        before = self.manifest
        self._read(lambda view: view.state)
        return self.manifest != before

    def texts_of(self, ids: Iterable[str]) -> dict[str, str]:
        wanted = list(map(str, ids))
        return self._read(lambda view: view.texts(wanted)) or {}

    def vectors_of(self, ids: Iterable[str]) -> dict[str, Vectors]:
        wanted = list(map(str, ids)) if self.embedder_name is not None else []
        return (self._read(lambda view: view.vectors(wanted)) if wanted else None) or {}

    def known_vectors(self, digests: Collection[bytes]) -> Mapping[bytes, Vectors]:
        wanted = frozenset(digests) if self.embedder_name is not None else frozenset()

        def ask(view: IndexView) -> dict[bytes, Vectors]:
            holders = {doc_id: key for doc_id, key in view.digests().items() if key in wanted}
            ids = sorted({key: doc_id for doc_id, key in sorted(holders.items(), reverse=True)}.values())
            return {holders[doc_id]: vector for doc_id, vector in view.vectors(ids).items()}

        return (self._read(ask) if wanted else None) or {}

    def differing(self, documents: Iterable[tuple[str, str]]) -> int:
        known = self._read(lambda view: view.digests()) or {}
        there, count = 0, 0
        for doc_id, text in documents:
            kept = known.get(doc_id)
            there += kept is not None
            count += kept != digest(text)
        return count + len(known) - there

    def learnt_weight(self) -> FusionWeight:
        kept = FusionWeight.from_json(self.manifest.extra.get("fusion"))
        return replace(kept, documents=len(self), changed=0)

    def _search(self, asked: TextSearch) -> list[Match]:
        vector = None
        if asked.needs_vector(self.embedder_name):
            vector = fitting(unit(self._model().embed_query(asked.text)), self.manifest.dim)
        return self._read(lambda view: search(view, asked, vector)) or []

    def _update(self, update: DocumentUpdate) -> SyncReport:
        whole = update.whole
        with self.shelf.writing():
            before = None if self.anew else self.shelf.state()
            known: dict[str, bytes] = {}
            if before is not None:
                with self.shelf.reading() as view:
                    known = view.digests()
            stays: set[str] = set()
            changed: set[str] = set()

            def differing(given: Documents) -> Iterator[tuple[str, str]]:
                for doc_id, text in given:
                    if known.get(doc_id) == digest(text):
                        stays.add(doc_id)
                        continue
                    if doc_id in known:
                        changed.add(doc_id)
                    yield doc_id, text

            with gather_documents(update.documents) as given, SortedRows(differing(given)) as fresh:
                gone = sorted(known.keys() - stays if whole else changed)
                if whole and before is not None and before.drifted and not self.shelf.engine.live_statistics:
                    self._commit(None, known, given, [], update)
                else:
                    self._commit(before, known, fresh, gone, update)
                added = len(fresh) - len(changed)
        return SyncReport(added, len(changed), len(gone) - len(changed), len(stays))

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        with self.shelf.writing():
            with self.shelf.reading() as view:
                wanted = sorted(set(map(str, ids)))
                gone = sorted(view.texts(wanted)) if wanted else []
                before = view.state
            with SortedRows[tuple[str, str]](()) as none:
                self._commit(before, {}, none, gone, DocumentUpdate((), False, extra, lambda *_: None, 1))
        return len(gone)

    def _read(self, ask: Callable[[IndexView], T]) -> T | None:
        """Ask the newest commit; None before the first."""
        if self.anew and self.shelf.state() is None:
            return None
        for _ in range(_TRIES):
            try:
                with self.shelf.reading() as view:
                    if not self.anew:
                        self._take(view.state.manifest)
                    return ask(view)
            except Replaced as error:
                last = error
        raise last

    def _take(self, manifest: DocumentManifest) -> None:
        if self.embedder is not None and manifest.embedder != self.embedder.name:
            raise IndexMismatch(
                f"The index has been built anew with {manifest.embedder or 'no model'}.",
                hint="Open it with that model.",
            )
        self.manifest = manifest

    def _model(self) -> Embedder:
        return needed_model(self.embedder_name, self.embedder)

    def _commit(
        self,
        before: EngineState | None,
        known: Mapping[str, bytes],
        fresh: Documents,
        gone: list[str],
        update: DocumentUpdate,
    ) -> None:
        manifest = self.manifest if before is None else before.manifest
        kept = as_json(manifest.extra if update.extra is None else update.extra)
        if before is not None and not fresh and not gone and kept == manifest.extra:
            return
        vectors = self._vectors(manifest, known, fresh, update)
        dim = next((len(vector) for vector in (vectors or {}).values()), manifest.dim)
        generation = (0 if before is None else before.manifest.generation) + 1
        after = replace(manifest, extra=kept, dim=dim, generation=generation)
        self.manifest = self.shelf.commit(IndexChange(before, after, fresh, vectors, gone)).manifest
        self.anew = False
        self._pending.clear()

    def _vectors(
        self, manifest: DocumentManifest, known: Mapping[str, bytes], fresh: Documents, update: DocumentUpdate
    ) -> Mapping[bytes, Vectors] | None:
        if manifest.embedder is None or not fresh:
            update.on_progress(len(fresh), len(fresh))
            return None if manifest.embedder is None else {}
        there = set(known.values())
        model = self._model()
        if self.shelf.beside is not None:
            make_folder(self.shelf.beside)
        self._pending.load(model.name)
        return embed_missing(
            (text for _, text in fresh),
            lambda keys: self.known_vectors([key for key in keys if key in there]), model, self._pending,
            dim=manifest.dim, batch=update.batch, on_progress=update.on_progress, helped=update.helped,
        )  # fmt: skip


class EngineBackend(ABC):
    """Keeps indexes in an engine."""

    abilities = Abilities(exact_words=False, exact_vectors=False, live_statistics=False, snapshots=False)
    login_by = "the environment"  # Where a password belongs
    engine: IndexEngine

    def __init__(self, url: str, graph: str, pending: Path | None = None) -> None:
        place, _, query = url.partition("?")
        login = place.partition("//")[2].partition("/")[0].rpartition("@")[0]
        if login.partition(":")[2] or any(names_secret(part.partition("=")[0]) for part in query.split("&")):
            hint = f"Put the password into {self.login_by}."
            raise ConfigError("The URL of an index holds no password, because it is written down.", hint=hint)
        self.url, self.graph, self.pending = url, graph, pending
        self.engine = self.connect(url)

    @abstractmethod
    def connect(self, url: str) -> IndexEngine:
        """Return the engine at a URL."""

    def names(self) -> list[str]:
        return sorted(states(self.engine, self.graph))

    def open(self, name: str, *, embedder: Embedder | None, thorough: bool = False) -> EngineIndex:
        shelf = self._shelf(name)
        state = shelf.state()
        if state is None:
            raise no_index(name)
        return EngineIndex(shelf, state.manifest, embedder)

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> EngineIndex:
        shelf = self._shelf(name)
        if not replace and shelf.state() is not None:
            raise IndexError_("There is an index already.", hint="Open it, or create with replace=True.")
        if bm25.idf != "lucene":
            raise ConfigError(f"An engine cannot weigh terms by idf {bm25.idf!r}.", hint="Use `lucene`.")
        manifest = DocumentManifest(embedder=None if embedder is None else embedder.name, bm25=bm25)
        return EngineIndex(shelf, manifest, embedder, anew=True)

    def delete(self, name: str) -> None:
        if name in self.names():
            shelf = self._shelf(name)
            with shelf.writing():
                shelf.drop()

    def _shelf(self, name: str) -> Shelf:
        return Shelf(self.engine, self.graph, name, None if self.pending is None else self.pending / name)
