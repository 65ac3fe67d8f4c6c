"""SPARQL that has to be generated, as typed values.

Reasoning rules and class expressions cannot be files of `sparql/`, because their shape depends on the
ontology. They are made of the values below (SPARQL 1.1 Query, 5 to 17), which `mrag.rdf.patterns` prints.

Example:
    >>> from mrag.rdf.patterns import to_sparql
    >>> x = var("x")
    >>> cat = TriplePattern(x, iri("urn:p:category"), iri("urn:c:cat"))
    >>> print(to_sparql(Select((x,), Group((cat, Filter(Negation(Call("isBlank", (x,))))), ), distinct=True)))
    SELECT DISTINCT ?x WHERE { ?x <urn:p:category> <urn:c:cat> . FILTER(!(isBlank(?x))) }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

import pyoxigraph as ox

from mrag.errors import ReasoningError

Node: TypeAlias = ox.NamedNode | ox.Literal | ox.Variable
"""A place in a pattern: an IRI, a literal or a variable. Blank nodes are skolemised at load."""

Function: TypeAlias = OneOf[
    "isLiteral", "isIRI", "isBlank", "isNumeric", "bound", "datatype", "str", "lang", "langMatches",
    "strstarts", "strlen", "regex", "coalesce", "year", "month", "day", "hours", "if", "lcase", "contains",
    "strends", "substr", "replace", "concat", "floor", "md5",
]  # fmt: skip
Operator: TypeAlias = OneOf["=", "!=", "<", "<=", ">", ">="]
FoldName: TypeAlias = OneOf["SUM", "AVG", "MIN", "MAX", "SAMPLE"]


def iri(value: str) -> ox.NamedNode:
    """Return an IRI, validated."""
    try:
        return ox.NamedNode(value)
    except ValueError as error:
        raise ReasoningError("Not a well-formed IRI.", term=value) from error


def var(name: str) -> ox.Variable:
    """Return a variable, validated."""
    try:
        return ox.Variable(name)
    except ValueError as error:
        raise ReasoningError("Not a name for a variable.", term=name) from error


@dataclass(frozen=True)
class Inverse:
    """The property path `^p`."""

    path: Path


@dataclass(frozen=True)
class Alternative:
    """The property path `p|q`."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Repeated:
    """The property path `p+`, or `p*` when `zero` is true."""

    path: Path
    zero: bool = False


Path: TypeAlias = ox.NamedNode | Inverse | Alternative | Repeated


@dataclass(frozen=True)
class TriplePattern:
    """A triple pattern; the predicate may be a property path."""

    s: Node
    p: Node | Path
    o: Node

    def variables(self) -> Iterator[ox.Variable]:
        """Yield the variables in order, repeated as they stand."""
        for node in (self.s, self.p, self.o):
            if isinstance(node, ox.Variable):
                yield node

    @property
    def ground(self) -> bool:
        """Return whether it has no variables."""
        return next(self.variables(), None) is None

    def substitute(self, binding: Mapping[ox.Variable, Node]) -> TriplePattern:
        """Return it with variables replaced."""
        s, p, o = (binding.get(n, n) if isinstance(n, ox.Variable) else n for n in (self.s, self.p, self.o))
        return TriplePattern(s, p, o)  # type: ignore[arg-type]  # a path is never a subject or object


@dataclass(frozen=True)
class Group:
    """Patterns joined in the order given (section 5.2)."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Graph:
    """A pattern matched in one named graph (section 8.3)."""

    name: ox.NamedNode | ox.Variable
    pattern: Pattern


@dataclass(frozen=True)
class Union:
    """Alternatives (section 7)."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Minus:
    """Solutions to take away from those before it in the group (section 8.2)."""

    pattern: Pattern


@dataclass(frozen=True)
class Optional:
    """A pattern that may be absent (section 6)."""

    pattern: Pattern


@dataclass(frozen=True)
class Filter:
    """A condition on the solutions of the group (section 17)."""

    condition: Expression


@dataclass(frozen=True)
class Bind:
    """A value given to a variable (section 10.1)."""

    value: Expression
    variable: ox.Variable


@dataclass(frozen=True)
class Values:
    """Inline data (section 10.2); None stands for UNDEF."""

    variables: tuple[ox.Variable, ...]
    rows: tuple[tuple[ox.NamedNode | ox.Literal | None, ...], ...]


@dataclass(frozen=True)
class SubSelect:
    """A SELECT inside a pattern (section 12)."""

    select: Select


