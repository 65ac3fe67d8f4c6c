"""What is read in a query's text by a child process: values bound, and its operators as a tree."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO, TypeAlias, cast
from urllib.parse import parse_qsl

from rdflib import BNode, Literal, URIRef
from rdflib.term import Variable

from mrag.errors import ConfigError, MragError, QueryRefused
from mrag.rdf import parser, queries
from mrag.rdf.guard import ReadQuery, read_gate
from mrag.rdf.namespaces import RDF, XSD
from mrag.rdf.parser import GroupNode, SelectNode, inside, parse_query, visible
from mrag.rdf.queries import values_block
from mrag.rdf.terms import curie
from mrag.stores.process.query_child import HEAD, confined, frame
from mrag.terminal import Guarded

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


_MOST: Final = 2_000  # maximum number of characters of a detail
_PLAIN: Final = frozenset(XSD + name for name in ("integer", "decimal", "double", "boolean"))
_INFIX: Final = frozenset(("=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "&&", "||"))
_BY: Final = ("slice", "distinct", "select", "order by", "having", "group by")
"""What a SELECT does with the solutions of its pattern, the last first."""

Operator = dict[str, Any]


def operators(text: str, prefixes: Mapping[str, str], seconds: float = 30.0) -> Operator:
    """Return the operators of a query, the outermost first."""
    query, parser = parse_query(text, prefixes, deadline=time.monotonic() + seconds)
    printer = _Printer(prefixes, parser.tokens.printed)
    form = query.form.removesuffix("Query").lower()
    return printer.select(query.select, form, " . ".join(map(printer.triple, query.template)))


def predicates(operator: Operator) -> Iterator[Operator]:
    """Yield the triple patterns of a tree whose predicate can be counted."""
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
                case parser.BlockNode("optional" | "minus" as name, (group,)):
                    pending = [_operator(name, "", [_join(pending), self.group(group)])]
                case parser.BindNode(expression, variable):
                    detail = f"{self.term(expression)} as ?{variable}"
                    pending = [_operator("bind", detail, [_join(pending)])]
                case _:
                    pending.append(self._part(part))
        found = _join(pending)
        for condition in filters:
            inside = [
                _operator(one.kind, "", list(map(self.group, one.groups)))
                for one in _walk(condition)
                if isinstance(one, parser.BlockNode)
            ]
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
            case parser.BlockNode(kind):
                return f"{kind} {{ … }}"
            case parser.CallNode(name, arguments):
                return self._call(name, [self.term(one) for one in arguments])
        return f"_:{node}"

    def _part(self, part: parser.Node) -> Operator:
        match part:
            case parser.TripleNode(_, predicate, _):
                name = "path" if isinstance(predicate, parser.Path) else "triples"
                iri = str(predicate) if isinstance(predicate, URIRef) else None
                return _operator(name, self.triple(part), predicate=iri)
            case parser.BlockNode("union", groups):
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
        if sign == "^":
            return f"^{parts[0]}"
        return f"{'!' if sign == '!' else ''}({('/' if sign == '/' else ' | ').join(parts)})"

    def _call(self, name: str, arguments: list[str]) -> str:
        if name in _INFIX and len(arguments) > 1:
            return f"({f' {name} '.join(arguments)})"
        if name in ("!", "-", "+"):
            return f"{name}{arguments[0]}"
        if name in ("IN", "NOT IN"):
            return f"{arguments[0]} {name.lower()} ({', '.join(arguments[1:])})"
        shown = name.lower() if name.isupper() else curie(name, self._prefixes)
        return f"{shown}({', '.join(arguments)})"


def _join(parts: list[Operator]) -> Operator:
    if not parts:
        return _operator("nothing", "")
    return parts[0] if len(parts) == 1 else _operator("join", "", parts)


def _walk(expression: Any) -> Iterator[Any]:
    """Yield the parts of an expression, not what stands in its groups."""
    yield expression
    if isinstance(expression, parser.CallNode):
        for one in expression.arguments:
            yield from _walk(one)


Fields: TypeAlias = list[tuple[str, str]]


def pairs(data: bytes) -> Fields:
    """Read the parameters of a form or of an address."""
    try:
        text = data.decode("ascii")
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except (UnicodeDecodeError, ValueError) as error:
        raise ConfigError(f"The parameters cannot be read: {error}.") from error


_MEMORY = 2 << 30  # maximum number of bytes that reading may take; an update of some 50 megabytes fits


def parse_request(request: dict[str, Any]) -> tuple[Any, ...]:
    """Parse a query or an update."""
    try:
        if request["do"] == "update":
            from mrag.rdf.parser import parse_update

            more = {name: request[name] for name in ("using", "using_named", "base") if name in request}
            return "update", parse_update(request["text"], request["prefixes"], **more)
        read = read_gate(request["text"], request["graphs"], request["prefixes"])
        if request["do"] == "operators":
            return "operators", operators(read.text, request["prefixes"]), read.text
        if not request["values"]:
            return "query", read, read.text, {}
        return "query", read, *bind(read, request["values"], substitutes=request.get("substitutes", True))
    except MragError as error:
        where = f" <{error.term}>" if error.term and isinstance(error, QueryRefused) else ""
        return "refused", f"{error.message.rstrip('.')}{where}.", error.hint
    except RecursionError:
        return "refused", "The text is nested too deeply.", None


def serve() -> None:
    """Answer requests until the input ends."""
    defences = confined(_MEMORY)
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer

    def reply(value: object) -> None:
        frame(stdout, b"P", pickle.dumps(value))
        stdout.flush()

    first = queries.get("explore/any").text
    parse_request({"do": "query", "text": first, "graphs": (), "prefixes": {}, "values": {}})
    reply(("ready", defences))
    while head := stdin.read(HEAD.size):
        _, size = HEAD.unpack(head)
        reply(parse_request(pickle.loads(stdin.read(size))))  # noqa: S301 # our own parent wrote it


if __name__ == "__main__":
    # What ends this process unforeseen may quote a query.
    sys.stderr = cast(TextIO, Guarded(sys.stderr))
    serve()
