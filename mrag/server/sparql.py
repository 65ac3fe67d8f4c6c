"""The SPARQL 1.1 Protocol, Graph Store Protocol and Service Description, and their negotiation of formats."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

import pyoxigraph as ox
from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mrag._tables import tables
from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record
from mrag.graph.updates import UpdateReport
from mrag.rdf.terms import RDF, XSD
from mrag.server.engine import Engine
from mrag.server.parsing import pairs
from mrag.server.queries import WITH_PREFIXES, GraphView, QueryRequest, ResultStream
from mrag.server.settings import ServerSettings
from mrag.stores.base import Limits
from mrag.stores.process.parsing import parts_of, perform
from mrag.stores.process.query_child import serialize_rdf

logger = logging.getLogger(__name__)

Fields: TypeAlias = ImmutableMultiDict[str, str]

FORM = "application/x-www-form-urlencoded"
QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
_LARGE = 1 << 20  # forms of more bytes take too long to be read between other requests
SD = "http://www.w3.org/ns/sparql-service-description#"
VOID = "http://rdfs.org/ns/void#"
FORMATS = "http://www.w3.org/ns/formats/"
_RESULTS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_RDF = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD", "N-Quads", "TriG")


def description(kg: KnowledgeGraph, settings: ServerSettings, url: str, format: str) -> bytes:
    """Describe the endpoint in RDF."""
    service, dataset, graph = (ox.BlankNode(name) for name in ("service", "dataset", "graph"))
    languages = ["SPARQL10Query", "SPARQL11Query", *(["SPARQL11Update"] if settings.update else [])]
    number = ox.Literal(str(kg.record.triples), datatype=ox.NamedNode(XSD + "integer"))
    facts: list[tuple[ox.BlankNode, str, Any]] = [
        (service, RDF + "type", SD + "Service"),
        (service, SD + "endpoint", url.partition("?")[0]),
        *((service, SD + "supportedLanguage", SD + name) for name in languages),
        *((service, SD + "feature", SD + name) for name in ["UnionDefaultGraph"] * settings.union),
        *((service, SD + "resultFormat", FORMATS + name) for name in (*_RESULTS, *_RDF)),
        *((service, SD + "inputFormat", FORMATS + name) for name in (_RDF if settings.update else ())),
        (service, SD + "defaultDataset", dataset),
        (dataset, RDF + "type", SD + "Dataset"),
        (dataset, SD + "defaultGraph", graph),
        (graph, RDF + "type", SD + "Graph"),
        (graph, VOID + "triples", number),
    ]
    for at, name in enumerate(kg.record.contexts):
        node = ox.BlankNode(f"named{at}")
        facts += [(dataset, SD + "namedGraph", node), (node, RDF + "type", SD + "NamedGraph")]
        facts.append((node, SD + "name", name))
    triples = [
        ox.Triple(s, ox.NamedNode(p), ox.NamedNode(o) if isinstance(o, str) else o) for s, p, o in facts
    ]
    prefixes = {"sd": SD, "void": VOID, "formats": FORMATS} if format in ("turtle", "trig") else None
    return serialize_rdf(triples, format, prefixes)


_FORMATS: Mapping[str, Mapping[str, str]] = tables("server/formats.toml")
RESULTS, GRAPHS = _FORMATS["results"], _FORMATS["graphs"]
BOOLEANS: Mapping[str, str] = {**RESULTS, "text/boolean": "boolean"}
QUADS: Mapping[str, str] = {"application/n-quads": "nquads", "application/trig": "trig", **GRAPHS}
"""Formats of statements, those with graph names first."""

_READ = {m: name for m, name in {**QUADS, "text/xml": "rdfxml"}.items() if name not in ("n3", "rdfjson")}
_PARSED = {name: media for media, name in reversed(_READ.items())}  # what the parser calls each format
_WITH_GRAPHS = ("nquads", "trig")


def choose(accept: str | None, offers: Mapping[str, str]) -> tuple[str, str]:
    """Return the media type and the format that a client likes best; 406 if it accepts none of them."""
    if not accept or not accept.strip():
        return next(iter(offers.items()))
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    accepted: list[tuple[float, int, int, str]] = []
    for place, media in enumerate(offers):
        # The most specific range decides (RFC 9110), then the client's weight, then our order.
        fit, q = max(((_fit(pattern, media), q) for pattern, q in ranges), default=(0, 0.0))
        if fit and q > 0:
            accepted.append((q, fit, -place, media))
    if not accepted:
        raise HTTPException(406, f"None of {accept[:200]} can be sent. There are: {', '.join(offers)}.")
    media = max(accepted)[-1]
    return media, offers[media]


def accepts(accept: str | None, media: str) -> bool:
    """Return whether an Accept header names a media type, wildcards left out."""
    return any(_range(part)[0] == media for part in (accept or "").split(","))


def content_type(header: str | None) -> str:
    """Return the media type of a Content-Type header, lower case and without parameters."""
    return (header or "").partition(";")[0].strip().lower()


def rdf_type(header: str | None) -> str:
    """Return the media type of an RDF body, under the name that the parser knows; 415 if there is none."""
    media = content_type(header)
    if media not in _READ:
        named = f"{media!r} is" if media else "The request names"
        raise HTTPException(415, f"{named} no RDF format that can be read. There are: {', '.join(_READ)}.")
    return _PARSED[_READ[media]]


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


class SparqlDocument(Response):
    """A document that is sent while it is being written.

    Whatever ends it too early ends the connection without its last chunk, so that a part never looks
    like the whole.
    """

    def __init__(self, answer: ResultStream, media: str) -> None:
        super().__init__(b"" if answer.rest else answer.first, 200, None, media)
        self._answer = answer
        if answer.rest is not None:
            del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        rest = self._answer.rest
        if rest is None:
            await super().__call__(scope, receive, send)
            return
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                await send({"type": "http.response.body", "body": self._answer.first, "more_body": True})
                async for piece in rest:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except MragError as error:
            logger.warning("An answer broke off after its beginning had been sent: %s", error)
        finally:
            await rest.aclose()


async def query_or_update(request: Request, engine: Engine) -> Response:
    """Handle `/sparql`: queries, updates where allowed, and the service description."""
    fields, kind, text = await read_fields(request, engine)
    if kind == UPDATE or (kind == FORM and "update" in fields and "query" not in fields):
        return await update_reply(request, engine, fields, text)
    if kind != QUERY and "query" not in fields and request.method in ("GET", "HEAD"):
        if fields:
            raise HTTPException(400, "There is no query. Send it as the parameter `query`.")
        media, name = choose(request.headers.get("accept"), GRAPHS)
        return Response(description(engine.kg, engine.settings, str(request.url), name), 200, None, media)
    body = text if kind == QUERY else None
    if body is not None and any(given != body for given in fields.getlist("query")):
        raise HTTPException(400, "The query is given twice, as the body and as a parameter.")
    default, named = (tuple(fields.getlist(f"{name}-graph-uri")) for name in ("default", "named"))
    asked = QueryRequest(
        one(fields, "query") if body is None else body, default, named, base=base_of(request)
    )
    return await respond(request, engine, asked, fields)


async def update(request: Request, engine: Engine) -> Response:
    """Handle `/update`."""
    if request.method != "POST":
        raise HTTPException(405, "Updates are sent by POST.", {"Allow": "POST, OPTIONS"})
    fields, kind, text = await read_fields(request, engine)
    return await update_reply(request, engine, fields, text if kind == UPDATE else None)


async def respond(request: Request, engine: Engine, asked: QueryRequest, fields: Fields) -> Response:
    """Answer a query, within the client's own deadline, in the format that it prefers."""
    read = await engine.read(replace(asked, seconds=seconds_of(fields, engine)))
    offers = {"SelectQuery": RESULTS, "AskQuery": BOOLEANS}.get(read.query.form, GRAPHS)
    media, name = choose(request.headers.get("accept"), offers)
    return SparqlDocument(await engine.answer(read, name), media)


