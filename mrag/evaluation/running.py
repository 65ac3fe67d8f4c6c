"""Rankers over queries: runs that an interruption does not lose."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mrag.errors import ConfigError
from mrag.evaluation.journal import RunJournal
from mrag.evaluation.runs import Run, Scored, by_rank, ordered
from mrag.index.backends.base import documents_of
from mrag.index.bm25 import THESIS, Bm25Index
from mrag.index.document_index import Mode, StoredIndex
from mrag.jobs.runners import InlineRunner, Runner, carried
from mrag.retrieval.rankers import Question, Ranker

Progress = Callable[[int, int], None]
KINDS: Final = ("bm25", "dense", "hybrid", "bm25-thesis")
"""The rankers that `index_system` makes; `bm25-thesis` has the idf, parameters and words of the thesis."""


@dataclass(frozen=True)
class System:
    """Something that ranks documents for a text.

    Args:
        name: What to call it.
        search: Takes the words and how many documents at most; gives them best first.
        about: What its results depend on, such as the state of an index. A run that was begun with other
            values is begun anew.
    """

    name: str
    search: Callable[[str, int], Sequence[Scored]]
    about: str = ""


def ranker_system(
    name: str, ranker: Ranker, about: str = "", allowed: Collection[str] | None = None
) -> System:
    """Make a system of a ranker.

    Args:
        name: What to call it.
        ranker: The ranker; its order counts, and its scores where they agree with it.
        about: As for `System`.
        allowed: IRIs of the only entities that count; all if left out.
    """
    only = None if allowed is None else frozenset(allowed)

    def search(text: str, k: int) -> Sequence[Scored]:
        depth = k if only is None else 2 * k
        hits = ranker.rank(Question(text), depth)
        while only is not None and len(hits) == depth and sum(hit.iri in only for hit in hits) < k:
            depth *= 2
            hits = ranker.rank(Question(text), depth)
        hits = [hit for hit in hits if only is None or hit.iri in only][:k]
        scored = tuple(Scored(hit.iri, hit.score) for hit in hits)
        return scored if scored == ordered(scored) else by_rank(hit.iri for hit in hits)

    return System(name, search, about)


def index_system(index: StoredIndex, kind: str, allowed: Collection[str] | None = None) -> System:
    """Make a system of an index of documents.

    Args:
        index: The index.
        kind: One of `KINDS`.
        allowed: IDs of the only documents that may be found, such as the entities of a class; all if left
            out.

    Raises:
        ConfigError: If there is no such kind, or the index has no vectors for it.

    Example:
        >>> from mrag.index import DocumentIndex
        >>> index = DocumentIndex.create(None, embedder=None)
        >>> _ = index.sync([("ex:1", "red leather shoes"), ("ex:2", "a blue coat")], extra={})
        >>> [hit.doc for hit in index_system(index, "bm25").search("a shoe", 10)]
        ['ex:1']
    """
    if kind not in KINDS:
        raise ConfigError(f"There is no ranker {kind!r}.", hint=f"Known: {', '.join(KINDS)}.")
    if kind in ("dense", "hybrid") and index.embedder_name is None:
        hint = "Build it with a model, such as minilm, or evaluate bm25 alone."
        raise ConfigError(f"The index has no vectors, so there is no {kind} ranker.", hint=hint)
    only = None if allowed is None else sorted(allowed)
    state = json.dumps([kind, index.embedder_name, str(index.bm25_params), _digest(index), only])
    if kind == "bm25-thesis":
        words = Bm25Index.of(documents_of(index), THESIS)
        mask = None if only is None else words.rows.mask(only)

        def plain(text: str, k: int) -> Sequence[Scored]:
            rows, scores = words.search(text, k, mask)
            found = zip(rows.tolist(), scores.tolist(), strict=True)
            return [Scored(words.rows.id_of(row), score) for row, score in found]

        return System(kind, plain, state)
    mode: Mode = "bm25" if kind == "bm25" else "dense" if kind == "dense" else "hybrid"

    def search(text: str, k: int) -> Sequence[Scored]:
        return [Scored(match.doc_id, match.score) for match in index.search(text, k, mode=mode, allowed=only)]

    return System(kind, search, state)


@dataclass(frozen=True)
class Searching:
    """The search for one query of a run.

    Args:
        search: Of the system.
        k: Documents a query.
    """

    search: Callable[[str, int], Sequence[Scored]]
    k: int

    def __call__(self, text: str) -> Sequence[Scored]:
        """Return what a query finds."""
        return self.search(text, self.k)[: self.k]


def run_system(
    system: System,
    queries: Mapping[str, str],
    k: int = 1000,
    *,
    journal: Path | None = None,
    on_progress: Progress | None = None,
    runner: Runner | None = None,
) -> Run:
    """Rank documents for every query.

    Args:
        system: What ranks.
        queries: Query ID to words.
        k: Documents a query, 1 or more.
        journal: Where what is done is kept query by query; a run that was interrupted goes on there.
        on_progress: Called with the queries done and all of them.
        runner: What searches, the same in the end with each; this process if left out. A search that other
            processes are to do is one that pickles, such as an object that opens its index when it is called.

    Raises:
        StoreError: If a query has lost its worker too often.
        ConfigError: If k cannot be used or the journal cannot be written.

    Example:
        >>> system = System("last", lambda text, k: [Scored("ex:" + text.split()[-1], 1.0)])
        >>> run_system(system, {"1": "a shoe"}).hits["1"]
        (Scored(doc='ex:shoe', score=1.0),)
    """
    if k < 1:
        raise ConfigError(f"Cannot rank {k} documents.", hint="k is 1 or more.")
    hits: dict[str, tuple[Scored, ...]] = {}
    # Most documents come for many queries: one string each is enough.
    names: dict[str, str] = {}
    kept = None if journal is None else RunJournal(journal, _about(system, queries, k))
    try:
        for record in kept.records if kept is not None else ():
            hits[record["query"]] = tuple(Scored(names.setdefault(d, d), s) for d, s in record["hits"])
        asked = sorted(queries.keys() - hits.keys())
        texts = (queries[query] for query in asked)
        for number, found in carried(runner or InlineRunner(), Searching(system.search, k), texts):
            query = asked[number]
            hits[query] = tuple(Scored(names.setdefault(doc, doc), score) for doc, score in found)
            if kept is not None:
                kept.add({"query": query, "hits": hits[query]})
            if on_progress is not None:
                on_progress(len(hits), len(queries))
    finally:
        if kept is not None:
            kept.close()
    return Run(system.name, dict(sorted(hits.items())))


def _about(system: System, queries: Mapping[str, str], k: int) -> dict[str, str | int]:
    asked = hashlib.blake2b(json.dumps(sorted(queries.items())).encode(), digest_size=16).hexdigest()
    state = hashlib.blake2b(system.about.encode(), digest_size=16).hexdigest()
    return {"system": system.name, "k": k, "queries": asked, "state": state}


def _digest(index: StoredIndex) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for doc, words in documents_of(index):
        text = words.encode()
        whole.update(f"{len(doc)} {len(text)} {doc} ".encode() + text)
    return whole.hexdigest()
