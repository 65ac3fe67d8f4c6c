"""All learners side by side on the published problems: F1, accuracy, length, seconds.

python benchmarks/cel_learners.py [--sets family animals ...] [--learners search evolearner ...] [--seconds 5]
    [--episodes 200] [--policies FOLDER] [--ontolearn PYTHON] [--json FILE]
python benchmarks/cel_learners.py --guided 16 --sets family

DRILL needs a policy for each knowledge base; one is trained where FOLDER has none, and its time is printed
apart. PYTHON is that of an environment with ontolearn, which then runs on Family in the same run
(`benchmarks/ontolearn_peer.py`). Quality is that on the examples learnt from. A table in Markdown goes to
stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from common import shared_data

from mrag.cel.benchmark import find_problems, open_knowledge_base
from mrag.cel.drill import (
    Drill,
    DrillSettings,
    Policy,
    PolicyTrainingSettings,
    ProblemGenerator,
    best_first_search,
    reward,
    train_policy,
)
from mrag.cel.learners.base import LEARNERS, FitState, Learner, LearnerSettings, learner
from mrag.cel.learners.evolearner import EvoLearner, EvoSettings
from mrag.cel.learners.refinement import SpaceView
from mrag.cel.notation import to_dl
from mrag.cel.problem import LearningProblem, quality
from mrag.errors import MragError
from mrag.graph.kg import KnowledgeGraph

SETS = {
    "family": "drill/Family/lp_dl_learner.json",
    "animals": "smlbench/animals/lp",
    "lymphography": "smlbench/lymphography/lp",
    "father": "dllearner/father/father.conf",
    "trains": "dllearner/trains/trains_owl.conf",
    "forte": "dllearner/forte/uncle_owl_large.conf",
    "arch": "dllearner/arch/arch_owl.conf",
}
PEERS = ("TDL", "CELOE", "EvoLearner", "Drill")
_LINE = re.compile(r"^(\w+) (\S+) +F1 ([\d.]+) length +(\d+) ([\d.]+) s")


@dataclass(frozen=True)
class Row:
    """What one learner did with one problem."""

    set: str
    problem: str
    learner: str
    f1: float
    accuracy: float | None
    length: int
    seconds: float
    tested: int = 0
    stopped: str = ""
    concept: str = ""
    error: str = ""
    processor: float | None = None


Maker = Callable[[KnowledgeGraph], Learner]


def say(text: str) -> None:
    """Print progress."""
    print(text, file=sys.stderr, flush=True)


def told(row: Row) -> str:
    """Return a line about a result."""
    return f"{row.set} {row.problem} {row.learner}: F1 {row.f1:.4f} {row.seconds:.2f} s {row.error}"


def makers(names: list[str], seconds: float, seed: int, policy: Policy | None) -> dict[str, Maker]:
    """Return how to make each learner."""
    found: dict[str, Maker] = {}
    for name in names:
        if name == "evolearner":
            found[name] = lambda kg: EvoLearner(kg, EvoSettings(seconds=seconds, seed=seed))
        elif name == "drill":
            if policy is not None:
                settings = DrillSettings(seconds=seconds, seed=seed)
                found[name] = lambda kg, s=settings: Drill(kg, s, policy=policy)
        else:
            found[name] = lambda kg, n=name: learner(n, kg, seconds=seconds, seed=seed)
    return found


def trained(kg: KnowledgeGraph, name: str, folder: Path, episodes: int, seed: int) -> Policy | None:
    """Return the policy of a knowledge base, trained if it is not there yet."""
    path = folder / f"{name}.npz"
    try:
        if path.exists():
            return Policy.load(path, kg)
        began = time.perf_counter()
        policy = train_policy(kg, PolicyTrainingSettings(episodes=episodes, seconds=300, seed=seed))
    except MragError as error:
        say(f"no policy for {name}: {error}")
        return None
    say(f"policy for {name}: {policy.episodes} episodes in {time.perf_counter() - began:.0f} s")
    policy.save(path)
    return policy


def ours(
    name: str, kg: KnowledgeGraph, problems: dict[str, LearningProblem], made: dict[str, Maker]
) -> Iterator[Row]:
    """Run the learners on each problem in turn."""
    for title, problem in problems.items():
        for kind, make in made.items():
            began, processor = time.perf_counter(), time.process_time()
            try:
                made_learner = make(kg)
                found = made_learner.fit(problem)
            except MragError as error:
                yield Row(name, title, kind, 0.0, None, 0, 0.0, error=str(error))
                continue
            took = time.perf_counter() - began
            processor = time.process_time() - processor
            report = made_learner.report
            assert report is not None
            if not found:
                yield Row(
                    name, title, kind, 0.0, None, 0, took, report.tested, report.stopped, "", "", processor
                )
                continue
            best = found[0]
            text = to_dl(best.expression, kg.prefixes)
            f1, accuracy = quality(best.counts), quality(best.counts, "accuracy")
            row = Row(name, title, kind, f1, accuracy, best.length, took, report.tested, report.stopped, text)
            yield replace(row, processor=processor)


def guided(kg: KnowledgeGraph, policy: Policy, number: int, named: list[LearningProblem]) -> Iterator[str]:
    """Yield lines of Markdown: expressions tested until a solution, by what leads the search."""
    generator = ProblemGenerator(kg)
    held_out = [g.problem for g in itertools.islice(generator.problems(seed=1_000), number)]
    world, rng = generator.space.world, np.random.default_rng(0)
    vectors = policy.vectors(world, np.arange(world.size))
    raw = Policy.untrained(kg, world, seed=3)
    leads = {
        "reward + 0.25 network (the default)": lambda seen: reward(seen) + 0.25 * policy.predict(seen),
        "reward alone (no network)": reward,
        "network alone": policy.predict,
        "untrained network alone": raw.predict,
        "chance": lambda seen: rng.random(len(seen)),
    }
    counts = f"{len(held_out)} held-out: solved | tested, mean | {len(named)} named: solved | tested, mean"
    yield f"| led by | {counts} |"
    yield "|---|---|---|---|---|"
    for name, lead in leads.items():
        cells = [name]
        for problems in (held_out, named):
            boards = [FitState(p, world, LearnerSettings(seconds=600)) for p in problems]
            ends = [
                best_first_search(b, SpaceView(generator.space, b.at), vectors[b.at], lead, max_tested=3_000)
                for b in boards
            ]
            cells += [str(ends.count("solved")), f"{statistics.fmean(b.tested for b in boards):.0f}"]
        yield f"| {' | '.join(cells)} |"


def theirs(python: str, ontology: Path, problems: Path, seconds: float, learners: list[str]) -> Iterator[Row]:
    """Run Ontolearn's learners on Family, in an environment of their own."""
    script = Path(__file__).with_name("ontolearn_peer.py")
    for kind in learners:
        command = [python, str(script), "family", str(ontology), str(problems), "--seconds", str(seconds)]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [*command, "--learners", kind], capture_output=True, text=True, cwd=folder, check=False
            )
        rows = [m for line in done.stdout.splitlines() if (m := _LINE.match(line))]
        if done.returncode or not rows:
            last = (done.stderr.strip().splitlines() or ["no output"])[-1]
            yield Row("family", "", f"Ontolearn {kind}", 0.0, None, 0, 0.0, error=last)
        for m in rows:
            yield Row("family", m[2], f"Ontolearn {kind}", float(m[3]), None, int(m[4]), float(m[5]))