async def update_reply(request: Request, engine: Engine, fields: Fields, text: str | None) -> Response:
    """Carry out an update, the body or a parameter."""
    engine.writer.writable()
    if text is not None and "update" in fields:
        raise HTTPException(400, "The update is given twice, as the body and as a parameter.")
    operations = await operations_of(request, engine, fields, text)
    return acknowledge(await engine.writer.change(operations, seconds_of(fields, engine)))


async def operations_of(request: Request, engine: Engine, fields: Fields, text: str | None) -> Sequence[Any]:
    """Read an update, and the graphs that it is to read: `using-graph-uri` and `using-named-graph-uri`."""
    for name in ("insert-graph-uri", "remove-graph-uri"):
        # RDF4J's, which would have it write to other graphs than it says.
        if name in fields:
            raise HTTPException(400, f"`{name}` is not supported. Write GRAPH or WITH into the update.")
    default, named = fields.getlist("using-graph-uri"), fields.getlist("using-named-graph-uri")
    text = one(fields, "update") if text is None else text
    return await engine.writer.operations(text, default, named, base_of(request))


def acknowledge(report: UpdateReport, status: int = 204) -> Response:
    """Return the response to an update, with what it did in its headers."""
    names = ("added", "removed", "inferred")
    headers = {f"MRAG-{name.title()}": str(getattr(report, name)) for name in names}
    return Response(status_code=status, headers=headers)


