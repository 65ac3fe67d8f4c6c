"""From the scores of single answers to figures with intervals, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mrag import html
from mrag.evaluation.answers.comparison import AnswerScore
from mrag.evaluation.statistics import Interval, Resampling, interval
from mrag.terminal import inline


@dataclass(frozen=True)
class Outcome:
    """How one question went.

    Attributes:
        category: What kind of question it is.
        answerable: Whether it has an answer.
        way: How it was answered.
        abstained: Whether no answer was given.
        score: Of the answer that was given.
        guessed: Whether the likeliest reading is right, be it certain enough or not.
        seconds: How long it took.
    """

    category: str
    answerable: bool
    way: str
    abstained: bool
    score: AnswerScore
    guessed: bool
    seconds: float


@dataclass(frozen=True)
class CategoryScores:
    """Questions of one category that have an answer.

    Attributes:
        name: Of the category.
        exact: Share with exactly the gold rows.
        contains: Share with the gold rows, further columns forgiven, or with their values in sentences.
        f1: Mean F1 of the values.
        answered: Share that was given an answer.
        precision: Share of exact answers among those given; None if none was.
        guessed: Share whose likeliest reading is right, be it certain enough or not.
    """

    name: str
    exact: Interval
    contains: Interval
    f1: Interval
    answered: Interval
    precision: Interval | None
    guessed: Interval


@dataclass(frozen=True)
class AnswerEvaluation:
    """What `evaluate_questions` found.

    Attributes:
        title: What was evaluated.
        how: The way of answering that was asked for.
        model: Name of the language model.
        overall: All questions that have an answer; None if there is none.
        categories: The same by category, in order of their names.
        sure: Share of right ones among the computed answers; None if there is none.
        refused: Share of the questions without an answer that were given none; by category, and under ""
            of all.
        abstention: Share of the questions without an answer among those that were given none.
        ways: How many questions were answered each way, or not at all.
        latency: Milliseconds of a question: `p50`, `p99`, `max`.
        prepared: Seconds until the first question could be answered.
        resampling: Of the intervals.
        predictions: What was answered, a JSON object for each question.
    """

    title: str
    how: str
    model: str | None
    overall: CategoryScores | None
    categories: tuple[CategoryScores, ...]
    sure: Interval | None
    refused: Mapping[str, Interval]
    abstention: Interval | None
    ways: Mapping[str, int]
    latency: Mapping[str, float]
    prepared: float
    resampling: Resampling
    predictions: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, without the predictions."""
        found = asdict(self)
        del found["predictions"]
        return found

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Return the tables as HTML for a notebook."""
        return html.tag(
            "div",
            html.table(_HEAD, self._rows(), caption=self.title),
            html.bullets(self._notes()),
            class_="mrag-evaluation",
        )

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        parts = [f"# {self.title}", ""]
        rows = self._rows()
        if rows:
            parts += [f"| {' | '.join(row)} |" for row in (_HEAD, ["---"] * len(_HEAD), *rows)]
            parts.append("")
        parts += [f"- {note}" for note in self._notes()]
        parts += [
            "",
            f"In brackets {self.resampling.level:.0%} bootstrap intervals over questions "
            f"({self.resampling.resamples} samples, seed {self.resampling.seed}).",
        ]
        return "\n".join(map(inline, parts)) + "\n"

    def _rows(self) -> list[list[str]]:
        shown = [*self.categories, *([self.overall] if self.overall else [])]
        return [
            [
                c.name.replace("|", "\\|"), str(c.exact.queries), _shown(c.exact), f"{c.contains.mean:.3f}",
                f"{c.f1.mean:.3f}", f"{c.answered.mean:.3f}",
                "" if c.precision is None else f"{c.precision.mean:.3f}", f"{c.guessed.mean:.3f}",
            ]
            for c in shown
        ]  # fmt: skip

    def _notes(self) -> list[str]:
        total = sum(self.ways.values())
        notes = []
        if self.sure is not None:
            notes.append(
                f"Right where it was sure: {_shown(self.sure)} of {self.sure.queries} computed answers."
            )
        if every := self.refused.get(""):
            by = [f"{name} {found.mean:.3f}" for name, found in self.refused.items() if name]
            text = f"Refused of {every.queries} questions without an answer: {_shown(every)}"
            notes.append(f"{text} ({', '.join(by)})." if len(by) > 1 else f"{text}.")
        if self.abstention is not None and self.refused:
            count = self.abstention.queries
            notes.append(f"Right where it refused: {_shown(self.abstention)} of {count} refusals.")
        ways = ", ".join(f"{way} {count} ({count / total:.0%})" for way, count in self.ways.items())
        notes.append(f"Ways: {ways}.")
        times = ", ".join(f"{name} {value:.0f} ms" for name, value in self.latency.items())
        notes.append(f"Time of an answer: {times}; {self.prepared:.1f} s to prepare.")
        return notes


_HEAD = ["category", "questions", "exact", "contains", "F1", "answered", "precision", "best reading"]


def summarised(
    outcomes: Sequence[Outcome],
    *,
    title: str,
    how: str,
    model: str | None = None,
    prepared: float = 0.0,
    resampling: Resampling | None = None,
    predictions: Iterable[Mapping[str, Any]] = (),
) -> AnswerEvaluation:
    """Return the figures of some outcomes.

    Args:
        outcomes: How each question went, one or more.
        title: What was evaluated.
        how: The way of answering that was asked for.
        model: Name of the language model.
        prepared: Seconds until the first question could be answered.
        resampling: Of the intervals.
        predictions: What was answered.

    Example:
        >>> one = Outcome("count", True, "plan", False, AnswerScore(True, True, 1.0), True, 0.01)
        >>> summarised([one], title="T", how="plan").overall.exact.mean
        1.0
    """
    resampling = resampling or Resampling()

    def mean(values: Iterable[float]) -> Interval | None:
        listed = list(values)
        return interval(listed, resampling) if listed else None

    answerable = [o for o in outcomes if o.answerable]
    others = [o for o in outcomes if not o.answerable]
    names = sorted({o.category for o in answerable})
    times = sorted(o.seconds * 1000 for o in outcomes)
    ways = Counter("none" if o.abstained else o.way for o in outcomes)
    refused = {"": [o.abstained for o in others]}
    for name in sorted({o.category for o in others}):
        refused[name] = [o.abstained for o in others if o.category == name]
    return AnswerEvaluation(
        title,
        how,
        model,
        _scores("all", answerable, mean),
        tuple(
            s for name in names if (s := _scores(name, [o for o in answerable if o.category == name], mean))
        ),
        mean(o.score.exact for o in answerable if o.way == "plan" and not o.abstained),
        {name: found for name, values in refused.items() if (found := mean(values))},
        mean(not o.answerable for o in outcomes if o.abstained),
        dict(sorted(ways.items())),
        {"p50": _percentile(times, 50), "p99": _percentile(times, 99), "max": times[-1]},
        prepared,
        resampling,
        tuple(predictions),
    )


def _scores(
    name: str, outcomes: Sequence[Outcome], mean: Callable[[Iterable[float]], Interval | None]
) -> CategoryScores | None:
    def known(values: Iterable[float]) -> Interval:
        found = mean(values)
        assert found is not None
        return found

    if not outcomes:
        return None
    return CategoryScores(
        name,
        known(o.score.exact for o in outcomes),
        known(o.score.contains for o in outcomes),
        known(o.score.f1 for o in outcomes),
        known(not o.abstained for o in outcomes),
        mean(o.score.exact for o in outcomes if not o.abstained),
        known(o.guessed for o in outcomes),
    )


def _percentile(ordered: Sequence[float], p: float) -> float:
    """Return a percentile by the nearest rank."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * p / 100))]


def _shown(found: Interval) -> str:
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"
