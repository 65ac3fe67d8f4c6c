"""Queries for the page: what one asks the engine to do, what an update would change, and saved queries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from rdflib import DCTERMS, PROV, RDF, RDFS, XSD, Literal, URIRef
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import ConfigError, QueryRefused, StoreError
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import SYSTEM
from mrag.rdf import queries
from mrag.rdf.terms import MRAG, Triple
from mrag.server.web.validation import PageView, check_names, guarded, reply, text_value
from mrag.stores.base import Dataset

if TYPE_CHECKING:
    import pyoxigraph as ox

    from mrag.context.display import Display
    from mrag.graph.updates import PlannedUpdate
    from mrag.rdf.terms import OxTerm
    from mrag.server.engine import Engine
    from mrag.server.parsing import Operator
    from mrag.server.web.routes import Api

LONGEST = 50_000  # maximum number of characters of a query that is saved, or of an update that is previewed

SHOWN = 200  # maximum number of added, and of removed, triples that a preview shows


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes below `/api/saved`, `/api/preview` and `/api/operators`."""
    view, token = QueryView(api), api.settings.token
    return [
        Route("/api/saved", api.on_thread(view.saved), methods=["GET"]),
        Route("/api/saved", guarded(view.save, token), methods=["POST"]),
        Route("/api/saved/remove", guarded(view.remove, token), methods=["POST"]),
        Route("/api/preview", guarded(view.preview, token), methods=["POST"]),
        Route("/api/operators", guarded(view.operators, token), methods=["POST"]),
    ]


class QueryView(PageView):
    """Answers the requests of the view Query beside those of the SPARQL endpoint."""

    def saved(self, values: Mapping[str, str]) -> dict[str, Any]:
        """List the queries that were saved, and whether more can be."""
        check_names(values)
        found = [one.to_json() for one in saved_queries(self.kg)]
        return {"queries": found, "writable": self.api.settings.update}

    async def save(self, request: Request) -> Response:
        """Save a query under a name."""
        engine, values = await self.change(request, "name", "text", "comment", "replacing")
        name, text = text_value(values, "name", 100), text_value(values, "text", LONGEST)
        comment = text_value(values, "comment", 1_000) if values.get("comment") else ""

        def work() -> dict[str, Any]:

            return save_query(
                self.kg, name, text, comment, replacing=values.get("replacing") is True
            ).to_json()

        return reply(await engine.writer.make(work), 201)

    async def remove(self, request: Request) -> Response:
        """Remove a saved query."""
        engine, values = await self.change(request, "name")
        name = text_value(values, "name", 100)

        def work() -> bool:

            return remove_query(self.kg, name)

        return reply({"removed": await engine.writer.make(work)})

    async def operators(self, request: Request) -> Response:
        """Say what a query asks the engine to do, and the engine's own plan where it gives one."""
        engine: Engine = request.app.state.engine
        query = text_value(await self.body(request, "query"), "query", LONGEST)
        seen = (*engine.view().known, SYSTEM)
        asked: dict[str, object] = {
            "do": "operators",
            "text": query,
            "graphs": seen,
            "prefixes": self.kg.query_prefixes,
        }
        kind, *found = await engine.parsers.parse(asked)
        if kind == "refused":
            raise QueryRefused(str(found[0]), hint=found[1])
        tree, text = found
        return reply(await self.api.run(self.api.readers, lambda: self._explained(tree, text)))

    def _explained(self, tree: Operator, text: str) -> dict[str, Any]:
        from mrag.server.parsing import predicates
        from mrag.stores.graphdb import GraphDBStore

        known = self.kg.profile().predicates
        for pattern in predicates(tree):
            pattern["triples"] = known.get(pattern["predicate"], 0)
        store, plan = self.kg.store, None
        if isinstance(store, GraphDBStore) and tree["operator"] not in ("ask", "construct", "describe"):
            with suppress(StoreError):  # the operators are there in any case
                plan = store.plan(text, self.api.settings.limits)
        return {"operators": tree, "plan": plan}

    async def preview(self, request: Request) -> Response:
        """Say what an update would add and remove, and change nothing."""
        engine, values = await self.change(request, "update")
        planned = await engine.writer.plan(
            await engine.writer.operations(text_value(values, "update", LONGEST))
        )
        return reply(await self.api.run(self.api.readers, lambda: self._planned(planned)))

    def _planned(self, planned: PlannedUpdate) -> dict[str, Any]:
        from mrag.context.display import Display
        from mrag.graph.updates import graph_of

        display, contexts = Display(self.kg), set(self.kg.record.contexts)
        if planned.record is not None:
            contexts |= set(planned.record.contexts)
        hidden = {*self.kg.record.inferred, self.kg.record.merged}
        if planned.record is not None:
            hidden.add(planned.record.merged)

        def shown(quads: Sequence[ox.Quad]) -> list[dict[str, Any]]:
            seen = [quad for quad in quads if graph_of(quad) not in hidden]
            rows = [_row(quad, contexts, display) for quad in seen[:SHOWN]]
            return sorted(rows, key=lambda row: (*row["labels"], row["graph"] or ""))

        report = planned.report
        return {
            "added": report.added,
            "removed": report.removed,
            "inferred": report.inferred,
            "revision": self.kg.revision,
            "adds": shown(planned.added),
            "removes": shown(planned.removed),
        }


