"""`mrag describe`: a multimodal model describes the images of a graph."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import mrag
from mrag import images
from mrag.cli.shared import stopping
from mrag.cli.shared.options import JsonOption, KgOption, RunnerOption, StoreOption, opened
from mrag.cli.shared.output import progress, say, show, show_json
from mrag.errors import ConfigError


def describe(
    media: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the image files that the graph names.")
    ],
    store: StoreOption = None,
    kg: KgOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Vision model, as for `mrag ask`; `labels` uses a classifier (extra `conse`). "
            "Default: the first llava model of Ollama.",
        ),
    ] = None,
    prompt: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="fashion, general, or a file that holds a prompt.")
    ] = "fashion",
    workers: Annotated[int, typer.Option(min=1, help="Parallel requests.")] = 2,
    rate: Annotated[float | None, typer.Option(min=0.01, help="Maximum requests per minute.")] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds without data after which a request fails.")
    ] = 600.0,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts for each image.")] = 3,
    on_error: Annotated[
        str, typer.Option(help="What to do if an image cannot be described: skip or stop.")
    ] = "skip",
    regions: Annotated[
        str, typer.Option(help="Parts to describe too: none, boxes (annotated ones, else a grid) or grid.")
    ] = "none",
    grid: Annotated[str, typer.Option(metavar="ROWSxCOLUMNS", help="Size of the grid.")] = "2x2",
    boxes: Annotated[
        str | None, typer.Option("--boxes", metavar="NAME", help="Knowledge graph that holds the boxes.")
    ] = None,
    max_side: Annotated[
        int, typer.Option(min=0, help="Longest side of images sent, in pixels; 0 for no limit.")
    ] = 1024,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of images and parts in this run.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also describe images that another model or prompt has described.")
    ] = False,
    runner: RunnerOption = "threads",
    as_json: JsonOption = False,
) -> None:
    """Have a vision model describe the images of the graph.

    An interrupted run resumes when the command is run again.

    \b
    Examples:
      mrag describe photos/ --store oxigraph:./data --model ollama:llava
      mrag describe photos/ --regions boxes --boxes annotations --rate 60 --on-error stop
    """
    from mrag.images.enrichment import Regions

    rows, _, columns = grid.partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise ConfigError(f"{grid!r} is not a grid.", hint="Write rows and columns, such as 2x3.")
    if not media.is_dir():
        raise ConfigError("There is no such folder.", file=str(media))
    settings = images.EnrichSettings(
        prompt=Path(prompt).read_text(encoding="utf-8-sig").strip() if Path(prompt).is_file() else prompt,
        workers=workers,
        per_minute=rate,
        timeout=timeout,
        attempts=attempts,
        on_error=cast(Any, on_error),
        regions=cast(Regions, regions),
        rows=int(rows),
        columns=int(columns),
        again=again,
        limit=limit,
        limits=images.PictureLimits(max_side=max_side),
    )
    with opened(store, kg) as graph:
        other = mrag.KnowledgeGraph(graph.store, boxes) if boxes else None
        report = _described(graph, model, media, settings, other, runner)
    if as_json:
        show_json(report.to_json())
    else:
        _show_report(report)
    for failure in report.failures:
        part = f", part {failure.region}" if failure.region else ""
        say(f"{failure.kind}: <{failure.image}>{part}: {failure.reason}", style="yellow")
    if report.interrupted:
        raise typer.Exit(stopping.told("What was described is kept. Run the same command again to resume."))
    if report.failures:
        raise typer.Exit(1)


def _described(
    graph: mrag.KnowledgeGraph,
    model: str | None,
    media: Path,
    settings: images.EnrichSettings,
    other: mrag.KnowledgeGraph | None,
    runner: str,
) -> images.EnrichReport:
    """Describe; the first Ctrl-C or SIGTERM ends the run in order, the second one at once."""
    from mrag.jobs import runner as runner_of

    stop, carrying = threading.Event(), runner_of(runner, settings.workers, waits=True)

    def interrupted(number: int, frame: Any) -> None:
        stop.set()
        for each in before:
            signal.signal(each, stopping.stop)

    before: dict[int, Any] = {}
    before.update({number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)})
    try:
        with progress("Describing", unit="images") as note:

            def on_progress(at: images.EnrichProgress) -> None:
                note(at.described + at.failed, at.total)

            return images.describe(
                graph,
                model,
                folder=media,
                settings=settings,
                boxes_from=other,
                runner=carrying,
                stop=stop,
                on_progress=on_progress,
            )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_report(report: images.EnrichReport) -> None:
    words = [f"{report.described:,} described in {report.seconds:.1f} s"]
    if report.recovered:
        words.append(f"{report.recovered:,} taken from the journal of an earlier run")
    if report.already:
        words.append(f"{report.already:,} described before")
    if report.left:
        words.append(f"{report.left:,} left")
    if report.failures:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in report.kinds().items())
        words.append(f"{len(report.failures):,} not described ({kinds})")
    show("; ".join(words) + ".")
    if not (report.described or report.already or report.left or report.failures):
        say("The graph names no image files; it should name them by <http://example.org/hasFileName>.")
