"""Concepts on the command line: read, printed as text and JSON, kept, listed and explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from mrag.cel.concepts import KeptConcept, find_concept, keep_concept, to_ontology
from mrag.cel.concepts import list_concepts as kept_concepts
from mrag.cel.explain import why_not, why_satisfied
from mrag.cel.learners.base import FitReport
from mrag.cel.polish import PolishedSentence
from mrag.cel.problem import Hypothesis
from mrag.cel.sparql import instances_query
from mrag.cel.syntax.english import Language
from mrag.cel.syntax.expressions import Expression
from mrag.cel.syntax.notation import from_dl, from_manchester, to_dl, to_manchester
from mrag.cel.syntax.rdf import to_turtle
from mrag.cel.syntax.verbalise import sentence
from mrag.cli.shared.output import say, show, show_data, show_json
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph


def concept_of(graph: KnowledgeGraph, text: str) -> Expression:
    """Return the concept that a text names or writes in DL or Manchester syntax.

    Raises:
        ConfigError: If it is neither.
    """
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
    """A concept, and how it was learnt.

    Attributes:
        expression: The concept.
        hypotheses: What was learnt, best first; empty for a concept that was named or written.
        report: How the learner ended.
        polished: The sentence as a chat model put it.
    """

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
