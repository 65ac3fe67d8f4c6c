"""A query's solutions in parts and in order, as RDF4J's REST interface asks and as Virtuoso can.

RDF4J has `limit`, `offset` and `distinct`. Virtuoso cuts long answers, and refuses to sort by long texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from mrag.rdf.parser import Tokens

_KEY = 200
"""Characters of a text that decide its place in order, where a server refuses more."""


def sliced(text: str, limit: int | None, offset: int = 0, *, distinct: bool = False) -> str:
    """Return a query for some of the solutions of another, counted after its own LIMIT and OFFSET.

    Args:
        text: A query that the read gate has printed.
        limit: How many solutions; all by default.
        offset: How many are left out before them.
        distinct: Whether the query, a SELECT, is to say DISTINCT.

    Example:
        >>> print(sliced("SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 10 OFFSET 2", 20, 5))
        SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 5 OFFSET 7
    """
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
    parts = [read.printed(0, values, modifiers).rstrip()]
    parts += [f"LIMIT {limit}"] if limit is not None else []
    parts += [f"OFFSET {offset}"] if offset else []
    parts += [read.printed(values)] if values is not None else []
    return " ".join(parts)


def _distinct(read: Tokens, select: int) -> dict[int, str]:
    if read.tokens[select + 1].key in ("DISTINCT", "REDUCED"):
        return {select + 1: "DISTINCT"}
    return {select: "SELECT DISTINCT"}


def paged(text: str, names: Sequence[str], limit: int, offset: int) -> str | None:
    """Return a query for a page of the solutions of a SELECT query, in its own order or its columns'.

    The order is that of a sub-select, because Virtuoso sorts no more than ten thousand rows for a query that
    leaves some out.

    Args:
        text: The query, whose own order, where it has one, is to be total.
        names: Its columns.
        limit: Rows of the page.
        offset: Rows before it.

    Returns:
        The query; None where the other cannot be a sub-select, because it names its graphs.

    Example:
        >>> print(paged("SELECT ?s { ?s ?p ?o } ORDER BY ?s", ["s"], 10, 20))
        SELECT ?s WHERE { { SELECT ?s { ?s ?p ?o } ORDER BY ?s } } LIMIT 10 OFFSET 20
    """
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
    before, rows = read.printed(0, start).strip(), read.printed(start).strip()
    columns = " ".join(f"?{name}" for name in names)
    if not ordered:
        rows = f"SELECT {columns} WHERE {{ {{ {rows} }} }} ORDER BY {columns}"
    return f"{before} SELECT {columns} WHERE {{ {{ {rows} }} }} LIMIT {limit} OFFSET {offset}".strip()


def short_keys(text: str) -> str:
    """Return a query that puts in order by the beginnings of texts only, where it says `STR`.

    Args:
        text: The query.

    Example:
        >>> print(short_keys("SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s STR(?o) ?o LIMIT 3"))
        SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s SUBSTR(STR(?o), 1, 200) ?o LIMIT 3
    """
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
    return read.printed(0, None, changed)
