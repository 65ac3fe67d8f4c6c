"""`mrag index`: the similarity index of a knowledge graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

import mrag
from mrag.cli.shared import indexing, stopping
from mrag.cli.shared.options import (
    JsonOption,
    KeptLanguageOption,
    KgOption,
    LabelPropertyOption,
    RunnerOption,
    StoreOption,
    WorkersOption,
    analyser_of,
    opened,
)
from mrag.cli.shared.output import progress
from mrag.config import Settings


def index(
    store: StoreOption = None,
    kg: KgOption = None,
    name: Annotated[str, typer.Option(help="Name of the index.")] = "main",
    query: Annotated[
        list[str] | None,
        typer.Option(help="Catalogue query of ?documentID ?documentText; repeatable."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            help="minilm, wordllama (extra `static`), ollama:NAME, openai:NAME, tei:URL, none for BM25 "
            "alone, or server (GraphDB's own)."
        ),
    ] = None,
    lang: KeptLanguageOption = None,
    label_property: LabelPropertyOption = None,
    analyser: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How words are stemmed: none, plural, snowball:LANG, icu (extra `icu`), or auto, by the "
            "languages. Default: as the index was built, else auto.",
        ),
    ] = None,
    backend: indexing.BackendOption = None,
    copy_to: indexing.CopyOption = None,
    recall: indexing.RecallOption = False,
    runner: RunnerOption = "inline",
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build or update the similarity index.

    Only documents that changed are embedded. Things without a label are named by the property that tells them
    apart best, else by the words of their IRIs. `mrag ask` and `mrag search` keep its languages.

    \b
    Examples:
      mrag index
      mrag index --embedder none --lang de,en
      mrag index --analyser snowball:german
      mrag index --label-property http://example.org/customerName
      mrag index --backend postgresql://mrag@db.example.org/indexes
      mrag index --copy-to qdrant:http://localhost:6333
      mrag index --runner processes --workers 8
    """
    from mrag.images.catalogue import keep_catalogue
    from mrag.index.documents import Definition
    from mrag.jobs import runner as runner_of

    with opened(store, kg, lang, index=name) as graph:
        definition = Definition(languages=graph.languages)
        if query:
            definition = Definition(queries=tuple(query), languages=graph.languages)
        if label_property:
            graph.label_properties = tuple(label_property)
        indexes = mrag.SimilarityIndexes.of(graph)
        if indexing.copied_or_compared(indexes, name, copy_to, recall=recall, as_json=as_json):
            return
        definition = replace(definition, analyser=analyser or analyser_of(indexes, name))
        elsewhere = backend or indexes.places.of(name).url != "local:"
        server = "server" if graph.store.capabilities.similarity and not elsewhere else None
        model = embedder or server or Settings.from_env().embedder
        kept = "The index is unchanged. Run the same command again; embeddings made so far are reused."
        with stopping.kept(kept), progress("Indexing", unit="documents") as note:
            options: dict[str, Any] = {"definition": definition, "model": model, "backend": backend}
            options["runner"] = runner_of(runner, workers)
            report = indexes.build(name, **options, on_progress=note)
            keep_catalogue(graph)
        indexing.show_built(indexes, name, report, as_json=as_json)
