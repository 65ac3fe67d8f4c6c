"""Options that many commands have, and the knowledge graph that they name.

A parameter of a command that is of one of these classes stands for an option for each of its fields.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from typer import Option

import mrag
from mrag import graph as graphs
from mrag.cli.commands import on_stop
from mrag.cli.output import flush, say, status
from mrag.config import DEFAULT_STORE, Settings
from mrag.errors import ConfigError, DamagedIndex, MissingIndex
from mrag.redaction import redact_url

DEFAULT_LANGUAGES = "en,mul,-"

JsonOption = Annotated[bool, Option("--json")]
StoreOption = Annotated[str | None, Option("--store", "-s", metavar="URL")]
GraphOption = Annotated[str | None, Option(metavar="IRI")]
KeptLanguageOption = Annotated[str | None, Option(metavar="TAGS")]
RankerOption = Annotated[str, Option("--ranker", "-r", metavar="NAME")]
LabelPropertyOption = Annotated[list[str] | None, Option(metavar="IRI")]
RunnerOption = Annotated[str, Option(metavar="NAME")]
WorkersOption = Annotated[int | None, Option(min=1)]


@dataclass(frozen=True)
class Place:
    """Where the knowledge graph is."""

    store: StoreOption = None
    kg: Annotated[str | None, Option(metavar="NAME")] = None

    @property
    def languages(self) -> str:
        """Return the preferred languages."""
        return DEFAULT_LANGUAGES

    @contextmanager
    def open(
        self,
        lang: str | None = None,
        *,
        create: bool = False,
        may_be_new: bool = False,
        graph: str | None = None,
        index: str | None = None,
        later: bool = False,
    ) -> Iterator[mrag.KnowledgeGraph]:
        """Open the graph that the options and the environment name, and close it again.

        Args:
            lang: Preferred languages in place of the usual ones, or those of the index.
            create: Make `./mrag.db` when nothing is named, instead of taking the demo graph. What was made
                is removed again if nothing comes into it.
            may_be_new: Whether the store and the graph that are named need not be there.
            graph: The `--graph` option.
            index: The index whose languages are taken where none are given.
            later: Whether texts of the demo graph are embedded when all is done and printed.
        """
        from mrag.front import NarrowedGraph

        warn_of_login(self.store)
        settings = Settings.from_env(self.store, self.kg)
        given = (tag.strip() for tag in (lang or self.languages).split(","))
        tags = tuple("" if tag == "-" else tag for tag in given)
        made = None
        if settings.store is None and not create:
            from platformdirs import user_cache_path

            say("No store is named, so the demo graph of products and vendors is used.", style="dim")
            with status("Preparing the demo graph"):
                kg = mrag.demo(model=settings.embedder, folder=user_cache_path("mrag"), later=later)
            kg.languages = tags
        else:
            url = settings.store or f"oxigraph:{DEFAULT_STORE}"
            if create and (folder := graphs.connection.folder_of(url)) is not None and not folder.exists():
                made = folder
            kg = mrag.connect(url, settings.kg, languages=tags, create=create or may_be_new)
        try:
            with kg:
                if kg.recovered:
                    say(kg.recovered, style="yellow")
                if lang is None and index is not None:
                    _take_languages(kg, index)
                yield kg if graph is None else NarrowedGraph(kg, graph)
                if settings.store is None and later and mrag.SimilarityIndexes.of(kg).info().later:
                    flush()
                    with on_stop("The answer is complete."), status("Embedding texts for the next question"):
                        mrag.SimilarityIndexes.of(kg).build("main", model=settings.embedder)
        except BaseException:
            if made is not None and kg.record.is_new and graphs.connection.is_store(made):
                # An empty store would be taken for the one to read.
                shutil.rmtree(made, ignore_errors=True)
                shutil.rmtree(f"{made}.mrag", ignore_errors=True)
            raise


@dataclass(frozen=True)
class LabelledPlace(Place):
    """Where the knowledge graph is, and in which languages its labels are read."""

    lang: Annotated[str, Option(metavar="TAGS")] = DEFAULT_LANGUAGES

    @property
    def languages(self) -> str:
        """Return the languages of the option."""
        return self.lang


@cache
def warn_of_login(url: str | None) -> None:
    """Warn, once, of a URL on the command line that holds a login."""
    if url is not None and redact_url(url) != url:
        say(
            "Other users of this machine can read the login in the list of processes. Set MRAG_STORE_USER "
            "and MRAG_STORE_PASSWORD, MRAG_STORE_TOKEN, or the whole URL as MRAG_STORE.",
            style="yellow",
        )


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
