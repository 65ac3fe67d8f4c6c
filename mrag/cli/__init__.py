"""The `mrag` command: data on standard output, progress on standard error, exit codes 0, 1 and 2."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from mrag.cli import (
    asking,
    completing,
    data,
    evaluating,
    generative,
    graphcodes,
    images,
    learning,
    pictures,
    serving,
    training,
)
from mrag.cli.health import doctor
from mrag.cli.tools import mcp

app = typer.Typer(
    name="mrag",
    help="Ask a knowledge graph, and see which triples made each answer right.\n\n"
    "With no store named, commands use a demo graph of database products and their vendors.",
    epilog='Example: mrag ask "What database products are linked to RDF?"',
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from mrag import __version__

        sys.stdout.write(f"mrag {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what happens inside.")] = False,
) -> None:
    """Set what holds for every command."""
    import logging

    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, format="%(message)s")


_COMMANDS: tuple[Callable[..., None], ...] = (
    data.load,
    data.create,
    data.reason,
    data.index,
    images.views,
    pictures.describe,
    asking.ask,
    asking.search,
    asking.query,
    asking.explain,
    asking.verify,
    completing.complete,
    learning.learn,
    training.train,
    doctor,
    mcp,
    serving.serve,
)
for _command in _COMMANDS:
    app.command()(_command)
app.command("import")(images.import_)
app.add_typer(graphcodes.app, name="codes")
app.command("eval")(evaluating.evaluate)
app.command("benchmark")(evaluating.benchmark)
app.add_typer(generative.clues)


def main() -> None:
    """Run the command line; errors of this package end with code 1 and one line of text."""
    from mrag.errors import MragError

    try:
        app()
    except MragError as error:
        sys.stderr.write(f"mrag: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("mrag: interrupted; nothing half-done was kept.\n")
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has had enough.
        sys.stderr.close()
        sys.exit(0)
