"""How likely a draft is to be what a question means: a log-linear score of few features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from mrag.planning.composing.drafts import Draft
from mrag.planning.plan import Plan
from mrag.planning.schema import Schema
from mrag.planning.scopes import with_subclasses

WEIGHTS: Mapping[str, float] = {
    "bias": 3.0,
    "mean match": 4.0,
    "worst match": 2.0,
    "joins": -0.75,
    "guesses": -0.65,
    "ignored": -1.6,
    "cut": 0.25,
}
"""Weights of what is measured of a reading, set by hand; those of joins and guesses after four graphs."""


@dataclass(frozen=True)
class Reading:
    """One way of reading a question.

    Attributes:
        plan: The plan.
        shown: Names of the plan's columns that the question asks for; the others order or select.
        probability: How likely it is to be what was meant.
        ignored: Words that carry meaning and were not read.
        features: What it was scored by.
        note: Why it was read so, where more than its words tell.
        certainty: How likely its answer is right, which is known once it has one; None before.
        measured: What that is told by.
    """

    plan: Plan
    shown: tuple[str, ...]
    probability: float
    ignored: tuple[str, ...]
    features: Mapping[str, float]
    note: str = ""
    certainty: float | None = None
    measured: Mapping[str, float] | None = None

    @property
    def confidence(self) -> float:
        """Return how likely its answer is right, as far as that is known."""
        return self.probability if self.certainty is None else self.certainty


def scored(draft: Draft, cost: float, schema: Schema, weights: Mapping[str, float] = WEIGHTS) -> Reading:
    """Return a draft as a reading with its probability.

    Args:
        draft: The draft.
        cost: What the way of cutting the question costs.
        schema: The schema.
        weights: What counts how much, as in `WEIGHTS`.
    """
    matches = draft.matches or (0.5,)
    features = {
        "bias": 1.0,
        "mean match": sum(matches) / len(matches) - 1.0,
        "worst match": min(matches) - 1.0,
        "joins": max(0.0, draft.joins),
        "guesses": float(draft.guesses),
        "ignored": float(len(draft.ignored)),
        "cut": cost,
    }
    logit = sum(weights[name] * value for name, value in features.items())
    plan = with_subclasses(draft.plan, schema)
    return Reading(plan, draft.shown, 1 / (1 + math.exp(-logit)), draft.ignored, features)
