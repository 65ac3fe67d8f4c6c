"""Importing annotated images, and their views made anew, broken off at any moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mrag.testing.annotations import write_annotations
from tests.crash import Job, breaks, graph_state, mrag_in

NAMES = ("main", "main-images", "main-cel", "main-garments")
STORE = ("--store", "store")
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
JOBS = (
    Job("import", (*IMPORT, *STORE), annotations, state, between=between, works=(), campaign=True),
    Job("import and replace", (*IMPORT, "--replace", *STORE), replaced, state, between=between, works=WORKS,
        campaign=True),
    Job("views", ("views", *STORE), changed, state, between=between, works=WORKS),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=str)
def test_broken_off(tmp_path: Path, job: Job) -> None:
    breaks(job, tmp_path, disk=True)
