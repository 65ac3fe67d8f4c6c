"""Keeping and forgetting concepts, broken off at any moment."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import PRODUCTS
from tests.crash import Job, breaks, mrag_in

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
