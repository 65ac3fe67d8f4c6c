"""Question to rendered context on the Star Wars graph, beside the same retrieval by rdflib.

Both get the same hits to expand: the peer ranks by the cosine of the same embeddings and expands by a
SPARQL query over an rdflib graph, which is what a retriever on rdflib can do.

    python benchmarks/retrieval.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import rdflib
from common import peak_memory, percentile, row, shared_data, timed
from rdflib.plugins.sparql import prepareQuery

import mrag
from mrag.index.embedding import embedder
from mrag.index.similarity import SimilarityIndexes

QUESTIONS = Path(__file__).with_name("starwars_questions.txt").read_text().splitlines()
PEER = Path(__file__).with_name("peer.rq").read_text()


def main() -> None:
    """Print both retrievals' times and their ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--model", default="minilm")
    args = options.parse_args()
    files = sorted(shared_data("starwars_kg").glob("*.ttl"))
    with tempfile.TemporaryDirectory() as folder, mrag.connect(f"oxigraph:{Path(folder) / 'kg'}") as kg:
        started = time.perf_counter()
        kg.load(files)
        try:
            mrag.reason(kg)
        except mrag.MragError as error:
            print(f"nothing inferred: {str(error)[:90]}…")
        print(f"load and reason {time.perf_counter() - started:.1f} s, {kg.record.triples} triples asserted")
        started = time.perf_counter()
        SimilarityIndexes.of(kg).build("main", model=args.model)
        index = SimilarityIndexes.of(kg).get()
        print(f"index {len(index.files)} documents {time.perf_counter() - started:.1f} s")
        retriever = mrag.TripleStoreRetriever(kg=kg, k=10)
        for question in QUESTIONS:
            retriever.retrieve(question)
        ours = [
            timed(lambda q=question: retriever.retrieve(q).context.text())  # type: ignore[misc]
            for _ in range(args.rounds)
            for question in QUESTIONS
        ]
        print(row("mrag: 10 hits, 1 hop, rendered (disk)", ours))
        graph = rdflib.Graph()
        for file in files:
            graph.parse(file)
        model = embedder(args.model)
        if model is None:
            return
        ids = index.files.doc_ids
        vectors = np.stack([model.embed_query(index.files.text_of(i)) for i in ids[:2000]])
        query = prepareQuery(PEER, initNs={"rdfs": rdflib.RDFS})

        def peer(question: str) -> str:
            best = np.argsort(-(vectors @ model.embed_query(question)))[:10]
            lines = []
            for at in best:
                for s, p, o, sl, pl, ol in graph.query(
                    query, initBindings={"entity": rdflib.URIRef(ids[at])}
                ):
                    lines.append(f"({sl or s}, {pl or p}, {ol or o})")
            return "\n".join(lines)

        theirs = [timed(lambda q=question: peer(q)) for question in QUESTIONS]  # type: ignore[misc]
        print(row("rdflib: 10 hits, 1 hop, rendered (memory)", theirs))
        print(f"ratio of medians {percentile(theirs, 50) / percentile(ours, 50):.1f}")
        print(
            f"goals: p50 <= 25 ms {'met' if percentile(ours, 50) <= 25 else 'MISSED'}, "
            f"p99 <= 80 ms {'met' if percentile(ours, 99) <= 80 else 'MISSED'}; "
            f"peak memory {peak_memory():.0f} MiB"
        )


if __name__ == "__main__":
    main()
