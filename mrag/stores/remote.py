"""What an update changes in a store that is a server, worked out here from what the update touches.

Only the triples that may change are asked for, many at a time, and written in one request at the end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import islice
from typing import Any, cast

import pyoxigraph as ox
from rdflib import Literal

from mrag.errors import QueryRefused
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT
from mrag.rdf.patterns import Construct, Group, TriplePattern, to_sparql, var
from mrag.rdf.terms import from_ox, to_ox
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.changes import NIL, Changes, Layout, Refused, Wanted
from mrag.stores.oxigraph import OxigraphStore
from mrag.stores.process.channel import timeout
from mrag.stores.sparql import SparqlStore

_BYTES = 1 << 30
_NOTHING = "urn:mrag:nothing"
_COPIED = 200_000  # Triples that may be copied for an update


class RemoteChanges(Changes):
    """Changes of a knowledge graph's triples in a store that is a server, kept apart from it."""

    def __init__(self, store: SparqlStore, layout: Layout, *, until: float) -> None:
        self._server = store
        self._deadline = until
        # Holds those of the triples looked up that are there, each in its graphs.
        self._known = ox.Store()
        self._looked_up: set[ox.Triple] = set()
        super().__init__(self._known, layout, until=until)

    def kept(self, t: ox.Triple) -> ox.Triple:
        """Return a triple as it is; what a server makes of numbers is its own affair."""
        return t

    def expect(self, triples: Iterable[ox.Triple]) -> None:
        """Look up in which graphs triples are."""
        new = iter(dict.fromkeys(t for t in triples if t not in self._looked_up))
        while part := list(islice(new, self._server.dialect.values)):
            rows = [
                (Literal(n), from_ox(t.subject), from_ox(t.predicate), from_ox(t.object))
                for n, t in enumerate(part)
            ]
            graphs = self._graphs()
            text = queries.get("kg/present").bind(n_s_p_o=cast(Any, rows))
            counts = list(self._rows(text, Dataset((), tuple(g for g in graphs if g != NIL[0]))))
            if NIL[0] in graphs:  # which no GRAPH shows
                text = queries.get("kg/present-unnamed").bind(n_s_p_o=cast(Any, rows))
                counts += ((NIL[0], number) for (number,) in self._rows(text, Dataset((NIL[0],))))
            for graph, number in counts:
                t = part[int(str(number))]
                self._known.add(ox.Quad(t.subject, t.predicate, t.object, ox.NamedNode(str(graph))))
            self._looked_up.update(part)

    def triples(self, graph: str | None, wanted: Wanted = (None, None, None)) -> list[ox.Triple]:
        """Return the asserted triples of a named graph, or of the unnamed one, that match a pattern."""
        nodes = [var(name) if w is None else w for name, w in zip("spo", wanted, strict=True)]
        one = TriplePattern(*nodes)
        names = self._base if graph is None else (graph,)
        there = [name for name in names if self._exists(name)]
        triples: dict[ox.Triple, None] = {}
        if there:
            text = to_sparql(Construct((one,), Group((one,))))
            for s, p, o in self._bound(text, Dataset(tuple(there))):
                triples[ox.Triple(cast(Any, to_ox(s)), cast(Any, to_ox(p)), to_ox(o))] = None
        self.expect(triples)
        for name in names:
            triples.update(dict.fromkeys(self._of(name, wanted)))
        return [t for t in triples if any(self._has(t, name) for name in names)]

    def solutions(self, query: str, default: Iterable[str], named: Iterable[str]) -> list[dict[str, Any]]:
        """Answer a SELECT query on the server, which knows of no change of this update yet."""
        there, named = tuple(g for g in default if self._exists(g)), tuple(named)
        if IMPLICIT in self.layout.inferred and self.layout.merged in there:
            # What GraphDB infers is in sight only beside all that it has.
            there = (EXPLICIT, *(g for g in there if g == IMPLICIT))
            named = (*self._base, *named)
        result = cast(SelectResult, self._bound(query, Dataset(there or (_NOTHING,), named)))
        return [
            {v: None if t is None else to_ox(t) for v, t in zip(result.variables, row, strict=True)}
            for row in result
        ]

    def _rows(self, text: str, dataset: Dataset) -> Iterator[Any]:
        return iter(cast(SelectResult, self._bound(text, dataset)))

    def _bound(self, text: str, dataset: Dataset) -> Any:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise timeout("")
        try:
            return self._server.bounded(text, dataset, Limits(left, self.layout.max_changes, _BYTES))
        except QueryRefused as error:
            if error.message.startswith("The result is larger"):
                raise Refused(f"The update changes more than {self.layout.max_changes} triples.") from error
            raise

    def _graphs(self) -> tuple[str, ...]:
        layout = self.layout
        inferred = () if IMPLICIT in layout.inferred else layout.inferred
        return tuple(
            dict.fromkeys((*layout.asserted, layout.target, layout.merged, *inferred, *self._contexts))
        )

    def _exists(self, graph: str) -> bool:
        layout = self.layout
        return graph in (*layout.asserted, layout.merged, *layout.contexts, *layout.inferred)

    def _any(self, graph: str) -> bool:
        changed = [there for q, there in self._log.items() if q.graph_name == self._node(graph)]
        if any(changed):
            return True
        if graph not in self.layout.contexts:
            return False
        # A named graph that is listed holds something, unless this update has taken all of it.
        return not changed or self._server.count(graph) > len(changed)


@contextmanager
def copy_graphs(store: SparqlStore, layout: Layout) -> Iterator[OxigraphStore]:
    """Copy a knowledge graph into memory, for an update whose operations read what others have changed."""
    graphs = dict.fromkeys((*layout.asserted, *layout.inferred, *layout.contexts, layout.merged))
    count = sum(store.count(graph) for graph in graphs)
    if count > _COPIED:
        raise QueryRefused(
            "A WHERE clause comes after another operation of the same request. The server does not know of "
            f"its changes yet, and {count:,} triples are too many to work them out on a copy.",
            hint="Send the operations as requests of their own.",
        )
    with OxigraphStore() as copy:
        for graph in graphs:
            written = BytesIO()
            store.dump(graph, written)
            copy.insert(written.getvalue(), graph)
        if IMPLICIT in layout.inferred:
            # GraphDB keeps no graph of what only named graphs assert.
            every = TriplePattern(var("s"), var("p"), var("o"))
            copy.derive(Construct((every,), Group((every,))), Dataset(layout.contexts), layout.merged)
            doubles = [(layout.merged, graph, layout.merged) for graph in layout.asserted]
            copy.update(queries.get("update/remove-doubles").bind(scanned_probed_graph=doubles))
        yield copy
