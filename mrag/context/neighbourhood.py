"""The neighbourhood of entities, read in passes: from memory where the store is embedded, else by a query.

The query of a pass is a UNION of sub-selects, its arms, each of which reads some edges, labels or counts. A
hub is never read whole.
"""

from __future__ import annotations

import typing
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar, cast

import pyoxigraph as ox
from rdflib import Literal

from mrag.graph.kg import KnowledgeGraph
from mrag.graph.naming import LabelText, best_labels
from mrag.rdf import patterns as pt
from mrag.rdf import queries
from mrag.rdf.guard import EXPLICIT, IMPLICIT
from mrag.rdf.patterns import to_sparql
from mrag.rdf.terms import RDFS, OxTerm, Term, Triple, to_ox
from mrag.stores.base import Dataset, Row

Direction = typing.Literal["out", "in"]
Statement: TypeAlias = tuple[str, str, OxTerm, str]  # Subject IRI, predicate IRI, object, graph IRI

TEXTS = 256  # Texts of one property that are read at most, because they may come in dozens of languages


@dataclass(frozen=True)
class Edges:
    """The edges of one entity in one direction."""

    statements: tuple[Statement, ...]  # Those read
    cut: frozenset[str] = frozenset()  # Predicates of which there are more than were read


def order(statement: Statement) -> tuple[str, str, str, str]:
    """Return what the edges of one predicate are sorted by, which is what `ORDER BY` sorts them by."""
    s, _, o, _ = statement
    if isinstance(o, ox.Literal):
        return s, o.value, o.language or "", str(o)
    return s, o.value if isinstance(o, ox.NamedNode) else str(o), "", str(o)


def share_of(part: Iterable[Statement], share: int, *, ordered: bool = False) -> tuple[list[Statement], bool]:
    """Return what a hub gives of the edges of one predicate in one graph, and whether there are more."""
    texts: list[Statement] = []
    rest: list[Statement] = []
    for statement in part:
        o = statement[2]
        (texts if isinstance(o, ox.Literal) and o.language else rest).append(statement)
    many = len(texts) > TEXTS
    if many and not ordered:
        texts.sort(key=order)
    if cut := len(rest) > share:
        if not ordered:
            rest.sort(key=order)
        rest = rest[:share]
    return texts[:TEXTS] + rest, cut or many


@dataclass(frozen=True)
class ReadEdges:
    """What a server has given of the edges of one entity in one direction."""

    statements: Sequence[Statement]  # The edges
    graphs: Sequence[str]  # The graphs that they may be in, in order
    longer: frozenset[tuple[str, str]] = frozenset()  # Predicates and graphs of which the first are here
    bounds: tuple[int, int] = (0, 0)  # The `scan` that it has more edges than

    def serves(self, scan: int, share: int) -> bool:
        """Return whether it is enough for these bounds."""
        return not self.longer or (scan <= self.bounds[0] and share <= self.bounds[1])

    def bounded(self, scan: int, share: int, only: frozenset[str] | None = None) -> Edges:
        """Return the edges: all of them up to `scan`, of a hub a share of each predicate."""
        if only is None and not self.longer and len(self.statements) <= scan:
            return Edges(tuple(self.statements))
        groups: dict[tuple[str, str], list[Statement]] = {}
        for statement in self.statements:
            if only is None or statement[1] in only:
                groups.setdefault((statement[1], statement[3]), []).append(statement)
        statements: list[Statement] = []
        cut: set[str] = set()
        for predicate in sorted({p for p, _ in groups}):
            for graph in self.graphs:
                part, more = share_of(groups.get((predicate, graph), ()), share)
                statements.extend(part)
                if more or (predicate, graph) in self.longer:
                    cut.add(predicate)
        return Edges(tuple(statements), frozenset(cut))


_T = TypeVar("_T")
_ARM, _E, _P, _X, _G, _N = columns = tuple(map(pt.var, ("arm", "e", "p", "x", "g", "n")))
_ENTITIES = 60  # Entities of one arm
_EDGES = 3000  # Most edges that one arm gives where it may meet hubs
_MANY = 16  # Edges of one predicate beyond which they are counted
_WHOLE = 300  # Counted edges up to which an entity is read whole
_REST = 1000  # Counted edges of a hub that are read without a look at their predicates
_SHARES = 16
"""Shares of predicates in one query: they begin at a known end, so even many of them are planned soon."""
_GUESSES = 120  # Entities that are read along with their labels, in case that they have none
_VALUES = 450  # Rows of a VALUES block, fewer than the five hundred that servers take

