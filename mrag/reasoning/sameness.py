"""The closure of `owl:sameAs`, worked out here as sets: what a rule for pairs would do in as many rounds.

All pairs of a small set are written out, so that every query sees what each of its names is. A set of more
than `MOST` names is kept as a star: each is the same as one of them, its representative, which alone gets
what is said of the others. So sets grow by a line for each name, not by a square.

Source: Motik, Nenov, Piro and Horrocks, Handling owl:sameAs via Rewriting (AAAI 2015); union-find: Tarjan,
Efficiency of a Good But Not Linear Set Union Algorithm, 1975.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

import pyoxigraph as ox
from rdflib import Literal, URIRef

from mrag.graph.naming import home_of, preference
from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import OWL, Triple, to_ntriples
from mrag.reasoning.rules import SAME, Rule
from mrag.stores.base import Dataset, TripleStore

MOST: Final = 32  # names of a set that are written out in pairs, at most
_PAGE = 1000  # pairs of a page; no server is known to cut answers shorter
_SENT = 10_000  # pairs that are sent at a time
_SAME = URIRef(OWL + "sameAs")
Pair = tuple[str, str]


class Sameness:
    """What is the same in some graphs, as far as it has been closed."""

    def __init__(self, store: TripleStore, asserted: Sequence[str], scratch: str) -> None:
        self._store, self._asserted, self._scratch = store, asserted, scratch
        self._home: str | None = None
        self._known: set[Pair] = set()
        self.centre: dict[str, str] = {}

    def close(self, graphs: Sequence[str], out: str, within: Collection[str] = ()) -> int:
        """Put the pairs of `owl:sameAs` that follow from others by symmetry and transitivity into a graph."""
        if within:
            known = set(_near(self._store, Dataset(tuple(graphs)), within))
        else:
            known, size = self._known, len(self._known)
            known.update(_pairs(self._store, Dataset((out,) if size else tuple(graphs))))
            if len(known) == size:
                return 0
        missing = [p for group in same_groups(known) for p in self._write(group) if p not in known]
        for start in range(0, len(missing), _SENT):
            self._insert(missing[start : start + _SENT], out)
        known.update(missing)
        return len(missing)

    def reread(self) -> None:
        """Read all pairs the next time, since some were taken out again."""
        self._known.clear()

    def guard(self, rule: Rule) -> Rule:
        """Return a rule as it is run where there are large sets.

        What is said of a name of one goes to no name but its representative, by which rules mean it, too.
        """
        centre = {ox.NamedNode(n): ox.NamedNode(c) for n, c in self.centre.items()}
        atoms = tuple(
            pt.TriplePattern(*(centre.get(t, t) for t in (a.s, a.p, a.o)))  # type: ignore[arg-type]  # no paths
            for a in rule.body
        )
        filters = rule.filters
        if rule.name in ("eq-rep-s", "eq-rep-o") and isinstance(atoms[0].o, ox.Variable):
            # From a representative to no other name, and to no name of a large set but that.
            ends = (
                pt.TriplePattern(pt.var("other"), SAME, atoms[0].s),
                pt.TriplePattern(atoms[0].o, SAME, pt.var("other")),
            )
            filters += tuple(pt.Negation(pt.Holds(pt.Graph(pt.iri(self._scratch), end))) for end in ends)
        return replace(rule, body=atoms, filters=filters)

    @property
    def named(self) -> tuple[str, ...]:
        """Return the graphs that rules read by name."""
        return (self._scratch,) if self.centre else ()

    def forget(self) -> None:
        """Clear the graph of the names of large sets."""
        if self.centre:
            self._store.clear(self._scratch)

    def _write(self, group: list[str]) -> Iterator[Pair]:
        if len(group) <= MOST:
            yield from permutations(group, 2)
            return
        if self._home is None:
            self._home = home_of(self._store, Dataset(tuple(self._asserted)))
        first = min(group, key=lambda name: preference(name, self._home or ""))
        others = [name for name in group if name != first]
        fresh = [(name, first) for name in others if self.centre.get(name) != first]
        if fresh:
            moved = any(name in self.centre for name in group)
            self.centre.update(fresh)
            self.centre.pop(first, None)
            if moved:  # a set has grown, and what it was known by before may be one of its other names now
                self._store.clear(self._scratch)
            self._insert(self.centre.items() if moved else fresh, self._scratch)
        for name in others:
            yield name, first
            yield first, name

    def _insert(self, pairs: Iterable[Pair], graph: str) -> None:
        self._store.insert(to_ntriples(Triple(URIRef(x), _SAME, URIRef(y)) for x, y in pairs), graph)


def has_large_sets(store: TripleStore, graphs: Sequence[str]) -> bool:
    """Return whether anything in some graphs has more names than are written out in pairs."""
    names, other = pt.var("names"), pt.var("other")
    each = pt.Select(
        (pt.var("thing"), (pt.Count(), names)),
        pt.TriplePattern(pt.var("thing"), SAME, other),
        group_by=(pt.var("thing"),),
    )
    many = pt.Filter(pt.Compare(names, ">=", ox.Literal(MOST)))
    return store.ask(to_sparql(pt.Ask(pt.Group((pt.SubSelect(each), many)))), Dataset(tuple(graphs)))


def same_groups(pairs: Iterable[Pair]) -> list[list[str]]:
    """Return the classes of things of which pairs say that they are the same, each in order of name."""
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


class SamePaths:
    """The ways from one name of a thing to another over pairs of `owl:sameAs`, each set read once."""

    def __init__(self, store: TripleStore, dataset: Dataset) -> None:
        self._store, self._dataset = store, dataset
        self._beside: dict[str, set[str]] = {}

    def between(self, start: str, end: str) -> list[Pair]:
        """Return the steps of the shortest way, the first of several; none if there is no way."""
        if start not in self._beside:
            self._beside[start] = set()
            for x, y in _near(self._store, self._dataset, [start]):
                self._beside.setdefault(x, set()).add(y)
                self._beside.setdefault(y, set()).add(x)
        came, level = {start: ""}, [start]
        while level and end not in came:
            pairs = [(y, x) for x in level for y in sorted(self._beside[x])]
            level = [y for y in dict(pairs) if y not in came]
            came = {**dict(pairs[::-1]), **came}
        way = [end] if end in came else []
        while way and came[way[-1]]:
            way.append(came[way[-1]])
        return list(zip(way[1:][::-1], way[:-1][::-1], strict=True))

    def steps(self, goal: pt.TriplePattern) -> tuple[pt.TriplePattern, ...]:
        """Return the pairs from which a pair follows, if it takes more than one of them."""
        if goal.p != SAME or not (isinstance(goal.s, ox.NamedNode) and isinstance(goal.o, ox.NamedNode)):
            return ()
        way = [
            pt.TriplePattern(pt.iri(x), SAME, pt.iri(y)) for x, y in self.between(goal.s.value, goal.o.value)
        ]
        return tuple(way) if len(way) > 1 else ()


def is_chain(goal: pt.TriplePattern, given: Sequence[pt.TriplePattern]) -> bool:
    """Return whether what is the same leads from one to the next, as by so many steps of transitivity."""
    nodes = [goal.s, *(g.o for g in given)]
    return nodes[-1] == goal.o and all(g.p == SAME and g.s == n for g, n in zip(given, nodes, strict=False))


def _pairs(store: TripleStore, dataset: Dataset) -> Iterator[Pair]:
    query, last = queries.get("reasoning/same"), (Literal(""), Literal(""))
    if store.capabilities.edges:
        rows = store.select(queries.get("reasoning/same-all").text, dataset)
        yield from ((str(x), str(y)) for x, y in rows)
        return
    while True:
        page = store.select(query.bind(after_then=[last], limit=_PAGE), dataset).rows
        yield from ((str(x), str(y)) for _, _, x, y in page)
        if len(page) < _PAGE:
            return
        last = (Literal(str(page[-1][0])), Literal(str(page[-1][1])))


def _near(store: TripleStore, dataset: Dataset, things: Collection[str]) -> Iterator[Pair]:
    """Yield the pairs of the sets that some things are in."""
    level, seen = sorted(things), set(things)
    while level:
        new: set[str] = set()
        for text in queries.get("reasoning/same-near").batches("thing", level):
            for x, y, said in store.select(text, dataset):
                yield (str(x), str(y)) if str(said) == "1" else (str(y), str(x))
                new.add(str(y))
        level = sorted(new - seen)
        seen |= new
