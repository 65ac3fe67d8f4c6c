"""Loading, reasoning, imports of images and their views, broken off at any moment, and full disks."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mrag.testing.annotations import write_annotations
from tests.conftest import PRODUCTS
from tests.crash import Job, breaks, graph_state, mrag_in

STORE = ("--store", "store")
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
    return ("load", *words, *STORE)


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


NAMES = ("main", "main-images", "main-cel", "main-garments")

WORKS = tuple(("query", "ASK { ?s ?p ?o }", "--kg", name, *STORE) for name in NAMES)


def state(folder: Path) -> dict[str, Any]:
    return {name: graph_state(folder, name) for name in NAMES}


def between(found: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Each graph lands by itself, first what is asserted, then what follows from it."""

    def unreasoned(whole: dict[str, Any]) -> dict[str, Any]:
        layers = {name: lines for name, lines in whole["layers"].items() if name != "inferred"}
        return {**whole, "layers": layers, "reasoned": False}

    return all(
        found[name] in (before[name], after[name], unreasoned(after[name]), unreasoned(before[name]))
        for name in NAMES
    )


def annotations(folder: Path) -> None:
    write_annotations(folder / "images.json", scale=0.0005)


def imported(folder: Path) -> None:
    annotations(folder)
    mrag_in(folder, "import", "images.json", *STORE)


def changed(folder: Path) -> None:
    imported(folder)
    (folder / "more.ttl").write_text(
        "@prefix : <http://example.org/> . :image_new a :Image ; :hasFileName 'new.jpg' .", encoding="utf-8"
    )
    mrag_in(folder, "load", "more.ttl", *STORE)


def replaced(folder: Path) -> None:
    imported(folder)
    write_annotations(folder / "images.json", scale=0.0004, seed=8)


IMPORT = ("import", "images.json")
VIEWS = (
    Job("import", (*IMPORT, *STORE), annotations, state, between=between, works=(), campaign=True),
    Job("import and replace", (*IMPORT, "--replace", *STORE), replaced, state, between=between, works=WORKS,
        campaign=True),
    Job("views", ("views", *STORE), changed, state, between=between, works=WORKS),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("job", (*JOBS, *VIEWS), ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)
