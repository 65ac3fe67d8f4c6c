"""`mrag learn` and `mrag train`: class expressions are learnt from examples, and models are trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mrag
from mrag import cel, generative, rdf
from mrag.cli import commands, options
from mrag.cli.commands import Commands
from mrag.cli.options import JsonOption, KgOption, SeedOption, StoreOption, opened
from mrag.cli.output import progress, say, show, show_data, show_json, show_lines, status
from mrag.errors import ConfigError, LearningProblemError
from mrag.language.grammar import counted
from mrag.storage.files import saved_text

if TYPE_CHECKING:
    from mrag.cli.concepts import Learnt

FORMATS = ("dl", "manchester", "turtle")
LIST_FORMATS = (*FORMATS, "rdfxml", "functional")

PositiveOption = Annotated[
    list[str] | None,
    typer.Option("--positive", "-p", metavar="IRI", help="A positive example; repeatable."),
]
NegativeOption = Annotated[
    list[str] | None,
    typer.Option("--negative", "-n", metavar="IRI", help="A negative example; repeatable."),
]
PositivesOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Positive examples, one IRI or CURIE per line.")
]
NegativesOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Negative examples, one IRI or CURIE per line.")
]
QuestionOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Take examples from a search's hits.")
]
ClassOption = Annotated[
    str | None,
    typer.Option("--class", metavar="IRI", help="Define this class: its members against others."),
]
KeepOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Keep the concept as a class of this name.")
]
TopOption = Annotated[int, typer.Option(min=1, help="First hits of the question taken as positive.")]
BottomOption = Annotated[int, typer.Option(min=1, help="Last hits of the question taken as negative.")]
LearnerOption = Annotated[
    str, typer.Option("--learner", help="search, m-of-n, celoe, ocel, tdl, evolearner or drill.")
]
PolicyOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="For drill: the policy that `mrag train drill` wrote.")
]
SecondsOption = Annotated[float, typer.Option(min=0.01, help="Time limit of learning, with reading.")]
StepsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Properties that may follow one another; by default up to the learner."),
]
MaxLengthOption = Annotated[
    int | None, typer.Option(min=1, help="Symbols of the longest concept; by default up to the learner.")
]
MeasureOption = Annotated[
    str, typer.Option(help="Quality: f1, accuracy, predictive-accuracy or weighted-accuracy.")
]
ConceptArgument = Annotated[
    str,
    typer.Argument(
        metavar="CONCEPT", help="Name of a kept concept, or a concept in DL or Manchester syntax."
    ),
]
FormatOption = Annotated[str, typer.Option(help="Notation of concepts: dl, manchester or turtle.")]
ListFormatOption = Annotated[
    str, typer.Option("--format", help="Notation of concepts: dl, manchester, turtle, rdfxml or functional.")
]
QueryOption = Annotated[bool, typer.Option("--query", help="Print only the concept's SPARQL query.")]
RqOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Write that query to a file.")]

_HOW = {
    "open": "reasoning finds its instances by its definition",
    "closed": "the instances of its query were asserted as its members",
}


def print_learnt(
    graph: mrag.KnowledgeGraph,
    learnt: Learnt,
    format: str,
    query: bool,
    rq: Path | None,
    individual: str | None,
    stored: cel.KeptConcept | None,
    as_json: bool,
) -> None:
    """Print a concept, or its query; then the explanation, and where it is kept."""
    from mrag.cli.concepts import why

    if rq is not None:
        saved_text(rq, cel.instances_query(learnt.expression) + "\n")
    text, reason = ("", None) if individual is None else why(graph, learnt.expression, individual)
    if query and not as_json:
        show_data(cel.instances_query(learnt.expression))
    elif as_json:
        kept = stored.iri if stored else None
        show_json({**learnt.to_json(graph, format), "kept": kept, "explanation": reason})
    else:
        learnt.show(graph, format)
    if text and not as_json:
        show()
        show_lines(text)
    if stored is not None:
        then = "" if graph.reasoned else "; `mrag reason` brings the inferred triples up to date"
        say(f"Kept as <{stored.iri}>: {_HOW[stored.world]}{then}.")


def problem_of(
    graph: mrag.KnowledgeGraph,
    positive: list[str] | None,
    negative: list[str] | None,
    positives: Path | None,
    negatives: Path | None,
    question: str | None,
    top: int,
    bottom: int,
    index: str,
    defined: str | None = None,
    seed: int = 0,
) -> cel.LearningProblem:
    """Return the learning problem of examples by name, by file, from the hits of a question, or of a class.

    Where only positive examples are given, negative ones are drawn, and that is said.

    Raises:
        LearningProblemError: If there are no examples, or they make no learning problem.
    """

    def named(given: list[str] | None, file: Path | None) -> list[str]:
        return [str(rdf.iri(x, graph.prefixes)) for x in [*(given or ()), *_lines(file)]]

    wanted, unwanted = named(positive, positives), named(negative, negatives)
    if defined is not None:
        if wanted or unwanted or question is not None:
            raise LearningProblemError(
                "A class has its own examples.", hint="Give --class, or other examples, not both."
            )
        problem = cel.class_problem(graph, str(rdf.iri(defined, graph.prefixes)), seed=seed)
        drawn = counted(len(problem.negatives), "other individual")
        say(
            f"{counted(len(problem.positives), 'member')} of the class against {drawn}, drawn by seed {seed}."
        )
        return problem
    if question is not None:
        hits = mrag.SimilarityRanker(graph, index).rank(mrag.Question(question), max(100, 2 * (top + bottom)))
        known = cel.individuals_among(graph, [h.iri for h in hits])
        ranked = [h.iri for h in hits if h.iri in known and h.iri not in unwanted]
        wanted += ranked[:top]
        unwanted += ranked[top:][-bottom:]
    elif not wanted and not unwanted:
        raise LearningProblemError(
            "There are no examples.",
            hint="Give some with -p and -n, or --question; see `mrag learn fit --help`.",
        )
    elif not unwanted:
        unwanted = cel.sampled_negatives(graph, wanted, seed=seed)
        drawn = counted(len(unwanted), "individual")
        say(f"No negative examples are given: {drawn} drawn by seed {seed} from all others stand for them.")
    problem = cel.LearningProblem(wanted, unwanted)
    problem.check(graph)
    return problem


def fitted(
    graph: mrag.KnowledgeGraph,
    problem: cel.LearningProblem,
    name: str,
    policy: Path | None,
    seconds: float,
    seed: int,
    measure: str,
    k: int,
    steps: int | None = None,
    max_length: int | None = None,
) -> tuple[list[cel.Hypothesis], cel.FitReport]:
    """Learn, with a bar, and return the hypotheses, best first, and the report.

    Raises:
        LearningProblemError: If no concept tells the examples apart.
    """
    asked = {"policy": None if policy is None else str(policy), "steps": steps, "max_length": max_length}
    given = {key: value for key, value in asked.items() if value is not None}
    with progress(f"Learning ({name})", unit="seconds") as note:
        made = cel.learner(
            name,
            graph,
            on_progress=lambda p: note(int(p.seconds), int(seconds)),
            seconds=seconds,
            seed=seed,
            measure=measure,
            top=k,
            **given,
        )
        found = made.fit(problem)
    report = made.report
    assert report is not None
    for line in report.notes:
        say(line, style="yellow")
    if not found:
        raise LearningProblemError(
            "No concept tells the positive from the negative examples.",
            hint="Give other examples, more time with --seconds, or more properties in a row with --steps.",
        )
    return found, report


def _lines(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        return [line.strip() for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("The examples cannot be read.", file=str(file)) from error


learn_app = Commands(
    help="Class expressions: learn, explain, keep and re-rank by them.",
    epilog="Example: mrag learn fit -p ex:GraphDB -p ex:AllegroGraph -n ex:MySQL -n ex:Redis",
)


@learn_app.command()
def fit(
    positive: PositiveOption = None,
    negative: NegativeOption = None,
    positives: PositivesOption = None,
    negatives: NegativesOption = None,
    question: QuestionOption = None,
    defined: ClassOption = None,
    top: TopOption = 10,
    bottom: BottomOption = 10,
    index: options.IndexOption = "main",
    learner: LearnerOption = "search",
    policy: PolicyOption = None,
    seconds: SecondsOption = 5.0,
    steps: StepsOption = None,
    max_length: MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: MeasureOption = "f1",
    k: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hypotheses shown.")] = 3,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Chat model that polishes the sentence."),
    ] = None,
    format: FormatOption = "dl",
    query: QueryOption = False,
    rq: RqOption = None,
    keep: KeepOption = None,
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
    options.check_choice("format", format, FORMATS)
    from mrag.cli.concepts import Learnt, chat_model, keep_as, polished

    with options.opened(store, kg, lang) as graph:
        examples = (positive, negative, positives, negatives, question, top, bottom, index)
        problem = problem_of(graph, *examples, defined, seed)
        found, report = fitted(graph, problem, learner, policy, seconds, seed, measure, k, steps, max_length)
        learnt = Learnt(
            found[0].expression, tuple(found), report, polished(graph, found[0], chat_model(model))
        )
        stored = None
        if keep is not None and commands.heard():
            # Whoever interrupts a search has not seen what it found.
            say(f"Nothing was kept as {keep!r}.", style="yellow")
        elif keep is not None:
            stored = keep_as(graph, found[0], keep, learner, report)
        print_learnt(graph, learnt, format, query, rq, explain, stored, as_json)


@learn_app.command()
def rerank(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The search whose hits are re-ranked.")],
    hits: Annotated[int, typer.Option("-k", min=1, help="Maximum number of hits.")] = 10,
    concept: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Use this concept instead of learning one: a kept one, or DL or Manchester."
        ),
    ] = None,
    positive: PositiveOption = None,
    negative: NegativeOption = None,
    positives: PositivesOption = None,
    negatives: NegativesOption = None,
    top: TopOption = 10,
    bottom: BottomOption = 10,
    index: options.IndexOption = "main",
    learner: LearnerOption = "search",
    policy: PolicyOption = None,
    seconds: SecondsOption = 5.0,
    steps: StepsOption = None,
    max_length: MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: MeasureOption = "f1",
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME", help="Chat model that polishes and orders the hits."),
    ] = None,
    format: FormatOption = "dl",
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
    options.check_choice("format", format, FORMATS)
    from mrag.cli.concepts import Learnt, chat_model, concept_of, polished, reranked

    with options.opened(store, kg, lang) as graph:
        chat = chat_model(model)
        if concept is not None:
            learnt = Learnt(concept_of(graph, concept))
            ranked = reranked(graph, learnt.expression, (), question, index, hits, chat)
        else:
            problem = problem_of(
                graph, positive, negative, positives, negatives, question, top, bottom, index
            )
            found, report = fitted(
                graph, problem, learner, policy, seconds, seed, measure, 3, steps, max_length
            )
            learnt = Learnt(found[0].expression, tuple(found), report, polished(graph, found[0], chat))
            ranked = reranked(graph, found[0], problem.positives, question, index, hits, chat)
        if as_json:
            show_json({**learnt.to_json(graph, format), **ranked.to_json()})
            return
        learnt.show(graph, format)
        ranked.show()


@learn_app.command("show")
def show_concept(
    concept: ConceptArgument,
    format: FormatOption = "dl",
    query: QueryOption = False,
    rq: RqOption = None,
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
    options.check_choice("format", format, FORMATS)
    from mrag.cli.concepts import Learnt, concept_of

    with options.opened(store, kg, lang) as graph:
        print_learnt(graph, Learnt(concept_of(graph, concept)), format, query, rq, None, None, as_json)


@learn_app.command()
def explain(
    concept: ConceptArgument,
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
    from mrag.cli.concepts import Learnt, concept_of, why

    with options.opened(store, kg, lang) as graph:
        learnt = Learnt(concept_of(graph, concept))
        text, value = why(graph, learnt.expression, individual)
        if as_json:
            show_json({**learnt.to_json(graph, "dl"), "explanation": value})
        else:
            show_lines(text)


@learn_app.command()
def keep(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the class.")],
    concept: ConceptArgument,
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
    from mrag.cli.concepts import Learnt, concept_of, keep_as

    with options.opened(store, kg, lang) as graph:
        learnt = Learnt(concept_of(graph, concept))
        stored = keep_as(graph, learnt.expression, name, "", None)
        print_learnt(graph, learnt, "dl", False, None, None, stored, as_json)


@learn_app.command()
def concepts(
    format: ListFormatOption = "dl",
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
    options.check_choice("format", format, LIST_FORMATS)
    from mrag.cli.concepts import list_concepts

    with options.opened(store, kg, lang) as graph:
        list_concepts(graph, format, as_json=as_json)


@learn_app.command()
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


@learn_app.command()
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
    seconds: SecondsOption = 5.0,
    steps: StepsOption = None,
    max_length: MaxLengthOption = None,
    seed: options.SeedOption = 0,
    measure: MeasureOption = "f1",
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
    from mrag.cli.concepts import run_benchmark

    limits = (seconds, seed, measure, folds, results, steps, max_length)
    run_benchmark(path, data, learner, *limits, as_json=as_json)


train_app = Commands(
    help="Train a concept learner, or a model that generates clues.",
    epilog="Example: mrag train drill --out family.npz --store oxigraph:./family",
)


@train_app.command()
def drill(
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File of the policy; an existing one is trained further."
        ),
    ] = Path("policy.npz"),
    seconds: Annotated[float, typer.Option(min=0.1, help="Time limit.")] = 60.0,
    episodes: Annotated[int, typer.Option(min=1, help="Maximum number of episodes.")] = 200,
    seed: SeedOption = 0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a policy for the concept learner drill.

    Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train drill --out family.npz --store oxigraph:./family
      mrag learn fit --learner drill --policy family.npz -p ex:anna -n ex:bob --store oxigraph:./family
    """

    def kept() -> str:
        if not out.exists():
            return "Nothing was learnt yet. Run the same command again."
        return f"{out} holds what was learnt until its last save; run the same command again to resume."

    with commands.kept(kept), opened(store, kg) as graph:
        before = cel.Policy.load(out, graph) if out.exists() else None
        had = before.episodes if before is not None else 0
        if before is not None:
            say(f"{out} is trained further; it has seen {had} episodes.")
        with progress("Training", unit="episodes") as note:
            policy = cel.train_policy(
                graph,
                cel.PolicyTrainingSettings(episodes=episodes, seconds=seconds, seed=seed),
                policy=before,
                on_progress=lambda p: note(p.episodes - had, episodes),
            )
        policy.save(out)
    if commands.heard():
        done = f"{out} holds the policy after {policy.episodes} episodes"
        raise typer.Exit(commands.told(f"{done}; run the same command again to train it further."))
    if as_json:
        show_json({"policy": str(out), "episodes": policy.episodes, "solved": list(policy.history)})
    else:
        show(f"{out}: {policy.episodes} episodes.")


