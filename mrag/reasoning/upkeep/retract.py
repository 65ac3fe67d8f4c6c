"""What no longer follows when triples go.

They are taken out with all that rests on them, and what follows from something else is put back.

All of it is worked out in graphs that nobody reads, so that the closure stays as it is meanwhile.

Source: Gupta, Mumick and Subrahmanian, Maintaining Views Incrementally (SIGMOD 1993). What a rule infers
from asserted triples alone is not taken out at all, so that the deletion does not spread (compare Motik,
Nenov, Piro and Horrocks, Incremental Update of Datalog Materialisation, AAAI 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.reasoning.evaluate import LazyCounts, TripleCounts, applies, ordered
from mrag.reasoning.rules import Rule
from mrag.stores.base import Dataset, TripleStore

_ANY = pt.TriplePattern(pt.var("s"), pt.var("p"), pt.var("o"))
_SOMEWHERE = pt.var("graph")


class TooFarReaching(Exception):
    """So much would have to be taken out that inferring everything anew is quicker."""


class Retraction:
    """Finds what no longer follows.

    Args:
        store: The store.
        rules: The rules of the present axioms, which are those of the closure too.
        asserted: The asserted graphs as they are now.
        inferred: The graphs of the closure of before.
        prefix: Start of the names of the graphs to write.
        most: Triples taken out from which on it is given up.

    Attributes:
        lost: Afterwards, the graph of the triples that no longer follow.
        back: Afterwards, the graph of those that were taken out for a while and follow after all.
    """

    def __init__(
        self,
        store: TripleStore,
        rules: Sequence[Rule],
        asserted: Sequence[str],
        inferred: Sequence[str],
        prefix: str,
        most: int | None = None,
    ) -> None:
        self.store, self.rules, self.prefix, self.most = store, rules, prefix, most
        self.asserted, self.inferred = tuple(asserted), tuple(inferred)
        self.lost, self.back, self._safe = (f"{prefix}:{name}" for name in ("lost", "back", "safe"))
        self._scratch = [self._safe]

    def run(self, gone: str, *, barred: bool = False) -> int:
        """Take triples out with all that rests on them, and put back what follows still.

        Args:
            gone: The graph of the triples; those that are asserted do not go.
            barred: Whether they stay out even where they follow from others.

        Returns:
            How many triples are lost.

        Raises:
            TooFarReaching: If more than `most` have to be taken out for a while.
        """
        known = (*self.asserted, *self.inferred, gone)
        counts = LazyCounts(self.store, known)
        self._copy(gone, self.lost, without=self.asserted)
        delta, size = self.lost, self._size(self.lost)
        out = size.total
        while size.total:
            found = self._reached(delta, size, known, counts)
            delta = self._graph("out")
            self._copy(found, delta, without=(self._safe,))
            self._copy(delta, self.lost)
            size = self._size(delta)
            out += size.total
            if self.most is not None and out > self.most:
                raise TooFarReaching
        if out:
            self._put_back(counts, gone if barred else None)
        for graph in self._scratch:
            self.store.clear(graph)
        return self.store.count(self.lost)

    # -- inside ------------------------------------------------------------------------------------

    def _reached(self, delta: str, size: TripleCounts, known: tuple[str, ...], counts: TripleCounts) -> str:
        """Collect what rests on what was taken out last, and note what asserted triples alone support."""
        found = self._graph("found")
        data = Dataset(known, (*self.asserted, self.lost, delta))
        for rule, at in self._touched(size, counts):
            stands = pt.Filter(pt.Negation(pt.Holds(pt.Graph(_SOMEWHERE, rule.head))))
            self.store.derive(_forward(rule, at, delta, size, counts, [stands]), data, found)
        heads = self._size(found)
        sure = Dataset((*self.asserted, self._safe), (found,))
        for rule in self.rules:
            if heads.match(rule.head) and applies(rule, counts):
                self.store.derive(_supported(rule, found, heads, counts), sure, self._safe)
        return found

    def _put_back(self, counts: TripleCounts, barred: str | None) -> None:
        """Put back what follows from what is left, then what follows from that."""
        known = (*self.asserted, *self.inferred, self.back)
        named = (self.lost, barred) if barred else (self.lost,)
        delta, heads = self._graph("back"), self._size(self.lost)
        for rule in self.rules:
            if heads.match(rule.head) and applies(rule, counts):
                more = [*_free(rule.body, self.lost, heads), *_free((rule.head,), barred)]
                query = _supported(rule, self.lost, heads, counts, more)
                self.store.derive(query, Dataset(known, named), delta)
        while (size := self._size(delta)).total:
            self._copy(delta, self.back)
            self.store.update(
                queries.get("update/remove-doubles").bind(
                    scanned_probed_graph=[(delta, self.lost, self.lost)]
                )
            )
            fresh = self._graph("back")
            data = Dataset(known, (*named, delta))
            for rule, at in self._touched(size, counts):
                others = tuple(atom for i, atom in enumerate(rule.body) if i != at)
                more = [*_free(others, self.lost, heads), pt.Graph(pt.iri(self.lost), rule.head)]
                more += _free((rule.head,), barred)
                self.store.derive(_forward(rule, at, delta, size, counts, more), data, fresh)
            delta = fresh

    def _touched(self, size: TripleCounts, counts: TripleCounts) -> Iterator[tuple[Rule, int]]:
        for rule in self.rules:
            if applies(rule, counts, size):
                for at, atom in enumerate(rule.body):
                    if size.match(atom):
                        yield rule, at

    def _copy(self, graph: str, into: str, *, without: tuple[str, ...] = ()) -> None:
        where = pt.Group(
            (pt.Graph(pt.iri(graph), _ANY), *([pt.Filter(pt.NotExists(_ANY))] if without else []))
        )
        self.store.derive(pt.Construct((_ANY,), where), Dataset(without, (graph,)), into)

    def _size(self, graph: str) -> TripleCounts:
        return TripleCounts.of(self.store, (graph,))

    def _graph(self, name: str) -> str:
        graph = f"{self.prefix}:{name}:{len(self._scratch)}"
        self._scratch.append(graph)
        return graph


def _forward(
    rule: Rule, at: int, delta: str, size: TripleCounts, counts: TripleCounts, more: Sequence[pt.Pattern]
) -> pt.Construct:
    """Return the query of a rule with one atom held to the graph `delta`, and more that has to match."""
    sizes: list[tuple[int, int, pt.Pattern, pt.TriplePattern]] = []
    for i, atom in enumerate(rule.body):
        if i == at:
            sizes.append((size.match(atom), i, pt.Graph(pt.iri(delta), atom), atom))
        else:
            sizes.append((counts.match(atom), i, atom, atom))
    parts = [*rule.values, *ordered(sizes, hint=not rule.values, filters=rule.filters)]
    return pt.Construct((rule.head,), pt.Group((*parts, *more)))


def _supported(
    rule: Rule, heads: str, size: TripleCounts, counts: TripleCounts, more: Sequence[pt.Pattern] = ()
) -> pt.Construct:
    """Return the query for the triples of a graph that a rule infers.

    A body of one triple is looked for as a condition, which ends at the first match. Oxigraph would read
    all matches of a longer one for each triple, so that it is joined.
    """
    given, names = pt.Graph(pt.iri(heads), rule.head), tuple(dict.fromkeys(rule.head.variables()))
    rest = (*more, *map(pt.Filter, rule.filters))
    if len(rule.body) == 1 or not names:
        return pt.Construct(
            (rule.head,), pt.Group((given, pt.Filter(pt.Holds(pt.Group((*rule.values, *rule.body, *rest))))))
        )
    sizes: list[tuple[int, int, pt.Pattern, pt.TriplePattern]] = [
        (counts.match(atom), i, atom, atom) for i, atom in enumerate(rule.body)
    ]
    first = pt.SubSelect(pt.Select(names, given, limit=2 * size.match(rule.head) + 100, sized=True))
    # The triples come first whatever the sizes say, then atoms that share a variable with them.
    parts = (*rule.values, first, *ordered(sizes, hint=False, bound=names), *rest)
    return pt.Construct((rule.head,), pt.SubSelect(pt.Select(names, pt.Group(parts), distinct=True)))


def _free(
    atoms: Sequence[pt.TriplePattern], graph: str | None, held: TripleCounts | None = None
) -> list[pt.Pattern]:
    if graph is None:
        return []
    there = [a for a in atoms if held is None or held.match(a)]
    return [pt.Filter(pt.Negation(pt.Holds(pt.Graph(pt.iri(graph), atom)))) for atom in there]
