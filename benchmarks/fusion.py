"""Words and meaning together: what each finds alone, and both, fused.

    python benchmarks/fusion.py [--embedder wordllama] [--queries 500] [--documents 0]
        [cranfield apparel scenes metaqa medquad pubmedqa labels starwars]

`even` fuses both by halves, `learnt` by the share that the index learns from questions made of its own
documents, as `mrag index` does. Of the queries of a collection 500 are taken, chosen by a digest of their ID;
with `--documents`, no more than so many documents, those that are right among them. `labels` are questions by
a template about garments, with captions as documents; `starwars` asks for entities by their description,
which is taken out of the documents. `random` is a model of random vectors, to see what fusion makes of a
part that knows nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence

import numpy as np
from analysers import COLLECTIONS as PLAIN
from common import shared_data
from ranking import E, aside, read_jsonl, region_triples

import mrag
from mrag.evaluation.benchmark import System, index_system, run_system
from mrag.evaluation.metrics import Resampling, Scored
from mrag.evaluation.questions import Collection, EntityShape, by_graph, instances, template_questions
from mrag.evaluation.report import evaluate
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding import Embedder, Vectors, embedder
from mrag.index.similarity import SimilarityIndex, SimilarityIndexes
from mrag.stores.base import SelectResult

MEASURES = ("nDCG@10", "MRR")
DEPTH = 100
DESCRIBED = 'SELECT ?s ?d { ?s <https://swapi.co/vocabulary/desc> ?d FILTER(LANG(?d) = "en") }'


def labels() -> Collection:
    """From a question by template about a garment to the captions of the regions that show such a one."""
    rows = read_jsonl(shared_data("vg_apparel") / "share.jsonl")
    with mrag.connect() as kg:
        kg.insert(region_triples(rows))
        shape = EntityShape(E + "shows", E + "kind", E + "Region")
        entities = instances(kg, E + "Region")
        asked = template_questions(kg, entities, shape, conditions=1)
        distinct = {a.text: a for a in asked if len(a.demand.parts[0]) > 1}.values()
        qrels, _ = by_graph(kg, {a.question: a.demand for a in distinct}, shape)
    kept = {a.question: a.text for a in distinct if not aside(a.entity)}
    captions = {E + "region/" + r["region_id"]: str(r["caption"]) for r in rows}
    return Collection("labels", kept, {question: qrels[question] for question in kept}, captions)


def starwars() -> Collection:
    """From the English description of an entity to what the graph says of it otherwise."""
    with mrag.connect() as kg:
        kg.load(sorted(shared_data("starwars_kg").glob("*.ttl")))
        indexes = SimilarityIndexes.of(kg)
        indexes.build(model="none")
        index = indexes.get()
        assert isinstance(index, SimilarityIndex)
        documents = {iri: index.files.text_of(iri) for iri in index.files.doc_ids}
        qrels: dict[str, dict[str, int]] = {}
        described = kg.query(DESCRIBED)
        assert isinstance(described, SelectResult)
        for iri, words in ((str(s), str(d)) for s, d in described):
            if words in documents.get(iri, "") and len(words.split()) > 1:
                documents[iri] = documents[iri].replace(words + ". ", "").replace(words, "")
                qrels.setdefault(words, {})[iri] = 1
    return Collection("starwars", {words: words for words in qrels}, qrels, documents)


def fewer(found: Collection, queries: int, documents: int) -> Collection:
    """Return some queries of a collection, and no more than so many documents; 0 for all."""

    def order(name: str) -> bytes:
        return hashlib.blake2b(json.dumps(name).encode()).digest()

    chosen = [q for q in sorted(found.queries, key=order) if found.qrels.get(q)][:queries]
    qrels = {q: found.qrels[q] for q in chosen}
    kept = dict.fromkeys(d for right in qrels.values() for d in right if d in found.documents)
    if documents:
        others = [d for d in sorted(found.documents, key=order) if d not in kept]
        kept |= dict.fromkeys(others[: max(0, documents - len(kept))])
    texts = {d: found.documents[d] for d in (kept if documents else found.documents)}
    return Collection(found.name, {q: found.queries[q] for q in chosen}, qrels, texts)


COLLECTIONS = {**PLAIN, "labels": labels, "starwars": starwars}


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
    options.add_argument("--queries", type=int, default=500)
    options.add_argument("--documents", type=int, default=0)
    options.add_argument("--resamples", type=int, default=10_000)
    args = options.parse_args()
    model = RandomVectors() if args.embedder == "random" else embedder(args.embedder)
    if model is None:
        raise SystemExit("Name a model.")
    for name in args.collections or COLLECTIONS:
        found = fewer(COLLECTIONS[name](), args.queries, args.documents)
        measure(name, found, model, Resampling(resamples=args.resamples))


def measure(name: str, found: Collection, model: Embedder, knobs: Resampling) -> None:
    """Print the table of a collection."""
    index = DocumentIndex.create(None, embedder=model)
    index.sync(found.documents.items(), extra={})
    started = time.perf_counter()
    weight = index.learnt_weight()
    print(f"\nLearnt in {time.perf_counter() - started:.1f} s: {weight}.")

    def learnt(text: str, k: int) -> list[Scored]:
        return [Scored(m.doc_id, m.score) for m in index.search(text, k, weight=weight.of(text))]

    systems = [
        *(index_system(index, kind) for kind in ("bm25", "dense")),
        System("even", index_system(index, "hybrid").search),
        System("learnt", learnt),
    ]
    report = evaluate(
        [run_system(system, found.queries, DEPTH) for system in systems],
        found.qrels,
        MEASURES,
        resampling=knobs,
        baseline="learnt",
        title=f"{name}, {model.name}: {len(found.documents)} documents, {len(found.queries)} queries",
    )
    print(report.to_markdown(), flush=True)


if __name__ == "__main__":
    main()
