"""Worker processes that answer untrusted queries on a snapshot and are killed at the deadline.

Each worker holds a copy of its own, so the extra triples of one query are in nobody else's sight, and
the triples that an update would change can be worked out on it. The child's side is
`mrag.stores.child`.
"""

from __future__ import annotations

import atexit
import pickle
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, Literal, URIRef

from mrag.errors import QueryRefused, QueryTimeout, StoreError
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.process import SLOWER, Child, Reply
from mrag.terms import XSD, Term, Triple

if TYPE_CHECKING:
    from mrag.stores.oxigraph import OxigraphStore


_UNLIMITED = Limits(86_400.0, 1 << 62, 1 << 62)


class Worker(Child):
    """A child process over a snapshot of a store."""

    def __init__(self, snapshot: Snapshot, memory: int) -> None:
        self.snapshot = snapshot
        super().__init__("mrag.stores.child", str(snapshot.path), str(memory))


class Snapshot:
    """A copy of a store that workers read; its folder goes when the last of them does."""

    def __init__(self, store: OxigraphStore) -> None:
        # Hard links need the same file system, so the copy of a folder lies beside it.
        parent = None if store.path is None else store.path.parent
        self.folder = Path(tempfile.mkdtemp(prefix=snapshot_prefix(store.path), dir=parent))
        self.path = self.folder / "0"
        self.users = 0
        self.current = True
        self.generation = store.snapshot(self.path)

    def drop_unused(self) -> None:
        """Remove the folder if no worker can need it any more."""
        if not self.current and self.users <= 0:
            shutil.rmtree(self.folder, ignore_errors=True)


