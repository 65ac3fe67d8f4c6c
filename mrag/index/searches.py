"""The similarity searches that a query holds, in GraphDB's vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Final

from rdflib import Literal as RdfLiteral
from rdflib import URIRef
from rdflib.term import Node, Variable

from mrag.errors import QueryRefused
from mrag.rdf.guard import Pattern, ReadQuery
from mrag.rdf.queries import term
from mrag.rdf.terms import RDF, XSD

__all__ = ["INSTANCE", "PSI", "SIM", "Search", "as_triples", "results_wanted", "searches"]

SIM: Final = "http://www.ontotext.com/graphdb/similarity/"
INSTANCE: Final = SIM + "instance/"
PSI: Final = SIM + "psi/"
_MOST_SEARCHES: Final = 64
_DEFAULT_RESULTS: Final = 20
_MOST_RESULTS: Final = 10_000
_RESULTS: Final = re.compile(r"-numsearchresults\s+(\d+)")

Search = tuple[str, str, URIRef | RdfLiteral, RdfLiteral | None]


def searches(query: ReadQuery) -> Iterator[Search]:
    """Yield index, kind, what is sought and parameters of every search in a query."""
    by_node: dict[Node, list[Pattern]] = {}
    for pattern in query.patterns:
        predicate = str(pattern[1])
        if predicate.startswith(PSI):
            raise _unsupported("The psi: vocabulary of predication indexes", query)
        if predicate == SIM + "termResult":
            raise _unsupported(":termResult", query)
        if predicate in (SIM + "searchTerm", SIM + "searchDocumentID"):
            by_node.setdefault(pattern[0], [])
    for pattern in query.patterns:
        if pattern[0] in by_node:
            by_node[pattern[0]].append(pattern)
    seen: dict[Search, None] = {}
    for patterns in by_node.values():
        parts = {str(p): o for _, p, o in patterns}
        by = "searchTerm" if SIM + "searchTerm" in parts else "searchDocumentID"
        indexes = _constants(parts.get(RDF + "type"), query, "the index")
        sought = _constants(parts[SIM + by], query, "what is searched for")
        given = parts.get(SIM + "searchParameters")
        parameters: Sequence[Any] = [None] if given is None else _constants(given, query, "the parameters")
        for index, what, parameter in product(indexes, sought, parameters):
            if str(index).startswith(INSTANCE):
                seen[str(index), by, what, parameter] = None
    if len(seen) > _MOST_SEARCHES:
        raise QueryRefused(f"A query may hold {_MOST_SEARCHES} searches, not {len(seen)}.", query=query.text)
    bare = {search[:3] for search in seen if search[3] is None}
    if any(search[:3] in bare for search in seen if search[3] is not None):
        raise QueryRefused(
            "The same search stands in the query with :searchParameters and without.",
            query=query.text,
            hint="Give both the parameters.",
        )
    yield from seen


def results_wanted(parameters: RdfLiteral | None) -> int:
    """Return how many results the parameters of a search ask for.

    Example:
        >>> results_wanted(RdfLiteral("-numsearchresults 5")), results_wanted(None)
        (5, 20)
    """
    wanted = _RESULTS.search(str(parameters)) if parameters is not None else None
    return min(int(wanted[1]), _MOST_RESULTS) if wanted else _DEFAULT_RESULTS


def as_triples(number: int, search: Search, results: Sequence[tuple[str, float]]) -> list[str]:
    """Return a search and its results as N-Triples, a line each.

    Args:
        number: Number of the search in its query.
        search: The search.
        results: ID and score of each document that it found, best first.
    """
    index, by, sought, parameters = search
    node = f"_:s{number}"
    lines = [f"{node} <{RDF}type> {term(URIRef(index))} .", f"{node} <{SIM}{by}> {term(sought)} ."]
    if parameters is not None:
        lines.append(f"{node} <{SIM}searchParameters> {term(parameters)} .")
    for rank, (doc_id, score) in enumerate(results):
        result = f"{node}r{rank}"
        value = RdfLiteral(repr(score), datatype=URIRef(XSD + "double"))
        lines.append(f"{node} <{SIM}documentResult> {result} .")
        lines.append(f"{result} <{SIM}value> {term(URIRef(doc_id))} .")
        lines.append(f"{result} <{SIM}score> {term(value)} .")
    return lines


def _constants(given: Node | None, query: ReadQuery, what: str) -> list[Any]:
    if given is None:
        raise QueryRefused(
            f"A similarity search does not name {what}.", query=query.text, hint="Say `?search a inst:NAME`."
        )
    if not isinstance(given, Variable):
        return [given]
    found = list(query.values.get(str(given), ()))
    if not found:
        raise QueryRefused(
            f"In a similarity search {what} must be a constant.",
            query=query.text,
            term=f"?{given}",
            hint="Write it into the pattern, or give it by VALUES or BIND.",
        )
    return found


def _unsupported(what: str, query: ReadQuery) -> QueryRefused:
    return QueryRefused(
        f"{what} works on GraphDB only.", query=query.text, hint="Use :searchTerm and :documentResult."
    )
