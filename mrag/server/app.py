"""The application: which address is answered by what."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.server.bounded import Bounded
from mrag.server.engine import Engine
from mrag.server.inference import HEADER, InferenceState
from mrag.server.protect import AccessGuard, OneLength, allowed, crash, http_error, mrag_error
from mrag.server.protocols import graph_store as graphs
from mrag.server.protocols import graphdb, rdf4j, sparql, transactions
from mrag.server.protocols.metrics import Observed, ServerMetrics, ready, show
from mrag.server.settings import ServerSettings
from mrag.server.web import assets as pages
from mrag.server.web import routes as api

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
        routes=[*_routes(), *api.routes(kg, settings), *pages.routes()],
        middleware=middleware,
        exception_handlers={MragError: mrag_error, HTTPException: http_error, Exception: crash},
        lifespan=_lifespan,
    )
    app.state.engine, app.state.metrics = Engine(kg, settings), metrics
    metrics.watch(app.state.engine)
    app.state.transactions = transactions.Transactions(settings.shared)
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
        _route("/graphs", graphs.graph_store, *_ALL),
        _route("/graphs/{name:path}", graphs.named_graph, *_ALL),
        _route("/health", _health, "GET"),
        _route("/ready", ready, "GET"),
        _route("/metrics", show, "GET"),
        _route("/protocol", rdf4j.protocol, "GET"),
        _route("/repositories", rdf4j.repositories, "GET"),
        _route(one, rdf4j.query, *_ALL),
        _route(f"{one}/statements", rdf4j.on_statements, *_ALL),
        _route(f"{one}/size", rdf4j.size, "GET"),
        _route(f"{one}/contexts", rdf4j.on_contexts, "GET"),
        _route(f"{one}/namespaces", rdf4j.namespaces, "GET", "DELETE"),
        _route(f"{one}/namespaces/{{prefix}}", rdf4j.namespace, "GET", "PUT", "DELETE"),
        _route(f"{one}/rdf-graphs", rdf4j.on_contexts, "GET"),
        _route(f"{one}/rdf-graphs/service", rdf4j.on_graphs, *_ALL),
        _route(f"{one}/health", rdf4j.health, "GET"),
        _route(f"{one}/transactions", transactions.begin, "POST"),
        _route(f"{one}/transactions/{{transaction}}", transactions.on_transaction, "POST", "PUT", "DELETE"),
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
