"""`mrag complete`: a graph is completed while it answers, and what was read is reviewed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import mrag
from mrag import completion, generation, rdf
from mrag.cli.shared import options, stopping
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.completing import calibrated, calibration_json, show_calibration, sources_of
from mrag.cli.shared.output import progress, show, show_json
from mrag.cli.shared.runs import run_lines, show_completed, show_decision
from mrag.errors import ConfigError

_DECIDED = (
    "Each run is in the graph as a whole or not at all; `mrag complete review --all` lists them. "
    "Run the same command again to do the rest."
)
_ASKED = "What was read is kept; `mrag complete review` lists it. Run the same command again to do the rest."

app = Commands(
    help="Complete the graph from texts and images.",
    epilog='Example: mrag complete ask "Who directed Moss?" --texts articles && mrag complete review',
)

FunctionalOption = Annotated[
    list[str] | None,
    typer.Option(help="Property (IRI or CURIE) with at most one value; repeatable."),
]
ShapesOption = Annotated[
    Path | None,
    typer.Option(help="SHACL shapes that accepted triples must satisfy (extra `completion`)."),
]


@app.command()
def ask(
    questions: Annotated[list[str], typer.Argument(metavar="QUESTION", help="The questions.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of texts (.txt, .md, .rst) to read; repeatable."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of images, described by a vision model and then read.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Language model that plans, reads and answers. Default: rules."),
    ] = None,
    image_model: Annotated[
        str | None,
        typer.Option(help="Model that describes images; `labels` uses a classifier."),
    ] = None,
    embedder: Annotated[
        str, typer.Option(help="Embedding model that finds passages next to BM25: minilm, wordllama or none.")
    ] = "none",
    weights: Annotated[
        Path | None,
        typer.Option(help="Weights of the planner, from `mrag complete calibrate`."),
    ] = None,
    always: Annotated[
        bool,
        typer.Option("--always", help="Read even where the graph has an answer, which may be incomplete."),
    ] = False,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Passages to read for each triple.")] = 8,
    new: Annotated[bool, typer.Option(help="Make entities of names that the graph lacks.")] = True,
    namespace: Annotated[
        str, typer.Option(help="Namespace of the IRIs of new entities.")
    ] = "urn:mrag:entity:",
    functional: FunctionalOption = None,
    shapes: ShapesOption = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Write what passes the checks into the graph at once.")
    ] = False,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Answer questions from the graph, texts and images.

    Texts and images are read where the graph lacks triples. What is read is kept for review with its
    evidence; it enters the graph when its run is accepted.

    \b
    Examples:
      mrag complete ask "Who directed Moss?" --texts articles
      mrag complete ask "Who directed Moss?" --texts articles --accept-all
    """
    with options.opened(store, kg, lang) as graph, stopping.kept(_ASKED):
        found = _answered(
            graph, questions, texts or [], images, model, image_model, embedder,
            {"always": always, "k": top, "write": "accept" if accept_all else "propose"},
            {"new_names": new, "namespace": namespace}, _checks(graph, functional, shapes), weights,
        )  # fmt: skip
        if as_json:
            show_json({"questions": [one.to_json() for one in found]})
            return
        for one in found:
            show_completed(graph, one)


