"""`mrag learn`: class expressions are learnt from examples, kept, explained and used to re-rank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mrag import cel
from mrag.cli.shared import learning, options, stopping
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.output import say, show_json, show_lines
from mrag.errors import ConfigError

app = Commands(
    help="Class expressions: learn, explain, keep and re-rank by them.",
    epilog="Example: mrag learn fit -p ex:GraphDB -p ex:AllegroGraph -n ex:MySQL -n ex:Redis",
)


@app.command()
def fit(
    positive: learning.PositiveOption = None,
    negative: learning.NegativeOption = None,
    positives: learning.PositivesOption = None,
    negatives: learning.NegativesOption = None,
    question: learning.QuestionOption = None,
    defined: learning.ClassOption = None,
    top: learning.TopOption = 10,
    bottom: learning.BottomOption = 10,
    index: options.IndexOption = "main",
    learner: learning.LearnerOption = "search",
    policy: learning.PolicyOption = None,
    seconds: learning.SecondsOption = 5.0,
    steps: learning.StepsOption = None,
    max_length: learning.MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: learning.MeasureOption = "f1",
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hypotheses shown.")] = 3,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Chat model that polishes the sentence."),
    ] = None,
    format: learning.FormatOption = "dl",
    query: learning.QueryOption = False,
    rq: learning.RqOption = None,
    keep: learning.KeepOption = None,
    explain: Annotated[
        str | None, typer.Option(metavar="IRI", help="Explain why this individual is in the concept or not.")
    ] = None,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Learn the concept that examples share.

    Examples are IRIs, files of IRIs, hits of a search, or the members of a class. If no negative ones are
    given, other individuals are drawn.

    \b
    Examples:
      mrag learn fit -p ex:GraphDB -p ex:AllegroGraph -n ex:MySQL -n ex:Redis
      mrag learn fit --question "triple store with reasoning" --top 5 --bottom 10 --keep reasoners
      mrag learn fit --positives hands.txt --negatives others.txt --learner tdl --steps 3 --max-length 12
      mrag learn fit --class ex:TripleStore
    """
    options.check_choice("format", format, learning.FORMATS)
    from mrag.cli.shared.concepts import Learnt, keep_as
    from mrag.cli.shared.reranking import chat_model, polished

    with options.opened(store, kg, lang) as graph:
        examples = (positive, negative, positives, negatives, question, top, bottom, index)
        problem = learning.problem_of(graph, *examples, defined, seed)
        found, report = learning.fitted(
            graph, problem, learner, policy, seconds, seed, measure, k, steps, max_length
        )
        learnt = Learnt(
            found[0].expression, tuple(found), report, polished(graph, found[0], chat_model(model))
        )
        stored = None
        if keep is not None and stopping.heard():
            # Whoever interrupts a search has not seen what it found.
            say(f"Nothing was kept as {keep!r}.", style="yellow")
        elif keep is not None:
            stored = keep_as(graph, found[0], keep, learner, report)
        learning.print_learnt(graph, learnt, format, query, rq, explain, stored, as_json)


@app.command()
def rerank(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The search whose hits are re-ranked.")],
    hits: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hits.")] = 10,
    concept: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Use this concept instead of learning one: a kept one, or DL or Manchester."
        ),
    ] = None,
    positive: learning.PositiveOption = None,
    negative: learning.NegativeOption = None,
    positives: learning.PositivesOption = None,
    negatives: learning.NegativesOption = None,
    top: learning.TopOption = 10,
    bottom: learning.BottomOption = 10,
    index: options.IndexOption = "main",
    learner: learning.LearnerOption = "search",
    policy: learning.PolicyOption = None,
    seconds: learning.SecondsOption = 5.0,
    steps: learning.StepsOption = None,
    max_length: learning.MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: learning.MeasureOption = "f1",
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Chat model that polishes and orders the hits."),
    ] = None,
    format: learning.FormatOption = "dl",
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Re-rank the hits of a search by a concept.

    The hits in the concept come first. It is learnt from the first and last hits, unless --concept gives one.

    \b
    Examples:
      mrag learn rerank "triple store with reasoning"
      mrag learn rerank "fast triple store" --concept reasoners --model ollama:llama3.2
    """
    options.check_choice("format", format, learning.FORMATS)
    from mrag.cli.shared.concepts import Learnt, concept_of
    from mrag.cli.shared.reranking import chat_model, polished, reranked

    with options.opened(store, kg, lang) as graph:
        chat = chat_model(model)
        if concept is not None:
            learnt = Learnt(concept_of(graph, concept))
            ranked = reranked(graph, learnt.expression, (), question, index, hits, chat)
        else:
            problem = learning.problem_of(
                graph, positive, negative, positives, negatives, question, top, bottom, index
            )
            found, report = learning.fitted(
                graph, problem, learner, policy, seconds, seed, measure, 3, steps, max_length
            )
            learnt = Learnt(found[0].expression, tuple(found), report, polished(graph, found[0], chat))
            ranked = reranked(graph, found[0], problem.positives, question, index, hits, chat)
        if as_json:
            show_json({**learnt.to_json(graph, format), **ranked.to_json()})
            return
        learnt.show(graph, format)
        ranked.show()


@app.command("show")
def show_concept(
    concept: learning.ConceptArgument,
    format: learning.FormatOption = "dl",
    query: learning.QueryOption = False,
    rq: learning.RqOption = None,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Print a concept and its sentence, or its query.

    \b
    Examples:
      mrag learn show reasoners --format manchester
      mrag learn show "ex:SemanticProduct and (ex:developedBy some ex:Vendor)" --query
    """
    options.check_choice("format", format, learning.FORMATS)
    from mrag.cli.shared.concepts import Learnt, concept_of

    with options.opened(store, kg, lang) as graph:
        learning.print_learnt(
            graph, Learnt(concept_of(graph, concept)), format, query, rq, None, None, as_json
        )


