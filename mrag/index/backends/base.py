"""What keeps similarity indexes, and what it keeps: one interface for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from mrag.index.bm25 import Bm25Params
from mrag.index.embedding.embedders import Embedder
from mrag.index.segments.writing import StoredIndex

__all__ = ["Abilities", "IndexBackend", "StoredIndex", "documents_of"]

_BATCH = 1000
"""Documents whose texts are asked for at once."""


@dataclass(frozen=True)
class Abilities:
    """What a backend does exactly and what it approximates.

    Attributes:
        exact_words: Whether BM25 ranks as the local index does, to the last bit of the score.
        exact_vectors: Whether the nearest vectors are found for certain; else most of them are.
        live_statistics: Whether the statistics of BM25 follow every change of the documents at once.
        snapshots: Whether a search sees one state of the index, however many requests it takes.
        readable: Whether vectors can be read again, which copying without embedding takes.
        learns: Whether the share of the vectors in `hybrid` is learnt here; else it is even, or that of the
            index it was copied from.

    Example:
        >>> Abilities().exact_words
        True
    """

    exact_words: bool = True
    exact_vectors: bool = True
    live_statistics: bool = True
    snapshots: bool = True
    readable: bool = True
    learns: bool = False


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
    """Yield all documents of an index, in order of ID.

    Example:
        >>> from mrag.index.document_index import DocumentIndex
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> _ = index.sync([("ex:b", "a coat"), ("ex:a", "a shoe")], extra={})
        >>> list(documents_of(index))
        [('ex:a', 'a shoe'), ('ex:b', 'a coat')]
    """
    ids = index.doc_ids
    for start in range(0, len(ids), _BATCH):
        texts = index.texts_of(ids[start : start + _BATCH])
        yield from sorted(texts.items())
