"""The one place that prints SPARQL: queries and updates of the typed patterns of `mrag.rdf.patterns`.

Every term is printed by pyoxigraph's term classes, which validate and escape, so no text of a user ever meets
a format string.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyoxigraph as ox

from mrag.rdf.patterns import (
    AllOf,
    Alternative,
    AnyOf,
    Ask,
    Bind,
    Calculation,
    Call,
    Cast,
    Compare,
    Construct,
    Count,
    Descending,
    Expression,
    Filter,
    Folded,
    Graph,
    Group,
    Holds,
    In,
    Inverse,
    Minus,
    Negation,
    Node,
    NotExists,
    Optional,
    Path,
    Pattern,
    Repeated,
    Select,
    SubSelect,
    TriplePattern,
    Union,
    Values,
    iri,
)

_INTEGER = iri("http://www.w3.org/2001/XMLSchema#integer")


def to_sparql(query: Select | Ask | Construct) -> str:
    """Print a query.

    Example:
        >>> from mrag.rdf.patterns import var
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
    """Print the update that puts what a CONSTRUCT query gives into a graph.

    Source:
        SPARQL 1.1 Update, section 3.1.3.

    Args:
        query: The query.
        into: IRI of the graph to write.
        default: IRIs of the graphs that make up the default graph.
        named: IRIs of the graphs that `GRAPH` can reach.

    Example:
        >>> from mrag.rdf.patterns import var
        >>> t = TriplePattern(var("y"), iri("urn:q"), var("x"))
        >>> print(to_insert(Construct((t,), t), "urn:i", ["urn:g"]))
        INSERT { GRAPH <urn:i> { ?y <urn:q> ?x . } } USING <urn:g> WHERE { ?y <urn:q> ?x . }
    """
    using = "".join(f" USING {iri(g)}" for g in default) + "".join(f" USING NAMED {iri(g)}" for g in named)
    return (
        f"INSERT {{ {_pattern(Graph(iri(into), Group(query.template)))} }}{using} WHERE {_block(query.where)}"
    )


def as_select(prologue: str, group: str) -> str:
    """Return the query for all solutions of an update's WHERE clause.

    Args:
        prologue: The prefixes before it.
        group: The clause with its braces, as the grammar has cut it out of the update.

    Example:
        >>> as_select("", "{ ?s ?p ?o }")
        'SELECT * WHERE { ?s ?p ?o }'
    """
    return f"{prologue}SELECT * WHERE {group}"


def as_insert_data(prologue: str, data: str) -> str:
    """Return the insertion of the data of an INSERT DATA or DELETE DATA, to have them read.

    Args:
        prologue: The prefixes before it.
        data: The data with their braces, as the grammar has cut them out of the update.

    Example:
        >>> as_insert_data("", "{ <urn:a> <urn:b> 1 }")
        'INSERT DATA { <urn:a> <urn:b> 1 }'
    """
    return f"{prologue}INSERT DATA {data}"


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
        case Negation(condition):
            return f"!({_expression(condition)})"
        case AllOf(conditions):
            return "(" + " && ".join(f"({_expression(c)})" for c in conditions) + ")"
        case AnyOf(conditions):
            return "(" + " || ".join(f"({_expression(c)})" for c in conditions) + ")"
        case NotExists(triple):
            return f"NOT EXISTS {_block(triple)}"
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


def to_data(removed: Iterable[ox.Quad], added: Iterable[ox.Quad]) -> str:
    r"""Print an update that takes triples out of named graphs and puts others in.

    The engine's own N-Triples are well-formed SPARQL, whatever the literals hold.

    Example:
        >>> s, g = ox.NamedNode("urn:s"), ox.NamedNode("urn:g")
        >>> print(to_data([], [ox.Quad(s, s, ox.Literal("} ; DROP ALL #"), g)]))
        DELETE DATA { };
        INSERT DATA { GRAPH <urn:g> {
        <urn:s> <urn:s> "} ; DROP ALL #" .
        } }
    """
    return f"DELETE DATA {{ {_by_graph(removed)}}};\nINSERT DATA {{ {_by_graph(added)}}}"


def _by_graph(quads: Iterable[ox.Quad]) -> str:
    graphs: dict[str, list[ox.Triple]] = {}
    for quad in quads:
        graphs.setdefault(str(quad.graph_name), []).append(quad.triple)
    lines = (
        (g, ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b"") for g, triples in graphs.items()
    )
    return "".join(f"GRAPH {graph} {{\n{data.decode()}}} " for graph, data in lines)
