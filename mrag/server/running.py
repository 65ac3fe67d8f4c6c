"""Running the server until it is told to stop, on connections whose clients must send and read in time."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.app import create_app, create_apps
from mrag.server.engine import Engine
from mrag.server.protect import RETRY_SECONDS
from mrag.server.settings import Patience, ServerSettings
from mrag.stores.oxigraph import OxigraphStore
from mrag.tracing import export_spans

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


logger = logging.getLogger(__name__)

_CLOSING = 1.5
"""Seconds for closing the store after the requests have ended, or have not."""
_M_ARENA_MAX = -8


def _warmed(app: Starlette) -> None:
    """Have questions read at once: the first one need not wait for the names of the graph."""
    engine: Engine | None = getattr(app.state, "engine", None)  # of several graphs each starts its own later
    if engine is not None:
        threading.Thread(target=engine.questions.warm, name="mrag-questions", daemon=True).start()


class _Server(uvicorn.Server):
    """A server that leaves signals to its caller, and says when it listens and when it is told to stop."""

    def __init__(
        self,
        config: uvicorn.Config,
        listening: Callable[[], None],
        stopping: Callable[[], None],
        drain: float,
    ) -> None:
        super().__init__(config)
        self._listening, self._stopping, self._drain = listening, stopping, drain
        self._told = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._told:  # again: at once
            super().handle_exit(sig, frame)
            return
        self._told = True
        self._stopping()
        if not self._drain:
            super().handle_exit(sig, frame)
            return
        later = threading.Timer(self._drain, super().handle_exit, (sig, None))
        later.daemon = True
        later.start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def serve(
    kg: KnowledgeGraph,
    settings: ServerSettings,
    *,
    bound: socket.socket | None = None,
    listening: Callable[[str], None] | None = None,
    exits: bool = False,
    beside: Mapping[str, KnowledgeGraph] | None = None,
    title: str | None = None,
) -> None:
    """Serve a knowledge graph, and others beside it, until SIGINT or SIGTERM.

    Requests are then still taken for `settings.drain` seconds, running ones get `settings.grace` seconds
    more, and no process is left behind.

    Args:
        kg: The knowledge graph; the caller closes it.
        settings: The server's settings.
        bound: The socket to listen on; one for the settings' address by default.
        listening: Called with the server's address once it answers.
        exits: Whether this process ends soon after that in any case, also in the middle of an update, of
            reasoning or of building an index, which no one can interrupt. The store is as before or after
            the update then, as it is when the process is killed.
        beside: Other graphs by name, each served below `/kg/NAME/`; the caller closes them.
        title: What the page calls the first graph, where there are others; its name by default.

    Raises:
        ConfigError: If the address cannot be listened on.
    """
    _share_arenas()
    bound = bound or listen(settings)
    url = address_of(bound)
    export_spans()
    graphs = {title or kg.name: kg}
    if beside and graphs.keys() & beside.keys():
        raise ConfigError("Two graphs have the same name.", hint="Give each --graph another NAME.")
    graphs.update(beside or {})
    served = create_apps(graphs, settings) if beside else create_app(kg, settings)
    app = Draining(served)
    config = config_of(app, settings)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    if settings.log_requests:
        _log_requests()

    def stopping() -> None:
        app.stopping = True
        if exits:
            _exit_after(settings.drain + settings.grace + _CLOSING, tuple(graphs.values()))

    def listens() -> None:
        _warmed(served)
        if listening:
            listening(url)

    server = _Server(config, listens, stopping, settings.drain)
    # uvicorn raises the signal again when it has stopped; the caller still has a store to close then.
    before = {number: signal.signal(number, _stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        server.run(sockets=[bound])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        bound.close()


def config_of(app: ASGIApp, settings: ServerSettings) -> uvicorn.Config:
    """Return what uvicorn is told.

    Args:
        app: The application.
        settings: The server's settings.
    """
    return uvicorn.Config(
        app,
        # uvicorn makes a connection by calling this, whether it is a class or not.
        http=cast("type[asyncio.Protocol]", patient(settings.patience)),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(settings.grace)),
        backlog=1024,
        h11_max_incomplete_event_size=1 << 16,
    )


def address_of(bound: socket.socket) -> str:
    """Return the address of a server that listens on a socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listen(settings: ServerSettings) -> socket.socket:
    """Open the server's port.

    Raises:
        ConfigError: If it cannot be opened.
    """
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0]
        # With the protocol named, small answers are sent at once (TCP_NODELAY).
        bound = socket.socket(*family[:3])
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(family[4])
    except OSError as error:
        raise ConfigError(
            f"Nothing can listen on {settings.host}, port {settings.port}: {error.strerror or error}.",
            hint="Another server may have the port. Choose one with --port.",
        ) from error
    return bound


def _log_requests() -> None:
    """Have each request logged as it is, one line for each."""
    requests = logging.getLogger("mrag.requests")
    requests.setLevel(logging.INFO)
    requests.propagate = False
    if not requests.handlers:
        requests.addHandler(logging.StreamHandler())


def _exit_after(seconds: float, graphs: Sequence[KnowledgeGraph]) -> None:
    """End this process after some seconds, whatever its threads do."""

    def wait() -> None:
        time.sleep(seconds)
        logger.warning("the server was stopped in the middle of its work")
        stores = [kg.store for kg in graphs if isinstance(kg.store, OxigraphStore)]
        # Removes the copies that queries read; not for long, as a lock may be held.
        closing = [threading.Thread(target=store.workers.close, daemon=True) for store in stores]
        for one in closing:
            one.start()
        for one in closing:
            one.join(_CLOSING / 3 / len(closing))
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _share_arenas() -> None:
    """Let threads share what they free, where the C library is glibc.

    It gives each thread an arena of its own by default, and what one has freed is of no use to another:
    memory grows with the number of threads, not with what is needed.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 2)


def _stopped(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the server has seen the signal."""
