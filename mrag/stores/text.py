"""The indexes of texts that servers keep themselves: jena-text, RDF4J's Lucene sail, GraphDB's connectors.

What they hold is what the server's configuration says, in all its graphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import pyoxigraph as ox

from mrag.errors import StoreError
from mrag.language.tokens import STOP_WORDS
from mrag.rdf import patterns as pt
from mrag.rdf.patterns import Node, TriplePattern, iri, to_sparql, var
from mrag.rdf.terms import RDF
from mrag.stores.base import Dataset, TripleStore
from mrag.stores.fuseki import UNION_GRAPH
from mrag.stores.sparql import DEFAULT, SparqlStore

_QUERY: Final = iri("http://jena.apache.org/text#query")
_SAIL: Final = "http://www.openrdf.org/contrib/lucenesail#"
_LUCENE: Final = "http://www.ontotext.com/connectors/lucene#"
_FIND: Final = var("entity")
_POINTS: Final = var("points")
_ROWS: Final = 4  # for each entity wanted, which may be found by several of its texts
_ALL: Final = "*:*"
Search: TypeAlias = Callable[[ox.Literal, int], pt.Pattern]


@dataclass(frozen=True)
class TextIndex:
    """A server's index of texts: what it is called, and the pattern of the entities that match words."""

    store: SparqlStore
    name: str
    pattern: Search

    def search(self, words: str, most: int) -> list[tuple[str, float]]:
        """Return the entities that a text's words find, with their points, best first, ties by IRI."""
        # What is no word is the query language of Lucene; so are AND, OR and NOT in capitals.
        kept = [word for word in re.findall(r"\w+", words.lower()) if word not in STOP_WORDS]
        return self.find(" ".join(kept), most) if kept else []

    def find(self, query: str, most: int) -> list[tuple[str, float]]:
        """Return what a query of Lucene finds, see `search`."""
        where = pt.Group((self.pattern(ox.Literal(query), most), pt.Filter(pt.Call("isIRI", (_FIND,)))))
        order = (pt.Descending(_POINTS), _FIND)
        text = to_sparql(pt.Select((_FIND, _POINTS), where, order_by=order, limit=_ROWS * most))
        rows = self.store.select(text, Dataset((DEFAULT,)))
        found = dict[str, float]()
        for name, points in rows:
            if points is not None:
                found[str(name)] = max(float(str(points)), found.get(str(name), 0.0))
        return sorted(found.items(), key=lambda one: (-one[1], one[0]))[:most]


def text_index(store: TripleStore) -> TextIndex | None:
    """Return the index of texts that a server keeps; None where there is none, or nothing in it."""
    if not isinstance(store, SparqlStore):
        return None
    for kind, name, make in _KINDS:
        try:
            if kind == store.dialect.name and (pattern := make(store)) is not None:
                index = TextIndex(store, name, pattern)
                return index if index.find(_ALL, 1) else None
        except StoreError:
            return None
    return None


def _list(items: tuple[Node, ...], name: str) -> Iterator[TriplePattern]:
    """Yield the triples of a list, which begins at a variable of a name."""
    nodes: tuple[Node, ...] = (*(var(f"{name}{n}") for n in range(len(items))), iri(f"{RDF}nil"))
    for (at, on), item in zip(pairwise(nodes), items, strict=True):
        yield TriplePattern(at, iri(f"{RDF}first"), item)
        yield TriplePattern(at, iri(f"{RDF}rest"), on)


def _jena(_: SparqlStore) -> Search:
    def pattern(words: ox.Literal, most: int) -> pt.Pattern:
        ends = *_list((_FIND, _POINTS), "s"), *_list((words, ox.Literal(most)), "o")
        # There it finds the texts of all graphs, those of the unnamed one too.
        return pt.Graph(iri(UNION_GRAPH), pt.Group((TriplePattern(var("s0"), _QUERY, var("o0")), *ends)))

    return pattern


def _sail(_: SparqlStore) -> Search:
    def pattern(words: ox.Literal, most: int) -> pt.Pattern:
        match = var("match")
        asked = (("query", words), ("score", _POINTS))
        parts = (TriplePattern(match, iri(_SAIL + name), value) for name, value in asked)
        return pt.Group((TriplePattern(_FIND, iri(f"{_SAIL}matches"), match), *parts))

    return pattern


def _connectors(store: SparqlStore) -> Search | None:
    listed = TriplePattern(var("index"), iri(f"{_LUCENE}listConnectors"), var("settings"))
    rows = store.select(to_sparql(pt.Select((var("index"),), listed)), Dataset((DEFAULT,)))
    names = sorted(str(name) for (name,) in rows)

    def pattern(words: ox.Literal, most: int) -> pt.Pattern:
        search = var("search")
        asked = (("query", words), ("limit", ox.Literal(str(most))), ("entities", _FIND))
        parts = [TriplePattern(search, iri(_LUCENE + name), value) for name, value in asked]
        parts.append(TriplePattern(_FIND, iri(f"{_LUCENE}score"), _POINTS))
        kinds = (TriplePattern(search, iri(f"{RDF}type"), iri(name)) for name in names)
        return pt.Union(tuple(pt.Group((kind, *parts)) for kind in kinds))

    return pattern if names else None


_KINDS: Final = (
    ("Fuseki", "jena-text", _jena),
    ("RDF4J", "the Lucene sail", _sail),
    ("GraphDB", "a Lucene connector", _connectors),
)