Pattern: TypeAlias = (
    TriplePattern | Group | Graph | Union | Minus | Optional | Filter | Bind | Values | SubSelect
)


@dataclass(frozen=True)
class Compare:
    """A comparison by value."""

    left: Expression
    operator: Operator
    right: Expression


@dataclass(frozen=True)
class In:
    """Membership in a list of terms."""

    value: Expression
    members: tuple[Node, ...]


@dataclass(frozen=True)
class Call:
    """A call of a built-in function (section 17.4)."""

    function: Function
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Negation:
    """A negated condition."""

    condition: Expression


@dataclass(frozen=True)
class AllOf:
    """Conditions that all hold."""

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class AnyOf:
    """Conditions of which one holds."""

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class Holds:
    """A pattern has a solution (section 8.1). Negated, longer ones are slow on most engines; use `Minus`."""

    pattern: Pattern


@dataclass(frozen=True)
class Count:
    """`COUNT` of a variable, or of all solutions when it is None."""

    variable: ox.Variable | None = None
    distinct: bool = False


@dataclass(frozen=True)
class Folded:
    """An aggregate of a variable over the solutions of a group (section 11.4)."""

    function: FoldName
    variable: ox.Variable


@dataclass(frozen=True)
class Calculation:
    """A calculation with two numbers (section 17.3)."""

    left: Expression
    operator: OneOf["+", "-", "*", "/"]
    right: Expression


@dataclass(frozen=True)
class Cast:
    """A value turned into another datatype (section 17.5)."""

    datatype: ox.NamedNode
    value: Expression


@dataclass(frozen=True)
class Descending:
    """A key that rows are sorted by from the greatest to the least (section 15.1)."""

    key: Expression


_Condition: TypeAlias = Compare | In | Call | Negation | AllOf | AnyOf | Holds
Expression: TypeAlias = Node | _Condition | Count | Folded | Calculation | Cast


@dataclass(frozen=True)
class Select:
    """A SELECT query (sections 9 to 15, 18.2.4)."""

    variables: tuple[ox.Variable | tuple[Expression, ox.Variable], ...]
    where: Pattern
    distinct: bool = False
    group_by: tuple[ox.Variable, ...] = ()
    having: Expression | None = None
    order_by: tuple[Expression | Descending, ...] = ()
    limit: int | None = None
    offset: int = 0
    sized: bool = False


@dataclass(frozen=True)
class Ask:
    """An ASK query (section 16.3)."""

    where: Pattern


@dataclass(frozen=True)
class Construct:
    """A CONSTRUCT query (section 16.2)."""

    template: tuple[TriplePattern, ...]
    where: Pattern


_INTEGER = iri("http://www.w3.org/2001/XMLSchema#integer")


def to_sparql(query: Select | Ask | Construct) -> str:
    """Print a query.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> t = TriplePattern(var("y"), iri("urn:q"), var("x"))
        >>> print(to_sparql(Construct((t,), Graph(iri("urn:g"), t))))
        CONSTRUCT { ?y <urn:q> ?x . } WHERE { GRAPH <urn:g> { ?y <urn:q> ?x . } }
        >>> print(to_sparql(Ask(TriplePattern(var("x"), Repeated(iri("urn:p")), var("x")))))
        ASK { ?x (<urn:p>)+ ?x . }
    """
    if isinstance(query, Ask):
        return f"ASK {_block(query.where)}"
    if isinstance(query, Construct):
        return f"CONSTRUCT {_block(Group(query.template))} WHERE {_block(query.where)}"
    columns = " ".join(
        f"({_expression(v[0])} AS {v[1]})" if isinstance(v, tuple) else str(v) for v in query.variables
    )
    text = f"SELECT {'DISTINCT ' if query.distinct else ''}{columns} WHERE {_block(query.where)}"
    if query.group_by:
        text += " GROUP BY " + " ".join(map(str, query.group_by))
    if query.having is not None:
        text += f" HAVING({_expression(query.having)})"
    if query.order_by:
        text += " ORDER BY " + " ".join(map(_key, query.order_by))
    if query.limit is not None:
        text += f" LIMIT {query.limit:d}"
    return f"{text} OFFSET {query.offset:d}" if query.offset else text


