"""Worker processes that answer untrusted queries on a snapshot and are killed at the deadline.

Each worker holds a copy of its own, so the extra triples of one query are in nobody else's sight, and
the triples that an update would change can be worked out on it.
"""

from __future__ import annotations

import atexit
import logging
import pickle
import re
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rdflib import BNode, URIRef

from mrag.errors import MragError, QueryRefused, QueryTimeout, StoreError
from mrag.rdf.terms import Term, Triple, literal
from mrag.storage.files import Scratch
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.process.channel import SLOWER, Child, Reply, Reserve, late
from mrag.stores.process.sandbox import Defences

if TYPE_CHECKING:
    from mrag.stores.oxigraph import OxigraphStore


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

    It is for `rows`, or for a `document` in a format such as `json`, `csv` or `turtle`, which `prefixes` may
    abbreviate. `extra` holds N-Triples that are in its sight alone, `substitutions` what variables stand for.
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


_CAST = re.compile(r"function <http://www\.w3\.org/2001/XMLSchema#(\w+)>")
_CASTS = "xsd:string, xsd:boolean, xsd:integer, xsd:decimal, xsd:float, xsd:double and xsd:dateTime"
_PORTABLE = {
    **dict.fromkeys(
        "int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger "
        "unsignedInt unsignedLong unsignedShort unsignedByte".split(),
        "integer",
    ),
    **dict.fromkeys("normalizedString token language Name NCName NMTOKEN anyURI".split(), "string"),
    "dateTimeStamp": "dateTime",
}
"""Datatypes derived from others, with the cast that every engine has for their values."""


def refusal(reply: Reply, query: str, limits: Limits) -> QueryRefused | None:
    """Return the error that a reply stands for, if it stands for one."""
    if reply[0] == "large":
        what = f"The result is larger than {limits.rows} rows or {limits.bytes} bytes."
        return QueryRefused(what, query=query, hint="Add a LIMIT, or allow more.")
    if reply[0] == "refused":
        return QueryRefused(str(reply[1]), query=query)
    if reply[0] != "error":
        return None
    if match := _CAST.search(str(reply[1])):
        portable = _PORTABLE.get(match[1])
        hint = f"Use xsd:{portable}, which every engine has." if portable else f"Casts are: {_CASTS}."
        return QueryRefused(f"SPARQL 1.1 has no cast to xsd:{match[1]}.", query=query, hint=hint)
    return QueryRefused(f"The engine cannot answer this query: {reply[1]}.", query=query)


def unpack(reply: Reply) -> SelectResult | bool | list[Triple]:
    """Return the rows, the truth value or the triples of a reply."""
    kind, value = reply
    if kind == "select":
        names, rows = value
        terms = {cell: _term(cell) for row in rows for cell in row}
        return SelectResult(names, [tuple(map(terms.__getitem__, row)) for row in rows])
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
    return literal(value, language, datatype)


_OPENING = 600.0  # Seconds that a process may take to read a copy; a store in memory is read whole


class Snapshot:
    """A copy of a store that workers read; its folder goes when the last of them does."""

    def __init__(self, store: OxigraphStore, note: Any = None) -> None:
        self.note = note
        path = store.path
        # On the same file system, as hard links need it.
        parent, prefix = (None, None) if path is None else (path.parent, snapshot_prefix(path))
        self._scratch = Scratch("snapshot", parent, prefix=prefix)
        self.path = self._scratch.path / "0"
        self.users = 0
        self.current = True
        self.generation = store.snapshot(self.path)

    def leave(self, users: int = 1) -> None:
        """Note that it has fewer users; without any, and out of date, its folder is removed."""
        self.users -= users
        if not self.current and self.users <= 0:
            self._scratch.close()


