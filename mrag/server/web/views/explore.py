"""Explore: classes, properties and named graphs; an entity's neighbourhood, its history, and paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Route

from mrag.server.web.neighbourhood import exists, neighbourhood, statement_json, triples
from mrag.server.web.validation import check_names, iri_value
from mrag.server.web.views.view import PageView

if TYPE_CHECKING:
    from mrag.context.neighbourhood import Statement
    from mrag.server.web.routes import Api

CLASSES = 500
"""Maximum number of classes, of properties, and of named graphs that are listed."""

_SHARE = 60
_READ = 1_500
_LONGEST = 6


def routes(api: Api) -> list[BaseRoute]:
    """Return the routes `/api/schema`, `/api/expand`, `/api/path` and `/api/history`."""
    view = ExploreView(api)
    works = {"schema": view.schema, "expand": view.expand, "path": view.path, "history": view.history}
    return [Route(f"/api/{name}", api.on_thread(work), methods=["GET"]) for name, work in works.items()]


class ExploreView(PageView):
    """Answers the requests of the view Explore beside search and entity."""

    def schema(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the classes with their counts and stated superclasses, the properties, and the graphs."""
        check_names(values)
        kept: dict[str, Any] = self.kg.cached("server/schema", self._schema)
        return kept

    def _schema(self) -> dict[str, Any]:
        from mrag.context.display import Display
        from mrag.rdf import queries
        from mrag.rdf.terms import OWL, RDF, RDFS, SKOLEM
        from mrag.stores.base import Limits

        display = Display(self.kg)
        limits = Limits(min(self.api.settings.seconds, 10.0), 20_000)
        alien = (OWL, RDFS, RDF, SKOLEM)
        rows: Any = self.kg.query(queries.get("explore/classes").text, limits=limits)
        counts = {str(c): int(str(n)) for c, n in rows if not str(c).startswith(alien)}
        above: dict[str, list[str]] = {}
        for one, other in self.kg.select(queries.get("explore/subclasses").text, "asserted"):
            if not str(one).startswith(alien) and not str(other).startswith(alien):
                above.setdefault(str(one), []).append(str(other))
        names = sorted({*counts, *above, *(c for cs in above.values() for c in cs)})
        shown = sorted(names, key=lambda c: (-counts.get(c, 0), c))[:CLASSES]
        found = self.kg.profile().predicates
        properties = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:CLASSES]
        display.prepare(shown)
        return {
            "classes": [
                {
                    "iri": c,
                    "label": display.entity(c),
                    "instances": counts.get(c, 0),
                    "above": [a for a in above.get(c, []) if a in set(shown)],
                }
                for c in shown
            ],
            "properties": [{"iri": p, "label": display.predicate(p), "triples": n} for p, n in properties],
            "graphs": sorted(self.kg.record.contexts)[:CLASSES],
            "more": max(len(names), len(found), len(self.kg.record.contexts)) > CLASSES,
        }

    def expand(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return the neighbourhood of an entity as nodes and edges."""
        check_names(values, "iri")
        name = str(iri_value(values, "iri", self.kg.prefixes))
        if not exists(self.kg, name):
            raise HTTPException(404, "The graph says nothing about this IRI.")
        return neighbourhood(self.kg, name, 1)

    def history(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return when the triples of an entity came into the graph, and by what, latest first."""
        from mrag.context.display import Display
        from mrag.server.web.history import origins

        check_names(values, "iri")
        name = str(iri_value(values, "iri", self.kg.prefixes))
        display = Display(self.kg)
        parts = [triples(self.kg, name, way, display) for way in ("out", "in")]
        found = origins(self.kg, list(dict.fromkeys(statement for some, _ in parts for statement in some)))
        if not found:
            raise HTTPException(404, "The graph says nothing about this IRI.")
        events = [
            {**asdict(one), "triples": [statement_json(self.kg, st, display) for st in statements]}
            for one, statements in found.items()
        ]
        return {"events": events, "more": sorted({name for _, shown in parts for name in shown["more"]})}

    def path(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Return a shortest path between two entities, links in either direction; classes are not crossed.

        The search reads at most 1,500 entities, and of a hub only some of its links.
        """
        from mrag.context.display import Display

        check_names(values, "from", "to")
        begin, end = (str(iri_value(values, part, self.kg.prefixes)) for part in ("from", "to"))
        for one in (begin, end):
            if not exists(self.kg, one):
                raise HTTPException(404, "The graph says nothing about this IRI.")
        steps, complete = self._between(begin, end)
        display = Display(self.kg)
        rows = None if steps is None else [statement_json(self.kg, step, display) for step in steps]
        return {"path": rows, "complete": complete}

    def _between(self, begin: str, end: str) -> tuple[list[Statement] | None, bool]:
        """Search from both ends in turn, the smaller side first."""
        if begin == end:
            return [], True
        came: tuple[dict[str, Statement | None], ...] = ({begin: None}, {end: None})
        edge: list[list[str]] = [[begin], [end]]
        read, complete = 0, True
        for _ in range(_LONGEST):
            side = 0 if len(edge[0]) <= len(edge[1]) else 1
            after: list[str] = []
            for node in edge[side]:
                if (read := read + 1) > _READ:
                    return None, False
                for other, statement, whole in self._links(node):
                    complete = complete and whole
                    if other in came[side]:
                        continue
                    came[side][other] = statement
                    if other in came[1 - side]:
                        return [*reversed(_back(came[0], other)), *_back(came[1], other)], complete
                    after.append(other)
            edge[side] = sorted(after)
            if not after:
                return None, complete
        return None, False

    def _links(self, node: str) -> Iterator[tuple[str, Statement, bool]]:
        import pyoxigraph as ox

        from mrag.context.neighbourhood import read
        from mrag.rdf.terms import OWL, RDF, RDFS

        for way in ("out", "in"):
            edges = read(self.kg, node, "out" if way == "out" else "in", scan=400, share=_SHARE)
            for statement in sorted(edges.statements, key=lambda s: (s[0], s[1], str(s[2]))):
                s, p, o, _ = statement
                if p.startswith((RDF, RDFS, OWL)) or not isinstance(o, ox.NamedNode):
                    continue
                yield (o.value if way == "out" else s), statement, not edges.cut


def _back(came: Mapping[str, Statement | None], node: str) -> list[Statement]:
    """Return the links from a node back to where the search began."""
    found: list[Statement] = []
    while (step := came[node]) is not None:
        found.append(step)
        s, o = step[0], str(step[2].value)
        node = s if o == node else o
    return found
