"""The SPARQL 1.1 Protocol, Graph Store Protocol and Service Description, and their negotiation of formats."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

import pyoxigraph as ox
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record
from mrag.graph.updates import UpdateReport
from mrag.rdf.terms import RDF, XSD
from mrag.server.engine import Engine
from mrag.server.parsing import Fields, pairs
from mrag.server.queries import CheckedQuery, GraphView, QueryRequest, ResultStream
from mrag.server.settings import ServerSettings
from mrag.stores.base import Limits
from mrag.stores.process.parsing import Bounds, parts_of, perform
from mrag.stores.process.query_child import serialized

SD = "http://www.w3.org/ns/sparql-service-description#"
VOID = "http://rdfs.org/ns/void#"
FORMATS = "http://www.w3.org/ns/formats/"

_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_RDF = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD", "N-Quads", "TriG")


def description(kg: KnowledgeGraph, settings: ServerSettings, url: str, format: str) -> bytes:
    """Describe the endpoint in RDF."""
    service, dataset, graph = (ox.BlankNode(name) for name in ("service", "dataset", "graph"))
    found: list[ox.Triple] = []

    def say(subject: ox.BlankNode, predicate: str, value: Any) -> None:
        node = ox.NamedNode(value) if isinstance(value, str) else value
        found.append(ox.Triple(subject, ox.NamedNode(predicate), node))

    def count(number: int) -> ox.Literal:
        return ox.Literal(str(number), datatype=ox.NamedNode(XSD + "integer"))

    record = kg.record
    say(service, RDF + "type", SD + "Service")
    say(service, SD + "endpoint", url.partition("?")[0])
    say(service, SD + "supportedLanguage", SD + "SPARQL10Query")
    say(service, SD + "supportedLanguage", SD + "SPARQL11Query")
    if settings.update:
        say(service, SD + "supportedLanguage", SD + "SPARQL11Update")
    if settings.union:
        say(service, SD + "feature", SD + "UnionDefaultGraph")
    for name in (*_RESULTS, *_RDF):
        say(service, SD + "resultFormat", FORMATS + name)
    for name in _RDF if settings.update else ():
        say(service, SD + "inputFormat", FORMATS + name)
    say(service, SD + "defaultDataset", dataset)
    say(dataset, RDF + "type", SD + "Dataset")
    say(dataset, SD + "defaultGraph", graph)
    say(graph, RDF + "type", SD + "Graph")
    say(graph, VOID + "triples", count(record.triples))
    for number, name in enumerate(record.contexts):
        node = ox.BlankNode(f"named{number}")
        say(dataset, SD + "namedGraph", node)
        say(node, RDF + "type", SD + "NamedGraph")
        say(node, SD + "name", name)
    prefixes = {"sd": SD, "void": VOID, "formats": FORMATS} if format in ("turtle", "trig") else None
    return serialized(found, format, prefixes)


RESULTS: Mapping[str, str] = {
    "application/sparql-results+json": "json",
    "application/sparql-results+xml": "xml",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/x-sparqlstar-results+json": "json",
    "application/x-sparqlstar-results+tsv": "tsv",
    "text/x-tab-separated-values-star": "tsv",
}
"""Formats of the results of SELECT and ASK, best first; at the end, names that only RDF4J has for them."""

BOOLEANS: Mapping[str, str] = {**RESULTS, "text/boolean": "boolean"}
"""Formats of the results of ASK, best first."""

GRAPHS: Mapping[str, str] = {
    "text/turtle": "turtle",
    "application/n-triples": "ntriples",
    "application/ld+json": "jsonld",
    "application/rdf+xml": "rdfxml",
    "application/x-turtle": "turtle",
    "application/turtle": "turtle",
    "application/n-quads": "nquads",
    "application/trig": "trig",
    "text/n3": "n3",
    "text/plain": "ntriples",
    "application/json": "jsonld",
    "application/xml": "rdfxml",
    "application/rdf+json": "rdfjson",
    "text/rdf+n3": "n3",
    "text/x-nquads": "nquads",
    "application/x-trig": "trig",
    "application/x-turtlestar": "turtle",
    "application/x-trigstar": "trig",
}
"""Formats of triples, best first; at the end, names that only RDF4J has for them."""

QUADS: Mapping[str, str] = {
    "application/n-quads": "nquads",
    "application/trig": "trig",
    **GRAPHS,
}
"""Formats of statements, those with graph names first."""

_PARSED = {
    "application/x-turtle": "text/turtle",
    "application/turtle": "text/turtle",
    "text/plain": "application/n-triples",
    "text/x-nquads": "application/n-quads",
    "application/x-trig": "application/trig",
    "application/x-turtlestar": "text/turtle",
    "application/x-trigstar": "application/trig",
    "application/xml": "application/rdf+xml",
    "text/xml": "application/rdf+xml",
    "application/json": "application/ld+json",
}
_READ = tuple(media for media, name in QUADS.items() if name not in ("n3", "rdfjson"))


def choose(accept: str | None, offers: Mapping[str, str]) -> tuple[str, str]:
    """Return the media type and the format that a client likes best."""
    first = next(iter(offers.items()))
    if not accept or not accept.strip():
        return first
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best: tuple[float, int, int] | None = None
    found = first
    for place, (media, name) in enumerate(offers.items()):
        fits = [(_fit(pattern, media), q) for pattern, q in ranges]
        fitting = [(fit, q) for fit, q in fits if fit]
        if not fitting:
            continue
        # The most specific range decides (RFC 9110), then the client's weight, then our order.
        fit, q = max(fitting)
        if q > 0 and (best is None or (q, fit, -place) > best):
            best, found = (q, fit, -place), (media, name)
    if best is None:
        raise HTTPException(406, f"None of {accept[:200]} can be sent. There are: {', '.join(offers)}.")
    return found


def accepts(accept: str | None, media: str) -> bool:
    """Return whether an Accept header names a media type, wildcards left out."""
    return any(_range(part)[0] == media for part in (accept or "").split(","))


def content_type(header: str | None) -> str:
    """Return the media type of a Content-Type header, lower case and without parameters."""
    return (header or "").partition(";")[0].strip().lower()


def rdf_type(header: str | None) -> str:
    """Return the media type of an RDF body, under the name that the parser knows."""
    media = content_type(header)
    known = _PARSED.get(media, media)
    if known not in _READ:
        named = f"{media!r} is" if media else "The request names"
        raise HTTPException(415, f"{named} no RDF format that can be read. There are: {', '.join(_READ)}.")
    return known


def _range(part: str) -> tuple[str, float]:
    media, *parameters = (piece.strip() for piece in part.split(";"))
    weight = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                weight = min(max(float(value), 0.0), 1.0)
            except ValueError:
                weight = 0.0
    return media.lower(), weight


def _fit(pattern: str, media: str) -> int:
    if pattern == media:
        return 3
    kind, _, sub = pattern.partition("/")
    if sub == "*" and media.startswith(kind + "/"):
        return 2
    return 1 if pattern in ("*/*", "*") else 0


logger = logging.getLogger(__name__)

FORM = "application/x-www-form-urlencoded"
QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
_LARGE = 1 << 20  # forms of more bytes take too long to be read between other requests


class SparqlDocument(Response):
    """A document that is sent while it is being written.

    Whatever ends it too early ends the connection without its last chunk, so that a part never looks
    like the whole.
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
        return await _update_reply(request, fields, text)
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
    return await _update_reply(request, fields, text if kind == UPDATE else None)


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
    """Answer a query in the format that the client prefers."""
    engine: Engine = request.app.state.engine
    read = await engine.read(replace(asked, seconds=seconds))
    media, name = format_of(request, read)
    return SparqlDocument(await engine.answer(read, name), media)


