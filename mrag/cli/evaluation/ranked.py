"""What `mrag eval` ranks: the documents of a collection, or the entities of a graph."""

from __future__ import annotations

import re
from pathlib import Path

import mrag
from mrag import evaluation, rdf
from mrag import index as indexes
from mrag.cli.shared.options import opened
from mrag.cli.shared.output import progress, say
from mrag.config import Settings
from mrag.errors import IndexError_


def ranked(
    collection: evaluation.Collection,
    kinds: list[str] | None,
    k: int,
    out: Path | None,
    model: str | None,
    graph_options: tuple[str | None, str | None, str, str, str | None],
    notes: list[str],
) -> list[evaluation.Run]:
    """Rank the documents of a collection, or the entities of a graph for its queries."""
    from mrag.evaluation.benchmark import KINDS

    if collection.documents:
        name = model or Settings.from_env().embedder
        chosen = indexes.embedder(name) if kinds is None or {"dense", "hybrid"} & {*kinds} else None
        folder = None if out is None else out / ("index" if chosen is not None else "index-words")
        files = _opened_index(folder, chosen)
        with progress("Indexing", unit="documents") as note:
            files.sync(collection.documents.items(), extra={}, on_progress=note)
        _note_missing(collection, files, None, notes)
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if chosen is not None else [])]
        return _runs([evaluation.index_system(files, kind) for kind in wanted], collection, k, out)
    store, kg, index, lang, cls = graph_options
    with opened(store, kg, lang) as graph:
        known = mrag.SimilarityIndexes.of(graph).get(index)
        about = f"{graph.store.url} {graph.iri} {graph.revision} {index}"
        if not isinstance(known, indexes.SimilarityIndex):
            # An index of the server's own: it ranks in its one way.
            return _runs(
                [evaluation.ranker_system("server", mrag.SimilarityRanker(graph, index), about)],
                collection,
                k,
                out,
            )
        wanted = kinds or ["bm25", *(["dense", "hybrid"] if known.files.embedder_name else [])]
        named = named_iri(graph, cls)
        only = None if named is None else evaluation.instances(graph, named)
        _note_missing(collection, known.files, only, notes)
        systems = [
            evaluation.index_system(known.files, kind, only)
            if kind in KINDS
            else evaluation.ranker_system(
                kind, mrag.ranker(kind, graph, index=index), f"{about} {kind} {only}", only
            )
            for kind in wanted
        ]
        return _runs(systems, collection, k, out)


def _note_missing(
    collection: evaluation.Collection, files: indexes.StoredIndex, only: list[str] | None, notes: list[str]
) -> None:
    """Note relevant documents that no ranker can find."""
    relevant = {doc for grades in collection.qrels.values() for doc, grade in grades.items() if grade > 0}
    missing = relevant - set(files.doc_ids if only is None else {*files.doc_ids} & {*only})
    if missing:
        text = f"{len(missing)} of {len(relevant)} relevant documents are not in the index"
        notes.append(f"{text}, such as {min(missing)}; no ranker can find them.")


def _opened_index(folder: Path | None, model: indexes.Embedder | None) -> indexes.DocumentIndex:
    """Open the index of an earlier run, so that only new texts are embedded, or make one."""
    if folder is not None and (folder / "manifest.json").exists():
        try:
            return indexes.DocumentIndex.open(folder, embedder=model, thorough=True)
        except IndexError_:
            say("The index of the earlier run does not match and is rebuilt.", style="yellow")
    return indexes.DocumentIndex.create(folder, embedder=model, replace=True)


def _runs(
    systems: list[evaluation.System], collection: evaluation.Collection, k: int, out: Path | None
) -> list[evaluation.Run]:
    asked = {query: collection.queries[query] for query in evaluation.judged(collection.qrels)}
    runs = []
    for system in systems:
        kept = None if out is None else out / "journals" / f"{file_name(system.name)}.jsonl"
        with progress(f"Ranking by {system.name}", unit="queries") as note:
            runs.append(evaluation.run_system(system, asked, k, journal=kept, on_progress=note))
    return runs


def file_name(name: str) -> str:
    """Return the name of a system as part of the name of a file."""
    return re.sub(r"[^\w.\-]+", "_", name)


def named_iri(graph: mrag.KnowledgeGraph, text: str | None) -> str | None:
    """Return the IRI that a text names, None for none."""
    return None if text is None else str(rdf.iri(text, graph.prefixes))
