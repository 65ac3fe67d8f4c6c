"""Class expression learning: learners on problems, judged on examples held out, beside Ontolearn.

python benchmarks/cel.py published [--folds 5]        the problems of `cel_kbs`
python benchmarks/cel.py generated [--seeds 1 2 3]    those of `cel_generated.py`, with and without noise
python benchmarks/cel.py all                          both
python benchmarks/cel.py images [--size 213] [--problems 20] [--seed 1] [--scale 1.0]
python benchmarks/cel.py compare FILE                 the tables of results kept by --json

Learners are given with settings, such as `--learners search search:max_length=8`. With
`--ontolearn PYTHON` those of `--peers` run, too, in the environment of that Python (`ontolearn_peer.py`), and
mrag judges what they found. Seconds are of processor and hold the whole of a fit; graphs are loaded before.
Without `--folds` published problems are judged on the examples learnt from, as is usual for them.

`images` is a graph of 45,623 images made by chance. The positive examples are the images nearest to one by an
embedding, the negative ones are drawn from the others, and as many of each are held out.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from common import shared_data
from rdflib import Graph
from scipy.stats import friedmanchisquare, rankdata, wilcoxon
from scipy.stats import t as student

import mrag
from mrag.cel.evaluate import World
from mrag.cel.learners.base import learner
from mrag.cel.problem import LearningProblem, confusion, quality, read_problems
from mrag.errors import LoadError
from mrag.evaluation.metrics import holm
from mrag.graph.kg import KnowledgeGraph
from mrag.rdf.expressions import Expression, length
from mrag.rdf.notation import from_manchester, to_dl
from mrag.reasoning.run import reason

BASE = "http://example.org/"
IMAGES, CATEGORIES, ATTRIBUTES, STYLES = 45_623, 46, 294, 120
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_OWL = "http://www.w3.org/2002/07/owl#"
Row = dict[str, Any]

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


@dataclass(frozen=True)
class ProblemSet:
    """Problems over one graph, and the file that it was loaded from."""

    name: str
    kg: KnowledgeGraph
    splits: dict[str, Split]
    source: Path | None = None


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
        groups = [[f"{BASE}image_{i}" for i in group] for group in (near, far)]
        halves = (LearningProblem(*(g[part] for g in groups)) for part in (slice(size), slice(size, None)))
        found.append(Split(*halves))
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


def published(parts: int) -> Iterator[ProblemSet]:
    """Yield the published problems, or their folds."""
    for ontology, file in PUBLISHED:
        with mrag.connect() as kg:
            load(kg, source := shared_data("cel_kbs/" + ontology))
            made: dict[str, Split] = {}
            for title, problem in read_problems(shared_data("cel_kbs/" + file)).items():
                few = folds(problem, parts, 0) if parts else [Split(problem, problem)]
                made |= {f"{title} {at}" if parts else title: split for at, split in enumerate(few)}
            yield ProblemSet(ontology.split("/")[1], kg, made, source)


def generated(seeds: Sequence[int]) -> Iterator[ProblemSet]:
    """Yield the generated problems, those with noise apart."""
    from cel_generated import made

    for seed in seeds:
        for name, kg, found in made(seed):
            for noisy in (False, True):
                some = {f"{t} {seed}": s for t, s in found.items() if t.endswith("noisy") is noisy}
                yield ProblemSet(f"{name}, noisy" if noisy else name, kg, some)


def images(size: int, problems: int, seed: int, scale: float) -> Iterator[ProblemSet]:
    """Yield problems over a made graph of images."""
    with tempfile.TemporaryDirectory() as folder, mrag.connect() as kg:
        places = write_graph(source := Path(folder) / "images.nt", scale)
        kg.load([source])
        drawn = splits(places, size, problems, seed)
        yield ProblemSet(f"images, {size}+{size}", kg, {str(n): s for n, s in enumerate(drawn)}, source)


def judged(of: ProblemSet, title: str, kind: str, e: Expression | None, seconds: float) -> Row:
    """Return what was found for a problem, counted by the store."""
    row: Row = {"set": of.name, "problem": title, "learner": kind, "seconds": seconds}
    row |= {"train": 0.0, "test": 0.0, "length": 0, "concept": ""}
    if e is not None:
        split = of.splits[title]
        for part, p in (("train", split.train), ("test", split.test)):
            row[part] = quality(confusion(of.kg, [e], p.positives, p.negatives)[0])
        row |= {"length": length(e), "concept": to_dl(e, name=_short)}
    print(f"{of.name}: {title}: {kind}: {row['train']:.3f} {row['test']:.3f} {row['length']} {seconds:.2f} s"
          f" {row['concept'][:120]}", file=sys.stderr, flush=True)  # fmt: skip
    return row


def _short(iri: str) -> str:
    return iri.replace("#", "/").rpartition("/")[2]


def ours(of: ProblemSet, kinds: Sequence[str], seconds: float) -> Iterator[Row]:
    """Yield what the learners find."""
    World.whole(of.kg)  # what is read once for a graph is no part of a fit
    for title, split in of.splits.items():
        for kind in kinds:
            name, _, given = kind.partition(":")
            pairs = (part.split("=") for part in given.split(",") if part)
            settings = {key: json.loads(value) for key, value in pairs}
            work = learner(name, of.kg, **{"seconds": seconds, **settings})
            started = time.process_time()
            found = work.fit(split.train)
            took = time.process_time() - started
            yield judged(of, title, kind, found[0].expression if found else None, took)


def theirs(of: ProblemSet, python: str, kinds: Sequence[str], seconds: float) -> Iterator[Row]:
    """Yield what Ontolearn's learners find, in an environment of their own."""
    problems = {title: [s.train.positives, s.train.negatives] for title, s in of.splits.items()}
    script = str(Path(__file__).with_name("ontolearn_peer.py").absolute())
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            command = [python, script, str(of.source), "--learner", kind, "--seconds", str(seconds)]
            done = subprocess.run(
                command, cwd=folder, input=json.dumps(problems), check=True, text=True, stdout=subprocess.PIPE
            )
        for row in map(json.loads, done.stdout.splitlines()):
            e = from_manchester(row["concept"]) if row["concept"] else None
            yield judged(of, row["problem"], f"Ontolearn {kind}", e, row["seconds"])


