"""Questions put to a graph: how well its answers fit the gold ones, and how certain they are made."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np
from rdflib import URIRef

from mrag import html
from mrag.errors import ConfigError, TermError, check_choice
from mrag.evaluation.gold import AnswerScore, GoldQuestion, mentions, score
from mrag.evaluation.metrics import (
    Interval,
    Resampling,
    bracket_note,
    digest,
    interval,
    interval_text,
    markdown_table,
)
from mrag.generation.models import model_name
from mrag.generation.result import Answer, AnswerCell
from mrag.generation.verbalise import PHRASES
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.retrieval.answering import ask
from mrag.retrieval.routing import How
from mrag.storage.files import RunJournal
from mrag.terminal import inline

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class Outcome:
    """How one question went."""

    category: str
    answerable: bool
    way: str
    abstained: bool
    score: AnswerScore
    guessed: bool
    seconds: float


@dataclass(frozen=True)
class CategoryScores:
    """Questions of one category that have an answer: the share of each kind among them."""

    name: str
    exact: Interval
    contains: Interval  # With the gold rows, further columns forgiven, or with their values in sentences
    f1: Interval
    answered: Interval
    precision: Interval | None  # Exact answers among those given; None if none was
    guessed: Interval  # With a likeliest reading that is right, be it certain enough or not


@dataclass(frozen=True)
class AnswerEvaluation:
    """What `evaluate_questions` found."""

    title: str
    how: str
    model: str | None
    overall: CategoryScores | None  # All questions that have an answer; None if there is none
    categories: tuple[CategoryScores, ...]
    sure: Interval | None  # Share of right ones among the computed answers; None if there is none
    # Share of the questions without an answer that were given none; by category, and under "" of all
    refused: Mapping[str, Interval]
    abstention: Interval | None  # Share of the questions without an answer among those that were given none
    ways: Mapping[str, int]  # How many questions were answered each way, or not at all
    latency: Mapping[str, float]  # Milliseconds of a question: `p50`, `p99`, `max`
    prepared: float  # Seconds until the first question could be answered
    resampling: Resampling
    predictions: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, without the predictions."""
        fields = asdict(self)
        del fields["predictions"]
        return fields

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        """Return the tables as HTML for a notebook."""
        table = html.table(_HEAD, self._rows(), caption=self.title)
        return html.tag("div", table, html.bullets(self._notes()), class_="mrag-evaluation")

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        rows = self._rows()
        parts = [f"# {self.title}", "", *([*markdown_table(_HEAD, rows), ""] if rows else [])]
        parts += [*(f"- {note}" for note in self._notes()), "", bracket_note(self.resampling, "questions")]
        return "\n".join(map(inline, parts)) + "\n"

    def _rows(self) -> list[list[str]]:
        shown = [*self.categories, *([self.overall] if self.overall else [])]
        rows = []
        for c in shown:
            means = (c.contains, c.f1, c.answered, c.precision, c.guessed)
            cells = ("" if mean is None else f"{mean.mean:.3f}" for mean in means)
            rows.append([c.name, str(c.exact.queries), _shown(c.exact), *cells])
        return rows

    def _notes(self) -> list[str]:
        total = sum(self.ways.values())
        notes = []
        if self.sure is not None:
            computed = f"{self.sure.queries} computed answers"
            notes.append(f"Right where it was sure: {_shown(self.sure)} of {computed}.")
        if every := self.refused.get(""):
            by = [f"{name} {share.mean:.3f}" for name, share in self.refused.items() if name]
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


def summarise(
    outcomes: Sequence[Outcome],
    *,
    title: str,
    how: str,
    model: str | None = None,
    prepared: float = 0.0,
    resampling: Resampling | None = None,
    predictions: Iterable[Mapping[str, Any]] = (),
) -> AnswerEvaluation:
    """Return the figures of some outcomes."""
    resampling = resampling or Resampling()

    def mean(values: Iterable[float]) -> Interval | None:
        listed = list(values)
        return interval(listed, resampling) if listed else None

    answerable = [o for o in outcomes if o.answerable]
    others = [o for o in outcomes if not o.answerable]
    times = np.percentile([o.seconds * 1000 for o in outcomes], (50, 99, 100)).tolist()
    ways = Counter("none" if o.abstained else o.way for o in outcomes)
    refused = {
        name: share
        for name in sorted({"", *(o.category for o in others)})
        if (share := mean(o.abstained for o in others if name in ("", o.category)))
    }
    return AnswerEvaluation(
        title,
        how,
        model,
        _scores("all", answerable, resampling) if answerable else None,
        tuple(
            _scores(name, [o for o in answerable if o.category == name], resampling)
            for name in sorted({o.category for o in answerable})
        ),
        mean(o.score.exact for o in answerable if o.way == "plan" and not o.abstained),
        refused,
        mean(not o.answerable for o in outcomes if o.abstained),
        dict(sorted(ways.items())),
        dict(zip(("p50", "p99", "max"), times, strict=True)),
        prepared,
        resampling,
        tuple(predictions),
    )


def _scores(name: str, outcomes: Sequence[Outcome], resampling: Resampling) -> CategoryScores:
    def mean(values: Iterable[float]) -> Interval:
        return interval(list(values), resampling)

    given = [o.score.exact for o in outcomes if not o.abstained]
    return CategoryScores(
        name, mean(o.score.exact for o in outcomes), mean(o.score.contains for o in outcomes),
        mean(o.score.f1 for o in outcomes), mean(not o.abstained for o in outcomes),
        mean(given) if given else None, mean(o.guessed for o in outcomes),
    )  # fmt: skip


