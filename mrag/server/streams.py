"""Answers that arrive piece by piece from a child process, without a thread waiting for them."""

from __future__ import annotations

import asyncio
import os
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import cast

from mrag.stores.process import Child, Frame, Reply, ended, timed_out

_DIRECT = 1 << 15
"""Requests up to this many bytes fit into a pipe, so that writing them does not wait."""


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
            return cast(Reply, pickle.loads(content))
    raise ended(query)


class Judges:
    """Child processes that read queries and updates; each is ended when a text takes it too long.

    Args:
        size: How many texts are read at once.
        seconds: Longest time for one text.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._seconds = seconds
        self._free = asyncio.Semaphore(size)
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._ends: set[asyncio.Future[None]] = set()

    async def start(self) -> None:
        """Start one, so that the first request need not wait."""
        self._idle.append(await asyncio.to_thread(Child, "mrag.server.judge"))

    async def judge(self, request: dict[str, object]) -> Reply:
        """Read a query or an update.

        Raises:
            QueryTimeout: If it takes too long.
            StoreError: If it made the process end.
        """
        text = str(request["text"])
        async with self._free:
            child = self._idle.pop() if self._idle else await asyncio.to_thread(Child, "mrag.server.judge")
            self._busy.add(child)
            try:
                deadline = asyncio.get_running_loop().time() + self._seconds
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

    def close(self) -> None:
        """End all of them."""
        for child in (*self._idle, *self._busy):
            child.kill()
        self._idle.clear()
        self._busy.clear()


def finish(work: Callable[[], None], kept: set[asyncio.Future[None]]) -> None:
    """Do something that may take a moment in a thread, whether or not this task goes on."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    kept.add(future)
    future.add_done_callback(kept.discard)


Cleanup = Callable[[], Awaitable[None]]
