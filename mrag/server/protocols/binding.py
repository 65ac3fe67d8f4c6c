"""Values that a request gives to a query's variables, as RDF4J's `$name` parameters do.

The engine starts from such values (`substitutions`), and then also a FILTER in an inner group sees
them. It does so only for variables of the result. For others of a SELECT query a `VALUES` is put at the
beginning of each group that names them; where those groups stand, the grammar tells. A sub-select that
does not hand a variable on keeps its own, as in RDF4J. For a store that is a server all are given this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import QueryRefused
from mrag.rdf.guard import ReadQuery
from mrag.rdf.parser import GroupNode, SelectNode, inside, parse_query, visible
from mrag.rdf.queries import values_block

Values = Mapping[str, URIRef | Literal]


def bind(
    read: ReadQuery, values: Values, *, substitutes: bool = True
) -> tuple[str, dict[str, URIRef | Literal]]:
    """Bind variables of a query to values.

    Args:
        read: A query that has passed the read gate.
        values: Terms by the names of variables; those that the query does not name have no effect.
        substitutes: Whether the engine can start from values; a server cannot be given any, and then all of
            them are put into the text.

    Returns:
        The text to run, and the values that the engine has to start from.

    Raises:
        QueryRefused: If a value cannot be put into the text.

    Example:
        >>> from mrag.rdf.guard import read_gate
        >>> read = read_gate("SELECT ?o { ?x ?p ?o FILTER EXISTS { ?x a ?t } }")
        >>> text, rest = bind(read, {"x": URIRef("urn:a"), "o": Literal("c")})
        >>> print(text)
        SELECT ?o { VALUES (?x) { (<urn:a>) } ?x ?p ?o FILTER EXISTS { VALUES (?x) { (<urn:a>) } ?x a ?t } }
        >>> sorted(rest)
        ['o']
    """
    if not substitutes:
        return _with_values(read.text, values), {}
    if read.form != "SelectQuery":
        return read.text, dict(values)
    start = {name: term for name, term in values.items() if name in read.projection}
    inside = {name: term for name, term in values.items() if name not in read.projection}
    return _with_values(read.text, inside) if inside else read.text, start


def _with_values(text: str, values: Values) -> str:
    query, parser = parse_query(text)
    if query.form == "ConstructQuery" and query.select.where.parts == query.template:
        _refuse_short(text, query.template, values)
    insertions: dict[int, str] = {}
    for group, names, around in _groups(query.select, frozenset(values)):
        if named := sorted(names & (_named_in(group) | around)):
            insertions[group.first] = f"{{ {values_block(named, [[values[n] for n in named]])}"
    if not insertions and query.form == "DescribeQuery":
        _refuse_short(text, query.select.projection or (), values)
    return parser.tokens.printed(instead=insertions)


def _refuse_short(text: str, parts: Iterable[Any], values: Values) -> None:
    """Refuse to give values to a query without a group of its own to put them into."""
    if any(str(v) in values for part in parts for v in _parts(part) if isinstance(v, Variable)):
        raise QueryRefused(
            "Variables of this short form take no values here.",
            query=text,
            hint="Write the query in full, with a WHERE of its own.",
        )


def _groups(
    node: Any, names: frozenset[str], around: frozenset[str] = frozenset()
) -> Iterator[tuple[GroupNode, frozenset[str], frozenset[str]]]:
    """Yield each group with the names that it may have values for, and those that its query names."""
    if isinstance(node, SelectNode):
        around = frozenset(_named_in(node))
    elif isinstance(node, GroupNode) and not (node.parts and isinstance(node.parts[0], SelectNode)):
        yield node, names, around
        around = frozenset()
    for part in _parts(node):
        # A sub-select hands on what it projects, and nothing else.
        handed = names & {*visible(part)} if isinstance(part, SelectNode) and part.projection else names
        yield from _groups(part, handed, around)


def _named_in(node: GroupNode | SelectNode) -> set[str]:
    """Return the variables that a group or a query names, those of groups inside it left out."""
    found: set[str] = set()
    stack = list(_parts(node))
    while stack:
        part = stack.pop()
        if isinstance(part, Variable):
            found.add(str(part))
        elif not isinstance(part, GroupNode | SelectNode):
            stack.extend(_parts(part))
    return found


def _parts(node: Any) -> tuple[Any, ...]:
    return () if isinstance(node, URIRef | Literal | BNode | Variable) else inside(node)
