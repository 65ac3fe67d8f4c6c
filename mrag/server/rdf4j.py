"""The RDF4J REST protocol, as far as clients of a repository use it, and its transactions.

Nothing is locked until then, so two transactions at once see each other's effect only when one has been
committed. Reading inside a transaction is answered from the state before it, and refused once it has
changed something, because its own changes would be missing.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pyoxigraph as ox
from rdflib import Literal, URIRef
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

import mrag
from mrag._tables import tables
from mrag.rdf.terms import DEFAULT_PREFIXES, Term, from_ox
from mrag.server import sparql
from mrag.server.engine import Engine
from mrag.server.parsing import pairs
from mrag.server.protect import json_object
from mrag.server.queries import QueryRequest, plain_term, table
from mrag.server.sparql import (
    RESULTS,
    Fields,
    accepts,
    choose,
    content_type,
    documents,
    one,
    query_fields,
    statements,
)
from mrag.stores.changes import Operation

PROTOCOL = "12"  # version of RDF4J's protocol; clients ask for at least this
OFFERED = "10.8.0"  # version of GraphDB whose calls are offered; clients compare it with what they need
_MOST = 64  # transactions that may be open
_SECONDS = 60.0
_BODIES = 4  # all open ones may hold this many times the largest body
_LATER = {"Retry-After": "10"}
_MOST_JSON = 1 << 20
_CONFIG = "https://www.openrdf.org/config/repository#"
_SAID = tables("server/graphdb.toml")


def always(make: Callable[[], Response]) -> Callable[[Request, Engine], Awaitable[Response]]:
    """Return what handles a request that is always answered in the same way."""

    async def handle(_request: Request, _engine: Engine) -> Response:
        return make()

    return handle


def _version() -> Response:
    about = {"productType": "mrag", "productVersion": OFFERED}
    return JSONResponse({**about, "implementation": f"mrag {mrag.__version__}"})


protocol = always(lambda: PlainTextResponse(PROTOCOL))
version = always(_version)
free_access = always(lambda: JSONResponse({"enabled": False, "authorities": [], "appSettings": {}}))


async def list_repositories(request: Request, engine: Engine) -> Response:
    """Handle `/repositories`: the one repository, as a table."""
    url = f"{str(request.url).partition('?')[0].rstrip('/')}/{engine.kg.name}"
    about = _entry(request, engine)
    rest = ("id", "title", "readable", "writable")
    return _table(request, ("uri", *rest), [(URIRef(url), *(Literal(about[name]) for name in rest))])


async def query(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}`: queries, with values for variables (`$name=term`)."""
    fields, kind, text = await sparql.read_fields(request, engine)
    if kind == sparql.UPDATE or ("query" not in fields and "update" in fields):
        raise HTTPException(400, f"Updates are sent to /repositories/{engine.kg.name}/statements.")
    asked = request_of(request, fields, text if kind == sparql.QUERY else None)
    return await sparql.respond(request, engine, asked, fields)


def request_of(request: Request, fields: Fields, text: str | None = None) -> QueryRequest:
    """Return the query that a request's parameters describe."""
    if one(fields, "queryLn", "sparql").lower() != "sparql":
        raise HTTPException(400, "Queries are in SPARQL.")
    return QueryRequest(
        text if text is not None else one(fields, "query"), tuple(fields.getlist("default-graph-uri")),
        tuple(fields.getlist("named-graph-uri")), infer=_flag(fields, "infer", True), values=_values(fields),
        base=_base(fields) or sparql.base_of(request), limit=_number(fields, "limit"),
        offset=_number(fields, "offset") or 0, distinct=_flag(fields, "distinct", False),
    )  # fmt: skip


def _number(fields: Fields, name: str) -> int | None:
    """Return a number of solutions; None if it is not given, or is negative, as RDF4J reads it."""
    if name not in fields:
        return None
    text = one(fields, name).strip()
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise HTTPException(400, f"The parameter `{name}` is no whole number.")
    return None if text.startswith("-") else int(text)


