"""Weights of the reader, learnt from solved questions: which of the readings of each give its answer."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mrag.planning.reader.reader import priors

_RATE: Final = 0.12
_DECAY: Final = 0.005  # How strongly a weight is drawn back to where it began, for each question


@dataclass(frozen=True)
class JudgedReading:
    """A reading of a solved question."""

    features: Mapping[str, float]  # What is measured of it
    right: bool  # Whether it gives the answer; of roles that make no plan False


@dataclass(frozen=True)
class ReaderTraining:
    """How weights are learnt."""

    rounds: int = 5  # Passes over all questions, two at least
    least: int = 8  # Questions in which a feature stands at least
    smallest: float = 0.15  # Change of a weight from which on it is kept
    seed: int = 1  # Seed of the order of the questions


def fit(
    questions: Sequence[Sequence[JudgedReading]], settings: ReaderTraining = ReaderTraining()
) -> dict[str, float]:
    """Learn weights by which the right readings of questions are likely among all of them.

    The weights are those of a log-linear model that maximise the marginal likelihood of the right readings
    (Clarke et al. 2010; Liang et al. 2011), by AdaGrad (Duchi et al. 2011), beginning with `priors`; those
    behind each pass but the first are averaged, since the last few questions weigh too much in each.

    Args:
        questions: The readings of each question; those with no right one, or only such, teach nothing.
        settings: How they are learnt.

    Example:
        >>> good, bad = JudgedReading({"count|class": 1.0}, True), JudgedReading({"focus|class": 1.0}, False)
        >>> weights = fit([[good, bad]] * 8)
        >>> weights["count|class"] > weights["focus|class"]
        True
    """
    usable = [some for some in questions if 0 < sum(j.right for j in some) < len(some)]
    counts = Counter(name for some in usable for name in {name for j in some for name in j.features})
    names = sorted({name for name, n in counts.items() if n >= settings.least} | priors().keys())
    places = {name: at for at, name in enumerate(names)}
    start = np.array([priors().get(name, 0.0) for name in names])
    weights, slopes = start.copy(), np.full(len(names), 1e-6)
    rows = [[_row(j.features, places) for j in some] for some in usable]
    right = [np.array([j.right for j in some]) for some in usable]
    order, draw = list(range(len(usable))), random.Random(settings.seed)
    total = np.zeros(len(names))
    for passed in range(settings.rounds):
        draw.shuffle(order)
        for at in order:
            touched, slope = _slope(rows[at], right[at], weights)
            slope -= _DECAY * (weights[touched] - start[touched])
            slopes[touched] += slope * slope
            weights[touched] += _RATE * slope / np.sqrt(slopes[touched])
        total += weights if passed else 0.0
    weights = total / max(1, settings.rounds - 1)
    return {
        name: round(float(weight), 2)
        for name, weight, first in zip(names, weights, start, strict=True)
        if name in priors() or abs(weight - first) >= settings.smallest
    }


Row = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def _row(features: Mapping[str, float], places: Mapping[str, int]) -> Row:
    known = [(places[name], value) for name, value in features.items() if name in places]
    return np.array([at for at, _ in known], np.int64), np.array([value for _, value in known], np.float64)


def _slope(rows: Sequence[Row], right: npt.NDArray[np.bool_], weights: npt.NDArray[np.float64]) -> Row:
    """Return where the weights of the features of a question's readings should go."""
    scores = np.array([weights[at] @ values for at, values in rows])
    chances = np.exp(scores - scores.max())
    chances /= chances.sum()
    wanted = chances * right
    wanted /= max(float(wanted.sum()), math.ulp(1.0))
    found: dict[int, float] = {}
    for (at, values), change in zip(rows, wanted - chances, strict=True):
        for place, value in zip(at.tolist(), (values * change).tolist(), strict=True):
            found[place] = found.get(place, 0.0) + value
    return np.fromiter(found, np.int64, len(found)), np.fromiter(found.values(), np.float64, len(found))
