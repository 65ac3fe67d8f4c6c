"""`mrag import`, `views` and `describe`: graphs of annotated images, scene graphs and tables."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer import Argument, Option

import mrag
from mrag import graph as graphs
from mrag import images, jobs, loaders
from mrag.cli import commands, options
from mrag.cli.data import loading, show_groups
from mrag.cli.options import JsonOption, RunnerOption
from mrag.cli.output import progress, say, show, show_data, show_json, status
from mrag.errors import ConfigError, LoadError
from mrag.language.grammar import count_words
from mrag.storage.files import Scratch

_EXAMPLES = 5


def _commonest(problems: Mapping[str, int]) -> dict[str, int]:
    """Return how much was left out by reason, the commonest first."""
    return dict(sorted(problems.items(), key=lambda item: (-item[1], item[0])))


def _show_problems(files: Sequence[str], reports: Sequence[loaders.RecordReport]) -> None:
    """Say what was left out of each source and why, with examples."""
    for file, report in zip(files, reports, strict=True):
        for kind, count in _commonest(report.problems).items():
            say(f"{Path(file).name}: {kind}, skipped {count_words(count, 'time')}.", style="yellow")
            for problem in [each for each in report.examples if each.kind == kind][:_EXAMPLES]:
                say(f"  {problem.where}: {problem.what}", style="dim")


_LOADED = "The files are loaded. Run the same command again to do the rest."


def import_(
    files: Annotated[list[str], Argument(metavar="FILE")],
    place: options.Place,
    kind: Annotated[str | None, Option("--as")] = None,
    mapping: Annotated[Path | None, Option(metavar="FILE")] = None,
    sketch: bool = False,
    delimiter: Annotated[str, Option(metavar="SIGN")] = "",
    encoding: Annotated[str, Option(metavar="NAME")] = "utf-8",
    boxes: bool = False,
    masks: bool = False,
    views: bool = True,
    reason: bool = True,
    replace: bool = False,
    skip_bad: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Import image annotations, scene graphs or tables.

    Annotations in Fashionpedia's format also get three views, named after the graph: NAME-images (a
    sentence for each annotation), NAME-cel and NAME-garments (for learning class expressions).
    """
    from mrag.stores.process import parsing

    dialect = loaders.tables.TableDialect(delimiter=delimiter, encoding=encoding)
    if sketch:
        with status("Reading"):
            text = parsing.sketch(files, dialect)
        show_data(text.rstrip())
        return
    how = loaders.importing.ImportSettings(
        kind, mapping, boxes, dialect, "skip" if skip_bad else "stop", masks
    )
    steps = _Steps()
    with place.open(create=True) as graph, ExitStack() as stack:
        reports: list[loaders.RecordReport] = []
        paths: list[Path] = []
        for file in files:
            name = Path(file).name
            with steps(f"read {name}"):
                # Named like the source, so that what is said of an interrupted load makes sense.
                folder = stack.enter_context(Scratch("records"))
                paths.append(folder / (name.removesuffix(".gz") + ".nt"))
                if not Path(file).is_file():
                    raise LoadError("There is no such file.", file=file, hint="Check the path.")
                # In a process with limits.
                with progress(f"Reading {name}") as note:
                    reports.append(parsing.import_records(file, paths[-1], how, note))
        with commands.on_stop(loading(graph)), steps("load") as done, progress("Loading") as note:
            done["triples"] = graph.load(paths, on_progress=note, replacing=replace).triples
        fashion = views and any(report.counts.get("annotations") for report in reports)
        if fashion and graph.store.capabilities.reasoning:
            why = "this server reasons over all of its graphs together"
            say(f"No views are made, because {why}.", style="yellow")
            fashion = False
        if fashion:
            with commands.on_stop(_LOADED):
                _views(steps, graph, reason, source_too=True)
        elif reason:
            with commands.on_stop(_LOADED), status("Reasoning"):
                _reason(steps, graph)
        result = {
            "store": graph.store.url,
            "kg": graph.name,
            "records": [{"file": f, **asdict(r)} for f, r in zip(files, reports, strict=True)],
            "skipped": _commonest(sum((Counter(r.problems) for r in reports), Counter())),
            "steps": steps.done,
        }
        if as_json:
            show_json(result)
        else:
            _show(steps)
            over = f" --kg {graph.name}-images --query kg/sentences" if fashion else ""
            say(f'Next: `mrag ask "…"`; `mrag index{over}` finds by words and meaning.', style="dim")
        _show_problems(files, reports)


def views(place: options.Place, reason: bool = True, as_json: JsonOption = False) -> None:
    """Update the views of annotated images.

    With a runner, an interrupted run resumes when the command is run again.
    """
    steps = _Steps()
    with place.open() as graph:
        names = [f"urn:mrag:kg:{graph.name}-{view.short}" for view in graphs.VIEWS.values()]
        kept = any(graphs.record.read_record(graph.store, name).kept for name in names)
        if not kept and "http://example.org/hasImage" not in graph.profile().predicates:
            raise ConfigError(
                f"The knowledge graph {graph.name!r} holds no annotated images.",
                endpoint=graph.store.url,
                hint="Load some with `mrag import`, or name another graph with --store and --kg.",
            )
        with commands.on_stop("Finished views are kept. Run the same command again to make the others."):
            made = _views(steps, graph, reason)
        if as_json:
            show_json({"store": graph.store.url, "kg": graph.name, "steps": steps.done})
        elif made:
            _show(steps)
        else:
            show("All views are up to date.")