Key = tuple[str, Direction]


class EdgeBounds(NamedTuple):
    """How much of an entity is wanted: all of it up to `scan` edges, else `share` of each predicate."""

    scan: int
    share: int


@dataclass
class Hub:
    """An entity with many edges."""

    bounds: EdgeBounds  # How much of it is wanted
    long: tuple[str, ...]  # Predicates that are read as far as their share goes
    texts: tuple[str, ...] = ()  # Those of them whose texts, being few, are all read beside the share


@dataclass
class Wanted:
    """What a pass lacked."""

    edges: dict[Key, EdgeBounds] = field(default_factory=dict)  # Entities and directions to be read
    whole: dict[Key, None] = field(default_factory=dict)  # Those that are known to have few edges
    hubs: dict[Key, Hub] = field(default_factory=dict)  # Those of which it is known that they have many
    guesses: dict[str, None] = field(default_factory=dict)  # Entities that may need triples as their names
    labels: dict[str, None] = field(default_factory=dict)  # IRIs of the entities to be named
    classes: dict[str, None] = field(default_factory=dict)  # Classes whose superclasses are wanted
    triples: dict[Triple, None] = field(default_factory=dict)  # Triples whose named graphs are wanted
    homes: dict[Triple, None] = field(default_factory=dict)  # Triples whose layers are wanted

    def __bool__(self) -> bool:
        edges = self.edges or self.whole or self.hubs
        return bool(edges or self.labels or self.classes or self.triples or self.homes)


@dataclass(frozen=True)
class Arm:
    """One part of a query."""

    kind: str  # What its rows are: `edges`, `guess`, `many`, `long`, `label`, `super`, `graph` or `home`
    select: pt.Select  # The part
    direction: Direction = "out"  # Of edges
    entities: tuple[str, ...] = ()  # Whose edges
    limit: int | None = None  # Most rows that it gives
    graph: str = ""  # The graph that its edges are in, where it is known


@dataclass(frozen=True)
class EdgePlaces:
    """Where edges are read."""

    graphs: tuple[str, ...]  # The graphs
    named: bool  # Whether they can be reached by their names, which tell a triple's graph then
    among: bool = False  # Whether other graphs can be, too
    predicates: tuple[str, ...] = ()  # Those that edges can have, where the store finds none by its end alone
    inside: str = ""  # The one graph of them, where it is reached by its name
    other: str = ""  # A graph that has none of them

    def pattern(self, triple: pt.TriplePattern) -> tuple[pt.Pattern, ...]:
        """Return a triple pattern in these graphs."""
        if self.inside:
            return (pt.Graph(_node(self.inside), triple),)
        if self.other:
            return (triple, pt.Filter(pt.Negation(pt.Holds(pt.Graph(_node(self.other), triple)))))
        if not self.named:
            return (triple,)
        patterns: tuple[pt.Pattern, ...] = (pt.Graph(_G, triple),)
        return (*patterns, pt.Filter(pt.In(_G, tuple(map(_node, self.graphs))))) if self.among else patterns

    def around(
        self, entities: Sequence[str], direction: Direction, without: Sequence[str] = ()
    ) -> Iterator[tuple[pt.Pattern, ...]]:
        """Yield patterns that together give the edges of entities."""
        here = (_rows(_E, entities), *self.pattern(_triple(direction)))
        if direction == "in" and self.predicates:
            kept = [p for p in self.predicates if p not in without]
            for some in _batches(kept, _VALUES):
                yield (_rows(_P, some), *here)
        elif without:
            yield (*here, pt.Filter(pt.Negation(pt.In(_P, tuple(map(_node, without))))))
        else:
            yield here


