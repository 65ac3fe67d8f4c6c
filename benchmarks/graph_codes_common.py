"""What the quality benchmarks of graph codes share: rankings by systems, and figures with intervals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mrag.evaluation.metrics import Resampling, Run, compare, interval, per_query
from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison
from mrag.graphcodes.ranker import summed
from mrag.index.bm25 import Bm25Index
from mrag.index.embedding import embedder
from mrag.index.fusion import reciprocal_rank_fusion

DEPTH = 100
"""How deep rankings are kept and fused, as FusedRanker does."""
MEASURES = ("MRR", "P@5", "R@10")

Rankings = dict[str, list[tuple[str, float]]]
"""Documents with their scores, best first, by query."""

_KNOBS = Resampling(resamples=2000)


def shuffled(key: str) -> str:
    """Return an id without order: ties, broken by id, then favour no document."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def said(triples: Iterable[Sequence[str]]) -> str:
    """Return the triples of a scene graph as text, for systems that read words."""
    return ". ".join(f"{s} {r.removeprefix('pv:').removeprefix('v:')} {o}" for s, r, o in triples)


def by_codes(
    index: GraphCodeIndex, codes: Mapping[str, GraphCode], comparison: CodeComparison | None = None
) -> Rankings:
    """Rank by graph codes, ties by id."""
    return {
        query: [(match.id, match.score) for match in index.search(code, DEPTH, comparison)]
        for query, code in codes.items()
    }


def by_bm25(documents: Mapping[str, str], queries: Mapping[str, str]) -> Rankings:
    """Rank by BM25 with its usual knobs (Lucene's idf, stemming of plurals)."""
    index = Bm25Index.of(documents.items())
    ranked = {}
    for query, text in queries.items():
        rows, scores = index.search(text, DEPTH)
        ranked[query] = [
            (index.rows.id_of(int(row)), float(score)) for row, score in zip(rows, scores, strict=True)
        ]
    return ranked


@dataclass
class Dense:
    """MiniLM vectors, kept in a folder between runs if one is given."""

    folder: Path | None = None
    known: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts, or read what an earlier run kept of the same texts."""
        digest = hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:16]
        path = None if self.folder is None else self.folder / f"{digest}.npy"
        if path is not None and path.exists():
            return np.asarray(np.load(path), dtype=np.float32)
        model = embedder("minilm")
        assert model is not None
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        found = np.empty((len(texts), model.dim), np.float32)
        for start in range(0, len(order), 32):
            rows = order[start : start + 32]
            found[rows] = model.embed_documents([texts[at] for at in rows])
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found)
        return found

    def rank(self, documents: Mapping[str, str], queries: Mapping[str, str]) -> Rankings:
        """Rank by cosine, exactly: every query against every document."""
        ids = np.array(sorted(documents))
        mine = self.vectors([documents[i] for i in ids])
        asked = self.vectors(list(queries.values()))
        ranked = {}
        for start in range(0, len(asked), 500):
            scores = asked[start : start + 500] @ mine.T
            for query, row in zip(list(queries)[start : start + 500], scores, strict=True):
                best = np.argsort(-row, kind="stable")[:DEPTH]
                ranked[query] = [(str(ids[at]), float(row[at])) for at in best]
        return ranked


def by_ranks(*rankings: Rankings) -> Rankings:
    """Fuse rankings by reciprocal ranks, as FusedRanker does."""
    return {
        query: reciprocal_rank_fusion([[doc for doc, _ in r[query]] for r in rankings])[:DEPTH]
        for query in rankings[0]
    }


def by_scores(*rankings: Rankings) -> Rankings:
    """Fuse rankings by scores, as ScoreFusedRanker does, all with the weight 1."""
    return {query: summed([dict(r[query]) for r in rankings])[:DEPTH] for query in rankings[0]}


def expected_mrr(scores: Callable[[str], npt.NDArray[np.float64]], own: Mapping[str, int]) -> float:
    """Return the mean reciprocal rank where tied documents stand in every order equally often."""
    total = 0.0
    for query, at in own.items():
        row = np.round(scores(query), 12)
        above, tied = int((row > row[at]).sum()), int((row == row[at]).sum())
        total += float(np.mean(1.0 / np.arange(above + 1, above + tied + 1))) if row[at] > 0 else 0.0
    return total / len(own)


def table(
    systems: Mapping[str, Rankings],
    relevant: Mapping[str, Mapping[str, int]],
    measures: Sequence[str] = MEASURES,
) -> dict[str, dict[str, list[float]]]:
    """Print each system's figures with 95% intervals; return the values by query."""
    values: dict[str, dict[str, list[float]]] = {}
    print(f"  {'system':<44}" + "".join(f"{m:>26}" for m in measures))
    for name, ranking in systems.items():
        run = Run.of_order(name, {q: [doc for doc, _ in hits] for q, hits in ranking.items()})
        by_query = per_query(run, {q: dict(grades) for q, grades in relevant.items()}, measures)
        values[name] = {m: [by_query[m][q] for q in sorted(by_query[m])] for m in measures}
        cells = [interval(values[name][m], _KNOBS) for m in measures]
        print(f"  {name:<44}" + "".join(f"{c.mean:>10.4f} [{c.low:.4f}, {c.high:.4f}]" for c in cells))
    return values


def versus(
    values: Mapping[str, Mapping[str, list[float]]], second: str, *firsts: str, of: str = "MRR"
) -> None:
    """Print how a system does against others on the same queries: paired, by randomisation."""
    for first in firsts:
        found = compare(values[first][of], values[second][of], _KNOBS)
        d = found.difference
        print(
            f"  {second} − {first}: {of} {d.mean:+.4f} [{d.low:+.4f}, {d.high:+.4f}], p = {found.p:.4f}, "
            f"better on {found.better:,}, worse on {found.worse:,} of {d.queries:,}"
        )
