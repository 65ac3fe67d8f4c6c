"""`mrag eval questions`: how well questions with gold answers are answered."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, cast

import typer

from mrag import evaluation
from mrag.cli.shared import options
from mrag.cli.shared.output import progress, say, show_json, show_lines
from mrag.cli.shared.stopping import kept
from mrag.errors import ConfigError
from mrag.storage.files import saved_text

HOWS = ("auto", "plan", "read")


def questions(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Questions with gold answers, a JSON object a line; repeatable."),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=VALUE", help="Only questions with this field; repeatable."),
    ] = None,
    how: Annotated[
        str, typer.Option("--how", metavar="auto|plan|read", help="Way of answering, as for `mrag ask`.")
    ] = "auto",
    model: Annotated[
        str, typer.Option("--model", "-m", help="Language model, as for `mrag ask`; none by default.")
    ] = "none",
    out: Annotated[
        Path | None,
        typer.Option(help="File for the answers, a JSON object a line; an interrupted run resumes."),
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap samples.")] = 10_000,
    seed: options.SeedOption = 0,
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    index: options.IndexOption = "main",
    lang: options.LanguageOption = options.DEFAULT_LANGUAGES,
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate the answers to questions with gold answers.

    A line has `question` and `answers`, a list of rows or of values; without `answers` the right thing is to
    say that the graph has no answer. Also read: `id`, `category`, `alternatives`, `choice_columns`,
    `ordered` and `order_groups`.

    \\b
    Examples:
      mrag eval questions questions.jsonl --store oxigraph:./data
      mrag eval questions questions.jsonl --how plan --out predictions.jsonl --json
      mrag eval questions a.jsonl unanswerable.jsonl --only db=a --store ./a.db
    """
    from mrag.retrieval.routing import How

    options.check_choice("way", how, HOWS)
    wanted = dict(part.split("=", 1) for part in only or () if "=" in part)
    if len(wanted) < len(only or ()):
        raise ConfigError("Not a field and its value.", term=" ".join(only or ()), hint="Write FIELD=VALUE.")
    asked = evaluation.read_questions(files, only=wanted)
    if out is not None and not out.parent.is_dir():
        raise ConfigError("There is no such folder.", file=str(out.parent))
    journal = None if out is None else out.with_name(f"{out.name}.journal")
    resumes = (
        nullcontext() if out is None else kept("Run the same command again: no question is asked twice.")
    )
    with options.opened(store, kg, lang) as graph, progress("Asking", unit="questions") as note, resumes:
        found = evaluation.evaluate_questions(
            graph, asked, how=cast(How, how), model=model, index=index, journal=journal,
            resampling=evaluation.Resampling(resamples=resamples, seed=seed),
            title=", ".join(path.stem for path in files), on_progress=note,
        )  # fmt: skip
    if out is not None and journal is not None:
        lines = [json.dumps(prediction, ensure_ascii=False) + "\n" for prediction in found.predictions]
        saved_text(out, "".join(lines))
        journal.unlink(missing_ok=True)
        say(f"The answers are in {out}.", style="dim")
    show_json(found.to_json()) if as_json else show_lines(found.to_markdown().rstrip())
