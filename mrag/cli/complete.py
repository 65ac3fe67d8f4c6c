"""`mrag complete`: a graph is completed while it answers, and what was read is reviewed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

import mrag
from mrag import completion, context, generation, index, loaders, rdf
from mrag.cli import commands, options
from mrag.cli.commands import Commands
from mrag.cli.output import progress, say, show, show_json, show_lines


def _passages(
    graph: mrag.KnowledgeGraph, texts: list[Path], images: Path | None, image_model: str | None, embedder: str
) -> completion.Passages | None:
    """Bring texts and images into the store, and return their passages."""
    model = index.embedder(embedder)
    collections = []
    for folder in texts:
        with progress(f"Reading {folder.name}") as note:
            snippets = loaders.Snippets(folder, on_progress=note)
            collection, kept = completion.store_folder(graph, snippets)
        collections.append(collection)
        say(f"{folder.name}: {kept.total:,} texts, {kept.added:,} new, {kept.gone:,} gone.", style="dim")
        for kind, count in sorted(snippets.report.problems.items()):
            say(f"{folder.name}: {count:,} files skipped ({kind}).", style="yellow")
    if images is not None:
        with progress("Describing images", unit="images") as note:
            report = completion.describe_folder(
                graph, images, image_model, on_progress=lambda p: note(p.described + p.failed, p.total)
            )
        for kind, count in report.kinds().items():
            what = f"{count:,} images or parts without a description ({kind})"
            say(f"{images.name}: {what}.", style="yellow")
    if not texts and images is None:
        return None
    described = [] if images is None else completion.image_passages(graph)
    with progress("Indexing", unit="passages") as note:
        return completion.Passages.of(graph, collections, model, more=described, on_progress=note)


def _say_refused(graph: mrag.KnowledgeGraph, run: completion.CompletionRun, what: str) -> None:
    for one in run.refused:
        say(f"  {what}: {_statement(graph, one, run)}: {'; '.join(one.objections)}", style="yellow")


def show_completed(graph: mrag.KnowledgeGraph, given: generation.Answer) -> None:
    """Print an answer, and the run that holds what was read for it."""
    show_lines(str(given))
    if given.completed is None or given.completed.run is None:
        return
    run = completion.find_run(graph, str(given.completed.run["id"]))
    _say_refused(graph, run, "will not be written")
    if given.completed.entered:
        show(f"{given.completed.entered} triples written by run {run.id}.")
    elif run.state == "proposed":
        say(f"Nothing is written yet. To accept it, run: mrag complete accept {run.id}", style="dim")
    else:
        say(f"The same was read before, by run {run.id}, which is {run.state}.", style="dim")


def run_lines(graph: mrag.KnowledgeGraph, run: completion.CompletionRun) -> list[str]:
    """Return the lines of a run: its statements with their evidence."""
    lines = [f"CompletionRun {run.id} ({run.state}, {run.started[:19]}, read by {run.model}): {run.question}"]
    one_value = [context.Display(graph).predicate(p) for p in run.checks.functional]
    checks = [f"one value of {', '.join(one_value)}"] if one_value else []
    checks += ["SHACL shapes"] if run.checks.shapes else []
    lines += [f"  checked for {' and '.join(checks)}"] if checks else []
    for one in run.statements:
        mark = {"fits": "+", "known": "=", "refused": "!"}[one.verdict]
        lines.append(f"  {mark} {_statement(graph, one, run)}  ({one.confidence:.2f})")
        lines += [f"      {why}" for why in one.objections]
        lines += [f"      {ref.source}: “{' '.join(ref.quote.split())}”" for ref in one.evidence]
    return lines


def _statement(graph: mrag.KnowledgeGraph, one: Any, run: completion.CompletionRun) -> str:
    from rdflib import RDFS, URIRef

    iris = [str(t) for t in (one.subject, one.object) if isinstance(t, URIRef)]
    labels = graph.labels(iris)

    new = {s.subject: str(s.object) for s in run.statements if s.predicate == RDFS.label}

    def name(term: Any) -> str:
        if not isinstance(term, URIRef):
            return str(term)
        return labels.get(str(term)) or new.get(term) or rdf.curie(str(term), graph.prefixes)

    predicate = context.Display(graph).predicate(str(one.predicate))
    return f"{name(one.subject)} | {predicate} | {name(one.object)}"


_DECIDED = (
    "Each run is in the graph as a whole or not at all; `mrag complete review --all` lists them. "
    "Run the same command again to do the rest."
)
_ASKED = "What was read is kept; `mrag complete review` lists it. Run the same command again to do the rest."

app = Commands(
    help="Complete the graph from texts and images.",
    epilog='Example: mrag complete ask "Who directed Moss?" --texts articles && mrag complete review',
)


@app.command()
def ask(
    questions: Annotated[list[str], Argument(metavar="QUESTION")],
    place: options.LabelledPlace,
    texts: list[Path] | None = None,
    images: Path | None = None,
    model: Annotated[str | None, Option("--model", "-m")] = None,
    image_model: str | None = None,
    embedder: str = "none",
    always: bool = False,
    top: Annotated[int, Option("--top", "-k", min=1)] = 8,
    new: bool = True,
    namespace: str = "urn:mrag:entity:",
    functional: list[str] | None = None,
    shapes: Path | None = None,
    accept_all: bool = False,
    as_json: options.JsonOption = False,
) -> None:
    """Answer questions from the graph, texts and images.

    Texts and images are read where the graph lacks triples. What is read is kept for review with its
    evidence; it enters the graph when its run is accepted.
    """
    chat = generation.resolve(model) if model else None
    with place.open() as graph, commands.on_stop(_ASKED):
        source = _passages(graph, texts or [], images, image_model or model, embedder)
        reader: completion.Reader | None = None
        planner: completion.Planner | None = None
        if chat is not None:
            reader, planner = completion.ModelReader(chat), completion.ModelPlanner(chat)
        evidence = None
        if source is not None:
            evidence = completion.Evidence(source, reader, namespace=namespace, new_names=new)
        completer = completion.Completer(
            graph, evidence, planner, chat, k=top, always=always,
            write="accept" if accept_all else "propose", checks=_checks(graph, functional, shapes),
        )  # fmt: skip

        def answer(question: str) -> generation.Answer:
            return mrag.ask(graph, question, how="complete", texts=completer)

        if len(questions) == 1:
            answers = [answer(questions[0])]
        else:
            answers = []
            with progress("Answering", unit="questions") as note:
                for question in questions:
                    answers.append(answer(question))
                    note(len(answers), len(questions))
        if as_json:
            show_json({"questions": [one.to_json() for one in answers]})
            return
        for one in answers:
            show_completed(graph, one)


@app.command()
def review(
    place: options.LabelledPlace,
    every: Annotated[bool, Option("--all")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """List the runs that await a decision.

    Each triple is shown with the words it was read from.
    """
    with place.open() as graph:
        listed = completion.list_runs(graph) if every else completion.list_runs(graph, "proposed")
        if as_json:
            show_json({"runs": [run.to_json() for run in listed]})
            return
        for run in listed:
            for line in run_lines(graph, run):
                show(line)
        if not listed:
            show("Nothing awaits a decision.")


@app.command()
def accept(
    names: Annotated[list[str], Argument(metavar="RUN")],
    place: options.LabelledPlace,
    functional: list[str] | None = None,
    shapes: Path | None = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write the triples of runs that pass the checks.

    A run keeps the checks that it was read under (`--functional`, `--shapes` of `mrag complete ask`); they
    are made again against the graph as it is now. Checks given here are made besides.
    """
    with place.open() as graph:
        checks = _checks(graph, functional, shapes) if functional or shapes else None
        _decide(graph, names, lambda name: completion.accept(graph, name, settings=checks), as_json)


