"""Which relations follow one another in a graph whose things have no classes.

Where nothing says what kind a thing is, the relations that lead to it and away from it do: what has
directors and actors is one kind of thing, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.schema import Schema
from mrag.rdf import queries

_SAMPLE = 60
"""Things at an end of a relation that are looked at."""
_LEAST = 0.04
"""Least share of them that a relation must follow from: below it is an accident."""
_MOST = 150
"""Relations that are looked at, the most used ones."""
_HUB = 0.5
"""Share of the relations that lead away from the things that a graph is mostly about."""


class ChainStep(NamedTuple):
    """A relation walked from subject to object, or back."""

    property: str
    forward: bool


@dataclass(frozen=True)
class ChainSteps:
    """The relations of a graph, and which may follow which.

    Attributes:
        following: For each step the steps that may come behind it, with the share of things that have it.
        hubs: Steps that come to a thing that most relations lead away from.
        used: How many triples each relation has.
    """

    following: Mapping[ChainStep, Mapping[ChainStep, float]]
    hubs: frozenset[ChainStep]
    used: Mapping[str, int]

    @classmethod
    def of(cls, kg: KnowledgeGraph, schema: Schema) -> ChainSteps:
        """Return the steps of a graph, read once for each state of it."""
        return kg.cached("planning chains", lambda: _read(kg, schema))


def steps_of(kg: KnowledgeGraph, things: Iterable[str]) -> dict[str, set[ChainStep]]:
    """Return the steps that lead away from each of some things."""
    wanted = sorted(set(things))
    found: dict[str, set[ChainStep]] = {thing: set() for thing in wanted}
    for name, forward in (("completion/leaving", True), ("completion/arriving", False)):
        for text in queries.get(name).batches("entity", wanted):
            for thing, predicate in kg.select(text):
                found[str(thing)].add(ChainStep(str(predicate), forward))
    return found


def _read(kg: KnowledgeGraph, schema: Schema) -> ChainSteps:
    relations = sorted(
        (i for i in schema.properties.values() if i.kind == "entity"), key=lambda i: (-i.triples, i.iri)
    )[:_MOST]
    known = {i.iri for i in relations}
    following: dict[ChainStep, dict[ChainStep, float]] = {}
    for step in (ChainStep(i.iri, forward) for i in relations for forward in (True, False)):
        query = queries.get("completion/ends" if step.forward else "completion/starts")
        ends = [str(e) for e in kg.select(query.bind(p=[step.property], limit=_SAMPLE)).column("end")]
        following[step] = _shares(list(steps_of(kg, ends).values()), known)
    away = max(1, len({i.iri for i in relations}))
    hubs = {step for step, after in following.items() if sum(s.forward for s in after) >= max(2, _HUB * away)}
    return ChainSteps(following, frozenset(hubs), {i.iri: i.triples for i in relations})


def _shares(seen: Sequence[set[ChainStep]], known: set[str]) -> dict[ChainStep, float]:
    counts: dict[ChainStep, int] = {}
    for step in (s for some in seen for s in some if s.property in known):
        counts[step] = counts.get(step, 0) + 1
    least = max(1.0, _LEAST * len(seen))
    return {step: n / len(seen) for step, n in sorted(counts.items()) if n >= least}
