"""Shorter expressions that divide the examples as well as a longer one."""

from __future__ import annotations

from collections.abc import Iterator

from mrag.cel.learners.base import FitState
from mrag.cel.problem import quality
from mrag.cel.syntax.expressions import (
    And,
    Cardinality,
    Expression,
    Or,
    Some,
    Top,
    key,
    length,
    operands,
    with_operands,
)  # fmt: skip
from mrag.cel.syntax.normal_form import normal


def shortened(fit: FitState, expression: Expression) -> Expression:
    """Take parts out of an expression as long as its quality on the examples stays.

    Args:
        fit: The examples.
        expression: The expression.

    Returns:
        An expression in normal form, not longer and not worse.
    """
    best = normal(expression)
    value = _quality(fit, best)
    while True:
        shorter = {e for e in map(normal, reduced(best)) if length(e) < length(best)}
        for candidate in sorted(shorter, key=lambda e: (length(e), key(e))):
            fit.tick()
            found = _quality(fit, candidate)
            if found >= value:
                best, value = candidate, found
                break
        else:
            return best


def reduced(e: Expression) -> Iterator[Expression]:
    """Yield an expression with one part taken out, in every way there is."""
    parts = operands(e)
    if isinstance(e, And | Or):
        yield from parts
        yield from (with_operands(e, parts[:at] + parts[at + 1 :]) for at in range(len(parts)))
    elif isinstance(e, Some | Cardinality):
        yield with_operands(e, (Top(),))
    if isinstance(e, Cardinality):
        yield Some(e.property, e.filler)
    for at, part in enumerate(parts):
        yield from (with_operands(e, (*parts[:at], x, *parts[at + 1 :])) for x in reduced(part))


def _quality(fit: FitState, e: Expression) -> float:
    counts = fit.count(e)
    return quality(counts, fit.settings.measure) if counts.informative else -1.0