def edge_arms(wanted: Wanted, places: EdgePlaces) -> Iterator[Arm]:
    """Yield the arms that read edges."""
    directions: tuple[Direction, ...] = ("out", "in")
    for direction in directions:
        for some in _batches([e for e, d in wanted.edges if d == direction], _ENTITIES):
            # A store that does little well is slow with rows, too; one more request is cheaper there.
            limit = min(_EDGES, _WHOLE * len(some)) if places.predicates else _EDGES
            for where in places.around(some, direction):
                yield Arm("edges", _select(where, limit=limit), direction, tuple(some), limit)
                group = (_E, _P, _G) if places.named else (_E, _P)
                counted = (*group, (pt.Count(), _N))
                many = pt.Compare(pt.Count(), ">", ox.Literal(_MANY))
                yield Arm("many", pt.Select(counted, pt.Group(where), group_by=group, having=many), direction)
        whole = [e for e, d in wanted.whole if d == direction]
        if direction == "out" and len(wanted.guesses) <= _GUESSES:
            guessed = [e for e in wanted.guesses if (e, direction) not in wanted.edges]
            for some in _batches(guessed, _ENTITIES):
                for where in places.around(some, direction):
                    yield Arm("guess", _select(where, limit=_EDGES), direction, tuple(some), _EDGES)
        for some in _batches(whole, _ENTITIES):
            for where in places.around(some, direction):
                yield Arm("edges", _select(where), direction, tuple(some))
    for (entity, direction), hub in wanted.hubs.items():
        yield from _hub_arms(entity, direction, hub, places)


def _hub_arms(entity: str, direction: Direction, hub: Hub, places: EdgePlaces) -> Iterator[Arm]:
    for where in places.around([entity], direction, hub.long):
        yield Arm("edges", _select(where), direction, (entity,))
    text, language = pt.Call("str", (_X,)), pt.Call("lang", (_X,))
    no_text = pt.Filter(
        pt.AnyOf((pt.Negation(pt.Call("isLiteral", (_X,))), pt.Compare(language, "=", ox.Literal(""))))
    )
    outwards = direction == "out"
    if outwards and hub.texts:
        texts = (_rows(_P, hub.texts), pt.Filter(pt.Compare(language, "!=", ox.Literal(""))))
        for where in places.around([entity], direction):
            yield Arm("edges", _select((*texts, *where)), direction, (entity,))
    keys: tuple[pt.Expression, ...] = (text, language, _X) if outwards else (_X,)
    for predicate in hub.long:
        whole = outwards and predicate not in hub.texts
        limit = hub.bounds.share + 1 + (TEXTS if whole else 0)
        p, e = _node(predicate), _node(entity)
        triple = pt.TriplePattern(e, p, _X) if outwards else pt.TriplePattern(_X, p, e)
        for graph in places.graphs:
            inner = (pt.Graph(_node(graph), triple),) if places.named else places.pattern(triple)
            if outwards and not whole:
                inner = (*inner, no_text)
            first = pt.Select(((e, _E), (p, _P), _X), pt.Group(inner), order_by=keys, limit=limit)
            yield Arm("long", first, direction, (entity,), limit, graph)


def other_arms(wanted: Wanted, properties: Sequence[str], places: EdgePlaces) -> Iterator[Arm]:
    """Yield the arms that read labels, superclasses, and which triples are there."""
    triple = places.pattern(_triple("out"))
    for some in _batches([(e, p) for e in wanted.labels for p in properties], _VALUES):
        pairs = pt.Values((_E, _P), tuple((_node(e), _node(p)) for e, p in some))
        where = (pairs, *triple, pt.Filter(pt.Call("isLiteral", (_X,))))
        yield Arm("label", _select(where, graph=False))
    for classes in _batches(list(wanted.classes), _VALUES):
        below = places.pattern(pt.TriplePattern(_E, _node(RDFS + "subClassOf"), _X))
        where = (_rows(_E, classes), *below, pt.Filter(pt.Call("isIRI", (_X,))))
        yield Arm("super", pt.Select((_E, _X), pt.Group(where)))


