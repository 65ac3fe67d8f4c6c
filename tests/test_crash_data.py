"""Loading, reasoning and views that are broken off at any moment, and disks that take no more."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import PRODUCTS
from tests.crash import Job, breaks, mrag_in

PART = """
@prefix : <https://w3id.org/mrag/demo/products#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Quick a owl:Class ; rdfs:subClassOf :SemanticProduct , [ a owl:Restriction ; owl:onProperty :developedBy ;
    owl:someValuesFrom :Vendor ] .
:quickdb a :Quick ; rdfs:label "QuickDB" ; :developedBy :quickcorp . :quickcorp a :Vendor .
"""


def numbers(path: Path, first: int, count: int) -> None:
    with path.open("w", encoding="utf-8") as out:
        for i in range(first, first + count):
            out.write(f'<urn:x:s{i}> <urn:x:p{i % 7}> "text {i}" .\n')


def files(folder: Path) -> None:
    shutil.copy(PRODUCTS, folder / "products.ttl")
    (folder / "part.ttl").write_text(PART, encoding="utf-8")


def empty(folder: Path) -> None:
    files(folder)


def loaded(folder: Path) -> None:
    files(folder)
    mrag_in(folder, "load", "products.ttl", "--store", "store", "--no-reason")


def reasoned(folder: Path) -> None:
    files(folder)
    mrag_in(folder, "load", "products.ttl", "--store", "store")
    mrag_in(folder, "index", "--embedder", "none", "--store", "store")


def large(folder: Path) -> None:
    numbers(folder / "one.nt", 0, 2_000)
    numbers(folder / "two.nt", 1_000, 40_000)
    mrag_in(folder, "load", "one.nt", "--store", "store", "--no-reason")


def load(*words: str) -> tuple[str, ...]:
    return ("load", *words, "--store", "store")


def first(*words: str):  # type: ignore[no-untyped-def]
    return lambda folder: mrag_in(folder, *words)


JOBS = (
    Job("load", load("products.ttl"), empty, halfway=[first(*load("products.ttl", "--no-reason"))], works=()),
    Job("load a second file", load("part.ttl"), reasoned, halfway=[first(*load("part.ttl", "--no-reason"))],
        campaign=True),
    Job("load and replace", load("part.ttl", "--replace"), reasoned,
        halfway=[first(*load("part.ttl", "--replace", "--no-reason"))]),
    Job("load many lines", load("two.nt", "--no-reason"), large, campaign=True),
    Job("load many lines and replace", load("two.nt", "--replace", "--no-reason"), large, campaign=True),
    Job("reason", ("reason", "--store", "store"), loaded, campaign=True),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)
