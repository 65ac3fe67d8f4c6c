"""`mrag eval` and `mrag benchmark`: rankers are measured, and questions with known answers are made."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, cast

from typer import Argument, Option
from typer.core import TyperGroup

import mrag
from mrag import evaluation, rdf
from mrag import index as indexes
from mrag.cli import options
from mrag.cli.commands import Commands, on_stop
from mrag.cli.output import progress, say, show_json, show_lines
from mrag.config import Settings
from mrag.errors import ConfigError, IndexError_, check_choice
from mrag.storage.files import save_text

HOWS = ("auto", "plan", "read")


def measure_questions(
    files: Annotated[list[Path], Argument(metavar="FILE")],
    place: options.LabelledPlace,
    only: Annotated[list[str] | None, Option(metavar="FIELD=VALUE")] = None,
    how: Annotated[str, Option(metavar="auto|plan|read")] = "auto",
    model: Annotated[str, Option("--model", "-m")] = "none",
    out: Path | None = None,
    resamples: Annotated[int, Option(min=100)] = 10_000,
    seed: int = 0,
    index: str = "main",
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate the answers to questions with gold answers.

    A line has `question` and `answers`, a list of rows or of values; without `answers` the right thing is to
    say that the graph has no answer. Also read: `id`, `category`, `alternatives`, `choice_columns`,
    `ordered` and `order_groups`.
    """
    check_choice("way", how, HOWS)
    wanted = dict(part.split("=", 1) for part in only or () if "=" in part)
    if len(wanted) < len(only or ()):
        raise ConfigError("Not a field and its value.", term=" ".join(only or ()), hint="Write FIELD=VALUE.")
    asked = evaluation.read_questions(files, only=wanted)
    if out is not None and not out.parent.is_dir():
        raise ConfigError("There is no such folder.", file=str(out.parent))
    journal = None if out is None else out.with_name(f"{out.name}.journal")
    resumes = "Run the same command again: no question is asked twice."
    with (
        place.open() as graph,
        progress("Asking", unit="questions") as note,
        on_stop(resumes) if out else nullcontext(),
    ):
        report = evaluation.evaluate_questions(
            graph, asked, how=cast(Any, how), model=model, index=index, journal=journal,
            resampling=evaluation.Resampling(resamples=resamples, seed=seed),
            title=", ".join(path.stem for path in files), on_progress=note,
        )  # fmt: skip
    if out is not None and journal is not None:
        lines = [json.dumps(prediction, ensure_ascii=False) + "\n" for prediction in report.predictions]
        save_text(out, "".join(lines))
        journal.unlink(missing_ok=True)
        say(f"The answers are in {out}.", style="dim")
    show_json(report.to_json()) if as_json else show_lines(report.to_markdown().rstrip())


def rank_systems(
    collection: evaluation.Collection,
    kinds: list[str] | None,
    k: int,
    out: Path | None,
    model: str | None,
    place: options.LabelledPlace,
    index: str,
    cls: str | None,
    notes: list[str],
) -> list[evaluation.Run]:
    """Rank the documents of a collection, or the entities of a graph for its queries."""
    if collection.documents:
        name = model or Settings.from_env().embedder
        chosen = indexes.embedder(name) if kinds is None or {"dense", "hybrid"} & {*kinds} else None
        folder = None if out is None else out / ("index" if chosen is not None else "index-words")
        files = _open_index(folder, chosen)
        with progress("Indexing", unit="documents") as note:
            files.sync(collection.documents.items(), extra={}, on_progress=note)
        _note_missing(collection, files, None, notes)
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if chosen is not None else [])]
        return _runs([evaluation.index_system(files, kind) for kind in wanted], collection, k, out)
    with place.open() as graph:
        known = mrag.SimilarityIndexes.of(graph).get(index)
        about = f"{graph.store.url} {graph.iri} {graph.revision} {index}"
        if not isinstance(known, indexes.SimilarityIndex):
            # An index of the server's own: it ranks in its one way.
            only_one = evaluation.ranker_system("server", mrag.SimilarityRanker(graph, index), about)
            return _runs([only_one], collection, k, out)
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if known.files.embedder_name else [])]
        named = resolve_iri(graph, cls)
        only = None if named is None else evaluation.instances(graph, named)
        _note_missing(collection, known.files, only, notes)

        def system(kind: str) -> evaluation.System:
            if kind in evaluation.benchmark.KINDS:
                return evaluation.index_system(known.files, kind, only)
            ranker = mrag.ranker(kind, graph, index=index)
            return evaluation.ranker_system(kind, ranker, f"{about} {kind} {only}", only)

        return _runs([*map(system, wanted)], collection, k, out)


