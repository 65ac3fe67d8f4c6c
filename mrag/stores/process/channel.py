"""Child processes that answer one request at a time in frames, and can be killed at any time."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Generic, TypeVar, cast

from mrag.errors import QueryTimeout, StoreError
from mrag.redaction import names_secret
from mrag.stores.process.query_child import HEAD, LIFELINE
from mrag.stores.process.sandbox import Defences

_START_SECONDS = 30.0
SLOWER = "Narrow it (fewer free variables, a LIMIT), or allow more seconds."

Frame = tuple[bytes, bytes]
"""A letter, `P` for a pickled value or `D` for a piece of a document, and the content."""
Reply = tuple[Any, ...]


class Child:
    """A child process that answers one request at a time, and can be killed at any time."""

    spent = False  # Whether it is not to be used again, because it has not answered or has grown

    def __init__(self, module: str, *arguments: str, secrets: bool = False) -> None:
        self._lock = threading.Lock()
        # When this process is gone, whatever ended it, so is the other end of the child's pipe.
        lifeline, self._lifeline = os.pipe()
        # What reads what others wrote has no secrets.
        kept = {name: value for name, value in os.environ.items() if secrets or not names_secret(name)}
        path = os.pathsep.join(p for p in sys.path if p)
        try:
            # This interpreter runs a module of ours; no shell, and no word of a user among the arguments.
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-m", module, *arguments],  # no folder here stands for ours
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**kept, "PYTHONPATH": path, LIFELINE: str(lifeline)},
                pass_fds=(lifeline,),
                # Ctrl-C reaches all processes of a terminal's group; a child ends with its parent.
                process_group=0,
            )
        except BaseException:
            os.close(self._lifeline)
            raise
        finally:
            os.close(lifeline)
        self._buffer = bytearray()
        _, *reported = self._next(time.monotonic() + _START_SECONDS, "")
        self.defences: Defences = reported[0] if reported else Defences()

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Return whether the process is gone."""
        return self._process.poll() is not None

    def was_killed(self) -> bool:
        """Return whether something outside has ended the process, which has closed its side of the pipe.

        For want of memory, or nested too deep, it ends otherwise.
        """
        try:
            return self._process.wait(1.0) == -signal.SIGKILL
        except subprocess.TimeoutExpired:
            return False

    def fileno(self) -> int:
        """Return the descriptor that answers come from."""
        return cast(Any, self._process.stdout).fileno()  # type: ignore[no-any-return]

    def send(self, request: object) -> None:
        """Send a request."""
        self.write(pickle.dumps(request))

    def write(self, data: bytes) -> None:
        """Send a request that is pickled already."""
        stdin = cast(Any, self._process.stdin)
        try:
            stdin.write(HEAD.pack(b"P", len(data)))
            stdin.write(data)  # by itself, as a large one would be copied
            stdin.flush()
        except (OSError, ValueError) as error:
            raise StoreError("A worker process has ended unexpectedly.") from error

    def take(self, data: bytes) -> list[Frame]:
        """Return the frames that are complete once `data` has been read."""
        self._buffer += data
        frames: list[Frame] = []
        at = 0
        while len(self._buffer) - at >= HEAD.size:
            kind, size = HEAD.unpack_from(self._buffer, at)
            if len(self._buffer) - at - HEAD.size < size:
                break
            at += HEAD.size + size
            frames.append((kind, bytes(self._buffer[at - size : at])))
        del self._buffer[:at]
        return frames

    def frames(self, deadline: float, query: str) -> Iterator[Frame]:
        """Yield the frames of one answer, waiting for each no longer than to the deadline."""
        with DefaultSelector() as selector:
            selector.register(self.fileno(), EVENT_READ)
            while True:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.kill()
                    raise timeout(query)
                data = os.read(self.fileno(), 1 << 18)
                if not data:
                    self.kill()
                    raise end_error(query)
                for kind, content in self.take(data):
                    yield kind, content
                    if kind == b"P":
                        return

    def ask(self, request: object, deadline: float, query: str = "") -> Reply:
        """Send a request and wait for the value that ends its answer."""
        self.send(request)
        return self._next(deadline, query)

    def kill(self) -> None:
        """End the process with all that it holds; it may be gone already."""
        with self._lock:
            if self._process.returncode is None:
                self._process.kill()
                self._process.wait()
            if self._lifeline >= 0:
                os.close(self._lifeline)
                self._lifeline = -1
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None and not stream.closed:
                    try:
                        stream.close()
                    except BrokenPipeError:
                        continue

    def _next(self, deadline: float, query: str) -> Reply:
        for kind, content in self.frames(deadline, query):
            if kind == b"P":
                return cast(Reply, pickle.loads(content))  # noqa: S301 # our own child wrote it
        raise end_error(query)