def graph_arms(kind: str, triples: Iterable[Triple], places: EdgePlaces) -> Iterator[Arm]:
    """Yield the arms that read which triples are in graphs, and in which."""
    for some in _batches(list(enumerate(triples)), _VALUES):
        rows = tuple((ox.Literal(at), *map(to_ox, triple)) for at, triple in some)
        given = pt.Values((_N, _E, _P, _X), rows)  # type: ignore[arg-type]  # no term of a triple in sight is blank
        stated = pt.Group((given, *places.pattern(_triple("out"))))
        yield Arm(kind, pt.Select((_N, _G) if places.named else (_N,), stated))


def pack(arms: Sequence[Arm], size: int) -> Iterator[tuple[pt.Select, Sequence[Arm]]]:
    """Yield queries that together have all arms, at most so many each, with their own."""
    shares = [arm for arm in arms if arm.kind == "long"]
    others = [arm for arm in arms if arm.kind != "long"]
    for some in (*_batches(others, size), *_batches(shares, max(size, _SHARES))):
        parts = []
        for number, arm in enumerate(some):
            marked = ((ox.Literal(number), _ARM), *arm.select.variables)
            plain = arm.select
            parts.append(pt.SubSelect(pt.Select(
                marked, plain.where, group_by=plain.group_by, having=plain.having,
                order_by=plain.order_by, limit=plain.limit,
            )))  # fmt: skip
        yield pt.Select(columns, pt.Union(tuple(parts))), some


def hub_of(counts: dict[tuple[str, str], int], bounds: EdgeBounds) -> Hub | None:
    """Return how an entity is read that may have many edges; None if it is read whole."""
    rest = sum(counts.values())
    if rest <= max(_WHOLE, bounds.scan):
        return None
    sizes: Counter[str] = Counter()
    for (predicate, _), number in counts.items():
        sizes[predicate] += number
    long, texts = list[str](), list[str]()
    for predicate, number in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        is_long = number > max(TEXTS, bounds.share)
        if is_long or (rest > _REST and number > bounds.share + 1):
            long.append(predicate)
            rest -= number
            if not is_long:
                texts.append(predicate)
    return Hub(bounds, tuple(sorted(long)), tuple(sorted(texts)))


def _triple(direction: Direction) -> pt.TriplePattern:
    return pt.TriplePattern(_E, _P, _X) if direction == "out" else pt.TriplePattern(_X, _P, _E)


def _select(where: tuple[pt.Pattern, ...], *, limit: int | None = None, graph: bool = True) -> pt.Select:
    named = graph and any(isinstance(part, pt.Graph) for part in where)
    shown = (_E, _P, _X, _G) if named else (_E, _P, _X)
    return pt.Select(shown, pt.Group(where), limit=limit)


def _rows(variable: ox.Variable, iris: Sequence[str]) -> pt.Values:
    return pt.Values((variable,), tuple((_node(one),) for one in iris))


def _node(value: str) -> ox.NamedNode:
    return cast(ox.NamedNode, to_ox(value))


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


_KEPT = 100_000
"""Entries of one kind that are kept, so that memory does not grow with what a server has been asked for."""
_AT_ONCE = 4  # Queries that are under way at a time where one does not hold all


