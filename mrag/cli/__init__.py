"""The `mrag` command: data on standard output, progress on standard error, exit codes 0, 1 and 2."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

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
    stopping,
    training,
)
from mrag.cli.health import doctor
from mrag.cli.tools import mcp
from mrag.terminal import guarded, inline


class _Guarded(stopping.Stoppable):
    """The commands, with guarded streams also where they are not started by `main`."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        with guarded():
            return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        with _one_line():
            return super().invoke(*args, **kwargs)


@contextmanager
def _one_line() -> Iterator[None]:
    """Put what is said of misuse on one line: it quotes arguments."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message") and isinstance(said := getattr(error, "message", None), str):
            error.message = inline(said)  # type: ignore[attr-defined]
        raise


app = typer.Typer(
    name="mrag",
    cls=_Guarded,
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
    """Run the command line; errors of this package end with code 1 and one line of text.

    Ctrl-C ends it with code 130 and SIGTERM with 143, and a line says what is kept.
    """
    with guarded():
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
        with stopping.stoppable():
            app()
    except MragError as error:
        sys.stderr.write(f"mrag: {inline(str(error))}\n")
        sys.exit(1)
    except SystemExit:
        if stopping.silent():
            sys.exit(stopping.told())
        raise
    except KeyboardInterrupt:
        sys.exit(stopping.told())
    except BrokenPipeError:
        # Whoever read the output has had enough.
        sys.stderr.close()
        sys.exit(0)