async def on_statements(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/statements`: read, add, replace and remove statements, and update."""
    kind = content_type(request.headers.get("content-type"))
    if request.method == "POST" and kind in (sparql.FORM, sparql.UPDATE):
        return await _update(request, engine)
    fields = query_fields(request)
    graphs, pattern = contexts(fields), pattern_of(fields)
    if request.method in ("GET", "HEAD"):
        return await statements(request, engine, graphs, infer=_flag(fields, "infer", True), pattern=pattern)
    operations: list[Operation] = []
    if request.method == "DELETE":
        operations.append(("match", *map(_tuple, pattern), graphs))
    elif request.method == "PUT":
        operations.append(("match", None, None, None, graphs))
    if request.method != "DELETE":
        operations += await documents(request, engine, graphs, base=_base(fields))
    return sparql.acknowledge(await engine.writer.change(operations))


async def _update(request: Request, engine: Engine) -> Response:
    fields, _, text = await sparql.read_fields(request, engine)
    if any(key.startswith("$") for key in fields):
        raise HTTPException(400, "Updates take no values for variables. Put them into VALUES.")
    operations = await sparql.operations_of(request, engine, fields, text)
    return sparql.acknowledge(await engine.writer.change(operations, sparql.seconds_of(fields, engine)))


async def repository_size(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/size`: how many statements have been asserted."""
    return PlainTextResponse(str(await count(engine, contexts(query_fields(request)))))


async def count(engine: Engine, graphs: Sequence[str | None] = ()) -> int:
    """Count the asserted statements of some graphs, None for the unnamed one, or of all."""
    view, store = engine.view(), engine.kg.store
    if not graphs:
        if not view.contexts or view.as_found:
            return view.record.triples
        graphs = (None, *view.contexts)
    names = [n for g in graphs for n in (view.unnamed if g is None else [g] if g in view.contexts else [])]
    return await asyncio.to_thread(lambda: sum(store.count(name) for name in names))


async def on_contexts(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/contexts`: the clients' named graphs."""
    return _table(request, ("contextID",), [(URIRef(g),) for g in engine.view().contexts])


async def namespaces(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/namespaces`: list the prefixes, or forget the repository's own."""
    if request.method == "DELETE":
        await engine.writer.set_prefixes({})
        return Response(status_code=204)
    rows = [(Literal(p), Literal(n)) for p, n in sorted(engine.kg.prefixes.items())]
    return _table(request, ("prefix", "namespace"), rows)


async def namespace(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/namespaces/{prefix}`."""
    prefix = request.path_params["prefix"]
    if request.method in ("GET", "HEAD"):
        iri = engine.kg.prefixes.get(prefix)
        if iri is None:
            raise HTTPException(404, f"There is no prefix {prefix[:100]!r}.")
        return PlainTextResponse(iri)
    own: dict[str, str] = json.loads(engine.kg.record.prefixes or "{}")
    if prefix in DEFAULT_PREFIXES:
        raise HTTPException(403, f"The prefix {prefix!r} is well known and stays as it is.")
    if request.method == "DELETE":
        own.pop(prefix, None)
    else:
        try:
            own[prefix] = ox.NamedNode((await request.body()).decode("utf-8").strip()).value
        except (ValueError, UnicodeDecodeError) as error:
            raise HTTPException(400, "A namespace is an IRI, sent as plain text.") from error
        if not prefix.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise HTTPException(400, f"{prefix[:100]!r} cannot be a prefix.")
    await engine.writer.set_prefixes(own)
    return Response(status_code=204)


async def health(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/health`."""
    status = "green" if await engine.alive() else "red"
    return JSONResponse({"name": engine.kg.name, "status": status, "components": []})


def contexts(fields: Fields) -> tuple[str | None, ...]:
    """Return the graphs that the parameters `context` name, None for the unnamed one (`null`)."""
    graphs: list[str | None] = []
    for value in fields.getlist("context"):
        several = value.startswith("<") and ">,<" in value.replace(" ", "")
        for given in map(str.strip, value.split(",") if several else [value]):
            term = None if given in ("null", "") else parse_term(given)
            if term is not None and not isinstance(term, ox.NamedNode):
                raise HTTPException(400, f"{given[:200]!r} is not the IRI of a graph.")
            graphs.append(None if term is None else term.value)
    return tuple(dict.fromkeys(graphs))


def parse_term(text: str) -> ox.NamedNode | ox.Literal | ox.BlankNode:
    """Read a term as N-Triples writes it; an IRI may come without its angle brackets."""
    written = text.strip()
    if ":" in written and written[0] not in '<"_':
        written = f"<{written}>"
    try:
        (quad,) = ox.parse(f"<urn:s> <urn:p> {written} .".encode(), ox.RdfFormat.N_TRIPLES)
        if isinstance(quad.object, ox.Triple):
            raise ValueError
    except (SyntaxError, ValueError) as error:
        raise HTTPException(400, f"{text[:200]!r} is no RDF term as N-Triples writes it.") from error
    return cast("ox.NamedNode | ox.Literal | ox.BlankNode", quad.object)


def pattern_of(fields: Fields) -> tuple[Any, ...]:
    """Return subject, predicate and object that the parameters ask for, taken apart; None for any."""
    names = ("subj", "pred", "obj")
    return tuple(plain_term(from_ox(parse_term(one(fields, n)))) if n in fields else None for n in names)


def _tuple(term: Any) -> tuple[str, ...] | None:
    if term is None:
        return None
    kind, text, language, datatype = term
    return ("l", text, language or "", datatype or "") if kind == "l" else (kind, text)


def _values(fields: Fields) -> dict[str, Term]:
    terms: dict[str, Term] = {}
    for key, value in fields.multi_items():
        if key.startswith("$") and len(key) > 1:
            term = from_ox(parse_term(value))
            if not isinstance(term, URIRef | Literal):
                raise HTTPException(
                    400, f"The value of {key[:100]} is a blank node, which names nothing here."
                )
            terms[key[1:]] = term
    return terms


def _flag(fields: Fields, name: str, default: bool) -> bool:
    return one(fields, name).lower() in ("true", "1", "") if name in fields else default


def _base(fields: Fields) -> str | None:
    return one(fields, "baseURI").strip("<>") if "baseURI" in fields else None


def _table(request: Request, variables: Sequence[str], rows: Sequence[Sequence[Term]]) -> Response:
    media, name = choose(request.headers.get("accept"), RESULTS)
    return Response(table(variables, rows, name), 200, None, media)


@dataclass
class _Transaction:
    """What waits for a commit."""

    used: float  # when, by the monotonic clock
    size: int = 0  # bytes of the bodies that it came in
    operations: list[Operation] = field(default_factory=list)


class Transactions:
    """The transactions of a server; one that is left alone for a minute is forgotten."""

    def __init__(self) -> None:
        self._open: dict[str, _Transaction] = {}

    def begin(self) -> str:
        """Begin one, and return its name."""
        self._forget()
        if len(self._open) >= _MOST:
            raise HTTPException(503, "Too many transactions are open.", _LATER)
        name = uuid.uuid4().hex
        self._open[name] = _Transaction(time.monotonic())
        return name

    def of(self, name: str) -> _Transaction:
        """Return one, which is thereby in use."""
        self._forget()
        if name not in self._open:
            raise HTTPException(
                404, "There is no such transaction; it may have been left alone for too long."
            )
        self._open[name].used = time.monotonic()
        return self._open[name]

    def room(self, name: str, size: int, most: int) -> _Transaction:
        """Return one that takes so many bytes more."""
        transaction = self.of(name)
        if transaction.size + size > most:
            raise HTTPException(413, f"The transaction is larger than {most} bytes.")
        if sum(one.size for one in self._open.values()) + size > _BODIES * most:
            raise HTTPException(503, "The open transactions hold too much already.", _LATER)
        transaction.size += size
        return transaction

    def end(self, name: str) -> list[Operation]:
        """Take one out, and return its operations; whoever comes second finds none."""
        transaction = self.of(name)
        del self._open[name]
        return transaction.operations

    def _forget(self) -> None:
        now = time.monotonic()
        self._open = {name: one for name, one in self._open.items() if now - one.used <= _SECONDS}


async def begin(request: Request, engine: Engine) -> Response:
    """Handle POST to `/repositories/{id}/transactions`."""
    name = request.app.state.transactions.begin()
    where = f"{str(request.url).partition('?')[0].rstrip('/')}/{name}"
    return Response(status_code=201, headers={"Location": where})


async def on_transaction(request: Request, engine: Engine) -> Response:
    """Handle `/repositories/{id}/transactions/{transaction}`."""
    open_ones: Transactions = request.app.state.transactions
    name = request.path_params["transaction"]
    if request.method == "DELETE":
        open_ones.end(name)
        return Response(status_code=204)
    fields = query_fields(request)
    body, kind = await request.body(), content_type(request.headers.get("content-type"))
    if kind == sparql.FORM:
        fields = Fields([*fields.multi_items(), *pairs(body)])
    action, size = one(fields, "action").upper(), open_ones.of(name).size
    match action:
        case "PING":
            return PlainTextResponse("", 200)
        case "ROLLBACK":
            open_ones.end(name)
            return Response(status_code=204)
        case "COMMIT":
            operations: Sequence[Operation] = open_ones.end(name)
            return (
                sparql.acknowledge(await engine.writer.change(operations), 200) if operations else Response()
            )
        case "ADD" | "DELETE" | "UPDATE":
            transaction = open_ones.room(name, len(body), engine.settings.max_body)
            if action == "UPDATE":
                text = body.decode("utf-8-sig", "replace") if kind == sparql.UPDATE else None
                operations = await sparql.operations_of(request, engine, fields, text)
            else:
                graphs, adding = contexts(fields), action == "ADD"
                operations = await documents(request, engine, graphs, inserting=adding, base=_base(fields))
            transaction.operations += operations
            return Response(status_code=200)
    if size:
        raise HTTPException(
            400, "This transaction has changed something, and cannot be read from until it is committed."
        )
    match action:
        case "QUERY":
            text = body.decode("utf-8-sig", "replace") if kind == sparql.QUERY else None
            return await sparql.respond(request, engine, request_of(request, fields, text), fields)
        case "SIZE":
            return PlainTextResponse(str(await count(engine, contexts(fields))))
        case "GET":
            infer, pattern = one(fields, "infer", "true").lower() != "false", pattern_of(fields)
            return await statements(request, engine, contexts(fields), infer=infer, pattern=pattern)
    raise HTTPException(400, f"There is no action {action[:50]!r}.")


async def repositories(request: Request, engine: Engine) -> Response:
    """Handle `/rest/repositories`."""
    return JSONResponse([_entry(request, engine)])


async def one_repository(request: Request, engine: Engine) -> Response:
    """Handle `/rest/repositories/{id}`: its settings, as JSON or Turtle."""
    if accepts(request.headers.get("accept"), "text/turtle"):
        return Response(_config(engine), 200, None, "text/turtle")
    settings = {
        "ruleset": ("Ruleset", "owl2-rl" if engine.kg.record.inferred else "empty"),
        "enableFtsIndex": ("Enable full-text search index", "false"),
        "readOnly": ("Read-only", "false" if engine.settings.update else "true"),
        "queryTimeout": ("Query timeout", str(int(engine.settings.seconds))),
    }
    parameters = {n: {"name": n, "label": label, "value": value} for n, (label, value) in settings.items()}
    entry = _entry(request, engine)
    body = {name: entry[name] for name in ("id", "title", "type", "sesameType", "location")}
    return JSONResponse({**body, "params": parameters})


async def download(request: Request, engine: Engine) -> Response:
    """Handle `/rest/repositories/{id}/download-ttl`: the settings as a file."""
    name = {"Content-Disposition": f'attachment; filename="{engine.kg.name}-config.ttl"'}
    return Response(_config(engine), 200, name, "text/turtle")


async def size(request: Request, engine: Engine) -> Response:
    """Handle `/rest/repositories/{id}/size`."""
    record, store = engine.kg.record, engine.kg.store
    inferred = await asyncio.to_thread(lambda: sum(store.count(g) for g in record.inferred))
    explicit = record.triples
    return JSONResponse({"inferred": inferred, "total": inferred + explicit, "explicit": explicit})


async def security(_request: Request, engine: Engine) -> Response:
    """Handle `/rest/security`: whether a token is needed."""
    return JSONResponse(engine.settings.token is not None)


async def login(request: Request, engine: Engine) -> Response:
    """Handle `/rest/login`: the token, sent as the password, comes back as GraphDB's own kind of token.

    Older clients send the name in the address and the password in a header (`/rest/login/NAME`).
    """
    given: dict[str, Any] = dict(request.path_params)
    if given:
        given["password"] = request.headers.get("x-graphdb-password")
    else:
        given = await json_object(request, _MOST_JSON)
    token = engine.settings.token
    password = given.get("password")
    if token is not None and not hmac.compare_digest(str(password).encode(), token.encode()):
        raise HTTPException(401, "The password is the server's token.")
    body = _user(engine, str(given.get("username", "")))
    return JSONResponse(body, headers={"Authorization": f"GDB {token or 'none'}"})


async def user(_request: Request, engine: Engine) -> Response:
    """Handle `/rest/security/authenticated-user`: what whoever came in with the token may do."""
    return JSONResponse(_user(engine, "user"))


async def similarity(request: Request, engine: Engine) -> Response:
    """Handle `/rest/similarity`: list, create, rebuild and delete similarity indexes."""
    wanted = request.headers.get("x-graphdb-repository")
    if wanted and wanted != engine.kg.name:
        raise HTTPException(404, f"There is no repository {wanted[:100]!r}.")
    indexes = mrag.SimilarityIndexes.of(engine.kg)
    if request.method in ("GET", "HEAD"):
        infos = await asyncio.to_thread(lambda: [_index(indexes.info(name)) for name in indexes.names()])
        return JSONResponse(infos)
    if request.method == "DELETE":
        name = one(query_fields(request), "name")
        await asyncio.to_thread(indexes.delete, name)
        return Response(status_code=200)
    given = await json_object(request, _MOST_JSON)
    name = str(given.get("name", ""))
    if given.get("type", "text") not in ("text", "textLiteral"):
        raise HTTPException(400, "Only text indexes can be built here.")
    await engine.writer.build_index(name, str(given.get("selectQuery") or ""), again=request.method == "PUT")
    return Response(status_code=201 if request.method == "POST" else 200)


def _index(info: Any) -> dict[str, Any]:
    about = info.definition
    query = "" if about is None else about.select or ", ".join(about.queries)
    fields = {"name": info.name, "documents": info.documents, "embedder": info.embedder, "selectQuery": query}
    return {**_SAID["index"], **fields, "status": "OUTDATED" if info.stale else "BUILT"}


def _entry(request: Request, engine: Engine) -> dict[str, Any]:
    name = engine.kg.name
    url = f"{str(request.base_url).rstrip('/')}/repositories/{name}"
    fields = {"id": name, "title": f"mrag: {name}", "uri": url, "externalUrl": url}
    return {**_SAID["repository"], **fields, "writable": engine.settings.update}


def _user(engine: Engine, name: str) -> dict[str, Any]:
    roles = ["ROLE_USER", *([f"WRITE_REPO_{engine.kg.name}"] if engine.settings.update else [])]
    return {**_SAID["user"], "username": name, "authorities": [*roles, f"READ_REPO_{engine.kg.name}"]}


def _config(engine: Engine) -> bytes:
    node, name = ox.BlankNode("repository"), engine.kg.name
    rows: list[tuple[str, Any]] = [
        ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", ox.NamedNode(_CONFIG + "Repository")),
        (_CONFIG + "repositoryID", ox.Literal(name)),
        ("http://www.w3.org/2000/01/rdf-schema#label", ox.Literal(f"mrag: {name}")),
    ]
    triples = [ox.Triple(node, ox.NamedNode(p), o) for p, o in rows]
    return ox.serialize(triples, format=ox.RdfFormat.TURTLE, prefixes={"rep": _CONFIG}) or b""
