"""What grows with a graph: load, closure, index, opening, and the way from a question to its context.

    python benchmarks/growth.py --scale 0.1 0.3 1                  # each phase in a process of its own
    python benchmarks/growth.py --scale 1 --keep FOLDER            # and keep the store

The graph is that of `fashion.py`, with its ontology. Seconds are of the clock, with those of the processor
beside them; memory is the peak of the phase's process. A line of JSON is printed for each phase; with
`--to FILE` the lines are appended to a file, too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import peak_memory, percentile, processor
from fashion import ATTRIBUTES, CATEGORIES, IMAGES, TBOX, write_graph

import mrag
from mrag.index import SimilarityIndexes
from mrag.reasoning import reason

PHASES = ("load", "reason", "index", "open", "ask")
QUESTIONS = 200


def used(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Do a piece of work, and tell what it took beside what it tells."""
    before, started = processor(), time.perf_counter()
    told = work()
    seconds = time.perf_counter() - started
    return {
        "seconds": round(seconds, 3), "processor": round(processor() - before, 3),
        "mib": round(peak_memory()), "load": round(os.getloadavg()[0], 1), **told,
    }  # fmt: skip


def load(folder: Path, scale: float) -> dict[str, Any]:
    """Load the data and the ontology."""
    source, ontology = folder / "fashion.nt", folder / "tbox.ttl"
    triples = write_graph(source, scale)
    ontology.write_text(TBOX, encoding="utf-8")

    def work() -> dict[str, Any]:
        with mrag.connect(f"oxigraph:{folder / 'kg'}") as kg:
            kg.load([source, ontology])
        return {"triples": triples}

    told = used(work)
    source.unlink()
    return told


def close(folder: Path, _: float) -> dict[str, Any]:
    """Reason to the fixpoint."""
    with mrag.connect(f"oxigraph:{folder / 'kg'}") as kg:
        return used(lambda: {"inferred": reason(kg).triples})


def index(folder: Path, _: float) -> dict[str, Any]:
    """Build the index of words."""
    with mrag.connect(f"oxigraph:{folder / 'kg'}") as kg:
        return used(lambda: {"documents": SimilarityIndexes.of(kg).build(model="none").added})


def opening(folder: Path, _: float) -> dict[str, Any]:
    """Open store and index, and find one thing."""

    def work() -> dict[str, Any]:
        started = time.perf_counter()
        with mrag.connect(f"oxigraph:{folder / 'kg'}") as kg:
            opened = time.perf_counter() - started
            first, _ = _context(kg, "image 7")
            started = time.perf_counter()
            kg.profile()
            profile = time.perf_counter() - started
        return {"opened": round(opened, 4), "first": round(first, 4), "profile": round(profile, 4)}

    return used(work)


def ask(folder: Path, scale: float) -> dict[str, Any]:
    """Go from questions to contexts: things new each time, and hubs."""
    chance = random.Random(7)
    images = int(IMAGES * scale)
    things = [f"image {chance.randrange(images)}" for _ in range(QUESTIONS)]
    hubs = [f"category {chance.randrange(CATEGORIES)}" for _ in range(QUESTIONS // 4)]
    hubs += [f"attribute {chance.randrange(ATTRIBUTES)}" for _ in range(QUESTIONS // 4)]
    with mrag.connect(f"oxigraph:{folder / 'kg'}") as kg:
        for number in range(5):
            _context(kg, f"image {number}")

        def work() -> dict[str, Any]:
            told: dict[str, float] = {}
            for name, texts in (("thing", things), ("hub", hubs)):
                clock, processor = zip(*(_context(kg, text) for text in texts), strict=True)
                for kind, values in (("clock", clock), ("processor", processor)):
                    for p in (50, 99):
                        told[f"{name}_{kind}_p{p}"] = round(percentile(list(values), p) * 1000, 2)
            return told

        return used(work)


def _context(kg: mrag.KnowledgeGraph, text: str) -> tuple[float, float]:
    """Return seconds of the clock and of the processor."""
    started, processor = time.perf_counter(), time.process_time()
    hits = kg.search(text, k=10, ranker="bm25")
    mrag.expand(kg, [(hit.iri, hit.score) for hit in hits], question=text)
    return time.perf_counter() - started, time.process_time() - processor


def _whole(folder: Path, scale: float, to: Path | None) -> None:
    for phase in PHASES:
        command = [sys.executable, __file__, "--phase", phase, "--scale", str(scale), "--keep", str(folder)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        size = sum(file.stat().st_size for file in (folder / "kg").rglob("*") if file.is_file())
        told = json.loads(done.stdout.splitlines()[-1])
        line = {"phase": phase, "scale": scale, "disk": size >> 20, **told}
        print(json.dumps(line), flush=True)
        if to is not None:
            with to.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")


def main() -> None:
    """Measure each scale, or one phase of one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--keep", type=Path, help="the folder of the store")
    parser.add_argument("--to", type=Path, help="a file that the lines are appended to")
    parser.add_argument("--phase", choices=PHASES, help="this alone, over what the ones before left")
    args = parser.parse_args()
    works = dict(zip(PHASES, (load, close, index, opening, ask), strict=True))
    if args.phase:
        print(json.dumps(works[args.phase](args.keep, args.scale[0])))
        return
    for scale in args.scale:
        if args.keep is not None:
            args.keep.mkdir(parents=True, exist_ok=True)
            _whole(args.keep, scale, args.to)
            continue
        with tempfile.TemporaryDirectory() as folder:
            _whole(Path(folder), scale, args.to)


if __name__ == "__main__":
    main()