def format_of(request: Request, read: CheckedQuery) -> tuple[str, str]:
    """Return the media type and the format of a query's answer."""
    offers = {"SelectQuery": RESULTS, "AskQuery": BOOLEANS}.get(read.query.form, GRAPHS)
    return choose(request.headers.get("accept"), offers)


async def _update_reply(request: Request, fields: Fields, text: str | None) -> Response:
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
    """Return the parameters of a request, the media type of its body, and the body where it is a text."""
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
    return cast(Fields, perform("mrag.server.parsing:pairs", body, bounds=bounds))


def has(fields: Fields, name: str) -> bool:
    """Return whether a parameter is given."""
    return any(key == name for key, _ in fields)


def many(fields: Fields, name: str) -> Sequence[str]:
    """Return all values of a parameter."""
    return [value for key, value in fields if key == name]


def one(fields: Fields, name: str, default: str | None = None) -> str:
    """Return the value of a parameter that must be given once; the same value twice is one."""
    found = list(dict.fromkeys(many(fields, name)))
    if not found and default is not None:
        return default
    if len(found) != 1:
        count = "missing" if not found else f"given {len(found)} times, with other values"
        raise HTTPException(400, f"The parameter `{name}` is {count}; it must be given once.")
    return found[0]


def using(fields: Fields) -> tuple[Sequence[str], Sequence[str]]:
    """Return the graphs that an update reads: `using-graph-uri` and `using-named-graph-uri`."""
    for name in ("insert-graph-uri", "remove-graph-uri"):
        if has(fields, name):
            raise HTTPException(400, f"`{name}` is not supported. Write GRAPH or WITH into the update.")
    return many(fields, "using-graph-uri"), many(fields, "using-named-graph-uri")