def query_fields(request: Request) -> Fields:
    """Return the parameters of a request's address."""
    return ImmutableMultiDict(pairs(request.scope["query_string"]))


async def read_fields(request: Request, engine: Engine) -> tuple[Fields, str, str | None]:
    """Return the parameters of a request, the media type of its body, and the body where it is a text."""
    fields = query_fields(request)
    if request.method in ("GET", "HEAD", "DELETE"):
        return fields, "", None
    kind = content_type(request.headers.get("content-type"))
    if kind not in (FORM, QUERY, UPDATE):
        given = f"not {kind}" if kind else "and its Content-Type says which"
        raise HTTPException(415, f"A body is {FORM}, {QUERY} or {UPDATE}, {given}.")
    body = await request.body()
    if kind == FORM:
        more = (
            pairs(body)
            if len(body) <= _LARGE
            else await engine.writer.read(
                lambda large, bounds: perform("mrag.server.parsing:pairs", large, bounds=bounds), body
            )
        )
        return ImmutableMultiDict([*fields.multi_items(), *more]), kind, None
    try:
        return fields, kind, body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"The body is not UTF-8: {error.reason}.") from error


def one(fields: Fields, name: str, default: str | None = None) -> str:
    """Return the value of a parameter that must be given once; the same value twice is one."""
    values = list(dict.fromkeys(fields.getlist(name)))
    if not values and default is not None:
        return default
    if len(values) != 1:
        count = "missing" if not values else f"given {len(values)} times, with other values"
        raise HTTPException(400, f"The parameter `{name}` is {count}; it must be given once.")
    return values[0]


def base_of(request: Request) -> str:
    """Return what relative IRIs are relative to: the address of the endpoint."""
    return str(request.url).partition("?")[0]


def seconds_of(fields: Fields, engine: Engine) -> float | None:
    """Return the client's own deadline, from the parameter `timeout` in seconds."""
    given = fields.getlist("timeout")
    if not given:
        return None
    try:
        seconds = float(given[0])
    except ValueError as error:
        raise HTTPException(400, "`timeout` is a number of seconds.") from error
    # RDF4J's clients send 0 for no deadline of their own.
    return min(seconds, engine.settings.seconds) if seconds > 0 else None


async def graph_store(request: Request, engine: Engine) -> Response:
    """Handle `/graphs?default` and `/graphs?graph=IRI`; with neither it is the whole dataset."""
    fields = query_fields(request)
    named = fields.getlist("graph")
    if len(named) > 1 or (named and "default" in fields):
        raise HTTPException(400, "One graph at a time: `?default` or `?graph=IRI`.")
    if named and (":" not in named[0] or named[0].startswith("_:")):
        raise HTTPException(400, f"{named[0]!r} is not a whole IRI.")
    graphs: tuple[str | None, ...] = tuple(named) if named else (None,) if "default" in fields else ()
    kind = content_type(request.headers.get("content-type"))
    if request.method == "POST" and not graphs and QUADS.get(kind) not in _WITH_GRAPHS:
        # A document becomes a graph with a new name (Graph Store Protocol, section 5.5).
        where = f"{str(request.base_url).rstrip('/')}/graphs/{uuid4().hex}"
        response = await on_graphs(request, engine, (where,))
        response.headers["Location"] = where
        return response
    return await on_graphs(request, engine, graphs)


