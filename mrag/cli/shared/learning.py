"""What the verbs of `mrag learn` share: options, the learning problem, the fit, and what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import mrag
from mrag import cel, rdf
from mrag.cli.shared.output import progress, say, show, show_data, show_json, show_lines
from mrag.errors import ConfigError, LearningProblemError
from mrag.storage.files import saved_text
from mrag.text.grammar import counted

if TYPE_CHECKING:
    from mrag.cli.shared.concepts import Learnt

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
    from mrag.cli.shared.concepts import why

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