def base_of(request: Request) -> str:
    """Return what relative IRIs are relative to: the address of the endpoint."""
    return str(request.url).partition("?")[0]


def seconds_of(fields: Fields, engine: Engine) -> float | None:
    """Return the client's own deadline, from the parameter `timeout` in seconds."""
    given = many(fields, "timeout")
    if not given:
        return None
    try:
        seconds = float(given[0])
    except ValueError as error:
        raise HTTPException(400, "`timeout` is a number of seconds.") from error
    # RDF4J's clients send 0 for no deadline of their own.
    return min(seconds, engine.settings.seconds) if seconds > 0 else None


_WITH_GRAPHS = ("nquads", "trig")
_QUADS = ("application/n-quads", "application/trig", "text/x-nquads", "application/x-trig")


async def graph_store(request: Request) -> Response:
    """Handle `/graphs?default` and `/graphs?graph=IRI`; with neither it is the whole dataset."""
    fields = pairs(request.scope["query_string"])
    named = many(fields, "graph")
    if len(named) > 1 or (named and has(fields, "default")):
        raise HTTPException(400, "One graph at a time: `?default` or `?graph=IRI`.")
    if named and (":" not in named[0] or named[0].startswith("_:")):
        raise HTTPException(400, f"{named[0]!r} is not a whole IRI.")
    graphs: tuple[str | None, ...] = tuple(named) if named else (None,) if has(fields, "default") else ()
    kind = content_type(request.headers.get("content-type"))
    if request.method == "POST" and not graphs and kind not in _QUADS:
        return await _new_graph(request)
    return await on_graphs(request, graphs)


async def _new_graph(request: Request) -> Response:
    """Put a document into a graph with a new name (Graph Store Protocol, section 5.5)."""
    where = f"{str(request.base_url).rstrip('/')}/graphs/{uuid4().hex}"
    response = await on_graphs(request, (where,))
    response.headers["Location"] = where
    return response


async def named_graph(request: Request) -> Response:
    """Handle a graph whose IRI is the address itself (Graph Store Protocol, section 4.1)."""
    return await on_graphs(request, (str(request.url).partition("?")[0],))


