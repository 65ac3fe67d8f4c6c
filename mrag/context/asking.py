"""One query for all that a pass over the neighbourhood lacked, and what its answer says.

The query is a UNION of sub-selects, its arms, each of which says by a number what its rows are. A hub is
never read whole: each arm of edges has a LIMIT and beside it one that counts the predicates with many.
Only where the limit was reached, who has how many decides what is asked for next: an entity with few edges
is then read whole, a hub without its long predicates, and each of those as far as its share goes. What a
query gives is bounded so, however many edges a hub has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

import pyoxigraph as ox

from mrag.context.edges import TEXTS, Direction
from mrag.rdf import patterns as pt
from mrag.rdf.terms import RDFS, Triple, to_ox

_T = TypeVar("_T")
_ARM, _E, _P, _X, _G, _N = columns = tuple(map(pt.var, ("arm", "e", "p", "x", "g", "n")))
_ENTITIES = 60
"""Entities of one arm."""
_EDGES = 3000
"""Most edges that one arm gives where it may meet hubs."""
_MANY = 16
"""Edges of one predicate beyond which they are counted."""
_WHOLE = 300
"""Counted edges up to which an entity is read whole."""
_REST = 1000
"""Counted edges of a hub that are read without a look at their predicates."""
_SHARES = 16
"""Shares of predicates in one query: they begin at a known end, so even many of them are planned soon."""
_GUESSES = 120
"""Entities that are read along with their labels, in case that they have none."""
_VALUES = 450
"""Rows of a VALUES block, fewer than the five hundred that servers take."""

Key = tuple[str, Direction]


class EdgeBounds(NamedTuple):
    """How much of an entity is wanted: all of it up to `scan` edges, else `share` of each predicate."""

    scan: int
    share: int


@dataclass
class Hub:
    """An entity with many edges.

    Attributes:
        bounds: How much of it is wanted.
        long: Predicates that are read as far as their share goes.
        texts: Those of them that have so few edges that all their texts are read beside the share.
    """

    bounds: EdgeBounds
    long: tuple[str, ...]
    texts: tuple[str, ...] = ()


@dataclass
class Wanted:
    """What a pass lacked.

    Attributes:
        edges: Entities and directions to be read.
        whole: Those of which it is known that they have few edges.
        hubs: Those of which it is known that they have many.
        guesses: Entities whose triples name them where they turn out to have no label.
        labels: IRIs of the entities to be named.
        classes: IRIs of the classes whose superclasses are wanted.
        triples: Triples of which it is asked which named graphs state them.
    """

    edges: dict[Key, EdgeBounds] = field(default_factory=dict)
    whole: dict[Key, None] = field(default_factory=dict)
    hubs: dict[Key, Hub] = field(default_factory=dict)
    guesses: dict[str, None] = field(default_factory=dict)
    labels: dict[str, None] = field(default_factory=dict)
    classes: dict[str, None] = field(default_factory=dict)
    triples: dict[Triple, None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.edges or self.whole or self.hubs or self.labels or self.classes or self.triples)


@dataclass(frozen=True)
class Arm:
    """One part of a query.

    Attributes:
        kind: What its rows are: `edges`, `guess`, `many`, `long`, `label`, `super` or `graph`.
        select: The part.
        direction: Of edges.
        entities: Whose edges.
        limit: Most rows that it gives.
        graph: The graph that its edges are in, where it is known.
    """

    kind: str
    select: pt.Select
    direction: Direction = "out"
    entities: tuple[str, ...] = ()
    limit: int | None = None
    graph: str = ""


@dataclass(frozen=True)
class EdgePlaces:
    """Where edges are read.

    Attributes:
        graphs: The graphs.
        named: Whether they can be reached by their names, which tell a triple's graph then.
        among: Whether other graphs can be, too.
        predicates: Those that edges can have, where the store finds none by its end alone.
    """

    graphs: tuple[str, ...]
    named: bool
    among: bool = False
    predicates: tuple[str, ...] = ()

    def pattern(self, triple: pt.TriplePattern) -> tuple[pt.Pattern, ...]:
        """Return a triple pattern in these graphs."""
        if not self.named:
            return (triple,)
        found: tuple[pt.Pattern, ...] = (pt.Graph(_G, triple),)
        return (*found, pt.Filter(pt.In(_G, tuple(map(_node, self.graphs))))) if self.among else found

    def around(
        self, entities: Sequence[str], direction: Direction, without: Sequence[str] = ()
    ) -> Iterator[tuple[pt.Pattern, ...]]:
        """Yield patterns that together give the edges of entities.

        Args:
            entities: IRIs of the entities.
            direction: Of the edges.
            without: Predicates whose edges are left out.
        """
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
            inner: tuple[pt.Pattern, ...] = (pt.Graph(_node(graph), triple) if places.named else triple,)
            if outwards and not whole:
                inner = (*inner, no_text)
            first = pt.Select(((e, _E), (p, _P), _X), pt.Group(inner), order_by=keys, limit=limit)
            yield Arm("long", first, direction, (entity,), limit, graph)


def label_arms(labels: Sequence[str], properties: Sequence[str]) -> Iterator[Arm]:
    """Yield the arms that read labels."""
    for some in _batches([(e, p) for e in labels for p in properties], _VALUES):
        pairs = pt.Values((_E, _P), tuple((_node(e), _node(p)) for e, p in some))
        where = (pairs, pt.TriplePattern(_E, _P, _X), pt.Filter(pt.Call("isLiteral", (_X,))))
        yield Arm("label", _select(where, graph=False))


def class_arms(classes: Sequence[str]) -> Iterator[Arm]:
    """Yield the arms that read superclasses."""
    for some in _batches(classes, _VALUES):
        triple = pt.TriplePattern(_E, _node(RDFS + "subClassOf"), _X)
        yield Arm(
            "super",
            pt.Select((_E, _X), pt.Group((_rows(_E, some), triple, pt.Filter(pt.Call("isIRI", (_X,)))))),
        )


def graph_arms(triples: Sequence[Triple], contexts: Sequence[str], *, among: bool) -> Iterator[Arm]:
    """Yield the arms that read which named graphs state triples."""
    for some in _batches(list(enumerate(triples)), _VALUES):
        rows = tuple((ox.Literal(at), *map(to_ox, triple)) for at, triple in some)
        given = pt.Values((_N, _E, _P, _X), rows)  # type: ignore[arg-type]  # no term of a triple in sight is blank
        where: tuple[pt.Pattern, ...] = (given, pt.Graph(_G, pt.TriplePattern(_E, _P, _X)))
        if among:
            where = (*where, pt.Filter(pt.In(_G, tuple(map(_node, contexts)))))
        yield Arm("graph", pt.Select((_N, _G), pt.Group(where)))


def packed(arms: Sequence[Arm], size: int) -> Iterator[tuple[pt.Select, Sequence[Arm]]]:
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
    """Return how an entity is read that may have many edges; None if it is read whole.

    Args:
        counts: How many edges there are of predicates in graphs, of those with many.
        bounds: How much is wanted.
    """
    rest = sum(counts.values())
    if rest <= max(_WHOLE, bounds.scan):
        return None
    sizes: Counter[str] = Counter()
    for (predicate, _), number in counts.items():
        sizes[predicate] += number
    long: list[str] = []
    texts: list[str] = []
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


def _select(
    where: tuple[pt.Pattern, ...],
    *,
    limit: int | None = None,
    order_by: tuple[pt.Expression, ...] = (),
    graph: bool = True,
) -> pt.Select:
    named = graph and any(isinstance(part, pt.Graph) for part in where)
    shown = (_E, _P, _X, _G) if named else (_E, _P, _X)
    return pt.Select(shown, pt.Group(where), limit=limit, order_by=order_by)


def _rows(variable: ox.Variable, iris: Sequence[str]) -> pt.Values:
    return pt.Values((variable,), tuple((_node(one),) for one in iris))


def _node(value: str) -> ox.NamedNode:
    return cast(ox.NamedNode, to_ox(value))


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
