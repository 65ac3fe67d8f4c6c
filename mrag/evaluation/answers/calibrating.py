"""The certainty of computed answers, fitted to questions over a graph whose answers are known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.evaluation.answers.asking import named_in, table_of_cells
from mrag.evaluation.answers.comparison import score
from mrag.evaluation.answers.gold import GoldQuestion
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.accounting.verdict import accounted, of_the_kind
from mrag.planning.answering import parser_of
from mrag.planning.certainty import model
from mrag.planning.certainty.features import FoundReading, measured
from mrag.planning.certainty.weighing import keep_certainty
from mrag.planning.results import SURE, rows_of, run_readings, with_either

_SECONDS = 10.0
_FOLDS = 5
_TIED = 20
_FEWEST = 10
"""Questions with an answer that are needed at least."""


@dataclass(frozen=True)
class AnswerCalibration:
    """How certain the answers over a graph are made, and how well that fits.

    Attributes:
        certainty: The weights.
        questions: How many questions it was fitted to.
        answered: How many of them have a computed answer.
        right: How many of these are right.
        before: Answers by their certainty as shipped.
        after: The same by weights that were fitted without their question: four of five questions at a time.
    """

    certainty: model.Certainty
    questions: int
    answered: int
    right: int
    before: tuple[model.CertaintyBucket, ...]
    after: tuple[model.CertaintyBucket, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "certainty": self.certainty.to_json()}


def calibrate_answers(
    kg: KnowledgeGraph,
    questions: Sequence[GoldQuestion],
    *,
    keep: bool = True,
    on_progress: Callable[[int, int], None] | None = None,
) -> AnswerCalibration:
    """Fit how certain computed answers are to questions over a graph whose answers are known.

    Each question is computed, and its likeliest reading is held against the gold answer. The weights that
    ship are moved as far as these questions warrant, and kept with the graph: `ask` uses them from then on.

    Args:
        kg: The knowledge graph.
        questions: The questions, as `read_questions` returns them.
        keep: Whether the weights are kept with the graph.
        on_progress: Called with the questions done and all of them.

    Raises:
        ConfigError: If too few questions have an answer, or nothing can be written.
        StoreError: If the store fails.
    """
    if keep:
        kg.require_writable()
    groups = {question.id: str(number % _FOLDS) for number, question in enumerate(questions)}
    solved = solved_readings(kg, questions, groups.__getitem__, on_progress=on_progress)
    given = [one for one in solved if one.given]
    if len(given) < _FEWEST:
        raise ConfigError(
            f"Only {len(given)} of {len(questions)} questions have a computed answer.",
            hint=f"{_FEWEST} are needed, better are 50.",
        )
    found = model.fitted(solved, model.shipped())
    right = [one.right for one in given]
    tried = [p for p, one in zip(model.held_out(solved, model.shipped()), solved, strict=True) if one.given]
    if keep:
        keep_certainty(kg, found)
    return AnswerCalibration(
        found, len(questions), len(given), sum(right),
        tuple(model.reliability([model.shipped().of(one.features) for one in given], right)),
        tuple(model.reliability(tried, right)),
    )  # fmt: skip


def solved_readings(
    kg: KnowledgeGraph,
    questions: Sequence[GoldQuestion],
    group: Callable[[str], str],
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[model.SolvedReading]:
    """Return the likeliest readings of questions that find something, with whether their answers are right.

    Args:
        kg: The knowledge graph.
        questions: The questions.
        group: Returns the group of a question by its id.
        on_progress: Called with the questions done and all of them.
    """
    parser, display, solved = parser_of(kg), Display(kg), list[model.SolvedReading]()
    for number, question in enumerate(questions, 1):
        readings = with_either(parser.readings(question.text), question.text)
        readings = accounted(parser.lexicon, question.text, readings)
        found, _ = run_readings(kg, readings, 1, time.monotonic() + _SECONDS)
        found = of_the_kind(parser.lexicon, question.text, found)
        one = found[0] if found and not found[0][0].ignored else None
        features = None if one is None else measured(kg, one, found)
        given = one is not None and one[0].probability >= SURE
        if one is not None and features is not None and (question.answerable or given):
            right = question.answerable and answers(question, display, one)
            solved.append(model.SolvedReading(group(question.id), features, right, given))
        if on_progress is not None:
            on_progress(number, len(questions))
    return solved


def answers(question: GoldQuestion, display: Display, one: FoundReading) -> bool:
    """Return whether a reading's answer tells just what the gold answer does.

    A further column, such as what the rows are ordered by, is forgiven. So is it if several are first by the
    same value, and the gold answer tells one of them.
    """
    reading, result = one
    table = table_of_cells(rows_of(display, reading, result), named_in(question))
    if score(question.accepted, table).contains:
        return True
    tied = reading.plan.ties and reading.plan.limit == 1 and 1 < len(table) <= _TIED
    return tied and any(score(question.accepted, (row,)).contains for row in table)
