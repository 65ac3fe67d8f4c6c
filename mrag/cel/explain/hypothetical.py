"""Instance queries over a graph with some triples more or fewer, the graph itself untouched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pyoxigraph as ox

from mrag.cel.semantics.sparql import X, members
from mrag.cel.syntax.expressions import Expression
from mrag.errors import EndpointError, QueryRefused
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf import patterns as pt
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import Triple, to_ntriples, to_ox
from mrag.stores.base import Limits, SelectResult


def holds_with(
    kg: KnowledgeGraph,
    expression: Expression,
    individual: str,
    added: Iterable[Triple] = (),
    removed: Iterable[Triple] = (),
    *,
    seconds: float = 30.0,
) -> bool:
    """Ask the store whether an expression would hold an individual, were some triples otherwise.

    The added triples stand in a scratch graph that this one query sees, or in the query itself where the
    store does not let one be written. The removed ones are taken out of the solutions of every triple
    pattern of the query, which is the query over a dataset without them.

    Args:
        kg: The knowledge graph.
        expression: The expression.
        individual: IRI of the individual.
        added: Triples more.
        removed: Triples fewer.
        seconds: Deadline of the query.

    Raises:
        QueryTimeout: At the deadline.

    Example:
        >>> import mrag
        >>> from mrag.cel.syntax.expressions import Named, Not
        >>> from rdflib import RDF, URIRef
        >>> kg = mrag.connect()
        >>> x, old, new = (URIRef(f"urn:{n}") for n in ("x", "Old", "New"))
        >>> _ = kg.insert([Triple(x, RDF.type, old)])
        >>> holds_with(kg, Named("urn:New"), "urn:x", [Triple(x, RDF.type, new)], [Triple(x, RDF.type, old)])
        True
        >>> kg.close()
    """
    put_in, left_out = list(added), list(removed)
    if not put_in:
        return len(kg.select(query_as_if(expression, individual, (), left_out))) > 0
    query = query_as_if(expression, individual, (), left_out)
    scratch = to_ntriples(put_in)
    try:
        found = kg.store.bounded(query, kg.dataset(), Limits(seconds=seconds), scratch)
    except (QueryRefused, EndpointError):
        # No scratch graph can be written here, so the triples stand in the query.
        return len(kg.select(query_as_if(expression, individual, put_in, left_out))) > 0
    return isinstance(found, SelectResult) and len(found) > 0


def query_as_if(
    expression: Expression, individual: str, added: Iterable[Triple], removed: Iterable[Triple]
) -> str:
    """Return the query for one individual as it is answered with some triples more and others fewer.

    Every triple pattern that an added triple matches has it as an alternative; solutions in which a removed
    triple was matched are taken out. Slower than a scratch graph, but nothing has to be written.
    """
    put_in, left_out = ([tuple(to_ox(t) for t in triple) for triple in some] for some in (added, removed))
    where = _block(pt.Group(tuple(members(expression, [individual]))), put_in, left_out)
    return to_sparql(pt.Select((X,), where, distinct=True))


_Triples: TypeAlias = Sequence[tuple[object, ...]]


def _changed(parts: Iterable[pt.Pattern], added: _Triples, removed: _Triples) -> Iterator[pt.Pattern]:
    """Yield the patterns of a group as they match with and without some triples."""
    for part in parts:
        match part:
            case pt.TriplePattern():
                names, more, fewer = _rows(part, added, removed)
                found: list[pt.Pattern] = [part]
                if fewer:
                    # A solution that binds these variables so has matched the triple.
                    found.append(pt.Minus(pt.Values(names, fewer)) if names else pt.Filter(ox.Literal(False)))
                if more:
                    found = [
                        pt.Union((pt.Group(tuple(found)), pt.Values(names, more) if names else pt.Group(())))
                    ]
                yield from found
            case pt.Group():
                yield _block(part, added, removed)
            case pt.Union(inner):
                yield pt.Union(tuple(_block(p, added, removed) for p in inner))
            case pt.Minus(inner):
                yield pt.Minus(_block(inner, added, removed))
            case pt.Optional(inner):
                yield pt.Optional(_block(inner, added, removed))
            case pt.Graph(name, inner):
                yield pt.Graph(name, _block(inner, added, removed))
            case pt.SubSelect(select):
                yield pt.SubSelect(replace(select, where=_block(select.where, added, removed)))
            case _:
                yield part


def _block(pattern: pt.Pattern, added: _Triples, removed: _Triples) -> pt.Group:
    parts = pattern.parts if isinstance(pattern, pt.Group) else (pattern,)
    return pt.Group(tuple(_changed(parts, added, removed)))


_Rows: TypeAlias = tuple[tuple[ox.NamedNode | ox.Literal, ...], ...]


def _rows(
    pattern: pt.TriplePattern, added: _Triples, removed: _Triples
) -> tuple[tuple[ox.Variable, ...], _Rows, _Rows]:
    """Return the variables of a triple pattern, and their values in the triples that it matches."""
    names = tuple(dict.fromkeys(pattern.variables()))

    def values(triples: _Triples) -> _Rows:
        found: list[tuple[Any, ...]] = []
        for s, p, o in triples:
            if p == pattern.p and _fits(pattern.s, s) and _fits(pattern.o, o):
                bound = {n: v for n, v in ((pattern.s, s), (pattern.o, o)) if isinstance(n, ox.Variable)}
                found.append(tuple(bound[n] for n in names))
        return tuple(found)

    return names, values(added), values(removed)


def _fits(node: object, value: object) -> bool:
    return isinstance(node, ox.Variable) or node == value
