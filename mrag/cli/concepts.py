"""Concepts on the command line: printed, kept, explained, measured, and used to re-rank hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mrag import generation
from mrag.cel.benchmark import BenchmarkResult, BenchmarkSetup, find_problems, means
from mrag.cel.benchmark import run_benchmark as run
from mrag.cel.concepts import KeptConcept, find_concept, keep_concept, to_ontology
from mrag.cel.concepts import list_concepts as kept_concepts
from mrag.cel.explain import why_not, why_satisfied
from mrag.cel.expressions import Expression
from mrag.cel.learners.base import FitReport
from mrag.cel.notation import from_dl, from_manchester, to_dl, to_manchester, to_turtle
from mrag.cel.polish import PolishedSentence, order_by_summary, polish_sentence
from mrag.cel.problem import Hypothesis
from mrag.cel.rerank import Order, RerankSettings, rerank_by_concept
from mrag.cel.sentences import Language, sentence
from mrag.cel.sparql import instances_query
from mrag.cli.output import progress, say, show, show_data, show_json
from mrag.context.display import Display
from mrag.errors import ConfigError, LoadError, ModelError
from mrag.graph.kg import KnowledgeGraph
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.retrieval.rankers import Hit, Question, SimilarityRanker

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from mrag.cli.learn import LearningLimits


def concept_of(graph: KnowledgeGraph, text: str) -> Expression:
    """Return the concept that a text names or writes in DL or Manchester syntax."""
    try:
        named = find_concept(graph, text)
    except (ConfigError, ValueError):
        named = None
    if named is not None:
        return named.expression
    if any(sign in text for sign in "⊤⊥¬⊓⊔∃∀≥≤⁻"):
        return from_dl(text, graph.prefixes)
    try:
        return from_manchester(text, graph.prefixes)
    except ConfigError as error:
        raise ConfigError(
            f"This is neither a kept concept nor one in DL or Manchester syntax: {error.message}",
            hint=error.hint,
        ) from error


def keep_as(
    graph: KnowledgeGraph, what: Hypothesis | Expression, name: str, learner: str, report: FitReport | None
) -> KeptConcept:
    """Keep a concept under a name."""
    return keep_concept(
        graph,
        what,
        name,
        comment=_sentence(graph, what),
        learner=learner,
        seconds=report.seconds if report else 0.0,
    )


def list_concepts(graph: KnowledgeGraph, format: str, *, as_json: bool) -> None:
    """Print the kept concepts; as Turtle, RDF/XML or in functional syntax, the ontology that they make."""
    found = kept_concepts(graph)
    if as_json:
        show_json([_kept_json(graph, c) for c in found])
    elif format in ("turtle", "rdfxml", "functional"):
        show_data(to_ontology(graph, found, cast(Any, format)).rstrip())
    else:
        for c in found:
            quality = f", {c.hypothesis.measure} {c.hypothesis.quality:.3f}" if c.hypothesis else ""
            show(f"{c.label}  <{c.iri}>")
            show(f"  {_written(graph, c.expression, format)}{quality}")
        if not found:
            say("No concept is kept.")


def _kept_json(graph: KnowledgeGraph, c: KeptConcept) -> dict[str, Any]:
    return {
        "iri": c.iri,
        "label": c.label,
        "comment": c.comment,
        "concept": _written(graph, c.expression, "dl"),
        "query": c.query,
        "world": c.world,
        "learner": c.learner,
        "kept": c.kept.isoformat(),
        **(_quality(c.hypothesis) if c.hypothesis else {}),
    }


def _quality(h: Hypothesis) -> dict[str, Any]:
    c = h.counts
    return {
        "measure": h.measure,
        "quality": h.quality,
        **({} if h.estimate is None else {"estimate": h.estimate}),
        "length": h.length,
        "positives": c.positives,
        "positives_held": c.tp,
        "negatives": c.negatives,
        "negatives_held": c.fp,
    }


@dataclass(frozen=True)
class Learnt:
    """A concept, and how it was learnt."""

    expression: Expression
    hypotheses: tuple[Hypothesis, ...] = ()
    report: FitReport | None = None
    polished: PolishedSentence | None = None

    def to_json(self, graph: KnowledgeGraph, format: str) -> dict[str, Any]:
        """Return the concept with its query, the other hypotheses and the report as values of JSON."""
        p, r = self.polished, self.report
        found: dict[str, Any] = {
            "concept": _written(graph, self.expression, format),
            "sentence": self._sentence(graph),
            "query": instances_query(self.expression),
            "hypotheses": [
                {"concept": _written(graph, h.expression, format), **_quality(h)} for h in self.hypotheses
            ],
            "report": r
            and {
                "tested": r.tested,
                "seconds": round(r.seconds, 3),
                "stopped": r.stopped,
                "solved": r.solved,
                "notes": list(r.notes),
            },
        }
        if p:
            found["polished"] = {"text": p.text, "accepted": p.accepted, "reason": p.reason}
        return found

    def show(self, graph: KnowledgeGraph, format: str) -> None:
        """Print the concept for people; beside Turtle, the rest goes where notes go."""
        put = say if format == "turtle" else show
        (show_data if format == "turtle" else show)(_written(graph, self.expression, format))
        put(self.polished.text if self.polished else self._sentence(graph))
        if self.polished and not self.polished.accepted:
            say(f"The sentence was not polished. {self.polished.reason}", style="yellow")
        if self.report is None:
            return
        best, *others = self.hypotheses
        solved = "" if best.solved else "; no concept without mistakes was found, this is the best"
        expected = "" if best.estimate is None else f", {best.estimate:.3f} expected on other examples"
        put(f"{best.measure} {best.quality:.3f}{expected}, length {best.length}{solved}")
        for h in others:
            put(f"  {h.quality:.3f}  length {h.length:>2}  {_written(graph, h.expression, 'dl')}")
        r = self.report
        tested = f"{r.tested:,} {'hypothesis' if r.tested == 1 else 'hypotheses'}"
        say(f"{tested} in {r.seconds:.2f} s; ended: {r.stopped}.", style="dim")

    def _sentence(self, graph: KnowledgeGraph) -> str:
        return _sentence(graph, self.hypotheses[0] if self.hypotheses else self.expression)


def why(graph: KnowledgeGraph, expression: Expression, individual: str) -> tuple[str, dict[str, Any]]:
    """Return why an individual is in a concept or not, as text and as values of JSON."""
    label = Display(graph).name
    reason = why_satisfied(graph, expression, individual)
    text, value = reason.render(label), reason.to_json()
    if reason.holds:
        return text, {"satisfied": value, "why_not": None}
    missing = why_not(graph, expression, individual)
    return f"{text}\n{missing.render(label)}", {"satisfied": value, "why_not": missing.to_json()}


def language_of(graph: KnowledgeGraph) -> Language:
    """Return the language of sentences, which is that of the labels."""
    return "de" if graph.languages and graph.languages[0].startswith("de") else "en"


def _sentence(graph: KnowledgeGraph, what: Hypothesis | Expression) -> str:
    return sentence(graph, what, language_of(graph))


def _written(graph: KnowledgeGraph, expression: Expression, format: str) -> str:
    if format == "turtle":
        return to_turtle(expression, prefixes=graph.prefixes)
    return (to_dl if format == "dl" else to_manchester)(expression, graph.prefixes)


def run_benchmark(
    path: str,
    folder: Path,
    learners: str,
    limits: LearningLimits,
    folds: int,
    results: Path | None,
    *,
    as_json: bool,
) -> None:
    """Run the learning problems of a benchmark and print a line for each, then the means."""
    sets, unread = find_problems(path, folder)
    for file in unread:
        say(f"Not read: {file.path}: {file.reason}", style="yellow")
    for problem_set in sets:
        if problem_set.ignored:
            say(f"{problem_set.name}: not used here: {', '.join(problem_set.ignored)}.", style="dim")
    if not sets:
        raise LoadError("No learning problem could be read.", file=path)
    setups = [
        BenchmarkSetup(
            name.strip(),
            limits.seconds,
            folds,
            limits.seed,
            limits.measure,
            limits.steps,
            limits.max_length,
        )
        for name in learners.split(",")
    ]
    found: list[BenchmarkResult] = []
    with progress("Problems", unit="problems") as note:
        for outcome in run(sets, setups, results=results, on_progress=note):
            found.append(outcome)
            if not as_json:
                for line in _lines(outcome):
                    show(line)
    summary = {s.learner: means(o for o in found if o.learner == s.learner) for s in setups}
    if as_json:
        show_json({"outcomes": [asdict(o) for o in found], "means": summary})
        return
    for name, values in summary.items():
        show(
            f"{name}: {values['problems']} problems, {values['solved']} solved; means: "
            + ", ".join(
                f"{words} {value:.3f}"
                for key, words in _MEANS.items()
                if isinstance(value := values[key], float)
            )
        )


_MEANS = {
    "f1": "F1",
    "accuracy": "accuracy",
    "length": "length",
    "seconds": "seconds",
    "held_out_f1": "held-out F1",
}


def _lines(o: BenchmarkResult) -> list[str]:
    start = f"{o.set} {o.problem} [{o.learner}]"
    if o.error:
        return [f"{start}: {o.error}"]
    held = (
        f", held out ({o.folds} folds) F1 {o.held_out_f1:.3f} ± {o.held_out_f1_sd:.3f}"
        f" accuracy {o.held_out_accuracy:.3f}"
        if o.held_out_f1 is not None
        else ""
    )
    scores = f"F1 {o.f1:.3f} accuracy {o.accuracy:.3f} length {o.length} in {o.seconds:.2f} s{held}"
    return [f"{start}: {scores}", f"  {o.concept or 'no concept'}"]


@dataclass(frozen=True)
class RerankedHits:
    """The first hits of a question, those in the concept in front."""

    hits: Sequence[Hit]
    covered: frozenset[str]
    labels: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the hits as values of JSON."""
        return {
            "hits": [
                {
                    "rank": h.rank,
                    "iri": h.iri,
                    "label": self.labels[h.iri],
                    "score": h.score,
                    "in_concept": h.iri in self.covered,
                }
                for h in self.hits
            ]
        }

    def show(self) -> None:
        """Print the hits."""
        show("")
        for h in self.hits:
            show(f"{h.rank:>3}  {'✓' if h.iri in self.covered else '✗'}  {self.labels[h.iri]}  <{h.iri}>")


