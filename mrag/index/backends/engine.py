# ruff: noqa: D102 - what implements an interface is described there
"""An index whose documents are in an engine: the same methods and results as of one in a folder.

All that is the same for every engine (comparing documents, embedding, fusing, telling which words were
found) is done by `EngineIndex`; an engine answers the questions of an `IndexView` and carries out an
`IndexChange`. Where it has no transactions (`VersionedEngine`), each row says from which commit to which it
counts: a change adds rows that count from the next commit on, and marks those that end with it. Then one
write makes that commit the newest, and what has ended is removed. A change that is broken off before that
write left nothing that counts, and the next one clears it away.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from mrag.errors import ConfigError, IndexError_, IndexMismatch, MissingIndex
from mrag.index.backends.base import Abilities
from mrag.index.bm25 import Bm25Index, Bm25Params, Postings
from mrag.index.document_index import DocumentUpdate, Match, StoredIndex, TextSearch
from mrag.index.embedding import Embedder, Vectors, unit
from mrag.index.fusion import FusionWeight, weighted_scores
from mrag.index.intake import (
    Documents,
    PendingVectors,
    SyncReport,
    check_model,
    embed_missing,
    fitting,
    gather_documents,
    needed_model,
)
from mrag.index.rows import digest
from mrag.index.segments import DocumentManifest, as_json, document_folder
from mrag.redaction import names_secret, redact
from mrag.storage.files import make_folder
from mrag.storage.folder import Committed, locked
from mrag.storage.sorting import SortedRows

Found: TypeAlias = list[tuple[str, float]]
"""Document IDs with their scores, best first, ties by ID."""
Allowed: TypeAlias = Collection[str] | None
"""IDs of the documents that may be found; None for all."""
T = TypeVar("T")

_DRIFT: Final = 0.1
_BATCH: Final = 512
"""Documents that go to an engine at once."""
_TRIES: Final = 5


@dataclass(frozen=True)
class EngineState:
    """One commit of an index in an engine."""

    manifest: DocumentManifest
    tokens: int = 0
    place: str = ""
    mean: float = 0.0

    @property
    def version(self) -> Version:
        """Where the rows of this commit are."""
        return Version(self.place, self.manifest.generation, self.manifest.bm25)

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
    terms: Mapping[str, int] = field(default_factory=dict)
    length: int = 0
    vector: Vectors | None = None


@dataclass(frozen=True)
class IndexChange:
    """What the next commit of an index changes."""

    before: EngineState | None
    after: DocumentManifest
    fresh: Documents
    vectors: Mapping[bytes, Vectors] | None
    gone: Sequence[str]

    @property
    def builds(self) -> bool:
        """Whether there is no place yet for such documents; the first vectors say how long they are."""
        return self.before is None or self.before.manifest.dim != self.after.dim

    def rows(self) -> Iterator[list[EngineRow]]:
        """Yield the fresh documents in batches, in order of ID."""
        rest = iter(self.fresh)
        while given := list(islice(rest, _BATCH)):
            part, texts = ([one[at] for one in given] for at in (0, 1))
            built = Postings.build(texts, self.after.bm25.analysis)
            terms: list[dict[str, int]] = [{} for _ in part]
            starts, rows, counts = built.starts.tolist(), np.asarray(built.rows), np.asarray(built.counts)
            for at, term in enumerate(built.terms):
                here = slice(starts[at], starts[at + 1])
                for row, count in zip(rows[here].tolist(), counts[here].tolist(), strict=True):
                    terms[row][term] = count
            keys = [digest(text) for text in texts]
            vectors = [None if self.vectors is None else self.vectors[key] for key in keys]
            lengths = built.lengths.tolist()
            yield [EngineRow(*row) for row in zip(part, texts, keys, terms, lengths, vectors, strict=True)]

    def tokens(self) -> int:
        """Return how many terms the fresh documents have together."""
        texts, analysis = (text for _, text in self.fresh), self.after.bm25.analysis
        parts = iter(lambda: list(islice(texts, _BATCH)), [])
        return sum(int(Postings.build(part, analysis).lengths.sum()) for part in parts)

    def committed(self, *, documents: int, tokens: int, place: str, mean: float = 0.0) -> EngineState:
        """Return the commit when all of it is done."""
        return EngineState(replace(self.after, documents=documents), tokens, place, mean)


class Replaced(IndexError_):
    """The commit that is being read is gone, because the index was built anew meanwhile."""


class IndexView(Protocol):
    """One commit of an index, to be asked."""

    @property
    def state(self) -> EngineState:
        """What the index is."""

    def by_words(self, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        """Rank by BM25 the documents that have a term."""

    def by_vector(self, vector: Vectors, k: int, allowed: Allowed) -> Found:
        """Rank by the inner product with a vector of length 1."""

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""

    def digests(self) -> dict[str, bytes]:
        """Return the digest of the text of every document, by ID."""

    def vectors(self, ids: Collection[str]) -> dict[str, Vectors]:
        """Return the vectors of documents; none of those that have none."""


class Shelf(Protocol):
    """The place of one index in an engine."""

    def reading(self) -> AbstractContextManager[IndexView]:
        """Give the newest commit for a while."""

    def state(self) -> EngineState | None:
        """Return what the index is; None if there is none."""

    def writing(self) -> AbstractContextManager[None]:
        """Keep other writers out."""

    def drop(self) -> None:
        """Remove the index, while it is locked for writing."""

    def commit(self, change: IndexChange) -> EngineState:
        """Carry out a change so that readers see all of it or nothing, whenever it is broken off."""


def no_index(name: str) -> MissingIndex:
    """Return the error for an index that is not there."""
    return MissingIndex(f"There is no similarity index {name!r}.", hint="Build it with `mrag index`.")


def refusal(engine: str, error: Exception) -> IndexError_:
    """Return what an engine refuses as an error of the index."""
    first = redact(str(getattr(error, "message", "") or error).strip().partition("\n")[0])
    return IndexError_(f"{engine} says: {first or type(error).__name__}.")


def space_of(identity: str, name: str) -> str:
    """Return what tells a graph, or an index, from the others that are kept in one engine."""
    return hashlib.blake2b(f"{identity}\0{name}".encode(), digest_size=8).hexdigest()


def parts_of(items: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Yield a sequence in parts."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


OPEN: Final = 2**53 - 1
"""The commit to which a row counts that has not ended."""
REGISTRY: Final = "mrag_registry"
"""The collection of what indexes are: rows of which the text is the state of an index."""
_TERMS: Final = "_terms"
"""How the name of a collection ends whose rows are terms: their text is how many documents have them."""
_BEYOND: Final = 16
"""Hits that are asked for beyond those that are wanted, to see where ties end."""
_MOST: Final = 10_000
"""Hits beyond which ties may be in another order."""


class Version(NamedTuple):
    """A commit of an index in such an engine: its collection, its number, and how its words are weighed."""

    place: str
    number: int
    bm25: Bm25Params


Where: TypeAlias = Sequence[tuple[str, str, Any]]
"""Conditions on rows: `since` or `until`, one of `<`, `<=` and `>`, and a number; or `id`, `in` and IDs."""


def counting(number: int, ids: Allowed = None) -> Where:
    """Return the conditions of the rows that count at a commit, and are of some documents."""
    when: list[tuple[str, str, Any]] = [("since", "<=", number), ("until", ">", number)]
    return when if ids is None else [*when, ("id", "in", list(ids))]


def key_of(*parts: str) -> str:
    """Return a digest that stands for an ID where an engine takes no long names."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def stored_fields(row: EngineRow, since: int) -> dict[str, Any]:
    """Return the fields of a row that every engine keeps; equal numbers replace each other."""
    number = f"{since:d}-{key_of(row.doc_id)}"
    text = row.text.encode("utf-8", "replace").decode()  # JSON has no lone surrogates
    kept = {"number": number, "id": row.doc_id, "text": text, "digest": row.digest.hex()}
    return {**kept, "since": since, "until": OPEN}