@app.command()
def explain(
    concept: learning.ConceptArgument,
    individual: Annotated[str, typer.Argument(metavar="IRI", help="The individual.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Explain why an individual is in a concept or not.

    If it is not, the fewest triples that would bring it in are shown.

    \b
    Example:
      mrag learn explain reasoners ex:MySQL
    """
    from mrag.cli.shared.concepts import Learnt, concept_of, why

    with options.opened(store, kg, lang) as graph:
        learnt = Learnt(concept_of(graph, concept))
        text, value = why(graph, learnt.expression, individual)
        if as_json:
            show_json({**learnt.to_json(graph, "dl"), "explanation": value})
        else:
            show_lines(text)


@app.command()
def keep(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the class.")],
    concept: learning.ConceptArgument,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Keep a concept as a class of the graph.

    \b
    Example:
      mrag learn keep reasoners "ex:SemanticProduct and (ex:developedBy some ex:Vendor)"
    """
    from mrag.cli.shared.concepts import Learnt, concept_of, keep_as

    with options.opened(store, kg, lang) as graph:
        learnt = Learnt(concept_of(graph, concept))
        stored = keep_as(graph, learnt.expression, name, "", None)
        learning.print_learnt(graph, learnt, "dl", False, None, None, stored, as_json)


@app.command()
def concepts(
    format: learning.ListFormatOption = "dl",
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """List the kept concepts.

    In Turtle, RDF/XML and functional syntax they form an ontology.

    \b
    Examples:
      mrag learn concepts
      mrag learn concepts --format functional > concepts.ofn
    """
    options.check_choice("format", format, learning.LIST_FORMATS)
    from mrag.cli.shared.concepts import list_concepts

    with options.opened(store, kg, lang) as graph:
        list_concepts(graph, format, as_json=as_json)


@app.command()
def forget(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a kept concept.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
) -> None:
    """Remove a kept concept.

    \b
    Example:
      mrag learn forget reasoners
    """
    with options.opened(store, kg) as graph:
        if not cel.remove_concept(graph, name):
            raise ConfigError("No such concept is kept.", term=name, hint="`mrag learn concepts` lists them.")
        say(f"Removed {name}." + ("" if graph.reasoned else " Run `mrag reason` to update the inferences."))


@app.command()
def benchmark(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH", help="Folder or file of learning problems, or a folder's name in --data."
        ),
    ],
    data: Annotated[Path, typer.Option("--data", help="Where names are looked up.")] = Path(),
    learner: Annotated[
        str,
        typer.Option("--learner", help="search, m-of-n, celoe, ocel, tdl, evolearner, drill; or several."),
    ] = "search",
    folds: Annotated[int, typer.Option(min=0, help="Folds of the cross-validation; 0 for none.")] = 10,
    seconds: learning.SecondsOption = 5.0,
    steps: learning.StepsOption = None,
    max_length: learning.MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: learning.MeasureOption = "f1",
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of results, from which a later run resumes.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate learners on the problems of a benchmark.

    \b
    Examples:
      mrag learn benchmark family --data ./knowledge-bases --results family.jsonl
      mrag learn benchmark ./trains --learner search,celoe,tdl --json
    """
    from mrag.cli.shared.benchmarks import run_benchmark

    limits = (seconds, seed, measure, folds, results, steps, max_length)
    run_benchmark(path, data, learner, *limits, as_json=as_json)
