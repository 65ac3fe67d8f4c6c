"""Concepts as the command line shows them: as text and as JSON, kept, listed and explained."""

from __future__ import annotations

from typing import Any

from mrag.cel.concepts.export import to_ontology
from mrag.cel.concepts.record import KeptConcept
from mrag.cel.concepts.registry import find_concept, keep_concept, list_concepts, remove_concept
from mrag.cel.explain.satisfied import why_satisfied
from mrag.cel.explain.why_not import why_not
from mrag.cel.learners.base import FitReport
from mrag.cel.problem import Hypothesis
from mrag.cel.semantics.sparql import instances_query
from mrag.cel.syntax.expressions import Expression
from mrag.cel.syntax.parsing import from_dl, from_manchester
from mrag.cel.syntax.printing import to_dl, to_manchester
from mrag.cel.syntax.rdf import to_turtle
from mrag.cel.syntax.verbalise import Language, sentence
from mrag.cli.common import say, show, show_data, show_json
from mrag.cli.reranking import WithModel
from mrag.context.display import Display
from mrag.errors import ConfigError
from mrag.graph.kg import KnowledgeGraph


def concept_of(graph: KnowledgeGraph, text: str) -> Expression:
    """Return the concept that a text names or writes.

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
            f"This is no kept concept, nor one in DL or Manchester syntax: {error.message}", hint=error.hint
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


def kept_concepts(graph: KnowledgeGraph, forget: str | None, format: str, *, as_json: bool) -> None:
    """List the kept concepts, or remove one.

    Raises:
        ConfigError: If the one to remove is not there.
    """
    if forget is not None:
        if not remove_concept(graph, forget):
            raise ConfigError("No such concept is kept.", term=forget, hint="mrag learn --kept lists them.")
        say(f"Removed {forget}." + ("" if graph.reasoned else " Run `mrag reason` to infer anew."))
        return
    found = list_concepts(graph)
    if as_json:
        show_json([_kept_json(graph, c) for c in found])
    elif format == "turtle":
        show_data(to_ontology(graph, found).rstrip())
    else:
        for c in found:
            good = f", {c.hypothesis.measure} {c.hypothesis.quality:.3f}" if c.hypothesis else ""
            show(f"{c.label}  <{c.iri}>")
            show(f"  {_written(graph, c.expression, format)}{good}")
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


def to_json(
    graph: KnowledgeGraph,
    expression: Expression,
    found: list[Hypothesis],
    report: FitReport | None,
    stored: KeptConcept | None,
    explain: str | None,
    format: str,
    more: WithModel | None = None,
) -> dict[str, Any]:
    """Return all that was learnt as values of JSON."""
    return {
        "concept": _written(graph, expression, format),
        "sentence": _sentence(graph, found[0] if found else expression),
        "query": instances_query(expression),
        "hypotheses": [{"concept": _written(graph, h.expression, format), **_quality(h)} for h in found],
        "report": {
            "tested": report.tested,
            "seconds": round(report.seconds, 3),
            "stopped": report.stopped,
            "solved": report.solved,
            "notes": list(report.notes),
        }
        if report
        else None,
        "kept": stored.iri if stored else None,
        **(more.to_json() if more else {}),
        "explanation": why(graph, expression, explain)[1] if explain is not None else None,
    }


def show_learnt(
    graph: KnowledgeGraph,
    expression: Expression,
    found: list[Hypothesis],
    report: FitReport | None,
    format: str,
    more: WithModel | None = None,
) -> None:
    """Print what was learnt for people; beside Turtle, the rest goes where notes go."""
    put = say if format == "turtle" else show
    (show_data if format == "turtle" else show)(_written(graph, expression, format))
    if not found or report is None:
        put(_sentence(graph, expression))
        return
    put(more.polished.text if more and more.polished else _sentence(graph, found[0]))
    best = found[0]
    solved = "" if best.solved else "; no concept without mistakes was found, this is the best"
    expected = "" if best.estimate is None else f", {best.estimate:.3f} expected on other examples"
    put(f"{best.measure} {best.quality:.3f}{expected}, length {best.length}{solved}")
    for h in found[1:]:
        put(f"  {h.quality:.3f}  length {h.length:>2}  {_written(graph, h.expression, 'dl')}")
    say(f"{report.tested} hypotheses in {report.seconds:.2f} s; ended: {report.stopped}.", style="dim")


def why(graph: KnowledgeGraph, expression: Expression, individual: str) -> tuple[str, dict[str, Any]]:
    """Tell why an individual is in a concept or why not, as text and as values of JSON."""
    display = Display(graph)

    def label(term: str) -> str:
        return display.predicate(term) if graph.profile().predicates.get(term) else display.entity(term)

    reason = why_satisfied(graph, expression, individual)
    text, value = reason.render(label), reason.to_json()
    if reason.holds:
        return text, {"satisfied": value, "why_not": None}
    missing = why_not(graph, expression, individual)
    return f"{text}\n{missing.render(label)}", {"satisfied": value, "why_not": missing.to_json()}


def language_of(graph: KnowledgeGraph) -> Language:
    """Return the language that sentences are in, by that of the labels."""
    return "de" if graph.languages and graph.languages[0].startswith("de") else "en"


def _sentence(graph: KnowledgeGraph, what: Hypothesis | Expression) -> str:
    return sentence(graph, what, language_of(graph))


def _written(graph: KnowledgeGraph, expression: Expression, format: str) -> str:
    if format == "turtle":
        return to_turtle(expression, prefixes=graph.prefixes)
    return (to_dl if format == "dl" else to_manchester)(expression, graph.prefixes)
