"""Servers that take and give triples at `/statements`, as RDF4J and what came before it have it.

Source:
    RDF4J documentation, "The RDF4J REST API", section "Repository statements".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mrag.rdf.terms import to_ox
from mrag.stores.sparql import SparqlStore
from mrag.stores.wire.results import lines_of


class StatementsStore(SparqlStore):
    """A repository whose graphs are read and written by context at `paths.graphs`.

    Its arguments are those of `SparqlEndpoint`. One request is one transaction, and the path streams.
    """

    def _context(self, graph: str) -> Mapping[str, str]:
        """Return the parameters that name a graph."""
        return {"context": str(to_ox(graph))}

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        response = self.http.send(
            "GET",
            self._needed(self.paths.graphs, "its statements"),
            repeat=True,
            params={"infer": "false", **self._context(graph)},
            headers={"Accept": self.dialect.nt},
        )
        yield from lines_of(self.http.chunks(response), self.dialect.nt)

    def _post(self, graph: str, data: Any, media: str, *, bulk: bool = False) -> None:
        response = self.http.send(
            "POST",
            self._needed(self.paths.graphs, "its statements"),
            repeat=isinstance(data, bytes),
            params=self._context(graph),
            data=data,
            headers={"Content-Type": media},
            upload=bulk,
        )
        self.http.text(response)

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples."""
        address = self._needed(self.paths.graphs, "its statements")
        self.http.text(self.http.send("DELETE", address, repeat=True, params=self._context(graph)))
