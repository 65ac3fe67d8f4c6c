"""Writes docs/command-line.md from the commands themselves: `python -m tests.docs.reference`."""

from __future__ import annotations

import os
from pathlib import Path

from typer.main import get_command
from typer.testing import CliRunner

from mrag.cli import app

INTRO = """# The command line

Data goes to standard output, progress and notes to standard error. `--json` prints JSON.

Exit codes are 0 for success, 1 for an error (with one line that says what to do), 2 for misuse, 130 after
Ctrl-C and 143 after SIGTERM (with one line that states what is kept). If a command is stopped or killed, or
the disk is full, each of its steps is either complete or undone; run the same command again to do the rest.

Control characters are [made visible](security.md#what-a-terminal-gets) in text and escaped in data.
`MRAG_STORE`, `MRAG_KG`, `MRAG_MODEL` and `MRAG_EMBEDDER` set defaults of options.
"""


def reference() -> str:
    """Return the page."""
    parts = [INTRO]
    command = get_command(app)
    for name in command.list_commands(None):  # type: ignore[attr-defined, arg-type]
        known = command.get_command(None, name)  # type: ignore[attr-defined, arg-type]
        parts.append(_section(name))
        below = known.list_commands(None) if hasattr(known, "list_commands") else ()
        parts += [_section(name, inner) for inner in below]
    return "\n".join(parts)


def _section(*names: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100"}
    shown = CliRunner().invoke(app, [*names, "--help"], env=environment)
    text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
    title = f"{'#' * (len(names) + 1)} mrag {' '.join(names)}"
    return f"{title}\n\n```\n{text.replace('Usage: root', 'Usage: mrag')}\n```\n"


if __name__ == "__main__":
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    page.write_text(reference(), encoding="utf-8")
