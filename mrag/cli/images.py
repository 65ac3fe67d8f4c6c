"""`mrag import` and `mrag views`: knowledge graphs of annotated images, scene graphs and tables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mrag
from mrag import graph as graphs
from mrag import loaders
from mrag.cli.data import loading
from mrag.cli.shared import stopping
from mrag.cli.shared.contradictions import show_groups
from mrag.cli.shared.importing import name_of, read_records, reading, show_problems, show_sketch, skipped
from mrag.cli.shared.options import JsonOption, KgOption, StoreOption, WorkersOption, opened
from mrag.cli.shared.output import progress, say, show, show_json, status
from mrag.errors import ConfigError
from mrag.redaction import redact_url
from mrag.storage.files import Scratch

if TYPE_CHECKING:
    from mrag.jobs import Runner

_LOADED = "The files are loaded. Run the same command again to do the rest."
ReasonOption = Annotated[bool, typer.Option(help="Infer what follows under OWL, in each graph separately.")]


def import_(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Annotations (JSON), scene graphs (JSON, JSONL), tables (CSV, TSV, JSON, Parquet), or the "
            "URL of a database such as sqlite:///shop.db.",
        ),
    ],
    store: StoreOption = None,
    kg: KgOption = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="fashionpedia, scenes or table. Default: recognised from the file."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="How tables become RDF: Turtle (R2RML or RML), or metadata of CSV on the Web. Default for "
            "FILE.csv: FILE.csv-metadata.json.",
        ),
    ] = None,
    sketch: Annotated[
        bool,
        typer.Option("--sketch", help="Print a mapping to begin with for these tables; nothing is loaded."),
    ] = False,
    delimiter: Annotated[
        str, typer.Option(metavar="SIGN", help="Sign between cells, or tab. Default: recognised.")
    ] = "",
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of tables without a byte order mark.")
    ] = "utf-8",
    standard: Annotated[
        bool, typer.Option("--standard", help="CSV on the Web: state the tables and their rows, too.")
    ] = False,
    boxes: Annotated[
        bool, typer.Option("--boxes", help="Keep the bounding boxes of Fashionpedia's annotations.")
    ] = False,
    masks: Annotated[
        bool, typer.Option("--masks", help="Keep the polygons around what Fashionpedia's annotations show.")
    ] = False,
    views: Annotated[bool, typer.Option(help="Make the views of annotations.")] = True,
    reason: ReasonOption = True,
    replace: Annotated[bool, typer.Option("--replace", help="Replace what the graph held before.")] = False,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Skip bad records and count them by reason instead of stopping."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Import image annotations, scene graphs or tables.

    Annotations in Fashionpedia's format also get three views, named after the graph: NAME-images (a
    sentence for each annotation), NAME-cel and NAME-garments (for learning class expressions).

    \b
    Examples:
      mrag import instances_attributes_train2020.json
      mrag import --sketch shops.csv cities.csv > mapping.ttl
      mrag import shops.csv cities.csv --mapping mapping.ttl --skip-bad
      mrag import sqlite:///shop.db --mapping shop.ttl
    """
    from mrag.loaders.importing import ImportSettings
    from mrag.loaders.tables.rows import TableDialect

    dialect = TableDialect(delimiter=delimiter, encoding=encoding)
    if sketch:
        show_sketch(files, dialect)
        return
    how = ImportSettings(kind, mapping, boxes, dialect, "skip" if skip_bad else "stop", standard, masks)
    steps = _Steps()
    with opened(store, kg, create=True) as graph, ExitStack() as stack:
        reports: list[loaders.RecordReport] = []
        paths: list[Path] = []
        for file in files:
            name = name_of(file)
            with steps(f"read {name}"), reading(file) as note:
                # Named like the source, so that what is said of an interrupted load makes sense.
                folder = stack.enter_context(Scratch("records"))
                paths.append(folder / (name.removesuffix(".gz") + ".nt"))
                reports.append(read_records(file, how, paths[-1], note))
        with stopping.kept(loading(graph)), steps("load") as done, progress("Loading") as note:
            done["triples"] = graph.load(paths, on_progress=note, replacing=replace).triples
        fashion = views and any(report.counts.get("annotations") for report in reports)
        if fashion and graph.store.capabilities.reasoning:
            say(
                "No views are made, because this server reasons over all of its graphs together.",
                style="yellow",
            )
            fashion = False
        if fashion:
            with stopping.kept(_LOADED):
                _views(steps, graph, reason, source_too=True)
        elif reason:
            with stopping.kept(_LOADED), status("Reasoning"):
                _reason(steps, graph)
        result = {
            "store": graph.store.url,
            "kg": graph.name,
            "records": [{"file": redact_url(f), **_report(r)} for f, r in zip(files, reports, strict=True)],
            "skipped": skipped(reports),
            "steps": steps.done,
        }
        if as_json:
            show_json(result)
        else:
            _show(steps)
            if fashion:
                say(f"Next: `mrag index --kg {graph.name}-images --query kg/sentences`.", style="dim")
        show_problems(files, reports)


