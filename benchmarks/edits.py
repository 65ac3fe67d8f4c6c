"""Edit a large graph and print how long what rests on it takes to follow.

    python benchmarks/edits.py                     # 3.94 million triples
    python benchmarks/edits.py --scale 0.1 --check # 400,000, compared with a closure from nothing

The store lies in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import mrag
from benchmarks.reasoning import EX, write
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.stores.base import Dataset

_COPY = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


def follow(kg: KnowledgeGraph, text: str, what: str) -> None:
    """Carry out an update, have the inferences follow, and print how long each took."""
    began = time.perf_counter()
    report = update(kg, text, seconds=600)
    updated = time.perf_counter()
    before = kg.record.inferences
    closure = mrag.reason(kg)
    done = time.perf_counter()
    print(
        f"{what}: {report.removed:,} removed, {report.added:,} added in {updated - began:.2f} s; "
        f"inferences follow in {done - updated:.2f} s ({closure.triples - before:+,} of {closure.triples:,})",
        flush=True,
    )


def facts(kg: KnowledgeGraph, number: int) -> str:
    """Return some facts that inferences rest on, as N-Triples."""
    asked = f"SELECT ?s ?o {{ ?s <{EX}hasCategory> ?o }}"
    rows = sorted((str(s), str(o)) for s, o in kg.select(asked, "asserted"))
    random.Random(11).shuffle(rows)
    return "\n".join(f"<{s}> <{EX}hasCategory> <{o}> ." for s, o in rows[:number])


def same(kg: KnowledgeGraph) -> bool:
    """Return whether the inferences are those of a closure from nothing."""

    def held(graphs: tuple[str, ...]) -> set[str]:
        return {str(t) for g in graphs for t in kg.store.construct(_COPY, Dataset((g,)))}

    followed = held(kg.record.inferred)
    kg.set_inferred(())
    return held(mrag.reason(kg).graphs) == followed


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--check", action="store_true", help="compare with a closure from nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
            loaded = kg.load(write(folder, options.scale))
            closure = mrag.reason(kg)
            print(
                f"{loaded.triples:,} triples, {closure.triples:,} inferred in {closure.seconds:.1f} s",
                flush=True,
            )
            one, many = facts(kg, 1), facts(kg, options.many)
            follow(kg, f"DELETE DATA {{ {one} }}", "one fact out")
            follow(kg, f"INSERT DATA {{ {one} }}", "one fact in")
            follow(kg, f"DELETE DATA {{ {many} }}", f"{options.many:,} facts out")
            follow(kg, f"INSERT DATA {{ {many} }}", f"{options.many:,} facts in")
            if options.check:
                print("as a closure from nothing:", same(kg))


if __name__ == "__main__":
    main()
