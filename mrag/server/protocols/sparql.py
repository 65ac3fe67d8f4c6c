"""The SPARQL 1.1 Protocol: queries, updates and the service description."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mrag.errors import MragError
from mrag.graph.updates import UpdateReport
from mrag.server.engine import Engine
from mrag.server.protocols.description import description
from mrag.server.protocols.forms import Fields, pairs
from mrag.server.protocols.negotiate import BOOLEANS, GRAPHS, RESULTS, choose, content_type
from mrag.server.queries import CheckedQuery, QueryRequest, ResultStream
from mrag.stores.process.parsing import Bounds, perform

logger = logging.getLogger(__name__)

FORM = "application/x-www-form-urlencoded"
QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
_LARGE = 1 << 20
"""Forms of more bytes take too long to be read between other requests."""


class SparqlDocument(Response):
    """A document that is sent while it is being written.

    Whatever ends it too early ends the connection without its last chunk, so that a part never looks
    like the whole.

    Args:
        answer: The answer, its first piece there.
        media: Its media type.
        headers: Further headers.
    """

    def __init__(self, answer: ResultStream, media: str, headers: dict[str, str] | None = None) -> None:
        body = answer.first if answer.whole else b""
        super().__init__(body, 200, headers, media)
        self._answer = answer
        if not answer.whole:
            del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        if self._answer.whole:
            await super().__call__(scope, receive, send)
            return
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                await send({"type": "http.response.body", "body": self._answer.first, "more_body": True})
                async for piece in self._answer.rest():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except MragError as error:
            logger.warning("An answer broke off after its beginning had been sent: %s", error)
        finally:
            await self._answer.close()


async def query_or_update(request: Request) -> Response:
    """Handle `/sparql`: queries, updates where allowed, and the service description."""
    fields, kind, text = await read_fields(request)
    if kind == UPDATE or (kind == FORM and has(fields, "update") and not has(fields, "query")):
        return await _update(request, fields, text)
    if kind != QUERY and not has(fields, "query") and request.method in ("GET", "HEAD"):
        if fields:
            raise HTTPException(400, "There is no query. Send it as the parameter `query`.")
        engine: Engine = request.app.state.engine
        media, name = choose(request.headers.get("accept"), GRAPHS)
        return Response(description(engine.kg, engine.settings, str(request.url), name), 200, None, media)
    return await _query(request, fields, text if kind == QUERY else None)


async def update(request: Request) -> Response:
    """Handle `/update`."""
    if request.method != "POST":
        raise HTTPException(405, "Updates are sent by POST.", {"Allow": "POST, OPTIONS"})
    fields, kind, text = await read_fields(request)
    return await _update(request, fields, text if kind == UPDATE else None)


async def _query(request: Request, fields: Fields, text: str | None) -> Response:
    engine: Engine = request.app.state.engine
    asked = QueryRequest(
        text if text is not None else one(fields, "query"),
        tuple(many(fields, "default-graph-uri")),
        tuple(many(fields, "named-graph-uri")),
        base=base_of(request),
    )
    if text is not None and any(given != text for given in many(fields, "query")):
        raise HTTPException(400, "The query is given twice, as the body and as a parameter.")
    return await respond(request, asked, seconds_of(fields, engine))


async def respond(request: Request, asked: QueryRequest, seconds: float | None) -> Response:
    """Answer a query in the format that the client prefers.

    Args:
        request: The request.
        asked: The query.
        seconds: The client's own deadline.
    """
    engine: Engine = request.app.state.engine
    read = await engine.read(replace(asked, seconds=seconds))
    media, name = format_of(request, read)
    return SparqlDocument(await engine.answer(read, name), media)


def format_of(request: Request, read: CheckedQuery) -> tuple[str, str]:
    """Return the media type and the format of a query's answer.

    Raises:
        HTTPException: 406 if the client accepts none.
    """
    offers = {"SelectQuery": RESULTS, "AskQuery": BOOLEANS}.get(read.query.form, GRAPHS)
    return choose(request.headers.get("accept"), offers)


async def _update(request: Request, fields: Fields, text: str | None) -> Response:
    engine: Engine = request.app.state.engine
    engine.writer.writable()
    if text is not None and has(fields, "update"):
        raise HTTPException(400, "The update is given twice, as the body and as a parameter.")
    operations = await engine.writer.operations(
        text if text is not None else one(fields, "update"), *using(fields), base_of(request)
    )
    return done(await engine.writer.change(operations, seconds_of(fields, engine)))


def done(report: UpdateReport, status: int = 204) -> Response:
    """Return the response to an update, with what it did in its headers."""
    return Response(
        status_code=status,
        headers={
            "MRAG-Added": str(report.added),
            "MRAG-Removed": str(report.removed),
            "MRAG-Inferred": report.inferred,
        },
    )


async def read_fields(request: Request) -> tuple[Fields, str, str | None]:
    """Return the parameters of a request, the media type of its body, and the body where it is a text.

    Raises:
        HTTPException: 400 for text that is not UTF-8, 415 for a body of another kind.
    """
    fields = pairs(request.scope["query_string"])
    if request.method in ("GET", "HEAD", "DELETE"):
        return fields, "", None
    kind = content_type(request.headers.get("content-type"))
    if kind not in (FORM, QUERY, UPDATE):
        given = f"not {kind}" if kind else "and its Content-Type says which"
        raise HTTPException(415, f"A body is {FORM}, {QUERY} or {UPDATE}, {given}.")
    body = await request.body()
    if kind == FORM and len(body) > _LARGE:
        engine: Engine = request.app.state.engine
        return [*fields, *await engine.writer.read(_apart, body)], kind, None
    if kind == FORM:
        return [*fields, *pairs(body)], kind, None
    try:
        return fields, kind, body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The body is not UTF-8: {error.reason}.") from error


def _apart(body: bytes, bounds: Bounds) -> Fields:
    """Read the parameters of a large form in a child process."""
    return cast(Fields, perform("mrag.server.protocols.forms:pairs", body, bounds=bounds))


def has(fields: Fields, name: str) -> bool:
    """Return whether a parameter is given."""
    return any(key == name for key, _ in fields)


def many(fields: Fields, name: str) -> Sequence[str]:
    """Return all values of a parameter."""
    return [value for key, value in fields if key == name]


def one(fields: Fields, name: str, default: str | None = None) -> str:
    """Return the value of a parameter that must be given once; the same value twice is one.

    Args:
        fields: The parameters.
        name: Its name.
        default: Its value if it is not given; without one, it must be.

    Raises:
        HTTPException: 400 if it is not.
    """
    found = list(dict.fromkeys(many(fields, name)))
    if not found and default is not None:
        return default
    if len(found) != 1:
        count = "missing" if not found else f"given {len(found)} times, with other values"
        raise HTTPException(400, f"The parameter `{name}` is {count}; it must be given once.")
    return found[0]


def using(fields: Fields) -> tuple[Sequence[str], Sequence[str]]:
    """Return the graphs that an update reads: `using-graph-uri` and `using-named-graph-uri`.

    Raises:
        HTTPException: 400 for RDF4J's parameters that would have it write to other graphs than it says.
    """
    for name in ("insert-graph-uri", "remove-graph-uri"):
        if has(fields, name):
            raise HTTPException(400, f"`{name}` is not supported. Write GRAPH or WITH into the update.")
    return many(fields, "using-graph-uri"), many(fields, "using-named-graph-uri")


def base_of(request: Request) -> str:
    """Return what relative IRIs are relative to: the address of the endpoint."""
    return str(request.url).partition("?")[0]


def seconds_of(fields: Fields, engine: Engine) -> float | None:
    """Return the client's own deadline, from the parameter `timeout` in seconds.

    Raises:
        HTTPException: 400 if it is no number.
    """
    given = many(fields, "timeout")
    if not given:
        return None
    try:
        seconds = float(given[0])
    except ValueError as error:
        raise HTTPException(400, "`timeout` is a number of seconds.") from error
    # RDF4J's clients send 0 for no deadline of their own.
    return min(seconds, engine.settings.seconds) if seconds > 0 else None
