"""How well graph codes find what is meant, beside BM25 and dense vectors, on the shared data.

    python benchmarks/graph_codes_quality.py [PART …] [--cache FOLDER]

Parts: `captions`: 10,000 captions, each to its own gold scene graph. `scenes`: a region of an image to
another region of it. `pairs`: SugarCrepe's captions against hard negatives. `clinical`: MedQuAD by disease
and kind of question. `length`: the time that texts take. `agreement`: edges read exactly, on two halves.
`--cache` keeps the vectors, which take longest. What is compared is said above each table.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

from common import shared_data
from graph_codes_clinical import clinical
from graph_codes_common import (
    Dense,
    by_bm25,
    by_codes,
    by_ranks,
    by_scores,
    expected_mrr,
    said,
    shuffled,
    table,
    versus,
)
from graph_codes_pairs import pairs

from mrag.graphcodes.code import GraphCode
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Lexicographic
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import CodeNormaliser, from_scene_triples

PLAIN = CodeNormaliser(singular=False)
"""One way of writing for both sides; number stays as both have it from the caption."""


def rows(name: str) -> list[dict[str, Any]]:
    """Read a file of the FACTUAL scene graphs."""
    path = shared_data(f"scenes_factual/share/{name}")
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def indexed(codes: dict[str, GraphCode]) -> GraphCodeIndex:
    """Put codes into an index in memory."""
    index = GraphCodeIndex()
    index.put(codes)
    return index


def extracted(texts: list[str]) -> list[GraphCode]:
    """Read codes from texts, and print how long it takes."""
    started = time.perf_counter()
    codes = list(TextExtractor().extract_many(texts))
    seconds = time.perf_counter() - started
    print(f"  {len(texts):,} captions read in {seconds:.1f} s ({len(texts) / seconds:.0f}/s)")
    return codes


def agreement(codes: list[GraphCode], gold: list[GraphCode]) -> None:
    """Print precision and recall of edges and nodes against the gold graphs."""
    for what in ("nodes", "edges"):
        mine = [_of(code, what) for code in codes]
        theirs = [_of(code, what) for code in gold]
        both = sum(len(a & b) for a, b in zip(mine, theirs, strict=True))
        precision, recall = both / sum(map(len, mine)), both / sum(map(len, theirs))
        both_ways = 2 * precision * recall / (precision + recall)
        print(f"  {what} read: precision {precision:.3f}, recall {recall:.3f}, F1 {both_ways:.3f}")


def _of(code: GraphCode, what: str) -> set[Any]:
    return set(code.dictionary) if what == "nodes" else {edge.key for edge in code.edges}


def captions(dense: Dense) -> None:
    """Find the gold graph of a caption's own region among 10,000."""
    data = rows("pairs_caption_graph.jsonl.gz")
    ids = [shuffled(f"{row['image_id']}/{row['region_id']}/{at}") for at, row in enumerate(data)]
    print(f"\ncaptions: {len(data):,} captions, each to its own gold scene graph among all {len(data):,}")
    print(
        "  one graph is relevant; equal graphs of other regions tie and count as wrong; ties by shuffled id"
    )
    read = extracted([row["caption"] for row in data])
    raw_gold = [from_scene_triples(row["triples"]) for row in data]
    gold, mine = [PLAIN(code) for code in raw_gold], [PLAIN(code) for code in read]
    agreement(mine, gold)
    documents = dict(zip(ids, gold, strict=True))
    index = indexed(documents)
    asked = dict(zip(ids, mine, strict=True))
    texts = {i: said(row["triples"]) for i, row in zip(ids, data, strict=True)}
    words = {i: row["caption"] for i, row in zip(ids, data, strict=True)}
    raw_index = indexed(dict(zip(ids, raw_gold, strict=True)))
    systems = {
        "gold graph as the query, structural": by_codes(index, documents),
        "gold graph, as the data writes it": by_codes(raw_index, dict(zip(ids, raw_gold, strict=True))),
        "codes, structural": by_codes(index, asked),
        "codes, structural, as the data writes it": by_codes(raw_index, dict(zip(ids, read, strict=True))),
        "codes, paper, weighted": by_codes(index, asked, CodeComparison("paper")),
        "codes, paper, lexicographic": by_codes(index, asked, CodeComparison("paper", Lexicographic())),
        "codes, query-relative": by_codes(index, asked, CodeComparison("query-relative")),
        "BM25": by_bm25(texts, words),
        "dense MiniLM": dense.rank(texts, words),
    }
    codes, bm25, vectors = systems["codes, structural"], systems["BM25"], systems["dense MiniLM"]
    systems["BM25 + dense, by ranks"] = by_ranks(bm25, vectors)
    systems["BM25 + dense"] = by_scores(bm25, vectors)
    systems["codes + BM25, by ranks"] = by_ranks(codes, bm25)
    systems["codes + BM25"] = by_scores(codes, bm25)
    systems["codes + dense"] = by_scores(codes, vectors)
    systems["codes + BM25 + dense"] = by_scores(codes, bm25, vectors)
    values = table(systems, {i: {i: 1} for i in ids})
    versus(values, "codes, structural", "gold graph as the query, structural", "BM25", "dense MiniLM")
    versus(values, "codes + BM25", "codes, structural", "BM25", "dense MiniLM", "BM25 + dense")
    versus(values, "codes + BM25 + dense", "codes + BM25", "BM25 + dense", "codes + dense")
    places = {doc: at for at, doc in enumerate(index.ids)}
    aggregate = CodeComparison().aggregate

    def scores(code: GraphCode) -> Any:
        found = index.scores(code)
        weights = [aggregate.features, aggregate.relations, aggregate.types]  # type: ignore[union-attr]
        return found @ weights / sum(weights)

    own = {i: places[i] for i in ids}
    for name, codes_of in (("gold graph", documents), ("codes", asked)):
        found = expected_mrr(lambda query, c=codes_of: scores(c[query]), own)  # type: ignore[misc]
        print(f"  {name}: MRR with ties in every order equally often {found:.4f}")


