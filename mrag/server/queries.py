"""A query on its way through the server: the request, its dataset, its result, and what is kept of it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

import pyoxigraph as ox
from rdflib import BNode, Literal, URIRef, Variable
from rdflib.query import Result

from mrag.errors import EndpointError, QueryTimeout
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.record import Record, read_record
from mrag.rdf.guard import EXPLICIT, IMPLICIT, PROVENANCE, ReadQuery
from mrag.rdf.patterns import Construct, Group, TriplePattern, to_sparql, var
from mrag.rdf.queries import Value, term
from mrag.rdf.terms import Term, Triple, to_ox
from mrag.server.streams import Spool
from mrag.stores.base import Dataset, Limits, SelectResult
from mrag.stores.changes import NIL, RESERVED
from mrag.stores.process.query_child import serialize_rdf, term_of
from mrag.stores.sparql import SparqlStore


@dataclass(frozen=True)
class QueryRequest:
    """A query with the other parameters of a request."""

    text: str  # the query
    default: tuple[str, ...] = ()  # graphs that `default-graph-uri` names
    named: tuple[str, ...] = ()  # graphs that `named-graph-uri` names
    infer: bool = True  # whether inferred triples count
    values: Mapping[str, Value] = field(default_factory=dict)  # terms that variables have from the start
    seconds: float | None = None  # the client's own deadline
    base: str | None = None  # what relative IRIs are relative to, where the query does not say
    limit: int | None = None  # how many of its solutions are asked for; all by default
    offset: int = 0  # how many are left out before them
    distinct: bool = False  # whether solutions that are the same count once, as if the query said DISTINCT


@dataclass(frozen=True)
class CheckedQuery:
    """A query that has passed the read gate."""

    query: ReadQuery  # what the gate found
    text: str  # what is run
    start: Mapping[str, Any]  # terms that the engine starts from, taken apart
    asked: QueryRequest  # what was asked
    until: float  # time of the event loop's clock by which the answer must begin


@dataclass(frozen=True)
class ResultStream:
    """A result on its way: the first piece is there, the others follow, if there are any."""

    first: bytes
    rest: Spool | None = None


def plain_term(term: Any) -> tuple[str, str, str | None, str | None]:
    """Return kind, text, language and datatype of a term of rdflib."""
    if isinstance(term, Literal):
        return "l", str(term), term.language, str(term.datatype) if term.datatype else None
    return "b" if isinstance(term, BNode) else "i", str(term), None, None


def write(result: Any, format: str, prefixes: Mapping[str, str]) -> bytes:
    """Serialise the result of a store that returns terms."""
    if isinstance(result, bool):
        return answer(result, format)
    if isinstance(result, SelectResult):
        return table(result.variables, result.rows, format)
    triples = (ox.Triple(cast(Any, to_ox(t.s)), cast(Any, to_ox(t.p)), to_ox(t.o)) for t in result)
    return serialize_rdf(triples, format, prefixes)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_LARGEST = 16  # one entry may take up this part of a cache at most
_ENTRY = 512  # bytes that an entry takes beside its key and its value, about


class SizedCache(Generic[K, V]):
    """The values that were asked for last, by their keys, up to so many bytes of all; 0 keeps none."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Return a value that is kept."""
        value = self._values.get(key)
        if value is None:
            return None
        self._values.move_to_end(key)
        return value[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep a value, and forget the oldest when there are too many."""
        size += _ENTRY
        if size * _LARGEST > self._size:
            return
        self._held += size - self._values.pop(key, (value, 0))[1]
        self._values[key] = value, size
        while self._held > self._size:
            _, (_, freed) = self._values.popitem(last=False)
            self._held -= freed


_IGNORED = frozenset({"http://www.ontotext.com/disable-sameAs"})


@dataclass(frozen=True)
class GraphView:
    """The graphs of a knowledge graph as clients see them."""

    record: Record  # describes the state that is meant
    contexts: tuple[str, ...]  # the named graphs of the clients
    union: bool = True  # whether the default graph holds the triples of named graphs too
    as_found: bool = False  # whether the data is a server's own, with its graphs named as there
    all_graphs: str = ""  # name of the union of the named graphs on such a server; empty if it has none
    beside: tuple[str, ...] = ()  # graphs of origins, seen by a query that names them together
    plain: tuple[str, ...] = ()  # graphs of what is in no named one, where the asserted ones hold all

    @property
    def known(self) -> tuple[str, ...]:
        """Return the graphs that a query may name."""
        record = self.record
        return (*record.asserted, *record.inferred, *self.contexts, *NIL, *sorted(_IGNORED))

    @property
    def unnamed(self) -> tuple[str, ...]:
        """Return the graphs of what clients assert in no graph of their own."""
        if self.plain:
            return self.plain
        return tuple(g for g in self.record.asserted if g not in (self.record.merged, self.all_graphs))

    def default(self, infer: bool = True) -> tuple[str, ...]:
        """Return the graphs of the default graph."""
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
    """
    asked, record = read.asked, view.record
    default, named = read.query.graphs, read.query.named
    if asked.default or asked.named:
        default, named = asked.default, asked.named
    default = tuple(g for g in default if g not in _IGNORED)
    if not default and not named:
        return Dataset(view.default(asked.infer), view.named)
    graphs: list[str] = []
    layers = {EXPLICIT: record.asserted, IMPLICIT: record.inferred}
    layers[PROVENANCE] = (*record.asserted, *record.inferred, *view.beside)
    for graph in default:
        if graph in layers:
            graphs += layers[graph]
        elif graph in NIL:
            graphs += view.unnamed
        elif view.may_read(graph):
            graphs.append(graph)
    named = tuple(g for g in named if view.may_read(g))
    pseudo = bool(default) and all(g in (EXPLICIT, IMPLICIT, *NIL) for g in default)
    return Dataset(tuple(dict.fromkeys(graphs)), view.named if pseudo and not named else named)


def table(variables: Sequence[str], rows: Iterable[Sequence[Term | None]], format: str) -> bytes:
    """Write rows as SPARQL 1.1 Query Results in JSON, XML, CSV or TSV."""
    if format == "tsv":
        lines = ["\t".join("?" + v for v in variables), *("\t".join(map(_tsv, row)) for row in rows)]
        return "".join(line + "\n" for line in lines).encode()
    result, names = Result("SELECT"), [Variable(v) for v in variables]
    result.vars = names
    result.bindings = [
        {v: t for v, t in zip(names, row, strict=True) if t is not None} for row in cast(Any, rows)
    ]
    return _serialise(result, format)


def answer(value: bool, format: str) -> bytes:
    """Write the answer of an ASK query."""
    if format not in ("json", "xml"):
        return b"true" if value else b"false"
    result = Result("ASK")
    result.askAnswer = value
    return _serialise(result, format)


def _serialise(result: Result, format: str) -> bytes:
    data = result.serialize(format=format) or b""
    # Else whoever parses XML would read it as a line feed.
    return data.replace(b"\r", b"&#13;") if format == "xml" else data


def _tsv(t: Term | None) -> str:
    if t is None:
        return ""
    written = f"_:{t}" if isinstance(t, BNode) else term(URIRef(t) if isinstance(t, URIRef) else t)
    return written.replace("\t", "\\t")


_RECORD = 1.0
"""Seconds for which a record is taken for the present one, unless an answer has to be sure of it."""
_COUNT = 60.0  # the same for triples that can only be counted, by a scan


class RecordFollower:
    """Keeps a knowledge graph up to date with its store.

    Other processes may load, reason and change; the record in the store names the graphs that are then in
    sight. Data that mrag did not load has no record, and is counted instead.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self._kg = kg
        self.graphs = self._list()
        store = kg.store
        self.all_graphs = store.dialect.union if isinstance(store, SparqlStore) else ""
        self._reading = threading.Lock()
        self._read = time.monotonic()

    @property
    def due(self) -> bool:
        """Return whether the store has not been asked for some time."""
        return time.monotonic() - self._read > (_RECORD if self._kept else _COUNT)

    @property
    def _kept(self) -> bool:
        return self._kg.record.kept and not self._kg.store.capabilities.reasoning

    def catch_up(self, *, now: bool = False) -> None:
        """Take over what has been written meanwhile."""
        now = now and self._kept
        if not (now or self.due):
            return
        with self._reading:
            if not (now or self.due):
                return
            before = self._kg.record
            after = self._present(before)
            self.graphs, self._read = self._list(), time.monotonic()
            # A change of this process lands while the lock is held, and it knows better.
            with self._kg.landing:
                if self._kg.record is before and after != before:
                    self._kg.written(after, changed=after.revision != before.revision)

    def _list(self) -> tuple[str, ...]:
        if not self._kg.as_found:
            return ()
        return tuple(g for g in self._kg.store.graphs() if not g.startswith(RESERVED))

    def _present(self, before: Record) -> Record:
        kg = self._kg
        if self._kept:
            record = read_record(kg.store, kg.iri)
            return record if record.kept and record.revision >= before.revision else before
        count = kg.counted(before.asserted)
        if count == before.triples:
            return before
        reasoned = count if kg.store.capabilities.reasoning else -1
        return replace(before, triples=count, revision=count, reasoned=reasoned)


T = TypeVar("T")
_TRIES = 3  # times that a query is run where graphs that it reads are replaced meanwhile
WITH_PREFIXES = ("turtle", "trig", "rdfxml")


class RemoteAnswers:
    """Runs queries on a store that is a server, and writes their results down.

    What is answered belongs to one state of the graph: where another process has replaced a graph while the
    query ran, it runs again.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.follower = RecordFollower(kg)

    def answer(
        self, read: CheckedQuery, seen: Callable[[], Dataset], format: str, limits: Limits, extra: bytes
    ) -> bytes:
        """Return the answer to a query."""
        base = read.asked.base
        # The server would take relative IRIs to be relative to its own address.
        text = f"BASE {term(URIRef(base))} {read.text}" if base else read.text

        def run(dataset: Dataset, left: Limits) -> bytes:
            result = self.kg.store.bounded(text, dataset, left, extra)
            return write(result, format, self.kg.prefixes)

        return self._in_one_state(seen, limits, run)

    def statements(
        self,
        graphs: Callable[[], Mapping[str, str | None]],
        pattern: Sequence[Any],
        format: str,
        limits: Limits,
        *,
        named: bool,
    ) -> bytes:
        """Return the statements of some graphs that match."""
        terms = [None if value is None else term_of(value) for value in pattern]
        nodes = [var(name) if t is None else t for name, t in zip("spo", terms, strict=True)]
        # A server's blank nodes have no names that a query could use; in one they would stand for anything.
        nothing = any(isinstance(t, ox.BlankNode) for t in terms)
        one = TriplePattern(*nodes)
        text = "" if nothing else to_sparql(Construct((one,), Group((one,))))

        def run(dataset: Dataset, left: Limits) -> bytes:
            inside = graphs()
            quads: list[ox.Quad | ox.Triple] = []
            parts = dict.fromkeys((n if named else None, g == IMPLICIT and named) for g, n in inside.items())
            # GraphDB shows what it infers beside all that is asserted, or alone.
            for name, inferred in () if nothing else parts:
                default = tuple(
                    g for g, n in inside.items() if not named or (n, g == IMPLICIT) == (name, inferred)
                )
                rest = replace(left, rows=left.rows - len(quads))
                triples = cast(list[Triple], self.kg.store.bounded(text, Dataset(default), rest))
                graph = ox.DefaultGraph() if name is None else ox.NamedNode(name)
                for s, p, o in (map(to_ox, t) for t in triples):
                    t = ox.Triple(cast(Any, s), cast(Any, p), o)
                    quads.append(ox.Quad(t.subject, t.predicate, t.object, graph) if named else t)
            prefixes = self.kg.prefixes if format in WITH_PREFIXES else None
            return serialize_rdf(quads, format, prefixes)

        return self._in_one_state(lambda: Dataset(tuple(graphs())), limits, run)

    def _in_one_state(
        self, seen: Callable[[], Dataset], limits: Limits, run: Callable[[Dataset, Limits], T]
    ) -> T:
        until = time.monotonic() + limits.seconds
        for _ in range(_TRIES):
            dataset, left = seen(), until - time.monotonic()
            if left <= 0:
                raise QueryTimeout(
                    "The graph was being changed until the deadline.",
                    endpoint=self.kg.store.url,
                    hint="Try again, or allow more seconds.",
                )
            result = run(dataset, replace(limits, seconds=left))
            self.follower.catch_up(now=True)
            if seen() == dataset:
                return result
        raise EndpointError(
            f"The graph has changed {_TRIES} times while the query ran.",
            endpoint=self.kg.store.url,
            hint="Try again when the changes have been made.",
        )
