"""Journals and single files: what was written is there, what is damaged is told."""

import os
import random
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrag.errors import DamagedIndex
from mrag.evaluation import benchmark
from mrag.generative.clue_index import ClueIndex
from mrag.storage.arrays import Packed, pack
from mrag.storage.files import BLOCK, Journal, write
from mrag.storage.sorting import SortedRows
from tests.conftest import ROOT

TRIES = int(os.environ.get("MRAG_TEST_TRIES", "30"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    with Journal(tmp_path / "a.jsonl") as journal:
        for number in range(20):
            journal.add({"number": number, "text": f"Größe {number} \u2028 and so on"})
    return tmp_path / "a.jsonl"


def test_a_damaged_record_is_told_and_the_others_stay(
    journal: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = journal.read_bytes()
    with Journal(journal) as opened:
        records = opened.records
    assert len(records) == 20
    chance = random.Random(3)
    for _ in range(max(TRIES, 30)):
        data = bytearray(whole)
        at = chance.randrange(8 * len(data))
        data[at // 8] ^= 1 << at % 8
        journal.write_bytes(data)
        caplog.clear()
        with Journal(journal) as opened:
            assert all(record in records for record in opened.records)
            # The end of the last line apart, which looks like a line that was not finished.
            lost = 20 - len(opened.records)
            assert 1 <= lost <= 2 and (opened.damaged or at // 8 >= len(whole) - 1)
            assert not opened.damaged or ("a.jsonl" in caplog.text and "line" in caplog.text)
        journal.write_bytes(whole)


def test_a_line_that_was_not_finished_is_cut_off(journal: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = journal.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    for end in range(last, len(whole)):
        journal.write_bytes(whole[:end])
        with Journal(journal) as opened:
            assert (len(opened.records), opened.damaged) == (19, [])
            opened.add({"number": "next"})
        with Journal(journal) as opened:
            assert opened.records[-1] == {"number": "next"} and len(opened.records) == 20
    assert not caplog.text


def test_a_writer_that_is_killed_leaves_whole_records(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from mrag.storage.files import Journal
with Journal(Path(sys.argv[1])) as journal:
    number = len(journal.records)
    while True:
        journal.add({"number": number, "text": "x" * 5000})
        number += 1
        print(number, flush=True)
"""
    path, written = tmp_path / "a.jsonl", 0
    for wanted in range(1, 1 + min(TRIES, 5)):
        command = [sys.executable, "-c", program, str(path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
        ) as one:
            assert one.stdout is not None
            for _ in range(wanted * 3):
                written = int(one.stdout.readline())
            one.kill()
        with Journal(path) as journal:
            assert not journal.damaged and len(journal.records) >= written
            assert [record["number"] for record in journal.records] == list(range(len(journal.records)))


def test_a_journal_of_a_run_whose_first_record_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with benchmark.RunJournal(path, {"k": 10}) as journal:
        journal.add({"query": "1"})
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedIndex, match="first record") as caught:
        benchmark.RunJournal(path, {"k": 10})
    assert "Delete" in str(caught.value.hint) and path.read_bytes() == data
    path.unlink()
    benchmark.RunJournal(path, {"k": 10}).close()


def test_blocks_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    rows = np.arange(40 * BLOCK, dtype=np.int64).reshape(-1, 64)
    entry = write(tmp_path / "a", lambda sink: pack(sink, {"rows": rows, "few": np.arange(5)}))
    lazy = Packed(tmp_path / "a", entry).lazy("rows")
    data = bytearray((tmp_path / "a").read_bytes())
    data[20 * BLOCK] ^= 1
    (tmp_path / "a").write_bytes(data)
    bad = (20 * BLOCK - 128) // (64 * 8)
    places = np.array([0, 5, 5, 700, len(rows) - 1])
    assert (lazy[places] == rows[places]).all() and (lazy[3:9] == rows[3:9]).all()
    assert (lazy[-1] == rows[-1]).all()
    for asked in (bad, slice(bad, bad + 1), np.array([1, bad]), slice(None, None, 2), rows[:, 0] == 64 * bad):
        with pytest.raises(DamagedIndex, match="block 20 of"):
            lazy[asked]
    with pytest.raises(DamagedIndex):
        np.asarray(lazy)


def test_rows_wider_than_a_block(tmp_path: Path) -> None:
    rows = np.arange(6 * 5000, dtype=np.int64).reshape(6, 5000)
    entry = write(tmp_path / "a", lambda sink: pack(sink, {"rows": rows}))
    lazy = Packed(tmp_path / "a", entry).lazy("rows")
    assert (lazy[np.array([4, 1])] == rows[[4, 1]]).all()


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_files_are_of_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "above" / "index"
    ClueIndex.build([("urn:a", [1, 2, 3])], 10, folder=folder)
    with Journal(folder / "a.jsonl") as journal:
        journal.add({})
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert {stat.S_IMODE(place.stat().st_mode) for place in (folder, folder.parent)} == {0o700}


VALUES = st.one_of(st.integers(), st.text())
ROWS = st.lists(st.tuples(st.text(max_size=3), st.integers(), st.lists(VALUES.map(str)).map(tuple)))


@given(ROWS, st.integers(1, 2000))
def test_rows_come_in_order_however_few_fit_into_memory(rows: list[tuple[object, ...]], most: int) -> None:
    with SortedRows(rows, most=most) as found:  # type: ignore[type-var]
        first, second = iter(found), iter(found)
        # Two readers of one file do not disturb each other.
        mixed = [one for pair in zip(first, second, strict=True) for one in pair]
        assert mixed[::2] == mixed[1::2] == sorted(rows)  # type: ignore[type-var]
        assert len(found) == len(rows)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    def broken() -> object:
        yield from ((str(n), n) for n in range(1000))
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        SortedRows(broken(), folder=tmp_path, most=1000)  # type: ignore[arg-type, type-var]
    with SortedRows([(str(n), n) for n in range(1000)], folder=tmp_path, most=1000) as rows:
        assert sum(n for _, n in rows) == 499_500
    assert list(tmp_path.iterdir()) == []
