"""Answers that arrive piece by piece from a child process, or wait in files for their readers."""

from __future__ import annotations

import asyncio
import os
import pickle
import tempfile
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar, cast

from mrag.errors import MragError, QueryRefused, QueryTimeout, StoreError
from mrag.server.protect import within
from mrag.stores.process.channel import Child, Frame, Reply, ended, timed_out
from mrag.stores.process.sandbox import Defences

T = TypeVar("T")
_DIRECT = 1 << 15  # requests up to this many bytes fit into a pipe, so that writing them does not wait
_SHORT = 1 << 14  # characters of a text that is read in a moment, whatever it says


async def send(child: Child, request: object) -> None:
    """Send a request to a child process without holding up the event loop."""
    if len(pickle.dumps(request)) < _DIRECT:
        child.send(request)
    else:
        await asyncio.to_thread(child.send, request)


async def frames(child: Child, deadline: float, query: str) -> AsyncIterator[Frame]:
    """Yield the frames of one answer."""
    loop = asyncio.get_running_loop()
    descriptor = child.fileno()
    while True:
        readable = asyncio.Event()
        loop.add_reader(descriptor, readable.set)
        try:
            async with asyncio.timeout_at(deadline):
                await readable.wait()
        except TimeoutError as error:
            raise timed_out(query) from error
        finally:
            loop.remove_reader(descriptor)
        data = os.read(descriptor, 1 << 18)
        if not data:
            raise ended(query)
        for frame in child.take(data):
            yield frame
            if frame[0] == b"P":
                return


async def ask(child: Child, request: object, deadline: float, query: str = "") -> Reply:
    """Send a request and wait for the value that ends its answer."""
    await send(child, request)
    async for kind, content in frames(child, deadline, query):
        if kind == b"P":
            if len(content) > _DIRECT:
                # A long text has many terms, and making them again takes a while.
                return cast(Reply, await asyncio.to_thread(pickle.loads, content))  # our own child wrote it
            return cast(Reply, pickle.loads(content))  # noqa: S301 # our own child wrote it
    raise ended(query)


class QueryParsers:
    """Child processes that parse queries and updates; each is killed when a text takes too long."""

    def __init__(self, size: int, seconds: float) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(size)
        # Long texts take turns of their own, so that short ones need not wait for them.
        self._long = asyncio.Semaphore(1)
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._ends: set[asyncio.Future[None]] = set()

    async def start(self) -> None:
        """Start one, so that the first request need not wait."""
        self._idle.append(await asyncio.to_thread(Child, "mrag.server.parsing"))

    async def parse(self, request: dict[str, object]) -> Reply:
        """Parse a query or an update, which may be refused."""
        text = str(request["text"])
        turn = self._long if len(text) > _SHORT else self._free
        deadline = asyncio.get_running_loop().time() + self._seconds
        late = "Other queries were being read until the deadline."
        await within(self._seconds, turn.acquire(), late)
        try:
            reply = await self._parse(request, text, deadline)
        except QueryTimeout:
            raise
        except StoreError:
            # Something else may have ended the process; a short text can do it little harm.
            if turn is self._long:
                raise
            reply = await self._parse(request, text, deadline)
        finally:
            turn.release()
        if reply[0] == "refused":
            raise QueryRefused(str(reply[1]), hint=reply[2])
        return reply

    async def _parse(self, request: dict[str, object], text: str, deadline: float) -> Reply:
        while self._idle and self._idle[-1].ended:
            self._idle.pop().kill()
        if self._idle:
            child = self._idle.pop()
        else:
            starting = asyncio.get_running_loop().run_in_executor(None, Child, "mrag.server.parsing")
            child = await kept_for_others(starting, self._idle.append)
        self._busy.add(child)
        try:
            reply = await ask(child, request, deadline, text)
        except BaseException:
            self._busy.discard(child)
            finish(child.kill, self._ends)
            raise
        self._busy.discard(child)
        self._idle.append(child)
        return reply

    def processes(self) -> list[int]:
        """Return the numbers of the processes."""
        return [child.pid for child in (*self._idle, *self._busy)]

    def defences(self) -> list[Defences]:
        """Return what each process has given up."""
        return [child.defences for child in (*self._idle, *self._busy)]

    def close(self) -> None:
        """End all of them."""
        for child in (*self._idle, *self._busy):
            child.kill()
        self._idle.clear()
        self._busy.clear()