async def on_graphs(request: Request, graphs: tuple[str | None, ...]) -> Response:
    """Read, replace, extend or remove a graph, None for the unnamed one; all of them if none is given."""
    engine: Engine = request.app.state.engine
    named = graphs[0] if graphs else None
    there = named is None or named in engine.view().contexts
    if request.method in ("GET", "HEAD"):
        if not there:
            raise HTTPException(404, f"There is no graph <{named}>.")
        return await statements(request, graphs, infer=False, named=not graphs)
    engine.writer.writable()
    if request.method == "DELETE":
        if not there:
            raise HTTPException(404, f"There is no graph <{named}>.")
        return done(await engine.writer.change([_clear(graphs)]))
    if request.method == "PUT":
        report = await engine.writer.change([_clear(graphs), *await documents(request, graphs)])
        return done(report, 204 if there else 201)
    return done(await engine.writer.change(await documents(request, graphs)), 204 if there else 201)


async def documents(
    request: Request, graphs: tuple[str | None, ...], *, inserting: bool = True, base: str | None = None
) -> list[tuple[Any, ...]]:
    """Return the operations that insert (or delete) the statements of a request's body."""
    engine: Engine = request.app.state.engine
    header = str(request.headers.get("content-type") or "")
    body = await request.body()
    parts = [(header, body)]
    if content_type(header) == "multipart/form-data":
        parts = await engine.writer.read(parts_of, body, header)
    relative_to = base or _base(request, graphs)
    return [("rdf", inserting, data, rdf_type(kind), relative_to, graphs) for kind, data in parts]


async def statements(
    request: Request,
    graphs: Sequence[str | None],
    *,
    infer: bool,
    pattern: Sequence[Any] = (None, None, None),
    named: bool = True,
) -> Response:
    """Send the statements of some graphs that match."""
    engine: Engine = request.app.state.engine
    media, name = choose(request.headers.get("accept"), GRAPHS if len(graphs) == 1 else QUADS)
    quads = named and name in _WITH_GRAPHS
    limits: Limits = engine.settings.limits

    def inside(record: Record | None = None) -> Mapping[str, str | None]:
        return _inside(engine.view(record), graphs, infer=infer, quads=quads)

    if engine.remote is not None:
        work = engine.remote.statements
        return SparqlDocument(
            await engine.elsewhere(limits, work, inside, pattern, name, limits, named=quads), media
        )

    def job(record: Record) -> dict[str, Any]:
        return {
            "do": "quads",
            "pattern": tuple(pattern),
            "graphs": inside(record),
            "named": quads,
            "format": name,
            "rows": limits.rows,
            "bytes": limits.bytes,
            "prefixes": engine.kg.prefixes if name in ("turtle", "trig", "rdfxml") else None,
        }

    return SparqlDocument(await engine.run(job, "", limits), media)


def _inside(
    view: GraphView, graphs: Sequence[str | None], *, infer: bool, quads: bool
) -> Mapping[str, str | None]:
    """Return the graphs to read, each with the name that clients know it by."""
    unnamed = [*view.unnamed, *(view.record.inferred if infer else ())]
    if not graphs:
        if not quads:
            return dict.fromkeys([*view.record.asserted, *(view.record.inferred if infer else ())])
        return {**dict.fromkeys(unnamed), **{g: g for g in view.contexts}}
    found: dict[str, str | None] = {}
    for graph in graphs:
        if graph is None:
            found.update(dict.fromkeys(unnamed))
        elif graph in view.contexts:
            found[graph] = graph
    return found


def _clear(graphs: tuple[str | None, ...]) -> tuple[Any, ...]:
    if not graphs:
        return "clear", "all"
    return ("clear", "default") if graphs[0] is None else ("clear", "graph", graphs[0])


def _base(request: Request, graphs: tuple[str | None, ...]) -> str:
    return next((g for g in graphs if g), str(request.url).partition("?")[0])
