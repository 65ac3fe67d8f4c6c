"""What all commands share: opening the graph, progress, output and errors."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mrag.kg import KnowledgeGraph

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
    """Print to standard error, where progress and notes go."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(text, style=style, markup=False)


def show(text: str) -> None:
    """Print a result to standard output."""
    sys.stdout.write(text + "\n")


def show_json(value: Any) -> None:
    """Print JSON to standard output."""
    show(json.dumps(value, ensure_ascii=False, indent=2))


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
    from mrag.connection import connect, demo

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
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def progress(text: str, *, unit: str = "bytes") -> Iterator[Any]:
    """Show a bar on standard error; gives a function that takes what is done and the whole."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    console = Console(stderr=True)
    with Progress(TextColumn(text), BarColumn(), amount, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(text, total=None)

        def note(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield note
