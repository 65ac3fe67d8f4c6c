"""`mrag learn` and `mrag train`: class expressions are learnt from examples, and models are trained."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer import Argument, Option

import mrag
from mrag import cel, context, generative, rdf
from mrag.cli import commands, options
from mrag.cli.commands import Commands
from mrag.cli.output import progress, say, show, show_data, show_json, show_lines, status
from mrag.errors import ConfigError, LearningProblemError, check_choice
from mrag.language.grammar import count_words
from mrag.storage.files import save_text

FORMATS = ("dl", "manchester", "turtle")
LIST_FORMATS = (*FORMATS, "rdfxml", "functional")


@dataclass(frozen=True)
class Examples:
    """What a concept is learnt from, beside the hits of a question."""

    positive: Annotated[list[str] | None, Option("--positive", "-p", metavar="IRI")] = None
    negative: Annotated[list[str] | None, Option("--negative", "-n", metavar="IRI")] = None
    positives: Annotated[Path | None, Option(metavar="FILE")] = None
    negatives: Annotated[Path | None, Option(metavar="FILE")] = None
    top: Annotated[int, Option(min=1)] = 10
    bottom: Annotated[int, Option(min=1)] = 10
    index: str = "main"


@dataclass(frozen=True)
class Learning:
    """Which learner learns, and how far it goes."""

    learner: str = "search"
    seconds: Annotated[float, Option(min=0.01)] = 5.0
    steps: Annotated[int | None, Option(min=1)] = None
    max_length: Annotated[int | None, Option(min=1)] = None
    seed: int = 0
    measure: str = "f1"


@dataclass(frozen=True)
class Notation:
    """How a concept is printed."""

    format: str = "dl"
    query: bool = False
    rq: Annotated[Path | None, Option(metavar="FILE")] = None


_HOW = {
    "open": "reasoning finds its instances by its definition",
    "closed": "the instances of its query were asserted as its members",
}


def print_learnt(
    graph: mrag.KnowledgeGraph,
    learnt: Learnt,
    notation: Notation,
    individual: str | None,
    stored: cel.KeptConcept | None,
    as_json: bool,
) -> None:
    """Print a concept, or its query; then the explanation, and where it is kept."""
    query = cel.instances_query(learnt.expression)
    if notation.rq is not None:
        save_text(notation.rq, query + "\n")
    text, reason = ("", None) if individual is None else why(graph, learnt.expression, individual)
    if as_json:
        kept = stored.iri if stored else None
        show_json({**learnt.to_json(graph, notation.format), "kept": kept, "explanation": reason})
    elif notation.query:
        show_data(query)
    else:
        learnt.show(graph, notation.format)
    if text and not as_json:
        show()
        show_lines(text)
    if stored is not None:
        then = "" if graph.reasoned else "; `mrag reason` brings the inferred triples up to date"
        say(f"Kept as <{stored.iri}>: {_HOW[stored.world]}{then}.")


def problem_of(
    graph: mrag.KnowledgeGraph, given: Examples, question: str | None, defined: str | None, seed: int
) -> cel.LearningProblem:
    """Return the learning problem of examples by name, by file, of a question's hits, or of a class."""

    def all_names(names: list[str] | None, file: Path | None) -> list[str]:
        return [str(rdf.iri(x, graph.prefixes)) for x in [*(names or ()), *_lines(file)]]

    wanted, unwanted = all_names(given.positive, given.positives), all_names(given.negative, given.negatives)
    if defined is not None:
        if wanted or unwanted or question is not None:
            raise LearningProblemError(
                "A class has its own examples.", hint="Give --class, or other examples, not both."
            )
        problem = cel.class_problem(graph, str(rdf.iri(defined, graph.prefixes)), seed=seed)
        members = count_words(len(problem.positives), "member")
        drawn = count_words(len(problem.negatives), "other individual")
        say(f"{members} of the class against {drawn}, drawn by seed {seed}.")
        return problem
    if question is not None:
        wide = max(100, 2 * (given.top + given.bottom))
        hits = mrag.SimilarityRanker(graph, given.index).rank(mrag.Question(question), wide)
        known = cel.individuals_among(graph, [h.iri for h in hits])
        ranked = [h.iri for h in hits if h.iri in known and h.iri not in unwanted]
        wanted += ranked[: given.top]
        unwanted += ranked[given.top :][-given.bottom :]
    elif not wanted and not unwanted:
        raise LearningProblemError(
            "There are no examples.",
            hint="Give some with -p and -n, or --question; see `mrag learn fit --help`.",
        )
    elif not unwanted:
        unwanted = cel.sample_negatives(graph, wanted, seed=seed)
        drawn = count_words(len(unwanted), "individual")
        say(f"No negative examples are given: {drawn} drawn by seed {seed} from all others stand for them.")
    problem = cel.LearningProblem(wanted, unwanted)
    problem.check(graph)
    return problem


