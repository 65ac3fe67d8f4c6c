"""Commands about images: describe, and what `ask` and `search` do with a picture."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mrag.cli import stopping
from mrag.cli.common import (
    JsonOption,
    KgOption,
    StoreOption,
    opened,
    progress,
    say,
    show,
    show_json,
    show_lines,
)

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.enrichment.settings import EnrichProgress, EnrichReport, EnrichSettings
    from mrag.images.graph import Allowed

ImageOption = Annotated[
    Path | None, typer.Option("--image", help="Look for images like this picture; needs --media.")
]
MediaOption = Annotated[
    Path | None,
    typer.Option(
        "--media", metavar="FOLDER", help="Look for images of the graph; the folder has the files it names."
    ),
]
LooksOption = Annotated[
    str | None,
    typer.Option(
        "--looks",
        metavar="MODEL",
        help="Model that compares pictures: conse (extra `conse`), clip:MODEL/WEIGHTS or none. "
        "Default: conse with --image, else none.",
    ),
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        "--only",
        metavar="CLASS|FILE.rq",
        help="With --media: only images of a class, or those that a SELECT query gives.",
    ),
]


def describe(
    media: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the files that the graph names.")
    ],
    store: StoreOption = None,
    kg: KgOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A model that sees, as for `mrag ask`; labels for a classifier's labels (extra `conse`). "
            "Default: the first llava that Ollama has.",
        ),
    ] = None,
    prompt: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="fashion, general, or a file with a prompt.")
    ] = "fashion",
    workers: Annotated[int, typer.Option(min=1, help="Requests at once.")] = 2,
    rate: Annotated[float | None, typer.Option(min=0.01, help="Most requests a minute.")] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds without a sign of life after which a request has failed.")
    ] = 600.0,
    attempts: Annotated[int, typer.Option(min=1, help="Tries of each image.")] = 3,
    on_error: Annotated[str, typer.Option(help="skip what cannot be described, or stop there.")] = "skip",
    regions: Annotated[
        str, typer.Option(help="Describe parts too: none, boxes (of annotations, else a grid), or grid.")
    ] = "none",
    grid: Annotated[str, typer.Option(metavar="ROWSxCOLUMNS", help="The grid.")] = "2x2",
    boxes: Annotated[
        str | None, typer.Option("--boxes", metavar="NAME", help="Knowledge graph with the boxes.")
    ] = None,
    max_side: Annotated[
        int, typer.Option(min=0, help="Longest side that is sent, in pixels; 0: any.")
    ] = 1024,
    limit: Annotated[int | None, typer.Option(min=1, help="Most images and parts of this run.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Describe what another model or prompt has described, too.")
    ] = False,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Run on a Ray cluster (extra `ray`); `local` starts one."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Have a multimodal model describe the images of the graph; run again, it goes on where it was.

    \b
    Examples:
      mrag describe photos/ --store oxigraph:./data --model ollama:llava
      mrag describe photos/ --regions boxes --boxes annotations --rate 60 --on-error stop
    """
    from typing import cast

    from mrag.errors import ConfigError
    from mrag.graph.kg import KnowledgeGraph
    from mrag.images.enrichment.settings import EnrichSettings, Regions
    from mrag.images.files.folder import PictureLimits

    rows, _, columns = grid.partition("x")
    if not (rows.isdecimal() and columns.isdecimal()):
        raise ConfigError(f"{grid!r} is no grid.", hint="Write rows and columns, such as 2x3.")
    if not media.is_dir():
        raise ConfigError("There is no such folder.", file=str(media))
    settings = EnrichSettings(
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
        limits=PictureLimits(max_side=max_side),
    )
    with opened(store, kg) as graph:
        other = KnowledgeGraph(graph.store, boxes) if boxes else None
        report = _described(graph, model, media, settings, other, ray)
    if as_json:
        show_json(report.to_json())
    else:
        _tell(report)
    for failure in report.failures:
        part = f", part {failure.region}" if failure.region else ""
        say(f"{failure.kind}: <{failure.image}>{part}: {failure.reason}", style="yellow")
    if report.interrupted:
        raise typer.Exit(stopping.told("What was described is kept. Run the same command again to go on."))
    if report.failures:
        raise typer.Exit(1)


