"""Work on what others sent, done in a child process with a memory and a time limit.

A parser that meets the wrong text takes gigabytes, minutes, or its process with it. Here it takes down a
child, and the caller gets an error that says which limit was passed.
"""

from __future__ import annotations

import atexit
import os
import pickle
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, cast

from mrag import errors
from mrag.errors import ConfigError, LoadError, MragError, QueryTimeout, StoreError
from mrag.stores.process.channel import Child, Reply, Reserve

_LIGHT = 4 << 20
"""Children that were given or gave more bytes are not used again, so that they give their memory back."""


@dataclass(frozen=True)
class Bounds:
    """How much a piece of work may use.

    Attributes:
        seconds: Most seconds of waiting for it.
        memory: Most bytes of its process; 0 for no cap.
        bytes: Most bytes that it gives back; 0 for no cap.

    Raises:
        ConfigError: If a number is out of range.
    """

    seconds: float = 300.0
    memory: int = 2 << 30
    bytes: int = 0

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.memory < 0 or self.bytes < 0:
            raise ConfigError("A limit of reading is out of range.", hint="Seconds must be more than 0.")

    @classmethod
    def from_env(cls) -> Bounds:
        """Read `MRAG_PARSE_SECONDS` and `MRAG_PARSE_MEMORY` (in megabytes, 0 for no cap).

        Raises:
            ConfigError: If one is no number, or out of range.
        """
        try:
            seconds = float(os.environ.get("MRAG_PARSE_SECONDS") or cls.seconds)
            megabytes = int(os.environ.get("MRAG_PARSE_MEMORY") or cls.memory >> 20)
        except ValueError as error:
            raise ConfigError("MRAG_PARSE_SECONDS and MRAG_PARSE_MEMORY are numbers.") from error
        return cls(seconds, megabytes << 20)


class _Children:
    """Children that do a piece of work, and those that wait for one."""

    def __init__(self) -> None:
        self.waiting: Reserve[Child] = Reserve()
        self._lock = threading.Lock()
        self._busy: set[Child] = set()
        self._owner = os.getpid()

    @contextmanager
    def one(self, memory: int, heavy: list[bool]) -> Iterator[Child]:
        """Lend a child; it is used again if the work ended well and `heavy` is empty."""
        child = self.waiting.take(memory) or Child("mrag.stores.process.task_child", str(memory))
        with self._lock:
            if self._owner != os.getpid():
                # After a fork they are the parent's.
                self._busy, self._owner = set(), os.getpid()
            self._busy.add(child)
        kept = False
        try:
            yield child
            kept = not heavy
        finally:
            with self._lock:
                self._busy.discard(child)
            if kept:
                self.waiting.give(memory, child)
            else:
                child.kill()

    def close(self) -> None:
        """End all of them, in the middle of their work if need be."""
        self.waiting.close()
        with self._lock:
            if self._owner == os.getpid():
                for child in self._busy:
                    child.kill()
            self._busy.clear()


_CHILDREN = _Children()
close_all = _CHILDREN.close
"""End all children; the next piece of work starts new ones."""
atexit.register(close_all)


def warm(bounds: Bounds) -> None:
    """Start a child, so that the first piece of work need not wait for one."""
    perform("mrag.stores.process.parsing:read_prefixes", (), bounds=bounds)


def perform(work: str, *arguments: Any, bounds: Bounds | None = None) -> Any:
    """Do a piece of work, and return what it returns.

    Args:
        work: A function of this package, as `module:name`.
        *arguments: What it is given; all must be values that pickle.
        bounds: How much it may use; from the environment by default.

    Raises:
        QueryTimeout: If it took too long.
        LoadError: If it wanted more memory than it may have, or ended its process.
        StoreError: If something else ended its process.
        MragError: What it raised.

    Example:
        >>> perform("mrag.rdf.terms:iri", "urn:a")
        rdflib.term.URIRef('urn:a')
    """
    pieces = stream(work, *arguments, bounds=bounds)
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value


def stream(work: str, *arguments: Any, bounds: Bounds | None = None) -> Generator[Any, None, Any]:
    """Do a piece of work that yields values, pass them on as they come, and return what it returns.

    Only waiting for the child counts against its seconds, not what is done with its values meanwhile.

    Raises:
        QueryTimeout: If it took too long.
        LoadError: If it wanted more memory than it may have, gave too much, or ended its process.
        StoreError: If something else ended its process.
        MragError: What it raised.
    """
    bounds = bounds or Bounds.from_env()
    heavy: list[bool] = []
    given = 0
    reply: Reply = ()
    with _CHILDREN.one(bounds.memory, heavy) as child:
        for kind, content in _frames(child, (work, arguments, _here()), bounds):
            given += len(content)
            if bounds.bytes and given > bounds.bytes:
                raise LoadError(
                    f"Written out in full it has more than {bounds.bytes >> 20} megabytes.",
                    hint="Nothing of it was stored. Send it in several parts.",
                )
            if kind != b"P":
                yield content if kind == b"D" else pickle.loads(content)  # noqa: S301 # our own child wrote it
                continue
            reply = pickle.loads(content)  # noqa: S301 # our own child wrote it
        if given > _LIGHT or reply[0] == "large":
            heavy.append(True)
    if reply[0] == "done":
        return reply[1]
    raise _error(reply, bounds)


def _frames(child: Child, request: object, bounds: Bounds) -> Iterator[tuple[bytes, bytes]]:
    """Send a request and yield the frames of its answer, while the child keeps us waiting for so long."""
    left = bounds.seconds
    # A large request does not fit into the pipe, and the child may end before it has read it.
    sender = threading.Thread(target=_send, args=(child, pickle.dumps(request)), daemon=True)
    sender.start()
    with DefaultSelector() as selector:
        selector.register(child.fileno(), EVENT_READ)
        while True:
            began = time.monotonic()
            if left <= 0 or not selector.select(left):
                raise QueryTimeout(f"It took more than {bounds.seconds:g} s to read.", hint=_MORE)
            left -= time.monotonic() - began
            data = os.read(child.fileno(), 1 << 18)
            if not data:
                raise _killed() if child.killed() else _ended(bounds)
            for kind, content in child.take(data):
                yield kind, content
                if kind == b"P":
                    sender.join()
                    return


def _here() -> str | None:
    """Return the folder that relative paths are relative to; a child may be older than it."""
    try:
        return str(Path.cwd())
    except OSError:
        return None  # it is gone


def _send(child: Child, data: bytes) -> None:
    try:
        child.write(data)
    except StoreError:
        return  # who waits for the answer sees that the child has ended


_MORE = "Nothing of it was stored. Allow more with MRAG_PARSE_SECONDS and MRAG_PARSE_MEMORY."


def _killed() -> StoreError:
    return StoreError(
        "The process that read it was ended from outside; nothing was stored.", hint="Send it again."
    )


def _ended(bounds: Bounds) -> LoadError:
    most = f"more than {bounds.memory >> 20} megabytes of memory" if bounds.memory else "too much memory"
    return LoadError(f"Reading it takes {most}, or it is nested too deep.", hint=_MORE)


def _error(reply: tuple[Any, ...], bounds: Bounds) -> MragError:
    """Return the error that a reply stands for, of the class that it had in the child."""
    if reply[0] == "failed":
        kind = cast("type[MragError]", getattr(errors, reply[1], StoreError))
        error = kind(reply[2]["message"])
        vars(error).update(reply[2])
        return error
    return _ended(bounds) if reply[0] == "large" else LoadError(f"It cannot be read: {reply[1]}.")
