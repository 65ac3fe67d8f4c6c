"""A damaged index answers as if it were whole or says that it is damaged, by the library and at its doors."""

import json
import logging
import os
import random
import shutil
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mrag
from mrag.errors import DamagedIndex, IndexError_
from mrag.generative.clue_index import ClueIndex
from mrag.index.document_index import DocumentIndex
from mrag.index.similarity import SimilarityIndexes
from mrag.storage.arrays import Packed, pack
from mrag.storage.files import BLOCK, Journal, RunJournal, write
from mrag.storage.folder import check
from mrag.storage.sorting import SortedRows
from tests.conftest import ROOT
from tests.server.conftest import running
from tests.storage.attacks import DAMAGE, KINDS, command_line, documents, model, outcome

logger = logging.getLogger(__name__)
TRIES = int(os.environ.get("MRAG_TEST_TRIES", "6"))


@pytest.fixture(scope="module", params=["deleted", "clues", "codes"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Any]:
    folder = tmp_path_factory.mktemp(request.param) / "index"
    kind = KINDS[request.param]
    kind.build(folder, "one")
    return request.param, folder, kind.ask(folder)


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damage_is_told_or_harmless(built: tuple[str, Path, Any], damage: str, tmp_path: Path) -> None:
    name, folder, expected = built
    found: Counter[str] = Counter()
    for seed in range(TRIES):
        place = tmp_path / str(seed)
        shutil.copytree(folder, place)
        DAMAGE[damage](place, random.Random(f"{name} {damage} {seed}"))
        came = outcome(lambda place=place: KINDS[name].ask(place), expected)  # type: ignore[misc]
        found[came] += 1
        if came == "same" and damage in ("flip", "zero", "cut", "grow", "lose"):
            # What was not needed for the answers is found by reading all of it.
            assert [one for one in check(place) if one.error is not None] or _equal(folder, place)
        if came == "told" and seed == 0:
            KINDS[name].build(place, "one")
            assert KINDS[name].ask(place) == expected, "it can be built anew"
        shutil.rmtree(place)
    logger.info("%s %s: %s", name, damage, dict(found))
    assert found.keys() <= {"same", "told"}, found


def _equal(one: Path, other: Path) -> bool:
    return all(file.read_bytes() == (other / file.name).read_bytes() for file in one.iterdir())


def test_what_was_read_stays_whatever_befalls_the_file(built: tuple[str, Path, Any], tmp_path: Path) -> None:
    """An open index neither sees bytes that changed after they were checked nor dies of a file cut off."""
    name, folder, _ = built
    if name != "deleted":
        pytest.skip("the others are read whole when they are opened or by numpy alone")
    shutil.copytree(folder, tmp_path / "index")
    index = DocumentIndex.open(tmp_path / "index", embedder=model())
    before = index.search("red shoe", 10)
    for file in (tmp_path / "index").glob("*.seg"):
        with file.open("r+b") as stream:
            stream.write(bytes(file.stat().st_size // 2))
            stream.truncate(file.stat().st_size // 2)
    assert index.search("red shoe", 10) == before
    with pytest.raises(DamagedIndex, match="'index' is damaged"):
        for doc_id in index.doc_ids:
            index.text_of(doc_id)


def test_every_single_block_is_checked(built: tuple[str, Path, Any], tmp_path: Path) -> None:
    name, folder, _ = built
    shutil.copytree(folder, tmp_path / name)
    assert [one.error for one in check(tmp_path)] == [None]
    for file in sorted((tmp_path / name).glob("*.seg")):
        whole = file.read_bytes()
        for at in range(0, len(whole), 4001):
            data = bytearray(whole)
            data[at] ^= 1
            file.write_bytes(data)
            (one,) = check(tmp_path)
            assert isinstance(one.error, IndexError_) and file.name in one.error.message
        file.write_bytes(whole)


SEEN = int(os.environ.get("MRAG_TEST_TRIES", "3"))
HARM = ["flip", "cut", "zero", "swap", "lose"]
SEARCH = """PREFIX : <http://www.ontotext.com/graphdb/similarity/>
PREFIX inst: <http://www.ontotext.com/graphdb/similarity/instance/>
SELECT ?thing ?score { ?s a inst:main ; :searchTerm "red shoe" ; :documentResult ?r .
                       ?r :value ?thing ; :score ?score } ORDER BY DESC(?score) ?thing"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 300 things with an index of words and vectors."""
    place = tmp_path_factory.mktemp("seen")
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    lines = [f'<{iri}> <{label}> "{text}"@en .\n' for iri, text in documents("thing", 300)]
    (place / "things.nt").write_text("".join(lines))
    with mrag.connect(f"oxigraph:{place / 'store'}") as kg:
        kg.load([place / "things.nt"])
        SimilarityIndexes.of(kg).build("main", model="wordllama")
    return place


@pytest.fixture
def index(place: Path) -> Iterator[Path]:
    """The folder of the index; it is whole again afterwards."""
    folder = place / "store.mrag" / "main" / "index" / "main"
    shutil.copytree(folder, place / "whole")
    yield folder
    restored(folder, place)
    shutil.rmtree(place / "whole")


def restored(folder: Path, place: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(place / "whole", folder)


def test_on_the_command_line(
    place: Path, index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ("--store", f"oxigraph:{place / 'store'}")
    code, expected, _ = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
    assert code == 0 and json.loads(expected)
    assert command_line(monkeypatch, capsys, "doctor", "--deep", "--json", *store)[0] == 0
    found: Counter[str] = Counter()
    for seed in range(SEEN):
        damage = HARM[seed % len(HARM)]
        DAMAGE[damage](index, random.Random(f"command line {seed}"))
        code, out, error = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
        if code == 0:
            assert out == expected
        else:
            assert code == 1 and error.startswith("mrag: ") and "'main'" in error and "mrag index" in error
        found["same" if code == 0 else "told"] += 1
        code, out, _ = command_line(monkeypatch, capsys, "doctor", "--deep", "--json", *store)
        bad = [f for f in json.loads(out) if "index" in f["what"] and f["ok"] is False]
        # Zeros may have been written over zeros.
        harmed = sorted(file.name for file in index.iterdir()) != sorted(
            file.name for file in (place / "whole").iterdir()
        ) or any(file.read_bytes() != (place / "whole" / file.name).read_bytes() for file in index.iterdir())
        assert (code == 1) == bool(bad) == harmed, "reading all of it finds the damage"
        assert all(f["hint"] for f in bad)
        if seed == 0:
            built, _, _ = command_line(monkeypatch, capsys, "index", "--embedder", "wordllama", *store)
            assert built == 0
            again = command_line(monkeypatch, capsys, "search", "red shoe", "--json", *store)
            assert again[:2] == (0, expected)
        restored(index, place)
    logger.info("command line: %s", dict(found))


def test_over_http(place: Path, index: Path) -> None:
    found: Counter[str] = Counter()
    expected = None
    for seed in range(-1, SEEN):
        if seed >= 0:
            DAMAGE[HARM[seed % len(HARM)]](index, random.Random(f"http {seed}"))
        with mrag.connect(f"oxigraph:{place / 'store'}") as kg, running(kg) as server:
            reply = server.client.get("/sparql", params={"query": SEARCH})
            if reply.status_code == 200:
                rows = reply.json()["results"]["bindings"]
                expected = expected or rows
                assert rows and rows == expected
                found["same"] += 1
                # It has read what it needs; harm to the file after that changes no answer.
                for file in index.iterdir():
                    if file.name != "lock":
                        file.write_bytes(bytes(10))
                again = server.client.get("/sparql", params={"query": SEARCH})
                assert again.json()["results"]["bindings"] == expected
            else:
                assert reply.status_code in (404, 500) and "main" in reply.json()["error"]
                assert "mrag index" in reply.json()["hint"] and str(place) not in reply.text
                found["told"] += 1
            assert server.client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"}).json()["boolean"]
        restored(index, place)
    logger.info("HTTP: %s", dict(found))


CHANGES = int(os.environ.get("MRAG_TEST_TRIES", "30"))


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    with Journal(tmp_path / "a.jsonl") as journal:
        for number in range(20):
            journal.add({"number": number, "text": f"Größe {number} \u2028 and so on"})
    return tmp_path / "a.jsonl"


def test_a_damaged_record_is_told_and_others_stay(journal: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = journal.read_bytes()
    with Journal(journal) as opened:
        records = opened.records
    assert len(records) == 20
    chance = random.Random(3)
    for _ in range(max(CHANGES, 30)):
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
    for wanted in range(1, 1 + min(CHANGES, 5)):
        command = [sys.executable, "-c", program, str(path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
        ) as one:
            for _ in range(wanted * 3):
                written = int(one.stdout.readline())
            one.kill()
        with Journal(path) as journal:
            assert not journal.damaged and len(journal.records) >= written
            assert [record["number"] for record in journal.records] == list(range(len(journal.records)))


def test_a_journal_of_a_run_whose_first_record_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunJournal(path, {"k": 10}) as journal:
        journal.add({"query": "1"})
    data = bytearray(path.read_bytes())
    data[12] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedIndex, match="first record") as caught:
        RunJournal(path, {"k": 10})
    assert "Delete" in str(caught.value.hint) and path.read_bytes() == data
    path.unlink()
    RunJournal(path, {"k": 10}).close()


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