class VersionedEngine(ABC):
    """Collections of rows with the commits they belong to."""

    tallies = False
    """Whether the engine does not know how rare words are, so that it is noted for it."""

    def __init__(self) -> None:
        self._registered = False
        self._frequencies: tuple[str, int, dict[str, int]] = ("", 0, {})

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
    def put(self, since: Version, rows: Sequence[EngineRow], mean: float) -> None:
        """Add rows that count from a version on; documents have `mean` terms on average."""

    def settle(self, place: str) -> None:  # noqa: B027 - most engines see at once what was put
        """Have what was put be seen."""

    @abstractmethod
    def rows(self, place: str, where: Where, *fields: str) -> Iterator[Sequence[Any]]:
        """Yield some fields (`id`, `text`, `digest` or `vector`) of the rows that meet conditions."""

    @abstractmethod
    def mark(self, place: str, where: Where, until: int) -> None:
        """Say of the rows that meet conditions to which version they count."""

    @abstractmethod
    def delete(self, place: str, where: Where) -> None:
        """Remove the rows that meet conditions."""

    @abstractmethod
    def by_words(self, at: Version, query: Mapping[str, float], k: int, where: Where) -> Found:
        """Rank by BM25; an engine that is told how rare words are gets the weights of terms."""

    @abstractmethod
    def by_vector(self, at: Version, vector: Vectors, k: int, where: Where) -> Found:
        """Rank by the inner product with a vector."""

    # -- on top of these ---------------------------------------------------------------------------

    def states(self, graph: str, name: str | None = None) -> dict[str, str]:
        """Return what is kept of the indexes of a graph, or of one of them, by name."""
        self._registered = self._registered or REGISTRY in self.places()
        where = counting(0, None if name is None else [f"{graph} {name}"])
        found = self.rows(REGISTRY, where, "id", "text") if self._registered else ()
        return {i.partition(" ")[2]: text for i, text in found if i.partition(" ")[0] == graph}

    def keep(self, graph: str, name: str, state: Mapping[str, Any] | None) -> None:
        """Keep JSON for an index, or nothing any more, in one step."""
        if not self._registered and REGISTRY not in self.places():
            self.make(REGISTRY, None, Bm25Params())
        if state is None:
            self.delete(REGISTRY, counting(0, [f"{graph} {name}"]))
            return
        self.settle(state["place"])
        row = EngineRow(f"{graph} {name}", json.dumps(state))
        self.put(Version(REGISTRY, 0, Bm25Params()), [row], 0.0)
        self.settle(REGISTRY)

    def collections(self, place: str) -> list[str]:
        """List the collections of an index: that of its documents, and that of its terms, if it has one."""
        return [place, place + _TERMS] if self.tallies else [place]

    def undo(self, at: Version) -> None:
        """Remove the rows that count later than a version, and the marks of an end later than that."""
        for place in self.collections(at.place):
            self.settle(place)
            self.delete(place, [("since", ">", at.number)])
            self.mark(place, [("until", ">", at.number), ("until", "<", OPEN)], OPEN)

    def tally(self, at: Version | None, since: Version, changes: Mapping[str, int], documents: int) -> None:
        """Note in how many more or fewer documents each term is than at a version, and how many there are."""
        place = since.place + _TERMS
        for part in parts_of(sorted({**changes, "": 0}) if self.tallies else []):
            before = {} if at is None else self.frequencies(at, part)
            if at is not None:
                self.mark(place, counting(at.number, part), since.number)
            after = {term: before.get(term, 0) + changes[term] for term in part if term}
            after |= {"": documents} if "" in part else {}
            rows = [EngineRow(term, str(count)) for term, count in after.items() if count]
            if rows:
                self.put(Version(place, since.number, since.bm25), rows, 0.0)

    def frequencies(self, at: Version, terms: Collection[str]) -> dict[str, int]:
        """Return in how many documents terms are at a version, "" for all; the newest asked are kept."""
        if self._frequencies[:2] != (at.place, at.number):
            self._frequencies = (at.place, at.number, {})
        known = self._frequencies[2]
        for part in parts_of([term for term in terms if term not in known]):
            rows = self.rows(at.place + _TERMS, counting(at.number, part), "id", "text")
            known |= dict.fromkeys(part, 0) | {term: int(count) for term, count in rows}
        return {term: known[term] for term in terms}


