"""The closure of `owl:sameAs` on servers, worked out here.

A path query closes it in one request, but Virtuoso keeps the path of every pair in memory and runs out of it.
The pairs are read in pages, their classes found by union-find, and the pairs that are missing sent back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations

from rdflib import Literal, URIRef

from mrag.rdf import queries
from mrag.rdf.terms import OWL, Triple, to_ntriples
from mrag.stores.base import Dataset, TripleStore

_PAGE = 1000
"""Pairs of a page; no server is known to cut answers shorter."""
_SENT = 10_000
"""Pairs that are sent at a time."""
_SAME = URIRef(OWL + "sameAs")

Pair = tuple[str, str]


def close_same(store: TripleStore, graphs: Sequence[str], out: str) -> int:
    """Put the pairs of `owl:sameAs` that follow from others by symmetry and transitivity into a graph.

    Source:
        OWL 2 Profiles, section 4.3, rules eq-sym and eq-trans; union-find: Tarjan, Efficiency of a Good But
        Not Linear Set Union Algorithm, 1975.

    Args:
        store: The store.
        graphs: IRIs of the graphs that are read.
        out: IRI of the graph that is written, one of them.

    Returns:
        How many pairs were put in.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> store = OxigraphStore()
        >>> store.update('''PREFIX owl: <http://www.w3.org/2002/07/owl#>
        ... INSERT DATA { GRAPH <urn:g> { <urn:a> owl:sameAs <urn:b> . <urn:b> owl:sameAs <urn:c> } }''')
        >>> close_same(store, ["urn:g"], "urn:g")
        4
        >>> store.close()
    """
    known = set(_pairs(store, Dataset(tuple(graphs))))
    new = (pair for group in same_groups(known) for pair in permutations(group, 2) if pair not in known)
    count = 0
    while some := list(islice(new, _SENT)):
        store.insert(to_ntriples(Triple(URIRef(x), _SAME, URIRef(y)) for x, y in some), out)
        count += len(some)
    return count


def same_groups(pairs: Iterable[Pair]) -> list[list[str]]:
    """Return the classes of things of which pairs say that they are the same, each in order of name.

    Example:
        >>> same_groups([("d", "c"), ("a", "b"), ("c", "e")])
        [['a', 'b'], ['c', 'd', 'e']]
    """
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while (parent := above.setdefault(name, name)) != name:
            above[name] = above[parent]
            name = parent
        return name

    for x, y in pairs:
        lower, upper = sorted((top(x), top(y)))
        above[upper] = lower
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(above):
        groups[top(name)].append(name)
    return sorted(groups.values())


def _pairs(store: TripleStore, dataset: Dataset) -> Iterator[Pair]:
    query, last = queries.get("reasoning/same"), (Literal(""), Literal(""))
    while True:
        rows = store.select(query.bind(after_then=[last], limit=_PAGE), dataset).rows
        yield from ((str(x), str(y)) for _, _, x, y in rows)
        if len(rows) < _PAGE:
            return
        last = (Literal(str(rows[-1][0])), Literal(str(rows[-1][1])))