@app.command()
def reject(
    names: Annotated[list[str], Argument(metavar="RUN")],
    place: options.LabelledPlace,
    as_json: options.JsonOption = False,
) -> None:
    """Reject runs, so that they are no longer proposed."""
    with place.open() as graph:
        _decide(graph, names, lambda name: completion.WriteReport(completion.reject(graph, name)), as_json)


@app.command()
def rollback(
    names: Annotated[list[str], Argument(metavar="RUN")],
    place: options.LabelledPlace,
    as_json: options.JsonOption = False,
) -> None:
    """Remove the triples of accepted runs again."""
    with place.open() as graph:
        _decide(graph, names, lambda name: completion.rollback(graph, name), as_json)


def _checks(
    graph: mrag.KnowledgeGraph, functional: list[str] | None, shapes: Path | None
) -> completion.CheckSettings:
    named = tuple(str(rdf.iri(name, graph.prefixes)) for name in functional or ())
    return completion.CheckSettings(
        named, shapes=() if shapes is None else (completion.checks.read_shapes(shapes),)
    )


def _decide(
    graph: mrag.KnowledgeGraph,
    names: list[str],
    decide: Callable[[str], completion.WriteReport],
    as_json: bool,
) -> None:
    """Decide on runs one after the other, and print what became of them."""
    with commands.on_stop(_DECIDED):
        reports = [decide(name) for name in names]
    if as_json:
        show_json({"decided": [report.to_json() for report in reports]})
        return
    for report in reports:
        gone = f", {len(report.removed)} triples removed" if report.removed else ""
        came = f", {len(report.entered)} triples written" if report.entered else ""
        show(f"CompletionRun {report.run.id} is {report.run.state}{came}{gone}.")
        if report.run.state == "accepted":
            _say_refused(graph, report.run, "not written")
