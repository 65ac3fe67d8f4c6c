"""What the embedded store does with files and with the errors of a disk."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pyoxigraph as ox

from mrag.errors import LoadError, StoreError, StoreLocked
from mrag.loaders.checks import LoadNotes
from mrag.loaders.rdf import Progress, Source
from mrag.rdf import queries
from mrag.stores.process.parsing import Joined, bounds_of, serialised

if TYPE_CHECKING:
    from mrag.stores.oxigraph import OxigraphStore

logger = logging.getLogger(__name__)

_AT_ONCE = 4096
"""Bytes of files for which a short cut gains nothing."""

_AT_ONCE = 100_000
"""Triples that are removed at once."""

_PART = 32 << 20
"""Bytes of N-Triples that land at once."""


def load_sources(
    store: OxigraphStore,
    sources: Sequence[Source],
    graph: str,
    on_progress: Progress | None = None,
    merged: str | None = None,
    *,
    skip_bad: bool = False,
) -> LoadNotes:
    """Load files into a graph of the engine, whole or not at all, as `OxigraphStore.bulk_load` does.

    Raises:
        LoadError: If a file is not well formed.
        OSError: If the disk is full, or a file cannot be read.
    """
    # The engine is in no variable here: the traceback of an error would hold it, and with it the lock of the
    # folder, after the store has been closed.
    notes, node = LoadNotes(), ox.NamedNode(graph)
    if merged is None and len(sources) == 1 and not skip_bad and _is_plain(sources[0]):
        try:
            total, seconds = sources[0].size(), bounds_of(sources).seconds
            note = None if on_progress is None else lambda done: on_progress(done, total)
            with sources[0].checked(note, seconds) as stream:
                store.engine.bulk_load(stream, sources[0].format, to_graph=node)
            return notes
        except SyntaxError:
            logger.debug("reading %s again, statement by statement", sources[0].path)
    into = None if merged is None else (graph, merged or None)
    data = Joined(serialised(sources, notes, on_progress, into=into, skip_bad_lines=skip_bad))
    form = ox.RdfFormat.N_TRIPLES if into is None else ox.RdfFormat.N_QUADS
    # Lenient, because what is odd has been noted or refused already.
    store.engine.bulk_load(cast(IO[bytes], data), form, to_graph=node if into is None else None, lenient=True)
    return notes


class Landing:
    """A writer of N-Triples that puts them into a graph, so many at a time.

    Args:
        store: The store.
        graph: IRI of the graph.
    """

    def __init__(self, store: OxigraphStore, graph: str) -> None:
        self._store, self._graph = store, graph
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        """Take in some bytes, which need not end with a line."""
        self._data += data
        if len(self._data) >= _PART:
            end = self._data.rindex(b"\n") + 1
            self._store.insert(bytes(memoryview(self._data)[:end]), self._graph)
            self._data = self._data[end:]
        return len(data)

    def flush(self) -> None:
        """Do nothing: half a line cannot land."""

    def __enter__(self) -> Landing:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None and self._data:
            self._store.insert(bytes(self._data), self._graph)


def empty(engine: ox.Store, graph: str) -> None:
    """Remove a graph from the engine, in transactions that each fit into memory."""
    node = ox.NamedNode(graph)
    update = queries.get("update/remove-some").bind(graph=[graph], limit=_AT_ONCE)
    # A transaction is held in memory, with some kilobyte for each triple.
    while sum(1 for _ in islice(engine.quads_for_pattern(None, None, None, node), _AT_ONCE)) == _AT_ONCE:
        engine.update(update)
    engine.remove_graph(node)


def open_error(error: OSError, path: Path | None) -> StoreError:
    """Return what to say of a folder that cannot be opened."""
    if "lock" in str(error).lower():
        return StoreLocked(
            "Another process has this store open.",
            file=str(path),
            hint="End that process, or open a copy of the folder.",
        )
    full = _is_full(error)
    return StoreError(
        "The store cannot be opened: the disk is full." if full else f"The store cannot be opened: {error}.",
        file=str(path),
        hint="Free some space; what is stored is safe." if full else "Check path and rights.",
    )


def write_error(error: OSError, path: Path | None) -> LoadError:
    """Return what to say of a write that failed."""
    full = _is_full(error)
    return LoadError(
        "The disk is full." if full else f"The store could not write: {error}.",
        file=str(path or "in memory"),
        hint="Nothing of this operation was stored."
        + (" Free some space and run it again." if full else " Check the disk and run it again."),
    )


def _is_plain(source: Source) -> bool:
    """Return whether a file needs no more than to be copied, line by line."""
    if source.format != ox.RdfFormat.N_TRIPLES or source.size() < _AT_ONCE:
        return False
    return not source.may_hold_blank_nodes()


def _is_full(error: OSError) -> bool:
    """Return whether a disk, or what may be written to it, has come to its end."""
    text = str(error).lower()
    return any(words in text for words in ("no space", "file too large", "quota"))
