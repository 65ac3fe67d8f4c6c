"""Runs of completion as text: what was read, with its evidence, and what became of it."""

from __future__ import annotations

from typing import Any

import mrag
from mrag import completion, context, generation, rdf
from mrag.cli.shared.output import say, show, show_lines


def show_decision(graph: mrag.KnowledgeGraph, report: completion.WriteReport) -> None:
    """Print what became of a run, and what was not written."""
    gone = f", {len(report.removed)} triples removed" if report.removed else ""
    came = f", {len(report.entered)} triples written" if report.entered else ""
    show(f"CompletionRun {report.run.id} is {report.run.state}{came}{gone}.")
    for one in report.run.refused if report.run.state == "accepted" else ():
        say(
            f"  not written: {_statement(graph, one, report.run)}: {'; '.join(one.objections)}",
            style="yellow",
        )


def show_completed(graph: mrag.KnowledgeGraph, given: generation.Answer) -> None:
    """Print an answer, and the run that holds what was read for it."""
    show_lines(str(given))
    if given.completed is None or given.completed.run is None:
        return
    run = completion.find_run(graph, str(given.completed.run["id"]))
    for one in run.refused:
        say(
            f"  will not be written: {_statement(graph, one, run)}: {'; '.join(one.objections)}",
            style="yellow",
        )
    if given.completed.entered:
        show(f"{given.completed.entered} triples written by run {run.id}.")
    elif run.state == "proposed":
        say(f"Nothing is written yet. To accept it, run: mrag complete accept {run.id}", style="dim")
    else:
        say(f"The same was read before, by run {run.id}, which is {run.state}.", style="dim")


def run_lines(graph: mrag.KnowledgeGraph, run: completion.CompletionRun) -> list[str]:
    """Return the lines of a run: its statements with their evidence."""
    lines = [f"CompletionRun {run.id} ({run.state}, {run.started[:19]}, read by {run.model}): {run.question}"]
    lines += _checked_under(graph, run)
    for one in run.statements:
        mark = {"fits": "+", "known": "=", "refused": "!"}[one.verdict]
        lines.append(f"  {mark} {_statement(graph, one, run)}  ({one.confidence:.2f})")
        lines += [f"      {why}" for why in one.objections]
        lines += [f"      {ref.source}: “{' '.join(ref.quote.split())}”" for ref in one.evidence]
    return lines


def _checked_under(graph: mrag.KnowledgeGraph, run: completion.CompletionRun) -> list[str]:
    one_value = [context.Display(graph).predicate(p) for p in run.checks.functional]
    said = [f"one value of {', '.join(one_value)}"] if one_value else []
    said += ["SHACL shapes"] if run.checks.shape_texts else []
    return [f"  checked for {' and '.join(said)}"] if said else []


def _statement(graph: mrag.KnowledgeGraph, one: Any, run: completion.CompletionRun) -> str:
    from rdflib import RDFS, URIRef

    iris = [str(t) for t in (one.subject, one.object) if isinstance(t, URIRef)]
    labels = graph.labels(iris)

    new = {s.subject: str(s.object) for s in run.statements if s.predicate == RDFS.label}

    def name(term: Any) -> str:
        if not isinstance(term, URIRef):
            return str(term)
        return labels.get(str(term)) or new.get(term) or rdf.curie(str(term), graph.prefixes)

    return (
        f"{name(one.subject)} | {context.Display(graph).predicate(str(one.predicate))} | {name(one.object)}"
    )
