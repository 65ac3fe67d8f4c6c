"""Words and meaning together: what each finds alone, and both, fused.

    python benchmarks/fusion.py [--embedder wordllama] [cranfield apparel scenes metaqa medquad pubmedqa]

`even` fuses both by halves, `learnt` by the share that the index learns from questions made of its own
documents, as `mrag index` does. Of the queries of a collection 500 are taken, chosen by a digest of their ID.
`random` is a model of random vectors, to see what fusion makes of a part that knows nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence

import numpy as np
from analysers import COLLECTIONS, Collection

from mrag.evaluation.report import evaluate
from mrag.evaluation.running import System, index_system, run_system
from mrag.evaluation.runs import Scored
from mrag.evaluation.statistics import Resampling
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding.embedders import Embedder, Vectors, embedder

MEASURES = ("nDCG@10", "MRR")
QUERIES = 500
DEPTH = 100


class RandomVectors:
    """A model whose vectors say nothing of a text but whether it is the same."""

    name = "random"
    dim = 64

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a text."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).normal(size=self.dim)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


def main() -> None:
    """Measure the collections that are named; all if none is."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", nargs="*", choices=[*COLLECTIONS, []])
    options.add_argument("--embedder", default="wordllama")
    options.add_argument("--resamples", type=int, default=10_000)
    args = options.parse_args()
    model = RandomVectors() if args.embedder == "random" else embedder(args.embedder)
    if model is None:
        raise SystemExit("Name a model.")
    for name in args.collections or COLLECTIONS:
        measure(name, COLLECTIONS[name](), model, Resampling(resamples=args.resamples))


def measure(name: str, found: Collection, model: Embedder, knobs: Resampling) -> None:
    """Print the table of a collection."""
    index = DocumentIndex.create(None, embedder=model)
    index.sync(found.documents.items(), extra={})
    started = time.perf_counter()
    weight = index.learnt_weight()
    print(f"\nLearnt in {time.perf_counter() - started:.1f} s: {weight}.")

    def learnt(text: str, k: int) -> list[Scored]:
        return [Scored(m.doc_id, m.score) for m in index.search(text, k, weight=weight.dense)]

    systems = [
        *(index_system(index, kind) for kind in ("bm25", "dense")),
        System("even", index_system(index, "hybrid").search),
        System("learnt", learnt),
    ]
    chosen = sorted(found.queries, key=lambda q: hashlib.blake2b(json.dumps(q).encode()).digest())[:QUERIES]
    queries = {q: found.queries[q] for q in chosen}
    report = evaluate(
        [run_system(system, queries, DEPTH) for system in systems],
        {q: found.qrels[q] for q in chosen if q in found.qrels},
        MEASURES,
        resampling=knobs,
        baseline="learnt",
        title=f"{name}, {model.name}: {len(found.documents)} documents, {len(queries)} queries",
    )
    print(report.to_markdown(), flush=True)


if __name__ == "__main__":
    main()
