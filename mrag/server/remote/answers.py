"""Answers of a store that is a server itself, written in the formats that clients ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

import pyoxigraph as ox
from rdflib import URIRef

from mrag.errors import EndpointError, QueryTimeout
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.patterns import Construct, Group, TriplePattern, to_sparql, var
from mrag.rdf.queries import term
from mrag.rdf.terms import Triple, to_ox
from mrag.server.queries import CheckedQuery, written
from mrag.server.remote.following import RecordFollower
from mrag.stores.base import Dataset, Limits
from mrag.stores.process.query_child import serialized, term_of

T = TypeVar("T")
_TRIES = 3
"""Times that a query is run where graphs that it reads are replaced meanwhile."""
_WITH_PREFIXES = ("turtle", "trig", "rdfxml")


class RemoteAnswers:
    """Runs queries on a store that is a server, and writes their results down.

    What is answered belongs to one state of the graph: where another process has replaced a graph while the
    query ran, it runs again.

    Args:
        kg: The knowledge graph.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg = kg
        self.follower = RecordFollower(kg)

    def answer(
        self,
        read: CheckedQuery,
        seen: Callable[[], Dataset],
        format: str,
        limits: Limits,
        extra: bytes,
    ) -> bytes:
        """Return the answer to a query.

        Args:
            read: A query that has passed the read gate, its values bound in its text.
            seen: Returns the graphs that it sees at present.
            format: Name of the format.
            limits: Its caps.
            extra: Hits of similarity searches in it, as N-Triples.

        Raises:
            QueryRefused: If the server or a cap refuses it.
            QueryTimeout: At the deadline.
            EndpointError: If the server does not answer.
        """
        base = read.asked.base
        # The server would take relative IRIs to be relative to its own address.
        text = f"BASE {term(URIRef(base))} {read.text}" if base else read.text

        def run(dataset: Dataset, left: Limits) -> bytes:
            result = self.kg.store.bounded(text, dataset, left, extra)
            return written(result, format, self.kg.prefixes)

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
        """Return the statements of some graphs that match.

        Args:
            graphs: Returns the graphs to read at present, each with the name that clients know it by.
            pattern: Subject, predicate and object, taken apart, or None for any.
            format: Name of the format.
            limits: How many there may be, and how long it may take.
            named: Whether the names of graphs are written too.

        Raises:
            QueryRefused: If there are more.
            QueryTimeout: At the deadline.
            EndpointError: If the server does not answer.
        """
        terms = [None if value is None else term_of(value) for value in pattern]
        nodes = [var(name) if t is None else t for name, t in zip("spo", terms, strict=True)]
        # A server's blank nodes have no names that a query could use; in one they would stand for anything.
        nothing = any(isinstance(t, ox.BlankNode) for t in terms)
        one = TriplePattern(*nodes)
        text = "" if nothing else to_sparql(Construct((one,), Group((one,))))

        def run(dataset: Dataset, left: Limits) -> bytes:
            inside = graphs()
            found: list[ox.Quad | ox.Triple] = []
            for name in () if nothing else dict.fromkeys(inside.values() if named else (None,)):
                default = tuple(g for g, n in inside.items() if not named or n == name)
                rest = replace(left, rows=left.rows - len(found))
                triples = cast(list[Triple], self.kg.store.bounded(text, Dataset(default), rest))
                graph = ox.DefaultGraph() if name is None else ox.NamedNode(name)
                for s, p, o in (map(to_ox, t) for t in triples):
                    t = ox.Triple(cast(Any, s), cast(Any, p), o)
                    found.append(ox.Quad(t.subject, t.predicate, t.object, graph) if named else t)
            prefixes = self.kg.prefixes if format in _WITH_PREFIXES else None
            return serialized(found, format, prefixes)

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
            found = run(dataset, replace(limits, seconds=left))
            self.follower.catch_up(now=True)
            if seen() == dataset:
                return found
        raise EndpointError(
            f"The graph has changed {_TRIES} times while the query ran.",
            endpoint=self.kg.store.url,
            hint="Try again when the changes have been made.",
        )
