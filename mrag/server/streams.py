"""Answers that arrive piece by piece from a child process, or wait in files for their readers."""

from __future__ import annotations

import asyncio
import os
import pickle
import tempfile
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mrag.errors import MragError, QueryRefused, QueryTimeout, StoreError
from mrag.rdf import queries
from mrag.server.protect import within
from mrag.stores.process.channel import Child, Frame, end_error, timeout
from mrag.stores.process.parsing import Bounds, perform

T = TypeVar("T")
_DIRECT = 1 << 15  # requests up to this many bytes fit into a pipe, so that writing them does not wait
_SHORT = 1 << 14  # characters of a text that is read in a moment, whatever it says
_PARSERS = {"query": "read_query", "update": "read_update"}


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
            raise timeout(query) from error
        finally:
            loop.remove_reader(descriptor)
        data = os.read(descriptor, 1 << 18)
        if not data:
            raise end_error(query)
        for frame in child.take(data):
            yield frame
            if frame[0] == b"P":
                return


class QueryParsers:
    """Child processes that parse queries and updates; each is killed when a text takes too long."""

    def __init__(self, size: int, bounds: Bounds) -> None:
        self._bounds = bounds
        self._threads = ThreadPoolExecutor(size + 1, "mrag-parsing")
        self._free = asyncio.Semaphore(size)
        # Long texts take turns of their own, so that short ones need not wait for them.
        self._long = asyncio.Semaphore(1)

    async def start(self) -> None:
        """Start one, so that the first request need not wait."""
        await self.parse("query", queries.get("explore/any").text, (), {}, {}, True)

    async def parse(self, what: str, text: str, *more: object) -> Any:
        """Parse a query or an update, which may be refused."""
        turn = self._long if len(text) > _SHORT else self._free
        late = "Other queries were being read until the deadline."
        await within(self._bounds.seconds, turn.acquire(), late)
        work = f"mrag.server.parsing:{_PARSERS[what]}"

        def parse() -> Any:
            try:
                return perform(work, text, *more, bounds=self._bounds)
            except (QueryRefused, QueryTimeout):
                raise
            except StoreError:
                # Something else may have ended the process; a short text can do it little harm.
                if turn is self._long:
                    raise
                return perform(work, text, *more, bounds=self._bounds)

        def ended(done: asyncio.Future[Any]) -> None:
            turn.release()
            done.exception()  # nobody waits for it where the client has left

        parsing = asyncio.get_running_loop().run_in_executor(self._threads, parse)
        parsing.add_done_callback(ended)
        return await asyncio.shield(parsing)

    def close(self) -> None:
        """Take no more texts."""
        self._threads.shutdown(wait=False, cancel_futures=True)


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


_HELD = 1 << 18  # bytes of an answer up to which it waits in memory, not in a file
_PIECE = 1 << 18  # bytes that are read at once


@dataclass
class Room:
    """Where answers wait."""

    threads: Executor  # what writes and reads files
    free: int  # bytes that may still be written
    folder: Path | None = None  # where files are made; the system's folder for temporary files if None


class Spool:
    """An answer that is taken as fast as it comes, and given as fast as it is read.

    Where there is no room it is taken no faster than it is read.
    """

    def __init__(self, first: bytes, pieces: AsyncGenerator[bytes, None], room: Room, seconds: float) -> None:
        self._until = asyncio.get_running_loop().time() + seconds
        self._pieces, self._room = pieces, room
        self._file = tempfile.SpooledTemporaryFile(_HELD, dir=str(room.folder) if room.folder else None)  # noqa: SIM115
        self._lock = threading.Lock()
        self._read = self._written = 0  # how far the file has been read, and written
        self._taken = 0  # bytes of the room that are this answer's
        self._large = False
        self._news = asyncio.Condition()
        self._done = False
        self._problem: Exception | None = None
        self._taking = asyncio.ensure_future(self._take(first))

    def __aiter__(self) -> Spool:
        return self

    async def __anext__(self) -> bytes:
        if asyncio.get_running_loop().time() > self._until:
            raise StoreError("The answer was not read in time.")
        async with self._news:
            await self._news.wait_for(lambda: self._read < self._written or self._done)
        if self._read < self._written:
            piece = await self._in_file(self._read, min(self._written - self._read, _PIECE))
            async with self._news:
                self._read += len(piece)
                self._news.notify_all()
            return piece
        if self._problem is not None:
            raise self._problem
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the answer, whether or not it has been read; its room is free even if this is cancelled."""
        self._taking.cancel()
        try:
            await asyncio.gather(self._taking, return_exceptions=True)
            await self._pieces.aclose()
        finally:
            self._give_room()
            with self._lock:
                self._file.close()

    def _give_room(self) -> None:
        self._room.free += self._taken
        self._taken = 0

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
                await self._news.wait_for(lambda: self._read == self._written)
            if self._read == self._written:
                # All that was written has been read: begin again, so that the file does not grow.
                self._give_room()
                self._read = self._written = 0
            self._room.free -= len(piece)
            self._taken += len(piece)
            self._large = self._large or self._written + len(piece) > _HELD
        await self._in_file(self._written, piece)
        async with self._news:
            self._written += len(piece)
            self._news.notify_all()

    async def _in_file(self, start: int, what: bytes | int) -> bytes:
        """Write a piece at a place of the file, or read so many bytes there."""

        def work() -> bytes:
            with self._lock:
                self._file.seek(start)
                if isinstance(what, int):
                    return self._file.read(what)
                self._file.write(what)
                return b""

        if not self._large:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._room.threads, work)