@train_app.command("generative")
def generative_(
    questions: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="JSON lines with `question` and `document`, the IRI that answers it."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="local:PATH.gguf, or hf:FOLDER_OR_NAME (transformers).",
            envvar="MRAG_CLUE_MODEL",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder of the adapter; an existing one is trained further."
        ),
    ] = Path("clues"),
    epochs: Annotated[int, typer.Option(min=1, help="Passes over all pairs.")] = 3,
    batch: Annotated[int, typer.Option(min=1, help="Pairs in a step.")] = 8,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 3e-4,
    rank: Annotated[int, typer.Option(min=1, help="Rank of the adapter (LoRA).")] = 8,
    clues: Annotated[int, typer.Option(min=1, help="Maximum number of clues drawn for a question.")] = 2,
    length: Annotated[int, typer.Option(min=1, help="Tokens of a clue.")] = 10,
    temperature: Annotated[
        float, typer.Option(help="Below 1, clues with many keywords are preferred.")
    ] = 1.0,
    seed: SeedOption = 0,
    store: StoreOption = None,
    kg: KgOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train a language model to generate clues.

    Ctrl-C keeps what was learnt.

    \b
    Examples:
      mrag train generative --questions asked.jsonl --model local:model.gguf --out clues
      mrag clues search "Who develops GraphDB?" --model local:clues/model.gguf
    """
    from mrag.generative.ranker import clue_texts

    sampling = generative.ClueSampling(starts=clues, length=length, temperature=temperature, seed=seed)
    knobs = generative.TrainingSettings(epochs=epochs, batch=batch, rate=rate, seed=seed)
    asked = generative.read_questions(questions)
    if any(one.picture is not None for one in asked):
        raise ConfigError(
            "The command line cannot train on questions with pictures; Python can.",
            hint="See mrag.generative.training.prefix.PrefixLearner.",
        )
    with status("Opening the model"):
        backbone = generative.open_backbone(model)
    with opened(store, kg) as graph:
        wanted = {one.document for one in asked}
        documents = {
            iri: generative.document_tokens(backbone.tokeniser, text)
            for iri, text in clue_texts(graph)
            if iri in wanted
        }
    pairs = generative.make_pairs(asked, documents, backbone.tokeniser, sampling)
    learner = generative.LoraLearner(backbone.model, generative.LoraSettings(rank=rank), seed=seed)
    with progress("Training", unit="steps") as note:
        outcome = generative.train(
            learner, pairs, out, knobs, on_step=lambda done, total, loss: note(done, total)
        )
    found: dict[str, Any] = {
        "adapter": str(out),
        "pairs": len(pairs),
        "steps": outcome.steps,
        "of": outcome.total,
        "loss": outcome.losses[-1],
        "interrupted": outcome.interrupted,
        "seconds": round(outcome.seconds, 1),
    }
    with status("Writing the model"):
        if backbone.gguf is not None:
            found["model"] = f"local:{generative.write_gguf(backbone.gguf, out, out / 'model.gguf')}"
        else:
            found["model"] = f"hf:{generative.write_folder(learner.model, backbone.own, out / 'model')}"
    if as_json:
        show_json(found)
        return
    steps = f"{outcome.steps} of {outcome.total} steps on {len(pairs)} pairs"
    show(f"{out}: {steps}, loss {outcome.losses[-1]:.3f}")
    show(f"{found['model']}: the trained model, for `mrag clues`")
    if outcome.interrupted:
        raise typer.Exit(commands.told("What was learnt is kept; run the same command again to resume."))
