"""The classes of a graph and what leads from one to another: the joins that connect what a question names."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdflib import RDF, URIRef

from mrag.planning.plan import Pattern, Unknown
from mrag.planning.schema import Schema

Cost = float


_SHARED = 0.8
"""What it costs more to join two things by a value that they merely have in common."""


@dataclass(frozen=True, order=True)
class JoinStep:
    """One property walked from a class to another.

    Attributes:
        property: Its IRI.
        forward: Whether it is walked from subject to object.
        source: The class where it starts.
        target: The class where it ends.
    """

    property: str
    forward: bool
    source: str
    target: str


class JoinGraph:
    """The steps between the classes of a schema.

    Args:
        schema: The schema.
    """

    def __init__(self, schema: Schema) -> None:
        self._single = {iri for iri, info in schema.properties.items() if info.functional}
        self._distances: dict[tuple[str, tuple[str, ...], Cost], Cost | None] = {}
        self._twice: dict[str, bool] = {}
        self._steps: dict[str, list[tuple[JoinStep, float]]] = {}
        self._wide = _too_wide(schema)
        largest = max((e.count for e in schema.edges), default=1)
        for edge in schema.edges:
            # Of two ways the one that more triples take is likelier, if little.
            rare = 0.2 * (1 - min(1.0, edge.count / largest) ** 0.25)
            there = JoinStep(edge.property, True, edge.source, edge.target)
            back = JoinStep(edge.property, False, edge.target, edge.source)
            self._steps.setdefault(edge.source, []).append((there, rare))
            self._steps.setdefault(edge.target, []).append((back, rare))
        for steps in self._steps.values():
            steps.sort()

    def steps(self, source: str) -> list[tuple[JoinStep, float]]:
        """Return the steps from a class, each with what is added to its cost for being rare."""
        return self._steps.get(source, [])

    def rivals(self, iri: str) -> set[str]:
        """Return the other properties that join things of the same classes as a property does."""
        steps = [s for found in self._steps.values() for s, _ in found]
        own = {(s.source, s.target) for s in steps if s.property == iri}
        return {s.property for s in steps if (s.source, s.target) in own} - {iri}

    def told_twice(self, iri: str) -> bool:
        """Return whether records of a third class lead to both ends of a property, too."""
        if iri not in self._twice:
            own = {(s.source, s.target) for found in self._steps.values() for s, _ in found
                   if s.property == iri and s.forward}  # fmt: skip
            ends = [(c, {s.target for s, _ in found if s.forward}) for c, found in self._steps.items()]
            self._twice[iri] = any({a, b} <= e and c not in (a, b) for a, b in own for c, e in ends if a != b)
        return self._twice[iri]

    def path(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        discount: Callable[[JoinStep], Cost] = lambda step: 0.0,
        preferred: Mapping[str, Cost] | None = None,
        max_cost: Cost = 5.0,
    ) -> tuple[Cost, tuple[JoinStep, ...]] | None:
        """Return the cheapest walk from one of some classes to one of others, and what it costs.

        Args:
            sources: Where it may start.
            targets: Where it must end; where one is a source too, the walk is empty.
            discount: What is taken off the cost of a step: at most .8 of its 1.
            preferred: What is taken off the cost of coming to a class.
            max_cost: The walk is given up beyond it.

        Returns:
            None if there is no such walk.
        """
        ends, liked = frozenset(targets), preferred or {}
        queue: list[tuple[Cost, int, str, tuple[JoinStep, ...]]] = [
            (0.0, 0, s, ()) for s in sorted(set(sources))
        ]
        heapq.heapify(queue)
        done: set[str] = set()
        while queue:
            cost, size, at, walk = heapq.heappop(queue)
            if at in done or cost > max_cost:
                continue
            if at in ends:
                return cost, walk
            done.add(at)
            for step, rare in self.steps(at):
                if walk and at not in liked and (step.property, step.forward, at) in self._wide:
                    continue
                passed = step.target not in ends and step.target not in liked
                if passed and (step.property, not step.forward, step.target) in self._wide:
                    continue
                if step.target not in done and not self._returns(walk[-1:], step):
                    more = max(0.2, 1.0 + rare - discount(step) - liked.get(step.target, 0.0))
                    if walk and walk[-1].forward and not step.forward and at not in liked:
                        more += _SHARED  # a customer and a supplier in one country are not related by that
                    heapq.heappush(queue, (cost + more, size + 1, step.target, (*walk, step)))
        return None

    def _returns(self, last: tuple[JoinStep, ...], step: JoinStep) -> bool:
        """Return whether a step leads back to the thing that the last one came from, as it has no other."""
        return any(
            s.property == step.property and step.property in self._single and step.forward and not s.forward
            for s in last
        )

    def distance(self, source: str, targets: Sequence[str], max_cost: Cost) -> Cost | None:
        """Return what the cheapest walk between classes costs when no word makes a step likelier."""
        key = (source, tuple(targets), max_cost)
        if key not in self._distances:
            way = self.path([source], targets, max_cost=max_cost)
            self._distances[key] = None if way is None else way[0]
        return self._distances[key]

    def walk_to_other(
        self, cls: str, *, discount: Callable[[JoinStep], Cost] = lambda step: 0.0, max_cost: Cost = 5.0
    ) -> tuple[Cost, tuple[JoinStep, ...]] | None:
        """Return the cheapest walk from a thing of a class to another thing of the same class."""
        best = None
        for step, rare in self.steps(cls):
            first = max(0.2, 1.0 + rare - discount(step))
            if step.target == cls:
                found: tuple[Cost, tuple[JoinStep, ...]] | None = (first, (step,))
            else:
                back = JoinStep(step.property, not step.forward, step.target, step.source)
                if self._returns((step,), back):
                    continue
                found = (first + max(0.2, 1.0 + rare - discount(back)), (step, back))
            if found is not None and found[0] <= max_cost and (best is None or found < best):
                best = found
        return best


def _too_wide(schema: Schema) -> frozenset[tuple[str, bool, str]]:
    """Return the ends of properties for which a narrower class does as well.

    Places are what people are born in and what mountains are located in, but where nobody is born in a
    mountain, no walk leads through a place from the one to the other.

    Args:
        schema: The schema.

    Returns:
        The property, whether the end is that of its subjects, and the class that is wider than it need be.
    """
    counts: dict[tuple[str, bool], dict[str, int]] = {}
    for edge in schema.edges:
        for subjects, cls in ((True, edge.source), (False, edge.target)):
            found = counts.setdefault((edge.property, subjects), {})
            found[cls] = max(found.get(cls, 0), edge.count)
    size = {iri: info.count for iri, info in schema.classes.items()}
    return frozenset(
        (*end, cls)
        for end, found in counts.items()
        for cls, count in found.items()
        if any(c >= count and size.get(o, 0) < size.get(cls, 0) for o, c in found.items() if o != cls)
    )


def joined_later(
    place: Unknown | URIRef, places: Collection[Unknown | URIRef], patterns: Iterable[Pattern]
) -> bool:
    """Return whether a triple relates a place to another of some places, with which it will be joined."""
    ends = ({p.subject, p.object} for p in patterns)
    return any(place in two and two & {*places} - {place} for two in ends)


def split_ends(
    patterns: list[Pattern],
    places: Collection[Unknown | URIRef],
    shown: Collection[Unknown],
    between: Collection[Unknown],
    schema: Schema,
    fresh: Callable[[str], Unknown],
    *,
    both: bool,
) -> None:
    """Give each of two ends a way of its own where an unknown can only have one: "films with A and B".

    Args:
        patterns: The triples of a plan, which are changed.
        places: Its unknowns and names.
        shown: What is shown or counted, which has both ends itself.
        between: Unknowns that only lead from one place to another, so that each end has its own.
        schema: The schema.
        fresh: Returns an unknown that is not in use, named after some words.
        both: Whether the question says that one thing may not have both ends.
    """
    made: set[Unknown] = set()

    def way(hub: Unknown, end: Pattern, ways: Collection[Pattern], passed: frozenset[Unknown]) -> None:
        """Add a way of its own to one end of a hub, as far as it only leads on."""
        other, passed = fresh(hub.name), passed | {hub}
        made.add(other)
        patterns.append(_with(end, hub, other))
        for p in ways:
            far = p.object if p.subject == hub else p.subject
            further = [
                q for q in patterns if far in (q.subject, q.object) and hub not in (q.subject, q.object)
            ]
            if (
                isinstance(far, Unknown)
                and far in between
                and far not in passed  # a way may lead round in a circle
                and all({q.subject, q.object} <= known for q in further)
            ):
                way(far, _with(p, hub, other), further, passed)
            else:
                patterns.append(_with(p, hub, other))

    while True:
        known = {*places, *made}
        found = _with_several(patterns, shown, made, schema, both=both)
        split = [(h, ends, ways) for h, ends in found if (ways := _around(h, ends, patterns, known))]
        if not split:
            return
        hub, ends, ways = split[0]
        for end in ends[1:]:
            patterns.remove(end)
            way(hub, end, ways, frozenset())


def _with_several(
    patterns: Sequence[Pattern],
    shown: Collection[Unknown],
    made: Collection[Unknown],
    schema: Schema,
    *,
    both: bool,
) -> Iterator[tuple[Unknown, list[Pattern]]]:
    """Yield unknowns with several ends of a property of which a thing has one, or may have one only."""
    hubs: dict[tuple[Unknown, str], list[Pattern]] = {}
    for p in patterns:
        if isinstance(p.subject, Unknown) and p.predicate != RDF.type and p.subject not in shown:
            hubs.setdefault((p.subject, str(p.predicate)), []).append(p)
    for (hub, iri), ends in hubs.items():
        info = schema.properties.get(iri)
        named = [p for p in ends if isinstance(p.object, URIRef) or p.object in made]
        if len(ends) > 1 and named and info is not None and (info.functional or (both and len(named) > 1)):
            yield hub, ends


def _around(
    hub: Unknown, ends: Sequence[Pattern], patterns: Sequence[Pattern], known: Collection[Unknown | URIRef]
) -> list[Pattern]:
    around = (p for p in patterns if hub in (p.subject, p.object) and p not in ends)
    return [p for p in around if p.subject in known and p.object in known]


def _with(pattern: Pattern, one: Unknown, other: Unknown) -> Pattern:
    """Return a pattern with another unknown in the place of one."""
    subject = other if pattern.subject == one else pattern.subject
    return Pattern(subject, pattern.predicate, other if pattern.object == one else pattern.object)
