"""A logistic model of whether an answer is right, fitted to solved questions.

Solved questions are few, so few features are weighed; their weights are held to what is expected (a
Gaussian prior) and to the sign that makes sense. How good it is on a graph that it was not fitted to is told
by leaving out one graph after the other.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mrag.errors import ConfigError
from mrag.planning.certainty.features import FEATURES, Features

STRENGTH: Final = 3.0
"""How strongly weights are held to what is expected of them: as by so many questions."""

_FEW: Final = 20.0
"""Solved questions of a graph by which its own share of right answers counts half."""


@dataclass(frozen=True)
class SolvedReading:
    """A reading of a question of which it is known whether its answer is right.

    Attributes:
        group: Where the question comes from: readings of one group are left out together.
        features: What is measured of it.
        right: Whether its answer is right.
        given: Whether it is the one that is given as the answer.
    """

    group: str
    features: Features
    right: bool
    given: bool = True


@dataclass(frozen=True)
class Certainty:
    """How the features of a reading make its answer certain.

    Attributes:
        bias: What is added to the weighted features, as a logarithm of odds.
        weights: The weight of each feature.
        readings: How many solved readings it was fitted to last.
        groups: How many graphs they, and those of its prior, come from.

    Example:
        >>> few = dict.fromkeys(FEATURES, 0.0)
        >>> model = shipped()
        >>> model.of(few) > model.of({**few, "rivals": 2.0})
        True
    """

    bias: float
    weights: Mapping[str, float]
    readings: int = 0
    groups: int = 0

    def of(self, features: Features) -> float:
        """Return the probability that an answer is right."""
        odds = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-odds))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "bias": round(self.bias, 4),
            "weights": {name: round(weight, 4) for name, weight in self.weights.items()},
            "readings": self.readings,
            "groups": self.groups,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Certainty:
        """Read what `to_json` wrote.

        Raises:
            ConfigError: If a field is missing or malformed.
        """
        try:
            weights = {name: float(value["weights"][name]) for name in FEATURES}
            found = cls(float(value["bias"]), weights, int(value["readings"]), int(value["groups"]))
            if not all(math.isfinite(number) for number in (found.bias, *weights.values())):
                raise ValueError("a weight is not a number")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"Not the weights of certainty: {error}.") from error
        return found


@cache
def shipped() -> Certainty:
    """Return the weights that ship with the package, fitted to questions over several public graphs."""
    text = (files("mrag") / "planning" / "certainty" / "certainty.json").read_text(encoding="utf-8")
    return Certainty.from_json(json.loads(text))


def fitted(solved: Sequence[SolvedReading], prior: Certainty | None = None) -> Certainty:
    """Fit weights to solved readings.

    Without a prior each group counts by the root of its size, so that one with many questions of few kinds
    does not decide alone. With one, weights stay near it unless the questions say otherwise.

    Args:
        solved: Solved readings, at least one.
        prior: Weights that are expected; none by default.
    """
    from scipy.optimize import minimize

    if not solved:
        raise ConfigError("There is no solved reading to fit to.")
    names = list(FEATURES)
    x = np.array([[1.0, *(one.features[name] for name in names)] for one in solved])
    y = np.array([float(one.right) for one in solved])
    sizes = Counter(one.group for one in solved)
    w = np.array([1.0 if prior else sizes[one.group] ** -0.5 for one in solved])
    w *= len(w) / w.sum()
    # What is rare must not weigh much on the word of a few.
    spread = np.maximum(x.std(axis=0), 0.25)
    spread[0] = 1.0
    mean = np.zeros(len(names) + 1)
    held = np.full(len(names) + 1, STRENGTH)
    if prior is None:
        held[0] = 1e-3
    else:
        mean = np.array([prior.bias, *(prior.weights[name] for name in names)])
        spread[:], held[1:] = 1.0, _FEW
        held[0] = _FEW / 4

    def loss(beta: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        z = x @ beta
        away = (beta - mean) * spread
        total = w @ (np.logaddexp(0, z) - y * z) + (held * away**2).sum() / 2
        return float(total), x.T @ (w * (1 / (1 + np.exp(-z)) - y)) + held * away * spread

    bounds = [(None, None), *((0, None) if FEATURES[name] > 0 else (None, 0) for name in names)]
    found = minimize(loss, mean, jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = {name: float(value) for name, value in zip(names, found[1:], strict=True)}
    groups = prior.groups + 1 if prior else len(sizes)
    return Certainty(float(found[0]), weights, len(solved), groups)


def held_out(solved: Sequence[SolvedReading], prior: Certainty | None = None) -> list[float]:
    """Return the certainty of each reading by weights that were fitted without its group."""
    found: dict[str, Certainty | None] = {}
    for group in sorted({one.group for one in solved}):
        others = [one for one in solved if one.group != group]
        found[group] = fitted(others, prior) if others else prior
    models = [found[one.group] for one in solved]
    return [0.5 if m is None else m.of(one.features) for m, one in zip(models, solved, strict=True)]


@dataclass(frozen=True)
class CertaintyBucket:
    """Answers about as certain as each other.

    Attributes:
        low: The least certainty.
        high: The certainty below which they are.
        answers: How many there are.
        right: How many of them are right.
        expected: How many would be, were the certainties exact.
    """

    low: float
    high: float
    answers: int
    right: int
    expected: float


BUCKETS: Final = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


def reliability(certainties: Sequence[float], right: Sequence[bool]) -> list[CertaintyBucket]:
    """Return how many answers of which certainty are right.

    Example:
        >>> [(b.low, b.answers, b.right) for b in reliability([0.95, 0.92, 0.3], [True, False, False])]
        [(0.0, 1, 0), (0.9, 2, 1)]
    """
    found = []
    for low, high in pairwise(BUCKETS):
        at = [n for n, p in enumerate(certainties) if low <= p < high]
        if at:
            expected = sum(certainties[n] for n in at)
            found.append(CertaintyBucket(low, min(high, 1.0), len(at), sum(right[n] for n in at), expected))
    return found