def _row(quad: ox.Quad, contexts: set[str], display: Display) -> dict[str, Any]:
    from mrag.graph.updates import graph_of
    from mrag.rdf.terms import from_ox, term_to_json

    s, p, o = (from_ox(term) for term in (quad.subject, quad.predicate, quad.object))
    graph, end = graph_of(quad), cast("OxTerm", quad.object)
    return {
        "triple": {"s": term_to_json(s), "p": term_to_json(p), "o": term_to_json(o)},
        "labels": [display.entity(str(s)), display.predicate(str(p)), display.term(end, 2_000)],
        "graph": graph if graph in contexts else None,
    }


SAVED: Final = "urn:mrag:query:"  # start of the IRIs of saved queries

MOST_SAVED: Final = 1_000  # maximum number of queries that are kept with one graph

_NAME = re.compile(r"[^\W_][\w \-]*\Z")
_HIDDEN: Final = URIRef(MRAG + "verbatim")
_SAVED: Final = URIRef(MRAG + "sparql")
_TEXT: Final = URIRef(MRAG + "queryText")
_CACHED: Final = "saved queries"


@dataclass(frozen=True)
class SavedQuery:
    """A query that was saved under a name."""

    name: str  # its name
    text: str  # the query as it was written; a variable that is spelt `$name` is a parameter
    comment: str = ""  # what it is for; may be empty
    saved: str = ""  # when, as xsd:dateTime writes it

    @property
    def iri(self) -> str:
        """Return its IRI."""
        return SAVED + "-".join(self.name.split())

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"name": self.name, "text": self.text, "comment": self.comment, "saved": self.saved}


def saved_queries(kg: KnowledgeGraph) -> list[SavedQuery]:
    """Return the saved queries of a graph, in order of name.

    They are read once for each state of the graph, and again when one is saved or removed here.
    """
    return kg.cached(_CACHED, lambda: sorted(_read(kg), key=lambda one: (one.name.casefold(), one.iri)))


def save_query(
    kg: KnowledgeGraph, name: str, text: str, comment: str = "", *, replacing: bool = False
) -> SavedQuery:
    """Save a query under a name; its text is kept as it is, and judged each time it is run."""
    if not _NAME.match(name):
        raise ConfigError(f"{name!r} cannot name a query.", hint="Use letters, digits, spaces and -.")
    kg.require_writable()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = SavedQuery(" ".join(name.split()), text, comment, now)
    there = saved_queries(kg)
    before = [one for one in there if one.iri == made.iri]
    if before and not replacing:
        raise ConfigError("Another query is saved under this name.", term=made.name, hint="Choose another.")
    if not before and len(there) >= MOST_SAVED:
        raise ConfigError(f"At most {MOST_SAVED} queries are kept.", hint="Remove some first.")
    _change(kg, before, [made])
    return made


def remove_query(kg: KnowledgeGraph, name: str) -> bool:
    """Remove a saved query, and return whether there was one of this name."""
    kg.require_writable()
    wanted = SavedQuery(name, "").iri
    found = [one for one in saved_queries(kg) if one.iri == wanted]
    if found:
        _change(kg, found, [])
    return bool(found)


def _graph(kg: KnowledgeGraph) -> str:
    """Return the IRI of the graph of saved queries, which no question is answered from."""
    return kg.server_graph("queries") if kg.store.capabilities.reasoning else f"urn:mrag:queries:{kg.name}"


def _triples(kg: KnowledgeGraph, query: SavedQuery) -> Iterator[Triple]:
    node = URIRef(query.iri)
    yield Triple(node, RDF.type, URIRef(MRAG + "SavedQuery"))
    yield Triple(node, RDFS.label, Literal(query.name, datatype=_HIDDEN))
    yield Triple(node, _TEXT, Literal(query.text, datatype=_SAVED))
    if query.comment:
        yield Triple(node, RDFS.comment, Literal(query.comment, datatype=_HIDDEN))
    yield Triple(node, DCTERMS.isPartOf, URIRef(kg.iri))
    yield Triple(node, PROV.generatedAtTime, Literal(query.saved, datatype=XSD.dateTime, normalize=False))


def _read(kg: KnowledgeGraph) -> Iterator[SavedQuery]:
    text = queries.get("explore/saved-queries").bind(kg=[kg.iri])
    try:
        rows = list(kg.store.select(text, Dataset((_graph(kg),))))
    except StoreError:
        return  # a store that cannot tell can still be asked
    for _, name, query, comment, saved in rows:
        yield SavedQuery(str(name), str(query), "" if comment is None else str(comment), str(saved))


def _change(kg: KnowledgeGraph, out: Sequence[SavedQuery], into: Sequence[SavedQuery]) -> None:
    """Take queries out of their graph and put others in, in one transaction."""
    graph = URIRef(_graph(kg))
    old, new = ([(graph, *triple) for one in some for triple in _triples(kg, one)] for some in (out, into))
    kg.store.update(kg.changes([quad for quad in old if quad not in new], new))
    if kg.store.capabilities.reasoning:
        kg.recount()
    kg.cache.pop(_CACHED, None)
