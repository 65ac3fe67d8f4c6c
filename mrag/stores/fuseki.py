"""Apache Jena Fuseki: its paths, its time limit, and how it shows that an answer is not whole."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cached_property
from typing import Any

import requests

from mrag.errors import ConfigError, EndpointError, StoreError
from mrag.rdf import queries
from mrag.stores.base import Capabilities, Dataset
from mrag.stores.http import NT, Access, host
from mrag.stores.sparql import JSON_RESULTS, SCRATCH, Dialect, Paths, SparqlStore

DEFAULT_GRAPH = "urn:x-arq:DefaultGraph"
UNION_GRAPH = "urn:x-arq:UnionGraph"
"""Jena's names for the unnamed graph and for the union of the named ones (Jena, TDB dynamic datasets)."""


_SERVICES = {"query": ("query", "sparql", ""), "update": ("update", ""), "graphs": ("data", "")}
_NOT_THERE = (400, 404, 405)
_ANY = (*range(200, 207), 400, 404, 405, 415)


class FusekiStore(SparqlStore):
    """A dataset of a Fuseki server.

    A query that is cancelled after rows have been sent ends with a line of `##` under status 200; that
    line is no JSON and no triple, so that the readers of answers refuse it.

    Args:
        url: The store's URL, for messages.
        address: URL of the dataset, such as `http://localhost:3030/products`.
        access: How it is reached; parameters `query`, `update` and `graphs` are the names of services that
            are not called `query` or `sparql`, `update` and `data`, nor stand at the dataset itself.
    """

    capabilities = Capabilities(any_tag=True)

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        given = dict((access or Access()).params)
        self._named = {kind: given.pop(kind, None) for kind in _SERVICES}
        if access is not None:
            access = replace(access, params=given)
        self._address = address
        super().__init__(
            url,
            Paths(*(f"{address}/{self._named[kind] or names[0]}" for kind, names in _SERVICES.items())),
            access,
            Dialect(
                "Fuseki", "timeout", unnamed=DEFAULT_GRAPH, union=UNION_GRAPH, empty_pattern=False, cuts=False
            ),
        )
        self._written = set[str]()
        self.base = host(address)
        self.dataset_name = address.removeprefix(self.base).strip("/")

    def _request(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        try:
            return self._answer(query, dataset, accept, seconds)
        except EndpointError as error:
            if error.status not in _NOT_THERE or self._named["query"] is not None:
                raise
            self.paths = replace(self.paths, query=self._find("query", error))
        return self._answer(query, dataset, accept, seconds)

    def _find(self, kind: str, error: EndpointError | None = None) -> str:
        """Return the address of a service by trying the names it usually has."""
        there, *others = dict.fromkeys([self._named[kind]] if self._named[kind] else _SERVICES[kind])
        for name in (there, *others):
            place = f"{self._address}/{name}".rstrip("/")
            sent: dict[str, Any] = {"data": b"", "headers": {"Content-Type": NT}}
            if kind == "query":
                sent = {"data": {"query": queries.get("explore/any").text}}
            elif kind == "update":
                # An update of nothing is one.
                sent = {"data": b" ", "headers": {"Content-Type": "application/sparql-update"}}
            else:
                sent["params"] = {"graph": f"{SCRATCH}none"}
            with self.http.send("POST", place, repeat=True, ok=_ANY, **sent) as response:
                if response.status_code < 300:
                    self._named[kind] = name
                    return place
        if kind == "query":
            what = "No service for queries was found at this dataset: neither at /query nor /sparql."
            hint = "Is there such a dataset? Name its services: ?query=NAME&update=NAME&graphs=NAME."
            raise EndpointError(what, endpoint=self.url, hint=hint) from error
        wanted = "updates" if kind == "update" else "writing"
        what = f"This dataset is read-only: it has no service for {wanted}."
        hint = "If the service has another name: ?update=NAME&graphs=NAME behind the URL."
        raise EndpointError(what, endpoint=self.url, hint=hint)

    def _need(self, path: str | None, what: str) -> str:
        """Return the address of a service that writes, which is looked for at the first write."""
        kind = "update" if path == self.paths.update else "graphs"
        if kind not in self._written:
            self.paths = replace(self.paths, **{kind: self._find(kind)})
            self._written.add(kind)
        return str(getattr(self.paths, kind))

    def _answer(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
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

    def server(self) -> str:
        """Return the server's name, and its version where its administration tells it."""
        place = f"{self._address.rpartition('/')[0]}/$/server"
        try:
            info = json.loads(self.http.text(self.http.send("GET", place, repeat=True)))
            return f"Fuseki {info['version']}"
        except (StoreError, ValueError, KeyError, TypeError):
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
