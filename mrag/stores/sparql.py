"""Any endpoint that speaks the SPARQL 1.1 Protocol, and what the servers with a dialect of their own share.

What differs from server to server stands in a `Dialect`; what a server does by other calls is overridden
in its module. An answer that is not whole is an error, however the server hides it.
"""

from __future__ import annotations

import logging
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from math import ceil
from typing import IO, Any, TypeVar

import pyoxigraph as ox
import requests

from mrag import errors
from mrag.loaders.checks import LoadNotes
from mrag.loaders.rdf import Progress, Source
from mrag.rdf import queries
from mrag.rdf.guard import query_form
from mrag.rdf.patterns import Construct, Group, Select, Values, to_data, to_insert, to_sparql, var
from mrag.rdf.slicing import count_query, page_query, slice_query
from mrag.rdf.terms import Triple, to_ox
from mrag.redaction import redact, redact_url
from mrag.stores.base import (
    BaseStore,
    Capabilities,
    Dataset,
    Limits,
    Row,
    SelectResult,
    SelectStream,
    StoreLayers,
    traced,
)
from mrag.stores.http import (
    NT,
    OTHERS,
    TURTLE,
    Access,
    Http,
    Incomplete,
    NoResult,
    NotVerbatim,
    OtherResult,
    Result,
    graph_media,
    is_address,
    lines_of,
    may_be_verbatim,
    quads_of,
    result_of,
    send_parts,
    send_stream,
    triples_of,
    verbatim,
)
from mrag.stores.process.parsing import PART, by_graph, serialise


@dataclass(frozen=True)
class Dialect:
    """What a server does in its own way."""

    name: str = "SPARQL endpoint"  # What to call it
    # Parameter of a query that bounds its time; None where there is none
    seconds_parameter: str | None = None
    seconds_unit: float = 1.0  # How many of its units are a second
    values: int = 500  # Most rows of a VALUES block
    chunk: int | None = None  # Most triples of one upload; None sends a load as one stream
    bytes: int = 1 << 20  # Bytes of an upload, about, where files are sent as they stand
    # IRI of the triples outside of named graphs; "" where nothing but the default graph shows them, which may
    # show the named graphs too; None where there are none
    unnamed: str | None = ""
    union: str = ""  # IRI of the union of the named graphs
    system_graphs: tuple[str, ...] = ()  # Starts of the names of graphs that belong to the server
    empty_pattern: bool = True  # Whether `GRAPH ?g {}` lists the graphs, which is fast
    # Media type in which triples are sent and asked for: N-Triples, or Turtle with one triple a line
    nt: str = NT
    by_form: bool = False  # Whether a query may be asked for the media type of its own form alone
    cuts: bool = True  # Whether the server may be set to cut answers without a word in them
    raise_rows: str = "Raise the server's limit of rows, or add a LIMIT."  # Where its limit of rows is set


@dataclass(frozen=True)
class Caps:
    """Where a server ends its answers under the status of success."""

    rows: int | None = None  # Most rows of an answer; None where none is known
    # Seconds after which an answer may be part of the whole; None where there are none
    seconds: float | None = None
    told: str = "the server has none"  # Where this is known from


def numbers(columns: int) -> Group:
    """Return a pattern without data, of a hundred and twenty rows for each column and row of the others."""
    rows = tuple((ox.Literal(n),) for n in range(120))
    return Group(tuple(Values((var(f"n{column}"),), rows) for column in range(columns)))


class CutAnswer(errors.EndpointError):
    """An answer that the server ended after some rows."""

    rows = 0


@dataclass(frozen=True)
class Paths:
    """URLs of a server's services, which may hold logins."""

    query: str = field(repr=False)  # Where queries go
    update: str | None = field(default=None, repr=False)  # Where updates go; None where nothing is written
    # The graph store (SPARQL 1.1 Graph Store HTTP Protocol); None where there is none
    graphs: str | None = field(default=None, repr=False)


