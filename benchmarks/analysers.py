"""What stemming does to BM25: each analyser on every collection at hand, by paired tests.

    python benchmarks/analysers.py [cranfield apparel scenes metaqa medquad pubmedqa]

BM25 has its default settings throughout; nothing was tuned. Of the data with pictures, a fifth was set aside.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from typing import Any

from common import shared_data
from ranking import aside, read_jsonl, told

from mrag.evaluation.benchmark import System, run_system
from mrag.evaluation.metrics import Resampling, Scored
from mrag.evaluation.questions import Collection, read_collection
from mrag.evaluation.report import evaluate
from mrag.index.bm25 import Bm25Index, Bm25Params

NAMES = ("plural", "none", "snowball:english", "snowball:english+words")
MEASURES = ("MAP", "nDCG@10")


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
    return read_collection(shared_data("cranfield"))


def apparel() -> Collection:
    """From a caption of a garment to the graph of its region."""
    return own_graphs("apparel", read_jsonl(shared_data("vg_apparel") / "share.jsonl"))


def scenes() -> Collection:
    """From a caption of a scene to its graph."""
    return own_graphs("scenes", zipped("scenes_factual/share/pairs_caption_graph.jsonl.gz"))


def zipped(path: str) -> list[Any]:
    """Read the objects of a file of JSON lines."""
    with gzip.open(shared_data(path), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.startswith("{")]


def own_graphs(name: str, rows: list[Any]) -> Collection:
    """From each caption to its graph; regions with equal graphs are equally right."""
    equal: defaultdict[str, list[str]] = defaultdict(list)
    for r in rows:
        equal[json.dumps(sorted(r["triples"]))].append(f"r{r['region_id']}")
    kept = {f"q{r['region_id']}": r for r in rows if not aside(str(r["image_id"]))}
    right = {q: dict.fromkeys(equal[json.dumps(sorted(r["triples"]))], 1) for q, r in kept.items()}
    documents = {f"r{r['region_id']}": told(r["triples"]) for r in rows}
    return Collection(name, {q: str(r["caption"]) for q, r in kept.items()}, right, documents)


def metaqa() -> Collection:
    """From a question about a film or a person to the name that it asks about."""
    folder = shared_data("metaqa")
    lines = (folder / "kb.txt").read_text(encoding="utf-8").splitlines()
    names = sorted({part for line in lines for part in (line.split("|")[0], line.split("|")[-1])})
    ids = {name: f"e{number}" for number, name in enumerate(names)}
    rows = [row for row in read_jsonl(folder / "dev_1hop.jsonl") if row["entity"] in ids]
    pairs = [(str(row["question"]), ids[row["entity"]]) for row in rows]
    return paired("metaqa", pairs, {found: name for name, found in ids.items()})


def medquad() -> Collection:
    """From a patient's question to the answer of a health institute."""
    rows = [row for row in zipped("medquad/share_3878.jsonl.gz") if row.get("answer")]
    documents = {f"d{n}": str(row["answer"]) for n, row in enumerate(rows)}
    return paired("medquad", [(str(row["question"]), f"d{n}") for n, row in enumerate(rows)], documents)


def pubmedqa() -> Collection:
    """From a research question to the abstract that was written about it."""
    rows = json.loads((shared_data("pubmedqa") / "pqal_dev500.json").read_text(encoding="utf-8"))
    documents = {name: " ".join(row["CONTEXTS"]) for name, row in rows.items()}
    return paired("pubmedqa", [(str(row["QUESTION"]), name) for name, row in rows.items()], documents)


def paired(name: str, pairs: list[tuple[str, str]], documents: dict[str, str]) -> Collection:
    """From each question to the one document that is right."""
    queries = {f"q{n}": question for n, (question, _) in enumerate(pairs)}
    return Collection(name, queries, {f"q{n}": {right: 1} for n, (_, right) in enumerate(pairs)}, documents)


COLLECTIONS = {made.__name__: made for made in (cranfield, apparel, scenes, metaqa, medquad, pubmedqa)}

if __name__ == "__main__":
    main()
