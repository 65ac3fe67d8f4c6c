"""Questions put to a knowledge graph, and how well the answers fit the gold ones."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from rdflib import URIRef

from mrag.errors import ConfigError, TermError
from mrag.evaluation.answers.comparison import AnswerScore, mentions, score
from mrag.evaluation.answers.gold import GoldQuestion
from mrag.evaluation.answers.report import AnswerEvaluation, Outcome, summarised
from mrag.evaluation.journal import RunJournal
from mrag.evaluation.statistics import Resampling
from mrag.generation.models import model_name
from mrag.generation.result import Answer, AnswerCell
from mrag.generation.verbalise import PHRASES
from mrag.graph.kg import KnowledgeGraph
from mrag.planning.answering import compute
from mrag.planning.neural.choosing import Planner
from mrag.retrieval.answering import ask
from mrag.retrieval.routing import How

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_REFUSALS = (
    *(said.casefold() for p in PHRASES.values() for said in (p.nothing_found, p.no_match)),
    *("i don't know", "i don’t know", "i do not know"),
)

Table = tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class Prediction:
    """What was answered to a question.

    Attributes:
        id: The question's.
        answers: Rows of the answer; None if there is none, or it is in sentences.
        way: How it was found.
        text: The answer in words.
        abstain: Whether it says that it has no answer.
        confidence: How likely the reading is, of a computed answer.
        why: Why it was found that way, or not found.
        seconds: How long it took.
        guess: Rows of the likeliest reading where it was not certain enough to be an answer.
    """

    id: str
    answers: Table | None
    way: str
    text: str
    abstain: bool
    confidence: float | None
    why: str
    seconds: float
    guess: Table | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as a line of a file of predictions."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Prediction:
        """Read what `to_json` wrote."""
        tables = {name: _table(value[name]) for name in ("answers", "guess")}
        return cls(**{**value, **tables})


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

    Args:
        kg: The knowledge graph.
        questions: The questions, as `read_questions` returns them.
        how: The way of answering, as for `mrag.ask`.
        model: The chat model or its name, as for `mrag.ask`.
        index: Name of the similarity index for answers that are read.
        journal: Where each answer is kept at once; a run that was interrupted resumes there.
        resampling: Of the intervals.
        title: What is evaluated.
        on_progress: Called with the questions done and all of them.

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
    if how not in get_args(How):
        raise ConfigError(f"There is no way called {how!r}.", hint=f"Known: {', '.join(get_args(How))}.")
    # A first question pays for the lexicon; it is not what an answer costs.
    started = time.perf_counter()
    if how != "read":
        compute(kg, questions[0].text)
    prepared = time.perf_counter() - started
    name = model if isinstance(model, str) or model is None else model_name(model)
    about = {"questions": _digest(questions), "how": how, "model": name, "graph": f"{kg.iri} {kg.revision}"}
    kept = None if journal is None else RunJournal(journal, about)
    done: dict[str, Prediction] = {}
    try:
        for record in kept.records if kept is not None else ():
            done[record["id"]] = Prediction.from_json(record)
        for question in questions:
            if question.id not in done:
                done[question.id] = predict(kg, question, how=how, model=model, index=index)
                if kept is not None:
                    kept.add(done[question.id].to_json())
            if on_progress is not None:
                on_progress(len(done), len(questions))
    finally:
        if kept is not None:
            kept.close()
    outcomes = [outcome(question, done[question.id]) for question in questions]
    return summarised(
        outcomes, title=title, how=how, model=name, prepared=prepared, resampling=resampling,
        predictions=[done[question.id].to_json() for question in questions],
    )  # fmt: skip


def predict(
    kg: KnowledgeGraph,
    question: GoldQuestion,
    *,
    how: How = "auto",
    model: str | BaseChatModel | None = "none",
    index: str = "main",
    planner: Planner = "judge",
) -> Prediction:
    """Answer one question, as `evaluate_questions` does."""
    named = named_in(question)
    started = time.perf_counter()
    try:
        given = ask(kg, question.text, how=how, model=model, index=index, planner=planner)
    except (ConfigError, TermError) as error:
        seconds = time.perf_counter() - started
        return Prediction(question.id, None, "error", "", True, None, str(error), seconds)
    seconds = time.perf_counter() - started
    rows, guess = _rows(given, named), None
    abstain = given.computed is None and (given.way == "plan" or _refuses(given))
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


def named_in(question: GoldQuestion) -> set[str]:
    """Return the texts of a question's gold answers."""
    return {v for gold in question.accepted for row in gold.rows for v in row if isinstance(v, str)}


def table_of_cells(rows: Iterable[Sequence[AnswerCell]], named: set[str]) -> Table:
    """Return the rows of a computed answer; entities by the IRI where gold answers name them by it."""

    def shown(term: Any, label: str) -> str | None:
        if term is None:
            return None
        if isinstance(term, URIRef):
            return str(term) if str(term).casefold() in named else label
        return str(term)

    return tuple(tuple(shown(cell.term, cell.label) for cell in row) for row in rows)


def _refuses(given: Answer) -> bool:
    return not given.citations and given.text.strip().casefold().startswith(_REFUSALS)


def outcome(question: GoldQuestion, found: Prediction) -> Outcome:
    """Score what was answered to a question."""
    if found.answers is None and not found.abstain:
        # Sentences are no set of rows, but may name all that is asked for.
        scored = AnswerScore(contains=mentions(found.text, question.accepted))
    else:
        scored = score(question.accepted, found.answers)
    best = score(question.accepted, found.answers if found.guess is None else found.guess)
    return Outcome(
        question.category, question.answerable, found.way, found.abstain, scored, best.exact, found.seconds
    )


def _table(rows: Any) -> Table | None:
    return None if rows is None else tuple(tuple(row) for row in rows)


def _digest(questions: Sequence[GoldQuestion]) -> str:
    # Only what is asked: gold answers that were corrected need no new predictions.
    asked = json.dumps([[q.id, q.text] for q in questions])
    return hashlib.blake2b(asked.encode(), digest_size=16).hexdigest()
