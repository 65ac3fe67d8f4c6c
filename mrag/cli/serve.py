"""`mrag serve` and `mrag mcp`: a knowledge graph served over HTTP, or to an assistant."""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from mrag import generation, retrieval
from mrag import mcp as tools
from mrag.cli import options
from mrag.cli.output import flush, say, show
from mrag.cli.serving import note_address
from mrag.config import Settings
from mrag.errors import ConfigError
from mrag.storage.files import is_private, make_folder, replace
from mrag.terminal import protocol


def serve(
    context: typer.Context,
    place: options.LabelledPlace,
    host: str = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535)] = 7333,
    update: bool = False,
    token: Annotated[str | None, Option(envvar="MRAG_TOKEN", show_envvar=True, metavar="TOKEN")] = None,
    token_file: Annotated[Path | None, Option(metavar="FILE")] = None,
    cors: Annotated[list[str] | None, Option(metavar="ORIGIN")] = None,
    timeout: Annotated[float, Option(min=0.1)] = 30.0,
    rows: Annotated[int, Option(min=1)] = 1000000,
    megabytes: Annotated[int, Option(min=1)] = 256,
    body: Annotated[int, Option(min=1)] = 64,
    memory: Annotated[int, Option(min=0)] = 4096,
    workers: Annotated[int | None, Option(min=1)] = None,
    grace: Annotated[float, Option(min=0)] = 3.0,
    reason: bool = False,
    separate: bool = False,
    index: str = "main",
    ranker: options.RankerOption = "hybrid",
    model: Annotated[str | None, Option("--model", "-m")] = None,
    media: Annotated[Path | None, Option(metavar="FOLDER")] = None,
    log_requests: bool = False,
) -> None:
    """Serve the graph over HTTP, with a page to explore it.

    The protocols are SPARQL 1.1, RDF4J's and GraphDB's.
    """
    try:
        from mrag.server.running import serve as run
        from mrag.server.settings import ServerSettings
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'mrag[server]'"
        raise ConfigError(f"The module {error.name} is missing.", hint=hint) from error
    retrieval.registry.check_ranker(ranker)
    # Named here it is meant to be there; one of the environment may come later than its client.
    generation.models.check_model(model)
    given: dict[str, Any] = {} if workers is None else {"workers": workers}
    settings = ServerSettings(
        host=host, port=port, update=update, token=_token(context, token, token_file),
        cors_origins=tuple(cors or ()), seconds=timeout, max_rows=rows, max_bytes=megabytes << 20,
        max_body=body << 20, memory=memory << 20, grace=grace, reason=reason, union=not separate,
        index=index, ranker=ranker, model=Settings.from_env(model=model).model, media=media,
        log_requests=log_requests, **given,
    )  # fmt: skip
    if not settings.local and settings.token is None:
        say(
            f"Anyone who reaches {host} can read the graph. Set a token: --token-file FILE, or MRAG_TOKEN.",
            style="yellow",
        )
    # Warnings of the server are for its operator, also without --verbose.
    logging.getLogger("mrag.server").setLevel(logging.WARNING)
    with place.open(may_be_new=update) as graph, note_address(graph.store.url, graph.name) as note:

        def listening(url: str) -> None:
            if note is not None:
                # Without it commands only cannot ask the server.
                with suppress(OSError):
                    make_folder(note.parent)
                    replace(note, json.dumps({"url": url, "process": os.getpid()}).encode())
            show(f"SPARQL   {url}/sparql")
            show(f"GraphDB  {url}  (repository {graph.name})")
            show(f"Page     {url}/")
            flush()
            say(f"Updates are {'on' if update else 'off'}. Ctrl-C stops the server.", style="dim")

        run(graph, settings, listening=listening, exits=True)
    say("The server has stopped.", style="dim")


def _token(context: typer.Context, given: str | None, file: Path | None) -> str | None:
    """Return the token that clients must send, from a file, the environment or the command line."""
    typed = getattr(context.get_parameter_source("token"), "name", "") == "COMMANDLINE"
    if file is None:
        if typed:
            say(
                "Other users of this machine can read the token in the list of processes. Name a file "
                "with --token-file, or set MRAG_TOKEN.",
                style="yellow",
            )
        return given or None
    if typed:
        raise ConfigError("The token is given twice.", hint="Leave out --token or --token-file.")
    try:
        token = file.read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError) as error:
        hint = "Check its path and permissions."
        raise ConfigError("The token file cannot be read.", file=str(file), hint=hint) from error
    if not token:
        raise ConfigError("The token file is empty.", file=str(file), hint="Put one line into it.")
    if not is_private(file):
        say(f"Other users of this machine can read {file}. Run: chmod 600 {file}", style="yellow")
    return token


def mcp(
    place: options.LabelledPlace,
    index: str = "main",
    ranker: options.RankerOption = "hybrid",
    timeout: Annotated[float, Option(min=0.1)] = 30.0,
    model: Annotated[str | None, Option("--model", "-m")] = None,
) -> None:
    """Serve the graph to an assistant over MCP.

    The tools of this Model Context Protocol server are read-only; it uses standard input and output.
    """
    retrieval.registry.check_ranker(ranker)
    # Named here it is meant to be there; one of the environment may come later than its client.
    generation.models.check_model(model)
    settings = tools.McpSettings(
        index=index, ranker=ranker, seconds=timeout, model=Settings.from_env(model=model).model
    )
    with place.open() as graph:
        say("Serving on standard input and output; a client starts this command itself.", style="dim")
        with protocol():
            tools.serve(graph, settings)
