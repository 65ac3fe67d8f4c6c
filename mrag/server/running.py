"""The application of a server, and running it until it is told to stop.

Clients of its connections must send and read in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mrag.errors import ConfigError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.server import rdf4j, sparql
from mrag.server.engine import Engine
from mrag.server.metrics import Observed, ServerMetrics, ready, show
from mrag.server.protect import RETRY_SECONDS, AccessGuard, Bounded, OneLength, crash, http_error, mrag_error
from mrag.server.settings import Patience, ServerSettings
from mrag.server.web import routes as page
from mrag.stores.oxigraph import OxigraphStore
from mrag.tracing import export_spans

logger = logging.getLogger(__name__)

HEADER = "X-Mrag-Inference"
"""`current`, `pending` while inferences are brought up to date, or `none` without reasoning."""


class InferenceState:
    """Adds a header to replies."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        engine: Engine = scope["app"].state.engine
        await engine.catch_up()
        before = (engine.record, engine.kg.record)

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                # A long answer may have been read between a change and what follows from it.
                records = (*before, engine.record, engine.kg.record)
                changed = len({record.revision for record in records}) > 1
                pending = changed or any(record.outdated for record in records)
                state = "none" if records[-1].reasoned < 0 else "pending" if pending else "current"
                message["headers"] = [*message["headers"], (HEADER.lower().encode(), state.encode())]
            await send(message)

        await self.app(scope, receive, sent)


Handler = Callable[[Request, Engine], Awaitable[Response]]

_WRITING = ("POST", "PUT", "DELETE")
_NONE: Mapping[str, str] = {}
_RAISED = ["X-Request-ID", "MRAG-Added", "MRAG-Removed", "MRAG-Inferred", HEADER, "Location", "Authorization"]


def create_app(kg: KnowledgeGraph, settings: ServerSettings) -> Starlette:
    """Return the application that serves a knowledge graph."""
    metrics = ServerMetrics()
    layers = [Middleware(Observed, metrics=metrics), Middleware(OneLength)]
    if settings.cors_origins:
        layers.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(settings.cors_origins),
                allow_methods=["GET", "HEAD", *_WRITING],
                # Drivers add headers of their own; there are no cookies that these could lead astray.
                allow_headers=["*"],
                expose_headers=_RAISED,
            )
        )
    layers += [Middleware(Bounded, settings=settings), Middleware(AccessGuard, settings=settings)]
    app = Starlette(
        routes=[*_routes(), *page.routes(kg, settings), *page.page_routes()],
        middleware=[*layers, Middleware(InferenceState)],
        exception_handlers={MragError: mrag_error, HTTPException: http_error, Exception: crash},
        lifespan=_lifespan,
    )
    app.state.engine, app.state.metrics = Engine(kg, settings), metrics
    metrics.watch(app.state.engine)
    app.state.transactions = rdf4j.Transactions()
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    engine: Engine = app.state.engine
    await engine.start()
    try:
        yield
    finally:
        await engine.stop()


def _routes() -> Sequence[BaseRoute]:
    one, many = "/repositories/{id}", "/rest/repositories/{id}"
    made = "Repositories are made, changed and removed with the mrag command, not over the network."
    access = "Access is set where the server is started, not over the network."
    return [
        _route("/sparql", sparql.query_or_update, "GET POST"),
        _route("/update", sparql.update, "GET POST"),
        _route("/graphs", sparql.graph_store, "GET POST PUT DELETE", writes=True),
        _route("/graphs/{name:path}", sparql.named_graph, "GET POST PUT DELETE", writes=True),
        _route("/health", _health, "GET"),
        _route("/ready", ready, "GET"),
        _route("/metrics", show, "GET"),
        _route("/protocol", rdf4j.protocol, "GET"),
        _route("/repositories", rdf4j.list_repositories, "GET"),
        _route(one, rdf4j.query, "GET POST", refused={"PUT": made, "DELETE": made}),
        _route(f"{one}/statements", rdf4j.on_statements, "GET POST PUT DELETE", writes=True),
        _route(f"{one}/size", rdf4j.repository_size, "GET"),
        _route(f"{one}/contexts", rdf4j.on_contexts, "GET"),
        _route(f"{one}/namespaces", rdf4j.namespaces, "GET DELETE", writes=True),
        _route(f"{one}/namespaces/{{prefix}}", rdf4j.namespace, "GET PUT DELETE", writes=True),
        _route(f"{one}/rdf-graphs", rdf4j.on_contexts, "GET"),
        _route(f"{one}/rdf-graphs/service", sparql.graph_store, "GET POST PUT DELETE", writes=True),
        _route(f"{one}/health", rdf4j.health, "GET"),
        _route(f"{one}/transactions", rdf4j.begin, "POST", writes=True),
        _route(f"{one}/transactions/{{transaction}}", rdf4j.on_transaction, "POST PUT DELETE"),
        _route("/rest/repositories", rdf4j.repositories, "GET", refused=dict.fromkeys(_WRITING, made)),
        _route(many, rdf4j.one_repository, "GET", refused=dict.fromkeys(_WRITING, made)),
        _route(f"{many}/size", rdf4j.size, "GET"),
        _route(f"{many}/download-ttl", rdf4j.download, "GET"),
        _route("/rest/similarity", rdf4j.similarity, "GET POST PUT DELETE", writes=True),
        _route("/rest/info/version", rdf4j.version, "GET"),
        _route("/rest/security", rdf4j.security, "GET", refused={"POST": access}),
        _route("/rest/security/authenticated-user", rdf4j.user, "GET"),
        _route("/rest/security/free-access", rdf4j.free_access, "GET"),
        _route("/rest/login", rdf4j.login, "POST"),
        _route("/rest/login/{username}", rdf4j.login, "POST"),
    ]


