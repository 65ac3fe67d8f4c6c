"""Connections whose clients must send and read in time, and of which there are only so many.

uvicorn bounds neither: a client that opens a connection and sends nothing, or a head a byte at a time,
or does not read its answer, would hold it for good, and a few hundred of them would be all there are.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, cast

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mrag.server.bounded import RETRY_SECONDS
from mrag.server.settings import Patience

_TURNED_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n"
    b"Content-Length: 31\r\nConnection: close\r\n\r\nToo many connections are open.\r\n"
)
_LEAST, _MOST = 1 << 10, 1 << 18
"""Bytes that are read at once, before others get their turn."""
_LONG = 0.005
"""Seconds that reading them may take. Chunks of a body may be one byte long, and each is an event."""


class Draining:
    """An application that can be about to stop: it still answers, but balancers and clients are told.

    `/ready` is answered 503 then, as is what does not come to its end, and each answer is the last of its
    connection.

    Args:
        app: The application.

    Attributes:
        stopping: Whether it is about to stop.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def giving(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                if self.stopping:
                    MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        told = JSONResponse({"status": "stopping"}, 503, {"Retry-After": RETRY_SECONDS})
        if self.stopping and scope["path"] == "/ready":
            await told(scope, receive, giving)
            return
        try:
            await self._app(scope, receive, giving)
        except asyncio.CancelledError:
            if begun or not self.stopping:
                raise
            # The server ends before the answer is there.
            await told(scope, receive, giving)


class Connection(H11Protocol):
    """One connection.

    Args:
        *arguments: What uvicorn gives.
        patience: What its client is given.
        **more: What uvicorn gives.
    """

    def __init__(self, *arguments: Any, patience: Patience, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._patience = patience
        self._asking: float | None = None
        self._moved = self.idle_since = self.loop.time()
        self._checks: asyncio.TimerHandle | None = None
        self._socket: Any = None

    @property
    def idle(self) -> bool:
        """Return whether no request is being answered."""
        return not self._asked or self.cycle.response_complete

    @property
    def _asked(self) -> bool:
        """Return whether there has been a request; uvicorn says so with a None that its types leave out."""
        return cast(Any, self.cycle) is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or turn the client away where nobody else can be."""
        made = cast(Any, transport)
        made.max_size = 1 << 15
        self._socket = made.get_extra_info("socket")
        # Finds out, in time, that a client has vanished without a word.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        super().connection_made(made)
        self._asking = self.idle_since = self._moved = self.loop.time()
        if len(self.connections) > self._patience.connections:
            others = (c for c in self.connections if isinstance(c, Connection) and c is not self and c.idle)
            # One that has not asked for anything yet goes first.
            oldest = min(others, key=lambda c: (c._asked, c.idle_since), default=None)
            if oldest is None:
                made.write(_TURNED_AWAY)
                made.close()
            else:
                oldest.transport.abort()
        self._check()

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        began = time.thread_time()
        super().data_received(data)
        transport, long = cast(Any, self.transport), time.thread_time() - began > _LONG
        transport.max_size = max(
            _LEAST, min(_MOST, transport.max_size // 2 if long else transport.max_size * 2)
        )
        if not self.idle:
            self._asking = None
        elif self._asking is None:
            self._asking = self.loop.time()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.idle_since = self.loop.time()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Note that the client has read."""
        self._moved = self.loop.time()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._checks is not None:
            self._checks.cancel()
        super().connection_lost(exc)

    def _check(self) -> None:
        now, patience = self.loop.time(), self._patience
        if not self.transport.get_write_buffer_size():
            self._moved = now
        if now - self._moved > patience.stall:
            # With a reset: the system would otherwise keep what it has taken for this client.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        elif self._asking is not None and now - self._asking > patience.head:
            self.transport.close()
        self._checks = self.loop.call_later(min(1.0, patience.head / 4, patience.stall / 4), self._check)


def patient(patience: Patience) -> Callable[..., Connection]:
    """Return what makes a connection, as `uvicorn.Config` takes it for `http`.

    Args:
        patience: What clients are given.

    Example:
        >>> callable(patient(Patience(connections=2)))
        True
    """

    def made(*arguments: Any, **more: Any) -> Connection:
        return Connection(*arguments, patience=patience, **more)

    return made
