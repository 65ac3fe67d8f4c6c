"""`mrag verify`: a saved answer or a receipt is checked, against the graph or by its signature alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import mrag
from mrag.cli.shared import options
from mrag.cli.shared.output import progress, show_json, show_lines
from mrag.errors import ConfigError, ModelError


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Output of `mrag ask --json`, or a receipt.")],
    store: options.StoreOption = None,
    kg: options.KgOption = None,
    no_store: Annotated[
        bool, typer.Option("--no-store", help="Check a receipt by its signature alone, without the graph.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail too if a part is neither recomputed nor signed.")
    ] = False,
    receipt: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write the receipt of the check, signed if there is a key."),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Check a saved answer, or the receipt of one.

    Its triples must be there, and all that it says is made again from them and compared. What cannot be made
    again is named as not checked, unless a key that you trust vouches for it.

    \b
    Examples:
      mrag ask --json "Who develops GraphDB?" > answer.json && mrag verify answer.json
      mrag verify answer.json --receipt receipt.jsonld
      mrag verify receipt.jsonld --no-store --strict
    """
    given = _read(file)
    if no_store:
        from mrag.generation.receipts import checked_alone

        if receipt is not None:
            raise typer.BadParameter("A receipt is of a check against the graph.", param_hint="--receipt")
        report = checked_alone(given)
    else:
        with options.opened(store, kg) as graph:
            report = mrag.verify(graph, given)
            if receipt is not None:
                from mrag.retrieval.verifying import receipt_of

                made = receipt_of(graph, given, report)
                receipt.write_text(json.dumps(made, ensure_ascii=False, indent=1), encoding="utf-8")
                progress(f"The receipt is {'signed' if 'proof' in made else 'not signed'}: {receipt}")
    show_json(report.to_json()) if as_json else show_lines(str(report))
    if not report.ok or (strict and not report.complete):
        raise typer.Exit(1)


def _read(file: Path) -> dict[str, Any]:
    from mrag.generation.result import parse

    try:
        given = parse(file.read_bytes())
    except (OSError, ModelError) as error:
        said = error.message if isinstance(error, ModelError) else f"Not JSON: {error}."
        raise ConfigError(said, file=str(file), hint="Save the output of `mrag ask --json`.") from error
    if not isinstance(given, dict):
        raise ConfigError(
            "Not the JSON form of an answer.", file=str(file), hint="Save the output of `mrag ask --json`."
        )
    return given
