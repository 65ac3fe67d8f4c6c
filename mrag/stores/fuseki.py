"""Apache Jena Fuseki: its paths, its time limit, and how it shows that an answer is not whole."""

from __future__ import annotations

from collections.abc import Iterator

from mrag.errors import ConfigError
from mrag.stores.base import StoreLayers
from mrag.stores.dialect import Dialect, Paths
from mrag.stores.sparql import SparqlStore
from mrag.stores.wire.access import Access, host
from mrag.stores.wire.results import lines_of

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

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        super().__init__(
            url,
            Paths(f"{address}/query", f"{address}/update", f"{address}/data"),
            access,
            Dialect(
                name="Fuseki",
                seconds_parameter="timeout",
                default_graphs=(DEFAULT_GRAPH, UNION_GRAPH),
                empty_pattern=False,
            ),
        )
        self.base = host(address)
        self.dataset_name = address.removeprefix(self.base).strip("/")

    def layers(self) -> StoreLayers | None:
        """Return the unnamed graph and the union of the named ones where either holds triples."""
        found = super().layers()
        return StoreLayers(self.dialect.default_graphs) if found is not None else None

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        response = self.http.send(
            "GET", self._needed(self.paths.graphs, "the graph store"), repeat=True,
            params={"graph": graph}, headers={"Accept": self.dialect.nt}, ok=(200, 404),
        )  # fmt: skip
        if response.status_code == 404:
            response.close()
            return
        yield from lines_of(self.http.chunks(response))

    def server(self) -> str:
        """Return the server's name and version.

        Raises:
            EndpointError: If it cannot be reached.
        """
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
            raise ConfigError(
                f"Fuseki makes no dataset of kind {kind!r}.",
                hint="Use tdb2, tdb or mem. A reasoner is named in an assembler file; see docker/fuseki.",
            )
        response = self.http.send(
            "POST",
            f"{self.base}/$/datasets",
            repeat=False,
            data={"dbName": self.dataset_name, "dbType": kind},
        )
        self.http.text(response)