def views(
    store: StoreOption = None,
    kg: KgOption = None,
    reason: ReasonOption = True,
    runner: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Make each view in parts: inline, threads, processes, ray:ADDRESS, or ray for a cluster on "
            "this machine (extra `ray`). Default: each in one go.",
        ),
    ] = None,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Update the views of annotated images.

    With a runner, an interrupted run resumes when the command is run again.

    \b
    Examples:
      mrag views --kg main
      mrag views --runner processes --workers 2
    """
    from mrag.graph.record import read_record
    from mrag.jobs import runner as runner_of

    steps = _Steps()
    with opened(store, kg) as graph:
        names = [f"urn:mrag:kg:{graph.name}-{view.short}" for view in graphs.VIEWS.values()]
        if "http://example.org/hasImage" not in graph.profile().predicates and not any(
            read_record(graph.store, name).kept for name in names
        ):
            raise ConfigError(
                f"The knowledge graph {graph.name!r} holds no annotated images.",
                endpoint=graph.store.url,
                hint="Load some with `mrag import`, or name another graph with --store and --kg.",
            )
        with stopping.kept("Finished views are kept. Run the same command again to make the others."):
            carrying = None if runner is None else runner_of(runner, workers)
            made = _views(steps, graph, reason, runner=carrying)
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
        _infer(done, graph)


def _infer(done: dict[str, Any], graph: mrag.KnowledgeGraph) -> None:
    closure = mrag.reason(graph)
    done["triples"] = closure.triples
    if closure.contradictions:
        done["clashes"] = sum(group.count for group in closure.contradictions)
        show_groups(closure.contradictions)


def _views(
    steps: _Steps,
    graph: mrag.KnowledgeGraph,
    reason: bool,
    *,
    source_too: bool = False,
    runner: Runner | None = None,
) -> list[str]:
    """Make the views that are out of date, some at a time, and return the names of the graphs that changed.

    The source can be reasoned over meanwhile: views are made of what it asserts. A view that an interruption
    left without its inferred triples gets them now.
    """
    made: list[str] = []

    def after(view: graphs.View, fresh: mrag.KnowledgeGraph) -> None:
        made.append(fresh.name)
        with steps(f"reason over {fresh.name}" if reason else f"made {fresh.name}") as done:
            done["triples"] = fresh.record.triples
            if reason:
                _infer(done, fresh)

    names = {name: f"{graph.name}-{view.short}" for name, view in graphs.VIEWS.items()}
    also = [lambda: _reason(steps, graph)] if reason and source_too else []
    with steps("make views") as done:
        if runner is None:
            with status("Making views"):
                views = graphs.make_views(graph, names, after, also=also)
        else:
            from mrag.index.backends.base import home

            folder = home(graph)
            journals = None if folder is None else folder.parent / "views"
            with progress("Making views", unit="parts") as note:
                views = graphs.make_views(
                    graph, names, after, also=also, runner=runner, journals=journals, on_progress=note
                )
        done["views"] = sorted(made)
    for name, view in sorted(views.items()) if reason else ():
        if name not in made and not view.reasoned and view.record.triples:
            made.append(name)
            with status("Reasoning"):
                _reason(steps, view)
    return made


def _report(report: loaders.RecordReport) -> dict[str, Any]:
    return asdict(report)


def _show(steps: _Steps) -> None:
    width = max(len(step["step"]) for step in steps.done)
    for step in steps.done:
        triples = f"{step['triples']:>12,} triples" if "triples" in step else ""
        show(f"{step['step']:<{width}}  {step['seconds']:>8.1f} s {triples}".rstrip())
