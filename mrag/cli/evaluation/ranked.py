"""What `mrag eval` ranks: the documents of a collection, or the entities of a graph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mrag.cli.shared.options import opened
from mrag.cli.shared.output import progress, say

if TYPE_CHECKING:
    from mrag.evaluation.collections import Collection
    from mrag.evaluation.running import System
    from mrag.evaluation.runs import Run
    from mrag.graph.kg import KnowledgeGraph
    from mrag.index.backends.base import StoredIndex
    from mrag.index.document_index import DocumentIndex
    from mrag.index.embedding.embedders import Embedder


def ranked(
    collection: Collection,
    kinds: list[str] | None,
    k: int,
    out: Path | None,
    model: str | None,
    graph_options: tuple[str | None, str | None, str, str, str | None],
    notes: list[str],
) -> list[Run]:
    """Rank the documents of a collection, or the entities of a graph for its queries."""
    from mrag.config import Settings
    from mrag.evaluation.conditions import instances
    from mrag.evaluation.running import KINDS, index_system, ranker_system
    from mrag.index.embedding.embedders import embedder
    from mrag.index.opened import SimilarityIndex
    from mrag.index.similarity import SimilarityIndexes
    from mrag.retrieval.rankers import SimilarityRanker
    from mrag.retrieval.registry import ranker

    if collection.documents:
        name = model or Settings.from_env().embedder
        chosen = embedder(name) if kinds is None or {"dense", "hybrid"} & {*kinds} else None
        folder = None if out is None else out / ("index" if chosen is not None else "index-words")
        files = _opened_index(folder, chosen)
        with progress("Indexing", unit="documents") as note:
            files.sync(collection.documents.items(), extra={}, on_progress=note)
        _note_missing(collection, files, None, notes)
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if chosen is not None else [])]
        return _runs([index_system(files, kind) for kind in wanted], collection, k, out)
    store, kg, index, lang, cls = graph_options
    with opened(store, kg, lang) as graph:
        known = SimilarityIndexes.of(graph).get(index)
        about = f"{graph.store.url} {graph.iri} {graph.revision} {index}"
        if not isinstance(known, SimilarityIndex):
            # An index of the server's own: it ranks in its one way.
            return _runs([ranker_system("server", SimilarityRanker(graph, index), about)], collection, k, out)
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if known.files.embedder_name else [])]
        named = named_iri(graph, cls)
        only = None if named is None else instances(graph, named)
        _note_missing(collection, known.files, only, notes)
        systems = [
            index_system(known.files, kind, only)
            if kind in KINDS
            else ranker_system(kind, ranker(kind, graph, index=index), f"{about} {kind} {only}", only)
            for kind in wanted
        ]
        return _runs(systems, collection, k, out)


def _note_missing(
    collection: Collection, files: StoredIndex, only: list[str] | None, notes: list[str]
) -> None:
    """Note relevant documents that no ranker can find."""
    relevant = {doc for grades in collection.qrels.values() for doc, grade in grades.items() if grade > 0}
    missing = relevant - set(files.doc_ids if only is None else {*files.doc_ids} & {*only})
    if missing:
        text = f"{len(missing)} of {len(relevant)} relevant documents are not in the index"
        notes.append(f"{text}, such as {min(missing)}; no ranker can find them.")


def _opened_index(folder: Path | None, model: Embedder | None) -> DocumentIndex:
    """Open the index of an earlier run, so that only new texts are embedded, or make one."""
    from mrag.errors import IndexError_
    from mrag.index.document_index import DocumentIndex

    if folder is not None and (folder / "manifest.json").exists():
        try:
            return DocumentIndex.open(folder, embedder=model, thorough=True)
        except IndexError_:
            say("The index of the earlier run does not match and is rebuilt.", style="yellow")
    return DocumentIndex.create(folder, embedder=model, replace=True)


def _runs(systems: list[System], collection: Collection, k: int, out: Path | None) -> list[Run]:
    from mrag.evaluation.metrics import judged
    from mrag.evaluation.running import run_system

    asked = {query: collection.queries[query] for query in judged(collection.qrels)}
    runs = []
    for system in systems:
        kept = None if out is None else out / "journals" / f"{file_name(system.name)}.jsonl"
        with progress(f"Ranking by {system.name}", unit="queries") as note:
            runs.append(run_system(system, asked, k, journal=kept, on_progress=note))
    return runs


def file_name(name: str) -> str:
    """Return the name of a system as part of the name of a file."""
    return re.sub(r"[^\w.\-]+", "_", name)


def named_iri(graph: KnowledgeGraph, text: str | None) -> str | None:
    """Return the IRI that a text names, None for none."""
    from mrag.rdf.terms import iri

    return None if text is None else str(iri(text, graph.prefixes))
