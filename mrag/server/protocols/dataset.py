"""The graphs that a request's query sees (SPARQL 1.1 Protocol, section 2.1.4)."""

from __future__ import annotations

from dataclasses import dataclass

from mrag.graph.record import Record
from mrag.graph.updates import NIL
from mrag.rdf.guard import EXPLICIT, IMPLICIT, PROVENANCE
from mrag.server.queries import CheckedQuery
from mrag.stores.base import Dataset
from mrag.stores.changes import RESERVED

_IGNORED = frozenset({"http://www.ontotext.com/disable-sameAs"})


@dataclass(frozen=True)
class GraphView:
    """The graphs of a knowledge graph as clients see them.

    Attributes:
        record: Describes the state that is meant.
        contexts: The named graphs of the clients.
        union: Whether the default graph holds the triples of named graphs too.
        as_found: Whether the data is a server's own, so that its graphs are named as they are there.
        beside: Graphs of where its triples come from, which a query sees if it names them together.
        all_graphs: Name of the union of the named graphs on such a server; empty if it has none.
    """

    record: Record
    contexts: tuple[str, ...]
    union: bool = True
    as_found: bool = False
    all_graphs: str = ""
    beside: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[str, ...]:
        """Return the graphs that a query may name."""
        record = self.record
        return (*record.asserted, *record.inferred, *self.contexts, *NIL, *sorted(_IGNORED))

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Return the graphs of what clients assert in no graph of their own."""
        return tuple(g for g in self.record.asserted if g not in (self.record.merged, self.all_graphs))

    def default(self, infer: bool = True) -> tuple[str, ...]:
        """Return the graphs of the default graph.

        Args:
            infer: Whether inferred triples count.
        """
        asserted = self.record.asserted if self.union else self.unnamed
        return (*asserted, *(self.record.inferred if infer else ()))

    @property
    def named(self) -> tuple[str, ...]:
        """Return the graphs that `GRAPH` can reach; empty where the server's own are not narrowed."""
        return () if self.as_found else self.contexts

    def may_read(self, graph: str) -> bool:
        """Return whether a query may name a graph, by the name that it has in the store."""
        if graph in self.known:
            return True
        return self.as_found and not graph.startswith(RESERVED)


def dataset_of(read: CheckedQuery, view: GraphView) -> Dataset:
    """Return the graphs that a query sees.

    The protocol's graphs come before those of the query. A graph that is not there is an empty one; nothing
    is fetched from the web.

    Args:
        read: A query that has passed the read gate.
        view: The graphs that there are.
    """
    asked, record = read.asked, view.record
    default, named = read.query.graphs, read.query.named
    if asked.default or asked.named:
        default, named = asked.default, asked.named
    default = tuple(g for g in default if g not in _IGNORED)
    if not default and not named:
        return Dataset(view.default(asked.infer), view.named)
    found: list[str] = []
    layers = {EXPLICIT: record.asserted, IMPLICIT: record.inferred}
    layers[PROVENANCE] = (*record.asserted, *record.inferred, *view.beside)
    for graph in default:
        if graph in layers:
            found += layers[graph]
        elif graph in NIL:
            found += view.unnamed
        elif view.may_read(graph):
            found.append(graph)
    named = tuple(g for g in named if view.may_read(g))
    pseudo = bool(default) and all(g in (EXPLICIT, IMPLICIT, *NIL) for g in default)
    return Dataset(tuple(dict.fromkeys(found)), view.named if pseudo and not named else named)
