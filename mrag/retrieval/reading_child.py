"""The child's side of `QuestionReader`: reads questions on a copy of a store until it is killed.

Requests and answers are frames, as in `mrag.stores.process.query_child`. In the middle of a question it asks
its parent to run the queries that must be bounded (`Q`), because it may start no process itself.
"""

from __future__ import annotations

import pickle
import struct
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import pyoxigraph as ox

from mrag.errors import ModelError, MragError, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import MiniLmEmbedder
from mrag.planning.answering import parser_of
from mrag.retrieval.routing import MAX_TRIPLES, computed
from mrag.stores.base import Dataset, Limits
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.query_child import HEAD, confined, frame
from mrag.stores.process.workers import WorkerPool
from mrag.terminal import Guarded


class CopiedStore(OxigraphStore):
    """A copy of a store, which is only read; another copy may take its place.

    Args:
        url: The URL of the store that was copied, beside which what is known of it is kept.
        workers: What runs queries that must be bounded.
    """

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


class _Parent(WorkerPool):
    """Has the parent run queries."""

    def __init__(self, out: BinaryIO, answers: BinaryIO) -> None:
        self._out, self._answers = out, answers

    def run(self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b"") -> Any:
        """Answer one query within its limits."""
        frame(self._out, b"Q", pickle.dumps((query, dataset, limits, extra)))
        self._out.flush()
        return unpacked(_received(self._answers))

    def ahead(self) -> AbstractContextManager[None]:  # type: ignore[override]
        """Do nothing: the parent's processes are ready."""
        return nullcontext()


class _Reader:
    def __init__(self, out: BinaryIO, answers: BinaryIO) -> None:
        self._parent = _Parent(out, answers)
        self._kg: KnowledgeGraph | None = None

    def open(self, url: str, copy: str, note: Any, options: dict[str, Any], whole: bool) -> None:
        """Take a copy, and read the names of its graph, however long that takes."""
        if self._kg is None:
            store = CopiedStore(url, self._parent)
            store.take(Path(copy))
            self._kg = KnowledgeGraph(store, **options)
            self._kg.keeps_counts = False
        else:
            cast(CopiedStore, self._kg.store).take(Path(copy))
        self._kg.written(note)
        if whole or self._kg.profile().triples <= MAX_TRIPLES:
            parser_of(self._kg)
            # It has been begun to load; no question waits for it.
            with suppress(ModelError, OSError, RuntimeError):
                MiniLmEmbedder()

    def read(self, *question: Any) -> Any:
        """Return what `computed` returns."""
        assert self._kg is not None
        return computed(self._kg, *question)


def packed(work: Any, *arguments: Any) -> bytes:
    """Return what a function returned or raised, for the other process."""
    try:
        return pickle.dumps(("done", work(*arguments)))
    except MragError as error:
        return pickle.dumps(("failed", type(error), vars(error)))
    except (MemoryError, RecursionError):
        return pickle.dumps(("failed", StoreError, {"message": "Reading it takes too much memory."}))
    except Exception as error:
        return pickle.dumps(("broken", f"{type(error).__name__}: {error}"[:300]))


def unpacked(reply: tuple[Any, ...]) -> Any:
    """Return or raise what the other process has.

    Example:
        >>> unpacked(pickle.loads(packed(len, "abc")))
        3
    """
    if reply[0] == "done":
        return reply[1]
    if reply[0] == "broken":
        raise RuntimeError(reply[1])
    error = reply[1](reply[2]["message"])
    vars(error).update(reply[2])
    raise error


def _received(source: BinaryIO) -> Any:
    _, size = HEAD.unpack(source.read(HEAD.size))
    return pickle.loads(source.read(size))  # noqa: S301 # our own parent wrote it


def serve() -> None:
    """Answer requests until the input ends."""
    defences = confined(0)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    reader = _Reader(stdout, stdin)
    frame(stdout, b"P", pickle.dumps(("ready", defences)))
    stdout.flush()
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        name, *arguments = pickle.loads(stdin.read(size))  # noqa: S301 # our own parent wrote it
        frame(stdout, b"P", packed(getattr(reader, name), *arguments))
        stdout.flush()


if __name__ == "__main__":
    # What ends this process unforeseen may quote a question or a label.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    # Whoever asked may be gone, or be ending, too.
    with suppress(BrokenPipeError, EOFError, KeyboardInterrupt, struct.error):
        serve()