def timeout(query: str) -> QueryTimeout:
    """Return the error of a query that has passed its deadline."""
    return QueryTimeout("The query passed its deadline and was ended.", query=query, hint=SLOWER)


def late(query: str) -> QueryTimeout:
    """Return the error of a query for which the store was still being copied at its deadline."""
    hint = "Ask again: the copy is made now. A store in a folder is copied at once."
    return QueryTimeout("The deadline passed while the store was copied for queries.", query=query, hint=hint)


def end_error(query: str) -> StoreError:
    """Return the error of a query whose process has ended by itself."""
    what = "The query's worker ended before it answered, most likely for want of memory."
    return StoreError(what, query=query, hint="Narrow the query or add a LIMIT.")


Kind = TypeVar("Kind", bound=Child)


class Reserve(Generic[Kind]):
    """Children of one kind, busy or waiting, each to be used for work with its own memory limit.

    Starting one takes an interpreter and its imports, more than most pieces of work.
    """

    def __init__(self, size: int | None = None) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[int, Kind]] = []
        self._busy: set[Kind] = set()
        self._owner = os.getpid()
        self.size = size or max(2, os.cpu_count() or 2)
        atexit.register(self.close)

    @contextmanager
    def lend(self, memory: int, make: Callable[[], Kind]) -> Iterator[Kind]:
        """Lend a child, one that waits or a new one; it is used again unless the block leaves it `spent`."""
        child = self.take(memory) or make()
        with self._lock:
            self._busy.add(child)
        try:
            yield child
        except BaseException as error:
            child.spent = child.spent or not isinstance(error, Exception)
            raise
        finally:
            with self._lock:
                self._busy.discard(child)
            if child.spent:
                child.kill()
            else:
                self.give(memory, child)

    def take(self, memory: int) -> Kind | None:
        """Return a child that has this memory limit, in bytes; None where none waits."""
        with self._lock:
            self._fork()
            ended = [child for _, child in self._idle if child.ended]
            self._idle = [(limit, child) for limit, child in self._idle if child not in ended]
            place = next((at for at, (limit, _) in enumerate(self._idle) if limit == memory), None)
            idle = None if place is None else self._idle.pop(place)[1]
        for child in ended:
            child.kill()
        return idle

    def give(self, memory: int, child: Kind) -> None:
        """Have a child wait; if enough of them wait already, the one that waited longest ends."""
        with self._lock:
            self._fork()
            self._idle.append((memory, child))
            surplus = self._idle.pop(0)[1] if len(self._idle) > self.size else None
        if surplus is not None:
            surplus.kill()

    def waiting(self) -> list[Kind]:
        """Return the children that wait."""
        with self._lock:
            return [child for _, child in self._idle]

    def every(self) -> list[Kind]:
        """Return the children that wait or are lent."""
        with self._lock:
            return [*(child for _, child in self._idle), *self._busy]

    def close(self) -> None:
        """End all children, in the middle of their work if need be; new ones may be made afterwards."""
        with self._lock:
            self._fork()
            children = [*(child for _, child in self._idle), *self._busy]
            self._idle, self._busy = [], set()
        for child in children:
            child.kill()

    def _fork(self) -> None:
        """Let go of the parent's children after a fork."""
        if self._owner != os.getpid():
            self._idle, self._busy, self._owner = [], set(), os.getpid()
