"""Edit a large graph and print how long what rests on it takes to follow: inferences, and a similarity index.

    python benchmarks/edits.py                     # 3.94 million triples
    python benchmarks/edits.py --scale 0.1 --check # 400,000, compared with a closure from nothing
    python benchmarks/edits.py --index 200000      # a similarity index of so many documents

The store lies in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

import mrag
from benchmarks.common import processor_time
from benchmarks.reasoning import EX, write
from mrag.graph.kg import KnowledgeGraph
from mrag.graph.updates import update
from mrag.stores.base import Dataset

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
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


KINDS = 40
_WORDS = "amber birch copper delta ember fjord granite harbour island juniper kestrel lantern meadow".split()


def things(number: int) -> str:
    """Return things with a name, a text and a class, of which the first has half of them, as Turtle."""
    dice = random.Random(5)
    lines = [f'<{EX}Kind{n}> <{RDFS}label> "kind {_WORDS[n % 13]} {n}" .' for n in range(KINDS)]
    for n in range(number):
        kind = 0 if n % 2 else 1 + n % (KINDS - 1)
        text = " ".join(dice.choice(_WORDS) for _ in range(12))
        lines.append(
            f'<{EX}thing{n}> a <{EX}Kind{kind}> ; <{RDFS}label> "thing {n}" ; <{RDFS}comment> "{text}" .'
        )
    return "\n".join(lines)


def index(number: int, model: str) -> None:
    """Print the processor time of a build, and of builds after some edits."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "things.ttl").write_text(things(number), encoding="utf-8")
        with mrag.connect(f"oxigraph:{folder / 'store'}") as kg:
            kg.load([folder / "things.ttl"])
            half = number // 2 // 2
            edits = {
                "built": (),
                "nothing changed": (),
                "two texts changed": tuple(_renamed(f"thing{n}", f"thing {n}") for n in (7, half)),
                f"the label of a class of {number // 2 // (KINDS - 1):,} changed": (
                    _renamed("Kind2", "kind copper 2"),
                ),
                f"the label of a class of {number // 2:,} changed": (_renamed("Kind0", "kind amber 0"),),
            }
            whole = 0.0
            for what, texts in edits.items():
                for text in texts:
                    update(kg, text, seconds=600)
                used, began = processor_time(), time.perf_counter()
                report = kg.index(model=model)
                used, took = processor_time() - used, time.perf_counter() - began
                whole = whole or used
                print(
                    f"{what}: {report.added:,} new, {report.changed:,} changed, {report.unchanged:,} as they "
                    f"were; {used:.1f} s of processor time ({used / whole:.1%} of a build), {took:.1f} s; "
                    f"reported {report.seconds:.1f} s",
                    flush=True,
                )


def _renamed(name: str, label: str) -> str:
    old, new = (f'<{EX}{name}> <{RDFS}label> "{text}"' for text in (label, f"{label} anew"))
    return f"DELETE DATA {{ {old} }} ; INSERT DATA {{ {new} }}"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=int, metavar="N", help="measure an index of so many documents")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--check", action="store_true", help="compare with a closure from nothing")
    options = parser.parse_args()
    if options.index:
        index(options.index, options.embedder)
        return
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
