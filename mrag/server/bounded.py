"""How much the server takes on at once: requests that wait for an answer, and bytes of their bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrag.server.settings import ServerSettings

_BODIES = 4
"""All bodies together may take this many times what one may."""

RETRY_SECONDS = "5"
"""When to come back, where nothing nearer to the cause said so."""


class Slots:
    """Places for work of one kind; more work waits, and is turned away when it has waited for too long.

    Args:
        size: How many there are.
        queue: How many may wait for one.
        name: What waits, in an error.

    Attributes:
        running: Places that are taken.
        waiting: How many wait for one.
        told: Called with both when they have changed.
    """

    def __init__(self, size: int, queue: int, name: str) -> None:
        self._free = asyncio.Semaphore(size)
        self._queue = queue
        self._name = name
        self.running = self.waiting = 0
        self.told: Callable[[int, int], None] = lambda running, waiting: None

    @asynccontextmanager
    async def taken(self, seconds: float) -> AsyncIterator[None]:
        """Take a place while the block runs.

        Args:
            seconds: How long to wait for it.

        Raises:
            HTTPException: 503 if too many wait already, or none came free in time.
        """
        if self.waiting >= self._queue:
            raise HTTPException(503, f"Too many {self._name} wait already.", {"Retry-After": "1"})
        self._count(waiting=1)
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise HTTPException(
                503, f"Other {self._name} were being answered until the deadline.", {"Retry-After": "1"}
            ) from error
        finally:
            self._count(waiting=-1)
        self._count(running=1)
        try:
            yield
        finally:
            self._count(running=-1)
            self._free.release()

    def _count(self, running: int = 0, waiting: int = 0) -> None:
        self.running += running
        self.waiting += waiting
        self.told(self.running, self.waiting)


class Bounded:
    """Turns requests away while there are too many, and says with every 503 when to come back.

    A request counts from the end of its body to the beginning of its answer: who sends or reads slowly
    takes nobody's place.

    Args:
        app: The application behind it.
        settings: The server's settings.
    """

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._most = settings.queue + 4 * settings.workers
        self._room = _BODIES * settings.max_body
        self._answering = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        size, counted, begun = 0, False, False

        async def taking() -> Message:
            nonlocal size, counted
            message = await receive()
            if message["type"] == "http.request" and not counted and not begun:
                part = len(message.get("body", b""))
                if part > self._room:
                    raise HTTPException(503, "Others are sending too much at the moment.")
                size += part
                self._room -= part
                if not message.get("more_body", False):
                    if self._answering >= self._most:
                        raise HTTPException(503, "Too many requests are being answered.")
                    counted = True
                    self._answering += 1
            return message

        async def giving(message: Message) -> None:
            nonlocal counted, begun
            if message["type"] == "http.response.start":
                self._answering -= counted
                counted, begun = False, True
                if message["status"] == 503:
                    MutableHeaders(scope=message).setdefault("Retry-After", RETRY_SECONDS)
            await send(message)

        try:
            await self._app(scope, taking, giving)
        finally:
            self._room += size
            self._answering -= counted
