"""Parts of a query's solutions, as RDF4J's REST interface asks for them: `limit`, `offset`, `distinct`."""

from __future__ import annotations

from mrag.rdf.lexer import Tokens


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
