"""Options that many commands have, and the knowledge graph that they name."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

import mrag
from mrag import front
from mrag.cli.output import say, status
from mrag.config import DEFAULT_STORE, Settings
from mrag.errors import ConfigError, DamagedIndex, IndexError_, MissingIndex
from mrag.redaction import redact_url

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="URL",
        help="Triple store: oxigraph:PATH or a path, graphdb:URL, fuseki:URL, virtuoso:URL, sparql:URL "
        "or another server's (see the documentation on stores). "
        "Default: MRAG_STORE, else ./mrag.db if it exists, else the demo graph.",
    ),
]
KgOption = Annotated[str | None, typer.Option("--kg", metavar="NAME", help="Knowledge graph in the store.")]
GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph", metavar="IRI", help="See this named graph alone, such as one source, version or tenant."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LanguageOption = Annotated[
    str,
    typer.Option("--lang", metavar="TAGS", help='Preferred languages, best first; "-" is no language tag.'),
]
KeptLanguageOption = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="TAGS",
        help='Preferred languages, best first; "-" is no language tag. '
        "Default: those that the index was built with, else en,mul,-.",
    ),
]
IndexOption = Annotated[str, typer.Option("--index", help="Name of the similarity index.")]
RankerOption = Annotated[
    str,
    typer.Option(
        "--ranker",
        "-r",
        metavar="NAME",
        help="What ranks: hybrid, bm25, dense, codes or clues:MODEL, with +mmr, +cel, +llm:MODEL or "
        "+cross-encoder:NAME behind it. Images: hybrid, bm25 or dense.",
    ),
]
LabelPropertyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label-property",
        metavar="IRI",
        help="Property that names things, before rdfs:label; repeatable, best first. It is kept.",
    ),
]
RunnerOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where the work is done: inline, threads, processes, ray:ADDRESS, or ray for a cluster on this "
        "machine (extra `ray`).",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, help="How many tasks at once. Default: as many as there are processors; 2 threads."),
]
SeedOption = Annotated[int, typer.Option(help="Seed of random choices.")]
DEFAULT_LANGUAGES = "en,mul,-"


@cache
def warn_of_login(url: str | None) -> None:
    """Warn, once, of a URL on the command line that holds a login.

    Args:
        url: The URL, if one was given there.
    """
    if url is not None and redact_url(url) != url:
        say(
            "Other users of this machine can read the login in the list of processes. Set MRAG_STORE_USER "
            "and MRAG_STORE_PASSWORD, MRAG_STORE_TOKEN, or the whole URL as MRAG_STORE.",
            style="yellow",
        )


def analyser_of(indexes: mrag.SimilarityIndexes, name: str) -> str:
    """Return the analyser that an index was built with on demand, or else that of the settings."""
    from mrag.language.analysis import AUTO

    chosen = Settings.from_env().analyser
    try:
        definition = indexes.info(name).definition if name in indexes.names() else None
    except IndexError_:
        return chosen  # it is built anew
    return definition.analyser if definition is not None and definition.analyser != AUTO else chosen


@contextmanager
def opened(
    store: str | None,
    kg: str | None,
    languages: str | None = DEFAULT_LANGUAGES,
    *,
    create: bool = False,
    may_be_new: bool = False,
    graph: str | None = None,
    index: str | None = None,
) -> Iterator[mrag.KnowledgeGraph]:
    """Open the graph that the options and the environment name, and close it again.

    Args:
        store: The `--store` option.
        kg: The `--kg` option.
        languages: The `--lang` option; None for the languages of the index.
        create: Make `./mrag.db` when nothing is named, instead of taking the demo graph. What was made
            is removed again if nothing comes into it.
        may_be_new: Whether the store and the graph that are named need not be there; with `create` as well.
        graph: The `--graph` option.
        index: The index whose languages are taken where none are given.
    """
    from mrag.graph.connection import folder_of, is_store

    warn_of_login(store)
    settings = Settings.from_env(store, kg)
    given = (tag.strip() for tag in (languages or DEFAULT_LANGUAGES).split(","))
    tags = tuple("" if tag == "-" else tag for tag in given)
    if settings.store is None and not create:
        from platformdirs import user_cache_path

        say("No store is named, so the demo graph of products and vendors is used.", style="dim")
        with status("Preparing the demo graph"):
            found = mrag.demo(model=settings.embedder, folder=user_cache_path("mrag"))
        found.languages = tags
        made = None
    else:
        url = settings.store or f"oxigraph:{DEFAULT_STORE}"
        made = folder_of(url) if create else None
        made = None if made is None or made.exists() else made
        found = mrag.connect(url, settings.kg, languages=tags, create=create or may_be_new)
    try:
        with found:
            if found.recovered:
                say(found.recovered, style="yellow")
            if languages is None and index is not None:
                _take_languages(found, index)
            yield found if graph is None else front.NarrowedGraph(found, graph)
    except BaseException:
        if made is not None and found.record.is_new and is_store(made):
            # An empty store would be taken for the one to read.
            shutil.rmtree(made, ignore_errors=True)
            shutil.rmtree(f"{made}.mrag", ignore_errors=True)
        raise


def _take_languages(graph: mrag.KnowledgeGraph, index: str) -> None:
    """Prefer the languages that an index was built with, if there is one."""
    try:
        definition = mrag.SimilarityIndexes.of(graph).info(index).definition
    except (MissingIndex, DamagedIndex):
        return  # who reads it says so, and `mrag index` builds it anew
    if definition is not None and definition.languages != graph.languages:
        graph.languages = definition.languages


def read_query_file(path: str) -> str:
    """Return the text of a SPARQL file that an option names."""
    if not Path(path).is_file():
        raise ConfigError("There is no such file.", file=path)
    return Path(path).read_text(encoding="utf-8-sig")


def check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise `ConfigError` unless a value is one of the choices.

    Example:
        >>> check_choice("mode", "bm25", ("hybrid", "bm25"))
    """
    if value not in choices:
        listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        raise ConfigError(f"There is no {what} {value!r}.", hint=f"Use {listed}.")
