"""A query as a server can do it in its time: in pieces that together give what it gives, or without hints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

import pyoxigraph as ox

from mrag.rdf import patterns as pt

_DIGITS = "0123456789abcdef"


def pieces(query: pt.Construct, level: int = 0) -> list[pt.Construct]:
    """Return queries that together construct what a query does, each from about a sixteenth of its solutions.

    The solutions of its first sub-select, or else of its first triple pattern, are told apart by a digit of
    their hash, so that no order and no count is needed.

    Args:
        query: The query.
        level: Which digit; one more for the pieces of a piece.

    Returns:
        The pieces; none where there is nothing to tell its solutions apart by.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> triple = pt.TriplePattern(pt.var("s"), pt.iri("urn:p"), pt.var("o"))
        >>> from mrag.rdf.patterns import to_sparql
        >>> parts = pieces(pt.Construct((triple,), triple))
        >>> len(parts), to_sparql(parts[10]).partition(". ")[2].partition(". ")[2]
        (16, 'FILTER(substr(md5(concat(str(?s), str(?o))), 1, 1) IN ("a")) }')
    """
    group = query.where.parts if isinstance(query.where, pt.Group) else (query.where,)
    found: list[pt.Construct] = []
    for digit in _DIGITS:
        parts = _narrowed(group, digit, level)
        if parts is None:
            return []
        found.append(replace(query, where=pt.Group(parts)))
    return found


def unsized(query: pt.Construct) -> pt.Construct:
    """Return a query without the sub-selects that only tell the engine how few rows they have.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> from mrag.rdf.patterns import to_sparql
        >>> triple = pt.TriplePattern(pt.var("s"), pt.iri("urn:p"), pt.var("o"))
        >>> first = pt.SubSelect(pt.Select((pt.var("s"), pt.var("o")), triple, limit=110, sized=True))
        >>> print(to_sparql(unsized(pt.Construct((triple,), pt.Group((first,))))))
        CONSTRUCT { ?s <urn:p> ?o . } WHERE { ?s <urn:p> ?o . }
    """
    return replace(query, where=_unsized(query.where))


def _unsized(pattern: pt.Pattern) -> pt.Pattern:
    if isinstance(pattern, pt.Group):
        parts: list[pt.Pattern] = []
        for part in map(_unsized, pattern.parts):
            parts += part.parts if isinstance(part, pt.Group) else [part]
        return pt.Group(tuple(parts))
    if not isinstance(pattern, pt.SubSelect):
        return pattern
    inner = _unsized(pattern.select.where)
    return inner if pattern.select.sized else pt.SubSelect(replace(pattern.select, where=inner))


def pushable(condition: pt.Expression, names: frozenset[ox.Variable]) -> bool:
    """Return whether a condition can be decided where these variables are bound, without looking at triples.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> x, y = pt.var("x"), pt.var("y")
        >>> unlike = pt.Compare(x, "!=", y)
        >>> pushable(unlike, frozenset({x, y})), pushable(unlike, frozenset({x}))
        (True, False)
    """
    inside = list(_inside(condition))
    return not any(isinstance(part, pt.NotExists | pt.Holds) for part in inside) and names.issuperset(
        part for part in inside if isinstance(part, ox.Variable)
    )


def _narrowed(parts: tuple[pt.Pattern, ...], digit: str, level: int) -> tuple[pt.Pattern, ...] | None:
    for at, part in enumerate(parts):
        if isinstance(part, pt.SubSelect):
            inner = part.select.where
            within = inner.parts if isinstance(inner, pt.Group) else (inner,)
            # The sub-select of distinct rows holds the one that the engine starts with.
            deeper = _narrowed(within, digit, level) if part.select.distinct else None
            if deeper is None:
                names = [v for v in part.select.variables if isinstance(v, ox.Variable)]
                deeper = (*within, _filter(names, digit, level)) if names else None
            if deeper is None:
                return None
            select: pt.Select = replace(part.select, where=pt.Group(deeper))
            return (*parts[:at], pt.SubSelect(select), *parts[at + 1 :])
    for part in parts:
        atom = part.pattern if isinstance(part, pt.Graph) else part
        names = list(dict.fromkeys(atom.variables())) if isinstance(atom, pt.TriplePattern) else []
        if names:
            return (*parts, _filter(names, digit, level))
    return None


def _filter(names: list[ox.Variable], digit: str, level: int) -> pt.Filter:
    text: tuple[pt.Expression, ...] = tuple(pt.Call("str", (name,)) for name in names)
    hashed = pt.Call("md5", (pt.Call("concat", text),))
    return pt.Filter(
        pt.In(pt.Call("substr", (hashed, ox.Literal(level + 1), ox.Literal(1))), (ox.Literal(digit),))
    )


def _inside(value: object) -> Iterator[object]:
    """Yield an expression and all that is in it."""
    yield value
    if isinstance(value, tuple):
        for part in value:
            yield from _inside(part)
    elif is_dataclass(value):
        for one in fields(value):
            yield from _inside(getattr(value, one.name))
