"""Ontolearn on the problems of `cel.py`, in a Python environment of its own that has ontolearn and owlready2.

python benchmarks/ontolearn_peer.py family ONTOLOGY.owl PROBLEMS.json [--seconds 10] [--learners TDL CELOE]
python benchmarks/ontolearn_peer.py images FOLDER [--size 213] [--problems 4]      FOLDER from `cel.py export`

`python benchmarks/cel.py peer FOLDER --ontolearn PYTHON` runs `images` beside mrag, with PYTHON that of the
environment. It is made by
    python -m venv FOLDER && FOLDER/bin/pip install torch ontolearn owlready2

It imports nothing of mrag. Seconds are of processor, and loading the ontology is not part of any. Held-out
images are judged by a reading of the expression in this file: Ontolearn's own retrieval goes through all
individuals and takes about a minute on this graph.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from ontolearn.knowledge_base import KnowledgeBase
from ontolearn.learners import CELOE, TDL, Drill, EvoLearner
from ontolearn.learning_problem import PosNegLPStandard
from owlapy.class_expression import (
    OWLClass,
    OWLNothing,
    OWLObjectComplementOf,
    OWLObjectHasValue,
    OWLObjectIntersectionOf,
    OWLObjectMinCardinality,
    OWLObjectOneOf,
    OWLObjectSomeValuesFrom,
    OWLObjectUnionOf,
)  # fmt: skip
from owlapy.owl_individual import OWLNamedIndividual
from owlapy.owl_property import OWLObjectInverseOf
from owlapy.utils import OWLClassExpressionLengthMetric

_LENGTH = OWLClassExpressionLengthMetric.get_default()


def problem(positives: list[str], negatives: list[str]) -> PosNegLPStandard:
    """Make a learning problem of Ontolearn."""
    return PosNegLPStandard(
        pos={OWLNamedIndividual(x) for x in positives}, neg={OWLNamedIndividual(x) for x in negatives}
    )


def made(name: str, kb: KnowledgeBase, seconds: float) -> Any:
    """Make a learner with a time limit where it takes one."""
    if name == "TDL":
        return TDL(
            knowledge_base=kb, use_inverse=False, use_card_restrictions=False, report_classification=False,
            kwargs_classifier={"random_state": 1}, verbose=0, max_runtime=seconds,
        )  # fmt: skip
    if name == "CELOE":
        return CELOE(
            knowledge_base=kb, max_runtime=seconds, max_num_of_concepts_tested=10**9, iter_bound=10**9
        )
    if name == "EvoLearner":
        return EvoLearner(knowledge_base=kb, max_runtime=seconds)
    return Drill(knowledge_base=kb, max_runtime=seconds)


def learnt(model: Any, lp: PosNegLPStandard) -> tuple[Any, float, int]:
    """Fit, and return the best expression, the seconds, and the hypotheses tested where that is counted."""
    started = time.process_time()
    try:
        model.fit(lp)
        best = model.best_hypotheses(n=1)
    except RuntimeError as error:
        print(error)
        return OWLNothing, time.process_time() - started, 0
    took = time.process_time() - started
    best = best[0] if isinstance(best, list | tuple) else best
    tested = int(getattr(model, "_number_of_tested_concepts", 0) or 0)
    return getattr(best, "concept", best), took, tested


def f1(held: set[str], positives: list[str], negatives: list[str]) -> float:
    """Return F1 of what is held."""
    tp = len(held & {*positives})
    return 2 * tp / (tp + len(held & {*negatives}) + len(positives)) if tp else 0.0


def family(ontology: Path, problems: Path, seconds: float, learners: list[str]) -> None:
    """Print F1 on the examples, length and time for each problem."""
    kb = KnowledgeBase(path=str(ontology))
    for name in learners:
        values, times = [], []
        for title, p in json.loads(problems.read_text(encoding="utf-8"))["problems"].items():
            positives, negatives = p["positive_examples"], p["negative_examples"]
            e, took, tested = learnt(made(name, kb, seconds), problem(positives, negatives))
            held = {i.str for i in kb.individuals(e)}
            values.append(f1(held, positives, negatives))
            times.append(took)
            facts = f"F1 {values[-1]:.4f} length {_LENGTH.length(e):>4} {took:.3f} s {tested} tested"
            print(f"{name} {title:<20} {facts}", flush=True)
        print(f"{name} mean F1 {statistics.mean(values):.4f}, all {sum(times):.1f} s", flush=True)


def images(
    folder: Path, size: int, problems: int, learners: list[str], seconds: float, rows_to: Path | None
) -> None:
    """Print F1 on examples and on held-out images, length and time."""
    written: list[dict[str, Any]] = []
    path = folder / "fashion-cel.nt"
    graph = Statements(path)
    started = time.process_time()
    kb = KnowledgeBase(path=str(path))
    print(f"loaded in {time.process_time() - started:.0f} s", flush=True)
    rows = json.loads((folder / f"problems-{size}.json").read_text(encoding="utf-8"))[:problems]
    for name in learners:
        train, test, lengths, times = [], [], [], []
        for row in rows:
            e, took, tested = learnt(made(name, kb, seconds), problem(*row["train"]))
            held = {x for part in ("train", "test") for side in row[part] for x in side if graph.holds(e, x)}
            train.append(f1(held, *row["train"]))
            test.append(f1(held, *row["test"]))
            lengths.append(_LENGTH.length(e))
            times.append(took)
            written.append(
                {"learner": name, "train": train[-1], "test": test[-1], "length": lengths[-1],
                 "names": named(e), "seconds": took}
            )  # fmt: skip
            facts = f"train {train[-1]:.3f} held out {test[-1]:.3f} length {lengths[-1]}"
            print(f"{name} {facts} {took:.2f} s {tested} tested", flush=True)
        error = statistics.stdev(test) / len(test) ** 0.5 if len(test) > 1 else 0.0
        print(f"{name} {size}+{size}: F1 train {statistics.mean(train):.3f}", end=", ")
        print(f"held out {statistics.mean(test):.3f} ± {error:.3f}", end=", ")
        print(f"length {statistics.mean(lengths):.0f}, median {statistics.median(times):.2f} s", flush=True)
    if rows_to is not None:
        rows_to.write_text(json.dumps(written), encoding="utf-8")


def named(e: Any) -> int:
    """Count the individuals that an expression names, each as often as it does."""
    if isinstance(e, OWLObjectOneOf):
        return len(list(e.individuals()))
    if isinstance(e, OWLObjectHasValue):
        return 1
    if isinstance(e, OWLObjectComplementOf):
        return named(e.get_operand())
    if isinstance(e, OWLObjectIntersectionOf | OWLObjectUnionOf):
        return sum(named(o) for o in e.operands())
    return named(e.get_filler()) if hasattr(e, "get_filler") else 0


class Statements:
    """Reads the graph for the judgement of held-out images."""

    def __init__(self, path: Path) -> None:
        self.types: dict[str, set[str]] = defaultdict(set)
        self.values: dict[tuple[str, str], set[str]] = defaultdict(set)
        for line in path.open(encoding="ascii"):
            s, p, o = (part.strip("<>") for part in line.split(" ")[:3])
            if p.endswith("#type"):
                self.types[s].add(o)
            else:
                self.values[s, p].add(o)

    def holds(self, e: Any, x: str) -> bool:
        """Tell whether an individual is in an expression, closed world."""
        if isinstance(e, OWLClass):
            return e.is_owl_thing() or e.str in self.types[x]
        if isinstance(e, OWLObjectComplementOf):
            return not self.holds(e.get_operand(), x)
        if isinstance(e, OWLObjectIntersectionOf):
            return all(self.holds(o, x) for o in e.operands())
        if isinstance(e, OWLObjectUnionOf):
            return any(self.holds(o, x) for o in e.operands())
        if isinstance(e, OWLObjectOneOf):
            return x in {i.str for i in e.individuals()}
        p = e.get_property()
        if isinstance(p, OWLObjectInverseOf):
            raise NotImplementedError(e)
        values = self.values.get((x, p.str), set())
        if isinstance(e, OWLObjectHasValue):
            return e.get_filler().str in values
        inside = sum(self.holds(e.get_filler(), y) for y in values)
        if isinstance(e, OWLObjectSomeValuesFrom):
            return inside > 0
        if isinstance(e, OWLObjectMinCardinality):
            return inside >= e.get_cardinality()
        raise NotImplementedError(e)


def main() -> None:
    """Run one of the comparisons."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("what", choices=("family", "images"))
    options.add_argument("path", type=Path)
    options.add_argument("file", nargs="?", type=Path)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--learners", nargs="+", default=["TDL", "CELOE", "EvoLearner"])
    options.add_argument("--size", type=int, default=213)
    options.add_argument("--problems", type=int, default=4)
    options.add_argument("--json", type=Path, help="with images: write all results to this file")
    args = options.parse_args()
    if args.what == "family":
        family(args.path, args.file, args.seconds, args.learners)
    else:
        images(args.path, args.size, args.problems, args.learners, args.seconds, args.json)


if __name__ == "__main__":
    main()
