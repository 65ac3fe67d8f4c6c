"""The command that serves a knowledge graph over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mrag.cli.common import DEFAULT_LANGUAGES, KgOption, LanguageOption, StoreOption, opened, say, show


def serve(
    store: StoreOption = None,
    kg: KgOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 7333,
    update: Annotated[bool, typer.Option("--update", help="Let clients change the graph.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="MRAG_TOKEN", show_envvar=True, help="Token that clients must send.", metavar="TOKEN"
        ),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option("--cors", metavar="ORIGIN", help="Origin whose pages may call; may be repeated."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds after which a query is ended.")] = 30.0,
    rows: Annotated[int, typer.Option(min=1, help="Most rows or triples of a result.")] = 1_000_000,
    megabytes: Annotated[int, typer.Option(min=1, help="Most megabytes of a result.")] = 256,
    body: Annotated[int, typer.Option(min=1, help="Most megabytes of a request's body.")] = 64,
    memory: Annotated[
        int, typer.Option(min=0, help="Most megabytes of a query's process; 0: no cap.")
    ] = 4096,
    workers: Annotated[int | None, typer.Option(min=1, help="Queries at once. Default: cores.")] = None,
    reason: Annotated[bool, typer.Option("--reason", help="Infer anew after each update.")] = False,
    separate: Annotated[
        bool,
        typer.Option("--separate", help="Keep named graphs out of the default graph, unlike GraphDB."),
    ] = False,
    index: Annotated[str, typer.Option("--index", help="Similarity index for questions.")] = "main",
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Language model for questions, as for `mrag ask`.")
    ] = None,
    media: Annotated[
        Path | None, typer.Option(help="Folder of the image files that the graph names.", metavar="FOLDER")
    ] = None,
    lang: LanguageOption = DEFAULT_LANGUAGES,
) -> None:
    """Serve the graph over HTTP: SPARQL 1.1, RDF4J's and GraphDB's protocols, and a page.

    \b
    Examples:
      mrag serve
      mrag serve --store oxigraph:./data --update --token "$(openssl rand -hex 16)"
    """
    from mrag.config import Settings
    from mrag.errors import ConfigError

    try:
        from mrag.server.running import serve as run
        from mrag.server.settings import ServerSettings
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The module {error.name} is missing.", hint="Install it with: pip install 'mrag[server]'"
        ) from error
    given = {} if workers is None else {"workers": workers}
    settings = ServerSettings(
        host=host,
        port=port,
        update=update,
        token=token or None,
        cors_origins=tuple(cors or ()),
        seconds=timeout,
        max_rows=rows,
        max_bytes=megabytes << 20,
        max_body=body << 20,
        memory=memory << 20,
        reason=reason,
        union=not separate,
        index=index,
        model=Settings.from_env(model=model).model,
        media=media,
        **given,
    )
    if not settings.local and settings.token is None:
        say(
            f"Anyone who reaches {host} can {'change' if update else 'read'} the graph. Set --token.",
            style="yellow",
        )
    with opened(store, kg, lang) as graph:

        def listening(url: str) -> None:
            show(f"SPARQL   {url}/sparql")
            show(f"GraphDB  {url}  (repository {graph.name})")
            show(f"Page     {url}/")
            say(f"Updates are {'on' if update else 'off'}. Ctrl-C stops the server.", style="dim")

        run(graph, settings, listening=listening)
    say("The server has stopped.", style="dim")
