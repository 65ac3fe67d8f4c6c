"""The one place that prints SPARQL: queries and updates of the typed patterns of `mrag.rdf.patterns`.

Every term is printed by pyoxigraph's term classes, which validate and escape, so no text of a user ever meets
a format string.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyoxigraph as ox

from mrag.rdf import patterns as pt

_INTEGER = pt.iri("http://www.w3.org/2001/XMLSchema#integer")


def to_sparql(query: pt.Select | pt.Ask | pt.Construct) -> str:
    """Print a query.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> t = pt.TriplePattern(pt.var("y"), pt.iri("urn:q"), pt.var("x"))
        >>> print(to_sparql(pt.Construct((t,), pt.Graph(pt.iri("urn:g"), t))))
        CONSTRUCT { ?y <urn:q> ?x . } WHERE { GRAPH <urn:g> { ?y <urn:q> ?x . } }
        >>> print(to_sparql(pt.Ask(pt.TriplePattern(pt.var("x"), pt.Repeated(pt.iri("urn:p")), pt.var("x")))))
        ASK { ?x (<urn:p>)+ ?x . }
    """
    if isinstance(query, pt.Ask):
        return f"ASK {_block(query.where)}"
    if isinstance(query, pt.Construct):
        return f"CONSTRUCT {_block(pt.Group(query.template))} WHERE {_block(query.where)}"
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


def to_insert(query: pt.Construct, into: str, default: Sequence[str], named: Sequence[str] = ()) -> str:
    """Print the update that puts what a CONSTRUCT query gives into a graph.

    Source:
        SPARQL 1.1 Update, section 3.1.3.

    Args:
        query: The query.
        into: IRI of the graph to write.
        default: IRIs of the graphs that make up the default graph.
        named: IRIs of the graphs that `GRAPH` can reach.

    Example:
        >>> from mrag.rdf import patterns as pt
        >>> t = pt.TriplePattern(pt.var("y"), pt.iri("urn:q"), pt.var("x"))
        >>> print(to_insert(pt.Construct((t,), t), "urn:i", ["urn:g"]))
        INSERT { GRAPH <urn:i> { ?y <urn:q> ?x . } } USING <urn:g> WHERE { ?y <urn:q> ?x . }
    """
    graphs = [*(str(pt.iri(g)) for g in default), *(f"NAMED {pt.iri(g)}" for g in named)]
    using = "".join(f" USING {graph}" for graph in graphs)
    inserted = _pattern(pt.Graph(pt.iri(into), pt.Group(query.template)))
    return f"INSERT {{ {inserted} }}{using} WHERE {_block(query.where)}"


def to_pattern(pattern: pt.Pattern) -> str:
    """Print a pattern as it stands in a group.

    Example:
        >>> to_pattern(pt.Filter(pt.Call("isIRI", (pt.var("s"),))))
        'FILTER(isIRI(?s))'
    """
    return _pattern(pattern)


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


def _block(pattern: pt.Pattern) -> str:
    parts = pattern.parts if isinstance(pattern, pt.Group) else (pattern,)
    return "{ " + " ".join(_pattern(part) for part in parts) + " }" if parts else "{ }"


def _pattern(pattern: pt.Pattern) -> str:
    match pattern:
        case pt.TriplePattern(s, p, o):
            return f"{s} {_path(p)} {o} ."
        case pt.Group():
            return _block(pattern)
        case pt.Graph(name, inner):
            return f"GRAPH {name} {_block(inner)}"
        case pt.Union(parts):
            return "{ " + " UNION ".join(_block(part) for part in parts) + " }"
        case pt.Minus(inner):
            return f"MINUS {_block(inner)}"
        case pt.Optional(inner):
            return f"OPTIONAL {_block(inner)}"
        case pt.Filter(condition):
            return f"FILTER({_expression(condition)})"
        case pt.Bind(value, variable):
            return f"BIND({_expression(value)} AS {variable})"
        case pt.Values(variables, rows):
            names = " ".join(map(str, variables))
            data = " ".join("(" + " ".join("UNDEF" if t is None else str(t) for t in r) + ")" for r in rows)
            return f"VALUES ({names}) {{ {data} }}"
        case pt.SubSelect(select):
            return "{ " + to_sparql(select) + " }"


def _path(path: pt.Node | pt.Path) -> str:
    match path:
        case pt.Inverse(inner):
            return f"^({_path(inner)})"
        case pt.Alternative(paths):
            return "(" + "|".join(_path(p) for p in paths) + ")"
        case pt.Repeated(inner, zero):
            return f"({_path(inner)}){'*' if zero else '+'}"
        case _:
            return str(path)


def _key(key: pt.Expression | pt.Descending) -> str:
    if isinstance(key, ox.Variable):
        return str(key)
    return f"DESC({_expression(key.key)})" if isinstance(key, pt.Descending) else f"ASC({_expression(key)})"


def _expression(expression: pt.Expression) -> str:
    match expression:
        case pt.Compare(left, operator, right):
            return f"{_expression(left)} {operator} {_expression(right)}"
        case pt.In(value, members):
            return f"{_expression(value)} IN ({', '.join(map(str, members))})"
        case pt.Call(function, arguments):
            return f"{function}({', '.join(_expression(a) for a in arguments)})"
        case pt.Negation(condition):
            return f"!({_expression(condition)})"
        case pt.AllOf(conditions):
            return "(" + " && ".join(f"({_expression(c)})" for c in conditions) + ")"
        case pt.AnyOf(conditions):
            return "(" + " || ".join(f"({_expression(c)})" for c in conditions) + ")"
        case pt.NotExists(triple):
            return f"NOT EXISTS {_block(triple)}"
        case pt.Holds(pattern):
            return f"EXISTS {_block(pattern)}"
        case pt.Count(variable, distinct):
            return f"COUNT({'DISTINCT ' if distinct else ''}{variable if variable is not None else '*'})"
        case pt.Folded(function, variable):
            return f"{function}({variable})"
        case pt.Calculation(left, operator, right):
            return f"({_expression(left)} {operator} {_expression(right)})"
        case pt.Cast(datatype, value):
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
