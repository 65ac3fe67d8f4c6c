"""What tells whether the answer of a reading is right, beside how well its words were read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from mrag.planning.building.scoring import Reading
from mrag.planning.composing.shapes import alike_named
from mrag.planning.run import PlanResult

Features: TypeAlias = Mapping[str, float]
FoundReading: TypeAlias = tuple[Reading, PlanResult]

FEATURES: Final[Mapping[str, int]] = {
    "score": 1, "guesses": -1, "rivals": -1, "nothing": -1, "joins": -1, "columns": -1, "ranked": -1,
}  # fmt: skip
"""What is measured, and whether more of it may make an answer more certain or only less:

- score: the parser's own score of the reading, as a logarithm of odds: how like its words the names are, what
  its joins cost, how much is guessed
- guesses: choices that no word of the question decides
- rivals: readings nearly as likely that give another answer
- nothing: whether the answer is a zero, or that nothing was found
- joins: what joins cost that the question does not name
- columns: how many columns are shown beside the first: of several any may be one too many
- ranked: whether the first of something are shown with what orders them, which may not be asked for
"""

_LEAST: Final = 1e-4


def measured(one: FoundReading, found: Sequence[FoundReading]) -> Features | None:
    """Return the features of a reading that was run; None if it was not scored by the parser.

    Args:
        one: The reading with what it found.
        found: All readings of the question that found something.
    """
    reading, result = one
    if "guesses" not in reading.features:
        return None
    answer = _answer(one)
    # A reading that leaves more words unread is no rival.
    others = [other for other in found if len(other[0].ignored) <= len(reading.ignored)]
    if alike_named(reading.plan):
        # What is of any of several names is offered beside what is of all, whatever is meant.
        either = len(reading.plan.where.either)
        others = [other for other in others if len(other[0].plan.where.either) == either]
    p = min(max(reading.probability, _LEAST), 1 - _LEAST)
    zero = len(result.rows) == 1 and all(str(cell) == "0" for cell in result.rows[0])
    return {
        "score": math.log(p / (1 - p)),
        "guesses": float(reading.features["guesses"]),
        "rivals": float(sum(_answer(other) != answer for other in others)),
        "nothing": float(zero or not (result.rows or reading.plan.yes_or_no)),
        "joins": float(reading.features["joins"]),
        "columns": float(max(0, len(reading.shown) - 1)),
        "ranked": float(
            reading.plan.limit is not None and any(o.column in reading.shown for o in reading.plan.order)
        ),
    }


def _answer(one: FoundReading) -> object:
    reading, result = one
    if reading.plan.yes_or_no:
        return result.holds
    at = [result.columns.index(name) for name in reading.shown]
    return frozenset(tuple(row[i] for i in at) for row in result.rows)
