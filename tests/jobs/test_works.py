"""Evaluation runs, graph codes and clues come to the same in processes, also where one is killed."""

from __future__ import annotations

import os
import re
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from mrag.errors import ConfigError
from mrag.evaluation.benchmark import System, run_system
from mrag.generative.clue_index import ClueIndex
from mrag.graphcodes import sources
from mrag.graphcodes.reading import TextExtractor
from mrag.graphcodes.sources import extract_codes
from mrag.index.document_index import DocumentIndex
from mrag.jobs import ProcessRunner, ThreadRunner
from tests.jobs.works import Searches

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


def test_a_run_is_the_same_by_processes(folder: Path, tmp_path: Path) -> None:
    system = System("s", Searches(str(folder)), "1")
    wanted = run_system(system, QUERIES, 5)
    log = folder.with_suffix(".log")
    log.unlink()
    journal = tmp_path / "run.jsonl"
    for _ in range(2):  # all is in the journal the second time, so nothing is searched for again
        assert run_system(system, QUERIES, 5, journal=journal, runner=ProcessRunner(2)) == wanted
        assert sorted(log.read_text().splitlines()) == sorted(QUERIES.values())


def test_a_run_by_threads_takes_any_search_and_processes_one_that_pickles(folder: Path) -> None:
    search = Searches(str(folder))
    system = System("s", lambda text, k: search(text, k))
    assert run_system(system, QUERIES, 3, runner=ThreadRunner(3)) == run_system(system, QUERIES, 3)
    with pytest.raises(ConfigError, match="cannot be sent"):
        run_system(system, QUERIES, 3, runner=ProcessRunner(1))


@pytest.mark.slow
def test_codes_are_the_same_by_processes_of_which_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_TEXTS", 8)
    wanted = dict(zip(TEXTS, TextExtractor().extract_many(TEXTS.values()), strict=True))
    assert len({tuple(edge.key for edge in code.edges) for code in wanted.values()}) > 10
    journal, two = tmp_path / "codes.jsonl", ProcessRunner(2)
    killed: list[int] = []

    def kill(number: int, total: int | None) -> None:
        if number == 1:
            killed.extend(two.pids)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    assert extract_codes(TEXTS, runner=two, journal=journal, on_progress=kill) == wanted
    assert killed
    written = journal.read_text()
    tasks = re.findall(r'"task": "(\w+)"', written)
    assert len(tasks) == len({*tasks}) == 5
    assert extract_codes(TEXTS, journal=journal) == wanted
    assert journal.read_text() == written


def test_extraction_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_TEXTS", 8)
    stop, done = threading.Event(), []

    def note(number: int, total: int | None) -> None:
        done.append(number)
        if number == 2:
            stop.set()

    journal = tmp_path / "codes.jsonl"
    some = extract_codes(TEXTS, journal=journal, on_progress=note, stop=stop)
    assert list(some) == list(TEXTS)[:16]
    done.clear()
    whole = extract_codes(TEXTS, journal=journal, on_progress=lambda number, total: done.append(number))
    assert list(whole) == list(TEXTS) and {key: whole[key] for key in some} == some
    assert done == [2, 3, 4, 5]


@pytest.mark.slow
def test_segments_of_clues_are_the_same_by_processes(tmp_path: Path) -> None:
    # Five segments of two documents; the last documents have twins in the first segments.
    texts = [(f"urn:{n}", [n, 7, 9 + n % 3]) for n in range(10)] + [
        (f"urn:twin{n}", [n, 7, 9 + n % 3]) for n in (0, 3)
    ]
    alone = ClueIndex.build(texts, 20, segment_tokens=8)
    for runner in (ProcessRunner(2), ThreadRunner(2)):
        place = tmp_path / type(runner).__name__
        index = ClueIndex.build(texts, 20, segment_tokens=8, folder=place, runner=runner)
        assert len(index.segments) == len(alone.segments) == 5 and len(index) == 10
        for one, other in zip(index.segments, alone.segments, strict=True):
            given, wanted = one.arrays(), other.arrays()
            assert given.keys() == wanted.keys()
            assert all(np.array_equal(given[key], wanted[key]) for key in wanted)
        assert index.documents([3, 7]) == ["urn:3", "urn:twin3"]
    more = [("urn:new", [1, 7]), ("urn:twin1", [1, 7, 10])]
    assert index.append(more, runner=ProcessRunner(2)).documents([1, 7, 10]) == ["urn:1", "urn:twin1"]