def _route(
    path: str, handler: Handler, allowed: str, *, writes: bool = False, refused: Mapping[str, str] = _NONE
) -> Route:
    """Return a route: its methods, whether all but GET change the graph, and why others are refused."""
    methods = [*allowed.split(), *refused]

    async def answered(request: Request) -> Response:
        engine: Engine = request.app.state.engine
        own, method = engine.kg.name, request.method
        if method == "OPTIONS":
            offered = sorted({*methods, *(["HEAD"] if "GET" in methods else []), method})
            return Response(status_code=204, headers={"Allow": ", ".join(offered)})
        if (name := request.path_params.get("id", own)) != own:
            raise HTTPException(404, f"There is no repository {name[:100]!r}. It is called {own!r}.")
        if method in refused:
            raise HTTPException(403, refused[method])
        if writes and method in _WRITING:
            engine.writer.writable()
        return await handler(request, engine)

    return Route(path, answered, methods=[*methods, "OPTIONS"])


async def _health(_request: Request, engine: Engine) -> Response:
    """Handle `/health`: whether a query is answered, without a token."""
    fine = await engine.alive()
    return JSONResponse({"status": "ok" if fine else "failing"}, 200 if fine else 503)


_TURNED_AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n"
    b"Content-Length: 31\r\nConnection: close\r\n\r\nToo many connections are open.\r\n"
)
_LEAST, _MOST = 1 << 10, 1 << 18  # bytes that are read at once, before others get their turn
_LONG = 0.005
"""Seconds that reading them may take. Chunks of a body may be one byte long, and each is an event."""


class Connection(H11Protocol):
    """One connection."""

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
        size = transport.max_size // 2 if long else transport.max_size * 2
        transport.max_size = max(_LEAST, min(_MOST, size))
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


_CLOSING = 1.5  # seconds for closing the store after the requests have ended, or have not
_M_ARENA_MAX = -8


def _ending(app: ASGIApp) -> ASGIApp:
    """Return an application that answers 503 where the server ends before an answer has begun."""

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        begun = scope["type"] != "http"

        async def giving(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await app(scope, receive, giving)
        except asyncio.CancelledError:
            if begun:
                raise
            ended = JSONResponse({"status": "stopping"}, 503, {"Retry-After": RETRY_SECONDS})
            await ended(scope, receive, send)

    return handle


class _Server(uvicorn.Server):
    """A server that says when it listens, and when it is told to stop."""

    def __init__(
        self, config: uvicorn.Config, listening: Callable[[], None], stopping: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._listening, self._stopping = listening, stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            self._stopping()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listening()


def serve(
    kg: KnowledgeGraph,
    settings: ServerSettings,
    *,
    listening: Callable[[str], None] | None = None,
    exits: bool = False,
) -> None:
    """Serve a knowledge graph until SIGINT or SIGTERM.

    Running requests then get `settings.grace` seconds more, and no process is left behind.
    """
    # glibc gives each thread an arena of its own, and what one has freed is of no use to another: memory
    # would grow with the number of threads, not with what is needed.
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_ARENA_MAX, 2)
    bound = listen(settings)
    host, port = bound.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    export_spans()
    app = create_app(kg, settings)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    if settings.log_requests:
        requests = logging.getLogger("mrag.requests")
        requests.setLevel(logging.INFO)
        requests.propagate = False
        if not requests.handlers:
            requests.addHandler(logging.StreamHandler())

    def stopping() -> None:
        if exits:
            # Also in the middle of an update or of reasoning, which the store then is as before or after.
            _exit_after(settings.grace + _CLOSING, kg)

    def listens() -> None:
        # The first question need not wait for the names of the graph.
        warm = app.state.engine.questions.warm
        threading.Thread(target=warm, name="mrag-questions", daemon=True).start()
        if listening:
            listening(url)

    server = _Server(config_of(_ending(app), settings), listens, stopping)
    # uvicorn raises the signal again when it has stopped; the caller still has a store to close then.
    with _on_signals(lambda *_: None):
        try:
            server.run(sockets=[bound])
        finally:
            bound.close()


@contextlib.contextmanager
def _on_signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def config_of(app: ASGIApp, settings: ServerSettings) -> uvicorn.Config:
    """Return what uvicorn is told."""
    return uvicorn.Config(
        app,
        # uvicorn makes a connection by calling this, whether it is a class or not.
        http=cast("type[asyncio.Protocol]", partial(Connection, patience=settings.patience)),
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


def listen(settings: ServerSettings) -> socket.socket:
    """Open the server's port."""
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


def _exit_after(seconds: float, kg: KnowledgeGraph) -> None:
    """End this process after some seconds, whatever its threads do."""

    def wait() -> None:
        time.sleep(seconds)
        logger.warning("the server was stopped in the middle of its work")
        if isinstance(kg.store, OxigraphStore):
            # Removes the copies that queries read; not for long, as a lock may be held.
            closing = threading.Thread(target=kg.store.workers.close, daemon=True)
            closing.start()
            closing.join(_CLOSING / 3)
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
