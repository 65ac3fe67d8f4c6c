"""`mrag eval` and `mrag benchmark`: rankers are measured, and questions with known answers are made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mrag import evaluation
from mrag.cli.evaluation.questions import questions
from mrag.cli.evaluation.ranked import file_name, named_iri, ranked
from mrag.cli.shared import options
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.output import progress, say, show_json, show_lines
from mrag.config import Settings
from mrag.errors import ConfigError
from mrag.storage.files import saved_text


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
app.command("questions")(questions)


@app.command("rankers")
def evaluate(
    collection: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Folder in BEIR or TREC format: queries, judgements, optionally documents."
        ),
    ] = None,
    queries: Annotated[Path | None, typer.Option(help="File of queries. Default: the folder's.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="File of judgements. Default: the folder's.")] = None,
    split: Annotated[str | None, typer.Option(help="Name of the qrels/NAME.tsv of a BEIR folder.")] = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option(
            "--ranker",
            "-r",
            help="bm25, dense, hybrid or bm25-thesis; of a graph any that `mrag search` takes. Repeatable.",
        ),
    ] = None,
    run: Annotated[list[Path] | None, typer.Option(help="Run file in TREC format; repeatable.")] = None,
    ranks: Annotated[
        list[Path] | None,
        typer.Option(help="JSON file: query to rank of its first relevant document, from 0; repeatable."),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure", "-m", help="MRR, MAP, nDCG@k, P@k, R@k, Hits@k, HitsExclusive@k; repeatable."
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Documents ranked for each query.")] = 1000,
    baseline: Annotated[
        str | None, typer.Option(help="System to compare the others with. Default: the first.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for report, plot and runs; an interrupted evaluation resumes from it."),
    ] = None,
    tsne: Annotated[
        bool, typer.Option("--tsne", help="Write a map (t-SNE) of the questions into --out.")
    ] = False,
    embedder: Annotated[
        str | None, typer.Option(help="Embedding model of the documents: minilm, wordllama or none.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap and permutation samples.")] = 10_000,
    seed: options.SeedOption = 0,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    index: Annotated[str, typer.Option("--index", help="Similarity index of the graph.")] = "main",
    cls: Annotated[
        str | None,
        typer.Option("--class", metavar="IRI", help="Rank only instances of this class."),
    ] = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate rankers on queries with known answers.

    Measures come with confidence intervals and significance tests. If the folder has no documents, the
    entities of a knowledge graph's index are ranked. Next to run files, only rankers that are named run.

    \b
    Examples:
      mrag eval ./cranfield -r bm25 -r bm25-thesis
      mrag eval ./my-benchmark --split graph --class ex:Product --out ./results
      mrag eval --qrels qrels.txt --run mine.trec --run theirs.trec -m MRR -m nDCG@10 --json
      mrag eval --ranks ranks.json -m MRR -m Hits@10
    """
    from mrag.evaluation.metrics import DEFAULT

    if tsne and (out is None or collection is None):
        raise ConfigError(
            "A map of questions needs a collection and a folder.", hint="Name a folder with --out."
        )
    systems: list[evaluation.Run | evaluation.FirstRanks] = []
    notes: list[str] = []
    judgements = None
    title = "Evaluation"
    if collection is not None:
        found = evaluation.read_collection(collection, split=split, queries=queries, qrels=qrels)
        judgements, title = found.qrels, found.name
        notes += found.notes
        # With rankings from elsewhere, ours are made only if asked for.
        if ranker or not (run or ranks):
            systems += ranked(found, ranker, k, out, embedder, (store, kg, index, lang, cls), notes)
        for note in notes:
            say(note, style="yellow")
    elif qrels is not None:
        judgements = evaluation.read_qrels(qrels)
    for path in run or ():
        given = evaluation.read_run(path)
        taken = {system.name for system in systems}
        systems.append(evaluation.read_run(path, path.stem) if given.name in taken else given)
    systems += [evaluation.read_ranks(path) for path in ranks or ()]
    if not systems:
        hint = "Name a collection, run files with --qrels, or files of ranks; see `mrag eval rankers --help`."
        raise ConfigError("There is nothing to evaluate.", hint=hint)
    measures = measure or (DEFAULT if judgements is not None else ("MRR", "Hits@1", "Hits@10", "Hits@100"))
    knobs = evaluation.Resampling(resamples=resamples, seed=seed)
    result = evaluation.evaluate(
        systems, judgements, measures, resampling=knobs, baseline=baseline, title=title, notes=notes
    )
    if out is not None:
        _write(result, [s for s in systems if not hasattr(s, "ranks")], out)
        if tsne and collection is not None:
            _map(found, embedder, seed, out / "questions.svg")
        say(f"Report and plot are in {out}.", style="dim")
    show_json(result.to_json(queries=False)) if as_json else show_lines(result.to_markdown().rstrip())


