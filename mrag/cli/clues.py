"""`mrag clues`: generative retrieval, with a clue index that is built, searched and inspected."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

import mrag
from mrag import generative, jobs
from mrag import index as indexes
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.options import JsonOption, KgOption, RunnerOption, StoreOption, WorkersOption, opened
from mrag.cli.shared.output import hit_json, say, show, show_hit, show_json, status

app = Commands(
    help="Generative retrieval: find by a phrase unique to a document.",
    epilog='Example: mrag clues build -m local:model.gguf && mrag clues search "Who develops GraphDB?"',
)

ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="local:PATH.gguf, or hf:FOLDER_OR_NAME (transformers).",
        envvar="MRAG_CLUE_MODEL",
    ),
]
FolderOption = Annotated[
    Path | None, typer.Option("--folder", help="Folder of the clue index. Default: beside the store.")
]


@app.command("build")
def build_(
    model: ModelOption,
    store: StoreOption = None,
    kg: KgOption = None,
    folder: FolderOption = None,
    query: Annotated[
        list[str] | None,
        typer.Option(help="Catalogue query of ?documentID ?documentText, such as kg/sentences; repeatable."),
    ] = None,
    runner: RunnerOption = "inline",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the clue index of a graph's documents.

    \b
    Examples:
      mrag clues build --model local:model.gguf
      mrag clues build --model local:model.gguf --runner processes --workers 4
    """
    with opened(store, kg) as graph, ExitStack() as stack:
        loaded = _model(model, stack)
        definition = indexes.Definition(languages=graph.languages)
        if query:
            definition = indexes.Definition(queries=tuple(query), languages=graph.languages)
        started = time.perf_counter()
        with status("Building"):
            index = generative.build_clues(
                graph,
                loaded.tokeniser,
                definition=definition,
                folder=folder,
                runner=jobs.runner(runner, workers),
            )
        seconds = time.perf_counter() - started
        if as_json:
            show_json({"documents": len(index), "tokens": index.tokens, "seconds": round(seconds, 3)})
        else:
            show(f"{len(index):,} documents of {index.tokens:,} tokens, {seconds:.1f} s")


@app.command("search")
def search_(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    model: ModelOption,
    store: StoreOption = None,
    kg: KgOption = None,
    folder: FolderOption = None,
    image: Annotated[Path | None, typer.Option(help="A picture that belongs to the question.")] = None,
    results: Annotated[
        int, typer.Option("--results", "-k", min=1, max=100, help="Maximum number of hits.")
    ] = 5,
    within: Annotated[
        str | None,
        typer.Option(
            "--in", help="Only instances of a class, by IRI, CURIE, kept name, or DL or Manchester syntax."
        ),
    ] = None,
    mask: Annotated[
        str | None,
        typer.Option("--mask", help="Only what a SPARQL query selects in its first variable."),
    ] = None,
    beams: Annotated[int, typer.Option(min=1, max=64, help="Beams of the beam search.")] = 8,
    groups: Annotated[int, typer.Option(min=1, help="Groups of beams that are kept diverse.")] = 2,
    prior: Annotated[
        float,
        typer.Option(
            "--prior",
            min=0.0,
            help="Weight of the clue's likelihood without the question.",
        ),
    ] = 1.0,
    start: Annotated[
        str, typer.Option(help="Where clues start in a document: beginning or anywhere.")
    ] = "beginning",
    as_json: JsonOption = False,
) -> None:
    """Find entities by phrases that a model generates.

    \b
    Examples:
      mrag clues search "Who develops GraphDB?" --model local:model.gguf
      mrag clues search "Who develops GraphDB?" --model local:model.gguf --in ex:Vendor
    """
    from mrag.generative.documents import clue_folder

    settings = generative.DecodingSettings(beams=beams, groups=groups, prior_weight=prior, start=start)  # type: ignore[arg-type]
    with opened(store, kg) as graph, ExitStack() as stack:
        loaded = _model(model, stack)
        if folder is None and clue_folder(graph) is None:
            say("A store in memory has no clue index, so one is built now.", style="dim")
            index = generative.build_clues(graph, loaded.tokeniser)
        else:
            index = generative.open_clues(graph, folder=folder)
        ranker = generative.GenerativeRanker(
            graph, index, loaded, settings=settings, concept=within, query=mask
        )
        started = time.perf_counter()
        with status("Generating clues"):
            hits = ranker.rank(mrag.Question(question, image), results)
        seconds = time.perf_counter() - started
        labels = graph.labels([hit.iri for hit in hits])
        if as_json:
            found = [hit_json(hit, labels[hit.iri]) for hit in hits]
            show_json({"hits": found, "seconds": round(seconds, 3)})
            return
        if not hits:
            say("The model generated no phrase that occurs in exactly one document, so nothing was found.")
        for hit in hits:
            show_hit(hit, labels[hit.iri] or hit.iri)


@app.command("status")
def status_(
    store: StoreOption = None,
    kg: KgOption = None,
    folder: FolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the state of the clue index.

    \b
    Example:
      mrag clues status
    """
    with opened(store, kg) as graph:
        index = generative.open_clues(graph, folder=folder)
        found: dict[str, Any] = {
            "documents": len(index),
            "tokens": index.tokens,
            "bytes": index.nbytes,
            "segments": len(index.segments),
            "model": index.extra.get("model"),
            "stale": generative.is_stale(graph, index),
        }
        if as_json:
            show_json(found)
            return
        show(f"documents  {found['documents']:,}")
        show(f"tokens     {found['tokens']:,}")
        show(f"on disk    {index.nbytes:,} bytes in {found['segments']} segments")
        show(f"tokeniser  {found['model']}")
        show(f"state      {'older than the graph' if found['stale'] else 'up to date'}")


def _model(name: str, stack: ExitStack) -> generative.LanguageModel:
    with status(f"Loading {name}"):
        model = generative.language_model(name)
    close = getattr(model, "close", None)
    if close is not None:
        stack.callback(close)
    return model
