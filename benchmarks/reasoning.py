"""Close a graph of the size of Fashionpedia under its ontology and print the cost.

    python benchmarks/reasoning.py                       # 3.94 million triples
    python benchmarks/reasoning.py --scale 0.005 --engine owlrl

Each engine runs in a fresh store in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from mrag.loaders.rdf import Source
from mrag.reasoning.rounds import materialise
from mrag.stores.base import Dataset
from mrag.stores.oxigraph import OxigraphStore

EX = "http://ex.org/"
TBOX = Path(__file__).with_name("reasoning.ttl").read_text()


def lines(scale: float) -> Iterator[str]:
    """Yield N-Triples: images, annotations with eight literals each, categories, attributes."""
    rnd = random.Random(7)
    images, annotations = max(1, round(45_623 * scale)), max(1, round(310_927 * scale))
    a, p = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", f"<{EX}"
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    groups = ("Upper", "Lower", "Head", "Neck", "Garment", "Accessory")
    for i in range(46):
        yield f"{p}cat_{i}> {a} {p}{groups[i % 6]}> ."
    for i in range(294):
        yield f"{p}attr_{i}> {a} {p}Attribute> ."
    for i in range(images):
        s = f"{p}img_{i}>"
        yield f"{s} {a} {p}Image> ."
        yield f'{s} {p}fileName> "{i:08d}.jpg" .'
        yield f'{s} {p}width> "{400 + i % 900}"{integer} .'
        yield f'{s} {p}height> "{400 + i % 700}"{integer} .'
        yield f'{s} {p}caption> "a photo of number {i}" .'
        if i % 2:
            yield f'{s} {p}license> "{i % 9}"{integer} .'
    for i in range(annotations):
        s = f"{p}ann_{i}>"
        yield f"{s} {a} {p}Annotation> ."
        yield f"{s} {p}hasImage> {p}img_{rnd.randrange(images)}> ."
        # Squared, so that some categories have many annotations and most have few.
        yield f"{s} {p}hasCategory> {p}cat_{int(46 * rnd.random() ** 2)}> ."
        if i % 8 < 7:
            yield f"{s} {p}hasAttribute> {p}attr_{rnd.randrange(294)}> ."
        for name in ("x", "y", "w", "h", "area", "crowd", "order"):
            yield f'{s} {p}{name}> "{rnd.randrange(1000)}"{integer} .'
        yield f'{s} {p}segmentation> "s{i}" .'


def write(folder: Path, scale: float) -> list[Path]:
    """Write the data and the ontology."""
    data, tbox = folder / "data.nt", folder / "tbox.ttl"
    with data.open("w") as out:
        out.writelines(line + "\n" for line in lines(scale))
    tbox.write_text(TBOX)
    return [data, tbox]


def ours(folder: Path, files: list[Path]) -> str:
    """Load and close by the rules."""
    with OxigraphStore(folder / "store") as store:
        began = time.perf_counter()
        store.bulk_load([Source.of(f) for f in files[:1]], "urn:asserted")
        store.bulk_load([Source.of(f) for f in files[1:]], "urn:asserted")
        loaded = time.perf_counter() - began
        asserted, cpu = Dataset(default=("urn:asserted",)), time.process_time()
        closure = materialise(store, asserted, "urn:inferred", on_round=_say)
        cpu = time.process_time() - cpu
        times = f"load {loaded:.1f} s, closure {closure.seconds:.1f} s wall and {cpu:.1f} s CPU"
        return f"{times}, {closure.triples:,} inferred triples"


def _say(done: object) -> None:
    print("   ", done, file=sys.stderr)


def owlrl(files: list[Path]) -> str:
    """Close by owlrl over rdflib."""
    import rdflib
    from owlrl import DeductiveClosure, OWLRL_Semantics

    graph = rdflib.Graph()
    for file in files:
        graph.parse(file)
    before, began = len(graph), time.perf_counter()
    DeductiveClosure(OWLRL_Semantics).expand(graph)
    return (
        f"closure {time.perf_counter() - began:.1f} s, {len(graph) - before:,} inferred triples with trivia"
    )


def main() -> None:
    """Run one engine and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="1 is 3.94 million triples")
    parser.add_argument("--engine", choices=["rules", "owlrl"], default="rules")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mrag-reasoning-") as folder:
        files = write(Path(folder), options.scale)
        with files[0].open() as stream:
            triples = sum(1 for _ in stream)
        alone = options.engine == "owlrl"
        text = owlrl(files) if alone else ours(Path(folder), files)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{options.engine}: {triples:,} triples, {text}, peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
