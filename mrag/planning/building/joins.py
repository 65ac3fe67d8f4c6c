"""The classes of a graph and what leads from one to another: the joins that connect what a question names."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        self._distances: dict[tuple[str, tuple[str, ...], Cost], Cost | None] = {}
        self._twice: dict[str, bool] = {}
        self._steps: dict[str, list[tuple[JoinStep, float]]] = {}
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
            ends = [{s.target for s, _ in found if s.forward} for found in self._steps.values()]
            self._twice[iri] = any(a in e and b in e for a, b in own for e in ends if a != b)
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
                if step.target not in done:
                    more = max(0.2, 1.0 + rare - discount(step) - liked.get(step.target, 0.0))
                    if walk and walk[-1].forward and not step.forward and at not in liked:
                        more += _SHARED  # a customer and a supplier in one country are not related by that
                    heapq.heappush(queue, (cost + more, size + 1, step.target, (*walk, step)))
        return None

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
                found = (first + max(0.2, 1.0 + rare - discount(back)), (step, back))
            if found is not None and found[0] <= max_cost and (best is None or found < best):
                best = found
        return best
