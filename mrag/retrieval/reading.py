"""Reading what others ask in processes that are ended at the deadline, whatever store answers."""

from __future__ import annotations

import atexit
import logging
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from mrag.errors import QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import with_profile
from mrag.retrieval.routing import How, Routed, fold
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import Child
from mrag.stores.process.workers import Snapshot
from mrag.tracing import span

logger = logging.getLogger(__name__)

CHILD = "mrag.retrieval.reading_child"
"""What the processes run."""

_OPENING = 600.0
"""Seconds that the names of a graph may take to be read."""


class QuestionReader:
    """Reads questions in child processes, and ends one at its deadline.

    Whatever a question makes of the reader, an endless loop or a process without memory, the process of the
    caller goes on with what others ask. A child answers its own queries from a copy of the store; where
    another server holds the triples it reaches no network, and has the caller ask.
    """

    def __init__(
        self, kg: KnowledgeGraph, seconds: float = 30.0, size: int = 2, memory: int = 4 << 30
    ) -> None:
        self._kg, self._seconds, self._memory = kg, seconds, memory
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._idle: list[_Reading] = []
        self._busy: set[_Reading] = set()
        self._closed = False
        atexit.register(self.close)

    def computed(
        self,
        question: str,
        how: How = "auto",
        reading: int | None = None,
        follows: Mapping[str, Any] | None = None,
    ) -> Routed:
        """Return what `mrag.retrieval.routing.computed` returns."""
        question, deadline = fold(question), time.monotonic() + self._seconds
        if how not in ("auto", "plan"):
            return Routed(None, "")
        if not self._places.acquire(timeout=self._seconds):
            raise QueryTimeout("Other questions were being read until the deadline.", hint="Ask again.")
        try:
            began = time.monotonic()
            child = self._taken()
            try:
                child.follow(self._kg, whole=how == "plan")
                # A process is started, and the names of the graph are read, once, however long that takes.
                deadline += time.monotonic() - began
                with span("mrag.plan") as note:
                    reply = child.read((question, how, reading, follows), deadline, self._seconds)
                    note({"mrag.computed": reply[0] is not None})
            except BaseException as error:
                self._leave(child, ended=child.broken or not isinstance(error, Exception))
                raise
            self._leave(child)
            return reply
        finally:
            self._places.release()

    def warm(self) -> None:
        """Start a process that reads the names of the graph, so that the first question need not wait."""
        # On another server that would be work which nobody has asked for yet.
        if isinstance(self._kg.store, OxigraphStore):
            child = self._taken()
            try:
                child.follow(self._kg, whole=False)
            except StoreError as error:
                logger.warning("A process for questions could not be started ahead: %s", error.message)
            self._leave(child, ended=child.broken)

    def processes(self) -> list[int]:
        """Return the numbers of the processes."""
        with self._lock:
            return [child.process.pid for child in (*self._idle, *self._busy)]

    def close(self) -> None:
        """End the processes."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            children, self._idle = [*self._idle, *self._busy], []
            self._busy.clear()
        for child in children:
            child.end()

    def _taken(self) -> _Reading:
        with self._lock:
            for gone in [child for child in self._idle if child.process.ended]:
                self._idle.remove(gone)
                gone.end()
            child = self._idle.pop() if self._idle else None
        child = child or _Reading(self._kg, self._memory)
        with self._lock:
            self._busy.add(child)
        return child

    def _leave(self, child: _Reading, *, ended: bool = False) -> None:
        with self._lock:
            self._busy.discard(child)
            if not ended and not self._closed:
                self._idle.append(child)
                return
        child.end()


def _bound(
    kg: KnowledgeGraph, deadline: float, query: str, dataset: Any, limits: Limits, extra: bytes
) -> Any:
    left = max(0.001, min(limits.seconds, deadline - time.monotonic()))
    return kg.store.bounded(query, dataset, replace(limits, seconds=left), extra)


_ANSWERS: Final[Mapping[str, Callable[..., Any]]] = {
    "bounded": _bound,
    "select": lambda kg, _, query, dataset: kg.store.select(query, dataset),
    "ask": lambda kg, _, query, dataset: kg.store.ask(query, dataset),
    "construct": lambda kg, _, query, dataset: list(kg.store.construct(query, dataset)),
}
"""What a child may have its parent do: to read, and nothing else."""


class _Reading:
    """A process that reads questions, and the copy of the store that it reads, where it has one."""

    def __init__(self, kg: KnowledgeGraph, memory: int) -> None:
        self._kg = kg
        self.process = Child(CHILD, str(memory))
        self.broken = False
        self._snapshot: Snapshot | None = None
        self._note: Any = None
        self._whole = False

    def follow(self, kg: KnowledgeGraph, *, whole: bool) -> None:
        """Let it read the present state of the graph, with all of its names if they are needed."""
        if not isinstance(kg.store, OxigraphStore):
            record = kg.record
            if record != self._note or (whole and not self._whole):
                # Counting takes long on a server, so what has been counted here goes along.
                counted = with_profile(kg.profile(), record.revision)
                self._open(kg, None, replace(record, profile=counted), whole)
                self._note, self._whole = record, whole
            return
        pool = kg.store.workers
        shown = pool.shown
        if shown is not None and shown is self._snapshot and (self._whole or not whole):
            return
        snapshot = pool.hold()
        before, self._snapshot, self._whole = self._snapshot, snapshot, whole
        try:
            self._open(kg, str(snapshot.path.absolute()), snapshot.note or kg.record, whole)
        finally:
            if before is not None:
                pool.let_go(before)

    def _open(self, kg: KnowledgeGraph, copy: str | None, note: Any, whole: bool) -> None:
        options = {
            "name": kg.name,
            "prefixes": dict(kg.prefixes),
            "languages": kg.languages,
            "as_found": kg.as_found,
        }
        store = {name: getattr(kg.store, name) for name in ("url", "identity", "capabilities")}
        try:
            self._ask(("open", store, copy, note, options, whole), time.monotonic() + _OPENING)
        except BaseException:
            self.broken = True
            raise

    def read(self, question: tuple[Any, ...], deadline: float, seconds: float) -> Routed:
        """Return how a question is answered."""
        try:
            return Routed(*self._ask(("read", *question), deadline))
        except StoreError as error:
            if not self.broken:
                raise
            late = isinstance(error, QueryTimeout)
            told = "The process that read the question has ended, most likely for want of memory."
            if late:
                told = f"The question was not read within {seconds:g} s, and its reading was ended."
            raise (QueryTimeout if late else StoreError)(told, hint="Ask it in fewer words.") from error

    def _ask(self, request: tuple[Any, ...], deadline: float) -> Any:
        from mrag.retrieval.reading_child import outcome, unpack

        def answered(name: str, *arguments: Any) -> Any:
            return _ANSWERS[name](self._kg, deadline, *arguments)

        # Until it has answered, nobody else may ask it.
        self.broken, waiting = True, True
        self.process.send(request)
        while waiting:
            for kind, content in self.process.frames(deadline, ""):
                value = pickle.loads(content)  # noqa: S301 # our own child wrote it
                if kind == b"Q":
                    self.process.send(outcome(answered, *value))
                    continue
                self.broken, waiting = False, False
                return unpack(value)
        return None

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        if self._snapshot is not None:
            self._kg.store.workers.let_go(self._snapshot)  # type: ignore[attr-defined]
            self._snapshot = None
