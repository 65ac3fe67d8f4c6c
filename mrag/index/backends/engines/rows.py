"""What an engine does for an index: keep rows, count words, measure distances.

All that is the same for every engine (comparing documents, embedding, fusing, telling which words were
found) is done by `EngineIndex`; an engine answers the questions of an `IndexView` and
carries out an `IndexChange`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_
from mrag.index.bm25 import Bm25Params
from mrag.index.segments.changes import Documents
from mrag.index.segments.files import DocumentManifest
from mrag.index.segments.postings import Postings
from mrag.index.segments.segment import digest
from mrag.storage.folder import Committed

__all__ = [
    "EngineRow", "EngineState", "Found", "IndexChange", "IndexView", "Replaced", "Shelf", "document_counts",
    "ordered", "some", "space_of", "terms_in",
]  # fmt: skip

Found: TypeAlias = list[tuple[str, float]]
"""Document IDs with their scores, best first, ties by ID."""

_DRIFT = 0.1
_BATCH = 512
"""Documents that go to an engine at once."""


@dataclass(frozen=True)
class EngineState:
    """One commit of an index in an engine.

    Args:
        manifest: What the index is.
        tokens: Terms of all its documents, repeated ones counted again.
        place: Tells the tables or the collection of this index from those of an earlier build.
        mean: The mean number of terms that the weights of words rest on; 0 where they follow each change.

    Example:
        >>> state = EngineState(DocumentManifest(documents=2), 6, "abc")
        >>> EngineState.from_json(state.to_json()) == state, state.mean_length
        (True, 3.0)
    """

    manifest: DocumentManifest
    tokens: int = 0
    place: str = ""
    mean: float = 0.0

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
        about = {**kept.about, "segments": []}
        return {
            "generation": kept.generation,
            "about": about,
            "tokens": self.tokens,
            "place": self.place,
            "mean": self.mean,
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> EngineState:
        """Return what `to_json` gave.

        Raises:
            IndexMismatch: If its terms were made in another way.
        """
        manifest = DocumentManifest.of(Committed(kept["generation"], {}, kept["about"]))
        return cls(manifest, kept["tokens"], kept["place"], kept.get("mean", 0.0))


@dataclass(frozen=True)
class EngineRow:
    """A document as an engine keeps it.

    Args:
        doc_id: Its ID.
        text: Its text.
        digest: The digest of the text.
        terms: How often each of its terms occurs.
        length: Terms in all.
        vector: Its vector; None in an index without.
    """

    doc_id: str
    text: str
    digest: bytes
    terms: Mapping[str, int]
    length: int
    vector: npt.NDArray[np.float32] | None


@dataclass(frozen=True)
class IndexChange:
    """What the next commit of an index changes.

    Args:
        before: The commit before; None if there was none, or if it is to be replaced as a whole.
        after: What the index is then; its `tokens` and `place` are the engine's to tell.
        fresh: New documents and new texts of known ones.
        vectors: Their vectors by digest of the text; None in an index without.
        gone: IDs that are to go: those of deleted documents and of those with a new text.
    """

    before: EngineState | None
    after: DocumentManifest
    fresh: Documents
    vectors: Mapping[bytes, npt.NDArray[np.float32]] | None
    gone: Sequence[str]

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
        texts = (text for _, text in self.fresh)
        return sum(terms_in(part, self.after.bm25) for part in iter(lambda: list(islice(texts, _BATCH)), []))

    def committed(self, *, documents: int, tokens: int, place: str) -> EngineState:
        """Return the commit when all of it is done."""
        return EngineState(replace(self.after, documents=documents), tokens, place)


class Replaced(IndexError_):
    """The commit that is being read is gone, because the index was built anew meanwhile."""


class IndexView(Protocol):
    """One commit of an index, to be asked."""

    @property
    def state(self) -> EngineState:
        """What the index is."""

    def by_words(self, query: Mapping[str, int], k: int, allowed: Collection[str] | None) -> Found:
        """Rank by BM25 the documents that have a term.

        Args:
            query: How often each term occurs in the query, at least one.
            k: How many documents at most.
            allowed: IDs of those that may be found; None for all.
        """

    def by_vector(self, vector: npt.NDArray[np.float32], k: int, allowed: Collection[str] | None) -> Found:
        """Rank by the inner product with a vector of length 1."""

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""

    def digests(self) -> dict[str, bytes]:
        """Return the digest of the text of every document, by ID."""

    def vectors(self, ids: Collection[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents; none of those that have none."""


class Shelf(Protocol):
    """The place of one index in an engine."""

    def reading(self) -> AbstractContextManager[IndexView]:
        """Give the newest commit for a while.

        Raises:
            MissingIndex: If there is none.
        """

    def state(self) -> EngineState | None:
        """Return what the index is; None if there is none."""

    def writing(self) -> AbstractContextManager[None]:
        """Keep other writers out.

        Raises:
            IndexError_: If one is at work.
        """

    def drop(self) -> None:
        """Remove the index, while it is locked for writing."""

    def commit(self, change: IndexChange) -> EngineState:
        """Carry out a change so that readers see all of it or nothing, whenever it is broken off."""


def space_of(identity: str, name: str) -> str:
    """Return what tells a graph, or an index, from the others that are kept in one engine.

    Args:
        identity: That of the store of a graph, or of the graph of an index.
        name: Its name there.

    Example:
        >>> space_of("oxigraph:/data/db", "main")
        'ae6c7b876b76756c'
    """
    return hashlib.blake2b(f"{identity}\0{name}".encode(), digest_size=8).hexdigest()


def terms_in(texts: Sequence[str], bm25: Bm25Params) -> int:
    """Return how many terms texts have together.

    Example:
        >>> terms_in(["a red shoe", "a hat"], Bm25Params())
        5
    """
    return int(Postings.build(texts, bm25.analysis).lengths.sum())


def document_counts(texts: Sequence[str], bm25: Bm25Params) -> dict[str, int]:
    """Return how many of some texts have each of their terms.

    Example:
        >>> document_counts(["a red shoe", "red, red"], Bm25Params())
        {'a': 1, 'red': 2, 'shoe': 1}
    """
    built = Postings.build(texts, bm25.analysis)
    return dict(zip(built.terms, np.diff(built.starts).tolist(), strict=True))


def some(items: Sequence[str], size: int = _BATCH) -> Iterator[Sequence[str]]:
    """Yield a sequence in parts.

    Example:
        >>> list(some("abcde", 2))
        ['ab', 'cd', 'e']
    """
    for start in range(0, len(items), size):
        yield items[start : start + size]


def ordered(found: Iterable[tuple[str, float]], k: int) -> Found:
    """Return the best k, ties by ID.

    Example:
        >>> ordered([("b", 1.0), ("c", 2.0), ("a", 1.0)], 2)
        [('c', 2.0), ('a', 1.0)]
    """
    return sorted(found, key=lambda one: (-one[1], one[0]))[:k]