class VersionedShelf:
    """The place of one index in such an engine."""

    def __init__(self, engine: VersionedEngine, graph: str, name: str, beside: Path | None) -> None:
        self._engine = engine
        self._key = (graph, name)
        self._beside = beside

    def state(self) -> EngineState | None:
        kept = self._engine.states(*self._key).get(self._key[1])
        return None if kept is None else EngineState.from_json(json.loads(kept))

    @contextmanager
    def reading(self) -> Iterator[VersionedView]:
        state = self.state()
        if state is None:
            raise no_index(self._key[1])
        yield VersionedView(self._engine, state)

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext() if self._beside is None else locked(self._beside)

    def commit(self, change: IndexChange) -> EngineState:
        engine, before, old = self._engine, change.before, self.state()
        built = before is None or change.builds
        state = self._built(change, old) if before is None or built else self._changed(before, change)
        engine.keep(*self._key, state.to_json())
        if old is not None and old.place != state.place:
            self._drop(old.place)
        else:
            for place in engine.collections(state.place):
                engine.delete(place, [("until", "<=", state.version.number)])
        return state

    def drop(self) -> None:
        state = self.state()
        self._engine.keep(*self._key, None)
        if state is not None:
            self._drop(state.place)

    def _drop(self, place: str) -> None:
        for one in self._engine.collections(place):
            self._engine.drop(one)

    def _built(self, change: IndexChange, old: EngineState | None) -> EngineState:
        engine, after, ours = self._engine, change.after, f"mrag_{space_of(*self._key)}_"
        for left in engine.places():
            if left.startswith(ours) and (old is None or not left.startswith(old.place)):
                engine.drop(left)  # of a build that was broken off
        place, tokens, documents = ours + secrets.token_hex(4), change.tokens(), len(change.fresh)
        mean = tokens / max(1, documents)
        for one in engine.collections(place):
            engine.make(one, after.dim if one == place else None, after.bm25)
        since, counts = Version(place, after.generation, after.bm25), Counter[str]()
        for rows in change.rows():
            engine.put(since, rows, mean)
            counts.update(term for row in rows for term in row.terms)
        engine.tally(None, since, counts, documents)
        return change.committed(documents=documents, tokens=tokens, place=place, mean=mean)

    def _changed(self, before: EngineState, change: IndexChange) -> EngineState:
        engine, at = self._engine, before.version
        since = Version(at.place, change.after.generation, change.after.bm25)
        engine.undo(at)
        documents, tokens, counts = before.manifest.documents, before.tokens, Counter[str]()
        for part in parts_of(change.gone):
            where = counting(at.number, part)
            texts = [text for (text,) in engine.rows(at.place, where, "text")]
            gone = Postings.build(texts, since.bm25.analysis)
            documents, tokens = documents - len(texts), tokens - int(gone.lengths.sum())
            counts.subtract(dict(zip(gone.terms, np.diff(gone.starts).tolist(), strict=True)))
            engine.mark(at.place, where, since.number)
        try:
            for rows in change.rows():
                engine.put(since, rows, before.mean)
                documents, tokens = documents + len(rows), tokens + sum(row.length for row in rows)
                counts.update(term for row in rows for term in row.terms)
            engine.tally(at, since, {term: count for term, count in counts.items() if count}, documents)
        except BaseException:
            with suppress(IndexError_):
                engine.undo(at)  # what does not count would still make its words less rare
            raise
        return change.committed(documents=documents, tokens=tokens, place=at.place, mean=before.mean)


