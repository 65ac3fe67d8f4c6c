"""RDF4J's transactions: operations are collected and carried out together at the commit.

Nothing is locked until then, so two transactions at once see each other's effect only when one has been
committed. Reading inside a transaction is answered from the state before it, and refused once it has
changed something, because its own changes would be missing.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from mrag.server import sparql
from mrag.server.engine import Engine
from mrag.server.protocols import forms
from mrag.server.protocols.rdf4j import asked_of, contexts, count, pattern_of, repository
from mrag.server.sparql import content_type, documents, statements
from mrag.stores.changes import Operation

_MOST = 64
_SECONDS = 60.0
_BODIES = 4
"""All open ones may hold this many times the largest body."""
_OPEN = ".open"


class Transactions:
    """The transactions of a server; one that is left alone for a minute is forgotten.

    Each is a file of the operations that wait for its commit, so that any of several processes which serve
    one graph can take the next request of it.

    Args:
        folder: Where the files are; a folder of its own, made when it is first needed, by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._given = folder
        self._own: TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> Path:
        """Return where the files are."""
        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = TemporaryDirectory(prefix="mrag-transactions-")
        return Path(self._own.name)

    def close(self) -> None:
        """Forget those that are open, unless others share them."""
        if self._own is not None:
            self._own.cleanup()
            self._own = None

    def begin(self) -> str:
        """Begin one, and return its name.

        Raises:
            HTTPException: 503 if too many are open.
        """
        now = time.time()
        for file in self._files():
            with suppress(FileNotFoundError):
                if now - file.stat().st_mtime > _SECONDS:
                    file.unlink()
        if len(self._files()) >= _MOST:
            raise HTTPException(503, "Too many transactions are open.", {"Retry-After": "10"})
        name = uuid.uuid4().hex
        (self.folder / f"{name}{_OPEN}").touch(0o600)
        return name

    def size(self) -> int:
        """Return the bytes that all of them hold."""
        found = 0
        for file in self._files():
            with suppress(FileNotFoundError):
                found += file.stat().st_size
        return found

    def used(self, name: str) -> int:
        """Return the bytes that one holds, which is thereby in use.

        Raises:
            HTTPException: 404 if there is none of that name.
        """
        file = self._file(name)
        with suppress(FileNotFoundError):
            os.utime(file)
            return file.stat().st_size
        raise _no_such()

    def add(self, name: str, operations: Sequence[Operation]) -> None:
        """Have operations wait for the commit.

        Raises:
            HTTPException: 404 if it is not open any more.
        """
        self.used(name)
        with self._file(name).open("r+b") as file:
            file.seek(0, os.SEEK_END)
            pickle.dump(list(operations), file)

    def end(self, name: str) -> list[Operation]:
        """Take one out, and return its operations; whoever comes second finds none.

        Raises:
            HTTPException: 404 if there is none of that name.
        """
        taken = self.folder / f"{name}.{uuid.uuid4().hex}"
        try:
            self._file(name).rename(taken)
        except FileNotFoundError:
            raise _no_such() from None
        found: list[Operation] = []
        with taken.open("rb") as file:
            while file.peek(1):
                found += pickle.load(file)  # noqa: S301 # this server alone writes into the folder
        taken.unlink()
        return found

    def _file(self, name: str) -> Path:
        if not re.fullmatch("[0-9a-f]{32}", name):
            raise _no_such()
        return self.folder / f"{name}{_OPEN}"

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{_OPEN}"))


def _no_such() -> HTTPException:
    return HTTPException(404, "There is no such transaction; it may have been left alone for too long.")


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
    fields = forms.pairs(request.scope["query_string"])
    body_kind = content_type(request.headers.get("content-type"))
    if body_kind == sparql.FORM:
        fields = [*fields, *forms.pairs(await request.body())]
    action = sparql.one(fields, "action").upper()
    size = open_ones.used(name)
    if action == "PING":
        return PlainTextResponse("", 200)
    if action == "ROLLBACK":
        open_ones.end(name)
        return Response(status_code=204)
    if action == "COMMIT":
        operations = open_ones.end(name)
        return sparql.done(await engine.writer.change(operations), 200) if operations else Response()
    if action in ("ADD", "DELETE", "UPDATE"):
        if size + len(await request.body()) > engine.settings.max_body:
            raise HTTPException(413, f"The transaction is larger than {engine.settings.max_body} bytes.")
        if open_ones.size() + len(await request.body()) > _BODIES * engine.settings.max_body:
            raise HTTPException(503, "The open transactions hold too much already.", {"Retry-After": "10"})
        found = await _collected(request, engine, action, fields, body_kind)
        await asyncio.to_thread(open_ones.add, name, found)
        return Response(status_code=200)
    if size:
        raise HTTPException(
            400, "This transaction has changed something, and cannot be read from until it is committed."
        )
    if action == "QUERY":
        text = await request.body() if body_kind == sparql.QUERY else None
        asked = asked_of(request, fields, None if text is None else text.decode("utf-8-sig", "replace"))
        return await sparql.respond(request, asked, sparql.seconds_of(fields, engine))
    if action == "SIZE":
        return PlainTextResponse(str(await count(engine, contexts(fields))))
    if action == "GET":
        infer = not sparql.has(fields, "infer") or sparql.one(fields, "infer").lower() != "false"
        return await statements(request, contexts(fields), infer=infer, pattern=pattern_of(fields))
    raise HTTPException(400, f"There is no action {action[:50]!r}.")


async def _collected(
    request: Request, engine: Engine, action: str, fields: forms.Fields, body_kind: str
) -> Sequence[Operation]:
    if action == "UPDATE":
        text = (
            (await request.body()).decode("utf-8-sig", "replace")
            if body_kind == sparql.UPDATE
            else sparql.one(fields, "update")
        )
        return await engine.writer.operations(text, *sparql.using(fields), sparql.base_of(request))
    base = sparql.one(fields, "baseURI").strip("<>") if sparql.has(fields, "baseURI") else None
    return await documents(request, contexts(fields), inserting=action == "ADD", base=base)
