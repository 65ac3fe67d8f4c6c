"""A query as a server can do it: its solutions in parts and in order, or without hints.

RDF4J's REST interface has `limit`, `offset` and `distinct`. Virtuoso cuts long answers, refuses to sort by
long texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace

import pyoxigraph as ox

from mrag.rdf import patterns as pt
from mrag.rdf.parser import Tokens

_KEY = 200  # Characters of a text that decide its place in order, where a server refuses more


def slice_query(text: str, limit: int | None, offset: int = 0, *, distinct: bool = False) -> str:
    """Return a query for some of the solutions of another, counted after its own LIMIT and OFFSET."""
    read = Tokens(text)
    own: dict[str, int] = {}
    modifiers: dict[int, str] = {}
    depth, closed, values = 0, False, None
    for number, token in enumerate(read.tokens):
        if distinct and token.key == "SELECT":
            modifiers |= _distinct(read, number)
            distinct = False
        elif token.key in ("{", "("):
            depth += 1
        elif token.key in ("}", ")"):
            depth -= 1
            closed = closed or (token.key == "}" and not depth)
        elif depth or not closed:
            continue
        elif token.key in ("LIMIT", "OFFSET"):
            own[token.key] = int(read.tokens[number + 1].text)
            modifiers |= {number: "", number + 1: ""}
        elif token.key == "VALUES":
            values = number
    if "LIMIT" in own:
        left = max(0, own["LIMIT"] - offset)
        limit = left if limit is None else min(limit, left)
    offset += own.get("OFFSET", 0)
    parts = [read.print(0, values, modifiers).rstrip()]
    parts += [f"LIMIT {limit}"] if limit is not None else []
    parts += [f"OFFSET {offset}"] if offset else []
    parts += [read.print(values)] if values is not None else []
    return " ".join(parts)


def _distinct(read: Tokens, select: int) -> dict[int, str]:
    if read.tokens[select + 1].key in ("DISTINCT", "REDUCED"):
        return {select + 1: "DISTINCT"}
    return {select: "SELECT DISTINCT"}


def page_query(text: str, names: Sequence[str], limit: int, offset: int) -> str | None:
    """Return a query for a page of the solutions of a SELECT query, in its own order and its columns'.

    The order is that of a sub-select, because Virtuoso sorts no more than ten thousand rows for a query that
    leaves some out. None where a query cannot be put into another.
    """
    if (parts := _inner(text)) is None:
        return None
    before, rows, ordered = parts
    columns = " ".join(f"?{name}" for name in names)
    if ordered:
        rows = _totally(rows, columns)
    else:
        rows = f"SELECT {columns} WHERE {{ {{ {rows} }} }} ORDER BY {columns}"
    return f"{before} SELECT {columns} WHERE {{ {{ {rows} }} }} LIMIT {limit} OFFSET {offset}".strip()


def count_query(text: str, names: Sequence[str]) -> str | None:
    """Return a query for the number of solutions of a SELECT query, see `paged`."""
    if (parts := _inner(text)) is None:
        return None
    before, rows, _ = parts
    return f"{before} SELECT (COUNT(*) AS ?{''.join(names)}_count) WHERE {{ {{ {rows} }} }}".strip()


def _totally(rows: str, columns: str) -> str:
    """Put columns behind the keys by which a query is ordered, so that no two pages share a place."""
    read = Tokens(rows)
    depth, last = 0, len(read.tokens) - 1
    ordered = False
    for number, token in enumerate(read.tokens):
        depth += (token.key in ("{", "(")) - (token.key in ("}", ")"))
        ordered = ordered or (not depth and token.key == "ORDER")
        if ordered and not depth and token.key in ("LIMIT", "OFFSET", "VALUES"):
            last = number
            break
    return f"{read.print(0, last)} {columns} {read.print(last)}".strip()


def _inner(text: str) -> tuple[str, str, bool] | None:
    """Return what stands before a SELECT query, the query, and whether it has an order."""
    read = Tokens(text)
    depth, start, ordered = 0, None, False
    for number, token in enumerate(read.tokens):
        if token.key in ("{", "("):
            depth += 1
        elif token.key in ("}", ")"):
            depth -= 1
        elif not depth and token.key == "SELECT" and start is None:
            start = number
        elif not depth and token.key == "FROM":
            return None
        elif not depth and token.key == "ORDER":
            ordered = True
    if start is None:
        return None
    return read.print(0, start).strip(), read.print(start).strip(), ordered


def short_keys(text: str) -> str:
    """Return a query that puts in order by the beginnings of texts only, where it says `STR`."""
    read = Tokens(text)
    changed: dict[int, str] = {}
    keys = False
    for number, token in enumerate(read.tokens):
        if token.key == "ORDER":
            keys = True
        elif token.key in ("LIMIT", "OFFSET", "VALUES", "}"):
            keys = False
        elif keys and token.key == "STR" and read.tokens[number + 2].key == "var":
            changed |= {number: "SUBSTR(STR", number + 3: f"), 1, {_KEY})"}
    return read.print(0, None, changed)


def without_limit(query: pt.Construct) -> pt.Construct:
    """Return a query without the sub-selects that only tell the engine how few rows they have."""
    return replace(query, where=_drop_sizes(query.where))


def _drop_sizes(pattern: pt.Pattern) -> pt.Pattern:
    if isinstance(pattern, pt.Group):
        parts: list[pt.Pattern] = []
        for part in map(_drop_sizes, pattern.parts):
            parts += part.parts if isinstance(part, pt.Group) else [part]
        return pt.Group(tuple(parts))
    if not isinstance(pattern, pt.SubSelect):
        return pattern
    inner = _drop_sizes(pattern.select.where)
    return inner if pattern.select.sized else pt.SubSelect(replace(pattern.select, where=inner))


def pushable(condition: pt.Expression, names: frozenset[ox.Variable]) -> bool:
    """Return whether a condition can be decided where these variables are bound, without triples."""
    inside = list(_inside(condition))
    return not any(isinstance(part, pt.Holds) for part in inside) and names.issuperset(
        part for part in inside if isinstance(part, ox.Variable)
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