class WorkerPool:
    """Workers over the present state of a store; those of an earlier state end with their query.

    Args:
        store: The store whose snapshots the workers read.
        size: Most queries at once for `run`, and most workers kept between queries.

    Attributes:
        memory: Most bytes that a worker may take, 0 for no cap.
    """

    def __init__(self, store: OxigraphStore, size: int = 2) -> None:
        self.memory = 0
        self._store = weakref.ref(store)
        self._size = size
        self._slots = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._snapshot: Snapshot | None = None
        atexit.register(self.close)

    def run(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer one query within its limits.

        Raises:
            QueryTimeout: When the deadline passes; waiting for a free worker counts.
            QueryRefused: When the engine or a cap refuses.
        """
        deadline = time.monotonic() + limits.seconds
        if not self._slots.acquire(timeout=limits.seconds):
            raise QueryTimeout("No worker came free before the deadline.", query=query, hint=SLOWER)
        try:
            worker = self.take()
            try:
                reply = worker.ask(request("rows", query, dataset, limits, extra=extra), deadline, query)
            except BaseException:
                self.discard(worker)
                raise
            self.give(worker)
        finally:
            self._slots.release()
        if problem := refusal(reply, query, limits):
            raise problem
        return _unpack(reply)

    def serialise(self, query: str, dataset: Dataset) -> bytes:
        """Answer a CONSTRUCT query of our own as N-Triples, without limits, while other threads go on.

        Raises:
            QueryRefused: When the engine refuses.
        """
        worker = self.take(fresh=True)
        parts: list[bytes] = []
        reply: Reply = ()
        try:
            worker.send(request("document", query, dataset, _UNLIMITED, format="ntriples"))
            for kind, content in worker.frames(time.monotonic() + _UNLIMITED.seconds, query):
                if kind == b"D":
                    parts.append(content)
                else:
                    reply = pickle.loads(content)
        finally:
            self.discard(worker)
        if problem := refusal(reply, query, _UNLIMITED):
            raise problem
        return b"".join(parts)

    def keep(self, size: int) -> None:
        """Set how many workers stay between queries, and start them."""
        self._size = size
        self.warm()

    def warm(self) -> None:
        """Start the workers that are missing, so that the next queries need not wait for one."""
        while True:
            with self._lock:
                if len(self._idle) + len(self._busy) >= self._size:
                    return
            self.give(self.take(fresh=True))

    def idle(self) -> Worker | None:
        """Take a worker that is ready and up to date, if there is one, without waiting."""
        store = self._store()
        if store is None or not self._lock.acquire(blocking=False):
            return None
        try:
            if self._snapshot is None or self._snapshot.generation != store.generation or not self._idle:
                return None
            worker = self._idle.pop()
            self._busy.add(worker)
            return worker
        finally:
            self._lock.release()

    def take(self, *, fresh: bool = False) -> Worker:
        """Take a worker over the present state; it must be given back or discarded.

        Args:
            fresh: Whether it must be a new one, which nobody else gets afterwards unless given back.
        """
        store = self._store()
        if store is None:
            raise StoreError("The store is closed.")
        with self._lock:
            if self._snapshot is None or self._snapshot.generation != store.generation:
                self._retire()
                self._snapshot = Snapshot(store)
            if self._idle and not fresh:
                worker = self._idle.pop()
                self._busy.add(worker)
                return worker
            snapshot = self._snapshot
            snapshot.users += 1
        try:
            worker = Worker(snapshot, self.memory)
        except BaseException:
            self._left(snapshot)
            raise
        with self._lock:
            self._busy.add(worker)
        return worker

    def give(self, worker: Worker) -> None:
        """Give back a worker that has answered and can answer again."""
        with self._lock:
            self._busy.discard(worker)
            if worker.snapshot.current and len(self._idle) < self._size:
                self._idle.append(worker)
                return
        self._end(worker)

    def discard(self, worker: Worker) -> None:
        """End a worker, in the middle of a query if need be."""
        with self._lock:
            self._busy.discard(worker)
        self._end(worker)

    def processes(self) -> list[int]:
        """Return the numbers of the worker processes."""
        with self._lock:
            return [worker.pid for worker in (*self._idle, *self._busy)]

    def close(self) -> None:
        """Kill the workers and remove their snapshots."""
        atexit.unregister(self.close)
        with self._lock:
            for worker in self._busy:
                worker.kill()
                worker.snapshot.users -= 1
                worker.snapshot.drop_unused()
            self._busy.clear()
            self._retire()

    def _retire(self) -> None:
        """End the idle workers and let go of their snapshot; the lock is held."""
        old, self._snapshot = self._snapshot, None
        if old is not None:
            old.current = False
            for worker in self._idle:
                worker.kill()
                old.users -= 1
            self._idle.clear()
            old.drop_unused()

    def _end(self, worker: Worker) -> None:
        worker.kill()
        self._left(worker.snapshot)

    def _left(self, snapshot: Snapshot) -> None:
        with self._lock:
            snapshot.users -= 1
            snapshot.drop_unused()


def snapshot_prefix(path: Path | None) -> str:
    """Return how the names of a store's snapshot folders begin."""
    return f".{path.name if path is not None else 'mrag'}.snapshot-"


def request(
    do: str,
    query: str,
    dataset: Dataset,
    limits: Limits,
    *,
    extra: bytes = b"",
    format: str = "",
    substitutions: Mapping[str, Any] | None = None,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
) -> dict[str, Any]:
    """Return a request for a query, in plain values.

    Args:
        do: `rows` for terms, `document` for a document in `format`.
        query: A query that the read gate has let through.
        dataset: The graphs it sees.
        limits: Its caps.
        extra: N-Triples that are in the default graph for this query alone.
        format: Of the document: `json`, `xml`, `csv`, `tsv`, `turtle`, `ntriples`, `rdfxml`, `jsonld`…
        substitutions: Terms, taken apart, that variables have from the start.
        prefixes: For documents that can abbreviate.
        base: What relative IRIs are relative to, where the query does not say.
    """
    return {
        "do": do,
        "query": query,
        "default": dataset.default,
        "named": dataset.named,
        "rows": limits.rows,
        "bytes": limits.bytes,
        "extra": extra,
        "format": format,
        "substitutions": dict(substitutions or {}),
        "prefixes": dict(prefixes or {}),
        "base": base,
    }


def refusal(reply: Reply, query: str, limits: Limits) -> QueryRefused | None:
    """Return the error that a reply stands for, if it stands for one."""
    if reply[0] == "large":
        return QueryRefused(
            f"The result is larger than {limits.rows} rows or {limits.bytes} bytes.",
            query=query,
            hint="Add a LIMIT, or allow more.",
        )
    if reply[0] == "refused":
        return QueryRefused(str(reply[1]), query=query)
    if reply[0] == "error":
        return QueryRefused(f"The engine cannot answer this query: {reply[1]}.", query=query)
    return None


def _unpack(reply: Reply) -> SelectResult | bool | list[Triple]:
    kind, value = reply
    if kind == "select":
        names, rows = value
        return SelectResult(names, [tuple(map(_term, row)) for row in rows])
    if kind == "construct":
        return [Triple(*cast(Any, map(_term, row))) for row in cast(Collection[Any], value)]
    return bool(value)


def _term(plain: tuple[str, str, str | None, str | None] | None) -> Term | None:
    if plain is None:
        return None
    kind, value, language, datatype = plain
    if kind == "i":
        return URIRef(value)
    if kind == "b":
        return BNode(value)
    if language:
        return Literal(value, lang=language)
    if datatype is None or datatype == XSD + "string":
        return Literal(value)
    return Literal(value, datatype=URIRef(datatype), normalize=False)
