"""Whether learners keep to their time limit on a large graph on disk, and what they return by then.

python benchmarks/cel_limits.py [--things 70000] [--seconds 5 10] [--examples 400 20000] [--folder FOLDER]

Makes a graph of nine triples for each thing, at random, in a store in FOLDER, which is kept and used again.
Labels are drawn by chance as well, so that nothing can be learnt and every learner searches to its limit.
Seconds are by the clock; `fetched` is the share of them that went into reading what the examples reach.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import mrag
from mrag.cel.learners.base import LEARNERS, learner
from mrag.cel.problem import LearningProblem
from mrag.rdf.terms import RDF, XSD

BASE = "http://example.org/"


def lines(things: int) -> Iterator[str]:
    """Yield the triples."""
    rng = random.Random(1)
    for at in range(things):
        x = f"<{BASE}x{at}>"
        yield f"{x} <{RDF}type> <{BASE}{rng.choice('ABC')}> .\n"
        yield f'{x} <{BASE}label> "thing {at}" .\n'
        yield f'{x} <{BASE}size> "{rng.randrange(100)}"^^<{XSD}integer> .\n'
        for _ in range(6):
            yield f"{x} <{BASE}{rng.choice('pqrstu')}> <{BASE}x{rng.randrange(things)}> .\n"


def opened(folder: Path, things: int) -> mrag.KnowledgeGraph:
    """Return the graph, made if it is not there."""
    kg = mrag.connect(f"oxigraph:{folder / f'things-{things}'}")
    if not kg.count():
        source = folder / "things.nt"
        source.write_text("".join(lines(things)), encoding="ascii")
        kg.load([source])
        source.unlink()
    return kg


def main() -> None:
    """Measure all learners that need no training."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--things", type=int, default=70_000)
    options.add_argument("--seconds", type=float, nargs="+", default=[5.0, 10.0])
    options.add_argument("--examples", type=int, nargs="+", default=[400, 20_000])
    options.add_argument("--folder", type=Path)
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        kg = opened(args.folder or Path(made), args.things)
        print(f"{kg.count():,} triples\n")
        print("| learner | examples | limit | took | fetched | reports of progress | F1 | notes |")
        print("|---|---|---|---|---|---|---|---|")
        for number in args.examples:
            chosen = [f"{BASE}x{at}" for at in random.Random(2).sample(range(args.things), number)]
            problem = LearningProblem(chosen[: number // 2], chosen[number // 2 :])
            for seconds in args.seconds:
                for name in LEARNERS:
                    if name != "drill":
                        print(row(kg, problem, name, seconds), flush=True)
        kg.close()


def row(kg: mrag.KnowledgeGraph, problem: LearningProblem, name: str, seconds: float) -> str:
    """Return a row of the table."""
    seen: list[object] = []
    work = learner(name, kg, seconds=seconds, on_progress=seen.append)
    started = time.monotonic()
    found = work.fit(problem)
    took = time.monotonic() - started
    assert work.report is not None
    quality = f"{found[0].quality:.3f}" if found else "none"
    cells = (
        f"`{name}`", f"{len(problem.examples):,}", f"{seconds:g} s", f"{took:.1f} s",
        f"{work.report.fetched / took:.0%}", len(seen), quality, " ".join(work.report.notes),
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