class PassRows:
    """What the answers to the queries of one pass say."""

    def __init__(self, properties: Sequence[str]) -> None:
        self.properties = properties  # of labels
        self.edges: defaultdict[Key, list[Statement]] = defaultdict(list)
        self.complete: dict[Key, None] = {}  # Entities of which all was given
        self.full: dict[Key, None] = {}  # Those asked for together with others that have too many edges
        self.longer: defaultdict[Key, set[tuple[str, str]]] = defaultdict(set)  # The first were given
        self.counts: defaultdict[Key, dict[tuple[str, str], int]] = defaultdict(dict)  # Of those with many
        self.texts: defaultdict[str, list[LabelText]] = defaultdict(list)
        self.supers: defaultdict[str, set[str]] = defaultdict(set)
        self.stated: defaultdict[int, set[str]] = defaultdict(set)  # Named graphs, by the triples' number
        self.homes: defaultdict[int, set[str]] = defaultdict(set)  # Layers, by the triples' number

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
        elif arm.kind in ("graph", "home"):
            into = self.stated if arm.kind == "graph" else self.homes
            for *_, g, n in rows:
                into[int(str(n))].add(str(g or arm.graph))
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
    """What has been read of a knowledge graph for one piece of work, and what that lacks."""

    def __init__(self, kg: KnowledgeGraph) -> None:
        self.kg, self.cache, self.lacked = kg, kg.cache, 0
        # What is read while another thread changes the triples stays out of the new answers.
        self._labels = kg.known_labels
        self._edges: dict[Key, ReadEdges] = {}
        self._supers = cast("dict[str, frozenset[str]]", kg.cache.setdefault("superclasses", {}))
        self._graphs: dict[Triple, tuple[str, ...]] = {}
        self._homes: dict[Triple, frozenset[str]] = {}
        self._wanted = Wanted()

    def edges(
        self, entity: str, direction: Direction, bounds: EdgeBounds, only: frozenset[str] | None = None
    ) -> Edges:
        """Return the edges of an entity, none while they are not read."""
        key = entity, direction
        edges = self._edges.get(key)
        if edges is not None and edges.serves(*bounds):
            return edges.bounded(*bounds, only)
        self.lacked += 1
        scan, share = self._wanted.edges.get(key, bounds)
        self._wanted.edges[key] = EdgeBounds(max(scan, bounds.scan), max(share, bounds.share))
        return Edges(())

    def _lack(self, known: Mapping[_T, object], wanted: dict[_T, None], keys: Iterable[_T]) -> None:
        """Note which of some keys have not been read."""
        missing = [one for one in keys if one not in known]
        self.lacked += len(missing)
        wanted.update(dict.fromkeys(missing))

    def labels(self, entities: Sequence[str]) -> dict[str, str | None]:
        """Return the best label of each entity, None while it is not read."""
        self._lack(self._labels, self._wanted.labels, entities)
        return {one: self._labels.get(one) for one in entities}

    def is_nameless(self, entity: str) -> bool:
        """Return whether it is known that an entity has no label; while it is not, what it would need is."""
        if entity in self._labels:
            return not self._labels[entity]
        self._wanted.guesses[entity] = None
        return False

    def superclasses(self, classes: Iterable[str]) -> dict[str, frozenset[str]]:
        """Return the named superclasses of classes, none while they are not read."""
        every = list(classes)
        self._lack(self._supers, self._wanted.classes, every)
        return {one: self._supers[one] for one in every if one in self._supers}

    def graphs(self, triples: Sequence[Triple]) -> list[tuple[str, ...]]:
        """Return the named graphs that state triples, none while they are not read."""
        self._lack(self._graphs, self._wanted.triples, triples)
        return [self._graphs.get(one, ()) for one in triples]

    def homes(self, triples: Sequence[Triple]) -> dict[Triple, frozenset[str]]:
        """Return the layers that triples are in, the first one while they are not read."""
        self._lack(self._homes, self._wanted.homes, triples)
        first = frozenset(self.kg.dataset().default[:1])
        return {one: self._homes.get(one, first) for one in triples}

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
        for arm, rows in self._answers(wanted, properties):
            answer.take(arm, rows)
        self._labels.update(best_labels(wanted.labels, answer.texts, naming, self.kg.languages))
        for one in wanted.classes:
            self._supers[one] = frozenset(answer.supers.get(one, ()))
        for at, triple in enumerate(wanted.triples):
            self._graphs[triple] = tuple(sorted(answer.stated.get(at, ())))
        for at, triple in enumerate(wanted.homes):
            self._homes[triple] = frozenset(answer.homes.get(at, ()))
        graphs = self.kg.dataset().default
        for key in answer.complete.keys() - answer.full.keys():
            hub, longer = wanted.hubs.get(key), frozenset(answer.longer.get(key, ()))
            bounds = hub.bounds if hub else (0, 0)
            self._edges[key] = ReadEdges(answer.edges.get(key, ()), graphs, longer, bounds)
        for key in answer.full.keys() & wanted.edges.keys():
            if hub := hub_of(answer.counts.get(key, {}), wanted.edges[key]):
                self._wanted.hubs[key] = hub
            else:
                self._wanted.whole[key] = None
        if self._wanted.whole or self._wanted.hubs:
            self.fetch()

    def _answers(
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

        def arms_of(places: EdgePlaces, layer: str = "") -> Iterator[Arm]:
            for arm in (*edge_arms(wanted, places), *graph_arms("home", wanted.homes, places)):
                yield replace(arm, graph=layer) if layer else arm

        among = EdgePlaces(contexts, named=True, among=True)
        stated = list(graph_arms("graph", wanted.triples, among))
        labels = list(other_arms(wanted, properties, EdgePlaces(layers, named=False)))
        if len(layers) == 1 and not contexts:
            places = EdgePlaces(layers, named=False, predicates=predicates)
            yield from _texts([*arms_of(places, layers[0]), *labels, *stated], everything, parts)
        elif layers == (EXPLICIT, IMPLICIT) and kg.store.capabilities.apart:
            # Beside `onto:implicit` alone GraphDB gives a graph of all that is asserted, in whatever graph it
            # is. What is inferred may be asserted, too.
            arms = stated
            for places in (
                EdgePlaces((EXPLICIT,), named=False, predicates=predicates, inside=EXPLICIT),
                EdgePlaces((IMPLICIT,), named=False, predicates=predicates, other=EXPLICIT),
            ):
                arms += [*arms_of(places, *places.graphs), *other_arms(wanted, properties, places)]
            yield from _texts(arms, Dataset((IMPLICIT,), (EXPLICIT, *contexts)), parts)
        elif kg.as_found:
            # They have no names by which a query could tell which a triple is in.
            for layer in layers:
                other = EXPLICIT if layer == IMPLICIT else ""
                places = EdgePlaces((layer,), named=False, predicates=predicates, other=other)
                beside = Dataset((layer,), (other,) if other else ())
                yield from _texts(list(arms_of(places, layer)), beside, parts)
            yield from _texts([*labels, *stated], everything, parts)
        else:
            places = EdgePlaces(layers, named=True, among=bool(contexts), predicates=predicates)
            sight = Dataset(layers, tuple(dict.fromkeys((*layers, *contexts))))
            yield from _texts([*arms_of(places), *labels, *stated], sight, parts)


def _texts(arms: Sequence[Arm], dataset: Dataset, parts: int) -> Iterator[tuple[str, Dataset, Sequence[Arm]]]:
    for select, some in pack(arms, parts):
        yield to_sparql(select), dataset, some


_reader: ContextVar[PassReader | None] = ContextVar("reader", default=None)


def reader_of(kg: KnowledgeGraph) -> PassReader | None:
    """Return what the work that is under way has read of a knowledge graph; None if it does not collect."""
    reader = _reader.get()
    return reader if reader is not None and reader.kg is kg else None


def in_passes(kg: KnowledgeGraph, work: Callable[[], _T]) -> _T:
    """Return what some work over the neighbourhood of entities gives, in few round trips."""
    if kg.store.capabilities.edges or reader_of(kg) is not None:
        return work()
    reader = PassReader(kg)
    token = _reader.set(reader)
    try:
        while True:
            result = work()
            if not reader.is_lacking:
                return result
            reader.fetch()
    finally:
        _reader.reset(token)


def labels(kg: KnowledgeGraph, entities: Sequence[str]) -> dict[str, str | None]:
    """Return the best label of each entity, None where it has none or is not read."""
    reader = reader_of(kg)
    return kg.labels(entities) if reader is None else reader.labels(entities)


def keep(kg: KnowledgeGraph, name: str, key: object, make: Callable[[], _T]) -> _T:
    """Return what is derived from the present triples, made when it is first asked for."""
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


_SORTED = 256


def read(kg: KnowledgeGraph, entity: str, direction: Direction, *, scan: int, share: int) -> Edges:
    """Read the edges of an entity, bounded."""
    entity = str(entity)
    if not kg.store.capabilities.edges:
        return _ask(kg, entity, direction, EdgeBounds(scan, share))
    statements: list[Statement] = []
    for graph in kg.dataset().default:
        statements.extend(_some(kg, graph, entity, direction, scan + 1 - len(statements)))
        if len(statements) > scan:
            return _by_predicate(kg, entity, direction, share=share)
    return Edges(tuple(statements))


def read_of(
    kg: KnowledgeGraph, entity: str, direction: Direction, predicates: Iterable[str], *, scan: int
) -> Edges:
    """Read the edges of an entity that have one of some predicates, at most `scan` of each."""
    entity, wanted = str(entity), frozenset(predicates)
    if kg.store.capabilities.edges:
        return _by_predicate(kg, entity, direction, share=scan, only=wanted)
    return _ask(kg, entity, direction, EdgeBounds(scan, scan), wanted)


def read_axioms(
    kg: KnowledgeGraph, symbol: str, predicates: Iterable[str], *, scan: int, share: int
) -> tuple[Statement, ...]:
    """Read the triples of some predicates that begin at a class or property.

    Of a server they are kept as long as this process does not change the triples, because every question
    needs them and they change seldom.
    """

    def make() -> tuple[Statement, ...]:
        edges = read(kg, symbol, "out", scan=scan, share=share)
        return tuple(x for x in edges.statements if x[1] in predicates)

    return make() if kg.store.capabilities.edges else keep(kg, "axioms", (symbol, scan, share), make)


def _ask(
    kg: KnowledgeGraph,
    entity: str,
    direction: Direction,
    bounds: EdgeBounds,
    only: frozenset[str] | None = None,
) -> Edges:
    def work() -> Edges:
        reader = reader_of(kg)
        assert reader is not None
        return reader.edges(entity, direction, bounds, only)

    return in_passes(kg, work)


def _by_predicate(
    kg: KnowledgeGraph, entity: str, direction: Direction, *, share: int, only: frozenset[str] | None = None
) -> Edges:
    statements: list[Statement] = []
    cut: set[str] = set()
    counts = kg.profile().predicates
    for predicate, count in sorted((p, n) for p, n in counts.items() if only is None or p in only):
        # A small predicate is read whole and sorted, so that every store gives the same share of it.
        ordered = kg.store.capabilities.ordered and count > _SORTED
        for graph in kg.dataset().default:
            # A text may come in dozens of languages, of which the caller wants one.
            limit = share + 1 if direction == "in" else TEXTS
            read = _some(kg, graph, entity, direction, limit if ordered else None, predicate)
            part, more = share_of(read, share, ordered=ordered)
            statements.extend(part)
            if more:
                cut.add(predicate)
    return Edges(tuple(statements), frozenset(cut))


def _some(
    kg: KnowledgeGraph,
    graph: str,
    entity: str,
    direction: Direction,
    limit: int | None,
    predicate: str | None = None,
) -> list[Statement]:
    """Read at most so many edges of one graph. The known end is not asked for again: it is the slow part."""
    if direction == "out":
        quads = islice(kg.store.edges(graph, s=entity, p=predicate), limit)
        return [
            (entity, q.predicate.value, q.object, graph) for q in quads if type(q.object) is not ox.Triple
        ]
    quads = islice(kg.store.edges(graph, p=predicate, o=entity), limit)
    end = ox.NamedNode(entity)
    subjects = ((q.subject, q.predicate) for q in quads)
    return [(s.value, p.value, end, graph) for s, p in subjects if type(s) is ox.NamedNode]


def superproperties(kg: KnowledgeGraph) -> dict[str, frozenset[str]]:
    """Return which properties each property implies."""
    return _pairs(kg, "context/superproperties")


def inverses(kg: KnowledgeGraph) -> dict[str, frozenset[str]]:
    """Return which properties say the same the other way round."""
    return _pairs(kg, "context/inverses")


def _pairs(kg: KnowledgeGraph, name: str) -> dict[str, frozenset[str]]:
    # Axioms change seldom and every expansion needs them.
    def make() -> dict[str, frozenset[str]]:
        above: dict[str, set[str]] = {}
        for p, q in kg.select(queries.get(name).text):
            above.setdefault(str(p), set()).add(str(q))
        return {p: frozenset(qs) for p, qs in above.items()}

    return keep(kg, name, "", make)


def superclasses(kg: KnowledgeGraph, classes: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the named superclasses of each class."""
    if (reader := reader_of(kg)) is not None:
        return reader.superclasses(sorted(set(classes)))
    above: dict[str, set[str]] = {}
    for text in queries.get("context/superclasses").batches("class", sorted(set(classes))):
        for c, d in kg.select(text):
            above.setdefault(str(c), set()).add(str(d))
    return {c: frozenset(ds) for c, ds in above.items()}
