"""Apache Jena Fuseki: its paths, its time limit, and how it shows that an answer is not whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import requests

from mrag.errors import ConfigError, EndpointError
from mrag.rdf import queries
from mrag.stores.base import Capabilities, Dataset
from mrag.stores.http import Access, host, lines_of
from mrag.stores.sparql import JSON_RESULTS, SCRATCH, Dialect, Paths, SparqlStore

DEFAULT_GRAPH = "urn:x-arq:DefaultGraph"
UNION_GRAPH = "urn:x-arq:UnionGraph"
"""Jena's names for the unnamed graph and for the union of the named ones (Jena, TDB dynamic datasets)."""


class FusekiStore(SparqlStore):
    """A dataset of a Fuseki server.

    A query that is cancelled after rows have been sent ends with a line of `##` under status 200; that
    line is no JSON and no triple, so that the readers of answers refuse it.

    Args:
        url: The store's URL, for messages.
        address: URL of the dataset, such as `http://localhost:3030/products`.
        access: How it is reached.
    """

    capabilities = Capabilities(any_tag=True)

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        super().__init__(
            url,
            Paths(f"{address}/query", f"{address}/update", f"{address}/data"),
            access,
            Dialect("Fuseki", "timeout", unnamed=DEFAULT_GRAPH, union=UNION_GRAPH, empty_pattern=False),
        )
        self.base = host(address)
        self.dataset_name = address.removeprefix(self.base).strip("/")

    def _request(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        named = {*dataset.named} - {DEFAULT_GRAPH, UNION_GRAPH}
        if named and self._assembled:
            there = set(dataset.named) - named
            for text in queries.get("explore/graph-present").batches("graph", sorted(named)):
                there |= {str(name) for (name,) in self.select(text, Dataset())}
            kept = tuple(graph for graph in dataset.named if graph in there)
            # With no graph at all the request would mean the whole store; as a default graph, one that is
            # not there is empty.
            dataset = Dataset(dataset.default or (() if kept else dataset.named), kept)
        return super()._request(query, dataset, accept, seconds)

    @cached_property
    def _assembled(self) -> bool:
        """Whether to name a graph that is not there as one of a dataset makes it, which a read may not do.

        So it is where an assembler put the dataset together (`ja:RDFDataset`), as over a reasoner.
        """
        name, has = (f"{SCRATCH}none",), queries.get("explore/any").text
        try:
            response = super()._request(has, Dataset(name, name), JSON_RESULTS, None)
        except EndpointError:
            # Whether it is that or another trouble is told by a query that names none.
            response = super()._request(has, Dataset(), JSON_RESULTS, None)
            self.http.text(response)
            return True
        self.http.text(response)
        return False

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        response = self.http.send(
            "GET", self._need(self.paths.graphs, "the graph store"), repeat=True,
            params={"graph": graph}, headers={"Accept": self.dialect.nt}, ok=(200, 404),
        )  # fmt: skip
        if response.status_code == 404:
            response.close()
            return
        yield from lines_of(self.http.chunks(response))

    def server(self) -> str:
        """Return the server's name and version."""
        self.http.text(self.http.send("GET", f"{self.base}/$/ping", repeat=True, ok=(200, 404)))
        return super().server()

    def create(self, kind: str = "tdb2") -> None:
        """Make the dataset on the server, which must be the full server, not Fuseki Main.

        Args:
            kind: `tdb2` on disk, or `mem`.

        Raises:
            ConfigError: If there is no such kind.
            EndpointError: If it is there already, or the server has no administration.
        """
        if kind not in ("tdb2", "tdb", "mem"):
            hint = "Use tdb2, tdb or mem. A reasoner is named in an assembler file; see docker/fuseki."
            raise ConfigError(f"Fuseki makes no dataset of kind {kind!r}.", hint=hint)
        response = self.http.send(
            "POST", f"{self.base}/$/datasets", repeat=False,
            data={"dbName": self.dataset_name, "dbType": kind}, ok=(200, 201, 404, 405, 409),
        )  # fmt: skip
        response.close()
        if response.status_code in (404, 405):
            what = "This server has no administration, so it makes no dataset on request."
            how = f"in its configuration file, or with --tdb2 --loc=FOLDER /{self.dataset_name}"
            hint = f"So it is with Fuseki Main. Name the dataset where the server is started: {how}."
            raise EndpointError(what, endpoint=self.url, hint=hint)
        if response.status_code == 409:
            what, hint = "There is such a dataset already.", "Use it, or choose another name."
            raise EndpointError(what, endpoint=self.url, hint=hint)
