"""The read gate: what a person or a model wrote is parsed, its algebra is walked, and only then run.

It refuses updates, `SERVICE`, and graphs outside the dataset (SPARQL 1.1 Query, sections 13.2 and
18). Codepoint escapes are resolved first (section 19.2), so that no keyword can hide behind them, and
the text that was judged is the text that runs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pyparsing import ParseResults
from rdflib import Literal, URIRef
from rdflib.paths import MulPath, Path
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import Node, Variable

from mrag.errors import QueryRefused
from mrag.terms import DEFAULT_PREFIXES

EXPLICIT = "http://www.ontotext.com/explicit"
IMPLICIT = "http://www.ontotext.com/implicit"
"""GraphDB's pseudo-graphs for asserted and inferred triples, understood on every store."""

Pattern = tuple[Node, Node, Node]
# An even run of backslashes before it makes the `u` ordinary text.
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)(?:\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8}))")
_PARSER = threading.Lock()
_UNREPEATABLE = {f"Builtin_{name}" for name in ("RAND", "NOW", "UUID", "STRUUID", "BNODE")}
_NEGATIONS = ("Minus", "Builtin_NOTEXISTS")


@dataclass(frozen=True)
class ReadQuery:
    """A query that passed the gate.

    Attributes:
        text: What to run; prefixes that it used but did not declare stand before it.
        form: `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`.
        graphs: IRIs named by `FROM`, in order; empty when the query names none.
        named: IRIs named by `FROM NAMED`.
        patterns: Its triple patterns, wherever they stand.
        values: Constants that VALUES gives to each variable.
        projection: Variables of a SELECT query's result.
        repeatable: Whether it has the same answer as long as the triples are the same.
    """

    text: str
    form: str
    graphs: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    values: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)
    projection: tuple[str, ...] = ()
    repeatable: bool = True


def read_gate(
    text: str, graphs: Collection[str] = (), prefixes: Mapping[str, str] | None = None
) -> ReadQuery:
    """Let a read query through, or say why not.

    Args:
        text: A SPARQL 1.1 query. Well-known prefixes need no declaration.
        graphs: IRIs of the graphs that `FROM` may name, beside GraphDB's pseudo-graphs.
        prefixes: Further prefixes that need no declaration.

    Raises:
        QueryRefused: If it does not parse as a query, calls out, or names another graph.

    Example:
        >>> read_gate("ASK { ?s ?p ?o }").form
        'AskQuery'
        >>> read_gate("SELECT * { { SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } } } }")
        Traceback (most recent call last):
        mrag.errors.QueryRefused: SERVICE is not allowed...
    """
    found = _gate(unescape(text), tuple(sorted({**DEFAULT_PREFIXES, **(prefixes or {})}.items())))
    allowed = {*graphs, EXPLICIT, IMPLICIT}
    for graph in (*found.graphs, *found.named):
        if graph not in allowed:
            raise QueryRefused(
                "The query names a graph outside the dataset.",
                query=text,
                term=graph,
                hint="Nothing is fetched from the web. Load it first, or leave FROM out.",
            )
    return found


