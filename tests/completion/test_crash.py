"""What was read is accepted, taken out again or asked for, and broken off at any moment."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import mrag
from mrag.completion.review import accept, list_runs, propose, rollback
from mrag.graph.kg import KnowledgeGraph
from tests.completion.towns import TURTLE, read
from tests.crash import Job, breaks, graph_state, mrag_in, program

QUESTION = "Where was Bob Stone born?"
COUNT = 150


def prepared(folder: Path) -> str:
    """Make a store with a proposed run, reasoned over and indexed, and return the run's id."""
    folder.mkdir()
    (folder / "towns.ttl").write_text(TURTLE, encoding="utf-8")
    mrag_in(folder, "load", "towns.ttl", "--store", "store")
    mrag_in(folder, "index", "--embedder", "none", "--store", "store")
    with opened(folder) as kg:
        many = [read("ada", "livesIn", "lund"), *(read("bob", "knows", f"p{n:05d}") for n in range(COUNT))]
        run = propose(kg, "Whom?", many, model="hand")
        assert run is not None
        return run.id


def opened(folder: Path) -> KnowledgeGraph:
    return mrag.connect(f"oxigraph:{folder / 'store'}")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["accept", "rollback"])
def test_a_decision_is_broken_off(tmp_path: Path, what: str) -> None:
    made = tmp_path / "made"
    run = prepared(made)
    if what == "rollback":
        mrag_in(made, "complete", "accept", run, "--store", "store")

    def prepare(folder: Path) -> None:
        shutil.copytree(made, folder, dirs_exist_ok=True)

    def written(folder: Path) -> None:
        with opened(folder) as kg:
            (accept if what == "accept" else rollback)(kg, run, update=False)

    def reasoned(folder: Path) -> None:
        written(folder)
        with opened(folder) as kg:
            mrag.reason(kg)

    breaks(
        Job(
            f"complete {what}",
            ("complete", what, run, "--store", "store"),
            prepare,
            halfway=[written, reasoned],
            works=[
                ("query", "ASK { ?s ?p ?o }", "--store", "store"),
                ("search", "Ada Hill", "--store", "store"),
                ("complete", "review", "--all", "--json", "--store", "store"),
            ],
            campaign=what == "rollback",
        ),
        tmp_path / "jobs",
        disk=True,
    )


def test_a_question_that_is_answered_and_accepted_is_broken_off(tmp_path: Path) -> None:
    words = ("complete", "ask", QUESTION, "--texts", "articles", "--embedder", "none", "--store", "store")

    def prepare(folder: Path) -> None:
        (folder / "towns.ttl").write_text(TURTLE, encoding="utf-8")
        (folder / "articles").mkdir()
        for n in range(40):
            (folder / "articles" / f"{n}.md").write_text(
                f"# P{n} Stone\n\nHe was born in Lund.", encoding="utf-8"
            )
        (folder / "articles" / "bob.md").write_text("# Bob Stone\n\nHe was born in Ystad.", encoding="utf-8")
        mrag_in(folder, "load", "towns.ttl", "--store", "store")
        mrag_in(folder, "index", "--embedder", "none", "--store", "store")

    def proposed(folder: Path) -> None:
        mrag_in(folder, *words)

    def written(folder: Path) -> None:
        proposed(folder)
        with opened(folder) as kg:
            [run] = list_runs(kg)
            accept(kg, run, update=False)

    def reasoned(folder: Path) -> None:
        written(folder)
        with opened(folder) as kg:
            mrag.reason(kg)

    def again(folder: Path) -> None:
        with opened(folder) as kg:
            assert [run.state for run in list_runs(kg)] == ["accepted"]
        mrag_in(folder, *words, "--accept-all")

    for number, bring in enumerate((written, reasoned)):
        folder = tmp_path / str(number)
        folder.mkdir()
        prepare(folder)
        bring(folder)
        again(folder)
        state = graph_state(folder)
        assert state["reasoned"] and not state["indexes"]["main"][1]

    job = Job(
        "complete ask --accept-all",
        (*words, "--accept-all"),
        prepare,
        halfway=[proposed, written, reasoned],
        campaign=True,
    )
    breaks(job, tmp_path, disk=True)


WEIGHTS = """
import sys
import numpy as np
from mrag.completion.path_planner import Weights
from mrag.errors import MragError
size = int(sys.argv[1])
chance = np.random.default_rng(size)
names = {f"gram {n}": n for n in range(size)}
parts = {(f"part {n}", "x"): n for n in range(40)}
try:
    Weights(grams=names, parts=parts, matrix=chance.random((40, size)), examples=size).save("weights.npz")
except MragError as error:
    sys.exit(f"mrag: {error}")
"""


def test_a_calibration_that_is_kept_is_broken_off(tmp_path: Path) -> None:
    from mrag.completion.path_planner import Weights

    def state(folder: Path) -> tuple[int, float] | None:
        path = folder / "weights.npz"
        return (
            (Weights.load(path).examples, float(Weights.load(path).matrix.sum())) if path.exists() else None
        )

    for name, first in (("calibration", None), ("calibration in place of another", 300)):

        def prepare(folder: Path, first: int | None = first) -> None:
            if first:
                subprocess.run(program(WEIGHTS, str(first)), cwd=folder, check=True)

        job = Job(name, program(WEIGHTS, "8000"), prepare, state=state, works=(), quiet=True, campaign=True)
        breaks(job, tmp_path / name, disk=True, signals=False)
