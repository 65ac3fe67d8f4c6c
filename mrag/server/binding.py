"""Values that a request gives to a query's variables, as RDF4J's `$name` parameters do.

The engine starts from such values (`substitutions`), and then also a FILTER in an inner group sees
them. It does so only for variables of the result. For others of a SELECT query a `VALUES` is put at the
beginning of each group that names them; where those groups stand, the grammar tells. A sub-select that
does not hand a variable on keeps its own, as in RDF4J.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rdflib import Literal, URIRef
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Variable

from mrag.guard import ReadQuery
from mrag.queries import values_block

Values = Mapping[str, URIRef | Literal]


def bind(read: ReadQuery, values: Values) -> tuple[str, dict[str, URIRef | Literal]]:
    """Give values to variables of a query.

    Args:
        read: A query that has passed the read gate.
        values: Terms by the names of variables; those that the query does not name have no effect.

    Returns:
        The text to run, and the values that the engine has to start from.

    Example:
        >>> from mrag.guard import read_gate
        >>> read = read_gate("SELECT ?o { ?x ?p ?o FILTER EXISTS { ?x a ?t } }")
        >>> text, rest = bind(read, {"x": URIRef("urn:a"), "o": Literal("c")})
        >>> print(text)
        SELECT ?o { VALUES (?x) { (<urn:a>) } ?x ?p ?o FILTER EXISTS { VALUES (?x) { (<urn:a>) } ?x a ?t } }
        >>> sorted(rest)
        ['o']
    """
    if read.form != "SelectQuery":
        return read.text, dict(values)
    start = {name: term for name, term in values.items() if name in read.projection}
    inside = {name: term for name, term in values.items() if name not in read.projection}
    return _with_values(read.text, inside) if inside else read.text, start


def _with_values(text: str, values: Values) -> str:
    from rdflib.plugins.sparql import parser

    places: dict[int, int] = {}

    def note(_text: str, place: int, found: Any) -> None:
        places[id(found[0])] = place

    # The process that runs this parses one text at a time.
    group = parser.GroupGraphPatternSub
    before = list(group.parseAction)
    group.add_parse_action(note)
    try:
        tree = parser.QueryUnit.copy().parse_with_tabs().parse_string(text, parse_all=True)
    finally:
        group.parseAction = before
    query = tree[1]
    insertions: dict[int, str] = {}
    for part, names, around in _groups(query, frozenset(values)):
        named = sorted(names & (_named_in(part) | around))
        if named:
            insertions[places[id(part)]] = f"{values_block(named, [[values[n] for n in named]])} "
    for place in sorted(insertions, reverse=True):
        text = text[:place] + insertions[place] + text[place:]
    return text


def _groups(
    node: Any, names: frozenset[str], around: frozenset[str] = frozenset()
) -> Iterator[tuple[Any, frozenset[str], frozenset[str]]]:
    """Yield each group with the names that it may have values for, and those that its query names."""
    kind = getattr(node, "name", "")
    if kind == "SubSelect" and node.projection:
        names = names & {str(p.var or p.evar) for p in node.projection}
    if kind in ("SubSelect", "SelectQuery"):
        around = frozenset(_named_in(node))
    elif kind == "GroupGraphPatternSub":
        yield node, names, around
        around = frozenset()
    for child in _children(node):
        yield from _groups(child, names, around)


def _named_in(group: Any) -> set[str]:
    """Return the variables that a group or a query names, those of groups inside it left out."""
    found: set[str] = set()
    stack = list(_children(group))
    while stack:
        node = stack.pop()
        if isinstance(node, Variable):
            found.add(str(node))
        elif getattr(node, "name", "") not in ("SubSelect", "GroupGraphPatternSub"):
            stack.extend(_children(node))
    return found


def _children(node: Any) -> Collection[Any]:
    # Lists of the grammar call themselves mappings too.
    if isinstance(node, CompValue):
        return list(node.values())
    if isinstance(node, str | bytes) or not hasattr(node, "__iter__"):
        return ()
    return list(node)