def to_insert(query: Construct, into: str, default: Sequence[str], named: Sequence[str] = ()) -> str:
    """Print the update that puts what a CONSTRUCT query gives into a graph."""
    graphs = [*(str(iri(g)) for g in default), *(f"NAMED {iri(g)}" for g in named)]
    using = "".join(f" USING {graph}" for graph in graphs)
    inserted = _pattern(Graph(iri(into), Group(query.template)))
    return f"INSERT {{ {inserted} }}{using} WHERE {_block(query.where)}"


def _block(pattern: Pattern) -> str:
    parts = pattern.parts if isinstance(pattern, Group) else (pattern,)
    return "{ " + " ".join(_pattern(part) for part in parts) + " }" if parts else "{ }"


def _pattern(pattern: Pattern) -> str:
    match pattern:
        case TriplePattern(s, p, o):
            return f"{s} {_path(p)} {o} ."
        case Group():
            return _block(pattern)
        case Graph(name, inner):
            return f"GRAPH {name} {_block(inner)}"
        case Union(parts):
            return "{ " + " UNION ".join(_block(part) for part in parts) + " }"
        case Minus(inner):
            return f"MINUS {_block(inner)}"
        case Optional(inner):
            return f"OPTIONAL {_block(inner)}"
        case Filter(condition):
            return f"FILTER({_expression(condition)})"
        case Bind(value, variable):
            return f"BIND({_expression(value)} AS {variable})"
        case Values(variables, rows):
            names = " ".join(map(str, variables))
            data = " ".join("(" + " ".join("UNDEF" if t is None else str(t) for t in r) + ")" for r in rows)
            return f"VALUES ({names}) {{ {data} }}"
        case SubSelect(select):
            return "{ " + to_sparql(select) + " }"


def _path(path: Node | Path) -> str:
    match path:
        case Inverse(inner):
            return f"^({_path(inner)})"
        case Alternative(paths):
            return "(" + "|".join(_path(p) for p in paths) + ")"
        case Repeated(inner, zero):
            return f"({_path(inner)}){'*' if zero else '+'}"
        case _:
            return str(path)


def _key(key: Expression | Descending) -> str:
    if isinstance(key, ox.Variable):
        return str(key)
    return f"DESC({_expression(key.key)})" if isinstance(key, Descending) else f"ASC({_expression(key)})"


def _expression(expression: Expression) -> str:
    match expression:
        case Compare(left, operator, right):
            return f"{_expression(left)} {operator} {_expression(right)}"
        case In(value, members):
            return f"{_expression(value)} IN ({', '.join(map(str, members))})"
        case Call(function, arguments):
            return f"{function}({', '.join(_expression(a) for a in arguments)})"
        case Negation(Holds(pattern)):
            return f"NOT EXISTS {_block(pattern)}"
        case Negation(condition):
            return f"!({_expression(condition)})"
        case AllOf(conditions):
            return "(" + " && ".join(f"({_expression(c)})" for c in conditions) + ")"
        case AnyOf(conditions):
            return "(" + " || ".join(f"({_expression(c)})" for c in conditions) + ")"
        case Holds(pattern):
            return f"EXISTS {_block(pattern)}"
        case Count(variable, distinct):
            return f"COUNT({'DISTINCT ' if distinct else ''}{variable if variable is not None else '*'})"
        case Folded(function, variable):
            return f"{function}({variable})"
        case Calculation(left, operator, right):
            return f"({_expression(left)} {operator} {_expression(right)})"
        case Cast(datatype, value):
            return f"{datatype}({_expression(value)})"
        case ox.Literal(value=value, datatype=datatype) if datatype == _INTEGER and value.isdecimal():
            return str(int(value))
        case _:
            return str(expression)


def to_data(removed: Iterable[ox.Quad], added: Iterable[ox.Quad], *, where: str = "") -> str:
    r"""Print an update that takes triples out of named graphs and puts others in.

    With a `where`, they are taken out by it and not as data: so GraphDB takes them out of its unnamed graph.

    The engine's own N-Triples are well-formed SPARQL, whatever the literals hold.
    """
    how = "DELETE" if where else "DELETE DATA"
    return f"{how} {{ {_by_graph(removed)}}}{where};\nINSERT DATA {{ {_by_graph(added)}}}"


def _by_graph(quads: Iterable[ox.Quad]) -> str:
    graphs: dict[str, list[ox.Triple]] = {}
    for quad in quads:
        graphs.setdefault(str(quad.graph_name), []).append(quad.triple)
    lines = (
        (g, ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") for g, triples in graphs.items()
    )
    return "".join(f"GRAPH {graph} {{\n{data.decode()}}} " for graph, data in lines)
