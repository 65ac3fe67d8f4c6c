"""Work over the neighbourhood of entities, done in passes where the store is a server.

Over the embedded store each read costs microseconds; over a server a round trip each, of which a context
would take dozens. There the work runs over what has been read so far. What it lacks counts as empty and is
noted, then all of that is read at once and the work begins anew, until nothing is lacking: it costs as many
round trips as the longest chain of reads that lead to each other. What an unfinished pass gives is thrown
away, and nothing that was derived in one is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TypeVar, cast

import pyoxigraph as ox
from rdflib import Literal

from mrag.context.asking import (
    Arm,
    EdgeBounds,
    EdgePlaces,
    Key,
    Wanted,
    class_arms,
    columns,
    edge_arms,
    graph_arms,
    hub_of,
    label_arms,
    packed,
)
from mrag.context.edges import Direction, Edges, ReadEdges, Statement
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import LabelText, best_labels
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import Term, Triple, to_ox
from mrag.stores.base import Dataset, Row

_T = TypeVar("_T")
_KEPT = 100_000
"""Entries of one kind that are kept, so that memory does not grow with what a server has been asked for."""
_AT_ONCE = 4
"""Queries that are under way at a time where one does not hold all."""


@dataclass
class PassRows:
    """What the answers to the queries of one pass say.

    Attributes:
        properties: The properties of labels.
        edges: Edges of entities.
        complete: Entities of which all was given that was asked for.
        full: Those that were asked for together with others that have too many edges.
        longer: Predicates and graphs of which the first edges were given only.
        counts: How many edges there are of predicates in graphs, of those with many.
        texts: Labels of entities.
        supers: Superclasses of classes.
        stated: The named graphs that state triples, by the triples' number.
    """

    properties: Sequence[str]
    edges: defaultdict[Key, list[Statement]] = field(default_factory=lambda: defaultdict(list))
    complete: dict[Key, None] = field(default_factory=dict)
    full: dict[Key, None] = field(default_factory=dict)
    longer: defaultdict[Key, set[tuple[str, str]]] = field(default_factory=lambda: defaultdict(set))
    counts: defaultdict[Key, dict[tuple[str, str], int]] = field(default_factory=lambda: defaultdict(dict))
    texts: defaultdict[str, list[LabelText]] = field(default_factory=lambda: defaultdict(list))
    supers: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    stated: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def take(self, arm: Arm, rows: Sequence[Row]) -> None:
        """Take in the rows of a part of a query."""
        if arm.kind == "label":
            for e, p, x, _, _ in rows:
                if isinstance(x, Literal):
                    at = self.properties.index(str(p))
                    self.texts[str(e)].append((at, x.language or "", str(x)))
        elif arm.kind == "super":
            for e, _, x, _, _ in rows:
                if e != x:
                    self.supers[str(e)].add(str(x))
        elif arm.kind == "graph":
            for *_, g, n in rows:
                self.stated[int(str(n))].add(str(g))
        elif arm.kind == "many":
            for e, p, _, g, n in rows:
                self.counts[str(e), arm.direction][str(p), str(g or arm.graph)] = int(str(n))
        else:
            self._take_edges(arm, rows)

    def _take_edges(self, arm: Arm, rows: Sequence[Row]) -> None:
        if arm.kind == "long":
            if len(rows) == arm.limit:
                self.longer[arm.entities[0], arm.direction].add((str(rows[0][1]), arm.graph))
        else:
            into = self.full if len(rows) == arm.limit else self.complete
            into.update(((e, arm.direction), None) for e in arm.entities)
        for e, p, x, g, _ in rows:
            end = to_ox(cast(Term, x))
            entity, graph = str(e), str(g or arm.graph)
            if arm.direction == "out":
                self.edges[entity, "out"].append((entity, str(p), end, graph))
            elif isinstance(end, ox.NamedNode):
                statement = end.value, str(p), ox.NamedNode(entity), graph
                self.edges[entity, "in"].append(statement)


class PassReader:
    """What has been read of a knowledge graph for one piece of work, and what that lacks.

    Args:
        kg: The knowledge graph, on a store that answers queries only.

    Attributes:
        kg: The knowledge graph.
        cache: What is kept of its present triples; those of before where they change meanwhile.
        lacked: How often something was asked for that has not been read.
    """

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg, self.cache, self.lacked = kg, kg.cache, 0
        # What is read while another thread changes the triples stays out of the new answers.
        self._labels = kg.known_labels
        self._edges: dict[Key, ReadEdges] = {}
        self._supers = cast("dict[str, frozenset[str]]", kg.cache.setdefault("superclasses", {}))
        self._graphs: dict[Triple, tuple[str, ...]] = {}
        self._wanted = Wanted()

    def edges(
        self, entity: str, direction: Direction, bounds: EdgeBounds, only: frozenset[str] | None = None
    ) -> Edges:
        """Return the edges of an entity, none while they are not read."""
        key = entity, direction
        found = self._edges.get(key)
        if found is not None and found.serves(*bounds):
            return found.bounded(*bounds, only)
        self.lacked += 1
        scan, share = self._wanted.edges.get(key, bounds)
        self._wanted.edges[key] = EdgeBounds(max(scan, bounds.scan), max(share, bounds.share))
        return Edges(())

    def labels(self, entities: Sequence[str]) -> dict[str, str | None]:
        """Return the best label of each entity, None while it is not read."""
        for one in entities:
            if one not in self._labels:
                self.lacked += 1
                self._wanted.labels[one] = None
        return {one: self._labels.get(one) for one in entities}

    def is_nameless(self, entity: str) -> bool:
        """Return whether it is known that an entity has no label; while it is not, what it would need is."""
        if entity in self._labels:
            return not self._labels[entity]
        self._wanted.guesses[entity] = None
        return False

    def superclasses(self, classes: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the named superclasses of classes, none while they are not read."""
        found: dict[str, frozenset[str]] = {}
        for one in classes:
            if one in self._supers:
                found[one] = self._supers[one]
            else:
                self.lacked += 1
                self._wanted.classes[one] = None
        return found

    def graphs(self, triples: Sequence[Triple]) -> list[tuple[str, ...]]:
        """Return the named graphs that state triples, none while they are not read."""
        for one in triples:
            if one not in self._graphs:
                self.lacked += 1
                self._wanted.triples[one] = None
        return [self._graphs.get(one, ()) for one in triples]

    @property
    def is_lacking(self) -> bool:
        """Return whether the work asked for something that has not been read."""
        return bool(self._wanted)

    def fetch(self) -> None:
        """Read all that is lacking, and what that turns out to need where there are hubs."""
        wanted, self._wanted = self._wanted, Wanted()
        naming = self.kg.profile().naming
        properties = list(dict.fromkeys(p for tier in naming for p in tier))
        answer = PassRows(properties)
        for arm, rows in self._answered(wanted, properties):
            answer.take(arm, rows)
        self._labels.update(best_labels(wanted.labels, answer.texts, naming, self.kg.languages))
        for one in wanted.classes:
            self._supers[one] = frozenset(answer.supers.get(one, ()))
        for at, triple in enumerate(wanted.triples):
            self._graphs[triple] = tuple(sorted(answer.stated.get(at, ())))
        graphs = self.kg.dataset().default
        for key in answer.complete.keys() - answer.full.keys():
            hub, longer = wanted.hubs.get(key), frozenset(answer.longer.get(key, ()))
            bounds = hub.bounds if hub else (0, 0)
            self._edges[key] = ReadEdges(answer.edges.get(key, ()), graphs, longer, bounds)
        for key in answer.full.keys() & wanted.edges.keys():
            hub = hub_of(answer.counts.get(key, {}), wanted.edges[key])
            if hub is None:
                self._wanted.whole[key] = None
            else:
                self._wanted.hubs[key] = hub
        if self._wanted.whole or self._wanted.hubs:
            self.fetch()

    # -- inside ------------------------------------------------------------------------------------

    def _answered(
        self, wanted: Wanted, properties: Sequence[str]
    ) -> Iterator[tuple[Arm, Sequence[tuple[Term | None, ...]]]]:
        """Yield each part of the queries with its rows: of entity, predicate, end, graph and number."""
        queries = list(self._queries(wanted, properties))
        if len(queries) == 1:
            answers = [self.kg.store.select(*queries[0][:2])]
        else:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                begun = [
                    pool.submit(copy_context().run, self.kg.store.select, text, dataset)
                    for text, dataset, _ in queries
                ]
                answers = [one.result() for one in begun]
        for answer, (_, _, arms) in zip(answers, queries, strict=True):
            at = [answer.variables.index(column.value) for column in columns]
            parts: list[list[tuple[Term | None, ...]]] = [[] for _ in arms]
            for row in answer:
                number, *rest = (row[i] for i in at)
                parts[int(str(number))].append(tuple(rest))
            yield from zip(arms, parts, strict=True)

    def _queries(
        self, wanted: Wanted, properties: Sequence[str]
    ) -> Iterator[tuple[str, Dataset, Sequence[Arm]]]:
        """Yield queries, their datasets and parts."""
        kg, parts = self.kg, self.kg.store.capabilities.parts
        predicates = () if kg.store.capabilities.by_end else tuple(sorted(kg.profile().predicates))
        everything, contexts = kg.dataset(), kg.record.contexts
        layers = everything.default
        others = [*label_arms(list(wanted.labels), properties), *class_arms(list(wanted.classes))]
        if len(layers) == 1 and not contexts:
            places = EdgePlaces(layers, named=False, predicates=predicates)
            arms = [*_placed(edge_arms(wanted, places), layers[0]), *others]
            yield from _texts(arms, everything, parts)
        elif kg.as_found:
            # They have no names by which a query could tell which a triple is in.
            for layer in layers:
                places = EdgePlaces((layer,), named=False, predicates=predicates)
                arms = list(_placed(edge_arms(wanted, places), layer))
                yield from _texts(arms, Dataset((layer,)), parts)
            yield from _texts(others, everything, parts)
        else:
            places = EdgePlaces(layers, named=True, among=bool(contexts), predicates=predicates)
            arms = [*edge_arms(wanted, places), *others]
            arms += graph_arms(list(wanted.triples), contexts, among=True)
            yield from _texts(arms, Dataset(layers, tuple(dict.fromkeys((*layers, *contexts)))), parts)