@lru_cache(maxsize=256)
def _gate(text: str, prefixes: tuple[tuple[str, str], ...]) -> ReadQuery:
    try:
        # Beside the grammar's own errors rdflib raises bare ones for prefixes and aggregates.
        with _PARSER:
            prepared = prepareQuery(text, initNs=dict(prefixes))
    except Exception as error:
        raise QueryRefused(
            f"Not a SPARQL query: {' '.join(str(error).split())[:200]}",
            query=text,
            hint="Only SELECT, ASK, CONSTRUCT and DESCRIBE are read; updates go through the update call.",
        ) from error
    algebra = prepared.algebra
    patterns: list[Pattern] = []
    values: dict[str, dict[Node, None]] = {}
    for node in walk(algebra):
        if node.name == "ServiceGraphPattern":
            raise QueryRefused(
                "SERVICE is not allowed: a query may not call other servers.",
                query=text,
                hint="Load that data here and query it.",
            )
        if node.name == "BGP":
            patterns.extend(tuple(t) for t in node.triples)
        elif node.name == "values":
            for row in node.res or ():
                for variable, term in row.items():
                    if isinstance(term, URIRef | Literal):
                        values.setdefault(str(variable), {})[term] = None
        elif node.name == "Extend" and isinstance(node.expr, URIRef | Literal):
            values.setdefault(str(node.var), {})[node.expr] = None
    defaults, named = [], []
    for clause in algebra.datasetClause or ():
        if clause.default is not None:
            defaults.append(str(clause.default))
        if clause.named is not None:
            named.append(str(clause.named))
    declared = "".join(
        f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in prefixes if uses(text, prefix)
    )
    return ReadQuery(
        declared + text,
        algebra.name,
        tuple(defaults),
        tuple(named),
        tuple(patterns),
        {v: tuple(terms) for v, terms in values.items()},
        tuple(str(v) for v in algebra.PV or ()) if algebra.name == "SelectQuery" else (),
        not any(node.name in _UNREPEATABLE for node in walk(algebra)),
    )


def paths_in_negation(text: str) -> bool:
    """Tell whether a query has a path with `*` or `+` inside MINUS or NOT EXISTS.

    Args:
        text: A query that the read gate has let through.

    Example:
        >>> paths_in_negation("ASK { ?x a ?c MINUS { ?c <urn:sub>+ <urn:top> } }")
        True
        >>> paths_in_negation("ASK { ?c <urn:sub>+ <urn:top> MINUS { ?c <urn:sub>/<urn:p> ?d } }")
        False
    """
    with _PARSER:
        algebra = prepareQuery(text).algebra
    negated = (
        node.p2 if node.name == "Minus" else node.graph for node in walk(algebra) if node.name in _NEGATIONS
    )
    return any(_repeats(t[1]) for part in negated for n in walk(part) if n.name == "BGP" for t in n.triples)


def query_form(text: str) -> str:
    """Return `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`.

    Args:
        text: A query that the read gate has let through.
    """
    with _PARSER:
        return str(prepareQuery(text).algebra.name)


def _repeats(path: object) -> bool:
    if isinstance(path, MulPath):
        return True
    inside = getattr(path, "args", None) or [getattr(path, "arg", None)]
    return isinstance(path, Path) and any(_repeats(p) for p in inside)


def variable_name(term: Node) -> str | None:
    """Return the name of a variable, None for any other term."""
    return str(term) if isinstance(term, Variable) else None


def uses(text: str, prefix: str) -> bool:
    """Tell whether a text uses a prefix without declaring it."""
    # A prefix that is declared in vain does no harm, so this need not be exact.
    return f"{prefix}:" in text and f"prefix {prefix}:" not in " ".join(text.lower().split())


def unescape(text: str) -> str:
    """Resolve codepoint escapes (SPARQL 1.1 Query, section 19.2).

    Raises:
        QueryRefused: If one names no character, or stands for syntax.
    """

    def replace(match: re.Match[str]) -> str:
        code = int(match[2] or match[3], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise QueryRefused("A codepoint escape names no character.", query=text, term=match[0])
        character = chr(code)
        if character in "\"'\\\r\n<>{}#":
            # As a character it would be syntax; spelled out it is only what the grammar makes of it.
            raise QueryRefused("A codepoint escape may not stand for syntax.", query=text, term=match[0])
        return match[1] + character

    return _ESCAPE.sub(replace, text)


def walk(node: Any) -> Iterator[CompValue]:
    """Yield every algebra node, those inside expressions (EXISTS) and sub-selects too."""
    if isinstance(node, CompValue):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list | tuple | set | frozenset | ParseResults):
        for value in node:
            yield from walk(value)
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from walk(value)
