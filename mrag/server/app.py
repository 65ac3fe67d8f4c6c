"""The application: which address is answered by what, for one knowledge graph or several."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrag.errors import ConfigError, MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.server import graphdb, rdf4j, sparql
from mrag.server.engine import Engine
from mrag.server.metrics import Observed, ServerMetrics, ready, show
from mrag.server.protect import AccessGuard, Bounded, OneLength, allowed, crash, http_error, mrag_error
from mrag.server.settings import BELOW, ServerSettings
from mrag.server.web import assets as pages
from mrag.server.web import routes as api

HEADER = "X-Mrag-Inference"
"""`current`, `pending` while inferences are brought up to date, or `none` without reasoning."""


class InferenceState:
    """Adds a header to replies.

    Args:
        app: What answers.
    """

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


logger = logging.getLogger(__name__)

Handler = Callable[[Request], Awaitable[Response]]

_ALL = ("GET", "POST", "PUT", "DELETE")
_RAISED = ["X-Request-ID", "MRAG-Added", "MRAG-Removed", "MRAG-Inferred", HEADER, "Location", "Authorization"]


def create_app(kg: KnowledgeGraph, settings: ServerSettings) -> Starlette:
    """Return the application that serves a knowledge graph.

    Args:
        kg: The knowledge graph; the caller closes it after the application has stopped.
        settings: The server's settings.

    Example:
        >>> import mrag
        >>> with mrag.connect() as kg:
        ...     app = create_app(kg, ServerSettings())
        >>> "/sparql" in [getattr(route, "path", "") for route in app.routes]
        True
    """
    middleware = [Middleware(Bounded, settings=settings), Middleware(AccessGuard, settings=settings)]
    middleware.append(Middleware(InferenceState))
    if settings.cors_origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "HEAD", "POST", "PUT", "DELETE"],
            # Drivers add headers of their own; there are no cookies that these could lead astray.
            allow_headers=["*"],
            expose_headers=_RAISED,
        )
        middleware.insert(0, cors)
    metrics = ServerMetrics()
    middleware[:0] = [Middleware(Observed, metrics=metrics), Middleware(OneLength)]
    app = Starlette(
        routes=[*_routes(), *api.routes(kg, settings), *pages.page_routes()],
        middleware=middleware,
        exception_handlers={MragError: mrag_error, HTTPException: http_error, Exception: crash},
        lifespan=_lifespan,
    )
    app.state.engine, app.state.metrics = Engine(kg, settings), metrics
    metrics.watch(app.state.engine)
    app.state.transactions = rdf4j.Transactions(settings.shared)
    return app


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    engine: Engine = app.state.engine
    await engine.start()
    try:
        yield
    finally:
        await engine.stop()
        app.state.transactions.close()


def _routes() -> Sequence[BaseRoute]:
    one, many = "/repositories/{id}", "/rest/repositories/{id}"
    return [
        _route("/sparql", sparql.query_or_update, "GET", "POST"),
        _route("/update", sparql.update, "GET", "POST"),
        _route("/graphs", sparql.graph_store, *_ALL),
        _route("/graphs/{name:path}", sparql.named_graph, *_ALL),
        _route("/health", _health, "GET"),
        _route("/ready", ready, "GET"),
        _route("/metrics", show, "GET"),
        _route("/protocol", rdf4j.protocol, "GET"),
        _route("/repositories", rdf4j.list_repositories, "GET"),
        _route(one, rdf4j.query, *_ALL),
        _route(f"{one}/statements", rdf4j.on_statements, *_ALL),
        _route(f"{one}/size", rdf4j.repository_size, "GET"),
        _route(f"{one}/contexts", rdf4j.on_contexts, "GET"),
        _route(f"{one}/namespaces", rdf4j.namespaces, "GET", "DELETE"),
        _route(f"{one}/namespaces/{{prefix}}", rdf4j.namespace, "GET", "PUT", "DELETE"),
        _route(f"{one}/rdf-graphs", rdf4j.on_contexts, "GET"),
        _route(f"{one}/rdf-graphs/service", rdf4j.graphs_reply, *_ALL),
        _route(f"{one}/health", rdf4j.health, "GET"),
        _route(f"{one}/transactions", rdf4j.begin, "POST"),
        _route(f"{one}/transactions/{{transaction}}", rdf4j.on_transaction, "POST", "PUT", "DELETE"),
        _route("/rest/repositories", graphdb.repositories, *_ALL),
        _route(many, graphdb.one_repository, *_ALL),
        _route(f"{many}/size", graphdb.size, "GET"),
        _route(f"{many}/download-ttl", graphdb.download, "GET"),
        _route(f"{many}/restart", graphdb.restart, "POST"),
        _route("/rest/similarity", graphdb.similarity, *_ALL),
        _route("/rest/info/version", graphdb.version, "GET"),
        _route("/rest/security", graphdb.security, "GET", "POST"),
        _route("/rest/security/authenticated-user", graphdb.user, "GET"),
        _route("/rest/security/free-access", graphdb.free_access, "GET"),
        _route("/rest/login", graphdb.login, "POST"),
        _route("/rest/login/{username}", graphdb.login, "POST"),
    ]


def _route(path: str, handler: Handler, *methods: str) -> Route:
    async def answered(request: Request) -> Response:
        if request.method == "OPTIONS":
            return allowed({*methods, *(["HEAD"] if "GET" in methods else [])})
        return await handler(request)

    return Route(path, answered, methods=[*methods, "OPTIONS"])


async def _health(request: Request) -> Response:
    """Handle `/health`: whether a query is answered, without a token."""
    engine: Engine = request.app.state.engine
    fine = await engine.alive()
    return JSONResponse({"status": "ok" if fine else "failing"}, 200 if fine else 503)


MOST: Final = 16
"""Maximum number of graphs of one server: each has processes of its own."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def create_apps(graphs: Mapping[str, KnowledgeGraph], settings: ServerSettings) -> Starlette:
    """Return the application that serves knowledge graphs: one at `/`, the others below `/kg/NAME/`.

    Each has its own interfaces, page, processes and limits; token and other settings are the same for all.

    Args:
        graphs: The knowledge graphs by what the page calls them; the caller closes them.
        settings: The server's settings.

    Raises:
        ConfigError: If a name cannot stand in an address, or there are too many.

    Example:
        >>> import mrag
        >>> with mrag.connect() as one, mrag.connect() as other:
        ...     app = create_apps({"one": one, "other": other}, ServerSettings())
        >>> [getattr(route, "path", "") for route in app.routes]
        ['/kg/other', '/kg/other', '']
    """
    names = tuple(graphs)
    for name in names[1:]:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} cannot name a graph.", hint="Use letters, digits, - and _.")
    if len(names) > MOST:
        raise ConfigError(f"One server serves at most {MOST} graphs.", hint="Start another on another port.")
    settings = replace(settings, graphs=names)
    first, *others = (create_app(kg, settings) for kg in graphs.values())
    if not others:
        return first

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for app in (first, *others):
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    routes: list[BaseRoute] = []
    for name, app in zip(names[1:], others, strict=True):
        routes += [Route(BELOW + name, _to_its_page), Mount(BELOW + name, app=_own(app))]
    return Starlette(
        routes=[*routes, Mount("/", app=first)], middleware=[Middleware(OneLength)], lifespan=lifespan
    )


def _own(app: Starlette) -> ASGIApp:
    """Return an application that takes its address below the server's for its own."""

    async def answered(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "app_root_path": scope["root_path"]}, receive, send)

    return answered


async def _to_its_page(request: Request) -> Response:
    return RedirectResponse(f"{request.url.path}/")
