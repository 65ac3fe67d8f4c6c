"""An entity in a notebook: its triples in both directions, and a click on a neighbour goes there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyoxigraph as ox

from mrag import html
from mrag.context.display import Display
from mrag.context.neighbourhood import Direction, read
from mrag.errors import ConfigError
from mrag.graph.record import status_of
from mrag.rdf.terms import SKOLEM, curie, iri
from mrag.widgets.view import NotebookView, text_of

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

_SCAN, _SHARE = 400, 40


class EntityView(NotebookView):
    """An entity and its neighbours.

    Args:
        kg: The knowledge graph.
        start: IRI or CURIE of the entity.

    Raises:
        ConfigError: If the graph says nothing about it.
    """

    kind = "entity"

    def __init__(self, kg: KnowledgeGraph, start: str) -> None:
        super().__init__()
        self.kg = kg
        self.value |= self.changed({"iri": start})

    def changed(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Go to the entity `iri`."""
        name = str(iri(text_of(asked, "iri"), self.kg.prefixes))
        display = Display(self.kg)
        out, into = self._rows(name, "out", display), self._rows(name, "in", display)
        if not out and not into:
            raise ConfigError("The graph says nothing about this IRI.", term=name)
        been = [*self.value.get("been", []), {"iri": name, "label": display.entity(name)}]
        return {
            "iri": name,
            "name": curie(name, self.kg.prefixes),
            "label": display.entity(name),
            "out": out,
            "in": into,
            "been": been[-20:],
        }

    def _rows(self, name: str, direction: Direction, display: Display) -> list[dict[str, Any]]:
        edges = read(self.kg, name, direction, scan=_SCAN, share=_SHARE).statements
        rows = []
        for s, p, o, graph in edges:
            end = s if direction == "in" else o.value if isinstance(o, ox.NamedNode) else ""
            other = display.entity(s) if direction == "in" else display.term(o, 400)
            rows.append(
                {
                    "predicate": display.predicate(p),
                    "other": other,
                    "iri": "" if end.startswith(SKOLEM) else end,
                    "status": status_of(graph, inferred=self.kg.is_inferred(graph)),
                }
            )
        return sorted(rows, key=lambda row: (row["predicate"], row["other"], row["iri"], row["status"]))

    def _repr_html_(self) -> str:
        def table(rows: list[dict[str, Any]], caption: str) -> object:
            shown = [(row["predicate"], row["other"], html.badge(row["status"])) for row in rows]
            return html.table(("property", "entity or value", ""), shown, caption=caption) if rows else ""

        head = html.tag("p", html.tag("b", self.value["label"]), " ", html.tag("code", self.value["name"]))
        out, into = self.value["out"], self.value["in"]
        return html.join([head, table(out, "What the graph says of it"), table(into, "What points to it")])


def explore(kg: KnowledgeGraph, start: str) -> EntityView:
    """Show an entity in a notebook, from which a person can walk on.

    Args:
        kg: The knowledge graph.
        start: IRI or CURIE of the entity.

    Raises:
        ConfigError: If the graph says nothing about it.

    Example:
        >>> import mrag
        >>> with mrag.demo(model="none") as kg:
        ...     view = explore(kg, "ex:GraphDB")
        ...     vendor = next(row for row in view.value["out"] if row["predicate"] == "developed by")
        ...     view.act({"iri": vendor["iri"]})["label"]
        'Ontotext'
    """
    return EntityView(kg, start)
