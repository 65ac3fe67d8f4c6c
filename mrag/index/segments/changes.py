"""What a `sync` is to change: documents compared with those of an index, and its report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mrag.errors import ConfigError
from mrag.index.segments.rows import twice
from mrag.index.segments.segment import digest
from mrag.index.segments.state import DocumentState

__all__ = ["SyncReport", "checked", "compared"]


@dataclass(frozen=True)
class SyncReport:
    """What a `sync` did: numbers of documents, and the seconds it took."""

    added: int
    changed: int
    deleted: int
    unchanged: int
    seconds: float


def checked(documents: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield documents as pairs of plain strings.

    Args:
        documents: IDs and texts.

    Raises:
        ConfigError: If one is not a pair of strings.
        IndexError_: If an ID occurs twice.
    """
    seen: set[str] = set()
    for document in documents:
        given: object = document
        pair = isinstance(given, tuple | list) and len(given) == 2
        if not (pair and all(isinstance(part, str) for part in document)):
            hint = "Give pairs of two strings: ID and text."
            raise ConfigError(f"Not a document: {given!r:.200}.", hint=hint)
        # Plain strings: rdflib's IRIs are strings that equal no plain one.
        doc_id, text = map(str, document)
        if doc_id in seen:
            raise twice(doc_id)
        seen.add(doc_id)
        yield doc_id, text


def compared(
    state: DocumentState, documents: Iterable[tuple[str, str]], row_of: Callable[[str], int | None]
) -> tuple[dict[str, str], list[int], list[int]]:
    """Compare documents with those of an index.

    Args:
        state: The index.
        documents: IDs and texts.
        row_of: Gives the live row of an ID, or None.

    Returns:
        Text by ID of those that are new or changed, the rows of the same, the rows of the changed.

    Raises:
        ConfigError, IndexError_: As `checked` does.
    """
    fresh: dict[str, str] = {}
    same: list[int] = []
    changed: list[int] = []
    for doc_id, text in checked(documents):
        row = row_of(doc_id)
        if row is not None and state.digests[row].tobytes() == digest(text):
            same.append(row)
            continue
        fresh[doc_id] = text
        if row is not None:
            changed.append(row)
    return fresh, same, changed
