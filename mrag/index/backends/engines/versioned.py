"""Commits in engines that have no transactions: each row says from which commit to which it counts.

A change adds rows that count from the next commit on, and marks those that end with it. Then one write makes
that commit the newest, and what has ended is removed. A change that is broken off before that write left
nothing that counts, and the next one clears it away.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mrag.errors import IndexError_, MissingIndex
from mrag.index.backends.engines.rows import (
    EngineRow,
    EngineState,
    Found,
    IndexChange,
    document_counts,
    ordered,
    some,
    space_of,
    terms_in,
)
from mrag.index.bm25 import Bm25Params
from mrag.storage.folder import locked

__all__ = [
    "OPEN", "Tallies", "VersionedShelf", "VersionedView", "Versions", "numbered", "settled", "word_weights",
]  # fmt: skip

OPEN: Final = 2**53 - 1
"""The commit to which a row counts that has not ended."""
_BEYOND: Final = 16
"""Hits that are asked for beyond those that are wanted, to see where ties end."""
_MOST: Final = 10_000
"""Hits beyond which ties may be in another order."""


class Versions(Protocol):
    """An engine that keeps rows with the commits they belong to.

    `place` names a collection; `at` is the number of a commit. All that reads sees the rows that count then.
    """

    def names(self, graph: str) -> list[str]:
        """List the indexes of a graph in order of name."""

    def kept(self, graph: str, name: str) -> Mapping[str, Any] | None:
        """Return the JSON that is kept for an index."""

    def keep(self, graph: str, name: str, state: Mapping[str, Any] | None) -> None:
        """Keep JSON for an index, or nothing any more, in one step."""

    def places(self) -> list[str]:
        """List the collections."""

    def make(self, place: str, dim: int | None, bm25: Bm25Params) -> None:
        """Make a collection, for vectors of so many dimensions, if there are any."""

    def drop(self, place: str) -> None:
        """Remove a collection, if it is there."""

    def put(self, place: str, rows: Sequence[EngineRow], since: int, mean: float, bm25: Bm25Params) -> None:
        """Add rows that count from a commit on; documents have `mean` terms on average."""

    def end(self, place: str, ids: Sequence[str], at: int, until: int) -> None:
        """Mark that the rows which count at a commit end with another."""

    def undo(self, place: str, at: int) -> None:
        """Remove the rows that count later than a commit, and the marks of an end later than that."""

    def purge(self, place: str, at: int) -> None:
        """Remove the rows that have ended at a commit."""

    def by_words(
        self,
        place: str,
        at: int,
        query: Mapping[str, int],
        k: int,
        allowed: Collection[str] | None,
        bm25: Bm25Params,
    ) -> Found:
        """Rank by BM25."""

    def by_vector(
        self,
        place: str,
        at: int,
        vector: npt.NDArray[np.float32],
        k: int,
        allowed: Collection[str] | None,
    ) -> Found:
        """Rank by the inner product with a vector."""

    def texts(self, place: str, at: int, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of documents."""

    def digests(self, place: str, at: int) -> dict[str, bytes]:
        """Return the digest of the text of every document."""

    def vectors(self, place: str, at: int, ids: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents."""


@runtime_checkable
class Tallies(Protocol):
    """An engine that has to be told how rare words are."""

    def tally(
        self, place: str, at: int | None, until: int, changes: Mapping[str, int], documents: int
    ) -> None:
        """Note in how many more or fewer documents each term is, and how many documents there are.

        Args:
            place: The collection.
            at: The commit before; None if there was none.
            until: The next, which this belongs to.
            changes: The difference for each term.
            documents: How many documents there are then.
        """


class VersionedShelf:
    """The place of one index in such an engine.

    Args:
        engine: The engine.
        graph: Tells the graph.
        name: Name of the index.
        beside: Folder of the lock that keeps other writers of this machine out; None for none.
    """

    def __init__(self, engine: Versions, graph: str, name: str, beside: Path | None) -> None:
        self._engine = engine
        self._key = (graph, name)
        self._beside = beside

    def state(self) -> EngineState | None:
        """Return what the index is; None if there is none."""
        kept = self._engine.kept(*self._key)
        return None if kept is None else EngineState.from_json(kept)

    @contextmanager
    def reading(self) -> Iterator[VersionedView]:
        """Give the newest commit for a while.

        Raises:
            MissingIndex: If there is none.
        """
        state = self.state()
        if state is None:
            raise MissingIndex(f"There is no similarity index {self._key[1]!r}.")
        yield VersionedView(self._engine, state)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers of this machine out.

        Raises:
            IndexError_: If one is at work.
        """
        if self._beside is None:
            yield
            return
        with locked(self._beside):
            yield

    def commit(self, change: IndexChange) -> EngineState:
        """Carry out a change."""
        engine, before, after = self._engine, change.before, change.after
        old = self.state()
        if before is None or before.manifest.dim != after.dim:
            state = self._built(change)
        else:
            state = self._changed(before, change)
        engine.keep(*self._key, state.to_json())
        if old is not None and old.place != state.place:
            engine.drop(old.place)
        else:
            engine.purge(state.place, state.manifest.generation)
        return state

    def drop(self) -> None:
        """Remove the index."""
        state = self.state()
        self._engine.keep(*self._key, None)
        if state is not None:
            self._engine.drop(state.place)

    def _built(self, change: IndexChange) -> EngineState:
        after, ours = change.after, f"mrag_{space_of(*self._key)}_"
        state = self.state()
        for left in self._engine.places():
            if left.startswith(ours) and (state is None or left != state.place):
                self._engine.drop(left)  # of a build that was broken off
        place, tokens = ours + secrets.token_hex(4), change.tokens()
        mean = tokens / max(1, len(change.fresh))
        self._engine.make(place, after.dim, after.bm25)
        counts: Counter[str] = Counter()
        for rows in change.rows():
            self._engine.put(place, rows, after.generation, mean, after.bm25)
            self._count(counts, rows)
        self._tally(place, None, after.generation, counts, len(change.fresh))
        made = change.committed(documents=len(change.fresh), tokens=tokens, place=place)
        return replace(made, mean=mean)

    def _changed(self, before: EngineState, change: IndexChange) -> EngineState:
        engine, place, at = self._engine, before.place, before.manifest.generation
        until, bm25 = change.after.generation, change.after.bm25
        engine.undo(place, at)
        documents, tokens = before.manifest.documents, before.tokens
        counts: Counter[str] = Counter()
        for part in some(change.gone):
            texts = list(engine.texts(place, at, part).values())
            documents, tokens = documents - len(texts), tokens - terms_in(texts, bm25)
            if isinstance(engine, Tallies):
                counts.subtract(document_counts(texts, bm25))
            engine.end(place, part, at, until)
        try:
            for rows in change.rows():
                engine.put(place, rows, until, before.mean, bm25)
                documents, tokens = documents + len(rows), tokens + sum(row.length for row in rows)
                self._count(counts, rows)
            self._tally(place, at, until, counts, documents)
        except BaseException:
            with suppress(IndexError_):
                engine.undo(place, at)  # what does not count would still make its words less rare
            raise
        return replace(change.committed(documents=documents, tokens=tokens, place=place), mean=before.mean)

    def _count(self, counts: Counter[str], rows: Sequence[EngineRow]) -> None:
        if isinstance(self._engine, Tallies):
            for row in rows:
                counts.update(row.terms.keys())

    def _tally(
        self, place: str, at: int | None, until: int, counts: Mapping[str, int], documents: int
    ) -> None:
        if isinstance(self._engine, Tallies):
            changes = {term: count for term, count in counts.items() if count}
            self._engine.tally(place, at, until, changes, documents)


class VersionedView:
    """One commit of an index in such an engine."""

    def __init__(self, engine: Versions, state: EngineState) -> None:
        self._engine = engine
        self._commit = (state.place, state.manifest.generation)
        self.state = state

    def by_words(self, query: Mapping[str, int], k: int, allowed: Collection[str] | None) -> Found:
        """Rank by BM25; see `IndexView`."""
        knobs = self.state.manifest.bm25
        return settled(lambda most: self._engine.by_words(*self._commit, query, most, allowed, knobs), k)

    def by_vector(self, vector: npt.NDArray[np.float32], k: int, allowed: Collection[str] | None) -> Found:
        """Rank by the inner product with a vector."""
        return settled(lambda most: self._engine.by_vector(*self._commit, vector, most, allowed), k)

    def texts(self, ids: Collection[str]) -> dict[str, str]:
        """Return the texts of documents; none of those that are not there."""
        found = [self._engine.texts(*self._commit, part) for part in some(list(ids))]
        return {doc_id: text for part in found for doc_id, text in part.items()}

    def digests(self) -> dict[str, bytes]:
        """Return the digest of the text of every document, by ID."""
        return self._engine.digests(*self._commit)

    def vectors(self, ids: Collection[str]) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of documents; none of those that have none."""
        if self.state.manifest.dim is None:
            return {}
        found = [self._engine.vectors(*self._commit, part) for part in some(list(ids))]
        return {doc_id: vector for part in found for doc_id, vector in part.items()}


def settled(ask: Callable[[int], Found], k: int) -> Found:
    """Return the best k with ties in order of ID, from an engine that breaks ties in its own way.

    Args:
        ask: Returns so many hits.
        k: How many are wanted.

    Example:
        >>> hits = [("d", 2.0), ("c", 1.0), ("b", 1.0), ("a", 1.0)]
        >>> settled(lambda most: hits[:most], 2)
        [('d', 2.0), ('a', 1.0)]
    """
    most = k + _BEYOND
    while True:
        # Engines add in binary32, not all in the same order.
        hits = [(doc_id, float(np.float32(score))) for doc_id, score in ask(most)]
        best = ordered(hits, k)
        if len(hits) < most or most >= _MOST or hits[-1][1] < best[-1][1]:
            return best
        most = min(4 * most, _MOST)


def word_weights(row: EngineRow, mean: float, bm25: Bm25Params) -> dict[str, float]:
    """Return the part of BM25 that a document has in each of its terms; the rarity of terms is not in it.

    Example:
        >>> word_weights(EngineRow("a", "", b"", {"shoe": 1}, 2, None), 2.0, Bm25Params(k1=1.0))
        {'shoe': 0.5}
    """
    relative = row.length / mean if mean else 0.0
    norm = bm25.k1 * (1 - bm25.b + bm25.b * relative)
    return {term: count / (count + norm) for term, count in row.terms.items()}


def numbered(weights: Mapping[str, float]) -> dict[int, float]:
    """Return weights by number of a term, as sparse vectors have them; hardly two of 100,000 terms share one.

    Example:
        >>> numbered({"shoe": 0.5})
        {1757513937: 0.5}
    """
    found: dict[int, float] = {}
    for term, weight in weights.items():
        number = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
        number = min(max(number, 1), 2**32 - 2)  # no engine takes the largest, and 0 is for our own use
        found[number] = found.get(number, 0.0) + weight
    return found
