"""RDF4J's transactions: operations are collected and carried out together at the commit.

Nothing is locked until then, so two transactions at once see each other's effect only when one has been
committed. Reading inside a transaction is answered from the state before it, and refused once it has
changed something, because its own changes would be missing.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mrag.server.engine import Engine
from mrag.server.protocols.graph_store import documents, statements
from mrag.server.protocols.negotiate import content_type
from mrag.server.protocols.rdf4j import asked_of, contexts, count, pattern_of, repository
from mrag.server.protocols.sparql import (
    FORM,
    QUERY,
    UPDATE,
    base_of,
    done,
    has,
    one,
    pairs,
    respond,
    seconds_of,
    using,
)

_MOST = 64
_SECONDS = 60.0
_BODIES = 4
"""All open ones may hold this many times the largest body."""


@dataclass
class Transaction:
    """Operations that wait for their commit.

    Attributes:
        operations: What is to be carried out.
        size: Bytes of the documents among them.
        used: When it was last used.
    """

    operations: list[Any] = field(default_factory=list)
    size: int = 0
    used: float = field(default_factory=time.monotonic)


class Transactions:
    """The transactions of a server; one that is left alone for a minute is forgotten."""

    def __init__(self) -> None:
        self._open: dict[str, Transaction] = {}

    def begin(self) -> str:
        """Begin one, and return its name.

        Raises:
            HTTPException: 503 if too many are open.
        """
        now = time.monotonic()
        for name in [n for n, t in self._open.items() if now - t.used > _SECONDS]:
            del self._open[name]
        if len(self._open) >= _MOST:
            raise HTTPException(503, "Too many transactions are open.", {"Retry-After": "10"})
        name = uuid.uuid4().hex
        self._open[name] = Transaction()
        return name

    def size(self) -> int:
        """Return the bytes that all of them hold."""
        return sum(found.size for found in self._open.values())

    def get(self, name: str) -> Transaction:
        """Return one that is open.

        Raises:
            HTTPException: 404 if there is none of that name.
        """
        found = self._open.get(name)
        if found is None:
            raise HTTPException(
                404, "There is no such transaction; it may have been left alone for too long."
            )
        found.used = time.monotonic()
        return found

    def end(self, name: str) -> Transaction:
        """Take one out."""
        found = self.get(name)
        del self._open[name]
        return found


async def begin(request: Request) -> Response:
    """Handle POST to `/repositories/{id}/transactions`."""
    engine = repository(request)
    engine.writer.writable()
    name = request.app.state.transactions.begin()
    where = f"{str(request.url).partition('?')[0].rstrip('/')}/{name}"
    return Response(status_code=201, headers={"Location": where})


async def on_transaction(request: Request) -> Response:
    """Handle `/repositories/{id}/transactions/{transaction}`."""
    engine = repository(request)
    open_ones: Transactions = request.app.state.transactions
    name = request.path_params["transaction"]
    if request.method == "DELETE":
        open_ones.end(name)
        return Response(status_code=204)
    fields = pairs(request.scope["query_string"])
    body_kind = content_type(request.headers.get("content-type"))
    if body_kind == FORM:
        fields = [*fields, *pairs(await request.body())]
    action = one(fields, "action").upper()
    found = open_ones.get(name)
    if action == "PING":
        return PlainTextResponse("", 200)
    if action == "ROLLBACK":
        open_ones.end(name)
        return Response(status_code=204)
    if action == "COMMIT":
        open_ones.end(name)
        return done(await engine.writer.change(found.operations), 200) if found.operations else Response()
    if action in ("ADD", "DELETE", "UPDATE"):
        await _collect(request, engine, found, action, fields, body_kind)
        return Response(status_code=200)
    if found.operations:
        raise HTTPException(
            400, "This transaction has changed something, and cannot be read from until it is committed."
        )
    if action == "QUERY":
        text = await request.body() if body_kind == QUERY else None
        asked = asked_of(request, fields, None if text is None else text.decode("utf-8-sig", "replace"))
        return await respond(request, asked, seconds_of(fields, engine))
    if action == "SIZE":
        return PlainTextResponse(str(await count(engine, contexts(fields))))
    if action == "GET":
        infer = not has(fields, "infer") or one(fields, "infer").lower() != "false"
        return await statements(request, contexts(fields), infer=infer, pattern=pattern_of(fields))
    raise HTTPException(400, f"There is no action {action[:50]!r}.")


async def _collect(
    request: Request, engine: Engine, found: Transaction, action: str, fields: Any, body_kind: str
) -> None:
    found.size += len(await request.body())
    if found.size > engine.settings.max_body:
        raise HTTPException(413, f"The transaction is larger than {engine.settings.max_body} bytes.")
    if request.app.state.transactions.size() > _BODIES * engine.settings.max_body:
        raise HTTPException(503, "The open transactions hold too much already.", {"Retry-After": "10"})
    if action == "UPDATE":
        text = (
            (await request.body()).decode("utf-8-sig", "replace")
            if body_kind == UPDATE
            else one(fields, "update")
        )
        found.operations += await engine.writer.operations(text, *using(fields), base_of(request))
        return
    base = one(fields, "baseURI").strip("<>") if has(fields, "baseURI") else None
    found.operations += await documents(request, contexts(fields), inserting=action == "ADD", base=base)
