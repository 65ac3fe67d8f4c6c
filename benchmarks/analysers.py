"""What stemming does to BM25: each analyser on every collection at hand, by paired tests.

    python benchmarks/analysers.py [cranfield apparel scenes metaqa medquad pubmedqa]

BM25 has its default settings throughout; nothing was tuned. Of the data with pictures, a fifth was set aside.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from common import shared_data
from ranking import aside, read_jsonl, told

from mrag.evaluation.benchmark import System, run_system
from mrag.evaluation.metrics import Qrels, Resampling, Scored
from mrag.evaluation.questions import read_collection
from mrag.evaluation.report import evaluate
from mrag.index.bm25 import Bm25Index, Bm25Params

NAMES = ("plural", "none", "snowball:english", "snowball:english+words")
MEASURES = ("MAP", "nDCG@10")


@dataclass(frozen=True)
class Collection:
    """Documents, queries and which documents are right."""

    documents: Mapping[str, str]
    queries: Mapping[str, str]
    qrels: Qrels


def main() -> None:
    """Measure the collections that are named; all if none is."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("collections", nargs="*", choices=[*COLLECTIONS, []])
    options.add_argument("--resamples", type=int, default=10_000)
    args = options.parse_args()
    for name in args.collections or COLLECTIONS:
        found = COLLECTIONS[name]()
        runs = [run_system(system(found, analyser), found.queries, 100) for analyser in NAMES]
        report = evaluate(
            runs,
            found.qrels,
            MEASURES,
            resampling=Resampling(resamples=args.resamples),
            baseline="plural",
            title=f"{name}: {len(found.documents)} documents, {len(found.queries)} queries",
        )
        print(report.to_markdown(), flush=True)


def system(collection: Collection, analyser: str) -> System:
    """Return BM25 by an analyser."""
    index = Bm25Index.of(collection.documents.items(), Bm25Params(analyser=analyser))

    def search(text: str, k: int) -> list[Scored]:
        rows, scores = index.search(text, k)
        return [Scored(index.rows.id_of(r), s) for r, s in zip(rows.tolist(), scores.tolist(), strict=True)]

    return System(analyser, search)


def cranfield() -> Collection:
    """Abstracts of aeronautics, with judgements."""
    found = read_collection(shared_data("cranfield"))
    return Collection(found.documents, found.queries, found.qrels)


def apparel() -> Collection:
    """From a caption of a garment to the graph of its region."""
    return own_graphs(read_jsonl(shared_data("vg_apparel") / "share.jsonl"))


def scenes() -> Collection:
    """From a caption of a scene to its graph."""
    path = shared_data("scenes_factual") / "share" / "pairs_caption_graph.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return own_graphs([json.loads(line) for line in lines if line.startswith("{")])


def own_graphs(rows: list[dict[str, object]]) -> Collection:
    """From each caption to its graph; regions with equal graphs are equally right."""
    equal: defaultdict[str, list[str]] = defaultdict(list)
    for r in rows:
        equal[json.dumps(sorted(r["triples"]))].append(f"r{r['region_id']}")  # type: ignore[call-overload]
    kept = [r for r in rows if not aside(str(r["image_id"]))]
    return Collection(
        {f"r{r['region_id']}": told(r["triples"]) for r in rows},  # type: ignore[arg-type]
        {f"q{r['region_id']}": str(r["caption"]) for r in kept},
        {
            f"q{r['region_id']}": dict.fromkeys(equal[json.dumps(sorted(r["triples"]))], 1)  # type: ignore[call-overload]
            for r in kept
        },
    )


def metaqa() -> Collection:
    """From a question about a film or a person to the name that it asks about."""
    folder = shared_data("metaqa")
    names = {
        part
        for line in (folder / "kb.txt").read_text(encoding="utf-8").splitlines()
        for part in (line.split("|")[0], line.split("|")[-1])
    }
    ids = {name: f"e{number}" for number, name in enumerate(sorted(names))}
    queries, qrels = {}, {}
    for number, row in enumerate(read_jsonl(folder / "dev_1hop.jsonl")):
        if row["entity"] in ids:
            queries[f"q{number}"] = str(row["question"])
            qrels[f"q{number}"] = {ids[row["entity"]]: 1}
    return Collection({ids[name]: name for name in names}, queries, qrels)


def medquad() -> Collection:
    """From a patient's question to the answer of a health institute."""
    with gzip.open(shared_data("medquad") / "share_3878.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if row.get("answer")]
    return Collection(
        {f"d{n}": str(row["answer"]) for n, row in enumerate(rows)},
        {f"q{n}": str(row["question"]) for n, row in enumerate(rows)},
        {f"q{n}": {f"d{n}": 1} for n in range(len(rows))},
    )


def pubmedqa() -> Collection:
    """From a research question to the abstract that was written about it."""
    rows = json.loads((shared_data("pubmedqa") / "pqal_dev500.json").read_text(encoding="utf-8"))
    return Collection(
        {name: " ".join(row["CONTEXTS"]) for name, row in rows.items()},
        {name: str(row["QUESTION"]) for name, row in rows.items()},
        {name: {name: 1} for name in rows},
    )


COLLECTIONS = {
    "cranfield": cranfield,
    "apparel": apparel,
    "scenes": scenes,
    "metaqa": metaqa,
    "medquad": medquad,
    "pubmedqa": pubmedqa,
}

if __name__ == "__main__":
    main()