def chat_model(name: str | None) -> BaseChatModel | None:
    """Return the chat model of a name; None for no name or "none"."""
    chat = generation.resolve(name or "none")
    if chat is None and name not in (None, "none"):
        raise ModelError("There is no such model.", hint="Run `mrag doctor` to see which there are.")
    return chat


def polished(graph: KnowledgeGraph, best: Hypothesis, chat: BaseChatModel | None) -> PolishedSentence | None:
    """Return the sentence of a hypothesis as a chat model puts it; None without one."""
    return None if chat is None else polish_sentence(graph, best, chat, language_of(graph))


def reranked(
    graph: KnowledgeGraph,
    concept: Hypothesis | Expression,
    positives: Sequence[str],
    question: str,
    index: str,
    k: int,
    chat: BaseChatModel | None,
) -> RerankedHits:
    """Re-rank the hits of a question by a concept."""
    found = SimilarityRanker(graph, index).rank(Question(question), max(100, k))
    display = Display(graph)
    order: Order | None = None
    if chat is not None:
        known = SimilarityIndexes.of(graph).get(index)
        # A server keeps its documents to itself.
        texts = known.files if isinstance(known, SimilarityIndex) else display.entity
        order = order_by_summary(chat, texts)
    examples = positives or [h.iri for h in found[:10]]
    settings = RerankSettings(language=language_of(graph))
    result = rerank_by_concept(graph, found, concept, settings, order=order, positives=examples)
    hits = result.hits[:k]
    return RerankedHits(hits, result.covered, {h.iri: display.entity(h.iri) for h in hits})
