"""From an annotation file like Fashionpedia's to graphs that are loaded, reasoned over and indexed.

python benchmarks/fashionpedia.py [--scale 1.0] [--file instances_attributes_train2020.json]

Without a file one is made from a seed, with the published number of images, annotations and attributes;
making it does not count. Four graphs: the annotations, images with sentences, and two for learning class
expressions. Reasoning over the first and making the others go on some at a time, so that the seconds of these
steps overlap. BM25 indexes the sentences of each image, and with --index-all the texts of the other graphs.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import peak_memory

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.views import VIEWS, View, find, make_views
from mrag.index.documents import Definition
from mrag.index.similarity import SimilarityIndexes
from mrag.loaders.scenes import Fashionpedia
from mrag.reasoning.run import reason
from mrag.testing.annotations import write_annotations

GOAL_SECONDS, GOAL_MIB = 240, 4096
SENTENCES = Definition(queries=("kg/sentences",), languages=("", "en"), fallback=False, length=20_000)


class Steps:
    """The steps with their seconds of clock and processor, and the largest memory so far."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[Callable[[str], None]]:
        """Time a step; what it is told is printed beside it."""
        told: list[str] = []
        started, used = time.perf_counter(), os.times()
        yield told.append
        seconds, now = time.perf_counter() - started, os.times()
        busy = now.user + now.system - used.user - used.system
        self.rows.append({"step": name, "seconds": seconds, "processor": busy, "peak_mib": peak_memory()})
        print(
            f"{name:<28} {seconds:7.1f} s  processor {busy:7.1f} s  peak {peak_memory():6.0f} MiB"
            f"  {' '.join(told)}",
            flush=True,
        )


def main() -> None:
    """Print the steps, and whether the goals are met."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--file", type=Path)
    options.add_argument("--labels", type=Path, help="JSON with the real categories and attributes")
    options.add_argument("--index-all", action="store_true")
    options.add_argument("--json", type=Path, help="write the figures to this file, too")
    args = options.parse_args()
    steps = Steps()
    with tempfile.TemporaryDirectory(prefix="mrag-bench-") as folder:
        source = args.file
        if source is None:
            source = Path(folder) / "annotations.json"
            images, annotations = write_annotations(source, scale=args.scale, labels=args.labels)
            print(f"{images:,} images, {annotations:,} annotations, {source.stat().st_size / 2**20:.0f} MiB")
        began = time.perf_counter()
        run(source, Path(folder) / "store", steps, index_all=args.index_all)
        total = time.perf_counter() - began
    met = total <= GOAL_SECONDS and peak_memory() <= GOAL_MIB
    verdict = "" if args.scale < 1 and args.file is None else ": met" if met else ": MISSED"
    print(
        f"{'in all':<28} {total:7.1f} s  peak {peak_memory():.0f} MiB;"
        f" goal at scale 1 {GOAL_SECONDS} s and {GOAL_MIB} MiB{verdict}"
    )
    if args.json:
        figures = {"scale": args.scale, "seconds": total, "peak_mib": peak_memory(), "steps": steps.rows}
        args.json.write_text(json.dumps(figures, indent=2) + "\n")


def run(source: Path, store: Path, steps: Steps, *, index_all: bool) -> None:
    """Carry out the steps."""
    with mrag.connect(f"oxigraph:{store}") as kg:
        records = Fashionpedia(source)
        with steps("read") as tell:
            triples = store.with_suffix(".nt")
            tell(f"{records.write(triples).triples:,} statements")
        with steps("load") as tell:
            tell(f"{kg.load([triples]).triples:,} triples")
        triples.unlink()

        def reason_over_source() -> None:
            with steps("  reason over annotations") as tell:
                tell(f"{reason(kg).triples:,} inferred")

        with steps("reason and make views"):
            names = {name: find(name).short for name in VIEWS}
            views = make_views(kg, names, finished(steps), also=[reason_over_source])
        for graph in (kg, views["cel"], views["garments"]) if index_all else ():
            index(steps, graph)


def finished(steps: Steps) -> Callable[[View, KnowledgeGraph], None]:
    """Return what reasons over a view that was made, and indexes the sentences; two run at a time."""

    def after(view: View, graph: KnowledgeGraph) -> None:
        with steps(f"  reason over {view.short}") as tell:
            tell(f"{graph.record.triples:,} triples, {reason(graph).triples:,} inferred")
        if view.short == "images":
            index(steps, graph)

    return after


def index(steps: Steps, graph: KnowledgeGraph) -> None:
    """Index a graph by BM25."""
    with steps(f"  index {graph.name}") as tell:
        definition = SENTENCES if graph.name == "images" else Definition()
        report = SimilarityIndexes.of(graph).build("main", definition=definition, model=None)
        tell(f"{report.added:,} documents")


if __name__ == "__main__":
    main()