class VersionedView:
    """One commit of an index in such an engine."""

    def __init__(self, engine: VersionedEngine, state: EngineState) -> None:
        self._engine = engine
        self.state = state
        self._at = state.version

    def by_words(self, query: Mapping[str, int], k: int, allowed: Allowed) -> Found:
        weights: dict[str, float] = dict(query)
        if self._engine.tallies:
            counts = self._engine.frequencies(self._at, ["", *query])
            documents = counts.pop("")
            rarity = {term: math.log(1 + (documents - df + 0.5) / (df + 0.5)) for term, df in counts.items()}
            weights = {term: query[term] * rarity[term] for term, df in counts.items() if df}
        where = counting(self._at.number, allowed)
        ask = self._engine.by_words
        return settle_ties(lambda most: ask(self._at, weights, most, where), k) if weights else []

    def by_vector(self, vector: Vectors, k: int, allowed: Allowed) -> Found:
        where = counting(self._at.number, allowed)
        return settle_ties(lambda most: self._engine.by_vector(self._at, vector, most, where), k)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        return self._fields("text", ids)

    def digests(self) -> dict[str, bytes]:
        rows = self._engine.rows(self._at.place, counting(self._at.number), "id", "digest")
        return {doc_id: bytes.fromhex(key) for doc_id, key in rows}

    def vectors(self, ids: Collection[str]) -> dict[str, Vectors]:
        return {} if self.state.manifest.dim is None else self._fields("vector", ids)

    def _fields(self, name: str, ids: Collection[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in parts_of(list(ids)):
            rows = self._engine.rows(self._at.place, counting(self._at.number, part), "id", name)
            found.update((doc_id, value) for doc_id, value in rows if value is not None)
        return found


def settle_ties(ask: Callable[[int], Found], k: int) -> Found:
    """Return the best k with ties in order of ID, from an engine that breaks ties in its own way."""
    most = k + _BEYOND
    while True:
        # Engines add in binary32, not all in the same order.
        hits = [(doc_id, float(np.float32(score))) for doc_id, score in ask(most)]
        best = _best(hits, k)
        if len(hits) < most or most >= _MOST or hits[-1][1] < best[-1][1]:
            return best
        most = min(4 * most, _MOST)


def _best(hits: Iterable[tuple[str, float]], k: int) -> Found:
    return sorted(hits, key=lambda one: (-one[1], one[0]))[:k]


def word_weights(row: EngineRow, mean: float, bm25: Bm25Params) -> dict[int, float]:
    """Return the part of BM25 that a document has in each of its terms; the rarity of terms is not in it."""
    relative = row.length / mean if mean else 0.0
    norm = bm25.k1 * (1 - bm25.b + bm25.b * relative)
    return by_term_number({term: count / (count + norm) for term, count in row.terms.items()})


def by_term_number(weights: Mapping[str, float]) -> dict[int, float]:
    """Return weights by number of a term for sparse vectors; hardly two of 100,000 terms share one."""
    found: dict[int, float] = {}
    for term, weight in weights.items():
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
        number = min(max(number, 1), 2**32 - 2)  # no engine takes the largest, and 0 is for our own use
        found[number] = found.get(number, 0.0) + weight
    return found


def search(view: IndexView, asked: TextSearch, vector: Vectors | None) -> list[Match]:
    """Rank documents; the arguments and the result are those of `mrag.index.document_index.search`."""
    knobs, depth = view.state.manifest.bm25, asked.depth
    query = Bm25Index.of((), knobs).counted(asked.text)
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
    words: Found,
    nearest: Found,
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
    by_words, by_meaning = (
        {doc_id: (rank, score) for rank, (doc_id, score) in enumerate(found, 1)} for found in (words, nearest)
    )
    found = []
    for doc_id, score in best:
        row = shown.rows.row_of(doc_id)
        terms = () if row is None else shown.matching(asked.text, np.array([row]))[0]
        bm25_rank, bm25_score = by_words.get(doc_id, (None, None))
        dense_rank, dense_score = by_meaning.get(doc_id, (None, None))
        found.append(Match(doc_id, score, bm25_rank, dense_rank, bm25_score, dense_score, terms))
    return found


class EngineIndex(StoredIndex):
    """Documents with their texts in an engine; `anew` if it is to take the place of what is there."""

    def __init__(
        self,
        shelf: Shelf,
        manifest: DocumentManifest,
        embedder: Embedder | None,
        beside: Path | None,
        *,
        anew: bool = False,
    ) -> None:
        check_model(manifest.embedder, embedder)
        self._shelf = shelf
        self.manifest = manifest
        self._embedder = embedder
        self._beside = beside
        self._pending = PendingVectors(None if beside is None else document_folder(beside))
        self._anew = anew

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
        with self._shelf.writing():
            before = None if self._anew else self._shelf.state()
            known: dict[str, bytes] = {}
            if before is not None:
                with self._shelf.reading() as view:
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
                if whole and before is not None and before.drifted:
                    self._commit(None, known, given, [], update)
                else:
                    self._commit(before, known, fresh, gone, update)
                added = len(fresh) - len(changed)
        return SyncReport(added, len(changed), len(gone) - len(changed), len(stays))

    def delete(self, ids: Iterable[str], *, extra: Mapping[str, Any] | None = None) -> int:
        with self._shelf.writing():
            with self._shelf.reading() as view:
                wanted = sorted(set(map(str, ids)))
                gone = sorted(view.texts(wanted)) if wanted else []
                before = view.state
            with SortedRows[tuple[str, str]](()) as none:
                self._commit(before, {}, none, gone, DocumentUpdate((), False, extra, lambda *_: None, 1))
        return len(gone)

    def _read(self, ask: Callable[[IndexView], T]) -> T | None:
        """Ask the newest commit; None before the first."""
        if self._anew and self._shelf.state() is None:
            return None
        for _ in range(_TRIES):
            try:
                with self._shelf.reading() as view:
                    if not self._anew:
                        self._take(view.state.manifest)
                    return ask(view)
            except Replaced as error:
                last = error
        raise last

    def _take(self, manifest: DocumentManifest) -> None:
        if self._embedder is not None and manifest.embedder != self._embedder.name:
            raise IndexMismatch(
                f"The index has been built anew with {manifest.embedder or 'no model'}.",
                hint="Open it with that model.",
            )
        self.manifest = manifest

    def _model(self) -> Embedder:
        return needed_model(self.embedder_name, self._embedder)

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
        self.manifest = self._shelf.commit(IndexChange(before, after, fresh, vectors, gone)).manifest
        self._anew = False
        self._pending.clear()

    def _vectors(
        self, manifest: DocumentManifest, known: Mapping[str, bytes], fresh: Documents, update: DocumentUpdate
    ) -> Mapping[bytes, Vectors] | None:
        if manifest.embedder is None or not fresh:
            update.on_progress(len(fresh), len(fresh))
            return None if manifest.embedder is None else {}
        there = set(known.values())
        model = self._model()
        if self._beside is not None:
            make_folder(self._beside)
        self._pending.load(model.name)
        return embed_missing(
            (text for _, text in fresh),
            lambda keys: self.known_vectors([key for key in keys if key in there]),
            model,
            self._pending,
            dim=manifest.dim,
            batch=update.batch,
            on_progress=update.on_progress,
        )


class EngineBackend(ABC):
    """Keeps indexes in an engine."""

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
        shelf = self.shelf(name)
        state = shelf.state()
        if state is None:
            raise no_index(name)
        return EngineIndex(shelf, state.manifest, embedder, self.beside(name))

    def create(
        self, name: str, *, embedder: Embedder | None, bm25: Bm25Params, replace: bool = False
    ) -> EngineIndex:
        shelf = self.shelf(name)
        if not replace and shelf.state() is not None:
            raise IndexError_("There is an index already.", hint="Open it, or create with replace=True.")
        if bm25.idf != "lucene":
            raise ConfigError(f"An engine cannot weigh terms by idf {bm25.idf!r}.", hint="Use `lucene`.")
        manifest = DocumentManifest(embedder=None if embedder is None else embedder.name, bm25=bm25)
        return EngineIndex(shelf, manifest, embedder, self.beside(name), anew=True)

    def delete(self, name: str) -> None:
        if name in self.names():
            shelf = self.shelf(name)
            with shelf.writing():
                shelf.drop()

    def beside(self, name: str) -> Path | None:
        """Return the folder of what a writer keeps on this machine."""
        return None if self.pending is None else self.pending / name


class VersionedBackend(EngineBackend):
    """Keeps indexes in an engine without transactions; a subclass sets `engine`. All else is as above."""

    abilities = Abilities(exact_words=False, exact_vectors=False, live_statistics=False, snapshots=False)
    engine: VersionedEngine

    def names(self) -> list[str]:
        return sorted(self.engine.states(self.graph))

    def shelf(self, name: str) -> VersionedShelf:
        return VersionedShelf(self.engine, self.graph, name, self.beside(name))