DEFAULT = "urn:mrag:default"  # Stands in a dataset for the endpoint's own default graph, whatever that is

SCRATCH = "urn:mrag:scratch:"
OWN = "urn:mrag:"
_OLD_SCRATCH = 3600.0
_INSERTED = 1000  # Triples of one update

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_I = TypeVar("_I", bound=Row)
_CUT = "X-SPARQL-MaxRows"
_PROBE = 10_001  # Rows that a server is asked for to find out whether it cuts answers
JSON_RESULTS = "application/sparql-results+json"
_FORM = 50_000  # Characters of a query that is sent as a form, in which each may take three or more bytes
_OF_TRIPLES = ("ConstructQuery", "DescribeQuery")
_RESULT_TYPES = (JSON_RESULTS, "application/json")


class SparqlStore(BaseStore):
    """A store behind the SPARQL 1.1 Protocol."""

    capabilities = Capabilities()
    digest = False
    writes_by = "the graph store protocol"
    scratch = SCRATCH  # Start of the names of graphs that a query alone is to see
    absent: tuple[int, ...] = (404,)  # How the server may answer where the graph to remove is not there

    def __init__(
        self, url: str, paths: Paths, access: Access | None = None, dialect: Dialect | None = None
    ) -> None:
        for path in (paths.query, paths.update, paths.graphs):
            if path is not None and not is_address(path):
                what = "A store's address begins with http:// or https://, then come its name and port."
                raise errors.ConfigError(what, endpoint=path, hint="Check the URL.")
        self.url, self.identity = redact_url(url), redact(url)
        self.paths = paths
        self.dialect = dialect or Dialect()
        places = (url, paths.query, paths.update or "", paths.graphs or "")
        self.http = Http(self.url, access or Access(), digest=self.digest, places=places)
        self._closed = False
        self._caps: Caps | None = None
        self._proven = 0
        self._others, self.note = "", ""
        # Triples are sent by updates where there is no graph store.
        self._by_update = self.paths.graphs is None and self.paths.update is not None

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query with rows that are not held, by pages where the server cuts its answers.

        The first rows are held until it is known that the server cuts no answer of so many.
        """
        began, held = time.monotonic(), list[Row]()
        names: tuple[str, ...] = ()
        rows: Iterator[Row] = iter(())
        try:
            result = self._result(query, dataset, None, began)
            names, rows = result.variables, self._all_rows(result, query, dataset, None, began)
            for row in rows:
                held.append(row)
                if (self._caps is None or self._caps.rows is None) and len(held) > self._proven:
                    break
        except CutAnswer as error:
            names, rows = self._pages(query, names, dataset, error, None)
            held = []
        return SelectStream(names, chain(held, rows))

    def _result(self, query: str, dataset: Dataset, seconds: float | None, began: float) -> Result:
        response = self._query(query, dataset, JSON_RESULTS, seconds)
        with self._whole(query, seconds, began):
            return self._read(response, query)

    def _read(self, response: requests.Response, query: str) -> Result:
        """Read a result; what cannot be told by the only kind that a server has is logged once."""
        result = result_of(response, self.http.chunks(response, query))
        if isinstance(result, OtherResult) and result.note != self.note:
            self.note = result.note
            logger.warning("%s", self.note)
        return result

    def _all_rows(
        self, result: Result, query: str, dataset: Dataset, seconds: float | None, began: float
    ) -> Iterator[Row]:
        """Yield the rows of an answer, or raise where they may not be all."""
        with self._whole(query, seconds, began):
            yield from self._watch(result, query)
        self._check_end(query, seconds, began)

    @traced
    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""
        return self._boolean(query, dataset, None)

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query, triple by triple."""
        began = time.monotonic()
        response = self._query(query, dataset, self._triples(), None)
        with self._whole(query, None, began):
            triples = triples_of(self.http.chunks(response, query), graph_media(response, self.dialect.nt))
            yield from self._watch(triples, query)
        self._check_end(query, None, began)

    def caps(self) -> Caps:
        """Return where the server ends its answers, as far as that is told or was found by asking."""
        if self._caps is None:
            self._most(0)
        return self._caps or Caps(told=f"an answer of {self._proven:,} rows came whole")

    def _told_caps(self) -> Caps | None:
        """Return where the server says it ends its answers; None where it has to be found out."""
        known = not self.dialect.cuts or self.http.server.startswith("Oxigraph")
        return Caps() if known else None

    def _most(self, count: int) -> float:
        """Return a number of rows at which no answer is cut, or the one at which all longer ones are.

        How a server cuts rows that need no data tells its limit; it is asked for more as answers grow.
        """
        while self._caps is None and count >= self._proven:
            if not self._proven and (caps := self._told_caps()) is not None:
                self._caps = caps
                break
            wanted = max(_PROBE, self._proven * 10)
            text = to_sparql(Select((var("nothing"),), numbers(3), limit=wanted))
            try:
                with self._request(text, Dataset(), JSON_RESULTS, None) as response:
                    result = self._read(response, text)
                    rows = len(list(result))
                    asked = result.variables == ("nothing",)
            except (errors.StoreError, Incomplete, NoResult, UnicodeDecodeError) as error:
                logger.info("whether the server cuts answers cannot be found out: %s", self.http.cause(error))
                rows, asked = 0, False
            if rows >= wanted:
                self._proven = wanted
            elif asked and rows:
                self._caps = Caps(rows=rows, told="its answer to a query for more")
            else:
                self._caps = Caps(told="whether it has cannot be found out")
        if self._caps is None:
            return self._proven
        return float("inf") if self._caps.rows is None else self._caps.rows

    def _pages(
        self, query: str, names: tuple[str, ...], dataset: Dataset, cut: CutAnswer, seconds: float | None
    ) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Return the columns and rows of an answer that is cut, page by page in a total order.

        They are counted first: as many have to come.
        """
        if not names:
            names = self._result(slice_query(query, 1), dataset, seconds, time.monotonic()).variables
        if page_query(query, names, 1, 0) is None:
            raise cut

        def rows() -> Iterator[Row]:
            began, done = time.monotonic(), 0
            ((number,),) = self._result(str(count_query(query, names)), dataset, seconds, began)
            self._check_end(query, seconds, began)
            while done < int(str(number)):
                began, text = time.monotonic(), str(page_query(query, names, cut.rows, done))
                with self._request(text, dataset, JSON_RESULTS, seconds) as response:
                    self._check_time(response, query)
                    with self._whole(query, seconds, began):
                        page = list(self._read(response, text))
                self._check_end(query, seconds, began)
                done += len(page)
                if len(page) < cut.rows and done != int(str(number)):
                    raise cut
                yield from page

        return names, rows()

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self.http.close()

    @traced
    def _bounded(self, query: str, dataset: Dataset, limits: Limits) -> SelectResult | bool | list[Triple]:
        began = time.monotonic()
        deadline, names = began + limits.seconds, tuple[str, ...]()
        try:
            response = self._query(query, dataset, self._accept(query), limits.seconds)
            media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            if media not in _RESULT_TYPES and query_form(query) in _OF_TRIPLES:
                with self._whole(query, limits.seconds, began):
                    chunks = self.http.chunks(response, query)
                    kind = graph_media(response, self.dialect.nt)
                    triples = self._watch(triples_of(chunks, kind), query)
                    lines = list(self._within(triples, deadline, limits, query))
                self._check_end(query, limits.seconds, began)
                return lines
            with self._whole(query, limits.seconds, began):
                result = self._read(response, query)
            if result.boolean is not None:
                self._check_end(query, limits.seconds, began)
                return result.boolean
            names = result.variables
            rows = self._all_rows(result, query, dataset, limits.seconds, began)
            return SelectResult(names, list(self._within(rows, deadline, limits, query)))
        except CutAnswer as cut:
            if query_form(query) != "SelectQuery":
                raise
            left = max(0.001, deadline - time.monotonic())
            names, rows = self._pages(query, names, dataset, cut, left)
            return SelectResult(names, list(self._within(rows, deadline, limits, query)))

    def _accept(self, query: str) -> str:
        """Return the media types for a query; where that is enough, the server finds out its form."""
        if not self.dialect.by_form:
            return f"{JSON_RESULTS}, {self.dialect.nt};q=0.9"
        triples = query_form(query) in _OF_TRIPLES
        return self._triples() if triples else JSON_RESULTS

    def _triples(self) -> str:
        """Return the media types of triples, of which other endpoints need not have N-Triples."""
        more = ", text/turtle;q=0.5, application/rdf+xml;q=0.3" if self.dialect.name == Dialect.name else ""
        return self.dialect.nt + more

    def _within(self, items: Iterable[_I], deadline: float, limits: Limits, query: str) -> Iterator[_I]:
        left = limits.bytes
        for count, item in enumerate(items):
            left -= sum(len(term) for term in item if term is not None)
            if count >= limits.rows or left < 0:
                what = f"The result is larger than {limits.rows} rows or {limits.bytes} bytes."
                raise errors.QueryRefused(what, query=query, hint="Add a LIMIT, or allow more.")
            if time.monotonic() > deadline:
                raise self._late(query)
            yield item

    def _late(self, query: str) -> errors.QueryTimeout:
        what = "The query passed its deadline and was given up."
        hint = "Narrow it (fewer free variables, a LIMIT), or allow more seconds."
        return errors.QueryTimeout(what, endpoint=self.url, query=query, hint=hint)

    def _boolean(self, query: str, dataset: Dataset, seconds: float | None) -> bool:
        began = time.monotonic()
        response = self._query(query, dataset, JSON_RESULTS, seconds)
        with self._whole(query, seconds, began):
            answer = self._read(response, query).boolean
        if answer is None:
            raise self.http.incomplete("it is no answer to ASK", query)
        self._check_end(query, seconds, began)
        return answer

    def _query(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        try:
            response = self._request(query, dataset, accept, seconds)
        except errors.EndpointError as error:
            if error.status != 406 or self._others or JSON_RESULTS not in accept:
                raise
            self._others = f", {OTHERS}"
            response = self._request(query, dataset, accept, seconds)
        self._check(response, query)
        return response

    def _request(self, query: str, dataset: Dataset, accept: str, seconds: float | None) -> requests.Response:
        if self._closed:
            raise errors.StoreError("The store is closed.", hint="Open it again with mrag.connect.")
        seen, form = self._seen(dataset), dict[str, Any](self._parameters(dataset, seconds))
        for name, graphs in (("default-graph-uri", seen.default), ("named-graph-uri", seen.named)):
            form[name] = [graph for graph in graphs if graph != DEFAULT]
        if self._by_update and not seen.named:
            # Blazegraph shows every named graph where none is named, or one that it does not know.
            form["named-graph-uri"] = form["default-graph-uri"]
        # Of a form servers read some hundred kilobytes, and call what is left of the query malformed.
        long = len(query) > _FORM
        headers = {"Accept": accept + self._others * (JSON_RESULTS in accept)}
        return self.http.send(
            "POST", self.paths.query, repeat=True, params=form if long else None,
            data=query.encode() if long else {"query": query, **form},
            headers=headers | ({"Content-Type": "application/sparql-query"} if long else {}),
            seconds=seconds, query=query,
        )  # fmt: skip

    def _seen(self, dataset: Dataset) -> Dataset:
        """Return the dataset as the server is to be asked for it."""
        return dataset

    def _parameters(self, dataset: Dataset, seconds: float | None) -> Mapping[str, str]:
        name = self.dialect.seconds_parameter
        if name is None or seconds is None:
            return {}
        return {name: str(max(1, ceil(seconds * self.dialect.seconds_unit)))}

    def _check(self, response: requests.Response, query: str) -> None:
        """Raise if the headers say that the answer is not whole, as Virtuoso's do."""
        self._check_time(response, query)
        if _CUT in response.headers:
            rows = response.headers[_CUT]
            response.close()
            raise self._cut(int(rows), query)

    def _check_time(self, response: requests.Response, query: str) -> None:
        if response.headers.get("X-SQL-State", "") == "S1TAT":
            response.close()
            what = "The server stopped at its time limit and answered in part; nothing of it is used."
            hint = "Narrow the query, or raise MaxQueryExecutionTime in virtuoso.ini."
            raise errors.QueryTimeout(what, endpoint=self.url, query=query, hint=hint)

    def _cut(self, rows: int, query: str) -> CutAnswer:
        """Remember where the server cuts answers, and return the error for one of so many rows."""
        if self._caps is None or self._caps.rows is None:
            self._caps = replace(self._caps or Caps(), rows=rows, told="the header of an answer")
        what = f"The server cuts answers at {rows} rows, and this one may be longer; nothing of it is used."
        error = CutAnswer(what, endpoint=self.url, query=query, hint=self.dialect.raise_rows)
        error.rows = rows
        return error

    def _watch(self, items: Iterable[_T], query: str) -> Iterator[_T]:
        """Yield the rows or triples of an answer, or raise where they may not be all."""
        most = 0.0
        for number, item in enumerate(items, start=1):
            if number >= most and number >= (most := self._most(number)):
                raise self._cut(number, query)
            yield item

    def _check_end(self, query: str, seconds: float | None, began: float) -> None:
        """Raise if an answer took so long that it may be what the server had when its time was over."""

    @contextmanager
    def _whole(self, query: str | None, seconds: float | None = None, began: float = 0.0) -> Iterator[None]:
        """Turn what shows an incomplete answer into an error that names the server."""
        try:
            yield
        except NoResult as error:
            late = seconds is not None and time.monotonic() - began >= seconds
            raise self.http.late(query) if late else self.http.no_result(str(error), query) from None
        except (Incomplete, UnicodeDecodeError) as error:
            problem: errors.StoreError = self.http.incomplete(str(error), query)
            if seconds is not None and time.monotonic() - began >= seconds:
                problem = self.http.late(query)
            raise problem from self.http.cause(error)

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query within its limits; `extra` is put into a graph of its own while it runs."""
        if not extra:
            return self._in_time(query, dataset, limits)
        if DEFAULT in dataset.default:
            what = "Similarity searches inside a query need to know the store's graphs."
            hint = "Name them when connecting: graphs=[…], or ?graph=IRI in the URL."
            raise errors.QueryRefused(what, query=query, hint=hint)
        scratch = f"{self.scratch}{int(time.time())}:{uuid.uuid4().hex}"
        self.insert(extra, scratch)
        try:
            return self._in_time(query, Dataset((*dataset.default, scratch), dataset.named), limits)
        finally:
            self.clear(scratch)

    def _in_time(self, query: str, dataset: Dataset, limits: Limits) -> SelectResult | bool | list[Triple]:
        """Answer within limits; servers end a query in many ways, and from its deadline on all mean that."""
        deadline = time.monotonic() + limits.seconds
        try:
            return self._bounded(query, dataset, limits)
        except errors.EndpointError as error:
            if time.monotonic() < deadline:
                raise
            raise self._late(query) from error

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
        left_out = (self.scratch, *self.dialect.system_graphs)
        return sorted({str(g) for g in rows.column("g") if g is not None and not str(g).startswith(left_out)})

    def layers(self) -> StoreLayers | None:
        """Return the graphs of data that is in the store already, None if it is empty.

        Graphs that mrag wrote are not among them, nor what shows them: the union of all graphs.
        """
        graphs = self.graphs()
        named = tuple(g for g in graphs if not g.startswith(OWN))
        own = len(named) < len(graphs)
        unnamed = self._unnamed_graphs(own)
        if unnamed and named and not self.dialect.unnamed:
            logger.info("the default graph is read; named graphs are left out unless they are named")
            named = ()
        elif named and not own and self.dialect.union:
            # One name instead of very many.
            return StoreLayers((str(self.dialect.unnamed), self.dialect.union))
        every = (*unnamed, *named)
        return StoreLayers(every) if every else None

    def _unnamed_graphs(self, own: bool) -> tuple[str, ...]:
        """Return what names the triples outside of named graphs, if there are any."""
        name = self.dialect.unnamed
        if name is None or not self.ask(queries.get("explore/any").text, Dataset((name or DEFAULT,))):
            return ()
        if not name and own and self.ask(queries.get("explore/graph-merged").text, Dataset((DEFAULT,))):
            return ()
        return (name or DEFAULT,)

    def update(self, query: str) -> None:
        """Carry out an update, whole or not at all."""
        address, form = self._need(self.paths.update, "updates"), self._update_form(query)
        response = self.http.send("POST", address, repeat=False, query=query, **form)
        self._check(response, query)
        self.http.text(response)

    def _update_form(self, query: str) -> dict[str, Any]:
        """Return how an update is sent."""
        # Blazegraph reads Latin-1 where no encoding is named.
        media = "application/sparql-update" + ("; charset=utf-8" if self._by_update else "")
        return {"data": query.encode(), "headers": {"Content-Type": media}}

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put what a CONSTRUCT pattern gives into the graph `into`, on the server."""
        self.update(to_insert(query, into, dataset.default, dataset.named))

    def insert(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to a graph, whole or not at all."""
        try:
            self._post(graph, ntriples, self.dialect.nt)
        except errors.EndpointError as error:
            if not self._other_form(error):
                raise
            self.insert(ntriples, graph)

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

        They are read here and sent as N-Triples, blank nodes as IRIs.
        """
        notes = LoadNotes()
        before = self.count(graph) if not self.capabilities.atomic else 0
        send = send_stream if self.dialect.chunk is None else send_parts
        try:
            plain = merged is None and not skip_bad_lines and may_be_verbatim(sources)
            if plain and self._sent_verbatim(sources, graph, on_progress):
                return notes
            into = None if merged is None else (graph, merged or None)
            part, any_tag = self.dialect.chunk or PART, self.capabilities.any_tag
            read = serialise(
                sources, notes, on_progress, into=into, skip_bad_lines=skip_bad_lines, part=part,
                any_tag=any_tag,
            )  # fmt: skip
            if merged is None:
                send(read, partial(self._add, graph))
                return notes
            for piece in read:
                for name, data in by_graph(piece):
                    self._add(name, data)
        except BaseException as failed:
            if isinstance(failed, errors.EndpointError) and self._other_form(failed):
                how = {"on_progress": on_progress, "skip_bad_lines": skip_bad_lines, "merged": merged}
                return self.bulk_load(sources, graph, **how)  # type: ignore[arg-type]
            if not self.capabilities.atomic and not before:
                for own in filter(None, (graph, merged)):
                    try:
                        self.clear(own)
                    except errors.MragError as error:
                        logger.warning("what the failed load had sent stays in <%s>: %s", own, error)
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

    def _other_form(self, error: errors.EndpointError) -> bool:
        """Choose another form for triples that are sent, where an endpoint does not know that of now."""
        unknown = error.status == 415 or (error.status == 400 and "content-type" in str(error).lower())
        if self.dialect.name != Dialect.name or self._by_update:
            return False
        if unknown and self.dialect.nt == NT:
            self.dialect = replace(self.dialect, nt=TURTLE)  # N-Triples are Turtle
        elif self.paths.update is not None and (unknown or error.status in (404, 405, 501)):
            self._by_update = True
        else:
            return False
        return True

    def _add(self, graph: str, data: Any) -> None:
        self._post(graph, data, self.dialect.nt, bulk=True)

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples."""
        if self._by_update:
            self.update(queries.get("update/clear").bind(graph=[graph]))
            return
        ok, place = (200, 202, 204, *self.absent), self._need(self.paths.graphs, self.writes_by)
        self.http.send("DELETE", place, params=self._context(graph), repeat=True, ok=ok).close()

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
        response = self._query(text, Dataset((graph,)), self._triples(), None)
        lines = lines_of(self.http.chunks(response), graph_media(response, self.dialect.nt))
        yield from self._watch(lines, text)

    def sweep(self) -> int:
        """Remove scratch graphs that a process left behind more than an hour ago."""
        rows = self.select(queries.get("explore/graphs").text, Dataset())
        names = [str(g) for g in rows.column("g") if str(g).startswith(self.scratch)]
        begun = {g: g.removeprefix(self.scratch).partition(":")[0] for g in names}
        now = time.time()
        old = [g for g, at in begun.items() if at.isdigit() and now - int(at) > _OLD_SCRATCH]
        for graph in old:
            self.clear(graph)
        return len(old)

    def server(self) -> str:
        """Return the server's name and version as far as it tells them."""
        response = self._query(queries.get("explore/any").text, Dataset((DEFAULT,)), JSON_RESULTS, 10.0)
        self.http.text(response)
        return f"{self.dialect.name} ({response.headers.get('Server', 'version not told')})"

    def _post(self, graph: str, data: Any, media: str, *, bulk: bool = False) -> None:
        if self._by_update:
            quads, home = quads_of([data] if isinstance(data, bytes) else data, NT), ox.NamedNode(graph)
            while part := [ox.Quad(q.subject, q.predicate, q.object, home) for q in islice(quads, _INSERTED)]:
                self.update(to_data([], part))
            return
        # Oxigraph loads in half the time when it need not be able to take the load back, which is done here.
        more = {"no_transaction": ""} if bulk and self.http.server.startswith("Oxigraph") else {}
        response = self.http.send(
            "POST",
            self._need(self.paths.graphs, self.writes_by),
            params={**self._context(graph), **more},
            # Adding the same triples twice is adding them once, but a stream cannot be sent again.
            repeat=isinstance(data, bytes),
            data=data,
            headers={"Content-Type": media},
            upload=bulk,
        )
        self.http.text(response)

    def _context(self, graph: str) -> Mapping[str, str]:
        """Return the parameters that name a graph."""
        return {"graph": graph}

    def _need(self, path: str | None, what: str) -> str:
        if path is None:
            missing = f"No address for {what} is known, so nothing can be written."
            hint = "Write sparql:http://host/query?update=http://host/update&graphs=http://host/store."
            raise errors.EndpointError(missing, endpoint=self.url, hint=hint)
        return path


class StatementsStore(SparqlStore):
    """A repository whose graphs are read and written by context at `paths.graphs`.

    Its arguments are those of `SparqlStore`. One request is one transaction, and the path streams.
    """

    writes_by = "its statements"
    absent = ()

    def _context(self, graph: str) -> Mapping[str, str]:
        return {"context": str(to_ox(graph))}

    def _graph_lines(self, graph: str) -> Iterator[bytes]:
        place, params = (
            self._need(self.paths.graphs, self.writes_by),
            {"infer": "false", **self._context(graph)},
        )
        response = self.http.send(
            "GET", place, repeat=True, params=params, headers={"Accept": self.dialect.nt}
        )
        yield from lines_of(self.http.chunks(response), self.dialect.nt)
