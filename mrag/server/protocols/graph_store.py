"""The SPARQL 1.1 Graph Store HTTP Protocol, and the reading of statements that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mrag.graph.record import Record
from mrag.server.engine import Engine
from mrag.server.protocols.dataset import GraphView
from mrag.server.protocols.forms import pairs
from mrag.server.protocols.negotiate import GRAPHS, QUADS, choose, content_type, rdf_type
from mrag.server.protocols.sparql import SparqlDocument, done, has, many
from mrag.stores.base import Limits
from mrag.stores.process.parsing import parts_of

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
    """Return the operations that insert (or delete) the statements of a request's body.

    Args:
        request: The request; a form of several parts holds a document in each.
        graphs: Graphs to put them into; those that the documents name if empty.
        inserting: Whether they are inserted.
        base: What relative IRIs are relative to.

    Raises:
        HTTPException: 415 if a document is in no RDF format that can be read.
    """
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
    """Send the statements of some graphs that match.

    Args:
        request: The request.
        graphs: Their names, None for the unnamed one; all if empty.
        infer: Whether inferred triples count, as of the unnamed graph.
        pattern: Subject, predicate and object, taken apart, or None for any.
        named: Whether formats that have graphs say the graph of each.
    """
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