def scenes(dense: Dense) -> None:
    """Find another region of the same image; and read captions that no rule was written with."""
    documents, queries = rows("docs.jsonl"), rows("queries.jsonl")
    print(f"\nscenes: {len(queries):,} regions, each to another region of its image among {len(documents):,}")
    gold = {row["doc_id"]: PLAIN(from_scene_triples(row["triples"])) for row in documents}
    index = indexed(gold)
    asked = {row["qid"]: PLAIN(from_scene_triples(row["triples"])) for row in queries}
    read = dict(zip(asked, map(PLAIN, extracted([row["caption"] for row in queries])), strict=True))
    texts = {row["doc_id"]: said(row["triples"]) for row in documents}
    spoken = {row["doc_id"]: " ".join(row["captions"]) for row in documents}
    words = {row["qid"]: row["caption"] for row in queries}
    systems = {
        "gold graph as the query, structural": by_codes(index, asked),
        "codes, structural": by_codes(index, read),
        "codes, query-relative": by_codes(index, read, CodeComparison("query-relative")),
        "BM25 over graphs": by_bm25(texts, words),
        "BM25 over captions": by_bm25(spoken, words),
        "dense MiniLM over graphs": dense.rank(texts, words),
        "dense MiniLM over captions": dense.rank(spoken, words),
    }
    systems["codes + BM25 over graphs"] = by_scores(systems["codes, structural"], systems["BM25 over graphs"])
    systems["codes + BM25 + dense over graphs"] = by_scores(
        systems["codes, structural"], systems["BM25 over graphs"], systems["dense MiniLM over graphs"]
    )
    relevant = {row["qid"]: dict.fromkeys(row["relevant"], 1) for row in queries}
    values = table(systems, relevant, ("MRR", "P@5", "R@10", "MAP", "R@100"))
    versus(values, "codes, structural", "BM25 over graphs", "dense MiniLM over graphs")
    versus(values, "codes + BM25 + dense over graphs", "dense MiniLM over graphs")
    seen = {row["caption"] for row in rows("pairs_caption_graph.jsonl.gz")}
    fresh = [row for row in documents if len(row["captions"]) == 1 and row["captions"][0] not in seen]
    print(
        f"  held out: {len(fresh):,} captions of documents that are not among the 10,000, to their own graph"
    )
    codes = dict(
        zip(
            (row["doc_id"] for row in fresh),
            map(PLAIN, extracted([row["captions"][0] for row in fresh])),
            strict=True,
        )
    )
    agreement(list(codes.values()), [gold[doc] for doc in codes])
    own = {row["doc_id"]: row["captions"][0] for row in fresh}
    held = {
        "gold graph as the query, structural": by_codes(index, {doc: gold[doc] for doc in codes}),
        "codes, structural": by_codes(index, codes),
        "BM25": by_bm25(texts, own),
    }
    held["codes + BM25"] = by_scores(held["codes, structural"], held["BM25"])
    values = table(held, {doc: {doc: 1} for doc in codes})
    versus(values, "codes, structural", "gold graph as the query, structural")
    versus(values, "codes + BM25", "BM25")


def length(dense: Dense) -> None:
    """Read texts of 10 to 640 sentences: the time taken grows in proportion."""
    del dense
    said = json.loads(shared_data("sugarcrepe/add_obj.json").read_text()).values()
    sentences = sorted({row["caption"].rstrip(" .") + "." for row in said})
    reader = TextExtractor()
    reader.extract(sentences[0])
    print("\nlength: sentences of captions, joined to one text")
    for many in (10, 40, 160, 640):
        text = " ".join(sentences[:many])
        started = time.process_time()
        edges = len(reader.extract(text).edges)
        print(
            f"  {many:4} sentences, {edges:5,} edges: {time.process_time() - started:6.2f} s of one processor"
        )


def agreements(dense: Dense) -> None:
    """Print how many edges are read exactly, on two halves of the captions by image."""
    del dense
    data = rows("pairs_caption_graph.jsonl.gz")
    images = sorted({row["image_id"] for row in data})
    random.Random(17).shuffle(images)
    tuned = set(images[: len(images) // 2])
    for name, half in (("looked at", True), ("held out", False)):
        some = [row for row in data if (row["image_id"] in tuned) is half]
        print(f"\nagreement: {len(some):,} captions whose errors were {name}")
        read = extracted([row["caption"] for row in some])
        gold = [from_scene_triples(row["triples"]) for row in some]
        print("  as written by the data:")
        agreement(read, gold)
        print("  normalised:")
        agreement([PLAIN(code) for code in read], [PLAIN(code) for code in gold])


def main() -> None:
    """Run what is asked for, or all of it."""
    parts = {"captions": captions, "scenes": scenes, "pairs": pairs, "clinical": clinical}
    parts |= {"length": length, "agreement": agreements}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of {', '.join(parts)}; all by default")
    parser.add_argument("--cache", type=Path, help="folder to keep vectors in")
    given = parser.parse_args()
    for name in given.parts or parts:
        if name not in parts:
            parser.error(f"there is no part {name!r}; there are {', '.join(parts)}")
        parts[name](Dense(given.cache))


if __name__ == "__main__":
    main()
