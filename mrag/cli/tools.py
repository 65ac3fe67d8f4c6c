"""Commands that offer a knowledge graph to other programs: mcp."""

from __future__ import annotations

from typing import Annotated

import typer

from mrag.cli.common import DEFAULT_LANGUAGES, KgOption, LanguageOption, StoreOption, opened, say
from mrag.terminal import protocol


def mcp(
    store: StoreOption = None,
    kg: KgOption = None,
    index: Annotated[str, typer.Option("--index", help="Name of the similarity index.")] = "main",
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds after which a call is given up.")] = 30.0,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Language model of the tool `ask`, as for `mrag ask`."),
    ] = None,
    lang: LanguageOption = DEFAULT_LANGUAGES,
) -> None:
    """Offer the graph to an assistant as read-only tools of the Model Context Protocol, over stdio.

    \b
    Examples of what a client starts:
      mrag mcp
      mrag mcp --store oxigraph:./data --timeout 60
    """
    from mrag.config import Settings
    from mrag.mcp import McpSettings, serve

    settings = McpSettings(index=index, seconds=timeout, model=Settings.from_env(model=model).model)
    with opened(store, kg, lang) as graph:
        say("Serving on standard input and output; a client starts this command itself.", style="dim")
        with protocol():
            serve(graph, settings)