@app.command()
def calibrate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Questions with `answers`, a JSON object a line, as for `mrag eval questions`.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="File for the weights.")] = Path("planner.npz"),
    embedder: Annotated[
        str, typer.Option(help="Embedding model of the planner: minilm, wordllama or none.")
    ] = "minilm",
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Learn how people ask from questions and their answers.

    For each question the path of the graph is sought that leads from what it names to its answers; from
    these the planner without a language model learns its weights. A fifth of ten questions or more is first
    kept apart, to say what that helps.

    \b
    Example:
      mrag complete calibrate questions.jsonl --out films.npz
      mrag complete ask "Who directed Moss?" --weights films.npz
    """
    with options.opened(store, kg, lang) as graph:
        found = calibrated(graph, files, embedder)
        found.weights.save(out)
        if as_json:
            show_json(calibration_json(found, out))
        else:
            show_calibration(found, out)


@app.command()
def review(
    every: Annotated[bool, typer.Option("--all", help="List decided runs too.")] = False,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """List the runs that await a decision.

    Each triple is shown with the words it was read from.

    \b
    Examples:
      mrag complete review
      mrag complete review --all --json
    """
    with options.opened(store, kg, lang) as graph:
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
    names: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="Ids of runs; `last` is the newest proposed one."),
    ],
    functional: FunctionalOption = None,
    shapes: ShapesOption = None,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Write the triples of runs that pass the checks.

    A run keeps the checks that it was read under (`--functional`, `--shapes` of `mrag complete ask`); they
    are made again against the graph as it is now. Checks given here are made besides.

    \b
    Examples:
      mrag complete accept last
      mrag complete accept 3f2a91 --shapes shapes.ttl
    """
    from mrag.completion import review

    with options.opened(store, kg, lang) as graph:
        checks = _checks(graph, functional, shapes) if functional or shapes else None
        _decide(graph, names, lambda name: review.accept(graph, name, settings=checks), as_json)


@app.command()
def reject(
    names: Annotated[list[str], typer.Argument(metavar="RUN", help="Ids of runs.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Reject runs, so that they are no longer proposed.

    \b
    Example:
      mrag complete reject 3f2a91
    """
    from mrag.completion import review

    with options.opened(store, kg, lang) as graph:
        _decide(graph, names, lambda name: review.WriteReport(review.reject(graph, name)), as_json)


@app.command()
def rollback(
    names: Annotated[
        list[str],
        typer.Argument(metavar="RUN", help="Ids of runs; `last` is the newest accepted one."),
    ],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Remove the triples of accepted runs again.

    \b
    Example:
      mrag complete rollback last
    """
    from mrag.completion import review

    with options.opened(store, kg, lang) as graph:
        _decide(graph, names, lambda name: review.rollback(graph, name), as_json)


def _checks(
    graph: mrag.KnowledgeGraph, functional: list[str] | None, shapes: Path | None
) -> completion.CheckSettings:
    named = tuple(str(rdf.iri(name, graph.prefixes)) for name in functional or ())
    return completion.CheckSettings(functional=named, shapes=shapes)


def _decide(
    graph: mrag.KnowledgeGraph,
    names: list[str],
    decide: Callable[[str], completion.WriteReport],
    as_json: bool,
) -> None:
    """Decide on runs one after the other, and print what became of them."""
    with stopping.kept(_DECIDED):
        reports = [decide(name) for name in names]
    if as_json:
        show_json({"decided": [report.to_json() for report in reports]})
        return
    for report in reports:
        show_decision(graph, report)


def _answered(
    graph: mrag.KnowledgeGraph,
    questions: list[str],
    texts: list[Path],
    images: Path | None,
    model: str | None,
    image_model: str | None,
    embedder: str,
    settings: dict[str, Any],
    evidence_settings: dict[str, Any],
    checks: completion.CheckSettings,
    weights: Path | None,
) -> list[generation.Answer]:
    chat = generation.resolve(model) if model else None
    if chat is not None and weights is not None:
        raise ConfigError("A language model plans without weights.", hint="Leave out --model or --weights.")
    knobs = completion.EvidenceSettings(**evidence_settings)
    source, corpus = sources_of(graph, texts, images, image_model or model, embedder)
    reader: completion.Reader = completion.RuleReader(corpus, new_names=knobs.new_names)
    planner: completion.Planner | None = (
        None if weights is None else completion.PathPlanner(graph, completion.Weights.load(weights))
    )
    if chat is not None:
        reader, planner = completion.ModelReader(chat), completion.ModelPlanner(chat)
    evidence = None if source is None else completion.Evidence(source, reader, knobs)
    completer = completion.Completer(
        graph, evidence, planner, chat, completion.CompleterSettings(**settings), checks
    )
    if len(questions) == 1:
        return [mrag.ask(graph, questions[0], how="complete", texts=completer)]
    found = []
    with progress("Answering", unit="questions") as note:
        for question in questions:
            found.append(mrag.ask(graph, question, how="complete", texts=completer))
            note(len(found), len(questions))
    return found
