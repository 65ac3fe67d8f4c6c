"""What the server can be watched by: metrics, a log of requests, running queries and recent errors."""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import mrag
from mrag.errors import IndexError_, MissingIndex, MragError, QueryRefused, StoreError
from mrag.index.documents import IndexInfo
from mrag.redaction import redact
from mrag.tracing import span

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from mrag.server.engine import Engine

logger = logging.getLogger("mrag.requests")

_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_ELSEWHERE = "other"  # stands for addresses that there are not, so that nobody can make the metrics grow


class ServerMetrics:
    """Counts what a server does."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self._registry = CollectorRegistry()

        def histogram(name: str, meaning: str, *labels: str) -> Histogram:
            return Histogram(name, meaning, labels, registry=self._registry, buckets=_BUCKETS)

        route = ("method", "route", "status")
        self.requests = histogram(
            "mrag_request_seconds", "Time until a request was answered, by route.", *route
        )
        meaning = "Time until a question was answered, by the way that was taken."
        self.answers = histogram("mrag_answer_seconds", meaning, "way")
        meaning = "Errors that ended a request, by kind; QueryRefused are those of the read gate."
        self.errors = Counter("mrag_errors", meaning, ("kind",), registry=self._registry)
        self._running, self._waiting = (
            Gauge(name, meaning, registry=self._registry)
            for name, meaning in (
                ("mrag_queries_running", "Queries that are being answered."),
                ("mrag_queries_waiting", "Queries that wait for a worker."),
            )
        )

    def watch(self, engine: Engine) -> None:
        """Have each reading of the metrics look at a graph, its index and its workers, too."""

        def told(running: int, waiting: int) -> None:
            self._running.set(running)
            self._waiting.set(waiting)

        engine.slots.told = told
        self._registry.register(_State(engine))

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return bytes(generate_latest(self._registry))


class _State:
    """What there is at the moment when the metrics are read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        """Yield the state of graph, index and workers."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        engine, record = self._engine, self._engine.record
        numbers: dict[str, tuple[float, str]] = {
            "graph_triples": (record.triples, "Asserted triples."),
            "graph_revision": (record.revision, "Revision of the graph."),
            "graph_reasoned": (not record.outdated, "Whether inferences belong to the present triples."),
        }
        _, info, _ = index_state(engine)
        documents = 0 if info is None else info.documents or 0
        numbers["index_documents"] = (documents, "Documents of the similarity index.")
        if info is not None:
            behind = 0 if info.revision is None else record.revision - info.revision
            numbers["index_stale"] = (info.stale, "Whether the graph has changed since it was built.")
            numbers["index_revisions_behind"] = (behind, "Changes of the graph since it was built.")
        for name, (value, meaning) in numbers.items():
            yield GaugeMetricFamily(f"mrag_{name}", meaning, float(value))
        if engine.pool is not None:
            meaning = "Worker processes that were killed, at a deadline for the most part."
            yield CounterMetricFamily("mrag_workers_killed", meaning, float(engine.pool.was_killed))


class Observed:
    """Gives each request an identifier, counts it, and logs it."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, size = time.perf_counter(), 500, 0
        method = scope["method"] if scope["method"] in _METHODS else _ELSEWHERE
        given = Headers(scope=scope).get("x-request-id", "")
        name = given if _ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = name

        async def giving(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = name
            size += len(message.get("body", b""))
            await send(message)

        try:
            carrier = {k: v for k, v in Headers(scope=scope).items() if k in _TRACE}
            about = {"http.request.method": method, "mrag.request.id": name}
            with span(f"{method} request", about, carrier=carrier) as note:
                await self._app(scope, receive, giving)
                note({"http.route": _route_of(scope), "http.response.status_code": status})
        finally:
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(method, _route_of(scope), str(status)).observe(seconds)
            if logger.isEnabledFor(logging.INFO):
                line = {"time": _now(), "id": name, "method": scope["method"], "path": scope["path"]}
                line |= {"status": status, "seconds": round(seconds, 4), "bytes": size}
                logger.info("%s", json.dumps(line))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_TRACE = ("traceparent", "tracestate")
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")


def _route_of(scope: Scope) -> str:
    endpoint, app = scope.get("endpoint"), scope.get("app")
    if endpoint is None or not isinstance(app, Starlette):
        return _ELSEWHERE
    known: dict[Any, str] | None = getattr(app.state, "patterns", None)
    if known is None:
        known = app.state.patterns = {r.endpoint: r.path for r in app.routes if isinstance(r, Route)}
    return known.get(endpoint, _ELSEWHERE)


async def show(request: Request, _engine: Engine) -> Response:
    """Handle `/metrics`."""
    from prometheus_client import CONTENT_TYPE_LATEST

    metrics: ServerMetrics = request.app.state.metrics
    return Response(await to_thread.run_sync(metrics.text), media_type=CONTENT_TYPE_LATEST)


def index_state(engine: Engine) -> tuple[str, IndexInfo | None, str]:
    """Return whether the index is current, stale, missing or damaged, what is known of it, and the damage."""
    try:
        info = mrag.SimilarityIndexes.of(engine.kg).info(engine.settings.index)
    except MissingIndex:
        return "missing", None, ""
    except IndexError_ as error:
        return "damaged", None, error.message
    return "stale" if info.stale else "current", info, ""


async def ready(_request: Request, engine: Engine) -> Response:
    """Handle `/ready`: whether requests may be sent here, and how old what they are answered from is."""
    fine = await engine.alive()
    index, *_ = await to_thread.run_sync(index_state, engine)
    about = {"status": "ok" if fine else "failing", "revision": engine.record.revision, "index": index}
    return JSONResponse(about, 200 if fine else 503)


_SHOWN = 2_000


@dataclass
class ActiveQuery:
    """A query that is being answered."""

    id: int  # its number
    text: str  # what is asked; empty where statements are read without a query
    process: int | None  # number of the process that answers it; None where that is another server
    began: float = field(default_factory=time.monotonic)  # when it began, by the monotonic clock
    stopped: bool = False  # whether somebody has ended it


class ActiveQueries:
    """The queries that a server is answering."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._active: dict[int, ActiveQuery] = {}
        self._lock = threading.Lock()

    @contextmanager
    def running(self, text: str, process: int | None) -> Iterator[ActiveQuery]:
        """Count a query while the block answers it."""
        one = ActiveQuery(next(self._numbers), text, process)
        with self._lock:
            self._active[one.id] = one
        try:
            yield one
        except StoreError as error:
            if one.stopped:
                raise QueryRefused("The query was stopped by hand.", query=text) from error
            raise
        finally:
            with self._lock:
                del self._active[one.id]

    def stop(self, number: int) -> bool:
        """End a query; return whether there is such a one, and it can be ended."""
        with self._lock:
            one = self._active.get(number)
            if one is None or one.process is None:
                return False
            one.stopped = True
            # The process has not been waited for as long as the block runs, so its number is no other's.
            with suppress(ProcessLookupError):
                os.kill(one.process, signal.SIGKILL)
            return True

    def listed(self) -> list[dict[str, Any]]:
        """Return the queries, the longest running first."""
        now = time.monotonic()
        with self._lock:
            queries = sorted(self._active.values(), key=lambda one: (one.began, one.id))
            return [
                {"id": one.id, "text": one.text[:_SHOWN], "seconds": round(now - one.began, 1)}
                | {"stoppable": one.process is not None}
                for one in queries
                if not one.stopped
            ]


_KEPT_ERRORS = 50


class RecentErrors:
    """The last errors of a server, oldest first, without what was asked."""

    def __init__(self) -> None:
        self._errors: deque[dict[str, Any]] = deque(maxlen=_KEPT_ERRORS)

    def note(self, where: str, status: int | None, error: Exception) -> None:
        """Keep an error, unless the client is to blame for it."""
        if status is not None and status < 500:
            return
        message, hint = "An error that nobody expected; the server's log says more.", None
        # The text of any other error may quote what was asked.
        if isinstance(error, MragError):
            message, hint = redact(error.message), error.hint
        elif isinstance(error, HTTPException):
            message = error.detail
        about = {"time": _now(), "where": where[:200], "status": status, "type": type(error).__name__}
        self._errors.append({**about, "message": message, "hint": hint})

    def listed(self) -> list[dict[str, Any]]:
        """Return the errors, the newest first."""
        return list(reversed(self._errors))


def note_error(request: Request, status: int, error: Exception) -> None:
    """Keep the error that a request ended in, in the application that it was sent to."""
    engine = getattr(request.app.state, "engine", None)
    if engine is not None:
        engine.errors.note(request.scope["path"], status, error)
