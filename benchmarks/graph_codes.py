"""Speed of graph codes: the index beside a dense flat index.

    python benchmarks/graph_codes.py [documents [words]] [--queries N] [--skip-dense]

Documents are drawn: 5 to 40 nodes each, words by Zipf's law, about two edges per node, 20 relations.
Questions are whole documents (hard: 19 nodes and 36 edges on average) and pieces of them of 5 nodes.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mrag.graphcodes.code import Edge, GraphCode, Node
from mrag.graphcodes.code_index import GraphCodeIndex
from mrag.graphcodes.metrics import CodeComparison, Metric
from mrag.graphcodes.segments import Flat

RELATIONS = 20
METRICS: tuple[Metric, ...] = ("paper", "structural")


def draw(documents: int, words: int, seed: int = 0) -> Flat:
    """Draw flat codes."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, words + 1)
    edges = np.cumsum(chance / chance.sum())
    sizes = rng.integers(5, 41, documents)
    doc = np.repeat(np.arange(documents, dtype=np.int64), sizes)
    slot = np.minimum(np.searchsorted(edges, rng.random(len(doc))), words - 1)
    both = np.unique(doc * words + slot)
    doc, slot = np.divmod(both, words)
    first = np.searchsorted(doc, np.arange(documents + 1))
    count = np.diff(first)
    pair_doc = np.repeat(np.arange(documents), 2 * count)
    source = slot[first[pair_doc] + (rng.random(len(pair_doc)) * count[pair_doc]).astype(np.int64)]
    target = slot[first[pair_doc] + (rng.random(len(pair_doc)) * count[pair_doc]).astype(np.int64)]
    _, kept = np.unique((pair_doc * words + source) * words + target, return_index=True)
    pair_doc, source, target = pair_doc[kept], source[kept], target[kept]
    cell = np.minimum(rng.geometric(0.25, len(kept)) - 1, RELATIONS - 1)
    ids = [f"http://example.org/{at:07d}" for at in range(documents)]
    nodes, cells = [Node(f"w{at:05d}") for at in range(words)], [(f"r{at:02d}",) for at in range(RELATIONS)]
    return Flat(ids, nodes, cells, doc, slot, pair_doc, source, target, cell)


def codes_of(flat: Flat, documents: Sequence[int]) -> list[GraphCode]:
    """Make the codes of some documents."""
    starts = np.arange(len(flat.ids) + 1)
    nodes, pairs = np.searchsorted(flat.node_doc, starts), np.searchsorted(flat.pair_doc, starts)
    name = [node.id for node in flat.nodes]
    found = []
    for at in documents:
        edges = [
            Edge(name[flat.pair_source[p]], flat.cells[flat.pair_cell[p]][0], name[flat.pair_target[p]])
            for p in range(pairs[at], pairs[at + 1])
        ]
        found.append(GraphCode.of([name[s] for s in flat.node_slot[nodes[at] : nodes[at + 1]]], edges))
    return found


def piece(code: GraphCode, size: int = 5) -> GraphCode:
    """Give a part of a code with few nodes, those of its first edges."""
    nodes: list[str] = []
    for edge in code.edges:
        for end in (edge.source, edge.target):
            if end not in nodes and len(nodes) < size:
                nodes.append(end)
    return GraphCode.of(nodes, [e for e in code.edges if e.source in nodes and e.target in nodes])


def timed(run: Callable[[GraphCode], object], questions: Sequence[GraphCode]) -> tuple[float, float, float]:
    """Give the median and the 99th percentile of wall time and the median of processor time, in ms.

    Of each question the better of three runs counts: other work on the machine says nothing about this.
    """
    run(questions[0])
    wall, cpu = [], []
    for q in questions:
        runs = []
        for _ in range(3):
            a, b = time.perf_counter(), time.process_time()
            run(q)
            runs.append((time.perf_counter() - a, time.process_time() - b))
        wall.append(min(runs)[0])
        cpu.append(min(used for _, used in runs))
    return statistics.median(wall) * 1e3, float(np.percentile(wall, 99)) * 1e3, statistics.median(cpu) * 1e3


def dense(documents: int) -> Callable[[GraphCode], object]:
    """One product of a matrix of 384 columns and a vector, float32, and its best ten."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((documents, 384), dtype=np.float32)
    query = rng.standard_normal(384, dtype=np.float32)

    def run(_: GraphCode) -> object:
        score = vectors @ query
        top = np.argpartition(-score, 10)[:10]
        return top[np.argsort(-score[top])]

    return run


def line(name: str, times: tuple[float, float, float], more: str = "") -> None:
    """Print a line of the table."""
    print(f"{name:44}{times[0]:9.3f}{times[1]:9.3f}{times[2]:11.3f}{more}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", type=int, nargs="?", default=10_000)
    parser.add_argument("words", type=int, nargs="?", default=4_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--skip-dense", action="store_true")
    given = parser.parse_args()

    flat = draw(given.documents, given.words)
    shape = f"{given.documents:,} documents, {len(flat.node_doc):,} nodes, {len(flat.pair_doc):,} pairs"
    print(f"{shape}; load {os.getloadavg()[0]:.1f}")
    rng = np.random.default_rng(2)
    picks = rng.choice(given.documents, min(given.queries, given.documents), replace=False).tolist()
    whole = codes_of(flat, picks)
    questions = {"document": whole, "5 nodes": [piece(code) for code in whole]}

    with TemporaryDirectory() as folder:
        start, cpu = time.perf_counter(), time.process_time()
        index = GraphCodeIndex(folder)
        index.put(flat)
        wall, used = time.perf_counter() - start, time.process_time() - cpu
        print(
            f"indexing of arrays, on disk: {given.documents / wall:,.0f} documents/s ({used:.2f} s processor)"
        )
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
        print(
            f"on disk {size / given.documents:.0f} B/document, arrays {index.nbytes / given.documents:.0f} B"
        )
        some = dict(zip(flat.ids, codes_of(flat, range(min(5_000, given.documents))), strict=False))
        start = time.perf_counter()
        GraphCodeIndex().put(some)
        print(f"indexing of GraphCode objects: {len(some) / (time.perf_counter() - start):,.0f} documents/s")
        start = time.perf_counter()
        index = GraphCodeIndex(folder)
        print(f"open: {(time.perf_counter() - start) * 1e3:.1f} ms")
        gc.collect()
        gc.disable()
        base: dict[str, float] = {}
        print(f"{'':44}{'median':>9}{'p99':>9}{'processor':>11}   ms per question, best 10")
        for kind, asked in questions.items():
            for metric in METRICS:
                how = CodeComparison(metric)
                times = timed(lambda q, how=how: index.search(q, 10, how), asked)
                if metric == "paper":
                    base[kind] = times[2]
                line(f"{kind}, {metric}", times)
        for kind, asked in questions.items():
            for metric in METRICS:
                how = CodeComparison(metric)
                times = timed(lambda q, how=how: index.scores(q, how), asked[:10])
                line(f"numpy, {kind}, {metric}, all scores", times)
        if given.skip_dense:
            return
        run = dense(given.documents)
        for kind, asked in questions.items():
            times = timed(run, asked[:10])
            line(f"{kind}, dense flat, 384 of float32", times, f"   {times[2] / base[kind]:,.1f} times")


if __name__ == "__main__":
    main()
