"""What contradicts an ontology, shown on the terminal and written to a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mrag.cli.shared.output import say
from mrag.diagnosis import example
from mrag.errors import ConfigError
from mrag.terminal import inline
from mrag.text.grammar import counted

if TYPE_CHECKING:
    from mrag.reasoning.clashes import ClashGroup

StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict/--tolerate", help="Infer nothing if triples contradict the ontology, or report them."
    ),
]
_GROUPS = 5


def show_groups(groups: Sequence[ClashGroup]) -> None:
    """Say on standard error what contradicts the ontology.

    Args:
        groups: The contradictions, the largest group first.
    """
    if not groups:
        return
    total = sum(group.count for group in groups)
    say(
        f"{counted(total, 'contradiction')} of the ontology, kept apart from what was inferred:",
        style="yellow",
    )
    for group in groups[:_GROUPS]:
        say(f"  {group.text()}", style="yellow")
        say(f"    such as {example(group)}", style="dim")
    if len(groups) > _GROUPS:
        say(f"  and {len(groups) - _GROUPS} more axioms", style="yellow")
    say("`mrag reason --report FILE` lists them; `mrag remove` takes triples out.", style="dim")


def write_report(file: Path, groups: Sequence[ClashGroup]) -> None:
    """Write all contradictions to a file: JSON if it is named so, else text.

    Args:
        file: The file, which is replaced.
        groups: The contradictions, the largest group first.

    Raises:
        ConfigError: If the file cannot be written.
    """
    if file.suffix == ".json":
        text = json.dumps([group.to_json(examples=100) for group in groups], ensure_ascii=False, indent=2)
    else:
        lines = []
        for group in groups:
            lines.append(group.text())
            lines += [
                "  " + inline("; ".join(" ".join(t.n3() for t in triple) for triple in clash.triples))
                for clash in group.clashes
            ]
        text = "\n".join(lines or ["Nothing contradicts the ontology."])
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            "The report cannot be written.", file=str(file), hint="Check the path and permissions."
        ) from error
