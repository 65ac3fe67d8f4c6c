"""The child's side of `QuestionReader`: reads questions until it is killed.

Its argument is the MEMORY. Requests and answers are frames, as in `mrag.stores.process.query_child`. In the
middle of a question it asks its parent (`Q`) to run the queries that must be bounded, because it may start no
process itself, and where another server holds the triples all queries, because it reaches no network.
"""

from __future__ import annotations

import pickle
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import pyoxigraph as ox

from mrag.errors import ModelError, MragError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record
from mrag.index.embedding import MiniLmEmbedder
from mrag.planning.answering import reader_of
from mrag.rdf.terms import Triple
from mrag.redaction import brief
from mrag.retrieval.routing import MAX_TRIPLES, compute_route
from mrag.stores.base import BaseStore, Capabilities, Dataset, Limits, SelectResult, SelectStream, TripleStore
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.query_child import HEAD, frame, serve
from mrag.stores.process.workers import WorkerPool
from mrag.terminal import Guarded


class CopiedStore(OxigraphStore):
    """A copy of a store, which is only read; another copy may take its place."""

    def __init__(self, url: str, workers: WorkerPool) -> None:
        super().__init__()
        path = url.removeprefix("oxigraph:")
        self.path = Path(path) if path else None
        self.url = self.identity = url
        self.capabilities = type(self.capabilities)(
            edges=True, ordered=self.path is not None, atomic=True, any_tag=True
        )
        self._workers = workers

    def take(self, copy: Path) -> None:
        """Answer from another copy."""
        quads = copy / "store.nq"
        if quads.exists():
            self.engine = ox.Store()
            self.engine.bulk_load(path=str(quads), format=ox.RdfFormat.N_QUADS, lenient=True)
        else:
            self.engine = ox.Store.read_only(str(copy))
        self._generation += 1

    def _writing(self) -> AbstractContextManager[None]:  # type: ignore[override]
        raise StoreError("This copy of the store is only read.")


class AskedStore(BaseStore):
    """A store on another server, which the parent asks; it is only read."""

    def __init__(self, url: str, identity: str, capabilities: Capabilities, ask: Callable[..., Any]) -> None:
        self.url, self.identity, self.capabilities = url, identity, capabilities
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        raise StoreError(f"This store is only read, so {name} is not for it.")

    def select(self, query: str, dataset: Dataset) -> SelectResult:
        """Answer a SELECT query."""
        return cast(SelectResult, self._ask("select", query, dataset))

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query."""
        result = self.select(query, dataset)
        return SelectStream(result.variables, iter(result.rows))

    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""
        return bool(self._ask("ask", query, dataset))

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query."""
        return iter(self._ask("construct", query, dataset))

    def bounded(self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b"") -> Any:
        """Answer a read query of any form within its limits."""
        return self._ask("bounded", query, dataset, limits, extra)


class KnownGraph(KnowledgeGraph):
    """A graph whose state is known to whoever opens it."""

    def __init__(self, store: TripleStore, state: Record, as_found: bool, **options: Any) -> None:
        self._state, self._as_found = replace(state, pending=""), as_found
        super().__init__(store, **options)

    def _opened(self, graphs: Sequence[str]) -> Record:
        self._found = self._state.asserted if self._as_found else ()
        return self._state


class _Parent(WorkerPool):
    """Has the parent run queries."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Have it do one thing; others wait for their turn."""
        out, answers = sys.stdout.buffer, sys.stdin.buffer
        with self._turn:
            frame(out, b"Q", pickle.dumps((name, *arguments)))
            out.flush()
            _, size = HEAD.unpack(answers.read(HEAD.size))
            reply = pickle.loads(answers.read(size))  # noqa: S301 # our own parent wrote it
        return unpack(reply)

    def run(self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b"") -> Any:
        """Answer one query within its limits."""
        return self.ask("bounded", query, dataset, limits, extra)

    def ahead(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Do nothing: the parent's processes are ready."""
        return nullcontext()


class ChildReader:
    """Answers the requests of a parent about its copy of a graph."""

    def __init__(self) -> None:
        self._parent = _Parent()
        self._kg: KnowledgeGraph | None = None

    def __call__(self, request: tuple[str, Any], out: BinaryIO) -> tuple[Any, ...]:
        """Answer a request of the parent: to open a copy, or to read a question."""
        name, *arguments = request
        return outcome(getattr(self, name), *arguments)

    def open(
        self, about: dict[str, Any], copy: str | None, note: Any, options: dict[str, Any], whole: bool
    ) -> None:
        """Take a copy, if there is one, and read the names of its graph, however long that takes."""
        if self._kg is None:
            store = (
                CopiedStore(about["url"], self._parent) if copy else AskedStore(**about, ask=self._parent.ask)
            )
            if isinstance(store, CopiedStore):
                store.take(Path(str(copy)))
            self._kg = KnownGraph(cast(TripleStore, store), note, **options)
            self._kg.keeps_counts = False
        elif copy:
            cast(CopiedStore, self._kg.store).take(Path(copy))
        self._kg.written(note)
        if whole or self._kg.profile().triples <= MAX_TRIPLES:
            reader_of(self._kg)
            # It has been begun to load; no question waits for it.
            with suppress(ModelError, OSError, RuntimeError):
                MiniLmEmbedder()

    def read(self, *question: Any) -> Any:
        """Return what `compute_route` returns."""
        assert self._kg is not None
        return compute_route(self._kg, *question)


def outcome(work: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Return what a function returned or raised, for the other process."""
    try:
        return "done", work(*arguments)
    except MragError as error:
        return "failed", type(error), vars(error)
    except (MemoryError, RecursionError):
        return "failed", StoreError, {"message": "Reading it takes too much memory."}
    except Exception as error:
        return "broken", brief(f"{type(error).__name__}: {error}", 300)


def unpack(reply: tuple[Any, ...]) -> Any:
    """Return or raise what the other process has."""
    if reply[0] == "done":
        return reply[1]
    if reply[0] == "broken":
        raise RuntimeError(reply[1])
    error = reply[1](reply[2]["message"])
    vars(error).update(reply[2])
    raise error


if __name__ == "__main__":
    # What ends this process unforeseen may quote a question or a label.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    # Whoever asked may be gone, or be ending, too.
    with suppress(BrokenPipeError, EOFError, KeyboardInterrupt, struct.error):
        serve(int(sys.argv[1]), ChildReader())
