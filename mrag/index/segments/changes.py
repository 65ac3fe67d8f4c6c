"""What a `sync` is to change: documents compared with those of an index, and its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np

from mrag.errors import ConfigError
from mrag.index.segments.rows import Mask, twice
from mrag.index.segments.segment import digest
from mrag.index.segments.state import DocumentState
from mrag.storage.sorting import SortedRows

__all__ = ["Comparison", "Documents", "SyncReport", "compared", "gathered"]

Documents: TypeAlias = SortedRows[tuple[str, str]]
"""IDs and texts, in order of ID."""


@dataclass(frozen=True)
class SyncReport:
    """What a `sync` did: numbers of documents, and the seconds it took."""

    added: int
    changed: int
    deleted: int
    unchanged: int
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """Documents compared with those of an index.

    Attributes:
        fresh: Those that are new or have another text.
        kept: The rows that stay.
        same: How many documents are as before.
        changed: How many have another text.
    """

    fresh: Documents
    kept: Mask
    same: int
    changed: int


def checked(documents: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield documents as pairs of plain strings.

    Args:
        documents: IDs and texts.

    Raises:
        ConfigError: If one is not a pair of strings.
    """
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
def gathered(documents: Iterable[tuple[str, str]], folder: Path | None = None) -> Iterator[Documents]:
    """Give documents in order of ID; those that do not fit into memory wait in a file.

    Args:
        documents: IDs and texts.
        folder: Where that file is.

    Raises:
        ConfigError: If one is not a pair of strings.
        IndexError_: If an ID occurs twice.
    """
    with SortedRows(checked(documents), folder=folder) as rows:
        for (one, _), (other, _) in pairwise(rows):
            if one == other:
                raise twice(one)
        yield rows


@contextmanager
def compared(
    state: DocumentState, documents: Iterable[tuple[str, str]], *, whole: bool, folder: Path | None = None
) -> Iterator[Comparison]:
    """Compare documents with those of an index.

    Args:
        state: The index.
        documents: IDs and texts.
        whole: Whether they are to be the whole index; else all others stay.
        folder: Where documents wait that do not fit into memory.

    Raises:
        ConfigError, IndexError_: As `gathered` does.
    """
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

    with gathered(documents, folder) as given, SortedRows(fresh(given), folder=folder) as found:
        yield Comparison(found, kept, **counts)
