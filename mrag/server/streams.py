"""Answers that arrive piece by piece from a child process, without a thread waiting for them."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Executor
from typing import cast

from starlette.exceptions import HTTPException

from mrag.errors import QueryTimeout, StoreError
from mrag.stores.process.channel import Child, Frame, Reply, ended, timed_out
from mrag.stores.process.sandbox import Defences

_DIRECT = 1 << 15
"""Requests up to this many bytes fit into a pipe, so that writing them does not wait."""

_SHORT = 1 << 14
"""Characters of a text that is read in a moment, whatever it says."""


async def send(child: Child, request: object) -> None:
    """Send a request to a child process without holding up the event loop."""
    if len(pickle.dumps(request)) < _DIRECT:
        child.send(request)
    else:
        await asyncio.to_thread(child.send, request)


async def frames(child: Child, deadline: float, query: str) -> AsyncIterator[Frame]:
    """Yield the frames of one answer.

    Args:
        child: A process that a request has been sent to.
        deadline: Time of the event loop's clock until which the next frame must come.
        query: For the error.

    Raises:
        QueryTimeout: At the deadline.
        StoreError: If the process ended before it answered.
    """
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


async def chained(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield a piece and those that follow it, and close what yields them."""
    try:
        yield first
        async for piece in rest:
            yield piece
    finally:
        await rest.aclose()


class QueryParsers:
    """Child processes that parse queries and updates; each is killed when a text takes too long.

    Args:
        size: How many texts are parsed at once.
        seconds: Longest time for one text.
    """

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
        self._idle.append(await asyncio.to_thread(Child, "mrag.server.query_parser"))

    async def parse(self, request: dict[str, object]) -> Reply:
        """Parse a query or an update.

        Raises:
            QueryTimeout: If it takes too long.
            StoreError: If it made the process end.
            HTTPException: 503 if others were read until the deadline.
        """
        text = str(request["text"])
        turn = self._long if len(text) > _SHORT else self._free
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                await turn.acquire()
        except TimeoutError as error:
            raise HTTPException(
                503, "Other queries were being read until the deadline.", {"Retry-After": "1"}
            ) from error
        try:
            return await self._parsed(request, text, deadline)
        except QueryTimeout:
            raise
        except StoreError:
            # Something else may have ended the process; a short text can do it little harm.
            if turn is self._long:
                raise
            return await self._parsed(request, text, deadline)
        finally:
            turn.release()

    async def _parsed(self, request: dict[str, object], text: str, deadline: float) -> Reply:
        while self._idle and self._idle[-1].ended:
            self._idle.pop().kill()
        child = self._idle.pop() if self._idle else await self._started()
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

    async def _started(self) -> Child:
        starting = asyncio.get_running_loop().run_in_executor(None, Child, "mrag.server.query_parser")
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The client has left; the next one can have it.
            starting.add_done_callback(
                lambda done: None if done.exception() else self._idle.append(done.result())
            )
            raise

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