def table(rows: list[Row]) -> Iterator[str]:
    """Yield lines of Markdown: the means for each set and learner, then the problems not solved."""
    head = ("set", "learner", "problems", "F1 = 1", "mean F1", "least F1", "accuracy", "length")
    yield f"| {' | '.join((*head, 'median s', 'longest s', 'processor s, all'))} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    for name, kind in dict.fromkeys((r.set, r.learner) for r in rows):
        good = [r for r in rows if (r.set, r.learner) == (name, kind) and not r.error]
        if not good:
            continue
        f1, took = [r.f1 for r in good], [r.seconds for r in good]
        spent = [r.processor for r in good if r.processor is not None]
        right = [r.accuracy for r in good if r.accuracy is not None]
        cells = (
            name, kind, str(len(good)), str(sum(x >= 0.99995 for x in f1)), f"{statistics.fmean(f1):.4f}",
            f"{min(f1):.4f}", f"{statistics.fmean(right):.4f}" if right else "",
            f"{statistics.fmean(r.length for r in good):.1f}", f"{statistics.median(took):.2f}",
            f"{max(took):.2f}", f"{sum(spent):.1f}" if spent else "",
        )  # fmt: skip
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "| set | problem | learner | F1 | length | s | ended | concept |"
    yield "|---|---|---|---|---|---|---|---|"
    for r in rows:
        if r.error:
            yield f"| {r.set} | {r.problem} | {r.learner} | | | | error | {r.error} |"
        elif r.f1 < 0.99995:
            cells = (r.set, r.problem, r.learner, f"{r.f1:.4f}", str(r.length), f"{r.seconds:.2f}", r.stopped)
            yield f"| {' | '.join(cells)} | {r.concept} |"


def main() -> None:
    """Run what is asked for and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    names = list(dict.fromkeys([*LEARNERS, "evolearner", "drill"]))
    parser.add_argument("--learners", nargs="+", choices=names, default=names)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--policies", type=Path)
    parser.add_argument("--ontolearn", metavar="PYTHON")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS[:3]))
    parser.add_argument(
        "--guided", type=int, metavar="N", help="only compare what leads DRILL, on N problems"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    root, rows = shared_data("cel_kbs"), list[Row]()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.policies or Path(temporary)
        folder.mkdir(exist_ok=True)
        for name in options.sets:
            sets, unread = find_problems(root / SETS[name])
            for file in unread:
                say(f"{file.path.name}: {file.reason}")
            problems = {title: p for s in sets for title, p in s.problems.items()}
            if not sets:
                continue
            with open_knowledge_base(*sets[0].ontologies) as kg:
                drill = "drill" in options.learners
                policy = trained(kg, name, folder, options.episodes, options.seed) if drill else None
                if options.guided and policy is not None:
                    for line in guided(kg, policy, options.guided, list(problems.values())):
                        print(line)
                    continue
                made = makers(options.learners, options.seconds, options.seed, policy)
                for row in ours(name, kg, problems, made):
                    rows.append(row)
                    say(told(row))
    if options.ontolearn and "family" in options.sets:
        problems_file = root / SETS["family"]
        ontology = find_problems(problems_file)[0][0].ontologies[0]
        for row in theirs(options.ontolearn, ontology, problems_file, options.seconds, options.peers):
            rows.append(row)
            say(told(row))
    for line in table(rows) if rows else ():
        print(line)
    if options.json:
        options.json.write_text(json.dumps([asdict(r) for r in rows], ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
