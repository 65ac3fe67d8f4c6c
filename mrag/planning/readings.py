"""Readings of a question: plans with how likely each is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rdflib import RDF, URIRef

from mrag.generation.result import WordUse
from mrag.planning.plan import Pattern, Plan, Unknown
from mrag.planning.run import PlanResult


@dataclass(frozen=True)
class Reading:
    """One way of reading a question."""

    plan: Plan  # The plan
    # Names of the plan's columns that the question asks for; the others order or select
    shown: tuple[str, ...]
    probability: float  # How likely it is to be what was meant, before its answer is known
    ignored: tuple[str, ...]  # Words that carry meaning and were not read
    features: Mapping[str, float]  # What it was scored by
    note: str = ""  # Why it was read so, where more than its words tell
    # How likely its answer is right, which is known once it has one; None before
    certainty: float | None = None
    measured: Mapping[str, float] | None = None  # What that is told by
    words: tuple[WordUse, ...] = ()  # What its words became, where they alone tell how it was read
    # Further words that were not read, and what the graph has to call so: a thing, or "" what is told
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        """Return how likely its answer is right, as far as that is known."""
        return self.probability if self.certainty is None else self.certainty


FoundReading: TypeAlias = tuple[Reading, PlanResult]  # A reading with what its plan finds


def reading_of(plan: Plan, shown: Sequence[str], probability: float, note: str) -> Reading:
    """Return a plan that was not read from words alone as a reading."""
    return Reading(plan, tuple(shown), probability, (), {}, note)


def alike_named(plan: Plan) -> list[tuple[Pattern, ...]]:
    """Return the triples that relate one thing in one way to several that are named: "films by A and B"."""
    patterns: dict[tuple[object, ...], list[Pattern]] = {}
    for p in plan.where.patterns:
        if isinstance(p.subject, Unknown) and isinstance(p.object, URIRef) and p.predicate != RDF.type:
            patterns.setdefault((p.subject, p.predicate), []).append(p)
        elif isinstance(p.subject, URIRef) and isinstance(p.object, Unknown):
            patterns.setdefault((p.predicate, p.object), []).append(p)
    return [tuple(same) for same in patterns.values() if len(same) > 1]