def fit_learner(graph: mrag.KnowledgeGraph, problem: cel.LearningProblem, how: Learning, k: int) -> Learnt:
    """Learn, with a bar, and return the hypotheses, best first, with the report."""
    asked = {"steps": how.steps, "max_length": how.max_length}
    given = {key: value for key, value in asked.items() if value is not None}
    with progress(f"Learning ({how.learner})", unit="seconds") as note:
        made = cel.learner(
            how.learner, graph, on_progress=lambda p: note(int(p.seconds), int(how.seconds)),
            seconds=how.seconds, seed=how.seed, measure=how.measure, top=k, **given,
        )  # fmt: skip
        hypotheses = made.fit(problem)
    report = made.report
    assert report is not None
    for line in report.notes:
        say(line, style="yellow")
    if not hypotheses:
        raise LearningProblemError(
            "No concept tells the positive from the negative examples.",
            hint="Give other examples, more time with --seconds, or more properties in a row with --steps.",
        )
    return Learnt(hypotheses[0].expression, tuple(hypotheses), report)


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
    place: options.LabelledPlace,
    examples: Examples,
    learning: Learning,
    notation: Notation,
    question: Annotated[str | None, Option(metavar="TEXT")] = None,
    defined: Annotated[str | None, Option("--class", metavar="IRI")] = None,
    k: Annotated[int, Option("-k", min=1)] = 3,
    keep: Annotated[str | None, Option(metavar="NAME")] = None,
    explain: Annotated[str | None, Option(metavar="IRI")] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Learn the concept that examples share.

    Examples are IRIs, files of IRIs, hits of a search, or the members of a class. If no negative ones are
    given, other individuals are drawn.
    """
    check_choice("format", notation.format, FORMATS)
    with place.open() as graph:
        problem = problem_of(graph, examples, question, defined, learning.seed)
        learnt = fit_learner(graph, problem, learning, k)
        stored = None
        if keep is not None and commands.stop_signal():
            # Whoever interrupts a search has not seen what it found.
            say(f"Nothing was kept as {keep!r}.", style="yellow")
        elif keep is not None:
            stored = keep_as(graph, learnt.hypotheses[0], keep, learning.learner, learnt.report)
        print_learnt(graph, learnt, notation, explain, stored, as_json)


@learn_app.command()
def rerank(
    question: str,
    place: options.LabelledPlace,
    examples: Examples,
    learning: Learning,
    hits: Annotated[int, Option("-k", min=1)] = 10,
    concept: Annotated[str | None, Option(metavar="TEXT")] = None,
    format: str = "dl",
    as_json: options.JsonOption = False,
) -> None:
    """Re-rank the hits of a search by a concept.

    The hits in the concept come first. It is learnt from the first and last hits, unless --concept gives one.
    """
    check_choice("format", format, FORMATS)
    with place.open() as graph:
        if concept is not None:
            learnt = Learnt(concept_of(graph, concept))
            ranked = rerank_hits(graph, learnt.expression, question, examples.index, hits)
        else:
            problem = problem_of(graph, examples, question, None, 0)
            learnt = fit_learner(graph, problem, learning, 3)
            ranked = rerank_hits(graph, learnt.hypotheses[0], question, examples.index, hits)
        if as_json:
            show_json({**learnt.to_json(graph, format), "hits": ranked})
            return
        learnt.show(graph, format)
        show("")
        for hit in ranked:
            mark = "✓" if hit["in_concept"] else "✗"
            show(f"{hit['rank']:>3}  {mark}  {hit['label']}  <{hit['iri']}>")


@learn_app.command("show")
def show_concept(
    concept: str, place: options.LabelledPlace, notation: Notation, as_json: options.JsonOption = False
) -> None:
    """Print a concept and its sentence, or its query."""
    check_choice("format", notation.format, FORMATS)
    with place.open() as graph:
        print_learnt(graph, Learnt(concept_of(graph, concept)), notation, None, None, as_json)


@learn_app.command()
def explain(
    concept: str,
    individual: Annotated[str, Argument(metavar="IRI")],
    place: options.LabelledPlace,
    as_json: options.JsonOption = False,
) -> None:
    """Explain why an individual is in a concept or not."""
    with place.open() as graph:
        learnt = Learnt(concept_of(graph, concept))
        text, value = why(graph, learnt.expression, individual)
        if as_json:
            show_json({**learnt.to_json(graph, "dl"), "explanation": value})
        else:
            show_lines(text)


@learn_app.command()
def keep(name: str, concept: str, place: options.LabelledPlace, as_json: options.JsonOption = False) -> None:
    """Keep a concept as a class of the graph."""
    with place.open() as graph:
        learnt = Learnt(concept_of(graph, concept))
        stored = keep_as(graph, learnt.expression, name, "", None)
        print_learnt(graph, learnt, Notation(), None, stored, as_json)


@learn_app.command()
def concepts(place: options.LabelledPlace, format: str = "dl", as_json: options.JsonOption = False) -> None:
    """List the kept concepts.

    In Turtle, RDF/XML and functional syntax they form an ontology.
    """
    check_choice("format", format, LIST_FORMATS)
    with place.open() as graph:
        kept = cel.list_concepts(graph)
        if as_json:
            names = ("iri", "label", "comment", "query", "world", "learner")
            show_json(
                [
                    {
                        **{name: getattr(c, name) for name in names},
                        "concept": _write(graph, c.expression, "dl"),
                        "kept": c.kept.isoformat(),
                        **(_quality(c.hypothesis) if c.hypothesis else {}),
                    }
                    for c in kept
                ]
            )
        elif format in ("turtle", "rdfxml", "functional"):
            show_data(cel.to_ontology(graph, kept, cast(Any, format)).rstrip())
        else:
            for c in kept:
                quality = f", {c.hypothesis.measure} {c.hypothesis.quality:.3f}" if c.hypothesis else ""
                show(f"{c.label}  <{c.iri}>")
                show(f"  {_write(graph, c.expression, format)}{quality}")
            if not kept:
                say("No concept is kept.")


@learn_app.command()
def forget(name: str, place: options.Place) -> None:
    """Remove a kept concept."""
    with place.open() as graph:
        if not cel.remove_concept(graph, name):
            raise ConfigError("No such concept is kept.", term=name, hint="`mrag learn concepts` lists them.")
        say(f"Removed {name}." + ("" if graph.reasoned else " Run `mrag reason` to update the inferences."))


def concept_of(graph: mrag.KnowledgeGraph, text: str) -> cel.Expression:
    """Return the concept that a text names or writes in DL or Manchester syntax."""
    try:
        named = cel.find_concept(graph, text)
    except (ConfigError, ValueError):
        named = None
    if named is not None:
        return named.expression
    if any(sign in text for sign in "⊤⊥¬⊓⊔∃∀≥≤⁻"):
        return cel.from_dl(text, graph.prefixes)
    try:
        return cel.from_manchester(text, graph.prefixes)
    except ConfigError as error:
        what = f"This is neither a kept concept nor one in DL or Manchester syntax: {error.message}"
        raise ConfigError(what, hint=error.hint) from error


def keep_as(
    graph: mrag.KnowledgeGraph,
    what: cel.Hypothesis | cel.Expression,
    name: str,
    learner: str,
    report: cel.FitReport | None,
) -> cel.KeptConcept:
    """Keep a concept under a name."""
    seconds = report.seconds if report else 0.0
    comment = cel.sentence(graph, what)
    return cel.keep_concept(graph, what, name, comment=comment, learner=learner, seconds=seconds)


def _quality(h: cel.Hypothesis) -> dict[str, Any]:
    c = h.counts
    about = {"measure": h.measure, "quality": h.quality, "length": h.length}
    about |= {} if h.estimate is None else {"estimate": h.estimate}
    about |= {"positives": c.positives, "positives_held": c.tp}
    return {**about, "negatives": c.negatives, "negatives_held": c.fp}


@dataclass(frozen=True)
class Learnt:
    """A concept, and how it was learnt."""

    expression: cel.Expression
    hypotheses: tuple[cel.Hypothesis, ...] = ()
    report: cel.FitReport | None = None

    def to_json(self, graph: mrag.KnowledgeGraph, format: str) -> dict[str, Any]:
        """Return the concept with its query, the other hypotheses and the report as values of JSON."""
        r = self.report
        names = ("tested", "stopped", "solved", "notes")
        return {
            "concept": _write(graph, self.expression, format),
            "sentence": self._sentence(graph),
            "query": cel.instances_query(self.expression),
            "hypotheses": [
                {"concept": _write(graph, h.expression, format), **_quality(h)} for h in self.hypotheses
            ],
            "report": r and {name: getattr(r, name) for name in names} | {"seconds": round(r.seconds, 3)},
        }

    def show(self, graph: mrag.KnowledgeGraph, format: str) -> None:
        """Print the concept for people; beside Turtle, the rest goes where notes go."""
        put = say if format == "turtle" else show
        (show_data if format == "turtle" else show)(_write(graph, self.expression, format))
        put(self._sentence(graph))
        if self.report is None:
            return
        best, *others = self.hypotheses
        solved = "" if best.solved else "; no concept without mistakes was found, this is the best"
        expected = "" if best.estimate is None else f", {best.estimate:.3f} expected on other examples"
        put(f"{best.measure} {best.quality:.3f}{expected}, length {best.length}{solved}")
        for h in others:
            put(f"  {h.quality:.3f}  length {h.length:>2}  {_write(graph, h.expression, 'dl')}")
        r = self.report
        tested = f"{r.tested:,} {'hypothesis' if r.tested == 1 else 'hypotheses'}"
        say(f"{tested} in {r.seconds:.2f} s; ended: {r.stopped}.", style="dim")

    def _sentence(self, graph: mrag.KnowledgeGraph) -> str:
        return cel.sentence(graph, self.hypotheses[0] if self.hypotheses else self.expression)


def why(
    graph: mrag.KnowledgeGraph, expression: cel.Expression, individual: str
) -> tuple[str, dict[str, Any]]:
    """Return why an individual is in a concept or not, as text and as values of JSON."""
    reason = cel.why_satisfied(graph, expression, individual)
    return reason.render(context.Display(graph).name), reason.to_json()


def _write(graph: mrag.KnowledgeGraph, expression: cel.Expression, format: str) -> str:
    if format == "turtle":
        return cel.to_turtle(expression, prefixes=graph.prefixes)
    return (cel.to_dl if format == "dl" else cel.to_manchester)(expression, graph.prefixes)


def rerank_hits(
    graph: mrag.KnowledgeGraph, concept: cel.Hypothesis | cel.Expression, question: str, index: str, k: int
) -> list[dict[str, Any]]:
    """Re-rank the hits of a question by a concept, and return the first as values of JSON."""
    ranking = mrag.SimilarityRanker(graph, index).rank(mrag.Question(question), max(100, k))
    display = context.Display(graph)
    result = cel.rerank_by_concept(graph, ranking, concept)
    return [
        {"rank": h.rank, "iri": h.iri, "label": display.entity(h.iri), "score": h.score}
        | {"in_concept": h.iri in result.covered}
        for h in result.hits[:k]
    ]


train_app = Commands(
    help="Train a model that generates clues.",
    epilog="Example: mrag train generative --questions asked.jsonl --model local:model.gguf --out clues",
)


@train_app.command("generative")
def generative_(
    questions: Annotated[Path, Option(metavar="FILE")],
    model: Annotated[str, Option("--model", "-m", envvar="MRAG_CLUE_MODEL")],
    place: options.Place,
    out: Annotated[Path, Option("--out", "-o", metavar="FOLDER")] = Path("clues"),
    epochs: Annotated[int, Option(min=1)] = 3,
    batch: Annotated[int, Option(min=1)] = 8,
    rate: float = 0.0003,
    rank: Annotated[int, Option(min=1)] = 8,
    clues: Annotated[int, Option(min=1)] = 2,
    length: Annotated[int, Option(min=1)] = 10,
    temperature: float = 1.0,
    seed: int = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Train a language model to generate clues.

    Ctrl-C keeps what was learnt.
    """
    sampling = generative.ClueSampling(starts=clues, length=length, temperature=temperature, seed=seed)
    knobs = generative.TrainingSettings(epochs=epochs, batch=batch, rate=rate, seed=seed)
    asked = generative.read_questions(questions)
    with status("Opening the model"):
        backbone = generative.open_backbone(model)
    with place.open() as graph:
        wanted = {one.document for one in asked}
        documents = {
            iri: generative.document_tokens(backbone.tokeniser, text)
            for iri, text in generative.decoding.clue_texts(graph)
            if iri in wanted
        }
    pairs = generative.make_pairs(asked, documents, backbone.tokeniser, sampling)
    learner = generative.LoraLearner(backbone.model, generative.LoraSettings(rank=rank), seed=seed)
    with progress("Training", unit="steps") as note:
        outcome = generative.train(
            learner, pairs, out, knobs, on_step=lambda done, total, loss: note(done, total)
        )
    with status("Writing the model"):
        trained = f"hf:{generative.write_folder(learner.model, backbone.tokeniser.own, out / 'model')}"
    first, loss = outcome.losses[0], outcome.losses[-1]
    if as_json:
        about = {"adapter": str(out), "model": trained, "pairs": len(pairs), "steps": outcome.steps}
        about |= {"of": outcome.total, "loss": loss, "interrupted": outcome.interrupted}
        show_json({**about, "seconds": round(outcome.seconds, 1)})
        return
    fell = f"loss {first:.3f} at first, {loss:.3f} now"
    show(f"{out}: {outcome.steps} of {outcome.total} steps on {len(pairs)} pairs, {fell}")
    show(f"{trained}: the trained model")
    say(f"Next: `mrag clues build --model {trained}`, then `mrag clues search` with it.", style="dim")
    if outcome.interrupted:
        raise typer.Exit(
            commands.report_stop("What was learnt is kept; run the same command again to resume.")
        )
