"""What stands in front of every request: limits, who may come in, and errors that say what to do."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import ipaddress
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mrag import errors
from mrag.generation.result import parse
from mrag.server.metrics import note_error
from mrag.server.settings import ServerSettings

logger = logging.getLogger(__name__)

T = TypeVar("T")
_TERMS = (errors.QueryRefused, errors.LoadError, errors.TermError)
_STATUS: tuple[tuple[type[errors.MragError] | tuple[type[errors.MragError], ...], int], ...] = (
    (errors.QueryTimeout, 503),
    (errors.MissingIndex, 404),
    ((errors.EndpointError, errors.ModelError, errors.RankerError), 502),
    (errors.DamagedIndex, 500),
    (errors.IndexError_, 409),
    (errors.ReasoningError, 422),
    (_TERMS, 400),
    (errors.StoreError, 503),
)
_OPEN = ("/", "/health", "/ready", "/rest/login", "/favicon.ico")
_OPEN_UNDER = ("/page/", "/rest/login/")
_SAFE = ("GET", "HEAD", "OPTIONS")
_LONGEST_URI = 32_768
_LENGTHS = {b"content-length", b"transfer-encoding"}
_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|[A-Za-z0-9._~-]{1,255})(?::(?P<port>[0-9]{0,5}))?")
_PARTS = 200_000  # commas and opening brackets that JSON in a body may have
_SLOWEST = 1 << 16  # bytes of a body that must come in a second, once its time is over


def failure(status: int, message: str, hint: str | None = None, kind: str = "", **headers: str) -> Response:
    """Return an error as JSON: its status, what happened, and what to do next."""
    body: dict[str, object] = {"status": status, "error": message}
    body |= {name: value for name, value in (("hint", hint), ("type", kind)) if value}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    given["Cache-Control"] = "no-store"
    said = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    return Response(said, status, given, "application/json")


async def mrag_error(request: Request, error: Exception) -> Response:
    """Answer a request that ended in an error of mrag."""
    if not isinstance(error, errors.MragError):
        return await crash(request, error)
    request.app.state.metrics.errors.labels(type(error).__name__).inc()
    status = next((status for kinds, status in _STATUS if isinstance(error, kinds)), 400)
    note_error(request, status, error)
    where = f" ({error.term})" if error.term and status == 400 and isinstance(error, _TERMS) else ""
    later = {"Retry_After": "5"} if isinstance(error, errors.QueryTimeout) else {}
    return failure(status, error.message + where, error.hint, type(error).__name__, **later)


async def http_error(request: Request, error: Exception) -> Response:
    """Answer a request that ended in an HTTP status."""
    if not isinstance(error, HTTPException):
        return await crash(request, error)
    note_error(request, error.status_code, error)
    response = failure(error.status_code, str(error.detail))
    response.headers.update(error.headers or {})
    return response


async def crash(request: Request, error: Exception) -> Response:
    """Answer a request that ended in an error nobody expected."""
    name = request.scope.get("state", {}).get("request_id", "")
    note_error(request, 500, error)
    logger.error("%s %s failed (request %s)", request.method, request.scope["path"], name, exc_info=error)
    return failure(500, "The server could not answer; its log says why.")


class OneLength:
    """Refuses a request whose end is said in two ways, and ends its connection (RFC 9112, section 6.1).

    A proxy in front may have taken the other one, and then what follows is not what its client sent.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and {name for name, _ in scope["headers"]} >= _LENGTHS:
            hint = "Send Content-Length or Transfer-Encoding."
            refused = failure(400, "The request says its length in two ways.", hint, Connection="close")
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)


