"""`mrag questions`: questions are saved with their plans, run again with other names, and removed."""

from __future__ import annotations

import getpass
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

import mrag
from mrag import evaluation, planning
from mrag.cli.shared import options
from mrag.cli.shared.answers import show_answer
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.output import progress, say, show, show_json
from mrag.errors import ConfigError

app = Commands(
    help="Save questions with their plans, run them again with other names, and calibrate.",
    epilog='Example: mrag questions save "Who develops GraphDB?" && mrag questions list',
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the saved question.")]
NameOption = Annotated[str, typer.Option("--name", help="What to call it. Default: its words.")]
AuthorOption = Annotated[
    str | None, typer.Option("--by", help="Who saves it. Default: the name that you are logged in by.")
]


@app.command()
def save(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    name: NameOption = "",
    reading: Annotated[int, typer.Option(min=1, help="Which of its readings is right.")] = 1,
    by: AuthorOption = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a question of this name.")] = False,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Save a question with the plan that answers it; later questions of the same words are read like it.

    \b
    Example:
      mrag questions save "Which products does Ontotext develop?" --name "products of a vendor"
    """
    with options.opened(store, kg, lang) as graph:
        _show(teach(graph, question, reading, name=name, by=by, replacing=replace), as_json=as_json)


@app.command("list")
def list_(
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """List the saved questions: name, template, parameters, reading, who saved them and when.

    \b
    Example:
      mrag questions list --json
    """
    with options.opened(store, kg, lang) as graph:
        every = planning.list_questions(graph)
    if as_json:
        show_json([saved.to_json() for saved in every])
        return
    for saved in every:
        _show(saved, as_json=False)
    if not every:
        say("No question is saved.")


@app.command()
def run(
    name: NameArgument,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    with_: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PARAMETER=NAME", help="What to ask for instead; repeatable."),
    ] = None,
    sparql: Annotated[bool, typer.Option("--sparql", help="Show the query that was run too.")] = False,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Answer a saved question, with other names where they are given.

    \b
    Example:
      mrag questions run "products of a vendor" --with company="Stardog Union"
    """
    values = {}
    for given in with_ or ():
        parameter, equals, value = given.partition("=")
        if not equals:
            raise typer.BadParameter(f"{given!r} is not PARAMETER=NAME.", param_hint="'--with'")
        values[parameter.strip()] = value.strip()
    with options.opened(store, kg, lang) as graph:
        answer = planning.run_question(graph, name, values)
    show_answer(answer, sparql=sparql, context=False, as_json=as_json)


@app.command()
def remove(
    name: NameArgument,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
) -> None:
    """Remove a saved question.

    \b
    Example:
      mrag questions remove "products of a vendor"
    """
    with options.opened(store, kg, lang) as graph:
        planning.remove_question(graph, name)
    say(f"Removed: {name}")


@app.command()
def calibrate(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help="Questions with `answers`, a JSON object a line."),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Go back to the weights that ship, without questions.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how well it fits.")] = False,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Fit how certain computed answers are to questions whose answers are known.

    The weights are kept with the graph, and `mrag ask` uses them from then on; 50 questions or more are
    best. Shown is how many answers of which certainty are right, before and after: after, each by weights
    that were fitted without its question. The files are those of `mrag eval questions`.

    \b
    Examples:
      mrag questions calibrate questions.jsonl --store ./data
      mrag questions calibrate questions.jsonl --dry-run --json
      mrag questions calibrate --forget
    """
    from mrag.planning.certainty import keep_certainty

    if forget == bool(files):
        raise typer.BadParameter("Give files, or --forget.", param_hint="'FILE'")
    if forget:
        with options.opened(store, kg, lang) as graph:
            keep_certainty(graph, None)
        say("The weights that ship are used.")
        return
    asked = evaluation.read_questions(files or [])
    with options.opened(store, kg, lang) as graph, progress("Computing", unit="questions") as note:
        found = evaluation.calibrate_answers(graph, asked, keep=not dry_run, on_progress=note)
    if as_json:
        show_json(found.to_json())
        return
    show(f"{found.questions:,} questions: {found.answered:,} are answered, {found.right:,} rightly.")
    for title, buckets in (("as shipped", found.before), ("calibrated", found.after)):
        show(f"Certainty {title}:")
        for b in buckets:
            span, expected = f"{b.low:.1f} to {b.high:.1f}", b.expected / b.answers
            show(f"  {span}: {b.right:,} of {b.answers:,} are right, expected {expected:.0%}")
    say("Nothing was kept." if dry_run else "The weights are kept with the graph.")


def teach(
    graph: mrag.KnowledgeGraph,
    question: str,
    reading: int | None,
    *,
    name: str = "",
    by: str | None = None,
    replacing: bool = False,
) -> planning.SavedQuestion:
    """Save a question in one of its readings.

    Args:
        graph: The graph.
        question: The question.
        reading: The number of the right reading; None to ask for it.
        name: What to call it.
        by: Who saves it; by default the name of the login.
        replacing: Whether another question of this name may be replaced.

    Raises:
        ConfigError: If it cannot be computed, or no reading is chosen.
    """
    # What was taught before must not hide what else may be right.
    attempt = planning.compute(graph, question, reading=reading or 1, learnt=False)
    if attempt.answer is None or attempt.answer.computed is None:
        raise ConfigError(f"There is no plan to save: {attempt.why}.")
    answer, computed = attempt.answer, attempt.answer.computed
    if reading is None:
        numbered = {1: computed.reading, **{other.number: other.reading for other in computed.readings}}
        for number, words in numbered.items():
            show(f"{number}: {words}")
        sys.stderr.write(f"Which reading is right ({', '.join(map(str, numbered))}; nothing for none)? ")
        sys.stderr.flush()
        chosen = sys.stdin.readline().strip()
        if chosen not in map(str, numbered):
            raise ConfigError("No reading was chosen, so nothing is saved.")
        if chosen != "1":
            taken = planning.compute(graph, question, reading=int(chosen), learnt=False).answer
            answer = taken or answer
    if by is None:
        by = ""
        with suppress(OSError, KeyError, ImportError):  # a container may have no such user
            by = getpass.getuser()
    return planning.save_question(graph, answer, name, author=by, replacing=replacing)


def _show(saved: planning.SavedQuestion, *, as_json: bool) -> None:
    value = saved.to_json()
    if as_json:
        show_json(value)
        return
    show(f"{saved.name}: {value['template']}")
    for parameter, label in value["parameters"].items():
        show(f"  {parameter} = {label}")
    show(f"  read as: {saved.reading}")
    show(f"  saved {saved.saved}{f' by {saved.author}' if saved.author else ''}")
