"""Keeping and forgetting concepts, and training, broken off at any moment."""

from __future__ import annotations

import random
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from mrag.cel.drill import Policy
from mrag.errors import ModelError
from tests.conftest import PRODUCTS
from tests.crash import SEED, TRIES, Campaign, Job, breaks, mrag_in

OPEN = "ex:SemanticProduct and (ex:developedBy some ex:Vendor)"
CLOSED = "ex:Product and not (ex:developedBy some ex:Vendor)"
STORE = ("--store", "store")


def products(folder: Path) -> None:
    shutil.copy(PRODUCTS, folder / "products.ttl")
    mrag_in(folder, "load", "products.ttl", *STORE)


def keep(concept: str) -> tuple[str, ...]:
    return ("learn", "keep", "mine", concept, *STORE)


def kept(folder: Path) -> None:
    products(folder)
    mrag_in(folder, *keep(CLOSED))
    mrag_in(folder, "reason", *STORE)


WORKS = (("learn", "concepts", *STORE), ("query", "ASK { ?s ?p ?o }", *STORE))
JOBS = (
    Job("learn keep", keep(OPEN), products, works=WORKS, campaign=True),
    Job("learn keep with members", keep(CLOSED), products, works=WORKS),
    Job("learn fit --keep", ("learn", "fit", "-p", "ex:GraphDB", "-p", "ex:AllegroGraph", "-n", "ex:MySQL",
        "-n", "ex:Redis", "--keep", "mine", *STORE), products, works=WORKS,
        campaign=True),
    Job("learn forget", ("learn", "forget", "mine", *STORE), kept, works=WORKS, once=True, campaign=True),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)


def policy_state(folder: Path) -> tuple[int, list[float]] | None:
    try:
        policy = Policy.load(folder / "policy.npz")
    except ModelError as error:
        assert "no such policy" in str(error)
        return None
    return policy.episodes, [float(np.abs(w).sum()) for w in (*policy.weights, *policy.biases)]


def family(folder: Path) -> None:
    """Two kinds of people, some married, some with children."""
    lines = ["@prefix : <urn:x:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .", ":Man a owl:Class ."]
    lines.append(":Woman a owl:Class . :child a owl:ObjectProperty . :married a owl:ObjectProperty .")
    for n in range(24):
        lines.append(f":p{n} a {':Man' if n % 2 else ':Woman'} .")
        if n % 3:
            lines.append(f":p{n} :child :p{(n * 7 + 3) % 24} .")
        if n % 4 == 0:
            lines.append(f":p{n} :married :p{(n + 5) % 24} .")
    (folder / "family.ttl").write_text("\n".join(lines), encoding="utf-8")
    mrag_in(folder, "load", "family.ttl", *STORE)


TRAINING = Job(
    "train drill",
    ("train", "drill", "--episodes", "12", "--seconds", "600", "--out", "policy.npz", *STORE),
    family,
    state=policy_state,
    once=True,
    campaign=True,
)


def test_training_is_broken_off(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (pip install 'mrag[cel]')")
    campaign = breaks(TRAINING, tmp_path / "first", disk=True, signals=False)

    def trained(folder: Path) -> None:
        shutil.copytree(campaign.folder / "whole", folder, dirs_exist_ok=True)

    more = Job("train drill further", TRAINING.words, trained, state=policy_state, once=True)
    breaks(more, tmp_path / "more", signals=False)
    stopped = Campaign(TRAINING, tmp_path / "stopped")
    for at in range(max(1, TRIES // 2)):
        number = (signal.SIGINT, signal.SIGTERM)[(at + 1) % 2]
        dice = random.Random(f"{SEED} {at}")
        folder = stopped.copied("broken")
        done = stopped.run(folder, stopped.moment(dice), number)
        stopped.told(done, number, f"{signal.Signals(number).name} after {done.seconds:.3f} s", folder)
        found = policy_state(folder)
        assert found is None or 0 <= found[0] <= 12
        if done.code == 0:
            assert found == stopped.after
        elif found is not None:
            assert "policy.npz" in done.said, "what is kept is named"