def tables(rows: Sequence[Row]) -> None:
    """Print means for each set, differences to the first learner by problem, and tests over the sets."""
    kinds = list(dict.fromkeys(r["learner"] for r in rows))
    groups = {k: [r for r in rows if r["learner"] == k] for k in kinds}
    by_set = {s: [r for r in rows if r["set"] == s] for s in dict.fromkeys(r["set"] for r in rows)}
    print("| set | learner | problems | F1 = 1 | F1 train | F1 held out | length | s, median | s, most |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, inside in (*by_set.items(), ("all problems", rows)):
        for kind, some in ((k, [r for r in inside if r["learner"] == k]) for k in kinds):
            mean = {k: statistics.fmean(r[k] for r in some) for k in ("train", "test", "length")}
            test, used = [r["test"] for r in some], [r["seconds"] for r in some]
            error = statistics.stdev(test) / len(test) ** 0.5 if len(test) > 1 else 0.0
            solved = sum(r["train"] >= 0.99995 for r in some)
            held_out = f"{mean['test']:.3f} ± {error:.3f} | {mean['length']:.1f}"
            print(f"| {name} | `{kind}` | {len(some)} | {solved} | {mean['train']:.3f} | {held_out} | "
                  f"{statistics.median(used):.3f} | {max(used):.2f} |")  # fmt: skip
    first, *others = kinds
    for kind in others if len(groups[first]) > 1 else ():
        pairs = list(zip(groups[first], groups[kind], strict=True))
        gains = [b["test"] - a["test"] for a, b in pairs]
        gain, error = statistics.fmean(gains), statistics.stdev(gains) / len(gains) ** 0.5
        half = student.ppf(0.975, len(gains) - 1) * error
        ratio = statistics.median(a["seconds"] / b["seconds"] for a, b in pairs)
        print(f"`{kind}` against `{first}`: held out {gain:+.3f} [{gain - half:+.3f}, {gain + half:+.3f}]"
              f" by problem; {ratio:.1f} times as fast in the median")  # fmt: skip
    if len(sets := list(by_set.values())) < 5 or len(kinds) < 3:
        return
    by_learner = [[[r["test"] for r in s if r["learner"] == k] for k in kinds] for s in sets]
    table = np.array([[statistics.fmean(values) for values in each] for each in by_learner])
    ranks = rankdata(-np.round(table, 9), axis=1).mean(axis=0)
    adjusted = holm([float(wilcoxon(table[:, 0], table[:, i]).pvalue) for i in range(1, len(kinds))])
    friedman = friedmanchisquare(*table.T).pvalue
    print(f"{len(by_set)} sets, each counted once: Friedman p {friedman:.2g}; mean ranks",
          ", ".join(f"`{k}` {rank:.2f}" for k, rank in zip(kinds, ranks, strict=True)))  # fmt: skip
    print(f"Wilcoxon's test over the sets against `{first}`, by Holm:",
          ", ".join(f"`{k}` p {p:.3f}" for k, p in zip(others, adjusted, strict=True)))  # fmt: skip


def main() -> None:
    """Run one of the benchmarks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("what", choices=("published", "generated", "all", "images", "compare"))
    options.add_argument("file", nargs="?", type=Path)
    options.add_argument("--learners", nargs="+", default=["search", "celoe"])
    options.add_argument("--seconds", type=float, default=30.0)
    options.add_argument("--folds", type=int, default=0, help="of published problems; 5 with `all`")
    options.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    options.add_argument("--size", type=int, default=213)
    options.add_argument("--problems", type=int, default=20)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--scale", type=float, default=1.0)
    options.add_argument("--ontolearn", metavar="PYTHON")
    options.add_argument("--peers", nargs="+", default=["TDL", "CELOE", "EvoLearner"])
    options.add_argument("--json", type=Path)
    args = options.parse_args()
    rows: list[Row] = json.loads(args.file.read_text(encoding="utf-8")) if args.what == "compare" else []
    for of in {
        "published": lambda: published(args.folds),
        "generated": lambda: generated(args.seeds),
        "all": lambda: chain(published(args.folds or 5), generated(args.seeds)),
        "images": lambda: images(args.size, args.problems, args.seed, args.scale),
        "compare": lambda: (),
    }[args.what]():
        rows += ours(of, args.learners, args.seconds)
        if args.ontolearn and of.source:
            rows += theirs(of, args.ontolearn, args.peers, args.seconds)
    tables(rows)
    if args.json:
        args.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
