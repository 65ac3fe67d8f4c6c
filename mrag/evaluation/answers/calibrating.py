"""The certainty of computed answers, fitted to questions over a graph whose answers are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mrag.errors import ConfigError
from mrag.evaluation.answers.asking import named_in, table_of_cells
from mrag.evaluation.answers.comparison import score
from mrag.evaluation.answers.gold import GoldQuestion
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import Attempt, compute
from mrag.planning.certainty import model
from mrag.planning.certainty.weighing import keep_certainty

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
    solved = list[model.SolvedReading]()
    for number, question in enumerate(questions, 1):
        # All that `ask` would give, were it certain enough.
        attempt = compute(kg, question.text, learnt=False, least=0.0)
        taken = attempt.reading
        if taken is not None and taken.measured is not None and not taken.ignored:
            right = question.answerable and answers(question, attempt)
            if question.answerable or attempt.sure:
                solved.append(model.SolvedReading(group(question.id), taken.measured, right, attempt.sure))
        if on_progress is not None:
            on_progress(number, len(questions))
    return solved


def answers(question: GoldQuestion, attempt: Attempt) -> bool:
    """Return whether a computed answer tells just what the gold answer does.

    A further column, such as what the rows are ordered by, is forgiven. So is it if several are first by the
    same value, and the gold answer tells one of them.
    """
    if attempt.answer is None or attempt.answer.computed is None or attempt.reading is None:
        return False
    table, plan = table_of_cells(attempt.answer.computed.rows, named_in(question)), attempt.reading.plan
    if score(question.accepted, table).contains:
        return True
    tied = plan.ties and plan.limit == 1 and 1 < len(table) <= _TIED
    return tied and any(score(question.accepted, (row,)).contains for row in table)
