"""Worker processes that answer untrusted queries on a snapshot and are killed at the deadline.

The parent writes pickled requests to the worker's standard input and reads pickled replies. Each
worker holds a copy of its own, so the extra triples of one query are in nobody else's sight.
Run as `python -m mrag.stores.worker SNAPSHOT`.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any, cast

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef

from mrag.errors import QueryRefused, QueryTimeout, StoreError
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.terms import XSD, Term, Triple

if TYPE_CHECKING:
    from mrag.stores.oxigraph import OxigraphStore

_START_SECONDS = 30.0
_SCRATCH = "urn:mrag:scratch:worker"

_Plain = tuple[str, str, str | None, str | None] | None


@dataclass(frozen=True)
class _Request:
    query: str
    dataset: Dataset
    limits: Limits
    extra: bytes


class WorkerPool:
    """Up to `size` workers over the present state of a store; a write retires them.

    Args:
        store: The store whose snapshots the workers read.
        size: Most workers at once; further queries wait for one.
    """

    def __init__(self, store: OxigraphStore, size: int = 2) -> None:
        self._store = weakref.ref(store)
        self._slots = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._snapshot: tuple[int, Path] | None = None
        self._folder: Path | None = None
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
            raise QueryTimeout("No worker came free before the deadline.", query=query, hint=_SLOWER)
        try:
            worker = self._take()
            try:
                reply = worker.ask(_Request(query, dataset, limits, extra), deadline)
            except BaseException:
                worker.kill()
                raise
            with self._lock:
                self._idle.append(worker)
        finally:
            self._slots.release()
        return _unpack(reply, query, limits)

    def close(self) -> None:
        """Kill the workers and remove their snapshot."""
        atexit.unregister(self.close)
        with self._lock:
            for worker in self._idle:
                worker.kill()
            self._idle.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None
                self._snapshot = None

    def _take(self) -> _Worker:
        store = self._store()
        if store is None:
            raise StoreError("The store is closed.")
        with self._lock:
            if self._snapshot is None or self._snapshot[0] != store.generation:
                for worker in self._idle:
                    worker.kill()
                self._idle.clear()
                if self._folder is not None:
                    shutil.rmtree(self._folder, ignore_errors=True)
                # Hard links need the same file system, so the copy of a folder lies beside it.
                parent = None if store.path is None else store.path.parent
                name = snapshot_prefix(store.path)
                self._folder = Path(tempfile.mkdtemp(prefix=name, dir=parent))
                self._snapshot = (store.generation, self._folder / "0")
                store.snapshot(self._snapshot[1])
            if self._idle:
                return self._idle.pop()
            snapshot = self._snapshot[1]
        return _Worker(snapshot)


def snapshot_prefix(path: Path | None) -> str:
    """Return how the names of a store's snapshot folders begin."""
    return f".{path.name if path is not None else 'mrag'}.snapshot-"


