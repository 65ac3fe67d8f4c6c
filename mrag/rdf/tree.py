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
class TripleNode:
    """A triple pattern, or a path between two terms."""

    s: Term
    p: Term | Path
    o: Term


@dataclass(frozen=True, slots=True)
class CallNode:
    """An operator, a function or an aggregate with its arguments.

    Attributes:
        name: A sign such as `+`, a word such as `STR`, or a function's IRI.
        arguments: What it is applied to.
    """

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class GroupNode:
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

    group: GroupNode
    negated: bool


@dataclass(frozen=True, slots=True)
class UnionNode:
    """Groups of which any may match (section 7)."""

    groups: tuple[GroupNode, ...]


@dataclass(frozen=True, slots=True)
class OptionalNode:
    """A group that need not match (section 6)."""

    group: GroupNode


@dataclass(frozen=True, slots=True)
class MinusNode:
    """A group whose solutions are taken away (section 8.2)."""

    group: GroupNode


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A group that is matched in a named graph (section 13.3)."""

    name: Term
    group: GroupNode


@dataclass(frozen=True, slots=True)
class FilterNode:
    """A condition on the solutions of its group (section 5.2.2)."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class BindNode:
    """`BIND (expression AS ?variable)` (section 10.1)."""

    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class ValuesNode:
    """Inline data (section 10.2); None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[URIRef | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a projection, a GROUP BY or an ORDER BY."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class SelectNode:
    """A SELECT, as a query or inside one (section 12).

    Attributes:
        projection: Its variables and expressions; None is `*`.
        where: Its pattern.
        modifiers: What stands in GROUP BY, HAVING and ORDER BY.
        values: Inline data behind it.
        steps: What it does (`distinct`, `select`, `group by`, `having`, `order by`, `slice`),
            each with the numbers of its first token and of the one behind its last.
    """

    projection: tuple[Item, ...] | None
    where: GroupNode
    modifiers: tuple[Item, ...] = ()
    values: ValuesNode | None = None
    steps: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class QueryNode:
    """A query.

    Attributes:
        form: `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`.
        select: Its pattern and modifiers; other forms have no projection.
        template: The triples of a CONSTRUCT.
        graphs: IRIs named by `FROM`.
        named: IRIs named by `FROM NAMED`.
    """

    form: str
    select: SelectNode
    template: tuple[TripleNode, ...] = ()
    graphs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


Expression: TypeAlias = "Term | CallNode | Exists"
Node: TypeAlias = (
    "TripleNode | Path | CallNode | GroupNode | Exists | UnionNode | OptionalNode | MinusNode | GraphNode "
    "| FilterNode | BindNode | ValuesNode | Item | SelectNode | QueryNode"
)

_INSIDE: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    Path: lambda n: n.parts,
    TripleNode: lambda n: (n.s, n.p, n.o),
    CallNode: lambda n: n.arguments,
    GroupNode: lambda n: n.parts,
    Exists: lambda n: (n.group,),
    UnionNode: lambda n: n.groups,
    OptionalNode: lambda n: (n.group,),
    MinusNode: lambda n: (n.group,),
    GraphNode: lambda n: (n.name, n.group),
    FilterNode: lambda n: (n.condition,),
    BindNode: lambda n: (n.expression, n.variable),
    ValuesNode: lambda n: n.variables,
    Item: lambda n: (n.expression, n.variable) if n.variable is not None else (n.expression,),
    SelectNode: lambda n: (*(n.projection or ()), n.where, *n.modifiers, *((n.values,) if n.values else ())),
    QueryNode: lambda n: (n.select, *n.template),
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
        case SelectNode() if node.projection is not None:
            return {
                str(i.variable if i.variable is not None else i.expression): None for i in node.projection
            }
        case SelectNode():
            parts: tuple[Any, ...] = (node.where, node.values) if node.values else (node.where,)
        case TripleNode() | GroupNode() | UnionNode() | OptionalNode() | GraphNode() | ValuesNode():
            parts = inside(node)
        case BindNode():
            parts = (node.variable,)
        case _:
            parts = ()
    return {name: None for part in parts for name in visible(part)}
