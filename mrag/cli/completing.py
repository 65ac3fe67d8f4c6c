"""The command that completes a graph while it answers, and reviews what was read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mrag.cli import stopping
from mrag.cli.common import (
    DEFAULT_LANGUAGES,
    JsonOption,
    KgOption,
    LanguageOption,
    StoreOption,
    opened,
    progress,
    say,
    show,
    show_json,
    show_lines,
)

if TYPE_CHECKING:
    from mrag.completion.chain import CompletedQuestion
    from mrag.completion.evidence.passages import PassageSource
    from mrag.completion.writeback.checks import CheckSettings
    from mrag.completion.writeback.review import WriteReport
    from mrag.completion.writeback.runs import CompletionRun
    from mrag.graph.kg import KnowledgeGraph

_DECIDED = (
    "Each run is in the graph whole or not at all; `mrag complete --review --all` tells. "
    "The same command does the rest."
)
_ASKED = "What was read is kept; `mrag complete --review` lists it. The same command does the rest."


def complete(
    questions: Annotated[
        list[str] | None, typer.Argument(metavar="[QUESTION]...", help="What to answer.")
    ] = None,
    store: StoreOption = None,
    kg: KgOption = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of texts (.txt, .md, .rst) to read; may be given several times."),
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder of images, described by a model that sees and then read.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Language model that plans, reads and answers; none by default."),
    ] = None,
    image_model: Annotated[
        str | None, typer.Option(help="Model that describes images; `labels` for a classifier, offline.")
    ] = None,
    embedder: Annotated[
        str, typer.Option(help="Finds passages by meaning too: minilm or wordllama; none is by words alone.")
    ] = "none",
    always: Annotated[
        bool, typer.Option("--always", help="Read also where the graph has an answer, which may not be all.")
    ] = False,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Passages to read for each triple.")] = 8,
    new: Annotated[bool, typer.Option(help="Let names that the graph does not know become entities.")] = True,
    namespace: Annotated[
        str, typer.Option(help="Where the IRIs of new entities begin.")
    ] = "urn:mrag:entity:",
    functional: Annotated[
        list[str] | None,
        typer.Option(help="Property (IRI or CURIE) with one value at most; may be given several times."),
    ] = None,
    shapes: Annotated[
        Path | None,
        typer.Option(help="SHACL shapes that must hold for what is written (extra completion)."),
    ] = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Put what passes the checks into the graph at once.")
    ] = False,
    review: Annotated[
        bool, typer.Option("--review", help="List what was read and awaits a decision.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="With --review: runs that are decided, too.")] = False,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Put a run into the graph; `last` is the newest that is proposed."),
    ] = None,
    reject: Annotated[
        list[str] | None, typer.Option(metavar="RUN", help="Note that a run is not wanted.")
    ] = None,
    rollback: Annotated[
        list[str] | None,
        typer.Option(metavar="RUN", help="Take a run out again; `last` is the newest that is accepted."),
    ] = None,
    lang: LanguageOption = DEFAULT_LANGUAGES,
    as_json: JsonOption = False,
) -> None:
    """Answer questions, reading texts and images where the graph has nothing.

    What is read is kept for review with its evidence; it enters the graph when its run is accepted.

    \b
    Examples:
      mrag complete "Who directed Moss?" --texts articles
      mrag complete --review
      mrag complete --accept 3f2a91
      mrag complete --rollback 3f2a91
    """
    from mrag.errors import ConfigError

    decided = [*(accept or ()), *(reject or ()), *(rollback or ())]
    if not questions and not decided and not review:
        raise ConfigError("There is nothing to do.", hint="Ask a question, or give --review or --accept.")
    with opened(store, kg, lang) as graph:
        checks = _checks(graph, functional or [], shapes)
        result: dict[str, Any] = {}
        with stopping.kept(_DECIDED):
            result["decided"] = [
                report.to_json() for report in _decide(graph, accept, reject, rollback, checks, as_json)
            ]
        if questions:
            with stopping.kept(_ASKED):
                found = _asked(
                    graph, questions, texts or [], images, model, image_model, embedder,
                    {"always": always, "k": top, "write": "accept" if accept_all else "propose"},
                    {"new_names": new, "namespace": namespace}, checks,
                )  # fmt: skip
            result["questions"] = [one.to_json() for one in found]
            if not as_json:
                for one in found:
                    _show(graph, one)
        if review:
            from mrag.completion.writeback.run_store import list_runs

            listed = list_runs(graph) if every else list_runs(graph, "proposed")
            result["runs"] = [run.to_json() for run in listed]
            if not as_json:
                for run in listed:
                    for line in _told(graph, run):
                        show(line)
                if not listed:
                    show("Nothing awaits a decision.")
        if as_json:
            show_json(result)


def _checks(graph: KnowledgeGraph, functional: list[str], shapes: Path | None) -> CheckSettings:
    from mrag.completion.writeback.checks import CheckSettings
    from mrag.rdf.terms import iri

    named = tuple(str(iri(name, graph.prefixes)) for name in functional)
    return CheckSettings(functional=named, shapes=shapes)


def _decide(
    graph: KnowledgeGraph,
    accepted: list[str] | None,
    rejected: list[str] | None,
    rolled: list[str] | None,
    checks: CheckSettings,
    quiet: bool,
) -> list[WriteReport]:
    from mrag.completion.writeback import review as writeback

    reports = [writeback.rollback(graph, name) for name in rolled or ()]
    reports += [writeback.WriteReport(writeback.reject(graph, name)) for name in rejected or ()]
    reports += [writeback.accept(graph, name, settings=checks) for name in accepted or ()]
    for report in reports if not quiet else ():
        gone = f", {len(report.removed)} triples taken out" if report.removed else ""
        came = f", {len(report.entered)} triples written" if report.entered else ""
        show(f"Run {report.run.id} is {report.run.state}{came}{gone}.")
        for one in report.run.refused if report.run.state == "accepted" else ():
            say(
                f"  not written: {_words(graph, one, report.run)}: {'; '.join(one.objections)}",
                style="yellow",
            )
    return reports


def _asked(
    graph: KnowledgeGraph,
    questions: list[str],
    texts: list[Path],
    images: Path | None,
    model: str | None,
    image_model: str | None,
    embedder: str,
    settings: dict[str, Any],
    evidence_settings: dict[str, Any],
    checks: CheckSettings,
) -> list[CompletedQuestion]:
    from mrag.completion.chain import Completer, CompleterSettings
    from mrag.completion.evidence.collect import Evidence, EvidenceSettings
    from mrag.completion.evidence.reading import Reader
    from mrag.completion.evidence.rule_reader import RuleReader
    from mrag.completion.plan.patterns import Planner
    from mrag.generation.models.resolve import resolve

    chat = resolve(model) if model else None
    knobs = EvidenceSettings(**evidence_settings)
    source, corpus = _sources(graph, texts, images, image_model or model, embedder)
    reader: Reader = RuleReader(corpus, new_names=knobs.new_names)
    planner: Planner | None = None
    if chat is not None:
        from mrag.completion.evidence.model_reader import ModelReader
        from mrag.completion.plan.model_planner import ModelPlanner

        reader, planner = ModelReader(chat), ModelPlanner(chat)
    evidence = None if source is None else Evidence(source, reader, knobs)
    completer = Completer(graph, evidence, planner, chat, CompleterSettings(**settings), checks)
    if len(questions) == 1:
        return [completer.ask(questions[0])]
    with progress("Answering", unit="questions") as note:
        return completer.ask_all(questions, note)


def _sources(
    graph: KnowledgeGraph, texts: list[Path], images: Path | None, image_model: str | None, embedder: str
) -> tuple[PassageSource | None, list[Any]]:
    """Bring texts and images into the store, and return where passages are found, and all of them."""
    from mrag.completion.evidence.passages import CombinedPassages, Passages, store_folder
    from mrag.index.embedders import embedder as resolve_embedder
    from mrag.loaders.snippets import Snippets

    model = resolve_embedder(embedder)
    sources: list[PassageSource] = []
    corpus: list[Any] = []
    collections = []
    for folder in texts:
        with progress(f"Reading {folder.name}") as note:
            snippets = Snippets(folder, on_progress=note)
            collection, kept = store_folder(graph, snippets)
        collections.append(collection)
        say(f"{folder.name}: {kept.total:,} texts, {kept.added:,} new, {kept.gone:,} gone.", style="dim")
        for kind, count in sorted(snippets.report.problems.items()):
            say(f"{folder.name}: {count:,} files left out ({kind}).", style="yellow")
    if collections:
        with progress("Indexing", unit="passages") as note:
            passages = Passages.of(graph, collections, model, on_progress=note)
        sources.append(passages)
        corpus += passages.all
    if images is not None:
        found = _pictures(graph, images, image_model)
        sources.append(found)
        corpus += found.all
    if not sources:
        return None, []
    return (sources[0] if len(sources) == 1 else CombinedPassages(sources)), corpus


def _pictures(graph: KnowledgeGraph, folder: Path, model: str | None) -> Any:
    from mrag.completion.evidence.images import describe_folder, image_passages
    from mrag.completion.evidence.passages import Passages

    with progress("Describing images", unit="images") as note:
        report = describe_folder(
            graph, folder, model, on_progress=lambda p: note(p.described + p.failed, p.total)
        )
    for kind, count in report.kinds().items():
        say(f"{folder.name}: {count:,} images or parts without a description ({kind}).", style="yellow")
    return Passages(image_passages(graph))


def _show(graph: KnowledgeGraph, found: CompletedQuestion) -> None:
    show_lines(str(found.answer))
    run = found.run
    if run is None:
        return
    for one in run.refused:
        say(f"  not to be written: {_words(graph, one, run)}: {'; '.join(one.objections)}", style="yellow")
    if found.entered:
        show(f"{found.entered} triples written by run {run.id}.")
    elif run.state == "proposed":
        say(f"Nothing is written yet. Accept it with: mrag complete --accept {run.id}", style="dim")
    else:
        say(f"The same was read before; that run, {run.id}, is {run.state}.", style="dim")


def _told(graph: KnowledgeGraph, run: CompletionRun) -> list[str]:
    """Put a run in words, its statements with their evidence."""
    lines = [f"Run {run.id} ({run.state}, {run.started[:19]}, read by {run.model}): {run.question}"]
    for one in run.statements:
        mark = {"fits": "+", "known": "=", "refused": "!"}[one.verdict]
        lines.append(f"  {mark} {_words(graph, one, run)}  ({one.confidence:.2f})")
        lines += [f"      {why}" for why in one.objections]
        lines += [f"      {ref.source}: “{' '.join(ref.quote.split())}”" for ref in one.evidence]
    return lines


def _words(graph: KnowledgeGraph, one: Any, run: CompletionRun) -> str:
    from rdflib import RDFS, URIRef

    from mrag.context.display import Display
    from mrag.rdf.terms import curie

    iris = [str(t) for t in (one.subject, one.object) if isinstance(t, URIRef)]
    labels = graph.labels(iris)

    new = {s.subject: str(s.object) for s in run.statements if s.predicate == RDFS.label}

    def name(term: Any) -> str:
        if not isinstance(term, URIRef):
            return str(term)
        return labels.get(str(term)) or new.get(term) or curie(str(term), graph.prefixes)

    return f"{name(one.subject)} | {Display(graph).predicate(str(one.predicate))} | {name(one.object)}"