class _Worker:
    """One child process."""

    def __init__(self, snapshot: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mrag.stores.worker", str(snapshot)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        self._read(time.monotonic() + _START_SECONDS, "")

    def ask(self, request: _Request, deadline: float) -> tuple[str, Any]:
        stdin = self._process.stdin
        data = pickle.dumps(request)
        try:
            cast(Any, stdin).write(struct.pack(">Q", len(data)) + data)
            cast(Any, stdin).flush()
        except OSError as error:
            raise StoreError("A query worker has ended unexpectedly.", query=request.query) from error
        return cast("tuple[str, Any]", self._read(deadline, request.query))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue

    def _read(self, deadline: float, query: str) -> object:
        (size,) = struct.unpack(">Q", self._exactly(8, deadline, query))
        return pickle.loads(self._exactly(size, deadline, query))

    def _exactly(self, count: int, deadline: float, query: str) -> bytes:
        stdout = self._process.stdout
        fd = cast(Any, stdout).fileno()
        parts: list[bytes] = []
        with DefaultSelector() as selector:
            selector.register(fd, EVENT_READ)
            while count:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.kill()
                    raise QueryTimeout(
                        "The query passed its deadline and was ended.", query=query, hint=_SLOWER
                    )
                part = os.read(fd, min(count, 1 << 20))
                if not part:
                    self.kill()
                    raise StoreError(
                        "The query's worker ended before it answered, most likely for want of memory.",
                        query=query,
                        hint="Narrow the query or add a LIMIT.",
                    )
                parts.append(part)
                count -= len(part)
        return b"".join(parts)


_SLOWER = "Narrow it (fewer free variables, a LIMIT), or allow more seconds."


def _unpack(reply: tuple[str, Any], query: str, limits: Limits) -> SelectResult | bool | list[Triple]:
    kind, value = reply
    if kind == "select":
        names, rows = value
        return SelectResult(names, [tuple(map(_term, row)) for row in rows])
    if kind == "construct":
        return [Triple(*cast(Any, map(_term, row))) for row in value]
    if kind == "ask":
        return bool(value)
    if kind == "large":
        raise QueryRefused(
            f"The result is larger than {limits.rows} rows or {limits.bytes} bytes.",
            query=query,
            hint="Add a LIMIT, or allow more.",
        )
    raise QueryRefused(f"The engine cannot answer this query: {value}.", query=query)


def _plain(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> _Plain:
    """Take a term apart; pyoxigraph's own pickles refuse odd language tags that a load let pass."""
    if term is None:
        return None
    if isinstance(term, ox.Literal):
        return "l", term.value, term.language, term.datatype.value
    if isinstance(term, ox.Triple):
        raise ValueError("triple terms are not supported")
    return "b" if isinstance(term, ox.BlankNode) else "i", term.value, None, None


def _term(plain: _Plain) -> Term | None:
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


# -- the child's side ------------------------------------------------------------------------------


def _end_with_parent() -> None:
    """End this process soon after its parent, also in the middle of a query.

    A query releases the interpreter while it runs, so a thread can watch. Linux's own signal for this
    would come when the thread that started the process ends, not the parent.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _leave_network() -> None:
    """Take this process off the network where the system lets it; the read gate comes first."""
    try:
        import ctypes

        new_user, new_net = 0x10000000, 0x40000000
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(new_net) != 0:
            libc.unshare(new_user | new_net)
    except (OSError, AttributeError):
        return


def _open(snapshot: Path) -> ox.Store:
    quads = snapshot / "store.nq"
    if quads.exists():
        store = ox.Store()
        store.bulk_load(path=str(quads), format=ox.RdfFormat.N_QUADS, lenient=True)
        return store
    # The snapshot is shared by the workers, and each may write its scratch graph: take a copy of links.
    private = Path(tempfile.mkdtemp(prefix="worker-", dir=snapshot.parent))
    reader = ox.Store.read_only(str(snapshot))
    target = private / "store"
    reader.backup(str(target))
    return ox.Store(str(target))


def _answer(store: ox.Store, request: _Request) -> tuple[str, Any]:
    default: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [
        ox.NamedNode(g) for g in request.dataset.default
    ]
    named: list[ox.NamedNode | ox.BlankNode] = [ox.NamedNode(g) for g in request.dataset.named]
    scratch = ox.NamedNode(_SCRATCH)
    if request.extra:
        store.load(request.extra, ox.RdfFormat.N_TRIPLES, to_graph=scratch)
        default.append(scratch)
    try:
        result = store.query(request.query, default_graph=default, named_graphs=named)
        if isinstance(result, ox.QueryBoolean):
            return "ask", bool(result)
        left = request.limits.bytes
        rows: list[tuple[Any, ...]] = []
        names = tuple(v.value for v in result.variables) if isinstance(result, ox.QuerySolutions) else ()
        for item in result:
            row = (
                tuple(item[name] for name in names)
                if isinstance(item, ox.QuerySolution)
                else (item.subject, item.predicate, item.object)
            )
            left -= sum(len(str(t)) for t in row if t is not None)
            if len(rows) >= request.limits.rows or left < 0:
                return "large", None
            rows.append(tuple(map(_plain, row)))
        if isinstance(result, ox.QuerySolutions):
            return "select", (names, rows)
        return "construct", rows
    except (SyntaxError, ValueError, RuntimeError, OSError) as error:
        return "error", str(error.args[0] if error.args else error)
    finally:
        if request.extra:
            store.remove_graph(scratch)


def _serve(snapshot: Path) -> None:
    _end_with_parent()
    _leave_network()
    store = _open(snapshot)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer

    def reply(value: object) -> None:
        data = pickle.dumps(value)
        stdout.write(struct.pack(">Q", len(data)) + data)
        stdout.flush()

    reply("ready")
    while head := stdin.read(8):
        (size,) = struct.unpack(">Q", head)
        reply(_answer(store, pickle.loads(stdin.read(size))))


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
