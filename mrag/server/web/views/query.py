"""Query: saved queries, what a query asks the engine to do, and what an update would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from mrag.errors import QueryRefused, StoreError
from mrag.graph.record import SYSTEM
from mrag.server.web.validation import PageView, check_names, guarded, reply, text_value

if TYPE_CHECKING:
    import pyoxigraph as ox

    from mrag.context.display import Display
    from mrag.graph.updates import PlannedUpdate
    from mrag.rdf.terms import OxTerm
    from mrag.server.engine import Engine
    from mrag.server.parsing import Operator
    from mrag.server.web.routes import Api

LONGEST = 50_000
"""Maximum number of characters of a query that is saved, or of an update that is previewed."""

SHOWN = 200
"""Maximum number of added, and of removed, triples that a preview shows."""


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
        from mrag.server.web.views.saved_queries import saved_queries

        check_names(values)
        found = [one.to_json() for one in saved_queries(self.kg)]
        return {"queries": found, "writable": self.api.settings.update}

    async def save(self, request: Request) -> Response:
        """Save a query under a name."""
        engine, values = await self.change(request, "name", "text", "comment", "replacing")
        name, text = text_value(values, "name", 100), text_value(values, "text", LONGEST)
        comment = text_value(values, "comment", 1_000) if values.get("comment") else ""

        def work() -> dict[str, Any]:
            from mrag.server.web.views.saved_queries import save_query

            return save_query(
                self.kg, name, text, comment, replacing=values.get("replacing") is True
            ).to_json()

        return reply(await engine.writer.make(work), 201)

    async def remove(self, request: Request) -> Response:
        """Remove a saved query."""
        engine, values = await self.change(request, "name")
        name = text_value(values, "name", 100)

        def work() -> bool:
            from mrag.server.web.views.saved_queries import remove_query

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
