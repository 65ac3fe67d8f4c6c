"""What every triple store does: the protocol, and the plain values that pass through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import IO, Any, Protocol, Self, TypeVar, cast, runtime_checkable

import pyoxigraph as ox

from mrag.loaders.checks import LoadNotes, RejectedLine
from mrag.loaders.rdf import Progress, Source
from mrag.rdf import queries
from mrag.rdf.patterns import Construct
from mrag.rdf.terms import Term, Triple
from mrag.tracing import span, tracing

Row = tuple[Term | None, ...]


@dataclass(frozen=True)
class Dataset:
    """The graphs that a query sees (SPARQL 1.1 Query, section 13.2).

    Oxigraph gives a triple that stands in two graphs of `default` twice, so the graphs of a
    knowledge graph are kept free of each other's triples.
    """

    default: tuple[str, ...] = ()  # IRIs of the graphs whose merge is the default graph
    named: tuple[str, ...] = ()  # IRIs of the graphs that `GRAPH` can reach


@dataclass(frozen=True)
class Limits:
    """How much a query that a person or a model wrote may use."""

    seconds: float = 30.0  # Wall-clock deadline; the query is ended there
    rows: int = 100_000  # Most rows or triples of a result
    bytes: int = 64 << 20  # Most bytes of a result's terms


@dataclass(frozen=True)
class Capabilities:
    """What a store offers beyond SPARQL 1.1."""

    edges: bool = False  # Whether `edges` reads neighbours without a query
    ordered: bool = False  # Whether `edges` comes in an order that loading in another order would not change
    # Whether the server reasons by its own rules and tells inferred triples from asserted
    reasoning: bool = False
    similarity: bool = False  # Whether the server keeps similarity indexes itself
    # Whether a bulk load becomes visible in one step, so that it may go to a graph in use
    atomic: bool = False
    doubles: bool = True  # Whether a computed xsd:double comes with all its digits
    # Whether language tags that BCP 47 does not allow are taken; else a load mends them
    any_tag: bool = False
    by_end: bool = True  # Whether triples are found by their object alone without a look at all of them
    parts: int = 12  # Most parts of one query that asks for several things; others are asked for beside it
    tagged_rows: bool = True  # Whether a literal with a language tag is found by rows of several values
    apart: bool = False  # Whether one query sees what is asserted as a graph beside what the server infers


@dataclass(frozen=True)
class StoreLayers:
    """The graphs of data that a store holds already."""

    asserted: tuple[str, ...]  # IRIs of graphs, or of what the server calls its asserted triples
    inferred: tuple[str, ...] = ()  # The same for inferred triples, where the server reasons


@dataclass(frozen=True)
class LoadReport:
    """What a bulk load did."""

    graph: str  # IRI of the graph that received the triples
    triples: int  # Triples that the graph holds more than before
    seconds: float  # Wall-clock time
    files: tuple[str, ...]  # Paths read
    rejected: tuple[RejectedLine, ...] = ()  # Lines left out, when that was asked for
    odd_tags: tuple[str, ...] = ()  # Language tags that BCP 47 does not allow, as they stand in the files
    empty: tuple[str, ...] = ()  # Files without a statement

    @property
    def triples_per_second(self) -> float:
        """Return the rate of the load."""
        return self.triples / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class SelectResult:
    """The rows of a SELECT query, each a tuple in the order of `variables`."""

    variables: tuple[str, ...]
    rows: Sequence[Row] = field(default_factory=list)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def bindings(self) -> list[dict[str, Term]]:
        """Return each row as a mapping of its bound variables."""
        return [
            {v: t for v, t in zip(self.variables, row, strict=True) if t is not None} for row in self.rows
        ]

    def column(self, variable: str) -> list[Term | None]:
        """Return the values of one variable, row by row."""
        at = self.variables.index(variable)
        return [row[at] for row in self.rows]


@dataclass(frozen=True)
class SelectStream:
    """The rows of a SELECT query as they come, to be read once; what is not whole raises when that shows."""

    variables: tuple[str, ...]
    rows: Iterator[Row]

    def __iter__(self) -> Iterator[Row]:
        return self.rows


@runtime_checkable
class TripleStore(Protocol):
    """An RDF dataset that answers SPARQL, embedded or remote.

    Queries come from the catalogue or from typed patterns and are trusted; what a person or a model
    wrote goes through `mrag.graph.kg.KnowledgeGraph.query`, which guards and bounds it.
    """

    url: str
    identity: str
    capabilities: Capabilities

    def select(self, query: str, dataset: Dataset) -> SelectResult:
        """Answer a SELECT query over the graphs of `dataset`."""

    def stream(self, query: str, dataset: Dataset) -> SelectStream:
        """Answer a SELECT query with rows that are not held, for answers of any length."""

    def ask(self, query: str, dataset: Dataset) -> bool:
        """Answer an ASK query."""

    def construct(self, query: str, dataset: Dataset) -> Iterator[Triple]:
        """Answer a CONSTRUCT or DESCRIBE query."""

    def update(self, query: str) -> None:
        """Carry out an update, whole or not at all."""

    def derive(self, query: Construct, dataset: Dataset, into: str) -> None:
        """Put the triples of a CONSTRUCT query into the graph `into`; it sees that graph as it was before."""

    def bounded(
        self, query: str, dataset: Dataset, limits: Limits, extra: bytes = b""
    ) -> SelectResult | bool | list[Triple]:
        """Answer a read query of any form that the read gate has let through.

        Args:
            query: The query.
            dataset: The graphs it sees.
            limits: Its caps; it is ended at its deadline, whether the server knows that or not.
            extra: N-Triples for its sight alone.

        Raises:
            QueryTimeout: At the deadline.
            QueryRefused: If the result is larger than the caps, or the store rejects the query.
            EndpointError: If the answer of a server is not whole.
        """

    def bulk_load(
        self,
        sources: Sequence[Source],
        graph: str,
        *,
        on_progress: Progress | None = None,
        skip_bad_lines: bool = False,
        merged: str | None = None,
    ) -> LoadNotes:
        """Load files into a graph, whole or not at all, and return what was left out or let pass.

        Args:
            sources: The files.
            graph: IRI of the graph; no one reads it yet where loads are not atomic.
            on_progress: Called with bytes read and bytes in all.
            skip_bad_lines: Leave out the bad lines of N-Triples and N-Quads instead of refusing.
            merged: Graph for what named graphs hold, which are kept then ("" for none); by default `graph`.

        Raises:
            LoadError: If a file is not well formed, or the disk is full.
            EndpointError: If a server refuses or goes away.
        """

    def edges(
        self, graph: str, *, s: str | None = None, p: str | None = None, o: str | None = None
    ) -> Iterator[ox.Quad]:
        """Stream the triples of a graph that match, lazily (where `capabilities.edges`)."""

    def insert(self, ntriples: bytes, graph: str) -> None:
        """Add N-Triples to a graph, whole or not at all."""

    def count(self, graph: str) -> int:
        """Count the triples of a graph."""

    def graphs(self) -> list[str]:
        """List the named graphs, scratch graphs left out."""

    def prefixes(self) -> Mapping[str, str]:
        """Return the prefixes that the store keeps itself; most keep none."""

    def remember(self, prefixes: Mapping[str, str]) -> None:
        """Have the store keep prefixes, where it does that."""

    def layers(self) -> StoreLayers | None:
        """Return the graphs of data that was not loaded by mrag; None if there is none or none is read."""

    def clear(self, graph: str) -> None:
        """Remove a graph with its triples."""

    def dump(self, graph: str, output: IO[bytes], format: str = "nt") -> None:
        """Write a graph to a stream as N-Triples (`nt`) or Turtle (`ttl`)."""

    def close(self) -> None:
        """Release files, connections and worker processes."""


_Method = TypeVar("_Method", bound=Callable[..., Any])


def traced(method: _Method) -> _Method:
    """Give each call of a store's method that answers a query a span, with the query's name and its rows."""

    @wraps(method)
    def measured(self: object, query: str, *args: Any, **kwargs: Any) -> Any:
        if tracing() is None:
            return method(self, query, *args, **kwargs)
        about = {"mrag.query.name": queries.name_of(query) or "composed", "mrag.store": type(self).__name__}
        with span("mrag.query", about) as note:
            result = method(self, query, *args, **kwargs)
            if isinstance(result, SelectResult | list):
                note({"mrag.rows": len(result)})
            return result

    return cast(_Method, measured)


class BaseStore:
    """What stores share."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self: TripleStore, *exc: object) -> None:
        self.close()

    @traced
    def select(self: TripleStore, query: str, dataset: Dataset) -> SelectResult:
        """Answer a SELECT query over the graphs of `dataset`."""
        result = self.stream(query, dataset)
        return SelectResult(result.variables, list(result))

    def prefixes(self) -> Mapping[str, str]:
        """Return the prefixes that the store keeps itself: none."""
        return {}

    def remember(self, prefixes: Mapping[str, str]) -> None:
        """Keep no prefixes; the knowledge graph's record does."""