class Worker(Child):
    """A child process that answers from a snapshot of a store, and afterwards perhaps from another."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.snapshot: Snapshot
        super().__init__("mrag.stores.process.query_child", str(memory))

    @classmethod
    def over(cls, snapshot: Snapshot, memory: int) -> Worker:
        """Return a worker over a snapshot: one that waits for work, or a new one."""
        waiting = RESERVE.take(memory)
        if waiting is not None:
            try:
                waiting._open(snapshot)
            except MragError:
                waiting.kill()  # it has ended by itself
            else:
                return waiting
        worker = cls(memory)
        try:
            worker._open(snapshot)
        except BaseException:
            worker.kill()
            raise
        return worker

    def _open(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.ask({"do": "open", "path": str(snapshot.path.absolute())}, time.monotonic() + _OPENING)

    def leave(self) -> None:
        """Drop the copy, and wait to be used for another one."""
        try:
            self.send({"do": "close"})
        except StoreError:
            self.kill()
        else:
            RESERVE.give(self.memory, self)


RESERVE: Reserve[Worker] = Reserve()


def snapshot_prefix(path: Path) -> str:
    """Return how the names of the snapshot folders of a store in a folder begin."""
    return f".{path.name}.snapshot-"


logger = logging.getLogger(__name__)

_MEMORY = 4 << 30
_NOT_STARTED = "A worker could not be started ahead: %s"
_UNLIMITED = Limits(86_400.0, 1 << 62, 1 << 62)


class WorkerPool:
    """Workers over the present state of a store; those of an earlier state leave it with their query."""

    def __init__(self, store: OxigraphStore, size: int = 2) -> None:
        self.memory = _MEMORY
        self.guard: AbstractContextManager[Any] = nullcontext()
        self.note: Callable[[], Any] = lambda: None
        self._steady = self._closed = False
        self.was_killed = 0
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
        """Answer one query within its limits."""
        deadline = time.monotonic() + limits.seconds
        if not self._slots.acquire(timeout=limits.seconds):
            raise QueryTimeout("No worker came free before the deadline.", query=query, hint=SLOWER)
        try:
            worker = self.take()
            if time.monotonic() >= deadline:
                self.give(worker)  # the next query finds the copy made
                raise late(query)
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
        return unpack(reply)

    def serialise(self, query: str, dataset: Dataset) -> bytes:
        """Answer a CONSTRUCT query of our own as N-Triples, without limits, while other threads go on."""
        worker = self.take(fresh=True, ours=True)
        parts: list[bytes] = []
        reply: Reply = ()
        try:
            worker.send(request("document", query, dataset, _UNLIMITED, format="ntriples"))
            for kind, content in worker.frames(time.monotonic() + _UNLIMITED.seconds, query):
                if kind == b"D":
                    parts.append(content)
                else:
                    reply = pickle.loads(content)  # noqa: S301 # our own child wrote it
        except BaseException:
            self.discard(worker)
            raise
        self.release(worker)
        if problem := refusal(reply, query, _UNLIMITED):
            raise problem
        return b"".join(parts)

    def keep(self, size: int) -> None:
        """Set how many workers stay between queries, and start them; also after the pool was closed."""
        if self._closed:
            atexit.register(self.close)
        self._size, self._closed = size, False
        RESERVE.size = max(RESERVE.size, size)
        self.warm()

    def warm(self) -> None:
        """Start the workers that are missing, so that the next queries need not wait for one."""
        while True:
            with self._lock:
                self._bury()
                if len(self._idle) + len(self._busy) >= self._size:
                    return
            try:
                self.give(self.take(fresh=True))
            except StoreError as error:
                # The next query starts one itself, and is told if that cannot be done.
                logger.warning(_NOT_STARTED, error)
                return

    def idle(self) -> Worker | None:
        """Take a worker that is ready and up to date, if there is one, without waiting."""
        store = self._store()
        if store is None or not self._lock.acquire(blocking=False):
            return None
        try:
            self._bury()
            if self._stale(store) or not self._idle:
                return None
            worker = self._idle.pop()
            self._busy.add(worker)
            return worker
        finally:
            self._lock.release()

    def take(self, *, fresh: bool = False, ours: bool = False) -> Worker:
        """Take a worker over the present state; it must be given back or discarded."""
        store = self._opened()
        with self._lock:
            self._bury()
            snapshot = self._present(store)
            if self._idle and not fresh:
                worker = self._idle.pop()
                self._busy.add(worker)
                return worker
            snapshot.users += 1
        return self._start(snapshot, 0 if ours else self.memory)

    def _start(self, snapshot: Snapshot, memory: int) -> Worker:
        """Start a worker over a copy, of which it is a user already."""
        try:
            worker = Worker.over(snapshot, memory)
        except BaseException:
            self.let_go(snapshot)
            raise
        with self._lock:
            self._busy.add(worker)
        return worker

    @contextmanager
    def ahead(self) -> Iterator[None]:
        """Start a worker beside the block if none is ready, so that the query behind it need not wait."""
        store = self._opened()
        with self._lock:
            self._bury()
            # In this thread, which may hold what guards the copy.
            snapshot = self._present(store)
            wanted = not self._idle
            snapshot.users += wanted
        with ThreadPoolExecutor(1) as starting:
            begun = starting.submit(self._start, snapshot, self.memory) if wanted else None
            yield
        if begun is not None:
            try:
                self.give(begun.result())
            except StoreError as error:
                logger.warning(_NOT_STARTED, error)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Answer from the state before while the block changes the store; from the new one when it ends.

        So no query waits for a long change, nor for the copy that the workers of the new state read.
        """
        store = self._opened()
        with self._lock:
            before = self._present(store)
            self._steady = True
        try:
            yield
            if store.generation != before.generation:
                self._renew(store)
        finally:
            with self._lock:
                self._steady = False

    def _renew(self, store: OxigraphStore) -> None:
        """Start workers over the present state, and let them take the place of the others."""
        snapshot = self._copy(store)
        workers: list[Worker] = []
        with ThreadPoolExecutor(max(self._size, 1)) as starting:
            begun = [starting.submit(Worker.over, snapshot, self.memory) for _ in range(self._size)]
        for one in begun:
            try:
                workers.append(one.result())
                snapshot.users += 1
            except StoreError as error:
                # What was changed has been changed; a query that finds no worker starts one.
                logger.warning(_NOT_STARTED, error)
        with self._lock:
            if not self._closed:
                self._retire()
                self._snapshot, self._idle = snapshot, workers
                return
        for worker in workers:
            worker.kill()
        snapshot.current = False
        snapshot.leave(snapshot.users)

    @property
    def shown(self) -> Snapshot | None:
        """Return the copy that queries are answered from; None where one must be made first."""
        store = self._store()
        return None if store is None or self._stale(store) else self._snapshot

    def _opened(self) -> OxigraphStore:
        store = self._store()
        if store is None:
            raise StoreError("The store is closed.")
        return store

    def _stale(self, store: OxigraphStore) -> bool:
        shown = self._snapshot
        return shown is None or (not self._steady and shown.generation != store.generation)

    def _present(self, store: OxigraphStore) -> Snapshot:
        """Return the copy to answer from, made anew where the store has changed; the lock is held."""
        if self._snapshot is None or self._stale(store):
            self._retire()
            self._snapshot = self._copy(store)
        return self._snapshot

    def _copy(self, store: OxigraphStore) -> Snapshot:
        with self.guard:
            return Snapshot(store, self.note())

    def give(self, worker: Worker) -> None:
        """Take back a worker that has answered and can answer again."""
        with self._lock:
            self._busy.discard(worker)
            if worker.snapshot.current and len(self._idle) < self._size:
                self._idle.append(worker)
                return
        self.release(worker)

    def release(self, worker: Worker) -> None:
        """Take back a worker that has answered; nobody sees what it may have changed in its copy."""
        with self._lock:
            self._busy.discard(worker)
        worker.leave()
        self.let_go(worker.snapshot)

    def discard(self, worker: Worker) -> None:
        """End a worker, in the middle of a query if need be."""
        with self._lock:
            self.was_killed += 1
            self._busy.discard(worker)
        worker.kill()
        self.let_go(worker.snapshot)

    def processes(self) -> list[int]:
        """Return the numbers of the worker processes."""
        with self._lock:
            return [worker.pid for worker in (*self._idle, *self._busy)]

    def defences(self) -> list[Defences]:
        """Return what each worker process has given up."""
        with self._lock:
            return [worker.defences for worker in (*self._idle, *self._busy)]

    def close(self) -> None:
        """Let go of the workers, kill those that are busy, and remove their snapshots."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            for worker in self._busy:
                worker.kill()
                worker.snapshot.leave()
            self._busy.clear()
            self._retire()

    def _bury(self) -> None:
        """Forget the idle workers that something else has ended; the lock is held."""
        for worker in [worker for worker in self._idle if worker.ended]:
            self._idle.remove(worker)
            worker.kill()
            worker.snapshot.leave()

    def _retire(self) -> None:
        """Let go of the idle workers and of their snapshot; the lock is held."""
        old, self._snapshot = self._snapshot, None
        if old is not None:
            old.current = False
            for worker in self._idle:
                worker.leave()
            old.leave(len(self._idle))
            self._idle.clear()

    def hold(self) -> Snapshot:
        """Return the copy of the present state, which stays until it is let go."""
        store = self._opened()
        with self._lock:
            snapshot = self._present(store)
            snapshot.users += 1
            return snapshot

    def let_go(self, snapshot: Snapshot) -> None:
        """Remove a copy if nobody needs it any more."""
        with self._lock:
            snapshot.leave()
