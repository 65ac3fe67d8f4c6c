"""A query on its way through the server: the request, the query as the read gate passed it, its result."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from rdflib import BNode, Literal

from mrag.rdf.guard import ReadQuery
from mrag.rdf.queries import Value
from mrag.stores.base import SelectResult


@dataclass(frozen=True)
class QueryRequest:
    """A query with the other parameters of a request.

    Attributes:
        text: The query.
        default: Graphs that `default-graph-uri` names.
        named: Graphs that `named-graph-uri` names.
        infer: Whether inferred triples count.
        values: Terms that variables have from the start.
        seconds: The client's own deadline.
        base: What relative IRIs are relative to, where the query does not say.
        limit: How many of its solutions are asked for; all by default.
        offset: How many are left out before them.
        distinct: Whether solutions that are the same count once, as if the query said DISTINCT.
    """

    text: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    infer: bool = True
    values: Mapping[str, Value] = field(default_factory=dict)
    seconds: float | None = None
    base: str | None = None
    limit: int | None = None
    offset: int = 0
    distinct: bool = False


@dataclass(frozen=True)
class CheckedQuery:
    """A query that has passed the read gate.

    Attributes:
        query: What the gate found.
        text: What is run.
        start: Terms that the engine starts from, taken apart.
        asked: What was asked.
        until: Time of the event loop's clock by which the answer must begin.
    """

    query: ReadQuery
    text: str
    start: Mapping[str, Any]
    asked: QueryRequest
    until: float


class ResultStream:
    """A result on its way: the first piece is there, the others follow.

    Attributes:
        first: The first piece.
        whole: Whether that is all.
    """

    def __init__(self, first: bytes, rest: AsyncIterator[bytes] | None = None) -> None:
        self.first = first
        self.whole = rest is None
        self._rest = rest

    async def rest(self) -> AsyncIterator[bytes]:
        """Yield the pieces after the first.

        Raises:
            MragError: If the answer cannot be completed.
        """
        if self._rest is not None:
            async for piece in self._rest:
                yield piece

    async def close(self) -> None:
        """End the query, if it still runs."""
        if self._rest is not None:
            await cast(Any, self._rest).aclose()


def plain_term(term: Any) -> tuple[str, str, str | None, str | None]:
    """Return kind, text, language and datatype of a term of rdflib."""
    if isinstance(term, Literal):
        return "l", str(term), term.language, str(term.datatype) if term.datatype else None
    return "b" if isinstance(term, BNode) else "i", str(term), None, None


def written(result: Any, format: str, prefixes: Mapping[str, str]) -> bytes:
    """Serialise the result of a store that returns terms."""
    import pyoxigraph as ox

    from mrag.rdf.terms import to_ox
    from mrag.server.protocols.tables import answer, table
    from mrag.stores.process.query_child import serialized

    if isinstance(result, bool):
        return answer(result, format)
    if isinstance(result, SelectResult):
        return table(result.variables, result.rows, format)
    triples = (ox.Triple(cast(Any, to_ox(t.s)), cast(Any, to_ox(t.p)), to_ox(t.o)) for t in result)
    return serialized(triples, format, prefixes)
