"""What all commands share: opening the graph, progress, output and errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mrag.terminal import escaped, inline, write_data

if TYPE_CHECKING:
    from mrag.graph.kg import KnowledgeGraph

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="URL",
        help="Triple store: oxigraph:PATH or a path, graphdb:URL, fuseki:URL, virtuoso:URL or sparql:URL. "
        "Default: MRAG_STORE, else ./mrag.db if it is there, else the demo graph.",
    ),
]
KgOption = Annotated[str | None, typer.Option("--kg", metavar="NAME", help="Knowledge graph in the store.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LanguageOption = Annotated[
    str, typer.Option("--lang", metavar="TAGS", help='Preferred languages, best first; "-" is none.')
]
DEFAULT_LANGUAGES = "en,mul,-"


def say(text: str = "", *, style: str | None = None) -> None:
    """Print one line to standard error, where progress and notes go; a newline in it is shown as a sign."""
    from mrag.cli.console import console, plain

    console().print(plain(inline(text), style), soft_wrap=True)


def show(text: str = "") -> None:
    """Print one line of a result to standard output; a newline in it is shown as a sign."""
    sys.stdout.write(inline(text) + "\n")


def show_lines(text: str) -> None:
    """Print a text that has lines, such as an answer; what it quotes has been put on one line before."""
    sys.stdout.write(text + "\n")


def show_data(text: str) -> None:
    """Print Turtle, N-Triples or SPARQL, what would steer a terminal escaped as these formats do."""
    write_data(escaped(text) + "\n")


def show_json(value: Any) -> None:
    """Print JSON to standard output, what would steer a terminal escaped as JSON does."""
    write_data(escaped(json.dumps(value, ensure_ascii=False, indent=2), json=True) + "\n")


@cache
def warn_of_login(url: str | None) -> None:
    """Say it, once, where a URL on the command line holds a login.

    Args:
        url: The URL, if one was given there.
    """
    from mrag.redaction import redact_url

    if url is not None and redact_url(url) != url:
        say(
            "Other users of this machine can read the login in the list of processes. Set MRAG_STORE_USER "
            "and MRAG_STORE_PASSWORD, MRAG_STORE_TOKEN, or the whole URL as MRAG_STORE.",
            style="yellow",
        )


@contextmanager
def opened(
    store: str | None, kg: str | None, languages: str = DEFAULT_LANGUAGES, *, create: bool = False
) -> Iterator[KnowledgeGraph]:
    """Open the graph that the options and the environment name, and close it again.

    Args:
        store: The `--store` option.
        kg: The `--kg` option.
        languages: The `--lang` option.
        create: Make `./mrag.db` when nothing is named, instead of taking the demo graph.
    """
    from mrag.config import DEFAULT_STORE, Settings
    from mrag.graph.connection import connect, demo

    warn_of_login(store)
    settings = Settings.from_env(store, kg)
    tags = tuple("" if tag.strip() == "-" else tag.strip() for tag in languages.split(","))
    if settings.store is None and not create:
        from platformdirs import user_cache_path

        say("No store is named, so the demo graph of products and vendors is used.", style="dim")
        with status("Preparing the demo graph"):
            graph = demo(model=settings.embedder, folder=user_cache_path("mrag"))
        graph.languages = tags
    else:
        graph = connect(settings.store or f"oxigraph:{DEFAULT_STORE}", settings.kg, languages=tags)
    with graph:
        if graph.recovered:
            say(graph.recovered, style="yellow")
        yield graph


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show a spinner on standard error while something runs."""
    from mrag.cli.console import spinning

    with spinning(inline(text)):
        yield


@contextmanager
def progress(text: str, *, unit: str = "bytes") -> Iterator[Any]:
    """Show a bar on standard error; gives a function that takes what is done and the whole."""
    from mrag.cli.console import bar

    with bar(unit) as shown:
        task = shown.add_task(inline(text), total=None)

        def note(done: int, total: int | None) -> None:
            shown.update(task, completed=done, total=total)

        yield note