class _Steps:
    """What was done, with the seconds it took."""

    def __init__(self) -> None:
        self.done: list[dict[str, Any]] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[dict[str, Any]]:
        step: dict[str, Any] = {"step": name}
        started = time.perf_counter()
        yield step
        step["seconds"] = round(time.perf_counter() - started, 3)
        self.done.append(step)


def _reason(steps: _Steps, graph: mrag.KnowledgeGraph) -> None:
    with steps(f"reason over {graph.name}") as done:
        closure = mrag.reason(graph)
        done["triples"] = closure.triples
        if closure.contradictions:
            done["clashes"] = sum(group.count for group in closure.contradictions)
            show_groups(closure.contradictions)


def _views(steps: _Steps, graph: mrag.KnowledgeGraph, reason: bool, *, source_too: bool = False) -> list[str]:
    """Make the views that are out of date, some at a time, and return the graphs that changed."""
    made: list[str] = []

    def after(view: graphs.View, fresh: mrag.KnowledgeGraph) -> None:
        made.append(fresh.name)
        if reason:
            _reason(steps, fresh)
        else:
            with steps(f"made {fresh.name}") as done:
                done["triples"] = fresh.record.triples

    names = {name: f"{graph.name}-{view.short}" for name, view in graphs.VIEWS.items()}
    also = [lambda: _reason(steps, graph)] if reason and source_too else []
    with steps("make views") as done:
        with status("Making views"):
            views = graphs.make_views(graph, names, after, also=also)
        done["views"] = sorted(made)
    for name, view in sorted(views.items()) if reason else ():
        if name not in made and not view.reasoned and view.record.triples:
            made.append(name)
            with status("Reasoning"):
                _reason(steps, view)
    return made


def _show(steps: _Steps) -> None:
    width = max(len(step["step"]) for step in steps.done)
    for step in steps.done:
        triples = f"{step['triples']:>12,} triples" if "triples" in step else ""
        show(f"{step['step']:<{width}}  {step['seconds']:>8.1f} s {triples}".rstrip())


def describe(
    media: Annotated[Path, Argument(metavar="FOLDER")],
    place: options.Place,
    model: Annotated[str | None, Option("--model", "-m")] = None,
    prompt: Annotated[str, Option(metavar="NAME|FILE")] = "fashion",
    workers: Annotated[int, Option(min=1)] = 2,
    timeout: Annotated[float, Option(min=0.1)] = 600.0,
    attempts: Annotated[int, Option(min=1)] = 3,
    on_error: str = "skip",
    regions: str = "none",
    boxes: Annotated[str | None, Option(metavar="NAME")] = None,
    max_side: Annotated[int, Option(min=0)] = 1024,
    limit: Annotated[int | None, Option(min=1)] = None,
    again: bool = False,
    runner: RunnerOption = "threads",
    as_json: JsonOption = False,
) -> None:
    """Have a vision model describe the images of the graph.

    An interrupted run resumes when the command is run again.
    """
    if not media.is_dir():
        raise ConfigError("There is no such folder.", file=str(media))
    settings = images.EnrichSettings(
        prompt=Path(prompt).read_text(encoding="utf-8-sig").strip() if Path(prompt).is_file() else prompt,
        workers=workers, timeout=timeout, attempts=attempts, on_error=cast(Any, on_error),
        regions=cast(Any, regions), again=again, limit=limit, limits=images.PictureLimits(max_side=max_side),
    )  # fmt: skip
    with place.open() as graph:
        other = mrag.KnowledgeGraph(graph.store, boxes) if boxes else None
        report = _describe(graph, model, media, settings, other, runner)
    if as_json:
        show_json(report.to_json())
    else:
        _show_report(report)
        say("Next: `mrag index`, so that pictures are found by what was written.", style="dim")
    for failure in report.failures:
        part = f", part {failure.region}" if failure.region else ""
        say(f"{failure.kind}: <{failure.image}>{part}: {failure.reason}", style="yellow")
    if report.interrupted:
        raise typer.Exit(
            commands.report_stop("What was described is kept. Run the same command again to resume.")
        )
    if report.failures:
        raise typer.Exit(1)


def _describe(
    graph: mrag.KnowledgeGraph,
    model: str | None,
    media: Path,
    settings: images.EnrichSettings,
    other: mrag.KnowledgeGraph | None,
    runner: str,
) -> images.EnrichReport:
    """Describe; the first Ctrl-C or SIGTERM ends the run in order, the second one at once."""
    stop, carrying = threading.Event(), jobs.runner(runner, settings.workers, waits=True)

    def interrupted(number: int, frame: Any) -> None:
        stop.set()
        for each in before:
            signal.signal(each, commands.stop)

    before: dict[int, Any] = {}
    before.update({number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)})
    try:
        with progress("Describing", unit="images") as note:
            return images.describe(
                graph, model, folder=media, settings=settings, boxes_from=other, runner=carrying, stop=stop,
                on_progress=lambda at: note(at.described + at.failed, at.total),
            )  # fmt: skip
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_report(report: images.EnrichReport) -> None:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in report.kinds().items())
    more = (
        (report.recovered, "taken from the journal of an earlier run"),
        (report.already, "described before"),
        (report.left, "left"),
        (len(report.failures), f"not described ({kinds})"),
    )
    words = [f"{report.described:,} described in {report.seconds:.1f} s"]
    show("; ".join([*words, *(f"{count:,} {what}" for count, what in more if count)]) + ".")
    if not (report.described or report.already or report.left or report.failures):
        say("The graph names no image files; it should name them by <http://example.org/hasFileName>.")
