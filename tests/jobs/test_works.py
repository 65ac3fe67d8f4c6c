"""Evaluation runs and clue indexes come to the same where workers are killed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrag.errors import ConfigError
from mrag.evaluation.benchmark import System, run_system
from mrag.generative import clue_index
from mrag.generative.clue_index import ClueIndex
from mrag.index.document_index import DocumentIndex
from mrag.jobs import ProcessRunner, ThreadRunner
from tests.jobs.works import DeadlyTexts, Searches

THINGS = ("man", "woman", "dog", "girl", "horse", "boy", "cat")
COLOURS = ("red", "blue", "green", "old", "small")
TEXTS = {
    f"t{at}": f"A {THINGS[at % 7]} in a {COLOURS[at % 5]} coat rides the {THINGS[at * 3 % 7]} on {at % 11}."
    for at in range(40)
}
QUERIES = {f"q{at}": f"{THINGS[at % 7]} {COLOURS[at % 5]}" for at in range(12)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    index = DocumentIndex.create(tmp_path / "index", embedder=None)
    index.sync(list(TEXTS.items()), extra={})
    return tmp_path / "index"


def test_a_run_is_the_same_by_processes_of_which_one_is_killed(folder: Path, tmp_path: Path) -> None:
    wanted = run_system(System("s", Searches(str(folder)), "1"), QUERIES, 5)
    log = folder.with_suffix(".log")
    log.unlink()
    system = System("s", Searches(str(folder), deadly=QUERIES["q3"]), "1")
    journal = tmp_path / "run.jsonl"
    assert run_system(system, QUERIES, 5, journal=journal, runner=ProcessRunner(2)) == wanted
    assert folder.with_suffix(".told").exists()
    assert sorted(log.read_text().splitlines()) == sorted(QUERIES.values())
    # All is in the journal, so nothing is searched for again.
    assert run_system(system, QUERIES, 5, journal=journal, runner=ProcessRunner(2)) == wanted
    assert len(log.read_text().splitlines()) == len(QUERIES)


def test_a_run_by_threads_takes_any_search_and_processes_one_that_pickles(folder: Path) -> None:
    search = Searches(str(folder))
    system = System("s", lambda text, k: search(text, k))
    assert run_system(system, QUERIES, 3, runner=ThreadRunner(3)) == run_system(system, QUERIES, 3)
    with pytest.raises(ConfigError, match="cannot be sent"):
        run_system(system, QUERIES, 3, runner=ProcessRunner(1))


@pytest.mark.slow
def test_segments_of_clues_are_the_same_where_a_worker_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Five segments of two documents; the last documents have twins in the first segments.
    texts = [(f"urn:{n}", [n, 7, 9 + n % 3]) for n in range(10)] + [
        (f"urn:twin{n}", [n, 7, 9 + n % 3]) for n in (0, 3)
    ]
    alone = ClueIndex.build(texts, 20, segment_tokens=8)
    monkeypatch.setattr(clue_index, "sort_texts", DeadlyTexts(str(tmp_path / "told")))
    for runner in (ProcessRunner(2), ThreadRunner(2)):
        place = tmp_path / type(runner).__name__
        index = ClueIndex.build(texts, 20, segment_tokens=8, folder=place, runner=runner)
        assert len(index.segments) == len(alone.segments) == 5 and len(index) == 10
        for one, other in zip(index.segments, alone.segments, strict=True):
            given, wanted = one.arrays(), other.arrays()
            assert given.keys() == wanted.keys()
            assert all(np.array_equal(given[key], wanted[key]) for key in wanted)
        assert index.documents([3, 7]) == ["urn:3", "urn:twin3"]
    assert (tmp_path / "told").exists()
    more = [("urn:new", [1, 7]), ("urn:twin1", [1, 7, 10])]
    assert index.append(more, runner=ProcessRunner(2)).documents([1, 7, 10]) == ["urn:1", "urn:twin1"]
