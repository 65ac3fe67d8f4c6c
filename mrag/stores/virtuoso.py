"""OpenLink Virtuoso: its limits and spellings, kept out of the way of everything else.

Virtuoso 7 cuts results at `ResultSetMaxRows` and answers in part when a time limit passes, both under
status 200. Headers tell, but not where triples are cut: there the limit has to be known. Its default
graph is the union of all graphs, its own among them.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import requests

from mrag._tables import tables
from mrag.errors import EndpointError, QueryRefused
from mrag.rdf.guard import paths_in_negation
from mrag.rdf.patterns import Construct
from mrag.rdf.slicing import short_keys, without_limit
from mrag.rdf.terms import Triple
from mrag.stores.base import Capabilities, Dataset, Limits, SelectResult
from mrag.stores.http import Access
from mrag.stores.sparql import JSON_RESULTS, Dialect, Paths, SparqlStore


class VirtuosoStore(SparqlStore):
    """A Virtuoso server.

    Args:
        url: The store's URL, for messages.
        address: URL of the server, such as `http://localhost:8890`. With a login its `/sparql-auth` is
            used, without one `/sparql`.
        access: How it is reached; Virtuoso asks for digest authentication.
    """

    # It plans a union of ten parts for longer than it takes to answer them one by one, and goes through all
    # triples for those with an object unless their predicate is given. In VALUES of several variables and
    # rows "x"@en loses its tag.
    capabilities = Capabilities(doubles=False, any_tag=True, by_end=False, parts=1, tagged_rows=False)
    digest = True

    def __init__(self, url: str, address: str, access: Access | None = None) -> None:
        self._deriving = threading.Lock()
        base = address.removesuffix("/sparql-auth").removesuffix("/sparql")
        secure = "-auth" if access is not None and access.user is not None else ""
        super().__init__(
            url,
            Paths(f"{base}/sparql{secure}", f"{base}/sparql{secure}", f"{base}/sparql-graph-crud{secure}"),
            access,
            Dialect(
                name="Virtuoso",
                chunk=50_000,
                # Smaller uploads cost it more in all.
                bytes=1 << 22,
                system_graphs=tuple(tables("stores/virtuoso.toml")["system_graphs"]),
                unnamed=None,
                empty_pattern=False,
                # It would give a CONSTRUCT query's triples as a table, and fail at that.
                by_form=True,
                raise_rows="Raise ResultSetMaxRows in the section [SPARQL] of virtuoso.ini, or add a LIMIT.",
            ),
        )

    def _update_form(self, query: str) -> dict[str, Any]:
        return {"data": {"query": query}, "headers": {"Accept": JSON_RESULTS}}

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put what a CONSTRUCT pattern gives into the graph `into`, on the server, one after the other.

        Two at once meet in deadlocks, of which Virtuoso ends one after it has worked for long.
        """
        with self._deriving:
            # It reads a sub-select anew for each row of what it is joined with.
            super().derive(without_limit(query), dataset, into)

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query of any form within its limits, see `SparqlStore.bounded`.

        Raises:
            QueryRefused: Also for paths with `*` or `+` inside negation, which Virtuoso 7 gets wrong.
        """
        if paths_in_negation(query):
            what = "Virtuoso gives wrong answers to paths with * or + inside MINUS and NOT EXISTS."
            hint = "Write the path with a fixed length, or ask after reasoning, when it is one step."
            raise QueryRefused(what, endpoint=self.url, query=query, hint=hint)
        return super().bounded(query, dataset, limits, extra)

    def _query(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        try:
            return super()._query(query, dataset, accept, seconds)
        except EndpointError as error:
            # It puts nothing in order by texts of some two thousand bytes.
            if "Sorting key too long" not in error.message or (short := short_keys(query)) == query:
                raise
            return super()._query(short, dataset, accept, seconds)

    def _parameters(self, dataset: Dataset, seconds: float | None) -> Mapping[str, str]:
        # Its `timeout` makes an answer partial instead of an error, so the connection is cut instead.
        return {}
