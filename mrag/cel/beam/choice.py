"""Which hypothesis holds for other examples: the shortest description, and examples held out.

A hypothesis and its mistakes are a description of the labels; that of the fewest bits is the best bet
(Rissanen, 1978, Modeling by Shortest Data Description, Automatica).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from mrag.cel.beam.combinations import CombinationSearch, CombinationSettings
from mrag.cel.beam.conditions import Conditions
from mrag.cel.beam.rounds import State
from mrag.cel.learners.base import FitState
from mrag.cel.learners.item_lists import folds
from mrag.cel.problem import ExampleCounts, Hypothesis
from mrag.cel.semantics.bits import PartBits, Qualities
from mrag.cel.syntax.cost import cost
from mrag.cel.syntax.expressions import And, Expression, Or

FEWEST = 6
"""So many examples of each kind are needed to hold some out."""

_FOLDS = 5
_LEARNT = 1 / _FOLDS
"""How much the quality on the examples learnt from weighs in what is expected on others."""

_MISTAKES = (1, 4)
"""The beta distribution of the share of mistakes before any is seen: a fifth in the mean."""

_BITS = 3
"""About what it takes to write down a symbol, so that a long expression can say as much as labels do."""


def by_chance(expression: Expression, counts: ExampleCounts, tried: int) -> bool:
    """Return whether labels drawn at random could well be told apart by an expression of this kind.

    Args:
        expression: A hypothesis without mistakes.
        counts: The examples.
        tried: How many conditions it was combined from.

    Example:
        >>> from mrag.cel.syntax.expressions import Named
        >>> few, many = ExampleCounts(3, 0, 3, 3), ExampleCounts(30, 0, 30, 30)
        >>> by_chance(Named("urn:A"), few, 100), by_chance(Named("urn:A"), many, 100)
        (True, False)
    """
    chosen = _conditions(expression) * (math.log2(max(tried, 2)) + 1) + _BITS
    labels = _choices(counts.positives + counts.negatives, counts.positives)
    return max(chosen, _BITS * cost(expression)) >= labels


def says_more(hypothesis: Hypothesis) -> bool:
    """Return whether it takes more to write a hypothesis down than the labels of its examples.

    Example:
        >>> from mrag.cel.syntax.expressions import And, Named
        >>> long = And(tuple(Named(f"urn:{n}") for n in range(10)))
        >>> counts = ExampleCounts(38, 2, 40, 40), ExampleCounts(2, 1, 3, 3)
        >>> [says_more(Hypothesis(long, 0.9, c)) for c in counts]
        [False, True]
    """
    c = hypothesis.counts
    return _BITS * cost(hypothesis.expression) >= _choices(c.positives + c.negatives, c.positives)


def _choices(n: int, k: int) -> float:
    """Return how many bits it takes to say which `k` of `n` things are meant."""
    return math.log2(math.comb(n, k))


def _conditions(e: Expression) -> int:
    return sum(map(_conditions, e.parts)) if isinstance(e, And | Or) else 1


def held_out(
    fit: FitState, settings: CombinationSettings, conditions: Conditions, beam: int, seed: int
) -> Qualities | None:
    """Return the quality on examples held out of the best combinations that cost at most so much.

    Args:
        fit: The examples.
        settings: The limits.
        conditions: The conditions.
        beam: How wide the beam is.
        seed: Of the division into folds.

    Returns:
        The quality at each cost from 0 on; None if there are too few examples.
    """
    p, n = fit.bits.positives, fit.bits.negatives
    if min(p, n) < FEWEST:
        return None
    fold, number = folds(p, n, _FOLDS, seed)
    most = 2 * settings.max_length
    tp, fp = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    for at in range(number):
        inside, outside = (PartBits(fit.bits, chosen) for chosen in (fold != at, fold == at))
        run = CombinationSearch(fit, settings, conditions, beam, inside)
        run.beam()
        best: State | None = None
        value = 0.0
        for limit in range(most + 1):
            found = run.front.get(limit)
            if found is not None and found[0] > value:
                value, best = found[:2]
            if best is not None:
                right, wrong = outside.count(best.bits[None, :])
                tp[limit] += right[0]
                fp[limit] += wrong[0]
    return fit.bits.qualities(tp, fp, settings.measure)


def estimated(found: Iterable[Hypothesis], curve: Qualities | None, penalty: float) -> list[Hypothesis]:
    """Return hypotheses in order of what speaks for them on other examples, the best first.

    What speaks against one are the bits that it takes to write it down, about one for each symbol, and then
    the labels that it gets wrong, if any share of mistakes was possible before, small ones rather than large
    ones. What speaks for it is how many examples those that cost as much got right when they were held out.

    Args:
        found: The hypotheses.
        curve: The quality held out at each cost, if examples were held out; then what is expected of the
            best that cost so much is what their like reached, and of others as much less as they are worse.
        penalty: Quality that each symbol costs.
    """
    best = 0.0
    made: list[Hypothesis] = []
    for h in sorted(found, key=lambda h: (cost(h.expression), -h.quality)):
        price, score, expected = cost(h.expression), -_misfit(h.counts), None
        if curve is not None:
            held = float(curve[min(price, len(curve) - 1)])
            best = max(best, h.quality)
            # Those of the folds had fewer examples to be learnt from, so their like is a little better.
            like = (1 - _LEARNT) * held + _LEARNT * best
            expected = max(0.0, like - (best - h.quality) - penalty * price)
            score += held * (h.counts.positives + h.counts.negatives)
        made.append(replace(h, estimate=expected, score=score - price))
    return sorted(made, key=lambda h: h.order)


def _misfit(counts: ExampleCounts) -> float:
    """Return how many bits it takes to say which examples are labelled otherwise."""
    wrong = counts.fn + counts.fp
    right = counts.positives + counts.negatives - wrong
    return (_log_beta(*_MISTAKES) - _log_beta(_MISTAKES[0] + wrong, _MISTAKES[1] + right)) / math.log(2)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