def _described(
    graph: KnowledgeGraph,
    model: str | None,
    media: Path,
    settings: EnrichSettings,
    other: KnowledgeGraph | None,
    ray: str | None,
) -> EnrichReport:
    """Describe; the first Ctrl-C, or a plain kill, has the run end in order, a second one at once."""
    from mrag.images.enrichment.enrich import describe as run
    from mrag.images.enrichment.runners import RayRunner, Runner, ThreadRunner

    stop = threading.Event()
    runner: Runner = ThreadRunner(settings.workers)
    if ray is not None:
        runner = RayRunner(settings.workers, None if ray == "local" else ray)

    def interrupted(number: int, frame: Any) -> None:
        stop.set()
        for each in before:
            signal.signal(each, stopping.stop)

    before: dict[int, Any] = {}
    before.update({number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)})
    try:
        with progress("Describing", unit="images") as note:

            def on_progress(at: EnrichProgress) -> None:
                note(at.described + at.failed, at.total)

            return run(
                graph,
                model,
                folder=media,
                settings=settings,
                boxes_from=other,
                runner=runner,
                stop=stop,
                on_progress=on_progress,
            )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(report: EnrichReport) -> None:
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
        say("The graph names no files of images; they are values of <http://example.org/hasFileName>.")


def needed(words: str, name: str) -> None:
    """Refuse a command without words, as one that lacks an argument."""
    if not words.strip():
        raise typer.BadParameter("Give words, or a picture by --image.", param_hint=f"'{name}'")


def find(
    text: str,
    store: str | None,
    kg: str | None,
    image: Path | None,
    media: Path | None,
    looks: str | None,
    only: str | None,
    k: int,
    lang: str,
    *,
    as_json: bool,
    mode: str = "hybrid",
    model: str | None = None,
) -> None:
    """Look for images of the graph, and answer with them if a model, or "" for the default, is given."""
    from mrag.config import Settings
    from mrag.errors import ConfigError
    from mrag.images.answer import ask_pictures
    from mrag.images.graph import file_names, files_of, names_of
    from mrag.images.rankers import image_ranker
    from mrag.retrieval.rankers import Question

    if media is None or not media.is_dir():
        raise ConfigError("Where the pictures are is not known.", hint="Give their folder by --media.")
    if mode not in ("hybrid", "bm25", "dense"):
        raise ConfigError(f"There is no mode {mode!r}.", hint="Use hybrid, bm25 or dense.")
    question = Question(text, image)
    looks = looks or ("none" if image is None else "conse")
    with opened(store, kg, lang) as graph:
        settings = Settings.from_env(model=model or None)
        ranker = image_ranker(
            graph,
            media,
            mode=mode if text else "bm25",  # type: ignore[arg-type]  # looked at above
            text=settings.embedder,
            looks=looks,
            allowed=None if only is None else _allowed(graph, only),
        )
        if model is not None:
            given = ask_pictures(graph, question, ranker, folder=media, model=settings.model, k=k)
            show_json(given.to_json()) if as_json else show_lines(str(given))
            return
        hits = ranker.rank(question, k)
        iris = [hit.iri for hit in hits]
        files, _ = files_of(graph, media, images=iris)
        names = names_of(graph, iris, file_names(graph, images=iris))
        found = [
            {
                "iri": hit.iri,
                "label": names[hit.iri],
                "path": str(files[hit.iri]) if hit.iri in files else None,
                "score": hit.score,
                "rank": hit.rank,
                "reasons": list(hit.reasons),
            }
            for hit in hits
        ]
        if as_json:
            show_json(found)
            return
        for hit, one in zip(hits, found, strict=True):
            show(f"{one['rank']:>3}  {one['score']:.3f}  {one['path'] or one['label']}  <{one['iri']}>")
            show("     " + "; ".join(hit.reasons))
        if not found:
            say("Nothing was found.")


def _allowed(graph: KnowledgeGraph, only: str) -> Allowed:
    from mrag.errors import ConfigError
    from mrag.images.graph import of_class, of_query
    from mrag.rdf.terms import iri

    if only.endswith((".rq", ".sparql")):
        if not Path(only).is_file():
            raise ConfigError("There is no such file.", file=only)
        return of_query(graph, Path(only).read_text(encoding="utf-8-sig"))
    return of_class(graph, str(iri(only, graph.prefixes)))
