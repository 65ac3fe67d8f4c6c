"""Shorter expressions that divide the examples as well as a longer one."""

from __future__ import annotations

from collections.abc import Iterator

from mrag.cel.learners.base import Board
from mrag.cel.problem import quality
from mrag.cel.syntax.expressions import (
    And,
    AtLeast,
    AtMost,
    Exactly,
    Expression,
    Not,
    Only,
    Or,
    Some,
    Top,
    key,
    length,
)  # fmt: skip
from mrag.cel.syntax.normal_form import normal


def shortened(board: Board, expression: Expression) -> Expression:
    """Take parts out of an expression as long as its quality on the examples stays.

    Args:
        board: The examples.
        expression: The expression.

    Returns:
        An expression in normal form, not longer and not worse.
    """
    best = normal(expression)
    value = _quality(board, best)
    while True:
        shorter = {e for e in map(normal, reduced(best)) if length(e) < length(best)}
        for candidate in sorted(shorter, key=lambda e: (length(e), key(e))):
            board.tick()
            found = _quality(board, candidate)
            if found >= value:
                best, value = candidate, found
                break
        else:
            return best


def reduced(e: Expression) -> Iterator[Expression]:
    """Yield an expression with one part taken out, in every way there is."""
    match e:
        case And(parts) | Or(parts):
            kind = type(e)
            for at, part in enumerate(parts):
                yield part
                rest = parts[:at] + parts[at + 1 :]
                yield kind(rest)
                for smaller in reduced(part):
                    yield kind((*rest, smaller))
        case Not(of):
            for smaller in reduced(of):
                yield Not(smaller)
        case Some(p, filler) | Only(p, filler):
            if isinstance(e, Some):
                yield Some(p, Top())
            for smaller in reduced(filler):
                yield type(e)(p, smaller)
        case AtLeast(n, p, filler) | AtMost(n, p, filler) | Exactly(n, p, filler):
            yield Some(p, filler)
            yield type(e)(n, p, Top())
            for smaller in reduced(filler):
                yield type(e)(n, p, smaller)


def _quality(board: Board, e: Expression) -> float:
    counts = board.count(board.world.extension(e))
    return quality(counts, board.settings.measure) if counts.tells else -1.0