def benchmark(
    out: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder for questions and judgements, in BEIR format.")
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Language model, as for `mrag ask`; none uses templates."),
    ] = None,
    cls: Annotated[
        str | None, typer.Option("--class", metavar="IRI", help="Class of the entities asked for.")
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(metavar="IRI", help="Predicate between an entity and its parts, such as garments."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="IRI", help="Predicate for the kind of a part. Default: rdf:type.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of entities, chosen at random.")
    ] = None,
    conditions: Annotated[
        int, typer.Option(min=1, help="Maximum number of values in a template's question.")
    ] = 2,
    concurrency: Annotated[int, typer.Option(min=1, help="Parallel requests.")] = 4,
    embedder: Annotated[
        str | None, typer.Option(help="Model that finds similar questions: minilm, wordllama or none.")
    ] = None,
    seed: options.SeedOption = 0,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    index: Annotated[str, typer.Option("--index", help="Index whose documents the model reads.")] = "main",
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Generate questions with known answers from a graph.

    A language model or templates write the questions. There are three kinds of judgements: the entity itself
    (target), entities of similar questions (similar), and entities whose triples meet the question's
    conditions (graph). An interrupted run resumes when the command is run again.

    \b
    Examples:
      mrag benchmark ./my-benchmark --class ex:Product --model none
      mrag benchmark ./images --class ex:Image --link ex:hasGarment --model ollama:llama3.2
    """
    from mrag.evaluation.questions import TYPE

    settings = Settings.from_env(model=model)
    with options.opened(store, kg, lang) as graph, progress("Writing questions", unit="questions") as note:
        shape = evaluation.EntityShape(
            named_iri(graph, link), named_iri(graph, kind) or TYPE, named_iri(graph, cls)
        )
        plan = evaluation.BenchmarkSettings(
            model=settings.model,
            shape=shape,
            limit=limit,
            conditions=conditions,
            concurrency=concurrency,
            embedder=embedder or settings.embedder,
            seed=seed,
            index=index,
        )
        report = evaluation.build_benchmark(graph, out, plan, on_progress=note)
    if as_json:
        show_json(report.to_json())
        return
    show_lines(str(report))
    for entity, error in report.failures.items():
        say(f"{entity}: {error}", style="yellow")


def _write(result: evaluation.Evaluation, runs: list[Any], out: Path) -> None:
    import json

    (out / "runs").mkdir(parents=True, exist_ok=True)
    for run in runs:
        evaluation.write_run(run, out / "runs" / f"{file_name(run.name)}.trec")
    text = json.dumps(result.to_json(), ensure_ascii=False, indent=2)
    saved_text(out / "report.json", text + "\n")
    saved_text(out / "report.md", result.to_markdown())
    saved_text(out / "report.svg", evaluation.intervals_svg(result))


def _map(collection: evaluation.Collection, model: str | None, seed: int, path: Path) -> None:
    from mrag.evaluation.report import tsne
    from mrag.index.embedding import embedder

    chosen = embedder(model or Settings.from_env().embedder)
    if chosen is None:
        raise ConfigError("A map of questions needs an embedding model.", hint="Use --embedder minilm.")
    queries = sorted(collection.queries)
    texts = [collection.queries[query] for query in queries]
    saved_text(path, evaluation.points_svg(tsne(chosen.embed_documents(texts), seed=seed), texts))
