"""A damaged index answers as if it were whole or says that it is damaged, by the library and at its doors."""

import json
import logging
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mrag
from mrag.errors import DamagedIndex, IndexError_
from mrag.index.similarity import SimilarityIndexes
from mrag.storage.folder import check
from tests.server.conftest import running
from tests.storage.attacks import DAMAGE, KINDS, command_line, documents, outcome

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


def test_what_was_read_stays_whatever_happens_to_the_file(
    built: tuple[str, Path, Any], tmp_path: Path
) -> None:
    """An open index neither sees bytes that changed after they were checked nor dies of a file cut off."""
    name, folder, _ = built
    if name != "deleted":
        pytest.skip("the others are read whole when they are opened or by numpy alone")
    from mrag.index.document_index import DocumentIndex
    from tests.storage.attacks import model

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