class AccessGuard:
    """Lets a request in when it may come in, whole and not too large, and ends it when its client leaves."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refused = self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        try:
            body = await self._body(Headers(scope=scope), receive)
        except HTTPException as error:
            # What is left of the body has not been read, so the connection cannot go on.
            response = failure(error.status_code, str(error.detail), Connection="close")
            await response(scope, receive, send)
            return
        if body is not None:
            await self._run(scope, body, receive, send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        method, path = scope["method"], scope["path"].removeprefix(scope.get("root_path", ""))
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_URI:
            return failure(414, "The address is too long.", "Send the query by POST.")
        host = headers.get("host", "")
        if host and not _is_host(host):
            return failure(400, f"{host[:100]!r} is not a host.", "Host: NAME or NAME:PORT.")
        name = urlsplit(f"//{host}").hostname if host else None
        here = name in ("localhost", "127.0.0.1", "::1")
        if self._settings.token is None and self._settings.local and not here:
            # A page of another site may reach this machine under a name of its own (DNS rebinding).
            return failure(
                421, f"{host[:100]!r} is not a name of this server.", "Use localhost or 127.0.0.1."
            )
        origin = headers.get("origin")
        if origin and method not in _SAFE and not self._same(origin, host):
            return failure(403, "Pages of other origins may not send this.", "Start the server with --cors.")
        # Not every browser names the page that a form comes from, but it says that it is another's.
        foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        if not origin and method not in _SAFE and foreign and "*" not in self._settings.cors_origins:
            return failure(403, "Pages of other origins may not send this.", "Start the server with --cors.")
        if method == "OPTIONS" or path in _OPEN or path.startswith(_OPEN_UNDER):
            return None
        if self._settings.token is not None and not is_authorised(headers, self._settings.token):
            hint = "Send it as `Authorization: Bearer TOKEN`."
            return failure(401, "A token is needed.", hint, WWW_Authenticate='Bearer realm="mrag"')
        return None

    def _same(self, origin: str, host: str) -> bool:
        try:
            own = urlsplit(origin).netloc == host
        except ValueError:
            own = False
        return own or bool({"*", origin} & {*self._settings.cors_origins})

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        most = self._settings.max_body
        # Longer numbers than this are refused by the parser of requests.
        length = headers.get("content-length", "")[:20]
        if length.isascii() and length.isdigit() and int(length) > most:
            raise HTTPException(413, f"The body is larger than {most} bytes.")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._settings.patience.body) as clock:
                until = clock.when() or 0.0
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    clock.reschedule(until + size / _SLOWEST)
                    if size > most:
                        raise HTTPException(413, f"The body is larger than {most} bytes.")
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError as error:
            raise HTTPException(408, "The body did not arrive in time.") from error

    async def _run(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        given = False
        gone = asyncio.Event()

        async def replay() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": body, "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                continue
            gone.set()

        work = asyncio.ensure_future(self._app(scope, replay, send))
        watcher = asyncio.ensure_future(watch())
        try:
            await asyncio.wait({work, watcher}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left = not work.done()
            watcher.cancel()
            if left:
                work.cancel()
            results = await asyncio.gather(work, watcher, return_exceptions=True)
        if not left and isinstance(results[0], Exception):
            raise results[0]


def is_authorised(headers: Headers, token: str) -> bool:
    """Return whether a request carries the token.

    It may come as a bearer token, as GraphDB's own (`GDB …`), or as the password of Basic
    authentication, which is what clients of GraphDB can send.
    """
    scheme, _, given = headers.get("authorization", "").partition(" ")
    given = given.strip()
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return False
    elif scheme.lower() not in ("bearer", "gdb"):
        return False
    return hmac.compare_digest(given.encode(), token.encode())


async def json_object(request: Request, most: int) -> dict[str, Any]:
    """Read a body that is a JSON object, with nothing in it that could not be written down again."""
    body, hint = await request.body(), 'Send an object: {"name": "…"}.'
    if len(body) > most:
        raise HTTPException(413, f"The body is larger than {most} bytes.")
    # Others wait while it is read, which takes as long as it has parts, not as it has bytes.
    if sum(map(body.count, (b",", b"[", b"{"))) > _PARTS:
        raise errors.ConfigError(f"The body has more than {_PARTS:,} commas and brackets.", hint=hint)
    try:
        value = parse(body)
    except errors.ModelError as error:
        raise errors.ConfigError(f"The body cannot be read. {error.message}", hint=hint) from error
    if not isinstance(value, dict):
        raise errors.ConfigError("The body is not a JSON object.", hint=hint)
    return value


def _is_host(host: str) -> bool:
    """Return whether a Host header is a name or an address, with or without a port (RFC 9110, 7.2)."""
    match = _HOST.fullmatch(host)
    if match is None or int(match["port"] or 0) > 65_535:
        return False
    try:
        return match["six"] is None or bool(ipaddress.IPv6Address(match["six"]))
    except ValueError:
        return False


_BODIES = 4  # all bodies together may take this many times what one may
RETRY_SECONDS = "5"  # when to come back, where nothing nearer to the cause said so


async def within(seconds: float, work: Awaitable[T], late: str, retry: str = "1") -> T:
    """Return what comes of some work in time; 503 if it does not end until then."""
    try:
        async with asyncio.timeout(seconds):
            return await work
    except errors.QueryTimeout:
        raise
    except TimeoutError as error:
        raise HTTPException(503, late, {"Retry-After": retry}) from error


class Slots:
    """Places for work of one kind; more work waits, and is turned away when it has waited for too long."""

    def __init__(self, size: int, queue: int, name: str) -> None:
        self._free = asyncio.Semaphore(size)
        self._queue = queue
        self._name = name
        self.running = self.waiting = 0
        self.told: Callable[[int, int], None] = lambda running, waiting: None

    @asynccontextmanager
    async def taken(self, seconds: float) -> AsyncIterator[None]:
        """Take a place while the block runs."""
        if self.waiting >= self._queue:
            raise HTTPException(503, f"Too many {self._name} wait already.", {"Retry-After": "1"})
        self._count(waiting=1)
        try:
            late = f"Other {self._name} were being answered until the deadline."
            await within(seconds, self._free.acquire(), late)
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
