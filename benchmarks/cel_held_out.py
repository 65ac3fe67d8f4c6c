"""Learnt concepts on examples that were not learnt from.

python benchmarks/cel_held_out.py peer FOLDER --ontolearn PYTHON [--problems 20] [--seed 1] [--size 213]
python benchmarks/cel_held_out.py apparel [--sizes 5 10 20 213] [--problems 20] [--seed 1]
python benchmarks/cel_held_out.py all [--learners search evolearner celoe] [--seconds 10] [--seeds 1 2 3]
    [--sets NAME ...] [--json FILE]

`peer` writes the graph of 45,623 images of `cel.py` and its problems to FOLDER, runs learners of mrag and
then TDL of Ontolearn on them, and prints the differences by problem, with 95 % intervals (Student's t).
PYTHON is that of an environment with ontolearn; see `ontolearn_peer.py`. Seconds are of processor and hold
the whole of `fit`, with the fetching of statements and a count by the store; the graph is loaded before.

`apparel` follows the protocol of a thesis on retrieval by knowledge graphs, whose table scores concepts on
the examples that they were learnt from: the positive ones are the images nearest to one image by an
embedding of what is written of them, the negative ones are drawn at random from the others. Here as many
again of each are held out. The images are those of vg_apparel, the embedding is MiniLM's of their captions.
`cel.py fashion` does the same with made-up images.

`all` runs learners on the published problems, by five folds, and on the problems of `cel_generated.py`, with
others held out, and prints the mean F1 on what was held out for each set, and the differences to the first
learner by problem.
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
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cel import Split, export
from cel_generated import made
from common import shared_data
from scipy.stats import t as student

import mrag
from mrag.cel.benchmark import find_problems, folds, open_knowledge_base
from mrag.cel.evaluate import World
from mrag.cel.expressions import Expression, OneOf, Value, walk
from mrag.cel.learners.base import learner
from mrag.cel.notation import to_dl
from mrag.cel.problem import LearningProblem, confusion, quality
from mrag.graph.kg import KnowledgeGraph
from mrag.index.embedding import embedder
from mrag.loaders.scenes import SceneGraphs
from mrag.reasoning.run import reason

Row = dict[str, Any]

PEERED: dict[str, tuple[str, dict[str, Any]]] = {
    "m-of-n": ("m-of-n", {}),
    "m-of-n, one list": ("m-of-n", {"parts": 1}),
    "search, length 8": ("search", {"max_length": 8}),
    "search": ("search", {}),
    "tdl, 8 leaves": ("tdl", {}),
}
PUBLISHED = {
    "Family": "drill/Family/lp_dl_learner.json",
    "animals": "smlbench/animals/lp",
    "lymphography": "smlbench/lymphography/lp",
    "trains": "dllearner/trains/trains_owl.conf",
    "forte": "dllearner/forte/uncle_owl_large.conf",
}
NEAREST: dict[str, tuple[str, dict[str, Any]]] = {
    "m-of-n": ("m-of-n", {"steps": 2}),
    "search, length 8": ("search", {"max_length": 8, "steps": 2}),
    "search": ("search", {"steps": 2}),
    "tdl, 8 leaves": ("tdl", {"steps": 2}),
}


def run(kg: KnowledgeGraph, title: str, splits: Sequence[Split], known: Mapping[str, Any]) -> list[Row]:
    """Learn from each problem and judge on its held-out examples, by the store."""
    name, settings = known[title]
    rows: list[Row] = []
    for split in splits:
        work = learner(name, kg, **{"seconds": 60, **settings})
        started = time.process_time()
        found = work.fit(split.train)
        took = time.process_time() - started
        row = {"learner": title, "train": 0.0, "test": 0.0, "length": 0, "names": 0, "seconds": took}
        if found:
            e = found[0].expression
            test = confusion(kg, [e], split.test.positives, split.test.negatives)[0]
            row |= {"train": quality(found[0].counts), "test": quality(test), "length": found[0].length}
            row["names"] = named(e)
        rows.append(row)
    return rows


def named(e: Expression) -> int:
    """Count the individuals that an expression names, each as often as it does."""
    return sum(len(p.members) if isinstance(p, OneOf) else isinstance(p, Value) for p in walk(e))


def table(groups: Mapping[str, Sequence[Row]]) -> None:
    """Print means, with standard errors of what is held out."""
    print(
        f"{'learner':<20} {'n':>3} {'F1 train':>9} {'F1 held out':>15} {'length':>8} {'names':>7} "
        f"{'s p50':>8} {'s most':>8}"
    )
    for title, rows in groups.items():
        test = [r["test"] for r in rows]
        error = statistics.stdev(test) / len(test) ** 0.5 if len(test) > 1 else 0.0
        mean = {k: statistics.mean(r[k] for r in rows) for k in ("train", "length", "names")}
        seconds = [r["seconds"] for r in rows]
        print(
            f"{title:<20} {len(rows):>3} {mean['train']:>9.3f} {statistics.mean(test):>7.3f} ± {error:.3f}"
            f" {mean['length']:>8.1f} {mean['names']:>7.1f} {statistics.median(seconds):>8.3f}"
            f" {max(seconds):>8.3f}",
            flush=True,
        )


def differences(groups: Mapping[str, Sequence[Row]], against: str) -> None:
    """Print by how much each learner differs from one on the same problems, and how much faster it is."""
    other = groups[against]
    for title, rows in groups.items():
        gains = [a["test"] - b["test"] for a, b in zip(rows, other, strict=False)]
        if title == against or len(gains) < 2:
            continue
        mean, error = statistics.mean(gains), statistics.stdev(gains) / len(gains) ** 0.5
        half = float(student.ppf(0.975, len(gains) - 1)) * error
        ratios = [b["seconds"] / a["seconds"] for a, b in zip(rows, other, strict=False)]
        print(
            f"{title:<20} held out {mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}] against {against}, "
            f"longest {max(r['length'] for r in rows)}; fit {statistics.median(ratios):.1f} times as fast, "
            f"{min(ratios):.1f} at least"
        )


def peer(folder: Path, python: str, size: int, problems: int, seed: int) -> None:
    """Run mrag and Ontolearn on the same files."""
    export(folder, 1.0, [size], problems, seed)
    drawn = json.loads((folder / f"problems-{size}.json").read_text(encoding="utf-8"))
    splits = [Split(LearningProblem(*row["train"]), LearningProblem(*row["test"])) for row in drawn]
    groups: dict[str, list[Row]] = {}
    with mrag.connect() as kg:
        kg.load([folder / "fashion-cel.nt"])
        # What is imported or read once for a graph is not part of the first fit.
        for title in PEERED:
            run(kg, title, splits[-1:], PEERED)
        for title in PEERED:
            groups[title] = run(kg, title, splits, PEERED)
    script = Path(__file__).with_name("ontolearn_peer.py")
    results = folder.absolute() / "ontolearn.json"
    command = [python, str(script.absolute()), "images", str(folder.absolute()), "--size", str(size)]
    # By the clock a busy machine takes long; an end before time would count as a hypothesis without quality.
    command += ["--problems", str(problems), "--learners", "TDL", "--seconds", "600", "--json", str(results)]
    with tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run(command, cwd=elsewhere, check=True, capture_output=True)
    groups["Ontolearn TDL"] = json.loads(results.read_text(encoding="utf-8"))
    print(f"{size}+{size} examples, {problems} problems, seed {seed}\n")
    table(groups)
    print()
    differences(groups, "Ontolearn TDL")


def apparel(sizes: Sequence[int], problems: int, seed: int) -> None:
    """Print quality on the examples and on held-out images of vg_apparel."""
    source = shared_data("vg_apparel") / "share.jsonl"
    with tempfile.TemporaryDirectory() as folder, mrag.connect() as kg:
        path = Path(folder) / "scenes.nt"
        SceneGraphs(source, on_bad="skip").write(path)
        kg.load([path])
        reason(kg)
        said: dict[str, list[str]] = {}
        for line in source.read_text(encoding="utf-8").splitlines():
            r = json.loads(line)
            said.setdefault(f"http://example.org/image_{r['image_id']}", []).append(r["caption"])
        images = sorted(said)
        model = embedder("minilm")
        assert model is not None
        vectors = np.asarray(model.embed_documents([". ".join(said[i]) for i in images]), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        print(f"{len(images):,} images, {problems} problems of each size, seed {seed}")
        for size in sizes:
            drawn = nearest(images, vectors, size, problems, seed)
            print(f"\n{size}+{size} examples")
            table({title: run(kg, title, drawn, NEAREST) for title in NEAREST})


def nearest(images: Sequence[str], vectors: Any, size: int, problems: int, seed: int) -> list[Split]:
    """Draw problems: twice `size` nearest images of one against as many at random, half of each held out."""
    rng = random.Random(seed)
    found = []
    for _ in range(problems):
        order = np.argsort(-(vectors @ vectors[rng.randrange(len(images))]), kind="stable").tolist()
        near, far = order[: 2 * size], rng.sample(order[2 * size :], 2 * size)
        rng.shuffle(near)
        names = [[images[i] for i in group] for group in (near, far)]
        halves = [LearningProblem(*(g[part] for g in names)) for part in (slice(size), slice(size, None))]
        found.append(Split(*halves))
    return found


def everything(seeds: Sequence[int], sets: Sequence[str]) -> Iterator[tuple[str, KnowledgeGraph, str, Split]]:
    """Yield each problem with its set and graph: the folds of published ones, then made ones."""
    for name, path in PUBLISHED.items():
        if sets and name not in sets:
            continue
        for found in find_problems(shared_data("cel_kbs") / path)[0]:
            with open_knowledge_base(*found.ontologies) as kg:
                for title, problem in found.problems.items():
                    for at, (train, test) in enumerate(folds(problem, 5, 0)):
                        yield name, kg, f"{title} {at}", Split(train, test)
    for seed in seeds:
        for name, kg, splits in made(seed):
            for title, split in splits.items() if not sets or name in sets else ():
                name_of = f"{name}, noisy" if title.endswith("noisy") else name
                yield name_of, kg, f"{title} {seed}", split


def compared(
    learners: Sequence[str], seconds: float, seeds: Sequence[int], sets: Sequence[str], results: Path | None
) -> None:
    """Print quality on what was held out, over all problems at hand."""
    rows: dict[str, list[Row]] = {name: [] for name in learners}
    last = None
    for name, kg, title, split in everything(seeds, sets):
        if kg is not last:
            # What is read once for a graph is no part of a fit.
            World.whole(last := kg)
        for kind in learners:
            work = learner(kind, kg, seconds=seconds)
            started, clock = time.process_time(), time.perf_counter()
            found = work.fit(split.train)
            row: Row = {"set": name, "problem": title, "train": 0.0, "test": 0.0, "length": 0, "names": 0}
            row |= {"seconds": time.process_time() - started, "clock": time.perf_counter() - clock}
            if found:
                e = found[0].expression
                test = confusion(kg, [e], split.test.positives, split.test.negatives)[0]
                row |= {"train": found[0].quality, "test": quality(test), "length": found[0].length}
                row |= {
                    "names": named(e),
                    "concept": to_dl(e, name=lambda i: i.replace("#", "/").rpartition("/")[2]),
                }
            rows[kind].append(row)
            print(
                f"{name}: {title}: {kind}: {row['train']:.3f} {row['test']:.3f} {row['length']} "
                f"{row['seconds']:.2f} s {row.get('concept', '')}",
                file=sys.stderr,
                flush=True,
            )
    every = list(dict.fromkeys(r["set"] for r in rows[learners[0]]))
    print("| set | problems | " + " | ".join(f"{k}: held out | length | s" for k in learners) + " |")
    print("|---|---|" + "---|---|---|" * len(learners))
    for name in (*every, "all sets", "all problems"):
        cells = [name, str(sum(name in (r["set"], "all problems") for r in rows[learners[0]]) or len(every))]
        for kind in learners:
            inside = {s: [r for r in rows[kind] if r["set"] == s] for s in every}
            groups = [inside[name]] if name in inside else list(inside.values())
            groups = [rows[kind]] if name == "all problems" else groups
            values = [
                statistics.mean(statistics.mean(r[k] for r in g) for g in groups)
                for k in ("test", "length", "seconds")
            ]
            cells += [f"{values[0]:.3f}", f"{values[1]:.1f}", f"{values[2]:.2f}"]
        print(f"| {' | '.join(cells)} |")
    print()
    differences(rows, learners[0])
    if results:
        results.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run one of the benchmarks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("what", choices=("peer", "apparel", "all"))
    options.add_argument("folder", nargs="?", type=Path)
    options.add_argument("--ontolearn", metavar="PYTHON")
    options.add_argument("--problems", type=int, default=20)
    options.add_argument("--size", type=int, default=213)
    options.add_argument("--sizes", nargs="+", type=int, default=[5, 10, 20, 213])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--learners", nargs="+", default=["search", "evolearner", "celoe"])
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--seeds", nargs="*", type=int, default=[1, 2, 3])
    options.add_argument("--sets", nargs="+", default=[])
    options.add_argument("--json", type=Path)
    args = options.parse_args()
    if args.what == "all":
        compared(args.learners, args.seconds, args.seeds, args.sets, args.json)
    elif args.what == "apparel":
        apparel(args.sizes, args.problems, args.seed)
    elif args.folder is None or args.ontolearn is None:
        options.error("peer needs a folder and --ontolearn")
    else:
        peer(args.folder, args.ontolearn, args.size, args.problems, args.seed)


if __name__ == "__main__":
    main()
