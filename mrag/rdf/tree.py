"""What the parser makes of a SPARQL text: nodes of a few kinds, whose leaves are RDF terms.

The kinds are a closed world: `walk` refuses a node that it does not know. None of them calls another
server, so a tree that has been walked holds nothing that does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

Term: TypeAlias = "URIRef | Literal | BNode | Variable"


@dataclass(frozen=True, slots=True)
class Path:
    """A property path (section 9.1).

    Attributes:
        operator: `/`, `|`, `^`, `!`, `*`, `+` or `?`.
        parts: What it is made of.
    """

    operator: str
    parts: tuple[URIRef | Path, ...]


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple pattern, or a path between two terms."""

    s: Term
    p: Term | Path
    o: Term


@dataclass(frozen=True, slots=True)
class Call:
    """An operator, a function or an aggregate with its arguments.

    Attributes:
        name: A sign such as `+`, a word such as `STR`, or a function's IRI.
        arguments: What it is applied to.
    """

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group graph pattern (section 5.2).

    Attributes:
        parts: What stands in it.
        first: Number of the token that opens it.
        last: Number of the token that closes it.
    """

    parts: tuple[Node, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS` or `NOT EXISTS` (section 8.1)."""

    group: Group
    negated: bool


@dataclass(frozen=True, slots=True)
class Union:
    """Groups of which any may match (section 7)."""

    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Optional:
    """A group that need not match (section 6)."""

    group: Group


@dataclass(frozen=True, slots=True)
class Minus:
    """A group whose solutions are taken away (section 8.2)."""

    group: Group


@dataclass(frozen=True, slots=True)
class Graph:
    """A group that is matched in a named graph (section 13.3)."""

    name: Term
    group: Group


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the solutions of its group (section 5.2.2)."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Bind:
    """`BIND (expression AS ?variable)` (section 10.1)."""

    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class Values:
    """Inline data (section 10.2); None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[URIRef | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a projection, a GROUP BY or an ORDER BY."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """A SELECT, as a query or inside one (section 12).

    Attributes:
        projection: Its variables and expressions; None is `*`.
        where: Its pattern.
        modifiers: What stands in GROUP BY, HAVING and ORDER BY.
        values: Inline data behind it.
    """

    projection: tuple[Item, ...] | None
    where: Group
    modifiers: tuple[Item, ...] = ()
    values: Values | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A query.

    Attributes:
        form: `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`.
        select: Its pattern and modifiers; other forms have no projection.
        template: The triples of a CONSTRUCT.
        graphs: IRIs named by `FROM`.
        named: IRIs named by `FROM NAMED`.
    """

    form: str
    select: Select
    template: tuple[Triple, ...] = ()
    graphs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


Expression: TypeAlias = "Term | Call | Exists"
Node: TypeAlias = (
    "Triple | Path | Call | Group | Exists | Union | Optional | Minus | Graph | Filter | Bind | Values "
    "| Item | Select | Query"
)

_INSIDE: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Path: lambda n: n.parts,
    Triple: lambda n: (n.s, n.p, n.o),
    Call: lambda n: n.arguments,
    Group: lambda n: n.parts,
    Exists: lambda n: (n.group,),
    Union: lambda n: n.groups,
    Optional: lambda n: (n.group,),
    Minus: lambda n: (n.group,),
    Graph: lambda n: (n.name, n.group),
    Filter: lambda n: (n.condition,),
    Bind: lambda n: (n.expression, n.variable),
    Values: lambda n: n.variables,
    Item: lambda n: (n.expression, n.variable) if n.variable is not None else (n.expression,),
    Select: lambda n: (*(n.projection or ()), n.where, *n.modifiers, *((n.values,) if n.values else ())),
    Query: lambda n: (n.select, *n.template),
}
KINDS = frozenset(_INSIDE)
"""All kinds of nodes."""
_TERMS = frozenset((URIRef, Literal, BNode, Variable))


def inside(node: Node) -> tuple[Any, ...]:
    """Return the nodes and terms right below a node, in the order in which they stand.

    Raises:
        TypeError: If its kind is not known.
    """
    found = _INSIDE.get(type(node))
    if found is None:
        raise TypeError(f"{type(node).__name__} is no kind of node that may be read.")
    return found(node)


def walk(node: Node) -> Iterator[Any]:
    """Yield a node and all below it, without the terms, in the order in which they stand.

    Raises:
        TypeError: At a node whose kind is not known.
    """
    stack: list[Any] = [node]
    while stack:
        found = stack.pop()
        if type(found) in _TERMS:
            continue
        yield found
        stack.extend(reversed(inside(found)))


def visible(node: Any) -> dict[str, None]:
    """Return the names of the variables that a pattern can bind, in order (section 18.2.1)."""
    match node:
        case Variable():
            return {str(node): None}
        case Select() if node.projection is not None:
            return {
                str(i.variable if i.variable is not None else i.expression): None for i in node.projection
            }
        case Select():
            parts: tuple[Any, ...] = (node.where, node.values) if node.values else (node.where,)
        case Triple() | Group() | Union() | Optional() | Graph() | Values():
            parts = inside(node)
        case Bind():
            parts = (node.variable,)
        case _:
            parts = ()
    return {name: None for part in parts for name in visible(part)}
