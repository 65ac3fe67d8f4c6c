"""How certain answers are made, learnt from readings of which it is known whether their answers are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from mrag.context.display import Display
from mrag.evaluation import GoldQuestion
from mrag.evaluation.answers import gold_texts, table_of_cells
from mrag.evaluation.gold import score
from mrag.generation.result import AnswerCell
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.certainty import FEATURES, Certainty, Features
from mrag.planning.plan import Plan
from mrag.planning.results import rows_of

_TIED = 20
_BOUNDS: Final = {1: (0, None), 0: (None, None), -1: (None, 0)}
_STRENGTH: Final = 3.0  # How strongly weights are held to what is expected of them: as by so many questions


@dataclass(frozen=True)
class SolvedReading:
    """A reading of a question of which it is known whether its answer is right."""

    group: str  # Where the question comes from: readings of one group are left out together
    features: Features  # What is measured of it
    right: bool  # Whether its answer is right
    given: bool = True  # Whether it is the one that is given as the answer


def solved_readings(kg: KnowledgeGraph, questions: Sequence[GoldQuestion], group: str) -> list[SolvedReading]:
    """Return readings that find something, with whether their answers are right."""
    solved, display = list[SolvedReading](), Display(kg)
    for question in questions:
        # All that `ask` would give, were it certain enough.
        attempt = compute(kg, question.text, learnt=False, least=0.0)
        for one in attempt.found:
            reading, result = one
            if reading.measured is None or reading.ignored:
                continue
            right = question.answerable and _tells(question, reading.plan, rows_of(display, reading, result))
            given = attempt.sure and one is attempt.found[0]
            if question.answerable or given:
                solved.append(SolvedReading(group, reading.measured, right, given))
    return solved


def fit(solved: Sequence[SolvedReading]) -> Certainty:
    """Fit weights to solved readings, at least one.

    Each group counts by the root of its size, so that one with many questions of few kinds does not decide
    alone.
    """
    names = list(FEATURES)
    x = np.array([[1.0, *(one.features[name] for name in names)] for one in solved])
    y = np.array([float(one.right) for one in solved])
    sizes = Counter(one.group for one in solved)
    w = np.array([sizes[one.group] ** -0.5 for one in solved])
    w *= len(w) / w.sum()
    # What is rare must not weigh much on the word of a few.
    spread = np.maximum(x.std(axis=0), 0.25)
    spread[0] = 1.0
    held = np.full(len(names) + 1, _STRENGTH)
    held[0] = 1e-3

    def loss(beta: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        z = x @ beta
        away = beta * spread
        total = w @ (np.logaddexp(0, z) - y * z) + (held * away**2).sum() / 2
        return float(total), x.T @ (w * (1 / (1 + np.exp(-z)) - y)) + held * away * spread

    bounds = [(None, None), *(_BOUNDS[FEATURES[name]] for name in names)]
    solution = minimize(loss, np.zeros(len(names) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    weights = {name: float(value) for name, value in zip(names, solution[1:], strict=True)}
    return Certainty(float(solution[0]), weights, len(solved), len(sizes))


def _tells(question: GoldQuestion, plan: Plan, rows: Sequence[tuple[AnswerCell, ...]]) -> bool:
    """Return whether rows tell just what the gold answer does.

    A further column is forgiven, and so is a gold answer of one where several are first by the same value.
    """
    table = table_of_cells(rows, gold_texts(question))
    if score(question.accepted, table).contains:
        return True
    tied = plan.ties and plan.limit == 1 and 1 < len(table) <= _TIED
    return tied and any(score(question.accepted, (row,)).contains for row in table)
