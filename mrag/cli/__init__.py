"""The `mrag` command: data on standard output, progress on standard error, exit codes 0, 1 and 2."""

from __future__ import annotations

import atexit
import gc
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.main import get_group

from mrag._tables import rows
from mrag.cli import commands
from mrag.cli.commands import Commands
from mrag.terminal import guard, inline

_COMMANDS: Final = {row[0]: row[1] for row in rows("cli/commands.tsv")}
"""Where each command is defined, or each group of commands: a question needs only the modules of its own."""


class _Guarded(commands.Stoppable):
    """The commands, with guarded streams also where they are not started by `main`."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {**dict.fromkeys(_COMMANDS), **self.commands}  # type: ignore[dict-item]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, imported when it is first looked at."""
        if cmd_name in self.commands and self.commands[cmd_name] is None:
            self.commands[cmd_name] = _import_command(cmd_name)
        return super().get_command(ctx, cmd_name)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with guard():
            return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().invoke(*args, **kwargs)


def _import_command(name: str) -> Any:
    """Return a command or a group of commands as typer makes it."""
    module, _, attribute = _COMMANDS[name].partition(".")
    command = getattr(import_module(f"mrag.cli.{module}"), attribute)
    alone = Commands()
    if isinstance(command, Commands):
        alone.add_typer(command, name=name)
    else:
        alone.command(name)(command)
    return get_group(alone).commands[name]


@contextmanager
def _one_line() -> Iterator[None]:
    """Put messages of misuse, which quote arguments, on one line."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(message := getattr(error, "message", None), str):
            error.message = inline(message)  # type: ignore[attr-defined]
        raise


app = Commands(
    name="mrag",
    cls=_Guarded,
    help="Ask a knowledge graph, and see which triples support each answer.\n\n"
    "With no store named, commands use a demo graph of database products and their vendors.",
    epilog='Example: mrag ask "What database products are linked to RDF?"',
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        from mrag import __version__

        sys.stdout.write(f"mrag {__version__}\n")
        raise typer.Exit


def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
) -> None:
    """Set up logging for every command."""
    import logging

    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, format="%(message)s")
    logging.getLogger("mrag.waiting").setLevel(logging.INFO)


app.callback()(start)


def main() -> None:
    """Run the command line; errors of this package end with code 1 and one line of text."""
    # What modules and tables are made of stays: looking through it again takes a tenth of a question.
    gc.set_threshold(20_000, 20, 50)
    atexit.register(gc.freeze)
    with guard():
        try:
            _run()
        except SystemExit as end:
            # Printed here and below, while the streams are guarded: the message may quote anything.
            if not isinstance(end.code, str):
                raise
            sys.stderr.write(f"{inline(end.code)}\n")
            sys.exit(1)
        except Exception:
            traceback.print_exc()
            sys.exit(1)


def _run() -> None:
    from mrag.errors import MragError

    try:
        with commands.stoppable():
            app()
    except MragError as error:
        sys.stderr.write(f"mrag: {inline(str(error))}\n")
        sys.exit(1)
    except SystemExit:
        if commands.silent():
            sys.exit(commands.report_stop())
        raise
    except KeyboardInterrupt:
        sys.exit(commands.report_stop())
    except BrokenPipeError:
        # Whoever read the output has had enough.
        sys.stderr.close()
        sys.exit(0)
