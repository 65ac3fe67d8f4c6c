"""From an annotation file like Fashionpedia's to graphs that are loaded, reasoned over and indexed.

python benchmarks/fashionpedia.py [--scale 1.0] [--file instances_attributes_train2020.json]

Without a file one is made from a seed, with the published number of images, annotations and attributes;
making it does not count. Four graphs: the annotations, images with sentences, and two for learning class
expressions. Reasoning over the first and making the others go on some at a time, so that the seconds of these
steps overlap. BM25 indexes the sentences of each image.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from common import peak_memory

import mrag
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.views import VIEWS, View, find, make_views
from mrag.index.documents import Definition
from mrag.index.similarity import SimilarityIndexes
from mrag.loaders.scenes import Fashionpedia
from mrag.reasoning.run import reason
from tests.made import write_annotations

GOAL_SECONDS, GOAL_MIB = 240, 4096
SENTENCES = Definition(queries=("kg/sentences",), languages=("", "en"), fallback=False, length=20_000)


@contextmanager
def step(name: str) -> Iterator[Callable[[str], None]]:
    """Time a step by clock and processor, with the largest memory so far; what it tells is printed."""
    told: list[str] = []
    started, used = time.perf_counter(), os.times()
    yield told.append
    seconds, now = time.perf_counter() - started, os.times()
    busy = now.user + now.system - used.user - used.system
    figures = f"{seconds:7.1f} s  processor {busy:7.1f} s  peak {peak_memory():6.0f} MiB"
    print(f"{name:<28} {figures}  {' '.join(told)}", flush=True)


def run(source: Path, store: Path) -> None:
    """Carry out the steps."""
    with mrag.connect(f"oxigraph:{store}") as kg:
        triples = store.with_suffix(".nt")
        with step("read") as tell:
            tell(f"{Fashionpedia(source).write(triples).triples:,} statements")
        with step("load") as tell:
            tell(f"{kg.load([triples]).triples:,} triples")
        triples.unlink()

        def reason_over_source() -> None:
            with step("  reason over annotations") as tell:
                tell(f"{reason(kg).triples:,} inferred")

        with step("reason and make views"):
            names = {name: find(name).short for name in VIEWS}
            make_views(kg, names, finished, also=[reason_over_source])


def finished(view: View, graph: KnowledgeGraph) -> None:
    """Reason over a view that was made, and index the sentences; two run at a time."""
    with step(f"  reason over {view.short}") as tell:
        tell(f"{graph.record.triples:,} triples, {reason(graph).triples:,} inferred")
    if view.short == "images":
        with step(f"  index {graph.name}") as tell:
            report = SimilarityIndexes.of(graph).build("main", definition=SENTENCES, model=None)
            tell(f"{report.added:,} documents")


def main() -> None:
    """Print the steps, and whether the goals are met."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--file", type=Path)
    args = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="mrag-bench-") as folder:
        source = args.file
        if source is None:
            source = Path(folder) / "annotations.json"
            images, annotations = write_annotations(source, scale=args.scale)
            print(f"{images:,} images, {annotations:,} annotations, {source.stat().st_size / 2**20:.0f} MiB")
        began = time.perf_counter()
        run(source, Path(folder) / "store")
        total = time.perf_counter() - began
    met = total <= GOAL_SECONDS and peak_memory() <= GOAL_MIB
    goal = f"goal at scale 1 {GOAL_SECONDS} s and {GOAL_MIB} MiB: {'met' if met else 'missed'}"
    print(f"{'in all':<28} {total:7.1f} s  peak {peak_memory():.0f} MiB; {goal}")


if __name__ == "__main__":
    main()
