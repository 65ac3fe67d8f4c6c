"""`mrag keys`: the key that signs this installation's receipts, and those of others that are trusted."""

from __future__ import annotations

from typing import Annotated

import typer

from mrag.cli.shared import options
from mrag.cli.shared.commands import Commands
from mrag.cli.shared.output import progress, show_json, show_lines
from mrag.errors import ConfigError
from mrag.generation.receipts import KeyStore

app = Commands(
    help="Keep the key that signs receipts, and say whose keys are trusted.",
    epilog="Example: mrag keys create && mrag verify answer.json --receipt receipt.jsonld",
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="What the holder of the key is called.")]


@app.command()
def create() -> None:
    """Make the key of this installation; its private part stays in a file that you alone may read.

    \b
    Example:
      mrag keys create
    """
    keys = KeyStore()
    made = keys.create()
    progress(f"The private key is in {keys.file}. Others trust the public one:")
    show_lines(made.public)


@app.command()
def show() -> None:
    """Show whether this installation has a key, and where.

    \b
    Example:
      mrag keys show
    """
    keys = KeyStore()
    own = keys.own()
    show_lines("No key: receipts are not signed." if own is None else f"{own.public}\n{keys.file}")


@app.command()
def export() -> None:
    """Print the public key, for others to trust.

    \b
    Example:
      mrag keys export
    """
    own = KeyStore().own()
    if own is None:
        raise ConfigError("This installation has no key.", hint="Make one with `mrag keys create`.")
    show_lines(own.public)


@app.command()
def trust(
    name: NameArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Their public key, which begins with z6Mk.")],
) -> None:
    """Trust what a key has signed; ask its holder for the key in a way that nobody else can write to.

    \b
    Example:
      mrag keys trust "Example Library" z6Mkr5qKqTSm7cRs8kVNtmgJ5mYgRGMFgCsKpxsRqJ2MJ4aX
    """
    KeyStore().trust(name, key)


@app.command()
def forget(name: NameArgument) -> None:
    """Trust a key no more.

    \b
    Example:
      mrag keys forget "Example Library"
    """
    KeyStore().forget(name)


@app.command("list")
def list_(as_json: options.JsonOption = False) -> None:
    """List the keys that are trusted, this installation's own among them.

    \b
    Example:
      mrag keys list
    """
    every = KeyStore().trusted()
    rows = "\n".join(f"{key}\t{name}" for key, name in every.items())
    show_json(dict(every)) if as_json else show_lines(rows or "No key is trusted.")
