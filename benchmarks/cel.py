"""Class expression learning: published problems, and a graph of 45,623 images.

python benchmarks/cel.py published [--learners search m-of-n celoe tdl] [--folds 10]
python benchmarks/cel.py fashion [--problems 10] [--sizes 5 10 20 213] [--scale 1.0]
python benchmarks/cel.py export FOLDER        the same graph and problems as files, for other programs

Quality on the examples learnt from is printed for the published problems, as is usual for them, and with
`--folds` that on folds held out; on the images it is measured on others as well.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import peak_memory, shared_data
from rdflib import Graph

import mrag
from mrag.cel.evaluate import World
from mrag.cel.examples import read_problems
from mrag.cel.expressions import Named
from mrag.cel.learners.base import FitState, LearnerSettings, learner
from mrag.cel.learners.search import CombinationSearch, FeatureSettings, SearchSettings, features
from mrag.cel.notation import to_dl
from mrag.cel.problem import LearningProblem, confusion, quality
from mrag.errors import LoadError
from mrag.graph.kg import KnowledgeGraph
from mrag.reasoning.run import reason

BASE = "http://example.org/"
IMAGES, CATEGORIES, ATTRIBUTES, STYLES = 45_623, 46, 294, 120
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_OWL = "http://www.w3.org/2002/07/owl#"

PUBLISHED = (
    ("drill/Family/family-benchmark_rich_background.owl", "drill/Family/lp_dl_learner.json"),
    ("smlbench/animals/data/animals.owl", "smlbench/animals/lp"),
    ("smlbench/lymphography/data/lymphography.owl", "smlbench/lymphography/lp"),
    ("dllearner/father/father.owl", "dllearner/father/father.conf"),
    ("dllearner/trains/trains2.owl", "dllearner/trains/trains_owl.conf"),
    ("dllearner/forte/forte_family.owl", "dllearner/forte/uncle_owl_large.conf"),
)


@dataclass(frozen=True)
class Split:
    """A problem to learn from and others of the same kind to check with."""

    train: LearningProblem
    test: LearningProblem


def write_graph(path: Path, scale: float, seed: int = 7) -> np.ndarray:
    """Write images with categories and attributes, and return a vector for each.

    Each image has one of 120 styles, which makes some categories and attributes likely; the others come at
    random, frequent ones more often. As an embedding of a description would, its vector adds up one vector
    for each thing it shows, rare things weighing more, and some noise; so no expression fits exactly.
    """
    rng = random.Random(seed)
    vectors = np.random.default_rng(seed)
    images = int(IMAGES * scale)
    shown = vectors.normal(size=(CATEGORIES + ATTRIBUTES, 64))
    holds = np.zeros((images, CATEGORIES + ATTRIBUTES), dtype=bool)
    signature = [
        (rng.sample(range(CATEGORIES), rng.randint(2, 4)), rng.sample(range(ATTRIBUTES), rng.randint(5, 9)))
        for _ in range(STYLES)
    ]
    common_c = [1 / (rank + 1) for rank in range(CATEGORIES)]
    common_a = [1 / (rank + 5) for rank in range(ATTRIBUTES)]
    styles = rng.choices(range(STYLES), [1 / (s + 10) for s in range(STYLES)], k=images)
    with path.open("w", encoding="ascii") as out:

        def put(s: str, p: str, o: str) -> None:
            out.write(f"<{s}> <{p}> <{o}> .\n")

        kinds = {
            "hasAnnotationCategory": "AnnotationCategory",
            "hasAnnotationSupercategory": "AnnotationSupercategory",
            "hasAttribute": "Attribute",
            "hasAttributeCategory": "AttributeCategory",
        }
        for kind in ("Image", *kinds.values()):
            put(BASE + kind, _RDF, _OWL + "Class")
        for p in kinds:
            put(BASE + p, _RDF, _OWL + "ObjectProperty")
        for kind, n in (("annotation_category", CATEGORIES), ("attribute", ATTRIBUTES),
                        ("annotation_supercategory", 12), ("attribute_category", 9)):  # fmt: skip
            name = "".join(w.title() for w in kind.split("_"))
            for at in range(n):
                put(f"{BASE}{kind}_{at}", _RDF, BASE + name)
                put(f"{BASE}{kind}_{at}", _RDF, _OWL + "NamedIndividual")
        for i, style in enumerate(styles):
            likely_c, likely_a = signature[style]
            categories = {c for c in likely_c if rng.random() < 0.85}
            categories |= {*rng.choices(range(CATEGORIES), common_c, k=rng.randint(1, 5))}
            attributes = {a for a in likely_a if rng.random() < 0.6}
            attributes |= {*rng.choices(range(ATTRIBUTES), common_a, k=rng.randint(2, 14))}
            holds[i, sorted(categories)] = True
            holds[i, [CATEGORIES + a for a in sorted(attributes)]] = True
            image = f"{BASE}image_{i}"
            put(image, _RDF, BASE + "Image")
            put(image, _RDF, _OWL + "NamedIndividual")
            for c in sorted(categories):
                put(image, BASE + "hasAnnotationCategory", f"{BASE}annotation_category_{c}")
            for c in sorted({c % 12 for c in categories}):
                put(image, BASE + "hasAnnotationSupercategory", f"{BASE}annotation_supercategory_{c}")
            for a in sorted(attributes):
                put(image, BASE + "hasAttribute", f"{BASE}attribute_{a}")
            for a in sorted({a % 9 for a in attributes}):
                put(image, BASE + "hasAttributeCategory", f"{BASE}attribute_category_{a}")
    weights = np.log(images / np.maximum(holds.sum(axis=0), 1))
    places: np.ndarray = holds @ (shown * weights[:, None]) + vectors.normal(scale=5.0, size=(images, 64))
    return places / np.linalg.norm(places, axis=1, keepdims=True)


def splits(places: np.ndarray, size: int, problems: int, seed: int = 1) -> list[Split]:
    """Draw problems: twice `size` nearest images of one against as many at random, half of each held out."""
    rng = random.Random(seed)
    found = []
    for _ in range(problems):
        query = rng.randrange(len(places))
        near = np.argsort(-(places @ places[query]), kind="stable")[: 2 * size].tolist()
        inside = {*near}
        far = [i for i in rng.sample(range(len(places)), 4 * size + 10) if i not in inside][: 2 * size]
        rng.shuffle(near)
        names = [[f"{BASE}image_{i}" for i in group] for group in (near, far)]
        found.append(
            Split(
                LearningProblem(names[0][:size], names[1][:size]),
                LearningProblem(names[0][size:], names[1][size:]),
            )
        )
    return found


def load(kg: KnowledgeGraph, path: Path) -> None:
    """Load an ontology and reason; RDF/XML that the product does not take is read by rdflib."""
    try:
        kg.load([path])
    except LoadError:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.nt"
            Graph().parse(path, format="xml").serialize(copy, format="nt", encoding="utf-8")
            kg.load([copy])
    reason(kg)


def published(learners: list[str], seconds: float, parts: int) -> None:
    """Print what each learner finds on the published problems, and how it holds for folds held out."""
    for ontology, file in PUBLISHED:
        with mrag.connect() as kg:
            load(kg, shared_data("cel_kbs/" + ontology))
            problems = read_problems(shared_data("cel_kbs/" + file))
            for name in learners:
                f1, times, held = [], [], list[float]()
                print(f"\n{ontology}, {name}")
                for title, problem in problems.items():
                    work = learner(name, kg, seconds=seconds)
                    started = time.process_time()
                    found = work.fit(problem)
                    used = time.process_time() - started
                    assert work.report is not None
                    f1.append(found[0].quality if found else 0.0)
                    times.append(used)
                    said = to_dl(found[0].expression, name=_short)[:90] if found else "nothing learnt"
                    size = f"{len(problem.positives)}+{len(problem.negatives)}"
                    length = found[0].length if found else 0
                    if parts:
                        held.append(by_folds(kg, name, seconds, problem, parts))
                        said = f"held out {held[-1]:.4f}  {said}"
                    print(
                        f"  {title:<20} {size:>7}  F1 {f1[-1]:.4f}  length {length:>2}  {times[-1]:6.3f} s"
                        f"  {work.report.tested:>9,} tested  {said}"
                    )
                if parts:
                    print(f"  mean F1 of folds held out {statistics.mean(held):.4f}")
                print(f"  mean F1 {statistics.mean(f1):.4f}, most {max(times):.3f} s, all {sum(times):.2f} s")


def folds(problem: LearningProblem, number: int, seed: int) -> list[Split]:
    """Divide a problem into what to learn from and what to hold out, both kinds in each; none of too few."""
    number = min(number, len(problem.positives), len(problem.negatives))
    chance = random.Random(seed)
    mixed = [chance.sample(kind, len(kind)) for kind in (problem.positives, problem.negatives)]

    def part(at: int, *, inside: bool) -> LearningProblem:
        return LearningProblem(
            *([x for n, x in enumerate(kind) if (n % number == at) is inside] for kind in mixed)
        )

    return (
        [Split(part(at, inside=False), part(at, inside=True)) for at in range(number)] if number > 1 else []
    )


def by_folds(kg: KnowledgeGraph, name: str, seconds: float, problem: LearningProblem, parts: int) -> float:
    """Return the mean F1 over folds that were held out, 0 for those without a concept; nan without folds."""
    values = []
    for split in folds(problem, parts, 0):
        found = learner(name, kg, seconds=seconds).fit(split.train)
        values.append(held_out(kg, found[0].expression, split.test) if found else 0.0)
    return statistics.mean(values) if values else float("nan")


def fashion(scale: float, sizes: list[int], problems: int, learners: list[str]) -> None:
    """Print quality on held-out images, and times, on the graph of images."""
    with tempfile.TemporaryDirectory() as folder, mrag.connect() as kg:
        source = Path(folder) / "fashion-cel.nt"
        places = write_graph(source, scale)
        report = kg.load([source])
        print(f"{report.triples:,} triples loaded in {report.seconds:.1f} s, {peak_memory():.0f} MiB\n")
        options: dict[str, tuple[str, dict[str, object]]] = {
            "search, length 8": ("search", {"max_length": 8, "seconds": 30}),
            "search, length 12": ("search", {"max_length": 12, "seconds": 30}),
            "search, length 24": ("search", {"seconds": 30}),
            "m-of-n": ("m-of-n", {"seconds": 30}),
            "tdl, 4 leaves": ("tdl", {"leaves": 4, "seconds": 30}),
            "tdl, 8 leaves": ("tdl", {"leaves": 8, "seconds": 30}),
            "tdl, any leaves": ("tdl", {"leaves": None, "simplify": False, "seconds": 60}),
            "celoe": ("celoe", {"seconds": 5}),
        }
        chosen = {k: v for k, v in options.items() if v[0] in learners}
        print("seconds are of processor, in brackets by the clock")
        print(
            f"{'learner':<20} {'size':>8} {'F1 train':>9} {'F1 held out':>18}"
            f" {'length':>7} {'s p50':>14} {'s most':>14}"
        )
        for size in sizes:
            drawn = splits(places, size, problems)
            for title, (name, settings) in chosen.items():
                train, test, lengths, used, times = [], [], [], [], []
                for split in drawn:
                    work = learner(name, kg, **settings)
                    begun, started = time.process_time(), time.perf_counter()
                    found = work.fit(split.train)
                    times.append(time.perf_counter() - started)
                    used.append(time.process_time() - begun)
                    train.append(found[0].quality if found else 0.0)
                    lengths.append(found[0].length if found else 0)
                    test.append(held_out(kg, found[0].expression, split.test) if found else 0.0)
                error = statistics.stdev(test) / len(test) ** 0.5 if len(test) > 1 else 0.0
                print(
                    f"{title:<20} {size:>3}+{size:<4} {statistics.mean(train):>9.3f}"
                    f" {statistics.mean(test):>10.3f} ± {error:.3f} {statistics.mean(lengths):>7.1f}"
                    f" {statistics.median(used):>6.3f} ({statistics.median(times):5.2f})"
                    f" {max(used):>6.3f} ({max(times):5.2f})",
                    flush=True,
                )
        speed(kg, splits(places, max(sizes), 1)[0].train)


def held_out(kg: KnowledgeGraph, expression: object, problem: LearningProblem) -> float:
    """Return F1 on examples that were not learnt from, by the store."""
    counts = confusion(kg, [expression], problem.positives, problem.negatives)[0]  # type: ignore[list-item]
    return quality(counts)


def speed(kg: KnowledgeGraph, problem: LearningProblem) -> None:
    """Print how many hypotheses are scored in a second, and what a layer by the store takes."""
    started = time.process_time()
    world = World.of(kg, problem.examples, steps=3)
    fetched = time.process_time() - started
    fit = FitState(problem, world, LearnerSettings(seconds=600))
    scored, seconds = measure_scoring(fit, seconds=5.0)
    print(f"\nfetching the statements about {len(problem.examples)} examples: {fetched:.3f} s")
    print(f"bitsets: {scored / seconds / 1e6:.1f} million hypotheses scored in a second")
    started = time.process_time()
    several = [Named(name) for name in world.named[:40]]
    confusion(kg, several, problem.positives, problem.negatives)
    took = time.process_time() - started
    print(f"the store: counts of {len(several)} hypotheses in one query, {took:.3f} s")


def measure_scoring(fit: FitState, *, seconds: float = 1.0) -> tuple[int, float]:
    """Score combinations of two conditions for a while, as a search does.

    A hypothesis counts as scored when its bits on all examples are made, its positive and negative examples
    counted, and its quality computed.

    Args:
        fit: The examples.
        seconds: How long.

    Returns:
        How many were scored, and the seconds of processor it took.
    """
    run = CombinationSearch(fit, SearchSettings(), features(fit, FeatureSettings(), 1), beam=24)
    scored, at, started = 0, 0, time.process_time()
    while (took := time.process_time() - started) < seconds:
        made = run.rows & run.rows[at % len(run.rows)]
        tp, fp = run.bits.count(made)
        scored += len(run.scores(tp, fp, run.lengths + 1))
        at += 1
    return scored, took


def export(folder: Path, scale: float, sizes: list[int], problems: int, seed: int = 1) -> None:
    """Write the graph and the problems, with what is held out, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    places = write_graph(folder / "fashion-cel.nt", scale)
    for size in sizes:
        drawn = splits(places, size, problems, seed)
        rows = [
            {"train": [s.train.positives, s.train.negatives], "test": [s.test.positives, s.test.negatives]}
            for s in drawn
        ]
        (folder / f"problems-{size}.json").write_text(json.dumps(rows), encoding="utf-8")


def _short(iri: str) -> str:
    return iri.replace("#", "/").rpartition("/")[2]


def main() -> None:
    """Run one of the benchmarks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("what", choices=("published", "fashion", "export"))
    options.add_argument("folder", nargs="?", type=Path)
    options.add_argument("--learners", nargs="+", default=["search", "m-of-n", "celoe", "tdl"])
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--sizes", nargs="+", type=int, default=[5, 10, 20, 213])
    options.add_argument("--problems", type=int, default=10)
    options.add_argument("--folds", type=int, default=0, help="with published: folds held out")
    args = options.parse_args()
    if args.what == "published":
        published(args.learners, args.seconds, args.folds)
    elif args.what == "fashion":
        fashion(args.scale, args.sizes, args.problems, args.learners)
    elif args.folder is None:
        options.error("export needs a folder")
    else:
        export(args.folder, args.scale, args.sizes, args.problems)


if __name__ == "__main__":
    main()