async def kept_for_others(making: asyncio.Future[T], give: Callable[[T], object]) -> T:
    """Return what is being made; if the client leaves meanwhile, the next one can have it."""
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(lambda done: None if done.exception() else give(done.result()))
        raise


def finish(
    work: Callable[[], None], kept: set[asyncio.Future[None]], threads: Executor | None = None
) -> None:
    """Do something that may take a moment in a thread, whether or not this task goes on."""
    try:
        future = asyncio.get_running_loop().run_in_executor(threads, work)
    except RuntimeError:
        # The server stops, and has no threads any more.
        work()
        return
    kept.add(future)
    future.add_done_callback(kept.discard)


_HELD = 1 << 18  # bytes of an answer that are held in memory; the rest goes to a file


@dataclass
class Room:
    """Where answers wait."""

    threads: Executor  # what writes and reads files
    free: int  # bytes that may still be written
    folder: Path | None = None  # where files are made; the system's folder for temporary files if None


class _File:
    """A file without a name, which is gone when it is closed. Its methods may be called from any thread."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._closed = False

    def write(self, start: int, data: bytes) -> None:
        with self._lock:
            if self._closed:
                return
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by close()
            self._file.seek(start)
            self._file.write(data)

    def read(self, start: int, size: int) -> bytes:
        with self._lock:
            if self._file is None or self._closed:
                return b""
            self._file.seek(start)
            return self._file.read(size)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()


class Spool:
    """An answer that is taken as fast as it comes, and given as fast as it is read.

    Where there is no room it is taken no faster than it is read.
    """

    def __init__(self, first: bytes, pieces: AsyncGenerator[bytes, None], room: Room, seconds: float) -> None:
        self._until = asyncio.get_running_loop().time() + seconds
        self._pieces = pieces
        self._room = room
        # What comes first is held, what comes next is in the file, in this order.
        self._held: deque[bytes] = deque()
        self._size = 0
        self._file = _File(room.folder)
        self._written: deque[tuple[int, int]] = deque()
        self._end = 0
        self._news = asyncio.Condition()
        self._done = False
        self._problem: Exception | None = None
        self._taking = asyncio.ensure_future(self._take(first))

    def __aiter__(self) -> Spool:
        return self

    async def __anext__(self) -> bytes:
        if asyncio.get_running_loop().time() > self._until:
            raise StoreError("The answer was not read in time.")
        piece = await self._next()
        if piece is not None:
            return piece
        if self._problem is not None:
            raise self._problem
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the answer, whether or not it has been read."""
        self._taking.cancel()
        await asyncio.gather(self._taking, return_exceptions=True)
        await self._pieces.aclose()
        if self._end:
            self._room.free += self._end
            self._end = 0
        self._file.close()

    async def _take(self, first: bytes) -> None:
        try:
            await self._put(first)
            async for piece in self._pieces:
                await self._put(piece)
        except MragError as problem:
            self._problem = problem
        except OSError as problem:
            self._problem = StoreError(f"The answer could not be kept for its reader: {problem}.")
        async with self._news:
            self._done = True
            self._news.notify_all()

    async def _put(self, piece: bytes) -> None:
        async with self._news:
            if len(piece) > self._room.free:
                await self._news.wait_for(self._can_hold)
            if self._can_hold():
                self._held.append(piece)
                self._size += len(piece)
                self._news.notify_all()
                return
            start, self._end = self._end, self._end + len(piece)
            self._room.free -= len(piece)
        await asyncio.get_running_loop().run_in_executor(self._room.threads, self._file.write, start, piece)
        async with self._news:
            self._written.append((start, len(piece)))
            self._news.notify_all()

    def _can_hold(self) -> bool:
        return not self._written and self._size < _HELD

    async def _next(self) -> bytes | None:
        async with self._news:
            await self._news.wait_for(lambda: bool(self._held or self._written or self._done))
            if self._held:
                piece = self._held.popleft()
                self._size -= len(piece)
                self._news.notify_all()
                return piece
            if not self._written:
                return None
            start, size = self._written[0]
        loop = asyncio.get_running_loop()
        piece = await loop.run_in_executor(self._room.threads, self._file.read, start, size)
        async with self._news:
            self._written.popleft()
            if start + size == self._end:
                # All that was written has been read: begin again, so that the file does not grow.
                self._room.free += self._end
                self._end = 0
            self._news.notify_all()
        return piece
