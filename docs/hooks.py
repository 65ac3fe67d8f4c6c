"""Pages that are generated while the site is built: references, and files from the root of the repository."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "mrag",
    "mrag.cel",
    "mrag.completion",
    "mrag.evaluation",
    "mrag.generation",
    "mrag.generative",
    "mrag.graphcodes",
    "mrag.images",
    "mrag.stores",
)
FROM_THE_ROOT = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
COMMAND_LINE = """# The command line

Data goes to standard output; progress and notes go to standard error. The exit code is 0 for success, 1 for
an error (one line says what to do), 2 for misuse, 130 after Ctrl-C and 143 after SIGTERM.

An interrupted command says what has been kept. Each of its steps is either complete or undone, even if the
process was killed or the disk was full, and the same command resumes with the rest.

`--json` prints JSON. Characters that could control a terminal are
[made visible](security.md#what-a-terminal-gets) in text and escaped in data. `MRAG_STORE`, `MRAG_KG`,
`MRAG_MODEL`, `MRAG_EMBEDDER`, `MRAG_ANALYSER`, `MRAG_INDEX` (`--backend`) and `MRAG_PLANNER` set the
defaults of the corresponding options.
"""
_LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the notebooks."""
    from mkdocs.structure.files import File

    for package in PACKAGES:
        text = f"# {package}\n\n::: {package}\n"
        files.append(File.generated(config, f"reference/{package}.md", content=text))
    files.append(File.generated(config, "command-line.md", content=command_line()))
    for name, page in FROM_THE_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        uri = f"notebooks/{path.name}"
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point links that leave docs/, or come from the root of the repository, to their place in the site."""
    uri = page.file.src_uri
    root_pages = {site: name for name, site in FROM_THE_ROOT.items()}
    source = root_pages.get(uri, f"docs/{uri}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
        place = FROM_THE_ROOT.get(target, target.removeprefix("docs/"))
        return link[1] + posixpath.relpath(place, posixpath.dirname(uri) or ".")

    return _LINK.sub(moved, markdown)


def command_line() -> str:
    """Return the reference of the command line, made from the commands themselves."""
    from typer.main import get_command

    from mrag.cli import app

    return "\n".join([COMMAND_LINE, *_sections(get_command(app))])


def _sections(command: Any, *names: str) -> Iterator[str]:
    from typer.testing import CliRunner

    from mrag.cli import app

    if names:
        environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100"}
        output = CliRunner().invoke(app, [*names, "--help"], env=environment).output
        text = "\n".join(line.rstrip() for line in output.strip().splitlines())
        usage = text.replace("Usage: root", "Usage: mrag", 1)
        yield f"{'#' * (len(names) + 1)} mrag {' '.join(names)}\n\n```text\n{usage}\n```\n"
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from _sections(command.get_command(None, name), *names, name)
