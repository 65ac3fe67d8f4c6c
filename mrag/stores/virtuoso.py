"""OpenLink Virtuoso: its limits and spellings, kept out of the way of everything else.

Virtuoso 7 cuts results at `ResultSetMaxRows` and answers in part when a time limit passes, both under
status 200. Headers tell, but not where triples are cut: there the limit has to be known. Its default
graph is the union of all graphs, its own among them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, TypeVar

import requests

from mrag.errors import EndpointError, QueryRefused, QueryTimeout
from mrag.rdf.guard import paths_in_negation
from mrag.rdf.patterns import Construct, Group, Select, TriplePattern, to_sparql, var
from mrag.rdf.slicing import paged, short_keys, sliced, unsized
from mrag.rdf.terms import Triple
from mrag.stores.base import Capabilities, Dataset, Limits, Row, SelectResult, SelectStream
from mrag.stores.http import Access
from mrag.stores.sparql import JSON_RESULTS, Dialect, Paths, SparqlStore

_SYSTEM = (
    "http://www.openlinksw.com/schemas/",
    "http://www.openlinksw.com/sparql/",
    "http://www.openlinksw.com/virtrdf",
    "http://localhost:8890/",
    "http://localuriqaserver/",
    "http://www.w3.org/2002/07/owl#",
    "http://www.w3.org/ns/ldp#",
    "urn:activitystreams-owl:map",
    "urn:core:services:sparql",
    "urn:rules.skos",
    "urn:virtuoso:",
    "b3sifp",
    "b3sonto",
    "virtrdf-label",
    "dbprdf-label",
    "facets",
    "ldp",
)
_T = TypeVar("_T")
_CUT = "X-SPARQL-MaxRows"
_SMALL = 1000
"""No one sets the limit lower; answers up to here need no look at it."""
_HINT = "Raise ResultSetMaxRows in the section [SPARQL] of virtuoso.ini, or add a LIMIT."


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
    _most: int | None = None

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
                system_graphs=_SYSTEM,
                unnamed=None,
                empty_pattern=False,
                # It would give a CONSTRUCT query's triples as a table, and fail at that.
                by_form=True,
            ),
        )

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query; what is longer than the server's answers is asked for in pages."""
        ask = super().stream
        try:
            return ask(query, dataset)
        except _CutAnswer as error:
            first = ask(sliced(query, 1), dataset)
            list(first)
            if paged(query, first.variables, 1, 0) is None:
                raise
            # An answer of as many rows as the server gives at most counts as cut.
            size = error.rows - 1

        def pages() -> Iterator[Row]:
            for start in count(0, size):
                page = list(ask(str(paged(query, first.variables, size, start)), dataset))
                yield from page
                if len(page) < size:
                    return

        return SelectStream(first.variables, pages())

    def _update_form(self, query: str) -> dict[str, Any]:
        return {"data": {"query": query}, "headers": {"Accept": JSON_RESULTS}}

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put what a CONSTRUCT pattern gives into the graph `into`, on the server, one after the other.

        Two at once meet in deadlocks, of which Virtuoso ends one after it has worked for long.
        """
        with self._deriving:
            # It reads a sub-select anew for each row of what it is joined with.
            super().derive(unsized(query), dataset, into)

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

    def _check(self, response: requests.Response, query: str) -> None:
        state = response.headers.get("X-SQL-State", "")
        if state == "S1TAT":
            response.close()
            what = "The server stopped at its time limit and answered in part; nothing of it is used."
            hint = "Narrow the query, or raise MaxQueryExecutionTime in virtuoso.ini."
            raise QueryTimeout(what, endpoint=self.url, query=query, hint=hint)
        if _CUT in response.headers:
            rows = response.headers[_CUT]
            response.close()
            raise self._cut(rows, query)

    def _watched(self, items: Iterator[_T], query: str) -> Iterator[_T]:
        # One item more than the limit comes where there are more; an answer of just that many is refused too.
        for number, item in enumerate(items, start=1):
            if number > _SMALL and number > self._most_rows():
                raise self._cut(str(number - 1), query)
            yield item

    def _most_rows(self) -> float:
        """Return where the server cuts answers; no limit while it has too few triples to show one."""
        if self._most is None:
            # Pairs of triples are more than any server gives: how it cuts them tells its limit.
            s, p, o, t, q, u = map(var, "spotqu")
            text = to_sparql(Select((s,), Group((TriplePattern(s, p, o), TriplePattern(t, q, u)))))
            with self._request(text, Dataset(), JSON_RESULTS, None) as response:
                rows = response.headers.get(_CUT, "")
            if not rows.isdigit():
                return float("inf")
            self._most = int(rows)
        return self._most

    def _cut(self, rows: str, query: str) -> _CutAnswer:
        what = f"The server cuts answers at {rows} rows, and this one is longer; nothing of it is used."
        error = _CutAnswer(what, endpoint=self.url, query=query, hint=_HINT)
        error.rows = int(rows)
        return error


class _CutAnswer(EndpointError):
    """An answer that the server cut after some rows."""

    rows = 0
