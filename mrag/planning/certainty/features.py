"""What tells whether the answer of a reading is right, beside how well its words were read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from rdflib import URIRef

from mrag.graph.kg import KnowledgeGraph
from mrag.planning.building.scoring import Reading
from mrag.planning.composing.shapes import alike_named
from mrag.planning.plan import Aggregate
from mrag.planning.run import PlanResult
from mrag.text.names import iri_words

Features: TypeAlias = Mapping[str, float]
FoundReading: TypeAlias = tuple[Reading, PlanResult]

FEATURES: Final[Mapping[str, int]] = {
    "score": 1, "guesses": -1, "rivals": -1, "agreeing": 1, "nothing": -1, "single": 1, "ones": -1,
    "joins": -1, "unnamed": -1,
}  # fmt: skip
"""What is measured, and whether more of it may make an answer more certain or only less:

- score: the parser's own score of the reading, as a logarithm of odds: how like its words the names are, what
  its joins cost, how much is guessed
- guesses: choices that no word of the question decides
- rivals: readings nearly as likely that give another answer
- agreeing: other readings nearly as likely that give the same answer
- nothing: whether the answer is a zero, or that nothing is of several names
- single: whether the answer is one row
- ones: whether all of several counts are 1, as where a wrong thing is counted for each
- joins: what joins cost that the question does not name, up to a half: the score counts the rest
- unnamed: whether a thing is shown that has no name, in the graph or in its IRI
"""

_LEAST: Final = 1e-4
_HALF: Final = 0.5
_LOOKED_AT: Final = 20
"""Rows in which things without a name are looked for."""


def measured(kg: KnowledgeGraph, one: FoundReading, found: Sequence[FoundReading]) -> Features | None:
    """Return the features of a reading that was run; None if it was not scored by the parser.

    Args:
        kg: The graph.
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
    return {
        "score": math.log(p / (1 - p)),
        "guesses": float(reading.features["guesses"]),
        "rivals": float(sum(_answer(other) != answer for other in others)),
        "agreeing": float(sum(other[0] is not reading and _answer(other) == answer for other in found)),
        "nothing": float(_is_zero(result) or bool(not result.rows and alike_named(reading.plan))),
        "single": float(len(result.rows) == 1),
        "ones": float(_counts_ones(one)),
        "joins": min(float(reading.features["joins"]), _HALF),
        "unnamed": float(_shows_unnamed(kg, one)),
    }


def is_nothing(one: FoundReading) -> bool:
    """Return whether an answer is a zero, an empty list or a no."""
    reading, result = one
    if reading.plan.yes_or_no:
        return not result.holds
    return _is_zero(result) or not any(cell is not None for row in result.rows for cell in row)


def _is_zero(result: PlanResult) -> bool:
    return len(result.rows) == 1 and all(str(cell) == "0" for cell in result.rows[0])


def _counts_ones(one: FoundReading) -> bool:
    reading, result = one
    columns = reading.plan.columns
    at = [n for n, c in enumerate(columns) if isinstance(c.value, Aggregate) and c.value.function == "count"]
    return bool(at) and len(result.rows) > 1 and all(str(row[n]) == "1" for row in result.rows for n in at)


def _shows_unnamed(kg: KnowledgeGraph, one: FoundReading) -> bool:
    reading, result = one
    at = [n for n, name in enumerate(result.columns) if name in reading.shown]
    shown = {str(row[n]) for row in result.rows[:_LOOKED_AT] for n in at if isinstance(row[n], URIRef)}
    bare = sorted(iri for iri in shown if iri_words(iri) is None)
    return bool(bare) and not all(kg.labels(bare).values())


def _answer(one: FoundReading) -> object:
    reading, result = one
    if reading.plan.yes_or_no:
        return result.holds
    at = [result.columns.index(name) for name in reading.shown]
    return frozenset(tuple(row[i] for i in at) for row in result.rows)
