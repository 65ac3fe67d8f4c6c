"""What child processes read for the server: queries with values for variables, updates, large forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias
from urllib.parse import parse_qsl

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import ConfigError, MragError, QueryRefused
from mrag.rdf.guard import ReadQuery, read_gate
from mrag.rdf.parser import GroupNode, SelectNode, inside, parse_query, visible
from mrag.rdf.queries import values_block

Values = Mapping[str, URIRef | Literal]


def bind(
    read: ReadQuery, values: Values, *, substitutes: bool = True
) -> tuple[str, dict[str, URIRef | Literal]]:
    """Bind variables of a query to values."""
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
        if named := sorted(names & (_names_in(group) | around)):
            insertions[group.first] = f"{{ {values_block(named, [[values[n] for n in named]])}"
    if not insertions and query.form == "DescribeQuery":
        _refuse_short(text, query.select.projection or (), values)
    return parser.tokens.print(instead=insertions)


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
        around = frozenset(_names_in(node))
    elif isinstance(node, GroupNode) and not (node.parts and isinstance(node.parts[0], SelectNode)):
        yield node, names, around
        around = frozenset()
    for part in _parts(node):
        # A sub-select hands on what it projects, and nothing else.
        handed = names & {*visible(part)} if isinstance(part, SelectNode) and part.projection else names
        yield from _groups(part, handed, around)


def _names_in(node: GroupNode | SelectNode) -> set[str]:
    """Return the variables that a group or a query names, those of groups inside it left out."""
    names: set[str] = set()
    stack = list(_parts(node))
    while stack:
        part = stack.pop()
        if isinstance(part, Variable):
            names.add(str(part))
        elif not isinstance(part, GroupNode | SelectNode):
            stack.extend(_parts(part))
    return names


def _parts(node: Any) -> tuple[Any, ...]:
    return () if isinstance(node, URIRef | Literal | BNode | Variable) else inside(node)


Fields: TypeAlias = list[tuple[str, str]]


def pairs(data: bytes) -> Fields:
    """Read the parameters of a form or of an address."""
    try:
        text = data.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except (UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"The parameters cannot be read: {error}.") from error


def read_query(
    text: str,
    graphs: Sequence[str],
    prefixes: Mapping[str, str],
    values: Mapping[str, URIRef | Literal],
    substitutes: bool,
) -> tuple[ReadQuery, str, dict[str, URIRef | Literal]]:
    """Pass a query through the read gate, and give it the values of its variables."""
    with _refusing():
        read = read_gate(text, graphs, prefixes)
        return (read, *bind(read, values, substitutes=substitutes)) if values else (read, read.text, {})


def read_update(text: str, prefixes: Mapping[str, str], more: Mapping[str, Any]) -> Sequence[Any]:
    """Parse an update."""
    from mrag.rdf.parser import parse_update

    with _refusing():
        return parse_update(text, prefixes, **more)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except MragError as error:
        where = f" <{error.term}>" if error.term and isinstance(error, QueryRefused) else ""
        raise QueryRefused(f"{error.message.rstrip('.')}{where}.", hint=error.hint) from error
    except RecursionError as error:
        raise QueryRefused("The text is nested too deeply.") from error