def _note_missing(
    collection: evaluation.Collection, files: indexes.StoredIndex, only: list[str] | None, notes: list[str]
) -> None:
    """Note relevant documents that no ranker can find."""
    relevant = {doc for grades in collection.qrels.values() for doc, grade in grades.items() if grade > 0}
    missing = relevant - set(files.doc_ids if only is None else {*files.doc_ids} & {*only})
    if missing:
        text = f"{len(missing)} of {len(relevant)} relevant documents are not in the index"
        notes.append(f"{text}, such as {min(missing)}; no ranker can find them.")


def _open_index(folder: Path | None, model: indexes.Embedder | None) -> indexes.DocumentIndex:
    """Open the index of an earlier run, so that only new texts are embedded, or make one."""
    if folder is not None and (folder / "manifest.json").exists():
        try:
            return indexes.DocumentIndex.open(folder, embedder=model, thorough=True)
        except IndexError_:
            say("The index of the earlier run does not match and is rebuilt.", style="yellow")
    return indexes.DocumentIndex.create(folder, embedder=model, replace=True)


def _runs(
    systems: list[evaluation.System], collection: evaluation.Collection, k: int, out: Path | None
) -> list[evaluation.Run]:
    asked = {query: collection.queries[query] for query in evaluation.judged_queries(collection.qrels)}
    runs = []
    for system in systems:
        kept = None if out is None else out / "journals" / f"{file_name(system.name)}.jsonl"
        with progress(f"Ranking by {system.name}", unit="queries") as note:
            runs.append(evaluation.run_system(system, asked, k, journal=kept, on_progress=note))
    return runs


def file_name(name: str) -> str:
    """Return the name of a system as part of the name of a file."""
    return re.sub(r"[^\w.\-]+", "_", name)


def resolve_iri(graph: mrag.KnowledgeGraph, text: str | None) -> str | None:
    """Return the IRI that a text names, None for none."""
    return None if text is None else str(rdf.iri(text, graph.prefixes))