async def named_graph(request: Request, engine: Engine) -> Response:
    """Handle a graph whose IRI is the address itself (Graph Store Protocol, section 4.1)."""
    return await on_graphs(request, engine, (base_of(request),))


async def on_graphs(request: Request, engine: Engine, graphs: tuple[str | None, ...]) -> Response:
    """Read, replace, extend or remove a graph, None for the unnamed one; all of them if none is given."""
    named, method = graphs[0] if graphs else None, request.method
    there = named is None or named in engine.view().contexts
    if not there and method in ("GET", "HEAD", "DELETE"):
        raise HTTPException(404, f"There is no graph <{named}>.")
    if method in ("GET", "HEAD"):
        return await statements(request, engine, graphs, infer=False, named=not graphs)
    operations: list[tuple[Any, ...]] = []
    if method in ("PUT", "DELETE"):
        what = ("all",) if not graphs else ("default",) if named is None else ("graph", named)
        operations.append(("clear", *what))
    if method != "DELETE":
        operations += await documents(request, engine, graphs)
    return acknowledge(await engine.writer.change(operations), 204 if there else 201)


async def documents(
    request: Request,
    engine: Engine,
    graphs: tuple[str | None, ...],
    *,
    inserting: bool = True,
    base: str | None = None,
) -> list[tuple[Any, ...]]:
    """Return the operations that insert (or delete) the statements of a request's body.

    A form of several parts holds a document in each. Without `graphs` they go where the documents say.
    """
    header = str(request.headers.get("content-type") or "")
    body = await request.body()
    parts = [(header, body)]
    if content_type(header) == "multipart/form-data":
        parts = await engine.writer.read(parts_of, body, header)
    relative_to = base or next((graph for graph in graphs if graph), base_of(request))
    return [("rdf", inserting, data, rdf_type(kind), relative_to, graphs) for kind, data in parts]


async def statements(
    request: Request,
    engine: Engine,
    graphs: Sequence[str | None],
    *,
    infer: bool,
    pattern: Sequence[Any] = (None, None, None),
    named: bool = True,
) -> Response:
    """Send the statements of some graphs, or of all, that match a pattern of terms, taken apart.

    Inferred triples count as of the unnamed graph; with `named`, formats that can say the graph of each.
    """
    media, name = choose(request.headers.get("accept"), GRAPHS if len(graphs) == 1 else QUADS)
    quads = named and name in _WITH_GRAPHS
    limits: Limits = engine.settings.limits

    def inside(record: Record | None = None) -> Mapping[str, str | None]:
        return _inside(engine.view(record), graphs, infer=infer, quads=quads)

    if engine.remote is not None:
        work = partial(engine.remote.statements, inside, pattern, name, limits, named=quads)
        return SparqlDocument(await engine.elsewhere(limits, work), media)

    def job(record: Record) -> dict[str, Any]:
        return {
            "do": "quads",
            "pattern": tuple(pattern),
            "graphs": inside(record),
            "named": quads,
            "format": name,
            "rows": limits.rows,
            "bytes": limits.bytes,
            "prefixes": engine.kg.prefixes if name in WITH_PREFIXES else None,
        }

    return SparqlDocument(await engine.run(job, "", limits), media)


def _inside(
    view: GraphView, graphs: Sequence[str | None], *, infer: bool, quads: bool
) -> Mapping[str, str | None]:
    """Return the graphs to read, each with the name that clients know it by."""
    inferred = view.record.inferred if infer else ()
    unnamed = dict.fromkeys([*view.unnamed, *inferred])
    if not graphs and not quads:
        return dict.fromkeys([*view.record.asserted, *inferred])
    formats: dict[str, str | None] = {}
    for graph in graphs or (None, *view.contexts):
        if graph is None:
            formats.update(unnamed)
        elif graph in view.contexts:
            formats[graph] = graph
    return formats
