"""What is read in a query's text by a child process: values bound, and its operators as a tree."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import QueryRefused
from mrag.rdf import parser
from mrag.rdf.guard import ReadQuery
from mrag.rdf.namespaces import RDF, XSD
from mrag.rdf.parser import GroupNode, SelectNode, inside, parse_query, visible
from mrag.rdf.queries import values_block
from mrag.rdf.terms import curie

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


_MOST: Final = 2_000
"""Maximum number of characters of a detail."""

_PLAIN: Final = frozenset(XSD + name for name in ("integer", "decimal", "double", "boolean"))
_INFIX: Final = frozenset(("=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||"))
_BY: Final = ("slice", "distinct", "select", "order by", "having", "group by")
"""What a SELECT does with the solutions of its pattern, the last first."""

Operator = dict[str, Any]


def operators(text: str, prefixes: Mapping[str, str], seconds: float = 30.0) -> Operator:
    """Return the operators of a query, the outermost first.

    Args:
        text: A query that the read gate has let through.
        prefixes: Prefixes that shorten IRIs.
        seconds: Deadline for reading it.

    Returns:
        `operator`, `detail`, for a triple pattern its `predicate` (an IRI, or None), and the `parts` that it
        takes its rows from.

    Example:
        >>> tree = operators("SELECT ?s { ?s <urn:p> ?o } ORDER BY ?s", {})
        >>> tree["operator"], tree["detail"], tree["parts"][0]["operator"]
        ('select', '?s', 'order by')
    """
    query, parser = parse_query(text, prefixes, deadline=time.monotonic() + seconds)
    printer = _Printer(prefixes, parser.tokens.printed)
    form = query.form.removesuffix("Query").lower()
    return printer.select(query.select, form, " . ".join(map(printer.triple, query.template)))


def predicates(operator: Operator) -> Iterator[Operator]:
    """Yield the triple patterns of a tree whose predicate can be counted.

    Example:
        >>> [one["detail"] for one in predicates(operators("ASK { ?s a ?c ; <urn:p> ?o ; ?q ?r }", {}))]
        ['?s <urn:p> ?o']
    """
    # How many things have some class says nothing of how many have this one.
    if operator.get("predicate") not in (None, RDF + "type"):
        yield operator
    for part in operator["parts"]:
        yield from predicates(part)


def _operator(name: str, detail: str, parts: Sequence[Operator] = (), **more: Any) -> Operator:
    return {"operator": name, "detail": detail[:_MOST], "parts": list(parts), **more}


class _Printer:
    """Prints the nodes of a query."""

    def __init__(self, prefixes: Mapping[str, str], printed: Any) -> None:
        self._prefixes, self._printed = prefixes, printed

    def select(self, node: parser.SelectNode, form: str, template: str = "") -> Operator:
        """Return a SELECT, or another form, with what it does before."""
        found = self.group(node.where)
        if node.values is not None:
            found = _operator("join", "", [found, self._part(node.values)])
        steps = {name: self._printed(first, last) for name, first, last in node.steps}
        if form == "describe":
            steps[form] = " ".join(self.term(item.expression) for item in node.projection or ()) or "*"
        elif form != "select":
            steps[form] = template
        for name in reversed((form, *_BY) if form != "select" else _BY):
            if name in steps:
                found = _operator(name, steps[name], [found])
        return found

    def group(self, node: parser.GroupNode) -> Operator:
        """Return the pattern of a group; its filters hold for all of it, wherever they stand."""
        pending: list[Operator] = []
        filters: list[parser.Expression] = []
        for part in node.parts:
            match part:
                case parser.FilterNode(condition):
                    filters.append(condition)
                case parser.OptionalNode(group) | parser.MinusNode(group):
                    name = "optional" if isinstance(part, parser.OptionalNode) else "minus"
                    pending = [_operator(name, "", [_joined(pending), self.group(group)])]
                case parser.BindNode(expression, variable):
                    detail = f"{self.term(expression)} as ?{variable}"
                    pending = [_operator("bind", detail, [_joined(pending)])]
                case _:
                    pending.append(self._part(part))
        found = _joined(pending)
        for condition in filters:
            inside = [_exists(self, one) for one in _walk(condition) if isinstance(one, parser.Exists)]
            found = _operator("filter", self.term(condition), [found, *inside])
        return found

    def triple(self, node: parser.TripleNode) -> str:
        """Return a triple as text."""
        return " ".join(map(self.term, (node.s, node.p, node.o)))

    def term(self, node: Any) -> str:
        """Return a term, a path or an expression, as short as it goes."""
        match node:
            case Variable():
                return f"?{node}"
            case URIRef():
                return "a" if str(node) == RDF + "type" else curie(str(node), self._prefixes)
            case Literal() if str(node.datatype) in _PLAIN:
                return str(node)
            case Literal():
                kind = f"^^{self.term(node.datatype)}" if node.datatype else ""
                return Literal(str(node), lang=node.language).n3() + kind
            case parser.Path(sign, parts):
                return self._path(sign, [self.term(part) for part in parts])
            case parser.Exists(_, negated):
                return "not exists { … }" if negated else "exists { … }"
            case parser.CallNode(name, arguments):
                return self._call(name, [self.term(one) for one in arguments])
        return f"_:{node}"

    def _part(self, part: parser.Node) -> Operator:
        match part:
            case parser.TripleNode(_, predicate, _):
                name = "path" if isinstance(predicate, parser.Path) else "triples"
                iri = str(predicate) if isinstance(predicate, URIRef) else None
                return _operator(name, self.triple(part), predicate=iri)
            case parser.UnionNode(groups):
                return _operator("union", "", [self.group(one) for one in groups])
            case parser.GraphNode(name, group):
                return _operator("graph", self.term(name), [self.group(group)])
            case parser.ValuesNode(variables, rows):
                return _operator("values", f"{' '.join(map(self.term, variables))} ({len(rows)})")
            case parser.SelectNode():
                return self.select(part, "select")
            case parser.GroupNode():
                return self.group(part)
        raise TypeError(f"{type(part).__name__} cannot stand in a group.")

    @staticmethod
    def _path(sign: str, parts: list[str]) -> str:
        if sign in "*+?":
            return f"({parts[0]}){sign}" if " " in parts[0] else f"{parts[0]}{sign}"
        return (
            f"{sign}{parts[0]}" if sign == "^" else f"{sign if sign == '!' else ''}({_between(sign, parts)})"
        )

    def _call(self, name: str, arguments: list[str]) -> str:
        if name in _INFIX and len(arguments) > 1:
            return f"({f' {name} '.join(arguments)})"
        if name in ("!", "-", "+"):
            return f"{name}{arguments[0]}"
        if name in ("IN", "NOT IN"):
            return f"{arguments[0]} {name.lower()} ({', '.join(arguments[1:])})"
        shown = name.lower() if name.isupper() else curie(name, self._prefixes)
        return f"{shown}({', '.join(arguments)})"


def _between(sign: str, parts: list[str]) -> str:
    return ("/" if sign == "/" else " | ").join(parts)


def _joined(parts: list[Operator]) -> Operator:
    if not parts:
        return _operator("nothing", "")
    return parts[0] if len(parts) == 1 else _operator("join", "", parts)


def _exists(printer: _Printer, node: parser.Exists) -> Operator:
    return _operator("not exists" if node.negated else "exists", "", [printer.group(node.group)])


def _walk(expression: Any) -> Iterator[Any]:
    """Yield the parts of an expression, not what stands in its groups."""
    yield expression
    if isinstance(expression, parser.CallNode):
        for one in expression.arguments:
            yield from _walk(one)
