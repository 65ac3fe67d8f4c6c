"""Any endpoint that speaks the SPARQL 1.1 Protocol, and what the servers with a dialect of their own share.

What differs from server to server stands in a `Dialect`; what a server does by other calls is overridden
in its module. An answer that is not whole is an error, however the server hides it.
"""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any

import pyoxigraph as ox

from mrag import errors
from mrag.loaders.checks import LoadNotes
from mrag.loaders.rdf import Progress, Source
from mrag.rdf import queries
from mrag.rdf.patterns import Construct, to_insert
from mrag.rdf.terms import Triple
from mrag.stores.base import Dataset, Limits, SelectResult, StoreLayers
from mrag.stores.endpoint import DEFAULT, JSON_RESULTS, SparqlEndpoint
from mrag.stores.process.parsing import PART, by_graph, serialised
from mrag.stores.wire.results import lines_of
from mrag.stores.wire.sending import send_parts, send_stream
from mrag.stores.wire.verbatim import NotVerbatim, may_be_verbatim, verbatim

logger = logging.getLogger(__name__)

SCRATCH = "urn:mrag:scratch:"
OWN = "urn:mrag:"
_OLD_SCRATCH = 3600.0


class SparqlStore(SparqlEndpoint):
    """A store behind the SPARQL 1.1 Protocol; its arguments are those of `SparqlEndpoint`."""

    # -- reading -----------------------------------------------------------------------------------

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query of any form within its limits.

        Args:
            query: A query that the read gate has let through.
            dataset: The graphs it sees.
            limits: Its caps. The server is told the seconds where it understands that; the connection is
                closed at the deadline in any case.
            extra: N-Triples for its sight alone: they are put into a graph of their own for as long as it
                runs, which takes the right to write.

        Raises:
            QueryTimeout: At the deadline.
            QueryRefused: If the result is larger than the caps, or the server rejects the query.
            EndpointError: If the answer is not whole.
        """
        if not extra:
            return self._bounded(query, dataset, limits)
        if DEFAULT in dataset.default:
            raise errors.QueryRefused(
                "Similarity searches inside a query need to know the store's graphs.",
                query=query,
                hint="Name them when connecting: graphs=[…], or ?graph=IRI in the URL.",
            )
        scratch = f"{SCRATCH}{int(time.time())}:{uuid.uuid4().hex}"
        self.insert(extra, scratch)
        try:
            return self._bounded(query, Dataset((*dataset.default, scratch), dataset.named), limits)
        finally:
            self.clear(scratch)

    def edges(
        self, graph: str, *, s: str | None = None, p: str | None = None, o: str | None = None
    ) -> Iterator[ox.Quad]:
        """Not offered; neighbours are read by queries (see `capabilities.edges`)."""
        raise errors.StoreError("A remote store gives no edges without a query.", endpoint=self.url)

    def count(self, graph: str) -> int:
        """Count the triples of a graph."""
        rows = self.select(queries.get("explore/size").text, Dataset((graph,), ())).rows
        return int(str(rows[0][0]))

    def graphs(self) -> list[str]:
        """List the named graphs in order of name, scratch graphs and those of the server left out."""
        name = "explore/graph-names" if self.dialect.empty_pattern else "explore/graphs"
        rows = self.select(queries.get(name).text, Dataset())
        left_out = (SCRATCH, *self.dialect.system_graphs)
        return sorted({str(g) for g in rows.column("g") if g is not None and not str(g).startswith(left_out)})

    def layers(self) -> StoreLayers | None:
        """Return the graphs of data that is in the store already, None if it is empty.

        Graphs that mrag wrote are not among them, nor what shows them: the union of all graphs.
        """
        graphs = self.graphs()
        named = tuple(g for g in graphs if not g.startswith(OWN))
        own = len(named) < len(graphs)
        unnamed = self._unnamed(own)
        if unnamed and named and not self.dialect.unnamed:
            logger.info("the default graph is read; named graphs are left out unless they are named")
            named = ()
        elif named and not own and self.dialect.union:
            # One name instead of very many.
            return StoreLayers((str(self.dialect.unnamed), self.dialect.union))
        found = (*unnamed, *named)
        return StoreLayers(found) if found else None

    def _unnamed(self, own: bool) -> tuple[str, ...]:
        """Return what names the triples outside of named graphs, if there are any."""
        name = self.dialect.unnamed
        if name is None or not self.ask(queries.get("explore/any").text, Dataset((name or DEFAULT,))):
            return ()
        if not name and own and self.ask(queries.get("explore/graph-merged").text, Dataset((DEFAULT,))):
            return ()
        return (name or DEFAULT,)

    # -- writing -----------------------------------------------------------------------------------

    def update(self, query: str) -> None:
        """Carry out an update, whole or not at all."""
        response = self.http.send(
            "POST",
            self._needed(self.paths.update, "updates"),
            repeat=False,
            data=query.encode(),
            headers={"Content-Type": "application/sparql-update"},
            query=query,
        )
        self.http.text(response)

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put what a CONSTRUCT pattern gives into the graph `into`, on the server."""
        self.update(to_insert(query, into, dataset.default, dataset.named))

    def insert(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to a graph, whole or not at all."""
        self._post(graph, ntriples, self.dialect.nt)

    def bulk_load(
        self,
        sources: Sequence[Source],
        graph: str,
        *,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
        merged: str | None = None,
    ) -> LoadNotes:
        """Load files into a graph, whole or not at all; what a failed load has sent is taken out again.

        Args:
            sources: The files, read here and sent as N-Triples, blank nodes as IRIs.
            graph: IRI of the graph, which no one reads yet.
            on_progress: Called with bytes read and bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
            merged: Graph into which the files' named graphs, which are then kept, are merged; no one reads
                it yet either. "" for none. By default they are merged into `graph` and not kept.

        Raises:
            LoadError: If a file is not well formed.
            EndpointError: If the server refuses or goes away.
        """
        notes = LoadNotes()
        before = self.count(graph) if not self.capabilities.atomic else 0
        send = send_stream if self.dialect.chunk is None else send_parts
        try:
            plain = merged is None and not skip_bad_lines and may_be_verbatim(sources)
            if plain and self._sent_verbatim(sources, graph, on_progress):
                return notes
            read = serialised(
                sources,
                notes,
                on_progress,
                into=None if merged is None else (graph, merged or None),
                skip_bad_lines=skip_bad_lines,
                part=self.dialect.chunk or PART,
                any_tag=self.capabilities.any_tag,
            )
            if merged is None:
                send(read, partial(self._add, graph))
                return notes
            for piece in read:
                for name, data in by_graph(piece):
                    self._add(name, data)
        except BaseException:
            if not self.capabilities.atomic and not before:
                for own in filter(None, (graph, merged)):
                    self._forget(own)
            raise
        return notes

    def _sent_verbatim(self, sources: Sequence[Source], graph: str, on_progress: Progress | None) -> bool:
        """Send files as they stand, and return False where they have to be read here first.

        What has been sent until then is sent again, which changes nothing.
        """
        strict = self.http.server.startswith("Oxigraph")
        parts = verbatim(sources, on_progress, part=self.dialect.bytes, strict=strict)
        send = send_stream if self.dialect.chunk is None else send_parts
        try:
            send(parts, partial(self._add, graph))
        except NotVerbatim:
            return False
        except errors.EndpointError as error:
            if error.status != 400:
                raise
            # The parser here knows what is wrong with which line.
            return False
        return True

    def _add(self, graph: str, data: Any) -> None:
        self._post(graph, data, self.dialect.nt, bulk=True)

    def _forget(self, graph: str) -> None:
        try:
            self.clear(graph)
        except errors.MragError as error:
            logger.warning("what the failed load had sent stays in <%s>: %s", graph, error)

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples."""
        response = self.http.send(
            "DELETE",
            self._needed(self.paths.graphs, "the graph store protocol"),
            params={self.dialect.graph_parameter: graph},
            repeat=True,
            ok=(200, 202, 204, 404),
        )
        response.close()

    def dump(self, graph: str, output: IO[bytes], format: str = "nt") -> None:
        """Write a graph to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""
        if format not in ("nt", "ttl"):
            raise errors.StoreError(f"Cannot dump as {format}.", hint="Use nt or ttl.")
        with tempfile.TemporaryFile() as kept, self._whole(None):
            # Nothing reaches the output before the whole graph has come.
            for line in self._graph_lines(graph):
                kept.write(line + b"\n")
            kept.seek(0)
            if format == "nt":
                while part := kept.read(1 << 20):
                    output.write(part)
            else:
                quads = ox.parse(kept, ox.RdfFormat.N_TRIPLES, lenient=True)
                ox.serialize((q.triple for q in quads), output, ox.RdfFormat.TURTLE)

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        text = queries.get("kg/graph").text
        response = self._query(text, Dataset((graph,)), self.dialect.nt, None)
        yield from self._watched(lines_of(self.http.chunks(response), self.dialect.nt), text)

    def sweep(self) -> int:
        """Remove scratch graphs that a process left behind more than an hour ago."""
        rows = self.select(queries.get("explore/graphs").text, Dataset())
        names = [str(g) for g in rows.column("g") if str(g).startswith(SCRATCH)]
        old = [g for g in names if _age(g) > _OLD_SCRATCH]
        for graph in old:
            self.clear(graph)
        return len(old)

    # -- health ------------------------------------------------------------------------------------

    def server(self) -> str:
        """Return the server's name and version as far as it tells them.

        Raises:
            EndpointError: If it cannot be reached.
        """
        response = self._query(queries.get("explore/any").text, Dataset((DEFAULT,)), JSON_RESULTS, 10.0)
        self.http.text(response)
        return f"{self.dialect.name} ({response.headers.get('Server', 'version not told')})"

    # -- inside ------------------------------------------------------------------------------------

    def _post(self, graph: str, data: Any, media: str, *, bulk: bool = False) -> None:
        response = self.http.send(
            "POST",
            self._needed(self.paths.graphs, "the graph store protocol"),
            params={self.dialect.graph_parameter: graph, **(self._bulk_parameters() if bulk else {})},
            # Adding the same triples twice is adding them once, but a stream cannot be sent again.
            repeat=isinstance(data, bytes),
            data=data,
            headers={"Content-Type": media},
            upload=bulk,
        )
        self.http.text(response)

    def _bulk_parameters(self) -> Mapping[str, str]:
        # Oxigraph loads in half the time when it need not be able to take the load back, which is done here.
        return {"no_transaction": ""} if self.http.server.startswith("Oxigraph") else {}

    def _needed(self, path: str | None, what: str) -> str:
        if path is None:
            raise errors.EndpointError(
                f"No address for {what} is known, so nothing can be written.",
                endpoint=self.url,
                hint="Give it in the URL: sparql:http://host/query?update=http://host/update"
                "&graphs=http://host/store",
            )
        return path


def _age(scratch: str) -> float:
    stamp = scratch.removeprefix(SCRATCH).partition(":")[0]
    return time.time() - int(stamp) if stamp.isdigit() else 0.0