def _placed(arms: Iterable[Arm], graph: str) -> Iterator[Arm]:
    for arm in arms:
        yield Arm(arm.kind, arm.select, arm.direction, arm.entities, arm.limit, graph)


def _texts(arms: Sequence[Arm], dataset: Dataset, parts: int) -> Iterator[tuple[str, Dataset, Sequence[Arm]]]:
    for select, some in packed(arms, parts):
        yield to_sparql(select), dataset, some


_reader: ContextVar[PassReader | None] = ContextVar("reader", default=None)


def reader_of(kg: KnowledgeGraph) -> PassReader | None:
    """Return what the work that is under way has read of a knowledge graph; None if it does not collect."""
    reader = _reader.get()
    return reader if reader is not None and reader.kg is kg else None


class Unfinished(Exception):
    """Ends a pass that lacks something, where it would ask for nothing more."""


def end_if_lacking(kg: KnowledgeGraph) -> None:
    """End the pass over a knowledge graph if it lacks something; what follows asks for nothing more.

    Raises:
        Unfinished: If it lacks something.
    """
    if (reader := reader_of(kg)) is not None and reader.is_lacking:
        raise Unfinished


def in_passes(kg: KnowledgeGraph, work: Callable[[], _T]) -> _T:
    """Return what some work over the neighbourhood of entities gives, in few round trips.

    Args:
        kg: The knowledge graph.
        work: The work, which is done several times where the store is a server.

    Example:
        >>> from mrag.stores.oxigraph import OxigraphStore
        >>> in_passes(KnowledgeGraph(OxigraphStore()), lambda: "embedded, so in one")
        'embedded, so in one'
    """
    if kg.store.capabilities.edges or reader_of(kg) is not None:
        return work()
    reader = PassReader(kg)
    token = _reader.set(reader)
    try:
        while True:
            with suppress(Unfinished):
                found = work()
                if not reader.is_lacking:
                    return found
            reader.fetch()
    finally:
        _reader.reset(token)


def labels(kg: KnowledgeGraph, entities: Sequence[str]) -> dict[str, str | None]:
    """Return the best label of each entity, None where it has none or is not read."""
    reader = reader_of(kg)
    return kg.labels(entities) if reader is None else reader.labels(entities)


def kept(kg: KnowledgeGraph, name: str, key: object, make: Callable[[], _T]) -> _T:
    """Return what is derived from the present triples, made when it is first asked for.

    Args:
        kg: The knowledge graph.
        name: What kind of thing it is.
        key: Which one it is.
        make: Makes it; what it makes from what has not been read is not kept.
    """
    reader = reader_of(kg)
    cache = kg.cache if reader is None else reader.cache
    some = cast("dict[object, _T]", cache.setdefault(name, {}))
    if key in some:
        return some[key]
    lacked = 0 if reader is None else reader.lacked
    made = make()
    if (reader is None or reader.lacked == lacked) and len(some) < _KEPT:
        some[key] = made
    return made
