"""The command that learns concepts, and does with them what can be done: `mrag learn`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    show_data,
    show_json,
    show_lines,
)

if TYPE_CHECKING:
    from mrag.cel.learners.base import FitReport
    from mrag.cel.problem import Hypothesis, LearningProblem
    from mrag.cel.syntax.expressions import Expression
    from mrag.graph.kg import KnowledgeGraph

_FORMATS = ("dl", "manchester", "turtle")


def learn(
    positive: Annotated[
        list[str] | None, typer.Option("--positive", "-p", metavar="IRI", help="A positive example.")
    ] = None,
    negative: Annotated[
        list[str] | None, typer.Option("--negative", "-n", metavar="IRI", help="A negative example.")
    ] = None,
    positives: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Positive examples, an IRI or CURIE a line.")
    ] = None,
    negatives: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Negative examples, an IRI or CURIE a line.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Learn from the hits of a search.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="With --question: first hits that are positive.")] = 10,
    bottom: Annotated[int, typer.Option(min=1, help="With --question: last hits that are negative.")] = 10,
    index: Annotated[str, typer.Option("--index", help="Name of the similarity index.")] = "main",
    concept: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Learn nothing; take this concept: a kept one by name, or one in DL or Manchester syntax.",
        ),
    ] = None,
    rerank: Annotated[
        int,
        typer.Option("--rerank", min=0, metavar="N", help="With --question: print N of its hits, re-ranked."),
    ] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="A chat model: it polishes the sentence and, with --rerank, orders hits.",
        ),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            help="search, m-of-n, celoe, tdl, evolearner or drill; with --benchmark several, with commas.",
        ),
    ] = "search",
    policy: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What `mrag train drill` made, for drill.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time limit of learning.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Of random choices.")] = 0,
    measure: Annotated[
        str, typer.Option(help="f1, accuracy, predictive-accuracy, weighted-accuracy.")
    ] = "f1",
    k: Annotated[int, typer.Option("-k", min=1, help="Most hypotheses shown.")] = 3,
    format: Annotated[str, typer.Option(help="How to write concepts: dl, manchester or turtle.")] = "dl",
    query: Annotated[bool, typer.Option("--query", help="Print the concept's SPARQL query alone.")] = False,
    rq: Annotated[Path | None, typer.Option(metavar="FILE", help="Write that query to a file.")] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="NAME", help="Write the concept back as a class of this name.")
    ] = None,
    kept: Annotated[bool, typer.Option("--kept", help="List the kept concepts and do nothing else.")] = False,
    forget: Annotated[
        str | None, typer.Option(metavar="NAME", help="Remove a kept concept and do nothing else.")
    ] = None,
    explain: Annotated[
        str | None, typer.Option(metavar="IRI", help="Why an individual is in the concept, or why not.")
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Run the problems of a folder or file, or a folder's name in --data."
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option("--data", help="With --benchmark: where names are looked up.")
    ] = Path(),
    folds: Annotated[int, typer.Option(min=0, help="With --benchmark: folds held out, 0 for none.")] = 10,
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --benchmark: results, to go on from later.")
    ] = None,
    store: StoreOption = None,
    kg: KgOption = None,
    lang: LanguageOption = DEFAULT_LANGUAGES,
    as_json: JsonOption = False,
) -> None:
    """Learn the concept that examples share; explain it, keep it as a class, or run benchmarks.

    \b
    Examples:
      mrag learn -p ex:GraphDB -p ex:AllegroGraph -n ex:MySQL -n ex:Redis
      mrag learn --question "triple store with reasoning" --top 5 --bottom 10 --keep reasoners
      mrag learn --question "triple store with reasoning" --rerank 10 --model ollama:llama3.2
      mrag learn --concept reasoners --explain ex:MySQL
      mrag learn --concept "ex:SemanticProduct and (ex:developedBy some ex:Vendor)" --query
      mrag learn --kept
      mrag learn --benchmark family --data ./knowledge-bases --results family.jsonl
    """
    from mrag.errors import ConfigError

    if format not in _FORMATS:
        raise ConfigError(f"There is no format {format!r}.", hint=f"Use {', '.join(_FORMATS)}.")
    if rerank and question is None:
        raise ConfigError("There are no hits to re-rank.", hint="--rerank goes with --question.")
    if benchmark is not None:
        from mrag.cli.benchmarking import run_benchmark

        run_benchmark(benchmark, data, learner, seconds, seed, measure, folds, results, as_json=as_json)
        return
    from mrag.cel.semantics.sparql import instances_query
    from mrag.cli.concepts import concept_of, keep_as, kept_concepts, language_of, show_learnt, to_json, why
    from mrag.cli.reranking import with_model

    with opened(store, kg, lang) as graph:
        if kept or forget is not None:
            kept_concepts(graph, forget, format, as_json=as_json)
            return
        expression: Expression
        found: list[Hypothesis] = []
        report: FitReport | None = None
        problem: LearningProblem | None = None
        if concept is not None:
            expression = concept_of(graph, concept)
        else:
            problem = _problem(graph, positive, negative, positives, negatives, question, top, bottom, index)
            found, report = _learnt(graph, problem, learner, policy, seconds, seed, measure, k)
            expression = found[0].expression
        if rq is not None:
            _write(rq, instances_query(expression))
        best = found[0] if found else expression
        examples = problem.positives if problem else ()
        more = with_model(graph, best, examples, question, index, rerank, model, language_of(graph))
        stored = None
        if stopping.heard() and keep is not None:
            # Whoever stops a search has not seen what it found.
            say(f"Nothing was kept as {keep!r}.", style="yellow")
        elif keep is not None:
            stored = keep_as(graph, best, keep, learner if found else "", report)
        if query and not as_json:
            show_data(instances_query(expression))
        elif as_json:
            show_json(to_json(graph, expression, found, report, stored, explain, format, more))
        else:
            show_learnt(graph, expression, found, report, format, more)
            more.show()
        if explain is not None and not as_json:
            show()
            show_lines(why(graph, expression, explain)[0])
        if stored is not None:
            then = "" if graph.reasoned else "; `mrag reason` brings the inferred triples up to date"
            say(f"Kept as <{stored.iri}>: {_HOW[stored.world]}{then}.")


_HOW = {
    "open": "reasoning finds its instances by its definition",
    "closed": "the instances of its query were asserted as its members",
}


def _problem(
    graph: KnowledgeGraph,
    positive: list[str] | None,
    negative: list[str] | None,
    positives: Path | None,
    negatives: Path | None,
    question: str | None,
    top: int,
    bottom: int,
    index: str,
) -> LearningProblem:
    from mrag.cel.problem import LearningProblem
    from mrag.cel.semantics.sparql import individuals_among
    from mrag.errors import LearningProblemError
    from mrag.rdf.terms import iri
    from mrag.retrieval.rankers import Question, SimilarityRanker

    def named(given: list[str] | None, file: Path | None) -> list[str]:
        return [str(iri(x, graph.prefixes)) for x in [*(given or ()), *_lines(file)]]

    wanted, unwanted = named(positive, positives), named(negative, negatives)
    if question is not None:
        hits = SimilarityRanker(graph, index).rank(Question(question), max(100, 2 * (top + bottom)))
        known = individuals_among(graph, [h.iri for h in hits])
        ranked = [h.iri for h in hits if h.iri in known and h.iri not in unwanted]
        wanted += ranked[:top]
        unwanted += ranked[top:][-bottom:]
    elif not wanted and not unwanted:
        raise LearningProblemError(
            "There are no examples.", hint="Give some with -p and -n, or --question; see mrag learn --help."
        )
    problem = LearningProblem(wanted, unwanted)
    problem.check(graph)
    return problem


def _learnt(
    graph: KnowledgeGraph,
    problem: LearningProblem,
    name: str,
    policy: Path | None,
    seconds: float,
    seed: int,
    measure: str,
    k: int,
) -> tuple[list[Hypothesis], FitReport]:
    from mrag.cel.learners.registry import learner
    from mrag.errors import LearningProblemError

    trained = {} if policy is None else {"policy": str(policy)}
    with progress(f"Learning ({name})", unit="seconds") as note:
        made = learner(
            name,
            graph,
            on_progress=lambda p: note(int(p.seconds), int(seconds)),
            seconds=seconds,
            seed=seed,
            measure=measure,
            top=k,
            **trained,
        )
        found = made.fit(problem)
    report = made.report
    assert report is not None
    for line in report.notes:
        say(line, style="yellow")
    if not found:
        raise LearningProblemError(
            "No concept tells the positive from the negative examples.",
            hint="Give other examples, or more time with --seconds.",
        )
    return found, report


def _lines(file: Path | None) -> list[str]:
    from mrag.errors import ConfigError

    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("The examples cannot be read.", file=str(file)) from error


def _write(path: Path, text: str) -> None:
    from mrag.storage.saving import saved_text

    saved_text(path, text + "\n")
