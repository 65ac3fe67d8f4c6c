"""Reading what others ask in processes that are ended at the deadline, whatever store answers."""

from __future__ import annotations

import atexit
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

from mrag.errors import QueryTimeout, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import with_profile
from mrag.retrieval.routing import How, Routed, fold
from mrag.stores.base import Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import Child, Reserve
from mrag.stores.process.workers import Snapshot
from mrag.tracing import span

logger = logging.getLogger(__name__)

CHILD = "mrag.retrieval.reading_child"  # What the processes run

_OPENING = 600.0  # Seconds that the names of a graph may take to be read


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
        self._children: Reserve[_Reading] = Reserve(size)
        self._closed = False

    def compute(
        self,
        question: str,
        how: How = "auto",
        reading: int | None = None,
        follows: Mapping[str, Any] | None = None,
    ) -> Routed:
        """Return what `mrag.retrieval.routing.compute_route` returns."""
        question, deadline = fold(question), time.monotonic() + self._seconds
        if how not in ("auto", "plan"):
            return Routed(None, "")
        if not self._places.acquire(timeout=self._seconds):
            raise QueryTimeout("Other questions were being read until the deadline.", hint="Ask again.")
        try:
            began = time.monotonic()
            with self._lend() as child:
                child.follow(self._kg, whole=how == "plan")
                # A process is started, and the names of the graph are read, once, however long that takes.
                deadline += time.monotonic() - began
                with span("mrag.plan") as note:
                    reply = child.read((question, how, reading, follows), deadline, self._seconds)
                    note({"mrag.computed": reply[0] is not None})
            return reply
        finally:
            self._places.release()

    def warm(self) -> None:
        """Start a process that reads the names of the graph, so that the first question need not wait."""
        # On another server that would be work which nobody has asked for yet.
        if isinstance(self._kg.store, OxigraphStore):
            try:
                with self._lend() as child:
                    child.follow(self._kg, whole=False)
            except StoreError as error:
                logger.warning("A process for questions could not be started ahead: %s", error.message)

    def processes(self) -> list[int]:
        """Return the numbers of the processes."""
        return [child.pid for child in self._children.every()]

    def close(self) -> None:
        """End the processes."""
        self._closed = True
        atexit.unregister(self._children.close)
        self._children.close()

    @contextmanager
    def _lend(self) -> Iterator[_Reading]:
        try:
            with self._children.lend(self._memory, lambda: _Reading(self._kg, self._memory)) as child:
                if self._closed:  # A child that was being started meanwhile was not ended with the others.
                    child.spent = True
                    raise StoreError("Questions are read no more: the server stops.", hint="Ask again later.")
                yield child
        finally:
            if self._closed:
                self._children.close()


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


class _Reading(Child):
    """A process that reads questions, and the copy of the store that it reads, where it has one."""

    def __init__(self, kg: KnowledgeGraph, memory: int) -> None:
        self._kg = kg
        self._snapshot: Snapshot | None = None
        self._note: Any = None
        self._whole = False
        super().__init__(CHILD, str(memory))

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
            self.spent = True
            raise

    def read(self, question: tuple[Any, ...], deadline: float, seconds: float) -> Routed:
        """Return how a question is answered."""
        try:
            return Routed(*self._ask(("read", *question), deadline))
        except StoreError as error:
            if not self.spent:
                raise
            late = isinstance(error, QueryTimeout)
            reason = "The process that read the question has ended, most likely for want of memory."
            if late:
                reason = f"The question was not read within {seconds:g} s, and its reading was ended."
            raise (QueryTimeout if late else StoreError)(reason, hint="Ask it in fewer words.") from error

    def _ask(self, request: tuple[Any, ...], deadline: float) -> Any:
        from mrag.retrieval.reading_child import outcome, unpack

        def answered(name: str, *arguments: Any) -> Any:
            return _ANSWERS[name](self._kg, deadline, *arguments)

        # Until it has answered, nobody else may ask it.
        self.spent, waiting = True, True
        self.send(request)
        while waiting:
            for kind, content in self.frames(deadline, ""):
                value = pickle.loads(content)  # noqa: S301 # our own child wrote it
                if kind == b"Q":
                    self.send(outcome(answered, *value))
                    continue
                self.spent, waiting = False, False
                return unpack(value)
        return None

    def kill(self) -> None:
        """End the process, which needs its copy no more."""
        super().kill()
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is not None:
            self._kg.store.workers.let_go(snapshot)  # type: ignore[attr-defined]