_shown = partial(interval_text, form=".3f")
_REFUSALS = (
    *(said.casefold() for p in PHRASES.values() for said in (p.nothing_found, p.no_match)),
    *("i don't know", "i don’t know", "i do not know"),
)

Table: TypeAlias = Sequence[Sequence[str | None]]


@dataclass(frozen=True)
class Prediction:
    """What was answered to a question."""

    id: str
    answers: Table | None  # Rows of the answer; None if there is none, or it is in sentences
    way: str
    text: str
    abstain: bool  # Whether it says that it has no answer
    confidence: float | None  # How likely the reading is, of a computed answer
    why: str
    seconds: float
    # Rows of the likeliest reading where it was not certain enough to be an answer
    guess: Table | None = None


def evaluate_questions(
    kg: KnowledgeGraph,
    questions: Sequence[GoldQuestion],
    *,
    how: How = "auto",
    model: str | BaseChatModel | None = "none",
    index: str = "main",
    journal: Path | None = None,
    resampling: Resampling | None = None,
    title: str = "Questions",
    on_progress: Callable[[int, int], None] | None = None,
) -> AnswerEvaluation:
    """Ask a knowledge graph questions, and hold its answers against the gold ones.

    `how`, `model` and `index` are as for `mrag.ask`. Each answer is kept in the journal at once; a run that
    was interrupted resumes there.

    Raises:
        ConfigError: If there is no question, or the journal cannot be written.
        MissingIndex: If an answer has to be read and there is no such index.
        ModelError: If the model is not available.
        StoreError: If the store fails.

    Example:
        >>> import mrag
        >>> asked = [GoldQuestion.of({"question": "How many triple stores are there?", "answers": [[11]]})]
        >>> with mrag.demo(model="none") as kg:
        ...     found = evaluate_questions(kg, asked)
        >>> found.overall.exact.mean, dict(found.ways)
        (1.0, {'plan': 1})
    """
    if not questions:
        raise ConfigError("There are no questions.", hint="Read some with `read_questions`.")
    check_choice("way", how, get_args(How))
    # A first question pays for the lexicon; it is not what an answer costs.
    started = time.perf_counter()
    if how != "read":
        compute(kg, questions[0].text)
    prepared = time.perf_counter() - started
    name = model if isinstance(model, str) or model is None else model_name(model)
    # Only what is asked: gold answers that were corrected need no new predictions.
    asked = digest(json.dumps([[q.id, q.text] for q in questions]))
    about = {"questions": asked, "how": how, "model": name, "graph": f"{kg.iri} {kg.revision}"}
    done: dict[str, Prediction] = {}
    with nullcontext() if journal is None else RunJournal(journal, about) as kept:
        for record in kept.records if kept is not None else ():
            done[record["id"]] = Prediction(**record)
        for question in questions:
            if question.id not in done:
                done[question.id] = predict(kg, question, how=how, model=model, index=index)
                if kept is not None:
                    kept.add(asdict(done[question.id]))
            if on_progress is not None:
                on_progress(len(done), len(questions))
    outcomes = [outcome(question, done[question.id]) for question in questions]
    return summarise(
        outcomes, title=title, how=how, model=name, prepared=prepared, resampling=resampling,
        predictions=[asdict(done[question.id]) for question in questions],
    )  # fmt: skip


def predict(
    kg: KnowledgeGraph,
    question: GoldQuestion,
    *,
    how: How = "auto",
    model: str | BaseChatModel | None = "none",
    index: str = "main",
) -> Prediction:
    """Answer one question, as `evaluate_questions` does."""
    named = gold_texts(question)
    started = time.perf_counter()
    try:
        given = ask(kg, question.text, how=how, model=model, index=index)
    except (ConfigError, TermError) as error:
        seconds = time.perf_counter() - started
        return Prediction(question.id, None, "error", "", True, None, str(error), seconds)
    seconds = time.perf_counter() - started
    rows, guess = _rows(given, named), None
    refuses = not given.citations and given.text.strip().casefold().startswith(_REFUSALS)
    abstain = given.computed is None and (given.way == "plan" or refuses)
    if given.computed is None and how == "plan":
        unsure = compute(kg, question.text).answer
        guess = None if unsure is None else _rows(unsure, named)
    return Prediction(
        question.id, rows, given.way, given.text, abstain,
        None if given.computed is None else round(given.computed.confidence, 4),
        given.why, seconds, guess,
    )  # fmt: skip


def _rows(given: Answer, named: set[str]) -> Table | None:
    return None if given.computed is None else table_of_cells(given.computed.rows, named)


def gold_texts(question: GoldQuestion) -> set[str]:
    """Return the texts of a question's gold answers."""
    return {v for gold in question.accepted for row in gold.rows for v in row if isinstance(v, str)}


def table_of_cells(rows: Iterable[Sequence[AnswerCell]], named: set[str]) -> Table:
    """Return the rows of a computed answer; entities by the IRI where gold answers name them by it."""

    def show(term: Any, label: str) -> str | None:
        if term is None:
            return None
        if isinstance(term, URIRef):
            return str(term) if str(term).casefold() in named else label
        return str(term)

    return tuple(tuple(show(cell.term, cell.label) for cell in row) for row in rows)


def outcome(question: GoldQuestion, given: Prediction) -> Outcome:
    """Score what was answered to a question."""
    if given.answers is None and not given.abstain:
        # Sentences are no set of rows, but may name all that is asked for.
        scored = AnswerScore(contains=mentions(given.text, question.accepted))
    else:
        scored = score(question.accepted, given.answers)
    best = score(question.accepted, given.answers if given.guess is None else given.guess)
    return Outcome(
        question.category, question.answerable, given.way, given.abstain, scored, best.exact, given.seconds
    )
