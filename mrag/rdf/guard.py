"""The read gate: what a person or a model wrote is read, judged, and printed anew; only that is run.

Two judges must let it pass. The lexer knows the words of a query and refuses all others wherever they
stand, `SERVICE` and those of updates among them; the grammar makes a tree of a few kinds of nodes, none of
which calls out. No engine sees the text itself, so it cannot read it in another way: comments, escapes and
odd white space end here (SPARQL 1.1 Query, sections 13.2, 18 and 19).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rdflib import Literal, URIRef
from rdflib.term import Node

from mrag.errors import QueryRefused
from mrag.rdf import parser
from mrag.rdf.parser import parse_query
from mrag.rdf.terms import DEFAULT_PREFIXES, MRAG

EXPLICIT = "http://www.ontotext.com/explicit"
IMPLICIT = "http://www.ontotext.com/implicit"
"""GraphDB's pseudo-graphs for asserted and inferred triples, understood on every store."""

PROVENANCE = MRAG + "provenance"
"""A pseudo-graph of all triples, and of where those that were completed come from."""

Pattern = tuple[Node, Node, Node]
_UNREPEATABLE = frozenset(("RAND", "NOW", "UUID", "STRUUID", "BNODE"))
_LONGEST = 8 << 20  # Characters of a query; reading so many takes some seconds


@dataclass(frozen=True)
class ReadQuery:
    """A query that passed the gate."""

    text: str  # What to run: what was read, printed anew, behind the prefixes that it does not declare
    form: str  # `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`
    graphs: tuple[str, ...] = ()  # IRIs named by `FROM`, in order; empty when the query names none
    named: tuple[str, ...] = ()  # IRIs named by `FROM NAMED`
    # Its triple patterns, wherever they stand, those with property paths left out
    patterns: tuple[Pattern, ...] = ()
    # Constants that VALUES gives to each variable
    values: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)
    projection: tuple[str, ...] = ()  # Variables of a SELECT query's result
    repeatable: bool = True  # Whether it has the same answer as long as the triples are the same


def read_gate(
    text: str, graphs: Collection[str] = (), prefixes: Mapping[str, str] | None = None, seconds: float = 30.0
) -> ReadQuery:
    """Let a read query through, or say why not.

    Args:
        text: A SPARQL 1.1 query. Well-known prefixes need no declaration.
        graphs: IRIs of the graphs that `FROM` may name, beside GraphDB's pseudo-graphs.
        prefixes: Further prefixes that need no declaration.
        seconds: Deadline for reading it.

    Raises:
        QueryTimeout: At the deadline.
        QueryRefused: If it does not parse as a query, calls out, or names another graph.

    Example:
        >>> read_gate("ASK { ?s ?p ?o }").form
        'AskQuery'
        >>> read_gate("SELECT * { { SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } } } }")
        Traceback (most recent call last):
        mrag.errors.QueryRefused: SERVICE is not allowed...
    """
    query = _gate(text, tuple(sorted({**DEFAULT_PREFIXES, **(prefixes or {})}.items())), seconds)
    allowed = {*graphs, EXPLICIT, IMPLICIT, PROVENANCE}
    for graph in (*query.graphs, *query.named):
        if graph not in allowed:
            what = "The query names a graph outside the dataset."
            hint = "Nothing is fetched from the web. Load it first, or leave FROM out."
            raise QueryRefused(what, query=text, term=graph, hint=hint)
    return query


@lru_cache(maxsize=256)
def _gate(text: str, prefixes: tuple[tuple[str, str], ...], seconds: float) -> ReadQuery:
    if len(text) > _LONGEST:
        raise QueryRefused(f"The query is longer than {_LONGEST} characters.", query=text)
    query, reading = parse_query(text, dict(prefixes), deadline=time.monotonic() + seconds)
    patterns: list[Pattern] = []
    values: dict[str, dict[Node, None]] = {}
    repeatable = True
    for node in parser.walk(query):
        match node:
            case parser.TripleNode(s, p, o) if not isinstance(p, parser.Path):
                patterns.append((s, p, o))
            case parser.ValuesNode(variables, rows):
                for row in rows:
                    for variable, given in zip(variables, row, strict=True):
                        if given is not None:
                            values.setdefault(str(variable), {})[given] = None
            case parser.BindNode(URIRef() | Literal() as given, variable):
                values.setdefault(str(variable), {})[given] = None
            case parser.CallNode(name) if name in _UNREPEATABLE:
                repeatable = False
    return ReadQuery(
        reading.declarations() + reading.tokens.print(), query.form, query.graphs, query.named,
        tuple(patterns), {v: tuple(terms) for v, terms in values.items()},
        tuple(parser.visible(query.select)) if query.form == "SelectQuery" else (), repeatable,
    )  # fmt: skip


def paths_in_negation(text: str) -> bool:
    """Return whether a query has a path with `*` or `+` inside MINUS or NOT EXISTS."""
    return any(
        isinstance(inner, parser.Path) and inner.operator in "*+?"
        for node in parser.walk(_tree(text))
        if isinstance(node, parser.BlockNode) and node.kind in ("minus", "not exists")
        for inner in parser.walk(node)
    )


def query_form(text: str) -> str:
    """Return `SelectQuery`, `AskQuery`, `ConstructQuery` or `DescribeQuery`."""
    return _tree(text).form


@lru_cache(maxsize=64)
def _tree(text: str) -> parser.QueryNode:
    return parse_query(text)[0]
