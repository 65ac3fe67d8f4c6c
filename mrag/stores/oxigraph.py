"""The embedded store: Oxigraph in this process, in memory or in a folder.

Two facts about the engine shape this module. It can neither time out nor cancel a query, so whatever
a person or a model wrote runs in worker processes that can be killed (`mrag.stores.process.workers`). And it
allows one writing process to a folder, so a second one is told so.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, cast

import pyoxigraph as ox
from rdflib import URIRef

from mrag.errors import LoadError, QueryRefused, StoreError, StoreLocked
from mrag.loaders.checks import Joined, LoadNotes
from mrag.loaders.rdf import Progress, Source
from mrag.rdf import queries
from mrag.rdf.patterns import Construct, to_sparql
from mrag.rdf.terms import Triple, from_ox
from mrag.storage.files import collect, is_private, make_folder, narrow
from mrag.stores.base import (
    BaseStore,
    Capabilities,
    Dataset,
    Limits,
    SelectResult,
    SelectStream,
    StoreLayers,
    traced,
)
from mrag.stores.process.parsing import bounds_of, serialise
from mrag.stores.process.workers import WorkerPool, snapshot_prefix

logger = logging.getLogger(__name__)

_LEAST_PLAIN = 4096  # Bytes of files for which a short cut gains nothing

_AT_ONCE = 100_000  # Triples that are removed at once

_PART = 32 << 20  # Bytes of N-Triples that land at once


def load_sources(
    store: OxigraphStore,
    sources: Sequence[Source],
    graph: str,
    on_progress: Progress | None = None,
    merged: str | None = None,
    *,
    skip_bad: bool = False,
) -> LoadNotes:
    """Load files into a graph of the engine, whole or not at all, as `OxigraphStore.bulk_load` does."""
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
    data = Joined(serialise(sources, notes, on_progress, into=into, skip_bad_lines=skip_bad))
    form = ox.RdfFormat.N_TRIPLES if into is None else ox.RdfFormat.N_QUADS
    # Lenient, because what is odd has been noted or refused already.
    store.engine.bulk_load(cast(IO[bytes], data), form, to_graph=node if into is None else None, lenient=True)
    return notes


class Landing:
    """A writer of N-Triples that puts them into a graph, so many at a time."""

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
        hint = "End that process, or open a copy of the folder."
        return StoreLocked("Another process has this store open.", file=str(path), hint=hint)
    if _is_full(error):
        what, hint = "the disk is full", "Free some space; what is stored is safe."
    else:
        what, hint = str(error), "Check path and rights."
    return StoreError(f"The store cannot be opened: {what}.", file=str(path), hint=hint)


def write_error(error: OSError, path: Path | None) -> LoadError:
    """Return what to say of a write that failed."""
    what, mend = f"The store could not write: {error}.", "Check the disk and run it again."
    if _is_full(error):
        what, mend = "The disk is full.", "Free some space and run it again."
    hint = f"Nothing of this operation was stored. {mend}"
    return LoadError(what, file=str(path or "in memory"), hint=hint)


def _is_plain(source: Source) -> bool:
    """Return whether a file needs no more than to be copied, line by line."""
    if source.format != ox.RdfFormat.N_TRIPLES or source.size() < _LEAST_PLAIN:
        return False
    return not source.may_hold_blank_nodes()


def _is_full(error: OSError) -> bool:
    """Return whether a disk, or what may be written to it, has come to its end."""
    text = str(error).lower()
    return any(words in text for words in ("no space", "file too large", "quota"))


SCRATCH = "urn:mrag:scratch:"  # Start of the names of graphs that one operation alone may see

_name = lru_cache(maxsize=1024)(ox.NamedNode)
"""Names of graphs and predicates, which are few and asked for often."""

_SMALL = 1 << 20  # N-Triples up to this many bytes are inserted in a transaction, larger ones as new files

_UNFLUSHED = 1 << 20
"""Characters of updates after which the engine writes its files. It would hold some tens of times as many
bytes in memory for each of a dozen indexes before it did so by itself."""


class OxigraphStore(BaseStore):
    """A triple store in this process.

    Args:
        path: Folder of the store; in memory when None. It is made if it is not there.

    Raises:
        StoreLocked: If another process has the folder open.
        StoreError: If the folder cannot be opened for another reason.

    Attributes:
        engine: The store of pyoxigraph, for reading without a query.

    Example:
        >>> store = OxigraphStore()
        >>> store.update("INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:b> 'c' } }")
        >>> store.select("SELECT ?o { ?s ?p ?o }", Dataset(default=("urn:g",))).rows
        [(rdflib.term.Literal('c'),)]
        >>> store.close()
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path).expanduser().resolve() if path is not None else None
        self.url = self.identity = f"oxigraph:{self.path or ''}"
        # On disk triples lie in the order of their terms' hashes, in memory in that of their loading.
        self.capabilities = Capabilities(edges=True, ordered=path is not None, atomic=True, any_tag=True)
        self._lock = threading.RLock()
        self._generation = 0
        self._closed = False
        self._unflushed = 0
        try:
            if self.path is None:
                self.engine = ox.Store()
            else:
                self._left = _names(self.path)
                make_folder(self.path)
                self.engine = ox.Store(str(self.path))
                narrow(self.path, self._left)
        except OSError as error:
            raise open_error(error, self.path) from error
        if self.path is not None:
            # The lock is held, so these are what a process that was killed left behind.
            collect(self.path.parent, prefix=snapshot_prefix(self.path))
        collect()
        self._workers = WorkerPool(self)

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query over the graphs of `dataset` with rows that are not held."""
        solutions = cast(ox.QuerySolutions, self._query(query, dataset))
        names = tuple(v.value for v in solutions.variables)
        rows = (tuple(None if (t := row[n]) is None else from_ox(t) for n in names) for row in solutions)
        return SelectStream(names, rows)

    @traced
    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""
        return bool(self._query(query, dataset))

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query, triple by triple."""
        for t in cast(ox.QueryTriples, self._query(query, dataset)):
            yield Triple(cast(URIRef, from_ox(t.subject)), URIRef(t.predicate.value), from_ox(t.object))

    def edges(
        self, graph: str, *, s: str | None = None, p: str | None = None, o: str | None = None
    ) -> Iterator[ox.Quad]:
        """Stream the triples of a graph that match, lazily and without a query."""
        return self.engine.quads_for_pattern(
            ox.NamedNode(s) if s is not None else None,
            _name(p) if p is not None else None,
            ox.NamedNode(o) if o is not None else None,
            _name(graph),
        )

    def count(self, graph: str) -> int:
        """Count the triples of a graph; a scan, about half a second per million triples on disk."""
        rows = self.select(queries.get("explore/size").text, Dataset((graph,), (graph,))).rows
        return int(str(rows[0][0]))

    def graphs(self) -> list[str]:
        """List the named graphs in order of name, scratch graphs left out."""
        names = (g.value for g in self.engine.named_graphs() if isinstance(g, ox.NamedNode))
        return sorted(name for name in names if not name.startswith(SCRATCH))

    def layers(self) -> StoreLayers | None:
        """Return None: whatever is in this store has been loaded by mrag."""
        return None

    @traced
    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query of any form in a worker process that is killed at the deadline."""
        return self._workers.run(query, dataset, limits, extra)

    def update(self, query: str) -> None:
        """Carry out an update, whole or not at all."""
        with self._writing():
            try:
                self.engine.update(query)
                self._unflushed += len(query)
                if self._unflushed > _UNFLUSHED:
                    self.flush()
            except SyntaxError as error:
                raise QueryRefused(f"Not valid SPARQL: {error.args[0]}.", query=query) from error

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put the triples of a CONSTRUCT query into a graph, which it sees as it was; they land in parts."""
        with Landing(self, into) as landing:
            triples = cast(ox.QueryTriples, self._query(to_sparql(query), dataset))
            triples.serialize(cast(IO[bytes], landing), ox.RdfFormat.N_TRIPLES)

    def serialise(self, query: str, dataset: Dataset) -> bytes:
        """Answer a CONSTRUCT query as N-Triples, without making Python objects of them."""
        triples = cast(ox.QueryTriples, self._query(query, dataset))
        return triples.serialize(format=ox.RdfFormat.N_TRIPLES) or b""

    def insert(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to a graph, whole or not at all."""
        with self._writing():
            add = self.engine.load if len(ntriples) < _SMALL else self.engine.bulk_load
            try:
                # Lenient, because odd language tags that a load let pass must come through here too.
                add(ntriples, ox.RdfFormat.N_TRIPLES, to_graph=ox.NamedNode(graph), lenient=True)
            except SyntaxError as error:
                raise LoadError(f"Not valid N-Triples: {error.args[0]}.", line=error.lineno) from error

    def bulk_load(
        self,
        sources: Sequence[Source],
        graph: str,
        *,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
        merged: str | None = None,
    ) -> LoadNotes:
        """Load files into a graph, whole or not at all; memory does not grow with the files."""
        with self._writing():
            try:
                return load_sources(self, sources, graph, on_progress, merged, skip_bad=skip_bad_lines)
            except (OSError, EOFError, MemoryError) as error:
                if not isinstance(error, OSError) or "gzip" in str(error).lower():
                    raise sources[0].error(error) from error
                raise write_error(error, self.path) from error

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples; slow for large ones, which go in parts, each in a transaction."""
        if self._closed or self.engine.contains_named_graph(_name(graph)):  # else readers need no new copy
            with self._writing():
                empty(self.engine, graph)

    def dump(self, graph: str, output: IO[bytes], format: str = "nt") -> None:
        """Write a graph to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""
        formats = {"nt": ox.RdfFormat.N_TRIPLES, "ttl": ox.RdfFormat.TURTLE}
        if format not in formats:
            raise StoreError(f"Cannot dump as {format}.", hint="Use nt or ttl.")
        self.engine.dump(output, formats[format], from_graph=ox.NamedNode(graph))

    def flush(self) -> None:
        """Make all that was written survive a loss of power."""
        if self.path is not None:
            self._unflushed = 0
            try:
                self.engine.flush()
                narrow(self.path, self._left)
            except OSError as error:
                raise write_error(error, self.path) from error

    def compact(self) -> None:
        """Rewrite the files for faster reading, which the engine would do beside the next questions."""
        with self._lock:
            self.engine.optimize()

    def close(self) -> None:
        """End the worker processes and let go of the folder."""
        if not self._closed:
            self._closed = True
            self._workers.close()
            try:
                self.flush()
            except LoadError as error:
                # Every write is in the engine's log, which the next opening reads.
                logger.error("The last writes may not survive a loss of power: %s", error.message)
            del self.engine
            if self.path is not None:
                narrow(self.path, self._left)

    @property
    def generation(self) -> int:
        """Return a number that grows with every write, to tell whether a snapshot is out of date."""
        return self._generation

    @property
    def workers(self) -> WorkerPool:
        """Return the processes that answer what a person or a model wrote."""
        return self._workers

    def snapshot(self, target: Path) -> int:
        """Copy the store for readers, by hard links or as N-Quads, and return the generation of the copy."""
        with self._lock:
            try:
                if self.path is not None:
                    self.flush()
                    self.engine.backup(str(target))
                    target.chmod(0o700)
                else:
                    make_folder(target)
                    self.engine.dump(str(target / "store.nq"), ox.RdfFormat.N_QUADS)
                narrow(target)
            except OSError as error:
                raise write_error(error, self.path) from error
            return self._generation

    def _query(self, query: str, dataset: Dataset) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
        if self._closed:
            raise StoreError("The store is closed.", hint="Open it again with mrag.connect.")
        try:
            return self.engine.query(
                query,
                default_graph=[ox.NamedNode(g) for g in dataset.default],
                named_graphs=[ox.NamedNode(g) for g in dataset.named],
            )
        except SyntaxError as error:
            raise QueryRefused(f"Not valid SPARQL: {error.args[0]}.", query=query) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Hold the lock for a write; until it ends, workers go on answering from the state before."""
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed.", hint="Open it again with mrag.connect.")
            try:
                yield
            except OSError as error:
                raise write_error(error, self.path) from error
            finally:
                self._generation += 1
                if self.path is not None:
                    narrow(self.path, self._left)


def _names(folder: Path) -> frozenset[str]:
    """Return the names of the files in a folder that others may use; none of one that is private."""
    there = () if not folder.is_dir() or is_private(folder) else folder.iterdir()
    return frozenset(file.name for file in there)