class _RankersByDefault(TyperGroup):
    """`mrag eval FOLDER` measures rankers, as `mrag eval rankers FOLDER` does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not {*args[:1]} & {"--help", *self.commands}:
            args = ["rankers", *args]
        return super().parse_args(ctx, args)


app = Commands(
    cls=_RankersByDefault,
    help="Measure rankers on queries with known answers, or answers to questions.\n\n"
    "With anything but the name of a command behind it, `mrag eval` is `mrag eval rankers`.\n\n"
    "\b\nExamples:\n  mrag eval ./cranfield -r bm25 -r bm25-thesis\n"
    "  mrag eval questions questions.jsonl --how plan",
)
app.command("questions")(measure_questions)


@app.command("rankers")
def evaluate(
    place: options.LabelledPlace,
    collection: Annotated[Path | None, Argument(metavar="FOLDER")] = None,
    queries: Path | None = None,
    qrels: Path | None = None,
    split: str | None = None,
    ranker: Annotated[list[str] | None, Option("--ranker", "-r")] = None,
    run: list[Path] | None = None,
    measure: Annotated[list[str] | None, Option("--measure", "-m")] = None,
    k: Annotated[int, Option("-k", min=1)] = 1000,
    baseline: str | None = None,
    out: Path | None = None,
    embedder: str | None = None,
    resamples: Annotated[int, Option(min=100)] = 10_000,
    seed: int = 0,
    index: str = "main",
    cls: Annotated[str | None, Option("--class", metavar="IRI")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate rankers on queries with known answers.

    Measures come with confidence intervals and significance tests. If the folder has no documents, the
    entities of a knowledge graph's index are ranked. Next to run files, only rankers that are named run.
    """
    systems: list[evaluation.Run] = []
    notes: list[str] = []
    judgements: evaluation.Qrels = {}
    title = "Evaluation"
    if collection is not None:
        judged = evaluation.read_collection(collection, split=split, queries=queries, qrels=qrels)
        judgements, title = judged.qrels, judged.name
        notes += judged.notes
        # With rankings from elsewhere, ours are made only if asked for.
        if ranker or not run:
            systems += rank_systems(judged, ranker, k, out, embedder, place, index, cls, notes)
        for note in notes:
            say(note, style="yellow")
    elif qrels is not None:
        judgements = evaluation.read_qrels(qrels)
    for path in run or ():
        given = evaluation.read_run(path)
        taken = {system.name for system in systems}
        systems.append(evaluation.read_run(path, path.stem) if given.name in taken else given)
    if not systems:
        hint = "Name a collection, or run files with --qrels; see `mrag eval rankers --help`."
        raise ConfigError("There is nothing to evaluate.", hint=hint)
    knobs = evaluation.Resampling(resamples=resamples, seed=seed)
    result = evaluation.evaluate(
        systems, judgements, measure or evaluation.metrics.DEFAULT, resampling=knobs, baseline=baseline,
        title=title, notes=notes,
    )  # fmt: skip
    if out is not None:
        _write(result, systems, out)
        say(f"The report is in {out}.", style="dim")
    show_json(result.to_json(queries=False)) if as_json else show_lines(result.to_markdown().rstrip())


def benchmark(
    out: Annotated[Path, Argument(metavar="FOLDER")],
    place: options.LabelledPlace,
    model: Annotated[str | None, Option("--model", "-m")] = None,
    cls: Annotated[str | None, Option("--class", metavar="IRI")] = None,
    link: Annotated[str | None, Option(metavar="IRI")] = None,
    kind: Annotated[str | None, Option(metavar="IRI")] = None,
    limit: Annotated[int | None, Option(min=1)] = None,
    conditions: Annotated[int, Option(min=1)] = 2,
    concurrency: Annotated[int, Option(min=1)] = 4,
    embedder: str | None = None,
    seed: int = 0,
    index: str = "main",
    as_json: options.JsonOption = False,
) -> None:
    """Generate questions with known answers from a graph.

    A language model or templates write the questions. There are three kinds of judgements: the entity itself
    (target), entities of similar questions (similar), and entities whose triples meet the question's
    conditions (graph). An interrupted run resumes when the command is run again.
    """
    settings = Settings.from_env(model=model)
    with place.open() as graph, progress("Writing questions", unit="questions") as note:
        named = [resolve_iri(graph, text) for text in (link, kind, cls)]
        shape = evaluation.EntityShape(named[0], named[1] or evaluation.questions.TYPE, named[2])
        model_of_texts = embedder or settings.embedder
        plan = evaluation.BenchmarkSettings(
            settings.model, shape, limit, conditions, concurrency, model_of_texts, seed, index
        )
        report = evaluation.build_benchmark(graph, out, plan, on_progress=note)
    if as_json:
        show_json(report.to_json())
        return
    show_lines(str(report))
    for entity, error in report.failures.items():
        say(f"{entity}: {error}", style="yellow")


def _write(result: evaluation.Evaluation, runs: list[evaluation.Run], out: Path) -> None:
    (out / "runs").mkdir(parents=True, exist_ok=True)
    for run in runs:
        evaluation.write_run(run, out / "runs" / f"{file_name(run.name)}.trec")
    text = json.dumps(result.to_json(), ensure_ascii=False, indent=2) + "\n"
    save_text(out / "report.json", text)
    save_text(out / "report.md", result.to_markdown())
